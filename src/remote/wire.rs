//! The messages, and how they become bytes: postcard, deflated where that pays. What comes is never trusted: no message makes more memory than [`MOST`], and none that is
//! damaged does more than end the connection.

use super::frame::FrameMessage;
use crate::export::errand::Product;
use crate::solver::{ImageRequest, VolumeRequest};
use miniz_oxide::{deflate, inflate};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Bytes of a message, unpacked.
pub const MOST: usize = 256 << 20;

/// Bytes of a file in one message: as long as these travel, a frame waits.
pub const PIECE: usize = 48 << 10;

/// Shorter messages are not deflated.
const SHORT: usize = 600;

/// From a window.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "one at a time")]
pub enum ToServer {
    /// What must be heard once, in order; numbered from 1 by the window, and sent again after a link that was lost.
    Request(u64, Request),
    /// What has come over this connection.
    Came(Came),
    /// The window is there.
    Alive,
}

/// What has come over a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Came {
    /// The number of the last frame that arrived.
    pub frame: u64,
    /// The number of the last frame that the window has drawn.
    pub drawn: u64,
    /// Bytes of pieces of files.
    pub pieces: u64,
}

/// What a window asks for.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "one at a time")]
pub enum Request {
    /// A part of a file that a scene names.
    Piece(Piece),
    /// A scene, by a number of the window's.
    Scene(SceneMessage),
    /// A command.
    Command(Order),
}

/// [`crate::engine::Command`] with scenes by number and work as data.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "as in the enum that it mirrors")]
pub enum Order {
    Load(u64),
    Update(u64),
    Play,
    Pause,
    Step(u64),
    Reset,
    Snapshot,
    Restore,
    Reverse,
    BackToTurn,
    StepsPerFrame(Option<u64>),
    Rest(bool),
    View(ImageRequest),
    Volume(Option<VolumeRequest>),
    StateMeasures(bool),
    Compare(Option<u64>),
    Make(u64, Product),
    MakeEach(Option<(u64, Product)>),
}

/// From a server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ToWindow {
    /// What is shown, numbered from 1 in each connection.
    Frame(u64, Box<FrameMessage>),
    /// A scene that the run has, by a number of the server's.
    Scene(SceneMessage),
    /// A part of a file, of a scene or one that was asked for.
    Piece(Piece),
    /// What came of something that was asked for: the file it is in, and what there is to tell.
    Made(u64, Result<(Option<String>, String), String>),
    /// What is done within the present step.
    Task(Option<(String, f64, Option<f64>)>),
    /// All requests up to this one were heard.
    Heard(u64),
    /// Nothing more will come, and why.
    End(String),
    /// The server is there.
    Alive,
}

/// A scene as it travels.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SceneMessage {
    /// Its number.
    pub id: u64,
    /// The scene file; the files that it names went ahead.
    pub text: String,
}

/// A part of a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Piece {
    /// Its name on the way, one of [`super::files::Store`]'s.
    pub name: String,
    /// Bytes in all.
    pub length: u64,
    /// Where this part begins.
    pub at: u64,
    /// The part.
    pub bytes: Vec<u8>,
}

/// A message as bytes.
pub fn encode<T: Serialize>(message: &T) -> Vec<u8> {
    // Writing into memory fails for types without a known length only, of which there is none here.
    let plain = postcard::to_stdvec(message).unwrap_or_default();
    if plain.len() > SHORT {
        let packed = deflate::compress_to_vec_zlib(&plain, 1);
        if packed.len() + packed.len() / 8 < plain.len() {
            return with_mark(1, packed);
        }
    }
    with_mark(0, plain)
}

/// The same for what holds compressed data already.
pub fn encode_packed<T: Serialize>(message: &T) -> Vec<u8> {
    with_mark(0, postcard::to_stdvec(message).unwrap_or_default())
}

/// A message from its bytes; `None` if they are damaged.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let (mark, rest) = bytes.split_first()?;
    let unpacked;
    let plain = match mark {
        0 => rest,
        1 => {
            unpacked = inflate::decompress_to_vec_zlib_with_limit(rest, MOST).ok()?;
            &unpacked[..]
        }
        _ => return None,
    };
    match postcard::take_from_bytes(plain) {
        Ok((message, [])) => Some(message),
        _ => None,
    }
}

fn with_mark(mark: u8, mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.insert(0, mark);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_are_deflated_and_read_again() {
        let text = "a scene ".repeat(1000);
        let message = ToServer::Request(1, Request::Scene(SceneMessage { id: 1, text }));
        let bytes = encode(&message);
        assert!(bytes.len() < 1000);
        let read: ToServer = decode(&bytes).unwrap();
        assert_eq!(format!("{read:?}"), format!("{message:?}"));
        assert!(decode::<ToServer>(&bytes[..bytes.len() - 1]).is_none());
        assert!(decode::<ToServer>(&[]).is_none() && decode::<ToServer>(&[7, 0]).is_none());
        // What unpacks to more than anything that is sent.
        let bomb = with_mark(1, deflate::compress_to_vec_zlib(&vec![0; MOST + 1], 1));
        assert!(bomb.len() < MOST / 64 && decode::<Vec<u8>>(&bomb).is_none());
    }
}
