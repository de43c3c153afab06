//! Position measured in a region: Born's rule, and what is left of the wave.
//!
//! The apparatus finds the particle in its region with the probability P = s Σ_R|ψ|²/Σ|ψ|², where s is what absorbers have left of the norm: a particle that was absorbed is found nowhere. It is found at a place that it tells to within σ: the place x′ is drawn from |ψ|², what is read is q = x′ + σξ along every axis, ξ normal, and
//! the wave becomes g(x − q)ψ(x) inside the region and 0 outside, with |g|² the Gaussian of the standard deviation σ about q. With the rest of the probability it finds nothing, and the wave becomes 0 in the region.
//! These are the operators of a measurement: ∫ g(x − q)² dq = 1 (K. Kraus, States, Effects, and Operations, Springer 1983). With σ = 0 the wave stands on one site.
//! Of two components ([`Grid::place_axes`]) the place does not tell which: g multiplies both, and their superposition at a place stays. A region in one of their planes does tell.

use super::noise::Noise;
use crate::field::{FieldData, narrow};
use crate::grid::Grid;
use num_complex::Complex64;
use std::f64::consts::TAU;

/// An apparatus.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measurement {
    /// Corners of its region, limits included; `None` = everywhere.
    pub region: Option<[[f64; 3]; 2]>,
    /// σ.
    pub width: f64,
    /// s, the norm over that at t = 0, above 0 and at most 1. With 1 all is said on the condition that the particle was not absorbed.
    pub left: f64,
}

/// What it says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// The particle was found there (0 along axes that a position does not have); the position read may lie a little outside the region.
    At([f64; 3]),
    /// It is not in the region.
    Elsewhere,
}

impl Outcome {
    /// As text for the user; a position has this number of axes ([`Grid::place_axes`]).
    pub fn words(&self, axes: usize) -> String {
        match self {
            Self::Elsewhere => "nothing was found in the region".to_owned(),
            Self::At(place) => {
                let axes = ["x", "y", "z"].iter().zip(&place[..axes]);
                let places: Vec<String> = axes.map(|(name, at)| format!("{name} = {}", plain(*at))).collect();
                format!("found at {}", places.join(", "))
            }
        }
    }
}

/// Four decimals, without needless zeros.
fn plain(at: f64) -> String {
    let text = format!("{at:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Where a field would be found.
pub struct Born<'a> {
    measurement: Measurement,
    grid: &'a Grid,
    field: &'a FieldData,
    /// Σ|ψ|² of all rows up to each, inside the region.
    rows: Vec<f64>,
    /// Σ|ψ|² at t = 0.
    norm: f64,
}

impl Measurement {
    /// Whether a site lies in the region.
    #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
    fn holds(&self, grid: &Grid, site: [usize; 3]) -> bool {
        let a = grid.spacing();
        self.region.is_none_or(|[min, max]| {
            (0..grid.rank()).all(|axis| {
                let at = site[axis] as f64 * a;
                at >= min[axis] - 1e-9 * a && at <= max[axis] + 1e-9 * a
            })
        })
    }

    /// The probabilities of a field, which has one value a site. Where it is 0 everywhere, nothing is found.
    pub fn of<'a>(&self, grid: &'a Grid, field: &'a FieldData) -> Born<'a> {
        let nx = grid.size()[0];
        let (mut inside, mut norm) = (0.0, 0.0);
        let rows = (0..grid.rows())
            .map(|row| {
                for site in row * nx..(row + 1) * nx {
                    let density = field.at(site).norm_sqr();
                    norm += density;
                    inside += if self.holds(grid, grid.site(site)) {
                        density
                    } else {
                        0.0
                    };
                }
                inside
            })
            .collect();
        Born {
            measurement: *self,
            grid,
            field,
            rows,
            norm: norm / self.left,
        }
    }

    /// The density of the positions read along x: s|ψ|²/Σ|ψ|² of the region, summed over the other axes and smeared with σ, at the sites of x.
    #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
    pub fn density_along_x(&self, grid: &Grid, field: &FieldData) -> Vec<f64> {
        let (nx, a) = (grid.size()[0], grid.spacing());
        let mut sums = vec![0.0; nx];
        let mut norm = 0.0;
        for site in 0..grid.sites() {
            let density = field.at(site).norm_sqr();
            norm += density;
            if self.holds(grid, grid.site(site)) {
                sums[site % nx] += density;
            }
        }
        let by = if norm > 0.0 { self.left / (norm * a) } else { 0.0 };
        if self.width == 0.0 {
            return sums.iter().map(|sum| sum * by).collect();
        }
        let one = |apart: f64| (-(apart / self.width).powi(2) / 2.0).exp() * a / (self.width * TAU.sqrt());
        // On a ring what is read beyond the end is a place after the beginning.
        let round = nx as f64 * a;
        let weight = |apart: f64| -> f64 {
            if !grid.is_periodic(0) {
                return one(apart);
            }
            // From a width of four rounds on the sum is the same everywhere, to e^{−2π²·16}.
            if self.width >= 4.0 * round {
                return a / round;
            }
            (-32..=32).map(|turn| one(apart + f64::from(turn) * round)).sum()
        };
        let by_distance: Vec<f64> = (0..nx).map(|apart| weight(apart as f64 * a)).collect();
        let smeared = |n: usize| -> f64 {
            let parts = sums.iter().enumerate().map(|(m, sum)| sum * by_distance[n.abs_diff(m)]);
            parts.sum()
        };
        (0..nx).map(|n| smeared(n) * by).collect()
    }

    /// A field after a measurement with this outcome, with its previous norm.
    pub fn collapse(&self, grid: &Grid, field: &mut FieldData, outcome: &Outcome) {
        let before: f64 = (0..field.len()).map(|n| field.at(n).norm_sqr()).sum();
        let mut values: Vec<Complex64> = (0..field.len())
            .map(|n| field.at(n) * self.factor(grid, grid.site(n), outcome))
            .collect();
        let after: f64 = values.iter().map(Complex64::norm_sqr).sum();
        if after > 0.0 {
            let scale = (before / after).sqrt();
            for value in &mut values {
                *value *= scale;
            }
        }
        match field {
            FieldData::Complex64(all) => all.iter_mut().zip(values).for_each(|(old, new)| *old = narrow(new)),
            FieldData::Complex128(all) => *all = values,
            // Sound has no such measurement.
            FieldData::Float32(_) | FieldData::Float64(_) => {}
        }
    }

    /// The factor of ψ at a site, up to a constant that is the same for all.
    #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
    fn factor(&self, grid: &Grid, site: [usize; 3], outcome: &Outcome) -> f64 {
        let inside = self.holds(grid, site);
        let Outcome::At(place) = outcome else {
            return f64::from(u8::from(!inside));
        };
        if !inside {
            return 0.0;
        }
        let a = grid.spacing();
        let square: f64 = (0..grid.place_axes())
            .map(|axis| grid.way(axis, place[axis], site[axis] as f64 * a).powi(2))
            .sum();
        if self.width > 0.0 {
            (-square / (4.0 * self.width * self.width)).exp()
        } else {
            f64::from(u8::from(square < 0.25 * a * a))
        }
    }
}

impl Born<'_> {
    /// P, the probability of finding the particle in the region.
    pub fn probability(&self) -> f64 {
        let inside = self.rows.last().copied().unwrap_or(0.0);
        if inside > 0.0 { inside / self.norm } else { 0.0 }
    }

    /// An outcome.
    #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
    pub fn draw(&self, noise: &mut Noise) -> Outcome {
        let mut left = (1.0 - noise.uniform()) * self.norm;
        let inside = self.rows.last().copied().unwrap_or(0.0);
        if left >= inside {
            return Outcome::Elsewhere;
        }
        let row = self.rows.partition_point(|sum| *sum <= left);
        left -= row.checked_sub(1).map_or(0.0, |before| self.rows[before]);
        let nx = self.grid.size()[0];
        let mut found = None;
        for site in row * nx..(row + 1) * nx {
            let at = self.grid.site(site);
            let density = self.field.at(site).norm_sqr();
            if density == 0.0 || !self.measurement.holds(self.grid, at) {
                continue;
            }
            // The last site with a density takes what rounding leaves.
            found = Some(at);
            left -= density;
            if left < 0.0 {
                break;
            }
        }
        let Some(site) = found else { return Outcome::Elsewhere };
        let mut place = [0.0; 3];
        for axis in 0..self.grid.place_axes() {
            place[axis] = site[axis] as f64 * self.grid.spacing();
            if self.measurement.width > 0.0 {
                place[axis] += self.measurement.width * noise.normal();
                if self.grid.is_periodic(axis) {
                    let round = self.grid.size()[axis] as f64 * self.grid.spacing();
                    let within = place[axis].rem_euclid(round);
                    // A place just before zero rounds to the whole way round.
                    place[axis] = if within < round { within } else { 0.0 };
                }
            }
        }
        Outcome::At(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::reference::initial_state;
    use crate::physics::{Initial, Packet};

    fn packet() -> Packet {
        Packet::new([10.0, 8.0, 0.0], [2.0, 1.5, 1.0], [0.6, -0.2, 0.0])
    }

    /// Means and variances of 20 000 places are those of |ψ|² and the apparatus: within 4 standard errors.
    #[test]
    fn places_follow_the_density() {
        const RUNS: u32 = 20_000;
        let grid = Grid::new(&[80, 64], 0.25);
        let field = FieldData::Complex128(initial_state(&grid, &Initial::Packets(vec![packet()])));
        let measurement = Measurement {
            region: None,
            width: 0.7,
            left: 1.0,
        };
        let born = measurement.of(&grid, &field);
        assert!((born.probability() - 1.0).abs() < 1e-14);
        let mut noise = Noise::new(3);
        let (mut sums, mut squares) = ([0.0; 2], [0.0; 2]);
        for _ in 0..RUNS {
            let Outcome::At(place) = born.draw(&mut noise) else {
                panic!("it is nowhere else")
            };
            for axis in 0..2 {
                let from = place[axis] - packet().center[axis];
                sums[axis] += from;
                squares[axis] += from * from;
            }
        }
        for axis in 0..2 {
            let variance = packet().width[axis].powi(2) + 0.49;
            let (mean, square) = (sums[axis] / f64::from(RUNS), squares[axis] / f64::from(RUNS));
            assert!(mean.abs() < 4.0 * (variance / f64::from(RUNS)).sqrt(), "{axis}: {mean}");
            assert!(
                (square / variance - 1.0).abs() < 4.0 * (2.0 / f64::from(RUNS)).sqrt(),
                "{axis}: {square} {variance}"
            );
        }
    }

    /// On a ring a place lies on it, and the smeared density, which is 1 altogether, is the same on both sides of the seam.
    #[test]
    fn places_on_a_ring_lie_on_it() {
        use crate::grid::Edge;
        let grid = Grid::new(&[40], 0.5).with_edges([Edge::Periodic, Edge::Wall, Edge::Wall], 0);
        let mut psi = vec![Complex64::ZERO; 40];
        psi[0] = Complex64::ONE;
        let field = FieldData::Complex128(psi);
        for width in [1.0, 30.0] {
            let measurement = Measurement {
                region: None,
                width,
                left: 1.0,
            };
            let born = measurement.of(&grid, &field);
            let mut noise = Noise::new(5);
            let mut beyond = 0;
            for _ in 0..2000 {
                let Outcome::At([x, ..]) = born.draw(&mut noise) else {
                    panic!("it is nowhere else")
                };
                assert!((0.0..20.0).contains(&x), "{x}");
                beyond += u32::from(x > 10.0);
            }
            // Half of them, within 4 standard errors.
            assert!(beyond.abs_diff(1000) < 90, "{beyond}");
            let density = measurement.density_along_x(&grid, &field);
            assert!((density.iter().sum::<f64>() * 0.5 - 1.0).abs() < 1e-12);
            for n in 1..20 {
                assert!((density[n] - density[40 - n]).abs() < 1e-12, "{n}");
            }
        }
    }

    /// In a region beside the middle a Gaussian is found with the probability of its tail, and the rest of the runs find nothing there.
    #[test]
    fn a_region_is_found_as_often_as_it_holds() {
        let grid = Grid::new(&[80, 64], 0.25);
        let field = FieldData::Complex64(
            initial_state(&grid, &Initial::Packets(vec![packet()]))
                .into_iter()
                .map(narrow)
                .collect(),
        );
        // From half a spacing above the centre on: Φ(x) counts cells as a whole.
        let measurement = Measurement {
            region: Some([[10.25, 0.0, 0.0], [20.0, 16.0, 0.0]]),
            width: 0.0,
            left: 1.0,
        };
        let born = measurement.of(&grid, &field);
        // ½ less half the middle column, a/(2√2π w).
        let exact = 0.5 - 0.125 / (TAU.sqrt() * 2.0);
        assert!(
            (born.probability() - exact).abs() < 1e-6,
            "{} {exact}",
            born.probability()
        );
        let mut noise = Noise::new(11);
        let found = (0..10_000)
            .filter(|_| matches!(born.draw(&mut noise), Outcome::At(place) if place[0] >= 10.25))
            .count();
        let elsewhere = (0..10_000)
            .filter(|_| born.draw(&mut noise) == Outcome::Elsewhere)
            .count();
        let spread = 4.0 * (exact * (1.0 - exact) * 1e4).sqrt();
        for (count, share) in [(found, exact), (elsewhere, 1.0 - exact)] {
            #[expect(clippy::cast_precision_loss, reason = "a count")]
            let count = count as f64;
            assert!((count - 1e4 * share).abs() < spread, "{count} of {}", 1e4 * share);
        }
    }

    /// A particle that was absorbed is found nowhere: with 0.3 of the norm left, 0.3 of the particles are found.
    #[test]
    fn what_was_absorbed_is_not_found() {
        let grid = Grid::new(&[80, 64], 0.25);
        let field = FieldData::Complex128(initial_state(&grid, &Initial::Packets(vec![packet()])));
        let measurement = Measurement {
            region: None,
            width: 0.0,
            left: 0.3,
        };
        let born = measurement.of(&grid, &field);
        assert!((born.probability() - 0.3).abs() < 1e-12, "{}", born.probability());
        let mut noise = Noise::new(3);
        let found = (0..10_000)
            .filter(|_| born.draw(&mut noise) != Outcome::Elsewhere)
            .count();
        // 4 standard errors of 10 000 draws.
        assert!(found.abs_diff(3000) < 184, "{found}");
        let density: f64 = measurement.density_along_x(&grid, &field).iter().sum();
        assert!((density * 0.25 - 0.3).abs() < 1e-12, "{density}");
    }

    /// Nothing is found of a field that is 0 everywhere.
    #[test]
    fn an_empty_field_is_found_nowhere() {
        let grid = Grid::new(&[20], 0.5);
        let field = FieldData::Complex64(vec![num_complex::Complex::new(0.0, 0.0); 20]);
        for left in [1.0, f64::MIN_POSITIVE] {
            let measurement = Measurement {
                region: None,
                width: 0.0,
                left,
            };
            let born = measurement.of(&grid, &field);
            assert_eq!(born.probability(), 0.0);
            assert_eq!(born.draw(&mut Noise::new(1)), Outcome::Elsewhere);
            assert_eq!(measurement.density_along_x(&grid, &field), [0.0; 20]);
        }
    }

    /// What tells a place tells no component: both are multiplied by the same, and nothing is read along their axis.
    #[test]
    fn a_place_leaves_the_superposition_of_two_components() {
        let grid = Grid::new(&[40, 2], 0.5);
        let amplitudes = [Complex64::new(0.6, 0.0), Complex64::new(0.0, 0.8)];
        let value = |n: usize| {
            #[expect(clippy::cast_precision_loss, reason = "site numbers")]
            let x = (n % 40) as f64 * 0.5;
            amplitudes[n / 40] * (-((x - 10.0) / 4.0).powi(2)).exp()
        };
        let start: Vec<Complex64> = (0..80).map(value).collect();
        let mut noise = Noise::new(5);
        for width in [0.0, 1.0] {
            let measurement = Measurement {
                region: None,
                width,
                left: 1.0,
            };
            let mut field = FieldData::Complex128(start.clone());
            let outcome = measurement.of(&grid, &field).draw(&mut noise);
            let Outcome::At(place) = outcome else {
                panic!("it is nowhere else")
            };
            assert_eq!(place[1..], [0.0; 2]);
            assert!(!outcome.words(grid.place_axes()).contains("y ="));
            measurement.collapse(&grid, &mut field, &outcome);
            let before: f64 = start[..40].iter().map(Complex64::norm_sqr).sum();
            let mut left = 0.0;
            for n in 0..40 {
                // A product of both with one real number: a few roundings.
                let apart = field.at(n) * amplitudes[1] - field.at(n + 40) * amplitudes[0];
                assert!(apart.norm() <= 1e-14 * field.at(n).norm(), "{n}: {apart}");
                left += field.at(n).norm_sqr();
            }
            assert!((left / before - 1.0).abs() < 1e-12, "{left} {before}");
        }
        assert_eq!(Grid::new(&[40, 3], 0.5).place_axes(), 2);
    }

    /// Gauss times Gauss: 1/w² adds, the middle is their weighted mean, the momentum stays; the norm is kept.
    #[test]
    fn what_is_left_is_the_product() {
        let grid = Grid::new(&[160, 128], 0.125);
        let start = initial_state(&grid, &Initial::Packets(vec![packet()]));
        let mut field = FieldData::Complex128(start.clone());
        let measurement = Measurement {
            region: None,
            width: 1.0,
            left: 1.0,
        };
        measurement.collapse(&grid, &mut field, &Outcome::At([11.5, 7.0, 0.0]));
        let weight = |w: f64| 1.0 / (w * w);
        let mut narrow = packet();
        for (axis, q) in [(0, 11.5), (1, 7.0)] {
            let own = weight(packet().width[axis]);
            narrow.width[axis] = 1.0 / (own + 1.0).sqrt();
            narrow.center[axis] = (own * packet().center[axis] + q) / (own + 1.0);
        }
        let expected = initial_state(&grid, &Initial::Packets(vec![narrow]));
        let product: Complex64 = expected
            .iter()
            .enumerate()
            .map(|(n, value)| value.conj() * field.at(n))
            .sum();
        assert!((product.norm() * grid.cell_volume() - 1.0).abs() < 1e-9, "{product}");
        // Smeared, the density along x is that of a Gaussian of both widths.
        let density = measurement.density_along_x(&grid, &FieldData::Complex128(start.clone()));
        for (n, value) in density.iter().enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "site numbers")]
            let x = n as f64 * 0.125 - 10.0;
            let exact = (-x * x / 10.0).exp() / (TAU * 5.0).sqrt();
            assert!((value - exact).abs() < 1e-6, "{x}: {value} {exact}");
        }
        // Where nothing was found nothing is left, and elsewhere everything.
        let half = Measurement {
            region: Some([[0.0; 3], [10.0, 16.0, 0.0]]),
            width: 1.0,
            left: 1.0,
        };
        let mut field = FieldData::Complex128(start);
        half.collapse(&grid, &mut field, &Outcome::Elsewhere);
        let norm: f64 = (0..field.len()).map(|n| field.at(n).norm_sqr()).sum();
        assert!((norm * grid.cell_volume() - 1.0).abs() < 1e-12);
        for n in 0..field.len() {
            assert_eq!(field.at(n) == Complex64::ZERO, grid.site(n)[0] <= 80, "{n}");
        }
    }
}
