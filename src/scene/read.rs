//! From the tree to [`SceneFile`]: types, words and unknown keys. Ranges are the business of [`super::build`].

use super::decode::{Decode, Diagnostics, Section};
use super::document::{Document, Node, Value};
use super::file::{
    AcousticFile, DetectorFile, EdgesFile, EigenstateFile, ExpectFile, FORMAT, GridFile, LayerFile, MirrorFile,
    PacketFile, PatternFile, PulseFile, QuantumFile, RegionFile, RoomFile, SceneFile, SignalFile, SolverFile,
    SourceFile, SourcePlace, SweepFile, TransducersFile, ViewFile,
};
use super::read_layer::layer;
use super::read_theory;
use super::read_view::{camera_key, view};
use super::scenario::{BackendChoice, Parameter, TimeSpec};
use super::trajectories;
use crate::field::Precision;
use crate::grid::Edge;
use crate::physics::mirror::{Drive, MirrorMethod};
use crate::physics::{Attenuation, Exchange, Measure, Reading};
use std::path::PathBuf;

/// Reads the whole document; what is wrong is noted, and a stand-in takes its place.
pub(super) fn scene(document: &Document, found: &mut Diagnostics) -> SceneFile {
    let Some(mut root) = Section::open(&document.root, "", found) else {
        return SceneFile::default();
    };
    match root.node("format").map(|node| &node.value) {
        Some(Value::Integer(number)) if *number == i128::from(FORMAT) => {}
        Some(other) => found.value(
            "format",
            format!("{} is not a format that this version reads", other.shown()),
            format!("write `format = {FORMAT}`, or use a newer version of the program"),
        ),
        None => found.key(
            "format",
            "is missing",
            format!("begin the file with `format = {FORMAT}`"),
        ),
    }
    let scene = SceneFile {
        title: root.get("title", found).unwrap_or_default(),
        about: root.get("about", found).unwrap_or_default(),
        tags: root.get("tags", found).unwrap_or_default(),
        grid: if let Some(section) = root.table("grid", found) {
            grid(section, found)
        } else {
            if !root.has("grid") {
                let remedy = "add a section [grid] with `size = [512, 512]` and `spacing = 0.5`";
                found.key("grid", "is missing", remedy);
            }
            GridFile::default()
        },
        quantum: root.table("quantum", found).map(|section| quantum(section, found)),
        acoustic: root.table("acoustic", found).map(|section| acoustic(section, found)),
        time: root
            .table("time", found)
            .map_or_else(TimeSpec::default, |section| time(section, found)),
        solver: root
            .table("solver", found)
            .map_or_else(SolverFile::default, |section| solver(section, found)),
        packets: root.tables("packet", found, packet),
        eigenstates: root.tables("eigenstate", found, eigenstate),
        pulses: root.tables("pulse", found, pulse),
        initial: root.table("initial", found).map(|mut section| {
            let file = section.need::<PathBuf>("file", "\"psi.npy\"", found);
            section.close(found, |_| None);
            file
        }),
        layers: root.tables("layer", found, layer),
        sources: root.tables("source", found, source),
        detectors: root.tables("detector", found, detector),
        mirror: root.table("mirror", found).map(|section| mirror(section, found)),
        view: root
            .table("view", found)
            .map_or_else(ViewFile::default, |section| view(section, found)),
        cameras: root.tables("camera", found, camera_key),
        notes: root.tables("note", found, read_theory::note),
        theories: root.tables("theory", found, read_theory::theory),
        trajectories: root.tables("trajectory", found, trajectories::read),
        expectations: root.tables("expect", found, expect),
        sweep: root.table("sweep", found).map(|section| sweep(section, found)),
        room: root.table("room", found).map(|section| room(section, found)),
    };
    root.close(found, |key| {
        let singular = key.strip_suffix('s')?;
        let known = "packet eigenstate pulse layer source detector camera note expect";
        let is_known = known.split(' ').any(|section| section == singular);
        is_known.then(|| {
            (
                "there is no such section".to_owned(),
                format!("write [[{singular}]], once for each"),
            )
        })
    });
    scene
}

fn grid(mut section: Section<'_>, found: &mut Diagnostics) -> GridFile {
    let size = section.need("size", "[512, 512]", found);
    let spacing = section.need::<f64>("spacing", "0.5", found);
    let path = section.name("edges");
    let edges = match section.node("edges") {
        None => EdgesFile::All(Edge::Wall),
        Some(node) => edges(node, &path, found),
    };
    let absorb_width = section.get("absorb_width", found);
    section.close(found, |_| None);
    GridFile {
        size,
        spacing,
        edges,
        absorb_width,
    }
}

fn edges(node: &Node, path: &str, found: &mut Diagnostics) -> EdgesFile {
    match &node.value {
        Value::Array(items) => EdgesFile::PerAxis(
            items
                .iter()
                .enumerate()
                .map(|(axis, item)| {
                    super::decode::word(item, &format!("{path}.{axis}"), found, &Edge::ALL).unwrap_or(Edge::Wall)
                })
                .collect(),
        ),
        _ => EdgesFile::All(super::decode::word(node, path, found, &Edge::ALL).unwrap_or(Edge::Wall)),
    }
}

fn quantum(mut section: Section<'_>, found: &mut Diagnostics) -> QuantumFile {
    let quantum = QuantumFile {
        mass: section.get("mass", found),
        hopping: section.get("hopping", found),
        interaction: section.get("interaction", found).unwrap_or(0.0),
        cross_interaction: section.get("cross_interaction", found).unwrap_or(0.0),
        flux: section.get("flux", found).unwrap_or(0.0),
        rotation: section.get("rotation", found).unwrap_or(0.0),
        exchange: section.word("exchange", &Exchange::ALL, found),
    };
    section.close(found, |_| None);
    quantum
}

fn acoustic(mut section: Section<'_>, found: &mut Diagnostics) -> AcousticFile {
    let default = AcousticFile::default();
    let acoustic = AcousticFile {
        speed: section.get("speed", found).unwrap_or(default.speed),
        density: section.get("density", found).unwrap_or(default.density),
        attenuation: section
            .table("attenuation", found)
            .map(|section| attenuation(section, found)),
    };
    section.close(found, |_| None);
    acoustic
}

fn attenuation(mut section: Section<'_>, found: &mut Diagnostics) -> Attenuation {
    let at = section.need("at", "1e6", found);
    let band: Option<[f64; 2]> = section.get("band", found);
    let law = Attenuation {
        at,
        value: section.need("value", "50.0", found),
        exponent: section.get("exponent", found).unwrap_or(1.0),
        band: band.unwrap_or([at / 4.0, at * 4.0]),
    };
    section.close(found, |_| None);
    law
}

/// A number or the word `auto`.
fn number_or_auto(section: &mut Section<'_>, key: &'static str, found: &mut Diagnostics) -> Option<f64> {
    let path = section.name(key);
    let node = section.node(key)?;
    match &node.value {
        Value::String(text) if text == "auto" => None,
        Value::String(_) => {
            let message = format!("{} is neither a number nor \"auto\"", node.value.shown());
            found.value(path, message, "write a number without quotes, or \"auto\"");
            None
        }
        _ => f64::decode(node, &path, found),
    }
}

fn time(mut section: Section<'_>, found: &mut Diagnostics) -> TimeSpec {
    let time = TimeSpec {
        step: number_or_auto(&mut section, "step", found),
        end: section.get("end", found),
        imaginary: section.get("imaginary", found).unwrap_or(false),
    };
    section.close(found, |_| None);
    time
}

fn solver(mut section: Section<'_>, found: &mut Diagnostics) -> SolverFile {
    let default = SolverFile::default();
    let method = section.get("method", found);
    let backend = section
        .word("backend", &BackendChoice::ALL, found)
        .unwrap_or(default.backend);
    let precision = section
        .word("precision", &Precision::ALL, found)
        .unwrap_or(default.precision);
    let variant = section.get("variant", found).unwrap_or(default.variant);
    // The rest are parameters; whether the method has them is for the solver table to say.
    let parameters = section
        .rest()
        .filter_map(|entry| {
            let path = section.name(&entry.key);
            parameter(&entry.node, &path, found).map(|value| (entry.key.clone(), value))
        })
        .collect();
    SolverFile {
        method,
        backend,
        precision,
        variant,
        parameters,
    }
}

fn parameter(node: &Node, path: &str, found: &mut Diagnostics) -> Option<Parameter> {
    match &node.value {
        Value::Integer(_) => i64::decode(node, path, found).map(Parameter::Integer),
        Value::Float(_) => f64::decode(node, path, found).map(Parameter::Number),
        Value::String(word) => Some(Parameter::Word(word.clone())),
        Value::Array(_) => Vec::<i64>::decode(node, path, found).map(Parameter::Integers),
        other => {
            let message = format!("{} is {}", other.shown(), other.kind());
            found.value(
                path,
                message,
                "a parameter is a number, a word or a list of whole numbers",
            );
            None
        }
    }
}

fn packet(mut section: Section<'_>, found: &mut Diagnostics) -> PacketFile {
    let packet = PacketFile {
        center: section.need("center", "[60.0, 128.0]", found),
        width: section.need("width", "[8.0, 8.0]", found),
        momentum: section.get("momentum", found).unwrap_or_default(),
        weight: section.get("weight", found).unwrap_or(1.0),
    };
    section.close(found, |_| None);
    packet
}

fn eigenstate(mut section: Section<'_>, found: &mut Diagnostics) -> EigenstateFile {
    let state = EigenstateFile {
        level: section.need("level", "0", found),
        weight: section.get("weight", found).unwrap_or(1.0),
        phase: section.get("phase", found).unwrap_or(0.0),
    };
    section.close(found, |_| None);
    state
}

fn sweep(mut section: Section<'_>, found: &mut Diagnostics) -> SweepFile {
    let sweep = SweepFile {
        vary: section.need("vary", "[\"packet.0.momentum.0=0.2..1.4/60\"]", found),
        measure: section.need("measure", "[\"norm@40\"]", found),
        theory: section.get("theory", found).unwrap_or_default(),
    };
    section.close(found, |_| None);
    sweep
}

fn room(mut section: Section<'_>, found: &mut Diagnostics) -> RoomFile {
    let room = RoomFile {
        at: section.get("at", found).unwrap_or_default(),
        dry: section.get("dry", found),
    };
    section.close(found, |_| None);
    room
}

fn pulse(mut section: Section<'_>, found: &mut Diagnostics) -> PulseFile {
    let pulse = PulseFile {
        center: section.need("center", "[1.0, 2.0]", found),
        width: section.need("width", "0.1", found),
        amplitude: section.get("amplitude", found).unwrap_or(1.0),
    };
    section.close(found, |_| None);
    pulse
}

fn source(mut section: Section<'_>, found: &mut Diagnostics) -> SourceFile {
    let place = source_place(&mut section, found);
    let signal = source_signal(&mut section, found);
    let source = SourceFile {
        place,
        signal,
        pattern: section.word("pattern", &PatternFile::WORDS, found).unwrap_or_default(),
        direction: section.get("direction", found).unwrap_or_default(),
        amplitude: section.get("amplitude", found).unwrap_or(1.0),
        delay: section.get("delay", found).unwrap_or(0.0),
        phase: section.get("phase", found).unwrap_or(0.0),
        velocity: section.get("velocity", found).unwrap_or_default(),
    };
    section.close(found, |key| {
        let known = [
            "at",
            "from",
            "to",
            "points",
            "delays",
            "center",
            "radius",
            "normal",
            "frequency",
            "cycles",
            "to_frequency",
            "duration",
            "file",
            "rate",
        ];
        known.contains(&key).then(|| {
            (
                "it does not belong to a source of this kind".to_owned(),
                "remove it, or change `signal` or the place".to_owned(),
            )
        })
    });
    source
}

fn source_place(section: &mut Section<'_>, found: &mut Diagnostics) -> SourcePlace {
    let ways = [
        section.has("at"),
        section.has("from") || section.has("to"),
        section.has("points"),
        section.has("center"),
    ];
    one_of_ways(
        section,
        ways,
        "`at`, `from` and `to`, `points`, or `center`",
        "at = [1.0, 2.0]",
        true,
        found,
    );
    if ways[0] {
        SourcePlace::Point(section.need("at", "[1.0, 2.0]", found))
    } else if ways[1] {
        SourcePlace::Line {
            from: section.need("from", "[1.0, 1.0]", found),
            to: section.need("to", "[1.0, 2.0]", found),
        }
    } else if ways[2] {
        SourcePlace::Points {
            points: points(section, found),
            delays: section.get("delays", found).unwrap_or_default(),
        }
    } else if ways[3] {
        SourcePlace::Disk {
            center: section.need("center", "[1.0, 1.0, 0.0]", found),
            radius: section.need("radius", "0.1", found),
            normal: if section.has("normal") {
                section.word("normal", &LayerFile::AXES, found).unwrap_or(2)
            } else {
                section.need::<String>("normal", "\"z\"", found);
                2
            },
        }
    } else {
        SourcePlace::Point(Vec::new())
    }
}

fn source_signal(section: &mut Section<'_>, found: &mut Diagnostics) -> SignalFile {
    let words = ["ricker", "sine", "burst", "chirp", "file"].map(|word| (word, word));
    let word = if section.has("signal") {
        section.word("signal", &words, found).unwrap_or("")
    } else {
        section.need::<String>("signal", "\"ricker\"", found);
        ""
    };
    let mut frequency = |section: &mut Section<'_>| section.need::<f64>("frequency", "1000.0", found);
    match word {
        "sine" => SignalFile::Sine {
            frequency: frequency(section),
        },
        "burst" => SignalFile::Burst {
            frequency: frequency(section),
            cycles: section.get("cycles", found).unwrap_or(5.0),
        },
        "chirp" => SignalFile::Chirp {
            frequency: frequency(section),
            to_frequency: section.need("to_frequency", "2000.0", found),
            duration: section.need("duration", "0.01", found),
        },
        "file" => SignalFile::File {
            file: section.need("file", "\"signal.wav\"", found),
            rate: section.get("rate", found),
        },
        "ricker" => SignalFile::Ricker {
            frequency: frequency(section),
        },
        // Already reported; any signal will do, and its keys are not asked for.
        _ => SignalFile::Ricker {
            frequency: section.get("frequency", found).unwrap_or(1.0),
        },
    }
}

fn points(section: &mut Section<'_>, found: &mut Diagnostics) -> Vec<Vec<f64>> {
    section.need("points", "[[1.0, 1.0], [1.0, 1.1]]", found)
}

/// Notes a fault unless exactly one (or, where it is not `required`, at most one) of several ways was taken.
fn one_of_ways(
    section: &Section<'_>,
    ways: impl AsRef<[bool]>,
    list: &str,
    example: &str,
    required: bool,
    found: &mut Diagnostics,
) {
    let count = ways.as_ref().iter().filter(|way| **way).count();
    if count > 1 {
        found.key(
            &section.path,
            format!("gives its place twice; {list} exclude each other"),
            "keep one of them",
        );
    } else if count == 0 && required {
        found.key(
            &section.path,
            format!("does not say where it is: {list} is missing"),
            format!("add e.g. `{example}`"),
        );
    }
}

fn detector(mut section: Section<'_>, found: &mut Diagnostics) -> DetectorFile {
    let name = section.need("name", "\"right\"", found);
    let ways = [
        section.has("at"),
        section.has("from") || section.has("to"),
        section.has("region"),
    ];
    one_of_ways(&section, ways, "`at`, `from` and `to`, or `region`", "", false, found);
    let region = if ways[0] {
        RegionFile::Point(section.need("at", "[1.0, 2.0]", found))
    } else if ways[1] {
        RegionFile::Line {
            from: section.need("from", "[1.0, 1.0]", found),
            to: section.need("to", "[1.0, 2.0]", found),
        }
    } else if let Some(mut region) = section.table("region", found) {
        let shape = RegionFile::Box {
            min: region.need("min", "[0.0, 0.0]", found),
            max: region.need("max", "[10.0, 10.0]", found),
        };
        region.close(found, |_| None);
        shape
    } else {
        RegionFile::Everywhere
    };
    let measure = section.word("measure", &Measure::ALL, found);
    let every = section.get("every", found);
    let reading = section.word("as", &Reading::ALL, found).unwrap_or_default();
    let over = section.get("over", found);
    let direction = section.get("direction", found).unwrap_or_default();
    section.close(found, |key| match key {
        "at" | "from" | "to" | "region" => {
            Some(("the place is given already".to_owned(), "keep one of them".to_owned()))
        }
        "min" | "max" => Some((
            "it belongs into `region`".to_owned(),
            "write `region = { min = [..], max = [..] }`".to_owned(),
        )),
        _ => None,
    });
    DetectorFile {
        name,
        region,
        measure,
        every,
        reading,
        over,
        direction,
    }
}

fn mirror(mut section: Section<'_>, found: &mut Diagnostics) -> MirrorFile {
    let method = if section.has("method") {
        section.word("method", &MirrorMethod::ALL, found)
    } else {
        section.need::<String>("method", "\"echo\"", found);
        None
    };
    let mirror = MirrorFile {
        method: method.unwrap_or(MirrorMethod::Echo),
        at: section.need("at", "40.0", found),
        transducers: section
            .table("transducers", found)
            .map(|table| transducers(table, found)),
        playing: section.get("playing", found),
        record: section.get("record", found),
        noise: section.get("noise", found).unwrap_or(0.0),
        perturbation: section.tables("perturbation", found, layer),
        keep_flux: section.get("keep_flux", found).unwrap_or(false),
        seed: section.get("seed", found).unwrap_or(1),
        drive: section.word("drive", &Drive::ALL, found).unwrap_or_default(),
        regularization: section.get("regularization", found),
    };
    section.close(found, |_| None);
    mirror
}

fn transducers(mut section: Section<'_>, found: &mut Diagnostics) -> TransducersFile {
    let words = ["ring", "line", "edges", "points"].map(|word| (word, word));
    let word = if section.has("shape") {
        section.word("shape", &words, found).unwrap_or("edges")
    } else {
        section.need::<String>("shape", "\"ring\"", found);
        "edges"
    };
    let transducers = match word {
        "ring" => TransducersFile::Ring {
            center: section.need("center", "[128.0, 128.0]", found),
            radius: section.need("radius", "100.0", found),
            count: section.need("count", "64", found),
        },
        "line" => TransducersFile::Line {
            from: section.need("from", "[10.0, 10.0]", found),
            to: section.need("to", "[10.0, 90.0]", found),
            count: section.need("count", "64", found),
        },
        "points" => TransducersFile::Points {
            points: points(&mut section, found),
        },
        _ => TransducersFile::Edges,
    };
    section.close(found, |_| None);
    transducers
}

fn expect(mut section: Section<'_>, found: &mut Diagnostics) -> ExpectFile {
    let expect = ExpectFile {
        detector: section.get("detector", found),
        observable: section.get("observable", found),
        at: section.need("at", "40.0", found),
        value: section.need("value", "0.5", found),
        tolerance: section.need("tolerance", "0.01", found),
        because: section.get("because", found).unwrap_or_default(),
        ask: section.get("ask", found).unwrap_or_default(),
        ask_at: section.get("ask_at", found).unwrap_or_default(),
    };
    section.close(found, |_| None);
    expect
}
