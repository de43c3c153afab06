//! Sums over all sites, and pictures, made on the adapter (`kernels/trotter_looks.wgsl`): the field is not copied to the host.

use super::closing::Planes;
use crate::backend::wgpu::Binding::{Read, Uniform, Write};
use crate::backend::wgpu::{Binding, Buffer, Kernel, Stream, WgpuError};
use crate::grid::Grid;
use crate::scene::scenario::Quantity;
use crate::solver::adapter::frame::Frame;
use crate::solver::adapter::patches::Patches;
use crate::solver::adapter::{blocks_of, grow, unsigned};
use crate::solver::totals::Totals;
use crate::solver::trotter::media::Media;
use crate::solver::trotter::problem::Problem;
use crate::solver::trotter::run::HalfPhase;
use crate::solver::{FieldImage, ImageRequest};
use bytemuck::{Pod, Zeroable};
use std::sync::{Mutex, PoisonError};

/// Kernels of the whole field that change it or sum it plainly, among those of sweeps.
pub(super) const SOURCE: (&str, &str) = (
    "trotter_sweeps",
    concat!(
        include_str!("../../../../kernels/trotter.wgsl"),
        include_str!("../../../../kernels/trotter_sweeps.wgsl"),
    ),
);

/// Kernels that close the field.
const CLOSED: (&str, &str) = (
    "trotter_looks",
    concat!(
        include_str!("../../../../kernels/trotter.wgsl"),
        include_str!("../../../../kernels/patches.wgsl"),
        include_str!("../../../../kernels/trotter_looks.wgsl"),
    ),
);

const BINDINGS: [Binding; 3] = [Uniform, Write, Write];
const DRAW: [Binding; 4] = [Uniform, Read, Read, Write];
const OBSERVE: [Binding; 6] = [Uniform, Read, Read, Read, Read, Write];
/// Threads of a block, and sites that a thread of `weigh` sums.
const THREADS: usize = 256;
const SITES: usize = 16;
/// Numbers of a patch: six of [`Patches::moments`], and three of the energy.
const NUMBERS: usize = 9;

/// `Whole` of the kernels of sweeps.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Whole {
    count: u32,
    factor: f32,
    rest: [u32; 2],
}

/// `Picture` of the kernels that close.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Picture {
    frame: Frame,
    quantity: u32,
    interaction: f32,
    rest: [u32; 2],
}

/// `Whole` of the kernels that close.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Observed {
    size: [u32; 3],
    rank: u32,
    periodic: [u32; 3],
    across: u32,
    down: u32,
    patches: u32,
    interaction: f32,
    rest: u32,
}

/// J and g of a run's energies, and whether its x bonds carry phases.
#[derive(Clone, Copy, Debug, Default)]
struct Couplings {
    hopping: f64,
    interaction: f64,
    flux: bool,
}

/// The field that a look is taken at, and what closes it.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a> {
    pub stream: &'a Stream,
    pub grid: &'a Grid,
    pub field: &'a Buffer,
    /// Phases of x bonds.
    pub gauge: &'a Buffer,
    pub closing: Option<&'a HalfPhase>,
    pub media: &'a Media<f32>,
}

/// Kernels that read the whole field, and what they need beside it.
pub(super) struct Looks {
    weigh: Kernel,
    scale: Kernel,
    sites: usize,
    couplings: Couplings,
    planes: Planes,
    texels: Mutex<Buffer>,
}

#[expect(clippy::cast_possible_truncation, reason = "rounded to the precision of the run")]
fn single(value: f64) -> f32 {
    value as f32
}

impl Looks {
    pub(super) fn new(stream: &Stream, sites: usize) -> Result<Self, WgpuError> {
        let kernel = |entry| stream.device().kernel(SOURCE, entry, &BINDINGS, &[]);
        Ok(Self {
            weigh: kernel("weigh")?,
            scale: kernel("scale")?,
            sites,
            couplings: Couplings::default(),
            planes: Planes::default(),
            texels: Mutex::new(stream.zeros::<f32>("the picture", 1)?),
        })
    }

    /// Takes over what the energies of a problem have beside its medium.
    pub(super) fn prepare(&mut self, problem: &Problem) {
        self.couplings = Couplings {
            hopping: problem.quantum.hopping,
            interaction: problem.quantum.interaction,
            flux: problem.quantum.flux != 0.0,
        };
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> u64 {
        let texels = self.texels.lock().unwrap_or_else(PoisonError::into_inner);
        self.planes.bytes() + texels.bytes()
    }

    fn launch<V: Pod>(
        stream: &Stream,
        kernel: &Kernel,
        constants: &V,
        planes: [&Buffer; 2],
        threads: usize,
    ) -> Result<(), WgpuError> {
        let constants = stream.list("constants", &[*constants])?;
        let [field, sums] = planes;
        let pairs: Vec<(Binding, &Buffer)> = BINDINGS.into_iter().zip([&constants, field, sums]).collect();
        let bind = stream.device().bind(kernel, &pairs);
        stream.launch(kernel, &bind, None, [threads.div_ceil(THREADS), 1, 1])
    }

    /// Σ|φ|².
    pub(super) fn weight(&self, stream: &Stream, field: &Buffer) -> Result<f64, WgpuError> {
        let count = self.sites.div_ceil(SITES);
        let sums = stream.zeros::<f32>("sums", count)?;
        let whole = Whole {
            count: unsigned(self.sites),
            factor: 1.0,
            rest: [0; 2],
        };
        Self::launch(stream, &self.weigh, &whole, [field, &sums], count)?;
        let mut numbers = vec![0.0f32; count];
        stream.download("sums", &sums, 0, &mut numbers)?;
        Ok(numbers.into_iter().map(f64::from).sum())
    }

    /// Multiplies the field with a number.
    pub(super) fn scale(&self, stream: &Stream, field: &Buffer, factor: f32) -> Result<(), WgpuError> {
        let whole = Whole {
            count: unsigned(self.sites),
            factor,
            rest: [0; 2],
        };
        let unused = stream.zeros::<f32>("sums", 1)?;
        Self::launch(stream, &self.scale, &whole, [field, &unused], self.sites)
    }

    /// A kernel for what is seen, and the factors that close it: without a closing phase any array.
    fn closed(
        &self,
        seen: &Seen,
        entry: &'static str,
        bindings: &[Binding],
    ) -> Result<(Kernel, Buffer, f32), WgpuError> {
        let has = |there: bool| f64::from(u8::from(there));
        let interaction = seen.closing.map_or(0.0, |closing| closing.interaction);
        let constants = [
            ("CLOSES", has(seen.closing.is_some())),
            ("INTERACTION", has(interaction != 0.0)),
            ("FLUX", has(self.couplings.flux)),
        ];
        let kernel = seen.stream.device().kernel(CLOSED, entry, bindings, &constants)?;
        let factors = match seen.closing {
            Some(closing) => self.planes.factors(seen.stream, (seen.grid, seen.media), closing)?,
            None => seen.gauge.clone(),
        };
        Ok((kernel, factors, single(interaction)))
    }

    /// The picture of ψ.
    pub(super) fn draw(&self, seen: &Seen, request: &ImageRequest, image: &mut FieldImage) -> Result<(), WgpuError> {
        let (kernel, factors, interaction) = self.closed(seen, "draw", &DRAW)?;
        let stream = seen.stream;
        image.prepare(request);
        let [nx, ny, _] = seen.grid.size();
        let picture = Picture {
            frame: Frame::new([nx, ny], request, image, false),
            quantity: match request.quantity {
                Quantity::Phase => 1,
                Quantity::Real => 2,
                Quantity::Imaginary => 3,
                _ => 0,
            },
            interaction,
            rest: [0; 2],
        };
        let count = image.value.len();
        let mut texels = self.texels.lock().unwrap_or_else(PoisonError::into_inner);
        grow::<f32>(stream, "the picture", &mut texels, count + image.phase.len())?;
        let constants = stream.list("constants", &[picture])?;
        let buffers = [&constants, seen.field, &factors, &texels];
        let pairs: Vec<(Binding, &Buffer)> = DRAW.into_iter().zip(buffers).collect();
        let bind = stream.device().bind(&kernel, &pairs);
        stream.launch(&kernel, &bind, None, [count.div_ceil(THREADS), 1, 1])?;
        stream.download("the picture", &texels, 0, &mut image.value)?;
        if image.phase.is_empty() {
            return Ok(());
        }
        stream.download("the picture", &texels, count, &mut image.phase)
    }

    /// Sums of ψ over all sites, with these drives.
    ///
    /// The energy is Σ (E − J bonds)|ψ|² + J Σ |ψₐ − e^{−iϕ} ψ_b|² + g/2 Σ|ψ|⁴: the same as with −2J Re ψₐ* e^{−iϕ} ψ_b, without the difference of two numbers that are larger than it.
    pub(super) fn totals(&self, seen: &Seen, drives: &[f64]) -> Result<Totals, WgpuError> {
        let (kernel, factors, interaction) = self.closed(seen, "observe", &OBSERVE)?;
        let (stream, grid) = (seen.stream, seen.grid);
        let Couplings {
            hopping,
            interaction: g,
            ..
        } = self.couplings;
        let energies = self.planes.energies(stream, (grid, seen.media), (hopping, drives))?;
        let patches = Patches::of(grid.size());
        let observed = Observed {
            size: grid.size().map(unsigned),
            rank: unsigned(grid.rank()),
            periodic: [0, 1, 2].map(|axis| u32::from(grid.is_periodic(axis))),
            across: unsigned(patches.across),
            down: unsigned(patches.down),
            patches: unsigned(patches.count),
            interaction,
            rest: 0,
        };
        let sums = stream.zeros::<f32>("sums", NUMBERS * patches.count)?;
        let constants = stream.list("constants", &[observed])?;
        let buffers = [&constants, seen.field, &factors, seen.gauge, &energies, &sums];
        let pairs: Vec<(Binding, &Buffer)> = OBSERVE.into_iter().zip(buffers).collect();
        let bind = stream.device().bind(&kernel, &pairs);
        stream.launch(&kernel, &bind, None, blocks_of(stream.device(), patches.count))?;
        let mut numbers = vec![0.0f32; NUMBERS * patches.count];
        stream.download("sums", &sums, 0, &mut numbers)?;
        let moments = patches.moments(&numbers, NUMBERS);
        let sum = |place: usize| -> f64 {
            numbers
                .iter()
                .skip(place)
                .step_by(NUMBERS)
                .copied()
                .map(f64::from)
                .sum()
        };
        Ok(Totals {
            norm: moments.square,
            energy: sum(6) + hopping * sum(7) + 0.5 * g * sum(8),
            first: moments.first,
            second: moments.second,
            peak: moments.peak,
            current: 0.0,
        })
    }
}
