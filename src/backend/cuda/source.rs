//! Kernels in the binary, and what is passed to them.

use super::{CudaError, archive};
use crate::field::Precision;

/// A module of kernels: one of `kernels/manifest.toml`, whose PTX is in the program, or one that was compiled here.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// Its name.
    pub name: &'static str,
    /// The text of one that was compiled here.
    compiled: Option<&'static str>,
}

impl Source {
    /// A module of the manifest; its text is unpacked when it is asked for.
    #[must_use]
    pub const fn embedded(name: &'static str) -> Self {
        Self { name, compiled: None }
    }

    /// The module of a precision, of two in the manifest: of single precision, of double.
    pub(crate) const fn of(precision: Precision, [single, double]: [&'static str; 2]) -> Self {
        Self::embedded(match precision {
            Precision::Single => single,
            Precision::Double => double,
        })
    }

    /// A module with its text.
    pub(super) const fn compiled(name: &'static str, ptx: &'static str) -> Self {
        Self {
            name,
            compiled: Some(ptx),
        }
    }

    /// Its PTX.
    ///
    /// # Errors
    /// If the program has no such module or its archive is damaged.
    pub fn ptx(&self) -> Result<&'static str, CudaError> {
        if let Some(text) = self.compiled {
            return Ok(text);
        }
        let text = archive::embedded().map_err(str::to_owned);
        text.and_then(|archive| archive.ptx(self.name))
            .map_err(|why| CudaError::Call {
                what: format!(
                    "unpacking the kernel {} from the program's archive (kernels/ptx.zst)",
                    self.name
                ),
                message: format!("{why}; install the program anew, or in a checkout run kernels/build"),
            })
    }
}

/// Declares structs that are parameters of kernels, or parts of such. Their fields must be numbers, arrays of numbers or other such structs, declared alike by the kernel.
macro_rules! parameters {
    ($(
        $(#[$about:meta])*
        $seen:vis struct $name:ident $(<$t:ident>)? { $($fields:tt)* }
    )*) => {$(
        $(#[$about])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default)]
        $seen struct $name $(<$t>)? { $($fields)* }

        // SAFETY: `repr(C)`, `Copy`, and made of numbers only.
        #[allow(unsafe_code, reason = "promises that the bytes are what the kernel declares")]
        unsafe impl $(<$t: $crate::field::Real>)? $crate::backend::cuda::DeviceRepr for $name $(<$t>)? {}
    )*};
}
pub(crate) use parameters;

#[cfg(test)]
impl Source {
    /// Bytes of the parameters that are structs, arrays included, as the PTX declares them for an entry.
    pub(crate) fn declared(&self, entry: &str) -> Vec<usize> {
        let ptx = self.ptx().unwrap();
        let start = ptx.find(&format!(".entry {entry}(")).unwrap();
        let list = &ptx[start..start + ptx[start..].find(')').unwrap()];
        list.lines()
            .filter(|line| line.contains(".param") && line.contains('['))
            .map(|line| {
                let size = line.rsplit('[').next().unwrap();
                size[..size.find(']').unwrap()].parse().unwrap()
            })
            .collect()
    }
}
