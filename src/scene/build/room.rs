//! `[room]`: how a room is listened to.

use super::super::input::read_signal;
use super::super::scenario::Room;
use super::Builder;
use crate::physics::{Detector, Equation};

impl Builder<'_> {
    pub(super) fn room(&mut self, equation: Option<Equation>, detectors: &[Detector]) -> Option<Room> {
        let given = self.file.room.as_ref()?;
        if equation == Some(Equation::Schrodinger) {
            let message = "a quantum scene has no sound";
            self.found.key(
                "room",
                message,
                "remove the section; it belongs to scenes with [acoustic]",
            );
            return None;
        }
        if self.file.mirror.is_some() {
            let message = "a scene that reverses time has no decay";
            self.found.key("room", message, "remove the section, or [mirror]");
            return None;
        }
        // Detectors that are at fault themselves are missing in this list.
        if !given.at.is_empty() && detectors.len() == self.file.detectors.len() {
            let names = || {
                (detectors.iter())
                    .filter(|one| one.hears())
                    .map(|one| one.name.as_str())
            };
            if !names().any(|name| name == given.at) {
                let message = format!("no detector {:?} records the pressure at a place", given.at);
                self.found
                    .value("room.at", message, super::possible(&given.at, names()));
            }
        }
        let dry = given.dry.as_ref().map(|file| self.base.join(file));
        if let Some(path) = &dry {
            match read_signal(path) {
                Ok((Some(_), values)) if !values.is_empty() => {}
                Ok(_) => self.found.value(
                    "room.dry",
                    format!("{} has no sample rate or no sound", path.display()),
                    "name a WAV file",
                ),
                Err(error) => self.found.value("room.dry", error.to_string(), "name a WAV file"),
            }
        }
        Some(Room {
            at: (!given.at.is_empty()).then(|| given.at.clone()),
            dry,
        })
    }
}
