// Sums over a field of sound, and largest values: a number, or six, for 64 x 64 sites, a block of threads each; pictures of energies. Methods give what they sum of a site: kernels/fdtd_sums.wgsl and
// kernels/oscillators_sums.wgsl have `energy`, `flux` and `pressure` of the site `at`, whose number is `place`, the bindings `numbers` and `region`, and stand before it with kernels/patches.wgsl.

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
    across: i32,      // the axis of the flux
    size: vec3i,      // of the grid
    to: i32,          // the first number
    inside_lo: vec3i, // sites whose energy pictures show: those between absorbing layers
    across_x: i32,    // blocks side by side, and all of them; of a picture texels
    inside_hi: vec3i,
    blocks: i32,
    begin: vec2i,     // sites of a picture, in plane z: the first, and before which it ends
    end: vec2i,
    z: i32,
    reduction: i32,   // sites of a texel along x and y
    sound: i32,       // whether the first array is what the velocity follows from
    per_site: f32,    // what energies of pictures are multiplied with
    own: vec4f,       // numbers of the method
    ring: vec2i,      // axes that close on themselves
    soft: vec2i,      // axes with soft edges
    scale: f32,       // a power of two that multiplies pressures before they are squared: squares of weak ones are below the smallest number, those of strong ones above the largest
}

fn visit(site: vec3i) {
    at = site;
    place = (site.z * region.size.y + site.y) * region.size.x + site.x;
}

fn scaled() -> f32 { return region.scale * pressure(); }

fn asked() -> f32 {
    switch region.kind {
        case ENERGY: { return energy(); }
        case FLUX: { return flux(); }
        case PRESSURE: { return pressure(); }
        case SQUARE: { return scaled() * scaled(); }
        default: { return abs(pressure()); }
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
            visit(vec3i(x, region.lo.y + row % height, region.lo.z + row / height));
            let next = asked();
            sum = select(sum + next, max(sum, next), largest.x);
        }
    }
    let all = joined(index, vec4f(sum), largest);
    if (own == 0) { numbers[region.to + number] = all.x; }
}

// Of 64 x 64 sites of a plane of the grid, with scaled pressures: the sum of p^2, its moments of first and second order along x and y from the first of these sites on, and the largest |p|
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
    let down = (region.size.y + ROWS - 1) / ROWS;
    let first = number / region.across_x % down * ROWS;
    let z = number / region.across_x / down;
    var along_x = vec4f();
    var along_y = vec4f();
    if (x < region.size.x) {
        for (var row = own / COLUMNS; row < min(ROWS, region.size.y - first); row += THREADS / COLUMNS) {
            visit(vec3i(x, first + row, z));
            let value = scaled();
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

// Means of the energy over texels; sites in absorbing layers have none
@compute @workgroup_size(THREADS) fn draw(@builtin(global_invocation_id) thread: vec3u, @builtin(num_workgroups) blocks: vec3u) {
    for (var n = i32(thread.x); n < region.blocks; n += THREADS * i32(blocks.x)) {
        let first = region.begin + region.reduction * vec2i(n % region.across_x, n / region.across_x);
        let last = min(first + region.reduction, region.end);
        var sum = 0.0;
        for (var y = first.y; y < last.y; y++) {
            // Row by row, so that large texels round less.
            var of_row = 0.0;
            for (var x = first.x; x < last.x; x++) {
                visit(vec3i(x, y, region.z));
                if (all(at >= region.inside_lo) && all(at < region.inside_hi)) { of_row += energy(); }
            }
            sum += of_row;
        }
        let sites = (last - first).x * (last - first).y;
        numbers[n] = region.per_site * sum / f32(sites);
    }
}
