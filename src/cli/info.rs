//! `ripplon info`: the processor, devices and adapters of this machine.

use crate::backend::ranks;
use crate::solver::{self, Backend, METHODS};
use crate::units;
use clap::Args;
use std::fmt::Write as _;
use std::io::Write as _;

/// No options.
#[derive(Args, Debug)]
pub struct InfoArgs {}

pub(super) fn run(_args: &InfoArgs) -> anyhow::Result<()> {
    let mut text = format!(
        "ripplon {} ({}, {})\n",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH
    );
    processor(&mut text);
    if let (Some(total), Some(free)) = (memory_line("MemTotal"), solver::free_memory()) {
        let _ = writeln!(text, "memory      {}, {} free", units::bytes(total), units::bytes(free));
    }
    cuda(&mut text);
    nccl(&mut text);
    graphics(&mut text);
    if let Some(ranks) = ranks::world() {
        text = of_all(ranks, &text);
        if !ranks::is_first() {
            return Ok(());
        }
    }
    super::ignore_closed_pipe(std::io::stdout().write_all(text.as_bytes()))
}

/// What each process of a launcher has; processes with the same are listed together.
fn of_all(ranks: &dyn ranks::Ranks, own: &str) -> String {
    let mut groups: Vec<(Vec<String>, Vec<u8>)> = Vec::new();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let own = format!("host        {}\n{own}", host.trim());
    for (rank, text) in ranks.gather(own.as_bytes()).into_iter().enumerate() {
        match groups.iter_mut().find(|(_, known)| *known == text) {
            Some((members, _)) => members.push(rank.to_string()),
            None => groups.push((vec![rank.to_string()], text)),
        }
    }
    let mut all = format!("MPI         {} processes, {}\n", ranks.count(), ranks.describe());
    for (members, text) in groups {
        let _ = writeln!(all, "\nprocess {}", members.join(", "));
        all.push_str(&String::from_utf8_lossy(&text));
    }
    all
}

/// Name, cores, vector units, caches.
fn processor(text: &mut String) {
    let name = crate::backend::machine::processor_name();
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let _ = writeln!(text, "processor   {name}, {threads} threads for this program");
    let features = vector_features();
    let features = if features.is_empty() {
        "none known".to_owned()
    } else {
        features.join(", ")
    };
    let _ = writeln!(text, "vectors     {features}");
    let caches = caches();
    if !caches.is_empty() {
        let _ = writeln!(text, "caches      {}", caches.join(", "));
    }
}

/// Whether methods of this build run on NVIDIA devices.
fn cuda(text: &mut String) {
    let methods: Vec<&str> = METHODS
        .iter()
        .filter(|method| method.targets.iter().any(|target| target.backend == Backend::Cuda))
        .map(|method| method.id)
        .collect();
    let line = match Backend::Cuda.availability() {
        Err(reason) => format!("not used: {reason}"),
        Ok(()) => format!("{}; {}", device(), methods.join(", ")),
    };
    let _ = writeln!(text, "CUDA        {line}");
}

/// The NVIDIA devices in one line.
#[cfg(feature = "cuda")]
fn device() -> String {
    use crate::backend::cuda;
    let described = |number| cuda::device_at(number).map_or_else(ToOwned::to_owned, cuda::Device::describe);
    let all: Vec<String> = (0..cuda::count().max(1)).map(described).collect();
    if let [one] = &all[..] {
        return one.clone();
    }
    let numbered = all.iter().enumerate();
    let lines: Vec<String> = numbered
        .map(|(number, text)| format!("device {number}: {text}"))
        .collect();
    lines.join("; ")
}

/// How processes of a launcher send ghost rows from device to device, where there are devices.
fn nccl(text: &mut String) {
    #[cfg(feature = "cuda")]
    if ranks::world().is_some() && Backend::Cuda.availability().is_ok() {
        let _ = writeln!(text, "NCCL        {}", crate::backend::cuda::describe_nccl());
    }
    #[cfg(not(feature = "cuda"))]
    let _ = text;
}

/// This build knows no device.
#[cfg(not(feature = "cuda"))]
fn device() -> String {
    String::new()
}

/// The vector instructions that methods can choose from.
fn vector_features() -> Vec<&'static str> {
    #[cfg(target_arch = "x86_64")]
    {
        [
            ("SSE2", is_x86_feature_detected!("sse2")),
            ("AVX", is_x86_feature_detected!("avx")),
            ("AVX2", is_x86_feature_detected!("avx2")),
            ("FMA", is_x86_feature_detected!("fma")),
            ("AVX-512F", is_x86_feature_detected!("avx512f")),
            ("AVX-512VL", is_x86_feature_detected!("avx512vl")),
            ("AVX-512DQ", is_x86_feature_detected!("avx512dq")),
        ]
        .into_iter()
        .filter_map(|(name, there)| there.then_some(name))
        .collect()
    }
    #[cfg(target_arch = "aarch64")]
    {
        vec!["NEON"]
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        Vec::new()
    }
}

/// The first processor's caches as Linux describes them; elsewhere nothing.
fn caches() -> Vec<String> {
    let mut found = Vec::new();
    for index in 0..8 {
        let read = |what: &str| {
            let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{what}");
            std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
        };
        let (Some(level), Some(kind), Some(size)) = (read("level"), read("type"), read("size")) else {
            break;
        };
        if kind != "Instruction" {
            found.push(format!("L{level} {size}"));
        }
    }
    found
}

/// Bytes of a line of Linux's description of the memory; elsewhere nothing.
fn memory_line(key: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with(key))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

/// The adapters that the window could draw with and methods step on, with the numbers by which `--adapter` knows them.
#[cfg(feature = "gui")]
fn graphics(text: &mut String) {
    let adapters = crate::backend::wgpu::adapters();
    if adapters.is_empty() {
        drawn_by_opengl(text);
        return;
    }
    for (number, adapter) in adapters.iter().enumerate() {
        let head = if number == 0 { "graphics" } else { "" };
        let software = if adapter.software {
            "; used only if it is named"
        } else {
            ""
        };
        let _ = writeln!(
            text,
            "{head:11} {number}: {} ({}){software}",
            adapter.name, adapter.details
        );
    }
    let methods: Vec<&str> = METHODS
        .iter()
        .filter(|method| method.targets.iter().any(|target| target.backend == Backend::Wgpu))
        .map(|method| method.id)
        .collect();
    let line = match crate::backend::wgpu::device() {
        Err(reason) => format!("not used: {reason}"),
        Ok(device) => format!(
            "{}, buffers of {} at most; {}",
            device.name,
            units::bytes(device.largest_buffer()),
            methods.join(", ")
        ),
    };
    let _ = writeln!(text, "wgpu        {line}");
}

/// Adapters that draw and do not compute; their libraries write messages of their own, so that they are asked last.
#[cfg(feature = "gui")]
fn drawn_by_opengl(text: &mut String) {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapters = crate::backend::wgpu::ready(instance.enumerate_adapters(wgpu::Backends::GL));
    if adapters.is_empty() {
        let _ = writeln!(
            text,
            "graphics    no adapter; the window needs Vulkan, Metal, DirectX 12 or OpenGL (Debian, Ubuntu: `apt install \
             mesa-vulkan-drivers libvulkan1`)"
        );
    }
    for adapter in adapters {
        let info = adapter.get_info();
        let _ = writeln!(text, "graphics    {} ({:?}, OpenGL)", info.name, info.device_type);
    }
}

/// This build draws nothing on a screen.
#[cfg(not(feature = "gui"))]
fn graphics(text: &mut String) {
    let _ = writeln!(text, "graphics    not used: this build has no window");
}
