//! The medium on the adapter: coefficients of bonds, and factors of the damping.

use super::super::layout::Layout;
use super::super::run::Oscillators;
use super::super::scheme::Sweep;
use super::super::springs::Table;
use super::planes::unsplit;
use crate::backend::wgpu::{Buffer, Stream, WgpuError};

/// Coefficients and factors.
pub(super) struct Medium {
    /// Of each length of sub-step, along x and y: κ, A, B, C of every bond; one number where they are the same everywhere.
    pub bonds: Vec<[Buffer; 2]>,
    /// The factors of momenta before and after a step; one number where nothing is damped.
    pub factors: Buffer,
    /// Whether bonds differ.
    pub varies: bool,
    /// Whether anything is damped.
    pub damps: bool,
}

/// Bonds of one parity along an axis, those to phantoms among them.
pub(super) fn pairs(layout: &Layout, axis: usize, odd: bool) -> usize {
    let n = layout.size[axis];
    match (odd, layout.periodic[axis]) {
        (false, _) => n.div_ceil(2),
        (true, false) => n / 2 + 1,
        (true, true) => n / 2,
    }
}

/// Where odd bonds along an axis begin among those of both parities.
pub(super) fn first_odd(layout: &Layout, axis: usize) -> usize {
    pairs(layout, axis, false) * layout.size[1 - axis]
}

/// κ and A of the sites that a sweep leaves alone at the low and the high end of an axis; `along`: their place on the other axis.
pub(super) fn ends(table: &Table<f32>, layout: &Layout, axis: usize, along: usize) -> [[f32; 2]; 2] {
    [0, 1].map(|high: usize| {
        if axis == 0 {
            table.ends[high][along]
        } else {
            [0, 1].map(|n: usize| table.rims[high][n][layout.column(along)])
        }
    })
}

/// κ, A, B, C of a bond of a sweep; `along`: its place on the other axis.
fn coefficients(table: &Table<f32>, layout: &Layout, sweep: Sweep, pair: usize, along: usize) -> [f32; 4] {
    let Sweep { axis, odd } = sweep;
    let n = layout.size[axis];
    let [[k_low, a_low], [k_high, a_high]] = ends(table, layout, axis, along);
    let at = match (2 * pair).checked_sub(usize::from(odd)) {
        Some(at) => at,
        None if layout.periodic[axis] => n - 1,
        // The phantom is the first of the pair, or the second.
        None => return [k_low, 0.0, 0.0, a_low],
    };
    if at + 1 >= n && !layout.periodic[axis] {
        return [k_high, a_high, 0.0, 0.0];
    }
    let place = if axis == 0 {
        layout.index(at, along)
    } else {
        layout.index(along, at)
    };
    [0, 1, 2, 3].map(|n: usize| table.each[axis][n][place])
}

/// Coefficients of all bonds along an axis, even ones first, as the kernels number them.
fn bonds(table: &Table<f32>, layout: &Layout, axis: usize) -> Vec<[f32; 4]> {
    let others = layout.size[1 - axis];
    let mut all = Vec::new();
    for odd in [false, true] {
        let (sweep, pairs) = (Sweep { axis, odd }, pairs(layout, axis, odd));
        let of = |pair, along| coefficients(table, layout, sweep, pair, along);
        if axis == 0 {
            all.extend((0..others).flat_map(|along| (0..pairs).map(move |pair| of(pair, along))));
        } else {
            all.extend((0..pairs).flat_map(|pair| (0..others).map(move |along| of(pair, along))));
        }
    }
    all
}

impl Medium {
    /// The medium that `host` has read.
    pub(super) fn new(stream: &Stream, host: &Oscillators<f32>) -> Result<Self, WgpuError> {
        let layout = &host.springs.layout;
        let varies = !host.masses.uniform;
        let bonds_of = |table: &Table<f32>, axis: usize| {
            let there = varies && axis < layout.rank;
            let all = if there { bonds(table, layout, axis) } else { Vec::new() };
            stream.list("coefficients of bonds", &all)
        };
        let bonds = (host.springs.tables.iter()).map(|table| Ok([bonds_of(table, 0)?, bonds_of(table, 1)?]));
        let damps = host.damping.factor(layout.row(0)).is_some();
        let factors = if damps {
            unsplit(layout, |place| host.damping.factor(place).unwrap_or(1.0))
        } else {
            Vec::new()
        };
        Ok(Self {
            bonds: bonds.collect::<Result<_, WgpuError>>()?,
            factors: stream.list("the damping", &factors)?,
            varies,
            damps,
        })
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> u64 {
        let all = self.bonds.iter().flatten().chain([&self.factors]);
        all.map(Buffer::bytes).sum()
    }
}
