// Common to the kernels of coupled oscillators: REAL is float or double.
//
// A field is two planes of `pitch` x ny numbers, q (pressure) and p (momentum), x fastest, pitch > nx; columns nx..pitch hold zeros. A step is a palindrome
// of sweeps over bonds (src/solver/oscillators/scheme.rs): in one dimension x: E/2 O E/2, in two x: E/2 O/2, y: E/2 O E/2, x: O/2 E/2. E: bonds from even
// sites to the next, O: from odd ones.
//
// A pair of masses and its spring move exactly by a kick, a drift and a kick, 10 instructions (src/solver/oscillators/pair.rs). A site that a sweep leaves
// alone at an end drifts, or swings on the spring of a soft edge: that is a bond to a phantom of q = 0 which B = 0 and its own A = 0 (or C = 0) keep at 0. Rounding is written
// out, so that all kernels give the same bits.
#pragma once
#include "real.cuh"

struct Plane {
    int nx, ny, pitch, rank;
    int periodic[2];
};

// The kick of each, and what a drift takes from the own momentum and from the other
struct Pair {
    real k, a, b, c;
};
struct Lone {
    real k, a;
};

// Coefficients of sub-steps of one length
struct Springs {
    // kappa, A, B, C of the bond from each site to the next along x and y, laid out like a field with one row and one column more before it: ends are bonds to phantoms.
    // Null: the same everywhere.
    const real *x[4], *y[4];
    Pair same[2][2];      // by axis and parity
    Lone ends[2][2];      // by axis, at the low and the high end
    const real *damping;  // what momenta are multiplied by before and after a step; null: nothing
};

__device__ __forceinline__ void turn(const Pair &w, real &q1, real &p1, real &q2, real &p2) {
    real r = minus(q1, q2);
    p1 = fused(-r, w.k, p1), p2 = fused(r, w.k, p2);
    q1 = fused(p2, w.b, fused(p1, w.a, q1)), q2 = fused(p2, w.c, fused(p1, w.b, q2));
    r = minus(q1, q2);
    p1 = fused(-r, w.k, p1), p2 = fused(r, w.k, p2);
}

__device__ __forceinline__ void swing(const Lone &w, real &q, real &p) {
    p = fused(-q, w.k, p);
    q = fused(p, w.a, q);
    p = fused(-q, w.k, p);
}

// The coefficients of the bond from site `at` of n along an axis without rings; `at` may be beyond the ends
__device__ __forceinline__ Pair end_or(const Pair &inside, const Lone (&ends)[2], int at, int n) {
    Pair w = inside;
    if (at < 0) w = {ends[0].k, 0, 0, ends[0].a};
    if (at == n - 1) w = {ends[1].k, ends[1].a, 0, 0};
    if (at < -1 || at >= n) w = {0, 0, 0, 0};
    return w;
}
