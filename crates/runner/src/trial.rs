//! One trial: load offered, everything it counts kept as it comes.

use std::io;
use std::time::Duration;

use anyhow::{Context, Result};
use engine::{Ended, Load, Observer, Offer, Outcome, Simulated, Stop, TrialError, Workers};
use jiff::Timestamp;
use measure::{Interval, LatencyHistogram, Operation, Outage, Phase, Unfinished};
use plan::{LoadPlan, Plan, SystemPlan, Trial, Variant};
use record::{
    ClientRecord, ClientUsage, Identity, LoadRecord, PhaseRecord, RunWriter, TrialEnd, TrialHeader,
    TrialStatus, TrialWriter, VariantRecord, WorkloadRecord,
};
use system::Access;
use workload::{Occasion, Progress};

use crate::bed::{Bed, Timer};
use crate::cross_check::Check;
use crate::experiment::Work;
use crate::pacing;
use crate::usage::UsageMark;
use crate::watching::{ToWatch, Watching};
use crate::{Event, Experiment, Watcher};

/// How long clients may take to connect and make ready, beside what the first of them may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// How long requests in flight at the end are waited for.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// Does one trial on a bed that is ready for it, and keeps it. The writer is handed back for phases
/// that come after the load.
pub(crate) fn run(
    experiment: &Experiment,
    trial: Trial,
    bed: &mut Bed<'_>,
    ready: &[PhaseRecord],
    writer: &RunWriter,
    stop: &Stop,
    watcher: &mut dyn Watcher,
) -> Result<(TrialStatus, TrialWriter)> {
    let load = make_load(experiment, trial, bed, stop)?;
    let warm_up = experiment.plan.warm_up(bed.takes_first_load());
    let offer = make_offer(&experiment.plan, trial, warm_up, bed.access());
    let mut header = TrialHeader {
        identity: bed.identity().clone(),
        is_embedded: is_blocking(bed.access()),
        operations: load.operations().to_vec(),
        ..bare_header(experiment, trial, warm_up)
    };
    header.load.threads = offer.threads();
    let mut keeper = writer.begin_trial(&header)?;
    for phase in ready {
        keeper.phase(*phase)?;
    }
    let shortages = bed.shortages(&experiment.workloads[trial.workload], trial.clients);
    let end = if shortages.is_empty() {
        let before = bed.before_run();
        let plan = LoadPlan { warm_up, ..experiment.plan.load.clone() };
        let mut kept = Keeper::new(bed, &mut keeper, load.operations(), &plan, watcher);
        let outcome = match before {
            Ok(()) => engine::offer(&offer, load.as_ref(), stop, &mut kept),
            Err(failure) => Err(TrialError::Start { client: 0, clients: trial.clients, failure }),
        };
        let is_lost = is_connection_lost(&outcome);
        let mut end = kept.end(outcome)?;
        let exited = if is_lost { bed.exited_with_its_connections() } else { bed.exited() };
        if end.status != TrialStatus::Interrupted
            && let Some(reason) = exited
        {
            end.status = TrialStatus::Crashed(reason);
        }
        end
    } else {
        let all: Vec<String> = shortages.iter().map(ToString::to_string).collect();
        TrialEnd::failed(all.join("; "))
    };
    keeper.finish(&end)?;
    Ok((end.status, keeper))
}

/// Whether the load ended because a connection did.
fn is_connection_lost(outcome: &Result<Outcome, TrialError>) -> bool {
    let failure = match outcome {
        Ok(Outcome { ended: Ended::Deserted(failure) | Ended::Disconnected(failure), .. })
        | Err(TrialError::Start { failure, .. }) => failure,
        _ => return false,
    };
    failure.key.class.breaks_connection()
}

fn make_load(
    experiment: &Experiment,
    trial: Trial,
    bed: &Bed<'_>,
    stop: &Stop,
) -> Result<Box<dyn Load>> {
    match (&experiment.workloads[trial.workload], bed.access()) {
        (Work::Simulated, Access::Simulated(system)) => {
            Ok(Box::new(Simulated::new(system.clone())))
        }
        (Work::Database(workload), Access::Database(_)) => {
            let target = bed.load_target()?;
            let Trial { repetition, clients, rate, .. } = trial;
            let occasion = Occasion { repetition, clients, rate: rate.unwrap_or(0) };
            let progress = Progress::new();
            Ok(bed.with_site(&target, occasion, &progress, stop, |site| workload.load(site)))
        }
        _ => anyhow::bail!("the workload does not fit the system"),
    }
}

/// What is known of a trial from the plan alone.
pub(crate) fn bare_header(experiment: &Experiment, trial: Trial, warm_up: Duration) -> TrialHeader {
    let plan = &experiment.plan;
    let workload = &plan.workloads[trial.workload];
    TrialHeader {
        index: trial.index,
        system: plan.systems[trial.system].name.clone(),
        variant: variant(plan, trial.system),
        identity: Identity::default(),
        is_embedded: false,
        workload: WorkloadRecord {
            name: workload.name.clone(),
            kind: workload.kind.clone(),
            description: experiment.describe_workload(trial.workload),
            rules: experiment.rules(trial.workload),
        },
        operations: Vec::new(),
        clients: trial.clients,
        repetition: trial.repetition,
        load: LoadRecord {
            description: pacing::describe(plan, trial, warm_up),
            threads: 0,
            think_time: plan.load.think_time,
            interval: plan.load.interval,
            open: pacing::record(plan, trial),
        },
    }
}

fn variant(plan: &Plan, system: usize) -> Option<VariantRecord> {
    let Variant { of, name } = plan.systems[system].variant.clone()?;
    let is_before = |it: &&SystemPlan| it.variant.as_ref().is_some_and(|other| other.of == of);
    let place = plan.systems[..system].iter().filter(is_before).count();
    Some(VariantRecord { of, name, place })
}

fn is_blocking(access: &Access) -> bool {
    matches!(access, Access::Database(target) if target.capabilities().is_blocking)
}

fn make_offer(plan: &Plan, trial: Trial, warm_up: Duration, access: &Access) -> Offer {
    let load = &plan.load;
    let workers = match access {
        Access::Simulated { .. } => Workers::Simulated,
        Access::Database(target) if target.capabilities().is_blocking => Workers::PerClient,
        Access::Database(_) => Workers::EventLoops(load.workers.unwrap_or_else(event_loops)),
    };
    Offer {
        clients: trial.clients,
        workers,
        pacing: pacing::pacing(plan, trial, warm_up),
        warm_up,
        limit: load.limit,
        interval: load.interval,
        connect_timeout: load.bounds.connect_timeout.saturating_add(CONNECT_TIMEOUT),
        reconnect_limit: load.bounds.reconnect_limit,
        drain_timeout: DRAIN_TIMEOUT,
    }
}

/// An event loop for every two cores that this process may use. One keeps up with a hundred thousand
/// requests a second, and the server under test often shares the machine: more loops then take its
/// cores, gain no throughput and serve clients less evenly (measured at 16 and 64 clients on two cores).
fn event_loops() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| (cores.get() / 2).max(1))
}

/// Keeps what the engine counts: in the record, and in front of people.
struct Keeper<'a, 'b> {
    bed: &'a mut Bed<'b>,
    writer: &'a mut TrialWriter,
    operations: &'a [Operation],
    load: &'a LoadPlan,
    watcher: &'a mut dyn Watcher,
    phase: Option<Timer>,
    measure_started: Option<Timestamp>,
    measure_ended: Option<Timestamp>,
    mark: Option<UsageMark>,
    usage: Option<ClientUsage>,
    check: Check,
    /// What will be watched, until the load begins.
    to_watch: Option<ToWatch>,
    watching: Option<Watching>,
    idle_round_trips: LatencyHistogram,
}

impl<'a, 'b> Keeper<'a, 'b> {
    fn new(
        bed: &'a mut Bed<'b>,
        writer: &'a mut TrialWriter,
        operations: &'a [Operation],
        load: &'a LoadPlan,
        watcher: &'a mut dyn Watcher,
    ) -> Self {
        let check = bed.check();
        Self {
            bed,
            writer,
            operations,
            load,
            watcher,
            phase: None,
            measure_started: None,
            measure_ended: None,
            mark: None,
            usage: None,
            check,
            idle_round_trips: LatencyHistogram::new(),
            to_watch: None,
            watching: None,
        }
    }

    /// Begins to watch with the load, or tells those who watch of its next phase.
    fn watch(&mut self) -> Result<()> {
        if let Some(watching) = &self.watching {
            watching.phase();
        }
        if let Some(what) = self.to_watch.take() {
            self.watching = Some(Watching::begin(self.writer.watch()?, what)?);
        }
        Ok(())
    }

    fn end_watch(&mut self) -> Result<()> {
        let Some(watching) = self.watching.take() else { return Ok(()) };
        for complaint in watching.end()? {
            let text = format!("not everything was watched: {complaint}");
            self.watcher.hear(Event::Note { text: &text });
        }
        Ok(())
    }

    fn close_phase(&mut self) -> io::Result<()> {
        match self.phase.take() {
            Some(timer) => self.writer.phase(timer.stop()).map_err(io::Error::other),
            None => Ok(()),
        }
    }

    /// What is known at the end; a record that cannot be kept ends the run.
    fn end(self, outcome: Result<Outcome, TrialError>) -> Result<TrialEnd> {
        let mut end = TrialEnd {
            status: TrialStatus::Complete,
            measure_started: self.measure_started,
            measure_ended: self.measure_ended,
            clients: Vec::new(),
            unfinished: Unfinished::default(),
            lateness: LatencyHistogram::new(),
            idle_round_trips: self.idle_round_trips,
            cross_check: None,
            usage: self.usage,
        };
        match outcome {
            Ok(outcome) => {
                end.cross_check = self.check.end(outcome.late_queries);
                take_outcome(&mut end, outcome);
            }
            Err(TrialError::Crashed(reason)) => end.status = TrialStatus::Crashed(reason),
            Err(TrialError::Interrupted) => end.status = TrialStatus::Interrupted,
            Err(TrialError::Observer(cause)) => return Err(cause).context("the run cannot go on"),
            Err(error) => end.status = TrialStatus::Failed(error.to_string()),
        }
        Ok(end)
    }
}

fn take_outcome(end: &mut TrialEnd, outcome: Outcome) {
    end.status = match outcome.ended {
        Ended::Complete => TrialStatus::Complete,
        Ended::Interrupted => TrialStatus::Interrupted,
        Ended::Overloaded { backlog } => TrialStatus::Failed(format!(
            "overloaded: {backlog} transactions waited for a client; offer a lower rate, more clients \
             or a higher load.backlog"
        )),
        Ended::Deserted(failure) => {
            TrialStatus::Failed(format!("every client had to give up: {failure}"))
        }
        Ended::Disconnected(failure) => TrialStatus::Failed(format!(
            "a client lost its connection, and reconnect_limit is off: {failure}"
        )),
        Ended::Crashed(reason) => TrialStatus::Crashed(reason),
    };
    let record = |client: engine::ClientOutcome| ClientRecord {
        events: client.events,
        failure: client.failure,
    };
    end.clients = outcome.clients.into_iter().map(record).collect();
    end.unfinished = outcome.unfinished;
    end.lateness = outcome.lateness;
}

impl Observer for Keeper<'_, '_> {
    fn ready(&mut self) -> io::Result<()> {
        self.idle_round_trips = self.bed.idle_round_trips();
        self.check.begin();
        self.to_watch = self.bed.to_watch();
        Ok(())
    }

    fn begins(&mut self, phase: Phase) -> io::Result<()> {
        self.close_phase()?;
        self.watch().map_err(io::Error::other)?;
        let planned = match (phase, self.load.limit) {
            (Phase::WarmUp, _) => Some(self.load.warm_up),
            (_, plan::Limit::Time(time)) => Some(time),
            (_, plan::Limit::Events(_)) => None,
        };
        self.watcher.hear(Event::PhaseBegins { phase, planned });
        self.phase = Some(Timer::start(phase));
        if phase == Phase::Measure {
            self.measure_started = Some(Timestamp::now());
            self.mark = Some(UsageMark::now());
        }
        Ok(())
    }

    fn interval(&mut self, interval: &Interval) -> io::Result<()> {
        self.writer.interval(interval).map_err(io::Error::other)?;
        self.check.add(interval);
        self.watcher.hear(Event::Interval { interval, operations: self.operations });
        Ok(())
    }

    fn outages(&mut self, outages: &[Outage]) -> io::Result<()> {
        self.writer.outages(outages).map_err(io::Error::other)
    }

    fn ends(&mut self) -> io::Result<()> {
        self.usage = self.mark.as_ref().and_then(UsageMark::until_now);
        self.measure_ended = self.mark.as_ref().map(|_| Timestamp::now());
        self.end_watch().map_err(io::Error::other)?;
        self.close_phase()
    }

    fn crash(&mut self) -> Option<String> {
        self.bed.exited()
    }
}
