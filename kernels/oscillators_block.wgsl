// Several sub-steps of coupled oscillators in two dimensions a launch. A thread holds 4 columns and ROWS rows of sites in registers, a block of 128 threads a tile of
// 64 x 8 ROWS sites with its halo; bonds between threads go through workgroup memory, with four barriers a sub-step. What no missing neighbour has reached is written: a
// sub-step takes two sites from every side. Memory: 16 B a site and launch, 32 B of coefficients in a medium, and the halo; workgroup memory: 128 (16 ROWS + 64) B.
//
// Sites beyond an edge are phantoms of q = p = 0, which they are made again after every sweep. kernels/oscillators.wgsl and along.wgsl stand before it; what is written
// out, and how, is said by src/backend/wgpu/template.rs. ROWS: even, at most 8; EACH: coefficients of every bond; WIDE: rows are multiples of 4 sites, which are then read and
// written in fours.

const THREADS = 128;
// Threads side by side
const ACROSS = 16;
const ROWS = $ROWS;
const W = 64;
const H = 8 * ROWS;

// Whether momenta are damped
override DAMPED: bool = false;

struct Params {
    size: vec2i,
    periodic: vec2i,
    steps: i32,              // sub-steps, of one length
    begins: u32,             // whether a step begins with the first
    ends: u32,               // bit n: a step ends with sub-step n
    unused: u32,
    odd: vec2i,              // where in the tables odd bonds along x and y begin
    pairs: vec2i,            // even and odd ones along x
    same: array<vec4f, 4>,   // kappa, A, B, C of even and odd bonds along x, even and odd bonds along y, where all have the same
    ends_of: array<vec4f, 2>, // kappa, A of sites alone at the low end of x, at the high end; the same of y
}

@group(0) @binding(0) var<uniform> p: Params;
//@ if WIDE
@group(0) @binding(1) var<storage, read> q_in: array<vec4f>;
@group(0) @binding(2) var<storage, read> p_in: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> q_out: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> p_out: array<vec4f>;
@group(0) @binding(5) var<storage, read> factors: array<vec4f>;
//@ else
@group(0) @binding(1) var<storage, read> q_in: array<f32>;
@group(0) @binding(2) var<storage, read> p_in: array<f32>;
@group(0) @binding(3) var<storage, read_write> q_out: array<f32>;
@group(0) @binding(4) var<storage, read_write> p_out: array<f32>;
@group(0) @binding(5) var<storage, read> factors: array<f32>;
//@ end
// As kernels/oscillators_sweeps.wgsl numbers them
@group(0) @binding(6) var<storage, read> bonds_x: array<vec4f>;
@group(0) @binding(7) var<storage, read> bonds_y: array<vec4f>;

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
// The thread's first site
var<private> x: i32;
var<private> y: i32;
// Phantoms: bit 4 row + column
var<private> phantoms: u32;

// (q, p); the number of a row, or -1 beyond an edge, which is that of a column as well
//@ for r in 0..ROWS
var<private> row$r: i32;
//@ for c in 0..4
var<private> v$r_$c: vec2f;
//@ end
//@ end
//@ for c in 0..4
var<private> column$c: i32;
//@ end
//@ if EACH
// The numbers of odd bonds along x: before the thread, in it, after it
//@ for n in 0..3
var<private> between$n: i32;
//@ end
//@ end

// The number of an odd bond along an axis, of the numbers of its sites. That of a bond between phantoms may be any: they stay what they are.
fn odd_pair(first: i32, second: i32) -> i32 { return select((first + 1) / 2, second / 2, second >= 0); }

// The coefficients of the bond from place `at` of an axis on, `same` being those of a bond inside: in a tile without phantoms, and with them
fn end_or0(same: vec4f, axis: i32, at: i32) -> vec4f { return same; }
fn end_or1(same: vec4f, axis: i32, at: i32) -> vec4f {
    if (p.periodic[axis] != 0) { return same; }
    if (at == -1) { return at_low_end(p.ends_of[axis].xy); }
    if (at == p.size[axis] - 1) { return at_high_end(p.ends_of[axis].zw); }
    return same;
}

fn find_phantoms() {
//@ for r in 0..ROWS
//@ for c in 0..4
    phantoms |= select(0u, 1u, column$c < 0 || row$r < 0) << $(4*r+c)u;
//@ end
//@ end
}

fn clear() {
//@ for r in 0..ROWS
//@ for c in 0..4
    v$r_$c = select(v$r_$c, vec2f(), ((phantoms >> $(4*r+c)u) & 1u) != 0u);
//@ end
//@ end
}

//@ if EACH
fn even_bond_x(row: i32, column: i32) -> vec4f { return bonds_x[max(row, 0) * p.pairs.x + max(column, 0) / 2]; }
fn odd_bond_x(row: i32, pair: i32) -> vec4f { return bonds_x[p.odd.x + max(row, 0) * p.pairs.y + pair]; }
fn even_bond_y(row: i32, column: i32) -> vec4f { return bonds_y[max(row, 0) / 2 * p.size.x + max(column, 0)]; }
fn odd_bond_y(pair: i32, column: i32) -> vec4f { return bonds_y[p.odd.y + pair * p.size.x + max(column, 0)]; }
//@ end

// Sweeps of both kinds of tiles
//@ for g in 0..2
fn even_x$g() {
//@ for r in 0..ROWS
//@ for c in 0..4 step 2
    {
//@ if EACH
        let both = turned(v$r_$c, v$r_$(c+1), even_bond_x(row$r, column$c));
//@ else
        let both = turned(v$r_$c, v$r_$(c+1), end_or$g(p.same[0], 0, x + $c));
//@ end
        v$r_$c = both.xy;
        v$r_$(c+1) = both.zw;
    }
//@ end
//@ end
//@ if g
    clear();
//@ end
}

fn odd_x$g() {
//@ for r in 0..ROWS
    lefts[$(r) * THREADS + own] = v$r_0;
    rights[$(r) * THREADS + own] = v$r_3;
//@ end
    workgroupBarrier();
//@ for r in 0..ROWS
    {
        let left = rights[$(r) * THREADS + before];
        let right = lefts[$(r) * THREADS + after];
//@ if EACH
        v$r_0 = turned(left, v$r_0, odd_bond_x(row$r, between0)).zw;
        let both = turned(v$r_1, v$r_2, odd_bond_x(row$r, between1));
        v$r_3 = turned(v$r_3, right, odd_bond_x(row$r, between2)).xy;
//@ else
        v$r_0 = turned(left, v$r_0, end_or$g(p.same[1], 0, x - 1)).zw;
        let both = turned(v$r_1, v$r_2, end_or$g(p.same[1], 0, x + 1));
        v$r_3 = turned(v$r_3, right, end_or$g(p.same[1], 0, x + 3)).xy;
//@ end
        v$r_1 = both.xy;
        v$r_2 = both.zw;
    }
//@ end
//@ if g
    clear();
//@ end
}

fn even_y$g() {
//@ for r in 0..ROWS step 2
//@ for c in 0..4
    {
//@ if EACH
        let both = turned(v$r_$c, v$(r+1)_$c, even_bond_y(row$r, column$c));
//@ else
        let both = turned(v$r_$c, v$(r+1)_$c, end_or$g(p.same[2], 1, y + $r));
//@ end
        v$r_$c = both.xy;
        v$(r+1)_$c = both.zw;
    }
//@ end
//@ end
//@ if g
    clear();
//@ end
}

fn odd_y$g() {
//@ for c in 0..4
    tops[$(c) * THREADS + own] = v0_$c;
    bottoms[$(c) * THREADS + own] = v$(ROWS-1)_$c;
//@ end
    workgroupBarrier();
//@ for r in 1..ROWS-1 step 2
    {
        let pair = odd_pair(row$r, row$(r+1));
//@ for c in 0..4
        {
//@ if EACH
            let both = turned(v$r_$c, v$(r+1)_$c, odd_bond_y(pair, column$c));
//@ else
            let both = turned(v$r_$c, v$(r+1)_$c, end_or$g(p.same[3], 1, y + $r));
//@ end
            v$r_$c = both.xy;
            v$(r+1)_$c = both.zw;
        }
//@ end
    }
//@ end
    let pair_above = odd_pair(along(1, y - 1), row0);
    let pair_below = odd_pair(row$(ROWS-1), along(1, y + ROWS));
//@ for c in 0..4
    {
        let top = bottoms[$(c) * THREADS + above];
        let bottom = tops[$(c) * THREADS + below];
//@ if EACH
        v0_$c = turned(top, v0_$c, odd_bond_y(pair_above, column$c)).zw;
        v$(ROWS-1)_$c = turned(v$(ROWS-1)_$c, bottom, odd_bond_y(pair_below, column$c)).xy;
//@ else
        v0_$c = turned(top, v0_$c, end_or$g(p.same[3], 1, y - 1)).zw;
        v$(ROWS-1)_$c = turned(v$(ROWS-1)_$c, bottom, end_or$g(p.same[3], 1, y + ROWS - 1)).xy;
//@ end
    }
//@ end
//@ if g
    clear();
//@ end
}
//@ end

// Loads that wait for no decision come early: phantoms hold 0.
fn damp() {
//@ for r in 0..ROWS
    {
//@ if WIDE
        let factor = factors[max(row$r * p.size.x + column0, 0) / 4];
//@ for c in 0..4
        v$r_$c.y *= factor[$c];
//@ end
//@ else
//@ for c in 0..4
        v$r_$c.y *= factors[max(row$r * p.size.x + column$c, 0)];
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
            let at = (row$r * p.size.x + column0) / 4;
            let pressures = q_in[at];
            let momenta = p_in[at];
//@ for c in 0..4
            v$r_$c = vec2f(pressures[$c], momenta[$c]);
//@ end
        }
//@ else
//@ for c in 0..4
        if (column$c >= 0) { v$r_$c = vec2f(q_in[row$r * p.size.x + column$c], p_in[row$r * p.size.x + column$c]); }
//@ end
//@ end
    }
//@ end
}

//@ for g in 0..2
fn take_steps$g() {
    for (var step = 0; step < p.steps; step++) {
        even_x$g();
        odd_x$g();
        even_y$g();
        odd_y$g();
        even_y$g();
        odd_x$g();
        even_x$g();
        // What was read of the others' columns is written next.
        workgroupBarrier();
        if (DAMPED) {
            if (((p.ends >> u32(step)) & 1u) != 0u) {
                damp();
                if (step + 1 < p.steps) { damp(); }
            }
        }
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
    x = tile.x + in_tile.x;
    y = tile.y + in_tile.y;
//@ for c in 0..4
    column$c = along(0, x + $c);
//@ end
//@ for r in 0..ROWS
    row$r = along(1, y + $r);
//@ end
//@ if EACH
    between0 = odd_pair(along(0, x - 1), column0);
    between1 = odd_pair(column1, column2);
    between2 = odd_pair(column3, along(0, x + 4));
//@ end
    load();
    // A tile with its neighbours lies within the grid, or goes round it.
    let whole_x = p.periodic.x != 0 || (tile.x > 0 && tile.x + W < p.size.x);
    let whole_y = p.periodic.y != 0 || (tile.y > 0 && tile.y + H < p.size.y);
    if (DAMPED) {
        if (p.begins != 0u) { damp(); }
    }
    if (whole_x && whole_y) {
        take_steps0();
    } else {
        find_phantoms();
        take_steps1();
    }
    if (in_tile.x < halo.x || in_tile.x >= W - halo.x || x >= p.size.x) { return; }
//@ for r in 0..ROWS
    if (in_tile.y + $r >= halo.y && in_tile.y + $r < H - halo.y && y + $r < p.size.y) {
        let at = (y + $r) * p.size.x + x;
//@ if WIDE
        q_out[at / 4] = vec4f(v$r_0.x, v$r_1.x, v$r_2.x, v$r_3.x);
        p_out[at / 4] = vec4f(v$r_0.y, v$r_1.y, v$r_2.y, v$r_3.y);
//@ else
//@ for c in 0..4
        if (x + $c < p.size.x) {
            q_out[at + $c] = v$r_$c.x;
            p_out[at + $c] = v$r_$c.y;
        }
//@ end
//@ end
    }
//@ end
}
