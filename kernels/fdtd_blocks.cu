// Many steps of finite differences for sound in one launch where a plane holds more than a speed - walls, absorption, absorbing layers, a density a site -
// or where something is done at single sites (two dimensions). REAL is float or double; HALF (the order), STEPS (of a pass), ROWS (of a region), EACH (rows of a
// thread), AT_ONCE (blocks of a multiprocessor) and EDGE_REGISTERS (of a thread of `edge_blocks`, where there is that) are defined outside. What is plain in between is stepped by tiles (fdtd_tiles.cu); both write the same pair
// of levels.
//
// Block: the levels of a region of COLUMNS x ROWS sites go on STEPS steps; the outermost HALF STEPS sites on a side that is no edge of the grid are computed for
// the inner ones' sake alone. Beyond a periodic edge the region holds images, other edges are closed as in fdtd.cuh. What layers remember is read from one set of
// arrays and written to another, as the levels are: blocks beside read it too. The operations of a site are those of `Site` in fdtd.cuh, in their order: the same
// bits.
//
// Tiles of the same pass start while blocks still run (real.cuh), and so do plain blocks beside those with layers: they read the same levels and write other sites.
//
// A warp has EACH whole rows, a thread two columns side by side of each. It holds both levels, speeds and what layers remember in registers, and reads the columns
// beside its own from other lanes. Shared memory holds the rows that other warps read, two levels in turn, and rows at whose sites something is done: with one
// barrier a step, two more if something is done. A warp finds out once a pass what is near its sites and takes the loop that knows no more than that. Sites of a
// region that nothing valid reaches any more are stepped on, and thrown away. Where a warp has sites with a density or absorption of their own or soft edges, or
// anything but a speed at orders 6 and 8, which takes more registers than there are, it goes on site by site in shared memory, where what layers remember lies
// then too. Loops have no branches between sites: across these the compiler could not move instructions.
//
// All levels of a region are under way at once; loaded row by row, waiting for them took more than half of a block's time.
//
// `edge_blocks` steps blocks that reach the absorbing layer of one axis and hold no more than walls and speeds beside it. Rows of its regions lie along the edge: at
// an edge along y the region is turned, a row of it is a column of the grid, and EACH rows side by side are one load. So a warp's rows are in the layer or not, and only
// warps with some take the longer loop; with lanes across the layer all did. The outer parts of an axis are as wide as the layer and what a pass reaches from it, no
// wider. Speeds and what is kept lie in shared memory, so that 80 registers are enough and two blocks of up to 48 rows share a multiprocessor, with tiles beside them.
// A frame of layers of 32 sites around 2048 x 2048, order 2 and order 4 (4 steps), with nothing inside: 29 us a pass instead of 38 and 37, of which the corners,
// four blocks of `layered_blocks`, take 20.
//
// Traffic: 4 words a site and pass, 12 more in a corner of layers, each times COLUMNS ROWS over the sites that a block writes. Counted in the machine code, order
// 2: 17 instructions a plain site and step, 28 beside walls, 46 to 55 in a layer, 82 in two. A plane of 2000 x 1996 sites in blocks alone, single precision, on an
// H200: 424 G sites a second and step (order 2; 2.4 times as many as with a column a thread, levels in shared memory and loads row by row), 296 with walls
// everywhere, 246 at order 4.
#include "fdtd_blocks.cuh"

__device__ __forceinline__ int in_ring(int at, int n) { return at < 0 ? n - 1 - (-1 - at) % n : at < n ? at : at % n; }

// A thread's sites in the region of its block: PAIR columns, EACH rows. The columns of a turned block are rows of the grid
struct Block {
    const Blocks &p;
    const Room &room;
    const Span &across, &along;
    int x, top, here, stride;        // of the first site, in the region, and how far away the second column is
    int i, beside;                   // the columns in the grid
    int slot_across, slot_beside;    // and in the layers of x
    bool turned;

    // The grid's axis along the rows of the region, 0, or along its columns, 1
    __device__ __forceinline__ int axis_of(int axis) const { return turned ? 1 - axis : axis; }
    __device__ __forceinline__ int edge(int axis) const { return p.step.grid.edge[axis_of(axis)]; }
    __device__ __forceinline__ int at(int n, int c) const { return here + n * COLUMNS + c * stride; }
    __device__ __forceinline__ int column(int c) const { return c ? beside : i; }
    __device__ __forceinline__ int slot_of_column(int c) const { return c ? slot_beside : slot_across; }
    __device__ __forceinline__ bool inside(int n, int c) const { return x + c * stride < across.count && top + n < along.count; }
    __device__ __forceinline__ bool own_column(int c) const { return across.first + x + c * stride >= across.own && across.first + x + c * stride < across.own_end; }
    __device__ __forceinline__ bool own_row(int n) const { return along.first + top + n >= along.own && along.first + top + n < along.own_end; }
    __device__ __forceinline__ bool own(int n, int c) const { return own_column(c) && own_row(n); }
    __device__ __forceinline__ u32 place(int n, int c) const {
        const u32 row = room.lines[top + n].j;
        return turned ? (u32)column(c) * p.step.grid.pitch + row : row * p.step.grid.pitch + column(c);
    }
    __device__ __forceinline__ int slot(int axis, int n, int c) const { return axis ? room.lines[top + n].slot : slot_of_column(c); }
    // A turned block's rows lie side by side in memory.
    __device__ __forceinline__ bool whole_rows() const { return top + EACH <= along.count; }
    __device__ __forceinline__ size_t memory_place(int axis, int n, int c) const {
        const Line line = room.lines[top + n];
        if (turned) return (size_t)column(c) * (2 * p.step.medium.layer[0].end) + line.slot;  // of the layers of x
        return axis ? (size_t)line.slot * p.step.grid.size[0] + column(c) : (size_t)line.j * (2 * p.step.medium.layer[0].end) + slot_of_column(c);
    }
};

// Which of a site's neighbours are closed, or that they are found by walking; `all` is what the grid says of it
__device__ __forceinline__ Mark marks_beside(const Block &b, int n, int c, Mark all) {
    const int at[2] = {b.x + c, b.top + n}, lane = b.x / PAIR;
    Mark found = !MIRRORS && all & BESIDE ? WALKS : 0, edges = 0;
#pragma unroll
    for (int axis = 0; axis < 2; axis++) {
        const Span &span = axis ? b.along : b.across;
        const bool low_known = span.mirrors_low(b.edge(axis)), high_known = span.mirrors_high(b.edge(axis), axis ? (int)EACH : (int)PAIR);
        if ((span.closed_low && at[axis] < H) || (span.closed_high && at[axis] >= span.count - H)) {
            if (!MIRRORS || b.edge(axis) == SOFT) return WALKS;
#pragma unroll
            for (int k = 1; k <= H; k++) {
                const int shift = (axis ? 2 : 0) + (k > 1 ? FAR : 0);
                if (span.closed_low && at[axis] < k) (low_known ? edges : found) |= CLOSED_LEFT << shift;
                if (span.closed_high && at[axis] + k >= span.count) (high_known ? edges : found) |= CLOSED_RIGHT << shift;
            }
        }
    }
    if (!MIRRORS) return found;
#pragma unroll
    for (int k = 1; k <= H; k++) {
        const int shift = k > 1 ? FAR : 0, row = b.top + n;
        const Walls &here = b.room.walls[row];
        if (here.beside(c, -k) >> lane & 1) found |= CLOSED_LEFT << shift;
        if (here.beside(c, k) >> lane & 1) found |= CLOSED_RIGHT << shift;
        if (row >= k && b.room.walls[row - k].of[c] >> lane & 1) found |= CLOSED_BELOW << shift;
        if (row + k < ROWS && b.room.walls[row + k].of[c] >> lane & 1) found |= CLOSED_ABOVE << shift;
    }
    // Steps in columns know the images beyond edges that are alone.
    return found || b.p.by_sites ? found | edges : 0;
}

// What a warp does: steps of columns with what is near, or site by site, or nothing
enum { CLOSED = 1, ALONG_X = 2, ALONG_Y = 4, BY_SITES = 8, OUTSIDE = 16 };

__device__ __forceinline__ float from_left(float value, int lanes) { return __shfl_up_sync(0xffffffffu, value, lanes); }
__device__ __forceinline__ double from_left(double value, int lanes) { return __shfl_up_sync(0xffffffffu, value, lanes); }
__device__ __forceinline__ float from_right(float value, int lanes) { return __shfl_down_sync(0xffffffffu, value, lanes); }
__device__ __forceinline__ double from_right(double value, int lanes) { return __shfl_down_sync(0xffffffffu, value, lanes); }

// Two columns side by side
struct __align__(2 * sizeof(real)) Two {
    real of[PAIR];
};

// What stands in EACH rows of a column of a turned block
template <class T> struct __align__(EACH * sizeof(T)) Rows {
    T of[EACH];
};

// What an array of the grid has at a thread's sites; what is not inside stays as it was.
template <class T, class From> __device__ __forceinline__ void read_sites(const Block &b, const From *all, T (&out)[EACH][PAIR]) {
#pragma unroll
    for (int c = 0; c < PAIR; c++) {
        if (b.turned) {
            if (!b.inside(0, c)) continue;
            // Groups of rows begin at multiples of their number, and so do rows of the grid.
            const Rows<From> rows = *(const Rows<From> *)(all + b.place(0, c));
#pragma unroll
            for (int n = 0; n < EACH; n++) out[n][c] = rows.of[n];
            continue;
        }
#pragma unroll
        for (int n = 0; n < EACH; n++)
            if (b.inside(n, c)) out[n][c] = all[b.place(n, c)];
    }
}

// A thread's sites. KIND says what is near some of the warp's: walls and edges, layers of the grid's axis along a row, of the other axis
// SPARES registers: what stays or is seldom asked for lies in shared memory
template <int KIND, bool SPARES> struct Column {
    const Block &b;
    u32 in_y, operated;  // which rows are in the layers of y and have operations; the same for the warp
    bool in_x[PAIR];
    bool at_left, at_right, at_bottom, at_top;  // the region ends beside this thread at an edge with images
    real levels[2][EACH][PAIR];
    enum { HELD = SPARES ? 1 : (int)EACH };
    real squares[HELD][PAIR], kept[HELD][PAIR];  // of the rows, if they are not in shared memory
    real remembered[2][3][EACH][PAIR];
    RowFactors factors[PAIR];  // of the layer of x

    // A (memory + g) + B g of the faces below and above, then of the site
    __device__ __forceinline__ real absorbed(const RowFactors &f, real (&memory)[3][EACH][PAIR], int n, int c, real own, const real (&low)[H], const real (&high)[H]) const {
        real below = minus(own, low[0]), above = minus(high[0], own);
        to_fluxes<H>(low, high, below, above);
        below = renew(f.decay[0], f.shift[0], memory[0][n][c], below);
        above = renew(f.decay[1], f.shift[1], memory[1][n][c], above);
        return renew(f.decay[2], f.shift[2], memory[2][n][c], minus(above, below));
    }

    // Whether all rows are in a layer, whose memories lie side by side
    __device__ __forceinline__ bool memories_of_whole_rows(int axis) const {
        if (!b.turned || !axis || !b.whole_rows()) return false;
        const int first = b.slot(1, 0, 0);
        return first >= 0 && b.slot(1, EACH - 1, 0) == first + EACH - 1 && first % EACH == 0 && 2 * b.p.step.medium.layer[0].end % EACH == 0;
    }

    __device__ __forceinline__ void put_aside(const real *all, real *here) const {
        real values[EACH][PAIR] = {};
        read_sites(b, all, values);
#pragma unroll
        for (int n = 0; n < EACH; n++) *(Two *)(here + b.at(n, 0)) = Two{{values[n][0], values[n][1]}};
    }

    __device__ __forceinline__ Two squares_of(int n) const {
        if (!SPARES) return Two{{squares[n % HELD][0], squares[n % HELD][1]}};
        if (b.p.step.medium.squares) return *(const Two *)(b.room.squares + b.at(n, 0));
        return Two{{b.p.step.medium.square, b.p.step.medium.square}};
    }

    __device__ __forceinline__ void load(const real (&first)[2][EACH][PAIR]) {
        const Medium &m = b.p.step.medium;
        in_y = 0, operated = 0;
        at_left = b.x == 0 && b.across.mirrors_low(b.edge(0)), at_right = b.x + PAIR == b.across.count && b.across.mirrors_high(b.edge(0), PAIR);
        at_bottom = b.top == 0 && b.along.mirrors_low(b.edge(1)), at_top = b.top + EACH == b.along.count && b.along.mirrors_high(b.edge(1), EACH);
#pragma unroll
        for (int c = 0; c < PAIR; c++) {
            in_x[c] = b.slot_of_column(c) >= 0;
            factors[c] = KIND & ALONG_X && in_x[c] ? factors_of(m.layer[0], b.slot_of_column(c)) : RowFactors{};
        }
        if (SPARES) {
            if (m.squares) put_aside(m.squares, b.room.squares);
            if (b.p.kept) put_aside(b.p.kept, b.room.kept);
        } else {
            real all[EACH][PAIR], sums[EACH][PAIR];
#pragma unroll
            for (int n = 0; n < EACH; n++)
#pragma unroll
                for (int c = 0; c < PAIR; c++) all[n][c] = m.square, sums[n][c] = 0;
            if (m.squares) read_sites(b, m.squares, all);
            if (b.p.kept) read_sites(b, b.p.kept, sums);
#pragma unroll
            for (int n = 0; n < HELD; n++)
#pragma unroll
                for (int c = 0; c < PAIR; c++) squares[n][c] = all[n][c], kept[n][c] = sums[n][c];
        }
        // Branches, not places that are selected: with `layered ? place : 0` the compiler of a driver (580.159) loaded from places that are none.
#pragma unroll
        for (int n = 0; n < EACH; n++)
#pragma unroll
            for (int c = 0; c < PAIR; c++) {
                levels[0][n][c] = first[0][n][c], levels[1][n][c] = first[1][n][c];
#pragma unroll
                for (int axis = 0; axis < 2; axis++) {
                    if (!(KIND & (axis ? ALONG_Y : ALONG_X))) continue;
#pragma unroll
                    for (int k = 0; k < 3; k++) remembered[axis][k][n][c] = 0;
                    if (!b.inside(n, c) || b.slot(axis, n, c) < 0 || memories_of_whole_rows(axis)) continue;
                    const size_t from = b.memory_place(axis, n, c);
#pragma unroll
                    for (int k = 0; k < 3; k++) remembered[axis][k][n][c] = m.layer[b.axis_of(axis)].memory(k)[from];
                }
            }
        if (KIND & ALONG_Y && memories_of_whole_rows(1))
#pragma unroll
            for (int c = 0; c < PAIR; c++)
                if (b.inside(0, c))
#pragma unroll
                    for (int k = 0; k < 3; k++) {
                        const Rows<real> rows = *(const Rows<real> *)(m.layer[0].memory(k) + b.memory_place(1, 0, c));
#pragma unroll
                        for (int n = 0; n < EACH; n++) remembered[1][k][n][c] = rows.of[n];
                    }
#pragma unroll
        for (int n = 0; n < EACH; n++) {
            const int row = b.top + n;
            if (KIND & ALONG_Y && row < b.along.count && b.slot(1, n, 0) >= 0) in_y |= 1u << n;
            if (b.room.operated[row / 32] >> row % 32 & 1) operated |= 1u << n;
        }
    }

    // L p of a site, whose memories go on
    __device__ __forceinline__ real next(int n, int c, real own, real before, real square, const real (&low)[2][H], const real (&high)[2][H]) {
        const bool row_in_y = KIND & ALONG_Y && in_y >> n & 1, column_in_x = KIND & ALONG_X && in_x[c], layered = column_in_x || row_in_y;
        real sum = plain_change(own, low, high);
        if (KIND & (ALONG_X | ALONG_Y)) {
            RowFactors along_y = {};
            if (KIND & ALONG_Y) along_y = b.room.factors[b.top + n];
            real across = axis_change(own, low[0], high[0]), along = axis_change(own, low[1], high[1]);
            if (KIND & ALONG_X) {
                const real z = absorbed(factors[c], remembered[0], n, c, own, low[0], high[0]);
                across = column_in_x ? z : across;
            }
            if (KIND & ALONG_Y) {
                const real z = absorbed(along_y, remembered[1], n, c, own, low[1], high[1]);
                along = row_in_y ? z : along;
            }
            sum = layered ? plus(across, along) : sum;
            const real step = fused(square, sum, minus(own, before));
            if (TAKES) {
                const real missed = minus(minus(plus(own, step), own), step), none = 0;
                const real losses = plus(column_in_x ? factors[c].loss : none, row_in_y ? along_y.loss : none), part = missed_part(missed, square, losses);
                if (KIND & ALONG_X) remembered[0][2][n][c] = minus(remembered[0][2][n][c], times(part, factors[c].weight));
                if (KIND & ALONG_Y) remembered[1][2][n][c] = minus(remembered[1][2][n][c], times(part, along_y.weight));
            }
        }
        return stepped(own, before, square, sum);
    }

    // From levels[from] to the other one; rows of other warps are read from `around`, what these read is written to `written`
    __device__ __forceinline__ void step(int from, const real *around, real *written) {
        real (&now)[EACH][PAIR] = levels[from], (&out)[EACH][PAIR] = levels[1 - from];
        Two below[H], above[H];  // 1 ... H rows away
#pragma unroll
        for (int k = 0; k < H; k++) below[k] = *(const Two *)(around + b.at(-k - 1, 0)), above[k] = *(const Two *)(around + b.at(EACH + k, 0));
        if (KIND && at_bottom)
#pragma unroll
            for (int k = 0; k < H; k++) below[k] = Two{{now[k % EACH][0], now[k % EACH][1]}};
        if (KIND && at_top)
#pragma unroll
            for (int k = 0; k < H; k++) above[k] = Two{{now[(EACH - 1 - k + EACH) % EACH][0], now[(EACH - 1 - k + EACH) % EACH][1]}};
#pragma unroll
        for (int n = 0; n < EACH; n++) {
            real row[PAIR + 2 * H];
#pragma unroll
            for (int c = 0; c < PAIR; c++) row[H + c] = now[n][c];
#pragma unroll
            for (int k = 1; k <= H; k++) {
                row[H - k] = from_left(now[n][(PAIR * H - k) % PAIR], (k + 1) / PAIR);
                row[H + PAIR - 1 + k] = from_right(now[n][(k - 1) % PAIR], (k + 1) / PAIR);
                if (KIND && k <= PAIR) {
                    row[H - k] = at_left ? now[n][(k - 1) % PAIR] : row[H - k];
                    row[H + PAIR - 1 + k] = at_right ? now[n][(PAIR * H - k) % PAIR] : row[H + PAIR - 1 + k];
                }
            }
            const Two square = squares_of(n);
            u32 both = 0;
            if (KIND & CLOSED) both = *(const u32 *)(b.room.marks + b.at(n, 0));
#pragma unroll
            for (int c = 0; c < PAIR; c++) {
                const real own = now[n][c];
                real low[2][H], high[2][H];
#pragma unroll
                for (int k = 0; k < H; k++) {
                    low[0][k] = row[H + c - k - 1], high[0][k] = row[H + c + k + 1];
                    low[1][k] = n - k - 1 >= 0 ? now[n - k - 1 >= 0 ? n - k - 1 : 0][c] : below[k - n >= 0 ? k - n : 0].of[c];
                    high[1][k] = n + k + 1 < EACH ? now[n + k + 1 < EACH ? n + k + 1 : 0][c] : above[n + k + 1 >= EACH ? n + k + 1 - EACH : 0].of[c];
                }
                Mark mark = 0;
                if (KIND & CLOSED) {
                    mark = c ? both >> 16 : both & 0xffff;
                    mirror(mark, 0, own, low[0], high[0]), mirror(mark, 1, own, low[1], high[1]);
                }
                const real value = next(n, c, own, out[n][c], square.of[c], low, high);
                out[n][c] = KIND & CLOSED && mark & WALL ? (real)0 : value;
            }
            if (n < H || n >= EACH - H || operated >> n & 1) *(Two *)(written + b.at(n, 0)) = Two{{out[n][0], out[n][1]}};
        }
    }

    __device__ __forceinline__ Two kept_of(int n) const {
        if (SPARES) return *(const Two *)(b.room.kept + b.at(n, 0));
        return Two{{kept[n % HELD][0], kept[n % HELD][1]}};
    }

    // After operations on a level in shared memory
    __device__ __forceinline__ void take(int to, const real *level) {
        if (operated)
#pragma unroll
            for (int n = 0; n < EACH; n++)
                if (operated >> n & 1) {
                    const Two two = *(const Two *)(level + b.at(n, 0));
                    levels[to][n][0] = two.of[0], levels[to][n][1] = two.of[1];
                }
        // What is kept of a level goes on
        if (b.p.kept)
#pragma unroll
            for (int n = 0; n < EACH; n++) {
                Two sums = kept_of(n);
#pragma unroll
                for (int c = 0; c < PAIR; c++) sums.of[c] = kept_on(b.p.peaks, sums.of[c], b.p.time_step, levels[to][n][c]);
                if (SPARES)
                    *(Two *)(b.room.kept + b.at(n, 0)) = sums;
                else
                    kept[n % HELD][0] = sums.of[0], kept[n % HELD][1] = sums.of[1];
            }
    }

    // All rows of a column of a turned block
    __device__ __forceinline__ void write(real *all, size_t place, const real (&values)[EACH][PAIR], int c) const {
        Rows<real> rows;
#pragma unroll
        for (int n = 0; n < EACH; n++) rows.of[n] = values[n][c];
        *(Rows<real> *)(all + place) = rows;
    }

    __device__ __forceinline__ void store() const {
        const bool together = b.turned && b.whole_rows() && b.own_row(0) && b.own_row(EACH - 1);
        if (together)
#pragma unroll
            for (int c = 0; c < PAIR; c++) {
                if (!b.own_column(c)) continue;
                const u32 place = b.place(0, c);
                write(b.p.newer, place, levels[0], c), write(b.p.older, place, levels[1], c);
                if (!b.p.kept) continue;
                real sums[EACH][PAIR];
#pragma unroll
                for (int n = 0; n < EACH; n++) sums[n][c] = kept_of(n).of[c];
                write(b.p.kept, place, sums, c);
            }
        bool walled = false;
        if (KIND & CLOSED)
#pragma unroll
            for (int n = 0; n < EACH; n++) walled = walled || (b.room.marks[b.at(n, 0)] | b.room.marks[b.at(n, 1)]) & WALL;
        const bool memories_together = KIND & ALONG_Y && together && !walled && memories_of_whole_rows(1);
        if (memories_together)
#pragma unroll
            for (int c = 0; c < PAIR; c++)
                if (b.own_column(c))
#pragma unroll
                    for (int k = 0; k < 3; k++) write(b.p.memories[0][k], b.memory_place(1, 0, c), remembered[1][k], c);
#pragma unroll
        for (int n = 0; n < EACH; n++) {
            if (b.top + n >= b.along.count || !b.own_row(n)) continue;
#pragma unroll
            for (int c = 0; c < PAIR; c++) {
                if (!b.own_column(c)) continue;
                const u32 place = b.place(n, c);
                if (!together) {
                    b.p.newer[place] = levels[0][n][c], b.p.older[place] = levels[1][n][c];
                    if (b.p.kept) b.p.kept[place] = kept_of(n).of[c];
                }
                if (memories_together) continue;
                const bool wall = KIND & CLOSED && b.room.marks[b.at(n, c)] & WALL;
#pragma unroll
                for (int axis = 0; axis < 2; axis++) {
                    if (!(KIND & (axis ? ALONG_Y : ALONG_X)) || b.slot(axis, n, c) < 0) continue;
                    const size_t to = b.memory_place(axis, n, c);
                    const int of = b.axis_of(axis);
#pragma unroll
                    for (int k = 0; k < 3; k++) b.p.memories[of][k][to] = wall ? b.p.step.medium.layer[of].memory(k)[to] : remembered[axis][k][n][c];
                }
            }
        }
    }
};

// The steps of a pass in columns
template <int KIND, bool SPARES = false> __device__ __forceinline__ void by_columns(const Block &b, real *now, real *old, const real (&levels)[2][EACH][PAIR]) {
    const Operations operations{b.room.range, b.room.operated};
    Column<KIND, SPARES> c{b};
    c.load(levels);
#pragma unroll 1
    for (int s = 0; s < STEPS; s += 2) {
        c.step(0, now, old);
        operations.perform(b.p, old, b.p.step_of_batch + s);
        c.take(1, old);
        c.step(1, old, now);
        operations.perform(b.p, now, b.p.step_of_batch + s + 1);
        c.take(0, now);
    }
    c.store();
}

// What layers remember, to shared memory or BACK from there
template <bool BACK> __device__ __forceinline__ void copy_memories(const Block &b) {
#pragma unroll 1
    for (int m = 0; m < PAIR * EACH; m++)
#pragma unroll
        for (int axis = 0; axis < 2; axis++) {
            const int n = m / PAIR, c = m % PAIR;
            if (!b.inside(n, c) || (BACK && !b.own(n, c))) continue;
            if (b.slot(axis, n, c) < 0) continue;
            const size_t place = b.memory_place(axis, n, c);
#pragma unroll
            for (int k = 0; k < 3; k++) {
                real &here = b.room.memories[axis][k][b.at(n, c)];
                if (BACK)
                    b.p.memories[axis][k][place] = here;
                else
                    here = b.p.step.medium.layer[axis].memory(k)[place];
            }
        }
}

// The steps of a pass site by site, in columns that are half a row apart: neighbouring lanes read neighbouring words
__device__ __forceinline__ void by_sites(const Block &pairs, real *now, real *old) {
    const Blocks &p = pairs.p;
    const Layer &layer = p.step.medium.layer[0];
    const int nx = p.step.grid.size[0], x = pairs.x / PAIR, half = COLUMNS / PAIR, i = in_ring(pairs.across.first + x, nx), beside = in_ring(pairs.across.first + x + half, nx);
    const Block b = {p, pairs.room, pairs.across, pairs.along, x, pairs.top, pairs.top * COLUMNS + x, half, i, beside, slot_in(layer, nx, i), slot_in(layer, nx, beside), false};
    const Operations operations{b.room.range, b.room.operated};
    copy_memories<false>(b);
#pragma unroll 1
    for (int s = 1; s <= STEPS; s++) {
        const int begin = max(b.along.begin(s), b.top) - b.top, end = min(b.along.end(s) - b.top, (int)EACH);
#pragma unroll 1
        for (int n = begin; n < end; n++)
#pragma unroll 1
            for (int c = 0; c < PAIR; c++) {
                const int here = b.at(n, c), x = b.x + c * half;
                if (x < b.across.begin(s) || x >= b.across.end(s)) continue;
                old[here] = Cell{b.p.step, b.room, now, here, x, b.top + n, {b.slot_of_column(c), b.slot(1, n, c)}, b.place(n, c)}.next(old[here]);
            }
        operations.perform(b.p, old, b.p.step_of_batch + s - 1);
        if (b.p.kept)
#pragma unroll 1
            for (int m = 0; m < PAIR * EACH; m++)
                if (b.inside(m / PAIR, m % PAIR) && b.own(m / PAIR, m % PAIR)) {
                    real &kept = b.p.kept[b.place(m / PAIR, m % PAIR)];
                    kept = kept_on(b.p.peaks, kept, b.p.time_step, old[b.at(m / PAIR, m % PAIR)]);
                }
        real *const written = old;
        old = now, now = written;
    }
    copy_memories<true>(b);
#pragma unroll 1
    for (int m = 0; m < PAIR * EACH; m++) {
        const int n = m / PAIR, c = m % PAIR;
        if (!b.inside(n, c) || !b.own(n, c)) continue;
        const u32 place = b.place(n, c);
        b.p.newer[place] = now[b.at(n, c)], b.p.older[place] = old[b.at(n, c)];
    }
}

// The steps of a block. LAYERED: it may hold absorbing layers or sites that go on one by one
template <bool LAYERED> __device__ __forceinline__ void steps_of_block(const Blocks &p, unsigned char *shared, u32 *range, u32 *operated) {
    // What stands before the first row and behind the last one is read for sites that are thrown away.
    real *now = (real *)shared + H * COLUMNS, *old = now + SITES;
    Room room = furnished(p, old + SITES);
    room.range = range, room.operated = operated;
    const Grid &g = p.step.grid;
    const Medium &m = p.step.medium;
    const int nx = g.size[0], ny = g.size[1];
    const u32 number = p.list[blockIdx.x];
    const Operations operations{range, operated};
    if (threadIdx.x == 0) operations.find(p, number);
    const Span across(p, 0, number % p.across, OWN_COLUMNS), along(p, 1, number / p.across, OWN_ROWS);
    room.grid = Grid{{across.count, along.count, 1}, COLUMNS, 2, {g.edge[0] == SOFT ? SOFT : RIGID, g.edge[1] == SOFT ? SOFT : RIGID, RIGID}};

    const int lane = threadIdx.x % 32, x = lane * PAIR, top = threadIdx.x / 32 * EACH, i = in_ring(across.first + x, nx), beside = in_ring(across.first + x + 1, nx);
    Block b = {p, room, across, along, x, top, top * COLUMNS + x, 1, i, beside, slot_in(m.layer[0], nx, i), slot_in(m.layer[0], nx, beside), false};
    if (threadIdx.x < along.count) {
        const int j = in_ring(along.first + threadIdx.x, ny), slot = slot_in(m.layer[1], ny, j);
        room.lines[threadIdx.x] = Line{j, slot};
        if (LAYERED) room.factors[threadIdx.x] = slot >= 0 ? factors_of(m.layer[1], slot) : RowFactors{};
    }
    if (!p.follows) wait_for_launch_before();
    let_next_launch_start();
    const int rows = x < across.count ? min(along.count - top, (int)EACH) : 0, columns = min(across.count - x, (int)PAIR);
    // All of these are under way at once.
    real levels[2][EACH][PAIR], densities[EACH][PAIR];
    Mark marks[EACH][PAIR];
    bool damped = false;
#pragma unroll
    for (int n = 0; n < EACH; n++) {
        const u32 row = (u32)in_ring(n < rows ? along.first + top + n : 0, ny) * g.pitch;
#pragma unroll
        for (int c = 0; c < PAIR; c++) {
            const bool inside = n < rows && c < columns;
            const u32 place = inside ? row + b.column(c) : 0;
            levels[0][n][c] = p.step.now[place], levels[1][n][c] = p.step.old[place];
            marks[n][c] = m.mask && inside ? m.mask[place] & (MIRRORS ? WALL : WALL | BESIDE) : 0;
            if (LAYERED) densities[n][c] = m.density ? m.density[place] : (real)0, damped = damped || (m.damping && inside && m.damping[place] != 0);
        }
    }
    bool walls = false;
#pragma unroll
    for (int n = 0; n < EACH; n++) {
        *(Two *)(now + b.at(n, 0)) = Two{{levels[0][n][0], levels[0][n][1]}};
        *(Two *)(old + b.at(n, 0)) = Two{{levels[1][n][0], levels[1][n][1]}};
        if (LAYERED && m.density) *(Two *)(room.density + b.at(n, 0)) = Two{{densities[n][0], densities[n][1]}};
        const Walls all = {{__ballot_sync(0xffffffffu, marks[n][0] & WALL), __ballot_sync(0xffffffffu, marks[n][1] & WALL)}};
        if (lane == 0) room.walls[top + n] = all;
        walls = walls || all.of[0] || all.of[1];
    }
    const bool near = __syncthreads_or(walls) || p.by_sites || across.unknown(g.edge[0], PAIR) || along.unknown(g.edge[1], EACH);
    operations.fetch_ahead(p);
    // Which sites look at walls and edges, and what is near the sites of a warp
    bool walks = LAYERED && (m.density || damped), closed = false, along_y = false;
#pragma unroll
    for (int n = 0; n < EACH; n++) {
        Mark all[PAIR] = {};
        if (near)
#pragma unroll
            for (int c = 0; c < PAIR; c++) {
                if (n < rows && c < columns) all[c] = marks[n][c] & WALL | marks_beside(b, n, c, marks[n][c]);
                closed = closed || all[c], walks = walks || all[c] & WALKS;
            }
        *(u32 *)(room.marks + b.at(n, 0)) = all[0] | all[1] << 16;
        along_y = along_y || (n < rows && b.slot(1, n, 0) >= 0);
    }
    if (p.by_sites || range[1]) __syncthreads();  // marks, and rows with operations
    const u32 everyone = 0xffffffffu;
    int kind = __any_sync(everyone, rows > 0) ? 0 : OUTSIDE;
    if (LAYERED && __any_sync(everyone, walks && rows > 0)) kind |= BY_SITES;
    if (__any_sync(everyone, closed)) kind |= CLOSED;
    const bool at_edge = across.mirrors_low(g.edge[0]) || across.mirrors_high(g.edge[0], PAIR) || along.mirrors_low(g.edge[1]) || along.mirrors_high(g.edge[1], EACH);
    if (LAYERED && __any_sync(everyone, rows > 0 && (b.slot_across >= 0 || (columns > 1 && b.slot_beside >= 0)))) kind |= ALONG_X;
    if (LAYERED && __any_sync(everyone, along_y)) kind |= ALONG_Y;
    // Wide stencils with more than a speed take more registers than there are.
    enum { C = MIRRORS ? CLOSED : 0, X = MIRRORS ? ALONG_X : 0, Y = MIRRORS ? ALONG_Y : 0 };
    if (kind & OUTSIDE)
        for (int s = 0; s < STEPS; s++) operations.perform(p, s & 1 ? now : old, p.step_of_batch + s);
    else if (LAYERED && (kind & BY_SITES || (!MIRRORS && kind)))
        by_sites(b, now, old);
    else if (LAYERED && kind & ALONG_X && kind & ALONG_Y)
        by_columns<C | X | Y>(b, now, old, levels);
    else if (LAYERED && kind & ALONG_X && kind & CLOSED)
        by_columns<C | X>(b, now, old, levels);
    else if (LAYERED && kind & ALONG_X)
        by_columns<X>(b, now, old, levels);
    else if (LAYERED && kind & ALONG_Y && kind & CLOSED)
        by_columns<C | Y>(b, now, old, levels);
    else if (LAYERED && kind & ALONG_Y)
        by_columns<Y>(b, now, old, levels);
    else if (kind & CLOSED || at_edge)
        by_columns<C>(b, now, old, levels);
    else
        by_columns<0>(b, now, old, levels);
}

// The steps of a block at an edge: a layer of one axis, and nothing is done at its sites. Rows lie along the edge, in a turned block those of the region, which are
// columns of the grid: a warp has rows in the layer or not, and half of a frame's warps have none.
__device__ __forceinline__ void steps_at_edge(const Blocks &p, unsigned char *shared, u32 *range, u32 *operated) {
    real *now = (real *)shared + H * COLUMNS, *old = now + SITES;
    Room room = furnished(p, old + SITES);
    room.range = range, room.operated = operated;
    room.kept = (real *)(room.walls + ROWS), room.squares = room.kept + SITES;
    const Grid &g = p.step.grid;
    const Medium &m = p.step.medium;
    const u32 entry = p.list[blockIdx.x], number = entry & ~TURNED;
    const bool turned = entry & TURNED;
    const int lanes = turned ? 1 : 0, lines = 1 - lanes, lane = threadIdx.x % 32, x = lane * PAIR, top = threadIdx.x / 32 * EACH;
    const Span spans[2] = {Span(p, 0, number % p.across, OWN_COLUMNS), Span(p, 1, number / p.across, OWN_ROWS)};
    const Span across = turned ? spans[1] : spans[0], along = turned ? spans[0] : spans[1];
    if (threadIdx.x == 0) {
        range[0] = range[1] = 0;
        for (int n = 0; n < (ROWS + 31) / 32; n++) operated[n] = 0;
    }
    const Block b = {p, room, across, along, x, top, top * COLUMNS + x, 1, in_ring(across.first + x, g.size[lanes]), in_ring(across.first + x + 1, g.size[lanes]), -1, -1, turned};
    for (int n = threadIdx.x; n < along.count; n += blockDim.x) {
        const int at = in_ring(along.first + n, g.size[lines]), slot = slot_in(m.layer[lines], g.size[lines], at);
        room.lines[n] = Line{at, slot};
        room.factors[n] = slot >= 0 ? factors_of(m.layer[lines], slot) : RowFactors{};
    }
    __syncthreads();
    if (!p.follows) wait_for_launch_before();
    let_next_launch_start();
    real levels[2][EACH][PAIR] = {};
    Mark marks[EACH][PAIR] = {};
    read_sites(b, p.step.now, levels[0]), read_sites(b, p.step.old, levels[1]);
    if (m.mask) read_sites(b, m.mask, marks);
    bool walls = false;
#pragma unroll
    for (int n = 0; n < EACH; n++) {
        *(Two *)(now + b.at(n, 0)) = Two{{levels[0][n][0], levels[0][n][1]}};
        *(Two *)(old + b.at(n, 0)) = Two{{levels[1][n][0], levels[1][n][1]}};
        const Walls all = {{__ballot_sync(0xffffffffu, b.inside(n, 0) && marks[n][0] & WALL), __ballot_sync(0xffffffffu, b.inside(n, 1) && marks[n][1] & WALL)}};
        if (lane == 0) room.walls[top + n] = all;
        walls = walls || all.of[0] || all.of[1];
    }
    const bool near = __syncthreads_or(walls) || across.unknown(b.edge(0), PAIR) || along.unknown(b.edge(1), EACH);
    bool closed = false, layered = false;
#pragma unroll
    for (int n = 0; n < EACH; n++) {
        Mark all[PAIR] = {};
#pragma unroll
        for (int c = 0; c < PAIR; c++) {
            if (near && b.inside(n, c)) all[c] = (marks[n][c] & WALL) | marks_beside(b, n, c, marks[n][c]);
            closed = closed || all[c];
        }
        *(u32 *)(room.marks + b.at(n, 0)) = all[0] | all[1] << 16;
        layered = layered || (top + n < along.count && b.slot(1, n, 0) >= 0);
    }
    const u32 everyone = 0xffffffffu;
    closed = __any_sync(everyone, closed);
    const bool at_edge = across.mirrors_low(b.edge(0)) || across.mirrors_high(b.edge(0), PAIR) || along.mirrors_low(b.edge(1)) || along.mirrors_high(b.edge(1), EACH);
    const Operations operations{range, operated};
    if (top >= along.count)
        for (int s = 0; s < STEPS; s++) operations.perform(p, s & 1 ? now : old, p.step_of_batch + s);
    else if (layered && closed)
        by_columns<CLOSED | ALONG_Y, true>(b, now, old, levels);
    else if (layered)
        by_columns<ALONG_Y, true>(b, now, old, levels);
    else if (closed || at_edge)
        by_columns<CLOSED, true>(b, now, old, levels);
    else
        by_columns<0, true>(b, now, old, levels);
}

#define ENTRY(NAME, LAYERED, LEAST)                                                                                 \
    extern "C" __global__ void __launch_bounds__(THREADS, LEAST) NAME(const __grid_constant__ Blocks p) {           \
        extern __shared__ __align__(16) unsigned char shared[];                                                     \
        __shared__ u32 range[2], operated[(ROWS + 31) / 32];                                                        \
        steps_of_block<LAYERED>(p, shared, range, operated);                                                        \
        if (p.follows) wait_for_launch_before();  /* whoever waits for this launch waits for the one before too */ \
    }
// Blocks with walls, edges and operations; those with absorbing layers or sites that go on one by one
ENTRY(blocks, false, AT_ONCE)
ENTRY(layered_blocks, true, 1)
// Blocks at one absorbing edge, two on a multiprocessor if the layer is not wide. Stencils of which a layer takes too many registers are left to `layered_blocks`.
#ifdef EDGE_REGISTERS
extern "C" __global__ void __maxnreg__(EDGE_REGISTERS) edge_blocks(const __grid_constant__ Blocks p) {
    extern __shared__ __align__(16) unsigned char shared[];
    __shared__ u32 range[2], operated[(ROWS + 31) / 32];
    steps_at_edge(p, shared, range, operated);
    if (p.follows) wait_for_launch_before();
}
#endif
