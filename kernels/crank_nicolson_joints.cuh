// Joints of the N-shaped partition on a device: the rows of a thread between two of them, those of a warp, of a block, and of all blocks (crank_nicolson.cu says how
// they follow from each other).
#pragma once
#include "crank_nicolson.cuh"

// Most joints of blocks that a thread has, and numbers that a block exchanges them by
#define FEW 2
#define EXCHANGE (6 * 32 + 4)

// A pivot that nothing gets past: a wall, or what is not there
#define WALL (sizeof(real) == 4 ? real(1e18) : real(1e150))

// The rows of a thread between its joint (row 0) and the next thread's; v couples row k to row k + 1, and is 1 if UNIT. Tests of rows that are there
// for sure would keep the compiler from mixing rows.
template <int M, int LEAST, bool UNIT> struct Rows {
    int count;                    // rows with the joint, LEAST or more
    Complex q[M], v[UNIT ? 1 : M];

    __device__ __forceinline__ bool is_behind(int k) const { return k >= LEAST && k >= count; }
    __device__ __forceinline__ Complex lean(int k, Complex a) const { return UNIT ? a : v[k] * a; }

    // RD of the matrix: pivots of the rows behind the joint; row 0 of `a` is not read
    __device__ __forceinline__ void pivots(const Complex (&a)[M]) {
#pragma unroll
        for (int k = 1; k < M; k++) {
            if (is_behind(k)) continue;
            Complex pivot = a[k];
            if (k > 1) pivot = UNIT ? pivot - q[k - 1] : less(pivot, v[k - 1] * v[k - 1], q[k - 1]);
            q[k] = inverse(pivot);
        }
    }

    // JD and JU of the matrix: what is taken off the diagonals of the joint before and of the one after, and what couples them
    __device__ __forceinline__ void joins(Complex &before, Complex &after, Complex &between) const {
        before = after = make(0, 0);
        Complex p = UNIT ? make(1, 0) : v[0];
#pragma unroll
        for (int k = 1; k < M; k++) {
            if (is_behind(k)) continue;
            const Complex w = p * q[k];
            before = add(before, p, w);
            after = UNIT ? q[k] : v[k] * (v[k] * q[k]);
            p = UNIT ? w : v[k] * w;
        }
        between = p;
    }

    // RD, JD and JU of a right-hand side: what joins those of the joints before and after
    __device__ __forceinline__ void eliminate(const Complex (&d)[M], Complex &before, Complex &after) const {
        before = after = make(0, 0);
        Complex p = UNIT ? make(1, 0) : v[0], D = make(0, 0);
#pragma unroll
        for (int k = 1; k < M; k++) {
            if (is_behind(k)) continue;
            D = k == 1 ? d[1] : d[k] + after;
            const Complex w = p * q[k];
            before = add(before, w, D);
            after = UNIT ? q[k] * D : v[k] * (q[k] * D);
            p = UNIT ? w : v[k] * w;
        }
    }

    // SS: Y of the rows behind the joint, over their right-hand sides
    __device__ __forceinline__ void substitute(Complex (&d)[M], Complex left, Complex right) const {
#pragma unroll
        for (int k = 1; k < M; k++) {
            if (is_behind(k)) continue;
            d[k] = d[k] + lean(k - 1, k == 1 ? left : q[k - 1] * d[k - 1]);
        }
        Complex next = right;
#pragma unroll
        for (int k = M - 1; k > 0; k--) {
            if (is_behind(k)) continue;
            next = q[k] * (d[k] + lean(k, next));
            d[k] = next;
        }
    }
};

// One joint of each lane of a group of `width` lanes: lane 0 stays, the others go, odd multiples of 1, 2, 4, ... in turn.
struct Reduction {
    Complex q, b, c;              // of this lane, when it went: its pivot's inverse, times its couplings before and after
    u32 mask;
    int lane, width;

    // Leaves in `a` and `v` of lane 0 its diagonal and its coupling to the next group's; `next` is taken off the diagonal of that.
    __device__ __forceinline__ void factorise(Complex &a, Complex &v, Complex &next) {
        next = make(0, 0);
        q = b = c = make(0, 0);
        for (int s = 1; s < width; s *= 2) {
            const bool goes = (lane & (2 * s - 1)) == s, stays = (lane & (2 * s - 1)) == 0;
            const Complex before = shuffled(mask, v, lane - s, width);
            const Complex own = inverse(a), own_c = own * v;
            if (goes) q = own, b = own * before, c = own_c;
            const Complex right_q = shuffled(mask, own, lane + s, width), right_c = shuffled(mask, own_c, lane + s, width);
            const Complex left = shuffled(mask, own_c * v, lane - s, width);
            if (stays) {
                a = less(a, v * v, right_q);
                v = v * right_c;
                if (lane == 0) next = next + left;
                else a = a - left;
            }
        }
    }

    // Right-hand sides: leaves that of lane 0, and in `next` what joins the next group's
    __device__ __forceinline__ void eliminate(Complex &d, Complex &next) const {
        next = make(0, 0);
        for (int s = 1; s < width; s *= 2) {
            const bool stays = (lane & (2 * s - 1)) == 0;
            const Complex right = shuffled(mask, b * d, lane + s, width), left = shuffled(mask, c * d, lane - s, width);
            if (stays) {
                d = d + right;
                if (lane == 0) next = next + left;
                else d = d + left;
            }
        }
    }

    // Y of all lanes from that of lane 0 and of the next group's; `y` enters with lane 0's, and d as `eliminate` left it
    __device__ __forceinline__ void substitute(Complex &y, Complex d, Complex right) const {
        for (int s = width / 2; s > 0; s /= 2) {
            const Complex before = shuffled(mask, y, lane - s, width);
            Complex after = shuffled(mask, y, lane + s, width);
            if (lane + s >= width) after = right;
            if ((lane & (2 * s - 1)) == s) y = add(add(q * d, b, before), c, after);
        }
    }
};

// All joints of a block
struct Joints {
    Reduction inner, outer;       // lanes of a warp, warps of the block (in the first warp)
    int threads, warps;
    Complex *shared;              // 6 x 32 numbers

    // Of the first `threads` threads, a power of two; the others, whole warps, only keep step.
    __device__ __forceinline__ void begin(Complex *space, int all) {
        shared = space, threads = all;
        const int lanes = min(threads, 32);
        inner.mask = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
        inner.lane = threadIdx.x & 31, inner.width = lanes;
        warps = threads / lanes;
        outer.mask = warps == 32 ? 0xffffffffu : (1u << warps) - 1;
        outer.lane = threadIdx.x, outer.width = warps;
    }
    __device__ __forceinline__ int warp() const { return threadIdx.x >> 5; }
    __device__ __forceinline__ bool leads() const { return (threadIdx.x & 31) == 0; }
    __device__ __forceinline__ bool in_first() const { return threadIdx.x < warps; }

    // What the thread before has; the block's first thread gets zero, and `last` is what the last thread has, for it
    __device__ __forceinline__ Complex from_before(Complex a, Complex &last) {
        Complex before = shuffled(inner.mask, a, inner.lane - 1, inner.width);
        __syncthreads();
        if (inner.lane == inner.width - 1) shared[warp()] = a;
        __syncthreads();
        if (leads()) before = warp() == 0 ? make(0, 0) : shared[warp() - 1];
        last = shared[warps - 1];
        return before;
    }

    // As Reduction's, over the block: `a`, `v` and `next` count in thread 0
    __device__ __forceinline__ void factorise(Complex &a, Complex &v, Complex &next) {
        inner.factorise(a, v, next);
        if (warps == 1) return;
        __syncthreads();
        if (leads()) shared[warp()] = a, shared[32 + warp()] = v, shared[64 + warp()] = next;
        __syncthreads();
        if (!in_first()) return;
        Complex wa = shared[threadIdx.x], wv = shared[32 + threadIdx.x], wn;
        if (threadIdx.x > 0) wa = wa - shared[64 + threadIdx.x - 1];
        outer.factorise(wa, wv, wn);
        a = wa, v = wv, next = wn + shared[64 + warps - 1];
    }

    // `d` and `next` count in thread 0; `kept` is for substitute
    __device__ __forceinline__ void eliminate(Complex &d, Complex &next, Complex &kept, Complex &kept_outer) {
        inner.eliminate(d, next);
        kept = d, kept_outer = d;
        if (warps == 1) return;
        __syncthreads();
        if (leads()) shared[warp()] = d, shared[32 + warp()] = next;
        __syncthreads();
        if (!in_first()) return;
        Complex wd = shared[threadIdx.x], wn;
        if (threadIdx.x > 0) wd = wd + shared[32 + threadIdx.x - 1];
        outer.eliminate(wd, wn);
        kept_outer = wd;
        d = wd, next = wn + shared[32 + warps - 1];
    }

    // Y of every thread's joint from those of the block's first and of the next block's; `after` becomes that of the next thread
    __device__ __forceinline__ Complex substitute(Complex first, Complex right, Complex kept, Complex kept_outer, Complex &after) {
        __syncthreads();
        if (in_first()) {
            Complex y = first;
            outer.substitute(y, kept_outer, right);
            shared[threadIdx.x] = y;
        }
        if (threadIdx.x == 0) shared[warps] = right;
        __syncthreads();
        Complex y = shared[warp()];
        const Complex end = shared[warp() + 1];
        inner.substitute(y, kept, end);
        after = shuffled(inner.mask, y, inner.lane + 1, inner.width);
        if (inner.lane == inner.width - 1) after = end;
        return y;
    }
};

// What the blocks leave to `rs`, and what it gives them: a number a block each
struct Blocks {
    Complex *a, *v, *d;           // diagonal, coupling to the next block, right-hand side
    Complex *next_a, *next_d;     // taken off the diagonal of the next block's joint, added to its right-hand side
    Complex *y;                   // of the blocks' joints; one more: that after the last
};

// A number past the first cache, which may hold what stood there in an earlier launch
__device__ __forceinline__ float2 past_cache(const float *at) { return __ldcg((const float2 *)at); }
__device__ __forceinline__ double2 past_cache(const double *at) { return __ldcg((const double2 *)at); }
__device__ __forceinline__ Complex fresh(const Complex *at) {
    const auto z = past_cache((const real *)at);
    return make(z.x, z.y);
}

// What stays of the joints of a block from one launch to the next: planes of a number a thread each, and 32 more for its warps
struct Kept {
    Complex *all;
    __device__ __forceinline__ Complex *plane(const Joints &joints, int block, int n) const { return all + ((size_t)block * 4 + n) * (joints.threads + 32); }
    __device__ __forceinline__ void save(const Joints &joints, int block) const {
        const int t = threadIdx.x;
        if (t >= joints.threads) return;
        Complex *q = plane(joints, block, 0), *b = plane(joints, block, 1), *c = plane(joints, block, 2);
        q[t] = joints.inner.q, b[t] = joints.inner.b, c[t] = joints.inner.c;
        if (!joints.in_first()) return;
        const int w = joints.threads + t;
        q[w] = joints.outer.q, b[w] = joints.outer.b, c[w] = joints.outer.c;
    }
    __device__ __forceinline__ void load(Joints &joints, int block) const {
        const int t = threadIdx.x;
        const Complex *q = plane(joints, block, 0), *b = plane(joints, block, 1), *c = plane(joints, block, 2);
        if (t < joints.threads) joints.inner.q = q[t], joints.inner.b = b[t], joints.inner.c = c[t];
        if (!joints.in_first()) return;
        const int w = joints.threads + t;
        joints.outer.q = q[w], joints.outer.b = b[w], joints.outer.c = c[w];
    }
    __device__ __forceinline__ void save_sides(const Joints &joints, Complex d, Complex outer) const {
        Complex *sides = plane(joints, blockIdx.x, 3);
        sides[threadIdx.x] = d;
        if (joints.in_first()) sides[joints.threads + threadIdx.x] = outer;
    }
    // Past the first cache, where they may stand as an earlier launch left them
    __device__ __forceinline__ void load_sides(const Joints &joints, Complex &d, Complex &outer) const {
        const Complex *sides = plane(joints, blockIdx.x, 3);
        d = fresh(sides + threadIdx.x);
        if (joints.in_first()) outer = fresh(sides + joints.threads + threadIdx.x);
    }
};

// What solving for the joints of all blocks takes beside them
struct Solving {
    Kept kept;                    // 4 planes of a number a thread, and 32 more
    Complex *pivots;              // a number a block, and one more
    int blocks, ring;
    int threads;                  // that share the joints: a power of two, none of them without a joint
    const Complex *d, *next_d;    // what the launch before left, where a launch reads and writes them
};

// RS: the joints of all blocks, or of a part of them, dealt out to the first threads of a block
template <int MOST> struct Top {
    Rows<MOST, 1, false> line;
    Joints joints;
    int first;
    bool mine;                    // whether this thread has joints
    Complex kept, kept_outer;

    // Joints from `lo` to before `hi`
    __device__ __forceinline__ void begin(const Solving &p, const Complex *v, Complex *space, int lo, int hi) {
        joints.begin(space, p.threads);
        mine = threadIdx.x < p.threads;
        first = lo + (int)threadIdx.x * (hi - lo) / p.threads;
        line.count = mine ? lo + (int)(threadIdx.x + 1) * (hi - lo) / p.threads - first : 1;
#pragma unroll
        for (int k = 0; k < MOST; k++) {
            if (line.is_behind(k)) continue;
            line.v[k] = mine ? v[first + k] : make(0, 0);
        }
    }
    // The number of a block less or plus what the block before has for it
    __device__ __forceinline__ void load(Complex (&to)[MOST], const Complex *own, const Complex *next, bool less) const {
#pragma unroll
        for (int k = 0; k < MOST; k++) {
            to[k] = make(0, 0);
            if (line.is_behind(k) || !mine) continue;
            to[k] = fresh(own + first + k);
            if (first + k == 0) continue;
            const Complex before = fresh(next + first + k - 1);
            to[k] = less ? to[k] - before : to[k] + before;
        }
    }
    // Factors of the matrix, kept as those of block `block`; thread 0 gets the first joint's diagonal, its coupling to the one behind the last, and what is taken
    // off the diagonal of that
    __device__ __forceinline__ void factorise(const Solving &p, const Blocks &top, int block, Complex &diagonal, Complex &v, Complex &next) {
        Complex a[MOST], before, after, last;
        load(a, top.a, top.next_a, true);
        line.pivots(a);
#pragma unroll
        for (int k = 1; k < MOST; k++)
            if (!line.is_behind(k)) p.pivots[first + k] = line.q[k];
        line.joins(before, after, v);
        diagonal = a[0] - before - joints.from_before(after, last);
        joints.factorise(diagonal, v, next);
        next = next + last;
        p.kept.save(joints, block);
    }
    // The same of all joints; gives the inverse of the last pivot to thread 0
    __device__ __forceinline__ Complex factorise_all(const Solving &p, const Blocks &top) {
        Complex a, v, next;
        factorise(p, top, 0, a, v, next);
        // The joint after the last of a ring is the first.
        if (p.ring) a = a - next - top.next_a[p.blocks - 1] - v - v;
        a = inverse(a);
        if (threadIdx.x == 0) p.pivots[p.blocks] = a;
        return a;
    }
    __device__ __forceinline__ void factors(const Solving &p, int block) {
#pragma unroll
        for (int k = 1; k < MOST; k++)
            if (!line.is_behind(k)) line.q[k] = p.pivots[first + k];
        p.kept.load(joints, block);
    }
    // The right-hand side of the first joint to thread 0, and what joins that of the one behind the last
    __device__ __forceinline__ Complex eliminate(const Complex (&d)[MOST], Complex &next) {
        Complex before, after, last;
        line.eliminate(d, before, after);
        Complex all = d[0] + before + joints.from_before(after, last);
        joints.eliminate(all, next, kept, kept_outer);
        next = next + last;
        return all;
    }
    // Right-hand sides become Y, from Y of the first joint and of the one behind the last
    __device__ __forceinline__ void substitute(Complex (&d)[MOST], Complex y0, Complex end_y) {
        Complex right, y = joints.substitute(y0, end_y, kept, kept_outer, right);
        d[0] = y;
        line.substitute(d, y, right);
    }
    // Right-hand sides of all joints become Y; gives that of the joint behind the last. `next_d` is what the last block has for that one.
    __device__ __forceinline__ Complex solve(Complex (&d)[MOST], Complex final_q, const Solving &p, Complex next_d) {
        Complex next, all = eliminate(d, next), *found = joints.shared + 6 * 32;
        if (threadIdx.x == 0) *found = (p.ring ? all + next + next_d : all) * final_q;
        __syncthreads();
        const Complex y0 = *found, end_y = p.ring ? y0 : make(0, 0);
        substitute(d, y0, end_y);
        return end_y;
    }
    // Y of joint `n` and of the next one to all threads, where `end_y` is that behind the last of all
    __device__ __forceinline__ void pair(const Complex (&y)[MOST], int n, int all, Complex end_y, Complex &own, Complex &next) const {
        Complex *both = joints.shared + 6 * 32 + 1;
#pragma unroll
        for (int k = 0; k < MOST; k++) {
            const int m = first + k - n;
            if (mine && !line.is_behind(k) && (m == 0 || m == 1)) both[m] = y[k];
        }
        if (threadIdx.x == 0 && n + 1 == all) both[1] = end_y;
        __syncthreads();
        own = both[0], next = both[1];
    }
};
