//! Pictures: their colours, proportions, planes and parts.

use super::{decode_png, names, painted, pattern, scenario, scene};
use ripplon::engine::Engine;
use ripplon::export::picture::Rect;
use ripplon::export::{self, About, Look, LookError, Painter, Picture};
use ripplon::scene::Scenario;
use ripplon::scene::embedded::scene_in;
use ripplon::scene::presets;
use ripplon::scene::scenario::{ColorRange, Orbit, Quantity, ViewMode};
use ripplon::space::relief::Projection;
use ripplon::{colormap, solver};
use std::sync::Arc;
use tempfile::TempDir;

#[test]
fn png_keeps_every_colour_and_carries_its_scene() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.png");
    let picture = pattern(37, 21, 0);
    let about = About {
        title: "ψ".to_owned(),
        scene: Some("format = 1\ntitle = \"ψ ein Wort\"\n".to_owned()),
        comment: String::new(),
    };
    export::png::save(&path, &picture, &about).unwrap();
    assert_eq!(decode_png(&path), picture);
    assert_eq!(scene_in(&path).unwrap(), about.scene);
    export::png::save(&path, &picture, &About::default()).unwrap();
    assert_eq!(scene_in(&path).unwrap(), None);
    assert_eq!(names(&dir), ["a.png"]);
}

#[test]
fn a_picture_has_exactly_the_colours_of_its_map() {
    let scene = scenario(
        "format = 1\n[grid]\nsize = [32, 20]\nspacing = 1.0\n[quantum]\nmass = 1.0\n[time]\nstep = 0.1\nend = 1.0\n\
         [[packet]]\ncenter = [16.0, 10.0]\nwidth = [3.0, 3.0]\n[view]\ncolormap = \"viridis\"\n",
    );
    let (picture, _) = painted(&scene, &Look::of(&scene));
    let table = colormap::find("viridis").unwrap().table();
    let in_table = |pixel: &[u8]| table.iter().any(|color| color == pixel);
    assert!(picture.rgb.chunks(3).all(in_table));
    // The field at rest in the middle: its largest value has the last entry, the far corner the first.
    assert!(picture.rgb.chunks(3).any(|pixel| pixel == table[255]));
    assert_eq!(picture.at(0, 0), table[0]);
    // Row 0 of the field is the lowest row of the picture: a packet low in the grid is low in the picture.
    let low = scenario(
        "format = 1\n[grid]\nsize = [32, 32]\nspacing = 1.0\n[quantum]\nmass = 1.0\n[time]\nstep = 0.1\nend = 1.0\n\
         [[packet]]\ncenter = [24.0, 6.0]\nwidth = [2.0, 2.0]\n",
    );
    let (picture, _) = painted(&low, &Look::of(&low));
    let brightest = (0..picture.height * picture.width)
        .max_by_key(|n| u32::from(picture.rgb[3 * n]) + u32::from(picture.rgb[3 * n + 1]))
        .unwrap();
    let (x, y) = (brightest % picture.width, brightest / picture.width);
    assert!(x > picture.width / 2 && y > picture.height / 2, "{x} {y}");
}

#[test]
fn proportions_are_kept_at_any_size() {
    for size in ["48, 30", "300, 20", "30, 52, 20"] {
        let scene = scene(size);
        let [nx, ny, _] = scene.grid().size();
        for overlay in [false, true] {
            for pixels in [[641, 359], [333, 777], [1001, 1001]] {
                let look = Look {
                    size: Some(pixels),
                    overlay,
                    ..Look::of(&scene)
                };
                let (picture, painter) = painted(&scene, &look);
                assert_eq!([picture.width, picture.height], pixels);
                let field = painter.field();
                assert!(field.x + field.width <= pixels[0] && field.y + field.height <= pixels[1]);
                // Both sides are whole pixels, each rounded by at most half a one.
                let off = (field.width * ny).abs_diff(field.height * nx);
                assert!(2 * off <= nx.max(ny), "{size} in {pixels:?}: {field:?}");
            }
        }
    }
}

#[test]
fn every_rank_quantity_and_map_can_be_painted() {
    for size in ["50", "48, 30", "18, 20, 22"] {
        let scene = scene(size);
        for quantity in [Quantity::Density, Quantity::Phase, Quantity::Real, Quantity::Imaginary] {
            for map in &colormap::COLORMAPS {
                let look = Look {
                    quantity,
                    colormap: map.id.to_owned(),
                    size: Some([321, 203]),
                    overlay: true,
                    ..Look::of(&scene)
                };
                let fits = (map.kind == colormap::Kind::Cyclic) == (quantity == Quantity::Phase);
                match Painter::new(Arc::clone(&scene), &look, 0.1) {
                    Ok(_) if fits => {
                        let (picture, _) = painted(&scene, &look);
                        let first = picture.at(0, 0);
                        assert!(
                            picture.rgb.chunks(3).any(|pixel| pixel != first),
                            "nothing but one colour"
                        );
                    }
                    Err(LookError::Colormap(_)) if !fits => {}
                    other => panic!("{size} {quantity:?} {}: {:?}", map.id, other.err()),
                }
            }
        }
    }
}

/// Sources and transducers are marked where the window marks them, and only with the overlay.
#[test]
fn sources_and_transducers_are_marked_in_pictures_with_overlays() {
    let painted = |scene: &Arc<Scenario>, overlay: bool| {
        let mut engine = Engine::new(Arc::clone(scene)).unwrap();
        let look = Look {
            size: Some([900, 640]),
            mode: ViewMode::Plane,
            overlay,
            ..Look::of(scene)
        };
        let mut painter = Painter::new(Arc::clone(scene), &look, 1e-4).unwrap();
        let picture = painter.shoot(&mut engine, 0.0).unwrap().clone();
        (picture, painter.field())
    };
    #[expect(clippy::cast_precision_loss, reason = "pixels")]
    let column = |field: Rect, site: f64, sites: f64| field.x as f64 + (site + 0.5) / sites * field.width as f64;
    #[expect(clippy::cast_precision_loss, reason = "pixels")]
    let row = |field: Rect, site: f64, sites: f64| field.y as f64 + (1.0 - (site + 0.5) / sites) * field.height as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "pixels")]
    let is_bright =
        |picture: &Picture, x: f64, y: f64| picture.at(x as usize, y as usize).iter().all(|part| *part > 200);
    // Silent at t = 0, so that nothing else is bright.
    let sound = |size: &str, source: &str, place: &str| {
        scenario(&format!(
            "format = 1\n[grid]\nsize = [{size}]\nspacing = 0.1\n[acoustic]\n[time]\nstep = 1e-4\n\
             [[source]]\nat = [{source}]\nsignal = \"ricker\"\nfrequency = 100.0\n\
             [mirror]\nmethod = \"reversal\"\nat = 0.01\ntransducers = {{ shape = \"points\", points = [[{place}]] }}\n"
        ))
    };
    for (overlay, size, plane) in [
        (true, "60, 40", true),
        (false, "60, 40", true),
        (true, "60, 40, 20", false),
    ] {
        // Of three dimensions the middle plane is shown, and both stand in another.
        let more = if plane { "" } else { ", 0.3" };
        let scene = sound(size, &format!("1.5, 1.0{more}"), &format!("4.0, 3.0{more}"));
        let (picture, field) = painted(&scene, overlay);
        for (i, j) in [(15.0, 10.0), (40.0, 30.0)] {
            let bright = is_bright(&picture, column(field, i, 60.0), row(field, j, 40.0));
            assert_eq!(bright, overlay && plane, "{size}, overlay {overlay}: site {i}, {j}");
        }
    }
    let line = sound("80", "2.0", "5.0");
    for overlay in [true, false] {
        let (picture, field) = painted(&line, overlay);
        #[expect(clippy::cast_precision_loss, reason = "pixels")]
        let above_axis = (field.y + field.height) as f64 - 4.0;
        assert_eq!(is_bright(&picture, column(field, 50.0, 80.0), above_axis), overlay);
    }
}

/// A packet whose hues have no room is shown as its density, with a map of densities, too.
#[test]
fn a_density_in_place_of_phases_takes_its_own_maps() {
    let scene = scene("48, 30");
    for (colormap, size, fits) in [
        ("ink", [48, 30], true),
        ("hue", [48, 30], true),
        ("rainbow", [48, 30], false),
        ("ink", [960, 600], false),
    ] {
        let look = Look {
            quantity: Quantity::Phase,
            colormap: colormap.to_owned(),
            size: Some(size),
            ..Look::of(&scene)
        };
        let painter = Painter::new(Arc::clone(&scene), &look, 0.1);
        assert_eq!(painter.is_ok(), fits, "{colormap} {size:?}");
    }
}

#[test]
fn a_plane_of_a_volume_can_be_chosen() {
    let scene = scene("18, 20, 22");
    let at = |plane| Look {
        plane,
        ..Look::of(&scene)
    };
    assert_eq!(painted(&scene, &at(None)).0, painted(&scene, &at(Some(11))).0);
    // The walls are different there, and the range is the plane's own.
    assert_ne!(painted(&scene, &at(Some(8))).0, painted(&scene, &at(Some(13))).0);
    let wrong = Painter::new(Arc::clone(&scene), &at(Some(22)), 0.1).err();
    assert_eq!(wrong, Some(LookError::Plane { plane: 22, last: 21 }));
}

#[test]
fn presets_can_be_painted_at_odd_sizes() {
    for preset in presets::all() {
        let scene = scenario(preset.text);
        let look = Look {
            size: Some([517, 333]),
            overlay: true,
            ..Look::of(&scene)
        };
        // At the start: what is drawn around the field is the preset's own.
        let mut engine = Engine::new(Arc::clone(&scene)).unwrap();
        let mut painter = Painter::new(Arc::clone(&scene), &look, engine.clock().time_step).unwrap();
        let mut image = solver::FieldImage::default();
        engine.image(painter.request(), &mut image).unwrap();
        let picture = painter.paint(&image, &engine.clock(), 0.0);
        assert_eq!((picture.width, picture.height), (517, 333), "{}", preset.name);
    }
}

/// A part of the field is the same pixels as in a picture of the whole, but for the neighbours that the interpolation misses at its rim.
#[test]
fn a_part_of_the_field_is_what_the_whole_shows_there() {
    let scene = scene("48, 30");
    let scale = 8;
    let fixed = |size: [usize; 2]| Look {
        size: Some(size.map(|n| n * scale)),
        range: ColorRange::Fixed(0.0, 0.02),
        ..Look::of(&scene)
    };
    let (whole, _) = painted(&scene, &fixed([48, 30]));
    let part = Look {
        region: Some([4..28, 2..20]),
        ..fixed([24, 18])
    };
    let (part, painter) = painted(&scene, &part);
    assert_eq!([part.width, part.height], [24 * scale, 18 * scale]);
    assert_eq!(
        (painter.request().x.clone(), painter.request().y.clone()),
        (4..28, 2..20)
    );
    let rim = 3 * scale;
    let mut seen = std::collections::HashSet::new();
    for y in rim..part.height - rim {
        for x in rim..part.width - rim {
            // Row 0 of a picture is at the upper end.
            let there = whole.at(x + 4 * scale, y + (30 - 20) * scale);
            let here = part.at(x, y);
            // Positions are rounded differently: one entry of the colour table, at most four levels.
            for channel in 0..3 {
                assert!(
                    here[channel].abs_diff(there[channel]) <= 4,
                    "{x} {y}: {here:?} {there:?}"
                );
            }
            seen.insert(here);
        }
    }
    assert!(seen.len() > 20, "there is something to be seen: {}", seen.len());
}

/// The packet's top stands where the projection puts its height, the wall is grey, and from above there are no heights.
#[test]
fn a_relief_shows_values_as_heights() {
    let scene = scene("48, 30");
    let most = 0.012;
    let from = |elevation: f64| {
        let look = Look {
            mode: ViewMode::Relief,
            orbit: Orbit {
                elevation,
                ..Orbit::default()
            },
            range: ColorRange::Fixed(0.0, most),
            size: Some([480, 360]),
            ..Look::of(&scene)
        };
        let mut engine = Engine::new(Arc::clone(&scene)).unwrap();
        let mut painter = Painter::new(Arc::clone(&scene), &look, 0.1).unwrap();
        let mut image = solver::FieldImage::default();
        engine.image(painter.request(), &mut image).unwrap();
        let picture = painter.paint(&image, &engine.clock(), 0.0).clone();
        let field = painter.field();
        #[expect(clippy::cast_precision_loss, reason = "pixels")]
        let room = [
            [field.x as f32, field.y as f32],
            [field.width as f32, field.height as f32],
        ];
        (picture, Projection::new(&look.orbit, image.size, room), image)
    };
    let yellow = |[r, g, b]: [u8; 3]| r > 130 && g > 130 && b < 110;
    let highest = |picture: &Picture| {
        let places = (0..picture.height).flat_map(|y| (0..picture.width).map(move |x| (x, y)));
        places.into_iter().find(|(x, y)| yellow(picture.at(*x, *y))).unwrap()
    };
    for elevation in [90.0, 25.0] {
        let (picture, projection, image) = from(elevation);
        // |ψ|² of the Gaussian, 1/(2πσ²) = 0.0177 at its middle, is above the range: it is cut at 1.2 of it, on a disc of texels
        // whose highest place in the picture is sought.
        let above = (0..image.value.len()).filter(|n| image.value[*n] > 0.012);
        let heights = above.map(|n| {
            let [i, j] = [n % image.size[0], n / image.size[0]].map(|n| f32::from(u16::try_from(n).unwrap()) + 0.5);
            projection.point([i, j], (image.value[n] / 0.012).min(1.2))
        });
        let top = heights.map(|at| at[1]).fold(f32::INFINITY, f32::min);
        let (_, y) = highest(&picture);
        // The colour runs from texel to texel, and its side away from the light is dark: up to one of them, ten pixels, beyond the disc or inside.
        #[expect(clippy::cast_precision_loss, reason = "pixels")]
        let off = y as f32 - top;
        assert!((-10.0..10.0).contains(&off), "at {elevation}: {y} for {top}");
        let grey = picture
            .rgb
            .chunks(3)
            .filter(|p| p[0].abs_diff(p[1]) < 12 && p[1].abs_diff(p[2]) < 20 && p[0] > 90);
        // Four sites: a square of a texel, and half of each of those around it is grey enough.
        assert!(grey.count() > 10, "the wall");
    }
    let (low, high) = (highest(&from(90.0).0).1, highest(&from(25.0).0).1);
    assert!(high < low, "{high} is above {low}");
}

#[test]
fn the_root_of_the_brightness_shows_faint_waves() {
    let scene = scene("48, 30");
    let look = |gamma| Look {
        gamma,
        ..Look::of(&scene)
    };
    let (linear, root) = (painted(&scene, &look(1.0)).0, painted(&scene, &look(0.5)).0);
    let table = colormap::find("dawn").unwrap().table();
    let place = |pixel: &[u8]| table.iter().position(|color| color == pixel);
    let mut compared = 0;
    for (a, b) in linear.rgb.chunks(3).zip(root.rgb.chunks(3)) {
        let (Some(a), Some(b)) = (place(a), place(b)) else {
            continue;
        };
        // Entry n of 256 is the value n/255 up to half an entry: its root is √(n/255). Both are rounded, and neighbours in the table may be the
        // same colour, of which the first is found: two entries.
        let (a, b) = (u16::try_from(a).unwrap(), u16::try_from(b).unwrap());
        let entry = |value: f64| (value.max(0.0) / 255.0).sqrt() * 255.0;
        let (lowest, highest) = (entry(f64::from(a) - 0.5) - 2.0, entry(f64::from(a) + 1.5) + 2.0);
        assert!((lowest..=highest).contains(&f64::from(b)), "{a}: {b}");
        compared += usize::from(a > 0);
    }
    assert!(compared > 100, "{compared}");
}

/// The words of a note may have several lines: they stand below the field and leave the colours beside it, and what its tint stands for, as they are without a note.
#[test]
fn a_long_note_leaves_field_and_colours_alone() {
    let text = |notes: &str| {
        format!(
            "format = 1\n[grid]\nsize = [160, 120]\nspacing = 0.02\n[acoustic]\n[time]\nend = 0.001\n\
             [[pulse]]\ncenter = [1.0, 1.2]\nwidth = 0.08\n[[layer]]\nsets = \"speed\"\nshape = \"box\"\nmin = [2.2, 0.0]\nmax = [3.2, 2.4]\nvalue = 500\n{notes}"
        )
    };
    let words = "what is to be seen in this picture and is told at some length ".repeat(2);
    let note = scenario(&text(&format!("[[note]]\nat = 0.0\ntext = \"{words}\"\n")));
    let silent = scenario(&text("[[note]]\nat = 1.0\ntext = \"Late.\"\n"));
    let look = |scene| Look {
        size: Some([900, 600]),
        overlay: true,
        ..Look::of(scene)
    };
    let (with, painter) = painted(&note, &look(&note));
    let (_, short) = painted(&silent, &look(&silent));
    let field = painter.field();
    assert!(short.field().height >= field.height);
    let ground = with.at(0, 0);
    let below = |row: usize| (0..900).filter(|x| with.at(*x, row) != ground).count();
    let inked: Vec<usize> = (field.y + field.height + 1..600)
        .filter(|row| below(*row) > 0)
        .collect();
    assert!(*inked.last().unwrap() < 599, "words end within the picture");
    // The frame around field and bar is as it is at their upper edge: nothing is laid over it.
    let bar = |row: usize| -> Vec<[u8; 3]> {
        let right = (field.x + field.width..900).map(|x| with.at(x, row));
        right.filter(|color| *color != ground).collect()
    };
    assert_eq!(bar(field.y + field.height), bar(field.y - 1));
    // The caption's row is inked at the right end of the field, and so are two rows of words farther below.
    let words = inked.iter().filter(|row| **row > field.y + field.height + 25).count();
    assert!(words > 25, "two lines: {words} rows");
}

/// Axes and their numbers end within a picture that stands upright.
#[test]
fn a_box_has_room_for_its_axes_in_a_picture_that_stands_upright() {
    let scene = scenario(
        "format = 1\n[grid]\nsize = [20, 20, 20]\nspacing = 0.1\n[acoustic]\n[time]\nend = 0.001\n[[pulse]]\ncenter = [1.0, 1.0, 1.0]\nwidth = 0.2\n",
    );
    for azimuth in [-60.0, 30.0, 45.0, 170.0] {
        let (picture, field) = in_space(&scene, [300, 540], azimuth, 1.0);
        let ground = picture.at(0, 0);
        let inked = |x: usize| (field.y..field.y + field.height).any(|y| picture.at(x, y) != ground);
        assert!(!(0..3).chain(297..300).any(inked), "{azimuth}: cut at a side");
        assert!((field.x..field.x + field.width).any(inked), "{azimuth}");
    }
}

/// Slices of a box as they are first, with its axes, and where the box stands.
fn in_space(scene: &Arc<Scenario>, size: [usize; 2], azimuth: f64, zoom: f64) -> (Picture, Rect) {
    let look = Look {
        size: Some(size),
        overlay: true,
        mode: ViewMode::Slices,
        orbit: Orbit {
            azimuth,
            zoom,
            ..Orbit::default()
        },
        ..Look::of(scene)
    };
    let mut engine = Engine::new(Arc::clone(scene)).unwrap();
    let mut painter = Painter::new(Arc::clone(scene), &look, 0.1).unwrap();
    let picture = painter.shoot(&mut engine, 0.0).unwrap().clone();
    (picture, painter.field())
}

/// Of a box that is larger than the picture no numbers stand at its sides, which belong to edges that are not shown.
#[test]
fn numbers_of_edges_beyond_the_picture_are_left_out() {
    let scene = scenario(
        "format = 1\n[grid]\nsize = [20, 20, 20]\nspacing = 0.1\n[acoustic]\n[time]\nend = 0.001\n[[pulse]]\ncenter = [1.0, 1.0, 1.0]\nwidth = 0.2\n",
    );
    let (picture, field) = in_space(&scene, [400, 300], 30.0, 4.0);
    let ground = picture.at(0, 0);
    let beside = (field.y..300).flat_map(|y| (0..field.x).map(move |x| (x, y)));
    let below = (field.y + field.height..300).flat_map(|y| (0..field.x + field.width).map(move |x| (x, y)));
    let inked = beside.chain(below).filter(|(x, y)| picture.at(*x, *y) != ground);
    assert_eq!(inked.count(), 0);
}

/// The strip of hues above a graph stands clear of what the curve is, or is left out.
#[test]
fn a_narrow_graph_has_no_strip_of_hues() {
    let scene = scene("50");
    let colored = |size: [usize; 2]| {
        let look = Look {
            size: Some(size),
            overlay: true,
            ..Look::of(&scene)
        };
        let (picture, painter) = painted(&scene, &look);
        let above = picture.rgb.chunks(3).take(picture.width * (painter.field().y - 2));
        let spread = |pixel: &[u8]| pixel.iter().max().unwrap() - pixel.iter().min().unwrap();
        above.filter(|pixel| spread(pixel) > 80).count()
    };
    assert!(colored([640, 400]) > 300);
    assert_eq!(colored([160, 400]), 0);
}

/// A line of theory passes behind the scale bar, whose number stays legible.
#[test]
fn the_scale_bar_lies_over_lines_of_theory() {
    let text = "format = 1\n[grid]\nsize = [48, 30]\nspacing = 1.0\n[quantum]\nmass = 1.0\n[time]\nstep = 0.1\nend = 1.0\n\
                [[packet]]\ncenter = [30.0, 20.0]\nwidth = [2.0, 2.0]\n\
                [[theory]]\nfrom = [1.0, 0.0]\nto = [1.0, 29.0]\n";
    let scene = scenario(text);
    let look = Look {
        size: Some([641, 401]),
        overlay: true,
        ..Look::of(&scene)
    };
    let (picture, painter) = painted(&scene, &look);
    let field = painter.field();
    // 401/32 pixels a unit of text. The ground of the bar begins 0.6 units from the left and 2.4 above the lower edge, the bar 1.05 above it.
    let (column, bottom) = (field.x + field.width / 32, field.y + field.height);
    let brightest = |rows: std::ops::Range<usize>| {
        let places = rows.flat_map(|y| (column - 1..=column + 1).map(move |x| (x, y)));
        places.map(|(x, y)| picture.at(x, y)[0]).max().unwrap()
    };
    assert!(brightest(bottom - 60..bottom - 40) > 150, "the line");
    assert!(
        brightest(bottom - 28..bottom - 15) < 110,
        "behind the ground of the bar"
    );
}

/// Where there is nothing, an energy of ψ that a well makes negative has the neutral colour of a map with two sides.
#[test]
fn an_energy_of_zero_is_neutral() {
    let scene = scenario(
        "format = 1\n[grid]\nsize = [48, 30]\nspacing = 1.0\n[quantum]\nmass = 1.0\n[time]\nstep = 0.1\nend = 1.0\n\
         [[packet]]\ncenter = [24.0, 15.0]\nwidth = [2.0, 2.0]\n\
         [[layer]]\nsets = \"potential\"\nshape = \"disk\"\ncenter = [24.0, 15.0]\nradius = 3.0\nvalue = -0.5\n[view]\nquantity = \"energy\"\n",
    );
    let (picture, _) = painted(&scene, &Look::of(&scene));
    let table = colormap::auto(colormap::Kind::Diverging).table();
    assert_eq!(picture.at(2, 2), table[128]);
}

/// In a picture that is far longer than high, or far higher than wide, words leave most of the shorter side to the field.
#[test]
fn words_fit_the_shorter_side_of_a_picture() {
    for (sites, size, least) in [
        ("50", [2000, 300], [1800, 180]),
        ("48, 30", [2000, 300], [300, 220]),
        ("50", [300, 2000], [200, 1800]),
    ] {
        let scene = scene(sites);
        let look = Look {
            size: Some(size),
            overlay: true,
            ..Look::of(&scene)
        };
        let field = Painter::new(Arc::clone(&scene), &look, 0.1).unwrap().field();
        assert!(
            field.width >= least[0] && field.height >= least[1],
            "{sites} in {size:?}: {field:?}"
        );
    }
}
