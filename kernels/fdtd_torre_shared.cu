// DiamondTorre with the diamond in shared memory (Levchenko, Perepelkina & Zakirov 2016, doi:10.3390/computation4030029), single precision, for orders
// whose diamonds do not fit into a thread's registers. HALF (the order), DTS (size of a diamond) and CLUSTER (blocks along x) are defined outside;
// fdtd_towers.cuh has the tile.
//
// Layout: a block has up to 64 columns, four a lane. Both levels of the diamond and of what its stencils reach lie in shared memory, row by row, 64 columns
// and four ghosts at either end. Of the row c the cells a = m - H ... W - 2 + H - m are live, where m = c or -1 - c: 2(W/2 + H - m) - 1 of them, so that
// the rows m and W/2 + H - 1 - m share one ring of R = W + 2H rows, half a ring apart, in which a cell of given z keeps its place while the diamond
// goes by: nothing is ever moved. What enters (RIM rows a step) is brought by bulk copies while the step before is computed, and takes the places
// of what that step no longer needs.
//
// A warp computes up to four cells that follow one another along z, of the rows c and -1 - c, with their neighbours along z in registers; W^2/16 warps
// share the diamond evenly. The outermost columns of a block are also put into the ghosts of the block beside, whose barriers count their bytes.
//
// LAYERS: absorbing edges at order 2, and a speed per site or one for all. What layers remember stays in memory, a copy for each site (fdtd_towers.cuh);
// a warp adds it to its cells after the step: 24 B a site of a layer and axis, through the second-level cache.
//
// Work of a site and step at order 8: 29 operations, and 15 numbers from or to shared memory: with its 128 bytes a cycle, 4.2 sites in two cycles on each
// multiprocessor, 500 G/s on an H200. Traffic: 2/DTS words in, and as much out, twice that at the base and top of a tower: 8 B at DTS = 2.
#include "fdtd_towers.cuh"

enum {
    COLUMNS = 64,  // of a block
    GHOST = 4,
    PITCH = (COLUMNS + 2 * GHOST) * 4,  // bytes from row to row
    R = W + 2 * H,
    RINGS = (R / 2 + 1) / 2,
    SIDE = RINGS * R * PITCH,  // rows c >= 0, then rows c < 0
    LEVEL = 2 * SIDE,
    REACH = R * R / 4,  // live cells of a side
    ENTRIES = W / 2 + 2 * H,
    WARPS = W * W / 16,
    LOADERS = RIM
};
static_assert(W % 4 == 0 && H <= GHOST && LOADERS <= 32 * WARPS, "shape");

struct Four {
    real v[4];
};
__device__ __forceinline__ Four get_four(u32 from) {
    Four f;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(f.v[0]), "=f"(f.v[1]), "=f"(f.v[2]), "=f"(f.v[3]) : "r"(from));
    return f;
}
__device__ __forceinline__ void put_four(u32 to, const Four &f) {
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to), "f"(f.v[0]), "f"(f.v[1]), "f"(f.v[2]), "f"(f.v[3]) : "memory");
}
// Into another block, whose barrier counts the bytes
__device__ __forceinline__ void put_four_beside(u32 to, const Four &f, u32 barrier) {
#if CLUSTER > 1
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to), "f"(f.v[0]), "f"(f.v[1]), "f"(f.v[2]),
                 "f"(f.v[3]), "r"(barrier)
                 : "memory");
#else
    put_four(to, f);  // the other end of a periodic axis
#endif
}

// What a thread needs to know about its place
struct Place {
    u32 room, bar;        // shared memory: rows, the barrier of bulk copies
    u32 lane;             // of the thread's columns in the room
    int x0, local;        // first column of the block, and how many it has
    int x;                // of the thread's first column
    bool mine;            // whether it has any
    bool from_left, from_right;  // ghosts that other blocks, or the other end of a periodic axis, have
    bool wraps;           // x is periodic
    bool below;           // the thread's rows are c < 0
    bool closed;          // x ends in this block
    int layers, layers_low, layer_shift;  // quads of the block in layers of x, those at the low end, and the power of two that holds them
    u32 to_left, to_right;  // where the thread's columns go, 0: nowhere; as `lane`, in another block
    u32 ghosts;             // barriers of this block: ghosts on the left after even and odd steps, then on the right
    u32 profile;            // of the block's columns in the layers of x: the six numbers of each in shared memory
    u32 left_ghosts, right_ghosts;  // those of the blocks beside that hear of this block's columns
};

__device__ __forceinline__ int folded(int c) { return c >= 0 ? c : -1 - c; }

// The ring of the row m of a side, in bytes, and whether the row is half a ring on
__device__ __forceinline__ int ring_of(int m) { return min(m, R / 2 - 1 - m) * (R * PITCH); }
__device__ __forceinline__ bool half_on(int m) { return m >= (R / 2 + 1) / 2; }
// Of the cell a of a row, in bytes; `phase` is z modulo R at a = -H
__device__ __forceinline__ int slot_of(int phase, int a, bool half) {
    int s = phase + a + H;
    s -= s >= R ? R : 0;
    if (half) s += s >= R / 2 ? -R / 2 : R / 2;
    return s * PITCH;
}
__device__ __forceinline__ int side_of(int c) { return c < 0 ? SIDE : 0; }

// The row in memory that stands for row y of a tower
__device__ __forceinline__ int row_for(const Grid &g, int y) {
    const int ny = g.size[1];
    if (y < 0) y = g.edge[1] == PERIODIC ? y + ny : -1 - y;
    if (y >= ny) y = g.edge[1] == PERIODIC ? y - ny : 2 * ny - 1 - y;
    return y;
}

__device__ __forceinline__ void copy(u32 to, const real *from, u32 bytes, u32 bar) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(bytes), "r"(bar) : "memory");
}

// Brings a row with its ghosts; returns how many bytes
__device__ __forceinline__ u32 bring(const Grid &g, const Place &at, const real *row, u32 to) {
    const int begin = at.from_left && at.x0 > 0 ? at.x0 - GHOST : at.x0;
    const int last = at.x0 + at.local, end = at.from_right && last < g.size[0] ? last + GHOST : last;
    u32 bytes = (end - begin) * sizeof(real);
    copy(to + (GHOST + begin - at.x0) * sizeof(real), row + begin, bytes, at.bar);
    if (at.wraps && at.x0 == 0) copy(to, row + g.size[0] - GHOST, GHOST * sizeof(real), at.bar), bytes += GHOST * sizeof(real);
    if (at.wraps && last == g.size[0]) copy(to + (GHOST + at.local) * sizeof(real), row, GHOST * sizeof(real), at.bar), bytes += GHOST * sizeof(real);
    return bytes;
}

// Between what threads wrote or read and what bulk copies read or write
__device__ __forceinline__ void written_for_copies() { asm volatile("fence.proxy.async;" ::: "memory"); }

__device__ __forceinline__ void arrive_with(u32 bar, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
__device__ __forceinline__ void wait_for(u32 bar, u32 parity) {
    u32 done;
    do
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(done) : "r"(bar), "r"(parity) : "memory");
    while (!done);
}

// The n-th cell of a rim: beyond the diamond of the step before, in reach of this one
__device__ __forceinline__ void rim_cell(int n, int &a, int &c) {
    const bool below = n >= RIM / 2;
    int j = below ? n - RIM / 2 : n, m;
    if (j < W * H)
        m = j / (2 * H), a = W - 1 - m - H + j % (2 * H);
    else {
        j -= W * H;
        for (m = W / 2; j >= R - 1 - 2 * m; m++) j -= R - 1 - 2 * m;
        a = m - H + j;
    }
    c = below ? -1 - m : m;
}

// The n-th live cell
__device__ __forceinline__ void live_cell(int n, int &a, int &c) {
    const bool below = n >= REACH;
    int j = below ? n - REACH : n, m;
    for (m = 0; j >= R - 1 - 2 * m; m++) j -= R - 1 - 2 * m;
    a = m - H + j, c = below ? -1 - m : m;
}

// Where a row lies in shared memory: bytes from the first column of the room, and 1 where it is half a ring on. By side of a thread, and m + H
// of a row m >= -H, where -1 is the first row of the other side.
__device__ __forceinline__ u32 entry_of(int side, int m) {
    const int row = folded(m);
    return (side ^ (m < 0) ? SIDE : 0) + ring_of(row) + half_on(row);
}

// Cells of a row one after the other, which turn round where the ring ends
struct Walk {
    u32 at;    // of the first, less what the ring's end takes back
    int left;  // cells before the ring's end
    __device__ __forceinline__ u32 cell(int i) {
        if (i && i == left) at -= R * PITCH;
        return at + i * PITCH;
    }
};

// What a warp computes: four cells of the rows m and -1 - m, or the last three of those rows and the last one of the next
struct Cells {
    int first, a;   // row, and its first cell
    int second, b;  // row and cell of the fourth, if it stands alone
    bool whole;

    __device__ __forceinline__ explicit Cells(int warp) {
        int m = 0, fours = warp;
        while (m < W / 2 && fours >= (W - 1 - 2 * m) / 4) fours -= (W - 1 - 2 * m) / 4, m++;
        whole = m < W / 2;
        first = whole ? m : 2 * fours, a = whole ? m + 4 * fours : first + (W - 1 - 2 * first) / 4 * 4;
        second = first + 1, b = second + (W - 1 - 2 * second) / 4 * 4;
    }
    __device__ __forceinline__ int row(int i) const { return i < 3 || whole ? first : second; }
    __device__ __forceinline__ int cell(int i) const { return i < 3 || whole ? a + i : b; }
};

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
        const real change = fused((real)coefficient(1, 1), plus(low.v[q], high.v[q]), times((real)(2 * coefficient(1, 0)), here.v[q]));
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
        Four sum;
#pragma unroll
        for (int q = 0; q < 4; q++) sum.v[q] = times((real)(6 * coefficient(H, 0)), here.v[q]);
#pragma unroll
        for (int k = 1; k <= H; k++) {
            const Four inner = get_four(rows[2 * k - 2].cell(i)), outer = get_four(rows[2 * k - 1].cell(i));
#pragma unroll
            for (int q = 0; q < 4; q++) {
                real pairs = plus(window[4 + q - k], window[4 + q + k]);
                pairs = plus(pairs, plus(inner.v[q], outer.v[q]));
                pairs = plus(pairs, plus(line[i + H - k].v[q], line[i + H + k].v[q]));
                sum.v[q] = fused((real)coefficient(H, k), pairs, sum.v[q]);
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
            absorb_cells(p, at, entries, cells, base, B, phase, now, old);
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
    if (LAYERS && p.step.medium.layer[0].width) {
        const Twins &t = p.twins[0];
        at.layers_low = min(max(t.low - at.x0, 0), at.local) / 4;
        at.layers = at.layers_low + max(at.x0 + at.local - max(at.x0, t.start), 0) / 4;
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
#if LAYERS
    __shared__ __align__(16) real profile[6][COLUMNS];
    at.profile = (u32)__cvta_generic_to_shared(profile);
    for (int n = threadIdx.x; n < 6 * COLUMNS; n += 32 * WARPS) {
        const Twins &t = p.twins[0];
        const int x = at.x0 + n % COLUMNS;
        const bool held = p.step.medium.layer[0].width && x < g.size[0] && (x < t.low || x >= t.start);
        profile[n / COLUMNS][n % COLUMNS] = held ? t.profile[n / COLUMNS * t.slots + slot_in(t, x)] : (real)0;
    }
#endif
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
