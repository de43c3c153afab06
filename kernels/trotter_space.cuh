// What a stage of trotter_space.cu does with a pair of planes: its parameters, copies to shared memory, sweeps and phases.
#pragma once

#include "trotter.cuh"

#ifndef COLUMNS
#define COLUMNS 4
#endif
#ifndef STEPS
#define STEPS 1
#endif
#ifndef ROWS
#define ROWS 4
#endif
#ifndef WARPS
#define WARPS 8
#endif
// a phase in |psi|^2
#ifndef INTERACTION
#define INTERACTION 0
#endif
// bonds that differ
#ifndef OWN
#define OWN 0
#endif

struct Space {
    const real *re, *im;    // the state
    real *re_out, *im_out;  // the state STEPS steps later
    const real *pc, *ps;    // phase after a step
    const int4 *pieces;     // of each block: its tile along x and y, and the pairs of planes that it writes, from and to
    int nx, ny, nz, pitch;
    int periodic[3];
    real t[3], m[3];        // tangents of the even, odd, even sweep; their secants. OWN: of z, and secants less 1
    real interaction[2];    // g tau, for |psi|^2 after and before the phase
};

enum { C = COLUMNS, R = ROWS, N = STEPS };
enum { HALO_X = (2 * STEPS + COLUMNS - 1) / COLUMNS * COLUMNS, CORE_X = 32 * COLUMNS - 2 * HALO_X };
enum { HALO_Y = 2 * STEPS, CORE_Y = WARPS * ROWS - 2 * HALO_Y };
// a vector of one lane; a pair of planes of a warp: plane, row, real and imaginary part
enum { PART = 32 * 16, PAIR = 2 * ROWS * 2 * PART, RIM = 2 * 2 * 2 * PART };

__device__ __forceinline__ void copy_async(char *to, const void *from, bool valid) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"((u32)__cvta_generic_to_shared(to)), "l"(from), "r"(valid ? 16 : 0) : "memory");
}

struct Row { real r[COLUMNS], i[COLUMNS]; };
struct Part { Row row[ROWS]; };

// Where a warp's rows begin in a plane (in shared memory, 0 for those that there are not), which there are, and a lane's column there
struct Place { const int *rows; u32 open; int x; bool inside; };

// Which of the two planes of a pair there are, and where
__device__ __forceinline__ u32 planes(const Space &p, int j, int (&z)[2]) {
    int low = 2 * j;
    if (p.periodic[2]) low = low < 0 ? low + p.nz : low >= p.nz ? low - p.nz : low;
    const bool first = low >= 0 && low < p.nz, second = low >= 0 && low + 1 < p.nz;
    z[0] = first ? low : 0, z[1] = second ? low + 1 : 0;
    return (first ? 1 : 0) | (second ? 2 : 0);
}

__device__ __forceinline__ void fetch(char *slot, const real *first, const real *second, const Space &p, const Place &place, int j) {
    int z[2];
    const u32 there = planes(p, j, z);
    const size_t plane = (size_t)p.pitch * p.ny;
    int rows[R];
#pragma unroll
    for (int r = 0; r < R; r++) rows[r] = place.rows[r];
#pragma unroll
    for (int k = 0; k < 2; k++) {
        const real *f = first + z[k] * plane, *g = second + z[k] * plane;
#pragma unroll
        for (int r = 0; r < R; r++) {
            const bool valid = place.inside && (there >> k & 1) && (place.open >> (r + 1) & 1);
            const u32 at = rows[r] + place.x;
            copy_async(slot + ((k * R + r) * 2 + 0) * PART, f + at, valid);
            copy_async(slot + ((k * R + r) * 2 + 1) * PART, g + at, valid);
        }
    }
}

__device__ __forceinline__ void put(char *slot, const Row &row) {
    *(uint4 *)slot = *(const uint4 *)row.r, *(uint4 *)(slot + PART) = *(const uint4 *)row.i;
}
__device__ __forceinline__ void take(Row &row, const char *slot) {
    *(uint4 *)row.r = *(const uint4 *)slot, *(uint4 *)row.i = *(const uint4 *)(slot + PART);
}

// What a partner q adds to p
__device__ __forceinline__ void lean(real t, real &r, real &i, real qr, real qi) { r = fused(-t, qi, r), i = fused(t, qr, i); }

__device__ __forceinline__ void even_x(Row &a, real t) {
#pragma unroll
    for (int c = 0; c < C; c += 2) {
        const real r = a.r[c], i = a.i[c];
        lean(t, a.r[c], a.i[c], a.r[c + 1], a.i[c + 1]);
        lean(t, a.r[c + 1], a.i[c + 1], r, i);
    }
}

// What a site without partner is multiplied by: the secant, or that less 1
__device__ __forceinline__ void grow(real m, real &r, real &i) {
    if (OWN)
        r = fused(m, r, r), i = fused(m, i, i);
    else
        r *= m, i *= m;
}

// Bonds to the lanes left and right: tangents, 0 where there is none, and what the site without partner is multiplied by
struct Sides { real t[2], m[2]; };

__device__ __forceinline__ Sides sides(bool left, bool right, real t, real m) {
    const real none = OWN ? 0 : 1;
    return {{left ? real(0) : t, right ? real(0) : t}, {left ? m : none, right ? m : none}};
}

__device__ __forceinline__ void odd_x(Row &a, real t, const Sides &e) {
    const u32 all = 0xffffffffu;
    const real lr = __shfl_up_sync(all, a.r[C - 1], 1), li = __shfl_up_sync(all, a.i[C - 1], 1);
    const real rr = __shfl_down_sync(all, a.r[0], 1), ri = __shfl_down_sync(all, a.i[0], 1);
    grow(e.m[0], a.r[0], a.i[0]), grow(e.m[1], a.r[C - 1], a.i[C - 1]);
    lean(e.t[0], a.r[0], a.i[0], lr, li);
    lean(e.t[1], a.r[C - 1], a.i[C - 1], rr, ri);
#pragma unroll
    for (int c = 1; c < C - 1; c += 2) {
        const real r = a.r[c], i = a.i[c];
        lean(t, a.r[c], a.i[c], a.r[c + 1], a.i[c + 1]);
        lean(t, a.r[c + 1], a.i[c + 1], r, i);
    }
}

template <bool MASKED> __device__ __forceinline__ void pair_y(Row &p, Row &q, real t, real m, u32 open) {
    const bool on = (open & 3) == 3;
    if (MASKED) t = on ? t : real(0), m = on ? real(1) : m;
#pragma unroll
    for (int c = 0; c < C; c++) {
        if (MASKED) p.r[c] *= m, p.i[c] *= m, q.r[c] *= m, q.i[c] *= m;
        const real r = p.r[c], i = p.i[c];
        lean(t, p.r[c], p.i[c], q.r[c], q.i[c]);
        lean(t, q.r[c], q.i[c], r, i);
    }
}

// The bond of row p with row q of another warp, p's side of it
template <bool MASKED> __device__ __forceinline__ void half_y(Row &p, const Row &q, real t, real m, u32 open) {
    const bool on = (open & 3) == 3;
    if (MASKED) t = on ? t : real(0), m = on ? real(1) : m;
#pragma unroll
    for (int c = 0; c < C; c++) {
        if (MASKED) p.r[c] *= m, p.i[c] *= m;
        lean(t, p.r[c], p.i[c], q.r[c], q.i[c]);
    }
}

template <bool MASKED> __device__ __forceinline__ void even_y(Part &a, real t, real m, u32 open) {
#pragma unroll
    for (int r = 0; r < R; r += 2) pair_y<MASKED>(a.row[r], a.row[r + 1], t, m, open >> (r + 1));
}

// bit r + 1 of `open` is row r, bits 0 and ROWS + 1 those of the neighbours; `rim` is this warp's part of the exchange
template <bool MASKED> __device__ __forceinline__ void odd_y(Part &a, real t, real m, u32 open, const char *rim, int plane, bool below, bool above) {
#pragma unroll
    for (int r = 1; r < R - 1; r += 2) pair_y<MASKED>(a.row[r], a.row[r + 1], t, m, open >> (r + 1));
    Row q;
    if (below) {
        take(q, rim - RIM + (plane * 2 + 1) * 2 * PART);
        half_y<MASKED>(a.row[0], q, t, m, open);
    }
    if (above) {
        take(q, rim + RIM + (plane * 2 + 0) * 2 * PART);
        half_y<MASKED>(a.row[R - 1], q, t, m, open >> R);
    }
}

// z sweeps of the planes (a, b) and those before them (u, v), which they complete and hand over in (a, b)
template <bool MASKED> __device__ __forceinline__ void sweep_z(Row &a, Row &b, Row &u, Row &v, const Space &p, u32 now, u32 before) {
    real t0 = p.t[0], t1 = p.t[1], t2 = p.t[2], m0 = 1, m1 = 1, m2 = 1;
    if (MASKED) {
        const bool here = now == 3, between = (before & 2) && (now & 1), there = before == 3;
        t0 = here ? t0 : real(0), t1 = between ? t1 : real(0), t2 = there ? t2 : real(0);
        m0 = here ? m0 : p.m[0], m1 = between ? m1 : p.m[1], m2 = there ? m2 : p.m[2];
    }
#pragma unroll
    for (int c = 0; c < C; c++) {
        const real xr = m0 * a.r[c], xi = m0 * a.i[c], yr = m0 * b.r[c], yi = m0 * b.i[c];
        const real ur = u.r[c], ui = u.i[c];
        real er = xr, ei = xi;
        lean(t0, er, ei, yr, yi);
        er *= m1, ei *= m1;
        const real vr = m1 * v.r[c], vi = m1 * v.i[c];
        real fr = vr, fi = vi;
        lean(t1, fr, fi, er, ei);
        const real gr = m2 * fr, gi = m2 * fi, hr = m2 * ur, hi = m2 * ui;
        real ar = hr, ai = hi, br = gr, bi = gi;
        lean(t2, ar, ai, gr, gi);
        lean(t2, br, bi, hr, hi);
        a.r[c] = ar, a.i[c] = ai, b.r[c] = br, b.i[c] = bi;
        real kr = er, ki = ei, lr = yr, li = yi;
        lean(t1, kr, ki, vr, vi);
        lean(t0, lr, li, xr, xi);
        u.r[c] = kr, u.i[c] = ki, v.r[c] = lr, v.i[c] = li;
    }
}

__device__ __forceinline__ void phase(Row &a, const char *slot, const Space &p) {
    Row f;
    take(f, slot);
#pragma unroll
    for (int c = 0; c < C; c++) {
        if (INTERACTION)
            multiply_and_interact(a.r[c], a.i[c], f.r[c], f.i[c], p.interaction);
        else
            multiply(a.r[c], a.i[c], f.r[c], f.i[c]);
    }
}

// The rows at the rim of a warp's part, for the warps beside it
__device__ __forceinline__ void exchange(const Part &a, const Part &b, char *rim) {
    __syncthreads();
    put(rim + 0 * PART, a.row[0]), put(rim + 2 * PART, a.row[R - 1]);
    put(rim + 4 * PART, b.row[0]), put(rim + 6 * PART, b.row[R - 1]);
    __syncthreads();
}
