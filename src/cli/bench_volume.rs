//! `ripplon bench --volume N`: pictures of a field in space a second, on the adapter that the window draws with.

use super::terminal::say;
use crate::colormap::{Kind, Levels, auto};
use crate::engine::Engine;
use crate::grid::Grid;
use crate::render::{VolumePicture, headless};
use crate::scene::scenario::{Opacity, Orbit, Quantity};
use crate::solver::{self, FieldVolume, VolumeRequest};
use crate::space::stage::Plan;
use crate::space::{Mode, Shape, Stage, camera};
use std::sync::Arc;
use std::time::Instant;

/// Pixels of a picture.
const PIXELS: [f32; 2] = [1920.0, 1080.0];

/// A pulse that has become a shell, in a cube of `sites`³.
fn scene(sites: usize) -> String {
    let middle = sites / 2;
    let width = sites.div_ceil(24).max(2);
    format!(
        "format = 1\n[grid]\nsize = [{sites}, {sites}, {sites}]\nspacing = 1.0\n[acoustic]\nspeed = 1.0\n[time]\nstep = 0.5\n\
         [[pulse]]\ncenter = [{middle}, {middle}, {middle}]\nwidth = {width}\n"
    )
}

/// Measures and prints.
///
/// # Errors
/// If there is no adapter, or the scene does not fit into memory.
#[expect(clippy::cast_precision_loss, reason = "numbers of sites")]
pub fn run(sites: usize) -> anyhow::Result<()> {
    let render = headless::device().map_err(anyhow::Error::msg)?;
    let info = render.adapter.get_info();
    say!(
        "{sites}³ field, {} × {} pixels, {} ({:?})",
        PIXELS[0],
        PIXELS[1],
        info.name,
        info.device_type
    );
    let (_, scenario) = solver::read_scene_text(&scene(sites), None, &[])?;
    let mut engine = Engine::new(Arc::new(scenario))?;
    engine.advance(u64::try_from(sites / 4)?)?;
    let request = VolumeRequest {
        quantity: Quantity::Pressure,
        sites: [sites; 3],
        most: sites,
    };
    let mut field = FieldVolume::default();
    engine.volume(&request, &mut field)?;
    let begin = Instant::now();
    engine.volume(&request, &mut field)?;
    say!("field to texels   {:9.2} ms", 1e3 * begin.elapsed().as_secs_f64());

    let mut picture = VolumePicture::new(&render);
    let wait = || render.device.poll(wgpu::PollType::wait_indefinitely());
    for (name, mode, opacity, texels_per_step, shading) in [
        ("slices", Mode::Slices, Opacity::Soft, 0.5, false),
        ("volume, moving", Mode::Volume, Opacity::Soft, 1.5, false),
        ("volume", Mode::Volume, Opacity::Soft, 0.5, false),
        ("volume, faint", Mode::Volume, Opacity::Faint, 0.5, false),
        ("volume, light", Mode::Volume, Opacity::Soft, 0.5, true),
    ] {
        let mut orbit = Orbit::default();
        let mut best = f64::INFINITY;
        let start = Instant::now();
        let mut pictures = 0;
        while pictures < 3 || (start.elapsed().as_secs_f64() < 1.5 && pictures < 200) {
            // Another place each time, and the field anew, as while a scene runs.
            camera::turn(&mut orbit, 3.0, 0.0);
            let plan = Plan {
                shape: Shape::of(&Grid::new(&[sites; 3], 1.0)),
                orbit: &orbit,
                viewport: PIXELS,
                mode,
                slices: [0.5 * sites as f64; 3],
                texels_per_step,
                map: auto(Kind::Diverging),
                levels: Levels {
                    low: -field.top,
                    high: field.top,
                },
                gamma: 1.0,
                opacity: &opacity.points(),
                shading,
            };
            let stage = Stage::new(&plan, &field, None);
            let begin = Instant::now();
            picture.upload(&render, &field);
            picture.draw(&render, &stage);
            wait()?;
            best = best.min(begin.elapsed().as_secs_f64());
            pictures += 1;
        }
        say!(
            "{name:17} {:9.2} ms, {:6.1} pictures/s with its upload",
            1e3 * best,
            1.0 / best
        );
    }
    Ok(())
}
