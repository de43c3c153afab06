//! One pool of worker threads for every method on the processor.
//!
//! The threads flush subnormal numbers to zero, both as operands and as results. A wave packet's tail falls through the
//! smallest normal single (1.2e-38) within a few dozen widths; on subnormal operands an x86 core uses
//! microcode, and the same kernel runs 8 to 20 times slower. Amplitudes of 1e-38 have no physical meaning, so
//! nothing is lost. Rust leaves subnormals on; the setting is per thread (MXCSR on x86-64, FPCR on AArch64), and therefore belongs
//! to the threads that run kernels and to no other.

use crate::platform::THREADS;
use std::sync::OnceLock;

/// Most threads a core, and most that any machine starts.
const MOST_A_CORE: usize = 4;
const MOST_ANYWHERE: usize = 64;

static POOL: OnceLock<Option<rayon::ThreadPool>> = OnceLock::new();

fn pool() -> Option<&'static rayon::ThreadPool> {
    if !THREADS {
        return None;
    }
    POOL.get_or_init(|| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(wanted())
            .thread_name(|n| format!("wave-{n}"))
            .start_handler(|_| flush_subnormals())
            .build()
            .map_err(|error| tracing::warn!("no worker threads ({error}); one thread does everything"))
            .ok()
    })
    .as_ref()
}

/// Threads to start: `RAYON_NUM_THREADS`, or the number of cores. The limit is a few a core, since more only wait for each other.
fn wanted() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let most = (MOST_A_CORE * cores).max(MOST_ANYWHERE);
    let asked = std::env::var("RAYON_NUM_THREADS").ok();
    match asked
        .and_then(|text| text.trim().parse().ok())
        .filter(|count| *count > 0)
    {
        Some(count) if count > most => {
            tracing::warn!("RAYON_NUM_THREADS asks for {count} threads; {most} are started");
            most
        }
        Some(count) => count,
        None => (cores / super::ranks::sharing(cores)).max(1),
    }
}

/// Prepares the pool of parallel loops outside of [`run`], e.g. of encoders, with the same limit.
pub fn limit_others() {
    // A pool that is there already stays as it is.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(wanted()).build_global();
}

/// Runs `work` in the pool, where rayon's parallel iterators use its threads; as many as the machine has cores, or
/// `RAYON_NUM_THREADS`.
pub fn run<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    let (mut work, mut result) = (Some(work), None);
    install(&mut || result = work.take().map(|work| work()));
    let Some(result) = result else {
        unreachable!("the pool returns when the work is done, or panics");
    };
    result
}

/// Enters the pool; not generic, so that it is compiled once and not for each `work`.
fn install(work: &mut (dyn FnMut() + Send)) {
    match pool() {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// Threads in the pool.
pub fn count() -> usize {
    pool().map_or(1, rayon::ThreadPool::current_num_threads)
}

/// Flushes subnormal operands and results to zero on the calling thread.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[allow(
    unsafe_code,
    reason = "MXCSR is reached by two instructions that the language does not offer"
)]
fn flush_subnormals() {
    /// Flush results to zero (bit 15), take subnormal operands as zero (bit 6).
    const FLUSH: u32 = 1 << 15 | 1 << 6;
    let mut control: u32 = 0;
    debug_assert!(size_of_val(&control) == 4, "MXCSR has four bytes");
    // SAFETY: both instructions move four bytes between MXCSR and `control`, which lives through the block. Rounding mode and
    // exception masks keep their values; the thread belongs to this module's pool.
    unsafe {
        std::arch::asm!("stmxcsr [{0}]", in(reg) &raw mut control, options(nostack, preserves_flags));
        control |= FLUSH;
        std::arch::asm!("ldmxcsr [{0}]", in(reg) &raw const control, options(nostack, preserves_flags));
    }
}

/// Flushes subnormal operands and results to zero on the calling thread.
#[cfg(all(target_arch = "aarch64", not(miri)))]
#[allow(
    unsafe_code,
    reason = "FPCR is reached by two instructions that the language does not offer"
)]
fn flush_subnormals() {
    /// FPCR.FZ.
    const FLUSH: u64 = 1 << 24;
    let mut control: u64;
    // SAFETY: both instructions move a register to or from FPCR; only the flush bit changes, on a thread of this module's
    // pool.
    unsafe {
        std::arch::asm!("mrs {0}, fpcr", out(reg) control, options(nomem, nostack, preserves_flags));
        control |= FLUSH;
        std::arch::asm!("msr fpcr, {0}", in(reg) control, options(nomem, nostack, preserves_flags));
    }
}

/// Other processors, and Miri, which has no assembly, keep their setting.
#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
fn flush_subnormals() {}

#[cfg(test)]
mod tests {
    #[test]
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn pool_threads_flush_subnormals() {
        let tiny = std::hint::black_box(f32::MIN_POSITIVE);
        let flushed = super::run(|| std::hint::black_box(tiny) * std::hint::black_box(0.25));
        assert_eq!(flushed.to_bits(), 0);
        // The setting of the caller's own thread does not change.
        assert!(std::hint::black_box(tiny) * std::hint::black_box(0.25) > 0.0);
    }
}
