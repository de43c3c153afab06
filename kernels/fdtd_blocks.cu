// Many steps of finite differences for sound in one launch where a plane holds more than a speed - walls, absorption, absorbing layers, a density a site -
// or where something is done at single sites (two dimensions). REAL is float or double; HALF (the order), STEPS (of a pass) and ROWS (of a region) are
// defined outside. What is plain in between is stepped by tiles (fdtd_tiles.cu); both write the same pair of levels.
//
// Block: the levels of a region of COLUMNS x ROWS sites lie in shared memory and go on STEPS steps there; the outermost HALF STEPS sites on a side that is
// no edge of the grid are computed for the inner ones' sake alone. Beyond a periodic edge the region holds images, other edges are closed as in fdtd.cuh. What
// layers remember is read from one set of arrays and written to another, as the levels are: blocks beside read it too. The operations of a site are those of
// `Site` in fdtd.cuh, in their order: the same bits.
//
// Tiles of the same pass start while blocks still run (real.cuh): they read the same levels and write other sites.
//
// A thread has EACH sites of a column, one above the other, and holds in registers what nobody else reads: the older level, speeds, what layers remember. A warp
// finds out once a pass what is near its sites and takes the loop that knows no more than that. Sites of a region that nothing valid reaches any more are stepped
// on, and thrown away. Where a warp has sites with a density or absorption of their own or soft edges, or anything but a speed at orders 6 and 8, which takes
// more registers than there are, it goes on site by site, and what layers remember lies in shared memory too.
//
// Traffic: 4 words a site and pass, 12 more in a corner of layers, each times COLUMNS ROWS over the sites that a block writes. By count of the source
// some 13 instructions a plain site and step and 40 in one layer; what binds has not been profiled.
#include "fdtd_blocks.cuh"

// A thread's sites in the region of its block
struct Block {
    const Blocks &p;
    const Room &room;
    const Span &across, &along;
    int x, top, here;    // of the first site, in the region
    int i, slot_across;  // of the column, in the grid and in the layers of x

    __device__ __forceinline__ bool inside(int n) const { return x < across.count && top + n < along.count; }
    __device__ __forceinline__ bool own(int n) const {
        const int column = across.first + x, row = along.first + top + n;
        return column >= across.own && column < across.own_end && row >= along.own && row < along.own_end;
    }
    __device__ __forceinline__ u32 place(int n) const { return (u32)room.lines[top + n].j * p.step.grid.pitch + i; }
    __device__ __forceinline__ int slot(int axis, int n) const { return axis ? room.lines[top + n].slot : slot_across; }
    __device__ __forceinline__ size_t memory_place(int axis, int n) const {
        const Line line = room.lines[top + n];
        return axis ? (size_t)line.slot * p.step.grid.size[0] + i : (size_t)line.j * (2 * p.step.medium.layer[0].end) + slot_across;
    }
};

// Which of a site's neighbours are closed, or that they are found by walking
__device__ __forceinline__ Mark marks_beside(const Block &b, int n) {
    const Grid &g = b.p.step.grid;
    const u8 *mask = b.p.step.medium.mask;
    const int at[2] = {b.x, b.top + n}, here = b.here + n * COLUMNS;
    Mark found = 0;
#pragma unroll
    for (int axis = 0; axis < 2; axis++) {
        const Span &span = axis ? b.along : b.across;
        const bool near = (span.closed_low && at[axis] < H) || (span.closed_high && at[axis] >= span.count - H);
        if (near && (!MIRRORS || g.edge[axis] == SOFT)) found = WALKS;
    }
    if (!MIRRORS && mask && mask[b.place(n)] & BESIDE) found = WALKS;
    if (!MIRRORS || found) return found;
#pragma unroll
    for (int axis = 0; axis < 2; axis++) {
        const Span &span = axis ? b.along : b.across;
        const int stride = axis ? COLUMNS : 1;
#pragma unroll
        for (int k = 1; k <= H; k++) {
            const int low = at[axis] - k, high = at[axis] + k, shift = (axis ? 2 : 0) + (k > 1 ? FAR : 0);
            if (low < 0 ? span.closed_low : b.room.marks[here - k * stride] & WALL) found |= CLOSED_LEFT << shift;
            if (high >= span.count ? span.closed_high : b.room.marks[here + k * stride] & WALL) found |= CLOSED_RIGHT << shift;
        }
    }
    return found;
}

// What a warp does: steps of columns with what is near, or site by site, or nothing
enum { CLOSED = 1, ALONG_X = 2, ALONG_Y = 4, BY_SITES = 8, OUTSIDE = 16 };

// EACH sites of a column. KIND says what is near some of the warp's: walls and edges, layers of x, of y
template <int KIND> struct Column {
    const Block &b;
    bool in_x;
    u32 in_y, marked;  // which rows are in the layers of y, and which have marks; the same for the warp
    real before[EACH], squares[EACH], kept[EACH];
    real remembered[2][3][EACH];
    RowFactors factors;  // of the layer of x

    // A (memory + g) + B g of the faces below and above, then of the site
    __device__ __forceinline__ real absorbed(const RowFactors &f, real (&memory)[3][EACH], int n, real own, const real (&low)[H], const real (&high)[H]) const {
        real below = minus(own, low[0]), above = minus(high[0], own);
        to_fluxes<H>(low, high, below, above);
        below = renew(f.decay[0], f.shift[0], memory[0][n], below);
        above = renew(f.decay[1], f.shift[1], memory[1][n], above);
        return renew(f.decay[2], f.shift[2], memory[2][n], minus(above, below));
    }

    __device__ __forceinline__ void load(const real *old) {
        const Medium &m = b.p.step.medium;
        in_x = b.slot_across >= 0, in_y = 0, marked = 0;
        factors = KIND & ALONG_X && in_x ? factors_of(m.layer[0], b.slot_across) : RowFactors{};
#pragma unroll
        for (int n = 0; n < EACH; n++) {
            before[n] = old[b.here + n * COLUMNS], squares[n] = m.square, kept[n] = 0;
            const bool inside = b.inside(n);
            if (inside && m.squares) squares[n] = m.squares[b.place(n)];
            if (inside && b.p.kept) kept[n] = b.p.kept[b.place(n)];
            if (KIND & ALONG_Y && b.top + n < b.along.count && b.slot(1, n) >= 0) in_y |= 1u << n;
            if (KIND & CLOSED && __any_sync(0xffffffffu, inside && b.room.marks[b.here + n * COLUMNS])) marked |= 1u << n;
#pragma unroll
            for (int axis = 0; axis < 2; axis++) {
                if (!(KIND & (axis ? ALONG_Y : ALONG_X))) continue;
#pragma unroll
                for (int k = 0; k < 3; k++) remembered[axis][k][n] = 0;
                if (!inside || b.slot(axis, n) < 0) continue;
                const size_t from = b.memory_place(axis, n);
#pragma unroll
                for (int k = 0; k < 3; k++) remembered[axis][k][n] = m.layer[axis].memory(k)[from];
            }
        }
    }

    __device__ __forceinline__ void step(const real *now, real *old) {
        real column[EACH + 2 * H];
#pragma unroll
        for (int n = 0; n < EACH + 2 * H; n++) column[n] = now[b.here + (n - H) * COLUMNS];
#pragma unroll
        for (int n = 0; n < EACH; n++) {
            const int at = b.here + n * COLUMNS;
            real low[2][H], high[2][H];
#pragma unroll
            for (int k = 0; k < H; k++) {
                low[0][k] = now[at - k - 1], high[0][k] = now[at + k + 1];
                low[1][k] = column[n + H - k - 1], high[1][k] = column[n + H + k + 1];
            }
            const real own = column[n + H];
            Mark mark = 0;
            if (KIND & CLOSED && marked >> n & 1) {
                mark = b.room.marks[at];
                mirror(mark, 0, own, low[0], high[0]), mirror(mark, 1, own, low[1], high[1]);
            }
            const bool row_in_y = KIND & ALONG_Y && in_y >> n & 1, layered = (KIND & ALONG_X && in_x) || row_in_y;
            real sum = plain_change(own, low, high);
            if (KIND & ALONG_X || row_in_y) {
                RowFactors along_y;
                if (row_in_y) along_y = b.room.factors[b.top + n];
                real across = axis_change(own, low[0], high[0]), along = axis_change(own, low[1], high[1]);
                if (KIND & ALONG_X) {
                    const real z = absorbed(factors, remembered[0], n, own, low[0], high[0]);
                    across = in_x ? z : across;
                }
                if (row_in_y) along = absorbed(along_y, remembered[1], n, own, low[1], high[1]);
                sum = layered ? plus(across, along) : sum;
                const real step = fused(squares[n], sum, minus(own, before[n]));
                if (TAKES) {
                    const real missed = minus(minus(plus(own, step), own), step), none = 0;
                    const real losses = plus(KIND & ALONG_X && in_x ? factors.loss : none, row_in_y ? along_y.loss : none), part = missed_part(missed, squares[n], losses);
                    if (KIND & ALONG_X) remembered[0][2][n] = minus(remembered[0][2][n], times(part, factors.weight));
                    if (row_in_y) remembered[1][2][n] = minus(remembered[1][2][n], times(part, along_y.weight));
                }
            }
            const real next = stepped(own, before[n], squares[n], sum);
            old[at] = KIND & CLOSED && mark & WALL ? (real)0 : next;
            before[n] = own;
        }
    }

    // What is kept of a level goes on
    __device__ __forceinline__ void keep(const real *level) {
        if (b.p.kept)
#pragma unroll
            for (int n = 0; n < EACH; n++) kept[n] = kept_on(b.p.peaks, kept[n], b.p.time_step, level[b.here + n * COLUMNS]);
    }

    __device__ __forceinline__ void store() const {
#pragma unroll
        for (int n = 0; n < EACH; n++) {
            if (!b.own(n)) continue;
            if (b.p.kept) b.p.kept[b.place(n)] = kept[n];
            const bool wall = KIND & CLOSED && b.room.marks[b.here + n * COLUMNS] & WALL;
#pragma unroll
            for (int axis = 0; axis < 2; axis++) {
                if (!(KIND & (axis ? ALONG_Y : ALONG_X)) || b.slot(axis, n) < 0) continue;
                const size_t to = b.memory_place(axis, n);
#pragma unroll
                for (int k = 0; k < 3; k++) b.p.memories[axis][k][to] = wall ? b.p.step.medium.layer[axis].memory(k)[to] : remembered[axis][k][n];
            }
        }
    }
};

// The steps of a pass in columns
template <int KIND> __device__ __forceinline__ void by_columns(const Block &b, real *now, real *old) {
    Column<KIND> c{b};
    c.load(old);
#pragma unroll 1
    for (int s = 0; s < STEPS; s++) {
        c.step(now, old);
        Operations{b.room.range}.perform(b.p, old, b.p.step_of_batch + s);
        c.keep(old);
        real *const written = old;
        old = now, now = written;
        __syncthreads();
    }
    c.store();
}

// What layers remember, to shared memory or BACK from there
template <bool BACK> __device__ __forceinline__ void copy_memories(const Block &b) {
#pragma unroll 1
    for (int n = 0; n < EACH; n++)
#pragma unroll
        for (int axis = 0; axis < 2; axis++) {
            if (BACK ? !b.own(n) : !b.inside(n)) continue;
            if (b.slot(axis, n) < 0) continue;
            const size_t place = b.memory_place(axis, n);
#pragma unroll
            for (int k = 0; k < 3; k++) {
                real &here = b.room.memories[axis][k][b.here + n * COLUMNS];
                if (BACK)
                    b.p.memories[axis][k][place] = here;
                else
                    here = b.p.step.medium.layer[axis].memory(k)[place];
            }
        }
}

// The steps of a pass site by site
__device__ __forceinline__ void by_sites(const Block &b, real *now, real *old) {
    copy_memories<false>(b);
#pragma unroll 1
    for (int s = 1; s <= STEPS; s++) {
        const int begin = max(b.along.begin(s), b.top) - b.top, end = min(b.along.end(s) - b.top, (int)EACH);
        if (b.x >= b.across.begin(s) && b.x < b.across.end(s))
#pragma unroll 1
            for (int n = begin; n < end; n++) {
                const int here = b.here + n * COLUMNS;
                old[here] = Cell{b.p.step, b.room, now, here, b.x, b.top + n, {b.slot_across, b.slot(1, n)}, b.place(n)}.next(old[here]);
            }
        Operations{b.room.range}.perform(b.p, old, b.p.step_of_batch + s - 1);
        if (b.p.kept)
#pragma unroll 1
            for (int n = 0; n < EACH; n++)
                if (b.inside(n) && b.own(n)) {
                    real &kept = b.p.kept[b.place(n)];
                    kept = kept_on(b.p.peaks, kept, b.p.time_step, old[b.here + n * COLUMNS]);
                }
        real *const written = old;
        old = now, now = written;
        __syncthreads();
    }
    copy_memories<true>(b);
}

__device__ __forceinline__ int in_ring(int at, int n) { return at < 0 ? n - 1 - (-1 - at) % n : at < n ? at : at % n; }

extern "C" __global__ void __launch_bounds__(THREADS) blocks(const __grid_constant__ Blocks p) {
    extern __shared__ __align__(16) unsigned char shared[];
    // What stands before the first row is read for sites that are thrown away.
    real *now = (real *)shared + H * COLUMNS, *old = now + SITES;
    __shared__ u32 range[2];
    Room room = furnished(p, old + SITES);
    room.range = range;
    const Grid &g = p.step.grid;
    const Medium &m = p.step.medium;
    const int nx = g.size[0], ny = g.size[1];
    const u32 number = p.list[blockIdx.x];
    const Span across(p, 0, number % p.across, OWN_COLUMNS), along(p, 1, number / p.across, OWN_ROWS);
    room.grid = Grid{{across.count, along.count, 1}, COLUMNS, 2, {g.edge[0] == SOFT ? SOFT : RIGID, g.edge[1] == SOFT ? SOFT : RIGID, RIGID}};

    const int x = threadIdx.x % COLUMNS, top = threadIdx.x / COLUMNS * EACH, i = in_ring(across.first + x, nx);
    Block b = {p, room, across, along, x, top, top * COLUMNS + x, i, slot_in(m.layer[0], nx, i)};
    if (threadIdx.x < along.count) {
        const int j = in_ring(along.first + threadIdx.x, ny), slot = slot_in(m.layer[1], ny, j);
        room.lines[threadIdx.x] = Line{j, slot};
        if (slot >= 0) room.factors[threadIdx.x] = factors_of(m.layer[1], slot);
    }
    wait_for_launch_before();
    let_next_launch_start();
    const Operations operations{room.range};
    if (threadIdx.x == 0) operations.find(p, number);
    __syncthreads();
    operations.fetch_ahead(p);
    const int rows = x < across.count ? min(along.count - top, (int)EACH) : 0;
    for (int n = 0; n < rows; n++) {
        const int here = b.here + n * COLUMNS;
        const u32 place = b.place(n);
        now[here] = p.step.now[place], old[here] = p.step.old[place];
        room.marks[here] = m.mask ? m.mask[place] & WALL : 0;
        if (m.density) room.density[here] = m.density[place];
    }
    __syncthreads();
    // Which sites look at walls and edges (no other thread's marks but WALL are read, and that stays), and what is near the sites of a warp
    bool walks = m.density != nullptr, closed = false, along_y = false;
    for (int n = 0; n < rows; n++) {
        const Mark all = b.room.marks[b.here + n * COLUMNS] & WALL | marks_beside(b, n);
        b.room.marks[b.here + n * COLUMNS] = all;
        closed = closed || all, walks = walks || all & WALKS || (m.damping && m.damping[b.place(n)] != 0);
        along_y = along_y || b.slot(1, n) >= 0;
    }
    const u32 everyone = 0xffffffffu;
    int kind = __any_sync(everyone, rows > 0) ? 0 : OUTSIDE;
    if (__any_sync(everyone, walks && rows > 0)) kind |= BY_SITES;
    if (__any_sync(everyone, closed)) kind |= CLOSED;
    if (__any_sync(everyone, rows > 0 && b.slot_across >= 0)) kind |= ALONG_X;
    if (__any_sync(everyone, along_y)) kind |= ALONG_Y;
    // Wide stencils with more than a speed take more registers than there are.
    enum { C = MIRRORS ? CLOSED : 0, X = MIRRORS ? ALONG_X : 0, Y = MIRRORS ? ALONG_Y : 0 };
    if (kind & OUTSIDE)
        for (int s = 0; s < STEPS; s++) {
            operations.perform(p, s & 1 ? now : old, p.step_of_batch + s);
            __syncthreads();
        }
    else if (kind & BY_SITES || (!MIRRORS && kind))
        by_sites(b, now, old);
    else if (kind & ALONG_X && kind & ALONG_Y)
        by_columns<C | X | Y>(b, now, old);
    else if (kind & ALONG_X)
        by_columns<C | X>(b, now, old);
    else if (kind & ALONG_Y)
        by_columns<C | Y>(b, now, old);
    else if (kind & CLOSED)
        by_columns<C>(b, now, old);
    else
        by_columns<0>(b, now, old);
    for (int n = 0; n < rows; n++) {
        if (!b.own(n)) continue;
        const u32 place = b.place(n);
        p.newer[place] = now[b.here + n * COLUMNS], p.older[place] = old[b.here + n * COLUMNS];
    }
}
