//! Fields of three dimensions in space: the volume is the field, the picture has the wave where it is, and processor and graphics draw the same.

#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "helpers of tests may fail them, and count pixels"
)]

use ripplon::engine::{Command, Engine, Frame, Status, Worker};
use ripplon::export::march::{Marcher, Numbers};
use ripplon::export::{Look, Painter, Picture};
use ripplon::field::FieldData;
use ripplon::scene::Scenario;
use ripplon::scene::scenario::{Opacity, Orbit, Quantity, ViewMode};
use ripplon::solver::{self, FieldVolume, METHODS, VolumeRequest};
use ripplon::space::{MediumVolume, Stage};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn scenario(text: &str, overrides: &[&str]) -> Arc<Scenario> {
    let overrides: Vec<String> = overrides.iter().map(|&s| s.to_owned()).collect();
    match solver::read_scene_text(text, None, &overrides) {
        Ok((_, scenario)) => Arc::new(scenario),
        Err(faults) => panic!("{}", faults.render(false)),
    }
}

/// A pulse in the middle of a box of air: it spreads as a shell.
const CLAP: &str = "format = 1\n[grid]\nsize = [41, 41, 41]\nspacing = 1.0\n[acoustic]\nspeed = 1.0\n[time]\nstep = 0.4\nend = 12.0\n\
    [[pulse]]\ncenter = [20.0, 20.0, 20.0]\nwidth = 2.0\namplitude = 1.0\n[view]\nmode = \"volume\"\n";

/// A packet beside a wall and a potential well.
const PACKET: &str = "format = 1\n[grid]\nsize = [24, 20, 16]\nspacing = 0.5\n[quantum]\nmass = 1.0\n[time]\nstep = 0.02\nend = 1.0\n\
    [[packet]]\ncenter = [4.0, 5.0, 4.0]\nwidth = [1.2]\nmomentum = [1.5, 0.0, 0.5]\n\
    [[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [9.0, 0.0, 0.0]\nmax = [9.5, 5.0, 7.5]\n\
    [[layer]]\nsets = \"potential\"\nshape = \"box\"\nmin = [6.0, 3.0, 2.0]\nmax = [8.0, 7.0, 6.0]\nvalue = -0.5\n\
    [view]\nmode = \"volume\"\nquantity = \"phase\"\n";

/// The wall of `PACKET`.
const WALL: &str = "[[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [9.0, 0.0, 0.0]\nmax = [9.5, 5.0, 7.5]\n";

fn request(scenario: &Scenario, quantity: Quantity, most: usize) -> VolumeRequest {
    VolumeRequest {
        quantity,
        sites: scenario.grid().size(),
        most,
    }
}

#[test]
fn every_method_gives_the_volume_of_its_field() {
    for method in METHODS.iter().filter(|method| method.ranks.contains(&3)) {
        let choice = format!("solver.method={}", method.id);
        let quantum = method.equation.as_str() != scenario(CLAP, &[]).model().equation().as_str();
        let (text, quantity) = if quantum {
            // Plane waves know no walls.
            (PACKET.replace(WALL, ""), Quantity::Phase)
        } else {
            (CLAP.to_owned(), Quantity::Pressure)
        };
        let scenario = scenario(&text, &[&choice, "solver.backend=cpu"]);
        let mut engine = Engine::new(Arc::clone(&scenario)).unwrap();
        engine.advance(7).unwrap();
        let field = engine.field().unwrap();
        let mut volume = FieldVolume::default();
        engine.volume(&request(&scenario, quantity, 64), &mut volume).unwrap();
        assert_eq!(volume.size, scenario.grid().size(), "{}", method.id);
        for n in (0..field.len()).step_by(37) {
            let [re, im] = volume.at(scenario.grid().site(n)).unwrap();
            let wanted = field.at(n);
            let im = if quantum { f64::from(im) } else { 0.0 };
            let error = (wanted.re - f64::from(re)).hypot(wanted.im - im);
            // Half precision: 2⁻¹² of the largest value in each part, and sine and cosine in single precision.
            assert!(error <= 4e-4 * f64::from(volume.top), "{} site {n}: {error}", method.id);
        }
        assert!(matches!(
            (&field, quantum),
            (FieldData::Complex64(_), true) | (FieldData::Float32(_), false)
        ));
    }
}

#[test]
fn coarse_texels_are_means_over_their_sites() {
    let scenario = scenario(CLAP, &[]);
    let mut engine = Engine::new(Arc::clone(&scenario)).unwrap();
    engine.advance(9).unwrap();
    let field = engine.field().unwrap();
    let mut volume = FieldVolume::default();
    engine
        .volume(&request(&scenario, Quantity::Pressure, 14), &mut volume)
        .unwrap();
    assert_eq!((volume.reduction, volume.size), (3, [14; 3]));
    for texel in [[0, 0, 0], [6, 7, 5], [13, 6, 13], [13, 13, 13]] {
        let (mut sum, mut count) = (0.0, 0.0);
        for k in 3 * texel[2]..(3 * texel[2] + 3).min(41) {
            for j in 3 * texel[1]..(3 * texel[1] + 3).min(41) {
                for i in 3 * texel[0]..(3 * texel[0] + 3).min(41) {
                    sum += field.at(scenario.grid().index([i, j, k])).re;
                    count += 1.0;
                }
            }
        }
        let [mean, _] = volume.at(texel.map(|n| 3 * n)).unwrap();
        let error = (sum / count - f64::from(mean)).abs();
        assert!(error <= 3e-4 * f64::from(volume.top), "{texel:?}: {error}");
    }
}

/// Waits for a frame; hangs are failures, slowness is none.
fn wait(worker: &mut Worker, wanted: impl Fn(&Frame) -> bool) -> Frame {
    let start = Instant::now();
    loop {
        let frame = worker.frame();
        if wanted(frame) {
            return frame.clone();
        }
        assert!(start.elapsed() < Duration::from_mins(5), "the frame did not come");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn the_worker_shows_volumes_while_they_are_wanted() {
    let scenario = scenario(CLAP, &[]);
    let mut worker = Worker::spawn(Some(Arc::clone(&scenario)), || ()).unwrap();
    let first = wait(&mut worker, |frame| frame.status == Status::Paused);
    assert!(first.volume.is_none(), "nobody asked for one");
    let asked = request(&scenario, Quantity::Pressure, 41);
    worker.send(Command::Volume(Some(asked)));
    let second = wait(&mut worker, |frame| frame.volume.is_some());
    let held = second.volume.unwrap();
    let before = held.texels.clone();
    worker.send(Command::Play);
    let later = wait(&mut worker, |frame| frame.clock.steps > 20);
    assert_ne!(later.volume.unwrap().texels, before);
    assert_eq!(held.texels, before, "what a frame gave stays as it was");
    worker.send(Command::Pause);
    let paused = wait(&mut worker, |frame| frame.status == Status::Paused);
    let mut alone = Engine::new(Arc::clone(&scenario)).unwrap();
    alone.advance(paused.clock.steps).unwrap();
    let mut volume = FieldVolume::default();
    alone.volume(&asked, &mut volume).unwrap();
    let shown = paused.volume.unwrap();
    assert_eq!(
        (&shown.texels, shown.top),
        (&volume.texels, volume.top),
        "the picture is that of the clock"
    );
    // A request for another grid is not obeyed.
    worker.send(Command::Volume(Some(VolumeRequest {
        sites: [40; 3],
        ..asked
    })));
    worker.send(Command::Step(1));
    let after = wait(&mut worker, |frame| frame.clock.steps > paused.clock.steps);
    assert_eq!(after.status, Status::Paused);
    worker.send(Command::Volume(None));
    wait(&mut worker, |frame| frame.volume.is_none());
}

/// The picture of a scene after some steps.
fn painted(scenario: &Arc<Scenario>, look: &Look, steps: u64) -> Picture {
    let mut engine = Engine::new(Arc::clone(scenario)).unwrap();
    engine.advance(steps).unwrap();
    let mut painter = Painter::new(Arc::clone(scenario), look, engine.clock().time_step).unwrap();
    painter.shoot(&mut engine, 0.0).unwrap().clone()
}

/// How far a colour is from the ground's.
fn strength(picture: &Picture, x: usize, y: usize) -> i32 {
    let ground = picture.at(0, 0);
    (0..3)
        .map(|n| (i32::from(picture.at(x, y)[n]) - i32::from(ground[n])).abs())
        .sum()
}

#[test]
fn a_pulse_in_the_middle_is_a_round_shell() {
    let scenario = scenario(CLAP, &[]);
    let side = 201;
    let look = Look {
        size: Some([side, side]),
        orbit: Orbit {
            azimuth: 0.0,
            elevation: 0.0,
            ..Orbit::default()
        },
        ..Look::of(&scenario)
    };
    let picture = painted(&scenario, &look, 30);
    // Seen along y the picture is its own mirror image: the camera and the pulse stand in the middle. Rays of mirrored pixels are rounded
    // differently, which moves a sample's colour by an entry of the table: a few levels of 255 in each channel.
    for y in 0..side {
        for x in 0..side {
            let here = picture.at(x, y);
            for other in [picture.at(side - 1 - x, y), picture.at(x, side - 1 - y)] {
                let apart = (0..3).map(|n| here[n].abs_diff(other[n])).max().unwrap();
                assert!(apart <= 6, "({x}, {y}): {here:?} and {other:?}");
            }
        }
    }
    // The shell has gone 12 of 20.5 sites: along the row through the middle the strongest colour is near its radius, and nothing is beyond it.
    // In the row stand two edges of the box a side: the far ones at 18.3 and the near ones at 23.2 sites, as the perspective has them.
    let scale = Stage::new(
        &ripplon::space::stage::Plan {
            shape: ripplon::space::Shape::of(scenario.grid()),
            orbit: &look.orbit,
            viewport: [201.0, 201.0],
            mode: ripplon::space::Mode::Volume,
            slices: look.slices,
            texels_per_step: 0.5,
            map: ripplon::colormap::auto(ripplon::colormap::Kind::Diverging),
            levels: ripplon::colormap::Levels { low: -1.0, high: 1.0 },
            gamma: 1.0,
            opacity: &[],
            shading: false,
        },
        &FieldVolume::default(),
        None,
    )
    .camera;
    let column = |radius: f32| scale.project([radius / 41.0, 0.0, 0.0]).unwrap()[0].round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "columns")]
    let columns = |from: f32, to: f32| column(from) as usize..=column(to) as usize;
    let mean = |columns: std::ops::RangeInclusive<usize>| {
        let count = columns.clone().count();
        columns.map(|x| f64::from(strength(&picture, x, 100))).sum::<f64>() / count as f64
    };
    let (shell, beyond) = (mean(columns(9.0, 14.0)), mean(columns(19.2, 22.2)));
    assert!(shell > 30.0 && beyond < 3.0, "shell {shell}, beyond {beyond}");
}

#[test]
fn slices_show_the_field_where_they_stand() {
    let scenario = scenario(CLAP, &["view.mode=slices"]);
    let look = |slices: [f64; 3]| Look {
        size: Some([400, 320]),
        slices,
        ..Look::of(&scenario)
    };
    let through = painted(&scenario, &look([20.0; 3]), 0);
    let beside = painted(&scenario, &look([3.0, 37.0, 3.0]), 0);
    let bright = |picture: &Picture| {
        let pixels = (0..320).flat_map(|y| (0..400).map(move |x| (x, y)));
        pixels.filter(|(x, y)| picture.at(*x, *y)[0] > 180).count()
    };
    // It is above 4/5 of its height within 0.67 widths, 5.3 pixels: 89 pixels from the front, and more than a third of them aslant.
    assert!(bright(&through) > 30, "the pulse is amber: {}", bright(&through));
    assert_eq!(bright(&beside), 0, "nothing there yet");
}

#[test]
fn looks_differ_as_they_say() {
    let scenario = scenario(PACKET, &[]);
    let size = Some([220, 170]);
    let base = Look {
        size,
        ..Look::of(&scenario)
    };
    assert_eq!(base.mode, ViewMode::Volume);
    let plain = painted(&scenario, &base, 3);
    for look in [
        Look {
            shading: true,
            ..base.clone()
        },
        Look {
            opacity: Opacity::Solid,
            ..base.clone()
        },
        Look {
            orbit: Orbit {
                azimuth: 100.0,
                ..base.orbit
            },
            ..base.clone()
        },
        Look {
            quantity: Quantity::Density,
            ..base.clone()
        },
        Look {
            overlay: true,
            ..base.clone()
        },
        Look {
            mode: ViewMode::Slices,
            ..base.clone()
        },
    ] {
        assert_ne!(painted(&scenario, &look, 3), plain, "{look:?}");
    }
    assert_eq!(painted(&scenario, &base, 3), plain, "the same again");
}

/// Largest and mean difference of two pictures in levels of 255, premultiplied.
#[cfg(feature = "gui")]
fn apart(cpu: &[[f32; 4]], gpu: &[[u8; 4]]) -> (f64, f64) {
    let (mut most, mut sum) = (0.0f64, 0.0);
    for (a, b) in cpu.iter().zip(gpu) {
        for n in 0..4 {
            let difference = (255.0 * f64::from(a[n]) - f64::from(b[n])).abs();
            most = most.max(difference);
            sum += difference;
        }
    }
    (most, sum / (4 * cpu.len()) as f64)
}

#[cfg(feature = "gui")]
#[test]
fn processor_and_graphics_draw_the_same() {
    use egui_kittest::wgpu::{create_render_state, default_wgpu_setup};
    use ripplon::render::VolumePicture;
    let render = create_render_state(default_wgpu_setup(), eframe::egui_wgpu::RendererOptions::PREDICTABLE);
    let mut picture = VolumePicture::new(&render);
    let size = [144u32, 96];
    for (text, overrides) in [
        (CLAP, &[][..]),
        (CLAP, &["view.mode=slices"]),
        (PACKET, &["view.shading=true"]),
        (PACKET, &["view.mode=slices"]),
        (PACKET, &["view.quantity=density", "view.opacity=faint"]),
    ] {
        let scenario = scenario(text, overrides);
        let mut engine = Engine::new(Arc::clone(&scenario)).unwrap();
        engine.advance(10).unwrap();
        let look = Look::of(&scenario);
        let quantity = look.quantity;
        let mut field = FieldVolume::default();
        engine.volume(&request(&scenario, quantity, 64), &mut field).unwrap();
        let medium = MediumVolume::of(&scenario);
        let space = ripplon::export::space::Space::new(&scenario, &look, 144, ripplon::export::units::NONE).unwrap();
        let map = ripplon::colormap::auto(quantity.map_kind());
        let mut keeper = ripplon::engine::RangeKeeper::new(look.range);
        let levels = keeper.levels_of(field.quantity, field.top, 0.0);
        let stage = space.stage(&field, map, levels, [144.0, 96.0]);
        let mut numbers = Numbers::of_medium(&medium);
        numbers.take_field(&field);
        let cpu = Marcher::new(&stage, &field, &medium, &numbers).picture();
        picture.upload(&render, &field);
        picture.upload_medium(&render, &medium);
        picture.draw(&render, &stage);
        let gpu = read_back(&render, picture.picture().unwrap(), size);
        let (most, mean) = apart(&cpu, &gpu);
        // Both round to 8 bits, and devices filter textures with 8 bits of the place between texels: a sample may fall into the next of 256
        // entries, a level or two a pixel. At the rim of a wall or of the box one ray more may hit or miss: single pixels.
        assert!(mean < 0.6, "{overrides:?}: mean {mean}, most {most}");
        let far = (cpu.iter().zip(&gpu)).filter(|(a, b)| (0..4).any(|n| (255.0 * a[n] - f32::from(b[n])).abs() > 12.0));
        let share = far.count() as f64 / cpu.len() as f64;
        assert!(share < 0.01, "{overrides:?}: {share} of the pixels differ");
        assert!(
            gpu.iter().any(|pixel| pixel[3] > 100),
            "{overrides:?}: there is a picture"
        );
    }
}

/// The pixels of a texture of four bytes a texel.
#[cfg(feature = "gui")]
fn read_back(
    render: &eframe::egui_wgpu::RenderState,
    texture: &wgpu::Texture,
    [width, height]: [u32; 2],
) -> Vec<[u8; 4]> {
    // Rows of a copy are multiples of 256 bytes.
    let pitch = (4 * width).next_multiple_of(256);
    let buffer = render.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: u64::from(pitch * height),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut encoder = render
        .device
        .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    encoder.copy_texture_to_buffer(
        texture.as_image_copy(),
        wgpu::TexelCopyBufferInfo {
            buffer: &buffer,
            layout: wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(pitch),
                rows_per_image: None,
            },
        },
        wgpu::Extent3d {
            width,
            height,
            depth_or_array_layers: 1,
        },
    );
    render.queue.submit([encoder.finish()]);
    buffer.map_async(wgpu::MapMode::Read, .., |result| result.unwrap());
    render.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    let bytes = buffer.get_mapped_range(..).unwrap();
    bytes
        .chunks_exact(pitch as usize)
        .flat_map(|row| row[..4 * width as usize].chunks_exact(4))
        .map(|pixel| [pixel[0], pixel[1], pixel[2], pixel[3]])
        .collect()
}

#[test]
fn the_command_renders_in_space_without_a_display() {
    let dir = tempfile::tempdir().unwrap();
    let scene = dir.path().join("scene.toml");
    std::fs::write(&scene, CLAP).unwrap();
    let ripplon = || {
        let mut command = assert_cmd::Command::cargo_bin("ripplon").unwrap();
        // No display, and no driver of any graphics adapter.
        command
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .env("VK_DRIVER_FILES", "/none");
        command
    };
    for (out, arguments) in [
        ("a.png", &["--view", "slices"][..]),
        ("b.gif", &["--frames", "3", "--overlay"]),
        ("c.png", &["--set", "view.camera.azimuth=70"]),
        ("d.png", &["--plane", "20"]),
    ] {
        ripplon()
            .arg("render")
            .args([&scene, &dir.path().join(out)])
            .args(["--size", "240x180", "--at", "3"])
            .args(arguments)
            .assert()
            .success();
        assert!(std::fs::metadata(dir.path().join(out)).unwrap().len() > 1000, "{out}");
    }
    let flat = dir.path().join("flat.toml");
    let text = CLAP
        .replace("[41, 41, 41]", "[41, 41]")
        .replace("[20.0, 20.0, 20.0]", "[20.0, 20.0]");
    std::fs::write(&flat, text.replace("mode = \"volume\"", "")).unwrap();
    ripplon()
        .arg("render")
        .args([&flat, &dir.path().join("e.png")])
        .args(["--view", "volume"])
        .assert()
        .code(2);
}
