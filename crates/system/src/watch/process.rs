//! The kernel's counters of one process, and how many of its threads need a CPU.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use measure::{Nanos, Process, ProcessDisk, ProcessReading, Runnable, Side};

use super::family::Family;

/// The bytes of a thread's line that suffice: its state follows its name.
const STATE_WITHIN: usize = 256;
/// The most threads of a process for which context switches are read: reading takes about 9 us for each thread.
const SWITCH_THREADS_MAX: usize = 1_024;

/// A process that is watched until it exits.
#[derive(Debug)]
pub(super) struct ProcessWatch {
    pub(super) process: Process,
    /// The kernel's folder of it, held open so that a later process with the same pid is not taken for it.
    folder: Option<procfs::process::Process>,
    tasks: PathBuf,
    runnable: Runnable,
    switches: SumOverIds,
    /// The processes that it has started for its sessions, if it does that.
    family: Option<Family>,
}

/// A count that the kernel keeps for each thread or process, and drops when it ends.
#[derive(Debug, Default)]
pub(super) struct SumOverIds {
    pub(super) total: u64,
    /// The count of each at the last reading.
    by_id: HashMap<u32, u64>,
}

impl ProcessWatch {
    pub(super) fn new(process: Process) -> Self {
        let tasks = PathBuf::from(format!("/proc/{}/task", process.pid));
        let folder = procfs::process::Process::new(process.pid.cast_signed()).ok();
        let family = Family::of(&process);
        Self {
            process,
            folder,
            tasks,
            runnable: Runnable::default(),
            switches: SumOverIds::default(),
            family,
        }
    }

    /// Counts the threads of a server that run or wait for a CPU. Returns how many it looked at.
    pub(super) fn sample(&mut self) -> u64 {
        if self.process.side == Side::Client || self.folder.is_none() {
            return 0;
        }
        if let Some(family) = &self.family {
            return family.sample(&mut self.runnable);
        }
        let Ok(threads) = fs::read_dir(&self.tasks) else { return 0 };
        let mut seen = 0;
        let mut runnable = 0;
        for thread in threads.flatten() {
            seen += 1;
            runnable += u64::from(is_runnable(&thread.path()));
        }
        if seen > 0 {
            self.runnable.add(runnable);
        }
        seen
    }

    /// The resources that it has used, and the samples since the last reading; `None` once it has exited.
    pub(super) fn read(&mut self, ns_per_tick: Nanos) -> Option<ProcessReading> {
        let stat = self.folder.as_ref()?.stat().ok();
        let Some(stat) = stat.filter(|stat| !matches!(stat.state, 'Z' | 'X')) else {
            self.folder = None;
            return None;
        };
        if let Some(family) = &mut self.family {
            let runnable = std::mem::take(&mut self.runnable);
            return family.read(ns_per_tick).map(|it| ProcessReading { runnable, ..it });
        }
        let is_server = self.process.side == Side::Server;
        let disk = self.folder.as_ref().filter(|_| is_server).and_then(disk);
        let switches = is_server.then(|| self.switches.read(&self.tasks)).flatten();
        Some(ProcessReading {
            user_ns: stat.utime * ns_per_tick,
            system_ns: stat.stime * ns_per_tick,
            rss_bytes: stat.rss * procfs::page_size(),
            threads: u64::try_from(stat.num_threads).unwrap_or_default(),
            runnable: std::mem::take(&mut self.runnable),
            context_switches: switches,
            disk,
            pss_bytes: None,
        })
    }

    /// Its processes by their kinds, at the last reading: how many there are, and their CPU time in ticks.
    pub(super) fn kinds(&self) -> impl Iterator<Item = (&'static str, u64, u64)> {
        self.family.iter().flat_map(Family::kinds)
    }
}

/// `None` where the process belongs to another user. Source: proc_pid_io(5).
pub(super) fn disk(folder: &procfs::process::Process) -> Option<ProcessDisk> {
    let io = folder.io().ok()?;
    Some(ProcessDisk { read_bytes: io.read_bytes, written_bytes: io.write_bytes })
}

impl SumOverIds {
    /// Adds the context switches of all threads since the last reading, and returns the total; `None` when the kernel does
    /// not count them, or there are too many threads.
    fn read(&mut self, tasks: &Path) -> Option<u64> {
        let threads: Vec<_> = fs::read_dir(tasks).ok()?.flatten().collect();
        if threads.len() > SWITCH_THREADS_MAX {
            return None;
        }
        let counts = threads.iter().filter_map(|thread| {
            let number = thread.file_name().to_str()?.parse().ok()?;
            let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            Some((number, times_scheduled(&text)?))
        });
        self.take_in(counts.collect())
    }

    pub(super) fn take_in(&mut self, by_id: HashMap<u32, u64>) -> Option<u64> {
        for (thread, count) in &by_id {
            let before = self.by_id.get(thread).copied().unwrap_or(0);
            // A lower count belongs to a new thread with the id of one that ended.
            self.total += if *count < before { *count } else { count - before };
        }
        self.by_id = by_id;
        (!self.by_id.is_empty()).then_some(self.total)
    }
}

/// How often a thread got a CPU, which is how often the kernel switched to it: the third number. Source: Linux,
/// Documentation/scheduler/sched-stats.rst.
pub(super) fn times_scheduled(schedstat: &str) -> Option<u64> {
    schedstat.split_whitespace().nth(2)?.parse().ok()
}

/// Whether a thread runs or waits for a CPU; false when it has ended meanwhile.
pub(super) fn is_runnable(thread: &Path) -> bool {
    let mut line = [0; STATE_WITHIN];
    let length = File::open(thread.join("stat")).and_then(|mut stat| stat.read(&mut line));
    length.is_ok_and(|length| state(&line[..length]) == Some(b'R'))
}

/// The state in a line of /proc/PID/stat: it follows the name in parentheses, which may itself contain parentheses.
/// Source: proc_pid_stat(5).
fn state(line: &[u8]) -> Option<u8> {
    let end_of_name = line.iter().rposition(|byte| *byte == b')')?;
    line.get(end_of_name + 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_switches_of_ended_and_new_threads_are_counted_once() {
        let mut switches = SumOverIds::default();
        assert_eq!(switches.take_in(HashMap::from([(1, 10), (2, 5)])), Some(15));
        assert_eq!(switches.take_in(HashMap::from([(1, 12), (2, 5)])), Some(17));
        // Thread 2 has ended, thread 3 is new, and a new thread has the id of thread 1.
        assert_eq!(switches.take_in(HashMap::from([(1, 4), (3, 7)])), Some(28));
        assert_eq!(switches.take_in(HashMap::new()), None);
        assert_eq!(times_scheduled("120896 2793628 42\n"), Some(42));
        assert_eq!(times_scheduled("0 0"), None);
    }

    #[test]
    fn process_state_is_parsed_after_any_process_name() {
        assert_eq!(state(b"12 (server) R 1 2 3"), Some(b'R'));
        assert_eq!(state(b"12 (a) S (b) D 1"), Some(b'D'));
        assert_eq!(state(b"12 (cut"), None);
        assert_eq!(state(b""), None);
        assert_eq!(state(b")"), None);
    }
}
