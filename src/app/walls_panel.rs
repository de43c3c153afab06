//! Where walls stand, and what walls and media take of a sound: the impedance of a wall against the frequency, what it absorbs, and the law by which a medium attenuates.

use super::formula_rows::formula_rows;
use super::number::{NOT_NEGATIVE, POSITIVE};
use super::sound_panel::number;
use super::widgets::{choice, figure, hint, row, warning};
use crate::engine::resolution::MOST_MISSED;
use crate::physics::attenuation::STEEPEST;
use crate::physics::expression::SPACE;
use crate::physics::room::{diffuse_absorption, impedance_at};
use crate::physics::{Attenuation, Sets, WallPole};
use crate::scene::file::{AcousticFile, LayerFile, ValueFile};
use egui::Ui;

/// Where in its shape a layer of walls has one: where its value is above ½.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    /// In all of it.
    Whole,
    /// Nowhere: walls of earlier layers are taken away.
    Nowhere,
    /// Where a formula says.
    Formula,
}

/// Where the walls of a layer stand.
#[must_use]
pub fn stands(layer: &LayerFile) -> Stands {
    match &layer.value {
        Some(ValueFile::Formula(_)) => Stands::Formula,
        Some(ValueFile::Number(number)) if *number <= 0.5 => Stands::Nowhere,
        Some(ValueFile::Number(_)) | None => Stands::Whole,
    }
}

/// Where the walls of a layer stand, and the formula that says so.
pub fn standing_rows(ui: &mut Ui, layer: &mut LayerFile) {
    let was = stands(layer);
    let mut now = was;
    let about = "In all of the shape; where a formula of x, y, z and r is above ½, e.g. hypot(x - 20, y - 20) < 5; or nowhere, which takes away walls of earlier layers.";
    row(ui, "Stands", about, |ui| {
        let all = [
            (Stands::Whole, "in all of it"),
            (Stands::Formula, "by a formula"),
            (Stands::Nowhere, "nowhere: takes away"),
        ];
        let all = all.map(|(stands, title)| (stands, title.to_owned(), String::new()));
        choice(ui, "Stands", &mut now, all)
    });
    if now != was {
        layer.value = match now {
            Stands::Whole => None,
            Stands::Nowhere => Some(ValueFile::Number(0.0)),
            Stands::Formula => Some(ValueFile::Formula("r < 5".to_owned())),
        };
    }
    if let Some(ValueFile::Formula(text)) = &mut layer.value {
        let hint = "a condition of x, y, z, r; e.g. r < 5";
        formula_rows(ui, text, ("Formula of the value", hint), SPACE);
    }
}

/// How the impedance of a layer depends on the frequency, and what its walls absorb of a diffuse sound.
pub fn impedance_rows(ui: &mut Ui, layer: &mut LayerFile, rank: usize) {
    if layer.sets != Sets::Impedance {
        layer.pole = None;
        return;
    }
    let about = "Whether Z/ρc goes from the value, far below a corner frequency, to another one far above it.";
    let mut depends = layer.pole.is_some();
    row(ui, "Frequencies", about, |ui| {
        ui.checkbox(&mut depends, "not all alike")
    });
    if depends != layer.pole.is_some() {
        layer.pole = depends.then_some(WallPole {
            high: 1.0,
            corner: 1000.0,
        });
    }
    if let Some(pole) = &mut layer.pole {
        number(
            ui,
            ("High", "Z/ρc far above the corner; above 0."),
            &mut pole.high,
            "",
            POSITIVE,
        );
        number(
            ui,
            ("Corner", "The frequency between the two; above 0."),
            &mut pole.corner,
            "Hz",
            POSITIVE,
        );
    }
    let Some(ValueFile::Number(low)) = &layer.value else {
        return;
    };
    let absorbed = match &layer.pole {
        None => figure(diffuse_absorption((*low).into(), rank), 3),
        Some(pole) => {
            let at = [0.25, 1.0, 4.0].map(|ratio| {
                let frequency = ratio * pole.corner;
                let taken = diffuse_absorption(impedance_at(*low, pole, frequency), rank);
                format!("{} at {}Hz", figure(taken, 3), crate::units::si(frequency))
            });
            at.join(", ")
        }
    };
    let incidence = ["Normal", "Random", "Random"][rank.clamp(1, 3) - 1];
    hint(
        ui,
        &format!("{incidence}-incidence absorption coefficient: {absorbed}."),
    );
}

/// The law by which a medium attenuates.
pub fn attenuation_rows(ui: &mut Ui, acoustic: &mut AcousticFile, usual: f64) {
    let mut attenuates = acoustic.attenuation.is_some();
    let about = "Whether waves grow weaker on their way, by a power law of the frequency.";
    row(ui, "Attenuation", about, |ui| ui.checkbox(&mut attenuates, "power law"));
    if attenuates != acoustic.attenuation.is_some() {
        acoustic.attenuation = attenuates.then_some(Attenuation {
            at: usual,
            // A decibel in ten wavelengths.
            value: 0.1 * usual / acoustic.speed,
            exponent: 1.0,
            band: [usual / 4.0, usual * 4.0],
        });
    }
    let Some(law) = &mut acoustic.attenuation else { return };
    number(
        ui,
        ("At", "The frequency at which it is given; above 0."),
        &mut law.at,
        "Hz",
        POSITIVE,
    );
    let about = "What is lost there, where no layer changes it; 0 or more.";
    number(ui, ("Loss", about), &mut law.value, "dB/m", NOT_NEGATIVE);
    let about = "The power of the frequency with which it grows: 0 to 2; 1.1 in tissue, 2 of heat and viscosity.";
    number(ui, ("Exponent", about), &mut law.exponent, "", 0.0..=STEEPEST);
    let [first, last] = &mut law.band;
    number(
        ui,
        ("From", "Where the law begins to hold; above 0."),
        first,
        "Hz",
        POSITIVE,
    );
    number(
        ui,
        ("To", "Where it ends: at least 1.5 times as high."),
        last,
        "Hz",
        POSITIVE,
    );
    let sound = law.band[0] > 0.0 && law.band[1] > 1.5 * law.band[0] && law.at > 0.0 && law.value > 0.0;
    if !sound || law.band[1] > 1e4 * law.band[0] {
        return;
    }
    let made = law.relaxations();
    let missed = law.missed(&made, acoustic.speed, law.value);
    let words = format!(
        "{} {} it within {} %.",
        crate::units::counted(made.len() as u64, "relaxation"),
        if made.len() == 1 { "follows" } else { "follow" },
        figure(100.0 * missed, 2)
    );
    if missed > MOST_MISSED {
        warning(ui, &format!("{words} What to change stands at “Is it right?”."));
    } else {
        hint(ui, &words);
    }
}
