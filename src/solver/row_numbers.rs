//! How many numbers the sums of a row have, for exchange between the parts of a grid.

/// Numbers that a row of any method adds to the observables.
pub(super) const NUMBERS: usize = 8;
