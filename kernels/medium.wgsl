// The medium over the field: walls as plain stone, potential, sound speed or density as a faint veil with contour lines.
//
// Texels hold (level, -1..1; wall, 0 or 1). Colours are gamma-space, premultiplied.

struct View {
    origin: vec2f,
    step: vec2f,
    size: vec2f,
    // Contour lines between 0 and 1.
    lines: f32,
    strength: f32,
    // Their rim, and what lies farther inside.
    wall: vec4f,
    stone: vec4f,
    hill: vec4f,
    well: vec4f,
    linear_target: u32,
    unused_a: u32,
    unused_b: u32,
    unused_c: u32,
}

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var medium: texture_2d<f32>;

fn texel(at: vec2i) -> vec2f {
    return textureLoad(medium, clamp(at, vec2i(0), vec2i(view.size) - 1), 0).rg;
}

@fragment
fn fragment(@builtin(position) pixel: vec4f) -> @location(0) vec4f {
    let at = view.origin + view.step * pixel.xy;
    let base = floor(at - 0.5);
    let f = at - 0.5 - base;
    let n = vec2i(base);
    let a = texel(n);
    let b = texel(n + vec2i(1, 0));
    let c = texel(n + vec2i(0, 1));
    let d = texel(n + vec2i(1, 1));
    // Where neighbours differ by more than a contour or two there is an edge: it is drawn as sharp as its sites are.
    let span = max(max(a.x, b.x), max(c.x, d.x)) - min(min(a.x, b.x), min(c.x, d.x));
    let steep = span * view.lines > 1.5;
    let sloped = mix(mix(a.x, b.x, f.x), mix(c.x, d.x, f.x), f.y);
    let level = select(sloped, texel(vec2i(floor(at))).x, steep);
    // Contours stand where level * lines + 1/2 passes a whole number; their width is one pixel whatever the slope. Derivatives are
    // taken before any early exit, where control flow is still uniform.
    let phase = sloped * view.lines + 0.5;
    let slope = max(fwidth(phase), 1e-5);
    let nearest = abs(fract(phase - 0.5) - 0.5) / slope;
    if any(at < vec2f(0.0)) || any(at >= view.size) {
        discard;
    }
    let wall = texel(vec2i(floor(at))).y;
    if wall > 0.5 {
        // A rim of two pixels; a wall that is cut off by the edge of the grid goes on there.
        var inside = true;
        for (var i = -1; i <= 1; i++) {
            for (var j = -1; j <= 1; j++) {
                let beside = at + 2.0 * view.step * vec2f(f32(i), f32(j));
                inside = inside && texel(vec2i(floor(beside))).y > 0.5;
            }
        }
        let color = select(view.wall, view.stone, inside);
        return finish(color * vec4f(color.aaa, 1.0));
    }
    let tint = select(view.well, view.hill, level >= 0.0);
    let veil = 0.18 * abs(level);
    // Flat ground has no contours, also beside an edge, where the derivative across two pixels is none of its own.
    let flat = span * view.lines < 1e-4;
    let line = select(0.0, 0.45 * (1.0 - clamp(nearest, 0.0, 1.0)), !steep && !flat && abs(level) > 0.02);
    let alpha = clamp((veil + line) * view.strength, 0.0, 1.0);
    return finish(vec4f(tint.rgb * alpha, alpha));
}

fn finish(color: vec4f) -> vec4f {
    if view.linear_target == 1u && color.a > 0.0 {
        return vec4f(pow(color.rgb / color.a, vec3f(2.2)) * color.a, color.a);
    }
    return color;
}
