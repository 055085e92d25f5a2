//! What the kernel counts of a server on this machine: which threads run, which could run and wait for a CPU, and what
//! stops all of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use measure::{BusyThread, Nanos, Pressure, ServerEvidence};

/// The threads that ran longest are told apart.
const THREADS_TOLD: usize = 3;

/// Readings of the counters of some processes at one time.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    threads: BTreeMap<(u32, u32), Thread>,
    /// By the folder of the cgroup.
    throttled_ns: BTreeMap<PathBuf, Nanos>,
    pressure: Option<Pressure>,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    name: String,
    ran_ns: Nanos,
    waited_ns: Nanos,
    slices: u64,
}

impl Counters {
    /// What is not told, such as of a thread that has just ended, is left out.
    pub fn read(processes: &[u32]) -> Self {
        let mut counters = Self::default();
        for process in processes {
            let folder = PathBuf::from(format!("/proc/{process}"));
            let threads = fs::read_dir(folder.join("task")).into_iter().flatten().flatten();
            for thread in threads {
                let number = thread.file_name().to_str().and_then(|name| name.parse().ok());
                let Some((number, read)) = number.zip(Thread::read(&thread.path())) else {
                    continue;
                };
                counters.threads.insert((*process, number), read);
            }
            if let Some((group, throttled_ns)) = throttled(&folder) {
                counters.throttled_ns.insert(group, throttled_ns);
            }
        }
        counters.pressure = pressure();
        counters
    }

    /// What was counted from an earlier reading, `span_ns` before, to this one. Threads that began meanwhile count in full, those
    /// that ended are left out.
    pub fn since(&self, earlier: &Self, span_ns: Nanos) -> ServerEvidence {
        let nothing = Thread::default();
        let mut threads: Vec<Thread> = self
            .threads
            .iter()
            .map(|(at, now)| now.since(earlier.threads.get(at).unwrap_or(&nothing)))
            .collect();
        threads.sort_by_key(|thread| std::cmp::Reverse(thread.ran_ns));
        let sum = |value: fn(&Thread) -> u64| threads.iter().map(value).sum();
        let throttled = self
            .throttled_ns
            .iter()
            .filter_map(|(group, now)| Some(now.saturating_sub(*earlier.throttled_ns.get(group)?)));
        ServerEvidence {
            span_ns,
            threads: threads.len() as u64,
            ran_ns: sum(|thread| thread.ran_ns),
            waited_ns: sum(|thread| thread.waited_ns),
            slices: sum(|thread| thread.slices),
            throttled_ns: throttled.reduce(|sum, it| sum + it),
            pressure: self.pressure.zip(earlier.pressure).map(|(now, then)| Pressure {
                cpu_ns: now.cpu_ns.saturating_sub(then.cpu_ns),
                io_ns: now.io_ns.saturating_sub(then.io_ns),
                memory_ns: now.memory_ns.saturating_sub(then.memory_ns),
            }),
            busiest: threads
                .into_iter()
                .take(THREADS_TOLD)
                .map(|thread| BusyThread { name: thread.name, ran_ns: thread.ran_ns })
                .collect(),
        }
    }
}

impl Thread {
    /// Source: Linux, Documentation/scheduler/sched-stats.rst, `/proc/<pid>/schedstat`.
    fn read(folder: &Path) -> Option<Self> {
        let text = fs::read_to_string(folder.join("schedstat")).ok()?;
        let mut numbers = text.split_whitespace().map_while(|word| word.parse().ok());
        Some(Self {
            ran_ns: numbers.next()?,
            waited_ns: numbers.next()?,
            slices: numbers.next()?,
            name: fs::read_to_string(folder.join("comm")).ok()?.trim_end().to_owned(),
        })
    }

    fn since(&self, earlier: &Self) -> Self {
        Self {
            name: self.name.clone(),
            ran_ns: self.ran_ns.saturating_sub(earlier.ran_ns),
            waited_ns: self.waited_ns.saturating_sub(earlier.waited_ns),
            slices: self.slices.saturating_sub(earlier.slices),
        }
    }
}

/// How long the quota of the process's cgroup stopped its threads, with the cgroup's folder; `None` without a quota.
///
/// Source: Linux, Documentation/admin-guide/cgroup-v2.rst, `cpu.stat`.
fn throttled(process: &Path) -> Option<(PathBuf, Nanos)> {
    let groups = fs::read_to_string(process.join("cgroup")).ok()?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let group = Path::new("/sys/fs/cgroup").join(path);
    let text = fs::read_to_string(group.join("cpu.stat")).ok()?;
    let us = text.lines().find_map(|line| line.strip_prefix("throttled_usec "))?;
    Some((group, us.trim().parse::<u64>().ok()?.saturating_mul(1_000)))
}

/// Source: Linux, Documentation/accounting/psi.rst.
fn pressure() -> Option<Pressure> {
    let some_ns = |what: &str| {
        let text = fs::read_to_string(format!("/proc/pressure/{what}")).ok()?;
        let line = text.lines().find(|line| line.starts_with("some "))?;
        let total = line.split(' ').find_map(|word| word.strip_prefix("total="))?;
        Some(total.parse::<u64>().ok()?.saturating_mul(1_000))
    };
    Some(Pressure { cpu_ns: some_ns("cpu")?, io_ns: some_ns("io")?, memory_ns: some_ns("memory")? })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread::Builder;

    use net::Clock;

    use super::*;

    #[test]
    fn the_thread_that_runs_all_the_time_is_named() {
        let is_over = AtomicBool::new(false);
        let clock = Clock::monotonic();
        std::thread::scope(|scope| {
            let spin = || {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            };
            Builder::new().name("the spinner".to_owned()).spawn_scoped(scope, spin).unwrap();
            let own = [std::process::id()];
            let (began, before) = (clock.now(), Counters::read(&own));
            std::thread::sleep(std::time::Duration::from_millis(300));
            let evidence = Counters::read(&own).since(&before, clock.now() - began);
            is_over.store(true, Ordering::Relaxed);
            let spinner = evidence.busiest.iter().find(|it| it.name == "the spinner").unwrap();
            assert!(spinner.ran_ns > 0 && spinner.ran_ns <= evidence.ran_ns, "{evidence:?}");
            // Of a CPU or of the queue for one: a thread that never sleeps is always in one of them.
            let queued = spinner.ran_ns + evidence.waited_ns;
            assert!(queued as f64 > 0.8 * evidence.span_ns as f64, "{evidence:?}");
            assert!(evidence.threads >= 2, "{evidence:?}");
        });
    }

    #[test]
    fn a_process_that_has_ended_has_no_threads() {
        let evidence = Counters::read(&[u32::MAX]).since(&Counters::default(), 1);
        assert_eq!((evidence.threads, evidence.ran_ns, evidence.throttled_ns), (0, 0, None));
        assert!(evidence.busiest.is_empty());
    }
}
