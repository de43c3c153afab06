// Several steps of finite differences for sound in two dimensions a launch. A thread holds 4 columns and ROWS rows of both levels in registers, a block of 128 threads
// a tile of 64 x 8 ROWS sites with its halo; what stands at the ends of threads goes through workgroup memory, with one barrier a step where there is room for two
// steps (BUFFERS), else two. What no missing neighbour has reached is written: a step takes HALF sites from every side. Memory: 16 B a site and launch (20 with a speed
// a site), and the halo.
//
// Beyond an edge stand the mirror images of what is within, stepped like all others: they stay images, since sums of neighbours commute. One density, no absorption.
// With OPERATES single sites are changed and read between the steps: such a launch follows one without, and writes the tiles of those sites anew. kernels/fdtd.wgsl and
// kernels/moment.wgsl stand before it; what is written out, and how, is said by src/backend/wgpu/template.rs. ROWS: even, at most 8; HALF: half the order, 1 or 2; SQUARES: a speed a site; WALLS
// (HALF 1 only): that of a wall is less than 0; WIDE: rows are multiples of 4 sites, which are then read and written in fours.

const THREADS = 128;
// Threads side by side
const ACROSS = 16;
const ROWS = $ROWS;
const HALF = $HALF;
const BUFFERS = $BUFFERS;
const W = 64;
const H = 8 * ROWS;
// Steps of a launch at most
const MOST = 8;
// What threads show of a level: columns at both ends, rows at both ends
const COLUMNS = ROWS * THREADS;
const LINES = HALF * THREADS;

struct Params {
    size: vec2i,
    edges: vec2i,
    steps: i32,
    square: f32,
    unused: vec2f,
    coefficients: vec4f, // C_1 ... C_4 of the second difference (src/solver/fdtd/stencil.rs)
}

@group(0) @binding(0) var<uniform> p: Params;
//@ if WIDE
@group(0) @binding(1) var<storage, read> now: array<vec4f>;
@group(0) @binding(2) var<storage, read> old: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> now_out: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> old_out: array<vec4f>;
@group(0) @binding(5) var<storage, read> squares: array<vec4f>;
//@ else
@group(0) @binding(1) var<storage, read> now: array<f32>;
@group(0) @binding(2) var<storage, read> old: array<f32>;
@group(0) @binding(3) var<storage, read_write> now_out: array<f32>;
@group(0) @binding(4) var<storage, read_write> old_out: array<f32>;
@group(0) @binding(5) var<storage, read> squares: array<f32>;
//@ end
//@ if OPERATES
@group(0) @binding(6) var<uniform> moments: array<Moment, MOST>;
@group(0) @binding(7) var<storage, read> places: array<u32>;
@group(0) @binding(8) var<storage, read> values: array<f32>;
@group(0) @binding(9) var<storage, read_write> record: array<f32>;

// The newer level of the tile; before the first step, whether anything happens in it
var<workgroup> shown: array<f32, W * H>;
//@ else
// Ends of threads: of a row the first and the last column, or all of them (HALF 2); rows from the upper and from the lower end inwards
//@ if HALF-1
var<workgroup> ends: array<vec4f, (BUFFERS + 1) * COLUMNS>;
//@ else
var<workgroup> ends: array<vec2f, (BUFFERS + 1) * COLUMNS>;
//@ end
var<workgroup> uppers: array<vec4f, (BUFFERS + 1) * LINES>;
var<workgroup> lowers: array<vec4f, (BUFFERS + 1) * LINES>;
//@ end

// The tile's first site; this thread and those around it, another one at an edge of the tile
var<private> origin: vec2i;
var<private> own: i32;
var<private> before: i32;
var<private> after: i32;
var<private> above: i32;
var<private> below: i32;
// Of both levels: row, column
//@ for r in 0..ROWS
//@ for c in 0..4
var<private> p0_$r_$c: f32;
var<private> p1_$r_$c: f32;
//@ if SQUARES
var<private> square$r_$c: f32;
//@ end
//@ end
//@ end
//@ if WALLS
// Bit 4 row + column of a wall; bit row of walls before and (from bit 8 on) after the thread, bit column of those above and (from bit 4 on) below
var<private> walls: u32;
var<private> walls_beside: u32;
var<private> walls_around: u32;

// Whether there is a wall at a site
fn is_wall(x: i32, y: i32) -> u32 {
    let column = ghost(0, x);
    let row = ghost(1, y);
    return select(0u, 1u, row.y * column.y != 0 && square_at(row.x * p.size.x + column.x) < 0.0);
}

fn find_walls(x: i32, y: i32) {
//@ for r in 0..ROWS
//@ for c in 0..4
    walls |= select(0u, 1u, square$r_$c < 0.0) << $(4*r+c)u;
//@ end
    walls_beside |= (is_wall(x - 1, y + $r) << $(r)u) | (is_wall(x + 4, y + $r) << $(r+8)u);
//@ end
//@ for c in 0..4
    walls_around |= (is_wall(x + $c, y - 1) << $(c)u) | (is_wall(x + $c, y + ROWS) << $(c+4)u);
//@ end
}
//@ end

//@ for n in 0..2
// A step from level $n over the other
fn step$n() {
//@ if OPERATES
    let row = ROWS * (own / ACROSS);
    let column = 4 * (own % ACROSS);
//@ for h in 0..HALF
    let at_over$h = max(row - $(h+1), 0) * W + column;
    let at_under$h = min(row + $(ROWS+h), H - 1) * W + column;
    let over$h = vec4f(shown[at_over$h], shown[at_over$h + 1], shown[at_over$h + 2], shown[at_over$h + 3]);
    let under$h = vec4f(shown[at_under$h], shown[at_under$h + 1], shown[at_under$h + 2], shown[at_under$h + 3]);
//@ end
//@ else
//@ if BUFFERS
    let columns = $(n) * COLUMNS + own;
    let lines = $(n) * LINES;
//@ else
    let columns = own;
    let lines = 0;
    // What others show may not have been read by all.
    workgroupBarrier();
//@ end
//@ for r in 0..ROWS
//@ if HALF-1
    ends[$(r) * THREADS + columns] = vec4f(p$n_$r_0, p$n_$r_1, p$n_$r_2, p$n_$r_3);
//@ else
    ends[$(r) * THREADS + columns] = vec2f(p$n_$r_0, p$n_$r_3);
//@ end
//@ end
//@ for h in 0..HALF
    uppers[lines + $(h) * THREADS + own] = vec4f(p$n_$h_0, p$n_$h_1, p$n_$h_2, p$n_$h_3);
    lowers[lines + $(h) * THREADS + own] = vec4f(p$n_$(ROWS-1-h)_0, p$n_$(ROWS-1-h)_1, p$n_$(ROWS-1-h)_2, p$n_$(ROWS-1-h)_3);
//@ end
    workgroupBarrier();
    let to_left = columns - own + before;
    let to_right = columns - own + after;
//@ for h in 0..HALF
    let over$h = lowers[lines + $(h) * THREADS + above];
    let under$h = uppers[lines + $(h) * THREADS + below];
//@ end
//@ end
    // The thread's rows and those around them, from above
//@ for c in 0..4
//@ for h in 0..HALF
    let line$(HALF-1-h)_$c = over$h[$c];
    let line$(HALF+ROWS+h)_$c = under$h[$c];
//@ end
//@ for r in 0..ROWS
    let line$(HALF+r)_$c = p$n_$r_$c;
//@ end
//@ end
//@ if WALLS
    let solid0 = walls_around;
//@ for r in 0..ROWS
    let solid$(r+1) = walls >> $(4*r)u;
//@ end
    let solid$(ROWS+1) = walls_around >> 4u;
//@ end
//@ for r in 0..ROWS
    {
        // From the left
//@ for h in 0..HALF
//@ if OPERATES
        let at$(HALF-1-h) = shown[(row + $r) * W + max(column - $(h+1), 0)];
        let at$(HALF+4+h) = shown[(row + $r) * W + min(column + $(4+h), W - 1)];
//@ else
        let at$(HALF-1-h) = ends[$(r) * THREADS + to_left][$(2*HALF-1-h)];
        let at$(HALF+4+h) = ends[$(r) * THREADS + to_right][$h];
//@ end
//@ end
//@ for c in 0..4
        let at$(HALF+c) = line$(HALF+r)_$c;
//@ end
//@ if WALLS
        let wall0 = walls_beside >> $(r)u;
//@ for c in 0..4
        let wall$(c+1) = walls >> $(4*r+c)u;
//@ end
        let wall5 = walls_beside >> $(r+8)u;
//@ end
//@ for c in 0..4
        {
            let here = at$(HALF+c);
            let level = 4.0 * here;
            var sum = 0.0;
//@ for k in 1..HALF+1
//@ if WALLS
            // A wall is a mirror.
            let left = select(at$(HALF+c-k), here, (wall$(c) & 1u) != 0u);
            let right = select(at$(HALF+c+k), here, (wall$(c+2) & 1u) != 0u);
            let top = select(line$(HALF+r-k)_$c, here, ((solid$(r) >> $(c)u) & 1u) != 0u);
            let bottom = select(line$(HALF+r+k)_$c, here, ((solid$(r+2) >> $(c)u) & 1u) != 0u);
            sum = fma(p.coefficients[$(k-1)], (left + right) + (top + bottom) - level, sum);
//@ else
            sum = fma(p.coefficients[$(k-1)], (at$(HALF+c-k) + at$(HALF+c+k)) + (line$(HALF+r-k)_$c + line$(HALF+r+k)_$c) - level, sum);
//@ end
//@ end
//@ if SQUARES
            let next = here + fma(square$r_$c, sum, here - p$(1-n)_$r_$c);
//@ else
            let next = here + fma(p.square, sum, here - p$(1-n)_$r_$c);
//@ end
//@ if WALLS
            p$(1-n)_$r_$c = select(next, 0.0, (wall$(c+1) & 1u) != 0u);
//@ else
            p$(1-n)_$r_$c = next;
//@ end
        }
//@ end
    }
//@ end
}

//@ if OPERATES
// Level $n, to the memory of the block and back
fn show$n() {
    workgroupBarrier();
//@ for r in 0..ROWS
//@ for c in 0..4
    shown[(ROWS * (own / ACROSS) + $r) * W + 4 * (own % ACROSS) + $c] = p$n_$r_$c;
//@ end
//@ end
    workgroupBarrier();
}

fn take$n() {
    workgroupBarrier();
//@ for r in 0..ROWS
//@ for c in 0..4
    p$n_$r_$c = shown[(ROWS * (own / ACROSS) + $r) * W + 4 * (own % ACROSS) + $c];
//@ end
//@ end
}
//@ end
//@ end

//@ if OPERATES
// Where the first image of a site, or of its mirror image, lies in the tile along an axis; others follow a period further on
fn first_image(axis: i32, at: i32, mirrored: i32) -> i32 {
    let period = period_of(axis);
    let image = select(at, select(-2, -1, p.edges[axis] == RIGID) - at, mirrored == 1);
    return ((image - origin[axis]) % period + period) % period;
}

fn image_sign(axis: i32, mirrored: i32) -> f32 { return select(1.0, -1.0, mirrored == 1 && p.edges[axis] == SOFT); }

fn families(axis: i32) -> i32 { return select(2, 1, p.edges[axis] == PERIODIC); }

// Adds to, or overwrites, every image of a place in the tile
fn change(place: u32, add: f32, assigned: f32, overwrites: bool) {
    let site = vec2i(i32(place) % p.size.x, i32(place) / p.size.x);
    for (var v = 0; v < families(1); v++) {
        for (var u = 0; u < families(0); u++) {
            let sign = image_sign(0, u) * image_sign(1, v);
            for (var y = first_image(1, site.y, v); y < H; y += period_of(1)) {
                for (var x = first_image(0, site.x, u); x < W; x += period_of(0)) {
                    let n = y * W + x;
                    shown[n] = select(shown[n] + sign * add, sign * assigned, overwrites);
                }
            }
        }
    }
}

// Whether an image of a place is in the tile
fn is_here(place: u32) -> bool {
    let site = vec2i(i32(place) % p.size.x, i32(place) / p.size.x);
    var x = first_image(0, site.x, 0) < W;
    var y = first_image(1, site.y, 0) < H;
    if (p.edges.x != PERIODIC) { x = x || first_image(0, site.x, 1) < W; }
    if (p.edges.y != PERIODIC) { y = y || first_image(1, site.y, 1) < H; }
    return x && y;
}

// Says whether anything happens in the tile
fn find_operations(thread: u32) {
    for (var step = 0; step < p.steps; step++) {
        let first = moments[step].first;
        let last = moments[step].last;
        for (var n = first + thread; n < last; n += u32(THREADS)) {
            if (is_here(places[n])) { shown[0] = 1.0; }
        }
        for (var n = thread; n < moments[step].sets; n += u32(THREADS)) {
            if (is_here(places[moments[step].set_first + n])) { shown[0] = 1.0; }
        }
        for (var n = thread; n < moments[step].gathers; n += u32(THREADS)) {
            if (is_here(places[moments[step].gather_first + n])) { shown[0] = 1.0; }
        }
    }
}

// What happens after a step, on the level in the memory of the block
fn operate(thread: u32, step: i32) {
    let first_value = moments[step].first_value;
    let first = moments[step].first;
    let last = moments[step].last;
    for (var n = first + thread; n < last; n += u32(THREADS)) {
        let place = places[n];
        if (n > first && places[n - 1u] == place) { continue; }
        // Several sources at one site add up in their order.
        for (var next = n; next < last && places[next] == place; next++) { change(place, values[first_value + next - first], 0.0, false); }
    }
    workgroupBarrier();
    for (var n = thread; n < moments[step].sets; n += u32(THREADS)) {
        change(places[moments[step].set_first + n], 0.0, values[moments[step].set_values + n], true);
    }
    workgroupBarrier();
    let halo = vec2i((HALF * p.steps + 3) / 4 * 4, HALF * p.steps);
    for (var n = thread; n < moments[step].gathers; n += u32(THREADS)) {
        let place = i32(places[moments[step].gather_first + n]);
        let at = vec2i(place % p.size.x, place / p.size.x) - origin;
        if (all(at >= halo) && all(at < vec2i(W, H) - halo)) { record[moments[step].record + n] = shown[at.y * W + at.x]; }
    }
}
//@ end

//@ if WIDE
fn level_now(site: i32) -> f32 { return now[site / 4][site % 4]; }
fn level_old(site: i32) -> f32 { return old[site / 4][site % 4]; }
fn square_at(site: i32) -> f32 { return squares[site / 4][site % 4]; }
//@ else
fn level_now(site: i32) -> f32 { return now[site]; }
fn level_old(site: i32) -> f32 { return old[site]; }
fn square_at(site: i32) -> f32 { return squares[site]; }
//@ end

//@ if WIDE
// Of a tile within the grid, where no site has to be looked for
fn load_inside(x: i32, y: i32) {
//@ for r in 0..ROWS
    {
        let at = ((y + $r) * p.size.x + x) / 4;
        let newer = now[at];
        let older = old[at];
//@ if SQUARES
        let own_squares = squares[at];
//@ end
//@ for c in 0..4
        p0_$r_$c = newer[$c];
        p1_$r_$c = older[$c];
//@ if SQUARES
        square$r_$c = own_squares[$c];
//@ end
//@ end
    }
//@ end
}
//@ end

// The same with what stands beyond the edges
fn load(x: i32, y: i32) {
//@ for c in 0..4
    let column$c = ghost(0, x + $c);
//@ end
//@ for r in 0..ROWS
    {
        let row = ghost(1, y + $r);
        let start = row.x * p.size.x;
//@ for c in 0..4
        p0_$r_$c = f32(row.y * column$c.y) * level_now(start + column$c.x);
        p1_$r_$c = f32(row.y * column$c.y) * level_old(start + column$c.x);
//@ if SQUARES
        // The zero outside a soft edge is no wall.
        square$r_$c = select(0.0, square_at(start + column$c.x), row.y * column$c.y != 0);
//@ end
//@ end
    }
//@ end
}

@compute @workgroup_size(THREADS) fn steps(@builtin(local_invocation_index) index: u32, @builtin(workgroup_id) block: vec3u) {
    own = i32(index);
    before = max(own - 1, 0);
    after = min(own + 1, THREADS - 1);
    above = select(own - ACROSS, own, own < ACROSS);
    below = select(own + ACROSS, own, own >= THREADS - ACROSS);
    // A thread's columns begin at a multiple of 4.
    let halo = vec2i((HALF * p.steps + 3) / 4 * 4, HALF * p.steps);
    origin = vec2i(block.xy) * (vec2i(W, H) - 2 * halo) - halo;
    let in_tile = vec2i(4 * (own % ACROSS), ROWS * (own / ACROSS));
    let x = origin.x + in_tile.x;
    let y = origin.y + in_tile.y;
//@ if WIDE
    if (all(origin >= vec2i()) && all(origin + vec2i(W, H) <= p.size)) {
        load_inside(x, y);
    } else {
        load(x, y);
    }
//@ else
    load(x, y);
//@ end
//@ if WALLS
    find_walls(x, y);
//@ end
//@ if OPERATES
    if (index == 0u) { shown[0] = 0.0; }
    workgroupBarrier();
    find_operations(index);
    if (workgroupUniformLoad(&shown[0]) == 0.0) { return; }
    show0();
//@ end
    for (var step = 0; step < p.steps; step += 2) {
        step0();
//@ if OPERATES
        show1();
        operate(index, step);
        take1();
//@ end
        if (step + 1 == p.steps) { break; }
        step1();
//@ if OPERATES
        show0();
        operate(index, step + 1);
        take0();
//@ end
    }
    if (in_tile.x < halo.x || in_tile.x >= W - halo.x || x >= p.size.x) { return; }
    let odd = (p.steps & 1) == 1;
//@ for r in 0..ROWS
    if (in_tile.y + $r >= halo.y && in_tile.y + $r < H - halo.y && y + $r < p.size.y) {
        let at = (y + $r) * p.size.x + x;
        let first = vec4f(p0_$r_0, p0_$r_1, p0_$r_2, p0_$r_3);
        let second = vec4f(p1_$r_0, p1_$r_1, p1_$r_2, p1_$r_3);
        let newer = select(first, second, odd);
        let older = select(second, first, odd);
//@ if WIDE
        now_out[at / 4] = newer;
        old_out[at / 4] = older;
//@ else
//@ for c in 0..4
        if (x + $c < p.size.x) {
            now_out[at + $c] = newer[$c];
            old_out[at + $c] = older[$c];
        }
//@ end
//@ end
    }
//@ end
}
