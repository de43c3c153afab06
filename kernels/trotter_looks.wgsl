// Pictures of a field that Trotter-Suzuki steps, and sums over all its sites. What is stepped is phi; psi is phi times its closing phase. kernels/trotter.wgsl and
// kernels/patches.wgsl stand before it. Memory: 8 B a site, 16 B where it is closed; sums also 4 B of energies.

// Whether psi is not phi
override CLOSES: bool = false;

// What a picture shows
const SHOWS_PHASE = 1u;
const SHOWS_REAL = 2u;
const SHOWS_IMAGINARY = 3u;

// A picture of columns x0 to x1 and rows y0 to y1 of plane z; texels of reduction x reduction sites
struct Picture {
    nx: u32, ny: u32,
    x0: u32, x1: u32, y0: u32, y1: u32, z: u32,
    reduction: u32,
    width: u32, height: u32,
    unused_a: u32, unused_b: u32,
    quantity: u32,
    interaction: f32, // of the closing phase: what multiplies |phi|^2
}

// The whole field, in patches of COLUMNS x ROWS sites of a plane
struct Whole {
    size: vec3u,
    rank: u32,
    periodic: vec3u,
    across: u32,  // patches side by side
    down: u32,
    patches: u32,
    interaction: f32,
}

@group(0) @binding(0) var<uniform> picture: Picture;
@group(0) @binding(0) var<uniform> whole: Whole;
@group(0) @binding(1) var<storage, read> field: array<vec2f>;
@group(0) @binding(2) var<storage, read> closing: array<vec2f>;
@group(0) @binding(3) var<storage, read_write> texels: array<f32>; // values, then phases where they are shown
@group(0) @binding(3) var<storage, read> gauge: array<vec2f>; // of the x bonds, per y
@group(0) @binding(4) var<storage, read> energies: array<f32>; // the diagonal of H less J for each bond of the site
@group(0) @binding(5) var<storage, read_write> numbers: array<f32>;

fn psi(site: u32, interaction: f32) -> vec2f {
    if (!CLOSES) { return field[site]; }
    return multiplied(field[site], closing[site], vec2f(0.0, interaction));
}

// The angle of a complex number, as in src/solver/image.rs: an adapter's own is good to 4096 roundings only, by its specification
fn angle(z: vec2f) -> f32 {
    let size = abs(z);
    let less = min(size.x, size.y);
    let more = max(size.x, size.y);
    if (more == 0.0) { return 0.0; }
    let tangent = less / more;
    let square = tangent * tangent;
    var sum = 0.0028662257;
    sum = fma(sum, square, -0.016165737);
    sum = fma(sum, square, 0.042909614);
    sum = fma(sum, square, -0.07528964);
    sum = fma(sum, square, 0.10656264);
    sum = fma(sum, square, -0.142089);
    sum = fma(sum, square, 0.19993551);
    sum = fma(sum, square, -0.33333145);
    sum = fma(sum, square, 1.0);
    let within = tangent * sum;
    let steep = select(within, 1.5707964 - within, size.x < size.y);
    let turn = select(steep, 3.1415927 - steep, z.x < 0.0);
    return select(turn, -turn, z.y < 0.0);
}

@compute @workgroup_size(THREADS) fn draw(@builtin(global_invocation_id) thread: vec3u, @builtin(num_workgroups) blocks: vec3u) {
    let count = picture.width * picture.height;
    for (var n = thread.x; n < count; n += THREADS * blocks.x) {
        let xa = picture.x0 + (n % picture.width) * picture.reduction;
        let ya = picture.y0 + (n / picture.width) * picture.reduction;
        let xb = min(xa + picture.reduction, picture.x1);
        let yb = min(ya + picture.reduction, picture.y1);
        // |psi|^2, and psi
        var sum = vec3f();
        for (var y = ya; y < yb; y++) {
            let row = (picture.z * picture.ny + y) * picture.nx;
            // Row by row, so that large texels round less.
            var of_row = vec3f();
            for (var x = xa; x < xb; x++) {
                let value = psi(row + x, picture.interaction);
                of_row += vec3f(dot(value, value), value);
            }
            sum += of_row;
        }
        let mean = sum / f32((xb - xa) * (yb - ya));
        switch picture.quantity {
            case SHOWS_PHASE: {
                texels[n] = sqrt(mean.x);
                texels[count + n] = angle(sum.yz);
            }
            case SHOWS_REAL: { texels[n] = mean.y; }
            case SHOWS_IMAGINARY: { texels[n] = mean.z; }
            default: { texels[n] = mean.x; }
        }
    }
}

// |psi - e^(-i phase) psi'|^2 of the bonds from a site to the next of each axis. With the diagonal less J for each bond their J-fold sum is the energy: unlike
// -2 J Re psi* psi' it is small where psi changes little, and so is its rounding.
fn bonds(at: vec3u, site: u32, own: vec2f) -> f32 {
    var sum = 0.0;
    var stride = 1u;
    for (var axis = 0u; axis < whole.rank; axis++) {
        let n = whole.size[axis];
        var there = site + stride;
        var has_bond = true;
        if (at[axis] + 1u == n) {
            there = site - (n - 1u) * stride;
            has_bond = whole.periodic[axis] != 0u;
        }
        if (has_bond) {
            var other = psi(there, whole.interaction);
            if (FLUX) {
                if (axis == 0u) { other = times(other, gauge[at.y] * vec2f(1.0, -1.0)); }
            }
            let change = own - other;
            sum += dot(change, change);
        }
        stride *= n;
    }
    return sum;
}

// Of a patch: |psi|^2, its moments of first and second order along x and y from the patch's first site on, the largest |psi|^2; |psi|^2 times `energies`, `bonds`, |psi|^4
@compute @workgroup_size(THREADS) fn observe(
    @builtin(local_invocation_index) own: u32,
    @builtin(workgroup_id) block: vec3u,
    @builtin(num_workgroups) blocks: vec3u,
) {
    let number = block.y * blocks.x + block.x;
    if (number >= whole.patches) { return; }
    let column = own % COLUMNS;
    let x = number % whole.across * COLUMNS + column;
    let first = number / whole.across % whole.down * ROWS;
    let z = number / whole.across / whole.down;
    var along = vec4f(); // |psi|^2, its moments along y, the largest
    var energy = vec3f();
    if (x < whole.size.x) {
        for (var row = own / COLUMNS; row < min(u32(ROWS), whole.size.y - first); row += THREADS / COLUMNS) {
            let at = vec3u(x, first + row, z);
            let site = (z * whole.size.y + at.y) * whole.size.x + x;
            let value = psi(site, whole.interaction);
            let square = dot(value, value);
            let y = f32(row);
            along = vec4f(along.xyz + square * vec3f(1.0, y, y * y), max(along.w, square));
            energy += vec3f(energies[site] * square, bonds(at, site, value), square * square);
        }
    }
    let x_moments = along.x * vec2f(f32(column), f32(column * column));
    let densities = joined(own, along, vec4<bool>(false, false, false, true));
    let others = joined(own, vec4f(x_moments, 0.0, 0.0), vec4<bool>());
    let all = joined(own, vec4f(energy, 0.0), vec4<bool>());
    if (own == 0u) {
        let to = 9u * number;
        numbers[to] = densities.x;
        numbers[to + 1u] = others.x;
        numbers[to + 2u] = others.y;
        numbers[to + 3u] = densities.y;
        numbers[to + 4u] = densities.z;
        numbers[to + 5u] = densities.w;
        numbers[to + 6u] = all.x;
        numbers[to + 7u] = all.y;
        numbers[to + 8u] = all.z;
    }
}
