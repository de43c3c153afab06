//! Sound of a grid in parts: in a room, among walls, leaving it, in oscillators and in space.

use super::{Case, ENERGY, FDTD, ROOM, SOUND_STEP, build, check, follow, text};

const ENERGY_OF_ALL: &str = "[[detector]]\nname = \"energy of all\"\nmeasure = \"energy\"\n";

#[test]
fn sound_in_a_room() {
    check(&ROOM, &format!("{SOUND_STEP}{ENERGY}"));
    let edges = &["absorb", "wall"];
    check(
        &Case {
            edges,
            name: "absorbing sides",
            ..ROOM
        },
        SOUND_STEP,
    );
}

#[test]
fn sound_among_walls_in_a_medium() {
    let layers = "[[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = [24.0, 46.0]\nradius = 5.0\n\
                  [[layer]]\nsets = \"absorption\"\nshape = \"disk\"\ncenter = [10.0, 85.0]\nradius = 8.0\nvalue = 0.01\n\
                  [[layer]]\nsets = \"speed\"\nshape = \"box\"\nmin = [0.0, 70.0]\nmax = [50.0, 140.0]\nvalue = \"0.7 + 0.001*x\"\n";
    let edges = &["wall", "periodic"];
    check(
        &Case {
            edges,
            name: "medium",
            ..ROOM
        },
        &format!("{SOUND_STEP}{layers}{ENERGY}{ENERGY_OF_ALL}"),
    );
    // Where nothing is damped, the energy of all is added up in another way: not in one part alone.
    let damped = Case {
        name: "damped in one part",
        ..ROOM
    };
    check(&damped, &format!("{SOUND_STEP}{layers}{ENERGY_OF_ALL}"));
    let density =
        "[[layer]]\nsets = \"density\"\nshape = \"box\"\nmin = [0.0, 70.0]\nmax = [50.0, 140.0]\nvalue = 1.5\n";
    const SOLVER: &[&str] = &[FDTD[0], FDTD[3]];
    let solver = SOLVER;
    check(
        &Case {
            solver,
            name: "density",
            ..ROOM
        },
        &format!("{SOUND_STEP}{density}"),
    );
}

/// Layers on the axis that is cut: in the outer parts, and across cuts.
#[test]
fn sound_that_leaves() {
    let open = |edges, name| Case { name, edges, ..ROOM };
    check(&open(&["absorb", "absorb"], "open"), &format!("{SOUND_STEP}{ENERGY}"));
    check(
        &open(&["absorb", "absorb"], "open"),
        &format!("{SOUND_STEP}{ENERGY_OF_ALL}"),
    );
    let post = "[[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = [24.0, 46.0]\nradius = 5.0\n";
    let medium = "[[layer]]\nsets = \"speed\"\nshape = \"box\"\nmin = [0.0, 70.0]\nmax = [50.0, 140.0]\nvalue = \"0.7 + 0.001*x + 0.0005*y\"\n";
    let guide = open(&["wall", "absorb"], "guide with obstacles");
    check(&guide, &format!("{SOUND_STEP}{post}{medium}"));
    // The rows where a ring closes are damped as those inside are.
    let ring = open(&["absorb", "periodic"], "guide with obstacles around a ring");
    let across = "[[layer]]\nsets = \"absorption\"\nshape = \"everywhere\"\nvalue = \"0.01*(x > 10)*(x < 30)*(abs(y - 65) > 61)\"\n";
    check(&ring, &format!("{SOUND_STEP}{post}{medium}{across}"));
    let sides = open(&["absorb", "wall"], "absorbing sides of a medium");
    check(&sides, &format!("{SOUND_STEP}{medium}{post}"));
    const SOLVER: &[&str] = &[FDTD[0], FDTD[3]];
    let density =
        "[[layer]]\nsets = \"density\"\nshape = \"box\"\nmin = [0.0, 70.0]\nmax = [50.0, 140.0]\nvalue = 1.5\n";
    let solver = SOLVER;
    let heavy = Case {
        solver,
        ..open(&["absorb", "absorb"], "absorbing edges of a density")
    };
    check(&heavy, &format!("{SOUND_STEP}{density}{medium}"));
    // 50 of 130 rows at either end: both cuts of three parts lie within the layers, for which 48 columns have no room.
    let wide = |parts| {
        let scene = text(&heavy, FDTD[0], &format!("{SOUND_STEP}{density}"), parts);
        scene
            .replace("absorb_width = 6", "absorb_width = 50")
            .replace("\"absorb\", \"absorb\"", "\"wall\", \"absorb\"")
    };
    let (one, cut) = (follow(&wide(1), &heavy), follow(&wide(3), &heavy));
    assert!(one == cut, "layers that are cut");
}

pub(super) const OSCILLATORS: &[&str] = &[
    "method = \"oscillators\"\nvariant = \"naive\"\nprecision = \"double\"",
    "method = \"oscillators\"\nvariant = \"blocked\"\nprecision = \"single\"\nfused_steps = 5",
    "method = \"oscillators\"\nvariant = \"blocked\"\nprecision = \"double\"\norder = 4\nfused_steps = 2",
    "method = \"oscillators\"\nvariant = \"naive\"\nprecision = \"single\"\norder = 4",
];

const FLUX: &str = "[[detector]]\nname = \"flux\"\nmeasure = \"flux\"\nfrom = [20.0, 5.0]\nto = [20.0, 120.0]\n\
                    [[detector]]\nname = \"upwards\"\nmeasure = \"flux\"\nfrom = [3.0, 43.0]\nto = [40.0, 43.0]\nevery = 2\n";

#[test]
fn oscillators_in_a_room() {
    let room = |edges, name| Case {
        solver: OSCILLATORS,
        edges,
        name,
        ..ROOM
    };
    check(
        &room(&["wall", "soft"], "oscillators"),
        &format!("{SOUND_STEP}{ENERGY}{FLUX}"),
    );
    check(
        &room(&["periodic", "periodic"], "oscillators on a torus"),
        &format!("{SOUND_STEP}{ENERGY}"),
    );
    let layers = "[[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = [24.0, 46.0]\nradius = 5.0\n\
                  [[layer]]\nsets = \"density\"\nshape = \"disk\"\ncenter = [30.0, 95.0]\nradius = 8.0\nvalue = 2.0\n\
                  [[layer]]\nsets = \"speed\"\nshape = \"box\"\nmin = [0.0, 70.0]\nmax = [50.0, 140.0]\nvalue = \"0.7 + 0.001*x\"\n";
    check(
        &room(&["wall", "absorb"], "oscillators in a medium"),
        &format!("{SOUND_STEP}{layers}"),
    );
}

#[test]
fn sound_in_space() {
    let scene = "[acoustic]\nspeed = 1.0\ndensity = 1.0\n[[pulse]]\ncenter = [8.0, 8.0, 30.0]\nwidth = 3.0\n\
                 [[detector]]\nname = \"between\"\nat = [8.3, 7.2, 46.4]\n\
                 [[detector]]\nname = \"energy\"\nmeasure = \"energy\"\nregion = { min = [2.0, 3.0, 10.0], max = [12.0, 9.0, 50.0] }\n";
    const SOLVER: &[&str] = &[
        FDTD[0],
        "method = \"fdtd\"\nvariant = \"diamond-torre\"\nprecision = \"single\"\ndts = 2\ntower = 8",
        "method = \"fdtd\"\nvariant = \"diamond-torre\"\nprecision = \"double\"\norder = 4\ndts = 2\ntower = 4",
    ];
    let solver = SOLVER;
    let case = Case {
        size: &[20, 18, 94],
        edges: &["wall", "absorb", "absorb"],
        scene,
        solver,
        name: "sound in space",
        ..ROOM
    };
    check(&case, SOUND_STEP);
}

/// A disk and a dipole that move past walls, through other densities, and over edges and cuts.
#[test]
fn sources_that_move_among_walls() {
    let scene = "[acoustic]\nspeed = 1.0\ndensity = 1.0\n\
                 [[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = [3.0, 6.0, 13.0]\nradius = 2.5\n\
                 [[layer]]\nsets = \"density\"\nshape = \"disk\"\ncenter = [4.0, 5.0, 8.0]\nradius = 4.0\nvalue = \"2 + 0.1*x\"\n\
                 [[source]]\ncenter = [4.0, 3.0, 10.0]\nradius = 1.2\nnormal = \"y\"\nsignal = \"sine\"\nfrequency = 0.1\nvelocity = [-0.9, 1.3, 3.7]\n\
                 [[source]]\nat = [6.0, 3.0, 2.0]\npattern = \"dipole\"\ndirection = [0.0, 0.0, 1.0]\nsignal = \"sine\"\nfrequency = 0.1\nvelocity = [-0.3, 0.7, -1.2]\n";
    const EDGES: [&[&str]; 2] = [&["soft", "wall", "soft"], &["periodic", "soft", "periodic"]];
    for edges in EDGES {
        let case = Case {
            size: &[9, 10, 27],
            edges,
            scene,
            name: "moving disk",
            ..ROOM
        };
        let field = |parts: usize| {
            let (mut run, mut taps, _) = build(&text(&case, FDTD[0], SOUND_STEP, parts));
            run.advance(12, &mut taps).unwrap();
            run.field().unwrap()
        };
        let one = field(1);
        assert!(one.bytes().iter().any(|byte| *byte != 0));
        for parts in [2, 3] {
            assert!(field(parts).bytes() == one.bytes(), "{edges:?} in {parts} parts");
        }
    }
}
