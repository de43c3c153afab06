//! What methods for sound share.

pub mod emit;
pub mod point;
