//! The decoders under libFuzzer, which looks for inputs that take new paths: built and run by `tests/run fuzz`.
//!
//! `DECODER` names which one. An input that panics, holds more memory than libFuzzer is told to allow, or takes too long, is written to a file.

#![no_main]
#![allow(clippy::unwrap_used, reason = "a fuzzer fails by panicking")]

#[path = "../hostile/decoders.rs"]
mod decoders;

use decoders::{DECODERS, Decoder};
use std::path::PathBuf;
use std::sync::OnceLock;

static CHOSEN: OnceLock<(&Decoder, PathBuf)> = OnceLock::new();

fn chosen() -> &'static (&'static Decoder, PathBuf) {
    CHOSEN.get_or_init(|| {
        let name = std::env::var("DECODER").unwrap_or_default();
        let Some(decoder) = DECODERS.iter().find(|decoder| decoder.name == name) else {
            let names = DECODERS.map(|decoder| decoder.name).join(", ");
            panic!("DECODER is one of {names}");
        };
        // The script that runs this gives a folder of its own and removes it.
        let folder = std::env::temp_dir();
        let taken = (decoder.prepare)(&folder);
        // What the script begins with: an input that is taken.
        std::fs::write(folder.join("taken"), taken).unwrap();
        (decoder, folder)
    })
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (decoder, folder) = chosen();
    (decoder.read)(folder, bytes);
});
