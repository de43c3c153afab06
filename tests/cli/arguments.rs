//! Arguments that cannot be meant as they are written, and those that can.

use super::Place;

/// A pulse that leaves the middle of a line.
const SOUND: &str = r"
format = 1
[grid]
size = [200]
spacing = 0.01
[acoustic]
[time]
end = 0.002
[[pulse]]
center = 1.0
width = 0.05
";

/// Where a run ends between its steps is told with the predictions only where there are some; times are short.
#[test]
fn an_end_between_steps_speaks_of_predictions_that_are_there() {
    let place = Place::new();
    let run = place.ripplon("run small.toml --set time.end=0.79 --set time.step=0.02");
    run.expect(
        0,
        &[
            "no whole number of steps",
            "where the predictions for the end are judged",
        ],
    );
    let scene = place.text("small.toml");
    let bare = scene.split("[[expect]]").next().unwrap();
    std::fs::write(place.path("bare.toml"), bare).unwrap();
    let run = place.ripplon("run bare.toml --set time.end=0.79 --set time.step=0.02");
    run.expect(0, &["no whole number of steps"]);
    assert!(!run.err().contains("predictions"), "{}", run.err());
}

/// A number below 0 is the option's value, and is refused as one.
#[test]
fn a_negative_number_is_the_value_of_its_option() {
    let place = Place::new();
    place
        .ripplon("run small.toml --until -5")
        .expect(2, &["t = -5 lies behind t = 0"]);
    place.ripplon("run small.toml --steps -1").expect(
        2,
        &["invalid value '-1' for '--steps <N>': write a whole number from 0"],
    );
    place
        .ripplon("measure small.toml --runs 10 --region -5,-5:30,30")
        .expect(0, &["found in 10 of 10 runs"]);
    #[cfg(feature = "hdf5")]
    place
        .ripplon("run small.toml --steps 2 --series s.h5 --region -0.2..5,0..5")
        .expect(0, &["3 snapshots"]);
}

/// Words before a sub-command, one that there is not, and a time with a unit: what was meant is told.
#[test]
fn misplaced_words_are_told_with_what_to_write() {
    let place = Place::new();
    for (line, words) in [
        (
            "--adapter software run small.toml",
            "error: the sub-command comes first: ripplon run small.toml --adapter software",
        ),
        ("small.toml run", "the sub-command comes first: ripplon run small.toml"),
        ("rnu small.toml", "there is no sub-command `rnu`: did you mean `run`?"),
        (
            "qqqqqq small.toml",
            "there is no sub-command `qqqqqq`: `ripplon --help` lists all",
        ),
        ("lst", "no sub-command `lst`: did you mean `ripplon list`?"),
        ("run nofile.toml", "help: look at its spelling and its folder"),
        (
            "run pond.toml",
            "help: look at its folder; the preset is written \"pond\" alone",
        ),
        ("pont", "did you mean the preset \"pond\"?"),
        (
            "run small.toml --until 5s",
            "'5s' for '--until <T>': write a number alone",
        ),
        (
            "render small.toml a.png --at 1ms",
            "'1ms' for '--at <T>': write a number alone",
        ),
        (
            "measure small.toml --at 1/2",
            "'1/2' for '--at <T>': write a number alone",
        ),
    ] {
        let run = place.ripplon(line);
        assert!(!run.expect(2, &[words]).err().contains("cannot be used with"), "{line}");
    }
}

/// What cannot be used is refused with its place, the limit and what to do.
#[test]
fn values_that_cannot_be_used_are_refused_with_what_to_write() {
    let place = Place::new();
    for (line, words) in [
        (
            "eigen small.toml --levels 0",
            "'0' for '--levels <N>': write a whole number from 1 to 500",
        ),
        (
            "measure small.toml --runs 10000001",
            "'10000001' for '--runs <N>': write a whole number from 1 to 10000000",
        ),
        (
            "run small.toml --parts 0",
            "'0' for '--parts <N>': write a whole number from 1\n",
        ),
        (
            "run small.toml --steps 1 --resume none",
            "none: the checkpoint cannot be read: ",
        ),
        ("serve small.toml --token-file none", "--token-file none: "),
        (
            "run small.toml --steps 1 --observables -",
            "--observables -: it writes a file; name a file",
        ),
        (
            "run small.toml --steps 1 --wav rihgt-half=x.wav",
            "there is no detector \"rihgt-half\"; did you mean \"right-half\"? There are",
        ),
        (
            "check small.toml --set layer.1.value=2 --set packet.2.weight=1",
            "`packet` has 1 entry, and 2 is beyond",
        ),
        (
            "selftest --method unknown",
            "--method unknown: there are no such cases; `ripplon list methods` lists",
        ),
    ] {
        place.ripplon(line).expect(2, &[words]);
    }
    if cfg!(all(feature = "cuda", feature = "gui")) {
        place
            .ripplon("run small.toml --set solver.backend=cpu --set solver.variant=fused")
            .expect(2, &["\"trotter\" has the variant \"fused\" on cuda, wgpu, not on cpu"]);
    }
    place
        .ripplon("serve small.toml --token-file none")
        .expect(2, &["name a file that holds a token"]);
    place
        .ripplon("run small.toml --steps 1 --resume none")
        .expect(2, &["name a file that --checkpoint wrote"]);
    for line in [
        "run small.toml --devices all",
        "check small.toml --set solver.devices=2",
    ] {
        place.without_devices(line).expect(
            2,
            &[
                "solver.devices: no NVIDIA device can be used",
                "the processor takes the steps",
            ],
        );
    }
}

#[test]
fn a_filter_of_messages_selects_some_or_is_refused() {
    let place = Place::new();
    let logged = |filter: &str| {
        let mut command = place.command(["run", "small.toml", "--steps", "1"]);
        super::Run(command.env("RIPPLON_LOG", filter).output().unwrap())
    };
    logged("ripplon=trace").expect(0, &["TRACE", "steps in one call"]);
    logged("").expect(0, &[]);
    for wrong in ["debgu", "ripplon=lots", "ripplon=trace,all"] {
        logged(wrong).expect(
            2,
            &[
                "the environment variable RIPPLON_LOG",
                "selects no messages",
                "e.g. ripplon=trace",
            ],
        );
    }
}

/// A scene that its reader may not open is there: its name and folder are not at fault. An administrator may open every file.
#[cfg(target_os = "linux")]
#[test]
fn a_scene_without_permission_is_said_to_lack_it() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    std::fs::set_permissions(place.path("small.toml"), std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(place.path("small.toml")).is_err() {
        place
            .ripplon("check small.toml")
            .expect(2, &["it cannot be read", "help: change its permissions"]);
    }
}

/// A table is no array, whatever its name says; names that say nothing are taken.
#[test]
fn names_that_end_as_another_format_are_refused() {
    let place = Place::new();
    for (line, ending) in [
        ("run small.toml --save psi.csv", "an NPY array"),
        ("run small.toml --save psi.txt", "an NPY array"),
        ("run small.toml --observables o.npy", "a CSV table"),
        (
            "sweep small.toml --vary packet.0.momentum.0=0,1 --measure x --plot s.jpg",
            "a PNG picture",
        ),
        ("measure small.toml --runs 3 --plot places.JPG", "a PNG picture"),
        ("eigen small.toml --levels 2 --save states.csv", "an NPY array"),
        ("room damped-tube --wav answer.mp3", "a WAV file"),
    ] {
        place.ripplon(line).expect(2, &["it writes", ending, "let it end in ."]);
    }
    assert_eq!(place.files(), ["small.toml"]);
    place.ripplon("run small.toml --steps 1 --save psi").expect(0, &[]);
    place
        .ripplon("run small.toml --steps 1 --observables o.txt")
        .expect(0, &[]);
}

/// A letter that no font has, here one that Unicode does not have, is told of beside the picture.
#[test]
fn letters_that_pictures_lack_are_told() {
    let place = Place::new();
    let with = |title: &str, overlay: &[&'static str]| {
        let set = format!("title={title}");
        let words = ["render", "small.toml", "a.png", "--at", "0", "--set", &set];
        place.ripplon_with(words.into_iter().chain(overlay.iter().copied()))
    };
    with("A \u{1fffe} wave", &["--overlay"]).expect(0, &["warning: no font of this machine has", "boxes"]);
    for run in [with("A \u{1fffe} wave", &[]), with("A wave", &["--overlay"])] {
        assert!(!run.err().contains("warning"), "{}", run.err());
    }
}

#[test]
fn one_picture_has_no_cards_and_is_one() {
    let place = Place::new();
    place
        .ripplon("render small.toml a.png --frames 3")
        .expect(2, &["--frames 3 is more than one picture", "leave --frames out"]);
    place
        .ripplon("render small.toml a.png --frames 1 --view plane --plane 0")
        .expect(0, &["40 steps"]);
    place
        .ripplon("render small.toml a.png --view relief --plane 0")
        .expect(2, &["--plane 0 is of --view plane", "--view relief"]);
    #[cfg(feature = "h264")]
    for alone in ["--frames 1", "--at 0"] {
        place
            .ripplon(&format!("render small.toml a.mp4 {alone}"))
            .expect(2, &["a.mp4: one picture is no film", ".png"]);
    }
    place
        .ripplon("render small.toml a.png --title-card")
        .expect(2, &["one picture has no cards"]);
    place
        .ripplon("render small.toml a.png --quantity pressure")
        .expect(2, &["--quantity pressure", "there are density, phase"]);
}

/// A fault is shown with the option that the value came from.
#[test]
fn faults_name_the_option_that_made_them() {
    let place = Place::new();
    place
        .ripplon("render small.toml a.png --set solver.order=3")
        .expect(2, &["--> --set solver.order=3"]);
    place
        .ripplon("render small.toml a.png --set solver.order=2 --against solver.order=3")
        .expect(2, &["solver.order: 3 is not possible", "--> --against solver.order=3"]);
    place
        .ripplon("render small.toml a.png --at 0.02 --set solver.order=4 --against solver.order=4")
        .expect(0, &["note: --against solver.order=4 changes nothing"]);
    place
        .ripplon("sweep small.toml --vary solver.order=2,3 --measure norm")
        .expect(
            2,
            &["error: solver.order: 3 is not possible", "--> --vary solver.order=3"],
        );
    place
        .ripplon("sweep small.toml --vary solver.order=2,4 --measure zzzzzzz")
        .expect(
            2,
            &["no observable \"zzzzzzz\"; there are \"right-half\", \"left\", \"norm\""],
        );
}

/// The run knows from its start what is asked for: the largest values, means and the velocity are those of all of it, as with `[view] quantity`.
#[test]
fn a_quantity_that_is_asked_for_is_followed_from_the_start() {
    let place = Place::new();
    std::fs::write(place.path("sound.toml"), SOUND).unwrap();
    for (scene, quantities) in [
        ("small.toml", &["peak", "energy"][..]),
        ("sound.toml", &["peak", "rms", "velocity", "intensity", "energy"]),
    ] {
        for quantity in quantities {
            let asked = format!("render {scene} asked.png --quantity {quantity}");
            let set = format!("render {scene} set.png --set view.quantity={quantity}");
            place.ripplon(&asked).expect(0, &[]);
            place.ripplon(&set).expect(0, &[]);
            let [asked, set] = ["asked.png", "set.png"].map(|name| std::fs::read(place.path(name)).unwrap());
            assert!(asked == set, "{scene}, {quantity}");
        }
    }
}

/// Steps that are chosen reach the end, the turn of a mirror and the times of predictions, however few they are: with rΔt = 10 a step of this scene would take 1.25.
#[test]
fn a_step_that_is_chosen_ends_where_the_run_ends() {
    let place = Place::new();
    let chebyshev = "--set solver.method=chebyshev --set solver.variant=auto --set time.step=auto";
    place
        .ripplon(&format!("run small.toml --strict {chebyshev}"))
        .expect(0, &["1 step to t = 0.8 in", "right        norm at t = 0.8"]);
    place
        .ripplon(&format!("run small.toml {chebyshev} --set time.end=3"))
        .expect(0, &["15 steps to t = 3 in", "right        norm at t = 0.8"]);
    // 33 steps would end at 0.825: what is predicted for 0.81 is measured there.
    place
        .ripplon("run small.toml --strict --set time.step=auto --set time.end=0.81 --set expect.0.at=0.81")
        .expect(0, &[" steps to t = 0.81 in", "right        norm at t = 0.81"]);
    place
        .ripplon(&format!(
            "run small.toml {chebyshev} --set time.end=2.8 --set mirror.method=echo --set mirror.at=1.4"
        ))
        .expect(0, &["14 steps to t = 2.8 in", "fidelity 1.0000"]);
}

/// Where no prediction would show it, a step that is too long is told.
#[test]
fn a_step_beyond_the_recommended_is_told() {
    let place = Place::new();
    let scene = place.text("small.toml");
    let told = scene.split("[[expect]]").next().unwrap_or_default();
    std::fs::write(place.path("told.toml"), told).unwrap();
    let said = "note: Δt = 0.25 is larger than the recommended 0.2";
    place
        .ripplon("run told.toml --set time.step=0.25")
        .expect(0, &[said, "reduce time.step"]);
    for line in ["run told.toml", "run small.toml --set time.step=0.25"] {
        let run = place.ripplon(line);
        assert!(!run.expect(0, &[]).err().contains("recommended"), "{line}");
    }
}

/// What is not known is refused with what is: keys, a seed, an adapter that no step asks for, and a directory that is a file.
#[test]
fn what_is_not_known_is_told_with_what_is() {
    let place = Place::new();
    std::fs::write(place.path("taken"), "").unwrap();
    for (line, words) in [
        (
            "check small.toml --set xyzzyx=1",
            &[
                "xyzzyx: there is no such key",
                "possible here are format, title",
                "packet",
            ][..],
        ),
        (
            "check small.toml --set end=2",
            &["end: it stands in no section", "`time.end`"],
        ),
        ("check small.toml --set momentum=[1,0]", &["`packet.0.momentum`"]),
        (
            "measure small.toml --seed -1",
            &["invalid value '-1' for '--seed <N>': write a whole number from 0"],
        ),
        ("run small.toml --steps 1 --adapter 99", &["--adapter 99: no"]),
        (
            "render small.toml taken/ --frames 2",
            &["numbered pictures go into a directory, and taken is a file"],
        ),
    ] {
        place.ripplon(line).expect(2, words);
    }
    assert_eq!(place.files(), ["small.toml", "taken"]);
}
