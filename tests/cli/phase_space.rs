//! `ripplon run --wigner`, `--husimi`, `--marginals`: files with the right numbers, and refusals before the run.

use super::Place;
use std::f64::consts::PI;
use std::fs;

/// A packet that stands in an oscillator of its own width: w² = 1/2ω, U = ½ω²x² with m = 1.
const LINE: &str = r#"
format = 1
title = "Coherent state"
[grid]
size = [96]
spacing = 0.25
[quantum]
[time]
step = 0.01
end = 0.02
[solver]
method = "trotter"
precision = "double"
variant = "naive"
[[packet]]
center = [12.0]
width = [1.0]
momentum = [1.5]
"#;

/// float64 values behind the header of an NPY file whose header names this shape.
fn values(place: &Place, name: &str, shape: &str, count: usize) -> Vec<f64> {
    let bytes = fs::read(place.path(name)).unwrap();
    let header = String::from_utf8_lossy(&bytes[..128]).into_owned();
    assert!(header.contains(shape) && header.contains("<f8"), "{header}");
    bytes[bytes.len() - 8 * count..]
        .chunks(8)
        .map(|value| f64::from_le_bytes(value.try_into().unwrap()))
        .collect()
}

#[test]
fn functions_of_place_and_momentum_are_written() {
    let place = Place::new();
    fs::write(place.path("line.toml"), LINE).unwrap();
    place
        .ripplon("run line.toml --steps 0 --wigner w.npy --husimi q.npy --husimi-width 1.0")
        .expect(0, &[]);
    let wigner = values(&place, "w.npy", "(96, 96)", 96 * 96);
    let husimi = values(&place, "q.npy", "(96, 96)", 96 * 96);
    let (step, k0) = (2.0 * PI / 24.0, 1.5);
    for row in 0..96 {
        for n in 0..96 {
            let (x, k) = (f64::from(n) * 0.25 - 12.0, (f64::from(row) - 48.0) * step - k0);
            let at = usize::try_from(row * 96 + n).unwrap();
            // Twice the variance of a Gaussian, each of which is seen with its own width.
            let exact = [
                (-x * x / 2.0 - 2.0 * k * k).exp() / PI,
                (-x * x / 4.0 - k * k).exp() / (2.0 * PI),
            ];
            assert!((wigner[at] - exact[0]).abs() < 1e-9, "W({x}, {k}) = {}", wigner[at]);
            assert!((husimi[at] - exact[1]).abs() < 1e-9, "Q({x}, {k}) = {}", husimi[at]);
        }
    }
    place
        .ripplon("run line.toml --wigner w.png --husimi q.PNG")
        .expect(0, &[]);
    for name in ["w.png", "q.PNG"] {
        assert!(fs::read(place.path(name)).unwrap().starts_with(b"\x89PNG"));
    }
}

#[test]
fn marginals_are_densities_of_each_axis() {
    let place = Place::new();
    place
        .ripplon("run small.toml --steps 0 --marginals m.csv")
        .expect(0, &[]);
    let text = place.text("m.csv");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("x,P(x),y,P(y)"));
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 32);
    // 24 rows of sites along y: the others have none.
    assert!(!rows[23][3].is_empty() && rows[24][2].is_empty() && rows[24][3].is_empty());
    let sum = |column: usize| -> f64 { rows.iter().filter_map(|row| row[column].parse::<f64>().ok()).sum() };
    for column in [1, 3] {
        assert!((sum(column) * 0.5 - 1.0).abs() < 1e-5, "{}", sum(column));
    }
}

#[test]
fn what_has_no_such_function_is_refused() {
    let place = Place::new();
    fs::write(place.path("line.toml"), LINE).unwrap();
    place
        .ripplon("run small.toml --wigner w.png")
        .expect(2, &["--wigner is for scenes on a line", "32"]);
    place
        .ripplon("run line.toml --husimi q.gif")
        .expect(2, &["q.gif", ".png or .npy"]);
    place
        .ripplon("run tube --marginals m.csv")
        .expect(2, &["--marginals is for quantum scenes"]);
    place
        .ripplon("run line.toml --husimi q.npy --husimi-width 0")
        .expect(2, &["a length above 0"]);
    assert!(!place.path("w.png").exists() && !place.path("m.csv").exists());
}
