//! Arrays and tables, and names that cannot be written.

use super::names;
use num_complex::Complex;
use ripplon::export::{self, About, ExportError, Format};
use ripplon::field::FieldData;
use ripplon::grid::Grid;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

#[test]
fn npy_has_the_right_type_and_shape() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("psi.npy");
    let grid = Grid::new(&[4, 3, 2], 1.0);
    let values: Vec<Complex<f32>> = (0..24u8).map(|n| Complex::new(f32::from(n), -f32::from(n))).collect();
    export::npy::save(&path, &grid, &FieldData::Complex64(values)).unwrap();
    let read: ndarray::Array3<Complex<f32>> = ndarray_npy::read_npy(&path).unwrap();
    // C order, x last: site (i, j, k) is [k, j, i].
    assert_eq!(read.dim(), (2, 3, 4));
    assert_eq!(read[[1, 2, 3]], Complex::new(23.0, -23.0));
    assert_eq!(read[[0, 1, 2]], Complex::new(6.0, -6.0));
    export::npy::save(&path, &Grid::new(&[3], 1.0), &FieldData::Float64(vec![1.0, 0.1, -2.5])).unwrap();
    let read: ndarray::Array1<f64> = ndarray_npy::read_npy(&path).unwrap();
    assert_eq!(read.to_vec(), [1.0, 0.1, -2.5]);
    let wrong = export::npy::save(&path, &Grid::new(&[4], 1.0), &FieldData::Float32(vec![0.0; 3]));
    assert!(matches!(wrong, Err(ExportError::Encoder { .. })));
}

#[test]
fn csv_gives_the_same_doubles_back() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.csv");
    let rows = [[0.1, 1.0 / 3.0, 1e-300], [f64::MAX, -0.0, 6.02e23]];
    let mut table = export::csv::CsvWriter::create(&path, &["t", "a,b", "c"]).unwrap();
    for row in &rows {
        table.row(row).unwrap();
    }
    assert!(table.row(&[1.0]).is_err());
    assert!(!path.exists(), "it appears when it is complete");
    table.finish().unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("t,\"a,b\",c"));
    for (line, row) in lines.zip(&rows) {
        let read: Vec<u64> = line.split(',').map(|v| v.parse::<f64>().unwrap().to_bits()).collect();
        assert_eq!(read, row.map(f64::to_bits));
    }
}

#[test]
fn wrong_places_and_names_are_explained() {
    let dir = TempDir::new().unwrap();
    for name in ["film.avi", "film", "film.png.txt"] {
        let error = Format::of(&dir.path().join(name)).unwrap_err();
        assert!(error.is_input() && error.to_string().contains(".png"), "{error}");
    }
    assert_eq!(Format::of(Path::new("A.PNG")).unwrap(), Format::Png);
    assert_eq!(Format::of(dir.path()).unwrap(), Format::Sequence);
    let nowhere = dir.path().join("no/such/a.png");
    let Err(error) = export::create(&nowhere, [8, 8], 30.0, &About::default()) else {
        panic!("written to a directory that is not there");
    };
    assert!(error.to_string().contains("does not exist"), "{error}");
    let huge = export::create(&dir.path().join("a.gif"), [70_000, 8], 30.0, &About::default());
    assert!(matches!(huge, Err(ExportError::Size { .. })));
    let fast = export::create(&dir.path().join("a.gif"), [8, 8], 100.0, &About::default());
    assert!(matches!(fast, Err(ExportError::Rate { .. })));
    assert_eq!(names(&dir), [""; 0]);
}
