// Coupled oscillators one kernel a sweep, with what is done to single sites between steps, sums and pictures. REAL is float or double; blocks have 256 threads unless said
// otherwise.
//
// A sweep reads and writes both planes: 16 bytes a site in single precision, and 8 of coefficients in a medium (a bond has 16, and half of the bonds turn). A step of
// order 2 in two dimensions is 7 sweeps of 5 instructions a site.
#include "oscillators.cuh"
#include "sites.cuh"
#include "touch.cuh"
#include "sums.cuh"

struct Sweep {
    real *q, *p;
    Plane plane;
    Springs springs;
    int axis, odd;
};

// A thread has the bond from site (i, j) to the next along the axis; -1 and the last site of an axis without ring have a phantom there.
__device__ __forceinline__ void bond(const Sweep &s, int i, int j) {
    const Plane &g = s.plane;
    const int axis = s.axis, at = axis ? j : i, n = axis ? g.ny : g.nx;
    const bool ring = g.periodic[axis];
    if (at >= n || (ring && at < 0)) return;
    const real *const *each = axis ? s.springs.y : s.springs.x;
    const long long place = (long long)j * g.pitch + i, stride = axis ? g.pitch : 1;
    Pair w;
    if (each[0])
        w = {each[0][place], each[1][place], each[2][place], each[3][place]};
    else if (ring)
        w = s.springs.same[axis][s.odd];
    else
        w = end_or(s.springs.same[axis][s.odd], s.springs.ends[axis], at, n);
    const bool first = at >= 0, second = at + 1 < n || ring;
    const long long other = at + 1 < n ? place + stride : place - (n - 1) * stride;
    real q1 = 0, p1 = 0, q2 = 0, p2 = 0;
    if (first) q1 = s.q[place], p1 = s.p[place];
    if (second) q2 = s.q[other], p2 = s.p[other];
    turn(w, q1, p1, q2, p2);
    if (first) s.q[place] = q1, s.p[place] = p1;
    if (second) s.q[other] = q2, s.p[other] = p2;
}

extern "C" __global__ void __launch_bounds__(256) sweep(const __grid_constant__ Sweep s) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (s.axis == 0) {
        if (2 * n - s.odd >= s.plane.nx) return;
        for (int j = blockIdx.y; j < s.plane.ny; j += gridDim.y) bond(s, 2 * n - s.odd, j);
    } else {
        if (n >= s.plane.nx) return;
        for (int j = blockIdx.y; 2 * j - s.odd < s.plane.ny; j += gridDim.y) bond(s, n, 2 * j - s.odd);
    }
}

// Momenta times a factor each; planes of `count` numbers
extern "C" __global__ void __launch_bounds__(256) damp(real *p, const real *factors, u32 count) {
    for (u32 n = blockIdx.x * blockDim.x + threadIdx.x; n < count; n += gridDim.x * blockDim.x) p[n] = times(p[n], factors[n]);
}

// One block of 1024 between two steps: kicks of moment `moment`, once for the step that ends there and once for the one that begins; q is gathered after step moment - 1
extern "C" __global__ void __launch_bounds__(1024) operate(const Sites o, const real *q, real *p, int moment, int kicks, int gathers) {
    if (kicks) add_signals(o, p, moment, kicks);
    if (gathers) gather(o, q, moment - 1);
}

// Transducers between two steps: they hear q and p, add to them or replace them
extern "C" __global__ void touch_sites(const Touch t, real *q, real *p, real *peak) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= t.count) return;
    const size_t at = t.places[n];
    if (t.act == HEAR) {
        t.record[2 * n] = q[at], t.record[2 * n + 1] = p[at];
        return;
    }
    const real first = t.signal[2 * n], second = t.signal[2 * n + 1];
    q[at] = t.act == ADD ? plus(q[at], first) : first;
    p[at] = t.act == ADD ? plus(p[at], second) : second;
    if (peak) peak[at] = max(peak[at], abs(q[at]));
}

extern "C" __global__ void __launch_bounds__(256) peaks(const real *q, real *peak, u32 count) { keep_peaks(q, peak, count); }

// What the velocity follows from (src/solver/oscillators/potential.rs)
extern "C" __global__ void __launch_bounds__(256) potentials(const real *q, real *potential, real step, u32 count) { integrate(q, potential, step, count); }

// ---- energy, sums, pictures (src/solver/oscillators/measure.rs) ----

struct Look {
    const real *q, *p, *peak;
    const real *potential;  // energies are those of the sound; null: of q and p
    double time_step;
    Plane plane;
    const real *mass, *x, *y;  // masses, and stiffnesses of the bonds laid out like Springs; null: 1 and `stiffness`
    double stiffness;
    int soft[2];               // whether the edges of an axis have springs; for a medium that is the same everywhere
    double modulus, spacing;
    int lo[3], hi[3];
    int across;                // the axis of the flux, -1: none
    int energy;                // whether it is wanted
};

struct Seen {
    const Look &l;
    double by;  // one over the modulus

    __device__ __forceinline__ long long place(const int *at) const { return (long long)at[1] * l.plane.pitch + at[0]; }
    __device__ __forceinline__ double pressure(const int *at) const { return l.q[place(at)]; }
    __device__ __forceinline__ double peak(const int *at) const { return l.peak[place(at)]; }
    __device__ __forceinline__ double mass(long long place) const { return l.mass ? (double)l.mass[place] : 1.0; }
    // q, or the potential at the present time
    __device__ __forceinline__ double first(long long place) const { return l.potential ? (double)l.potential[place] - l.time_step / 2 * (double)l.q[place] : (double)l.q[place]; }
    // Their rate
    __device__ __forceinline__ double rate(long long place) const { return l.potential ? (double)l.q[place] : l.p[place] / mass(place); }
    __device__ __forceinline__ int sites(int axis) const { return axis ? l.plane.ny : l.plane.nx; }

    // The stiffness of the bond from a site, at place `from`, to the next, or from the phantom before the first
    __device__ __forceinline__ double stiffness(int axis, int at, long long from) const {
        const real *each = axis ? l.y : l.x;
        if (each) return each[from];
        const bool inside = l.plane.periodic[axis] || (at >= 0 && at + 1 < sites(axis));
        return inside || l.soft[axis] ? l.stiffness : 0;
    }

    // Half of a bond to a neighbour
    __device__ __forceinline__ double half_bond(double k, double own, long long other) const {
        const double d = first(other) - own;
        return k * d * d * 0.25;
    }

    // Per a^d: what moves there and half of every bond
    __device__ __forceinline__ double energy(const int *at) const {
        const Plane &g = l.plane;
        if (g.rank < 2 || at[0] < 1 || at[1] < 1 || at[0] + 1 >= g.nx || at[1] + 1 >= g.ny) return energy_at_edge(at);
        const long long here = place(at);
        const double own = first(here), moving = rate(here);
        double kx = l.stiffness, ky = kx, before_x = kx, before_y = kx;
        if (l.x) kx = l.x[here], before_x = l.x[here - 1], ky = l.y[here], before_y = l.y[here - g.pitch];
        double sum = mass(here) * moving * moving / 2;
        sum += half_bond(before_x, own, here - 1), sum += half_bond(kx, own, here + 1);
        sum += half_bond(before_y, own, here - g.pitch), sum += half_bond(ky, own, here + g.pitch);
        return sum * by;
    }

    // The same anywhere; a bond to a phantom is counted by no other site.
    __device__ __noinline__ double energy_at_edge(const int *at) const {
        const long long here = place(at);
        const double own = first(here), moving = rate(here);
        double sum = mass(here) * moving * moving / 2;
        for (int axis = 0; axis < l.plane.rank; axis++) {
            const long long stride = axis ? l.plane.pitch : 1;
            const int n = sites(axis);
            const bool ring = l.plane.periodic[axis] && n > 1;
            for (int side = 0; side < 2; side++) {
                const int next = side ? at[axis] + 1 : at[axis] - 1;
                const double k = stiffness(axis, side ? at[axis] : next, side ? here : here - stride);
                const bool there = (next >= 0 && next < n) || ring;
                const int to = next < 0 ? n - 1 : next >= n ? 0 : next;
                const double other = there ? first(here + (to - at[axis]) * stride) : 0.0;
                // Walls carry no bond, and what stands there says nothing.
                if (k != 0) sum += k * (other - own) * (other - own) * (there ? 0.25 : 0.5);
            }
        }
        return sum * by;
    }

    // What flows to the next site along an axis, per a^(d-1) and unit of time
    __device__ double flux(const int *at, int axis) const {
        if (at[axis] + 1 >= sites(axis)) return 0;
        const long long here = place(at), there = here + (axis ? l.plane.pitch : 1);
        return -stiffness(axis, at[axis], here) * l.spacing * (rate(here) + rate(there)) / 2 * (first(there) - first(here)) * by;
    }
};

extern "C" __global__ void __launch_bounds__(256) measure(const __grid_constant__ Look l, double *parts) {
    sum_rows(Seen{l, 1 / l.modulus}, l.lo, l.hi, l.energy, l.across, parts);
}

// Four columns from a multiple of 4 on
__device__ __forceinline__ void four(real (&to)[4], const real *from) {
#pragma unroll
    for (int k = 0; k < int(4 * sizeof(real) / 16); k++) ((uint4 *)to)[k] = ((const uint4 *)from)[k];
}

struct Energies {
    const Seen seen;

    // What bonds join, at four columns
    __device__ __forceinline__ void firsts(double (&to)[4], long long place) const {
        real q[4], potential[4];
        four(q, seen.l.q + place);
        if (seen.l.potential) four(potential, seen.l.potential + place);
#pragma unroll
        for (int c = 0; c < 4; c++) to[c] = seen.l.potential ? (double)potential[c] - seen.l.time_step / 2 * (double)q[c] : (double)q[c];
    }

    // The energies of four columns, none of them beside an edge
    __device__ __forceinline__ double of_four(long long here) const {
        const Look &l = seen.l;
        double own[4], below[4], above[4], moving[4], x[6];
        firsts(own, here), firsts(below, here - l.plane.pitch), firsts(above, here + l.plane.pitch);
        x[0] = seen.first(here - 1), x[5] = seen.first(here + 4);
        real rates[4];
        four(rates, (l.potential ? l.q : l.p) + here);
#pragma unroll
        for (int c = 0; c < 4; c++) x[c + 1] = own[c], moving[c] = rates[c];
        double sum = 0;
        if (l.x) {
            real mass[4], kx[4], ky[4], before_y[4];
            four(mass, l.mass + here), four(kx, l.x + here), four(ky, l.y + here), four(before_y, l.y + here - l.plane.pitch);
            double before = l.x[here - 1];
#pragma unroll
            for (int c = 0; c < 4; c++) {
                const double left = x[c] - own[c], right = x[c + 2] - own[c], down = below[c] - own[c], up = above[c] - own[c], m = mass[c];
                const double bonds = before * left * left + kx[c] * right * right + before_y[c] * down * down + ky[c] * up * up;
                sum += (l.potential ? m * moving[c] * moving[c] : moving[c] * moving[c] / m) / 2 + bonds / 4;
                before = kx[c];
            }
        } else {
            double bonds = 0;
#pragma unroll
            for (int c = 0; c < 4; c++) {
                const double left = x[c] - own[c], right = x[c + 2] - own[c], down = below[c] - own[c], up = above[c] - own[c];
                bonds += left * left + right * right + down * down + up * up;
                sum += moving[c] * moving[c];
            }
            sum = sum / 2 + l.stiffness * bonds / 4;
        }
        return sum * seen.by;
    }
};

// Energies alone, of rows that warps share as `measure` has it: four columns a lane at a time; the other sums are 0
extern "C" __global__ void __launch_bounds__(256) measure_energy(const __grid_constant__ Look l, double *parts) {
    const Seen seen = {l, 1 / l.modulus};
    const Energies energies = {seen};
    const int lane = threadIdx.x & 31, warp = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5), warps = gridDim.x * (blockDim.x >> 5);
    const int rows = l.hi[1] - l.lo[1], sharing = max(1, warps / max(1, rows));
    double sum = 0;
    for (int n = warp; n < rows * sharing; n += warps) {
        const int row = n / sharing, share = n - row * sharing, j = l.lo[1] + row;
        const bool inside = l.plane.rank > 1 && j > 0 && j + 1 < l.plane.ny;
        for (int i = (l.lo[0] & ~3) + 4 * (lane + 32 * share); i < l.hi[0]; i += 128 * sharing) {
            if (inside && i >= max(l.lo[0], 1) && i + 4 <= min(l.hi[0], l.plane.nx - 1)) {
                sum += energies.of_four((long long)j * l.plane.pitch + i);
                continue;
            }
            for (int c = max(i, l.lo[0]); c < min(i + 4, l.hi[0]); c++) {
                const int at[3] = {c, j, l.lo[2]};
                sum += seen.energy_at_edge(at);
            }
        }
    }
    sum = sum_of_warp(sum);
    if (lane < SUMS) parts[(size_t)warp * SUMS + lane] = lane == ENERGY ? sum : 0;
}

struct Picture {
    Look look;
    Frame frame;
};

extern "C" __global__ void __launch_bounds__(256) picture(const __grid_constant__ Picture p, int group) { draw(Seen{p.look, 1 / p.look.modulus}, p.frame, group); }
