//! A row of the table of methods, as plain data: equation, orders, back ends, precisions, variants, parameters, papers.

use super::{Solver, SolverError};
use crate::field::Precision;
use crate::physics::{Equation, drives};
use crate::scene::scenario::BackendChoice;
use crate::scene::{Objection, Scenario};
use std::sync::{PoisonError, RwLock};

/// Hardware that a method can run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Backend {
    /// This machine's processor.
    Cpu,
    /// An NVIDIA device.
    Cuda,
    /// A graphics adapter, by Vulkan, Metal or DirectX 12, or in a page by WebGPU.
    Wgpu,
}

impl Backend {
    /// Every back end, in the order of preference of a scene that leaves it open.
    pub const ALL: [Self; 3] = [Self::Cuda, Self::Wgpu, Self::Cpu];

    /// Those that this build has code for.
    pub(super) const BUILT: &'static [Self] = &[
        Self::Cpu,
        #[cfg(feature = "cuda")]
        Self::Cuda,
        #[cfg(feature = "gui")]
        Self::Wgpu,
    ];

    /// The word in a scene file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
            Self::Wgpu => "wgpu",
        }
    }

    /// The name for the user.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Cpu => "processor",
            Self::Cuda => "CUDA device",
            Self::Wgpu => "graphics adapter",
        }
    }

    /// Whether it is available in this build and on this machine.
    ///
    /// # Errors
    /// Why not, as a text for the user.
    pub fn availability(self) -> Result<(), &'static str> {
        match self {
            Self::Cpu => Ok(()),
            #[cfg(feature = "cuda")]
            Self::Cuda => crate::backend::cuda::device().map(|_| ()),
            #[cfg(not(feature = "cuda"))]
            Self::Cuda => Err("this build was made without the feature `cuda`"),
            #[cfg(feature = "gui")]
            Self::Wgpu => crate::backend::wgpu::available(),
            #[cfg(not(feature = "gui"))]
            Self::Wgpu => Err("this build was made without the feature `gui`, which brings graphics adapters"),
        }
    }

    /// Whether a scene may ask for it: as [`Backend::availability`], or on the machine where runs go ([`run_elsewhere`]).
    ///
    /// # Errors
    /// Why not, as a text for the user.
    pub fn offer(self) -> Result<(), &'static str> {
        match &*ELSEWHERE.read().unwrap_or_else(PoisonError::into_inner) {
            None => self.availability(),
            Some(there) if there.contains(&self) => Ok(()),
            Some(_) => Err("the machine of the run has none"),
        }
    }
}

/// The back ends of another machine, while runs are there.
static ELSEWHERE: RwLock<Option<Vec<Backend>>> = RwLock::new(None);

/// From now on scenes are checked against the back ends of another machine, on which they run; `None` = this machine.
pub fn run_elsewhere(there: Option<Vec<Backend>>) {
    *ELSEWHERE.write().unwrap_or_else(PoisonError::into_inner) = there;
}

impl BackendChoice {
    /// The back end that a scene names.
    #[must_use]
    pub fn named(self) -> Option<Backend> {
        match self {
            Self::Auto => None,
            Self::Cpu => Some(Backend::Cpu),
            Self::Cuda => Some(Backend::Cuda),
            Self::Wgpu => Some(Backend::Wgpu),
        }
    }
}

impl From<Backend> for BackendChoice {
    fn from(backend: Backend) -> Self {
        match backend {
            Backend::Cpu => Self::Cpu,
            Backend::Cuda => Self::Cuda,
            Backend::Wgpu => Self::Wgpu,
        }
    }
}

/// A way of computing the same steps, on one back end.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// The key in scene files.
    pub id: &'static str,
    /// One line: what it does and what it is good for.
    pub about: &'static str,
}

/// The order of a method whose error does not depend on Δt and is rounding only.
pub const EXACT: u32 = 0;

/// An order in Δt in words: `2`, or `exact`.
pub fn order_word(order: u32) -> String {
    if order == EXACT {
        "exact".to_owned()
    } else {
        order.to_string()
    }
}

/// What a method offers on one back end.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The back end.
    pub backend: Backend,
    /// Its precisions.
    pub precisions: &'static [Precision],
    /// Whether grids that are cut into parts ([`Method::split`]) are stepped there.
    pub cut: bool,
    /// Its variants, the simplest first; `auto` is always allowed and not listed.
    pub variants: &'static [Variant],
}

/// The kind of a parameter, with limits and default.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// One of these whole numbers.
    OneOf {
        /// Allowed values.
        values: &'static [i64],
        /// Used where a scene says nothing.
        default: i64,
    },
    /// A whole number between limits, or `auto` (the default): chosen by the method.
    Count {
        /// Least value.
        min: i64,
        /// Greatest value.
        max: i64,
    },
    /// One whole number per axis between limits, or `auto` (the default).
    Sizes {
        /// Least value.
        min: i64,
        /// Greatest value.
        max: i64,
    },
    /// A number of NVIDIA devices, their numbers from 0, or `all`; without it, the first.
    Devices {
        /// Most of them.
        max: i64,
    },
}

/// A parameter of a method.
#[derive(Clone, Copy, Debug)]
pub struct ParameterSpec {
    /// The key in scene files.
    pub key: &'static str,
    /// The label in the window.
    pub title: &'static str,
    /// The tooltip: formula, effect, source.
    pub about: &'static str,
    /// Kind, limits, default.
    pub kind: Kind,
    /// Variants that it concerns; empty = all.
    pub variants: &'static [&'static str],
}

/// The key of the parameter that says into how many parts a grid is cut.
pub const PARTS: &str = "parts";

/// The parameter of methods that can be cut.
pub(super) const PARTS_PARAMETER: ParameterSpec = ParameterSpec {
    key: PARTS,
    title: "Parts",
    about: "Parts that the grid is cut into along its slowest axis. Under an MPI launcher every process takes some of them, at least one. Never \
            changes the result, not by a bit.",
    kind: Kind::Count { min: 1, max: 4096 },
    variants: &[],
};

/// The key of the parameter that says on which NVIDIA devices a run goes.
pub const DEVICES: &str = "devices";

/// The parameter of methods that can be cut.
pub(super) const DEVICES_PARAMETER: ParameterSpec = ParameterSpec {
    key: DEVICES,
    title: "NVIDIA devices",
    about: "How many NVIDIA devices share the grid, their numbers ([0, 1]), or \"all\": as many as the grid fills. Each steps a part, and neighbours copy ghost rows from device \
            to device. A number may occur twice. The field is the same bit for bit.",
    kind: Kind::Devices { max: 16 },
    variants: &[],
};

/// How a method can be cut for a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// Rows on each side on which a row depends after one step.
    pub reach: usize,
    /// Rows beside a row that detectors and sums read.
    pub beside: usize,
    /// Parts and windows begin at multiples of it.
    pub unit: usize,
    /// Steps from one exchange of ghost rows to the next, the least and the most: as many as leave those on a side a twelfth of a part's own rows.
    pub steps: [u64; 2],
}

/// How the grid of a scenario can be cut, or why it cannot.
pub type SplitOf = fn(&Scenario) -> Result<Split, Objection>;

/// Where a method comes from.
#[derive(Clone, Copy, Debug)]
pub struct Paper {
    /// Author, year, title.
    pub citation: &'static str,
    /// DOI, if it has one.
    pub doi: &'static str,
}

/// The advice of a method about Δt for a scenario.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepAdvice {
    /// Δt of `step = "auto"`.
    pub auto: f64,
    /// Beyond this the result is no longer accurate (or no longer stable, where `stability_limit` says so).
    pub sensible: f64,
    /// The scheme is unstable beyond this; `None` where it is stable for every Δt.
    pub stability_limit: Option<f64>,
    /// How these were found, for the tooltip.
    pub because: &'static str,
}

/// The least work of one step at one site, for a machine without overheads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// Multiply, add and multiply-add instructions, counted per lane: a vector of 16 numbers does 16 at once.
    pub instructions: f64,
    /// Bytes moved if every step reads and writes the field once, in place, and nothing stays in a cache; fusing steps goes below.
    pub bytes: f64,
}

/// One row of the table.
pub struct Method {
    /// The key in scene files.
    pub id: &'static str,
    /// The name for the user.
    pub title: &'static str,
    /// One paragraph for the user.
    pub about: &'static str,
    /// The equation it steps.
    pub equation: Equation,
    /// Orders in Δt that it has, or [`EXACT`]; tested. The parameter `order` chooses where there are several.
    pub orders: &'static [u32],
    /// Dimensions it works in.
    pub ranks: &'static [usize],
    /// Back ends, precisions, variants.
    pub targets: &'static [Target],
    /// Its own parameters.
    pub parameters: &'static [ParameterSpec],
    /// Where it comes from.
    pub papers: &'static [Paper],
    /// Δt for a scenario.
    pub step_advice: fn(&Scenario) -> StepAdvice,
    /// What a scenario asks that the method cannot do, each with its key and what to change; empty = it can be built.
    pub objections: fn(&Scenario) -> Vec<Objection>,
    /// Bytes that a run will need.
    pub memory: fn(&Scenario) -> u64,
    /// Grows a set of sites by those on which its values depend in one step: the thickness of a mirror that isolates the inside from what is behind
    /// it. `None` where every site depends on all others.
    pub reach: Option<fn(&Scenario, &mut [bool])>,
    /// How its grid can be cut into parts for a scenario, or why that scenario's cannot; `None` where it steps the grid as a whole.
    pub split: Option<SplitOf>,
    /// Back ends on which single sites can be recorded and driven ([`Solver::apply_transducers`], and [`super::Taps::apply_transducers`] in every step).
    pub transducers: &'static [Backend],
    /// The least that a step of the scheme costs a site, whatever the variant: what `bench` measures against.
    pub work: fn(&Scenario) -> Work,
    /// A solver at t = 0.
    pub build: fn(&Scenario) -> Result<Box<dyn Solver>, SolverError>,
}

/// Number of steps above which an automatic Δt is not fitted to the end of the run: a part of a step is then below rounding.
const COUNTED: f64 = 1e12;

/// How many times as many steps lead to the turn of a mirror, at most, so that whole steps lead to the scene's end too.
const MORE_STEPS: f64 = 1.25;

/// The fewest steps from `least` on of which `times` as many are a whole number too; `least` where [`MORE_STEPS`] have none, or the first thousands of them.
fn whole_steps(least: f64, times: f64) -> f64 {
    let all = (0..4096).map(|more| least + f64::from(more));
    let few = all.take_while(|steps| *steps <= MORE_STEPS * least);
    let mut both = few.filter(|steps| (steps * times - (steps * times).round()).abs() < 1e-6);
    both.next().unwrap_or(least)
}

/// How many times as many steps an exact method takes, at most, so that predictions fall on them, and the most steps of which that is asked.
const MOST_STEPS: f64 = 8.0;
const FEW: f64 = 4096.0;

/// Steps for which drives are followed in a scene without an end.
const UNENDING: f64 = 1000.0;

impl Method {
    /// What is advised about Δt for a scenario: where a mirror perturbs the medium, for both ways, which have steps of one length.
    pub fn advice(&self, scenario: &Scenario) -> StepAdvice {
        let there = (self.step_advice)(scenario);
        if (scenario.mirror()).is_none_or(|mirror| mirror.medium == *scenario.medium()) {
            return there;
        }
        let back = (self.step_advice)(&scenario.returning());
        let limits = there.stability_limit.into_iter().chain(back.stability_limit);
        StepAdvice {
            auto: there.auto.min(back.auto),
            sensible: there.sensible.min(back.sensible),
            stability_limit: limits.reduce(f64::min),
            because: there.because,
        }
    }

    /// Δt of a scenario, always positive: its own, or the advice, halved until steps resolve the drives, on the way back from a mirror too, and shortened so that a whole number of steps leads to the reversal of a
    /// mirror, to the scene's end, and to both where a quarter more steps suffice. Predictions for the end are then measured exactly there; the long steps of an exact method are shortened to
    /// lead to the other predictions too, where eight times as many do.
    pub fn time_step(&self, scenario: &Scenario) -> f64 {
        let time = scenario.time();
        time.step.unwrap_or_else(|| {
            let until = scenario.mirror().map(|mirror| mirror.at).or(time.end);
            // What drives do within a step is looked at up to the end alone.
            let advised = self.advice(scenario).auto;
            let advised = until.map_or(advised, |until| advised.min(until));
            let parts = scenario.drives(UNENDING * advised);
            let auto = parts
                .into_iter()
                .fold(advised, |step, (times, drives)| drives::followed(drives, times, step));
            match until.map(|until| (until, until / auto)) {
                Some((until, steps)) if steps > 0.0 && steps < COUNTED => {
                    let least = (steps - 1e-9).ceil().max(1.0);
                    let steps = time.end.map_or(least, |end| whole_steps(least, end / until));
                    let mut times: Vec<f64> = scenario.expectations().iter().map(|own| own.at).collect();
                    if !times.is_empty() {
                        times.extend(time.end);
                    }
                    until / self.steps_through(until, steps, &times).unwrap_or(steps)
                }
                _ => auto,
            }
        })
    }

    /// The fewest steps to `until`, from `least` on, whole numbers of which lead to all `times`, where the method is exact and its steps are long. `None` where [`MOST_STEPS`] times as many
    /// have none, or there are so many that a part of one matters little.
    pub fn steps_through(&self, until: f64, least: f64, times: &[f64]) -> Option<f64> {
        if !self.orders.contains(&EXACT) || times.is_empty() || least > FEW {
            return None;
        }
        let falls = |time: f64, steps: f64| {
            let own = steps * time / until;
            (own - own.round()).abs() < 1e-6
        };
        let all = (0u32..).map(|more| least + f64::from(more));
        let mut few = all.take_while(|steps| *steps <= MOST_STEPS * least);
        few.find(|steps| times.iter().all(|time| falls(*time, *steps)))
    }

    /// The targets whose back end is there.
    pub fn present_targets(&self) -> impl Iterator<Item = &'static Target> + use<> {
        self.targets.iter().filter(|target| target.backend.offer().is_ok())
    }
}
