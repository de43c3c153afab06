// One step of finite differences for sound in the core of a grid, out of reach of edges and absorbing layers, in place over the older level (src/solver/fdtd/mod.rs has
// the scheme). A thread holds 4 columns and marches along the last axis, with the rows or planes around its own in registers; what stands beside it comes through caches.
// Marked sites stay as they are: kernels/fdtd_step.wgsl takes those beside walls, and what lies around the core.
//
// A level is nx x ny x nz numbers, x fastest, nx a multiple of 4. Memory: 12 B a site-step, 16 with a speed a site. What is written out, and how, is said by
// src/backend/wgpu/template.rs. HALF: half the order; DEEP: three dimensions; SQUARES: a speed a site; MARKS: there are walls. The order of sums is that of
// kernels/fdtd_step.wgsl.

struct Params {
    first: vec3i,        // of the core; along x in fours
    chunk: i32,          // rows or planes of a thread
    end: vec3i,
    square: f32,         // (c dt/a)^2
    row: i32,            // fours of a row, of a plane
    plane: i32,
    unused: vec2i,
    coefficients: vec4f, // C_1 ... C_4 of the second difference (src/solver/fdtd/stencil.rs)
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> now: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> old: array<vec4f>;
@group(0) @binding(3) var<storage, read> squares: array<vec4f>;
@group(0) @binding(4) var<storage, read> marks: array<u32>;

@compute @workgroup_size(32, 4) fn march(@builtin(global_invocation_id) thread: vec3u) {
    let x = p.first.x + i32(thread.x);
//@ if DEEP
    let y = p.first.y + i32(thread.y);
    let start = p.first.z + i32(thread.z) * p.chunk;
    let stop = min(start + p.chunk, p.end.z);
    let stride = p.plane;
    var at = start * p.plane + y * p.row + x;
    if (x >= p.end.x || y >= p.end.y) { return; }
//@ else
    let start = p.first.y + i32(thread.y) * p.chunk;
    let stop = min(start + p.chunk, p.end.y);
    let stride = p.row;
    var at = start * p.row + x;
    if (x >= p.end.x || start >= stop) { return; }
//@ end
    // What stands HALF rows or planes before the thread's own to HALF behind it
//@ for k in 0..2*HALF
    var line$k = now[at + $(k-HALF) * stride];
//@ end
    for (var n = start; n < stop; n++) {
        let line$(2*HALF) = now[at + $HALF * stride];
        let before = now[at - 1];
        let after = now[at + 1];
        let here = line$HALF;
//@ if DEEP
        let level = 6.0 * here;
//@ else
        let level = 4.0 * here;
//@ end
        var sum = vec4f();
        // Columns, from 4 before the thread's own on
//@ for c in 0..4
        let at$c = before[$c];
        let at$(c+4) = here[$c];
        let at$(c+8) = after[$c];
//@ end
//@ for k in 1..HALF+1
        {
            var pairs = vec4f(at$(4-k), at$(5-k), at$(6-k), at$(7-k)) + vec4f(at$(4+k), at$(5+k), at$(6+k), at$(7+k));
//@ if DEEP
            pairs += now[at - $(k) * p.row] + now[at + $(k) * p.row];
//@ end
            pairs += line$(HALF-k) + line$(HALF+k);
            sum = fma(vec4f(p.coefficients[$(k-1)]), pairs - level, sum);
        }
//@ end
//@ if SQUARES
        let square = squares[at];
//@ else
        let square = vec4f(p.square);
//@ end
        let older = old[at];
        var next = here + fma(square, sum, here - older);
//@ if MARKS
        let marked = (marks[at / 4] >> u32(8 * (at % 4))) & 255u;
        next = select(next, older, (vec4u(marked) & vec4u(3u, 12u, 48u, 192u)) != vec4u());
//@ end
        old[at] = next;
//@ for k in 0..2*HALF
        line$k = line$(k+1);
//@ end
        at += stride;
    }
}
