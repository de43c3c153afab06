//! Bohm's trajectories of a quantum scene.

use super::cards::List;
use super::layers_panel::{PLACE, point};
use super::names;
use super::number::{NOT_NEGATIVE, number_row, tidy};
use super::widgets::{button, hint, row};
use crate::app::icon::Icon;
use crate::scene::SceneFile;
use crate::scene::file::TrajectoryFile;
use egui::{DragValue, TextEdit, Ui};

const LIST: List = List {
    noun: "trajectory",
    ordered: false,
    needed: false,
};

/// Shows the list; edits `file`.
pub fn show(ui: &mut Ui, file: &mut SceneFile) {
    let extent: Vec<f64> = file.grid.size.iter().map(|&n| n as f64 * file.grid.spacing).collect();
    let speed = extent.iter().copied().fold(0.0, f64::max) / 400.0;
    let end = file.time.end.unwrap_or(100.0);
    let before = all_names(file);
    let count = file.trajectories.len();
    LIST.show(ui, &mut file.trajectories, title, |ui, one| {
        body(ui, one, &extent, speed, end);
    });
    if file.trajectories.len() > count {
        name_copies(&mut file.trajectories);
    }
    if file.trajectories.is_empty() {
        hint(
            ui,
            "Bohm's trajectories follow the current of ψ, dx/dt = j/|ψ|², from where they begin.",
        );
    }
    if ui
        .add(button(Icon::Plus, "Trajectory"))
        .accessible_name("Add trajectory")
        .clicked()
    {
        let name = free_name(&file.trajectories, "path");
        // Where the first packet stands there is something to follow.
        let packet = file.packets.first().map(|packet| packet.center.clone());
        file.trajectories.push(TrajectoryFile {
            name,
            from: packet.unwrap_or_else(|| extent.iter().map(|length| tidy(length / 2.0)).collect()),
            ..TrajectoryFile::default()
        });
    }
    let after = all_names(file);
    names::follow_trajectories(file, &before, &after);
}

/// The names of all of them.
fn all_names(file: &SceneFile) -> Vec<String> {
    file.trajectories.iter().flat_map(TrajectoryFile::names).collect()
}

/// A name with which a trajectory, or each of several, has one of its own.
fn free_name(all: &[TrajectoryFile], stem: &str) -> String {
    names::free(stem, |name| {
        let taken = |known: &String| known == name || known.strip_prefix(name).is_some_and(is_numbered);
        all.iter().flat_map(TrajectoryFile::names).any(|known| taken(&known))
    })
}

/// Whether a name goes on as those of several do.
fn is_numbered(rest: &str) -> bool {
    rest.strip_prefix(' ')
        .is_some_and(|number| number.parse::<usize>().is_ok())
}

/// A copy gets a name of its own.
fn name_copies(all: &mut [TrajectoryFile]) {
    for n in 1..all.len() {
        let (before, rest) = all.split_at_mut(n);
        let one = &mut rest[0];
        if before.iter().any(|other| other.name == one.name) {
            one.name = free_name(before, &one.name);
        }
    }
}

fn title(one: &TrajectoryFile) -> String {
    match one.number() {
        1 => one.name.clone(),
        count => format!("{}, {count} of them", one.name),
    }
}

fn body(ui: &mut Ui, one: &mut TrajectoryFile, extent: &[f64], speed: f64, end: f64) {
    row(
        ui,
        "Name",
        "In tables and predictions; with several the number stands behind it.",
        |ui| {
            let field = TextEdit::singleline(&mut one.name).desired_width(f32::INFINITY);
            ui.add(field).accessible_name("Name of the trajectory")
        },
    );
    point(ui, ("From", ""), PLACE, &mut one.from, speed);
    row(ui, "Several", "At even distances on a straight line.", |ui| {
        let mut several = one.to.is_some();
        if ui.checkbox(&mut several, "").accessible_name("Several").changed() {
            let last = extent.len() - 1;
            let mut to = one.from.clone();
            to[last] = tidy((to[last] + extent[last] / 8.0).min(extent[last] * 0.98));
            one.to = several.then_some(to);
            one.count = None;
        }
    });
    if one.to.is_some() {
        let mut count = one.number();
        row(ui, "Number", "How many there are, 2 to 1000.", |ui| {
            ui.name_inputs("Number of trajectories", |ui| {
                let field = DragValue::new(&mut count).range(2..=1000).speed(0.1);
                if ui.add(field.clamp_existing_to_range(false)).changed() {
                    one.count = Some(count);
                }
            });
        });
    }
    if let Some(to) = &mut one.to {
        point(ui, ("To", ""), PLACE, to, speed);
    }
    let about = "When it begins, in the scene's unit of time; 0 or later.";
    number_row(ui, ("From t", about), &mut one.at, ("", end / 400.0), NOT_NEGATIVE);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_gets_a_name_of_its_own() {
        let one = |name: &str| TrajectoryFile {
            name: name.to_owned(),
            ..TrajectoryFile::default()
        };
        let row = |name: &str| TrajectoryFile {
            to: Some(vec![1.0]),
            count: Some(3),
            ..one(name)
        };
        let mut file = SceneFile {
            trajectories: vec![one("a"), one("a"), row("b"), row("b"), one("c")],
            ..SceneFile::default()
        };
        name_copies(&mut file.trajectories);
        let names: Vec<&str> = file.trajectories.iter().map(|one| &one.name[..]).collect();
        assert_eq!((names[0], names[2], names[4]), ("a", "b", "c"));
        let mut every = all_names(&file);
        let count = every.len();
        every.sort();
        every.dedup();
        assert_eq!(every.len(), count, "{every:?}");
        assert!(!all_names(&file).contains(&free_name(&file.trajectories, "path")));
    }
}
