// What happens at single sites between two steps inside a launch: sources kick momenta at the end of a step and again at the beginning of the next, transducers hear or drive a site in
// between, detectors gather pressures. A byte a site of the rows with such sites says what there is, so that only these search the lists.
#pragma once
#include "sites.cuh"
#include "touch.cuh"

enum { KICKED = 1, GATHERED = 2, TOUCHED = 4 };

struct Visits {
    Sites sites;                  // `steps` says which places are kicked at a moment
    Touch touch;                  // of the first step of the batch; places ascending
    const u32 *numbers;           // the number of each transducer
    const int *rows;              // which of the rows of `marks` belongs to a row of the plane; -1: none
    const unsigned char *marks;   // `pitch` bytes a row
    const int *pieces;            // strip and first pair of rows of each
    int count;                    // of the pieces
    int step;                     // the step of the batch that ends first in this launch
    int steps;                    // of the batch; the next batch begins the step after the last
    int touched;                  // steps after which transducers act

    __device__ __forceinline__ void kick(int moment, u32 place, real &p) const {
        const Additions a(sites, moment);
        for (u32 n = first_from(sites.places, a.begin, a.end, place); n < a.end && sites.places[n] == place; n++) p = plus(p, a.values[n]);
    }

    // A site of a warp; `records`: no other warp has it as its own
    __device__ __forceinline__ void visit(int mark, u32 place, int step, bool records, real &q, real &p) const {
        if (mark & KICKED) kick(step + 1, place, p);
        if ((mark & TOUCHED) && step < touched) {
            const size_t n = (size_t)step * touch.count + numbers[first_from(touch.places, 0, touch.count, place)];
            if (touch.act != HEAR) {
                const real first = touch.signal[2 * n], second = touch.signal[2 * n + 1];
                q = touch.act == ADD ? plus(q, first) : first;
                p = touch.act == ADD ? plus(p, second) : second;
            } else if (records) {
                touch.record[2 * n] = q, touch.record[2 * n + 1] = p;
            }
        }
        if ((mark & GATHERED) && records)
            for (u32 n = first_from(sites.gathers, 0, sites.count, place); n < sites.count && sites.gathers[n] == place; n++) sites.record[(size_t)step * sites.count + n] = q;
        if ((mark & KICKED) && step + 1 < steps) kick(step + 1, place, p);
    }

    // The first number of an ascending list from `begin` on that is `place` or more
    static __device__ __forceinline__ u32 first_from(const u32 *places, u32 begin, u32 end, u32 place) {
        while (begin < end) {
            const u32 middle = (begin + end) / 2;
            if (places[middle] < place)
                begin = middle + 1;
            else
                end = middle;
        }
        return begin;
    }
};
