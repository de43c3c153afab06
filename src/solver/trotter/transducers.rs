//! Transducers: single sites of ψ, between the field's half phases. From a device all of them come at once, and what was changed goes back at once.

use super::opening::Opening;
use super::run::{OnDevice, Run};
use crate::field::{Real, narrow, wide};
use crate::solver::Taps;
use crate::solver::transducers::Sites;
use num_complex::{Complex, Complex64};
use std::sync::Arc;

/// A run whose sites are reached one by one, with what closes and opens them now.
struct Reached<'a, T: Real> {
    run: &'a mut Run<T>,
    /// `None` where the field needs no opening.
    phases: Option<[Opening; 2]>,
    /// Where the field is on a device.
    copies: Option<Copies<T>>,
}

/// φ at the transducers' sites, and which of it was changed.
struct Copies<T: Real> {
    sites: Arc<[usize]>,
    values: Vec<Complex<T>>,
    changed: Vec<bool>,
}

impl<T: Real> Copies<T> {
    fn of(device: &dyn OnDevice<T>, sites: &Arc<[usize]>) -> Self {
        Self {
            values: device.pick(sites),
            changed: vec![false; sites.len()],
            sites: Arc::clone(sites),
        }
    }

    fn put_back(self, device: &dyn OnDevice<T>) {
        let changed = (self.sites.iter().zip(self.values).zip(self.changed)).filter(|(_, changed)| *changed);
        let (sites, values): (Vec<usize>, Vec<Complex<T>>) = changed.map(|((site, value), _)| (*site, value)).unzip();
        if !sites.is_empty() {
            device.put(&sites, &values);
        }
    }
}

impl<T: Real> Run<T> {
    /// Lets the transducers act on the field at the present time.
    pub(super) fn touch_sites(&mut self, taps: &mut Taps) {
        if !taps.touches() {
            return;
        }
        let phases = self.closing().map(|closing| [closing, self.opening(1.0)]);
        let copies = match (self.stepper.device(), taps.transducers()) {
            (Some(device), Some(transducers)) => Some(Copies::of(device, transducers.sites())),
            _ => None,
        };
        let mut reached = Reached {
            run: self,
            phases,
            copies,
        };
        taps.touch(&mut reached);
        let copies = reached.copies.take();
        if let (Some(device), Some(copies)) = (self.stepper.device(), copies) {
            copies.put_back(device);
        }
    }
}

impl<T: Real> Reached<'_, T> {
    fn place(&self, site: usize) -> (usize, usize) {
        let nx = self.run.problem.grid.size()[0];
        (site / nx, site % nx)
    }

    fn is_wall(&self, site: usize) -> bool {
        self.run.media.walls.as_deref().is_some_and(|walls| walls[site])
    }
}

impl<T: Real> Sites for Reached<'_, T> {
    fn read(&self, site: usize) -> Complex64 {
        let (row, x) = self.place(site);
        let mut psi = [Complex::default()];
        match &self.copies {
            Some(copies) => {
                if let Ok(n) = copies.sites.binary_search(&site) {
                    psi[0] = copies.values[n];
                }
            }
            None => self.run.stepper.read(row, x..x + 1, &mut psi),
        }
        if let Some([closing, _]) = &self.phases {
            closing.apply(&self.run.media, row, x, &mut psi);
        }
        wide(psi[0])
    }

    fn overwrite(&mut self, site: usize, value: Complex64) {
        if self.is_wall(site) {
            return;
        }
        let (row, x) = self.place(site);
        let mut psi: [Complex<T>; 1] = [narrow(value)];
        if let Some([_, opening]) = &self.phases {
            opening.apply(&self.run.media, row, x, &mut psi);
        }
        match &mut self.copies {
            Some(copies) => {
                if let Ok(n) = copies.sites.binary_search(&site) {
                    (copies.values[n], copies.changed[n]) = (psi[0], true);
                }
            }
            None => self.run.stepper.write(row, x, &psi),
        }
    }

    fn add(&mut self, site: usize, value: Complex64) {
        self.overwrite(site, self.read(site) + value);
    }
}
