//! Every shader is valid WGSL for the strictest devices, and its uniforms have the layout that the Rust side writes.
#![cfg(feature = "gui")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail where it stands")]

use naga::valid::{Capabilities, ValidationFlags, Validator};
use ripplon::backend::wgpu::expanded;
use ripplon::render::{curve, enlarge, field, medium, volume};
use std::path::Path;

fn check(name: &str, source: &str) -> naga::Module {
    let module = naga::front::wgsl::parse_str(source)
        .unwrap_or_else(|error| panic!("{}", error.emit_to_string_with_path(source, name)));
    // No capability beyond the WebGPU core: the shaders run on every adapter. Strips are for those that have subgroups.
    let capabilities = if name.ends_with("_strips") {
        Capabilities::SUBGROUP
    } else {
        Capabilities::empty()
    };
    Validator::new(ValidationFlags::all(), capabilities)
        .validate(&module)
        .unwrap_or_else(|error| panic!("{}", error.emit_to_string_with_path(source, name)));
    module
}

/// Values that 0 or 1 stand for in a kernel that is written out, and rows of a thread.
fn choices(names: &[&'static str]) -> Vec<Vec<(&'static str, i64)>> {
    let mut all = vec![vec![("ROWS", 4)], vec![("ROWS", 8)]];
    for name in names {
        all = (all.into_iter())
            .flat_map(|one| [0, 1].map(|value| [one.clone(), vec![(*name, value)]].concat()))
            .collect();
    }
    all
}

/// What is compiled of a file, behind the head that it shares with others.
fn compiled(name: &str, text: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
    let with = |heads: &[&str]| {
        let head = |head: &&str| std::fs::read_to_string(folder.join(head)).unwrap();
        heads.iter().map(head).collect::<String>() + text
    };
    let whole_steps = ["trotter.wgsl", "trotter_steps.wgsl", "along.wgsl"];
    match name {
        // Heads
        "trotter" | "trotter_steps" | "along" | "fdtd" | "fdtd_sites" | "oscillators" | "patches" | "sound_sums"
        | "drawn" | "moment" => Vec::new(),
        "sound" => vec![with(&["moment.wgsl"])],
        "curve" | "enlarge" | "field" | "medium" | "volume" => vec![with(&["drawn.wgsl"])],
        "trotter_sweeps" => vec![with(&["trotter.wgsl"])],
        "trotter_looks" => vec![with(&["trotter.wgsl", "patches.wgsl"])],
        "fdtd_step" => [0, 1]
            .map(|operates| expanded(&with(&["fdtd.wgsl", "fdtd_sites.wgsl"]), &[("OPERATES", operates)]))
            .to_vec(),
        "fdtd_sums" => vec![expanded(
            &with(&["fdtd.wgsl", "fdtd_sites.wgsl", "patches.wgsl", "sound_sums.wgsl"]),
            &[("OPERATES", 0)],
        )],
        "oscillators_sums" => vec![with(&["patches.wgsl", "sound_sums.wgsl"])],
        "oscillators_sweeps" => vec![with(&["oscillators.wgsl"])],
        "trotter_block" => (choices(&["NESTED", "WIDE", "FLUX"]).iter())
            .map(|values| expanded(&with(&whole_steps), values))
            .collect(),
        "trotter_strips" => ([(1, 1), (2, 1), (4, 2), (6, 3)].iter())
            .map(|(steps, halo)| expanded(&with(&whole_steps), &[("STEPS", *steps), ("HALO", *halo)]))
            .collect(),
        "oscillators_block" => (choices(&["EACH", "WIDE"]).iter())
            .map(|values| expanded(&with(&["oscillators.wgsl", "along.wgsl"]), values))
            .collect(),
        "fdtd_march" => (choices(&["DEEP", "SQUARES", "MARKS"]).iter())
            .flat_map(|values| (1..5).map(|half| expanded(text, &[&values[..], &[("HALF", half)]].concat())))
            .collect(),
        "fdtd_block" => (choices(&["HALF", "SQUARES", "WALLS", "WIDE", "OPERATES"]).into_iter())
            .filter_map(|mut values| {
                let [_, (_, half), (_, squares), (_, walls), _, (_, operates)] = values[..] else {
                    unreachable!()
                };
                values[1].1 = half + 1;
                values.push(("BUFFERS", (1 - half) * (1 - operates)));
                (walls == 0 || (squares == 1 && half == 0))
                    .then(|| expanded(&with(&["fdtd.wgsl", "moment.wgsl"]), &values))
            })
            .collect(),
        _ => vec![text.to_owned()],
    }
}

#[test]
fn every_shader_is_valid() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
    let mut checked = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "wgsl") {
            let name = path.file_stem().unwrap().to_str().unwrap();
            for source in compiled(name, &std::fs::read_to_string(&path).unwrap()) {
                let module = check(name, &source);
                let computes = |entry: &naga::EntryPoint| entry.stage == naga::ShaderStage::Compute;
                if !module.entry_points.iter().any(computes) {
                    let names: Vec<&str> = module.entry_points.iter().map(|entry| entry.name.as_str()).collect();
                    assert_eq!(names, ["vertex", "fragment"], "{name}");
                }
                checked += 1;
            }
        }
    }
    // Fields, media and curves; 16, 20 and 8 blocks.
    assert!(checked > 48, "not all shaders were found: {checked}");
}

/// Drawables: their names, shaders and bytes of uniforms.
const DRAWABLES: [(&str, &str, usize); 5] = [
    ("curve", curve::SOURCE, curve::UNIFORM_BYTES),
    ("enlarge", enlarge::SOURCE, enlarge::UNIFORM_BYTES),
    ("field", field::SOURCE, field::UNIFORM_BYTES),
    ("medium", medium::SOURCE, medium::UNIFORM_BYTES),
    ("volume", volume::SOURCE, volume::UNIFORM_BYTES),
];

#[test]
fn every_shader_is_used_by_its_drawable() {
    for (name, source, _) in DRAWABLES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("kernels/{name}.wgsl"));
        assert_eq!(compiled(name, &std::fs::read_to_string(path).unwrap()), [source]);
    }
}

#[test]
fn uniforms_have_the_size_that_is_written() {
    for (name, source, bytes) in DRAWABLES {
        let module = naga::front::wgsl::parse_str(source).unwrap();
        let (_, uniforms) = module
            .global_variables
            .iter()
            .find(|(_, variable)| variable.space == naga::AddressSpace::Uniform)
            .unwrap();
        let size = module.types[uniforms.ty].inner.size(module.to_ctx());
        assert_eq!(size as usize, bytes, "{name}");
    }
}
