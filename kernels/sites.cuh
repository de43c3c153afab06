// Operations on single sites between steps.
#pragma once
#include "real.cuh"

// What is done to single sites after a step: signals are added in the order of the list, then values are gathered
struct Sites {
    const u32 *steps;    // first addition of each step of the batch, and their number at the end; not read where all steps have the same places
    const u32 *places;   // of the additions, ascending within a step
    const real *values;
    const u32 *gathers;  // places, ascending
    real *record;        // `count` numbers a step
    const u32 *set_places;   // sites that are overwritten in each of the first `set_rows` steps
    const real *set_values;  // `set_count` numbers a step
    int count;
    int set_count, set_rows;
    int adds;  // places[0 ... adds - 1] are added to in every step, `values` has as many a step; 0: `steps` says which
};

// The additions of a step: their numbers among `places`, and values by the same numbers
struct Additions {
    u32 begin, end;
    const real *values;

    __device__ __forceinline__ Additions(const Sites &o, int step)
        : begin(o.adds ? 0 : o.steps[step]), end(o.adds ? o.adds : o.steps[step + 1]), values(o.values + (size_t)step * o.adds) {}
};

// Adds the signals of one moment, a thread a site: several sources at one site add up in their order.
__device__ __forceinline__ void add_signals(const Sites &o, real *level, int moment, int repeats) {
    const Additions a(o, moment);
    for (u32 n = a.begin + threadIdx.x; n < a.end; n += blockDim.x) {
        const u32 place = o.places[n];
        if (n > a.begin && o.places[n - 1] == place) continue;
        real value = level[place];
        for (int repeat = 0; repeat < repeats; repeat++)
            for (u32 other = n; other < a.end && o.places[other] == place; other++) value = plus(value, a.values[other]);
        level[place] = value;
    }
}

// Overwrites sites after one of the steps
__device__ __forceinline__ void overwrite(const Sites &o, real *level, int step) {
    if (step >= o.set_rows) return;
    for (int n = threadIdx.x; n < o.set_count; n += blockDim.x) level[o.set_places[n]] = o.set_values[(size_t)step * o.set_count + n];
}

// Writes what stands at the gathered sites to record number `step`
__device__ __forceinline__ void gather(const Sites &o, const real *level, int step) {
    for (int n = threadIdx.x; n < o.count; n += blockDim.x) o.record[(size_t)step * o.count + n] = level[o.gathers[n]];
}

// What is kept of a site beside its levels goes on by one: the largest |p| so far, or the integral of the pressure
__device__ __forceinline__ real kept_on(bool peaks, real kept, real step, real level) { return peaks ? max(kept, abs(level)) : plus(kept, times(step, level)); }

// The integral of the pressure so far: potential += step * level
__device__ __forceinline__ void integrate(const real *level, real *potential, real step, u32 count) {
    for (u32 n = blockIdx.x * blockDim.x + threadIdx.x; n < count; n += gridDim.x * blockDim.x) potential[n] = plus(potential[n], times(step, level[n]));
}

// The largest |p| so far
__device__ __forceinline__ void keep_peaks(const real *level, real *peak, u32 count) {
    for (u32 n = blockIdx.x * blockDim.x + threadIdx.x; n < count; n += gridDim.x * blockDim.x) peak[n] = max(peak[n], abs(level[n]));
}
