// Sums over a field of sound, and largest values: a number, or six, for 64 x 64 sites, a block of threads each; pictures of energies. kernels/fdtd.wgsl, kernels/fdtd_sites.wgsl and
// kernels/patches.wgsl stand before it; src/solver/fdtd/energy.rs has the energy and its flux. Both take a newer level in `now`: p with the older level in `old`, or what the velocity follows from with
// p in `old`. Memory: 4 B a site, 8 for energies, 12 with a speed a site.

// What is summed
const ENERGY = 0;
const FLUX = 1;
const PRESSURE = 2;
const SQUARE = 3;
const LARGEST = 4;

struct Region {
    lo: vec3i,
    kind: i32,
    hi: vec3i,
    across: i32,  // the axis of the flux
    to: i32,      // the first number
    sound: i32,   // whether `now` is what the velocity follows from
    time_step: f32,
    spacing: f32,
    density: f32, // where there is one
    across_x: i32, // blocks side by side, and all of them; of a picture texels
    blocks: i32,
    begin: vec2i, // sites of a picture, in plane z: the first, and before which it ends
    end: vec2i,
    z: i32,
    reduction: i32, // sites of a texel along x and y
}

@group(0) @binding(6) var<storage, read_write> numbers: array<f32>;
@group(0) @binding(7) var<uniform> region: Region;

// A level, and what it is more than the level before it
fn level(site: i32) -> vec2f {
    let newer = now[site];
    let other = old[site];
    return vec2f(newer, select(newer - other, region.time_step * other, region.sound != 0));
}

// 1/rho between two sites
fn bond(here: i32, there: i32) -> f32 {
    if (DENSITY) { return 2.0 / (density[here] + density[there]); }
    return 1.0 / region.density;
}

// What a bond to a place with its sign holds; that to the zero outside a soft edge is counted by no other site.
fn bond_energy(own: vec2f, to: vec2i) -> f32 {
    let both = f32(to.y) * level(to.x) - own;
    let weight = select(1.0, 2.0, to.y == 0) * bond(place, select(place, to.x, to.y > 0));
    return weight * both.x * (both.x - both.y);
}

// The energy of the site, times a^2 / a^d
fn energy() -> f32 {
    let marked = mark(place);
    if ((marked & WALL) != 0u) { return 0.0; }
    let own = level(place);
    var kappa = p.square;
    if (SQUARES) { kappa = squares[place]; }
    if (!DENSITY) { kappa *= region.density; }
    var bonds = 0.0;
    for (var axis = 0; axis < RANK; axis++) {
        if ((marked & BESIDE) != 0u) {
            let below = walked(axis, -1);
            let above = walked(axis, 1);
            for (var k = 0; k < HALF; k++) { bonds += p.coefficients[k] * (bond_energy(own, below[k]) + bond_energy(own, above[k])); }
        } else {
            for (var k = 0; k < HALF; k++) { bonds += p.coefficients[k] * (bond_energy(own, placed(axis, -1 - k)) + bond_energy(own, placed(axis, 1 + k))); }
        }
    }
    if (kappa == 0.0) { return bonds / 4.0; }
    return own.y * own.y / (2.0 * kappa) + bonds / 4.0;
}

// What flows to the next site along the region's axis, per a^(d - 1) and unit of time: the bonds across the face, those to images of sites on its other side among them
fn flux() -> f32 {
    let axis = region.across;
    let n = p.size[axis];
    let ring = p.edges[axis] == PERIODIC;
    if (!ring && at[axis] + 1 >= n) { return 0.0; }
    var sum = 0.0;
    for (var below = 0; below < HALF; below++) {
        var start = at[axis] - below;
        if (ring) { start = (start % n + n) % n; }
        if (start < 0) { break; }
        let here = place + (start - at[axis]) * stride(axis);
        if ((mark(here) & WALL) != 0u) { continue; }
        let a = level(here);
        for (var towards = -1; towards <= 1; towards += 2) {
            // As in `walked`; `shift` counts sites from `start` on, which a ring does not wrap.
            var direction = towards;
            var sign = 1;
            var on_node = false;
            var to = start;
            var shift = 0;
            for (var k = 0; k < HALF; k++) {
                if (on_node) {
                    on_node = false;
                } else {
                    let next = ghost(axis, to + direction);
                    let beyond = to + direction < 0 || to + direction >= n;
                    let other = place + (next.x - at[axis]) * stride(axis);
                    if (next.y == 0) {
                        on_node = true;
                        direction = -direction;
                        sign = -sign;
                    } else if ((!ring && beyond) || (mark(other) & WALL) != 0u) {
                        direction = -direction;
                    } else {
                        to = next.x;
                        shift += direction;
                    }
                }
                if (on_node || shift <= below) { continue; }
                let there = place + (to - at[axis]) * stride(axis);
                let b = f32(sign) * level(there);
                let pressure = (a.y + b.y) / (2.0 * region.time_step);
                let slope = (2.0 * (b.x - a.x) - (b.y - a.y)) / (2.0 * region.spacing);
                sum -= p.coefficients[k] * bond(here, there) * pressure * slope;
            }
        }
    }
    return sum;
}

fn asked() -> f32 {
    switch region.kind {
        case ENERGY: { return energy(); }
        case FLUX: { return flux(); }
        case PRESSURE: { return now[place]; }
        case SQUARE: { return now[place] * now[place]; }
        default: { return abs(now[place]); }
    }
}

// A number for 64 columns of 64 rows of the region
@compute @workgroup_size(THREADS) fn measure(
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) block: vec3u,
    @builtin(num_workgroups) blocks: vec3u,
) {
    let number = i32(block.y * blocks.x + block.x);
    if (number >= region.blocks) { return; }
    let own = i32(index);
    let largest = vec4<bool>(region.kind == LARGEST);
    let x = region.lo.x + number % region.across_x * COLUMNS + own % COLUMNS;
    let first = number / region.across_x * ROWS;
    let height = region.hi.y - region.lo.y;
    let last = min(first + ROWS, height * (region.hi.z - region.lo.z));
    var sum = 0.0;
    if (x < region.hi.x) {
        for (var row = first + own / COLUMNS; row < last; row += THREADS / COLUMNS) {
            at = vec3i(x, region.lo.y + row % height, region.lo.z + row / height);
            place = (at.z * p.size.y + at.y) * p.size.x + x;
            let next = asked();
            sum = select(sum + next, max(sum, next), largest.x);
        }
    }
    let all = joined(index, vec4f(sum), largest);
    if (own == 0) { numbers[region.to + number] = all.x; }
}

// Of 64 x 64 sites of a plane of the grid: the sum of p^2, its moments of first and second order along x and y from the first of these sites on, and the largest |p|
@compute @workgroup_size(THREADS) fn moments(
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) block: vec3u,
    @builtin(num_workgroups) blocks: vec3u,
) {
    let number = i32(block.y * blocks.x + block.x);
    if (number >= region.blocks) { return; }
    let own = i32(index);
    let column = own % COLUMNS;
    let x = number % region.across_x * COLUMNS + column;
    let down = (p.size.y + ROWS - 1) / ROWS;
    let first = number / region.across_x % down * ROWS;
    let z = number / region.across_x / down;
    var along_x = vec4f();
    var along_y = vec4f();
    if (x < p.size.x) {
        for (var row = own / COLUMNS; row < min(ROWS, p.size.y - first); row += THREADS / COLUMNS) {
            let value = now[(z * p.size.y + first + row) * p.size.x + x];
            let square = value * value;
            along_x += square * vec4f(1.0, f32(column), f32(column * column), 0.0);
            along_y = vec4f(along_y.xy + square * vec2f(f32(row), f32(row * row)), max(along_y.z, abs(value)), 0.0);
        }
    }
    let sums = joined(index, along_x, vec4<bool>());
    let others = joined(index, along_y, vec4<bool>(false, false, true, false));
    if (own == 0) {
        let to = 6 * number;
        numbers[to] = sums.x;
        numbers[to + 1] = sums.y;
        numbers[to + 2] = sums.z;
        numbers[to + 3] = others.x;
        numbers[to + 4] = others.y;
        numbers[to + 5] = others.z;
    }
}

// Means of the energy over texels; sites outside lo to hi have none
@compute @workgroup_size(THREADS) fn draw(@builtin(global_invocation_id) thread: vec3u, @builtin(num_workgroups) blocks: vec3u) {
    for (var n = i32(thread.x); n < region.blocks; n += THREADS * i32(blocks.x)) {
        let first = region.begin + region.reduction * vec2i(n % region.across_x, n / region.across_x);
        let last = min(first + region.reduction, region.end);
        var sum = 0.0;
        for (var y = first.y; y < last.y; y++) {
            // Row by row, so that large texels round less.
            var of_row = 0.0;
            for (var x = first.x; x < last.x; x++) {
                at = vec3i(x, y, region.z);
                place = (at.z * p.size.y + y) * p.size.x + x;
                if (all(at >= region.lo) && all(at < region.hi)) { of_row += energy(); }
            }
            sum += of_row;
        }
        let sites = (last - first).x * (last - first).y;
        numbers[n] = sum / (f32(sites) * region.spacing * region.spacing);
    }
}
