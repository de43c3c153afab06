// Several steps of finite differences for sound in two dimensions a launch: a block of threads steps both levels of a tile with its halo in workgroup memory, and
// writes what no missing neighbour has reached. One density, no absorption, no walls; single sites are changed and read between the steps.

override HALF: i32 = 1;
override W: i32 = 64;
override H: i32 = 32;
override SQUARES: bool = false;

const RIGID = 0;
const SOFT = 1;
const PERIODIC = 2;
const THREADS = 256;
// Steps of a launch at most
const MOST = 8;

struct Params {
    size: vec2i,
    edges: vec2i,
    steps: i32,
    operations: i32,     // whether anything happens at single sites
    square: f32,
    unused: f32,
    coefficients: vec4f, // C_1 ... C_4 of the second difference (src/solver/fdtd/stencil.rs)
}

// What happens after one step of a batch (kernels/sound.wgsl)
struct Moment {
    first: u32,
    last: u32,
    set_first: u32,
    set_values: u32,
    sets: u32,
    gather_first: u32,
    gathers: u32,
    record: u32,
    rest: array<vec4u, 14>,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<uniform> moments: array<Moment, MOST>;
@group(0) @binding(2) var<storage, read> now: array<f32>;
@group(0) @binding(3) var<storage, read> old: array<f32>;
@group(0) @binding(4) var<storage, read_write> now_out: array<f32>;
@group(0) @binding(5) var<storage, read_write> old_out: array<f32>;
@group(0) @binding(6) var<storage, read> squares: array<f32>;
@group(0) @binding(7) var<storage, read> places: array<u32>;
@group(0) @binding(8) var<storage, read> values: array<f32>;
@group(0) @binding(9) var<storage, read_write> record: array<f32>;

// Both levels
var<workgroup> levels: array<f32, 2 * W * H>;

// The tile's first site
var<private> origin: vec2i;

// The site that stands for site `to` of an axis, and its sign (0: the zero one spacing outside a soft edge)
fn ghost(axis: i32, to: i32) -> vec2i {
    let n = p.size[axis];
    if (to >= 0 && to < n) { return vec2i(to, 1); }
    let edge = p.edges[axis];
    let period = select(select(2 * (n + 1), 2 * n, edge == RIGID), n, edge == PERIODIC);
    var turn = select(to, to + 1, edge == SOFT) % period;
    if (turn < 0) { turn += period; }
    if (edge == PERIODIC) { return vec2i(turn, 1); }
    if (edge == RIGID) { return vec2i(min(turn, 2 * n - 1 - turn), 1); }
    if (turn == 0 || turn == n + 1) { return vec2i(0, 0); }
    if (turn <= n) { return vec2i(turn - 1, 1); }
    return vec2i(2 * (n + 1) - turn - 1, -1);
}

// The place of a site in memory, or -1 beyond an edge that is not periodic
fn place_of(at: vec2i) -> i32 {
    let x = ghost(0, at.x).x;
    let y = ghost(1, at.y).x;
    let beyond = (p.edges.x != PERIODIC && (at.x < 0 || at.x >= p.size.x)) || (p.edges.y != PERIODIC && (at.y < 0 || at.y >= p.size.y));
    return select(y * p.size.x + x, -1, beyond);
}

// p at a distance along an axis, of the level from number `from` on; the mirror images of what lies beyond an edge are in the tile as well
fn neighbour(from_level: i32, at: vec2i, axis: i32, offset: i32) -> f32 {
    var to = at;
    to[axis] += offset;
    if (p.edges[axis] != PERIODIC) {
        let image = ghost(axis, to[axis] + origin[axis]);
        if (image.y == 0) { return 0.0; }
        to[axis] = image.x - origin[axis];
        return f32(image.y) * levels[from_level + to.y * W + to.x];
    }
    return levels[from_level + to.y * W + to.x];
}

fn stepped(now_level: i32, old_level: i32, at: vec2i, n: i32, inner: bool) -> f32 {
    let here = levels[now_level + n];
    let level = 4.0 * here;
    var sum = 0.0;
    for (var k = 1; k <= HALF; k++) {
        var pairs = 0.0;
        if (inner) {
            let i = now_level + n;
            pairs = levels[i - k] + levels[i + k] + (levels[i - k * W] + levels[i + k * W]);
        } else {
            pairs = neighbour(now_level, at, 0, -k) + neighbour(now_level, at, 0, k);
            pairs += neighbour(now_level, at, 1, -k) + neighbour(now_level, at, 1, k);
        }
        sum = fma(p.coefficients[k - 1], pairs - level, sum);
    }
    var square = p.square;
    if (SQUARES) { square = squares[place_of(at + origin)]; }
    return here + fma(square, sum, here - levels[old_level + n]);
}

// Where the first image of a place lies in the tile along an axis; others follow a period further on
fn first_image(axis: i32, at: i32) -> i32 {
    let n = p.size[axis];
    if (p.edges[axis] != PERIODIC) { return at - origin[axis]; }
    return ((at - origin[axis]) % n + n) % n;
}

// Adds to, or overwrites, every image of a place in the tile
fn change(level: i32, place: u32, add: f32, assigned: f32, overwrites: bool) {
    let nx = p.size.x;
    let first = vec2i(first_image(0, i32(place) % nx), first_image(1, i32(place) / nx));
    for (var y = first.y; y >= 0 && y < H; y += p.size.y) {
        for (var x = first.x; x >= 0 && x < W; x += nx) {
            let n = level + y * W + x;
            levels[n] = select(levels[n] + add, assigned, overwrites);
        }
    }
}

fn operate(thread: u32, level: i32, step: i32) {
    let moment = moments[step];
    for (var n = moment.first + thread; n < moment.last; n += u32(THREADS)) {
        let place = places[n];
        if (n > moment.first && places[n - 1u] == place) { continue; }
        // Several sources at one site add up in their order.
        for (var next = n; next < moment.last && places[next] == place; next++) { change(level, place, values[next], 0.0, false); }
    }
    workgroupBarrier();
    for (var n = thread; n < moment.sets; n += u32(THREADS)) {
        change(level, places[moment.set_first + n], 0.0, values[moment.set_values + n], true);
    }
    workgroupBarrier();
    let halo = HALF * p.steps;
    for (var n = thread; n < moment.gathers; n += u32(THREADS)) {
        let place = i32(places[moment.gather_first + n]);
        let at = vec2i(place % p.size.x, place / p.size.x) - origin;
        if (all(at >= vec2i(halo)) && all(at < vec2i(W, H) - halo)) { record[moment.record + n] = levels[level + at.y * W + at.x]; }
    }
}

@compute @workgroup_size(THREADS) fn steps(@builtin(local_invocation_index) thread: u32, @builtin(workgroup_id) block: vec3u) {
    let halo = HALF * p.steps;
    origin = vec2i(block.xy) * (vec2i(W, H) - 2 * halo) - halo;
    for (var n = i32(thread); n < W * H; n += THREADS) {
        let source = place_of(origin + vec2i(n % W, n / W));
        if (source >= 0) {
            levels[n] = now[source];
            levels[W * H + n] = old[source];
        }
    }
    workgroupBarrier();
    let whole = all(origin >= vec2i(0)) && all(origin + vec2i(W, H) <= p.size);
    let around = vec2i(select(0, 1, p.edges.x == PERIODIC), select(0, 1, p.edges.y == PERIODIC));
    let inner = whole || all(around == vec2i(1));
    var newer = 0;
    for (var step = 0; step < p.steps; step++) {
        let other = W * H - newer;
        // What neighbours in the tile are missing for stays behind; what has not been reached is written.
        for (var n = i32(thread); n < W * H; n += THREADS) {
            let at = vec2i(n % W, n / W);
            let to = at + origin;
            let on_grid = (around.x == 1 || (to.x >= 0 && to.x < p.size.x)) && (around.y == 1 || (to.y >= 0 && to.y < p.size.y));
            if (on_grid && all(at >= vec2i(HALF)) && all(at < vec2i(W, H) - HALF)) {
                levels[other + n] = stepped(newer, other, at, n, inner);
            }
        }
        workgroupBarrier();
        if (p.operations != 0) {
            operate(thread, other, step);
            workgroupBarrier();
        }
        newer = other;
    }
    for (var n = i32(thread); n < W * H; n += THREADS) {
        let at = vec2i(n % W, n / W);
        let to = origin + at;
        if (all(at >= vec2i(halo)) && all(at < vec2i(W, H) - halo) && all(to < p.size)) {
            let place = to.y * p.size.x + to.x;
            now_out[place] = levels[newer + n];
            old_out[place] = levels[W * H - newer + n];
        }
    }
}
