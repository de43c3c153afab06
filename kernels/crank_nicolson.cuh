// What Crank-Nicolson on a line and on a plane share: complex numbers, drives, sums over the field and pictures of it. psi is interleaved, x fastest.
#pragma once
#include "reduce.cuh"
#include "trotter.cuh"

// The interaction's phase e^{-i g|psi|^2}
__device__ __forceinline__ void interact(real &r, real &m, real g) {
    real c, s;
    turn(g * fused(r, r, m * m), c, s);
    multiply(r, m, c, -s);
}

struct __align__(2 * sizeof(real)) Complex { real r, i; };

__device__ __forceinline__ Complex make(real r, real i) { Complex z = {r, i}; return z; }
__device__ __forceinline__ Complex operator+(Complex a, Complex b) { return make(a.r + b.r, a.i + b.i); }
__device__ __forceinline__ Complex operator-(Complex a, Complex b) { return make(a.r - b.r, a.i - b.i); }
__device__ __forceinline__ Complex operator*(Complex a, Complex b) {
    return make(fused(a.r, b.r, -a.i * b.i), fused(a.r, b.i, a.i * b.r));
}
// c + a b, c - a b
__device__ __forceinline__ Complex add(Complex c, Complex a, Complex b) {
    return make(fused(a.r, b.r, fused(-a.i, b.i, c.r)), fused(a.r, b.i, fused(a.i, b.r, c.i)));
}
__device__ __forceinline__ Complex less(Complex c, Complex a, Complex b) {
    return make(fused(-a.r, b.r, fused(a.i, b.i, c.r)), fused(-a.r, b.i, fused(-a.i, b.r, c.i)));
}
__device__ __forceinline__ float reciprocal(float x) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
__device__ __forceinline__ double reciprocal(double x) { return __drcp_rn(x); }
__device__ __forceinline__ Complex inverse(Complex a) {
    const real s = reciprocal(fused(a.r, a.r, a.i * a.i));
    return make(a.r * s, -a.i * s);
}
__device__ __forceinline__ Complex shuffled(u32 mask, Complex a, int from, int width) {
    return make(__shfl_sync(mask, a.r, from, width), __shfl_sync(mask, a.i, from, width));
}

// E while drives are on: E + by times what one of them adds
extern "C" __global__ void __launch_bounds__(256) drive(real *energy, const real *still, const real *part, real by, u32 n) {
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) energy[i] = fused(by, part[i], still[i]);
}

// The sum of |psi|^2, a number a block of 256; always in the same order
__device__ __forceinline__ double summed(double own) {
    __shared__ double sums[8];
    for (int s = 16; s > 0; s /= 2) own += __shfl_xor_sync(0xffffffffu, own, s);
    if ((threadIdx.x & 31) == 0) sums[threadIdx.x >> 5] = own;
    __syncthreads();
    own = 0;
    for (int n = 0; n < 8; n++) own += sums[n];
    return own;
}
extern "C" __global__ void __launch_bounds__(256) weigh(const Complex *psi, u32 n, double *parts) {
    double own = 0;
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const double r = psi[i].r, m = psi[i].i;
        own += r * r + m * m;
    }
    own = summed(own);
    if (threadIdx.x == 0) parts[blockIdx.x] = own;
}

// Scales psi to a sum of `weight`, where it is not zero; `count` parts
extern "C" __global__ void __launch_bounds__(256) rescale(Complex *psi, u32 n, const double *parts, int count, double weight) {
    double own = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x) own += parts[i];
    own = summed(own);
    if (!(own > 0)) return;
    const real scale = (real)sqrt(weight / own);
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) psi[i].r *= scale, psi[i].i *= scale;
}

// The density that an imaginary step begins with, and what it damps both before and after the step
extern "C" __global__ void __launch_bounds__(256) hold_density(const Complex *psi, real *density, u32 n) {
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) density[i] = fused(psi[i].r, psi[i].r, psi[i].i * psi[i].i);
}
extern "C" __global__ void __launch_bounds__(256) damp(Complex *psi, const real *density, real strength, u32 n) {
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const real f = exp(-strength * density[i]);
    psi[i].r *= f, psi[i].i *= f;
}

// What is summed over sites lo <= site < hi: sums of |psi|^2 and its moments, and if wanted the energy, bonds out of the region by half, and the current
// along `across` (-1: none)
struct Region {
    int lo[2], hi[2], across, energy;
};

enum { NORM, ENERGY, X, XX, Y, YY, PEAK, CURRENT, SUMS };

struct Look {
    const Complex *psi;
    const real *still, *driven;   // diagonal of H without the constant; null = 0. Infinite where a wall stands
    const Region *regions;
    double *parts;                // SUMS numbers a block
    int size[2], periodic[2];
    double diagonal, hopping, interaction;
};

struct Wide { double r, i; };
__device__ __forceinline__ Wide wide_at(const Look &p, int i, int j) {
    const Complex z = p.psi[(size_t)j * p.size[0] + i];
    Wide w = {(double)z.r, (double)z.i};
    return w;
}
// Re conj(psi) H psi at a site
__device__ __forceinline__ double energy_of(const Look &p, Wide z, int i, int j) {
    const size_t at = (size_t)j * p.size[0] + i;
    double e = p.diagonal + (p.still ? (double)p.still[at] : 0.0) + (p.driven ? (double)p.driven[at] : 0.0);
    if (isinf(e)) return 0;
    const double density = z.r * z.r + z.i * z.i;
    double r = 0, m = 0;
    for (int axis = 0; axis < 2; axis++) {
        const int n = p.size[axis], here = axis ? j : i;
        if (n == 1) continue;
        for (int side = -1; side <= 1; side += 2) {
            int other = here + side;
            if (other < 0 || other == n) {
                if (!p.periodic[axis]) continue;
                other = other < 0 ? n - 1 : 0;
            }
            const Wide w = axis ? wide_at(p, i, other) : wide_at(p, other, j);
            r += w.r, m += w.i;
        }
    }
    return density * (e + 0.5 * p.interaction * density) - p.hopping * (z.r * r + z.i * m);
}

// Sums over regions, gridDim.x blocks of 256 each; always in the same order
extern "C" __global__ void __launch_bounds__(256) measure(const __grid_constant__ Look p) {
    const Region region = p.regions[blockIdx.y];
    const u32 width = region.hi[0] - region.lo[0], count = width * (u32)(region.hi[1] - region.lo[1]);
    double all[SUMS] = {};
    bool odd = false;  // a value that is no number
    for (u32 n = blockIdx.x * 256 + threadIdx.x; n < count; n += gridDim.x * 256) {
        const int i = region.lo[0] + n % width, j = region.lo[1] + n / width;
        const Wide z = wide_at(p, i, j);
        const double density = z.r * z.r + z.i * z.i;
        odd = odd || density != density;
        all[NORM] += density, all[PEAK] = fmax(all[PEAK], density);
        all[X] += i * density, all[XX] += (double)i * i * density;
        all[Y] += j * density, all[YY] += (double)j * j * density;
        if (region.energy) all[ENERGY] += energy_of(p, z, i, j);
        const int axis = region.across, here = axis ? j : i;
        const bool last = axis >= 0 && here + 1 == p.size[axis];
        if (axis >= 0 && (!last || p.periodic[axis])) {
            const int to = last ? 0 : here + 1;
            const Wide w = axis ? wide_at(p, i, to) : wide_at(p, to, j);
            all[CURRENT] += 2 * p.hopping * (z.r * w.i - z.i * w.r);
        }
    }
    if (odd) all[PEAK] = __longlong_as_double(0x7ff0000000000000LL);
    __shared__ double warps[8][SUMS];
#pragma unroll
    for (int q = 0; q < SUMS; q++) {
        all[q] = q == PEAK ? max_of_warp(all[q]) : sum_of_warp(all[q]);
        if ((threadIdx.x & 31) == 0) warps[threadIdx.x >> 5][q] = all[q];
    }
    __syncthreads();
    if (threadIdx.x >= SUMS) return;
    double sum = 0;
    for (int w = 0; w < 8; w++) sum = threadIdx.x == PEAK ? fmax(sum, warps[w][threadIdx.x]) : sum + warps[w][threadIdx.x];
    p.parts[((size_t)blockIdx.y * gridDim.x + blockIdx.x) * SUMS + threadIdx.x] = sum;
}

// Adds the parts of the regions, a block of 32 each, always in the same order
extern "C" __global__ void __launch_bounds__(32) measure_total(const double *parts, int count, double *out) {
    for (int q = 0; q < SUMS; q++) {
        double sum = 0;
        for (int n = threadIdx.x; n < count; n += 32) {
            const double part = parts[((size_t)blockIdx.x * count + n) * SUMS + q];
            sum = q == PEAK ? fmax(sum, part) : sum + part;
        }
        sum = q == PEAK ? max_of_warp(sum) : sum_of_warp(sum);
        if (threadIdx.x == 0) out[(size_t)blockIdx.x * SUMS + q] = sum;
    }
}

// A picture of columns x0 to x1 and rows y0 to y1
struct Picture {
    const Complex *psi;
    float *value, *phase;
    int nx, x0, x1, y0, y1, reduction, width, height;
    int quantity;  // 0 density, 1 modulus and phase, 2 real, 3 imaginary part
};

extern "C" __global__ void __launch_bounds__(256) picture(const __grid_constant__ Picture p, int group) {
    const Texel t(p, group);
    double square = 0, r = 0, i = 0;
    for (int y = t.ya; y < t.yb; y++)
        for (int x = t.xa + t.lane; x < t.xb; x += group) {
            const Complex z = p.psi[(size_t)y * p.nx + x];
            square += (double)z.r * z.r + (double)z.i * z.i, r += z.r, i += z.i;
        }
    put_psi(p, t, group, square, r, i);
}
