//! Ripplon: a desktop laboratory for waves. Everything is in the library; see `ripplon --help`.

#[cfg(not(target_family = "wasm"))]
fn main() -> std::process::ExitCode {
    ripplon::cli::main()
}

#[cfg(target_family = "wasm")]
fn main() {}
