//! Sites of a plane with operations between steps: sources kick, transducers record or drive, detectors read (`kernels/oscillators_visits.cuh`).
//!
//! A launch steps the whole plane without operations; a second one steps the surroundings of such sites again, from the same state, with the operations. It is cut into short pieces, so
//! that it takes little of the time of the first.

use super::params;
use super::sources::Shape;
use crate::backend::cuda::{Buffer, CudaError, Stream};
use crate::solver::device::OnCuda;
use crate::solver::device::events::SiteEvents;
use crate::solver::device::rows::grow;
use crate::solver::device::transducers::DeviceTransducers;
use crate::solver::device::whole;

/// Pairs of rows of a piece.
pub(super) const CHUNK: u32 = 4;

/// What there is at a site, as `kernels/oscillators_visits.cuh` numbers it.
const KICKED: u8 = 1;
const GATHERED: u8 = 2;
const TOUCHED: u8 = 4;

/// The extent of the plane, for pieces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub size: [usize; 2],
    pub pitch: usize,
    pub periodic: [bool; 2],
}

/// The data of the sites on the device.
pub(super) struct Visits {
    /// Places, ascending, with what there is.
    known: Vec<(u32, u8)>,
    rows: Buffer<i32>,
    marks: Buffer<u8>,
    /// Transducers by ascending place, and their numbers.
    touched: Buffer<u32>,
    numbers: Buffer<u32>,
    /// For each shape: steps of a launch, pieces.
    pieces: Vec<(usize, Buffer<i32>, usize)>,
    /// Of the batch.
    batch: params::Visits,
}

impl Visits {
    /// Without sites.
    pub(super) fn new(stream: &Stream) -> Result<Self, CudaError> {
        const WHAT: &str = "operations on sites";
        Ok(Self {
            known: Vec::new(),
            rows: stream.zeros(WHAT, 1)?,
            marks: stream.zeros(WHAT, 1)?,
            touched: stream.zeros(WHAT, 1)?,
            numbers: stream.zeros(WHAT, 1)?,
            pieces: Vec::new(),
            batch: params::Visits::default(),
        })
    }

    /// Bytes on the device.
    pub(super) fn bytes(&self) -> usize {
        let pieces: usize = self.pieces.iter().map(|(_, list, _)| list.bytes()).sum();
        self.rows.bytes() + self.marks.bytes() + self.touched.bytes() + self.numbers.bytes() + pieces
    }

    /// Takes over a batch of `steps` steps; `kicked`: ascending places of sources.
    pub(super) fn load<T: OnCuda>(
        &mut self,
        stream: &Stream,
        plane: Extent,
        shapes: impl Iterator<Item = Shape>,
        (kicked, events, transducers): (&[u32], &SiteEvents<T>, &DeviceTransducers<T>),
        steps: usize,
    ) -> Result<(), CudaError> {
        const WHAT: &str = "operations on sites";
        let (touched, acts) = transducers.places();
        let known = marked(kicked, events.gathers(), touched);
        if self.known != known {
            let mut order: Vec<u32> = (0_u32..).take(touched.len()).collect();
            order.sort_by_key(|n| touched[*n as usize]);
            let places: Vec<u32> = order.iter().map(|n| touched[*n as usize]).collect();
            let (rows, marks) = rows_of(&known, plane);
            upload(stream, WHAT, &mut self.touched, &places)?;
            upload(stream, WHAT, &mut self.numbers, &order)?;
            upload(stream, WHAT, &mut self.rows, &rows)?;
            upload(stream, WHAT, &mut self.marks, &marks)?;
            self.pieces.clear();
            for shape in shapes {
                let list = pieces(&known, plane, (shape.core(), shape.steps));
                let mut buffer = stream.zeros(WHAT, 1)?;
                upload(stream, WHAT, &mut buffer, &list)?;
                self.pieces.push((shape.steps, buffer, list.len() / 2));
            }
            self.known = known;
        }
        let mut touch = transducers.after(0).unwrap_or_default();
        touch.places = self.touched.address();
        self.batch = params::Visits {
            sites: events.parameters(),
            touch,
            numbers: self.numbers.address(),
            rows: self.rows.address(),
            marks: self.marks.address(),
            steps: whole(steps),
            touched: whole(acts),
            ..params::Visits::default()
        };
        Ok(())
    }

    /// Arguments of a launch of so many sub-steps, in which step `step` of the batch ends first; nothing where there are no sites.
    pub(super) fn launch(&self, substeps: usize, step: usize) -> Option<params::Visits> {
        let (_, list, count) = self.pieces.iter().find(|(steps, ..)| *steps == substeps)?;
        (*count > 0).then(|| params::Visits {
            pieces: list.address(),
            count: whole(*count),
            step: whole(step),
            ..self.batch
        })
    }
}

fn upload<V: crate::backend::cuda::Kind>(
    stream: &Stream,
    what: &'static str,
    to: &mut Buffer<V>,
    values: &[V],
) -> Result<(), CudaError> {
    if values.is_empty() {
        return Ok(());
    }
    grow(stream, what, to, values.len())?;
    stream.upload(what, values, to)
}

/// Places, ascending, with what there is.
fn marked(kicked: &[u32], gathered: &[u32], touched: &[u32]) -> Vec<(u32, u8)> {
    let mut all: Vec<(u32, u8)> = Vec::with_capacity(kicked.len() + gathered.len() + touched.len());
    for (places, mark) in [(kicked, KICKED), (gathered, GATHERED), (touched, TOUCHED)] {
        all.extend(places.iter().map(|place| (*place, mark)));
    }
    all.sort_unstable();
    all.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        kept.1 |= if same { next.1 } else { 0 };
        same
    });
    all
}

/// For each row of the plane its row of marks, and these.
fn rows_of(known: &[(u32, u8)], plane: Extent) -> (Vec<i32>, Vec<u8>) {
    let (mut rows, mut marks) = (vec![-1; plane.size[1]], Vec::new());
    for (place, mark) in known {
        let (x, y) = (*place as usize % plane.pitch, *place as usize / plane.pitch);
        if rows[y] < 0 {
            rows[y] = whole(marks.len() / plane.pitch);
            marks.resize(marks.len() + plane.pitch, 0);
        }
        marks[rows[y].unsigned_abs() as usize * plane.pitch + x] = *mark;
    }
    (rows, marks)
}

/// Strip and first pair of rows of every piece within reach of a site; a sub-step moves by two sites.
fn pieces(known: &[(u32, u8)], plane: Extent, (core, substeps): (usize, usize)) -> Vec<i32> {
    let [nx, ny] = plane.size;
    let (pairs, chunk) = (ny.div_ceil(2), CHUNK as usize);
    let (strips, chunks) = (nx.div_ceil(core), pairs.div_ceil(chunk));
    let mut reached = vec![false; strips * chunks];
    for (place, _) in known {
        let (x, y) = (*place as usize % plane.pitch, *place as usize / plane.pitch);
        for pair in around(y / 2, substeps, pairs, plane.periodic[1]) {
            for column in around(x, 2 * substeps, nx, plane.periodic[0]) {
                reached[pair / chunk * strips + column / core] = true;
            }
        }
    }
    let all = reached.iter().enumerate().filter(|(_, reached)| **reached);
    all.flat_map(|(n, _)| [whole(n % strips), whole(n / strips * chunk)])
        .collect()
}

/// Numbers of `0..count` at most `by` away from one of them, around a ring or not.
fn around(at: usize, by: usize, count: usize, ring: bool) -> impl Iterator<Item = usize> {
    let (from, to) = if ring {
        (at + count.saturating_sub(by.min(count)), at + count + by.min(count))
    } else {
        (at.saturating_sub(by), (at + by).min(count - 1))
    };
    (from..=to).map(move |n| n % count)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLANE: Extent = Extent {
        size: [500, 40],
        pitch: 512,
        periodic: [false, false],
    };

    #[test]
    fn sites_know_all_that_happens_there() {
        let known = marked(&[3, 700], &[3, 9], &[9, 3, 800]);
        assert_eq!(
            known,
            [
                (3, KICKED | GATHERED | TOUCHED),
                (9, GATHERED | TOUCHED),
                (700, KICKED),
                (800, TOUCHED)
            ]
        );
        let (rows, marks) = rows_of(&known, PLANE);
        assert_eq!(rows[..3], [0, 1, -1]);
        assert_eq!(marks.len(), 2 * 512);
        assert_eq!(
            (marks[3], marks[9], marks[512 + 188], marks[512 + 288]),
            (7, 6, KICKED, TOUCHED)
        );
    }

    /// Every site that an event reaches within a launch lies in a piece, around rings too.
    #[test]
    fn pieces_hold_what_is_within_reach() {
        let place = |x: usize, y: usize| u32::try_from(y * 512 + x).unwrap_or(0);
        // Two sub-steps: 4 columns and 2 pairs; strips of 120 columns.
        let list = pieces(&[(place(118, 20), KICKED)], PLANE, (120, 2));
        assert_eq!(list, [0, 8, 1, 8, 0, 12, 1, 12]);
        let list = pieces(&[(place(60, 0), KICKED)], PLANE, (120, 2));
        assert_eq!(list, [0, 0]);
        let ring = Extent {
            periodic: [true, true],
            ..PLANE
        };
        let list = pieces(&[(place(1, 0), KICKED)], ring, (120, 2));
        assert_eq!(list, [0, 0, 4, 0, 0, 16, 4, 16]);
        // A ring that a launch goes round reaches every site once or more.
        let small = Extent {
            size: [6, 4],
            pitch: 16,
            periodic: [true, true],
        };
        assert_eq!(pieces(&[(17, GATHERED)], small, (120, 4)), [0, 0]);
    }
}
