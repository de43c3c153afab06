// Pressures summed over regions after steps, inside the launches that take them: a number a cell, which is 4 columns from a multiple of 4 on of two rows 2 j and 2 j + 1, added in the
// field's precision. Cells do not depend on how the plane is cut into strips and chunks, so that launches of any number of steps give the same bits; `add_cells` adds them in double
// precision, always in the same order (`oscillators_sums.cu`).
#pragma once
#include "real.cuh"

enum { REGIONS = 4 };

struct Cells {
    int count;
    int x0[REGIONS], x1[REGIONS], y0[REGIONS], y1[REGIONS];
    u32 first[REGIONS + 1];  // where the cells of a region begin among those of a step
    int across[REGIONS];     // cells side by side
    u32 peaks;               // bit k: the largest |q| of region k, not the sum
    u32 ends;                // bit s: after sub-step s
    real *cells;
};

// The larger one, or what is no number
template <class Number> __device__ __forceinline__ Number larger_or_none(Number a, Number b) { return a > b || a != a ? a : b; }

// Of rows 2 pair and 2 pair + 1, columns from x on, after sub-step s
__device__ __forceinline__ void put_cells(const Cells &q, int s, const real (&a)[4], const real (&b)[4], int pair, int x) {
    real *const of_step = q.cells + (size_t)__popc(q.ends & ((1u << s) - 1)) * q.first[q.count];
    for (int k = 0; k < q.count; k++) {
        const int x0 = q.x0[k], x1 = q.x1[k], y0 = q.y0[k], y1 = q.y1[k];
        const bool low = 2 * pair >= y0 && 2 * pair < y1, high = 2 * pair + 1 >= y0 && 2 * pair + 1 < y1;
        if (x + 4 <= x0 || x >= x1 || !(low || high)) continue;
        const bool peak = q.peaks >> k & 1;
        real sum = 0;
#pragma unroll
        for (int c = 0; c < 4; c++) {
            const bool in = x + c >= x0 && x + c < x1;
            const real u = in && low ? a[c] : real(0), v = in && high ? b[c] : real(0);
            sum = peak ? larger_or_none(larger_or_none(sum, abs(u)), abs(v)) : plus(sum, plus(u, v));
        }
        of_step[q.first[k] + (u32)((pair - (y0 >> 1)) * q.across[k] + (x >> 2) - (x0 >> 2))] = sum;
    }
}
