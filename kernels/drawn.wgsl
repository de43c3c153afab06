// What every drawable's shader shares; it stands before kernels/curve.wgsl, enlarge.wgsl, field.wgsl, medium.wgsl and volume.wgsl.

// One triangle that covers the viewport.
@vertex
fn vertex(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
    let corner = vec2f(f32((index << 1u) & 2u), f32(index & 2u));
    return vec4f(corner * 2.0 - 1.0, 0.0, 1.0);
}

fn to_linear(color: vec3f) -> vec3f {
    let low = color / 12.92;
    let high = pow((color + 0.055) / 1.055, vec3f(2.4));
    return select(high, low, color <= vec3f(0.04045));
}

fn to_gamma(color: vec3f) -> vec3f {
    let low = color * 12.92;
    let high = 1.055 * pow(color, vec3f(1.0 / 2.4)) - 0.055;
    return select(high, low, color <= vec3f(0.0031308));
}

