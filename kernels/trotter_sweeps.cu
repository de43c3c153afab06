// Trotter-Suzuki, one kernel a sweep, in one to three dimensions; and what every variant needs beside its steps: phase tables that change with
// time, sums over the field and pictures (trotter_measures.cuh). Compile with -DREAL.
#include "reduce.cuh"
#include "trotter.cuh"
#include "trotter_sweeps.cuh"
#include "touch.cuh"
#include "trotter_sums.cuh"

// Where a grid that is a window of a larger one stands in it: rows of the larger one, and the number of row 0 there
struct Place {
    int first, rows;
};

__device__ __forceinline__ int row_of_whole(const Place &p, int row) { return (int)(((unsigned)p.first + (unsigned)row) % (unsigned)p.rows); }

extern "C" __global__ void sweep_x(const __grid_constant__ Sweep p) { sweep_along_x<false>(p, Own()); }
extern "C" __global__ void sweep_rows(const __grid_constant__ Sweep p) { sweep_along_rows<false>(p, Own()); }
extern "C" __global__ void phases(real *re, real *im, const real *pc, const real *ps, real after, real before, size_t count) {
    phases_of<false>(re, im, pc, ps, after, before, nullptr, count);
}

struct Columns {
    real *re, *im;
    const real *pc, *ps;
    Grid grid;
    real t[3], m[3];  // tangents of the even, odd, even sweep along z; their secants
    real interaction[2];  // g tau, for |psi|^2 after and before the phase
};

// (p, q) -> (p + i t q, q + i t p)
__device__ __forceinline__ void rotate(real t, real &pr, real &pi, real &qr, real &qi) {
    const real xr = pr, xi = pi;
    pr = fused(-t, qi, pr), pi = fused(t, qr, pi);
    qr = fused(-t, xi, qr), qi = fused(t, xr, qi);
}

// The z sweeps of a step and its phase in one pass, in place: a thread goes up a column two sites at a time and holds the pair before,
// whose last sweep waits for its upper neighbour. Walls at the edges of the grid only.
extern "C" __global__ void sweep_columns(const Columns p) {
    const Grid &g = p.grid;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= g.nx) return;
    const size_t plane = (size_t)g.pitch * g.ny;
    const int pairs = (g.nz + 1) / 2;
    const bool closes = g.periodic[2], half = g.nz & 1;
    for (int j = blockIdx.y; j < g.ny; j += gridDim.y) {
        const size_t base = offset(g, j) + i;
        real ur = 0, ui = 0, vr = 0, vi = 0, er = 0, ei = 0;
        if (closes) {
            const size_t at = base + (size_t)(g.nz - 2) * plane;
            real ar = p.re[at], ai = p.im[at];
            vr = p.re[at + plane], vi = p.im[at + plane];
            rotate(p.t[0], ar, ai, vr, vi);
        }
        for (int k = 0; k <= pairs; k++) {
            const size_t at = base + (size_t)(2 * k) * plane;
            const bool last = k == pairs, upper = !last && !(half && k == pairs - 1);
            real ar = 0, ai = 0, br = 0, bi = 0;
            if (!last) {
                ar = p.re[at], ai = p.im[at];
                if (upper) {
                    br = p.re[at + plane], bi = p.im[at + plane];
                    rotate(p.t[0], ar, ai, br, bi);
                } else {
                    ar *= p.m[0], ai *= p.m[0];
                }
                if (k > 0 || closes)
                    rotate(p.t[1], vr, vi, ar, ai);
                else
                    ar *= p.m[1], ai *= p.m[1];
                if (k == 0) er = vr, ei = vi;  // the top site after its bond with the bottom
            } else if (closes) {
                vr = er, vi = ei;
            } else if (!half) {
                vr *= p.m[1], vi *= p.m[1];
            }
            if (k > 0) {
                const size_t to = at - 2 * plane;
                const bool two = !(last && half);
                if (two)
                    rotate(p.t[2], ur, ui, vr, vi);
                else
                    ur *= p.m[2], ui *= p.m[2];
                phase(ur, ui, p.pc[to], p.ps[to], p.interaction);
                p.re[to] = ur, p.im[to] = ui;
                if (two) {
                    phase(vr, vi, p.pc[to + plane], p.ps[to + plane], p.interaction);
                    p.re[to + plane] = vr, p.im[to + plane] = vi;
                }
            }
            ur = ar, ui = ai, vr = br, vi = bi;
        }
    }
}

struct Medium {
    const real *energy;      // diagonal of H without drives; of the field's pitch, as all that follows
    const real *absorption;  // null = none
    const real *driven[4];
    const u8 *wall;
    const real *strength;  // g of each site where layers set it; null = the same everywhere
    int drives;
};

// What multiplies g tau, or tau where sites have their own g
__device__ __forceinline__ double strength_at(const Medium &m, size_t n) { return m.strength ? (double)m.strength[n] : 1; }

// e^{-i(energy E + sum driven U) - damping W} fold
struct Exponent {
    double energy, damping, driven[4], fold, lowest;
    int imaginary;
};

__device__ __forceinline__ double angle_at(const Medium &m, const Exponent &e, size_t n) {
    double angle = e.energy * (double)m.energy[n];
    for (int g = 0; g < m.drives; g++) angle += e.driven[g] * (double)m.driven[g][n];
    return angle;
}

__device__ __forceinline__ double damping_at(const Medium &m, const Exponent &e, size_t n) {
    if (!m.absorption) return 0;
    const double d = e.damping * (double)m.absorption[n];
    return d > 20 ? 20 : d < -20 ? -20 : d;
}

// The same site of the other of two components, which are the halves of the field
__device__ __forceinline__ size_t other_component(const Grid &g, int row, size_t n) {
    const int half = g.ny * g.nz / 2;
    return row < half ? n + offset(g, half) : n - offset(g, half);
}

// Rows of a table at another time. In single precision the larger component is rounded up or down by a hash of site and time so that
// the mean of |factor|^2 is right: the norm then does not drift. In imaginary time `mean_field`, g tau (tau where sites have their own g), multiplies |psi|^2 of the field
// (re, im), and `cross` that of the other component, which is half a plane away.
extern "C" __global__ void fill_table(real *pc, real *ps, const Medium m, const Exponent e, const Grid g, u32 seed,
                                      const real *re, const real *im, double mean_field, double cross, const Place place) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= g.nx) return;
    for (int row = blockIdx.y; row < g.ny * g.nz; row += gridDim.y) {
        const size_t n = offset(g, row) + i;
        if (m.wall && m.wall[n]) {
            pc[n] = ps[n] = 0;
            continue;
        }
        double angle = angle_at(m, e, n);
        if (e.imaginary) {
            if (mean_field != 0) {
                const double x = re[n], y = im[n];
                angle += mean_field * strength_at(m, n) * (x * x + y * y);
            }
            if (cross != 0) {
                const size_t other = other_component(g, row, n);
                const double x = re[other], y = im[other];
                angle += cross * (x * x + y * y);
            }
            pc[n] = e.fold * exp(e.lowest * e.energy - angle), ps[n] = 0;
            continue;
        }
        const double d = damping_at(m, e, n), modulus = d == 0 ? e.fold : e.fold * exp(-d);
        double c, s;
        turn(angle, c, s);
        c *= modulus, s *= -modulus;
        real rc = c, rs = s;
        if (sizeof(real) == 4) {
            const bool swap = fabs(c) < fabs(s);
            const double exact = swap ? s : c;
            const float large = swap ? rs : rc, small = swap ? rc : rs;
            const u32 bits = __float_as_uint(large);
            const float other = __uint_as_float((double)fabsf(large) > fabs(exact) ? bits - 1 : bits + 1);
            const double a = (double)large * large + (double)small * small - modulus * modulus;
            const double b = (double)other * other + (double)small * small - modulus * modulus;
            u32 h = ((u32)row_of_whole(place, row) * (u32)g.pitch + (u32)i) * 2654435761u ^ seed;
            h ^= h >> 16, h *= 0x85ebca6bu, h ^= h >> 13, h *= 0xc2b2ae35u, h ^= h >> 16;
            // with probability a / (a - b) the other one: the mean is zero
            const float chosen = a * b < 0 && h * 2.3283064365386963e-10 < a / (a - b) ? other : large;
            if (swap)
                rs = chosen;
            else
                rc = chosen;
        }
        pc[n] = rc, ps[n] = rs;
    }
}

// How psi becomes the open field (direction 1) and back (-1, with negative times): a phase, and the interaction's with |phi|^2 for
// density both ways; 0 = as it is. Where sites have their own g, `interaction` is the time that multiplies it
struct Closing {
    Exponent exponent;
    double interaction;
    int direction;
};

struct Complex { double r, i; };

__device__ __forceinline__ Complex turned(Complex z, const Medium &m, const Closing &c, size_t n) {
    if (!c.direction) return z;
    const double x = z.r, y = z.i, d = damping_at(m, c.exponent, n), f = d == 0 ? 1 : exp(-d);
    double angle = angle_at(m, c.exponent, n);
    if (c.interaction != 0) angle += c.interaction * strength_at(m, n) * (x * x + y * y) * (c.direction > 0 ? f * f : 1);
    if (sizeof(real) == 4) {
        // the angle is reduced in double precision; the rest of it needs single only
        angle -= 6.283185307179586 * rint(angle * 0.15915494309189535);
        float cs, sn;
        turn((float)angle, cs, sn);
        z.r = f * (cs * x + sn * y), z.i = f * (cs * y - sn * x);
    } else {
        double cs, sn;
        turn(angle, cs, sn);
        z.r = f * (cs * x + sn * y), z.i = f * (cs * y - sn * x);
    }
    return z;
}

__device__ __forceinline__ Complex closed(const real *re, const real *im, const Medium &m, const Closing &c, size_t n) {
    return turned({(double)re[n], (double)im[n]}, m, c, n);
}

// Opens, closes or conjugates the whole field; walls become zero
extern "C" __global__ void turn_field(real *re, real *im, const Medium m, const Closing c, const Grid g, int conjugate) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= g.nx) return;
    for (int row = blockIdx.y; row < g.ny * g.nz; row += gridDim.y) {
        const size_t n = offset(g, row) + i;
        Complex z = closed(re, im, m, c, n);
        if (m.wall && m.wall[n]) z.r = z.i = 0;
        re[n] = z.r, im[n] = conjugate ? -z.i : z.i;
    }
}

struct TouchSites {
    real *re, *im;
    Medium medium;
    Closing closing, opening;
    Touch touch;
};

// Transducers between two steps, when the field is open: they hear psi, add to it or replace it; walls stay silent
extern "C" __global__ void touch_sites(const TouchSites p) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= p.touch.count) return;
    const size_t at = p.touch.places[n];
    if (p.touch.act == HEAR) {
        const Complex z = closed(p.re, p.im, p.medium, p.closing, at);
        p.touch.record[2 * n] = z.r, p.touch.record[2 * n + 1] = z.i;
        return;
    }
    if (p.medium.wall && p.medium.wall[at]) return;
    Complex z = {(double)p.touch.signal[2 * n], (double)p.touch.signal[2 * n + 1]};
    if (p.touch.act == ADD) {
        const Complex now = closed(p.re, p.im, p.medium, p.closing, at);
        z.r += now.r, z.i += now.i;
    }
    z = turned(z, p.medium, p.opening, at);
    p.re[at] = z.r, p.im[at] = z.i;
}

#include "trotter_measures.cuh"
