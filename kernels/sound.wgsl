// What is done to a field of sound beside its steps: single sites between two of them, what is kept of every site, pictures. Blocks of 256 threads. kernels/moment.wgsl stands before it.

// What is kept of all sites: `step` times the level is added, or the largest |p|; `count` numbers
struct Kept { count: u32, step: f32 }

// A picture of columns x0 to x1 and rows y0 to y1 of plane z; texels of reduction x reduction sites
struct Frame {
    nx: u32, ny: u32,
    x0: u32, x1: u32, y0: u32, y1: u32, z: u32,
    reduction: u32,
    width: u32, height: u32,
    largest: u32, // the largest value of a texel's sites, otherwise their mean
}

@group(0) @binding(0) var<uniform> moment: Moment;
@group(0) @binding(0) var<uniform> kept: Kept;
@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var<storage, read_write> level: array<f32>;
@group(0) @binding(2) var<storage, read_write> other: array<f32>;
@group(0) @binding(3) var<storage, read> places: array<u32>;
@group(0) @binding(4) var<storage, read> values: array<f32>;

// One block
@compute @workgroup_size(256) fn operate(@builtin(local_invocation_index) thread: u32) {
    // Several sources at one site add up in their order.
    for (var n = moment.first + thread; n < moment.last; n += 256u) {
        let place = places[n];
        if (n > moment.first && places[n - 1u] == place) { continue; }
        var sum = level[place];
        for (var next = n; next < moment.last && places[next] == place; next++) { sum += values[moment.first_value + next - moment.first]; }
        level[place] = sum;
    }
    storageBarrier();
    for (var n = thread; n < moment.sets; n += 256u) { level[places[moment.set_first + n]] = values[moment.set_values + n]; }
    storageBarrier();
    for (var n = thread; n < moment.gathers; n += 256u) { other[moment.record + n] = level[places[moment.gather_first + n]]; }
}

@compute @workgroup_size(256) fn keep_largest(@builtin(global_invocation_id) thread: vec3u, @builtin(num_workgroups) blocks: vec3u) {
    for (var n = thread.x; n < kept.count; n += 256u * blocks.x) { other[n] = max(other[n], abs(level[n])); }
}

@compute @workgroup_size(256) fn integrate(@builtin(global_invocation_id) thread: vec3u, @builtin(num_workgroups) blocks: vec3u) {
    for (var n = thread.x; n < kept.count; n += 256u * blocks.x) { other[n] += kept.step * level[n]; }
}

@compute @workgroup_size(256) fn picture(@builtin(global_invocation_id) thread: vec3u, @builtin(num_workgroups) blocks: vec3u) {
    for (var n = thread.x; n < frame.width * frame.height; n += 256u * blocks.x) {
        let xa = frame.x0 + (n % frame.width) * frame.reduction;
        let ya = frame.y0 + (n / frame.width) * frame.reduction;
        let xb = min(xa + frame.reduction, frame.x1);
        let yb = min(ya + frame.reduction, frame.y1);
        var sum = 0.0;
        for (var y = ya; y < yb; y++) {
            let row = (frame.z * frame.ny + y) * frame.nx;
            // Row by row, so that large texels round less.
            var of_row = 0.0;
            for (var x = xa; x < xb; x++) {
                let found = level[row + x];
                of_row = select(of_row + found, max(of_row, found), frame.largest == 1u);
            }
            sum = select(sum + of_row, max(sum, of_row), frame.largest == 1u);
        }
        other[n] = select(sum / f32((xb - xa) * (yb - ya)), sum, frame.largest == 1u);
    }
}
