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
//! - `tiled`: several steps a launch in two dimensions, at orders 2 and 4, of tiles in registers where the medium has nothing but speeds, and walls at order 2
//!   (`kernels/fdtd_block.wgsl`), and of tiles that take the step of a site one by one where it has more, absorbing layers above all (`kernels/fdtd_tiles.wgsl`). With such
//!   tiles it is taken where it is faster, as measured at the start.
//!
//! Sources, and detectors that read single sites, are lists of operations on sites, which, except in single launches and tiles, a kernel carries out after each step (`kernels/sound.wgsl`); energies, fluxes and
//! detectors of more than 65536 sites are summed there when they are due, as are observables, and pictures of energies are made there (`kernels/fdtd_sums.wgsl`). Records come back once a batch.
//!
//! Bound: a step moves 12 bytes a site (pⁿ and pⁿ⁻¹ read, pⁿ⁺¹ written), 16 with a speed per site.

mod layers;
mod march;
mod medium;
mod mixed;
mod pass;
mod planes;
mod registers;
mod single_launch;
mod solver;
mod steps;
mod sums;
mod tiles;

use super::run::Fdtd;
use crate::backend::wgpu::{Buffer, Stream, WgpuError};
use crate::field::Precision;
use crate::platform::Instant;
use crate::solver::SolverError;
use crate::solver::adapter::{self, beside::Beside, operations::Operations, sound_sums::Sums};
use crate::solver::method::{Backend, Target, Variant};
use crate::solver::resident::Resident;
use crate::solver::setup::{Choice, Setup};
use medium::{Medium, packed};
use pass::{MOST, Pass};
use single_launch::SingleLaunch;
use std::time::Duration;
use tiles::{Shape, Tiles};

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
            about: "Two dimensions, orders 2 and 4: several steps a launch, tiles that overlap, in registers where the medium has only speeds and walls; a second pair of levels.",
        },
    ],
};

/// Passes of each kind that are timed, and how long one pass has to take to be enough.
const TIMED: usize = 8;
const ENOUGH: Duration = Duration::from_millis(10);
/// After so long no other shape is tried.
const LONGEST: Duration = Duration::from_millis(500);

/// What takes the least time a step.
#[derive(Clone, Copy, Debug)]
enum Quickest {
    SingleSteps,
    Tiles(Shape),
}

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
    /// What is fastest where not all tiles are in registers, once it was measured.
    quickest: Option<Quickest>,
    /// Why the scene's variant is not taken.
    because: Option<&'static str>,
    peak: Option<Buffer>,
    potential: Option<Buffer>,
    medium: Medium,
    single: Option<SingleLaunch>,
    operations: Operations,
    sums: Sums,
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
                operations: Operations::new(&stream, MOST)?,
                beside: Beside::new(&stream)?,
                pair: 0,
                newer: 0,
                peak: None,
                potential: None,
                choice: setup.choice.clone(),
                tiles: None,
                quickest: None,
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

    /// Makes tiles ready, where the scene's variant, grid and medium let them be and they are faster.
    fn choose_pass(&mut self) -> Result<(), WgpuError> {
        self.tiles = None;
        let shapes = if self.pairs.len() > 1 {
            tiles::all(self.stream.device(), &self.host, &self.medium)
        } else {
            Vec::new()
        };
        self.because = if shapes.is_empty() && self.choice.is("tiled") {
            Some("tiles are for two dimensions, orders 2 and 4 and grids for which the adapter has room")
        } else if self.single.is_none() && self.choice.is("single-launch") {
            Some("steps in one launch are for grids of half a million sites at most")
        } else {
            None
        };
        let shape = if self.medium.mixed().is_none() || shapes.is_empty() || self.choice.is("tiled") {
            shapes.first().copied()
        } else {
            let quickest = match self.quickest {
                Some(known) => known,
                None => self.quickest_of(shapes)?,
            };
            self.quickest = Some(quickest);
            match quickest {
                Quickest::SingleSteps => None,
                Quickest::Tiles(shape) => Some(shape),
            }
        };
        let make = |shape| Tiles::new(&self.stream, &self.host, &self.medium, &self.pairs, shape);
        self.tiles = shape.map(make).transpose()?;
        Ok(())
    }

    /// What takes the least time a step: single steps, or tiles of one of some shapes. All write the pair of levels that is not the field, and the memory variables that belong to it.
    fn quickest_of(&mut self, shapes: Vec<Shape>) -> Result<Quickest, WgpuError> {
        let begin = Instant::now();
        let other = 1 - self.pair;
        let mut single = self.single.take();
        let one_by_one = self.time(MOST, || {
            (0..MOST).try_for_each(|n| match &mut single {
                Some(single) => single.step(&self.stream, &self.medium, &self.pairs, [other, n % 2], 0),
                None => self.medium.step(&self.stream, [other, n % 2]),
            })
        });
        self.single = single;
        let mut best = (one_by_one?, Quickest::SingleSteps);
        for shape in shapes {
            let mut tiles = Tiles::new(&self.stream, &self.host, &self.medium, &self.pairs, shape)?;
            let took = self.time(shape.steps, || tiles.launch(&self.pass_of(0, shape.steps)))?;
            tracing::debug!("{shape:?}: {took:?} a step, the best so far {best:?}");
            if took < best.0 {
                best = (took, Quickest::Tiles(shape));
            }
            // Of tiles in registers the first shape is the fastest one.
            if tiles.are_in_registers() || begin.elapsed() > LONGEST {
                break;
            }
        }
        Ok(best.1)
    }

    /// The time of one of `steps` steps.
    fn time(&self, steps: usize, mut put_in: impl FnMut() -> Result<(), WgpuError>) -> Result<Duration, WgpuError> {
        // The first pass waits for what the driver does once; a slow adapter shows its speed in the second.
        put_in()?;
        self.stream.finish()?;
        let mut passes = 1;
        loop {
            let start = Instant::now();
            for _ in 0..passes {
                put_in()?;
            }
            self.stream.finish()?;
            let took = start.elapsed();
            if passes == TIMED || took > ENOUGH {
                return Ok(took / u32::try_from(steps * passes).unwrap_or(1));
            }
            passes = TIMED;
        }
    }

    /// A pass of so many steps from the field on, the first of which is step `first` of the batch.
    fn pass_of(&self, first: usize, steps: usize) -> Pass<'_> {
        Pass {
            stream: &self.stream,
            medium: &self.medium,
            operations: &self.operations,
            pairs: &self.pairs,
            pair: self.pair,
            newer: self.newer,
            first,
            steps,
        }
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
