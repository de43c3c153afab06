//! Where a worker's engine is, while that is another machine.

use std::sync::{Arc, Mutex, PoisonError};

/// How a link stands.
#[derive(Clone, Debug, PartialEq)]
pub enum LinkState {
    /// Frames come, so many bytes a second.
    Connected(f64),
    /// It is being connected again; why it was lost.
    Lost(String),
    /// It will not come back, and why.
    Ended(String),
}

/// A link to the machine of the run.
#[derive(Clone, Debug)]
pub struct Link {
    /// The machine, as it calls itself.
    pub host: String,
    /// Where it was connected to.
    pub address: String,
    state: Arc<Mutex<LinkState>>,
}

impl Link {
    /// One that was just made.
    #[must_use]
    pub fn new(host: String, address: String) -> Self {
        Self {
            host,
            address,
            state: Arc::new(Mutex::new(LinkState::Connected(0.0))),
        }
    }

    /// How it stands.
    #[must_use]
    pub fn state(&self) -> LinkState {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// It stands otherwise now.
    pub fn set(&self, state: LinkState) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}
