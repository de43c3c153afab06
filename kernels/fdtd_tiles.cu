// Many steps of finite differences for sound in one pass over a plane, in tiles that overlap (two dimensions). REAL is float or double; HALF (the
// order), STEPS (of a pass), COLUMNS (of a lane), AHEAD (rows under way) and SPEEDS (whether each site has a speed) are defined outside.
//
// Tile: a warp has 32 COLUMNS columns, the outermost HALF STEPS of which on either side it computes for the inner ones' sake alone, and walks along y
// over as many rows as it is told and HALF STEPS more at both ends. Of each level n, n + 1, ... n + STEPS - 1 it keeps the last 2 HALF + 1 rows in
// registers: reading row y of level n, it computes row y - HALF of n + 1, row y - 2 HALF of n + 2, and so on; the last two levels are written, to
// another pair of arrays. Neighbours along x come from the lanes beside. No shared memory, no barrier.
//
// Edges: what stands beyond one is an image, and an image goes on by the same stencil: sums and products are the same with the neighbours exchanged, and
// with all signs changed. So rows and columns beyond an edge are read where their originals lie, and nothing more is done. Tiles that reach no edge have a body without
// images, those whose images of a lane's columns stand side by side as well have one that reads them together.
// Nothing is decided within a row, neither about images nor about the medium (SPEEDS): the compiler puts the instructions of all steps of a row in one order, and their
// latencies behind each other. With a branch in each step, passes took 1.6 to 1.8 times as long.
// The operations of a site are those of `plain` in fdtd_step.cu, in their order: the same bits.
//
// Limits: a medium with no more than a speed (one, or one a site), and nothing done at single sites. Where that is not so, as far as a pass reaches,
// blocks (fdtd_blocks.cu) write what tiles leave out.
// Traffic: 4/STEPS words a site-step and, with a speed per site, reads of it that the first-level cache serves; a share of
// 2 HALF STEPS / (32 COLUMNS) of the columns is computed twice. Bound by arithmetic: 8 instructions a site-step and half a shuffle at order 2.
#include "fdtd_vec.cuh"

#ifndef SPEEDS
#define SPEEDS 0
#endif

enum {
    H = HALF,
    R = 2 * H + 1,  // rows of a stencil
    HALO = H * STEPS,
    OWN = 32 * COLUMNS - 2 * HALO,
    WARPS = 4,
    RING = (STEPS - 1) * H + 1  // rows between the first and the last step
};
static_assert(R % AHEAD == 0, "rows under way keep their places");
static_assert(HALO % COLUMNS == 0 && OWN > 0, "a lane writes all of its columns or none");

struct Tiles {
    Step step;           // `now` and `old` are read
    real *newer, *older; // the last two levels, written
    real *kept;          // + time_step times each level in `tiles_integrating`, the largest size of it in `tiles_with_peaks`
    const int *images;   // what stands for column x: images[x + margin], and for row y: images[nx + 3 margin + y]; 4 site + sign + 1
    const u32 *list;     // the tiles; BESIDE_BLOCKS: some of it is taken
    const u8 *taken;     // what fdtd_blocks.cu steps and writes, a number a block
    const u32 *block_columns, *block_rows;  // taken[block_columns[x / 4] + block_rows[y]]
    int count;           // of tiles
    int across;          // tiles along x
    int chunk;           // rows of a tile
    int margin;          // sites beyond an edge for which there are images
    int follows_blocks;  // whether the launch before is that of the blocks of the same pass, for which it need not wait
    int by_columns;      // whether images have signs, or not all of a lane's columns stand side by side
    real time_step;
};
enum : u32 { BESIDE_BLOCKS = 0x80000000u };

__device__ constexpr int slot(int row) { return (row % R + R) % R; }

// What a tile reads: no images; images of a lane's columns that stand side by side, in that order or the other, without signs; or any
enum { PLAIN, WHOLE, ANY };

// What a lane's columns are images of: all the warp's of themselves, of those from `first` on, `turned` or not, or of each its own
template <int READS> struct Columns {
    int image[READS == ANY ? COLUMNS : 1];
    int first;
    bool whole, turned;

    __device__ __forceinline__ Columns(const Tiles &p, int x) {
        const int nx = p.step.grid.size[0];
        first = x, whole = true, turned = false;
        auto of = [&](int c) { return p.images[min(x + c, nx + p.margin - 1) + p.margin]; };
        if (READS == ANY) {
            whole = __all_sync(0xffffffffu, x >= 0 && x + COLUMNS <= nx);
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) image[c] = of(c);
        }
        if (READS == WHOLE) {
            const int low = of(0) >> 2, high = of(COLUMNS - 1) >> 2;
            // Lanes that no valid site needs may have images of one column.
            turned = low > high, first = min(low, high) / COLUMNS * COLUMNS;
        }
    }

    __device__ __forceinline__ Vec read(const real *row) const {
        Vec out;
        if (READS == ANY && !whole) {
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) out.v[c] = row[image[c] >> 2];
            return out;
        }
        const Vec in = load(row + first);
        if (READS != WHOLE) return in;
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) out.v[c] = turned ? in.v[COLUMNS - 1 - c] : in.v[c];
        return out;
    }
};

// A row as it was read; the signs of images are put on where it is used: to look at what is under way would be to wait for it
struct Row {
    Vec v;
    int sign;
};

__device__ __forceinline__ Vec signed_row(const Columns<ANY> &own, const Row &row) {
    Vec out;
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) out.v[c] = signed_value(row.v.v[c], row.sign * ((own.image[c] & 3) - 1));
    return out;
}
template <int READS> __device__ __forceinline__ Vec signed_row(const Columns<READS> &own, const Row &row) { return row.v; }

// What is kept of each site beside the levels: nothing, the integral of the pressure, the largest size of it
enum { NOTHING, INTEGRAL, PEAKS };
// Of the rows between the first and the last step, each lane's own
typedef Vec Kept[RING][32];

template <bool MASKED, int KEEPS, int READS> __device__ __forceinline__ void walk(const Tiles &p, u32 entry, Kept *kept) {
    const Grid &g = p.step.grid;
    const Medium &m = p.step.medium;
    const int nx = g.size[0], ny = g.size[1], lane = threadIdx.x & 31, tile = MASKED ? entry & ~BESIDE_BLOCKS : entry;
    const int x = tile % p.across * OWN - HALO + COLUMNS * lane, y0 = tile / p.across * p.chunk, y1 = min(y0 + p.chunk, ny);
    const bool writes = lane >= HALO / COLUMNS && lane < 32 - HALO / COLUMNS && x < nx;
    const int *rows = p.images + nx + 3 * p.margin;
    const bool masked = MASKED && entry & BESIDE_BLOCKS && writes;
    const u8 *taken = p.taken + (masked ? p.block_columns[x / 4] : 0);
    // Images of all kinds need the registers of rows under way, and so does what is kept.
    enum { UNDER_WAY = READS == ANY || KEEPS ? 1 : AHEAD };
    const Columns<READS> own(p, x);
    const bool odd = READS == ANY && (g.edge[0] == SOFT || g.edge[1] == SOFT);
    auto image_of = [&](int y) { return READS == PLAIN || (READS == ANY && (u32)y < (u32)ny) ? 4 * y + 2 : rows[y]; };
    auto level = [&](const real *all, int y) {
        const int image = image_of(y);
        return Row{own.read(all + (size_t)(image >> 2) * g.pitch), (image & 3) - 1};
    };
    Vec line[STEPS][R];
#pragma unroll
    for (int s = 0; s < STEPS; s++)
#pragma unroll
        for (int r = 0; r < R; r++)
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) line[s][r].v[c] = 0;
    // Rows of both levels are under way while others are worked on; where each is kept is known, so that none moves.
    Row fresh[UNDER_WAY], before[UNDER_WAY];
#pragma unroll
    for (int n = 0; n < UNDER_WAY; n++) fresh[n] = level(p.step.now, y0 - HALO + n), before[n] = level(p.step.old, y0 - HALO - H + n);
    int place_in_ring = 0;
    auto kept_of = [&](int y) {
        Vec row = {};
        if (writes && y >= y0 && y < y1) row = load(p.kept + (size_t)y * g.pitch + x);
        return row;
    };
    Vec kept_next = {};  // its first row stands outside of the tile
    for (int top = y0 - HALO; top < y1 + HALO; top += R) {
#pragma unroll
        for (int f = 0; f < R; f++) {
            const int y = top + f;
            const int next_one = f % UNDER_WAY;
            line[0][slot(f)] = odd ? signed_row(own, fresh[next_one]) : fresh[next_one].v;
            const Vec oldest = odd ? signed_row(own, before[next_one]) : before[next_one].v;
            fresh[next_one] = level(p.step.now, y + UNDER_WAY), before[next_one] = level(p.step.old, y + UNDER_WAY - H);
            const int row = y - HALO;
            bool mine = writes && row >= y0 && row < y1;
            if (masked && mine) mine = !taken[p.block_rows[row]];
            Vec last;
            const Vec kept_before = kept_next;
            if (KEEPS) place_in_ring = place_in_ring == RING - 1 ? 0 : place_in_ring + 1, kept_next = kept_of(y + 1 - H);
#pragma unroll
            for (int s = 1; s <= STEPS; s++) {
                const Vec here = line[s - 1][slot(f - s * H)];
                const Vec then = s == 1 ? oldest : line[s > 1 ? s - 2 : 0][slot(f - s * H)];
                Vec squares;
#pragma unroll
                for (int c = 0; c < COLUMNS; c++) squares.v[c] = m.square;
                if (SPEEDS) squares = own.read(m.squares + (size_t)(image_of(y - s * H) >> 2) * g.pitch);
                // H columns at either side
                real window[COLUMNS + 2 * H];
#pragma unroll
                for (int c = 0; c < COLUMNS; c++) window[H + c] = here.v[c];
#pragma unroll
                for (int k = 1; k <= H; k++) {
                    const int away = (k + COLUMNS - 1) / COLUMNS;
                    window[H - k] = __shfl_up_sync(0xffffffffu, here.v[away * COLUMNS - k], away);
                    window[H + COLUMNS - 1 + k] = __shfl_down_sync(0xffffffffu, here.v[(k - 1) % COLUMNS], away);
                }
                Vec sum, next, level;
#pragma unroll
                for (int c = 0; c < COLUMNS; c++) sum.v[c] = 0, level.v[c] = times((real)4, here.v[c]);
#pragma unroll
                for (int k = 1; k <= H; k++) {
                    const Vec below = line[s - 1][slot(f - s * H - k)], above = line[s - 1][slot(f - s * H + k)];
#pragma unroll
                    for (int c = 0; c < COLUMNS; c++) {
                        const real pairs = plus(plus(window[H + c - k], window[H + c + k]), plus(below.v[c], above.v[c]));
                        sum.v[c] = term<H>(k, pairs, level.v[c], sum.v[c]);
                    }
                }
#pragma unroll
                for (int c = 0; c < COLUMNS; c++) next.v[c] = plus(here.v[c], fused(squares.v[c], sum.v[c], minus(here.v[c], then.v[c])));
                if (KEEPS) {
                    const int at = place_in_ring - (s - 1) * H, slot = at < 0 ? at + RING : at;
                    Vec &kept_here = kept[threadIdx.x >> 5][slot][lane], total = s == 1 ? kept_before : kept_here;
#pragma unroll
                    for (int c = 0; c < COLUMNS; c++) total.v[c] = kept_on(KEEPS == PEAKS, total.v[c], p.time_step, next.v[c]);
                    if (s < STEPS)
                        kept_here = total;
                    else if (mine)
                        store(p.kept + (size_t)row * g.pitch + x, total);
                }
                if (s < STEPS)
                    line[s < STEPS ? s : 0][slot(f - s * H)] = next;
                else
                    last = next;
            }
            if (mine) {
                const size_t place = (size_t)row * g.pitch + x;
                store(p.newer + place, last);
                store(p.older + place, line[STEPS - 1][slot(f - HALO)]);
            }
        }
    }
}

template <bool MASKED, int KEEPS> __device__ __forceinline__ void tile(const Tiles &p, u32 entry, Kept *kept) {
    const int *size = p.step.grid.size, number = MASKED ? entry & ~BESIDE_BLOCKS : entry;
    const int x0 = number % p.across * OWN - HALO, y0 = number / p.across * p.chunk, y1 = min(y0 + p.chunk, size[1]);
    // The first rows of the last steps are computed for nothing, with speeds from further below; rows go up by R together, and are read AHEAD of that.
    const bool inner = x0 >= 0 && x0 + 32 * COLUMNS <= size[0] && y0 >= HALO + (SPEEDS ? HALO : H) && y1 + HALO + R + AHEAD <= size[1];
    // Each body is compiled where it is worth the driver's time: the host takes `tiles` only where no image needs ANY. Tiles that read images one by one would
    // make all others of a launch wait.
    if (inner)
        walk<MASKED, KEEPS, PLAIN>(p, entry, kept);
    else if (!MASKED || !p.by_columns)
        walk<MASKED, KEEPS, WHOLE>(p, entry, kept);
    else if (MASKED)
        walk<MASKED, KEEPS, ANY>(p, entry, kept);
}

#define ENTRY(NAME, MASKED, KEEPS)                                                                       \
    extern "C" __global__ void __launch_bounds__(32 * WARPS, BLOCKS) NAME(const __grid_constant__ Tiles p) { \
        __shared__ Kept kept[KEEPS ? WARPS : 1];                                                         \
        const int n = blockIdx.x * WARPS + (threadIdx.x >> 5);                                           \
        if (!MASKED || !p.follows_blocks) wait_for_launch_before();                                      \
        let_next_launch_start();                                                                         \
        if (n < p.count) tile<MASKED, KEEPS>(p, p.list[n], kept);                                        \
        if (MASKED) wait_for_launch_before();  /* whoever waits for this launch waits for the blocks */  \
    }
// All tiles whole; those beside what is stepped in blocks; the same, and the integral of the pressure; and its largest size
ENTRY(tiles, false, NOTHING)
ENTRY(tiles_beside, true, NOTHING)
ENTRY(tiles_integrating, true, INTEGRAL)
ENTRY(tiles_with_peaks, true, PEAKS)
