//! What oscillators sum on the adapter (`kernels/oscillators_sums.wgsl`).

use super::super::run::Oscillators;
use super::super::springs::Row;
use super::Wgpu;
use crate::backend::wgpu::Binding::{Read, Table, Write};
use crate::backend::wgpu::{Bind, Binding, Buffer, Kernel, Stream, WgpuError};
use crate::grid::{Edge, Grid};
use crate::physics::Observables;
use crate::solver::acoustic::outward::Domain;
use crate::solver::adapter::sound_sums::{Region, Sounding, Sums};
use crate::solver::taps::Tap;
use crate::solver::{FieldImage, ImageRequest, Taps};
use bytemuck::Zeroable;
use rayon::prelude::*;

/// The kernels' text.
const SOURCE: (&str, &str) = (
    "oscillators_sums",
    concat!(
        include_str!("../../../../kernels/patches.wgsl"),
        include_str!("../../../../kernels/sound_sums.wgsl"),
        include_str!("../../../../kernels/oscillators_sums.wgsl"),
    ),
);
/// What they are given.
const BINDINGS: [Binding; 5] = [Read, Read, Read, Write, Table(1)];

/// Kernels of a medium.
pub(super) fn new(stream: &Stream, host: &Oscillators<f32>) -> Result<Sums, WgpuError> {
    let each = [("EACH", f64::from(u8::from(!host.masses.uniform)))];
    Sums::new(|entry| stream.device().kernel(SOURCE, entry, &BINDINGS, &each))
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
        Domain::new(self.grid()).bounds()
    }

    fn knows_velocity(&self) -> bool {
        self.potential.is_some()
    }

    fn place(&self) -> usize {
        self.now
    }

    fn scale(&self) -> f64 {
        self.scale
    }

    fn units(&self, _sound: bool) -> [f64; 2] {
        let modulus = self.host.masses.modulus();
        [1.0 / modulus, self.grid().spacing() / modulus]
    }

    #[expect(clippy::cast_possible_truncation, reason = "rounded to the precision of the run")]
    fn told(&self, _sound: bool) -> Region {
        let grid = self.grid();
        let soft = |axis: usize| axis < grid.rank() && grid.edges()[axis] == Edge::Soft;
        let [half, stiffness] = [self.host.time_step / 2.0, self.host.masses.stiffness()].map(|number| number as f32);
        Region {
            own: [half, stiffness, 0.0, 0.0],
            ring: [0, 1].map(|axis| i32::from(grid.is_periodic(axis) && grid.size()[axis] > 1)),
            soft: [0, 1].map(|axis| i32::from(soft(axis))),
            ..Region::zeroed()
        }
    }

    fn bind_sums(&self, kernel: &Kernel, sound: bool, numbers: &Buffer, table: &Buffer) -> Bind {
        let [q, p] = self.q_and_p();
        let other = self.potential.as_ref().filter(|_| sound).unwrap_or(p);
        let medium = self.springs.as_ref().unwrap_or(q);
        let buffers = [q, other, medium, numbers, table];
        let pairs: Vec<(Binding, &Buffer)> = BINDINGS.into_iter().zip(buffers).collect();
        self.stream.device().bind(kernel, &pairs)
    }
}

impl Wgpu {
    /// Asks for masses and springs.
    fn know_springs(&mut self) -> Result<(), WgpuError> {
        if self.springs.is_none() {
            let known = if self.host.masses.uniform {
                vec![[0.0f32; 4]]
            } else {
                springs(&self.host)
            };
            self.springs = Some(self.stream.list("masses and springs", &known)?);
        }
        Ok(())
    }

    /// Prepares the sums of detectors.
    pub(super) fn prepare_sums(&mut self, taps: &Taps) -> Result<(), WgpuError> {
        if !self.sums.are_of(taps, self.host.time_step) && taps.taps().iter().any(Tap::moves) {
            self.know_springs()?;
        }
        self.prepare_detectors(taps)
    }

    /// Observables of the whole field.
    pub(super) fn observables(&mut self) -> Result<Observables, WgpuError> {
        self.know_springs()?;
        self.observed()
    }

    /// The picture of the sound's energy per a^d.
    pub(super) fn draw_energy(&mut self, request: &ImageRequest, image: &mut FieldImage) -> Result<(), WgpuError> {
        self.know_springs()?;
        image.prepare(request);
        let texels = self.beside.room(&self.stream, image.value.len())?;
        self.picture_of_energy(request, &texels, image)
    }
}
