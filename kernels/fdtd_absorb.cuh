// Absorbing layers in towers whose diamonds lie in shared memory (fdtd_rings.cuh), order 2. What layers remember stays in memory, a copy for each site
// (fdtd_towers.cuh); a warp adds it to its cells after the step: 24 B a site of a layer, axis and step, through the second-level cache.
#pragma once
#include "fdtd_rings.cuh"

#if LAYERS
__device__ __forceinline__ void fetch(const real *from, u32 sites) {
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"((u32)(sites * sizeof(real))) : "memory");
}

// Brings what the layers remember of a block's part of a row into the second-level cache
__device__ __forceinline__ void fetch_memories(const Torre &p, const Place &at, int y, int z) {
    const int *size = p.step.grid.size;
#pragma unroll
    for (int axis = 0; axis < 3; axis++) {
        const Twins &t = p.twins[axis];
        if (axis == 0 ? !at.layers : !in_layers(p.step.medium.layer[axis], size[axis], axis == 1 ? y : z)) continue;
        const int x = axis == 0 && at.x0 > 0 ? max(at.x0, t.start) : at.x0, sites = axis == 0 && at.x0 < t.low ? t.low - at.x0 : at.x0 + at.local - x;
        const u32 place = twin_of(p, axis, x, y, z);
        fetch(t.lower + place, sites), fetch(t.upper + place, sites), fetch(t.zeta + place, sites);
    }
}

__device__ __forceinline__ Four from_memory(const real *p) {
    const float4 f = __ldcg((const float4 *)p);
    return {{f.x, f.y, f.z, f.w}};
}
__device__ __forceinline__ Four constant_four(const real *p) {
    const float4 f = __ldg((const float4 *)p);
    return {{f.x, f.y, f.z, f.w}};
}
__device__ __forceinline__ void to_memory(real *p, const Four &f) { *(float4 *)p = make_float4(f.v[0], f.v[1], f.v[2], f.v[3]); }

// What the layers of an axis add to the next value of four sites of a row, whose neighbours along that axis are `low` and `high`, and whose copies lie
// at `place`. `profile(q)` of each; `touched(q)`: whether the layers reach it.
template <typename Profiles, typename Touched>
__device__ __forceinline__ void add_layers(const Twins &t, u32 place, const Four &low, const Four &here, const Four &high, const Four &squares, u32 next_at, Profiles profile, Touched touched) {
    Four lower = from_memory(t.lower + place), upper = from_memory(t.upper + place), zeta = from_memory(t.zeta + place), next = get_four(next_at);
#pragma unroll
    for (int q = 0; q < 4; q++) {
        const real below = fused((real)staggered(1, 0), minus(here.v[q], low.v[q]), (real)0), above = fused((real)staggered(1, 0), minus(high.v[q], here.v[q]), (real)0);
        const real change = term<1>(1, plus(low.v[q], high.v[q]), plus(here.v[q], here.v[q]), 0);
        const real more = fused(squares.v[q], absorb(profile(q), below, above, change, lower.v[q], upper.v[q], zeta.v[q]), next.v[q]);
        next.v[q] = touched(q) ? more : next.v[q];
    }
    to_memory(t.lower + place, lower), to_memory(t.upper + place, upper), to_memory(t.zeta + place, zeta);
    put_four(next_at, next);
}

// What absorbing layers add to a warp's cells, axis by axis as single steps do; after the step, whose registers are free by then
__device__ __forceinline__ void absorb_cells(const Torre &p, const Place &at, const u32 *entries, const Cells &cells, int base, int B, int phase, u32 now, u32 old) {
    const Grid &g = p.step.grid;
    const Layer *layers = p.step.medium.layer;
    const int nx = g.size[0], ny = g.size[1], nz = g.size[2], lane = threadIdx.x % 32;
    auto in = [&](int i) { return (u32)(base + cells.cell(i)) < (u32)nz; };
    auto y_of = [&](int i) { return B + (at.below ? -1 - cells.row(i) : cells.row(i)); };
    auto is_row = [&](int y) { return g.edge[1] == PERIODIC || (u32)y < (u32)ny; };
    auto squares = [&](int x, int y, int z) {
        const real one = p.step.medium.square;
        return p.step.medium.squares ? constant_four(p.step.medium.squares + place_of(g, x, y, z)) : Four{{one, one, one, one}};
    };
    __syncwarp();
    // Along x few columns of a row are in layers: all lanes share those of all rows.
    if (at.layers) {
        const Twins &t = p.twins[0];
        const int n = lane & ((1 << at.layer_shift) - 1), x = n < at.layers_low ? at.x0 + 4 * n : max(at.x0, t.start) + 4 * (n - at.layers_low), slot = slot_in(t, x);
        const u32 columns = at.room + (GHOST + x - at.x0) * sizeof(real);
        Four profile[6];
#pragma unroll
        for (int k = 0; k < 6; k++) profile[k] = get_four(at.profile + (k * COLUMNS + min(x - at.x0, COLUMNS - 4)) * sizeof(real));
#pragma unroll 1
        for (int row = lane >> at.layer_shift; row < 8; row += 32 >> at.layer_shift) {
            const int side = row & 1, i = row >> 1, m = cells.row(i), y = B + (side ? -1 - m : m), z = base + cells.cell(i);
            if (n >= at.layers || !is_row(y) || !in(i)) continue;
            const u32 cell = columns + (side ? SIDE : 0) + ring_of(m) + slot_of(phase, cells.cell(i), half_on(m));
            const Four here = get_four(cell + now), left = get_four(cell + now - 16), right = get_four(cell + now + 16);
            const Four lower = {{x == 0 ? here.v[0] : left.v[3], here.v[0], here.v[1], here.v[2]}};
            const Four upper = {{here.v[1], here.v[2], here.v[3], x + 4 == nx ? here.v[3] : right.v[0]}};
            const int there = row_for(g, y);
            add_layers(
                t, ((u32)z * ny + there) * t.slots + slot, lower, here, upper, squares(x, there, z), cell + old,
                [&](int q) { return Profile{profile[0].v[q], profile[1].v[q], profile[2].v[q], profile[3].v[q], profile[4].v[q], profile[5].v[q]}; },
                [&](int q) { return in_layers(layers[0], nx, x + q); });
        }
        __syncwarp();
    }
    if (!at.mine) return;
    auto cell = [&](int row, int a) { return at.lane + (entries[row] & ~1u) + slot_of(phase, a, entries[row] & 1); };
    auto all = [](int) { return true; };
    if (layers[1].width)
#pragma unroll 2
        for (int i = 0; i < 4; i++) {
            const int m = cells.row(i), a = cells.cell(i), y = y_of(i);
            if (!in(i) || !is_row(y) || !in_layers(layers[1], ny, y)) continue;
            const Twins &t = p.twins[1];
            const Profile profile = profile_of(t, slot_in(t, y));
            const Four inner = get_four(cell(m - 1, a) + now), here = get_four(cell(m, a) + now), outer = get_four(cell(m + 1, a) + now);
            add_layers(t, twin_of(p, 1, at.x, y, base + a), at.below ? outer : inner, here, at.below ? inner : outer, squares(at.x, y, base + a), cell(m, a) + old,
                       [&](int) { return profile; }, all);
        }
    if (layers[2].width)
#pragma unroll 2
        for (int i = 0; i < 4; i++) {
            const int m = cells.row(i), a = cells.cell(i), z = base + a;
            if (!in(i) || !is_row(y_of(i)) || !in_layers(layers[2], nz, z)) continue;
            const Twins &t = p.twins[2];
            const Profile profile = profile_of(t, slot_in(t, z));
            const int y = row_for(g, y_of(i));
            const Four here = get_four(cell(m, a) + now), below = z == 0 ? here : get_four(cell(m, a - 1) + now), above = z + 1 == nz ? here : get_four(cell(m, a + 1) + now);
            add_layers(t, twin_of(p, 2, at.x, y, z), below, here, above, squares(at.x, y, z), cell(m, a) + old, [&](int) { return profile; }, all);
        }
}

// A warp's next values, to where others look for them
__device__ __forceinline__ void hand_on_cells(const Torre &p, const Place &at, const Cells &cells, real *level, int base, int B, int phase, u32 old, bool keep) {
    const Grid &g = p.step.grid;
    const u32 parity = old ? 8 : 0;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int m = cells.row(i), a = cells.cell(i), z = base + a, y = B + (at.below ? -1 - m : m);
        const bool is_row = g.edge[1] == PERIODIC || (u32)y < (u32)g.size[1], in = (u32)z < (u32)g.size[2];
        // Across a soft edge, or an edge that is not in the middle of a tower, steps are taken site by site: here every row is one of the grid or its mirror.
        if (!at.mine || !is_row) continue;
        const u32 offset = ring_of(m) + slot_of(phase, a, half_on(m)) + old, own = offset + (at.below ? SIDE : 0), other = offset + (at.below ? 0 : SIDE);
        const Four next = get_four(at.room + (GHOST + at.x - at.x0) * sizeof(real) + own);
        const bool mirrors = g.edge[1] == RIGID && (B == 0 || B == g.size[1]);
        if (at.to_left) put_four_beside(at.to_left + own, next, at.left_ghosts + parity);
        if (at.to_right) put_four_beside(at.to_right + own, next, at.right_ghosts + parity);
        // The mirrored half across a rigid edge, whose sites have no memories
        if (mirrors) {
            put_four(at.room + (GHOST + at.x - at.x0) * sizeof(real) + other, next);
            if (at.to_left) put_four_beside(at.to_left + other, next, at.left_ghosts + parity);
            if (at.to_right) put_four_beside(at.to_right + other, next, at.right_ghosts + parity);
        }
        if (in && (keep || a < m + 2 * H)) to_memory(level + place_of(g, at.x, row_for(g, y), z), next);
    }
}
#endif
