// Single sites of a field of two planes that transducers hear or drive after a step. `real` and `u32` are those of the header included before.
#pragma once

enum { HEAR, ADD, OVERWRITE };

// One step of transducers, a thread a site
struct Touch {
    const u32 *places;
    const real *signal;  // two numbers a site
    real *record;        // likewise
    int count, act;
};
