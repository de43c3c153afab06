//! Lectures: scenes in order, with notes and timings, as a file.

use super::decode::{Diagnostics, Section};
use super::document::{Document, Place};
use super::{Fault, Faults, Location, presets, read};
use std::path::Path;

/// The version of the format.
const FORMAT: i64 = 1;

/// The largest size of a lecture in bytes: more than any written by hand.
const MOST: u64 = 1 << 20;

/// The largest number of scenes in a lecture, and of minutes for one: more than any real lecture has.
const MOST_STOPS: usize = 1000;
const MOST_MINUTES: f64 = 1440.0;

/// A sequence of scenes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lecture {
    /// Its title.
    pub title: String,
    /// Its scenes, in order.
    pub stops: Vec<Stop>,
}

/// One scene of it: a `[[scene]]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stop {
    /// A preset's name, or a file.
    pub scene: String,
    /// Overrides, `key.path=value`.
    pub set: Vec<String>,
    /// The heading; empty = the scene's own.
    pub title: String,
    /// A line below the picture.
    pub note: String,
    /// How long it is planned to stand.
    pub minutes: Option<f64>,
    /// Whether the next one starts by itself when its time is over.
    pub goes_on: bool,
}

impl Lecture {
    /// Every preset, in the order of the gallery.
    #[must_use]
    pub fn of_presets() -> Self {
        let stop = |preset: &presets::Preset| Stop {
            scene: preset.name.to_owned(),
            ..Stop::default()
        };
        Self {
            title: String::new(),
            stops: presets::all().iter().map(stop).collect(),
        }
    }

    /// Reads a lecture from a file; scenes that are files are relative to it.
    ///
    /// # Errors
    /// Everything that is wrong with it, each fault with its place; scenes are not read.
    pub fn read(path: &Path) -> Result<Self, Faults> {
        let name = path.display().to_string();
        let cannot = |reason: String| Faults::one(&name, format!("it cannot be read: {reason}"), "check the name");
        let bytes = crate::input_file::read(path, MOST).map_err(|error| cannot(error.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|_| cannot("it is not text".to_owned()))?;
        Self::read_text(&text, &name, path.parent())
    }

    /// The same from a text; scene files are relative to `folder`.
    ///
    /// # Errors
    /// As [`Lecture::read`].
    pub fn read_text(text: &str, name: &str, folder: Option<&Path>) -> Result<Self, Faults> {
        let located = |place: &Place, (key, message, remedy): (String, String, String)| Fault {
            key,
            message,
            remedy,
            location: match place {
                Place::Text(range) => Some(Location::find(text, range)),
                Place::Setting(_) => None,
            },
            setting: None,
        };
        let faults = |list: Vec<Fault>| Faults {
            origin: name.to_owned(),
            list,
        };
        let document = Document::parse(text).map_err(|fault| {
            faults(vec![located(
                &fault.place,
                (String::new(), fault.message, fault.remedy),
            )])
        })?;
        if read::is_scene(&document) {
            let message = "this is a scene, not a lecture";
            let remedy = "open it with `ripplon FILE`; a lecture names it as [[scene]] with `scene = \"FILE\"`";
            return Err(Faults::one(name, message, remedy));
        }
        let mut found = Diagnostics::default();
        let mut lecture = Self::default();
        if let Some(mut root) = Section::open(&document.root, "", &mut found) {
            if let Some(format) = root.get::<i64>("format", &mut found).filter(|format| *format != FORMAT) {
                let message = format!("{format} is not a format that this version reads");
                found.value(
                    "format",
                    message,
                    format!("write `format = {FORMAT}`, or use a newer version of the program"),
                );
            }
            lecture.title = root.get("title", &mut found).unwrap_or_default();
            lecture.stops = root.tables("scene", &mut found, |section, found| stop(section, found, folder));
            if lecture.stops.is_empty() && !root.has("scene") {
                found.key(
                    "scene",
                    "is missing",
                    "add [[scene]] with `scene = \"double-slit\"`, once for each",
                );
            }
            root.close(&mut found, |_, _| None);
        }
        if lecture.stops.len() > MOST_STOPS {
            let message = format!("{} scenes are more than a lecture has", lecture.stops.len());
            found.key("scene", message, format!("take at most {MOST_STOPS}"));
            lecture.stops.clear();
        }
        for (n, stop) in lecture.stops.iter().enumerate() {
            if stop.goes_on && stop.minutes.is_none() {
                let remedy = "write `minutes` too";
                found.value(format!("scene.{n}.goes_on"), "without a time it never goes on", remedy);
            }
            if let Some(minutes) = stop
                .minutes
                .filter(|minutes| !(*minutes > 0.0 && *minutes <= MOST_MINUTES))
            {
                let message = format!("{minutes:?} is not a time that a lecture takes");
                let remedy = format!("write minutes above 0 and up to {MOST_MINUTES}, e.g. 2.5");
                found.value(format!("scene.{n}.minutes"), message, remedy);
            }
        }
        if found.faults.is_empty() {
            Ok(lecture)
        } else {
            let list = found.faults.into_iter().map(|fault| {
                let place = document.place_of(text, &fault.key, fault.on_key, fault.within);
                located(&place, (fault.key, fault.message, fault.remedy))
            });
            Err(faults(list.collect()))
        }
    }
}

fn stop(mut section: Section<'_>, found: &mut Diagnostics, folder: Option<&Path>) -> Stop {
    let scene: String = section.need("scene", "\"double-slit\"", found);
    let is_preset = presets::find(&scene).is_some();
    let stop = Stop {
        scene: match folder.filter(|_| !is_preset && !scene.is_empty()) {
            Some(folder) => folder.join(&scene).to_string_lossy().into_owned(),
            None => scene,
        },
        set: section.get("set", found).unwrap_or_default(),
        title: section.get("title", found).unwrap_or_default(),
        note: section.get("note", found).unwrap_or_default(),
        minutes: section.get("minutes", found),
        goes_on: section.get("goes_on", found).unwrap_or_default(),
    };
    section.close(found, |_, _| None);
    stop
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "title = \"Waves\"\n\n[[scene]]\nscene = \"double-slit\"\nminutes = 3\nnote = \"Look.\"\n\n[[scene]]\nscene = \"own.toml\"\nset = [\"time.end=5\"]\ntitle = \"Mine\"\nminutes = 0.5\ngoes_on = true\n";

    #[test]
    fn a_lecture_is_read_with_its_order_notes_and_times() {
        let lecture = Lecture::read_text(TEXT, "l", Some(Path::new("/talks"))).unwrap();
        assert_eq!(lecture.title, "Waves");
        let [first, second] = &lecture.stops[..] else {
            panic!("{lecture:?}")
        };
        assert_eq!(
            (first.scene.as_str(), first.minutes, first.note.as_str()),
            ("double-slit", Some(3.0), "Look.")
        );
        assert_eq!(second.scene, Path::new("/talks").join("own.toml").to_string_lossy());
        assert_eq!(
            (second.set.as_slice(), second.goes_on),
            (&["time.end=5".to_owned()][..], true)
        );
        assert_eq!(Lecture::of_presets().stops.len(), presets::all().len());
    }

    #[test]
    fn faults_have_their_places() {
        for (text, words) in [
            ("title = \"a\"", "scene: is missing"),
            ("[[scene]]\nminutes = 2", "scene.0.scene: is missing"),
            ("[[scene]]\nscene = \"pond\"\nminutes = 0", "0.0 is not a time"),
            ("[[scene]]\nscene = \"pond\"\nminutes = 1e300", "1e300 is not a time"),
            (&"[[scene]]\nscene = \"pond\"\n".repeat(1001), "1001 scenes"),
            (
                "[[scene]]\nscene = \"pond\"\ngoes_on = true",
                "without a time it never goes on",
            ),
            ("[[scene]]\nscene = \"pond\"\nnotes = \"a\"", "did you mean `note`?"),
            ("format = 2\n[[scene]]\nscene = \"pond\"", "2 is not a format"),
            ("[[scene", "lecture"),
        ] {
            let faults = Lecture::read_text(text, "lecture", None).unwrap_err();
            let said = faults.render(false);
            assert!(said.contains(words), "{words} is not in\n{said}");
        }
    }
}
