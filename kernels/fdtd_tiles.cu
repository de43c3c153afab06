// Many steps of finite differences for sound in one pass over a plane, in tiles that overlap (two dimensions). REAL is float or double; HALF (the
// order), STEPS (of a pass), COLUMNS (of a lane) and AHEAD (rows under way) are defined outside.
//
// Tile: a warp has 32 COLUMNS columns, the outermost HALF STEPS of which on either side it computes for the inner ones' sake alone, and walks along y
// over as many rows as it is told and HALF STEPS more at both ends. Of each level n, n + 1, ... n + STEPS - 1 it keeps the last 2 HALF + 1 rows in
// registers: reading row y of level n, it computes row y - HALF of n + 1, row y - 2 HALF of n + 2, and so on; the last two levels are written, to
// another pair of arrays. Neighbours along x come from the lanes beside. No shared memory, no barrier.
//
// Edges: what stands beyond one is an image, and an image goes on by the same stencil: sums and products are the same with the neighbours exchanged, and
// with all signs changed. So rows and columns beyond an edge are read where their originals lie, and nothing more is done.
// The operations of a site are those of `plain` in fdtd_step.cu, in their order: the same bits.
//
// Limits: a medium with no more than a speed (one, or one a site), and nothing done at single sites. Where that is not so, as far as a pass reaches,
// blocks (fdtd_blocks.cu) write what tiles leave out.
// Traffic: 4/STEPS words a site-step and, with a speed per site, reads of it that the first-level cache serves; a share of
// 2 HALF STEPS / (32 COLUMNS) of the columns is computed twice. Bound by arithmetic: 8 instructions a site-step and 2 shuffles at order 2.
#include "fdtd_vec.cuh"

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
    real *kept;          // + time_step times each level, or with `peaks` the largest size of it, in `tiles_integrating`
    const int *images;   // what stands for column x: images[x + margin], and for row y: images[nx + 3 margin + y]; 4 site + sign + 1
    const u32 *list;     // the tiles; BESIDE_BLOCKS: some of it is taken
    const u8 *taken;     // what fdtd_blocks.cu steps and writes, a number a block
    const u32 *block_columns, *block_rows;  // taken[block_columns[x / 4] + block_rows[y]]
    int count;           // of tiles
    int across;          // tiles along x
    int chunk;           // rows of a tile
    int margin;          // sites beyond an edge for which there are images
    int follows_blocks;  // whether the launch before is that of the blocks of the same pass, for which it need not wait
    int peaks;
    real time_step;
};
enum : u32 { BESIDE_BLOCKS = 0x80000000u };

__device__ constexpr int slot(int row) { return (row % R + R) % R; }

// What a lane's columns are images of
struct Columns {
    int image[COLUMNS];
    bool whole;  // the warp's are their own
};

// A row as it was read; the signs of images are put on where it is used: to look at what is under way would be to wait for it
struct Row {
    Vec v;
    int sign;
};

__device__ __forceinline__ Vec read(const Columns &own, const real *row, int x) {
    if (own.whole) return load(row + x);
    Vec out;
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) out.v[c] = row[own.image[c] >> 2];
    return out;
}

__device__ __forceinline__ Vec signed_row(const Columns &own, const Row &row) {
    Vec out;
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) out.v[c] = signed_value(row.v.v[c], row.sign * ((own.image[c] & 3) - 1));
    return out;
}

template <bool MASKED, bool INTEGRATES> __device__ __forceinline__ void walk(const Tiles &p, u32 entry) {
    const Grid &g = p.step.grid;
    const Medium &m = p.step.medium;
    const int nx = g.size[0], ny = g.size[1], lane = threadIdx.x & 31, tile = MASKED ? entry & ~BESIDE_BLOCKS : entry;
    const int x = tile % p.across * OWN - HALO + COLUMNS * lane, y0 = tile / p.across * p.chunk, y1 = min(y0 + p.chunk, ny);
    const bool writes = lane >= HALO / COLUMNS && lane < 32 - HALO / COLUMNS && x < nx;
    const int *rows = p.images + nx + 3 * p.margin;
    const bool masked = MASKED && entry & BESIDE_BLOCKS && writes;
    const u8 *taken = p.taken + (masked ? p.block_columns[x / 4] : 0);
    Columns own;
    own.whole = __all_sync(0xffffffffu, x >= 0 && x + COLUMNS <= nx);
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) own.image[c] = p.images[min(x + c, nx + p.margin - 1) + p.margin];
    const bool odd = g.edge[0] == SOFT || g.edge[1] == SOFT;
    auto level = [&](const real *all, int y) {
        int image = 4 * y + 2;
        if ((u32)y >= (u32)ny) image = rows[y];
        return Row{read(own, all + (size_t)(image >> 2) * g.pitch, x), (image & 3) - 1};
    };
    Vec line[STEPS][R];
#pragma unroll
    for (int s = 0; s < STEPS; s++)
#pragma unroll
        for (int r = 0; r < R; r++)
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) line[s][r].v[c] = 0;
    // Rows of both levels are under way while others are worked on; where each is kept is known, so that none moves.
    Row fresh[AHEAD], before[AHEAD];
#pragma unroll
    for (int n = 0; n < AHEAD; n++) fresh[n] = level(p.step.now, y0 - HALO + n), before[n] = level(p.step.old, y0 - HALO - H + n);
    // Sums of the rows between the first and the last step, each lane's own
    __shared__ Vec sums[INTEGRATES ? WARPS : 1][INTEGRATES ? RING : 1][INTEGRATES ? 32 : 1];
    int place_in_ring = 0;
    for (int top = y0 - HALO; top < y1 + HALO; top += R) {
#pragma unroll
        for (int f = 0; f < R; f++) {
            const int y = top + f;
            const int next_one = f % AHEAD;
            line[0][slot(f)] = odd ? signed_row(own, fresh[next_one]) : fresh[next_one].v;
            const Vec oldest = odd ? signed_row(own, before[next_one]) : before[next_one].v;
            fresh[next_one] = level(p.step.now, y + AHEAD), before[next_one] = level(p.step.old, y + AHEAD - H);
            const int row = y - HALO;
            bool mine = writes && row >= y0 && row < y1;
            if (masked && mine) mine = !taken[p.block_rows[row]];
            Vec last, sum_of_row;
            if (INTEGRATES) {
                place_in_ring = place_in_ring == RING - 1 ? 0 : place_in_ring + 1;
                if (writes && y - H >= y0 && y - H < y1) sum_of_row = load(p.kept + (size_t)(y - H) * g.pitch + x);
            }
#pragma unroll
            for (int s = 1; s <= STEPS; s++) {
                const Vec here = line[s - 1][slot(f - s * H)];
                const Vec then = s == 1 ? oldest : line[s > 1 ? s - 2 : 0][slot(f - s * H)];
                Vec squares;
#pragma unroll
                for (int c = 0; c < COLUMNS; c++) squares.v[c] = m.square;
                if (m.squares) squares = read(own, m.squares + (size_t)(rows[y - s * H] >> 2) * g.pitch, x);
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
                if (INTEGRATES) {
                    const int at = place_in_ring - (s - 1) * H, slot = at < 0 ? at + RING : at;
                    Vec &kept = sums[threadIdx.x >> 5][slot][lane];
                    Vec total;
#pragma unroll
                    for (int c = 0; c < COLUMNS; c++) total.v[c] = kept_on(p.peaks, s == 1 ? sum_of_row.v[c] : kept.v[c], p.time_step, next.v[c]);
                    if (s < STEPS)
                        kept = total;
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

// All tiles whole; those beside what is stepped in blocks; the same, and the integral of the pressure or its largest size
#define ENTRY(NAME, MASKED, INTEGRATES)                                                                  \
    extern "C" __global__ void __launch_bounds__(32 * WARPS, BLOCKS) NAME(const __grid_constant__ Tiles p) { \
        const int n = blockIdx.x * WARPS + (threadIdx.x >> 5);                                           \
        if (!MASKED || !p.follows_blocks) wait_for_launch_before();                                      \
        let_next_launch_start();                                                                         \
        if (n < p.count) walk<MASKED, INTEGRATES>(p, p.list[n]);                                         \
        if (MASKED) wait_for_launch_before();  /* whoever waits for this launch waits for the blocks */  \
    }
ENTRY(tiles, false, false)
ENTRY(tiles_beside, true, false)
ENTRY(tiles_integrating, true, true)
