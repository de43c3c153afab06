//! The contents of a scene, as rows of name and value for the reader.

use super::ticks::{number, typeset};
use super::units::Units;
use crate::physics::expression::{Expression, SPACE};
use crate::physics::{Detector, Equation, Measure, Reading, Region, Sets};
use crate::scene::file::{
    EdgesFile, LayerFile, PacketFile, PatternFile, ShapeFile, SignalFile, SourceFile, SourcePlace, ValueFile,
};
use crate::scene::{Scenario, SceneFile};

/// Rows that describe the run: grid, medium, waves, time, method.
pub fn rows(file: &SceneFile, scenario: &Scenario, time_step: f64) -> Vec<(String, String)> {
    let sound = scenario.model().equation() == Equation::Acoustic;
    let (length, time) = if sound { (" m", " s") } else { ("", "") };
    let grid = scenario.grid();
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
        row("Mirror", mirror.method.as_str().to_owned());
    }
    for detector in scenario.detectors() {
        row("Detector", of_detector(detector, scenario));
    }
    row("Step Δt", format!("{}{time}", figure(time_step.abs())));
    if let Some(end) = file.time.end {
        // As the clock of the run shows it.
        let end = Units::of(scenario, time_step).clock(end, time_step);
        row("Runs until", format!("t = {end}"));
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

/// What a layer sets, to which value, and where, in so many dimensions; sound has units.
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
    format!("{}{value}{driven}, {shape}", layer.sets.as_str())
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
mod tests {
    use super::{figure, rows, within};
    use crate::scene::presets;
    use crate::solver;

    /// Who is to foretell what a detector records reads what that is, in which unit, and where.
    #[test]
    fn detectors_say_what_they_record_and_where() {
        let preset = presets::find("pond").unwrap();
        let (file, scenario) = solver::read_scene_text(preset.text, None, &[]).unwrap();
        let told = rows(&file, &scenario, 5e-5);
        let detectors: Vec<&str> = told
            .iter()
            .filter(|(name, _)| name == "Detector")
            .map(|(_, value)| value.as_str())
            .collect();
        assert_eq!(detectors.len(), 4);
        assert_eq!(detectors[0], "middle: pressure in Pa at (4.3904, 4.3904) m");
        assert_eq!(detectors[3], "all: energy in J/m everywhere, every 8 steps");
        let preset = presets::find("snell").unwrap();
        let (file, scenario) = solver::read_scene_text(preset.text, None, &[]).unwrap();
        let layer = "speed = 3000 m/s, box from (0, 0) to (1.845, 0.57) m";
        let layer = ("Layer".to_owned(), layer.to_owned());
        assert!(rows(&file, &scenario, 1e-6).contains(&layer));
        let preset = presets::find("doppler").unwrap();
        let (file, scenario) = solver::read_scene_text(preset.text, None, &[]).unwrap();
        let source = "sine, 245 Hz, amplitude 400000 Pa m²/s², at (4, 6) m at the start, moving with (171.5, 0) m/s";
        assert!(rows(&file, &scenario, 1e-5).contains(&("Source".to_owned(), source.to_owned())));
    }

    /// What a prediction of a sound needs: how strong a source is and which way it plays, which level is meant and over which time.
    #[test]
    fn sources_and_detectors_have_their_numbers() {
        let text = "format = 1\n[grid]\nsize = [40, 30]\nspacing = 0.1\n[acoustic]\n[time]\nstep = 1e-4\nend = 0.01\n\
                    [[source]]\nfrom = [1.0, 0.0]\nto = [1.0, 2.9]\nsignal = \"sine\"\nfrequency = 200.0\namplitude = 2.5\n\
                    pattern = \"dipole\"\ndirection = [1.0, 0.0]\ndelay = 0.002\n\
                    [[source]]\nat = [3.0, 1.0]\nsignal = \"ricker\"\nfrequency = 300.0\n\
                    [[detector]]\nname = \"ear\"\nat = [2.0, 1.0]\nas = \"level\"\nover = 0.005\nevery = 4\n\
                    [[layer]]\nsets = \"wall\"\nshape = \"slits\"\nx = 2.0\nthickness = 0.2\ncenters = [1.0, 2.0]\nopening = 0.3\n\
                    [[layer]]\nsets = \"wall\"\nshape = \"ring\"\ncenter = [3.0, 2.0]\ninner = 0.5\nouter = 0.7\n";
        let (file, scenario) = solver::read_scene_text(text, None, &[]).unwrap();
        let told = rows(&file, &scenario, 1e-4);
        let of = |name: &str| -> Vec<&str> {
            let all = told.iter().filter(|(own, _)| own == name);
            all.map(|(_, value)| value.as_str()).collect()
        };
        assert_eq!(
            of("Source"),
            [
                "sine, 200 Hz, amplitude 2.5 Pa, dipole along (1, 0), 0.002 s late, from (1, 0) to (1, 2.9) m",
                "Ricker wavelet, 300 Hz, amplitude 1 Pa m²/s², at (3, 1) m"
            ]
        );
        assert_eq!(
            of("Detector"),
            ["ear: level in dB re 20 µPa at (2, 1) m, with a time constant of 0.005 s, every 4 steps"]
        );
        assert_eq!(
            of("Layer"),
            [
                "wall, screen at x = 2 m, 0.2 m thick, with openings of 0.3 m at y = 1, 2 m",
                "wall, ring of radii 0.5 to 0.7 m about (3, 2) m"
            ]
        );
    }

    /// A ball is no disk; a formula that is a number is told as one, and others in the signs of print.
    #[test]
    fn layers_say_what_they_are() {
        let told = |name: &str| {
            let (file, scenario) = solver::read_scene_text(presets::find(name).unwrap().text, None, &[]).unwrap();
            let rows = rows(&file, &scenario, 1e-4).into_iter();
            let layers = rows.filter(|(name, _)| name == "Layer").map(|(_, value)| value);
            layers.collect::<Vec<String>>()
        };
        let room = told("sabine");
        assert_eq!(room[0], "impedance = 31.3014, everywhere");
        assert_eq!(room[1], "wall, ball of radius 0.55 m about (1.3, 1.1, 0.9) m");
        let atom = told("laser-atom");
        assert_eq!(atom[0], "potential = −1/√((x − 255.875)^2 + 2), everywhere");
        assert!(atom[1].contains(", times 0.055*max(0, min(1, min(t, 897.6 − t)/179.52))*sin(0.07*t), "));
    }

    /// What is predicted and what was measured have the same decimals: one more than the tolerance.
    #[test]
    fn values_have_one_decimal_more_than_their_tolerance() {
        for (value, tolerance, text) in [
            (255.4196, 0.005, "255.4196"),
            (255.419, 0.005, "255.4190"),
            (0.140502, 0.003, "0.1405"),
            (0.13864, 0.015, "0.1386"),
            (-0.25, 2e-5, "−0.250000"),
            (0.0, 0.01, "0.000"),
            (0.0, 1e-9, "0"),
            (343.0, 5.0, "343.0"),
            (34300.0, 200.0, "34300"),
            (3.0e-7, 1e-9, "3.000 × 10⁻⁷"),
            (0.5, 0.0, "0.5"),
            (f64::NAN, 0.1, "NaN"),
        ] {
            assert_eq!(within(value, tolerance), text, "{value} ± {tolerance}");
        }
    }

    #[test]
    fn numbers_have_six_figures_at_most() {
        for (value, text) in [
            (0.5, "0.5"),
            (1.0, "1"),
            (0.0343, "0.0343"),
            (-2.5, "−2.5"),
            (343.0, "343"),
            (0.7234567, "0.723457"),
            (123456.7, "123457"),
            (0.0, "0"),
            (1.5e-5, "1.5 × 10⁻⁵"),
            (6e7, "6 × 10⁷"),
        ] {
            assert_eq!(figure(value), text);
        }
    }
}
