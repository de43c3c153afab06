// Common to the kernels of finite differences for sound: REAL is float or double.
//
// A level of the pressure is `pitch` x ny x nz numbers, x fastest; columns nx..pitch are never read as sites. Two levels; the newer one is read, the
// older one overwritten in place. Every operation of a step is written out with its rounding, so that all kernels give the same bits.
#pragma once
#include "real.cuh"
#include "sites.cuh"

// C_0 ... C_4 of the second difference of order 2h (C_0 is half a centre weight; src/solver/fdtd/stencil.rs). No table: one that is read by a number that is known only after
// loops are unrolled lies in local memory, and is written there at every use.
__host__ __device__ constexpr double coefficient(int h, int k) {
    return h == 1   ? k == 0 ? -1 : 1
           : h == 2 ? k == 0 ? -5.0 / 4 : k == 1 ? 4.0 / 3 : -1.0 / 12
           : h == 3 ? k == 0 ? -49.0 / 36 : k == 1 ? 3.0 / 2 : k == 2 ? -3.0 / 20 : 1.0 / 90
                    : k == 0 ? -205.0 / 144 : k == 1 ? 8.0 / 5 : k == 2 ? -1.0 / 5 : k == 3 ? 8.0 / 315 : -1.0 / 560;
}
// The weights of the flux through a face, whose difference is the second difference
__host__ __device__ constexpr double flux_weight(int h, int m) {
    return (m < h ? coefficient(h, m + 1) : 0) + (m + 1 < h ? coefficient(h, m + 2) : 0) + (m + 2 < h ? coefficient(h, m + 3) : 0) + (m + 3 < h ? coefficient(h, m + 4) : 0);
}

// Whether kernels that go many steps a launch know absorbing layers
#ifndef LAYERS
#define LAYERS 0
#endif

enum { RIGID, SOFT, PERIODIC };
enum { WALL = 1, BESIDE = 2 };  // BESIDE: the stencil reaches a wall
enum { SEGMENT = 32 };  // columns of a row that are plain or not

struct Grid {
    int size[3];
    int pitch, rank;
    int edge[3];  // absorbing edges are closed by rigid ones
};

// The two absorbing layers of an axis (src/solver/fdtd/cpml.rs): slots are the sites 0, 1, ... of the low end, then those of the high one
struct Layer {
    const real *factors;          // A of the face below a site, of that above it, and of the site, then B of these: 2 end numbers each
    real *lower, *upper, *zeta;   // psi of those faces, and zeta
    int end;                      // slots of each end; 0: no layers

    __device__ __forceinline__ real *memory(int n) const { return n == 0 ? lower : n == 1 ? upper : zeta; }
};

// Turns the differences to the nearest neighbours of a site into the fluxes through the faces below and above it
template <int H> __device__ __forceinline__ void to_fluxes(const real (&low)[H], const real (&high)[H], real &below, real &above) {
    if (H > 1) below = times((real)flux_weight(H, 0), below), above = times((real)flux_weight(H, 0), above);
#pragma unroll
    for (int m = 1; m < H; m++) {
        below = fused((real)flux_weight(H, m), minus(high[m - 1], low[m]), below);
        above = fused((real)flux_weight(H, m), minus(high[m], low[m - 1]), above);
    }
}

// The slot of a site, or less than 0
__device__ __forceinline__ int slot_in(const Layer &l, int size, int at) { return at < l.end ? at : at + l.end >= size && l.end ? at + 2 * l.end - size : -1; }

// A (memory + g) + B g of a memory, which becomes that minus g
__device__ __forceinline__ real renew(real decay, real shift, real &memory, real g) {
    const real sum = fused(shift, g, times(decay, plus(memory, g)));
    memory = minus(sum, g);
    return sum;
}

// Rounding the pressure changes its speed as well, which nothing in a layer pulls back: zeta takes that over in single precision (src/solver/fdtd/cpml.rs). Of `missed`,
// which is the pressure as it was rounded less what it should be, an axis' zeta loses `missed_part` times `missed_weight`; `losses` is the sum of 1 - A of the axes.
// How exact these quotients are does not matter, only that all kernels take the same.
enum { TAKES = sizeof(real) == sizeof(float) };
__device__ __forceinline__ real loss_of(real decay) { return minus(1, decay); }
__device__ __forceinline__ real missed_weight(real decay) { return __fdividef((float)times(loss_of(decay), loss_of(decay)), (float)decay); }
__device__ __forceinline__ real missed_part(real missed, real square, real losses) {
    return __fdividef((float)missed, fmaxf((float)times(square, losses), 1e-30f));
}

struct Medium {
    const real *squares;   // (c dt/a)^2 per site, or rho c^2 dt^2/a^2 with a density per site; null: `square` everywhere
    const real *density;   // infinite in walls; null: the same everywhere
    const real *damping;   // gamma dt; null: none
    const u8 *mask;        // WALL, BESIDE; null: no walls
    const u8 *skip;        // segments that take more than the plain kernels; null: none
    double uniform_density;
    real square;
    int layers;  // how many axes have them
    Layer layer[3];
};

// The step of a site, damped where the medium takes energy or the layers of a guide with obstacles damp the pressure: before it is rounded into the pressure, so that zeta
// takes over the whole of what rounding does (src/solver/fdtd/cpml.rs)
__device__ __forceinline__ real damped(const Medium &m, size_t place, real step, real speed) {
    if (!m.damping) return step;
    const real rate = m.damping[place];
    return rate == 0 ? step : over(fused(-rate, speed, step), plus((real)1, rate));
}

struct Step {
    const real *now;
    real *old;
    real *peak;  // largest |p|; null: nobody asked
    Grid grid;
    Medium medium;
    int chunk;   // planes of a block
};

// The site that stands for site `at` of an axis, and its sign (0: the zero one spacing outside a soft edge)
__device__ __forceinline__ int ghost(int edge, int n, int at, int &sign) {
    sign = 1;
    if ((u32)at < (u32)n) return at;
    const int period = edge == PERIODIC ? n : edge == RIGID ? 2 * n : 2 * (n + 1);
    int turn = (edge == SOFT ? at + 1 : at) % period;
    if (turn < 0) turn += period;
    if (edge == PERIODIC) return turn;
    if (edge == RIGID) return min(turn, 2 * n - 1 - turn);
    if (turn == 0 || turn == n + 1) {
        sign = 0;
        return 0;
    }
    if (turn <= n) return turn - 1;
    sign = -1;
    return 2 * (n + 1) - turn - 1;
}

__device__ __forceinline__ real signed_value(real value, int sign) { return sign > 0 ? value : sign < 0 ? -value : (real)0; }

// L p is summed from differences to `level`, what the sum of the neighbours at one distance is in a constant field (src/solver/fdtd/stencil.rs says why):
// term k of `pairs`, the sum of what stands k sites away on all axes
template <int H> __device__ __forceinline__ real term(int k, real pairs, real level, real sum) {
    const real difference = minus(pairs, level);
    if (k > 1) return fused((real)coefficient(H, k), difference, sum);
    return H == 1 ? difference : times((real)coefficient(H, 1), difference);
}

// The part of L p of an axis with a density per site (order 2), from the pressures and densities of a site and of those beside it
__device__ __forceinline__ real of_faces(real here, real low, real high, real own, real low_density, real high_density) {
    const real sum = plus(over(minus(low, here), plus(own, low_density)), over(minus(high, here), plus(own, high_density)));
    return plus(sum, sum);
}

// The flux through a face of a layer, times the site's own density over that of the face: 1 within a layer, whose density goes on along its normal, but not at sites that only fill
// up its last vector
__device__ __forceinline__ real weighted(real flux, real own, real beside) { return times(flux, over(plus(own, own), plus(own, beside))); }

__device__ __forceinline__ size_t place_of(const Grid &g, int i, int j, int k) { return ((size_t)k * g.size[1] + j) * g.pitch + i; }

// Goes along a line and turns round at walls and edges
struct Walker {
    int at, direction, sign = 1;
    bool on_node = false;  // on the zero one spacing outside a soft edge
    size_t place, stride;

    __device__ __forceinline__ Walker(const Grid &g, int axis, int start, size_t start_place, int towards)
        : at(start), direction(towards), place(start_place), stride(axis == 0 ? 1 : axis == 1 ? g.pitch : (size_t)g.pitch * g.size[1]) {}

    __device__ __forceinline__ int sign_here() const { return on_node ? 0 : sign; }

    template <typename Mark> __device__ __forceinline__ void step(const Grid &g, const Mark *mask, int axis) {
        if (on_node) {
            on_node = false;  // back to the last site, with the other sign
            return;
        }
        const int edge = g.edge[axis], n = g.size[axis];
        int own;
        const int next = ghost(edge, n, at + direction, own);
        const size_t there = place + (size_t)(long long)(next - at) * stride;
        if (!own)
            on_node = true, direction = -direction, sign = -sign;
        else if ((edge != PERIODIC && (u32)(at + direction) >= (u32)n) || mask[there] & WALL)
            direction = -direction;  // an even mirror: the site itself once more
        else
            at = next, place = there;
    }
};

// A value of the level that other multiprocessors may have written during this launch (FRESH), or before it
template <bool FRESH> __device__ __forceinline__ real get(const real *p) {
    if (FRESH) return __ldcg(p);
    return *p;
}

// One site with all that the medium may hold; slower than the plain kernels, with the same operations where there is nothing
template <int H, bool FRESH> struct Site {
    const Step &s;
    const real *now;
    real *old;
    int at[3];
    size_t place;

    __device__ __forceinline__ Site(const Step &step, const real *newer, real *older, int i, int j, int k)
        : s(step), now(newer), old(older), at{i, j, k}, place(place_of(step.grid, i, j, k)) {}

    __device__ __forceinline__ size_t moved(int axis, int to) const {
        const size_t stride = axis == 0 ? 1 : axis == 1 ? s.grid.pitch : (size_t)s.grid.pitch * s.grid.size[1];
        return place + (size_t)(long long)(to - at[axis]) * stride;
    }

    // Whether no stencil reaches beyond an edge
    __device__ __forceinline__ bool inner() const {
        bool all = true;
#pragma unroll
        for (int axis = 0; axis < 3; axis++) all &= axis >= s.grid.rank || (at[axis] >= H && at[axis] < s.grid.size[axis] - H);
        return all;
    }

    // p at a distance along an axis
    __device__ __forceinline__ real value(int axis, int offset) const {
        int sign;
        const int to = ghost(s.grid.edge[axis], s.grid.size[axis], at[axis] + offset, sign);
        return signed_value(get<FRESH>(now + moved(axis, to)), sign);
    }

    // The density there; beyond a soft edge it is the site's own
    __device__ __forceinline__ real density(int axis, int offset) const {
        int sign;
        const int to = ghost(s.grid.edge[axis], s.grid.size[axis], at[axis] + offset, sign);
        return s.medium.density[sign > 0 ? moved(axis, to) : place];
    }

    // What stands 1 ... H sites away in a direction, walls and edges being mirrors
    __device__ __forceinline__ void walk(int axis, int direction, real (&values)[H]) const {
        Walker walker(s.grid, axis, at[axis], place, direction);
#pragma unroll
        for (int k = 0; k < H; k++) {
            walker.step(s.grid, s.medium.mask, axis);
            values[k] = signed_value(get<FRESH>(now + walker.place), walker.sign_here());
        }
    }

    // L p beside walls, in the order of operations of `stencil_of`
    __device__ __forceinline__ real beside_walls(real here) const {
        real pairs[H];
#pragma unroll 1
        for (int axis = 0; axis < s.grid.rank; axis++) {
            real low[H], high[H];
            walk(axis, -1, low), walk(axis, 1, high);
#pragma unroll
            for (int k = 0; k < H; k++) pairs[k] = axis ? plus(pairs[k], plus(low[k], high[k])) : plus(low[k], high[k]);
        }
        const real level = times((real)(2 * s.grid.rank), here);
        real sum = 0;
#pragma unroll
        for (int k = 1; k <= H; k++) sum = term<H>(k, pairs[k - 1], level, sum);
        return sum;
    }

    // L p without walls: the sum of the stencil
    __device__ __forceinline__ real stencil(real here) const {
        const size_t row = s.grid.pitch, plane = row * s.grid.size[1];
        if (!FRESH && inner())
            return stencil_of(here, [&](int axis, int offset) {
                const long long stride = axis == 0 ? 1 : axis == 1 ? row : plane;
                return get<FRESH>(now + place + offset * stride);
            });
        return stencil_of(here, [&](int axis, int offset) { return value(axis, offset); });
    }

    template <typename Values> __device__ __forceinline__ real stencil_of(real here, Values value) const {
        const int rank = s.grid.rank;
        const real level = times((real)(2 * rank), here);
        real sum = 0;
#pragma unroll
        for (int k = 1; k <= H; k++) {
            real pairs = plus(value(0, -k), value(0, k));
            if (rank > 1) pairs = plus(pairs, plus(value(1, -k), value(1, k)));
            if (rank > 2) pairs = plus(pairs, plus(value(2, -k), value(2, k)));
            sum = term<H>(k, pairs, level, sum);
        }
        return sum;
    }

    // The part of L p of an axis with a density per site, order 2
    __device__ __forceinline__ real conservative(int axis, real here) const {
        return of_faces(here, value(axis, -1), value(axis, 1), s.medium.density[place], density(axis, -1), density(axis, 1));
    }

    // The sum over axes
    __device__ __forceinline__ real conservative(real here) const {
        real sum = conservative(0, here);
        for (int axis = 1; axis < s.grid.rank; axis++) sum = plus(sum, conservative(axis, here));
        return sum;
    }

    __device__ __forceinline__ size_t memory_place(const Layer &l, int axis, int slot) const {
        const size_t nx = s.grid.size[0], ny = s.grid.size[1], slots = 2 * l.end;
        if (axis == 0) return (at[2] * ny + at[1]) * slots + slot;
        if (axis == 1) return (at[2] * slots + slot) * nx + at[0];
        return (slot * ny + at[1]) * nx + at[0];
    }

    // Z of an axis whose layer holds the site; its memories go on by a step
    __device__ __forceinline__ real absorbed(const Layer &l, int axis, int slot, real here, const real (&low)[H], const real (&high)[H]) const {
        real below = minus(here, low[0]), above = minus(high[0], here);
        to_fluxes<H>(low, high, below, above);
        if (H == 1 && s.medium.density) {
            const real own = s.medium.density[this->place];
            below = weighted(below, own, density(axis, -1)), above = weighted(above, own, density(axis, 1));
        }
        const size_t place = memory_place(l, axis, slot);
        const real *factors = l.factors + slot;
        real lower = get<FRESH>(l.lower + place), upper = get<FRESH>(l.upper + place), zeta = get<FRESH>(l.zeta + place);
        below = renew(factors[0], factors[6 * l.end], lower, below);
        above = renew(factors[2 * l.end], factors[8 * l.end], upper, above);
        const real z = renew(factors[4 * l.end], factors[10 * l.end], zeta, minus(above, below));
        l.lower[place] = lower, l.upper[place] = upper, l.zeta[place] = zeta;
        return s.medium.density ? over(z, s.medium.density[this->place]) : z;
    }

    // The part of L p of an axis at a site in layers
    __device__ __forceinline__ real change(int axis, real here, bool beside) const {
        const Layer &l = s.medium.layer[axis];
        const int slot = slot_in(l, s.grid.size[axis], at[axis]);
        if (slot < 0 && s.medium.density) return conservative(axis, here);
        real low[H], high[H];
        if (beside)
            walk(axis, -1, low), walk(axis, 1, high);
        else
#pragma unroll
            for (int k = 0; k < H; k++) low[k] = value(axis, -1 - k), high[k] = value(axis, 1 + k);
        if (slot >= 0) return absorbed(l, axis, slot, here, low, high);
        const real level = plus(here, here);
        real sum = 0;
#pragma unroll
        for (int k = 1; k <= H; k++) sum = term<H>(k, plus(low[k - 1], high[k - 1]), level, sum);
        return sum;
    }

    __device__ __forceinline__ bool in_layers() const {
        bool any = false;
#pragma unroll
        for (int axis = 0; axis < 3; axis++) any |= slot_in(s.medium.layer[axis], s.grid.size[axis], at[axis]) >= 0;
        return any;
    }

    // Lets zeta take over what rounding put into the pressure
    __device__ __forceinline__ void take(real square, real missed) const {
        real losses = 0;
#pragma unroll
        for (int axis = 0; axis < 3; axis++) {
            const Layer &l = s.medium.layer[axis];
            const int slot = slot_in(l, s.grid.size[axis], at[axis]);
            if (slot >= 0) losses = plus(losses, loss_of(l.factors[4 * l.end + slot]));
        }
        const real part = missed_part(s.medium.density ? times(missed, s.medium.density[place]) : missed, square, losses);
#pragma unroll 1
        for (int axis = 0; axis < s.grid.rank; axis++) {
            const Layer &l = s.medium.layer[axis];
            const int slot = slot_in(l, s.grid.size[axis], at[axis]);
            if (slot < 0) continue;
            real *zeta = l.zeta + memory_place(l, axis, slot);
            *zeta = minus(get<FRESH>(zeta), times(part, missed_weight(l.factors[4 * l.end + slot])));
        }
    }

    // The next value where the medium holds nothing but a speed
    __device__ __forceinline__ real plain() const {
        const real here = get<FRESH>(now + place), before = get<FRESH>(old + place);
        return plus(here, fused(s.medium.squares ? s.medium.squares[place] : s.medium.square, stencil(here), minus(here, before)));
    }

    // The same out of reach of edges
    __device__ __forceinline__ real plain_inside() const {
        const long long row = s.grid.pitch, plane = row * s.grid.size[1];
        const real here = now[place], before = old[place];
        const real sum = stencil_of(here, [&](int axis, int offset) { return now[place + offset * (axis == 0 ? 1 : axis == 1 ? row : plane)]; });
        return plus(here, fused(s.medium.squares ? s.medium.squares[place] : s.medium.square, sum, minus(here, before)));
    }

    // The site's next value, over its older one
    __device__ __forceinline__ void advance() const {
        const Medium &m = s.medium;
        const u8 mark = m.mask ? m.mask[place] : (u8)0;
        real next = 0;
        if (!(mark & WALL)) {
            const real here = get<FRESH>(now + place), before = get<FRESH>(old + place);
            const real square = m.squares ? m.squares[place] : m.square;
            const bool layered = (!FRESH || LAYERS) && m.layers && in_layers();
            real sum;
            if (layered) {
                sum = change(0, here, mark & BESIDE);
#pragma unroll 1
                for (int axis = 1; axis < s.grid.rank; axis++) sum = plus(sum, change(axis, here, mark & BESIDE));
            } else
                sum = m.density ? conservative(here) : mark & BESIDE ? beside_walls(here) : stencil(here);
            const real speed = minus(here, before), step = damped(m, place, fused(square, sum, speed), speed);
            next = plus(here, step);
            if (TAKES && layered) take(square, minus(minus(next, here), step));
        }
        keep(next);
    }

    __device__ __forceinline__ void keep(real next) const {
        old[place] = next;
        if (s.peak) s.peak[place] = max(s.peak[place], abs(next));
    }
};
