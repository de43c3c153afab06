//! Pictures that are made of the whole field: do they add up to what is measured otherwise?

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail where it stands")]

use ripplon::engine::Engine;
use ripplon::engine::maps::wave_number;
use ripplon::scene::scenario::Quantity;
use ripplon::solver::{FieldImage, FieldVolume, ImageRequest, VolumeRequest, read_scene_text};
use std::sync::Arc;

fn engine(text: &str) -> Engine {
    let (_, scenario) = read_scene_text(text, None, &[]).unwrap();
    Engine::new(Arc::new(scenario)).unwrap()
}

/// One value a site.
fn whole(engine: &mut Engine, quantity: Quantity) -> Vec<f32> {
    let [nx, ny, nz] = engine.scenario().grid().size();
    let mut all = Vec::new();
    for z in 0..nz {
        let request = ImageRequest::new(quantity, [0..nx, 0..ny], z, [nx, ny]);
        let mut image = FieldImage::default();
        engine.image(&request, &mut image).unwrap();
        assert_eq!((image.size, image.quantity), ([nx, ny], Some(quantity)));
        all.extend(image.value);
    }
    all
}

/// Everything that H can hold: walls, a driven and a static potential, flux, interaction, one periodic axis.
const PLANE: &str = r#"
format = 1
[grid]
size = [24, 20]
spacing = 0.7
edges = ["periodic", "wall"]
[quantum]
mass = 1.0
interaction = 0.8
flux = 0.013
[time]
step = 0.02
[solver]
method = "trotter"
backend = "cpu"
precision = "double"
[[packet]]
center = [6.0, 7.0]
width = [1.5, 1.5]
momentum = [0.9, -0.4]
[[layer]]
sets = "wall"
shape = "box"
min = [9.0, 0.0]
max = [9.5, 7.0]
[[layer]]
sets = "potential"
shape = "everywhere"
value = "0.05*((x-8)^2+(y-7)^2) - 1"
[[layer]]
sets = "potential"
shape = "disk"
center = [5.0, 5.0]
radius = 3.0
value = 0.6
mode = "add"
drive = "cos(3*t)"
"#;

const SPACE: &str = r#"
format = 1
[grid]
size = [12, 10, 8]
spacing = 0.5
[quantum]
hopping = 1.3
[time]
step = 0.02
[solver]
method = "trotter"
backend = "cpu"
precision = "double"
[[packet]]
center = [2.0, 2.0, 1.5]
width = [0.8, 0.8, 0.8]
momentum = [1.0, 0.5, -0.7]
"#;

/// Values of single precision: each is off by at most ε/2 of its size, so their sum by ε/2 of the sum of their sizes.
fn close(values: &[f32], scale: f64, expected: f64) {
    let sum: f64 = values.iter().map(|value| f64::from(*value)).sum::<f64>() * scale;
    let sizes: f64 = values.iter().map(|value| f64::from(value.abs())).sum::<f64>() * scale;
    let allowed = f64::from(f32::EPSILON) * sizes.max(expected.abs());
    assert!(
        (sum - expected).abs() <= allowed,
        "{sum} is not {expected} within {allowed}"
    );
}

#[test]
fn the_density_of_energy_adds_up_to_the_energy() {
    for text in [PLANE, SPACE] {
        let mut engine = engine(text);
        for steps in [0, 7] {
            engine.advance(steps).unwrap();
            let sums = engine.observables().unwrap();
            let density = whole(&mut engine, Quantity::Energy);
            let cell = engine.scenario().grid().cell_volume();
            close(&density, cell, sums.energy * sums.norm);
        }
    }
}

#[test]
fn momenta_add_up_to_the_norm_and_stand_where_they_belong() {
    for text in [PLANE, SPACE] {
        let mut engine = engine(text);
        let sums = engine.observables().unwrap();
        let values = whole(&mut engine, Quantity::Momentum);
        let grid = engine.scenario().grid().clone();
        let rank = grid.rank();
        let step = |axis: usize| wave_number(&grid, axis, 1.0) - wave_number(&grid, axis, 0.0);
        let cell: f64 = (0..rank).map(step).product();
        // The transform itself rounds in single precision: a few ε of the norm.
        let norm: f64 = values.iter().map(|value| f64::from(*value)).sum::<f64>() * cell;
        assert!(
            (norm - sums.norm).abs() < 8.0 * f64::from(f32::EPSILON),
            "{norm} of {}",
            sums.norm
        );
        let packet = match engine.scenario().initial() {
            ripplon::physics::Initial::Packets(packets) => packets[0],
            other => panic!("{other:?}"),
        };
        for axis in 0..rank {
            let mean: f64 = values
                .iter()
                .enumerate()
                .map(|(n, value)| {
                    let site = grid.site(n)[axis];
                    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
                    let k = wave_number(&grid, axis, site as f64);
                    k * f64::from(*value) * cell
                })
                .sum();
            let k = packet.momentum[axis];
            // The packet is cut off three widths from the nearest edge or more: e^(−9/4) of its amplitude at the rim puts at most
            // that much squared, about 1%, of the density elsewhere in the band of ±π/a.
            assert!((mean - k).abs() < 0.06, "axis {axis}: {mean} of {k}");
        }
    }
}

/// A plane wave that fits on a ring is one site of the map.
#[test]
fn a_plane_wave_is_one_momentum() {
    let folder = tempfile::tempdir().unwrap();
    let sites = 32u32;
    let turns = 5.0;
    let wave: Vec<num_complex::Complex64> = (0..sites)
        .map(|n| num_complex::Complex64::cis(std::f64::consts::TAU * turns * f64::from(n) / f64::from(sites)))
        .collect();
    let path = folder.path().join("psi.npy");
    ndarray_npy::write_npy(&path, &ndarray::Array1::from(wave)).unwrap();
    let text = format!(
        "format = 1\n[grid]\nsize = [{sites}]\nspacing = 0.5\nedges = \"periodic\"\n[quantum]\nmass = 1.0\n[initial]\nfile = {:?}\n[solver]\nbackend = \"cpu\"\nprecision = \"double\"\n",
        path.display().to_string()
    );
    let mut engine = engine(&text);
    let values = whole(&mut engine, Quantity::Momentum);
    let at = values.iter().position(|value| *value > 1e-3).unwrap();
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let k = wave_number(engine.scenario().grid(), 0, at as f64);
    assert!((k - std::f64::consts::TAU * turns / 16.0).abs() < 1e-12, "{k}");
    let others = values.iter().enumerate().filter(|(n, _)| *n != at);
    // ε of the amplitude, squared, with room for the five stages of the transform.
    assert!(others.into_iter().all(|(_, value)| *value < values[at] * 1e-11));
}

#[test]
fn the_peak_is_of_every_step_however_they_are_cut() {
    let run = |batches: &[u64]| {
        let mut engine = engine(PLANE);
        whole(&mut engine, Quantity::Peak);
        for steps in batches {
            engine.advance(*steps).unwrap();
        }
        whole(&mut engine, Quantity::Peak)
    };
    let together = run(&[30]);
    assert_eq!(together, run(&[1; 30]));
    assert_eq!(together, run(&[7, 11, 12]));
    // A scene that shows it has it from the start, without a picture of it before.
    let mut shows = engine(&format!("{PLANE}[view]\nquantity = \"peak\"\n"));
    shows.advance(30).unwrap();
    assert_eq!(together, whole(&mut shows, Quantity::Peak));
    // By hand: the largest of the densities after each step.
    let mut engine = engine(PLANE);
    let mut largest = whole(&mut engine, Quantity::Density);
    for _ in 0..30 {
        engine.advance(1).unwrap();
        for (most, now) in largest.iter_mut().zip(whole(&mut engine, Quantity::Density)) {
            *most = most.max(now);
        }
    }
    // Rounding of |ψ|² in single precision, on either side.
    for (peak, most) in together.iter().zip(&largest) {
        assert!((peak - most).abs() <= 4.0 * f32::EPSILON * most, "{peak} {most}");
    }
    let density = whole(&mut engine, Quantity::Density);
    assert!(
        together.iter().zip(&density).any(|(peak, now)| *peak > 2.0 * now),
        "it has moved on"
    );
}

#[test]
fn volumes_show_the_same() {
    let mut engine = engine(SPACE);
    let request = VolumeRequest {
        quantity: Quantity::Energy,
        sites: [12, 10, 8],
        most: 12,
    };
    let mut volume = FieldVolume::default();
    engine.volume(&request, &mut volume).unwrap();
    let values = whole(&mut engine, Quantity::Energy);
    let [value, _] = volume.at([4, 4, 3]).unwrap();
    let expected = values[4 + 12 * (4 + 10 * 3)];
    // Half precision of the largest value.
    assert!((value - expected).abs() <= volume.top * 2e-3, "{value} {expected}");
}

/// A part of the grid is none of the momenta.
#[test]
fn momenta_are_shown_whole() {
    let part = format!("{PLANE}\n[view]\nregion = {{ min = [2.1, 2.1], max = [9.8, 9.8] }}\n");
    for (quantity, is_part) in [("density", true), ("momentum", false)] {
        let set = [format!("view.quantity={quantity}")];
        let (_, scenario) = read_scene_text(&part, None, &set).unwrap();
        assert_eq!(scenario.view().region.is_some(), is_part, "{quantity}");
    }
}
