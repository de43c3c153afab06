//! What an edit of the medium does to the motion of sound.
//!
//! Equation: ∂p/∂t = K∇·(ρ⁻¹∇Φ), Φ = ∫p dt. An edit leaves p and Φ as they are, and ∂p/∂t follows from the new K = ρc², the new ρ, and walls, which let nothing through. Were ∂p/∂t kept, the flow through a
//! face that is closed would never end: nothing else changes the sum of (∂p/∂t)/K over a closed room, and its pressure would grow for ever.
//! Scheme: methods keep ∂p/∂t and seldom Φ. Where faces change, Φ is what gives ∂p/∂t in the old medium ([`super::network`]), with faces of order 2 at every order of the method, so that a closed room is
//! left with the sum 0. Beside the flow absorption and walls with an impedance take 2γp away, and a monopole holds up the rate ∫S dt at its sites, until it is taken away or plays something else; scenes with a mirror are exempt, whose sources fall silent on the way back
//! and take nothing away.
//! Limits: what has left through absorbing layers is known only where Φ is kept; otherwise Φ is 0 beyond them, as beyond a soft edge, and within them rates change as c² and flow into walls goes on. What was
//! a wall holds p = 0 and no flow. Another impedance, or absorption, leaves ∂p/∂t as it is. With more than [`MOST_SITES`] sites ∂p/∂t stays, and so it does in snapshots of scenes with a mirror.

use super::emit::Emitters;
use super::impedance::Damping;
use super::medium::{constants, read_walls};
use super::network::{Levels, Network, norm};
use super::outward::Domain;
use crate::grid::Edge;
use crate::physics::{Acoustic, Sets};
use crate::scene::Scenario;
use crate::solver::Motion;
use rayon::prelude::*;

/// Sites of the largest grid whose motion is changed: Φ of a million sites takes two cores a second or more, and a run waits for it at every edit.
const MOST_SITES: usize = 1 << 20;
/// What each site lets out to Φ = 0, in parts of what a face of the background lets through: without it Φ would have no level.
const LEVEL: f64 = 1e-12;
/// Part of a face that is rounding.
const ROUNDING: f64 = 1e-12;
/// Part of the flow that may be left out.
const TOLERANCE: f64 = 1e-7;

/// The medium as the sites and faces of a lattice.
struct Lattice {
    /// K of each site, Pa; 0 in walls.
    stiffness: Vec<f64>,
    /// ρ of each site, kg/m³; infinite in walls.
    density: Vec<f64>,
    /// 1/ρ of the face from each site to the next along an axis, from the last one to the first on a ring; 0 where nothing passes. Of an axis of one site none.
    faces: [Vec<f64>; 3],
    /// 1/ρ of each site, once for every edge behind which Φ = 0.
    ends: Vec<f64>,
}

impl Lattice {
    fn of(scenario: &Scenario, acoustic: &Acoustic) -> Self {
        let (grid, medium) = (scenario.grid(), scenario.medium());
        let [nx, ny, _] = grid.size();
        let (walls, domain) = (read_walls(scenario), Domain::new(grid));
        let (mut stiffness, mut density) = (vec![0.0; grid.sites()], vec![0.0; grid.sites()]);
        let rows = stiffness.par_chunks_mut(nx).zip(density.par_chunks_mut(nx));
        rows.enumerate().for_each(|(row, (stiffness, density))| {
            let [j, k] = domain.row(row % ny, row / ny);
            medium.speed_row(acoustic.speed, j, k, 0..nx, stiffness);
            medium.density_row(acoustic.density, j, k, 0..nx, density);
            domain.fill_ends(stiffness);
            domain.fill_ends(density);
            for (i, (stiffness, density)) in stiffness.iter_mut().zip(density).enumerate() {
                let wall = walls.get(row * nx + i).copied().unwrap_or(false);
                *stiffness = if wall { 0.0 } else { *density * stiffness.powi(2) };
                *density = if wall { f64::INFINITY } else { *density };
            }
        });
        let mut ends = vec![0.0; density.len()];
        let faces = [0, 1, 2].map(|axis| {
            let (sites, step) = (grid.size()[axis], [1, nx, nx * ny][axis]);
            if sites < 2 {
                return Vec::new();
            }
            let edge = grid.edges()[axis];
            if matches!(edge, Edge::Soft | Edge::Absorb) {
                ends.par_iter_mut().enumerate().for_each(|(site, end)| {
                    if [0, sites - 1].contains(&(site / step % sites)) {
                        *end += 1.0 / density[site];
                    }
                });
            }
            let mut faces = vec![0.0; density.len()];
            faces.par_iter_mut().enumerate().for_each(|(site, face)| {
                let next = if site / step % sites + 1 < sites {
                    site + step
                } else if edge == Edge::Periodic {
                    site + step - sites * step
                } else {
                    return;
                };
                *face = 2.0 / (density[site] + density[next]);
            });
            faces
        });
        Self {
            stiffness,
            density,
            faces,
            ends,
        }
    }
}

/// When a motion is known, and to which steps it belongs.
#[derive(Clone, Copy)]
pub(in crate::solver) struct Moment {
    /// The time of ∂p/∂t and Φ, s.
    pub time: f64,
    /// Δt.
    pub step: f64,
    /// Half the method's order in space.
    pub half: usize,
}

/// Whether edits of a scene's medium change ∂p/∂t.
pub(in crate::solver) fn changes_rates(scenario: &Scenario) -> bool {
    scenario.grid().whole().sites() <= MOST_SITES
}

/// What an edit from one scene to another on the same grid adds to ∂p/∂t, Pa/s, x fastest; `motion` is asked only where it changes, for the motion and the pressure of its moment. `None` where it stays.
///
/// # Errors
/// Those of `motion`.
pub(in crate::solver) fn added<E>(
    before: &Scenario,
    after: &Scenario,
    moment: &Moment,
    motion: impl FnOnce() -> Result<(Motion, Vec<f64>), E>,
) -> Result<Option<Vec<f64>>, E> {
    let (Some(old), Some(new)) = (constants(before), constants(after)) else {
        return Ok(None);
    };
    let grid = before.grid();
    let same_medium = before.medium() == after.medium() && before.model() == after.model();
    let same_sources = before.sources() == after.sources() || before.mirror().is_some();
    if same_medium && same_sources || !changes_rates(before) {
        return Ok(None);
    }
    if same_medium {
        let mut change = vec![0.0; grid.sites()];
        add_held_up(before, moment, -1.0, &mut change);
        add_held_up(after, moment, 1.0, &mut change);
        return Ok(Some(change));
    }
    let (was, is) = (Lattice::of(before, &old), Lattice::of(after, &new));
    let differ = was.stiffness != is.stiffness || was.faces != is.faces || was.ends != is.ends;
    if !differ && same_sources {
        return Ok(None);
    }
    let (Motion { rate, mut potential }, pressure) = motion()?;
    // Faces are counted per a²: what gives the inflow is Φ/a².
    let square = grid.spacing().powi(2);
    if let Some(potential) = &mut potential {
        potential.par_iter_mut().for_each(|phi| *phi /= square);
    }
    let inside = inside(before);
    let quotient = |(rate, stiffness): (&f64, &f64)| if *stiffness > 0.0 { rate / stiffness } else { 0.0 };
    let mut flowing = rate.clone();
    add_leaks(before, moment, (-1.0, &pressure), &mut flowing);
    add_held_up(before, moment, -1.0, &mut flowing);
    let inflow: Vec<f64> = flowing.par_iter().zip(&was.stiffness).map(quotient).collect();
    let inflow = through_new_faces((inflow, potential), (before, &old), was, &is, &inside);
    let sites = flowing.par_iter_mut().zip(inflow).zip(&is.stiffness);
    sites.for_each(|((flowing, inflow), stiffness)| *flowing = stiffness * inflow);
    add_leaks(before, moment, (1.0, &pressure), &mut flowing);
    add_held_up(after, moment, 1.0, &mut flowing);
    let sites = flowing.par_iter_mut().zip(rate).zip(is.stiffness);
    sites.for_each(|((flowing, rate), stiffness)| {
        *flowing = if stiffness > 0.0 { *flowing - rate } else { 0.0 };
    });
    Ok(Some(flowing))
}

/// ∇·(ρ⁻¹∇Φ) in the new medium from that in the old one, `inflow`, and Φ where it is kept.
fn through_new_faces(
    (mut inflow, potential): (Vec<f64>, Option<Vec<f64>>),
    (before, acoustic): (&Scenario, &Acoustic),
    was: Lattice,
    is: &Lattice,
    inside: &[bool],
) -> Vec<f64> {
    let size = before.grid().size();
    // What all faces have in common needs no Φ.
    let pairs = was.faces.iter().flatten().zip(is.faces.iter().flatten());
    let ratio = pairs
        .filter(|(was, is)| **was > 0.0 && **is > 0.0)
        .map(|(was, is)| is / was)
        .next()
        .unwrap_or(1.0);
    let rest = |was: &[f64], is: &[f64]| -> Vec<f64> {
        let both = was.par_iter().zip(is);
        both.map(|(was, is)| {
            let rest = is - ratio * was;
            let counts = *was > 0.0 && rest.abs() > ROUNDING * ratio * was;
            if counts { rest } else { 0.0 }
        })
        .collect()
    };
    let faces = [0, 1, 2].map(|axis| rest(&was.faces[axis], &is.faces[axis]));
    let ends = rest(&was.ends, &is.ends);
    let changes = faces.iter().chain([&ends]).flatten().any(|rest| *rest != 0.0);
    if !changes {
        inflow.par_iter_mut().for_each(|inflow| *inflow *= ratio);
        return inflow;
    }
    // In absorbing layers a Φ that is found is not theirs: there all faces of a site are as ρ.
    let kept = potential.is_some();
    let outside = |site: usize, inflow: f64| {
        let ratio = was.density[site] / is.density[site];
        let own = !kept && !inside[site] && ratio.is_finite();
        own.then_some(inflow * ratio)
    };
    let sites = inflow.par_iter().enumerate();
    let outside: Vec<Option<f64>> = sites.map(|(site, inflow)| outside(site, *inflow)).collect();
    let phi = potential_of(&inflow, potential, (before, acoustic), was, inside);
    inflow.par_iter_mut().for_each(|inflow| *inflow *= ratio);
    let mut new = vec![0.0; inflow.len()];
    Network::new(size, faces, ends).left(&inflow, &phi, &mut new);
    let sites = new.par_iter_mut().zip(outside);
    sites.for_each(|(new, outside)| *new = outside.unwrap_or(*new));
    new
}

/// Φ/a² of an inflow; `kept` is a first guess, and in absorbing layers the answer.
fn potential_of(
    inflow: &[f64],
    kept: Option<Vec<f64>>,
    (scenario, acoustic): (&Scenario, &Acoustic),
    lattice: Lattice,
    inside: &[bool],
) -> Vec<f64> {
    let face = 1.0 / acoustic.density;
    let mut ground = lattice.ends;
    let sites = ground.par_iter_mut().zip(&lattice.stiffness);
    sites.for_each(|(ground, stiffness)| {
        if *stiffness > 0.0 {
            *ground += LEVEL * face;
        }
    });
    let network = Network::new(scenario.grid().size(), lattice.faces, ground);
    let only_inside = |b: &mut [f64]| {
        let sites = b.par_iter_mut().zip(inside);
        sites.filter(|(_, inside)| !**inside).for_each(|(b, _)| *b = 0.0);
    };
    let mut b: Vec<f64> = inflow.par_iter().map(|inflow| -inflow).collect();
    only_inside(&mut b);
    let least = TOLERANCE * norm(&b);
    let Some(mut kept) = kept else {
        return Levels::new(network).solve(&b, least);
    };
    let mut left = vec![0.0; b.len()];
    network.left(&b, &kept, &mut left);
    only_inside(&mut left);
    let lacks = Levels::new(network).solve(&left, least);
    kept.par_iter_mut().zip(lacks).for_each(|(kept, lacks)| *kept += lacks);
    kept
}

/// Whether each site lies inside all absorbing layers.
fn inside(scenario: &Scenario) -> Vec<bool> {
    let [nx, ny, _] = scenario.grid().size();
    let [from, to] = Domain::new(scenario.grid()).bounds();
    let is_inside = |site: usize| {
        let at = [site % nx, site / nx % ny, site / (nx * ny)];
        (0..3).all(|axis| (from[axis]..to[axis]).contains(&at[axis]))
    };
    (0..scenario.grid().sites()).into_par_iter().map(is_inside).collect()
}

/// Adds to ∂p/∂t, `sign` times, what sources hold up.
fn add_held_up(scenario: &Scenario, moment: &Moment, sign: f64, rate: &mut [f64]) {
    let [nx, ny, _] = scenario.grid().size();
    if scenario.mirror().is_none() && !scenario.sources().is_empty() {
        let emitters = Emitters::of(scenario, &read_walls(scenario), moment.half);
        emitters.hold_up(moment.time, moment.step.abs(), |[i, j, k], held| {
            rate[i + nx * (j + ny * k)] += sign * held;
        });
    }
}

/// Adds to ∂p/∂t, `sign` times, what layers of absorption and walls with an impedance take from a pressure.
fn add_leaks(scenario: &Scenario, moment: &Moment, (sign, pressure): (f64, &[f64]), rate: &mut [f64]) {
    let (medium, grid, walls) = (scenario.medium(), scenario.grid(), read_walls(scenario));
    let ([nx, ny, _], domain) = (grid.size(), Domain::new(grid));
    let speed = constants(scenario).map_or(0.0, |acoustic| acoustic.speed);
    let damping = Damping::of(scenario, &walls, (speed, moment.step));
    let damping = damping.filter(|_| medium.has(Sets::Impedance));
    if damping.is_none() && !medium.has(Sets::Absorption) {
        return;
    }
    let mut taken = vec![0.0; nx];
    for (row, rates) in rate.chunks_exact_mut(nx).enumerate() {
        let [j, k] = domain.row(row % ny, row / ny);
        medium.damping_row(j, k, 0..nx, &mut taken);
        domain.fill_ends(&mut taken);
        if let Some(damping) = &damping {
            damping.for_each_face([row % ny, row / ny], |x, face| taken[x] += face.rate);
        }
        let sites = rates.iter_mut().zip(&taken).zip(&pressure[row * nx..]);
        sites.for_each(|((rate, taken), pressure)| *rate -= sign * 2.0 * taken * pressure);
    }
}
