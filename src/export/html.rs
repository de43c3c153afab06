//! Self-contained pages: lessons as HTML, pictures inside the page, one style for dark, light and paper.

use super::markdown::{Block, Style, blocks, spans};
use crate::base64;
use std::fmt::Write;

/// The style of all pages.
const STYLE: &str = include_str!("page.css");

/// A text with HTML's special characters escaped.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Control signs are no part of a page (HTML, section 13.1.4).
            sign if sign.is_control() && sign != '\n' => {}
            sign => out.push(sign),
        }
    }
    out
}

/// A page of its own.
pub fn page(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n",
        escape(title)
    )
}

/// Bytes as an address that holds them.
pub fn data_address(kind: &str, bytes: &[u8]) -> String {
    format!("data:{kind};base64,{}", base64::encode(bytes, base64::STANDARD))
}

/// A text of one paragraph, with its runs.
pub fn inline(text: &str) -> String {
    let mut out = String::new();
    for (style, run) in spans(text) {
        let run = escape(run);
        match style {
            Style::Plain => out.push_str(&run),
            Style::Bold => out.extend(["<strong>", &run, "</strong>"]),
            Style::Emphasis => out.extend(["<em>", &run, "</em>"]),
            Style::Code => out.extend(["<code>", &run, "</code>"]),
        }
    }
    out
}

/// A lesson as HTML; its headings begin at `level`.
pub fn lesson(text: &str, level: usize) -> String {
    let mut out = String::new();
    let mut list: Option<&str> = None;
    for block in blocks(text) {
        let wanted = match &block {
            Block::Item(sign, _) if sign == "•" => Some("ul"),
            Block::Item(..) => Some("ol"),
            _ => None,
        };
        if list != wanted {
            if let Some(open) = list {
                let _ = writeln!(out, "</{open}>");
            }
            if let Some(open) = wanted {
                let _ = writeln!(out, "<{open}>");
            }
            list = wanted;
        }
        let _ = match block {
            Block::Heading(own, heading) => {
                let level = (level + own - 1).min(6);
                writeln!(out, "<h{level}>{}</h{level}>", inline(heading))
            }
            Block::Paragraph(text) => writeln!(out, "<p>{}</p>", inline(&text)),
            Block::Item(_, text) => writeln!(out, "<li>{}</li>", inline(&text)),
            Block::Code(code) => writeln!(out, "<pre>{}</pre>", escape(&code)),
        };
    }
    if let Some(open) = list {
        let _ = writeln!(out, "</{open}>");
    }
    out
}

/// A table of two or more columns; its first row is the heading. Cells are HTML. On narrow screens, what follows the fifth column stands below it.
pub fn table(rows: &[Vec<String>]) -> String {
    let is_wide = rows.iter().any(|row| row.len() > 5);
    let mut out = if is_wide {
        "<table class=\"wide\">\n"
    } else {
        "<table>\n"
    }
    .to_owned();
    for (n, row) in rows.iter().enumerate() {
        let cell = if n == 0 { "th" } else { "td" };
        out.push_str("<tr>");
        for text in row {
            let _ = write!(out, "<{cell}>{text}</{cell}>");
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_scene_is_read_as_html() {
        let evil = "<script>alert(1)</script> & \"quotes\" `<b>` **<i>**\n\n    <pre>\n\n# <h1>\n\n- <li>";
        let html = lesson(evil, 2);
        for tag in ["<script", "<b>", "<i>", "<pre>\n<pre>", "<h1>", "<li><li>"] {
            assert!(!html.contains(tag), "{tag} in\n{html}");
        }
        assert!(
            html.contains("&lt;script&gt;") && html.contains("<code>&lt;b&gt;</code>"),
            "{html}"
        );
        assert!(page("<title>", "").contains("<title>&lt;title&gt;</title>"));
        assert_eq!(escape("a\u{7}b\nc"), "ab\nc");
    }

    /// A page on a phone does not have to be moved sideways: columns beyond the fifth go below the others.
    #[test]
    fn tables_of_many_columns_are_made_for_narrow_screens() {
        let row = |cells: usize| vec![vec!["a".to_owned(); cells]];
        assert!(table(&row(2)).starts_with("<table>\n<tr><th>a</th>"));
        assert!(table(&row(6)).starts_with("<table class=\"wide\">\n"));
        assert!(page("", "").contains(".wide td:nth-child(n+6) { grid-column: 1 / -1;"));
    }

    #[test]
    fn lists_open_and_close_around_their_items() {
        let html = lesson("# A\ntext\n\n- one\n- two\n\n1. first\n\nend", 2);
        assert_eq!(
            html,
            "<h2>A</h2>\n<p>text</p>\n<ul>\n<li>one</li>\n<li>two</li>\n</ul>\n<ol>\n<li>first</li>\n</ol>\n<p>end</p>\n"
        );
        assert!(lesson("- last", 2).ends_with("</ul>\n"));
    }
}
