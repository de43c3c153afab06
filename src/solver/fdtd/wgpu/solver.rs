//! The run's interface to the levels on the adapter.

use super::super::run::{BESIDE, EVEN, Fdtd, PEAK, level};
use super::Wgpu;
use super::medium::{Medium, unpacked};
use super::single_launch::{self, SingleLaunch};
use super::sums;
use crate::backend::simd::Aligned;
use crate::backend::wgpu::{Buffer, WgpuError};
use crate::field::FieldData;
use crate::physics::Observables;
use crate::scene::scenario::Quantity;
use crate::solver::acoustic::medium::allocate_aligned;
use crate::solver::adapter::sound_sums::Sounding;
use crate::solver::clock::RunClock;
use crate::solver::method::Backend;
use crate::solver::resident::Resident;
use crate::solver::stepper::Parts;
use crate::solver::{FieldImage, ImageRequest, SolverError, Taps};

impl Resident for Wgpu {
    type Host = Fdtd<f32>;

    fn host(&self) -> &Self::Host {
        &self.host
    }

    fn host_mut(&mut self) -> &mut Self::Host {
        &mut self.host
    }

    fn pull(&mut self) -> Result<(), SolverError> {
        let lattice = self.host.sweep.lattice.clone();
        let mut landed = vec![0.0; self.sites()];
        let mut pull = |what: &str, from: &Buffer, to: &mut [f32]| -> Result<(), WgpuError> {
            self.stream.download(what, from, 0, &mut landed)?;
            unpacked(&lattice, &landed, to);
            Ok(())
        };
        (self.host.now, self.host.old) = (level(&lattice, 0)?, level(&lattice, BESIDE)?);
        let [now, old] = [self.newer, 1 - self.newer].map(|level| &self.pairs[self.pair][level]);
        pull("the pressure", now, &mut self.host.now)?;
        pull("the pressure", old, &mut self.host.old)?;
        self.host.peak = Aligned::default();
        if let Some(peak) = &self.peak {
            self.host.peak = allocate_aligned(lattice.values(), PEAK, "the largest pressures")?;
            pull("the largest pressures", peak, &mut self.host.peak)?;
        }
        self.host.potential = Aligned::default();
        self.host.obeys = false;
        if let Some(potential) = &self.potential {
            self.host.potential = allocate_aligned(lattice.values(), EVEN, "the velocity")?;
            pull("the velocity", potential, &mut self.host.potential)?;
        }
        Ok(self.medium.pull_layers(&self.stream, &mut self.host)?)
    }

    fn push(&mut self) -> Result<(), SolverError> {
        let single = single_launch::fits(&self.host, &self.choice);
        self.medium = Medium::new(&self.stream, &self.host, &self.pairs, !single)?;
        self.sums = sums::new(&self.stream, &self.medium)?;
        self.single = (single.then(|| SingleLaunch::new(&self.stream, &self.host, &self.medium))).transpose()?;
        self.choose_pass()?;
        Ok(self.push_levels()?)
    }

    fn let_go(&mut self) {
        (self.host.now, self.host.old) = (Aligned::zeros(0), Aligned::zeros(0));
        self.host.peak = Aligned::default();
        self.host.potential = Aligned::default();
        self.host.other_potential = Aligned::default();
    }

    fn describe(&self) -> Parts {
        let kept = [&self.peak, &self.potential].map(|kept| kept.as_ref().map_or(0, Buffer::bytes));
        let own = self.pairs.iter().flatten().map(Buffer::bytes).chain(kept).sum::<u64>();
        let because = self.because.map(|because| format!(": {because}")).unwrap_or_default();
        let (variant, how) = match (&self.tiles, &self.single) {
            (Some(tiles), _) => (
                "tiled",
                format!("tiles of {} rows, {} fused steps", tiles.height(), tiles.steps()),
            ),
            (None, Some(_)) => (
                "single-launch",
                format!("one thread a site, with what happens there{because}"),
            ),
            (None, None) => ("stepwise", format!("{}{because}", self.medium.how())),
        };
        let single = self.single.as_ref().map_or(0, SingleLaunch::bytes);
        Parts {
            variant,
            backend: Backend::Wgpu,
            threads: 1,
            details: format!(
                "{}, order {} in space, {how}",
                self.stream.device().name,
                2 * self.host.sweep.lattice.half
            ),
            batch: self.tiles.as_ref().map_or(1, |tiles| tiles.steps() as u64),
            note: None,
            memory: own
                + self.medium.bytes()
                + single
                + self.operations.bytes()
                + self.sums.bytes()
                + self.beside.bytes(),
        }
    }

    fn take_steps(&mut self, clock: &RunClock, steps: u64, taps: &mut Taps) -> Result<(), SolverError> {
        self.go(clock, steps, taps)
    }

    fn wait(&mut self) -> Result<(), SolverError> {
        self.stream.finish().map_err(SolverError::from)
    }

    fn total(&mut self) -> Result<Observables, SolverError> {
        Ok(self.observed()?)
    }

    fn keeps_velocity(&self) -> bool {
        self.potential.is_some()
    }

    fn picture(&mut self, request: &ImageRequest, image: &mut FieldImage) -> Result<(), SolverError> {
        let largest = request.quantity == Quantity::Peak;
        if largest && self.peak.is_none() {
            self.on_host(Fdtd::watch_peak)?;
        }
        if request.quantity == Quantity::Energy {
            self.watch_velocity()?;
            return Ok(self.draw_energy(request, image)?);
        }
        let [nx, ny, _] = self.host.sweep.lattice.size;
        let plane = self
            .peak
            .as_ref()
            .filter(|_| largest)
            .unwrap_or(self.levels()[0])
            .clone();
        Ok(self
            .beside
            .draw(&self.stream, [nx, ny], &plane, largest, request, image)?)
    }

    fn pressure(&mut self) -> Result<FieldData, SolverError> {
        let mut all = vec![0.0f32; self.sites()];
        self.stream.download("the pressure", self.levels()[0], 0, &mut all)?;
        Ok(FieldData::Float32(all))
    }
}
