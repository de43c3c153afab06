//! A film's encoder on a separate thread: it encodes a picture while the next one is stepped and painted.

use super::{ExportError, FilmWriter, Picture};
use crossbeam_channel::{Receiver, Sender, bounded};
use std::path::Path;
use std::thread::{Builder, JoinHandle};

/// Pictures that wait for the encoder; when there are more, the run waits.
const WAITING: usize = 2;

/// A writer that is fed through a queue.
pub struct Behind {
    /// What is to be done; `None` once the film is complete or has failed.
    work: Option<Sender<Work>>,
    /// Pictures that were written, to be filled again.
    spare: Receiver<Picture>,
    thread: Option<JoinHandle<Result<(), ExportError>>>,
}

enum Work {
    Picture(Picture),
    Finish,
}

impl Behind {
    /// Moves a writer of `path` to a thread.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn start(writer: Box<dyn FilmWriter>, path: &Path) -> Result<Self, ExportError> {
        let (work, tasks) = bounded(WAITING);
        let (back, spare) = bounded(WAITING + 1);
        let thread = Builder::new().name("ripplon-encoder".to_owned());
        let thread = thread.spawn(move || encode(writer, &tasks, &back));
        Ok(Self {
            work: Some(work),
            spare,
            thread: Some(thread.map_err(ExportError::io(path))?),
        })
    }

    /// Hands on a task; what went wrong before, if the thread has ended.
    fn hand_on(&mut self, task: Work) -> Result<(), ExportError> {
        match &self.work {
            Some(work) if work.send(task).is_ok() => Ok(()),
            _ => Err(self.end().err().unwrap_or_else(|| failed("it has ended"))),
        }
    }

    /// Waits for the thread.
    fn end(&mut self) -> Result<(), ExportError> {
        self.work = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(_)) => Err(failed("its thread ended with an internal error")),
            None => Ok(()),
        }
    }
}

/// What the thread does: an end of the queue before [`Work::Finish`] leaves nothing behind.
fn encode(mut writer: Box<dyn FilmWriter>, tasks: &Receiver<Work>, back: &Sender<Picture>) -> Result<(), ExportError> {
    for task in tasks {
        match task {
            Work::Picture(picture) => {
                writer.push(&picture)?;
                // Without room, or a film that has ended, it is not needed again.
                let _ = back.try_send(picture);
            }
            Work::Finish => return writer.finish(),
        }
    }
    Ok(())
}

fn failed(message: &str) -> ExportError {
    ExportError::Encoder {
        format: "the encoder",
        message: message.to_owned(),
    }
}

impl FilmWriter for Behind {
    fn push(&mut self, picture: &Picture) -> Result<(), ExportError> {
        let mut rgb = self.spare.try_recv().unwrap_or_default().rgb;
        rgb.clone_from(&picture.rgb);
        self.hand_on(Work::Picture(Picture { rgb, ..*picture }))
    }

    fn finish(mut self: Box<Self>) -> Result<(), ExportError> {
        self.hand_on(Work::Finish)?;
        self.end()
    }
}

impl Drop for Behind {
    fn drop(&mut self) {
        // What is half written is gone when this is.
        let _ = self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// Notes what becomes of it.
    struct Noting {
        notes: Arc<Mutex<Vec<String>>>,
        fails_at: usize,
    }

    impl Noting {
        fn note(&self, text: &str) -> usize {
            let mut notes = self.notes.lock().unwrap();
            notes.push(text.to_owned());
            notes.len()
        }
    }

    impl FilmWriter for Noting {
        fn push(&mut self, picture: &Picture) -> Result<(), ExportError> {
            if self.note(&format!("{:?}", picture.rgb)) == self.fails_at {
                return Err(failed("full"));
            }
            Ok(())
        }

        fn finish(self: Box<Self>) -> Result<(), ExportError> {
            self.note("finished");
            Ok(())
        }
    }

    impl Drop for Noting {
        fn drop(&mut self) {
            self.note("dropped");
        }
    }

    fn film(pictures: u8, fails_at: usize, finish: bool) -> (Result<(), ExportError>, Vec<String>) {
        let notes = Arc::default();
        let writer = Noting {
            notes: Arc::clone(&notes),
            fails_at,
        };
        let mut film = Box::new(Behind::start(Box::new(writer), Path::new("film")).unwrap());
        let pushed = (0..pictures).try_for_each(|n| film.push(&Picture::filled(1, 1, [n; 3])));
        let result = match pushed {
            Ok(()) if finish => film.finish(),
            other => {
                drop(film);
                other
            }
        };
        let notes = notes.lock().unwrap().clone();
        (result, notes)
    }

    #[test]
    fn pictures_come_in_turn_and_the_film_is_finished_once() {
        let (result, notes) = film(5, 0, true);
        assert!(result.is_ok());
        let mut wanted: Vec<String> = (0..5).map(|n| format!("[{n}, {n}, {n}]")).collect();
        wanted.extend(["finished".to_owned(), "dropped".to_owned()]);
        assert_eq!(notes, wanted);
    }

    #[test]
    fn a_film_that_is_given_up_is_dropped_unfinished() {
        let (result, notes) = film(2, 0, false);
        assert!(result.is_ok() && !notes.contains(&"finished".to_owned()), "{notes:?}");
        assert_eq!(notes.last().map(String::as_str), Some("dropped"));
    }

    #[test]
    fn what_the_encoder_says_comes_back() {
        // The picture that fails may be the last one: then finishing says it.
        for pictures in [3, 20] {
            let (result, notes) = film(pictures, 3, true);
            assert!(result.unwrap_err().to_string().contains("full"));
            assert_eq!(notes.len(), 4, "{notes:?}");
        }
    }
}
