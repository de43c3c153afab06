// Adds the cells of regions (`oscillators_cells.cuh`), in double precision and always in the same order. REAL is float or double.
#include "oscillators_cells.cuh"
#include "reduce.cuh"

struct Adding {
    const real *cells;
    int count;
    u32 first[REGIONS + 1];
    u32 peaks;
    double *parts;  // a number a block
    u32 *done;      // blocks that are done, of each sum; 0 before and after
    double *out;    // `count` numbers a step
};

__device__ __forceinline__ double joined(double a, double b, bool peak) { return peak ? larger_or_none(a, b) : a + b; }

// Over a block of 256, in its first thread
__device__ __forceinline__ double joined_in_block(double mine, bool peak) {
    __shared__ double part[8];
#pragma unroll
    for (int d = 16; d; d >>= 1) mine = joined(mine, __shfl_xor_sync(0xffffffffu, mine, d), peak);
    __syncthreads();
    if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = mine;
    __syncthreads();
    double all = part[0];
    for (int warp = 1; warp < 8; warp++) all = joined(all, part[warp], peak);
    return all;
}

// Blocks of 256: up to 256 along x share a sum; one region a block along y, one step along z. The block that is done last adds what all have left.
extern "C" __global__ void __launch_bounds__(256) add_cells(const Adding p) {
    const int region = blockIdx.y, sum = blockIdx.z * p.count + region;
    const bool peak = p.peaks >> region & 1;
    const real *const cells = p.cells + (size_t)blockIdx.z * p.first[p.count];
    __shared__ bool last;
    double mine = 0;
#pragma unroll 4
    for (u32 n = p.first[region] + blockIdx.x * 256 + threadIdx.x; n < p.first[region + 1]; n += gridDim.x * 256) mine = joined(mine, (double)cells[n], peak);
    mine = joined_in_block(mine, peak);
    if (threadIdx.x == 0) {
        p.parts[sum * gridDim.x + blockIdx.x] = mine;
        __threadfence();
        last = atomicAdd(p.done + sum, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    mine = threadIdx.x < gridDim.x ? __ldcg(p.parts + sum * gridDim.x + threadIdx.x) : 0;
    mine = joined_in_block(mine, peak);
    if (threadIdx.x == 0) p.out[sum] = mine, p.done[sum] = 0;
}
