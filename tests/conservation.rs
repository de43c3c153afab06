//! What must not change: norm, energy, the past (reversibility), and the bits when steps are batched or a state is saved and loaded.

#![allow(clippy::unwrap_used, clippy::cast_precision_loss, reason = "tests on small grids")]

mod common;

use common::{Case, Feature, cases, sound};
use num_complex::Complex64;
use ripplon::field::{FieldData, Precision};
use ripplon::physics::reference::{distance, norm};
use ripplon::scene::Scenario;
use ripplon::solver::{Clock, EXACT, Edit, Solver, Taps};
use std::f64::consts::TAU;

fn bits(field: &FieldData) -> Vec<u64> {
    let pair = |re: u64, im: u64| [re, im];
    match field {
        FieldData::Complex64(v) => v
            .iter()
            .flat_map(|z| pair(z.re.to_bits().into(), z.im.to_bits().into()))
            .collect(),
        FieldData::Complex128(v) => v.iter().flat_map(|z| pair(z.re.to_bits(), z.im.to_bits())).collect(),
        FieldData::Float32(_) | FieldData::Float64(_) => panic!("a quantum field is complex"),
    }
}

fn advance(solver: &mut dyn Solver, steps: u64) {
    solver.advance(steps, &mut Taps::default()).unwrap();
}

/// Σ|ψ|² of single precision over 10⁴ steps. Rounding that falls the same way every step, 1e-8 to 2e-6 of |ψ|², would make 1e-4 to 2e-2. It is given back every 2 to 512 steps, of which looks every 509
/// steps see many a phase, and what has drifted since stays below 1e-5.
#[test]
fn norm_in_single_precision_does_not_drift() {
    for case in cases().into_iter().filter(|case| case.precision == Precision::Single) {
        for feature in [Feature::Plain, Feature::Periodic, Feature::Interacting] {
            if feature.refused(&case) {
                continue;
            }
            // One step costs seven times as much in three dimensions.
            let looks = if case.rank < 3 { 20 } else { 5 };
            let scenario = common::scenario(&case, feature, 0.1, "");
            let mut solver = common::build(&scenario);
            let start = norm(&solver.field().unwrap().to_complex128());
            for look in 1..=looks {
                advance(solver.as_mut(), 509);
                let drift = norm(&solver.field().unwrap().to_complex128()) / start - 1.0;
                assert!(drift.abs() < 1e-5, "{case} {feature:?}, look {look}: {drift:.2e}");
            }
        }
    }
}

/// Double precision: 200 steps of some tens of operations of 1e-16.
#[test]
fn norm_and_energy_in_double_precision() {
    for case in cases().into_iter().filter(|case| case.precision == Precision::Double) {
        for feature in Feature::ALL {
            if feature.refused(&case) || matches!(feature, Feature::Absorbing | Feature::Driven) {
                continue;
            }
            let scenario = common::scenario(&case, feature, 0.02, "");
            let mut solver = common::build(&scenario);
            let before = solver.observables().unwrap();
            advance(solver.as_mut(), 200);
            let after = solver.observables().unwrap();
            assert!(
                (after.norm / before.norm - 1.0).abs() < 1e-12,
                "{case} {feature:?}: norm {}",
                after.norm
            );
            // A symmetric splitting conserves a Hamiltonian that differs from H by O(Δtᵖ): E moves within that, at most s^(p+1)Δtᵖ/(p+1)!
            // with s ≤ 10 the norms of the parts; for order 1 that is 1.
            let allowed = match case.order {
                1 => 1.0,
                2 => 0.07,
                _ => 2e-3,
            };
            let energy = common::lattice(&scenario).energy(&common::start(&scenario), 0.0);
            assert!(
                (before.energy - energy).abs() < 1e-11,
                "{case} {feature:?}: energy {} {energy}",
                before.energy
            );
            assert!(
                (after.energy - energy).abs() < allowed,
                "{case} {feature:?}: {} {energy}",
                after.energy
            );
        }
    }
}

/// Absorption takes away what the non-Hermitian Hamiltonian says, and nothing is ever gained.
#[test]
fn absorption_only_takes() {
    for case in cases().into_iter().filter(|case| case.order != 4) {
        let scenario = common::scenario(&case, Feature::Absorbing, 0.05, "");
        let mut solver = common::build(&scenario);
        let mut last = solver.observables().unwrap().norm;
        for _ in 0..10 {
            advance(solver.as_mut(), 20);
            let now = solver.observables().unwrap().norm;
            assert!(now < last, "{case}: {last} then {now}");
            last = now;
        }
        let exact = norm(&common::exact(&scenario, Feature::Absorbing, 10.0));
        // Order 2 (and 1) at Δt = 0.05: of the order of (JΔt)² and JΔt of what was taken.
        let allowed = if case.order == 1 { 0.05 } else { 0.0025 };
        assert!((last - exact).abs() < allowed, "{case}: {last} instead of {exact}");
    }
}

/// S(−Δt)S(Δt) = 1 for even orders: forwards and back is the start, to rounding (√n growth).
#[test]
fn even_orders_run_back() {
    for case in cases().into_iter().filter(|case| case.order != 1) {
        for feature in Feature::ALL {
            if feature.refused(&case) || feature == Feature::Absorbing {
                continue;
            }
            let scenario = common::scenario(&case, feature, 0.1, "");
            let mut solver = common::build(&scenario);
            let start = solver.field().unwrap().to_complex128();
            advance(solver.as_mut(), 100);
            solver.edit(&scenario, &Edit::TimeStep(-0.1)).unwrap();
            advance(solver.as_mut(), 100);
            assert!(
                solver.clock().time.abs() < 1e-12,
                "{case}: the clock stands at {}",
                solver.clock().time
            );
            let substeps = if case.order == 4 { 5.0 } else { 1.0 };
            let allowed = match case.precision {
                Precision::Double => 1e-12,
                #[expect(clippy::cast_precision_loss, reason = "1 to 3")]
                Precision::Single => 3e-7 * (200.0 * substeps * 12.0 * case.rank as f64).sqrt(),
            };
            let miss = distance(&solver.field().unwrap().to_complex128(), &start);
            assert!(miss < allowed, "{case} {feature:?}: {miss:.2e}");
        }
    }
}

/// Without a field ψ* runs back: K S(Δt) K = S(−Δt).
#[test]
fn conjugation_turns_time_round() {
    for case in cases()
        .into_iter()
        .filter(|case| [2, EXACT].contains(&case.order) && case.precision == Precision::Double)
    {
        let scenario = common::scenario(&case, Feature::Plain, 0.1, "");
        let mut solver = common::build(&scenario);
        let start = solver.field().unwrap().to_complex128();
        advance(solver.as_mut(), 50);
        solver.edit(&scenario, &Edit::Conjugate).unwrap();
        advance(solver.as_mut(), 50);
        let back: Vec<_> = solver
            .field()
            .unwrap()
            .to_complex128()
            .iter()
            .map(num_complex::Complex::conj)
            .collect();
        assert!(
            distance(&back, &start) < 1e-12,
            "{case}: {:.2e}",
            distance(&back, &start)
        );
    }
}

/// 60 steps at once, one by one with pictures and sums in between, and through saved states: the same bits.
#[test]
fn batching_and_saving_change_no_bit() {
    for case in cases() {
        for feature in Feature::ALL {
            if feature.refused(&case) {
                continue;
            }
            let scenario = common::scenario(&case, feature, 0.1, "");
            let mut at_once = common::build(&scenario);
            advance(at_once.as_mut(), 60);
            let expected = bits(&at_once.field().unwrap());

            let mut one_by_one = common::build(&scenario);
            for step in 0..60 {
                advance(one_by_one.as_mut(), 1);
                if step % 7 == 0 {
                    one_by_one.observables().unwrap();
                    one_by_one.field().unwrap();
                }
            }
            assert!(
                bits(&one_by_one.field().unwrap()) == expected,
                "{case} {feature:?}: one by one"
            );

            let mut first = common::build(&scenario);
            advance(first.as_mut(), 23);
            let state = first.save().unwrap();
            let mut second = common::build(&scenario);
            advance(second.as_mut(), 5);
            second.load(&state).unwrap();
            assert_eq!(second.clock(), first.clock(), "{case}");
            advance(second.as_mut(), 37);
            assert!(
                bits(&second.field().unwrap()) == expected,
                "{case} {feature:?}: through a saved state"
            );
            assert_eq!(second.clock(), at_once.clock(), "{case}");
        }
    }
}

/// Detectors see every step and disturb none.
#[test]
fn detectors_see_every_step_and_change_no_bit() {
    let detector = "[[detector]]\nname = \"all\"\nmeasure = \"probability\"\n";
    for case in cases() {
        let bare = common::scenario(&case, Feature::Plain, 0.1, "");
        let watched = common::scenario(&case, Feature::Plain, 0.1, detector);
        let mut without = common::build(&bare);
        advance(without.as_mut(), 30);
        let mut with = common::build(&watched);
        let mut taps = Taps::new(watched.grid(), watched.detectors());
        with.advance(13, &mut taps).unwrap();
        with.advance(17, &mut taps).unwrap();
        assert!(
            bits(&with.field().unwrap()) == bits(&without.field().unwrap()),
            "{case}"
        );
        assert_eq!(taps.times().len(), 30, "{case}");
        // The norm: 30 steps of up to 5 substeps along 3 axes, 1e-7 each if all erred alike.
        assert!(
            taps.values(0).iter().all(|p| (p - 1.0).abs() < 5e-5),
            "{case}: {:?}",
            taps.values(0)
        );
    }
}

/// Acoustic rows: the energy swings within O(Δt^order) and does not drift; S(−Δt)S(Δt) = 1 and the reversed rate lead back to the start; batches, pictures and saved
/// states change no bit.
#[test]
fn acoustic_rows_conserve_run_back_and_keep_their_bits() {
    for case in sound::cases() {
        let single = case.precision == Precision::Single;
        for feature in sound::Feature::ALL {
            let Some(scenario) = sound::scenario(&case, feature, 0.1, "") else {
                continue;
            };
            let mut solver = sound::build(&scenario);
            let start = sound::values(solver.as_mut());
            let (mut swing, mut sound_swing) = (0.0f64, 0.0f64);
            solver.keep_velocity().unwrap();
            let before = solver.observables().unwrap();
            for _ in 0..20 {
                advance(solver.as_mut(), 10);
                let now = solver.observables().unwrap();
                sound_swing = sound_swing.max((now.energy / before.energy - 1.0).abs());
                swing = swing.max((now.invariant / before.invariant - 1.0).abs());
            }
            let lossless = feature != sound::Feature::Damped;
            if lossless {
                // Noise has most of its energy near the shortest waves, ωΔt ≤ 0.1 · 2√3 · 1.4: (ωΔt)²/8 for a splitting in halves; leapfrog's own energy is exact.
                let allowed = match (case.method.id, single) {
                    ("fdtd", false) => 1e-12,
                    ("fdtd", true) => 1e-4,
                    _ if case.order == 4 => 1e-3,
                    _ => 0.03,
                };
                assert!(swing < allowed, "{case} {feature:?}: {swing:.2e}");
                // The velocity of oscillators is integrated by the trapezoidal rule, of order 2 whatever the splitting's: (ωΔt)²/12 as above.
                let allowed = if case.method.id == "fdtd" { allowed } else { 0.03 };
                assert!(sound_swing < allowed, "{case} {feature:?}: {sound_swing:.2e}");
            }
            let at_once = sound::run(&scenario, 60);
            let mut pieces = sound::build(&scenario);
            for steps in [1, 1, 5, 16] {
                advance(pieces.as_mut(), steps);
                pieces.observables().unwrap();
            }
            let state = pieces.save().unwrap();
            let mut other = sound::build(&scenario);
            advance(other.as_mut(), 3);
            other.load(&state).unwrap();
            assert_eq!(other.clock(), pieces.clock());
            advance(other.as_mut(), 37);
            assert!(
                sound::values(other.as_mut()) == at_once,
                "{case} {feature:?}: other bits"
            );
            if !lossless {
                continue;
            }
            // Rounding of 400 steps, as in `rounding`.
            let allowed = if single { sound::rounding(&case, 400) } else { 1e-11 };
            solver.edit(&scenario, &Edit::TimeStep(-0.1)).unwrap();
            advance(solver.as_mut(), 200);
            let miss = sound::distance(&sound::values(solver.as_mut()), &start);
            assert!(miss < allowed, "{case} {feature:?}: {miss:.2e} after −Δt");
            let mut solver = sound::build(&scenario);
            advance(solver.as_mut(), 200);
            solver.edit(&scenario, &Edit::Conjugate).unwrap();
            advance(solver.as_mut(), 200);
            let miss = sound::distance(&sound::values(solver.as_mut()), &start);
            assert!(
                miss < allowed,
                "{case} {feature:?}: {miss:.2e} after turning the rate round"
            );
        }
    }
}

/// 10⁵ steps. Rounded coefficients change the norm by some ε a step, the same way: 4ε · 10⁵ = 9e-11 in double; in single at most 64 steps of it, 64ε = 8e-6,
/// until the norm is given back.
#[test]
fn crank_nicolson_keeps_the_norm_for_a_hundred_thousand_steps() {
    let lines =
        |case: &common::Case| case.method.id == "crank-nicolson" && (case.rank == 1 || case.variant == "thomas");
    for case in cases().into_iter().filter(lines) {
        let allowed = if case.precision == Precision::Double {
            2e-10
        } else {
            1e-5
        };
        for feature in [Feature::Plain, Feature::Periodic] {
            let scenario = common::scenario(&case, feature, 0.1, "");
            let drift = norm(&common::run(&scenario, 100_000)) / norm(&common::start(&scenario)) - 1.0;
            assert!(drift.abs() < allowed, "{case} {feature:?}: {drift:.2e}");
        }
    }
}

/// Detectors of the flux through the line or plane at a site of each axis.
fn fluxes(size: &[usize], at: impl Fn(usize) -> usize) -> String {
    let of = |axis: usize| {
        let (mut from, mut to) = (vec![0; size.len()], size.iter().map(|n| n - 1).collect::<Vec<_>>());
        (from[axis], to[axis]) = (at(axis), at(axis));
        format!(
            "[[detector]]\nname = \"{axis} at {}\"\nmeasure = \"flux\"\nfrom = {from:?}\nto = {to:?}\n",
            at(axis)
        )
    };
    (0..size.len()).map(of).collect()
}

/// What flows through the bonds that close a torus is 2J Im(ψₙ* ψ₀ e^{iφ}) of the field after the steps; a packet stands on the seam of every axis.
#[test]
fn currents_go_on_round_a_ring() {
    let check = |case: &Case, scenario: &Scenario, flux: f64| {
        let mut solver = common::build(scenario);
        let mut taps = Taps::of(scenario);
        solver.advance(3, &mut taps).unwrap();
        let (psi, grid) = (solver.field().unwrap().to_complex128(), scenario.grid());
        let mut most: f64 = 0.0;
        for axis in 0..case.rank {
            let expected: f64 = (0..psi.len())
                .map(|n| grid.site(n))
                .filter(|site| site[axis] + 1 == grid.size()[axis])
                .map(|site| {
                    let mut first = site;
                    first[axis] = 0;
                    let turn = if axis == 0 { TAU * flux * site[1] as f64 } else { 0.0 };
                    2.0 * (psi[grid.index(site)].conj() * psi[grid.index(first)] * Complex64::cis(turn)).im
                })
                .sum();
            let found = *taps.values(axis).last().unwrap();
            // |ψ|² is 1 in all: a rounding of ψ and one of each of the products and sums.
            let tolerance = if case.precision == Precision::Double {
                1e-14
            } else {
                4e-7
            };
            assert!(
                (found - expected).abs() < tolerance,
                "{case}, axis {axis}, flux {flux}: {found:e} for {expected:e}"
            );
            most = most.max(expected.abs());
        }
        assert!(most > 1e-2, "{case}: {most}");
    };
    for case in cases() {
        let size = common::size(case.rank, Feature::Periodic);
        let center: Vec<f64> = size.iter().map(|n| *n as f64 * 0.4).collect();
        let plain = common::scene(&case, Feature::Periodic, 0.05, &fluxes(size, |axis| size[axis] - 1)).replace(
            &format!("center = {center:?}"),
            &format!("center = {:?}", vec![0.0; size.len()]),
        );
        check(&case, &common::read(&plain).unwrap(), 0.0);
        if !Feature::Flux.refused(&case) {
            let flux = 3.0 / size[1] as f64;
            let turned = plain.replace("flux = 0.0", &format!("flux = {flux:?}"));
            check(&case, &common::read(&turned).unwrap(), flux);
        }
    }
}

/// A torus has no seam: a wave moved along an axis by an even number of sites sends through the bonds that close it what it sent through others before.
#[test]
fn sound_flows_on_round_a_ring() {
    for case in sound::cases() {
        let size = sound::size(case.rank, sound::Feature::Periodic);
        let moved: Vec<usize> = size.iter().map(|n| n / 4 * 2).collect();
        let detectors = fluxes(size, |axis| size[axis] - 1) + &fluxes(size, |axis| size[axis] - 1 - moved[axis]);
        let Some(scenario) = sound::scenario(&case, sound::Feature::Periodic, 0.4, &detectors) else {
            continue;
        };
        let (grid, noise) = (scenario.grid(), sound::noise(&scenario));
        // Records of all detectors from noise that is moved back along an axis, or from the noise itself.
        let records = |back: Option<usize>| {
            let pressure = (0..noise.len()).map(|n| {
                let mut site = grid.site(n);
                if let Some(axis) = back {
                    site[axis] = (site[axis] + moved[axis]) % size[axis];
                }
                noise[grid.index(site)]
            });
            let mut solver = common::build(&scenario);
            let clock = Clock::at_start(solver.clock().time_step);
            solver
                .set_field(&FieldData::Float64(pressure.collect()), clock)
                .unwrap();
            let mut taps = Taps::of(&scenario);
            solver.advance(6, &mut taps).unwrap();
            (0..2 * case.rank).map(|n| taps.values(n).to_vec()).collect::<Vec<_>>()
        };
        let whole = records(None);
        for axis in 0..case.rank {
            let (seam, inside) = (&whole[axis], &records(Some(axis))[case.rank + axis]);
            // p·v of each site of the line is below 1.
            let line: usize = size.iter().product::<usize>() / size[axis];
            let tolerance = line as f64 * sound::rounding(&case, 6);
            for (seam, inside) in seam.iter().zip(inside) {
                assert!(
                    (seam - inside).abs() < tolerance,
                    "{case}, axis {axis}: {seam:e}, {inside:e}"
                );
            }
            let most = seam.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
            assert!(most > 10.0 * tolerance, "{case}: {most:e}");
        }
    }
}
