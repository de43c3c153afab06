//! Damping with memory variables: walls whose impedance depends on the frequency, and media that attenuate by a power law.
//!
//! p_tt = c²Lp − 2D(∂t)p_t with D(s) = γ∞ + Δγ/(1 + sτ): p_tt = c²Lp − 2γ∞p_t − 2Δγ q_t, τ q_t + q = p.
//! A face of a wall with the admittance Y = Y∞ + (Y₀ − Y∞)/(1 + sτ), Y = ρc/Z, has γ∞ = cY∞/2a and Δγ = c(Y₀ − Y∞)/2a ([`super::impedance`]). A relaxation m of the compressibility,
//! p_tt + m q_tt = c²Lp with q_tt = (p_t − q_t)/τ, has γ∞ = m/2τ and Δγ = −m/2τ ([`crate::physics::attenuation`]).
//!
//! Scheme: τ(qⁿ⁺¹ − qⁿ)/Δt + (qⁿ⁺¹ + qⁿ)/2 = (pⁿ⁺¹ + pⁿ)/2, so with dⁿ = qⁿ − qⁿ⁻¹, α = (2τ − Δt)/(2τ + Δt), β = Δt/(2τ + Δt): qⁿ⁺¹ = αqⁿ + β(pⁿ⁺¹ + pⁿ). p_t and q_t are centred,
//! (pⁿ⁺¹ − pⁿ⁻¹)/2Δt. qⁿ⁺¹ contains pⁿ⁺¹, for which each site is solved: the damping becomes γ = γ∞ + βΔγ, and −ΔγΔt(1 + α)dⁿ/(1 + γΔt) is added to pⁿ⁺¹, which is known before the step. The kernels are those of scenes
//! without memory.
//! Stability: that of rigid walls and lossless media. With δp = (pⁿ⁺¹ − pⁿ⁻¹)/2Δt and u = dⁿ⁺¹/Δt, the difference of two equations of q gives δp = δq + τ(u₊ − u₋)/Δt. The energy of the rigid scheme ([`super::impedance`]) changes by
//! −2Δt/c² times γ∞δp² + Δγ δq δp. Δγ > 0: δq δp = δq² + τ(u₊² − u₋²)/2Δt. Δγ < 0: with w = p − q and γ₀ = γ∞ + Δγ, γ∞δp² + Δγ δq δp = γ₀δp² + |Δγ|(δw² + τ(u₊² − u₋²)/2Δt).
//! In both cases the energy that is not lost is stored as |Δγ|τu²/2 ≥ 0, so that energy and store together never grow, for every Y₀, Y∞ ≥ 0, m ≥ 0 and τ > 0.
//! Limits: memories do not run backwards: with Δt < 0 they would grow as e^(t/τ).
//!
//! References: Carcione, Kosloff & Kosloff 1988, doi:10.1111/j.1365-246X.1988.tb06698.x (memory variables); Kowalczyk & van Walstijn 2008, Acta Acustica 94, 891 (impedances of first order in FDTD).

use super::impedance::Damping;
use super::medium::constants;
use super::outward::Domain;
use crate::physics::{Model, Sets};
use crate::scene::Scenario;

/// Whether a scene has any relaxation.
pub fn relaxes(scenario: &Scenario) -> bool {
    scenario.medium().has_poles() || attenuates(scenario)
}

/// Whether its medium attenuates by a power law.
pub fn attenuates(scenario: &Scenario) -> bool {
    matches!(scenario.model(), Model::Acoustic(acoustic) if acoustic.attenuation.is_some())
}

/// α and β of a memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pole {
    /// (2τ − Δt)/(2τ + Δt).
    pub alpha: f64,
    /// Δt/(2τ + Δt).
    pub beta: f64,
}

impl Pole {
    /// Of a time τ in s.
    #[must_use]
    pub fn new(time: f64, time_step: f64) -> Self {
        let sum = 2.0 * time + time_step;
        Self {
            alpha: (2.0 * time - time_step) / sum,
            beta: time_step / sum,
        }
    }
}

/// One relaxation of the medium as a step sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bulk {
    /// Its memory.
    pub pole: Pole,
    /// m/(2τ) of a medium with 1 dB/m, over c∞, 1/m.
    pub rate: f64,
}

/// The relaxations of a scene's medium.
pub fn bulk(scenario: &Scenario, time_step: f64) -> Vec<Bulk> {
    let law = constants(scenario).and_then(|acoustic| acoustic.attenuation);
    let made = law.map_or(Vec::new(), |law| law.relaxations());
    made.iter()
        .map(|own| Bulk {
            pole: Pole::new(own.time, time_step),
            rate: own.strength / (2.0 * own.time),
        })
        .collect()
}

/// dB/m at f₁ times c∞ of the sites of row (j, k), continued into absorbing layers.
pub fn attenuation_row(scenario: &Scenario, [j, k]: [usize; 2], out: &mut [f64]) {
    let Some((acoustic, law)) = constants(scenario).and_then(|own| Some((own, own.attenuation?))) else {
        out.fill(0.0);
        return;
    };
    let (medium, domain) = (scenario.medium(), Domain::new(scenario.grid()));
    let [j, k] = domain.row(j, k);
    medium.attenuation_row(law.value, j, k, 0..out.len(), out);
    let mut speed = vec![acoustic.speed; out.len()];
    if medium.has(Sets::Speed) {
        medium.speed_row(acoustic.speed, j, k, 0..out.len(), &mut speed);
    }
    for (out, speed) in out.iter_mut().zip(&speed) {
        *out *= speed;
    }
    domain.fill_ends(out);
}

/// A memory of a wall's face at a site of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Face {
    /// The site's place in its row.
    pub x: usize,
    /// Its memory.
    pub pole: Pole,
    /// Δγ, 1/s.
    pub rate: f64,
}

/// The memories of the faces of row (j, k).
pub fn faces(damping: &Damping<'_>, j: usize, k: usize) -> Vec<Face> {
    let mut all = Vec::new();
    damping.for_each_face([j, k], |x, face| {
        if let Some((pole, rate)) = face.memory {
            all.push(Face { x, pole, rate });
        }
    });
    all
}
