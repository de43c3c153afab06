//! Per-site arrays beside the steps of sound (largest pressures, velocity), and pictures (`kernels/sound.wgsl`).

use super::frame::Frame;
use super::operations::SOURCE;
use super::{grow, unsigned};
use crate::backend::wgpu::{Binding, Buffer, Kernel, Stream, WgpuError};
use crate::solver::{FieldImage, ImageRequest};
use bytemuck::{Pod, Zeroable};

/// The arguments of the kernels: constants, a plane, the output.
const BINDINGS: [Binding; 3] = [Binding::Uniform, Binding::Write, Binding::Write];
/// Threads of a block.
const THREADS: usize = 256;

/// `Kept` of the kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Kept {
    count: u32,
    step: f32,
    rest: [u32; 2],
}

/// The kernels, with what they need.
pub(in crate::solver) struct Beside {
    largest: Kernel,
    integrate: Kernel,
    picture: Kernel,
    constants: Buffer,
    texels: Buffer,
}

impl Beside {
    pub(in crate::solver) fn new(stream: &Stream) -> Result<Self, WgpuError> {
        let kernel = |entry| stream.device().kernel(SOURCE, entry, &BINDINGS, &[]);
        Ok(Self {
            largest: kernel("keep_largest")?,
            integrate: kernel("integrate")?,
            picture: kernel("picture")?,
            constants: stream.zeros::<Kept>("constants", 1)?,
            texels: stream.zeros::<f32>("the picture", 1)?,
        })
    }

    /// Sets the number of sites and Δt for [`Self::keep_largest`] and [`Self::integrate`].
    pub(in crate::solver) fn set_step(&self, stream: &Stream, sites: usize, step: f32) -> Result<(), WgpuError> {
        let kept = Kept {
            count: unsigned(sites),
            step,
            rest: [0; 2],
        };
        stream.upload("constants", &[kept], &self.constants, 0)
    }

    /// The largest |p| of every site, with a level.
    pub(in crate::solver) fn keep_largest(
        &self,
        stream: &Stream,
        planes: [&Buffer; 2],
        sites: usize,
    ) -> Result<(), WgpuError> {
        Self::launch(stream, &self.largest, [&self.constants, planes[0], planes[1]], sites)
    }

    /// Adds Δt times a level to ∫p dt, from which the velocity follows.
    pub(in crate::solver) fn integrate(
        &self,
        stream: &Stream,
        planes: [&Buffer; 2],
        sites: usize,
    ) -> Result<(), WgpuError> {
        Self::launch(stream, &self.integrate, [&self.constants, planes[0], planes[1]], sites)
    }

    fn launch(stream: &Stream, kernel: &Kernel, buffers: [&Buffer; 3], threads: usize) -> Result<(), WgpuError> {
        let pairs: Vec<(Binding, &Buffer)> = BINDINGS.into_iter().zip(buffers).collect();
        let bind = stream.device().bind(kernel, &pairs);
        stream.launch(kernel, &bind, None, [threads.div_ceil(THREADS), 1, 1])
    }

    /// Room for so many texels.
    pub(in crate::solver) fn room(&mut self, stream: &Stream, texels: usize) -> Result<Buffer, WgpuError> {
        grow::<f32>(stream, "the picture", &mut self.texels, texels)?;
        Ok(self.texels.clone())
    }

    /// The picture of a plane's values; of each texel the largest, or the mean.
    pub(in crate::solver) fn draw(
        &mut self,
        stream: &Stream,
        [nx, ny]: [usize; 2],
        plane: &Buffer,
        largest: bool,
        request: &ImageRequest,
        image: &mut FieldImage,
    ) -> Result<(), WgpuError> {
        image.prepare(request);
        let frame = Frame::new([nx, ny], request, image, largest);
        let texels = self.room(stream, image.value.len())?;
        let constants = stream.list("constants", &[frame])?;
        let buffers = [&constants, plane, &texels];
        Self::launch(stream, &self.picture, buffers, image.value.len())?;
        stream.download("the picture", &texels, 0, &mut image.value)
    }

    /// Bytes held.
    pub(in crate::solver) fn bytes(&self) -> u64 {
        self.texels.bytes()
    }
}
