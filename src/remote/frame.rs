//! Frames on their way: what changed since the one before. What a frame shares with its neighbours ([`Arc`]s) is sent once.

#![expect(
    clippy::option_option,
    reason = "outside: whether it has changed; inside: whether it is there"
)]

mod mirror;
mod parts;

use super::picture::{Fineness, PictureMessage, VolumeMessage};
use super::wire;
use crate::engine::records::BATCHES;
use crate::engine::{Frame, MirrorFrame, Notice, Records, Status, Verdict};
use crate::physics::{Observables, Spectrum, StateMeasures};
use crate::scene::Scenario;
use crate::solver::{Clock, FieldImage};
use crate::space::FlowMap;
use mirror::MirrorMessage;
pub use parts::word;
use parts::{ComparedMessage, PathMessage, ReportMessage};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Which scene: numbered by whoever sent it first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SceneId {
    /// By the server.
    Server(u64),
    /// By the window.
    Window(u64),
}

/// Scenes that are kept though later ones of the same end are shown.
const KEPT: u64 = 16;

impl SceneId {
    /// Whether a scene is not shown again once another one is. Both ends forget the same ones.
    #[must_use]
    pub fn is_past(self, shown: Self) -> bool {
        match (self, shown) {
            (Self::Server(own), Self::Server(shown)) | (Self::Window(own), Self::Window(shown)) => {
                own.saturating_add(KEPT) < shown
            }
            _ => false,
        }
    }
}

/// A frame, as far as it differs from the one before.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FrameMessage {
    /// The frame's serial.
    pub serial: u64,
    run: u64,
    /// The scene that runs.
    pub scene: Option<SceneId>,
    status: StatusMessage,
    clock: Clock,
    image_serial: u64,
    observables: Option<(u64, Observables)>,
    rate: f64,
    steps_per_frame: u64,
    frames_per_second: f64,
    drift: f64,
    detectors: Vec<f64>,
    records: Vec<Records>,
    state: Option<(u64, f64, StateMeasures)>,
    verdicts: Vec<Verdict>,
    question: Option<usize>,
    rests: bool,
    has_snapshot: bool,
    notice: Option<(u64, bool, String)>,
    report: Option<Option<ReportMessage>>,
    image: Option<PictureMessage>,
    volume: Option<Option<VolumeMessage>>,
    flow: Option<Option<FlowMap>>,
    paths: Option<Vec<PathMessage>>,
    spectra: Option<Vec<Option<Spectrum>>>,
    mirror: Option<Option<MirrorMessage>>,
    compared: Option<Option<ComparedMessage>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum StatusMessage {
    Starting,
    Running,
    Paused,
    Failed(String),
}

/// The batches of records that were not sent with the frame before.
fn new_records(frame: &Frame, before: Option<&Frame>) -> Vec<Records> {
    let sent = before.map_or(&[][..], |before| &before.records);
    let is_new = |batch: &&Arc<Records>| !sent.iter().any(|old| Arc::ptr_eq(old, batch));
    frame
        .records
        .iter()
        .filter(is_new)
        .map(|batch| Records::clone(batch))
        .collect()
}

/// Whether two shared things are one.
fn same<T: ?Sized>(a: Option<&Arc<T>>, b: Option<&Arc<T>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        (None, None) => true,
        _ => false,
    }
}

impl FrameMessage {
    /// What of a frame differs from `before`, which was sent before it; everything where nothing was.
    #[must_use]
    pub fn of(frame: &Frame, before: Option<&Frame>, scene: Option<SceneId>, fineness: Fineness) -> Self {
        let is_new_image = before.is_none_or(|before| before.image_serial != frame.image_serial);
        let changed = |is_same: fn(&Frame, &Frame) -> bool| before.is_none_or(|before| !is_same(before, frame));
        Self {
            serial: frame.serial,
            run: frame.run,
            scene,
            status: match &frame.status {
                Status::Starting => StatusMessage::Starting,
                Status::Running => StatusMessage::Running,
                Status::Paused => StatusMessage::Paused,
                Status::Failed(reason) => StatusMessage::Failed(reason.to_string()),
            },
            clock: frame.clock,
            image_serial: frame.image_serial,
            observables: frame.observables,
            rate: frame.rate,
            steps_per_frame: frame.steps_per_frame,
            frames_per_second: frame.frames_per_second,
            drift: frame.drift,
            detectors: frame.detectors.clone(),
            records: new_records(frame, before),
            state: frame.state,
            verdicts: frame.verdicts.clone(),
            question: frame.question,
            rests: frame.rests,
            has_snapshot: frame.has_snapshot,
            notice: (frame.notice.as_ref()).map(|notice| (notice.serial, notice.is_error, notice.text.to_string())),
            report: changed(|a, b| same(a.report.as_ref(), b.report.as_ref()))
                .then(|| frame.report.as_deref().map(ReportMessage::of)),
            image: is_new_image.then(|| PictureMessage::of(&frame.image, fineness)),
            volume: changed(|a, b| same(a.volume.as_ref(), b.volume.as_ref())).then(|| {
                frame
                    .volume
                    .as_deref()
                    .map(|volume| VolumeMessage::of(volume, fineness))
            }),
            flow: changed(|a, b| same(a.flow.as_ref(), b.flow.as_ref())).then(|| frame.flow.as_deref().cloned()),
            paths: changed(|a, b| Arc::ptr_eq(&a.paths, &b.paths))
                .then(|| frame.paths.iter().map(PathMessage::of).collect()),
            spectra: changed(|a, b| Arc::ptr_eq(&a.spectra, &b.spectra)).then(|| frame.spectra.to_vec()),
            mirror: changed(|a, b| same(a.mirror.as_ref(), b.mirror.as_ref())).then(|| {
                let before = before.and_then(|before| before.mirror.as_deref());
                let of = |mirror: &MirrorFrame| MirrorMessage::of(mirror, before, frame.scenario.as_ref());
                frame.mirror.as_deref().map(of)
            }),
            compared: changed(|a, b| same(a.compared.as_ref(), b.compared.as_ref()))
                .then(|| (frame.compared.as_deref()).map(|compared| ComparedMessage::of(compared, fineness))),
        }
    }

    /// Makes the picture exact that was sent less fine.
    pub fn refine(&mut self, frame: &Frame) {
        self.image = Some(PictureMessage::of(&frame.image, Fineness::Exact));
        let exact = Fineness::Exact;
        self.volume = Some((frame.volume.as_deref()).map(|volume| VolumeMessage::of(volume, exact)));
        self.compared = Some((frame.compared.as_deref()).map(|compared| ComparedMessage::of(compared, exact)));
    }

    /// Bytes of the picture or volume, about; `None` where there is none.
    pub fn picture_length(&self) -> Option<usize> {
        let image = self.image.as_ref().map(PictureMessage::length);
        let volume = (self.volume.iter().flatten()).map(VolumeMessage::length);
        let compared = (self.compared.iter().flatten()).map(|compared| compared.image.length());
        image
            .into_iter()
            .chain(volume)
            .chain(compared)
            .reduce(|all, one| all + one)
    }

    /// Whether the picture is not exact.
    pub fn is_coarse(&self) -> bool {
        self.image
            .as_ref()
            .is_some_and(|image| image.fineness != Fineness::Exact)
    }

    /// Brings a frame up to date; `scenario` is that of its number. `None` if the message is damaged: the frame is then not to be shown.
    #[must_use]
    pub fn apply(self, frame: &mut Frame, scenario: Option<Arc<Scenario>>) -> Option<()> {
        let run = std::mem::replace(&mut frame.run, self.run);
        frame.serial = self.serial;
        frame.status = match self.status {
            StatusMessage::Starting => Status::Starting,
            StatusMessage::Running => Status::Running,
            StatusMessage::Paused => Status::Paused,
            StatusMessage::Failed(reason) => Status::Failed(reason.into()),
        };
        frame.clock = self.clock;
        frame.observables = self.observables;
        frame.rate = self.rate;
        frame.steps_per_frame = self.steps_per_frame;
        frame.frames_per_second = self.frames_per_second;
        frame.drift = self.drift;
        frame.detectors = self.detectors;
        if !self.records.iter().all(Records::is_whole) {
            return None;
        }
        let is_old = |batch: &Arc<Records>| frame.run == run && batch.step <= self.clock.steps;
        frame.records.retain(is_old);
        frame.records.extend(self.records.into_iter().map(Arc::new));
        let surplus = frame.records.len().saturating_sub(BATCHES);
        frame.records.drain(..surplus);
        frame.state = self.state;
        frame.verdicts = self.verdicts;
        frame.question = self.question;
        frame.rests = self.rests;
        frame.has_snapshot = self.has_snapshot;
        frame.notice = self.notice.map(|(serial, is_error, text)| Notice {
            serial,
            is_error,
            text: text.into(),
        });
        if let Some(report) = self.report {
            frame.report = report.map(|report| Arc::new(report.open()));
        }
        if let Some(image) = self.image {
            frame.image = image.open()?;
            // An exact picture of the same state is another picture.
            frame.image_serial = frame.image_serial.wrapping_add(1);
        }
        if let Some(volume) = self.volume {
            frame.volume = match volume {
                Some(volume) => Some(Arc::new(volume.open()?)),
                None => None,
            };
        }
        if let Some(flow) = self.flow {
            let fits = |flow: &FlowMap| flow.size[0].checked_mul(flow.size[1]) == Some(flow.values.len());
            if flow.as_ref().is_some_and(|flow| !fits(flow)) {
                return None;
            }
            frame.flow = flow.map(Arc::new);
        }
        if let Some(paths) = self.paths {
            frame.paths = paths.into_iter().map(PathMessage::open).collect();
        }
        if let Some(spectra) = self.spectra {
            frame.spectra = spectra.into();
        }
        match (self.mirror, &scenario) {
            (Some(Some(mirror)), Some(scenario)) => {
                frame.mirror = Some(Arc::new(mirror.open(frame.mirror.as_deref(), scenario)?));
            }
            (Some(_), _) => frame.mirror = None,
            (None, _) => {}
        }
        if let Some(compared) = self.compared {
            frame.compared = match compared {
                Some(compared) => Some(Arc::new(compared.open()?)),
                None => None,
            };
        }
        frame.scenario = scenario;
        leave_out_foreign(frame);
        Some(())
    }
}

/// Leaves out what does not lie on the grid: pictures of a scene before, of which no end shows more.
fn leave_out_foreign(frame: &mut Frame) {
    let size = frame
        .scenario
        .as_ref()
        .map_or([0; 3], |scenario| scenario.grid().size());
    let sites: usize = size.iter().product();
    let image = &frame.image;
    let beyond = |axis: usize| {
        let texels = image.size[axis].checked_mul(image.reduction);
        let end = texels.and_then(|end| end.checked_add(image.origin[axis]));
        // The last texel may cover less than the others.
        end.is_none_or(|end| end >= size[axis].saturating_add(image.reduction))
    };
    if !image.value.is_empty() && (beyond(0) || beyond(1)) {
        frame.image = FieldImage::default();
    }
    if frame.volume.as_deref().is_some_and(|volume| volume.sites != size) {
        frame.volume = None;
    }
    let is_foreign = |mirror: &MirrorFrame| {
        let mut lists = mirror.sites.iter().flat_map(|list| list.iter());
        mirror.focus >= sites || lists.any(|site| *site >= sites)
    };
    if frame.mirror.as_deref().is_some_and(is_foreign) {
        frame.mirror = None;
    }
}

/// A frame's message as bytes: pictures are compressed already, all else is deflated where that pays.
pub fn bytes(message: &wire::ToWindow, pictures: usize) -> Vec<u8> {
    let packed = wire::encode_packed(message);
    // A second pass over a picture gains nothing.
    if packed.len() < 2 * pictures {
        packed
    } else {
        wire::encode(message)
    }
}
