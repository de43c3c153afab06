// Trotter-Suzuki in three dimensions, STEPS whole steps a pass over memory with the state in registers.
//
// A block owns a tile of 32 x COLUMNS columns and WARPS x ROWS rows and goes up the planes, two at a time, through a pipeline of STEPS stages as in
// trotter_fused.cu; a warp has ROWS rows of it. x sweeps: neighbours across lanes by shuffle. y sweeps: the rows at the rim of a warp's part go
// through shared memory, once a stage. z sweeps, even-odd-even: a stage completes those of the pair of planes before the one that enters, and keeps
// two planes in registers. The next pair and the phases come by asynchronous copies, each lane's own. Tiles overlap by 2 STEPS sites a side.
//
// Walls at the edges of the grid only; nx a multiple of COLUMNS. Where an edge in y or z is near, a second body runs that looks at every bond; a site
// without partner is multiplied by the secant. Both give the same bits for sites with partners.
//
// `summing_steps` sums |psi|^2 over regions after steps and copies boxes. Compile with -DREAL, -DCOLUMNS, -DSTEPS.
#include "trotter.cuh"
#include "trotter_sums.cuh"

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

struct Space {
    const real *re, *im;    // the state
    real *re_out, *im_out;  // the state STEPS steps later
    const real *pc, *ps;    // phase after a step
    int nx, ny, nz, pitch;
    int periodic[3];
    int chunk;              // pairs of planes that a block writes
    real t[3], m[3];        // tangents of the even, odd, even sweep; their secants
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

// Bonds to the lanes left and right: tangents, 0 where there is none, and what the site without partner is multiplied by
struct Sides { real t[2], m[2]; };

__device__ __forceinline__ void odd_x(Row &a, real t, const Sides &e) {
    const u32 all = 0xffffffffu;
    const real lr = __shfl_up_sync(all, a.r[C - 1], 1), li = __shfl_up_sync(all, a.i[C - 1], 1);
    const real rr = __shfl_down_sync(all, a.r[0], 1), ri = __shfl_down_sync(all, a.i[0], 1);
    a.r[0] *= e.m[0], a.i[0] *= e.m[0], a.r[C - 1] *= e.m[1], a.i[C - 1] *= e.m[1];
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

template <bool MASKED> __device__ __forceinline__ void even_y(Part &a, const Space &p, int which, u32 open) {
#pragma unroll
    for (int r = 0; r < R; r += 2) pair_y<MASKED>(a.row[r], a.row[r + 1], p.t[which], p.m[which], open >> (r + 1));
}

// bit r + 1 of `open` is row r, bits 0 and ROWS + 1 those of the neighbours; `rim` is this warp's part of the exchange
template <bool MASKED> __device__ __forceinline__ void odd_y(Part &a, const Space &p, u32 open, const char *rim, int plane, bool below, bool above) {
    const real t = p.t[1], m = p.m[1];
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

// A stage up to its z sweeps
template <bool MASKED> __device__ __forceinline__ void in_planes(Part &a, Part &b, const Space &p, u32 open, const Sides &e, char *rim, int warp) {
#pragma unroll
    for (int r = 0; r < R; r++) {
        even_x(a.row[r], p.t[0]), odd_x(a.row[r], p.t[1], e), even_x(a.row[r], p.t[2]);
        even_x(b.row[r], p.t[0]), odd_x(b.row[r], p.t[1], e), even_x(b.row[r], p.t[2]);
    }
    even_y<MASKED>(a, p, 0, open);
    even_y<MASKED>(b, p, 0, open);
    __syncthreads();
    put(rim + 0 * PART, a.row[0]), put(rim + 2 * PART, a.row[R - 1]);
    put(rim + 4 * PART, b.row[0]), put(rim + 6 * PART, b.row[R - 1]);
    __syncthreads();
    odd_y<MASKED>(a, p, open, rim, 0, warp > 0, warp < WARPS - 1);
    odd_y<MASKED>(b, p, open, rim, 1, warp > 0, warp < WARPS - 1);
    even_y<MASKED>(a, p, 2, open);
    even_y<MASKED>(b, p, 2, open);
}

// What a lane has summed
struct Summed {
    long long sums[STEPS][REGIONS];
    int x, y;           // its first column and the warp's first row
    u32 columns;        // bit COLUMNS k + c: column c is one of region k
    u32 rows;           // rows that the lane writes
    int first, last;    // pairs of planes that the block writes
    real most;          // the largest number of units that was added
};

// |psi|^2 of the lane's columns of two rows, from row y of plane z on, that the lane writes
__device__ __forceinline__ void squares(real (&da)[C], real (&db)[C], const Row &a, const Row &b, const Space &p, const Regions &q, const Summed &own, int r, int z) {
#pragma unroll
    for (int c = 0; c < C; c++) da[c] = fused(a.r[c], a.r[c], times(a.i[c], a.i[c])), db[c] = fused(b.r[c], b.r[c], times(b.i[c], b.i[c]));
    const int y = own.y + r;
    const bool ones = own.x >= q.ones_x[0] && own.x + C <= q.ones_x[1] && y >= q.ones_y[0] && y + 2 <= q.ones_y[1] && z >= q.ones_z[0] && z < q.ones_z[1];
    if (!q.weights || ones || z >= p.nz) return;
    const real *w = q.weights + ((size_t)z * p.ny + y) * p.pitch + own.x;
#pragma unroll
    for (int c = 0; c < C; c++) {
        if (own.rows >> r & 1) da[c] = times(da[c], w[c]);
        if (own.rows >> (r + 1) & 1) db[c] = times(db[c], w[p.pitch + c]);
    }
}

// Adds |psi|^2 of the pair of planes j after stage s
__device__ __forceinline__ void sum_pair(const Part &a, const Part &b, const Space &p, const Regions &q, Summed &own, int j, int s) {
    if (j < own.first || j >= own.last || !(own.columns & 0xffff)) return;
    const real scale = (real)q.scale;
    // of whole cells, as most are
    real cells[R];
#pragma unroll
    for (int n = 0; n < R; n++) {
        const int r = n / 2 * 2;
        real da[C], db[C];
        squares(da, db, n & 1 ? b.row[r] : a.row[r], n & 1 ? b.row[r + 1] : a.row[r + 1], p, q, own, r, 2 * j + (n & 1));
        cells[n] = sum_of_cell(da, db, ~0u, ~0u);
    }
#pragma unroll 1
    for (int k = 0; k < q.count; k++) {
        const u32 all = (1u << C) - 1, columns = own.columns >> (C * k) & all;
        if (!columns) continue;
        const bool peak = q.peaks >> k & 1;
        long long sum = 0;
#pragma unroll
        for (int n = 0; n < R; n++) {
            const int r = n / 2 * 2, y = own.y + r, z = 2 * j + (n & 1);
            const bool in_a = own.rows >> r & 1 && y >= q.y0[k] && y < q.y1[k], in_b = own.rows >> (r + 1) & 1 && y + 1 >= q.y0[k] && y + 1 < q.y1[k];
            if (z < q.z0[k] || z >= q.z1[k] || !(in_a || in_b)) continue;
            real cell = cells[n];
            if (peak) {
                real da[C], db[C];
                squares(da, db, n & 1 ? b.row[r] : a.row[r], n & 1 ? b.row[r + 1] : a.row[r + 1], p, q, own, r, z);
                sum = max(sum, in_order(peak_of_cell(da, db, in_a ? columns : 0, in_b ? columns : 0)));
                continue;
            }
            if (columns != all || !(in_a && in_b)) {
                real da[C], db[C];
                squares(da, db, n & 1 ? b.row[r] : a.row[r], n & 1 ? b.row[r + 1] : a.row[r + 1], p, q, own, r, z);
                cell = sum_of_cell(da, db, in_a ? columns : 0, in_b ? columns : 0);
            }
            const real units = times(cell, scale);
            own.most = larger(own.most, units);
            sum += rounded(units);
        }
        own.sums[s][k] = peak ? max(own.sums[s][k], sum) : own.sums[s][k] + sum;
    }
}

// Copies what boxes have of the warp's rows of the pair of planes j after stage s
__device__ __forceinline__ void copy_pair(const Part &a, const Part &b, const Regions &q, const Summed &own, int strip, int j, int s) {
#pragma unroll 1
    for (int from = 0; from < q.box_count; from += 32) {
        u32 hits = boxes_in(q, from, strip, strip + CORE_X, own.y, own.y + R, 2 * j, 2 * j + 2);
#pragma unroll 1
        while (hits) {
            const Box box = q.boxes[from + __ffs(hits) - 1];
            hits &= hits - 1;
#pragma unroll
            for (int r = 0; r < R; r++) {
                if (!(own.rows >> r & 1)) continue;
                copy_row(q, box, s, own.x, own.y + r, 2 * j, a.row[r].r, a.row[r].i);
                copy_row(q, box, s, own.x, own.y + r, 2 * j + 1, b.row[r].r, b.row[r].i);
            }
        }
    }
}

// A pair through all stages; `ring` at the phases of the pair that the first one completes; bit s + 1 of `marks`: boxes have something of pair j - s - 1
template <bool MASKED, bool SUMS>
__device__ __forceinline__ void pipeline(Part &a, Part &b, Part (&u)[STEPS], Part (&v)[STEPS], const Space &p, int j, u32 rows,
                                         const Sides &e, char *rim, int warp, const char *ring, int slot, const Regions &q, Summed &own, int strip, u32 marks) {
#pragma unroll
    for (int s = 0; s < N; s++) {
        in_planes<MASKED>(a, b, p, rows, e, rim, warp);
        int z[2];
        const u32 now = MASKED ? planes(p, j - s, z) : 3, before = MASKED ? planes(p, j - s - 1, z) : 3;
#pragma unroll
        for (int r = 0; r < R; r++) sweep_z<MASKED>(a.row[r], b.row[r], u[s].row[r], v[s].row[r], p, now, before);
        if (s == 0) asm volatile("cp.async.wait_group 1;" ::: "memory");
        const char *here = ring + (N == 1 ? 0 : (slot + s) % N) * PAIR;
#pragma unroll
        for (int r = 0; r < R; r++) phase(a.row[r], here + r * 2 * PART, p), phase(b.row[r], here + (R + r) * 2 * PART, p);
        if (SUMS && q.ends >> s & 1) {
            sum_pair(a, b, p, q, own, j - s - 1, s);
            if (marks >> (s + 1) & 1) copy_pair(a, b, q, own, strip, j - s - 1, s);
        }
    }
}

template <bool SUMS> __device__ __forceinline__ void steps_of(const Space &p, const Regions &q) {
    extern __shared__ __align__(16) char shared[];
    __shared__ int begins[WARPS * ROWS];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int strip = blockIdx.x * CORE_X, bank = blockIdx.y * CORE_Y;
    const int first = blockIdx.z * p.chunk, last = min(first + p.chunk, (p.nz + 1) / 2);
    if (first >= last) return;
    // the next pair, a ring of phases of STEPS pairs, the exchange
    char *next = shared + warp * (1 + N) * PAIR + lane * 16, *ring = next + PAIR;
    char *rim = shared + WARPS * (1 + N) * PAIR + warp * RIM + lane * 16;

    const int x = strip - HALO_X + lane * C, low = bank - HALO_Y + warp * R;
    Place place = {begins + warp * R, 0, x, x >= 0 && x < p.nx};
    if (p.periodic[0]) {
        place.x = x % p.nx;
        place.x += place.x < 0 ? p.nx : 0;
        place.inside = true;
    }
    if (!place.inside) place.x = 0;
    const bool left = !p.periodic[0] && x == 0, right = !p.periodic[0] && x + C == p.nx;
    const Sides e = {{left ? real(0) : p.t[1], right ? real(0) : p.t[1]}, {left ? p.m[1] : real(1), right ? p.m[1] : real(1)}};
    u32 writes = 0;  // rows of the core, in lanes of the core
#pragma unroll
    for (int r = -1; r <= R; r++) {
        int y = low + r;
        if (r >= 0 && r < R && x >= strip && x < strip + CORE_X && x < p.nx && y >= bank && y < bank + CORE_Y && y < p.ny) writes |= 1u << r;
        if (p.periodic[1]) {
            y %= p.ny;
            y += y < 0 ? p.ny : 0;
        }
        const bool there = y >= 0 && y < p.ny;
        if (there) place.open |= 1u << (r + 1);
        if (r >= 0 && r < R && lane == 0) begins[warp * R + r] = there ? y * p.pitch : 0;
    }
    Summed own = {{}, x, low, 0, writes, first, last, 0};
    if (SUMS)
        for (int k = 0; k < q.count; k++) {
            u32 columns = 0;
            for (int c = 0; c < C; c++)
                if (writes && x + c >= q.x0[k] && x + c < q.x1[k]) columns |= 1u << c;
            own.columns |= columns << (C * k);
        }
    const bool edge_y = __syncthreads_or(place.open != (1u << (R + 2)) - 1);

    Part u[N], v[N];
#pragma unroll
    for (int s = 0; s < N; s++)
#pragma unroll
        for (int r = 0; r < R; r++)
#pragma unroll
            for (int c = 0; c < C; c++) u[s].row[r].r[c] = u[s].row[r].i[c] = v[s].row[r].r[c] = v[s].row[r].i[c] = 0;
    for (int n = 0; n < N * 4 * R; n++) *(uint4 *)(ring + n * PART) = uint4();
    const bool copies = SUMS && some_box_in(q, strip, strip + CORE_X, low, low + R, 2 * first, 2 * last);
    u32 marks = 0;
    int slot = 0;
    fetch(next, p.re, p.im, p, place, first - N);
    // groups take turns: a pair, phases; the first phases are zero
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");

#pragma unroll 1
    for (int j = first - N; j < last + N; j++) {
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        Part a, b;
#pragma unroll
        for (int r = 0; r < R; r++) take(a.row[r], next + r * 2 * PART), take(b.row[r], next + (R + r) * 2 * PART);
        fetch(next, p.re, p.im, p, place, j + 1);
        asm volatile("cp.async.commit_group;" ::: "memory");
        if (SUMS && copies) marks = marks << 1 | (j >= first && j < last && some_box_in(q, strip, strip + CORE_X, low, low + R, 2 * j, 2 * j + 2));
        // The ring holds the newest phases first at `slot`, then older ones.
        // With an interaction the phases are most of the work, and one body serves.
        if (INTERACTION || edge_y || (!p.periodic[2] && (j <= N || 2 * j + 1 >= p.nz)))
            pipeline<true, SUMS>(a, b, u, v, p, j, place.open, e, rim, warp, ring, slot, q, own, strip, marks);
        else
            pipeline<false, SUMS>(a, b, u, v, p, j, place.open, e, rim, warp, ring, slot, q, own, strip, marks);
        // the phases of the pair that entered, over those that the last stage has had
        slot = slot == 0 ? N - 1 : slot - 1;
        fetch(ring + slot * PAIR, p.pc, p.ps, p, place, j);
        asm volatile("cp.async.commit_group;" ::: "memory");
        if (j - N < first) continue;
        const size_t plane = (size_t)p.pitch * p.ny, bottom = 2 * (j - N) * plane;
        const bool two = 2 * (j - N) + 1 < p.nz;
        real *re = p.re_out + bottom, *im = p.im_out + bottom;
#pragma unroll
        for (int r = 0; r < R; r++) {
            if (!(writes >> r & 1)) continue;
            const u32 to = place.rows[r] + place.x;
            *(uint4 *)(re + to) = *(uint4 *)a.row[r].r, *(uint4 *)(im + to) = *(uint4 *)a.row[r].i;
            if (two) *(uint4 *)(re + plane + to) = *(uint4 *)b.row[r].r, *(uint4 *)(im + plane + to) = *(uint4 *)b.row[r].i;
        }
    }
    if (SUMS) {
        const bool large = __any_sync(0xffffffffu, too_large(own.most));
        for (int s = 0; s < N; s++)
            for (int k = 0; k < q.count; k++) {
                const bool peak = q.peaks >> k & 1;
                const long long sum = peak ? peak_of_warp(own.sums[s][k]) : sum_of_warp(own.sums[s][k]);
                if (lane || !(q.ends >> s & 1)) continue;
                add_to_total(q, k, total_of(q, s, k), sum);
                if (large && !peak) atomicOr(total_of(q, s, k) + 1, 1ull);
            }
    }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS) space_steps(const Space p) { steps_of<false>(p, Regions{}); }
extern "C" __global__ void __launch_bounds__(32 * WARPS) summing_steps(const Space p, const __grid_constant__ Regions q) { steps_of<true>(p, q); }
