//! Energies that are added up bond by bond are the quadratic form of what is stepped.

use super::run::Fdtd;
use crate::backend::threads;
use crate::solver::clock::RunClock;
use crate::solver::setup::Setup;
use crate::solver::{Taps, find, read_scene_text};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Numbers without a pattern, the same in every run.
struct Numbers(u64);

impl Numbers {
    /// From −½ to ½.
    fn number(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        f64::from((self.0 >> 40) as u32) / f64::from(1 << 24) - 0.5
    }

    fn below(&mut self, n: usize) -> usize {
        ((self.0 >> 33) as usize) % n.max(1)
    }
}

/// A scene with walls at random sites. Its detectors take the energy of the grid and of the parts that it falls into when cut once along each axis.
fn scene(size: &[usize], edges: &[&str], order: u32, layers: &str, numbers: &mut Numbers) -> String {
    let edges: Vec<String> = (0..size.len())
        .map(|axis| format!("\"{}\"", edges[axis % edges.len()]))
        .collect();
    let mut text = format!(
        "format = 1\n[grid]\nsize = {size:?}\nspacing = 0.5\nedges = [{}]\n[acoustic]\n[time]\nend = 1.0\n[solver]\nmethod = \"fdtd\"\nprecision = \"double\"\norder = {order}\n{layers}",
        edges.join(", ")
    );
    let _ = write!(text, "[[pulse]]\ncenter = {:?}\nwidth = 1.0\n", vec![0.0; size.len()]);
    let place = |site: &[usize]| -> Vec<f64> {
        site.iter()
            .map(|at| 0.5 * f64::from(u32::try_from(*at).unwrap()))
            .collect()
    };
    for _ in 0..size.iter().product::<usize>() / 12 {
        let site: Vec<usize> = size
            .iter()
            .map(|n| {
                numbers.number();
                numbers.below(*n)
            })
            .collect();
        let at = place(&site);
        let _ = write!(
            text,
            "[[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = {at:?}\nmax = {at:?}\n"
        );
    }
    text += "[[detector]]\nname = \"all\"\nmeasure = \"energy\"\n";
    let cuts: Vec<usize> = size
        .iter()
        .map(|n| {
            numbers.number();
            1 + numbers.below(n - 1)
        })
        .collect();
    for part in 0..1 << size.len() {
        let ends = |upper: usize| -> Vec<usize> {
            let of = |axis: usize| [[0, cuts[axis]], [cuts[axis] - 1, size[axis] - 1]][upper][part >> axis & 1];
            (0..size.len()).map(of).collect()
        };
        let (min, max) = (place(&ends(0)), place(&ends(1)));
        let _ = write!(
            text,
            "[[detector]]\nname = \"part {part}\"\nmeasure = \"energy\"\nregion = {{ min = {min:?}, max = {max:?} }}\n"
        );
    }
    text
}

/// Random pressures with their ghosts, 0 in walls.
fn random_field(run: &mut Fdtd<f64>, numbers: &mut Numbers) -> Vec<f64> {
    run.fill(|_, _, _| ());
    let (lattice, mask) = (&run.sweep.lattice, &run.sweep.mask);
    let nx = lattice.size[0];
    for n in 0..nx * lattice.rows() {
        let wall = mask.get(n).copied().unwrap_or(false);
        run.now[lattice.sites(n / nx).start + n % nx] = if wall { 0.0 } else { numbers.number() };
    }
    lattice.fill_all_ghosts(&mut run.now, true);
    run.now.to_vec()
}

/// Compares ½ Σ ((u − v)² − u·κL v)/κ, with κL of the step, and what detectors and observables see of Φ⁺ = u and Φ⁻ = v.
fn compare(text: &str, numbers: &mut Numbers) {
    let (_, scenario) = read_scene_text(text, None, &[]).unwrap();
    let setup = Setup::new(find("fdtd").unwrap(), &scenario).unwrap();
    let mut run = Fdtd::<f64>::new(&setup).unwrap();
    run.keep_both_potentials().unwrap();
    let u = random_field(&mut run, numbers);
    let v = random_field(&mut run, numbers);
    // L is symmetric: both ways.
    let forms = [(&u, &v), (&v, &u)].map(|(u, v)| {
        run.now.copy_from_slice(v);
        run.old.fill(0.0);
        run.combine([1.0, 0.0, 0.0], false, (0.0, 0.0));
        let (mut form, mut scale) = (0.0, 0.0);
        for row in 0..run.sweep.lattice.rows() {
            for place in run.sweep.lattice.sites(row) {
                let kappa = run.sweep.material.kappa(place);
                if kappa > 0.0 {
                    let square = (u[place] - v[place]).powi(2) / (2.0 * kappa);
                    let product = u[place] * (run.old[place] - 2.0 * v[place]) / (2.0 * kappa);
                    form += square - product;
                    scale += square + product.abs();
                }
            }
        }
        [form, scale]
    });
    let factor = 0.5f64.powi(i32::try_from(scenario.grid().rank()).unwrap() - 2);
    let [[form, scale], [other, _]] = forms.map(|form| form.map(|sum| factor * sum));
    let near = |value: f64, what: &str| {
        assert!(
            (value - form).abs() < 1e-13 * scale,
            "{what}: {value:e} is not {form:e}\n{text}"
        );
    };
    near(other, "L is not symmetric");
    run.now.copy_from_slice(&u);
    run.old.copy_from_slice(&v);
    near(run.total().invariant, "the invariant");
    for ((p, u), v) in run.now.iter_mut().zip(&u).zip(&v) {
        *p = (u - v) / setup.time_step;
    }
    run.potential.copy_from_slice(&u);
    run.obeys = false;
    near(run.total().energy, "the energy among the observables");
    let mut taps = Taps::of(&scenario);
    let clock = RunClock::new(setup.time_step);
    threads::run(|| run.see(&clock, &mut taps));
    near(taps.values(0)[0], "a detector of the whole grid");
    let parts = (1..taps.taps().len()).map(|n| taps.values(n)[0]);
    near(parts.sum(), "the sum of detectors of parts");
}

#[test]
fn energy_is_the_quadratic_form_of_the_step() {
    const SPEED: &str = "[[layer]]\nsets = \"speed\"\nvalue = \"300 + 90*random(x, 2)\"\n";
    const DENSITY: &str = "[[layer]]\nsets = \"density\"\nvalue = \"1 + x\"\n";
    let mut numbers = Numbers(1);
    let edges: [&[&str]; 5] = [
        &["wall"],
        &["soft"],
        &["periodic"],
        &["soft", "wall", "periodic"],
        &["periodic", "soft"],
    ];
    for size in [&[40][..], &[13, 11], &[3, 4], &[2, 5], &[6, 5, 7], &[33, 12]] {
        for edges in edges {
            for order in [2, 4, 6, 8] {
                for layers in ["", SPEED, DENSITY].into_iter().take(if order == 2 { 3 } else { 2 }) {
                    let text = scene(size, edges, order, layers, &mut numbers);
                    compare(&text, &mut numbers);
                }
            }
        }
    }
}

/// Nothing flows into a wall, however thin, where a wide stencil reaches beyond it.
#[test]
fn nothing_flows_through_walls() {
    let mut numbers = Numbers(2);
    for (order, columns) in [(2, 1), (4, 1), (6, 1), (6, 2), (8, 1), (8, 3)] {
        let text = format!(
            "format = 1\n[grid]\nsize = [30, 7]\nspacing = 1.0\nedges = [\"wall\", \"periodic\"]\n[acoustic]\n[time]\nend = 1.0\n[solver]\nmethod = \"fdtd\"\nprecision = \"double\"\norder = {order}\n\
             [[pulse]]\ncenter = [5.0, 3.0]\nwidth = 2.0\n\
             [[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [12.0, 0.0]\nmax = [{}.0, 6.0]\n\
             [[detector]]\nname = \"at the wall\"\nmeasure = \"flux\"\nfrom = [11.0, 0.0]\nto = [11.0, 6.0]\n\
             [[detector]]\nname = \"before it\"\nmeasure = \"flux\"\nfrom = [10.0, 0.0]\nto = [10.0, 6.0]\n",
            11 + columns
        );
        let (_, scenario) = read_scene_text(&text, None, &[]).unwrap();
        let setup = Setup::new(find("fdtd").unwrap(), &scenario).unwrap();
        let mut run = Fdtd::<f64>::new(&setup).unwrap();
        run.keep_both_potentials().unwrap();
        for array in [0, 1] {
            let values: Vec<f64> = (0..30 * 7).map(|_| numbers.number()).collect();
            run.fill(|j, _, out| out.copy_from_slice(&values[30 * j..30 * (j + 1)]));
            if array == 0 {
                run.potential.copy_from_slice(&run.now);
            }
        }
        let mut taps = Taps::of(&scenario);
        let clock = RunClock::new(setup.time_step);
        threads::run(|| run.see(&clock, &mut taps));
        assert!(taps.values(0)[0] == 0.0, "order {order}: {:e}", taps.values(0)[0]);
        assert!(taps.values(1)[0] != 0.0, "order {order}");
    }
}

/// A plane with walls at random sites where `walls` says so, whose detectors take the energy of each column (axis 0) or row (axis 1) and what flows on from it.
fn scene_of_lines(
    size: [usize; 2],
    edge: &str,
    order: u32,
    axis: usize,
    walls: usize,
    numbers: &mut Numbers,
) -> String {
    let mut text = format!(
        "format = 1\n[grid]\nsize = {size:?}\nspacing = 0.5\nedges = [\"{edge}\", \"{edge}\"]\n[acoustic]\n[time]\nend = 1.0\n\
         [solver]\nmethod = \"fdtd\"\nprecision = \"double\"\norder = {order}\n[[pulse]]\ncenter = [0.0, 0.0]\nwidth = 1.0\n"
    );
    let place = |site: [usize; 2]| site.map(|at| 0.5 * f64::from(u32::try_from(at).unwrap()));
    for _ in 0..walls {
        let at = place(size.map(|n| {
            numbers.number();
            numbers.below(n)
        }));
        let _ = write!(
            text,
            "[[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = {at:?}\nmax = {at:?}\n"
        );
    }
    for n in 0..size[axis] {
        let (mut low, mut high) = ([0, 0], size.map(|n| n - 1));
        (low[axis], high[axis]) = (n, n);
        let (low, high) = (place(low), place(high));
        let _ = write!(
            text,
            "[[detector]]\nname = \"in {n}\"\nmeasure = \"energy\"\nregion = {{ min = {low:?}, max = {high:?} }}\n\
             [[detector]]\nname = \"from {n}\"\nmeasure = \"flux\"\nfrom = {low:?}\nto = {high:?}\n"
        );
    }
    text
}

/// For Φ⁺ = u and Φ⁻ = v, w = u − v = Δt p and φ = (u + v)/2, the energy of a line of sites grows by Σ w Lφ + Σ_bonds C b Δφ Δw in Δt; that is what flows in less what flows out.
#[test]
fn energy_changes_by_what_flows_at_every_order_edge_and_wall() {
    let mut numbers = Numbers(3);
    // Rows of 40 sites are long enough for vectors.
    for (size, walls) in [([40, 13], 0), ([40, 13], 4), ([14, 13], 15), ([4, 6], 0), ([4, 6], 3)] {
        for (edge, order, axis) in ["wall", "soft", "periodic"]
            .into_iter()
            .flat_map(|edge| [2, 4, 6, 8].map(|order| (edge, order)))
            .flat_map(|(edge, order)| [0, 1].map(|axis| (edge, order, axis)))
        {
            let text = scene_of_lines(size, edge, order, axis, walls, &mut numbers);
            let (_, scenario) = read_scene_text(&text, None, &[]).unwrap();
            let setup = Setup::new(find("fdtd").unwrap(), &scenario).unwrap();
            let mut run = Fdtd::<f64>::new(&setup).unwrap();
            run.keep_both_potentials().unwrap();
            let [phi, w] = [(); 2].map(|()| random_field(&mut run, &mut numbers));
            let plus = |a: &[f64], b: &[f64], times: f64| -> Vec<f64> {
                a.iter().zip(b).map(|(a, b)| a + times * b).collect()
            };
            // Work: w Lφ, site by site.
            run.now.copy_from_slice(&phi);
            run.old.fill(0.0);
            run.combine([1.0, 0.0, 0.0], false, (0.0, 0.0));
            let mut rates = vec![0.0; size[axis]];
            for n in 0..size[0] * size[1] {
                let site = [n % size[0], n / size[0]];
                let place = run.sweep.lattice.sites(site[1]).start + site[0];
                let kappa = run.sweep.material.kappa(place);
                if !run.sweep.mask.get(n).copied().unwrap_or(false) {
                    rates[site[axis]] += w[place] * (run.old[place] - 2.0 * phi[place]) / kappa;
                }
            }
            let clock = RunClock::new(setup.time_step);
            let mut seen = |potential: &[f64], pressure: &[f64]| -> Vec<f64> {
                run.potential.copy_from_slice(potential);
                run.now.copy_from_slice(pressure);
                let mut taps = Taps::of(&scenario);
                threads::run(|| run.see(&clock, &mut taps));
                (0..2 * size[axis]).map(|tap| taps.values(tap)[0]).collect()
            };
            let silent = vec![0.0; phi.len()];
            let more = seen(&plus(&phi, &w, 1.0), &silent);
            let less = seen(&plus(&phi, &w, -1.0), &silent);
            let pressure: Vec<f64> = w.iter().map(|w| w / setup.time_step).collect();
            let flows = seen(&plus(&phi, &w, 0.5), &pressure);
            for n in 0..size[axis] {
                let rate = rates[n] + (more[2 * n] - less[2 * n]) / 2.0;
                // Round a ring the last site's, from walls and zeros nothing.
                let before = if n == 0 { size[axis] - 1 } else { n - 1 };
                let into = if n == 0 && edge != "periodic" {
                    0.0
                } else {
                    flows[2 * before + 1]
                };
                let net = setup.time_step * (into - flows[2 * n + 1]);
                let scale = more[2 * n] + less[2 * n];
                assert!(
                    (rate - net).abs() < 1e-11 * scale,
                    "line {n} of axis {axis}, {edge}, order {order}, {size:?}: {rate:e} is not {net:e}\n{text}"
                );
            }
        }
    }
}

/// A scene with sources, layers and damping, whose detectors take an energy and a flux every so many steps, and `more` fluxes after every step.
fn driven_scene(size: &[usize], variant: &str, every: [u64; 2], more: usize) -> String {
    let rank = size.len();
    let last = |share: f64| -> Vec<f64> {
        size.iter()
            .map(|n| (share * f64::from(u32::try_from(n - 1).unwrap())).round())
            .collect()
    };
    let (mut from, mut to) = (last(0.3), last(0.7));
    (from[0], to[0]) = (from[0] + 1.0, from[0] + 1.0);
    let edges = if rank == 1 { "absorb" } else { "wall" };
    let layers = if rank == 1 {
        ""
    } else {
        "[[layer]]\nsets = \"impedance\"\nvalue = 5.0\n"
    };
    let mut text = format!(
        "format = 1\n[grid]\nsize = {size:?}\nspacing = 1.0\nedges = \"{edges}\"\nabsorb_width = 6\n[acoustic]\n[time]\nend = 1.0\n[solver]\nmethod = \"fdtd\"\nvariant = \"{variant}\"\n\
         {layers}[[pulse]]\ncenter = {:?}\nwidth = 3.0\n[[source]]\nat = {:?}\nsignal = \"sine\"\nfrequency = 20.0\namplitude = 1e5\n\
         [[detector]]\nname = \"energy\"\nmeasure = \"energy\"\nregion = {{ min = {:?}, max = {:?} }}\nevery = {}\n\
         [[detector]]\nname = \"flux\"\nmeasure = \"flux\"\nfrom = {from:?}\nto = {to:?}\nevery = {}\n",
        last(0.5),
        last(0.2),
        last(0.1),
        last(0.6),
        every[0],
        every[1]
    );
    for n in 0..more {
        (from[0], to[0]) = (from[0] + 1.0, from[0] + 1.0);
        let _ = write!(
            text,
            "[[detector]]\nname = \"more {n}\"\nmeasure = \"flux\"\nfrom = {from:?}\nto = {to:?}\n"
        );
    }
    text
}

/// Detectors that do not record after every step see what they would if they did, and so does Φ⁺, wherever passes end.
#[test]
fn sparse_records_are_those_of_every_step() {
    const STEPS: u64 = 40;
    let cases: [(&[usize], &str); 5] = [
        (&[70], "stepwise"),
        (&[40, 21], "stepwise"),
        (&[40, 21], "tiled"),
        (&[20, 13, 11], "stepwise"),
        (&[20, 13, 11], "diamond-torre"),
    ];
    for (size, variant) in cases {
        let seen = |every: [u64; 2], more: usize, batches: &[u64]| {
            let text = driven_scene(size, variant, every, more);
            let (_, scenario) = read_scene_text(&text, None, &[]).unwrap_or_else(|why| panic!("{why:?}\n{text}"));
            let setup = Setup::new(find("fdtd").unwrap(), &scenario).unwrap();
            let mut run = Fdtd::<f32>::in_its_order(&setup).unwrap();
            run.keep_both_potentials().unwrap();
            let (mut taps, clock) = (Taps::of(&scenario), RunClock::new(setup.time_step));
            let mut done = 0;
            for batch in batches {
                threads::run(|| run.take(&clock.after(done), *batch, &mut taps));
                done += batch;
            }
            assert_eq!(done, STEPS);
            // Fluxes of many sites are taken where they are.
            assert_eq!(run.recorder.as_ref().unwrap().follows(1), more > 0, "{size:?}");
            let twice = run.other_potential.iter().any(|value| *value != 0.0);
            let potential: Vec<u32> = run.potential.iter().map(|value| value.to_bits()).collect();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "few steps")]
            let step = |time: &f64| (time / setup.time_step).round() as u64;
            let records = |n: usize| -> BTreeMap<u64, f64> {
                let steps = taps.times().iter().map(step);
                steps.zip(taps.values(n).iter().copied()).collect()
            };
            ([0, 1].map(records), potential, twice)
        };
        let (dense, potential, twice) = seen([1, 1], 8, &[STEPS]);
        assert!(
            twice
                && dense
                    .iter()
                    .all(|all| all.len() == 40 && all.values().all(|value| *value != 0.0)),
            "{variant}"
        );
        for every in [
            [2, 2],
            [3, 3],
            [5, 5],
            [8, 8],
            [8, 4],
            [2, 5],
            [7, 1],
            [40, 40],
            [41, 41],
        ] {
            for batches in [&[STEPS][..], &[7, 1, 13, 2, 17], &[1; 40]] {
                let (sparse, own, twice) = seen(every, 0, batches);
                let what = format!("{size:?} {variant} {every:?} {batches:?}");
                for (n, every) in every.into_iter().enumerate() {
                    for (&step, full) in &dense[n] {
                        // Steps at which nothing is due have no record.
                        let value = sparse[n].get(&step).filter(|value| !Taps::is_absent(**value));
                        let due = u64::is_multiple_of(step, every);
                        assert_eq!(value.is_some(), due, "{what}, step {step}");
                        assert!(
                            value.is_none_or(|value| value.to_bits() == full.to_bits()),
                            "{what}, step {step}: {value:?}, {full:?}"
                        );
                    }
                }
                assert!(own == potential, "{what}: Φ");
                // No level is read before the last step, after which all has to be there.
                let alone = batches.len() == 1 && [[2, 2], [5, 5], [8, 8], [8, 4], [40, 40], [41, 41]].contains(&every);
                assert!(!alone || !twice, "{what}: Φ in two places");
            }
        }
    }
}

/// A flux between sites of a wall is 0, and nothing of the grid is kept for it twice.
#[test]
fn fluxes_that_read_nothing_are_zero() {
    let text = "format = 1\n[grid]\nsize = [40, 21]\nspacing = 1.0\nedges = \"wall\"\n[acoustic]\n[time]\nend = 1.0\n[solver]\nmethod = \"fdtd\"\nvariant = \"stepwise\"\n\
        [[pulse]]\ncenter = [10.0, 10.0]\nwidth = 3.0\n\
        [[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [25.0, -1.0]\nmax = [35.0, 25.0]\n\
        [[detector]]\nname = \"flux\"\nmeasure = \"flux\"\nfrom = [30.0, 2.0]\nto = [30.0, 9.0]\n";
    let (_, scenario) = read_scene_text(text, None, &[]).unwrap_or_else(|why| panic!("{why:?}"));
    let setup = Setup::new(find("fdtd").unwrap(), &scenario).unwrap();
    let mut run = Fdtd::<f32>::in_its_order(&setup).unwrap();
    run.keep_both_potentials().unwrap();
    let mut taps = Taps::of(&scenario);
    threads::run(|| run.take(&RunClock::new(setup.time_step), 30, &mut taps));
    assert_eq!(taps.values(0), [0.0; 30]);
    assert!(!run.recorder.as_ref().unwrap().follows(0));
    assert!(run.other_potential.iter().all(|value| *value == 0.0));
    assert!(run.potential.iter().any(|value| *value != 0.0));
}
