// The field: one value (and phase) a texel, through a colour table, at pixel resolution.
//
// Textures are R32Float without a sampler (32-bit floats are not filterable everywhere): textureLoad and bilinear
// interpolation by hand, or the nearest texel where texels are large enough to be seen as sites.
// Output is in the target's gamma space unless `linear_target` says that the target encodes by itself.

struct View {
    // Texel under the framebuffer's pixel (0, 0), and texels per pixel; y runs up in the field and down on the screen.
    origin: vec2f,
    step: vec2f,
    size: vec2f,
    // Values at the two ends of the table or of the brightness.
    low: f32,
    high: f32,
    // Entry of the table for a value: floor(offset + scale * value + 1/2), as in src/colormap.rs.
    offset: f32,
    scale: f32,
    // Exponent of the brightness scale: 1 linear, 1/2 square root.
    gamma: f32,
    // 0: value through the table; 1: phase as hue, value as brightness; 2: as 0, symmetric about zero.
    mode: u32,
    smooth_texels: u32,
    linear_target: u32,
    // WebGL takes multiples of 16 bytes.
    unused_a: u32,
    unused_b: u32,
}

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var values: texture_2d<f32>;
@group(0) @binding(2) var phases: texture_2d<f32>;
@group(0) @binding(3) var table: texture_2d<f32>;
@group(0) @binding(4) var hues: texture_2d<f32>;

// A value moved along the brightness scale, so that the ends of the range stay where they are.
fn scaled(value: f32) -> f32 {
    if view.gamma == 1.0 {
        return value;
    }
    if view.mode == 2u {
        return sign(value) * view.high * pow(clamp(abs(value) / view.high, 0.0, 1.0), view.gamma);
    }
    let span = view.high - view.low;
    return view.low + span * pow(clamp((value - view.low) / span, 0.0, 1.0), view.gamma);
}

fn value_color(value: f32) -> vec3f {
    let entry = clamp(floor(view.offset + view.scale * scaled(value) + 0.5), 0.0, 255.0);
    return textureLoad(table, vec2i(i32(entry), 0), 0).rgb;
}

// The cyclic table: entry 0 is phase 0 (real, positive).
fn phase_color(turn: f32) -> vec3f {
    let entry = i32(floor(fract(turn) * 256.0 + 0.5)) & 255;
    return textureLoad(hues, vec2i(entry, 0), 0).rgb;
}

@fragment
fn fragment(@builtin(position) pixel: vec4f) -> @location(0) vec4f {
    let at = view.origin + view.step * pixel.xy;
    if any(at < vec2f(0.0)) || any(at >= view.size) {
        discard;
    }
    let last = vec2i(view.size) - 1;
    var value: f32;
    var psi: vec2f;
    if view.smooth_texels == 1u {
        // Texel n is centred at n + 1/2.
        let base = floor(at - 0.5);
        let f = at - 0.5 - base;
        let a = clamp(vec2i(base), vec2i(0), last);
        let b = clamp(vec2i(base) + 1, vec2i(0), last);
        let v = vec4f(
            textureLoad(values, a, 0).r,
            textureLoad(values, vec2i(b.x, a.y), 0).r,
            textureLoad(values, vec2i(a.x, b.y), 0).r,
            textureLoad(values, b, 0).r,
        );
        value = mix(mix(v.x, v.y, f.x), mix(v.z, v.w, f.x), f.y);
        if view.mode == 1u {
            // Angles are interpolated as the complex numbers that they belong to.
            let p = vec4f(
                textureLoad(phases, a, 0).r,
                textureLoad(phases, vec2i(b.x, a.y), 0).r,
                textureLoad(phases, vec2i(a.x, b.y), 0).r,
                textureLoad(phases, b, 0).r,
            );
            let re = v * cos(p);
            let im = v * sin(p);
            psi = vec2f(
                mix(mix(re.x, re.y, f.x), mix(re.z, re.w, f.x), f.y),
                mix(mix(im.x, im.y, f.x), mix(im.z, im.w, f.x), f.y),
            );
        }
    } else {
        let texel = clamp(vec2i(at), vec2i(0), last);
        value = textureLoad(values, texel, 0).r;
        if view.mode == 1u {
            let phase = textureLoad(phases, texel, 0).r;
            psi = vec2f(cos(phase), sin(phase));
        }
    }
    if view.mode == 1u {
        var turn = 0.0;
        if any(psi != vec2f(0.0)) {
            turn = atan2(psi.y, psi.x) * 0.15915494309189535;
        }
        let span = view.high - view.low;
        var brightness = 0.0;
        if span > 0.0 {
            brightness = pow(clamp((value - view.low) / span, 0.0, 1.0), view.gamma);
        }
        // The cube of the brightness scales linear light: lightness falls, the hue stays (src/colormap.rs).
        let light = to_linear(phase_color(turn)) * (brightness * brightness * brightness);
        if view.linear_target == 1u {
            return vec4f(light, 1.0);
        }
        return vec4f(to_gamma(light), 1.0);
    }
    let color = value_color(value);
    if view.linear_target == 1u {
        return vec4f(to_linear(color), 1.0);
    }
    return vec4f(color, 1.0);
}
