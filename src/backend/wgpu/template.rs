//! Templates of kernels with a variable for each register: shader compilers keep an array in memory where an index is not a constant, and unroll few loops.
//!
//! A line `//@ for r in 0..ROWS`, or `//@ for r in 0..ROWS step 2`, repeats what stands before its `//@ end`; `//@ if NAME`, `//@ else`, `//@ end` choose by a
//! value that is not 0. `$r` becomes the value of `r`, `$(4*r+1)` that of an expression of sums, differences and products.

/// The text with these values.
pub fn expanded(text: &str, values: &[(&str, i64)]) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = String::new();
    put(&lines, &mut values.to_vec(), &mut out);
    out
}

/// What follows `//@` in a line.
fn directive(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("//@").map(str::trim)
}

fn put<'a>(lines: &[&'a str], values: &mut Vec<(&'a str, i64)>, out: &mut String) {
    let mut at = 0;
    while at < lines.len() {
        let Some(words) = directive(lines[at]) else {
            substitute(lines[at], values, out);
            at += 1;
            continue;
        };
        let (other, end) = extent(lines, at);
        let first = &lines[at + 1..other.unwrap_or(end)];
        if let Some(name) = words.strip_prefix("if ") {
            if number(name, values) != 0 {
                put(first, values, out);
            } else if let Some(other) = other {
                put(&lines[other + 1..end], values, out);
            }
        } else if let Some((name, range)) = words.strip_prefix("for ").and_then(|rest| rest.split_once(" in ")) {
            let (range, step) = range.split_once(" step ").unwrap_or((range, "1"));
            let (from, to) = range.split_once("..").unwrap_or((range, range));
            let [mut value, to, step] = [from, to, step].map(|text| number(text, values));
            while value < to {
                values.push((name, value));
                put(first, values, out);
                values.pop();
                value += step.max(1);
            }
        }
        at = end + 1;
    }
}

/// The lines of the `else` and the `end` that belong to a directive.
fn extent(lines: &[&str], start: usize) -> (Option<usize>, usize) {
    let (mut depth, mut other) = (0, None);
    for (at, line) in lines.iter().enumerate().skip(start) {
        match directive(line) {
            Some("end") => {
                depth -= 1;
                if depth == 0 {
                    return (other, at);
                }
            }
            Some("else") if depth == 1 => other = Some(at),
            Some("else") | None => {}
            Some(_) => depth += 1,
        }
    }
    (other, lines.len())
}

fn substitute(line: &str, values: &[(&str, i64)], out: &mut String) {
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let (words, after) = match after.strip_prefix('(').and_then(|inner| inner.split_once(')')) {
            Some(found) => found,
            None => after.split_at(after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len())),
        };
        out.push_str(&number(words, values).to_string());
        rest = after;
    }
    out.push_str(rest);
    out.push('\n');
}

/// The value of sums, differences and products of numbers and names; the innermost loop's name goes before others, and an unknown one is 0, which no kernel's test
/// lets pass.
fn number(text: &str, values: &[(&str, i64)]) -> i64 {
    let (mut sum, mut sign, mut from) = (0, 1, 0);
    let ends = text.match_indices(['+', '-']).chain([(text.len(), "+")]);
    for (end, next) in ends {
        let product: i64 = (text[from..end].split('*').map(str::trim))
            .map(|word| {
                let known = || {
                    values
                        .iter()
                        .rev()
                        .find(|(name, _)| *name == word)
                        .map(|(_, value)| *value)
                };
                word.parse().ok().or_else(known).unwrap_or(0)
            })
            .product();
        sum += sign * product;
        sign = if next == "-" { -1 } else { 1 };
        from = (end + 1).min(text.len());
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::expanded;

    #[test]
    fn loops_and_choices_are_written_out() {
        let text = "a\n//@ for r in 0..N step 2\n//@ for c in 0..2\nv$r_$c[$(4*r+c-1)u]\n//@ end\n//@ if WIDE\nwide $r\n//@ else\nnarrow\n//@ end\n//@ end\nb $N\n";
        assert_eq!(
            expanded(text, &[("N", 3), ("WIDE", 1)]),
            "a\nv0_0[-1u]\nv0_1[0u]\nwide 0\nv2_0[7u]\nv2_1[8u]\nwide 2\nb 3\n"
        );
        assert_eq!(
            expanded(text, &[("N", 1), ("WIDE", 0)]),
            "a\nv0_0[-1u]\nv0_1[0u]\nnarrow\nb 1\n"
        );
    }
}
