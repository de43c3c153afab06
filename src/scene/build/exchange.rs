//! `quantum.exchange`: two particles on a line as a plane, which looks the same from both.

use super::Builder;
use crate::grid::Grid;
use crate::physics::{Exchange, Medium};

/// How far the potential may differ where the particles are exchanged, as a part of its largest value: rounding of formulas.
const ALIKE: f64 = 1e-9;

impl Builder<'_> {
    /// The symmetry that the state at t = 0 is given, once the grid looks the same with x and y exchanged.
    pub(super) fn exchange(&mut self, grid: &Grid) -> Option<Exchange> {
        const KEY: &str = "quantum.exchange";
        let quantum = self.file.quantum.as_ref()?;
        let exchange = quantum.exchange?;
        let [nx, ny, _] = grid.size();
        let fault = if grid.rank() != 2 {
            let message = format!(
                "the grid has rank {}, and the places of two particles make a plane",
                grid.rank()
            );
            Some((message, "take grid.size = [n, n], or remove it"))
        } else if nx != ny && self.grid_is_own {
            let message = format!("x has {nx} sites and y has {ny}, and both are places on the same line");
            Some((message, "take grid.size = [n, n]"))
        } else if grid.edges()[0] != grid.edges()[1] {
            let message = "the edges along x and y differ, and both are ends of the same line".to_owned();
            Some((message, "write one word for all edges"))
        } else if quantum.flux != 0.0 {
            let message = "a magnetic flux turns the other way where x and y are exchanged".to_owned();
            Some((message, "set quantum.flux = 0"))
        } else if quantum.rotation != 0.0 {
            let message = "a rotation turns the other way where x and y are exchanged".to_owned();
            Some((message, "set quantum.rotation = 0"))
        } else if self.file.packets.is_empty() {
            let message = "it symmetrises packets, and there are none".to_owned();
            Some((message, "give the state by [[packet]], or remove it"))
        } else {
            None
        };
        match fault {
            Some((message, remedy)) => {
                self.found.value(KEY, message, remedy);
                None
            }
            None => Some(exchange),
        }
    }

    /// Notes a fault where the medium tells the particles apart.
    pub(super) fn exchange_of_medium(&mut self, medium: &Medium) {
        let exchange = self.file.quantum.as_ref().and_then(|quantum| quantum.exchange);
        if exchange.is_none() {
            return;
        }
        let sites = medium.grid().size()[0];
        let mut differs = |what: &str, at: Option<(usize, usize)>| {
            if let Some((i, j)) = at {
                let message = format!(
                    "the {what} at site [{i}, {j}] is another one than at [{j}, {i}], so that the particles are told apart"
                );
                let remedy = "write layers that are the same with x and y exchanged, e.g. of abs(x - y), or remove it";
                self.found.value("quantum.exchange", message, remedy);
            }
        };
        for group in std::iter::once(None).chain((0..medium.drives().len()).map(Some)) {
            let mut values = vec![0.0; sites * sites];
            for (j, row) in values.chunks_mut(sites).enumerate() {
                medium.potential_row(group, j, 0, 0..sites, row);
            }
            let largest = values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
            let at = unlike(sites, |i, j| {
                (values[i + sites * j] - values[j + sites * i]).abs() <= ALIKE * largest
            });
            if at.is_some() {
                return differs("potential", at);
            }
        }
        let mut walls = vec![false; sites * sites];
        for (j, row) in walls.chunks_mut(sites).enumerate() {
            medium.wall_row(j, 0, 0..sites, row);
        }
        differs(
            "wall",
            unlike(sites, |i, j| walls[i + sites * j] == walls[j + sites * i]),
        );
    }
}

/// The first pair of sites that is not alike.
fn unlike(sites: usize, alike: impl Fn(usize, usize) -> bool) -> Option<(usize, usize)> {
    (0..sites)
        .flat_map(|j| (0..j).map(move |i| (i, j)))
        .find(|(i, j)| !alike(*i, *j))
}
