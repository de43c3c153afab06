// What the blocks of fdtd_blocks.cu share: their regions, what is done at single sites, and steps site by site.
#pragma once
#include "fdtd.cuh"

__device__ __forceinline__ void prefetch(const real *at) { asm volatile("prefetch.global.L1 [%0];" ::"l"(at)); }

enum {
    H = HALF,
    HALO = H * STEPS,
    COLUMNS = 64,
    // Wider stencils walk wherever walls or edges are near
    MIRRORS = H <= 2,
    OWN_COLUMNS = COLUMNS - 2 * HALO,
    OWN_ROWS = ROWS - 2 * HALO,
    SITES = COLUMNS * ROWS,
    PAIR = 2,  // columns of a thread
    WARPS = ROWS / EACH,
    THREADS = 32 * WARPS,
};
static_assert(ROWS % EACH == 0 && EACH <= 16, "all warps have as many rows");
static_assert(OWN_COLUMNS > 0 && OWN_COLUMNS % 4 == 0 && OWN_ROWS > 0, "a block writes whole groups of columns");
static_assert(STEPS % 2 == 0, "levels stay in their places");

// What a mark of a region's site says beside WALL: that its neighbours are found by walking; with MIRRORS which of those next to it are closed, and which of those
// behind an open one
typedef unsigned short Mark;
enum : Mark { WALKS = 2, CLOSED_LEFT = 16, CLOSED_RIGHT = 32, CLOSED_BELOW = 64, CLOSED_ABOVE = 128, FAR = 4 };  // FAR: by so many bits higher

// What is done at a site of a region after every step
struct __align__(16) SiteOperation {
    u32 here, place;           // in the region, in the grid
    u32 adds, adds_end;        // its numbers among the additions of a step; SEARCHED: steps have places of their own
    u32 set;                   // 1 + its number among the sites that are overwritten; 0: it is none
    u32 gathers, gathers_end;  // its numbers among the gathered places
    u32 none;
};
enum : u32 { SEARCHED = 0xffffffffu };

enum : u32 { TURNED = 0x80000000u };

struct Blocks {
    Step step;            // `now` and `old` are read
    real *newer, *older;  // the last two levels, written
    real *kept;           // + time_step times each level, or with `peaks` the largest size of it; null: nobody asked
    real *memories[2][3]; // psi below and above a site and zeta after the pass, of both axes
    Sites sites;
    const u32 *firsts;  // of the operations of each block in the plane, and of one more
    const SiteOperation *operations;  // null: nothing is done
    const u32 *list;  // the blocks; in `edge_blocks` TURNED: lanes lie along y
    int across;       // blocks along x
    int count[2];     // blocks of an axis, those that are counted from its low end, and
    int low[2];       // where these end; the others are counted from the high end
    int outer[2];     // sites of the first and the last one
    int step_of_batch;
    int peaks;
    real time_step;
    int follows;      // whether the launch before is one of other blocks of the same pass, for which it need not wait
    int by_sites;     // whether some warps may go on site by site: what layers remember has places in shared memory
};

// The part of an axis that a block steps and writes
struct Span {
    int own, own_end;  // sites
    int first, count;  // of the region
    bool closed_low, closed_high;  // whether the region ends there at an edge that is not periodic

    __device__ __forceinline__ Span(const Blocks &p, int axis, int number, int width) {
        const int n = p.step.grid.size[axis], whole = (n + 3) & ~3, outer = p.outer[axis];
        // Sites of `parts` from an end on
        auto sites = [&](int parts) { return parts ? outer + (parts - 1) * width : 0; };
        if (number < p.low[axis])
            own = sites(number), own_end = min(sites(number + 1), whole);
        else {
            const int beyond = p.count[axis] - 1 - number;
            own_end = whole - sites(beyond), own = max(sites(p.low[axis]), whole - sites(beyond + 1));
        }
        own_end = min(own_end, n);
        const bool ring = p.step.grid.edge[axis] == PERIODIC;
        first = own - HALO;
        int end = own_end + HALO;
        closed_low = !ring && first <= 0, closed_high = !ring && end >= n;
        if (closed_low) first = 0;
        if (closed_high) end = n;
        count = end - first;
    }
    // Whether images beyond a closed end are those of whole groups of sites
    __device__ __forceinline__ bool mirrors_low(int edge) const { return MIRRORS && closed_low && edge != SOFT; }
    __device__ __forceinline__ bool mirrors_high(int edge, int group) const { return MIRRORS && closed_high && edge != SOFT && count % group == 0; }
    // Whether there are other closed ends
    __device__ __forceinline__ bool unknown(int edge, int group) const { return (closed_low && !mirrors_low(edge)) || (closed_high && !mirrors_high(edge, group)); }
    // The sites that can be stepped for the s-th time
    __device__ __forceinline__ int begin(int s) const { return closed_low ? 0 : s * H; }
    __device__ __forceinline__ int end(int s) const { return closed_high ? count : count - s * H; }
};

// A row of a region: its number in the grid, and its slot in the layers of y or less than 0
struct Line {
    int j, slot;
};

// What the layers of y do in a row: A of the faces below and above and of the site, B of these, and what zeta takes over (fdtd.cuh)
struct __align__(16) RowFactors {
    real decay[3], shift[3], loss, weight;
};

__device__ __forceinline__ RowFactors factors_of(const Layer &l, int slot) {
    RowFactors f;
#pragma unroll
    for (int n = 0; n < 3; n++) f.decay[n] = l.factors[2 * n * l.end + slot], f.shift[n] = l.factors[2 * (n + 3) * l.end + slot];
    f.loss = loss_of(f.decay[2]), f.weight = missed_weight(f.decay[2]);
    return f;
}

// Which sites of a row are walls, a bit for every two columns: of the even ones, of the odd ones
struct Walls {
    u32 of[PAIR];
    // Of the sites `distance` columns to the right of those with the parity c
    __device__ __forceinline__ u32 beside(int c, int distance) const {
        const int to = c + distance, pairs = to >= 0 ? to / PAIR : -((PAIR - 1 - to) / PAIR);
        const u32 bits = of[to - PAIR * pairs];
        return pairs > 0 ? bits >> pairs : bits << -pairs;
    }
};

// A region in shared memory
struct Room {
    real *memories[2][3];  // of sites that go on one by one
    RowFactors *factors;
    real *density;  // null: the same everywhere
    real *squares, *kept;  // at an edge
    Mark *marks;
    Walls *walls;
    Line *lines;
    u32 *range;  // of operations
    u32 *operated;  // a bit a row: whether something is done at a site of it
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

// The operations of a block: which of all they are lies in shared memory, for registers are few.
struct Operations {
    u32 *range;     // shared: the first, and their number
    u32 *operated;  // shared: a bit a row in which there are some

    // By one thread, before a barrier
    __device__ __forceinline__ void find(const Blocks &p, u32 block) const {
        range[0] = p.operations ? p.firsts[block] : 0;
        range[1] = p.operations ? p.firsts[block + 1] - range[0] : 0;
#pragma unroll
        for (int n = 0; n < (ROWS + 31) / 32; n++) operated[n] = 0;
    }

    // Marks their rows, and brings what the steps of a pass add near, since each waits for it; between two barriers
    __device__ __forceinline__ void fetch_ahead(const Blocks &p) const {
        const u32 count = range[1];
        for (u32 n = threadIdx.x; n < count * STEPS; n += THREADS) {
            const SiteOperation &at = p.operations[range[0] + n % count];
            const int step = p.step_of_batch + n / count;
            if (n < count) atomicOr(&operated[at.here / COLUMNS / 32], 1u << (at.here / COLUMNS % 32));
            if (at.adds < at.adds_end) prefetch(p.sites.values + (u32)(step * p.sites.adds) + at.adds);
            if (at.set && step < p.sites.set_rows) prefetch(p.sites.set_values + (u32)(step * p.sites.set_count) + at.set - 1);
        }
    }

    // Ends a step: performs them on its level, which is the one after step `step` of the batch; a thread a site; the threads of the block come here together.
    __device__ __forceinline__ void perform(const Blocks &p, real *level, int step) const {
        __syncthreads();
        if (!range[1]) return;
        const Sites &o = p.sites;
#pragma unroll 1
        for (u32 n = threadIdx.x; n < range[1]; n += THREADS) {
            const SiteOperation *at = p.operations + (range[0] + n);
            real value = level[at->here];
            u32 k = at->adds, end = at->adds_end, place = at->place;
            const bool searched = k == SEARCHED;
            if (searched) end = o.steps[step + 1], k = first_from(o.places, o.steps[step], end, place);
            for (; k < end && (!searched || o.places[k] == place); k++) value = plus(value, o.values[(u32)(step * o.adds) + k]);
            const u32 set = at->set;
            if (set && step < o.set_rows) value = o.set_values[(u32)(step * o.set_count) + set - 1];
            for (k = at->gathers; k < at->gathers_end; k++) o.record[(u32)(step * o.count) + k] = value;
            level[at->here] = value;
        }
        __syncthreads();
    }
};

// L p of a site without walls, layers and densities
__device__ __forceinline__ real plain_change(real own, const real (&low)[2][H], const real (&high)[2][H]) {
    const real level = times((real)4, own);
    real sum = 0;
#pragma unroll
    for (int k = 1; k <= H; k++) sum = term<H>(k, plus(plus(low[0][k - 1], high[0][k - 1]), plus(low[1][k - 1], high[1][k - 1])), level, sum);
    return sum;
}

// The part of it of one axis
__device__ __forceinline__ real axis_change(real own, const real (&low)[H], const real (&high)[H]) {
    const real level = plus(own, own);
    real sum = 0;
#pragma unroll
    for (int k = 1; k <= H; k++) sum = term<H>(k, plus(low[k - 1], high[k - 1]), level, sum);
    return sum;
}

__device__ __forceinline__ real stepped(real own, real before, real square, real sum) { return plus(own, fused(square, sum, minus(own, before))); }

// Puts images in the place of what is closed, as `Walker` finds them
__device__ __forceinline__ void mirror(Mark mark, int axis, real own, real (&low)[H], real (&high)[H]) {
    const Mark below = axis ? CLOSED_BELOW : CLOSED_LEFT, above = axis ? CLOSED_ABOVE : CLOSED_RIGHT;
    low[0] = mark & below ? own : low[0], high[0] = mark & above ? own : high[0];
    if (H == 1) return;
    low[H - 1] = mark & below ? high[0] : mark & below << FAR ? low[0] : low[H - 1];
    high[H - 1] = mark & above ? low[0] : mark & above << FAR ? high[0] : high[H - 1];
}

// A site of a region: `at` in it, `to` in the grid
struct Cell {
    const Step &s;
    const Room &room;
    const real *now;
    int here, x, y;   // in the region
    int slots[2];     // in the layers of x and y, or less than 0
    u32 place;        // in the grid

    // What stands 1 ... H sites away on both sides along an axis; where walls or edges are near, these are mirrors
    __device__ __forceinline__ void neighbours(int axis, Mark mark, real own, real (&low)[H], real (&high)[H]) const {
        const int stride = axis ? COLUMNS : 1;
        if (mark & WALKS) {
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
        if (MIRRORS) mirror(mark, axis, own, low, high);
    }

    // Beside edges only, where a density a site stands for walls
    __device__ __forceinline__ int there(int axis, int offset, int &sign) const {
        const int at = axis ? y : x;
        return here + (ghost(room.grid.edge[axis], room.grid.size[axis], at + offset, sign) - at) * (axis ? COLUMNS : 1);
    }

    __device__ __forceinline__ real face(int axis, int offset, real own, real rho) const {
        int sign;
        const int other = there(axis, offset, sign);
        return over(minus(signed_value(now[other], sign), own), plus(rho, room.density[sign > 0 ? other : here]));
    }

    // The site's own density over that of a face: 1 within a layer, whose density goes on along its normal, but not at sites that only fill up its last vector
    __device__ __forceinline__ real relative(int axis, int offset) const {
        int sign;
        const int other = there(axis, offset, sign);
        const real rho = room.density[here];
        return over(plus(rho, rho), plus(rho, room.density[sign > 0 ? other : here]));
    }

    __device__ __forceinline__ real faces(int axis, real own, real rho) const { return plus(face(axis, -1, own, rho), face(axis, 1, own, rho)); }

    // Z of an axis whose layer holds the site; its memories go on by a step
    __device__ __forceinline__ real absorbed(const Layer &l, int axis, int slot, real own, const real (&low)[H], const real (&high)[H]) const {
        real below = minus(own, low[0]), above = minus(high[0], own);
        to_fluxes<H>(low, high, below, above);
        if (H == 1 && room.density) below = times(below, relative(axis, -1)), above = times(above, relative(axis, 1));
        const real *factors = l.factors + slot;
        real lower = room.memories[axis][0][here], upper = room.memories[axis][1][here], zeta = room.memories[axis][2][here];
        below = renew(factors[0], factors[6 * l.end], lower, below);
        above = renew(factors[2 * l.end], factors[8 * l.end], upper, above);
        const real z = renew(factors[4 * l.end], factors[10 * l.end], zeta, minus(above, below));
        room.memories[axis][0][here] = lower, room.memories[axis][1][here] = upper, room.memories[axis][2][here] = zeta;
        return room.density ? over(z, room.density[here]) : z;
    }

    // The part of L p of an axis at a site in layers
    __device__ __forceinline__ real change(int axis, real own, const real (&low)[H], const real (&high)[H]) const {
        if (slots[axis] >= 0) return absorbed(s.medium.layer[axis], axis, slots[axis], own, low, high);
        if (room.density) {
            const real sum = faces(axis, own, room.density[here]);
            return plus(sum, sum);
        }
        return axis_change(own, low, high);
    }

    __device__ __forceinline__ bool layered() const { return slots[0] >= 0 || slots[1] >= 0; }

    // L p
    __device__ __forceinline__ real operated(real own, Mark mark) const {
        real low[2][H], high[2][H];
        neighbours(0, mark, own, low[0], high[0]);
        neighbours(1, mark, own, low[1], high[1]);
        if (layered()) return plus(change(0, own, low[0], high[0]), change(1, own, low[1], high[1]));
        if (room.density) {
            const real rho = room.density[here], sum = plus(faces(0, own, rho), faces(1, own, rho));
            return plus(sum, sum);
        }
        return plain_change(own, low, high);
    }

    // Lets zeta take over what rounding put into the pressure
    __device__ __forceinline__ void take(real square, real missed) const {
        real decay[2], losses = 0;
#pragma unroll
        for (int axis = 0; axis < 2; axis++) {
            const Layer &l = s.medium.layer[axis];
            decay[axis] = slots[axis] >= 0 ? l.factors[4 * l.end + slots[axis]] : 1;
            losses = plus(losses, loss_of(decay[axis]));
        }
        const real part = missed_part(room.density ? times(missed, room.density[here]) : missed, square, losses);
#pragma unroll
        for (int axis = 0; axis < 2; axis++)
            if (slots[axis] >= 0) {
                real &zeta = room.memories[axis][2][here];
                zeta = minus(zeta, times(part, missed_weight(decay[axis])));
            }
    }

    // The value after `before` and `now`
    __device__ __forceinline__ real next(real before) const {
        const Medium &m = s.medium;
        const Mark mark = room.marks[here];
        if (mark & WALL) return 0;
        const real own = now[here], square = m.squares ? m.squares[place] : m.square;
        const real speed = minus(own, before), step = damped(m, place, fused(square, operated(own, mark), speed), speed), next = plus(own, step);
        if (TAKES && layered()) take(square, minus(minus(next, own), step));
        return next;
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
            if (p.by_sites && p.step.medium.layer[axis].end) end += SITES;
        }
    room.density = nullptr, room.squares = nullptr, room.kept = nullptr;
    if (p.step.medium.density) room.density = end, end += SITES;
    room.factors = (RowFactors *)end;
    room.lines = (Line *)(room.factors + ROWS);
    room.marks = (Mark *)(room.lines + ROWS);
    room.walls = (Walls *)(room.marks + SITES);
    return room;
}

