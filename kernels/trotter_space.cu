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
// Where bonds differ from one another (OWN) the second body reads what each of them does: trotter_space_own.cuh.
//
// `summing_steps` sums |psi|^2 over regions after steps and copies boxes. Compile with -DREAL, -DCOLUMNS, -DSTEPS.
#include "trotter_space.cuh"
#include "trotter_sums.cuh"
#if OWN
#include "trotter_space_own.cuh"
#else
struct Own {};  // none
typedef Sides Ends;
#endif

// A stage up to its z sweeps
template <bool MASKED> __device__ __forceinline__ void in_planes(Part &a, Part &b, const Space &p, u32 open, const Sides &e, char *rim, int warp) {
#pragma unroll
    for (int r = 0; r < R; r++) {
        even_x(a.row[r], p.t[0]), odd_x(a.row[r], p.t[1], e), even_x(a.row[r], p.t[2]);
        even_x(b.row[r], p.t[0]), odd_x(b.row[r], p.t[1], e), even_x(b.row[r], p.t[2]);
    }
    even_y<MASKED>(a, p.t[0], p.m[0], open);
    even_y<MASKED>(b, p.t[0], p.m[0], open);
    exchange(a, b, rim);
    odd_y<MASKED>(a, p.t[1], p.m[1], open, rim, 0, warp > 0, warp < WARPS - 1);
    odd_y<MASKED>(b, p.t[1], p.m[1], open, rim, 1, warp > 0, warp < WARPS - 1);
    even_y<MASKED>(a, p.t[2], p.m[2], open);
    even_y<MASKED>(b, p.t[2], p.m[2], open);
}

// What a lane has summed
struct Summed {
    long long sums[STEPS][REGIONS];
    int x, y;           // its first column and the warp's first row
    u32 columns;        // bit COLUMNS k + c: column c is one of region k
    u32 rows;           // rows that the lane writes
    volatile const int *span;  // pairs of planes that the block writes, from and to
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
    if (j < own.span[0] || j >= own.span[1] || !(own.columns & 0xffff)) return;
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
__device__ __forceinline__ void pipeline(Part &a, Part &b, Part (&u)[STEPS], Part (&v)[STEPS], const Space &p, const Own &o, int j, const Place &place,
                                         const Ends &e, char *rim, int warp, const char *ring, int slot, const Regions &q, Summed &own, int strip, u32 marks) {
#pragma unroll
    for (int s = 0; s < N; s++) {
#if OWN
        own_sweeps<MASKED>(a, b, u[s], v[s], o, p, place, j - s, e, warp, rim);
#else
        in_planes<MASKED>(a, b, p, place.open, e, rim, warp);
        int z[2];
        const u32 now = MASKED ? planes(p, j - s, z) : 3, before = MASKED ? planes(p, j - s - 1, z) : 3;
#pragma unroll
        for (int r = 0; r < R; r++) sweep_z<MASKED>(a.row[r], b.row[r], u[s].row[r], v[s].row[r], p, now, before);
#endif
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

template <bool SUMS> __device__ __forceinline__ void steps_of(const Space &p, const Own &o, const Regions &q) {
    extern __shared__ __align__(16) char shared[];
    __shared__ int begins[WARPS * ROWS];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    // Where the pairs begin and end, and the tile's first place among those of bonds, stay in shared memory: registers are full.
    __shared__ volatile int span[3];
    const int4 piece = p.pieces[blockIdx.x];
    const int strip = piece.x * CORE_X, bank = piece.y * CORE_Y, first = piece.z, last = piece.w;
    if (threadIdx.x == 0) {
        const int tile = piece.y * ((p.nx + CORE_X - 1) / CORE_X) + piece.x;
        span[0] = first, span[1] = last, span[2] = tile * ((p.nz + 1) / 2);
    }
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
#if OWN
    const Ends e = {left, right};
    // Where the bonds along z that most are like turn nothing, a site without partner is as any.
    const bool ends_z = !p.periodic[2] && (p.m[0] != 0 || p.m[1] != 0 || p.m[2] != 0);
    const int pairs = (p.nz + 1) / 2;
    u32 unlike = 0;
#else
    const Ends e = sides(left, right, p.t[1], p.m[1]);
    const bool ends_z = !p.periodic[2];
    const u32 unlike = 0;
#endif
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
    Summed own = {{}, x, low, 0, writes, span, 0};
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
    for (int j = first - N; j < span[1] + N; j++) {
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        Part a, b;
#pragma unroll
        for (int r = 0; r < R; r++) take(a.row[r], next + r * 2 * PART), take(b.row[r], next + (R + r) * 2 * PART);
        fetch(next, p.re, p.im, p, place, j + 1);
        asm volatile("cp.async.commit_group;" ::: "memory");
        if (SUMS && copies) marks = marks << 1 | (j >= span[0] && j < span[1] && some_box_in(q, strip, strip + CORE_X, low, low + R, 2 * j, 2 * j + 2));
#if OWN
        // of the pairs j - N to j
        const int pair = j >= 0 && j < pairs ? j : !p.periodic[2] ? -1 : j < 0 ? j + pairs : j - pairs;
        unlike = (unlike << 1 | (pair >= 0 && o.unlike[span[2] + pair])) & ((2u << N) - 1);
#endif
        // The ring holds the newest phases first at `slot`, then older ones.
        // With an interaction the phases are most of the work, and one body serves.
        if (INTERACTION || edge_y || unlike || (ends_z && (j <= N || 2 * j + 1 >= p.nz)))
            pipeline<true, SUMS>(a, b, u, v, p, o, j, place, e, rim, warp, ring, slot, q, own, strip, marks);
        else
            pipeline<false, SUMS>(a, b, u, v, p, o, j, place, e, rim, warp, ring, slot, q, own, strip, marks);
        // the phases of the pair that entered, over those that the last stage has had
        slot = slot == 0 ? N - 1 : slot - 1;
        fetch(ring + slot * PAIR, p.pc, p.ps, p, place, j);
        asm volatile("cp.async.commit_group;" ::: "memory");
        if (j - N < span[0]) continue;
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

#if OWN
extern "C" __global__ void __launch_bounds__(32 * WARPS) space_steps(const Space p, const __grid_constant__ Own o) { steps_of<false>(p, o, Regions{}); }
extern "C" __global__ void __launch_bounds__(32 * WARPS) summing_steps(const Space p, const __grid_constant__ Own o, const __grid_constant__ Regions q) { steps_of<true>(p, o, q); }
#else
extern "C" __global__ void __launch_bounds__(32 * WARPS) space_steps(const Space p) { steps_of<false>(p, Own{}, Regions{}); }
extern "C" __global__ void __launch_bounds__(32 * WARPS) summing_steps(const Space p, const __grid_constant__ Regions q) { steps_of<true>(p, Own{}, q); }
#endif
