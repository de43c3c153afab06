//! Scenes that the device steps, and how far it may be off.

use ripplon::field::{FieldData, Precision};
use ripplon::scene::Scenario;
use ripplon::solver::read_scene_text;

/// A field of random numbers, the same every time.
pub fn random_field(count: usize) -> FieldData {
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
pub struct Case {
    pub name: &'static str,
    pub size: &'static [usize],
    pub edges: &'static str,
    pub quantum: &'static str,
    pub layers: &'static str,
    pub orders: &'static [u32],
    pub imaginary: bool,
}

pub const POTENTIAL: &str = "[[layer]]\nsets = \"potential\"\nshape = \"everywhere\"\nvalue = \"1.3*sin(37.1*x + 91.7*y + 13.3*z + 17.3*x*y)\"\n";
pub const WALLS: &str = "[[layer]]\nsets = \"potential\"\nshape = \"everywhere\"\nvalue = \"1.3*sin(37.1*x + 91.7*y + 17.3*x*y)\"\n\
    [[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = [30.0, 20.0]\nradius = 7.3\nvalue = 1\n\
    [[layer]]\nsets = \"wall\"\nshape = \"slits\"\nx = 60.0\nthickness = 1.2\ncenters = [15.0, 30.0]\nopening = 4.0\nvalue = 1\n";
pub const BOXES: &str = "[[layer]]\nsets = \"potential\"\nshape = \"everywhere\"\nvalue = \"1.3*sin(37.1*x + 91.7*y + 13.3*z + 17.3*x*y)\"\n\
    [[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [8.0, 6.0, 1.0]\nmax = [12.0, 9.0, 3.5]\nvalue = 1\n\
    [[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [15.5, 0.0, 2.0]\nmax = [16.0, 30.0, 4.0]\nvalue = 1\n";
pub const DRIVEN: &str = "[[layer]]\nsets = \"potential\"\nshape = \"everywhere\"\nvalue = \"0.7*sin(7.1*x + 9.7*y)\"\n\
    [[layer]]\nsets = \"potential\"\nshape = \"disk\"\ncenter = [20.0, 20.0]\nradius = 9.0\nvalue = 0.9\nmode = \"add\"\ndrive = \"sin(3*t)\"\n";

const DETECTORS: &str = "[[detector]]\nname = \"line\"\nfrom = [15.0, 2.0]\nto = [15.0, 30.0]\nmeasure = \"flux\"\n\
    [[detector]]\nname = \"point\"\nat = [9.0, 12.0]\nmeasure = \"value\"\n\
    [[detector]]\nname = \"crest\"\nregion = { min = [3.0, 4.0], max = [14.0, 17.5] }\nmeasure = \"peak\"\n";

pub fn case(
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
        // Parts of them take several launches between copies.
        case("high cube", &[64, 38, 61], "\"wall\"", mass, POTENTIAL),
        case("high ring", &[64, 38, 64], "\"periodic\"", mass, POTENTIAL),
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

pub fn cases() -> Vec<Case> {
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
        Case {
            orders: &[1, 2],
            ..case("absorbing line", &[1030], "\"absorb\"\nabsorb_width = 17", mass, "")
        },
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

pub fn scene(case: &Case, order: u32, backend: &str, precision: &str, variant: &str) -> Scenario {
    heard(case, order, [backend, precision, variant], detectors(case))
}

/// Detectors that fit a case.
pub fn detectors(case: &Case) -> &'static str {
    if case.size.len() == 2 && case.size[1] > 40 {
        DETECTORS
    } else {
        ""
    }
}

/// A scene with these detectors beside one of the whole field, by a back end, precision and variant.
pub fn heard(case: &Case, order: u32, solver: [&str; 3], detectors: &str) -> Scenario {
    let text = text(case, order, solver, detectors);
    match read_scene_text(&text, None, &[]) {
        Ok((_, scenario)) => scenario,
        Err(faults) => panic!("{faults}\n{text}"),
    }
}

/// The same as a text.
pub fn text(case: &Case, order: u32, [backend, precision, variant]: [&str; 3], detectors: &str) -> String {
    #[expect(clippy::cast_precision_loss, reason = "sizes are small")]
    let center: Vec<f64> = case.size.iter().map(|n| (n / 2) as f64 * 0.5).collect();
    let width = vec![0.6; case.size.len()];
    format!(
        "format = 1\ntitle = \"{}\"\n[grid]\nsize = {:?}\nspacing = 0.5\nedges = {}\n[quantum]\n{}\n[time]\nstep = 0.11\nimaginary = {}\n\
         [solver]\nmethod = \"trotter\"\nbackend = \"{backend}\"\nprecision = \"{precision}\"\nvariant = \"{variant}\"\norder = {order}\n\
         [[packet]]\ncenter = {center:?}\nwidth = {width:?}\n{}\
         [[detector]]\nname = \"all\"\nmeasure = \"probability\"\n{}",
        case.name, case.size, case.edges, case.quantum, case.imaginary, case.layers, detectors
    )
}

/// Every step rounds about 20 times a site; 14 steps of order 4 (70 sub-steps) make 1400 roundings, which add up to between √1400·ε and 1400·ε: 2e-6
/// to 8e-5 in single precision (ε = 6e-8), 4e-15 to 1.5e-13 in double. Energies stand rounded on the device: E Δt ε more a step.
pub fn tolerance(precision: Precision) -> f64 {
    match precision {
        Precision::Single => 3e-5,
        Precision::Double => 2e-13,
    }
}
