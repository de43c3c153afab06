// Whole steps of Trotter-Suzuki in two dimensions, several a launch: a block of threads steps a tile with its halo in workgroup memory, by the same turns of pairs as
// kernels/trotter_sweeps.wgsl, and writes what no missing neighbour has reached: a step takes two sites from every side.
//
// Sites that take no part, walls and what lies beyond an edge, hold FAR in the tile; no pair with one is turned.

// Sites of a tile, even numbers
override W: i32 = 64;
override H: i32 = 32;
override WALLS: bool = false;
override FLUX: bool = false;
override IMAGINARY: bool = false;
override INTERACTION: bool = false;

const THREADS = 256;
const FAR = vec2f(3e38, 0.0);
const LARGEST = 1e38;

// Turns are tan(angle/2) and sin(angle), or tanh and sinh
struct Params {
    size: vec2i,
    periodic: vec2i,
    steps: i32,
    nested: i32,        // x even, x odd, all of y, x odd, x even; otherwise all of x, all of y
    interaction: f32,
    unused: f32,
    x_even: vec2f,
    x_odd: vec2f,
    x_odd_again: vec2f, // nested only
    x_even_again: vec2f,
    y_even: vec2f,
    y_odd: vec2f,
    y_even_again: vec2f,
    unused_too: vec2f,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> field: array<vec2f>;
@group(0) @binding(2) var<storage, read_write> out: array<vec2f>;
@group(0) @binding(3) var<storage, read> table: array<vec2f>;
@group(0) @binding(4) var<storage, read> walls: array<u32>;
@group(0) @binding(5) var<storage, read> gauge: array<vec2f>;

var<workgroup> tile: array<vec2f, W * H>;

// The tile's first site
var<private> origin: vec2i;
// Four sites of two rows: a b over c d
var<private> a: vec2f;
var<private> b: vec2f;
var<private> c: vec2f;
var<private> d: vec2f;

fn times(u: vec2f, v: vec2f) -> vec2f { return vec2f(u.x * v.x - u.y * v.y, u.x * v.y + u.y * v.x); }

// The number of a site of an axis, or -1 beyond its edge
fn along(axis: i32, at: i32) -> i32 {
    let n = p.size[axis];
    if (at >= 0 && at < n) { return at; }
    if (p.periodic[axis] == 0) { return -1; }
    return ((at % n) + n) % n;
}

// The number of a site, or -1
fn site(x: i32, y: i32) -> i32 {
    let i = along(0, x);
    let j = along(1, y);
    return select(j * p.size.x + i, -1, i < 0 || j < 0);
}

fn shear(u: vec2f, v: vec2f, turn: vec2f) -> vec4f {
    let once = u - turn.x * v;
    let other = v + turn.y * once;
    return vec4f(once - turn.x * other, other);
}

fn turned(u: vec2f, v: vec2f, turn: vec2f) -> vec4f {
    if (!(max(abs(u.x), abs(v.x)) < LARGEST)) { return vec4f(u, v); }
    if (IMAGINARY) { return shear(u, v, vec2f(-turn.x, turn.y)); }
    let both = shear(vec2f(u.x, v.x), vec2f(v.y, u.y), turn);
    return vec4f(both.x, both.w, both.y, both.z);
}

// A bond along x in row y: with the conjugate phase on its far end it has none
fn turned_x(u: vec2f, v: vec2f, turn: vec2f, y: i32) -> vec4f {
    if (!FLUX) { return turned(u, v, turn); }
    if (turn.y == 0.0 || !(max(abs(u.x), abs(v.x)) < LARGEST)) { return vec4f(u, v); }
    let phase = gauge[max(along(1, y), 0)];
    let both = turned(u, times(v, vec2f(phase.x, -phase.y)), turn);
    return vec4f(both.xy, times(both.zw, phase));
}

fn even_x(turn: vec2f, y: i32) {
    let above = turned_x(a, b, turn, y);
    let below = turned_x(c, d, turn, y + 1);
    a = above.xy;
    b = above.zw;
    c = below.xy;
    d = below.zw;
}

fn even_y(turn: vec2f) {
    let left = turned(a, c, turn);
    let right = turned(b, d, turn);
    a = left.xy;
    c = left.zw;
    b = right.xy;
    d = right.zw;
}

// cos x and sin x (kernels/trotter_sweeps.wgsl says why and whence)
fn rotation(x: f32) -> vec2f {
    let quarter = round(x * 0.63661977);
    let y = ((x - quarter * 1.5703125) - quarter * 4.837512969970703125e-4) - quarter * 7.54978995489188216e-8;
    let z = y * y;
    let sine = fma(fma(fma(-1.9515295891e-4, z, 8.3321608736e-3), z, -1.6666654611e-1) * z, y, y);
    let cosine = fma(fma(fma(2.443315711809948e-5, z, -1.388731625493765e-3), z, 4.166664568298827e-2) * z, z, fma(-0.5, z, 1.0));
    let turns = i32(quarter) & 3;
    if (turns == 0) { return vec2f(cosine, sine); }
    if (turns == 1) { return vec2f(-sine, cosine); }
    if (turns == 2) { return vec2f(-cosine, -sine); }
    return vec2f(sine, -cosine);
}

fn multiplied(value: vec2f, x: i32, y: i32) -> vec2f {
    if (!(abs(value.x) < LARGEST)) { return value; }
    var product = times(value, table[max(site(x, y), 0)]);
    if (INTERACTION) {
        let turns = rotation(p.interaction * dot(product, product));
        product = times(product, vec2f(turns.x, -turns.y));
    }
    return product;
}

fn load(n: i32) {
    a = tile[n];
    b = tile[n + 1];
    c = tile[n + W];
    d = tile[n + W + 1];
}

fn keep(n: i32) {
    tile[n] = a;
    tile[n + 1] = b;
    tile[n + W] = c;
    tile[n + W + 1] = d;
}

// The first site of a quad in the tile, from its number
fn quad(n: i32) -> vec2i { return vec2i(2 * (n % (W / 2)), 2 * (n / (W / 2))); }

fn odd_x(thread: i32, turn: vec2f) {
    for (var n = thread; n < (W / 2 - 1) * H; n += THREADS) {
        let y = n / (W / 2 - 1);
        let at = y * W + 2 * (n % (W / 2 - 1)) + 1;
        let both = turned_x(tile[at], tile[at + 1], turn, origin.y + y);
        tile[at] = both.xy;
        tile[at + 1] = both.zw;
    }
}

fn odd_y(thread: i32, turn: vec2f) {
    for (var n = thread; n < (H / 2 - 1) * W; n += THREADS) {
        let at = (2 * (n / W) + 1) * W + n % W;
        let both = turned(tile[at], tile[at + W], turn);
        tile[at] = both.xy;
        tile[at + W] = both.zw;
    }
}

@compute @workgroup_size(THREADS) fn steps(@builtin(local_invocation_index) index: u32, @builtin(workgroup_id) block: vec3u) {
    let thread = i32(index);
    let halo = 2 * p.steps;
    origin = vec2i(block.xy) * (vec2i(W, H) - 2 * halo) - halo;
    for (var n = thread; n < W * H; n += THREADS) {
        let source = site(origin.x + n % W, origin.y + n / W);
        var value = FAR;
        if (source >= 0) {
            value = field[source];
            if (WALLS) {
                if (((walls[source / 32] >> u32(source % 32)) & 1u) != 0u) { value = FAR; }
            }
        }
        tile[n] = value;
    }
    workgroupBarrier();
    for (var n = thread; n < W * H / 4; n += THREADS) {
        let at = quad(n);
        load(at.y * W + at.x);
        even_x(p.x_even, origin.y + at.y);
        keep(at.y * W + at.x);
    }
    workgroupBarrier();
    for (var step = 1; step <= p.steps; step++) {
        odd_x(thread, p.x_odd);
        workgroupBarrier();
        for (var n = thread; n < W * H / 4; n += THREADS) {
            let at = quad(n);
            load(at.y * W + at.x);
            if (p.nested == 0) { even_x(p.x_even_again, origin.y + at.y); }
            even_y(p.y_even);
            keep(at.y * W + at.x);
        }
        workgroupBarrier();
        odd_y(thread, p.y_odd);
        workgroupBarrier();
        if (p.nested != 0) {
            for (var n = thread; n < W * H / 4; n += THREADS) {
                let at = quad(n);
                load(at.y * W + at.x);
                even_y(p.y_even_again);
                keep(at.y * W + at.x);
            }
            workgroupBarrier();
            odd_x(thread, p.x_odd_again);
            workgroupBarrier();
        }
        for (var n = thread; n < W * H / 4; n += THREADS) {
            let at = quad(n);
            let x = origin.x + at.x;
            let y = origin.y + at.y;
            load(at.y * W + at.x);
            if (p.nested != 0) {
                even_x(p.x_even_again, y);
            } else {
                even_y(p.y_even_again);
            }
            a = multiplied(a, x, y);
            b = multiplied(b, x + 1, y);
            c = multiplied(c, x, y + 1);
            d = multiplied(d, x + 1, y + 1);
            if (step < p.steps) { even_x(p.x_even, y); }
            keep(at.y * W + at.x);
        }
        workgroupBarrier();
    }
    for (var n = thread; n < W * H; n += THREADS) {
        let at = vec2i(n % W, n / W);
        let to = origin + at;
        let mine = all(at >= vec2i(halo)) && all(at < vec2i(W, H) - halo) && all(to < p.size);
        if (mine) {
            let value = tile[n];
            out[to.y * p.size.x + to.x] = select(vec2f(), value, abs(value.x) < LARGEST || value.x != value.x);
        }
    }
}
