// Trotter-Suzuki, one kernel a sweep, in one to three dimensions; and what every variant needs beside its steps: phase tables that change with
// time, sums over the field, pictures. Compile with -DREAL.
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

// Copies of the sites that a detector reads, after each of some steps: those of a box, and those beyond it that bonds round a ring lead to
struct Copied {
    const real *from;   // two numbers a site; null: the field itself
    Box boxes[2];
    int sites;          // of a step, whoever reads them
};

struct Measure {
    const real *re, *im;
    Medium medium;
    Closing closing;
    Grid grid;
    int lo[3], hi[3];
    int across;        // axis of the current
    int energy;        // whether the energy is wanted
    double hopping, interaction, drives[4], flux;  // interaction: 1 where sites have their own g
    double *rows;      // SUMS numbers a row of the region
    Place place;       // rows j + ny k
    double cross;      // what the density of the other component multiplies
    const real *bonds[3][2];  // f e^{i phi} of the bonds along each axis, at their lower sites; null = 1, and the flux
    Copied copied;
};

// phi at site (i, j, k), which has number n; of copies that of step `step`
__device__ __forceinline__ Complex open_at(const Measure &p, int step, int i, int j, int k, size_t n) {
    const Copied &c = p.copied;
    if (!c.from) return {(double)p.re[n], (double)p.im[n]};
    const Box &own = c.boxes[0], &b = i >= own.x0 && i < own.x1 && j >= own.y0 && j < own.y1 && k >= own.z0 && k < own.z1 ? own : c.boxes[1];
    const size_t at = (size_t)step * c.sites + b.first + (size_t)((k - b.z0) * (b.y1 - b.y0) + j - b.y0) * (b.x1 - b.x0) + i - b.x0;
    return {(double)c.from[2 * at], (double)c.from[2 * at + 1]};
}

enum { NORM, ENERGY, X, XX, Y, YY, Z, ZZ, PEAK, CURRENT, SUMS };

__device__ __forceinline__ Complex gauge_of(double flux, int j) {
    Complex g;
    turn(6.283185307179586 * flux * j, g.r, g.i);
    return g;
}

// Re conj(a) g b and Im conj(a) g b
__device__ __forceinline__ Complex bond(Complex a, Complex g, Complex b) {
    const Complex h = {g.r * b.r - g.i * b.i, g.r * b.i + g.i * b.r};
    return {a.r * h.r + a.i * h.i, a.r * h.i - a.i * h.r};
}

// Sums over the rows of a region in double precision: one warp a row, in blocks of 128, or one block a row, in blocks of 1024, for long rows; of copies the rows of all steps,
// a step after the other along y of the grid
extern "C" __global__ void __launch_bounds__(1024) measure_rows(const Measure p) {
    const Grid &g = p.grid;
    const bool is_long = blockDim.x > 128;
    const int lanes = is_long ? blockDim.x : 32, lane = threadIdx.x % lanes, at_once = blockDim.x / lanes;
    __shared__ double part[6][32];
    const int rows_y = p.hi[1] - p.lo[1], rows = rows_y * (p.hi[2] - p.lo[2]);
    const int size[3] = {g.nx, g.ny, g.nz};
    // Over the whole grid every bond is the upward one of one site, and counts twice there.
    bool whole = true;
    for (int axis = 0; axis < 3; axis++) whole = whole && p.lo[axis] == 0 && p.hi[axis] == size[axis];
    const int sides = whole ? 1 : 2, step = blockIdx.y;
    for (int row = blockIdx.x * at_once + threadIdx.x / lanes; row < rows; row += gridDim.x * at_once) {
        const int j = p.lo[1] + row % rows_y, k = p.lo[2] + row / rows_y;
        const size_t base = offset(g, j + g.ny * k);
        const int y = g.nz > 1 ? j : row_of_whole(p.place, j);  // planes are whole
        const Complex turn_x = gauge_of(p.flux, y), back_x = {turn_x.r, -turn_x.i}, one = {1, 0};
        double norm = 0, energy = 0, x = 0, xx = 0, peak = 0, current = 0;
        for (int i = p.lo[0] + lane; i < p.hi[0]; i += lanes) {
            const size_t n = base + i;
            const Complex here = turned(open_at(p, step, i, j, k, n), p.medium, p.closing, n);
            const double d = here.r * here.r + here.i * here.i;
            norm += d, x += i * d, xx += (double)i * i * d, peak = fmax(peak, d);
            if (!p.energy && p.across < 0) continue;
            const int at[3] = {i, j, k};
            double hops = 0;
            for (int axis = 0; axis < 3; axis++)
                for (int side = 0; side < sides; side++) {
                    if (!p.energy && (axis != p.across || side)) continue;
                    int to = at[axis] + (side ? -1 : 1);
                    if (to < 0 || to >= size[axis]) {
                        if (!g.periodic[axis] || size[axis] < 2) continue;
                        to = side ? size[axis] - 1 : 0;
                    }
                    const size_t other = axis == 0 ? base + to : axis == 1 ? offset(g, to + g.ny * k) + i : offset(g, j + g.ny * to) + i;
                    const Complex open = open_at(p, step, axis == 0 ? to : i, axis == 1 ? to : j, axis == 2 ? to : k, other);
                    const Complex next = turned(open, p.medium, p.closing, other);
                    Complex coupling = axis ? one : side ? back_x : turn_x;
                    if (p.bonds[axis][0]) {
                        const size_t lower = side ? other : n;
                        const double sign = side ? 1 : -1;
                        coupling = {(double)p.bonds[axis][0][lower], sign * (double)p.bonds[axis][1][lower]};
                    }
                    const Complex z = bond(here, coupling, next);
                    hops += z.r;
                    if (axis == p.across && !side) current += z.i;
                }
            double diagonal = p.medium.energy[n] + 0.5 * p.interaction * strength_at(p.medium, n) * d;
            if (p.cross != 0 && p.energy) {
                const Complex other = closed(p.re, p.im, p.medium, p.closing, other_component(g, j + g.ny * k, n));
                diagonal += 0.5 * p.cross * (other.r * other.r + other.i * other.i);
            }
            for (int q = 0; q < p.medium.drives; q++) diagonal += p.drives[q] * (double)p.medium.driven[q][n];
            energy += d * diagonal - p.hopping * (whole ? 2 * hops : hops);
        }
        norm = sum_of_warp(norm), energy = sum_of_warp(energy), x = sum_of_warp(x), xx = sum_of_warp(xx), current = sum_of_warp(current);
        peak = max_of_warp(peak);
        if (is_long) {  // the same row for all threads of the block
            double *const all[6] = {&norm, &energy, &x, &xx, &current, &peak};
            const int warp = threadIdx.x >> 5;
            __syncthreads();
            if ((threadIdx.x & 31) == 0)
#pragma unroll
                for (int q = 0; q < 6; q++) part[q][warp] = *all[q];
            __syncthreads();
#pragma unroll
            for (int q = 0; q < 6; q++) *all[q] = part[q][threadIdx.x & 31];
            norm = sum_of_warp(norm), energy = sum_of_warp(energy), x = sum_of_warp(x), xx = sum_of_warp(xx), current = sum_of_warp(current);
            peak = max_of_warp(peak);
        }
        if (lane == 0) {
            double *out = p.rows + ((size_t)step * rows + row) * SUMS;
            out[NORM] = norm, out[ENERGY] = energy, out[X] = x, out[XX] = xx, out[PEAK] = peak, out[CURRENT] = 2 * p.hopping * current;
            out[Y] = j * norm, out[YY] = (double)j * j * norm, out[Z] = k * norm, out[ZZ] = (double)k * k * norm;
        }
    }
}

// Adds the rows, always in the same order; a block of 256 a step, `apart` numbers from one's result to the next
extern "C" __global__ void measure_total(const double *rows, int count, double *out, int apart) {
    __shared__ double part[SUMS][256];
    rows += (size_t)blockIdx.x * count * SUMS, out += (size_t)blockIdx.x * apart;
    double sum[SUMS] = {};
    for (int n = threadIdx.x; n < count; n += 256)
#pragma unroll
        for (int q = 0; q < SUMS; q++) {
            const double next = rows[(size_t)n * SUMS + q];
            sum[q] = q == PEAK ? fmax(sum[q], next) : sum[q] + next;
        }
#pragma unroll
    for (int q = 0; q < SUMS; q++) part[q][threadIdx.x] = sum[q];
    __syncthreads();
    for (int d = 128; d; d >>= 1) {
        if (threadIdx.x < d)
#pragma unroll
            for (int q = 0; q < SUMS; q++) {
                const double next = part[q][threadIdx.x + d];
                part[q][threadIdx.x] = q == PEAK ? fmax(part[q][threadIdx.x], next) : part[q][threadIdx.x] + next;
            }
        __syncthreads();
    }
    if (threadIdx.x < SUMS) out[threadIdx.x] = part[threadIdx.x][0];
}

struct Sum {
    const real *re, *im;
    Grid grid;
    int lo[3], hi[3];  // a box around all regions; it begins at whole cells
    Regions regions;
};

// |psi|^2 summed over regions after a step of a kernel that does not sum; blocks of 256, a thread a cell at a time
extern "C" __global__ void sum_cells(const __grid_constant__ Sum p) {
    const Regions &q = p.regions;
    const Grid &g = p.grid;
    const int across = (p.hi[0] - p.lo[0] + V - 1) / V, pairs = (p.hi[1] - p.lo[1] + 1) / 2, planes = p.hi[2] - p.lo[2];
    const u32 count = (u32)across * pairs * planes;
    const real scale = (real)q.scale;
    long long sums[REGIONS] = {};
    real most = 0;
    for (u32 n = blockIdx.x * blockDim.x + threadIdx.x; n < count; n += gridDim.x * blockDim.x) {
        const u32 line = n / across;
        const int x = p.lo[0] + (n - line * across) * V, y = p.lo[1] + line % pairs * 2, z = p.lo[2] + line / pairs;
        const size_t at = offset(g, y + g.ny * z) + x;
        const bool two = y + 1 < g.ny;
        __align__(16) real r[V], i[V], da[V], db[V] = {};
        load(r, p.re + at), load(i, p.im + at);
#pragma unroll
        for (int c = 0; c < V; c++) da[c] = fused(r[c], r[c], times(i[c], i[c]));
        if (two) {
            load(r, p.re + at + g.pitch), load(i, p.im + at + g.pitch);
#pragma unroll
            for (int c = 0; c < V; c++) db[c] = fused(r[c], r[c], times(i[c], i[c]));
        }
        const bool ones = x >= q.ones_x[0] && x + V <= q.ones_x[1] && y >= q.ones_y[0] && y + 2 <= q.ones_y[1] && z >= q.ones_z[0] && z < q.ones_z[1];
        if (q.weights && !ones) {
            load(r, q.weights + at);
#pragma unroll
            for (int c = 0; c < V; c++) da[c] = times(da[c], r[c]);
            if (two) load(r, q.weights + at + g.pitch);
#pragma unroll
            for (int c = 0; c < V; c++) db[c] = times(db[c], r[c]);
        }
#pragma unroll
        for (int k = 0; k < REGIONS; k++) {
            if (k >= q.count || z < q.z0[k] || z >= q.z1[k]) continue;
            u32 columns = 0;
#pragma unroll
            for (int c = 0; c < V; c++)
                if (x + c >= q.x0[k] && x + c < q.x1[k]) columns |= 1u << c;
            const bool in_a = y >= q.y0[k] && y < q.y1[k], in_b = y + 1 >= q.y0[k] && y + 1 < q.y1[k];
            if (!columns || !(in_a || in_b)) continue;
            if (q.peaks >> k & 1) {
                sums[k] = max(sums[k], in_order(peak_of_cell(da, db, in_a ? columns : 0, in_b ? columns : 0)));
                continue;
            }
            const real units = times(sum_of_cell(da, db, in_a ? columns : 0, in_b ? columns : 0), scale);
            most = larger(most, units);
            sums[k] += rounded(units);
        }
    }
    __shared__ long long part[8][REGIONS];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
#pragma unroll
    for (int k = 0; k < REGIONS; k++) {
        const long long sum = q.peaks >> k & 1 ? peak_of_warp(sums[k]) : sum_of_warp(sums[k]);
        if (lane == 0) part[warp][k] = sum;
    }
    const bool large = __syncthreads_or(too_large(most));
    const int k = threadIdx.x;
    if (k >= q.count) return;
    const bool peak = q.peaks >> k & 1;
    long long sum = 0;
    for (int n = 0; n < 8; n++) sum = peak ? max(sum, part[n][k]) : sum + part[n][k];
    add_to_total(q, k, total_of(q, 0, k), sum);
    if (large && !peak) atomicOr(total_of(q, 0, k) + 1, 1ull);
}

// Rows of the field, of which the last ends where the field does: a line, which is one row, is cut into several
struct Rows {
    const real *re, *im;
    size_t pitch, end;
    int nx, count;
    double *norms;  // one number a row
};

// The sum of |phi|^2 over every row in double precision: one warp a row, in blocks of 128, or one block a row, in blocks of 1024, for long rows. Which numbers a thread adds, and in
// which order, depends on a row's length alone. Reads 2 numbers a site once: bound by memory.
extern "C" __global__ void __launch_bounds__(1024) norm_rows(const Rows p) {
    const bool is_long = blockDim.x > 128;
    const int lanes = is_long ? blockDim.x : 32, lane = threadIdx.x % lanes, at_once = blockDim.x / lanes;
    __shared__ double part[32];
    for (int row = blockIdx.x * at_once + threadIdx.x / lanes; row < p.count; row += gridDim.x * at_once) {
        const size_t base = row * p.pitch;
        const int n = (int)min((size_t)p.nx, p.end - base), whole = n / V;
        double norm = 0;
#pragma unroll 2
        for (int i = lane; i < whole; i += lanes) {
            real r[V], s[V];
            load(r, p.re + base + (size_t)i * V), load(s, p.im + base + (size_t)i * V);
#pragma unroll
            for (int c = 0; c < V; c++) norm += (double)r[c] * r[c] + (double)s[c] * s[c];
        }
        if (lane < n - whole * V) {
            const size_t at = base + whole * V + lane;
            norm += (double)p.re[at] * p.re[at] + (double)p.im[at] * p.im[at];
        }
        norm = sum_of_warp(norm);
        if (is_long) {  // the same row for all threads of the block
            __syncthreads();
            if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = norm;
            __syncthreads();
            norm = sum_of_warp(part[threadIdx.x & 31]);
        }
        if (lane == 0) p.norms[row] = norm;
    }
}

// Adds them in the order of measure_total; one block of 256
extern "C" __global__ void norm_total(const double *norms, int count, double *out) {
    __shared__ double part[256];
    double sum = 0;
#pragma unroll 8
    for (int n = threadIdx.x; n < count; n += 256) sum += norms[n];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int d = 128; d; d >>= 1) {
        if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[NORM] = part[0];
}

// What total[NORM] of the closed imaginary-time field asks for: scale by sqrt(weight / norm)
extern "C" __global__ void normalise(real *re, real *im, const double *total, double weight, size_t count) {
    const double norm = total[NORM];
    const real scale = norm > 0 ? sqrt(weight / norm) : 1.0;
    for (size_t n = blockIdx.x * (size_t)blockDim.x + threadIdx.x; n < count; n += (size_t)gridDim.x * blockDim.x) re[n] *= scale, im[n] *= scale;
}

struct Picture {
    const real *re, *im;
    Medium medium;
    Closing closing;
    Grid grid;
    int x0, x1, y0, y1, z, reduction, width, height;
    int quantity;  // 0 density, 1 phase, 2 real, 3 imaginary
    float *value, *phase;
};

// The mean density of a texel, V neighbouring sites a lane and load: squares add up in the field's precision over some rows, then in double precision
__device__ __forceinline__ double density_in_vectors(const Picture &p, int xa, int xb, int ya, int yb, int lane, int group) {
    enum { ROWS = 4 };
    double square = 0;
    for (int x = xa + lane * V; x < xb; x += group * V)
        for (int y = ya; y < yb; y += ROWS) {
            const size_t at = offset(p.grid, y + p.grid.ny * p.z) + x;
            __align__(16) real r[ROWS][V], i[ROWS][V];
#pragma unroll
            for (int k = 0; k < ROWS; k++)
                if (y + k < yb) {
                    load(r[k], p.re + at + (size_t)k * p.grid.pitch), load(i[k], p.im + at + (size_t)k * p.grid.pitch);
                } else {
#pragma unroll
                    for (int c = 0; c < V; c++) r[k][c] = i[k][c] = 0;
                }
            real sum = 0;
#pragma unroll
            for (int k = 0; k < ROWS; k++)
#pragma unroll
                for (int c = 0; c < V; c++)
                    if (x + c < xb) sum = fused(r[k][c], r[k][c], fused(i[k][c], i[k][c], sum));
            square += sum;
        }
    return square;
}

// One texel a group of `group` lanes (a power of two up to 32): a mean over reduction x reduction sites
extern "C" __global__ void picture(const Picture p, int group, int in_vectors) {
    const Texel t(p, group);
    double square = 0, r = 0, i = 0;
    // Columns outside and ROWS rows at once inside: so many loads are under way at a time.
    enum { ROWS = 4 };
    if (in_vectors) square = density_in_vectors(p, t.xa, t.xb, t.ya, t.yb, t.lane, group);
    for (int x = t.xa + t.lane; x < t.xb && !in_vectors; x += group)
        for (int y = t.ya; y < t.yb; y += ROWS) {
            const size_t at = offset(p.grid, y + p.grid.ny * p.z) + x;
            Complex z[ROWS];
#pragma unroll
            for (int k = 0; k < ROWS; k++)
                if (y + k < t.yb)
                    z[k] = closed(p.re, p.im, p.medium, p.closing, at + (size_t)k * p.grid.pitch);
                else
                    z[k].r = z[k].i = 0;
#pragma unroll
            for (int k = 0; k < ROWS; k++) square += z[k].r * z[k].r + z[k].i * z[k].i, r += z[k].r, i += z[k].i;
        }
    put_psi(p, t, group, square, r, i);
}
