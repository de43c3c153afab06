//! What the pointer does over the picture: moves the view, sets a packet going, paints the medium, places pulses, sources and probes.
//!
//! A tool changes nothing by itself: it leaves [`Work`] for the window, which makes it an edit of the scene.

use super::arrange::Hold;
use super::gestures::Gesture;
use super::handles::{self, Handle, Part};
use super::mirror_tool::{self, Placing};
use super::units::Unit;
use crate::app::icon::Icon;
use crate::physics::{Equation, Measure, Sets};
use crate::scene::SceneFile;
use crate::scene::file::{
    DetectorFile, LayerFile, PacketFile, PulseFile, RegionFile, ShapeFile, SourceFile, TransducersFile, ValueFile,
};
use crate::scene::scenario::{Quantity, ViewMode};
use crate::solver::FieldImage;
use egui::PointerButton;

/// What the pointer does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tool {
    /// Moves the view.
    #[default]
    Move,
    /// Sets a wave packet going (quantum).
    Packet,
    /// Lets a pulse go (sound).
    Pulse,
    /// Places a source (sound).
    Source,
    /// Paints the medium.
    Brush,
    /// Places a detector.
    Probe,
    /// Places the transducers of a mirror.
    Mirror,
    /// Records a region.
    Region,
    /// Takes the parts of the scene by the hand.
    Arrange,
    /// Measures lengths.
    Ruler,
}

/// A tool's row.
pub struct Row {
    /// The tool.
    pub tool: Tool,
    /// Its name.
    pub title: &'static str,
    /// Its icon.
    pub icon: Icon,
    /// How it is used.
    pub about: &'static str,
    /// Whether quantum scenes and scenes of sound have it.
    pub fits: [bool; 2],
}

/// Every tool.
#[rustfmt::skip]
pub const TOOLS: &[Row] = &[
    Row { tool: Tool::Move, title: "Move", icon: Icon::Hand, about: "Drag moves the view, the wheel zooms, a double click shows the whole grid.", fits: [true, true] },
    Row { tool: Tool::Packet, title: "Packet", icon: Icon::MoveUpRight, about: "Press where a wave packet shall start, drag to give it momentum, let go to start it. With Shift it joins those that are there.", fits: [true, false] },
    Row { tool: Tool::Pulse, title: "Pulse", icon: Icon::CircleDot, about: "Click where a pulse of pressure shall start. With Shift it joins those that are there.", fits: [false, true] },
    Row { tool: Tool::Source, title: "Source", icon: Icon::Volume2, about: "Click where a source of sound shall stand.", fits: [false, true] },
    Row { tool: Tool::Brush, title: "Brush", icon: Icon::Brush, about: "The left button paints, the right one takes away; with Shift a straight line, with Ctrl a box. A pen that tells its pressure makes the line narrower or wider. Works while it runs.", fits: [true, true] },
    Row { tool: Tool::Probe, title: "Probe", icon: Icon::Pipette, about: "Click where a detector shall stand; the plots show what it records.", fits: [true, true] },
    Row { tool: Tool::Mirror, title: "Mirror", icon: Icon::FlipHorizontal2, about: "Press and drag where the transducers of a time-reversal mirror shall stand. The wave is recorded and turned round; T turns it at once.", fits: [true, true] },
    Row { tool: Tool::Region, title: "Region", icon: Icon::SquareDashed, about: "Drag a rectangle: a detector records what is in it, probability of ψ or energy of sound.", fits: [true, true] },
    Row { tool: Tool::Arrange, title: "Arrange", icon: Icon::MousePointer2, about: "Drag the handles of shapes, packets, sources, detectors and mirrors: circles move, squares size, to half sites (Alt: freely). Arrow keys move what was taken last by a site, with Shift by a tenth; Delete takes it away.", fits: [true, true] },
    Row { tool: Tool::Ruler, title: "Ruler", icon: Icon::Ruler, about: "Drag from place to place: length, its parts along x and y, the angle, and the wavelength along it.", fits: [true, true] },
];

impl Tool {
    /// Whether a scene has it.
    #[must_use]
    pub fn fits(self, sound: bool) -> bool {
        TOOLS.iter().any(|row| row.tool == self && row.fits[usize::from(sound)])
    }

    /// Why there is nothing for it to work on: the scene's axes, the way it is shown, the quantity.
    #[must_use]
    pub fn obstacle(self, rank: usize, mode: ViewMode, quantity: Option<Quantity>) -> Option<&'static str> {
        let on_line = matches!(self, Self::Move | Self::Mirror);
        if self == Self::Move || (rank == 1 && on_line && quantity != Some(Quantity::Momentum)) {
            None
        } else if quantity == Some(Quantity::Momentum) {
            Some("Tools work in space, and the picture shows momenta: show another quantity (Settings, View)")
        } else if rank == 1 {
            Some("This tool works on planes; the parts of a scene on a line are placed under Scene")
        } else if mode != ViewMode::Plane {
            Some("Tools work on a plane: press 1 to show one")
        } else {
            None
        }
    }
}

/// What the brush paints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paint {
    /// The quantity.
    pub sets: Sets,
    /// Its value; nothing for walls.
    pub value: f64,
    /// Half the line's width, in sites.
    pub radius: f64,
    /// Whether it takes away; the other button does the opposite.
    pub erases: bool,
}

/// What a tool leaves for the window to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// The brush paints a layer; `goes_on`: instead of the last one.
    Layer {
        /// The layer.
        layer: LayerFile,
        /// The gesture began in an earlier frame.
        goes_on: bool,
    },
    /// A packet starts; `joins`: beside those that are there.
    Packet(PacketFile, bool),
    /// As for packets.
    Pulse(PulseFile, bool),
    /// A source is placed.
    Source(SourceFile),
    /// A detector is placed.
    Probe(Vec<f64>),
    /// Transducers are placed.
    Mirror(TransducersFile),
    /// A detector of a rectangle, as lengths along x and y.
    Region([f64; 2], [f64; 2]),
    /// A handle is brought to a place.
    Bring(Handle, [f64; 2]),
    /// A part is moved by lengths.
    Shift(Part, [f64; 2]),
    /// A part is taken away.
    Remove(Part),
}

/// The tools' state.
#[derive(Debug)]
pub struct Tools {
    /// The one in hand.
    pub tool: Tool,
    /// What the brush paints.
    pub paint: Paint,
    /// What the mirror tool places.
    pub placing: Placing,
    /// What is taken by the hand, or measured.
    pub hold: Hold,
    pub(super) gesture: Option<Gesture>,
    /// The brush's stroke under way, or the last one, began on the way back from a mirror.
    pub(super) returning: bool,
    /// The touch that had the tool was taken away by the system, which has let no button go.
    pub(super) taken_away: bool,
    pub(super) work: Vec<Work>,
}

impl Default for Tools {
    fn default() -> Self {
        Self {
            tool: Tool::Move,
            paint: Paint {
                sets: Sets::Wall,
                value: 0.5,
                radius: 4.0,
                erases: false,
            },
            placing: Placing::default(),
            hold: Hold::default(),
            gesture: None,
            returning: false,
            taken_away: false,
            work: Vec::new(),
        }
    }
}

/// What the tools must know of the scene that runs.
pub struct Ground<'a> {
    /// The draft.
    pub file: &'a SceneFile,
    /// a.
    pub spacing: f64,
    /// J of a quantum scene.
    pub hopping: Option<f64>,
    /// Sites along x and y.
    pub sites: [usize; 2],
    /// The plane's z, for three dimensions.
    pub z: Option<f64>,
    /// The unit of lengths.
    pub length: Unit,
    /// The picture, whose wavelength the ruler tells.
    pub image: Option<&'a FieldImage>,
}

impl Ground<'_> {
    /// A place in sites (the middle of site n is n + ½) as a place of the scene, to a hundredth of a site.
    pub(super) fn place(&self, site: [f64; 2]) -> [f64; 2] {
        site.map(|s| ((s - 0.5) * 100.0).round() / 100.0 * self.spacing)
    }

    /// The same with the plane's z, or x alone along a line.
    pub(super) fn point(&self, site: [f64; 2]) -> Vec<f64> {
        self.place(site).into_iter().take(self.rank()).chain(self.z).collect()
    }

    /// Dimensions of the grid.
    pub(super) fn rank(&self) -> usize {
        self.file.grid.size.len()
    }

    pub(super) fn holds(&self, site: [f64; 2]) -> bool {
        (0..2).all(|axis| site[axis] >= 0.0 && site[axis] < self.sites[axis] as f64)
    }
}

impl Tools {
    /// Another scene: what the tool in hand cannot do there, it does not.
    pub fn start_over(&mut self, file: &SceneFile) {
        let sound = file.acoustic.is_some();
        if !self.tool.fits(sound) {
            self.tool = Tool::Move;
        }
        if !self.paint.sets.fits(equation(file)) {
            self.paint.sets = Sets::Wall;
        }
        self.gesture = None;
        self.hold = Hold::default();
    }

    /// What is left to do.
    pub fn take_work(&mut self) -> Vec<Work> {
        std::mem::take(&mut self.work)
    }

    /// Whether a button of the pointer belongs to the tool in hand rather than to the view.
    #[must_use]
    pub fn holds(&self, button: PointerButton) -> bool {
        match self.tool {
            Tool::Move => false,
            Tool::Brush => button != PointerButton::Middle,
            _ => button == PointerButton::Primary,
        }
    }

    /// What the brush leaves at a place, or its opposite.
    pub(super) fn layer(&self, shape: ShapeFile, erases: bool, file: &SceneFile) -> LayerFile {
        let Paint { sets, value, .. } = self.paint;
        let nothing = match sets {
            Sets::Speed => file.acoustic.as_ref().map_or(0.0, |acoustic| acoustic.speed),
            Sets::Density => file.acoustic.as_ref().map_or(0.0, |acoustic| acoustic.density),
            Sets::Impedance => 1e6,
            Sets::Hopping => 1.0,
            Sets::Potential | Sets::Wall | Sets::Absorption | Sets::Flux | Sets::Interaction | Sets::Attenuation => 0.0,
        };
        let value = match (erases, sets) {
            (true, _) => Some(ValueFile::Number(nothing)),
            (false, Sets::Wall) => None,
            (false, _) => Some(ValueFile::Number(value)),
        };
        LayerFile::new(sets, shape, value)
    }
}

/// The equation of a draft.
#[must_use]
pub fn equation(file: &SceneFile) -> Equation {
    if file.acoustic.is_some() {
        Equation::Acoustic
    } else {
        Equation::Schrodinger
    }
}

/// Makes a tool's work part of a scene; `returning`: the brush's stroke began on the way back from the scene's mirror, and is for that way alone.
pub fn apply(file: &mut SceneFile, work: Work, returning: bool) {
    match work {
        Work::Layer { layer, goes_on } => {
            let layers = match &mut file.mirror {
                Some(mirror) if returning => &mut mirror.perturbation,
                _ => &mut file.layers,
            };
            if goes_on {
                layers.pop();
            }
            layers.push(layer);
        }
        Work::Packet(packet, joins) => {
            file.initial = None;
            file.eigenstates.clear();
            if !joins {
                file.packets.clear();
            }
            file.packets.push(packet);
        }
        Work::Pulse(pulse, joins) => {
            file.initial = None;
            if !joins {
                file.pulses.clear();
            }
            file.pulses.push(pulse);
        }
        Work::Source(source) => file.sources.push(source),
        Work::Mirror(transducers) => mirror_tool::apply(file, transducers),
        Work::Probe(at) => {
            let name = free_name(file, "probe");
            file.detectors.push(DetectorFile {
                measure: Some(Measure::Value),
                ..DetectorFile::new(name, RegionFile::Point(at))
            });
        }
        Work::Region(min, max) => {
            let name = free_name(file, "region");
            let (mut min, mut max) = (min.to_vec(), max.to_vec());
            if let Some(planes) = file.grid.size.get(2) {
                min.push(0.0);
                max.push(planes.saturating_sub(1) as f64 * file.grid.spacing);
            }
            file.detectors
                .push(DetectorFile::new(name, RegionFile::Box { min, max }));
        }
        Work::Bring(handle, to) => handles::bring(file, &handle, to),
        Work::Shift(part, by) => handles::shift(file, part, by),
        Work::Remove(part) => handles::remove(file, part),
    }
}

/// A name for a detector that none has.
fn free_name(file: &SceneFile, word: &str) -> String {
    let free = |name: &String| file.detectors.iter().all(|detector| detector.name != *name);
    (1..=file.detectors.len() + 1)
        .map(|n| format!("{word} {n}"))
        .find(free)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_says_why_it_has_nothing_to_work_on() {
        let of = |tool: Tool, rank, mode| tool.obstacle(rank, mode, None);
        assert_eq!(of(Tool::Brush, 2, ViewMode::Plane), None);
        assert_eq!(of(Tool::Brush, 3, ViewMode::Plane), None);
        for (rank, mode, word) in [
            (1, ViewMode::Plane, "line"),
            (2, ViewMode::Relief, "press 1"),
            (3, ViewMode::Volume, "press 1"),
        ] {
            assert!(
                of(Tool::Probe, rank, mode).is_some_and(|why| why.contains(word)),
                "{mode:?}"
            );
            assert_eq!(of(Tool::Move, rank, mode), None);
        }
        assert_eq!(of(Tool::Mirror, 1, ViewMode::Plane), None, "it is placed on a graph");
        let momenta = Some(Quantity::Momentum);
        assert!(Tool::Mirror.obstacle(1, ViewMode::Plane, momenta).is_some());
        assert!(Tool::Brush.obstacle(2, ViewMode::Plane, momenta).is_some());
    }
}
