//! The input of every view: a run with its trials summarized and grouped.

use std::collections::BTreeSet;

use analysis::{
    Estimate, Finding, Measured, Offered, RunFacts, Slice, Summary, Usage, check, check_run,
    over_repetitions, summarize,
};
use measure::{LatencyHistogram, Outage, Unfinished};
use plan::{Arrivals, Rate};
use record::{
    Counted, CrossCheck, Identity, Run, TrialEnd, TrialRecord, TrialStatus, VariantRecord,
};

use crate::watch::window;

/// A run, summarized once for all views.
#[derive(Debug)]
pub struct Digest<'a> {
    pub(crate) run: &'a Run,
    /// Every trial, in the order in which they ran.
    pub(crate) trials: Vec<Trial<'a>>,
    /// Every combination of system, workload, clients and rate, in the order of the plan.
    pub(crate) points: Vec<Point<'a>>,
    /// Findings about the run as a whole and its machine.
    pub(crate) findings: Vec<Finding>,
}

/// One trial with its summary.
#[derive(Debug)]
pub(crate) struct Trial<'a> {
    pub(crate) record: &'a TrialRecord,
    pub(crate) summary: Summary,
    pub(crate) findings: Vec<Finding>,
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

impl<'a> Digest<'a> {
    /// Summarizes every trial of a run.
    pub fn new(run: &'a Run) -> Self {
        let percentiles = &run.header.percentiles;
        let usable = run.header.environment.cpu.usable_threads;
        let trials: Vec<Trial<'a>> =
            run.trials.iter().map(|record| Trial::new(record, percentiles, usable)).collect();
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

    /// Whether any point was measured more than once.
    pub(crate) fn is_repeated(&self) -> bool {
        self.points.iter().any(|point| point.trials.len() > 1)
    }

    /// Whether any trial was an open loop.
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

    /// A count summed over all trials of the point, counted or not.
    pub(crate) fn sum(&self, point: &Point<'_>, figure: impl Fn(&Summary) -> u64) -> u64 {
        point.trials.iter().map(|trial| figure(&self.trials[*trial].summary)).sum()
    }

    /// Transaction latencies of the point's counted trials, merged.
    pub(crate) fn latencies(&self, point: &Point<'_>) -> LatencyHistogram {
        let mut all = LatencyHistogram::new();
        for trial in &point.counted {
            all.merge(&self.trials[*trial].record.latencies());
        }
        all
    }

    /// Service times of those transactions, merged; empty in a closed loop.
    pub(crate) fn service(&self, point: &Point<'_>) -> LatencyHistogram {
        let mut all = LatencyHistogram::new();
        for trial in &point.counted {
            all.merge(&self.trials[*trial].record.service());
        }
        all
    }

    /// The systems under test in one line: products with versions and storage.
    pub(crate) fn under_test(&self) -> String {
        let mut seen = BTreeSet::new();
        let titles = self.systems().into_iter().map(|(_, identity)| identity.title());
        let is_new = |title: &String| !title.is_empty() && seen.insert(title.clone());
        let distinct: Vec<String> = titles.filter(is_new).collect();
        distinct.join(" · ")
    }

    /// [`caption`] with all systems under test.
    pub(crate) fn caption(&self, of: &str) -> String {
        caption(of, &self.under_test())
    }

    /// Numbers of trials in which the server crashed and of trials that failed otherwise, for the head of a
    /// view; empty when all succeeded.
    pub(crate) fn failed_trials(&self) -> String {
        let count = |status: &str| self.trials.iter().filter(|it| it.status() == status).count();
        let told = ["crashed", "failed"].into_iter();
        let told = told.map(|status| (count(status), status)).filter(|(count, _)| *count > 0);
        told.map(|(count, word)| format!(", {count} {word}")).collect()
    }

    /// The run's title, or its plan's name.
    pub(crate) fn title(&self) -> &'a str {
        let header = &self.run.header;
        header.title.as_deref().unwrap_or(&header.plan_name)
    }
}

impl<'a> Trial<'a> {
    fn new(record: &'a TrialRecord, percentiles: &[f64], usable: Option<u32>) -> Self {
        let end = record.end.as_ref();
        let clients = end.map_or(&[][..], |end| &end.clients);
        let client_events: Vec<u64> = clients.iter().map(|client| client.events).collect();
        let slices: Vec<Slice> = record
            .measured()
            .map(|interval| Slice {
                seconds: interval.seconds(),
                transactions: interval.tally.transactions,
            })
            .collect();
        let none = Unfinished::default();
        let on_time = LatencyHistogram::new();
        let measured = Measured {
            operations: &record.header.operations,
            total: &record.total,
            slices: &slices,
            percentiles,
            clients: record.header.clients,
            client_events: &client_events,
            clients_lost: clients.iter().filter(|client| client.failure.is_some()).count(),
            think_time_ns: record.header.load.think_time.as_nanos().try_into().unwrap_or(u64::MAX),
            rules: &record.header.workload.rules,
            conditions: &record.conditions,
            unfinished: end.map_or(&none, |end| &end.unfinished),
            outages: &record.outages,
            server_difference: cross_checked(end).map(Counted::difference),
            load_end_ns: record.intervals.last().map_or(0, |interval| interval.end_ns),
            usage: usage(record, usable),
            open: record.header.load.open.as_ref().map(|open| Offered {
                rate_per_s: open.rate_per_s,
                is_constant: open.rate.is_constant(),
                is_random: open.arrivals == Arrivals::Poisson,
                lateness: end.map_or(&on_time, |end| &end.lateness),
            }),
            is_embedded: record.header.is_embedded,
            watched: &record.watched,
            window: window(record),
            status: end.map(|end| &end.status),
        };
        let summary = summarize(&measured);
        let findings = check(&measured, &summary);
        Self { record, summary, findings }
    }

    /// Identifies the trial by its place in the experiment.
    pub(crate) fn name(&self) -> String {
        let header = &self.record.header;
        let load = load_text(header.clients, header.load.open.as_ref().map(|open| &open.rate));
        format!("{} {}, {load}", header.system, header.workload.name)
    }

    /// Why the trial failed.
    pub(crate) fn reason(&self) -> Option<&'a str> {
        self.record.end.as_ref()?.status.reason()
    }

    /// Times in which clients had lost the system.
    pub(crate) fn outages(&self) -> &'a [Outage] {
        &self.record.outages
    }

    pub(crate) fn status(&self) -> &'static str {
        self.record.end.as_ref().map_or("cut", |end| end.status.name())
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.record.end.as_ref().is_some_and(|end| end.status == TrialStatus::Complete)
    }

    /// Whether the server crashed in this trial.
    pub(crate) fn has_crashed(&self) -> bool {
        self.record.end.as_ref().is_some_and(|end| matches!(end.status, TrialStatus::Crashed(_)))
    }
}

/// A caption for `of`, followed by the systems under test when they are known.
pub(crate) fn caption(of: &str, under_test: &str) -> String {
    if under_test.is_empty() { of.to_owned() } else { format!("{of}: {under_test}") }
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

/// The cross-check of a trial; `None` when it is missing.
pub(crate) fn cross_checked(end: Option<&TrialEnd>) -> Option<&Counted> {
    match end?.cross_check.as_ref()? {
        CrossCheck::Counted(counted) => Some(counted),
        CrossCheck::Missing { .. } => None,
    }
}

/// Input of the checks of a whole run.
fn run_facts(run: &Run) -> RunFacts<'_> {
    let environment = &run.header.environment;
    RunFacts {
        trials_planned: run.header.trials_planned,
        trials: run.trials.len(),
        governor: environment.cpu.governor.as_deref(),
        threads: environment.cpu.threads,
        load_average: environment.load_average.map(|[last_minute, ..]| last_minute),
    }
}

/// The load generator's CPU time, with the most threads that could run at once: no more than its own, and no
/// more than the CPUs that it may use.
fn usage(record: &TrialRecord, usable: Option<u32>) -> Option<Usage> {
    let machine = usable.map_or(usize::MAX, |threads| threads as usize);
    let own = Some(record.header.load.threads).filter(|threads| *threads > 0);
    let usage = record.end.as_ref()?.usage?;
    Some(Usage {
        user_ns: usage.user_ns,
        system_ns: usage.system_ns,
        switches: usage.switches(),
        threads: own.unwrap_or(usize::MAX).min(machine),
    })
}

fn points<'a>(trials: &[Trial<'a>]) -> Vec<Point<'a>> {
    let mut points: Vec<Point<'a>> = Vec::new();
    for (index, trial) in trials.iter().enumerate() {
        let header = &trial.record.header;
        let rate = header.load.open.as_ref().map(|open| &open.rate);
        let known = points.iter_mut().find(|point| {
            point.system == header.system
                && point.workload == header.workload.name
                && point.clients == header.clients
                && point.rate == rate
        });
        match known {
            Some(point) => point.trials.push(index),
            None => points.push(Point {
                system: &header.system,
                variant: header.variant.as_ref(),
                identity: &header.identity,
                workload: &header.workload.name,
                clients: header.clients,
                rate,
                offered_per_s: header.load.open.as_ref().map_or(0.0, |open| open.rate_per_s),
                trials: vec![index],
                counted: Vec::new(),
            }),
        }
    }
    sort_variants(&mut points);
    for point in &mut points {
        point.counted = counted(trials, &point.trials);
    }
    points
}

/// Variants run in another order in each round; they are shown in the order of the plan.
fn sort_variants(points: &mut [Point<'_>]) {
    let are_of_one = |one: &Point<'_>, next: &Point<'_>| {
        one.variant.map(|variant| &variant.of) == next.variant.map(|variant| &variant.of)
    };
    for group in points.chunk_by_mut(are_of_one) {
        group.sort_by_key(|point| point.variant.map(|variant| variant.place));
    }
}

/// Trials that did not end as planned count only when the point has no complete trial.
fn counted(trials: &[Trial<'_>], of: &[usize]) -> Vec<usize> {
    // Trials with nothing but time-outs have figures too: their percentiles are lower bounds of the wait.
    let with_figures = |index: &&usize| trials[**index].summary.latency.known().is_some();
    let is_complete = |index: &&usize| trials[**index].is_complete();
    let measured: Vec<usize> = of.iter().filter(with_figures).copied().collect();
    let complete: Vec<usize> = measured.iter().filter(is_complete).copied().collect();
    if complete.is_empty() { measured } else { complete }
}
