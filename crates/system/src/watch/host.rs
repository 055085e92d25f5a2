//! The counters of this machine's kernel.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use measure::{
    CpuTimes, DiskCounters, Host, HostReading, KindReading, Nanos, NetworkCounters, Process,
    SegmentCounters,
};
use procfs::{Current, CurrentSI, KernelStats, Meminfo};

use super::family::without_members;
use super::process::ProcessWatch;

/// The time between two samples of the threads of servers when there are few threads.
pub const LOOK_PERIOD: Duration = Duration::from_millis(100);
/// The most threads that are sampled in a second: with this limit, sampling takes about half a per cent of a core.
const THREADS_PER_S: u64 = 400;
/// A sector, the unit of /proc/diskstats for every disk. Source: proc_diskstats(5).
const SECTOR_BYTES: u64 = 512;
/// The times of /proc/diskstats are in ms.
const NS_PER_MS: Nanos = 1_000_000;
const LOOPBACK: &str = "lo";

/// Reads the kernel's counters of this machine, and of some processes.
#[derive(Debug)]
pub struct HostWatch {
    processes: Vec<ProcessWatch>,
    /// Whole disks, without their partitions or the devices below them.
    disks: BTreeSet<String>,
    /// Network cards, without bridges and other devices that forward the same packets.
    cards: BTreeSet<String>,
    ns_per_tick: Nanos,
}

impl HostWatch {
    pub fn new(processes: Vec<Process>) -> Self {
        Self {
            processes: without_members(processes).into_iter().map(ProcessWatch::new).collect(),
            disks: names_in("/sys/block", |path| path.join("device").exists()),
            cards: names_in("/sys/class/net", |path| path.join("device").exists()),
            ns_per_tick: 1_000_000_000 / procfs::ticks_per_second().max(1),
        }
    }

    /// Describes the machine and the processes, without a reading.
    ///
    /// # Errors
    /// When the kernel does not report it.
    pub fn describe(&self) -> anyhow::Result<Host> {
        let stats = KernelStats::current().context("/proc/stat cannot be read")?;
        let hostname = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        Ok(Host {
            name: hostname.trim().to_owned(),
            place: None,
            cpu_threads: stats.cpu_time.len() as u64,
            memory_bytes: Meminfo::current().ok().map(|memory| memory.mem_total),
            processes: self.processes.iter().map(|watch| watch.process.clone()).collect(),
            readings: Vec::new(),
            joints_ns: Vec::new(),
        })
    }

    /// Samples which threads of the servers run or wait for a CPU. Returns the time until the next sample: it is
    /// longer when there are more threads.
    pub fn sample(&mut self) -> Duration {
        let seen: u64 = self.processes.iter_mut().map(ProcessWatch::sample).sum();
        LOOK_PERIOD.max(Duration::from_millis(seen * 1_000 / THREADS_PER_S))
    }

    /// Reads the counters now. Those that the kernel does not report are left out.
    ///
    /// # Errors
    /// When the kernel does not report the times of its CPUs.
    pub fn read(&mut self, at_ns: Nanos) -> anyhow::Result<HostReading> {
        let stats = KernelStats::current().context("/proc/stat cannot be read")?;
        let memory = Meminfo::current().ok();
        let (network, loopback) = self.network();
        let (disk, disk_busy_ns) = self.disks().unzip();
        let processes = self.processes.iter_mut().map(|it| it.read(self.ns_per_tick)).collect();
        Ok(HostReading {
            at_ns,
            cpu: self.cpu(&stats.total),
            // The thread that reads this is running too.
            runnable: stats.procs_running.map(|count| u64::from(count.saturating_sub(1))),
            blocked: stats.procs_blocked.map(u64::from),
            context_switches: Some(stats.ctxt),
            memory_available_bytes: memory.and_then(|memory| memory.mem_available),
            disk,
            disk_busy_ns,
            network,
            loopback,
            segments: segments(),
            processes,
            kinds: self.kinds(),
        })
    }

    /// The kinds of processes of each server that has several.
    fn kinds(&self) -> Vec<KindReading> {
        let of = |(process, watch): (usize, &ProcessWatch)| {
            let ns_per_tick = self.ns_per_tick;
            let kinds = watch.kinds().map(move |(kind, count, ticks)| KindReading {
                process,
                kind: kind.to_owned(),
                count,
                cpu_ns: ticks.saturating_mul(ns_per_tick),
            });
            kinds.collect::<Vec<_>>()
        };
        self.processes.iter().enumerate().flat_map(of).collect()
    }

    /// The time of user programs includes that of guests. Source: proc_stat(5).
    fn cpu(&self, ticks: &procfs::CpuTime) -> CpuTimes {
        let ns = |ticks: u64| ticks * self.ns_per_tick;
        let ns_if_told = |ticks: Option<u64>| ns(ticks.unwrap_or_default());
        CpuTimes {
            user_ns: ns(ticks.user + ticks.nice),
            system_ns: ns(ticks.system),
            idle_ns: ns(ticks.idle),
            iowait_ns: ns_if_told(ticks.iowait),
            irq_ns: ns_if_told(ticks.irq),
            softirq_ns: ns_if_told(ticks.softirq),
            steal_ns: ns_if_told(ticks.steal),
        }
    }

    /// The disks together, and for how long each was busy.
    fn disks(&self) -> Option<(DiskCounters, BTreeMap<String, Nanos>)> {
        let mut all = DiskCounters::default();
        let stats = procfs::diskstats().ok()?;
        let disks: Vec<_> = stats.iter().filter(|disk| self.disks.contains(&disk.name)).collect();
        for disk in &disks {
            all.read_bytes += disk.sectors_read * SECTOR_BYTES;
            all.written_bytes += disk.sectors_written * SECTOR_BYTES;
            all.requests += disk.reads + disk.writes;
        }
        let busy =
            |disk: &&procfs::DiskStat| (disk.name.clone(), disk.time_in_progress * NS_PER_MS);
        (!disks.is_empty()).then(|| (all, disks.iter().map(busy).collect()))
    }

    /// The counters of all network cards together, and of loopback.
    fn network(&self) -> (Option<NetworkCounters>, Option<NetworkCounters>) {
        let Ok(devices) = procfs::net::dev_status() else { return (None, None) };
        let mut cards: Option<NetworkCounters> = None;
        let mut loopback = None;
        for device in devices.values() {
            let counters = NetworkCounters {
                received_bytes: device.recv_bytes,
                sent_bytes: device.sent_bytes,
                received_packets: device.recv_packets,
                sent_packets: device.sent_packets,
            };
            if device.name == LOOPBACK {
                loopback = Some(counters);
            } else if self.cards.is_empty() || self.cards.contains(&device.name) {
                let sum = cards.get_or_insert_default();
                sum.received_bytes += counters.received_bytes;
                sum.sent_bytes += counters.sent_bytes;
                sum.received_packets += counters.received_packets;
                sum.sent_packets += counters.sent_packets;
            }
        }
        (cards, loopback)
    }
}

fn segments() -> Option<SegmentCounters> {
    let snmp = procfs::net::snmp().ok()?;
    Some(SegmentCounters {
        received: snmp.tcp_in_segs,
        sent: snmp.tcp_out_segs,
        retransmitted: snmp.tcp_retrans_segs,
    })
}

/// Names of entries in a folder of the kernel that are devices, not composed of others.
fn names_in(folder: &str, is_device: impl Fn(&Path) -> bool) -> BTreeSet<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return BTreeSet::new() };
    entries
        .flatten()
        .filter(|entry| is_device(&entry.path()))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

#[cfg(test)]
mod tests;
