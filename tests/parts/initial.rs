//! Arrays and eigenstates at t = 0 of a grid in parts: each part begins with its own rows of them, also across the seam of a ring.

#[path = "../common/npy.rs"]
mod npy;

use super::sound::OSCILLATORS;
use super::{FDTD, TROTTER, build};
use ripplon::field::FieldData;

/// A grid with its edges.
type Space = (&'static [usize], &'static [&'static str]);

const PLANES: [Space; 3] = [
    (&[12, 90], &["wall", "wall"]),
    (&[12, 90], &["wall", "periodic"]),
    (&[12, 90], &["periodic", "periodic"]),
];
const SPACES: [Space; 3] = [
    (&[6, 5, 60], &["wall", "wall", "wall"]),
    (&[6, 5, 60], &["wall", "wall", "periodic"]),
    (&[6, 6, 60], &["periodic", "periodic", "periodic"]),
];
/// Low levels far apart.
const QUANTUM: &str =
    "[quantum]\nhopping = 1.0\n[[layer]]\nsets = \"potential\"\nvalue = \"0.004*r^2 + 0.1*sin(0.7*x)\"\n";
const SOUND: &str = "[acoustic]\nspeed = 1.0\ndensity = 1.0\n";
const EIGENSTATES: &str = "[[eigenstate]]\nlevel = 0\n[[eigenstate]]\nlevel = 2\nweight = 0.7\nphase = 0.4\n";

fn text(space: Space, physics: &str, state: &str, solver: &str, parts: usize) -> String {
    let (size, edges) = space;
    format!(
        "format = 1\n[grid]\nsize = {size:?}\nspacing = 1.0\nedges = {edges:?}\n[time]\nstep = 0.1\n{physics}{state}[solver]\nbackend = \"cpu\"\n{solver}\nparts = {parts}\n"
    )
}

/// `[initial]` with an array of numbers without a pattern, which lies in `folder`.
fn array(folder: &tempfile::TempDir, space: Space, complex: bool) -> String {
    let shape: Vec<String> = space.0.iter().rev().map(ToString::to_string).collect();
    let numbers = space.0.iter().product::<usize>() * if complex { 2 } else { 1 };
    let number = |n: u32| f64::from(n.wrapping_mul(2654435761) >> 8) / f64::from(1u32 << 24) - 0.4;
    let data: Vec<u8> = (0..u32::try_from(numbers).unwrap())
        .flat_map(|n| number(n).to_le_bytes())
        .collect();
    let path = folder.path().join(if complex { "psi.npy" } else { "p.npy" });
    let descr = if complex { "<c16" } else { "<f8" };
    std::fs::write(
        &path,
        npy::npy(descr, false, &format!("({},)", shape.join(", ")), &data),
    )
    .unwrap();
    format!("[initial]\nfile = {:?}\n", path.to_str().unwrap())
}

/// The field at t = 0 and after some steps.
fn follow(text: &str) -> [FieldData; 2] {
    let (mut run, mut taps, _) = build(text);
    let first = run.field().unwrap();
    run.advance(7, &mut taps).unwrap();
    [first, run.field().unwrap()]
}

fn compare(space: Space, physics: &str, state: &str, solver: &str) {
    let of = |parts| follow(&text(space, physics, state, solver, parts));
    let one = of(1);
    for parts in [2, 3] {
        for (whole, cut) in one.iter().zip(&of(parts)) {
            let differ = (0..whole.len()).filter(|n| whole.at(*n) != cut.at(*n)).count();
            assert!(
                whole.len() == cut.len() && differ == 0,
                "{space:?} in {parts} parts: {differ} of {} sites differ ({}, {state})",
                whole.len(),
                solver.replace('\n', ", ")
            );
        }
    }
}

#[test]
fn arrays_of_psi() {
    let folder = tempfile::tempdir().unwrap();
    for space in PLANES.into_iter().chain(SPACES) {
        let state = array(&folder, space, true);
        for solver in TROTTER {
            compare(space, QUANTUM, &state, solver);
        }
    }
}

#[test]
fn arrays_of_sound() {
    let folder = tempfile::tempdir().unwrap();
    for space in PLANES {
        let state = array(&folder, space, false);
        for solver in FDTD.iter().chain(OSCILLATORS) {
            compare(space, SOUND, &state, solver);
        }
    }
    for space in SPACES {
        let state = array(&folder, space, false);
        for solver in &FDTD[..2] {
            compare(space, SOUND, &state, solver);
        }
    }
}

#[test]
fn eigenstates() {
    for space in PLANES.into_iter().chain(SPACES) {
        for solver in [TROTTER[1], TROTTER[2]] {
            compare(space, QUANTUM, EIGENSTATES, solver);
        }
    }
}

/// Parts of Crank–Nicolson's steps have the same numbers up to the rounding of another elimination: as in `implicit`, 20 ε/2 a step at random, eight times over, in comparison with all of ψ.
#[test]
fn states_of_implicit_steps() {
    let folder = tempfile::tempdir().unwrap();
    for edges in [&["wall", "wall"], &["wall", "periodic"]] {
        let space: Space = (&[8, 260], edges);
        for state in [array(&folder, space, true), EIGENSTATES.to_owned()] {
            let solver = "method = \"crank-nicolson\"\nprecision = \"double\"";
            let of = |parts| follow(&text(space, QUANTUM, &state, solver, parts));
            let one = of(1);
            for parts in [2, 3] {
                for (whole, cut) in one.iter().zip(&of(parts)) {
                    let far = (0..whole.len()).map(|n| (whole.at(n) - cut.at(n)).norm());
                    let far = far.fold(0.0, f64::max);
                    let size = (0..whole.len()).map(|n| whole.at(n).norm_sqr()).sum::<f64>().sqrt();
                    let tolerance = 8.0 * 20.0 * f64::EPSILON / 2.0 * 7f64.sqrt();
                    assert!(
                        far <= tolerance * size,
                        "{edges:?} in {parts} parts: off by {far:e} ({state})"
                    );
                }
            }
        }
    }
}
