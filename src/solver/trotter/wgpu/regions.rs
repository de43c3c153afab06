//! Sums and largest values over regions, made on the adapter after every step (`kernels/trotter_sums.wgsl`).

use super::gathered::STEPS;
use crate::backend::wgpu::Binding::{Read, Table, Write};
use crate::backend::wgpu::{Bind, Binding, Buffer, Kernel, Stream, WgpuError};
use crate::grid::Grid;
use crate::solver::adapter::unsigned;
use crate::solver::events::{Reduction, Sites};
use crate::solver::trotter::recorder::{Reading, Recorder, Weights};
use bytemuck::{Pod, Zeroable};
use std::sync::Arc;

const SOURCE: (&str, &str) = ("trotter_sums", include_str!("../../../../kernels/trotter_sums.wgsl"));
const BINDINGS: [Binding; 5] = [Table(1), Read, Read, Read, Write];
/// Rows of a number.
const ROWS: usize = 64;

/// `Region` of the kernel, in 256 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Params {
    nx: u32,
    ny: u32,
    x: [u32; 2],
    y: u32,
    height: u32,
    z: u32,
    rows: u32,
    first_chunk: u32,
    chunks: u32,
    to: u32,
    largest: u32,
    weighted: u32,
    rest: [u32; 51],
}

/// A region.
struct Region {
    sites: Sites,
    reduction: Reduction,
    weights: Arc<Weights<f32>>,
    /// What the kernel reads and writes when either plane is the field.
    binds: [Bind; 2],
    records: Buffer,
    blocks: [usize; 2],
}

/// Regions whose numbers a [`Recorder`] keeps.
#[derive(Default)]
pub(super) struct Regions(Vec<Region>);

/// Readings that are sums or maxima of some sites.
fn reduced(recorder: &Recorder<f32>) -> impl Iterator<Item = &Reading<f32>> {
    let there = |reading: &&Reading<f32>| reading.partials().is_some_and(|partials| partials.per_step() > 0);
    recorder.readings().iter().filter(there)
}

/// The kernel.
pub(super) fn kernel(stream: &Stream) -> Result<Kernel, WgpuError> {
    stream.device().kernel(SOURCE, "reduce", &BINDINGS, &[])
}

impl Region {
    fn new(
        (stream, kernel): (&Stream, &Kernel),
        (grid, planes): (&Grid, &[Buffer; 2]),
        reading: &Reading<f32>,
    ) -> Result<Option<Self>, WgpuError> {
        let Some(partials) = reading.partials() else {
            return Ok(None);
        };
        let (sites, chunks) = (partials.sites, partials.sites.chunks());
        let blocks = [chunks.len(), sites.rows().div_ceil(ROWS)];
        let numbers = blocks[0] * blocks[1];
        let weights = reading.weights();
        let params: Vec<Params> = (0..STEPS)
            .map(|step| Params {
                nx: unsigned(grid.size()[0]),
                ny: unsigned(grid.size()[1]),
                x: [unsigned(sites.lo[0]), unsigned(sites.hi[0])],
                y: unsigned(sites.lo[1]),
                height: unsigned(sites.hi[1] - sites.lo[1]),
                z: unsigned(sites.lo[2]),
                rows: unsigned(sites.rows()),
                first_chunk: unsigned(chunks.start),
                chunks: unsigned(chunks.len()),
                to: unsigned(step * numbers),
                largest: u32::from(partials.reduction == Reduction::Largest),
                weighted: u32::from(!weights.values.is_empty()),
                rest: [0; 51],
            })
            .collect();
        let params = stream.list("regions", &params)?;
        let values = stream.list("absorption of regions", &weights.values)?;
        let at = stream.list("absorption of regions", &weights.at)?;
        let records = stream.zeros::<f32>("sums", STEPS * numbers)?;
        let bind = |plane: &Buffer| {
            let buffers = [&params, plane, &values, &at, &records];
            let pairs: Vec<(Binding, &Buffer)> = BINDINGS.into_iter().zip(buffers).collect();
            stream.device().bind(kernel, &pairs)
        };
        Ok(Some(Self {
            sites,
            reduction: partials.reduction,
            weights: Arc::clone(weights),
            binds: planes.each_ref().map(bind),
            records,
            blocks,
        }))
    }

    fn is_of(&self, reading: &Reading<f32>) -> bool {
        let same = |sites: &Sites, reduction| *sites == self.sites && reduction == self.reduction;
        let partials = reading.partials();
        partials.is_some_and(|partials| same(&partials.sites, partials.reduction))
            && Arc::ptr_eq(&self.weights, reading.weights())
    }
}

impl Regions {
    /// Those of a recorder, of a field in either of `planes`.
    pub(super) fn new(
        made: (&Stream, &Kernel),
        (grid, planes): (&Grid, &[Buffer; 2]),
        recorder: &Recorder<f32>,
    ) -> Result<Self, WgpuError> {
        let all = reduced(recorder).filter_map(|reading| Region::new(made, (grid, planes), reading).transpose());
        Ok(Self(all.collect::<Result<_, WgpuError>>()?))
    }

    /// Whether they are those of this recorder.
    pub(super) fn fits(&self, recorder: &Recorder<f32>) -> bool {
        let count = reduced(recorder).count();
        count == self.0.len() && reduced(recorder).zip(&self.0).all(|(reading, own)| own.is_of(reading))
    }

    /// Sums after step `step` of a batch, of the field in plane `now`.
    pub(super) fn sum(&self, stream: &Stream, kernel: &Kernel, now: usize, step: usize) -> Result<(), WgpuError> {
        for region in &self.0 {
            let [x, y] = region.blocks;
            stream.launch(kernel, &region.binds[now], Some(step), [x, y, 1])?;
        }
        Ok(())
    }

    /// Hands the numbers of the first `count` steps of a batch to the recorder, as those of its steps from `first` on.
    pub(super) fn hand_over(
        &self,
        stream: &Stream,
        recorder: &Recorder<f32>,
        (first, count): (usize, usize),
    ) -> Result<(), WgpuError> {
        for (reading, region) in reduced(recorder).zip(&self.0) {
            let Some(partials) = reading.partials() else { continue };
            let [chunks, blocks] = region.blocks;
            let mut numbers = vec![0.0f32; count * chunks * blocks];
            stream.download("sums", &region.records, 0, &mut numbers)?;
            for (step, numbers) in numbers.chunks_exact(chunks * blocks).enumerate() {
                let numbers = numbers.iter().copied().map(f64::from);
                let total = match region.reduction {
                    Reduction::Largest => numbers.fold(0.0, f64::max),
                    Reduction::Sum | Reduction::Squares => numbers.sum(),
                };
                partials.put_total(first + step, Some(total));
            }
        }
        Ok(())
    }
}
