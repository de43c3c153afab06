//! Small dense matrices of complex numbers: singular vectors, eigenvalues, least squares.
//!
//! Cost: some ten sweeps of n²/2 pairs of columns for singular vectors, some 10 n³ operations for eigenvalues, m n² for least squares of n columns of m numbers.
//!
//! Reference: Golub & Van Loan 2013, Matrix Computations, 4th edition, sections 5.2.8 (Gram and Schmidt, modified), 7.4 and 7.5 (Hessenberg's form, QR steps with shifts), 8.6.3 (Jacobi from one side).

use num_complex::Complex64;

/// The numbers of a column, or of a row.
pub(super) type Column = Vec<Complex64>;

/// Sweeps after which only rounding is left.
const MOST_SWEEPS: usize = 30;

/// Steps for one eigenvalue; three are usual.
const MOST_STEPS: usize = 60;

/// Share of a column of length 1 that is rounding, where others have been taken out of it.
const DEPENDENT: f64 = 1e-13;

/// ⟨a|b⟩.
pub(super) fn dot(a: &[Complex64], b: &[Complex64]) -> Complex64 {
    a.iter().zip(b).map(|(a, b)| a.conj() * b).sum()
}

fn square(a: &[Complex64]) -> f64 {
    a.iter().map(Complex64::norm_sqr).sum()
}

/// √⟨a|a⟩.
pub(super) fn norm(a: &[Complex64]) -> f64 {
    square(a).sqrt()
}

/// Singular values of a matrix, falling, and the vectors of its range that belong to them, of length 1 where the value is not 0.
pub(super) fn range_of(mut columns: Vec<Column>) -> Vec<(f64, Column)> {
    let sort = |columns: &mut Vec<Column>| columns.sort_by(|a, b| square(b).total_cmp(&square(a)));
    for _ in 0..MOST_SWEEPS {
        sort(&mut columns);
        let mut turned = false;
        for j in 1..columns.len() {
            let (before, from) = columns.split_at_mut(j);
            for column in before {
                turned |= part(column, &mut from[0]);
            }
        }
        if !turned {
            break;
        }
    }
    sort(&mut columns);
    let with_size = columns.into_iter().map(|mut column| {
        let size = norm(&column);
        if size > 0.0 {
            for value in &mut column {
                *value /= size;
            }
        }
        (size, column)
    });
    with_size.collect()
}

/// Makes two columns orthogonal by a rotation; whether they were not.
fn part(a: &mut [Complex64], b: &mut [Complex64]) -> bool {
    const ROUNDED: f64 = 1e-15;
    let (of_a, of_b, product) = (square(a), square(b), dot(a, b));
    let size = product.norm();
    // What is not a number turns nothing.
    if size.is_nan() || size <= (ROUNDED * of_a.sqrt() * of_b.sqrt()).max(1e-300) {
        return false;
    }
    let tau = (of_b - of_a) / (2.0 * size);
    let t = tau.signum() / (tau.abs() + tau.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    let s = t * c;
    let phase = product.conj() / size;
    for (a, b) in a.iter_mut().zip(b) {
        let (x, y) = (*a, *b * phase);
        *a = x * c - y * s;
        *b = x * s + y * c;
    }
    true
}

/// The eigenvalues of a square matrix, `rows[i][j]`, in no order; fewer than there are where steps do not converge.
pub(super) fn eigenvalues(mut rows: Vec<Column>) -> Column {
    to_hessenberg(&mut rows);
    let mut found = Vec::new();
    let mut end = rows.len();
    let mut steps = 0_usize;
    while end > 0 {
        let last = end - 1;
        let mut first = last;
        while first > 0 {
            let beside = rows[first - 1][first - 1].norm() + rows[first][first].norm();
            if rows[first][first - 1].norm() <= f64::EPSILON * beside {
                break;
            }
            first -= 1;
        }
        if first == last {
            found.push(rows[last][last]);
            (end, steps) = (last, 0);
            continue;
        }
        steps += 1;
        if steps > MOST_STEPS {
            break;
        }
        let shift = if steps.is_multiple_of(10) {
            rows[last][last] + rows[last][last - 1].norm()
        } else {
            shift(&rows, last)
        };
        qr_step(&mut rows, first, last, shift);
    }
    found
}

/// Householder's reflections to a matrix that is 0 below the first subdiagonal.
fn to_hessenberg(rows: &mut [Column]) {
    let n = rows.len();
    for k in 0..n.saturating_sub(2) {
        let mut v: Column = rows[k + 1..].iter().map(|row| row[k]).collect();
        let size = norm(&v);
        if size == 0.0 {
            continue;
        }
        let first = v[0].norm();
        let phase = if first > 0.0 {
            v[0] / first
        } else {
            Complex64::from(1.0)
        };
        v[0] += phase * size;
        let twice = 2.0 / square(&v);
        for j in 0..n {
            let pairs = rows[k + 1..].iter().zip(&v);
            let along = pairs.map(|(row, v)| v.conj() * row[j]).sum::<Complex64>() * twice;
            for (row, v) in rows[k + 1..].iter_mut().zip(&v) {
                row[j] -= v * along;
            }
        }
        for row in rows.iter_mut() {
            let pairs = row[k + 1..].iter().zip(&v);
            let along = pairs.map(|(value, v)| value * v).sum::<Complex64>() * twice;
            for (value, v) in row[k + 1..].iter_mut().zip(&v) {
                *value -= along * v.conj();
            }
        }
    }
}

/// Wilkinson's shift: the eigenvalue of the last two rows and columns that is nearer to the last number.
fn shift(rows: &[Column], last: usize) -> Complex64 {
    let [p, q] = [rows[last - 1][last - 1], rows[last - 1][last]];
    let [r, s] = [rows[last][last - 1], rows[last][last]];
    let half = (p - s) * 0.5;
    let root = (half * half + q * r).sqrt();
    let same = if (half * root.conj()).re < 0.0 { -root } else { root };
    let sum = half + same;
    if sum == Complex64::ZERO { s } else { s - q * r / sum }
}

/// One step on the rows and columns `first` to `last`.
fn qr_step(rows: &mut [Column], first: usize, last: usize, shift: Complex64) {
    for k in first..=last {
        rows[k][k] -= shift;
    }
    let mut turns = Vec::with_capacity(last - first);
    for k in first..last {
        let (x, y) = (rows[k][k], rows[k + 1][k]);
        let size = x.norm().hypot(y.norm());
        let (c, s) = if size > 0.0 {
            (x / size, y / size)
        } else {
            (Complex64::from(1.0), Complex64::ZERO)
        };
        turns.push((c, s));
        for j in k..=last {
            let (u, v) = (rows[k][j], rows[k + 1][j]);
            rows[k][j] = c.conj() * u + s.conj() * v;
            rows[k + 1][j] = c * v - s * u;
        }
    }
    for (k, (c, s)) in (first..last).zip(turns) {
        for row in &mut rows[first..=k + 1] {
            let (u, v) = (row[k], row[k + 1]);
            row[k] = u * c + v * s;
            row[k + 1] = v * c.conj() - u * s.conj();
        }
    }
    for k in first..=last {
        rows[k][k] += shift;
    }
}

/// The sum of columns that comes nearest to a column.
pub(super) struct LeastSquares {
    /// What each column is multiplied by.
    pub(super) factors: Column,
    /// Rows of R of the columns of length 1.
    r: Vec<Column>,
    lengths: Vec<f64>,
}

impl LeastSquares {
    /// `None` where columns depend on each other, or are not finite.
    pub(super) fn of(mut columns: Vec<Column>, mut aim: Column) -> Option<Self> {
        let count = columns.len();
        let lengths: Vec<f64> = columns.iter().map(|column| norm(column)).collect();
        if !lengths.iter().all(|length| length.is_finite() && *length > 0.0) {
            return None;
        }
        for (column, length) in columns.iter_mut().zip(&lengths) {
            for value in column.iter_mut() {
                *value /= length;
            }
        }
        let mut r = vec![vec![Complex64::ZERO; count]; count];
        let mut along = Vec::with_capacity(count);
        for k in 0..count {
            let (done, later) = columns.split_at_mut(k + 1);
            let own = &mut done[k];
            let left = norm(own);
            if left.is_nan() || left <= DEPENDENT {
                return None;
            }
            for value in own.iter_mut() {
                *value /= left;
            }
            r[k][k] = left.into();
            for (other, entry) in later.iter_mut().zip(&mut r[k][k + 1..]) {
                *entry = take_out(own, other);
            }
            along.push(take_out(own, &mut aim));
        }
        let mut factors = solve(&r, along);
        for (factor, length) in factors.iter_mut().zip(&lengths) {
            *factor /= length;
        }
        Some(Self { factors, r, lengths })
    }

    /// How far noise of 1 in every number moves each factor: the root of the diagonal of (AᴴA)⁻¹.
    pub(super) fn spread(&self) -> Vec<f64> {
        let count = self.lengths.len();
        let mut squares = vec![0.0; count];
        for k in 0..count {
            let mut unit = vec![Complex64::ZERO; count];
            unit[k] = Complex64::from(1.0);
            for (sum, value) in squares.iter_mut().zip(solve(&self.r, unit)) {
                *sum += value.norm_sqr();
            }
        }
        let with_length = squares.iter().zip(&self.lengths);
        with_length.map(|(square, length)| square.sqrt() / length).collect()
    }
}

/// Takes its part along a direction out of a column.
fn take_out(direction: &[Complex64], from: &mut [Complex64]) -> Complex64 {
    let along = dot(direction, from);
    for (value, direction) in from.iter_mut().zip(direction) {
        *value -= along * direction;
    }
    along
}

/// Solves Rx = z from the last row up.
fn solve(r: &[Column], mut z: Column) -> Column {
    for k in (0..z.len()).rev() {
        let later = r[k][k + 1..].iter().zip(&z[k + 1..]);
        let known: Complex64 = later.map(|(r, x)| r * x).sum();
        z[k] = (z[k] - known) / r[k][k];
    }
    z
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::noise::Noise;

    fn random(rows: usize, columns: usize, seed: u64) -> Vec<Column> {
        let mut noise = Noise::new(seed);
        let mut number = || Complex64::new(noise.normal(), noise.normal());
        (0..columns).map(|_| (0..rows).map(|_| number()).collect()).collect()
    }

    /// Of QΣ with orthonormal Q (discrete exponentials), mixed by a unitary matrix of the same kind.
    #[test]
    fn singular_values_come_back() {
        let turn = std::f64::consts::TAU / 12.0;
        let wave = |n: u32, k: u32| Complex64::cis(turn * f64::from(n * k)) / 12f64.sqrt();
        let sizes = [3.0, 1.0, 1.0, 1e-6, 2.0, 1e-9, 0.5, 0.25, 4.0, 1e-3, 0.0, 7.0];
        let columns = (0..12u32)
            .map(|j| {
                let entry = |n| (0..12).zip(sizes).map(|(k, s)| wave(n, k) * s * wave(k, j)).sum();
                (0..12u32).map(entry).collect()
            })
            .collect();
        let mut exact = sizes;
        exact.sort_by(|a, b| b.total_cmp(a));
        let found = range_of(columns);
        for ((size, _), exact) in found.iter().zip(exact) {
            assert!((size - exact).abs() < 1e-14 * 7.0 * 12.0, "{size} {exact}");
        }
        for i in 0..8 {
            for j in 0..i {
                assert!(dot(&found[i].1, &found[j].1).norm() < 1e-12);
            }
        }
    }

    /// Cyclic permutation (the unshifted steps stand still there), a nilpotent block, and a random matrix, whose eigenvalues λ make its trace and that of its square.
    #[test]
    fn eigenvalues_are_those_of_the_matrix() {
        let real = |rows: &[&[f64]]| -> Vec<Column> {
            rows.iter()
                .map(|row| row.iter().map(|x| Complex64::from(*x)).collect())
                .collect()
        };
        let cyclic = eigenvalues(real(&[&[0.0, 1.0, 0.0], &[0.0, 0.0, 1.0], &[1.0, 0.0, 0.0]]));
        assert_eq!(cyclic.len(), 3);
        assert!(
            cyclic
                .iter()
                .all(|value| (value.powu(3) - Complex64::from(1.0)).norm() < 1e-13)
        );
        assert_eq!(eigenvalues(real(&[&[0.0, 1.0], &[0.0, 0.0]])), vec![Complex64::ZERO; 2]);
        assert!(eigenvalues(Vec::new()).is_empty());
        let rows = random(30, 30, 3);
        let found = eigenvalues(rows.clone());
        assert_eq!(found.len(), 30);
        let trace: Complex64 = (0..30).map(|i| rows[i][i]).sum();
        let of_square: Complex64 = (0..30)
            .flat_map(|i| (0..30).map(move |j| (i, j)))
            .map(|(i, j)| rows[i][j] * rows[j][i])
            .sum();
        assert!((found.iter().sum::<Complex64>() - trace).norm() < 1e-11);
        assert!((found.iter().map(|value| value * value).sum::<Complex64>() - of_square).norm() < 1e-10);
    }

    #[test]
    fn least_squares_leave_what_is_orthogonal() {
        let columns = random(20, 5, 8);
        let aim = random(20, 1, 9).remove(0);
        let found = LeastSquares::of(columns.clone(), aim.clone()).unwrap();
        let mut rest = aim;
        for (column, factor) in columns.iter().zip(&found.factors) {
            for (value, column) in rest.iter_mut().zip(column) {
                *value -= factor * column;
            }
        }
        assert!(columns.iter().all(|column| dot(column, &rest).norm() < 1e-12));
        // Of one column a the spread is 1/|a|.
        let one = LeastSquares::of(vec![columns[0].clone()], columns[1].clone()).unwrap();
        assert!((one.spread()[0] * norm(&columns[0]) - 1.0).abs() < 1e-14);
        let twice = vec![columns[0].clone(), columns[0].clone()];
        assert!(LeastSquares::of(twice, columns[1].clone()).is_none());
    }
}
