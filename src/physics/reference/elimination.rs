//! Dense and tridiagonal complex systems by Gaussian elimination with pivots: the yardsticks for every faster solver.

use num_complex::Complex64;

/// x of Ax = d with partial pivoting; row i holds A's row of n numbers and then dᵢ. O(n³): for a few hundred unknowns. A singular matrix gives
/// numbers that are not finite.
///
/// Source: G. H. Golub, C. F. Van Loan 2013, Matrix Computations, algorithm 3.4.1.
pub fn solve_dense(mut rows: Vec<Vec<Complex64>>) -> Vec<Complex64> {
    let n = rows.len();
    for i in 0..n {
        let pivot = (i..n)
            .max_by(|a, b| rows[*a][i].norm().total_cmp(&rows[*b][i].norm()))
            .unwrap_or(i);
        rows.swap(i, pivot);
        let (above, below) = rows.split_at_mut(i + 1);
        let row = &above[i];
        for other in below {
            let ratio = other[i] / row[i];
            if ratio != Complex64::ZERO {
                for (value, pivot) in other[i..].iter_mut().zip(&row[i..]) {
                    *value -= ratio * pivot;
                }
            }
        }
    }
    let mut x = vec![Complex64::ZERO; n];
    for i in (0..n).rev() {
        let known: Complex64 = (i + 1..n).map(|c| rows[i][c] * x[c]).sum();
        x[i] = (rows[i][n] - known) / rows[i][i];
    }
    x
}

/// x of a tridiagonal system with partial pivoting, as LAPACK's xGTSV has it: for a million unknowns. Row i is `lower[i − 1]`, `diagonal[i]`, `upper[i]`;
/// `d` is the right-hand side.
///
/// Source: G. H. Golub, C. F. Van Loan 2013, Matrix Computations, section 4.3.
pub fn solve_tridiagonal(
    lower: &[Complex64],
    diagonal: &[Complex64],
    upper: &[Complex64],
    mut d: Vec<Complex64>,
) -> Vec<Complex64> {
    let at = |all: &[Complex64], i: usize| all.get(i).copied().unwrap_or_default();
    let mut rows = Vec::with_capacity(d.len());
    let mut row = [at(diagonal, 0), at(upper, 0), Complex64::ZERO];
    for i in 1..d.len() {
        let mut next = [lower[i - 1], diagonal[i], at(upper, i)];
        if next[0].norm_sqr() > row[0].norm_sqr() {
            std::mem::swap(&mut row, &mut next);
            d.swap(i - 1, i);
        }
        let ratio = next[0] / row[0];
        rows.push(row);
        let above = d[i - 1];
        d[i] -= ratio * above;
        row = [next[1] - ratio * row[1], next[2] - ratio * row[2], Complex64::ZERO];
    }
    rows.push(row);
    for i in (0..d.len()).rev() {
        let known = rows[i][1] * at(&d, i + 1) + rows[i][2] * at(&d, i + 2);
        d[i] = (d[i] - known) / rows[i][0];
    }
    d
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A system whose first pivot is zero and whose solution is known.
    #[test]
    fn pivots() {
        let c = Complex64::new;
        let x = [c(1.0, -2.0), c(0.5, 0.25), c(-3.0, 1.0)];
        let matrix = [
            [c(0.0, 0.0), c(2.0, 1.0), c(1.0, 0.0)],
            [c(1.0, 1.0), c(0.0, -1.0), c(3.0, 0.0)],
            [c(4.0, 0.0), c(1.0, 2.0), c(0.0, 1.0)],
        ];
        let rows = matrix
            .iter()
            .map(|row| {
                let d = row.iter().zip(&x).map(|(a, x)| a * x).sum();
                row.iter().copied().chain([d]).collect()
            })
            .collect();
        for (found, exact) in solve_dense(rows).iter().zip(&x) {
            assert!((found - exact).norm() < 1e-14);
        }
    }
}
