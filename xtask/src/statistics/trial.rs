//! A trial of the real engine on a simulated system, in virtual time, and what analysis makes of it.

use std::io;
use std::time::Duration;

use analysis::{
    Finding, JudgedProbe, Measured, NextProbe, Offered, Slice, Step, Summary, assess, check,
    summarize,
};
use anyhow::Context;
use engine::{
    Load, LoadEnd, OfferedLoad, Outcome, Pacing, PhaseEnds, Simulated, SimulatedChance, Stop,
    TrialObserver, Workers, offer,
};
use measure::{
    DecidedEnds, Interval, LatencyHistogram, Phase, ProbeFacts, Rules, SeekBound, Tally,
    TrialStatus, Watched,
};
use plan::{Limit, SimulatedSystem};

/// The load of a simulated trial.
#[derive(Clone, Debug)]
pub(super) struct SimulatedTrial {
    pub(super) system: SimulatedSystem,
    pub(super) clients: usize,
    pub(super) pacing: Pacing,
    /// Of an open loop with Poisson arrivals, a second.
    pub(super) rate_per_s: Option<f64>,
    pub(super) warm_up: Duration,
    pub(super) time: Duration,
    pub(super) interval: Duration,
}

#[derive(Default)]
struct Kept(Vec<Interval>);

impl TrialObserver for Kept {
    fn begins(&mut self, _phase: Phase) -> io::Result<()> {
        Ok(())
    }

    fn interval(&mut self, interval: &Interval) -> io::Result<()> {
        if interval.phase == Phase::Measure {
            self.0.push(interval.clone());
        }
        Ok(())
    }

    fn ends(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs a trial.
///
/// # Errors
/// When the engine could not run it.
pub(super) fn run(
    trial: &SimulatedTrial,
    chance: SimulatedChance,
) -> anyhow::Result<(Summary, Vec<Finding>)> {
    let load = Simulated::new(trial.system.clone(), chance);
    let (outcome, intervals) = offered(trial, &load)?;
    Ok(analyse(trial, &load, &outcome, &intervals))
}

/// Runs a trial as a probe of a seek for these bounds, and judges it.
///
/// # Errors
/// As [`run`].
pub(super) fn probe(
    trial: &SimulatedTrial,
    chance: SimulatedChance,
    next: NextProbe,
    bounds: &[SeekBound],
) -> anyhow::Result<JudgedProbe> {
    let load = Simulated::new(trial.system.clone(), chance);
    let (outcome, intervals) = offered(trial, &load)?;
    let total = total(&load, &intervals);
    let status = match outcome.ended {
        LoadEnd::Complete => TrialStatus::Complete,
        ended => TrialStatus::Failed(format!("{ended:?}")),
    };
    let facts = ProbeFacts {
        load: next.load,
        is_confirming: next.step == Step::Confirm,
        operations: load.operations(),
        total: &total,
        edges: &outcome.edges,
        seconds: intervals.iter().map(Interval::seconds).sum(),
        status: &status,
    };
    Ok(assess(bounds, &facts))
}

fn total(load: &Simulated, intervals: &[Interval]) -> Tally {
    let mut total = Tally::new(load.operations().len());
    intervals.iter().for_each(|interval| total.merge(&interval.tally));
    total
}

/// Offers the load of a trial; returns the outcome and the measured intervals.
fn offered(trial: &SimulatedTrial, load: &Simulated) -> anyhow::Result<(Outcome, Vec<Interval>)> {
    let offered = OfferedLoad {
        clients: trial.clients,
        workers: Workers::Simulated,
        cpus: Vec::new(),
        pacing: trial.pacing.clone(),
        warm_up: trial.warm_up,
        limit: Limit::time(trial.time),
        ends: PhaseEnds::default(),
        has_uneven_turns: false,
        keeps_turns: false,
        interval: trial.interval,
        connect_timeout: Duration::from_secs(1),
        reconnect_limit: None,
        drain_timeout: Duration::from_secs(10),
    };
    let mut kept = Kept::default();
    let outcome = offer(&offered, load, &Stop::new(), &mut kept).context("a simulated trial")?;
    Ok((outcome, kept.0))
}

fn analyse(
    trial: &SimulatedTrial,
    load: &Simulated,
    outcome: &Outcome,
    intervals: &[Interval],
) -> (Summary, Vec<Finding>) {
    let total = total(load, intervals);
    let slice = |interval: &Interval| Slice {
        seconds: interval.seconds(),
        transactions: interval.tally.transactions,
        queries: interval.tally.queries.total(),
        ended: interval.tally.transactions + interval.tally.failed_transactions,
        busy_ns: interval.tally.busy_ns,
        arrivals: trial.rate_per_s.map(|_| interval.tally.arrivals),
    };
    let slices: Vec<Slice> = intervals.iter().map(slice).collect();
    let of_interval = |interval: &Interval| interval.tally.transaction_latencies(load.operations());
    let of_intervals: Vec<LatencyHistogram> = intervals.iter().map(of_interval).collect();
    let latencies: Vec<&LatencyHistogram> = of_intervals.iter().collect();
    let client_events: Vec<u64> = outcome.clients.iter().map(|client| client.events).collect();
    let think_time_ns = match trial.pacing {
        Pacing::Closed { think_time_ns } => think_time_ns,
        Pacing::Open { .. } => 0,
    };
    let measured = Measured {
        operations: load.operations(),
        total: &total,
        slices: &slices,
        latencies: Some(&latencies),
        percentiles: &[50.0, 95.0, 99.0],
        clients: trial.clients,
        client_events: &client_events,
        clients_lost: 0,
        think_time_ns,
        rules: &Rules::default(),
        conditions: &[],
        edges: &outcome.edges,
        outages: &[],
        member_exits: &[],
        statements: None,
        load_end_ns: 0,
        usage: None,
        generator: None,
        open: trial.rate_per_s.map(|rate_per_s| Offered {
            rate_per_s,
            is_constant: true,
            is_random: true,
            lateness: &outcome.lateness,
            start_delays: &outcome.start_delays,
        }),
        is_embedded: false,
        watched: &Watched::default(),
        window: (0, 0),
        status: Some(&TrialStatus::Complete),
        decided_ends: DecidedEnds::default(),
        damage: None,
    };
    let summary = summarize(&measured);
    let findings = check(&measured, &summary);
    (summary, findings)
}
