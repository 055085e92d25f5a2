//! Adds up what the runner tells of a run.

use std::time::Duration;

use measure::{Interval, Nanos, Operation, Phase};
use plan::{Plan, Trial, scrub};
use runner::{Event, RunListener};

use super::Latest;
use super::counts::{Counts, CurrentLoad, Labels};
use super::otlp::Collecting;

/// The phases of a load.
const LOADED: [Phase; 2] = [Phase::WarmUp, Phase::Measure];
/// The phase in which a system starts, which the runner does not count as one.
const START: &str = "start";

pub(super) struct Collector<'a> {
    plan: &'a Plan,
    latest: &'a Latest,
    collecting: Option<&'a Collecting>,
    trial: Option<Trial>,
    /// Where the last interval of the trial ended, on its clock, and where its measured time began.
    seen_ns: Nanos,
    measured_from_ns: Option<Nanos>,
}

impl<'a> Collector<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        latest: &'a Latest,
        collecting: Option<&'a Collecting>,
    ) -> Self {
        latest.change(|counts| begin(counts, plan));
        Self { plan, latest, collecting, trial: None, seen_ns: 0, measured_from_ns: None }
    }

    fn begin_trial(&mut self, trial: Trial) {
        (self.trial, self.seen_ns, self.measured_from_ns) = (Some(trial), 0, None);
        let rate = self.plan.rate(trial);
        let current = CurrentLoad {
            labels: labels(self.plan, trial),
            clients: trial.clients,
            target_per_s: rate.map(|rate| rate.first_per_s()),
        };
        self.latest.change(|counts| {
            counts.trial = Some(trial.index + 1);
            counts.current = Some(current);
        });
    }

    fn interval(&mut self, interval: &Interval, operations: &[Operation]) {
        let Some(trial) = self.trial else { return };
        let seconds = interval.end_ns.saturating_sub(self.seen_ns.max(interval.start_ns));
        self.seen_ns = self.seen_ns.max(interval.end_ns);
        let target_per_s = self.target_per_s(trial, interval);
        let labels = with_phase(labels(self.plan, trial), interval.phase);
        let is_open = target_per_s.is_some();
        self.latest.change(|counts| {
            let load = counts.of_load(&labels, is_open);
            load.add(interval, operations, seconds as f64 / 1e9);
            counts.current.iter_mut().for_each(|it| it.target_per_s = target_per_s);
        });
        self.collecting.iter().for_each(|it| it.send(self.latest.get()));
    }

    /// Arrivals per second that were planned for an interval. The steps of a rate begin with the measured time.
    fn target_per_s(&mut self, trial: Trial, interval: &Interval) -> Option<f64> {
        let rate = self.plan.rate(trial)?;
        if interval.phase != Phase::Measure || interval.end_ns <= interval.start_ns {
            return Some(rate.first_per_s());
        }
        let from_ns = *self.measured_from_ns.get_or_insert(interval.start_ns);
        let until =
            |at: Nanos| rate.expected_until(Duration::from_nanos(at.saturating_sub(from_ns)));
        Some((until(interval.end_ns) - until(interval.start_ns)) / interval.seconds())
    }
}

/// The facts of a plan, and all of its loads, with nothing counted: a counter that is first seen above 0 has lost its
/// beginning for Prometheus.
fn begin(counts: &mut Counts, plan: &Plan) {
    counts.plan = scrub(&plan.name);
    counts.load_planned_s = plan.estimate().map(|time| time.as_secs_f64());
    if plan.seek.is_some() {
        return;
    }
    for trial in plan.trials() {
        for phase in LOADED {
            let labels = with_phase(labels(plan, trial), phase);
            counts.of_load(&labels, plan.rate(trial).is_some());
        }
    }
}

/// What tells a load from the others of its run. A label without a value is none.
fn labels(plan: &Plan, trial: Trial) -> Labels {
    let system = &plan.systems[trial.system];
    let (system, variant) = match &system.variant {
        Some(variant) => (&variant.of, variant.name.as_str()),
        None => (&system.name, ""),
    };
    let rate = plan.rate(trial).map(|rate| rate.to_string().replace("/s", ""));
    let all = [
        ("system", scrub(system)),
        ("variant", scrub(variant)),
        ("workload", scrub(&plan.workloads[trial.workload].name)),
        ("clients", trial.clients.to_string()),
        ("rate", rate.unwrap_or_default()),
    ];
    all.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

fn with_phase(mut labels: Labels, phase: Phase) -> Labels {
    labels.push(("phase", phase.name().to_owned()));
    labels
}

impl RunListener for Collector<'_> {
    fn on_event(&mut self, event: Event<'_>) {
        match event {
            Event::RunBegins { folder, trials } => self.latest.change(|counts| {
                let name = folder.file_name().unwrap_or_default().to_string_lossy();
                counts.run = scrub(&name);
                counts.trials_planned = trials;
            }),
            Event::SystemStarting { .. } => {
                self.latest.change(|counts| counts.phase = Some(START));
            }
            Event::TrialBegins { trial, .. } => self.begin_trial(trial),
            Event::PhaseBegins { phase, .. } => {
                self.latest.change(|counts| counts.phase = Some(phase.name()));
            }
            Event::Interval { interval, operations } => self.interval(interval, operations),
            Event::TrialEnds { status, .. } => self.latest.change(|counts| {
                *counts.ended.entry(status.name()).or_default() += 1;
                (counts.phase, counts.current) = (None, None);
            }),
            Event::SystemStarted { .. } | Event::Progress(_) => {}
        }
    }
}
