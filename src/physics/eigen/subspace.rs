//! A block of vectors that is filtered, made orthonormal, and turned to the Ritz vectors of H.

use super::{EigenError, Hamiltonian, dense};
use num_complex::Complex64;
use rayon::prelude::*;

/// What a filter multiplies the highest wanted level with, over the filter's edge; and at most the lowest over the highest wanted, so that rounding leaves the upper
/// ones their digits.
const GAIN: f64 = 1e5;
const MOST_CONTRAST: f64 = 1e9;

/// The degree of the filter in the first rounds, while energies are guesses; each round may take so many times more.
const FIRST_DEGREE: f64 = 12.0;
const GROWTH: f64 = 2.5;
const MOST_DEGREE: f64 = 4000.0;

/// A block whose additional vectors lie above the wanted ones by less than this part of the spectrum has one energy.
const FLAT: f64 = 1e-12;
/// Rounds after which a search goes on for long.
const LONG: usize = 20;

/// Vectors in addition to the wanted ones.
fn more(wanted: usize) -> usize {
    (wanted / 2).max(6)
}

pub(super) struct Subspace<'a> {
    hamiltonian: &'a Hamiltonian,
    wanted: usize,
    vectors: Vec<Vec<Complex64>>,
    energies: Vec<f64>,
    residuals: Vec<f64>,
    applications: u64,
}

/// ⟨a|b⟩.
fn dot(a: &[Complex64], b: &[Complex64]) -> Complex64 {
    a.iter().zip(b).map(|(a, b)| a.conj() * b).sum()
}

/// Uniform random numbers from −1 to 1, the same in every run.
fn random(state: &mut u64) -> f64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    #[expect(clippy::cast_precision_loss, reason = "53 bits")]
    let unit = (*state >> 11) as f64 / (1u64 << 53) as f64;
    2.0 * unit - 1.0
}

impl<'a> Subspace<'a> {
    pub(super) fn new(hamiltonian: &'a Hamiltonian, wanted: usize) -> Result<Self, EigenError> {
        let sites = hamiltonian.sites();
        let count = (wanted + more(wanted)).min(hamiltonian.free());
        let mut vectors = Vec::with_capacity(count);
        for number in 0..count {
            let mut vector = Vec::new();
            // Two more blocks come with the filter: found out now.
            let room = if number == 0 { sites * (3 * count).max(1) } else { sites };
            vector.try_reserve_exact(room).map_err(|_| EigenError::OutOfMemory {
                needed: (room * size_of::<Complex64>()) as u64,
                wanted,
            })?;
            vector.extend(noise(hamiltonian, number as u64));
            vector.shrink_to_fit();
            vectors.push(vector);
        }
        let mut space = Self {
            hamiltonian,
            wanted,
            vectors,
            energies: vec![0.0; count],
            residuals: vec![f64::INFINITY; count],
            applications: 0,
        };
        space.turn();
        Ok(space)
    }

    pub(super) fn applications(&self) -> u64 {
        self.applications
    }

    /// Multiplies every vector by the filter's polynomial: small from the highest Ritz value up to `high`, growing below.
    pub(super) fn filter(&mut self, high: f64, round: usize) {
        let hamiltonian = self.hamiltonian;
        let lowest = self.energies[0];
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_possible_wrap,
            reason = "small counts"
        )]
        let most = (FIRST_DEGREE * GROWTH.powi(round.min(12) as i32 - 1)).min(MOST_DEGREE);
        let cut = self.edge(high, most, round);
        let (center, half) = (f64::midpoint(cut, high), (high - cut) / 2.0);
        if half <= 0.0 || self.energies.len() == hamiltonian.free() {
            return;
        }
        let [slow, contrast] = self.growth(cut, high);
        let wish = (2.0 * GAIN).ln() / slow.max(1e-9);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 4 and 4000"
        )]
        let degree = wish.min(contrast).min(most).max(4.0) as u32;
        // Scaled so that the lowest level stays as it is: nothing overflows.
        let sigma = half / (lowest - center);
        self.vectors.par_iter_mut().for_each(|vector| {
            let mut before = vec![Complex64::ZERO; vector.len()];
            let mut here = vec![Complex64::ZERO; vector.len()];
            hamiltonian.apply(vector, (center, sigma / half, 0.0), &mut here);
            std::mem::swap(vector, &mut before);
            let mut last = sigma;
            for _ in 1..degree {
                let next = 1.0 / (2.0 / sigma - last);
                // before ← 2·next/half·(H − c)·here − last·next·before
                hamiltonian.apply(&here, (center, 2.0 * next / half, -last * next), &mut before);
                std::mem::swap(&mut before, &mut here);
                last = next;
            }
            *vector = here;
        });
        self.applications += u64::from(degree) * self.vectors.len() as u64;
    }

    /// Where the filter begins to be small, for a degree of at most `most`: at the highest Ritz value, all of which are wanted where the block is the whole space. Where that is (nearly) the highest
    /// wanted one, it would have no gain over those above: the edge is put aside, where the largest degree that is allowed gains what is wished, cosh(m·arcosh(1 + 2δ)) with arcosh(1 + 2δ) ≈ 2√δ.
    /// With low levels far below that degree is small and δ may lie beyond the next level, which is not known: δ shrinks and grows from round to round.
    fn edge(&self, high: f64, most: f64, round: usize) -> f64 {
        let (top, highest) = (self.energies[self.energies.len() - 1], self.energies[self.wanted - 1]);
        let above = (high - highest).abs();
        let cut = top.max(highest + FLAT * above);
        let [slow, contrast] = self.growth(cut, high);
        let is_limited = contrast < most;
        // Residuals do not tell a block of one energy from levels side by side while they are large. In a search that goes on for long every fourth round takes it for one, until Ritz values, which
        // are off by squares of residuals, tell it by themselves.
        let residual = self.residuals[..self.wanted].iter().copied().fold(0.0, f64::max);
        let is_long = round > LONG && round % 4 == 3;
        let may_be_flat = is_long && residual > 1e-9 * above && top - highest <= 0.1 * residual;
        let is_flat = may_be_flat || top - highest <= FLAT * above;
        let gains_nothing = is_flat || is_limited && slow * contrast < 1.0;
        if !gains_nothing {
            return cut;
        }
        let mut aside = ((2.0 * GAIN).ln() / most.min(contrast)).powi(2) / 4.0;
        if is_limited {
            aside /= [1.0, 4.0, 16.0][round % 3];
        }
        top.max(highest + aside.min(0.5) * above)
    }

    /// How the highest wanted level grows with the degree of a filter from `cut` to `high`, |T_m(x)| = cosh(m·arcosh|x|) outside of [−1, 1]; and the degree at which the lowest has
    /// [`MOST_CONTRAST`] over it.
    fn growth(&self, cut: f64, high: f64) -> [f64; 2] {
        let (center, half) = (f64::midpoint(cut, high), (high - cut) / 2.0);
        let growth = |energy: f64| (((energy - center) / half).abs()).max(1.0).acosh();
        let [fast, slow] = [self.energies[0], self.energies[self.wanted - 1]].map(growth);
        [slow, MOST_CONTRAST.ln() / (fast - slow).max(1e-9)]
    }

    /// The Ritz values in rising order, and the residual of each.
    pub(super) fn found(&self) -> (&[f64], &[f64]) {
        (&self.energies, &self.residuals)
    }

    /// Makes the block orthonormal and turns it to the Ritz vectors.
    pub(super) fn turn(&mut self) {
        self.orthonormalise();
        self.orthonormalise();
        let hamiltonian = self.hamiltonian;
        let apply = |vector: &Vec<Complex64>| {
            let mut out = vec![Complex64::ZERO; vector.len()];
            hamiltonian.apply(vector, (0.0, 1.0, 0.0), &mut out);
            out
        };
        let applied: Vec<Vec<Complex64>> = self.vectors.par_iter().map(apply).collect();
        self.applications += self.vectors.len() as u64;
        let count = self.vectors.len();
        let matrix: Vec<Vec<Complex64>> = (0..count)
            .into_par_iter()
            .map(|i| (0..count).map(|j| dot(&self.vectors[i], &applied[j])).collect())
            .collect();
        // Rounding leaves it not quite Hermitian.
        let matrix = (0..count)
            .map(|i| (0..count).map(|j| (matrix[i][j] + matrix[j][i].conj()) * 0.5).collect())
            .collect();
        let (energies, turned) = dense::eigen(matrix);
        let combined = |block: &[Vec<Complex64>]| -> Vec<Vec<Complex64>> {
            let one = |weights: &Vec<Complex64>| {
                let mut sum = vec![Complex64::ZERO; block[0].len()];
                for (vector, weight) in block.iter().zip(weights) {
                    sum.iter_mut()
                        .zip(vector)
                        .for_each(|(sum, value)| *sum += weight * value);
                }
                sum
            };
            turned.par_iter().map(one).collect()
        };
        self.vectors = combined(&self.vectors);
        let applied = combined(&applied);
        let pairs = self.vectors.par_iter().zip(&applied).zip(&energies);
        self.residuals = pairs
            .map(|((vector, applied), energy)| {
                let squares = vector.iter().zip(applied).map(|(v, h)| (h - v * *energy).norm_sqr());
                squares.sum::<f64>().sqrt()
            })
            .collect();
        self.energies = energies;
    }

    /// Gram–Schmidt, vector by vector: those before it are subtracted as they are. A vector that vanishes is replaced by a new random one.
    fn orthonormalise(&mut self) {
        for n in 0..self.vectors.len() {
            let (done, rest) = self.vectors.split_at_mut(n);
            let vector = &mut rest[0];
            for attempt in 0..3 {
                let before = dot(vector, vector).re.sqrt();
                let parts: Vec<Complex64> = done.par_iter().map(|other| dot(other, vector)).collect();
                for (other, part) in done.iter().zip(&parts) {
                    vector
                        .iter_mut()
                        .zip(other)
                        .for_each(|(value, other)| *value -= part * other);
                }
                let left = dot(vector, vector).re.sqrt();
                if left > 1e-12 * before && left.is_normal() {
                    for value in &mut *vector {
                        *value /= left;
                    }
                    break;
                }
                *vector = noise(self.hamiltonian, 1000 * (attempt + 1) + n as u64).collect();
            }
        }
    }

    /// Energies and residuals of all vectors, and states of those that are wanted.
    pub(super) fn into_parts(mut self, wanted: usize) -> (Vec<f64>, Vec<f64>, Vec<Vec<Complex64>>) {
        self.vectors.truncate(wanted);
        for vector in &mut self.vectors {
            // The first of the largest, whatever rounding makes of equal ones.
            let most = vector.iter().map(|value| value.norm()).fold(0.0, f64::max);
            let largest = vector.iter().find(|value| value.norm() >= most * (1.0 - 1e-6));
            let phase = largest.map_or(Complex64::ONE, |value| {
                value.conj() / value.norm().max(f64::MIN_POSITIVE)
            });
            for value in vector {
                *value *= phase;
            }
        }
        (self.energies, self.residuals, self.vectors)
    }
}

/// A random vector, 0 on walls, real where H is.
fn noise(hamiltonian: &Hamiltonian, seed: u64) -> impl Iterator<Item = Complex64> + '_ {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d;
    for _ in 0..8 {
        random(&mut state);
    }
    (0..hamiltonian.sites()).map(move |site| {
        let re = random(&mut state);
        let im = if hamiltonian.is_real() { 0.0 } else { random(&mut state) };
        if hamiltonian.is_wall(site) {
            Complex64::ZERO
        } else {
            Complex64::new(re, im)
        }
    })
}
