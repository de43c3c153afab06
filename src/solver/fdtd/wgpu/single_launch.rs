//! Small grids: a step in one launch, with the operations on single sites (`kernels/fdtd_step.wgsl`).
//!
//! On a small grid launches wait for each other longer than they compute: one for the core, one for the sites around it, one of a single block for sources and
//! detectors. Here every thread steps a site and does its operations.

use super::super::run::Fdtd;
use super::medium::{Medium, SOURCE, STEP, marks};
use crate::backend::wgpu::{Bind, Binding, Buffer, Kernel, Stream, WgpuError, expanded};
use crate::solver::adapter::blocks;
use crate::solver::adapter::places::Places;
use crate::solver::setup::Choice;

/// What the kernel is given: with what happens in a step, and where records go.
const BINDINGS: [Binding; 10] = {
    let [a, b, c, d, e, f, g, h] = STEP;
    [a, b, c, d, e, f, g, h, Binding::Table(1), Binding::Write]
};
/// Sites of a grid at most: on an H100 separate kernels were as fast at 8·10⁵ sites and faster at 1.5·10⁶.
const MOST_SITES: usize = 1 << 19;

/// Whether steps are taken so: on small grids, unless the scene asks for kernels of their own.
pub(super) fn fits(host: &Fdtd<f32>, choice: &Choice) -> bool {
    !choice.is("stepwise") && host.sweep.lattice.size.iter().product::<usize>() <= MOST_SITES
}

/// The kernel, and the operations on single sites.
pub(super) struct SingleLaunch {
    kernel: Kernel,
    blocks: [usize; 3],
    places: Places,
    /// What the kernel is given: of each pair of levels, with its first or its second as pⁿ; none after an array was replaced.
    binds: [[Option<Bind>; 2]; 2],
    bound: [Buffer; 2],
}

impl SingleLaunch {
    /// The kernel for a medium.
    pub(super) fn new(stream: &Stream, host: &Fdtd<f32>, medium: &Medium) -> Result<Self, WgpuError> {
        let lattice = &host.sweep.lattice;
        let sites = lattice.size.iter().product();
        let places = Places::new(stream, marks(host, sites))?;
        let source = ("fdtd_step with sites", &*expanded(SOURCE, &[("OPERATES", 1)]));
        Ok(Self {
            kernel: (stream.device()).kernel(source, "step", &BINDINGS, medium.constants())?,
            blocks: blocks(stream.device(), [lattice.size[0], lattice.rows()]),
            binds: Default::default(),
            bound: [places.words.clone(), places.record.clone()],
            places,
        })
    }

    /// The operations on single sites in the next batch.
    pub(super) fn places_mut(&mut self) -> &mut Places {
        &mut self.places
    }

    /// What was gathered in `steps` steps of the batch.
    pub(super) fn records(&self, stream: &Stream, steps: usize) -> Result<Vec<f32>, WgpuError> {
        self.places.records(stream, steps)
    }

    /// Queues step `n` of the batch; `newer`: which level of the pair is pⁿ.
    pub(super) fn step(
        &mut self,
        stream: &Stream,
        medium: &Medium,
        pairs: &[[Buffer; 2]],
        [pair, newer]: [usize; 2],
        n: usize,
    ) -> Result<(), WgpuError> {
        let arrays = [&self.places.words, &self.places.record];
        if !arrays.iter().zip(&self.bound).all(|(array, bound)| array.is(bound)) {
            self.binds = Default::default();
            self.bound = arrays.map(Buffer::clone);
        }
        let bind = self.binds[pair][newer].get_or_insert_with(|| {
            let [params, squares, density, _, damping] = medium.planes();
            let levels = &pairs[pair];
            let buffers = [
                params,
                &levels[newer],
                &levels[1 - newer],
                squares,
                density,
                arrays[0],
                damping,
                medium.layers(),
                &self.places.moments,
                arrays[1],
            ];
            let pairs: Vec<(Binding, &Buffer)> = BINDINGS.into_iter().zip(buffers).collect();
            stream.device().bind(&self.kernel, &pairs)
        });
        stream.launch(&self.kernel, bind, Some(n), self.blocks)
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> u64 {
        self.places.bytes()
    }
}
