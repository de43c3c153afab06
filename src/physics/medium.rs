//! The medium at sites: what the layers of a scene add up to, row by row, so that no whole-grid array in double precision
//! is needed to build a solver.

use super::absorber::strength;
use super::expression::{Argument, Scratch};
use super::shape::{distance, position};
use super::{Expression, Layer, Mode, Sets, Value, WallPole};
use crate::grid::{Edge, Grid};
use rayon::prelude::*;
use std::cell::RefCell;
use std::ops::Range;

/// The layers of a scene over its grid.
///
/// The potential is U(r, t) = U₀(r) + Σ_g d_g(t) U_g(r): `drives()[g]` is d_g, and
/// [`Medium::potential_row`] gives the rows of U₀ (`None`) and U_g (`Some(g)`).
#[derive(Clone, Debug, PartialEq)]
pub struct Medium {
    grid: Grid,
    /// The grid of the layers, if `grid` is a window of it.
    whole: Grid,
    layers: Vec<Layer>,
    drives: Vec<Expression>,
    /// Group of each layer that has a drive.
    groups: Vec<Option<usize>>,
    /// Whether fluxes and the rotation have the opposite sign, as on the way back from a mirror.
    flux_turned: bool,
    /// Ω of the frame about z through the middle of the grid, radians per unit of time.
    rotation: f64,
    /// g₁₂ of the components on the two sites of the last axis.
    cross_interaction: f64,
}

impl Medium {
    /// The medium of `layers` over `grid`.
    #[must_use]
    pub fn new(grid: Grid, layers: Vec<Layer>) -> Self {
        let mut drives: Vec<Expression> = Vec::new();
        let groups = layers
            .iter()
            .map(|layer| {
                layer.drive.as_ref().map(|drive| {
                    drives.iter().position(|known| known == drive).unwrap_or_else(|| {
                        drives.push(drive.clone());
                        drives.len() - 1
                    })
                })
            })
            .collect();
        Self {
            whole: grid.whole(),
            grid,
            layers,
            drives,
            groups,
            flux_turned: false,
            rotation: 0.0,
            cross_interaction: 0.0,
        }
    }

    /// The same in a frame that rotates about z through the middle of the grid by Ω, in radians per unit of time: its bonds carry the phases of
    /// [`Bonds`](super::Bonds), and its potential the centrifugal one in a last layer, see [`rotating_frame`](super::rotating_frame).
    #[must_use]
    pub fn rotating(mut self, rotation: f64, mass: f64) -> Self {
        if rotation != 0.0 {
            self.layers
                .push(super::rotating_frame::centrifugal(&self.whole, rotation, mass));
            self.groups.push(None);
            self.rotation = rotation;
        }
        self
    }

    /// Ω of the frame, radians per unit of time, in the sense in which it acts on ψ now.
    pub fn rotation(&self) -> f64 {
        if self.flux_turned {
            -self.rotation
        } else {
            self.rotation
        }
    }

    /// The same if the two sites of the last axis are components that interact: each has the potential g₁₂|ψ|² of the
    /// other in addition to its own g|ψ|².
    #[must_use]
    pub fn with_cross_interaction(mut self, strength: f64) -> Self {
        self.cross_interaction = strength;
        self
    }

    /// g₁₂ of two components; 0 if they do not interact.
    pub fn cross_interaction(&self) -> f64 {
        self.cross_interaction
    }

    /// The index of the other component of a site: the same place in the other half of the field, x fastest.
    pub fn other_component(&self, site: usize) -> usize {
        let half = self.grid.sites() / 2;
        if site < half { site + half } else { site - half }
    }

    /// Whether there is an interaction set by layers, or one between two components. (`quantum.interaction` is stored elsewhere.)
    pub fn sets_interaction(&self) -> bool {
        self.has(Sets::Interaction) || self.cross_interaction != 0.0
    }

    /// The same with all fluxes of layers, and the rotation, reversed.
    #[must_use]
    pub fn with_flux_turned(&self) -> Self {
        Self {
            flux_turned: !self.flux_turned,
            ..self.clone()
        }
    }

    /// The same layers over a window of the grid.
    #[must_use]
    pub fn over(&self, window: Grid) -> Self {
        Self {
            flux_turned: self.flux_turned,
            rotation: self.rotation,
            cross_interaction: self.cross_interaction,
            ..Self::new(window, self.layers.clone())
        }
    }

    /// The grid.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The layers, in order of application.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The functions of time that multiply parts of the potential.
    pub fn drives(&self) -> &[Expression] {
        &self.drives
    }

    /// Whether any layer sets `what`.
    pub fn has(&self, what: Sets) -> bool {
        self.layers.iter().any(|layer| layer.sets == what)
    }

    /// Whether a layer, or the rotation of the frame, makes bonds differ from one another.
    pub fn sets_bonds(&self) -> bool {
        self.has(Sets::Hopping) || self.has(Sets::Flux) || self.rotation != 0.0
    }

    /// Whether a layer absorbs energy: absorption, or an impedance of walls.
    pub fn absorbs(&self) -> bool {
        self.has(Sets::Absorption) || self.has(Sets::Impedance)
    }

    /// Sites `x` of row (j, k) of the sound speed, m/s; `background` where no layer changes it. Drives are not applied.
    pub fn speed_row(&self, background: f64, j: usize, k: usize, x: Range<usize>, out: &mut [f64]) {
        out.fill(background);
        self.apply(Sets::Speed, None, j, k, x, out);
    }

    /// Sites `x` of row (j, k) of the density, kg/m³; `background` where no layer changes it. Drives are not applied.
    pub fn density_row(&self, background: f64, j: usize, k: usize, x: Range<usize>, out: &mut [f64]) {
        out.fill(background);
        self.apply(Sets::Density, None, j, k, x, out);
    }

    /// Sites `x` of row (j, k) of what the absorption layers add up to, without the absorbing edges.
    pub fn damping_row(&self, j: usize, k: usize, x: Range<usize>, out: &mut [f64]) {
        self.fill(Sets::Absorption, None, j, k, x, out);
    }

    /// Sites `x` of row (j, k) of Z/ρc of walls and edges; infinite (rigid) where no layer sets it.
    pub fn impedance_row(&self, j: usize, k: usize, x: Range<usize>, out: &mut [f64]) {
        out.fill(f64::INFINITY);
        self.apply(Sets::Impedance, None, j, k, x, out);
    }

    /// Sites `x` of row (j, k) of the attenuation, dB/m; `background` where no layer sets it.
    pub fn attenuation_row(&self, background: f64, j: usize, k: usize, x: Range<usize>, out: &mut [f64]) {
        out.fill(background);
        self.apply(Sets::Attenuation, None, j, k, x, out);
    }

    /// Whether the impedance of a wall depends on the frequency.
    pub fn has_poles(&self) -> bool {
        self.layers.iter().any(|layer| layer.pole.is_some())
    }

    /// How the impedance of the wall at a site depends on the frequency: that of the last layer which sets it there.
    pub fn wall_pole(&self, [i, j, k]: [usize; 3]) -> Option<WallPole> {
        let site = [(0, i), (1, j), (2, k)].map(|(axis, at)| self.grid.global(axis, at));
        let mut own = self.layers.iter().rev().filter(|layer| layer.sets == Sets::Impedance);
        own.find(|layer| layer.shape.contains(site, &self.whole))?.pole
    }

    /// Sites `x` of row (j, k): what multiplies the hopping of the bonds from them to the next site along `axis`.
    pub fn hopping_row(&self, axis: usize, j: usize, k: usize, x: Range<usize>, out: &mut [f64]) {
        out.fill(1.0);
        let along = |layer: &Layer| layer.axis.is_none_or(|own| own == axis);
        ROWS.with_borrow_mut(|rows| self.apply_where(rows, (Sets::Hopping, &along), None, [j, k], x, out));
    }

    /// Sites `x` of row (j, k): the flux that layers add to the plaquette towards +x and +y, in flux quanta.
    pub fn flux_row(&self, j: usize, k: usize, x: Range<usize>, out: &mut [f64]) {
        self.fill(Sets::Flux, None, j, k, x, out);
        if self.flux_turned {
            for value in out {
                *value = -*value;
            }
        }
    }

    /// Sites `x` of row (j, k) of g; `background` where no layer sets it.
    pub fn interaction_row(&self, background: f64, j: usize, k: usize, x: Range<usize>, out: &mut [f64]) {
        out.fill(background);
        self.apply(Sets::Interaction, None, j, k, x, out);
    }

    /// Sites `x` of row (j, k) of the potential: the static part (`None`) or what drive `g` multiplies (`Some(g)`).
    pub fn potential_row(&self, group: Option<usize>, j: usize, k: usize, x: Range<usize>, out: &mut [f64]) {
        self.fill(Sets::Potential, group, j, k, x, out);
    }

    /// Sites `x` of row (j, k) of the absorption W ≥ 0 (quantum: E − iW), absorbing edges included, whose
    /// [`strength`] `scale` multiplies, and the factor that layers give the hopping of the bond inwards. Where two of them meet, both absorb.
    pub fn absorption_row(&self, scale: f64, j: usize, k: usize, x: Range<usize>, out: &mut [f64]) {
        self.fill(Sets::Absorption, None, j, k, x.clone(), out);
        let width = self.whole.absorb_width();
        if width == 0 || !self.whole.edges().contains(&Edge::Absorb) {
            return;
        }
        let ramp = |axis: usize, site: usize| {
            if self.whole.edges()[axis] != Edge::Absorb || axis >= self.whole.rank() {
                return 0.0;
            }
            let from_edge = site.min(self.whole.size()[axis] - 1 - site);
            if from_edge >= width {
                return 0.0;
            }
            strength(width - from_edge, width)
        };
        let across = [ramp(1, self.grid.global(1, j)), ramp(2, self.grid.global(2, k))];
        let along = |i: usize| ramp(0, self.grid.global(0, i));
        if self.has(Sets::Hopping) {
            for (axis, ramp) in (1..3).zip(across).filter(|(_, ramp)| *ramp != 0.0) {
                let inwards = self.hopping_inwards(axis, j, k, x.clone());
                let all = out.iter_mut().zip(inwards);
                all.for_each(|(value, factor)| *value += scale * ramp * factor);
            }
            let inwards = self.hopping_inwards(0, j, k, x.clone());
            let all = out.iter_mut().zip(inwards).zip(x);
            all.for_each(|((value, factor), i)| *value += scale * along(i) * factor);
            return;
        }
        let across = across[0] + across[1];
        for (value, i) in out.iter_mut().zip(x) {
            *value += scale * (across + along(i));
        }
    }

    /// Sites `x` of row (j, k): the magnitude of what multiplies the hopping of the bond along `axis` towards the middle of the grid. (The bond of the last site leaves the grid.)
    fn hopping_inwards(&self, axis: usize, j: usize, k: usize, x: Range<usize>) -> Vec<f64> {
        let is_upper = |site: usize| 2 * self.grid.global(axis, site) >= self.whole.size()[axis];
        let below = |site: usize| if is_upper(site) { site.saturating_sub(1) } else { site };
        if axis == 0 {
            let first = x.start.saturating_sub(1);
            let mut row = vec![1.0; x.end - first];
            self.hopping_row(0, j, k, first..x.end, &mut row);
            return x.map(|i| row[below(i) - first].abs()).collect();
        }
        let [j, k] = if axis == 1 { [below(j), k] } else { [j, below(k)] };
        let mut row = vec![1.0; x.len()];
        self.hopping_row(axis, j, k, x, &mut row);
        row.into_iter().map(f64::abs).collect()
    }

    /// Sites `x` of row (j, k): whether a wall stands there.
    pub fn wall_row(&self, j: usize, k: usize, x: Range<usize>, out: &mut [bool]) {
        out.fill(false);
        if !self.has(Sets::Wall) {
            return;
        }
        ROWS.with_borrow_mut(|rows| {
            let mut row = std::mem::take(&mut rows.wall);
            row.resize(out.len(), 0.0);
            row.fill(0.0);
            self.apply_with(rows, Sets::Wall, None, [j, k], x, &mut row);
            for (wall, value) in out.iter_mut().zip(&row) {
                *wall = *value > 0.5;
            }
            rows.wall = row;
        });
    }

    fn fill(&self, what: Sets, group: Option<usize>, j: usize, k: usize, x: Range<usize>, out: &mut [f64]) {
        out.fill(0.0);
        self.apply(what, group, j, k, x, out);
    }

    fn apply(&self, what: Sets, group: Option<usize>, j: usize, k: usize, x: Range<usize>, out: &mut [f64]) {
        ROWS.with_borrow_mut(|rows| self.apply_with(rows, what, group, [j, k], x, out));
    }

    fn apply_with(
        &self,
        rows: &mut Rows,
        what: Sets,
        group: Option<usize>,
        row: [usize; 2],
        x: Range<usize>,
        out: &mut [f64],
    ) {
        self.apply_where(rows, (what, &|_| true), group, row, x, out);
    }

    /// Applies the wanted layers of one quantity to sites `x` of a row, each only within its shape.
    fn apply_where(
        &self,
        rows: &mut Rows,
        (what, wanted): (Sets, &dyn Fn(&Layer) -> bool),
        group: Option<usize>,
        [j, k]: [usize; 2],
        x: Range<usize>,
        out: &mut [f64],
    ) {
        let [j, k] = [self.grid.global(1, j), self.grid.global(2, k)];
        debug_assert_eq!(x.len(), out.len());
        let mut spans = std::mem::take(&mut rows.spans);
        for (layer, layer_group) in self.layers.iter().zip(&self.groups) {
            if layer.sets != what || !wanted(layer) {
                continue;
            }
            let adds = *layer_group == group;
            if !adds && layer.mode == Mode::Add {
                continue;
            }
            spans.clear();
            layer.shape.spans(&self.whole, [j, k], &mut spans);
            let stretches = || self.grid.stretches(x.clone());
            for (span, (before, x)) in spans.iter().flat_map(|span| stretches().map(move |part| (span, part))) {
                let sites = span.start.max(x.start)..span.end.min(x.end);
                if sites.is_empty() {
                    continue;
                }
                let part = &mut out[before + sites.start - x.start..before + sites.end - x.start];
                if adds {
                    layer.apply(&self.whole, [j, k], sites, rows, part);
                } else {
                    // What an earlier layer of another group left is replaced by this layer, i.e. by nothing here.
                    layer.clear(&self.whole, [j, k], sites, part);
                }
            }
        }
        rows.spans = spans;
    }
}

/// Rows that a thread keeps between calls, so that filling a row allocates nothing.
#[derive(Default)]
struct Rows {
    spans: Vec<Range<usize>>,
    x: Vec<f64>,
    r: Vec<f64>,
    level: Vec<f64>,
    wall: Vec<f64>,
    scratch: Scratch,
}

thread_local! {
    static ROWS: RefCell<Rows> = RefCell::default();
}

impl Layer {
    /// The layer's value at a site, or `None` outside its shape. The drive is not applied.
    pub fn level(&self, site: [usize; 3], grid: &Grid) -> Option<f64> {
        if !self.shape.contains(site, grid) {
            return None;
        }
        let value = match &self.value {
            Value::Number(number) => *number,
            Value::Expression(expression) => {
                let at = position(site, grid);
                expression.eval(&[at[0], at[1], at[2], distance(at, self.shape.center(grid), grid.rank())])
            }
        };
        Some(value * self.shape.factor(site, grid).unwrap_or(1.0))
    }

    /// The first site of the grid, x fastest, at which the layer's level meets the condition, with the level.
    pub fn find_level(&self, grid: &Grid, wanted: impl Fn(f64) -> bool + Sync) -> Option<([usize; 3], f64)> {
        let ny = grid.size()[1];
        (0..grid.rows())
            .into_par_iter()
            .find_map_first(|row| self.find_in_row(grid, [row % ny, row / ny], &wanted))
    }

    fn find_in_row(&self, grid: &Grid, [j, k]: [usize; 2], wanted: impl Fn(f64) -> bool) -> Option<([usize; 3], f64)> {
        ROWS.with_borrow_mut(|rows| {
            let (mut spans, mut levels) = (std::mem::take(&mut rows.spans), std::mem::take(&mut rows.wall));
            spans.clear();
            self.shape.spans(grid, [j, k], &mut spans);
            let found = spans.iter().find_map(|span| {
                levels.clear();
                levels.resize(span.len(), 0.0);
                self.apply(grid, [j, k], span.clone(), rows, &mut levels);
                // Where a picture is black the layer does not apply.
                let inside = |i: &usize| !self.shape.is_sampled() || self.shape.factor([*i, j, k], grid).is_some();
                let mut sites = span.clone().zip(&levels);
                sites
                    .find(|(i, level)| wanted(**level) && inside(i))
                    .map(|(i, level)| ([i, j, k], *level))
            });
            (rows.spans, rows.wall) = (spans, levels);
            found
        })
    }

    /// Sets or adds the layer's values at sites `x` of row (j, k), all of them within its shape.
    fn apply(&self, grid: &Grid, [j, k]: [usize; 2], x: Range<usize>, rows: &mut Rows, out: &mut [f64]) {
        let sampled = self.shape.is_sampled();
        if let (Value::Number(number), false) = (&self.value, sampled) {
            match self.mode {
                Mode::Set => out.fill(*number),
                Mode::Add => out.iter_mut().for_each(|value| *value += number),
            }
            return;
        }
        let Rows {
            x: xs,
            r: rs,
            level,
            scratch,
            ..
        } = rows;
        level.clear();
        level.resize(out.len(), 0.0);
        match &self.value {
            Value::Number(number) => level.fill(*number),
            Value::Expression(expression) => {
                let [_, y, z] = position([0, j, k], grid);
                xs.clear();
                xs.extend(x.clone().map(|i| position([i, j, k], grid)[0]));
                let center = self.shape.center(grid);
                rs.clear();
                if expression.uses(3) {
                    rs.extend(xs.iter().map(|x| distance([*x, y, z], center, grid.rank())));
                }
                let r = if rs.is_empty() {
                    Argument::Same(0.0)
                } else {
                    Argument::Row(rs)
                };
                expression.eval_row(
                    &[Argument::Row(xs), Argument::Same(y), Argument::Same(z), r],
                    scratch,
                    level,
                );
            }
        }
        for ((value, level), i) in out.iter_mut().zip(&*level).zip(x) {
            let factor = if sampled {
                match self.shape.factor([i, j, k], grid) {
                    Some(factor) => factor,
                    None => continue,
                }
            } else {
                1.0
            };
            match self.mode {
                Mode::Set => *value = level * factor,
                Mode::Add => *value += level * factor,
            }
        }
    }

    /// Zeroes sites `x` of row (j, k), all of them within the extent of its shape.
    fn clear(&self, grid: &Grid, [j, k]: [usize; 2], x: Range<usize>, out: &mut [f64]) {
        if !self.shape.is_sampled() {
            out.fill(0.0);
            return;
        }
        for (value, i) in out.iter_mut().zip(x) {
            if self.shape.contains([i, j, k], grid) {
                *value = 0.0;
            }
        }
    }
}

#[cfg(test)]
mod tests;
