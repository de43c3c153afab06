//! Transducers on the device: what [`Sites`](crate::solver::transducers::Sites) of the processor's run does.

use super::Cuda;
use crate::backend::cuda::{Buffer, CudaError};
use crate::solver::Taps;
use crate::solver::device::transducers::THREADS;
use crate::solver::device::{OnCuda, unsigned};
use crate::solver::transducers::{Act, Transducers};
use num_complex::Complex64;

impl<T: OnCuda> Cuda<T> {
    /// Takes over what the transducers do after the next `steps` steps.
    pub(super) fn prepare_transducers(&mut self, taps: &Taps, steps: usize) -> Result<(), CudaError> {
        let host = &self.host;
        let nx = host.springs.layout.size[0];
        let act = taps.transducers().map_or(Act::Record, Transducers::act);
        let silent = |site: usize| act != Act::Record && host.masses.is_wall(site % nx, site / nx);
        let place = |site: usize| (!silent(site)).then_some(unsigned(site / nx * self.pitch + site % nx));
        let numbers = |site: usize, value: Complex64| match act {
            Act::Add => host.pushed(site, value),
            _ => [value.re, value.im],
        };
        self.transducers.prepare(&self.stream, taps, steps, place, numbers)
    }

    /// Lets them do it after step `step` of those.
    #[allow(unsafe_code, reason = "a kernel launch")]
    pub(super) fn drive_sites(&mut self, step: usize) -> Result<(), CudaError> {
        let Some(touch) = self.transducers.after(step) else {
            return Ok(());
        };
        let [q, p] = [0, 1].map(|n: usize| self.field[n].address());
        let peak = self.peak.as_ref().map_or(0, Buffer::address);
        // A picture under way may read them.
        self.readback.before_any_writing(&self.stream)?;
        debug_assert!(touch.count >= 0 && touch.places != 0, "{} sites", touch.count);
        // SAFETY: the arguments are those of `touch_sites`; places are sites of the grid, and signal or record have two numbers of each.
        unsafe {
            self.stream
                .launch(&self.kernels.touch, touch.blocks(), THREADS, |launch| {
                    launch.arg(&touch).arg(&q).arg(&p).arg(&peak);
                })
        }
    }
}
