// Absorbing layers in towers whose diamonds lie in shared memory (fdtd_rings.cuh), order 2. What layers remember stays in memory; a warp steps its cells in
// layers after the others: 24 B a site of a layer, axis and step, through the second-level cache.
#pragma once
#include "fdtd_rings.cuh"

#if LAYERS
static_assert(H == 1, "cells of layers are stepped from their nearest neighbours");

__device__ __forceinline__ void fetch(const real *from, u32 sites) {
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"((u32)(sites * sizeof(real))) : "memory");
}

// The slot of a site in the layer of an axis; -1 outside of it
__device__ __forceinline__ int slot_along(const Torre &p, int axis, int x, int y, int z) {
    return slot_in(p.step.medium.layer[axis], p.step.grid.size[axis], axis == 0 ? x : axis == 1 ? y : z);
}

// Where what a layer remembers of a site lies
__device__ __forceinline__ size_t memory_of(const Torre &p, int axis, int slot, int x, int y, int z) {
    const size_t nx = p.step.grid.size[0], ny = p.step.grid.size[1], slots = 2 * p.step.medium.layer[axis].end;
    if (axis == 0) return (z * ny + y) * slots + slot;
    if (axis == 1) return (z * slots + slot) * nx + x;
    return (slot * ny + y) * nx + x;
}

// Brings what the layers remember of a block's part of a row into the second-level cache
__device__ __forceinline__ void fetch_memories(const Torre &p, const Place &at, int y, int z) {
    const int *size = p.step.grid.size;
#pragma unroll
    for (int axis = 0; axis < 3; axis++) {
        const Layer &l = p.step.medium.layer[axis];
        const int start = size[0] - l.end;
        // Of the ends along x, that at which the block begins, or else that at which it ends
        const int x = axis == 0 && at.x0 >= l.end ? max(at.x0, start) : at.x0, end = axis == 0 && at.x0 < l.end ? min(l.end, at.x0 + at.local) : at.x0 + at.local;
        const int slot = slot_along(p, axis, x, y, z);
        if (slot < 0 || end <= x) continue;
        const size_t place = memory_of(p, axis, slot, x, y, z);
        fetch(l.lower + place, end - x), fetch(l.upper + place, end - x), fetch(l.zeta + place, end - x);
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
__device__ __forceinline__ Four all_four(real one) { return {{one, one, one, one}}; }
__device__ __forceinline__ void to_memory(real *p, const Four &f) { *(float4 *)p = make_float4(f.v[0], f.v[1], f.v[2], f.v[3]); }

// The part of L p of an axis of four sites of a row, from their neighbours along it; layers' memories go on by a step
__device__ __forceinline__ Four change(const Torre &p, int axis, int x, int y, int z, const Four &low, const Four &here, const Four &high) {
    const Layer &l = p.step.medium.layer[axis];
    const int slot = slot_along(p, axis, x, y, z);
    Four sum;
    if (slot < 0) {
#pragma unroll
        for (int q = 0; q < 4; q++) sum.v[q] = term<1>(1, plus(low.v[q], high.v[q]), plus(here.v[q], here.v[q]), 0);
        return sum;
    }
    const size_t place = memory_of(p, axis, slot, x, y, z);
    Four factors[6], lower = from_memory(l.lower + place), upper = from_memory(l.upper + place), zeta = from_memory(l.zeta + place);
#pragma unroll
    for (int n = 0; n < 6; n++) {
        const real *from = l.factors + 2 * n * l.end + slot;
        factors[n] = axis == 0 ? constant_four(from) : all_four(__ldg(from));
    }
#pragma unroll
    for (int q = 0; q < 4; q++) {
        const real below = renew(factors[0].v[q], factors[3].v[q], lower.v[q], minus(here.v[q], low.v[q]));
        const real above = renew(factors[1].v[q], factors[4].v[q], upper.v[q], minus(high.v[q], here.v[q]));
        sum.v[q] = renew(factors[2].v[q], factors[5].v[q], zeta.v[q], minus(above, below));
    }
    to_memory(l.lower + place, lower), to_memory(l.upper + place, upper), to_memory(l.zeta + place, zeta);
    return sum;
}

// A at four sites of a row of the layer that holds them
__device__ __forceinline__ Four decay_of(const Layer &l, int axis, int slot) {
    const real *from = l.factors + 4 * l.end + slot;
    return axis == 0 ? constant_four(from) : all_four(__ldg(from));
}

// Lets zeta take over what rounding put into the pressure of four sites of a row
__device__ __forceinline__ void take(const Torre &p, int x, int y, int z, const Four &squares, const Four &missed) {
    Four part = all_four(0);
#pragma unroll 1
    for (int axis = 0; axis < 3; axis++) {
        const Layer &l = p.step.medium.layer[axis];
        const int slot = slot_along(p, axis, x, y, z);
        if (slot < 0) continue;
        const Four decay = decay_of(l, axis, slot);
#pragma unroll
        for (int q = 0; q < 4; q++) part.v[q] = plus(part.v[q], loss_of(decay.v[q]));
    }
#pragma unroll
    for (int q = 0; q < 4; q++) part.v[q] = missed_part(missed.v[q], squares.v[q], part.v[q]);
#pragma unroll 1
    for (int axis = 0; axis < 3; axis++) {
        const Layer &l = p.step.medium.layer[axis];
        const int slot = slot_along(p, axis, x, y, z);
        if (slot < 0) continue;
        const Four decay = decay_of(l, axis, slot);
        real *place = l.zeta + memory_of(p, axis, slot, x, y, z);
        Four zeta = from_memory(place);
#pragma unroll
        for (int q = 0; q < 4; q++) zeta.v[q] = minus(zeta.v[q], times(part.v[q], missed_weight(decay.v[q])));
        to_memory(place, zeta);
    }
}

__device__ __forceinline__ bool in_layers_along(const Torre &p, int axis, int at) { return slot_in(p.step.medium.layer[axis], p.step.grid.size[axis], at) >= 0; }

// Whether the layers hold four sites; x of the first
__device__ __forceinline__ bool in_layers(const Torre &p, int x, int y, int z) {
    return in_layers_along(p, 0, x) || in_layers_along(p, 1, row_for(p.step.grid, y)) || in_layers_along(p, 2, z);
}

// Steps the cell a of row m of a side, four sites of it from x on, whose columns lie at `columns` of a side's rows
__device__ __forceinline__ void step_cell(const Torre &p, const Place &at, int phase, u32 now, u32 old, u32 columns, int side, int m, int a, int x, int y, int z) {
    const Grid &g = p.step.grid;
    const int nx = g.size[0], nz = g.size[2], there = row_for(g, y);
    auto cell = [&](int row, int to) {
        const u32 entry = entry_of(side, row);
        return columns + (entry & ~1u) + slot_of(phase, to, entry & 1);
    };
    const u32 own = cell(m, a);
    const Four here = get_four(own + now), before = get_four(own + old), left = get_four(own + now - 16), right = get_four(own + now + 16);
    const bool first = x == 0 && !at.wraps, last = x + 4 == nx && !at.wraps;
    const Four low = {{first ? g.edge[0] == SOFT ? 0 : here.v[0] : left.v[3], here.v[0], here.v[1], here.v[2]}};
    const Four high = {{here.v[1], here.v[2], here.v[3], last ? g.edge[0] == SOFT ? 0 : here.v[3] : right.v[0]}};
    Four sum = change(p, 0, x, there, z, low, here, high);
    auto add = [&](const Four &part) {
#pragma unroll
        for (int q = 0; q < 4; q++) sum.v[q] = plus(sum.v[q], part.v[q]);
    };
    const Four inner = get_four(cell(m - 1, a) + now), outer = get_four(cell(m + 1, a) + now);
    add(change(p, 1, x, there, z, side ? outer : inner, here, side ? inner : outer));
    add(change(p, 2, x, there, z, z == 0 ? here : get_four(cell(m, a - 1) + now), here, z + 1 == nz ? here : get_four(cell(m, a + 1) + now)));
    const Four squares = p.step.medium.squares ? constant_four(p.step.medium.squares + place_of(g, x, there, z)) : all_four(p.step.medium.square);
    Four next, missed;
#pragma unroll
    for (int q = 0; q < 4; q++) {
        const real step = fused(squares.v[q], sum.v[q], minus(here.v[q], before.v[q]));
        next.v[q] = plus(here.v[q], step), missed.v[q] = minus(minus(next.v[q], here.v[q]), step);
    }
    put_four(own + old, next);
    take(p, x, there, z, squares, missed);
}

// Steps a warp's cells in layers, which the others' step has left as they were
__device__ __forceinline__ void absorb_cells(const Torre &p, const Place &at, const Cells &cells, int base, int B, int phase, u32 now, u32 old) {
    const Grid &g = p.step.grid;
    const int ny = g.size[1], nz = g.size[2], lane = threadIdx.x % 32;
    auto in = [&](int i) { return (u32)(base + cells.cell(i)) < (u32)nz; };
    auto is_row = [&](int y) { return g.edge[1] == PERIODIC || (u32)y < (u32)ny; };
    __syncwarp();
    // Along x few columns of a row are in layers: all lanes share those of all rows.
    if (at.layers) {
        const Layer &l = p.step.medium.layer[0];
        const int n = lane & ((1 << at.layer_shift) - 1), x = n < at.layers_low ? at.x0 + 4 * n : max(at.x0, g.size[0] - l.end) + 4 * (n - at.layers_low);
#pragma unroll 1
        for (int row = lane >> at.layer_shift; row < 8; row += 32 >> at.layer_shift) {
            const int side = row & 1, i = row >> 1, m = cells.row(i), y = B + (side ? -1 - m : m);
            if (n < at.layers && is_row(y) && in(i))
                step_cell(p, at, phase, now, old, at.room + (GHOST + x - at.x0) * sizeof(real), side, m, cells.cell(i), x, y, base + cells.cell(i));
        }
    }
    if (!at.mine || in_layers_along(p, 0, at.x)) return;
#pragma unroll 1
    for (int i = 0; i < 4; i++) {
        const int m = cells.row(i), y = B + (at.below ? -1 - m : m), z = base + cells.cell(i);
        if (in(i) && is_row(y) && in_layers(p, at.x, y, z)) step_cell(p, at, phase, now, old, at.lane, at.below, m, cells.cell(i), at.x, y, z);
    }
}

// A warp's next values, to where others look for them
__device__ __forceinline__ void hand_on_cells(const Torre &p, const Place &at, const Cells &cells, real *level, int base, int B, int phase, u32 old, bool keep) {
    const Grid &g = p.step.grid;
    const u32 parity = old ? 8 : 0;
    __syncwarp();
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
