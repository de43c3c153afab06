//! The eigenvectors of a small Hermitian matrix, by Jacobi's rotations.

use num_complex::Complex64;

/// Sweeps after which only rounding is left; each at least squares the off-diagonal part once that is small.
const MOST_SWEEPS: usize = 40;

/// Eigenvalues in ascending order with their eigenvectors, `vectors[n]` that of value n; `matrix[i][j]` is a row's entry.
pub(super) fn eigen(mut matrix: Vec<Vec<Complex64>>) -> (Vec<f64>, Vec<Vec<Complex64>>) {
    let n = matrix.len();
    // Rows of `turned` are the conjugates' columns: turned[i] is what becomes eigenvector i.
    let mut turned: Vec<Vec<Complex64>> = (0..n)
        .map(|i| {
            (0..n)
                .map(|j| Complex64::from(if i == j { 1.0 } else { 0.0 }))
                .collect()
        })
        .collect();
    for _ in 0..MOST_SWEEPS {
        let norm = |at: &dyn Fn(usize, usize) -> bool| -> f64 {
            let all = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
            all.filter(|(i, j)| at(*i, *j))
                .map(|(i, j)| matrix[i][j].norm_sqr())
                .sum()
        };
        if norm(&|i, j| i != j) <= f64::EPSILON * f64::EPSILON * norm(&|_, _| true) {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                rotate(&mut matrix, &mut turned, p, q);
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|a, b| matrix[*a][*a].re.total_cmp(&matrix[*b][*b].re));
    let values = order.iter().map(|i| matrix[*i][*i].re).collect();
    let vectors = order.iter().map(|i| std::mem::take(&mut turned[*i])).collect();
    (values, vectors)
}

/// Makes entry (p, q) 0: |q⟩ takes the phase that makes it real, then both are turned.
fn rotate(matrix: &mut [Vec<Complex64>], turned: &mut [Vec<Complex64>], p: usize, q: usize) {
    let off = matrix[p][q];
    let size = off.norm();
    if size == 0.0 {
        return;
    }
    let phase = off.conj() / size;
    let tau = (matrix[q][q].re - matrix[p][p].re) / (2.0 * size);
    let t = tau.signum() / (tau.abs() + (1.0 + tau * tau).sqrt());
    let c = 1.0 / (1.0 + t * t).sqrt();
    let s = t * c;
    // New vectors p' = c p − s e^{−iφ} q, q' = s p + c e^{−iφ} q.
    for row in matrix.iter_mut() {
        let (a, b) = (row[p], row[q] * phase);
        row[p] = a * c - b * s;
        row[q] = a * s + b * c;
    }
    let (low, high) = matrix.split_at_mut(q);
    for (a, b) in low[p].iter_mut().zip(&mut high[0]) {
        let (x, y) = (*a, *b * phase.conj());
        *a = x * c - y * s;
        *b = x * s + y * c;
    }
    matrix[p][q] = Complex64::ZERO;
    matrix[q][p] = Complex64::ZERO;
    let (low, high) = turned.split_at_mut(q);
    for (a, b) in low[p].iter_mut().zip(&mut high[0]) {
        let (x, y) = (*a, *b * phase);
        *a = x * c - y * s;
        *b = x * s + y * c;
    }
}
