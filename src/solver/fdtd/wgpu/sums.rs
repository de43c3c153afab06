//! Sums over regions and over the whole field, and pictures of energies, made on the adapter (`kernels/fdtd_sums.wgsl`).

use super::Wgpu;
use super::medium::Medium;
use crate::backend::wgpu::Binding::{Read, Table, Uniform, Write};
use crate::backend::wgpu::{Bind, Binding, Buffer, Kernel, Stream, WgpuError, expanded};
use crate::physics::{Measure, Observables};
use crate::solver::acoustic::sums::finished;
use crate::solver::adapter::patches::Patches;
use crate::solver::adapter::summed::{Detectors, Extent, kind};
use crate::solver::adapter::{blocks_of, whole};
use crate::solver::{FieldImage, ImageRequest, Taps};
use bytemuck::{Pod, Zeroable};

/// The kernels' text.
const SOURCE: &str = concat!(
    include_str!("../../../../kernels/fdtd.wgsl"),
    include_str!("../../../../kernels/fdtd_sites.wgsl"),
    include_str!("../../../../kernels/patches.wgsl"),
    include_str!("../../../../kernels/fdtd_sums.wgsl"),
);
/// What they are given.
const BINDINGS: [Binding; 8] = [Uniform, Read, Write, Read, Read, Read, Write, Table(1)];
/// Numbers of `moments` for a patch.
const MOMENTS: usize = 6;
/// Threads of a block of `draw`.
const THREADS: usize = 256;

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
    unused: i32,
    begin: [i32; 2],
    end: [i32; 2],
    z: i32,
    reduction: i32,
    rest: [i32; 42],
}

/// The kernels of a medium.
#[derive(Clone)]
struct Kernels {
    measure: Kernel,
    moments: Kernel,
    draw: Kernel,
}

impl Kernels {
    fn new(stream: &Stream, constants: &[(&str, f64)]) -> Result<Self, WgpuError> {
        let source = expanded(SOURCE, &[("OPERATES", 0)]);
        let kernel = |entry| (stream.device()).kernel(("fdtd_sums", &source), entry, &BINDINGS, constants);
        Ok(Self {
            measure: kernel("measure")?,
            moments: kernel("moments")?,
            draw: kernel("draw")?,
        })
    }
}

/// Kernels that sum, and detectors that do.
pub(super) struct Sums {
    kernels: Kernels,
    detectors: Detectors,
}

impl Sums {
    /// None yet.
    pub(super) fn new(stream: &Stream, medium: &Medium) -> Result<Self, WgpuError> {
        Ok(Self {
            kernels: Kernels::new(stream, medium.sites())?,
            detectors: Detectors::default(),
        })
    }

    /// Steps that a batch may have.
    pub(super) fn most_steps(&self) -> u64 {
        self.detectors.most_steps()
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> u64 {
        self.detectors.bytes()
    }
}

impl Wgpu {
    /// What the kernels are told of some sites.
    #[expect(clippy::cast_possible_truncation, reason = "rounded to the precision of the run")]
    fn region(&self, measure: Measure, extent: &Extent, sound: bool) -> Params {
        let [across_x, blocks] = extent.counts();
        Params {
            lo: extent.lo.map(whole),
            kind: kind(measure),
            hi: extent.hi.map(whole),
            sound: i32::from(sound),
            time_step: self.host.time_step as f32,
            spacing: self.host.scenario.grid().spacing() as f32,
            density: self.host.sweep.material.uniform_density as f32,
            across_x,
            blocks,
            ..Params::zeroed()
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
        let time_step = self.host.time_step;
        if !self.sums.detectors.are_of(taps, time_step) {
            self.sums.detectors = Detectors::new(&self.stream, (taps, time_step), |tap, extent, to| Params {
                across: whole(tap.across),
                to: whole(to),
                ..self.region(tap.measure, extent, tap.moves())
            })?;
        }
        Ok(())
    }

    /// Queues what detectors sum after step `n` of a batch.
    pub(super) fn sum_regions(&mut self, n: usize, is_due: impl Fn(usize) -> bool) -> Result<(), WgpuError> {
        let mut detectors = std::mem::take(&mut self.sums.detectors);
        let kernel = &self.sums.kernels.measure;
        let place = 2 * self.pair + self.newer;
        let done = detectors.sum((&self.stream, kernel), (n, place), is_due, |moves, numbers, table| {
            self.bind_sums(kernel, moves, numbers, table)
        });
        self.sums.detectors = detectors;
        done
    }

    /// The sums of detectors in a batch: for each of its steps a value a detector, which is 0 where it does not sum, or not then.
    pub(super) fn take_sums(&mut self, steps: usize) -> Result<Vec<Vec<f64>>, WgpuError> {
        let square = self.host.scenario.grid().spacing().powi(2);
        let scale = |measure| if measure == Measure::Energy { 1.0 / square } else { 1.0 };
        self.sums.detectors.take(&self.stream, steps, scale)
    }

    /// The energy of the field between absorbing layers, per a^d.
    fn energy(&self, sound: bool) -> Result<f64, WgpuError> {
        let extent = Extent::new(self.host.sweep.lattice.inside);
        let region = self.region(Measure::Energy, &extent, sound);
        let numbers = self.sum_all(&self.sums.kernels.measure, (region, sound), 1)?;
        let square = self.host.scenario.grid().spacing().powi(2);
        Ok(numbers.into_iter().map(f64::from).sum::<f64>() / square)
    }

    /// The numbers of all blocks of a region, `each` of them a block.
    fn sum_all(&self, kernel: &Kernel, (region, sound): (Params, bool), each: usize) -> Result<Vec<f32>, WgpuError> {
        let count = usize::try_from(region.blocks).unwrap_or(0);
        let mut all = vec![0.0f32; each * count];
        let numbers = self.stream.zeros::<f32>("sums", all.len())?;
        let table = self.stream.list("regions", &[region])?;
        let bind = self.bind_sums(kernel, sound, &numbers, &table);
        let blocks = blocks_of(self.stream.device(), count);
        self.stream.launch(kernel, &bind, Some(0), blocks)?;
        self.stream.download("sums", &numbers, 0, &mut all)?;
        Ok(all)
    }

    /// Observables of the whole field.
    pub(super) fn observables(&self) -> Result<Observables, WgpuError> {
        let size = self.host.sweep.lattice.size;
        let patches = Patches::of(size);
        let extent = Extent {
            lo: [0; 3],
            hi: size,
            count: [patches.across, patches.count / patches.across],
        };
        let region = self.region(Measure::Probability, &extent, false);
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

    /// The picture of the sound's energy per a^d.
    pub(super) fn draw_energy(&mut self, request: &ImageRequest, image: &mut FieldImage) -> Result<(), WgpuError> {
        image.prepare(request);
        let texels = self.beside.room(&self.stream, image.value.len())?;
        let inside = Extent::new(self.host.sweep.lattice.inside);
        let table = Params {
            across_x: whole(image.size[0]),
            blocks: whole(image.value.len()),
            begin: [&request.x, &request.y].map(|sites| whole(sites.start)),
            end: [&request.x, &request.y].map(|sites| whole(sites.end)),
            z: whole(request.z),
            reduction: whole(image.reduction),
            ..self.region(Measure::Energy, &inside, true)
        };
        let table = self.stream.list("regions", &[table])?;
        let kernel = &self.sums.kernels.draw;
        let bind = self.bind_sums(kernel, true, &texels, &table);
        let blocks = [image.value.len().div_ceil(THREADS), 1, 1];
        self.stream.launch(kernel, &bind, Some(0), blocks)?;
        self.stream.download("the picture", &texels, 0, &mut image.value)
    }
}
