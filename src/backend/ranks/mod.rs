//! Processes that work on one run together. Every one of them runs the same program and comes to the same calls in the same order; only the first
//! prints and writes.

#[cfg(unix)]
mod launcher;
#[cfg(unix)]
mod mpi;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Communication of the processes of a run. A fault of the network, or the loss of a process, ends all of them.
pub trait Ranks: Send + Sync {
    /// The number of this process, from 0.
    fn rank(&self) -> usize;
    /// Processes.
    fn count(&self) -> usize;
    /// Gathers the bytes of all processes, in the order of their numbers, in every process.
    fn gather(&self, mine: &[u8]) -> Vec<Vec<u8>>;
    /// Sends the first message to the process before and the second to the next one, in a ring; what comes from the one before and from the next one fills `come`.
    /// An empty message is not sent. `meanwhile`, if there is anything to do, runs while they travel.
    fn swap(&self, messages: [&[u8]; 2], come: [&mut [u8]; 2], meanwhile: Option<&mut dyn FnMut()>);
    /// The library, for the user.
    fn describe(&self) -> String;
    /// Waits for the others and ends the communication.
    fn leave(&self);
    /// Ends all processes.
    fn end(&self, code: i32) -> !;
}

static WORLD: OnceLock<Box<dyn Ranks>> = OnceLock::new();

/// The numbers of the processes on this machine that come before this one.
static BEFORE: OnceLock<Vec<usize>> = OnceLock::new();

/// Whether this process works by itself at present.
static ALONE: AtomicBool = AtomicBool::new(false);

/// The other processes of the run, if there are any.
pub fn world() -> Option<&'static dyn Ranks> {
    let all = WORLD.get().filter(|_| !ALONE.load(Ordering::Relaxed));
    all.map(AsRef::as_ref)
}

/// Runs a closure in every process by itself: runs that it makes are not shared, and must end in it.
pub fn alone<R>(work: impl FnOnce() -> R) -> R {
    let before = ALONE.swap(true, Ordering::Relaxed);
    let done = work();
    ALONE.store(before, Ordering::Relaxed);
    done
}

/// Takes part in the run of a launcher that started this process with others, e.g. `mpirun`; without one nothing happens.
///
/// # Errors
/// If no library can be loaded, or it is another launcher's; as a text for the user, with the remedy.
#[cfg(unix)]
pub fn join() -> Result<(), String> {
    if WORLD.get().is_some() {
        return Ok(());
    }
    let Some(launcher) = launcher::Launcher::seen(|key| std::env::var(key).ok()) else {
        return Ok(());
    };
    let all = mpi::open(&launcher)?;
    let machines = all.gather(machine().as_bytes());
    let own = &machines[all.rank()];
    // A second call keeps the first.
    let _ = BEFORE.set((0..all.rank()).filter(|rank| machines[*rank] == *own).collect());
    let _ = WORLD.set(all);
    Ok(())
}

/// What tells this machine from others: the number of its latest start, where the system has one.
#[cfg(unix)]
fn machine() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default()
}

/// The numbers of the processes of the run on this machine that come before this one.
pub fn before_here() -> &'static [usize] {
    BEFORE.get().map_or(&[], Vec::as_slice)
}

/// No launcher of several processes is known here.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn join() -> Result<(), String> {
    let _ = (&WORLD, &BEFORE);
    Ok(())
}

/// How many processes of the same launcher share the `cores` that this one may use: 1 where the launcher has given each its own.
pub fn sharing(cores: usize) -> usize {
    #[cfg(unix)]
    if let Some(launcher) = launcher::Launcher::seen(|key| std::env::var(key).ok()) {
        let all = std::fs::read_to_string("/proc/cpuinfo").map_or(0, |text| text.matches("processor\t").count());
        if cores >= all {
            return launcher.here.unwrap_or(1).max(1);
        }
    }
    let _ = cores;
    1
}

/// Whether this process prints and writes.
pub fn is_first() -> bool {
    WORLD.get().is_none_or(|ranks| ranks.rank() == 0)
}

/// Replaces a value by that of the first process, where measured times or signals could differ.
pub fn agree<const N: usize>(values: [f64; N]) -> [f64; N] {
    let Some(ranks) = world() else { return values };
    let all = ranks.gather(bytemuck::cast_slice(&values));
    let first = all.first().map(|bytes| bytemuck::pod_collect_to_vec::<u8, f64>(bytes));
    first.and_then(|first| first.try_into().ok()).unwrap_or(values)
}
