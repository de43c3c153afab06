//! The run's interface to the levels on the device.

use super::super::run::{BESIDE, EVEN, Fdtd, PEAK, level};
use super::{Cuda, store, tiles, torre};
use crate::backend::cuda::{Buffer, CudaError, Piece, Pieces};
use crate::backend::simd::Aligned;
use crate::field::{FieldData, Real};
use crate::physics::Observables;
use crate::solver::acoustic::medium::allocate_aligned;
use crate::solver::clock::RunClock;
use crate::solver::device::rows::unpadded;
use crate::solver::device::{Ending, OnCuda};
use crate::solver::method::Backend;
use crate::solver::resident::Resident;
use crate::solver::row_numbers::NUMBERS;
use crate::solver::stepper::Parts;
use crate::solver::windows::Windowed;
use crate::solver::{FieldImage, ImageRequest, SolverError, Taps};
use std::ops::Range;

impl<T: OnCuda> Resident for Cuda<T> {
    type Host = Fdtd<T>;

    fn host(&self) -> &Self::Host {
        &self.host
    }

    fn host_mut(&mut self) -> &mut Self::Host {
        &mut self.host
    }

    fn pull(&mut self) -> Result<(), SolverError> {
        let lattice = self.host.sweep.lattice.clone();
        let pull = |from: &Buffer<T>, what: &str, to: &mut [T]| {
            store::pull_level(&self.stream, what, &lattice, self.pitch, from, to).map_err(SolverError::from)
        };
        (self.host.now, self.host.old) = (level(&lattice, 0)?, level(&lattice, BESIDE)?);
        pull(&self.now, "the pressure", &mut self.host.now)?;
        pull(&self.old, "the pressure", &mut self.host.old)?;
        self.host.peak = Aligned::default();
        if let Some(peak) = &self.peak {
            self.host.peak = allocate_aligned(lattice.values(), PEAK, "the largest pressures")?;
            pull(peak, "the largest pressures", &mut self.host.peak)?;
        }
        self.host.potential = Aligned::default();
        self.host.obeys = false;
        if let Some(potential) = &self.potential {
            self.host.potential = allocate_aligned(lattice.values(), EVEN, "the velocity")?;
            pull(potential, "the velocity", &mut self.host.potential)?;
        }
        self.medium
            .pull_layers(&self.stream, &mut self.host)
            .map_err(SolverError::from)
    }

    fn push(&mut self) -> Result<(), SolverError> {
        let mut push = || -> Result<(), CudaError> {
            self.readback.finish()?;
            self.medium = store::Medium::new(&self.stream, &self.host, self.pitch)?;
            self.push_levels()
        };
        push().map_err(SolverError::from)?;
        // Another medium may want another kernel.
        self.choose_pass();
        Ok(())
    }

    fn let_go(&mut self) {
        (self.host.now, self.host.old) = (Aligned::zeros(0), Aligned::zeros(0));
        self.host.peak = Aligned::default();
        self.host.potential = Aligned::default();
    }

    fn describe(&self) -> Parts {
        let device = self.stream.device();
        let levels = self.now.bytes()
            + self.old.bytes()
            + [&self.peak, &self.potential]
                .map(|all| all.as_ref().map_or(0, Buffer::bytes))
                .iter()
                .sum::<usize>();
        let (variant, kernel) = match (&self.torre, &self.tiles, &self.because) {
            (Some(torre), ..) => ("diamond-torre", torre.describe()),
            (None, Some(tiles), _) => ("tiled", tiles.describe() + &self.follow.describe()),
            (None, None, Some(because)) => ("stepwise", format!("one step a launch: {because}")),
            (None, None, None) if self.medium.is_plain() => ("stepwise", "planes in registers".to_owned()),
            (None, None, None) if self.medium.has_plain_steps() => (
                "stepwise",
                "planes in registers, one thread a site where the medium needs it".to_owned(),
            ),
            (None, None, None) => ("stepwise", "one thread a site".to_owned()),
        };
        Parts {
            variant,
            backend: Backend::Cuda,
            threads: device.multiprocessors as usize,
            details: format!(
                "{}, order {} in space, {kernel}",
                device.name,
                2 * self.host.sweep.lattice.half
            ),
            batch: self.steps_of_pass() as u64,
            note: None,
            memory: (levels
                + self.medium.bytes()
                + self.readback.bytes()
                + self.follow.bytes()
                + self.torre.as_ref().map_or(0, torre::Torre::bytes)
                + self.tiles.as_ref().map_or(0, tiles::Tiles::bytes)) as u64,
        }
    }

    fn take_steps(&mut self, clock: &RunClock, steps: u64, taps: &mut Taps) -> Result<(), SolverError> {
        self.go(clock, steps, taps)
    }

    fn wait(&mut self) -> Result<(), SolverError> {
        self.readback.pace(&self.stream).map_err(SolverError::from)
    }

    fn total(&mut self) -> Result<Observables, SolverError> {
        let (invariant, sound) = self.looks();
        let grid = self.host.scenario.grid();
        (self.readback)
            .observables(&self.stream, grid, (&invariant, sound.as_ref()))
            .map_err(SolverError::from)
    }

    fn keeps_velocity(&self) -> bool {
        self.potential.is_some()
    }

    fn picture(&mut self, request: &ImageRequest, image: &mut FieldImage) -> Result<(), SolverError> {
        self.draw(request, image)
    }

    fn begin_picture(&mut self, request: &ImageRequest) -> Result<bool, SolverError> {
        self.begin(request).map(|()| true)
    }

    fn take_picture(&mut self, image: &mut FieldImage) -> Result<bool, SolverError> {
        self.readback.take(image).map_err(SolverError::from)
    }

    fn pressure(&mut self) -> Result<FieldData, SolverError> {
        let lattice = &self.host.sweep.lattice;
        let shape = [lattice.size[0], lattice.rows(), self.pitch];
        Ok(<T as Real>::real_data(unpadded(
            &self.stream,
            "the pressure",
            shape,
            &self.now,
        )?))
    }
}

impl<T: OnCuda> Windowed for Cuda<T> {
    #[allow(unsafe_code, reason = "the pieces are those of the run's buffers")]
    fn rows_on_device(&mut self, rows: Range<usize>) -> Result<Pieces, CudaError> {
        // Whoever asks may write.
        self.readback.before_any_writing(&self.stream)?;
        let row = self.pitch * size_of::<T>();
        debug_assert!(self.now.bytes() >= rows.end * row, "rows {rows:?}");
        let levels = [Some(&self.now), Some(&self.old), self.potential.as_ref()];
        let mut all: Vec<Piece> = (levels.into_iter().flatten())
            .map(|level| Piece {
                address: level.address() + (rows.start * row) as u64,
                bytes: rows.len() * row,
            })
            .collect();
        self.medium.pieces_of_layers(&self.host, rows, &mut all);
        // SAFETY: the rows lie in buffers that live as long as the run or until it is pushed anew, which waits, and are written in its stream.
        let pieces = unsafe { Pieces::new(&self.stream, all) };
        Ok(pieces.sent(self.early.as_ref().and_then(|early| early.sent(&self.stream))))
    }

    fn rows_follow(&mut self, core: Range<usize>, sent: [usize; 2]) {
        self.ending = self.early.is_some().then_some(Ending { core, sent });
    }

    fn numbers_of_rows(&mut self) -> Result<Vec<[f64; NUMBERS]>, CudaError> {
        let (invariant, sound) = self.looks();
        let grid = self.host.scenario.grid();
        (self.readback).row_numbers(&self.stream, grid, (&invariant, sound.as_ref()))
    }
}
