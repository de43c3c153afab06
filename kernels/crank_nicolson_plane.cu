// Crank-Nicolson on a plane: one Cayley factor of all lines along an axis, and between two of them along x the potential's phase.
//
// Scheme: exp(-i(U - iW + g|psi|^2)dt/2) C_x(dt/2) C_y(dt) C_x(dt/2) exp(...), as on the processor. A factor is psi <- Y - psi with Y = 2 T^-1 psi, and T knows
// no potential, so that its elimination is made once on the host: with q = -off/pivot, in units of -2/off,
//     E_k = q_k (E_(k-1) + psi_k) from the first site to the last,   Y_k = E_k + q_k Y_(k+1) back,
// on a ring less zeta_k (Y_0 - Y_(n-1)) (Sherman and Morrison). Walls have q = 0.
// Partition: both recurrences are of first order. A thread has ROWS consecutive sites of a line as its block and eliminates them as if nothing came in; what
// enters is composed of the blocks before, x -> Q x + e each, by shuffles over the lanes of a warp and through shared memory over its warps; q carries it on.
// Layout: psi interleaved, x fastest. A block of threads holds whole lines in shared memory, ROWS + 1 numbers a thread, so that neighbouring lanes meet
// different banks; lines along x and along y differ only in how they come there: rows one after the other, or a few columns side by side. q and zeta lie as
// threads read them: [line][row of a thread][thread], or for one line where all are alike.
//
// Bytes a site and step, single (double): rows, with the end of a step, two phases and the beginning of the next in one pass, psi 16 (32) and a phase 8 (16);
// columns psi 16 (32); 40 (80) in all, 32 (64) without a potential. Driven parts 8 (16) more, walls 16 (32) more a factor.
// Operations: three factors of 22 multiply-adds and two phases: 80. Through shared memory and the first cache: some 240 (480) bytes, 128 a clock.
// Bound: memory, 4.2 TB/s / 40 B: 105 G sites/s (52 in double); caches, 132 multiprocessors at 1.7 GHz: 120 (60). Prediction: two bounds so near each other
// and barriers between: half of it. Measured: docs/performance.md.
// Limits: lines of THREADS threads of ROWS sites.
//
// Reference: G. Strang 1968, doi:10.1137/0705041; Y. Lutsyshyn, F. Navarrete, D. Bauer 2023, The N-shaped partition method.
// Compile with -DREAL, -DROWS, -DTHREADS (most threads of a block, which is what the registers of a thread follow from).
#include "crank_nicolson.cuh"

#ifndef ROWS
#define ROWS 16
#endif
#ifndef THREADS
#define THREADS 1024
#endif

struct Lines {
    Complex *psi;
    const Complex *q, *ring;           // ring null: open lines
    const Complex *factors;            // e^{-i(U - iW)dt/2}; null: 1
    const real *ending, *beginning;    // driven part of U for the step that ends and for the one that begins; null: 0
    long long stride;                  // from the q of a line to those of the next; 0: all alike
    int nx, ny;
    int threads;                       // of a line: a power of two
    int pitch;                         // of a line in shared memory
    int ends, begins;                  // rows: which halves of a step are due
    int imaginary;
    real scale_r, scale_i;             // -2/off
    real tau, strength;                // dt/2, and g times it
};

__device__ __forceinline__ int spread(int site) { return site + int(unsigned(site) / ROWS); }

// The potential's half step at a site. While W acts, |psi|^2 falls by |f|^2: the trapezoid between keeps it symmetric.
__device__ __forceinline__ Complex kick(const Lines &p, Complex z, Complex f, size_t at, const real *driven) {
    if (p.strength != 0 || driven) {
        real angle = 0;
        if (p.strength != 0) {
            const real mean = p.imaginary ? real(1) : real(0.5) * (1 + fused(f.r, f.r, f.i * f.i));
            angle = p.strength * fused(z.r, z.r, z.i * z.i) * mean;
        }
        if (driven) angle = fused(p.tau, driven[at], angle);
        if (p.imaginary) {
            const real s = exp(-angle);
            z.r *= s, z.i *= s;
        } else {
            real c, s;
            turn(angle, c, s);
            multiply(z.r, z.i, c, -s);
        }
    }
    return p.factors ? z * f : z;
}
__device__ __forceinline__ Complex factor(const Lines &p, size_t at) { return p.factors ? p.factors[at] : make(1, 0); }

// A thread's place among those of its line
struct Place {
    int lane, lanes, warp, warps;
    Complex *slots;  // two a warp
};

// What enters a thread's rows from those before (FORWARD) or after, all of which do x -> Q x + e
template <bool FORWARD> __device__ __forceinline__ Complex entering(const Place &at, Complex Q, Complex e) {
    for (int s = 1; s < at.lanes; s *= 2) {
        const int from = FORWARD ? at.lane - s : at.lane + s;
        const Complex other_Q = shuffled(0xffffffffu, Q, from, at.lanes), other_e = shuffled(0xffffffffu, e, from, at.lanes);
        if (FORWARD ? at.lane >= s : at.lane + s < at.lanes) e = add(e, Q, other_e), Q = Q * other_Q;
    }
    Complex carry = make(0, 0);
    if (at.warps > 1) {
        __syncthreads();
        if (at.lane == (FORWARD ? at.lanes - 1 : 0)) at.slots[2 * at.warp] = Q, at.slots[2 * at.warp + 1] = e;
        __syncthreads();
        for (int w = FORWARD ? 0 : at.warps - 1; w != at.warp; w += FORWARD ? 1 : -1) carry = add(at.slots[2 * w + 1], at.slots[2 * w], carry);
    }
    const Complex leaves = add(e, Q, carry), before = shuffled(0xffffffffu, leaves, FORWARD ? at.lane - 1 : at.lane + 1, at.lanes);
    return at.lane == (FORWARD ? 0 : at.lanes - 1) ? carry : before;
}

// psi <- Y - psi on a thread's ROWS sites, `own`; `thread` of its line, which has `sites`. `ends` are two numbers of the line.
__device__ __forceinline__ void cayley(const Lines &p, const Place &place, Complex *own, int thread, int sites, const Complex *q, const Complex *ring, Complex *ends) {
    Complex y[ROWS], e = make(0, 0), Q = make(1, 0);
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        const Complex qk = q[k * p.threads];
        e = qk * (e + own[k]);
        Q = Q * qk;
        y[k] = e;
    }
    Complex carry = entering<true>(place, Q, e);
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        carry = q[k * p.threads] * carry;
        y[k] = y[k] + carry;
    }
    e = make(0, 0);
#pragma unroll
    for (int k = ROWS - 1; k >= 0; k--) {
        e = add(y[k], q[k * p.threads], e);
        y[k] = e;
    }
    carry = entering<false>(place, Q, e);
#pragma unroll
    for (int k = ROWS - 1; k >= 0; k--) {
        carry = q[k * p.threads] * carry;
        y[k] = y[k] + carry;
    }
    const Complex scale = make(p.scale_r, p.scale_i);
    if (ring) {
        if (thread == 0) ends[0] = y[0];
#pragma unroll
        for (int k = 0; k < ROWS; k++)
            if (thread * ROWS + k == sites - 1) ends[1] = y[k];
        __syncthreads();
        const Complex turns = ends[0] - ends[1];
#pragma unroll
        for (int k = 0; k < ROWS; k++) y[k] = less(y[k], ring[k * p.threads], turns);
    }
#pragma unroll
    for (int k = 0; k < ROWS; k++) own[k] = scale * y[k] - own[k];
}

template <bool COLUMNS> __device__ __forceinline__ void lines(const Lines &p) {
    extern __shared__ __align__(16) char memory[];
    wait_for_launch_before();
    let_next_launch_start();
    // Both are powers of two, and division is dear.
    const int threads = p.threads, shift = __ffs(threads) - 1, group = blockDim.x >> shift, first = blockIdx.x * group;
    const int sites = COLUMNS ? p.ny : p.nx, count = COLUMNS ? p.nx : p.ny;
    Complex *slots = (Complex *)memory, *ends = slots + 64, *chunk = ends + 2 * group;
    const int line = threadIdx.x >> shift, thread = threadIdx.x & (threads - 1);

    // Which site comes where: neighbouring threads take neighbouring sites of the field.
    const int line_in = COLUMNS ? threadIdx.x & (group - 1) : line, site_in = COLUMNS ? threadIdx.x >> (__ffs(group) - 1) : thread;
    const bool line_there = first + line_in < count;
    Complex *staged = chunk + line_in * p.pitch;
    const auto site_of = [&](int k) { return site_in + k * threads; };
    const auto there = [&](int k) { return line_there && site_of(k) < sites; };
    const auto at = [&](int k) { return COLUMNS ? (size_t)site_of(k) * p.nx + first + line_in : (size_t)(first + line_in) * p.nx + site_of(k); };
    // What a thread staged it may kick before others see it, or after they are done.
    const auto kick_staged = [&](const real *one, const real *other, bool twice) {
#pragma unroll 1
        for (int k = 0; k < ROWS; k++) {
            if (!there(k)) continue;
            const Complex f = factor(p, at(k));
            Complex &z = staged[spread(site_of(k))];
            z = kick(p, z, f, at(k), one);
            if (twice) z = kick(p, z, f, at(k), other);
        }
    };
    // No branch stands between the loads, so that all are under way at once.
    Complex z[ROWS];
#pragma unroll
    for (int k = 0; k < ROWS; k++) z[k] = p.psi[there(k) ? at(k) : 0];
#pragma unroll
    for (int k = 0; k < ROWS; k++) staged[spread(site_of(k))] = there(k) ? z[k] : make(0, 0);
    if (!COLUMNS && p.begins && !p.ends) kick_staged(p.beginning, nullptr, false);
    __syncthreads();

    Place place;
    place.lanes = min(threads, 32), place.lane = thread & (place.lanes - 1);
    place.warps = threads >> 5 ? threads >> 5 : 1, place.warp = threads >> 5 ? thread >> 5 : 0;
    place.slots = slots + line * 2 * place.warps;
    const long long table = min(first + line, count - 1) * p.stride + thread;
    const Complex *q = p.q + table, *ring = p.ring ? p.ring + table : nullptr;
    Complex *own = chunk + line * p.pitch + thread * (ROWS + 1);
    for (bool again = !COLUMNS && p.ends && p.begins;; again = false) {
        cayley(p, place, own, thread, sites, q, ring, ends + 2 * line);
        __syncthreads();
        if (!again) break;
        if (p.strength != 0 || p.ending) {
            kick_staged(p.ending, p.beginning, true);
        } else if (p.factors) {
#pragma unroll
            for (int k = 0; k < ROWS; k++) z[k] = p.factors[there(k) ? at(k) : 0];
#pragma unroll
            for (int k = 0; k < ROWS; k++) {
                Complex &held = staged[spread(site_of(k))];
                held = held * z[k] * z[k];
            }
        }
        __syncthreads();
    }
    if (!COLUMNS && p.ends && !p.begins) kick_staged(p.ending, nullptr, false);
#pragma unroll
    for (int k = 0; k < ROWS; k++)
        if (there(k)) p.psi[at(k)] = staged[spread(site_of(k))];
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) rows(const __grid_constant__ Lines p) { lines<false>(p); }
extern "C" __global__ void __launch_bounds__(THREADS, 1) columns(const __grid_constant__ Lines p) { lines<true>(p); }
