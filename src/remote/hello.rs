//! How a connection begins: the window says which protocol it speaks and shows the token; the server answers who it is, or why not.
//!
//! | who | bytes |
//! | --- | --- |
//! | window | `RIPPLON`, protocol u16, token (16 bytes), window u64, session u64 that it knows (0 = none) |
//! | server | `RIPPLON`, protocol u16, answer u8: 0 = let in, 1 = wrong token, 2 = other protocol, 3 = served elsewhere; after 0 [`Welcome`], after 2 the version of the program as text |
//!
//! Little-endian. This layout stays as it is in later protocols, so that either end can say what the other one is.

use super::wire;
use crate::solver::Backend;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;

/// The messages that this version speaks.
pub const PROTOCOL: u16 = 3;

/// Where a server listens unless it is told otherwise.
pub const PORT: u16 = 7421;

const MAGIC: &[u8; 7] = b"RIPPLON";

/// Bytes of a hello.
pub const LENGTH: usize = 7 + 2 + 16 + 8 + 8;

/// What a window must know to be let in: 128 random bits.
#[derive(Clone, Copy)]
pub struct Token([u8; 16]);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    /// A new one.
    ///
    /// # Errors
    /// If the system gives no random numbers.
    pub fn random() -> std::io::Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        Ok(Self(bytes))
    }

    /// From its 32 hexadecimal digits.
    ///
    /// # Errors
    /// If it is not that.
    pub fn read(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let wrong = || "a token is 32 hexadecimal digits, as `ripplon serve` prints them".to_owned();
        if text.len() != 32 || !text.is_ascii() {
            return Err(wrong());
        }
        let mut bytes = [0; 16];
        for (n, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * n..2 * n + 2], 16).map_err(|_| wrong())?;
        }
        Ok(Self(bytes))
    }

    /// From a file that holds nothing else.
    ///
    /// # Errors
    /// If it cannot be read, or holds no token.
    pub fn read_file(path: &Path) -> Result<Self, String> {
        let bytes = crate::input_file::read(path, 1024).map_err(|error| format!("{}: {error}", path.display()))?;
        Self::read(&String::from_utf8_lossy(&bytes)).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Its hexadecimal digits.
    pub fn digits(&self) -> String {
        format!("{:032x}", u128::from_be_bytes(self.0))
    }

    /// Compares all bytes whatever the first ones are, so that time tells nothing.
    fn is(&self, other: &[u8]) -> bool {
        let differences = self
            .0
            .iter()
            .zip(other)
            .fold(0, |all, (own, other)| all | (own ^ other));
        other.len() == self.0.len() && differences == 0
    }
}

/// What a window says first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Tells one window from another.
    pub window: u64,
    /// The session that it goes on with; 0 = it is new, and takes the place of any other.
    pub session: u64,
}

/// What a server says to a window that it lets in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Welcome {
    /// The version of the program.
    pub version: String,
    /// The machine's name.
    pub host: String,
    /// Tells one server from the next.
    pub session: u64,
    /// Messages of this window that were heard.
    pub heard: u64,
    /// What scenes may run on there.
    pub backends: Vec<Backend>,
}

/// What came of a hello.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Let in.
    Welcome(Welcome),
    /// The token is another one.
    WrongToken,
    /// Other messages are spoken: protocol and version of the program.
    OtherVersion(u16, String),
    /// Another window is served by now, or the run is another one.
    Elsewhere,
    /// No server of this kind.
    Foreign,
}

impl Hello {
    /// As it is sent.
    pub fn bytes(&self, token: &Token) -> Vec<u8> {
        let mut bytes = begin();
        bytes.extend(token.0);
        bytes.extend(self.window.to_le_bytes());
        bytes.extend(self.session.to_le_bytes());
        bytes
    }

    /// Reads one.
    ///
    /// # Errors
    /// What is to be answered instead of a welcome; [`Answer::Foreign`] where nothing is.
    pub fn read(bytes: &[u8], token: &Token) -> Result<Self, Answer> {
        let (protocol, rest) = protocol(bytes).ok_or(Answer::Foreign)?;
        if protocol != PROTOCOL {
            return Err(Answer::OtherVersion(PROTOCOL, version()));
        }
        let (shown, rest) = rest.split_at_checked(16).ok_or(Answer::Foreign)?;
        if !token.is(shown) {
            return Err(Answer::WrongToken);
        }
        let number = |at: usize| Some(u64::from_le_bytes(rest.get(at..at + 8)?.try_into().ok()?));
        match (number(0), number(8)) {
            (Some(window), Some(session)) if rest.len() == 16 => Ok(Self { window, session }),
            _ => Err(Answer::Foreign),
        }
    }
}

impl Answer {
    /// As it is sent; nothing to a stranger.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = begin();
        match self {
            Self::Welcome(welcome) => {
                bytes.push(0);
                bytes.extend(wire::encode(welcome));
            }
            Self::WrongToken => bytes.push(1),
            Self::OtherVersion(_, version) => {
                bytes.push(2);
                bytes.extend(version.as_bytes());
            }
            Self::Elsewhere => bytes.push(3),
            Self::Foreign => bytes.clear(),
        }
        bytes
    }

    /// Reads one.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Self {
        let Some((protocol, [kind, rest @ ..])) = protocol(bytes) else {
            return Self::Foreign;
        };
        match kind {
            0 if protocol == PROTOCOL => wire::decode(rest).map_or(Self::Foreign, Self::Welcome),
            1 => Self::WrongToken,
            3 => Self::Elsewhere,
            _ => {
                let version: String = String::from_utf8_lossy(rest).chars().take(40).collect();
                Self::OtherVersion(protocol, crate::scene::without_controls(&version).into_owned())
            }
        }
    }
}

/// This program's version.
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

fn begin() -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(PROTOCOL.to_le_bytes());
    bytes
}

fn protocol(bytes: &[u8]) -> Option<(u16, &[u8])> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (number, rest) = rest.split_at_checked(2)?;
    Some((u16::from_le_bytes(number.try_into().ok()?), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_let_in_by_token_and_protocol() {
        let token = Token::random().unwrap();
        let hello = Hello { window: 7, session: 9 };
        let bytes = hello.bytes(&token);
        assert_eq!(bytes.len(), LENGTH);
        assert_eq!(Hello::read(&bytes, &token), Ok(hello));
        let read = Token::read(&token.digits()).unwrap();
        assert_eq!(Hello::read(&bytes, &read), Ok(hello));
        assert_eq!(Hello::read(&bytes, &Token::random().unwrap()), Err(Answer::WrongToken));
        let mut other = bytes.clone();
        other[7] += 1;
        assert_eq!(
            Hello::read(&other, &token),
            Err(Answer::OtherVersion(PROTOCOL, version()))
        );
        for length in 0..bytes.len() {
            assert!(Hello::read(&bytes[..length], &token).is_err());
        }
        assert!(Token::read("12").is_err() && Token::read(&"é".repeat(16)).is_err());
    }

    #[test]
    fn answers_are_read_as_they_were_given() {
        let welcome = Welcome {
            version: version(),
            host: "node17".to_owned(),
            session: 5,
            heard: 3,
            backends: vec![Backend::Cpu],
        };
        for answer in [
            Answer::Welcome(welcome),
            Answer::WrongToken,
            Answer::Elsewhere,
            Answer::OtherVersion(PROTOCOL, version()),
        ] {
            assert_eq!(Answer::read(&answer.bytes()), answer);
        }
        assert_eq!(Answer::read(b"HTTP/1.1 200 OK"), Answer::Foreign);
        assert_eq!(Answer::read(&[]), Answer::Foreign);
    }
}
