//! The CUDA back end against the processor in double precision, and the embedded PTX against its sources. Without a device the parity tests
//! say so and pass.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail where it stands")]

#[path = "common/device.rs"]
mod device;

use device::{build, distance, skip};
use ripplon::backend::cuda::{self, Program};
use ripplon::field::{FieldData, Precision};
use ripplon::scene::Scenario;
use ripplon::scene::scenario::Quantity;
use ripplon::solver::{self, Backend, Clock, Edit, FieldImage, ImageRequest, Taps, read_scene_text};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// A field of random numbers, the same every time.
fn random_field(count: usize) -> FieldData {
    let mut state = 88172645463325252_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        #[expect(clippy::cast_precision_loss, reason = "53 bits are meant")]
        let unit = (state >> 11) as f64 / (1_u64 << 53) as f64;
        unit - 0.5
    };
    FieldData::Complex128((0..count).map(|_| num_complex::Complex::new(next(), next())).collect())
}

#[derive(Clone, Debug)]
struct Case {
    name: &'static str,
    size: &'static [usize],
    edges: &'static str,
    quantum: &'static str,
    layers: &'static str,
    orders: &'static [u32],
    imaginary: bool,
}

const POTENTIAL: &str = "[[layer]]\nsets = \"potential\"\nshape = \"everywhere\"\nvalue = \"1.3*sin(37.1*x + 91.7*y + 13.3*z + 17.3*x*y)\"\n";
const WALLS: &str = "[[layer]]\nsets = \"potential\"\nshape = \"everywhere\"\nvalue = \"1.3*sin(37.1*x + 91.7*y + 17.3*x*y)\"\n\
    [[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = [30.0, 20.0]\nradius = 7.3\nvalue = 1\n\
    [[layer]]\nsets = \"wall\"\nshape = \"slits\"\nx = 60.0\nthickness = 1.2\ncenters = [15.0, 30.0]\nopening = 4.0\nvalue = 1\n";
const BOXES: &str = "[[layer]]\nsets = \"potential\"\nshape = \"everywhere\"\nvalue = \"1.3*sin(37.1*x + 91.7*y + 13.3*z + 17.3*x*y)\"\n\
    [[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [8.0, 6.0, 1.0]\nmax = [12.0, 9.0, 3.5]\nvalue = 1\n\
    [[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [15.5, 0.0, 2.0]\nmax = [16.0, 30.0, 4.0]\nvalue = 1\n";
const DRIVEN: &str = "[[layer]]\nsets = \"potential\"\nshape = \"everywhere\"\nvalue = \"0.7*sin(7.1*x + 9.7*y)\"\n\
    [[layer]]\nsets = \"potential\"\nshape = \"disk\"\ncenter = [20.0, 20.0]\nradius = 9.0\nvalue = 0.9\nmode = \"add\"\ndrive = \"sin(3*t)\"\n";

const DETECTORS: &str = "[[detector]]\nname = \"line\"\nfrom = [15.0, 2.0]\nto = [15.0, 30.0]\nmeasure = \"flux\"\n\
    [[detector]]\nname = \"point\"\nat = [9.0, 12.0]\nmeasure = \"value\"\n\
    [[detector]]\nname = \"crest\"\nregion = { min = [3.0, 4.0], max = [14.0, 17.5] }\nmeasure = \"peak\"\n";

fn case(
    name: &'static str,
    size: &'static [usize],
    edges: &'static str,
    quantum: &'static str,
    layers: &'static str,
) -> Case {
    Case {
        name,
        size,
        edges,
        quantum,
        layers,
        orders: &[1, 2, 4],
        imaginary: false,
    }
}

fn cubes() -> Vec<Case> {
    let mass = "mass = 0.9";
    vec![
        case("cube", &[37, 22, 19], "\"wall\"", mass, POTENTIAL),
        case("aligned cube", &[132, 45, 19], "\"wall\"", mass, POTENTIAL),
        case(
            "interacting cube",
            &[36, 40, 21],
            "[\"periodic\", \"wall\", \"wall\"]",
            "mass = 1.0\ninteraction = 0.8",
            POTENTIAL,
        ),
        case("periodic cube", &[36, 22, 20], "\"periodic\"", mass, POTENTIAL),
        case("tiles of a cube", &[120, 100, 23], "\"wall\"", mass, POTENTIAL),
        case("obstacles in a cube", &[133, 70, 14], "\"wall\"", mass, BOXES),
        case(
            "obstacles in a periodic cube",
            &[132, 62, 12],
            "\"periodic\"",
            mass,
            BOXES,
        ),
        case(
            "flux through a cube",
            &[40, 36, 11],
            "\"wall\"",
            "hopping = 1.0\nflux = 0.013",
            BOXES,
        ),
        case(
            "interaction and obstacles in a cube",
            &[72, 60, 10],
            "\"wall\"",
            "mass = 1.0\ninteraction = 0.8",
            BOXES,
        ),
        Case {
            orders: &[1, 2],
            ..case(
                "absorbing cube",
                &[64, 56, 20],
                "\"absorb\"\nabsorb_width = 3",
                mass,
                POTENTIAL,
            )
        },
        Case {
            orders: &[1, 2],
            imaginary: true,
            ..case(
                "ground state of a cube",
                &[41, 36, 12],
                "\"wall\"",
                "mass = 1.0\ninteraction = 0.8",
                POTENTIAL,
            )
        },
    ]
}

fn cases() -> Vec<Case> {
    let mass = "mass = 0.9";
    vec![
        case("walls around", &[304, 141], "\"wall\"", mass, POTENTIAL),
        case("ragged", &[211, 97], "\"wall\"", mass, POTENTIAL),
        case("torus", &[256, 64], "\"periodic\"", mass, POTENTIAL),
        case("tube", &[130, 88], "[\"periodic\", \"wall\"]", mass, POTENTIAL),
        case("ring road", &[131, 88], "[\"wall\", \"periodic\"]", mass, POTENTIAL),
        case("tiny", &[5, 3], "\"wall\"", mass, POTENTIAL),
        Case {
            orders: &[1, 2],
            ..case(
                "absorbing",
                &[180, 120],
                "\"absorb\"\nabsorb_width = 17",
                mass,
                POTENTIAL,
            )
        },
        case("obstacles", &[210, 119], "\"wall\"", mass, WALLS),
        case("obstacles on a torus", &[212, 120], "\"periodic\"", mass, WALLS),
        case("flux", &[140, 90], "\"wall\"", "hopping = 1.0\nflux = 0.013", POTENTIAL),
        case(
            "flux and obstacles",
            &[140, 90],
            "\"wall\"",
            "hopping = 1.0\nflux = 0.013",
            WALLS,
        ),
        case(
            "interaction",
            &[140, 90],
            "\"wall\"",
            "mass = 1.0\ninteraction = 0.8",
            POTENTIAL,
        ),
        case(
            "interaction and obstacles",
            &[140, 90],
            "\"wall\"",
            "mass = 1.0\ninteraction = 0.8",
            WALLS,
        ),
        case("driven", &[90, 80], "\"wall\"", mass, DRIVEN),
        Case {
            orders: &[1, 2],
            imaginary: true,
            ..case(
                "ground state",
                &[90, 80],
                "\"wall\"",
                "mass = 1.0\ninteraction = 0.8",
                POTENTIAL,
            )
        },
        Case {
            imaginary: true,
            orders: &[2],
            ..case(
                "ground state of a line",
                &[300],
                "\"wall\"",
                mass,
                "[[layer]]\nsets = \"potential\"\nshape = \"everywhere\"\nvalue = \"sin(7.1*x)\"\n",
            )
        },
        case(
            "line with walls and interaction",
            &[2050],
            "\"wall\"",
            "mass = 1.0\ninteraction = 0.8",
            "[[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [300.0]\nmax = [301.0]\nvalue = 1\n",
        ),
        case(
            "line",
            &[1001],
            "\"wall\"",
            mass,
            "[[layer]]\nsets = \"potential\"\nshape = \"everywhere\"\nvalue = \"sin(7.1*x)\"\n",
        ),
        case(
            "ring",
            &[1000],
            "\"periodic\"",
            mass,
            "[[layer]]\nsets = \"potential\"\nshape = \"everywhere\"\nvalue = \"sin(7.1*x)\"\n",
        ),
    ]
    .into_iter()
    .chain(cubes())
    .collect()
}

fn scene(case: &Case, order: u32, backend: &str, precision: &str, variant: &str) -> Scenario {
    #[expect(clippy::cast_precision_loss, reason = "sizes are small")]
    let center: Vec<f64> = case.size.iter().map(|n| (n / 2) as f64 * 0.5).collect();
    let width = vec![0.6; case.size.len()];
    let detectors = if case.size.len() == 2 && case.size[1] > 40 {
        DETECTORS
    } else {
        ""
    };
    let text = format!(
        "format = 1\ntitle = \"{}\"\n[grid]\nsize = {:?}\nspacing = 0.5\nedges = {}\n[quantum]\n{}\n[time]\nstep = 0.11\nimaginary = {}\n\
         [solver]\nmethod = \"trotter\"\nbackend = \"{backend}\"\nprecision = \"{precision}\"\nvariant = \"{variant}\"\norder = {order}\n\
         [[packet]]\ncenter = {center:?}\nwidth = {width:?}\n{}\
         [[detector]]\nname = \"all\"\nmeasure = \"probability\"\n{}",
        case.name, case.size, case.edges, case.quantum, case.imaginary, case.layers, detectors
    );
    match read_scene_text(&text, None, &[]) {
        Ok((_, scenario)) => scenario,
        Err(faults) => panic!("{faults}\n{text}"),
    }
}

/// Every step rounds about 20 times a site; 14 steps of order 4 (70 sub-steps) make 1400 roundings, which add up to between √1400·ε and 1400·ε: 2e-6
/// to 8e-5 in single precision (ε = 6e-8), 4e-15 to 1.5e-13 in double. Energies stand rounded on the device: E Δt ε more a step.
fn tolerance(precision: Precision) -> f64 {
    match precision {
        Precision::Single => 3e-5,
        Precision::Double => 2e-13,
    }
}

#[test]
fn every_case_is_a_sound_scene() {
    for case in cases() {
        for &order in case.orders {
            let run = build(&scene(&case, order, "cpu", "single", "naive"));
            assert_eq!(run.report().order, order, "{}", case.name);
        }
    }
}

const STEPS: u64 = 14;

#[test]
fn every_variant_agrees_with_the_processor() {
    if skip() {
        return;
    }
    let mut wrong = Vec::new();
    for case in cases() {
        for &order in case.orders {
            let mut reference = build(&scene(&case, order, "cpu", "double", "naive"));
            let sites = case.size.iter().product();
            let start = Clock {
                time_step: 0.11,
                ..Clock::default()
            };
            reference
                .set_field(&random_field(sites), start)
                .expect("the reference takes a field");
            // Walls take their part of it.
            let field = reference.field().expect("the reference gives its field");
            reference
                .advance(STEPS, &mut Taps::default())
                .expect("the reference steps");
            let expected = reference.field().expect("the reference gives its field");
            let sums = reference.observables().expect("the reference sums");
            for (word, precision) in Precision::ALL {
                for variant in ["naive", "full-step", "fused"] {
                    let name = format!("{}, order {order}, {word}, {variant}", case.name);
                    let mut run = build(&scene(&case, order, "cuda", word, variant));
                    run.set_field(&field, start)
                        .unwrap_or_else(|error| panic!("{name}: {error}"));
                    run.advance(STEPS, &mut Taps::default())
                        .unwrap_or_else(|error| panic!("{name}: {error}"));
                    let found = run.field().unwrap_or_else(|error| panic!("{name}: {error}"));
                    let off = distance(&found, &expected);
                    if off.is_nan() || off > tolerance(precision) {
                        wrong.push(format!("{name}: ψ is off by {off:.1e} ({})", run.report().details));
                        continue;
                    }
                    let measured = run.observables().unwrap_or_else(|error| panic!("{name}: {error}"));
                    let pairs = measured.values(3).into_iter().zip(sums.values(3));
                    let scale = sums.values(3).iter().fold(0.0_f64, |a, b| a.max(b.abs()));
                    for (place, (a, b)) in pairs.enumerate() {
                        if (a - b).abs() > 10.0 * tolerance(precision) * scale {
                            wrong.push(format!("{name}: observable {place} is {a}, should be {b}"));
                        }
                    }
                    println!("{name}: {off:.1e} ({})", run.report().details);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn batches_give_the_same_bits() {
    if skip() {
        return;
    }
    for case in cases().into_iter().filter(|case| case.size.len() > 1) {
        for (word, _) in Precision::ALL {
            let order = 2;
            let mut once = build(&scene(&case, order, "cuda", word, "fused"));
            let mut often = build(&scene(&case, order, "cuda", word, "fused"));
            let mut full = build(&scene(&case, order, "cuda", word, "full-step"));
            once.advance(13, &mut Taps::default()).expect("steps");
            for steps in [1, 2, 3, 1, 6] {
                often.advance(steps, &mut Taps::default()).expect("steps");
            }
            full.advance(13, &mut Taps::default()).expect("steps");
            let state = once.save().expect("a state");
            if case.layers != DRIVEN {
                // Tables of driven layers are rounded at random, anew at every step.
                assert_eq!(
                    state.arrays,
                    often.save().expect("a state").arrays,
                    "{}, {word}",
                    case.name
                );
                assert_eq!(
                    state.arrays,
                    full.save().expect("a state").arrays,
                    "{}, {word}",
                    case.name
                );
            }
        }
    }
}

#[test]
fn checkpoints_go_from_one_place_to_the_other() {
    if skip() {
        return;
    }
    let all = cases();
    for case in all
        .iter()
        .filter(|case| ["walls around", "obstacles", "cube"].contains(&case.name))
    {
        let mut cpu = build(&scene(case, 2, "cpu", "double", "naive"));
        let mut gpu = build(&scene(case, 2, "cuda", "double", "auto"));
        cpu.advance(9, &mut Taps::default()).expect("steps");
        gpu.load(&cpu.save().expect("a state")).expect("the state fits");
        assert_eq!(
            gpu.save().expect("a state").arrays,
            cpu.save().expect("a state").arrays,
            "bit by bit"
        );
        gpu.advance(9, &mut Taps::default()).expect("steps");
        cpu.advance(9, &mut Taps::default()).expect("steps");
        let back = gpu.save().expect("a state");
        assert!(distance(&gpu.field().expect("a field"), &cpu.field().expect("a field")) < 2e-13);
        cpu.load(&back).expect("the state fits");
        assert_eq!(cpu.clock(), gpu.clock());
    }
}

#[test]
fn edits_pictures_and_records_agree() {
    if skip() {
        return;
    }
    let all = cases();
    let names = [
        "walls around",
        "absorbing",
        "obstacles",
        "flux",
        "interaction",
        "driven",
    ];
    for case in all.iter().filter(|case| names.contains(&case.name)) {
        let scenario = scene(case, 2, "cpu", "double", "naive");
        let mut cpu = build(&scenario);
        let on_device = scene(case, 2, "cuda", "double", "fused");
        let mut gpu = build(&on_device);
        let mut records = [
            Taps::new(scenario.grid(), scenario.detectors()),
            Taps::new(scenario.grid(), scenario.detectors()),
        ];
        for (run, scenario, taps) in [(&mut cpu, &scenario, 0), (&mut gpu, &on_device, 1)] {
            run.advance(7, &mut records[taps]).expect("steps");
            run.edit(scenario, &Edit::TimeStep(0.07)).expect("another step");
            run.advance(8, &mut Taps::default()).expect("steps");
            run.edit(scenario, &Edit::Conjugate).expect("conjugates");
            run.edit(scenario, &Edit::Medium).expect("the medium again");
            run.advance(5, &mut records[taps]).expect("steps");
        }
        assert_eq!(cpu.clock(), gpu.clock(), "{}", case.name);
        assert!(
            distance(&gpu.field().expect("a field"), &cpu.field().expect("a field")) < 4e-13,
            "{}",
            case.name
        );
        let [expected, found] = &records;
        assert_eq!(expected.times(), found.times());
        for detector in 0..scenario.detectors().len() {
            for (a, b) in expected.values(detector).iter().zip(found.values(detector)) {
                assert!((a - b).abs() < 1e-12, "{}, detector {detector}: {a} {b}", case.name);
            }
        }
        for quantity in [Quantity::Density, Quantity::Phase, Quantity::Real, Quantity::Imaginary] {
            for most in [[300, 300], [50, 20]] {
                let [nx, ny, _] = scenario.grid().size();
                let request = ImageRequest {
                    quantity,
                    x: 3..nx - 2,
                    y: 1..ny,
                    z: 0,
                    max_size: most,
                };
                let (mut a, mut b) = (FieldImage::default(), FieldImage::default());
                cpu.image(&request, &mut a).expect("a picture");
                gpu.image(&request, &mut b).expect("a picture");
                assert_eq!(
                    (a.size, a.origin, a.reduction, a.quantity),
                    (b.size, b.origin, b.reduction, b.quantity)
                );
                let largest = a.value.iter().fold(0.0_f32, |most, v| most.max(v.abs()));
                for (i, (x, y)) in a.value.iter().zip(&b.value).enumerate() {
                    // Values are single, and sums of at most a few hundred of them.
                    assert!(
                        (x - y).abs() <= 1e-5 * largest,
                        "{} {quantity:?} {i}: {x} {y}",
                        case.name
                    );
                    if quantity == Quantity::Phase && x.abs() > 1e-3 * largest {
                        let turn = (a.phase[i] - b.phase[i]).abs();
                        assert!(
                            turn.min(std::f32::consts::TAU - turn) < 1e-2,
                            "{} {i}: {turn}",
                            case.name
                        );
                    }
                }
            }
        }
    }
}

/// A Python environment with NVRTC and ptxas from PyPI; none, with a printed reason, where it does not install.
fn nvrtc() -> Option<PathBuf> {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nvrtc-13.0");
    let python = place.join("bin/python");
    let done = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
    let wanted = [
        "nvidia-cuda-nvrtc==13.0.88",
        "nvidia-cuda-nvcc==13.5.37",
        "nvidia-nvvm==13.5.37",
    ];
    let complete = place.join("complete");
    if !complete.exists() {
        let made = done(Command::new("python3").args(["-m", "venv"]).arg(&place));
        if !made || !done(Command::new(&python).args(["-m", "pip", "install", "-q"]).args(wanted)) {
            println!("skipped: NVRTC does not install (no Python, no pip, or no network)");
            return None;
        }
        std::fs::write(&complete, "").expect("the target folder is writable");
    }
    Some(place)
}

/// `kernels/build` with NVRTC and ptxas from PyPI, no device needed.
#[test]
fn embedded_ptx_is_what_the_sources_give() {
    let Some(place) = nvrtc() else { return };
    let output = Command::new(place.join("bin/python"))
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/build"))
        .arg("--check")
        .output()
        .expect("python starts");
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Runs one test of this file in a process of its own, with other variables.
fn again(test: &str, variables: &[(&str, &std::ffi::OsStr)]) -> String {
    let output = Command::new(std::env::current_exe().expect("this program has a place"))
        .args(["--exact", test, "--nocapture"])
        .env(ROLE, test)
        .envs(variables.iter().copied())
        .output()
        .expect("this program starts again");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    text
}

/// Set in the processes that [`again`] starts.
const ROLE: &str = "RIPPLON_TEST_ROLE";

fn program(name: &str, source: &'static str) -> Program {
    let define = |name, value: &str| (name, value.to_owned());
    Program {
        name: name.to_owned(),
        file: "trotter_fused.cu",
        source,
        headers: &[("trotter.cuh", include_str!("../kernels/trotter.cuh"))],
        defines: vec![
            define("REAL", "float"),
            define("COLUMNS", "4"),
            define("STEPS", "2"),
            define("BLOCKS", "8"),
        ],
    }
}

/// What is compiled at run time is, bit by bit, what `kernels/build` makes, and is kept for runs that have no compiler. No device needed.
#[test]
fn kernels_compile_at_run_time_and_are_kept() {
    const NAME: &str = "kernels_compile_at_run_time_and_are_kept";
    if std::env::var_os(ROLE).is_some() {
        let wanted = program("trotter_fused_f32_2", include_str!("../kernels/trotter_fused.cu"));
        let made = cuda::compiled(&wanted, cuda::cache().as_deref()).expect("it compiles, or was kept");
        assert_eq!(made.ptx, include_str!("../kernels/ptx/trotter_fused_f32_2.ptx"));
        let wrong = cuda::compiled(&program("wrong", "__global__ void wrong() { nonsense; }"), None);
        println!(
            "said: {}",
            wrong.err().map(|error| error.to_string()).unwrap_or_default()
        );
        return;
    }
    let Some(place) = nvrtc() else { return };
    let library = std::fs::read_dir(place.join("lib"))
        .expect("an environment has libraries")
        .filter_map(|entry| Some(entry.ok()?.path().join("site-packages/nvidia/cu13")))
        .find(|path| path.exists())
        .expect("NVRTC lies among its packages");
    let cache = tempfile::TempDir::new().expect("a folder");
    let folder = cache.path().as_os_str();
    let with = again(NAME, &[("CUDA_PATH", library.as_os_str()), ("XDG_CACHE_HOME", folder)]);
    assert!(with.contains("nonsense") && with.contains("wrong"), "{with}");
    let kept: Vec<_> = std::fs::read_dir(cache.path().join("ripplon"))
        .expect("the cache was made")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert!(kept[0].starts_with("trotter_fused_f32_2-"), "{kept:?}");
    let without = again(NAME, &[("CUDA_PATH", "/nowhere".as_ref()), ("XDG_CACHE_HOME", folder)]);
    assert!(without.contains("NVRTC") || without.contains("nonsense"), "{without}");
}

/// Numbers of fused steps that are not in the program: the same bits as single steps.
#[test]
fn any_number_of_fused_steps_gives_the_same_bits() {
    if skip() {
        return;
    }
    if let Err(reason) = cuda::compiler() {
        println!("skipped: {reason}");
        return;
    }
    let all = cases();
    for case in all
        .iter()
        .filter(|case| ["ragged", "torus", "obstacles", "flux", "line"].contains(&case.name))
    {
        for (word, _) in Precision::ALL {
            let mut full = build(&scene(case, 2, "cuda", word, "full-step"));
            full.advance(23, &mut Taps::default()).expect("steps");
            let expected = full.save().expect("a state").arrays;
            for steps in [1, 5, 8, 10] {
                let key = format!("fused\"\nfused_steps = {steps}\n#");
                let mut run = build(&scene(case, 2, "cuda", word, &key));
                run.advance(23, &mut Taps::default()).expect("steps");
                assert_eq!(
                    run.save().expect("a state").arrays,
                    expected,
                    "{}, {word}, {steps}",
                    case.name
                );
                println!("{}, {word}: {}", case.name, run.report().details);
            }
        }
    }
}

/// A picture that was begun shows the state of that moment, whatever steps come before it is taken.
#[test]
fn pictures_beside_stepping_show_their_moment() {
    if skip() {
        return;
    }
    for case in cases().iter().filter(|case| case.size.len() > 1) {
        for variant in ["naive", "fused"] {
            let mut run = build(&scene(case, 2, "cuda", "single", variant));
            let [nx, ny, nz] = [0, 1, 2].map(|axis| case.size.get(axis).copied().unwrap_or(1));
            for quantity in [Quantity::Density, Quantity::Phase, Quantity::Density] {
                run.advance(5, &mut Taps::default()).expect("steps");
                let request = ImageRequest {
                    quantity,
                    x: 0..nx,
                    y: 0..ny,
                    z: nz / 2,
                    max_size: [64, 64],
                };
                let (mut now, mut later) = (FieldImage::default(), FieldImage::default());
                run.image(&request, &mut now).expect("a picture");
                assert!(run.begin_image(&request).expect("a picture is begun"));
                for steps in [1, 7, 2] {
                    run.advance(steps, &mut Taps::default()).expect("steps");
                }
                assert!(run.take_image(&mut later).expect("a picture"));
                assert!(now == later, "{}, {variant}, {quantity:?}", case.name);
                assert!(!run.take_image(&mut later).expect("none is left"));
            }
        }
    }
}

/// A device without room: an error with the sizes, or the processor where the scene leaves it open, which says so.
#[test]
fn without_room_the_processor_steps_in_where_it_may() {
    const NAME: &str = "without_room_the_processor_steps_in_where_it_may";
    if skip() {
        return;
    }
    if std::env::var_os(ROLE).is_none() {
        again(NAME, &[("RIPPLON_CUDA_MEMORY", "1000000".as_ref())]);
        return;
    }
    let large = Case {
        size: &[512, 512],
        ..cases().swap_remove(0)
    };
    let method = solver::find("trotter").expect("the method is in the table");
    let refused = (method.build)(&scene(&large, 2, "cuda", "single", "auto"));
    let text = refused.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(
        text.contains("cuda") && text.contains("1000000 are free") && text.contains("smaller grid"),
        "{text}"
    );
    let mut elsewhere = build(&scene(&large, 2, "auto", "single", "auto"));
    let report = elsewhere.report();
    assert_eq!(report.backend, Backend::Cpu);
    let note = report.note.unwrap_or_default();
    assert!(
        note.contains("not on the NVIDIA device") && note.contains("1000000"),
        "{note}"
    );
    elsewhere.advance(2, &mut Taps::default()).expect("steps");
}

/// A device lost in mid-run: an error that names the kernel, the snapshot kept; the processor goes on from it where the scene leaves that open.
#[test]
fn a_lost_device_costs_nothing_that_was_kept() {
    const NAME: &str = "a_lost_device_costs_nothing_that_was_kept";
    if skip() {
        return;
    }
    if std::env::var_os(ROLE).is_none() {
        // In a process of its own: the other tests need the device.
        again(NAME, &[]);
        return;
    }
    let large = Case {
        size: &[320, 256],
        ..cases().swap_remove(0)
    };
    for (backend, goes_on) in [("auto", true), ("cuda", false)] {
        let scenario = std::sync::Arc::new(scene(&large, 2, backend, "double", "auto"));
        let mut engine = ripplon::engine::Engine::new(scenario).expect("the device is there");
        assert_eq!(engine.report().backend, Backend::Cuda);
        engine.advance(7).expect("steps");
        let before = engine.field().expect("a field");
        engine.snapshot().expect("a snapshot");
        cuda::lose_device_after(Some(3));
        let error = engine.advance(100).expect_err("the device is lost").to_string();
        assert!(error.contains("kernel") && error.contains("ECC"), "{error}");
        assert!(engine.failure().is_some() && engine.has_snapshot());
        assert!(engine.advance(1).is_err(), "it stays where it is");
        if goes_on {
            engine.restore().expect("the processor takes over");
            assert_eq!(engine.report().backend, Backend::Cpu);
            let note = engine.report().note.unwrap_or_default();
            assert!(note.contains("not on the NVIDIA device"), "{note}");
        } else {
            let refused = engine
                .restore()
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default();
            assert!(refused.contains("cuda"), "{refused}");
            assert!(engine.has_snapshot());
            cuda::lose_device_after(None);
            engine.restore().expect("it is back");
            assert_eq!(engine.report().backend, Backend::Cuda);
        }
        assert_eq!(engine.clock().steps, 7);
        // Open and closed once more: a few roundings.
        assert!(distance(&engine.field().expect("a field"), &before) < 1e-14);
        engine.advance(5).expect("it goes on");
        cuda::lose_device_after(None);
    }
}
