// Several steps of finite differences for sound in two dimensions a launch, of tiles with anything in them: absorbing layers, absorption, walls at every order, densities,
// and what happens at single sites. A block of 256 threads holds the newer level of a tile of 64 x 8 ROWS sites with its halo in workgroup memory; a thread has every
// 256th site, with its older level and its memories. Sites that no missing neighbour has reached are written: a step takes HALF sites from every side within the grid.
//
// kernels/fdtd.wgsl, kernels/fdtd_sites.wgsl, kernels/fdtd_step.wgsl and kernels/moment.wgsl stand before it, written out with TILES: a step of a site is the one of single steps. Tiles without
// any of that can be left to kernels/fdtd_block.wgsl. What is written out, and how, is said by src/backend/wgpu/template.rs. ROWS: even, at most 8.

const THREADS = 256;
const W = 64;
const H = 8 * $ROWS;
// Sites of a thread, and memories of one: of each axis two psi and zeta
const SITES = W * H / THREADS;
const MEMORIES = 6;
// Steps of a launch at most
const MOST = 8;

@group(0) @binding(1) var<storage, read> now: array<f32>;
@group(0) @binding(2) var<storage, read> old: array<f32>;
@group(0) @binding(3) var<storage, read_write> now_out: array<f32>;
@group(0) @binding(4) var<storage, read_write> old_out: array<f32>;
// Of each site the bits of what the medium has of these: speeds, densities, absorption; then marks, two bits a site. One array, since adapters grant eight.
@group(0) @binding(5) var<storage, read> medium: array<u32>;
@group(0) @binding(6) var<storage, read_write> layers: array<f32>;
@group(0) @binding(7) var<uniform> moments: array<Moment, MOST>;
@group(0) @binding(8) var<storage, read> lists: array<u32>;
@group(0) @binding(9) var<storage, read_write> record: array<f32>;

// The newer level of the tile
var<workgroup> shown: array<f32, W * H>;
// Of the thread's sites: the older level, or the next one until all have read the newer one; memories
var<private> older: array<f32, SITES>;
var<private> memories: array<f32, MEMORIES * SITES>;
// The tile's first site, which may lie beyond an edge; which of the thread's sites it is at
var<private> origin: vec2i;
var<private> mine: i32;

fn stride(axis: i32) -> i32 { return select(1, W, axis == 1); }

// The site that stands for site `to` of an axis, and its sign; a tile goes on beyond the seam of a ring.
fn image(axis: i32, to: i32) -> vec2i {
    if (p.edges[axis] == PERIODIC) { return vec2i(to, 1); }
    return ghost(axis, to);
}

// The site on the grid of a site of the plane, which a ring brings back
fn brought_back(there: vec2i) -> vec2i {
    if (all(there >= vec2i()) && all(there < p.size.xy)) { return there; }
    return (there % p.size.xy + p.size.xy) % p.size.xy;
}

// The number on the grid of a site of the tile
fn number(n: i32) -> i32 {
    let there = brought_back(origin + vec2i(n % W, n / W));
    return there.y * p.size.x + there.x;
}

fn pressure(n: i32) -> f32 { return shown[n]; }
fn pressure_before() -> f32 { return older[mine]; }
fn density_of(n: i32) -> f32 { return bitcast<f32>(medium[p.densities + number(n)]); }
fn square_here() -> f32 { return bitcast<f32>(medium[number(place)]); }
fn damping_here() -> f32 { return bitcast<f32>(medium[p.dampings + number(place)]); }

fn mark(n: i32) -> u32 {
    if (!MARKS) { return 0u; }
    let site = number(n);
    return (medium[p.marks + site / PACKED] >> u32(2 * (site % PACKED))) & 3u;
}

fn memory(n: i32) -> f32 { return memories[n]; }
fn remember(n: i32, value: f32) { memories[n] = value; }
fn memory_of(axis: i32, own: i32) -> i32 { return MEMORIES * mine + 3 * axis; }
fn remembered(axis: i32) -> i32 { return 1; }

// Goes to a site of the tile; whether a step reaches it, the first being 1, or at 0 whether there is one
fn go_to(n: i32, step: i32) -> bool {
    place = n;
    mine = n / THREADS;
    let there = origin + vec2i(n % W, n / W);
    let last = origin + vec2i(W, H);
    // Mirrors stand at edges: nothing is missing there.
    let closed = p.edges.xy != vec2i(PERIODIC);
    let low = select(origin + HALF * step, vec2i(), closed & (origin <= vec2i()));
    let high = select(last - HALF * step, p.size.xy, closed & (last >= p.size.xy));
    at = vec3i(brought_back(there), 0);
    return all(there >= low) && all(there < high);
}

// Tile n of those that this kernel takes
fn tile_of(n: i32) -> vec2i {
    let above = p.first.y * p.tiles.x;
    if (n < above) { return vec2i(n % p.tiles.x, n / p.tiles.x); }
    let beside = p.first.x + p.tiles.x - p.end.x;
    let rows = p.end.y - p.first.y;
    let rest = n - above;
    if (rest < beside * rows) {
        let x = rest % beside;
        return vec2i(select(x, x - p.first.x + p.end.x, x >= p.first.x), p.first.y + rest / beside);
    }
    let below = rest - beside * rows;
    return vec2i(below % p.tiles.x, p.end.y + below / p.tiles.x);
}

// The memories of the site's layers, from the array of all or back
fn fetch_memories() {
    for (var axis = 0; axis < RANK; axis++) {
        let own = slot(axis);
        if (own < 0) { continue; }
        let place_in_all = stored(axis, own);
        let here = memory_of(axis, own);
        for (var k = 0; k < 3; k++) { memories[here + k] = layers[place_in_all + k * values_of(axis)]; }
    }
}

fn store_memories() {
    for (var axis = 0; axis < RANK; axis++) {
        let own = slot(axis);
        if (own < 0) { continue; }
        let place_in_all = stored(axis, own) - p.memories + p.to;
        let here = memory_of(axis, own);
        for (var k = 0; k < 3; k++) { layers[place_in_all + k * values_of(axis)] = memories[here + k]; }
    }
}

// Where the first image of a site lies in the tile along an axis, or beyond the tile; on a ring others follow
fn first_image(axis: i32, site: i32) -> i32 {
    let n = p.size[axis];
    let to = site - origin[axis];
    if (p.edges[axis] == PERIODIC) { return (to % n + n) % n; }
    return select(W, to, to >= 0);
}

// How far it is from one image to the next
fn images_apart(axis: i32) -> i32 { return select(W, p.size[axis], p.edges[axis] == PERIODIC); }

// Adds to, or overwrites, every image of a site in the tile
fn change_site(to: u32, add: f32, assigned: f32, overwrites: bool) {
    let site = vec2i(i32(to) % p.size.x, i32(to) / p.size.x);
    for (var y = first_image(1, site.y); y < H; y += images_apart(1)) {
        for (var x = first_image(0, site.x); x < W; x += images_apart(0)) {
            let n = y * W + x;
            shown[n] = select(shown[n] + add, assigned, overwrites);
        }
    }
}

// What happens after a step, as kernels/sound.wgsl does it
fn operate(thread: u32, step: i32) {
    let first_value = moments[step].first_value;
    let first = moments[step].first;
    let last = moments[step].last;
    if (first < last) {
        for (var n = first + thread; n < last; n += u32(THREADS)) {
            let site = lists[n];
            if (n > first && lists[n - 1u] == site) { continue; }
            // Several sources at one site add up in their order.
            for (var next = n; next < last && lists[next] == site; next++) {
                change_site(site, bitcast<f32>(lists[first_value + next - first]), 0.0, false);
            }
        }
        workgroupBarrier();
    }
    if (moments[step].sets > 0u) {
        for (var n = thread; n < moments[step].sets; n += u32(THREADS)) {
            change_site(lists[moments[step].set_first + n], 0.0, bitcast<f32>(lists[moments[step].set_values + n]), true);
        }
        workgroupBarrier();
    }
    for (var n = thread; n < moments[step].gathers; n += u32(THREADS)) {
        let site = i32(lists[moments[step].gather_first + n]);
        let in_tile = vec2i(site % p.size.x, site / p.size.x) - origin;
        if (all(in_tile >= p.halo) && all(in_tile < vec2i(W, H) - p.halo)) { record[moments[step].record + n] = shown[in_tile.y * W + in_tile.x]; }
    }
}

@compute @workgroup_size(THREADS) fn steps(
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) block: vec3u,
    @builtin(num_workgroups) blocks: vec3u,
) {
    let number_of_tile = i32(block.y * blocks.x + block.x);
    if (number_of_tile >= p.tiles.x * p.tiles.y - (p.end.x - p.first.x) * (p.end.y - p.first.y)) { return; }
    let core = vec2i(W, H) - 2 * p.halo;
    origin = tile_of(number_of_tile) * core - p.halo;
    let thread = i32(index);
    for (var n = thread; n < W * H; n += THREADS) {
        if (!go_to(n, 0)) { continue; }
        shown[n] = now[number(n)];
        older[mine] = old[number(n)];
        if (LAYERS) { fetch_memories(); }
    }
    workgroupBarrier();
    for (var step = 1; step <= p.steps; step++) {
        for (var n = thread; n < W * H; n += THREADS) {
            if (go_to(n, step)) { older[mine] = next(); }
        }
        workgroupBarrier();
        for (var n = thread; n < W * H; n += THREADS) {
            if (!go_to(n, step)) { continue; }
            let newer = older[mine];
            older[mine] = shown[n];
            shown[n] = newer;
        }
        workgroupBarrier();
        operate(index, step - 1);
    }
    for (var n = thread; n < W * H; n += THREADS) {
        let in_tile = vec2i(n % W, n / W);
        if (any(in_tile < p.halo) || any(in_tile >= vec2i(W, H) - p.halo) || any(origin + in_tile >= p.size.xy)) { continue; }
        if (!go_to(n, 0)) { continue; }
        now_out[number(n)] = shown[n];
        old_out[number(n)] = older[mine];
        if (LAYERS) { store_memories(); }
    }
}
