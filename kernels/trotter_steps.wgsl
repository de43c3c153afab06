// What kernels of whole steps of Trotter-Suzuki in two dimensions share. It stands before each of them, behind kernels/trotter.wgsl.

// Turns are tan(angle) and 1/cos(angle), or tanh and 1/cosh
struct Params {
    size: vec2i,
    periodic: vec2i,
    steps: i32,
    chunk: i32,         // of strips: pairs of rows of a block
    interaction: vec2f,
    x_even: vec2f,
    x_odd: vec2f,
    x_odd_again: vec2f, // of nested sweeps
    x_even_again: vec2f,
    y_even: vec2f,
    y_odd: vec2f,
    y_even_again: vec2f,
    unused: vec2f,
}

@group(0) @binding(0) var<uniform> p: Params;
