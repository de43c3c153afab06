//! Kernels in the binary, and what is passed to them.

/// PTX in the binary, made by `kernels/build`.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// Its file in `kernels/ptx`, without the ending.
    pub name: &'static str,
    /// Its text.
    pub ptx: &'static str,
}

/// The [`Source`] of a file in `kernels/ptx`.
macro_rules! source {
    ($name:literal) => {
        $crate::backend::cuda::Source {
            name: $name,
            ptx: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/ptx/", $name, ".ptx")),
        }
    };
}
pub(crate) use source;

/// Lets structs be parameters of kernels: each must be `repr(C)`, `Copy`, made of numbers only, and declared alike by the kernel.
macro_rules! parameters {
    ($($name:ident $(<$t:ident>)?),* $(,)?) => {$(
        // SAFETY: `repr(C)`, `Copy`, and made of numbers only.
        #[allow(unsafe_code, reason = "promises that the bytes are what the kernel declares")]
        unsafe impl $(<$t: $crate::field::Real>)? $crate::backend::cuda::DeviceRepr for $name $(<$t>)? {}
    )*};
}
pub(crate) use parameters;

#[cfg(test)]
impl Source {
    /// Bytes of the parameters that are structs, arrays included, as the PTX declares them for an entry.
    #[allow(clippy::unwrap_used, reason = "a test may fail where it stands")]
    pub(crate) fn declared(&self, entry: &str) -> Vec<usize> {
        let start = self.ptx.find(&format!(".entry {entry}(")).unwrap();
        let list = &self.ptx[start..start + self.ptx[start..].find(')').unwrap()];
        list.lines()
            .filter(|line| line.contains(".param") && line.contains('['))
            .map(|line| {
                let size = line.rsplit('[').next().unwrap();
                size[..size.find(']').unwrap()].parse().unwrap()
            })
            .collect()
    }
}
