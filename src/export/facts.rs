//! What a scene consists of, in rows of name and value for people to read.

use super::ticks::short;
use crate::physics::{Equation, Sets};
use crate::scene::file::{EdgesFile, LayerFile, PacketFile, SignalFile, ValueFile};
use crate::scene::{Scenario, SceneFile};

/// Rows that say what runs: grid, medium, waves, time, method.
#[must_use]
pub fn rows(file: &SceneFile, scenario: &Scenario, time_step: f64) -> Vec<(String, String)> {
    let sound = scenario.model().equation() == Equation::Acoustic;
    let (length, time) = if sound { (" m", " s") } else { ("", "") };
    let grid = scenario.grid();
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut row = |name: &str, value: String| rows.push((name.to_owned(), value));
    row("Grid", format!("{grid} sites, {}{length} apart", short(grid.spacing())));
    row("Edges", edges(&file.grid.edges));
    if let Some(acoustic) = &file.acoustic {
        row("Speed of sound", format!("{} m/s", short(acoustic.speed)));
        row("Density", format!("{} kg/m³", short(acoustic.density)));
    }
    if let Some(quantum) = scenario.model().quantum() {
        if let Some(mass) = file.quantum.as_ref().and_then(|quantum| quantum.mass) {
            row("Mass m", short(mass));
        }
        row("Hopping J", short(quantum.hopping));
    }
    if let Some(quantum) = &file.quantum {
        for (name, value) in [("Interaction g", quantum.interaction), ("Flux per plaquette", quantum.flux)] {
            if value != 0.0 {
                row(name, short(value));
            }
        }
    }
    for packet in &file.packets {
        row("Packet", of_packet(packet));
    }
    for state in &file.eigenstates {
        row("Eigenstate", format!("level {}, weight {}", state.level, short(state.weight)));
    }
    for pulse in &file.pulses {
        let at = point(&pulse.center);
        let (width, height) = (short(pulse.width), short(pulse.amplitude));
        row("Pulse", format!("{height} Pa at {at} m, {width} m wide"));
    }
    for source in &file.sources {
        row("Source", of_signal(&source.signal));
    }
    for layer in &file.layers {
        row("Layer", of_layer(layer));
    }
    if let Some(mirror) = &file.mirror {
        row("Mirror", mirror.method.as_str().to_owned());
    }
    for detector in &file.detectors {
        row("Detector", detector.name.clone());
    }
    row("Step Δt", format!("{}{time}", short(time_step.abs())));
    if let Some(end) = file.time.end {
        row("Runs until", format!("t = {}{time}", short(end)));
    }
    let solver = scenario.solver();
    row("Method", format!("{}, {} precision", solver.method, solver.precision.as_str()));
    rows
}

fn edges(edges: &EdgesFile) -> String {
    match edges {
        EdgesFile::All(edge) => edge.as_str().to_owned(),
        EdgesFile::PerAxis(list) => {
            let words = list.iter().zip(["x", "y", "z"]);
            let words: Vec<String> = words.map(|(edge, axis)| format!("{} along {axis}", edge.as_str())).collect();
            words.join(", ")
        }
    }
}

fn point(numbers: &[f64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(|number| short(*number)).collect();
    match numbers.as_slice() {
        [one] => one.clone(),
        all => format!("({})", all.join(", ")),
    }
}

fn of_packet(packet: &PacketFile) -> String {
    let size = packet.momentum.iter().map(|k| k * k).sum::<f64>().sqrt();
    let moves = if size > 0.0 {
        let wavelength = std::f64::consts::TAU / size;
        format!("k = {}, λ = {}", point(&packet.momentum), short(wavelength))
    } else {
        "at rest".to_owned()
    };
    format!("at {}, σ = {}, {moves}", point(&packet.center), point(&packet.width))
}

fn of_signal(signal: &SignalFile) -> String {
    match signal {
        SignalFile::Ricker { frequency } => format!("Ricker wavelet, {} Hz", short(*frequency)),
        SignalFile::Sine { frequency } => format!("sine, {} Hz", short(*frequency)),
        SignalFile::Burst { frequency, cycles } => {
            format!("burst of {} periods, {} Hz", short(*cycles), short(*frequency))
        }
        SignalFile::Chirp {
            frequency,
            to_frequency,
            duration,
        } => {
            let [from, to, lasts] = [frequency, to_frequency, duration].map(|number| short(*number));
            format!("chirp from {from} to {to} Hz in {lasts} s")
        }
        SignalFile::File { file, .. } => format!("the sound {}", file.display()),
    }
}

fn of_layer(layer: &LayerFile) -> String {
    let shape = layer.shape.as_str();
    let value = match &layer.value {
        _ if layer.sets == Sets::Wall => String::new(),
        Some(ValueFile::Number(number)) => format!(" = {}", short(*number)),
        Some(ValueFile::Formula(formula)) => format!(" = {formula}"),
        None => String::new(),
    };
    let driven = layer.drive.as_ref().map_or(String::new(), |drive| format!(", times {drive}"));
    format!("{}, {shape}{value}{driven}", layer.sets.as_str())
}
