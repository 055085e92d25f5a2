//! A server that has a process for each session: it and all that it has started are watched as one process.

use std::collections::HashMap;
use std::fs;

use measure::{Nanos, Process, ProcessDisk, ProcessReading, Runnable, Side};
use procfs::process::Stat;

use super::process::{SumOverIds, disk, is_runnable, times_scheduled};
use super::process_kinds::Kinds;
use super::pss::Pss;

/// A process may end while the others are read: then they are read again, so often at most.
const TRIES: usize = 3;

/// The processes that a server has started, beside the server itself.
#[derive(Debug)]
pub(super) struct Family {
    pid: u32,
    switches: SumOverIds,
    kinds: Kinds,
    pss: Pss,
    /// The highest CPU times so far, in ticks: a process that is ending may be missed for a moment.
    user: u64,
    system: u64,
}

/// Takes the processes that belong to another of the list out of it, because they are counted with that one.
pub(super) fn without_members(mut processes: Vec<Process>) -> Vec<Process> {
    let is_head = |it: &&Process| it.side == Side::Server && has_sessions(it.pid);
    let heads: Vec<u32> = processes.iter().filter(is_head).map(|it| it.pid).collect();
    let members: Vec<u32> = heads.iter().flat_map(|head| children(*head)).collect();
    processes.retain(|it| !members.contains(&it.pid));
    processes
}

/// Whether it has started processes of its own name that lead sessions of their own, as PostgreSQL does for each client.
fn has_sessions(pid: u32) -> bool {
    let Some(own) = stat(pid) else { return false };
    let leads = |stat: Stat| stat.comm == own.comm && stat.session == stat.pid;
    children(pid).into_iter().filter_map(stat).any(leads)
}

impl Family {
    /// The family of a server; `None` for one without processes for its sessions.
    pub(super) fn of(process: &Process) -> Option<Self> {
        let is_head = process.side == Side::Server && has_sessions(process.pid);
        is_head.then(|| Self {
            pid: process.pid,
            switches: SumOverIds::default(),
            kinds: Kinds::default(),
            pss: Pss::default(),
            user: 0,
            system: 0,
        })
    }

    /// Counts the processes that run or wait for a CPU. Returns how many it looked at.
    pub(super) fn sample(&self, runnable: &mut Runnable) -> u64 {
        let pids: Vec<u32> = self.members().collect();
        let paths = pids.iter().map(|pid| format!("/proc/{pid}"));
        let count = paths.filter(|path| is_runnable(path.as_ref())).count();
        runnable.add(count as u64);
        pids.len() as u64
    }

    /// The resources of all processes together, those of ended ones included; `None` once the server itself has ended.
    pub(super) fn read(&mut self, ns_per_tick: Nanos) -> Option<ProcessReading> {
        let (head, living) = self.living()?;
        let ticks = |of: fn(&Stat) -> [u64; 2]| {
            let all = std::iter::once(&head).chain(&living).flat_map(of);
            all.fold(0_u64, u64::saturating_add)
        };
        // A process that has ended is in the times of the one that waited for it.
        let user = ticks(|stat| [stat.utime, u64::try_from(stat.cutime).unwrap_or(0)]);
        let system = ticks(|stat| [stat.stime, u64::try_from(stat.cstime).unwrap_or(0)]);
        self.user = self.user.max(user);
        self.system = self.system.max(system);
        let pids: Vec<u32> = self.members().collect();
        let switches = pids.iter().filter_map(|pid| {
            let text = fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
            Some((*pid, times_scheduled(&text)?))
        });
        self.kinds.read(self.pid, &living);
        let context_switches = self.switches.take_in(switches.collect());
        let threads = std::iter::once(&head).chain(&living).map(|stat| stat.num_threads);
        Some(ProcessReading {
            user_ns: self.user.saturating_mul(ns_per_tick),
            system_ns: self.system.saturating_mul(ns_per_tick),
            rss_bytes: memory_bytes(&pids),
            threads: threads.filter_map(|count| u64::try_from(count).ok()).sum(),
            runnable: Runnable::default(),
            context_switches,
            disk: disks(&pids),
            pss_bytes: self.pss.read(&pids),
        })
    }

    pub(super) fn kinds(&self) -> impl Iterator<Item = (&'static str, u64, u64)> {
        self.kinds.all()
    }

    /// The server's line and those of its processes, at times between which no process has ended.
    fn living(&self) -> Option<(Stat, Vec<Stat>)> {
        let mut head = stat(self.pid)?;
        let mut living = Vec::new();
        for _ in 0..TRIES {
            living = children(self.pid).into_iter().filter_map(stat).collect();
            let before = (head.cutime, head.cstime);
            head = stat(self.pid)?;
            if (head.cutime, head.cstime) == before {
                break;
            }
        }
        Some((head, living))
    }

    fn members(&self) -> impl Iterator<Item = u32> {
        std::iter::once(self.pid).chain(children(self.pid))
    }
}

/// The processes that this one has started and not yet waited for. Source: proc_pid_task(5), `children`.
fn children(pid: u32) -> Vec<u32> {
    match fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")) {
        Ok(text) => text.split_whitespace().filter_map(|word| word.parse().ok()).collect(),
        // The kernel may have been built without it.
        Err(_) => children_by_parent(pid),
    }
}

fn children_by_parent(pid: u32) -> Vec<u32> {
    let Ok(all) = procfs::process::all_processes() else { return Vec::new() };
    let stats = all.flatten().filter_map(|process| process.stat().ok());
    let of_it = stats.filter(|stat| u32::try_from(stat.ppid) == Ok(pid));
    of_it.filter_map(|stat| u32::try_from(stat.pid).ok()).collect()
}

fn stat(pid: u32) -> Option<Stat> {
    procfs::process::Process::new(pid.cast_signed()).ok()?.stat().ok()
}

/// What each process has for itself, and the most that one of them shares with the others: each has mapped the same
/// memory. Source: proc_pid_statm(5).
fn memory_bytes(pids: &[u32]) -> u64 {
    let of = |pid: &u32| {
        let text = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
        let pages: Vec<u64> = text.split_whitespace().filter_map(|it| it.parse().ok()).collect();
        Some((*pages.get(1)?, *pages.get(2)?))
    };
    let all: HashMap<u32, (u64, u64)> =
        pids.iter().filter_map(|pid| Some((*pid, of(pid)?))).collect();
    let own: u64 = all.values().map(|(resident, shared)| resident.saturating_sub(*shared)).sum();
    let shared = all.values().map(|(_, shared)| *shared).max().unwrap_or(0);
    (own + shared).saturating_mul(procfs::page_size())
}

/// The kernel adds the bytes of a process that has ended to those of the one that waited for it.
fn disks(pids: &[u32]) -> Option<ProcessDisk> {
    let mut all = ProcessDisk::default();
    for (at, pid) in pids.iter().enumerate() {
        let folder = procfs::process::Process::new(pid.cast_signed());
        match folder.ok().and_then(|folder| disk(&folder)) {
            Some(one) => {
                all.read_bytes += one.read_bytes;
                all.written_bytes += one.written_bytes;
            }
            None if at == 0 => return None,
            None => {}
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::unix::process::CommandExt as _;
    use std::process::Stdio;

    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    use super::*;
    use crate::command;

    #[test]
    fn processes_that_lead_sessions_are_counted_with_the_server_and_ended_ones_too() {
        // A shell that starts another in a session of its own, which works and ends, and a third that stays.
        let work = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let script =
            format!("setsid sh -c '{work}' & wait; setsid sh -c 'sleep 60; true' & echo; wait");
        let mut shell = command("sh");
        let mut shell =
            shell.args(["-c", &script]).stdout(Stdio::piped()).process_group(0).spawn().unwrap();
        shell.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let process = Process { name: "server".to_owned(), pid: shell.id(), side: Side::Server };
        // The session begins shortly after the process.
        let mut tries = std::iter::repeat_with(|| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            Family::of(&process)
        });
        let mut family = tries.by_ref().take(1_000).flatten().next().unwrap();
        let members: Vec<Process> = children(shell.id())
            .into_iter()
            .map(|pid| Process { name: "sh".to_owned(), pid, side: Side::Server })
            .collect();
        let all = [vec![process.clone()], members.clone()].concat();
        assert_eq!(without_members(all), [process]);
        let reading = family.read(10_000_000).unwrap();
        assert!(reading.cpu_ns() > 0, "{reading:?}");
        assert_eq!(reading.threads, 2, "{reading:?}");
        assert!(reading.rss_bytes > 0, "{reading:?}");
        assert_eq!(family.sample(&mut Runnable::default()), 2);
        let session = Pid::from_raw(members[0].pid.cast_signed());
        let sleep = children(members[0].pid);
        sleep
            .iter()
            .for_each(|pid| kill(Pid::from_raw(pid.cast_signed()), Signal::SIGKILL).unwrap());
        kill(session, Signal::SIGKILL).unwrap();
        shell.wait().unwrap();
        assert!(family.read(1).is_none());
    }
}
