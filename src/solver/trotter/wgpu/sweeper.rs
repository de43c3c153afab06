//! The run's interface to the field on the adapter.

use super::Wgpu;
use super::gathered::{Gathered, STEPS};
use super::regions::Regions;
use crate::backend::wgpu::Buffer;
use crate::solver::totals::Totals;
use crate::solver::trotter::problem::Problem;
use crate::solver::trotter::recorder::Recorder;
use crate::solver::trotter::run::{RowChange, Sweeper};
use crate::solver::trotter::scheme::Scheme;
use crate::solver::trotter::stepper::Closed;
use crate::solver::{Backend, FieldImage, ImageRequest, SolverError};
use num_complex::Complex;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

impl Sweeper<f32> for Wgpu {
    fn variant(&self) -> &'static str {
        self.variant
    }

    fn details(&self) -> String {
        let how = match (self.because, self.most) {
            (Some(because), _) => because.to_owned(),
            (None, 0) => "one launch a sweep".to_owned(),
            (None, 1) => "one step a launch".to_owned(),
            (None, steps) => format!("{steps} fused steps"),
        };
        format!("{}, {how}", self.stream.device().name)
    }

    fn memory(&self) -> usize {
        let all = [&self.walls, &self.gauge]
            .into_iter()
            .chain(&self.planes)
            .chain(&self.tables);
        let host: usize = self
            .driven
            .iter()
            .flatten()
            .map(|table| size_of_val(table.as_slice()))
            .sum();
        let device = all.map(Buffer::bytes).sum::<u64>() + self.looks.bytes();
        host + usize::try_from(device).unwrap_or(usize::MAX)
    }

    fn backend(&self) -> Backend {
        Backend::Wgpu
    }

    fn fault(&self) -> Option<SolverError> {
        self.attempt(|| self.stream.finish());
        let fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        fault.clone().map(SolverError::from)
    }

    fn weight(&self) -> Option<f64> {
        let weight = self.attempt(|| self.looks.weight(&self.stream, self.field()));
        Some(weight.unwrap_or(f64::NAN))
    }

    fn scale(&mut self, factor: f32) {
        self.changed();
        self.attempt(|| self.looks.scale(&self.stream, self.field(), factor));
    }

    fn draw(&self, request: &ImageRequest, seen: Closed<f32>, image: &mut FieldImage) -> bool {
        let drawn = self.if_there_is_room((), || self.looks.draw(&self.seen(seen), request, image));
        drawn.is_some()
    }

    fn totals(&self, seen: Closed<f32>, drives: &[f64]) -> Option<Totals> {
        self.if_there_is_room(Totals::none(), || self.looks.totals(&self.seen(seen), drives))
    }

    fn tan_form(&self) -> bool {
        self.most > 0
    }

    fn prepare(&mut self, problem: &Problem, scheme: &Scheme, walls: Option<&[bool]>) {
        let result = self.take_over(problem, scheme, walls);
        self.attempt(|| result);
    }

    fn read(&self, row: usize, x: Range<usize>, out: &mut [Complex<f32>]) {
        let start = row * self.grid.size()[0];
        out.copy_from_slice(&self.mirror()[start + x.start..start + x.end]);
    }

    fn change(&mut self, change: RowChange<f32>) {
        let mirror = self.mirror();
        self.changed();
        let mut sites = mirror.to_vec();
        drop(mirror);
        let nx = self.grid.size()[0];
        (sites.par_chunks_mut(nx).enumerate()).for_each(|(row, sites)| change(row, sites));
        self.attempt(|| self.stream.upload("the field", &sites, self.field(), 0));
    }

    fn write(&mut self, row: usize, x: usize, values: &[Complex<f32>]) {
        self.changed();
        let at = row * self.grid.size()[0] + x;
        self.attempt(|| self.stream.upload("the field", values, self.field(), at));
    }

    fn fill_table(&mut self, table: usize, touched: &(dyn Fn(usize) -> bool + Sync), fill: RowChange<f32>) {
        let nx = self.grid.size()[0];
        let Some(buffer) = self.tables.get(table) else { return };
        let mut own = Vec::new();
        // Rows that are not filled, and sites of a row that a drive does not touch, stay what they are.
        let kept = self.driven.as_mut().and_then(|tables| tables.get_mut(table));
        let all = if let Some(kept) = kept {
            kept
        } else {
            own.resize(self.grid.sites(), Complex::default());
            &mut own
        };
        (all.par_chunks_mut(nx).enumerate())
            .filter(|(row, _)| touched(*row))
            .for_each(|(row, factors)| fill(row, factors));
        let rows = 0..self.grid.rows();
        let (first, last) = (
            rows.clone().find(|row| touched(*row)),
            rows.rev().find(|row| touched(*row)),
        );
        let (Some(first), Some(last)) = (first, last) else {
            return;
        };
        let changed = &all[first * nx..(last + 1) * nx];
        let done = self.stream.upload("phases", changed, buffer, first * nx);
        self.attempt(|| done);
    }

    fn apply_table(&mut self, table: usize) {
        self.changed();
        if let Some(launches) = self.products[self.now].get(table) {
            self.put_in(launches);
        }
    }

    fn substep(&mut self, scheme: &Scheme, i: usize) {
        self.changed();
        if self.whole_steps.is_some() {
            self.step(scheme, i, 1);
        } else if let Some(launches) = self.substeps.get(i) {
            self.put_in(launches);
        }
    }

    fn steps(&mut self, scheme: &Scheme, steps: u64) {
        self.changed();
        let count = usize::try_from(steps)
            .unwrap_or(usize::MAX)
            .saturating_mul(scheme.substeps.len());
        if self.whole_steps.is_some() {
            self.step(scheme, 0, count);
            return;
        }
        for _ in 0..steps {
            self.substeps.iter().for_each(|launches| self.put_in(launches));
        }
    }

    fn fused(&self) -> usize {
        STEPS
    }

    fn sums_regions(&self) -> bool {
        true
    }

    fn batch(&self) -> u64 {
        self.most.max(1) as u64
    }

    fn recorded(&mut self, scheme: &Scheme, steps: u64, recorder: &Recorder<f32>) {
        let asked = Mutex::new(Vec::new());
        recorder.see_amplitudes(0, &|row, x, _| {
            let mut asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
            asked.push([row, x.start, x.len()]);
        });
        let mut asked = asked.into_inner().unwrap_or_else(PoisonError::into_inner);
        asked.sort_unstable();
        asked.dedup();
        if self.gathered.as_ref().is_none_or(|gathered| !gathered.fits(&asked)) {
            let made = Gathered::new(
                (&self.stream, &self.gather),
                (self.grid.size()[0], &self.planes),
                &asked,
            );
            self.gathered = self.attempt(|| made).flatten();
        }
        if self.regions.as_ref().is_none_or(|regions| !regions.fits(recorder)) {
            let made = Regions::new((&self.stream, &self.reduce), (&self.grid, &self.planes), recorder);
            self.regions = self.attempt(|| made);
        }
        let steps = usize::try_from(steps).unwrap_or(usize::MAX);
        recorder.await_totals(steps);
        // Without them something has failed, which ends the run.
        let Some(regions) = self.regions.take() else { return };
        let gathered = self.gathered.take();
        let mut done = 0;
        while done < steps {
            let count = (steps - done).min(STEPS);
            for step in 0..count {
                self.steps(scheme, 1);
                self.attempt(|| regions.sum(&self.stream, &self.reduce, self.now, step));
                match &gathered {
                    Some(gathered) => {
                        self.attempt(|| gathered.gather(&self.stream, &self.gather, self.now, step));
                    }
                    None => recorder.see_amplitudes(done + step, &|row, x, out| self.read(row, x, out)),
                }
            }
            self.attempt(|| regions.hand_over(&self.stream, recorder, (done, count)));
            let records = gathered
                .as_ref()
                .and_then(|gathered| self.attempt(|| gathered.records(&self.stream, count)))
                .unwrap_or_default();
            for (step, gathered) in (0..count).flat_map(|step| gathered.iter().map(move |gathered| (step, gathered))) {
                recorder.see_amplitudes(done + step, &|row, x, out| {
                    let place = gathered.place(step, [row, x.start, x.len()]);
                    match place.and_then(|place| records.get(place..place + out.len())) {
                        Some(found) => out.copy_from_slice(found),
                        None => out.fill(Complex::new(f32::NAN, f32::NAN)),
                    }
                });
            }
            done += count;
        }
        (self.gathered, self.regions) = (gathered, Some(regions));
    }
}
