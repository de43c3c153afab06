//! Sums over regions and over the whole field, and pictures of energies, made on the adapter (`kernels/oscillators_sums.wgsl`).

use super::super::run::Oscillators;
use super::super::springs::Row;
use super::Wgpu;
use crate::backend::wgpu::Binding::{Read, Table, Write};
use crate::backend::wgpu::{Bind, Binding, Buffer, Kernel, Stream, WgpuError};
use crate::grid::Edge;
use crate::physics::{Measure, Observables};
use crate::solver::acoustic::outward::Domain;
use crate::solver::acoustic::sums::finished;
use crate::solver::adapter::patches::Patches;
use crate::solver::adapter::summed::{Detectors, Extent, kind};
use crate::solver::adapter::{blocks_of, whole};
use crate::solver::taps::Tap;
use crate::solver::{FieldImage, ImageRequest, Taps};
use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

/// The kernels' text.
const SOURCE: (&str, &str) = (
    "oscillators_sums",
    concat!(
        include_str!("../../../../kernels/patches.wgsl"),
        include_str!("../../../../kernels/oscillators_sums.wgsl"),
    ),
);
/// What they are given.
const BINDINGS: [Binding; 5] = [Read, Read, Read, Write, Table(1)];
/// Numbers of `moments` for a patch.
const MOMENTS: usize = 6;
/// Threads of a block of `draw`.
const THREADS: usize = 256;

/// `Region` of the kernels, in 256 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Params {
    size: [i32; 2],
    ring: [i32; 2],
    lo: [i32; 2],
    hi: [i32; 2],
    kind: i32,
    across: i32,
    to: i32,
    sound: i32,
    inside: [[i32; 2]; 2],
    across_x: i32,
    blocks: i32,
    half_step: f32,
    stiffness: f32,
    soft: [i32; 2],
    begin: [i32; 2],
    end: [i32; 2],
    reduction: i32,
    rest: [i32; 37],
}

/// The kernels.
struct Kernels {
    measure: Kernel,
    moments: Kernel,
    draw: Kernel,
}

/// Kernels that sum, masses and springs for them, and detectors that sum.
pub(super) struct Sums {
    kernels: Kernels,
    /// m̂, k̂ of the bonds to the next site along x and y, k̂ of springs at soft edges, of every site once they were asked for; one site where all are alike.
    medium: Option<Buffer>,
    detectors: Detectors,
}

/// Masses and springs of every site.
#[expect(clippy::cast_possible_truncation, reason = "rounded to the precision of the run")]
fn springs(host: &Oscillators<f32>) -> Vec<[f32; 4]> {
    let [nx, ny] = host.springs.layout.size;
    let mut all = vec![[0.0; 4]; nx * ny];
    all.par_chunks_mut(nx)
        .enumerate()
        .for_each_init(Row::default, |row, (j, sites)| {
            host.masses.row(j, row);
            for (i, site) in sites.iter_mut().enumerate() {
                let soft = row.soft.iter().map(|soft| soft[i]).sum();
                *site = [row.mass[i], row.x[i], row.y[i], soft].map(|number: f64| number as f32);
            }
        });
    all
}

impl Sums {
    /// None yet.
    pub(super) fn new(stream: &Stream, host: &Oscillators<f32>) -> Result<Self, WgpuError> {
        let each = [("EACH", f64::from(u8::from(!host.masses.uniform)))];
        let kernel = |entry| stream.device().kernel(SOURCE, entry, &BINDINGS, &each);
        Ok(Self {
            kernels: Kernels {
                measure: kernel("measure")?,
                moments: kernel("moments")?,
                draw: kernel("draw")?,
            },
            medium: None,
            detectors: Detectors::default(),
        })
    }

    /// Detectors are prepared anew: buffers that they read are others.
    pub(super) fn forget(&mut self) {
        self.detectors = Detectors::default();
    }

    /// Steps that a batch may have.
    pub(super) fn most_steps(&self) -> u64 {
        self.detectors.most_steps()
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> u64 {
        self.medium.as_ref().map_or(0, Buffer::bytes) + self.detectors.bytes()
    }
}

impl Wgpu {
    /// Asks for masses and springs.
    fn know_springs(&mut self) -> Result<(), WgpuError> {
        if self.sums.medium.is_none() {
            let known = if self.host.masses.uniform {
                vec![[0.0f32; 4]]
            } else {
                springs(&self.host)
            };
            self.sums.medium = Some(self.stream.list("masses and springs", &known)?);
        }
        Ok(())
    }

    /// What the kernels are told of some sites.
    #[expect(clippy::cast_possible_truncation, reason = "rounded to the precision of the run")]
    fn region(&self, measure: Measure, extent: &Extent, sound: bool) -> Params {
        let (grid, size) = (self.host.scenario.grid(), self.host.springs.layout.size);
        let flat = |[x, y, _]: [usize; 3]| [x, y].map(whole);
        let soft = |axis: usize| axis < grid.rank() && grid.edges()[axis] == Edge::Soft;
        let [across_x, blocks] = extent.counts();
        Params {
            size: size.map(whole),
            ring: [0, 1].map(|axis| i32::from(grid.is_periodic(axis) && size[axis] > 1)),
            lo: flat(extent.lo),
            hi: flat(extent.hi),
            kind: kind(measure),
            sound: i32::from(sound),
            inside: Domain::new(grid).bounds().map(flat),
            across_x,
            blocks,
            half_step: (self.host.time_step / 2.0) as f32,
            stiffness: self.host.masses.stiffness() as f32,
            soft: [0, 1].map(|axis| i32::from(soft(axis))),
            ..Params::zeroed()
        }
    }

    /// What a kernel reads: the momenta, or where the sound's energy is asked for of what the velocity follows from; where it writes, and its regions.
    fn bind_sums(&self, kernel: &Kernel, sound: bool, numbers: &Buffer, table: &Buffer) -> Bind {
        let [q, p] = self.q_and_p();
        let other = self.potential.as_ref().filter(|_| sound).unwrap_or(p);
        let medium = self.sums.medium.as_ref().unwrap_or(q);
        let buffers = [q, other, medium, numbers, table];
        let pairs: Vec<(Binding, &Buffer)> = BINDINGS.into_iter().zip(buffers).collect();
        self.stream.device().bind(kernel, &pairs)
    }

    /// Prepares the sums of detectors.
    pub(super) fn prepare_sums(&mut self, taps: &Taps) -> Result<(), WgpuError> {
        let time_step = self.host.time_step;
        if self.sums.detectors.are_of(taps, time_step) {
            return Ok(());
        }
        if taps.taps().iter().any(Tap::moves) {
            self.know_springs()?;
        }
        self.sums.detectors = Detectors::new(&self.stream, (taps, time_step), |tap, extent, to| Params {
            across: whole(tap.across),
            to: whole(to),
            ..self.region(tap.measure, extent, tap.moves())
        })?;
        Ok(())
    }

    /// Queues what detectors sum after step `n` of a batch.
    pub(super) fn sum_regions(&mut self, n: usize, is_due: impl Fn(usize) -> bool) -> Result<(), WgpuError> {
        let mut detectors = std::mem::take(&mut self.sums.detectors);
        let kernel = &self.sums.kernels.measure;
        let done = detectors.sum(
            (&self.stream, kernel),
            (n, self.now),
            is_due,
            |moves, numbers, table| self.bind_sums(kernel, moves, numbers, table),
        );
        self.sums.detectors = detectors;
        done
    }

    /// The sums of detectors in a batch: for each of its steps a value a detector, which is 0 where it does not sum, or not then.
    pub(super) fn take_sums(&mut self, steps: usize) -> Result<Vec<Vec<f64>>, WgpuError> {
        let (modulus, spacing) = (self.host.masses.modulus(), self.host.scenario.grid().spacing());
        let scale = |measure| match measure {
            Measure::Energy => 1.0 / modulus,
            Measure::Flux => spacing / modulus,
            _ => 1.0,
        };
        self.sums.detectors.take(&self.stream, steps, scale)
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

    /// The energy of the field between absorbing layers per a^d, or what the sweeps conserve.
    fn energy(&self, sound: bool) -> Result<f64, WgpuError> {
        let extent = Extent::new(Domain::new(self.host.scenario.grid()).bounds());
        let region = self.region(Measure::Energy, &extent, sound);
        let numbers = self.sum_all(&self.sums.kernels.measure, (region, sound), 1)?;
        Ok(numbers.into_iter().map(f64::from).sum::<f64>() / self.host.masses.modulus())
    }

    /// Observables of the whole field.
    pub(super) fn observables(&mut self) -> Result<Observables, WgpuError> {
        self.know_springs()?;
        let [nx, ny] = self.host.springs.layout.size;
        let extent = Extent::new([[0; 3], [nx, ny, 1]]);
        let region = self.region(Measure::Probability, &extent, false);
        let numbers = self.sum_all(&self.sums.kernels.moments, (region, false), MOMENTS)?;
        let moments = Patches::of([nx, ny, 1]).moments(&numbers, MOMENTS);
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
    #[expect(clippy::cast_possible_truncation, reason = "pictures are in single precision")]
    pub(super) fn draw_energy(&mut self, request: &ImageRequest, image: &mut FieldImage) -> Result<(), WgpuError> {
        self.know_springs()?;
        image.prepare(request);
        let texels = self.beside.room(&self.stream, image.value.len())?;
        let [nx, ny] = self.host.springs.layout.size;
        let all = Extent::new([[0; 3], [nx, ny, 1]]);
        let table = Params {
            across_x: whole(image.size[0]),
            blocks: whole(image.value.len()),
            begin: [&request.x, &request.y].map(|sites| whole(sites.start)),
            end: [&request.x, &request.y].map(|sites| whole(sites.end)),
            reduction: whole(image.reduction),
            ..self.region(Measure::Energy, &all, true)
        };
        let table = self.stream.list("regions", &[table])?;
        let kernel = &self.sums.kernels.draw;
        let bind = self.bind_sums(kernel, true, &texels, &table);
        let blocks = [image.value.len().div_ceil(THREADS), 1, 1];
        self.stream.launch(kernel, &bind, Some(0), blocks)?;
        self.stream.download("the picture", &texels, 0, &mut image.value)?;
        let per_site = (1.0 / self.host.masses.modulus()) as f32;
        image.value.iter_mut().for_each(|value| *value *= per_site);
        Ok(())
    }
}
