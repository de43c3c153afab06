//! Tridiagonal systems, factorised once and solved for many right-hand sides: from end to end, or by the N-shaped partition,
//! nested.
//!
//! System: b_i x_{i−1} + a_i x_i + c_i x_{i+1} = d_i, b_0 = c_{n−1} = 0.
//! Scheme of the partition: joints J_0 = 0 < … < J_nb = n−1; between two joints L and R the rows are eliminated downwards (RD) and upwards (RU) until each
//! couples to the joints alone, b_i x_L + a_i x_i + c_i x_R = d_i; the joints lose their neighbours (JD, JU) and form a tridiagonal system of
//! nb + 1 rows (RS), solved end to end or partitioned again; substitution (SS) gives the rest. Only d changes from one right-hand side to
//! the next: 5 complex multiply-adds a row, no division.
//! Limits: no pivoting. For T = 1 + iA with Hermitian A every pivot, on every level, has a real part of at least 1.
//!
//! Reference: Y. Lutsyshyn, F. Navarrete, D. Bauer 2023, The N-shaped partition method, §4 and appendix (whose r_i divides by the other row's diagonal).

use crate::rounding::truncated;
use num_complex::Complex64;
use std::ops::Range;

/// A tridiagonal matrix by rows. `lower[0]` and the last of `upper` are 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Tridiagonal {
    pub lower: Vec<Complex64>,
    pub diagonal: Vec<Complex64>,
    pub upper: Vec<Complex64>,
}

impl Tridiagonal {
    /// Of `rows` rows, all zero.
    pub(super) fn zeros(rows: usize) -> Self {
        Self {
            lower: vec![Complex64::ZERO; rows],
            diagonal: vec![Complex64::ZERO; rows],
            upper: vec![Complex64::ZERO; rows],
        }
    }

    /// Rows.
    pub(super) fn rows(&self) -> usize {
        self.diagonal.len()
    }
}

/// A factorised tridiagonal matrix.
#[derive(Clone, Debug)]
pub(super) enum Factorised {
    /// From end to end.
    Thomas(Thomas),
    /// In blocks.
    Partition(Box<Partition>),
}

impl Factorised {
    /// Factorises; `levels` times in blocks as long as that leaves blocks of at least two rows, then from end to end.
    pub(super) fn new(matrix: &Tridiagonal, levels: usize) -> Self {
        let rows = matrix.rows();
        if levels == 0 || rows < 9 {
            return Self::Thomas(Thomas::new(matrix));
        }
        // n^(levels/(levels+1)) blocks: the same length on every level.
        #[expect(clippy::cast_precision_loss, reason = "row counts")]
        let blocks = truncated((rows as f64).powf(levels as f64 / (levels + 1) as f64).round());
        Self::Partition(Box::new(Partition::new(matrix, blocks.clamp(2, rows / 3), levels - 1)))
    }

    /// Replaces d by x.
    pub(super) fn solve(&self, d: &mut [Complex64]) {
        match self {
            Self::Thomas(thomas) => thomas.solve(d),
            Self::Partition(partition) => partition.solve(d),
        }
    }
}

/// Elimination from end to end.
#[derive(Clone, Debug)]
pub(super) struct Thomas {
    /// −b_i/a'_{i−1}.
    down: Vec<Complex64>,
    /// 1/a'_i.
    inverse: Vec<Complex64>,
    /// c_i/a'_i.
    up: Vec<Complex64>,
}

impl Thomas {
    /// Factorises.
    pub(super) fn new(matrix: &Tridiagonal) -> Self {
        let rows = matrix.rows();
        let mut down = vec![Complex64::ZERO; rows];
        let mut inverse = vec![Complex64::ZERO; rows];
        let mut up = vec![Complex64::ZERO; rows];
        for i in 0..rows {
            let mut pivot = matrix.diagonal[i];
            if i > 0 {
                down[i] = -matrix.lower[i] * inverse[i - 1];
                pivot += down[i] * matrix.upper[i - 1];
            }
            inverse[i] = pivot.inv();
            up[i] = matrix.upper[i] * inverse[i];
        }
        Self { down, inverse, up }
    }

    /// Replaces d by x.
    pub(super) fn solve(&self, d: &mut [Complex64]) {
        for i in 1..d.len() {
            let above = d[i - 1];
            d[i] += self.down[i] * above;
        }
        let mut next = Complex64::ZERO;
        for i in (0..d.len()).rev() {
            next = self.inverse[i] * d[i] - self.up[i] * next;
            d[i] = next;
        }
    }
}

/// The N-shaped partition of one level.
#[derive(Clone, Debug)]
pub(super) struct Partition {
    joints: Vec<usize>,
    /// Multipliers of RD, by row.
    down: Vec<Complex64>,
    /// Multipliers of RU, by row.
    up: Vec<Complex64>,
    /// 1/a of eliminated rows.
    inverse: Vec<Complex64>,
    /// −b/a and −c/a of eliminated rows: what the joints before and after add.
    before: Vec<Complex64>,
    after: Vec<Complex64>,
    /// Multipliers of JD and JU, by block.
    joint_down: Vec<Complex64>,
    joint_up: Vec<Complex64>,
    reduced: Factorised,
}

impl Partition {
    /// Factorises with `blocks` blocks, the reduced system with `levels` levels.
    pub(super) fn new(matrix: &Tridiagonal, blocks: usize, levels: usize) -> Self {
        let rows = matrix.rows();
        let joints: Vec<usize> = (0..=blocks).map(|w| w * (rows - 1) / blocks).collect();
        let mut left = matrix.clone();
        let zeros = || vec![Complex64::ZERO; rows];
        let (mut down, mut up, mut inverse, mut before, mut after) = (zeros(), zeros(), zeros(), zeros(), zeros());
        let mut joint_down = vec![Complex64::ZERO; blocks];
        let mut joint_up = vec![Complex64::ZERO; blocks];
        let mut reduced = Tridiagonal::zeros(blocks + 1);
        for (w, &row) in joints.iter().enumerate() {
            reduced.lower[w] += matrix.lower[row];
            reduced.diagonal[w] += matrix.diagonal[row];
            reduced.upper[w] += matrix.upper[row];
        }
        for w in 0..blocks {
            let Range { start, end } = joints[w] + 1..joints[w + 1];
            if start == end {
                continue;
            }
            let Tridiagonal { lower, diagonal, upper } = &mut left;
            for i in start + 1..end {
                down[i] = -lower[i] / diagonal[i - 1];
                lower[i] = down[i] * lower[i - 1];
                diagonal[i] += down[i] * upper[i - 1];
            }
            joint_down[w] = -reduced.lower[w + 1] / diagonal[end - 1];
            reduced.lower[w + 1] = joint_down[w] * lower[end - 1];
            reduced.diagonal[w + 1] += joint_down[w] * upper[end - 1];
            for i in (start..end - 1).rev() {
                up[i] = -upper[i] / diagonal[i + 1];
                let below = lower[i + 1];
                lower[i] += up[i] * below;
                upper[i] = up[i] * upper[i + 1];
            }
            joint_up[w] = -reduced.upper[w] / diagonal[start];
            reduced.upper[w] = joint_up[w] * upper[start];
            reduced.diagonal[w] += joint_up[w] * lower[start];
            for i in start..end {
                inverse[i] = diagonal[i].inv();
                before[i] = -lower[i] * inverse[i];
                after[i] = -upper[i] * inverse[i];
            }
        }
        Self {
            joints,
            down,
            up,
            inverse,
            before,
            after,
            joint_down,
            joint_up,
            reduced: Factorised::new(&reduced, levels),
        }
    }

    /// Replaces d by x.
    pub(super) fn solve(&self, d: &mut [Complex64]) {
        let mut joint: Vec<Complex64> = self.joints.iter().map(|&row| d[row]).collect();
        for w in 0..self.joints.len() - 1 {
            let rows = self.joints[w] + 1..self.joints[w + 1];
            if rows.is_empty() {
                continue;
            }
            self.rd(rows.clone(), d);
            self.jd(w, rows.clone(), d, &mut joint);
            self.ru(rows.clone(), d);
            self.ju(w, rows, d, &mut joint);
        }
        self.rs(&mut joint);
        self.ss(&joint, d);
    }

    /// RD: rows lose the row above, downwards.
    fn rd(&self, rows: Range<usize>, d: &mut [Complex64]) {
        for i in rows.start + 1..rows.end {
            let above = d[i - 1];
            d[i] += self.down[i] * above;
        }
    }

    /// JD: the joint below loses the last row of the block.
    fn jd(&self, w: usize, rows: Range<usize>, d: &[Complex64], joint: &mut [Complex64]) {
        joint[w + 1] += self.joint_down[w] * d[rows.end - 1];
    }

    /// RU: rows lose the row below, upwards.
    fn ru(&self, rows: Range<usize>, d: &mut [Complex64]) {
        for i in (rows.start..rows.end - 1).rev() {
            let below = d[i + 1];
            d[i] += self.up[i] * below;
        }
    }

    /// JU: the joint above loses the first row of the block.
    fn ju(&self, w: usize, rows: Range<usize>, d: &[Complex64], joint: &mut [Complex64]) {
        joint[w] += self.joint_up[w] * d[rows.start];
    }

    /// RS: the reduced system of the joints.
    fn rs(&self, joint: &mut [Complex64]) {
        self.reduced.solve(joint);
    }

    /// SS: substitution of the joints into the rows between them.
    fn ss(&self, joint: &[Complex64], d: &mut [Complex64]) {
        for w in 0..self.joints.len() - 1 {
            for i in self.joints[w] + 1..self.joints[w + 1] {
                d[i] = self.inverse[i] * d[i] + self.before[i] * joint[w] + self.after[i] * joint[w + 1];
            }
        }
        for (&row, &x) in self.joints.iter().zip(joint) {
            d[row] = x;
        }
    }
}
