// Bonds that differ from one another in three dimensions: a step nests its axes, x even, x odd, y even, y odd, z, y odd, y even, x odd, x even.
//
// As in trotter_fused.cu planes hold of a bond of angle f theta and phase phi, where most along its axis have theta, t cos phi, t sin phi with t = tan f theta, and
// d = cos f theta / cos theta - 1, by which both members grow; a bond that is not there has t = 0. One body reads each bond, walls and edges among them, where some are not as
// most others; the other one takes all for alike. Both give the same bits for bonds that are (d = 0). Bonds along y and z have no phases.
#pragma once
#include "trotter_space.cuh"

struct Own {
    const real *planes;     // of x bonds t cos phi, t sin phi, d, of y bonds t, d, of z bonds t, d; each a plane like the state, a bond at its lower site
    const u8 *unlike;       // of every tile, x fastest, a byte a pair of planes: whether some bond there is not as most others
    real t[2][4], m[2][4];  // of x and of y: tangents of even and odd before, odd and even after, and the secants less 1
    u32 sweeps;             // which there are: bit 4 axis + n, those of z the last three
};

enum { X_BONDS = 0, Y_BONDS = 3, Z_BONDS = 5 };

// Where a stage finds the bonds of a row: `there`, or as beside an edge
struct Spot { size_t site; bool there; };

__device__ __forceinline__ Spot spot(const Space &p, const Place &place, int r, int z, bool has_plane) {
    const int row = place.rows[r];
    return {(size_t)z * p.pitch * p.ny + row + place.x, has_plane && place.inside && (place.open >> (r + 1) & 1)};
}

__device__ __forceinline__ void take_bonds(real (&out)[C], const Own &o, const Space &p, int number, const Spot &at, real edge) {
#pragma unroll
    for (int c = 0; c < C; c++) out[c] = edge;
    if (at.there) *(uint4 *)out = __ldg((const uint4 *)(o.planes + (size_t)number * p.pitch * p.ny * p.nz + at.site));
}

#include "trotter_own.cuh"

// The same of a bond without a phase
__device__ __forceinline__ void own_pair(real t, real d, real &pr, real &pi, real &qr, real &qi) {
    grow(d, pr, pi), grow(d, qr, qi);
    const real xr = pr, xi = pi;
    lean(t, pr, pi, qr, qi);
    lean(t, qr, qi, xr, xi);
}

// The x sweeps of a row before those of the other axes, or AFTER them
template <bool AFTER> __device__ __forceinline__ void own_x(Row &row, const Own &o, const Space &p, const Spot &at) {
    __align__(16) real a[C], b[C], d[C];
    take_bonds(a, o, p, X_BONDS, at, 0), take_bonds(b, o, p, X_BONDS + 1, at, 0), take_bonds(d, o, p, X_BONDS + 2, at, o.m[0][1]);
#pragma unroll
    for (int k = 0; k < 2; k++) {
        const bool odd = (k == 0) == AFTER;
        if (!(o.sweeps >> ((AFTER ? 2 : 0) + k) & 1)) continue;
        own_sweep(row, a, b, d, odd);
    }
}

__device__ __forceinline__ void own_even_y(Part &a, const Own &o, const Space &p, const Place &place, int z, bool has) {
#pragma unroll
    for (int r = 0; r < R; r += 2) {
        __align__(16) real t[C], d[C];
        const Spot at = spot(p, place, r, z, has);
        take_bonds(t, o, p, Y_BONDS, at, 0), take_bonds(d, o, p, Y_BONDS + 1, at, o.m[1][0]);
#pragma unroll
        for (int c = 0; c < C; c++) own_pair(t[c], d[c], a.row[r].r[c], a.row[r].i[c], a.row[r + 1].r[c], a.row[r + 1].i[c]);
    }
}

// A warp's bonds from row -1 on, the rows at its rims with those of the warps beside it
__device__ __forceinline__ void own_odd_y(Part &a, const Own &o, const Space &p, const Place &place, int z, bool has, const char *rim, int plane, bool below, bool above) {
#pragma unroll
    for (int r = -1; r < R; r += 2) {
        if ((r < 0 && !below) || (r == R - 1 && !above)) continue;
        __align__(16) real t[C], d[C];
        const Spot at = spot(p, place, r, z, has);
        take_bonds(t, o, p, Y_BONDS, at, 0), take_bonds(d, o, p, Y_BONDS + 1, at, o.m[1][1]);
        Row beside;
        if (r < 0) take(beside, rim - RIM + (plane * 2 + 1) * 2 * PART);
        if (r == R - 1) take(beside, rim + RIM + (plane * 2 + 0) * 2 * PART);
        Row &low = r < 0 ? beside : a.row[r < 0 ? 0 : r], &up = r == R - 1 ? beside : a.row[r == R - 1 ? 0 : r + 1];
#pragma unroll
        for (int c = 0; c < C; c++) own_pair(t[c], d[c], low.r[c], low.i[c], up.r[c], up.i[c]);
    }
}

// What sweep n of the z sweeps does with the bonds from plane z
__device__ __forceinline__ void take_z(real (&t)[C], real (&d)[C], const Own &o, const Space &p, const Place &place, int r, int z, bool has, int n) {
    const Spot at = spot(p, place, r, z, has);
    const bool swept = o.sweeps >> (8 + n) & 1;
    const Spot own = {at.site, at.there && swept};
    take_bonds(t, o, p, Z_BONDS, own, 0), take_bonds(d, o, p, Z_BONDS + 1, own, swept ? p.m[n] : real(0));
}

// z sweeps of the planes (a, b) = 2j, 2j + 1 and those before them (u, v), which they complete and hand over in (a, b)
__device__ __forceinline__ void own_z(Row &a, Row &b, Row &u, Row &v, const Own &o, const Space &p, const Place &place, int r, const int (&z)[2], u32 now, u32 before, const int (&back)[2]) {
    __align__(16) real t[C], d[C];
    take_z(t, d, o, p, place, r, z[0], now & 1, 0);
#pragma unroll
    for (int c = 0; c < C; c++) own_pair(t[c], d[c], a.r[c], a.i[c], b.r[c], b.i[c]);
    take_z(t, d, o, p, place, r, back[1], before & 2, 1);
#pragma unroll
    for (int c = 0; c < C; c++) own_pair(t[c], d[c], v.r[c], v.i[c], a.r[c], a.i[c]);
    take_z(t, d, o, p, place, r, back[0], before & 1, 2);
#pragma unroll
    for (int c = 0; c < C; c++) {
        own_pair(t[c], d[c], u.r[c], u.i[c], v.r[c], v.i[c]);
        const real ur = u.r[c], ui = u.i[c], vr = v.r[c], vi = v.i[c];
        u.r[c] = a.r[c], u.i[c] = a.i[c], v.r[c] = b.r[c], v.i[c] = b.i[c];
        a.r[c] = ur, a.i[c] = ui, b.r[c] = vr, b.i[c] = vi;
    }
}

// Whether a lane is at an edge of the grid
struct Ends { bool left, right; };

// The x and y sweeps of a stage before those of z, or AFTER them, of the pair of planes z
template <bool LOOKS, bool AFTER>
__device__ __forceinline__ void own_planes(Part &a, Part &b, const Own &o, const Space &p, const Place &place, const int (&z)[2], u32 there, const Ends &e, int warp, char *rim) {
    enum { FIRST = AFTER ? 2 : 0, ODD = AFTER ? 2 : 1, EVEN = AFTER ? 3 : 0 };
    const Sides s = sides(e.left, e.right, o.t[0][ODD], o.m[0][ODD]);
    // x, then y; y, then x AFTER z
#pragma unroll
    for (int n = 0; n < 2; n++) {
        if ((n == 0) != AFTER) {
#pragma unroll
            for (int r = 0; r < R; r++) {
                if (LOOKS) {
                    own_x<AFTER>(a.row[r], o, p, spot(p, place, r, z[0], there & 1));
                    own_x<AFTER>(b.row[r], o, p, spot(p, place, r, z[1], there & 2));
                    continue;
                }
#pragma unroll
                for (int k = 0; k < 2; k++)
                    if ((k == 0) == AFTER)
                        odd_x(a.row[r], o.t[0][ODD], s), odd_x(b.row[r], o.t[0][ODD], s);
                    else
                        even_x(a.row[r], o.t[0][EVEN]), even_x(b.row[r], o.t[0][EVEN]);
            }
            continue;
        }
#pragma unroll
        for (int k = 0; k < 2; k++) {
            const bool odd = (k == 0) == AFTER;
            if (odd) exchange(a, b, rim);
            if (!LOOKS) {
                if (odd) {
                    odd_y<false>(a, o.t[1][ODD], 0, ~0u, rim, 0, warp > 0, warp < WARPS - 1);
                    odd_y<false>(b, o.t[1][ODD], 0, ~0u, rim, 1, warp > 0, warp < WARPS - 1);
                } else {
                    even_y<false>(a, o.t[1][EVEN], 0, ~0u);
                    even_y<false>(b, o.t[1][EVEN], 0, ~0u);
                }
                continue;
            }
            if (!(o.sweeps >> (4 + FIRST + k) & 1)) continue;
            if (odd) {
                own_odd_y(a, o, p, place, z[0], there & 1, rim, 0, warp > 0, warp < WARPS - 1);
                own_odd_y(b, o, p, place, z[1], there & 2, rim, 1, warp > 0, warp < WARPS - 1);
            } else {
                own_even_y(a, o, p, place, z[0], there & 1);
                own_even_y(b, o, p, place, z[1], there & 2);
            }
        }
    }
}

// The sweeps of stage s of pair j
template <bool LOOKS>
__device__ __forceinline__ void own_sweeps(Part &a, Part &b, Part &u, Part &v, const Own &o, const Space &p, const Place &place, int j, const Ends &e, int warp, char *rim) {
    int z[2] = {}, back[2] = {};
    const u32 now = LOOKS ? planes(p, j, z) : 3, before = LOOKS ? planes(p, j - 1, back) : 3;
    own_planes<LOOKS, false>(a, b, o, p, place, z, now, e, warp, rim);
#pragma unroll
    for (int r = 0; r < R; r++) {
        if (LOOKS)
            own_z(a.row[r], b.row[r], u.row[r], v.row[r], o, p, place, r, z, now, before, back);
        else
            sweep_z<false>(a.row[r], b.row[r], u.row[r], v.row[r], p, 3, 3);
    }
    own_planes<LOOKS, true>(a, b, o, p, place, back, before, e, warp, rim);
}
