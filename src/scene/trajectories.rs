//! `[[trajectory]]` as it is written.

use super::declare::section;

section! {
    /// One `[[trajectory]]`: a start, or several on a straight line.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct TrajectoryFile {
        /// its coordinates are observables: `name.x`, `name.y`
        name: String = required "\"upper\"", "unique, without commas, quotes and @";
        /// where it begins
        from: Vec<f64> = required "[20.0, 40.0]", "on the grid";
        /// the other end of a line, on which several begin, named `name 1`, `name 2`, … and drawn in one colour
        to: Option<Vec<f64>> = maybe "one begins";
        /// how many begin on it, evenly spaced
        count: Option<usize> = maybe "1; 8 with `to`", "at most 1000 in all";
        /// when it begins
        at: f64 = or [0.0], "≥ 0";
    }
}

/// The default number of trajectories on a line.
const COUNT: usize = 8;

impl TrajectoryFile {
    /// How many there are.
    pub fn number(&self) -> usize {
        self.count.unwrap_or(if self.to.is_some() { COUNT } else { 1 })
    }

    /// The name of each: its own, or for several followed by the number, from 1.
    pub fn names(&self) -> Vec<String> {
        match self.number() {
            1 => vec![self.name.clone()],
            count => (1..=count).map(|n| format!("{} {n}", self.name)).collect(),
        }
    }
}
