//! The command line: exit codes, messages, files.

#![expect(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

mod arguments;
mod checkpoints;
mod dispersion;
mod eigen;
mod measure;
mod outputs;
mod pages;
mod phase_space;
mod room;
mod scaling;
mod schema;
#[cfg(feature = "hdf5")]
mod series;
mod serve;
mod sweep;
mod terminal;

#[path = "../common/python.rs"]
#[cfg(feature = "hdf5")]
mod python;

use assert_cmd::Command;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

/// A small scene with two detectors and two expectations that hold; 40 steps.
const SCENE: &str = r#"
format = 1
title = "Small"
[grid]
size = [32, 24]
spacing = 0.5
[quantum]
mass = 1.0
[time]
step = 0.02
end = 0.8
[solver]
method = "trotter"
variant = "naive"
[[packet]]
center = [5.0, 6.0]
width = [1.5, 1.5]
momentum = [1.0, 0.0]
[[detector]]
name = "right-half"
region = { min = [8.0, 0.0], max = [16.0, 12.0] }
measure = "probability"
[[detector]]
name = "left"
region = { min = [0.0, 0.0], max = [7.5, 12.0] }
measure = "probability"
[[expect]]
observable = "norm"
at = 0.8
value = 1.0
tolerance = 1e-4
because = "Every step is unitary."
"#;

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("small.toml"), SCENE).unwrap();
        Self { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs the program in this directory, without a display.
    fn ripplon(&self, line: &str) -> Run {
        self.ripplon_with(line.split_whitespace())
    }

    fn ripplon_with<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Run {
        Run(self.command(arguments).output().unwrap())
    }

    /// The same on a machine whose NVIDIA devices, if it has any, are hidden.
    fn without_devices(&self, line: &str) -> Run {
        let mut command = self.command(line.split_whitespace());
        Run(command.env("CUDA_VISIBLE_DEVICES", "").output().unwrap())
    }

    fn command<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ripplon"));
        (command.args(arguments).current_dir(self.dir.path()))
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .env_remove("WAYLAND_SOCKET")
            .env_remove("RIPPLON_LOG");
        command
    }

    fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

struct Run(Output);

impl Run {
    fn out(&self) -> String {
        String::from_utf8(self.0.stdout.clone()).unwrap()
    }

    fn err(&self) -> String {
        String::from_utf8(self.0.stderr.clone()).unwrap()
    }

    /// Asserts the exit code and that all of `words` are in what was printed.
    #[track_caller]
    fn expect(&self, code: i32, words: &[&str]) -> &Self {
        let all = format!("{}{}", self.out(), self.err());
        assert_eq!(self.0.status.code(), Some(code), "{all}");
        for word in words {
            assert!(all.contains(word), "`{word}` is missing in:\n{all}");
        }
        self
    }
}

#[test]
fn a_run_says_what_it_did_and_whether_predictions_hold() {
    let place = Place::new();
    let run = place.ripplon("run small.toml --strict");
    run.expect(
        0,
        &[
            "Small: 32 × 24 sites, trotter/naive on cpu in single precision, order 2, Δt = 0.02",
            "40 steps to t = 0.8 in",
            "sites/s, norm drift",
            "right        norm at t = 0.8: predicted 1.000000 ± 0.0001, measured 1.0000",
            "because Every step is unitary.",
        ],
    );
    assert!(
        !run.err().contains('\r') && run.err().is_empty(),
        "no bar without a terminal: {:?}",
        run.err()
    );
    assert_eq!(
        place.files(),
        ["small.toml"],
        "nothing is written that was not asked for"
    );
}

#[test]
fn strict_makes_a_wrong_or_unreached_prediction_a_failure() {
    let place = Place::new();
    place
        .ripplon("run small.toml --set expect.0.value=0.5")
        .expect(0, &["WRONG"]);
    place
        .ripplon("run small.toml --set expect.0.value=0.5 --strict")
        .expect(1, &["WRONG", "1 of 1 prediction is not right"]);
    place
        .ripplon("run small.toml --until 0.4 --strict")
        .expect(1, &["not reached", "1 of 1"]);
    place
        .ripplon("run small.toml --until 0.4")
        .expect(0, &["20 steps to t = 0.4", "not reached"]);
    place
        .ripplon("run small.toml --steps 7")
        .expect(0, &["7 steps to t = 0.14"]);
}

/// A field that is 0 everywhere stands nowhere.
#[test]
fn a_prediction_of_a_place_in_silence_has_no_value() {
    let place = Place::new();
    let text = "format = 1\n[grid]\nsize = [20]\nspacing = 0.1\n[acoustic]\n[time]\nstep = 1e-4\nend = 1e-3\n\
                [[source]]\nat = [1.0]\nsignal = \"sine\"\nfrequency = 100.0\ndelay = 1.0\n\
                [[expect]]\nobservable = \"x\"\nat = 1e-3\nvalue = 1.0\ntolerance = 0.1\n";
    fs::write(place.path("silence.toml"), text).unwrap();
    let line = [
        "WRONG        x at t = ",
        "predicted 1.000000 ± 0.1 m, measured no value",
    ];
    place.ripplon("run silence.toml").expect(0, &line);
    place.ripplon("run silence.toml --strict").expect(1, &line);
}

/// What a file predicts of its own physics is not wrong of another one; how it is computed does not change what is predicted.
#[test]
fn predictions_of_a_scene_are_not_said_of_what_set_made_of_it() {
    let place = Place::new();
    fs::write(
        place.path("off.toml"),
        SCENE.replace("value = 1.0\ntolerance", "value = 0.5\ntolerance"),
    )
    .unwrap();
    place
        .ripplon("run off.toml")
        .expect(0, &["WRONG        norm at t = 0.8"]);
    place
        .ripplon("run off.toml --set solver.order=4 --set time.step=0.01")
        .expect(0, &["WRONG        norm at t = 0.8"]);
    let other = "run off.toml --set packet.0.momentum.0=0.5";
    let words = ["not judged   norm at t = 0.8", "of the scene without --set"];
    place.ripplon(other).expect(0, &words);
    // It was not found right, which --strict asks for.
    place.ripplon(&format!("{other} --strict")).expect(1, &words);
    // What is set is said of what is set.
    place
        .ripplon(&format!("{other} --set expect.0.value=0.4"))
        .expect(0, &["WRONG        norm at t = 0.8: predicted 0.4"]);
    // What holds all the same is right.
    place
        .ripplon("run small.toml --set packet.0.momentum.0=0.5")
        .expect(0, &["right        norm at t = 0.8"]);
}

/// Lengths, times and records of sound have units.
#[test]
fn what_is_said_of_sound_has_units() {
    let place = Place::new();
    place.ripplon("check pond").expect(
        0,
        &[
            "spacing 0.0343 m",
            "Δt        5e-5 s (recommended up to 6.0012e-5 s; stable up to 6.1237e-5 s)",
            "end       t = 0.0155 s, 310 steps",
        ],
    );
    place.ripplon("run pond").expect(
        0,
        &[
            "Δt = 5e-5 s",
            "310 steps to t = 0.0155 s in",
            "right        detector middle at t = 0.0017 s: predicted -0.284750 ± 0.003 Pa, measured -0.28",
        ],
    );
    place
        .ripplon("run one-transducer --set mirror.at=0.00875 --until 0.0175")
        .expect(0, &["mirror: 1 site plays, focus at t = 0.0", " m wide, "]);
    // An echo reverses the whole field: no sites play.
    let echo = "--set mirror.method=echo --set mirror.at=0.4 --set time.end=0.8";
    for (until, words) in [
        ("0.2", "mirror: time is reversed at step "),
        ("0.8", "mirror: residual inside "),
    ] {
        let run = place.ripplon(&format!("run small.toml {echo} --until {until}"));
        let said = run.expect(0, &[words]).out();
        assert!(
            !said.contains("sites play") && !said.contains("recorded so far"),
            "{said}"
        );
    }
}

/// What sources put in is a number where the medium's velocity is kept, the last row less the first; elsewhere the summary says why it is none.
#[test]
fn a_summary_says_what_sources_put_in() {
    let place = Place::new();
    let plain = place.ripplon("run quarter-wave --steps 400");
    let run = place.ripplon("run quarter-wave --steps 400 --observables o.csv");
    let table = fs::read_to_string(place.path("o.csv")).unwrap();
    let number = |row: &str, column| row.split(',').nth(column).unwrap().parse::<f64>().unwrap();
    let (first, last) = (table.lines().nth(1).unwrap(), table.lines().last().unwrap());
    let [put_in, norm] = [number(last, 3), number(last, 2)];
    assert!(number(first, 3) == 0.0 && put_in > 0.0, "{first} {last}");
    // What is not there yet is nowhere, and as wide as nothing.
    let cells = |row: &str| [4, 5].map(|column| row.split(',').nth(column).unwrap().is_empty());
    assert_eq!((cells(first), cells(last)), ([true; 2], [false; 2]), "{first} {last}");
    let words = format!("energy injected {put_in:.2e} J/m², net of absorption");
    run.expect(0, &[&words]);
    // Without the table the energy is not known, the mean of p² is: Σp² a over 8000 sites.
    let rms = (norm / (1.171875e-5 * 8000.0)).sqrt();
    plain.expect(
        0,
        &[
            &format!("pressure {rms:.2e} Pa rms,"),
            "energy of the sources not computed (add --observables)",
        ],
    );
    // Asked for late, the velocity counts from there: energies are not those of a run that kept it.
    place
        .ripplon("run quarter-wave --steps 40 --checkpoint c.ripplon")
        .expect(0, &[]);
    for late in [
        "--observables late.csv",
        "--set detector.2={name=\"E\",measure=\"energy\"}",
    ] {
        let run = place.ripplon(&format!("run quarter-wave --steps 1 --resume c.ripplon {late}"));
        run.expect(0, &["note: the medium's velocity was not recorded up to t = "]);
    }
    // Nothing has reached the edges yet: rounding is no negative amount.
    place
        .ripplon("run pond --steps 50")
        .expect(0, &["energy absorbed 0.00 %"]);
}

/// Tables of sound have units in their header, and the energy of a pulse at rest in J per metre.
#[test]
fn tables_of_sound_have_units() {
    let place = Place::new();
    fs::write(
        place.path("room.toml"),
        "format = 1\ntitle = \"room\"\n[grid]\nsize = [40, 30]\nspacing = 0.1\n[acoustic]\nspeed = 343.0\ndensity = 1.2\n[time]\nend = 0.004\n\
         [solver]\nprecision = \"double\"\n[[pulse]]\ncenter = [2.0, 1.5]\nwidth = 0.3\namplitude = 2.0\n[[detector]]\nname = \"ear\"\nmeasure = \"value\"\nat = [3.0, 1.5]\n",
    )
    .unwrap();
    place
        .ripplon("run room.toml --observables o.csv --spectra s.csv")
        .expect(0, &["order 2 in time, 2 in space", "energy drift"]);
    assert!(place.text("s.csv").starts_with("frequency (Hz),ear\n"));
    let table = place.text("o.csv");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(
        lines[0],
        "step,t,norm (Pa² m²),energy (J/m),x (m),y (m),spread_x (m),spread_y (m),peak (Pa)"
    );
    let energy = |line: &str| line.split(',').nth(3).unwrap().parse::<f64>().unwrap();
    // ∫ p²/2ρc², p² = 4 exp(−r²/w²): 4πw²/(2ρc²). A grid of 0.1 m sums a Gaussian of 0.3 m exactly; at rest half a step of leapfrog takes (cΔt)²/4w² = 4 %.
    let exact = 4.0 * std::f64::consts::PI * 0.09 / (2.0 * 1.2 * 343.0 * 343.0);
    let first = energy(lines[1]);
    assert!((first / exact - 1.0).abs() < 0.05, "{first} for {exact}");
    let last = energy(lines.last().unwrap());
    assert!((last / first - 1.0).abs() < 1e-12, "{first} and {last}");
}

#[test]
fn files_are_written_as_asked() {
    let place = Place::new();
    place
        .ripplon("run small.toml --save psi.npy --observables o.csv --sample 10 --detectors d.csv --spectra s.csv")
        .expect(0, &[]);
    let npy = fs::read(place.path("psi.npy")).unwrap();
    assert!(npy.starts_with(b"\x93NUMPY"));
    let header = String::from_utf8_lossy(&npy[..128]).into_owned();
    assert!(header.contains("<c8") && header.contains("(24, 32)"), "{header}");
    assert_eq!(npy.len() % 64, (32 * 24 * 8) % 64);

    let observables = place.text("o.csv");
    let lines: Vec<&str> = observables.lines().collect();
    assert_eq!(lines[0], "step,t,norm,energy,x,y,spread_x,spread_y,peak");
    let steps: Vec<&str> = lines[1..].iter().map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(steps, ["0", "10", "20", "30", "40"]);

    let spectra = place.text("s.csv");
    let lines: Vec<&str> = spectra.lines().collect();
    assert_eq!(lines[0], "omega,right-half,left");
    // 41 records, 0.02 apart: 21 frequencies, 2π/0.82 apart.
    assert_eq!(lines.len(), 22);
    let second: f64 = lines[2].split(',').next().unwrap().parse().unwrap();
    assert!((second - std::f64::consts::TAU / 0.82).abs() < 1e-9, "{second}");

    let detectors = place.text("d.csv");
    let lines: Vec<&str> = detectors.lines().collect();
    assert_eq!(lines[0], "step,t,right-half,left");
    assert_eq!(lines.len(), 42);
    let numbers = |line: &str| line.split(',').map(|n| n.parse::<f64>().unwrap()).collect::<Vec<f64>>();
    for (place, line) in lines[1..].iter().enumerate() {
        let row = numbers(line);
        #[expect(clippy::cast_precision_loss, reason = "small")]
        let step = place as f64;
        assert!(
            (row[0] - step).abs() < 0.5 && (row[1] - 0.02 * step).abs() < 1e-9,
            "{line}"
        );
        // The two regions cover the whole grid, and every step is unitary.
        assert!((row[2] + row[3] - 1.0).abs() < 1e-4, "{line}");
    }
    assert_eq!(
        place.files(),
        ["d.csv", "o.csv", "psi.npy", "s.csv", "small.toml"],
        "nothing is left aside"
    );
}

#[test]
fn wrong_input_exits_with_2_and_says_what_to_change() {
    let place = Place::new();
    place.ripplon("run").expect(2, &["SCENE"]);
    place
        .ripplon("run missing.toml")
        .expect(2, &["missing.toml", "no file"]);
    place.ripplon("run double-slti").expect(2, &["preset"]);
    place
        .ripplon("run small.toml --set solver.order=3")
        .expect(2, &["solver.order", "3"]);
    place
        .ripplon("run small.toml --set solver.methd=trotter")
        .expect(2, &["solver.methd"]);
    place.ripplon("run small.toml --set nonsense").expect(2, &["nonsense"]);
    place.ripplon("run small.toml --until soon").expect(2, &["soon"]);
    place.ripplon("run small.toml --until NaN").expect(2, &["NaN"]);
    place
        .ripplon("run small.toml --until 1e300")
        .expect(2, &["1e300", "at most 4.5e15"]);
    place
        .ripplon("run small.toml --steps 18446744073709551615")
        .expect(2, &["can count 4.5e15 steps"]);
    place
        .ripplon("sweep small.toml --vary packet.0.width.0=1,2 --measure norm@1e300")
        .expect(2, &["packet.0.width.0=", "at most 4.5e15"]);
    place
        .ripplon("run small.toml --until 1 --steps 2")
        .expect(2, &["--steps"]);
    place.ripplon("run small.toml --every 5").expect(2, &["--checkpoint"]);
    place.ripplon("nonsense more").expect(2, &[]);
    // Several faults at once, each with its line.
    let broken = SCENE
        .replace("variant = \"naive\"", "order = 3")
        .replace("width = [1.5, 1.5]", "width = [-1.5, 1.5]");
    fs::write(place.path("broken.toml"), broken).unwrap();
    for line in ["run broken.toml", "check broken.toml"] {
        let run = place.ripplon(line);
        run.expect(2, &["solver.order", "packet.0.width", "broken.toml:14:", "2 faults"]);
        assert!(run.out().is_empty());
    }
    // A scene without an end.
    fs::write(place.path("endless.toml"), SCENE.replace("end = 0.8\n", "")).unwrap();
    place.ripplon("run endless.toml").expect(2, &["--until"]);
    place.ripplon("run endless.toml --steps 2").expect(0, &["2 steps"]);
}

/// The way back with all of the record, a half and a quarter; the focus grows with what is played.
#[test]
fn the_gain_of_a_mirror_is_written_as_a_table() {
    let place = Place::new();
    let short = "run one-transducer --set mirror.at=0.02625 --set time.end=0.053 --gains";
    place.ripplon(&format!("{short} g.csv")).expect(0, &["3 ways back"]);
    let text = place.text("g.csv");
    let rows: Vec<Vec<f64>> = (text.lines().skip(1))
        .map(|line| line.split(',').map(|number| number.parse().unwrap()).collect())
        .collect();
    assert_eq!(text.lines().next(), Some("transducers,record (s),contrast,law"));
    let records: Vec<f64> = rows.iter().map(|row| row[1]).collect();
    assert_eq!((rows.len(), &records[..]), (3, &[0.02625, 0.013125, 0.0065625][..]));
    for row in &rows {
        // The law of one transducer is √T: what it says of the first row says that of the others.
        assert!(row[0] == 1.0 && row[2] > 1.0, "{row:?}");
        assert!(
            (row[3] / rows[0][3] - (row[1] / rows[0][1]).sqrt()).abs() < 1e-9,
            "{row:?}"
        );
    }
    place
        .ripplon("run small.toml --gains g.csv")
        .expect(2, &["--gains", "[mirror]"]);
    place
        .ripplon("run one-transducer --steps 5 --observables o.csv")
        .expect(0, &[]);
    let table = place.text("o.csv");
    let head = table.lines().next().unwrap();
    assert!(
        head.ends_with(",peak (Pa),fidelity,mirror_error,scaled_error,residual,focus_width (m),focus_contrast"),
        "{head}"
    );
    place
        .ripplon("run one-transducer --steps 5 --gains g.csv")
        .expect(2, &["before the time reversal"]);
    place
        .ripplon(&format!("{short} no/such/dir/file"))
        .expect(2, &["no/such/dir/file"]);
}

#[test]
fn files_that_cannot_be_written_are_noticed_before_the_run() {
    let place = Place::new();
    for option in ["--save", "--observables", "--detectors", "--spectra", "--checkpoint"] {
        let run = place.ripplon(&format!("run small.toml {option} no/such/dir/file"));
        run.expect(2, &["no/such/dir/file"]);
        assert!(!run.out().contains("steps to"), "it ran: {}", run.out());
    }
    place.ripplon("run small.toml --save .").expect(2, &["directory"]);
    let without = SCENE[..SCENE.find("[[detector]]").unwrap()].to_owned();
    fs::write(place.path("blind.toml"), without).unwrap();
    place
        .ripplon("run blind.toml --detectors d.csv")
        .expect(2, &["--detectors", "[[detector]]"]);
    assert_eq!(place.files(), ["blind.toml", "small.toml"]);
}

#[test]
fn settings_override_the_scene() {
    let place = Place::new();
    place
        .ripplon("run small.toml --set time.end=0.1 --set solver.order=4 --set solver.precision=double")
        .expect(0, &["double precision, order 4", "5 steps to t = 0.1"]);
    place
        .ripplon("run small.toml --set solver.method=split-step-fourier --set solver.variant=auto")
        .expect(0, &["split-step-fourier", "right"]);
}

#[test]
fn a_field_that_is_not_finite_stops_the_run() {
    let place = Place::new();
    let layer = "[[layer]]\nsets = \"potential\"\nshape = \"everywhere\"\nvalue = 1.0\ndrive = \"exp(10000*t)\"\n";
    fs::write(place.path("burst.toml"), format!("{SCENE}{layer}")).unwrap();
    place
        .ripplon("run burst.toml --save psi.npy --checkpoint c.ripplon --detectors d.csv")
        .expect(1, &["no longer finite at step", "t = ", "formula"]);
    // No field and no checkpoint of a broken state; what was recorded is there.
    assert_eq!(place.files(), ["burst.toml", "d.csv", "small.toml"]);
}

#[test]
fn check_says_what_a_scene_needs() {
    let place = Place::new();
    place.ripplon("check small.toml --probe").expect(
        0,
        &[
            "Small: ok",
            "32 × 24 = 768 sites",
            "0 layers, 2 detectors, 1 expectation\n",
            "memory",
            "Δt        0.02",
            "40 steps",
            "sites/s",
        ],
    );
    place.ripplon("check small.toml --set time.end=0.4").expect(
        0,
        &[
            "2 detectors, 1 expectation\n",
            "1 expectation after it, which the run does not reach",
        ],
    );
}

#[test]
fn lists_are_readable_by_people_and_programs() {
    let place = Place::new();
    place
        .ripplon("list methods")
        .expect(0, &["trotter", "split-step-fourier", "doi.org"]);
    place.ripplon("list colormaps").expect(0, &["viridis", "sequential"]);
    place.ripplon("list presets").expect(0, &["free-packet"]);
    place
        .ripplon("list nothing")
        .expect(2, &["presets", "methods", "colormaps"]);
    for (what, key, one) in [
        ("presets", "name", "free-packet"),
        ("methods", "id", "trotter"),
        ("colormaps", "id", "viridis"),
    ] {
        let run = place.ripplon(&format!("list {what} --json"));
        run.expect(0, &[]);
        let list: serde_json::Value = serde_json::from_str(&run.out()).unwrap();
        let list = list.as_array().unwrap();
        assert!(list.iter().any(|entry| entry[key] == one), "{what}");
        assert!(
            list.iter()
                .all(|entry| entry["about"].as_str().is_some_and(|text| !text.is_empty())),
            "{what}"
        );
    }
    // Every preset that is listed is sound.
    let presets: serde_json::Value = serde_json::from_str(&place.ripplon("list presets --json").out()).unwrap();
    for preset in presets.as_array().unwrap() {
        let name = preset["name"].as_str().unwrap();
        place.ripplon_with(["check", name]).expect(0, &[": ok"]);
    }
}

#[test]
fn info_names_processor_memory_and_devices() {
    let place = Place::new();
    place
        .ripplon("info")
        .expect(0, &["ripplon 0.", "processor", "vectors", "CUDA", "graphics"]);
}

/// Mesa's Vulkan asks for a Wayland display where there is no session, and its library complains of it.
#[cfg(all(feature = "gui", target_os = "linux"))]
#[test]
fn adapters_are_listed_without_complaints_of_a_driver() {
    let place = Place::new();
    let mut command = place.command(["info"]);
    command.env_remove("XDG_RUNTIME_DIR").env_remove("NODEVICE_SELECT");
    let listed = Run(command.output().unwrap());
    assert!(listed.out().contains("graphics"));
    assert!(!listed.err().contains("XDG_RUNTIME_DIR"), "{}", listed.err());
}

#[cfg(all(feature = "gui", target_os = "linux"))]
#[test]
fn without_a_display_the_window_names_the_way_out() {
    let place = Place::new();
    place.ripplon("").expect(1, &["no display", "ripplon render"]);
    place
        .ripplon("free-packet")
        .expect(1, &["no display", "ripplon render"]);
    // A faulty scene is said first.
    place.ripplon("missing.toml").expect(2, &["missing.toml"]);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_writes_what_was_asked_for() {
    let place = Place::new();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_ripplon"))
        .args("run small.toml --steps 2000000000 --save psi.npy --checkpoint c.ripplon --every 50".split(' '))
        .current_dir(place.dir.path())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // The first checkpoint says that it runs.
    let checkpoint: &Path = &place.path("c.ripplon");
    while !checkpoint.exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    // The shell's own `kill`: a bare machine has no program of that name.
    let interrupted = std::process::Command::new("sh")
        .args(["-c", &format!("kill -INT {}", child.id())])
        .status()
        .unwrap();
    assert!(interrupted.success());
    let run = Run(child.wait_with_output().unwrap());
    run.expect(1, &["interrupted at step", "--resume c.ripplon", "steps to t ="]);
    assert!(place.path("psi.npy").exists());
    place
        .ripplon("run small.toml --steps 10 --resume c.ripplon")
        .expect(0, &["10 steps"]);
}

#[test]
fn a_case_is_also_measured_as_a_run_steps_it() {
    let place = Place::new();
    place
        .ripplon("bench --run --quick --size 16x16 --method trotter --variant naive --precision single --backend cpu --json b.json")
        .expect(0, &["as `ripplon run` steps", "% of the rate above"]);
    let rows: serde_json::Value = serde_json::from_str(&place.text("b.json")).unwrap();
    assert!(rows[0]["run_site_steps_per_s"].as_f64().unwrap() > 0.0);
    place.ripplon("bench --run --check-auto").expect(2, &["--run"]);
}

#[test]
fn scenes_are_measured_beside_their_bare_grids() {
    let place = Place::new();
    place
        .ripplon("bench --scenes small.toml --backend cpu --quick --run --json scenes.json")
        .expect(
            0,
            &[
                "small.toml",
                "32x24",
                "trotter",
                "naive",
                "as written",
                "bare",
                "detectors",
            ],
        );
    let rows: serde_json::Value = serde_json::from_str(&place.text("scenes.json")).unwrap();
    let row = &rows[0];
    assert_eq!(row["scene"], "small.toml");
    assert_eq!(row["size"], serde_json::json!([32, 24]));
    assert_eq!(row["time_step"], 0.02);
    assert_eq!(row["parts"].as_array().unwrap().len(), 1);
    assert_eq!(row["parts"][0]["part"], "detectors");
    assert!(row["ratio"].as_f64().unwrap() > 0.0);
    assert!(row["run_site_steps_per_s"].as_f64().unwrap() > 0.0);
    place
        .ripplon("bench --check-auto --scenes small.toml --backend cpu --quick")
        .expect(0, &["auto takes", "blocked", "vector", "in turns"]);
    place.ripplon("bench --scenes ponds").expect(2, &["ponds", "pond"]);
    place.ripplon("bench --scale 2").expect(2, &["--scenes"]);
    place
        .ripplon("bench --scenes pond --precision half")
        .expect(2, &["--precision half", "single, double"]);
}

/// A burst comes together before the end, by the time of its middle: there the focus is measured.
#[test]
fn a_mirror_s_line_describes_the_focus() {
    let place = Place::new();
    // 500 steps there; the burst's middle was at 1/2450 s, 23 steps after the start.
    place
        .ripplon("run one-transducer --set mirror.at=0.00875 --until 0.0175")
        .expect(0, &["1000 steps", "focus at t = 0.01709"]);
}
