//! What reads bytes that others made: each decoder with a file that it takes, to be mutated by the tests here and by `tests/run fuzz`.

#[path = "../common/npy.rs"]
mod npy;

use ripplon::engine::sweep::SweepPlan;
use ripplon::engine::{Checkpoint, Engine, Frame, Notice, Records};
use ripplon::export::{About, Picture, png};
use ripplon::physics::Expression;
use ripplon::physics::expression::SPACE;
use ripplon::remote::files::Store;
use ripplon::remote::frame::{FrameMessage, SceneId};
use ripplon::remote::picture::Fineness;
use ripplon::remote::scenes;
use ripplon::remote::wire::{self, Request, SceneMessage, ToServer, ToWindow};
use ripplon::scene::Faults;
use ripplon::scene::lecture::Lecture;
use ripplon::scene::scenario::Quantity;
use ripplon::solver::{self, FieldImage};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// One decoder.
pub struct Decoder {
    /// Its name, also that of its folder of kept inputs.
    pub name: &'static str,
    /// Writes into a folder what belongs beside the input; gives an input that is taken.
    pub prepare: fn(&Path) -> Vec<u8>,
    /// Reads an input in a prepared folder; what it says is of no matter, only that it comes back.
    pub read: fn(&Path, &[u8]),
}

/// All of them.
pub const DECODERS: [Decoder; 12] = [
    Decoder {
        name: "npy",
        prepare: |folder| {
            let values: Vec<u8> = (0..64).flat_map(|_| 300f32.to_le_bytes()).collect();
            let layer = "[[layer]]\nsets = \"speed\"\nshape = \"array\"\nfile = \"input\"";
            beside(folder, layer, npy::npy("<f4", false, "(8, 8)", &values))
        },
        read: of_a_scene,
    },
    Decoder {
        name: "png",
        prepare: |folder| {
            let layer = "[[layer]]\nsets = \"speed\"\nshape = \"image\"\nfile = \"input\"\nvalue = 300.0";
            beside(folder, layer, picture(folder, None))
        },
        read: of_a_scene,
    },
    Decoder {
        name: "wav",
        prepare: |folder| {
            let source = "[[source]]\nat = [5.0, 5.0]\nsignal = \"file\"\nfile = \"input\"";
            beside(folder, source, wav())
        },
        read: of_a_scene,
    },
    Decoder {
        name: "scene_in_png",
        prepare: |folder| picture(folder, Some(sound(""))),
        read: |folder, bytes| as_a_scene(&folder.join("input.png"), bytes),
    },
    Decoder {
        name: "scene_in_mp4",
        prepare: |_| {
            let mut film = b"\x00\x00\x00\x10ftypisom\x00\x00\x00\x00".to_vec();
            film.extend(ripplon::scene::embedded::mp4_box(&sound("")));
            film
        },
        read: |folder, bytes| as_a_scene(&folder.join("input.mp4"), bytes),
    },
    Decoder {
        name: "toml",
        prepare: |_| {
            sound("[[layer]]\nsets = \"speed\"\nshape = \"disk\"\ncenter = [4.0, 4.0]\nradius = 2.0\nvalue = \"300 + 10*cos(x)*exp(-y)\"")
                .into_bytes()
        },
        read: |_, bytes| drop(solver::read_scene_text(&String::from_utf8_lossy(bytes), None, &[])),
    },
    Decoder {
        name: "formula",
        prepare: |_| b"300 + 10*cos(2*pi*x)^2*exp(-(y - 1e3)/4) + sqrt(abs(z))*(x > 1)".to_vec(),
        read: |_, bytes| {
            if let Ok(formula) = Expression::parse(&String::from_utf8_lossy(bytes), SPACE) {
                let _ = formula.eval(&[1.0, 2.0, 3.0, 4.0]);
            }
        },
    },
    Decoder {
        name: "lecture",
        prepare: |_| {
            b"title = \"Waves\"\n[[scene]]\nscene = \"double-slit\"\nset = [\"time.end=5\"]\nnote = \"Look.\"\nminutes = 2.5\ngoes_on = true\n\
              [[scene]]\nscene = \"own.toml\"\ntitle = \"Mine\"\n"
                .to_vec()
        },
        read: |_, bytes| drop(Lecture::read_text(&String::from_utf8_lossy(bytes), "lecture", None)),
    },
    Decoder {
        name: "sweep",
        prepare: |_| {
            let text = LINE.as_bytes().to_vec();
            assert!(sweep(LINE), "the sweep has faults");
            text
        },
        read: |_, bytes| _ = sweep(&String::from_utf8_lossy(bytes)),
    },
    Decoder {
        name: "checkpoint",
        prepare: |folder| {
            let path = folder.join("input");
            let (_, scenario) = solver::read_scene_text(&sound(""), None, &[]).unwrap();
            let mut run = Engine::new(Arc::new(scenario)).unwrap();
            run.advance(3).unwrap();
            run.save_checkpoint(&path).unwrap();
            Checkpoint::read(&path).unwrap();
            fs::read(path).unwrap()
        },
        read: checkpoint,
    },
    Decoder {
        name: "to_server",
        prepare: |_| {
            let text = sound("");
            wire::encode(&ToServer::Request(1, Request::Scene(SceneMessage { id: 1, text })))
        },
        read: to_server,
    },
    Decoder {
        name: "to_window",
        prepare: |_| {
            let message = FrameMessage::of(&frame(), None, Some(SceneId::Window(1)), Fineness::Quick);
            wire::encode_packed(&ToWindow::Frame(1, Box::new(message)))
        },
        read: to_window,
    },
];

/// What reading a scene file says; `Ok` where nothing is wrong.
pub fn check(path: &Path) -> Result<(), Faults> {
    solver::read_scene(&path.to_string_lossy(), &[]).map(|_| ())
}

/// A scene of 8 × 8 sites; `rest` follows it.
pub fn sound(rest: &str) -> String {
    format!(
        "format = 1\n[grid]\nsize = [8, 8]\nspacing = 1.0\n[acoustic]\nspeed = 343.0\n[time]\nend = 0.01\n\
         [[pulse]]\ncenter = [3.0, 3.0]\nwidth = 1.0\n{rest}\n"
    )
}

/// A packet on a line before a step, with a sweep of two keys, their formulas and the theory of it.
const LINE: &str = "format = 1\n[grid]\nsize = [60]\nspacing = 1.0\n[quantum]\n[time]\nend = 2.0\n[[packet]]\ncenter = [20.0]\nwidth = [5.0]\nmomentum = [1.0]\n\
    [[layer]]\nsets = \"potential\"\nshape = \"box\"\nmin = [30.0]\nmax = [31.0]\nvalue = 0.6\n\
    [[detector]]\nname = \"a\"\nregion = { min = [32.0], max = [50.0] }\nmeasure = \"probability\"\n\
    [[trajectory]]\nname = \"b\"\nfrom = [18.0]\nto = [22.0]\ncount = 3\n\
    [sweep]\nvary = [\"packet.0.momentum.0=0.5..1.5/5 log & packet.0.center.0=20 - x\", \"layer.0.value=0.1,0.2\"]\n\
    measure = [\"a@1.5\", \"contrast(a | norm)\"]\ntheory = \"transmission\"\n";

/// Reads a scene with a sweep and looks whether it can be run, as the command does before the first run; whether it can.
fn sweep(text: &str) -> bool {
    let Ok((file, scenario)) = solver::read_scene_text(text, None, &[]) else {
        return false;
    };
    let Some(sweep) = scenario.sweep() else { return false };
    let plan = SweepPlan {
        text: file.to_toml(),
        origin: None,
        sweep: sweep.clone(),
    };
    plan.check().is_ok() && plan.theory(&plan.values(0)).is_ok()
}

/// Writes a scene that names the file `input`, which is taken as it is.
fn beside(folder: &Path, rest: &str, bytes: Vec<u8>) -> Vec<u8> {
    let scene = folder.join("scene.toml");
    fs::write(&scene, sound(rest)).unwrap();
    fs::write(folder.join("input"), &bytes).unwrap();
    check(&scene).unwrap_or_else(|faults| panic!("{faults}"));
    bytes
}

fn of_a_scene(folder: &Path, bytes: &[u8]) {
    fs::write(folder.join("input"), bytes).unwrap();
    let _ = check(&folder.join("scene.toml"));
}

fn as_a_scene(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
    let _ = check(path);
}

fn checkpoint(folder: &Path, bytes: &[u8]) {
    let path = folder.join("input");
    fs::write(&path, bytes).unwrap();
    let _ = Checkpoint::read(&path);
    // With its sum made right, what is behind it is read as well.
    if let Some(end) = bytes.len().checked_sub(4) {
        let mut right = bytes[..end].to_vec();
        right.extend(crc32fast::hash(&bytes[..end]).to_le_bytes());
        fs::write(&path, right).unwrap();
        let _ = Checkpoint::read(&path);
    }
}

/// A message from a window, as a server takes it.
fn to_server(folder: &Path, bytes: &[u8]) {
    let mut store = Store::new(folder.to_owned());
    match wire::decode(bytes) {
        Some(ToServer::Request(_, Request::Scene(scene))) => drop(scenes::unpack(&scene.text, &store)),
        Some(ToServer::Request(_, Request::Piece(piece))) => drop(store.take(&piece)),
        _ => {}
    }
}

/// A message from a server, as a window takes it.
fn to_window(folder: &Path, bytes: &[u8]) {
    let mut store = Store::new(folder.to_owned());
    match wire::decode(bytes) {
        Some(ToWindow::Frame(_, message)) => {
            let mut shown = frame();
            let scenario = shown.scenario.clone();
            let _ = message.apply(&mut shown, scenario);
        }
        Some(ToWindow::Scene(scene)) => drop(scenes::unpack(&scene.text, &store)),
        Some(ToWindow::Piece(piece)) => drop(store.take(&piece)),
        _ => {}
    }
}

/// A frame with a picture, numbers and words.
fn frame() -> Frame {
    let (_, scenario) = solver::read_scene_text(&sound(""), None, &[]).unwrap();
    Frame {
        serial: 3,
        scenario: Some(Arc::new(scenario)),
        image: FieldImage {
            size: [8, 8],
            reduction: 1,
            value: (0..64u8).map(|n| f32::from(n) - 20.0).collect(),
            quantity: Some(Quantity::Pressure),
            ..FieldImage::default()
        },
        image_serial: 2,
        detectors: vec![1.0, -2.0],
        records: vec![Arc::new(Records {
            step: 7,
            times: vec![0.5, 1.0],
            columns: vec![vec![1.0, 2.0], vec![-1.0, f64::NAN]],
        })],
        notice: Some(Notice {
            serial: 1,
            is_error: false,
            text: "Written".into(),
        }),
        ..Frame::default()
    }
}

fn picture(folder: &Path, scene: Option<String>) -> Vec<u8> {
    let path = folder.join("picture.png");
    let picture = Picture::filled(24, 16, [200, 100, 50]);
    let about = About {
        title: "A picture".to_owned(),
        scene,
        comment: "of nothing".to_owned(),
    };
    png::save(&path, &picture, &about).unwrap();
    fs::read(path).unwrap()
}

fn wav() -> Vec<u8> {
    let mut bytes = b"RIFF\x54\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x30\x00\x00\x00".to_vec();
    bytes.extend((0..48).map(|n: u8| n.wrapping_mul(37)));
    bytes
}
