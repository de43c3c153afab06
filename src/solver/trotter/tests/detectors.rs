//! Records: against formulas on the whole field, and the same bits however steps are fused and blocks are cut.

use super::*;
use crate::physics::{Detector, Measure, Reading, Region};

fn detector(region: Region, measure: Measure) -> Detector {
    Detector {
        name: format!("{measure:?}"),
        region,
        measure,
        reading: Reading::Itself,
        over: None,
        every: 1,
        direction: [0.0; 3],
    }
}

/// Every measure on regions inside, across blocks, at the edges, of one site, of none, and everywhere. The spacing is ½.
fn detectors(grid: &Grid) -> Vec<Detector> {
    #[expect(clippy::cast_precision_loss, reason = "a small grid")]
    let top = grid.size().map(|n| (n - 1) as f64 * 0.5);
    let part = |from: f64, to: f64| Region::Box {
        min: top.map(|t| from * t),
        max: top.map(|t| to * t),
    };
    let mut all = Vec::new();
    for measure in [Measure::Probability, Measure::Peak, Measure::Energy, Measure::Flux] {
        all.push(detector(part(0.2, 0.55), measure));
        all.push(detector(part(0.0, 0.4), measure));
        all.push(detector(part(0.6, 1.0), measure));
        all.push(detector(Region::Everywhere, measure));
        all.push(detector(Region::Point(top.map(|t| 0.7 * t)), measure));
    }
    all.push(detector(Region::Point(top.map(|t| 0.3 * t)), Measure::Value));
    all.push(detector(Region::Point(top), Measure::Value));
    for along in 0..grid.rank() {
        let mut from = top.map(|t| 0.5 * t);
        let mut to = from;
        from[along] = 0.0;
        to[along] = top[along];
        all.push(detector(Region::Line { from, to }, Measure::Flux));
        from[along] = 0.4 * top[along];
        all.push(detector(Region::Line { from, to }, Measure::Flux));
    }
    // Between two sites: no site at all.
    all.push(detector(part(0.501, 0.502), Measure::Probability));
    all
}

/// What a tap should record of ψ.
fn expected(lattice: &Lattice, tap: &crate::solver::taps::Tap, psi: &[Complex64], time: f64) -> f64 {
    let grid = lattice.grid();
    let inside = |n: usize| {
        let site = grid.site(n);
        (0..3).all(|axis| (tap.lo[axis]..tap.hi[axis]).contains(&site[axis]))
    };
    let sites = (0..psi.len()).filter(|n| inside(*n));
    match tap.measure {
        Measure::Value | Measure::Velocity => psi[grid.index(tap.lo)].norm(),
        Measure::Peak => sites.map(|n| psi[n].norm_sqr()).fold(0.0, f64::max),
        Measure::Energy => {
            let h = lattice.apply(psi, time);
            let half = 0.5 * lattice.quantum().interaction;
            let density = |n: usize| (psi[n].conj() * h[n]).re - half * psi[n].norm_sqr().powi(2);
            sites.map(density).sum::<f64>() * tap.weight
        }
        Measure::Flux => {
            let bonds = [0, 1].map(|parity| lattice.bonds(tap.across, parity));
            let current: f64 = (bonds.iter().flatten().filter(|bond| inside(bond.from)))
                .map(|bond| bond.strength * (psi[bond.from].conj() * bond.phase.conj() * psi[bond.to]).im)
                .sum();
            2.0 * lattice.quantum().hopping * current * grid.cell_volume()
        }
        Measure::Probability | Measure::Pressure => sites.map(|n| psi[n].norm_sqr()).sum::<f64>() * tap.weight,
    }
}

fn check_records<T: Blockwise>(case: &Case) {
    let steps = 7;
    let grid = case.grid();
    let lattice = case.lattice();
    let found = detectors(&grid);
    let mut records: Vec<(&str, Taps)> = Vec::new();
    for ((mut run, mut single), mut bare) in (runs::<T>(case).into_iter().zip(runs::<T>(case))).zip(runs::<T>(case)) {
        let name = label(&run, case);
        let mut taps = Taps::new(&grid, &found);
        run.advance(steps, &mut taps).unwrap();
        bare.advance(steps, &mut Taps::default()).unwrap();
        assert!(
            run.field().unwrap() == bare.field().unwrap(),
            "watching changes bits: {name}"
        );
        let mut pieces = Taps::new(&grid, &found);
        let mut peaks = vec![0.0f64; found.len()];
        for step in 0..usize::try_from(steps).unwrap() {
            single.advance(1, &mut pieces).unwrap();
            let psi = single.field().unwrap().to_complex128();
            let scale = norm(&psi).max(1.0);
            // Squares are rounded to T, and so is ψ between the steps and the sums.
            let epsilon = if T::PRECISION == Precision::Single { 3e-6 } else { 1e-13 };
            for (n, tap) in taps.taps().iter().enumerate() {
                let mut value = expected(&lattice, tap, &psi, single.clock().time);
                if tap.measure == Measure::Peak {
                    peaks[n] = peaks[n].max(value);
                    value = peaks[n];
                }
                let seen = taps.values(n)[step];
                assert!((seen - value).abs() < epsilon * scale, "{seen} {value} {tap:?}: {name}");
            }
        }
        assert!(taps == pieces, "batches change records: {name}");
        records.push((run.report().variant, taps));
    }
    // Other variants round otherwise.
    let blocked: Vec<&Taps> = (records.iter())
        .filter(|(variant, _)| *variant == "blocked")
        .map(|(_, taps)| taps)
        .collect();
    assert!(case.bonds || blocked.len() > 1);
    assert!(
        blocked.iter().all(|taps| *taps == blocked[0]),
        "blocks change records: {case:?}"
    );
}

pub(super) fn check_records_of_both(case: &Case) {
    check_records::<f32>(case);
    check_records::<f64>(case);
}

#[test]
fn records_at_all_ranks_and_orders() {
    for size in [&[200][..], &[3, 3], &[301, 27], &[70, 13, 9]] {
        for order in [1, 2, 4] {
            check_records_of_both(&Case::new(size, order));
        }
    }
}

#[test]
fn records_on_a_torus() {
    for size in [&[130][..], &[2, 2], &[150, 38], &[34, 12, 8]] {
        check_records_of_both(&Case {
            edges: [Edge::Periodic; 3],
            ..Case::new(size, 2)
        });
    }
}

#[test]
fn records_with_flux_walls_absorption_and_interaction() {
    for size in [&[150, 40][..], &[80, 9, 7]] {
        let case = Case::new(size, 2);
        check_records_of_both(&Case {
            walls: true,
            ..case.clone()
        });
        check_records_of_both(&Case {
            flux: 0.1,
            ..case.clone()
        });
        check_records_of_both(&Case {
            interaction: 0.4,
            ..case.clone()
        });
        check_records_of_both(&Case {
            drive: true,
            ..case.clone()
        });
        check_records_of_both(&Case {
            edges: [Edge::Absorb; 3],
            absorb: true,
            dt: -0.13,
            ..case.clone()
        });
        check_records_of_both(&Case {
            edges: [Edge::Absorb; 3],
            interaction: 0.4,
            ..case
        });
    }
}

#[test]
fn records_where_bonds_differ() {
    for (size, edge) in [
        (&[150][..], Edge::Wall),
        (&[150, 40], Edge::Wall),
        (&[34, 12], Edge::Periodic),
        (&[80, 9, 7], Edge::Wall),
    ] {
        check_records_of_both(&Case {
            bonds: true,
            walls: true,
            edges: [edge; 3],
            ..Case::new(size, 2)
        });
    }
}

/// Copies larger than the room that buffers may take: amplitudes are then read from the field, one step at a time.
#[test]
fn records_of_more_energy_than_buffers_hold() {
    let case = Case::new(&[420, 300], 2);
    check_records::<f32>(&case);
}

#[test]
fn editing_the_medium_renews_what_detectors_know() {
    let case = Case {
        edges: [Edge::Absorb; 3],
        ..Case::new(&[90, 40], 2)
    };
    let found = [detector(Region::Everywhere, Measure::Probability)];
    for mut run in runs::<f64>(&case) {
        let mut taps = Taps::new(&case.grid(), &found);
        run.advance(2, &mut taps).unwrap();
        run.set_step(2.0 * case.dt);
        run.advance(2, &mut taps).unwrap();
        let seen = run.observables().unwrap().norm;
        assert!((taps.values(0)[3] / seen - 1.0).abs() < 1e-13);
    }
}
