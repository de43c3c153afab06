//! One row of one step: coefficients and kernels.

use crate::field::Real;

/// C₀ … C₄ of the one-axis second difference of order 2h, in row h: p″ ≈ Σₖ₌₀ Cₖ (p₊ₖ + p₋ₖ), so that C₀ is half a centre weight.
///
/// Source: Levchenko, Perepelkina & Zakirov 2016, doi:10.3390/computation4030029, coefficient table.
pub const COEFFICIENTS: [[f64; 5]; 5] = [
    [0.0; 5],
    [-1.0, 1.0, 0.0, 0.0, 0.0],
    [-5.0 / 4.0, 4.0 / 3.0, -1.0 / 12.0, 0.0, 0.0],
    [-49.0 / 36.0, 3.0 / 2.0, -3.0 / 20.0, 1.0 / 90.0, 0.0],
    [-205.0 / 144.0, 8.0 / 5.0, -1.0 / 5.0, 8.0 / 315.0, -1.0 / 560.0],
];

/// The weights of the first difference at a face, in row h: p′ ≈ Σₘ₌₁ dₘ (p₊ₘ₋½ − p₋ₘ₊½), for the absorbing layers.
///
/// With s = sin²(κ/2) the second difference has the symbol −4s(1 + s/3 + 8s²/45 + 4s³/35), cut off after the term of its order. A layer is stable only if
/// the square of the first difference stays below that for every wave; the usual staggered differences, 2√s(1 + s/6 + 3s²/40 + 5s³/112) cut off
/// likewise, exceed it near the shortest waves, and the layer then amplifies those. So the last weight is chosen such that both
/// agree at the shortest wave, s = 1: 1 + (√(4/3) − 1)s at order 4, 1 + s/6 + 0.0626s² at 6, 1 + s/6 + 3s²/40 + 0.0332s³ at 8.
pub const STAGGERED: [[f64; 4]; 5] = [
    [0.0; 4],
    [1.0, 0.0, 0.0, 0.0],
    [1.1160254037844386, -0.0386751345948128, 0.0, 0.0],
    [1.1641287047744073, -0.0612310190538703, 0.0039128704774407, 0.0],
    [
        1.1900552304450632,
        -0.0760123049337044,
        0.0083235460890125,
        -0.0005194351555731,
    ],
];

/// The largest eigenvalue of −p″ on one axis, times a²: 2|C₀| + 2Σ|Cₖ|, attained at the shortest wave.
#[must_use]
pub fn symbol(half: usize) -> f64 {
    2.0 * COEFFICIENTS[half].iter().map(|c| c.abs()).sum::<f64>()
}

/// The largest c Δt/a at which the scheme is stable: 2/√(rank · [`symbol`]).
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "1 to 3")]
pub fn courant_limit(half: usize, rank: usize) -> f64 {
    2.0 / (rank as f64 * symbol(half)).sqrt()
}

/// The rows that a step of one row reads. All slices are as long as the row, except `x`, which holds `half` sites more at either end.
pub struct Rows<'a, T> {
    /// The row itself with its neighbours along x.
    pub x: &'a [T],
    /// Rows j − k and j + k at [k − 1], in 2D and 3D.
    pub y: [[&'a [T]; 2]; 4],
    /// Rows of planes k − k′ and k + k′, in 3D.
    pub z: [[&'a [T]; 2]; 4],
}

/// λ² of a row.
pub enum Speed<'a, T> {
    /// The same at every site.
    Uniform(T),
    /// One value a site.
    Sites(&'a [T]),
}

/// Steps a row in place: `old` holds pⁿ⁻¹ and gets pⁿ⁺¹ = pⁿ + ((pⁿ − pⁿ⁻¹) + λ² L pⁿ). The inner bracket is small where the wave is
/// well resolved, so that single precision loses one rounding a step and not two.
///
/// # Safety
/// The processor must have the features of the kernel: only [`kernel`] and [`density_kernel`] hand kernels out.
pub type Kernel<T> = unsafe fn(old: &mut [T], rows: &Rows<'_, T>, speed: &Speed<'_, T>);

/// As [`Kernel`] for order 2 with a density per site: pⁿ⁺¹ = pⁿ + ((pⁿ − pⁿ⁻¹) + κ Σ 2 (p′ − p)/(ρ + ρ′)), κ = ρc²Δt²/a².
///
/// # Safety
/// As [`Kernel`].
pub type DensityKernel<T> = unsafe fn(old: &mut [T], rows: &Rows<'_, T>, density: &Rows<'_, T>, kappa: &[T]);

/// The instruction set that kernels use here.
#[must_use]
pub fn instruction_set() -> &'static str {
    match Level::best() {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => "AVX-512",
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => "AVX2",
        Level::Portable => "portable",
    }
}

#[derive(Clone, Copy)]
enum Level {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Portable,
}

impl Level {
    fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") {
                return Self::Avx512;
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                return Self::Avx2;
            }
        }
        Self::Portable
    }
}

/// Whether the portable kernels may fuse multiply-adds: on AArch64 every core can.
const PORTABLE_FUSES: bool = cfg!(target_arch = "aarch64");

/// The fastest kernel of half width `half` (1 to 4) in `rank` dimensions.
#[must_use]
pub fn kernel<T: Real>(half: usize, rank: usize) -> Kernel<T> {
    match half {
        1 => by_rank::<T, 1>(rank),
        2 => by_rank::<T, 2>(rank),
        3 => by_rank::<T, 3>(rank),
        _ => by_rank::<T, 4>(rank),
    }
}

fn by_rank<T: Real, const H: usize>(rank: usize) -> Kernel<T> {
    match rank {
        1 => by_level::<T, H, 1>(),
        2 => by_level::<T, H, 2>(),
        _ => by_level::<T, H, 3>(),
    }
}

fn by_level<T: Real, const H: usize, const D: usize>() -> Kernel<T> {
    match Level::best() {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => x86::row_avx512::<T, H, D>,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => x86::row_avx2::<T, H, D>,
        Level::Portable => row_portable::<T, H, D>,
    }
}

/// The fastest kernel with a density per site.
#[must_use]
pub fn density_kernel<T: Real>(rank: usize) -> DensityKernel<T> {
    match rank {
        1 => density_by_level::<T, 1>(),
        2 => density_by_level::<T, 2>(),
        _ => density_by_level::<T, 3>(),
    }
}

fn density_by_level<T: Real, const D: usize>() -> DensityKernel<T> {
    match Level::best() {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => x86::density_avx512::<T, D>,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => x86::density_avx2::<T, D>,
        Level::Portable => density_portable::<T, D>,
    }
}

fn row_portable<T: Real, const H: usize, const D: usize>(old: &mut [T], rows: &Rows<'_, T>, speed: &Speed<'_, T>) {
    row::<T, H, D, PORTABLE_FUSES>(old, rows, speed);
}

fn density_portable<T: Real, const D: usize>(old: &mut [T], rows: &Rows<'_, T>, density: &Rows<'_, T>, kappa: &[T]) {
    density_row::<T, D, PORTABLE_FUSES>(old, rows, density, kappa);
}

/// The same loops, compiled for wider registers.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "functions that need processor features are unsafe to call")]
mod x86 {
    use super::{Real, Rows, Speed, density_row, row};

    #[target_feature(enable = "avx512f")]
    pub fn row_avx512<T: Real, const H: usize, const D: usize>(
        old: &mut [T],
        rows: &Rows<'_, T>,
        speed: &Speed<'_, T>,
    ) {
        row::<T, H, D, true>(old, rows, speed);
    }

    #[target_feature(enable = "avx2,fma")]
    pub fn row_avx2<T: Real, const H: usize, const D: usize>(old: &mut [T], rows: &Rows<'_, T>, speed: &Speed<'_, T>) {
        row::<T, H, D, true>(old, rows, speed);
    }

    #[target_feature(enable = "avx512f")]
    pub fn density_avx512<T: Real, const D: usize>(
        old: &mut [T],
        rows: &Rows<'_, T>,
        density: &Rows<'_, T>,
        kappa: &[T],
    ) {
        density_row::<T, D, true>(old, rows, density, kappa);
    }

    #[target_feature(enable = "avx2,fma")]
    pub fn density_avx2<T: Real, const D: usize>(
        old: &mut [T],
        rows: &Rows<'_, T>,
        density: &Rows<'_, T>,
        kappa: &[T],
    ) {
        density_row::<T, D, true>(old, rows, density, kappa);
    }
}

/// a·b + c, in one rounding where the processor does that in one instruction.
#[inline(always)]
fn fma<T: Real, const FUSED: bool>(a: T, b: T, c: T) -> T {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// Sites that a kernel steps at once: a whole AVX-512 register in single precision, two in double.
const LANES: usize = 16;

/// `LANES` values from place `at` on.
#[inline(always)]
fn load<T: Real>(from: &[T], at: usize) -> [T; LANES] {
    debug_assert!(at + LANES <= from.len());
    #[allow(unsafe_code, reason = "a bounds check per load would cost more than the load")]
    // SAFETY: `row` cuts every slice to the length of the row (plus ghosts for `x`) before, and asks for places inside.
    unsafe {
        from.as_ptr().add(at).cast::<[T; LANES]>().read_unaligned()
    }
}

#[inline(always)]
fn row<T: Real, const H: usize, const D: usize, const FUSED: bool>(
    old: &mut [T],
    rows: &Rows<'_, T>,
    speed: &Speed<'_, T>,
) {
    let n = old.len();
    let x = &rows.x[..n + 2 * H];
    let y: [[&[T]; 2]; H] =
        std::array::from_fn(|k| [0, 1].map(|side| if D > 1 { &rows.y[k][side][..n] } else { &x[..n] }));
    let z: [[&[T]; 2]; H] =
        std::array::from_fn(|k| [0, 1].map(|side| if D > 2 { &rows.z[k][side][..n] } else { &x[..n] }));
    let squares = match speed {
        Speed::Uniform(_) => None,
        Speed::Sites(squares) => Some(&squares[..n]),
    };
    let uniform = match speed {
        Speed::Uniform(square) => *square,
        Speed::Sites(_) => T::of(0.0),
    };
    let centre = T::of(f64::from([0u8, 2, 4, 6][D]) * COEFFICIENTS[H][0]);
    let whole = n - n % LANES;
    for i in (0..whole).step_by(LANES) {
        let here = load(x, i + H);
        let mut sum = here.map(|p| centre * p);
        for k in 1..=H {
            let (left, right) = (load(x, i + H - k), load(x, i + H + k));
            let mut pairs: [T; LANES] = std::array::from_fn(|l| left[l] + right[l]);
            if D > 1 {
                let (below, above) = (load(y[k - 1][0], i), load(y[k - 1][1], i));
                pairs = std::array::from_fn(|l| pairs[l] + (below[l] + above[l]));
            }
            if D > 2 {
                let (below, above) = (load(z[k - 1][0], i), load(z[k - 1][1], i));
                pairs = std::array::from_fn(|l| pairs[l] + (below[l] + above[l]));
            }
            sum = std::array::from_fn(|l| fma::<T, FUSED>(T::of(COEFFICIENTS[H][k]), pairs[l], sum[l]));
        }
        let square = squares.map_or([uniform; LANES], |squares| load(squares, i));
        let before = load(old, i);
        let after: [T; LANES] =
            std::array::from_fn(|l| here[l] + fma::<T, FUSED>(square[l], sum[l], here[l] - before[l]));
        old[i..i + LANES].copy_from_slice(&after);
    }
    // The rest of the row, in the same order of operations.
    for i in whole..n {
        let here = x[i + H];
        let mut sum = centre * here;
        for k in 1..=H {
            let mut pairs = x[i + H - k] + x[i + H + k];
            if D > 1 {
                pairs += y[k - 1][0][i] + y[k - 1][1][i];
            }
            if D > 2 {
                pairs += z[k - 1][0][i] + z[k - 1][1][i];
            }
            sum = fma::<T, FUSED>(T::of(COEFFICIENTS[H][k]), pairs, sum);
        }
        let square = squares.map_or(uniform, |squares| squares[i]);
        old[i] = here + fma::<T, FUSED>(square, sum, here - old[i]);
    }
}

#[inline(always)]
fn density_row<T: Real, const D: usize, const FUSED: bool>(
    old: &mut [T],
    rows: &Rows<'_, T>,
    density: &Rows<'_, T>,
    kappa: &[T],
) {
    let n = old.len();
    let (x, rho_x, kappa) = (&rows.x[..n + 2], &density.x[..n + 2], &kappa[..n]);
    let y = [0, 1].map(|side| if D > 1 { &rows.y[0][side][..n] } else { &x[..n] });
    let z = [0, 1].map(|side| if D > 2 { &rows.z[0][side][..n] } else { &x[..n] });
    let rho_y = [0, 1].map(|side| if D > 1 { &density.y[0][side][..n] } else { &x[..n] });
    let rho_z = [0, 1].map(|side| if D > 2 { &density.z[0][side][..n] } else { &x[..n] });
    for i in 0..n {
        let (here, rho) = (x[i + 1], rho_x[i + 1]);
        let face = |p: T, r: T| (p - here) / (rho + r);
        let mut sum = face(x[i], rho_x[i]) + face(x[i + 2], rho_x[i + 2]);
        if D > 1 {
            sum += face(y[0][i], rho_y[0][i]) + face(y[1][i], rho_y[1][i]);
        }
        if D > 2 {
            sum += face(z[0][i], rho_z[0][i]) + face(z[1][i], rho_z[1][i]);
        }
        old[i] = here + fma::<T, FUSED>(kappa[i], sum + sum, here - old[i]);
    }
}
