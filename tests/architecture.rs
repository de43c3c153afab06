//! The layers of the program: `use crate::` lines may point sideways within a layer or down, never up; what is below the
//! window knows no egui, and of wgpu only back end and steppers do.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail where it stands")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Top-level modules from the bottom; those on one line may use each other only where `SIDEWAYS` says so.
const LAYERS: &[&[&str]] = &[
    &[
        "units",
        "grid",
        "field",
        "colormap",
        "platform",
        "memory_files",
        "atomic_file",
        "atomic_file_in_memory",
        "file_error",
        "input_file",
        "base64",
        "rounding",
        "words",
    ],
    &["physics"],
    &["scene", "backend"],
    &["solver"],
    &["space"],
    &["engine"],
    &["render", "export"],
    &["remote"],
    &["app", "cli"],
];

/// Uses within one layer: (who, whom). The command line opens the app.
const SIDEWAYS: &[(&str, &str)] = &[
    ("cli", "app"),
    ("grid", "units"),
    ("field", "grid"),
    ("colormap", "words"),
    ("field", "words"),
    ("grid", "words"),
    ("grid", "rounding"),
    ("input_file", "atomic_file"),
    ("input_file", "memory_files"),
    ("atomic_file_in_memory", "memory_files"),
];

/// Crates that only these modules may name.
const PRIVATE_CRATES: &[(&str, &[&str])] = &[
    ("egui", &["app", "render"]),
    ("eframe", &["app", "render"]),
    ("egui_plot", &["app"]),
    ("wgpu", &["app", "render", "cli", "backend", "solver"]),
    ("rfd", &["app"]),
    ("clap", &["cli"]),
    ("tungstenite", &["remote"]),
    ("polling", &["remote"]),
    ("postcard", &["remote"]),
    ("anyhow", &["cli", "app"]),
];

fn level(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

fn sources(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}

/// Every module that a text names after `crate::` (also in `use crate::{a, b::c}`, over several lines), with its line from 1.
fn named(text: &str) -> Vec<(usize, String)> {
    let word = |text: &str| -> String { text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect() };
    let mut found = Vec::new();
    for (at, _) in text.match_indices("crate::") {
        let line = text[..at].matches('\n').count() + 1;
        let rest = &text[at + "crate::".len()..];
        if let Some(list) = rest.strip_prefix('{') {
            let mut depth = 0;
            let mut start = true;
            for (i, c) in list.char_indices() {
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    ',' if depth == 0 => start = true,
                    c if start && c.is_alphabetic() => {
                        found.push((line, word(&list[i..])));
                        start = false;
                    }
                    _ => {}
                }
                if depth < 0 {
                    break;
                }
            }
        } else {
            found.push((line, word(rest)));
        }
    }
    found
}

/// The text with comment lines blanked, so that line numbers stay.
fn without_comments(text: &str) -> String {
    let keep = |line: &'_ str| !line.trim_start().starts_with("//");
    text.lines()
        .map(|line| if keep(line) { line } else { "" })
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn arrows_point_down() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 20, "the sources are where this test looks");
    let mut faults = Vec::new();
    for file in files {
        let inside = file.strip_prefix(&root).unwrap();
        let module = inside
            .components()
            .next()
            .unwrap()
            .as_os_str()
            .to_string_lossy()
            .replace(".rs", "");
        if module == "lib" || module == "main" {
            continue;
        }
        let Some(own) = level(&module) else {
            faults.push(format!("{}: module `{module}` has no layer", inside.display()));
            continue;
        };
        let text = without_comments(&fs::read_to_string(&file).unwrap());
        for (line, name) in named(&text) {
            let Some(used) = level(&name) else { continue };
            let sideways = used == own && name != module && !SIDEWAYS.contains(&(&module, &name));
            if used > own || sideways {
                let place = format!("{}:{line}", inside.display());
                faults.push(format!("{place}: `{module}` uses `{name}`, which is not below it"));
            }
        }
        for (number, line) in text.lines().enumerate() {
            let place = format!("{}:{}", inside.display(), number + 1);
            for (krate, owners) in PRIVATE_CRATES {
                let names_it = line.contains(&format!("{krate}::")) && !line.contains(&format!("_{krate}::"));
                let before = line.split(&format!("{krate}::")).next().unwrap_or("");
                let whole_word = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
                if names_it && whole_word && !owners.contains(&module.as_str()) {
                    faults.push(format!("{place}: `{module}` names the crate `{krate}`"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Files of the inner layers of `solver` that may name what else is private to a few: (word, files).
const PRIVATE_WORDS: &[(&str, &[&str])] = &[
    // The state of a checkpoint and what it holds.
    ("SolverState", &["mod.rs", "run.rs"]),
    // `[solver]` of a scene, read once.
    (".solver()", &["setup.rs", "check.rs", "placement.rs"]),
    // The only implementation of `Solver`.
    (" Solver for ", &["run.rs"]),
];

#[test]
fn runs_alone_know_clocks_and_checkpoints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/solver");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let texts: Vec<(String, String)> = files
        .iter()
        .map(|file| {
            let inside = file.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
            (inside, without_comments(&fs::read_to_string(file).unwrap()))
        })
        .collect();
    for (word, allowed) in PRIVATE_WORDS {
        let naming: Vec<&str> = (texts.iter().filter(|(_, text)| text.contains(word)))
            .map(|(inside, _)| inside.as_str())
            .collect();
        let others: Vec<_> = naming.iter().filter(|file| !allowed.contains(file)).collect();
        assert!(others.is_empty(), "`{word}` is named in {others:?}");
        let idle: Vec<_> = allowed.iter().filter(|file| !naming.contains(file)).collect();
        assert!(
            idle.is_empty(),
            "{idle:?} may name `{word}` and do not: shorten the list"
        );
    }
}

#[test]
fn no_method_uses_another() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/solver");
    let methods = [
        "trotter",
        "crank_nicolson",
        "split_step_fourier",
        "chebyshev",
        "fdtd",
        "oscillators",
    ];
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut found = Vec::new();
    for file in &files {
        let inside = file.strip_prefix(&root).unwrap();
        let own = top(inside);
        let text = without_comments(&fs::read_to_string(file).unwrap());
        for (at, _) in text.match_indices("crate::solver::") {
            let path = &text[at + "crate::solver::".len()..];
            let path: String = path
                .chars()
                .take_while(|c| c.is_alphanumeric() || "_:".contains(*c))
                .collect();
            let other = path.split("::").next().unwrap_or("");
            if methods.contains(&other) && other != own {
                found.push((own.clone(), path));
            }
        }
    }
    assert!(found.is_empty(), "{found:?}");
}

/// A folder of `solver`, or the file's own name without an ending where it lies in no folder.
fn top(inside: &Path) -> String {
    let first = inside.components().next().unwrap().as_os_str().to_string_lossy();
    first.trim_end_matches(".rs").to_owned()
}

/// Paths of a `use` tree: `a::{b, c::d}` gives a::b and a::c::d.
fn flattened(tree: &str, prefix: &[String], all: &mut Vec<Vec<String>>) {
    let words = |text: &str| -> Vec<String> {
        let names = text
            .split("::")
            .map(|word| word.split(" as ").next().unwrap_or("").trim().to_owned());
        names.filter(|word| !word.is_empty()).collect()
    };
    let Some(open) = tree.find('{') else {
        all.push([prefix, &words(tree)].concat());
        return;
    };
    let prefix = [prefix, &words(&tree[..open])].concat();
    let inner = &tree[open + 1..tree.rfind('}').unwrap_or(tree.len())];
    let (mut depth, mut start) = (0, 0);
    for (at, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                flattened(&inner[start..at], &prefix, all);
                start = at + 1;
            }
            _ => {}
        }
    }
    if !inner[start..].trim().is_empty() {
        flattened(&inner[start..], &prefix, all);
    }
}

/// A file's module path below `solver`.
fn module_of(inside: &Path) -> Vec<String> {
    let mut path: Vec<String> = (inside.with_extension("").components())
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    path.pop_if(|last| last == "mod");
    path
}

/// Which files of `solver` import from which, tests and re-exports apart.
fn imports(root: &Path) -> BTreeMap<Vec<String>, BTreeSet<Vec<String>>> {
    let mut files = Vec::new();
    sources(root, &mut files);
    let inside = |file: &PathBuf| module_of(file.strip_prefix(root).unwrap());
    let modules: BTreeSet<Vec<String>> = files.iter().map(inside).collect();
    let mut graph = BTreeMap::new();
    for file in &files {
        let own = inside(file);
        let text = without_comments(&fs::read_to_string(file).unwrap());
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or("");
        let mut used = BTreeSet::new();
        for (at, _) in text.match_indices("\nuse ") {
            let tree = text[at + "\nuse ".len()..].split(';').next().unwrap_or("");
            let mut paths = Vec::new();
            flattened(tree, &[], &mut paths);
            for path in paths {
                let (mut base, mut rest) = match path.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                    ["crate", "solver", ..] => (Vec::new(), &path[2..]),
                    ["super" | "self", ..] => (own.clone(), &path[..]),
                    [first, ..] if modules.contains(&[&own[..], &[first.to_owned()]].concat()) => {
                        (own.clone(), &path[..])
                    }
                    _ => continue,
                };
                while let [first, others @ ..] = rest
                    && (first == "super" || first == "self")
                {
                    if first == "super" {
                        base.pop();
                    }
                    rest = others;
                }
                for word in rest {
                    let deeper = [&base[..], std::slice::from_ref(word)].concat();
                    if !modules.contains(&deeper) {
                        break;
                    }
                    base = deeper;
                }
                if base != own {
                    used.insert(base);
                }
            }
        }
        graph.insert(own, used);
    }
    graph
}

/// What can be reached from a node.
fn reached<'a, N: Ord>(graph: &'a BTreeMap<N, BTreeSet<N>>, from: &'a N) -> BTreeSet<&'a N> {
    let mut seen = BTreeSet::new();
    let mut next: Vec<&N> = graph.get(from).into_iter().flatten().collect();
    while let Some(node) = next.pop() {
        if seen.insert(node) {
            next.extend(graph.get(node).into_iter().flatten());
        }
    }
    seen
}

/// Nodes of each circle of a graph, the largest set that reach each other.
fn circles<N: Ord + Clone>(graph: &BTreeMap<N, BTreeSet<N>>) -> BTreeSet<BTreeSet<N>> {
    let all: BTreeMap<&N, BTreeSet<&N>> = graph.keys().map(|node| (node, reached(graph, node))).collect();
    (graph.keys().filter(|node| all[node].contains(node)))
        .map(|node| {
            let together = all[node]
                .iter()
                .filter(|other| all.get(**other).is_some_and(|back| back.contains(node)));
            together.map(|other| (*other).clone()).collect()
        })
        .collect()
}

#[test]
fn imports_make_no_circles() {
    let graph = imports(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/solver"));
    assert!(graph.len() > 100, "the sources are where this test looks");
    let folder = |module: &Vec<String>| module.first().cloned().unwrap_or_default();
    let mut folders: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (own, used) in &graph {
        let others = used.iter().map(folder).filter(|other| *other != folder(own));
        folders.entry(folder(own)).or_default().extend(others);
    }
    let across: Vec<Vec<String>> = circles(&folders)
        .into_iter()
        .map(|circle| circle.into_iter().collect())
        .collect();
    assert!(across.is_empty(), "circles of imports across folders: {across:?}");
    for (name, _) in folders {
        let inside: BTreeMap<_, BTreeSet<_>> = (graph.iter().filter(|(own, _)| folder(own) == name))
            .map(|(own, used)| {
                (
                    own.clone(),
                    used.iter().filter(|other| folder(other) == name).cloned().collect(),
                )
            })
            .collect();
        for circle in circles(&inside) {
            assert!(
                circle.len() <= 3,
                "a circle of imports of more than three files: {circle:?}"
            );
        }
    }
}

#[test]
fn circles_are_found() {
    let graph = |edges: &[(u8, u8)]| {
        let mut graph: BTreeMap<u8, BTreeSet<u8>> = BTreeMap::new();
        for (from, to) in edges {
            graph.entry(*from).or_default().insert(*to);
            graph.entry(*to).or_default();
        }
        circles(&graph)
    };
    assert_eq!(graph(&[(1, 2), (2, 3), (1, 3)]), BTreeSet::new());
    let found = graph(&[(1, 2), (2, 3), (3, 1), (3, 4), (4, 5), (5, 4)]);
    assert_eq!(
        found,
        BTreeSet::from([BTreeSet::from([1, 2, 3]), BTreeSet::from([4, 5])])
    );
    let mut paths = Vec::new();
    flattened("a::{b, c::{d as e, f}}", &[], &mut paths);
    assert_eq!(paths.concat().join(" "), "a b a c d a c f");
}

#[test]
fn every_kernel_is_tied_to_a_source_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    sources(&root.join("src"), &mut files);
    let all: String = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    for entry in fs::read_dir(root.join("kernels")).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        assert!(all.contains(&name), "no source file names kernels/{name}");
    }
}

/// Files whose unsafe code has no bound that could be checked where it stands, and why.
const WITHOUT_BOUND: &[(&str, &str)] = &[
    ("src/backend/cuda/mod.rs", "calls of the driver without arrays"),
    ("src/backend/cuda/source.rs", "a promise about a type"),
    (
        "src/backend/simd/neon.rs",
        "instructions, whose presence `Level::run` asserts; addresses are the callers'",
    ),
    ("src/backend/simd/operations.rs", "as neon.rs"),
    ("src/backend/simd/portable.rs", "as neon.rs"),
    ("src/backend/simd/wasm.rs", "as neon.rs"),
    ("src/cli/display.rs", "a library is opened"),
    (
        "src/cli/quiet.rs",
        "the environment, which is left alone where there are other threads",
    ),
    ("src/remote/server.rs", "a socket is put on the system's list"),
    ("src/remote/socket.rs", "as server.rs"),
    (
        "tests/hostile/memory.rs",
        "calls are handed on to the system's allocator",
    ),
];

/// Lines of a text with `unsafe` before a block or an implementation, from 1, and whether `SAFETY` stands in the six lines above.
fn unsafe_places(text: &str) -> Vec<(usize, bool)> {
    let lines: Vec<&str> = text.lines().collect();
    let opens = |line: &str| {
        let code = line.split("//").next().unwrap_or("");
        ["unsafe {", "unsafe impl"].iter().any(|word| code.contains(word))
    };
    (0..lines.len())
        .filter(|n| opens(lines[*n]))
        .map(|n| {
            (
                n + 1,
                lines[n.saturating_sub(6)..=n]
                    .iter()
                    .any(|line| line.contains("SAFETY")),
            )
        })
        .collect()
}

/// Every unsafe block says why it is sound, and every file with one asserts what can be seen of it.
#[test]
fn unsafe_code_says_why_it_is_sound_and_asserts_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    sources(&root.join("src"), &mut files);
    sources(&root.join("tests"), &mut files);
    let (mut found, mut silent, mut unbounded) = (0, Vec::new(), Vec::new());
    for file in &files {
        let inside = file.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
        if inside == "tests/architecture.rs" {
            continue;
        }
        let text = fs::read_to_string(file).unwrap();
        let places = unsafe_places(&text);
        found += places.len();
        silent.extend(
            places
                .iter()
                .filter(|place| !place.1)
                .map(|place| format!("{inside}:{}", place.0)),
        );
        let asserts = text.split("mod tests {").next().unwrap_or("").contains("assert");
        if !places.is_empty() && !asserts {
            unbounded.push(inside);
        }
    }
    assert!(
        found > 300,
        "{found} unsafe blocks: the sources are where this test looks"
    );
    assert!(silent.is_empty(), "without a SAFETY comment: {silent:?}");
    unbounded.sort();
    let listed: Vec<&str> = WITHOUT_BOUND.iter().map(|(file, _)| *file).collect();
    assert_eq!(
        unbounded, listed,
        "files with unsafe code and no assertion, beside those that have a reason"
    );
}

#[test]
fn unsafe_code_without_a_reason_is_found() {
    let text = "// SAFETY: a reason.\nunsafe { a() };\n\n\n\n\n\n\nlet b = unsafe { c() };\n// unsafe { d() }\nunsafe impl E for F {}";
    assert_eq!(unsafe_places(text), [(2, true), (9, false), (11, false)]);
}

#[test]
fn names_are_found() {
    let names = |text| named(text).into_iter().map(|(_, name)| name).collect::<Vec<_>>();
    assert_eq!(names("use crate::grid::Grid;"), ["grid"]);
    assert_eq!(
        names("use crate::{field::Real,\n  solver::{Taps, image}, grid};"),
        ["field", "solver", "grid"]
    );
    assert_eq!(named("\nlet x = crate::units::si(1.0);"), [(2, "units".to_owned())]);
}

/// What `tests/run` hands over to is there and may be carried out.
#[cfg(unix)]
#[test]
fn scripts_that_tests_run_starts_are_there() {
    use std::os::unix::fs::PermissionsExt;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("tests/run")).unwrap();
    let started: Vec<&str> = (text.split_whitespace().zip(text.split_whitespace().skip(1)))
        .filter(|(word, script)| *word == "exec" && script.trim_matches('"').starts_with("tests/"))
        .map(|(_, script)| script.trim_matches('"'))
        .collect();
    assert!(started.len() >= 4, "{started:?}");
    for script in started {
        let path = root.join(script);
        let mode = fs::metadata(&path).map_or(0, |all| if all.is_file() { all.permissions().mode() } else { 0 });
        assert!(mode & 0o111 != 0, "tests/run starts {script}, which is no script");
    }
}
