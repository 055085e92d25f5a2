//! What counters say beside the experiment: they name the thread, the quota or the lock, or contradict. Alone they are no
//! experiment, and the sentence says so.

use analysis::Verdict;
use measure::ServerEvidence;

use super::Answer;
use crate::digest::{Trial, cross_checked};
use crate::finding;
use crate::number::{latency, number, percent};

/// A thread that has a CPU at least this part of the time is full.
const FULL: f64 = 0.85;
/// Less than this part of the time is not worth a word.
const LITTLE: f64 = 0.05;
/// Threads wait for a CPU when they do at least so long for each second that they have one.
const QUEUED: f64 = 0.25;
/// A machine waits for its disks when a program does this part of the time.
const WAITING: f64 = 0.5;

pub(super) struct Evidence<'a> {
    /// The time that transactions waited for locks of rows, ns for each, in the trial's load; `None` where it is not known.
    row_locks_ns: Option<f64>,
    /// Load that was concentrated on one of several servers, in the trial's load, as the servers counted it.
    uneven: Vec<String>,
    kernel: Option<&'a ServerEvidence>,
}

impl<'a> Evidence<'a> {
    pub(super) fn of(trial: &Trial<'a>) -> Self {
        let counted = cross_checked(trial.record.end.as_ref());
        // The server counts from before the warm-up on.
        let all = trial.record.intervals.iter().map(|it| it.tally.transactions).sum::<u64>();
        let row_locks_ns = counted.and_then(|counted| counted.row_lock_ns);
        let row_locks_ns = row_locks_ns.map(|waited| waited as f64 / all.max(1) as f64);
        let kernel = trial.record.why.as_ref().and_then(|why| why.evidence.as_ref());
        let is_uneven = |finding: &&analysis::Finding| finding.code == analysis::Code::LoadUneven;
        let uneven = trial.findings.iter().filter(is_uneven).map(finding::figures).collect();
        Self { row_locks_ns, uneven, kernel }
    }

    /// What fits the verdict, or contradicts it; without a verdict everything that is full.
    pub(super) fn sentence(&self, answer: &Answer<'_>) -> Option<String> {
        let said = match answer.verdict {
            Verdict::OneAtATime => self.thread().or_else(|| self.no_thread()),
            Verdict::ServerCpu | Verdict::ServerWork | Verdict::OtherPrograms => {
                self.idle(answer).or_else(|| self.queue()).or_else(|| self.thread())
            }
            Verdict::Member(_) => self.uneven().or_else(|| self.thread()),
            Verdict::Held => self.locks(answer),
            // The sentence has it, or no counter does.
            Verdict::Quota | Verdict::Slots => None,
            Verdict::SharedCpu => self.queue(),
            Verdict::Untouched | Verdict::Latency | Verdict::Several | Verdict::TooManyClients => {
                self.quota()
            }
            Verdict::FlushLatency | Verdict::FlushSerial | Verdict::FlushShared => self.disk(),
            Verdict::Generator => None,
            Verdict::NotDecided(_) => {
                let full =
                    [self.quota(), self.thread(), self.queue(), self.disk(), self.waits(answer)];
                let all = full.into_iter().flatten().chain(self.uneven());
                let all: Vec<String> = all.collect();
                (!all.is_empty()).then(|| all.join("; "))
            }
        };
        said.map(|said| format!("By its counters: {said}"))
    }

    fn uneven(&self) -> Option<String> {
        (!self.uneven.is_empty()).then(|| self.uneven.join("; "))
    }

    fn part(&self, ns: u64) -> Option<f64> {
        let span = self.kernel?.span_ns;
        (span > 0).then(|| ns as f64 / span as f64)
    }

    fn thread(&self) -> Option<String> {
        let busiest = self.kernel?.busiest.first()?;
        let part = self.part(busiest.ran_ns)?;
        (part >= FULL).then(|| {
            format!(
                "the server's thread `{}` had a CPU {} of the time",
                busiest.name,
                percent(part)
            )
        })
    }

    /// Work that is done one at a time by many threads.
    fn no_thread(&self) -> Option<String> {
        let kernel = self.kernel?;
        let part = self.part(kernel.busiest.first()?.ran_ns)?;
        let cores = self.part(kernel.ran_ns)?;
        Some(format!(
            "its {} threads had {} of a CPU together, and none of them alone more than {}: they do it in turn, as under one \
             lock or on one scheduler",
            kernel.threads,
            number(cores),
            percent(part)
        ))
    }

    /// The server's threads wait for CPUs that they could use.
    fn queue(&self) -> Option<String> {
        let kernel = self.kernel?;
        let queued = kernel.waited_ns as f64 / kernel.ran_ns.max(1) as f64;
        (queued >= QUEUED && self.part(kernel.ran_ns)? >= LITTLE).then(|| {
            format!(
                "for each second on a CPU, the server's threads waited {} s for one",
                number(queued)
            )
        })
    }

    /// Contradicts a full CPU.
    fn idle(&self, answer: &Answer<'_>) -> Option<String> {
        let effects = answer.effects.as_ref()?;
        let cores = effects.server_cores? as f64;
        let busy = self.part(self.kernel?.ran_ns)?;
        (busy < 0.5 * cores).then(|| {
            format!(
                "this is contradicted: the server's threads had {} of {} CPUs only",
                number(busy),
                number(cores)
            )
        })
    }

    fn quota(&self) -> Option<String> {
        let part = self.part(self.kernel?.throttled_ns?)?;
        (part >= LITTLE).then(|| {
            format!(
                "a quota of CPU time (of its cgroup) stopped the server {} of the time",
                percent(part)
            )
        })
    }

    fn disk(&self) -> Option<String> {
        let part = self.part(self.kernel?.pressure?.io_ns)?;
        (part >= WAITING).then(|| {
            format!("something on its machine waited for a disk {} of the time", percent(part))
        })
    }

    /// Waits for locks of rows, of each transaction, and their part in its time.
    fn lock_part(&self, answer: &Answer<'_>) -> Option<(f64, f64)> {
        let effects = answer.effects.as_ref()?;
        let waited = self.row_locks_ns?;
        Some((waited, waited * effects.rate_per_s / 1e9 / effects.clients.max(1) as f64))
    }

    fn waits(&self, answer: &Answer<'_>) -> Option<String> {
        let (waited, part) = self.lock_part(answer)?;
        (part >= LITTLE).then(|| {
            format!(
                "transactions waited {} each for locks of rows, {} of their time",
                latency(waited),
                percent(part)
            )
        })
    }

    fn locks(&self, answer: &Answer<'_>) -> Option<String> {
        self.lock_part(answer)?;
        let none = "the server counts next to no waits for locks of rows, so it is something else that they hold, such as a \
                    session of a pool";
        Some(self.waits(answer).unwrap_or_else(|| none.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::{BusyThread, Pressure};

    fn evidence(kernel: &ServerEvidence) -> Evidence<'_> {
        Evidence { row_locks_ns: None, uneven: Vec::new(), kernel: Some(kernel) }
    }

    /// Ten seconds in which nothing was full.
    fn calm() -> ServerEvidence {
        ServerEvidence {
            span_ns: 10_000_000_000,
            threads: 40,
            ran_ns: 4_000_000_000,
            waited_ns: 100_000_000,
            slices: 10_000,
            throttled_ns: Some(0),
            pressure: Some(Pressure { cpu_ns: 0, io_ns: 0, memory_ns: 0 }),
            busiest: vec![BusyThread { name: "worker".to_owned(), ran_ns: 1_000_000_000 }],
        }
    }

    #[test]
    fn waits_for_locks_are_shared_by_the_transactions_of_the_warm_up_too() {
        let mut run = crate::sample::run();
        let trial = &mut run.trials[0];
        trial.why = Some(crate::sample::experiment(8_000));
        let all: u64 = trial.intervals.iter().map(|it| it.tally.transactions).sum();
        assert!(all > trial.total.transactions, "the sample has a warm-up");
        trial.end.as_mut().unwrap().cross_check =
            Some(record::CrossCheck::Counted(record::Counted {
                row_lock_ns: Some(all * 1_000),
                ..record::Counted::default()
            }));
        let reading = crate::Reading::new(&run);
        let evidence = Evidence::of(&reading.digest.trials[0]);
        assert_eq!(evidence.row_locks_ns, Some(1_000.0));
    }

    #[test]
    fn what_is_full_is_named_and_what_is_not_is_not() {
        let calm = calm();
        let told = |kernel: &ServerEvidence| {
            let it = evidence(kernel);
            [it.thread(), it.queue(), it.quota(), it.disk()]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
        };
        assert_eq!(told(&calm), Vec::<String>::new());
        let full = ServerEvidence {
            waited_ns: 8_000_000_000,
            throttled_ns: Some(3_000_000_000),
            pressure: Some(Pressure { cpu_ns: 0, io_ns: 9_000_000_000, memory_ns: 0 }),
            busiest: vec![BusyThread { name: "worker".to_owned(), ran_ns: 9_800_000_000 }],
            ..calm.clone()
        };
        assert_eq!(
            told(&full),
            [
                "the server's thread `worker` had a CPU 98 % of the time",
                "for each second on a CPU, the server's threads waited 2.00 s for one",
                "a quota of CPU time (of its cgroup) stopped the server 30 % of the time",
                "something on its machine waited for a disk 90 % of the time",
            ]
        );
        let in_turn = evidence(&calm).no_thread().unwrap();
        assert!(in_turn.contains("its 40 threads had 0.400 of a CPU together"), "{in_turn}");
    }
}
