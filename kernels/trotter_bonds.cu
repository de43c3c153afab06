// Trotter-Suzuki, one kernel a sweep, where bonds or sites differ: each bond has its own tangent, sine and phase (layers of hopping and flux, a frame that rotates), each site its own
// interaction, and two components act on each other by their densities. Compile with -DREAL.
//
// Numbers that move, of a site and sweep: 4 of the field, 1 of bonds, 2 with phases; of the phases 6, 7 with strengths.
#include "trotter_sweeps.cuh"

extern "C" __global__ void sweep_x(const __grid_constant__ Sweep p, const __grid_constant__ Own own) { sweep_along_x<true>(p, own); }
extern "C" __global__ void sweep_rows(const __grid_constant__ Sweep p, const __grid_constant__ Own own) { sweep_along_rows<true>(p, own); }

// `after` and `before` multiply the strength of each site
extern "C" __global__ void phases(real *re, real *im, const real *pc, const real *ps, real after, real before, const real *strength, size_t count) {
    phases_of<true>(re, im, pc, ps, after, before, strength, count);
}

// The components are the two halves of a plane, of `half` numbers each, a multiple of V: each turns by the density of the other, exactly, as neither changes
extern "C" __global__ void turn_components(real *re, real *im, real strength, size_t half) {
    for (size_t n = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) * V; n < half; n += (size_t)gridDim.x * blockDim.x * V) {
        __align__(16) real r[2][V], i[2][V];
#pragma unroll
        for (int k = 0; k < 2; k++) load(r[k], re + n + k * half), load(i[k], im + n + k * half);
#pragma unroll
        for (int c = 0; c < V; c++) {
            real density[2], cs, sn;
#pragma unroll
            for (int k = 0; k < 2; k++) density[k] = fused(r[k][c], r[k][c], i[k][c] * i[k][c]);
#pragma unroll
            for (int k = 0; k < 2; k++) turn(strength * density[1 - k], cs, sn), multiply(r[k][c], i[k][c], cs, -sn);
        }
#pragma unroll
        for (int k = 0; k < 2; k++) store(re + n + k * half, r[k]), store(im + n + k * half, i[k]);
    }
}
