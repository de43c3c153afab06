//! The run's interface to the field on the device.

use super::bonds::OwnBonds;
use super::choice::Schedule;
use super::rungs::Rungs;
use super::{Cuda, OnCuda, Planes};
use crate::backend::cuda::Buffer;
use crate::solver::trotter::problem::Problem;
use crate::solver::trotter::run::{OnDevice, RowChange, Sweeper};
use crate::solver::trotter::scheme::Scheme;
use num_complex::Complex;
use std::ops::Range;
use std::sync::PoisonError;

impl<T: OnCuda> Sweeper<T> for Cuda<T> {
    fn variant(&self) -> &'static str {
        let tiles = self.steps_in_tiles().is_some();
        match self.schedule {
            Schedule::Fused if tiles => Schedule::Tiles.as_str(),
            Schedule::Tiles if !tiles => Schedule::Fused.as_str(),
            schedule => schedule.as_str(),
        }
    }

    fn details(&self) -> String {
        let mut words = vec![self.stream.device().name.clone()];
        if let Some(because) = &self.because {
            words.push(because.clone());
        } else if self.schedule == Schedule::Naive {
            words.push("one kernel a sweep".into());
        } else if self.grid.rank() == 3 && self.space.is_empty() {
            words.push("two passes a step".into());
        } else if self.grid.rank() == 1 {
            words.push(match self.line_length() {
                1 => "one step a launch".to_owned(),
                steps => format!("{steps} fused steps"),
            });
        } else {
            words.push(match self.shape() {
                1 => "one step a launch".to_owned(),
                steps => format!("{steps} fused steps"),
            });
            if let Some([width, height]) = self.size_of_tiles() {
                words.push(format!("tiles of {width} × {height}"));
            }
        }
        let sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        if self.schedule.fuses() && !sums.driven.is_empty() {
            words.push("one step a launch all the same: a drive changes the phases at every step".into());
        } else if self.schedule.fuses() && self.flags.imaginary {
            words.push("one step a launch all the same: imaginary time restores the norm after every step".into());
        }
        words.join(", ")
    }

    fn batch(&self) -> u64 {
        let sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        if self.flags.imaginary || !sums.driven.is_empty() || self.schedule == Schedule::Naive {
            1
        } else if self.grid.rank() == 1 {
            self.line_length()
        } else {
            u64::from(self.shape())
        }
    }

    fn memory(&self) -> usize {
        let planes = |planes: &Planes<T>| planes.iter().map(Buffer::bytes).sum::<usize>();
        let sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        planes(&self.field)
            + self.other.as_ref().map_or(0, planes)
            + self.tables.iter().map(planes).sum::<usize>()
            + self.walls.as_ref().map_or(0, Buffer::bytes)
            + [&sums.energy, &sums.absorption]
                .into_iter()
                .flatten()
                .map(Buffer::bytes)
                .sum::<usize>()
            + sums.driven.iter().map(Buffer::bytes).sum::<usize>()
            + sums.strengths.as_ref().map_or(0, Buffer::bytes)
            + self.own.bonds.as_ref().map_or(0, OwnBonds::memory)
            + self.own.rungs.as_ref().map_or(0, Rungs::memory)
            + sums.rows.bytes()
            + self.bytes_of_state()
    }

    fn tan_form(&self) -> bool {
        self.schedule != Schedule::Naive
    }

    fn prepare(&mut self, problem: &Problem, scheme: &Scheme, walls: Option<&[bool]>) {
        let result = self.take_over(problem, scheme, walls);
        self.attempt(|| result);
    }

    fn read(&self, row: usize, x: Range<usize>, out: &mut [Complex<T>]) {
        let mirror = self.mirror();
        let at = row * self.pitch;
        let [re, im] = &*mirror;
        let sites = re[at + x.start..at + x.end].iter().zip(&im[at + x.start..at + x.end]);
        for (out, (re, im)) in out.iter_mut().zip(sites) {
            *out = Complex::new(*re, *im);
        }
    }

    fn change(&mut self, change: RowChange<T>) {
        let mirror = self.mirror();
        let nx = self.grid.size()[0];
        let pitch = self.pitch;
        let rows = |row: usize, sites: &mut [Complex<T>]| {
            let at = row * pitch;
            for (site, (re, im)) in sites
                .iter_mut()
                .zip(mirror[0][at..at + nx].iter().zip(&mirror[1][at..]))
            {
                *site = Complex::new(*re, *im);
            }
            change(row, sites);
        };
        self.changed();
        self.attempt(|| self.upload_rows(&rows));
    }

    fn put(&mut self, rows: RowChange<T>) {
        self.changed();
        self.attempt(|| self.upload_rows(rows));
    }

    fn scale(&mut self, factor: T) {
        // The root of a rounded square is the number itself, from 1e-150 to 1e150.
        self.scale_from(1.0, factor.wide().powi(2));
    }

    fn fill_table(&mut self, _table: usize, _touched: &(dyn Fn(usize) -> bool + Sync), _fill: RowChange<T>) {
        // Tables are filled on the device, by OnDevice::refill.
    }

    fn apply_table(&mut self, table: usize) {
        self.changed();
        self.phases(table, [0.0; 2]);
    }

    fn substep(&mut self, scheme: &Scheme, i: usize) {
        self.changed();
        self.run(scheme, i, 1);
    }

    fn steps(&mut self, scheme: &Scheme, steps: u64) {
        self.changed();
        self.run(scheme, 0, steps * scheme.substeps.len() as u64);
        *self.ending.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn device(&self) -> Option<&dyn OnDevice<T>> {
        Some(self)
    }
}
