//! What a scene is written as reads back the same.

use super::recording::in_space;
use super::{FREE, SOUND, read, with};
use ripplon::scene::presets;

#[test]
fn what_is_written_reads_back_the_same() {
    let everything = format!(
        "{FREE}\n{}",
        r#"
[view]
quantity = "phase"
range = [0, 1e-9]

[[layer]]
sets = "potential"
shape = "ring"
center = [3, 4]
inner = 1
outer = 2
value = "1e-20*x"
mode = "add"
drive = "cos(t)"

[[layer]]
sets = "wall"
shape = "slits"
x = 15
thickness = 1
centers = [5, 9]
opening = 1.5

[[layer]]
sets = "absorption"
shape = "polygon"
points = [[1, 1], [2, 1], [2, 2.5]]
value = 0.1

[[layer]]
sets = "wall"
shape = "stroke"
points = [[3, 1.25], [4, 1]]
radius = 0.75
value = 0

[[detector]]
name = "line \u00e4"
from = [20, 1]
to = [20, 9]
"#
    );
    let awkward = with(
        FREE,
        "title = \"Free\"",
        "title = 'a \"b\" \\ c'\nabout = 'x\"\"\"y\\\n'\ntags = [\"\\u0001\"]",
    );
    let awkward = awkward.replace(
        "about = 'x\"\"\"y\\\n'",
        "about = \"\"\"\\\nx\\\"\\\"\\\"y\\\\ \\u0007\n\"ends\" with \"quote\\\"\"\"\"",
    );
    let sound = with(
        SOUND,
        "at = [0.2, 0.2]",
        "points = [[0.1, 0.1], [0.2, 0.1]]\ndelays = [0.0, 1e-5]\nvelocity = [1, 0]",
    );
    let space = [
        "mode = \"slices\"\ncamera = { azimuth = 1e-7, target = [1, 2.5, 3] }\nslices = [0.1, 0.2, 0.3]",
        "mode = \"volume\"\nopacity = \"solid\"\nshading = true\ncamera = {}",
        "opacity = [[0, 0], [0.25, 1], [1, 0.125]]",
    ]
    .map(in_space);
    let texts = presets::all().iter().map(|preset| preset.text.to_owned());
    for text in texts
        .chain(space)
        .chain([FREE.to_owned(), SOUND.to_owned(), everything, awkward, sound])
    {
        let (file, scenario) = read(&text).unwrap_or_else(|faults| panic!("{faults}"));
        let written = file.to_toml();
        let (file_again, scenario_again) = read(&written).unwrap_or_else(|faults| panic!("{written}\n{faults}"));
        assert_eq!(file, file_again, "{written}");
        assert_eq!(scenario, scenario_again);
        assert_eq!(written, file_again.to_toml());
        assert!(scenario.continues(&scenario_again));
    }
}
