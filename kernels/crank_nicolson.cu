// Crank-Nicolson on a line by the N-shaped partition, nested: threads, blocks, the line.
//
// System: with psi' = 2 T^-1 psi - psi, T tridiagonal and both of its off-diagonals `off` everywhere, Y = 2 T^-1 psi solves
//     a_k Y_k = d_k + Y_(k-1) + Y_(k+1),   a = -T_kk / off,   d = -2 psi / off.
// Joints: the n rows are dealt out to all threads of all blocks, ROWS or fewer to each, consecutive rows to consecutive threads; the first row of a thread
// is a joint. A thread eliminates its other rows downwards (RD: D, p, q) and hands what is left to the joints beside them (JD to the one after, JU to its own;
// JU takes the sum over rows that RU would leave in the first of them, so that RU writes nothing). What remains couples joints only,
//     A_t Y_t = D_t + v_(t-1) Y_(t-1) + v_t Y_(t+1),
// and is partitioned again: blocks of one row each, over and over (cyclic reduction), by shuffles in a warp, then over the warps of a block, until the first
// joint of the block is left; those of all blocks are solved by one block (`rs`), partitioned in the same way, or, where they are many, by 32 (`rs_up`, `rs_down`). SS goes
// back down the levels.
//
// A launch of `line_step` is SS of a step and RD, JD, JU of the next. Inverse pivots of rows and of joints are kept (40 bytes a thread for joints, 80 in double
// precision), unless the matrix changes in every step: `line_begin` and `line_end` make them from E. On short lines every block solves for the joints of all
// blocks itself (`line_short`): the same work many times over, but one launch a step.
// Lines are filled up with walls; rings need no correction: the joint after the last is the first.
//
// Bytes a row and step, single (double): psi in and out 16 (32), the inverse pivot 8 (16), joints 40/ROWS (80/ROWS). Operations: 35 multiply-adds. From E it
// would be 4 (8) bytes, and 4 (8) of absorption if there is any, but 40 multiply-adds and a reciprocal, and is slower: docs/experiments.md.
// Layout: psi interleaved, x fastest; E infinite where a wall stands. Limits: 8192 blocks of 256 x ROWS rows.
//
// Reference: Y. Lutsyshyn, F. Navarrete, D. Bauer 2023, The N-shaped partition method, sections 3 and 4.
// Compile with -DREAL, -DROWS.
#include "crank_nicolson_joints.cuh"

#ifndef ROWS
#define ROWS 16
#endif
struct Line {
    Complex *psi;
    const real *energy, *absorption;
    Complex *factors;             // inverse pivots of rows, [block][row of a thread][thread]; 0 where a wall stands, 1 for other joints. Null: not kept
    long long n;
    int each, more;               // of a ring: rows of a thread; of the first threads one more
    int imaginary;
    Blocks top;
    Kept kept;
    real a_energy, a_shift;       // a = a_energy E + a_shift in imaginary time, else (a_energy E, a_shift - a_absorption W)
    real a_absorption;
    real d_scale;                 // d = d_scale psi, times -i unless time is imaginary
    real interaction;             // phase of half a step
    Solving solving;              // if every block solves for the joints of all blocks
};

// First row of a thread of a ring
__device__ __forceinline__ long long begins(const Line &p, int thread) { return (long long)thread * p.each + min(thread, p.more); }

// Place of a row in the shared chunk: those of neighbouring lanes in different banks
__device__ __forceinline__ int spread(int row) { return row + row / ROWS; }

// 16 bytes at once go past the first cache.
template <int BYTES> __device__ __forceinline__ void copy_async(void *to, const void *from) {
    const u32 there = (u32)__cvta_generic_to_shared(to);
    if (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(there), "l"(from) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(there), "l"(from), "n"(BYTES) : "memory");
}

// SS of the step that `rs` has solved, or that every block solves itself, if SOLVES; RD, JD and JU of the next one's right-hand side, if ELIMINATES, after those
// of the matrix, if FACTORISES. FULL: every thread has ROWS rows, and there are walls behind the last of them. ANEW: from E, not from what was kept.
template <bool FULL, bool FACTORISES, bool SUBSTITUTES, bool ELIMINATES, bool SOLVES, bool ANEW> __device__ __forceinline__ void line(const Line &p) {
    extern __shared__ __align__(16) char memory[];
    Complex *exchange = (Complex *)memory, *chunk = exchange + EXCHANGE;
    real *energies = (real *)(chunk + (ROWS + 1) * (int)blockDim.x);

    const int part = blockIdx.x * blockDim.x;
    const long long first = FULL ? (long long)part * ROWS : begins(p, part);
    const int rows = FULL ? blockDim.x * ROWS : (int)(begins(p, part + blockDim.x) - first);
    Joints joints;
    joints.begin(exchange, blockDim.x);
    Complex kept, kept_outer, top_y, top_right, top_q;
    Top<FEW> top;
    const auto row = [&](int k) { return k * (int)blockDim.x + (int)threadIdx.x; };
    const auto is_row = [&](int n) { return FULL || n < rows; };
    const auto load_psi = [&]() {
#pragma unroll
        for (int k = 0; k < ROWS; k++)
            if (is_row(row(k))) copy_async<sizeof(Complex)>(chunk + spread(row(k)), p.psi + first + row(k));
    };
    const auto loaded = [&]() {
        asm volatile("cp.async.wait_all;" ::: "memory");
        __syncthreads();
    };
    Rows<ROWS, FULL ? ROWS : 1, true> line;
    line.count = FULL ? ROWS : p.each + (part + (int)threadIdx.x < p.more);
    Complex *factors = p.factors + (size_t)part * ROWS + threadIdx.x;
    if (ANEW) {
#pragma unroll
        for (int k = 0; k < ROWS; k++)
            if (is_row(row(k))) copy_async<sizeof(real)>(energies + spread(row(k)), p.energy + first + row(k));
    } else {
#pragma unroll
        for (int k = 0; k < ROWS; k++)
            if (!line.is_behind(k)) line.q[k] = factors[k * blockDim.x];
    }
    if (!FACTORISES) p.kept.load(joints, blockIdx.x);
    if (SOLVES) {
        top.begin(p.solving, p.top.v, exchange, 0, p.solving.blocks);
        top.factors(p.solving, 0);
        top_q = p.solving.pivots[p.solving.blocks];
    } else if (SUBSTITUTES && sizeof(Complex) == 8) {
        Complex psi[ROWS];
#pragma unroll
        for (int k = 0; k < ROWS; k++)
            if (is_row(row(k))) psi[k] = fresh(p.psi + first + row(k));
#pragma unroll
        for (int k = 0; k < ROWS; k++)
            if (is_row(row(k))) chunk[spread(row(k))] = psi[k];
    } else {
        load_psi();
    }
    // The launch before is `rs`, and the one before that, which wrote these and psi, is done.
    if (SUBSTITUTES && !SOLVES) p.kept.load_sides(joints, kept, kept_outer);
    loaded();

    const int own = FULL ? threadIdx.x * ROWS : (int)(begins(p, part + threadIdx.x) - first);
    const auto at = [&](int k) { return FULL ? (int)threadIdx.x * (ROWS + 1) + k : spread(own + k); };
    Complex d[ROWS];
    if (ANEW) {
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            if (line.is_behind(k)) continue;
            const real e = energies[at(k)];
            d[k] = make(fused(p.a_energy, e, p.imaginary ? p.a_shift : real(0)), p.imaginary ? real(0) : p.a_shift);
            if (p.absorption) d[k].i = fused(-p.a_absorption, p.absorption[first + own + k], d[k].i);
            if (isinf(e)) d[k] = make(WALL, 0);
        }
        line.pivots(d);
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            if (line.is_behind(k)) continue;
            if (k == 0) line.q[0] = make(1, 0);
            if (isinf(energies[at(k)])) line.q[k] = make(0, 0);
            if (FACTORISES && p.factors) factors[k * blockDim.x] = line.q[k];
        }
    }
    const auto is_wall = [&](int k) { return line.q[k].r == 0 && line.q[k].i == 0; };
    if (FACTORISES) {
        Complex before, after, v, last, next;
        line.joins(before, after, v);
        Complex a = d[0] - before - joints.from_before(after, last);
        joints.factorise(a, v, next);
        p.kept.save(joints, blockIdx.x);
        if (threadIdx.x == 0) p.top.a[blockIdx.x] = a, p.top.v[blockIdx.x] = v, p.top.next_a[blockIdx.x] = next + last;
    }

    const auto side = [&](Complex psi) {
        return p.imaginary ? make(p.d_scale * psi.r, p.d_scale * psi.i) : make(p.d_scale * psi.i, -p.d_scale * psi.r);
    };
    if (SUBSTITUTES) {
        wait_for_launch_before();
        let_next_launch_start();
    }
    if (SOLVES) {
        load_psi();
        p.kept.load_sides(joints, kept, kept_outer);
        Complex tops[FEW];
        top.load(tops, p.solving.d, p.solving.next_d, false);
        const Complex end_y = top.solve(tops, top_q, p.solving, p.solving.next_d[p.solving.blocks - 1]);
        loaded();
        top.pair(tops, blockIdx.x, p.solving.blocks, end_y, top_y, top_right);
    } else if (SUBSTITUTES) {
        top_y = p.top.y[blockIdx.x], top_right = p.top.y[blockIdx.x + 1];
    }
    if (SUBSTITUTES) {
        Complex right, y = joints.substitute(top_y, top_right, kept, kept_outer, right);
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            if (line.is_behind(k)) continue;
            Complex psi = chunk[at(k)];
            if (p.interaction != 0) {
                interact(psi.r, psi.i, p.interaction);
                chunk[at(k)] = psi;
            }
            d[k] = side(psi);
        }
        d[0] = y;
        line.substitute(d, y, right);
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            if (line.is_behind(k)) continue;
            Complex psi = d[k] - chunk[at(k)];
            if (is_wall(k)) psi = make(0, 0);
            if (p.interaction != 0) interact(psi.r, psi.i, p.interaction);
            chunk[at(k)] = psi;
        }
    }
    if (ELIMINATES) {
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            if (line.is_behind(k)) continue;
            Complex psi = chunk[at(k)];
            if (p.interaction != 0) interact(psi.r, psi.i, p.interaction);
            d[k] = side(psi);
        }
        Complex before, after, last, next;
        line.eliminate(d, before, after);
        Complex top = d[0] + before + joints.from_before(after, last);
        joints.eliminate(top, next, kept, kept_outer);
        p.kept.save_sides(joints, kept, kept_outer);
        if (threadIdx.x == 0) p.top.d[blockIdx.x] = top, p.top.next_d[blockIdx.x] = next + last;
    }
    if (!SUBSTITUTES) return;
    __syncthreads();
    #pragma unroll
    for (int k = 0; k < ROWS; k++) {
        const int n = k * blockDim.x + threadIdx.x;
        if (FULL || n < rows) p.psi[first + n] = chunk[spread(n)];
    }
}

// Blocks of a multiprocessor: what the registers of a thread follow from
#define BLOCKS (ROWS * sizeof(real) > 32 ? 2 : 3)
#define ENTRIES(NAME, ...)                                                                                                              \
    extern "C" __global__ void __launch_bounds__(256, BLOCKS) line_##NAME(const __grid_constant__ Line p) { line<true, __VA_ARGS__>(p); }     \
    extern "C" __global__ void __launch_bounds__(256) ring_##NAME(const __grid_constant__ Line p) { line<false, __VA_ARGS__>(p); }
ENTRIES(begin, true, false, true, false, true)
ENTRIES(again, false, false, true, false, false)
ENTRIES(step, false, true, true, false, false)
ENTRIES(short, false, true, true, true, false)
ENTRIES(end, false, true, false, false, true)

// RS by one block, none of whose threads is without a joint
template <bool FACTORISES> __device__ __forceinline__ void rs(const Blocks &to, const Solving &p) {
    __shared__ Complex exchange[EXCHANGE];
    Top<FEW> top;
    Complex d[FEW], final_q;
    if (FACTORISES) wait_for_launch_before();
    top.begin(p, to.v, exchange, 0, p.blocks);
    if (FACTORISES) {
        final_q = top.factorise_all(p, to);
    } else {
        top.factors(p, 0);
        final_q = p.pivots[p.blocks];
        wait_for_launch_before();
    }
    let_next_launch_start();
    top.load(d, to.d, to.next_d, false);
    const Complex end_y = top.solve(d, final_q, p, to.next_d[p.blocks - 1]);
#pragma unroll
    for (int k = 0; k < FEW; k++)
        if (!top.line.is_behind(k)) to.y[top.first + k] = d[k];
    if (threadIdx.x == 0) to.y[p.blocks] = end_y;
}

extern "C" __global__ void __launch_bounds__(512) rs_begin(const __grid_constant__ Blocks top, const __grid_constant__ Solving p) { rs<true>(top, p); }
extern "C" __global__ void __launch_bounds__(512) rs_step(const __grid_constant__ Blocks top, const __grid_constant__ Solving p) { rs<false>(top, p); }

// RS of many joints: a block of 128 takes a part of them, and there are as many parts as lanes. What each leaves, one joint, is solved by all of them.
struct Parts {
    Blocks joints, parts;
    Solving within, between;
};

__device__ __forceinline__ int part_begins(const Parts &p, int part) { return (int)((long long)part * p.within.blocks / p.between.blocks); }

// Up: to a joint a part
template <bool FACTORISES> __device__ __forceinline__ void rs_up(const Parts &p) {
    __shared__ Complex exchange[EXCHANGE];
    const int own = blockIdx.x;
    const bool ends = own + 1 == p.between.blocks;
    Top<FEW> top;
    if (FACTORISES) wait_for_launch_before();
    top.begin(p.within, p.joints.v, exchange, part_begins(p, own), part_begins(p, own + 1));
    if (FACTORISES) {
        Complex a, v, next;
        top.factorise(p.within, p.joints, own, a, v, next);
        if (ends) next = next + p.joints.next_a[p.within.blocks - 1];
        if (threadIdx.x == 0) p.parts.a[own] = a, p.parts.v[own] = v, p.parts.next_a[own] = next;
    } else {
        top.factors(p.within, own);
        wait_for_launch_before();
    }
    let_next_launch_start();
    Complex d[FEW], next;
    top.load(d, p.joints.d, p.joints.next_d, false);
    const Complex all = top.eliminate(d, next);
    if (ends) next = next + p.joints.next_d[p.within.blocks - 1];
    if (threadIdx.x == 0) p.parts.d[own] = all, p.parts.next_d[own] = next;
}

// Between the parts, and down: elimination within the part once more, which is faster than to keep it, and done while `rs_up` runs
template <bool FACTORISES> __device__ __forceinline__ void rs_down(const Parts &p) {
    __shared__ Complex exchange[EXCHANGE];
    const int own = blockIdx.x;
    Top<FEW> top;
    Top<1> between;
    Complex d[FEW], next, final_q;
    top.begin(p.within, p.joints.v, exchange, part_begins(p, own), part_begins(p, own + 1));
    top.factors(p.within, own);
    top.load(d, p.joints.d, p.joints.next_d, false);
    top.eliminate(d, next);
    between.begin(p.between, p.parts.v, exchange, 0, p.between.blocks);
    if (!FACTORISES) {
        between.factors(p.between, 0);
        final_q = p.between.pivots[p.between.blocks];
    }
    wait_for_launch_before();
    let_next_launch_start();
    if (FACTORISES) final_q = between.factorise_all(p.between, p.parts);
    Complex one[1], y, right;
    between.load(one, p.parts.d, p.parts.next_d, false);
    const Complex end_y = between.solve(one, final_q, p.between, p.parts.next_d[p.between.blocks - 1]);
    between.pair(one, own, p.between.blocks, end_y, y, right);
    top.substitute(d, y, right);
#pragma unroll
    for (int k = 0; k < FEW; k++)
        if (top.mine && !top.line.is_behind(k)) p.joints.y[top.first + k] = d[k];
    if (threadIdx.x == 0 && own + 1 == p.between.blocks) p.joints.y[p.within.blocks] = end_y;
}

#define PARTS(NAME, FACTORISES)                                                                                                     \
    extern "C" __global__ void __launch_bounds__(128) rs_up_##NAME(const __grid_constant__ Parts p) { rs_up<FACTORISES>(p); }     \
    extern "C" __global__ void __launch_bounds__(128) rs_down_##NAME(const __grid_constant__ Parts p) { rs_down<FACTORISES>(p); }
PARTS(begin, true)
PARTS(step, false)
