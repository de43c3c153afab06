// Coupled oscillators in two dimensions, STEPS equal sub-steps a launch with the state in registers.
//
// A warp owns a strip of 32 x COLUMNS columns and streams up its rows, two at a time, through STEPS stages, one a sub-step: x sweeps E O of the pair of rows that enters, the even bond
// between its rows, the odd bond to the pair before, that pair's second even bond and its x sweeps O E. A stage keeps one pair in registers; neighbours across lanes
// come by shuffle. Strips overlap by 2 STEPS columns a side (rounded up to whole lanes), chunks of rows by 2 STEPS rows: what is wrong at the rim moves inwards by 2
// sites a sub-step and never reaches what is written.
//
// Bytes of a launch: both planes read and written once, 16 a site in single precision; in a medium 32 of coefficients. Instructions of a site and sub-step: 35 of the sweeps and, of 4 columns a lane, 4 for
// the bonds that two lanes turn both; 16 shuffles for 8 sites.
//
// MEDIUM: a bond has its own coefficients. DAMPED: momenta are multiplied by a factor before and after each step. `edge_steps`: strips at ends that do not stand between
// two lanes, in a medium that is the same everywhere. `summing_steps`, `summing_edges`: the same, and pressures are summed over regions after steps. `visiting_steps`: pieces within
// reach of sites at which something happens between steps (oscillators_visits.cuh), stepped anew from the same state.
#include "oscillators.cuh"
#include "oscillators_cells.cuh"
#include "oscillators_visits.cuh"

#ifndef COLUMNS
#define COLUMNS 4
#endif
#ifndef STEPS
#define STEPS 4
#endif
#ifndef MEDIUM
#define MEDIUM 0
#endif
#ifndef DAMPED
#define DAMPED MEDIUM
#endif

enum { C = COLUMNS, N = STEPS, WARPS = 2 };
enum { HALO = (2 * N + C - 1) / C * C, CORE = 32 * C - 2 * HALO };

struct Fused {
    const real *q, *p;
    real *q_out, *p_out;
    Plane plane;
    Springs springs;
    int chunk;                     // pairs of rows that a warp writes
    int strips;                    // of this launch
    int first, skip_from, skip_by; // strip n of the launch is first + n of the grid, from skip_from on first + n + skip_by
    int begins;                    // whether a step begins with the launch
    u32 ends;                      // bit s: a step ends with sub-step s
};

struct Row {
    real q[C], p[C];
};
struct Bonds {
    real k[C], a[C], b[C], c[C];
    __device__ __forceinline__ Pair at(int n) const { return {k[n], a[n], b[n], c[n]}; }
};

// The columns of a lane
struct Lane {
    int x;       // the first one; within the grid where it is periodic
    bool whole;  // all are neighbours in memory
    bool none;   // none is in the grid
    bool low, high, ends;  // where the grid ends beside the lane; whether one of the warp has such an end
};

__device__ __forceinline__ void copy(real (&to)[C], const real *from) {
#pragma unroll
    for (int k = 0; k < int(C * sizeof(real) / 16); k++) ((uint4 *)to)[k] = ((const uint4 *)from)[k];
}

// C numbers of a row of a plane; `before`: how many columns before the first there are as well
template <bool RAGGED> __device__ __forceinline__ void get(real (&to)[C], const real *row, const Lane &l, const Plane &g, int before) {
    if (l.whole) {
        copy(to, row + l.x);
        return;
    }
#pragma unroll
    for (int c = 0; c < C; c++) {
        to[c] = 0;
        if (RAGGED) {
            int x = l.x + c;
            if (g.periodic[0]) x %= g.nx;
            if (x >= -before && x < g.nx) to[c] = row[x];
        }
    }
}

__device__ __forceinline__ int wrapped(int y, int n) {
    while (y < 0) y += n;
    while (y >= n) y -= n;
    return y;
}

struct Strip {
    const Fused &f;
    Lane lane;

    __device__ __forceinline__ long long row(int y) const { return (long long)(f.plane.periodic[1] ? wrapped(y, f.plane.ny) : y) * f.plane.pitch; }

    template <bool RAGGED> __device__ __forceinline__ void load(Row &a, int y) const {
        if (f.plane.periodic[1] || y < f.plane.ny) {
            const long long place = row(y);
            get<RAGGED>(a.q, f.q + place, lane, f.plane, 0), get<RAGGED>(a.p, f.p + place, lane, f.plane, 0);
        } else {
#pragma unroll
            for (int c = 0; c < C; c++) a.q[c] = a.p[c] = 0;
        }
    }

    template <bool RAGGED> __device__ __forceinline__ void damp(Row &a, int y, int times_) const {
        if (!DAMPED || !f.springs.damping || !times_ || !(f.plane.periodic[1] || y < f.plane.ny)) return;
        real factor[C];
        get<RAGGED>(factor, f.springs.damping + row(y), lane, f.plane, 0);
#pragma unroll
        for (int c = 0; c < C; c++) {
            a.p[c] = times(a.p[c], factor[c]);
            if (times_ > 1) a.p[c] = times(a.p[c], factor[c]);
        }
    }

    // Bonds along x of row y
    __device__ __forceinline__ Bonds bonds_x(int y) const {
        Bonds b;
        if (MEDIUM) {
            const bool there = f.plane.periodic[1] || y < f.plane.ny;
            const long long place = there ? row(y) : 0;
            get<true>(b.k, f.springs.x[0] + place, lane, f.plane, 1), get<true>(b.a, f.springs.x[1] + place, lane, f.plane, 1);
            get<true>(b.b, f.springs.x[2] + place, lane, f.plane, 1), get<true>(b.c, f.springs.x[3] + place, lane, f.plane, 1);
        } else {
#pragma unroll
            for (int c = 0; c < C; c++) {
                Pair w = f.springs.same[0][c & 1];
                if (!f.plane.periodic[0]) w = end_or(w, f.springs.ends[0], lane.x + c, f.plane.nx);
                b.k[c] = w.k, b.a[c] = w.a, b.b[c] = w.b, b.c[c] = w.c;
            }
        }
        return b;
    }

    // Bonds along y from row y
    __device__ __forceinline__ Bonds bonds_y(int y) const {
        Bonds b;
        const long long place = y < 0 && !f.plane.periodic[1] ? (long long)y * f.plane.pitch : row(y);
        get<true>(b.k, f.springs.y[0] + place, lane, f.plane, 0), get<true>(b.a, f.springs.y[1] + place, lane, f.plane, 0);
        get<true>(b.b, f.springs.y[2] + place, lane, f.plane, 0), get<true>(b.c, f.springs.y[3] + place, lane, f.plane, 0);
        return b;
    }

    template <bool RAGGED> __device__ __forceinline__ void even_x(Row &a, const Bonds &b) const {
#pragma unroll
        for (int c = 0; c < C; c += 2) turn(RAGGED ? b.at(c) : f.springs.same[0][0], a.q[c], a.p[c], a.q[c + 1], a.p[c + 1]);
    }

    template <bool RAGGED, bool ENDS> __device__ __forceinline__ void odd_x(Row &a, const Bonds &b) const {
        const unsigned all = 0xffffffffu;
        real lq = __shfl_up_sync(all, a.q[C - 1], 1), lp = __shfl_up_sync(all, a.p[C - 1], 1);
        real rq = __shfl_down_sync(all, a.q[0], 1), rp = __shfl_down_sync(all, a.p[0], 1);
        Pair inner = f.springs.same[0][1], left = inner, right = inner;
        if (RAGGED) {
            right = b.at(C - 1);
            left = {__shfl_up_sync(all, right.k, 1), __shfl_up_sync(all, right.a, 1), __shfl_up_sync(all, right.b, 1), __shfl_up_sync(all, right.c, 1)};
        }
#pragma unroll
        for (int c = 1; c < C - 1; c += 2) turn(RAGGED ? b.at(c) : inner, a.q[c], a.p[c], a.q[c + 1], a.p[c + 1]);
        real q0 = a.q[0], p0 = a.p[0], q1 = a.q[C - 1], p1 = a.p[C - 1];
        turn(left, lq, lp, a.q[0], a.p[0]);
        turn(right, a.q[C - 1], a.p[C - 1], rq, rp);
        if (!RAGGED && ENDS) {
            swing(f.springs.ends[0][0], q0, p0), swing(f.springs.ends[0][1], q1, p1);
            if (lane.low) a.q[0] = q0, a.p[0] = p0;
            if (lane.high) a.q[C - 1] = q1, a.p[C - 1] = p1;
        }
    }

    // The first sweeps of a sub-step along x, and the last
    template <bool RAGGED, bool ENDS> __device__ __forceinline__ void enter(Row &a, int y) const {
        Bonds b;
        if (RAGGED) b = bonds_x(y);
        even_x<RAGGED>(a, b), odd_x<RAGGED, ENDS>(a, b);
        if (RAGGED && !MEDIUM && !f.plane.periodic[0])
            // Phantoms that a spring has kicked must not drift along y.
#pragma unroll
            for (int c = 0; c < C; c++) a.p[c] = (u32)(lane.x + c) < (u32)f.plane.nx ? a.p[c] : real(0);
    }
    template <bool RAGGED, bool ENDS> __device__ __forceinline__ void leave(Row &a, int y) const {
        Bonds b;
        if (RAGGED) b = bonds_x(y);
        odd_x<RAGGED, ENDS>(a, b), even_x<RAGGED>(a, b);
    }

    // The bond from row y (a) to the next (b)
    template <bool ODD> __device__ __forceinline__ void between(Row &a, Row &b, int y) const {
        Bonds w;
        if (MEDIUM) w = bonds_y(y);
#pragma unroll
        for (int c = 0; c < C; c++) turn(MEDIUM ? w.at(c) : f.springs.same[1][ODD], a.q[c], a.p[c], b.q[c], b.p[c]);
    }

    // The first or last row in the sweep that leaves it alone
    __device__ __forceinline__ void rim(Row &a, int high) const {
        Bonds w;
        if (MEDIUM) w = bonds_y(high ? f.plane.ny - 1 : -1);
#pragma unroll
        for (int c = 0; c < C; c++) swing(MEDIUM ? Lone{w.k[c], high ? w.a[c] : w.c[c]} : f.springs.ends[1][high], a.q[c], a.p[c]);
    }

    template <bool STEADY> __device__ __forceinline__ void even_y(Row &a, Row &b, int y) const {
        if (STEADY || f.plane.periodic[1] || y + 1 < f.plane.ny)
            between<false>(a, b, y);
        else
            rim(a, 1);
    }
};

template <bool RAGGED> __device__ __forceinline__ void save(const Fused &f, const Row &a, int y, int x, bool whole) {
    const long long place = (long long)y * f.plane.pitch + x;
    if (!RAGGED || whole) {
#pragma unroll
        for (int k = 0; k < int(C * sizeof(real) / 16); k++)
            ((uint4 *)(f.q_out + place))[k] = ((const uint4 *)a.q)[k], ((uint4 *)(f.p_out + place))[k] = ((const uint4 *)a.p)[k];
    } else {
#pragma unroll
        for (int c = 0; c < C; c++)
            if (x + c < f.plane.nx) f.q_out[place + c] = a.q[c], f.p_out[place + c] = a.p[c];
    }
}

// What happens at sites of row y after sub-step n, with which a step ends; `records`: the row is the warp's own
__device__ __forceinline__ void visit_row(const Strip &s, const Visits &v, Row &a, int y, int n, bool records) {
    const Plane &g = s.f.plane;
    if (g.periodic[1])
        y = wrapped(y, g.ny);
    else if (y < 0 || y >= g.ny)
        return;
    const int slot = v.rows[y];
    if (slot < 0) return;
    const unsigned char *marks = v.marks + (size_t)slot * g.pitch;
    const int step = v.step + __popc(s.f.ends & ((1u << n) - 1));
#pragma unroll
    for (int c = 0; c < C; c++) {
        int x = s.lane.x + c;
        if (g.periodic[0]) x %= g.nx;
        if (x < 0 || x >= g.nx || !marks[x]) continue;
        v.visit(marks[x], (u32)(y * g.pitch + x), step, records, a.q[c], a.p[c]);
    }
}

// Pairs of rows: those that a warp writes, those that it steps, and whether these begin and end at ends of the grid
struct Span {
    int first, last, from, to;
    bool bottom, top;
};

// Tick t: stage n takes pair t - n, and hands the pair before to the next stage. STEADY: each of them has one, and none is at an end along y; ENDS: the grid may end beside
// a lane. Nothing is decided then between the stages, so that the compiler puts the instructions of all of them in one order, and their latencies behind each other.
template <bool RAGGED, bool SUMS, bool VISITS, bool STEADY, bool ENDS>
__device__ __forceinline__ void tick(const Strip &s, const Span &span, Row &a, Row &b, Row (&u)[N], Row (&v)[N], int t, int x0, bool writes, const Cells *cells, const Visits *visits) {
    const Plane &g = s.f.plane;
#pragma unroll
    for (int n = 0; n < N; n++) {
        const int y = 2 * (t - n);  // of the pair that enters
        if (STEADY || (y >= 2 * span.from && y <= 2 * span.to)) {
            Row du = u[n], dv = v[n];
            if (STEADY || y < 2 * span.to) {
                s.enter<RAGGED, ENDS>(a, y), s.enter<RAGGED, ENDS>(b, y + 1);
                s.even_y<STEADY>(a, b, y);
                if (STEADY || y > 2 * span.from)
                    s.between<true>(dv, a, y - 1);
                else if (span.bottom)
                    s.rim(a, 0);
            } else if (span.top && y == g.ny) {
                s.rim(dv, 1);
            }
            u[n] = a, v[n] = b;
            if (STEADY || y > 2 * span.from) {
                s.even_y<STEADY>(du, dv, y - 2);
                s.leave<RAGGED, ENDS>(du, y - 2), s.leave<RAGGED, ENDS>(dv, y - 1);
                const int pair = t - n - 1;
                const bool own = pair >= span.first && pair < span.last && writes;
                // The end of a step, and the beginning of the next
                const int damps = n + 1 < N && !VISITS ? 2 : 1;
                if (DAMPED && (s.f.ends >> n & 1)) s.damp<RAGGED>(du, y - 2, damps), s.damp<RAGGED>(dv, y - 1, damps);
                if (VISITS && (s.f.ends >> n & 1)) {
                    visit_row(s, *visits, du, y - 2, n, own), visit_row(s, *visits, dv, y - 1, n, own);
                    if (DAMPED && n + 1 < N) s.damp<RAGGED>(du, y - 2, 1), s.damp<RAGGED>(dv, y - 1, 1);
                }
                if (SUMS && (cells->ends >> n & 1) && own) put_cells(*cells, n, du.q, dv.q, pair, x0);
            }
            a = du, b = dv;
        }
    }
}

// With SUMS, pressures of `cells` are put there after steps. With VISITS, a warp has a piece of the list, and what happens at its sites between steps is done.
template <bool RAGGED, bool SUMS, bool VISITS = false> __device__ __forceinline__ void run(const Fused &f, const Cells *cells, const Visits *visits = nullptr) {
    const Plane &g = f.plane;
    const int lane = threadIdx.x & 31, number = blockIdx.x * WARPS + (threadIdx.x >> 5);
    if (number >= (VISITS ? visits->count : f.strips)) return;
    const int strip = VISITS ? visits->pieces[2 * number] : f.first + number + (number >= f.skip_from ? f.skip_by : 0);
    const int x0 = strip * CORE - HALO + lane * C;
    int x = x0;
    if (g.periodic[0]) {
        x %= g.nx;
        if (x < 0) x += g.nx;
    }
    Strip s = {f, {x, x >= 0 && x + C <= g.nx && x % C == 0, false, false, false, false}};
    s.lane.low = !g.periodic[0] && x0 == 0, s.lane.high = !g.periodic[0] && x0 + C == g.nx;
    if (!RAGGED) s.lane.ends = __any_sync(0xffffffffu, s.lane.low || s.lane.high);
    const int pairs = (g.ny + 1) / 2;
    const int first = VISITS ? visits->pieces[2 * number + 1] : blockIdx.y * f.chunk, last = min(first + f.chunk, pairs);
    const bool ring = g.periodic[1];
    const int from = ring ? first - N : max(first - N, 0), to = ring ? last + N : min(last + N, pairs);
    const Span span = {first, last, from, to, !ring && from == 0, !ring && to == pairs};
    const bool writes = lane * C >= HALO && lane * C < HALO + CORE && x0 < g.nx;
    Row u[N], v[N];
#pragma unroll
    for (int n = 0; n < N; n++)
#pragma unroll
        for (int c = 0; c < C; c++) u[n].q[c] = u[n].p[c] = v[n].q[c] = v[n].p[c] = 0;
    Row na, nb;
    s.load<RAGGED>(na, 2 * from), s.load<RAGGED>(nb, 2 * from + 1);
#pragma unroll 1
    for (int t = from; t < to + N; t++) {
        Row a = na, b = nb;
        if (t + 1 < to) s.load<RAGGED>(na, 2 * t + 2), s.load<RAGGED>(nb, 2 * t + 3);
        if (DAMPED && t < to && f.begins) s.damp<RAGGED>(a, 2 * t, 1), s.damp<RAGGED>(b, 2 * t + 1, 1);
        if (!RAGGED && !VISITS && t - N + 1 > from && t < to && (ring || 2 * t + 1 < g.ny)) {
            if (s.lane.ends)
                tick<RAGGED, SUMS, VISITS, true, true>(s, span, a, b, u, v, t, x0, writes, cells, visits);
            else
                tick<RAGGED, SUMS, VISITS, true, false>(s, span, a, b, u, v, t, x0, writes, cells, visits);
        } else {
            tick<RAGGED, SUMS, VISITS, false, true>(s, span, a, b, u, v, t, x0, writes, cells, visits);
        }
        const int done = t - N;
        if (done >= first && done < last && writes) {
            save<RAGGED>(f, a, 2 * done, x0, s.lane.whole);
            if (2 * done + 1 < g.ny) save<RAGGED>(f, b, 2 * done + 1, x0, s.lane.whole);
        }
    }
}

extern "C" __global__ void __launch_bounds__(64) fused_steps(const __grid_constant__ Fused f) { run<MEDIUM != 0, false>(f, nullptr); }
extern "C" __global__ void __launch_bounds__(64) summing_steps(const __grid_constant__ Fused f, const __grid_constant__ Cells cells) { run<MEDIUM != 0, true>(f, &cells); }
#if !MEDIUM
extern "C" __global__ void __launch_bounds__(64) edge_steps(const __grid_constant__ Fused f) { run<true, false>(f, nullptr); }
extern "C" __global__ void __launch_bounds__(64) summing_edges(const __grid_constant__ Fused f, const __grid_constant__ Cells cells) { run<true, true>(f, &cells); }
#endif
extern "C" __global__ void __launch_bounds__(64) visiting_steps(const __grid_constant__ Fused f, const __grid_constant__ Cells cells, const __grid_constant__ Visits visits) {
    run<true, true, true>(f, &cells, &visits);
}
