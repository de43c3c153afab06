//! Sources whose signal does not begin at 0.

use crate::{advance, largest_difference, values};
use ripplon::scene::Scenario;
use ripplon::solver::{self, Edit, Solver, read_scene_text};

#[path = "../common/npy.rs"]
mod npy;

/// A closed tube of 40 m, c = 1 m/s, with cos(2π 0.02 t) at a site, if it `plays`; steps of ½, ¼ and ⅛ s meet its samples.
fn tube(method: &str, time_step: f64, plays: bool) -> Scenario {
    let folder = tempfile::tempdir().unwrap();
    let samples = (0..400u16).map(|n| (std::f64::consts::TAU * 0.02 * f64::from(n) / 8.0).cos() as f32);
    let bytes: Vec<u8> = samples.flat_map(f32::to_le_bytes).collect();
    std::fs::write(folder.path().join("tone.npy"), npy::npy("<f4", false, "(400,)", &bytes)).unwrap();
    let source = if plays {
        "[[source]]\nat = [20.0]\nsignal = \"file\"\nfile = \"tone.npy\"\nrate = 8.0\n"
    } else {
        // A scene needs something that could sound; an edit of the medium does not begin again.
        "[[pulse]]\ncenter = [8.0]\nwidth = 2.0\n"
    };
    let text = format!(
        "format = 1\n[grid]\nsize = [40]\nspacing = 1.0\nedges = \"wall\"\n[acoustic]\nspeed = 1.0\ndensity = 1.0\n[time]\nstep = {time_step}\nend = 40.0\n\
         [solver]\nmethod = \"{method}\"\nbackend = \"cpu\"\nprecision = \"double\"\n{source}"
    );
    let read = read_scene_text(&text, Some(&folder.path().join("scene.toml")), &[]);
    read.unwrap_or_else(|faults| panic!("{faults}\n{text}")).1
}

fn build(scenario: &Scenario) -> Box<dyn Solver> {
    let method = solver::find(&scenario.solver().method).expect("the method is in the table");
    (method.build)(scenario).unwrap_or_else(|error| panic!("{error}"))
}

fn mean(solver: &mut dyn Solver) -> f64 {
    values(solver).iter().sum::<f64>() / 40.0
}

/// Finite differences and oscillators step one lattice, and differ by errors of second order in Δt: 0.0298 and 0.0072 at 30 s in a model of both. The mean pressure, which only the source moves, is that of
/// one sum, the trapezoidal rule. Where S(0) counted in full they differed by 0.17 and 0.08, and the means by 30 s · ½Δt S(0)/40.
#[test]
fn a_source_that_begins_at_once_is_of_second_order() {
    let [coarse, fine] = [0.25, 0.125].map(|time_step| {
        let [first, second] = ["fdtd", "oscillators"].map(|method| {
            let mut run = build(&tube(method, time_step, true));
            advance(run.as_mut(), (30.0 / time_step) as u64);
            values(run.as_mut())
        });
        let means = [&first, &second].map(|all| all.iter().sum::<f64>() / 40.0);
        // A mean of 3 Pa at most, and some hundred roundings that are added up twice.
        assert!((means[0] - means[1]).abs() < 1e-11, "Δt = {time_step}: {means:?}");
        largest_difference(&first, &second)
    });
    let ratio = coarse / fine;
    assert!(
        coarse < 0.04 && (3.6..4.6).contains(&ratio),
        "{coarse:e}, {fine:e}: a ratio of {ratio}"
    );
}

/// A source that is taken away takes along what it has held up, of which the first value is half: the mean pressure stays where it is, whenever that happens.
#[test]
fn a_source_that_is_taken_away_leaves_no_flow() {
    for (method, steps) in [("fdtd", 0), ("fdtd", 37), ("oscillators", 0), ("oscillators", 37)] {
        let mut run = build(&tube(method, 0.25, true));
        advance(run.as_mut(), steps);
        let before = mean(run.as_mut());
        run.edit(&tube(method, 0.25, false), &Edit::Medium).unwrap();
        advance(run.as_mut(), 400);
        let after = mean(run.as_mut());
        assert!(
            (after - before).abs() < 1e-10,
            "{method}, {steps} steps: {before:e}, {after:e}"
        );
    }
}

/// The motion of a run that is given back to it is the same to fourth order in Δt while a source plays: in a model of the scheme 3e-6 of the pressure is lost, and 6e-2 where the level before lacks what
/// the source plays.
#[test]
fn motion_is_kept_while_a_source_plays() {
    let text = "format = 1\n[grid]\nsize = [60]\nspacing = 1.0\nedges = \"wall\"\n[acoustic]\nspeed = 1.0\ndensity = 1.0\n[time]\nstep = 0.4\nend = 80.0\n\
                [solver]\nmethod = \"fdtd\"\nbackend = \"cpu\"\nprecision = \"double\"\n[[source]]\nat = [20.0]\nsignal = \"sine\"\nfrequency = 0.05\n";
    let (_, scenario) = read_scene_text(text, None, &[]).unwrap_or_else(|faults| panic!("{faults}"));
    let [mut whole, mut other] = [(); 2].map(|()| build(&scenario));
    // Past the two periods over which the sine is faded in.
    advance(whole.as_mut(), 112);
    advance(other.as_mut(), 112);
    let (field, motion) = (other.field().unwrap(), other.motion().unwrap().expect("sound moves"));
    let clock = other.clock();
    other.set_field(&field, clock).unwrap();
    other.set_motion(&motion).unwrap();
    advance(whole.as_mut(), 163);
    advance(other.as_mut(), 163);
    let (whole, other) = (values(whole.as_mut()), values(other.as_mut()));
    let most = whole.iter().fold(0.0f64, |most, p| most.max(p.abs()));
    let off = largest_difference(&whole, &other);
    assert!(off < 1e-3 * most, "off by {off:e} of {most:e}");
}
