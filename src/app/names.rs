//! Names of detectors and trajectories: what refers to one follows it when it is renamed, and goes with it when it is removed.

use crate::scene::SceneFile;
use crate::scene::file::DrawnFile;
use crate::scene::sweep::Quantity;

/// A name that is not taken: `stem`, `stem 2`, …
pub fn free(stem: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut name = stem.to_owned();
    let mut n = 2;
    while taken(&name) {
        name = format!("{stem} {n}");
        n += 1;
    }
    name
}

/// What becomes of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fate {
    Stays,
    Becomes(String),
    Goes,
}

/// What becomes of `name` where the names of a list were `before` and are `after`: where there are as many, those that differ were renamed.
fn fate(name: &str, before: &[String], after: &[String]) -> Fate {
    let Some(place) = before.iter().position(|old| old == name) else {
        return Fate::Stays;
    };
    if after.len() == before.len() {
        match &after[place] {
            same if same == name => Fate::Stays,
            new => Fate::Becomes(new.clone()),
        }
    } else if after.iter().any(|new| new == name) {
        Fate::Stays
    } else {
        Fate::Goes
    }
}

/// Predictions, theory, sweep and room follow detectors whose names were `before`.
pub fn follow_detectors(file: &mut SceneFile, before: &[String]) {
    let after: Vec<String> = file.detectors.iter().map(|detector| detector.name.clone()).collect();
    if after == before {
        return;
    }
    let follow = |name: &mut String| match fate(name, before, &after) {
        Fate::Stays => true,
        Fate::Becomes(new) => {
            *name = new;
            true
        }
        Fate::Goes => false,
    };
    file.expectations
        .retain_mut(|expectation| expectation.detector.as_mut().is_none_or(follow));
    file.theories.retain_mut(|theory| match &mut theory.drawn {
        DrawnFile::Detector { detector, .. } => follow(detector),
        _ => true,
    });
    follow_measures(file, follow);
    if let Some(room) = &mut file.room
        && !follow(&mut room.at)
    {
        // The scene then names no place; the panel takes one.
        room.at.clear();
    }
}

/// Predictions and sweep follow trajectories whose names were `before` and are `after`: their observables are `name.x` and so on.
pub fn follow_trajectories(file: &mut SceneFile, before: &[String], after: &[String]) {
    if after == before {
        return;
    }
    let follow = |observable: &mut String| {
        let Some((name, axis)) = observable.rsplit_once('.') else {
            return true;
        };
        match fate(name, before, after) {
            Fate::Stays => true,
            Fate::Becomes(new) => {
                *observable = format!("{new}.{axis}");
                true
            }
            Fate::Goes => false,
        }
    };
    file.expectations
        .retain_mut(|expectation| expectation.observable.as_mut().is_none_or(follow));
    follow_measures(file, follow);
}

/// The quantities of a sweep follow; a sweep that has none left measures nothing and goes.
fn follow_measures(file: &mut SceneFile, follow: impl Fn(&mut String) -> bool) {
    let Some(sweep) = &mut file.sweep else { return };
    let any = !sweep.measure.is_empty();
    sweep.measure.retain_mut(|text| {
        let before = Quantity::parse(text);
        let mut now = before.clone();
        let stays = follow(&mut now.name) && now.beside.as_mut().is_none_or(&follow);
        if now != before {
            *text = now.text();
        }
        stays
    });
    if any && sweep.measure.is_empty() {
        file.sweep = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::file::{
        DetectorFile, ExpectFile, RegionFile, RoomFile, SweepFile, TheoryFile, TrajectoryFile, ValueFile,
    };

    fn detector(name: &str) -> DetectorFile {
        DetectorFile::new(name.to_owned(), RegionFile::Everywhere)
    }

    fn scene() -> SceneFile {
        SceneFile {
            detectors: vec![detector("a"), detector("b")],
            expectations: vec![ExpectFile {
                detector: Some("b".to_owned()),
                ..ExpectFile::default()
            }],
            theories: vec![TheoryFile {
                drawn: DrawnFile::Detector {
                    detector: "b".to_owned(),
                    value: ValueFile::Number(0.0),
                },
                label: String::new(),
                at: None,
                until: None,
            }],
            sweep: Some(SweepFile {
                measure: ["b@40", "contrast(a | b)@12.5", "norm"].map(str::to_owned).to_vec(),
                ..SweepFile::default()
            }),
            room: Some(RoomFile {
                at: "b".to_owned(),
                ..RoomFile::default()
            }),
            ..SceneFile::default()
        }
    }

    fn names(file: &SceneFile) -> Vec<String> {
        file.detectors.iter().map(|detector| detector.name.clone()).collect()
    }

    fn measures(file: &SceneFile) -> Option<&[String]> {
        file.sweep.as_ref().map(|sweep| &sweep.measure[..])
    }

    #[test]
    fn all_that_names_a_detector_follows_it() {
        let mut file = scene();
        let before = names(&file);
        "c".clone_into(&mut file.detectors[1].name);
        follow_detectors(&mut file, &before);
        assert_eq!(file.expectations[0].detector.as_deref(), Some("c"));
        assert!(matches!(&file.theories[0].drawn, DrawnFile::Detector { detector, .. } if detector == "c"));
        assert_eq!(measures(&file).unwrap(), ["c@40", "contrast(a | c)@12.5", "norm"]);
        assert_eq!(file.room.as_ref().unwrap().at, "c");
        // Another one is removed: what names both goes.
        let before = names(&file);
        file.detectors.remove(0);
        follow_detectors(&mut file, &before);
        assert_eq!((file.expectations.len(), file.theories.len()), (1, 1));
        assert_eq!(measures(&file).unwrap(), ["c@40", "norm"]);
        let before = names(&file);
        file.detectors.remove(0);
        follow_detectors(&mut file, &before);
        assert!(file.expectations.is_empty() && file.theories.is_empty());
        assert_eq!(measures(&file).unwrap(), ["norm"]);
        assert_eq!(file.room.as_ref().unwrap().at, "");
    }

    #[test]
    fn a_sweep_that_measures_nothing_goes() {
        let mut file = scene();
        file.sweep.as_mut().unwrap().measure.retain(|text| text == "b@40");
        let before = names(&file);
        file.detectors.remove(1);
        follow_detectors(&mut file, &before);
        assert_eq!(file.sweep, None);
    }

    #[test]
    fn all_that_names_a_trajectory_follows_it() {
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
            sweep: Some(SweepFile {
                measure: vec!["a.x@3".to_owned(), "b.y".to_owned()],
                ..SweepFile::default()
            }),
            ..SceneFile::default()
        };
        let all =
            |file: &SceneFile| -> Vec<String> { file.trajectories.iter().flat_map(TrajectoryFile::names).collect() };
        let left = |file: &SceneFile| -> Vec<String> {
            file.expectations
                .iter()
                .filter_map(|expect| expect.observable.clone())
                .collect()
        };
        let before = all(&file);
        file.trajectories[0].name = "c".to_owned();
        let after = all(&file);
        follow_trajectories(&mut file, &before, &after);
        assert_eq!(left(&file), ["c.x", "b.y", "norm"]);
        assert_eq!(measures(&file).unwrap(), ["c.x@3", "b.y"]);
        let before = all(&file);
        file.trajectories.remove(1);
        let after = all(&file);
        follow_trajectories(&mut file, &before, &after);
        assert_eq!(left(&file), ["c.x", "norm"]);
        assert_eq!(measures(&file).unwrap(), ["c.x@3"]);
    }

    #[test]
    fn names_that_are_taken_get_a_number() {
        let taken = ["a", "a 2"];
        assert_eq!(free("a", |name| taken.contains(&name)), "a 3");
        assert_eq!(free("b", |name| taken.contains(&name)), "b");
    }
}
