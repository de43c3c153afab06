// One step of finite differences for sound, site operations, sums and pictures. REAL is float or double; blocks have 256 threads unless said otherwise.
//
// Plain media (one speed, or one a site): `plain_<h>`. A warp takes 128 columns, 4 a lane, and walks along z with 2h + 1 planes in registers;
// neighbours along x come from the lanes beside, those along y from the first-level cache. Read once, written once: 12 bytes a site in single
// precision, 16 with a speed per site. Segments of rows with more than that, one thread a site: `layered_<h>`
// where the medium holds absorbing layers and speeds alone, `dense_1` where it holds densities too (fdtd_layers.cuh), `listed_<h>` everywhere else.
#include "fdtd_layers.cuh"
#include "fdtd_vec.cuh"
#include "sums.cuh"

enum { ROWS = 8 };

// Four columns from x on of a row, which may stand beyond an edge
__device__ __forceinline__ Vec columns_of(const Step &s, const real *row, int x) {
    const int nx = s.grid.size[0];
    if (x >= 0 && x + COLUMNS <= nx) return load(row + x);
    Vec out;
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        int sign;
        const int to = ghost(s.grid.edge[0], nx, x + c, sign);
        out.v[c] = signed_value(row[to], sign);
    }
    return out;
}

// The planes from `bottom` to `top`
template <int H, int D> __device__ __forceinline__ void plain(const Step &s, int bottom, int top) {
    const Grid &g = s.grid;
    const Medium &m = s.medium;
    const int nx = g.size[0], ny = g.size[1], nz = g.size[2];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int x = COLUMNS * (32 * (D == 1 ? ROWS * blockIdx.x + warp : blockIdx.x) + lane);
    const int y = D == 1 ? 0 : blockIdx.y * ROWS + warp;
    if (y >= ny) return;  // whole warps
    const bool mine = x < nx;
    const bool near = x < nx + COLUMNS;  // what a lane beside may ask for
    int rows[2 * H], signs[2 * H];
    if (D > 1)
#pragma unroll
        for (int k = 0; k < 2 * H; k++) rows[k] = ghost(g.edge[1], ny, k < H ? y - 1 - k : y + 1 + k - H, signs[k]) * g.pitch;
    const size_t plane = (size_t)ny * g.pitch;
    const real *own = s.now + (size_t)y * g.pitch;
    const int first = D > 2 ? bottom + blockIdx.z * s.chunk : 0, last = D > 2 ? min(first + s.chunk, top) : 1;
    const Vec none = {{0, 0, 0, 0}};
    auto at = [&](int z) {
        int sign;
        const int to = ghost(g.edge[2], nz, z, sign);
        return near ? signed_vec(columns_of(s, own + to * plane, x), sign) : none;
    };
    Vec line[2 * H + 1];
    if (D > 2) {
#pragma unroll
        for (int k = 0; k < 2 * H; k++) line[k + 1] = at(first - H + k);
    }
    for (int z = first; z < last; z++) {
        if (D > 2) {
#pragma unroll
            for (int k = 0; k < 2 * H; k++) line[k] = line[k + 1];
            line[2 * H] = at(z + H);
        } else
            line[H] = near ? columns_of(s, own, x) : none;
        const Vec here = line[H];
        const real *row = own + z * plane;
        // H columns at either side
        real window[COLUMNS + 2 * H];
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) window[H + c] = here.v[c];
#pragma unroll
        for (int k = 0; k < H; k++) {
            window[k] = __shfl_up_sync(0xffffffffu, here.v[COLUMNS - H + k], 1);
            window[H + COLUMNS + k] = __shfl_down_sync(0xffffffffu, here.v[k], 1);
        }
        if (lane == 0 && mine) {
            const Vec left = columns_of(s, row, x - COLUMNS);
#pragma unroll
            for (int k = 0; k < H; k++) window[k] = left.v[COLUMNS - H + k];
        }
        if (lane == 31 && mine) {
            const Vec right = columns_of(s, row, x + COLUMNS);
#pragma unroll
            for (int k = 0; k < H; k++) window[H + COLUMNS + k] = right.v[k];
        }
        if (!mine) continue;
        const size_t place = (size_t)y * g.pitch + z * plane + x;
        if (m.skip && m.skip[place / SEGMENT]) continue;
        const Vec before = load(s.old + place);
        Vec squares = {{m.square, m.square, m.square, m.square}};
        if (m.squares) squares = load(m.squares + place);
        Vec sum = none, next, level;
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) level.v[c] = times((real)(2 * D), here.v[c]);
#pragma unroll
        for (int k = 1; k <= H; k++) {
            Vec below = none, above = none;
            if (D > 1) {
                below = signed_vec(load(s.now + z * plane + rows[k - 1] + x), signs[k - 1]);
                above = signed_vec(load(s.now + z * plane + rows[H + k - 1] + x), signs[H + k - 1]);
            }
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) {
                real pairs = plus(window[H + c - k], window[H + c + k]);
                if (D > 1) pairs = plus(pairs, plus(below.v[c], above.v[c]));
                if (D > 2) pairs = plus(pairs, plus(line[H - k].v[c], line[H + k].v[c]));
                sum.v[c] = term<H>(k, pairs, level.v[c], sum.v[c]);
            }
        }
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) next.v[c] = plus(here.v[c], fused(squares.v[c], sum.v[c], minus(here.v[c], before.v[c])));
        store(s.old + place, next);
        if (s.peak) {
            Vec peak = load(s.peak + place);
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) peak.v[c] = max(peak.v[c], abs(next.v[c]));
            store(s.peak + place, peak);
        }
    }
}

// The sites of a list of segments, a warp each
template <int H> __device__ __forceinline__ void listed(const Step &s, const u32 *list, int count) {
    const u32 across = s.grid.pitch / SEGMENT, ny = s.grid.size[1], lane = threadIdx.x & 31;
    for (int n = blockIdx.x * ROWS + (threadIdx.x >> 5); n < count; n += gridDim.x * ROWS) {
        const u32 segment = list[n], row = segment / across, i = (segment - row * across) * SEGMENT + lane, k = s.grid.rank > 2 ? row / ny : 0;
        if (i >= (u32)s.grid.size[0]) continue;
        const Site<H, false> site(s, s.now, s.old, i, row - k * ny, k);
        if (!s.medium.skip[segment])
            site.keep(site.plain());
        else
            site.advance();
    }
}

#define ENTRIES(H)                                                                                                         \
    extern "C" __global__ void __launch_bounds__(256) plain_##H(const __grid_constant__ Step s, int bottom, int top) {     \
        if (s.grid.rank == 1)                                                                                              \
            plain<H, 1>(s, 0, 1);                                                                                          \
        else if (s.grid.rank == 2)                                                                                         \
            plain<H, 2>(s, 0, 1);                                                                                          \
        else                                                                                                               \
            plain<H, 3>(s, bottom, top);                                                                                   \
    }                                                                                                                      \
    extern "C" __global__ void __launch_bounds__(256) listed_##H(const __grid_constant__ Step s, const u32 *list, int count) { \
        listed<H>(s, list, count);                                                                                         \
    }                                                                                                                      \
    extern "C" __global__ void __launch_bounds__(256) layered_##H(const __grid_constant__ Step s, const u32 *list, int count) { \
        layered<H, false>(s, list, count);                                                                                 \
    }
ENTRIES(1)
ENTRIES(2)
ENTRIES(3)
ENTRIES(4)

// 64 registers in single precision
extern "C" __global__ void __launch_bounds__(256, sizeof(real) == sizeof(float) ? 4 : 2) dense_1(const __grid_constant__ Step s, const u32 *list, int count) { layered<1, true>(s, list, count); }

// One block of 1024: signals are added to the level just written, sites of it are overwritten, then sites are gathered
extern "C" __global__ void __launch_bounds__(1024) operate(const Sites o, real *level, int step) {
    add_signals(o, level, step, 1);
    __syncthreads();
    overwrite(o, level, step);
    __syncthreads();
    gather(o, level, step);
}

// What is added after each of some steps: `square` times the strength of a channel times a site's share of it
extern "C" __global__ void __launch_bounds__(256) play(const u32 *channels, const double *shares, const double *strengths, int channel_count, double square,
                                                       int adds, u32 total, real *values) {
    for (u32 n = blockIdx.x * blockDim.x + threadIdx.x; n < total; n += gridDim.x * blockDim.x) {
        const u32 step = n / adds, site = n - step * adds;
        values[n] = (real)__dmul_rn(square, __dmul_rn(strengths[(size_t)step * channel_count + channels[site]], shares[site]));
    }
}

// The largest |p| after a step with signals, which a step cannot know
extern "C" __global__ void __launch_bounds__(256) peaks(const real *level, real *peak, u32 count) { keep_peaks(level, peak, count); }

// What the velocity follows from (src/solver/fdtd/potential.rs)
extern "C" __global__ void __launch_bounds__(256) potentials(const real *level, real *potential, real step, u32 count) { integrate(level, potential, step, count); }

// ---- energy, sums, pictures ----

struct Look {
    Step step;             // `now` and `old` are the two levels
    const real *potential; // energies are those of the sound; null: of the two levels
    int lo[3], hi[3];      // the region
    int inside[2][3];      // sites between the absorbing layers: those in them have no energy
    int across;            // the axis of the flux, -1: none
    int half;
    int energy;            // whether it is wanted
    double spacing, time_step;
};

struct Pair {
    double p, q;
};

// The newer and the older level whose energy is asked for
__device__ __forceinline__ Pair levels(const Look &l, size_t place) {
    if (!l.potential) return {(double)l.step.now[place], (double)l.step.old[place]};
    const double phi = l.potential[place];
    return {phi, phi - l.time_step * (double)l.step.now[place]};
}

__device__ __forceinline__ double kappa(const Medium &m, size_t place) {
    const double own = m.squares ? (double)m.squares[place] : (double)m.square;
    return m.density ? own : own * m.uniform_density;
}

// 1/rho between two sites
__device__ __forceinline__ double bond(const Medium &m, size_t here, size_t there) {
    return m.density ? 2 / ((double)m.density[here] + (double)m.density[there]) : 1 / m.uniform_density;
}

// The same where neither walls nor densities nor edges are near: neighbours where they lie
template <int H> __device__ __forceinline__ double energy_inside(const Look &l, size_t here) {
    const Medium &m = l.step.medium;
    const Pair own = levels(l, here);
    const double stiffness = kappa(m, here), change = own.p - own.q;
    double bonds = 0;
#pragma unroll
    for (int axis = 0; axis < 3; axis++) {
        if (axis >= l.step.grid.rank) continue;
        const size_t stride = axis == 0 ? 1 : axis == 1 ? (size_t)l.step.grid.pitch : (size_t)l.step.grid.pitch * l.step.grid.size[1];
#pragma unroll
        for (int k = 1; k <= H; k++) {
            const Pair low = levels(l, here - k * stride), high = levels(l, here + k * stride);
            bonds += coefficient(H, k) * ((low.p - own.p) * (low.q - own.q) + (high.p - own.p) * (high.q - own.q));
        }
    }
    const double sum = stiffness == 0 ? 0 : change * change / (2 * stiffness);
    return (sum + bonds * (0.25 / m.uniform_density)) * (1 / (l.spacing * l.spacing));
}

// The energy of a site per a^d (src/solver/fdtd/energy.rs)
__device__ __noinline__ double energy(const Look &l, const int *at) {
    const Step &s = l.step;
    const Medium &m = s.medium;
    const Grid &g = s.grid;
    const size_t here = place_of(g, at[0], at[1], at[2]);
    const u8 mark = m.mask ? m.mask[here] : (u8)0;
    if (mark & WALL) return 0;
    const Pair own = levels(l, here);
    const double stiffness = kappa(m, here), change = own.p - own.q;
    double sum = stiffness == 0 ? 0 : change * change / (2 * stiffness);
    const bool walks = mark & BESIDE;
    for (int axis = 0; axis < g.rank; axis++)
        for (int side = -1; side <= 1; side += 2) {
            Walker walker(g, axis, at[axis], here, side);
            for (int k = 1; k <= l.half; k++) {
                int sign, to[3] = {at[0], at[1], at[2]};
                size_t other = here;
                if (walks)
                    walker.step(g, m.mask, axis), sign = walker.sign_here(), other = walker.place;
                else {
                    to[axis] = ghost(g.edge[axis], g.size[axis], at[axis] + side * k, sign);
                    other = place_of(g, to[0], to[1], to[2]);
                }
                const Pair there = levels(l, other);
                // The bond to the zero outside a soft edge is counted by no other site.
                const double share = sign ? 1 : 2;
                sum += share * coefficient(l.half, k) * bond(m, here, sign > 0 ? other : here) * (sign * there.p - own.p) * (sign * there.q - own.q) / 4;
            }
        }
    return sum / (l.spacing * l.spacing);
}

// What stands in the field
struct Stored {
    const Look &l;
    __device__ __forceinline__ Pair operator()(size_t place) const { return levels(l, place); }
};

// What flows to the next site along an axis per a^(d-1): the bonds across the face, those to images of sites on its other side among them (src/solver/fdtd/energy.rs)
template <class Levels> __device__ __noinline__ double flux(const Look &l, const Levels &levels, const int *at, int axis) {
    const Medium &m = l.step.medium;
    const Grid &g = l.step.grid;
    const int sites = g.size[axis];
    const bool ring = g.edge[axis] == PERIODIC;
    if (!ring && at[axis] + 1 >= sites) return 0;
    double sum = 0;
    for (int below = 0; below < l.half; below++) {
        int from[3] = {at[0], at[1], at[2]};
        from[axis] -= below;
        if (ring) from[axis] = (from[axis] % sites + sites) % sites;
        if (from[axis] < 0) break;
        const size_t here = place_of(g, from[0], from[1], from[2]);
        if (m.mask && m.mask[here] & WALL) continue;
        const Pair a = levels(here);
        for (int side = -1; side <= 1; side += 2) {
            Walker walker(g, axis, from[axis], here, side);
            int shift = 0;  // sites from `from` on, which a ring does not wrap
            for (int k = 1; k <= l.half; k++) {
                int sign;
                if (m.mask) {
                    const int before = walker.at, towards = walker.direction;
                    walker.step(g, m.mask, axis), sign = walker.sign_here();
                    if (walker.at != before) shift += towards;
                } else
                    walker.at = ghost(g.edge[axis], sites, from[axis] + side * k, sign), shift = side * k;
                if (!sign || (ring ? shift <= below : walker.at <= at[axis])) continue;
                int to[3] = {at[0], at[1], at[2]};
                to[axis] = walker.at;
                const size_t there = place_of(g, to[0], to[1], to[2]);
                const Pair b = levels(there);
                const double pressure = ((a.p - a.q) + sign * (b.p - b.q)) / (2 * l.time_step);
                const double slope = ((sign * b.p - a.p) + (sign * b.q - a.q)) / (2 * l.spacing);
                sum -= coefficient(l.half, k) * bond(m, here, there) * pressure * slope;
            }
        }
    }
    return sum;
}

// What sums and pictures read
struct Seen {
    const Look &l;
    __device__ __forceinline__ size_t place(const int *at) const { return place_of(l.step.grid, at[0], at[1], at[2]); }
    __device__ __forceinline__ double pressure(const int *at) const { return l.step.now[place(at)]; }
    __device__ __forceinline__ double peak(const int *at) const { return l.step.peak[place(at)]; }
    __device__ __forceinline__ double energy(const int *at) const {
        const Grid &g = l.step.grid;
        bool counts = true;
#pragma unroll
        for (int axis = 0; axis < 3; axis++) counts = counts && at[axis] >= l.inside[0][axis] && at[axis] < l.inside[1][axis];
        if (!counts) return 0;
        bool inside = !l.step.medium.mask && !l.step.medium.density;
#pragma unroll
        for (int axis = 0; axis < 3; axis++) inside = inside && (axis >= g.rank || (at[axis] >= l.half && at[axis] < g.size[axis] - l.half));
        if (!inside) return ::energy(l, at);
        const size_t here = place(at);
        return l.half == 1 ? energy_inside<1>(l, here) : l.half == 2 ? energy_inside<2>(l, here) : l.half == 3 ? energy_inside<3>(l, here) : energy_inside<4>(l, here);
    }
    __device__ __forceinline__ double flux(const int *at, int axis) const { return ::flux(l, Stored{l}, at, axis); }
};

extern "C" __global__ void __launch_bounds__(256) measure(const __grid_constant__ Look l, double *parts) {
    sum_rows(Seen{l}, l.lo, l.hi, l.energy, l.across, parts);
}

// ---- fluxes of every step of a batch, from what was gathered at the sites they read ----

struct Gathered {
    const u32 *places;      // ascending
    const real *pressures;  // `count` numbers a step
    real *potentials;       // the same, of the level before the batch first
    int count;
};

// What the velocity follows from at the gathered sites before the batch
extern "C" __global__ void __launch_bounds__(256) gather_potentials(const __grid_constant__ Gathered g, const real *potential) {
    for (int n = blockIdx.x * blockDim.x + threadIdx.x; n < g.count; n += gridDim.x * blockDim.x) g.potentials[n] = potential[g.places[n]];
}

// The same after each of its steps, with the roundings of `integrate`
extern "C" __global__ void __launch_bounds__(32) follow_potentials(const __grid_constant__ Gathered g, real time_step, int steps) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= g.count) return;
    real potential = g.potentials[n];
#pragma unroll 16
    for (int s = 0; s < steps; s++) potential = plus(potential, times(time_step, g.pressures[(size_t)s * g.count + n])), g.potentials[(size_t)(s + 1) * g.count + n] = potential;
}

struct Follow {
    Look look;  // but for the levels
    Gathered gathered;
    int first, every;  // the steps after which it is wanted
};

// What sums read after a step of the batch: pressures and fluxes
struct Followed {
    const Follow &f;
    size_t step;
    __device__ __forceinline__ size_t number(size_t place) const {
        const Gathered &g = f.gathered;
        int begin = 0, end = g.count - 1;
        while (begin < end) {
            const int middle = (begin + end) >> 1;
            if (g.places[middle] < place)
                begin = middle + 1;
            else
                end = middle;
        }
        return step * g.count + begin;
    }
    __device__ __forceinline__ Pair operator()(size_t place) const {
        const size_t n = number(place);
        const double phi = f.gathered.potentials[n + f.gathered.count];
        return {phi, phi - f.look.time_step * (double)f.gathered.pressures[n]};
    }
    __device__ __forceinline__ double pressure(const int *at) const { return f.gathered.pressures[number(place_of(f.look.step.grid, at[0], at[1], at[2]))]; }
    __device__ __forceinline__ double energy(const int *at) const { return 0; }
    __device__ __forceinline__ double flux(const int *at, int axis) const { return ::flux(f.look, *this, at, axis); }
};

// Sums as `measure` has them, a row of blocks a step
extern "C" __global__ void __launch_bounds__(256) measure_followed(const __grid_constant__ Follow f, double *parts) {
    const int warps = gridDim.x * (blockDim.x >> 5);
    sum_rows(Followed{f, (size_t)f.first + (size_t)blockIdx.y * f.every}, f.look.lo, f.look.hi, 0, f.look.across, parts + (size_t)blockIdx.y * warps * SUMS);
}

// As `measure_total`, of steps with `warps` parts each, `count` of which count
extern "C" __global__ void total_followed(const double *parts, int warps, int count, double *out) {
    add_parts(parts + (size_t)blockIdx.y * warps * SUMS, count, out + (size_t)blockIdx.y * SUMS);
}

// Two levels of four neighbouring sites from `place` on, a multiple of 4
struct Four {
    double p[COLUMNS], q[COLUMNS];

    __device__ __forceinline__ Four(const Look &l, size_t place) {
        const Vec newer = load((l.potential ? l.potential : l.step.now) + place), other = load((l.potential ? l.step.now : l.step.old) + place);
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            p[c] = newer.v[c];
            q[c] = l.potential ? p[c] - l.time_step * (double)other.v[c] : (double)other.v[c];
        }
    }
};

// The energy of four sites where neither walls nor densities nor edges are near: without a call, and with all reads under way at once
template <int H> __device__ __forceinline__ double energy_of_four(const Look &l, size_t here) {
    const Medium &m = l.step.medium;
    const Four left(l, here - COLUMNS), own(l, here), right(l, here + COLUMNS);
    double bonds[COLUMNS] = {}, sum = 0;
#pragma unroll
    for (int k = 1; k <= H; k++) {
        const Four below(l, here - k * (size_t)l.step.grid.pitch), above(l, here + k * (size_t)l.step.grid.pitch);
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            const double low_p = c < k ? left.p[COLUMNS + c - k] : own.p[c < k ? 0 : c - k], low_q = c < k ? left.q[COLUMNS + c - k] : own.q[c < k ? 0 : c - k];
            const bool next = c + k >= COLUMNS;
            const double high_p = next ? right.p[(c + k) % COLUMNS] : own.p[next ? 0 : c + k], high_q = next ? right.q[(c + k) % COLUMNS] : own.q[next ? 0 : c + k];
            const double p = own.p[c], q = own.q[c];
            const double along_x = (low_p - p) * (low_q - q) + (high_p - p) * (high_q - q);
            bonds[c] += coefficient(H, k) * (along_x + (below.p[c] - p) * (below.q[c] - q) + (above.p[c] - p) * (above.q[c] - q));
        }
    }
    const double by = 0.25 / m.uniform_density;
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        const double stiffness = kappa(m, here + c), change = own.p[c] - own.q[c];
        sum += (stiffness == 0 ? 0 : change * change / (2 * stiffness)) + bonds[c] * by;
    }
    return sum * (1 / (l.spacing * l.spacing));
}

template <int H> __device__ __forceinline__ double energy_of_row(const Look &l, int j, int share, int sharing) {
    const Grid &g = l.step.grid;
    const Medium &m = l.step.medium;
    const int lane = threadIdx.x & 31;
    const bool inside = !m.density && j >= H && j < g.size[1] - H;
    const int low = max(l.lo[0], l.inside[0][0]), high = min(l.hi[0], l.inside[1][0]);
    const size_t row = (size_t)j * g.pitch;
    const Seen seen{l};
    double sum = 0;
    if (j < l.inside[0][1] || j >= l.inside[1][1]) return 0;
    for (int i = (low & ~(COLUMNS - 1)) + COLUMNS * (lane + 32 * share); i < high; i += COLUMNS * 32 * sharing) {
        const bool whole = inside && i >= max(low, COLUMNS) && i + COLUMNS <= high && i + COLUMNS + H <= g.size[0];
        // Marks say where walls are as near as the stencil reaches.
        if (whole && !(m.mask && *(const u32 *)(m.mask + row + i))) {
            sum += energy_of_four<H>(l, row + i);
            continue;
        }
        for (int c = max(i, low); c < min(i + COLUMNS, high); c++) {
            const int at[3] = {c, j, l.lo[2]};
            sum += seen.energy(at);
        }
    }
    return sum;
}

// Energies alone, of rows of a plane that warps share as `measure` has it; the other sums are 0. Bytes of a site: 8 in single precision, which rows next to each other find in
// the caches.
extern "C" __global__ void __launch_bounds__(256, 2) measure_energy(const __grid_constant__ Look l, double *parts) {
    const int lane = threadIdx.x & 31, warp = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5), warps = gridDim.x * (blockDim.x >> 5);
    const int rows = l.hi[1] - l.lo[1], sharing = max(1, warps / max(1, rows));
    double sum = 0;
    for (int n = warp; n < rows * sharing; n += warps) {
        const int row = n / sharing, share = n - row * sharing, j = l.lo[1] + row;
        sum += l.half == 1   ? energy_of_row<1>(l, j, share, sharing)
               : l.half == 2 ? energy_of_row<2>(l, j, share, sharing)
               : l.half == 3 ? energy_of_row<3>(l, j, share, sharing)
                             : energy_of_row<4>(l, j, share, sharing);
    }
    sum = sum_of_warp(sum);
    if (lane < SUMS) parts[(size_t)warp * SUMS + lane] = lane == ENERGY ? sum : 0;
}

struct Picture {
    Look look;
    Frame frame;
};

extern "C" __global__ void __launch_bounds__(256) picture(const __grid_constant__ Picture p, int group) { draw(Seen{p.look}, p.frame, group); }
