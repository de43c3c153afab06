//! Sites that detectors read after every step, gathered on the adapter and copied to the host once a batch.

use super::looks::SOURCE;
use crate::backend::wgpu::{Bind, Binding, Buffer, Kernel, Stream, WgpuError};
use crate::solver::adapter::unsigned;
use bytemuck::{Pod, Zeroable};
use num_complex::Complex;
use std::collections::HashMap;

const GATHER: [Binding; 4] = [Binding::Table(1), Binding::Write, Binding::Read, Binding::Write];
/// Threads of a block.
const THREADS: usize = 256;

/// `Gather` of the kernels, in 256 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Moment {
    count: u32,
    to: u32,
    rest: [[u32; 2]; 31],
}

/// The kernel that gathers sites.
pub(super) fn gather(stream: &Stream) -> Result<Kernel, WgpuError> {
    stream.device().kernel(SOURCE, "gather", &GATHER, &[])
}

/// Rows of sites that detectors read after every step of a batch.
pub(super) struct Gathered {
    /// (row, first column, columns) → where its sites lie in a record.
    ranges: HashMap<[usize; 3], usize>,
    /// Sites of a record.
    sites: usize,
    /// What the kernel reads and writes when either plane is the field.
    binds: [Bind; 2],
    records: Buffer,
}

/// Steps between two copies to the host.
pub(super) const STEPS: usize = 64;
/// Sites of all records of a batch.
const MOST_SITES: usize = 1 << 22;

impl Gathered {
    /// For these ranges: (row, first column, columns); `None` if they are so many that the whole field is copied to the host instead.
    pub(super) fn new(
        (stream, kernel): (&Stream, &Kernel),
        (nx, planes): (usize, &[Buffer; 2]),
        asked: &[[usize; 3]],
    ) -> Result<Option<Self>, WgpuError> {
        let (mut ranges, mut places) = (HashMap::new(), Vec::new());
        for range in asked {
            let [row, first, columns] = *range;
            ranges.insert(*range, places.len());
            places.extend((first..first + columns).map(|x| unsigned(row * nx + x)));
        }
        let sites = places.len();
        if sites * STEPS > MOST_SITES {
            return Ok(None);
        }
        let moments: Vec<Moment> = (0..STEPS)
            .map(|step| Moment {
                count: unsigned(sites),
                to: unsigned(step * sites),
                rest: [[0; 2]; 31],
            })
            .collect();
        let moments = stream.list("records", &moments)?;
        let places = stream.list("detectors", &places)?;
        let records = stream.zeros::<Complex<f32>>("records", STEPS * sites)?;
        let bind = |plane: &Buffer| {
            let buffers = [&moments, plane, &places, &records];
            let pairs: Vec<(Binding, &Buffer)> = GATHER.into_iter().zip(buffers).collect();
            stream.device().bind(kernel, &pairs)
        };
        Ok(Some(Self {
            binds: planes.each_ref().map(bind),
            records,
            ranges,
            sites,
        }))
    }

    /// Whether it was made for these ranges.
    pub(super) fn fits(&self, asked: &[[usize; 3]]) -> bool {
        self.ranges.len() == asked.len() && asked.iter().all(|range| self.ranges.contains_key(range))
    }

    /// Gathers the sites after step `step` of the batch, of the field in plane `now`.
    pub(super) fn gather(&self, stream: &Stream, kernel: &Kernel, now: usize, step: usize) -> Result<(), WgpuError> {
        if self.sites == 0 {
            return Ok(());
        }
        stream.launch(
            kernel,
            &self.binds[now],
            Some(step),
            [self.sites.div_ceil(THREADS), 1, 1],
        )
    }

    /// The records of the first `steps` steps of the batch.
    pub(super) fn records(&self, stream: &Stream, steps: usize) -> Result<Vec<Complex<f32>>, WgpuError> {
        let mut all = vec![Complex::default(); steps * self.sites];
        if !all.is_empty() {
            stream.download("records", &self.records, 0, &mut all)?;
        }
        Ok(all)
    }

    /// Where a range lies in the records of a batch.
    pub(super) fn place(&self, step: usize, range: [usize; 3]) -> Option<usize> {
        Some(step * self.sites + self.ranges.get(&range)?)
    }
}
