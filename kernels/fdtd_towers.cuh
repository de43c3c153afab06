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

// What the absorbing layers of an axis remember, a copy for each site that they touch: psi of the faces below and above it, and zeta. With a
// copy of its own a site goes on from what it reads of the pressure alone (order 2), so that layers ask nothing more of the order of towers.
struct Twins {
    real *lower, *upper, *zeta;
    const real *profile;    // `slots` numbers each: A and B of the face below a site, of that above it, and of the site; 0 where there is none
    int low, start, slots;  // sites of the low end, first one of the high end, and how many there are
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
    Twins twins[3];     // of each axis with absorbing layers
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

// ---- absorbing layers ----

#if LAYERS
static_assert(H == 1, "a site's copies follow from the pressure next to it at order 2");

__device__ __forceinline__ int slot_in(const Twins &t, int at) { return at < t.low ? at : t.low + at - t.start; }

// Where a site's copies lie
__device__ __forceinline__ u32 twin_of(const Torre &p, int axis, int x, int y, int z) {
    const Twins &t = p.twins[axis];
    const Grid &g = p.step.grid;
    const u32 slot = slot_in(t, axis == 0 ? x : axis == 1 ? y : z);
    if (axis == 0) return ((u32)z * g.size[1] + y) * t.slots + slot;
    if (axis == 1) return ((u32)z * t.slots + slot) * g.pitch + x;
    return (slot * g.size[1] + y) * g.pitch + x;
}

__device__ __forceinline__ bool in_layers(const Layer &l, int size, int at) { return l.width && (at <= l.width || at + l.width + 1 >= size); }

// A and B of the faces below and above a site, and of the site
struct Profile {
    real lower_a, lower_b, upper_a, upper_b, own_a, own_b;
};
__device__ __forceinline__ Profile profile_of(const Twins &t, int slot) {
    const real *from = t.profile + slot;
    return {__ldg(from), __ldg(from + t.slots), __ldg(from + 2 * t.slots), __ldg(from + 3 * t.slots), __ldg(from + 4 * t.slots), __ldg(from + 5 * t.slots)};
}

// A site's copies go on by a step; what the layers of this axis add to L p. `below` and `above`: flux through its faces; `change`: L p of the axis.
// What is multiplied by the zeros of faces and sites outside stays +0, the value of what is not there.
__device__ __forceinline__ real absorb(const Profile &c, real below, real above, real change, real &lower, real &upper, real &zeta) {
    lower = fused(c.lower_b, below, times(c.lower_a, lower));
    upper = fused(c.upper_b, above, times(c.upper_a, upper));
    const real sum = fused((real)staggered(1, 0), minus(upper, lower), (real)0);
    zeta = fused(c.own_b, plus(sum, change), times(c.own_a, zeta));
    return plus(sum, zeta);
}

// The same at a site of any medium
__device__ __forceinline__ real absorb_at(const Torre &p, const Site<H, true> &site, int axis, real here) {
    const Twins &t = p.twins[axis];
    const u32 place = twin_of(p, axis, site.at[0], site.at[1], site.at[2]);
    real lower = __ldcg(t.lower + place), upper = __ldcg(t.upper + place), zeta = __ldcg(t.zeta + place), below = 0;
    if (site.at[axis] > 0) {
        const Site<H, true> before(p.step, site.now, site.old, site.at[0] - (axis == 0), site.at[1] - (axis == 1), site.at[2] - (axis == 2));
        below = before.face_flux(axis);
    }
    const real sum = absorb(profile_of(t, slot_in(t, site.at[axis])), below, site.face_flux(axis), site.axis_change(axis, here), lower, upper, zeta);
    t.lower[place] = lower, t.upper[place] = upper, t.zeta[place] = zeta;
    return sum;
}

// The copies of an axis: made of the layers' memories before a pass, and given back after it
template <bool BACK> __device__ __forceinline__ void exchange(const Torre &p, int axis) {
    const Grid &g = p.step.grid;
    const Layer &l = p.step.medium.layer[axis];
    const Twins &t = p.twins[axis];
    const u32 nx = axis == 0 ? t.slots : g.size[0], ny = axis == 1 ? t.slots : g.size[1], nz = axis == 2 ? t.slots : g.size[2];
    for (u32 n = blockIdx.x * blockDim.x + threadIdx.x; n < nx * ny * nz; n += gridDim.x * blockDim.x) {
        const u32 row = n / nx;
        int at[3] = {(int)(n - row * nx), (int)(row % ny), (int)(row / ny)};
        if (at[axis] >= t.low) at[axis] += t.start - t.low;
        if (!in_layers(l, g.size[axis], at[axis])) continue;
        const Site<H, true> site(p.step, p.step.now, p.step.old, at[0], at[1], at[2]);
        const u32 place = twin_of(p, axis, at[0], at[1], at[2]);
        // Slots of the layers' own memories: those of the low end, then those of the high one, each from outside in
        auto slot_of = [&](int from_end) { return at[axis] < l.width ? at[axis] : from_end >= 0 && from_end < l.width ? l.width + from_end : -1; };
        const int own = slot_of(g.size[axis] - 1 - at[axis]), up = slot_of(g.size[axis] - 2 - at[axis]);
        if (BACK) {
            if (up >= 0) l.psi[site.slot_place(l, axis, up)] = t.upper[place];
            if (own >= 0) l.zeta[site.slot_place(l, axis, own)] = t.zeta[place];
        } else {
            t.lower[place] = site.memory(l, axis, at[axis] - 1), t.upper[place] = site.memory(l, axis, at[axis]);
            t.zeta[place] = own < 0 ? (real)0 : l.zeta[site.slot_place(l, axis, own)];
        }
    }
}

extern "C" __global__ void __launch_bounds__(256) lend_memories(const __grid_constant__ Torre p, int axis) { exchange<false>(p, axis); }
extern "C" __global__ void __launch_bounds__(256) take_back_memories(const __grid_constant__ Torre p, int axis) { exchange<true>(p, axis); }
#endif

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
#if LAYERS
                site.advance([&](int axis, real here) { return absorb_at(p, site, axis, here); });
#else
                site.advance();
#endif
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
