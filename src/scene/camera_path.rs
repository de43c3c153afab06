//! `[[camera]]`: the path of the camera of a relief or a box while a scene runs, a smooth curve through keys.

use super::look::Orbit;

/// One key of the path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraKey {
    /// When the camera is there.
    pub at: f64,
    /// From where it looks.
    pub orbit: Orbit,
}

/// Numbers of an orbit: azimuth, elevation, ln zoom, target.
const NUMBERS: usize = 6;

impl CameraKey {
    fn numbers(&self) -> [f64; NUMBERS] {
        let [x, y, z] = self.orbit.target.unwrap_or_default();
        [self.orbit.azimuth, self.orbit.elevation, self.orbit.zoom.ln(), x, y, z]
    }

    /// The camera at time t: constant before the first key and after the last; between them on cubic curves with a
    /// common slope at each key (Catmull and Rom 1974, for uneven times; at rest at both ends), for zooms of their
    /// logarithm. `keys` are in order of time; `None` if there are none.
    pub fn orbit_at(keys: &[Self], t: f64) -> Option<Orbit> {
        let (first, last) = (keys.first()?, keys.last()?);
        if t <= first.at || keys.len() == 1 {
            return Some(first.orbit);
        }
        // `t` may be no number, where a run has failed.
        if t.is_nan() || t >= last.at {
            return Some(last.orbit);
        }
        let n = keys.partition_point(|key| key.at <= t).clamp(1, keys.len() - 1);
        let (a, b) = (&keys[n - 1], &keys[n]);
        let width = b.at - a.at;
        let part = (t - a.at) / width;
        let slope = |n: usize, number: usize| {
            if n == 0 || n + 1 == keys.len() {
                return 0.0;
            }
            let (before, after) = (&keys[n - 1], &keys[n + 1]);
            (after.numbers()[number] - before.numbers()[number]) / (after.at - before.at)
        };
        let (from, to) = (a.numbers(), b.numbers());
        // The cubic of Hermite: values and slopes at both ends.
        let (square, cube) = (part * part, part * part * part);
        let at = |number: usize| {
            (2.0 * cube - 3.0 * square + 1.0) * from[number]
                + (cube - 2.0 * square + part) * width * slope(n - 1, number)
                + (3.0 * square - 2.0 * cube) * to[number]
                + (cube - square) * width * slope(n, number)
        };
        let lowest = from[1].min(to[1]).min(Orbit::LOWEST_OVER_RELIEF);
        Some(Orbit {
            azimuth: at(0),
            // A curve may swing past its keys, and never over a pole.
            elevation: at(1).clamp(lowest, 90.0),
            zoom: at(2).exp().clamp(0.25, 40.0),
            target: a.orbit.target.and(b.orbit.target).map(|_| [at(3), at(4), at(5)]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(at: f64, azimuth: f64, zoom: f64) -> CameraKey {
        CameraKey {
            at,
            orbit: Orbit {
                azimuth,
                zoom,
                ..Orbit::default()
            },
        }
    }

    #[test]
    fn the_path_goes_through_its_keys_and_rests_at_both_ends() {
        let keys = [key(1.0, 0.0, 1.0), key(2.0, 90.0, 4.0), key(5.0, 180.0, 1.0)];
        let at = |t: f64| CameraKey::orbit_at(&keys, t).unwrap();
        for key in &keys {
            assert!((at(key.at).azimuth - key.orbit.azimuth).abs() < 1e-12);
            assert!((at(key.at).zoom - key.orbit.zoom).abs() < 1e-12);
        }
        assert_eq!((at(-3.0), at(9.0)), (keys[0].orbit, keys[2].orbit));
        assert_eq!(at(f64::NAN), keys[2].orbit);
        // The slope is the same on both sides of a key, and nought at the ends.
        let slope = |t: f64| (at(t + 1e-6).azimuth - at(t - 1e-6).azimuth) / 2e-6;
        let [left, right] = [2.0 - 2e-6, 2.0 + 2e-6].map(slope);
        assert!((left - right).abs() < 1e-2, "{left} {right}");
        assert!((left - 180.0 / 4.0).abs() < 1e-2, "the chord of its neighbours: {left}");
        assert!(slope(1.0).abs() < 1e-3 && slope(5.0).abs() < 1e-3);
        assert_eq!(CameraKey::orbit_at(&[], 1.0), None);
    }

    #[test]
    fn of_two_keys_the_middle_is_between_them() {
        let keys = [key(0.0, 10.0, 1.0), key(2.0, 30.0, 4.0)];
        let middle = CameraKey::orbit_at(&keys, 1.0).unwrap();
        assert!((middle.azimuth - 20.0).abs() < 1e-12);
        assert!(
            (middle.zoom - 2.0).abs() < 1e-12,
            "zooms by their ratio: {}",
            middle.zoom
        );
    }
}
