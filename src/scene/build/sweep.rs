//! `[sweep]` and what is measured by it.

use super::super::sweep::{Axis, Quantity, Sweep, SweepFault, Theory};
use super::Builder;
use crate::grid::Grid;
use crate::physics::{Equation, axes_in_space};

impl Builder<'_> {
    pub(super) fn sweep(&mut self, equation: Option<Equation>, grid: Option<&Grid>) -> Option<Sweep> {
        let given = self.file.sweep.as_ref()?;
        let before = self.found.faults.len();
        let mut axes = Vec::new();
        for (index, text) in given.vary.iter().enumerate() {
            match Axis::parse(text) {
                Ok(axis) => axes.push(axis),
                Err(fault) => self.fault(format!("sweep.vary.{index}"), fault),
            }
        }
        let theory = (!given.theory.trim().is_empty()).then(|| Theory::parse(&given.theory));
        let theory = theory.and_then(|theory| {
            theory
                .map_err(|fault| self.fault("sweep.theory".to_owned(), fault))
                .ok()
        });
        let measures: Vec<Quantity> = given.measure.iter().map(|text| Quantity::parse(text)).collect();
        let rank = grid.map_or(3, Grid::rank);
        let known = super::super::sweep::observables(equation, rank, self.file.mirror.is_some());
        let coordinates = self.coordinates(grid.map_or(3, axes_in_space));
        for (index, quantity) in measures.iter().enumerate() {
            let key = format!("sweep.measure.{index}");
            let detectors = self.file.detectors.iter().map(|detector| detector.name.as_str());
            let names = detectors
                .chain(known.iter().copied())
                .chain(coordinates.iter().map(String::as_str));
            let strange = quantity.names().find(|own| !names.clone().any(|name| name == *own));
            if let Some(strange) = strange {
                let message = format!("there is no detector and no observable {strange:?}");
                self.found.value(key, message, super::possible(strange, names));
            } else if let Some(at) = quantity.at {
                self.not_negative(&key, at);
            } else if self.file.time.end.is_none() {
                let message = format!("`{}` does not say when, and the scene has no end", quantity.name);
                let remedy = format!("write \"{}@40\", or give time.end", quantity.name);
                self.found.value(key, message, remedy);
            }
        }
        let sweep = Sweep { axes, measures, theory };
        if self.found.faults.len() == before
            && let Err(fault) = sweep.check()
        {
            self.fault("sweep".to_owned(), fault);
        }
        Some(sweep)
    }

    fn fault(&mut self, key: String, fault: SweepFault) {
        self.found.value(key, fault.message, fault.remedy);
    }
}
