//! The contents of a scene, as rows of name and value for the reader.

use super::ticks::{number, typeset};
use super::units::Units;
use crate::physics::expression::{Expression, SPACE};
use crate::physics::{Detector, Equation, Measure, MirrorMethod, Mode, Reading, Region, Sets};
use crate::scene::file::{
    EdgesFile, LayerFile, MirrorFile, PacketFile, PatternFile, ShapeFile, SignalFile, SourceFile, SourcePlace,
    TransducersFile, ValueFile,
};
use crate::scene::{Scenario, SceneFile};
use crate::units::counted;

/// Rows that describe the run: grid, medium, waves, time, method.
pub fn rows(file: &SceneFile, scenario: &Scenario, time_step: f64) -> Vec<(String, String)> {
    let sound = scenario.model().equation() == Equation::Acoustic;
    let (length, time) = if sound { (" m", " s") } else { ("", "") };
    let grid = scenario.grid();
    // Times as the clock of the run shows them.
    let clock = |t: f64| Units::of(scenario, time_step).clock(t, time_step);
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut row = |name: &str, value: String| rows.push((name.to_owned(), value));
    row(
        "Grid",
        format!("{grid} sites, {}{length} apart", figure(grid.spacing())),
    );
    row("Edges", edges(&file.grid.edges));
    if let Some(acoustic) = &file.acoustic {
        row("Speed of sound", format!("{} m/s", figure(acoustic.speed)));
        row("Density", format!("{} kg/m³", figure(acoustic.density)));
    }
    if let Some(quantum) = scenario.model().quantum() {
        if let Some(mass) = file.quantum.as_ref().and_then(|quantum| quantum.mass) {
            row("Mass m", figure(mass));
        }
        row("Hopping J", figure(quantum.hopping));
    }
    if let Some(quantum) = &file.quantum {
        for (name, value) in [
            ("Interaction g", quantum.interaction),
            ("Interaction g₁₂", quantum.cross_interaction),
            ("Flux per plaquette", quantum.flux),
            ("Rotation Ω", quantum.rotation),
        ] {
            if value != 0.0 {
                row(name, figure(value));
            }
        }
    }
    for packet in &file.packets {
        row("Packet", of_packet(packet));
    }
    for state in &file.eigenstates {
        row(
            "Eigenstate",
            format!("level {}, weight {}", state.level, figure(state.weight)),
        );
    }
    for pulse in &file.pulses {
        let at = point(&pulse.center);
        let (width, height) = (figure(pulse.width), figure(pulse.amplitude));
        row("Pulse", format!("{height} Pa at {at} m, {width} m wide"));
    }
    for source in &file.sources {
        let unit = amplitude_unit(source, grid.rank());
        let (signal, place) = (of_signal(&source.signal), of_place(&source.place));
        let sent = [signal, of_strength(source, &unit)].concat();
        let moves = if source.velocity.iter().all(|speed| *speed == 0.0) {
            String::new()
        } else {
            format!(" at the start, moving with {} m/s", point(&source.velocity))
        };
        row("Source", format!("{sent}, {place}{moves}"));
    }
    for layer in &file.layers {
        row("Layer", of_layer(layer, scenario.model().equation(), grid.rank()));
    }
    if let Some(mirror) = &file.mirror {
        let through = of_transducers(mirror, scenario.model().equation(), grid.rank());
        let (method, at) = (mirror.method.as_str(), clock(mirror.at));
        row("Mirror", format!("{method} at t = {at}{through}"));
    }
    for detector in scenario.detectors() {
        row("Detector", of_detector(detector, scenario));
    }
    row("Step Δt", format!("{}{time}", figure(time_step.abs())));
    if let Some(end) = file.time.end {
        row("Runs until", format!("t = {}", clock(end)));
    }
    let solver = scenario.solver();
    row(
        "Method",
        format!("{}, {} precision", solver.method, solver.precision.as_str()),
    );
    rows
}

/// A number with at most six digits, without trailing zeros.
pub fn figure(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e6).contains(&size) {
        let text = format!("{value:.4e}");
        let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
        let digits = digits.trim_end_matches('0').trim_end_matches('.');
        return typeset(&format!("{digits}e{power}"));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 9")]
    let decimals = (5.0 - size.max(1e-4).log10().floor()).clamp(0.0, 9.0) as usize;
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    text.replace('-', "−")
}

/// A number beside its tolerance: one decimal more than that has (or than its first two figures), so that a predicted and a measured value have the same decimals.
pub fn within(value: f64, tolerance: f64) -> String {
    /// Digits that a number in double precision has.
    const DIGITS: f64 = 16.0;
    if !value.is_finite() {
        return number(value, 0);
    }
    if tolerance.is_nan() || tolerance <= 0.0 || tolerance.is_infinite() {
        return figure(value);
    }
    let text = format!("{tolerance:.1e}");
    let (figures, power) = text.split_once('e').unwrap_or((&text, "0"));
    let power: f64 = power.parse().unwrap_or(0.0);
    let decimals = if figures.ends_with('0') { 1.0 } else { 2.0 } - power;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and 16"
    )]
    let whole = |count: f64| count.clamp(0.0, DIGITS) as usize;
    let size = value.abs();
    let is_plain = (1e-4..1e6).contains(&tolerance) && size < 1e9;
    if size == 0.0 || is_plain || (1e-4..1e6).contains(&size) {
        let known = DIGITS - size.max(1.0).log10().floor() - 1.0;
        // Of a zero beside a very small tolerance no row of zeros is needed.
        let decimals = if size == 0.0 && !is_plain { 0.0 } else { decimals };
        return number(value, whole(decimals.min(known)));
    }
    typeset(&format!("{value:.*e}", whole(size.log10().floor() + decimals)))
}

fn edges(edges: &EdgesFile) -> String {
    match edges {
        EdgesFile::All(edge) => edge.as_str().to_owned(),
        EdgesFile::PerAxis(list) => {
            let words = list.iter().zip(["x", "y", "z"]);
            let words: Vec<String> = words
                .map(|(edge, axis)| format!("{} along {axis}", edge.as_str()))
                .collect();
            words.join(", ")
        }
    }
}

fn point(numbers: &[f64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(|number| figure(*number)).collect();
    match numbers.as_slice() {
        [one] => one.clone(),
        all => format!("({})", all.join(", ")),
    }
}

fn of_packet(packet: &PacketFile) -> String {
    let size = packet.momentum.iter().map(|k| k * k).sum::<f64>().sqrt();
    let moves = if size > 0.0 {
        let wavelength = std::f64::consts::TAU / size;
        format!("k = {}, λ = {}", point(&packet.momentum), figure(wavelength))
    } else {
        "at rest".to_owned()
    };
    format!("at {}, σ = {}, {moves}", point(&packet.center), point(&packet.width))
}

fn of_signal(signal: &SignalFile) -> String {
    match signal {
        SignalFile::Ricker { frequency } => format!("Ricker wavelet, {} Hz", figure(*frequency)),
        SignalFile::Sine { frequency } => format!("sine, {} Hz", figure(*frequency)),
        SignalFile::Burst { frequency, cycles } => {
            format!("burst of {} periods, {} Hz", figure(*cycles), figure(*frequency))
        }
        SignalFile::Chirp {
            frequency,
            to_frequency,
            duration,
        } => {
            let [from, to, lasts] = [frequency, to_frequency, duration].map(|number| figure(*number));
            format!("chirp from {from} to {to} Hz in {lasts} s")
        }
        SignalFile::File { file, .. } => format!("the sound {}", file.display()),
    }
}

/// How strongly a source plays, into which directions and from when on.
fn of_strength(source: &SourceFile, unit: &str) -> String {
    let amplitude = format!("{} {unit}", figure(source.amplitude));
    let mut told = format!(", amplitude {}", amplitude.trim_end());
    if source.pattern != PatternFile::Monopole {
        told += ", ";
        told += source.pattern.as_str();
        if !source.direction.is_empty() {
            told += " along ";
            told += &point(&source.direction);
        }
    }
    if source.phase != 0.0 {
        told += &format!(", phase {} rad", figure(source.phase));
    }
    if source.delay != 0.0 {
        told += &format!(", {} s late", figure(source.delay));
    }
    told
}

/// The unit of a source's amplitude in so many dimensions: of a volume that is accelerated, or of a force, for a point, for each metre of a line or for each square metre of a disk.
fn amplitude_unit(source: &SourceFile, rank: usize) -> String {
    let taken = match &source.place {
        SourcePlace::Point(_) | SourcePlace::Points { .. } => 0,
        SourcePlace::Line { .. } => 1,
        SourcePlace::Disk { .. } => 2,
    };
    let metres = |power: usize| [" m", " m²", " m³"].get(power.wrapping_sub(1)).copied().unwrap_or("");
    match source.pattern {
        PatternFile::Monopole => format!("Pa{}/s²", metres(rank.saturating_sub(taken).max(1))),
        _ => format!("Pa{}", metres(rank.saturating_sub(1 + taken))),
    }
}

/// Where a source stands; lengths in m.
fn of_place(place: &SourcePlace) -> String {
    match place {
        SourcePlace::Point(at) => format!("at {} m", point(at)),
        SourcePlace::Line { from, to } => format!("from {} to {} m", point(from), point(to)),
        SourcePlace::Points { points, .. } => match points.as_slice() {
            [first, .., last] => format!("{} elements from {} to {} m", points.len(), point(first), point(last)),
            [only] => format!("at {} m", point(only)),
            [] => "nowhere".to_owned(),
        },
        SourcePlace::Disk { center, radius, .. } => {
            format!("a disk of radius {} m about {} m", figure(*radius), point(center))
        }
    }
}

/// What a detector records and where, so that it can be predicted.
fn of_detector(detector: &Detector, scenario: &Scenario) -> String {
    let (equation, rank) = (scenario.model().equation(), scenario.grid().rank());
    let sound = equation == Equation::Acoustic;
    let (what, unit) = match (detector.measure, detector.reading) {
        (_, Reading::Level) => ("level", "dB re 20 µPa"),
        (Measure::Value, _) if sound => ("pressure", "Pa"),
        (Measure::Value, _) => ("|ψ|", ""),
        (measure, _) => (measure.as_str(), measure.unit(equation, rank)),
    };
    let reading = match detector.reading {
        Reading::Itself | Reading::Level => String::new(),
        reading => format!("{} ", reading.as_str()),
    };
    let unit = if unit.is_empty() {
        String::new()
    } else {
        format!(" in {unit}")
    };
    let length = if sound { " m" } else { "" };
    let at = |place: &[f64; 3]| point(&place[..rank]);
    let place = match &detector.region {
        Region::Point(place) => format!("at {}{length}", at(place)),
        Region::Line { from, to } => format!("from {} to {}{length}", at(from), at(to)),
        Region::Box { min, max } => format!("in the box from {} to {}{length}", at(min), at(max)),
        Region::Everywhere => "everywhere".to_owned(),
    };
    let over = detector.over.map_or(String::new(), |over| {
        let second = if sound { " s" } else { "" };
        format!(", with a time constant of {}{second}", figure(over))
    });
    let every = match detector.every {
        1 => String::new(),
        every => format!(", every {every} steps"),
    };
    format!("{}: {reading}{what}{unit} {place}{over}{every}", detector.name)
}

/// What a mirror reverses: all of an echo; otherwise where its transducers are, and how many of them play. An inverse filter takes all sites along a ring or a line, whatever their count says.
fn of_transducers(mirror: &MirrorFile, equation: Equation, rank: usize) -> String {
    /// More points than these are told by the first and the last.
    const POINTS: usize = 3;
    if mirror.method == MirrorMethod::Echo {
        return " of the whole field".to_owned();
    }
    let length = if equation == Equation::Acoustic { " m" } else { "" };
    let takes_all = mirror.method == MirrorMethod::InverseFilter;
    let so_many = |count: usize| counted(count as u64, "transducer");
    let along = |count: usize| {
        if takes_all {
            "transducers all along".to_owned()
        } else {
            format!("{} on", so_many(count))
        }
    };
    let (place, count) = match &mirror.transducers {
        None => return String::new(),
        Some(TransducersFile::Edges) => ("transducers on all sites at the edges".to_owned(), usize::MAX),
        Some(TransducersFile::Ring { center, radius, count }) => {
            let about = format!("of radius {}{length} about {}{length}", figure(*radius), point(center));
            match rank {
                1 => (format!("transducers at both ends of an interval {about}"), 2),
                3 => (format!("{} a sphere {about}", along(*count)), *count),
                _ => (format!("{} a ring {about}", along(*count)), *count),
            }
        }
        Some(TransducersFile::Line { from, to, count }) => {
            let ends = format!("from {} to {}{length}", point(from), point(to));
            (format!("{} a line {ends}", along(*count)), *count)
        }
        Some(TransducersFile::Points { points }) => {
            let at: Vec<String> = points.iter().map(|at| point(at)).collect();
            let place = match at.as_slice() {
                [first, .., last] if at.len() > POINTS => format!("from {first} to {last}"),
                all => format!("at {}", all.join(", ")),
            };
            (format!("{} {place}{length}", so_many(at.len())), at.len())
        }
    };
    let part = match mirror.playing.filter(|playing| !takes_all && *playing < count) {
        Some(1) => ", of which 1 plays".to_owned(),
        Some(playing) => format!(", of which {playing} play"),
        None => String::new(),
    };
    format!(", {place}{part}")
}

/// What a layer sets, to which value, along which axis, and where, in so many dimensions, and whether it replaces earlier values; sound has units.
fn of_layer(layer: &LayerFile, equation: Equation, rank: usize) -> String {
    let shape = of_shape(&layer.shape, equation, rank);
    let unit = layer.sets.unit(equation);
    let with_unit = |number: f64| format!(" = {} {unit}", figure(number)).trim_end().to_owned();
    let value = match &layer.value {
        _ if layer.sets == Sets::Wall => String::new(),
        Some(ValueFile::Number(number)) => with_unit(*number),
        Some(ValueFile::Formula(formula)) => {
            constant(formula).map_or_else(|| format!(" = {}", readable(formula)), with_unit)
        }
        None => String::new(),
    };
    let driven = layer
        .drive
        .as_ref()
        .map_or(String::new(), |drive| format!(", times {}", readable(drive)));
    // On a line there is no other axis.
    let axis = layer.axis.filter(|_| rank > 1);
    let axis = axis.map_or(String::new(), |axis| {
        format!(", along {} only", LayerFile::AXES[axis.min(2)].0)
    });
    // A wall added to a wall is one.
    let adds = layer.mode == Mode::Add && layer.sets != Sets::Wall;
    let added = if adds { ", added to earlier values" } else { "" };
    format!("{}{value}{driven}{axis}{added}, {shape}", layer.sets.as_str())
}

/// Which sites a layer has, with the numbers of its shape.
fn of_shape(shape: &ShapeFile, equation: Equation, rank: usize) -> String {
    /// More corners than these are counted.
    const CORNERS: usize = 6;
    let length = if equation == Equation::Acoustic { " m" } else { "" };
    let along = |points: &[[f64; 2]]| -> String {
        let told: Vec<String> = points.iter().map(|at| point(at)).collect();
        if points.len() <= CORNERS {
            format!("through {}{length}", told.join(", "))
        } else {
            format!("of {} points", points.len())
        }
    };
    match shape {
        ShapeFile::Everywhere => "everywhere".to_owned(),
        ShapeFile::Box { min, max } => format!("box from {} to {}{length}", point(min), point(max)),
        ShapeFile::Disk { center, radius } => {
            let word = match rank {
                3 => "ball",
                1 => "interval",
                _ => "disk",
            };
            let (radius, center) = (figure(*radius), point(center));
            format!("{word} of radius {radius}{length} about {center}{length}")
        }
        ShapeFile::Ring { center, inner, outer } => {
            let ends = [inner, outer].map(|radius| figure(*radius)).join(" to ");
            format!("ring of radii {ends}{length} about {}{length}", point(center))
        }
        ShapeFile::Polygon { points } => format!("polygon {}", along(points)),
        ShapeFile::Stroke { points, radius } => {
            format!("stroke of half width {}{length} {}", figure(*radius), along(points))
        }
        ShapeFile::Slits {
            x,
            thickness,
            centers,
            opening,
        } => {
            let at: Vec<String> = centers.iter().map(|center| figure(*center)).collect();
            let [x, thickness, opening] = [x, thickness, opening].map(|number| figure(*number));
            format!(
                "screen at x = {x}{length}, {thickness}{length} thick, with openings of {opening}{length} at y = {}{length}",
                at.join(", ")
            )
        }
        ShapeFile::Image { file } => format!("the picture {}", file.display()),
        ShapeFile::Array { file } => format!("the array {}", file.display()),
    }
}

/// The value of a formula that is the same everywhere.
fn constant(formula: &str) -> Option<f64> {
    let parsed = Expression::parse(formula, SPACE).ok()?;
    let value = parsed.eval(&[0.0; SPACE.len()]);
    let is_everywhere = (0..SPACE.len()).all(|variable| !parsed.uses(variable));
    (is_everywhere && value.is_finite()).then_some(value)
}

/// A formula with the signs of print in place of those of the keyboard.
fn readable(formula: &str) -> String {
    formula.replace("sqrt(", "√(").replace('-', "−")
}

#[cfg(test)]
mod tests;
