//! Tiles that overlap, in two dimensions: many steps of a strip of columns in registers (`kernels/fdtd_tiles.cu`).
//!
//! A pass reads one pair of levels and writes another. Where the medium holds more than a speed - walls, absorption, absorbing edges - and as
//! far around as a pass reaches, steps are taken one by one, on the pair that is written; then the tiles elsewhere are. Steps that are left
//! over are taken one by one; all give the same bits.

use super::Cuda;
use super::operations::Operations;
use super::params::{self, whole};
use super::sources::{self, Strips};
use super::store::{SEGMENT, numbers};
use crate::backend::cuda::{Buffer, CudaError, Kernel, PushKernelArg, Stream};
use crate::solver::device::OnCuda;
use crate::solver::device::rows::{grow, list};
use crate::solver::fdtd::lattice::{Ghost, Lattice, ghost};

/// Threads of a block.
const THREADS: u32 = 128;
/// Tiles of a block: one a warp.
const WARPS: usize = 4;
/// Rows of a tile at most where some of the medium is more than a speed: larger ones would take more of the grid with them.
const MOST_ROWS: usize = 64;
/// The share of the grid, stepped one by one, above which tiles are not worth it.
const MOST_ALONE: f64 = 0.5;

/// How a plane is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    /// Columns and rows of a tile that are its own.
    own: usize,
    chunk: usize,
    /// What a pass reaches.
    halo: usize,
    /// Tiles along x and y.
    tiles: [usize; 2],
}

impl Cut {
    /// Tiles over nx × ny sites for a device that works on `resident` at a time.
    fn new([nx, ny]: [usize; 2], strips: &Strips, resident: usize, most_rows: usize) -> Self {
        let halo = strips.half * strips.steps;
        let own = 32 * strips.columns - 2 * halo;
        let across = nx.div_ceil(own);
        let cost = |parts: &usize| {
            let rounds = (across * parts).div_ceil(resident.max(1));
            rounds * (ny.div_ceil(*parts) + 2 * halo)
        };
        let least = ny.div_ceil(most_rows).max(1);
        let parts = (least..=ny.div_ceil(8).max(least)).min_by_key(cost).unwrap_or(least);
        let chunk = ny.div_ceil(parts);
        Self {
            own,
            chunk,
            halo,
            tiles: [across, ny.div_ceil(chunk)],
        }
    }

    fn count(&self) -> usize {
        self.tiles[0] * self.tiles[1]
    }

    /// Marks the tiles that read a site or an image of it, `margin` further than a pass reaches.
    #[expect(
        clippy::cast_possible_wrap,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sizes are far below 2^31"
    )]
    fn mark_around(&self, tiles: &mut [bool], site: [usize; 2], size: [usize; 2], margin: usize) {
        let reach = (self.halo + margin) as i64;
        let along = |axis: usize| -> Vec<usize> {
            let (width, count) = ([self.own, self.chunk][axis] as i64, self.tiles[axis]);
            let (n, at) = (size[axis] as i64, site[axis] as i64);
            if n <= 2 * (reach + width) {
                // Images of images.
                return (0..count).collect();
            }
            let mut found = Vec::new();
            // Around a ring, and in mirrors beside and on sites.
            for image in [at, at - n, at + n, -1 - at, -2 - at, 2 * n - 1 - at, 2 * n - at] {
                let first = ((image - width - reach).div_euclid(width) + 1).max(0);
                let end = ((image + reach).div_euclid(width) + 1).clamp(0, count as i64);
                found.extend((first..end).map(|tile| tile as usize));
            }
            found
        };
        let across = along(0);
        for row in along(1) {
            for column in &across {
                tiles[row * self.tiles[0] + column] = true;
            }
        }
    }

    /// Segments and rows of a tile, as far as it or, with `around`, a pass from it reaches.
    fn extent(&self, tile: usize, [across, ny]: [usize; 2], around: usize) -> [std::ops::Range<usize>; 2] {
        let (x, y) = (tile % self.tiles[0] * self.own, tile / self.tiles[0] * self.chunk);
        let segments = x.saturating_sub(around) / SEGMENT..(x + self.own + around).div_ceil(SEGMENT).min(across);
        [segments, y.saturating_sub(around)..(y + self.chunk + around).min(ny)]
    }
}

/// Which tiles are plain, and which segments are stepped one by one; `special` says what is not plain, row by row, or nothing.
fn divide(cut: &Cut, lattice: &Lattice, pitch: usize, special: &[bool]) -> (Vec<u32>, Vec<bool>) {
    let shape = [pitch / SEGMENT, lattice.size[1]];
    let mut alone = vec![false; if special.is_empty() { 0 } else { shape[0] * shape[1] }];
    let mut plain = vec![true; cut.count()];
    for (tile, plain) in plain.iter_mut().enumerate() {
        let [segments, rows] = cut.extent(tile, shape, cut.halo);
        let row_of = |row: usize| row * shape[0] + segments.start..row * shape[0] + segments.end;
        if special.is_empty() || rows.clone().all(|row| !special[row_of(row)].contains(&true)) {
            continue;
        }
        *plain = false;
        for row in rows {
            alone[row_of(row)].fill(true);
        }
    }
    (numbers(&plain), alone)
}

/// What stands for the sites of an axis, from `margin` below to `margin` above: 4 site + sign + 1.
#[expect(clippy::cast_possible_wrap, reason = "sizes are far below 2^29")]
fn images(lattice: &Lattice, axis: usize, margin: usize) -> Vec<i32> {
    let n = lattice.size[axis];
    (0..n + 2 * margin)
        .map(
            |at| match ghost(lattice.edges[axis], n, at as isize - margin as isize) {
                Ghost::Same(site) => 4 * whole(site) + 2,
                Ghost::Negative(site) => 4 * whole(site),
                Ghost::Zero => 1,
            },
        )
        .collect()
}

/// The kernels, and what a pass needs beside the levels.
pub(super) struct Tiles<T: OnCuda> {
    pub strips: &'static Strips,
    cut: Cut,
    margin: usize,
    quiet: Kernel,
    operating: Kernel,
    integrating: Kernel,
    carry: Kernel,
    listed: Kernel,
    images: Buffer<i32>,
    /// The levels that the next pass writes.
    spare: [Buffer<T>; 2],
    /// Tiles that are plain.
    plain: Vec<u32>,
    /// What is stepped one by one.
    alone: Option<(Buffer<u32>, usize)>,
    /// What is done in each row, on the device and here, and the tiles, those in which something is done first.
    rows: Buffer<u32>,
    marked: Option<Operations>,
    list: Buffer<u32>,
    count: usize,
    busy: usize,
    part: usize,
    /// Whether something is done where steps are taken one by one; which segments these are.
    busy_alone: bool,
    alone_segments: Vec<bool>,
    /// 1: plain.
    flags: Buffer<u8>,
}

/// Bit of a tile of the list in which something is done; the number of its part stands so much higher.
const OPERATING: u32 = 0x8000_0000;
const PART_SHIFT: u32 = 24;
const MOST_PARTS: usize = 128;
/// About how many times as long a row takes in a tile in which something is done: on an H200 a pass with few such tiles, as long as the others, took 3.5 times as long.
const SLOWER: usize = 4;

impl Cut {
    /// Rows of a part of a tile in which something is done: so few that it takes no longer than another tile, where not too many tiles are such.
    fn part(&self, busy: usize) -> usize {
        let fits = self.count() < 1 << PART_SHIFT && 5 * busy <= self.count().max(5);
        let rows = ((self.chunk + 2 * self.halo) / SLOWER)
            .saturating_sub(2 * self.halo)
            .max(8);
        if fits {
            rows.max(self.chunk.div_ceil(MOST_PARTS)).min(self.chunk)
        } else {
            self.chunk
        }
    }
}

impl<T: OnCuda> Tiles<T> {
    /// Steps of a pass, or why there is none.
    fn new(
        stream: &Stream,
        lattice: &Lattice,
        pitch: usize,
        special: &[bool],
        sources: (&'static Strips, [&'static str; 4]),
    ) -> Result<Result<Self, String>, CudaError> {
        let (strips, listed) = sources;
        let quiet = stream.kernel(strips.source, "tiles", 0)?;
        let resident = stream.occupancy(&quiet, THREADS)? as usize * WARPS * stream.device().multiprocessors as usize;
        let [nx, ny, _] = lattice.size;
        let most_rows = if special.is_empty() { ny } else { MOST_ROWS };
        let cut = Cut::new([nx, ny], strips, resident, most_rows);
        let (plain, alone_segments) = divide(&cut, lattice, pitch, special);
        let alone = numbers(&alone_segments);
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        let share = (alone.len() * SEGMENT) as f64 / (pitch * ny) as f64;
        if share > MOST_ALONE {
            return Ok(Err(format!(
                "walls, absorption and absorbing edges leave tiles {:.0} % of the grid, too little",
                100.0 * (1.0 - share.min(1.0))
            )));
        }
        let stencil = 2 * strips.half + 1;
        let margin = cut.halo + 2 * stencil + 2;
        let all: Vec<i32> = [0, 1]
            .into_iter()
            .flat_map(|axis| images(lattice, axis, margin))
            .collect();
        let what = "tiles";
        Ok(Ok(Self {
            margin,
            quiet,
            operating: stream.kernel(strips.source, "tiles_operating", 0)?,
            integrating: stream.kernel(strips.source, "tiles_integrating", 0)?,
            carry: stream.kernel(sources::step(T::PRECISION), "carry", 0)?,
            listed: stream.kernel(sources::step(T::PRECISION), listed[strips.half - 1], 0)?,
            images: list(stream, what, &all)?,
            spare: [
                stream.zeros("the pressure", pitch * ny)?,
                stream.zeros("the pressure", pitch * ny)?,
            ],
            alone: if alone.is_empty() {
                None
            } else {
                Some((list(stream, what, &alone)?, alone.len()))
            },
            rows: stream.zeros("rows with sources and detectors", 8 * ny)?,
            marked: None,
            list: stream.zeros(what, plain.len().max(1))?,
            count: 0,
            busy: 0,
            part: 1,
            busy_alone: false,
            alone_segments,
            flags: list(stream, what, &flags_of(&plain, cut.count()))?,
            plain,
            cut,
            strips,
        }))
    }

    /// For the report.
    pub(super) fn describe(&self) -> String {
        let Cut { own, chunk, .. } = self.cut;
        let alone = match &self.alone {
            Some((_, count)) => format!(", {} sites one step a launch", count * SEGMENT),
            None => String::new(),
        };
        format!("tiles of {own} × {chunk} sites, {} steps{alone}", self.strips.steps)
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let alone = self.alone.as_ref().map_or(0, |(list, _)| list.bytes());
        let lists = self.list.bytes() + self.rows.bytes() + self.flags.bytes();
        self.spare.iter().map(Buffer::bytes).sum::<usize>() + self.images.bytes() + alone + lists
    }

    /// Says what is done at single sites in the next batch.
    pub(super) fn mark(
        &mut self,
        stream: &Stream,
        pitch: usize,
        size: [usize; 2],
        done: Operations,
    ) -> Result<(), CudaError> {
        if self.marked.as_ref() == Some(&done) {
            return Ok(());
        }
        let margin = 2 * self.strips.half + 1;
        let mut busy = vec![false; self.cut.count()];
        for place in [&done.adds, &done.sets, &done.gathers].into_iter().flatten() {
            let site = [*place as usize % pitch, *place as usize / pitch];
            self.cut.mark_around(&mut busy, site, size, margin);
        }
        let (busy, quiet): (Vec<u32>, Vec<u32>) = self.plain.iter().partition(|tile| busy[**tile as usize]);
        self.part = self.cut.part(busy.len());
        let parts = u32::try_from(self.cut.chunk.div_ceil(self.part)).unwrap_or(1);
        let mut all = Vec::with_capacity(busy.len() * parts as usize + quiet.len());
        for tile in &busy {
            let last = (*tile as usize / self.cut.tiles[0] + 1) * self.cut.chunk > size[1];
            let rows = if last { size[1] % self.cut.chunk } else { self.cut.chunk };
            let parts = u32::try_from(rows.div_ceil(self.part)).unwrap_or(parts);
            all.extend((0..parts).map(|part| tile | OPERATING | part << PART_SHIFT));
        }
        all.extend(quiet);
        grow(stream, "tiles", &mut self.list, all.len())?;
        stream.upload("tiles", &all, &self.list)?;
        self.count = all.len();
        let is_alone = |place: &u32| {
            self.alone_segments
                .get(*place as usize / SEGMENT)
                .copied()
                .unwrap_or(false)
        };
        self.busy_alone = [&done.adds, &done.sets, &done.gathers]
            .into_iter()
            .flatten()
            .any(is_alone);
        stream.upload(
            "rows with sources and detectors",
            &done.rows(pitch, size[1]),
            &self.rows,
        )?;
        self.busy = busy.len();
        self.marked = Some(done);
        Ok(())
    }
}

/// 1 for every tile of a list.
fn flags_of(tiles: &[u32], count: usize) -> Vec<u8> {
    let mut flags = vec![0; count];
    for tile in tiles {
        flags[*tile as usize] = 1;
    }
    flags
}

/// The tiles for a run's grid and medium.
///
/// # Errors
/// Why there are none, in words for people.
pub(super) fn fitting<T: OnCuda>(run: &Cuda<T>) -> Result<Tiles<T>, String> {
    let lattice = &run.host.sweep.lattice;
    if lattice.rank != 2 {
        return Err("tiles lie in two dimensions".to_owned());
    }
    let strips = sources::TILES
        .iter()
        .find(|strips| strips.precision == T::PRECISION && strips.half == lattice.half)
        .ok_or("there are no tiles of this order")?;
    let most = run.choice.tower.unwrap_or(strips.steps);
    if most < strips.steps {
        return Err(format!(
            "tower = {most}: tiles of order {} take {} steps at a time",
            2 * lattice.half,
            strips.steps
        ));
    }
    let listed = ["listed_1", "listed_2", "listed_3", "listed_4"];
    Tiles::new(
        &run.stream,
        lattice,
        run.pitch,
        run.medium.special_segments(false),
        (strips, listed),
    )
    .map_err(|error| error.to_string())?
}

impl<T: OnCuda> Cuda<T> {
    /// A pass of tiles, if there are as many as `most` steps left; its first step is step `n` of the batch. Returns how many it took.
    pub(super) fn tiled(&mut self, n: usize, most: usize) -> Result<usize, CudaError> {
        let Some(mut tiles) = self.tiles.take() else {
            return Ok(0);
        };
        let taken = self.tiled_by(&mut tiles, n, most);
        self.tiles = Some(tiles);
        taken
    }

    #[allow(unsafe_code, reason = "kernel launches")]
    fn tiled_by(&mut self, tiles: &mut Tiles<T>, n: usize, most: usize) -> Result<usize, CudaError> {
        let steps = tiles.strips.steps;
        if most < steps || self.peak.is_some() {
            return Ok(0);
        }
        if self.potential.is_some() {
            // A picture under way may read it.
            self.readback.before_any_writing(&self.stream)?;
        }
        for level in &tiles.spare {
            self.readback.before_writing(&self.stream, level.address())?;
        }
        let [newer, older] = tiles.spare.each_ref().map(Buffer::address);
        if let Some((list, count)) = &tiles.alone {
            let (list, count) = (list.address(), *count);
            let [now, old] = [self.now.address(), self.old.address()];
            let blocks = (u32::try_from(count.div_ceil(8)).unwrap_or(u32::MAX).min(32768), 1, 1);
            let number = whole(count);
            // SAFETY: the list holds segments of the grid; all four levels hold `pitch` × ny numbers.
            unsafe {
                self.stream.launch(&tiles.carry, blocks, 256, |launch| {
                    launch
                        .arg(&list)
                        .arg(&number)
                        .arg(&now)
                        .arg(&old)
                        .arg(&newer)
                        .arg(&older);
                })?;
            }
            for step in 0..steps {
                let mut parameters = self.step_parameters();
                (parameters.now, parameters.old) = if step % 2 == 0 { (newer, older) } else { (older, newer) };
                // SAFETY: as above; the parameters are those of a step.
                unsafe {
                    self.stream.launch(&tiles.listed, blocks, 256, |launch| {
                        launch.arg(&parameters).arg(&list).arg(&number);
                    })?;
                }
                if tiles.busy_alone {
                    self.operate(parameters.old, n + step)?;
                }
                self.integrate_alone(tiles, parameters.old, blocks)?;
            }
        }
        let count = tiles.count;
        if count > 0 {
            let kernel = match (&self.potential, tiles.busy) {
                (Some(_), _) => &tiles.integrating,
                (None, 0) => &tiles.quiet,
                (None, _) => &tiles.operating,
            };
            let parameters = params::Tiles {
                step: self.step_parameters(),
                newer,
                older,
                potential: self.potential.as_ref().map_or(0, Buffer::address),
                sites: self.events.parameters(),
                rows: tiles.rows.address(),
                images: tiles.images.address(),
                list: tiles.list.address(),
                count: whole(count),
                across: whole(tiles.cut.tiles[0]),
                chunk: whole(tiles.cut.chunk),
                part: whole(tiles.part),
                margin: whole(tiles.margin),
                step_of_batch: whole(n),
                time_step: T::of(self.host.time_step),
            };
            let blocks = u32::try_from(count.div_ceil(WARPS)).unwrap_or(u32::MAX);
            // SAFETY: the parameters are those of the kernel; the list holds tiles of the grid, the images reach as far as tiles do, and the
            // operations hold every step of the batch.
            unsafe {
                self.stream.launch(kernel, (blocks, 1, 1), THREADS, |launch| {
                    launch.arg(&parameters);
                })?;
            }
        }
        let [newer, older] = &mut tiles.spare;
        std::mem::swap(&mut self.now, newer);
        std::mem::swap(&mut self.old, older);
        Ok(steps)
    }
}

impl<T: OnCuda> Cuda<T> {
    /// Adds a level to the integral of the pressure where tiles do not.
    #[allow(unsafe_code, reason = "a kernel launch")]
    fn integrate_alone(&self, tiles: &Tiles<T>, level: u64, blocks: (u32, u32, u32)) -> Result<(), CudaError> {
        let (Some(potential), Some((list, count))) = (&self.potential, &tiles.alone) else {
            return Ok(());
        };
        let (potential, list, flags) = (potential.address(), list.address(), tiles.flags.address());
        let step = T::of(self.host.time_step);
        let [count, pitch, nx] = [*count, self.pitch, self.host.sweep.lattice.size[0]].map(whole);
        let [own, chunk, across] = [tiles.cut.own, tiles.cut.chunk, tiles.cut.tiles[0]].map(whole);
        // SAFETY: the arguments are those of the kernel; both planes hold `pitch` × ny numbers, the list segments of the grid, and there is a flag for every tile.
        unsafe {
            self.stream
                .launch(&self.kernels.potentials_listed, blocks, 256, |launch| {
                    launch.arg(&level).arg(&potential).arg(&step).arg(&list).arg(&count);
                    launch
                        .arg(&pitch)
                        .arg(&nx)
                        .arg(&flags)
                        .arg(&own)
                        .arg(&chunk)
                        .arg(&across);
                })
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail where it stands")]
mod tests {
    use super::*;
    use crate::field::Precision;

    fn strips(half: usize, precision: Precision) -> &'static Strips {
        sources::TILES
            .iter()
            .find(|strips| strips.half == half && strips.precision == precision)
            .unwrap()
    }

    #[test]
    fn every_site_belongs_to_one_tile() {
        for precision in [Precision::Single, Precision::Double] {
            for half in 1..=4 {
                let strips = strips(half, precision);
                assert_eq!(strips.steps % 2, 0, "levels would change places");
                assert_eq!(strips.half * strips.steps % strips.columns, 0);
                for size in [[1, 1], [52, 38], [700, 3], [4096, 4096], [113, 20_000]] {
                    for most_rows in [MOST_ROWS, size[1]] {
                        let cut = Cut::new(size, strips, 132 * 12, most_rows);
                        assert!(cut.tiles[0] * cut.own >= size[0] && (cut.tiles[0] - 1) * cut.own < size[0]);
                        assert!(cut.tiles[1] * cut.chunk >= size[1] && (cut.tiles[1] - 1) * cut.chunk < size[1]);
                        assert!(cut.chunk <= most_rows.max(1));
                    }
                }
            }
        }
    }

    /// Every tile that reads a site in a pass is marked, and one far away is not.
    #[test]
    fn tiles_around_an_operation_are_marked() {
        let strips = strips(1, Precision::Single);
        let size = [1500, 700];
        let cut = Cut::new(size, strips, 1000, MOST_ROWS);
        let mut grid = crate::grid::Grid::new(&size, 1.0);
        for edge in [
            crate::grid::Edge::Wall,
            crate::grid::Edge::Soft,
            crate::grid::Edge::Periodic,
        ] {
            grid = grid.with_edges([edge; 3], 0);
            let lattice = Lattice::new(&grid, 1);
            let images: Vec<Vec<i32>> = [0, 1].map(|axis| images(&lattice, axis, cut.halo)).into();
            for site in [[0, 0], [3, 350], [700, 2], [1499, 699], [1492, 690], [640, 320]] {
                let mut marked = vec![false; cut.count()];
                cut.mark_around(&mut marked, site, size, 3);
                for (tile, marked) in marked.iter().enumerate() {
                    let start = [tile % cut.tiles[0] * cut.own, tile / cut.tiles[0] * cut.chunk];
                    let width = [cut.own, cut.chunk];
                    let reads = (0..2).all(|axis| {
                        let end = (start[axis] + width[axis] + 2 * cut.halo).min(images[axis].len());
                        let all = &images[axis][start[axis]..end];
                        all.iter()
                            .any(|image| image & 3 != 1 && image >> 2 == whole(site[axis]))
                    });
                    assert!(*marked || !reads, "{edge:?} {site:?} {tile}");
                }
                assert!(marked.contains(&false));
            }
        }
    }

    #[test]
    fn what_is_not_plain_is_stepped_with_all_around_it() {
        let strips = strips(1, Precision::Single);
        let cut = Cut::new([1000, 300], strips, 1000, MOST_ROWS);
        let (across, ny, pitch) = (32, 300, 1024);
        let mut special = vec![false; across * ny];
        special[150 * across + 11] = true;
        let grid = crate::grid::Grid::new(&[1000, 300], 1.0);
        let lattice = Lattice::new(&grid, 1);
        let (plain, alone) = divide(&cut, &lattice, pitch, &special);
        for tile in 0..cut.count() {
            let [segments, rows] = cut.extent(tile, [across, ny], cut.halo);
            let is_near = segments.contains(&11) && rows.contains(&150);
            assert_eq!(plain.contains(&u32::try_from(tile).unwrap()), !is_near);
            if is_near {
                let all = rows.flat_map(|row| segments.clone().map(move |segment| row * across + segment));
                assert!(all.into_iter().all(|n| alone[n]));
            }
        }
        let (plain, alone) = divide(&cut, &lattice, pitch, &[]);
        assert_eq!((plain.len(), alone.len()), (cut.count(), 0));
    }
}
