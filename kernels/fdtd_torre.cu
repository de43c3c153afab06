// DiamondTorre: many steps of finite differences for sound in one launch, in three dimensions (Levchenko, Perepelkina & Zakirov 2016,
// doi:10.3390/computation4030029). REAL, HALF (the order), DTS (size of a diamond), CLUSTER (blocks along x) and SITES (a speed per site) are
// defined outside; BLOCK threads at most.
//
// fdtd_towers.cuh has the tile. A thread has one x. The 2 DTS steps of a period are straight-line code: every value of the diamond and of its rim is a register, and after a period the
// names have moved by W along z. Neighbours along x come from shared memory, those of other blocks are put there by them, step by step. What
// touches an edge along z, a wall, absorption, a source or a detector is done site by site on the device's memory instead, period by period.
//
// Traffic: 4/DTS words a site-step (rims), and 4 words at the base and top of a tower of so many steps; bound by registers: W^2 values and the rims.
#include "fdtd_towers.cuh"

enum {
    SPAN = BLOCK + 2 * H,
    NA = 2 * W + 2 * H,
    NB = W + 2 * H,
    LOW_A = -H,
    HIGH_A = W - 2 + H,
    FETCHES = (RIM + 31) / 32,
    AHEAD = H == 1 ? 2 : H == 3 ? 1 : 0  // measured; 0: at orders 4 and 8 the registers for it cost more than it gives
};

// Whether a stencil's arm of the diamond ends here: some k, |k| <= H, leads from here along z or along y into it. In closed form, which the compiler
// can see through before it unrolls loops.
__device__ constexpr int larger(int a, int b) { return a > b ? a : b; }
__device__ constexpr int smaller(int a, int b) { return a < b ? a : b; }
__device__ constexpr bool in_reach(int a, int c) {
    const int p = a + c, q = a - c, low = larger(-H, -1 - p), high = smaller(H, W - 2 - p);
    return larger(low, -q) <= smaller(high, W - 1 - q) || larger(low, q - W + 1) <= smaller(high, q);
}

// A neighbour is told that the values at an end have been put there; who needs them waits. Blocks along x stay within a step of each other, and no
// more of a block than its outermost threads wait for its neighbours.
__device__ __forceinline__ void tell(u32 barrier) {
#if CLUSTER > 1
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
#endif
}
__device__ __forceinline__ void hear(u32 barrier, u32 phase) {
#if CLUSTER > 1
    u32 done;
    do
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done)
                     : "r"(barrier), "r"(phase)
                     : "memory");
    while (!done);
#endif
}

// What the warp at an end of the block does each step: the values of the H outermost threads go to a neighbour's rim as well, or to a mirror's
struct End {
    u32 to;        // where the outermost goes, 0: nowhere
    u32 sent;      // the neighbour's barriers (of even and odd steps) that say so, 0: none
    u32 awaited;   // the own barriers that say that the neighbour's values are there
    int first;     // slot of the outermost thread
    int count;     // how many
    bool mirror, negate;
};

__device__ __forceinline__ End end_of(const Torre &p, const real *shared, const unsigned long long *barriers, int local, u32 rank, bool left) {
    const int edge = p.step.grid.edge[0];
    End end = {0, 0, 0, H + (left ? 0 : local - 1), H, false, false};
    if ((int)threadIdx.x / 32 != (left ? 0 : (local - 1) / 32)) return end;
    if (edge == PERIODIC || (left ? rank > 0 : rank + 1 < CLUSTER)) {
        const u32 there = left ? (rank + CLUSTER - 1) % CLUSTER : (rank + 1) % CLUSTER;
        // All blocks but the last are full.
        const int full = there + 1 == CLUSTER ? p.step.grid.size[0] - (CLUSTER - 1) * blockDim.x : blockDim.x;
        end.to = remote(shared + (left ? H + full : H - 1), there);
        if (CLUSTER > 1) {
            // Barriers 0 and 1 are of the left end, 2 and 3 of the right one.
            end.sent = remote(barriers + (left ? 2 : 0), there);
            end.awaited = (u32)__cvta_generic_to_shared(barriers + (left ? 0 : 2));
        }
        return end;
    }
    const int away = edge == SOFT ? 2 : 1;
    end.to = remote(shared + (left ? H - away : H + local - 1 + away), rank);
    end.count = H + 1 - away;
    end.mirror = true, end.negate = edge == SOFT;
    return end;
}

// One warp copies an end of all cells: a lane a cell
__device__ __forceinline__ void publish(const End &end, const real *slots, int parity, bool left) {
    if (!end.to) return;
    __syncwarp();
    // A neighbour's rim goes on in the same direction, a mirror's images go the other way.
    const int step = (int)sizeof(real) * (end.mirror == left ? -1 : 1);
    for (int n = threadIdx.x % 32; n < CELLS; n += 32)
#pragma unroll
        for (int d = 0; d < H; d++) {
            if (d >= end.count) break;
            const real value = slots[n * SPAN + end.first + (left ? d : -d)];
            put(end.to + (u32)((parity * CELLS + n) * SPAN * sizeof(real)) + d * step, end.negate ? -value : value);
        }
    if (end.sent) {
        __syncwarp();
        if (threadIdx.x % 32 == 0) tell(end.sent + 8 * parity);
    }
}

// ---- straight-line code ----

struct Tile {
    real v[2][NA][NB];
#if SITES
    real squares[NA][NB];
#endif
};

#define FOR_REACH                                   \
    _Pragma("unroll") for (int a = LOW_A; a <= HIGH_A; a++) \
        _Pragma("unroll") for (int c = LOW_C; c <= HIGH_C; c++)
#define V(level, a, c) tile.v[level][(a) + H][(c) - LOW_C]
#define S(a, c) tile.squares[(a) + H][(c) - LOW_C]

// Periods from `period` on as long as they go the same WAY; returns the first that does not
template <int WAY>
__device__ __forceinline__ int fast_periods(const Torre &p, real *shared, const End left, const End right, u32 &phase, real *even, real *odd, int A, int B, int period, int x,
                                            bool mine) {
    const Grid &g = p.step.grid;
    const int ny = g.size[1], loaded = min(x, g.size[0] - 1);
    int plane = g.pitch * ny;
    int rows[NB];
#pragma unroll
    for (int n = 0; n < NB; n++) {
        int y = B + LOW_C + n;
        if (y < 0) y = g.edge[1] == PERIODIC ? y + ny : -1 - y;
        if (y >= ny) y = g.edge[1] == PERIODIC ? y - ny : 2 * ny - 1 - y;
        rows[n] = y * g.pitch + loaded;
    }
    int base = A + H * (period * TIERS + 1);  // z of a = 0 in the first step of the period
    const int nz = g.size[2];
    // Wraps where it is below the grid; no such place is used.
    const size_t start = (size_t)(long long)base * plane;
    real *level[2] = {even + start, odd + start};
    Tile tile;
#if SITES
    const real *squares = p.step.medium.squares + start;
#endif
    // Planes outside the grid are not read: what stands for them is never used.
    auto place = [&](int a, int c) { return (WAY == ACROSS ? min(max(a, -base), nz - 1 - base) : a) * plane + rows[c - LOW_C]; };
    auto from = [&](int l, int a, int c) { return __ldcg(level[l] + place(a, c)); };
    auto save = [&](int l, int a, int c, real value) {
        if (mine && (WAY == INSIDE || (u32)(base + a) < (u32)nz)) level[l][a * plane + rows[c - LOW_C]] = value;
    };
    FOR_REACH {
        if (in_reach(a, c)) V(0, a, c) = from(0, a, c);
        if (in_tile(a, c)) V(1, a, c) = from(1, a, c);
#if SITES
        if (in_tile(a, c)) S(a, c) = __ldg(squares + place(a, c));
#endif
    }
    // One step hides what a rim costs that stands in the second-level cache, but not what it costs from memory: rims are brought into that cache
    // AHEAD of the step before theirs, a row of 32 columns a lane.
    const int lane = threadIdx.x & 31;
    int ahead[FETCHES] = {};
    int number = 0;
    if (AHEAD) FOR_REACH if (in_reach(a, c) && !in_tile(a + H, c)) {
        if (lane == number % 32) ahead[number / 32] = (a + H * (1 + AHEAD)) * plane + rows[c - LOW_C] - loaded + min(x - lane, g.size[0] - 1);
        number++;
    }
    bool more;
    const real square = p.step.medium.square;
    do {
        // Places are computed where they are used: kept from period to period they would fill the registers.
        asm volatile("" : "+r"(plane));
        more = period + 1 < p.periods && way_of(p, A, B, period + 1) == WAY && !special_of(p, A, B, period + 1);
#pragma unroll
        for (int tier = 0; tier < TIERS; tier++) {
            const int now = tier & 1, old = 1 - now, shift = H * tier;
            real *slots = shared + (tier & 1) * (CELLS * SPAN);
            int n = 0;
            FOR_REACH if (in_tile(a, c)) {
                if (mine) slots[n * SPAN + H + threadIdx.x] = V(now, a + shift, c);
                n++;
            }
            publish(left, slots, tier & 1, true);
            publish(right, slots, tier & 1, false);
            __syncthreads();
            // The rim of the next step, of the level that this one writes elsewhere
            if (tier + 1 < TIERS || more) {
                FOR_REACH if (in_reach(a, c) && !in_tile(a + H, c)) V(old, a + shift + H, c) = from(old, a + shift + H, c);
#if SITES
                FOR_REACH if (in_tile(a, c) && !in_tile(a + H, c)) S(a + shift + H, c) = __ldg(squares + place(a + shift + H, c));
#endif
            }
            if (AHEAD && (tier + 1 + AHEAD < TIERS || more))
#pragma unroll
                for (int f = 0; f < FETCHES; f++)
                    if (32 * f + lane < RIM) asm volatile("prefetch.global.L2 [%0];" ::"l"(level[AHEAD & 1 ? now : old] + (ahead[f] + shift * plane)));
            if (left.awaited) hear(left.awaited + 8 * (tier & 1), phase);
            if (right.awaited) hear(right.awaited + 8 * (tier & 1), phase);
            n = 0;
            FOR_REACH if (in_tile(a, c)) {
                const real *own = slots + n * SPAN + H + threadIdx.x;
                const real here = V(now, a + shift, c);
                const real level = times((real)6, here);
                real sum = 0;
#pragma unroll
                for (int k = 1; k <= H; k++) {
                    real pairs = plus(own[-k], own[k]);
                    pairs = plus(pairs, plus(V(now, a + shift, c - k), V(now, a + shift, c + k)));
                    real below = V(now, a + shift - k, c), above = V(now, a + shift + k, c);
                    if (WAY == ACROSS) {
                        // Even mirrors half a spacing outside the first and the last plane
#pragma unroll
                        for (int e = 0; e < H; e++) {
                            if (e >= k) continue;
                            if (base + a + shift == e) below = V(now, a + shift + k - 2 * e - 1, c);
                            if (nz - 1 - (base + a + shift) == e) above = V(now, a + shift - k + 2 * e + 1, c);
                        }
                    }
                    pairs = plus(pairs, plus(below, above));
                    sum = term<H>(k, pairs, level, sum);
                }
#if SITES
                const real factor = S(a + shift, c);
#else
                const real factor = square;
#endif
                V(old, a + shift, c) = plus(here, fused(factor, sum, minus(here, V(old, a + shift, c))));
                n++;
            }
            FOR_REACH if (in_tile(a, c) && !in_tile(a - 2 * H, c)) save(old, a + shift, c, V(old, a + shift, c));
            if (tier & 1) phase ^= 1;
        }
        level[0] += (size_t)W * plane, level[1] += (size_t)W * plane, base += W;
#if SITES
        squares += (size_t)W * plane;
#endif
#pragma unroll
        for (int a = 0; a < NA - W; a++)
#pragma unroll
            for (int c = 0; c < NB; c++) {
                tile.v[0][a][c] = tile.v[0][a + W][c];
                tile.v[1][a][c] = tile.v[1][a + W][c];
#if SITES
                tile.squares[a][c] = tile.squares[a + W][c];
#endif
            }
        period++;
    } while (more);
    // What the next step would still have had in registers
    FOR_REACH {
        if (in_tile(a + H, c) && in_tile(a - H, c)) save(0, a, c, V(0, a, c));
        if (in_tile(a + 2 * H, c) && in_tile(a, c)) save(1, a, c, V(1, a, c));
    }
    meet();
    return period;
}

extern __shared__ double room[];

extern "C" __global__ void __launch_bounds__(BLOCK, 1)
#if CLUSTER > 1
    __cluster_dims__(CLUSTER, 1, 1)
#endif
        torre(const __grid_constant__ Torre p) {
    __shared__ u32 ticket;
    real *shared = (real *)room;
    const Grid &g = p.step.grid;
    const u32 rank = rank_of_block();
    const int x0 = rank * blockDim.x, x1 = min(x0 + (int)blockDim.x, g.size[0]), x = x0 + threadIdx.x, local = x1 - x0;
#if CLUSTER > 1
    __shared__ unsigned long long barriers[4];
    if (threadIdx.x < 4)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"((u32)__cvta_generic_to_shared(barriers + threadIdx.x)), "r"(1u) : "memory");
#else
    unsigned long long *const barriers = nullptr;
#endif
    const End left = end_of(p, shared, barriers, local, rank, true), right = end_of(p, shared, barriers, local, rank, false);
    u32 phase = 0;
    // The zeros outside soft edges
    for (int n = threadIdx.x; n < 2 * CELLS; n += blockDim.x) shared[n * SPAN + H - 1] = shared[n * SPAN + H + local] = 0;
    real *even = (real *)p.step.now, *odd = p.step.old;
    int tower, s, d;
    while (next_tower(p, ticket, rank, tower, s, d)) {
        const int A = s * (W / 2), B = d * (W / 2);
        int period = 0;
        while (period < p.periods) {
            const u8 special = special_of(p, A, B, period);
            const int way = way_of(p, A, B, period);
            if (way == INSIDE && !special)
                period = fast_periods<INSIDE>(p, shared, left, right, phase, even, odd, A, B, period, x, x < x1);
            else if (way == ACROSS && !special)
                period = fast_periods<ACROSS>(p, shared, left, right, phase, even, odd, A, B, period, x, x < x1);
            else {
                if (way != OUTSIDE) slow_period(p, even, odd, A, B, period, x, x0, x1, 0, 1, special);
                period++;
            }
        }
        finish_tower(p, rank, tower);
    }
}
