//! Time turned round: single sites of every method, and what mirrors make of them.

#![allow(clippy::unwrap_used, clippy::cast_precision_loss, reason = "tests on small grids")]

mod chain;
mod echo;
mod room;
mod sites;
mod sound;
mod timeline;

use ripplon::engine::Engine;
use ripplon::field::Precision;
use ripplon::physics::{Equation, Refocus};
use ripplon::scene::Scenario;
use ripplon::solver::{self, Backend, METHODS, Method};
use std::sync::Arc;

fn read(text: &str) -> Scenario {
    match solver::read_scene_text(text, None, &[]) {
        Ok((_, scenario)) => scenario,
        Err(faults) => panic!("{}", faults.render(false)),
    }
}

/// Methods whose sites are reached on a back end that is there, with every variant and precision.
fn reached(backend: Backend) -> Vec<(&'static Method, &'static str, Precision)> {
    let mut all = Vec::new();
    for method in METHODS.iter().filter(|method| method.transducers.contains(&backend)) {
        for target in method.present_targets().filter(|target| target.backend == backend) {
            for variant in target.variants {
                all.extend(
                    target
                        .precisions
                        .iter()
                        .map(|&precision| (*method, variant.id, precision)),
                );
            }
        }
    }
    all
}

fn epsilon(precision: Precision) -> f64 {
    match precision {
        Precision::Single => f64::from(f32::EPSILON),
        Precision::Double => f64::EPSILON,
    }
}

/// A plane with an uneven medium, or a few of them where a variant steps nothing else.
fn plane(method: &Method, variant: &str, precision: Precision) -> String {
    let (equation, layer, start) = match method.equation {
        Equation::Schrodinger => (
            "[quantum]\nhopping = 1.0\n",
            "sets = \"potential\"\nvalue = \"0.3*sin(x + 2*y)\"",
            "[[packet]]\ncenter = [9.0, 8.0]\nwidth = [2.0, 2.0]\nmomentum = [0.5, 0.3]\n",
        ),
        Equation::Acoustic => (
            "[acoustic]\nspeed = 1.0\n",
            "sets = \"speed\"\nvalue = \"1 + 0.2*sin(x + 2*y)\"",
            "[[pulse]]\ncenter = [9.0, 8.0]\nwidth = 2.0\n",
        ),
    };
    let text = format!(
        "format = 1\n[grid]\nsize = [23, 17]\nspacing = 1.0\n{equation}[time]\nstep = 0.2\nend = 10.0\n[solver]\nmethod = \"{}\"\nvariant = \
         \"{variant}\"\nbackend = \"cpu\"\nprecision = \"{}\"\n{start}[[layer]]\n{layer}\n[[detector]]\nname = \"one\"\nat = [9.0, 8.0]\n",
        method.id,
        precision.as_str()
    );
    if variant == "diamond-torre" {
        text.replace("[23, 17]", "[23, 17, 5]")
            .replace("[9.0, 8.0]", "[9.0, 8.0, 2.0]")
    } else {
        text
    }
}

fn engine(text: &str) -> Engine {
    Engine::new(Arc::new(read(text))).unwrap()
}

/// Runs to the end of the way back, which takes as many steps as the way there.
fn there_and_back(engine: &mut Engine) -> Refocus {
    let turn = engine.mirror().unwrap().turn;
    engine.advance(2 * turn - engine.clock().steps).unwrap();
    engine.refocus().unwrap().unwrap()
}

/// A packet in a long chain with a wall at its left end: what check scripts of the literature's inverse filter use (hopping 1, Δt 0.2).
fn chain(center: f64, width: f64, momentum: f64, bumps: &[(f64, f64)], at: f64, mirror: &str) -> String {
    let layers: Vec<String> = bumps
        .iter()
        .map(|(x, height)| {
            format!(
                "[[layer]]\nsets = \"potential\"\nshape = \"box\"\nmin = [{x:?}]\nmax = [{x:?}]\nvalue = {height:?}\n"
            )
        })
        .collect();
    let layers = layers.concat();
    format!(
        "format = 1\n[grid]\nsize = [4000]\nspacing = 1.0\n[quantum]\nhopping = 1.0\n[time]\nstep = 0.2\nend = {:?}\n[solver]\nmethod = \"trotter\"\n\
         backend = \"cpu\"\nvariant = \"vector\"\nprecision = \"double\"\n[[packet]]\ncenter = [{center:?}]\nwidth = [{width:?}]\nmomentum = \
         [{momentum:?}]\n{layers}[mirror]\nat = {at:?}\n{mirror}\n",
        2.0 * at
    )
}

fn points(sites: &[f64]) -> String {
    let list: Vec<String> = sites.iter().map(|x| format!("[{x:?}]")).collect();
    format!("transducers = {{ shape = \"points\", points = [{}] }}", list.join(", "))
}

/// Within a tenth of what an independent program in double precision gives.
fn close(found: f64, expected: f64, what: &str) {
    assert!(
        (found / expected - 1.0).abs() < 0.1,
        "{what}: {found:e}, not {expected:e}"
    );
}

/// A pulse exp(−((x − 55)/σ)²) in a chain of oscillators that a wall holds at the left, recorded at site 120 (Δt 0.5).
fn oscillators(sigma: f64, method: &str) -> String {
    format!(
        "format = 1\n[grid]\nsize = [4000]\nspacing = 1.0\nedges = \"soft\"\n[acoustic]\nspeed = 1.0\n[time]\nstep = 0.5\nend = 1500.0\n[solver]\n\
         method = \"fdtd\"\nprecision = \"double\"\n[[pulse]]\ncenter = [55.0]\nwidth = {:?}\n[mirror]\nmethod = \"{method}\"\nat = 750.0\n{}\n",
        sigma / 2.0f64.sqrt(),
        points(&[120.0])
    )
}
