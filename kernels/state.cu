// What a wave function tells beside its density, summed where it lies: sums over sites, momenta, the products of its lines.
//
// Sums are taken in double precision, and always in the same order: every block adds up what is its own, and one block adds up the blocks. How many blocks there are depends on the grid alone.
//
// Momenta come from the transform of every line along an axis, in shared memory: radix 4, decimated in frequency, so that numbers stay where they are and come out in reversed
// order of bits. Lines that are no power of two long are transformed as a convolution (Bluestein 1970, DOI 10.1109/TAU.1970.1162132) of at least twice their length; of its
// phases at the end |psi(k)|^2 needs none. Purities come from the products of all pairs of lines, in tiles.
//
// Numbers read: psi once for the sums over sites and psi(0) beside it, once along each axis, and once for each tile of products in a row or column of tiles.
// Limits: twice the transform's length in numbers of shared memory, 128 KB for 8192.
#include "real.cuh"
#include "reduce.cuh"

// psi, as two planes or interleaved: numbers from site to site along x, and from row to row
struct Psi {
    const real *re, *im;
    long long pitch;
    int step;
};

__device__ __forceinline__ double2 value(const Psi &p, size_t row, size_t column) {
    const size_t n = row * p.pitch + column * p.step;
    return {(double)p.re[n], (double)p.im[n]};
}

// Adds up N numbers of every thread of a block, to `out`; threads are whole warps
template <int N> __device__ __forceinline__ void sum_of_block(const double (&mine)[N], double *out) {
    __shared__ double part[N][32];
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, warps = blockDim.x >> 5;
#pragma unroll
    for (int q = 0; q < N; q++) {
        const double sum = sum_of_warp(mine[q]);
        if (lane == 0) part[q][warp] = sum;
    }
    __syncthreads();
    if (warp) return;
#pragma unroll
    for (int q = 0; q < N; q++) {
        const double sum = sum_of_warp(lane < warps ? part[q][lane] : 0.0);
        if (lane == 0) out[q] = sum;
    }
}

// Planes as they are, 16 bytes a thread and turn
extern "C" __global__ void copy(const uint4 *from, uint4 *to, u32 count) {
    for (u32 n = blockIdx.x * blockDim.x + threadIdx.x; n < count; n += gridDim.x * blockDim.x) to[n] = from[n];
}

struct Both {
    Psi psi, start;
    int nx, rows, pieces;  // pieces of PIECE columns a row
    double *parts;
};

enum { PIECE = 1024 };

// Over sites: |psi|^2, |psi|^4, |psi(0)|^2, psi(0)* psi; blocks of 256
extern "C" __global__ void __launch_bounds__(256) sites(const Both p) {
    double sums[5] = {};
    for (int item = blockIdx.x; item < p.rows * p.pieces; item += gridDim.x) {
        const int row = item / p.pieces, first = (item - row * p.pieces) * PIECE;
#pragma unroll
        for (int part = 0; part < PIECE; part += 256) {
            const int i = first + part + threadIdx.x;
            if (i >= p.nx) continue;
            const double2 z = value(p.psi, row, i), s = value(p.start, row, i);
            const double density = z.x * z.x + z.y * z.y;
            sums[0] += density, sums[1] += density * density, sums[2] += s.x * s.x + s.y * s.y;
            sums[3] += s.x * z.x + s.y * z.y, sums[4] += s.x * z.y - s.y * z.x;
        }
    }
    sum_of_block(sums, p.parts + blockIdx.x * 5);
}

struct Lines {
    Psi psi;
    int size[3];
    int axis;
    int sites, count;     // of a line; lines
    int length;           // of a transform, a power of two
    int together;         // lines of a block at a time, a power of two
    int chirped;          // whether a transform is a convolution
    const double2 *turns;    // e^{-2 pi i n/length}, n < length/2
    const double2 *chirp;    // e^{-pi i n^2/sites}, n < sites
    const double2 *filter;   // the transform of its conjugate over `length`, bits reversed
    const double2 *momenta;  // k (0 at the edge of the band) and k^2, in the order in which numbers come out
    double spacing;
    double *parts;
};

__device__ __forceinline__ double2 product(double2 a, double2 b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }
__device__ __forceinline__ double2 conjugate(double2 a) { return {a.x, -a.y}; }

// Numbers of lines in shared memory, parts apart; a line begins one place behind a multiple of its length, so that neighbours lie in other banks
struct Shared {
    double *re, *im;
    __device__ __forceinline__ double2 get(int n) const { return {re[n], im[n]}; }
    __device__ __forceinline__ void put(int n, double2 z) const { re[n] = z.x, im[n] = z.y; }
};

// A stage of two numbers, which lie half a line apart
__device__ __forceinline__ void by_two(const Shared &x, const Lines &p, int bits, bool back) {
    const int half = p.length >> 1;
    for (int b = threadIdx.x; b < p.together * half; b += blockDim.x) {
        const int line = b >> (bits - 1), j = b & (half - 1), at = line * (p.length + 1) + j;
        const double2 a = x.get(at), c = x.get(at + half), w = p.turns[j];
        if (back) {
            const double2 d = product(c, conjugate(w));
            x.put(at, {a.x + d.x, a.y + d.y}), x.put(at + half, {a.x - d.x, a.y - d.y});
        } else {
            x.put(at, {a.x + c.x, a.y + c.y}), x.put(at + half, product({a.x - c.x, a.y - c.y}, w));
        }
    }
    __syncthreads();
}

// Two stages at once: of four numbers that lie `quarter` apart
__device__ __forceinline__ void by_four(const Shared &x, const Lines &p, int bits, int quarter_bits, bool back) {
    const int quarter = 1 << quarter_bits;
    for (int b = threadIdx.x; b < p.together * (p.length >> 2); b += blockDim.x) {
        const int line = b >> (bits - 2), within = b & ((p.length >> 2) - 1), j = within & (quarter - 1);
        const int at = line * (p.length + 1) + ((within - j) << 2) + j;
        const double2 w = p.turns[j << (bits - 2 - quarter_bits)], w2 = p.turns[j << (bits - 1 - quarter_bits)];
        const double2 a = x.get(at), b1 = x.get(at + quarter), c = x.get(at + 2 * quarter), d = x.get(at + 3 * quarter);
        if (back) {
            const double2 v2 = conjugate(w2), v = conjugate(w), bt = product(b1, v2), dt = product(d, v2);
            const double2 s0 = {a.x + bt.x, a.y + bt.y}, s1 = {a.x - bt.x, a.y - bt.y};
            const double2 t0 = product({c.x + dt.x, c.y + dt.y}, v), t = product({c.x - dt.x, c.y - dt.y}, v), t1 = {-t.y, t.x};
            x.put(at, {s0.x + t0.x, s0.y + t0.y}), x.put(at + 2 * quarter, {s0.x - t0.x, s0.y - t0.y});
            x.put(at + quarter, {s1.x + t1.x, s1.y + t1.y}), x.put(at + 3 * quarter, {s1.x - t1.x, s1.y - t1.y});
        } else {
            const double2 s0 = {a.x + c.x, a.y + c.y}, s1 = {b1.x + d.x, b1.y + d.y};
            const double2 t0 = product({a.x - c.x, a.y - c.y}, w), t1 = product({b1.y - d.y, d.x - b1.x}, w);
            x.put(at, {s0.x + s1.x, s0.y + s1.y}), x.put(at + quarter, product({s0.x - s1.x, s0.y - s1.y}, w2));
            x.put(at + 2 * quarter, {t0.x + t1.x, t0.y + t1.y}), x.put(at + 3 * quarter, product({t0.x - t1.x, t0.y - t1.y}, w2));
        }
    }
    __syncthreads();
}

__device__ __forceinline__ void forwards(const Shared &x, const Lines &p, int bits) {
    if (bits & 1) by_two(x, p, bits, false);
    for (int quarter = (bits & ~1) - 2; quarter >= 0; quarter -= 2) by_four(x, p, bits, quarter, false);
}

__device__ __forceinline__ void backwards(const Shared &x, const Lines &p, int bits) {
    for (int quarter = 0; quarter < (bits & ~1); quarter += 2) by_four(x, p, bits, quarter, true);
    if (bits & 1) by_two(x, p, bits, true);
}

// Over the transforms of lines along an axis: |psi|^2, k |psi|^2, k^2 |psi|^2, and k |psi|^2 times the line's distance from the middle along the other axis of the plane; each is
// to be divided by the sites of a line, and a convolution's by its length squared
extern "C" __global__ void __launch_bounds__(512) lines(const Lines p) {
    extern __shared__ double room[];
    const int bits = 31 - __clz(p.length), stride = p.length + 1, all = p.together * p.length;
    const Shared x = {room, room + p.together * stride};
    const int inner = p.axis == 0 ? 1 : p.size[0], across = p.axis == 0 ? p.size[1] : p.size[0];
    const double middle = 0.5 * (across - 1);
    double sums[4] = {};
    for (int first = blockIdx.x * p.together; first < p.count; first += gridDim.x * p.together) {
        for (int e = threadIdx.x; e < all; e += blockDim.x) {
            // Neighbouring threads take neighbours in memory.
            const int l = p.axis == 0 ? e >> bits : e & (p.together - 1), n = p.axis == 0 ? e & (p.length - 1) : e / p.together, line = first + l;
            double2 z = {0, 0};
            if (line < p.count && n < p.sites) {
                const int high = line / inner, low = line - high * inner;
                const size_t row = p.axis == 0 ? line : p.axis == 1 ? (size_t)high * p.size[1] + n : high + (size_t)p.size[1] * n;
                z = value(p.psi, row, p.axis == 0 ? n : low);
                if (p.chirped) z = product(z, p.chirp[n]);
            }
            x.put(l * stride + n, z);
        }
        __syncthreads();
        forwards(x, p, bits);
        if (p.chirped) {
            for (int e = threadIdx.x; e < all; e += blockDim.x) {
                const int n = e & (p.length - 1), at = (e >> bits) * stride + n;
                x.put(at, product(x.get(at), p.filter[n]));
            }
            __syncthreads();
            backwards(x, p, bits);
        }
        for (int e = threadIdx.x; e < all; e += blockDim.x) {
            const int l = e >> bits, n = e & (p.length - 1);
            if (n >= p.sites) continue;
            const double2 z = x.get(l * stride + n), k = p.momenta[n];
            const double density = z.x * z.x + z.y * z.y, first_moment = k.x * density;
            const double weight = p.axis > 1 ? 0.0 : ((first + l) % across - middle) * p.spacing;
            sums[0] += density, sums[1] += first_moment, sums[2] += k.y * density, sums[3] += weight * first_moment;
        }
        __syncthreads();
    }
    sum_of_block(sums, p.parts + blockIdx.x * 4);
}

enum { TILE = 64, DEPTH = 16, SIDE = 4 };

// Products of lines: rows, or columns where they are fewer
struct Products {
    Psi psi;
    int count, length;  // lines, numbers of each
    int by_columns;
    int slices, each;   // parts of the lines, and numbers of each, a multiple of DEPTH
    double2 *tiles;     // a tile a pair of tiles and slice, where there are several slices
    double *parts;      // a number a pair of tiles
};

// Of a pair of tiles numbered along the lower triangle: the row
__device__ __forceinline__ int row_of_pair(int pair) {
    int a = (int)((sqrt(8.0 * pair + 1.0) - 1.0) * 0.5);
    while (a * (a + 1) / 2 > pair) a--;
    while ((a + 1) * (a + 2) / 2 <= pair) a++;
    return a;
}

// The products <a|b> of a pair of tiles over a slice; blocks of 256 threads with SIDE x SIDE products each
extern "C" __global__ void __launch_bounds__(256) products(const Products p) {
    __shared__ double re[2][DEPTH][TILE + 1], im[2][DEPTH][TILE + 1];
    const int pair = blockIdx.x / p.slices, slice = blockIdx.x - pair * p.slices, a = row_of_pair(pair), b = pair - a * (a + 1) / 2;
    const int from = slice * p.each, to = min(from + p.each, p.length), tx = threadIdx.x & 15, ty = threadIdx.x >> 4;
    double2 sums[SIDE][SIDE] = {};
    for (int base = from; base < to; base += DEPTH) {
#pragma unroll
        for (int side = 0; side < 2; side++)
#pragma unroll
            for (int e = threadIdx.x; e < DEPTH * TILE; e += 256) {
                const int l = p.by_columns ? e % TILE : e / DEPTH, k = p.by_columns ? e / TILE : e % DEPTH;
                const int line = (side ? b : a) * TILE + l, n = base + k;
                double2 z = {0, 0};
                if (line < p.count && n < to) z = p.by_columns ? value(p.psi, n, line) : value(p.psi, line, n);
                re[side][k][l] = z.x, im[side][k][l] = z.y;
            }
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < DEPTH; k++) {
            double2 u[SIDE], v[SIDE];
#pragma unroll
            for (int i = 0; i < SIDE; i++) u[i] = {re[0][k][ty + 16 * i], im[0][k][ty + 16 * i]}, v[i] = {re[1][k][tx + 16 * i], im[1][k][tx + 16 * i]};
#pragma unroll
            for (int i = 0; i < SIDE; i++)
#pragma unroll
                for (int j = 0; j < SIDE; j++) {
                    sums[i][j].x += u[i].x * v[j].x + u[i].y * v[j].y;
                    sums[i][j].y += u[i].x * v[j].y - u[i].y * v[j].x;
                }
        }
        __syncthreads();
    }
    double square[1] = {};
#pragma unroll
    for (int i = 0; i < SIDE; i++)
#pragma unroll
        for (int j = 0; j < SIDE; j++) {
            if (p.slices > 1) p.tiles[(size_t)blockIdx.x * TILE * TILE + (ty + 16 * i) * TILE + tx + 16 * j] = sums[i][j];
            square[0] += sums[i][j].x * sums[i][j].x + sums[i][j].y * sums[i][j].y;
        }
    if (p.slices > 1) return;
    square[0] *= a == b ? 1 : 2;
    sum_of_block(square, p.parts + pair);
}

// |<a|b>|^2 over a pair of tiles, twice where the pair stands for both sides; a block of 256 a pair
extern "C" __global__ void __launch_bounds__(256) squares(const Products p) {
    const int pair = blockIdx.x, a = row_of_pair(pair), b = pair - a * (a + 1) / 2;
    const double2 *const tiles = p.tiles + (size_t)pair * p.slices * TILE * TILE;
    double square[1] = {};
    for (int e = threadIdx.x; e < TILE * TILE; e += 256) {
        double2 sum = {0, 0};
        for (int slice = 0; slice < p.slices; slice++) {
            const double2 next = tiles[(size_t)slice * TILE * TILE + e];
            sum.x += next.x, sum.y += next.y;
        }
        square[0] += sum.x * sum.x + sum.y * sum.y;
    }
    square[0] *= a == b ? 1 : 2;
    sum_of_block(square, p.parts + pair);
}

// Adds `count` rows of `width` numbers, always in the same order; a block of 256 a number
extern "C" __global__ void total(const double *parts, int count, int width, double *out) {
    double sum[1] = {};
    for (int n = threadIdx.x; n < count; n += 256) sum[0] += parts[(size_t)n * width + blockIdx.x];
    sum_of_block(sum, out + blockIdx.x);
}
