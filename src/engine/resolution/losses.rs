//! Attenuations that are too strong for the relaxations that make their law.

use super::MOST_MISSED;
use crate::backend::threads;
use crate::physics::attenuation::plane_wave;
use crate::physics::{Model, Sets};
use crate::scene::Scenario;
use crate::units::{self, four_digits as figure};
use rayon::prelude::*;

/// What is lost of a wave in a wavelength where relaxations are as good as they are for weak losses, dB.
const WEAK: f64 = 1e-6;

/// The attenuation, in dB/m at the frequency of its law, and the speed, in m/s, of the site where a wavelength loses
/// most, walls left out; `None` for scenes without attenuation.
pub fn strongest(scenario: &Scenario) -> Option<[f64; 2]> {
    let Model::Acoustic(acoustic) = scenario.model() else {
        return None;
    };
    let law = acoustic.attenuation?;
    let (grid, medium) = (scenario.grid(), scenario.medium());
    if !medium.has(Sets::Attenuation) && !medium.has(Sets::Speed) {
        return Some([law.value, acoustic.speed]);
    }
    // What is lost in a wavelength is proportional to α c.
    let stronger = |one: [f64; 2], other: [f64; 2]| {
        if other[0] * other[1] > one[0] * one[1] {
            other
        } else {
            one
        }
    };
    let [nx, ny, _] = grid.size();
    let of_row = |row: usize| {
        let (j, k) = (row % ny, row / ny);
        let (mut values, mut speeds, mut walls) = (vec![0.0; nx], vec![0.0; nx], vec![false; nx]);
        medium.attenuation_row(law.value, j, k, 0..nx, &mut values);
        medium.speed_row(acoustic.speed, j, k, 0..nx, &mut speeds);
        medium.wall_row(j, k, 0..nx, &mut walls);
        let sites = values.iter().zip(&speeds).zip(&walls);
        let open = sites.filter(|(_, wall)| !**wall);
        open.fold([0.0, acoustic.speed], |most, ((value, speed), _)| {
            stronger(most, [*value, *speed])
        })
    };
    let rows = || (0..grid.rows()).into_par_iter().map(of_row);
    Some(threads::run(|| rows().reduce(|| [0.0, acoustic.speed], stronger)))
}

/// An attenuation that is too strong for the law that it is to follow, where a wavelength loses most.
pub(super) fn told(scenario: &Scenario) -> Option<String> {
    let Model::Acoustic(acoustic) = scenario.model() else {
        return None;
    };
    let law = acoustic.attenuation?;
    let [value, speed] = strongest(scenario)?;
    let made = law.relaxations();
    let missed = law.missed(&made, speed, value);
    if missed <= MOST_MISSED {
        return None;
    }
    // Over a band a power law loses most in a wavelength at one of its ends.
    let a_wave = |alpha: &dyn Fn(f64) -> f64| law.band.map(|f| alpha(f) * speed / f).into_iter().fold(0.0, f64::max);
    let weak = (WEAK / a_wave(&|f| law.wanted(1.0, f))).min(value);
    let missed_if_weak = law.missed(&made, speed, weak);
    if missed_if_weak > MOST_MISSED {
        return Some(format!(
            "Relaxations follow an attenuation that hardly changes with frequency only in part: they miss exponent {} over {} to {}Hz by {:.0} %, however weak it is. \
             Use an exponent of 0.1 or more, or a narrower band.",
            law.exponent,
            units::si(law.band[0]),
            units::si(law.band[1]),
            100.0 * missed_if_weak
        ));
    }
    // Of what a weak loss follows, more is missed the stronger it is. Strengths differ by powers of ten.
    let (mut least, mut most) = (weak, value);
    for _ in 0..40 {
        let middle = least.sqrt() * most.sqrt();
        if law.missed(&made, speed, middle) <= MOST_MISSED {
            least = middle;
        } else {
            most = middle;
        }
    }
    let lost = |value: f64| a_wave(&|f| plane_wave(&made, speed, value, f)[0]);
    Some(format!(
        "The medium attenuates by up to {:.2} dB a wavelength ({} dB/m at {}Hz), more than its relaxations are made for: they miss the law by {:.0} %. \
         Within {:.0} % they follow it up to {:.2} dB a wavelength: use at most {} dB/m, or a narrower band.",
        lost(value),
        figure(value),
        units::si(law.at),
        100.0 * missed,
        100.0 * MOST_MISSED,
        lost(least),
        figure(least)
    ))
}

#[cfg(test)]
mod tests {
    use crate::engine::resolution::too_coarse;
    use crate::solver;

    fn said(text: &str) -> String {
        let (_, scenario) = solver::read_scene_text(text, None, &[]).unwrap();
        too_coarse(&scenario, 1e-4).join("\n")
    }

    /// Half a decibel a wavelength is followed; some decibels are not, which is said with the most that is.
    #[test]
    fn losses_are_held_against_the_law() {
        // 340 m/s, 20 sites at 17 Hz, 20 m: as many decibels a wavelength as 20 times those a metre.
        let law = |value: f64, more: &str| {
            said(&format!(
                "format = 1\n[grid]\nsize = [64]\nspacing = 1.0\n[acoustic]\nspeed = 340.0\nattenuation = {{ at = 17.0, value = {value:?}, {more} }}\n\
                 [[pulse]]\ncenter = [30.0]\nwidth = 6.0\n"
            ))
        };
        let lossy = |value: f64| law(value, "band = [8.5, 17.0]");
        assert_eq!(lossy(0.02), "");
        // The same however weak it is, over a wide band that it hardly changes in.
        let flat = law(1e-4, "exponent = 0.0, band = [1.7, 17.0]");
        assert!(flat.contains("they miss exponent 0 over 1.7"), "{flat}");
        let strong = lossy(0.3);
        assert!(
            strong.starts_with("The medium attenuates by up to") && strong.contains("use at most "),
            "{strong}"
        );
        let most: f64 = strong
            .split("use at most ")
            .nth(1)
            .and_then(|rest| rest.split(' ').next())
            .unwrap()
            .parse()
            .unwrap();
        assert_eq!(lossy(0.95 * most), "");
        // However strong it is, the most that is followed is found: the wavelength is the same.
        let most_of = |told: &str| {
            let figure = told
                .split("use at most ")
                .nth(1)
                .and_then(|rest| rest.split(' ').next());
            figure.unwrap().parse::<f64>().unwrap()
        };
        for value in [3e3, 3e8, 3e30] {
            let told = lossy(value);
            assert!((most_of(&told) / most - 1.0).abs() < 0.01, "{told}");
        }
    }

    /// What layers set by formulas or add is read at the sites; a fast medium loses more in a wavelength, and walls carry no waves.
    #[test]
    fn losses_of_layers_are_held_against_the_law() {
        let with = |layers: &str| {
            said(&format!(
                "format = 1\n[grid]\nsize = [64]\nspacing = 1.0\n[acoustic]\nspeed = 340.0\nattenuation = {{ at = 17.0, value = 0.02, band = [8.5, 17.0] }}\n\
                 [[pulse]]\ncenter = [30.0]\nwidth = 6.0\n{layers}"
            ))
        };
        let layer = |sets: &str, more: &str| {
            format!("[[layer]]\nsets = \"{sets}\"\nshape = \"box\"\nmin = [40.0]\nmax = [50.0]\n{more}\n")
        };
        let strong = layer("attenuation", "value = 0.3");
        let number = with(&strong);
        assert!(number.contains("(0.3 dB/m at 17.00 Hz)"), "{number}");
        assert_eq!(with(&layer("attenuation", "value = \"0.3 + 0*x\"")), number);
        assert_eq!(with(&layer("attenuation", "value = 0.28\nmode = \"add\"")), number);
        assert_eq!(with(&layer("attenuation", "value = \"0.02 + 0.001*sin(x)\"")), "");
        // 20 times as fast, the medium itself loses as much as at 0.4 dB/m.
        let fast = with(&layer("speed", "value = 6800.0"));
        assert!(
            fast.starts_with("The medium attenuates by up to") && fast.contains("(0.02 dB/m at"),
            "{fast}"
        );
        let wall = "[[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [40.0]\nmax = [50.0]\n";
        assert_eq!(with(&(strong + wall)), "");
    }
}
