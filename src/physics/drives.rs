//! How well steps follow the factors of time that drives are.

use super::Expression;

/// The allowed error of steps that are chosen for a scene.
const FOLLOWED: f64 = 0.02;
/// The number of steps that are examined, evenly spaced if there are more.
const MOST: usize = 8192;
/// Points of a step at which a drive is compared with the middle.
const POINTS: u32 = 8;
/// How often a step is halved at most.
const HALVINGS: u32 = 12;

/// How far drives, taken in the middle of every step of Δt as schemes of second order do, are off their mean over the step: Σ|d(t + Δt/2) − ⟨d⟩| over Σ⟨|d|⟩, t from the first to the second of `times`, of
/// the worst of them, with this step or half of it: half a turn of a tone has its mean in the middle, and a quarter has not. (ωΔt)²/24 of a tone whose step is short; above 1 where steps miss
/// what happens between their middles.
pub fn missed(drives: &[Expression], times: [f64; 2], step: f64) -> f64 {
    missed_by(drives, times, step).max(missed_by(drives, times, step / 2.0))
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of steps"
)]
fn missed_by(drives: &[Expression], [first, end]: [f64; 2], step: f64) -> f64 {
    let steps = ((end - first) / step).ceil().max(1.0);
    let looked = steps.min(MOST as f64);
    let of = |drive: &Expression| {
        let (mut off, mut all) = (0.0, 0.0);
        for n in 0..looked as usize {
            let begin = first + (n as f64 * steps / looked).floor() * step;
            let at = |share: f64| drive.eval(&[begin + share * step]);
            let points = (0..POINTS).map(|point| at((f64::from(point) + 0.5) / f64::from(POINTS)));
            let (sum, sizes) = points.fold((0.0, 0.0), |(sum, sizes), value| (sum + value, sizes + value.abs()));
            off += (at(0.5) - sum / f64::from(POINTS)).abs();
            all += sizes / f64::from(POINTS);
        }
        if all > 0.0 { off / all } else { 0.0 }
    };
    drives.iter().map(of).fold(0.0, f64::max)
}

/// `step`, halved until steps follow the drives between two times to within 2 %; unchanged if that does not help, as for a factor that is noise.
pub fn followed(drives: &[Expression], times: [f64; 2], step: f64) -> f64 {
    let halved = |n: u32| step / f64::from(1_u32 << n);
    let fine = (0..=HALVINGS).find(|n| missed(drives, times, halved(*n)) <= FOLLOWED);
    fine.map_or(step, halved)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive(text: &str) -> [Expression; 1] {
        [Expression::parse(text, &["t"]).unwrap()]
    }

    #[test]
    fn tones_are_off_by_what_is_expected() {
        let tone = drive("cos(3*t)");
        // The mean of eight points of a step is the middle times sin(ωΔt/2)/(8 sin(ωΔt/16)).
        for step in [0.02f64, 0.1, 0.5] {
            let half = 1.5 * step;
            let expected = 1.0 - half.sin() / (8.0 * (half / 8.0).sin());
            let found = missed(&tone, [0.0, 400.0], step);
            assert!((found / expected - 1.0).abs() < 0.03, "{step}: {found} {expected}");
        }
    }

    #[test]
    fn steps_become_short_where_drives_are_fast_and_only_there() {
        assert_eq!(
            followed(&drive("cos(0.5*t)"), [0.0, 100.0], 0.2).to_bits(),
            0.2f64.to_bits()
        );
        assert_eq!(followed(&drive("1"), [0.0, 100.0], 0.2).to_bits(), 0.2f64.to_bits());
        // A whole period a step looks like a constant.
        let step = followed(&drive("cos(31.41592653589793*t)"), [0.0, 100.0], 0.2);
        assert!(step <= 0.69 / 31.4 && step > 0.005, "{step}");
        // A kick that falls between the middles of steps.
        let kick = followed(&drive("exp(-((t - 5)/0.05)^2)"), [0.0, 20.0], 0.2);
        assert!((0.005..0.06).contains(&kick), "{kick}");
        // A jump is never followed, and costs a step's share of the whole.
        let jump = followed(&drive("if(t > 5.03, 1, 0)"), [0.0, 20.0], 0.2);
        assert_eq!(jump.to_bits(), 0.2f64.to_bits());
        // What is fast before the first time or after the second does not count.
        let burst = drive("if(t > 10, if(t < 15, cos(60*t), 1), 1)");
        let step = |times| followed(&burst, times, 0.2);
        assert!(step([0.0, 20.0]) < 0.05 && step([8.0, 12.0]) < 0.05);
        for calm in [[0.0, 9.0], [16.0, 20.0]] {
            assert_eq!(step(calm).to_bits(), 0.2f64.to_bits(), "{calm:?}");
        }
    }
}
