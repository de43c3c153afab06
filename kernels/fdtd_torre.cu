// DiamondTorre: many steps of finite differences for sound in one launch, in three dimensions (Levchenko, Perepelkina & Zakirov 2016,
// doi:10.3390/computation4030029). REAL, HALF (the order), DTS (size of a diamond), CLUSTER (blocks along x) and SITES (a speed per site) are
// defined outside; BLOCK threads at most.
//
// Tile: with W = 2 H DTS, the cells (z, y) of a tower at step t = 1, 2, ... are z = A + H t + a, y = B + c with -1 <= a + c <= W - 2 and
// 0 <= a - c <= W - 1: a diamond of W^2/2 cells that moves by H along z each step. A = s W/2 and B = d W/2, d = s modulo 2. A tower (s, d) needs the
// towers (s + 1, d - 1) and (s + 1, d + 1), and nothing else; so towers are taken in the order of falling s from a counter, and each waits for
// the flags of those two. In place on two levels. The diamond is symmetric about y = B - 1/2, the mirror of a rigid edge: a tower
// that stands across such an edge computes the mirrored half as well and writes the same bits twice.
//
// A thread has one x. The 2 DTS steps of a period are straight-line code: every value of the diamond and of its rim is a register, and after a period the
// names have moved by W along z. Neighbours along x come from shared memory, those of other blocks are put there by them, step by step. What
// touches an edge along z, a wall, absorption, a source or a detector is done site by site on the device's memory instead, period by period.
//
// Traffic: 4/DTS words a site-step (rims), and 4 words at the base and top of a tower of so many steps; bound by registers: W^2 values and the rims.
#include "fdtd.cuh"

enum {
    H = HALF,
    W = 2 * H * DTS,
    TIERS = 2 * DTS,
    CELLS = W * W / 2,
    SPAN = BLOCK + 2 * H,
    NA = 2 * W + 2 * H,
    NB = W + 2 * H,
    LOW_A = -H,
    HIGH_A = W - 2 + H,
    LOW_C = -W / 2 - H,
    HIGH_C = W / 2 - 1 + H,
    RIM = H * H * (4 * DTS + 2),  // cells whose values enter each step
    FETCHES = (RIM + 31) / 32,
    AHEAD = H == 1 ? 2 : H == 3 ? 1 : 0  // measured; 0: at orders 4 and 8 the registers for it cost more than it gives
};

struct Torre {
    Step step;          // `now` and `old` are the levels at the start
    Sites sites;        // operations after each step
    const u8 *special;  // rows (y, z) that are not plain; null: none
    u32 *counter;       // the next tower, then a flag for each
    int periods;        // of the pass
    int first;          // the largest s
    int towers;         // all of them
    int even, odd;      // towers of a stage with even, odd s
    int plain;          // the medium holds nothing but a speed
    int step_of_batch;  // for `sites`
};

__device__ constexpr bool in_tile(int a, int c) { return a + c >= -1 && a + c <= W - 2 && a - c >= 0 && a - c <= W - 1; }
// Whether a stencil's arm of the diamond ends here: some k, |k| <= H, leads from here along z or along y into it. In closed form, which the compiler
// can see through before it unrolls loops.
__device__ constexpr int larger(int a, int b) { return a > b ? a : b; }
__device__ constexpr int smaller(int a, int b) { return a < b ? a : b; }
__device__ constexpr bool in_reach(int a, int c) {
    const int p = a + c, q = a - c, low = larger(-H, -1 - p), high = smaller(H, W - 2 - p);
    return larger(low, -q) <= smaller(high, W - 1 - q) || larger(low, q - W + 1) <= smaller(high, q);
}

// ---- the blocks along x ----

__device__ __forceinline__ u32 rank_of_block() {
#if CLUSTER > 1
    u32 rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
#else
    return 0;
#endif
}
__device__ __forceinline__ void arrive() {
#if CLUSTER > 1
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}
__device__ __forceinline__ void await() {
#if CLUSTER > 1
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
    __syncthreads();
#endif
}
__device__ __forceinline__ void meet() {
    arrive();
    await();
}
// The address of something in shared memory in another block
__device__ __forceinline__ u32 remote(const void *p, u32 rank) {
    u32 here = (u32)__cvta_generic_to_shared(p);
#if CLUSTER > 1
    u32 there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank));
    return there;
#else
    return here;
#endif
}
#if CLUSTER > 1
#define SPACE "shared::cluster"
#else
#define SPACE "shared"
#endif
__device__ __forceinline__ void put(u32 to, float value) { asm volatile("st." SPACE ".f32 [%0], %1;" ::"r"(to), "f"(value) : "memory"); }
__device__ __forceinline__ void put(u32 to, double value) { asm volatile("st." SPACE ".f64 [%0], %1;" ::"r"(to), "d"(value) : "memory"); }
__device__ __forceinline__ void put(u32 to, u32 value) { asm volatile("st." SPACE ".u32 [%0], %1;" ::"r"(to), "r"(value) : "memory"); }

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

// ---- site by site ----

__device__ __forceinline__ bool inside(const Grid &g, int &y, int z) {
    if (g.edge[1] == PERIODIC) {
        if (y < 0) y += g.size[1];
        if (y >= g.size[1]) y -= g.size[1];
    }
    return (u32)y < (u32)g.size[1] && (u32)z < (u32)g.size[2];
}

// The n-th cell of the diamond: W/2 cells for each sum a + c from -1 on
__device__ __forceinline__ void cell(int n, int &a, int &c) {
    const int sum = n / (W / 2) - 1, difference = 2 * (n % (W / 2)) + (sum & 1);
    a = (sum + difference) / 2, c = a - difference;
}

// Operations at sites of the diamond, which stands with a = c = 0 at (y, z)
__device__ void operate(const Torre &p, real *level, int y0, int z0, int x0, int x1, int step) {
    const Sites &o = p.sites;
    const Grid &g = p.step.grid;
    auto mine = [&](u32 place) {
        const int x = place % g.pitch, row = place / g.pitch, y = row % g.size[1], z = row / g.size[1];
        if (x < x0 || x >= x1) return false;
        int c = y - y0;
        if (g.edge[1] == PERIODIC) {
            if (c >= W / 2) c -= g.size[1];
            if (c < -W / 2) c += g.size[1];
        }
        return in_tile(z - z0, c);
    };
    const u32 begin = o.steps[step], end = o.steps[step + 1];
    for (u32 n = begin + threadIdx.x; n < end; n += blockDim.x) {
        const u32 place = o.places[n];
        if ((n > begin && o.places[n - 1] == place) || !mine(place)) continue;
        real value = __ldcg(level + place);
        for (u32 other = n; other < end && o.places[other] == place; other++) value = plus(value, o.values[other]);
        level[place] = value;
    }
    __syncthreads();
    for (int n = threadIdx.x; n < o.count; n += blockDim.x)
        if (mine(o.gathers[n])) o.record[(size_t)step * o.count + n] = __ldcg(level + o.gathers[n]);
}

// The steps of a period, site by site
__device__ __noinline__ void slow_period(const Torre &p, real *even, real *odd, int A, int B, int period, int x, int x0, int x1, u8 any) {
    const Grid &g = p.step.grid;
    for (int tier = 0; tier < TIERS; tier++) {
        const int t = period * TIERS + tier + 1, z0 = A + H * t;
        const real *now = tier & 1 ? odd : even;
        real *old = tier & 1 ? even : odd;
        enum { AT_ONCE = H == 1 ? 4 : 2 };
        if (x < x1 && p.plain) {
            for (int n = 0; n < CELLS; n += AT_ONCE) {
                real next[AT_ONCE];
                size_t place[AT_ONCE];
                bool in[AT_ONCE];
#pragma unroll
                for (int q = 0; q < AT_ONCE; q++) {
                    int a, c;
                    cell(n + q, a, c);
                    int y = B + c;
                    const int z = z0 + a;
                    in[q] = n + q < CELLS && inside(g, y, z);
                    const Site<H, true> site(p.step, now, old, x, in[q] ? y : 0, in[q] ? z : 0);
                    place[q] = site.place;
                    next[q] = site.plain();
                }
#pragma unroll
                for (int q = 0; q < AT_ONCE; q++)
                    if (in[q]) old[place[q]] = next[q];
            }
        } else if (x < x1) {
            for (int n = 0; n < CELLS; n++) {
                int a, c;
                cell(n, a, c);
                int y = B + c;
                const int z = z0 + a;
                if (inside(g, y, z)) Site<H, true>(p.step, now, old, x, y, z).advance();
            }
        }
        meet();
        if (any & 2) {
            operate(p, old, B, z0, x0, x1, p.step_of_batch + t - 1);
            meet();
        }
    }
}

// 0: all plain, 2: operations, 1: something else that is not plain
__device__ __forceinline__ u8 special_of(const Torre &p, int A, int B, int period) {
    if (!p.special) return 0;
    const Grid &g = p.step.grid;
    const int z0 = A + H * (period * TIERS + 1);
    enum { DEEP = W - 1 + H * (TIERS - 1) };
    u8 found = 0;
    for (int n = threadIdx.x; n < DEEP * W; n += blockDim.x) {
        int y = B - W / 2 + n % W;
        const int z = z0 + n / W;
        if (inside(g, y, z)) found |= p.special[(size_t)z * g.size[1] + y];
    }
    return (u8)((__syncthreads_or(found & 1) ? 1 : 0) | (__syncthreads_or(found & 2) ? 2 : 0));
}

// How a period is done: inside the grid by straight-line code, across a rigid edge along z by the same with mirrors, otherwise site by site
enum { INSIDE, ACROSS, BY_SITES, OUTSIDE };
__device__ __forceinline__ int way_of(const Torre &p, int A, int B, int period) {
    const Grid &g = p.step.grid;
    const int ny = g.size[1], nz = g.size[2], low = A + H * period * TIERS, high = A + H * (period + 1) * TIERS + W - 2;
    if (low + H >= nz || high < 0) return OUTSIDE;
    const bool mirrors = B + LOW_C >= 0 || g.edge[1] == RIGID;
    const bool fits = g.edge[1] == PERIODIC || (mirrors && (B + HIGH_C < ny || (g.edge[1] == RIGID && ny % (W / 2) == 0)));
    if (!fits) return BY_SITES;
    if (low >= 0 && high + H < nz) return INSIDE;
    return g.edge[2] == RIGID && nz >= W ? ACROSS : BY_SITES;
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
                real sum = times((real)(6 * coefficient(H, 0)), here);
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
                    sum = fused((real)coefficient(H, k), pairs, sum);
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

// ---- towers ----

__device__ __forceinline__ int tower_of(const Torre &p, int s, int d) {
    const int k = p.first - s, first = p.first & 1 ? p.odd : p.even;
    return k / 2 * (p.even + p.odd) + (k & 1 ? first : 0) + d / 2;
}

__device__ __forceinline__ void wait_for(const Torre &p, int s, int d) {
    const int count = s & 1 ? p.odd : p.even, both = p.even + p.odd;
    if (s > p.first) return;
    if (p.step.grid.edge[1] == PERIODIC) d = (d + both) % both;
    if (d < 0 || d / 2 >= count) return;
    const u32 *flag = p.counter + 1 + tower_of(p, s, d);
    u32 done;
    do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(done) : "l"(flag) : "memory");
    while (!done);
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
    while (true) {
        if (rank == 0 && threadIdx.x == 0) {
            const u32 next = atomicAdd(p.counter, 1);
            for (int r = 0; r < CLUSTER; r++) put(remote(&ticket, r), next);
        }
        meet();
        const int tower = ticket;
        if (tower >= p.towers) break;
        const int both = p.even + p.odd, first = p.first & 1 ? p.odd : p.even, rest = tower % both;
        const int s = p.first - 2 * (tower / both) - (rest >= first ? 1 : 0);
        const int d = 2 * (rest >= first ? rest - first : rest) + (s & 1);
        if (threadIdx.x == 0) wait_for(p, s + 1, d - 1), wait_for(p, s + 1, d + 1);
        meet();
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
                if (way != OUTSIDE) slow_period(p, even, odd, A, B, period, x, x0, x1, special);
                period++;
            }
        }
        meet();
        if (rank == 0 && threadIdx.x == 0) {
            __threadfence();
            asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(p.counter + 1 + tower), "r"(1u) : "memory");
        }
    }
}

// Before a pass
extern "C" __global__ void begin(u32 *counter, int count) {
    for (int n = blockIdx.x * blockDim.x + threadIdx.x; n < count; n += gridDim.x * blockDim.x) counter[n] = 0;
}
