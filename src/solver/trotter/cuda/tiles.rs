//! Steps of small planes, a tile a block (`kernels/trotter_tiles.cu`): these have too few rows and columns for the strips of `fused_steps` to fill the device.

use super::choice::Schedule;
use super::launch::{Equal, addresses};
use super::params::{self, unsigned};
use super::sources::{TileShape, tile_shapes};
use super::{Cuda, OnCuda};
use crate::backend::cuda::{CudaError, Kernel, Stream};
use crate::field::Precision;
use crate::grid::Grid;
use crate::solver::trotter::scheme::{Scheme, Substep};

/// Larger planes are faster in strips on every device measured, and are not tried.
const MOST_SITES: usize = 1 << 22;

/// Steps a launch that are tried, for tiles of so many rows at most: what a launch takes by itself weighs against the halo.
const TRIED: [(u32, &[u32]); 4] = [(32, &[3, 5]), (48, &[3, 6]), (64, &[4, 6, 8]), (u32::MAX, &[8])];

/// The most steps of a launch that sums: each lane keeps its own sum of every step and region.
const MOST_SUMMED: u32 = 8;

/// Blocks of a launch along y.
const MOST_BLOCKS: u32 = 65_535;

/// A shape, loaded: its kernel, and those that sum over so many regions and copy after steps, as many as the device has memory for.
struct Loaded {
    shape: TileShape,
    plain: Kernel,
    recording: Vec<Kernel>,
}

/// The tiles of a plane.
pub(super) struct Tiles {
    shapes: Vec<Loaded>,
    /// Shapes and steps a launch that are taken, the first of them where the device has memory for its sums, too.
    ranked: Vec<(usize, u32)>,
}

impl Tiles {
    /// Those that do what `flags` ask; `None` where there are none, or none that the device has memory for. `asked`: steps a launch, if the scene says so.
    pub(super) fn new(
        stream: &Stream,
        precision: Precision,
        flags: super::Flags,
        asked: Option<usize>,
    ) -> Result<Option<Self>, CudaError> {
        let most = stream.device().most_shared();
        let mut shapes = Vec::new();
        for shape in tile_shapes(precision, flags) {
            if shape.shared() <= most {
                let room = |regions: u32| shape.shared() + regions * MOST_SUMMED * shape.sums();
                let rooms = (0..=unsigned(params::REGIONS))
                    .map(room)
                    .take_while(|room| *room <= most);
                shapes.push(Loaded {
                    plain: stream.kernel(shape.source, "tile_steps", shape.shared())?,
                    recording: rooms
                        .map(|room| stream.kernel(shape.source, "recording_tiles", room))
                        .collect::<Result<_, _>>()?,
                    shape,
                });
            }
        }
        // The lowest of which the halo takes no more than half comes first.
        let steps = asked.map_or(1, unsigned).max(1);
        let mut ranked: Vec<usize> = (0..shapes.len()).collect();
        ranked.sort_by_key(|n| (shapes[*n].shape.height() < 8 * steps, shapes[*n].shape.height()));
        let ranked = ranked
            .into_iter()
            .map(|n| (n, steps.min(shapes[n].shape.most_steps())))
            .collect();
        Ok((!shapes.is_empty()).then_some(Self { shapes, ranked }))
    }

    /// Every shape with every number of steps that is tried, by their numbers.
    fn tried(&self, grid: &Grid) -> Vec<(usize, u32)> {
        let steps = |shape: &TileShape| TRIED.iter().find(|(rows, _)| shape.height() <= *rows);
        (self.shapes.iter().enumerate())
            .flat_map(|(n, loaded)| {
                let steps = steps(&loaded.shape).map_or(&[][..], |(_, steps)| steps);
                steps.iter().map(move |steps| (n, *steps))
            })
            .filter(|(n, steps)| self.shapes[*n].shape.blocks(grid, *steps)[1] <= MOST_BLOCKS)
            .collect()
    }
}

/// Blocks of a launch along an axis, as `part_of` in `kernels/trotter_tiles.cu` has them: tiles of `length` sites, of which `halo` at each side that does not end with the grid are
/// not written.
fn blocks(sites: usize, periodic: bool, length: u32, halo: u32) -> u32 {
    let sites = unsigned(sites);
    let core = length - 2 * halo;
    if periodic {
        sites.div_ceil(core)
    } else if sites <= length {
        1
    } else {
        (sites - 2 * halo).div_ceil(core)
    }
}

impl TileShape {
    /// The most steps of which the halo leaves columns and rows to write.
    fn most_steps(&self) -> u32 {
        let halo = (self.width() / 2 - 1) / self.columns * self.columns;
        ((self.height() - 2) / 4).min(halo / 2)
    }

    /// Blocks along x and y of a launch of so many steps.
    fn blocks(&self, grid: &Grid, steps: u32) -> [u32; 2] {
        let [nx, ny, _] = grid.size();
        let halo = 2 * steps;
        [
            blocks(
                nx,
                grid.is_periodic(0),
                self.width(),
                halo.next_multiple_of(self.columns),
            ),
            blocks(ny, grid.is_periodic(1), self.height(), halo),
        ]
    }
}

impl<T: OnCuda> Cuda<T> {
    /// Whether tiles may be taken: of planes, where the scene asks for them or leaves the variant open and the plane is small. Parts of a grid are left to strips: what each process measures may differ.
    pub(super) fn may_tile(&self) -> bool {
        let [nx, ny, _] = self.grid.size();
        let small = nx * ny <= MOST_SITES && !self.grid.is_window();
        let open = self.open && self.schedule == Schedule::Fused && small;
        self.grid.rank() == 2 && (self.schedule == Schedule::Tiles || open) && !self.flags.own
    }

    /// The shape and the steps to take for a run of `count` equal steps, where tiles are faster or asked for; `regions`: over how many of them something is summed or copied.
    fn tile(&self, count: u64, regions: Option<usize>) -> Option<(usize, u32)> {
        let tiles = self.tiles.as_ref()?;
        if self.schedule != Schedule::Tiles && count < 2 {
            return None;
        }
        let fits = |n: usize| regions.is_none_or(|regions| regions < tiles.shapes[n].recording.len());
        let (shape, steps) = tiles.ranked.iter().copied().find(|(n, _)| fits(*n))?;
        let most = if regions.is_some() {
            steps.min(MOST_SUMMED)
        } else {
            steps
        };
        Some((shape, u32::try_from(count).map_or(most, |count| most.min(count))))
    }

    /// Steps of a launch of tiles where these are taken.
    pub(super) fn steps_in_tiles(&self) -> Option<u32> {
        self.tile(u64::MAX, None).map(|(_, steps)| steps)
    }

    /// The columns and rows of the tiles that are taken.
    pub(super) fn size_of_tiles(&self) -> Option<[u32; 2]> {
        let (shape, _) = self.tile(u64::MAX, None)?;
        let loaded = self.tiles.as_ref()?.shapes.get(shape)?;
        Some([loaded.shape.width(), loaded.shape.height()])
    }

    /// Ranks shapes and numbers of steps by their speed, and leaves out those that are not faster than strips, which take `strips` seconds a step, unless the scene asks for tiles.
    pub(super) fn compare_tiles(&mut self, scheme: &Scheme, strips: Option<f64>) -> Result<(), CudaError> {
        let Some(tiles) = &self.tiles else { return Ok(()) };
        let mut measured = Vec::new();
        for (shape, steps) in tiles.tried(&self.grid) {
            let name = (tiles.shapes[shape].shape.source.name, steps);
            let seconds = match self.measured.get(&name) {
                Some(known) => *known,
                None => self.time(steps, || self.launch_tiles(&scheme.substeps[0], (shape, steps), None))?,
            };
            measured.push((name, (shape, steps), seconds));
        }
        self.measured
            .extend(measured.iter().map(|(name, _, seconds)| (*name, *seconds)));
        let asked = self.schedule == Schedule::Tiles;
        measured.retain(|(.., seconds)| asked || strips.is_some_and(|strips| *seconds < strips));
        measured.sort_by(|(.., one), (.., other)| one.total_cmp(other));
        if let Some(tiles) = &mut self.tiles {
            tiles.ranked = measured.into_iter().map(|(_, taken, _)| taken).collect();
        }
        Ok(())
    }

    /// Equal sub-steps in one launch of tiles; returns how many, `None` where tiles are not taken.
    pub(super) fn tile_steps(&mut self, equal: &Equal) -> Option<u64> {
        let (shape, steps) = self.tile(equal.count, self.summed_regions())?;
        let regions = self.next_sums(equal.ends(steps));
        let launched = self.attempt(|| {
            if let Some(out) = &self.other {
                self.before_writing(Some(out[0].address()))?;
            }
            self.launch_tiles(equal.substep, (shape, steps), regions)
        });
        Some(self.after_launch(launched.is_some(), steps))
    }

    /// Queues a launch of so many steps in tiles, which sums and copies what `regions` has.
    #[allow(unsafe_code, reason = "a kernel launch")]
    fn launch_tiles(
        &self,
        substep: &Substep,
        (shape, steps): (usize, u32),
        regions: Option<params::Regions>,
    ) -> Result<(), CudaError> {
        let missing = || CudaError::Call {
            what: "a launch of tiles".into(),
            message: "has no kernel, or nowhere to write".into(),
        };
        let (Some(tiles), Some(out)) = (&self.tiles, &self.other) else {
            return Err(missing());
        };
        let Loaded {
            shape,
            plain,
            recording,
        } = &tiles.shapes[shape];
        debug_assert!(steps <= shape.most_steps(), "{steps} steps");
        let parameters = self.fused_parameters(substep, addresses(out), None);
        let [across, along] = shape.blocks(&self.grid, steps);
        let count = regions.map(|regions| usize::try_from(regions.count).unwrap_or(0));
        let kernel = count.map_or(Some(plain), |count| recording.get(count));
        let kernel = kernel.ok_or_else(missing)?;
        let steps = steps.cast_signed();
        // SAFETY: the parameters are those of `tile_steps` and `recording_tiles`; all planes are pitch × ny, and the kernels read and write rows 0..ny and columns 0..pitch of them only. There
        // is room for the sums and copies of every step of the batch, and in a block for those of its lanes.
        unsafe {
            self.stream
                .launch(kernel, (across, along, 1), 32 * shape.warps, |launch| {
                    launch.arg(&parameters);
                    if let Some(regions) = &regions {
                        launch.arg(regions);
                    }
                    launch.arg(&steps);
                })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::trotter::cuda::sources::Flags;

    #[test]
    fn every_step_leaves_sites_to_write() {
        let mut seen = 0;
        for precision in [Precision::Single, Precision::Double] {
            for bits in 0..8_u8 {
                let bit = |n: u8| bits >> n & 1 == 1;
                let flags = Flags {
                    nested: bit(0),
                    flux: bit(1),
                    interaction: bit(2),
                    ..Flags::default()
                };
                for shape in tile_shapes(precision, flags) {
                    let most = shape.most_steps();
                    assert!(most >= 7, "{}: {most}", shape.source.name);
                    let halo = (2 * most).next_multiple_of(shape.columns);
                    assert!(
                        shape.width() > 2 * halo && shape.height() > 4 * most,
                        "{}",
                        shape.source.name
                    );
                    seen += 1;
                }
            }
        }
        assert!(seen > 10, "{seen}");
    }

    /// What blocks write, as the kernel has it, is every site once, and lies in their tiles less the halo.
    #[test]
    fn tiles_write_every_site_once() {
        let (length, unit) = (128_u32, 4);
        for halo in [4, 8, 12, 16] {
            let core = length - 2 * halo;
            for sites in [1, 36, 127, 128, 129, 130, 220, 240, 512, 1000, 1021] {
                let count = blocks(sites, false, length, halo);
                let sites = unsigned(sites);
                let last = sites.saturating_sub(length).next_multiple_of(unit);
                let mut next = 0;
                for block in 0..count {
                    let start = (block * core).min(last);
                    let from = if block > 0 { block * core + halo } else { 0 };
                    let to = if block + 1 < count {
                        (block + 1) * core + halo
                    } else {
                        sites
                    };
                    assert_eq!(from, next);
                    assert!(start == 0 || from >= start + halo, "{sites}, {halo}, {block}");
                    assert!(to == sites && start + length >= sites || to + halo <= start + length);
                    next = to;
                }
                assert_eq!(next, sites);
                assert!(blocks(sites as usize, true, length, halo) * core >= sites);
            }
        }
    }
}
