// What bonds that differ make of a row: of trotter_fused.cuh and trotter_space_own.cuh, which say what rows of a lane, C and grow() are before.
#pragma once

// What its own bond makes of p and its upper neighbour q
__device__ __forceinline__ void own_pair(real a, real b, real d, real &pr, real &pi, real &qr, real &qi) {
    grow(d, pr, pi), grow(d, qr, qi);
    const real xr = pr, xi = pi;
    pr = fused(-a, qi, fused(b, qr, pr)), pi = fused(a, qr, fused(b, qi, pi));
    qr = fused(-a, xi, fused(-b, xr, qr)), qi = fused(a, xr, fused(-b, xi, qi));
}

// A sweep of a row along x by its own bonds, odd or even ones
__device__ __forceinline__ void own_sweep(Row &row, const real (&a)[C], const real (&b)[C], const real (&d)[C], bool odd) {
    const u32 all = 0xffffffffu;
    if (odd) {
        real lr = __shfl_up_sync(all, row.r[C - 1], 1), li = __shfl_up_sync(all, row.i[C - 1], 1);
        real rr = __shfl_down_sync(all, row.r[0], 1), ri = __shfl_down_sync(all, row.i[0], 1);
        const real la = __shfl_up_sync(all, a[C - 1], 1), lb = __shfl_up_sync(all, b[C - 1], 1), ld = __shfl_up_sync(all, d[C - 1], 1);
        own_pair(la, lb, ld, lr, li, row.r[0], row.i[0]);
        own_pair(a[C - 1], b[C - 1], d[C - 1], row.r[C - 1], row.i[C - 1], rr, ri);
    }
#pragma unroll
    for (int c = odd; c + 1 < C; c += 2) own_pair(a[c], b[c], d[c], row.r[c], row.i[c], row.r[c + 1], row.i[c + 1]);
}
