//! `[[trajectory]]`: as it is written, read and written back.

use super::decode::{Diagnostics, Section};
use super::write::{Writer, floats, text};

/// One `[[trajectory]]`: a start, or several on a straight line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrajectoryFile {
    /// Its name in tables and predictions.
    pub name: String,
    /// Where it begins.
    pub from: Vec<f64>,
    /// Where the last of several begins; `None` = there is one.
    pub to: Option<Vec<f64>>,
    /// How many there are, at even distances; `None` = one, or with `to` 8.
    pub count: Option<usize>,
    /// When they begin.
    pub at: f64,
}

/// Trajectories of a list where nothing is said.
const COUNT: usize = 8;

impl TrajectoryFile {
    /// How many there are.
    #[must_use]
    pub fn number(&self) -> usize {
        self.count.unwrap_or(if self.to.is_some() { COUNT } else { 1 })
    }

    /// The name of each: its own, or with several the number behind it, from 1.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        match self.number() {
            1 => vec![self.name.clone()],
            count => (1..=count).map(|n| format!("{} {n}", self.name)).collect(),
        }
    }
}

pub(super) fn read(mut section: Section<'_>, found: &mut Diagnostics) -> TrajectoryFile {
    let trajectory = TrajectoryFile {
        name: section.need("name", "\"upper\"", found),
        from: section.need("from", "[20.0, 40.0]", found),
        to: section.get("to", found),
        count: section.get("count", found),
        at: section.get("at", found).unwrap_or_default(),
    };
    section.close(found, |_| None);
    trajectory
}

pub(super) fn write(w: &mut Writer, trajectory: &TrajectoryFile) {
    w.item("trajectory");
    w.key("name", text(&trajectory.name));
    w.key("from", floats(&trajectory.from));
    if let Some(to) = &trajectory.to {
        w.key("to", floats(to));
    }
    if let Some(count) = trajectory.count {
        w.key("count", count);
    }
    if trajectory.at != 0.0 {
        w.number("at", trajectory.at);
    }
}
