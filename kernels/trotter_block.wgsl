// Whole steps of Trotter-Suzuki in two dimensions, several a launch. A thread holds 4 columns and ROWS rows of sites in registers, a block of 128 threads a tile of
// 64 x 8 ROWS sites with its halo; bonds between threads go through workgroup memory, with two barriers a step. What no missing neighbour has reached is written:
// a step takes two sites from every side. Memory: 24 B a site and launch, and the halo; workgroup memory: 128 (16 ROWS + 64) B.
//
// Sites beyond an edge hold 0, as walls do; no bond with one is turned. kernels/trotter.wgsl, trotter_steps.wgsl and along.wgsl stand before it; what is
// written out, and how, is said by src/backend/wgpu/template.rs. ROWS: even, at most 8; NESTED: x even, x odd, all of y, x odd, x even, otherwise all of x, all of y; WIDE: rows are multiples of 4
// sites, which are then read and written in pairs.

const THREADS = 128;
// Threads side by side
const ACROSS = 16;
const ROWS = $ROWS;
const W = 64;
const H = 8 * ROWS;

//@ if WIDE
@group(0) @binding(1) var<storage, read> field: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4f>;
@group(0) @binding(3) var<storage, read> table: array<vec4f>;
//@ else
@group(0) @binding(1) var<storage, read> field: array<vec2f>;
@group(0) @binding(2) var<storage, read_write> out: array<vec2f>;
@group(0) @binding(3) var<storage, read> table: array<vec2f>;
//@ end
@group(0) @binding(4) var<storage, read> walls: array<u32>;
@group(0) @binding(5) var<storage, read> gauge: array<vec2f>;

// First and last columns of threads, row by row; first and last rows, column by column
var<workgroup> lefts: array<vec2f, ROWS * THREADS>;
var<workgroup> rights: array<vec2f, ROWS * THREADS>;
var<workgroup> tops: array<vec2f, 4 * THREADS>;
var<workgroup> bottoms: array<vec2f, 4 * THREADS>;

// This thread and those around it; at an edge of the tile another one stands for them, and the halo takes what follows from it
var<private> own: i32;
var<private> before: i32;
var<private> after: i32;
var<private> above: i32;
var<private> below: i32;
// In a tile with sites that take no part, bonds with one: bit 4 row + column of the bond to the right and of that downwards, then bit row of those to the
// threads before and (from bit 8 on) after, bit column of those to the threads above and (from bit 4 on) below
var<private> blocked_x: u32;
var<private> blocked_y: u32;
var<private> blocked_ends: u32;
var<private> blocked_rows: u32;

//@ for r in 0..ROWS
// Where a row begins, or -1; its sites; the phase of its bonds
var<private> row$r: i32;
//@ for c in 0..4
var<private> v$r_$c: vec2f;
//@ end
//@ if FLUX
var<private> bond$r: vec2f;
//@ end
//@ end
// The columns, or -1
//@ for c in 0..4
var<private> column$c: i32;
//@ end

// Whether the site takes no part
fn is_blocked(column: i32, row: i32) -> u32 {
    if (column < 0 || row < 0) { return 1u; }
    if (!WALLS) { return 0u; }
    let site = row + column;
    return (walls[site / 32] >> u32(site % 32)) & 1u;
}

// Two sites of a bond after its turn: in a tile without sites that take no part, and with them
//@ if FLUX
fn pair_x0(u: vec2f, v: vec2f, turn: vec2f, blocked: u32, phase: vec2f) -> vec4f { return leaned_x(u, v, turn.x, phase); }
fn pair_x1(u: vec2f, v: vec2f, turn: vec2f, blocked: u32, phase: vec2f) -> vec4f {
    let stops = (blocked & 1u) != 0u;
    let m = select(1.0, turn.y, stops);
    return leaned_x(m * u, m * v, select(turn.x, 0.0, stops), phase);
}
//@ end
fn pair0(u: vec2f, v: vec2f, turn: vec2f, blocked: u32) -> vec4f { return leaned(u, v, turn.x); }
fn pair1(u: vec2f, v: vec2f, turn: vec2f, blocked: u32) -> vec4f {
    let stops = (blocked & 1u) != 0u;
    let m = select(1.0, turn.y, stops);
    return leaned(m * u, m * v, select(turn.x, 0.0, stops));
}

// Which bonds lead to sites that take no part
fn find_blocked(x: i32, y: i32) {
    var sites = 0u;
    var ends = 0u;
    let first = along(0, x - 1);
    let last = along(0, x + 4);
//@ for r in 0..ROWS
//@ for c in 0..4
    sites |= is_blocked(column$c, row$r) << $(4*r+c)u;
//@ end
    ends |= is_blocked(first, row$r) << $(r)u;
    ends |= is_blocked(last, row$r) << $(r+8)u;
//@ end
    blocked_x = sites | (sites >> 1u);
    blocked_y = sites | (sites >> 4u);
//@ for r in 0..ROWS
    ends |= ((sites >> $(4*r)u) & 1u) << $(r)u;
    ends |= ((sites >> $(4*r+3)u) & 1u) << $(r+8)u;
//@ end
    let up = along(1, y - 1);
    let down = along(1, y + ROWS);
    var rows = (sites & 15u) | (((sites >> $(4*ROWS-4)u) & 15u) << 4u);
//@ for c in 0..4
    rows |= is_blocked(column$c, select(up * p.size.x, -1, up < 0)) << $(c)u;
    rows |= is_blocked(column$c, select(down * p.size.x, -1, down < 0)) << $(c+4)u;
//@ end
    blocked_ends = ends;
    blocked_rows = rows;
}

// Sweeps of both kinds of tiles
//@ for g in 0..2
fn even_x$g(turn: vec2f) {
//@ for r in 0..ROWS
//@ for c in 0..4 step 2
    {
//@ if FLUX
        let both = pair_x$g(v$r_$c, v$r_$(c+1), turn, blocked_x >> $(4*r+c)u, bond$r);
//@ else
        let both = pair$g(v$r_$c, v$r_$(c+1), turn, blocked_x >> $(4*r+c)u);
//@ end
        v$r_$c = both.xy;
        v$r_$(c+1) = both.zw;
    }
//@ end
//@ end
}

fn odd_x$g(turn: vec2f) {
//@ for r in 0..ROWS
    lefts[$(r) * THREADS + own] = v$r_0;
    rights[$(r) * THREADS + own] = v$r_3;
//@ end
    workgroupBarrier();
//@ for r in 0..ROWS
    {
        let left = rights[$(r) * THREADS + before];
        let right = lefts[$(r) * THREADS + after];
        let to_left = blocked_ends >> $(r)u;
        let inside = blocked_x >> $(4*r+1)u;
        let to_right = blocked_ends >> $(r+8)u;
//@ if FLUX
        v$r_0 = pair_x$g(left, v$r_0, turn, to_left, bond$r).zw;
        let both = pair_x$g(v$r_1, v$r_2, turn, inside, bond$r);
        v$r_3 = pair_x$g(v$r_3, right, turn, to_right, bond$r).xy;
//@ else
        v$r_0 = pair$g(left, v$r_0, turn, to_left).zw;
        let both = pair$g(v$r_1, v$r_2, turn, inside);
        v$r_3 = pair$g(v$r_3, right, turn, to_right).xy;
//@ end
        v$r_1 = both.xy;
        v$r_2 = both.zw;
    }
//@ end
}

fn even_y$g(turn: vec2f) {
//@ for r in 0..ROWS step 2
//@ for c in 0..4
    {
        let both = pair$g(v$r_$c, v$(r+1)_$c, turn, blocked_y >> $(4*r+c)u);
        v$r_$c = both.xy;
        v$(r+1)_$c = both.zw;
    }
//@ end
//@ end
}

fn odd_y$g(turn: vec2f) {
//@ for c in 0..4
    tops[$(c) * THREADS + own] = v0_$c;
    bottoms[$(c) * THREADS + own] = v$(ROWS-1)_$c;
//@ end
    workgroupBarrier();
//@ for r in 1..ROWS-1 step 2
//@ for c in 0..4
    {
        let both = pair$g(v$r_$c, v$(r+1)_$c, turn, blocked_y >> $(4*r+c)u);
        v$r_$c = both.xy;
        v$(r+1)_$c = both.zw;
    }
//@ end
//@ end
//@ for c in 0..4
    v0_$c = pair$g(bottoms[$(c) * THREADS + above], v0_$c, turn, blocked_rows >> $(c)u).zw;
    v$(ROWS-1)_$c = pair$g(v$(ROWS-1)_$c, tops[$(c) * THREADS + below], turn, blocked_rows >> $(c+4)u).xy;
//@ end
}
//@ end

// Loads that wait for no decision come early: sites that are not there are multiplied by 0, which they hold.
fn multiply() {
//@ for r in 0..ROWS
    {
//@ if WIDE
        let is_there = row$r >= 0 && column0 >= 0;
        let at = select(0, (row$r + column0) / 2, is_there);
        let first = select(vec4f(), table[at], is_there);
        let last = select(vec4f(), table[at + 1], is_there);
        v$r_0 = multiplied(v$r_0, first.xy, p.interaction);
        v$r_1 = multiplied(v$r_1, first.zw, p.interaction);
        v$r_2 = multiplied(v$r_2, last.xy, p.interaction);
        v$r_3 = multiplied(v$r_3, last.zw, p.interaction);
//@ else
//@ for c in 0..4
        let is_there$c = row$r >= 0 && column$c >= 0;
        v$r_$c = multiplied(v$r_$c, select(vec2f(), table[select(0, row$r + column$c, is_there$c)], is_there$c), p.interaction);
//@ end
//@ end
    }
//@ end
}

fn load() {
//@ for r in 0..ROWS
    if (row$r >= 0) {
//@ if WIDE
        if (column0 >= 0) {
            let at = (row$r + column0) / 2;
            let first = field[at];
            let last = field[at + 1];
            v$r_0 = first.xy;
            v$r_1 = first.zw;
            v$r_2 = last.xy;
            v$r_3 = last.zw;
        }
//@ else
//@ for c in 0..4
        if (column$c >= 0) { v$r_$c = field[row$r + column$c]; }
//@ end
//@ end
    }
//@ end
}

//@ for g in 0..2
fn take_steps$g() {
    even_x$g(p.x_even);
    for (var step = 1; step <= p.steps; step++) {
        odd_x$g(p.x_odd);
//@ if NESTED
        even_y$g(p.y_even);
        odd_y$g(p.y_odd);
        even_y$g(p.y_even_again);
        odd_x$g(p.x_odd_again);
        even_x$g(p.x_even_again);
        // What was read of the others' columns is written next.
        workgroupBarrier();
//@ else
        even_x$g(p.x_even_again);
        even_y$g(p.y_even);
        odd_y$g(p.y_odd);
        even_y$g(p.y_even_again);
//@ end
        multiply();
        if (step < p.steps) { even_x$g(p.x_even); }
    }
}
//@ end

@compute @workgroup_size(THREADS) fn steps(@builtin(local_invocation_index) index: u32, @builtin(workgroup_id) block: vec3u) {
    own = i32(index);
    before = max(own - 1, 0);
    after = min(own + 1, THREADS - 1);
    above = select(own - ACROSS, own, own < ACROSS);
    below = select(own + ACROSS, own, own >= THREADS - ACROSS);
    // A thread's columns begin at a multiple of 4.
    let halo = vec2i((2 * p.steps + 3) / 4 * 4, 2 * p.steps);
    let tile = vec2i(block.xy) * (vec2i(W, H) - 2 * halo) - halo;
    let in_tile = vec2i(4 * (own % ACROSS), ROWS * (own / ACROSS));
    let x = tile.x + in_tile.x;
    let y = tile.y + in_tile.y;
//@ for c in 0..4
    column$c = along(0, x + $c);
//@ end
//@ for r in 0..ROWS
    {
        let row = along(1, y + $r);
        row$r = select(row * p.size.x, -1, row < 0);
//@ if FLUX
        bond$r = gauge[max(row, 0)];
//@ end
    }
//@ end
    load();
    // A tile with its neighbours lies within the grid, or goes round it.
    let whole_x = p.periodic.x != 0 || (tile.x > 0 && tile.x + W < p.size.x);
    let whole_y = p.periodic.y != 0 || (tile.y > 0 && tile.y + H < p.size.y);
    if (WALLS || !(whole_x && whole_y)) {
        find_blocked(x, y);
        take_steps1();
    } else {
        take_steps0();
    }
    if (in_tile.x < halo.x || in_tile.x >= W - halo.x || x >= p.size.x) { return; }
//@ for r in 0..ROWS
    if (in_tile.y + $r >= halo.y && in_tile.y + $r < H - halo.y && y + $r < p.size.y) {
//@ if WIDE
        out[(row$r + x) / 2] = vec4f(v$r_0, v$r_1);
        out[(row$r + x) / 2 + 1] = vec4f(v$r_2, v$r_3);
//@ else
//@ for c in 0..4
        if (x + $c < p.size.x) { out[row$r + x + $c] = v$r_$c; }
//@ end
//@ end
    }
//@ end
}
