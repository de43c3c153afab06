// Trotter-Suzuki in two dimensions, STEPS whole steps a launch with the state in registers.
//
// A warp owns a strip of 32 x COLUMNS columns and streams down its rows, two at a time, through a pipeline of STEPS stages; a stage is
// one step. x sweeps stay in a row (neighbours across lanes by shuffle). Of the y sweeps, even-odd-even, a stage completes those of the
// row pair before the one that enters, for which it keeps two rows in registers: a lag of one pair a stage. The phases of the pairs under way
// stand in a ring in shared memory, each lane's own, and so does the pair that comes next; both arrive by asynchronous copies. Nothing is
// shared between warps, there is no barrier. Strips overlap by 2 STEPS columns a side, pieces of a strip by 2 STEPS rows: what is wrong at the rim
// of a strip moves inwards by 2 sites a step and never reaches what is written. Where row pairs
// cost more, pieces are shorter, so that all take equally long.
//
// Where a wall, an edge in y or a ragged edge in x is near, a second body runs that looks at every bond; a site without partner is multiplied by
// the secant that its partner's tangent form would have owed it. Both bodies give the same bits for sites with partners.
//
// Where bonds differ from one another (OWN) the second body reads what each of them does, walls and edges among it, and runs wherever one is near that is not as all
// others are. Of a bond of angle f theta and phase phi, where all others have theta, planes hold t cos phi, t sin phi with t = tan f theta, and what both members grow by beside
// the others' tangent form: d = cos f theta / cos theta - 1, which a multiply-add takes up without the rounding of 1 + d; bonds that are not there have t = 0. So bonds like
// all others (d = 0) give the bits of the first body. Bonds along y have no phases.
//
// Compile with -DREAL, -DCOLUMNS, -DSTEPS, -DBLOCKS (of two warps on a multiprocessor) and the flags below.
#include "trotter_fused.cuh"
#include "trotter_sums.cuh"

// Whether pieces are shorter near walls; where there are none, or few, sums are faster without (registers)
// What is recorded after steps, and by which kernel
// Largest values beside sums have a kernel of their own, since sums would lose registers to them.
enum { NOTHING, SUMS, PEAKS, COPIES };
template <int RECORDS> constexpr bool ADDS_UP = RECORDS == SUMS || RECORDS == PEAKS;
template <int RECORDS> constexpr bool BY_KIND = RECORDS == NOTHING || (ADDS_UP<RECORDS> && NESTED && !FLUX);

// A part of a strip that is stepped for its boxes alone: row pairs first <= j < last
struct Piece { int strip, first, last, unused; };

// What a lane has summed
struct Summed {
    long long *sums;  // 32 (count s + k): region k after stage s
    u32 columns;      // bit COLUMNS k + c: column c is one of region k
    u32 some, differ; // bit k: the warp has some of region k; some lane has only a part of its columns in it
    int first, last;  // pairs that the warp writes
    int y0, y1;       // rows of region number `lane`
    bool ones;        // the lane's columns have weights 1 in some rows
    real scale;       // units in 1
    real most;        // the largest number of units that was added
};

// What is recorded of the last pairs, the newest lowest: of each the regions that have something of it in the warp, whether of some only a part of a lane's sites, and whether
// some sites have weights other than 1; or whether boxes have something of it. The same in all lanes, which the compiler must see: from votes.
typedef unsigned long long Marks;
enum { PARTIAL = 1 << REGIONS, WEIGHED = 2 << REGIONS, MARK_BITS = REGIONS + 2 };
static_assert(MARK_BITS * STEPS <= 64, "marks of all stages");

// What is summed of pair j; found once a pair, so that stages do not look at regions that have nothing of it
__device__ __forceinline__ u32 summed_of(const Fused &p, const Regions &q, const Summed &own, int x, int j) {
    if (j < own.first || j >= own.last || own.some == 0) return 0;
    const u32 all = 0xffffffffu;
    const int y = 2 * j;
    const bool in_a = y >= own.y0 && y < own.y1, in_b = y + 1 >= own.y0 && y + 1 < own.y1;
    u32 marks = __ballot_sync(all, in_a || in_b) & own.some;
    const u32 part = ~__ballot_sync(all, in_a && in_b) | own.differ;
    if (marks & part) marks |= PARTIAL;
    if (q.weights) {
        const bool weighs = own.columns && !(own.ones && y >= q.ones_y[0] && y + 2 <= q.ones_y[1]);
        const real *w = q.weights + (size_t)y * p.pitch + x;
        // Stages take them from the next turn on.
        if (weighs) asm volatile("prefetch.global.L1 [%0];" ::"l"(w));
        if (weighs && y + 1 < p.ny) asm volatile("prefetch.global.L1 [%0];" ::"l"(w + p.pitch));
        if (__any_sync(all, weighs)) marks |= WEIGHED;
    }
    return marks & (PARTIAL - 1) ? marks : 0;
}

__device__ __forceinline__ void weigh(real (&d)[C], const real *w) {
#pragma unroll
    for (int k = 0; k < CHUNKS; k++) {
        real some[LANES];
        *(vec *)some = __ldg((const vec *)w + k);
#pragma unroll
        for (int v = 0; v < LANES; v++) d[k * LANES + v] = times(d[k * LANES + v], some[v]);
    }
}

// Adds |psi|^2 of pair j after stage s. Sums of two rows of a lane are rounded the same way in every kernel, everything after that is exact.
template <bool WITH_PEAKS>
__device__ __forceinline__ void sum_pair(const Row &a, const Row &b, const Fused &p, const Regions &q, Summed &own, u32 marks, int x, int j, int s) {
    const int y = 2 * j;
    real da[C], db[C];
#pragma unroll
    for (int c = 0; c < C; c++) da[c] = fused(a.r[c], a.r[c], times(a.i[c], a.i[c])), db[c] = fused(b.r[c], b.r[c], times(b.i[c], b.i[c]));
    if (marks & WEIGHED) {
        // lanes without a site of a region need none, whatever they are multiplied by
        const real *w = q.weights + (size_t)y * p.pitch + (own.columns ? x : 0);
        weigh(da, w);
        if (y + 1 < p.ny) weigh(db, w + p.pitch);
    }
    // In a lane whose columns are all of a region or none, as most are
    real both = 0;
#pragma unroll
    for (int c = 0; c < C; c++) both = plus(both, plus(da[c], db[c]));
    u32 active = marks & (PARTIAL - 1);
#pragma unroll 1
    do {
        const int k = __ffs(active) - 1;
        active &= active - 1;
        long long *const to = own.sums + 32 * (s * q.count + k);
        const u32 columns = own.columns >> (C * k) & ((1u << C) - 1);
        real sum = columns ? both : (real)0;
        if (marks & PARTIAL || WITH_PEAKS) {
            const bool in_a = y >= q.y0[k] && y < q.y1[k], in_b = y + 1 >= q.y0[k] && y + 1 < q.y1[k];
            const u32 from_a = in_a ? columns : 0, from_b = in_b ? columns : 0;
            if (WITH_PEAKS && q.peaks >> k & 1) {
                *to = max(*to, in_order(peak_of_cell(da, db, from_a, from_b)));
                continue;
            }
            sum = sum_of_cell(da, db, from_a, from_b);
        }
        const real units = times(sum, own.scale);
        own.most = larger(own.most, units);
        *to += rounded(units);
    } while (active);
}

// Copies what boxes have of pair j after stage s
__device__ __forceinline__ void copy_pair(const Row &a, const Row &b, const Regions &q, int strip, int x, int j, int s) {
#pragma unroll 1
    for (int from = 0; from < q.box_count; from += 32) {
        u32 hits = boxes_in(q, from, strip, strip + CORE, 2 * j, 2 * j + 2, 0, 1);
#pragma unroll 1
        while (hits) {
            const Box box = q.boxes[from + __ffs(hits) - 1];
            hits &= hits - 1;
            if (x < strip || x >= strip + CORE) continue;
            copy_row(q, box, s, x, 2 * j, 0, a.r, a.i);
            copy_row(q, box, s, x, 2 * j + 1, 0, b.r, b.i);
        }
    }
}

// The pair j through all stages; `marks` of pair j - 1 and those before it
template <int LOOK, int RECORDS>
__device__ __forceinline__ void pipeline(Row &a, Row &b, Row (&u)[STEPS], Row (&v)[STEPS], const Fused &p, const char *ring, const u32 *words, int slot,
                                         int j, Edges e, const Regions &q, Summed &own, int x, int strip, Marks marks, const Bonds &bonds) {
    const char *here = ring + slot * SLOT;
    u32 now = 0, before = 0;
    enum { LOOKS = LOOK && OWN };
    if (LOOK && !OWN) now = words[slot * 32];
#pragma unroll
    for (int s = 0; s < N; s++) {
        const int y = 2 * (j - s);
        if (LOOKS) {
            own_x<false>(a, p, bonds, y);
            own_x<false>(b, p, bonds, y + 1);
        } else {
            before_y<LOOK>(a, p, now & 0xffff, e, gauge(p, y));
            before_y<LOOK>(b, p, now >> 16, e, gauge(p, y + 1));
        }
        here = here == ring ? ring + (SLOTS - 1) * SLOT : here - SLOT;
        if (LOOK && !OWN) {
            slot = slot == 0 ? SLOTS - 1 : slot - 1;
            before = words[slot * 32];
        }
        sweep_y<LOOK>(a, b, u[s], v[s], p, now, before, bonds, y);
        if (LOOKS) {
            own_x<true>(a, p, bonds, y - 2);
            own_x<true>(b, p, bonds, y - 1);
        } else {
            after_y<LOOK>(a, p, before & 0xffff, e, gauge(p, y - 2));
            after_y<LOOK>(b, p, before >> 16, e, gauge(p, y - 1));
        }
        if (!BARE) {
            phase(a, here, p);
            phase(b, here + 2 * CHUNKS * PART, p);
        }
        const u32 mark = RECORDS == NOTHING ? 0 : (u32)(marks >> (MARK_BITS * s)) & ((1u << MARK_BITS) - 1);
        if (ADDS_UP<RECORDS> && mark && q.ends >> s & 1) sum_pair<RECORDS == PEAKS>(a, b, p, q, own, mark, x, j - s - 1, s);
        if (RECORDS == COPIES && mark && q.ends >> s & 1) copy_pair(a, b, q, strip, x, j - s - 1, s);
        now = before;
    }
}

struct Place { u32 a, b; bool in_a, in_b; };

// Where the rows of a pair lie, and whether they do
__device__ __forceinline__ Place place(const Fused &p, int j, int x, bool inside) {
    int y = 2 * j;
    if (p.periodic_y) y = y < 0 ? y + p.ny : y >= p.ny ? y - p.ny : y;
    Place at;
    at.a = (u32)y * p.pitch + x, at.b = at.a + p.pitch;
    at.in_a = inside && y >= 0 && y < p.ny, at.in_b = inside && y >= 0 && y + 1 < p.ny;
    return at;
}

// Which of a lane's columns are walls, or with OWN have bonds unlike others, the first one in the lowest bit
__device__ __forceinline__ u32 walls(const Fused &p, u32 at) {
    const Bytes<C>::type bytes = *(const Bytes<C>::type *)(p.wall + at);
    u32 all = 0;
#pragma unroll
    for (int c = 0; c < C; c++) all |= (u32)((bytes >> (8 * c) & (OWN ? 3 : 1)) != 0) << c;
    return all;
}

template <int RECORDS> __device__ __forceinline__ void steps_of(Fused &p, const Regions &q, const Piece *pieces, int piece_count) {
    const int bytes_of_warp = WARP_BYTES + (ADDS_UP<RECORDS> ? N * q.count * 32 * (int)sizeof(long long) : 0);
    if (BARE) {
        const size_t plane = (size_t)blockIdx.z * p.ny * p.pitch;
        p.re += plane, p.im += plane, p.re_out += plane, p.im_out += plane;
    }
    enum { BOND_BY_BOND = RECORDS == NOTHING && !NESTED && STEPS > 4 ? CHOOSING : SKIPPING };
    extern __shared__ __align__(16) char shared[];
    const u32 all = 0xffffffffu;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    // The same for all warps of a block, which the compiler must see: otherwise it spills.
    int chunk = p.chunk[0];
    bool walled = BY_KIND<RECORDS> ? p.walled & 1 : p.wall != nullptr;
#pragma unroll
    for (int k = 1; k < KINDS; k++)
        if (BY_KIND<RECORDS> && (int)blockIdx.x >= p.from[k]) chunk = p.chunk[k], walled = p.walled >> k & 1;
    int first = blockIdx.y * chunk, last = min(first + chunk, (p.ny + 1) / 2), strip = (blockIdx.x * WARPS + warp) * CORE;
    if (RECORDS == COPIES) {
        const int n = blockIdx.x * WARPS + warp;
        if (n >= piece_count) return;
        strip = pieces[n].strip * CORE, first = pieces[n].first, last = pieces[n].last;
    }
    if (strip >= p.nx || first >= last) return;
    char *ring = shared + warp * bytes_of_warp;
    u32 *words = (u32 *)(ring + (SLOTS + 1) * SLOT) + lane;
    ring += lane * BYTES;
    char *next = ring + SLOTS * SLOT;

    const int x = strip - HALO + lane * C;
    int wrapped = x;
    bool inside = x >= 0 && x < p.nx;
    if (p.periodic_x) {
        wrapped = x % p.nx;
        if (wrapped < 0) wrapped += p.nx;
        inside = true;
    }
    Edges e;
    e.left = !p.periodic_x && x == 0, e.right = !p.periodic_x && x + C == p.nx;
    e.any = __any_sync(all, e.left || e.right);
    // open sites: bit 0 is the left neighbour, bit C + 1 the right one; the second row 16 bits higher
    u32 full = 0;
#pragma unroll
    for (int c = 0; c < C; c++)
        if (inside && wrapped + c < p.nx) full |= 1u << (c + 1);
    const u32 whole = ((1u << C) - 1) * 2 * 0x10001u;

    Row u[N], v[N];
#pragma unroll
    for (int s = 0; s < N; s++)
#pragma unroll
        for (int c = 0; c < C; c++) u[s].r[c] = u[s].i[c] = v[s].r[c] = v[s].i[c] = 0;
    for (int n = 0; n < (SLOTS + 1) * 4 * CHUNKS; n++) *(vec *)(ring + n * PART) = vec();
    for (int n = 0; n < SLOTS; n++) words[n * 32] = 0;

    const Bonds bonds = {inside ? wrapped : -1};
    const bool stores = x >= strip && x < strip + CORE && x < p.nx;
    Summed own = {};
    own.first = first, own.last = last;
    if (ADDS_UP<RECORDS>) {
        own.ones = x >= q.ones_x[0] && x + C <= q.ones_x[1];
        own.scale = (real)q.scale;
        if (lane < q.count) own.y0 = q.y0[lane], own.y1 = q.y1[lane];
        own.sums = (long long *)(shared + warp * bytes_of_warp + WARP_BYTES) + lane;
        for (int n = 0; n < N * q.count; n++) own.sums[32 * n] = 0;
        for (int k = 0; k < q.count; k++) {
            const u32 whole_lane = (1u << C) - 1;
            u32 columns = 0;
            for (int c = 0; c < C; c++)
                if (stores && x + c >= q.x0[k] && x + c < q.x1[k]) columns |= 1u << c;
            own.columns |= columns << (C * k);
            own.some |= (u32)__any_sync(all, columns != 0) << k;
            own.differ |= (u32)__any_sync(all, columns != 0 && columns != whole_lane) << k;
        }
    }
    Marks marks = 0;
    int slot = 0, masked = p.periodic_y || first > N ? 0 : N + 1;
    Place at = place(p, first - N, wrapped, inside);
    fetch(next, p.re, p.im, at.a, at.b, at.in_a, at.in_b);
    asm volatile("cp.async.commit_group;" ::: "memory");

#pragma unroll 1
    for (int j = first - N; j < last + N; j++) {
        asm volatile("cp.async.wait_group 0;" ::: "memory");
        Row a, b;
        take(a, next);
        take(b, next + 2 * CHUNKS * PART);
        if (!BARE) fetch(ring + slot * SLOT, p.pc, p.ps, at.a, at.b, at.in_a, at.in_b);
        u32 word = (at.in_a ? full : 0) | (at.in_b ? full << 16 : 0);
        if (walled) {
            if (at.in_a) word &= ~(walls(p, at.a) << 1);
            if (at.in_b) word &= ~(walls(p, at.b) << 17);
        }
        at = place(p, j + 1, wrapped, inside);
        fetch(next, p.re, p.im, at.a, at.b, at.in_a, at.in_b);
        asm volatile("cp.async.commit_group;" ::: "memory");
        if (__any_sync(all, inside && word != whole)) masked = N + 2;
        u32 l = __shfl_up_sync(all, word, 1), r = __shfl_down_sync(all, word, 1);
        l = lane == 0 ? 0 : l, r = lane == 31 ? 0 : r;
        words[slot * 32] = word | ((l >> C) & 0x10001u) | ((r & 0x20002u) << C);
        if (masked > 0) {
            masked--;
            pipeline<BOND_BY_BOND, RECORDS>(a, b, u, v, p, ring, words, slot, j, e, q, own, x, strip, marks, bonds);
        } else {
            pipeline<PLAIN, RECORDS>(a, b, u, v, p, ring, words, slot, j, e, q, own, x, strip, marks, bonds);
        }
        if (ADDS_UP<RECORDS>) marks = marks << MARK_BITS | summed_of(p, q, own, x, j);
        if (RECORDS == COPIES) marks = marks << MARK_BITS | (j >= first && j < last && some_box_in(q, strip, strip + CORE, 2 * j, 2 * j + 2, 0, 1));
        slot = slot == SLOTS - 1 ? 0 : slot + 1;
        if (RECORDS != COPIES && j - N >= first && stores) {
            const u32 o = (u32)(2 * (j - N)) * p.pitch + x;
#pragma unroll
            for (int k = 0; k < CHUNKS; k++) {
                ((vec *)(p.re_out + o))[k] = *(vec *)(a.r + k * LANES);
                ((vec *)(p.im_out + o))[k] = *(vec *)(a.i + k * LANES);
            }
            if (2 * (j - N) + 1 < p.ny)
#pragma unroll
                for (int k = 0; k < CHUNKS; k++) {
                    ((vec *)(p.re_out + o + p.pitch))[k] = *(vec *)(b.r + k * LANES);
                    ((vec *)(p.im_out + o + p.pitch))[k] = *(vec *)(b.i + k * LANES);
                }
        }
    }
    if (ADDS_UP<RECORDS>) {
        __syncwarp();
        // Sums of as many as a warp sees stay below 2^63.
        const bool large = __any_sync(all, too_large(own.most));
        for (int n = lane; n < N * q.count; n += 32) {
            if (!(q.ends >> (n / q.count) & 1)) continue;
            const bool peak = RECORDS == PEAKS && q.peaks >> (n % q.count) & 1;
            long long sum = 0;
            for (int from = 0; from < 32; from++) {
                const long long part = own.sums[32 * n - lane + (from + lane) % 32];
                sum = peak ? max(sum, part) : sum + part;
            }
            unsigned long long *const to = total_of(q, n / q.count, n % q.count);
            if (RECORDS == PEAKS)
                add_to_total(q, n % q.count, to, sum);
            else if (sum)
                atomicAdd(to, (unsigned long long)sum);
            if (large && !peak) atomicOr(to + 1, 1ull);
        }
    }
}

extern "C" __global__ void __launch_bounds__(64, BLOCKS) fused_steps(Fused p) { steps_of<NOTHING>(p, Regions{}, nullptr, 0); }
#if !BARE
// At most 168 registers a thread, which sums need
extern "C" __global__ void __launch_bounds__(64, BLOCKS > 6 ? 6 : BLOCKS) summing_steps(Fused p, const __grid_constant__ Regions q) { steps_of<SUMS>(p, q, nullptr, 0); }
extern "C" __global__ void __launch_bounds__(64, BLOCKS > 6 ? 6 : BLOCKS) peaking_steps(Fused p, const __grid_constant__ Regions q) { steps_of<PEAKS>(p, q, nullptr, 0); }
// Steps nothing but what boxes need, and copies these: warps that record among others would make all wait for them
extern "C" __global__ void __launch_bounds__(64, BLOCKS > 6 ? 6 : BLOCKS) copying_steps(Fused p, const __grid_constant__ Regions q, const Piece *pieces, int count) {
    steps_of<COPIES>(p, q, pieces, count);
}
#endif
