//! Transducers on the device.

use super::launch::addresses;
use super::params::TouchSites;
use super::{Cuda, OnCuda};
use crate::solver::Taps;
use crate::solver::device::transducers::THREADS;
use crate::solver::device::unsigned;
use crate::solver::trotter::run::HalfPhase;

impl<T: OnCuda> Cuda<T> {
    /// See [`OnDevice::load_transducers`](super::super::run::OnDevice::load_transducers).
    pub(super) fn prepare_transducers(&self, taps: &Taps, steps: usize) {
        let nx = self.grid.size()[0];
        let mut sums = self.sums();
        self.attempt(|| {
            // The kernel keeps walls silent.
            let place = |site: usize| Some(unsigned(site / nx * self.pitch + site % nx));
            let numbers = |_, value: num_complex::Complex64| [value.re, value.im];
            sums.transducers.prepare(&self.stream, taps, steps, place, numbers)
        });
    }

    /// See [`OnDevice::step_transducers`](super::super::run::OnDevice::step_transducers).
    #[allow(unsafe_code, reason = "a kernel launch")]
    pub(super) fn drive_sites(&self, step: usize, phases: Option<&[HalfPhase; 2]>) {
        let sums = self.sums();
        let Some(touch) = sums.transducers.after(step) else {
            return;
        };
        let writes = touch.record == 0;
        if writes {
            self.changed();
        }
        let parameters = TouchSites {
            field: addresses(&self.field),
            medium: self.medium(&sums),
            closing: self.closing(phases.map(|[closing, _]| closing)),
            half_phase: self.closing(phases.map(|[_, half_phase]| half_phase)),
            touch,
        };
        self.attempt(|| {
            if writes {
                self.before_writing(Some(self.field[0].address()))?;
            }
            debug_assert!(touch.count >= 0 && touch.places != 0, "{} sites", touch.count);
            // SAFETY: the parameters are those of `touch_sites`; places are sites of the grid, and signal or record have two numbers of each.
            unsafe {
                self.stream
                    .launch(self.kernel("touch_sites"), touch.blocks(), THREADS, |launch| {
                        launch.arg(&parameters);
                    })
            }
        });
    }

    /// See [`OnDevice::take_transducers`](super::super::run::OnDevice::take_transducers).
    pub(super) fn finish_transducers(&self, taps: &mut Taps) {
        let mut sums = self.sums();
        self.attempt(|| sums.transducers.finish(&self.stream, taps));
    }
}
