//! Closed forms of sound: p_tt = c²∇²p + S in free space, and steady tones of the lattice scheme of order 2.
//!
//! The tones are those of pⁿ⁺¹ − 2pⁿ + pⁿ⁻¹ = λ²Lp + Δt²S, exact in the scheme's own Δt and a, so that a run may be held against them without a
//! tolerance for dispersion. A tone is e^(−iωt); waves that run away from their source are zⁿ at a distance of n sites, |z| ≤ 1.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of sites, steps and pieces are far below 2^52 and positive"
)]

use super::chain::bessel_j;
use num_complex::Complex64;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Reflected and transmitted share of the pressure at a boundary, at normal incidence; Z = ρc.
///
/// Source: Kinsler et al. 2000, Fundamentals of Acoustics, §6.2.
pub fn interface(from: f64, to: f64) -> (f64, f64) {
    ((to - from) / (to + from), 2.0 * to / (to + from))
}

/// A Gaussian pulse of width w and height 1 at rest in two dimensions, at the distance r when sound has travelled ct:
/// p = ∫ w²k exp(−w²k²/2) J₀(kr) cos(kct) dk.
///
/// Source: Morse & Feshbach 1953, Methods of Theoretical Physics, §11.2 (Poisson's solution by Hankel transform).
pub fn pulse_2d(r: f64, ct: f64, width: f64) -> f64 {
    // Beyond k = 9/w nothing is left, and the midpoint rule of step h leaves h²w²/24 of the slope at 0: below 1e-6.
    let pieces = 2000 + (16.0 * (r + ct) / width) as u32;
    let step = 9.0 / (width * f64::from(pieces));
    (0..pieces)
        .map(|n| {
            let k = (f64::from(n) + 0.5) * step;
            let weight = width * width * k * (-(width * k).powi(2) / 2.0).exp();
            weight * bessel_j0(k * r) * (k * ct).cos()
        })
        .sum::<f64>()
        * step
}

/// The same in three dimensions: ((r − ct) f(r − ct) + (r + ct) f(r + ct))/2r, and f(ct)(1 − c²t²/w²) in the middle.
///
/// Source: Morse & Ingard 1968, Theoretical Acoustics, §7.1 (spherical waves).
pub fn pulse_3d(r: f64, ct: f64, width: f64) -> f64 {
    let f = |x: f64| (-x * x / (2.0 * width * width)).exp();
    if r == 0.0 {
        return f(ct) * (1.0 - (ct / width).powi(2));
    }
    let part = |x: f64| x * f(x);
    (part(r - ct) + part(r + ct)) / (2.0 * r)
}

/// A point that moves from `start` with `velocity` and plays S = s(t) δ²(r − r₀), heard at `at` at a time t: p = ∫ s(t′) dt′ / (2πc √(c²(t − t′)² − R(t′)²)) over the
/// moments t′ ≥ 0 from which sound has arrived.
///
/// Source: Morse & Ingard 1968, §11.2 (moving sources), with the Green function of two dimensions.
pub fn moving_point_2d(
    speed: f64,
    start: [f64; 2],
    velocity: [f64; 2],
    at: [f64; 2],
    time: f64,
    signal: impl Fn(f64) -> f64,
) -> f64 {
    // With τ = t − t′: c²τ² − |d + vτ|² = sτ² − 2bτ − q.
    let d = [0, 1].map(|axis| at[axis] - start[axis] - velocity[axis] * time);
    let square = |v: [f64; 2]| v[0] * v[0] + v[1] * v[1];
    let (s, b, q) = (
        speed * speed - square(velocity),
        d[0] * velocity[0] + d[1] * velocity[1],
        square(d),
    );
    let root = b * b + s * q;
    if root <= 0.0 || s == 0.0 {
        return 0.0;
    }
    let (low, high) = ((b - root.sqrt()) / s, (b + root.sqrt()) / s);
    let pieces = 40_000;
    let sum = if s > 0.0 {
        // From the one positive root on; τ = root + u² takes the singularity away.
        let (other, first) = (low.min(high), low.max(high));
        if time <= first {
            return 0.0;
        }
        let step = (time - first).sqrt() / f64::from(pieces);
        (0..pieces)
            .map(|n| {
                let square = ((f64::from(n) + 0.5) * step).powi(2);
                2.0 * signal(time - first - square) / (s * (first + square - other)).sqrt()
            })
            .sum::<f64>()
            * step
    } else {
        // Faster than sound: between the two roots, if they lie in the past.
        let (first, last) = (low.min(high), low.max(high));
        let (middle, half) = (f64::midpoint(first, last), (last - first) / 2.0);
        let step = PI / f64::from(pieces);
        (0..pieces)
            .map(|n| middle + half * ((f64::from(n) + 0.5) * step - FRAC_PI_2).sin())
            .filter(|delay| (0.0..=time).contains(delay))
            .map(|delay| signal(time - delay))
            .sum::<f64>()
            * step
            / (-s).sqrt()
    };
    sum / (TAU * speed)
}

/// A point at rest in three dimensions: p = s(t − r/c)/(4πc²r).
///
/// Source: Morse & Ingard 1968, §7.1.
pub fn point_3d(speed: f64, r: f64, time: f64, signal: impl Fn(f64) -> f64) -> f64 {
    signal(time - r / speed) / (4.0 * PI * speed * speed * r)
}

/// The remaining height of a pulse in the other focus of an ellipse of eccentricity e, in two dimensions and for waves much
/// shorter than the ellipse: (1/2π) ∮ √(r₂/r₁) dθ₂. The rays that leave within dθ₁ arrive within dθ₂ = dθ₁ r₁/r₂, since both meet the
/// wall at the same angle.
///
/// Source: the transport equation of geometrical acoustics, Pierce 1989, Acoustics, §8.5.
pub fn elliptic_gain(eccentricity: f64) -> f64 {
    let e = eccentricity;
    let pieces = 2000;
    (0..pieces)
        .map(|n| {
            let angle = TAU * (f64::from(n) + 0.5) / f64::from(pieces);
            let near = (1.0 - e * e) / (1.0 + e * angle.cos());
            (near / (2.0 - near)).sqrt()
        })
        .sum::<f64>()
        / f64::from(pieces)
}

/// A Gaussian pulse of height 1 in one focus, as it passes through the other, the way x = c(t − 2a/c) after the moment of focus:
/// −gain √(π/2) (x/w) exp(−x²/2w²). In two dimensions a ring that closes in has the phase of one that opens turned by a quarter of
/// a period: in a circle, k_n R = (n + ¼)π makes cos(2k_n R + k_n x) = −sin k_n x, and ∫ w²k exp(−w²k²/2) sin kx dk is this.
///
/// Source: Pierce 1989, §9.4 (phase shift at a caustic); Abramowitz & Stegun 1964, §9.5 (zeros of J₁).
pub fn elliptic_focus(eccentricity: f64, x: f64, width: f64) -> f64 {
    let u = x / width;
    -elliptic_gain(eccentricity) * FRAC_PI_2.sqrt() * u * (-u * u / 2.0).exp()
}

/// The pressure behind a screen of openings in two dimensions over that of the plane wave which falls on it, by Kirchhoff's approximation (the
/// wave in an opening is the incident one), at the distance `depth` behind it: twice, from the pressure and from the velocity in the openings.
/// Where the two differ the approximation ends. `openings` are intervals across, relative to the point.
///
/// Source: Born & Wolf 1999, Principles of Optics, §8.11 (Rayleigh and Sommerfeld).
pub fn screen(wavelength: f64, depth: f64, openings: &[[f64; 2]]) -> (Complex64, Complex64) {
    let k = TAU / wavelength;
    let (mut pressure, mut velocity) = (Complex64::ZERO, Complex64::ZERO);
    for [from, to] in openings {
        let pieces = 2000;
        let step = (to - from) / f64::from(pieces);
        for n in 0..pieces {
            let r = depth.hypot(from + (f64::from(n) + 0.5) * step);
            velocity += hankel(0, k * r) * (k / 2.0 * step);
            pressure += hankel(1, k * r) * Complex64::i() * (k / 2.0 * step * depth / r);
        }
    }
    (pressure, velocity)
}

/// J₀(x), x ≥ 0, to 1e-8.
fn bessel_j0(x: f64) -> f64 {
    if x < 30.0 { bessel_j(0, x)[0] } else { hankel(0, x).re }
}

/// H⁽¹⁾ of order 0 or 1 far out, x ≥ 20, to 1e-7: five terms of the expansion for large arguments.
///
/// Source: Abramowitz & Stegun 1964, §9.2.5–9.2.10.
fn hankel(order: u32, x: f64) -> Complex64 {
    let mu = f64::from(4 * order * order);
    let mut term = Complex64::ONE;
    let mut sum = term;
    for n in 1..5 {
        let odd = f64::from(2 * n - 1);
        term *= Complex64::i() * (mu - odd * odd) / (f64::from(n) * 8.0 * x);
        sum += term;
    }
    let phase = x - FRAC_PI_2 * f64::from(order) - PI / 4.0;
    (2.0 / (PI * x)).sqrt() * Complex64::cis(phase) * sum
}

/// A tone of the scheme of order 2: ωΔt, and λ = cΔt/a of one medium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tone {
    /// ωΔt, with a positive imaginary part where the tone swells.
    pub turn: Complex64,
    /// cΔt/a.
    pub courant: f64,
}

impl Tone {
    /// z of the wave that runs away from its source along one axis, where the other axes add `across` = 4 Σ sin²(k a/2) to −L:
    /// 4 sin²(ωΔt/2)/λ² = 2 + across − z − 1/z.
    ///
    /// Source: Alford, Kelly & Boore 1974, doi:10.1190/1.1440470 (dispersion).
    pub fn decay(&self, across: f64) -> Complex64 {
        let half = (self.turn / 2.0).sin() * 2.0 / self.courant;
        let mean = (2.0 + across - half * half) / 2.0;
        // z and 1/z are mean ∓ √(mean² − 1).
        let root = (mean * mean - 1.0).sqrt();
        let (one, other) = (mean - root, mean + root);
        // A wave that neither grows nor falls runs away: e^(iκ) with κ > 0.
        let runs_away = |z: Complex64| z.norm() < 1.0 - 1e-12 || ((z.norm() - 1.0).abs() <= 1e-12 && z.im > 0.0);
        if runs_away(one) { one } else { other }
    }

    /// The amplitude at its place of what a plane of sources sends whose Δt²S is 1: 1/(λ²(1/z − z)).
    pub fn amplitude(&self, z: Complex64) -> Complex64 {
        1.0 / (self.courant * self.courant * (1.0 / z - z))
    }
}

/// Reflection and transmission at a boundary, for sites of one medium from 0 on and of the other below:
/// pⱼ = z₁^(−j) + R z₁ʲ for j ≥ 0 (z₁^(−j) comes in), T z₂^(−1−j) for j < 0; c per site, one density.
pub fn lattice_interface(z1: Complex64, z2: Complex64) -> (Complex64, Complex64) {
    let reflected = (z2 - z1) / (1.0 / z1 - z2);
    (reflected, z2 * (1.0 + reflected))
}

/// A rigid room on the lattice of order 2, played to by one site from silence: Δt²S at step n is `signal(n)`; the pressure after `steps` steps, averaged over
/// `heard`. Each mode cos(πm(i+½)/N) is an oscillator of its own, whose exact step is qⁿ⁺¹ = (2 − 4 sin²(ωΔt/2)) qⁿ − qⁿ⁻¹ + Δt²S.
///
/// Source: Kinsler et al. 2000, §9.8 (rooms), with the lattice's sin²(ωΔt/2) = λ² Σ sin²(πm/2N).
pub fn rigid_room(
    size: [usize; 2],
    courant: f64,
    source: [usize; 2],
    heard: &[[usize; 2]],
    steps: u32,
    signal: impl Fn(u32) -> f64,
) -> f64 {
    let played: Vec<f64> = (0..steps).map(signal).collect();
    let shape =
        |axis: usize, mode: usize, site: usize| (PI * mode as f64 * (site as f64 + 0.5) / size[axis] as f64).cos();
    let sine = |axis: usize, mode: usize| (PI * mode as f64 / (2.0 * size[axis] as f64)).sin().powi(2);
    let mut total = 0.0;
    for m in 0..size[0] {
        for n in 0..size[1] {
            let share = [m, n]
                .iter()
                .zip(size)
                .map(|(mode, sites)| if *mode == 0 { 1.0 } else { 2.0 } / sites as f64)
                .product::<f64>();
            let from = share * shape(0, m, source[0]) * shape(1, n, source[1]);
            let to = heard
                .iter()
                .map(|[i, j]| shape(0, m, *i) * shape(1, n, *j))
                .sum::<f64>()
                / heard.len() as f64;
            let turn = 2.0 - 4.0 * courant * courant * (sine(0, m) + sine(1, n));
            let (mut now, mut before) = (0.0, 0.0);
            for s in &played {
                (now, before) = (turn * now - before + s, now);
            }
            total += from * to * now;
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    /// p_tt − c²∇²p by central differences of step h: what is left is of order h².
    #[test]
    fn pulses_solve_the_wave_equation() {
        let (width, h) = (0.7, 1e-2);
        for (r, ct) in [(1.3, 0.8), (2.0, 2.1), (0.9, 3.0)] {
            for (dimension, pulse) in [(2.0, pulse_2d as fn(f64, f64, f64) -> f64), (3.0, pulse_3d)] {
                let p = |r: f64, ct: f64| pulse(r, ct, width);
                let here = p(r, ct);
                let time = (p(r, ct + h) + p(r, ct - h) - 2.0 * here) / (h * h);
                let space = (p(r + h, ct) + p(r - h, ct) - 2.0 * here) / (h * h)
                    + (dimension - 1.0) / r * (p(r + h, ct) - p(r - h, ct)) / (2.0 * h);
                // Fourth derivatives of f reach 3/w⁴ = 12: h²/12 · 12 · 2.
                assert!((time - space).abs() < 3e-4, "{dimension}D at {r}, {ct}: {time} {space}");
            }
        }
        assert!((pulse_2d(0.6, 0.0, width) - (-0.36f64 / 0.98).exp()).abs() < 1e-6);
        assert!((pulse_3d(1e-6, 0.5, width) - pulse_3d(0.0, 0.5, width)).abs() < 1e-9);
    }

    /// The decay law: crests fall as r^(−1/2) in two dimensions and as 1/r in three.
    #[test]
    fn crests_fall_by_the_law_of_their_dimension() {
        let crest = |pulse: fn(f64, f64, f64) -> f64, r: f64| {
            (0..40)
                .map(|n| pulse(r, r - 0.8 + f64::from(n) * 0.04, 1.0))
                .fold(0.0, f64::max)
        };
        // The next term is of order w/r.
        assert!((crest(pulse_2d, 80.0) / crest(pulse_2d, 20.0) - 0.5).abs() < 0.01);
        assert!((crest(pulse_3d, 80.0) / crest(pulse_3d, 20.0) - 0.25).abs() < 1e-4);
    }

    /// Behind a steady push at more than the speed of sound the wedge is filled evenly: p = A/(2c²β).
    #[test]
    fn a_wedge_is_filled_evenly() {
        let c = 2.0;
        for mach in [1.3, 2.0, 4.0f64] {
            let beta = (mach * mach - 1.0).sqrt();
            let heard = |x: f64, y: f64| {
                moving_point_2d(c, [0.0; 2], [mach * c, 0.0], [x, y], 10.0, |t| {
                    f64::from(u8::from(t >= 0.0))
                })
            };
            let tip = mach * c * 10.0;
            let plateau = 1.0 / (2.0 * c * c * beta);
            for (behind, y) in [(1.0, 0.0), (2.0, 0.5 / beta), (3.0, -2.0 / beta)] {
                let p = heard(tip - behind, y);
                assert!((p / plateau - 1.0).abs() < 1e-9, "Mach {mach}: {p} {plateau}");
            }
            assert_eq!(heard(tip - 1.0, 1.01 / beta), 0.0);
            assert_eq!(heard(tip + 0.1, 0.0), 0.0);
        }
    }

    /// A point at rest as one that moves with v = 0, against the same integral with t − t′ = (r/c) cosh v.
    #[test]
    fn a_point_at_rest_is_one_that_moves() {
        let (c, r, t) = (343.0, 2.0, 0.02);
        let s = |t: f64| (2000.0 * t).sin();
        let moved = moving_point_2d(c, [0.0; 2], [0.0; 2], [r, 0.0], t, s);
        let end = (t * c / r).acosh();
        let pieces = 20_000;
        let sum: f64 = (0..pieces)
            .map(|n| s(t - r / c * ((f64::from(n) + 0.5) / f64::from(pieces) * end).cosh()))
            .sum();
        let expected = sum * end / f64::from(pieces) / (TAU * c * c);
        // Both rules are of second order in their steps, 1e-8.
        assert!((moved / expected - 1.0).abs() < 1e-6, "{moved} {expected}");
    }

    /// Ahead and behind, the tone is f/(1 ∓ v/c): zero crossings far from the start.
    #[test]
    fn a_moving_tone_is_shifted() {
        let (c, v, f) = (343.0, 100.0, 500.0);
        for (x, factor) in [(60.0, 1.0 / (1.0 - v / c)), (-60.0, 1.0 / (1.0 + v / c))] {
            // Faded in: a sudden start has an offset, which lingers in two dimensions.
            let tone = |t: f64| (TAU * f * t).sin() * (1.0 - (-(f * t / 4.0).powi(2)).exp());
            let p = |t: f64| moving_point_2d(c, [0.0; 2], [v, 0.0], [x, 0.0], t, tone);
            let period = 1.0 / (f * factor);
            let (a, b, d) = (p(0.3), p(0.3 + period), p(0.3 + period / 2.0));
            // The distance changes by v/f in a period of the way of some 30 m: 1 % of the height.
            let height = a.abs().max(p(0.3 + period / 4.0).abs());
            assert!(
                (a - b).abs() < 0.03 * height && (a + d).abs() < 0.03 * height,
                "{a} {b} {d}"
            );
        }
    }

    #[test]
    fn the_circle_collects_everything() {
        assert!((elliptic_gain(0.0) - 1.0).abs() < 1e-12);
        assert!(elliptic_gain(0.6) < 1.0);
        // The circle's modes: p(0, t) = Σ aₙ cos(ckₙt), kₙ the zeros of J₁, aₙ = 2w² exp(−w²k²/2)/J₀²(k), R = 1.
        let (w, x) = (0.02, -0.02);
        let mut sum = 2.0 * w * w;
        for n in 1..120 {
            let guess = (f64::from(n) + 0.25) * PI;
            let k = (0..6).fold(guess, |k, _| {
                let j = bessel_j(2, k);
                k - j[1] / ((j[0] - j[2]) / 2.0)
            });
            sum += 2.0 * w * w * (-w * w * k * k / 2.0).exp() / bessel_j(0, k)[0].powi(2) * (k * (2.0 + x)).cos();
        }
        // The next term of the zeros, 3/(8k), turns the phase by 3/(4k): w/R · ¾ √(π/2) exp(−½) = 1.1 % at x = −w.
        let expected = elliptic_focus(0.0, x, w);
        assert!((sum - expected).abs() < 0.02, "{sum} {expected}");
    }

    /// A whole plane of openings lets the plane wave through.
    #[test]
    fn without_a_screen_the_wave_goes_on() {
        let (pressure, velocity) = screen(0.1, 3.0, &[[-40.0, 40.0]]);
        // What the ends leave out falls as √(λ/L).
        assert!((pressure.norm() - 1.0).abs() < 0.03 && (velocity.norm() - 1.0).abs() < 0.06);
        let x = 25.0;
        assert!((hankel(0, x).re - bessel_j(0, x)[0]).abs() < 1e-6);
        assert!((hankel(1, x).re - bessel_j(1, x)[1]).abs() < 1e-6);
    }

    /// The tone solves its recursion, at its source too.
    #[test]
    fn tones_solve_the_scheme() {
        for (turn, across) in [(0.3, 0.0), (0.3, 0.4), (0.9, 0.2)] {
            let tone = Tone {
                turn: Complex64::from(turn),
                courant: 0.6,
            };
            let z = tone.decay(across);
            assert!(z.norm() <= 1.0 + 1e-12);
            let lambda = 0.36;
            let frequency = 4.0 * (turn / 2.0).sin().powi(2);
            let left = lambda * (z + 1.0 / z - 2.0 - across) + frequency;
            assert!(left.norm() < 1e-12);
            let at_source = lambda * (2.0 * z - 2.0 - across) + frequency;
            assert!((at_source * tone.amplitude(z) + 1.0).norm() < 1e-12);
        }
    }

    /// In long waves the lattice's boundary is the textbook's: R = (c₂ − c₁)/(c₂ + c₁) for one density.
    #[test]
    fn a_boundary_on_the_lattice_is_that_of_the_textbook() {
        let turn = Complex64::from(1e-4);
        let tone = |courant: f64| Tone { turn, courant }.decay(0.0);
        let (reflected, passed) = lattice_interface(tone(0.3), tone(0.6));
        let (r, t) = interface(1.0, 2.0);
        assert!((reflected - r).norm() < 1e-3 && (passed - t).norm() < 1e-3);
    }

    /// One tone in a room grows at its mode as it should: against the closed form of a driven oscillator at resonance.
    #[test]
    fn a_room_answers_at_its_mode() {
        let (size, courant) = ([6, 5], 0.5);
        let turn = 2.0 * (courant * (PI / 12.0).sin()).asin();
        let steps = (80.25 * TAU / turn).round() as u32;
        let n = f64::from(steps);
        let heard = rigid_room(size, courant, [0, 0], &[[0, 0]], steps, |n| (turn * f64::from(n)).cos());
        // qⁿ = n sin(ωn)/(2 sin ω) of share 2/6 · 1/5 · cos²(π/12); the mean of the cosine from n = 0 on is ½, which the whole room takes up; the
        // other modes stay below a hundredth of n.
        let share = 2.0 / 30.0 * (PI / 12.0).cos().powi(2);
        let expected = share * n * (turn * n).sin() / (2.0 * turn.sin()) + n / 60.0;
        assert!((heard / expected - 1.0).abs() < 0.02, "{heard} {expected}");
    }
}
