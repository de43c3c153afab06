//! Scenes that lie in files, and the arrays and pictures that they name.

#[path = "../common/npy.rs"]
mod bytes;

use super::FREE;
use num_complex::Complex32;
use ripplon::field::FieldData;
use ripplon::physics::Initial;
use ripplon::scene::{Faults, Scenario};
use ripplon::solver;
use std::path::{Path, PathBuf};

/// Writes an NPY file, version 1.
fn npy(path: &Path, descr: &str, fortran: bool, shape: &str, data: &[u8]) {
    std::fs::write(path, bytes::npy(descr, fortran, shape, data)).unwrap();
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

struct Folder {
    dir: tempfile::TempDir,
}

impl Folder {
    fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }
    fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
    /// Reads a scene as if it stood in this folder.
    fn read(&self, text: &str) -> Result<Scenario, Faults> {
        solver::read_scene_text(text, Some(&self.file("scene.toml")), &[]).map(|(_, scenario)| scenario)
    }
}

const SMALL: &str = "format = 1\n[grid]\nsize = [3, 2]\nspacing = 1.0\n[quantum]\n";

#[test]
fn initial_arrays() {
    let folder = Folder::new();
    let text = format!("{SMALL}[initial]\nfile = \"psi.npy\"\n");
    let path = folder.file("psi.npy");
    let values: Vec<f32> = (0..12u8).map(f32::from).collect();
    let complex: Vec<Complex32> = values.chunks(2).map(|pair| Complex32::new(pair[0], pair[1])).collect();
    let data = |scenario: &Scenario| match scenario.initial() {
        Initial::Array(data) => (**data).clone(),
        other => panic!("{other:?}"),
    };
    npy(&path, "<c8", false, "(2, 3)", &floats(&values));
    assert_eq!(
        data(&folder.read(&text).unwrap()),
        FieldData::Complex64(complex.clone())
    );
    // The same array in Fortran order: element (j, i) is element (i, j) of the bytes.
    let mut fortran = Vec::new();
    for i in 0..3 {
        for j in 0..2 {
            fortran.extend([complex[i + 3 * j].re, complex[i + 3 * j].im]);
        }
    }
    npy(&path, "<c8", true, "(2, 3)", &floats(&fortran));
    assert_eq!(data(&folder.read(&text).unwrap()), FieldData::Complex64(complex));
    // Real numbers are a state as well.
    let double: Vec<u8> = (0..6u8).flat_map(|n| f64::from(n).to_le_bytes()).collect();
    npy(&path, "<f8", false, "(2, 3)", &double);
    assert!(matches!(data(&folder.read(&text).unwrap()), FieldData::Complex128(v) if v[5].re == 5.0 && v[5].im == 0.0));

    let fails = |part: &str| {
        let shown = folder.read(&text).unwrap_err().to_string();
        assert!(
            shown.contains(part) && shown.contains("scene.toml:7:8"),
            "{part}: {shown}"
        );
    };
    npy(&path, "<c8", false, "(3, 2)", &floats(&values));
    fails("has the shape (3, 2), and the grid's is (2, 3)");
    fails("save it with the shape (2, 3): (ny, nx), x last; or change grid.size");
    let mut bad = values.clone();
    bad[9] = f32::NAN;
    npy(&path, "<c8", false, "(2, 3)", &floats(&bad));
    fails("holds NaN at index (1, 1)");
    npy(&path, "<c8", false, "(2, 3)", &floats(&[0.0; 12]));
    fails("norm 0");
    // The run is in single precision, and single sites count.
    let sized = |value: f64| -> Vec<u8> {
        [0.0, 0.0, value, 0.0, 0.0, 0.0]
            .iter()
            .flat_map(|x: &f64| x.to_le_bytes())
            .collect()
    };
    for value in [1e31, -1e308, 1e-31, 1e-300] {
        npy(&path, "<f8", false, "(2, 3)", &sized(value));
        fails(if value == 1e-300 {
            "norm 0"
        } else {
            "is not between 1e-30 and 1e30"
        });
    }
    npy(&path, "<f8", false, "(2, 3)", &sized(-1e29));
    folder.read(&text).unwrap();
    npy(&path, ">c8", false, "(2, 3)", &floats(&values));
    fails("type >c8");
    npy(&path, "<i4", false, "(2, 3)", &floats(&values[..6]));
    fails("type <i4");
    npy(&path, "<c8", false, "(2, 3)", &floats(&values[..11]));
    fails("gives another length");
    npy(&path, "<c8", false, "(9999999999, 9999999999)", &floats(&values));
    fails("gives another length");
    std::fs::write(&path, b"\x93NUMPY\x01").unwrap();
    fails("no NPY file");
    std::fs::write(&path, b"hello, world").unwrap();
    fails("no NPY file");
    std::fs::remove_file(&path).unwrap();
    fails("there is no such file");
}

#[test]
fn array_and_image_layers() {
    let folder = Folder::new();
    let packet = "[[packet]]\ncenter = [1, 1]\nwidth = [1, 1]\n";
    let layer = |keys: &str| format!("{SMALL}{packet}[[layer]]\nsets = \"potential\"\n{keys}\n");
    let rows = |scenario: &Scenario| {
        let mut out = [0.0; 6];
        for j in 0..2 {
            scenario
                .medium()
                .potential_row(None, j, 0, 0..3, &mut out[3 * j..3 * j + 3]);
        }
        out
    };
    npy(
        &folder.file("u.npy"),
        "<f4",
        false,
        "(2, 3)",
        &floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
    );
    let scenario = folder
        .read(&layer("shape = \"array\"\nfile = \"u.npy\"\nvalue = 0.5"))
        .unwrap();
    assert_eq!(rows(&scenario), [0.5, 1.0, 1.5, 2.0, 2.5, 3.0]);
    // Row 0 of the picture is at the largest y; black (and transparent) leaves the layer out.
    let picture = image::GrayImage::from_raw(3, 2, vec![255, 0, 0, 0, 51, 255]).unwrap();
    picture.save(folder.file("map.png")).unwrap();
    let scenario = folder
        .read(&layer("shape = \"image\"\nfile = \"map.png\"\nvalue = 2"))
        .unwrap();
    assert_eq!(rows(&scenario), [0.0, 0.4, 2.0, 2.0, 0.0, 0.0]);

    let fails = |keys: &str, part: &str| {
        let shown = folder.read(&layer(keys)).unwrap_err().to_string();
        assert!(shown.contains(part), "{part}: {shown}");
    };
    npy(&folder.file("c.npy"), "<c8", false, "(2, 3)", &floats(&[0.0; 12]));
    fails("shape = \"array\"\nfile = \"c.npy\"", "holds complex numbers");
    npy(
        &folder.file("n.npy"),
        "<f4",
        false,
        "(2, 3)",
        &floats(&[1.0, 2.0, f32::INFINITY, 4.0, 5.0, 6.0]),
    );
    fails("shape = \"array\"\nfile = \"n.npy\"", "holds inf at index (0, 2)");
    std::fs::write(folder.file("bad.png"), b"not a picture").unwrap();
    fails("shape = \"image\"\nfile = \"bad.png\"", "no PNG file");
    fails("shape = \"image\"\nfile = \"\"", "not the name of a file");
}

#[test]
fn scenes_by_name_and_file() {
    let folder = Folder::new();
    let shown = |name: &str| solver::read_scene(name, &[]).unwrap_err().to_string();
    assert!(shown("free-pakcet").contains("did you mean the preset \"free-packet\"?"));
    let path = folder.file("scene.toml");
    std::fs::write(&path, [0x66, 0xff, 0x00]).unwrap();
    assert!(shown(path.to_str().unwrap()).contains("not UTF-8"));
    std::fs::write(&path, FREE).unwrap();
    let (_, scenario) = solver::read_scene(path.to_str().unwrap(), &[]).unwrap();
    assert_eq!(scenario.origin(), Some(&*path));
    let picture = folder.file("empty.png");
    image::GrayImage::new(2, 2).save(&picture).unwrap();
    assert!(shown(picture.to_str().unwrap()).contains("carries no scene"));
}
