//! MPI launchers, and runs of the program by itself and under them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A launcher and how it is called.
pub struct Launcher {
    pub program: PathBuf,
    pub open_mpi: bool,
}

/// The launchers of this machine: Open MPI's and MPICH's by their own names, so that both are found where both are installed.
pub fn launchers() -> Vec<Launcher> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found: Vec<Launcher> = Vec::new();
    for name in ["mpirun.openmpi", "mpirun.mpich", "mpirun"] {
        for folder in std::env::split_paths(&path) {
            let program = folder.join(name);
            let Ok(output) = Command::new(&program).arg("--version").output() else {
                continue;
            };
            let version = String::from_utf8_lossy(&output.stdout).into_owned();
            let open_mpi = ["Open MPI", "OpenRTE"].iter().any(|name| version.contains(name));
            if found.iter().all(|known| known.open_mpi != open_mpi) {
                found.push(Launcher { program, open_mpi });
            }
        }
    }
    if found.is_empty() {
        eprintln!("not tested: no MPI launcher (Debian, Ubuntu: apt install openmpi-bin mpich)");
    }
    found
}

impl Launcher {
    /// A command that starts so many processes in a folder.
    pub fn start(&self, ranks: usize, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        if self.open_mpi {
            command.args(["--oversubscribe", "--allow-run-as-root", "--bind-to", "none"]);
        }
        command.arg("-n").arg(ranks.to_string());
        command.arg(env!("CARGO_BIN_EXE_ripplon")).args(arguments);
        // Waiting processes do not take the cores of those that work.
        command
            .env("OMPI_MCA_mpi_yield_when_idle", "1")
            .env("RAYON_NUM_THREADS", "1");
        command.current_dir(folder);
        command
    }
}

/// A folder with a scene.
pub fn folder(name: &str, scene: &str) -> tempfile::TempDir {
    let folder = tempfile::Builder::new().prefix(name).tempdir().unwrap();
    std::fs::write(folder.path().join("scene.toml"), scene).unwrap();
    folder
}

/// How a command ended, and all that it printed.
pub fn words(output: &Output) -> String {
    format!(
        "{}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Runs the program without a launcher.
pub fn alone(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ripplon"));
    command.args(arguments).current_dir(folder).output().unwrap()
}
