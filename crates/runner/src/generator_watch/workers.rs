//! How long each worker thread of the load ran and waited for a CPU.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use measure::{CpuSpan, Nanos, WorkerCpu};

const TASKS: &str = "/proc/self/task";
/// The time between two readings.
const PERIOD_NS: Nanos = 100_000_000;
/// With more workers than this the period is longer, because reading one takes some 10 us.
const WORKERS_PER_PERIOD: usize = 64;
/// The length of the short spans: long enough for ten readings, short enough for a figure that a mean hides.
const SHORT_NS: Nanos = 1_000_000_000;

/// The worker threads of a trial, read at the begin of its measured time, at its end, and periodically in between.
pub(super) struct Workers {
    workers: Vec<Worker>,
    period_ns: Nanos,
    /// When the next reading is due; none is after the measured time.
    due: Option<Nanos>,
}

struct Worker {
    file: PathBuf,
    log: CpuLog,
}

impl Workers {
    /// Those that exist now, to be read from `start_ns` of the trial's clock on.
    pub(super) fn of_this_process(start_ns: Nanos) -> Self {
        let tasks = fs::read_dir(TASKS).into_iter().flatten().flatten();
        let numbered = tasks.filter_map(|task| Some((worker_of(&task.path())?, task.path())));
        let mut numbered: Vec<(usize, PathBuf)> = numbered.collect();
        numbered.sort();
        let worker = |(_, task): (usize, PathBuf)| Worker {
            file: task.join("schedstat"),
            log: CpuLog::default(),
        };
        let workers: Vec<Worker> = numbered.into_iter().map(worker).collect();
        let periods = workers.len().div_ceil(WORKERS_PER_PERIOD).max(1);
        Self { workers, period_ns: PERIOD_NS * periods as Nanos, due: Some(start_ns) }
    }

    /// Begins to read, unless a reading is due earlier.
    pub(super) fn begin_window(&mut self, now: Nanos) {
        self.due = self.due.map(|due| due.min(now));
        self.sample(now);
    }

    /// Reads every worker if a reading is due.
    pub(super) fn sample(&mut self, now: Nanos) {
        if self.due.is_some_and(|due| due <= now) {
            self.read(now);
            self.due = Some(now + self.period_ns);
        }
    }

    /// Reads every worker a last time, unless the load ends in its warm-up.
    pub(super) fn end_window(&mut self, now: Nanos) {
        let has_begun = self.workers.iter().any(|worker| worker.log.first.is_some());
        if self.due.take().is_some() && has_begun {
            self.read(now);
        }
    }

    /// The CPU of each worker; empty when the kernel does not report it.
    pub(super) fn result(&self) -> Vec<WorkerCpu> {
        self.workers.iter().filter_map(|worker| worker.log.result()).collect()
    }

    /// A worker whose thread has ended keeps its last reading.
    fn read(&mut self, at_ns: Nanos) {
        for worker in &mut self.workers {
            let text = fs::read_to_string(&worker.file).ok();
            if let Some((running_ns, waiting_ns)) = text.as_deref().and_then(parse) {
                worker.log.add(Reading { at_ns, running_ns, waiting_ns });
            }
        }
    }
}

fn worker_of(task: &Path) -> Option<usize> {
    let name = fs::read_to_string(task.join("comm")).ok()?;
    name.trim_end().strip_prefix(engine::WORKER_THREAD)?.parse().ok()
}

/// The first two numbers: time on a CPU and time waiting for one, ns. A kernel that does not count them writes zeros.
/// Source: Linux, Documentation/scheduler/sched-stats.rst.
fn parse(text: &str) -> Option<(Nanos, Nanos)> {
    let mut numbers = text.split_ascii_whitespace().map(str::parse);
    let (running_ns, waiting_ns) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    (running_ns > 0).then_some((running_ns, waiting_ns))
}

/// The kernel's counters of one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Reading {
    at_ns: Nanos,
    running_ns: Nanos,
    waiting_ns: Nanos,
}

impl Reading {
    fn until(&self, later: &Self) -> CpuSpan {
        CpuSpan {
            start_ns: self.at_ns,
            end_ns: later.at_ns,
            running_ns: later.running_ns.saturating_sub(self.running_ns),
            waiting_ns: later.waiting_ns.saturating_sub(self.waiting_ns),
        }
    }
}

/// The readings of one thread, reduced to what is recorded.
#[derive(Clone, Debug, Default)]
struct CpuLog {
    first: Option<Reading>,
    /// Those of the last short span.
    recent: VecDeque<Reading>,
    busiest: Option<CpuSpan>,
    most_delayed: Option<CpuSpan>,
}

impl CpuLog {
    fn add(&mut self, reading: Reading) {
        self.first.get_or_insert(reading);
        self.recent.push_back(reading);
        let is_short = |from: &Reading| reading.at_ns - from.at_ns < SHORT_NS;
        while self.recent.get(1).is_some_and(|second| !is_short(second)) {
            self.recent.pop_front();
        }
        let Some(from) = self.recent.front().filter(|from| !is_short(from)) else { return };
        let span = from.until(&reading);
        if self.busiest.is_none_or(|most| span.running() > most.running()) {
            self.busiest = Some(span);
        }
        if self.most_delayed.is_none_or(|most| span.waiting() > most.waiting()) {
            self.most_delayed = Some(span);
        }
    }

    /// `None` with fewer than two readings.
    fn result(&self) -> Option<WorkerCpu> {
        let whole = self.first?.until(self.recent.back()?);
        (whole.end_ns > whole.start_ns).then(|| WorkerCpu {
            whole,
            busiest: self.busiest.unwrap_or(whole),
            most_delayed: self.most_delayed.unwrap_or(whole),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;

    const MS: Nanos = 1_000_000;

    #[test]
    fn a_kernel_without_scheduler_statistics_is_told_from_an_idle_thread() {
        assert_eq!(parse("1500 20 3\n"), Some((1_500, 20)));
        assert_eq!(parse("0 0 0\n"), None, "a thread that reads this has run");
        assert_eq!((parse(""), parse("12"), parse("a b c")), (None, None, None));
    }

    /// A reading each 100 ms; in the period before each the thread ran and waited for these parts.
    fn log(parts: impl IntoIterator<Item = (u64, u64)>) -> CpuLog {
        let mut log = CpuLog::default();
        let mut reading = Reading { at_ns: 700 * MS, running_ns: 5 * MS, waiting_ns: 3 * MS };
        log.add(reading);
        for (running_percent, waiting_percent) in parts {
            reading.at_ns += 100 * MS;
            reading.running_ns += running_percent * MS;
            reading.waiting_ns += waiting_percent * MS;
            log.add(reading);
        }
        log
    }

    #[test]
    fn the_busiest_second_is_found_where_the_mean_hides_it() {
        // A second at 100 % from 10.3 s on, and half of one at 30 % waiting, in 30 s at 20 %.
        let parts = (0..300).map(|at| match at {
            96..106 => (100, 0),
            200..205 => (20, 60),
            _ => (20, 0),
        });
        let cpu = log(parts).result().unwrap();
        assert_eq!((cpu.whole.start_ns, cpu.whole.end_ns), (700 * MS, 30_700 * MS));
        assert!((cpu.whole.running() - (0.2 + 0.8 / 30.0)).abs() < 1e-9, "{cpu:?}");
        let (from, to) = (10_300 * MS, 11_300 * MS);
        let busiest = CpuSpan { start_ns: from, end_ns: to, running_ns: 1_000 * MS, waiting_ns: 0 };
        assert_eq!(cpu.busiest, busiest);
        assert!((cpu.most_delayed.waiting() - 0.3).abs() < 1e-9, "{cpu:?}");
        assert!((cpu.whole.waiting() - 0.01).abs() < 1e-9, "{cpu:?}");
    }

    #[test]
    fn a_stop_between_two_readings_makes_the_short_span_longer() {
        let mut log = log([(50, 0); 12]);
        let last = *log.recent.back().unwrap();
        log.add(Reading { at_ns: last.at_ns + 1_500 * MS, ..last });
        assert!((log.recent.len(), log.result().unwrap().busiest.running()) == (2, 0.5));
    }

    #[test]
    fn less_than_a_second_is_one_span_and_one_reading_is_none() {
        let cpu = log([(40, 10); 3]).result().unwrap();
        assert_eq!((cpu.busiest, cpu.most_delayed), (cpu.whole, cpu.whole));
        assert_eq!(log([]).result(), None);
    }

    #[test]
    fn worker_threads_are_found_by_their_names_and_others_are_not() {
        let name = format!("{}{}", engine::WORKER_THREAD, 98_765);
        let find = move || {
            // The kernel adds up the time of a thread when it switches to another.
            thread::sleep(Duration::from_millis(5));
            let mut all = Workers::of_this_process(0);
            let own = format!("/proc/self/task/{}/schedstat", nix::unistd::gettid());
            all.workers.retain(|worker| worker.file == Path::new(&own));
            assert_eq!(all.workers.len(), 1);
            all.sample(1);
            assert_eq!(all.due, Some(1 + all.period_ns));
            all.end_window(2 * PERIOD_NS);
            all.sample(3 * PERIOD_NS);
            all.result()
        };
        let thread = thread::Builder::new().name(name).spawn(find).unwrap();
        let of_worker = thread.join().unwrap();
        assert_eq!(of_worker[0].whole.end_ns, 2 * PERIOD_NS);
        let own = format!("/proc/self/task/{}", nix::unistd::gettid());
        assert_eq!(worker_of(Path::new(&own)), None);
    }
}
