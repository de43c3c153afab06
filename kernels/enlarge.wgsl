// A picture that was drawn at another resolution, laid over the target: bilinear between its pixels.
//
// The picture is gamma-space and premultiplied.

struct View {
    // Texel under the framebuffer's pixel (0, 0), and texels per pixel.
    origin: vec2f,
    step: vec2f,
    size: vec2f,
    linear_target: u32,
    unused: u32,
}

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var picture: texture_2d<f32>;

@fragment
fn fragment(@builtin(position) pixel: vec4f) -> @location(0) vec4f {
    let at = view.origin + view.step * pixel.xy - 0.5;
    let base = floor(at);
    let f = at - base;
    let last = vec2i(view.size) - 1;
    let a = clamp(vec2i(base), vec2i(0), last);
    let b = clamp(vec2i(base) + 1, vec2i(0), last);
    let upper = mix(textureLoad(picture, a, 0), textureLoad(picture, vec2i(b.x, a.y), 0), f.x);
    let lower = mix(textureLoad(picture, vec2i(a.x, b.y), 0), textureLoad(picture, b, 0), f.x);
    let color = mix(upper, lower, f.y);
    if view.linear_target == 1u && color.a > 0.0 {
        return vec4f(to_linear(color.rgb / color.a) * color.a, color.a);
    }
    return color;
}
