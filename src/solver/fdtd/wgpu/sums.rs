//! What finite differences sum on the adapter (`kernels/fdtd_sums.wgsl`).

use super::Wgpu;
use super::medium::Medium;
use crate::backend::wgpu::Binding::{Read, Table, Uniform, Write};
use crate::backend::wgpu::{Bind, Binding, Buffer, Kernel, Stream, WgpuError, expanded};
use crate::grid::Grid;
use crate::solver::adapter::sound_sums::{Region, Sounding, Sums};
use crate::solver::{FieldImage, ImageRequest};
use bytemuck::Zeroable;

/// The kernels' text.
const SOURCE: &str = concat!(
    include_str!("../../../../kernels/fdtd.wgsl"),
    include_str!("../../../../kernels/fdtd_sites.wgsl"),
    include_str!("../../../../kernels/patches.wgsl"),
    include_str!("../../../../kernels/sound_sums.wgsl"),
    include_str!("../../../../kernels/fdtd_sums.wgsl"),
);
/// What they are given.
const BINDINGS: [Binding; 8] = [Uniform, Read, Write, Read, Read, Read, Write, Table(1)];

/// Kernels of a medium.
pub(super) fn new(stream: &Stream, medium: &Medium) -> Result<Sums, WgpuError> {
    let source = expanded(SOURCE, &[("OPERATES", 0)]);
    Sums::new(|entry| (stream.device()).kernel(("fdtd_sums", &source), entry, &BINDINGS, medium.sites()))
}

impl Sounding for Wgpu {
    fn sums(&self) -> &Sums {
        &self.sums
    }

    fn sums_mut(&mut self) -> &mut Sums {
        &mut self.sums
    }

    fn stream(&self) -> &Stream {
        &self.stream
    }

    fn grid(&self) -> &Grid {
        self.host.scenario.grid()
    }

    fn time_step(&self) -> f64 {
        self.host.time_step
    }

    fn inside(&self) -> [[usize; 3]; 2] {
        self.host.sweep.lattice.inside
    }

    fn knows_velocity(&self) -> bool {
        self.potential.is_some()
    }

    fn place(&self) -> usize {
        2 * self.pair + self.newer
    }

    fn scale(&self) -> f64 {
        self.scale
    }

    fn units(&self, sound: bool) -> [f64; 2] {
        let step = if sound { self.host.time_step } else { 1.0 };
        [(step / self.grid().spacing()).powi(2), step]
    }

    #[expect(clippy::cast_possible_truncation, reason = "rounded to the precision of the run")]
    fn told(&self, sound: bool) -> Region {
        let density = self.host.sweep.material.uniform_density;
        let newer = self.scale / if sound { self.host.time_step } else { 1.0 };
        Region {
            own: [newer, self.grid().spacing(), density, 0.0].map(|number| number as f32),
            ..Region::zeroed()
        }
    }

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
}

impl Wgpu {
    /// The picture of the sound's energy per a^d.
    pub(super) fn draw_energy(&mut self, request: &ImageRequest, image: &mut FieldImage) -> Result<(), WgpuError> {
        image.prepare(request);
        let texels = self.beside.room(&self.stream, image.value.len())?;
        self.picture_of_energy(request, &texels, image)
    }
}
