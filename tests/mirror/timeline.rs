//! The timeline of a mirror: cut anywhere, kept, taken again; silence; refusals.

use super::{chain, engine, epsilon, oscillators, points, reached, read, there_and_back};
use ripplon::engine::{Change, Engine, Verdict};
use ripplon::field::Precision;
use ripplon::physics::{Equation, Refocus};
use ripplon::scene::scenario::Quantity;
use ripplon::solver::{self, Backend, FieldImage, ImageRequest};
use std::sync::Arc;

#[test]
fn the_timeline_does_not_depend_on_how_it_is_cut_and_can_be_taken_again() {
    for method in ["reversal", "one-bit", "inverse-filter", "echo"] {
        let mirror = |method: &str| format!("method = \"{method}\"\nnoise = 0.01\n{}", points(&[100.0, 101.0]));
        let text = chain(50.0, 5.0, 1.0, &[], 20.0, &mirror(method));
        let mut whole = engine(&text);
        whole.advance(230).unwrap();
        let mut cut = engine(&text);
        for _ in 0..230 {
            cut.advance(1).unwrap();
        }
        let field = whole.field().unwrap();
        assert_eq!(field, cut.field().unwrap(), "{method}");
        // A checkpoint in the middle of the way back.
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state");
        let mut early = engine(&text);
        early.advance(150).unwrap();
        early.save_checkpoint(&path).unwrap();
        let (mut resumed, remarks) = Engine::resume(Arc::new(read(&text)), &path).unwrap();
        assert!(remarks.is_empty(), "{remarks:?}");
        resumed.advance(80).unwrap();
        assert_eq!(field, resumed.field().unwrap(), "{method} resumed");
        // Back to the turn and the same way again, from the run itself and from the resumed one.
        for engine in [&mut whole, &mut resumed] {
            engine.back_to_turn().unwrap();
            assert_eq!(engine.clock().steps, 100);
            engine.advance(130).unwrap();
            assert_eq!(field, engine.field().unwrap(), "{method} again");
        }
        // With another method, as if it had been that from the start.
        let other = if method == "reversal" {
            "inverse-filter"
        } else {
            "reversal"
        };
        let edited = chain(50.0, 5.0, 1.0, &[], 20.0, &mirror(other));
        whole.update(Arc::new(read(&edited))).unwrap();
        assert_eq!(whole.clock().steps, 100, "{method} to {other}");
        whole.advance(130).unwrap();
        let mut fresh = engine(&edited);
        fresh.advance(230).unwrap();
        assert_eq!(whole.field().unwrap(), fresh.field().unwrap(), "{method} to {other}");
        // A snapshot on the way back, and a fresh start.
        whole.snapshot().unwrap();
        let kept = whole.field().unwrap();
        whole.reset().unwrap();
        whole.advance(7).unwrap();
        whole.restore().unwrap();
        assert_eq!(kept, whole.field().unwrap());
        whole.reset().unwrap();
        whole.advance(230).unwrap();
        assert_eq!(whole.field().unwrap(), fresh.field().unwrap(), "{method} reset");
    }
}

/// The largest values of the way back are its own, the first time and again: nothing of the way there is among them.
#[test]
fn the_largest_values_begin_anew_at_the_turn() {
    let view = "[view]\nquantity = \"peak\"\n";
    let pair = points(&[100.0, 101.0]);
    let line = |solver: &str, method: &str| {
        let text = oscillators(4.0, method).replace("at = 750.0", "at = 150.0");
        text.replace("method = \"fdtd\"", &format!("method = \"{solver}\""))
    };
    let packet = |method: &str| chain(50.0, 5.0, 1.0, &[], 150.0, &format!("method = \"{method}\"\n{pair}"));
    // What has gone beyond the mirror on the way there, and not again on the way back, which ends as far before it as it began: the packet goes 1.68·150 = 252 sites and passes the mirror
    // after 30, the pulse 150 and after 65.
    for (text, method, beyond) in [
        (packet("reversal"), "reversal", 250),
        (packet("echo"), "echo", 250),
        (line("fdtd", "reversal"), "reversal", 200),
        (line("fdtd", "echo"), "echo", 200),
        (line("oscillators", "reversal"), "reversal", 200),
    ] {
        let mut engine = engine(&format!("{text}{view}"));
        let turn = engine.mirror().unwrap().turn;
        let request = ImageRequest::new(Quantity::Peak, [0..4000, 0..1], 0, [4000, 1]);
        let see = |engine: &mut Engine| {
            let mut image = FieldImage::default();
            engine.image(&request, &mut image).unwrap();
            image.value
        };
        see(&mut engine);
        engine.advance(turn).unwrap();
        let there = see(&mut engine);
        engine.advance(turn).unwrap();
        let back = see(&mut engine);
        let largest = there.iter().fold(0.0f32, |most, value| most.max(*value));
        assert!(there[beyond] > 0.05 * largest, "{method}: {}", there[beyond]);
        if method != "echo" {
            assert!(back[beyond] < 1e-3 * there[beyond], "{method}: {}", back[beyond]);
        }
        engine.back_to_turn().unwrap();
        assert!(see(&mut engine) == there, "{method}: at the turn");
        engine.advance(turn).unwrap();
        assert!(see(&mut engine) == back, "{method}: again");
    }
}

/// A mirror that heard nothing plays nothing: the field is empty, and that is no failure.
#[test]
fn silence_is_played_as_silence() {
    let far = points(&[3000.0]);
    let wave = chain(50.0, 5.0, 1.0, &[], 2.0, &format!("method = \"reversal\"\n{far}"));
    let sound = oscillators(4.0, "reversal")
        .replace(&points(&[120.0]), &far)
        .replace("at = 750.0", "at = 2.0");
    for (method, variant, precision) in reached(Backend::Cpu) {
        let (text, was) = match method.equation {
            Equation::Schrodinger => (
                &wave,
                "method = \"trotter\"\nbackend = \"cpu\"\nvariant = \"vector\"\nprecision = \"double\"",
            ),
            Equation::Acoustic => (&sound, "method = \"fdtd\"\nprecision = \"double\""),
        };
        if ["tiled", "diamond-torre"].contains(&variant) {
            continue;
        }
        let solver = format!(
            "method = \"{}\"\nbackend = \"cpu\"\nvariant = \"{variant}\"\nprecision = \"{}\"",
            method.id,
            precision.as_str()
        );
        assert!(text.contains(was));
        let mut engine = engine(&text.replace(was, &solver));
        let found = there_and_back(&mut engine);
        let norm = engine.observables().unwrap().norm;
        let name = format!(
            "{} {variant} {}: {found:?}, norm {norm:e}",
            method.id,
            precision.as_str()
        );
        // Fourier transforms leave their rounding everywhere.
        let rounding = if method.reach.is_none() {
            100.0 * epsilon(precision)
        } else {
            0.0
        };
        assert!((found.error - 1.0).abs() <= rounding && norm <= rounding, "{name}");
    }
}

#[test]
fn what_a_mirror_cannot_do_is_said() {
    let refused = |text: &str| match solver::read_scene_text(text, None, &[]) {
        Ok(_) => panic!("accepted: {text}"),
        Err(faults) => faults.render(false),
    };
    let mirror = format!("method = \"inverse-filter\"\n{}", points(&[100.0, 101.0]));
    let text = chain(50.0, 5.0, 1.0, &[], 20.0, &mirror).replace("variant = \"vector\"\n", "");
    let said = refused(&text.replace("\"trotter\"", "\"split-step-fourier\""));
    assert!(said.contains("every site depends on all others"), "{said}");
    let said = refused(&text.replace("\"trotter\"", "\"crank-nicolson\""));
    assert!(said.contains("does not reach single sites"), "{said}");
    let reversal = |more: &str| {
        let mirror = format!("method = \"reversal\"\n{more}\n{}", points(&[100.0, 101.0]));
        chain(50.0, 5.0, 1.0, &[], 20.0, &mirror)
    };
    let said = refused(&reversal("playing = 0"));
    assert!(
        said.contains("mirror.playing") || said.contains("play nothing"),
        "{said}"
    );
    let said = refused(&reversal("record = 0.0"));
    assert!(said.contains("record"), "{said}");
    let kept = read(&reversal("playing = 1\nrecord = 12.5"));
    assert_eq!(read(&kept.file().to_toml()).mirror(), kept.mirror());
    let said = refused(&chain(50.0, 5.0, 1.0, &[], 20.0, "method = \"reversal\""));
    assert!(said.contains("plays through transducers"), "{said}");
}

/// Rounding changes the norm of a transform's run in single precision, and the run gives it back; what transducers and noise bring is not taken for rounding. 160 steps of some
/// 20 roundings of ε/2 a site beside a run in double precision, in which no norm is touched.
#[test]
fn a_norm_that_transducers_or_noise_changed_stays_so() {
    let points: Vec<String> = (4..20).map(|x| format!("[{x}.0, 14.0]")).collect();
    for mirror in [
        format!(
            "method = \"reversal\"\ntransducers = {{ shape = \"points\", points = [{}] }}",
            points.join(", ")
        ),
        "method = \"echo\"\nnoise = 0.3\nseed = 5".to_owned(),
    ] {
        let run = |precision: &str| {
            let text = format!(
                "format = 1\n[grid]\nsize = [25, 24]\nspacing = 1.0\n[quantum]\nhopping = 1.0\n[time]\nstep = 0.1\nend = 16.0\n[solver]\nmethod = \
                 \"split-step-fourier\"\nbackend = \"cpu\"\nprecision = \"{precision}\"\n[[packet]]\ncenter = [11.0, 9.0]\nwidth = [2.0, 2.0]\n\
                 momentum = [0.2, 0.9]\n[mirror]\nat = 8.0\n{mirror}\n"
            );
            let mut engine = engine(&text);
            engine.advance(70).unwrap();
            engine.advance(90).unwrap();
            engine.field().unwrap().to_complex128()
        };
        let (single, double) = (run("single"), run("double"));
        let norm = |psi: &[num_complex::Complex64]| psi.iter().map(num_complex::Complex64::norm_sqr).sum::<f64>();
        assert!((norm(&double) - 1.0).abs() > 0.01, "{mirror}: {}", norm(&double));
        let apart = ripplon::physics::reference::distance(&single, &double);
        assert!(
            apart < 20.0 * 160.0 * epsilon(Precision::Single) / 2.0,
            "{mirror}: {apart:e}"
        );
    }
}

/// An echo in a chain whose Δt is left to the program.
fn automatic(at: f64, end: f64) -> String {
    let text = chain(50.0, 5.0, 1.0, &[], at, "method = \"echo\"");
    text.replace(&format!("step = 0.2\nend = {:?}", 2.0 * at), &format!("end = {end:?}"))
}

/// Whole steps lead to the turn, and to the end too where a quarter more are enough for that: 2.2 times as many are whole for every fifth number, 75 from 71 on, π times for none.
#[test]
fn automatic_steps_lead_to_the_turn_and_to_the_end() {
    let off = |time: f64, step: f64| (time / step - (time / step).round()).abs();
    let step = |end: f64| {
        let scenario = read(&automatic(7.1, end));
        let method = solver::find("trotter").unwrap();
        (method.time_step(&scenario), (method.step_advice)(&scenario).auto)
    };
    for end in [14.2, 15.62, 17.75, 5.68] {
        let (step, advised) = step(end);
        assert!(step <= advised && step > advised / 1.3, "{step} of {advised}");
        assert!(off(7.1, step) < 1e-6 && off(end, step) < 1e-5, "{end}: {step}");
    }
    let (step, advised) = step(7.1 * std::f64::consts::PI);
    assert!(off(7.1, step) < 1e-6 && step > advised / 1.02, "{step} of {advised}");
}

/// Layers that a mirror adds on the way back shorten the automatic step as those of the scene do, since both ways have steps of one length; a weak one does not.
#[test]
fn automatic_steps_follow_what_absorbs_on_the_way_back() {
    let quantum = "spacing = 1.0\n[quantum]\nhopping = 1.0\n[[packet]]\ncenter = [10.0, 9.0]\nwidth = [2.0, 2.0]\n";
    let sound = "spacing = 0.05\n[acoustic]\n[[pulse]]\ncenter = [0.5, 0.5]\nwidth = 0.2\n";
    for (name, waves, at, strong, weak) in [
        ("trotter", quantum, 4.0, 50.0, 1e-3),
        ("split-step-fourier", quantum, 4.0, 50.0, 1e-3),
        ("crank-nicolson", quantum, 4.0, 50.0, 1e-3),
        ("oscillators", sound, 0.01, 1e5, 1.0),
    ] {
        let method = solver::find(name).unwrap();
        let step = |layers: &str, value: f64| {
            let text = format!(
                "format = 1\n[grid]\nsize = [24, 20]\n{waves}[time]\nend = {:?}\n[solver]\nmethod = \"{name}\"\n[mirror]\nmethod = \"echo\"\nat = {at:?}\n\
                 [[{layers}]]\nsets = \"absorption\"\nvalue = {value:?}\n",
                2.0 * at
            );
            let scenario = read(&text);
            (method.time_step(&scenario), method.advice(&scenario).sensible)
        };
        let (own, perturbed) = (step("layer", strong), step("mirror.perturbation", strong));
        assert_eq!(own, perturbed, "{name}");
        let (longer, _) = step("mirror.perturbation", weak);
        assert!(perturbed.0 < 0.5 * longer, "{name}: {} of {longer}", perturbed.0);
    }
}

/// What is driven on the way back shortens automatic steps as it does on the way there, and so do drives of the scene after the turn; one that is fast only while it does not act does not.
#[test]
fn automatic_steps_follow_what_is_driven_on_the_way_back() {
    let method = solver::find("trotter").unwrap();
    let step = |layers: &str, drive: &str| {
        let text = format!(
            "format = 1\n[grid]\nsize = [40]\nspacing = 1.0\n[quantum]\nhopping = 1.0\n[time]\nend = 8.0\n[solver]\nmethod = \"trotter\"\n\
             [[packet]]\ncenter = [20.0]\nwidth = 4.0\n[mirror]\nmethod = \"echo\"\nat = 4.0\n\
             [[{layers}]]\nsets = \"potential\"\nvalue = \"0.01*x\"\ndrive = \"{drive}\"\n"
        );
        method.time_step(&read(&text))
    };
    let calm = step("mirror.perturbation", "1");
    assert_eq!(calm, step("layer", "1"));
    let fast = "cos(60*t)";
    let own = step("layer", fast);
    assert!(own < 0.3 * calm, "{own} of {calm}");
    assert!(step("mirror.perturbation", fast) < 0.3 * calm);
    let late = "if(t > 4, cos(60*t), 1)";
    assert!(step("layer", late) < 0.3 * calm && step("mirror.perturbation", late) < 0.3 * calm);
    assert_eq!(step("mirror.perturbation", "if(t < 3.9, cos(60*t), 1)"), calm);
}

/// A turn that is moved while an automatic Δt is another one with it begins the run anew: steps of two lengths on the way there are not those of the way back.
#[test]
fn a_moved_turn_changes_no_step_on_the_way() {
    let mut engine = engine(&automatic(7.0, 14.0));
    engine.advance(10).unwrap();
    let moved = engine.update(Arc::new(read(&automatic(6.95, 13.9)))).unwrap();
    assert_eq!(moved, Change::Restarted);
    assert!(there_and_back(&mut engine).error < 1e-9);
}

/// A source leaves nothing at t = 0 to compare with: no number, which no prediction is right about. Of a pulse what is inside counts from t = 0 on, not only after the reversal.
#[test]
fn what_compares_with_nothing_is_no_number() {
    let text = |begins: &str| {
        format!(
            "format = 1\n[grid]\nsize = [60]\nspacing = 1.0\nedges = \"absorb\"\nabsorb_width = 8\n[acoustic]\nspeed = 1.0\n[time]\nstep = 0.5\nend = \
             40.0\n[solver]\nmethod = \"fdtd\"\nbackend = \"cpu\"\n{begins}[mirror]\nmethod = \"inverse-filter\"\nat = 20.0\ntransducers = {{ shape = \
             \"edges\" }}\n[[expect]]\nobservable = \"mirror_error\"\nat = 40.0\nvalue = 0.0\ntolerance = 0.9\n[[expect]]\nobservable = \"residual\"\nat = \
             20.0\nvalue = 0.0\ntolerance = 1e-6\n"
        )
    };
    let mut source = engine(&text(
        "[[source]]\nat = [30.0]\nsignal = \"burst\"\nfrequency = 0.1\ncycles = 2.0\n",
    ));
    let found = there_and_back(&mut source);
    assert!(!found.compares() && found.contrast > 0.0, "{found:?}");
    let values = found.values();
    assert!(values[..4].iter().all(|value| value.is_nan()), "{values:?}");
    assert!(values[5] > 0.0 && Refocus::from_values(values) == found, "{values:?}");
    let wrong = |verdict: &Verdict| matches!(verdict, Verdict::Wrong(value) if value.is_nan());
    assert!(source.verdicts().iter().all(wrong), "{:?}", source.verdicts());

    // Half of the pulse has gone through either edge at t = 20, but for its tails.
    let mut pulse = engine(&text("[[pulse]]\ncenter = [30.0]\nwidth = 3.0\n"));
    let residual = |engine: &mut Engine| engine.refocus().unwrap().unwrap().residual;
    assert!((residual(&mut pulse) - 1.0).abs() < 1e-6);
    pulse.advance(20).unwrap();
    // Two halves apart: (1/2² + 1/2²)^½ of the norm.
    assert!(
        (residual(&mut pulse) - 0.5f64.sqrt()).abs() < 0.02,
        "{}",
        residual(&mut pulse)
    );
    let turned = there_and_back(&mut pulse).residual;
    assert_eq!(pulse.verdicts()[1].measured(), Some(turned));
}

/// Walls that stand on the way back only count there: 1 Pa everywhere is 1 Pa in the mean on both ways, also where a run goes on from a checkpoint.
#[test]
fn detectors_know_the_walls_of_the_way_back() {
    let text = "format = 1\n[grid]\nsize = [20, 12]\nspacing = 1.0\n[acoustic]\nspeed = 1.0\n[time]\nstep = 0.4\nend = 8.0\n[solver]\nmethod = \"fdtd\"\nbackend = \"cpu\"\n\
                precision = \"double\"\n[[pulse]]\ncenter = [8.0, 6.0]\nwidth = 1e8\n[[detector]]\nname = \"mean\"\nmeasure = \"pressure\"\n[mirror]\nmethod = \"echo\"\nat = 4.0\n\
                [[mirror.perturbation]]\nsets = \"wall\"\nshape = \"box\"\nmin = [5.0, 0.0]\nmax = [9.0, 11.0]\n";
    let mut run = engine(text);
    run.advance(15).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state");
    run.save_checkpoint(&path).unwrap();
    let (mut resumed, _) = Engine::resume(Arc::new(read(text)), &path).unwrap();
    for run in [&mut run, &mut resumed] {
        run.advance(5).unwrap();
        let values = run.taps().series(0).1;
        assert!(values.iter().all(|mean| (mean - 1.0).abs() < 1e-9), "{values:?}");
    }
}
