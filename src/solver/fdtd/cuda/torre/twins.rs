//! What absorbing layers remember while towers go: a copy for each site that a layer touches (`Twins` of `kernels/fdtd_towers.cuh`).
//!
//! ψ of a face follows from the pressure of the two sites beside it. At order 2 a site therefore knows all that it needs for the memories of both its faces,
//! and, with a copy of its own, asks nothing of the order in which other sites are stepped: towers lean no more than without layers. 12 B a site of a
//! layer and axis in single precision, read and written each step.

use super::super::super::cpml::{Layer, Shape};
use super::super::params::{self, whole};
use crate::backend::cuda::{Buffer, CudaError, Kernel, PushKernelArg, Queue, Source};
use crate::grid::{Edge, Grid};
use crate::solver::device::OnCuda;
use crate::solver::device::rows::list;

/// The sites of one axis that its layers touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reach {
    axis: usize,
    /// Sites of the low end.
    low: usize,
    /// First site of the high end.
    start: usize,
    sites: usize,
}

impl Reach {
    fn slots(self) -> usize {
        self.low + self.sites - self.start
    }

    /// For layers of `width` sites: one site more at each end reads a face of theirs. Along x four sites at a time are read.
    fn new(axis: usize, width: usize, sites: usize) -> Option<Self> {
        let (low, start) = (width + 1, sites.checked_sub(width + 1)?);
        let (low, start) = if axis == 0 {
            (low.next_multiple_of(4), start / 4 * 4)
        } else {
            (low, start)
        };
        (low <= start).then_some(Self {
            axis,
            low,
            start,
            sites,
        })
    }
}

/// Why layers cannot be taken along; `None` where they can.
pub(super) fn objection(grid: &Grid) -> Option<String> {
    let mut absorbing = (0..grid.rank()).filter(|axis| grid.edges()[*axis] == Edge::Absorb);
    let meet = absorbing.any(|axis| Reach::new(axis, grid.absorb_width(), grid.size()[axis]).is_none());
    meet.then(|| {
        format!(
            "towers want {} sites at least between absorbing edges of {}",
            2 * grid.absorb_width() + 9,
            grid.absorb_width()
        )
    })
}

/// A and B of the faces below and above each site of the reach, and of the site, `slots` numbers each; 0 where there is no face or the site is in no layer.
fn profile<T: OnCuda>(reach: Reach, shape: &Shape<T>) -> Vec<T> {
    let sites = (0..reach.low).chain(reach.start..reach.sites);
    let pairs: Vec<[[T; 2]; 3]> = sites
        .map(|at| {
            let face = |at: usize| shape.face_slot(at).map(|slot| shape.face(slot));
            let own = shape.cell_slot(at).map(|slot| shape.cell(slot));
            [at.checked_sub(1).and_then(face), face(at), own].map(|pair| pair.unwrap_or([T::zero(); 2]))
        })
        .collect();
    let plane = |n: usize| pairs.iter().map(move |pairs| pairs[n / 2][n % 2]);
    (0..6).flat_map(plane).collect()
}

/// The copies, and the kernels that make them and give them back.
pub(super) struct Twins<T: OnCuda> {
    axes: Vec<Axis<T>>,
    lend: Kernel,
    take_back: Kernel,
}

/// Those of one axis.
struct Axis<T: OnCuda> {
    reach: Reach,
    /// ψ of the face below, ψ of that above, ζ.
    planes: [Buffer<T>; 3],
    profile: Buffer<T>,
}

impl<T: OnCuda> Twins<T> {
    /// For layers that [`objection`] lets pass, on a grid of `size` sites whose rows are `pitch` numbers apart.
    ///
    /// # Errors
    /// If there is no room.
    pub(super) fn new(
        queue: &Queue,
        source: Source,
        layers: &[Layer<T>],
        size: [usize; 3],
        pitch: usize,
    ) -> Result<Self, CudaError> {
        let what = "the absorbing layers' copies";
        let mut axes = Vec::new();
        for layer in layers {
            let (axis, width) = (layer.shape.axis, layer.shape.slots() / 2);
            let Some(reach) = Reach::new(axis, width, size[axis]) else {
                continue;
            };
            let mut extent = [pitch, size[1], size[2]];
            extent[axis] = reach.slots();
            let plane = || queue.zeros(what, extent.iter().product());
            axes.push(Axis {
                reach,
                planes: [plane()?, plane()?, plane()?],
                profile: list(queue, what, &profile(reach, &layer.shape))?,
            });
        }
        Ok(Self {
            axes,
            lend: queue.kernel(source, "lend_memories", 0)?,
            take_back: queue.kernel(source, "take_back_memories", 0)?,
        })
    }

    pub(super) fn bytes(&self) -> usize {
        self.axes.iter().flat_map(|axis| &axis.planes).map(Buffer::bytes).sum()
    }

    /// As the kernels take them.
    pub(super) fn parameters(&self) -> [params::Twins; 3] {
        let mut all = [params::Twins::default(); 3];
        for Axis { reach, planes, profile } in &self.axes {
            let [lower, upper, zeta] = planes;
            all[reach.axis] = params::Twins {
                lower: lower.address(),
                upper: upper.address(),
                zeta: zeta.address(),
                profile: profile.address(),
                low: whole(reach.low),
                start: whole(reach.start),
                slots: whole(reach.slots()),
            };
        }
        all
    }

    /// Makes the copies before a pass, or gives back after it what they became.
    #[allow(unsafe_code, reason = "kernel launches")]
    pub(super) fn exchange(&self, queue: &Queue, parameters: &params::Torre<T>, back: bool) -> Result<(), CudaError> {
        let kernel = if back { &self.take_back } else { &self.lend };
        for Axis { reach, planes, .. } in &self.axes {
            let axis = whole(reach.axis);
            let sites = planes[0].bytes() / size_of::<T>();
            let blocks = u32::try_from(sites.div_ceil(256)).unwrap_or(u32::MAX).min(8192);
            // SAFETY: the parameters are those of the kernel; the planes hold a number for each site of the reach, rows in pitches.
            unsafe {
                queue.launch(kernel, (blocks, 1, 1), 256, |launch| {
                    launch.arg(parameters).arg(&axis);
                })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reaches_hold_every_site_that_a_layer_touches() {
        for (axis, width, sites) in [(0, 12, 400), (0, 11, 64), (1, 20, 64), (2, 3, 9)] {
            let reach = Reach::new(axis, width, sites).unwrap();
            for at in 0..sites {
                let touched = at <= width || at + width + 1 >= sites;
                let held = at < reach.low || at >= reach.start;
                assert!(held || !touched, "{reach:?}: {at}");
                let slot = if at < reach.low {
                    at
                } else {
                    reach.low + at - reach.start.min(at)
                };
                assert!(!held || slot < reach.slots());
            }
        }
        assert_eq!(Reach::new(1, 20, 41), None);
        assert_eq!(Reach::new(0, 20, 44), None);
    }
}
