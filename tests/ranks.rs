//! Runs of several processes under an MPI launcher write the files of one process, byte for byte.
//!
//! Without `mpirun` or `mpiexec` on the path the tests say so and look at nothing; continuous integration installs them.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

#[path = "common/launcher.rs"]
mod launcher;

use launcher::{alone, folder, launchers, words};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const SCENE: &str = r#"
format = 1
title = "parts"
[grid]
size = [40, 96]
spacing = 1.0
edges = ["wall", "periodic"]
[quantum]
hopping = 1.0
[time]
step = 0.1
end = 5.0
[[packet]]
center = [20.0, 40.0]
width = 5.0
momentum = [0.4, 0.8]
[[layer]]
sets = "potential"
value = "0.1*sin(0.3*x)*cos(0.2*y)"
[[detector]]
name = "line"
from = [10.0, 5.0]
to = [10.0, 90.0]
[[detector]]
name = "box"
measure = "probability"
region = { min = [5.0, 20.0], max = [30.0, 70.0] }
[solver]
backend = "cpu"
"#;

const OUTPUTS: [&str; 4] = ["field.npy", "observables.csv", "detectors.csv", "state"];
const RUN: [&str; 10] = [
    "run",
    "scene.toml",
    "--save",
    "field.npy",
    "--observables",
    "observables.csv",
    "--detectors",
    "detectors.csv",
    "--checkpoint",
    "state",
];

fn files(folder: &Path) -> Vec<Vec<u8>> {
    OUTPUTS
        .iter()
        .map(|name| std::fs::read(folder.join(name)).unwrap())
        .collect()
}

#[test]
fn several_processes_write_what_one_writes() {
    for launcher in launchers() {
        let one = folder("one", SCENE);
        let output = alone(one.path(), &RUN);
        assert!(output.status.success(), "{}", words(&output));
        let expected = files(one.path());
        for ranks in [2, 3, 4] {
            let many = folder("many", SCENE);
            let output = launcher.start(ranks, many.path(), &RUN).output().unwrap();
            assert!(output.status.success(), "{ranks} processes: {}", words(&output));
            // Only the first prints.
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(text.matches("40 × 96 sites").count(), 1, "{text}");
            let cut =
                format!("{ranks} parts along y in {ranks} processes, 18 ghost rows copied at least every 8 steps\n");
            assert_eq!(text.matches(&cut).count(), 1, "{text}");
            for (name, (own, expected)) in OUTPUTS.iter().zip(files(many.path()).iter().zip(&expected)) {
                assert!(
                    own == expected,
                    "{name} of {ranks} processes ({})",
                    launcher.program.display()
                );
            }
        }
    }
}

/// A line that the method cannot cut: neither `parts` nor `devices` is in the scene, and the remedy names neither.
#[test]
fn lines_of_trotter_in_several_processes() {
    let line = "format = 1\n[grid]\nsize = [64]\nspacing = 1.0\n[quantum]\n[time]\nend = 1.0\n[[packet]]\ncenter = 20.0\nwidth = 4.0\n";
    let place = folder("line", line);
    for launcher in launchers() {
        let output = launcher
            .start(2, place.path(), &["run", "scene.toml"])
            .output()
            .unwrap();
        let said = words(&output);
        assert!(!output.status.success(), "{said}");
        assert!(
            said.contains("2 processes were started, and this method does not cut a grid of one dimension"),
            "{said}"
        );
        assert!(
            said.contains("start one process, without the launcher") && !said.contains("remove `parts`"),
            "{said}"
        );
    }
}

/// Crank–Nicolson, whose bits depend on where the grid is cut: as many parts in one process.
#[test]
fn implicit_steps_in_several_processes() {
    let plane = SCENE.replace("size = [40, 96]", "size = [40, 192]");
    // A line has no second axis.
    let line = plane
        .replace("size = [40, 192]", "size = [1200]")
        .replace("edges = [\"wall\", \"periodic\"]", "edges = \"periodic\"")
        .replace("center = [20.0, 40.0]", "center = [400.0]")
        .replace("momentum = [0.4, 0.8]", "momentum = 0.4")
        .replace("*cos(0.2*y)", "")
        .replace("from = [10.0, 5.0]\nto = [10.0, 90.0]", "from = [400.0]\nto = [400.0]")
        .replace("min = [5.0, 20.0], max = [30.0, 70.0]", "min = [50.0], max = [900.0]");
    for scene in [&line, &plane] {
        for ranks in [2, 3] {
            let scene = format!("{scene}method = \"crank-nicolson\"\nparts = {ranks}\n");
            let one = folder("one", &scene);
            let output = alone(one.path(), &RUN);
            assert!(output.status.success(), "{}", words(&output));
            let expected = files(one.path());
            for launcher in launchers() {
                let many = folder("many", &scene);
                let output = launcher.start(ranks, many.path(), &RUN).output().unwrap();
                assert!(output.status.success(), "{ranks} processes: {}", words(&output));
                for (name, (own, expected)) in OUTPUTS.iter().zip(files(many.path()).iter().zip(&expected)) {
                    let program = launcher.program.display();
                    assert!(own == expected, "{name} of {ranks} processes ({program}), {scene}");
                }
            }
        }
    }
}

/// Scenes that turn time round: what transducers heard and played, with the noise on it, is the same in all processes.
#[test]
fn mirrors_in_several_processes() {
    let ring = "transducers = { shape = \"ring\", center = [20.0, 40.0], radius = 12.0, count = 30 }\n";
    let pair = "transducers = { shape = \"points\", points = [[9.0, 31.0], [30.0, 66.0]] }\n";
    let scene = |mirror: &str| {
        SCENE.replace(
            "[solver]",
            &format!("[mirror]\nat = 3.0\nnoise = 0.01\n{mirror}\n[solver]"),
        )
    };
    for mirror in [
        format!("method = \"reversal\"\n{ring}"),
        format!("method = \"inverse-filter\"\ndrive = \"soft\"\n{pair}"),
        "method = \"echo\"\n".to_owned(),
    ] {
        let one = folder("one", &scene(&mirror));
        let output = alone(one.path(), &RUN);
        assert!(output.status.success(), "{}", words(&output));
        let expected = files(one.path());
        for launcher in launchers() {
            let many = folder("many", &scene(&mirror));
            let output = launcher.start(3, many.path(), &RUN).output().unwrap();
            assert!(output.status.success(), "{mirror}: {}", words(&output));
            for (name, (own, expected)) in OUTPUTS.iter().zip(files(many.path()).iter().zip(&expected)) {
                assert!(own == expected, "{mirror}: {name} ({})", launcher.program.display());
            }
        }
    }
}

#[test]
fn every_process_says_what_it_has() {
    for launcher in launchers() {
        let place = folder("info", SCENE);
        let output = launcher.start(2, place.path(), &["info"]).output().unwrap();
        let text = words(&output);
        assert!(output.status.success() && text.contains("2 processes"), "{text}");
        assert!(text.contains("process 0"), "{text}");
    }
}

/// What cannot be cut is said once, with exit code 2, and leaves no process.
#[test]
fn scenes_that_cannot_be_cut_end_all_processes() {
    for launcher in launchers() {
        let place = folder("whole", SCENE);
        let arguments = ["run", "scene.toml", "--set", "solver.method=split-step-fourier"];
        let output = launcher.start(2, place.path(), &arguments).output().unwrap();
        let text = words(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert_eq!(text.matches("cannot be cut into parts").count(), 1, "{text}");
    }
}

/// Another launcher's library, or none, is an error and no silent run of one process each.
#[test]
fn a_library_that_is_not_the_launchers_is_refused() {
    for launcher in launchers() {
        let place = folder("library", SCENE);
        let missing = launcher
            .start(2, place.path(), &RUN)
            .env("RIPPLON_MPI", "/nowhere/libmpi.so")
            .output()
            .unwrap();
        let text = words(&missing);
        assert!(!missing.status.success() && text.contains("RIPPLON_MPI"), "{text}");
        assert!(!place.path().join("field.npy").exists());
    }
    if let [open, other] = &launchers()[..] {
        for (launcher, library) in [(open, "libmpich.so.12"), (other, "libmpi.so.40")] {
            let place = folder("other", SCENE);
            let output = launcher
                .start(2, place.path(), &RUN)
                .env("RIPPLON_MPI", library)
                .output()
                .unwrap();
            assert!(!output.status.success(), "{library}: {}", words(&output));
            assert!(!place.path().join("field.npy").exists());
        }
    }
}

/// A process that is killed ends all within ten seconds, and the last checkpoint can be gone on from in fewer processes.
#[test]
fn a_process_that_dies_ends_all() {
    for launcher in launchers() {
        let place = folder("dies", SCENE);
        let arguments = [
            "run",
            "scene.toml",
            "--steps",
            "100000000",
            "--checkpoint",
            "state",
            "--every",
            "100",
        ];
        let mut all = launcher.start(3, place.path(), &arguments).spawn().unwrap();
        let begun = Instant::now();
        while !place.path().join("state").exists() {
            assert!(begun.elapsed() < Duration::from_mins(5), "no checkpoint");
            std::thread::sleep(Duration::from_millis(50));
        }
        let victim = one_of(place.path());
        let killed = Command::new("kill").args(["-9", &victim.to_string()]).status().unwrap();
        assert!(killed.success());
        // Ten seconds on a machine with nothing else to do.
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = all.try_wait().unwrap() {
                break status;
            }
            assert!(begun.elapsed() < Duration::from_mins(2), "the others go on");
            std::thread::sleep(Duration::from_millis(50));
        };
        assert!(!status.success());
        let go_on = ["run", "scene.toml", "--resume", "state", "--steps", "10", "--save"];
        let of = |name| [&go_on[..], &[name]].concat();
        let output = alone(place.path(), &of("one.npy"));
        let text = words(&output);
        assert!(output.status.success(), "{text}");
        let fewer = launcher.start(2, place.path(), &of("two.npy")).output().unwrap();
        assert!(fewer.status.success(), "{}", words(&fewer));
        // The field of a run that nothing has interrupted.
        let (_, after) = text.split_once("10 steps to t = ").unwrap();
        let time: f64 = after.split(' ').next().unwrap().parse().unwrap();
        let steps = format!("{:.0}", time / 0.1);
        let whole = ["run", "scene.toml", "--steps", &steps, "--save", "whole.npy"];
        let output = alone(place.path(), &whole);
        assert!(output.status.success(), "{}", words(&output));
        let field = |name: &str| std::fs::read(place.path().join(name)).unwrap();
        let expected = field("whole.npy");
        assert!(
            field("one.npy") == expected && field("two.npy") == expected,
            "{steps} steps"
        );
    }
}

/// Two network namespaces with a cable between them: hosts, as far as MPI sees.
struct Hosts {
    names: [String; 2],
}

impl Hosts {
    /// Both, or why they cannot be made here.
    fn new() -> Result<Self, String> {
        let names = ["a", "b"].map(|end| format!("rp{}{end}", std::process::id()));
        let hosts = Self { names };
        let [a, b] = &hosts.names;
        let (from, to) = (format!("v{a}"), format!("v{b}"));
        ip(&["netns", "add", a])?;
        ip(&["netns", "add", b])?;
        ip(&[
            "link", "add", &from, "netns", a, "type", "veth", "peer", "name", &to, "netns", b,
        ])?;
        for (name, cable, address) in [(a, &from, "10.77.0.1/24"), (b, &to, "10.77.0.2/24")] {
            ip(&["-n", name, "addr", "add", address, "dev", cable])?;
            ip(&["-n", name, "link", "set", "lo", "up"])?;
            ip(&["-n", name, "link", "set", cable, "up"])?;
        }
        Ok(hosts)
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for name in &self.names {
            // One that was never made cannot be removed.
            let _ = ip(&["netns", "del", name]);
        }
    }
}

fn ip(arguments: &[&str]) -> Result<(), String> {
    let output = Command::new("ip").args(arguments).output();
    let output = output.map_err(|error| format!("ip: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(said) }
}

#[test]
fn two_hosts_write_what_one_process_writes() {
    let Some(launcher) = launchers().into_iter().find(|launcher| launcher.open_mpi) else {
        eprintln!("not tested: two hosts, without Open MPI");
        return;
    };
    let hosts = match Hosts::new() {
        Ok(hosts) => hosts,
        Err(why) => {
            eprintln!(
                "not tested: two hosts, for no network namespaces can be made here ({})",
                why.trim()
            );
            return;
        }
    };
    let place = folder("hosts", SCENE);
    let run = ["run", "scene.toml", "--steps", "20", "--save"];
    let output = alone(place.path(), &[&run[..], &["one.npy"]].concat());
    assert!(output.status.success(), "{}", words(&output));
    // Open MPI reaches the other host by a script instead of ssh; there it has another name.
    let agent = place.path().join("agent");
    let [a, b] = &hosts.names;
    let script = format!("#!/bin/sh\nshift\nexec ip netns exec {b} unshare --uts sh -c \"hostname {b}; $*\"\n");
    std::fs::write(&agent, script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&agent, mode).unwrap();
    let mut command = Command::new("ip");
    command.args(["netns", "exec", a]).arg(&launcher.program);
    command.args(["--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", "2"]);
    command
        .args(["--host", "10.77.0.1:1,10.77.0.2:1", "--mca", "plm_rsh_agent"])
        .arg(&agent);
    for (key, value) in [
        ("btl", "tcp,self"),
        ("btl_tcp_if_include", "10.77.0.0/24"),
        ("oob_tcp_if_include", "10.77.0.0/24"),
        ("mpi_yield_when_idle", "1"),
    ] {
        command.args(["--mca", key, value]);
    }
    command.args(["-x", "RAYON_NUM_THREADS=1", "--wdir"]).arg(place.path());
    command.arg(env!("CARGO_BIN_EXE_ripplon")).args(run).arg("two.npy");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    let field = |name: &str| std::fs::read(place.path().join(name)).unwrap();
    assert!(field("one.npy") == field("two.npy"), "{}", words(&output));
}

/// The last process of a run in this folder.
fn one_of(folder: &Path) -> u32 {
    let program = Path::new(env!("CARGO_BIN_EXE_ripplon")).canonicalize().unwrap();
    let folder = folder.canonicalize().unwrap();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let own = processes.filter(|entry| {
        let link = |name: &str| std::fs::read_link(entry.path().join(name)).ok();
        link("exe").as_ref() == Some(&program) && link("cwd").as_ref() == Some(&folder)
    });
    own.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .max()
        .unwrap()
}
