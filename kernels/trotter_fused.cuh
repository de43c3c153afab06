// What a stage of trotter_fused.cu does with a pair of rows: its parameters, copies to shared memory, sweeps and phases.
#pragma once

#include "trotter.cuh"

#ifndef COLUMNS
#define COLUMNS 4
#endif
#ifndef STEPS
#define STEPS 6
#endif
#ifndef BLOCKS
#define BLOCKS 6
#endif
// x sweeps before and after the y sweeps: where walls or flux keep the axes from commuting
#ifndef NESTED
#define NESTED 0
#endif
// phases on x bonds
#ifndef FLUX
#define FLUX 0
#endif
// a phase in |psi|^2
#ifndef INTERACTION
#define INTERACTION 0
#endif
// hyperbolic sweeps
#ifndef IMAGINARY
#define IMAGINARY 0
#endif

// bonds that differ, with NESTED
#ifndef OWN
#define OWN 0
#endif

// without phases, plane by plane: the x and y sweeps of three dimensions
#ifndef BARE
#define BARE 0
#endif

enum { KINDS = 4 };

struct Fused {
    const real *re, *im;    // the state
    real *re_out, *im_out;  // the state STEPS steps later
    const real *pc, *ps;    // phase after a step
    const u8 *wall;         // bit 0: a wall, bit 1: a site one of whose bonds is not as all others (OWN); of the state's pitch; null = none
    const real *own;        // OWN: of x bonds t cos phi, t sin phi, d, of y bonds t, d; each a plane like the state, a bond at its lower site
    const real *gc, *gs;    // e^{i phi} of a row's x bonds (FLUX)
    int nx, ny, pitch;
    int periodic_x, periodic_y;
    int from[KINDS];        // ranges of strips: the first block along x of each,
    int chunk[KINDS];       // the row pairs that a warp writes,
    int walled;             // and whether walls are near, a bit each
    real t[3], m[3];        // tangents of the even, odd, even sweep; their secants, with OWN less 1
    real ot[4], om[4];      // NESTED: of even and odd before, odd and even after
    real interaction[2];    // g tau, for |psi|^2 after and before the phase
};

enum { C = COLUMNS, N = STEPS, WARPS = 2 };
enum { BYTES = (COLUMNS * sizeof(real)) % 16 == 0 ? 16 : 8, LANES = BYTES / sizeof(real), CHUNKS = COLUMNS / LANES };
enum { HALO = (2 * STEPS + COLUMNS - 1) / COLUMNS * COLUMNS, CORE = 32 * COLUMNS - 2 * HALO };
enum { SLOTS = STEPS + 1, PART = 32 * BYTES, SLOT = 4 * CHUNKS * PART };
enum { WARP_BYTES = (SLOTS + 1) * SLOT + (STEPS + 1) * 128 };
template <int B> struct Vector;
template <> struct Vector<16> { typedef uint4 type; };
template <> struct Vector<8> { typedef uint2 type; };
typedef Vector<BYTES>::type vec;
// A lane's bytes of a row
template <int N> struct Bytes;
template <> struct Bytes<4> { typedef u32 type; };
template <> struct Bytes<2> { typedef unsigned short type; };

__device__ __forceinline__ u32 shared_address(const void *p) { return (u32)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void copy_async(u32 to, const void *from, bool valid) {
    const int bytes = valid ? BYTES : 0;
    if (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

// Two planes of a row pair into a slot
__device__ __forceinline__ void fetch(char *slot, const real *first, const real *second, u32 at_a, u32 at_b, bool in_a, bool in_b) {
    const u32 to = shared_address(slot);
    const u32 a = in_a ? at_a : 0, b = in_b ? at_b : 0;
#pragma unroll
    for (int k = 0; k < CHUNKS; k++) {
        copy_async(to + (0 * CHUNKS + k) * PART, first + a + k * LANES, in_a);
        copy_async(to + (1 * CHUNKS + k) * PART, second + a + k * LANES, in_a);
        copy_async(to + (2 * CHUNKS + k) * PART, first + b + k * LANES, in_b);
        copy_async(to + (3 * CHUNKS + k) * PART, second + b + k * LANES, in_b);
    }
}

struct Row { real r[COLUMNS], i[COLUMNS]; };

__device__ __forceinline__ void take(Row &row, const char *slot) {
#pragma unroll
    for (int k = 0; k < CHUNKS; k++) {
        *(vec *)(row.r + k * LANES) = *(const vec *)(slot + k * PART);
        *(vec *)(row.i + k * LANES) = *(const vec *)(slot + (CHUNKS + k) * PART);
    }
}

// The tangent half of a bond's turn for one member: what the partner adds. (gc, gs): the bond's phase as seen from here.
__device__ __forceinline__ void lean(real t, real gc, real gs, real &r, real &i, real qr, real qi) {
    // r + i i += i t (gc - i gs) q, or without the factor i in imaginary time
    if (FLUX) {
        const real a = t * gc, b = t * gs;
        if (IMAGINARY) {
            r = fused(a, qr, fused(b, qi, r)), i = fused(a, qi, fused(-b, qr, i));
        } else {
            r = fused(-a, qi, fused(b, qr, r)), i = fused(a, qr, fused(b, qi, i));
        }
    } else if (IMAGINARY) {
        r = fused(t, qr, r), i = fused(t, qi, i);
    } else {
        r = fused(-t, qi, r), i = fused(t, qr, i);
    }
}

// A site without partner; m: the secant, or that less 1
__device__ __forceinline__ void grow(real m, real &r, real &i) {
    if (OWN)
        r = fused(m, r, r), i = fused(m, i, i);
    else
        r *= m, i *= m;
}

// How a body looks at bonds: not at all; by a choice of factors; or by instructions that are skipped, which are fewer. Launches of many steps in planes without walls, where
// bonds are looked at along edges alone, are 6 % slower on an H100 beside the last.
enum { PLAIN, CHOOSING, SKIPPING };

// Whether site c of a lane has a bond to the next, 0 if not; site -1 is the last one of the lane to the left
template <int LOOK> __device__ __forceinline__ u32 bond_of(u32 open, int c) {
    return LOOK == SKIPPING ? open & open >> 1 & 1u << (c + 1) : (open >> (c + 1) & 3) == 3;
}

// x + t q where there is a bond, m x where there is none, by a product and a multiply-add that is skipped, and no choice of factors
__device__ __forceinline__ float turned(u32 bond, float t, float m, float x, float q) {
    float out;
    asm("{.reg .pred p; setp.ne.u32 p, %1, 0; mul.rn.ftz.f32 %0, %3, %5; @p fma.rn.ftz.f32 %0, %2, %4, %5;}"
        : "=&f"(out) : "r"(bond), "f"(t), "f"(m), "f"(q), "f"(x));
    return out;
}
__device__ __forceinline__ double turned(u32 bond, double t, double m, double x, double q) {
    double out;
    asm("{.reg .pred p; setp.ne.u32 p, %1, 0; mul.rn.f64 %0, %3, %5; @p fma.rn.f64 %0, %2, %4, %5;}"
        : "=&d"(out) : "r"(bond), "d"(t), "d"(m), "d"(q), "d"(x));
    return out;
}

// A site's part of a bond that may not be there, without a phase: what the partner adds, or the secant
__device__ __forceinline__ void half_bond(u32 bond, real t, real m, real &r, real &i, real qr, real qi) {
    if (IMAGINARY)
        r = turned(bond, t, m, r, qr), i = turned(bond, t, m, i, qi);
    else
        r = turned(bond, -t, m, r, qi), i = turned(bond, t, m, i, qr);
}

// A bond between p and its upper neighbour q; 0 in `bond`: there is none
template <int LOOK> __device__ __forceinline__ void pair(u32 bond, real t, real m, real gc, real gs, real &pr, real &pi, real &qr, real &qi) {
    if (LOOK == SKIPPING && !FLUX) {
        const real xr = pr, xi = pi;
        half_bond(bond, t, m, pr, pi, qr, qi);
        half_bond(bond, t, m, qr, qi, xr, xi);
        return;
    }
    if (LOOK) {
        t = bond ? t : real(0), m = bond ? real(1) : m;
        pr *= m, pi *= m, qr *= m, qi *= m;
    }
    const real xr = pr, xi = pi;
    lean(t, gc, gs, pr, pi, qr, qi);
    lean(t, gc, -gs, qr, qi, xr, xi);
}

struct Gauge { real c, s; };
struct Edges { bool any, left, right; };

template <int LOOK> __device__ __forceinline__ void even_x(Row &a, real t, real m, u32 open, Gauge g) {
#pragma unroll
    for (int c = 0; c < C; c += 2) pair<LOOK>(bond_of<LOOK>(open, c), t, m, g.c, g.s, a.r[c], a.i[c], a.r[c + 1], a.i[c + 1]);
}

template <int LOOK> __device__ __forceinline__ void odd_x(Row &a, real t, real m, u32 open, Edges e, Gauge g) {
    const u32 all = 0xffffffffu;
    real lr = __shfl_up_sync(all, a.r[C - 1], 1), li = __shfl_up_sync(all, a.i[C - 1], 1);
    real rr = __shfl_down_sync(all, a.r[0], 1), ri = __shfl_down_sync(all, a.i[0], 1);
    if (LOOK) {
        pair<LOOK>(bond_of<LOOK>(open, -1), t, m, g.c, g.s, lr, li, a.r[0], a.i[0]);
        pair<LOOK>(bond_of<LOOK>(open, C - 1), t, m, g.c, g.s, a.r[C - 1], a.i[C - 1], rr, ri);
    } else {
        if (e.any) {
            if (e.left) lr = li = 0, grow(m, a.r[0], a.i[0]);
            if (e.right) rr = ri = 0, grow(m, a.r[C - 1], a.i[C - 1]);
        }
        lean(t, g.c, -g.s, a.r[0], a.i[0], lr, li);
        lean(t, g.c, g.s, a.r[C - 1], a.i[C - 1], rr, ri);
    }
#pragma unroll
    for (int c = 1; c < C - 1; c += 2) pair<LOOK>(bond_of<LOOK>(open, c), t, m, g.c, g.s, a.r[c], a.i[c], a.r[c + 1], a.i[c + 1]);
}

// Where a lane finds its bonds: the column of its first site, less than 0 where the grid has none
struct Bonds { int x; };

__device__ __forceinline__ void take_plane(real *out, const Fused &p, int plane, int y, int x) {
    const real *from = p.own + ((size_t)plane * p.ny + y) * p.pitch + x;
#pragma unroll
    for (int k = 0; k < CHUNKS; k++) *(vec *)(out + k * LANES) = __ldg((const vec *)from + k);
}

#include "trotter_own.cuh"

// The x sweeps of row y before its y sweeps, or AFTER them; those of angle 0 are none. Without a column in the grid, bonds are as at its edges.
template <bool AFTER> __device__ __forceinline__ void own_x(Row &row, const Fused &p, const Bonds &own, int y) {
    if (p.periodic_y) y = y < 0 ? y + p.ny : y >= p.ny ? y - p.ny : y;
    real a[C], b[C], d[C];
#pragma unroll
    for (int c = 0; c < C; c++) a[c] = b[c] = 0, d[c] = p.om[1];
    if (own.x >= 0 && y >= 0 && y < p.ny) take_plane(a, p, 0, y, own.x), take_plane(b, p, 1, y, own.x), take_plane(d, p, 2, y, own.x);
#pragma unroll
    for (int k = 0; k < 2; k++) {
        const bool odd = (k == 0) == AFTER;
        if (p.ot[AFTER ? 2 + k : k] == 0) continue;
        own_sweep(row, a, b, d, odd);
    }
}

// The bonds along y from row y to the next, in a sweep of tangent `plain`
__device__ __forceinline__ void take_rungs(real (&t)[C], real (&d)[C], const Fused &p, const Bonds &own, int y, real plain, real edge) {
    if (p.periodic_y) y = y < 0 ? y + p.ny : y >= p.ny ? y - p.ny : y;
#pragma unroll
    for (int c = 0; c < C; c++) t[c] = 0, d[c] = plain == 0 ? 0 : edge;
    if (plain != 0 && own.x >= 0 && y >= 0 && y < p.ny) take_plane(t, p, 3, y, own.x), take_plane(d, p, 4, y, own.x);
}

template <int LOOK> __device__ __forceinline__ void before_y(Row &a, const Fused &p, u32 open, Edges e, Gauge g) {
    if (NESTED) {
        even_x<LOOK>(a, p.ot[0], p.om[0], open, g);
        odd_x<LOOK>(a, p.ot[1], p.om[1], open, e, g);
    } else {
        even_x<LOOK>(a, p.t[0], p.m[0], open, g);
        odd_x<LOOK>(a, p.t[1], p.m[1], open, e, g);
        even_x<LOOK>(a, p.t[2], p.m[2], open, g);
    }
}

template <int LOOK> __device__ __forceinline__ void after_y(Row &a, const Fused &p, u32 open, Edges e, Gauge g) {
    if (NESTED) {
        odd_x<LOOK>(a, p.ot[2], p.om[2], open, e, g);
        even_x<LOOK>(a, p.ot[3], p.om[3], open, g);
    }
}

// y sweeps of the pair (a, b) and the pair before it (u, v), which they complete and hand over in (a, b); what the next pair needs is
// computed last, when its registers are free: otherwise ptxas copies both rows at every turn of the loop.
// With OWN the pair (a, b) has rows y and y + 1.
template <int LOOK> __device__ __forceinline__ void sweep_y(Row &a, Row &b, Row &u, Row &v, const Fused &p, u32 now, u32 before, const Bonds &own, int y) {
    enum { LOOKS = LOOK && OWN };
    real rungs[LOOKS ? 3 : 1][C], grows[LOOKS ? 3 : 1][C];
    if (LOOKS)
#pragma unroll
        for (int k = 0; k < (LOOKS ? 3 : 1); k++) take_rungs(rungs[k], grows[k], p, own, y - k, p.t[k], p.m[k]);
    // bonds within this pair, between it and the one before, and within that one
    const u32 here = now & now >> 16, between = now & before >> 16, there = before & before >> 16;
#pragma unroll
    for (int c = 0; c < C; c++) {
        if (LOOK == SKIPPING && !LOOKS) {
            const u32 bit = 2u << c;
            const real xr = a.r[c], xi = a.i[c], yr = b.r[c], yi = b.i[c], ur = u.r[c], ui = u.i[c], vr = v.r[c], vi = v.i[c];
            real er = xr, ei = xi, fr = vr, fi = vi, hr = ur, hi = ui;
            half_bond(here & bit, p.t[0], p.m[0], er, ei, yr, yi);
            half_bond(between & bit, p.t[1], p.m[1], fr, fi, er, ei);
            half_bond(there & bit, p.t[2], p.m[2], hr, hi, fr, fi);
            real gr = fr, gi = fi, kr = er, ki = ei, lr = yr, li = yi;
            half_bond(there & bit, p.t[2], p.m[2], gr, gi, ur, ui);
            a.r[c] = hr, a.i[c] = hi, b.r[c] = gr, b.i[c] = gi;
            half_bond(between & bit, p.t[1], p.m[1], kr, ki, vr, vi);
            half_bond(here & bit, p.t[0], p.m[0], lr, li, xr, xi);
            u.r[c] = kr, u.i[c] = ki, v.r[c] = lr, v.i[c] = li;
            continue;
        }
        real t0 = p.t[0], t1 = p.t[1], t2 = p.t[2], m0 = 1, m1 = 1, m2 = 1;
        if (LOOKS) {
            t0 = rungs[0][c], t1 = rungs[LOOKS ? 1 : 0][c], t2 = rungs[LOOKS ? 2 : 0][c];
            m0 = grows[0][c], m1 = grows[LOOKS ? 1 : 0][c], m2 = grows[LOOKS ? 2 : 0][c];
        } else if (LOOK) {
            const bool here = (now >> (c + 1)) & (now >> (c + 17)) & 1;
            const bool between = (before >> (c + 17)) & (now >> (c + 1)) & 1;
            const bool there = (before >> (c + 1)) & (before >> (c + 17)) & 1;
            t0 = here ? t0 : real(0), t1 = between ? t1 : real(0), t2 = there ? t2 : real(0);
            m0 = here ? m0 : p.m[0], m1 = between ? m1 : p.m[1], m2 = there ? m2 : p.m[2];
        }
        // What is not masked stays as it is.
        auto grown = [](real m, real x) { return LOOKS ? fused(m, x, x) : m * x; };
        const real xr = grown(m0, a.r[c]), xi = grown(m0, a.i[c]), yr = grown(m0, b.r[c]), yi = grown(m0, b.i[c]);
        const real ur = u.r[c], ui = u.i[c];
        const real S = IMAGINARY ? real(1) : real(-1);
        // lean() without gauge, written out: X and Y swap real and imaginary parts in real time
#define LEAN(t, r, i, qr, qi) r = fused(IMAGINARY ? t : S * t, IMAGINARY ? qr : qi, r), i = fused(t, IMAGINARY ? qi : qr, i)
        real er = xr, ei = xi;
        LEAN(t0, er, ei, yr, yi);
        er = grown(m1, er), ei = grown(m1, ei);
        const real vr = grown(m1, v.r[c]), vi = grown(m1, v.i[c]);
        real fr = vr, fi = vi;
        LEAN(t1, fr, fi, er, ei);
        const real gr = grown(m2, fr), gi = grown(m2, fi), hr = grown(m2, ur), hi = grown(m2, ui);
        real ar = hr, ai = hi, br = gr, bi = gi;
        LEAN(t2, ar, ai, gr, gi);
        LEAN(t2, br, bi, hr, hi);
        a.r[c] = ar, a.i[c] = ai, b.r[c] = br, b.i[c] = bi;
        real kr = er, ki = ei, lr = yr, li = yi;
        LEAN(t1, kr, ki, vr, vi);
        LEAN(t0, lr, li, xr, xi);
        u.r[c] = kr, u.i[c] = ki, v.r[c] = lr, v.i[c] = li;
#undef LEAN
    }
}

__device__ __forceinline__ void phase(Row &a, const char *here, const Fused &p) {
#pragma unroll
    for (int k = 0; k < CHUNKS; k++) {
        real c[LANES], s[LANES];
        *(vec *)c = *(const vec *)(here + k * PART);
        *(vec *)s = *(const vec *)(here + (CHUNKS + k) * PART);
#pragma unroll
        for (int v = 0; v < LANES; v++) {
            const int n = k * LANES + v;
            if (INTERACTION)
                multiply_and_interact(a.r[n], a.i[n], c[v], s[v], p.interaction);
            else
                multiply(a.r[n], a.i[n], c[v], s[v]);
        }
    }
}

__device__ __forceinline__ Gauge gauge(const Fused &p, int y) {
    Gauge g = {1, 0};
    if (FLUX) {
        y = y < 0 ? y + p.ny : y >= p.ny ? y - p.ny : y;
        if (y >= 0 && y < p.ny) g.c = __ldg(p.gc + y), g.s = __ldg(p.gs + y);
    }
    return g;
}
