//! The table of methods.

use super::method::Method;
use super::{chebyshev, crank_nicolson, fdtd, oscillators, split_step_fourier, trotter};

/// Every method, in the order that lists show them.
pub static METHODS: &[&Method] = &[
    &trotter::METHOD,
    &crank_nicolson::METHOD,
    &split_step_fourier::METHOD,
    &chebyshev::METHOD,
    &fdtd::METHOD,
    &oscillators::METHOD,
];

/// The method with this id.
pub fn find(id: &str) -> Option<&'static Method> {
    METHODS.iter().copied().find(|method| method.id == id)
}
