//! Every shader is valid WGSL for the strictest devices, and its uniforms have the layout that the Rust side writes.
#![cfg(feature = "gui")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail where it stands")]

use naga::valid::{Capabilities, ValidationFlags, Validator};
use std::path::Path;

fn check(path: &Path) -> naga::Module {
    let source = std::fs::read_to_string(path).unwrap();
    let module = naga::front::wgsl::parse_str(&source).unwrap_or_else(|error| {
        panic!(
            "{}",
            error.emit_to_string_with_path(&source, &path.display().to_string())
        )
    });
    // No capability beyond the WebGPU core: the shaders run on every adapter.
    Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(&module)
        .unwrap_or_else(|error| {
            panic!(
                "{}",
                error.emit_to_string_with_path(&source, &path.display().to_string())
            )
        });
    module
}

#[test]
fn every_shader_is_valid() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
    let mut checked = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "wgsl") {
            let module = check(&path);
            let computes = |entry: &naga::EntryPoint| entry.stage == naga::ShaderStage::Compute;
            if !module.entry_points.iter().any(computes) {
                let names: Vec<&str> = module.entry_points.iter().map(|entry| entry.name.as_str()).collect();
                assert_eq!(names, ["vertex", "fragment"], "{}", path.display());
            }
            checked += 1;
        }
    }
    assert!(
        checked >= 3,
        "the shaders of field, medium and curve were not all found: {checked}"
    );
}

#[test]
fn every_shader_is_used_by_its_drawable() {
    for (name, source) in [
        ("field", ripplon::render::field::SOURCE),
        ("medium", ripplon::render::medium::SOURCE),
        ("curve", ripplon::render::curve::SOURCE),
        ("enlarge", ripplon::render::enlarge::SOURCE),
        ("volume", ripplon::render::volume::SOURCE),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("kernels/{name}.wgsl"));
        assert_eq!(std::fs::read_to_string(path).unwrap(), source);
    }
}

#[test]
fn uniforms_have_the_size_that_is_written() {
    for (name, source, bytes) in [
        (
            "field",
            ripplon::render::field::SOURCE,
            ripplon::render::field::UNIFORM_BYTES,
        ),
        (
            "medium",
            ripplon::render::medium::SOURCE,
            ripplon::render::medium::UNIFORM_BYTES,
        ),
        (
            "curve",
            ripplon::render::curve::SOURCE,
            ripplon::render::curve::UNIFORM_BYTES,
        ),
        (
            "enlarge",
            ripplon::render::enlarge::SOURCE,
            ripplon::render::enlarge::UNIFORM_BYTES,
        ),
        (
            "volume",
            ripplon::render::volume::SOURCE,
            ripplon::render::volume::UNIFORM_BYTES,
        ),
    ] {
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
