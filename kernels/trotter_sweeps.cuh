// Sweeps over bonds and phases over sites, a kernel each, where all are alike (`trotter_sweeps.cu`) and where each has its own (`trotter_bonds.cu`).
#pragma once
#include "trotter.cuh"

struct Grid {
    int nx, ny, nz, pitch;
    int periodic[3];
};

__device__ __forceinline__ size_t offset(const Grid &g, int row) { return (size_t)row * g.pitch; }

struct Sweep {
    real *re, *im;
    const u8 *wall;       // bonds of their own have none: those beside a wall turn nothing
    const real *gc, *gs;  // e^{i phi} of the x bonds of a row j; null = none
    Grid grid;
    int axis, odd, imaginary;
    real t, s;  // tan of half the angle, sine; hyperbolic in imaginary time
};

// Tangents and sines of bonds that have their own, and e^{i phi}; null = no phases. A bond's numbers stand at the place of its lower site; those along x in half a row
// for the bonds of even sites, then half a row for those of odd ones, so that each sweep reads them one after the other. Bonds that leave the grid or touch a wall have
// t = s = 0, c + i s = 1, which is exact.
struct Own {
    const real *t, *s;
    const real *gc, *gs;
};

// a -= t b; b += s a; a -= t b: determinant 1 whatever the rounding
__device__ __forceinline__ void shear(real &a, real &b, real t, real s) {
    a = fused(-t, b, a);
    b = fused(s, a, b);
    a = fused(-t, b, a);
}

// Sites of a plane that go in one access of 16 bytes; rows begin on such a boundary
enum { V = 16 / sizeof(real) };

__device__ __forceinline__ void load(real *out, const real *from) { *(uint4 *)out = *(const uint4 *)from; }
__device__ __forceinline__ void store(real *to, const real *out) { *(uint4 *)to = *(const uint4 *)out; }

// Numbers of the bonds of V sites along x
__device__ __forceinline__ void load_half(real *out, const real *from) { *(uint2 *)out = *(const uint2 *)from; }

__device__ __forceinline__ void bend(int imaginary, real t, real s, real &pr, real &pi, real &qr, real &qi) {
    if (imaginary) {
        shear(pr, qr, -t, s);
        shear(pi, qi, -t, s);
    } else {
        shear(pr, qi, t, s);
        shear(qr, pi, t, s);
    }
}

// x bonds. One thread V neighbouring sites of a row and the bonds upwards from them; the upper site of an odd sweep's last bond belongs to the next
// lane, which gets it back by shuffle, or beyond the warp is read and written by itself.
template <bool OWN> __device__ __forceinline__ void sweep_along_x(const Sweep &p, const Own &own) {
    const Grid &g = p.grid;
    const u32 all = 0xffffffffu;
    const int x = (blockIdx.x * blockDim.x + threadIdx.x) * V, lane = threadIdx.x & 31, rows = g.ny * g.nz;
    const bool whole = x + V <= g.nx, wraps = p.odd && g.periodic[0];
    for (int row = blockIdx.y; row < rows; row += gridDim.y) {
        const size_t base = offset(g, row);
        __align__(16) real r[V + 1], i[V + 1];
        u32 open = 0;
        for (int c = 0; c <= V; c++) r[c] = i[c] = 0;
        if (x < g.nx) load(r, p.re + base + x), load(i, p.im + base + x);
        if (p.odd) {
            r[V] = __shfl_down_sync(all, r[0], 1), i[V] = __shfl_down_sync(all, i[0], 1);
            if (lane == 31 && x + V < g.nx) r[V] = p.re[base + x + V], i[V] = p.im[base + x + V];
        }
#pragma unroll
        for (int c = 0; c <= V; c++) {
            if (wraps && x + c == g.nx) r[c] = p.re[base], i[c] = p.im[base];
            const int at = wraps && x + c == g.nx ? 0 : x + c;
            if (at < g.nx && (OWN || !(p.wall && p.wall[base + at]))) open |= 1u << c;
        }
        // The numbers of all bonds, or those of each
        const bool gauged = OWN ? own.gc : p.gc;
        real gc = 1, gs = 0;
        if (!OWN && gauged) gc = p.gc[row % g.ny], gs = p.gs[row % g.ny];
        __align__(8) real t[V / 2], s[V / 2], ec[V / 2], es[V / 2];
        if (OWN && x < g.nx) {
            const size_t at = base + (p.odd ? g.pitch / 2 : 0) + x / 2;
            load_half(t, own.t + at), load_half(s, own.s + at);
            if (gauged) load_half(ec, own.gc + at), load_half(es, own.gs + at);
        }
#pragma unroll
        for (int c = 0; c < V; c++) {
            if ((c & 1) != p.odd || (open >> c & 3) != 3) continue;
            if (OWN && gauged) gc = ec[c / 2], gs = es[c / 2];
            if (gauged) multiply(r[c + 1], i[c + 1], gc, -gs);
            bend(p.imaginary, OWN ? t[c / 2] : p.t, OWN ? s[c / 2] : p.s, r[c], i[c], r[c + 1], i[c + 1]);
            if (gauged) multiply(r[c + 1], i[c + 1], gc, gs);
        }
        bool first = true;
        if (p.odd) {
            const real lr = __shfl_up_sync(all, r[V], 1), li = __shfl_up_sync(all, i[V], 1);
            first = lane > 0;
            if (first) r[0] = lr, i[0] = li;
        }
        if (whole && first) {
            store(p.re + base + x, r), store(p.im + base + x, i);
        } else {
#pragma unroll
            for (int c = 0; c < V; c++)
                if ((c > 0 || first) && x + c < g.nx) p.re[base + x + c] = r[c], p.im[base + x + c] = i[c];
        }
        if (!p.odd) continue;
        if (lane == 31 && x + V < g.nx) p.re[base + x + V] = r[V], p.im[base + x + V] = i[V];
#pragma unroll
        for (int c = 1; c <= V; c++)
            if (wraps && x + c == g.nx) p.re[base] = r[c], p.im[base] = i[c];
    }
}

// y or z bonds. One thread V neighbouring sites of a row and of the one above; blocks: lines along y, then z.
template <bool OWN> __device__ __forceinline__ void sweep_along_rows(const Sweep &p, const Own &own) {
    const Grid &g = p.grid;
    const int x = (blockIdx.x * blockDim.x + threadIdx.x) * V;
    if (x >= g.nx) return;
    const bool along_y = p.axis == 1;
    const int n = along_y ? g.ny : g.nz;
    // a periodic axis has an even number of sites and with them as many odd bonds as even ones
    const int bonds = p.odd && !(along_y ? g.periodic[1] : g.periodic[2]) ? (n - 1) / 2 : n / 2;
    const int js = along_y ? bonds : g.ny, ks = along_y ? g.nz : bonds;
    for (int k = blockIdx.z; k < ks; k += gridDim.z)
        for (int j = blockIdx.y; j < js; j += gridDim.y) {
            const int low = 2 * (along_y ? j : k) + p.odd, up = low + 1 == n ? 0 : low + 1;
            const size_t a = offset(g, along_y ? low + g.ny * k : j + g.ny * low) + x, b = offset(g, along_y ? up + g.ny * k : j + g.ny * up) + x;
            __align__(16) real pr[V], pi[V], qr[V], qi[V];
            load(pr, p.re + a), load(pi, p.im + a), load(qr, p.re + b), load(qi, p.im + b);
            if (OWN) {
                __align__(16) real t[V], s[V], gc[V], gs[V];
                load(t, own.t + a), load(s, own.s + a);
                if (own.gc) load(gc, own.gc + a), load(gs, own.gs + a);
#pragma unroll
                for (int c = 0; c < V; c++) {
                    if (own.gc) multiply(qr[c], qi[c], gc[c], -gs[c]);
                    bend(p.imaginary, t[c], s[c], pr[c], pi[c], qr[c], qi[c]);
                    if (own.gc) multiply(qr[c], qi[c], gc[c], gs[c]);
                }
            } else {
#pragma unroll
                for (int c = 0; c < V; c++)
                    if (!p.wall || !(p.wall[a + c] || p.wall[b + c])) bend(p.imaginary, p.t, p.s, pr[c], pi[c], qr[c], qi[c]);
            }
            store(p.re + a, pr), store(p.im + a, pi), store(p.re + b, qr), store(p.im + b, qi);
        }
}

// A site times its phase, and the interaction's if there is one
__device__ __forceinline__ void phase(real &r, real &i, real c, real s, const real (&interaction)[2]) {
    if (interaction[0] != 0)
        multiply_and_interact(r, i, c, s, interaction);
    else
        multiply(r, i, c, s);
}

// The field times a table, then the interaction's phase; `count` numbers of a plane, a multiple of V. With strengths of sites `after` and `before` are times that
// multiply them.
template <bool OWN>
__device__ __forceinline__ void phases_of(real *re, real *im, const real *pc, const real *ps, real after, real before, const real *strength, size_t count) {
    for (size_t n = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) * V; n < count; n += (size_t)gridDim.x * blockDim.x * V) {
        __align__(16) real r[V], i[V], c[V], s[V], own[V];
        load(r, re + n), load(i, im + n), load(c, pc + n), load(s, ps + n);
        if (OWN) load(own, strength + n);
#pragma unroll
        for (int k = 0; k < V; k++) {
            const real interaction[2] = {OWN ? after * own[k] : after, OWN ? before * own[k] : before};
            phase(r[k], i[k], c[k], s[k], interaction);
        }
        store(re + n, r), store(im + n, i);
    }
}
