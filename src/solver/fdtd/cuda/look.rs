//! Sums, detectors and pictures on the device.

use super::params::{self, SUMS, whole};
use super::{Cuda, OnCuda, WARPS};
use crate::backend::cuda::{Buffer, CudaError, PushKernelArg, Queue};
use crate::physics::{Measure, Observables};
use crate::scene::scenario::Quantity;
use crate::solver::fdtd::observe::finished;
use crate::solver::taps::Tap;
use crate::solver::{FieldImage, ImageRequest, SolverError};

/// What is summed.
struct Region {
    lo: [usize; 3],
    hi: [usize; 3],
    across: Option<usize>,
    energy: bool,
}

impl<T: OnCuda> Cuda<T> {
    /// The queue of pictures and sums, behind every step put in so far.
    fn aside(&self) -> Result<&Queue, CudaError> {
        self.side.wait_for(&self.queue.mark()?)?;
        Ok(&self.side)
    }

    fn look(&self, region: &Region) -> params::Look<T> {
        params::Look {
            step: self.step_parameters(),
            lo: region.lo.map(whole),
            hi: region.hi.map(whole),
            across: region.across.map_or(-1, whole),
            half: whole(self.host.sweep.lattice.half),
            energy: i32::from(region.energy),
            spacing: self.host.scenario.grid().spacing(),
            time_step: self.host.clock.time_step,
        }
    }

    fn everywhere(&self, energy: bool) -> Region {
        Region {
            lo: [0; 3],
            hi: self.host.sweep.lattice.size,
            across: None,
            energy,
        }
    }

    #[allow(unsafe_code, reason = "kernel launches")]
    fn measured(&self, queue: &Queue, region: &Region) -> Result<[f64; SUMS], CudaError> {
        let rows = (region.hi[1] - region.lo[1]) * (region.hi[2] - region.lo[2]);
        let parameters = self.look(region);
        let blocks = rows.div_ceil(8).clamp(1, WARPS / 8);
        let (parts, count, totals) = (self.parts.address(), whole(blocks * 8), self.totals.address());
        let blocks = u32::try_from(blocks).unwrap_or(1);
        // SAFETY: the arguments are those of the kernels; `parts` has room for every warp, `totals` for one; the region lies in the grid.
        unsafe {
            queue.launch(&self.kernels.measure, (blocks, 1, 1), 256, |launch| {
                launch.arg(&parameters).arg(&parts);
            })?;
            queue.launch(&self.kernels.measure_total, (1, 1, 1), 256, |launch| {
                launch.arg(&parts).arg(&count).arg(&totals);
            })?;
        }
        let mut numbers = [0.0; SUMS];
        queue.download("sums", &self.totals, &mut numbers)?;
        Ok(numbers)
    }

    /// The value of a detector, after the steps put in so far.
    #[expect(clippy::cast_precision_loss, reason = "numbers of sites")]
    pub(super) fn tap(&self, tap: &Tap) -> Result<f64, CudaError> {
        let mut hi = tap.hi;
        if tap.measure == Measure::Value {
            hi = tap.lo.map(|at| at + 1);
        }
        if (0..3).any(|axis| hi[axis] <= tap.lo[axis]) {
            return Ok(0.0);
        }
        let region = Region {
            lo: tap.lo,
            hi,
            across: (tap.measure == Measure::Flux).then_some(tap.across),
            energy: tap.measure == Measure::Energy,
        };
        let [square, energy, .., peak, flux, sum] = self.measured(&self.queue, &region)?;
        let sites: usize = (0..3).map(|axis| hi[axis] - tap.lo[axis]).product();
        Ok(match tap.measure {
            Measure::Peak => peak,
            Measure::Probability => square * tap.weight,
            Measure::Energy => energy * tap.weight,
            Measure::Flux => flux * tap.weight,
            Measure::Value | Measure::Pressure => sum / sites as f64,
        })
    }

    /// Sums over the whole field.
    pub(super) fn sums(&self) -> Result<Observables, SolverError> {
        let sum = || self.measured(self.aside()?, &self.everywhere(true));
        let [square, energy, x, xx, y, yy, z, zz, peak, ..] = sum().map_err(SolverError::from)?;
        let all = Observables {
            norm: square,
            energy,
            peak,
            ..Observables::default()
        };
        Ok(finished(all, [x, y, z], [xx, yy, zz], self.host.scenario.grid()))
    }

    /// Starts to keep the largest |p| of every site.
    pub(super) fn watch_peak(&mut self) -> Result<(), SolverError> {
        if self.peak.is_none() {
            self.on_host(super::Fdtd::watch_peak)?;
        }
        Ok(())
    }

    /// Puts a picture in, into a buffer of its own; `image` takes over its layout.
    #[allow(unsafe_code, reason = "a kernel launch")]
    fn draw(&mut self, request: &ImageRequest, image: &mut FieldImage) -> Result<(), CudaError> {
        image.prepare(request);
        let texels = image.value.len();
        if self.value.as_ref().is_none_or(|buffer| buffer.bytes() < texels * 4) {
            self.value = Some(self.side.zeros("the picture", texels)?);
        }
        let queue = self.aside()?;
        let parameters = params::Picture {
            look: self.look(&self.everywhere(false)),
            x: [whole(request.x.start), whole(request.x.end)],
            y: [whole(request.y.start), whole(request.y.end)],
            z: whole(request.z),
            reduction: whole(image.reduction),
            size: image.size.map(whole),
            quantity: match request.quantity {
                Quantity::Energy => 1,
                Quantity::Peak => 2,
                _ => 0,
            },
            value: self.value.as_ref().map_or(0, Buffer::address),
        };
        let group = image.reduction.next_power_of_two().min(32);
        let blocks = u32::try_from((texels * group).div_ceil(256)).unwrap_or(u32::MAX);
        let group = whole(group);
        // SAFETY: the arguments are those of `picture`; the output has room for every texel, and the region lies in the grid.
        unsafe {
            queue.launch(&self.kernels.picture, (blocks, 1, 1), 256, |launch| {
                launch.arg(&parameters).arg(&group);
            })
        }
    }

    /// What a picture needs beforehand.
    fn ready_for(&mut self, request: &ImageRequest) -> Result<(), SolverError> {
        match request.quantity {
            Quantity::Pressure | Quantity::Energy => Ok(()),
            Quantity::Peak => self.watch_peak(),
            other => Err(SolverError::Unsupported(format!(
                "view.quantity = \"{}\" is not a quantity of sound; choose pressure, energy or peak",
                other.word()
            ))),
        }
    }

    /// See [`crate::solver::Solver::image`].
    pub(super) fn picture(&mut self, request: &ImageRequest, image: &mut FieldImage) -> Result<(), SolverError> {
        self.ready_for(request)?;
        let mut draw = || -> Result<(), CudaError> {
            self.draw(request, image)?;
            match &self.value {
                Some(value) => self.side.download("the picture", value, &mut image.value),
                None => Ok(()),
            }
        };
        draw().map_err(SolverError::from)
    }

    /// See [`crate::solver::Solver::begin_image`].
    pub(super) fn begin_picture(&mut self, request: &ImageRequest) -> Result<(), SolverError> {
        self.ready_for(request)?;
        self.draw_ahead(request).map_err(SolverError::from)
    }

    /// Begins to draw and to copy what was drawn; later steps wait on the device before they overwrite what it reads.
    fn draw_ahead(&mut self, request: &ImageRequest) -> Result<(), CudaError> {
        self.ahead.pending = false;
        let mut image = std::mem::take(&mut self.ahead.image);
        self.draw(request, &mut image)?;
        // A step writes the level that energies need beside the newer one, and the largest values.
        self.ahead.reads = Some(([self.now.address(), self.old.address()], self.side.mark()?));
        let count = image.value.len();
        self.ahead.image = image;
        let landing = match self.ahead.value.take() {
            Some(landing) if landing.room() >= count => landing,
            _ => self.side.landing("the picture", count)?,
        };
        let landing = self.ahead.value.insert(landing);
        if let Some(value) = &self.value {
            self.side.send("the picture", value, count, landing)?;
        }
        self.ahead.pending = true;
        Ok(())
    }

    /// See [`crate::solver::Solver::take_image`].
    pub(super) fn take_picture(&mut self, image: &mut FieldImage) -> Result<bool, SolverError> {
        if !std::mem::take(&mut self.ahead.pending) {
            return Ok(false);
        }
        let Some(landing) = &self.ahead.value else {
            return Ok(false);
        };
        let values = self.side.landed(landing).map_err(SolverError::from)?;
        image.copy_from(&self.ahead.image);
        image.value.copy_from_slice(values);
        Ok(true)
    }
}
