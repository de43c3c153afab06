//! `[view]`, from the tree to [`ViewFile`].

use super::decode::{Decode, Diagnostics, Section};
use super::document::Value;
use super::file::ViewFile;
use super::scenario::{ColorRange, Opacity, Orbit, Quantity, ViewMode};

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
    let view = ViewFile {
        quantity,
        colormap,
        range,
        mode: section.word("mode", &ViewMode::ALL, found).unwrap_or_default(),
        camera: section.table("camera", found).map(|section| camera(section, found)),
        slices: section.get("slices", found).unwrap_or_default(),
        opacity,
        shading: section.get("shading", found).unwrap_or_default(),
        cover: section.get("cover", found),
    };
    section.close(found, |_| None);
    view
}

fn camera(mut section: Section<'_>, found: &mut Diagnostics) -> Orbit {
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
    let orbit = Orbit {
        azimuth: section.get("azimuth", found).unwrap_or(whole.azimuth),
        elevation: section.get("elevation", found).unwrap_or(whole.elevation),
        zoom: section.get("zoom", found).unwrap_or(whole.zoom),
        target,
    };
    section.close(found, |_| None);
    orbit
}
