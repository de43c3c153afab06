// Trotter-Suzuki in two dimensions on small grids: several whole steps a launch, a tile a block, the state in registers.
//
// trotter_fused.cu streams rows through a few warps, each of which waits for its own last result; a small grid has too few of them to fill the device. Here all rows of a
// tile are stepped at once. A block of TILE_WARPS warps holds 32 COLUMNS x ROWS TILE_WARPS sites, a lane COLUMNS columns of ROWS rows. x sweeps stay in a row (neighbours across
// lanes by shuffle), y sweeps in a lane, but for the bond between the last row of a warp and the first of the next: both leave it in shared memory, with one barrier a step.
// Phases stand in shared memory, each lane's own.
//
// Tiles overlap by 2 steps sites a side: what is wrong at the rim of a tile moves inwards by 2 sites a step and never reaches what is written. Where the grid ends a tile ends
// as well, without a halo: the last tile of an axis moves down to it.
//
// A warp with a wall, or with an end of the grid within its rows, runs a second body that looks at every bond (trotter_fused.cuh). Each site has the operations that
// trotter_fused.cu gives it, in their order, and so its bits.
//
// Cost: 16 instructions a site-step in tan form, times the area of a tile over that of what it writes. Limits: no bonds that differ (OWN). Compile with -DREAL, -DCOLUMNS, -DROWS and the flags
// of trotter_fused.cuh.
#include "trotter_fused.cuh"
#include "trotter_sums.cuh"

#ifndef ROWS
#define ROWS 8
#endif
#ifndef TILE_WARPS
#define TILE_WARPS 8
#endif
// of blocks that record: what they add up takes registers
#ifndef RECORD_BLOCKS
#define RECORD_BLOCKS BLOCKS
#endif

// Rows that two warps hand each other, phases of a row: two numbers for each of a lane's columns
enum { TILE_SLOT = 2 * CHUNKS * PART, WIDTH = 32 * COLUMNS, HEIGHT = ROWS * TILE_WARPS };

__device__ __forceinline__ void put(char *slot, const Row &row) {
#pragma unroll
    for (int k = 0; k < CHUNKS; k++) {
        *(vec *)(slot + k * PART) = *(const vec *)(row.r + k * LANES);
        *(vec *)(slot + (CHUNKS + k) * PART) = *(const vec *)(row.i + k * LANES);
    }
}

// What a partner along y adds to a site, or the secant where there is none
template <int LOOK> __device__ __forceinline__ void half_y(u32 bond, real t, real m, real &r, real &i, real qr, real qi) {
    if (LOOK)
        half_bond(bond, t, m, r, i, qr, qi);
    else if (IMAGINARY)
        r = fused(t, qr, r), i = fused(t, qi, i);
    else
        r = fused(-t, qi, r), i = fused(t, qr, i);
}

// Bit c + 1 of `bonds`: column c has its bond
template <int LOOK> __device__ __forceinline__ void pair_y(u32 bonds, real t, real m, Row &a, Row &b) {
#pragma unroll
    for (int c = 0; c < C; c++) {
        const real xr = a.r[c], xi = a.i[c];
        half_y<LOOK>(bonds & 2u << c, t, m, a.r[c], a.i[c], b.r[c], b.i[c]);
        half_y<LOOK>(bonds & 2u << c, t, m, b.r[c], b.i[c], xr, xi);
    }
}

// The bond of a warp's outermost row with one of the next warp; `ends`: the grid ends there
template <int LOOK> __device__ __forceinline__ void outer_y(u32 bonds, bool ends, real t, real m, Row &a, const Row &partner) {
    if (!LOOK && ends) {
#pragma unroll
        for (int c = 0; c < C; c++) grow(m, a.r[c], a.i[c]);
        return;
    }
#pragma unroll
    for (int c = 0; c < C; c++) half_y<LOOK>(bonds & 2u << c, t, m, a.r[c], a.i[c], partner.r[c], partner.i[c]);
}

// A number on an axis brought into the grid
__device__ __forceinline__ int within(int n, int sites, bool periodic) {
    if (!periodic) return n;
    n %= sites;
    return n < 0 ? n + sites : n;
}

// Where the tile of a block begins along an axis, and what it writes there
struct Part { int start, from, to; };

// `unit` sites, of which boundaries are multiples, are never divided.
__device__ __forceinline__ Part part_of(int block, int blocks, int sites, bool periodic, int length, int halo, int unit) {
    const int core = length - 2 * halo, before = periodic ? 0 : halo;
    const int last = max(0, (sites - length + unit - 1) / unit * unit);
    Part part;
    part.start = periodic ? block * core - halo : min(block * core, last);
    part.from = block > 0 ? block * core + before : 0;
    part.to = block + 1 < blocks ? (block + 1) * core + before : sites;
    return part;
}

// A warp of a tile
struct Warp {
    Part across, along;
    int x, y;         // the first column of its lane, its first row
    u32 open[ROWS / 2];  // open sites of pairs of rows, as trotter_fused.cu has them
    u32 below, above; // and of the rows next to its own
    Edges e;
    bool bottom, top; // the grid ends below its first row, above its last
    const char *phases;
    char *edges;      // its first and its last row, after them those of the next warp
};

__device__ __forceinline__ void weigh(real (&d)[C], const real *w) {
#pragma unroll
    for (int c = 0; c < C; c++) d[c] = times(d[c], __ldg(w + c));
}

// What a lane has of the regions
struct Summed {
    long long *sums;  // 32 (count s + k): of region k after sub-step s
    u32 columns;      // bit COLUMNS k + c: column c is one of region k
    u32 some;         // bit k: the warp writes some of region k
    real most;        // the largest number of units that was added
};

__device__ __forceinline__ Summed regions_of(const Regions &q, const Warp &w, long long *sums) {
    Summed own = {sums, 0, 0, 0};
    for (int k = 0; k < q.count; k++) {
        const int x0 = max(q.x0[k], w.across.from), x1 = min(q.x1[k], w.across.to);
        u32 columns = 0;
        for (int c = 0; c < C; c++)
            if (w.x + c >= x0 && w.x + c < x1) columns |= 1u << c;
        const bool rows = max(w.y, max(q.y0[k], w.along.from)) < min(w.y + ROWS, min(q.y1[k], w.along.to));
        own.columns |= columns << (C * k);
        own.some |= (u32)(__any_sync(0xffffffffu, columns != 0) && rows) << k;
    }
    return own;
}

// Adds up, or takes the largest of, what a lane writes of region k after sub-step s
__device__ __forceinline__ void sum_region(const Row (&a)[ROWS], const Fused &p, const Regions &q, const Warp &w, Summed &own, int k, int s) {
    const int y0 = max(q.y0[k], w.along.from), y1 = min(q.y1[k], w.along.to);
    const u32 columns = own.columns >> (C * k) & ((1u << C) - 1);
    const bool peak = q.peaks >> k & 1;
    const real scale = (real)q.scale;
    long long part = 0;
#pragma unroll
    for (int r = 0; r < ROWS; r += 2) {
        const int y = w.y + r;
        const bool in_a = y >= y0 && y < y1, in_b = y + 1 >= y0 && y + 1 < y1;
        if (!in_a && !in_b) continue;
        real da[C], db[C];
#pragma unroll
        for (int c = 0; c < C; c++) {
            da[c] = fused(a[r].r[c], a[r].r[c], times(a[r].i[c], a[r].i[c]));
            db[c] = fused(a[r + 1].r[c], a[r + 1].r[c], times(a[r + 1].i[c], a[r + 1].i[c]));
        }
        if (q.weights && columns) {
            const real *weights = q.weights + (size_t)y * p.pitch + w.x;
            weigh(da, weights);
            if (y + 1 < p.ny) weigh(db, weights + p.pitch);
        }
        const u32 from_a = in_a ? columns : 0, from_b = in_b ? columns : 0;
        if (peak) {
            part = max(part, in_order(peak_of_cell(da, db, from_a, from_b)));
        } else {
            const real units = times(sum_of_cell(da, db, from_a, from_b), scale);
            own.most = larger(own.most, units);
            part += rounded(units);
        }
    }
    own.sums[32 * (s * q.count + k)] = part;
}

// Hands on what the lanes of a warp have summed, a lane a sum
__device__ __forceinline__ void add_sums(const Regions &q, const Summed &own, int steps) {
    __syncwarp();
    const int lane = threadIdx.x & 31;
    // Sums of as many as a warp sees stay below 2^63.
    const bool large = __any_sync(0xffffffffu, too_large(own.most));
    for (int n = lane; n < steps * q.count; n += 32) {
        const int s = n / q.count, k = n % q.count;
        if (!(q.ends >> s & 1) || !(own.some >> k & 1)) continue;
        const bool peak = q.peaks >> k & 1;
        long long sum = 0;
        for (int from = 0; from < 32; from++) {
            const long long part = own.sums[32 * n - lane + (from + lane) % 32];
            sum = peak ? max(sum, part) : sum + part;
        }
        unsigned long long *const to = total_of(q, s, k);
        add_to_total(q, k, to, sum);
        if (large && !peak) atomicOr(to + 1, 1ull);
    }
}

// Copies what boxes have of the sites that a warp writes after sub-step s
__device__ __forceinline__ void copy_boxes(const Row (&a)[ROWS], const Regions &q, const Warp &w, int s) {
    const int x0 = max(w.across.start, w.across.from), x1 = min(w.across.start + WIDTH, w.across.to);
    const int y0 = max(w.y, w.along.from), y1 = min(w.y + ROWS, w.along.to);
#pragma unroll 1
    for (int from = 0; from < q.box_count; from += 32) {
        u32 hits = boxes_in(q, from, x0, x1, y0, y1, 0, 1);
#pragma unroll 1
        while (hits) {
            const Box box = q.boxes[from + __ffs(hits) - 1];
            hits &= hits - 1;
            if (w.x < x0 || w.x >= x1) continue;
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                if (w.y + r >= y0 && w.y + r < y1) copy_row(q, box, s, w.x, w.y + r, 0, a[r].r, a[r].i);
        }
    }
}

template <int LOOK, bool RECORDS> __device__ __forceinline__ void steps_of_warp(Row (&a)[ROWS], const Fused &p, const Regions &q, const Warp &w, Summed &own, int steps) {
    const int warp = threadIdx.x >> 5;
    auto open = [&](int r) { return LOOK ? w.open[r / 2] >> (r & 1 ? 16 : 0) & 0xffff : 0u; };
    auto gauge_of = [&](int r) { return gauge(p, FLUX ? within(w.y + r, p.ny, p.periodic_y) : 0); };
#pragma unroll 1
    for (int s = 0; s < steps; s++) {
#pragma unroll
        for (int r = 0; r < ROWS; r++) before_y<LOOK>(a[r], p, open(r), w.e, gauge_of(r));
#pragma unroll
        for (int r = 0; r < ROWS; r += 2) pair_y<LOOK>(open(r) & open(r + 1), p.t[0], p.m[0], a[r], a[r + 1]);
        // Two sets in turn: a warp may be a step ahead of its neighbours' reading.
        char *const mine = w.edges + (s & 1) * 2 * TILE_WARPS * TILE_SLOT;
        put(mine, a[0]);
        put(mine + TILE_SLOT, a[ROWS - 1]);
        __syncthreads();
#pragma unroll
        for (int r = 1; r < ROWS - 1; r += 2) pair_y<LOOK>(open(r) & open(r + 1), p.t[1], p.m[1], a[r], a[r + 1]);
        Row partner;
        if (warp > 0) {
            take(partner, mine - TILE_SLOT);
            outer_y<LOOK>(open(0) & w.below, w.bottom, p.t[1], p.m[1], a[0], partner);
        } else {
            outer_y<LOOK>(0, true, p.t[1], p.m[1], a[0], a[0]);
        }
        if (warp < TILE_WARPS - 1) {
            take(partner, mine + 2 * TILE_SLOT);
            outer_y<LOOK>(open(ROWS - 1) & w.above, w.top, p.t[1], p.m[1], a[ROWS - 1], partner);
        } else {
            outer_y<LOOK>(0, true, p.t[1], p.m[1], a[ROWS - 1], a[ROWS - 1]);
        }
#pragma unroll
        for (int r = 0; r < ROWS; r += 2) pair_y<LOOK>(open(r) & open(r + 1), p.t[2], p.m[2], a[r], a[r + 1]);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            after_y<LOOK>(a[r], p, open(r), w.e, gauge_of(r));
            phase(a[r], w.phases + r * TILE_SLOT, p);
        }
        if (RECORDS && q.ends >> s & 1) {
#pragma unroll 1
            for (u32 some = own.some; some; some &= some - 1) sum_region(a, p, q, w, own, __ffs(some) - 1, s);
            copy_boxes(a, q, w, s);
        }
    }
}

// Steps of the tile of a block
template <bool RECORDS> __device__ __forceinline__ void steps_of_tile(const Fused &p, const Regions &q, int steps) {
    extern __shared__ __align__(16) char shared[];
    const u32 all = 0xffffffffu;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    char *const edges = shared, *const phases = shared + 4 * TILE_WARPS * TILE_SLOT + warp * ROWS * TILE_SLOT;
    u32 *const words = (u32 *)(shared + (4 + ROWS) * TILE_WARPS * TILE_SLOT) + lane;

    Warp w;
    w.across = part_of(blockIdx.x, gridDim.x, p.nx, p.periodic_x, WIDTH, (2 * steps + C - 1) / C * C, C);
    w.along = part_of(blockIdx.y, gridDim.y, p.ny, p.periodic_y, HEIGHT, 2 * steps, 2);
    w.x = w.across.start + lane * C, w.y = w.along.start + warp * ROWS;
    const int at_x = within(w.x, p.nx, p.periodic_x);
    const bool inside = at_x >= 0 && at_x < p.nx;
    w.e.left = !p.periodic_x && w.x == 0, w.e.right = !p.periodic_x && w.x + C == p.nx;
    w.e.any = __any_sync(all, w.e.left || w.e.right);
    w.bottom = !p.periodic_y && w.y == 0, w.top = !p.periodic_y && w.y + ROWS == p.ny;
    w.phases = phases + lane * BYTES;
    w.edges = edges + 2 * warp * TILE_SLOT + lane * BYTES;
    // open sites: bit 0 is the left neighbour, bit C + 1 the right one; the second row 16 bits higher
    u32 full = 0;
#pragma unroll
    for (int c = 0; c < C; c++)
        if (inside && at_x + c < p.nx) full |= 1u << (c + 1);
    const u32 whole = ((1u << C) - 1) * 2;

    Row a[ROWS];
    bool closed = false;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int y = within(w.y + r, p.ny, p.periodic_y);
        const bool in = inside && y >= 0 && y < p.ny;
        const u32 at = in ? (u32)y * p.pitch + at_x : 0;
        char *const to = phases + r * TILE_SLOT + lane * BYTES;
#pragma unroll
        for (int k = 0; k < CHUNKS; k++) {
            copy_async(shared_address(to + k * PART), p.pc + at + k * LANES, in);
            copy_async(shared_address(to + (CHUNKS + k) * PART), p.ps + at + k * LANES, in);
            *(vec *)(a[r].r + k * LANES) = in ? *(const vec *)(p.re + at + k * LANES) : vec();
            *(vec *)(a[r].i + k * LANES) = in ? *(const vec *)(p.im + at + k * LANES) : vec();
        }
        u32 word = in ? full : 0;
        if (p.wall && in) {
            const Bytes<C>::type bytes = *(const Bytes<C>::type *)(p.wall + at);
#pragma unroll
            for (int c = 0; c < C; c++) word &= ~((u32)((bytes >> (8 * c) & 1) != 0) << (c + 1));
        }
        closed |= inside && word != whole;
        u32 left = __shfl_up_sync(all, word, 1), right = __shfl_down_sync(all, word, 1);
        left = lane == 0 ? 0 : left, right = lane == 31 ? 0 : right;
        word |= (left >> C & 1) | (right & 2) << C;
        if (r == 0) words[64 * warp] = word;
        if (r == ROWS - 1) words[64 * warp + 32] = word;
        w.open[r / 2] = r & 1 ? w.open[r / 2] | word << 16 : word;
    }
    asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    w.below = warp > 0 ? words[64 * warp - 32] : 0;
    w.above = warp < TILE_WARPS - 1 ? words[64 * warp + 64] : 0;
    // Rows beyond the ends of the grid do not count: what ends there is known.
    closed |= inside && ((warp > 0 && !w.bottom && (w.below & whole) != whole) || (warp < TILE_WARPS - 1 && !w.top && (w.above & whole) != whole));
    // Behind the words of all warps
    long long *const sums = (long long *)(shared + ((4 + ROWS) * TILE_SLOT + 256) * TILE_WARPS) + warp * steps * q.count * 32 + lane;
    Summed own = {};
    if (RECORDS) own = regions_of(q, w, sums);
    if (__any_sync(all, closed))
        steps_of_warp<SKIPPING, RECORDS>(a, p, q, w, own, steps);
    else
        steps_of_warp<PLAIN, RECORDS>(a, p, q, w, own, steps);
    if (RECORDS) add_sums(q, own, steps);

    if (w.x < w.across.from || w.x >= w.across.to) return;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int y = w.y + r;
        if (y < w.along.from || y >= w.along.to) continue;
        const u32 at = (u32)y * p.pitch + w.x;
#pragma unroll
        for (int k = 0; k < CHUNKS; k++) {
            *(vec *)(p.re_out + at + k * LANES) = *(vec *)(a[r].r + k * LANES);
            *(vec *)(p.im_out + at + k * LANES) = *(vec *)(a[r].i + k * LANES);
        }
    }
}

extern "C" __global__ void __launch_bounds__(32 * TILE_WARPS, BLOCKS) tile_steps(const __grid_constant__ Fused p, int steps) {
    steps_of_tile<false>(p, Regions{}, steps);
}
extern "C" __global__ void __launch_bounds__(32 * TILE_WARPS, RECORD_BLOCKS) recording_tiles(const __grid_constant__ Fused p, const __grid_constant__ Regions q, int steps) {
    steps_of_tile<true>(p, q, steps);
}
