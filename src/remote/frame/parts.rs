//! What frames consist of, on its way.

use crate::engine::Compared;
use crate::engine::trajectories::ShownPath;
use crate::field::Precision;
use crate::remote::picture::{Fineness, PictureMessage};
use crate::solver::{Backend, Clock, Report};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ReportMessage {
    method: String,
    variant: String,
    backend: Backend,
    precision: Precision,
    order: u32,
    threads: usize,
    details: String,
    batch: u64,
    note: Option<String>,
    memory: u64,
}

/// A path in single precision, which a screen does not outdo.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PathMessage {
    group: usize,
    points: Vec<[f32; 2]>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ComparedMessage {
    pub(super) image: PictureMessage,
    clock: Clock,
    report: ReportMessage,
    difference: Option<(u64, f64, f64)>,
}

impl ReportMessage {
    pub(super) fn of(report: &Report) -> Self {
        Self {
            method: report.method.to_owned(),
            variant: report.variant.to_owned(),
            backend: report.backend,
            precision: report.precision,
            order: report.order,
            threads: report.threads,
            details: report.details.clone(),
            batch: report.batch,
            note: report.note.clone(),
            memory: report.memory,
        }
    }

    pub(super) fn open(self) -> Report {
        Report {
            method: word(&self.method),
            variant: word(&self.variant),
            backend: self.backend,
            precision: self.precision,
            order: self.order,
            threads: self.threads,
            details: self.details,
            batch: self.batch,
            note: self.note,
            memory: self.memory,
        }
    }
}

/// A word that stays for as long as the program runs. There are few: of more than some hundred, or long ones, none is kept.
pub fn word(text: &str) -> &'static str {
    const MOST: usize = 256;
    const LONGEST: usize = 80;
    static WORDS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut words = WORDS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = words.get(text) {
        return known;
    }
    if words.len() >= MOST || text.len() > LONGEST {
        return "?";
    }
    let kept: &'static str = Box::leak(text.to_owned().into_boxed_str());
    words.insert(kept);
    kept
}

impl PathMessage {
    #[expect(clippy::cast_possible_truncation, reason = "for a screen")]
    pub(super) fn of(path: &ShownPath) -> Self {
        Self {
            group: path.group,
            points: path.points.iter().map(|point| point.map(|x| x as f32)).collect(),
        }
    }

    pub(super) fn open(self) -> ShownPath {
        ShownPath {
            group: self.group,
            points: self.points.into_iter().map(|point| point.map(f64::from)).collect(),
        }
    }
}

impl ComparedMessage {
    pub(super) fn of(compared: &Compared, fineness: Fineness) -> Self {
        Self {
            image: PictureMessage::of(&compared.image, fineness),
            clock: compared.clock,
            report: ReportMessage::of(&compared.report),
            difference: compared.difference,
        }
    }

    pub(super) fn open(self) -> Option<Compared> {
        Some(Compared {
            image: self.image.open()?,
            clock: self.clock,
            report: Arc::new(self.report.open()),
            difference: self.difference,
        })
    }
}
