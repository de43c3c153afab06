// A one-dimensional field over x as a filled curve: |psi|^2 coloured by the phase, other values by a colour table.
//
// Textures are those of field.wgsl with one row. Colours are gamma-space, premultiplied.

struct View {
    origin: vec2f,
    // Texels per pixel along x; the second component is the height of one unit of `scale` in pixels.
    step: vec2f,
    size: vec2f,
    low: f32,
    scale: f32,
    // Framebuffer row of the base line.
    base: f32,
    // 0: the value as it is, coloured by the table; 1: the square of the value (|psi| given), coloured by phase; 2: the same in one colour.
    mode: u32,
    linear_target: u32,
    // Place of the value zero in the table, 0 to 1.
    zero: f32,
    line: vec4f,
}

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var values: texture_2d<f32>;
@group(0) @binding(2) var phases: texture_2d<f32>;
// Phases as hues in mode 1, values from low to high in mode 0.
@group(0) @binding(3) var table: texture_2d<f32>;

const PLAIN: vec3f = vec3f(0.29, 0.50, 0.78);

struct Sample {
    height: f32,
    turn: f32,
}

// Half the width of the line, and the pixel over which it fades out.
const REACH: f32 = 1.6;

// Distance of a point from the piece of a straight line between two others.
fn from_piece(point: vec2f, a: vec2f, b: vec2f) -> f32 {
    let way = b - a;
    let part = clamp(dot(point - a, way) / dot(way, way), 0.0, 1.0);
    return distance(point, a + part * way);
}

// Height in pixels above the base line, and phase in turns, at a place in texels.
fn sample(at: f32) -> Sample {
    let last = i32(view.size.x) - 1;
    let base = floor(at - 0.5);
    let f = at - 0.5 - base;
    let a = clamp(i32(base), 0, last);
    let b = clamp(i32(base) + 1, 0, last);
    let va = textureLoad(values, vec2i(a, 0), 0).r;
    let vb = textureLoad(values, vec2i(b, 0), 0).r;
    var out: Sample;
    var value = mix(va, vb, f);
    if view.mode != 0u {
        let pa = textureLoad(phases, vec2i(a, 0), 0).r;
        let pb = textureLoad(phases, vec2i(b, 0), 0).r;
        let psi = mix(va * vec2f(cos(pa), sin(pa)), vb * vec2f(cos(pb), sin(pb)), f);
        if any(psi != vec2f(0.0)) {
            out.turn = atan2(psi.y, psi.x) * 0.15915494309189535;
        }
        value = mix(va * va, vb * vb, f);
    }
    out.height = (value - view.low) * view.scale * view.step.y;
    return out;
}

fn phase_color(turn: f32) -> vec3f {
    let entry = i32(floor(fract(turn) * 256.0 + 0.5)) & 255;
    return textureLoad(table, vec2i(entry, 0), 0).rgb;
}

// `share` is the value as a part of the largest one, -1 to 1.
fn value_color(share: f32) -> vec3f {
    let place = view.zero + select(view.zero, 1.0 - view.zero, share >= 0.0) * share;
    let entry = clamp(i32(floor(place * 255.0 + 0.5)), 0, 255);
    return textureLoad(table, vec2i(entry, 0), 0).rgb;
}

@fragment
fn fragment(@builtin(position) pixel: vec4f) -> @location(0) vec4f {
    let at = view.origin.x + view.step.x * pixel.x;
    if at < 0.0 || at >= view.size.x {
        discard;
    }
    let here = sample(at);
    let above = view.base - pixel.y;
    // Distance to the curve from pixel to pixel, as far as the line reaches: steep flanks stay one line wide, and no flank goes on beyond the place where the curve turns.
    let point = vec2f(0.0, above);
    var apart = 2.0 * REACH;
    for (var side = -1.0; side < 2.0; side += 2.0) {
        let middle = vec2f(0.0, here.height);
        let near = vec2f(side, sample(at + side * view.step.x).height);
        let far = vec2f(2.0 * side, sample(at + 2.0 * side * view.step.x).height);
        apart = min(apart, min(from_piece(point, middle, near), from_piece(point, near, far)));
    }
    let stroke = clamp(REACH - apart, 0.0, 1.0) * view.line.a;
    // Between the base line and the curve, on whichever side the curve is.
    let inside = clamp(min(above, here.height - above) + 0.5, 0.0, 1.0)
        + clamp(min(-above, above - here.height) + 0.5, 0.0, 1.0);
    var fill = value_color(here.height / view.step.y);
    if view.mode == 1u {
        fill = phase_color(here.turn);
    } else if view.mode == 2u {
        fill = PLAIN;
    }
    let fill_alpha = min(inside, 1.0) * 0.9;
    let alpha = stroke + fill_alpha * (1.0 - stroke);
    var color = view.line.rgb * stroke + fill * fill_alpha * (1.0 - stroke);
    if view.linear_target == 1u && alpha > 0.0 {
        color = pow(color / alpha, vec3f(2.2)) * alpha;
    }
    return vec4f(color, alpha);
}
