//! Towers and diamonds give what steps over the whole grid give, to the bit: fields, both levels, memories of absorbing layers, peaks, records.

use crate::{ORDERS, SPACING, build, noise, scene, start};
use num_complex::Complex64;
use ripplon::physics::Measure;
use ripplon::scene::scenario::Quantity;
use ripplon::solver::transducers::{Act, Transducers};
use ripplon::solver::{Edit, FieldImage, ImageRequest, Solver, Taps};
use std::sync::Arc;

const VARIANTS: [(&str, usize); 2] = [("tiled", 2), ("diamond-torre", 3)];

/// Speeds from 300 to 400 that look random.
const SPEEDS: &str =
    "[[layer]]\nsets = \"speed\"\nshape = \"everywhere\"\nvalue = \"350 + 50*sin(9171*x + 5331*y*y + 1791*z*z)\"\n";
const DENSITIES: &str =
    "[[layer]]\nsets = \"density\"\nshape = \"everywhere\"\nvalue = \"2 + sin(3171*x + 7331*y*y + 2791*z*z)\"\n";

/// Points of a grid in lengths, as parts of its sides.
fn at(size: &[usize], parts: [f64; 3]) -> Vec<f64> {
    (size.iter().zip(parts))
        .map(|(n, part)| (*n as f64 * part).floor() * SPACING)
        .collect()
}

/// Walls, damping, sources that stay and move, and detectors of every kind.
fn furniture(size: &[usize]) -> String {
    let speed = &[40.0, -30.0, 20.0][..size.len()];
    let mut text = format!(
        "[[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = {:?}\nradius = {}\nvalue = 1\n\
         [[layer]]\nsets = \"absorption\"\nshape = \"disk\"\ncenter = {:?}\nradius = {}\nvalue = 300\n\
         [[source]]\nat = {:?}\nsignal = \"sine\"\nfrequency = 1500\namplitude = 1e7\n\
         [[source]]\nat = {:?}\nvelocity = {speed:?}\nsignal = \"sine\"\nfrequency = 2500\namplitude = 1e7\n\
         [[source]]\nat = {:?}\nsignal = \"sine\"\nfrequency = 2500\namplitude = 1e7\n",
        at(size, [0.6, 0.6, 0.5]),
        2.3 * SPACING,
        at(size, [0.3, 0.4, 0.4]),
        2.6 * SPACING,
        at(size, [0.1, 0.1, 0.2]),
        at(size, [0.5, 0.4, 0.4]),
        at(size, [0.0, 0.99, 0.0]),
    );
    for measure in ["value", "pressure", "energy", "peak"] {
        text += &format!(
            "[[detector]]\nname = \"{measure} at a point\"\nat = {:?}\nmeasure = \"{measure}\"\n",
            at(size, [0.4, 0.2, 0.3])
        );
    }
    for measure in ["pressure", "energy", "peak"] {
        text += &format!(
            "[[detector]]\nname = \"{measure} in a box\"\nregion = {{ min = {:?}, max = {:?} }}\nmeasure = \"{measure}\"\n",
            at(size, [0.2, 0.5, 0.1]),
            at(size, [0.7, 0.8, 0.6])
        );
    }
    for (name, from, to) in [
        ("flux", [0.1, 0.3, 0.3], [0.9, 0.3, 0.3]),
        ("flux along rows", [0.4, 0.0, 0.2], [0.4, 0.9, 0.7]),
        ("flux at the end", [0.1, 0.99, 0.3], [0.9, 0.99, 0.3]),
    ] {
        let (from, to) = (at(size, from), at(size, to));
        text += &format!("[[detector]]\nname = \"{name}\"\nfrom = {from:?}\nto = {to:?}\nmeasure = \"flux\"\n");
    }
    for measure in ["pressure", "energy", "peak"] {
        text += &format!("[[detector]]\nname = \"{measure} everywhere\"\nmeasure = \"{measure}\"\n");
    }
    text
}

/// Energy of the whole grid, of both halves along x, and of both along y.
fn halves(size: &[usize]) -> String {
    let mut text = "[[detector]]\nname = \"all\"\nmeasure = \"energy\"\n".to_owned();
    for axis in 0..2 {
        let end: Vec<f64> = size.iter().map(|n| *n as f64 * SPACING).collect();
        let middle = ((size[axis] / 2) as f64 + 0.5) * SPACING;
        let (mut below, mut above) = (end.clone(), vec![0.0; size.len()]);
        (below[axis], above[axis]) = (middle, middle);
        for (name, min, max) in [("below", vec![0.0; size.len()], below), ("above", above, end)] {
            text += &format!(
                "[[detector]]\nname = \"{name} {axis}\"\nmeasure = \"energy\"\nregion = {{ min = {min:?}, max = {max:?} }}\n"
            );
        }
    }
    text
}

struct Sample<'a> {
    size: &'a [usize],
    edges: &'a str,
    order: usize,
    precision: &'a str,
    more: String,
}

impl Sample<'_> {
    fn text(&self, variant: &str, extra: &str) -> String {
        let Self {
            size,
            edges,
            order,
            precision,
            more,
        } = self;
        let center = at(size, [0.5; 3]);
        let step = 0.3 * SPACING / 400.0;
        format!(
            "[grid]\nsize = {size:?}\nspacing = {SPACING}\nedges = {edges}\nabsorb_width = 3\n[acoustic]\nspeed = 343.0\ndensity = 1.2\n\
             [time]\nstep = {step:e}\n[solver]\nmethod = \"fdtd\"\nbackend = \"cpu\"\nprecision = \"{precision}\"\norder = {order}\n\
             variant = \"{variant}\"\n{extra}\n[[pulse]]\ncenter = {center:?}\nwidth = 0.06\n{more}"
        )
    }

    fn solver(&self, variant: &str, extra: &str) -> (Box<dyn Solver>, Taps) {
        let scenario = scene(&self.text(variant, extra));
        let mut solver = build(&scenario);
        assert_eq!(solver.report().variant, variant);
        start(solver.as_mut(), &noise(scenario.grid().sites(), 3));
        let request = ImageRequest::new(Quantity::Peak, [0..5, 0..1], 0, [5, 1]);
        solver.image(&request, &mut FieldImage::default()).unwrap();
        let taps = Taps::new(scenario.grid(), scenario.detectors());
        (solver, taps)
    }

    /// Steps both ways, in batches of different lengths, and compares all there is.
    fn compare(&self, variant: &str, extra: &str) {
        let (mut plain, mut recorded) = self.solver("stepwise", "");
        let (mut tiles, mut by_tiles) = self.solver(variant, extra);
        let label = format!(
            "{variant} {extra:?} {:?} {} order {} {}",
            self.size, self.edges, self.order, self.precision
        );
        for batch in [17, 1, 6] {
            plain.advance(batch, &mut recorded).unwrap();
            tiles.advance(batch, &mut by_tiles).unwrap();
            let (expected, found) = (plain.save().unwrap(), tiles.save().unwrap());
            assert_eq!(expected.clock, found.clock, "{label}");
            for ((name, a), (_, b)) in expected.arrays.iter().zip(&found.arrays) {
                let different = (0..a.len())
                    .filter(|i| a.at(*i).re.to_bits() != b.at(*i).re.to_bits())
                    .count();
                assert_eq!(different, 0, "{label}: `{name}` after {} steps", found.clock.steps);
                assert!((0..a.len()).all(|i| a.at(i).re.is_finite()), "{label}");
            }
            assert_eq!(recorded, by_tiles, "{label}");
        }
    }
}

fn sizes(rank: usize) -> Vec<Vec<usize>> {
    match rank {
        2 => vec![vec![37, 53], vec![16, 9], vec![33, 4]],
        _ => vec![vec![19, 23, 21], vec![17, 9, 30], vec![5, 31, 8]],
    }
}

/// Extra lines of `[solver]`: shapes of towers.
const SHAPES: [&str; 4] = [
    "dts = 1\ntower = 5",
    "dts = 2\ntower = 16",
    "dts = 3\ntower = 4",
    "dts = 9\ntower = 30",
];

fn edges(rank: usize) -> &'static [&'static str] {
    match rank {
        2 => &[
            "\"wall\"",
            "\"soft\"",
            "\"periodic\"",
            "[\"absorb\", \"soft\"]",
            "[\"periodic\", \"absorb\"]",
        ],
        _ => &[
            "\"wall\"",
            "[\"soft\", \"periodic\", \"wall\"]",
            "[\"periodic\", \"soft\", \"periodic\"]",
            "[\"wall\", \"absorb\", \"soft\"]",
            "[\"absorb\", \"periodic\", \"absorb\"]",
        ],
    }
}

/// Whether a grid has room for layers of 3 sites.
fn fits(size: &[usize]) -> bool {
    size.iter().all(|n| *n >= 7)
}

#[test]
fn tiles_give_the_bits_of_steps() {
    for (variant, rank) in VARIANTS {
        for (n, size) in sizes(rank).iter().enumerate() {
            for edges in edges(rank)
                .iter()
                .filter(|edges| fits(size) || !edges.contains("absorb"))
            {
                for (m, order) in ORDERS.iter().enumerate() {
                    let sample = Sample {
                        size,
                        edges,
                        order: *order,
                        precision: if (n + m) % 2 == 0 { "single" } else { "double" },
                        more: String::new(),
                    };
                    sample.compare(variant, SHAPES[m]);
                    sample.compare(variant, SHAPES[(m + n + 1) % 4]);
                }
            }
        }
    }
}

#[test]
fn media_sources_and_detectors_are_part_of_the_tiles() {
    for (variant, rank) in VARIANTS {
        let size = &sizes(rank)[0];
        for (n, edges) in edges(rank).iter().enumerate() {
            for (m, order) in ORDERS.iter().enumerate() {
                let sample = Sample {
                    size,
                    edges,
                    order: *order,
                    precision: if (n + m) % 2 == 0 { "double" } else { "single" },
                    more: furniture(size)
                        + if m % 2 == 0 { SPEEDS } else { "" }
                        + if m == 0 && n % 2 == 0 { DENSITIES } else { "" },
                };
                sample.compare(variant, SHAPES[(m + n) % 4]);
            }
        }
    }
}

/// What detectors add up, bonds once or in halves, is what the observables add up site by site, and parts make the whole: beside all edges and walls, in all media.
#[test]
fn energies_of_parts_add_up_to_that_of_the_field() {
    for (variant, rank) in [("stepwise", 2), ("tiled", 2), ("stepwise", 3), ("diamond-torre", 3)] {
        let size = &sizes(rank)[0];
        for (n, edges) in edges(rank).iter().enumerate() {
            for (m, order) in ORDERS.iter().enumerate() {
                let sample = Sample {
                    size,
                    edges,
                    order: *order,
                    precision: "double",
                    more: halves(size)
                        + &furniture(size)
                        + if m % 2 == 0 { SPEEDS } else { "" }
                        + if m == 0 && n % 2 == 0 { DENSITIES } else { "" },
                };
                let (mut solver, mut taps) = sample.solver(variant, if variant == "stepwise" { "" } else { SHAPES[m] });
                for steps in [1, 11, 2] {
                    solver.advance(steps, &mut taps).unwrap();
                    let energy = solver.observables().unwrap().energy;
                    let [all, below, above, under, over] = [0, 1, 2, 3, 4].map(|n| taps.latest(n).unwrap());
                    // Some thousand sites and bonds, each rounded a few times.
                    let off = |found: f64| (found / energy - 1.0).abs();
                    let worst = [all, below + above, under + over].map(off);
                    assert!(
                        worst.iter().all(|off| *off < 1e-12),
                        "{variant} {size:?} {edges} order {order}: {worst:?} of {energy:e}"
                    );
                }
            }
        }
    }
}

/// Detectors that record every n-th step have what those have that record every step, at the same times.
#[test]
fn every_nth_record_is_that_of_its_step() {
    for (variant, rank) in [("stepwise", 2), ("tiled", 2), ("stepwise", 3), ("diamond-torre", 3)] {
        let size = &sizes(rank)[0];
        let run = |every: &str| {
            let sample = Sample {
                size,
                edges: "\"wall\"",
                order: 4,
                precision: "single",
                more: furniture(size).replace("[[detector]]\n", &format!("[[detector]]\n{every}")),
            };
            let (mut solver, mut taps) = sample.solver(variant, "");
            for steps in [17, 1, 6] {
                solver.advance(steps, &mut taps).unwrap();
            }
            let saved = solver.save().unwrap();
            (taps, saved)
        };
        let ((all, plain), (some, sparse)) = (run(""), run("every = 5\n"));
        assert!(
            plain.arrays == sparse.arrays,
            "{variant}: whoever listens changes nothing"
        );
        assert_eq!(all.times().len(), 24);
        let nth = |values: &[f64]| values.iter().copied().skip(4).step_by(5).collect::<Vec<f64>>();
        for n in 0..all.taps().len() {
            let (times, values) = some.series(n);
            assert_eq!(times.to_vec(), nth(all.times()), "{variant} {n}");
            // The largest so far of what was looked at is no larger than that of all steps.
            if all.taps()[n].measure == Measure::Peak {
                assert!(
                    values.iter().zip(nth(all.values(n))).all(|(a, b)| *a <= b),
                    "{variant} {n}"
                );
            } else {
                assert_eq!(values.to_vec(), nth(all.values(n)), "{variant} {n}");
            }
        }
    }
}

/// Transducers hear and play in tiles what they do step by step.
#[test]
fn transducers_are_part_of_the_tiles() {
    for (variant, rank) in VARIANTS {
        let size = &sizes(rank)[0];
        for (order, edges) in [(2, edges(rank)[0]), (4, edges(rank)[1])] {
            for act in [Act::Record, Act::Add, Act::Overwrite] {
                let run = |variant: &str, extra: &str| {
                    let sample = Sample {
                        size,
                        edges,
                        order,
                        precision: "single",
                        more: furniture(size) + SPEEDS,
                    };
                    let (mut solver, mut taps) = sample.solver(variant, extra);
                    let sites: Arc<[usize]> = (3..size.iter().product()).step_by(41).collect();
                    let signal = (0..20 * sites.len()).map(|n| Complex64::from(30.0 * (n as f64 * 0.37).sin()));
                    *taps.transducers_mut() = Some(match act {
                        Act::Record => Transducers::listening(sites, Vec::new()),
                        _ => Transducers::playing(sites, act, signal.collect(), 0),
                    });
                    for steps in [17, 1, 6] {
                        solver.advance(steps, &mut taps).unwrap();
                    }
                    let saved = solver.save().unwrap();
                    (saved.arrays, taps)
                };
                let (plain, tiles) = (run("stepwise", ""), run(variant, "dts = 2\ntower = 7"));
                assert!(plain == tiles, "{variant} order {order} {edges} {act:?}");
                let heard = tiles.1.transducers().unwrap().heard();
                assert!(act != Act::Record || heard.iter().any(|value| value.re != 0.0));
            }
        }
    }
}

/// Time turned round, a wall painted, a conjugated field: between passes both ways go on alike.
#[test]
fn edits_between_passes_leave_no_trace_of_tiles() {
    for (variant, rank) in VARIANTS {
        let size = &sizes(rank)[0];
        let sample = Sample {
            size,
            edges: "\"wall\"",
            order: 4,
            precision: "double",
            more: SPEEDS.to_owned(),
        };
        let mut bits = Vec::new();
        for (variant, extra) in [("stepwise", ""), (variant, "dts = 2\ntower = 7")] {
            let (mut solver, mut taps) = sample.solver(variant, extra);
            let painted = Sample {
                more: furniture(size) + SPEEDS,
                ..sample
            };
            let step = solver.clock().time_step;
            solver.advance(12, &mut taps).unwrap();
            let scenario = scene(&painted.text(variant, extra));
            solver.edit(&scenario, &Edit::Medium).unwrap();
            solver.advance(9, &mut taps).unwrap();
            solver.edit(&scenario, &Edit::Conjugate).unwrap();
            solver.advance(5, &mut taps).unwrap();
            solver.edit(&scenario, &Edit::TimeStep(-0.5 * step)).unwrap();
            solver.advance(11, &mut taps).unwrap();
            let saved = solver.save().unwrap();
            let all: Vec<u64> = (saved.arrays.iter())
                .flat_map(|(_, data)| (0..data.len()).map(|i| data.at(i).re.to_bits()))
                .collect();
            bits.push((saved.clock, all));
        }
        assert_eq!(bits[0].0, bits[1].0);
        assert!(bits[0].1 == bits[1].1, "{variant}");
    }
}

/// Two levels and the medium, and no third copy of the field.
#[test]
fn memory_is_two_levels() {
    for (variant, rank) in VARIANTS {
        let size = [400, 400, 40];
        let sample = Sample {
            size: &size[..rank],
            edges: "\"wall\"",
            order: 2,
            precision: "single",
            more: String::new(),
        };
        let scenario = scene(&sample.text(variant, ""));
        let memory = build(&scenario).report().memory as f64;
        let field = scenario.grid().sites() as f64 * 4.0;
        // Rows are padded by a cache line or two of 25, and a byte a row says how it is stepped.
        assert!(memory < 2.2 * field, "{variant}: {} fields", memory / field);
    }
}

/// A torus in y and z has no place to start from, and says so.
#[test]
fn a_torus_is_stepped_as_a_whole() {
    let sample = Sample {
        size: &[9, 10, 12],
        edges: "\"periodic\"",
        order: 2,
        precision: "single",
        more: String::new(),
    };
    let report = build(&scene(&sample.text("diamond-torre", ""))).report();
    assert_eq!(report.variant, "stepwise");
    assert!(report.note.is_some_and(|note| note.contains("torus")));
    let refused = crate::try_scene(&sample.text("tiled", "")).unwrap_err();
    assert!(refused.contains("works in 2 dimensions"), "{refused}");
}

/// A line is one row.
#[test]
fn what_runs_is_told_with_the_right_plural() {
    let details = |size: &[usize]| {
        let sample = Sample {
            size,
            edges: "\"wall\"",
            order: 2,
            precision: "single",
            more: String::new(),
        };
        build(&scene(&sample.text("stepwise", ""))).report().details
    };
    assert!(details(&[64]).contains("blocks of 1 row,"), "{}", details(&[64]));
    assert!(details(&[64, 64]).contains(" rows,"), "{}", details(&[64, 64]));
}
