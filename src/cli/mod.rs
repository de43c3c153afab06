//! The command line: what can be asked, and exit codes.
//!
//! 0 = done, 1 = failed while running, 2 = the input is wrong (scene, arguments, files that cannot be read or written).

mod bench;
#[cfg(feature = "gui")]
mod bench_volume;
#[cfg(feature = "gui")]
mod bench_window;
mod check;
mod dispersion;
#[cfg(feature = "gui")]
mod display;
mod eigen;
#[cfg(test)]
mod failing;
mod figures;
mod gains;
mod info;
mod interrupt;
mod kept;
mod lecture;
mod list;
mod measure;
mod misplaced;
mod named;
mod numbers;
mod outputs;
mod phase_space;
mod quiet;
mod render;
mod room;
mod run;
mod scene;
mod schema;
mod selftest;
#[cfg(feature = "hdf5")]
mod series;
mod serve;
mod site;
mod sound;
mod sweep;
mod sweep_table;
mod terminal;
mod verdicts;
mod worksheet;

use crate::backend::ranks;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::process::ExitCode;

pub use bench::BenchArgs;
pub use interrupt::Interrupt;
pub use render::RenderArgs;
pub use selftest::SelftestArgs;

/// A desktop laboratory for waves.
///
/// Without a subcommand the window opens. The environment variable RIPPLON_LOG=ripplon=trace prints log messages.
#[derive(Debug, Parser)]
#[command(name = "ripplon", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    window: WindowArgs,
    /// The graphics adapter for backend = "wgpu": its number or a part of its name as `ripplon info` lists it, or `software`
    // Behind the options of the subcommands themselves.
    #[arg(long, global = true, value_name = "A", display_order = 900)]
    adapter: Option<String>,
}

/// What the window opens with.
#[derive(Args, Debug)]
pub struct WindowArgs {
    /// A preset's name (see `ripplon list presets`) or a scene file
    scene: Option<String>,
    /// Change a key of the scene, e.g. --set solver.order=4 (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "scene")]
    set: Vec<String>,
}

/// A scene, as every subcommand takes it.
#[derive(Args, Clone, Debug)]
pub struct SceneArgs {
    /// A preset's name (see `ripplon list presets`) or a scene file
    pub scene: String,
    /// Change a key of the scene, e.g. --set solver.order=4 (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a scene without a window
    #[command(
        after_help = "Examples:\n  ripplon run tunnelling --observables t.csv\n  ripplon run double-slit --set solver.order=4 --detectors d.csv\n  ripplon run tube --wav \"at the wall=clap.wav\""
    )]
    Run(Box<run::RunArgs>),
    /// Make a film, a picture or numbered pictures of a scene
    #[command(
        after_help = "Examples:\n  ripplon render double-slit film.mp4 --overlay\n  ripplon render double-slit pictures/ --quantity phase\n  ripplon render pond ring.png --at 0.0075 --view relief"
    )]
    Render(RenderArgs),
    /// Run a scene once for each of several values and measure it
    #[command(
        after_help = "Examples:\n  ripplon sweep transmission --csv sweep.csv --plot sweep.png\n  ripplon sweep transmission --vary \"packet.0.momentum.0=0.3..0.6/7\" --measure behind@1500"
    )]
    Sweep(sweep::SweepArgs),
    /// Measure the position of the particle in a scene, many times
    #[command(after_help = "Example:\n  ripplon measure double-slit --at 300 --runs 5000 --plot places.png")]
    Measure(measure::MeasureArgs),
    /// Find the energies and eigenstates of a scene
    #[command(
        after_help = "Examples:\n  ripplon eigen corral --levels 20 --csv levels.csv\n  ripplon eigen double-well --from autocorrelation"
    )]
    Eigen(eigen::EigenArgs),
    /// Transform a run in space and time: frequency against wave number, with the dispersion relations of the lattice and the continuum
    #[command(after_help = "Example:\n  ripplon dispersion one-site --plot dispersion.png")]
    Dispersion(dispersion::DispersionArgs),
    /// Measure how a room sounds at a place: reverberation time, clarity, decay curves, and a dry sound played there
    #[command(after_help = "Example:\n  ripplon room damped-tube --csv decay.csv --plot decay.png")]
    Room(room::RoomArgs),
    /// Make a page of exercises from a scene, with picture, parameters, questions and answers
    #[command(after_help = "Example:\n  ripplon worksheet double-slit sheet.html --answers")]
    Worksheet(worksheet::WorksheetArgs),
    /// Run a scene here for a window on another machine
    #[command(after_help = "Example:\n  ripplon serve double-slit --play")]
    Serve(serve::ServeArgs),
    /// Open the window of a run that another machine serves
    #[command(after_help = "Example:\n  ripplon connect 7421 --token-file token")]
    Connect(serve::ConnectArgs),
    /// Show a sequence of scenes in a lecture hall, with notes and a clock
    #[command(after_help = "Example:\n  ripplon lecture lecture.toml --check")]
    Lecture(lecture::LectureArgs),
    /// List presets, methods or colour maps
    #[command(after_help = "Examples:\n  ripplon list presets\n  ripplon list methods --json")]
    List(list::ListArgs),
    /// Print the scene format as a JSON schema for editors
    Schema(schema::SchemaArgs),
    /// Check a scene and show what it needs: memory, Δt, number of steps
    #[command(after_help = "Example:\n  ripplon check my-scene.toml --probe")]
    Check(check::CheckArgs),
    /// Measure the speed of the methods, and compare it with the limits of this machine
    #[command(
        after_help = "Examples:\n  ripplon bench --method trotter --size 1024x1024\n  ripplon bench --scenes pond --quick"
    )]
    Bench(BenchArgs),
    /// Compare every method with the double-precision reference on this machine
    #[command(after_help = "Example:\n  ripplon selftest --method fdtd")]
    Selftest(SelftestArgs),
    /// Show the processor, devices and adapters of this machine
    Info(info::InfoArgs),
}

/// An error in the user's input: exit code 2.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InputError(pub String);

/// Runs the program.
#[must_use]
pub fn main() -> ExitCode {
    quiet::graphics();
    let matches = match with_negative_numbers(Cli::command()).try_get_matches() {
        Ok(matches) => matches,
        Err(error) => {
            let words: Vec<String> = (std::env::args_os().skip(1))
                .map(|word| word.to_string_lossy().into_owned())
                .collect();
            let Some(reason) = misplaced::remedy(&error, &words, &sub_commands()) else {
                error.exit();
            };
            terminal::error(format_args!("error: {reason}"));
            return ExitCode::from(2);
        }
    };
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    terminal::ignore_file_size_signal();
    if let Err(reason) = log().and_then(|()| join(cli.command.as_ref())) {
        terminal::error(format_args!("error: {reason}"));
        return ExitCode::from(2);
    }
    crate::backend::threads::limit_others();
    if let Err(reason) = name_adapter(cli.adapter.as_deref(), cli.command.as_ref()) {
        terminal::error(format_args!("error: {reason}"));
        return ExitCode::from(2);
    }
    // The files of a run, and who works at a distance, do not depend on the log.
    let logs = matches!(
        &cli.command,
        None | Some(Command::Run(_) | Command::Serve(_) | Command::Connect(_))
    );
    let is_window = cli.command.is_none();
    let done = match cli.command {
        None => misplaced::check(cli.window.scene.as_deref(), &sub_commands()).and_then(|()| window(&cli.window)),
        Some(Command::Run(args)) => run::run(&args),
        Some(Command::Render(args)) => render::run(&args),
        Some(Command::Sweep(args)) => sweep::run(&args),
        Some(Command::Measure(args)) => measure::run(&args),
        Some(Command::Eigen(args)) => eigen::run(&args),
        Some(Command::Dispersion(args)) => dispersion::run(&args),
        Some(Command::Room(args)) => room::run(&args),
        Some(Command::Worksheet(args)) => worksheet::run(&args),
        Some(Command::Serve(args)) => serve::serve(&args),
        Some(Command::Connect(args)) => serve::connect(&args),
        Some(Command::Lecture(args)) => lecture::run(&args),
        Some(Command::List(args)) => list::run(&args),
        Some(Command::Schema(args)) => schema::run(&args),
        Some(Command::Check(args)) => check::run(&args),
        Some(Command::Bench(args)) => bench::run(&args),
        Some(Command::Selftest(args)) => selftest::run(&args),
        Some(Command::Info(args)) => info::run(&args),
    };
    let lacking = crate::export::system_font::lacking();
    if !is_window && !lacking.is_empty() {
        terminal::tell!(
            "warning: no font of this machine has {lacking}: pictures show boxes in their place; install a font with these letters (Noto Sans has most), or write other words"
        );
    }
    let done = if logs {
        done
    } else {
        done.and_then(|()| terminal::all_printed())
    };
    match done {
        Ok(()) => {
            if let Some(ranks) = ranks::world() {
                ranks.leave();
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            terminal::error(format_args!("{}", scene::error_text(&error)));
            let code = exit_code(&error);
            end_all(&error, code)
        }
    }
}

/// The names of all subcommands.
fn sub_commands() -> Vec<String> {
    let command = Cli::command();
    let names = command.get_subcommands().map(clap::Command::get_name);
    names.map(ToOwned::to_owned).collect()
}

/// Takes `-5` after an option as its value; the option's own check decides whether it may be negative.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let taken = command.mut_args(|arg| {
        let number = arg.get_action().takes_values() && !arg.is_positional();
        arg.allow_negative_numbers(number)
    });
    taken.mut_subcommands(with_negative_numbers)
}

/// Works with the other processes of a launcher, for commands that can.
fn join(command: Option<&Command>) -> Result<(), String> {
    match command {
        Some(Command::Run(_) | Command::Info(_)) => {}
        Some(Command::Bench(args)) if args.is_shared() => {}
        _ => return Ok(()),
    }
    ranks::join()?;
    if !ranks::is_first() {
        crate::atomic_file::write_nowhere();
    }
    Ok(())
}

/// Ends the other processes of a launcher too if this one failed.
fn end_all(error: &anyhow::Error, code: u8) -> ExitCode {
    /// Time for the first process to report the reason, which is the same for all if the scene or a file is at fault.
    const OTHERS: std::time::Duration = std::time::Duration::from_secs(4);
    /// Time for the launcher to pass on what was printed: once it is told to end all, some drop what they have not read.
    const LAUNCHER: std::time::Duration = std::time::Duration::from_secs(1);
    let Some(ranks) = ranks::world() else {
        return ExitCode::from(code);
    };
    if ranks::is_first() {
        std::thread::sleep(LAUNCHER);
    } else {
        std::thread::sleep(OTHERS);
        terminal::last_words(format_args!("process {}: {}", ranks.rank(), scene::error_text(error)));
    }
    ranks.end(i32::from(code))
}

/// Uses the adapter with this number or part of a name. It must exist, even if `auto` never needs it. Adapters of
/// another machine are not known here, and `info` lists those of this one.
#[cfg(feature = "gui")]
fn name_adapter(word: Option<&str>, command: Option<&Command>) -> Result<(), String> {
    let Some(word) = word else { return Ok(()) };
    crate::backend::wgpu::name_adapter(word);
    if matches!(command, Some(Command::Connect(_) | Command::Info(_))) {
        return Ok(());
    }
    crate::backend::wgpu::available().map_err(|reason| format!("--adapter {word}: {reason}"))
}

/// This build cannot use any adapter.
#[cfg(not(feature = "gui"))]
fn name_adapter(word: Option<&str>, command: Option<&Command>) -> Result<(), String> {
    match word {
        Some(word) if !matches!(command, Some(Command::Connect(_) | Command::Info(_))) => Err(format!(
            "--adapter {word}: this program was built without graphics adapters (the feature `gui`)"
        )),
        _ => Ok(()),
    }
}

/// A test or measurement of the adapters' back end by name may use a software adapter.
fn allow_software(backend: Option<&str>) {
    #[cfg(feature = "gui")]
    if backend == Some(crate::solver::Backend::Wgpu.as_str()) {
        crate::backend::wgpu::allow_software();
    }
    #[cfg(not(feature = "gui"))]
    let _ = backend;
}

/// 2 if the input is at fault, otherwise 1.
fn exit_code(error: &anyhow::Error) -> u8 {
    let is_input = error.chain().any(|cause| {
        cause.is::<InputError>()
            || scene::is_fault(cause)
            || cause
                .downcast_ref::<crate::engine::EngineError>()
                .is_some_and(crate::engine::EngineError::is_input)
    });
    if is_input { 2 } else { 1 }
}

/// A reader that stops early, e.g. `head`, is not a failure.
fn ignore_closed_pipe(done: std::io::Result<()>) -> anyhow::Result<()> {
    match done {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        done => Ok(done?),
    }
}

/// Log messages go to standard error; `RIPPLON_LOG` selects them, e.g. `debug` or `ripplon::engine=trace`.
///
/// # Errors
/// If its value selects nothing: it is no list of levels and `module=level`.
fn log() -> Result<(), String> {
    use tracing_subscriber::prelude::*;
    let asked = std::env::var("RIPPLON_LOG").unwrap_or_default();
    let wrong = || {
        format!(
            "the environment variable RIPPLON_LOG: {asked:?} selects no messages; write a level (error, warn, info, debug, trace), or e.g. ripplon=trace"
        )
    };
    // A word alone would be a module with every level: a misspelt level would select nothing without a word.
    let level = |part: &str| part.parse::<tracing_subscriber::filter::LevelFilter>().is_ok();
    let mut parts = asked.split(',').map(str::trim).filter(|part| !part.is_empty());
    if parts.any(|part| !part.contains('=') && !part.starts_with("ripplon") && !level(part)) {
        return Err(wrong());
    }
    let read = asked
        .parse::<tracing_subscriber::filter::Targets>()
        .map_err(|_| wrong())?;
    let messages = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        // A disk that is full under a log ends nothing.
        .log_internal_errors(false);
    // A second initialisation, e.g. by a test harness, keeps the first.
    let _ = tracing_subscriber::registry()
        .with(messages.with_filter(read))
        .try_init();
    Ok(())
}

/// Opens the window.
#[cfg(feature = "gui")]
fn window(args: &WindowArgs) -> anyhow::Result<()> {
    // Faults of a scene are shown here, where they can be read, before anything opens.
    let scene = args.scene.as_ref();
    let opened = scene
        .map(|scene| crate::app::background::read(scene, &args.set))
        .transpose()?;
    display::probe()?;
    crate::app::run(crate::app::AppOptions {
        scene: args.scene.clone(),
        set: args.set.clone(),
        opened,
        lecture: None,
    })
    .map_err(|error| error.context(display::NO_WINDOW))
}

/// This build has no window.
#[cfg(not(feature = "gui"))]
fn window(_args: &WindowArgs) -> anyhow::Result<()> {
    anyhow::bail!(
        "this build has no window (it was compiled without the feature `gui`); make a film with `ripplon render SCENE \
         film.mp4`, or run a scene with `ripplon run SCENE`"
    )
}
