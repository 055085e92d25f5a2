//! What the kernel counts for one process, and how many of its threads want a CPU.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use measure::{Nanos, Process, ProcessReading, Runnable, Side};

/// More of a thread's line than this is not needed: its state stands after its name.
const STATE_WITHIN: usize = 256;

/// A process that is watched until it is gone.
#[derive(Debug)]
pub(super) struct ProcessWatch {
    pub(super) process: Process,
    /// The kernel's folder of it, held open: another process of the same pid is not taken for it.
    folder: Option<procfs::process::Process>,
    tasks: PathBuf,
    runnable: Runnable,
}

impl ProcessWatch {
    pub(super) fn new(process: Process) -> Self {
        let tasks = PathBuf::from(format!("/proc/{}/task", process.pid));
        let folder = procfs::process::Process::new(process.pid.cast_signed()).ok();
        Self { process, folder, tasks, runnable: Runnable::default() }
    }

    /// Counts the threads of a server that run or wait for a CPU. Returns how many it looked at.
    pub(super) fn look(&mut self) -> u64 {
        if self.process.side == Side::Client || self.folder.is_none() {
            return 0;
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

    /// What it has used, and what the looks since the last reading saw; `None` once it is gone.
    pub(super) fn read(&mut self, ns_per_tick: Nanos) -> Option<ProcessReading> {
        let stat = self.folder.as_ref()?.stat().ok();
        let Some(stat) = stat.filter(|stat| !matches!(stat.state, 'Z' | 'X')) else {
            self.folder = None;
            return None;
        };
        Some(ProcessReading {
            user_ns: stat.utime * ns_per_tick,
            system_ns: stat.stime * ns_per_tick,
            rss_bytes: stat.rss * procfs::page_size(),
            threads: u64::try_from(stat.num_threads).unwrap_or_default(),
            runnable: std::mem::take(&mut self.runnable),
        })
    }
}

/// Whether a thread runs or waits for a CPU; a thread that has ended meanwhile does not.
fn is_runnable(thread: &Path) -> bool {
    let mut line = [0; STATE_WITHIN];
    let length = File::open(thread.join("stat")).and_then(|mut stat| stat.read(&mut line));
    length.is_ok_and(|length| state(&line[..length]) == Some(b'R'))
}

/// The state in a line of /proc/PID/stat: it stands after the name in brackets, which may itself hold
/// brackets. Source: proc_pid_stat(5).
fn state(line: &[u8]) -> Option<u8> {
    let end_of_name = line.iter().rposition(|byte| *byte == b')')?;
    line.get(end_of_name + 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_stands_after_the_name_whatever_the_name_is() {
        assert_eq!(state(b"12 (server) R 1 2 3"), Some(b'R'));
        assert_eq!(state(b"12 (a) S (b) D 1"), Some(b'D'));
        assert_eq!(state(b"12 (cut"), None);
        assert_eq!(state(b""), None);
        assert_eq!(state(b")"), None);
    }
}
