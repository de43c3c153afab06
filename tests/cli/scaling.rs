//! `ripplon bench --scaling`: one part of a grid and several.

use super::Place;

#[test]
fn parts_are_measured_beside_what_is_expected_of_them() {
    let place = Place::new();
    place
        .ripplon("bench --scaling --method trotter --variant naive --size 24x64 --quick --json s.json --plot s.png")
        .expect(
            0,
            &["in one process", "strong", "weak", "24x256", "efficiency", "expected"],
        );
    let rows: serde_json::Value = serde_json::from_str(&place.text("s.json")).unwrap();
    let rows = rows.as_array().unwrap();
    let found: Vec<(&str, u64, u64)> = (rows.iter())
        .map(|row| {
            let number = |key: &str| row[key].as_u64().unwrap();
            (
                row["growth"].as_str().unwrap(),
                number("parts"),
                row["size"][1].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("strong", 1, 64),
            ("strong", 2, 64),
            ("strong", 4, 64),
            ("weak", 2, 128),
            ("weak", 4, 256)
        ]
    );
    for row in rows {
        let number = |key: &str| row[key].as_f64().unwrap();
        assert!(number("site_steps_per_s") > 0.0 && number("efficiency") > 0.0, "{row}");
        let expected = number("expected_efficiency");
        assert!(expected > 0.0 && expected <= 1.0, "{row}");
        // Ghost rows are stepped as well.
        assert_eq!(number("ghosts") == 0.0, number("parts") == 1.0, "{row}");
        assert_eq!(
            (row["method"].as_str(), row["variant"].as_str()),
            (Some("trotter"), Some("naive"))
        );
    }
    assert_eq!(rows[0]["efficiency"], 1.0);
    assert!(place.path("s.png").exists());
}

#[test]
fn what_cannot_be_cut_is_not_measured() {
    let place = Place::new();
    place
        .ripplon("bench --scaling --method chebyshev")
        .expect(2, &["chebyshev", "trotter"]);
    place
        .ripplon("bench --scaling --backend cuda")
        .expect(2, &["--backend"]);
    place
        .ripplon("bench --scaling --method trotter --variant tiled")
        .expect(2, &["--variant tiled"]);
}
