//! Makes a server on this machine slower by a little, and stops doing so at once: for experiments that look for its limit.
//!
//! Nothing here outlives dyno, takes rights that dyno does not have, or touches the data.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use measure::Nanos;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::time::ClockId;
use nix::unistd::Pid;
use perf_event::events::Software;
use perf_event::{Builder, Counter};
use procfs::CurrentSI;

/// A tax on the work of processes: an interrupt after each piece of CPU time of a thread, which nobody reads. It costs the
/// thread some microseconds and nobody else any, and it comes only while the thread runs.
///
/// Source: `perf_event_open(2)`, `PERF_COUNT_SW_CPU_CLOCK`.
#[derive(Debug)]
pub struct CpuTax {
    events: Vec<Counter>,
}

impl CpuTax {
    /// Attaches the tax, switched off, to all threads of the processes and to those that these start from now on.
    ///
    /// # Errors
    /// When the kernel allows it for none of them, with the remedy.
    pub fn attach(processes: &[u32], period: Duration) -> Result<Self> {
        if processes.is_empty() {
            bail!("no process of the server is known on this machine");
        }
        let mut failure = None;
        let mut events = Vec::new();
        for thread in processes.iter().flat_map(|process| threads(*process)) {
            match event(thread, period) {
                Ok(event) => events.push(event),
                Err(error) => failure = Some(error),
            }
        }
        match failure {
            Some(error) if events.is_empty() => Err(error).context(
                "the kernel refuses events of the server's threads: it takes the same user and \
                 `sysctl kernel.perf_event_paranoid=2`, or root",
            ),
            _ => Ok(Self { events }),
        }
    }

    /// Switches the tax of all threads; one that has ended has none.
    pub fn switch(&mut self, is_on: bool) {
        for event in &mut self.events {
            let _ = if is_on { event.enable() } else { event.disable() };
        }
    }
}

fn event(thread: i32, period: Duration) -> std::io::Result<Counter> {
    let mut builder = Builder::new(Software::CPU_CLOCK);
    builder
        .observe_pid(thread)
        .any_cpu()
        .inherit(true)
        .enabled(false)
        .sample_period(u64::try_from(period.as_nanos()).unwrap_or(u64::MAX).max(1));
    // Interrupts within the kernel's own work are not everybody's to see.
    builder.exclude_kernel(false).build().or_else(|_| builder.exclude_kernel(true).build())
}

fn threads(process: u32) -> Vec<i32> {
    let folder = format!("/proc/{process}/task");
    let entries = std::fs::read_dir(Path::new(&folder)).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Lets processes use one core fewer.
#[derive(Debug)]
pub struct FewerCores {
    processes: Vec<u32>,
    all: CpuSet,
    fewer: CpuSet,
    is_fewer: bool,
}

impl FewerCores {
    /// # Errors
    /// When they have one core only, are not known, or are bound to different cores.
    pub fn of(processes: &[u32]) -> Result<Self> {
        let first = processes.first().context("dyno did not start the server")?;
        let all = cores(*first)?;
        if processes.iter().any(|process| cores(*process).is_ok_and(|it| it != all)) {
            bail!("its servers are bound to different cores");
        }
        let mut usable = (0..CpuSet::count()).filter(|cpu| all.is_set(*cpu) == Ok(true));
        let (Some(last), Some(_)) = (usable.next_back(), usable.next()) else {
            bail!("the server has one core only");
        };
        let mut fewer = all;
        fewer.unset(last)?;
        Ok(Self { processes: processes.to_vec(), all, fewer, is_fewer: false })
    }

    /// How many cores the processes keep.
    pub fn kept(&self) -> usize {
        count(&self.fewer)
    }

    /// Switches all threads. A thread that starts meanwhile has the cores of the one that started it: all are
    /// looked for twice.
    pub fn switch(&mut self, is_fewer: bool) {
        if self.is_fewer == is_fewer {
            return;
        }
        self.is_fewer = is_fewer;
        let set = if is_fewer { &self.fewer } else { &self.all };
        for _ in 0..2 {
            for thread in self.processes.iter().flat_map(|process| threads(*process)) {
                // One that has ended needs none.
                let _ = sched_setaffinity(Pid::from_raw(thread), set);
            }
        }
    }
}

impl Drop for FewerCores {
    fn drop(&mut self) {
        self.switch(false);
    }
}

fn cores(process: u32) -> Result<CpuSet> {
    let process = i32::try_from(process)?;
    sched_getaffinity(Pid::from_raw(process)).context("cannot tell which cores the server may use")
}

fn count(cpus: &CpuSet) -> usize {
    (0..CpuSet::count()).filter(|cpu| cpus.is_set(*cpu) == Ok(true)).count()
}

/// How many cores processes may use together; `None` when that is not known.
pub fn usable_cores(processes: &[u32]) -> Option<usize> {
    let sets: Option<Vec<CpuSet>> = processes.iter().map(|process| cores(*process).ok()).collect();
    let sets = sets.filter(|sets| !sets.is_empty())?;
    let is_usable = |cpu: &usize| sets.iter().any(|set| set.is_set(*cpu) == Ok(true));
    Some((0..CpuSet::count()).filter(is_usable).count())
}

/// The CPU time that a process has used so far, ended threads included, ns; `None` when the kernel does not tell.
/// Source: clock_getcpuclockid(3).
fn cpu_time_ns(process: u32) -> Option<Nanos> {
    let clock = ClockId::pid_cpu_clock_id(Pid::from_raw(i32::try_from(process).ok()?)).ok()?;
    let time = clock.now().ok()?;
    let seconds = u64::try_from(time.tv_sec()).ok()?;
    Some(seconds * 1_000_000_000 + u64::try_from(time.tv_nsec()).ok()?)
}

/// The same of several processes together; `None` without any, and when that of one is not known.
pub fn cpu_time_of_all_ns(processes: &[u32]) -> Option<Nanos> {
    let all: Option<Vec<Nanos>> = processes.iter().map(|process| cpu_time_ns(*process)).collect();
    all.filter(|all| !all.is_empty()).map(|all| all.iter().sum())
}

/// CPU time that all programs of the machine have used so far, ns, in the kernel's ticks; `None` when it does not tell.
/// Source: proc_stat(5).
pub fn machine_cpu_ns() -> Option<Nanos> {
    let all = procfs::KernelStats::current().ok()?.total;
    let ticks = all.user + all.nice + all.system + all.irq.unwrap_or(0) + all.softirq.unwrap_or(0);
    Some(ticks * (1_000_000_000 / procfs::ticks_per_second().max(1)))
}

#[cfg(test)]
mod tests {
    use net::Clock;
    use std::process::Child;

    use super::*;

    /// A program that keeps one core busy until it is dropped.
    struct Busy(Child);

    impl Busy {
        fn start() -> Self {
            let mut command = crate::command("sh");
            Self(command.args(["-c", "while :; do :; done"]).spawn().unwrap())
        }
    }

    impl Drop for Busy {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn the_cpu_time_of_a_process_grows_while_it_runs() {
        let busy = Busy::start();
        let begin = cpu_time_ns(busy.0.id()).unwrap();
        let clock = Clock::monotonic();
        while cpu_time_ns(busy.0.id()).unwrap() < begin + 20_000_000 {
            assert!(clock.now() < 30_000_000_000, "it does not grow");
            std::thread::yield_now();
        }
        assert_eq!(cpu_time_ns(u32::MAX), None);
    }

    #[test]
    fn cores_are_given_back() {
        let busy = Busy::start();
        let all = usable_cores(&[busy.0.id()]).unwrap();
        if all == 1 {
            assert!(FewerCores::of(&[busy.0.id()]).is_err());
            return;
        }
        let mut fewer = FewerCores::of(&[busy.0.id()]).unwrap();
        assert_eq!(fewer.kept(), all - 1);
        fewer.switch(true);
        assert_eq!(usable_cores(&[busy.0.id()]), Some(all - 1));
        drop(fewer);
        assert_eq!(usable_cores(&[busy.0.id()]), Some(all));
    }

    #[test]
    fn servers_on_different_cores_keep_them() {
        let (one, other) = (Busy::start(), Busy::start());
        let both = [one.0.id(), other.0.id()];
        let all = usable_cores(&both).unwrap();
        if all == 1 {
            return;
        }
        let mut first = CpuSet::new();
        let of_one = cores(one.0.id()).unwrap();
        let cpu = (0..CpuSet::count()).find(|cpu| of_one.is_set(*cpu) == Ok(true)).unwrap();
        first.set(cpu).unwrap();
        sched_setaffinity(Pid::from_raw(both[0].cast_signed()), &first).unwrap();
        let told = FewerCores::of(&both).unwrap_err().to_string();
        assert_eq!(told, "its servers are bound to different cores");
        assert_eq!((usable_cores(&both), usable_cores(&both[..1])), (Some(all), Some(1)));
    }

    #[test]
    fn a_tax_that_cannot_be_attached_tells_why() {
        let told = format!("{:#}", CpuTax::attach(&[], Duration::from_micros(50)).unwrap_err());
        assert!(told.contains("no process"), "{told}");
    }
}
