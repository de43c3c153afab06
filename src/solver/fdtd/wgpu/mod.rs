//! Finite differences on a graphics adapter, in single precision.
//!
//! The host's run ([`Fdtd`]) reads scenes, starts, changes Δt and medium, and saves; between such events its levels are on the adapter, where they are
//! stepped, recorded and drawn. States are those of the processor: checkpoints go from one to the other.
//!
//! - `stepwise`: in place over the older level, a thread a site (`kernels/fdtd_step.wgsl`); it supports everything. The core of a grid, out of reach of edges, layers and
//!   walls, has a kernel of its own, whose threads march along the last axis (`kernels/fdtd_march.wgsl`).
//!
//! - `single-launch`: small grids; also a thread a site, which does the operations at its site, too (`single_launch.rs`).
//!
//! - `tiled`: several steps a launch in two dimensions, of tiles in registers (`kernels/fdtd_block.wgsl`), at orders 2 and 4, where the medium has nothing but speeds,
//!   and walls at order 2.
//!
//! Sources, and detectors that read single sites, are lists of operations on sites, which, except in single launches, a kernel carries out after each step (`kernels/sound.wgsl`); energies, fluxes and
//! detectors of more than 65536 sites are summed there when they are due, as are observables, and pictures of energies are made there (`kernels/fdtd_sums.wgsl`). Records come back once a batch.
//!
//! Bound: a step moves 12 bytes a site (pⁿ and pⁿ⁻¹ read, pⁿ⁺¹ written), 16 with a speed per site.

mod march;
mod medium;
mod single_launch;
mod solver;
mod steps;
mod sums;
mod tiles;

use super::run::Fdtd;
use crate::backend::wgpu::{Buffer, Stream, WgpuError};
use crate::field::Precision;
use crate::solver::SolverError;
use crate::solver::acoustic::loudness::Loudness;
use crate::solver::adapter::{self, beside::Beside, operations::Operations, sound_sums::Sums};
use crate::solver::method::{Backend, Target, Variant};
use crate::solver::resident::Resident;
use crate::solver::setup::{Choice, Setup};
use medium::{Medium, packed};
use single_launch::SingleLaunch;
use tiles::Tiles;

/// The row of targets.
pub(super) const TARGET: Target = Target {
    backend: Backend::Wgpu,
    precisions: &[Precision::Single],
    cut: false,
    variants: &[
        Variant {
            id: "stepwise",
            about: "Step by step, in place over the older level; it does everything.",
        },
        Variant {
            id: "single-launch",
            about: "Grids of half a million sites at most: a step in one launch, with sources and detectors of single sites.",
        },
        Variant {
            id: "tiled",
            about: "Two dimensions, orders 2 and 4: several steps a launch, tiles that overlap in registers; a second pair of levels.",
        },
    ],
};

/// Levels on the adapter: nx × ny × nz numbers each, x fastest.
pub(super) struct Wgpu {
    stream: Stream,
    /// Reads scenes; holds the state only between [`Resident::pull`] and `push`.
    host: Fdtd<f32>,
    /// Two levels; two more where tiles write, which then change places with the first.
    pairs: Vec<[Buffer; 2]>,
    pair: usize,
    /// Which level of the pair is pⁿ.
    newer: usize,
    choice: Choice,
    tiles: Option<Tiles>,
    /// Why there are none although the scene asks for them.
    because: Option<&'static str>,
    peak: Option<Buffer>,
    potential: Option<Buffer>,
    medium: Medium,
    single: Option<SingleLaunch>,
    operations: Operations,
    sums: Sums,
    /// What multiplies pressures in sums.
    scale: f64,
    beside: Beside,
}

impl Wgpu {
    /// The state at t = 0.
    pub(super) fn new(setup: &Setup) -> Result<Self, SolverError> {
        let stream = adapter::stream()?;
        let host = Fdtd::<f32>::new(setup)?;
        let make = |host: Fdtd<f32>| -> Result<Self, WgpuError> {
            let sites = host.sweep.lattice.size.iter().product();
            let level = || stream.zeros::<f32>("the pressure", sites);
            let mut pairs = vec![[level()?, level()?]];
            let tiled = setup.choice.variant.as_deref().is_none_or(|variant| variant == "tiled");
            if tiled && tiles::fit(stream.device(), &host) {
                pairs.push([level()?, level()?]);
            }
            let single = single_launch::fits(&host, &setup.choice);
            let medium = Medium::new(&stream, &host, &pairs, !single)?;
            let mut run = Self {
                sums: sums::new(&stream, &medium)?,
                single: (single.then(|| SingleLaunch::new(&stream, &host, &medium))).transpose()?,
                medium,
                operations: Operations::new(&stream, tiles::MOST)?,
                beside: Beside::new(&stream)?,
                scale: 1.0,
                pair: 0,
                newer: 0,
                peak: None,
                potential: None,
                choice: setup.choice.clone(),
                tiles: None,
                because: None,
                pairs,
                host,
                stream,
            };
            run.choose_pass()?;
            run.push_levels()?;
            Ok(run)
        };
        make(host).map_err(SolverError::from)
    }

    /// Makes tiles ready, where the scene's variant, grid and medium let them be.
    fn choose_pass(&mut self) -> Result<(), WgpuError> {
        let fits = self.pairs.len() > 1 && self.medium.is_plain();
        self.tiles = fits
            .then(|| Tiles::new(&self.stream, &self.host, &self.medium, &self.pairs))
            .transpose()?
            .flatten();
        self.because = if self.tiles.is_none() && self.choice.is("tiled") {
            Some(
                "tiles are for two dimensions, orders 2 and 4 and a medium of nothing but speeds, and walls at order 2",
            )
        } else if self.single.is_none() && self.choice.is("single-launch") {
            Some("steps in one launch are for grids of half a million sites at most")
        } else {
            None
        };
        Ok(())
    }

    /// pⁿ, and the level before it.
    fn levels(&self) -> [&Buffer; 2] {
        [self.newer, 1 - self.newer].map(|level| &self.pairs[self.pair][level])
    }

    /// Sites of the grid.
    fn sites(&self) -> usize {
        self.host.sweep.lattice.size.iter().product()
    }

    /// The host's levels and what it keeps of every site, to the adapter; the host lets go of them.
    fn push_levels(&mut self) -> Result<(), WgpuError> {
        #[expect(clippy::cast_possible_truncation, reason = "rounded to the precision of the run")]
        let step = self.host.time_step as f32;
        self.beside.set_step(&self.stream, self.sites(), step)?;
        let begun = Loudness::of(&self.host.scenario, self.host.time_step);
        self.scale = begun.beside(&self.host.now).scale();
        self.sums.forget();
        let lattice = &self.host.sweep.lattice;
        let [now, old] = self.levels();
        self.stream
            .upload("the pressure", &packed(lattice, &self.host.now), now, 0)?;
        self.stream
            .upload("the pressure", &packed(lattice, &self.host.old), old, 0)?;
        let keep = |what: &str, values: &[f32]| -> Result<Option<Buffer>, WgpuError> {
            if values.is_empty() {
                return Ok(None);
            }
            self.stream.list(what, &packed(lattice, values)).map(Some)
        };
        let peak = keep("the largest pressures", &self.host.peak)?;
        let potential = keep("the velocity", &self.host.potential)?;
        (self.peak, self.potential) = (peak, potential);
        self.let_go();
        Ok(())
    }
}
