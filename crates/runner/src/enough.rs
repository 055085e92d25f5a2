//! Decides while a trial runs whether a phase has lasted long enough: a warm-up until the load is steady, and
//! measuring until a figure is precise.

use std::time::Duration;

use analysis::{
    PRECISE_INTERVALS_MIN, PRECISE_LOOKS_GROWTH, STEADY_INTERVALS_MIN, STEADY_LOOKS_GROWTH, Slice,
    SoFar, half_width, looks, steady,
};
use engine::PhaseEnds;
use measure::{
    DecidedEnds, Interval, LatencyHistogram, Nanos, Operation, Phase, PreciseFigure, Precision,
    SteadyState, SteadyWarmUp, nanos,
};
use plan::LoadPlan;

/// In this part of the longest warm-up a load has to be shown to be steady. Then it is enough that nothing was seen
/// to change, so that noise costs this part at most.
const SHOWN_PART: u32 = 2;

#[derive(Debug)]
pub struct Enough {
    warm_up: Option<WarmUp>,
    measured: Option<Measured>,
    is_enough: bool,
}

/// A warm-up until the load is steady.
#[derive(Debug)]
struct WarmUp {
    looks: Vec<usize>,
    /// With so many intervals it is enough that nothing was seen to change.
    shown_until: usize,
    slices: Vec<Slice>,
    /// Where each interval begins.
    starts_ns: Vec<Nanos>,
    result: SteadyWarmUp,
}

/// Measuring until a figure is precise.
#[derive(Debug)]
struct Measured {
    looks: Vec<usize>,
    slices: Vec<Slice>,
    latencies: Vec<LatencyHistogram>,
    result: Precision,
}

impl Enough {
    /// The decisions for a trial with this load, whose warm-up lasts from `steady_from` on until it is steady.
    pub fn new(load: &LoadPlan, steady_from: Option<Duration>) -> Self {
        Self {
            warm_up: steady_from.map(|at_least| WarmUp::new(load, at_least)),
            measured: load.precision.map(|precision| Measured::new(load, precision)),
            is_enough: false,
        }
    }

    pub fn allowed(load: &LoadPlan, steady_from: Option<Duration>) -> PhaseEnds {
        PhaseEnds { warm_up_from: steady_from, measured: load.precision.is_some() }
    }

    pub fn add(&mut self, interval: &Interval, operations: &[Operation]) {
        self.is_enough = match interval.phase {
            Phase::WarmUp => self.warm_up.as_mut().is_some_and(|it| it.add(interval)),
            _ => self.measured.as_mut().is_some_and(|it| it.add(interval, operations)),
        };
    }

    /// Whether the phase of the last interval has lasted long enough.
    pub fn is_enough(&self) -> bool {
        self.is_enough
    }

    pub fn ends(&self) -> DecidedEnds {
        DecidedEnds {
            warm_up: self.warm_up.as_ref().map(|it| it.result),
            precision: self.measured.as_ref().map(|it| it.result),
        }
    }
}

impl WarmUp {
    fn new(load: &LoadPlan, at_least: Duration) -> Self {
        let first = intervals(at_least, load).max(STEADY_INTERVALS_MIN);
        Self {
            looks: looks(first, intervals(load.warm_up, load), STEADY_LOOKS_GROWTH),
            shown_until: intervals(load.warm_up / SHOWN_PART, load),
            slices: Vec::new(),
            starts_ns: Vec::new(),
            result: SteadyWarmUp {
                at_least_ns: nanos(at_least),
                at_most_ns: nanos(load.warm_up),
                steady: None,
            },
        }
    }

    fn add(&mut self, interval: &Interval) -> bool {
        self.slices.push(slice(interval));
        self.starts_ns.push(interval.start_ns);
        let is_look = self.looks.binary_search(&self.slices.len()).is_ok();
        if self.result.steady.is_none() && is_look {
            self.result.steady = self.steady(interval.end_ns);
        }
        self.result.steady.is_some()
    }

    /// What is known of a steady load after the intervals so far, the last of which ended at `seen_ns`.
    fn steady(&self, seen_ns: Nanos) -> Option<SteadyState> {
        let is_patient = self.slices.len() < self.shown_until;
        let found = steady(&self.slices).filter(|found| found.is_shown || !is_patient)?;
        let from_ns = *self.starts_ns.get(found.from)?;
        let hidden_drift_per_minute = found.hidden_drift_per_minute;
        Some(SteadyState { from_ns, seen_ns, hidden_drift_per_minute })
    }
}

pub(crate) fn figure(figure: plan::PreciseFigure) -> PreciseFigure {
    match figure {
        plan::PreciseFigure::Throughput => PreciseFigure::Throughput,
        plan::PreciseFigure::Mean => PreciseFigure::Mean,
        plan::PreciseFigure::Percentile(percent) => PreciseFigure::Percentile(percent),
    }
}

impl Measured {
    fn new(load: &LoadPlan, precision: plan::PrecisionPlan) -> Self {
        let time = load.limit.time.unwrap_or(Duration::MAX);
        let looks = looks(PRECISE_INTERVALS_MIN, intervals(time, load), PRECISE_LOOKS_GROWTH);
        let figure = figure(precision.figure);
        let (within, number) = (precision.within, looks.len());
        let result = Precision { figure, within, looks: number, half_width: None };
        Self { looks, slices: Vec::new(), latencies: Vec::new(), result }
    }

    fn add(&mut self, interval: &Interval, operations: &[Operation]) -> bool {
        self.slices.push(slice(interval));
        let mut latencies = interval.tally.transaction_latencies(operations);
        latencies.pack();
        self.latencies.push(latencies);
        if !self.result.is_reached() && self.looks.binary_search(&self.slices.len()).is_ok() {
            let so_far = SoFar { slices: &self.slices, latencies: &self.latencies };
            self.result.half_width = half_width(self.result.figure, so_far, self.looks.len());
        }
        self.result.is_reached()
    }
}

fn intervals(time: Duration, load: &LoadPlan) -> usize {
    let intervals = nanos(time).div_ceil(nanos(load.interval).max(1));
    usize::try_from(intervals).unwrap_or(usize::MAX)
}

fn slice(interval: &Interval) -> Slice {
    let tally = &interval.tally;
    Slice {
        seconds: interval.seconds(),
        transactions: tally.transactions,
        ended: tally.transactions + tally.failed_transactions,
        busy_ns: tally.busy_ns,
        ..Slice::default()
    }
}

#[cfg(test)]
mod tests {
    use measure::{OperationId, OperationKind, Tally};
    use plan::Plan;

    use super::*;

    const S: Nanos = 1_000_000_000;

    fn load(lines: &str) -> LoadPlan {
        let text = format!("system = \"simulated\"\nworkload = \"simulated\"\n[load]\n{lines}\n");
        let folder = std::path::PathBuf::new();
        Plan::parse(plan::Source { name: "x".to_owned(), text, folder }).unwrap().load
    }

    /// An interval of a second with so many transactions of 10 ms.
    fn interval(phase: Phase, at: u64, transactions: u64) -> Interval {
        let mut tally = Tally::new(1);
        for _ in 0..transactions {
            tally.success(OperationId(0), OperationKind::Transaction, S / 100);
        }
        Interval { phase, start_ns: at * S, end_ns: (at + 1) * S, tally }
    }

    /// After how many intervals of a phase it is enough; each has as many transactions as `of` says.
    fn ended(enough: &mut Enough, phase: Phase, of: impl Fn(u64) -> u64) -> Option<u64> {
        let operations = [Operation::new("request", OperationKind::Transaction)];
        (0..300).find_map(|at| {
            enough.add(&interval(phase, at, of(at)), &operations);
            enough.is_enough().then_some(at + 1)
        })
    }

    #[test]
    fn the_plan_and_the_rules_have_the_same_least_lengths() {
        assert_eq!(plan::STEADY_INTERVALS_MIN as usize, STEADY_INTERVALS_MIN);
        assert_eq!(plan::PRECISE_INTERVALS_MIN as usize, PRECISE_INTERVALS_MIN);
    }

    #[test]
    fn a_warm_up_is_recorded_with_what_ended_it() {
        let load = load("warm_up = \"steady\"");
        let step = |at| if at < 20 { 50 } else { 100 };
        let mut enough = Enough::new(&load, Some(Duration::from_secs(30)));
        assert_eq!(ended(&mut enough, Phase::WarmUp, step), Some(42));
        let found = enough.ends().warm_up.unwrap();
        assert_eq!((found.at_least_ns, found.at_most_ns), (30 * S, 300 * S));
        let state = found.steady.unwrap();
        assert_eq!((state.from_ns, state.seen_ns), (20 * S, 42 * S));
        // Rates that are all the same hide nothing.
        assert!(state.hidden_drift_per_minute < 1e-9, "{state:?}");
        // Without an end there is nothing to record but the limits.
        let mut never = Enough::new(&load, Some(Duration::from_secs(30)));
        assert_eq!(ended(&mut never, Phase::WarmUp, |at| 20 + at), None);
        assert_eq!(never.ends().warm_up.unwrap().steady, None);
    }

    #[test]
    fn noise_that_could_hide_a_drift_costs_half_of_the_longest_warm_up_at_most() {
        // A tenth up or down by turns that look like chance: to exclude a drift of 5 % takes 130 intervals at least.
        let chance = |at: u64| plan::split_mix::mix(at + 1) % 2;
        let noisy = |at: u64| 100 + 20 * chance(at) - 10;
        let ended = |line: &str| {
            let load = load(line);
            let steady_from = load.steady.as_ref().map(|it| it.at_least);
            ended(&mut Enough::new(&load, steady_from), Phase::WarmUp, noisy).unwrap()
        };
        let whole = ended("warm_up = \"steady\"");
        assert!((120..=200).contains(&whole), "{whole}");
        // The looks after 40 intervals of 80, and after 60 of 120.
        for at_most in [80, 120] {
            let half = ended(&format!(
                "warm_up = {{ until = \"steady\", at_least = \"20s\", at_most = \"{at_most}s\" }}"
            ));
            assert!((at_most / 2..at_most).contains(&half), "{at_most}: {half}");
        }
    }

    #[test]
    fn measuring_ends_at_a_look_and_not_at_a_precision_that_is_missed() {
        let noisy = |at: u64| 100 + at * 7 % 11;
        let mut enough = Enough::new(&load("until = \"throughput within 3%\""), None);
        let count = ended(&mut enough, Phase::Measure, noisy).unwrap();
        let precision = enough.ends().precision.unwrap();
        assert!(precision.is_reached() && precision.half_width.unwrap() <= 0.03);
        let all = looks(10, 300, PRECISE_LOOKS_GROWTH);
        assert_eq!(precision.looks, all.len());
        assert!(all.contains(&(count as usize)), "{count}");
        let mut never = Enough::new(&load("until = \"throughput within 0.001%\""), None);
        assert_eq!(ended(&mut never, Phase::Measure, noisy), None);
        let missed = never.ends().precision.unwrap();
        assert!(!missed.is_reached() && missed.half_width.unwrap() > 0.000_01);
    }

    #[test]
    fn a_load_of_planned_lengths_is_never_enough() {
        let load = load("");
        let mut enough = Enough::new(&load, None);
        assert_eq!(Enough::allowed(&load, None), PhaseEnds::default());
        assert_eq!(ended(&mut enough, Phase::WarmUp, |_| 100), None);
        assert_eq!(ended(&mut enough, Phase::Measure, |_| 100), None);
        assert_eq!(enough.ends(), DecidedEnds::default());
    }
}
