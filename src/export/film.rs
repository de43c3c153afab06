//! A run as a film or a picture: the engine steps, the painter paints, a writer encodes.

use super::{ExportError, FilmWriter, Picture, Progress};
use crate::engine::{Engine, EngineError, ends};

/// Why a film was not made.
#[derive(Debug, thiserror::Error)]
pub enum FilmError {
    /// The run failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A picture could not be written, or the user cancelled.
    #[error(transparent)]
    Export(#[from] ExportError),
}

impl FilmError {
    /// Whether the request is at fault (exit code 2) rather than the run (exit code 1).
    pub fn is_input(&self) -> bool {
        match self {
            Self::Engine(error) => error.is_input(),
            Self::Export(error) => error.is_input(),
        }
    }
}

/// The painter of the pictures of a film, for one run or for two.
pub trait Shot {
    /// Pixels of every picture.
    fn size(&self) -> [usize; 2];

    /// The picture that was made last.
    fn picture(&self) -> &Picture;

    /// Ends a picture early, unfinished, if `progress` is cancelled.
    fn watch(&mut self, progress: &Progress);

    /// Makes the card with the title.
    fn title_card(&mut self, engine: &Engine);

    /// Makes the card with predictions and measured values.
    fn end_card(&mut self, engine: &Engine);

    /// Makes a picture of the engine's present state, `seconds` of the film after the last one.
    ///
    /// # Errors
    /// If an engine fails.
    fn shoot(&mut self, engine: &mut Engine, seconds: f32) -> Result<(), EngineError>;
}

/// Seconds of a film of usual length.
const USUAL_SECONDS: f64 = 10.0;

/// The times that a film shows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Script {
    /// Time of the first picture.
    pub from: f64,
    /// Time of the last picture.
    pub to: f64,
    /// Pictures; one shows only `to`.
    pub pictures: u32,
    /// Pictures per second.
    pub fps: f64,
    /// Seconds for which a card with the title is shown before the first picture.
    pub title: f64,
    /// Seconds for which a card with predictions and measured values is shown after the last one.
    pub end: f64,
}

impl Script {
    /// All pictures, with those of both cards.
    pub fn all_pictures(&self) -> u32 {
        let cards = self.still(self.title).saturating_add(self.still(self.end));
        self.pictures.saturating_add(cards)
    }

    /// Pictures for which a card stands.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to numbers of pictures"
    )]
    fn still(&self, seconds: f64) -> u32 {
        (seconds * self.fps).round().clamp(0.0, 1e6) as u32
    }

    /// Seconds between two pictures, for what follows the field slowly: those of the film, and in a film of less than [`USUAL_SECONDS`] those that it would have if it lasted so long.
    /// A short film shows the same run faster, and its colours keep up with that.
    pub fn seconds_between(&self) -> f32 {
        #[expect(clippy::cast_possible_truncation, reason = "seconds between two pictures")]
        let seconds = (1.0 / self.fps).max(USUAL_SECONDS / f64::from(self.pictures.max(1))) as f32;
        seconds
    }

    /// The time of picture `n`: even from first to last.
    pub fn time(&self, n: u32) -> f64 {
        if self.pictures < 2 {
            self.to
        } else {
            self.from + (self.to - self.from) * f64::from(n) / f64::from(self.pictures - 1)
        }
    }
}

/// Runs `engine` through the times of `script`, each at its nearest step, and writes a picture of each. `progress` counts pictures.
///
/// # Errors
/// If the run fails, a picture cannot be written, or `progress` was cancelled: then nothing is left behind.
pub fn shoot(
    engine: &mut Engine,
    painter: &mut dyn Shot,
    writer: Box<dyn FilmWriter + '_>,
    script: &Script,
    progress: &Progress,
) -> Result<(), FilmError> {
    let mut shooting = Shooting::new(engine, painter, writer, *script, progress);
    while shooting.next(engine, painter)? {}
    Ok(())
}

/// A film that is being made, picture by picture.
pub struct Shooting<'a> {
    writer: Option<Box<dyn FilmWriter + 'a>>,
    script: Script,
    progress: Progress,
    /// The next picture of the run.
    picture: u32,
    /// The next of all pictures.
    place: u32,
}

impl<'a> Shooting<'a> {
    /// Begins; `engine` and `painter` stop if `progress` is cancelled.
    #[must_use]
    pub fn new(
        engine: &mut Engine,
        painter: &mut dyn Shot,
        writer: Box<dyn FilmWriter + 'a>,
        script: Script,
        progress: &Progress,
    ) -> Self {
        painter.watch(progress);
        let own = progress.clone();
        engine.set_watch(Box::new(move |_, _| ends(own.is_cancelled())));
        Self {
            writer: Some(writer),
            script,
            progress: progress.clone(),
            picture: 0,
            place: 0,
        }
    }

    /// Runs to the next picture and writes it; after the last one completes the film and returns `false`.
    ///
    /// # Errors
    /// As [`shoot`].
    pub fn next(&mut self, engine: &mut Engine, painter: &mut dyn Shot) -> Result<bool, FilmError> {
        let Some(writer) = &mut self.writer else {
            return Ok(false);
        };
        if self.place == self.script.all_pictures() {
            return self.end();
        }
        if writer.is_busy()? {
            self.progress.check()?;
            return Ok(true);
        }
        let seconds = self.script.seconds_between();
        let progress = &self.progress;
        let opening = self.script.still(self.script.title);
        if self.place < opening {
            // A card is painted once.
            if self.place == 0 {
                painter.title_card(engine);
            }
        } else if self.picture < self.script.pictures {
            let end = engine.run_until(self.script.time(self.picture), &mut |_, _| {
                ends(progress.is_cancelled())
            })?;
            if !end.reached {
                return Err(ExportError::Cancelled.into());
            }
            painter.shoot(engine, seconds)?;
            self.picture += 1;
        } else if self.place == opening + self.script.pictures {
            painter.end_card(engine);
        }
        progress.check()?;
        writer.push(painter.picture())?;
        progress.advance()?;
        self.place += 1;
        if self.place < self.script.all_pictures() {
            return Ok(true);
        }
        self.end()
    }

    /// Completes the film once its encoder has returned everything; returns whether it has not yet.
    fn end(&mut self) -> Result<bool, FilmError> {
        self.progress.check()?;
        if let Some(writer) = &mut self.writer
            && !writer.flush()?
        {
            return Ok(true);
        }
        if let Some(writer) = self.writer.take() {
            writer.finish()?;
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_film_is_followed_as_one_of_usual_length() {
        let script = |pictures, fps| Script {
            pictures,
            fps,
            ..Script::default()
        };
        assert!((script(300, 30.0).seconds_between() - 1.0 / 30.0).abs() < 1e-6);
        assert!((script(900, 30.0).seconds_between() - 1.0 / 30.0).abs() < 1e-6);
        assert!((script(30, 30.0).seconds_between() - 1.0 / 3.0).abs() < 1e-6);
        assert!((script(0, 30.0).seconds_between() - 10.0).abs() < 1e-6);
    }
}
