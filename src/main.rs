//! Ripplon: a desktop laboratory for waves. Everything is in the library; see `ripplon --help`.

#[cfg(not(target_family = "wasm"))]
fn main() -> std::process::ExitCode {
    ripplon::cli::main()
}

#[cfg(all(target_family = "wasm", feature = "gui"))]
fn main() {
    ripplon::app::run();
}

#[cfg(all(target_family = "wasm", not(feature = "gui")))]
fn main() {}
