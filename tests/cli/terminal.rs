//! Readers that go away, terminals that hang up, full disks, and what reaches the terminal.

use super::{Place, Run, SCENE};
use std::fs::{self, OpenOptions};
use std::process::{Command, Stdio};

fn program(place: &Place, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ripplon"));
    command.args(line.split_whitespace()).current_dir(place.dir.path());
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    command
}

#[test]
fn a_reader_that_has_seen_enough_ends_nothing_in_a_panic() {
    let place = Place::new();
    for line in [
        "run small.toml --save psi.npy --observables o.csv",
        "check small.toml",
        "info",
        "list methods",
        "selftest --method crank-nicolson --backend cpu",
        "bench --quick --size 16x16 --method trotter --variant naive --precision single --backend cpu",
    ] {
        let mut child = program(&place, line)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Nobody reads.
        drop(child.stdout.take());
        let run = Run(child.wait_with_output().unwrap());
        assert_eq!(run.0.status.code(), Some(0), "{line}: {}", run.err());
        if line == "info" {
            // Graphics drivers may have something to say.
            assert!(!run.err().contains("panicked"), "{}", run.err());
        } else {
            assert_eq!(run.err(), "", "{line}");
        }
    }
    assert!(place.path("psi.npy").exists() && place.path("o.csv").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_under_the_log_costs_the_log_alone() {
    let place = Place::new();
    let full = || OpenOptions::new().write(true).open("/dev/full").unwrap();
    let ended = program(&place, "run small.toml --save psi.npy --checkpoint c.ripplon")
        .stdout(full())
        .stderr(full())
        .status()
        .unwrap();
    assert_eq!(ended.code(), Some(0));
    assert!(place.path("psi.npy").exists() && place.path("c.ripplon").exists());
    // Whose work is what they print have failed.
    for line in ["schema", "check small.toml"] {
        let ended = program(&place, line)
            .stdout(full())
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(1), "{line}: {said}");
        assert!(
            said.contains("incomplete") && said.contains("elsewhere"),
            "{line}: {said}"
        );
    }
    let ended = program(&place, "run nothing.toml")
        .stdout(full())
        .stderr(full())
        .status()
        .unwrap();
    assert_eq!(ended.code(), Some(2));
}

/// `script` (util-linux, on every Debian) gives the run a terminal of its own; when it is killed, the terminal hangs up: a signal, and writes that fail from then on.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_that_hangs_up_ends_the_run_with_its_files() {
    use std::time::Duration;
    let place = Place::new();
    let line = format!(
        "exec {} run small.toml --steps 1000000000 --save psi.npy --observables o.csv --checkpoint c.ripplon",
        env!("CARGO_BIN_EXE_ripplon")
    );
    let mut terminal = Command::new("script")
        .args(["-qfc", &line, "/dev/null"])
        .current_dir(place.dir.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // What the run prints once it has begun.
    let mut shown = Vec::new();
    let mut screen = terminal.stdout.take().unwrap();
    while !String::from_utf8_lossy(&shown).contains("Small: 32") {
        let mut byte = [0];
        assert_eq!(std::io::Read::read(&mut screen, &mut byte).unwrap(), 1, "{shown:?}");
        shown.push(byte[0]);
    }
    terminal.kill().unwrap();
    terminal.wait().unwrap();
    // Nobody waits for an orphan: its last file says that it is done.
    let files = ["c.ripplon", "o.csv", "psi.npy"];
    let there = || files.iter().all(|name| place.path(name).exists());
    for _ in 0..6000 {
        if there() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(there(), "{:?}", place.files());
    place
        .ripplon("run small.toml --steps 5 --resume c.ripplon")
        .expect(0, &[]);
    assert!(!place.files().iter().any(|name| name.contains(".part")));
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_fails_does_not_take_the_others_with_it() {
    let place = Place::new();
    place
        .ripplon("run small.toml --save /dev/full --checkpoint c.ripplon --observables o.csv")
        .expect(1, &["/dev/full", "the disk is full", "steps to t ="]);
    assert!(place.path("c.ripplon").exists() && place.path("o.csv").exists());
    // The largest file that the shell allows: 4 KiB hold the table, neither field nor checkpoint.
    let limited = Command::new("sh")
        .args(["-c", "ulimit -f 4 && exec \"$0\" run small.toml --save psi.npy --checkpoint k.ripplon --observables p.csv --sample 20"])
        .arg(env!("CARGO_BIN_EXE_ripplon"))
        .current_dir(place.dir.path())
        .output()
        .unwrap();
    Run(limited).expect(1, &["ulimit -f", "psi.npy", "k.ripplon"]);
    assert!(place.path("p.csv").exists());
    assert!(!place.path("psi.npy").exists() && !place.path("k.ripplon").exists());
    assert!(!place.files().iter().any(|name| name.contains(".part")));
}

#[test]
fn control_characters_of_a_scene_do_not_reach_the_terminal() {
    let place = Place::new();
    // A colour, a bell, and the order of what follows turned round.
    let red = "\\u001b[31mRed\\u0007\\u202e\\u2066";
    fs::write(
        place.path("red.toml"),
        SCENE.replace("Small", red).replace("Every step", red),
    )
    .unwrap();
    let run = place.ripplon("run red.toml");
    run.expect(0, &["Red"]);
    let faulty = SCENE.replace("[time]", &format!("[time]\n\"{red}\" = 1"));
    fs::write(place.path("faulty.toml"), faulty).unwrap();
    let faults = place.ripplon("check faulty.toml");
    faults.expect(2, &["Red"]);
    for text in [run.out(), run.err(), faults.err()] {
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}', '\u{2066}']), "{text:?}");
    }
}

#[test]
fn thousands_of_threads_are_not_started() {
    let place = Place::new();
    let run = program(&place, "run small.toml --set solver.variant=auto")
        .env("RAYON_NUM_THREADS", "5000")
        .output()
        .unwrap();
    Run(run).expect(0, &["40 steps"]);
}
