//! What a scene is made of, independent of how it is stepped: packets, layers of the medium, detectors, observables,
//! and exact solutions.

pub mod absorber;
pub mod attenuation;
pub mod autocorrelation;
pub mod bonds;
pub mod current;
pub mod detector;
pub mod dispersion;
pub mod drives;
pub mod eigen;
pub mod eigenstates;
pub mod exchange;
pub mod expression;
pub mod layer;
pub mod measurement;
pub mod medium;
pub mod mirror;
pub mod noise;
pub mod observables;
pub mod packet;
pub mod phase_space;
pub mod reference;
pub mod room;
pub mod rotating_frame;
mod shape;
pub mod sinc;
pub mod source;
pub mod spectrum;
pub mod state;
pub mod trajectory;

pub use attenuation::Attenuation;
pub use autocorrelation::{Autocorrelation, Decay, SpectralLine};
pub use bonds::Bonds;
pub use current::{Currents, axes_in_space};
pub use detector::{Detector, Measure, REFERENCE_PRESSURE, Reading, Region, axis_across};
pub use eigenstates::Eigenstates;
pub use exchange::Exchange;
pub use expression::Expression;
pub use layer::{Layer, Mode, Sets, Shape, Value, WallPole};
pub use measurement::{Measurement, Outcome};
pub use medium::Medium;
pub use mirror::{Mirror, MirrorMethod, Placement, Refocus};
pub use observables::Observables;
pub use packet::{Initial, InitialRows, Packet, Pulse};
pub use phase_space::PhaseSpace;
pub use source::{Signal, Source};
pub use spectrum::Spectrum;
pub use state::{Lines, StateMeasures, StateSums};
pub use trajectory::Trajectory;

use crate::words::worded;

worded! {
    /// The equation of a scene or a method.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Equation {
        /// i ∂ψ/∂t = Hψ on a lattice (ħ = 1).
        Schrodinger = "schrodinger",
        /// ∂²p/∂t² = c²∇²p.
        Acoustic = "acoustic",
    }
}

/// The constants of a quantum scene, ħ = 1:
/// H = −J Σ(|i⟩⟨j| + h.c.) + `diagonal` + U + g|ψ|².
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quantum {
    /// Hopping J; 1/(2 m a²) if the scene gives a mass.
    pub hopping: f64,
    /// Constant on the diagonal: 2J per axis if the scene gives a mass, 0 if it gives the hopping.
    pub diagonal: f64,
    /// The mass where the scene gives one.
    pub mass: Option<f64>,
    /// g of g|ψ|².
    pub interaction: f64,
    /// Magnetic flux through a plaquette, in flux quanta (Landau gauge along x).
    pub flux: f64,
}

impl Quantum {
    /// The mass of slow waves, 1/(2 J a²), on a lattice of spacing a.
    pub fn effective_mass(&self, spacing: f64) -> f64 {
        1.0 / (2.0 * self.hopping * spacing * spacing)
    }

    /// The factor of [`absorber::strength`] of absorbing edges, the same for every method: |J|.
    pub fn absorption_scale(&self) -> f64 {
        self.hopping.abs()
    }
}

/// The constants of an acoustic scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Acoustic {
    /// Sound speed in m/s where no layer changes it.
    pub speed: f64,
    /// Density in kg/m³ where no layer changes it.
    pub density: f64,
    /// How the medium attenuates, if it does.
    pub attenuation: Option<Attenuation>,
}

/// The equation with its constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Model {
    /// A quantum scene.
    Quantum(Quantum),
    /// An acoustic scene.
    Acoustic(Acoustic),
}

impl Model {
    /// Which equation.
    pub fn equation(&self) -> Equation {
        match self {
            Self::Quantum(_) => Equation::Schrodinger,
            Self::Acoustic(_) => Equation::Acoustic,
        }
    }

    /// The constants of a quantum scene.
    pub fn quantum(&self) -> Option<Quantum> {
        match self {
            Self::Quantum(quantum) => Some(*quantum),
            Self::Acoustic(_) => None,
        }
    }
}
