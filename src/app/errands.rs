//! Work that must not hold up the window: checking scenes, reading and writing files, dialogs, the medium's picture.

use crate::render::medium::MediumImage;
use crate::scene::{Faults, Scenario, SceneFile};
use crate::solver;
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Texels along the longer side of the medium's picture.
const MEDIUM_TEXELS: usize = 1024;

/// A scene that was read.
#[derive(Debug)]
pub struct Opened {
    /// As written.
    pub file: SceneFile,
    /// Checked.
    pub scenario: Arc<Scenario>,
    /// Where it was read from; `None` for a preset.
    pub path: Option<PathBuf>,
    /// The preset's name.
    pub preset: Option<String>,
}

/// What came of an errand.
#[derive(Debug)]
pub enum Outcome {
    /// An edited scene was checked.
    Checked {
        /// The draft's number.
        revision: u64,
        /// The scenario, or what is wrong.
        result: Result<Arc<Scenario>, Faults>,
    },
    /// A scene was read, or what is wrong with it.
    Opened(Result<Box<Opened>, Faults>),
    /// The medium of a scenario as a picture.
    Medium(Arc<Scenario>, MediumImage),
    /// The scene was written.
    Saved(Box<SceneFile>, PathBuf),
    /// A file was chosen for an export.
    Chosen(Export, PathBuf),
    /// Something failed.
    Failed(String, String),
}

/// What the engine can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Export {
    /// A PNG of the field.
    Picture,
    /// The field as NPY.
    Field,
    /// The whole state.
    Checkpoint,
}

impl Export {
    fn title(self) -> &'static str {
        match self {
            Self::Picture => "Export picture",
            Self::Field => "Export field",
            Self::Checkpoint => "Save checkpoint",
        }
    }

    fn filter(self) -> (&'static str, &'static str) {
        match self {
            Self::Picture => ("PNG picture", "png"),
            Self::Field => ("NumPy array", "npy"),
            Self::Checkpoint => ("Checkpoint", "ripplon"),
        }
    }
}

/// The work that goes to the one thread of its own, where only the latest of a kind counts.
enum Task {
    Check(u64, Box<SceneFile>, Option<PathBuf>),
    Medium(Arc<Scenario>, usize),
}

/// Sends work away and collects what came of it.
pub struct Errands {
    tasks: Sender<Task>,
    outcomes: Receiver<Outcome>,
    report: Sender<Outcome>,
    ctx: egui::Context,
}

impl Errands {
    /// Starts the thread; `ctx` is woken when something is done.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn start(ctx: &egui::Context) -> std::io::Result<Self> {
        let (tasks, todo) = unbounded::<Task>();
        let (report, outcomes) = unbounded();
        let (done, wake) = (report.clone(), ctx.clone());
        std::thread::Builder::new()
            .name("ripplon-errands".to_owned())
            .spawn(move || {
                while let Ok(first) = todo.recv() {
                    let (mut check, mut medium) = (None, None);
                    for task in std::iter::once(first).chain(todo.try_iter()) {
                        match task {
                            Task::Check(..) => check = Some(task),
                            Task::Medium(..) => medium = Some(task),
                        }
                    }
                    for task in [check, medium].into_iter().flatten() {
                        if done.send(perform(task)).is_err() {
                            return;
                        }
                        wake.request_repaint();
                    }
                }
            })?;
        Ok(Self {
            tasks,
            outcomes,
            report,
            ctx: ctx.clone(),
        })
    }

    /// What is done since the last call.
    pub fn outcomes(&self) -> impl Iterator<Item = Outcome> + '_ {
        self.outcomes.try_iter()
    }

    /// Checks an edited scene.
    pub fn check(&self, revision: u64, file: &SceneFile, path: Option<&Path>) {
        // The thread ends only with the window.
        let _ = self
            .tasks
            .send(Task::Check(revision, Box::new(file.clone()), path.map(Path::to_owned)));
    }

    /// Makes the medium's picture of a plane.
    pub fn medium(&self, scenario: &Arc<Scenario>, plane: usize) {
        let _ = self.tasks.send(Task::Medium(scenario.clone(), plane));
    }

    /// Reads a preset or a file with overrides.
    pub fn open(&self, scene: String, overrides: Vec<String>) {
        self.spawn(move || Some(Outcome::Opened(read(&scene, &overrides).map(Box::new))));
    }

    /// Asks for a scene file and reads it.
    pub fn open_dialog(&self) {
        self.spawn(|| {
            let path = rfd::FileDialog::new()
                .set_title("Open scene")
                .add_filter("Ripplon scene", &["toml"])
                .pick_file()?;
            Some(Outcome::Opened(read(&path.to_string_lossy(), &[]).map(Box::new)))
        });
    }

    /// Writes a scene to `path`, or asks where.
    pub fn save(&self, file: &SceneFile, path: Option<PathBuf>) {
        let file = Box::new(file.clone());
        self.spawn(move || {
            let path = match path {
                Some(path) => path,
                None => rfd::FileDialog::new()
                    .set_title("Save scene")
                    .add_filter("Ripplon scene", &["toml"])
                    .set_file_name(file_name(&file.title, "toml"))
                    .save_file()?,
            };
            Some(match write_aside(&path, file.to_toml().as_bytes()) {
                Ok(()) => Outcome::Saved(file, path),
                Err(error) => Outcome::Failed(
                    "The scene could not be saved".to_owned(),
                    format!("{}: {error}", path.display()),
                ),
            })
        });
    }

    /// Asks where to write an export.
    pub fn choose(&self, export: Export, title: &str) {
        let (name, ending) = export.filter();
        let suggestion = file_name(title, ending);
        self.spawn(move || {
            let path = rfd::FileDialog::new()
                .set_title(export.title())
                .add_filter(name, &[ending])
                .set_file_name(suggestion)
                .save_file()?;
            Some(Outcome::Chosen(export, path))
        });
    }

    /// Runs something on a thread of its own; `None` = cancelled.
    fn spawn(&self, work: impl FnOnce() -> Option<Outcome> + Send + 'static) {
        let (done, wake) = (self.report.clone(), self.ctx.clone());
        let spawned = std::thread::Builder::new()
            .name("ripplon-errand".to_owned())
            .spawn(move || {
                if let Some(outcome) = work()
                    && done.send(outcome).is_ok()
                {
                    wake.request_repaint();
                }
            });
        if let Err(error) = spawned {
            let _ = self.report.send(Outcome::Failed(
                "The system gives no thread".to_owned(),
                error.to_string(),
            ));
        }
    }
}

fn perform(task: Task) -> Outcome {
    match task {
        Task::Check(revision, file, path) => Outcome::Checked {
            revision,
            result: solver::validate_scene(&file, path.as_deref()).map(Arc::new),
        },
        Task::Medium(scenario, plane) => {
            let image = medium(&scenario, plane);
            Outcome::Medium(scenario, image)
        }
    }
}

/// Reads a preset or a file.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read(scene: &str, overrides: &[String]) -> Result<Opened, Faults> {
    let preset = crate::scene::presets::find(scene).map(|preset| preset.name.to_owned());
    let (file, scenario) = solver::read_scene(scene, overrides)?;
    Ok(Opened {
        file,
        scenario: Arc::new(scenario),
        path: preset.is_none().then(|| PathBuf::from(scene)),
        preset,
    })
}

/// Potential and walls of one plane, sampled at most [`MEDIUM_TEXELS`] along an axis. Drives stand at t = 0.
#[must_use]
pub fn medium(scenario: &Scenario, plane: usize) -> MediumImage {
    let grid = scenario.grid();
    let [nx, ny, nz] = grid.size();
    let plane = plane.min(nz - 1);
    let layers = scenario.medium();
    if layers.layers().is_empty() {
        return MediumImage::default();
    }
    let size = [nx.min(MEDIUM_TEXELS), ny.min(MEDIUM_TEXELS)];
    // Texel n shows the site under its middle.
    let site = |n: usize, texels: usize, sites: usize| (2 * n + 1) * sites / (2 * texels);
    let drives: Vec<f64> = layers.drives().iter().map(|drive| drive.eval(&[0.0])).collect();
    let mut texels = Vec::with_capacity(size[0] * size[1]);
    let (mut sum, mut part, mut walls) = (vec![0.0; nx], vec![0.0; nx], vec![false; nx]);
    let mut limit: f64 = 0.0;
    for row in 0..size[1] {
        let j = site(row, size[1], ny);
        layers.potential_row(None, j, plane, 0..nx, &mut sum);
        for (group, factor) in drives.iter().enumerate() {
            layers.potential_row(Some(group), j, plane, 0..nx, &mut part);
            for (sum, part) in sum.iter_mut().zip(&part) {
                *sum += factor * part;
            }
        }
        layers.wall_row(j, plane, 0..nx, &mut walls);
        for column in 0..size[0] {
            let i = site(column, size[0], nx);
            let wall = f32::from(u8::from(walls[i]));
            if wall < 0.5 && sum[i].is_finite() {
                limit = limit.max(sum[i].abs());
            }
            texels.push([sum[i] as f32, wall]);
        }
    }
    if limit > 0.0 {
        for [level, _] in &mut texels {
            *level = (*level / limit as f32).clamp(-1.0, 1.0);
        }
    }
    MediumImage {
        size,
        sites: [nx, ny],
        texels,
        limit,
    }
}

/// Writes a file beside its place, then puts it there: it is whole or the old one.
fn write_aside(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut aside = tempfile::NamedTempFile::new_in(folder)?;
    aside.write_all(bytes)?;
    aside.persist(path)?;
    Ok(())
}

/// A title as a file's name.
fn file_name(title: &str, ending: &str) -> String {
    let words: Vec<&str> = title
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let stem = if words.is_empty() {
        "scene".to_owned()
    } else {
        words.join("-").to_lowercase()
    };
    format!("{stem}.{ending}")
}
