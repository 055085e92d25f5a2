//! Settings of a server by the memory, the cores and the disk that it has.

use std::path::Path;
use std::thread;

use nix::sched::CpuSet;
use nix::sys::statvfs::statvfs;
use procfs::{Current, Meminfo};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// What a machine has for a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Machine {
    memory_bytes: u64,
    cores: u64,
    disk_bytes: u64,
}

impl Machine {
    /// This machine; `cpus` are those that the server may use, and `folder` is that of its data.
    pub(super) fn this(cpus: Option<&CpuSet>, folder: &Path) -> Self {
        let all = thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
        let own = |cpus: &CpuSet| {
            (0..CpuSet::count()).filter(|cpu| cpus.is_set(*cpu).unwrap_or(false)).count() as u64
        };
        let memory = Meminfo::current().map_or(GIB, |memory| memory.mem_total);
        let free = statvfs(folder)
            .map_or(0, |disk| disk.blocks_available().saturating_mul(disk.fragment_size()));
        Self {
            memory_bytes: container_memory().map_or(memory, |limit| limit.min(memory)),
            cores: cpus.map_or(all, own).max(1),
            disk_bytes: free,
        }
    }

    /// The settings, as `name=value`: a quarter of the memory for the server's own cache, checkpoints by time and not by
    /// the length of the log, memory for the work on indexes, and as many workers as cores.
    pub(super) fn settings(self) -> Vec<String> {
        let Self { memory_bytes, cores, disk_bytes } = self;
        let megabytes = |bytes: u64| format!("{}MB", bytes / MIB);
        let wal = (disk_bytes / 8).clamp(GIB, 16 * GIB);
        let gathering = (cores / 2).clamp(1, 4);
        vec![
            format!("shared_buffers={}", megabytes((memory_bytes / 4).max(128 * MIB))),
            format!("effective_cache_size={}", megabytes(memory_bytes / 4 * 3)),
            format!(
                "maintenance_work_mem={}",
                megabytes((memory_bytes / 16).clamp(64 * MIB, 2 * GIB))
            ),
            format!("max_wal_size={}", megabytes(wal)),
            "checkpoint_timeout=15min".to_owned(),
            format!("max_worker_processes={}", cores.max(8)),
            format!("max_parallel_workers={}", cores.max(2)),
            format!("max_parallel_workers_per_gather={gathering}"),
            format!("max_parallel_maintenance_workers={gathering}"),
        ]
    }
}

/// The memory that the container of this process may have; `None` without a limit.
fn container_memory() -> Option<u64> {
    let own = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let group = own.lines().find_map(|line| line.strip_prefix("0::"))?;
    let file = format!("/sys/fs/cgroup{group}/memory.max");
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_follow_the_machine_within_bounds() {
        let machine = |memory_bytes, cores, disk_bytes| Machine { memory_bytes, cores, disk_bytes };
        let text = |machine: Machine| machine.settings().join(" ");
        insta::assert_snapshot!(text(machine(64 * GIB, 16, 1000 * GIB)), @"shared_buffers=16384MB effective_cache_size=49152MB maintenance_work_mem=2048MB max_wal_size=16384MB checkpoint_timeout=15min max_worker_processes=16 max_parallel_workers=16 max_parallel_workers_per_gather=4 max_parallel_maintenance_workers=4");
        insta::assert_snapshot!(text(machine(GIB / 4, 1, 0)), @"shared_buffers=128MB effective_cache_size=192MB maintenance_work_mem=64MB max_wal_size=1024MB checkpoint_timeout=15min max_worker_processes=8 max_parallel_workers=2 max_parallel_workers_per_gather=1 max_parallel_maintenance_workers=1");
        let this = Machine::this(None, Path::new("/"));
        assert!(this.memory_bytes > 64 * MIB && this.cores >= 1 && this.disk_bytes > 0);
    }
}
