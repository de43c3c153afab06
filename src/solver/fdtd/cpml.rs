//! Absorbing edges: convolutional perfectly matched layers for the equation of second order.
//!
//! Per axis, with g the flux through a face (the first difference of p, [`super::stencil::STAGGERED`]; times 1/ρ where the density varies),
//! σ(ξ) = −3c ln R₀/(2La) ξ² at depth ξ ∈ (0, 1], A = e^(−σ|Δt|) and B = A − 1:
//! ψ ← Aψ + Bg on faces; u = Lp + Dψ and ζ ← Aζ + Bu on sites; Dψ + ζ is added to Lp. The layer is closed by a rigid wall; what comes
//! back through it has been damped to R₀. Near walls and densities the differences are those of order 2.
//!
//! This is the staggered first-order system (velocity and pressure) with its memories, differenced once in time: pⁿ − pⁿ⁻¹ = λ²(U + Z), U = Σu, Z = Σζ.
//! Two levels that do not come out of this recursion therefore need a matching ζ, or their difference goes on for ever as a drift
//! inside the layer, where nothing pulls it back: [`super::sweep::Sweep::settle`] takes U = (pⁿ − pⁿ⁻¹)/λ², Z = 0, i.e. ζ = (B/A)(pⁿ − pⁿ⁻¹)/λ².
//!
//! Δt enters by its size: the layer absorbs in both directions of time, since the waves that left cannot come back.
//!
//! References: Komatitsch & Martin 2007, doi:10.1190/1.2757586 (CPML, κ = 1, α = 0, m = 2); Pasalic & McGarry 2010,
//! doi:10.1190/1.3513453 (second-order form).

use super::lattice::Lattice;
use super::material::allocate;
use crate::field::Real;
use crate::solver::SolverError;

/// What the layer of `width` sites reflects at normal incidence: 10⁻⁴ at 10 sites, 10⁻⁶ at 20 and more, where the discretisation itself reflects
/// more.
fn reflection(width: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "widths are small")]
    10f64.powf(-(2.0 + width as f64 / 5.0).clamp(2.0, 7.0))
}

/// The two layers of one axis with what they remember.
#[derive(Clone)]
pub struct Layer<T> {
    /// Where they lie and what they do.
    pub shape: Shape<T>,
    /// ψ, slot by slot: `width` slots at the low end from outside in, then as many at the high end. Slots of the x axis lie side by side in a row of
    /// the grid; slots of y and z are rows.
    pub psi: Vec<T>,
    /// ζ in the same order.
    pub zeta: Vec<T>,
}

/// Where the two layers of one axis lie and what they do.
#[derive(Clone)]
pub struct Shape<T> {
    /// The axis.
    pub axis: usize,
    width: usize,
    sites: usize,
    /// A and B of faces, by depth: [0] is the outermost.
    faces: Vec<[T; 2]>,
    /// A and B of sites, by depth: [0] is the outermost.
    cells: Vec<[T; 2]>,
}

impl<T: Real> Layer<T> {
    /// Layers at rest.
    pub fn new(lattice: &Lattice, axis: usize, width: usize) -> Result<Self, SolverError> {
        let slots = 2 * width * (lattice.size.iter().product::<usize>() / lattice.size[axis]);
        Ok(Self {
            shape: Shape {
                axis,
                width,
                sites: lattice.size[axis],
                faces: Vec::new(),
                cells: Vec::new(),
            },
            psi: allocate(slots, "the absorbing layers")?,
            zeta: allocate(slots, "the absorbing layers")?,
        })
    }
}

impl<T: Real> Shape<T> {
    /// Sets A and B for a Courant number cΔt/a.
    #[expect(clippy::cast_precision_loss, reason = "widths are small")]
    pub fn set_step(&mut self, courant: f64) {
        let width = self.width as f64;
        let strength = -3.0 * reflection(self.width).ln() / (2.0 * width) * courant.abs();
        let pair = |depth: f64| {
            let a = (-strength * depth * depth).exp();
            [T::of(a), T::of(a - 1.0)]
        };
        self.cells = (0..self.width).map(|slot| pair(1.0 - slot as f64 / width)).collect();
        self.faces = (0..self.width)
            .map(|slot| pair(1.0 - (slot as f64 + 0.5) / width))
            .collect();
    }

    /// Slots at both ends.
    pub fn slots(&self) -> usize {
        2 * self.width
    }

    /// The slot of a site, if it lies in a layer.
    pub fn cell_slot(&self, at: usize) -> Option<usize> {
        if at < self.width {
            Some(at)
        } else {
            let from_end = self.sites - 1 - at;
            (from_end < self.width).then_some(self.width + from_end)
        }
    }

    /// The slot of the face between sites `at` and `at + 1`, if it lies in a layer.
    pub fn face_slot(&self, at: usize) -> Option<usize> {
        if at < self.width {
            Some(at)
        } else {
            let from_end = (self.sites - 1).checked_sub(at + 1)?;
            (from_end < self.width).then_some(self.width + from_end)
        }
    }

    /// The slot and the sign of a face that may lie outside: the closing wall is an odd mirror of the flux.
    pub fn mirrored_face(&self, face: isize) -> Option<(usize, bool)> {
        let last = self.sites.cast_signed() - 1;
        let (inside, odd) = if face < 0 {
            (-2 - face, true)
        } else if face >= last {
            (2 * last - face, true)
        } else {
            (face, false)
        };
        let slot = self.face_slot(usize::try_from(inside).ok()?)?;
        Some((slot, odd))
    }

    /// The site below the face of a slot.
    pub fn face_site(&self, slot: usize) -> usize {
        if slot < self.width {
            slot
        } else {
            self.sites - 2 - (slot - self.width)
        }
    }

    /// A and B of a face.
    pub fn face(&self, slot: usize) -> [T; 2] {
        self.faces[slot % self.width]
    }

    /// A and B of a site.
    pub fn cell(&self, slot: usize) -> [T; 2] {
        self.cells[slot % self.width]
    }

    /// Whether the layers add anything at a site for a stencil of this half width: beyond the layer's own sites, those whose
    /// difference reaches a face in it.
    pub fn touches(&self, at: usize, half: usize) -> bool {
        touches(self.width, self.sites, at, half)
    }
}

/// As [`Shape::touches`], for layers of `width` sites on an axis of `sites`.
pub fn touches(width: usize, sites: usize, at: usize, half: usize) -> bool {
    at < width + half || at + width + half >= sites
}
