//! Notes and theory.

use super::super::file::{DrawnFile, MarkFile, TheoryFile, ValueFile};
use super::super::scenario::Quantity;
use super::super::theory::{CUT, Drawn, Mark, Note, Theory};
use super::{Builder, possible};
use crate::grid::Grid;
use crate::physics::expression::TIME;
use crate::physics::{Equation, Expression};

impl Builder<'_> {
    pub(super) fn notes(&mut self, grid: Option<&Grid>) -> Vec<Note> {
        let rank = grid.map_or(2, Grid::rank);
        let mut notes = Vec::new();
        for (index, given) in self.file.notes.iter().enumerate() {
            let key = |name: &str| format!("note.{index}.{name}");
            let until = self.span_of_time(&key, Some(given.at), given.until);
            if given.text.trim().is_empty() {
                self.found.value(
                    key("text"),
                    "a note without words",
                    "write what to look for, or remove the note",
                );
            }
            let mark = given.mark.as_ref();
            let mark = mark.and_then(|mark| self.mark(&key("mark"), mark, rank));
            notes.push(Note {
                at: given.at,
                until,
                text: given.text.trim().to_owned(),
                mark,
            });
        }
        notes
    }

    /// What a note points at: one length on a line, two in a plane.
    fn mark(&mut self, key: &str, given: &MarkFile, rank: usize) -> Option<Mark> {
        if given.center.len() != rank.min(2) || rank == 3 {
            let message = match rank {
                1 => format!("{} where x belongs", super::count(given.center.len(), "value")),
                2 => format!("{} where x and y belong", super::count(given.center.len(), "value")),
                _ => "marks are drawn over a line or a plane; the grid has 3 axes".to_owned(),
            };
            let remedy = if rank == 3 {
                "remove `mark`"
            } else {
                "write lengths, numbers or formulas of t"
            };
            self.found.value(format!("{key}.center"), message, remedy);
            return None;
        }
        let lengths = given.center.iter().enumerate();
        let center: Vec<Option<Expression>> = lengths
            .map(|(axis, length)| self.amount(&format!("{key}.center.{axis}"), length, TIME))
            .collect();
        let radius = self.amount(&format!("{key}.radius"), &given.radius, TIME);
        Some(Mark {
            center: center.into_iter().collect::<Option<Vec<_>>>()?,
            radius: radius?,
        })
    }

    pub(super) fn theories(&mut self, equation: Option<Equation>, grid: Option<&Grid>) -> Vec<Theory> {
        let rank = grid.map_or(2, Grid::rank);
        let mut theories = Vec::new();
        for (index, given) in self.file.theories.iter().enumerate() {
            let key = |name: &str| format!("theory.{index}.{name}");
            let until = self.span_of_time(&key, given.at, given.until);
            if let Some(drawn) = self.drawn(&key, given, equation, rank) {
                theories.push(Theory {
                    drawn,
                    label: given.label.clone(),
                    at: given.at.unwrap_or(0.0),
                    until,
                });
            }
        }
        theories
    }

    /// Notes faults of a beginning and an end; returns the end.
    fn span_of_time(&mut self, key: &dyn Fn(&str) -> String, at: Option<f64>, until: Option<f64>) -> f64 {
        let at = at.unwrap_or(0.0);
        self.not_negative(&key("at"), at);
        let Some(until) = until else { return f64::INFINITY };
        if until.is_nan() || until <= at {
            let message = format!("{until} is not after the beginning at {at}");
            self.found
                .value(key("until"), message, "write a later time, or leave `until` out");
        }
        until
    }

    fn drawn(
        &mut self,
        key: &dyn Fn(&str) -> String,
        given: &TheoryFile,
        equation: Option<Equation>,
        rank: usize,
    ) -> Option<Drawn> {
        if rank != 2 && matches!(given.drawn, DrawnFile::Line { .. } | DrawnFile::Circle { .. }) {
            let what = if matches!(given.drawn, DrawnFile::Line { .. }) {
                "from"
            } else {
                "center"
            };
            let message = format!("lines and circles are drawn over a plane; the grid has {rank} axes")
                .replace("1 axes", "1 axis");
            self.found.key(key(what), message, "use `cut` or `detector` here");
            return None;
        }
        match &given.drawn {
            DrawnFile::Detector { detector, value } => {
                let detectors = &self.file.detectors;
                let place = detectors.iter().position(|own| own.name == *detector);
                if place.is_none() {
                    let remedy = possible(detector, detectors.iter().map(|own| own.name.as_str()));
                    self.found
                        .value(key("detector"), format!("there is no detector {detector:?}"), remedy);
                }
                let value = self.amount(&key("value"), value, TIME);
                Some(Drawn::Detector(place?, value?))
            }
            DrawnFile::Cut { axis, quantity, value } => {
                if *axis >= rank {
                    let message = "the grid is a line along x";
                    self.found.value(key("cut"), message, "write cut = \"x\"");
                }
                let usual = match equation {
                    Some(Equation::Acoustic) => Quantity::Pressure,
                    _ => Quantity::Density,
                };
                let value = self.amount(&key("value"), value, CUT);
                Some(Drawn::Cut(*axis, quantity.unwrap_or(usual), value?))
            }
            DrawnFile::Line { from, to } => {
                let from = self.place_in_time(&key("from"), from);
                let to = self.place_in_time(&key("to"), to);
                Some(Drawn::Line(from?, to?))
            }
            DrawnFile::Circle { center, radius } => {
                let center = self.place_in_time(&key("center"), center);
                let radius = self.amount(&key("radius"), radius, TIME);
                Some(Drawn::Circle(center?, radius?))
            }
        }
    }

    /// Two lengths that may depend on time; they may lie outside the grid.
    fn place_in_time(&mut self, key: &str, list: &[ValueFile]) -> Option<[Expression; 2]> {
        let [x, y] = list else {
            let message = format!("{} where x and y belong", super::count(list.len(), "value"));
            self.found.value(
                key,
                message,
                "write two lengths, numbers or formulas of t, e.g. [4.0, \"343*t\"]",
            );
            return None;
        };
        let x = self.amount(&format!("{key}.0"), x, TIME);
        let y = self.amount(&format!("{key}.1"), y, TIME);
        Some([x?, y?])
    }

    fn amount(&mut self, key: &str, value: &ValueFile, names: &'static [&'static str]) -> Option<Expression> {
        match value {
            ValueFile::Number(number) => self.formula(key, &super::super::write::float(*number), names),
            ValueFile::Formula(text) => self.formula(key, text, names),
        }
    }
}
