// Sites of absorbing layers (src/solver/fdtd/cpml.rs) around which the medium holds nothing else but a speed or, DENSE, at order 2 also a density, in space as in a plane: a body for
// each set of axes that absorb, which reads all that it needs before it computes anything. The operations are those of `Site::advance`, and so are the bits.
//
// Bytes of a site and step: 12, as elsewhere, 4 each for its speed and density, and 24 for the memories of each axis that absorbs there (single precision). Instructions at order 2: 30 of the step, some 20 an
// axis that absorbs; with densities some 10 for each of the divisions, two an axis and one more where it absorbs.
#pragma once
#include "fdtd.cuh"

// What an axis adds to L p, and its memories
template <int H, bool DENSE> struct Along {
    real low[H], high[H];
    real own_density, low_density, high_density;
    real decay[3], shift[3], memory[3];  // of the face below, that above, and the site
    size_t place;

    // `slot`: that of the site, or any
    template <bool ABSORBS> __device__ __forceinline__ void read(const Site<H, false> &site, int axis, int slot) {
        const Grid &g = site.s.grid;
        const long long stride = axis == 0 ? 1 : axis == 1 ? (long long)g.pitch : (long long)g.pitch * g.size[1];
        const int at = site.at[axis], n = g.size[axis];
        const real *here = site.now + site.place;
#pragma unroll
        for (int k = 0; k < H; k++) {
            // A layer is closed by a rigid edge.
            const int below = ABSORBS && at - 1 - k < 0 ? k - 2 * at : -1 - k, above = ABSORBS && at + 1 + k >= n ? 2 * (n - 1 - at) - k : 1 + k;
            low[k] = here[below * stride], high[k] = here[above * stride];
        }
        if (DENSE) {
            const real *density = site.s.medium.density + site.place;
            const int below = ABSORBS && at == 0 ? 0 : -1, above = ABSORBS && at + 1 == n ? 0 : 1;
            own_density = *density, low_density = density[below * stride], high_density = density[above * stride];
        }
        if (!ABSORBS) return;
        const Layer &l = site.s.medium.layer[axis];
        place = site.memory_place(l, axis, slot);
#pragma unroll
        for (int n = 0; n < 3; n++) {
            decay[n] = l.factors[2 * n * l.end + slot], shift[n] = l.factors[(6 + 2 * n) * l.end + slot];
            memory[n] = l.memory(n)[place];
        }
    }

    __device__ __forceinline__ real plain(real here) const {
        if (DENSE) return of_faces(here, low[0], high[0], own_density, low_density, high_density);
        const real level = plus(here, here);
        real sum = 0;
#pragma unroll
        for (int k = 1; k <= H; k++) sum = term<H>(k, plus(low[k - 1], high[k - 1]), level, sum);
        return sum;
    }

    __device__ __forceinline__ real absorbed(real here) {
        real below = minus(here, low[0]), above = minus(high[0], here);
        to_fluxes<H>(low, high, below, above);
        if (DENSE) below = weighted(below, own_density, low_density), above = weighted(above, own_density, high_density);
        below = renew(decay[0], shift[0], memory[0], below), above = renew(decay[1], shift[1], memory[1], above);
        const real z = renew(decay[2], shift[2], memory[2], minus(above, below));
        return DENSE ? over(z, own_density) : z;
    }

    // zeta takes over what rounding has put into the pressure
    __device__ __forceinline__ void take(real part) { memory[2] = minus(memory[2], times(part, missed_weight(decay[2]))); }

    __device__ __forceinline__ void write(const Layer &l) const {
#pragma unroll
        for (int n = 0; n < 3; n++) l.memory(n)[place] = memory[n];
    }
};

// A site at which axes Y and Z absorb or do not; along X it need not be in a layer
template <int H, bool DENSE, bool X, bool Y, bool Z> __device__ __forceinline__ void step_in_layers(const Site<H, false> &site, const int (&slots)[3]) {
    const Step &s = site.s;
    const Medium &m = s.medium;
    const bool along_x = X && slots[0] >= 0;
    Along<H, DENSE> x, y, z;
    const real here = site.now[site.place], before = site.old[site.place], square = m.squares ? m.squares[site.place] : m.square;
    x.template read<X>(site, 0, max(slots[0], 0));
    if (s.grid.rank > 1) y.template read<Y>(site, 1, slots[1]);
    if (s.grid.rank > 2) z.template read<Z>(site, 2, slots[2]);
    real losses = 0, sum;
    if (along_x)
        sum = x.absorbed(here), losses = plus(losses, loss_of(x.decay[2]));
    else
        sum = x.plain(here);
    if (s.grid.rank > 1) sum = plus(sum, Y ? y.absorbed(here) : y.plain(here));
    if (Y) losses = plus(losses, loss_of(y.decay[2]));
    if (s.grid.rank > 2) sum = plus(sum, Z ? z.absorbed(here) : z.plain(here));
    if (Z) losses = plus(losses, loss_of(z.decay[2]));
    const real step = fused(square, sum, minus(here, before)), next = plus(here, step);
    if (TAKES && (along_x || Y || Z)) {
        const real missed = minus(minus(next, here), step), part = missed_part(DENSE ? times(missed, x.own_density) : missed, square, losses);
        if (along_x) x.take(part);
        if (Y) y.take(part);
        if (Z) z.take(part);
    }
    if (along_x) x.write(m.layer[0]);
    if (Y) y.write(m.layer[1]);
    if (Z) z.write(m.layer[2]);
    site.keep(next);
}

// The sites of a list of segments, some of which are in layers; a warp a segment. (In a loop over segments, what the bodies have in common would be kept in registers: 190 instead of 64.)
template <int H, bool DENSE> __device__ __forceinline__ void layered(const Step &s, const u32 *list, int count) {
    const int n = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (n >= count) return;
    const Grid &g = s.grid;
    const u32 across = g.pitch / SEGMENT, lane = threadIdx.x & 31;
    const u32 segment = list[n], row = segment / across, i = (segment - row * across) * SEGMENT + lane, k = g.rank > 2 ? row / g.size[1] : 0;
    const Site<H, false> site(s, s.now, s.old, i, row - k * g.size[1], k);
    int slots[3];
#pragma unroll
    for (int axis = 0; axis < 3; axis++) slots[axis] = slot_in(s.medium.layer[axis], g.size[axis], site.at[axis]);
    const bool there = i < (u32)g.size[0], x = __any_sync(0xffffffffu, there && slots[0] >= 0);
    if (!there) return;
    switch ((x ? 1 : 0) + (slots[1] >= 0 ? 2 : 0) + (slots[2] >= 0 ? 4 : 0)) {
        case 2: return step_in_layers<H, DENSE, false, true, false>(site, slots);
        case 3: return step_in_layers<H, DENSE, true, true, false>(site, slots);
        case 4: return step_in_layers<H, DENSE, false, false, true>(site, slots);
        case 5: return step_in_layers<H, DENSE, true, false, true>(site, slots);
        case 6: return step_in_layers<H, DENSE, false, true, true>(site, slots);
        case 7: return step_in_layers<H, DENSE, true, true, true>(site, slots);
        default:
            if (slots[0] >= 0)
                step_in_layers<H, DENSE, true, false, false>(site, slots);
            else if (DENSE)
                step_in_layers<H, true, false, false, false>(site, slots);
            else
                site.keep(site.plain_inside());
    }
}
