//! Where no browser is.

use super::Order;

/// No encoder: none can be made.
pub enum Encoder {}

/// Whether there is one.
pub fn is_there() -> bool {
    false
}

impl Encoder {
    /// There is none.
    ///
    /// # Errors
    /// Always.
    pub fn new(_order: Order) -> Result<Self, String> {
        Err("this build has no encoder for H.264 (feature `h264`); write a GIF or an animated PNG".to_owned())
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn encode(&mut self, _planes: &[u8], _picture: u32, _is_key: bool) -> Result<(), String> {
        match *self {}
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn take(&mut self) -> Result<Option<(Vec<u8>, bool)>, String> {
        match *self {}
    }

    /// Never called.
    pub fn is_busy(&self) -> bool {
        match *self {}
    }

    /// Never called.
    pub fn flush(&mut self) -> bool {
        match *self {}
    }
}
