// What kernels/sound_sums.wgsl sums of coupled oscillators. Numbers of its own are half a step, and the stiffness of bonds where all are alike and of springs at soft edges;
// src/solver/oscillators/measure.rs has the energy and its flux. Memory: 8 B a site, 24 B where masses and springs differ.

// Whether masses and springs differ from site to site
override EACH: bool = false;

@group(0) @binding(0) var<storage, read> q: array<f32>;
@group(0) @binding(1) var<storage, read> other: array<f32>; // momenta, or the integral of q up to half a step later
@group(0) @binding(2) var<storage, read> medium: array<vec4f>; // mass, the bonds to the next site along x and y, springs at soft edges
@group(0) @binding(3) var<storage, read_write> numbers: array<f32>;
@group(0) @binding(4) var<uniform> region: Region;

// The site that is summed
var<private> at: vec3i;
var<private> place: i32;

fn site_of(at: vec2i) -> i32 { return at.y * region.size.x + at.x; }

// q and p, or the integral of q and its rate, times the scale
fn level(at: vec2i) -> vec2f {
    let site = site_of(at);
    let pressure = region.scale * q[site];
    let beside = region.scale * other[site];
    return select(vec2f(pressure, beside), vec2f(fma(-region.own.x, pressure, beside), pressure), region.sound != 0);
}

fn springs(at: vec2i) -> vec4f {
    if (EACH) { return medium[site_of(at)]; }
    let next = vec2f(
        f32(at.x + 1 < region.size.x || region.ring.x != 0),
        f32(at.y + 1 < region.size.y || region.ring.y != 0),
    );
    let ends = vec2f(f32(at.x == 0) + f32(at.x + 1 == region.size.x), f32(at.y == 0) + f32(at.y + 1 == region.size.y));
    return vec4f(1.0, region.own.y * next, region.own.y * dot(ends, vec2f(region.soft)));
}

// The site one further along an axis, or one before; (-1, -1) where there is none
fn beside(at: vec2i, axis: i32, towards: i32) -> vec2i {
    var there = at;
    there[axis] += towards;
    let n = region.size[axis];
    if (there[axis] < 0 || there[axis] >= n) {
        if (region.ring[axis] == 0) { return vec2i(-1); }
        there[axis] = (there[axis] + n) % n;
    }
    return there;
}

// A site's half of a bond
fn stretched(k: f32, own: f32, there: vec2i) -> f32 {
    if (k == 0.0 || there.x < 0) { return 0.0; }
    let change = level(there).x - own;
    return k * change * change / 4.0;
}

// Of a site, times K of the background and the square of the scale
fn energy() -> f32 {
    if (any(at < region.inside_lo) || any(at >= region.inside_hi)) { return 0.0; }
    let own = level(at.xy);
    let here = springs(at.xy);
    var sum = own.y * own.y / (2.0 * select(here.x, 1.0 / here.x, region.sound != 0));
    for (var axis = 0; axis < 2; axis++) {
        sum += stretched(here[1 + axis], own.x, beside(at.xy, axis, 1));
        let before = beside(at.xy, axis, -1);
        if (before.x >= 0) {
            let under = springs(before);
            sum += stretched(under[1 + axis], own.x, before);
        }
    }
    return sum + here.w * own.x * own.x / 2.0;
}

// What flows to the next site along the region's axis, times K / a and the square of the scale
fn flux() -> f32 {
    let next = beside(at.xy, region.across, 1);
    let here = springs(at.xy);
    let k = here[1 + region.across];
    if (next.x < 0 || k == 0.0) { return 0.0; }
    let own = level(at.xy);
    let there = level(next);
    var rate = 0.5 * (own.y + there.y);
    if (region.sound == 0) { rate = 0.5 * (own.y / here.x + there.y / springs(next).x); }
    return -k * rate * (there.x - own.x);
}

fn pressure() -> f32 { return q[place]; }
