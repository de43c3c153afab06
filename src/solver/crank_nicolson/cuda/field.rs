//! ψ on the device: sums over regions, pictures, its weight (`kernels/crank_nicolson.cuh`). Interleaved, x fastest.

use super::params;
use crate::backend::cuda::{Buffer, CudaError, Kernel, Piece, Pieces, Source, Stream};
use crate::field::FieldData;
use crate::grid::Grid;
use crate::physics::StateSums;
use crate::solver::crank_nicolson::propagator::KEPT;
use crate::solver::device::OnCuda;
use crate::solver::device::rows::grow;
use crate::solver::device::state::{DeviceState, Psi};
use crate::solver::device::{texels, unsigned, whole};
use crate::solver::totals::{Region, Totals};
use crate::solver::{FieldImage, ImageRequest};
use num_complex::Complex;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Blocks that sum weights.
const WEIGHERS: u32 = 528;
/// Blocks that sum over regions: at most so many a region, and altogether.
const BLOCKS: usize = 256;
const PARTS: usize = 16384;
/// Numbers of `measure_total`: norm, energy, x, xx, y, yy, peak, current.
const SUMS: usize = 8;

struct Kernels {
    drive: Kernel,
    weigh: Kernel,
    rescale: Kernel,
    hold_density: Kernel,
    damp: Kernel,
    measure: Kernel,
    measure_total: Kernel,
    picture: Kernel,
}

/// The diagonal of H for the energies of sums.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Energies {
    /// Planes of the diagonal of H, 0 for none.
    pub still: u64,
    pub driven: u64,
    /// The part that is the same at all sites.
    pub diagonal: f64,
    pub hopping: f64,
    pub interaction: f64,
}

/// ψ, and sums and pictures of it.
pub(super) struct Field<T: OnCuda> {
    pub stream: Stream,
    pub psi: Buffer<T>,
    grid: Grid,
    kernels: Kernels,
    weights: Buffer<f64>,
    /// |ψ|² at the start of a step, where it is held.
    density: Option<Buffer<T>>,
    /// What is summed now.
    regions: Vec<Region>,
    /// Six numbers each: lo, hi, axis of the current or −1, whether energies are wanted.
    region_list: Buffer<i32>,
    parts: Buffer<f64>,
    kept: Buffer<f64>,
    value: Option<Buffer<f32>>,
    phase: Option<Buffer<f32>>,
    /// ψ as it was when it was looked at last.
    host: Vec<T>,
    /// Whether that is what the device has.
    fetched: bool,
    /// What sums over a whole state need, once they were asked for.
    state: Option<DeviceState<T>>,
}

impl<T: OnCuda> Field<T> {
    /// ψ = 0 with room for `room` sites; the kernels are those of a module.
    pub(super) fn new(stream: Stream, grid: &Grid, room: usize, source: Source) -> Result<Self, CudaError> {
        let kernel = |entry| stream.kernel(source, entry, 0);
        let kernels = Kernels {
            drive: kernel("drive")?,
            weigh: kernel("weigh")?,
            rescale: kernel("rescale")?,
            hold_density: kernel("hold_density")?,
            damp: kernel("damp")?,
            measure: kernel("measure")?,
            measure_total: kernel("measure_total")?,
            picture: kernel("picture")?,
        };
        Ok(Self {
            kernels,
            psi: stream.zeros("the field", 2 * room)?,
            weights: stream.zeros("sums", WEIGHERS as usize)?,
            density: None,
            regions: Vec::new(),
            region_list: stream.zeros("regions", 1)?,
            parts: stream.zeros("sums", PARTS * SUMS)?,
            kept: stream.zeros("records", KEPT * SUMS)?,
            value: None,
            phase: None,
            host: vec![T::zero(); 2 * grid.sites()],
            fetched: true,
            state: None,
            grid: grid.clone(),
            stream,
        })
    }

    /// Bytes on the device.
    pub(super) fn bytes(&self) -> usize {
        self.psi.bytes()
            + self.parts.bytes()
            + self.kept.bytes()
            + self.density.as_ref().map_or(0, Buffer::bytes)
            + self.state.as_ref().map_or(0, DeviceState::bytes)
    }

    /// The sums over ψ against `start`; `None` where lines are too long for the device, or it has not enough memory for them.
    pub(super) fn state_sums(&mut self, start: &Arc<FieldData>, whole: bool) -> Result<Option<StateSums>, CudaError> {
        if !DeviceState::<T>::reaches(&self.stream, &self.grid, whole) {
            return Ok(None);
        }
        let found = self.sums_of_state(start, whole);
        if matches!(found, Err(CudaError::OutOfMemory { .. })) {
            self.state = None;
            return Ok(None);
        }
        found.map(Some)
    }

    fn sums_of_state(&mut self, start: &Arc<FieldData>, whole: bool) -> Result<StateSums, CudaError> {
        let state = match &mut self.state {
            Some(state) => state,
            none => none.insert(DeviceState::new(&self.stream, &self.grid)?),
        };
        let psi = Psi::interleaved(&self.psi, &self.grid);
        state.sums(&self.stream, psi, start, whole)
    }

    /// Notes that ψ has changed.
    pub(super) fn changed(&mut self) {
        self.fetched = false;
    }

    /// Copies the present ψ to the host for [`Self::read`].
    pub(super) fn fetch(&mut self) -> Result<(), CudaError> {
        if !self.fetched {
            self.stream.download("the field", &self.psi, &mut self.host)?;
            self.fetched = true;
        }
        Ok(())
    }

    /// Sites from `first` on.
    pub(super) fn read(&self, first: usize, out: &mut [Complex<T>]) {
        for (out, parts) in out.iter_mut().zip(self.host[2 * first..].chunks_exact(2)) {
            *out = Complex::new(parts[0], parts[1]);
        }
    }

    /// Changes the fetched ψ, and copies it back to the device; walls become zero.
    pub(super) fn change(
        &mut self,
        is_wall: impl Fn(usize) -> bool + Sync,
        change: &(dyn Fn(usize, &mut Complex<T>) + Sync),
    ) -> Result<(), CudaError> {
        self.host.par_chunks_exact_mut(2).enumerate().for_each(|(site, psi)| {
            let mut value = Complex::new(psi[0], psi[1]);
            if is_wall(site) {
                value = Complex::default();
            } else {
                change(site, &mut value);
            }
            (psi[0], psi[1]) = (value.re, value.im);
        });
        self.stream.upload("the field", &self.host, &self.psi)
    }

    /// The pieces of some sites, which the caller may overwrite.
    #[allow(unsafe_code, reason = "the addresses of a buffer")]
    pub(super) fn pieces(&mut self, sites: Range<usize>) -> Pieces {
        self.fetched = false;
        let site = 2 * size_of::<T>();
        debug_assert!(self.psi.bytes() >= sites.end * site, "sites {sites:?}");
        let piece = Piece {
            address: self.psi.address() + (sites.start * site) as u64,
            bytes: sites.len() * site,
        };
        // SAFETY: the sites lie in ψ, which lives as long as the run and is written in its stream.
        unsafe { Pieces::new(&self.stream, vec![piece]) }
    }

    /// Scales ψ to Σ|ψ|² = `weight`.
    #[allow(unsafe_code, reason = "a kernel launch")]
    pub(super) fn rescale(&mut self, weight: f64) -> Result<(), CudaError> {
        let (psi, parts) = (self.psi.address(), self.weights.address());
        let sites = unsigned(self.grid.sites());
        debug_assert!(
            self.psi.bytes() >= 2 * self.grid.sites() * size_of::<T>(),
            "ψ of {sites} sites"
        );
        // SAFETY: the parameters are those of the kernel; ψ has `sites` numbers and `parts` one a block.
        unsafe {
            self.stream
                .launch(&self.kernels.weigh, (WEIGHERS, 1, 1), 256, |launch| {
                    launch.arg(&psi).arg(&sites).arg(&parts);
                })?;
        }
        self.scale(WEIGHERS, weight)
    }

    /// Scales ψ to Σ|ψ|² = `weight`, together with that of other windows, where it is `now`.
    pub(super) fn rescale_from(&mut self, now: f64, weight: f64) -> Result<(), CudaError> {
        self.stream.upload("sums", &[now], &self.weights)?;
        self.scale(1, weight)
    }

    /// Scales ψ by the root of `weight` over the sum of the first `count` sums.
    #[allow(unsafe_code, reason = "a kernel launch")]
    fn scale(&mut self, count: u32, weight: f64) -> Result<(), CudaError> {
        let (psi, parts) = (self.psi.address(), self.weights.address());
        let (sites, count) = (unsigned(self.grid.sites()), count.cast_signed());
        self.fetched = false;
        debug_assert!(count <= WEIGHERS.cast_signed(), "{count} sums");
        // SAFETY: the parameters are those of the kernel; ψ has `sites` numbers, and there are as many sums.
        unsafe {
            self.stream
                .launch(&self.kernels.rescale, (WEIGHERS, 1, 1), 256, |launch| {
                    launch.arg(&psi).arg(&sites).arg(&parts).arg(&count).arg(&weight);
                })
        }
    }

    /// Keeps |ψ|² for [`Self::damp`].
    #[allow(unsafe_code, reason = "a kernel launch")]
    pub(super) fn hold_density(&mut self) -> Result<(), CudaError> {
        let density = match &self.density {
            Some(density) => density.address(),
            None => self
                .density
                .insert(self.stream.zeros("the density", self.grid.sites())?)
                .address(),
        };
        let psi = self.psi.address();
        let sites = unsigned(self.grid.sites());
        debug_assert!(
            self.psi.bytes() >= 2 * self.grid.sites() * size_of::<T>(),
            "ψ of {sites} sites"
        );
        // SAFETY: the arguments are those of the kernel; ψ and the density have `sites` numbers.
        unsafe {
            self.stream
                .launch(&self.kernels.hold_density, (sites.div_ceil(256), 1, 1), 256, |launch| {
                    launch.arg(&psi).arg(&density).arg(&sites);
                })
        }
    }

    /// ψ times e^{−strength · density} with the density held last.
    #[allow(unsafe_code, reason = "a kernel launch")]
    pub(super) fn damp(&mut self, strength: f64) -> Result<(), CudaError> {
        let Some(density) = self.density.as_ref().map(Buffer::address) else {
            return Ok(());
        };
        let (psi, strength) = (self.psi.address(), T::of(strength));
        let sites = unsigned(self.grid.sites());
        self.fetched = false;
        // SAFETY: the arguments are those of the kernel; ψ and the density have `sites` numbers.
        unsafe {
            self.stream
                .launch(&self.kernels.damp, (sites.div_ceil(256), 1, 1), 256, |launch| {
                    launch.arg(&psi).arg(&density).arg(&strength).arg(&sites);
                })
        }
    }

    /// Adds `by` times what drives add to the plane at `from`, into the one at `to`; each of `rows` numbers.
    #[allow(unsafe_code, reason = "a kernel launch")]
    pub(super) fn drive(
        &self,
        to: u64,
        mut from: u64,
        parts: &[Buffer<T>],
        by: &[f64],
        rows: usize,
    ) -> Result<(), CudaError> {
        let rows = unsigned(rows);
        for (part, by) in parts.iter().zip(by) {
            debug_assert!(part.bytes() >= rows as usize * size_of::<T>(), "a drive of {rows} rows");
            let (part, by) = (part.address(), T::of(*by));
            // SAFETY: the parameters are those of the kernel; all three planes have `rows` numbers.
            unsafe {
                self.stream
                    .launch(&self.kernels.drive, (rows.div_ceil(256), 1, 1), 256, |launch| {
                        launch.arg(&to).arg(&from).arg(&part).arg(&by).arg(&rows);
                    })?;
            }
            from = to;
        }
        Ok(())
    }

    /// Sums over regions, none of them empty, kept from `place` on.
    #[allow(unsafe_code, reason = "kernel launches")]
    pub(super) fn keep_totals(
        &mut self,
        regions: &[Region],
        energies: Energies,
        place: usize,
    ) -> Result<(), CudaError> {
        if regions.is_empty() {
            return Ok(());
        }
        if place + regions.len() > KEPT {
            return Err(CudaError::Call {
                what: "keeping a record".into(),
                message: format!("places up to {} of {KEPT}", place + regions.len()),
            });
        }
        if self.regions != regions {
            self.load(regions)?;
        }
        let [nx, ny, _] = self.grid.size();
        let most = regions
            .iter()
            .map(|region| (region.hi[0] - region.lo[0]) * (region.hi[1] - region.lo[1]))
            .max();
        let blocks = most
            .unwrap_or(1)
            .div_ceil(1024)
            .clamp(1, BLOCKS.min(PARTS / regions.len()));
        let look = params::Look {
            psi: self.psi.address(),
            still: energies.still,
            driven: energies.driven,
            regions: self.region_list.address(),
            parts: self.parts.address(),
            size: [whole(nx), whole(ny)],
            periodic: [0, 1].map(|axis| i32::from(axis < self.grid.rank() && self.grid.is_periodic(axis))),
            diagonal: energies.diagonal,
            hopping: energies.hopping,
            interaction: energies.interaction,
        };
        let (parts, count) = (self.parts.address(), whole(blocks));
        debug_assert!(
            self.parts.bytes() >= blocks * SUMS * size_of::<f64>(),
            "sums of {blocks} blocks"
        );
        debug_assert!(
            self.kept.bytes() >= (place + regions.len()) * SUMS * size_of::<f64>(),
            "record {place}"
        );
        let to = self.kept.address() + (place * SUMS * size_of::<f64>()) as u64;
        let (blocks, regions) = (whole(blocks).cast_unsigned(), whole(regions.len()).cast_unsigned());
        // SAFETY: the arguments are those of the kernels; regions lie in the grid; there is room for every block, and for every region from `to` on.
        unsafe {
            self.stream
                .launch(&self.kernels.measure, (blocks, regions, 1), 256, |launch| {
                    launch.arg(&look);
                })?;
            self.stream
                .launch(&self.kernels.measure_total, (regions, 1, 1), 32, |launch| {
                    launch.arg(&parts).arg(&count).arg(&to);
                })
        }
    }

    fn load(&mut self, regions: &[Region]) -> Result<(), CudaError> {
        let list: Vec<i32> = regions
            .iter()
            .flat_map(|Region { lo, hi, across, energy }| {
                let [x, y, ex, ey] = [lo[0], lo[1], hi[0], hi[1]].map(whole);
                [x, y, ex, ey, across.map_or(-1, whole), i32::from(*energy)]
            })
            .collect();
        grow(&self.stream, "regions", &mut self.region_list, list.len())?;
        self.stream.upload("regions", &list, &self.region_list)?;
        self.regions = regions.to_vec();
        Ok(())
    }

    /// The first `count` of the sums that were kept.
    pub(super) fn kept_totals(&self, count: usize) -> Result<Vec<Totals>, CudaError> {
        let mut numbers = vec![0.0; count * SUMS];
        if count > 0 {
            self.stream.download("records", &self.kept, &mut numbers)?;
        }
        let records = numbers.as_chunks::<SUMS>().0.iter();
        Ok(records
            .map(|&[norm, energy, x, xx, y, yy, peak, current]| Totals {
                norm,
                energy,
                first: [x, y, 0.0],
                second: [xx, yy, 0.0],
                peak,
                current,
            })
            .collect())
    }

    /// Draws ψ.
    #[allow(unsafe_code, reason = "a kernel launch")]
    pub(super) fn picture(&mut self, request: &ImageRequest, image: &mut FieldImage) -> Result<(), CudaError> {
        image.prepare(request);
        let texels = image.value.len();
        let picture = params::Picture {
            psi: self.psi.address(),
            value: texels::room(&self.stream, "the picture", &mut self.value, texels)?,
            phase: texels::room(&self.stream, "the picture's phase", &mut self.phase, image.phase.len())?,
            nx: whole(self.grid.size()[0]),
            x: [whole(request.x.start), whole(request.x.end)],
            y: [whole(request.y.start), whole(request.y.end)],
            reduction: whole(image.reduction),
            size: image.size.map(whole),
            quantity: texels::quantum(request.quantity),
        };
        let (group, blocks) = texels::lanes(texels, image.reduction);
        // SAFETY: the arguments are those of the kernel; both outputs have room for every texel they get, and the part drawn lies in the grid.
        unsafe {
            self.stream
                .launch(&self.kernels.picture, (blocks, 1, 1), 256, |launch| {
                    launch.arg(&picture).arg(&group);
                })?;
        }
        for (from, to) in [(&self.value, &mut image.value), (&self.phase, &mut image.phase)] {
            if let Some(from) = from.as_ref().filter(|_| !to.is_empty()) {
                self.stream.download("the picture", from, to)?;
            }
        }
        Ok(())
    }
}
