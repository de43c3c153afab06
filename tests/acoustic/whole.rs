//! Energies of a whole grid that are added up from every site's own numbers: what bonds say, in any batches and by any variant.

use crate::{ORDERS, SPACING, build, noise, scene, start};
use ripplon::solver::{Edit, Solver, Taps};

const WALLS: &str = "[[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = [0.7, 0.8]\nradius = 0.2\nvalue = 1\n";
const SPEEDS: &str =
    "[[layer]]\nsets = \"speed\"\nshape = \"everywhere\"\nvalue = \"350 + 50*sin(9171*x + 5331*y*y)\"\n";
const DENSITIES: &str =
    "[[layer]]\nsets = \"density\"\nshape = \"everywhere\"\nvalue = \"2 + sin(3171*x + 7331*y*y)\"\n";

struct Case<'a> {
    size: &'a [usize],
    edges: &'a str,
    order: usize,
    precision: &'a str,
    more: &'a str,
}

impl Case<'_> {
    fn text(&self, variant: &str, time_step: f64) -> String {
        let Self {
            size,
            edges,
            order,
            precision,
            more,
        } = self;
        let shape = if variant == "stepwise" {
            ""
        } else {
            "dts = 2\ntower = 7\n"
        };
        format!(
            "[grid]\nsize = {size:?}\nspacing = {SPACING}\nedges = {edges}\n[acoustic]\nspeed = 343.0\ndensity = 1.2\n\
             [time]\nstep = {time_step:e}\n[solver]\nmethod = \"fdtd\"\nbackend = \"cpu\"\nprecision = \"{precision}\"\norder = {order}\n\
             variant = \"{variant}\"\n{shape}[[pulse]]\ncenter = {:?}\nwidth = 0.1\n{more}[[detector]]\nname = \"all\"\nmeasure = \"energy\"\n",
            vec![0.3; size.len()],
        )
    }

    /// A run of noise by a variant, with room for its records.
    fn run(&self, variant: &str) -> (Box<dyn Solver>, Taps) {
        let scenario = scene(&self.text(variant, STEP));
        let mut solver = build(&scenario);
        start(solver.as_mut(), &noise(self.size.iter().product(), 11));
        (solver, Taps::of(&scenario))
    }

    fn label(&self, variant: &str) -> String {
        format!(
            "{variant} {:?} {} order {} {}",
            self.size, self.edges, self.order, self.precision
        )
    }

    /// The energy by bonds, as the observables add it up.
    fn check(&self, variant: &str, solver: &mut dyn Solver, taps: &Taps) {
        let energy = solver.observables().unwrap().energy;
        let off = taps.latest(0).unwrap() / energy - 1.0;
        // Some thousand sites and bonds, each rounded a few times.
        let allowed = if self.precision == "double" { 1e-12 } else { 1e-5 };
        assert!(energy > 0.0 && off.abs() < allowed, "{}: {off:e}", self.label(variant));
    }
}

const STEP: f64 = 0.3 * SPACING / 400.0;

fn cases(rank: usize) -> Vec<Case<'static>> {
    let (size, edges): (&[usize], &[&str]) = if rank == 2 {
        (
            &[37, 53],
            &["\"wall\"", "\"soft\"", "\"periodic\"", "[\"soft\", \"periodic\"]"],
        )
    } else {
        (
            &[19, 23, 21],
            &[
                "\"wall\"",
                "[\"soft\", \"periodic\", \"wall\"]",
                "[\"periodic\", \"soft\", \"periodic\"]",
                "\"soft\"",
            ],
        )
    };
    let mut all = Vec::new();
    for (n, edges) in edges.iter().enumerate() {
        for (m, order) in ORDERS.into_iter().enumerate() {
            let more = match (n + m) % 4 {
                0 if order == 2 => DENSITIES,
                1 => SPEEDS,
                2 if rank == 2 && !edges.contains("soft") => WALLS,
                _ => "",
            };
            all.push(Case {
                size,
                edges,
                order,
                precision: if (n + m / 2) % 2 == 0 { "double" } else { "single" },
                more,
            });
        }
    }
    all
}

/// In whatever batches and by whichever variant: the same records to the bit, and what bonds give.
#[test]
fn batches_and_variants_record_the_same_energy() {
    for (variant, rank) in [("tiled", 2), ("diamond-torre", 3)] {
        for case in cases(rank) {
            let (mut plain, mut expected) = case.run("stepwise");
            plain.advance(40, &mut expected).unwrap();
            case.check("stepwise", plain.as_mut(), &expected);
            for variant in ["stepwise", variant] {
                let (mut solver, mut taps) = case.run(variant);
                for steps in [1, 1, 11, 2, 3, 22] {
                    solver.advance(steps, &mut taps).unwrap();
                    case.check(variant, solver.as_mut(), &taps);
                }
                assert_eq!(taps.values(0), expected.values(0), "{}", case.label(variant));
                assert_eq!(
                    plain.save().unwrap().arrays,
                    solver.save().unwrap().arrays,
                    "{}",
                    case.label(variant)
                );
            }
        }
    }
}

/// A saved state goes on to the bit, at an even step and at an odd one; turned back, the energies come back; with another Δt or source bonds are added up.
#[test]
fn states_and_edits_keep_the_energy() {
    for steps in [16, 17] {
        for case in cases(2).into_iter().take(6) {
            let (mut solver, mut taps) = case.run("tiled");
            solver.advance(steps, &mut taps).unwrap();
            let state = solver.save().unwrap();
            let (mut resumed, mut later) = case.run("stepwise");
            resumed.load(&state).unwrap();
            for (solver, taps) in [(&mut solver, &mut taps), (&mut resumed, &mut later)] {
                solver.advance(9, taps).unwrap();
                let scenario = scene(&case.text("tiled", STEP));
                solver.edit(&scenario, &Edit::Conjugate).unwrap();
                solver.advance(5, taps).unwrap();
                case.check("tiled", solver.as_mut(), taps);
            }
            let first = usize::try_from(steps).unwrap();
            assert_eq!(&taps.values(0)[first..], later.values(0), "{}", case.label("tiled"));
            let plain = scene(&case.text("tiled", STEP));
            let played = scene(&(case.text("tiled", STEP) + SOURCE));
            for (scenario, edit) in [
                (&plain, Edit::TimeStep(0.7 * STEP)),
                (&played, Edit::Medium),
                (&plain, Edit::Medium),
            ] {
                solver.edit(scenario, &edit).unwrap();
                solver.advance(7, &mut taps).unwrap();
                case.check("tiled", solver.as_mut(), &taps);
            }
        }
    }
}

const SOURCE: &str = "[[source]]\nat = [0.5, 0.6]\nsignal = \"sine\"\nfrequency = 2500\namplitude = 1e7\n";

/// Every third record is the third of those of every step.
#[test]
fn sparse_records_are_those_of_their_steps() {
    for case in cases(2).into_iter().take(4) {
        let (mut solver, mut all) = case.run("tiled");
        solver.advance(33, &mut all).unwrap();
        let scenario = scene(&(case.text("tiled", STEP) + "every = 3\n"));
        let mut sparse = build(&scenario);
        start(sparse.as_mut(), &noise(case.size.iter().product(), 11));
        let mut taps = Taps::of(&scenario);
        sparse.advance(33, &mut taps).unwrap();
        let third: Vec<f64> = all.values(0).iter().copied().skip(2).step_by(3).collect();
        assert_eq!(taps.series(0).1.to_vec(), third, "{}", case.label("tiled"));
    }
}
