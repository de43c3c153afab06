//! `[view]`, from the tree to [`ViewFile`].

use super::camera_path::CameraKey;
use super::decode::{Decode, Diagnostics, Section};
use super::document::Value;
use super::file::ViewFile;
use super::scenario::{Brightness, ColorRange, Flow, Opacity, Orbit, Plot, Quantity, ViewMode};

pub(super) fn view(mut section: Section<'_>, found: &mut Diagnostics) -> ViewFile {
    let quantity = section.word("quantity", &Quantity::ALL, found);
    let colormap = section.get("colormap", found).unwrap_or_else(|| "auto".to_owned());
    let path = section.name("range");
    let range = match section.node("range") {
        None => ColorRange::Auto,
        Some(node) if matches!(node.value, Value::Array(_)) => {
            <[f64; 2]>::decode(node, &path, found).map_or(ColorRange::Auto, |[low, high]| ColorRange::Fixed(low, high))
        }
        Some(node) => {
            let words = [("auto", ColorRange::Auto), ("locked", ColorRange::Locked)];
            super::decode::word(node, &path, found, &words).unwrap_or(ColorRange::Auto)
        }
    };
    let path = section.name("opacity");
    let opacity = match section.node("opacity") {
        None => Opacity::Soft,
        Some(node) if matches!(node.value, Value::Array(_)) => {
            Vec::<[f64; 2]>::decode(node, &path, found).map_or(Opacity::Soft, Opacity::Points)
        }
        Some(node) => {
            let words = Opacity::ALL.map(|(word, _)| (word, word));
            let word = super::decode::word(node, &path, found, &words);
            let preset = Opacity::ALL.into_iter().find(|(known, _)| Some(*known) == word);
            preset.map_or(Opacity::Soft, |(_, opacity)| opacity)
        }
    };
    let path = section.name("cover");
    let cover = match section.node("cover") {
        None => Vec::new(),
        Some(node) if matches!(node.value, Value::Array(_)) => Vec::decode(node, &path, found).unwrap_or_default(),
        Some(node) => f64::decode(node, &path, found).into_iter().collect(),
    };
    let view = ViewFile {
        quantity,
        colormap,
        range,
        brightness: section.word("brightness", &Brightness::ALL, found).unwrap_or_default(),
        mode: section.word("mode", &ViewMode::ALL, found).unwrap_or_default(),
        camera: section.table("camera", found).map(|section| camera(section, found)),
        slices: section.get("slices", found).unwrap_or_default(),
        opacity,
        shading: section.get("shading", found).unwrap_or_default(),
        cover,
        over: section.get("over", found),
        flow: section.word("flow", &Flow::ALL, found).unwrap_or_default(),
        plots: plots(&mut section, found),
        region: section.table("region", found).map(|mut section| {
            let corners = [
                section.need("min", "[0.0, 0.0]", found),
                section.need("max", "[10.0, 10.0]", found),
            ];
            section.close(found, |_| None);
            corners
        }),
    };
    section.close(found, |_| None);
    view
}

/// The words of `plots`.
fn plots(section: &mut Section<'_>, found: &mut Diagnostics) -> Vec<Plot> {
    let path = section.name("plots");
    let Some(node) = section.node("plots") else {
        return Vec::new();
    };
    let Value::Array(items) = &node.value else {
        let message = format!("{} is no list of plots", node.value.shown());
        found.value(&path, message, "write e.g. [\"detectors\", \"cut\"]");
        return Vec::new();
    };
    let words = items.iter().enumerate();
    words
        .filter_map(|(n, item)| super::decode::word(item, &format!("{path}.{n}"), found, &Plot::WORDS))
        .collect()
}

/// One `[[camera]]`.
pub(super) fn camera_key(mut section: Section<'_>, found: &mut Diagnostics) -> CameraKey {
    let at = section.need("at", "0.0", found);
    let orbit = orbit(&mut section, found);
    section.close(found, |_| None);
    CameraKey { at, orbit }
}

fn camera(mut section: Section<'_>, found: &mut Diagnostics) -> Orbit {
    let orbit = orbit(&mut section, found);
    section.close(found, |_| None);
    orbit
}

fn orbit(section: &mut Section<'_>, found: &mut Diagnostics) -> Orbit {
    let whole = Orbit::default();
    let path = section.name("target");
    let target: Option<Vec<f64>> = section.get("target", found);
    let target = target.and_then(|list| {
        let count = list.len();
        <[f64; 3]>::try_from(list).ok().or_else(|| {
            let message = format!("{count} numbers where 3 belong");
            found.value(
                &path,
                message,
                "write the lengths along x, y and z, e.g. [1.0, 1.0, 0.5]",
            );
            None
        })
    });
    Orbit {
        azimuth: section.get("azimuth", found).unwrap_or(whole.azimuth),
        elevation: section.get("elevation", found).unwrap_or(whole.elevation),
        zoom: section.get("zoom", found).unwrap_or(whole.zoom),
        target,
    }
}
