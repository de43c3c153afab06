// |psi|^2 summed over regions after steps, inside the kernels that take them and by one of its own: all give the same bits.
//
// A sum is a whole number of units, so that it does not depend on who adds what first. What is rounded to one is the sum over a cell: as many neighbouring columns as 16
// bytes hold, from a multiple of their number on, of two rows 2 j and 2 j + 1 of a plane, added up in the field's precision in the order of `sum_of_cell`.
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
};

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

// The largest number of units so far, NaN kept
__device__ __forceinline__ real larger(real most, real units) { return most > units || most != most ? most : units; }

// Whether a sum may have left what whole numbers hold
__device__ __forceinline__ bool too_large(real most) { return !(most < (real)(1ll << 61)); }

__device__ __forceinline__ long long sum_of_warp(long long x) {
#pragma unroll
    for (int d = 16; d; d >>= 1) x += __shfl_xor_sync(0xffffffffu, x, d);
    return x;
}
