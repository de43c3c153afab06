//! What a frame tells of a mirror, on its way.

use super::same;
use crate::engine::{MirrorFrame, MirrorStatus, Moment, Replay, Signals};
use crate::physics::Refocus;
use crate::remote::picture::{Fineness, PictureMessage};
use crate::scene::Scenario;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct MirrorMessage {
    status: MirrorStatus,
    /// Whether the scene is stepped as on its way back.
    returns: bool,
    sites: Option<[Vec<usize>; 2]>,
    focus: usize,
    refocus: Option<(u64, f64, Refocus)>,
    signals: [Option<Signals>; 2],
    replays: Vec<Replay>,
    pictures: [Option<Option<(f64, f64, PictureMessage)>>; 2],
}

impl MirrorMessage {
    /// As far as it differs from `before`.
    pub(super) fn of(mirror: &MirrorFrame, before: Option<&MirrorFrame>, scenario: Option<&Arc<Scenario>>) -> Self {
        let same_sites = before.is_some_and(|before| {
            Arc::ptr_eq(&before.sites[0], &mirror.sites[0]) && Arc::ptr_eq(&before.sites[1], &mirror.sites[1])
        });
        let signals = |n: usize| {
            let is_same = before.is_some_and(|before| Arc::ptr_eq(&before.signals[n], &mirror.signals[n]));
            (!is_same).then(|| mirror.signals[n].as_ref().clone())
        };
        let picture = |n: usize| {
            let own = mirror.pictures[n].as_ref();
            let is_same = before.is_some_and(|before| same(before.pictures[n].as_ref(), own));
            let of = |moment: &Arc<Moment>| {
                let image = PictureMessage::of(&moment.image, Fineness::Quick);
                (moment.time, moment.score, image)
            };
            (!is_same).then(|| own.map(of))
        };
        Self {
            status: mirror.status,
            returns: scenario.is_some_and(|scenario| !Arc::ptr_eq(scenario, &mirror.present)),
            sites: (!same_sites).then(|| [mirror.sites[0].to_vec(), mirror.sites[1].to_vec()]),
            focus: mirror.focus,
            refocus: mirror.refocus,
            signals: [signals(0), signals(1)],
            replays: mirror.replays.to_vec(),
            pictures: [picture(0), picture(1)],
        }
    }

    pub(super) fn open(self, before: Option<&MirrorFrame>, scenario: &Arc<Scenario>) -> Option<MirrorFrame> {
        let Self {
            signals: [first_signals, second_signals],
            pictures: [first_picture, second_picture],
            ..
        } = self;
        let present = if self.returns {
            let known = before.filter(|before| {
                !Arc::ptr_eq(&before.present, scenario) && Arc::ptr_eq(before.present.file(), scenario.file())
            });
            known.map_or_else(|| Arc::new(scenario.returning()), |before| Arc::clone(&before.present))
        } else {
            Arc::clone(scenario)
        };
        let is_whole = |own: &Signals| {
            let texels = own.value.len();
            own.size[0].checked_mul(own.size[1]) == Some(texels) && [0, texels].contains(&own.ends.len())
        };
        let signals = |n: usize, own: Option<Signals>| match own {
            Some(own) => is_whole(&own).then(|| Arc::new(own)),
            None => before.map(|before| Arc::clone(&before.signals[n])),
        };
        let moment = |n: usize, own: Option<Option<(f64, f64, PictureMessage)>>| match own {
            Some(Some((time, score, image))) => Some(Some(Arc::new(Moment {
                time,
                score,
                image: image.open()?,
            }))),
            Some(None) => Some(None),
            None => before.map(|before| before.pictures[n].clone()),
        };
        let sites = match self.sites {
            Some([heard, playing]) => [heard.into(), playing.into()],
            None => before?.sites.clone(),
        };
        Some(MirrorFrame {
            status: self.status,
            present,
            sites,
            focus: self.focus,
            refocus: self.refocus,
            signals: [signals(0, first_signals)?, signals(1, second_signals)?],
            replays: self.replays.into(),
            pictures: [moment(0, first_picture)?, moment(1, second_picture)?],
        })
    }
}
