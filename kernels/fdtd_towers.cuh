// What the kernels of DiamondTorre share: the diamond, the order of towers, blocks along x, and steps site by site.
//
// Tile: with W = 2 H DTS, the cells (z, y) of a tower at step t = 1, 2, ... are z = A + H t + a, y = B + c with -1 <= a + c <= W - 2 and
// 0 <= a - c <= W - 1: a diamond of W^2/2 cells that moves by H along z each step. A = s W/2 and B = d W/2, d = s modulo 2. A tower (s, d) needs the
// towers (s + 1, d - 1) and (s + 1, d + 1), and nothing else; so towers are taken in the order of falling s from a counter, and each waits for
// the flags of those two. In place on two levels. The diamond is symmetric about y = B - 1/2, the mirror of a rigid edge: a tower
// that stands across such an edge computes the mirrored half as well and writes the same bits twice.
//
// HALF (the order), DTS (size of a diamond) and CLUSTER (blocks along x) are defined outside.
#pragma once
#include "fdtd.cuh"

enum {
    H = HALF,
    W = 2 * H * DTS,
    TIERS = 2 * DTS,
    CELLS = W * W / 2,
    LOW_C = -W / 2 - H,
    HIGH_C = W / 2 - 1 + H,
    RIM = H * H * (4 * DTS + 2)  // cells whose values enter each step
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
    const Additions a(o, step);
    for (u32 n = a.begin + threadIdx.x; n < a.end; n += blockDim.x) {
        const u32 place = o.places[n];
        if ((n > a.begin && o.places[n - 1] == place) || !mine(place)) continue;
        real value = __ldcg(level + place);
        for (u32 other = n; other < a.end && o.places[other] == place; other++) value = plus(value, a.values[other]);
        level[place] = value;
    }
    __syncthreads();
    for (int n = threadIdx.x; n < o.count; n += blockDim.x)
        if (mine(o.gathers[n])) o.record[(size_t)step * o.count + n] = __ldcg(level + o.gathers[n]);
}

// The steps of a period, site by site: one of `groups` groups of threads does each cell
__device__ __noinline__ void slow_period(const Torre &p, real *even, real *odd, int A, int B, int period, int x, int x0, int x1, int group, int groups, u8 any) {
    const Grid &g = p.step.grid;
    for (int tier = 0; tier < TIERS; tier++) {
        const int t = period * TIERS + tier + 1, z0 = A + H * t;
        const real *now = tier & 1 ? odd : even;
        real *old = tier & 1 ? even : odd;
        enum { AT_ONCE = H == 1 ? 4 : 2 };
        if (x < x1 && p.plain) {
            for (int n = group * AT_ONCE; n < CELLS; n += groups * AT_ONCE) {
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
            for (int n = group; n < CELLS; n += groups) {
                int a, c;
                cell(n, a, c);
                int y = B + c;
                const int z = z0 + a;
                if (!inside(g, y, z)) continue;
                const Site<H, true> site(p.step, now, old, x, y, z);
                site.advance();
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

// The next tower in their order, once those that it needs are done; false: none is left. `ticket` is shared.
__device__ __forceinline__ bool next_tower(const Torre &p, u32 &ticket, u32 rank, int &tower, int &s, int &d) {
    if (rank == 0 && threadIdx.x == 0) {
        const u32 next = atomicAdd(p.counter, 1);
        for (int r = 0; r < CLUSTER; r++) put(remote(&ticket, r), next);
    }
    meet();
    tower = ticket;
    if (tower >= p.towers) return false;
    const int both = p.even + p.odd, first = p.first & 1 ? p.odd : p.even, rest = tower % both;
    s = p.first - 2 * (tower / both) - (rest >= first ? 1 : 0);
    d = 2 * (rest >= first ? rest - first : rest) + (s & 1);
    if (threadIdx.x == 0) wait_for(p, s + 1, d - 1), wait_for(p, s + 1, d + 1);
    meet();
    return true;
}

__device__ __forceinline__ void finish_tower(const Torre &p, u32 rank, int tower) {
    meet();
    if (rank == 0 && threadIdx.x == 0) {
        __threadfence();
        asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(p.counter + 1 + tower), "r"(1u) : "memory");
    }
}

// Before a pass
extern "C" __global__ void begin(u32 *counter, int count) {
    for (int n = blockIdx.x * blockDim.x + threadIdx.x; n < count; n += gridDim.x * blockDim.x) counter[n] = 0;
}
