// A field in space: three slices, or a volume that rays are followed through. src/space/stage.rs says what is drawn and
// src/export/march.rs does the same on the processor; keep the three alike.
//
// The output is gamma-space and premultiplied.

struct View {
    // The fourth number: step of a ray.
    eye: vec4f,
    // The fourth number: entry of the table for a value of 0.
    forward: vec4f,
    // To the right edge of the picture at distance 1. The fourth number: entries per value of 1.
    right: vec4f,
    up: vec4f,
    half_sides: vec4f,
    slices: vec4f,
    // From the world to texture coordinates, and the size of a texel in those.
    field_scale: vec4f,
    field_bias: vec4f,
    field_texel: vec4f,
    medium_scale: vec4f,
    medium_bias: vec4f,
    medium_texel: vec4f,
    wall: vec4f,
    hill: vec4f,
    well: vec4f,
    // Opacity of a surface from the front, what is added edge-on, ambient light, opacity at which a ray ends.
    look: vec4f,
    viewport: vec2f,
    // 0: slices; 1: volume.
    mode: u32,
    // 1: phase as hue.
    cyclic: u32,
    shading: u32,
    medium: u32,
    unused: vec2u,
}

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var field: texture_3d<f32>;
@group(0) @binding(2) var medium: texture_3d<f32>;
@group(0) @binding(3) var linear: sampler;
// Colour and opacity of a step.
@group(0) @binding(4) var table: texture_2d<f32>;

fn field_at(place: vec3f) -> vec2f {
    return textureSampleLevel(field, linear, place, 0.0).rg;
}

fn medium_at(place: vec3f) -> vec2f {
    return textureSampleLevel(medium, linear, place, 0.0).rg;
}

fn size_of(value: vec2f) -> f32 {
    if view.cyclic == 1u {
        return length(value);
    }
    return abs(value.x);
}

fn color_of(value: vec2f) -> vec4f {
    if view.cyclic == 1u {
        let entry = clamp(floor(view.forward.w + view.right.w * length(value) + 0.5), 0.0, 255.0);
        var turn = 0.0;
        if any(value != vec2f(0.0)) {
            turn = atan2(value.y, value.x) * 0.15915494309189535;
        }
        let hue = i32(floor(fract(turn) * 256.0 + 0.5)) & 255;
        let opacity = textureLoad(table, vec2i(i32(entry), 0), 0).a;
        return vec4f(textureLoad(table, vec2i(hue, 0), 0).rgb, opacity);
    }
    let entry = clamp(floor(view.forward.w + view.right.w * value.x + 0.5), 0.0, 255.0);
    return textureLoad(table, vec2i(i32(entry), 0), 0);
}

// Half of the light that a surface with this gradient sends back along the ray.
fn facing(gradient: vec3f, ray: vec3f) -> f32 {
    let steep = length(gradient);
    if steep < 1e-5 {
        return 1.0;
    }
    return abs(dot(gradient, ray)) / steep;
}

fn field_gradient(place: vec3f) -> vec3f {
    let d = view.field_texel.xyz;
    return vec3f(
        size_of(field_at(place + vec3f(d.x, 0.0, 0.0))) - size_of(field_at(place - vec3f(d.x, 0.0, 0.0))),
        size_of(field_at(place + vec3f(0.0, d.y, 0.0))) - size_of(field_at(place - vec3f(0.0, d.y, 0.0))),
        size_of(field_at(place + vec3f(0.0, 0.0, d.z))) - size_of(field_at(place - vec3f(0.0, 0.0, d.z))),
    );
}

fn medium_gradient(place: vec3f) -> mat3x2f {
    let d = view.medium_texel.xyz;
    return mat3x2f(
        medium_at(place + vec3f(d.x, 0.0, 0.0)) - medium_at(place - vec3f(d.x, 0.0, 0.0)),
        medium_at(place + vec3f(0.0, d.y, 0.0)) - medium_at(place - vec3f(0.0, d.y, 0.0)),
        medium_at(place + vec3f(0.0, 0.0, d.z)) - medium_at(place - vec3f(0.0, 0.0, d.z)),
    );
}

// Lays a colour with an opacity behind what a ray has gathered.
fn behind(gathered: vec4f, color: vec3f, opacity: f32) -> vec4f {
    return gathered + (1.0 - gathered.a) * opacity * vec4f(color, 1.0);
}

fn surface_opacity(gradient: vec3f, ray: vec3f) -> f32 {
    let edge = 1.0 - facing(gradient, ray);
    return view.look.x + view.look.y * edge * edge;
}

fn surfaces(gathered: vec4f, last: vec2f, here: vec2f, place: vec3f, ray: vec3f) -> vec4f {
    let wall = (last.x < 0.5) != (here.x < 0.5);
    let level = (abs(last.y) < 0.5) != (abs(here.y) < 0.5);
    if !wall && !level {
        return gathered;
    }
    var result = gathered;
    let gradient = transpose(medium_gradient(place));
    if wall {
        result = behind(result, view.wall.rgb, surface_opacity(gradient[0], ray));
    }
    if level {
        let below = last.y + here.y < 0.0;
        result = behind(result, select(view.hill.rgb, view.well.rgb, below), surface_opacity(gradient[1], ray));
    }
    return result;
}

fn volume(ray: vec3f) -> vec4f {
    let a = (-view.half_sides.xyz - view.eye.xyz) / ray;
    let b = (view.half_sides.xyz - view.eye.xyz) / ray;
    let low = min(a, b);
    let high = max(a, b);
    let near = max(max(low.x, low.y), max(low.z, 0.0));
    let far = min(min(high.x, high.y), high.z);
    var gathered = vec4f(0.0);
    if near >= far {
        return gathered;
    }
    var last = vec2f(0.0);
    let steps = i32((far - near) / view.eye.w + 0.5);
    for (var n = 0; n < steps; n++) {
        let at = view.eye.xyz + (near + (f32(n) + 0.5) * view.eye.w) * ray;
        if view.medium == 1u {
            let place = at * view.medium_scale.xyz + view.medium_bias.xyz;
            let here = medium_at(place);
            gathered = surfaces(gathered, last, here, place, ray);
            last = here;
        }
        let place = at * view.field_scale.xyz + view.field_bias.xyz;
        let color = color_of(field_at(place));
        if color.a > 0.0 {
            var light = 1.0;
            if view.shading == 1u {
                light = view.look.z + (1.0 - view.look.z) * facing(field_gradient(place), ray);
            }
            gathered = behind(gathered, color.rgb * light, color.a);
            if gathered.a > view.look.w {
                break;
            }
        }
    }
    return gathered;
}

fn slices(ray: vec3f) -> vec4f {
    var nearest = 1e30;
    var at = vec3f(0.0);
    let ways = (view.slices.xyz - view.eye.xyz) / ray;
    for (var axis = 0; axis < 3; axis++) {
        let way = ways[axis];
        var place = view.eye.xyz + way * ray;
        place[axis] = view.slices[axis];
        if way > 0.0 && way < nearest && all(abs(place) <= view.half_sides.xyz) {
            nearest = way;
            at = place;
        }
    }
    if nearest == 1e30 {
        return vec4f(0.0);
    }
    var color = color_of(field_at(at * view.field_scale.xyz + view.field_bias.xyz)).rgb;
    if view.cyclic == 1u {
        // As in a plane: the size is the brightness, and its cube scales linear light.
        let size = length(field_at(at * view.field_scale.xyz + view.field_bias.xyz));
        let bright = clamp((view.forward.w + view.right.w * size) / 255.0, 0.0, 1.0);
        color = to_gamma(to_linear(color) * bright * bright * bright);
    }
    if view.medium == 1u {
        let here = medium_at(at * view.medium_scale.xyz + view.medium_bias.xyz);
        color = mix(color, select(view.hill.rgb, view.well.rgb, here.y < 0.0), 0.16 * abs(here.y));
        if here.x >= 0.5 {
            color = view.wall.rgb * 0.7;
        }
    }
    return vec4f(color, 1.0);
}

@fragment
fn fragment(@builtin(position) pixel: vec4f) -> @location(0) vec4f {
    let x = 2.0 * pixel.x / view.viewport.x - 1.0;
    let y = 1.0 - 2.0 * pixel.y / view.viewport.y;
    let ray = normalize(view.forward.xyz + view.right.xyz * x + view.up.xyz * y);
    if view.mode == 0u {
        return slices(ray);
    }
    return volume(ray);
}
