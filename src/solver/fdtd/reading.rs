//! What detectors take from rows.

use super::row_sums::Reduction;
use std::ops::Range;

/// The quantity that is taken from a part of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Take {
    /// p of one site.
    Site,
    /// A sum over pressures.
    Pressures(Reduction),
    /// Energy of a row of a detector of the whole grid, from every site's own numbers ([`super::whole`]).
    Whole,
    /// Energy of sites, the bonds of walls apart.
    Energy,
    /// Energy site by site: in or beside walls in a medium that differs, or beside a soft edge.
    EnergyBeside,
    /// What flows to the next sites along an axis.
    Flux,
    /// The same from copies ([`super::copies`]).
    CopiedFlux,
}

impl Take {
    /// Whether it takes Φ of neighbours.
    pub(super) fn moves(self) -> bool {
        matches!(self, Self::Energy | Self::EnergyBeside | Self::Flux)
    }

    /// Whether it takes pressures.
    pub(super) fn is_pressure(self) -> bool {
        matches!(self, Self::Site | Self::Pressures(_))
    }
}

/// A number that is taken from a row in every step.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    pub(super) row: usize,
    pub(super) tap: usize,
    pub(super) take: Take,
    /// Those that vectors take.
    pub(super) columns: Range<usize>,
    /// Of a recorder's bonds, those that are added one by one.
    pub(super) bonds: Range<usize>,
    /// Of its bonds to other rows, those of this one.
    pub(super) across: Range<usize>,
    /// Of its bonds at the ends of columns.
    pub(super) ends: Range<usize>,
    /// Of its bonds across faces.
    pub(super) crossing: Range<usize>,
    /// Its place among the numbers of a step.
    pub(super) place: usize,
}
