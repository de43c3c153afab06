//! H.264 by the encoder of the browser: the planes go there as they are, with the matrix that they were made with.

use super::{Coded, Planes, Shape};
use crate::platform::video::{self, Order};

/// The encoder of a film.
pub struct Encoder {
    encoder: video::Encoder,
    key_every: u32,
    pictures: u32,
    /// A picture as the browser takes it: its planes one after the other.
    bytes: Vec<u8>,
}

impl Encoder {
    pub fn new(shape: Shape) -> Result<Self, String> {
        let order = Order {
            size: shape.size,
            fps: shape.fps,
            matrix: if shape.is_small() { "smpte170m" } else { "bt709" },
        };
        Ok(Self {
            encoder: video::Encoder::new(order)?,
            key_every: shape.key_every(),
            pictures: 0,
            bytes: Vec::new(),
        })
    }

    pub fn encode(&mut self, planes: &Planes) -> Result<(), String> {
        self.bytes.clear();
        for plane in [&planes.y, &planes.cb, &planes.cr] {
            self.bytes.extend_from_slice(plane);
        }
        let is_key = self.pictures.is_multiple_of(self.key_every);
        self.encoder.encode(&self.bytes, self.pictures, is_key)?;
        self.pictures += 1;
        Ok(())
    }

    pub fn take(&mut self) -> Result<Option<Coded>, String> {
        let coded = self.encoder.take()?;
        Ok(coded.map(|(bits, is_key)| Coded { bits, is_key }))
    }

    pub fn is_busy(&self) -> bool {
        self.encoder.is_busy()
    }

    pub fn flush(&mut self) -> bool {
        self.encoder.flush()
    }
}
