// Sums of the squared moduli of a region's sites, or the largest of them, after a step of Trotter-Suzuki: a number for 64 columns, which begin at a multiple of 64, of
// 64 rows of the region. One block of threads each. Memory: 8 B a site, and 4 B where sites are weighted.

const THREADS = 256u;
const COLUMNS = 64u;
const ROWS = 64u;
const NONE = 0xffffffffu;
// Rows of the region from one of a thread to its next
const STRIDE = THREADS / COLUMNS;

// Sites x0 to x1 of `rows` rows, `height` of each plane, from y0 of plane z0 on
struct Region {
    nx: u32,
    ny: u32,
    x0: u32,
    x1: u32,
    y0: u32,
    height: u32,
    z0: u32,
    rows: u32,
    first_chunk: u32,
    chunks: u32,
    to: u32, // the first of the step's numbers
    largest: u32,
    weighted: u32,
}

@group(0) @binding(0) var<uniform> region: Region;
@group(0) @binding(1) var<storage, read> field: array<vec2f>;
@group(0) @binding(2) var<storage, read> weights: array<f32>;
@group(0) @binding(3) var<storage, read> weight_at: array<u32>; // of every row and chunk
@group(0) @binding(4) var<storage, read_write> records: array<f32>;

var<workgroup> parts: array<f32, THREADS>;

fn joined(a: f32, b: f32) -> f32 { return select(a + b, max(a, b), region.largest != 0u); }

// |psi|^2 in column x of row `n` of the region; 0 from `last` on
fn square(n: u32, x: u32, last: u32) -> f32 {
    let own = min(n, last - 1u);
    var row = region.y0 + own + region.ny * region.z0;
    if (region.height != region.rows) { row = region.y0 + own % region.height + region.ny * (region.z0 + own / region.height); }
    let value = field[row * region.nx + x];
    return select(0.0, dot(value, value), n < last);
}

fn weight(row: u32, block: u32, x: u32) -> f32 {
    if (region.weighted == 0u) { return 1.0; }
    let start = weight_at[row * region.chunks + block];
    if (start == NONE) { return 1.0; }
    return weights[start + x - max((region.first_chunk + block) * COLUMNS, region.x0)];
}

@compute @workgroup_size(THREADS) fn reduce(@builtin(local_invocation_index) own: u32, @builtin(workgroup_id) block: vec3u) {
    let x = (region.first_chunk + block.x) * COLUMNS + own % COLUMNS;
    var sum = 0.0;
    if (x >= region.x0 && x < region.x1) {
        let last = min((block.y + 1u) * ROWS, region.rows);
        // Four rows at a time: their loads wait together.
        for (var n = block.y * ROWS + own / COLUMNS; n < last; n += 4u * STRIDE) {
            var squares = vec4f(square(n, x, last), square(n + STRIDE, x, last), square(n + 2u * STRIDE, x, last), square(n + 3u * STRIDE, x, last));
            if (region.weighted == 0u) {
                sum = joined(sum, joined(joined(squares.x, squares.y), joined(squares.z, squares.w)));
            } else {
                for (var k = 0u; k < 4u && n + k * STRIDE < last; k++) { sum = joined(sum, weight(n + k * STRIDE, block.x, x) * squares[k]); }
            }
        }
    }
    parts[own] = sum;
    for (var half = THREADS / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if (own < half) { parts[own] = joined(parts[own], parts[own + half]); }
    }
    if (own == 0u) { records[region.to + block.y * region.chunks + block.x] = parts[0]; }
}
