//! Work that goes on beside the window: on threads, or in a page in pieces between two of its frames.

use super::THREADS;
use crossbeam_channel::{Receiver, Sender};
use std::io;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What `work` gives; `None` where it ended in a panic, i.e. a fault of the program: whoever waits for it must hear of that.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// Does something aside, once.
///
/// # Errors
/// If the system gives no thread.
pub fn aside(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    aside_in_pieces(name, move || {
        let mut work = Some(work);
        move || {
            if let Some(work) = work.take() {
                work();
            }
            ControlFlow::Break(())
        }
    })
}

/// Does something long aside: what `begin` gives is called until it breaks off. With threads a piece may wait; without, it must not ([`next`]), and should
/// end within a frame.
///
/// # Errors
/// If the system gives no thread.
pub fn aside_in_pieces<P>(name: &str, begin: impl FnOnce() -> P + Send + 'static) -> io::Result<()>
where
    P: FnMut() -> ControlFlow<()> + 'static,
{
    #[cfg(not(target_family = "wasm"))]
    {
        let thread = std::thread::Builder::new().name(format!("ripplon-{name}"));
        thread.spawn(move || {
            let mut piece = begin();
            while piece().is_continue() {}
        })?;
    }
    #[cfg(target_family = "wasm")]
    {
        let _ = name;
        wasm_bindgen_futures::spawn_local(async move {
            pause().await;
            let mut piece = begin();
            while piece().is_continue() {
                pause().await;
            }
        });
    }
    Ok(())
}

/// Lets the page do what else it has to do, e.g. show a frame.
#[cfg(target_family = "wasm")]
async fn pause() {
    let timer = js_sys::Promise::new(&mut |done, _| {
        if let Some(window) = web_sys::window() {
            // A page that gives no timer is closed, and nothing goes on in it.
            let _ = window.set_timeout_with_callback(&done);
        }
    });
    let _ = wasm_bindgen_futures::JsFuture::from(timer).await;
}

/// A queue between two who work beside each other: with threads of `most` places, so that the one who is faster waits; without threads nobody can wait.
pub fn queue<T>(most: usize) -> (Sender<T>, Receiver<T>) {
    if THREADS {
        crossbeam_channel::bounded(most)
    } else {
        crossbeam_channel::unbounded()
    }
}

/// The next of a queue: with threads it is waited for, without, `None` = not yet.
///
/// # Errors
/// If nothing comes any more.
pub fn next<T>(queue: &Receiver<T>) -> Result<Option<T>, crossbeam_channel::RecvError> {
    if THREADS {
        return queue.recv().map(Some);
    }
    match queue.try_recv() {
        Ok(item) => Ok(Some(item)),
        Err(crossbeam_channel::TryRecvError::Empty) => Ok(None),
        Err(crossbeam_channel::TryRecvError::Disconnected) => Err(crossbeam_channel::RecvError),
    }
}
