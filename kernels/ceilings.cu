// What a device can do at most: bytes copied, multiply-adds done. For `ripplon bench`.

extern "C" __global__ void copy(uint4 *to, const uint4 *from, size_t count) {
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    size_t n = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    for (; n + 3 * stride < count; n += 4 * stride) {
        const uint4 a = from[n], b = from[n + stride], c = from[n + 2 * stride], d = from[n + 3 * stride];
        to[n] = a, to[n + stride] = b, to[n + 2 * stride] = c, to[n + 3 * stride] = d;
    }
    for (; n < count; n += stride) to[n] = from[n];
}

// x <- factor x + term in CHAINS independent chains; `out` gets a sum that nothing can leave out
enum { CHAINS = 16 };

__device__ __forceinline__ float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ __forceinline__ double fused(double a, double b, double c) { return __fma_rn(a, b, c); }

template <typename T> __device__ __forceinline__ void chains(T *out, T factor, T term, int rounds) {
    T x[CHAINS];
#pragma unroll
    for (int c = 0; c < CHAINS; c++) x[c] = T(1) + T(c) * T(1e-3);
#pragma unroll 4
    for (int n = 0; n < rounds; n++)
#pragma unroll
        for (int c = 0; c < CHAINS; c++) x[c] = fused(x[c], factor, term);
    T sum = 0;
#pragma unroll
    for (int c = 0; c < CHAINS; c++) sum += x[c];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void multiply_adds_single(float *out, float factor, float term, int rounds) { chains(out, factor, term, rounds); }
extern "C" __global__ void multiply_adds_double(double *out, double factor, double term, int rounds) { chains(out, factor, term, rounds); }
