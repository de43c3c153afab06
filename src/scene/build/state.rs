//! The state at t = 0, and sources.

use super::super::file::{PatternFile, SignalFile, SourceFile, SourcePlace};
use super::super::input;
use super::{Builder, article, count};
use crate::field::FieldData;
use crate::grid::Grid;
use crate::physics::source::{Element, Pattern, Place, Recording};
use crate::physics::{Equation, Initial, Packet, Pulse, Signal, Source};
use num_complex::Complex64;
use std::path::Path;
use std::sync::Arc;

/// Squared norms below this are zero in single precision.
pub(super) const LEAST_NORM: f64 = 1e-30;

/// The power of two at or below the largest weight: divided by it a state that is normalised has the same bits, and squares of its weights are in range.
pub(super) fn scale_of(weights: impl Iterator<Item = f64>) -> f64 {
    let most = weights.map(f64::abs).fold(0.0, f64::max);
    let scale = most.log2().floor().exp2();
    if scale.is_normal() { scale } else { 1.0 }
}

impl Builder<'_> {
    pub(super) fn initial(&mut self, equation: Option<Equation>, grid: Option<&Grid>) -> Option<Initial> {
        let file = self.file;
        let equation = equation?;
        let (own, other, own_word, other_word) = match equation {
            Equation::Schrodinger => (file.packets.len(), file.pulses.len(), "packet", "pulse"),
            Equation::Acoustic => (file.pulses.len(), file.packets.len(), "pulse", "packet"),
        };
        let mut good = true;
        let states = file.eigenstates.len();
        if states > 0 && equation == Equation::Acoustic {
            let message = "an acoustic scene has no eigenstates of energy";
            self.found.key("eigenstate", message, "use [[pulse]]");
            good = false;
        } else if states > 0 && (own > 0 || file.initial.is_some()) {
            let other = if own > 0 { "[[packet]]" } else { "[initial]" };
            let message = format!("the state at t = 0 is given twice: by [[eigenstate]] and by {other}");
            self.found
                .key("eigenstate", message, format!("remove {other} or every [[eigenstate]]"));
            good = false;
        }
        if other > 0 {
            let message = format!("{} scene has no {other_word}s", article(equation));
            self.found.key(other_word, message, format!("use [[{own_word}]]"));
            good = false;
        }
        if file.initial.is_some() && own > 0 {
            let message = format!("the state at t = 0 is given twice: by [initial] and by [[{own_word}]]");
            self.found
                .key("initial", message, format!("remove [initial] or every [[{own_word}]]"));
            good = false;
        }
        // A state that could not be read is a fault already.
        let misread = (self.found.faults.iter()).any(|fault| {
            let section = fault.key.split('.').next().unwrap_or_default();
            ["packet", "eigenstate", "pulse", "source", "initial"].contains(&section)
        });
        if misread && file.initial.is_none() && own == 0 && other == 0 && states == 0 {
            good = false;
        } else if file.initial.is_none() && own == 0 && other == 0 && states == 0 {
            match equation {
                Equation::Schrodinger => {
                    let message = "there is no state at t = 0: neither [[packet]] nor [[eigenstate]] nor [initial]";
                    let remedy = "add [[packet]] with `center = [..]` and `width = [..]`";
                    self.found.key("", message, remedy);
                    good = false;
                }
                Equation::Acoustic if file.sources.is_empty() => {
                    let message = "nothing makes a sound: there is no [[pulse]], [[source]] or [initial]";
                    let remedy = "add [[pulse]] with `center = [..]` and `width = 0.1`";
                    self.found.key("", message, remedy);
                    good = false;
                }
                Equation::Acoustic => {}
            }
        }
        let grid = grid?;
        let state = if file.initial.is_some() {
            self.exchange(grid);
            self.array(equation, grid).map(|data| Initial::Array(Arc::new(data)))
        } else if states > 0 && equation == Equation::Schrodinger {
            self.exchange(grid);
            self.eigenstates(grid).map(Initial::Eigenstates)
        } else if equation == Equation::Schrodinger {
            self.packets(grid).map(Initial::Packets)
        } else {
            self.pulses(grid).map(Initial::Pulses)
        };
        state.filter(|_| good)
    }

    fn array(&mut self, equation: Equation, grid: &Grid) -> Option<FieldData> {
        let name = self.file.initial.as_ref()?;
        let path = self.base.join(name);
        if !self.grid_is_own {
            return None;
        }
        let wanted = input::Wanted {
            shape: grid.shape(),
            complex: equation == Equation::Schrodinger,
        };
        match input::read_array(&path, &wanted) {
            Ok(data) => {
                let empty = match &data {
                    FieldData::Complex64(v) => v.iter().all(|value| value.norm_sqr() == 0.0),
                    FieldData::Complex128(v) => v.iter().all(|value| value.norm_sqr() == 0.0),
                    FieldData::Float32(v) => v.iter().all(|value| *value == 0.0),
                    FieldData::Float64(v) => v.iter().all(|value| *value == 0.0),
                };
                if empty && equation == Equation::Schrodinger {
                    let message = format!(
                        "{} is zero everywhere, and a state of norm 0 is not a state",
                        path.display()
                    );
                    self.found
                        .value("initial.file", message, "save a state that is not zero");
                    return None;
                }
                self.in_range(&data, equation, &path).then_some(data)
            }
            Err(error) => {
                self.found.value("initial.file", error.to_string(), error.remedy());
                None
            }
        }
    }

    /// Notes a fault if the largest value of a state does not fit the scene's precision; ψ, which is scaled to norm 1, must not vanish in it either.
    fn in_range(&mut self, data: &FieldData, equation: Equation, path: &Path) -> bool {
        let most = self.largest();
        let parts = (0..data.len()).map(|n| data.at(n));
        let largest = parts.fold(0.0f64, |all, value| all.max(value.re.abs()).max(value.im.abs()));
        let least = if equation == Equation::Schrodinger {
            1.0 / most
        } else {
            0.0
        };
        let good = (least..=most).contains(&largest);
        if !good {
            let message = format!(
                "the largest value of {} is {largest:.1e}, which is not between {least:.0e} and {most:e}",
                path.display()
            );
            let remedy = "save it in other units, or choose solver.precision = \"double\"";
            self.found.value("initial.file", message, remedy);
        }
        good
    }

    fn packets(&mut self, grid: &Grid) -> Option<Vec<Packet>> {
        let given = &self.file.packets;
        let mut packets = Vec::with_capacity(given.len());
        for (index, packet) in given.iter().enumerate() {
            let key = |name: &str| format!("packet.{index}.{name}");
            let rank = grid.rank();
            let center = self.point(&key("center"), &packet.center, grid);
            let mut width = packet.width.clone();
            if let [one] = width[..] {
                width = vec![one; rank];
            }
            let width = self.vector(&key("width"), &width, rank).filter(|width| {
                // All axes are looked at, so that every fault is found.
                let bad = (0..rank).filter(|&axis| {
                    let path = if packet.width.len() == 1 {
                        key("width")
                    } else {
                        format!("{}.{axis}", key("width"))
                    };
                    (axis == 0 || packet.width.len() > 1) && !self.ordinary(&path, width[axis])
                });
                bad.count() == 0
            });
            let momentum = if packet.momentum.is_empty() {
                Some([0.0; 3])
            } else {
                self.momentum(&key("momentum"), &packet.momentum, grid)
            };
            let finite = self.finite(&key("weight"), packet.weight);
            if let (Some(center), Some(width), Some(momentum), true) = (center, width, momentum, finite) {
                packets.push(Packet {
                    center,
                    width,
                    momentum,
                    weight: packet.weight,
                });
            }
        }
        if packets.len() < given.len() || packets.is_empty() {
            return None;
        }
        if !self.grid_is_own {
            return None;
        }
        let scale = scale_of(packets.iter().map(|packet| packet.weight));
        for packet in &mut packets {
            packet.weight /= scale;
        }
        if let Some(exchange) = self.exchange(grid) {
            packets = exchange.of(&packets);
        }
        let norm = norm(&packets, grid);
        if norm.is_some_and(|norm| norm < LEAST_NORM || !norm.is_finite()) {
            let message = "the packets add up to a state of norm 0";
            let remedy = "widths below half a spacing can fall between two sites, opposite weights can cancel, and of two fermions in the same packet nothing is left";
            self.found.key("packet", message, remedy);
            return None;
        }
        Some(packets)
    }

    fn momentum(&mut self, key: &str, list: &[f64], grid: &Grid) -> Option<[f64; 3]> {
        let momentum = self.vector(key, list, grid.rank())?;
        let limit = std::f64::consts::PI / grid.spacing();
        for (axis, component) in momentum.iter().enumerate().filter(|_| self.grid_is_own) {
            if component.abs() > limit * (1.0 + 1e-12) {
                let shown = super::super::write::float(*component);
                let message = format!(
                    "{shown} is beyond the band's edge π/a = {limit:.6}, where waves are shorter than two sites"
                );
                let path = if list.len() == 1 {
                    key.to_owned()
                } else {
                    format!("{key}.{axis}")
                };
                self.found
                    .value(path, message, "choose a smaller momentum or a smaller spacing");
                return None;
            }
        }
        Some(momentum)
    }

    fn pulses(&mut self, grid: &Grid) -> Option<Vec<Pulse>> {
        let given = &self.file.pulses;
        let mut pulses = Vec::with_capacity(given.len());
        for (index, pulse) in given.iter().enumerate() {
            let key = |name: &str| format!("pulse.{index}.{name}");
            let center = self.point(&key("center"), &pulse.center, grid);
            let width = self.ordinary(&key("width"), pulse.width);
            let amplitude = self.finite(&key("amplitude"), pulse.amplitude);
            if let (Some(center), true, true) = (center, width, amplitude) {
                pulses.push(Pulse {
                    center,
                    width: pulse.width,
                    amplitude: pulse.amplitude,
                });
            }
        }
        (pulses.len() == given.len()).then_some(pulses)
    }

    pub(super) fn sources(&mut self, equation: Option<Equation>, grid: Option<&Grid>) -> Vec<Source> {
        let given = &self.file.sources;
        if equation == Some(Equation::Schrodinger) && !given.is_empty() {
            let message = "a quantum scene has no sources of sound";
            self.found
                .key("source", message, "remove it, or make the scene acoustic");
        }
        let Some(grid) = grid else { return Vec::new() };
        given
            .iter()
            .enumerate()
            .filter_map(|(index, source)| self.source(index, source, grid))
            .collect()
    }

    fn source(&mut self, index: usize, source: &SourceFile, grid: &Grid) -> Option<Source> {
        let key = |name: &str| format!("source.{index}.{name}");
        let place = match &source.place {
            SourcePlace::Point(at) => self
                .point(&key("at"), at, grid)
                .map(|at| Place::Points(vec![Element { at, delay: 0.0 }])),
            SourcePlace::Line { from, to } => {
                let from = self.point(&key("from"), from, grid);
                let to = self.point(&key("to"), to, grid);
                if from.is_some() && from == to {
                    let message = "a line from a place to the same place has no length";
                    self.found
                        .value(key("to"), message, "move one of its ends, or write `at` for a point");
                }
                from.zip(to).map(|(from, to)| Place::Line { from, to })
            }
            SourcePlace::Points { points, delays } => {
                if !delays.is_empty() && delays.len() != points.len() {
                    let message = format!("{} for {}", count(delays.len(), "delay"), count(points.len(), "point"));
                    self.found
                        .value(key("delays"), message, "write one delay per point, or none");
                }
                if points.is_empty() {
                    self.found
                        .value(key("points"), "the list is empty", "write at least one point");
                }
                let mut elements = Vec::with_capacity(points.len());
                for (number, point) in points.iter().enumerate() {
                    let delay = delays.get(number).copied().unwrap_or(0.0);
                    self.not_negative(&format!("{}.{number}", key("delays")), delay);
                    if let Some(at) = self.point(&format!("{}.{number}", key("points")), point, grid) {
                        elements.push(Element { at, delay });
                    }
                }
                Some(Place::Points(elements))
            }
            SourcePlace::Disk { center, radius, normal } => self.disk(index, center, *radius, *normal, grid),
        };
        let pattern = self.pattern(index, source, grid);
        self.finite(&key("amplitude"), source.amplitude);
        self.not_negative(&key("delay"), source.delay);
        let velocity = if source.velocity.is_empty() {
            Some([0.0; 3])
        } else {
            self.vector(&key("velocity"), &source.velocity, grid.rank())
        };
        self.finite(&key("phase"), source.phase);
        let signal = self.signal(index, &source.signal)?;
        if source.phase != 0.0 && !signal.has_phase() {
            let message = "a signal that is not a sine has no phase";
            self.found.key(key("phase"), message, "remove it, or use `delay`");
        }
        Some(Source {
            place: place?,
            signal,
            pattern: pattern?,
            amplitude: source.amplitude,
            delay: source.delay,
            phase: source.phase,
            velocity: velocity?,
        })
    }

    /// A disk normal to an axis; its centre may lie outside the grid, as that of a quarter disk at two rigid edges does.
    #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
    fn disk(&mut self, index: usize, center: &[f64], radius: f64, normal: usize, grid: &Grid) -> Option<Place> {
        let key = |name: &str| format!("source.{index}.{name}");
        if grid.rank() != 3 {
            let message = format!("a disk stands in three dimensions, and the grid has {}", grid.rank());
            let remedy = "write a line, `from` and `to`, in two dimensions, a point, `at`, in one";
            self.found.key(key("center"), message, remedy);
            return None;
        }
        let sound = self.positive(&key("radius"), radius);
        let center = self.vector(&key("center"), center, 3)?;
        let extent = grid.size().map(|sites| (sites - 1) as f64 * grid.spacing());
        for axis in 0..3 {
            // Rigid edges stand half a spacing outside the last site.
            let reach = if axis == normal { 0.5 * grid.spacing() } else { radius };
            if !(-reach..=extent[axis] + reach).contains(&center[axis]) {
                let message = format!(
                    "the disk does not touch the grid, 0 to {} along this axis",
                    super::super::write::tidy_float(extent[axis])
                );
                self.found.value(key("center"), message, "move it, or make it larger");
                return None;
            }
        }
        sound.then_some(Place::Disk { center, radius, normal })
    }

    /// Where a source sends its sound.
    fn pattern(&mut self, index: usize, source: &SourceFile, grid: &Grid) -> Option<Pattern> {
        let key = format!("source.{index}.direction");
        if source.pattern == PatternFile::Monopole {
            if !source.direction.is_empty() {
                let message = "a monopole sends alike in all directions";
                let remedy = "remove it, or write `pattern = \"one-way\"` or `\"dipole\"`";
                self.found.key(key, message, remedy);
            }
            return Some(Pattern::Monopole);
        }
        let along = match (&source.place, source.direction.is_empty()) {
            (SourcePlace::Disk { normal, .. }, true) => {
                let mut along = [0.0; 3];
                along[*normal] = 1.0;
                along
            }
            (_, true) if grid.rank() == 1 => [1.0, 0.0, 0.0],
            (_, true) => {
                let message = format!("is missing: pattern = \"{}\" has a direction", source.pattern.as_str());
                self.found.key(key, message, "add one, e.g. `direction = [1.0, 0.0]`");
                return None;
            }
            (_, false) => self.vector(&key, &source.direction, grid.rank())?,
        };
        let length = along.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length == 0.0 {
            self.found.value(
                key,
                "a direction of the length 0 points nowhere",
                "write e.g. [1.0, 0.0]",
            );
            return None;
        }
        let along = along.map(|x| x / length);
        Some(match source.pattern {
            PatternFile::OneWay => Pattern::OneWay(along),
            _ => Pattern::Dipole(along),
        })
    }

    pub(super) fn not_negative(&mut self, key: &str, number: f64) {
        if !(number >= 0.0 && number.is_finite()) {
            let shown = super::super::write::float(number);
            self.found
                .value(key, format!("{shown} is below 0"), "write 0 or a positive number");
        }
    }

    fn signal(&mut self, index: usize, signal: &SignalFile) -> Option<Signal> {
        let key = |name: &str| format!("source.{index}.{name}");
        Some(match *signal {
            SignalFile::Ricker { frequency } => {
                self.ordinary(&key("frequency"), frequency);
                Signal::Ricker { frequency }
            }
            SignalFile::Sine { frequency } => {
                self.ordinary(&key("frequency"), frequency);
                Signal::Sine { frequency }
            }
            SignalFile::Burst { frequency, cycles } => {
                self.ordinary(&key("frequency"), frequency);
                self.positive(&key("cycles"), cycles);
                Signal::Burst { frequency, cycles }
            }
            SignalFile::Chirp {
                frequency,
                to_frequency,
                duration,
            } => {
                self.ordinary(&key("frequency"), frequency);
                self.ordinary(&key("to_frequency"), to_frequency);
                self.ordinary(&key("duration"), duration);
                Signal::chirp(frequency, to_frequency, duration)
            }
            SignalFile::File { ref file, rate } => {
                let (own, values) = match input::read_signal(&self.base.join(file)) {
                    Ok(signal) => signal,
                    Err(error) => {
                        self.found.value(key("file"), error.to_string(), error.remedy());
                        return None;
                    }
                };
                if let Some(rate) = rate {
                    self.positive(&key("rate"), rate);
                }
                let Some(rate) = rate.or(own) else {
                    let remedy = "add `rate = 48000.0`, the samples per second";
                    self.found.key(
                        key("rate"),
                        "is missing; an NPY file does not say how fast it is played",
                        remedy,
                    );
                    return None;
                };
                Signal::Recording(Arc::new(Recording {
                    rate,
                    values,
                    file: file.clone(),
                }))
            }
        })
    }
}

/// Σ|ψ|² of a sum of packets, from sums along each axis (no array of the grid's size); `None` if that would take too long.
///
/// Gaussians factorise, so ⟨p|q⟩ is a product of one sum per axis, over sites within 40 widths, beyond which the packet is negligible.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    reason = "site numbers are far below 2^52; beyond, all sites are taken"
)]
fn norm(packets: &[Packet], grid: &Grid) -> Option<f64> {
    let a = grid.spacing();
    // The first site and how many; round a ring they go on behind the last.
    let window = |packet: &Packet, axis: usize| {
        let (sites, reach) = (grid.size()[axis] as i64, 40.0 * packet.width[axis]);
        let first = ((packet.center[axis] - reach) / a).floor() as i64;
        let last = ((packet.center[axis] + reach) / a).ceil() as i64;
        if grid.is_periodic(axis) && last.saturating_sub(first) < sites {
            first..last + 1
        } else if grid.is_periodic(axis) {
            0..sites
        } else {
            first.clamp(0, sites - 1)..last.clamp(0, sites - 1) + 1
        }
    };
    let work: i64 = packets
        .iter()
        .flat_map(|packet| (0..grid.rank()).map(|axis| window(packet, axis)))
        .map(|window| window.end - window.start)
        .fold(0, i64::saturating_add);
    if work.saturating_mul(packets.len() as i64) > 4_000_000 {
        return None;
    }
    let mut total = Complex64::ZERO;
    for p in packets {
        for q in packets {
            let mut product = Complex64::from(p.weight * q.weight);
            for axis in 0..grid.rank() {
                product *= window(p, axis)
                    .map(|site| {
                        let at = site.rem_euclid(grid.size()[axis] as i64) as f64 * a;
                        let [dp, dq] = [p, q].map(|packet| grid.way(axis, packet.center[axis], at));
                        let exponent = (dp / p.width[axis]).powi(2) + (dq / q.width[axis]).powi(2);
                        let phase = q.momentum[axis] * dq - p.momentum[axis] * dp;
                        Complex64::from_polar((-exponent / 4.0).exp(), phase)
                    })
                    .sum::<Complex64>();
            }
            total += product;
        }
    }
    Some(total.re)
}
