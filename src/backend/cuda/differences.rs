//! Text whose numbers are differences, as `kernels/build` packs PTX. A number stands for the step from the number at the same place of the last line that is
//! the same but for its numbers. Unrolled loops count registers and offsets up by steps that repeat, and so compress to a third.

use std::collections::HashMap;

/// Numbers are digits without a leading zero, nine at most; longer ones stay as they are.
const MODULUS: u64 = 1_000_000_000;
const MOST_DIGITS: usize = 9;

/// The text that `differences` of `kernels/build` was given.
pub(super) fn restored(packed: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(packed.len() + packed.len() / 4);
    // The numbers of the last line of each kind, by the line with `#` for each number.
    let mut last: HashMap<Vec<u8>, Vec<u64>> = HashMap::new();
    let (mut template, mut numbers) = (Vec::new(), Vec::new());
    for line in packed.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(b".visible") {
            last.clear();
        }
        template.clear();
        numbers.clear();
        for part in line.chunk_by(|one, two| one.is_ascii_digit() == two.is_ascii_digit()) {
            match number(part) {
                Some(code) => {
                    template.push(b'#');
                    numbers.push(code);
                }
                None => template.extend_from_slice(part),
            }
        }
        if numbers.is_empty() {
            text.extend_from_slice(line);
            continue;
        }
        let before = last.get(&template).map_or(&[][..], Vec::as_slice);
        for (place, code) in numbers.iter_mut().enumerate() {
            let up = if code.is_multiple_of(2) {
                *code / 2
            } else {
                MODULUS - (*code).div_ceil(2)
            };
            *code = (before.get(place).unwrap_or(&0) + up) % MODULUS;
        }
        let mut restored = numbers.iter();
        for part in line.chunk_by(|one, two| one.is_ascii_digit() == two.is_ascii_digit()) {
            match number(part).and_then(|_| restored.next()) {
                Some(number) => text.extend_from_slice(number.to_string().as_bytes()),
                None => text.extend_from_slice(part),
            }
        }
        match last.get_mut(&template) {
            Some(kept) => kept.clone_from(&numbers),
            None => drop(last.insert(template.clone(), numbers.clone())),
        }
    }
    text
}

/// The number that these bytes are, if they are one that is packed as a difference.
fn number(part: &[u8]) -> Option<u64> {
    let packed = part.len() <= MOST_DIGITS && (part.len() == 1 || part[0] != b'0');
    let digits = packed && part.iter().all(u8::is_ascii_digit);
    digits.then(|| part.iter().fold(0, |sum, digit| 10 * sum + u64::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: steps of +1 and +8 from line to line, one back, and what is no number.
    #[test]
    fn numbers_are_restored_from_their_steps() {
        let packed = "add %r8, %r6, 16;\nadd %r2, %r2, 16;\nadd %r1, %r0, 15;\n";
        let text = "add %r4, %r3, 8;\nadd %r5, %r4, 16;\nadd %r4, %r4, 8;\n";
        assert_eq!(restored(packed.as_bytes()), text.as_bytes());
    }

    #[test]
    fn an_entry_begins_anew_and_long_numbers_stay() {
        let packed = ".visible a\nx2\nx2\n.visible b\nx2\n007 12345678901 0f3F800000\n";
        let text = ".visible a\nx1\nx2\n.visible b\nx1\n007 12345678901 0f999999998F400000\n";
        let got = String::from_utf8_lossy(&restored(packed.as_bytes())).into_owned();
        assert_eq!(got, text);
    }
}
