//! Which sites lie inside and have which partners.

use super::columns::{ACROSS, INSIDE, PLAIN, STREAM, X};
use crate::grid::Grid;
use rayon::prelude::*;

/// Bits of sites: one a site, or combined from columns, rows and slabs.
#[derive(Debug, Default)]
pub(in super::super) struct SiteBits {
    pub sites: Option<Vec<u8>>,
    pub x: Vec<u8>,
    pub across: Vec<u8>,
    pub stream: Vec<u8>,
}

/// Bits of partners along an axis.
fn axis_bits(sites: usize, periodic: bool, partner: [u8; 2]) -> Vec<u8> {
    (0..sites)
        .map(|site| {
            let lower = site > 0 || (periodic && sites > 1);
            let upper = site + 1 < sites || (periodic && sites > 1);
            // An even site has its even bond above and its odd bond below.
            let (even, odd) = if site.is_multiple_of(2) {
                (upper, lower)
            } else {
                (lower, upper)
            };
            let mut bits = PLAIN;
            if !even {
                bits &= !partner[0];
            }
            if !odd {
                bits &= !partner[1];
            }
            bits
        })
        .collect()
}

impl SiteBits {
    pub(super) fn new(grid: &Grid, walls: Option<&[bool]>, stride: usize) -> Self {
        let [nx, ny, nz] = grid.size();
        let rank = grid.rank();
        let along = |axis: usize, partner| axis_bits(grid.size()[axis], grid.is_periodic(axis), partner);
        let x = along(0, X);
        let (across, stream) = match rank {
            1 => (vec![PLAIN], vec![PLAIN]),
            2 => (vec![PLAIN], along(1, STREAM)),
            _ => (along(1, ACROSS), along(2, STREAM)),
        };
        let sites = walls.map(|walls| {
            let y = if rank == 3 { ACROSS } else { STREAM };
            let mut all = vec![0; stride * grid.rows()];
            all.par_chunks_mut(stride).enumerate().for_each(|(row, out)| {
                let (j, k) = (row % ny, row / ny);
                let of_row = match rank {
                    1 => PLAIN,
                    2 => stream[j],
                    _ => across[j] & stream[k],
                };
                for (i, out) in out[..nx].iter_mut().enumerate() {
                    if walls[row * nx + i] {
                        continue;
                    }
                    let mut bits = x[i] & of_row;
                    let mut drop = |at: usize, count: usize, up: usize, down: usize, partner: [u8; 2]| {
                        let (even, odd) = if at.is_multiple_of(2) { (up, down) } else { (down, up) };
                        if count > 1 && walls[even] {
                            bits &= !partner[0];
                        }
                        if count > 1 && walls[odd] {
                            bits &= !partner[1];
                        }
                    };
                    let at = |i: usize, j: usize, k: usize| i + nx * (j + ny * k);
                    drop(i, nx, at((i + 1) % nx, j, k), at((i + nx - 1) % nx, j, k), X);
                    if rank > 1 {
                        drop(j, ny, at(i, (j + 1) % ny, k), at(i, (j + ny - 1) % ny, k), y);
                    }
                    if rank > 2 {
                        drop(k, nz, at(i, j, (k + 1) % nz), at(i, j, (k + nz - 1) % nz), STREAM);
                    }
                    *out = bits;
                }
            });
            all
        });
        debug_assert_eq!(PLAIN & INSIDE, INSIDE);
        Self {
            sites,
            x,
            across,
            stream,
        }
    }
}
