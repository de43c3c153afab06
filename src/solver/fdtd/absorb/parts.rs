//! Contents of rows beside layers: walls, damping, non-uniform density.

use crate::field::Real;

/// γΔt of some rows, one behind the other.
#[derive(Clone, Copy)]
pub(in super::super) struct Damping<'a, T> {
    /// The first row, and how many rows of the grid further the next one is.
    pub(in super::super) first: usize,
    pub(in super::super) step: usize,
    /// Which of the damped rows each row of the grid is.
    pub(in super::super) rows: &'a [Option<u32>],
    /// γΔt of these, each as long as a row.
    pub(in super::super) rates: &'a [T],
    /// Sites of a row.
    pub(in super::super) sites: usize,
}

impl<T: Real> Damping<'_, T> {
    /// Where the rates of row `n` begin.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "within kernels")]
    pub(in super::super) fn of(self, n: usize) -> Option<*const T> {
        let place = (*self.rows.get(self.first + n * self.step)?)? as usize;
        Some(self.rates[place * self.sites..][..self.sites].as_ptr())
    }
}

/// Contents of a row beside its layers, at its first site.
#[derive(Clone, Copy)]
pub(in super::super) struct Beyond<T> {
    /// The faces of the sites, where walls are in reach, and bytes from those of a distance to those of the next.
    pub(in super::super) faces: Option<(*const u8, usize)>,
    /// γΔt, where some are damped.
    pub(in super::super) rates: Option<*const T>,
    /// ρ, where it differs; order 2 alone.
    pub(in super::super) density: Option<*const T>,
}

impl<T> Beyond<T> {
    pub(super) const NOTHING: Self = Self {
        faces: None,
        rates: None,
        density: None,
    };
}

impl<T: Real> Beyond<T> {
    /// From site `i` on.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "within kernels")]
    pub(super) fn at(self, i: usize) -> Self {
        let mut new = self;
        if let Some((near, plane)) = self.faces {
            new.faces = Some((near.wrapping_add(i), plane));
        }
        if let Some(rates) = self.rates {
            new.rates = Some(rates.wrapping_add(i));
        }
        if let Some(density) = self.density {
            new.density = Some(density.wrapping_add(i));
        }
        new
    }
}
