//! Launches of a stream that wait for one another, so that many go to the driver at once.
//!
//! A launch takes the driver longer than a kernel of a small grid runs: 2.9 µs on an H100 in a virtual machine, where kernels in a graph follow each other every
//! 1.25 µs, and new arguments for one of them take the host 0.55 µs. So launches are collected and submitted as chains: graphs of a fixed length in which each kernel
//! waits for the one before. A chain is made once; before each use the arguments and kernels that differ are replaced. What a kernel does, and in which order
//! they run, stays the same.

use super::{CudaError, Device, failed};
use cudarc::driver::{CudaStream, DeviceRepr, DriverError, result, sys};
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Kernels of a chain, the longest first: multiples of what one, two and more steps launch, so that most arguments do not change from one use to the next.
const LENGTHS: [usize; 2] = [60, 12];

/// A kernel's arguments, copied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    bytes: Vec<u8>,
    /// Where each begins.
    starts: Vec<usize>,
}

impl Arguments {
    /// Appends one.
    #[allow(unsafe_code, reason = "arguments are bytes to the driver")]
    pub fn arg<T: DeviceRepr>(&mut self, value: &T) -> &mut Self {
        let (start, size) = (self.bytes.len(), size_of::<T>());
        self.starts.push(start);
        self.bytes.resize(start + size, 0);
        debug_assert!(self.bytes.len() - start == size, "{size} bytes");
        // SAFETY: there is room for `size` bytes, and `value` has as many; types of arguments are numbers and structs of numbers.
        unsafe {
            std::ptr::copy_nonoverlapping(
                std::ptr::from_ref(value).cast::<u8>(),
                self.bytes[start..].as_mut_ptr(),
                size,
            );
        }
        self
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.starts.clear();
    }

    /// Pointers to them, as the driver takes them; valid until they change.
    fn pointers(&mut self) -> Vec<*mut c_void> {
        let bytes = &mut self.bytes;
        let pointer = |start: &usize| bytes[*start..].as_mut_ptr().cast::<c_void>();
        self.starts.iter().map(pointer).collect()
    }
}

/// A queued launch.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Launch {
    function: sys::CUfunction,
    name: &'static str,
    grid: (u32, u32, u32),
    threads: u32,
    shared: u32,
    arguments: Arguments,
}

impl Launch {
    /// What a node of a graph takes; `arguments` point to its own.
    fn parameters(&self, arguments: &mut [*mut c_void]) -> sys::CUDA_KERNEL_NODE_PARAMS {
        sys::CUDA_KERNEL_NODE_PARAMS {
            func: self.function,
            gridDimX: self.grid.0,
            gridDimY: self.grid.1,
            gridDimZ: self.grid.2,
            blockDimX: self.threads,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: self.shared,
            kernelParams: arguments.as_mut_ptr(),
            extra: std::ptr::null_mut(),
            kern: std::ptr::null_mut(),
            ctx: std::ptr::null_mut(),
        }
    }

    /// Submits this launch alone.
    #[allow(unsafe_code, reason = "a launch hands addresses to the device")]
    fn put_in(&mut self, stream: sys::CUstream) -> Result<(), CudaError> {
        let mut pointers = self.arguments.pointers();
        let threads = (self.threads, 1, 1);
        // SAFETY: the caller of `Queue::push` promised that the arguments are those of the kernel, and buffers live until the launch is submitted (`Buffer::drop`).
        unsafe { result::launch_kernel(self.function, self.grid, threads, self.shared, stream, &mut pointers) }
            .map_err(|error| failed(format!("kernel {}", self.name), &error))
    }
}

/// A graph of kernels, each of which waits for the one before.
struct Chain {
    graph: sys::CUgraph,
    ready: sys::CUgraphExec,
    nodes: Vec<sys::CUgraphNode>,
    /// Its present kernels.
    held: Vec<Launch>,
}

impl Chain {
    #[allow(unsafe_code, reason = "the driver's library is C")]
    fn new(launches: &mut [Launch]) -> Result<Self, DriverError> {
        let mut chain = Self {
            graph: std::ptr::null_mut(),
            ready: std::ptr::null_mut(),
            nodes: Vec::with_capacity(launches.len()),
            held: launches.to_vec(),
        };
        // SAFETY: all pointers live through the calls, which copy what they point to; for the arguments see `Launch::put_in`.
        unsafe {
            sys::cuGraphCreate(&raw mut chain.graph, 0).result()?;
            for launch in launches {
                let mut pointers = launch.arguments.pointers();
                let parameters = launch.parameters(&mut pointers);
                let (before, count) = match chain.nodes.last() {
                    Some(before) => (std::ptr::from_ref(before), 1),
                    None => (std::ptr::null(), 0),
                };
                let mut node = std::ptr::null_mut();
                sys::cuGraphAddKernelNode_v2(&raw mut node, chain.graph, before, count, &raw const parameters)
                    .result()?;
                chain.nodes.push(node);
            }
            sys::cuGraphInstantiateWithFlags(&raw mut chain.ready, chain.graph, 0).result()?;
        }
        Ok(chain)
    }

    /// Exchanges its kernels with `launches`, of the same number. After an error the chain must be dropped.
    #[allow(unsafe_code, reason = "the driver's library is C")]
    fn take(&mut self, launches: &mut [Launch]) -> Result<(), DriverError> {
        debug_assert!(launches.len() == self.nodes.len(), "{} kernels", launches.len());
        for (node, (held, launch)) in self.nodes.iter().zip(self.held.iter().zip(&mut *launches)) {
            if held == launch {
                continue;
            }
            let mut pointers = launch.arguments.pointers();
            let parameters = launch.parameters(&mut pointers);
            // SAFETY: the node is one of the graph that `ready` was made from; what is under way keeps its arguments.
            unsafe { sys::cuGraphExecKernelNodeSetParams_v2(self.ready, *node, &raw const parameters) }.result()?;
        }
        self.held.swap_with_slice(launches);
        Ok(())
    }
}

impl Drop for Chain {
    #[allow(unsafe_code, reason = "the driver's library is C")]
    fn drop(&mut self) {
        // SAFETY: both are this chain's own or null; the driver lets what is under way come to its end.
        unsafe {
            if !self.ready.is_null() {
                let _ = sys::cuGraphExecDestroy(self.ready);
            }
            if !self.graph.is_null() {
                let _ = sys::cuGraphDestroy(self.graph);
            }
        }
    }
}

/// The queued launches, and the chains.
struct Waiting {
    /// The first `count` are queued; the others keep their memory for later launches.
    launches: Vec<Launch>,
    count: usize,
    chains: [Option<Chain>; LENGTHS.len()],
    /// Whether the driver takes chains.
    chained: bool,
    /// An error that could not be returned; the next call returns it.
    failure: Option<CudaError>,
}

// SAFETY: functions and graphs belong to the context, not to a thread; whoever uses them binds it first.
#[allow(unsafe_code, reason = "the driver's handles are pointers")]
unsafe impl Send for Waiting {}

/// The launches of a stream.
pub(super) struct Queue {
    device: &'static Device,
    stream: Arc<CudaStream>,
    waiting: Mutex<Waiting>,
    /// Counts launches and waits.
    puts: AtomicU64,
}

impl Queue {
    pub(super) fn new(device: &'static Device, stream: Arc<CudaStream>) -> Self {
        Self {
            device,
            stream,
            puts: AtomicU64::new(0),
            waiting: Mutex::new(Waiting {
                launches: Vec::new(),
                count: 0,
                chains: [const { None }; LENGTHS.len()],
                chained: true,
                failure: None,
            }),
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The stream, after everything queued so far was submitted to it.
    ///
    /// # Errors
    /// If the driver refuses one of those launches.
    pub(super) fn stream(&self) -> Result<&Arc<CudaStream>, CudaError> {
        self.puts.fetch_add(1, Ordering::Relaxed);
        self.flush()?;
        Ok(&self.stream)
    }

    /// A number that changes with every launch that is queued and every wait.
    pub(super) fn puts(&self) -> u64 {
        self.puts.load(Ordering::Relaxed)
    }

    /// Submits everything that is queued.
    ///
    /// # Errors
    /// If the driver refuses a launch, with its kernel's name.
    pub(super) fn flush(&self) -> Result<(), CudaError> {
        self.put_in(&mut self.waiting())
    }

    /// As [`Queue::flush`]; an error is kept for the next call.
    pub(super) fn flush_and_keep_failure(&self) {
        let mut waiting = self.waiting();
        if let Err(error) = self.put_in(&mut waiting) {
            waiting.failure = Some(error);
        }
    }

    /// Queues a launch at the end.
    ///
    /// # Safety
    /// The arguments must be those of the kernel, their addresses must belong to living buffers of this stream that are as large as the kernel takes them to be.
    ///
    /// # Errors
    /// As [`Queue::flush`].
    #[allow(unsafe_code, reason = "a launch hands addresses to the device")]
    pub(super) unsafe fn push(
        &self,
        (function, name): (sys::CUfunction, &'static str),
        grid: (u32, u32, u32),
        (threads, shared): (u32, u32),
        arguments: impl FnOnce(&mut Arguments),
    ) -> Result<(), CudaError> {
        self.puts.fetch_add(1, Ordering::Relaxed);
        let mut waiting = self.waiting();
        let at = waiting.count;
        let mut own = waiting
            .launches
            .get_mut(at)
            .map_or_else(Arguments::default, |launch| std::mem::take(&mut launch.arguments));
        own.clear();
        arguments(&mut own);
        let launch = Launch {
            function,
            name,
            grid,
            threads,
            shared,
            arguments: own,
        };
        match waiting.launches.get_mut(at) {
            Some(place) => *place = launch,
            None => waiting.launches.push(launch),
        }
        waiting.count += 1;
        if waiting.count == LENGTHS[0] {
            return self.put_in(&mut waiting);
        }
        Ok(())
    }

    fn put_in(&self, waiting: &mut Waiting) -> Result<(), CudaError> {
        if let Some(error) = waiting.failure.take() {
            return Err(error);
        }
        let count = std::mem::take(&mut waiting.count);
        if count == 0 {
            return Ok(());
        }
        let bound = self.device.context.bind_to_thread();
        bound.map_err(|error| failed("putting kernels in", &error))?;
        let mut from = 0;
        for (n, length) in LENGTHS.into_iter().enumerate() {
            while waiting.chained && count - from >= length {
                let launches = &mut waiting.launches[from..from + length];
                // If the driver refuses a chain, its kernels are submitted one by one.
                waiting.chained = self.put_in_chain(&mut waiting.chains[n], launches)?;
                from += if waiting.chained { length } else { 0 };
            }
        }
        let rest = &mut waiting.launches[from..count];
        rest.iter_mut()
            .try_for_each(|launch| launch.put_in(self.stream.cu_stream()))
    }

    /// Submits launches as one chain; returns whether that was possible.
    #[allow(unsafe_code, reason = "the driver's library is C")]
    fn put_in_chain(&self, chain: &mut Option<Chain>, launches: &mut [Launch]) -> Result<bool, CudaError> {
        let name = launches.last().map_or("none", |launch| launch.name);
        // A kernel that cannot replace another one in a chain may be part of a new chain.
        let old = chain.take().and_then(|mut old| old.take(launches).ok().map(|()| old));
        let Ok(ready) = old.map_or_else(|| Chain::new(launches), Ok) else {
            return Ok(false);
        };
        let ready = chain.insert(ready);
        // SAFETY: the graph was made for this context, to which the stream belongs.
        unsafe { sys::cuGraphLaunch(ready.ready, self.stream.cu_stream()) }
            .result()
            .map_err(|error| failed(format!("kernel {name} or one before it"), &error))?;
        Ok(true)
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // Graphs are destroyed in their context.
        let _ = self.device.context.bind_to_thread();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_copied_one_after_the_other() {
        let mut own = Arguments::default();
        own.arg(&7_i32).arg(&[1.5_f64, 2.5]).arg(&3_u8);
        assert_eq!(own.starts, [0, 4, 20]);
        let pointers = own.pointers();
        let first = own.bytes.as_ptr() as usize;
        assert!(
            pointers
                .iter()
                .zip([0, 4, 20])
                .all(|(at, start)| *at as usize == first + start)
        );
        assert_eq!(own.bytes[..4], 7_i32.to_ne_bytes());
        assert_eq!(own.bytes[12..20], 2.5_f64.to_ne_bytes());
        own.clear();
        own.arg(&1_u64);
        assert_eq!((own.bytes.len(), &own.starts[..]), (8, &[0][..]));
    }

    #[test]
    fn chains_take_what_a_few_steps_launch() {
        assert!(LENGTHS.is_sorted_by(|longer, shorter| longer > shorter));
        // Steps of one to six launches, by pairs for two levels that change places.
        for launches in [1, 2, 3, 4, 6] {
            assert!(LENGTHS.iter().all(|length| length % launches == 0));
        }
    }
}
