//! Runs of two processes on NVIDIA devices write the field of one process, by NCCL where each has a device of its own and through the host. Without a device or a launcher the tests say
//! so and pass.

#![cfg(all(unix, feature = "cuda"))]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail where it stands")]

#[path = "common/device.rs"]
#[allow(dead_code, reason = "runs are made by the program here")]
mod device;
#[path = "common/launcher.rs"]
mod launcher;

use launcher::{alone, folder, launchers, words};
use ripplon::solver::devices_here;

/// What is left open: the grid and the physics, `more` in the solver, what begins.
fn scene(grid: &str, physics: &str, solver: &str, begin: &str) -> String {
    format!(
        "format = 1\ntitle = \"devices\"\n[grid]\n{grid}\nspacing = 1.0\n{physics}\n[solver]\nbackend = \"cuda\"\nparts = 2\n{solver}\n{begin}\n"
    )
}

const QUANTUM: &str = "[quantum]\nhopping = 1.0\n[time]\nstep = 0.1\nend = 15.0";
const SOUND: &str = "[acoustic]\nspeed = 1.0\ndensity = 1.0\n[time]\nend = 40.0";

/// Every method that is cut, on planes, bodies and lines, walled and in rings, with what is copied early and what is not.
fn scenes() -> Vec<String> {
    let packet = |center: &str, width: f64| {
        format!(
            "[[packet]]\ncenter = {center}\nwidth = {width}\n[[layer]]\nsets = \"potential\"\nvalue = \"0.1*sin(0.3*x)\"\n"
        )
    };
    let pulse = |center: &str| format!("[[pulse]]\ncenter = {center}\nwidth = 4.0\namplitude = 1.0\n");
    let plane = packet("[40.0, 118.0]", 9.0);
    let line = "[[packet]]\ncenter = [900.0]\nwidth = 40.0\nmomentum = 0.4\n";
    let mut all = Vec::new();
    for precision in ["single", "double"] {
        let solver = |method: &str| format!("method = \"{method}\"\nprecision = \"{precision}\"");
        for edges in ["edges = [\"wall\", \"periodic\"]", "edges = \"wall\""] {
            let grid = format!("size = [96, 256]\n{edges}");
            all.push(scene(&grid, QUANTUM, &solver("trotter"), &plane));
        }
        let body = "size = [64, 40, 96]";
        all.push(scene(
            body,
            QUANTUM,
            &solver("trotter"),
            &packet("[30.0, 20.0, 46.0]", 6.0),
        ));
        let absorbing = "edges = \"absorb\"\nabsorb_width = 8";
        for order in ["order = 2", "order = 4\nvariant = \"stepwise\""] {
            let more = format!("{}\n{order}", solver("fdtd"));
            all.push(scene(body, SOUND, &more, &pulse("[30.0, 20.0, 46.0]")));
            let grid = format!("size = [96, 256]\n{absorbing}");
            all.push(scene(&grid, SOUND, &more, &pulse("[40.0, 126.0]")));
        }
        all.push(scene(
            "size = [96, 256]",
            SOUND,
            &solver("oscillators"),
            &pulse("[40.0, 126.0]"),
        ));
        all.push(scene("size = [2000]", QUANTUM, &solver("crank-nicolson"), line));
    }
    all
}

/// The same number of parts in one process and in two: the bits, and what the summary says of how ghost rows travel.
#[test]
fn two_processes_on_devices_write_what_one_writes() {
    device::needs_device!();
    let run = ["run", "scene.toml", "--save", "field.npy"];
    for scene in scenes() {
        let one = folder("one", &scene);
        let output = alone(one.path(), &run);
        assert!(output.status.success(), "{scene}\n{}", words(&output));
        let field = |folder: &std::path::Path| std::fs::read(folder.join("field.npy")).unwrap();
        let expected = field(one.path());
        for launcher in launchers() {
            for nccl in [None, Some("none")] {
                let many = folder("many", &scene);
                let mut command = launcher.start(2, many.path(), &run);
                if let Some(nccl) = nccl {
                    command.env("RIPPLON_NCCL", nccl);
                }
                let output = command.output().unwrap();
                let text = words(&output);
                assert!(output.status.success(), "{scene}\n{text}");
                assert!(field(many.path()) == expected, "{nccl:?}: {scene}\n{text}");
                let by_host = text.contains("2 processes through the host (");
                assert!(by_host || text.contains("2 processes by NCCL 2."), "{text}");
                assert!(by_host || nccl.is_none(), "{text}");
                if devices_here() < 2 {
                    assert!(by_host, "two processes share a device: {text}");
                } else if !by_host {
                    eprintln!("by NCCL: {}", launcher.program.display());
                }
            }
        }
    }
}

/// Two devices of one process, which copy from each other directly and through the host.
#[test]
fn two_devices_write_what_one_writes_with_and_without_peer_access() {
    device::needs_device!();
    if devices_here() < 2 {
        eprintln!("not tested: this machine has one NVIDIA device");
        return;
    }
    for scene in scenes() {
        let place = folder("devices", &scene);
        let run = |devices: &str, name: &str, peers: Option<&str>| {
            let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ripplon"));
            command.args(["run", "scene.toml", "--devices", devices, "--save", name]);
            if let Some(peers) = peers {
                command.env("RIPPLON_PEER_ACCESS", peers);
            }
            let output = command.current_dir(place.path()).output().unwrap();
            assert!(output.status.success(), "{scene}\n{}", words(&output));
            std::fs::read(place.path().join(name)).unwrap()
        };
        let one = run("0,0", "one.npy", None);
        assert!(run("0,1", "two.npy", None) == one, "{scene}");
        assert!(run("0,1", "host.npy", Some("none")) == one, "{scene}");
    }
}
