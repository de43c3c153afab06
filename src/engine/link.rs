//! The connection to a worker's engine on another machine.

use std::sync::{Arc, Mutex, PoisonError};

/// The state of a connection.
#[derive(Clone, Debug, PartialEq)]
pub enum LinkState {
    /// Connected, with so many bytes per second.
    Connected(f64),
    /// Connecting again; why the connection was lost.
    Lost(String),
    /// Lost for good, and why.
    Ended(String),
}

/// A connection to the machine with the run.
#[derive(Clone, Debug)]
pub struct Link {
    /// The name of the machine.
    pub host: String,
    /// The address.
    pub address: String,
    state: Arc<Mutex<LinkState>>,
}

impl Link {
    /// A new connection.
    #[must_use]
    pub fn new(host: String, address: String) -> Self {
        Self {
            host,
            address,
            state: Arc::new(Mutex::new(LinkState::Connected(0.0))),
        }
    }

    /// Its state.
    pub fn state(&self) -> LinkState {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes its state.
    pub fn set(&self, state: LinkState) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}
