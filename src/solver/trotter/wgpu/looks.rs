//! Reductions on the adapter: the norm, and pictures of the density.

use crate::backend::wgpu::{Binding, Buffer, Kernel, Stream, WgpuError};
use crate::solver::adapter::frame::Frame;
use crate::solver::adapter::unsigned;
use crate::solver::{FieldImage, ImageRequest};
use bytemuck::{Pod, Zeroable};

pub(super) const SOURCE: (&str, &str) = (
    "trotter_sweeps",
    concat!(
        include_str!("../../../../kernels/trotter.wgsl"),
        include_str!("../../../../kernels/trotter_sweeps.wgsl"),
    ),
);

const BINDINGS: [Binding; 3] = [Binding::Uniform, Binding::Write, Binding::Write];
/// Threads of a block, and sites that a thread of `weigh` sums.
const THREADS: usize = 256;
const SITES: usize = 16;

/// `Whole` of the kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Whole {
    count: u32,
    factor: f32,
    rest: [u32; 2],
}

/// Kernels that read the whole field.
pub(super) struct Looks {
    density: Kernel,
    weigh: Kernel,
    scale: Kernel,
    sites: usize,
}

impl Looks {
    pub(super) fn new(stream: &Stream, sites: usize) -> Result<Self, WgpuError> {
        let kernel = |entry| stream.device().kernel(SOURCE, entry, &BINDINGS, &[]);
        Ok(Self {
            density: kernel("density")?,
            weigh: kernel("weigh")?,
            scale: kernel("scale")?,
            sites,
        })
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

    /// The picture of the density of the field.
    pub(super) fn draw(
        &self,
        stream: &Stream,
        field: &Buffer,
        [nx, ny, _]: [usize; 3],
        request: &ImageRequest,
        image: &mut FieldImage,
    ) -> Result<(), WgpuError> {
        image.prepare(request);
        let texels = image.value.len();
        let sums = stream.zeros::<f32>("the picture", texels)?;
        let frame = Frame::new([nx, ny], request, image, false);
        Self::launch(stream, &self.density, &frame, [field, &sums], texels)?;
        stream.download("the picture", &sums, 0, &mut image.value)
    }
}
