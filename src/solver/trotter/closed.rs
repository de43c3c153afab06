//! Rows of ψ in double precision from rows of φ, for sums.
//!
//! The half phase between the two is worked out in double precision, site by site: unlike the factors in the run's precision ([`Media::factors`]) a site's does not depend on those beside
//! it, so that a row is closed to the same bits in any pieces, and loops over sites become vector code. ψ is off by the rounding of φ alone.
//!
//! Operations a site: 6 to turn it, 2 for its angle; some 45 for a sine and a cosine where neighbours differ in energy or the interaction turns them, 25 for e^W where it absorbs.

#![allow(
    unsafe_code,
    clippy::needless_bitwise_bool,
    reason = "SIMD, its loops without branches"
)]

use super::half_phase::HalfPhase;
use super::media::{LARGEST_DAMPING, Media};
use crate::backend::simd::{Kernel, Lanes, Level};
use crate::field::Real;
use crate::field::angles::{LARGEST, cos_and_sin};
use crate::field::exponential::exponential;
use num_complex::Complex;
use std::f64::consts::TAU;
use std::ops::Range;

/// Sites that are turned at once, on the stack.
const CHUNK: usize = 64;

/// The medium at some sites of a row, and times that multiply it: ψ = φ e^{−i(E t + Σ U tᵤ + g|φ|²)} e^{W}.
#[derive(Clone, Debug, Default)]
struct Turns<'a, T> {
    /// E, and its time.
    energy: &'a [T],
    time: f64,
    /// Driven parts of U, and their times.
    driven: Vec<(&'a [T], f64)>,
    /// W, and what multiplies it.
    absorption: Option<&'a [T]>,
    growth: f64,
    /// g times its time, or g at every site and that time.
    interaction: f64,
    strengths: Option<(&'a [f64], f64)>,
    walls: Option<&'a [bool]>,
}

impl<'a, T: Real> Turns<'a, T> {
    /// What closes `count` sites of a row from x0 on.
    fn of(closing: &HalfPhase, media: &'a Media<T>, row: usize, x0: usize, count: usize) -> Self {
        debug_assert!(closing.direction < 0.0, "rows are closed");
        let sites = media.sites(row, x0, count);
        let parts = media.driven.iter().map(|(_, part)| &part[sites.clone()]);
        Self {
            energy: &media.energy[sites.clone()],
            time: closing.exponent.energy,
            driven: parts.zip(closing.exponent.driven.iter().copied()).collect(),
            absorption: media.absorption.as_ref().map(|absorption| &absorption[sites.clone()]),
            growth: -closing.exponent.damping,
            interaction: closing.interaction,
            strengths: media.strengths(sites.clone()).map(|own| (own, closing.length)),
            walls: media.walls.as_ref().map(|walls| &walls[sites]),
        }
    }
}

/// Closes sites of a row of φ from x0 on.
pub(super) fn close<T: Real>(
    level: Level,
    (closing, media): (Option<&HalfPhase>, &Media<T>),
    (row, x0): (usize, usize),
    phi: &[Complex<T>],
    psi: [&mut [f64]; 2],
) {
    let turns = closing.map(|closing| Turns::of(closing, media, row, x0, phi.len()));
    let turns = turns.as_ref();
    Close { phi, turns, psi }.at(level);
}

/// Sites of φ, and where their ψ goes.
struct Close<'a, 'b, T> {
    phi: &'a [Complex<T>],
    turns: Option<&'a Turns<'a, T>>,
    psi: [&'b mut [f64]; 2],
}

impl<T: Real> Close<'_, '_, T> {
    /// With the instructions of a level.
    fn at(self, level: Level) {
        level.run::<f64>(self);
    }
}

impl<T: Real> Kernel<f64> for Close<'_, '_, T> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Element = f64>>(self) {
        let count = self.phi.len();
        let [re, im] = self.psi.map(|part| &mut part[..count]);
        let Some(turns) = self.turns else {
            widen(self.phi, re, im);
            return;
        };
        for first in (0..count).step_by(CHUNK) {
            let here = first..(first + CHUNK).min(count);
            let (phi, re, im) = (&self.phi[here.clone()], &mut re[here.clone()], &mut im[here.clone()]);
            if let Some(angle) = turns.same(&here) {
                turn_alike(phi, angle, re, im);
            } else {
                widen(phi, re, im);
                turn(turns, &here, re, im);
            }
            damp(turns, &here, re, im);
        }
    }
}

impl<T: Real> Turns<'_, T> {
    /// The angle of some sites, where nothing but energies turns them and these are the same.
    #[inline(always)]
    fn same(&self, here: &Range<usize>) -> Option<f64> {
        if !self.driven.is_empty() || self.strengths.is_some() || self.interaction != 0.0 {
            return None;
        }
        let energy = &self.energy[here.clone()];
        let differs = |any: bool, other: &T| any | (*other != energy[0]);
        (!energy.iter().fold(false, differs)).then(|| self.time * energy[0].wide())
    }
}

/// In double precision, parts apart.
#[inline(always)]
fn widen<T: Real>(phi: &[Complex<T>], re: &mut [f64], im: &mut [f64]) {
    for ((phi, re), im) in phi.iter().zip(re).zip(im) {
        (*re, *im) = (phi.re.wide(), phi.im.wide());
    }
}

/// The same, and turned by one angle.
#[inline(always)]
fn turn_alike<T: Real>(phi: &[Complex<T>], angle: f64, re: &mut [f64], im: &mut [f64]) {
    let (cos, sin) = cos_and_sin(below_largest(angle));
    for ((phi, re), im) in phi.iter().zip(re).zip(im) {
        let (a, b) = (phi.re.wide(), phi.im.wide());
        (*re, *im) = (a * cos + b * sin, b * cos - a * sin);
    }
}

/// Turns at most [`CHUNK`] sites.
#[inline(always)]
fn turn<T: Real>(turns: &Turns<T>, here: &Range<usize>, re: &mut [f64], im: &mut [f64]) {
    let count = here.len();
    let (re, im) = (&mut re[..count], &mut im[..count]);
    let mut angles = [0.0; CHUNK];
    let angles = &mut angles[..count];
    for (angle, energy) in angles.iter_mut().zip(&turns.energy[here.clone()]) {
        *angle = turns.time * energy.wide();
    }
    for (part, time) in &turns.driven {
        for (angle, u) in angles.iter_mut().zip(&part[here.clone()]) {
            *angle += time * u.wide();
        }
    }
    if let Some((strengths, time)) = &turns.strengths {
        for (n, (angle, g)) in angles.iter_mut().zip(&strengths[here.clone()]).enumerate() {
            *angle += time * g * (re[n] * re[n] + im[n] * im[n]);
        }
    } else if turns.interaction != 0.0 {
        for (n, angle) in angles.iter_mut().enumerate() {
            *angle += turns.interaction * (re[n] * re[n] + im[n] * im[n]);
        }
    }
    if angles.iter().fold(false, |any, angle| any | (angle.abs() >= LARGEST)) {
        for angle in angles.iter_mut() {
            *angle = below_largest(*angle);
        }
    }
    for ((re, im), angle) in re.iter_mut().zip(im).zip(angles) {
        let (cos, sin) = cos_and_sin(*angle);
        (*re, *im) = (*re * cos + *im * sin, *im * cos - *re * sin);
    }
}

/// Whole turns taken off an angle that is too large for [`cos_and_sin`].
#[inline(always)]
fn below_largest(angle: f64) -> f64 {
    if angle.abs() >= LARGEST { angle % TAU } else { angle }
}

/// Multiplies with what absorption has taken; walls are 0.
#[inline(always)]
fn damp<T: Real>(turns: &Turns<T>, here: &Range<usize>, re: &mut [f64], im: &mut [f64]) {
    let count = here.len();
    let (re, im) = (&mut re[..count], &mut im[..count]);
    let absorption = turns.absorption.map(|absorption| &absorption[here.clone()]);
    let absorbs = |absorption: &&[T]| absorption.iter().fold(false, |any, w| any | (*w != T::zero()));
    if let Some(absorption) = absorption.filter(absorbs) {
        for ((re, im), w) in re.iter_mut().zip(im.iter_mut()).zip(absorption) {
            let power = (turns.growth * w.wide()).clamp(-LARGEST_DAMPING, LARGEST_DAMPING);
            let modulus = exponential(power);
            (*re, *im) = (*re * modulus, *im * modulus);
        }
    }
    if let Some(walls) = turns.walls {
        for ((re, im), wall) in re.iter_mut().zip(im).zip(&walls[here.clone()]) {
            (*re, *im) = if *wall { (0.0, 0.0) } else { (*re, *im) };
        }
    }
}

#[cfg(test)]
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "tests")]
mod tests {
    use super::*;

    /// A medium with everything, different from site to site but for a stretch in which it is not.
    #[allow(clippy::type_complexity, reason = "a test")]
    fn sites(count: usize) -> (Vec<Complex<f32>>, [Vec<f32>; 3], Vec<f64>, Vec<bool>) {
        let wave = |n: usize, by: f64| (n as f64 * by).sin();
        let phi = (0..count)
            .map(|n| Complex::new(wave(n, 0.7) as f32, wave(n, 1.3) as f32))
            .collect();
        let parts = [1.9, 0.3, 2.3].map(|by| {
            let values = (0..count).map(|n| if n / 64 == 1 { 0.25 } else { wave(n, by).abs() as f32 });
            values.collect()
        });
        let strengths = (0..count).map(|n| wave(n, 0.11)).collect();
        (phi, parts, strengths, (0..count).map(|n| n % 17 == 3).collect())
    }

    /// The formula at every site, with the library's functions; the same bits at every level of vectors, and of pieces wherever they are cut.
    #[test]
    fn rows_are_closed_by_the_formula() {
        let count = 300;
        let (phi, [energy, driven, absorption], strengths, walls) = sites(count);
        for case in 0..16 {
            let (drives, absorbs, interacts, by_site) = (case & 1 > 0, case & 2 > 0, case & 4 > 0, case & 8 > 0);
            let time = if case == 5 { 3e7 } else { -0.05 };
            let part = |x: Range<usize>| Turns {
                energy: &energy[x.clone()],
                time,
                driven: if drives {
                    vec![(&driven[x.clone()], 0.7)]
                } else {
                    Vec::new()
                },
                absorption: absorbs.then_some(&absorption[x.clone()]),
                growth: 3.0,
                interaction: if interacts { 0.4 } else { 0.0 },
                strengths: by_site.then_some((&strengths[x.clone()], -0.2)),
                walls: absorbs.then_some(&walls[x]),
            };
            let close = |x: Range<usize>, level: Level| {
                let mut psi = [vec![0.0; x.len()], vec![0.0; x.len()]];
                let turns = part(x.clone());
                let [re, im] = &mut psi;
                let (phi, turns) = (&phi[x], Some(&turns));
                Close {
                    phi,
                    turns,
                    psi: [re, im],
                }
                .at(level);
                psi
            };
            let psi = close(0..count, Level::Portable);
            for n in 0..count {
                let value = Complex::new(f64::from(phi[n].re), f64::from(phi[n].im));
                let mut angle = time * f64::from(energy[n]);
                angle += if drives { 0.7 * f64::from(driven[n]) } else { 0.0 };
                angle += match (by_site, interacts) {
                    (true, _) => -0.2 * strengths[n] * value.norm_sqr(),
                    (_, true) => 0.4 * value.norm_sqr(),
                    _ => 0.0,
                };
                let growth = if absorbs { 3.0 * f64::from(absorption[n]) } else { 0.0 };
                let mut exact = value * Complex::from_polar(growth.exp(), -angle);
                if absorbs && walls[n] {
                    exact = Complex::default();
                }
                // Angles of 10⁷ have lost as many digits.
                let allowed = if case == 5 { 2e-8 } else { 4e-15 } * exact.norm();
                assert!(
                    (Complex::new(psi[0][n], psi[1][n]) - exact).norm() <= allowed,
                    "case {case}, site {n}"
                );
            }
            for level in Level::available() {
                let whole = close(0..count, level);
                assert_eq!(whole, psi, "{level:?}, case {case}");
                for cut in [1, 64, 65, 130, 299] {
                    let (mut first, second) = (close(0..cut, level), close(cut..count, level));
                    first[0].extend(&second[0]);
                    first[1].extend(&second[1]);
                    assert_eq!(first, psi, "{level:?}, case {case}, cut at {cut}");
                }
            }
        }
    }
}
