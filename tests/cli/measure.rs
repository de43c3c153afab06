//! `ripplon measure`: places by Born's rule, the same for the same seed, and what a measurement leaves.

use super::Place;
use std::fs;

fn rows(text: &str) -> Vec<Vec<String>> {
    text.lines()
        .skip(1)
        .map(|line| line.split(',').map(str::to_owned).collect())
        .collect()
}

#[test]
fn places_follow_the_packet_and_the_seed() {
    let place = Place::new();
    place
        .ripplon("measure small.toml --at 0 --runs 4000 --seed 5 --csv a.csv --plot a.png")
        .expect(0, &["found in 4000 of 4000 runs", "Born's rule says 1.000000"]);
    let first = place.text("a.csv");
    assert_eq!(first.lines().next(), Some("run,found,x,y"));
    let all = rows(&first);
    assert_eq!(all.len(), 4000);
    // The packet stands at (5, 6) with the width 1.5: within 4 standard errors, and the variance that sites half a length apart have.
    for (column, center) in [(2, 5.0), (3, 6.0)] {
        let values: Vec<f64> = all.iter().map(|row| row[column].parse().unwrap()).collect();
        let mean = values.iter().sum::<f64>() / 4000.0;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 4000.0;
        assert!((mean - center).abs() < 4.0 * 1.5 / 4000f64.sqrt(), "{mean}");
        assert!(
            (variance / 2.25 - 1.0).abs() < 4.0 * (2.0 / 4000f64).sqrt(),
            "{variance}"
        );
    }
    assert!(fs::read(place.path("a.png")).unwrap().starts_with(b"\x89PNG"));
    place
        .ripplon("measure small.toml --at 0 --runs 4000 --seed 5 --csv b.csv")
        .expect(0, &[]);
    assert_eq!(first, place.text("b.csv"));
    place
        .ripplon("measure small.toml --at 0 --runs 4000 --seed 6 --csv c.csv")
        .expect(0, &[]);
    assert_ne!(first, place.text("c.csv"));
    // The third coordinate of this preset is the component, which a place does not tell.
    place
        .ripplon("measure rabi --at 0 --runs 3 --csv d.csv")
        .expect(0, &["  y: mean"]);
    assert_eq!(place.text("d.csv").lines().next(), Some("run,found,x,y"));
}

#[test]
fn a_region_finds_or_does_not_and_leaves_the_wave_accordingly() {
    let place = Place::new();
    // From the packet's middle on, half of it.
    place
        .ripplon("measure small.toml --at 0 --runs 2000 --region 5.25,0:16,12 --csv h.csv --save h.npy")
        .expect(0, &["first run:", "the field at t = 0"]);
    let all = rows(&place.text("h.csv"));
    let found = all.iter().filter(|row| row[1] == "1").count();
    // ½ less half a column of sites, 0.25/(√2π 1.5).
    assert!(
        (f64::from(u32::try_from(found).unwrap()) / 2000.0 - 0.4335).abs() < 0.045,
        "{found}"
    );
    assert!(all.iter().all(|row| (row[1] == "1") != row[2].is_empty()));
    let bytes = fs::read(place.path("h.npy")).unwrap();
    let values: Vec<f64> = bytes[bytes.len() - 8 * 32 * 24..]
        .chunks(8)
        .map(|value| {
            let part = |at: usize| f64::from(f32::from_le_bytes(value[at..at + 4].try_into().unwrap()));
            part(0).powi(2) + part(4).powi(2)
        })
        .collect();
    assert!((values.iter().sum::<f64>() * 0.25 - 1.0).abs() < 1e-5);
    let right: f64 = values
        .iter()
        .enumerate()
        .filter(|(n, _)| n % 32 >= 11)
        .map(|(_, value)| value)
        .sum();
    if all[0][1] == "1" {
        // On one site.
        assert_eq!(values.iter().filter(|value| **value > 0.0).count(), 1);
        assert!(right > 0.0);
    } else {
        assert!(right == 0.0);
    }
}

/// All particles were prepared, and those that the edges took are not found: as many are as the run has left of the norm.
#[test]
fn absorbed_particles_are_not_found() {
    let place = Place::new();
    let edges = "--set grid.edges=\"absorb\" --set grid.absorb_width=8";
    // It ends with another exit code: the scene expects the norm to stay.
    place.ripplon(&format!("run small.toml {edges} --set time.end=10 --observables o.csv"));
    let norms: Vec<f64> = rows(&place.text("o.csv"))
        .iter()
        .map(|row| row[2].parse().unwrap())
        .collect();
    let left = norms[norms.len() - 1] / norms[0];
    assert!(left < 0.5, "{left}");
    let run = place.ripplon(&format!("measure small.toml {edges} --at 10 --runs 2000 --csv p.csv"));
    let out = run.expect(0, &["of the wave is left"]).out();
    let told = out.split("Born's rule says ").nth(1).unwrap();
    let told: f64 = told.split(' ').next().unwrap().parse().unwrap();
    // The same steps, told to six decimals.
    assert!((told - left).abs() < 1e-5, "{told} {left}");
    let places = rows(&place.text("p.csv"));
    let found = places.iter().filter(|row| row[1] == "1").count();
    // Four standard errors of 2000 runs, at most 0.045.
    let share = f64::from(u32::try_from(found).unwrap()) / 2000.0;
    assert!((share - left).abs() < 0.045, "{share} {left}");
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let place = Place::new();
    place
        .ripplon("measure tube --at 0")
        .expect(2, &["sound is not found at one place"]);
    place
        .ripplon("measure small.toml --at 0 --region 1:2")
        .expect(2, &["write 2 lengths for each corner"]);
    place
        .ripplon("measure small.toml --at 0 --region 5,5:2,2")
        .expect(2, &["the lower corner first"]);
    // Beside the grid, and between two sites.
    for region in ["100,0:120,5", "-9,0:-1,5", "0,2.2:9,2.4"] {
        place
            .ripplon(&format!("measure small.toml --at 0 --region {region}"))
            .expect(2, &["there is no site of the grid", "--region"]);
    }
    place
        .ripplon("measure small.toml --at 0.5 --then 0.1 --save f.npy")
        .expect(2, &["before the measurement"]);
    place
        .ripplon("measure small.toml --at=-1")
        .expect(2, &["is not a time"]);
}
