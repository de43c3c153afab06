//! The level before the first where walls take energy.
//!
//! Nothing flows at t = 0 but what the pressure drives through the walls at once, v·n = p/Z: ∂p/∂t(0) = −2γp there ([`crate::solver::acoustic::impedance`]). With ∂p/∂t(0) = 0 instead, p_t + 2γ(p − p(0)) =
//! c²LΦ: walls would blow −p(0)/Z for ever, and a room would keep the mean of p(0) over its walls.
//!
//! Step by step: (p¹ − p⁰)/Δt + γ(p¹ + p⁰) + Δγ(q¹ + q⁰) = ½Δt c²Lp⁰, where the memory q of a wall is 0 at first. In the step's own equation, whose γ has βΔγ in it, that is (1 − γΔt)p⁻¹ = (1 + γΔt)p⁰ + ½Δt²c²Lp⁰;
//! layers' own damping of such a site keeps ∂p/∂t(0) = 0.

use super::lattice::Lattice;
use super::material::Material;
use crate::field::Real;
use crate::physics::Sets;
use crate::scene::Scenario;
use crate::solver::acoustic::impedance::Damping;
use crate::solver::acoustic::medium::constants;

/// What |1 − γΔt| is taken for where it is less: p⁻¹ does not count there.
const LEAST: f64 = 1.0 / 1024.0;

/// Corrects the level `old` before `now`, made for ∂p/∂t = 0, at the sites before walls that take energy; `walls` has one value a site.
pub(super) fn flow_into_walls<T: Real>(
    (scenario, walls, time_step): (&Scenario, &[bool], f64),
    lattice: &Lattice,
    material: &Material<T>,
    now: &[T],
    old: &mut [T],
) {
    let speed = constants(scenario).map_or(0.0, |acoustic| acoustic.speed);
    let Some(damping) =
        Damping::of(scenario, walls, (speed, time_step)).filter(|_| scenario.medium().has(Sets::Impedance))
    else {
        return;
    };
    let [nx, ny, _] = lattice.size;
    // γΔt of a site's faces.
    let mut faces = vec![0.0; nx];
    for row in 0..lattice.rows() {
        let Some(rates) = material.damping(lattice, row) else {
            continue;
        };
        faces.fill(0.0);
        damping.for_each_face([row % ny, row / ny], |x, face| faces[x] += time_step * face.rate);
        let sites = lattice.sites(row);
        let levels = now[sites.clone()].iter().zip(&mut old[sites]);
        for ((now, old), (all, own)) in levels.zip(rates.iter().zip(&faces)) {
            if *own == 0.0 {
                continue;
            }
            let layers = all.wide() - own;
            let kept = 1.0 - all.wide();
            let kept = if kept.abs() < LEAST { LEAST.copysign(kept) } else { kept };
            let (pressure, change) = (now.wide(), old.wide() - now.wide());
            *old = T::of((pressure * (1.0 + own - layers) + change * (1.0 - layers)) / kept);
        }
    }
}
