//! Writing a scene back: sections in the order of the reference, defaults left out, numbers as short as they can be.
#![expect(clippy::float_cmp, reason = "a key is left out where it is exactly its default")]

use super::file::{
    DetectorFile, EdgesFile, ExpectFile, FORMAT, GridFile, LayerFile, MirrorFile, PacketFile, PatternFile, QuantumFile,
    RegionFile, SceneFile, ShapeFile, SignalFile, SolverFile, SourceFile, SourcePlace, TransducersFile, ValueFile,
    ViewFile,
};
use super::scenario::{BackendChoice, Brightness, ColorRange, Flow, Opacity, Orbit, Parameter, TimeSpec, ViewMode};
use super::trajectories;
use super::write_theory;
use crate::field::Precision;
use crate::grid::Edge;
use crate::physics::mirror::{Drive, MirrorMethod};
use crate::physics::{Mode, Reading};
use std::fmt::Write;
use std::path::Path;

/// A number as short as it can be read back exactly.
pub(super) fn float(number: f64) -> String {
    let size = number.abs();
    if !number.is_finite() || size == 0.0 || (1e-4..1e15).contains(&size) {
        format!("{number:?}").replace("NaN", "nan")
    } else {
        format!("{number:e}")
    }
}

pub(super) fn floats(list: &[f64]) -> String {
    let list: Vec<String> = list.iter().map(|number| float(*number)).collect();
    format!("[{}]", list.join(", "))
}

fn points<P: AsRef<[f64]>>(list: &[P]) -> String {
    let list: Vec<String> = list.iter().map(|point| floats(point.as_ref())).collect();
    format!("[{}]", list.join(", "))
}

/// A basic string; control characters are escaped.
pub(super) fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A text of several lines in triple quotes.
fn long_text(long: &str) -> String {
    if !long.contains('\n') {
        return text(long);
    }
    let lines: Vec<String> = long
        .split('\n')
        .map(|line| {
            let quoted = text(line);
            let inner = &quoted[1..quoted.len() - 1];
            // Single quotes may stand as they are; three in a row would end the text.
            if inner.contains("\\\"\\\"\\\"") {
                inner.to_owned()
            } else {
                inner.replace("\\\"", "\"")
            }
        })
        .collect();
    let body = lines.join("\n");
    // A quote at the very end would join the closing three.
    let body = match body.strip_suffix('"') {
        Some(rest) if !rest.ends_with('\\') => format!("{rest}\\\""),
        _ => body,
    };
    format!("\"\"\"\n{body}\"\"\"")
}

fn path(path: &Path) -> String {
    // Forward slashes work everywhere, so that a scene can be taken to another system.
    text(&path.to_string_lossy().replace('\\', "/"))
}

/// Keys and sections, one a line.
pub(super) struct Writer {
    out: String,
}

impl Writer {
    fn section(&mut self, name: &str) {
        let _ = writeln!(self.out, "\n[{name}]");
    }
    pub fn item(&mut self, name: &str) {
        let _ = writeln!(self.out, "\n[[{name}]]");
    }
    pub fn key(&mut self, key: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.out, "{key} = {value}");
    }
    pub fn key_unless(&mut self, default: bool, key: &str, value: impl std::fmt::Display) {
        if !default {
            self.key(key, value);
        }
    }
    pub fn number(&mut self, key: &str, value: f64) {
        self.key(key, float(value));
    }
    pub fn optional(&mut self, key: &str, value: Option<f64>) {
        if let Some(value) = value {
            self.number(key, value);
        }
    }
}

impl SceneFile {
    /// The scene as a text that reads back to the same scene.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut w = Writer {
            out: format!("format = {FORMAT}\n"),
        };
        w.key_unless(self.title.is_empty(), "title", text(&self.title));
        w.key_unless(self.about.is_empty(), "about", long_text(&self.about));
        let tags: Vec<String> = self.tags.iter().map(|tag| text(tag)).collect();
        w.key_unless(tags.is_empty(), "tags", format!("[{}]", tags.join(", ")));
        grid(&mut w, &self.grid);
        if let Some(quantum) = &self.quantum {
            quantum_section(&mut w, quantum);
        }
        if let Some(acoustic) = &self.acoustic {
            w.section("acoustic");
            w.number("speed", acoustic.speed);
            w.number("density", acoustic.density);
            if let Some(law) = &acoustic.attenuation {
                let [at, value, exponent] = [law.at, law.value, law.exponent].map(float);
                let band = floats(&law.band);
                w.key(
                    "attenuation",
                    format!("{{ at = {at}, value = {value}, exponent = {exponent}, band = {band} }}"),
                );
            }
        }
        time(&mut w, &self.time);
        solver(&mut w, &self.solver);
        for packet in &self.packets {
            packet_item(&mut w, packet);
        }
        for state in &self.eigenstates {
            w.item("eigenstate");
            w.key("level", state.level);
            w.key_unless(state.weight == 1.0, "weight", float(state.weight));
            w.key_unless(state.phase == 0.0, "phase", float(state.phase));
        }
        for pulse in &self.pulses {
            w.item("pulse");
            w.key("center", floats(&pulse.center));
            w.number("width", pulse.width);
            w.key_unless(pulse.amplitude == 1.0, "amplitude", float(pulse.amplitude));
        }
        if let Some(file) = &self.initial {
            w.section("initial");
            w.key("file", path(file));
        }
        for layer in &self.layers {
            w.item("layer");
            for (key, value) in layer_keys(layer) {
                w.key(key, value);
            }
        }
        for source in &self.sources {
            source_item(&mut w, source);
        }
        for detector in &self.detectors {
            detector_item(&mut w, detector);
        }
        if let Some(mirror) = &self.mirror {
            mirror_section(&mut w, mirror);
        }
        view(&mut w, &self.view);
        for camera in &self.cameras {
            w.item("camera");
            w.number("at", camera.at);
            for (key, value) in orbit_keys(&camera.orbit) {
                w.key(key, value);
            }
        }
        for note in &self.notes {
            write_theory::note(&mut w, note);
        }
        for theory in &self.theories {
            write_theory::theory(&mut w, theory);
        }
        for trajectory in &self.trajectories {
            trajectories::write(&mut w, trajectory);
        }
        for expect in &self.expectations {
            expect_item(&mut w, expect);
        }
        if let Some(sweep) = &self.sweep {
            let list = |texts: &[String]| {
                let texts: Vec<String> = texts.iter().map(|one| text(one)).collect();
                format!("[{}]", texts.join(", "))
            };
            w.section("sweep");
            w.key("vary", list(&sweep.vary));
            w.key("measure", list(&sweep.measure));
            w.key_unless(sweep.theory.is_empty(), "theory", text(&sweep.theory));
        }
        if let Some(room) = &self.room {
            w.section("room");
            w.key_unless(room.at.is_empty(), "at", text(&room.at));
            if let Some(dry) = &room.dry {
                w.key("dry", text(&dry.to_string_lossy()));
            }
        }
        w.out
    }
}

fn grid(w: &mut Writer, grid: &GridFile) {
    w.section("grid");
    w.key("size", format!("{:?}", grid.size));
    w.number("spacing", grid.spacing);
    match &grid.edges {
        EdgesFile::All(edge) => w.key_unless(*edge == Edge::Wall, "edges", text(edge.as_str())),
        EdgesFile::PerAxis(list) => {
            let words: Vec<String> = list.iter().map(|edge| text(edge.as_str())).collect();
            w.key("edges", format!("[{}]", words.join(", ")));
        }
    }
    if let Some(width) = grid.absorb_width {
        w.key("absorb_width", width);
    }
}

fn quantum_section(w: &mut Writer, quantum: &QuantumFile) {
    w.section("quantum");
    w.optional("mass", quantum.mass);
    w.optional("hopping", quantum.hopping);
    w.key_unless(quantum.interaction == 0.0, "interaction", float(quantum.interaction));
    w.key_unless(
        quantum.cross_interaction == 0.0,
        "cross_interaction",
        float(quantum.cross_interaction),
    );
    w.key_unless(quantum.flux == 0.0, "flux", float(quantum.flux));
    w.key_unless(quantum.rotation == 0.0, "rotation", float(quantum.rotation));
    if let Some(exchange) = quantum.exchange {
        w.key("exchange", text(exchange.as_str()));
    }
}

fn time(w: &mut Writer, time: &TimeSpec) {
    if *time == TimeSpec::default() {
        return;
    }
    w.section("time");
    w.optional("step", time.step);
    w.optional("end", time.end);
    w.key_unless(!time.imaginary, "imaginary", true);
}

fn solver(w: &mut Writer, solver: &SolverFile) {
    if *solver == SolverFile::default() {
        return;
    }
    w.section("solver");
    if let Some(method) = &solver.method {
        w.key("method", text(method));
    }
    w.key_unless(
        solver.backend == BackendChoice::Auto,
        "backend",
        text(solver.backend.as_str()),
    );
    w.key_unless(
        solver.precision == Precision::Single,
        "precision",
        text(solver.precision.as_str()),
    );
    w.key_unless(solver.variant == "auto", "variant", text(&solver.variant));
    for (key, value) in &solver.parameters {
        let value = match value {
            Parameter::Integer(number) => number.to_string(),
            Parameter::Number(number) => float(*number),
            Parameter::Word(word) => text(word),
            Parameter::Integers(list) => format!("{list:?}"),
        };
        let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        let key = if plain { key.clone() } else { text(key) };
        w.key(&key, value);
    }
}

fn packet_item(w: &mut Writer, packet: &PacketFile) {
    w.item("packet");
    w.key("center", floats(&packet.center));
    w.key("width", floats(&packet.width));
    w.key_unless(packet.momentum.is_empty(), "momentum", floats(&packet.momentum));
    w.key_unless(packet.weight == 1.0, "weight", float(packet.weight));
}

/// The keys of a layer; one list for headings and inline tables.
fn layer_keys(layer: &LayerFile) -> Vec<(&'static str, String)> {
    let mut keys = vec![("sets", text(layer.sets.as_str()))];
    if let Some(axis) = layer.axis {
        keys.push(("axis", text(LayerFile::AXES[axis.min(2)].0)));
    }
    keys.push(("shape", text(layer.shape.as_str())));
    match &layer.shape {
        ShapeFile::Everywhere => {}
        ShapeFile::Box { min, max } => keys.extend([("min", floats(min)), ("max", floats(max))]),
        ShapeFile::Disk { center, radius } => keys.extend([("center", floats(center)), ("radius", float(*radius))]),
        ShapeFile::Ring { center, inner, outer } => {
            keys.extend([
                ("center", floats(center)),
                ("inner", float(*inner)),
                ("outer", float(*outer)),
            ]);
        }
        ShapeFile::Polygon { points: list } => keys.push(("points", points(list))),
        ShapeFile::Stroke { points: list, radius } => {
            keys.extend([("points", points(list)), ("radius", float(*radius))]);
        }
        ShapeFile::Slits {
            x,
            thickness,
            centers,
            opening,
        } => keys.extend([
            ("x", float(*x)),
            ("thickness", float(*thickness)),
            ("centers", floats(centers)),
            ("opening", float(*opening)),
        ]),
        ShapeFile::Image { file } | ShapeFile::Array { file } => keys.push(("file", path(file))),
    }
    match &layer.value {
        None => {}
        Some(ValueFile::Number(number)) => keys.push(("value", float(*number))),
        Some(ValueFile::Formula(formula)) => keys.push(("value", text(formula))),
    }
    if layer.mode != Mode::Set {
        keys.push(("mode", text(layer.mode.as_str())));
    }
    if let Some(drive) = &layer.drive {
        keys.push(("drive", text(drive)));
    }
    if let Some(pole) = layer.pole {
        keys.extend([("high", float(pole.high)), ("corner", float(pole.corner))]);
    }
    keys
}

fn source_item(w: &mut Writer, source: &SourceFile) {
    w.item("source");
    match &source.place {
        SourcePlace::Point(at) => w.key("at", floats(at)),
        SourcePlace::Line { from, to } => {
            w.key("from", floats(from));
            w.key("to", floats(to));
        }
        SourcePlace::Points { points: list, delays } => {
            w.key("points", points(list));
            w.key_unless(delays.is_empty(), "delays", floats(delays));
        }
        SourcePlace::Disk { center, radius, normal } => {
            w.key("center", floats(center));
            w.number("radius", *radius);
            w.key("normal", text(LayerFile::AXES[*normal].0));
        }
    }
    match &source.signal {
        SignalFile::Ricker { frequency } => {
            w.key("signal", text("ricker"));
            w.number("frequency", *frequency);
        }
        SignalFile::Sine { frequency } => {
            w.key("signal", text("sine"));
            w.number("frequency", *frequency);
        }
        SignalFile::Burst { frequency, cycles } => {
            w.key("signal", text("burst"));
            w.number("frequency", *frequency);
            w.number("cycles", *cycles);
        }
        SignalFile::Chirp {
            frequency,
            to_frequency,
            duration,
        } => {
            w.key("signal", text("chirp"));
            w.number("frequency", *frequency);
            w.number("to_frequency", *to_frequency);
            w.number("duration", *duration);
        }
        SignalFile::File { file, rate } => {
            w.key("signal", text("file"));
            w.key("file", path(file));
            w.optional("rate", *rate);
        }
    }
    w.key_unless(
        source.pattern == PatternFile::Monopole,
        "pattern",
        text(source.pattern.as_str()),
    );
    w.key_unless(source.direction.is_empty(), "direction", floats(&source.direction));
    w.key_unless(source.phase == 0.0, "phase", float(source.phase));
    w.key_unless(source.amplitude == 1.0, "amplitude", float(source.amplitude));
    w.key_unless(source.delay == 0.0, "delay", float(source.delay));
    w.key_unless(source.velocity.is_empty(), "velocity", floats(&source.velocity));
}

fn detector_item(w: &mut Writer, detector: &DetectorFile) {
    w.item("detector");
    w.key("name", text(&detector.name));
    match &detector.region {
        RegionFile::Everywhere => {}
        RegionFile::Point(at) => w.key("at", floats(at)),
        RegionFile::Line { from, to } => {
            w.key("from", floats(from));
            w.key("to", floats(to));
        }
        RegionFile::Box { min, max } => {
            w.key("region", format!("{{ min = {}, max = {} }}", floats(min), floats(max)));
        }
    }
    if let Some(measure) = detector.measure {
        w.key("measure", text(measure.as_str()));
    }
    if let Some(every) = detector.every {
        w.key("every", every.to_string());
    }
    w.key_unless(
        detector.reading == Reading::Itself,
        "as",
        text(detector.reading.as_str()),
    );
    w.optional("over", detector.over);
    w.key_unless(detector.direction.is_empty(), "direction", floats(&detector.direction));
}

fn mirror_section(w: &mut Writer, mirror: &MirrorFile) {
    w.section("mirror");
    let word = MirrorMethod::ALL
        .iter()
        .find(|(_, method)| *method == mirror.method)
        .map_or("", |(word, _)| word);
    w.key("method", text(word));
    w.number("at", mirror.at);
    if let Some(transducers) = &mirror.transducers {
        let table = match transducers {
            TransducersFile::Ring { center, radius, count } => {
                let (center, radius) = (floats(center), float(*radius));
                format!("{{ shape = \"ring\", center = {center}, radius = {radius}, count = {count} }}")
            }
            TransducersFile::Line { from, to, count } => {
                format!(
                    "{{ shape = \"line\", from = {}, to = {}, count = {count} }}",
                    floats(from),
                    floats(to)
                )
            }
            TransducersFile::Edges => "{ shape = \"edges\" }".to_owned(),
            TransducersFile::Points { points: list } => {
                format!("{{ shape = \"points\", points = {} }}", points(list))
            }
        };
        w.key("transducers", table);
    }
    if let Some(playing) = mirror.playing {
        w.key("playing", playing.to_string());
    }
    w.optional("record", mirror.record);
    w.key_unless(mirror.noise == 0.0, "noise", float(mirror.noise));
    let layers: Vec<String> = mirror
        .perturbation
        .iter()
        .map(|layer| {
            let keys: Vec<String> = layer_keys(layer)
                .into_iter()
                .map(|(key, value)| format!("{key} = {value}"))
                .collect();
            format!("{{ {} }}", keys.join(", "))
        })
        .collect();
    w.key_unless(layers.is_empty(), "perturbation", format!("[{}]", layers.join(", ")));
    w.key_unless(!mirror.keep_flux, "keep_flux", "true".to_owned());
    w.key_unless(mirror.seed == 1, "seed", mirror.seed.to_string());
    w.key_unless(mirror.drive == Drive::default(), "drive", text(mirror.drive.as_str()));
    w.optional("regularization", mirror.regularization);
}

fn view(w: &mut Writer, view: &ViewFile) {
    if *view == ViewFile::default() {
        return;
    }
    w.section("view");
    if let Some(quantity) = view.quantity {
        w.key("quantity", text(quantity.as_str()));
    }
    w.key_unless(view.colormap == "auto", "colormap", text(&view.colormap));
    match view.range {
        ColorRange::Auto => {}
        ColorRange::Locked => w.key("range", text("locked")),
        ColorRange::Fixed(low, high) => w.key("range", floats(&[low, high])),
    }
    let brightness = view.brightness;
    w.key_unless(
        brightness == Brightness::Linear,
        "brightness",
        text(brightness.as_str()),
    );
    w.key_unless(view.mode == ViewMode::Plane, "mode", text(view.mode.as_str()));
    if let Some(camera) = &view.camera {
        let keys: Vec<String> = orbit_keys(camera)
            .into_iter()
            .map(|(key, value)| format!("{key} = {value}"))
            .collect();
        let keys = keys.join(", ");
        w.key(
            "camera",
            if keys.is_empty() {
                "{}".to_owned()
            } else {
                format!("{{ {keys} }}")
            },
        );
    }
    w.key_unless(view.slices.is_empty(), "slices", floats(&view.slices));
    match &view.opacity {
        Opacity::Soft => {}
        Opacity::Points(list) => w.key("opacity", points(list)),
        preset => w.key("opacity", text(preset.as_str().unwrap_or("soft"))),
    }
    w.key_unless(!view.shading, "shading", true);
    w.optional("over", view.over);
    w.key_unless(view.flow == Flow::None, "flow", text(view.flow.as_str()));
    match view.cover[..] {
        [] => {}
        [time] => w.key("cover", float(time)),
        _ => w.key("cover", floats(&view.cover)),
    }
    let words: Vec<String> = (view.plots.iter().filter_map(|plot| plot.word())).map(text).collect();
    w.key_unless(words.is_empty(), "plots", format!("[{}]", words.join(", ")));
    if let Some([min, max]) = &view.region {
        w.key("region", format!("{{ min = {}, max = {} }}", floats(min), floats(max)));
    }
}

/// What an orbit has beside the usual.
fn orbit_keys(orbit: &Orbit) -> Vec<(&'static str, String)> {
    let whole = Orbit::default();
    let mut keys = Vec::new();
    for (key, value, usual) in [
        ("azimuth", orbit.azimuth, whole.azimuth),
        ("elevation", orbit.elevation, whole.elevation),
        ("zoom", orbit.zoom, whole.zoom),
    ] {
        if value != usual {
            keys.push((key, float(value)));
        }
    }
    keys.extend(orbit.target.map(|target| ("target", floats(&target))));
    keys
}

fn expect_item(w: &mut Writer, expect: &ExpectFile) {
    w.item("expect");
    if let Some(detector) = &expect.detector {
        w.key("detector", text(detector));
    }
    if let Some(observable) = &expect.observable {
        w.key("observable", text(observable));
    }
    w.number("at", expect.at);
    w.number("value", expect.value);
    w.number("tolerance", expect.tolerance);
    w.key_unless(expect.because.is_empty(), "because", text(&expect.because));
    w.key_unless(expect.ask.is_empty(), "ask", text(&expect.ask));
    if expect.ask_at != 0.0 {
        w.number("ask_at", expect.ask_at);
    }
}
