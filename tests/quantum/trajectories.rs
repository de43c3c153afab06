//! Bohm's trajectories of whole runs: against exact ones, whatever the run is cut into, back by an echo, on from a checkpoint.

use crate::common;
use ripplon::engine::Engine;
use ripplon::field::FieldData;
use ripplon::grid::SiteBox;
use ripplon::physics::{Currents, trajectory};
use ripplon::solver::{Taps, read_scene_text};
use std::sync::Arc;

fn engine(text: &str) -> Engine {
    let (_, scenario) = read_scene_text(text, None, &[]).unwrap();
    Engine::new(Arc::new(scenario)).unwrap()
}

/// A Gaussian of σ = 12 sites on a line of 401, and what follows.
fn line(rest: &str) -> String {
    format!(
        "format = 1\ntitle = \"t\"\n[grid]\nsize = [401]\nspacing = 0.1\n[quantum]\nmass = 1.0\n[time]\nstep = 0.002\nend = 2.0\n\
         [solver]\nprecision = \"double\"\n[[packet]]\ncenter = 20.0\nwidth = 1.2\nmomentum = 0.0\n{rest}"
    )
}

/// x(t) − c = (x(0) − c) σ(t)/σ(0). The lattice differs from the continuum by (a/σ)²/24 and interpolation by (a/σ)²/8 of a way of 0.5: some 5e-4; σ(2)/σ(0) is 1.218.
#[test]
fn a_free_gaussian_carries_its_trajectories_with_its_width() {
    let mut engine = engine(&line(
        "[[trajectory]]\nname = \"p\"\nfrom = 17.0\nto = 23.0\ncount = 5\n[[trajectory]]\nname = \"late\"\nfrom = 21.0\nat = 1.0\n",
    ));
    engine.advance(400).unwrap();
    assert_eq!(engine.paths().by_name("late.x"), None, "its time has not come");
    engine.advance(600).unwrap();
    let spread = |t: f64| (1.0 + (t / (2.0 * 1.44)).powi(2)).sqrt();
    for n in 0..5 {
        let start = -3.0 + 1.5 * f64::from(n);
        let found = engine.paths().by_name(&format!("p {}.x", n + 1)).unwrap();
        let exact = 20.0 + start * spread(2.0);
        assert!((found - exact).abs() < 1e-3, "{found} is not {exact}");
    }
    let late = engine.paths().by_name("late.x").unwrap();
    let exact = 20.0 + spread(2.0) / spread(1.0);
    assert!((late - exact).abs() < 1e-3, "{late} is not {exact}");
}

/// One call of 60 steps, 60 calls of one, a snapshot gone back to, and a checkpoint: the same bits.
#[test]
fn how_a_run_is_cut_changes_nothing() {
    let text = line("[[trajectory]]\nname = \"p\"\nfrom = 18.5\n");
    let place = |engine: &Engine| engine.paths().now()[0][0].to_bits();
    let mut whole = engine(&text);
    whole.advance(60).unwrap();
    let mut single = engine(&text);
    for _ in 0..60 {
        single.advance(1).unwrap();
    }
    assert_eq!(place(&single), place(&whole));
    let mut back = engine(&text);
    back.advance(20).unwrap();
    back.snapshot().unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    back.save_checkpoint(file.path()).unwrap();
    back.advance(30).unwrap();
    back.restore().unwrap();
    assert_eq!(back.paths().times().len(), 21);
    back.advance(40).unwrap();
    assert_eq!(place(&back), place(&whole));
    let scenario = Arc::clone(whole.scenario());
    let (mut resumed, remarks) = Engine::resume(scenario, file.path()).unwrap();
    assert!(remarks.is_empty(), "{remarks:?}");
    resumed.advance(40).unwrap();
    assert_eq!(place(&resumed), place(&whole));
    assert_eq!(resumed.paths(), whole.paths());
}

/// Steps that are taken together while the method hears the sites around the paths, and steps taken one by one: the same bits, whatever else is heard, in every variant, across the seam of a ring,
/// for paths that begin on the way or come near to an edge.
#[test]
fn steps_taken_together_follow_the_same_paths() {
    let scene = |solver: &str| {
        format!(
            "format = 1\ntitle = \"t\"\n[grid]\nsize = [160, 120]\nspacing = 0.5\nedges = [\"periodic\", \"absorb\"]\nabsorb_width = 12\n\
             [quantum]\nmass = 1.0\n[time]\nstep = 0.02\nend = 4.0\n[solver]\nmethod = \"trotter\"\nbackend = \"cpu\"\n{solver}\n\
             [[packet]]\ncenter = [76.0, 30.0]\nwidth = [2.0, 2.0]\nmomentum = [2.0, 0.4]\n[[packet]]\ncenter = [70.0, 30.0]\nwidth = [3.0, 2.0]\n\
             [[layer]]\nsets = \"potential\"\nshape = \"disk\"\ncenter = [78.0, 31.0]\nradius = 2.0\nvalue = 1.0\n\
             [[detector]]\nname = \"all\"\nmeasure = \"probability\"\nregion = {{ min = [0.0, 0.0], max = [79.5, 59.5] }}\n\
             [[trajectory]]\nname = \"p\"\nfrom = [76.0, 28.0]\nto = [79.0, 31.0]\ncount = 4\n[[trajectory]]\nname = \"late\"\nfrom = [75.0, 30.0]\nat = 0.41\n"
        )
    };
    for solver in [
        "variant = \"naive\"\nprecision = \"double\"",
        "variant = \"vector\"\nprecision = \"single\"",
        "variant = \"blocked\"\nprecision = \"single\"",
        "variant = \"blocked\"\nprecision = \"double\"\norder = 4",
    ] {
        let text = scene(solver);
        let mut together = engine(&text);
        together.advance(101).unwrap();
        let mut single = engine(&text);
        for _ in 0..101 {
            single.advance(1).unwrap();
        }
        let bits = |engine: &Engine| -> Vec<[u64; 3]> {
            let rows = (0..102).flat_map(|n| engine.paths().row(n).to_vec());
            rows.map(|at| at.map(f64::to_bits)).collect()
        };
        assert_eq!(together.paths().times(), single.paths().times(), "{solver}");
        assert_eq!(bits(&together), bits(&single), "{solver}");
        assert_eq!(together.taps().values(0), single.taps().values(0), "{solver}");
        // They go somewhere, and one has crossed the seam.
        let [first, last] = [0, 101].map(|row| together.paths().row(row)[3]);
        assert!(first[0] < 79.5 && last[0] > 80.0, "{first:?} {last:?}");
        let late = together.paths().by_name("late.x").unwrap();
        assert!((late - 75.0).abs() > 0.05, "{late}");
    }
}

/// Between predictions three steps apart two steps are taken together, since three reach more than an eighth of the grid, and one by itself: each
/// begins with the field of its own time.
#[test]
fn steps_taken_together_and_alone_in_turn_follow_the_same_paths() {
    let expected = (1..30).fold(String::new(), |all, n| {
        let at = 0.06 * f64::from(n);
        all + &format!("[[expect]]\nobservable = \"norm\"\nat = {at:?}\nvalue = 1.0\ntolerance = 0.1\n")
    });
    let text = format!(
        "format = 1\n[grid]\nsize = [40, 40]\nspacing = 0.5\n[quantum]\nmass = 1.0\n[time]\nstep = 0.02\nend = 2.0\n\
         [solver]\nmethod = \"trotter\"\nbackend = \"cpu\"\nprecision = \"double\"\n\
         [[packet]]\ncenter = [8.0, 9.0]\nwidth = [1.5, 2.0]\nmomentum = [2.0, 0.4]\n\
         [[trajectory]]\nname = \"p\"\nfrom = [8.0, 9.5]\n{expected}"
    );
    let mut whole = engine(&text);
    whole.advance(90).unwrap();
    let mut single = engine(&text);
    for _ in 0..90 {
        single.advance(1).unwrap();
    }
    assert_eq!(whole.paths(), single.paths());
}

/// A method that is exact for every Δt is so for the field alone: between its steps trajectories take the field as linear in time. Its automatic step, 2.5 without
/// them, is JΔt = 0.1 with them; of order 2, with the error of a 2.5 times shorter one to compare with.
#[test]
fn an_exact_method_takes_steps_that_trajectories_can_follow() {
    let text = |step: &str| {
        format!(
            "format = 1\n[grid]\nsize = [200]\nspacing = 0.5\n[quantum]\nmass = 1.0\n[time]\n{step}end = 40.0\n\
             [solver]\nmethod = \"chebyshev\"\nbackend = \"cpu\"\nprecision = \"double\"\n\
             [[packet]]\ncenter = 30.0\nwidth = 3.0\nmomentum = 1.0\n[[packet]]\ncenter = 60.0\nwidth = 3.0\nmomentum = -1.0\n\
             [[trajectory]]\nname = \"a\"\nfrom = 26.0\nto = 34.0\ncount = 5\n"
        )
    };
    let ends = |step: &str| -> Vec<f64> {
        let mut engine = engine(&text(step));
        let steps = engine.steps_until(40.0).unwrap();
        engine.advance(steps).unwrap();
        engine.paths().now().iter().map(|at| at[0]).collect()
    };
    for (found, fine) in ends("").iter().zip(ends("step = 0.02\n")) {
        assert!((found - fine).abs() < 0.02, "{found} for {fine}");
    }
}

/// ψ → ψ* turns every velocity round: the way back ends where it began. The scheme is of order 4 in a field that is linear in time, whose way back is its mirror image: what is left is the
/// Runge–Kutta scheme's own (vΔt/σ)⁵, far below 1e-6.
#[test]
fn an_echo_takes_trajectories_back() {
    let mut engine = engine(&line(
        "[mirror]\nmethod = \"echo\"\nat = 0.4\n[[trajectory]]\nname = \"p\"\nfrom = 18.5\n",
    ));
    engine.advance(200).unwrap();
    let turned = engine.paths().by_name("p.x").unwrap();
    assert!(turned < 18.498, "{turned}");
    engine.advance(200).unwrap();
    let found = engine.paths().by_name("p.x").unwrap();
    assert!((found - 18.5).abs() < 1e-6, "{found}");
}

/// Two beams in phase: what begins above the axis stays above it, and what begins on it stays there.
#[test]
fn nothing_crosses_an_axis_of_symmetry() {
    let mut engine = engine(
        "format = 1\ntitle = \"t\"\n[grid]\nsize = [40, 61]\nspacing = 1.0\n[quantum]\nmass = 0.5\n[time]\nstep = 0.1\nend = 20.0\n\
         [solver]\nprecision = \"double\"\n[[packet]]\ncenter = [15.0, 22.0]\nwidth = [4.0, 3.0]\nmomentum = [0.3, 0.0]\n\
         [[packet]]\ncenter = [15.0, 38.0]\nwidth = [4.0, 3.0]\nmomentum = [0.3, 0.0]\n\
         [[trajectory]]\nname = \"on\"\nfrom = [15.0, 30.0]\n[[trajectory]]\nname = \"up\"\nfrom = [15.0, 31.0]\nto = [15.0, 40.0]\ncount = 6\n",
    );
    engine.advance(200).unwrap();
    // The pairs of sites are no mirror image of themselves: of second order in Δt, some (JΔt)² of a site in the way of 5.
    assert!((engine.paths().by_name("on.y").unwrap() - 30.0).abs() < 0.05);
    for n in 0..engine.paths().times().len() {
        let row = engine.paths().row(n);
        let ys: Vec<f64> = row[1..].iter().map(|at| at[1]).collect();
        assert!(ys[0] > 30.0 && ys.windows(2).all(|pair| pair[0] < pair[1]), "{ys:?}");
    }
}

/// Two components on a line of 201 sites, which `layers` tell apart, with a packet whose shares of them `component` and `width` give.
fn two(component: f64, width: f64, layers: &str) -> String {
    format!(
        "format = 1\ntitle = \"t\"\n[grid]\nsize = [201, 2]\nspacing = 0.1\n[quantum]\nmass = 1.0\n[time]\nstep = 0.002\nend = 1.0\n[solver]\nmethod = \"trotter\"\nbackend = \"cpu\"\n\
         precision = \"double\"\n[[packet]]\ncenter = [10.0, {component}]\nwidth = [0.8, {width}]\nmomentum = [1.0, 0.0]\n{layers}\
         [[trajectory]]\nname = \"p\"\nfrom = [8.5, 0.0]\nto = [11.5, 0.1]\ncount = 3\n"
    )
}

/// Two components that are the same are one, whatever couples them: the path is that of a line, wherever it begins along their axis, along which it has no coordinate. Rounding of 500 steps.
#[test]
fn equal_components_are_followed_as_one() {
    let mut line = engine(
        "format = 1\ntitle = \"t\"\n[grid]\nsize = [201]\nspacing = 0.1\n[quantum]\nmass = 1.0\n[time]\nstep = 0.002\nend = 1.0\n[solver]\nmethod = \"trotter\"\nbackend = \"cpu\"\n\
         precision = \"double\"\n[[packet]]\ncenter = 10.0\nwidth = 0.8\nmomentum = 1.0\n[[trajectory]]\nname = \"p\"\nfrom = 8.5\nto = 11.5\ncount = 3\n",
    );
    line.advance(500).unwrap();
    for coupling in [0.0, 0.3] {
        let hopping = format!("[[layer]]\nsets = \"hopping\"\naxis = \"y\"\nvalue = {coupling}\n");
        let mut both = engine(&two(0.05, 1e3, &hopping));
        both.advance(500).unwrap();
        for (own, found) in line.paths().now().iter().zip(both.paths().now()) {
            assert!((own[0] - found[0]).abs() < 1e-9, "{found:?} is not {own:?}");
            assert!((own[0] - 8.5).abs() > 0.2, "it moves");
        }
        let along: Vec<f64> = both.paths().now().iter().map(|at| at[1]).collect();
        assert_eq!(along, [0.0, 0.05, 0.1]);
    }
    let asked = two(
        0.05,
        1e3,
        "[[expect]]\nobservable = \"p 1.y\"\nat = 1.0\nvalue = 0.0\ntolerance = 0.1\n",
    );
    let said = read_scene_text(&asked, None, &[]).map(|_| ()).unwrap_err().to_string();
    assert!(said.contains("no observable"), "{said}");
}

/// Components in unequal shares, pushed apart and coupled: dx/dt = (j₁ + j₂)/(ρ₁ + ρ₂), here by Heun's scheme from the fields of the steps, of second order as well: some (vΔt/σ)² of a way of 2.
#[test]
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "places on the grid"
)]
fn unequal_components_are_followed_by_their_sums() {
    let layers = "[[layer]]\nsets = \"hopping\"\naxis = \"y\"\nvalue = 0.01\n[[layer]]\nsets = \"potential\"\nvalue = \"1.5*(x - 10)*(20*y - 1)\"\n";
    let mut engine = engine(&two(0.0, 0.1, layers));
    let mut places = [8.5, 10.0, 11.5];
    // 2Ja = 1/ma.
    let velocity = |psi: &FieldData, x: f64| {
        let linear = |at: f64, value: &dyn Fn(usize) -> f64| {
            let low = at.floor();
            let n = low as usize;
            value(n) + (at - low) * (value(n + 1) - value(n))
        };
        let all = |value: &dyn Fn(usize) -> f64, at: f64| linear(at, &|n| value(n) + value(201 + n));
        let density = all(&|n| psi.at(n).norm_sqr(), x / 0.1);
        let current = all(&|n| 10.0 * (psi.at(n).conj() * psi.at(n + 1)).im, x / 0.1 - 0.5);
        current / density
    };
    let mut before = engine.field().unwrap();
    for _ in 0..500 {
        engine.advance(1).unwrap();
        let after = engine.field().unwrap();
        for x in &mut places {
            let first = velocity(&before, *x);
            *x += 0.001 * (first + velocity(&after, *x + 0.002 * first));
        }
        before = after;
    }
    let shares = [0, 201].map(|from| (from..from + 201).map(|n| before.at(n).norm_sqr()).sum::<f64>() * 0.01);
    assert!(
        (shares[0] + shares[1] - 1.0).abs() < 1e-9 && shares[1] > 0.1 && shares[0] > 1.3 * shares[1],
        "{shares:?}"
    );
    for (own, found) in places.iter().zip(engine.paths().now()) {
        assert!((own - found[0]).abs() < 1e-4, "{} is not {own}", found[0]);
    }
}

#[test]
fn what_is_wrong_with_trajectories_is_said() {
    let faults = |rest: &str| {
        let read = read_scene_text(&line(rest), None, &[]);
        read.map(|_| ()).unwrap_err().to_string()
    };
    for (rest, words) in [
        ("[[trajectory]]\nname = \"p\"\nfrom = 90.0\n", "outside the grid"),
        ("[[trajectory]]\nname = \"a,b\"\nfrom = 9.0\n", "not a name"),
        ("[[trajectory]]\nname = \"p\"\nfrom = 9.0\ncount = 3\n", "add `to`"),
        (
            "[[trajectory]]\nname = \"p\"\nfrom = 9.0\nto = 10.0\ncount = 100000000000\n",
            "at most 1000",
        ),
        (
            "[[trajectory]]\nname = \"p\"\nfrom = 9.0\n[[trajectory]]\nname = \"p\"\nfrom = 8.0\n",
            "two trajectories",
        ),
        (
            "[[expect]]\nobservable = \"p.x\"\nat = 1.0\nvalue = 1.0\ntolerance = 0.1\n",
            "no observable",
        ),
    ] {
        let said = faults(rest);
        assert!(said.contains(words), "{said}");
    }
}

/// Paths are followed in the sites around them, where a method reaches them: on a ring whose seam they cross, as with the whole field of every step; what rounds differently is 1e-16 a step.
#[test]
fn sites_around_a_path_are_enough() {
    let text = "format = 1\ntitle = \"t\"\n[grid]\nsize = [60, 40]\nspacing = 0.5\nedges = [\"periodic\", \"absorb\"]\nabsorb_width = 6\n\
                [quantum]\nmass = 1.0\n[time]\nstep = 0.02\nend = 4.0\n[solver]\nmethod = \"trotter\"\nbackend = \"cpu\"\nprecision = \"double\"\n\
                [[packet]]\ncenter = [26.0, 10.0]\nwidth = [2.0, 2.0]\nmomentum = [2.0, 0.4]\n[[packet]]\ncenter = [20.0, 10.0]\nwidth = [3.0, 2.0]\n\
                [[trajectory]]\nname = \"p\"\nfrom = [25.0, 7.0]\nto = [28.0, 13.0]\ncount = 5\n";
    let (_, scenario) = read_scene_text(text, None, &[]).unwrap();
    let currents = Currents::of(&scenario.model().quantum().unwrap(), scenario.medium());
    let mut engine = engine(text);
    let mut places: Vec<[f64; 3]> = engine.paths().now().to_vec();
    let mut before = engine.field().unwrap();
    for _ in 0..200 {
        engine.advance(1).unwrap();
        let after = engine.field().unwrap();
        for place in &mut places {
            *place = trajectory::step(&currents, [&before, &after], 0.02, *place);
        }
        before = after;
    }
    let mut crossed = 0;
    for (own, found) in places.iter().zip(engine.paths().now()) {
        crossed += usize::from(found[0] > 30.0);
        for axis in 0..2 {
            assert!((own[axis] - found[axis]).abs() < 1e-10, "{found:?} is not {own:?}");
        }
    }
    assert!(crossed > 0, "none has crossed the seam");
}

/// A site has the same bits in every box, and those of the whole field but for what rounding carries along a row; in single precision, where half a phase with absorption lies between what is stepped and ψ.
#[test]
fn a_site_is_the_same_in_every_box() {
    let text = "format = 1\n[grid]\nsize = [50, 30]\nspacing = 1.0\nedges = [\"periodic\", \"absorb\"]\nabsorb_width = 8\n[quantum]\nmass = 0.5\n\
                [time]\nstep = 0.1\n[solver]\nmethod = \"trotter\"\nbackend = \"cpu\"\nvariant = \"VARIANT\"\n\
                [[packet]]\ncenter = [25.0, 12.0]\nwidth = [6.0, 5.0]\nmomentum = [0.7, 0.3]\n[[layer]]\nsets = \"potential\"\nvalue = \"0.01*x + 0.02*sin(y)\"\n";
    for variant in ["naive", "vector", "blocked"] {
        let scenario = common::read(&text.replace("VARIANT", variant)).unwrap();
        let grid = scenario.grid();
        let mut solver = common::build(&scenario);
        solver.advance(40, &mut Taps::default()).unwrap();
        let whole = solver.field().unwrap();
        let boxes = [
            ([45, 3, 0], [10, 9, 1]),
            ([40, 0, 0], [20, 30, 1]),
            ([0, 8, 0], [50, 2, 1]),
            ([17, 29, 0], [1, 1, 1]),
        ];
        let boxes = boxes.map(|(first, size)| SiteBox { first, size });
        let parts = solver.field_in(&boxes).unwrap().unwrap();
        let mut seen = vec![None; grid.sites()];
        for (sites, part) in boxes.iter().zip(&parts) {
            assert_eq!(part.len(), sites.sites());
            for index in 0..grid.sites() {
                let Some(at) = sites.index(grid, grid.site(index)) else {
                    continue;
                };
                let value = part.at(at);
                assert!((value - whole.at(index)).norm() < 1e-7, "{variant}: site {index}");
                let before = *seen[index].get_or_insert(value);
                assert_eq!(before, value, "{variant}: site {index} in two boxes");
            }
        }
        assert_eq!(seen.iter().flatten().count(), 20 * 30 + 50 * 2 - 20 * 2 + 1);
    }
}
