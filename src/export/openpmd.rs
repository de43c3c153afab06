//! Snapshots of a field in one file: openPMD 1.1 in HDF5, as h5py, openPMD-api, ParaView and VisIt read them.
//!
//! ```text
//! /                     openPMD, basePath = /data/%T/, meshesPath = fields/, title, scene, …
//! /data/<step>          time, dt, timeUnitSI
//! /data/<step>/fields/psi | p
//!                       complex or real numbers, C order: (nx,), (ny, nx) or (nz, ny, nx); axisLabels, gridSpacing, gridGlobalOffset, …
//! ```
//!
//! A snapshot is written as it comes; some hundred bytes per snapshot stay in memory. Readers see the snapshots up to
//! the last [table of contents](Snapshots::settle): the library writes one when it closes the file. It writes over the
//! table before, in some milliseconds (0.7 s at 10,000 snapshots) during which the file cannot be read. A file that could
//! not take a snapshot can be finished with those before it, and a finished one takes [more](Snapshots::go_on). Source: A. Huebl et al. 2015, openPMD 1.1.0, doi:10.5281/zenodo.1167843.

use crate::field::FieldData;
use rust_hdf5::{DatatypeMessage, H5Dataset, H5File, H5Group, H5Type, Hdf5Error, types};
use std::path::Path;

/// An attribute takes less than 64 KiB in the files of every version; a scene that is longer is left out.
pub(super) const LONGEST_TEXT: usize = 60_000;

/// What the whole file says about itself.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The scene's title.
    pub title: &'a str,
    /// The scene as text, with everything that was overridden.
    pub scene: &'a str,
}

/// The array that every snapshot holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    /// Its name: `psi` or `p`.
    pub name: &'static str,
    /// Its shape, the slowest axis first.
    pub shape: Vec<usize>,
    /// The distance of its sites along each of these axes, lengths.
    pub spacing: Vec<f64>,
    /// The place of its first site along each of these axes, lengths.
    pub offset: Vec<f64>,
    /// Powers of length, mass, time, current, temperature, amount, luminous intensity in its unit.
    pub unit: [f64; 7],
}

/// What a finished file contains.
#[derive(Clone, Debug, PartialEq)]
pub struct Contents {
    /// The scene as text; `None` if it was too long.
    pub scene: Option<String>,
    /// The steps of its snapshots, ascending.
    pub steps: Vec<u64>,
    /// Whether the first of them is an array of the mesh that was asked for.
    pub fits: bool,
}

impl Contents {
    /// Reads the file at `path`; the arrays of `mesh` have numbers of `bytes` bytes.
    ///
    /// # Errors
    /// If it is no file of snapshots.
    pub fn of(path: &Path, mesh: &Mesh, bytes: usize) -> Result<Self, Hdf5Error> {
        let file = H5File::options().no_locking().open(path)?;
        let names = file.root_group().group("data")?.group_names()?;
        let mut steps: Vec<u64> = names.iter().filter_map(|name| name.parse().ok()).collect();
        steps.sort_unstable();
        let fits = steps.first().is_none_or(|step| {
            let set = file.dataset(&format!("data/{step}/fields/{}", mesh.name));
            set.is_ok_and(|set| mesh.describes(&set, bytes))
        });
        Ok(Self {
            scene: file.attr_string("scene").ok(),
            steps,
            fits,
        })
    }
}

impl Mesh {
    /// Whether an array that is read has this shape and these sites, and numbers of `bytes` bytes.
    fn describes(&self, set: &H5Dataset, bytes: usize) -> bool {
        let numbers = |name: &str| set.attr(name).and_then(|own| own.read_numeric_as::<f64>());
        set.shape() == self.shape
            && set.element_size() == bytes
            && numbers("gridSpacing").is_ok_and(|own| own == self.spacing)
            && numbers("gridGlobalOffset").is_ok_and(|own| own == self.offset)
    }
}

/// A file of snapshots that is being written.
pub struct Snapshots {
    file: H5File,
    data: H5Group,
    mesh: Mesh,
}

impl Snapshots {
    /// Begins a file; an existing file at `path` is lost.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn create(path: &Path, head: &Head<'_>, mesh: Mesh) -> Result<Self, Hdf5Error> {
        // Who writes the file has locked it already, and its name is known to nobody else.
        let file = H5File::options().no_locking().create(path)?;
        let root = file.root_group();
        for (name, text) in [
            ("openPMD", "1.1.0"),
            ("basePath", "/data/%T/"),
            ("meshesPath", "fields/"),
            ("iterationEncoding", "groupBased"),
            ("iterationFormat", "/data/%T/"),
            ("software", "ripplon"),
            ("softwareVersion", env!("CARGO_PKG_VERSION")),
            ("comment", head.title),
        ] {
            if text.is_empty() {
                // A text of no length has no type: readers fail at it, and at every attribute beside it.
                continue;
            }
            root.set_attr_typed(name, word(text), text.as_bytes().to_vec())?;
        }
        root.set_attr_numeric("openPMDextension", &0_u32)?;
        if head.scene.len() <= LONGEST_TEXT {
            root.set_attr_typed("scene", word(head.scene), head.scene.as_bytes().to_vec())?;
        }
        let data = file.create_group("data")?;
        Ok(Self { file, data, mesh })
    }

    /// Goes on with the finished file at `path` after a step; snapshots of `later` steps, which it has, are removed.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub fn go_on(path: &Path, mesh: Mesh, later: &[u64]) -> Result<Self, Hdf5Error> {
        let file = H5File::options().no_locking().open_rw(path)?;
        for step in later {
            file.delete_group(&format!("data/{step}"))?;
        }
        let data = file.root_group().group("data")?;
        Ok(Self { file, data, mesh })
    }

    /// Writes the field of a step: the sites of the mesh, x fastest.
    ///
    /// # Errors
    /// If their number differs from the mesh, or the disk is full; the file then contains nothing of this step.
    pub fn push(&mut self, step: u64, time: f64, time_step: f64, field: &FieldData) -> Result<(), Hdf5Error> {
        // What the library keeps back is written now, so that what fails is what this snapshot takes.
        let done = self
            .append(step, time, time_step, field)
            .and_then(|()| self.file.flush());
        if done.is_err() {
            // It would be read as one that is whole, and its room serves what the file ends with.
            let _ = self.file.delete_group(&format!("data/{step}"));
        }
        done
    }

    fn append(&self, step: u64, time: f64, time_step: f64, field: &FieldData) -> Result<(), Hdf5Error> {
        let iteration = self.data.create_group(&step.to_string())?;
        iteration.set_attr_numeric("time", &time)?;
        iteration.set_attr_numeric("dt", &time_step)?;
        iteration.set_attr_numeric("timeUnitSI", &1.0_f64)?;
        let fields = iteration.create_group("fields")?;
        match field {
            FieldData::Complex64(values) => {
                let values = values.iter().map(|z| types::Complex32 { re: z.re, im: z.im });
                self.write(&fields, &values.collect::<Vec<_>>())
            }
            FieldData::Complex128(values) => {
                let values = values.iter().map(|z| types::Complex64 { re: z.re, im: z.im });
                self.write(&fields, &values.collect::<Vec<_>>())
            }
            FieldData::Float32(values) => self.write(&fields, values),
            FieldData::Float64(values) => self.write(&fields, values),
        }
    }

    /// Writes a table of contents, so that the file at `path`, which is this one, can be read with the snapshots so far, and
    /// goes on with it.
    ///
    /// # Errors
    /// If the disk is full.
    pub fn settle(self, path: &Path) -> Result<Self, Hdf5Error> {
        let mesh = self.mesh.clone();
        self.finish()?;
        Self::go_on(path, mesh, &[])
    }

    /// Sees whether the file at `path` has a table of contents.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn readable(path: &Path) -> Result<(), Hdf5Error> {
        let file = H5File::options().no_locking().open(path)?;
        file.root_group().group("data")?.group_names().map(drop)
    }

    /// Completes the file.
    ///
    /// # Errors
    /// If the disk is full.
    pub fn finish(self) -> Result<(), Hdf5Error> {
        self.file.close()
    }

    fn write<T: H5Type>(&self, fields: &H5Group, values: &[T]) -> Result<(), Hdf5Error> {
        let mesh = &self.mesh;
        let set = fields.new_dataset::<T>().shape(&mesh.shape).create(mesh.name)?;
        set.write_raw(values)?;
        let axes = [Letter(*b"z"), Letter(*b"y"), Letter(*b"x")];
        let labels = &axes[axes.len() - mesh.shape.len()..];
        for (name, text) in [("geometry", "cartesian"), ("dataOrder", "C")] {
            set.set_attr_typed(name, word(text), text.as_bytes().to_vec())?;
        }
        set.new_attr::<Letter>()
            .shape([labels.len()])
            .create("axisLabels")?
            .write_array(labels)?;
        numbers(&set, "gridSpacing", &mesh.spacing)?;
        numbers(&set, "gridGlobalOffset", &mesh.offset)?;
        numbers(&set, "unitDimension", &mesh.unit)?;
        numbers(&set, "position", &vec![0.0; mesh.shape.len()])?;
        for (name, value) in [("gridUnitSI", 1.0), ("unitSI", 1.0), ("timeOffset", 0.0)] {
            set.new_attr::<f64>().create(name)?.write_numeric::<f64>(&value)?;
        }
        Ok(())
    }
}

/// The type of a text: of fixed length, which all readers know; in UTF-8.
fn word(text: &str) -> DatatypeMessage {
    DatatypeMessage::FixedString {
        size: u32::try_from(text.len()).unwrap_or(u32::MAX),
        padding: 1,
        charset: 1,
    }
}

/// The name of an axis.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Letter([u8; 1]);

impl H5Type for Letter {
    fn hdf5_type() -> DatatypeMessage {
        DatatypeMessage::FixedString {
            size: 1,
            padding: 1,
            charset: 0,
        }
    }

    fn element_size() -> usize {
        1
    }
}

fn numbers(set: &H5Dataset, name: &str, values: &[f64]) -> Result<(), Hdf5Error> {
    set.new_attr::<f64>()
        .shape([values.len()])
        .create(name)?
        .write_array(values)
}
