//! `ripplon dispersion`: the law of the lattice, of ψ and of sound, and what it refuses.

use super::Place;
use std::fs;

/// A narrow packet on a ring: all wave numbers at once.
const RING: &str = r#"
format = 1
[grid]
size = [64]
spacing = 0.5
edges = "periodic"
[quantum]
mass = 1.0
[time]
step = 0.02
end = 80.0
[solver]
method = "trotter"
order = 4
precision = "double"
[[packet]]
center = [16.0]
width = [0.3]
"#;

/// A short pulse in a tube that is closed to a ring.
const TUBE: &str = r#"
format = 1
[grid]
size = [96]
spacing = 0.1
edges = "periodic"
[acoustic]
speed = 343.0
[time]
step = 0.0001
end = 0.4
[solver]
method = "fdtd"
order = 4
precision = "double"
[[pulse]]
center = [4.8]
width = 0.1
"#;

/// Rows of the table: k, ω, power, lattice, continuum.
fn table(text: &str) -> Vec<Vec<f64>> {
    text.lines()
        .skip(1)
        .map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect())
        .collect()
}

/// Every wave number of the packet has the frequency of the lattice, written out here, to a twentieth of a bin of 2π/T; the continuum is far off at the band's end.
#[test]
fn a_packet_shows_the_band() {
    let place = Place::new();
    fs::write(place.path("ring.toml"), RING).unwrap();
    // A layer changes what the curves are of, which is said.
    let wall = r#"--set time.end=20 --set layer.0={sets="potential",value=3.0,shape="everywhere"}"#;
    place
        .ripplon(&format!("dispersion ring.toml {wall}"))
        .expect(0, &["note: layers set the potential: the curves"]);
    place
        .ripplon("dispersion ring.toml --set time.end=30 --set quantum.interaction=1.0")
        .expect(0, &["note: the scene has an interaction: the curves"]);
    // A step that is too long is told, as by `run`.
    place
        .ripplon("dispersion ring.toml --set time.step=0.4 --set time.end=20")
        .expect(
            0,
            &["note: Δt = 0.4 is larger than the recommended 0.2", "reduce time.step"],
        );
    let run = place.ripplon("dispersion ring.toml --csv d.csv --plot d.png");
    run.expect(0, &["lattice", "continuum", "wave numbers have power"]);
    assert!(!run.err().contains("recommended"), "{}", run.err());
    assert!(place.text("d.csv").starts_with("k,omega,power,lattice,continuum"));
    assert!(fs::read(place.path("d.png")).unwrap().starts_with(b"\x89PNG"));
    let rows = table(&place.text("d.csv"));
    assert!(rows.len() > 40, "{} rows", rows.len());
    let bin = std::f64::consts::TAU / 80.0;
    for row in &rows {
        // J = 1/(2 m a²) = 2.
        let exact = 4.0 * (1.0 - (0.5 * row[0]).cos());
        assert!(
            (row[1] - exact).abs() < 0.06 * bin,
            "ω({}) = {}, not {exact}",
            row[0],
            row[1]
        );
        // The steps are off by less than J(JΔt)⁴.
        assert!((row[3] - exact).abs() < 6e-6 && (row[4] - 0.5 * row[0] * row[0]).abs() < 1e-9);
    }
    let last = rows.last().unwrap();
    assert!(last[4] - last[1] > 20.0 * bin, "{last:?}");
}

/// The automatic step of `chebyshev` is 10/4J, in which waves of the band's upper end turn round more than three times: it is shortened until they stand where they are. A
/// given step stays, and what folds is said.
#[test]
fn an_automatic_step_tells_the_frequencies_apart() {
    let place = Place::new();
    let exact = RING
        .replace("order = 4\n", "")
        .replace("\"trotter\"", "\"chebyshev\"")
        .replace("step = 0.02\n", "");
    fs::write(place.path("ring.toml"), exact).unwrap();
    let run = place.ripplon("dispersion ring.toml --csv d.csv");
    assert!(
        !run.expect(0, &["wave numbers have power"]).err().contains("note"),
        "{}",
        run.err()
    );
    let rows = table(&place.text("d.csv"));
    assert!(rows.len() > 40, "{} rows", rows.len());
    for row in &rows {
        let exact = 4.0 * (1.0 - (0.5 * row[0]).cos());
        assert!(
            (row[1] - exact).abs() < 0.06 * std::f64::consts::TAU / 80.0,
            "{row:?} for {exact}"
        );
    }
    place
        .ripplon("dispersion ring.toml --set time.step=2.5")
        .expect(0, &["tell them apart only modulo 2.5133", "shorter time.step"]);
}

/// At JΔt = 0.6 each method has a band of its own, which what is measured follows to a twentieth of a bin: with pairs of order 2 bins above that of the lattice, with Cayley factors far below it in the line and by other
/// factors in the plane. By Fourier modes with a mass the band is the continuum's, π² of J high.
#[test]
fn the_band_is_that_of_the_steps() {
    let place = Place::new();
    let plain = RING.replace("order = 4\n", "");
    let plane = "--set grid.size=[64,4] --set packet.0.center=[16.0,1.0] --set packet.0.width=[0.3,0.5]";
    let bin = std::f64::consts::TAU / 80.1;
    for (method, more, least) in [
        ("trotter", "", 1.0),
        ("crank-nicolson", "", 20.0),
        ("crank-nicolson", plane, 5.0),
        ("split-step-fourier", "--set time.step=0.1", 100.0),
    ] {
        fs::write(place.path("ring.toml"), &plain).unwrap();
        let steps = format!("--set solver.method={method} --set time.step=0.3 --set time.end=80.1 {more}");
        place
            .ripplon(&format!("dispersion ring.toml {steps} --csv d.csv"))
            .expect(0, &["wave numbers have power"]);
        let rows = table(&place.text("d.csv"));
        let mut furthest: f64 = 0.0;
        for row in &rows {
            let own = 4.0 * (1.0 - (0.5 * row[0]).cos());
            assert!(
                (row[1] - row[3]).abs() < 0.06 * bin,
                "{method}: ω({}) = {}, not {}",
                row[0],
                row[1],
                row[3]
            );
            furthest = furthest.max((row[1] - own).abs());
        }
        assert!(
            rows.len() > 40 && furthest > least * bin,
            "{method}: {} rows, {furthest}",
            rows.len()
        );
    }
}

/// Sound of order 4 at cΔt/a = 0.343: sin(ωΔt/2) = (cΔt/2a)√(s² + s⁴/12), s = 2 sin(ka/2).
#[test]
fn a_pulse_shows_what_finite_differences_do() {
    let place = Place::new();
    fs::write(place.path("tube.toml"), TUBE).unwrap();
    place
        .ripplon("dispersion tube.toml --csv d.csv")
        .expect(0, &["records"]);
    let head = "k (rad/m),omega (rad/s),power,lattice (rad/s),continuum (rad/s)\n";
    assert!(place.text("d.csv").starts_with(head));
    let rows = table(&place.text("d.csv"));
    let bin = std::f64::consts::TAU / 0.4;
    let mut furthest: f64 = 0.0;
    for row in rows.iter().filter(|row| row[0].abs() > 1.0) {
        let s = 2.0 * (0.05 * row[0]).sin().abs();
        let exact = 2.0 / 1e-4 * (0.1715 * (s * s + s.powi(4) / 12.0).sqrt()).asin();
        assert!(
            (row[1] - exact).abs() < 0.06 * bin,
            "ω({}) = {}, not {exact}",
            row[0],
            row[1]
        );
        furthest = furthest.max((343.0 * row[0].abs() - row[1]).abs());
    }
    assert!(
        rows.len() > 20 && furthest > 5.0 * bin,
        "{} rows, {furthest}",
        rows.len()
    );
}

/// Pair partitioning at cΔt/a = 0.686 makes waves faster, long ones of order 2 by the square of that over 24d: what is measured is what the curve says, to a twentieth of a bin, and bins above the law of steps that are
/// exact in time. 98 sites, so that no wave stands at ka = π/2, where sweeps mix k with k − π/a.
#[test]
fn pairs_show_what_their_steps_do() {
    let place = Place::new();
    let tube = TUBE
        .replace("[96]", "[98]")
        .replace("0.0001", "0.0002")
        .replace("\"fdtd\"", "\"oscillators\"");
    let line = tube.replace("order = 4", "order = 2");
    let plane = line.replace("[98]", "[98, 4]").replace("[4.8]", "[4.8, 0.2]");
    let bin = std::f64::consts::TAU / 0.4;
    for (text, least) in [(line, 3.0), (plane, 6.0), (tube, 0.0)] {
        std::fs::write(place.path("pairs.toml"), text).unwrap();
        place
            .ripplon("dispersion pairs.toml --csv d.csv")
            .expect(0, &["records"]);
        let mut furthest: f64 = 0.0;
        let rows = table(&place.text("d.csv"));
        for row in rows.iter().filter(|row| row[0].abs() > 1.0) {
            let exact = 2.0 * 3430.0 * (0.05 * row[0]).sin().abs();
            assert!(
                (row[1] - row[3]).abs() < 0.06 * bin,
                "ω({}) = {}, not {}",
                row[0],
                row[1],
                row[3]
            );
            furthest = furthest.max(row[1] - exact);
        }
        assert!(
            rows.len() > 20 && furthest >= least * bin,
            "{} rows, {furthest}",
            rows.len()
        );
    }
}

#[test]
fn a_scene_that_tells_no_frequency_is_refused() {
    let place = Place::new();
    fs::write(place.path("ring.toml"), RING).unwrap();
    for (set, part) in [
        ("time.end=0.5", "are too few for a frequency"),
        ("time.imaginary=true", "imaginary time has no frequencies"),
    ] {
        let order = if set.contains("imaginary") {
            " --set solver.order=2"
        } else {
            ""
        };
        let run = place.ripplon(&format!("dispersion ring.toml --set {set}{order}"));
        run.expect(2, &[part]);
    }
}
