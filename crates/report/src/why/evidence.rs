//! What counters say beside the experiment: they name the thread, the quota or the lock, or contradict. Alone they are no
//! experiment, and the sentence says so.

use std::collections::BTreeMap;

use analysis::{ConnectionFigure, SampleWindow, Verdict, Window, evaluate, mean_peak, of_kind};
use measure::{PanelLine, Server, ServerEvidence, TcpCounters, Watched};

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
/// Segments are lost when at least this part of them has to be sent again.
const LOST: f64 = 0.005;
/// So many waits are named.
const WAITS_TOLD: usize = 3;
/// A machine waits for its disks when a program does this part of the time.
const WAITING: f64 = 0.5;

pub(super) struct Evidence<'a> {
    /// The time that transactions waited for locks of rows, ns for each, in the trial's load; `None` where it is not known.
    row_locks_ns: Option<f64>,
    /// Load that was concentrated on one of several servers, in the trial's load, as the servers counted it.
    uneven: Vec<String>,
    /// What was watched, and the measured time.
    watched: Option<(&'a Watched, Window)>,
    network: Option<Network>,
    kernel: Option<&'a ServerEvidence>,
}

/// What dyno's connections waited for in the trial's load.
#[derive(Clone, Copy, Debug)]
struct Network {
    counted: TcpCounters,
    /// The times of all open connections together, ns.
    open_ns: f64,
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
        let watched = Some((&trial.record.watched, trial.window()));
        Self { row_locks_ns, uneven, watched, network: Network::of(trial), kernel }
    }

    /// What fits the verdict, or contradicts it; without a verdict everything that is full.
    pub(super) fn sentence(&self, answer: &Answer<'_>) -> Option<String> {
        let said = match answer.verdict {
            Verdict::OneAtATime => self.thread().or_else(|| self.no_thread(answer)),
            Verdict::ServerCpu | Verdict::ServerWork | Verdict::OtherPrograms => {
                self.idle(answer).or_else(|| self.queue()).or_else(|| self.thread())
            }
            Verdict::Member(_) => self.uneven().or_else(|| self.thread()),
            Verdict::Held => self.locks(answer),
            // The sentence has it, or no counter does.
            Verdict::Quota | Verdict::Slots => None,
            Verdict::SharedCpu => self.queue(),
            Verdict::Untouched | Verdict::Latency | Verdict::Several => {
                self.quota().or_else(|| self.network()).or_else(|| self.sessions(answer))
            }
            Verdict::TooManyClients => {
                self.locked(answer).or_else(|| self.quota()).or_else(|| self.switches(answer))
            }
            Verdict::FlushLatency | Verdict::FlushSerial | Verdict::FlushShared => {
                self.disk().or_else(|| self.sessions(answer))
            }
            Verdict::Generator => None,
            Verdict::NotDecided(_) => {
                let full = [self.quota(), self.thread(), self.queue(), self.disk(), self.network()];
                let waits = [self.locked(answer), self.sessions(answer), self.uneven()];
                let all = full.into_iter().chain(waits).flatten();
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
    fn no_thread(&self, answer: &Answer<'_>) -> Option<String> {
        let kernel = self.kernel?;
        let part = self.part(kernel.busiest.first()?.ran_ns)?;
        let cores = self.part(kernel.ran_ns)?;
        let in_turn = format!(
            "its {} threads had {} of a CPU together, and none of them alone more than {}: they do it in turn, as under one \
             lock or on one scheduler",
            kernel.threads,
            number(cores),
            percent(part)
        );
        Some(self.switches(answer).map_or(in_turn.clone(), |it| format!("{in_turn}; {it}")))
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

    /// How often the server's threads were given a CPU for each transaction.
    fn switches(&self, answer: &Answer<'_>) -> Option<String> {
        let (kernel, effects) = (self.kernel?, answer.effects.as_ref()?);
        let transactions = effects.rate_per_s * kernel.span_ns as f64 / 1e9;
        (kernel.slices > 0 && transactions > 0.0).then(|| {
            let each = number(kernel.slices as f64 / transactions);
            format!("its threads were given a CPU {each} times for each transaction")
        })
    }

    fn network(&self) -> Option<String> {
        let Network { counted, open_ns } = self.network?;
        let part = |ns: u64| ns as f64 / open_ns;
        let (window, buffer) = (part(counted.window_full_ns), part(counted.buffer_full_ns));
        let again =
            counted.segments_retransmitted as f64 / counted.data_segments_sent.max(1) as f64;
        let mut said = Vec::new();
        if window >= LITTLE {
            said.push(format!(
                "dyno's connections could not send {} of the time because the server's receive window was full: it reads too \
                 slowly",
                percent(window)
            ));
        }
        if buffer >= LITTLE {
            said.push(format!(
                "dyno's connections could not send {} of the time because their send buffers were full",
                percent(buffer)
            ));
        }
        if again >= LOST {
            said.push(format!("{} of the segments with data were sent again", percent(again)));
        }
        (!said.is_empty()).then(|| said.join("; "))
    }

    /// What sessions wait for at a time.
    fn sessions(&self, answer: &Answer<'_>) -> Option<String> {
        let clients = answer.effects.as_ref()?.clients.max(1) as f64;
        let all = sessions(self.watched?);
        let many = all.iter().filter(|(_, waiting)| waiting / clients >= LITTLE);
        let named: Vec<String> = many
            .take(WAITS_TOLD)
            .map(|(what, waiting)| format!("{} in `{what}`", number(*waiting)))
            .collect();
        (!named.is_empty())
            .then(|| format!("at a time, of its sessions there were {}", named.join(", ")))
    }

    /// Waits for locks of rows, of each transaction, and their part in its time.
    fn lock_part(&self, answer: &Answer<'_>) -> Option<(f64, f64)> {
        let effects = answer.effects.as_ref()?;
        let waited = self.row_locks_ns?;
        Some((waited, waited * effects.rate_per_s / 1e9 / effects.clients.max(1) as f64))
    }

    fn locked(&self, answer: &Answer<'_>) -> Option<String> {
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
        if self.lock_part(answer).is_none() {
            return self.sessions(answer);
        }
        let none = "the server counts next to no waits for locks of rows, so it is something else that they hold, such as a \
                    session of a pool";
        Some(self.locked(answer).unwrap_or_else(|| none.to_owned()))
    }
}

/// How many sessions of the servers waited at a time in the measured time, by what they waited for.
fn sessions((watched, window): (&Watched, Window)) -> Vec<(String, f64)> {
    let mut all = BTreeMap::new();
    for kind in &watched.kinds {
        for line in &kind.waits {
            for server in of_kind(&watched.kinds, &kind.name, &watched.servers) {
                for (what, waiting) in waiting(line, server, window) {
                    *all.entry(what).or_insert(0.0) += waiting;
                }
            }
        }
    }
    let mut all: Vec<(String, f64)> = all.into_iter().collect();
    all.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    all
}

fn waiting(line: &PanelLine, server: &Server, window: Window) -> Vec<(String, f64)> {
    let mean = |over_time: Vec<SampleWindow>| Some(mean_peak(&over_time, window)?.mean);
    let named = |what: String| format!("{} {what}", line.name).trim().to_owned();
    let lines = evaluate(&line.query, server).into_iter();
    lines.filter_map(|(what, over_time)| Some((named(what), mean(over_time)?))).collect()
}

impl Network {
    fn of(trial: &Trial<'_>) -> Option<Self> {
        let (from, to) = trial.window();
        let connections = &trial.record.watched.connections;
        let open = mean_peak(&ConnectionFigure::Open.of(connections), (from, to))?.mean;
        let within = |at_ns| (from..=to).contains(&at_ns);
        let mut readings = connections.readings.iter().filter(|it| within(it.at_ns));
        let (first, last) = (readings.next()?, readings.next_back()?);
        let open_ns = open * (last.at_ns - first.at_ns) as f64;
        let counted = last.counters.since(&first.counters);
        (open_ns > 0.0).then_some(Self { counted, open_ns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::{BusyThread, MetricFunction, MetricQuery, Pressure, Series, ServerKind};

    fn evidence(kernel: &ServerEvidence) -> Evidence<'_> {
        Evidence {
            row_locks_ns: None,
            uneven: Vec::new(),
            watched: None,
            network: None,
            kernel: Some(kernel),
        }
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
        let mut run = crate::sample::run();
        run.trials[0].why = Some(crate::sample::experiment(8_000));
        let reading = crate::Reading::new(&run);
        let answer = Answer::of(&reading.digest.trials[0]).unwrap();
        let in_turn = evidence(&calm).no_thread(&answer).unwrap();
        assert!(in_turn.contains("its 40 threads had 0.400 of a CPU together"), "{in_turn}");
        // 10,000 times in ten seconds.
        let each = 1_000.0 / answer.effects.as_ref().unwrap().rate_per_s;
        let switched = format!("; its threads were given a CPU {} times for each", number(each));
        assert!(in_turn.contains(&switched), "{in_turn}");
    }

    #[test]
    fn full_windows_and_buffers_and_lost_segments_are_told() {
        let calm = calm();
        let told = |counted: TcpCounters| {
            let network = Some(Network { counted, open_ns: 1e9 });
            Evidence { network, ..evidence(&calm) }.network()
        };
        let counted = TcpCounters {
            data_segments_sent: 1_000,
            segments_retransmitted: 4,
            window_full_ns: 40_000_000,
            ..TcpCounters::default()
        };
        assert_eq!(told(counted), None);
        let full = TcpCounters {
            segments_retransmitted: 20,
            window_full_ns: 300_000_000,
            buffer_full_ns: 60_000_000,
            ..counted
        };
        assert_eq!(
            told(full).unwrap(),
            "dyno's connections could not send 30 % of the time because the server's receive window was full: it reads too \
             slowly; dyno's connections could not send 6.0 % of the time because their send buffers were full; 2.0 % of the \
             segments with data were sent again"
        );
    }

    #[test]
    fn what_sessions_wait_for_is_counted_in_the_measured_time() {
        let mut run = crate::sample::run();
        let trial = &mut run.trials[0];
        trial.why = Some(crate::sample::experiment(8_000));
        let query = MetricQuery::new(MetricFunction::SumRate, "waits_seconds").by("what");
        let waits = vec![PanelLine { name: "storage:".to_owned(), query }];
        trial.watched.kinds = vec![ServerKind { waits, ..ServerKind::default() }];
        let series = |what: &str, each_second: f64| {
            let mut series = Series::parse(&format!("waits_seconds_sum{{what=\"{what}\"}}"));
            series.points =
                (0..=5).map(|at| (at * 1_000_000_000, each_second * at as f64)).collect();
            series
        };
        trial.watched.servers = vec![Server {
            answers_ns: (0..=5).map(|at| at * 1_000_000_000).collect(),
            series: vec![series("commit", 0.5), series("get", 1.5), series("rare", 0.001)],
            ..Server::default()
        }];
        let reading = crate::Reading::new(&run);
        let trial = &reading.digest.trials[0];
        let answer = Answer::of(trial).unwrap();
        assert_eq!(
            Evidence::of(trial).sessions(&answer).unwrap(),
            "at a time, of its sessions there were 1.50 in `storage: get`, 0.500 in `storage: commit`"
        );
        assert!(answer.sentence().contains("By its counters: at a time"), "{}", answer.sentence());
    }
}
