// What lanes sum together: over a warp, and over the lanes that share a texel of a picture.
#pragma once

__device__ __forceinline__ double sum_of_warp(double x) {
#pragma unroll
    for (int d = 16; d; d >>= 1) x += __shfl_xor_sync(0xffffffffu, x, d);
    return x;
}
__device__ __forceinline__ double max_of_warp(double x) {
#pragma unroll
    for (int d = 16; d; d >>= 1) x = fmax(x, __shfl_xor_sync(0xffffffffu, x, d));
    return x;
}

// The texel of a thread in a picture of columns x0 to x1 and rows y0 to y1: a group of lanes (a power of two up to 32) shares one, which stands for
// reduction x reduction sites.
struct Texel {
    int number, lane;
    bool mine;
    int xa, xb, ya, yb;

    template <class Frame> __device__ __forceinline__ Texel(const Frame &p, int group) {
        number = (blockIdx.x * blockDim.x + threadIdx.x) / group, lane = threadIdx.x % group;
        mine = number < p.width * p.height;
        const int u = mine ? number % p.width : 0, v = mine ? number / p.width : 0;
        xa = p.x0 + u * p.reduction, xb = min(xa + p.reduction, p.x1), ya = p.y0 + v * p.reduction, yb = min(ya + p.reduction, p.y1);
    }

    __device__ __forceinline__ double sites() const { return (double)(xb - xa) * (yb - ya); }
};

// A texel of psi from what its lanes summed: density, |psi| and phase, real or imaginary part
template <class Frame> __device__ __forceinline__ void put_psi(const Frame &p, const Texel &t, int group, double square, double r, double i) {
    for (int d = group >> 1; d; d >>= 1) {
        square += __shfl_xor_sync(0xffffffffu, square, d);
        r += __shfl_xor_sync(0xffffffffu, r, d);
        i += __shfl_xor_sync(0xffffffffu, i, d);
    }
    if (!t.mine || t.lane) return;
    const double count = t.sites();
    p.value[t.number] = p.quantity == 1 ? sqrt(square / count) : p.quantity == 2 ? r / count : p.quantity == 3 ? i / count : square / count;
    if (p.quantity == 1) p.phase[t.number] = atan2(i, r);
}
