//! Bytes that this process can still allocate: the least that the machine, its control groups (containers, batch systems) and the shell's limits leave.

use std::fs;
use std::path::{Path, PathBuf};

/// Bytes that can be allocated now, where the system tells; `None` elsewhere, and a failed allocation is then reported when the run is built.
pub fn free() -> Option<u64> {
    // Miri prints a long warning for each file of the system.
    if cfg!(miri) {
        return None;
    }
    free_below(Path::new("/"))
}

/// The same where the system's files lie below `root`.
fn free_below(root: &Path) -> Option<u64> {
    let machine = kibibytes(&read(root, "proc/meminfo")?, "MemAvailable:")?;
    let groups = groups(root).into_iter();
    Some(groups.chain(limits(root)).fold(machine, u64::min))
}

fn read(root: &Path, path: impl AsRef<Path>) -> Option<String> {
    fs::read_to_string(root.join(path)).ok()
}

/// A line `name: number kB`, in bytes.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(number.saturating_mul(1024))
}

/// What each control group that the process is in leaves, of both versions; the limits of groups above hold as well.
fn groups(root: &Path) -> Vec<u64> {
    let mut left = Vec::new();
    for line in read(root, "proc/self/cgroup").unwrap_or_default().lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(kinds), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let (mount, limit, used) = if kinds.is_empty() {
            ("sys/fs/cgroup", "memory.max", "memory.current")
        } else if kinds.split(',').any(|kind| kind == "memory") {
            ("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes")
        } else {
            continue;
        };
        // Within a container the path may be one of the host: then the mount itself is the group.
        let own: PathBuf = Path::new(path.trim_start_matches('/')).to_owned();
        for group in own.ancestors() {
            let folder = Path::new(mount).join(group);
            let number = |name: &str| read(root, folder.join(name))?.trim().parse::<u64>().ok();
            let (Some(limit), Some(used)) = (number(limit), number(used)) else {
                continue;
            };
            // The page cache counts as used, but is freed when memory is needed.
            let statistics = read(root, folder.join("memory.stat")).unwrap_or_default();
            let cached = statistics
                .lines()
                .find_map(|line| line.strip_prefix("inactive_file ")?.trim().parse::<u64>().ok())
                .unwrap_or(0);
            left.push(limit.saturating_sub(used.saturating_sub(cached)));
        }
    }
    left
}

/// What the limits of the shell (`ulimit -v`, `ulimit -d`) leave.
fn limits(root: &Path) -> Vec<u64> {
    let limits = read(root, "proc/self/limits").unwrap_or_default();
    let status = read(root, "proc/self/status").unwrap_or_default();
    let left = |limit: &str, used: &str| {
        let line = limits.lines().find_map(|line| line.strip_prefix(limit))?;
        let most: u64 = line.split_whitespace().next()?.parse().ok()?;
        Some(most.saturating_sub(kibibytes(&status, used)?))
    };
    [left("Max address space", "VmSize:"), left("Max data size", "VmData:")]
        .into_iter()
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A system with 8 GiB free and these files.
    fn system(files: &[(&str, &str)]) -> Option<u64> {
        let root = tempfile::tempdir().unwrap();
        let always = [("proc/meminfo", "MemTotal: 9999999 kB\nMemAvailable:    8388608 kB\n")];
        for (path, text) in always.iter().chain(files) {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        free_below(root.path())
    }

    #[test]
    fn the_tightest_limit_counts() {
        const GIB: u64 = 1 << 30;
        assert_eq!(free_below(Path::new("/no/such/system")), None);
        assert_eq!(system(&[]), Some(8 * GIB));
        let in_group = ("proc/self/cgroup", "0::/batch/job\n");
        // 2 GiB used, half a GiB of it page cache.
        let limited = system(&[
            in_group,
            ("sys/fs/cgroup/batch/job/memory.max", "max\n"),
            ("sys/fs/cgroup/batch/job/memory.current", "1\n"),
            ("sys/fs/cgroup/batch/memory.max", "4294967296\n"),
            ("sys/fs/cgroup/batch/memory.current", "2147483648\n"),
            ("sys/fs/cgroup/batch/memory.stat", "anon 5\ninactive_file 536870912\n"),
        ]);
        assert_eq!(limited, Some(2 * GIB + GIB / 2));
        let in_container = system(&[
            ("proc/self/cgroup", "5:cpu:/x\n4:memory:/docker/abc\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "3221225472"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "1073741824"),
        ]);
        assert_eq!(in_container, Some(2 * GIB));
        let in_shell = system(&[
            (
                "proc/self/limits",
                "Limit   Soft Limit  Hard Limit Units\nMax data size   unlimited unlimited bytes\nMax address space   2147483648  unlimited bytes\n",
            ),
            ("proc/self/status", "VmSize:\t 1048576 kB\nVmData:\t 1 kB\n"),
        ]);
        assert_eq!(in_shell, Some(GIB));
    }
}
