//! What is exported is what was computed: files are decoded again and their colours compared, cancelled runs leave nothing.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail them")]

mod command;
mod data;
mod films;
mod marks;
#[cfg(feature = "h264")]
mod mp4;
mod pictures;

use ripplon::engine::Engine;
use ripplon::export::film::{self, FilmError, Script};
use ripplon::export::{self, About, Look, Painter, Picture, Progress};
use ripplon::scene::Scenario;
use ripplon::{colormap, solver};
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

fn scenario(text: &str) -> Arc<Scenario> {
    Arc::new(solver::read_scene_text(text, None, &[]).unwrap().1)
}

/// A packet over a faint barrier beside a wall: `size` is the grid's, e.g. `48, 30`.
fn scene(size: &str) -> Arc<Scenario> {
    let rank = size.split(',').count();
    let each = |value: &str| vec![value; rank].join(", ");
    scenario(&format!(
        "format = 1\ntitle = \"A packet\"\n[grid]\nsize = [{size}]\nspacing = 1.0\n[quantum]\nmass = 1.0\n[time]\nstep = 0.1\nend = 1.0\n\
         [[packet]]\ncenter = [{}]\nwidth = [{}]\nmomentum = [{}]\n\
         [[layer]]\nsets = \"potential\"\nshape = \"box\"\nmin = [{}]\nmax = [{}]\nvalue = 0.2\n\
         [[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [{}]\nmax = [{}]\n",
        each("8.0"),
        each("3.0"),
        each("0.8"),
        each("2.0"),
        each("4.0"),
        each("13.0"),
        each("14.0"),
    ))
}

fn script(pictures: u32) -> Script {
    Script {
        from: 0.0,
        to: 1.0,
        pictures,
        fps: 30.0,
        ..Script::default()
    }
}

fn shoot(scene: &Arc<Scenario>, look: &Look, out: &Path, pictures: u32, progress: &Progress) -> Result<(), FilmError> {
    let mut engine = Engine::new(Arc::clone(scene))?;
    let mut painter = Painter::new(Arc::clone(scene), look, 0.1).unwrap();
    let writer = export::create(out, painter.size(), 30.0, &About::default())?;
    film::shoot(&mut engine, &mut painter, writer, &script(pictures), progress)
}

/// What the painter makes of the scene's last picture.
fn painted(scene: &Arc<Scenario>, look: &Look) -> (Picture, Painter) {
    let mut engine = Engine::new(Arc::clone(scene)).unwrap();
    engine.advance(10).unwrap();
    let mut painter = Painter::new(Arc::clone(scene), look, 0.1).unwrap();
    let mut image = solver::FieldImage::default();
    engine.image(painter.request(), &mut image).unwrap();
    let picture = painter.paint(&image, &engine.clock(), 0.0).clone();
    (picture, painter)
}

fn decode_png(path: &Path) -> Picture {
    let mut decoder = png::Decoder::new(std::io::BufReader::new(File::open(path).unwrap()));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut rgb).unwrap();
    Picture {
        width: info.width as usize,
        height: info.height as usize,
        rgb,
    }
}

/// Names in a directory, hidden ones as well.
fn names(dir: &TempDir) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// A picture of few colours in which every row and column differs.
fn pattern(width: usize, height: usize, shift: usize) -> Picture {
    let mut picture = Picture::filled(width, height, [0; 3]);
    for y in 0..height {
        for x in 0..width {
            let n = (x * x / 7 + y * 3 + shift) % 200;
            picture.set(x, y, colormap::find("viridis").unwrap().table()[n]);
        }
    }
    picture
}
