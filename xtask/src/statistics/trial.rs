//! A trial of the real engine on a simulated system, in virtual time, and what analysis makes of it.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use analysis::{
    Finding, JudgedProbe, Measured, NextProbe, Offered, Slice, Step, Summary, assess, check,
    summarize,
};
use anyhow::Context;
use engine::{
    Load, LoadEnd, OfferedLoad, Outcome, Pacing, PhaseEnds, Schedule, Simulated, SimulatedChance,
    Stop, TrialObserver, Workers, offer,
};
use measure::{
    DecidedEnds, Interval, LatencyHistogram, Operation, Phase, ProbeFacts, Rules, SeekBound, Tally,
    TrialStatus, Watched,
};
use plan::{
    Arrivals, Limit, LoadPlan, Noise, Plan, Rate, ServiceDistribution, SimulatedSystem, Source,
};
use runner::Enough;

/// More than an open loop ever has in flight.
const OPEN_CLIENTS: usize = 2_000;

/// A trial, and its load.
#[derive(Clone, Debug)]
pub(super) struct SimulatedTrial {
    pub(super) system: SimulatedSystem,
    pub(super) clients: usize,
    pub(super) pacing: Pacing,
    /// Of an open loop, a second.
    pub(super) rate_per_s: Option<f64>,
    pub(super) warm_up: Duration,
    pub(super) time: Duration,
    pub(super) interval: Duration,
}

/// Servers behind one queue.
pub(super) fn system(
    servers: usize,
    service_ns: u64,
    distribution: ServiceDistribution,
    noise: Vec<Noise>,
) -> SimulatedSystem {
    SimulatedSystem {
        servers,
        operations: 1,
        service_times_ns: vec![service_ns],
        distribution,
        stalls: Vec::new(),
        noise,
    }
}

/// One server with exponential services: with Poisson arrivals a queue of which everything is known (M/M/1).
pub(super) fn exponential(service_ns: u64) -> SimulatedSystem {
    system(1, service_ns, ServiceDistribution::Exponential, Vec::new())
}

/// Services and noise from one seed, on a machine that has just started.
pub(super) fn chance(seed: u64) -> SimulatedChance {
    SimulatedChance { services: seed, noise: seed, origin_ns: 0, up_ns: 0 }
}

impl SimulatedTrial {
    /// A second of a closed loop, after a warm-up.
    pub(super) fn closed(
        system: SimulatedSystem,
        clients: usize,
        think_time_ns: u64,
        warm_up: Duration,
    ) -> Self {
        let pacing = Pacing::Closed { think_time_ns };
        let (time, interval) = (Duration::from_secs(1), Duration::from_secs(1));
        Self { system, clients, pacing, rate_per_s: None, warm_up, time, interval }
    }

    /// A second of Poisson arrivals, after a warm-up.
    pub(super) fn open(
        system: SimulatedSystem,
        rate_per_s: f64,
        seed: u64,
        warm_up: Duration,
    ) -> Self {
        let schedule = Schedule::new(&Rate::constant(rate_per_s), warm_up);
        let spread = Arrivals::Poisson;
        let pacing = Pacing::Open { schedule, spread, seed, backlog_max: 100_000 };
        let rate_per_s = Some(rate_per_s);
        Self { pacing, rate_per_s, ..Self::closed(system, OPEN_CLIENTS, 0, warm_up) }
    }
}

/// Keeps the measured intervals, and may end a phase.
struct Kept<'a> {
    operations: &'a [Operation],
    measured: Vec<Interval>,
    enough: Option<Enough>,
}

impl TrialObserver for Kept<'_> {
    fn begins(&mut self, _phase: Phase, _late_ns: u64) -> io::Result<()> {
        Ok(())
    }

    fn interval(&mut self, interval: &Interval) -> io::Result<()> {
        if interval.phase == Phase::Measure {
            self.measured.push(interval.clone());
        }
        if let Some(enough) = &mut self.enough {
            enough.add(interval, self.operations);
        }
        Ok(())
    }

    fn has_enough(&mut self) -> bool {
        self.enough.as_ref().is_some_and(Enough::is_enough)
    }

    fn ends(&mut self, _late_ns: u64) -> io::Result<()> {
        Ok(())
    }
}

/// What became of a trial.
pub(super) struct Tried {
    pub(super) summary: Summary,
    pub(super) findings: Vec<Finding>,
    /// Of phases that ended by what was measured.
    pub(super) ends: DecidedEnds,
}

/// Runs a trial. With a plan its phases end as that says; the lengths of the phases are then the longest ones. An open loop
/// has its own warm-up before.
///
/// # Errors
/// When the engine could not run it.
pub(super) fn run(
    trial: &SimulatedTrial,
    chance: SimulatedChance,
    plan: Option<&LoadPlan>,
) -> anyhow::Result<Tried> {
    let load = Simulated::new(trial.system.clone(), chance);
    let (outcome, kept) = offered(trial, &load, plan)?;
    let (summary, findings) = analyse(trial, &load, &outcome, &kept.measured);
    let ends = kept.enough.as_ref().map(Enough::ends).unwrap_or_default();
    Ok(Tried { summary, findings, ends })
}

/// The load of a plan with these lines.
///
/// # Errors
/// When they are wrong.
pub(super) fn load_of(lines: &str) -> anyhow::Result<LoadPlan> {
    let text = format!("system = \"simulated\"\nworkload = \"simulated\"\n[load]\n{lines}\n");
    let source = Source { name: "statistics".to_owned(), text, folder: PathBuf::new() };
    Ok(Plan::parse(source)?.load)
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
    let (outcome, kept) = offered(trial, &load, None)?;
    let intervals = &kept.measured;
    let total = total(&load, intervals);
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

/// Offers the load of a trial; returns the outcome and the measured intervals. With a plan its phases end as that says.
fn offered<'l>(
    trial: &SimulatedTrial,
    load: &'l Simulated,
    plan: Option<&LoadPlan>,
) -> anyhow::Result<(Outcome, Kept<'l>)> {
    let steady_from = plan.and_then(|plan| Some(plan.steady.as_ref()?.at_least));
    let warm_up = plan.filter(|_| steady_from.is_some()).map(|plan| plan.warm_up);
    let offered = OfferedLoad {
        clients: trial.clients,
        workers: Workers::Simulated(1),
        cpus: Vec::new(),
        pacing: trial.pacing.clone(),
        warm_up: warm_up.unwrap_or(trial.warm_up),
        limit: Limit::time(trial.time),
        ends: plan.map_or_else(PhaseEnds::default, |plan| Enough::allowed(plan, steady_from)),
        runs_once: false,
        interval: trial.interval,
        connect_timeout: Duration::from_secs(1),
        reconnect_limit: None,
        drain_timeout: Duration::from_secs(10),
    };
    let enough = plan.map(|plan| Enough::new(plan, steady_from));
    let mut kept = Kept { operations: load.operations(), measured: Vec::new(), enough };
    let outcome = offer(&offered, load, &Stop::new(), &mut kept).context("a simulated trial")?;
    Ok((outcome, kept))
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
        operation_slices: &[],
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
        generators: &[],
        interval_ns: 0,
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
        failed_phase: None,
        decided_ends: DecidedEnds::default(),
        damage: None,
    };
    let summary = summarize(&measured);
    let findings = check(&measured, &summary);
    (summary, findings)
}
