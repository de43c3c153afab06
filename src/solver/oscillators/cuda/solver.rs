//! The run's interface to the state on the device.

use super::super::events::Damping;
use super::super::field::Field;
use super::super::run::Oscillators;
use super::super::springs::Springs;
use super::launches::Launches;
use super::{Cuda, store, summing, visits};
use crate::backend::cuda::{Buffer, CudaError, Piece, Pieces};
use crate::field::{FieldData, Real};
use crate::physics::Observables;
use crate::solver::acoustic::medium::allocate;
use crate::solver::clock::RunClock;
use crate::solver::device::OnCuda;
use crate::solver::device::rows::{pull_rows, unpadded};
use crate::solver::method::Backend;
use crate::solver::resident::Resident;
use crate::solver::row_numbers::NUMBERS;
use crate::solver::stepper::Parts;
use crate::solver::windows::Windowed;
use crate::solver::{FieldImage, ImageRequest, SolverError, Taps};
use std::ops::Range;

impl<T: OnCuda> Resident for Cuda<T> {
    type Host = Oscillators<T>;

    fn host(&self) -> &Self::Host {
        &self.host
    }

    fn host_mut(&mut self) -> &mut Self::Host {
        &mut self.host
    }

    fn pull(&mut self) -> Result<(), SolverError> {
        let layout = self.host.springs.layout.clone();
        let nx = layout.size[0];
        let pull = |what: &str, from: &Buffer<T>| -> Result<Vec<T>, SolverError> {
            let mut to = allocate(layout.len(), what)?;
            pull_rows(
                &self.stream,
                what,
                [self.pitch, layout.stride()],
                from,
                &mut to,
                |from, to| {
                    for (i, value) in from[..nx].iter().enumerate() {
                        to[layout.column(i)] = *value;
                    }
                },
            )?;
            Ok(to)
        };
        let field = Field {
            q: pull("the pressure", &self.field[0])?,
            p: pull("the momenta", &self.field[1])?,
        };
        let peak = match &self.peak {
            Some(peak) => pull("the largest pressures", peak)?,
            None => Vec::new(),
        };
        let potential = match &self.potential {
            Some(potential) => pull("the velocity", potential)?,
            None => Vec::new(),
        };
        (self.host.field, self.host.peak, self.host.potential) = (field, peak, potential);
        Ok(())
    }

    fn push(&mut self) -> Result<(), SolverError> {
        let mut push = || -> Result<(), CudaError> {
            self.readback.finish()?;
            // Coefficients are there again only where they were read anew.
            if !self.host.springs.tables.is_empty() {
                self.medium = store::Medium::new(&self.stream, &self.host)?;
                let (grid, kind) = (self.host.scenario.grid(), self.medium.kind());
                self.launches = Launches::new(&self.stream, grid, &self.choice, kind)?;
            }
            self.push_field()
        };
        push().map_err(SolverError::from)
    }

    fn let_go(&mut self) {
        self.host.field = Field {
            q: Vec::new(),
            p: Vec::new(),
        };
        self.host.peak = Vec::new();
        self.host.potential = Vec::new();
        self.host.springs = Springs {
            layout: self.host.springs.layout.clone(),
            scheme: self.host.springs.scheme.clone(),
            tables: Vec::new(),
        };
        self.host.damping = Damping::none();
    }

    fn describe(&self) -> Parts {
        let device = self.stream.device();
        let planes = self
            .field
            .iter()
            .chain(self.other.iter().flatten())
            .chain(&self.peak)
            .chain(&self.potential);
        let substeps = self.host.springs.scheme.substeps.len();
        Parts {
            variant: self.launches.variant(),
            backend: Backend::Cuda,
            threads: device.multiprocessors as usize,
            details: format!("{}, {}", device.name, self.launches.describe()),
            batch: (self.launches.most() / substeps).max(1) as u64,
            note: None,
            memory: (planes.map(Buffer::bytes).sum::<usize>()
                + self.medium.bytes()
                + self.readback.bytes()
                + self.summing.as_ref().map_or(0, summing::Summing::bytes)
                + self.visits.as_ref().map_or(0, visits::Visits::bytes)) as u64,
        }
    }

    fn take_steps(&mut self, clock: &RunClock, steps: u64, taps: &mut Taps) -> Result<(), SolverError> {
        self.go(clock, steps, taps)
    }

    fn drive_sites(&mut self, _clock: &RunClock, taps: &mut Taps) -> Result<(), SolverError> {
        self.prepare_transducers(taps, 1)?;
        if self.transducers.acts(0) {
            // Φ⁺ goes on by what transducers do to q, as it does on the processor.
            self.add_to_potential(-1.0)?;
            self.drive_sites(0)?;
            self.add_to_potential(1.0)?;
        }
        Ok(self.transducers.finish(&self.stream, taps)?)
    }

    fn wait(&mut self) -> Result<(), SolverError> {
        Ok(self.readback.pace(&self.stream)?)
    }

    fn keeps_velocity(&self) -> bool {
        self.potential.is_some()
    }

    fn total(&mut self) -> Result<Observables, SolverError> {
        let (invariant, sound) = self.looks();
        let looks = (&invariant, sound.as_ref());
        Ok((self.readback).observables(&self.stream, self.host.scenario.grid(), looks)?)
    }

    fn picture(&mut self, request: &ImageRequest, image: &mut FieldImage) -> Result<(), SolverError> {
        self.draw(request, image)
    }

    fn begin_picture(&mut self, request: &ImageRequest) -> Result<bool, SolverError> {
        self.begin(request).map(|()| true)
    }

    fn take_picture(&mut self, image: &mut FieldImage) -> Result<bool, SolverError> {
        Ok(self.readback.take(image)?)
    }

    fn pressure(&mut self) -> Result<FieldData, SolverError> {
        let [nx, ny] = self.host.springs.layout.size;
        let all = unpadded(&self.stream, "the pressure", [nx, ny, self.pitch], &self.field[0])?;
        Ok(<T as Real>::real_data(all))
    }
}

impl<T: OnCuda> Windowed for Cuda<T> {
    #[allow(unsafe_code, reason = "the pieces are those of the run's buffers")]
    fn rows_on_device(&mut self, rows: Range<usize>) -> Result<Pieces, CudaError> {
        // Whoever asks may write.
        self.readback.before_any_writing(&self.stream)?;
        let row = self.pitch * size_of::<T>();
        debug_assert!(self.field[0].bytes() >= rows.end * row, "rows {rows:?}");
        let planes = self.field.iter().chain(&self.potential);
        let of = |plane: &Buffer<T>| Piece {
            address: plane.address() + (rows.start * row) as u64,
            bytes: rows.len() * row,
        };
        // SAFETY: the rows lie in buffers that live as long as the run or until it is pushed anew, which waits, and are written in its stream.
        Ok(unsafe { Pieces::new(&self.stream, planes.map(of).collect()) })
    }

    fn numbers_of_rows(&mut self) -> Result<Vec<[f64; NUMBERS]>, CudaError> {
        let (invariant, sound) = self.looks();
        let looks = (&invariant, sound.as_ref());
        (self.readback).row_numbers(&self.stream, self.host.scenario.grid(), looks)
    }
}
