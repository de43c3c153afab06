// Coupled oscillators in one dimension, up to HALO / 2 equal sub-steps a launch with the state in registers.
//
// A warp owns 32 x C neighbouring sites; neighbours across lanes come by shuffle. Warps overlap by HALO sites a side: what is wrong at the rim moves inwards by 2 sites
// a sub-step. Bytes of a launch: both planes read and written once, 16 a site in single precision, 16 of coefficients in a medium. Instructions of a site and sub-step: 15 of the
// sweeps and 15 / C for the bonds that two lanes turn both.
//
// MEDIUM: a bond has its own coefficients, read once a launch. DAMPED: momenta are multiplied by a factor before and after each step.
#include "oscillators.cuh"

#ifndef MEDIUM
#define MEDIUM 0
#endif
#ifndef DAMPED
#define DAMPED MEDIUM
#endif

enum { C = 64 / sizeof(real), HALO = 2 * C, CORE = 32 * C - 2 * HALO };

struct Line {
    const real *q, *p;
    real *q_out, *p_out;
    Plane plane;
    Springs springs;
    int steps;   // at most HALO / 2
    int begins;  // whether a step begins with the launch
    u32 ends;    // bit s: a step ends with sub-step s
};

struct Bonds {
    real k[C], a[C], b[C], c[C];
    __device__ __forceinline__ Pair at(int n) const { return {k[n], a[n], b[n], c[n]}; }
};

// C numbers from column x on; `before`: how many columns before the first there are as well
__device__ __forceinline__ void get(real (&to)[C], const real *from, int x, bool whole, const Plane &g, int before) {
    if (whole) {
#pragma unroll
        for (int k = 0; k < int(C * sizeof(real) / 16); k++) ((uint4 *)to)[k] = ((const uint4 *)(from + x))[k];
        return;
    }
#pragma unroll
    for (int c = 0; c < C; c++) {
        int at = x + c;
        if (g.periodic[0]) at %= g.nx;
        to[c] = at >= -before && at < g.nx ? from[at] : real(0);
    }
}

template <bool RAGGED> __device__ __forceinline__ void even(real (&q)[C], real (&p)[C], const Bonds &b, const Springs &s) {
#pragma unroll
    for (int c = 0; c < C; c += 2) turn(RAGGED ? b.at(c) : s.same[0][0], q[c], p[c], q[c + 1], p[c + 1]);
}

template <bool RAGGED> __device__ __forceinline__ void odd(real (&q)[C], real (&p)[C], const Bonds &b, const Pair &left, const Springs &s) {
    const unsigned all = 0xffffffffu;
    real lq = __shfl_up_sync(all, q[C - 1], 1), lp = __shfl_up_sync(all, p[C - 1], 1);
    real rq = __shfl_down_sync(all, q[0], 1), rp = __shfl_down_sync(all, p[0], 1);
#pragma unroll
    for (int c = 1; c < C - 1; c += 2) turn(RAGGED ? b.at(c) : s.same[0][1], q[c], p[c], q[c + 1], p[c + 1]);
    turn(RAGGED ? left : s.same[0][1], lq, lp, q[0], p[0]);
    turn(RAGGED ? b.at(C - 1) : s.same[0][1], q[C - 1], p[C - 1], rq, rp);
}

template <bool RAGGED> __device__ __forceinline__ void run(const Line &f, int x, bool whole, real (&q)[C], real (&p)[C]) {
    const Plane &g = f.plane;
    const Springs &s = f.springs;
    Bonds b;
    Pair left = s.same[0][1];
    if (RAGGED) {
        if (MEDIUM) {
            get(b.k, s.x[0], x, whole, g, 1), get(b.a, s.x[1], x, whole, g, 1), get(b.b, s.x[2], x, whole, g, 1), get(b.c, s.x[3], x, whole, g, 1);
        } else {
#pragma unroll
            for (int c = 0; c < C; c++) {
                Pair w = s.same[0][c & 1];
                if (!g.periodic[0]) w = end_or(w, s.ends[0], x + c, g.nx);
                b.k[c] = w.k, b.a[c] = w.a, b.b[c] = w.b, b.c[c] = w.c;
            }
        }
        const unsigned all = 0xffffffffu;
        left = {__shfl_up_sync(all, b.k[C - 1], 1), __shfl_up_sync(all, b.a[C - 1], 1), __shfl_up_sync(all, b.b[C - 1], 1), __shfl_up_sync(all, b.c[C - 1], 1)};
    }
    real factor[C];
    const bool damped = DAMPED && s.damping;
    if (damped) get(factor, s.damping, x, whole, g, 0);
#pragma unroll 1
    for (int n = 0; n < f.steps; n++) {
        if (damped && (n ? f.ends >> (n - 1) & 1 : f.begins))
#pragma unroll
            for (int c = 0; c < C; c++) p[c] = times(p[c], factor[c]);
        even<RAGGED>(q, p, b, s);
        odd<RAGGED>(q, p, b, left, s);
        even<RAGGED>(q, p, b, s);
        if (damped && (f.ends >> n & 1))
#pragma unroll
            for (int c = 0; c < C; c++) p[c] = times(p[c], factor[c]);
    }
}

extern "C" __global__ void __launch_bounds__(128) line_steps(const __grid_constant__ Line f) {
    const unsigned all = 0xffffffffu;
    const Plane &g = f.plane;
    const int lane = threadIdx.x & 31;
    const int strip = (blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5)) * CORE;
    if (strip >= g.nx) return;
    const int x0 = strip - HALO + lane * C;
    int x = x0;
    if (g.periodic[0]) {
        x %= g.nx;
        if (x < 0) x += g.nx;
    }
    const bool whole = x >= 0 && x + C <= g.nx && x % C == 0;
    real q[C], p[C];
    get(q, f.q, x, whole, g, 0), get(p, f.p, x, whole, g, 0);
    // All bonds alike where no end stands in the warp.
    const bool inside = __all_sync(all, whole && (g.periodic[0] || (x0 > 0 && x0 + C < g.nx)));
    if (MEDIUM || !inside)
        run<true>(f, x, whole, q, p);
    else
        run<false>(f, x, whole, q, p);
    if (x0 < strip || x0 >= strip + CORE || x0 >= g.nx) return;
    if (whole) {
#pragma unroll
        for (int k = 0; k < int(C * sizeof(real) / 16); k++) ((uint4 *)(f.q_out + x0))[k] = ((const uint4 *)q)[k], ((uint4 *)(f.p_out + x0))[k] = ((const uint4 *)p)[k];
    } else {
#pragma unroll
        for (int c = 0; c < C; c++)
            if (x0 + c < g.nx) f.q_out[x0 + c] = q[c], f.p_out[x0 + c] = p[c];
    }
}
