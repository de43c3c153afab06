// Sums over the field and its parts, norms, and pictures: the second half of trotter_sweeps.cu, whose medium and closed fields they read.
#pragma once

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
