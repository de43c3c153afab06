//! Handles on what stands in a scene: shapes of layers, packets, pulses, sources, detectors and the mirror's transducers are taken by the
//! hand, moved and sized over the picture, or moved by keys.

use super::names::follow_detectors;
use crate::physics::axis_across;
use crate::scene::SceneFile;
use crate::scene::file::{RegionFile, ShapeFile, SourcePlace, TransducersFile};

/// A part of a scene that stands somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A layer by its place in the list.
    Layer(usize),
    /// A packet.
    Packet(usize),
    /// A pulse.
    Pulse(usize),
    /// A source.
    Source(usize),
    /// A detector.
    Detector(usize),
    /// The mirror's transducers.
    Mirror,
}

/// A handle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Handle {
    /// What it belongs to.
    pub part: Part,
    /// 0 moves the whole part, others size it.
    pub knob: usize,
    /// Where it stands, as lengths.
    pub at: [f64; 2],
}

/// Numbers along x and y that a part consists of.
type Pairs<'a> = Vec<(Option<&'a mut f64>, Option<&'a mut f64>)>;

fn pair(point: &mut [f64]) -> (Option<&mut f64>, Option<&mut f64>) {
    match point {
        [x, y, ..] => (Some(x), Some(y)),
        [x] => (Some(x), None),
        [] => (None, None),
    }
}

fn shape_pairs(shape: &mut ShapeFile) -> Pairs<'_> {
    match shape {
        ShapeFile::Box { min, max } => vec![pair(min), pair(max)],
        ShapeFile::Disk { center, .. } | ShapeFile::Ring { center, .. } => vec![pair(center)],
        ShapeFile::Polygon { points } | ShapeFile::Stroke { points, .. } => {
            points.iter_mut().map(|point| pair(point)).collect()
        }
        ShapeFile::Slits { x, centers, .. } => std::iter::once((Some(x), None))
            .chain(centers.iter_mut().map(|y| (None, Some(y))))
            .collect(),
        ShapeFile::Everywhere | ShapeFile::Image { .. } | ShapeFile::Array { .. } => Vec::new(),
    }
}

/// Everything that moves with a part.
fn pairs(file: &mut SceneFile, part: Part) -> Pairs<'_> {
    match part {
        Part::Layer(n) => file
            .layers
            .get_mut(n)
            .map_or(Vec::new(), |layer| shape_pairs(&mut layer.shape)),
        Part::Packet(n) => file
            .packets
            .get_mut(n)
            .map_or(Vec::new(), |packet| vec![pair(&mut packet.center)]),
        Part::Pulse(n) => file
            .pulses
            .get_mut(n)
            .map_or(Vec::new(), |pulse| vec![pair(&mut pulse.center)]),
        Part::Source(n) => match file.sources.get_mut(n).map(|source| &mut source.place) {
            Some(SourcePlace::Point(at)) => vec![pair(at)],
            Some(SourcePlace::Line { from, to }) => vec![pair(from), pair(to)],
            Some(SourcePlace::Disk { center, .. }) => vec![pair(center)],
            Some(SourcePlace::Points { points, .. }) => points.iter_mut().map(|point| pair(point)).collect(),
            None => Vec::new(),
        },
        Part::Detector(n) => match file.detectors.get_mut(n).map(|detector| &mut detector.region) {
            Some(RegionFile::Point(at)) => vec![pair(at)],
            Some(RegionFile::Line { from, to }) => vec![pair(from), pair(to)],
            Some(RegionFile::Box { min, max }) => vec![pair(min), pair(max)],
            Some(RegionFile::Everywhere) | None => Vec::new(),
        },
        Part::Mirror => match file.mirror.as_mut().and_then(|mirror| mirror.transducers.as_mut()) {
            Some(TransducersFile::Ring { center, .. }) => vec![pair(center)],
            Some(TransducersFile::Line { from, to, .. }) => vec![pair(from), pair(to)],
            Some(TransducersFile::Points { points }) => points.iter_mut().map(|point| pair(point)).collect(),
            Some(TransducersFile::Edges) | None => Vec::new(),
        },
    }
}

/// Lengths that a knob beside the centre sets.
fn radii(file: &mut SceneFile, part: Part) -> Vec<&mut f64> {
    match part {
        Part::Layer(n) => match file.layers.get_mut(n).map(|layer| &mut layer.shape) {
            Some(ShapeFile::Disk { radius, .. }) => vec![radius],
            Some(ShapeFile::Ring { inner, outer, .. }) => vec![inner, outer],
            _ => Vec::new(),
        },
        Part::Mirror => match file.mirror.as_mut().and_then(|mirror| mirror.transducers.as_mut()) {
            Some(TransducersFile::Ring { radius, .. }) => vec![radius],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Every part that stands somewhere.
fn parts(file: &SceneFile) -> Vec<Part> {
    let mut all: Vec<Part> = (0..file.layers.len()).map(Part::Layer).collect();
    all.extend((0..file.packets.len()).map(Part::Packet));
    all.extend((0..file.pulses.len()).map(Part::Pulse));
    all.extend((0..file.sources.len()).map(Part::Source));
    all.extend((0..file.detectors.len()).map(Part::Detector));
    if file.mirror.is_some() {
        all.push(Part::Mirror);
    }
    all
}

/// Whether the single points of a part are knobs of their own.
fn has_corners(file: &SceneFile, part: Part, count: usize) -> bool {
    let stroke = match part {
        Part::Layer(n) => matches!(
            file.layers.get(n).map(|layer| &layer.shape),
            Some(ShapeFile::Stroke { .. } | ShapeFile::Slits { .. })
        ),
        _ => false,
    };
    (2..=32).contains(&count) && !stroke
}

/// The handles of a scene, the whole parts' before the others.
#[must_use]
pub fn handles(file: &SceneFile) -> Vec<Handle> {
    // The places are reached as they are changed: through a draft that is thrown away.
    let mut draft = file.clone();
    let mut all = Vec::new();
    for part in parts(file) {
        let numbers: Vec<(Option<f64>, Option<f64>)> = pairs(&mut draft, part)
            .into_iter()
            .map(|(x, y)| (x.map(|x| *x), y.map(|y| *y)))
            .collect();
        let mean = |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
        let x = mean(numbers.iter().filter_map(|(x, _)| *x).collect());
        let y = mean(numbers.iter().filter_map(|(_, y)| *y).collect());
        let (Some(x), Some(y)) = (x, y) else { continue };
        all.push(Handle {
            part,
            knob: 0,
            at: [x, y],
        });
        if has_corners(file, part, numbers.len()) {
            for (n, (x, y)) in numbers.iter().enumerate() {
                if let (Some(x), Some(y)) = (x, y) {
                    all.push(Handle {
                        part,
                        knob: n + 1,
                        at: [*x, *y],
                    });
                }
            }
        }
        let count = numbers.len();
        for (n, radius) in radii(&mut draft, part).into_iter().enumerate() {
            all.push(Handle {
                part,
                knob: count + n + 1,
                at: [x + *radius, y],
            });
        }
    }
    all.sort_by_key(|handle| handle.knob != 0);
    all
}

/// Moves a whole part by lengths.
pub fn shift(file: &mut SceneFile, part: Part, by: [f64; 2]) {
    for (x, y) in pairs(file, part) {
        if let Some(x) = x {
            *x = tidy(*x + by[0]);
        }
        if let Some(y) = y {
            *y = tidy(*y + by[1]);
        }
    }
}

/// Brings a handle to a place.
pub fn bring(file: &mut SceneFile, handle: &Handle, to: [f64; 2]) {
    if handle.knob == 0 {
        shift(file, handle.part, [to[0] - handle.at[0], to[1] - handle.at[1]]);
        return;
    }
    let count = pairs(file, handle.part).len();
    if let Some(n) = handle.knob.checked_sub(count + 1) {
        let center = handles(file)
            .into_iter()
            .find(|known| known.part == handle.part && known.knob == 0);
        let Some(center) = center else { return };
        let length = (to[0] - center.at[0]).hypot(to[1] - center.at[1]);
        if let Some(radius) = radii(file, handle.part).into_iter().nth(n) {
            *radius = tidy(length);
        }
        return;
    }
    if let Some((x, y)) = pairs(file, handle.part).into_iter().nth(handle.knob - 1) {
        if let Some(x) = x {
            *x = tidy(to[0]);
        }
        if let Some(y) = y {
            *y = tidy(to[1]);
        }
    }
    in_order(file, handle.part);
    if let Part::Detector(n) = handle.part
        && let Some(RegionFile::Line { from, to }) = file.detectors.get_mut(n).map(|detector| &mut detector.region)
    {
        if handle.knob == 1 {
            straighten(to, from);
        } else {
            straighten(from, to);
        }
    }
}

/// Brings the other end of a detector's line to where the line runs along the nearest axis.
pub fn straighten(end: &[f64], other: &mut [f64]) {
    if end.len() < 2 || end.len() != other.len() {
        return;
    }
    let across = axis_across(end, other);
    other[across] = end[across];
}

/// A corner dragged beyond the other one is the other one.
fn in_order(file: &mut SceneFile, part: Part) {
    let corners = match part {
        Part::Layer(n) => match file.layers.get_mut(n).map(|layer| &mut layer.shape) {
            Some(ShapeFile::Box { min, max }) => Some((min, max)),
            _ => None,
        },
        Part::Detector(n) => match file.detectors.get_mut(n).map(|detector| &mut detector.region) {
            Some(RegionFile::Box { min, max }) => Some((min, max)),
            _ => None,
        },
        _ => None,
    };
    if let Some((min, max)) = corners {
        for (low, high) in min.iter_mut().zip(max) {
            if low > high {
                std::mem::swap(low, high);
            }
        }
    }
}

/// Takes a part away.
pub fn remove(file: &mut SceneFile, part: Part) {
    let within = |n: usize, count: usize| n < count;
    match part {
        Part::Layer(n) if within(n, file.layers.len()) => {
            file.layers.remove(n);
        }
        // A field needs something that it starts from.
        Part::Packet(n) if within(n, file.packets.len()) && file.packets.len() > 1 => {
            file.packets.remove(n);
        }
        Part::Pulse(n) if within(n, file.pulses.len()) => {
            file.pulses.remove(n);
        }
        Part::Source(n) if within(n, file.sources.len()) => {
            file.sources.remove(n);
        }
        Part::Detector(n) if within(n, file.detectors.len()) => {
            let before: Vec<String> = file.detectors.iter().map(|one| one.name.clone()).collect();
            file.detectors.remove(n);
            follow_detectors(file, &before);
        }
        _ => {}
    }
}

/// The name of a part.
#[must_use]
pub fn name(file: &SceneFile, part: Part) -> String {
    match part {
        Part::Layer(n) => file.layers.get(n).map_or(String::new(), |layer| {
            format!("layer {}: {}", n + 1, layer.shape.as_str())
        }),
        Part::Packet(n) => format!("packet {}", n + 1),
        Part::Pulse(n) => format!("pulse {}", n + 1),
        Part::Source(n) => format!("source {}", n + 1),
        Part::Detector(n) => file
            .detectors
            .get(n)
            .map_or(String::new(), |detector| detector.name.clone()),
        Part::Mirror => "transducers".to_owned(),
    }
}

/// Without the last digits of a drag: nine are kept.
fn tidy(value: f64) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let scale = 10f64.powf(8.0 - value.abs().log10().floor());
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::file::SweepFile;

    fn file() -> SceneFile {
        let text = "format = 1\n[grid]\nsize = [64, 64]\nspacing = 1.0\n[quantum]\nmass = 1.0\n[[packet]]\ncenter = [10, 20]\nwidth = [3, 3]\n\
            [[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [30, 10]\nmax = [34, 50]\n\
            [[layer]]\nsets = \"potential\"\nshape = \"disk\"\ncenter = [50, 30]\nradius = 4\nvalue = 1\n\
            [[detector]]\nname = \"right\"\nregion = { min = [40, 0], max = [60, 20] }\n";
        crate::solver::read_scene_text(text, None, &[]).unwrap().0
    }

    fn of(file: &SceneFile, part: Part, knob: usize) -> Handle {
        handles(file)
            .into_iter()
            .find(|handle| handle.part == part && handle.knob == knob)
            .unwrap()
    }

    #[test]
    fn handles_stand_on_their_parts_and_move_them() {
        let mut file = file();
        assert_eq!(of(&file, Part::Layer(0), 0).at, [32.0, 30.0]);
        assert_eq!(of(&file, Part::Layer(0), 2).at, [34.0, 50.0]);
        let disk = of(&file, Part::Layer(1), 2);
        assert_eq!(disk.at, [54.0, 30.0]);
        bring(&mut file, &disk, [50.0, 37.0]);
        assert!(
            matches!(&file.layers[1].shape, ShapeFile::Disk { radius, center } if *radius == 7.0 && center == &[50.0, 30.0])
        );
        let middle = of(&file, Part::Layer(0), 0);
        bring(&mut file, &middle, [22.0, 31.0]);
        assert!(
            matches!(&file.layers[0].shape, ShapeFile::Box { min, max } if min == &[20.0, 11.0] && max == &[24.0, 51.0])
        );
        // A corner beyond the other one.
        let corner = of(&file, Part::Detector(0), 1);
        bring(&mut file, &corner, [62.0, 5.0]);
        assert_eq!(
            file.detectors[0].region,
            RegionFile::Box {
                min: vec![60.0, 5.0],
                max: vec![62.0, 20.0]
            }
        );
        shift(&mut file, Part::Packet(0), [0.1, -0.2]);
        assert_eq!(file.packets[0].center, [10.1, 19.8]);
    }

    #[test]
    fn lines_of_detectors_run_along_axes() {
        let mut file = file();
        let line = |from: [f64; 2], to: [f64; 2]| RegionFile::Line {
            from: from.to_vec(),
            to: to.to_vec(),
        };
        file.detectors[0].region = line([40.0, 10.0], [40.0, 30.0]);
        let end = of(&file, Part::Detector(0), 2);
        bring(&mut file, &end, [43.0, 35.0]);
        assert_eq!(file.detectors[0].region, line([40.0, 10.0], [40.0, 35.0]));
        // Dragged beyond the diagonal it turns.
        bring(&mut file, &end, [60.0, 13.0]);
        assert_eq!(file.detectors[0].region, line([40.0, 10.0], [60.0, 10.0]));
        let start = of(&file, Part::Detector(0), 1);
        bring(&mut file, &start, [50.0, 9.0]);
        assert_eq!(file.detectors[0].region, line([50.0, 10.0], [60.0, 10.0]));
    }

    #[test]
    fn the_last_packet_stays() {
        let mut file = file();
        remove(&mut file, Part::Packet(0));
        assert_eq!(file.packets.len(), 1);
        remove(&mut file, Part::Layer(0));
        assert_eq!(file.layers.len(), 1);
        assert_eq!(name(&file, Part::Layer(0)), "layer 1: disk");
        remove(&mut file, Part::Layer(7));
        file.sweep = Some(SweepFile {
            measure: vec!["right@3".to_owned()],
            ..SweepFile::default()
        });
        remove(&mut file, Part::Detector(0));
        assert!(file.detectors.is_empty());
        assert_eq!(file.sweep, None, "it measured what is gone");
    }
}
