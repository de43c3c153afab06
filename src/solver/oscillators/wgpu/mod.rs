//! Coupled oscillators on a graphics adapter, in single precision.
//!
//! The host's run ([`Oscillators`]) reads scenes, changes Δt and medium, sums and saves; between such events q and p are on the adapter, x fastest, where they are stepped,
//! recorded and drawn. States are those of the processor: checkpoints go from one to the other.
//!
//! - `naive`: one launch a sweep, in place (`kernels/oscillators_sweeps.wgsl`), in one dimension and in two.
//! - `fused`: several equal sub-steps a launch in two dimensions, of tiles in registers (`kernels/oscillators_block.wgsl`), from one pair of planes into the other.
//!
//! Both support everything that a scene may contain. Where operations act between steps, launches end with each step.
//!
//! Sources, transducers, and detectors that read single sites, are lists of operations on sites, which a kernel carries out between two steps (`kernels/sound.wgsl`); records come
//! back once a batch. Detectors of energy, flux or more than 65536 sites, observables and pictures of energies are summed on the adapter (`kernels/oscillators_sums.wgsl`); where there is no memory
//! for masses and springs there, the processor takes the steps, the sums and the pictures.
//!
//! Bound: a sweep moves 16 bytes a site (q and p read and written), and 8 of coefficients in a medium; a step of order 2 in two dimensions is seven of them. A launch of tiles moves 16
//! bytes a site and 32 of coefficients, and the halo.

mod medium;
mod planes;
mod solver;
mod steps;
mod sums;
mod sweeps;
mod tiles;

use super::run::Oscillators;
use crate::backend::wgpu::{Buffer, Stream, WgpuError};
use crate::field::Precision;
use crate::solver::SolverError;
use crate::solver::acoustic::loudness::Loudness;
use crate::solver::adapter::{self, beside::Beside, operations::Operations, sound_sums::Sums};
use crate::solver::method::{Backend, Target, Variant};
use crate::solver::resident::Resident;
use crate::solver::setup::{Choice, Setup};
use medium::Medium;
use planes::{sites, unsplit};
use sweeps::Sweeps;
use tiles::Tiles;

/// The row of targets.
pub(super) const TARGET: Target = Target {
    backend: Backend::Wgpu,
    precisions: &[Precision::Single],
    cut: false,
    variants: &[
        Variant {
            id: "naive",
            about: "One launch a sweep, in place; it does everything.",
        },
        Variant {
            id: "fused",
            about: "Two dimensions: several sub-steps a launch, tiles that overlap in registers; a second pair of planes.",
        },
    ],
};

/// How steps are taken.
enum Pass {
    /// Over the first pair of planes.
    Sweeps(Sweeps),
    Tiles(Tiles),
}

impl Pass {
    /// Tiles where there is a second pair of planes for them.
    fn new(
        stream: &Stream,
        host: &Oscillators<f32>,
        medium: &Medium,
        planes: &[[Buffer; 2]],
        choice: &Choice,
    ) -> Result<Self, WgpuError> {
        Ok(match planes {
            [field] => Self::Sweeps(Sweeps::new(stream, host, medium, field)?),
            _ => Self::Tiles(Tiles::new(stream, &host.springs.layout, medium, choice)?),
        })
    }
}

/// A run whose field is on the adapter.
pub(super) struct Wgpu {
    stream: Stream,
    /// Medium and constants; the state only between [`Resident::pull`] and `push`.
    host: Oscillators<f32>,
    choice: Choice,
    /// q and p; a second pair where tiles write, which then changes places with the first.
    planes: Vec<[Buffer; 2]>,
    /// Which of them is the field.
    now: usize,
    peak: Option<Buffer>,
    potential: Option<Buffer>,
    medium: Medium,
    pass: Pass,
    /// What happens to momenta before a step; to them and to pressures after it.
    kicks: Operations,
    momenta: Operations,
    pressures: Operations,
    beside: Beside,
    sums: Sums,
    /// What multiplies pressures in sums.
    scale: f64,
    /// m̂, k̂ of the bonds to the next site along x and y, k̂ of springs at soft edges, of every site once they were asked for; one site where all are alike.
    springs: Option<Buffer>,
}

impl Wgpu {
    /// The state at t = 0.
    pub(super) fn new(setup: &Setup) -> Result<Self, SolverError> {
        let stream = adapter::stream()?;
        let host = Oscillators::<f32>::naive(setup)?;
        let make = |host: Oscillators<f32>| -> Result<Self, WgpuError> {
            let sites = sites(&host.springs.layout);
            let pair = || -> Result<[Buffer; 2], WgpuError> {
                let plane = || stream.zeros::<f32>("the field", sites);
                Ok([plane()?, plane()?])
            };
            let mut planes = vec![pair()?];
            if !setup.choice.is("naive") && tiles::fit(stream.device(), &host.springs.layout) {
                planes.push(pair()?);
            }
            let medium = Medium::new(&stream, &host)?;
            let mut run = Self {
                pass: Pass::new(&stream, &host, &medium, &planes, &setup.choice)?,
                choice: setup.choice.clone(),
                medium,
                planes,
                now: 0,
                kicks: Operations::new(&stream, 1)?,
                momenta: Operations::new(&stream, 1)?,
                pressures: Operations::new(&stream, 1)?,
                beside: Beside::new(&stream)?,
                sums: sums::new(&stream, &host)?,
                scale: 1.0,
                springs: None,
                peak: None,
                potential: None,
                host,
                stream,
            };
            run.push_field()?;
            Ok(run)
        };
        make(host).map_err(SolverError::from)
    }

    /// q and p.
    fn q_and_p(&self) -> &[Buffer; 2] {
        &self.planes[self.now]
    }

    /// The host's field and what it keeps of every site, to the adapter; the host lets go of them.
    fn push_field(&mut self) -> Result<(), WgpuError> {
        let layout = &self.host.springs.layout;
        #[expect(clippy::cast_possible_truncation, reason = "rounded to the precision of the run")]
        let step = self.host.time_step as f32;
        self.beside.set_step(&self.stream, sites(layout), step)?;
        let [q, p] = self.q_and_p();
        let Oscillators { field, .. } = &self.host;
        self.stream
            .upload("the pressure", &unsplit(layout, |place| field.q[place]), q, 0)?;
        self.stream
            .upload("the momenta", &unsplit(layout, |place| field.p[place]), p, 0)?;
        let keep = |what: &str, values: &[f32]| -> Result<Option<Buffer>, WgpuError> {
            if values.is_empty() {
                return Ok(None);
            }
            self.stream
                .list(what, &unsplit(layout, |place| values[place]))
                .map(Some)
        };
        let peak = keep("the largest pressures", &self.host.peak)?;
        let potential = keep("the velocity", &self.host.potential)?;
        (self.peak, self.potential) = (peak, potential);
        let begun = Loudness::of(&self.host.scenario, self.host.time_step);
        self.scale = begun.beside(&self.host.field.q).scale();
        self.sums.forget();
        self.let_go();
        Ok(())
    }

    /// Changes the field on the host, where medium and Δt stay what they are.
    fn with_field<R>(
        &mut self,
        change: impl FnOnce(&mut Oscillators<f32>) -> Result<R, SolverError>,
    ) -> Result<R, SolverError> {
        self.pull()?;
        let result = change(&mut self.host);
        self.push_field()?;
        result
    }
}
