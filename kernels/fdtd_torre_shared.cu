// DiamondTorre with the diamond in shared memory (Levchenko, Perepelkina & Zakirov 2016, doi:10.3390/computation4030029), single precision, for orders
// whose diamonds do not fit into a thread's registers. HALF (the order), DTS (size of a diamond) and CLUSTER (blocks along x) are defined outside;
// fdtd_towers.cuh has the tile.
//
// Layout: fdtd_rings.cuh.
//
// A warp computes up to four cells that follow one another along z, of the rows c and -1 - c, with their neighbours along z in registers; W^2/16 warps
// share the diamond evenly. The outermost columns of a block are also put into the ghosts of the block beside, whose barriers count their bytes.
//
// LAYERS: absorbing edges at order 2, and a speed per site or one for all (fdtd_absorb.cuh).
//
// Work of a site and step at order 8: 30 operations, and 15 numbers from or to shared memory: with its 128 bytes a cycle, 2.1 sites a cycle on each
// multiprocessor, 500 G/s on an H200. Traffic: 4/DTS words a site and step (rims), and 4 words at the base and top of a tower: 8 B at DTS = 2.
#include "fdtd_absorb.cuh"

// LENGTH cells from a on along z of the rows m and -1 - m: the next values over the older ones. All but columns and sides is the same for a warp.
template <int LENGTH, int WAY>
__device__ __forceinline__ void advance(const Torre &p, const Place &at, const u32 *entries, real *level, int base, int B, int phase, u32 now, u32 old, int a, int m,
                                        bool keep) {
    const Grid &g = p.step.grid;
    const int nz = g.size[2];
    const size_t plane = (size_t)g.size[1] * g.pitch;
    real *to = level + ((size_t)(long long)(base + a) * plane + row_for(g, B + (at.below ? -1 - m : m)) * g.pitch + at.x);
    auto in = [&](int i) { return WAY == INSIDE || (u32)(base + a + i) < (u32)nz; };
#if SITES
    Four squares[LENGTH];
#pragma unroll
    for (int i = 0; i < LENGTH; i++) {
        const real one = p.step.medium.square;
        squares[i] = {{one, one, one, one}};
        if (p.step.medium.squares && at.mine && in(i)) {
            const float4 s = __ldg((const float4 *)(p.step.medium.squares + (to - level) + i * plane));
            squares[i] = {{s.x, s.y, s.z, s.w}};
        }
    }
#else
    const real square = p.step.medium.square;
#endif
    // The places of the first cell, in rows that are not half a ring on and in those that are
    int whole = phase + a + H;
    whole -= whole >= R ? R : 0;
    const int other = whole + (whole >= R / 2 ? -R / 2 : R / 2);
    auto walk = [&](int row, int back) {
        const u32 entry = entries[row];
        int first = (entry & 1 ? other : whole) - back;
        first += first < 0 ? R : 0;
        return Walk{at.lane + now + (entry & ~1u) + first * PITCH, R - first};
    };
    Four line[LENGTH + 2 * H];
    u32 own[LENGTH];
    if (WAY == INSIDE) {
        Walk row = walk(m, H);
#pragma unroll
        for (int i = 0; i < LENGTH + 2 * H; i++) {
            const u32 from = row.cell(i);
            if (i >= H && i < H + LENGTH) own[i - H] = from;
            line[i] = get_four(from);
        }
    } else {
        const u32 row = at.lane + now + (entries[m] & ~1u);
        const bool half = entries[m] & 1;
#pragma unroll
        for (int i = 0; i < LENGTH + 2 * H; i++) {
            // Even mirrors half a spacing outside the first and the last plane
            const int z = base + a - H + i, image = z < 0 ? -1 - z : z >= nz ? 2 * nz - 1 - z : z;
            line[i] = get_four(row + slot_of(phase, min(max(image - base, -H), W - 2 + H), half));  // beyond those, what is read is not used
            if (i >= H && i < H + LENGTH) own[i - H] = row + slot_of(phase, a - H + i, half);
        }
    }
    Walk rows[2 * H];
#pragma unroll
    for (int k = 1; k <= H; k++) rows[2 * k - 2] = walk(m - k, 0), rows[2 * k - 1] = walk(m + k, 0);
    Four next[LENGTH];
#pragma unroll
    for (int i = 0; i < LENGTH; i++) {
        const Four here = line[i + H], before = get_four(own[i] + old - now);
        Four left = get_four(own[i] - 16), right = get_four(own[i] + 16);
        if (at.closed) {
            if (!at.from_left && at.x == 0)
#pragma unroll
                for (int k = 0; k < 4; k++) left.v[k] = g.edge[0] == SOFT ? (k == 3 ? 0 : -here.v[k == 3 ? 0 : 2 - k]) : here.v[3 - k];
            if (!at.from_right && at.x + 4 == g.size[0])
#pragma unroll
                for (int k = 0; k < 4; k++) right.v[k] = g.edge[0] == SOFT ? (k == 0 ? 0 : -here.v[k == 0 ? 0 : 4 - k]) : here.v[3 - k];
        }
        real window[4 + 2 * GHOST];
#pragma unroll
        for (int k = 0; k < 4; k++) window[k] = left.v[k], window[k + 4] = here.v[k], window[k + 8] = right.v[k];
        Four sum, even;
#pragma unroll
        for (int q = 0; q < 4; q++) sum.v[q] = 0, even.v[q] = times((real)6, here.v[q]);
#pragma unroll
        for (int k = 1; k <= H; k++) {
            const Four inner = get_four(rows[2 * k - 2].cell(i)), outer = get_four(rows[2 * k - 1].cell(i));
#pragma unroll
            for (int q = 0; q < 4; q++) {
                real pairs = plus(window[4 + q - k], window[4 + q + k]);
                pairs = plus(pairs, plus(inner.v[q], outer.v[q]));
                pairs = plus(pairs, plus(line[i + H - k].v[q], line[i + H + k].v[q]));
                sum.v[q] = term<H>(k, pairs, even.v[q], sum.v[q]);
            }
        }
#pragma unroll
        for (int q = 0; q < 4; q++) {
#if SITES
            const real square = squares[i].v[q];
#endif
            next[i].v[q] = plus(here.v[q], fused(square, sum.v[q], minus(here.v[q], before.v[q])));
        }
    }
    if (!at.mine) return;
#pragma unroll
    for (int i = 0; i < LENGTH; i++) {
        const u32 place = own[i] + old - now;
#if LAYERS
        // Cells in layers are stepped after the others.
        const int y = B + (at.below ? -1 - m : m);
        if (in(i) && p.step.medium.layers && (g.edge[1] == PERIODIC || (u32)y < (u32)g.size[1]) && in_layers(p, at.x, y, base + a + i)) continue;
#endif
        if (in(i)) put_four(place, next[i]);
#if !LAYERS
        // What is beyond an edge along z goes too, so that the count of bytes is always the same.
        const u32 parity = old ? 8 : 0;
        if (at.to_left) put_four_beside(at.to_left + (place - at.lane), next[i], at.left_ghosts + parity);
        if (at.to_right) put_four_beside(at.to_right + (place - at.lane), next[i], at.right_ghosts + parity);
        if (!in(i)) continue;
        if (keep || a + i < m + 2 * H) *(float4 *)(to + i * plane) = make_float4(next[i].v[0], next[i].v[1], next[i].v[2], next[i].v[3]);
#endif
    }
}

// Periods from `period` on as long as they go the same WAY; returns the first that does not
template <int WAY>
__device__ __forceinline__ int fast_periods(const Torre &p, const Place &at, const u32 *entries, u32 &copies, u32 &ghosts, real *even, real *odd, int A, int B, int period) {
    const Grid &g = p.step.grid;
    const int nz = g.size[2], warp = threadIdx.x / 32;
    const size_t plane = (size_t)g.size[1] * g.pitch;
    int base = A + H * (period * TIERS + 1), phase = 0;
    written_for_copies();
    if (threadIdx.x < LOADERS) {
        u32 bytes = 0;
        for (int n = threadIdx.x; n < 2 * REACH; n += LOADERS) {
            int a, c;
            live_cell(n, a, c);
            const int z = base + a;
            if (WAY == ACROSS && (u32)z >= (u32)nz) continue;
            const size_t row = z * plane + (size_t)row_for(g, B + c) * g.pitch;
            const u32 to = at.room + side_of(c) + ring_of(folded(c)) + slot_of(phase, a, half_on(folded(c)));
            bytes += bring(g, at, even + row, to);
            if (in_tile(a, c)) bytes += bring(g, at, odd + row, to + LEVEL);
        }
        arrive_with(at.bar, bytes);
    }
    // What this thread brings each step
    int rim_a = 0, rim_c = 0;
    if (threadIdx.x < LOADERS) rim_cell(threadIdx.x, rim_a, rim_c);
    const size_t rim_row = (size_t)row_for(g, B + rim_c) * g.pitch;
    const u32 rim_to = at.room + side_of(rim_c) + ring_of(folded(rim_c));
    const bool rim_half = half_on(folded(rim_c));
    const Cells cells(warp);
    wait_for(at.bar, copies), copies ^= 1;
    meet();
    bool more;
    do {
        more = period + 1 < p.periods && way_of(p, A, B, period + 1) == WAY && !special_of(p, A, B, period + 1);
        for (int tier = 0; tier < TIERS; tier++) {
            const bool last = !more && tier + 1 == TIERS, keep = !more && tier + 2 >= TIERS;
            real *level = tier & 1 ? even : odd;
            const u32 now = tier & 1 ? LEVEL : 0, old = LEVEL - now;
            const int on = phase + H >= R ? phase + H - R : phase + H;
            // Blocks along x stay within a step of each other: the ghosts of a step come after all that the block beside read of the step before.
            if (CLUSTER > 1 && threadIdx.x == 0) {
                if (at.from_left) arrive_with(at.ghosts + (old ? 8 : 0), CELLS * sizeof(Four));
                if (at.from_right) arrive_with(at.ghosts + 16 + (old ? 8 : 0), CELLS * sizeof(Four));
            }
            // The rim of the next step, of the level that this one writes elsewhere
            if (!last && threadIdx.x < LOADERS) {
                const int z = base + H + rim_a;
                u32 bytes = 0;
                written_for_copies();
                if (WAY == INSIDE || (u32)z < (u32)nz) {
                    bytes = bring(g, at, level + z * plane + rim_row, rim_to + old + slot_of(on, rim_a, rim_half));
#if LAYERS
                    // Its sites are stepped a step later; what layers remember of them is brought as far as the second-level cache.
                    if (p.step.medium.layers && (g.edge[1] == PERIODIC || (u32)(B + rim_c) < (u32)g.size[1])) fetch_memories(p, at, row_for(g, B + rim_c), z);
#endif
                }
                arrive_with(at.bar, bytes);
            }
            if (cells.whole)
                advance<4, WAY>(p, at, entries, level, base, B, phase, now, old, cells.a, cells.first, keep);
            else {
                advance<3, WAY>(p, at, entries, level, base, B, phase, now, old, cells.a, cells.first, keep);
                advance<1, WAY>(p, at, entries, level, base, B, phase, now, old, cells.b, cells.second, keep);
            }
#if LAYERS
            absorb_cells(p, at, cells, base, B, phase, now, old);
            hand_on_cells(p, at, cells, level, base, B, phase, old, keep);
#endif
            if (!last) wait_for(at.bar, copies), copies ^= 1;
            const u32 parity = old ? 8 : 0;
            if (CLUSTER > 1 && at.from_left) wait_for(at.ghosts + parity, ghosts);
            if (CLUSTER > 1 && at.from_right) wait_for(at.ghosts + 16 + parity, ghosts);
            if (tier & 1) ghosts ^= 1;
            __syncthreads();
            base += H, phase = on;
        }
        period++;
    } while (more);
    meet();
    return period;
}

extern __shared__ double room[];

extern "C" __global__ void __launch_bounds__(32 * WARPS, 1)
#if CLUSTER > 1
    __cluster_dims__(CLUSTER, 1, 1)
#endif
        torre(const __grid_constant__ Torre p) {
    __shared__ u32 ticket;
    __shared__ unsigned long long barriers[5];
    const Grid &g = p.step.grid;
    const u32 rank = rank_of_block();
    const int each = (g.size[0] / 4 + CLUSTER - 1) / CLUSTER * 4;
    Place at;
    at.room = (u32)__cvta_generic_to_shared(room), at.bar = (u32)__cvta_generic_to_shared(barriers + 4);
    at.ghosts = (u32)__cvta_generic_to_shared(barriers);
    at.left_ghosts = at.right_ghosts = 0;
    at.x0 = rank * each, at.local = min(each, g.size[0] - at.x0);
    at.x = at.x0 + threadIdx.x % 16 * 4;
    at.mine = at.x < at.x0 + at.local;
    at.wraps = g.edge[0] == PERIODIC;
    at.from_left = at.wraps || rank > 0, at.from_right = at.wraps || rank + 1 < CLUSTER;
    at.below = threadIdx.x / 16 & 1;
    at.to_left = at.to_right = 0;
    at.lane = at.room + (GHOST + at.x - at.x0) * sizeof(real);
    at.closed = !at.from_left || !at.from_right;
    at.layers = at.layers_low = at.layer_shift = 0;
    if (LAYERS && p.step.medium.layer[0].end) {
        const int end = p.step.medium.layer[0].end;
        at.layers_low = min(max(end - at.x0, 0), at.local) / 4;
        at.layers = at.layers_low + max(at.x0 + at.local - max(at.x0, g.size[0] - end), 0) / 4;
        while (1 << at.layer_shift < at.layers) at.layer_shift++;
    }
    if (at.from_left && at.x == at.x0) {
        const u32 there = (rank + CLUSTER - 1) % CLUSTER;
        const int columns = there + 1 == CLUSTER ? g.size[0] - there * each : each;
        at.to_left = remote(room, there) + (GHOST + columns) * sizeof(real), at.left_ghosts = remote(barriers + 2, there);
    }
    if (at.from_right && at.x + 4 == at.x0 + at.local) at.to_right = remote(room, (rank + 1) % CLUSTER), at.right_ghosts = remote(barriers, (rank + 1) % CLUSTER);
    if (threadIdx.x < 5) {
        const u32 barrier = (u32)__cvta_generic_to_shared(barriers + threadIdx.x), arrivals = threadIdx.x == 4 ? LOADERS : 1;
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\nfence.mbarrier_init.release.cluster;" ::"r"(barrier), "r"(arrivals) : "memory");
    }
    __shared__ u32 table[2][ENTRIES];
    for (int n = threadIdx.x; n < 2 * ENTRIES; n += 32 * WARPS) table[n / ENTRIES][n % ENTRIES] = entry_of(n / ENTRIES, n % ENTRIES - H);
    const u32 *entries = table[at.below] + H;
    u32 copies = 0, ghosts = 0;  // phases of the barriers
    const int group = threadIdx.x / COLUMNS;
    real *even = (real *)p.step.now, *odd = p.step.old;
    int tower, s, d;
    while (next_tower(p, ticket, rank, tower, s, d)) {
        const int A = s * (W / 2), B = d * (W / 2);
        int period = 0;
        while (period < p.periods) {
            const u8 special = special_of(p, A, B, period);
            const int way = way_of(p, A, B, period);
            if (way == INSIDE && !special)
                period = fast_periods<INSIDE>(p, at, entries, copies, ghosts, even, odd, A, B, period);
            else if (way == ACROSS && !special)
                period = fast_periods<ACROSS>(p, at, entries, copies, ghosts, even, odd, A, B, period);
            else {
                if (way != OUTSIDE) {
                    slow_period(p, even, odd, A, B, period, group < WARPS / 2 ? at.x0 + (int)threadIdx.x % COLUMNS : g.size[0], at.x0, at.x0 + at.local, group, WARPS / 2, special);
                    written_for_copies();
                    meet();
                }
                period++;
            }
        }
        written_for_copies();
        finish_tower(p, rank, tower);
    }
}
