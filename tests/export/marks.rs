//! Where sources and transducers stand in pictures with depth: in boxes and over reliefs.

use super::scenario;
use ripplon::engine::Engine;
use ripplon::export::picture::Rect;
use ripplon::export::{Look, Painter, Picture};
use ripplon::scene::Scenario;
use ripplon::scene::scenario::ViewMode;
use ripplon::space::relief::Projection;
use ripplon::space::{Camera, Shape};
use std::sync::Arc;

/// A source and a transducer, both silent at t = 0, so that nothing else is bright.
fn sound(size: &str, source: &str, transducer: &str) -> Arc<Scenario> {
    scenario(&format!(
        "format = 1\n[grid]\nsize = [{size}]\nspacing = 0.1\n[acoustic]\n[time]\nstep = 1e-4\n\
         [[source]]\nat = [{source}]\nsignal = \"ricker\"\nfrequency = 100.0\n\
         [mirror]\nmethod = \"reversal\"\nat = 0.01\ntransducers = {{ shape = \"points\", points = [[{transducer}]] }}\n"
    ))
}

fn painted(scene: &Arc<Scenario>, look: &Look) -> (Picture, Rect) {
    let mut engine = Engine::new(Arc::clone(scene)).unwrap();
    let mut painter = Painter::new(Arc::clone(scene), look, 1e-4).unwrap();
    let picture = painter.shoot(&mut engine, 0.0).unwrap().clone();
    (picture, painter.field())
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "pixels"
)]
fn is_bright(picture: &Picture, field: Rect, [x, y]: [f32; 2]) -> bool {
    let (x, y) = ((field.x as f32 + x) as usize, (field.y as f32 + y) as usize);
    // A small disc about the place has a pixel that it covers.
    let near = (y - 1..=y + 1).flat_map(|y| (x - 1..=x + 1).map(move |x| (x, y)));
    near.into_iter()
        .any(|(x, y)| picture.at(x, y).iter().all(|part| *part > 200))
}

#[expect(clippy::cast_precision_loss, reason = "pixels")]
fn size_of(field: Rect) -> [f32; 2] {
    [field.width as f32, field.height as f32]
}

/// In a volume all of them are seen; of slices those that stand in one, and not behind another.
#[test]
fn boxes_have_marks_of_sources_and_transducers() {
    // The eye is in front, to the right and above: x = 1.15 m is behind the slice across x.
    let (before, behind, beside) = ([2.2, 1.0, 1.5], [1.15, 1.0, 1.3], [2.2, 0.4, 1.5]);
    let words = |at: [f64; 3]| at.map(|part| format!("{part:?}")).join(", ");
    for (mode, source, overlay, seen) in [
        (ViewMode::Slices, before, true, true),
        (ViewMode::Slices, before, false, false),
        (ViewMode::Slices, behind, true, false),
        (ViewMode::Slices, beside, true, false),
        (ViewMode::Volume, beside, true, true),
        (ViewMode::Volume, behind, true, true),
        (ViewMode::Volume, behind, false, false),
    ] {
        let transducer = [2.5, 1.0, 1.3];
        let scene = sound("30, 20, 20", &words(source), &words(transducer));
        let look = Look {
            size: Some([360, 280]),
            mode,
            overlay,
            slices: [1.5, 1.0, 1.0],
            ..Look::of(&scene)
        };
        let (picture, field) = painted(&scene, &look);
        let shape = Shape::of(scene.grid());
        let camera = Camera::new(&look.orbit, &shape, size_of(field));
        for (at, seen) in [(source, seen), (transducer, overlay)] {
            let place = camera.project(shape.world(at)).unwrap();
            let found = is_bright(&picture, field, place);
            assert_eq!(found, seen, "{mode:?}, overlay {overlay}: {at:?} at {place:?}");
        }
    }
}

/// Over a relief they stand on the surface.
#[test]
fn reliefs_have_marks_of_sources_and_transducers() {
    let scene = sound("60, 40", "1.5, 1.0", "4.0, 3.0");
    for overlay in [true, false] {
        let look = Look {
            size: Some([600, 450]),
            mode: ViewMode::Relief,
            overlay,
            ..Look::of(&scene)
        };
        let (picture, field) = painted(&scene, &look);
        let projection = Projection::new(&look.orbit, [60, 40], [[0.0; 2], size_of(field)]);
        for site in [[15.5, 10.5], [40.5, 30.5]] {
            let place = projection.point(site, 0.0);
            let found = is_bright(&picture, field, place);
            assert_eq!(found, overlay, "{site:?} at {place:?}");
        }
    }
}

/// A line of sources is drawn from end to end.
#[test]
fn a_line_of_sources_is_drawn_over_a_relief() {
    let scene = scenario(
        "format = 1\n[grid]\nsize = [60, 40]\nspacing = 0.1\n[acoustic]\n[time]\nstep = 1e-4\n\
         [[source]]\nfrom = [1.0, 2.0]\nto = [5.0, 2.0]\nsignal = \"ricker\"\nfrequency = 100.0\n",
    );
    let look = Look {
        size: Some([600, 450]),
        mode: ViewMode::Relief,
        overlay: true,
        ..Look::of(&scene)
    };
    let (picture, field) = painted(&scene, &look);
    let projection = Projection::new(&look.orbit, [60, 40], [[0.0; 2], size_of(field)]);
    for n in 0..20_u8 {
        let [x, y] = projection.point([11.5 + 2.0 * f32::from(n), 20.5], 0.0);
        assert!(is_bright(&picture, field, [x, y]), "{n}: {x}, {y}");
    }
}
