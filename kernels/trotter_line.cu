// Trotter-Suzuki in one dimension, up to HALO / 2 whole steps a launch with the state in registers.
//
// A warp owns 32 x C neighbouring sites with their phases; neighbours across lanes come by shuffle. Warps overlap by HALO sites a side: what is
// wrong at the rim moves inwards by 2 sites a step. A warp that sees a wall or an edge looks at every bond; sites without partner are
// multiplied by the secant. `summing_steps` sums |psi|^2 over regions after steps and copies boxes. Compile with -DREAL.
#include "trotter.cuh"
#include "trotter_sums.cuh"

enum { C = 16, HALO = 32, CORE = 32 * C - 2 * HALO, LANES = 16 / sizeof(real) };

struct Line {
    const real *re, *im;
    real *re_out, *im_out;
    const real *pc, *ps;
    const u8 *wall;  // null = none
    int nx, periodic, steps;
    real t[3], m[3];  // tangents of the even, odd, even sweep; their secants
    real interaction[2];  // g tau, for |psi|^2 after and before the phase
};

__device__ __forceinline__ void lean(real t, real &r, real &i, real qr, real qi) { r = fused(-t, qi, r), i = fused(t, qr, i); }

template <bool MASKED> __device__ __forceinline__ void pair(bool on, real t, real m, real &pr, real &pi, real &qr, real &qi) {
    if (MASKED) {
        t = on ? t : real(0), m = on ? real(1) : m;
        pr *= m, pi *= m, qr *= m, qi *= m;
    }
    const real xr = pr, xi = pi;
    lean(t, pr, pi, qr, qi);
    lean(t, qr, qi, xr, xi);
}

// bit c + 1 of `open` is site c; bits 0 and C + 1 are the neighbours
template <bool MASKED> __device__ __forceinline__ void even(real (&r)[C], real (&i)[C], real t, real m, u32 open) {
#pragma unroll
    for (int c = 0; c < C; c += 2) pair<MASKED>((open >> (c + 1) & 3) == 3, t, m, r[c], i[c], r[c + 1], i[c + 1]);
}

template <bool MASKED> __device__ __forceinline__ void odd(real (&r)[C], real (&i)[C], real t, real m, u32 open) {
    const u32 all = 0xffffffffu;
    real lr = __shfl_up_sync(all, r[C - 1], 1), li = __shfl_up_sync(all, i[C - 1], 1);
    real rr = __shfl_down_sync(all, r[0], 1), ri = __shfl_down_sync(all, i[0], 1);
    pair<MASKED>((open & 3) == 3, t, m, lr, li, r[0], i[0]);
    pair<MASKED>((open >> C & 3) == 3, t, m, r[C - 1], i[C - 1], rr, ri);
#pragma unroll
    for (int c = 1; c < C - 1; c += 2) pair<MASKED>((open >> (c + 1) & 3) == 3, t, m, r[c], i[c], r[c + 1], i[c + 1]);
}

// What a warp has summed, and whether boxes have something of it
struct Summed {
    long long *sums;        // REGIONS s + k: region k after sub-step s, of the block
    u32 columns[REGIONS];   // bit c: column c of the lane is one of the region; 16: the warp has some of it
    real most;              // the largest number of units that was added
    int strip;              // its first site
    bool copies;
};

// Adds |psi|^2 after sub-step s; x: the lane's first column
__device__ __forceinline__ void sum_line(const real (&r)[C], const real (&i)[C], const Line &p, const Regions &q, Summed &own, int x, int s) {
    const real none[LANES] = {}, scale = (real)q.scale;
    const bool ones = !q.weights || (x >= q.ones_x[0] && x + C <= q.ones_x[1]);
#pragma unroll 1
    for (int k = 0; k < q.count; k++) {
        const u32 columns = own.columns[k];
        if (!(columns >> 16)) continue;
        const bool peak = q.peaks >> k & 1;
        long long sum = 0;
#pragma unroll
        for (int n = 0; n < C; n += LANES) {
            const u32 in = columns >> n & ((1u << LANES) - 1);
            if (!in) continue;
            real d[LANES];
#pragma unroll
            for (int c = 0; c < LANES; c++) d[c] = fused(r[n + c], r[n + c], times(i[n + c], i[n + c]));
            if (!ones)
#pragma unroll
                for (int c = 0; c < LANES; c++) d[c] = times(d[c], q.weights[x + n + c]);
            if (peak) {
                sum = max(sum, in_order(peak_of_cell(d, none, in, 0)));
                continue;
            }
            const real units = times(sum_of_cell(d, none, in, 0), scale);
            own.most = larger(own.most, units);
            sum += rounded(units);
        }
        sum = peak ? peak_of_warp(sum) : sum_of_warp(sum);
        if ((threadIdx.x & 31) == 0) add_to_total(q, k, (unsigned long long *)own.sums + REGIONS * s + k, sum);
    }
}

// Copies what boxes have of the warp's sites after sub-step s; x: the lane's first column
__device__ __forceinline__ void copy_line(const real (&r)[C], const real (&i)[C], const Regions &q, int strip, int x, int s) {
#pragma unroll 1
    for (int from = 0; from < q.box_count; from += 32) {
        u32 hits = boxes_in(q, from, strip, strip + CORE, 0, 1, 0, 1);
#pragma unroll 1
        while (hits) {
            const Box box = q.boxes[from + __ffs(hits) - 1];
            hits &= hits - 1;
            if (x >= strip && x < strip + CORE) copy_row(q, box, s, x, 0, 0, r, i);
        }
    }
}

template <bool MASKED, bool SUMS>
__device__ __forceinline__ void run(real (&r)[C], real (&i)[C], const real (&c)[C], const real (&s)[C], const Line &p, u32 open, const Regions &q, Summed &own,
                                    int x) {
#pragma unroll 1
    for (int step = 0; step < p.steps; step++) {
        even<MASKED>(r, i, p.t[0], p.m[0], open);
        odd<MASKED>(r, i, p.t[1], p.m[1], open);
        even<MASKED>(r, i, p.t[2], p.m[2], open);
        if (p.interaction[0] != 0)
#pragma unroll
            for (int n = 0; n < C; n++) multiply_and_interact(r[n], i[n], c[n], s[n], p.interaction);
        else
#pragma unroll
            for (int n = 0; n < C; n++) multiply(r[n], i[n], c[n], s[n]);
        if (!SUMS || !(q.ends >> step & 1)) continue;
        sum_line(r, i, p, q, own, x, step);
        if (own.copies) copy_line(r, i, q, own.strip, x, step);
    }
}

__device__ __forceinline__ void load(real (&out)[C], const real *from, int x, const Line &p) {
    if (x >= 0 && x + C <= p.nx) {
        // x is a multiple of C, and planes begin on 256 bytes
#pragma unroll
        for (int n = 0; n < C; n += LANES) *(uint4 *)(out + n) = *(const uint4 *)(from + x + n);
    } else {
#pragma unroll
        for (int n = 0; n < C; n++) {
            int at = x + n;
            if (p.periodic) {
                at %= p.nx;
                at = at < 0 ? at + p.nx : at;
            }
            out[n] = at >= 0 && at < p.nx ? from[at] : real(0);
        }
    }
}

// The lane's strip of the line; a warp beyond its end has nothing to do.
template <bool SUMS> __device__ __forceinline__ void steps_of(const Line &p, const Regions &q, long long *sums) {
    const u32 all = 0xffffffffu;
    const int lane = threadIdx.x & 31;
    const int strip = (blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5)) * CORE;
    if (strip >= p.nx) return;
    const int x = strip - HALO + lane * C;
    real r[C], i[C], c[C], s[C];
    load(r, p.re, x, p), load(i, p.im, x, p), load(c, p.pc, x, p), load(s, p.ps, x, p);
    u32 open = 0;
#pragma unroll
    for (int n = 0; n < C; n++) {
        int at = x + n;
        if (p.periodic) {
            at %= p.nx;
            at = at < 0 ? at + p.nx : at;
        }
        if (at >= 0 && at < p.nx && !(p.wall && p.wall[at])) open |= 2u << n;
    }
    const bool whole = __all_sync(all, open == ((1u << C) - 1) * 2);
    u32 left = __shfl_up_sync(all, open, 1), right = __shfl_down_sync(all, open, 1);
    left = lane == 0 ? 0 : left, right = lane == 31 ? 0 : right;
    open |= (left >> C & 1) | (right & 2) << C;
    const bool core = x >= strip && x < strip + CORE;
    Summed own = {sums, {}, 0, strip, SUMS && some_box_in(q, strip, strip + CORE, 0, 1, 0, 1)};
    if (SUMS)
        for (int k = 0; k < q.count; k++) {
            u32 columns = 0;
            for (int n = 0; n < C; n++)
                if (core && x + n < p.nx && x + n >= q.x0[k] && x + n < q.x1[k]) columns |= 1u << n;
            own.columns[k] = columns | (__any_sync(all, columns != 0) ? 1u << 16 : 0);
        }
    if (whole)
        run<false, SUMS>(r, i, c, s, p, open, q, own, x);
    else
        run<true, SUMS>(r, i, c, s, p, open, q, own, x);
    if (SUMS && too_large(own.most))
        for (int step = 0; step < p.steps; step++)
            for (int k = 0; k < q.count; k++)
                if (q.ends >> step & 1 && !(q.peaks >> k & 1)) atomicOr(total_of(q, step, k) + 1, 1ull);
    if (!core) return;
    if (x + C <= p.nx) {
#pragma unroll
        for (int n = 0; n < C; n += LANES) *(uint4 *)(p.re_out + x + n) = *(uint4 *)(r + n), *(uint4 *)(p.im_out + x + n) = *(uint4 *)(i + n);
    } else {
#pragma unroll
        for (int n = 0; n < C; n++)
            if (x + n < p.nx) p.re_out[x + n] = r[n], p.im_out[x + n] = i[n];
    }
}

extern "C" __global__ void __launch_bounds__(128) line_steps(const Line p) { steps_of<false>(p, Regions{}, nullptr); }

extern "C" __global__ void __launch_bounds__(128) summing_steps(const Line p, const __grid_constant__ Regions q) {
    // sub-steps of a launch at most
    __shared__ long long sums[HALO / 2 * REGIONS];
    for (int n = threadIdx.x; n < HALO / 2 * REGIONS; n += blockDim.x) sums[n] = 0;
    __syncthreads();
    steps_of<true>(p, q, sums);
    __syncthreads();
    for (int n = threadIdx.x; n < p.steps * REGIONS; n += blockDim.x) {
        const int step = n / REGIONS, k = n % REGIONS;
        if (k < q.count && q.ends >> step & 1) add_to_total(q, k, total_of(q, step, k), sums[n]);
    }
}
