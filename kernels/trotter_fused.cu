// Trotter-Suzuki in two dimensions, STEPS whole steps a launch with the state in registers.
//
// A warp owns a strip of 32 x COLUMNS columns and streams down its rows, two at a time, through a pipeline of STEPS stages; a stage is
// one step. x sweeps stay in a row (neighbours across lanes by shuffle). Of the y sweeps, even-odd-even, a stage completes those of the
// row pair before the one that enters, for which it keeps two rows in registers: a lag of one pair a stage. The phases of the pairs under way
// stand in a ring in shared memory, each lane's own, and so does the pair that comes next; both arrive by asynchronous copies. Nothing is
// shared between warps, there is no barrier. Strips overlap by 2 STEPS columns a side, pieces of a strip by 2 STEPS rows: what is wrong at the rim
// of a strip moves inwards by 2 sites a step and never reaches what is written. Where row pairs
// cost more, pieces are shorter, so that all take equally long.
//
// Where a wall, an edge in y or a ragged edge in x is near, a second body runs that looks at every bond; a site without partner is multiplied by
// the secant that its partner's tangent form would have owed it. Both bodies give the same bits for sites with partners.
//
// Where bonds differ from one another (OWN) the second body reads what each of them does, walls and edges among it, and runs wherever one is near that is not as all
// others are. Of a bond of angle f theta and phase phi, where all others have theta, planes hold t cos phi, t sin phi with t = tan f theta, and what both members grow by beside
// the others' tangent form: d = cos f theta / cos theta - 1, which a multiply-add takes up without the rounding of 1 + d; bonds that are not there have t = 0. So bonds like
// all others (d = 0) give the bits of the first body. Bonds along y have no phases.
//
// Compile with -DREAL, -DCOLUMNS, -DSTEPS, -DBLOCKS (of two warps on a multiprocessor) and the flags below.
#include "trotter.cuh"
#include "trotter_sums.cuh"

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
// Whether pieces are shorter near walls; where there are none, or few, sums are faster without (registers)
// What is recorded after steps, and by which kernel
// Largest values beside sums have a kernel of their own, since sums would lose registers to them.
enum { NOTHING, SUMS, PEAKS, COPIES };
template <int RECORDS> constexpr bool ADDS_UP = RECORDS == SUMS || RECORDS == PEAKS;
template <int RECORDS> constexpr bool BY_KIND = RECORDS == NOTHING || (ADDS_UP<RECORDS> && NESTED && !FLUX);

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

// A part of a strip that is stepped for its boxes alone: row pairs first <= j < last
struct Piece { int strip, first, last, unused; };

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

// What a lane has summed
struct Summed {
    long long *sums;  // 32 (count s + k): region k after stage s
    u32 columns;      // bit COLUMNS k + c: column c is one of region k; 16 + k: the warp has some of region k; 24 + k: and some lane's columns differ in that
    int first, last;  // pairs that the warp writes
    bool ones;        // the lane's columns have weights 1 in some rows
    real most;        // the largest number of units that was added
};

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

// A bond between p and its upper neighbour q
template <bool MASKED> __device__ __forceinline__ void pair(bool on, real t, real m, real gc, real gs, real &pr, real &pi, real &qr, real &qi) {
    if (MASKED) {
        t = on ? t : real(0), m = on ? real(1) : m;
        pr *= m, pi *= m, qr *= m, qi *= m;
    }
    const real xr = pr, xi = pi;
    lean(t, gc, gs, pr, pi, qr, qi);
    lean(t, gc, -gs, qr, qi, xr, xi);
}

struct Gauge { real c, s; };
struct Edges { bool any, left, right; };

template <bool MASKED> __device__ __forceinline__ void even_x(Row &a, real t, real m, u32 open, Gauge g) {
#pragma unroll
    for (int c = 0; c < C; c += 2) pair<MASKED>((open >> (c + 1) & 3) == 3, t, m, g.c, g.s, a.r[c], a.i[c], a.r[c + 1], a.i[c + 1]);
}

template <bool MASKED> __device__ __forceinline__ void odd_x(Row &a, real t, real m, u32 open, Edges e, Gauge g) {
    const u32 all = 0xffffffffu;
    real lr = __shfl_up_sync(all, a.r[C - 1], 1), li = __shfl_up_sync(all, a.i[C - 1], 1);
    real rr = __shfl_down_sync(all, a.r[0], 1), ri = __shfl_down_sync(all, a.i[0], 1);
    if (MASKED) {
        pair<true>((open & 3) == 3, t, m, g.c, g.s, lr, li, a.r[0], a.i[0]);
        pair<true>((open >> C & 3) == 3, t, m, g.c, g.s, a.r[C - 1], a.i[C - 1], rr, ri);
    } else {
        if (e.any) {
            if (e.left) lr = li = 0, grow(m, a.r[0], a.i[0]);
            if (e.right) rr = ri = 0, grow(m, a.r[C - 1], a.i[C - 1]);
        }
        lean(t, g.c, -g.s, a.r[0], a.i[0], lr, li);
        lean(t, g.c, g.s, a.r[C - 1], a.i[C - 1], rr, ri);
    }
#pragma unroll
    for (int c = 1; c < C - 1; c += 2) pair<MASKED>((open >> (c + 1) & 3) == 3, t, m, g.c, g.s, a.r[c], a.i[c], a.r[c + 1], a.i[c + 1]);
}

// Where a lane finds its bonds: the column of its first site, less than 0 where the grid has none
struct Bonds { int x; };

__device__ __forceinline__ void take_plane(real *out, const Fused &p, int plane, int y, int x) {
    const real *from = p.own + ((size_t)plane * p.ny + y) * p.pitch + x;
#pragma unroll
    for (int k = 0; k < CHUNKS; k++) *(vec *)(out + k * LANES) = __ldg((const vec *)from + k);
}

// What its own bond makes of p and its upper neighbour q
__device__ __forceinline__ void own_pair(real a, real b, real d, real &pr, real &pi, real &qr, real &qi) {
    grow(d, pr, pi), grow(d, qr, qi);
    const real xr = pr, xi = pi;
    pr = fused(-a, qi, fused(b, qr, pr)), pi = fused(a, qr, fused(b, qi, pi));
    qr = fused(-a, xi, fused(-b, xr, qr)), qi = fused(a, xr, fused(-b, xi, qi));
}

// The x sweeps of row y before its y sweeps, or AFTER them; those of angle 0 are none. Without a column in the grid, bonds are as at its edges.
template <bool AFTER> __device__ __forceinline__ void own_x(Row &row, const Fused &p, const Bonds &own, int y) {
    const u32 all = 0xffffffffu;
    if (p.periodic_y) y = y < 0 ? y + p.ny : y >= p.ny ? y - p.ny : y;
    real a[C], b[C], d[C];
#pragma unroll
    for (int c = 0; c < C; c++) a[c] = b[c] = 0, d[c] = p.om[1];
    if (own.x >= 0 && y >= 0 && y < p.ny) take_plane(a, p, 0, y, own.x), take_plane(b, p, 1, y, own.x), take_plane(d, p, 2, y, own.x);
#pragma unroll
    for (int k = 0; k < 2; k++) {
        const bool odd = (k == 0) == AFTER;
        if (p.ot[AFTER ? 2 + k : k] == 0) continue;
        if (odd) {
            real lr = __shfl_up_sync(all, row.r[C - 1], 1), li = __shfl_up_sync(all, row.i[C - 1], 1);
            real rr = __shfl_down_sync(all, row.r[0], 1), ri = __shfl_down_sync(all, row.i[0], 1);
            const real la = __shfl_up_sync(all, a[C - 1], 1), lb = __shfl_up_sync(all, b[C - 1], 1), ld = __shfl_up_sync(all, d[C - 1], 1);
            own_pair(la, lb, ld, lr, li, row.r[0], row.i[0]);
            own_pair(a[C - 1], b[C - 1], d[C - 1], row.r[C - 1], row.i[C - 1], rr, ri);
        }
#pragma unroll
        for (int c = odd; c + 1 < C; c += 2) own_pair(a[c], b[c], d[c], row.r[c], row.i[c], row.r[c + 1], row.i[c + 1]);
    }
}

// The bonds along y from row y to the next, in a sweep of tangent `plain`
__device__ __forceinline__ void take_rungs(real (&t)[C], real (&d)[C], const Fused &p, const Bonds &own, int y, real plain, real edge) {
    if (p.periodic_y) y = y < 0 ? y + p.ny : y >= p.ny ? y - p.ny : y;
#pragma unroll
    for (int c = 0; c < C; c++) t[c] = 0, d[c] = plain == 0 ? 0 : edge;
    if (plain != 0 && own.x >= 0 && y >= 0 && y < p.ny) take_plane(t, p, 3, y, own.x), take_plane(d, p, 4, y, own.x);
}

template <bool MASKED> __device__ __forceinline__ void before_y(Row &a, const Fused &p, u32 open, Edges e, Gauge g) {
    if (NESTED) {
        even_x<MASKED>(a, p.ot[0], p.om[0], open, g);
        odd_x<MASKED>(a, p.ot[1], p.om[1], open, e, g);
    } else {
        even_x<MASKED>(a, p.t[0], p.m[0], open, g);
        odd_x<MASKED>(a, p.t[1], p.m[1], open, e, g);
        even_x<MASKED>(a, p.t[2], p.m[2], open, g);
    }
}

template <bool MASKED> __device__ __forceinline__ void after_y(Row &a, const Fused &p, u32 open, Edges e, Gauge g) {
    if (NESTED) {
        odd_x<MASKED>(a, p.ot[2], p.om[2], open, e, g);
        even_x<MASKED>(a, p.ot[3], p.om[3], open, g);
    }
}

// y sweeps of the pair (a, b) and the pair before it (u, v), which they complete and hand over in (a, b); what the next pair needs is
// computed last, when its registers are free: otherwise ptxas copies both rows at every turn of the loop.
// With OWN the pair (a, b) has rows y and y + 1.
template <bool MASKED> __device__ __forceinline__ void sweep_y(Row &a, Row &b, Row &u, Row &v, const Fused &p, u32 now, u32 before, const Bonds &own, int y) {
    enum { LOOKS = MASKED && OWN };
    real rungs[LOOKS ? 3 : 1][C], grows[LOOKS ? 3 : 1][C];
    if (LOOKS)
#pragma unroll
        for (int k = 0; k < (LOOKS ? 3 : 1); k++) take_rungs(rungs[k], grows[k], p, own, y - k, p.t[k], p.m[k]);
#pragma unroll
    for (int c = 0; c < C; c++) {
        real t0 = p.t[0], t1 = p.t[1], t2 = p.t[2], m0 = 1, m1 = 1, m2 = 1;
        if (LOOKS) {
            t0 = rungs[0][c], t1 = rungs[LOOKS ? 1 : 0][c], t2 = rungs[LOOKS ? 2 : 0][c];
            m0 = grows[0][c], m1 = grows[LOOKS ? 1 : 0][c], m2 = grows[LOOKS ? 2 : 0][c];
        } else if (MASKED) {
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

// Adds |psi|^2 of pair j after stage s. Sums of two rows of a lane are rounded the same way in every kernel, everything after that is exact.
template <bool WITH_PEAKS> __device__ __forceinline__ void sum_pair(const Row &a, const Row &b, const Fused &p, const Regions &q, Summed &own, int x, int j, int s) {
    if (j < own.first || j >= own.last || own.columns >> 16 == 0) return;
    const int y = 2 * j;
    const real scale = (real)q.scale;
    real da[C], db[C];
#pragma unroll
    for (int c = 0; c < C; c++) da[c] = fused(a.r[c], a.r[c], times(a.i[c], a.i[c])), db[c] = fused(b.r[c], b.r[c], times(b.i[c], b.i[c]));
    const bool ones = own.ones && y >= q.ones_y[0] && y + 2 <= q.ones_y[1];
    if (q.weights && !ones && own.columns & 0xffff) {
        const real *w = q.weights + (size_t)y * p.pitch + x;
#pragma unroll
        for (int c = 0; c < C; c++) {
            da[c] = times(da[c], w[c]);
            if (y + 1 < p.ny) db[c] = times(db[c], w[p.pitch + c]);
        }
    }
    // In a lane whose columns are all of a region or none, as most are
    real both = 0;
#pragma unroll
    for (int c = 0; c < C; c++) both = plus(both, plus(da[c], db[c]));
#pragma unroll 1
    for (int k = 0; k < q.count; k++) {
        const bool in_a = y >= q.y0[k] && y < q.y1[k], in_b = y + 1 >= q.y0[k] && y + 1 < q.y1[k];
        if (!(own.columns >> (16 + k) & 1) || !(in_a || in_b)) continue;
        if (WITH_PEAKS && q.peaks >> k & 1) {
            const u32 columns = own.columns >> (C * k) & ((1u << C) - 1);
            long long &most = own.sums[32 * (s * q.count + k)];
            most = max(most, in_order(peak_of_cell(da, db, in_a ? columns : 0, in_b ? columns : 0)));
            continue;
        }
        real sum = own.columns >> (C * k) & 1 ? both : (real)0;
        if (own.columns >> (24 + k) & 1 || !(in_a && in_b)) {
            sum = 0;
#pragma unroll
            for (int c = 0; c < C; c++) {
                const bool in = own.columns >> (C * k + c) & 1;
                sum = plus(sum, plus(in && in_a ? da[c] : (real)0, in && in_b ? db[c] : (real)0));
            }
        }
        const real units = times(sum, scale);
        own.most = larger(own.most, units);
        own.sums[32 * (s * q.count + k)] += rounded(units);
    }
}

// Copies what boxes have of pair j after stage s
__device__ __forceinline__ void copy_pair(const Row &a, const Row &b, const Regions &q, int strip, int x, int j, int s) {
#pragma unroll 1
    for (int from = 0; from < q.box_count; from += 32) {
        u32 hits = boxes_in(q, from, strip, strip + CORE, 2 * j, 2 * j + 2, 0, 1);
#pragma unroll 1
        while (hits) {
            const Box box = q.boxes[from + __ffs(hits) - 1];
            hits &= hits - 1;
            if (x < strip || x >= strip + CORE) continue;
            copy_row(q, box, s, x, 2 * j, 0, a.r, a.i);
            copy_row(q, box, s, x, 2 * j + 1, 0, b.r, b.i);
        }
    }
}

// The pair j through all stages; bit s + 1 of `marks`: boxes have something of pair j - s - 1
template <bool MASKED, int RECORDS>
__device__ __forceinline__ void pipeline(Row &a, Row &b, Row (&u)[STEPS], Row (&v)[STEPS], const Fused &p, const char *ring, const u32 *words, int slot,
                                         int j, Edges e, const Regions &q, Summed &own, int x, int strip, u32 marks, const Bonds &bonds) {
    const char *here = ring + slot * SLOT;
    u32 now = 0, before = 0;
    enum { LOOKS = MASKED && OWN };
    if (MASKED && !OWN) now = words[slot * 32];
#pragma unroll
    for (int s = 0; s < N; s++) {
        const int y = 2 * (j - s);
        if (LOOKS) {
            own_x<false>(a, p, bonds, y);
            own_x<false>(b, p, bonds, y + 1);
        } else {
            before_y<MASKED>(a, p, now & 0xffff, e, gauge(p, y));
            before_y<MASKED>(b, p, now >> 16, e, gauge(p, y + 1));
        }
        here = here == ring ? ring + (SLOTS - 1) * SLOT : here - SLOT;
        if (MASKED && !OWN) {
            slot = slot == 0 ? SLOTS - 1 : slot - 1;
            before = words[slot * 32];
        }
        sweep_y<MASKED>(a, b, u[s], v[s], p, now, before, bonds, y);
        if (LOOKS) {
            own_x<true>(a, p, bonds, y - 2);
            own_x<true>(b, p, bonds, y - 1);
        } else {
            after_y<MASKED>(a, p, before & 0xffff, e, gauge(p, y - 2));
            after_y<MASKED>(b, p, before >> 16, e, gauge(p, y - 1));
        }
        if (!BARE) {
            phase(a, here, p);
            phase(b, here + 2 * CHUNKS * PART, p);
        }
        if (ADDS_UP<RECORDS> && q.ends >> s & 1) sum_pair<RECORDS == PEAKS>(a, b, p, q, own, x, j - s - 1, s);
        if (RECORDS == COPIES && q.ends >> s & marks >> (s + 1) & 1) copy_pair(a, b, q, strip, x, j - s - 1, s);
        now = before;
    }
}

struct Place { u32 a, b; bool in_a, in_b; };

// Where the rows of a pair lie, and whether they do
__device__ __forceinline__ Place place(const Fused &p, int j, int x, bool inside) {
    int y = 2 * j;
    if (p.periodic_y) y = y < 0 ? y + p.ny : y >= p.ny ? y - p.ny : y;
    Place at;
    at.a = (u32)y * p.pitch + x, at.b = at.a + p.pitch;
    at.in_a = inside && y >= 0 && y < p.ny, at.in_b = inside && y >= 0 && y + 1 < p.ny;
    return at;
}

// Which of a lane's columns are walls, or with OWN have bonds unlike others, the first one in the lowest bit
__device__ __forceinline__ u32 walls(const Fused &p, u32 at) {
    const Bytes<C>::type bytes = *(const Bytes<C>::type *)(p.wall + at);
    u32 all = 0;
#pragma unroll
    for (int c = 0; c < C; c++) all |= (u32)((bytes >> (8 * c) & (OWN ? 3 : 1)) != 0) << c;
    return all;
}

template <int RECORDS> __device__ __forceinline__ void steps_of(Fused &p, const Regions &q, const Piece *pieces, int piece_count) {
    const int bytes_of_warp = WARP_BYTES + (ADDS_UP<RECORDS> ? N * q.count * 32 * (int)sizeof(long long) : 0);
    if (BARE) {
        const size_t plane = (size_t)blockIdx.z * p.ny * p.pitch;
        p.re += plane, p.im += plane, p.re_out += plane, p.im_out += plane;
    }
    extern __shared__ __align__(16) char shared[];
    const u32 all = 0xffffffffu;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    // The same for all warps of a block, which the compiler must see: otherwise it spills.
    int chunk = p.chunk[0];
    bool walled = BY_KIND<RECORDS> ? p.walled & 1 : p.wall != nullptr;
#pragma unroll
    for (int k = 1; k < KINDS; k++)
        if (BY_KIND<RECORDS> && (int)blockIdx.x >= p.from[k]) chunk = p.chunk[k], walled = p.walled >> k & 1;
    int first = blockIdx.y * chunk, last = min(first + chunk, (p.ny + 1) / 2), strip = (blockIdx.x * WARPS + warp) * CORE;
    if (RECORDS == COPIES) {
        const int n = blockIdx.x * WARPS + warp;
        if (n >= piece_count) return;
        strip = pieces[n].strip * CORE, first = pieces[n].first, last = pieces[n].last;
    }
    if (strip >= p.nx || first >= last) return;
    char *ring = shared + warp * bytes_of_warp;
    u32 *words = (u32 *)(ring + (SLOTS + 1) * SLOT) + lane;
    ring += lane * BYTES;
    char *next = ring + SLOTS * SLOT;

    const int x = strip - HALO + lane * C;
    int wrapped = x;
    bool inside = x >= 0 && x < p.nx;
    if (p.periodic_x) {
        wrapped = x % p.nx;
        if (wrapped < 0) wrapped += p.nx;
        inside = true;
    }
    Edges e;
    e.left = !p.periodic_x && x == 0, e.right = !p.periodic_x && x + C == p.nx;
    e.any = __any_sync(all, e.left || e.right);
    // open sites: bit 0 is the left neighbour, bit C + 1 the right one; the second row 16 bits higher
    u32 full = 0;
#pragma unroll
    for (int c = 0; c < C; c++)
        if (inside && wrapped + c < p.nx) full |= 1u << (c + 1);
    const u32 whole = ((1u << C) - 1) * 2 * 0x10001u;

    Row u[N], v[N];
#pragma unroll
    for (int s = 0; s < N; s++)
#pragma unroll
        for (int c = 0; c < C; c++) u[s].r[c] = u[s].i[c] = v[s].r[c] = v[s].i[c] = 0;
    for (int n = 0; n < (SLOTS + 1) * 4 * CHUNKS; n++) *(vec *)(ring + n * PART) = vec();
    for (int n = 0; n < SLOTS; n++) words[n * 32] = 0;

    const Bonds bonds = {inside ? wrapped : -1};
    const bool stores = x >= strip && x < strip + CORE && x < p.nx;
    Summed own = {nullptr, 0, first, last, ADDS_UP<RECORDS> && x >= q.ones_x[0] && x + C <= q.ones_x[1], 0};
    if (ADDS_UP<RECORDS>) {
        own.sums = (long long *)(shared + warp * bytes_of_warp + WARP_BYTES) + lane;
        for (int n = 0; n < N * q.count; n++) own.sums[32 * n] = 0;
        for (int k = 0; k < q.count; k++)
            for (int c = 0; c < C; c++)
                if (stores && x + c >= q.x0[k] && x + c < q.x1[k]) own.columns |= 1u << (C * k + c);
        for (int k = 0; k < q.count; k++)
        {
            const u32 whole_lane = (1u << C) - 1, columns = own.columns >> (C * k) & whole_lane;
            const bool some = __any_sync(all, columns != 0), differ = __any_sync(all, columns != 0 && columns != whole_lane);
            own.columns |= (some ? 1u << (16 + k) : 0) | (differ ? 1u << (24 + k) : 0);
        }
    }
    u32 marks = 0;
    int slot = 0, masked = p.periodic_y || first > N ? 0 : N + 1;
    Place at = place(p, first - N, wrapped, inside);
    fetch(next, p.re, p.im, at.a, at.b, at.in_a, at.in_b);
    asm volatile("cp.async.commit_group;" ::: "memory");

#pragma unroll 1
    for (int j = first - N; j < last + N; j++) {
        asm volatile("cp.async.wait_group 0;" ::: "memory");
        Row a, b;
        take(a, next);
        take(b, next + 2 * CHUNKS * PART);
        if (!BARE) fetch(ring + slot * SLOT, p.pc, p.ps, at.a, at.b, at.in_a, at.in_b);
        u32 word = (at.in_a ? full : 0) | (at.in_b ? full << 16 : 0);
        if (walled) {
            if (at.in_a) word &= ~(walls(p, at.a) << 1);
            if (at.in_b) word &= ~(walls(p, at.b) << 17);
        }
        at = place(p, j + 1, wrapped, inside);
        fetch(next, p.re, p.im, at.a, at.b, at.in_a, at.in_b);
        asm volatile("cp.async.commit_group;" ::: "memory");
        if (RECORDS == COPIES) marks = marks << 1 | (j >= first && j < last && some_box_in(q, strip, strip + CORE, 2 * j, 2 * j + 2, 0, 1));
        if (__any_sync(all, inside && word != whole)) masked = N + 2;
        u32 l = __shfl_up_sync(all, word, 1), r = __shfl_down_sync(all, word, 1);
        l = lane == 0 ? 0 : l, r = lane == 31 ? 0 : r;
        words[slot * 32] = word | ((l >> C) & 0x10001u) | ((r & 0x20002u) << C);
        if (masked > 0) {
            masked--;
            pipeline<true, RECORDS>(a, b, u, v, p, ring, words, slot, j, e, q, own, x, strip, marks, bonds);
        } else {
            pipeline<false, RECORDS>(a, b, u, v, p, ring, words, slot, j, e, q, own, x, strip, marks, bonds);
        }
        slot = slot == SLOTS - 1 ? 0 : slot + 1;
        if (RECORDS != COPIES && j - N >= first && stores) {
            const u32 o = (u32)(2 * (j - N)) * p.pitch + x;
#pragma unroll
            for (int k = 0; k < CHUNKS; k++) {
                ((vec *)(p.re_out + o))[k] = *(vec *)(a.r + k * LANES);
                ((vec *)(p.im_out + o))[k] = *(vec *)(a.i + k * LANES);
            }
            if (2 * (j - N) + 1 < p.ny)
#pragma unroll
                for (int k = 0; k < CHUNKS; k++) {
                    ((vec *)(p.re_out + o + p.pitch))[k] = *(vec *)(b.r + k * LANES);
                    ((vec *)(p.im_out + o + p.pitch))[k] = *(vec *)(b.i + k * LANES);
                }
        }
    }
    if (ADDS_UP<RECORDS>) {
        __syncwarp();
        // Sums of as many as a warp sees stay below 2^63.
        const bool large = __any_sync(all, too_large(own.most));
        for (int n = lane; n < N * q.count; n += 32) {
            if (!(q.ends >> (n / q.count) & 1)) continue;
            const bool peak = RECORDS == PEAKS && q.peaks >> (n % q.count) & 1;
            long long sum = 0;
            for (int from = 0; from < 32; from++) {
                const long long part = own.sums[32 * n - lane + (from + lane) % 32];
                sum = peak ? max(sum, part) : sum + part;
            }
            unsigned long long *const to = total_of(q, n / q.count, n % q.count);
            if (RECORDS == PEAKS)
                add_to_total(q, n % q.count, to, sum);
            else if (sum)
                atomicAdd(to, (unsigned long long)sum);
            if (large && !peak) atomicOr(to + 1, 1ull);
        }
    }
}

extern "C" __global__ void __launch_bounds__(64, BLOCKS) fused_steps(Fused p) { steps_of<NOTHING>(p, Regions{}, nullptr, 0); }
#if !BARE
// At most 168 registers a thread, which sums need
extern "C" __global__ void __launch_bounds__(64, BLOCKS > 6 ? 6 : BLOCKS) summing_steps(Fused p, const __grid_constant__ Regions q) { steps_of<SUMS>(p, q, nullptr, 0); }
extern "C" __global__ void __launch_bounds__(64, BLOCKS > 6 ? 6 : BLOCKS) peaking_steps(Fused p, const __grid_constant__ Regions q) { steps_of<PEAKS>(p, q, nullptr, 0); }
// Steps nothing but what boxes need, and copies these: warps that record among others would make all wait for them
extern "C" __global__ void __launch_bounds__(64, BLOCKS > 6 ? 6 : BLOCKS) copying_steps(Fused p, const __grid_constant__ Regions q, const Piece *pieces, int count) {
    steps_of<COPIES>(p, q, pieces, count);
}
#endif
