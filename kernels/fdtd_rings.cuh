// The diamond of a tower in shared memory: where its rows lie, how they come there, and which warp computes which cells. Single precision.
//
// A block has up to 64 columns, four a lane. Both levels of the diamond and of what its stencils reach lie row by row, 64 columns
// and four ghosts at either end. Of the row c the cells a = m - H ... W - 2 + H - m are live, where m = c or -1 - c: 2(W/2 + H - m) - 1 of them, so that
// the rows m and W/2 + H - 1 - m share one ring of R = W + 2H rows, half a ring apart, in which a cell of given z keeps its place while the diamond
// goes by: nothing is ever moved. What enters (RIM rows a step) is brought by bulk copies while the step before is computed, and takes the places
// of what that step no longer needs.
#pragma once
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
