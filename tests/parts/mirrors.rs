//! Transducers of a grid in parts: each is heard by one part and driven in all that have a copy of its site.

use super::sound::OSCILLATORS;
use super::{Case, ENERGY, FDTD, PACKET_3D, PLANE, PSI, ROOM, SOUND_STEP, STEP, Seen, TROTTER, build, look, text};
use num_complex::Complex64;
use ripplon::engine::Engine;
use ripplon::solver::transducers::{Act, Transducers};
use ripplon::solver::{self, Edit, Taps};
use std::sync::Arc;

/// Across the grid, over both edges of the axis that is cut, and at cuts; numbers that differ from site to site.
fn places(case: &Case) -> Arc<[usize]> {
    let sites: usize = case.size.iter().product();
    let row = case.size[0];
    let ends = [3, row + 5, sites - 7, sites - row - 2];
    let across = (0..30).map(|n| (n * (sites / 29 - 3) + 11) % sites);
    let cuts = [2, 3].map(|parts| sites / parts + row / 2);
    let mut all: Vec<usize> = ends.into_iter().chain(across).chain(cuts).collect();
    all.sort_unstable();
    all.dedup();
    all.into()
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn signal(sites: usize, rows: usize) -> Arc<[Complex64]> {
    let of = |n: usize| Complex64::new((n as f64 * 0.37).sin(), (n as f64 * 0.91).cos()) * 0.1;
    (0..sites * rows).map(of).collect()
}

fn hear(taps: &Taps, seen: &mut Seen) {
    let heard = taps.transducers().map(|own| own.heard().to_vec()).unwrap();
    assert!(heard.iter().any(|value| value.norm() > 0.0));
    seen.push(("heard".to_owned(), bytemuck::cast_slice(&heard).to_vec()));
}

/// Transducers that listen, add and overwrite, from call to call, signals that end within one, and time turned round between them.
fn act(text: &str, case: &Case, most: u64) -> Seen {
    let (mut run, mut taps, scenario) = build(text);
    let mut seen = Vec::new();
    let sites = places(case);
    *taps.transducers_mut() = Some(Transducers::listening(Arc::clone(&sites), Vec::new()));
    run.apply_transducers(&mut taps).unwrap();
    for steps in [3, 1, most] {
        run.advance(steps, &mut taps).unwrap();
    }
    hear(&taps, &mut seen);
    look(run.as_mut(), &taps, case, &mut seen);
    for (act, rows) in [(Act::Add, 12), (Act::Overwrite, 8), (Act::Add, 40)] {
        let played = signal(sites.len(), rows);
        *taps.transducers_mut() = Some(Transducers::playing(Arc::clone(&sites), act, played, 0));
        run.apply_transducers(&mut taps).unwrap();
        run.observe(&mut taps).unwrap();
        run.advance(7, &mut taps).unwrap();
        look(run.as_mut(), &taps, case, &mut seen);
        run.advance(most, &mut taps).unwrap();
        let played = taps.transducers().map_or(0, Transducers::played);
        seen.push(("played".to_owned(), played.to_le_bytes().to_vec()));
        look(run.as_mut(), &taps, case, &mut seen);
        run.edit(&scenario, &Edit::Conjugate).unwrap();
    }
    *taps.transducers_mut() = Some(Transducers::listening(sites, Vec::new()));
    run.advance(9, &mut taps).unwrap();
    hear(&taps, &mut seen);
    // Nothing is heard twice, or by nobody, where there are no detectors either.
    let mut taps = Taps::default();
    *taps.transducers_mut() = Some(Transducers::listening(places(case), Vec::new()));
    run.advance(9, &mut taps).unwrap();
    hear(&taps, &mut seen);
    look(run.as_mut(), &taps, case, &mut seen);
    seen
}

const MIRROR: &str = "[mirror]\nmethod = \"reversal\"\nat = 3.0\ntransducers = { shape = \"points\", points = [[9.0, 40.0], [11.0, 41.0], [30.0, 88.0]] }\n";

fn compare(case: &Case, solver: &str, extra: &str, most: u64) {
    let one = act(&text(case, solver, extra, 1), case, most);
    for parts in [2, 3] {
        let cut = act(&text(case, solver, extra, parts), case, most);
        assert_eq!(one.len(), cut.len(), "{}: {solver}", case.name);
        for ((name, whole), (_, cut)) in one.iter().zip(&cut) {
            assert!(
                whole == cut,
                "{} in {parts} parts: {name} differs ({})",
                case.name,
                solver.replace('\n', ", ")
            );
        }
    }
}

const WALLS: &str = "[[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = [24.0, 46.0]\nradius = 5.0\n";

const RING: &[&str] = &["wall", "periodic"];

#[test]
fn transducers_in_parts() {
    let quantum = format!("{STEP}{MIRROR}");
    for solver in TROTTER {
        compare(&PLANE, solver, &quantum, 11);
    }
    // Order 4 in single precision gives the norm back after 64 steps, what transducers put in beside it.
    let fourth = "method = \"trotter\"\nvariant = \"vector\"\nprecision = \"single\"\norder = 4";
    compare(&PLANE, fourth, &quantum, 41);
    let torus = Case {
        name: "torus",
        edges: RING,
        ..PLANE
    };
    for solver in [TROTTER[2], TROTTER[3]] {
        compare(&torus, solver, &format!("{quantum}{WALLS}"), 11);
    }
    let space = Case {
        name: "space",
        size: &[20, 18, 94],
        edges: &["wall", "periodic", "periodic"],
        scene: PACKET_3D,
        quantities: PSI,
        ..PLANE
    };
    let points = MIRROR.replace(
        "[[9.0, 40.0], [11.0, 41.0], [30.0, 88.0]]",
        "[[9.0, 4.0, 40.0], [11.0, 7.0, 88.0]]",
    );
    compare(&space, TROTTER[1], &format!("{STEP}{points}"), 12);
}

#[test]
fn transducers_of_sound_in_parts() {
    let sound = format!("{SOUND_STEP}{MIRROR}{WALLS}{ENERGY}");
    for solver in FDTD.iter().chain(OSCILLATORS) {
        compare(&ROOM, solver, &sound, 19);
    }
    let round = Case {
        name: "ring",
        edges: RING,
        ..ROOM
    };
    for solver in [FDTD[0], FDTD[2], OSCILLATORS[1]] {
        compare(&round, solver, &format!("{SOUND_STEP}{MIRROR}"), 18);
    }
}

fn engine(case: &Case, solver: &str, extra: &str, parts: usize) -> Engine {
    let text = text(case, solver, extra, parts);
    let read = solver::read_scene_text(&text, None, &[]).unwrap_or_else(|faults| panic!("{faults}\n{text}"));
    Engine::new(Arc::new(read.1)).unwrap()
}

/// A scene that turns time round comes to the same, from its start and from checkpoints of three parts on the way there and back.
#[test]
fn mirrors_in_parts() {
    const CIRCLE: &str = "transducers = { shape = \"ring\", center = [24.0, 60.0], radius = 16.0, count = 40 }\n";
    const PAIR: &str = "transducers = { shape = \"points\", points = [[9.0, 43.0], [30.0, 88.0]] }\n";
    for (case, solver, mirror) in [
        (&PLANE, TROTTER[3], format!("method = \"reversal\"\n{CIRCLE}")),
        (&PLANE, TROTTER[2], format!("method = \"inverse-filter\"\n{CIRCLE}")),
        (
            &PLANE,
            TROTTER[1],
            format!("method = \"inverse-filter\"\ndrive = \"soft\"\n{PAIR}"),
        ),
        (&PLANE, TROTTER[3], "method = \"echo\"\n".to_owned()),
        (&ROOM, FDTD[2], format!("method = \"one-bit\"\n{CIRCLE}")),
        (&ROOM, FDTD[1], format!("method = \"inverse-filter\"\n{CIRCLE}")),
        (&ROOM, OSCILLATORS[1], format!("method = \"reversal\"\n{CIRCLE}")),
        (
            &ROOM,
            OSCILLATORS[0],
            format!("method = \"inverse-filter\"\ndrive = \"soft\"\n{PAIR}"),
        ),
    ] {
        let (step, at) = if case.name == ROOM.name {
            (SOUND_STEP, 18.0)
        } else {
            (STEP, 6.0)
        };
        let extra = format!(
            "{step}end = {:?}\n[mirror]\nat = {at:?}\nnoise = 0.01\n{mirror}",
            2.0 * at
        );
        let end = |mut engine: Engine| {
            let left = 130 - engine.clock().steps;
            engine.advance(left).unwrap();
            let found = engine.refocus().unwrap().unwrap();
            let records: Vec<Vec<u64>> = (0..engine.taps().taps().len())
                .map(|n| engine.taps().values(n).iter().map(|value| value.to_bits()).collect())
                .collect();
            (engine.field().unwrap(), records, format!("{found:?}"))
        };
        let what = format!("{}, {mirror}", solver.replace('\n', ", "));
        let one = end(engine(case, solver, &extra, 1));
        assert!(end(engine(case, solver, &extra, 3)) == one, "{what}");
        let place = tempfile::tempdir().unwrap();
        for (steps, parts) in [(43, 1), (91, 2)] {
            let path = place.path().join("state");
            let mut three = engine(case, solver, &extra, 3);
            three.advance(steps).unwrap();
            three.save_checkpoint(&path).unwrap();
            let text = text(case, solver, &extra, parts);
            let (_, scenario) = solver::read_scene_text(&text, None, &[]).unwrap();
            let (resumed, _) = Engine::resume(Arc::new(scenario), &path).unwrap();
            assert!(end(resumed) == one, "{what} from step {steps} in {parts} parts");
        }
    }
}
