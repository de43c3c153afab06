// Many steps of finite differences for sound in one launch where a plane holds more than a speed - walls, absorption, absorbing layers, a density a site -
// or where something is done at single sites (two dimensions). REAL is float or double; HALF (the order), STEPS (of a pass) and ROWS (of a region) are
// defined outside. What is plain in between is stepped by tiles (fdtd_tiles.cu); both write the same pair of levels.
//
// Block: the levels of a region of COLUMNS x ROWS sites lie in shared memory with what layers remember of them, and go on STEPS steps there; the outermost
// HALF STEPS sites on a side that is no edge of the grid are computed for the inner ones' sake alone. Beyond a periodic edge the region holds images, other
// edges are closed as in fdtd.cuh. What layers remember is read from one set of arrays and written to another, as the levels are: blocks beside read it too.
// The operations of a site are those of `Site` in fdtd.cuh, in their order: the same bits.
//
// Tiles of the same pass start while blocks still run (real.cuh): they read the same levels and write other sites.
//
// A thread has EACH sites of a column, one above the other. A warp finds out once a pass what is near its sites and takes the loop that knows no more than that;
// where nothing is, the EACH sites go on together and share what they read.
//
// Traffic: 4 words a site and pass, 12 more in a corner of layers, each times COLUMNS ROWS over the sites that a block writes. Bound by arithmetic and
// latency.
#include "fdtd.cuh"

enum {
    H = HALF,
    HALO = H * STEPS,
    COLUMNS = 64,
    THREADS = 1024,
    OWN_COLUMNS = COLUMNS - 2 * HALO,
    OWN_ROWS = ROWS - 2 * HALO,
    SITES = COLUMNS * ROWS,
    EACH = ROWS / (THREADS / COLUMNS),  // rows of a thread
};
static_assert(ROWS % (THREADS / COLUMNS) == 0, "all threads have as many rows");
static_assert(OWN_COLUMNS > 0 && OWN_COLUMNS % 4 == 0 && OWN_ROWS > 0, "a block writes whole groups of columns");
static_assert(STEPS % 2 == 0, "levels stay in their places");

// What a mark of a region's site says beside WALL: that its neighbours are found by walking; and with H = 1 which of those next to it are closed
enum : u8 { WALKS = 2, CLOSED_LEFT = 16, CLOSED_RIGHT = 32, CLOSED_BELOW = 64, CLOSED_ABOVE = 128 };

// What the sites of a warp have: marks, layers; or anything
enum { PLAIN = 0, MARKED = 1, LAYERED = 2, FULL = 3 };

// What is done in a row: numbers among the places that are added to, overwritten and gathered
enum { ADDS = 1, SETS = 2, GATHERS = 4 };
struct __align__(16) RowOperations {
    u32 any, adds, adds_end;  // where steps have places of their own, these are searched
    u32 sets, sets_end, gathers, gathers_end, none;
};

struct Blocks {
    Step step;            // `now` and `old` are read
    real *newer, *older;  // the last two levels, written
    real *potential;      // + time_step times each level; null: nobody asked
    real *memories[2][3]; // psi below and above a site and zeta after the pass, of both axes
    Sites sites;
    const RowOperations *rows;
    const u32 *list;  // the blocks
    int across;       // blocks along x
    int count[2];     // blocks of an axis, those that are counted from its low end, and
    int low[2];       // where these end; the others are counted from the high end
    int step_of_batch;
    real time_step;
};

// The part of an axis that a block steps and writes
struct Span {
    int own, own_end;  // sites
    int first, count;  // of the region
    bool closed_low, closed_high;  // whether the region ends there at an edge that is not periodic

    __device__ __forceinline__ Span(const Blocks &p, int axis, int number, int width) {
        const int n = p.step.grid.size[axis], whole = (n + 3) & ~3, middle = p.low[axis] * width;
        if (number < p.low[axis])
            own = number * width, own_end = min(own + width, whole);
        else
            own_end = whole - (p.count[axis] - 1 - number) * width, own = max(middle, own_end - width);
        own_end = min(own_end, n);
        const bool ring = p.step.grid.edge[axis] == PERIODIC;
        first = own - HALO;
        int end = own_end + HALO;
        closed_low = !ring && first <= 0, closed_high = !ring && end >= n;
        if (closed_low) first = 0;
        if (closed_high) end = n;
        count = end - first;
    }
    // The sites that can be stepped for the s-th time
    __device__ __forceinline__ int begin(int s) const { return closed_low ? 0 : s * H; }
    __device__ __forceinline__ int end(int s) const { return closed_high ? count : count - s * H; }
};

// A row of a region: its number in the grid, its slot in the layers of y or less than 0, and whether something is done at sites of it
struct Line {
    int j;
    short slot, operates;
};

// A region in shared memory
struct Room {
    real *memories[2][3];
    real *density;  // null: the same everywhere
    u8 *marks;
    Line *lines;
    Grid grid;  // that of the region, whose edges are those of the grid where they meet
};

// The first of places[begin ... end - 1], which ascend, that is not below `place`
__device__ __forceinline__ u32 first_from(const u32 *places, u32 begin, u32 end, u32 place) {
    while (begin < end) {
        const u32 middle = (begin + end) >> 1;
        if (places[middle] < place)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

// What is done at a site after a step
__device__ __forceinline__ void operate(const Blocks &p, const RowOperations &r, u32 place, int step, bool own, real &value) {
    const Sites &o = p.sites;
    if (r.any & ADDS) {
        const Additions a(o, step);
        const u32 end = o.adds ? r.adds_end : a.end;
        for (u32 n = first_from(o.places, o.adds ? r.adds : a.begin, end, place); n < end && o.places[n] == place; n++) value = plus(value, a.values[n]);
    }
    if (r.any & SETS && step < o.set_rows) {
        // Of several at one place the last counts, as where one after the other is written
        for (u32 n = first_from(o.set_places, r.sets, r.sets_end, place); n < r.sets_end && o.set_places[n] == place; n++)
            value = o.set_values[(size_t)step * o.set_count + n];
    }
    if (r.any & GATHERS && own)
        for (u32 n = first_from(o.gathers, r.gathers, r.gathers_end, place); n < r.gathers_end && o.gathers[n] == place; n++)
            o.record[(size_t)step * o.count + n] = value;
}

// L p of a site without walls, layers and densities
__device__ __forceinline__ real plain_change(real own, const real (&low)[2][H], const real (&high)[2][H]) {
    const real level = times((real)4, own);
    real sum = 0;
#pragma unroll
    for (int k = 1; k <= H; k++) sum = term<H>(k, plus(plus(low[0][k - 1], high[0][k - 1]), plus(low[1][k - 1], high[1][k - 1])), level, sum);
    return sum;
}

__device__ __forceinline__ real stepped(real own, real before, real square, real sum) { return plus(own, fused(square, sum, minus(own, before))); }

// A site of a region: `at` in it, `to` in the grid
struct Cell {
    const Step &s;
    const Room &room;
    const real *now;
    int here, x, y;   // in the region
    int slots[2];     // in the layers of x and y, or less than 0
    u32 place;        // in the grid

    // What stands 1 ... H sites away on both sides along an axis; where walls or edges are near, these are mirrors
    template <int KIND> __device__ __forceinline__ void neighbours(int axis, u8 mark, real own, real (&low)[H], real (&high)[H]) const {
        const int stride = axis ? COLUMNS : 1;
        if (KIND & MARKED && mark & WALKS) {
#pragma unroll 1
            for (int side = -1; side <= 1; side += 2) {
                Walker walker(room.grid, axis, axis ? y : x, here, side);
#pragma unroll
                for (int k = 0; k < H; k++) {
                    walker.step(room.grid, room.marks, axis);
                    const real value = signed_value(now[walker.place], walker.sign_here());
                    if (side < 0)
                        low[k] = value;
                    else
                        high[k] = value;
                }
            }
            return;
        }
#pragma unroll
        for (int k = 0; k < H; k++) low[k] = now[here - (k + 1) * stride], high[k] = now[here + (k + 1) * stride];
        if (KIND & MARKED && H == 1) {
            low[0] = mark & (axis ? CLOSED_BELOW : CLOSED_LEFT) ? own : low[0];
            high[0] = mark & (axis ? CLOSED_ABOVE : CLOSED_RIGHT) ? own : high[0];
        }
    }

    // Beside edges only, where a density a site stands for walls
    __device__ __forceinline__ real face(int axis, int offset, real own, real rho) const {
        int sign;
        const int at = axis ? y : x, there = here + (ghost(room.grid.edge[axis], room.grid.size[axis], at + offset, sign) - at) * (axis ? COLUMNS : 1);
        return over(minus(signed_value(now[there], sign), own), plus(rho, room.density[sign > 0 ? there : here]));
    }

    __device__ __forceinline__ real faces(int axis, real own, real rho) const { return plus(face(axis, -1, own, rho), face(axis, 1, own, rho)); }

    // Z of an axis whose layer holds the site; its memories go on by a step
    template <int KIND> __device__ __forceinline__ real absorbed(const Layer &l, int axis, int slot, real own, const real (&low)[H], const real (&high)[H]) const {
        real below = minus(own, low[0]), above = minus(high[0], own);
        if (H > 1) below = times((real)flux_weight(H, 0), below), above = times((real)flux_weight(H, 0), above);
#pragma unroll
        for (int m = 1; m < H; m++) {
            below = fused((real)flux_weight(H, m), minus(high[m - 1], low[m]), below);
            above = fused((real)flux_weight(H, m), minus(high[m], low[m - 1]), above);
        }
        const real *factors = l.factors + slot;
        real lower = room.memories[axis][0][here], upper = room.memories[axis][1][here], zeta = room.memories[axis][2][here];
        below = renew(factors[0], factors[6 * l.end], lower, below);
        above = renew(factors[2 * l.end], factors[8 * l.end], upper, above);
        const real z = renew(factors[4 * l.end], factors[10 * l.end], zeta, minus(above, below));
        room.memories[axis][0][here] = lower, room.memories[axis][1][here] = upper, room.memories[axis][2][here] = zeta;
        return KIND == FULL && room.density ? over(z, room.density[here]) : z;
    }

    // The part of L p of an axis at a site in layers
    template <int KIND> __device__ __forceinline__ real change(int axis, real own, const real (&low)[H], const real (&high)[H]) const {
        if (slots[axis] >= 0) return absorbed<KIND>(s.medium.layer[axis], axis, slots[axis], own, low, high);
        if (KIND == FULL && room.density) {
            const real sum = faces(axis, own, room.density[here]);
            return plus(sum, sum);
        }
        const real level = plus(own, own);
        real sum = 0;
#pragma unroll
        for (int k = 1; k <= H; k++) sum = term<H>(k, plus(low[k - 1], high[k - 1]), level, sum);
        return sum;
    }

    // L p
    template <int KIND> __device__ __forceinline__ real operated(real own, u8 mark) const {
        real low[2][H], high[2][H];
        neighbours<KIND>(0, mark, own, low[0], high[0]);
        neighbours<KIND>(1, mark, own, low[1], high[1]);
        if (KIND & LAYERED && (slots[0] >= 0 || slots[1] >= 0)) return plus(change<KIND>(0, own, low[0], high[0]), change<KIND>(1, own, low[1], high[1]));
        if (KIND == FULL && room.density) {
            const real rho = room.density[here], sum = plus(faces(0, own, rho), faces(1, own, rho));
            return plus(sum, sum);
        }
        return plain_change(own, low, high);
    }

    // Lets zeta take over what rounding put into the pressure
    template <int KIND> __device__ __forceinline__ void take(real square, real missed) const {
        real decay[2], losses = 0;
#pragma unroll
        for (int axis = 0; axis < 2; axis++) {
            const Layer &l = s.medium.layer[axis];
            decay[axis] = slots[axis] >= 0 ? l.factors[4 * l.end + slots[axis]] : 1;
            losses = plus(losses, loss_of(decay[axis]));
        }
        const real part = missed_part(KIND == FULL && room.density ? times(missed, room.density[here]) : missed, square, losses);
#pragma unroll
        for (int axis = 0; axis < 2; axis++)
            if (slots[axis] >= 0) {
                real &zeta = room.memories[axis][2][here];
                zeta = minus(zeta, times(part, missed_weight(decay[axis])));
            }
    }

    // The value after `before` and `now`
    template <int KIND> __device__ __forceinline__ real next(real before) const {
        const Medium &m = s.medium;
        const u8 mark = KIND & MARKED ? room.marks[here] : (u8)0;
        if (mark & WALL) return 0;
        const real own = now[here], square = m.squares ? m.squares[place] : m.square;
        const real step = fused(square, operated<KIND>(own, mark), minus(own, before)), next = plus(own, step);
        if (TAKES && KIND & LAYERED && (slots[0] >= 0 || slots[1] >= 0)) take<KIND>(square, minus(minus(next, own), step));
        if (KIND != FULL || !m.damping) return next;
        const real rate = m.damping[place];
        return rate == 0 ? next : plus(own, over(minus(minus(next, own), times(rate, minus(own, before))), plus((real)1, rate)));
    }
};

// Where the arrays that a medium needs begin
__device__ __forceinline__ Room furnished(const Blocks &p, real *end) {
    Room room;
#pragma unroll
    for (int axis = 0; axis < 2; axis++)
#pragma unroll
        for (int n = 0; n < 3; n++) {
            room.memories[axis][n] = end;
            if (p.step.medium.layer[axis].end) end += SITES;
        }
    room.density = nullptr;
    if (p.step.medium.density) room.density = end, end += SITES;
    room.lines = (Line *)end;
    room.marks = (u8 *)(room.lines + ROWS);
    return room;
}

// A step of a thread's sites
struct Turn {
    const Blocks &p;
    const Room &room;
    const Span &along;
    const real *now;
    real *old;
    int x, i, slot;   // of the column: in the region, in the grid, in the layer of x
    int number;       // of the step in the batch
    bool mine;        // whether the column is written
    bool finishes;    // whether anything is done after the step

    __device__ __forceinline__ u32 place(int y) const { return (u32)room.lines[y].j * p.step.grid.pitch + i; }

    // Operations, and the integral of what was stepped
    __device__ __forceinline__ real finished(int y, real next) const {
        if (!finishes) return next;
        const Line line = room.lines[y];
        const u32 to = place(y);
        const bool own = mine && along.first + y >= along.own && along.first + y < along.own_end;
        if (line.operates) operate(p, p.rows[line.j], to, number, own, next);
        if (p.potential && own) p.potential[to] = plus(p.potential[to], times(p.time_step, next));
        return next;
    }

    // EACH plain sites from row `top` on
    __device__ __forceinline__ void together(int top) const {
        const Medium &m = p.step.medium;
        const int here = top * COLUMNS + x;
        real column[EACH + 2 * H], next[EACH];
#pragma unroll
        for (int n = 0; n < EACH + 2 * H; n++) column[n] = now[here + (n - H) * COLUMNS];
#pragma unroll
        for (int n = 0; n < EACH; n++) {
            const int at = here + n * COLUMNS;
            real low[2][H], high[2][H];
#pragma unroll
            for (int k = 0; k < H; k++) {
                low[0][k] = now[at - k - 1], high[0][k] = now[at + k + 1];
                low[1][k] = column[n + H - k - 1], high[1][k] = column[n + H + k + 1];
            }
            const real own = column[n + H], square = m.squares ? m.squares[place(top + n)] : m.square;
            next[n] = stepped(own, old[at], square, plain_change(own, low, high));
        }
#pragma unroll
        for (int n = 0; n < EACH; n++) old[here + n * COLUMNS] = finished(top + n, next[n]);
    }

    // Rows begin ... end - 1, site by site
    template <int KIND> __device__ __forceinline__ void rows(int begin, int end) const {
#pragma unroll 1
        for (int y = begin; y < end; y++) {
            const Line line = room.lines[y];
            const int here = y * COLUMNS + x;
            const Cell cell = {p.step, room, now, here, x, y, {slot, line.slot}, (u32)line.j * p.step.grid.pitch + i};
            old[here] = finished(y, cell.template next<KIND>(old[here]));
        }
    }
};

__device__ __forceinline__ int in_ring(int at, int n) { return at < 0 ? n - 1 - (-1 - at) % n : at < n ? at : at % n; }

extern "C" __global__ void __launch_bounds__(THREADS) blocks(const __grid_constant__ Blocks p) {
    extern __shared__ __align__(16) unsigned char shared[];
    real *now = (real *)shared, *old = now + SITES;
    Room room = furnished(p, old + SITES);
    const Grid &g = p.step.grid;
    const Medium &m = p.step.medium;
    const int nx = g.size[0], ny = g.size[1];
    const u32 number = p.list[blockIdx.x];
    const Span across(p, 0, number % p.across, OWN_COLUMNS), along(p, 1, number / p.across, OWN_ROWS);
    room.grid = Grid{{across.count, along.count, 1}, COLUMNS, 2, {g.edge[0] == SOFT ? SOFT : RIGID, g.edge[1] == SOFT ? SOFT : RIGID, RIGID}};

    const int x = threadIdx.x % COLUMNS, row = threadIdx.x / COLUMNS, top = row * EACH, i = in_ring(across.first + x, nx);
    const int slot_across = slot_in(m.layer[0], nx, i);
    const bool mine_across = across.first + x >= across.own && across.first + x < across.own_end;
    if (threadIdx.x < along.count) {
        const int j = in_ring(along.first + threadIdx.x, ny);
        room.lines[threadIdx.x] = Line{j, (short)slot_in(m.layer[1], ny, j), (short)(p.rows && p.rows[j].any)};
    }
    wait_for_launch_before();
    let_next_launch_start();
    __syncthreads();
    auto memory_place = [&](int axis, const Line &line) {
        return axis ? (size_t)line.slot * nx + i : (size_t)line.j * (2 * m.layer[0].end) + slot_across;
    };
    if (x < across.count)
        for (int y = top; y < min(along.count, top + EACH); y++) {
            const Line line = room.lines[y];
            const int here = y * COLUMNS + x;
            const u32 place = (u32)line.j * g.pitch + i;
            now[here] = p.step.now[place], old[here] = p.step.old[place];
            room.marks[here] = m.mask ? m.mask[place] & WALL : (u8)0;
            if (m.density) room.density[here] = m.density[place];
#pragma unroll
            for (int axis = 0; axis < 2; axis++) {
                if ((axis ? line.slot : slot_across) < 0) continue;
                const Layer &l = m.layer[axis];
                const size_t from = memory_place(axis, line);
                room.memories[axis][0][here] = l.lower[from], room.memories[axis][1][here] = l.upper[from], room.memories[axis][2][here] = l.zeta[from];
            }
        }
    __syncthreads();
    // Which sites look at walls and edges: no other thread's marks but WALL are read, and that stays
    if (x < across.count)
        for (int y = top; y < min(along.count, top + EACH); y++) {
            const int here = y * COLUMNS + x;
            const bool near_x = (across.closed_low && x < H) || (across.closed_high && x >= across.count - H);
            const bool near_y = (along.closed_low && y < H) || (along.closed_high && y >= along.count - H);
            const bool near_soft = (near_x && g.edge[0] == SOFT) || (near_y && g.edge[1] == SOFT);
            u8 mark = room.marks[here] & WALL;
            if (H > 1 || near_soft) {
                const u32 place = (u32)room.lines[y].j * g.pitch + i;
                if (near_x || near_y || (m.mask && m.mask[place] & BESIDE)) mark |= WALKS;
            } else {
                auto closed = [&](bool edge, int there) { return edge || room.marks[there] & WALL; };
                if (closed(x == 0, here - (x > 0))) mark |= CLOSED_LEFT;
                if (closed(x == across.count - 1, here + (x + 1 < across.count))) mark |= CLOSED_RIGHT;
                if (closed(y == 0, here - (y > 0) * COLUMNS)) mark |= CLOSED_BELOW;
                if (closed(y == along.count - 1, here + (y + 1 < along.count) * COLUMNS)) mark |= CLOSED_ABOVE;
            }
            room.marks[here] = mark;
        }
    __syncthreads();
    // What is near the sites of a warp
    u32 kind = PLAIN;
    bool operates = false;
    {
        bool marked = false, layered = slot_across >= 0 && x < across.count, full = m.density != nullptr;
        for (int n = 0; n < EACH; n++) {
            const int y = top + n;
            if (x >= across.count || y >= along.count) continue;
            const Line line = room.lines[y];
            marked = marked || room.marks[y * COLUMNS + x], layered = layered || line.slot >= 0, operates = operates || line.operates;
            full = full || (m.damping && m.damping[(u32)line.j * g.pitch + i] != 0);
        }
        const u32 all = 0xffffffffu;
        if (__any_sync(all, marked)) kind |= MARKED;
        if (__any_sync(all, layered)) kind |= LAYERED;
        if (__any_sync(all, full)) kind = FULL;
        operates = __any_sync(all, operates);
    }
    for (int s = 1; s <= STEPS; s++) {
        const int begin = max(along.begin(s), top), end = min(along.end(s), top + EACH);
        if (x >= across.begin(s) && x < across.end(s)) {
            const Turn turn = {p, room, along, now, old, x, i, slot_across, p.step_of_batch + s - 1, mine_across, operates || p.potential};
            if (H <= 2 && kind == PLAIN && begin == top && end == top + EACH)
                turn.together(top);
            else if (kind == PLAIN)
                turn.rows<PLAIN>(begin, end);
            else if (kind == MARKED)
                turn.rows<MARKED>(begin, end);
            else if (kind == LAYERED)
                turn.rows<LAYERED>(begin, end);
            else
                turn.rows<FULL>(begin, end);
        }
        real *const written = old;
        old = now, now = written;
        __syncthreads();
    }
    if (!mine_across) return;
    for (int y = top; y < min(along.count, top + EACH); y++) {
        if (along.first + y < along.own || along.first + y >= along.own_end) continue;
        const Line line = room.lines[y];
        const int here = y * COLUMNS + x;
        const u32 place = (u32)line.j * g.pitch + i;
        p.newer[place] = now[here], p.older[place] = old[here];
#pragma unroll
        for (int axis = 0; axis < 2; axis++) {
            if ((axis ? line.slot : slot_across) < 0) continue;
            const size_t to = memory_place(axis, line);
#pragma unroll
            for (int n = 0; n < 3; n++) p.memories[axis][n][to] = room.memories[axis][n][here];
        }
    }
}
