//! What stands wrong in a scene is said with its place, value, limit and remedy: words, numbers, grids, layers.

use super::{FREE, fault, read, with};

#[test]
fn text_and_types() {
    fault("format = 1\n[grid\nsize = 1", "2:6", &["not TOML", "2 | [grid"]);
    fault(
        &with(FREE, "format = 1", "format = 2"),
        "1:10",
        &["2 is not a format", "format = 1"],
    );
    fault(&with(FREE, "format = 1\n", ""), "1:1", &["format: is missing"]);
    fault(
        &with(FREE, "spacing = 0.5", "spacing = \"a\""),
        "6:11",
        &["\"a\" is a text, not a number", "^^^"],
    );
    fault(&with(FREE, "spacing = 0.5\n", ""), "4:2", &["grid.spacing: is missing"]);
}

#[test]
fn decimal_commas() {
    let comma = |text: &str| with(FREE, "step = 0.01", text);
    for (text, point) in [
        ("step = 0,01", "write a decimal point: 0.01"),
        ("step = -12,5", "write a decimal point: -12.5"),
    ] {
        fault(
            &comma(text),
            if text.contains('-') { "13:11" } else { "13:9" },
            &["not TOML", point],
        );
    }
    // In a list a comma separates; a word is no number.
    for text in ["step = 1,", "step = true,5", "step = 0.01,x"] {
        let shown = super::rendered(&comma(text));
        assert!(!shown.contains("decimal point"), "{shown}");
    }
}

#[test]
fn words_and_sections() {
    // A state that could not be read is not missing as well.
    fault(
        &with(FREE, "[[packet]]", "[packet]"),
        "19:1",
        &["packet: { … } is not a list of tables", "[[packet]]"],
    );
    fault(
        &with(FREE, "\"wall\"", "\"wal\""),
        "7:9",
        &["\"wal\" is not known", "did you mean \"wall\"?"],
    );
    fault(
        &with(FREE, "[[layer]]", "[[layers]]"),
        "24:3",
        &["layers", "write [[layer]], once for each"],
    );
    fault(
        &with(FREE, "mass = 1.0", "mas = 1.0"),
        "10:1",
        &["quantum.mas: there is no such key", "did you mean `mass`?"],
    );
    fault(
        &with(FREE, "mass = 1.0", "mass = 1.0\nhopping = 1"),
        "11:1",
        &["a hopping as well as a mass"],
    );
    fault(
        &with(FREE, "[quantum]\nmass = 1.0\n", ""),
        "1:1",
        &["neither [quantum] nor [acoustic]"],
    );
    fault(
        &with(FREE, "[time]", "[acoustic]\n[time]"),
        "12:2",
        &["[quantum] as well as [acoustic]"],
    );
    fault(
        &with(
            FREE,
            "[[detector]]",
            "[[pulse]]\ncenter = [1, 1]\nwidth = 1\n[[detector]]",
        ),
        "31:3",
        &["no pulses"],
    );
    let mirror = format!("{FREE}\n[mirror]\nmethod = \"reversal\"\nat = 1.0\n");
    fault(&mirror, "42:10", &["plays through transducers", "there are none"]);
}

#[test]
fn numbers_and_ranges() {
    fault(
        &with(FREE, "mass = 1.0", "mass = -1.0"),
        "10:8",
        &["-1.0 is not greater than 0"],
    );
    fault(
        &with(FREE, "mass = 1.0", "mass = nan"),
        "10:8",
        &["nan is not a finite number"],
    );
    fault(
        &with(FREE, "mass = 1.0", "mass = 1e999"),
        "10:8",
        &["not a finite number"],
    );
    fault(
        &with(FREE, "step = 0.01", "step = 0"),
        "13:8",
        &["0.0 is not greater than 0"],
    );
    fault(
        &with(FREE, "step = 0.01", "step = -0.01"),
        "13:8",
        &["-0.01 is not greater than 0"],
    );
    fault(
        &with(FREE, "step = 0.01", "step = \"fast\""),
        "13:8",
        &["neither a number nor \"auto\""],
    );
    fault(
        &with(FREE, "size = [64, 32]", "size = [64, -32]"),
        "5:13",
        &["-32 is negative"],
    );
    fault(
        &with(FREE, "size = [64, 32]", "size = [64.5, 32]"),
        "5:9",
        &["64.5 is a number, not a whole number"],
    );
    fault(
        &with(FREE, "width = [2.0, 2.0]", "width = 1e-200"),
        "21:9",
        &["1e-200 is not between 1e-30 and 1e30"],
    );
    fault(
        &with(FREE, "width = [2.0, 2.0]", "width = [2.0, 0.0]"),
        "21:15",
        &["0.0 is not greater than 0"],
    );
    fault(
        &with(FREE, "width = [2.0, 2.0]", "width = 1e-3\nweight = 0"),
        "19:3",
        &["norm 0"],
    );
    fault(
        &with(FREE, "center = [10.0, 8.0]", "center = [10.0]"),
        "20:10",
        &["1 number where the grid has 2", "x, y"],
    );
    fault(
        &with(FREE, "center = [10.0, 8.0]", "center = [10.0, 99.0]"),
        "20:17",
        &["y = 99.0 lies outside", "from 0 to 15.5"],
    );
    fault(
        &with(FREE, "momentum = [1.0", "momentum = [7.0"),
        "22:13",
        &["7.0 is beyond the band's edge", "6.283185"],
    );
    fault(
        &with(FREE, "tolerance = 0.01", "tolerance = 0"),
        "39:13",
        &["not greater than 0"],
    );
}

/// Ends of grids are products of sites and spacing, whose last digits are rounding. What is written is shown as it is.
#[test]
fn ends_of_grids_are_told_without_rounding() {
    let grid = |size: &str, spacing: &str| format!("format = 1\n[grid]\nsize = {size}\nspacing = {spacing}\n");
    let at = |center: &str| format!("[quantum]\n[[packet]]\ncenter = {center}\nwidth = 1.0\n");
    for (size, spacing, place, end) in [
        ("[200]", "0.15", "31.000000000000004", "from 0 to 29.85\n"),
        ("[300]", "0.1", "30.2", "from 0 to 29.9\n"),
        ("[4]", "0.3333333333333333", "30.2", "from 0 to 1.0\n"),
        ("[3]", "0.1234567890123456", "30.2", "from 0 to 0.2469135780246912\n"),
    ] {
        let text = grid(size, spacing) + &at(&format!("[{place}]"));
        fault(&text, "7:10", &[&format!("x = {place} lies outside the grid"), end]);
    }
    let view = |slices: &str| format!("[view]\nslices = {slices}\n");
    let space = grid("[8, 8, 300]", "0.1") + &at("[0.3, 0.3, 2.0]") + &view("[0, 0, 31]");
    fault(&space, "10:17", &["31.0 is outside the grid", "from 0 to 29.9\n"]);
    let disk = "[acoustic]\n[[source]]\ncenter = [0.3, 0.3, 40]\nradius = 0.2\nnormal = \"z\"\nsignal = \"ricker\"\nfrequency = 10.0\n";
    fault(
        &(grid("[8, 8, 300]", "0.1") + disk),
        "7:10",
        &["does not touch the grid, 0 to 29.9 along"],
    );
}

#[test]
fn grids_and_edges() {
    fault(
        &with(FREE, "size = [64, 32]", "size = [64, 1]"),
        "5:13",
        &["1 site is fewer than 2"],
    );
    let odd = with(&with(FREE, "64, 32", "63, 32"), "\"wall\"", "[\"periodic\", \"wall\"]");
    fault(&odd, "5:9", &["63 sites along x are odd", "62 or 64"]);
    fault(
        &with(FREE, "\"wall\"", "[\"wall\"]"),
        "7:9",
        &["1 word where the grid has 2 axes"],
    );
    fault(
        &with(FREE, "\"wall\"", "\"absorb\"\nabsorb_width = 16"),
        "8:16",
        &[
            "two layers of 16 sites leave nothing of the 32 sites along y",
            "at most 15",
        ],
    );
    fault(
        &with(FREE, "\"wall\"", "\"absorb\"\nabsorb_width = 0"),
        "8:16",
        &["0 sites absorb nothing"],
    );
    let huge = with(FREE, "64, 32", "1000000, 1000000");
    fault(&huge, "5:8", &["1000000 × 1000000 sites need", "TiB", "are free"]);
    fault(&with(FREE, "64, 32", "99999999999999, 32"), "5:9", &["more than 2^40"]);
    let torus = with(
        &with(FREE, "mass = 1.0", "mass = 1.0\nflux = 0.01"),
        "\"wall\"",
        "\"periodic\"",
    );
    fault(&torus, "11:8", &["flux times sites along y is 0.32", "whole number"]);
    // 0.03 · 30 is 0.8999999999999999 in double precision.
    let short = with(&with(&torus, "flux = 0.01", "flux = 0.03"), "64, 32", "64, 30");
    fault(&short, "11:8", &["flux times sites along y is 0.9;"]);
    let whole = with(&torus, "flux = 0.01", "flux = 0.03125");
    if let Err(faults) = read(&whole) {
        assert!(!faults.to_string().contains("whole number"), "{faults}");
    }
}

#[test]
fn layers_and_formulas() {
    let layer = |new: &str| with(FREE, "value = 0.35", new);
    fault(
        &layer("value = \"0.1*(x + q)\""),
        "29:19",
        &[
            "`q` is not a variable",
            "x, y, z, r, pi, e",
            "| value = \"0.1*(x + q)\"\n   |                   ^\n",
        ],
    );
    // Of a potential: the time stands in a formula of its own.
    let asked = "a value does not depend on t: write the factor that does as `drive`";
    fault(
        &layer("value = \"0.1*sin(t)\""),
        "29:18",
        &["`t` is not a variable", asked, "x, y, z, r, pi, e"],
    );
    fault(&layer("value = \"0.1*(x + \""), "29:19", &["ends too early"]);
    fault(&layer("value = \"1/(x - 20)\""), "29:9", &["it is inf at site [40, 0]"]);
    fault(&layer("value = true"), "29:9", &["not a number or a formula"]);
    fault(&layer(""), "24:1", &["layer.0.value: is missing"]);
    fault(
        &layer("value = 0.1\nradius = 3"),
        "30:1",
        &["shape \"box\" has no such key", "belongs to shape \"disk\""],
    );
    fault(
        &layer("value = 0.1\ndrive = \"sin(x)\""),
        "30:14",
        &["`x` is not a variable", "t, pi, e"],
    );
    fault(
        &with(FREE, "sets = \"potential\"", "sets = \"speed\""),
        "25:8",
        &["nothing that a quantum scene has", "potential, wall, absorption"],
    );
    let wall = with(FREE, "sets = \"potential\"", "sets = \"wall\"\ndrive = \"cos(t)\"");
    fault(&wall, "26:1", &["only a potential can"]);
    fault(
        &with(FREE, "max = [22.0, 15.5]", "max = [2.0, 15.5]"),
        "28:8",
        &["below the lower corner's 20.0 along x"],
    );
    fault(
        &with(
            FREE,
            "shape = \"box\"\nmin = [20.0, 0.0]\nmax = [22.0, 15.5]\n",
            "min = [1, 1]\n",
        ),
        "26:1",
        &["no shape is given", "shape = \"box\""],
    );
    fault(
        &with(FREE, "shape = \"box\"", "shape = \"image\"\nfile = \"none.png\"")
            .replace("min = [20.0, 0.0]\nmax = [22.0, 15.5]\n", ""),
        "27:8",
        &["none.png cannot be read: there is no such file"],
    );
}

#[test]
fn theory_and_notes() {
    let with_end = |text: &str| format!("{FREE}\n{text}\n");
    let says = |text: &str, words: &[&str]| {
        let faults = match ripplon::solver::read_scene_text(&with_end(text), None, &[]) {
            Ok(_) => panic!("{text} is taken"),
            Err(faults) => faults.render(false),
        };
        for word in words {
            assert!(faults.contains(word), "{word} is not in\n{faults}");
        }
    };
    says("[[note]]\nat = 1.0", &["note.0.text: is missing"]);
    says(
        "[[note]]\nat = 2.0\nuntil = 1.0\ntext = \"a\"",
        &["1 is not after the beginning at 2"],
    );
    for (mark, words) in [
        ("{ center = [1, 2] }", "note.0.mark.radius: is missing"),
        ("{ center = [1], radius = 1 }", "1 value where x and y belong"),
        ("{ center = [1, \"2*q\"], radius = 1 }", "note.0.mark.center.1"),
        ("{ center = [1, 2], radius = 1, color = 3 }", "there is no such key"),
    ] {
        says(&format!("[[note]]\nat = 1\ntext = \"a\"\nmark = {mark}"), &[words]);
    }
    says("[[theory]]\nlabel = \"a\"", &["it must draw exactly one thing"]);
    says(
        "[[theory]]\ncut = \"x\"\nfrom = [1, 2]\nvalue = 1",
        &["it must draw exactly one thing"],
    );
    says(
        "[[theory]]\ndetector = \"nowhere\"\nvalue = 1",
        &["there is no detector \"nowhere\""],
    );
    says("[[theory]]\ncut = \"x\"\nvalue = \"2*q\"", &["theory.0.value", "q"]);
    says(
        "[[theory]]\ncenter = [1]\nradius = 1",
        &["1 value where x and y belong"],
    );
    says(
        "[[theory]]\ncenter = [1, \"2*x\"]\nradius = 1",
        &["theory.0.center.1", "x"],
    );
    says(
        "[[theory]]\ncenter = [1, true]\nradius = 1",
        &["not a number or a formula"],
    );
}
