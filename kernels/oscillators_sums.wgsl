// Sums over a field of coupled oscillators, and largest values: a number, or six, for 64 x 64 sites, a block of threads each; pictures of energies.
// kernels/patches.wgsl stands before it; src/solver/oscillators/measure.rs has the energy and its flux. Memory: 8 B a site, 24 B where masses and springs differ.

// Whether masses and springs differ from site to site
override EACH: bool = false;

// What is summed
const ENERGY = 0;
const FLUX = 1;
const PRESSURE = 2;
const SQUARE = 3;
const LARGEST = 4;

struct Region {
    size: vec2i,
    ring: vec2i,      // axes that close on themselves
    lo: vec2i,
    hi: vec2i,
    kind: i32,
    across: i32,      // the axis of the flux
    to: i32,          // the first number
    sound: i32,       // whether `other` is the integral of q
    inside_lo: vec2i, // sites that have energy: those between absorbing layers
    inside_hi: vec2i,
    across_x: i32,    // blocks side by side, and all of them; of a picture texels
    blocks: i32,
    half_step: f32,
    stiffness: f32,   // of bonds where all are alike, and of springs at soft edges
    soft: vec2i,      // axes with soft edges
    begin: vec2i,     // sites of a picture: the first, and before which it ends
    end: vec2i,
    reduction: i32,   // sites of a texel along x and y
}

@group(0) @binding(0) var<storage, read> q: array<f32>;
@group(0) @binding(1) var<storage, read> other: array<f32>; // momenta, or the integral of q up to half a step later
@group(0) @binding(2) var<storage, read> medium: array<vec4f>; // mass, the bonds to the next site along x and y, springs at soft edges
@group(0) @binding(3) var<storage, read_write> numbers: array<f32>;
@group(0) @binding(4) var<uniform> region: Region;

fn site_of(at: vec2i) -> i32 { return at.y * region.size.x + at.x; }

// q and p, or the integral of q and its rate
fn level(at: vec2i) -> vec2f {
    let site = site_of(at);
    let pressure = q[site];
    return select(vec2f(pressure, other[site]), vec2f(fma(-region.half_step, pressure, other[site]), pressure), region.sound != 0);
}

fn springs(at: vec2i) -> vec4f {
    if (EACH) { return medium[site_of(at)]; }
    let next = vec2f(
        f32(at.x + 1 < region.size.x || region.ring.x != 0),
        f32(at.y + 1 < region.size.y || region.ring.y != 0),
    );
    let ends = vec2f(f32(at.x == 0) + f32(at.x + 1 == region.size.x), f32(at.y == 0) + f32(at.y + 1 == region.size.y));
    return vec4f(1.0, region.stiffness * next, region.stiffness * dot(ends, vec2f(region.soft)));
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

// Of a site, times K of the background
fn energy(at: vec2i) -> f32 {
    if (any(at < region.inside_lo) || any(at >= region.inside_hi)) { return 0.0; }
    let own = level(at);
    let here = springs(at);
    var sum = own.y * own.y / (2.0 * select(here.x, 1.0 / here.x, region.sound != 0));
    for (var axis = 0; axis < 2; axis++) {
        sum += stretched(here[1 + axis], own.x, beside(at, axis, 1));
        let before = beside(at, axis, -1);
        if (before.x >= 0) {
            let under = springs(before);
            sum += stretched(under[1 + axis], own.x, before);
        }
    }
    return sum + here.w * own.x * own.x / 2.0;
}

// What flows to the next site along the region's axis, times K / a
fn flux(at: vec2i) -> f32 {
    let next = beside(at, region.across, 1);
    let here = springs(at);
    let k = here[1 + region.across];
    if (next.x < 0 || k == 0.0) { return 0.0; }
    let own = level(at);
    let there = level(next);
    var rate = 0.5 * (own.y + there.y);
    if (region.sound == 0) { rate = 0.5 * (own.y / here.x + there.y / springs(next).x); }
    return -k * rate * (there.x - own.x);
}

fn asked(at: vec2i) -> f32 {
    switch region.kind {
        case ENERGY: { return energy(at); }
        case FLUX: { return flux(at); }
        case PRESSURE: { return q[site_of(at)]; }
        case SQUARE: { return q[site_of(at)] * q[site_of(at)]; }
        default: { return abs(q[site_of(at)]); }
    }
}

// A number for 64 columns of 64 rows of the region
@compute @workgroup_size(THREADS) fn measure(
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) block: vec3u,
    @builtin(num_workgroups) blocks: vec3u,
) {
    let number = i32(block.y * blocks.x + block.x);
    if (number >= region.blocks) { return; }
    let own = i32(index);
    let largest = region.kind == LARGEST;
    let x = region.lo.x + number % region.across_x * COLUMNS + own % COLUMNS;
    let first = region.lo.y + number / region.across_x * ROWS;
    var sum = 0.0;
    if (x < region.hi.x) {
        for (var y = first + own / COLUMNS; y < min(first + ROWS, region.hi.y); y += THREADS / COLUMNS) {
            let next = asked(vec2i(x, y));
            sum = select(sum + next, max(sum, next), largest);
        }
    }
    let all = joined(index, vec4f(sum), vec4<bool>(largest));
    if (own == 0) { numbers[region.to + number] = all.x; }
}

// Of a patch: the sum of q^2, its moments of first and second order along x and y from the patch's first site on, and the largest |q|
@compute @workgroup_size(THREADS) fn moments(
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) block: vec3u,
    @builtin(num_workgroups) blocks: vec3u,
) {
    let number = i32(block.y * blocks.x + block.x);
    if (number >= region.blocks) { return; }
    let own = i32(index);
    let column = own % COLUMNS;
    let x = number % region.across_x * COLUMNS + column;
    let first = number / region.across_x * ROWS;
    var along = vec4f(); // q^2, its moments along y, the largest
    if (x < region.size.x) {
        for (var row = own / COLUMNS; row < min(ROWS, region.size.y - first); row += THREADS / COLUMNS) {
            let value = q[site_of(vec2i(x, first + row))];
            let y = f32(row);
            along = vec4f(along.xyz + value * value * vec3f(1.0, y, y * y), max(along.w, abs(value)));
        }
    }
    let x_moments = along.x * vec2f(f32(column), f32(column * column));
    let sums = joined(index, along, vec4<bool>(false, false, false, true));
    let others = joined(index, vec4f(x_moments, 0.0, 0.0), vec4<bool>());
    if (own == 0) {
        let to = 6 * number;
        numbers[to] = sums.x;
        numbers[to + 1] = others.x;
        numbers[to + 2] = others.y;
        numbers[to + 3] = sums.y;
        numbers[to + 4] = sums.z;
        numbers[to + 5] = sums.w;
    }
}

// Means of the energy over texels, times K of the background
@compute @workgroup_size(THREADS) fn draw(@builtin(global_invocation_id) thread: vec3u, @builtin(num_workgroups) blocks: vec3u) {
    for (var n = i32(thread.x); n < region.blocks; n += THREADS * i32(blocks.x)) {
        let first = region.begin + region.reduction * vec2i(n % region.across_x, n / region.across_x);
        let last = min(first + region.reduction, region.end);
        var sum = 0.0;
        for (var y = first.y; y < last.y; y++) {
            // Row by row, so that large texels round less.
            var of_row = 0.0;
            for (var x = first.x; x < last.x; x++) { of_row += energy(vec2i(x, y)); }
            sum += of_row;
        }
        numbers[n] = sum / f32((last - first).x * (last - first).y);
    }
}
