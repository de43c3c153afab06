//! Signs that no font of the window has: the system's fonts are looked through for them beside the window, and the texts are drawn again once one was found.

use super::system;
use super::theme::strong_family;
use crossbeam_channel::{Receiver, unbounded};
use egui::{FallbackRequest, FontData, FontFamily, FontInsert, FontPriority, InsertFontFamily};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The signs that were missed.
pub struct Lacking {
    missed: Receiver<char>,
    /// Those that were looked for already.
    asked: BTreeSet<char>,
}

impl Lacking {
    /// Hears of every sign that a text of `ctx` lacks; in a page the browser draws them.
    pub fn of(ctx: &egui::Context) -> Self {
        let (missing, missed) = unbounded();
        if system::FOLDERS {
            ctx.add_font_provider(Arc::new(move |request: &FallbackRequest<'_>| {
                // Reading fonts holds up the window: it is told of them later.
                let _ = request.cluster.chars().next().map(|sign| missing.send(sign));
                None
            }));
        }
        Self {
            missed,
            asked: BTreeSet::new(),
        }
    }

    /// Signs that are to be looked for, each once.
    pub fn take(&mut self) -> String {
        let new = self.missed.try_iter().filter(|sign| is_letter(*sign));
        new.filter(|sign| self.asked.insert(*sign)).collect()
    }
}

/// Whether fonts of the system are looked through for a sign: letters of China, Japan and Korea, and what stands between them.
fn is_letter(sign: char) -> bool {
    matches!(sign, '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe4f}' | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}

/// Adds fonts behind all others.
pub fn add(ctx: &egui::Context, fonts: Vec<(String, Vec<u8>)>) {
    for (name, bytes) in fonts {
        tracing::info!("{name} has signs that the program's own fonts lack");
        let last = |family| InsertFontFamily {
            family,
            priority: FontPriority::Lowest,
        };
        let families = [FontFamily::Proportional, FontFamily::Monospace, strong_family()];
        ctx.add_font(FontInsert {
            name,
            data: FontData::from_owned(bytes),
            families: families.map(last).to_vec(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::theme;

    /// A title with signs that no font has is heard of, each of them once; what other signs lack is not looked for.
    #[test]
    fn lacking_signs_are_heard_of_once() {
        let ctx = egui::Context::default();
        theme::install(&ctx);
        let mut lacking = Lacking::of(&ctx);
        let mut draw = |text: &str| {
            let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
                ui.label(text);
            });
            output.textures_delta.clear();
            lacking.take()
        };
        assert_eq!(draw("Doppelspalt"), "");
        let signs = draw("双缝 \u{1fae0}");
        assert!(
            signs.contains('双') && signs.contains('缝') && signs.chars().count() == 2,
            "{signs}"
        );
        assert_eq!(draw("双缝"), "");
    }
}
