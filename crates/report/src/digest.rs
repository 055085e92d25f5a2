//! The input of every view: a run with its trials summarized and grouped.

mod generators;
mod points;
pub(crate) mod probe;
mod run_title;
mod slices;
pub(crate) mod titles;
mod unit;
mod validity;
mod windows;

use std::collections::BTreeSet;

use analysis::{
    CountedStatements, DamagedFile, Estimate, Finding, JudgedProbe, Measured, Offered,
    OperationSlice, RunFacts, Summary, Usage, Window, check, check_run, host_of_node,
    over_repetitions, summarize_due,
};
use jiff::Timestamp;
use measure::{
    Edges, ErrorKey, Failure, Host, LatencyHistogram, Nanos, Operation, OperationTally, Outage,
    QueryCounts, ServerCount, SessionStatements, of_transactions, transaction_latencies,
};
use plan::{Arrivals, Rate};
use record::{
    Counted, CrossCheck, Damage, Identity, Run, RunStatus, TrialEnd, TrialRecord, TrialStatus,
    VariantRecord, on_all_cores,
};

use generators::{clients_left, parts, usage_of};
use points::points;
use slices::{operation_slices, slices, warm_up};

pub(crate) use unit::Event;

/// Stands for a latency without an upper bound, and leaves room for the mean of two of them.
const UNBOUNDED: f64 = 1e300;

/// The status of a trial whose record is damaged.
const DAMAGED: &str = "damaged";

/// A run, summarized: what its record says of each trial and each load. [`crate::Reading`] draws on it.
#[derive(Debug)]
pub struct Digest<'a> {
    pub(crate) run: &'a Run,
    /// Every trial, in the order in which they ran.
    pub(crate) trials: Vec<Trial<'a>>,
    /// Every combination of system, workload, clients and rate, in the order of the plan. Of a seek only the longer
    /// trials that confirm its result: its probes are no repetitions of one measurement.
    pub(crate) points: Vec<Point<'a>>,
    /// Findings about the run as a whole and its machine, without those that compare variants.
    pub(crate) findings: Vec<Finding>,
}

#[derive(Debug)]
pub(crate) struct Trial<'a> {
    pub(crate) record: &'a TrialRecord,
    pub(crate) summary: Summary,
    pub(crate) due: Vec<OperationTally>,
    pub(crate) findings: Vec<Finding>,
    /// What it shows of the bounds of a seek, if it is a trial of one.
    pub(crate) probe: Option<JudgedProbe>,
    /// The windows that it is made of, in the order in which they ran; empty for most trials.
    pub(crate) windows: Vec<Self>,
}

/// One system under one workload with one number of clients at one rate, over its repetitions.
#[derive(Debug)]
pub(crate) struct Point<'a> {
    pub(crate) system: &'a str,
    pub(crate) variant: Option<&'a VariantRecord>,
    pub(crate) identity: &'a Identity,
    pub(crate) workload: &'a str,
    pub(crate) clients: usize,
    /// The offered rate; `None` in a closed loop.
    pub(crate) rate: Option<&'a Rate>,
    /// Its mean over the measured time, arrivals a second; 0 in a closed loop.
    pub(crate) offered_per_s: f64,
    /// Indices into [`Digest::trials`].
    pub(crate) trials: Vec<usize>,
    /// The trials that the figures come from: the complete ones or, when none is complete, all with figures.
    pub(crate) counted: Vec<usize>,
}

impl<'a> Point<'a> {
    /// What distinguishes it from the other points of its system.
    pub(crate) fn load(&self) -> (&'a str, usize, Option<&'a Rate>) {
        (self.workload, self.clients, self.rate)
    }
}

impl<'a> Digest<'a> {
    /// Summarizes every trial of a run.
    pub fn new(run: &'a Run) -> Self {
        Self::with_percentiles(run, &run.header.percentiles)
    }

    /// Summarizes every trial of a run at other percentiles than those of its plan.
    pub fn with_percentiles(run: &'a Run, percentiles: &[f64]) -> Self {
        let usable = run.header.environment.cpu.usable_threads;
        let trials: Vec<&'a TrialRecord> = run.trials.iter().collect();
        let trials = on_all_cores(&trials, |&record| {
            let probe = probe::judged(run, record);
            Trial { probe, ..Trial::new(record, percentiles, usable) }
        });
        let points = points(&trials);
        let findings = check_run(&run_facts(run));
        Self { run, trials, points, findings }
    }

    /// Names of systems in the order of the plan, each with its identity.
    pub(crate) fn systems(&self) -> Vec<(&'a str, &'a Identity)> {
        let mut seen = BTreeSet::new();
        let headers = || self.run.trials.iter().map(|trial| &trial.header);
        headers()
            .filter(|header| seen.insert(header.system.as_str()))
            .map(|header| {
                // A trial that failed before the system was identified has an empty identity.
                let of_system = headers().filter(|other| other.system == header.system);
                let known = of_system.map(|other| &other.identity);
                let known = known.into_iter().find(|identity| !identity.product.is_empty());
                (header.system.as_str(), known.unwrap_or(&header.identity))
            })
            .collect()
    }

    /// Names of workloads in the order of the plan.
    pub(crate) fn workloads(&self) -> Vec<&'a str> {
        let mut seen = BTreeSet::new();
        let headers = self.run.trials.iter().map(|trial| &trial.header);
        headers
            .map(|header| header.workload.name.as_str())
            .filter(|name| seen.insert(*name))
            .collect()
    }

    /// The points of a system under a workload that have figures.
    pub(crate) fn points_of(&self, system: &str, workload: &str) -> Vec<&Point<'a>> {
        let is_one = |point: &&Point<'_>| (point.system, point.workload) == (system, workload);
        self.points.iter().filter(is_one).filter(|point| !point.counted.is_empty()).collect()
    }

    /// Whether any point was measured more than once.
    pub(crate) fn is_repeated(&self) -> bool {
        self.points.iter().any(|point| point.trials.len() > 1)
    }

    pub(crate) fn is_open(&self) -> bool {
        self.points.iter().any(|point| point.rate.is_some())
    }

    /// One figure of a point over its counted trials.
    pub(crate) fn estimate(
        &self,
        point: &Point<'_>,
        figure: impl Fn(&Summary) -> f64,
    ) -> Option<Estimate> {
        let values: Vec<f64> =
            point.counted.iter().map(|trial| figure(&self.trials[*trial].summary)).collect();
        over_repetitions(&values)
    }

    /// The trials of a point that ran to their end.
    pub(crate) fn complete<'t>(
        &'t self,
        point: &'t Point<'_>,
    ) -> impl Iterator<Item = &'t Trial<'a>> {
        let trials = point.trials.iter().map(|at| &self.trials[*at]);
        trials.filter(|trial| trial.is_complete())
    }

    /// The trial that represents its point for figures of which a median makes no sense.
    pub(crate) fn middle_trial(&self, point: &Point<'_>) -> Option<&Trial<'a>> {
        let mut trials: Vec<&Trial<'a>> =
            point.counted.iter().map(|at| &self.trials[*at]).collect();
        trials
            .sort_by(|a, b| a.summary.transactions_per_s.total_cmp(&b.summary.transactions_per_s));
        trials.get(trials.len().saturating_sub(1) / 2).copied()
    }

    /// One latency of a point over its counted trials, and whether its median is only a lower bound.
    pub(crate) fn bounded(
        &self,
        point: &Point<'_>,
        figure: impl Fn(&Summary) -> (f64, bool),
    ) -> Option<(Estimate, bool)> {
        // A trial in which nothing ended has a throughput of 0, and no latency.
        let known = |summary: &Summary, value| {
            if summary.latency.known().is_some() { value } else { f64::NAN }
        };
        let least = self.estimate(point, |summary| known(summary, figure(summary).0))?;
        let most = |(value, is_bound)| if is_bound { UNBOUNDED } else { value };
        let most = self.estimate(point, |summary| known(summary, most(figure(summary))))?;
        Some((least, least.median < most.median))
    }

    /// The first score of its own that the workload of a point has: the median, and its name.
    pub(crate) fn score(&self, point: &Point<'_>) -> Option<(f64, &str)> {
        let name = &self.middle_trial(point)?.summary.scores.first()?.name;
        let of = |summary: &Summary| summary.scores.first().map_or(0.0, |score| score.value);
        Some((self.estimate(point, of)?.median, name))
    }

    /// A count summed over all trials of the point, counted or not.
    pub(crate) fn sum(&self, point: &Point<'_>, figure: impl Fn(&Summary) -> u64) -> u64 {
        point.trials.iter().map(|trial| figure(&self.trials[*trial].summary)).sum()
    }

    /// Transaction latencies of the point's counted trials, merged.
    pub(crate) fn latencies(&self, point: &Point<'_>) -> LatencyHistogram {
        self.sum_of(point, transaction_latencies)
    }

    /// Service times of those transactions, merged; empty in a closed loop.
    pub(crate) fn service(&self, point: &Point<'_>) -> LatencyHistogram {
        self.sum_of(point, |operations, due| of_transactions(operations, due, |it| &it.service))
    }

    fn sum_of(
        &self,
        point: &Point<'_>,
        histogram: impl Fn(&[Operation], &[OperationTally]) -> LatencyHistogram,
    ) -> LatencyHistogram {
        let counted = point.counted.iter().map(|at| &self.trials[*at]);
        let of_each = counted.map(|trial| histogram(&trial.record.header.operations, &trial.due));
        LatencyHistogram::sum(&of_each.collect::<Vec<_>>())
    }

    /// What to know of a point's trials before its figures are read, in a few words: how many count, how those ended
    /// that did not run to their end, and how many others are not valid. Empty when there is nothing.
    pub(crate) fn remarks(&self, point: &Point<'_>) -> String {
        let trials: Vec<&Trial<'_>> = point.trials.iter().map(|at| &self.trials[*at]).collect();
        if let [only] = trials[..] {
            return only.remark().to_owned();
        }
        let (counted, all) = (point.counted.len(), point.trials.len());
        let mut parts = Vec::new();
        if counted < all {
            parts.push(format!("{counted} of {all} trials"));
        }
        for word in ["crashed", "failed", DAMAGED, "cut", "interrupted", "invalid", "doubtful"] {
            let number = trials.iter().filter(|trial| trial.remark() == word).count();
            parts.extend((number > 0).then(|| format!("{number} {word}")));
        }
        parts.join(", ")
    }

    /// Numbers of trials in which the server crashed, of trials that failed otherwise, and of those whose record is
    /// damaged, for the head of a view; empty when there are none.
    pub(crate) fn failed_trials(&self) -> String {
        // A probe that fails has broken its bounds, which is a result.
        let is_failed = |it: &&Trial<'_>| it.probe.is_none() || it.has_crashed();
        let trials = || self.trials.iter().filter(is_failed);
        let count = |status: &str| trials().filter(|it| it.status() == status).count();
        let told = ["crashed", "failed", DAMAGED].into_iter();
        let told = told.map(|status| (count(status), status)).filter(|(count, _)| *count > 0);
        told.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
    }

    /// A trial by its place in the experiment, with its repetition where points are measured more than once.
    pub(crate) fn name_of(&self, trial: &Trial<'_>) -> String {
        if self.is_repeated() {
            format!("{}, repetition {}", trial.name(), trial.record.header.repetition + 1)
        } else {
            trial.name()
        }
    }
}

impl<'a> Trial<'a> {
    pub(crate) fn new(record: &'a TrialRecord, percentiles: &[f64], usable: Option<u32>) -> Self {
        let end = record.end.as_ref();
        let clients = end.map_or(&[][..], |end| &end.clients);
        let client_events: Vec<u64> = clients.iter().map(|client| client.events).collect();
        let (slices, generators) = (slices(record), parts(record, &client_events));
        let latencies: Vec<&LatencyHistogram> =
            record.measured().map(|interval| &interval.latencies).collect();
        let operations = 0..record.header.operations.len();
        let operation_slices: Vec<Vec<OperationSlice<'_>>> =
            operations.map(|at| operation_slices(record, at)).collect();
        let warm_up = warm_up(record);
        let is_planned = end.is_some_and(|end| !end.turns.is_empty());
        let data_remarks = data_remarks(record);
        let (none, on_time) = (Edges::default(), LatencyHistogram::new());
        let measured = Measured {
            operations: &record.header.operations,
            total: &record.total,
            slices: &slices,
            latencies: (!is_planned).then_some(&latencies[..]),
            operation_slices: &operation_slices,
            percentiles,
            clients: record.header.clients,
            client_events: &client_events,
            clients_lost: end.map_or(0, clients_left),
            think_time_ns: record.header.load.think_time.as_nanos().try_into().unwrap_or(u64::MAX),
            rules: &record.header.workload.rules,
            conditions: &record.conditions,
            edges: end.map_or(&none, |end| &end.edges),
            outages: &record.outages,
            member_exits: &record.member_exits,
            statements: cross_checked(end).and_then(counted_statements),
            system_remarks: &record.header.identity.remarks,
            data_remarks: &data_remarks,
            first_executions: record.header.identity.first_executions.as_ref(),
            warm_up: &warm_up,
            plans: &record.plans,
            transactions: cross_checked(end).and_then(|counted| counted.by_server.transactions()),
            load_end_ns: record.intervals.last().map_or(0, |interval| interval.end_ns),
            usage: usage(record, usable),
            generator: end.and_then(|end| end.lone_generator()),
            generators: &generators,
            interval_ns: record.header.load.interval.as_nanos().try_into().unwrap_or(u64::MAX),
            open: record.header.load.open.as_ref().map(|open| Offered {
                rate_per_s: open.rate_per_s,
                is_constant: open.rate.is_constant(),
                is_random: open.arrivals == Arrivals::Poisson,
                lateness: end.map_or(&on_time, |end| &end.lateness),
                start_delays: end.map_or(&on_time, |end| &end.start_delays),
            }),
            is_embedded: record.header.is_embedded,
            watched: &record.watched,
            window: window(record),
            status: end.map(|end| &end.status),
            failed_phase: end.and_then(|end| end.failed_phase),
            decided_ends: end.map(|end| end.decided_ends).unwrap_or_default(),
            damage: record.damage.as_ref().map(damaged_file),
        };
        let due = record.due();
        let summary = summarize_due(&measured, &due);
        let found = check(&measured, &summary);
        let of_window = |window: &'a TrialRecord| Self::new(window, percentiles, usable);
        let windows: Vec<Self> = record.windows.iter().map(of_window).collect();
        let findings = match record.header.window {
            Some(_) => windows::of_one(found),
            None if windows.is_empty() => found,
            None => windows::findings(found, &windows),
        };
        Self { record, summary, due, findings, probe: None, windows }
    }

    /// Identifies the trial by its place in the experiment.
    pub(crate) fn name(&self) -> String {
        let header = &self.record.header;
        if self.record.is_unknown() {
            return format!("trial {}, whose header cannot be read", header.index + 1);
        }
        let load = load_text(header.clients, header.load.open.as_ref().map(|open| &open.rate));
        let probe = match header.probe {
            Some(probe) if probe.is_confirming => ", confirming".to_owned(),
            Some(probe) => format!(", probe {}", probe.number + 1),
            None => String::new(),
        };
        format!("{} {}, {load}{probe}", header.system, header.workload.name)
    }

    pub(crate) fn reason(&self) -> Option<&'a str> {
        self.record.end.as_ref()?.status.reason()
    }

    /// When the measured load began and ended.
    pub(crate) fn measured(&self) -> [Option<Timestamp>; 2] {
        let end = self.record.end.as_ref();
        [end.and_then(|end| end.measure_started), end.and_then(|end| end.measure_ended)]
    }

    /// Start and end of the measured load on the trial's clock.
    pub(crate) fn window(&self) -> Window {
        window(self.record)
    }

    /// Length of the load before the measured time, ns; of several windows, before the first.
    pub(crate) fn warm_up_ns(&self) -> Nanos {
        self.windows.first().map_or_else(|| self.window().0, |first| first.window().0)
    }

    /// Every watched host: those that were read locally, and those with a node_exporter.
    pub(crate) fn hosts(&self) -> Vec<Host> {
        let watched = &self.record.watched;
        let of_nodes = watched.servers.iter().filter_map(host_of_node);
        watched.hosts.iter().cloned().chain(of_nodes).collect()
    }

    /// Times in which clients had lost the system or no transaction succeeded.
    pub(crate) fn outages(&self) -> &'a [Outage] {
        &self.record.outages
    }

    pub(crate) fn status(&self) -> &'static str {
        if self.record.damage.is_some() {
            return DAMAGED;
        }
        self.record.end.as_ref().map_or("cut", |end| end.status.name())
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.record.damage.is_none()
            && self.record.end.as_ref().is_some_and(|end| end.status == TrialStatus::Complete)
    }

    /// One of its failures of a class and code.
    pub(crate) fn failure(&self, key: &ErrorKey) -> Option<&'a Failure> {
        self.record.end.as_ref()?.failures.of(key)
    }

    pub(crate) fn has_crashed(&self) -> bool {
        self.record.end.as_ref().is_some_and(|end| matches!(end.status, TrialStatus::Crashed(_)))
    }
}

fn data_remarks(record: &TrialRecord) -> Vec<&str> {
    record.phases.iter().flat_map(|it| &it.remarks).map(String::as_str).collect()
}

fn window(record: &TrialRecord) -> Window {
    let mut measured = record.measured();
    let first = measured.next();
    let last = measured.last().or(first);
    (first.map_or(0, |it| it.start_ns), last.map_or(0, |it| it.end_ns))
}

/// `1 client`, `16 clients`.
pub(crate) fn clients_text(clients: usize) -> String {
    format!("{clients} client{}", if clients == 1 { "" } else { "s" })
}

/// `16 clients`; in an open loop with the offered rate: `16 clients, 5000/s`.
pub(crate) fn load_text(clients: usize, rate: Option<&Rate>) -> String {
    let clients = clients_text(clients);
    rate.map_or(clients.clone(), |rate| format!("{clients}, {rate}"))
}

pub(crate) fn cross_checked(end: Option<&TrialEnd>) -> Option<&Counted> {
    match end?.cross_check.as_ref()? {
        CrossCheck::Counted(counted) => Some(counted),
        CrossCheck::Missing { .. } => None,
    }
}

/// The statements of both sides. Those that a server counts beside transactions are not told apart by what they do.
fn counted_statements(counted: &Counted) -> Option<CountedStatements> {
    let alike = |other| QueryCounts { other, ..QueryCounts::default() };
    match (counted.by_server, counted.session_statements.as_ref()) {
        (ServerCount::Statements(by_server), _) => {
            Some(CountedStatements { by_dyno: counted.by_dyno, by_server })
        }
        (_, Some(&SessionStatements::Counted { by_dyno, by_server })) => {
            Some(CountedStatements { by_dyno: alike(by_dyno), by_server: alike(by_server) })
        }
        _ => None,
    }
}

/// Input of the checks of a whole run.
fn run_facts(run: &Run) -> RunFacts<'_> {
    let environment = &run.header.environment;
    RunFacts {
        trials_planned: match run.status {
            RunStatus::Running => run.trials.len(),
            _ => run.trials_planned(),
        },
        trials: run.trials.len(),
        governor: environment.cpu.governor.as_deref(),
        threads: environment.cpu.threads,
        load_average: environment.load_average.map(|[last_minute, ..]| last_minute),
        plan_damage: run.plan_damage.as_ref().map(damaged_file),
    }
}

fn damaged_file(damage: &Damage) -> DamagedFile<'_> {
    DamagedFile { file: &damage.file, line: damage.line, what: &damage.what }
}

/// The load generator's CPU time, of all generators together. What they could have used is known of each of them.
fn usage(record: &TrialRecord, usable: Option<u32>) -> Option<Usage> {
    let load = &record.header.load;
    let usage = record.end.as_ref()?.usage?;
    Some(usage_of(&usage, usable, load.threads, load.cpus.len()))
}

#[cfg(test)]
mod tests;
