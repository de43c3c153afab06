//! `quantum.exchange`: two particles on a line as a plane that is symmetric under their exchange.

use super::Builder;
use crate::grid::Grid;
use crate::physics::{Exchange, Medium, Sets};

/// The largest difference of the potential when the particles are exchanged, as a fraction of its largest value: rounding of formulas.
const ALIKE: f64 = 1e-9;

impl Builder<'_> {
    /// The symmetry of the state at t = 0, after checking that the grid is the same with x and y exchanged.
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

    /// Notes a fault if the mirror adds noise, which is another one at [i, j] than at [j, i].
    pub(super) fn exchange_of_noise(&mut self) {
        let exchange = self.file.quantum.as_ref().and_then(|quantum| quantum.exchange);
        if let (Some(exchange), Some(mirror)) = (exchange, self.file.mirror.as_ref())
            && mirror.noise > 0.0
        {
            let message = format!(
                "noise is not the same where x and y are exchanged, and quantum.exchange = \"{}\" says that the state is",
                exchange.as_str()
            );
            self.found
                .value("mirror.noise", message, "write 0, or remove quantum.exchange");
        }
    }

    /// Notes a fault if the medium distinguishes the particles.
    pub(super) fn exchange_of_medium(&mut self, medium: &Medium) {
        let exchange = self.file.quantum.as_ref().and_then(|quantum| quantum.exchange);
        if exchange.is_none() {
            return;
        }
        let sites = medium.grid().size()[0];
        let mut differs = |what: &str, at: Option<(usize, usize)>| {
            if let Some((i, j)) = at {
                // A bond along x becomes one along y.
                let [own, other] = if what == "hopping" {
                    [" along x", " along y"]
                } else {
                    [""; 2]
                };
                let message = format!(
                    "the {what}{own} at site [{i}, {j}] is another one than{other} at [{j}, {i}], so that the particles are told apart"
                );
                let remedy = "write layers that are the same with x and y exchanged, e.g. of abs(x - y), or remove it";
                self.found.value("quantum.exchange", message, remedy);
            }
        };
        let plane = |fill: &dyn Fn(usize, &mut [f64])| {
            let mut values = vec![0.0; sites * sites];
            for (j, row) in values.chunks_mut(sites).enumerate() {
                fill(j, row);
            }
            values
        };
        // Where what stands at (i, j) is `sign` times what `exchanged` has at (j, i).
        let odd = |own: &[f64], exchanged: &[f64], sign: f64| {
            let largest = own.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
            unlike(sites, |i, j| {
                (own[i + sites * j] - sign * exchanged[j + sites * i]).abs() <= ALIKE * largest
            })
        };
        let x = 0..sites;
        for group in std::iter::once(None).chain((0..medium.drives().len()).map(Some)) {
            let values = plane(&|j, row| medium.potential_row(group, j, 0, x.clone(), row));
            let at = odd(&values, &values, 1.0);
            if at.is_some() {
                return differs("potential", at);
            }
        }
        if medium.has(Sets::Absorption) {
            // Edges absorb alike along both axes.
            let values = plane(&|j, row| medium.absorption_row(0.0, j, 0, x.clone(), row));
            differs("absorption", odd(&values, &values, 1.0));
        }
        if medium.has(Sets::Interaction) {
            let values = plane(&|j, row| medium.interaction_row(0.0, j, 0, x.clone(), row));
            differs("interaction", odd(&values, &values, 1.0));
        }
        if medium.has(Sets::Hopping) {
            let [along, across] = [0, 1].map(|axis| plane(&|j, row| medium.hopping_row(axis, j, 0, x.clone(), row)));
            differs("hopping", odd(&along, &across, 1.0));
        }
        if medium.has(Sets::Flux) {
            // A flux turns the other way where x and y are exchanged.
            let values = plane(&|j, row| medium.flux_row(j, 0, x.clone(), row));
            differs("flux", odd(&values, &values, -1.0));
        }
        let walls = plane(&|j, row| {
            let mut walls = vec![false; sites];
            medium.wall_row(j, 0, x.clone(), &mut walls);
            for (value, wall) in row.iter_mut().zip(&walls) {
                *value = f64::from(u8::from(*wall));
            }
        });
        differs("wall", odd(&walls, &walls, 1.0));
    }
}

/// The first pair of sites that is not alike.
fn unlike(sites: usize, alike: impl Fn(usize, usize) -> bool) -> Option<(usize, usize)> {
    (0..sites)
        .flat_map(|j| (0..=j).flat_map(move |i| [(i, j), (j, i)]))
        .find(|(i, j)| !alike(*i, *j))
}
