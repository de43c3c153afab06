//! What a wave function tells in addition to its density: momenta, angular momentum, overlap with the start, participation.
//!
//! Everything is computed in double precision from the field on the host, a line of sites after the other on all threads; the lines' sums are added
//! in their order, so that the result does not depend on the number of threads. Cost: a Fourier transform of every line along every axis.

mod momenta;

#[cfg(feature = "cuda")]
pub(crate) use momenta::wave_number;

use crate::field::FieldData;
use crate::grid::Grid;
use num_complex::Complex64;
use rayon::prelude::*;
use rustfft::FftPlanner;
use std::ops::Range;

/// Measures of ψ that need its phases. Axes that the grid lacks are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct StateMeasures {
    /// ⟨p⟩ = Σ k|ψ(k)|² over −π/a < k ≤ π/a of each axis (ħ = 1), the field taken as periodic: canonical, with a flux in Landau's gauge along x. k = π/a is half +π/a and half −π/a: 0 here, (π/a)² in the spread.
    pub momentum: [f64; 3],
    /// Δp, the standard deviation of the same distribution.
    pub momentum_spread: [f64; 3],
    /// Δx·Δp of each axis; ½ is the least.
    pub uncertainty: [f64; 3],
    /// ⟨L_z⟩ = ⟨(x − x₀)p_y − (y − y₀)p_x⟩ about the middle of the grid, x₀ = (n − 1)a/2; canonical. 0 on a line.
    pub angular_momentum: f64,
    /// ⟨ψ(0)|ψ(t)⟩/⟨ψ(0)|ψ(0)⟩, the autocorrelation.
    pub overlap: Complex64,
    /// (Σ|ψ|²)²/Σ|ψ|⁴: the number of sites that the state covers; NaN of an empty field.
    pub participation: f64,
    /// Tr ρ² of the reduced density matrix ρ(x, x′) = Σ ψ(x, …)ψ*(x′, …) of the first axis, Tr ρ = 1: 1 where ψ is a product, 1/K where K terms of a Schmidt sum are equal. NaN where
    /// that takes more than 2³² products; 0 on a line.
    pub purity: f64,
}

/// Lines of complex numbers, one behind the other, parts apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines {
    /// How many.
    pub count: usize,
    /// Numbers of each.
    pub length: usize,
    /// Real parts.
    pub re: Vec<f64>,
    /// Imaginary parts.
    pub im: Vec<f64>,
}

/// Products beyond which no purity is computed: some seconds.
const MOST_PRODUCTS: u64 = 1 << 32;

/// Sums over the transforms of all lines along one axis.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SumsAlong {
    /// Σ|ψ(k)|².
    pub norm: f64,
    /// Σ k|ψ(k)|².
    pub first: f64,
    /// Σ k²|ψ(k)|².
    pub second: f64,
    /// Σ k|ψ(k)|² times the line's distance from the middle of the grid, along the other axis of the plane; 0 along z.
    pub weighted: f64,
}

impl StateMeasures {
    /// Column names on a grid of `rank` axes, after those of the observables.
    pub fn columns(rank: usize) -> Vec<&'static str> {
        let mut names = Vec::new();
        names.extend(&["px", "py", "pz"][..rank]);
        names.extend(&["spread_px", "spread_py", "spread_pz"][..rank]);
        names.extend(&["uncertainty_x", "uncertainty_y", "uncertainty_z"][..rank]);
        if rank > 1 {
            names.push("lz");
        }
        names.extend(["overlap_re", "overlap_im", "survival", "participation"]);
        if rank > 1 {
            names.push("purity");
        }
        names
    }

    /// The values of those columns.
    pub fn values(&self, rank: usize) -> Vec<f64> {
        let mut values = self.momentum[..rank].to_vec();
        values.extend(&self.momentum_spread[..rank]);
        values.extend(&self.uncertainty[..rank]);
        if rank > 1 {
            values.push(self.angular_momentum);
        }
        values.extend([self.overlap.re, self.overlap.im, self.survival(), self.participation]);
        if rank > 1 {
            values.push(self.purity);
        }
        values
    }

    /// One of the columns by name.
    pub fn by_name(&self, name: &str) -> Option<f64> {
        let place = Self::columns(3).iter().position(|column| *column == name)?;
        Some(self.values(3)[place])
    }

    /// Whether a column has this name.
    pub fn has(name: &str) -> bool {
        Self::columns(3).contains(&name)
    }

    /// |⟨ψ(0)|ψ(t)⟩|², the survival probability.
    pub fn survival(&self) -> f64 {
        self.overlap.norm_sqr()
    }

    /// The autocorrelation alone, ⟨start|field⟩/⟨start|start⟩; 0 if the start is empty.
    pub fn overlap_of(grid: &Grid, field: &FieldData, start: &FieldData) -> Complex64 {
        let rows = sums_of_rows(grid, field, start);
        let sums = rows.iter().fold(StateSums::default(), |all, row| StateSums {
            product: all.product + row.overlap,
            first: all.first + row.first,
            ..all
        });
        sums.overlap()
    }

    /// The measures of a field of the grid's size against `start`, the field at t = 0. Of an empty field the overlap, and with it the survival, is 0, the others NaN. `spread`: Δx of each axis; `squares`: Σ|⟨a|b⟩|² over all pairs of
    /// lines.
    #[must_use]
    pub fn of(
        grid: &Grid,
        field: &FieldData,
        start: &FieldData,
        spread: [f64; 3],
        squares: impl Fn(&Lines) -> f64,
    ) -> Self {
        Self::from_sums(grid, &StateSums::of(grid, field, start, squares), spread)
    }

    /// The measures that these sums over a field of the grid make; `spread` as in [`Self::of`].
    #[must_use]
    pub fn from_sums(grid: &Grid, sums: &StateSums, spread: [f64; 3]) -> Self {
        let mut found = Self {
            overlap: sums.overlap(),
            ..Self::default()
        };
        found.participation = if sums.quartic > 0.0 {
            sums.norm * sums.norm / sums.quartic
        } else {
            f64::NAN
        };
        if grid.rank() > 1 && sums.norm != 0.0 {
            found.purity = sums.squares / (sums.norm * sums.norm);
        }
        if sums.norm == 0.0 {
            // Nothing has no momentum, as it has no place and covers no sites: 0/0. What it has in common with the start is 0.
            let axes = grid.rank();
            for all in [&mut found.momentum, &mut found.momentum_spread, &mut found.uncertainty] {
                all[..axes].fill(f64::NAN);
            }
            if axes > 1 {
                (found.angular_momentum, found.purity) = (f64::NAN, f64::NAN);
            }
            return found;
        }
        for (axis, sums) in sums.along.iter().enumerate().take(grid.rank()) {
            let by = if sums.norm == 0.0 { 1.0 } else { sums.norm };
            let mean = sums.first / by;
            found.momentum[axis] = mean;
            found.momentum_spread[axis] = (sums.second / by - mean * mean).max(0.0).sqrt();
            found.uncertainty[axis] = spread[axis] * found.momentum_spread[axis];
            if grid.rank() > 1 && axis < 2 {
                let sign = if axis == 0 { -1.0 } else { 1.0 };
                found.angular_momentum += sign * sums.weighted / by;
            }
        }
        found
    }
}

/// Sums over ψ that [`StateMeasures`] are made of, without the cells' volume.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StateSums {
    /// Σ|ψ|².
    pub norm: f64,
    /// Σ|ψ|⁴.
    pub quartic: f64,
    /// Σ|ψ(0)|².
    pub first: f64,
    /// Σψ(0)*ψ.
    pub product: Complex64,
    /// Sums over the lines along each axis of the grid; 0 for those that it lacks.
    pub along: [SumsAlong; 3],
    /// Σ|⟨a|b⟩|² over all pairs of lines, see [`lines_of`]; NaN where those are too many, 0 on a line.
    pub squares: f64,
}

impl StateSums {
    /// The sums over a field of the grid's size. `squares`: Σ|⟨a|b⟩|² over all pairs of lines.
    #[must_use]
    pub fn of(grid: &Grid, field: &FieldData, start: &FieldData, squares: impl Fn(&Lines) -> f64) -> Self {
        let mut sums = Self::default();
        for line in sums_of_rows(grid, field, start) {
            sums.norm += line.norm;
            sums.quartic += line.quartic;
            sums.first += line.first;
            sums.product += line.overlap;
        }
        if grid.rank() > 1 && sums.norm != 0.0 {
            sums.squares = squares_of_lines(grid, field, squares);
        }
        let mut planner = FftPlanner::new();
        for axis in 0..grid.rank() {
            sums.along[axis] = momenta::along(grid, field, axis, &mut planner);
        }
        sums
    }

    /// ⟨ψ(0)|ψ⟩/⟨ψ(0)|ψ(0)⟩; 0 where ψ(0) is empty.
    pub fn overlap(&self) -> Complex64 {
        if self.first > 0.0 {
            self.product / self.first
        } else {
            Complex64::ZERO
        }
    }
}

/// The lines of a grid of two or three axes whose products make the purity, how many and of how many numbers: the columns ψ(x, …) or, where they are fewer, the rows, which have the
/// same. `None` if that takes more than 2³² products.
pub fn lines_of(grid: &Grid) -> Option<[usize; 2]> {
    let (nx, rows) = (grid.size()[0], grid.rows());
    let [count, length] = if rows <= nx { [rows, nx] } else { [nx, rows] };
    let products = (count as u64)
        .saturating_mul(count as u64)
        .saturating_mul(length as u64)
        / 2;
    (products <= MOST_PRODUCTS).then_some([count, length])
}

/// Sums over a row: |ψ|², |ψ|⁴, |ψ(0)|², ψ(0)*ψ.
#[derive(Clone, Copy, Default)]
struct OfRow {
    norm: f64,
    quartic: f64,
    first: f64,
    overlap: Complex64,
}

fn sums_of_rows(grid: &Grid, field: &FieldData, start: &FieldData) -> Vec<OfRow> {
    let nx = grid.size()[0];
    (0..grid.rows())
        .into_par_iter()
        .map_init(
            || [(); 4].map(|()| vec![0.0; nx]),
            |[re, im, start_re, start_im], row| {
                let sites = row * nx..(row + 1) * nx;
                read(field, sites.clone(), re, im);
                read(start, sites, start_re, start_im);
                of_row([re, im], [start_re, start_im])
            },
        )
        .collect()
}

/// Sites of a field, parts apart.
fn read(field: &FieldData, sites: Range<usize>, re: &mut [f64], im: &mut [f64]) {
    let parts = re.iter_mut().zip(im);
    match field {
        FieldData::Complex64(psi) => parts
            .zip(&psi[sites])
            .for_each(|((re, im), psi)| (*re, *im) = (f64::from(psi.re), f64::from(psi.im))),
        FieldData::Complex128(psi) => parts
            .zip(&psi[sites])
            .for_each(|((re, im), psi)| (*re, *im) = (psi.re, psi.im)),
        FieldData::Float32(_) | FieldData::Float64(_) => parts.zip(sites).for_each(|((re, im), site)| {
            let psi = field.at(site);
            (*re, *im) = (psi.re, psi.im);
        }),
    }
}

/// The sums of a row, in eight sums side by side.
fn of_row([re, im]: [&[f64]; 2], [start_re, start_im]: [&[f64]; 2]) -> OfRow {
    const WIDE: usize = 8;
    let mut sums = [[0.0; WIDE]; 5];
    let places = re.iter().zip(im).zip(start_re.iter().zip(start_im)).enumerate();
    for (n, ((a, b), (c, d))) in places {
        let lane = n % WIDE;
        let density = a * a + b * b;
        sums[0][lane] += density;
        sums[1][lane] += density * density;
        sums[2][lane] += c * c + d * d;
        sums[3][lane] += c * a + d * b;
        sums[4][lane] += c * b - d * a;
    }
    let [norm, quartic, first, re, im] = sums.map(|lanes| lanes.iter().sum());
    OfRow {
        norm,
        quartic,
        first,
        overlap: Complex64::new(re, im),
    }
}

/// Σ|⟨a|b⟩|² over all pairs of lines.
fn squares_of_lines(grid: &Grid, field: &FieldData, squares: impl Fn(&Lines) -> f64) -> f64 {
    let (nx, rows) = (grid.size()[0], grid.rows());
    let Some([count, length]) = lines_of(grid) else {
        return f64::NAN;
    };
    let (mut re, mut im) = (vec![0.0; count * length], vec![0.0; count * length]);
    let lines = re.par_chunks_mut(length).zip(im.par_chunks_mut(length));
    lines.enumerate().for_each(|(line, (re, im))| {
        if rows <= nx {
            read(field, line * length..(line + 1) * length, re, im);
        } else {
            for (at, (re, im)) in re.iter_mut().zip(im).enumerate() {
                let psi = field.at(line + nx * at);
                (*re, *im) = (psi.re, psi.im);
            }
        }
    });
    squares(&Lines { count, length, re, im })
}

/// Σ|ψ|² over all axes but one, times what makes its sum over that axis, times a, the norm.
pub fn marginal(grid: &Grid, field: &FieldData, axis: usize) -> Vec<f64> {
    let (nx, sites) = (grid.size()[0], grid.size()[axis]);
    let by = grid.cell_volume() / grid.spacing();
    let mut sums = vec![0.0; sites];
    for row in 0..grid.rows() {
        let start = row * nx;
        let place = grid.site(start)[axis];
        for i in 0..nx {
            sums[if axis == 0 { i } else { place }] += field.at(start + i).norm_sqr() * by;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::reference::initial_state;
    use crate::physics::{Initial, Packet};
    use std::f64::consts::TAU;

    fn measured(grid: &Grid, psi: Vec<Complex64>, start: &[Complex64], spread: [f64; 3]) -> StateMeasures {
        let (psi, start) = (FieldData::Complex128(psi), FieldData::Complex128(start.to_vec()));
        StateMeasures::of(grid, &psi, &start, spread, all_pairs)
    }

    /// Σ|⟨a|b⟩|², pair by pair.
    fn all_pairs(lines: &Lines) -> f64 {
        let value = |line: usize, n: usize| {
            let at = line * lines.length + n;
            Complex64::new(lines.re[at], lines.im[at])
        };
        let product =
            |a: usize, b: usize| -> Complex64 { (0..lines.length).map(|n| value(a, n).conj() * value(b, n)).sum() };
        let pairs = (0..lines.count).flat_map(|a| (0..lines.count).map(move |b| (a, b)));
        pairs.map(|(a, b)| product(a, b).norm_sqr()).sum()
    }

    /// A Gaussian: ⟨p⟩ = k, Δp = 1/2w, Δx·Δp = ½, L_z = r × k about the middle, participation (2√π w/a) an axis. What is cut off of it, in space and in the band, is
    /// below e^{−30}.
    #[test]
    fn of_a_gaussian() {
        let grid = Grid::new(&[96, 81, 64], 0.5);
        let packet = Packet::new([22.0, 21.0, 16.0], [2.0, 1.5, 1.6], [0.7, -0.4, 0.2]);
        let psi = initial_state(&grid, &Initial::Packets(vec![packet]));
        let found = measured(&grid, psi.clone(), &psi, packet.width);
        for axis in 0..3 {
            assert!(
                (found.momentum[axis] - packet.momentum[axis]).abs() < 1e-12,
                "{found:?}"
            );
            let spread = 1.0 / (2.0 * packet.width[axis]);
            assert!((found.momentum_spread[axis] - spread).abs() < 1e-11, "{found:?}");
            assert!((found.uncertainty[axis] - 0.5).abs() < 1e-10, "{found:?}");
        }
        let middle = [0.5 * 95.0 / 2.0, 0.5 * 80.0 / 2.0];
        let lz = (22.0 - middle[0]) * -0.4 - (21.0 - middle[1]) * 0.7;
        assert!(
            (found.angular_momentum - lz).abs() < 1e-11,
            "{} {lz}",
            found.angular_momentum
        );
        assert!((found.overlap - 1.0).norm() < 1e-13);
        let covered: f64 = (packet.width.iter())
            .map(|w| 2.0 * std::f64::consts::PI.sqrt() * w / 0.5)
            .product();
        assert!(
            (found.participation / covered - 1.0).abs() < 1e-10,
            "{}",
            found.participation
        );
    }

    /// A vortex (x + iy)e^{−r²/4w²} has L_z = 1, and its conjugate −1 and no overlap with it.
    #[test]
    fn of_a_vortex() {
        let grid = Grid::new(&[64, 48], 1.0);
        let psi: Vec<Complex64> = (0..grid.sites())
            .map(|n| {
                let [i, j, _] = grid.site(n);
                #[expect(clippy::cast_precision_loss, reason = "site numbers")]
                let (x, y) = (i as f64 - 31.5, j as f64 - 23.5);
                Complex64::new(x, y) * (-(x * x + y * y) / 36.0).exp()
            })
            .collect();
        let found = measured(&grid, psi.clone(), &psi, [1.0; 3]);
        assert!((found.angular_momentum - 1.0).abs() < 1e-9, "{found:?}");
        let turned: Vec<Complex64> = psi.iter().map(Complex64::conj).collect();
        let found = measured(&grid, turned, &psi, [1.0; 3]);
        assert!((found.angular_momentum + 1.0).abs() < 1e-9, "{found:?}");
        assert!(found.survival() < 1e-20, "{found:?}");
    }

    /// Of a product of Gaussians each marginal is its own, whatever the others.
    #[test]
    fn marginals_of_a_packet() {
        let grid = Grid::new(&[50, 40, 30], 0.5);
        let packet = Packet::new([12.0, 9.0, 7.0], [1.2, 1.0, 0.9], [0.3, -0.8, 0.1]);
        let psi = FieldData::Complex128(initial_state(&grid, &Initial::Packets(vec![packet])));
        for axis in 0..3 {
            let found = marginal(&grid, &psi, axis);
            assert_eq!(found.len(), grid.size()[axis]);
            for (n, value) in found.iter().enumerate() {
                #[expect(clippy::cast_precision_loss, reason = "site numbers")]
                let x = n as f64 * 0.5 - packet.center[axis];
                let exact = (-x * x / (2.0 * packet.width[axis].powi(2))).exp() / (TAU.sqrt() * packet.width[axis]);
                assert!((value - exact).abs() < 1e-9, "{axis} {n}: {value} {exact}");
            }
        }
    }

    /// 1 for a product, ½ for two packets that are exchanged (of ±), and that of a correlated Gaussian exp(−(x² + y²)/2s² + c xy/s²): √(1 − c²) by Mehler's sum.
    #[test]
    fn purity_counts_the_terms_of_a_schmidt_sum() {
        use crate::physics::Exchange;
        let packet = Packet::new([6.0, 15.0, 0.0], [1.0, 1.0, 1.0], [0.3, -0.8, 0.0]);
        let grid = Grid::new(&[44, 44], 0.5);
        let of = |grid: &Grid, psi: Vec<Complex64>| measured(grid, psi.clone(), &psi, [0.0; 3]).purity;
        let one = initial_state(&grid, &Initial::Packets(vec![packet]));
        assert!((of(&grid, one) - 1.0).abs() < 1e-12);
        for exchange in [Exchange::Symmetric, Exchange::Antisymmetric] {
            let psi = initial_state(&grid, &Initial::Packets(exchange.of(&[packet])));
            // The packets overlap by e^{−d²/8w²}, d = 9: 4e−5, squared.
            assert!((of(&grid, psi) - 0.5).abs() < 1e-8, "{exchange:?}");
        }
        // More sites along y than along x, and the other way round.
        for size in [[60, 90], [90, 60]] {
            let grid = Grid::new(&size, 0.2);
            let correlated = |n: usize| {
                let [i, j, _] = grid.site(n);
                #[expect(clippy::cast_precision_loss, reason = "site numbers")]
                let at = |n: usize, sites: usize| (n as f64 - (sites - 1) as f64 / 2.0) * 0.2;
                let (x, y) = (at(i, size[0]), at(j, size[1]));
                Complex64::from((-(x * x + y * y) / 2.0 + 0.6 * x * y).exp())
            };
            let psi: Vec<Complex64> = (0..grid.sites()).map(correlated).collect();
            let found = of(&grid, psi);
            assert!((found - (1.0f64 - 0.36).sqrt()).abs() < 1e-6, "{size:?}: {found}");
        }
    }

    /// An alternating sign is the edge of the band: no direction, Δp = π/a; on a line there is no L_z.
    #[test]
    fn at_the_edge_of_the_band() {
        let grid = Grid::new(&[32], 0.5);
        let psi: Vec<Complex64> = (0..32)
            .map(|n| Complex64::from(if n % 2 == 0 { 1.0 } else { -1.0 }))
            .collect();
        let found = measured(&grid, psi.clone(), &psi, [0.0; 3]);
        assert!(found.momentum[0].abs() < 1e-12);
        assert!((found.momentum_spread[0] - 2.0 * std::f64::consts::PI).abs() < 1e-12);
        assert!((found.participation - 32.0).abs() < 1e-12);
        let names = StateMeasures::columns(1);
        assert!(!names.contains(&"lz") && names.len() == found.values(1).len());
        assert_eq!(StateMeasures::columns(3).len(), found.values(3).len());
        assert_eq!(found.by_name("participation"), Some(found.participation));
        // Nothing anywhere.
        let empty = measured(&grid, vec![Complex64::ZERO; 32], &psi, [0.0; 3]);
        for name in ["px", "spread_px", "uncertainty_x", "participation"] {
            assert!(empty.by_name(name).is_some_and(f64::is_nan), "{name}");
        }
        for name in ["overlap_re", "overlap_im", "survival", "lz", "py"] {
            assert_eq!(empty.by_name(name), Some(0.0), "{name}");
        }
        let plane = Grid::new(&[8, 4], 0.5);
        let empty = measured(&plane, vec![Complex64::ZERO; 32], &psi, [0.0; 3]);
        for name in ["py", "spread_py", "lz", "purity", "participation"] {
            assert!(empty.by_name(name).is_some_and(f64::is_nan), "{name}");
        }
        assert_eq!(empty.survival(), 0.0);
    }
}
