//! The rows of a vector of blocks before and after their elimination.

use num_complex::Complex64;

/// The contribution of a block to the rows of its joints.
#[derive(Clone, Copy, Default)]
pub struct Ends {
    /// Upper coefficient and addition to the diagonal of the joint before.
    pub upper: Complex64,
    pub above: Complex64,
    /// Lower coefficient and addition to the diagonal of the joint after.
    pub lower: Complex64,
    pub below: Complex64,
}

/// Input and results of the elimination of a vector of blocks. Kept from step to step where drives change the diagonal.
pub struct Rows {
    /// T's diagonal without drives, and 1 where a row couples, 0 where it does not: \[row]\[re | im | couples]\[lane].
    pub still: Vec<f64>,
    /// What a unit of each drive adds to the imaginary part, in imaginary time to the real one: \[row]\[lane].
    pub driven: Vec<Vec<f64>>,
    /// Inverse pivot of every row, and what the joint before adds to it: \[row]\[re | im | re | im]\[lane].
    pub pivots: Vec<f64>,
    /// One a lane.
    pub ends: Vec<Ends>,
    /// Rows before which B, and from which C, is above rounding.
    pub reach: (usize, usize),
}
