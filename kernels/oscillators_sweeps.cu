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
    int inside[2][3];          // sites between the absorbing layers: those in them have no energy
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
        for (int axis = 0; axis < 2; axis++)
            if (at[axis] < l.inside[0][axis] || at[axis] >= l.inside[1][axis]) return 0;
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
    __device__ __noinline__ double flux(const int *at, int axis) const {
        const int own = axis ? at[1] : at[0], n = sites(axis), next = own + 1 < n ? own + 1 : l.plane.periodic[axis] ? 0 : own;
        if (next == own) return 0;
        const long long here = place(at), there = axis ? here + (long long)(next - own) * l.plane.pitch : here + (next - own);
        return -stiffness(axis, own, here) * l.spacing * (rate(here) + rate(there)) / 2 * (first(there) - first(here)) * by;
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

// Energies of four columns at a time, none of them beside an edge, where the velocity's potential is kept. Everything that they need is read before anything is reckoned, without a
// branch in between: what bounds the sum is how many reads are under way.
template <bool MEDIUM> struct Energies {
    const Seen seen;
    real q[4], potential[4], q_below[4], potential_below[4], q_above[4], potential_above[4], q_before, potential_before, q_behind, potential_behind;
    real mass[4], kx[4], ky[4], before_y[4], before_x;

    __device__ __forceinline__ explicit Energies(const Seen &seen) : seen(seen) {}

    __device__ __forceinline__ void read(long long here) {
        const Look &l = seen.l;
        const long long pitch = l.plane.pitch;
        four(q, l.q + here), four(potential, l.potential + here);
        four(q_below, l.q + here - pitch), four(potential_below, l.potential + here - pitch);
        four(q_above, l.q + here + pitch), four(potential_above, l.potential + here + pitch);
        q_before = l.q[here - 1], potential_before = l.potential[here - 1], q_behind = l.q[here + 4], potential_behind = l.potential[here + 4];
        if (!MEDIUM) return;
        four(mass, l.mass + here), four(kx, l.x + here), four(ky, l.y + here), four(before_y, l.y + here - pitch);
        before_x = l.x[here - 1];
    }

    // What bonds join
    __device__ __forceinline__ double first(real q, real potential) const { return (double)potential - seen.l.time_step / 2 * (double)q; }

    __device__ __forceinline__ double sum() const {
        double x[6], all = 0, bonds = 0, before = MEDIUM ? (double)before_x : 0.0;
        x[0] = first(q_before, potential_before), x[5] = first(q_behind, potential_behind);
#pragma unroll
        for (int c = 0; c < 4; c++) x[c + 1] = first(q[c], potential[c]);
#pragma unroll
        for (int c = 0; c < 4; c++) {
            const double own = x[c + 1], moving = q[c], left = x[c] - own, right = x[c + 2] - own;
            const double down = first(q_below[c], potential_below[c]) - own, up = first(q_above[c], potential_above[c]) - own;
            if (MEDIUM) {
                const double all_bonds = before * left * left + kx[c] * right * right + before_y[c] * down * down + ky[c] * up * up;
                all += mass[c] * moving * moving / 2 + all_bonds / 4;
                before = kx[c];
            } else {
                bonds += left * left + right * right + down * down + up * up;
                all += moving * moving;
            }
        }
        return (MEDIUM ? all : all / 2 + seen.l.stiffness * bonds / 4) * seen.by;
    }
};

// Two groups of four columns a lane are under way at a time.
template <bool MEDIUM> __device__ __forceinline__ double energy_of_row(const Seen &seen, int j, int share, int sharing) {
    const Look &l = seen.l;
    const int lane = threadIdx.x & 31, step = 128 * sharing;
    const bool inside = l.potential && l.plane.rank > 1 && j > 0 && j + 1 < l.plane.ny;
    const int begin = max(l.lo[0], l.inside[0][0]), end = min(l.hi[0], l.inside[1][0]);
    const int low = max(begin, 1), high = min(end, l.plane.nx - 1);
    const long long row = (long long)j * l.plane.pitch;
    double sum = 0;
    if (j < l.inside[0][1] || j >= l.inside[1][1]) return 0;
    for (int i = (begin & ~3) + 4 * (lane + 32 * share); i < end; i += 2 * step) {
        if (inside && i >= low && i + step + 4 <= high) {
            Energies<MEDIUM> one(seen), two(seen);
            one.read(row + i), two.read(row + i + step);
            sum += one.sum(), sum += two.sum();
            continue;
        }
#pragma unroll 1
        for (int from = i; from <= i + step; from += step) {
            if (inside && from >= low && from + 4 <= high) {
                Energies<MEDIUM> one(seen);
                one.read(row + from);
                sum += one.sum();
                continue;
            }
            for (int c = max(from, begin); c < min(from + 4, end); c++) {
                const int at[3] = {c, j, l.lo[2]};
                sum += seen.energy_at_edge(at);
            }
        }
    }
    return sum;
}

// Energies alone, of rows that warps share as `measure` has it; the other sums are 0. Bytes of a site: 8 in single precision, in a medium 24: rows next to each other go to warps
// of a block, and come from its cache.
extern "C" __global__ void __launch_bounds__(256, 2) measure_energy(const __grid_constant__ Look l, double *parts) {
    const Seen seen = {l, 1 / l.modulus};
    const int lane = threadIdx.x & 31, warp = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5), warps = gridDim.x * (blockDim.x >> 5);
    const int rows = l.hi[1] - l.lo[1], sharing = max(1, warps / max(1, rows));
    double sum = 0;
    for (int n = warp; n < rows * sharing; n += warps) {
        const int row = n / sharing, share = n - row * sharing, j = l.lo[1] + row;
        sum += l.x ? energy_of_row<true>(seen, j, share, sharing) : energy_of_row<false>(seen, j, share, sharing);
    }
    sum = sum_of_warp(sum);
    if (lane < SUMS) parts[(size_t)warp * SUMS + lane] = lane == ENERGY ? sum : 0;
}

struct Picture {
    Look look;
    Frame frame;
};

extern "C" __global__ void __launch_bounds__(256) picture(const __grid_constant__ Picture p, int group) { draw(Seen{p.look, 1 / p.look.modulus}, p.frame, group); }
