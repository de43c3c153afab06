//! Sums over regions and over a whole field of sound, and pictures of energies, made on the adapter (`kernels/sound_sums.wgsl`).

use super::patches::Patches;
use super::summed::{Detectors, Extent, kind};
use super::{blocks_of, whole};
use crate::backend::wgpu::{Bind, Buffer, Kernel, Stream, WgpuError};
use crate::grid::Grid;
use crate::physics::{Measure, Observables};
use crate::solver::acoustic::sums::finished;
use crate::solver::{FieldImage, ImageRequest, Taps};
use bytemuck::{Pod, Zeroable};

/// Numbers of `moments` for a patch.
const MOMENTS: usize = 6;
/// Threads of a block of `draw`.
const THREADS: usize = 256;

/// `Region` of the kernels, in 256 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(in crate::solver) struct Region {
    pub lo: [i32; 3],
    pub kind: i32,
    pub hi: [i32; 3],
    pub across: i32,
    pub size: [i32; 3],
    pub to: i32,
    pub inside_lo: [i32; 3],
    pub across_x: i32,
    pub inside_hi: [i32; 3],
    pub blocks: i32,
    pub begin: [i32; 2],
    pub end: [i32; 2],
    pub z: i32,
    pub reduction: i32,
    pub sound: i32,
    pub per_site: f32,
    pub own: [f32; 4],
    pub ring: [i32; 2],
    pub soft: [i32; 2],
    pub scale: f32,
    pub rest: [i32; 27],
}

/// Kernels that sum, and detectors that do.
pub(in crate::solver) struct Sums {
    measure: Kernel,
    moments: Kernel,
    draw: Kernel,
    detectors: Detectors,
}

impl Sums {
    /// With the kernels of a method, which `kernel` compiles by the names of their entry points.
    pub(in crate::solver) fn new(
        kernel: impl Fn(&'static str) -> Result<Kernel, WgpuError>,
    ) -> Result<Self, WgpuError> {
        Ok(Self {
            measure: kernel("measure")?,
            moments: kernel("moments")?,
            draw: kernel("draw")?,
            detectors: Detectors::default(),
        })
    }

    /// Detectors are prepared anew: buffers that they read are others.
    pub(in crate::solver) fn forget(&mut self) {
        self.detectors = Detectors::default();
    }

    /// Whether detectors are prepared, at this Δt.
    pub(in crate::solver) fn are_of(&self, taps: &Taps, time_step: f64) -> bool {
        self.detectors.are_of(taps, time_step)
    }

    /// Steps that a batch may have.
    pub(in crate::solver) fn most_steps(&self) -> u64 {
        self.detectors.most_steps()
    }

    /// Bytes held.
    pub(in crate::solver) fn bytes(&self) -> u64 {
        self.detectors.bytes()
    }
}

/// A run of sound on an adapter that sums there.
pub(in crate::solver) trait Sounding {
    /// Kernels and detectors.
    fn sums(&self) -> &Sums;

    /// The same, to be changed.
    fn sums_mut(&mut self) -> &mut Sums;

    /// Where kernels are launched.
    fn stream(&self) -> &Stream;

    /// The grid.
    fn grid(&self) -> &Grid;

    /// Δt, s.
    fn time_step(&self) -> f64;

    /// The sites between absorbing layers, from the first to before the second.
    fn inside(&self) -> [[usize; 3]; 2];

    /// Whether there is what the velocity follows from.
    fn knows_velocity(&self) -> bool;

    /// Where the field lies now, below 4.
    fn place(&self) -> usize;

    /// The power of two that multiplies pressures before they are squared ([`crate::solver::acoustic::loudness`]).
    fn scale(&self) -> f64;

    /// What multiplies a kernel's sums of energies for energies per a^d, and of fluxes for those per a^(d − 1), with a scale of 1; with `sound` those of the sound, otherwise of what the
    /// steps conserve.
    fn units(&self, sound: bool) -> [f64; 2];

    /// What the method's kernels are told of every region; `sound` as above.
    fn told(&self, sound: bool) -> Region;

    /// What a kernel reads: with `sound` what the velocity follows from; where it writes, and its regions.
    fn bind_sums(&self, kernel: &Kernel, sound: bool, numbers: &Buffer, table: &Buffer) -> Bind;

    /// What multiplies a kernel's sums of a measure.
    fn factor(&self, measure: Measure, sound: bool) -> f64 {
        let [of_energy, of_flux] = self.units(sound);
        let squares = self.scale().powi(-2);
        match measure {
            Measure::Energy => of_energy * squares,
            Measure::Flux => of_flux * squares,
            Measure::Probability => squares,
            _ => 1.0,
        }
    }

    /// What the kernels are told of some sites.
    #[expect(clippy::cast_possible_truncation, reason = "rounded to the precision of the run")]
    fn region(&self, measure: Measure, extent: &Extent, sound: bool) -> Region {
        let [across_x, blocks] = extent.counts();
        let [inside_lo, inside_hi] = self.inside().map(|site| site.map(whole));
        Region {
            lo: extent.lo.map(whole),
            kind: kind(measure),
            hi: extent.hi.map(whole),
            size: self.grid().size().map(whole),
            inside_lo,
            inside_hi,
            sound: i32::from(sound),
            per_site: self.factor(Measure::Energy, sound) as f32,
            scale: self.scale() as f32,
            across_x,
            blocks,
            ..self.told(sound)
        }
    }

    /// Prepares the sums of detectors.
    fn prepare_detectors(&mut self, taps: &Taps) -> Result<(), WgpuError> {
        let time_step = self.time_step();
        if !self.sums().are_of(taps, time_step) {
            let detectors = Detectors::new(self.stream(), (taps, time_step), |tap, extent, to| Region {
                across: whole(tap.across),
                to: whole(to),
                ..self.region(tap.measure, extent, tap.moves())
            })?;
            self.sums_mut().detectors = detectors;
        }
        Ok(())
    }

    /// Queues what detectors sum after step `n` of a batch.
    fn sum_regions(&mut self, n: usize, is_due: impl Fn(usize) -> bool) -> Result<(), WgpuError> {
        let mut detectors = std::mem::take(&mut self.sums_mut().detectors);
        let kernel = &self.sums().measure;
        let launched = (self.stream(), kernel);
        let done = detectors.sum(launched, (n, self.place()), is_due, |moves, numbers, table| {
            self.bind_sums(kernel, moves, numbers, table)
        });
        self.sums_mut().detectors = detectors;
        done
    }

    /// The sums of detectors in a batch: for each of its steps a value a detector, which is 0 where it does not sum, or not then.
    fn take_sums(&mut self, steps: usize) -> Result<Vec<Vec<f64>>, WgpuError> {
        let mut detectors = std::mem::take(&mut self.sums_mut().detectors);
        let taken = detectors.take(self.stream(), steps, |measure| self.factor(measure, true));
        self.sums_mut().detectors = detectors;
        taken
    }

    /// The numbers of all blocks of a region, `each` of them a block.
    fn sum_all(&self, kernel: &Kernel, region: &Region, each: usize) -> Result<Vec<f32>, WgpuError> {
        let count = usize::try_from(region.blocks).unwrap_or(0);
        let stream = self.stream();
        let mut all = vec![0.0f32; each * count];
        let numbers = stream.zeros::<f32>("sums", all.len())?;
        let table = stream.list("regions", std::slice::from_ref(region))?;
        let bind = self.bind_sums(kernel, region.sound != 0, &numbers, &table);
        stream.launch(kernel, &bind, Some(0), blocks_of(stream.device(), count))?;
        stream.download("sums", &numbers, 0, &mut all)?;
        Ok(all)
    }

    /// The energy of the field between absorbing layers per a^d, or what the steps conserve.
    fn energy(&self, sound: bool) -> Result<f64, WgpuError> {
        let region = self.region(Measure::Energy, &Extent::new(self.inside()), sound);
        let numbers = self.sum_all(&self.sums().measure, &region, 1)?;
        Ok(numbers.into_iter().map(f64::from).sum::<f64>() * self.factor(Measure::Energy, sound))
    }

    /// Observables of the whole field.
    fn observed(&self) -> Result<Observables, WgpuError> {
        let size = self.grid().size();
        let patches = Patches::of(size);
        let extent = Extent {
            lo: [0; 3],
            hi: size,
            count: [patches.across, patches.count / patches.across],
        };
        let region = self.region(Measure::Probability, &extent, false);
        let numbers = self.sum_all(&self.sums().moments, &region, MOMENTS)?;
        let moments = patches.moments(&numbers, MOMENTS);
        let squares = self.factor(Measure::Probability, false);
        let [first, second] = [moments.first, moments.second].map(|all| all.map(|sum| sum * squares));
        let all = Observables {
            norm: moments.square * squares,
            energy: if self.knows_velocity() {
                self.energy(true)?
            } else {
                f64::NAN
            },
            invariant: self.energy(false)?,
            peak: moments.peak / self.scale(),
            ..Observables::default()
        };
        Ok(finished(all, first, second, self.grid()))
    }

    /// The picture of the sound's energy per a^d; `texels` has room for it.
    fn picture_of_energy(
        &self,
        request: &ImageRequest,
        texels: &Buffer,
        image: &mut FieldImage,
    ) -> Result<(), WgpuError> {
        let table = Region {
            across_x: whole(image.size[0]),
            blocks: whole(image.value.len()),
            begin: [&request.x, &request.y].map(|sites| whole(sites.start)),
            end: [&request.x, &request.y].map(|sites| whole(sites.end)),
            z: whole(request.z),
            reduction: whole(image.reduction),
            ..self.region(Measure::Energy, &Extent::new(self.inside()), true)
        };
        let stream = self.stream();
        let table = stream.list("regions", &[table])?;
        let kernel = &self.sums().draw;
        let bind = self.bind_sums(kernel, true, texels, &table);
        let blocks = [image.value.len().div_ceil(THREADS), 1, 1];
        stream.launch(kernel, &bind, Some(0), blocks)?;
        stream.download("the picture", texels, 0, &mut image.value)
    }
}
