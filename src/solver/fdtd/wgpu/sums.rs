//! Sums over regions and over the whole field, made on the adapter (`kernels/fdtd_sums.wgsl`).

use super::Wgpu;
use super::medium::Medium;
use crate::backend::wgpu::Binding::{Read, Table, Uniform, Write};
use crate::backend::wgpu::{Bind, Binding, Buffer, Kernel, Stream, WgpuError, expanded};
use crate::physics::{Measure, Observables};
use crate::solver::Taps;
use crate::solver::acoustic::sums::finished;
use crate::solver::adapter::operations::{BATCH, MOST_GATHERED};
use crate::solver::adapter::patches::Patches;
use crate::solver::adapter::whole;
use crate::solver::gathered::is_gathered;
use crate::solver::taps::Tap;
use bytemuck::{Pod, Zeroable};

/// The kernels' text.
const SOURCE: &str = concat!(
    include_str!("../../../../kernels/fdtd.wgsl"),
    include_str!("../../../../kernels/fdtd_sites.wgsl"),
    include_str!("../../../../kernels/fdtd_sums.wgsl"),
);
/// What they are given.
const BINDINGS: [Binding; 8] = [Uniform, Read, Write, Read, Read, Read, Write, Table(1)];
/// Columns and rows of a number.
const PATCH: usize = 64;
/// Numbers of `moments` for a patch.
const MOMENTS: usize = 6;
/// Numbers of a region that are kept until they are fetched, where one step has no more.
const MOST_NUMBERS: usize = 1 << 22;

/// `Region` of the kernels, in 256 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Params {
    lo: [i32; 3],
    kind: i32,
    hi: [i32; 3],
    across: i32,
    to: i32,
    sound: i32,
    time_step: f32,
    spacing: f32,
    density: f32,
    across_x: i32,
    blocks: i32,
    rest: [i32; 49],
}

/// What the kernels call a measure.
fn kind(measure: Measure) -> i32 {
    match measure {
        Measure::Energy => 0,
        Measure::Flux => 1,
        Measure::Value | Measure::Velocity | Measure::Pressure => 2,
        Measure::Probability => 3,
        Measure::Peak => 4,
    }
}

/// The kernels of a medium.
#[derive(Clone)]
struct Kernels {
    measure: Kernel,
    moments: Kernel,
}

impl Kernels {
    fn new(stream: &Stream, constants: &[(&str, f64)]) -> Result<Self, WgpuError> {
        let source = expanded(SOURCE, &[("OPERATES", 0)]);
        let kernel = |entry| (stream.device()).kernel(("fdtd_sums", &source), entry, &BINDINGS, constants);
        Ok(Self {
            measure: kernel("measure")?,
            moments: kernel("moments")?,
        })
    }
}

/// A detector that sums, and its numbers of the steps of a batch.
struct Summed {
    tap: usize,
    region: Tap,
    /// Blocks, each of which has a number.
    count: usize,
    table: Buffer,
    numbers: Buffer,
    /// Steps of the batch that left numbers here, in order.
    steps: Vec<usize>,
    /// What the kernel is given, of each pair of levels with its first or its second as pⁿ, once it was asked for.
    binds: [[Option<Bind>; 2]; 2],
}

/// Kernels that sum, and detectors that do.
pub(super) struct Sums {
    kernels: Kernels,
    taps: Vec<Tap>,
    all: Vec<Summed>,
    /// Steps of a batch that there is room for.
    room: usize,
    time_step: f64,
}

impl Sums {
    /// None yet.
    pub(super) fn new(stream: &Stream, medium: &Medium) -> Result<Self, WgpuError> {
        Ok(Self {
            kernels: Kernels::new(stream, medium.sites())?,
            taps: Vec::new(),
            all: Vec::new(),
            room: BATCH,
            time_step: 0.0,
        })
    }

    /// Steps that a batch may have.
    pub(super) fn most_steps(&self) -> u64 {
        self.room as u64
    }

    /// Whether they are those of these detectors.
    fn are_of(&self, taps: &Taps) -> bool {
        self.taps == taps.taps()
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> u64 {
        let own = |summed: &Summed| summed.table.bytes() + summed.numbers.bytes();
        self.all.iter().map(own).sum()
    }
}

impl Wgpu {
    /// What the kernels are told of sites `lo` to `hi`, which so many blocks take along x and across it.
    #[expect(clippy::cast_possible_truncation, reason = "rounded to the precision of the run")]
    fn region(&self, measure: Measure, [lo, hi]: [[usize; 3]; 2], count: [usize; 2], sound: bool) -> Params {
        Params {
            lo: lo.map(whole),
            kind: kind(measure),
            hi: hi.map(whole),
            across: 0,
            to: 0,
            sound: i32::from(sound),
            time_step: self.host.time_step as f32,
            spacing: self.host.scenario.grid().spacing() as f32,
            density: self.host.sweep.material.uniform_density as f32,
            across_x: whole(count[0]),
            blocks: whole(count.iter().product()),
            rest: [0; 49],
        }
    }

    /// What a kernel reads of the levels, or where the sound's energy is asked for of what the velocity follows from; where it writes, and its regions.
    fn bind_sums(&self, kernel: &Kernel, sound: bool, numbers: &Buffer, table: &Buffer) -> Bind {
        let [now, old] = self.levels();
        let levels = match &self.potential {
            Some(potential) if sound => [potential, now],
            _ => [now, old],
        };
        let [params, medium @ .., _] = self.medium.planes();
        let buffers = [params, levels[0], levels[1]].into_iter().chain(medium);
        let pairs: Vec<(Binding, &Buffer)> = BINDINGS.into_iter().zip(buffers.chain([numbers, table])).collect();
        self.stream.device().bind(kernel, &pairs)
    }

    /// Prepares the sums of detectors.
    pub(super) fn prepare_sums(&mut self, taps: &Taps) -> Result<(), WgpuError> {
        if self.sums.are_of(taps) && self.sums.time_step.to_bits() == self.host.time_step.to_bits() {
            return Ok(());
        }
        let mut sums = Sums {
            kernels: self.sums.kernels.clone(),
            taps: taps.taps().to_vec(),
            all: Vec::new(),
            room: BATCH,
            time_step: self.host.time_step,
        };
        let asked = |(_, tap): &(usize, &Tap)| !is_gathered(tap, MOST_GATHERED);
        for (n, tap) in taps.taps().iter().enumerate().filter(asked) {
            let Some([lo, hi]) = tap.summed_sites() else { continue };
            let rows = (hi[1] - lo[1]) * (hi[2] - lo[2]);
            let count = [(hi[0] - lo[0]).div_ceil(PATCH), rows.div_ceil(PATCH)];
            let numbers = count[0] * count[1];
            let room = (MOST_NUMBERS / numbers).clamp(1, BATCH);
            let moves = matches!(tap.measure, Measure::Energy | Measure::Flux);
            let region = self.region(tap.measure, [lo, hi], count, moves);
            let table: Vec<Params> = (0..room)
                .map(|step| Params {
                    across: whole(tap.across),
                    to: whole(step * numbers),
                    ..region
                })
                .collect();
            sums.all.push(Summed {
                tap: n,
                region: tap.clone(),
                count: numbers,
                table: self.stream.list("regions", &table)?,
                numbers: self.stream.zeros::<f32>("sums", room * numbers)?,
                steps: Vec::new(),
                binds: Default::default(),
            });
            sums.room = sums.room.min(room);
        }
        self.sums = sums;
        Ok(())
    }

    /// Queues what detectors sum after step `n` of a batch.
    pub(super) fn sum_regions(&mut self, n: usize, is_due: impl Fn(usize) -> bool) -> Result<(), WgpuError> {
        let mut all = std::mem::take(&mut self.sums.all);
        for summed in all.iter_mut().filter(|summed| is_due(summed.tap)) {
            let moves = matches!(summed.region.measure, Measure::Energy | Measure::Flux);
            let kernel = &self.sums.kernels.measure;
            let made = || self.bind_sums(kernel, moves, &summed.numbers, &summed.table);
            let bind = summed.binds[self.pair][self.newer].get_or_insert_with(made);
            let blocks = self.blocks_for(summed.count);
            self.stream.launch(kernel, bind, Some(summed.steps.len()), blocks)?;
            summed.steps.push(n);
        }
        self.sums.all = all;
        Ok(())
    }

    /// The sums of detectors in a batch: for each of its steps a value a detector, which is 0 where it does not sum, or not then.
    pub(super) fn take_sums(&mut self, steps: usize) -> Result<Vec<Vec<f64>>, WgpuError> {
        let mut records = vec![vec![0.0; self.sums.taps.len()]; steps];
        for summed in &mut self.sums.all {
            let count = summed.count;
            let mut numbers = vec![0.0f32; count * summed.steps.len()];
            if numbers.is_empty() {
                continue;
            }
            self.stream.download("sums", &summed.numbers, 0, &mut numbers)?;
            let square = self.host.scenario.grid().spacing().powi(2);
            for (step, numbers) in summed.steps.drain(..).zip(numbers.chunks_exact(count)) {
                let numbers = numbers.iter().copied().map(f64::from);
                let sum = match summed.region.measure {
                    Measure::Peak => numbers.fold(0.0, f64::max),
                    Measure::Energy => numbers.sum::<f64>() / square,
                    _ => numbers.sum(),
                };
                records[step][summed.tap] = summed.region.acoustic_of(sum);
            }
        }
        Ok(records)
    }

    /// The energy of the field between absorbing layers, per a^d.
    fn energy(&self, sound: bool) -> Result<f64, WgpuError> {
        let inside = self.host.sweep.lattice.inside;
        let [nx, ny, nz] = [0, 1, 2].map(|axis| inside[1][axis] - inside[0][axis]);
        let count = [nx.div_ceil(PATCH), (ny * nz).div_ceil(PATCH)];
        let region = self.region(Measure::Energy, inside, count, sound);
        let numbers = self.sum_all(&self.sums.kernels.measure, (region, sound), 1)?;
        let square = self.host.scenario.grid().spacing().powi(2);
        Ok(numbers.into_iter().map(f64::from).sum::<f64>() / square)
    }

    /// Blocks of a launch for so many numbers.
    fn blocks_for(&self, count: usize) -> [usize; 3] {
        let most = self.stream.device().most_blocks() as usize;
        [count.min(most), count.div_ceil(most), 1]
    }

    /// The numbers of all blocks of a region, `each` of them a block.
    fn sum_all(&self, kernel: &Kernel, (region, sound): (Params, bool), each: usize) -> Result<Vec<f32>, WgpuError> {
        let count = usize::try_from(region.blocks).unwrap_or(0);
        let mut all = vec![0.0f32; each * count];
        let numbers = self.stream.zeros::<f32>("sums", all.len())?;
        let table = self.stream.list("regions", &[region])?;
        let bind = self.bind_sums(kernel, sound, &numbers, &table);
        self.stream.launch(kernel, &bind, Some(0), self.blocks_for(count))?;
        self.stream.download("sums", &numbers, 0, &mut all)?;
        Ok(all)
    }

    /// Observables of the whole field.
    pub(super) fn observables(&self) -> Result<Observables, WgpuError> {
        let size = self.host.sweep.lattice.size;
        let patches = Patches::of(size);
        let count = [patches.across, patches.count / patches.across];
        let region = self.region(Measure::Probability, [[0; 3], size], count, false);
        let numbers = self.sum_all(&self.sums.kernels.moments, (region, false), MOMENTS)?;
        let moments = patches.moments(&numbers, MOMENTS);
        let all = Observables {
            norm: moments.square,
            energy: if self.potential.is_some() {
                self.energy(true)?
            } else {
                f64::NAN
            },
            invariant: self.energy(false)?,
            peak: moments.peak,
            ..Observables::default()
        };
        Ok(finished(all, moments.first, moments.second, self.host.scenario.grid()))
    }
}
