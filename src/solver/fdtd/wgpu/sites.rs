//! What is done to a level beside its steps (`kernels/sound.wgsl`): operations on single sites, what is kept of every site, pictures.

use crate::backend::wgpu::{Bind, Binding, Buffer, Kernel, Stream, WgpuError};
use crate::solver::{FieldImage, ImageRequest};
use bytemuck::{Pod, Zeroable};

const SOURCE: (&str, &str) = ("sound", include_str!("../../../../kernels/sound.wgsl"));
/// What its kernels are given: constants, a level, where they write, places, values.
const BESIDE: [Binding; 5] = [
    Binding::Uniform,
    Binding::Write,
    Binding::Write,
    Binding::Read,
    Binding::Read,
];
const OPERATE: [Binding; 5] = [
    Binding::Table(1),
    Binding::Write,
    Binding::Write,
    Binding::Read,
    Binding::Read,
];
/// Threads of a block.
const THREADS: usize = 256;
/// Steps between two visits of the host.
pub(super) const BATCH: usize = 256;
/// Numbers of a batch that come back at most.
const MOST_RECORDS: usize = 1 << 22;

/// What happens after one step of a batch, in 256 bytes: `Moment` of `kernels/sound.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Moment {
    first: u32,
    last: u32,
    set_first: u32,
    set_values: u32,
    sets: u32,
    gather_first: u32,
    gathers: u32,
    record: u32,
    rest: [[u32; 8]; 7],
}

/// `Kept` of the kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Kept {
    count: u32,
    step: f32,
    rest: [u32; 2],
}

/// `Frame` of the kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Frame {
    size: [u32; 2],
    x: [u32; 2],
    y: [u32; 2],
    z: u32,
    reduction: u32,
    texels: [u32; 2],
    largest: u32,
    rest: u32,
}

/// What happens at single sites in a batch of steps.
#[derive(Debug, Default)]
pub(super) struct SiteBatch {
    /// Of each step, places and what is added there, in order.
    pub added: Vec<Vec<(u32, f32)>>,
    /// Sites that are overwritten, and their values, step by step, as long as there are any.
    pub set_places: Vec<u32>,
    pub set_values: Vec<f32>,
    /// Sites of which there is a record of every step.
    pub gathered: Vec<u32>,
}

/// Kernels beside the steps, with the buffers of a batch.
pub(super) struct Beside {
    operate: Kernel,
    largest: Kernel,
    integrate: Kernel,
    picture: Kernel,
    /// What happens after each step of the batch; records, places and values of it.
    pub(super) moments: Buffer,
    pub(super) record: Buffer,
    pub(super) lists: [Buffer; 2],
    constants: Buffer,
    texels: Buffer,
    /// Numbers that a step of the batch records; whether anything is done at sites.
    gathered: usize,
    pub(super) busy: bool,
}

/// Makes a buffer larger if it must be.
fn grow<V: Pod>(stream: &Stream, what: &str, buffer: &mut Buffer, count: usize) -> Result<(), WgpuError> {
    if buffer.bytes() < (count * size_of::<V>()) as u64 {
        *buffer = stream.zeros::<V>(what, count.next_power_of_two())?;
    }
    Ok(())
}

/// Places and counts were refused where they go beyond 32 bits.
fn narrow(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl Beside {
    pub(super) fn new(stream: &Stream) -> Result<Self, WgpuError> {
        let kernel = |entry, bindings: &[Binding]| stream.device().kernel(SOURCE, entry, bindings, &[]);
        Ok(Self {
            operate: kernel("operate", &OPERATE)?,
            largest: kernel("keep_largest", &BESIDE)?,
            integrate: kernel("integrate", &BESIDE)?,
            picture: kernel("picture", &BESIDE)?,
            moments: stream.zeros::<Moment>("operations on sites", BATCH + super::tiles::MOST)?,
            record: stream.zeros::<f32>("records", 1)?,
            lists: [
                stream.zeros::<u32>("operations on sites", 1)?,
                stream.zeros::<f32>("operations on sites", 1)?,
            ],
            constants: stream.zeros::<Kept>("constants", 2)?,
            texels: stream.zeros::<f32>("the picture", 1)?,
            gathered: 0,
            busy: false,
        })
    }

    /// Steps of a batch of which so many numbers are recorded.
    pub(super) fn most_steps(gathered: usize) -> usize {
        (MOST_RECORDS / gathered.max(1)).clamp(1, BATCH)
    }

    /// Takes over a batch of steps.
    pub(super) fn load(&mut self, stream: &Stream, batch: &mut SiteBatch) -> Result<(), WgpuError> {
        let (mut places, mut values) = (Vec::new(), Vec::new());
        let mut moments = Vec::new();
        for step in &mut batch.added {
            // Several signals at one site stay in their order.
            step.sort_by_key(|(place, _)| *place);
            let first = places.len();
            places.extend(step.iter().map(|(place, _)| *place));
            values.extend(step.iter().map(|(_, value)| *value));
            moments.push([first, places.len()].map(narrow));
        }
        let sets = batch.set_places.len();
        let [set_first, set_values] = [places.len(), values.len()];
        let rows = batch.set_values.len().checked_div(sets).unwrap_or(0);
        places.extend_from_slice(&batch.set_places);
        values.extend_from_slice(&batch.set_values);
        let gather_first = places.len();
        places.extend_from_slice(&batch.gathered);
        self.gathered = batch.gathered.len();
        self.busy = !places.is_empty();
        if !self.busy {
            return Ok(());
        }
        let moments: Vec<Moment> = (moments.into_iter().enumerate())
            .map(|(n, [first, last])| Moment {
                first,
                last,
                set_first: narrow(set_first),
                set_values: narrow(set_values + n * sets),
                sets: if n < rows { narrow(sets) } else { 0 },
                gather_first: narrow(gather_first),
                gathers: narrow(self.gathered),
                record: narrow(n * self.gathered),
                rest: [[0; 8]; 7],
            })
            .collect();
        grow::<u32>(stream, "operations on sites", &mut self.lists[0], places.len())?;
        grow::<f32>(stream, "operations on sites", &mut self.lists[1], values.len())?;
        grow::<f32>(stream, "records", &mut self.record, self.gathered * moments.len())?;
        stream.upload("operations on sites", &moments, &self.moments, 0)?;
        stream.upload("operations on sites", &places, &self.lists[0], 0)?;
        if !values.is_empty() {
            stream.upload("operations on sites", &values, &self.lists[1], 0)?;
        }
        Ok(())
    }

    fn bind(
        &self,
        stream: &Stream,
        kernel: &Kernel,
        kinds: [Binding; 5],
        [constants, level, other]: [&Buffer; 3],
    ) -> Bind {
        let buffers = [constants, level, other, &self.lists[0], &self.lists[1]];
        let pairs: Vec<(Binding, &Buffer)> = kinds.into_iter().zip(buffers).collect();
        stream.device().bind(kernel, &pairs)
    }

    /// The operations of step `n` of the batch, on the level just written.
    pub(super) fn operate(&self, stream: &Stream, level: &Buffer, n: usize) -> Result<(), WgpuError> {
        if !self.busy {
            return Ok(());
        }
        let bind = self.bind(stream, &self.operate, OPERATE, [&self.moments, level, &self.record]);
        stream.launch(&self.operate, &bind, Some(n), [1; 3])
    }

    /// What was gathered in `steps` steps of the batch.
    pub(super) fn records(&self, stream: &Stream, steps: usize) -> Result<Vec<f32>, WgpuError> {
        let mut all = vec![0.0; steps * self.gathered];
        if !all.is_empty() {
            stream.download("records", &self.record, 0, &mut all)?;
        }
        Ok(all)
    }

    /// Says how many sites there are, and Δt, to [`Self::keep_largest`] and [`Self::integrate`].
    pub(super) fn set_step(&self, stream: &Stream, sites: usize, step: f32) -> Result<(), WgpuError> {
        let kept = Kept {
            count: narrow(sites),
            step,
            rest: [0; 2],
        };
        stream.upload("constants", &[kept], &self.constants, 0)
    }

    /// The largest |p| of every site, with a level.
    pub(super) fn keep_largest(&self, stream: &Stream, planes: [&Buffer; 2], sites: usize) -> Result<(), WgpuError> {
        self.everywhere(stream, &self.largest, planes, sites)
    }

    /// Adds Δt times a level to what the velocity follows from.
    pub(super) fn integrate(&self, stream: &Stream, planes: [&Buffer; 2], sites: usize) -> Result<(), WgpuError> {
        self.everywhere(stream, &self.integrate, planes, sites)
    }

    fn everywhere(
        &self,
        stream: &Stream,
        kernel: &Kernel,
        planes: [&Buffer; 2],
        sites: usize,
    ) -> Result<(), WgpuError> {
        let bind = self.bind(stream, kernel, BESIDE, [&self.constants, planes[0], planes[1]]);
        stream.launch(kernel, &bind, None, [sites.div_ceil(THREADS), 1, 1])
    }

    /// The picture of a plane's values; of each texel the largest, or the mean.
    pub(super) fn draw(
        &mut self,
        stream: &Stream,
        [nx, ny]: [usize; 2],
        plane: &Buffer,
        largest: bool,
        request: &ImageRequest,
        image: &mut FieldImage,
    ) -> Result<(), WgpuError> {
        image.prepare(request);
        let frame = Frame {
            size: [nx, ny].map(narrow),
            x: [request.x.start, request.x.end].map(narrow),
            y: [request.y.start, request.y.end].map(narrow),
            z: narrow(request.z),
            reduction: narrow(image.reduction),
            texels: image.size.map(narrow),
            largest: u32::from(largest),
            rest: 0,
        };
        grow::<f32>(stream, "the picture", &mut self.texels, image.value.len())?;
        let constants = stream.list("constants", &[frame])?;
        let bind = self.bind(stream, &self.picture, BESIDE, [&constants, plane, &self.texels]);
        stream.launch(&self.picture, &bind, None, [image.value.len().div_ceil(THREADS), 1, 1])?;
        stream.download("the picture", &self.texels, 0, &mut image.value)
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> u64 {
        let [places, values] = &self.lists;
        [&self.moments, &self.record, places, values, &self.texels]
            .map(Buffer::bytes)
            .iter()
            .sum()
    }
}
