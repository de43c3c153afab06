// What kernels share that sum over patches of 64 x 64 sites, a block of threads each. It stands before each of them.

const THREADS = 256;
const COLUMNS = 64;
const ROWS = 64;

var<workgroup> parts: array<vec4f, THREADS>;

// Of all threads: the sums, or where `largest` is set the largest
fn joined(own: u32, value: vec4f, largest: vec4<bool>) -> vec4f {
    parts[own] = value;
    for (var half = u32(THREADS / 2); half > 0u; half /= 2u) {
        workgroupBarrier();
        if (own < half) {
            let a = parts[own];
            let b = parts[own + half];
            parts[own] = select(a + b, max(a, b), largest);
        }
    }
    workgroupBarrier();
    let all = parts[0];
    workgroupBarrier();
    return all;
}
