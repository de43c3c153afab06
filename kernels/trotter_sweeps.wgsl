// Sweeps of Trotter-Suzuki one by one, and the phases between them, in place (src/solver/trotter/naive.rs has the formulas). Sites are complex, x fastest.
// kernels/trotter.wgsl stands before it.

// The bonds of one parity along an axis, turned by one angle
struct Sweep {
    size: vec3i,
    axis: i32,
    odd: i32,     // whether bonds join odd sites with the even ones after them
    pairs: i32,   // along the axis; the last one of a periodic axis joins its ends
    rows_y: i32,  // rows of blocks along the launch's y axis
    t: f32,       // tan(angle/2) or tanh(angle/2)
    s: f32,       // sin(angle) or sinh(angle)
}

// Sites that detectors read, after step `step` of a batch
struct Gather {
    count: u32,
    to: u32,
}

// Of the whole field: sites, and what they are multiplied with
struct Whole {
    count: u32,
    factor: f32,
}

struct Phases {
    count: u32,
    after: f32,
    before: f32,
}

@group(0) @binding(0) var<uniform> sweep: Sweep;
@group(0) @binding(0) var<uniform> phases: Phases;
@group(0) @binding(0) var<uniform> seen: Gather;
@group(0) @binding(0) var<uniform> whole: Whole;
@group(0) @binding(1) var<storage, read_write> field: array<vec2f>;
@group(0) @binding(2) var<storage, read> table: array<vec2f>;
@group(0) @binding(3) var<storage, read> walls: array<u32>;  // a bit a site
@group(0) @binding(4) var<storage, read> gauge: array<vec2f>; // of the x bonds, per y
@group(0) @binding(2) var<storage, read> places: array<u32>;
@group(0) @binding(2) var<storage, read_write> sums: array<f32>;
@group(0) @binding(3) var<storage, read_write> records: array<vec2f>;

fn is_wall(site: i32) -> bool { return ((walls[site / 32] >> u32(site % 32)) & 1u) != 0u; }

@compute @workgroup_size(64, 4) fn turn(
    @builtin(local_invocation_id) thread: vec3u,
    @builtin(workgroup_id) block: vec3u,
    @builtin(num_workgroups) blocks: vec3u,
) {
    let row = (i32(block.z) * sweep.rows_y + i32(block.y)) * 4 + i32(thread.y);
    let size = sweep.size;
    // Where the row's first pair begins, and what lies between two sites of a pair, of two pairs side by side
    var columns = size.x;
    var first = 0;
    var at = 0; // along the axis
    var bond = size.x;
    if (sweep.axis == 0) {
        if (row >= size.y * size.z) { return; }
        columns = sweep.pairs;
        first = row * size.x;
        bond = 1;
    } else if (sweep.axis == 1) {
        if (row >= sweep.pairs * size.z) { return; }
        at = sweep.odd + 2 * (row % sweep.pairs);
        first = ((row / sweep.pairs) * size.y + at) * size.x;
    } else {
        if (row >= sweep.pairs * size.y) { return; }
        at = sweep.odd + 2 * (row / size.y);
        bond = size.x * size.y;
        first = at * bond + (row % size.y) * size.x;
    }
    for (var x = i32(block.x) * 64 + i32(thread.x); x < columns; x += 64 * i32(blocks.x)) {
        var i = first + x;
        var along = at;
        if (sweep.axis == 0) {
            along = sweep.odd + 2 * x;
            i = first + along;
        }
        var j = i + bond;
        if (along + 1 == size[sweep.axis]) { j = i - along * bond; }
        if (WALLS) {
            if (is_wall(i) || is_wall(j)) { continue; }
        }
        var phase = vec2f(1.0, 0.0);
        if (FLUX) {
            if (sweep.axis == 0) { phase = gauge[row % size.y]; }
        }
        let both = turned_x(field[i], field[j], vec2f(sweep.t, sweep.s), phase);
        field[i] = both.xy;
        field[j] = both.zw;
    }
}

@compute @workgroup_size(256) fn multiply(@builtin(global_invocation_id) thread: vec3u, @builtin(num_workgroups) blocks: vec3u) {
    for (var n = thread.x; n < phases.count; n += 256u * blocks.x) {
        field[n] = multiplied(field[n], table[n], vec2f(phases.after, phases.before));
    }
}

@compute @workgroup_size(256) fn gather(@builtin(global_invocation_id) thread: vec3u, @builtin(num_workgroups) blocks: vec3u) {
    for (var n = thread.x; n < seen.count; n += 256u * blocks.x) { records[seen.to + n] = field[places[n]]; }
}

// Squared moduli, sixteen sites a number: few enough that their sum in single precision is as good as they are
@compute @workgroup_size(256) fn weigh(@builtin(global_invocation_id) thread: vec3u, @builtin(num_workgroups) blocks: vec3u) {
    for (var n = thread.x; 16u * n < whole.count; n += 256u * blocks.x) {
        var sum = 0.0;
        for (var i = 16u * n; i < min(16u * n + 16u, whole.count); i++) { sum += dot(field[i], field[i]); }
        sums[n] = sum;
    }
}

@compute @workgroup_size(256) fn scale(@builtin(global_invocation_id) thread: vec3u, @builtin(num_workgroups) blocks: vec3u) {
    for (var n = thread.x; n < whole.count; n += 256u * blocks.x) { field[n] *= whole.factor; }
}
