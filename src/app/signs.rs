//! Every sign that the window may show is in one of its fonts: one that none has is shown as a box.

use super::theme;
use egui::FontId;
use std::path::Path;

/// Folders whose words the window shows: its own, and those below it, whose faults, titles and units it quotes.
const FOLDERS: [&str; 8] = [
    "app", "engine", "physics", "render", "scene", "solver", "space", "export",
];

/// What a terminal shows instead of signs that would move its cursor.
const OF_TERMINALS: char = '\u{fffd}';

/// The contents of string and character literals of a source, without its tests, with the line on which each begins.
fn literals(source: &str) -> Vec<(usize, String)> {
    let source = source.split("#[cfg(test)]").next().unwrap_or_default();
    let signs: Vec<char> = source.chars().collect();
    let at = |n: usize| signs.get(n).copied().unwrap_or_default();
    let (mut found, mut n, mut line) = (Vec::new(), 0, 1);
    while n < signs.len() {
        match at(n) {
            '\n' => line += 1,
            '/' if at(n + 1) == '/' => {
                while n + 1 < signs.len() && at(n + 1) != '\n' {
                    n += 1;
                }
            }
            // A character; lifetimes have no second quote there.
            '\'' if at(n + 1) != '\\' && at(n + 2) == '\'' => {
                found.push((line, at(n + 1).to_string()));
                n += 2;
            }
            '\'' if at(n + 1) == '\\' => {
                n += 2;
                while n < signs.len() && at(n) != '\'' {
                    n += 1;
                }
            }
            '"' => {
                let hashes = (1..=n).take_while(|back| at(n - back) == '#').count();
                let raw = n > hashes && at(n - hashes - 1) == 'r';
                let (first, mut text) = (line, String::new());
                n += 1;
                while n < signs.len() {
                    let closes = at(n) == '"' && (!raw || (1..=hashes).all(|on| at(n + on) == '#'));
                    if closes {
                        break;
                    }
                    if at(n) == '\\' && !raw {
                        let code: String = (signs[n + 1..].iter().take(12)).collect();
                        if let Some((code, _)) = code.strip_prefix("u{").and_then(|code| code.split_once('}')) {
                            let sign = u32::from_str_radix(code, 16).ok().and_then(char::from_u32);
                            text.extend(sign);
                            n += code.len() + 2;
                        }
                        n += 1;
                        line += usize::from(at(n) == '\n');
                    } else {
                        line += usize::from(at(n) == '\n');
                        text.push(at(n));
                    }
                    n += 1;
                }
                found.push((first, text));
            }
            _ => {}
        }
        n += 1;
    }
    found
}

fn read(folder: &Path, each: &mut impl FnMut(&Path, &str)) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(&path, each);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            each(&path, &std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn literals_are_found_in_a_source() {
    let source = "let a = \"ψ\"; // \"no\"\nlet b = 'ħ'; fn f<'a>(x: &'a str) {}\nlet c = r#\"a \"b\" ∝\"#; let d = '\\'';\nlet e = \"\\u{3b1}\\n\\\"x\";\n#[cfg(test)]\nlet f = \"no\";";
    let found = literals(source);
    let expected = [(1, "ψ"), (2, "ħ"), (3, "a \"b\" ∝"), (4, "αx")];
    let found: Vec<(usize, &str)> = found.iter().map(|(line, text)| (*line, text.as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
fn every_sign_of_the_window_is_in_a_font() {
    let ctx = egui::Context::default();
    theme::install(&ctx);
    ctx.begin_pass(egui::RawInput::default());
    let (mut lacking, mut seen) = (Vec::new(), 0);
    for folder in FOLDERS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder);
        read(&folder, &mut |path, source| {
            for (line, text) in literals(source) {
                let signs = text.chars().filter(|sign| !sign.is_ascii() && *sign != OF_TERMINALS);
                for sign in signs {
                    seen += 1;
                    if !ctx.fonts_mut(|fonts| fonts.has_glyph(&FontId::proportional(13.0), sign)) {
                        lacking.push(format!(
                            "{sign} (U+{:04X}) in {}:{line}",
                            u32::from(sign),
                            path.display()
                        ));
                    }
                }
            }
        });
    }
    ctx.end_pass().textures_delta.clear();
    assert!(lacking.is_empty(), "{lacking:#?}");
    assert!(seen > 400, "{seen}");
}
