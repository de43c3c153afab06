//! The same for detectors and predictions, views, solvers and sound.

use super::{FREE, SOUND, fault, read, with};
use ripplon::physics::Initial;
use ripplon::scene::scenario::{Opacity, Orbit, Plot, ViewMode};

#[test]
fn recording_and_predictions() {
    let twice = format!("{FREE}\n[[detector]]\nname = \"right\"\n");
    fault(&twice, "42:8", &["two detectors \"right\""]);
    fault(
        &with(FREE, "detector = \"right\"", "detector = \"left\""),
        "36:12",
        &["no detector \"left\"", "there are right"],
    );
    fault(
        &with(FREE, "detector = \"right\"", "observable = \"nrom\""),
        "36:14",
        &["did you mean \"norm\"?"],
    );
    fault(
        &with(FREE, "detector = \"right\"\n", ""),
        "35:1",
        &["does not say what is measured"],
    );
    fault(
        &with(FREE, "detector = \"right\"", "detector = \"right\"\nobservable = \"x\""),
        "37:1",
        &["not both"],
    );
    fault(
        &with(FREE, "[[expect]]", "measure = \"value\"\n[[expect]]"),
        "35:11",
        &["measured at a point"],
    );
    fault(
        &with(FREE, "[[expect]]", "measure = \"energy\"\n[[expect]]"),
        "35:11",
        &["not defined on a lattice"],
    );
    fault(
        &with(FREE, "max = [31.5, 15.5]", "max = [22.1, -1.0]").replace("min = [22.0, 0.0]", "min = [22.0, -2.0]"),
        "33:1",
        &["no site lies in it"],
    );
    let line = |ends: &str| with(FREE, "region = { min = [22.0, 0.0], max = [31.5, 15.5] }", ends);
    fault(
        &line("from = [12.0, 2.0]\nto = [13.5, 9.0]"),
        "34:6",
        &[
            "from (12.0, 2.0) to (13.5, 9.0)",
            "along neither x nor y",
            "same x or the same y",
        ],
    );
    fault(
        &line("measure = \"probability\"\nfrom = [12.0, 2.0]\nto = [19.0, 2.5]"),
        "35:6",
        &["along neither x nor y"],
    );
    // Less than a spacing of 0.5 apart.
    read(&line("from = [12.0, 2.0]\nto = [12.4, 9.0]")).unwrap();
    fault(
        &with(FREE, "[[expect]]", "every = 0\n[[expect]]"),
        "35:9",
        &["never records", "from 1 on"],
    );
    let (file, scenario) = read(&with(FREE, "[[expect]]", "every = 7\n[[expect]]")).unwrap();
    assert_eq!(scenario.detectors()[0].every, 7);
    assert!(file.to_toml().contains("every = 7"));
    fault(
        &format!("{FREE}\n[view]\ncolormap = \"viridi\"\n"),
        "42:12",
        &["no colour map \"viridi\""],
    );
    let (file, scenario) = read(&format!("{FREE}\n[view]\nbrightness = \"root\"\n")).unwrap();
    assert_eq!(scenario.view().brightness.exponent(), 0.5);
    assert!(file.to_toml().contains("brightness = \"root\""));
    fault(
        &format!("{FREE}\n[view]\nbrightness = \"square\"\n"),
        "42:14",
        &["square", "root"],
    );
    fault(
        &format!("{FREE}\n[view]\nquantity = \"pressure\"\n"),
        "42:12",
        &["cannot be shown of a quantum scene"],
    );
    fault(
        &format!("{FREE}\n[view]\nrange = [1, 0]\n"),
        "42:9",
        &["1.0 is not below 0.0"],
    );
}

/// On a line a flux goes through a point; what can be measured over an interval instead is said, and is read.
#[test]
fn a_flux_on_a_line_goes_through_a_point() {
    let interval = "`region = { min = [..], max = [..] }`";
    let grid = "format = 1\n[grid]\nsize = [64]\nspacing = 0.5";
    for (begins, measures) in [
        ("[quantum]\n[[packet]]", &["probability", "peak"][..]),
        ("[acoustic]\n[[pulse]]", &["energy", "pressure", "peak"]),
    ] {
        let scene = |place: &str| {
            format!("{grid}\n{begins}\ncenter = [10.0]\nwidth = 2.0\n[[detector]]\nname = \"a\"\n{place}\n")
        };
        let words: Vec<String> = measures.iter().map(|measure| format!("\"{measure}\"")).collect();
        let mut parts: Vec<&str> = words.iter().map(String::as_str).collect();
        parts.extend(["goes through a point", "write `at = ..`", "over an interval", interval]);
        fault(&scene("from = [2.0]\nto = [9.0]"), "12:6", &parts);
        for measure in measures {
            let region = format!("region = {{ min = [2.0], max = [9.0] }}\nmeasure = \"{measure}\"");
            read(&scene(&region)).unwrap_or_else(|faults| panic!("{faults}"));
        }
    }
}

/// A scene of three dimensions with a view of its own.
pub(super) fn in_space(view: &str) -> String {
    format!(
        "format = 1\n[grid]\nsize = [16, 12, 8]\nspacing = 0.5\n[quantum]\n[[packet]]\ncenter = [3, 3, 2]\nwidth = [1]\n[view]\n{view}\n"
    )
}

#[test]
fn views_of_three_dimensions() {
    let (file, scenario) = read(&in_space(
        "mode = \"volume\"\ncamera = { azimuth = -40.5, elevation = 10, zoom = 2, target = [1, 2, 3] }\nslices = [0, 5.5, 3.5]\n\
         opacity = [[0, 0], [0.5, 0.25], [1, 1]]\nshading = true",
    ))
    .unwrap();
    let view = scenario.view();
    assert_eq!(view.mode, ViewMode::Volume);
    let orbit = Orbit {
        azimuth: -40.5,
        elevation: 10.0,
        zoom: 2.0,
        target: Some([1.0, 2.0, 3.0]),
    };
    assert_eq!((view.camera, file.view.camera), (orbit, Some(orbit)));
    assert_eq!(view.slices, Some([0.0, 5.5, 3.5]));
    assert_eq!(view.opacity.points(), [[0.0, 0.0], [0.5, 0.25], [1.0, 1.0]]);
    assert!(view.shading);
    let plain = read(&in_space("opacity = \"shells\"\ncamera = {}")).unwrap().1;
    assert_eq!(
        (plain.view().mode, plain.view().camera),
        (ViewMode::Plane, Orbit::default())
    );
    assert_eq!((&plain.view().opacity, plain.view().slices), (&Opacity::Shells, None));

    for (view, place, part) in [
        ("mode = \"volum\"", "10:8", "did you mean \"volume\"?"),
        ("camera = { azimut = 3 }", "10:12", "did you mean `azimuth`?"),
        ("camera = { elevation = 91 }", "10:24", "91.0 is not between -90 and 90"),
        ("camera = { zoom = 0 }", "10:19", "not between 0.25 and 40"),
        ("camera = { target = [1, 2] }", "10:21", "2 numbers where 3 belong"),
        ("slices = [1, 2]", "10:10", "2 numbers where 3 belong"),
        (
            "slices = [1, 2, 9]",
            "10:17",
            "9.0 is outside the grid, which reaches from 0 to 3.5",
        ),
        ("opacity = \"soft2\"", "10:11", "did you mean \"soft\"?"),
        ("opacity = [[0, 0], [1, 2]]", "10:11", "not a curve of 2 to 8 points"),
        (
            "opacity = [[0.5, 0], [0.4, 1]]",
            "10:11",
            "not a curve of 2 to 8 points",
        ),
        ("opacity = [[0, 0]]", "10:11", "not a curve of 2 to 8 points"),
        ("shading = 1", "10:11", "not true or false"),
    ] {
        fault(&in_space(view), place, &[part]);
    }
    fault(
        &format!("{FREE}\n[view]\nmode = \"slices\"\n"),
        "42:8",
        &["three dimensions"],
    );
    let relief = format!("{FREE}\n[view]\nmode = \"relief\"\ncamera = {{ elevation = 60 }}\n");
    let view = read(&relief).unwrap().1.view().clone();
    assert_eq!((view.mode, view.camera.elevation), (ViewMode::Relief, 60.0));
    fault(&in_space("mode = \"relief\""), "10:8", &["two dimensions"]);
    let (file, scenario) = read(&in_space("cover = 1.5")).unwrap();
    assert_eq!(scenario.view().cover, [1.5]);
    assert!(file.to_toml().contains("cover = 1.5"), "{}", file.to_toml());
    fault(&in_space("cover = -1"), "10:9", &["not a time from 0 on"]);
    for (camera, place, part) in [
        ("elevation = 3", "42:24", "3.0 is not between 5 and 90"),
        ("target = [1, 1, 1]", "42:21", "looked at as a whole"),
    ] {
        fault(&format!("{FREE}\n[view]\ncamera = {{ {camera} }}\n"), place, &[part]);
    }
    fault(
        &format!("{FREE}\n[view]\nslices = [1, 1]\n"),
        "42:10",
        &["three dimensions"],
    );
}

#[test]
fn solvers() {
    let solver = |new: &str| with(FREE, "method = \"trotter\"", new);
    fault(
        &solver("method = \"troter\""),
        "17:10",
        &["no method \"troter\"", "did you mean \"trotter\"?"],
    );
    fault(&solver("order = 3"), "17:9", &["3 is not possible", "1, 2, 4"]);
    fault(
        &solver("ordr = 2"),
        "17:8",
        &["no such parameter", "did you mean \"order\"?"],
    );
    fault(
        &solver("variant = \"slow\""),
        "17:11",
        &["no variant \"slow\"", "auto, naive"],
    );
    fault(&solver("backend = \"tpu\""), "17:11", &["not known", "auto, cpu, cuda"]);
    fault(&solver("precision = \"half\""), "17:13", &["single, double"]);
    fault(&solver("method = \"fdtd\""), "17:10", &["is for the acoustic equation"]);
    let relax = with(&solver("order = 4"), "end = 1.0", "imaginary = true");
    fault(&relax, "17:9", &["imaginary time", "order = 2"]);
}

/// H − iW has no ground state: what its steps in imaginary time relax to has another energy than that of H.
#[test]
fn no_method_relaxes_where_something_absorbs() {
    for method in ["trotter", "crank-nicolson", "split-step-fourier"] {
        let relaxes = with(FREE, "method = \"trotter\"", &format!("method = \"{method}\""))
            .replace("end = 1.0", "imaginary = true");
        assert!(read(&relaxes).is_ok(), "{method}: {:?}", read(&relaxes).err());
        let layer = format!("{relaxes}\n[[layer]]\nsets = \"absorption\"\nvalue = 0.3\n");
        let edges = with(&relaxes, "edges = \"wall\"", "edges = \"absorb\"\nabsorb_width = 4");
        for absorbs in [layer, edges] {
            let faults = read(&absorbs).unwrap_err().to_string();
            assert!(
                faults.contains("imaginary time has no use for absorption"),
                "{method}: {faults}"
            );
        }
    }
}

#[test]
fn sound() {
    let (_, scenario) = read(SOUND).unwrap();
    assert_eq!(scenario.sources().len(), 1);
    assert!(matches!(scenario.initial(), Initial::Pulses(pulses) if pulses.len() == 1));
    fault(
        &with(SOUND, "step = 1e-6", "step = 1.0"),
        "10:8",
        &["1 is unstable", "at most"],
    );
    fault(
        &with(SOUND, "frequency = 1000.0", "frequency = 0"),
        "19:13",
        &["not greater than 0"],
    );
    fault(
        &with(SOUND, "frequency = 1000.0\n", ""),
        "16:1",
        &["frequency: is missing"],
    );
    fault(
        &with(SOUND, "\"ricker\"", "\"riker\""),
        "18:10",
        &["did you mean \"ricker\"?"],
    );
    fault(
        &with(SOUND, "at = [0.2, 0.2]\n", ""),
        "16:1",
        &["does not say where it is"],
    );
    fault(
        &with(
            SOUND,
            "at = [0.2, 0.2]",
            "points = [[0.1, 0.1], [0.2, 0.1]]\ndelays = [0.0]",
        ),
        "18:10",
        &["1 delay for 2 points"],
    );
    fault(
        &with(SOUND, "[acoustic]", "[acoustic]\nspeed = 0"),
        "8:9",
        &["not greater than 0"],
    );
    fault(
        &format!("{SOUND}\n[[layer]]\nsets = \"speed\"\nvalue = \"x - 0.1\"\n"),
        "23:9",
        &["must be greater than 0"],
    );
}

#[test]
fn plots_and_the_part_that_is_shown() {
    let with_view = |view: &str| format!("{FREE}\n[view]\n{view}\n");
    let (file, scenario) = read(&with_view(
        "plots = [\"detectors\", \"angular-momentum\"]\nregion = { min = [2, 1], max = [10, 7] }",
    ))
    .unwrap();
    assert_eq!(scenario.view().plots, [Plot::Detectors, Plot::AngularMomentum]);
    assert_eq!(scenario.view().region, Some([[2.0, 1.0], [10.0, 7.0]]));
    assert_eq!(read(&file.to_toml()).unwrap().0, file);
    for (view, place, part) in [
        ("plots = [\"detector\"]", "42:10", "did you mean \"detectors\"?"),
        ("plots = \"detectors\"", "42:9", "not a list of plots"),
        ("region = { min = [2, 1] }", "42:1", "is missing"),
        ("region = { min = [2, 1], max = [2, 7] }", "42:33", "less than a site"),
        (
            "region = { min = [2, 1], max = [1000, 7] }",
            "42:33",
            "outside the grid",
        ),
    ] {
        fault(&with_view(view), place, &[part]);
    }
    fault(
        &in_space("mode = \"slices\"\nregion = { min = [1, 1, 1], max = [2, 2, 2] }"),
        "11:1",
        &["shown as a whole"],
    );
    // Of every plane, where those are shown: a place along z may be left out.
    for corners in ["min = [1, 1], max = [2, 3]", "min = [1, 1, 0], max = [2, 3, 0]"] {
        let (_, scenario) = read(&in_space(&format!("region = {{ {corners} }}"))).unwrap();
        assert_eq!(scenario.view().region, Some([[1.0, 1.0], [2.0, 3.0]]));
    }
}

#[test]
fn a_camera_goes_along_its_keys() {
    let keys = "mode = \"volume\"\n[[camera]]\nat = 4\nazimuth = 90\ntarget = [1, 2, 3]\n[[camera]]\nat = 0\nzoom = 2";
    let (file, scenario) = read(&in_space(keys)).unwrap();
    assert_eq!(scenario.camera_at(0.0).zoom, 2.0);
    assert_eq!(scenario.camera_at(5.0).azimuth, 90.0);
    let middle = scenario.camera_at(2.0);
    assert!(
        (middle.azimuth - 60.0).abs() < 1e-9,
        "half way from 30 to 90: {}",
        middle.azimuth
    );
    assert!(
        (middle.zoom - 2.0_f64.sqrt()).abs() < 1e-9,
        "the mean of the logarithms: {}",
        middle.zoom
    );
    assert!(
        middle.target.is_some(),
        "the middle of the grid where a key names no target"
    );
    assert_eq!(read(&file.to_toml()).unwrap().0, file);
    for (keys, part) in [
        ("[[camera]]\nat = 1", "shown as a plane"),
        ("mode = \"volume\"\n[[camera]]\nat = -1", "camera.0.at"),
        (
            "mode = \"volume\"\n[[camera]]\nat = 1\n[[camera]]\nat = 1",
            "two keys of the camera have the same time",
        ),
        (
            "mode = \"volume\"\n[[camera]]\nat = 1\nelevation = 91",
            "not between -90 and 90",
        ),
        ("mode = \"volume\"\n[[camera]]\nazimuth = 1", "is missing"),
    ] {
        let faults = ripplon::solver::read_scene_text(&in_space(keys), None, &[])
            .unwrap_err()
            .render(false);
        assert!(faults.contains(part), "{part} is not in\n{faults}");
    }
    let without = read(&in_space("mode = \"volume\"\ncamera = { zoom = 3 }")).unwrap().1;
    assert_eq!(without.camera_at(7.0).zoom, 3.0);
}

/// `[room]` names a detector of pressure and a sound that is there.
#[test]
fn a_room_is_listened_to_at_a_detector() {
    let scene = format!("{SOUND}\n[[detector]]\nname = \"seat\"\nat = [0.3, 0.3]\n[room]\nat = \"seat\"\n");
    let (file, scenario) = read(&scene).unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!(scenario.room().unwrap().at.as_deref(), Some("seat"));
    assert_eq!(read(&file.to_toml()).unwrap().0, file);
    let refused = |text: &str, what: &str| {
        let faults = read(text).unwrap_err().render(false);
        assert!(faults.contains(what), "{faults}");
    };
    refused(
        &scene.replace("at = \"seat\"", "at = \"chair\""),
        "no detector \"chair\" records the pressure",
    );
    refused(
        &scene.replace("[room]\nat = \"seat\"", "[room]\ndry = \"nowhere.wav\""),
        "nowhere.wav",
    );
    refused(&scene.replace("[room]\nat", "[room]\nplace"), "place");
    refused(&format!("{FREE}\n[room]\n"), "a quantum scene has no sound");
}
