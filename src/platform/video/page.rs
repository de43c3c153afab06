//! In a page.

use super::Order;
use js_sys::{Object, Promise, Reflect, Uint8Array};
use send_wrapper::SendWrapper;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};

// The parts of WebCodecs that are used here: web-sys has them behind a flag of the compiler.
#[wasm_bindgen::prelude::wasm_bindgen]
extern "C" {
    type VideoEncoder;
    #[wasm_bindgen(catch, constructor)]
    fn new(heard: &Object) -> Result<VideoEncoder, JsValue>;
    #[wasm_bindgen(catch, static_method_of = VideoEncoder, js_name = isConfigSupported)]
    fn is_config_supported(config: &Object) -> Result<Promise, JsValue>;
    #[wasm_bindgen(catch, method)]
    fn configure(this: &VideoEncoder, config: &Object) -> Result<(), JsValue>;
    #[wasm_bindgen(catch, method)]
    fn encode(this: &VideoEncoder, picture: &VideoFrame, options: &Object) -> Result<(), JsValue>;
    #[wasm_bindgen(catch, method)]
    fn flush(this: &VideoEncoder) -> Result<Promise, JsValue>;
    #[wasm_bindgen(catch, method)]
    fn close(this: &VideoEncoder) -> Result<(), JsValue>;
    #[wasm_bindgen(method, getter, js_name = encodeQueueSize)]
    fn queue(this: &VideoEncoder) -> u32;

    type VideoFrame;
    #[wasm_bindgen(catch, constructor)]
    fn new(planes: &Uint8Array, about: &Object) -> Result<VideoFrame, JsValue>;
    #[wasm_bindgen(method)]
    fn close(this: &VideoFrame);

    type EncodedVideoChunk;
    #[wasm_bindgen(method, getter)]
    fn timestamp(this: &EncodedVideoChunk) -> f64;
    #[wasm_bindgen(method, getter, js_name = "type")]
    fn kind(this: &EncodedVideoChunk) -> String;
    #[wasm_bindgen(method, getter, js_name = byteLength)]
    fn length(this: &EncodedVideoChunk) -> u32;
    #[wasm_bindgen(catch, method, js_name = copyTo)]
    fn copy_to(this: &EncodedVideoChunk, bytes: &Uint8Array) -> Result<(), JsValue>;
}

/// Pictures that wait for the encoder; when there are more, the run waits.
const WAITING: u32 = 3;

/// Bits for a pixel, on the average: waves, text and their edges are then within two levels of the picture.
const BITS: f64 = 0.2;

static IS_THERE: AtomicBool = AtomicBool::new(false);

/// Whether this browser encodes H.264, as far as it was [asked](ask).
pub fn is_there() -> bool {
    IS_THERE.load(Ordering::Relaxed)
}

/// Asks the browser whether it encodes H.264; nobody waits for the answer.
pub fn ask() {
    spawn_local(async {
        let order = Order {
            size: [1280, 720],
            fps: 30.0,
            matrix: "bt709",
        };
        // A browser without WebCodecs has nothing of this name, which is an error like others.
        let Ok(answer) = VideoEncoder::is_config_supported(&config(&order)) else {
            return;
        };
        let answer = JsFuture::from(answer).await.ok();
        let supported = answer.and_then(|answer| Reflect::get(&answer, &"supported".into()).ok());
        IS_THERE.store(supported.is_some_and(|value| value.is_truthy()), Ordering::Relaxed);
    });
}

/// The encoder of a film.
pub struct Encoder(SendWrapper<Inner>);

struct Inner {
    encoder: VideoEncoder,
    order: Order,
    heard: Rc<RefCell<Heard>>,
    flushes: bool,
    /// Pictures that were given on.
    taken: u32,
}

/// What the encoder has said.
#[derive(Default)]
struct Heard {
    coded: VecDeque<Coded>,
    fault: Option<String>,
    flushed: bool,
}

struct Coded {
    bits: Vec<u8>,
    is_key: bool,
    /// Millionths of a second.
    time: f64,
}

impl Encoder {
    /// For a film; whether the browser can make it turns out later, by [`Encoder::take`].
    ///
    /// # Errors
    /// If the browser has none.
    pub fn new(order: Order) -> Result<Self, String> {
        let heard = Rc::<RefCell<Heard>>::default();
        let ear = Rc::clone(&heard);
        let output = Closure::<dyn FnMut(EncodedVideoChunk)>::new(move |chunk: EncodedVideoChunk| {
            let bytes = Uint8Array::new_with_length(chunk.length());
            let copied = chunk.copy_to(&bytes);
            let mut heard = ear.borrow_mut();
            match copied {
                Ok(()) => heard.coded.push_back(Coded {
                    bits: bytes.to_vec(),
                    is_key: chunk.kind() == "key",
                    time: chunk.timestamp(),
                }),
                Err(error) => heard.fault = Some(words(&error)),
            }
        });
        let ear = Rc::clone(&heard);
        let error = Closure::<dyn FnMut(JsValue)>::new(move |error: JsValue| {
            ear.borrow_mut().fault = Some(words(&error));
        });
        let ears = [("output", output.into_js_value()), ("error", error.into_js_value())];
        let encoder = VideoEncoder::new(&object(&ears)).map_err(|error| words(&error))?;
        encoder.configure(&config(&order)).map_err(|error| words(&error))?;
        Ok(Self(SendWrapper::new(Inner {
            encoder,
            order,
            heard,
            flushes: false,
            taken: 0,
        })))
    }

    /// Hands on picture number `picture`: its planes Y′, Cb and Cr, one after the other.
    ///
    /// # Errors
    /// What the browser says.
    pub fn encode(&mut self, planes: &[u8], picture: u32, is_key: bool) -> Result<(), String> {
        let inner = &*self.0;
        let [width, height] = inner.order.size.map(|side| JsValue::from_f64(side as f64));
        let matrix = JsValue::from_str(inner.order.matrix);
        let colors = object(&[
            ("primaries", matrix.clone()),
            ("transfer", matrix.clone()),
            ("matrix", matrix),
            ("fullRange", false.into()),
        ]);
        let about = object(&[
            ("format", "I420".into()),
            ("codedWidth", width),
            ("codedHeight", height),
            ("timestamp", inner.order.time(picture).into()),
            ("duration", inner.order.time(1).into()),
            ("colorSpace", colors.into()),
        ]);
        let failed = |error: JsValue| words(&error);
        let frame = VideoFrame::new(&Uint8Array::from(planes), &about).map_err(failed)?;
        let encoded = inner.encoder.encode(&frame, &object(&[("keyFrame", is_key.into())]));
        frame.close();
        // What it said before tells more than that it is closed.
        encoded.map_err(|error| inner.heard.borrow_mut().fault.take().unwrap_or_else(|| words(&error)))
    }

    /// The next picture that came back, with start codes, and whether players can start from it.
    ///
    /// # Errors
    /// What the browser has said, or if it left out a picture.
    pub fn take(&mut self) -> Result<Option<(Vec<u8>, bool)>, String> {
        let inner = &mut *self.0;
        let mut heard = inner.heard.borrow_mut();
        if let Some(fault) = heard.fault.take() {
            return Err(format!("{fault}; choose another size or rate, or another format"));
        }
        let Some(coded) = heard.coded.pop_front() else {
            return Ok(None);
        };
        if (coded.time - inner.order.time(inner.taken)).abs() > 2.0 {
            return Err(
                "the browser's encoder left out a picture, or changed their order; choose another format".to_owned(),
            );
        }
        inner.taken += 1;
        Ok(Some((coded.bits, coded.is_key)))
    }

    /// Whether enough pictures wait for it.
    pub fn is_busy(&self) -> bool {
        self.0.encoder.queue() >= WAITING
    }

    /// Has it give back all that it keeps; whether it has.
    pub fn flush(&mut self) -> bool {
        let inner = &mut *self.0;
        if !inner.flushes {
            inner.flushes = true;
            let heard = Rc::clone(&inner.heard);
            match inner.encoder.flush() {
                Ok(done) => spawn_local(async move {
                    let result = JsFuture::from(done).await;
                    let mut heard = heard.borrow_mut();
                    match result {
                        Ok(_) => heard.flushed = true,
                        Err(error) => heard.fault = Some(words(&error)),
                    }
                }),
                Err(error) => heard.borrow_mut().fault = Some(words(&error)),
            }
        }
        inner.heard.borrow().flushed
    }
}

impl Drop for Encoder {
    fn drop(&mut self) {
        // One that failed is closed already.
        let _ = self.0.encoder.close();
    }
}

impl Order {
    /// The time of a picture as the browser counts it, in whole millionths of a second.
    fn time(&self, picture: u32) -> f64 {
        (f64::from(picture) / self.fps * 1e6).round()
    }
}

/// What the encoder is asked for: the baseline of H.264, which has no pictures out of turn, and of which every picture is shown.
fn config(order: &Order) -> Object {
    let [width, height] = order.size.map(|side| side as f64);
    let bits = (BITS * width * height * order.fps).round();
    object(&[
        ("codec", format!("avc1.42E0{:02X}", level(order)).into()),
        ("width", width.into()),
        ("height", height.into()),
        ("framerate", order.fps.into()),
        ("bitrate", bits.into()),
        ("bitrateMode", "variable".into()),
        ("latencyMode", "quality".into()),
        ("avc", object(&[("format", "annexb".into())]).into()),
    ])
}

/// The first level of H.264 (Table A-1), ten times its number, with room for the blocks of a picture and those of a second.
fn level(order: &Order) -> u8 {
    const LEVELS: [(u8, f64, f64); 7] = [
        (31, 3600.0, 108_000.0),
        (32, 5120.0, 216_000.0),
        (40, 8192.0, 245_760.0),
        (42, 8704.0, 522_240.0),
        (50, 22_080.0, 589_824.0),
        (51, 36_864.0, 983_040.0),
        (52, 36_864.0, 2_073_600.0),
    ];
    let [across, down] = order.size.map(|side| side.div_ceil(16) as f64);
    let blocks = across * down;
    let fits = |(_, picture, second): &&(u8, f64, f64)| blocks <= *picture && blocks * order.fps <= *second;
    LEVELS.iter().find(fits).map_or(52, |(level, ..)| *level)
}

fn object(fields: &[(&str, JsValue)]) -> Object {
    let object = Object::new();
    for (name, value) in fields {
        // A plain object takes every field.
        let _ = Reflect::set(&object, &JsValue::from_str(name), value);
    }
    object
}

fn words(error: &JsValue) -> String {
    let message = Reflect::get(error, &"message".into()).ok();
    let message = message.and_then(|message| message.as_string());
    format!(
        "the browser's encoder says: {}",
        message.unwrap_or_else(|| error.unchecked_ref::<Object>().to_string().into())
    )
}
