// Common to the Trotter-Suzuki kernels: REAL is float or double.
//
// A field is two planes of `pitch` x ny x nz numbers, real and imaginary part, x fastest; columns nx..pitch hold zeros.
#pragma once

#include "real.cuh"

// cos and sin without the slow path for huge arguments, which would need a stack
__device__ __forceinline__ void turn(float angle, float &c, float &s) { sincospif(angle * 0.318309886183790672f, &s, &c); }
__device__ __forceinline__ void turn(double angle, double &c, double &s) { sincospi(angle * 0.318309886183790672, &s, &c); }

// (r + i m) *= (c + i s)
__device__ __forceinline__ void multiply(real &r, real &m, real c, real s) {
    const real x = fused(c, r, -s * m);
    m = fused(c, m, s * r);
    r = x;
}

// (r + i m) *= (c + i s), then the interaction's phase e^{-i(g0 |psi'|^2 + g1 |psi|^2)}, psi before and psi' after the product; in imaginary time tables carry it
__device__ __forceinline__ void multiply_and_interact(real &r, real &m, real c, real s, const real (&g)[2]) {
    const real before = g[1] * fused(r, r, m * m);
    multiply(r, m, c, s);
    turn(fused(g[0], fused(r, r, m * m), before), c, s);
    multiply(r, m, c, -s);
}
