//! DiamondTorre on the device: many steps of a tower of diamonds in one launch (`kernels/fdtd_torre.cu`).
//!
//! A pass takes a multiple of 2·dts steps, up to `tower`, over the whole grid in one launch: blocks take towers in their order from a counter, and
//! wait for the two towers that theirs needs. Steps that are left over are taken one by one; both give the same bits.

use super::Cuda;
use super::params::{self, whole};
use super::sources;
use super::store::SEGMENT;
use crate::backend::cuda::{self, Buffer, CudaError, Kernel, PushKernelArg, Queue};
use crate::field::Precision;
use crate::grid::Edge;
use crate::physics::Sets;
use crate::scene::Scenario;
use crate::solver::device::OnCuda;

/// Threads of a block at most: each may have all the registers that there are.
pub(super) const BLOCK: usize = 256;
/// Blocks along x at most: more are no portable cluster.
const MOST_BLOCKS: usize = 8;

/// What the straight-line code is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Half the order in space.
    pub half: usize,
    /// Size of a diamond.
    pub dts: usize,
    /// Blocks along x.
    pub cluster: usize,
    /// Whether the speed differs from site to site.
    pub sites: bool,
}

impl Shape {
    /// Width of a diamond, W.
    fn width(self) -> usize {
        2 * self.half * self.dts
    }

    /// Steps after which the code repeats.
    pub(super) fn period(self) -> usize {
        2 * self.dts
    }

    /// Shared memory of a block: the diamond's centres, twice.
    fn shared(self, precision: Precision) -> usize {
        self.width() * self.width() * (BLOCK + 2 * self.half) * precision.bytes()
    }
}

/// The towers of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pass {
    /// The largest stage, taken first.
    first: i64,
    /// Towers of a stage of even and of odd number.
    even: usize,
    odd: usize,
    towers: usize,
}

impl Pass {
    /// The towers over `steps` steps of a grid of ny × nz rows.
    #[expect(
        clippy::cast_possible_wrap,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sizes are far below 2^31"
    )]
    fn new(shape: Shape, [_, ny, nz]: [usize; 3], across: Edge, steps: usize) -> Self {
        let half_width = (shape.width() / 2) as i64;
        let (even, odd) = if across == Edge::Periodic {
            (ny / shape.width(), ny / shape.width())
        } else {
            let last = (ny - 1) / (half_width as usize) + 1;
            (last / 2 + 1, last.div_ceil(2))
        };
        let half = shape.half as i64;
        // z = s W/2 + h t + a with 0 <= a <= W - 2 meets the grid for some t.
        let first = (nz as i64 - 1 - half).div_euclid(half_width);
        let last = -((half * steps as i64 + 2 * half_width - 2).div_euclid(half_width));
        let stages = (first - last + 1) as usize;
        let top = if first & 1 == 0 { even } else { odd };
        Self {
            first,
            even,
            odd,
            towers: stages / 2 * (even + odd) + if stages & 1 == 1 { top } else { 0 },
        }
    }
}

/// Why a scene is not stepped by towers; `None` where it is.
pub(super) fn objection(scenario: &Scenario, shape: Shape, capability: (i32, i32)) -> Option<String> {
    let (grid, medium) = (scenario.grid(), scenario.medium());
    let [nx, ny, _] = grid.size();
    let [_, across, along] = grid.edges();
    let why = if grid.rank() < 3 {
        "towers stand in three dimensions".to_owned()
    } else if along == Edge::Periodic {
        "towers lean along z and cannot close round a periodic z".to_owned()
    } else if grid.edges().contains(&Edge::Absorb) {
        "absorbing edges are stepped one by one".to_owned()
    } else if medium.has(Sets::Density) {
        "a density per site is stepped one by one".to_owned()
    } else if ny < 2 * shape.width() || (across == Edge::Periodic && ny % shape.width() != 0) {
        format!(
            "towers want a multiple of {} sites along a periodic y, and twice as many at least",
            shape.width()
        )
    } else if shape.cluster > MOST_BLOCKS {
        format!("towers hold at most {} sites along x", BLOCK * MOST_BLOCKS)
    } else if (1..2 * shape.half).contains(&(last_block(nx, shape.cluster) % 32)) {
        format!(
            "the last {} of {nx} sites along x fill no end of a warp; a multiple of 32 does",
            last_block(nx, shape.cluster) % 32
        )
    } else if shape.cluster > 1 && capability < (9, 0) {
        format!("this device has no clusters of blocks, and without them towers hold {BLOCK} sites along x")
    } else {
        return None;
    };
    Some(why)
}

/// Whether towers are faster than single steps, as measured on an H200: the diamonds' rims cost less than what they save, and edges fall where
/// straight-line code goes on across them.
fn is_quick(shape: Shape, precision: Precision, scenario: &Scenario) -> bool {
    let grid = scenario.grid();
    let [_, ny, _] = grid.size();
    let [_, across, along] = grid.edges();
    let aligned = match across {
        Edge::Periodic => true,
        Edge::Wall => ny % (shape.width() / 2) == 0,
        Edge::Soft | Edge::Absorb => false,
    };
    let order = match precision {
        Precision::Single => shape.half <= 3,
        Precision::Double => shape.half == 1,
    };
    aligned && order && along == Edge::Wall && grid.sites() >= LEAST_SITES
}

/// Fewer do not fill the device with towers.
const LEAST_SITES: usize = 1 << 24;

/// Threads of each block along x.
fn threads(nx: usize, cluster: usize) -> usize {
    nx.div_ceil(cluster).next_multiple_of(32)
}

/// Sites of the last block.
fn last_block(nx: usize, cluster: usize) -> usize {
    nx.saturating_sub((cluster - 1) * threads(nx, cluster))
}

/// Blocks along x for a grid of nx sites, none of them without sites.
pub(super) fn blocks_along_x(nx: usize) -> usize {
    let least = nx.div_ceil(BLOCK);
    [1, 2, 4, 8]
        .into_iter()
        .find(|count| *count >= least && last_block(nx, *count) >= 8)
        .unwrap_or(least)
}

/// The kernel, and what it keeps between launches.
pub(super) struct Torre {
    pub shape: Shape,
    /// Steps of a pass at most.
    pub steps: usize,
    kernel: Kernel,
    begin: Kernel,
    /// The next tower, and a flag for each.
    counter: Buffer<u32>,
    /// Rows that are not plain, and what of them is on the device.
    special: Option<Buffer<u8>>,
    marked: Vec<u8>,
}

impl Torre {
    /// Loads, or compiles, the kernel of a shape.
    ///
    /// # Errors
    /// If it is not in the binary and cannot be compiled here, or there is no room.
    pub(super) fn new(
        queue: &Queue,
        precision: Precision,
        shape: Shape,
        size: [usize; 3],
        across: Edge,
        steps: usize,
    ) -> Result<Self, CudaError> {
        let source = match sources::torre(precision, shape) {
            Some(source) => source,
            None => cuda::compiled(&sources::program(precision, shape), cuda::cache().as_deref())?,
        };
        let shared = u32::try_from(shape.shared(precision)).unwrap_or(u32::MAX);
        let steps = (steps / shape.period()).max(1) * shape.period();
        let towers = Pass::new(shape, size, across, steps).towers;
        Ok(Self {
            shape,
            steps,
            kernel: queue.kernel(source, "torre", shared)?,
            begin: queue.kernel(source, "begin", 0)?,
            counter: queue.zeros("the flags of towers", towers + 1)?,
            special: None,
            marked: Vec::new(),
        })
    }

    /// For the report.
    pub(super) fn describe(&self) -> String {
        let Shape { dts, cluster, .. } = self.shape;
        let blocks = if cluster > 1 {
            format!(", {cluster} blocks along x")
        } else {
            String::new()
        };
        format!("dts {dts}, towers of {} steps{blocks}", self.steps)
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.counter.bytes() + self.special.as_ref().map_or(0, Buffer::bytes)
    }

    /// Says which rows are not plain (empty: all are).
    pub(super) fn mark(&mut self, queue: &Queue, rows: Vec<u8>) -> Result<(), CudaError> {
        if self.marked == rows {
            return Ok(());
        }
        if rows.is_empty() {
            self.special = None;
        } else {
            let buffer = match self.special.take() {
                Some(buffer) => buffer,
                None => queue.zeros("rows that are not plain", rows.len())?,
            };
            queue.upload("rows that are not plain", &rows, &buffer)?;
            self.special = Some(buffer);
        }
        self.marked = rows;
        Ok(())
    }
}

/// Rows with something in the medium beside a speed, and rows with operations on sites: bits of `special`.
const MEDIUM: u8 = 1;
const OPERATIONS: u8 = 2;

impl<T: OnCuda> Cuda<T> {
    /// Marks the rows in which the next batch does more than step.
    pub(super) fn mark_rows(&mut self, places: impl Iterator<Item = u32>) -> Result<(), CudaError> {
        if let Some(tiles) = &mut self.tiles {
            let mut rows = vec![0; self.host.sweep.lattice.rows()];
            for place in places {
                rows[place as usize / self.pitch] = 1;
            }
            return tiles.mark(&self.queue, rows);
        }
        let Some(torre) = &mut self.torre else { return Ok(()) };
        let segments = self.medium.special_segments();
        let mut rows: Vec<u8> = segments
            .chunks_exact(self.pitch / SEGMENT)
            .map(|row| u8::from(row.contains(&true)) * MEDIUM)
            .collect();
        for place in places {
            if rows.is_empty() {
                rows = vec![0; self.host.sweep.lattice.rows()];
            }
            rows[place as usize / self.pitch] |= OPERATIONS;
        }
        torre.mark(&self.queue, rows)
    }

    /// At most `most` steps in one launch, the first of which is step `n` of the batch; returns how many.
    #[allow(unsafe_code, reason = "kernel launches")]
    pub(super) fn pass(&mut self, n: usize, most: usize) -> Result<usize, CudaError> {
        let Some(torre) = &self.torre else { return Ok(0) };
        let shape = torre.shape;
        let steps = most.min(torre.steps) / shape.period() * shape.period();
        if steps == 0 || self.peak.is_some() {
            return Ok(0);
        }
        self.aside.before_any_writing(&self.queue)?;
        let lattice = &self.host.sweep.lattice;
        let pass = Pass::new(shape, lattice.size, lattice.edges[1], steps);
        let parameters = params::Torre {
            step: self.step_parameters(),
            sites: self.operations.parameters(),
            special: torre.special.as_ref().map_or(0, Buffer::address),
            counter: torre.counter.address(),
            periods: whole(steps / shape.period()),
            first: i32::try_from(pass.first).unwrap_or(i32::MAX),
            towers: whole(pass.towers),
            even: whole(pass.even),
            odd: whole(pass.odd),
            plain: i32::from(self.medium.is_plain()),
            step_of_batch: whole(n),
        };
        let cluster = u32::try_from(shape.cluster).unwrap_or(1);
        let clusters = (self.queue.device().multiprocessors / cluster).max(1);
        let threads = u32::try_from(threads(lattice.size[0], shape.cluster)).unwrap_or(32);
        let (counter, count) = (torre.counter.address(), whole(pass.towers + 1));
        // SAFETY: the arguments are those of the kernels; the counter has room for the towers of the longest pass, the levels are those of a step,
        // and the lists hold every step of the batch.
        unsafe {
            self.queue.launch(&torre.begin, (64, 1, 1), 256, |launch| {
                launch.arg(&counter).arg(&count);
            })?;
            self.queue
                .launch(&torre.kernel, (clusters * cluster, 1, 1), threads, |launch| {
                    launch.arg(&parameters);
                })?;
        }
        // An even number of steps leaves the levels where they were.
        Ok(steps)
    }
}

/// The tower kernel for a scene.
///
/// # Errors
/// Why there is none, in words for people.
pub(super) fn fitting<T: OnCuda>(queue: &Queue, scenario: &Scenario, half: usize) -> Result<Torre, String> {
    let choice = scenario.solver();
    let number = |key: &str, default: i64| usize::try_from(choice.integer(key, default)).unwrap_or(1);
    let grid = scenario.grid();
    let shape = Shape {
        half,
        dts: number("dts", best_dts(half, T::PRECISION)),
        cluster: blocks_along_x(grid.size()[0]),
        sites: scenario.medium().has(Sets::Speed),
    };
    if let Some(why) = objection(scenario, shape, queue.device().capability) {
        return Err(why);
    }
    if shape.shared(T::PRECISION) > queue.device().most_shared() as usize {
        return Err(format!(
            "dts = {} at order {} needs more shared memory than a block of this device has; take a smaller one, or \"auto\"",
            shape.dts,
            2 * half
        ));
    }
    if choice.variant == "auto" && !is_quick(shape, T::PRECISION, scenario) {
        return Err("single steps are faster".to_owned());
    }
    // What enters and leaves at both ends of z costs as many planes as a tower has steps.
    let steps = number("tower", if grid.size()[2] < 1024 { 64 } else { 128 });
    Torre::new(queue, T::PRECISION, shape, grid.size(), grid.edges()[1], steps).map_err(|error| error.to_string())
}

/// The diamond that fills the registers.
fn best_dts(half: usize, precision: Precision) -> i64 {
    match (half, precision) {
        (1, Precision::Single) => 4,
        (1, Precision::Double) => 3,
        (2, Precision::Single) => 2,
        _ => 1,
    }
}

#[cfg(test)]
#[allow(
    clippy::cast_possible_wrap,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::many_single_char_names,
    reason = "small numbers, and the names of the kernel"
)]
mod tests {
    use super::*;
    use crate::solver::fdtd::lattice::{Ghost, ghost};

    /// Steps a pass by stamps: every cell knows the time of both its levels, and every read must find the time before. Towers are taken in any order
    /// that their two flags allow.
    fn march(shape: Shape, [ny, nz]: [usize; 2], edges: [Edge; 2], steps: usize, mut random: u64) {
        let width = shape.width() as i64;
        let (half, periodic) = (shape.half as i64, edges[0] == Edge::Periodic);
        let pass = Pass::new(shape, [1, ny, nz], edges[0], steps);
        let in_tile = |a: i64, c: i64| (-1..=width - 2).contains(&(a + c)) && (0..width).contains(&(a - c));
        let mut towers = Vec::new();
        let mut stage = pass.first;
        while towers.len() < pass.towers {
            let odd = stage & 1;
            let count = if odd == 1 { pass.odd } else { pass.even };
            towers.extend((0..count as i64).map(|n| (stage, 2 * n + odd)));
            stage -= 1;
        }
        assert_eq!(towers.len(), pass.towers);
        let all = towers.clone();
        let around = |d: i64| {
            if periodic {
                d.rem_euclid((pass.even + pass.odd) as i64)
            } else {
                d
            }
        };
        let mut times = [vec![0_i64; ny * nz], vec![-1_i64; ny * nz]];
        let find = |edge: Edge, n: usize, at: i64| match ghost(edge, n, at as isize) {
            Ghost::Same(at) | Ghost::Negative(at) => Some(at),
            Ghost::Zero => None,
        };
        while !towers.is_empty() {
            let ready: Vec<usize> = (0..towers.len())
                .filter(|n| {
                    let (s, d) = towers[*n];
                    [d - 1, d + 1]
                        .into_iter()
                        .all(|d| !towers.contains(&(s + 1, around(d))))
                })
                .collect();
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (s, d) = towers.swap_remove(ready[(random >> 33) as usize % ready.len()]);
            for t in 1..=steps as i64 {
                for a in 0..width - 1 {
                    for c in -width / 2..width / 2 {
                        let z = s * width / 2 + half * t + a;
                        let mut y = d * width / 2 + c;
                        if periodic {
                            y = y.rem_euclid(ny as i64);
                        }
                        if !in_tile(a, c) || !(0..nz as i64).contains(&z) || !(0..ny as i64).contains(&y) {
                            continue;
                        }
                        let at = |y: usize, z: usize| y + ny * z;
                        let [now, old] = [(t - 1) & 1, t & 1].map(|n| n as usize);
                        for k in -half..=half {
                            let y_to = find(edges[0], ny, y + k).map(|y| at(y, z as usize));
                            let z_to = find(edges[1], nz, z + k).map(|z| at(y as usize, z));
                            for place in [y_to, z_to].into_iter().flatten() {
                                assert_eq!(
                                    times[now][place],
                                    t - 1,
                                    "{shape:?} tower {s} {d}, t = {t}, {y} {z}, {k}"
                                );
                            }
                        }
                        let own = &mut times[old][at(y as usize, z as usize)];
                        assert_eq!(*own, t - 2, "{shape:?}, {all:?}");
                        *own = t;
                    }
                }
            }
        }
        let steps = steps as i64;
        for (level, last) in [(steps & 1, steps), ((steps - 1) & 1, steps - 1)] {
            assert!(times[level as usize].iter().all(|time| *time == last));
        }
    }

    #[test]
    fn towers_find_every_value_at_its_time() {
        for (half, dts) in [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (3, 1), (4, 1)] {
            let shape = Shape {
                half,
                dts,
                cluster: 1,
                sites: false,
            };
            let width = shape.width();
            for (edge, ny) in [
                (Edge::Wall, 2 * width + width / 2),
                (Edge::Wall, 2 * width + 1),
                (Edge::Soft, 3 * width - 1),
                (Edge::Periodic, 3 * width),
            ] {
                for along in [Edge::Wall, Edge::Soft] {
                    for (nz, periods) in [(2 * width + 3, 1), (3 * width, 3), (5, 2)] {
                        march(shape, [ny, nz], [edge, along], periods * shape.period(), 7 + ny as u64);
                    }
                }
            }
        }
    }

    #[test]
    fn blocks_along_x_all_have_sites() {
        for nx in 8..=2048 {
            let count = blocks_along_x(nx);
            assert!(threads(nx, count) <= BLOCK && count <= MOST_BLOCKS, "{nx}: {count}");
            // Where no number of blocks does, [`objection`] refuses what the last one is too narrow for.
            assert!(
                last_block(nx, count) >= 8 || (count == MOST_BLOCKS && nx.div_ceil(BLOCK) == count),
                "{nx}: {count}"
            );
        }
    }
}
