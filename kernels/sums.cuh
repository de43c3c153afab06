// Sums over fields of sound, and pictures of them. A `Field` says what stands at a site: pressure(at), peak(at), energy(at), and flux(at, axis) to the next site.
#pragma once
#include "reduce.cuh"

enum { SQUARE, ENERGY, X, XX, Y, YY, Z, ZZ, PEAK, FLUX, SUM, SUMS };

// Sums over rows of a region, warp by warp: SUMS numbers a warp. Several warps share a row where there are more of them than rows.
template <class Field> __device__ __forceinline__ void sum_rows(const Field &field, const int *lo, const int *hi, int energies, int across, double *parts) {
    const int lane = threadIdx.x & 31, warp = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5), warps = gridDim.x * (blockDim.x >> 5);
    const int rows_y = hi[1] - lo[1], rows = rows_y * (hi[2] - lo[2]), sharing = max(1, warps / max(1, rows));
    double all[SUMS] = {};
    bool odd = false;  // a value that is no number
    for (int n = warp; n < rows * sharing; n += warps) {
        const int row = n / sharing, share = n - row * sharing;
        const int j = lo[1] + row % rows_y, k = lo[2] + row / rows_y;
        double square = 0, x = 0, xx = 0;
        for (int i = lo[0] + lane + 32 * share; i < hi[0]; i += 32 * sharing) {
            const int at[3] = {i, j, k};
            const double p = field.pressure(at), p2 = p * p;
            square += p2, x += i * p2, xx += (double)i * i * p2;
            all[PEAK] = fmax(all[PEAK], fabs(p)), all[SUM] += p;
            odd = odd || p != p;
            if (energies) all[ENERGY] += field.energy(at);
            if (across >= 0) all[FLUX] += field.flux(at, across);
        }
        all[SQUARE] += square, all[X] += x, all[XX] += xx;
        all[Y] += j * square, all[YY] += (double)j * j * square, all[Z] += k * square, all[ZZ] += (double)k * k * square;
    }
    if (odd) all[PEAK] = __longlong_as_double(0x7ff0000000000000LL);
#pragma unroll
    for (int q = 0; q < SUMS; q++) {
        all[q] = q == PEAK ? max_of_warp(all[q]) : sum_of_warp(all[q]);
        if (lane == 0) parts[(size_t)warp * SUMS + q] = all[q];
    }
}

// Adds the parts of one of the sums, always in the same order; SUMS blocks of 256
__device__ __forceinline__ void add_parts(const double *parts, int count, double *out) {
    __shared__ double part[256];
    const int q = blockIdx.x;
    double sum = 0;
    for (int n = threadIdx.x; n < count; n += 256) {
        const double next = parts[(size_t)n * SUMS + q];
        sum = q == PEAK ? fmax(sum, next) : sum + next;
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int d = 128; d; d >>= 1) {
        if (threadIdx.x < d) part[threadIdx.x] = q == PEAK ? fmax(part[threadIdx.x], part[threadIdx.x + d]) : part[threadIdx.x] + part[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[q] = part[0];
}

extern "C" __global__ void measure_total(const double *parts, int count, double *out) { add_parts(parts, count, out); }

// A picture of columns x0 to x1 and rows y0 to y1 of plane z
struct Frame {
    int x0, x1, y0, y1, z, reduction, width, height;
    int quantity;  // 0 pressure, 1 energy, 2 peak
    float *value;
};

// One texel a group of `group` lanes (a power of two up to 32): a mean over reduction x reduction sites, or the largest
template <class Field> __device__ __forceinline__ void draw(const Field &field, const Frame &p, int group) {
    const Texel t(p, group);
    double sum = 0;
    for (int y = t.ya; y < t.yb; y++)
        for (int x = t.xa + t.lane; x < t.xb; x += group) {
            const int at[3] = {x, y, p.z};
            if (p.quantity == 2)
                sum = fmax(sum, field.peak(at));
            else
                sum += p.quantity == 1 ? field.energy(at) : field.pressure(at);
        }
    for (int d = group >> 1; d; d >>= 1) {
        const double other = __shfl_xor_sync(0xffffffffu, sum, d);
        sum = p.quantity == 2 ? fmax(sum, other) : sum + other;
    }
    if (t.mine && t.lane == 0) p.value[t.number] = p.quantity == 2 ? sum : sum / t.sites();
}
