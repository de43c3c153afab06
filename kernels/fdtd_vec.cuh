// COLUMNS neighbouring columns of a row in one thread, for finite differences for sound.
#pragma once
#include "fdtd.cuh"

#ifndef COLUMNS
#define COLUMNS 4
#endif

struct Vec {
    real v[COLUMNS];
};

__device__ __forceinline__ void load_wide(const float *p, float (&v)[4]) {
    const float4 f = *(const float4 *)p;
    v[0] = f.x, v[1] = f.y, v[2] = f.z, v[3] = f.w;
}
__device__ __forceinline__ void load_wide(const double *p, double (&v)[2]) {
    const double2 a = *(const double2 *)p;
    v[0] = a.x, v[1] = a.y;
}
__device__ __forceinline__ void load_wide(const double *p, double (&v)[4]) {
    const double2 a = ((const double2 *)p)[0], b = ((const double2 *)p)[1];
    v[0] = a.x, v[1] = a.y, v[2] = b.x, v[3] = b.y;
}
__device__ __forceinline__ void store_wide(float *p, const float (&v)[4]) { *(float4 *)p = make_float4(v[0], v[1], v[2], v[3]); }
__device__ __forceinline__ void store_wide(double *p, const double (&v)[2]) { *(double2 *)p = make_double2(v[0], v[1]); }
__device__ __forceinline__ void store_wide(double *p, const double (&v)[4]) {
    ((double2 *)p)[0] = make_double2(v[0], v[1]);
    ((double2 *)p)[1] = make_double2(v[2], v[3]);
}
__device__ __forceinline__ Vec load(const real *p) {
    Vec out;
    load_wide(p, out.v);
    return out;
}
__device__ __forceinline__ void store(real *p, const Vec &a) { store_wide(p, a.v); }

__device__ __forceinline__ Vec signed_vec(Vec a, int sign) {
    if (sign != 1)
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) a.v[c] = signed_value(a.v[c], sign);
    return a;
}
