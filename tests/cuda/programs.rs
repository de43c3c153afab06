//! The embedded PTX against its sources, and what is compiled at run time.

use super::python;
use ripplon::backend::cuda::{self, Needs, Program, Source};
use ripplon::backend::machine;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A Python environment with NVRTC and ptxas; none, with a printed reason, where it does not install.
fn nvrtc() -> Option<PathBuf> {
    let wanted = [
        "nvidia-cuda-nvrtc==13.0.88",
        "nvidia-cuda-nvcc==13.5.37",
        "nvidia-nvvm==13.5.37",
        "zstandard==0.25.0",
    ];
    python::environment("nvrtc-13.0-zstd", &wanted)
}

/// `kernels/build` with NVRTC and ptxas from PyPI, no device needed.
#[test]
fn embedded_ptx_is_what_the_sources_give() {
    let Some(place) = nvrtc() else { return };
    let output = Command::new(place.join("bin/python"))
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/build"))
        .arg("--check")
        .output()
        .expect("python starts");
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Runs one test of this file in a process of its own, with other variables.
pub fn again(test: &str, variables: &[(&str, &std::ffi::OsStr)]) -> String {
    let output = Command::new(std::env::current_exe().expect("this program has a place"))
        .args(["--exact", test, "--nocapture"])
        .env(ROLE, test)
        .envs(variables.iter().copied())
        .output()
        .expect("this program starts again");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    text
}

/// Set in the processes that [`again`] starts.
pub const ROLE: &str = "RIPPLON_TEST_ROLE";

fn program(name: &str, source: &'static str) -> Program {
    let define = |name, value: &str| (name, value.to_owned());
    Program {
        name: name.to_owned(),
        file: "trotter_fused.cu",
        source,
        headers: &[
            ("trotter.cuh", include_str!("../../kernels/trotter.cuh")),
            ("trotter_fused.cuh", include_str!("../../kernels/trotter_fused.cuh")),
            ("trotter_own.cuh", include_str!("../../kernels/trotter_own.cuh")),
            ("trotter_sums.cuh", include_str!("../../kernels/trotter_sums.cuh")),
            ("real.cuh", include_str!("../../kernels/real.cuh")),
        ],
        defines: vec![
            define("REAL", "float"),
            define("COLUMNS", "4"),
            define("STEPS", "2"),
            define("BLOCKS", "8"),
        ],
        needs: Needs::Ampere,
    }
}

/// What is compiled at run time is, bit by bit, what `kernels/build` makes, and is kept for runs that have no compiler. No device needed.
#[test]
fn kernels_compile_at_run_time_and_are_kept() {
    const NAME: &str = "programs::kernels_compile_at_run_time_and_are_kept";
    if std::env::var_os(ROLE).is_some() {
        let wanted = program("trotter_fused_f32_2", include_str!("../../kernels/trotter_fused.cu"));
        let made = cuda::compiled(&wanted, machine::cache_folder().as_deref()).expect("it compiles, or was kept");
        let embedded = Source::embedded("trotter_fused_f32_2");
        assert_eq!(made.ptx(), embedded.ptx());
        let wrong = cuda::compiled(&program("wrong", "__global__ void wrong() { nonsense; }"), None);
        println!(
            "said: {}",
            wrong.err().map(|error| error.to_string()).unwrap_or_default()
        );
        return;
    }
    let Some(place) = nvrtc() else { return };
    let library = std::fs::read_dir(place.join("lib"))
        .expect("an environment has libraries")
        .filter_map(|entry| Some(entry.ok()?.path().join("site-packages/nvidia/cu13")))
        .find(|path| path.exists())
        .expect("NVRTC lies among its packages");
    let cache = tempfile::TempDir::new().expect("a folder");
    let folder = cache.path().as_os_str();
    let with = again(NAME, &[("CUDA_PATH", library.as_os_str()), ("XDG_CACHE_HOME", folder)]);
    assert!(with.contains("nonsense") && with.contains("wrong"), "{with}");
    let kept: Vec<_> = std::fs::read_dir(cache.path().join("ripplon"))
        .expect("the cache was made")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert!(kept[0].starts_with("trotter_fused_f32_2-"), "{kept:?}");
    let without = again(NAME, &[("CUDA_PATH", "/nowhere".as_ref()), ("XDG_CACHE_HOME", folder)]);
    assert!(without.contains("NVRTC") || without.contains("nonsense"), "{without}");
}
