//! Bohm's trajectories of a quantum scene.

use super::cards::List;
use super::layers_panel::{PLACE, point};
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
    let before = names(file);
    LIST.show(ui, &mut file.trajectories, title, |ui, one| {
        body(ui, one, &extent, speed, end);
    });
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
        let taken = |name: &String| file.trajectories.iter().any(|one| one.names().contains(name));
        let most = file.trajectories.len() + 1;
        let name = (1..=most).map(|n| format!("path {n}")).find(|name| !taken(name));
        // Where the first packet stands there is something to follow.
        let packet = file.packets.first().map(|packet| packet.center.clone());
        file.trajectories.push(TrajectoryFile {
            name: name.unwrap_or_default(),
            from: packet.unwrap_or_else(|| extent.iter().map(|length| tidy(length / 2.0)).collect()),
            ..TrajectoryFile::default()
        });
    }
    follow(file, &before);
}

/// The names of all of them.
fn names(file: &SceneFile) -> Vec<String> {
    file.trajectories.iter().flat_map(TrajectoryFile::names).collect()
}

/// Predictions follow a trajectory that was renamed, and go with one that was removed.
fn follow(file: &mut SceneFile, before: &[String]) {
    let after = names(file);
    if after == before {
        return;
    }
    let renamed = after.len() == before.len();
    file.expectations.retain_mut(|expectation| {
        let Some((name, axis)) = expectation.observable.as_ref().and_then(|known| known.rsplit_once('.')) else {
            return true;
        };
        let Some(place) = before.iter().position(|old| old == name) else {
            return true;
        };
        let stays = renamed || after.iter().any(|new| new == name);
        if renamed {
            let new = format!("{}.{axis}", after[place]);
            expectation.observable = Some(new);
        }
        stays
    });
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
    let about = "When it begins, in the scene’s unit of time; 0 or later.";
    number_row(ui, ("From t", about), &mut one.at, ("", end / 400.0), NOT_NEGATIVE);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::file::ExpectFile;

    #[test]
    fn predictions_follow_their_trajectories() {
        let one = |name: &str| TrajectoryFile {
            name: name.to_owned(),
            ..TrajectoryFile::default()
        };
        let about = |observable: &str| ExpectFile {
            observable: Some(observable.to_owned()),
            ..ExpectFile::default()
        };
        let mut file = SceneFile {
            trajectories: vec![one("a"), one("b")],
            expectations: vec![about("a.x"), about("b.y"), about("norm")],
            ..SceneFile::default()
        };
        let left = |file: &SceneFile| -> Vec<String> {
            file.expectations
                .iter()
                .filter_map(|expect| expect.observable.clone())
                .collect()
        };
        let before = names(&file);
        file.trajectories[0].name = "c".to_owned();
        follow(&mut file, &before);
        assert_eq!(left(&file), ["c.x", "b.y", "norm"]);
        let before = names(&file);
        file.trajectories.remove(1);
        follow(&mut file, &before);
        assert_eq!(left(&file), ["c.x", "norm"]);
    }
}
