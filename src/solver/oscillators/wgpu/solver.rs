//! The run's interface to the field on the adapter.

use super::super::field::Field;
use super::super::run::Oscillators;
use super::medium::Medium;
use super::planes::{sites, split};
use super::sums;
use super::{Pass, Wgpu};
use crate::backend::wgpu::Buffer;
use crate::field::FieldData;
use crate::physics::Observables;
use crate::scene::scenario::Quantity;
use crate::solver::acoustic::medium::allocate;
use crate::solver::adapter::operations::Operations;
use crate::solver::clock::RunClock;
use crate::solver::method::Backend;
use crate::solver::resident::Resident;
use crate::solver::stepper::{Parts, Stepper};
use crate::solver::{FieldImage, ImageRequest, SolverError, Taps};

impl Resident for Wgpu {
    type Host = Oscillators<f32>;

    fn host(&self) -> &Self::Host {
        &self.host
    }

    fn host_mut(&mut self) -> &mut Self::Host {
        &mut self.host
    }

    fn pull(&mut self) -> Result<(), SolverError> {
        let layout = self.host.springs.layout.clone();
        let mut landed = vec![0.0; sites(&layout)];
        let mut pull = |what: &str, from: &Buffer| -> Result<Vec<f32>, SolverError> {
            self.stream.download(what, from, 0, &mut landed)?;
            let mut to = allocate(layout.len(), what)?;
            split(&layout, &landed, &mut to);
            Ok(to)
        };
        let [q, p] = self.q_and_p();
        let field = Field {
            q: pull("the pressure", q)?,
            p: pull("the momenta", p)?,
        };
        let mut kept = |what: &str, from: &Option<Buffer>| match from {
            Some(from) => pull(what, from),
            None => Ok(Vec::new()),
        };
        let peak = kept("the largest pressures", &self.peak)?;
        let potential = kept("the velocity", &self.potential)?;
        (self.host.field, self.host.peak, self.host.potential) = (field, peak, potential);
        Ok(())
    }

    fn push(&mut self) -> Result<(), SolverError> {
        self.medium = Medium::new(&self.stream, &self.host)?;
        self.pass = Pass::new(&self.stream, &self.host, &self.medium, &self.planes, &self.choice)?;
        self.sums = sums::new(&self.stream, &self.host)?;
        self.springs = None;
        // Sweeps are made for the first pair.
        self.now = 0;
        Ok(self.push_field()?)
    }

    fn let_go(&mut self) {
        self.host.field = Field {
            q: Vec::new(),
            p: Vec::new(),
        };
        self.host.peak = Vec::new();
        self.host.potential = Vec::new();
    }

    fn describe(&self) -> Parts {
        let planes = self.planes.iter().flatten();
        let planes = planes.chain(&self.peak).chain(&self.potential).chain(&self.springs);
        let lists = [&self.kicks, &self.momenta, &self.pressures].map(Operations::bytes);
        let (variant, how, most) = match &self.pass {
            Pass::Tiles(tiles) => (
                "fused",
                format!("up to {} equal sub-steps a launch", tiles.most),
                tiles.most,
            ),
            Pass::Sweeps(_) if self.choice.is("fused") => (
                "naive",
                "one launch a sweep: tiles are for two dimensions and fewer than half a million sites a side"
                    .to_owned(),
                1,
            ),
            Pass::Sweeps(_) => ("naive", "one launch a sweep".to_owned(), 1),
        };
        Parts {
            variant,
            backend: Backend::Wgpu,
            threads: 1,
            details: format!("{}, {how}", self.stream.device().name),
            batch: (most / self.host.springs.scheme.substeps.len()).max(1) as u64,
            note: None,
            memory: planes.map(Buffer::bytes).sum::<u64>()
                + self.medium.bytes()
                + lists.iter().sum::<u64>()
                + self.beside.bytes()
                + self.sums.bytes(),
        }
    }

    fn take_steps(&mut self, clock: &RunClock, steps: u64, taps: &mut Taps) -> Result<(), SolverError> {
        self.go(clock, steps, taps)
    }

    fn drive_sites(&mut self, clock: &RunClock, taps: &mut Taps) -> Result<(), SolverError> {
        self.with_field(|host| host.apply_transducers(clock, taps))
    }

    fn wait(&mut self) -> Result<(), SolverError> {
        self.stream.finish().map_err(SolverError::from)
    }

    fn total(&mut self) -> Result<Observables, SolverError> {
        match self.observables() {
            Err(error) if error.lacks_memory() => self.host_sees(|host| host.total()),
            found => Ok(found?),
        }
    }

    fn keeps_velocity(&self) -> bool {
        self.potential.is_some()
    }

    fn watch_velocity(&mut self) -> Result<(), SolverError> {
        if !self.keeps_velocity() {
            self.with_field(Oscillators::watch_potential)?;
        }
        Ok(())
    }

    fn picture(&mut self, request: &ImageRequest, image: &mut FieldImage) -> Result<(), SolverError> {
        let largest = request.quantity == Quantity::Peak;
        if largest && self.peak.is_none() {
            self.with_field(Oscillators::watch_peak)?;
        }
        if request.quantity == Quantity::Energy {
            self.watch_velocity()?;
            return match self.draw_energy(request, image) {
                Err(error) if error.lacks_memory() => self.host_sees(|host| host.draw(request, image))?,
                drawn => Ok(drawn?),
            };
        }
        let plane = self
            .peak
            .as_ref()
            .filter(|_| largest)
            .unwrap_or(&self.q_and_p()[0])
            .clone();
        let size = self.host.springs.layout.size;
        Ok(self.beside.draw(&self.stream, size, &plane, largest, request, image)?)
    }

    fn pressure(&mut self) -> Result<FieldData, SolverError> {
        let mut all = vec![0.0f32; sites(&self.host.springs.layout)];
        self.stream.download("the pressure", &self.q_and_p()[0], 0, &mut all)?;
        Ok(FieldData::Float32(all))
    }
}
