// What detectors read after steps, inside the kernels that take them: |psi|^2 summed over regions or its largest value there, also by a kernel of its own with the same bits;
// and copies of phi.
//
// A sum is a whole number of units, so that it does not depend on who adds what first. What is rounded to one is the sum over a cell: as many neighbouring columns as 16
// bytes hold, from a multiple of their number on, of two rows 2 j and 2 j + 1 of a plane, added up in the field's precision in the order of `sum_of_cell`. A largest value is
// kept as the bits of a double, which have its order.
//
// Detectors that need amplitudes (values, currents) have the sites that they read in boxes. A warp that holds one of these after a step writes it where `measure_rows`, which
// closes phi and adds up, finds it once a batch. A warp asks once a pair of rows whether a box is there, 32 boxes at a time, one a lane (some 10 instructions beside 128 a stage,
// and none where there is no box in its piece); a site costs 2 numbers written. So a line through a plane of n x n sites costs 4 n numbers a step beside the 2 n^2 / STEPS of
// the state: nothing that would show, where single steps cost STEPS times the memory.
#pragma once
#include "real.cuh"

enum { REGIONS = 4, PARTS = 2 };
struct Regions {
    int count;
    int x0[REGIONS], x1[REGIONS], y0[REGIONS], y1[REGIONS], z0[REGIONS], z1[REGIONS];
    double scale;                // units in 1, a power of two: largest sums have 2^58 units
    unsigned long long *totals;  // PARTS numbers a region and step: the sum, and 1 beside it if something was too large
    int step;                    // number of the first step that ends in a launch
    u32 ends;                    // bit s: a step ends with sub-step s of the launch
    const real *weights;         // |psi|^2 / |phi|^2, of the state's pitch; null: 1
    int ones_x[2], ones_y[2], ones_z[2];  // from, to: columns, rows and planes where they are 1
    u32 peaks;                   // bit k: the largest |psi|^2 of region k is wanted, not the sum
    int box_count, sites;        // boxes, and sites of all of them
    const struct Box *boxes;
    real *copies;                // 2 numbers a site: `sites` sites a step
};

// Sites of which copies are made, x fastest, and the number of the first one among those of all boxes
struct Box { int x0, x1, y0, y1, z0, z1, first, unused; };

__device__ __forceinline__ long long rounded(float x) { return __float2ll_rn(x); }
__device__ __forceinline__ long long rounded(double x) { return __double2ll_rn(x); }

// Where the sum of region k after sub-step s goes
__device__ __forceinline__ unsigned long long *total_of(const Regions &q, int s, int k) {
    return q.totals + ((size_t)(q.step + __popc(q.ends & ((1u << s) - 1))) * q.count + k) * PARTS;
}

// The sum over N columns of two rows whose squares are da and db; bit c of `a` and of `b`: column c of that row counts
template <int N> __device__ __forceinline__ real sum_of_cell(const real (&da)[N], const real (&db)[N], u32 a, u32 b) {
    real sum = 0;
#pragma unroll
    for (int c = 0; c < N; c++) sum = plus(sum, plus(a >> c & 1 ? da[c] : (real)0, b >> c & 1 ? db[c] : (real)0));
    return sum;
}

// The larger of the two, NaN kept
__device__ __forceinline__ real largest_of(real a, real b) { return a > b || a != a ? a : b; }

// The largest over N columns of two rows, as above
template <int N> __device__ __forceinline__ real peak_of_cell(const real (&da)[N], const real (&db)[N], u32 a, u32 b) {
    real most = 0;
#pragma unroll
    for (int c = 0; c < N; c++) most = largest_of(a >> c & 1 ? da[c] : (real)0, largest_of(b >> c & 1 ? db[c] : (real)0, most));
    return most;
}

// A whole number with the order of numbers that are not negative; NaN is the largest
__device__ __forceinline__ long long in_order(real x) { return __double_as_longlong((double)x) & 0x7fffffffffffffffLL; }

// The largest number of units so far, NaN kept
__device__ __forceinline__ float larger(float most, float units) {
    asm("max.NaN.f32 %0, %0, %1;" : "+f"(most) : "f"(units));
    return most;
}
__device__ __forceinline__ double larger(double most, double units) { return most > units || most != most ? most : units; }

// Whether a sum may have left what whole numbers hold
__device__ __forceinline__ bool too_large(real most) { return !(most < (real)(1ll << 61)); }

__device__ __forceinline__ long long sum_of_warp(long long x) {
#pragma unroll
    for (int d = 16; d; d >>= 1) x += __shfl_xor_sync(0xffffffffu, x, d);
    return x;
}
__device__ __forceinline__ long long peak_of_warp(long long x) {
#pragma unroll
    for (int d = 16; d; d >>= 1) x = max(x, __shfl_xor_sync(0xffffffffu, x, d));
    return x;
}

// Adds a warp's part to a sum or largest value of region k
__device__ __forceinline__ void add_to_total(const Regions &q, int k, unsigned long long *to, long long part) {
    if (!part) return;
    if (q.peaks >> k & 1)
        atomicMax(to, (unsigned long long)part);
    else
        atomicAdd(to, (unsigned long long)part);
}

// Which of the boxes number from ... from + 31 have sites in columns x0 <= x < x1, rows y0 <= y < y1 and planes z0 <= z < z1, a bit each; for whole warps
__device__ __forceinline__ u32 boxes_in(const Regions &q, int from, int x0, int x1, int y0, int y1, int z0, int z1) {
    const int n = from + (threadIdx.x & 31);
    bool in = false;
    if (n < q.box_count) {
        const Box b = q.boxes[n];
        in = b.x0 < x1 && x0 < b.x1 && b.y0 < y1 && y0 < b.y1 && b.z0 < z1 && z0 < b.z1;
    }
    return __ballot_sync(0xffffffffu, in);
}

__device__ __forceinline__ bool some_box_in(const Regions &q, int x0, int x1, int y0, int y1, int z0, int z1) {
    u32 some = 0;
#pragma unroll 1
    for (int from = 0; from < q.box_count; from += 32) some |= boxes_in(q, from, x0, x1, y0, y1, z0, z1);
    return some != 0;
}

// Where the first site that a box has of row y of plane z goes after sub-step s
__device__ __forceinline__ real *copy_of(const Regions &q, const Box &b, int s, int y, int z) {
    const size_t step = q.step + __popc(q.ends & ((1u << s) - 1));
    return q.copies + 2 * (step * q.sites + b.first + (size_t)((z - b.z0) * (b.y1 - b.y0) + y - b.y0) * (b.x1 - b.x0));
}

// Those of a lane's columns from x on of a row that are in the box
template <int N> __device__ __forceinline__ void copy_row(const Regions &q, const Box &b, int s, int x, int y, int z, const real (&r)[N], const real (&i)[N]) {
    if (y < b.y0 || y >= b.y1 || z < b.z0 || z >= b.z1) return;
    real *const to = copy_of(q, b, s, y, z) + 2 * (x - b.x0);
#pragma unroll
    for (int c = 0; c < N; c++)
        if (x + c >= b.x0 && x + c < b.x1) to[2 * c] = r[c], to[2 * c + 1] = i[c];
}
