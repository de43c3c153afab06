//! The reference's tables are those of the format's rows.

use ripplon::scene::schema;
use std::path::Path;

/// With `RIPPLON_WRITE_TABLES=1` the tables of `docs/scene-format.md` are written anew instead of compared.
#[test]
fn the_tables_of_the_reference_are_those_of_the_rows() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/scene-format.md");
    let before = std::fs::read_to_string(&path).unwrap();
    let mut after = before.clone();
    for (name, table) in schema::tables() {
        let head = format!("<!-- keys: {name} -->\n");
        let (start, rest) = after.split_once(&head).unwrap_or_else(|| panic!("there is no {head}"));
        let (_, end) = rest.split_once("<!-- end of keys -->").expect("the table ends");
        after = format!("{start}{head}{table}<!-- end of keys -->{end}");
    }
    if std::env::var_os("RIPPLON_WRITE_TABLES").is_some() {
        std::fs::write(&path, after).unwrap();
    } else {
        let differing = before.lines().zip(after.lines()).find(|(old, new)| old != new);
        assert!(
            before == after,
            "docs/scene-format.md differs; write its tables with RIPPLON_WRITE_TABLES=1: {differing:?}"
        );
    }
}

#[test]
fn every_table_has_its_place_and_every_place_a_table() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/scene-format.md")).unwrap();
    let places: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("<!-- keys: ")?.strip_suffix(" -->"))
        .collect();
    let tables: Vec<&str> = schema::tables().iter().map(|(name, _)| *name).collect();
    assert!(tables.iter().all(|name| places.contains(name)), "{tables:?} {places:?}");
    assert_eq!(places.len(), tables.len());
}
