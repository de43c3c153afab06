//! Pictures of a grid in parts: a row of texels whose sites are all in one part is drawn by that part; the few rows across cuts are
//! reduced from the sites that the parts give. A texel has the same bits, whichever part owns its rows.

use super::Cut;
use super::whole::Whole;
use crate::scene::scenario::Quantity;
use crate::solver::clock::RunClock;
use crate::solver::{FieldImage, ImageRequest, SolverError};
use num_complex::Complex;
use std::ops::Range;

/// The sites of a picture along the axis that is cut, x or y.
fn along(axis: usize, request: &ImageRequest) -> &Range<usize> {
    if axis == 0 { &request.x } else { &request.y }
}

/// The same picture of other sites along that axis.
fn of_rows(axis: usize, request: &ImageRequest, rows: Range<usize>) -> ImageRequest {
    let mut own = request.clone();
    if axis == 0 {
        own.x = rows;
    } else {
        own.y = rows;
    }
    own
}

impl<S: Cut> Whole<S> {
    /// See [`Stepper::image`](crate::solver::stepper::Stepper::image).
    pub(super) fn draw(
        &mut self,
        clock: &RunClock,
        request: &ImageRequest,
        image: &mut FieldImage,
        quantum: bool,
    ) -> Result<(), SolverError> {
        image.prepare(request);
        let n = image.reduction;
        // Texels of a row of the axis that is cut: of a line's one row, one.
        let (width, rows_drawn) = if self.plan.axis == 0 {
            (1, image.size[0])
        } else {
            (image.size[0], image.size[1])
        };
        let drawn: Vec<Range<usize>> = (0..self.plan.parts.len())
            .map(|part| self.drawn_by(part, request, n))
            .collect();
        let (mut values, mut phases) = (Vec::new(), Vec::new());
        let mut own = FieldImage::default();
        for member in 0..self.members.len() {
            let place = self.members[member].place;
            let asked = self.as_window(member, request, &drawn[place], n);
            self.members[member].stepper.image(clock, &asked, &mut own)?;
            if !drawn[place].is_empty() {
                values.extend_from_slice(&own.value);
                phases.extend_from_slice(&own.phase);
            }
        }
        let (values, phases) = (self.all(values), self.all(phases));
        let mut at = 0;
        for rows in drawn.iter().filter(|rows| !rows.is_empty()) {
            let (to, count) = (rows.start * width, rows.len() * width);
            image.value[to..to + count].copy_from_slice(&values[at..at + count]);
            if !image.phase.is_empty() {
                image.phase[to..to + count].copy_from_slice(&phases[at..at + count]);
            }
            at += count;
        }
        for row in (0..rows_drawn).filter(|row| !drawn.iter().any(|rows| rows.contains(row))) {
            self.reduce_row(clock, request, row, image, quantum)?;
        }
        Ok(())
    }

    /// The rows of texels of `n` × `n` sites, on a line single texels, that a part draws: of a plane all or none, else those that are complete and all its own.
    fn drawn_by(&self, part: usize, request: &ImageRequest, n: usize) -> Range<usize> {
        let rows = &self.plan.parts[part];
        if self.plan.axis == 2 {
            let all = request.y.len().div_ceil(n);
            return if rows.contains(&request.z) { 0..all } else { 0..0 };
        }
        let along = along(self.plan.axis, request);
        let complete = along.len() / n;
        let start = rows.start.saturating_sub(along.start).div_ceil(n).min(complete);
        let end = (rows.end.saturating_sub(along.start) / n).min(complete);
        start..end.max(start)
    }

    /// The request to a member for these rows of texels; a member that draws none gets a request for a single site, since what a picture makes a part keep, e.g. the largest
    /// pressures, all parts keep.
    fn as_window(&self, member: usize, request: &ImageRequest, texels: &Range<usize>, n: usize) -> ImageRequest {
        let member = &self.members[member];
        let first = self.plan.parts[member.place].start;
        if texels.is_empty() {
            return ImageRequest {
                x: 0..1,
                y: 0..1,
                z: 0,
                ..request.clone()
            };
        }
        if self.plan.axis == 2 {
            return ImageRequest {
                z: request.z - first + member.core.start,
                ..request.clone()
            };
        }
        let start = along(self.plan.axis, request).start;
        let [low, high] = [texels.start, texels.end].map(|row| start + row * n - first + member.core.start);
        // So that a texel has n × n sites.
        let max_size = if self.plan.axis == 0 {
            [texels.len(), usize::MAX]
        } else {
            [usize::MAX, texels.len()]
        };
        ImageRequest {
            max_size,
            ..of_rows(self.plan.axis, request, low..high)
        }
    }

    /// A row of texels that lies across a cut, or is not complete.
    fn reduce_row(
        &mut self,
        clock: &RunClock,
        request: &ImageRequest,
        row: usize,
        image: &mut FieldImage,
        quantum: bool,
    ) -> Result<(), SolverError> {
        let n = image.reduction;
        let texels = if self.plan.axis == 0 { 1 } else { image.size[0] };
        let along = along(self.plan.axis, request);
        let start = along.start + row * n;
        let strip = of_rows(self.plan.axis, request, start..(start + n).min(along.end));
        let (first, width) = (strip.y.start, strip.x.len());
        let mut sites = |quantity: Quantity| {
            let strip = strip.clone();
            self.sites_of(clock, &ImageRequest { quantity, ..strip })
        };
        let mut own = FieldImage::default();
        if quantum && request.quantity == Quantity::Phase {
            let (re, im) = (sites(Quantity::Real)?, sites(Quantity::Imaginary)?);
            own.fill_quantum_by(n, &strip, |j, out| {
                let from = (j - first) * width;
                for (n, out) in out.iter_mut().enumerate() {
                    *out = Complex::new(re[from + n], im[from + n]);
                }
            });
            image.phase[row * texels..(row + 1) * texels].copy_from_slice(&own.phase);
        } else {
            let all = sites(request.quantity)?;
            own.fill_real_by(n, &strip, |j, out| {
                let from = (j - first) * width;
                out.copy_from_slice(&all[from..from + width]);
            });
        }
        image.value[row * texels..(row + 1) * texels].copy_from_slice(&own.value);
        Ok(())
    }

    /// A quantity at every site of a request that lies in rows which are cut.
    fn sites_of(&mut self, clock: &RunClock, request: &ImageRequest) -> Result<Vec<f32>, SolverError> {
        let mut mine = Vec::new();
        let mut image = FieldImage::default();
        for member in &mut self.members {
            let part = &self.plan.parts[member.place];
            let along = along(self.plan.axis, request);
            let common = along.start.max(part.start)..along.end.min(part.end);
            if common.is_empty() {
                continue;
            }
            let start = member.core.start + common.start - part.start;
            let own = ImageRequest {
                max_size: [usize::MAX; 2],
                ..of_rows(self.plan.axis, request, start..start + common.len())
            };
            member.stepper.image(clock, &own, &mut image)?;
            mine.extend_from_slice(&image.value);
        }
        Ok(self.all(mine))
    }
}
