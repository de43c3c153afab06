//! Dense complex systems by Gaussian elimination: the yardstick for every faster solver.

use num_complex::Complex64;

/// x of Ax = d with partial pivoting; row i holds A's row of n numbers and then dᵢ. O(n³): for a few hundred unknowns. A singular matrix gives
/// numbers that are not finite.
///
/// Source: G. H. Golub, C. F. Van Loan 2013, Matrix Computations, algorithm 3.4.1.
#[must_use]
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
