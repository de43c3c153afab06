//! In a web page: the adapter is requested before the window starts, and read-back goes through a canvas.
//!
//! A page's thread can wait neither for a buffer to be mapped nor for work to end: both are told between two of its tasks. But it can draw one canvas into another and ask for
//! its pixels, which browsers wait for themselves. So bytes are written as pixels (`kernels/read_back.wgsl`) into a canvas that belongs to the device, three a pixel, and read from a canvas in the page's memory;
//! the number of the copy goes with them, so that one that did not take place is noticed. Some browsers change what a canvas returns, against fingerprinting; a test finds this when the
//! device is opened, and the processor steps instead.
//!
//! Errors and the loss of the device are reported between two tasks as well: a run gets them with its next slice.

use super::{Adapter, Binding, Buffer, Device, Kernel, WgpuError};
use crate::platform::Instant;
use bytemuck::{Pod, Zeroable};
use js_sys::{Function, Promise, Reflect};
use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{OffscreenCanvas, OffscreenCanvasRenderingContext2d};

/// Whether one submission of several can be waited for.
pub(super) const WAITS_FOR_ONE: bool = false;

/// Pixels of a row of a canvas: rows of whole 256 bytes.
const ACROSS: u32 = 512;
/// Rows of the canvases: for single numbers, records, pictures and fields.
const ROWS: [u32; 3] = [1, 64, 2048];
/// Bytes of a pixel that have no opacity.
const COLOURS: usize = 3;
/// Threads of a block of the kernel.
const THREADS: usize = 256;
/// How often a device is opened anew that was lost.
const MOST_LOSSES: u32 = 3;

const READ_BACK: (&str, &str) = ("read_back", include_str!("../../../kernels/read_back.wgsl"));
const BINDINGS: [Binding; 3] = [Binding::Uniform, Binding::Read, Binding::Write];

/// Names of adapters that are the processor.
const SOFTWARE: [&str; 6] = [
    "llvmpipe",
    "lavapipe",
    "swiftshader",
    "software",
    "basic render",
    "warp",
];

/// The device of the page, or why it has none.
static OPEN: Mutex<Result<Option<Arc<Device>>, &'static str>> = Mutex::new(Ok(None));
/// How often it was lost.
static LOSSES: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// Read-back from the device.
    static CANVASES: RefCell<Option<Canvases>> = const { RefCell::new(None) };
}

/// Asks the browser for its adapter. Nothing steps there before.
pub async fn open() {
    let opened = opened().await;
    match &opened {
        Ok(device) => tracing::info!(
            "WebGPU: {}{}, {:.1} ms to wait",
            device.name,
            if device.software { " (software)" } else { "" },
            1e3 * device.idle_wait.as_secs_f64()
        ),
        Err(reason) => tracing::info!("the processor steps: {reason}"),
    }
    *OPEN.lock().unwrap_or_else(PoisonError::into_inner) = opened.map(Some);
}

async fn opened() -> Result<Arc<Device>, &'static str> {
    const NONE: &str = "this browser offers no WebGPU, which needs an adapter and a driver that it trusts";
    let described = adapter().await.ok_or(NONE)?;
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: wgpu::Backends::BROWSER_WEBGPU,
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    let asked = instance.request_adapter(&wgpu::RequestAdapterOptions {
        power_preference: wgpu::PowerPreference::HighPerformance,
        ..wgpu::RequestAdapterOptions::default()
    });
    let adapter = asked.await.map_err(|_| NONE)?;
    let failed = |error: WgpuError| {
        tracing::warn!("WebGPU: {error}");
        "this browser's WebGPU gave no device"
    };
    let mut device = Device::open(&adapter, &described, adapter.limits())
        .await
        .map_err(failed)?;
    let canvases = Canvases::new(instance, &device).map_err(failed)?;
    CANVASES.set(Some(canvases));
    check(&device).map_err(|error| {
        tracing::warn!("WebGPU: {error}");
        "this browser does not give back what WebGPU has computed, or changes it against fingerprinting"
    })?;
    device.idle_wait = idle_wait(&device).map_err(failed)?;
    Ok(Arc::new(device))
}

/// What the browser says of its adapter; `None` where it has none.
async fn adapter() -> Option<Adapter> {
    let member = |of: &JsValue, name: &str| {
        let value = Reflect::get(of, &name.into()).ok()?;
        Some(value).filter(|value| !value.is_undefined() && !value.is_null())
    };
    let gpu = member(&member(&js_sys::global(), "navigator")?, "gpu")?;
    let ask: Function = member(&gpu, "requestAdapter")?.dyn_into().ok()?;
    let asked: Promise = ask.call0(&gpu).ok()?.dyn_into().ok()?;
    let adapter = JsFuture::from(asked).await.ok().filter(|adapter| !adapter.is_null())?;
    let info = member(&adapter, "info").unwrap_or_default();
    let word = |name: &str| {
        member(&info, name)
            .and_then(|word| word.as_string())
            .unwrap_or_default()
    };
    let words = ["vendor", "architecture", "device", "description"].map(word);
    let is_fallback = |of: &JsValue| member(of, "isFallbackAdapter").is_some_and(|word| word.is_truthy());
    let all = words.join(" ").to_lowercase();
    let [vendor, architecture, device, description] = words;
    let told = [description, device, [vendor, architecture].join(" ").trim().to_owned()];
    let name = told.into_iter().find(|word| !word.is_empty());
    Some(Adapter {
        name: name.unwrap_or_else(|| "WebGPU".to_owned()),
        software: is_fallback(&adapter) || is_fallback(&info) || SOFTWARE.iter().any(|word| all.contains(word)),
        details: "WebGPU".to_owned(),
    })
}

/// Whether every byte comes back as it was, from canvases of each size.
fn check(device: &Device) -> Result<(), WgpuError> {
    // Every byte in each of the colours, in an order without steps that a change of a picture would leave alone.
    let bytes: Vec<u8> = (0..4 * 24_000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 23) as u8)
        .collect();
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
    let there = Buffer::from(device.allocate("what is read back", bytes.len() as u64, usage)?);
    device.queue.write_buffer(&there.raw, 0, &bytes);
    for (first, count) in [(16, 44), (60, 24_000), (4, bytes.len() - 4)] {
        let mut found = vec![0; count];
        Landing.fetch(device, "what is read back", (&there, first as u64), &mut found)?;
        if found != bytes[first..first + count] {
            return Err(WgpuError::Call {
                what: "reading back".to_owned(),
                message: "other numbers came back".to_owned(),
            });
        }
    }
    Ok(())
}

/// The time of a wait without work: the shortest of some measurements.
fn idle_wait(device: &Device) -> Result<Duration, WgpuError> {
    let mut least = Duration::MAX;
    for _ in 0..5 {
        let begin = Instant::now();
        device.wait("waiting for nothing", None)?;
        least = least.min(begin.elapsed());
    }
    Ok(least)
}

/// Whether there is an adapter to compute on.
///
/// # Errors
/// Why there is none, as a text for the user.
pub fn available() -> Result<(), &'static str> {
    match OPEN.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
        Ok(Some(device)) if device.is_lost() => Err("the browser took the device of WebGPU away"),
        Ok(Some(_)) => Ok(()),
        Ok(None) => Err("WebGPU was not asked for"),
        Err(reason) => Err(reason),
    }
}

/// The device.
///
/// # Errors
/// As [`available`].
pub fn device() -> Result<Arc<Device>, WgpuError> {
    available().map_err(|reason| WgpuError::Call {
        what: "WebGPU".to_owned(),
        message: reason.to_owned(),
    })?;
    match OPEN.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
        Ok(Some(device)) => Ok(Arc::clone(device)),
        _ => Err(WgpuError::Lost("the page is closed".to_owned())),
    }
}

/// Waits for everything that the adapter has to do, e.g. for the window. What fails is told by what is done next.
pub fn settle() {
    if let Ok(device) = device() {
        let _ = device.wait("waiting for the window", None);
    }
}

/// Browsers know subgroups, but the compiler of shaders here does not say so to them.
pub(super) fn optional_features() -> wgpu::Features {
    wgpu::Features::empty()
}

/// A device that the browser took away is asked for anew, so that the next run has it.
pub(super) fn after_loss() {
    if LOSSES.fetch_add(1, Ordering::Relaxed) < MOST_LOSSES {
        spawn_local(open());
    }
}

impl Device {
    /// Runs a closure. Errors of the browser are reported later.
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as on a native system")]
    pub(super) fn watched<T>(&self, _filters: &[wgpu::ErrorFilter], work: impl FnOnce() -> T) -> Result<T, String> {
        Ok(work())
    }

    /// Waits for everything that was submitted.
    pub(super) fn wait(&self, what: &str, _index: Option<wgpu::SubmissionIndex>) -> Result<(), WgpuError> {
        CANVASES.with_borrow_mut(|canvases| match canvases {
            Some(canvases) => canvases.wait(self, what),
            None => Err(lost()),
        })
    }
}

/// Buffers for read-back.
#[derive(Default)]
pub(super) struct Landing;

impl Landing {
    /// Copies bytes of a buffer back, from byte `first` on, a multiple of 4, after everything that was submitted.
    #[expect(clippy::unused_self, reason = "as on a native system")]
    pub(super) fn fetch(
        &mut self,
        device: &Device,
        what: &str,
        (from, first): (&Buffer, u64),
        to: &mut [u8],
    ) -> Result<(), WgpuError> {
        CANVASES.with_borrow_mut(|canvases| {
            let canvases = canvases.as_mut().ok_or_else(lost)?;
            let most = COLOURS * (ACROSS * ROWS[ROWS.len() - 1] - 1) as usize / 4 * 4;
            for (n, part) in to.chunks_mut(most).enumerate() {
                canvases.fetch(device, what, from, first + (n * most) as u64, part)?;
            }
            Ok(())
        })
    }
}

/// The message where the read-back failed.
fn lost() -> WgpuError {
    WgpuError::Lost("the browser gives nothing back from it".to_owned())
}

/// `Copy` of the kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Copied {
    first: u32,
    pixels: u32,
    number: u32,
    rest: u32,
}

/// A canvas of the device, and one in the page's memory that it is drawn into.
struct Canvas {
    rows: u32,
    surface: wgpu::Surface<'static>,
    there: OffscreenCanvas,
    here: OffscreenCanvasRenderingContext2d,
}

impl Canvas {
    fn new(instance: &wgpu::Instance, device: &wgpu::Device, rows: u32) -> Result<Self, String> {
        let words = |error: JsValue| format!("{error:?}");
        let there = OffscreenCanvas::new(ACROSS, rows).map_err(words)?;
        let target = wgpu::SurfaceTarget::OffscreenCanvas(there.clone());
        let surface = instance.create_surface(target).map_err(|error| error.to_string())?;
        surface.configure(
            device,
            &wgpu::SurfaceConfiguration {
                usage: wgpu::TextureUsages::COPY_DST,
                format: wgpu::TextureFormat::Rgba8Unorm,
                color_space: wgpu::SurfaceColorSpace::Auto,
                width: ACROSS,
                height: rows,
                present_mode: wgpu::PresentMode::Fifo,
                desired_maximum_frame_latency: 1,
                alpha_mode: wgpu::CompositeAlphaMode::Opaque,
                view_formats: Vec::new(),
            },
        );
        // Its pixels are in the page's memory.
        let options = js_sys::Object::new();
        Reflect::set(&options, &"willReadFrequently".into(), &true.into()).map_err(words)?;
        let here = OffscreenCanvas::new(ACROSS, rows).map_err(words)?;
        let here = here.get_context_with_context_options("2d", &options).map_err(words)?;
        let here: OffscreenCanvasRenderingContext2d = here.ok_or("no canvas to read from")?.unchecked_into();
        here.set_global_composite_operation("copy").map_err(words)?;
        Ok(Self {
            rows,
            surface,
            there,
            here,
        })
    }

    /// Pixels of the first rows, after everything that was submitted.
    fn pixels(&self, rows: u32) -> Result<Vec<u8>, JsValue> {
        self.here.draw_image_with_offscreen_canvas(&self.there, 0.0, 0.0)?;
        let data = self.here.get_image_data(0.0, 0.0, f64::from(ACROSS), f64::from(rows))?;
        Ok(data.data().0)
    }
}

/// Read-back from a device.
struct Canvases {
    instance: wgpu::Instance,
    kernel: Kernel,
    constants: Buffer,
    /// What a canvas shows next.
    pixels: Buffer,
    /// Words without a meaning, read back in order to wait.
    words: Buffer,
    known: Vec<Canvas>,
    /// The number of the last copy.
    number: u32,
}

impl Canvases {
    fn new(instance: wgpu::Instance, device: &Device) -> Result<Self, WgpuError> {
        let pixels = u64::from(ACROSS * ROWS[ROWS.len() - 1]);
        let storage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let uniform = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let buffer = |bytes: u64, usage| -> Result<Buffer, WgpuError> {
            device.allocate("what comes back", bytes, usage).map(Buffer::from)
        };
        Ok(Self {
            kernel: device.kernel(READ_BACK, "read_back", &BINDINGS, &[])?,
            constants: buffer(size_of::<Copied>() as u64, uniform)?,
            pixels: buffer(4 * pixels, storage)?,
            words: buffer(16, storage)?,
            known: Vec::new(),
            number: 0,
            instance,
        })
    }

    fn wait(&mut self, device: &Device, what: &str) -> Result<(), WgpuError> {
        let words = self.words.clone();
        self.fetch(device, what, &words, 0, &mut [0; 4])
    }

    /// Copies bytes back, as many as the largest canvas has room for.
    fn fetch(
        &mut self,
        device: &Device,
        what: &str,
        from: &Buffer,
        first: u64,
        to: &mut [u8],
    ) -> Result<(), WgpuError> {
        device.check(what)?;
        let failed = |message: String| WgpuError::Call {
            what: what.to_owned(),
            message,
        };
        let pixels = to.len().div_ceil(COLOURS);
        let rows = (pixels + 1).div_ceil(ACROSS as usize) as u32;
        // 24 bits, none of them the picture of an empty canvas.
        self.number = (self.number % 0xff_fffe) + 1;
        let copied = Copied {
            first: (first / 4) as u32,
            pixels: pixels as u32,
            number: self.number,
            rest: 0,
        };
        device
            .queue
            .write_buffer(&self.constants.raw, 0, bytemuck::bytes_of(&copied));
        let buffers = [&self.constants, from, &self.pixels];
        let pairs: Vec<(Binding, &Buffer)> = BINDINGS.into_iter().zip(buffers).collect();
        let bind = device.bind(&self.kernel, &pairs);
        let place = self.canvas(device, rows).map_err(failed)?;
        let canvas = &self.known[place];
        let wgpu::CurrentSurfaceTexture::Success(target) = canvas.surface.get_current_texture() else {
            return Err(lost());
        };
        let mut encoder = device
            .raw
            .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&self.kernel.pipeline);
            pass.set_bind_group(0, &bind.group, &[]);
            pass.dispatch_workgroups((pixels + 1).div_ceil(THREADS) as u32, 1, 1);
        }
        let source = wgpu::TexelCopyBufferInfo {
            buffer: &self.pixels.raw,
            layout: wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(4 * ACROSS),
                rows_per_image: None,
            },
        };
        let extent = wgpu::Extent3d {
            width: ACROSS,
            height: rows,
            depth_or_array_layers: 1,
        };
        encoder.copy_buffer_to_texture(source, target.texture.as_image_copy(), extent);
        device.queue.submit([encoder.finish()]);
        let found = canvas.pixels(rows).map_err(|error| failed(format!("{error:?}")))?;
        let mut colours = found.chunks_exact(4);
        for (bytes, pixel) in to.chunks_mut(COLOURS).zip(&mut colours) {
            bytes.copy_from_slice(&pixel[..bytes.len()]);
        }
        let number = colours
            .next()
            .map(|pixel| u32::from_le_bytes([pixel[0], pixel[1], pixel[2], 0]));
        if number == Some(self.number) {
            device.check(what)
        } else {
            Err(lost())
        }
    }

    /// The place of the smallest canvas with so many rows.
    fn canvas(&mut self, device: &Device, rows: u32) -> Result<usize, String> {
        let least = ROWS.into_iter().find(|more| *more >= rows).unwrap_or(rows);
        if let Some(place) = self.known.iter().position(|canvas| canvas.rows == least) {
            return Ok(place);
        }
        self.known.push(Canvas::new(&self.instance, &device.raw, least)?);
        Ok(self.known.len() - 1)
    }
}
