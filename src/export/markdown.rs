//! The subset of Markdown for the texts of scenes: headings, paragraphs, lists, **bold**, *emphasis*, `code`.

/// One block of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block<'a> {
    /// A heading and its level.
    Heading(usize, &'a str),
    /// Text that flows.
    Paragraph(String),
    /// An entry of a list, with what stands before it.
    Item(String, String),
    /// Text as it is.
    Code(String),
}

/// Whether code says `section.key = value`, as `--set` takes it.
pub fn is_setting(code: &str) -> bool {
    let Some((key, value)) = code.split_once('=') else {
        return false;
    };
    let parts: Vec<&str> = key.trim().split('.').collect();
    let is_word = |part: &&str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    let value = value.trim();
    parts.len() > 1 && parts.iter().all(is_word) && !value.is_empty() && !value.starts_with('=')
}

/// The blocks of a text, in order.
pub fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    // Whether the next line goes on with the block before it.
    let mut flows = false;
    let mut fenced: Option<String> = None;
    // Whether the line before was indented code.
    let mut indented = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed == "$$" {
            match fenced.take() {
                Some(code) => blocks.push(Block::Code(code)),
                None => fenced = Some(String::new()),
            }
            flows = false;
        } else if let Some(code) = &mut fenced {
            if !code.is_empty() {
                code.push('\n');
            }
            code.push_str(line);
        } else if trimmed.is_empty() {
            flows = false;
            indented = false;
        } else if let Some(code) = line.strip_prefix("    ").filter(|_| !flows) {
            match blocks.last_mut() {
                Some(Block::Code(open)) if indented => {
                    open.push('\n');
                    open.push_str(code);
                }
                _ => blocks.push(Block::Code(code.to_owned())),
            }
            indented = true;
        } else if trimmed.starts_with('#') {
            let level = trimmed.len() - trimmed.trim_start_matches('#').len();
            blocks.push(Block::Heading(level, trimmed.trim_start_matches('#').trim()));
            flows = false;
        } else if let Some(item) = trimmed.strip_prefix("- ").or_else(|| trimmed.strip_prefix("* ")) {
            blocks.push(Block::Item("•".to_owned(), item.to_owned()));
            flows = true;
        } else if let Some((number, item)) = numbered(trimmed) {
            blocks.push(Block::Item(number.to_owned(), item.to_owned()));
            flows = true;
        } else if flows && let Some(Block::Paragraph(open) | Block::Item(_, open)) = blocks.last_mut() {
            open.push(' ');
            open.push_str(trimmed);
        } else {
            blocks.push(Block::Paragraph(trimmed.to_owned()));
            flows = true;
        }
    }
    blocks.extend(fenced.map(Block::Code));
    blocks
}

/// `3. text` as (`3.`, `text`).
fn numbered(line: &str) -> Option<(&str, &str)> {
    let (number, item) = line.split_once(". ")?;
    let digits = !number.is_empty() && number.len() <= 2 && number.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| (&line[..=number.len()], item))
}

/// What a run of text looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// As it is.
    Plain,
    /// Strong.
    Bold,
    /// Slanted.
    Emphasis,
    /// Of one width.
    Code,
}

/// Text in runs of one style.
pub fn spans(text: &str) -> Vec<(Style, &str)> {
    const MARKS: [(&str, Style); 5] = [
        ("**", Style::Bold),
        ("`", Style::Code),
        ("$", Style::Code),
        ("*", Style::Emphasis),
        ("_", Style::Emphasis),
    ];
    let mut out = Vec::new();
    let mut rest = text;
    'text: while !rest.is_empty() {
        for (at, char) in rest.char_indices() {
            // `\*` is a sign as it is.
            let escaped = rest[at..].strip_prefix('\\').and_then(|next| next.chars().next());
            if char == '\\' && escaped.is_some_and(|next| next.is_ascii_punctuation()) {
                if at > 0 {
                    out.push((Style::Plain, &rest[..at]));
                }
                out.push((Style::Plain, &rest[at + 1..at + 2]));
                rest = &rest[at + 2..];
                continue 'text;
            }
            for (mark, style) in MARKS {
                let Some(inner) = rest[at..].strip_prefix(mark) else {
                    continue;
                };
                // `a * b` and `a_b` are no emphasis: a mark stands before a word and at its start.
                let starts_word = !rest[..at].chars().next_back().is_some_and(char::is_alphanumeric);
                let touches = inner.chars().next().is_some_and(|next| !next.is_whitespace());
                if let Some(end) = inner.find(mark)
                    && end > 0
                    && touches
                    && (starts_word || style == Style::Code)
                {
                    if at > 0 {
                        out.push((Style::Plain, &rest[..at]));
                    }
                    out.push((style, &inner[..end]));
                    rest = &inner[end + mark.len()..];
                    continue 'text;
                }
                break;
            }
        }
        out.push((Style::Plain, rest));
        break;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_known_by_their_form() {
        for yes in [
            "layer.0.value = 2000.0",
            "grid.edges = \"soft\"",
            "packet.0.momentum = [0.8, 0.0]",
            "solver.order=4",
        ] {
            assert!(is_setting(yes), "{yes}");
        }
        for no in [
            "mach",
            "E = 2",
            "x.y",
            "a.b == c",
            "Grid.size = 1",
            "k. = 2",
            "time.end =",
        ] {
            assert!(!is_setting(no), "{no}");
        }
    }

    #[test]
    fn blocks_and_spans() {
        let text = "# Title\nOne line\nand more.\n\n- first\n  goes on\n- second\n\n1. counted\n\n```\na  b\n```\n\n    E = 1\n    F = 2\n\nthe end";
        assert_eq!(
            blocks(text),
            [
                Block::Heading(1, "Title"),
                Block::Paragraph("One line and more.".to_owned()),
                Block::Item("•".to_owned(), "first goes on".to_owned()),
                Block::Item("•".to_owned(), "second".to_owned()),
                Block::Item("1.".to_owned(), "counted".to_owned()),
                Block::Code("a  b".to_owned()),
                Block::Code("E = 1\nF = 2".to_owned()),
                Block::Paragraph("the end".to_owned()),
            ]
        );
        assert_eq!(
            spans("a **bold** and `x*y` but 2 * 3 * 4 and a_b_c"),
            [
                (Style::Plain, "a "),
                (Style::Bold, "bold"),
                (Style::Plain, " and "),
                (Style::Code, "x*y"),
                (Style::Plain, " but 2 * 3 * 4 and a_b_c"),
            ]
        );
        assert_eq!(
            spans(r"ψ becomes ψ\*, as in *Echo*, \ alone"),
            [
                (Style::Plain, "ψ becomes ψ"),
                (Style::Plain, "*"),
                (Style::Plain, ", as in "),
                (Style::Emphasis, "Echo"),
                (Style::Plain, r", \ alone"),
            ]
        );
        assert_eq!(spans("open ** end"), [(Style::Plain, "open ** end")]);
    }
}
