// Sweeps of coupled oscillators one by one, in place, and the damping before and after a step (src/solver/oscillators/naive.rs). Planes are nx x ny numbers, x fastest.
// kernels/oscillators.wgsl stands before it.
//
// A sweep reads and writes q and p, 16 bytes a site, and 8 of coefficients in a medium.

// The bonds of one parity along an axis; at ends phantoms are the second or the first site of a bond
struct Sweep {
    size: vec2i,
    axis: i32,
    odd: i32,     // whether bonds join odd sites with the even ones after them
    pairs: i32,   // along the axis
    rows_y: i32,  // rows of blocks along the launch's y axis
    ring: i32,
    first: i32,   // where in `bonds` those of the sweep begin
    same: vec4f,  // kappa, A, B, C where all bonds have the same
    low: vec2f,   // kappa, A of a site alone at the low end, and at the high end
    high: vec2f,
}

struct Damped { count: u32 }

@group(0) @binding(0) var<uniform> sweep: Sweep;
@group(0) @binding(0) var<uniform> damped: Damped;
@group(0) @binding(1) var<storage, read_write> q: array<f32>;
@group(0) @binding(2) var<storage, read_write> p: array<f32>;
// Of the pairs of a sweep along the axis, then from row to row (axis 0) or of all columns, then from pair to pair (axis 1)
@group(0) @binding(3) var<storage, read> bonds: array<vec4f>;
@group(0) @binding(3) var<storage, read> factors: array<f32>;

fn coefficients(at: i32, bond: i32) -> vec4f {
    if (EACH) { return bonds[sweep.first + bond]; }
    if (sweep.ring != 0) { return sweep.same; }
    if (at < 0) { return at_low_end(sweep.low); }
    if (at + 1 >= sweep.size[sweep.axis]) { return at_high_end(sweep.high); }
    return sweep.same;
}

@compute @workgroup_size(64, 4) fn turn(
    @builtin(local_invocation_id) thread: vec3u,
    @builtin(workgroup_id) block: vec3u,
    @builtin(num_workgroups) blocks: vec3u,
) {
    let row = (i32(block.z) * sweep.rows_y + i32(block.y)) * 4 + i32(thread.y);
    let along_x = sweep.axis == 0;
    if (row >= select(sweep.pairs, sweep.size.y, along_x)) { return; }
    let columns = select(sweep.size.x, sweep.pairs, along_x);
    let n = sweep.size[sweep.axis];
    let stride = select(sweep.size.x, 1, along_x);
    for (var x = i32(block.x) * 64 + i32(thread.x); x < columns; x += 64 * i32(blocks.x)) {
        // The number of the bond's first site along the axis, and where site 0 lies
        let at = 2 * select(row, x, along_x) - sweep.odd;
        let origin = select(x, row * sweep.size.x, along_x);
        let has_first = at >= 0 || sweep.ring != 0;
        let has_second = at + 1 < n;
        let i = origin + select(at, n - 1, at < 0) * stride;
        let j = origin + (at + 1) * stride;
        var first = vec2f();
        var second = vec2f();
        if (has_first) { first = vec2f(q[i], p[i]); }
        if (has_second) { second = vec2f(q[j], p[j]); }
        let both = turned(first, second, coefficients(at, row * columns + x));
        if (has_first) {
            q[i] = both.x;
            p[i] = both.y;
        }
        if (has_second) {
            q[j] = both.z;
            p[j] = both.w;
        }
    }
}

// Momenta times a factor each
@compute @workgroup_size(256) fn damp(@builtin(global_invocation_id) thread: vec3u, @builtin(num_workgroups) blocks: vec3u) {
    for (var n = thread.x; n < damped.count; n += 256u * blocks.x) { p[n] *= factors[n]; }
}
