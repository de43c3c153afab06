//! Bohm's trajectories.

use super::Builder;
use crate::grid::Grid;
use crate::physics::{Equation, Trajectory};
use crate::scene::file::TrajectoryFile;

/// Most trajectories of a scene: each costs its share of every step.
const MOST: usize = 1000;

impl Builder<'_> {
    pub(super) fn trajectories(&mut self, equation: Option<Equation>, grid: Option<&Grid>) -> Vec<Trajectory> {
        let given = &self.file.trajectories;
        if given.is_empty() {
            return Vec::new();
        }
        if equation == Some(Equation::Acoustic) {
            let message = "Bohm's trajectories follow the current of ψ, and this is a scene of sound";
            let remedy = "remove it; `view.flow` shows where sound flows";
            self.found.key("trajectory.0", message, remedy);
        }
        if self.file.time.imaginary {
            let message = "nothing flows in imaginary time";
            self.found.key("trajectory.0", message, "remove it, or time.imaginary");
        }
        let number: usize = given.iter().map(|one| one.number().min(MOST + 1)).sum();
        if number > MOST {
            let message = format!("there are {number} trajectories, and at most {MOST} are followed");
            self.found
                .value("trajectory.0.count", message, "write a smaller `count`");
            return Vec::new();
        }
        let mut all: Vec<Trajectory> = Vec::new();
        for (index, one) in given.iter().enumerate() {
            let key = |name: &str| format!("trajectory.{index}.{name}");
            let name = &one.name;
            if name.trim().is_empty() || name.contains([',', '"', '\n', '\r', '@']) {
                let message = format!("{name:?} is not a name");
                let remedy = "name it without commas, quotes and @; it heads columns of the CSV file";
                self.found.value(key("name"), message, remedy);
            }
            self.not_negative(&key("at"), one.at);
            if one.count == Some(0) {
                let message = "0 trajectories show nothing";
                self.found.value(key("count"), message, "write at least 1");
            }
            if one.to.is_none() && one.count.is_some_and(|count| count > 1) {
                let message = "several trajectories of one start are one";
                self.found
                    .key(key("count"), message, "add `to`, where the last of them begins");
            }
            let Some(grid) = grid else { continue };
            let from = self.point(&key("from"), &one.from, grid);
            let to = match &one.to {
                Some(to) => self.point(&key("to"), to, grid),
                None => from,
            };
            let Some((from, to)) = from.zip(to) else { continue };
            let names = one.names();
            let gaps = names.len().saturating_sub(1).max(1);
            for (n, name) in names.into_iter().enumerate() {
                if all.iter().any(|other| other.name == name) {
                    let message = format!("there are two trajectories {name:?}");
                    self.found
                        .value(key("name"), message, "give every trajectory a name of its own");
                }
                #[expect(clippy::cast_precision_loss, reason = "at most a thousand")]
                let part = n as f64 / gaps as f64;
                all.push(Trajectory {
                    name,
                    from: std::array::from_fn(|axis| from[axis] + part * (to[axis] - from[axis])),
                    at: one.at,
                    group: index,
                });
            }
        }
        all
    }

    /// What predictions and sweeps may measure of the trajectories: their coordinates, `NAME.x`.
    pub(super) fn coordinates(&self, space: usize) -> Vec<String> {
        let few = self.file.trajectories.iter().filter(|one| one.number() <= MOST);
        let names = few.flat_map(TrajectoryFile::names);
        let named = names.map(|name| Trajectory {
            name,
            from: [0.0; 3],
            at: 0.0,
            group: 0,
        });
        named.flat_map(|one| one.coordinates(space)).collect()
    }
}
