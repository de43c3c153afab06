// Common to the kernels of finite differences for sound: REAL is float or double.
//
// A level of the pressure is `pitch` x ny x nz numbers, x fastest; columns nx..pitch are never read as sites. Two levels; the newer one is read, the
// older one overwritten in place. Every operation of a step is written out with its rounding, so that all kernels give the same bits.
#pragma once
#include "real.cuh"
#include "sites.cuh"

// C_0 ... C_4 of the second difference of order 2h (C_0 is half a centre weight), and the weights of the first difference at a face
// (src/solver/fdtd/stencil.rs says why these)
__host__ __device__ constexpr double coefficient(int h, int k) {
    constexpr double c[5][5] = {{0, 0, 0, 0, 0},
                                {-1, 1, 0, 0, 0},
                                {-5.0 / 4, 4.0 / 3, -1.0 / 12, 0, 0},
                                {-49.0 / 36, 3.0 / 2, -3.0 / 20, 1.0 / 90, 0},
                                {-205.0 / 144, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560}};
    return c[h][k];
}
__host__ __device__ constexpr double staggered(int h, int m) {
    constexpr double d[5][4] = {{0, 0, 0, 0},
                                {1, 0, 0, 0},
                                {1.1160254037844386, -0.0386751345948128, 0, 0},
                                {1.1641287047744073, -0.0612310190538703, 0.0039128704774407, 0},
                                {1.1900552304450632, -0.0760123049337044, 0.0083235460890125, -0.0005194351555731}};
    return d[h][m];
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

// The two absorbing layers of an axis; psi and zeta as src/solver/fdtd/cpml.rs lays them out
struct Layer {
    const real *faces, *cells;  // A and B by depth, interleaved
    real *psi, *zeta;
    int width;  // 0: no layers
};

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

__device__ __forceinline__ size_t place_of(const Grid &g, int i, int j, int k) { return ((size_t)k * g.size[1] + j) * g.pitch + i; }

// Goes along a line and turns round at walls and edges
struct Walker {
    int at, direction, sign = 1;
    bool on_node = false;  // on the zero one spacing outside a soft edge
    size_t place, stride;

    __device__ __forceinline__ Walker(const Grid &g, int axis, int start, size_t start_place, int towards)
        : at(start), direction(towards), place(start_place), stride(axis == 0 ? 1 : axis == 1 ? g.pitch : (size_t)g.pitch * g.size[1]) {}

    __device__ __forceinline__ int sign_here() const { return on_node ? 0 : sign; }

    __device__ __forceinline__ void step(const Grid &g, const u8 *mask, int axis) {
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

    __device__ __forceinline__ bool wall(int axis, int offset) const {
        int sign;
        const int to = ghost(s.grid.edge[axis], s.grid.size[axis], at[axis] + offset, sign);
        return sign && s.medium.mask[moved(axis, to)] & WALL;
    }

    // The largest order that fits between walls: the scheme's, or 2 near a wall
    __device__ __forceinline__ bool near_wall(int axis, int from, int to) const {
        for (int offset = from; offset <= to; offset++)
            if (wall(axis, offset)) return true;
        return false;
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

    __device__ __forceinline__ real face(int axis, int offset, real here, real rho) const {
        return over(minus(value(axis, offset), here), plus(rho, density(axis, offset)));
    }

    // The same with a density per site, order 2
    __device__ __forceinline__ real conservative(real here) const {
        const real rho = s.medium.density[place];
        real sum = plus(face(0, -1, here, rho), face(0, 1, here, rho));
        for (int axis = 1; axis < s.grid.rank; axis++) sum = plus(sum, plus(face(axis, -1, here, rho), face(axis, 1, here, rho)));
        return plus(sum, sum);
    }

    // L p of one axis inside an absorbing layer
    __device__ __forceinline__ real axis_change(int axis, real here) const {
        if (s.medium.density) {
            const real rho = s.medium.density[place];
            const real sum = plus(face(axis, -1, here, rho), face(axis, 1, here, rho));
            return plus(sum, sum);
        }
        if (s.medium.mask && near_wall(axis, -H, H)) {
            const bool own = wall(axis, 0);
            const real up = own || wall(axis, 1) ? (real)0 : minus(value(axis, 1), here);
            const real down = own || wall(axis, -1) ? (real)0 : minus(value(axis, -1), here);
            return plus(up, down);
        }
        const real level = plus(here, here);
        real sum = 0;
#pragma unroll
        for (int k = 1; k <= H; k++) sum = term<H>(k, plus(value(axis, -k), value(axis, k)), level, sum);
        return sum;
    }

    // The flux through the face above the site, 1/rho included where it varies
    __device__ __forceinline__ real face_flux(int axis) const {
        if (s.medium.density) {
            const real difference = minus(value(axis, 1), value(axis, 0));
            return over(plus(difference, difference), plus(s.medium.density[place], density(axis, 1)));
        }
        bool narrow = false;
        if (s.medium.mask) {
            if (wall(axis, 0) || wall(axis, 1)) return 0;
            narrow = near_wall(axis, 1 - H, H);
        }
        if (narrow) return minus(value(axis, 1), value(axis, 0));
        real sum = 0;
#pragma unroll
        for (int m = 1; m <= H; m++) sum = fused((real)staggered(H, m - 1), minus(value(axis, m), value(axis, 1 - m)), sum);
        return sum;
    }

    __device__ __forceinline__ size_t slot_place(const Layer &l, int axis, int slot) const {
        const int *n = s.grid.size, slots = 2 * l.width;
        if (axis == 0) return ((size_t)at[2] * n[1] + at[1]) * slots + slot;
        if (axis == 1) return ((size_t)at[2] * slots + slot) * n[0] + at[0];
        return ((size_t)slot * n[1] + at[1]) * n[0] + at[0];
    }

    // psi of the face between sites `face` and `face` + 1; the closing wall is an odd mirror of the flux
    __device__ __forceinline__ real memory(const Layer &l, int axis, int face) const {
        const int last = s.grid.size[axis] - 1;
        const bool odd = face < 0 || face >= last;
        if (odd) face = face < 0 ? -2 - face : 2 * last - face;
        const int from_end = last - 1 - face;
        if (face < 0 || from_end < 0 || (face >= l.width && from_end >= l.width)) return 0;
        const real psi = l.psi[slot_place(l, axis, face < l.width ? face : l.width + from_end)];
        return odd ? -psi : psi;
    }

    __device__ __forceinline__ bool touches(const Layer &l, int axis) const {
        return l.width && (at[axis] < l.width + H || at[axis] + l.width + H >= s.grid.size[axis]);
    }

    // What the absorbing layers of an axis add to L p; zeta goes on by a step
    __device__ __forceinline__ real absorbed(const Layer &l, int axis, real here) const {
        const int x = at[axis], from_end = s.grid.size[axis] - 1 - x;
        real change = 0;
#pragma unroll
        for (int m = 1; m <= H; m++)
            change = fused((real)staggered(H, m - 1), minus(memory(l, axis, x + m - 1), memory(l, axis, x - m)), change);
        if (x < l.width || from_end < l.width) {
            const bool low = x < l.width;
            const int depth = low ? x : from_end;
            const real a = l.cells[2 * depth], b = l.cells[2 * depth + 1];
            real *zeta = l.zeta + slot_place(l, axis, low ? x : l.width + from_end);
            const real u = plus(change, axis_change(axis, here));
            const real z = fused(b, u, times(a, *zeta));
            *zeta = z;
            change = plus(change, z);
        }
        return change;
    }

    // The next value where the medium holds nothing but a speed
    __device__ __forceinline__ real plain() const {
        const real here = get<FRESH>(now + place), before = get<FRESH>(old + place);
        return plus(here, fused(s.medium.squares ? s.medium.squares[place] : s.medium.square, stencil(here), minus(here, before)));
    }

    // The site's next value, over its older one
    __device__ __forceinline__ void advance() const {
        advance([&](int axis, real here) { return absorbed(s.medium.layer[axis], axis, here); });
    }

    // The same with what the absorbing layers of an axis add from elsewhere
    template <typename Absorbed> __device__ __forceinline__ void advance(Absorbed absorbed) const {
        const Medium &m = s.medium;
        const u8 mark = m.mask ? m.mask[place] : (u8)0;
        real next = 0;
        if (!(mark & WALL)) {
            const real here = get<FRESH>(now + place), before = get<FRESH>(old + place);
            const real square = m.squares ? m.squares[place] : m.square;
            const real sum = m.density ? conservative(here) : mark & BESIDE ? beside_walls(here) : stencil(here);
            next = plus(here, fused(square, sum, minus(here, before)));
            if ((!FRESH || LAYERS) && m.layers)
#pragma unroll
                for (int axis = 0; axis < 3; axis++)
                    if (touches(m.layer[axis], axis)) next = fused(square, absorbed(axis, here), next);
            if (m.damping) {
                const real rate = m.damping[place];
                if (rate != 0) next = plus(here, over(minus(minus(next, here), times(rate, minus(here, before))), plus((real)1, rate)));
            }
        }
        old[place] = next;
        if (s.peak) s.peak[place] = max(s.peak[place], abs(next));
    }
};
