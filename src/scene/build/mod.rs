//! From [`SceneFile`] to [`Scenario`]: ranges, lengths, references, files. All faults are found, not only the first.

mod components;
mod eigenstates;
mod exchange;
mod layers;
mod recording;
mod room;
mod rotation;
mod state;
mod sweep;
mod theory;
mod trajectories;
mod view;

use super::decode::{Diagnostics, nearest};
use super::file::{ABSORB_WIDTH, EdgesFile, SceneFile};
use super::scenario::{Scenario, SolverChoice};
use crate::grid::{Edge, Grid};
use crate::physics::{Acoustic, Equation, Initial, Layer, Medium, Model, Quantum};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An objection of the solver table to a scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objection {
    /// The key to change, e.g. `solver.order`.
    pub key: String,
    /// The value and the limit.
    pub message: String,
    /// What to change.
    pub remedy: String,
}

impl Objection {
    /// An objection to a key: the value and the limit, and what to change.
    pub fn new(key: impl Into<String>, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            message: message.into(),
            remedy: remedy.into(),
        }
    }
}

/// What the scene layer needs of the solver table, which is above it.
pub trait SolverTable {
    /// The method of scenes that name none; empty if there is none for the equation.
    fn default_method(&self, equation: Equation) -> &'static str;

    /// What is wrong with `[solver]` by itself: unknown methods, variants and parameters, ranges, dimensions.
    fn choice(&self, choice: &SolverChoice, equation: Equation, rank: Option<usize>) -> Vec<Objection>;

    /// Why a grid of valid size does not fit into memory with any method, whatever else the scene says.
    fn room(&self, choice: &SolverChoice, grid: &Grid) -> Option<Objection>;

    /// What the chosen method cannot do in an otherwise valid scene, and whether it fits into memory.
    fn scenario(&self, scenario: &Scenario) -> Vec<Objection>;
}

/// The largest number of sites along one axis and in all; far beyond any memory, and products stay exact.
const MOST_SITES: usize = 1 << (usize::BITS * 5 / 8);

pub(super) struct Builder<'a> {
    file: &'a SceneFile,
    /// The directory that file names are relative to.
    base: PathBuf,
    /// Whether the grid is the scene's, not a placeholder for one with faults, against which places and momenta are not checked.
    grid_is_own: bool,
    pub found: Diagnostics,
}

impl<'a> Builder<'a> {
    pub fn new(file: &'a SceneFile, origin: Option<&Path>, found: Diagnostics) -> Self {
        let base = origin.and_then(Path::parent).map(Path::to_owned).unwrap_or_default();
        Self {
            file,
            base,
            grid_is_own: true,
            found,
        }
    }

    /// Checks everything; returns a scenario if no fault was found, before or here.
    pub fn run(mut self, origin: Option<&Path>, table: &dyn SolverTable) -> (Diagnostics, Option<Scenario>) {
        let file = self.file;
        let equation = self.equation();
        let grid = self.grid(equation);
        let model = self.model(equation, grid.as_ref());
        self.time(equation);
        let solver = file
            .solver
            .choice(equation.map_or("", |equation| table.default_method(equation)));
        if let Some(equation) = equation {
            let rank = grid.as_ref().map(Grid::rank);
            self.object(table.choice(&solver, equation, rank));
        }
        // Formulas are looked at row by row, which a grid beyond the memory has no room for.
        if let Some(objection) = grid.as_ref().and_then(|grid| table.room(&solver, grid)) {
            self.object(vec![objection]);
            return (self.found, None);
        }
        // What follows is looked at as far as it goes without them, so that one fault does not hide the next.
        let equation = equation.or_else(|| self.meant_equation());
        let grid = grid.or_else(|| self.stand_in());
        let initial = self.initial(equation, grid.as_ref());
        let layers = self.layers(equation, grid.as_ref(), "layer", &file.layers);
        let sources = self.sources(equation, grid.as_ref());
        let detectors = self.detectors(equation, grid.as_ref());
        let whole = OfAllLayers {
            rotating: self.rotation(grid.as_ref(), model.as_ref()),
            cross_interaction: self.cross_interaction(grid.as_ref()),
        };
        let mirror = self.mirror(equation, grid.as_ref(), &layers, &whole);
        self.exchange_of_noise();
        let view = self.view(equation, grid.as_ref());
        let cameras = self.cameras();
        let notes = self.notes(grid.as_ref());
        let theories = self.theories(equation, grid.as_ref());
        let trajectories = self.trajectories(equation, grid.as_ref());
        let expectations = self.expectations(equation, grid.as_ref());
        let sweep = self.sweep(equation, grid.as_ref());
        let room = self.room(equation, &detectors);
        if !self.found.faults.is_empty() {
            return (self.found, None);
        }
        let (Some(grid), Some(model), Some(initial)) = (grid, model, initial) else {
            return (self.found, None);
        };
        let medium = Arc::new(whole.medium(grid.clone(), layers));
        self.exchange_of_medium(&medium);
        if let Some(mirror) = &mirror {
            self.exchange_of_medium(&mirror.medium);
        }
        self.levels_of_medium(&medium);
        let mut initial = initial;
        if let (Initial::Eigenstates(states), Model::Quantum(quantum)) = (&mut initial, &model) {
            states.belong_to(&grid, quantum, &medium);
        }
        let scenario = Scenario {
            title: file.title.clone(),
            medium,
            grid,
            model,
            time: file.time,
            solver,
            initial,
            sources,
            mirror: mirror.map(Arc::new),
            detectors,
            view,
            cameras,
            notes,
            theories,
            trajectories,
            expectations,
            sweep,
            room,
            origin: origin.map(Path::to_owned),
            file: Arc::new(file.clone()),
        };
        if scenario.is_walled_in() {
            let message = "the state at t = 0 lies within walls: its norm is 0";
            let key = if file.initial.is_some() { "initial" } else { "packet" };
            self.found.key(key, message, "move it, or leave it sites free of walls");
            return (self.found, None);
        }
        self.object(table.scenario(&scenario));
        let good = self.found.faults.is_empty();
        (self.found, good.then_some(scenario))
    }

    fn object(&mut self, objections: Vec<Objection>) {
        for objection in objections {
            self.found.value(objection.key, objection.message, objection.remedy);
        }
    }

    fn equation(&mut self) -> Option<Equation> {
        match (&self.file.quantum, &self.file.acoustic) {
            (Some(_), None) => Some(Equation::Schrodinger),
            (None, Some(_)) => Some(Equation::Acoustic),
            (Some(_), Some(_)) => {
                let message = "there is [quantum] as well as [acoustic]; a scene is one or the other";
                self.found.key("acoustic", message, "remove one of the two sections");
                None
            }
            (None, None) => {
                let message = "there is neither [quantum] nor [acoustic]";
                self.found.key(
                    "",
                    message,
                    "add [quantum] with `mass = 1.0`, or [acoustic] with `speed = 343.0`",
                );
                None
            }
        }
    }

    /// The equation of a scene with faulty sections, from the rest of it.
    fn meant_equation(&self) -> Option<Equation> {
        let file = self.file;
        let sound = !file.pulses.is_empty() || !file.sources.is_empty();
        match (sound, !file.packets.is_empty()) {
            (true, false) => Some(Equation::Acoustic),
            (false, true) => Some(Equation::Schrodinger),
            _ if !file.eigenstates.is_empty() && !sound => Some(Equation::Schrodinger),
            _ => None,
        }
    }

    /// A placeholder grid with the number of axes of the scene's grid, whose sizes or spacing have faults.
    fn stand_in(&mut self) -> Option<Grid> {
        self.grid_is_own = false;
        let rank = self.file.grid.size.len();
        (1..=3).contains(&rank).then(|| Grid::new(&[4; 3][..rank], 1.0))
    }

    /// The largest number of a scene: it and its inverse are numbers of the scene's precision with room for what is made of them.
    fn largest(&self) -> f64 {
        self.file.solver.precision.most()
    }

    /// Notes a fault unless a number is greater than 0, and neither too large nor too small for the scene's precision.
    fn ordinary(&mut self, key: &str, number: f64) -> bool {
        if !self.positive(key, number) {
            return false;
        }
        let most = self.largest();
        let good = (1.0 / most..=most).contains(&number);
        if !good {
            let message = format!(
                "{} is not between {:.0e} and {most:e}",
                super::write::float(number),
                1.0 / most
            );
            let remedy = "choose other units, or solver.precision = \"double\"";
            self.found.value(key, message, remedy);
        }
        good
    }

    /// Notes a fault unless a number is greater than 0 (and finite: files made in the app are not decoded).
    fn positive(&mut self, key: &str, number: f64) -> bool {
        let good = number > 0.0 && number.is_finite();
        if !good {
            let shown = super::write::float(number);
            self.found
                .value(key, format!("{shown} is not greater than 0"), "write a positive number");
        }
        good
    }

    /// Notes a fault unless a number is finite and not too large for the scene's precision.
    fn finite(&mut self, key: &str, number: f64) -> bool {
        let most = self.largest();
        if !number.is_finite() {
            self.found
                .value(key, format!("{number} is not a finite number"), "write a number");
        } else if number.abs() > most {
            let message = format!("{} is larger than {most:e}", super::write::float(number));
            self.found
                .value(key, message, "choose other units, or solver.precision = \"double\"");
        }
        number.abs() <= most
    }

    /// A list of coordinates with one number per axis.
    fn vector(&mut self, key: &str, list: &[f64], rank: usize) -> Option<[f64; 3]> {
        if list.len() != rank {
            let axes = ["x", "x, y", "x, y, z"][rank - 1];
            let message = format!("{} where the grid has {rank}", count(list.len(), "number"));
            self.found
                .value(key, message, format!("write one number per axis: {axes}"));
            return None;
        }
        let mut vector = [0.0; 3];
        vector[..rank].copy_from_slice(list);
        list.iter()
            .enumerate()
            .all(|(axis, number)| self.finite(&format!("{key}.{axis}"), *number))
            .then_some(vector)
    }

    /// A point that must lie on the grid.
    #[expect(clippy::cast_precision_loss, reason = "sites are far below 2^52")]
    fn point(&mut self, key: &str, list: &[f64], grid: &Grid) -> Option<[f64; 3]> {
        let point = self.vector(key, list, grid.rank())?;
        let mut good = true;
        for axis in (0..grid.rank()).filter(|_| self.grid_is_own) {
            let a = grid.spacing();
            // Half a spacing beyond the first and last site still has them as the nearest.
            let last = (grid.size()[axis] - 1) as f64 * a;
            if point[axis] < -a / 2.0 || point[axis] > last + a / 2.0 {
                let name = ["x", "y", "z"][axis];
                let (shown, last) = (super::write::float(point[axis]), super::write::tidy_float(last));
                let message = format!("{name} = {shown} lies outside the grid, which goes from 0 to {last}");
                let path = if list.len() == 1 {
                    key.to_owned()
                } else {
                    format!("{key}.{axis}")
                };
                let remedy = "move it inside; coordinates are lengths, site number times spacing";
                self.found.value(path, message, remedy);
                good = false;
            }
        }
        good.then_some(point)
    }

    fn grid(&mut self, equation: Option<Equation>) -> Option<Grid> {
        let given = &self.file.grid;
        let rank = given.size.len();
        let spacing = self.ordinary("grid.spacing", given.spacing);
        if !(1..=3).contains(&rank) {
            let message = format!("{} where 1, 2 or 3 belong", count(rank, "number"));
            self.found
                .value("grid.size", message, "write the sites along each axis, e.g. [512, 512]");
            return None;
        }
        let mut good = spacing;
        for (axis, &sites) in given.size.iter().enumerate() {
            // Two sites are the least that have a bond.
            if !(2..=MOST_SITES).contains(&sites) {
                let limit = if sites < 2 { "fewer than 2" } else { "more than 2^40" };
                let remedy = "choose between 2 and 2^40 sites, and leave out an axis that is not needed";
                self.found.value(
                    format!("grid.size.{axis}"),
                    format!(
                        "{} {limit}",
                        if sites == 1 {
                            "1 site is".to_owned()
                        } else {
                            format!("{sites} sites are")
                        }
                    ),
                    remedy,
                );
                good = false;
            }
        }
        let product = given.size.iter().try_fold(1usize, |all, sites| all.checked_mul(*sites));
        if good && product.is_none_or(|sites| sites > MOST_SITES) {
            let message = "these are more than 2^40 sites in all";
            self.found.value("grid.size", message, "choose a smaller grid");
            good = false;
        }
        if !good {
            return None;
        }
        // Faults of edges do not hide those of coordinates: the rest is checked on the same sites within walls.
        let grid = Grid::new(&given.size, given.spacing);
        let Some(edges) = self.edges(equation, rank) else {
            return Some(grid);
        };
        let absorbs = edges.contains(&Edge::Absorb);
        let width = given.absorb_width.unwrap_or(ABSORB_WIDTH);
        if absorbs && width == 0 {
            let remedy = "write how many sites absorb, e.g. 32, or another edge";
            self.found.value("grid.absorb_width", "0 sites absorb nothing", remedy);
        }
        for (axis, &sites) in given.size.iter().enumerate() {
            if edges[axis] == Edge::Absorb && width.saturating_mul(2) >= sites {
                let name = ["x", "y", "z"][axis];
                let message = format!("two layers of {width} sites leave nothing of the {sites} sites along {name}");
                let remedy = format!("write at most {} or enlarge the grid", (sites - 1) / 2);
                self.found.value("grid.absorb_width", message, remedy);
            }
        }
        Some(grid.with_edges(edges, if absorbs { width } else { 0 }))
    }

    fn edges(&mut self, equation: Option<Equation>, rank: usize) -> Option<[Edge; 3]> {
        let given = &self.file.grid;
        let mut edges = [Edge::Wall; 3];
        match &given.edges {
            EdgesFile::All(edge) => edges[..rank].fill(*edge),
            EdgesFile::PerAxis(list) if list.len() == rank => edges[..rank].copy_from_slice(list),
            EdgesFile::PerAxis(list) => {
                let message = format!("{} where the grid has {rank} axes", count(list.len(), "word"));
                self.found
                    .value("grid.edges", message, "write one word for all axes or one per axis");
                return None;
            }
        }
        let mut good = true;
        for axis in 0..rank {
            let sites = given.size[axis];
            if equation == Some(Equation::Schrodinger) && edges[axis] == Edge::Periodic && sites % 2 == 1 {
                let name = ["x", "y", "z"][axis];
                let message = format!("{sites} sites along {name} are odd, and a periodic axis needs an even number");
                let remedy = format!(
                    "write {} or {}, or another edge",
                    sites.saturating_sub(1),
                    sites.saturating_add(1)
                );
                self.found.value(format!("grid.size.{axis}"), message, remedy);
                good = false;
            }
        }
        good.then_some(edges)
    }

    #[expect(clippy::cast_precision_loss, reason = "sites are far below 2^52")]
    fn model(&mut self, equation: Option<Equation>, grid: Option<&Grid>) -> Option<Model> {
        let before = self.found.faults.len();
        if let Some(acoustic) = &self.file.acoustic {
            self.ordinary("acoustic.speed", acoustic.speed);
            self.ordinary("acoustic.density", acoustic.density);
            if let Some(law) = &acoustic.attenuation {
                self.attenuation(law);
            }
        }
        if let Some(quantum) = &self.file.quantum {
            if quantum.mass.is_some() && quantum.hopping.is_some() {
                let message = "there is a hopping as well as a mass; J = 1/(2 m a²) follows from the mass";
                self.found.key("quantum.hopping", message, "remove one of the two");
            }
            if let Some(mass) = quantum.mass {
                self.ordinary("quantum.mass", mass);
            }
            if let Some(hopping) = quantum.hopping {
                self.ordinary("quantum.hopping", hopping);
            }
            self.finite("quantum.interaction", quantum.interaction);
            self.finite("quantum.cross_interaction", quantum.cross_interaction);
            self.finite("quantum.flux", quantum.flux);
            self.finite("quantum.rotation", quantum.rotation);
            if let Some(grid) = grid.filter(|_| quantum.flux != 0.0 && quantum.flux.is_finite()) {
                let flux = super::write::float(quantum.flux);
                if grid.rank() == 1 {
                    let message = format!("{flux} flux quanta have no plaquette to go through in one dimension");
                    self.found
                        .value("quantum.flux", message, "use a grid of two axes or remove it");
                } else if grid.is_periodic(1) {
                    let sites = grid.size()[1] as f64;
                    let total = quantum.flux * sites;
                    if (total - total.round()).abs() > 1e-9 * total.abs().max(1.0) {
                        let total_shown = super::write::tidy_float(total);
                        let message = format!(
                            "flux times sites along y is {total_shown}; on a periodic y axis it must be a whole number"
                        );
                        let near = super::write::float(total.round().abs().max(1.0).copysign(total) / sites);
                        let remedy = format!("write e.g. {near}, or let y end at walls");
                        self.found.value("quantum.flux", message, remedy);
                    }
                }
            }
        }
        if self.found.faults.len() > before {
            return None;
        }
        let grid = grid?;
        match equation? {
            Equation::Acoustic => self.file.acoustic.as_ref().map(|acoustic| {
                Model::Acoustic(Acoustic {
                    speed: acoustic.speed,
                    density: acoustic.density,
                    attenuation: acoustic.attenuation,
                })
            }),
            Equation::Schrodinger => {
                let quantum = self.file.quantum.as_ref()?;
                let mass = quantum
                    .mass
                    .or(if quantum.hopping.is_some() { None } else { Some(1.0) });
                let hopping = match mass {
                    Some(mass) => 1.0 / (2.0 * mass * grid.spacing().powi(2)),
                    None => quantum.hopping.unwrap_or(1.0),
                };
                let most = self.largest();
                if !(1.0 / most..=most).contains(&hopping) {
                    let message = format!(
                        "the hopping 1/(2 m a²) is {}, and must be between {:e} and {most:e}",
                        super::write::tidy_float(hopping),
                        1.0 / most
                    );
                    self.found
                        .value("grid.spacing", message, "choose spacing and mass nearer to 1");
                    return None;
                }
                Some(Model::Quantum(Quantum {
                    hopping,
                    diagonal: if mass.is_some() {
                        2.0 * hopping * grid.rank() as f64
                    } else {
                        0.0
                    },
                    mass,
                    interaction: quantum.interaction,
                    flux: quantum.flux,
                }))
            }
        }
    }

    fn time(&mut self, equation: Option<Equation>) {
        let time = self.file.time;
        if let Some(step) = time.step {
            self.ordinary("time.step", step);
        }
        if let Some(end) = time.end {
            self.positive("time.end", end);
        }
        if time.imaginary && equation == Some(Equation::Acoustic) {
            let message = "true, but sound has no imaginary time";
            self.found
                .value("time.imaginary", message, "remove it; it belongs to quantum scenes");
        }
    }
}

/// What the scene's own medium and that of the way back have in addition to layers.
struct OfAllLayers {
    /// Ω and the mass that it acts on.
    rotating: [f64; 2],
    /// g₁₂.
    cross_interaction: f64,
}

impl OfAllLayers {
    fn medium(&self, grid: Grid, layers: Vec<Layer>) -> Medium {
        let [rotation, mass] = self.rotating;
        Medium::new(grid, layers)
            .rotating(rotation, mass)
            .with_cross_interaction(self.cross_interaction)
    }
}

fn article(equation: Equation) -> &'static str {
    match equation {
        Equation::Schrodinger => "a quantum",
        Equation::Acoustic => "an acoustic",
    }
}

/// `1 number`, `3 numbers`.
fn count(number: usize, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{number} {noun}s")
    }
}

/// The remedy for a name that is not in a list.
fn possible<'n>(name: &str, all: impl Iterator<Item = &'n str> + Clone) -> String {
    let list: Vec<&str> = all.clone().collect();
    let list = if list.is_empty() {
        "none".to_owned()
    } else {
        list.join(", ")
    };
    match nearest(name, all) {
        Some(near) => format!("did you mean \"{near}\"? There are {list}"),
        None => format!("there are {list}"),
    }
}
