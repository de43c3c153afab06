//! Base64 (RFC 4648): bytes as signs that texts hold.

/// The 64 signs and what fills the last group up, if anything does.
#[derive(Clone, Copy, Debug)]
pub struct Alphabet {
    /// The signs, in order.
    pub signs: &'static [u8; 64],
    /// What fills up.
    pub pad: Option<char>,
}

/// For pages and messages (section 4).
pub const STANDARD: Alphabet = Alphabet {
    signs: b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    pad: Some('='),
};

/// For addresses (section 5), not filled up.
#[cfg(any(test, target_family = "wasm"))]
pub const URL: Alphabet = Alphabet {
    signs: b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
    pad: None,
};

/// The bytes as text.
pub fn encode(bytes: &[u8], alphabet: Alphabet) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = three.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for sign in 0..=three.len() {
            text.push(char::from(alphabet.signs[(bits >> (18 - 6 * sign) & 63) as usize]));
        }
        if let Some(pad) = alphabet.pad {
            text.extend(std::iter::repeat_n(pad, 3 - three.len()));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 4648, section 10.
    #[test]
    fn the_examples_of_the_standard() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode(bytes.as_bytes(), STANDARD), text);
            assert_eq!(encode(bytes.as_bytes(), URL), text.trim_end_matches('='));
        }
        assert_eq!(
            (encode(&[0xfb, 0xff], STANDARD), encode(&[0xfb, 0xff], URL)),
            ("+/8=".to_owned(), "-_8".to_owned())
        );
    }
}
