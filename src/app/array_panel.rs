//! A phased array in the window: an even row of elements, with the delays that send its wave in a direction.

use super::layers_panel::{PLACE, point};
use super::number::tidy;
use super::widgets::{hint, row};
use crate::scene::file::SourcePlace;
use egui::{DragValue, Ui};

/// Most elements that can be asked for here.
const MOST: usize = 256;

/// An even row of elements.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    from: Vec<f64>,
    to: Vec<f64>,
    count: usize,
    /// Angle between the wave and the normal of the row, degrees.
    steer: f64,
}

impl Row {
    /// Elements with delays, the earliest 0: from one to the next the way d sin θ at the speed c.
    fn place(&self, speed: f64) -> SourcePlace {
        let last = self.count.max(2) - 1;
        let share = |n: usize| n as f64 / last as f64;
        let points = (0..=last)
            .map(|n| {
                self.from
                    .iter()
                    .zip(&self.to)
                    .map(|(a, b)| a + (b - a) * share(n))
                    .collect()
            })
            .collect();
        let whole = length(&self.from, &self.to) * self.steer.to_radians().sin() / speed;
        let delays = (0..=last)
            .map(|n| whole * share(n) - whole.min(0.0))
            .collect::<Vec<f64>>();
        SourcePlace::Points {
            points,
            delays: if whole == 0.0 { Vec::new() } else { delays },
        }
    }

    /// The row that an array is; `None` if it is none.
    fn of(points: &[Vec<f64>], delays: &[f64], speed: f64) -> Option<Self> {
        let (from, to) = (points.first()?.clone(), points.last()?.clone());
        let whole = match delays {
            [] => 0.0,
            [first, .., last] => last - first,
            [_] => return None,
        };
        let size = length(&from, &to);
        let sine = whole * speed / size;
        if points.len() < 2 || sine.is_nan() || sine.abs() > 1.0 {
            return None;
        }
        let found = Self {
            from,
            to,
            count: points.len(),
            steer: sine.asin().to_degrees(),
        };
        let SourcePlace::Points { points: even, .. } = found.place(speed) else {
            return None;
        };
        // Coordinates and delays in files have a few digits.
        let near = even.iter().zip(points).all(|(a, b)| length(a, b) < 1e-3 * size);
        let start = delays.iter().copied().fold(f64::INFINITY, f64::min);
        let late = delays.iter().enumerate().all(|(n, delay)| {
            let share = n as f64 / (delays.len() - 1) as f64;
            (delay - start - whole * share + whole.min(0.0)).abs() <= 1e-3 * (size / speed)
        });
        (near && late).then_some(found)
    }
}

fn length(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// A row of 16 elements across the middle half of the grid.
#[must_use]
pub fn fresh(extent: &[f64], speed: f64) -> SourcePlace {
    let across = usize::from(extent.len() > 1);
    let end = |share: f64| {
        let mut at: Vec<f64> = extent.iter().map(|length| tidy(length / 2.0)).collect();
        at[across] = tidy(extent[across] * share);
        at
    };
    Row {
        from: end(0.35),
        to: end(0.65),
        count: 16,
        steer: 20.0,
    }
    .place(speed)
}

/// Shows an array; edits `place`, which is one.
pub fn show(ui: &mut Ui, place: &mut SourcePlace, speed: f64, pace: f64) {
    let SourcePlace::Points { points, delays } = &*place else {
        return;
    };
    let Some(before) = Row::of(points, delays, speed) else {
        hint(
            ui,
            &format!(
                "{} elements that are no even row, as the scene file gives them.",
                points.len()
            ),
        );
        return;
    };
    let mut now = before.clone();
    point(ui, ("First", "m"), PLACE, &mut now.from, pace);
    point(ui, ("Last", "m"), PLACE, &mut now.to, pace);
    row(
        ui,
        "Elements",
        "How many, 2 to 256. Half a wavelength apart or closer, or there are several beams.",
        |ui| {
            ui.name_inputs("Elements", |ui| {
                ui.add(DragValue::new(&mut now.count).range(2..=MOST).speed(0.1))
            });
        },
    );
    let about = "Angle θ between the wave and the normal of the row: from one element to the next the delay is d sin θ/c, with the c of [acoustic]. −89° to 89°.";
    row(ui, "Steered by", about, |ui| {
        ui.name_inputs("Steered by", |ui| {
            ui.add(
                DragValue::new(&mut now.steer)
                    .range(-89.0..=89.0)
                    .speed(0.2)
                    .max_decimals(2)
                    .suffix("°"),
            )
        });
    });
    if now != before && length(&now.from, &now.to) > 0.0 {
        *place = now.place(speed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_found_again_in_its_elements() {
        for steer in [-35.0, 0.0, 20.0] {
            let row = Row {
                from: vec![1.0, 2.0],
                to: vec![1.5, 4.0],
                count: 12,
                steer,
            };
            let SourcePlace::Points { points, delays } = row.place(343.0) else {
                panic!("points")
            };
            assert!(delays.iter().all(|delay| *delay >= 0.0));
            let found = Row::of(&points, &delays, 343.0).unwrap();
            assert_eq!(found.count, 12);
            assert!((found.steer - steer).abs() < 1e-9);
            let mut bent = points.clone();
            bent[5][0] += 0.2;
            assert_eq!(Row::of(&bent, &delays, 343.0), None);
            if !delays.is_empty() {
                let mut late = delays.clone();
                late[5] += 1e-3;
                assert_eq!(Row::of(&points, &late, 343.0), None);
            }
        }
        assert_eq!(Row::of(&[vec![0.0], vec![0.0]], &[0.0, 0.0], 343.0), None);
    }
}
