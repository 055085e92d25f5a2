//! The goals for dyno, and whether they were reached.

use std::fmt;

use analysis::{Ratio, over_repetitions, paired_ratio};

use super::Part;
use super::contestant::Contestant::{self, Dyno, Floor, Sysbench};
use super::results::{Quantity, Results};

/// Client CPU for a point select, against the floor.
const FLOOR_RATIO_MAX: f64 = 1.15;
const FLOOR_USER_US_MAX: f64 = 1.0;
/// Client CPU for a point select, against sysbench, by connections.
const SYSBENCH_RATIO_MAX: [(usize, f64); 4] = [(1, 0.95), (16, 0.9), (64, 0.8), (256, 0.45)];
/// Throughput on shared cores, against sysbench.
const THROUGHPUT_MIN: f64 = 0.97;
const UNFAIRNESS_PERCENT_MAX: f64 = 10.0;
const MEMORY_RATIO_MAX: f64 = 0.3;
const PREPARE_SPEEDUP_MIN: f64 = 2.0;
/// Memory of the last of ten minutes, against the first.
const SOAK_GROWTH_MAX: f64 = 1.02;
/// Samples in a minute of the soak.
const SOAK_MINUTE: usize = 6;

/// A limit for a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

/// Whether a figure is within its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The whole interval is within the bound.
    Reached,
    /// No part of the interval is within the bound.
    NotReached,
    /// Part of the interval is within the bound, or there is no interval.
    NotShown,
}

impl Outcome {
    /// Its name on the page.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Reached => "reached",
            Self::NotReached => "not reached",
            Self::NotShown => "not shown",
        }
    }
}

/// A figure over rounds, with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seen {
    value: f64,
    /// The 95 % interval; `None` when there are too few rounds for one.
    interval: Option<[f64; 2]>,
}

impl From<Ratio> for Seen {
    fn from(ratio: Ratio) -> Self {
        let interval = (ratio.rounds > 1).then_some([ratio.low, ratio.high]);
        Self { value: ratio.ratio, interval }
    }
}

impl Seen {
    /// The median of `values`, one for each round. Values without a logarithm have no Student interval: there the
    /// interval extends from the smallest to the largest value, which contains the median of n rounds with a
    /// probability of 1 - 2^(1 - n).
    fn of_rounds(values: &[f64]) -> Option<Self> {
        let estimate = over_repetitions(values)?;
        let range = (estimate.count > 1).then_some([estimate.min, estimate.max]);
        let interval = estimate.interval.map(|interval| [interval.low, interval.high]).or(range);
        Some(Self { value: estimate.median, interval })
    }

    /// The same in another unit, such as percent.
    fn times(self, factor: f64) -> Self {
        let interval = self.interval.map(|ends| ends.map(|end| end * factor));
        Self { value: self.value * factor, interval }
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2}", self.value)?;
        match self.interval {
            Some([low, high]) => write!(f, " ({low:.2} to {high:.2})"),
            None => Ok(()),
        }
    }
}

/// One goal for dyno.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Goal {
    pub what: String,
    pub bound: Bound,
    /// Unit of the bound and of the measured value; empty for a ratio.
    pub unit: &'static str,
    pub seen: Seen,
}

impl Goal {
    /// A goal for a ratio.
    pub(super) fn of_ratio(what: String, bound: Bound, ratio: Ratio) -> Self {
        Self { what, bound, unit: "", seen: ratio.into() }
    }

    /// A goal for the median over rounds of a figure; `None` when it was not measured.
    pub(super) fn of_rounds(
        what: String,
        bound: Bound,
        unit: &'static str,
        values: &[f64],
    ) -> Option<Self> {
        Seen::of_rounds(values).map(|seen| Self { what, bound, unit, seen })
    }

    /// The bound in words.
    pub(super) fn goal(&self) -> String {
        match self.bound {
            Bound::AtMost(most) => format!("at most {most}{}", self.unit),
            Bound::AtLeast(least) => format!("at least {least}{}", self.unit),
        }
    }

    /// The measured value, with its unit.
    pub(super) fn seen(&self) -> String {
        format!("{}{}", self.seen, self.unit)
    }

    /// Whether it was reached: the whole interval counts, not the estimate alone.
    pub(super) fn outcome(&self) -> Outcome {
        let Some([low, high]) = self.seen.interval else { return Outcome::NotShown };
        let keeps = |end: f64| match self.bound {
            Bound::AtMost(most) => end <= most,
            Bound::AtLeast(least) => end >= least,
        };
        match (keeps(low), keeps(high)) {
            (true, true) => Outcome::Reached,
            (false, false) => Outcome::NotReached,
            _ => Outcome::NotShown,
        }
    }
}

/// Every goal for which there are measurements.
pub(super) fn goals(results: &Results) -> Vec<Goal> {
    let mut goals = pinned(results);
    goals.extend(shared(results));
    goals.extend(memory(results));
    goals.extend(prepare(results));
    goals.extend(super::ycsb::goals(results));
    goals.extend(super::tpcc::goals(results));
    goals.extend(soak(results));
    goals
}

/// dyno against another contestant, round by round.
pub(super) fn ratio(
    results: &Results,
    part: Part,
    other: Contestant,
    connections: usize,
    quantity: Quantity,
) -> Option<Ratio> {
    ratio_of([Dyno, other], results, part, connections, quantity)
}

/// The first of two over the second, by rounds.
pub(super) fn ratio_of(
    [one, other]: [Contestant; 2],
    results: &Results,
    part: Part,
    connections: usize,
    quantity: Quantity,
) -> Option<Ratio> {
    let series = |contestant| results.series(part, contestant, connections, quantity);
    paired_ratio(&series(one), &series(other))
}

/// A ratio with its interval.
pub(super) fn show(ratio: Ratio) -> String {
    Seen::from(ratio).to_string()
}

fn pinned(results: &Results) -> Vec<Goal> {
    let part = Part::Pinned;
    let mut goals = Vec::new();
    for connections in results.connections(part) {
        let against = |other| ratio(results, part, other, connections, Quantity::CpuUs);
        goals.extend(against(Floor).map(|ratio| {
            let what = format!("client CPU a query at {connections}, dyno / floor");
            Goal::of_ratio(what, Bound::AtMost(FLOOR_RATIO_MAX), ratio)
        }));
        goals.extend(user_above_floor(results, connections));
        let bound = SYSBENCH_RATIO_MAX.iter().find(|(this, _)| *this == connections);
        goals.extend(against(Sysbench).zip(bound).map(|(ratio, (_, most))| {
            let what = format!("client CPU a query at {connections}, dyno / sysbench");
            Goal::of_ratio(what, Bound::AtMost(*most), ratio)
        }));
    }
    goals
}

fn user_above_floor(results: &Results, connections: usize) -> Option<Goal> {
    let series =
        |contestant| results.series(Part::Pinned, contestant, connections, Quantity::UserUs);
    let above_us: Vec<f64> =
        series(Dyno).iter().zip(series(Floor)).map(|(dyno, floor)| dyno - floor).collect();
    let what = format!("user time a query at {connections}, dyno - floor");
    Goal::of_rounds(what, Bound::AtMost(FLOOR_USER_US_MAX), " us", &above_us)
}

fn shared(results: &Results) -> Vec<Goal> {
    let part = Part::Shared;
    let mut goals = Vec::new();
    for connections in results.connections(part) {
        let throughput = ratio(results, part, Sysbench, connections, Quantity::QueriesPerS);
        goals.extend(throughput.map(|ratio| {
            let what = format!("throughput on shared cores at {connections}, dyno / sysbench");
            Goal::of_ratio(what, Bound::AtLeast(THROUGHPUT_MIN), ratio)
        }));
        let unfairness = results.series(part, Dyno, connections, Quantity::Unfairness);
        goals.extend(Seen::of_rounds(&unfairness).map(|seen| Goal {
            what: format!("standard deviation over {connections} clients, of the mean"),
            bound: Bound::AtMost(UNFAIRNESS_PERCENT_MAX),
            unit: " %",
            seen: seen.times(100.0),
        }));
    }
    goals
}

fn memory(results: &Results) -> Option<Goal> {
    let ratio = ratio(results, Part::Memory, Sysbench, 256, Quantity::PeakBytes)?;
    let what = "peak memory at 256, dyno / sysbench".to_owned();
    Some(Goal::of_ratio(what, Bound::AtMost(MEMORY_RATIO_MAX), ratio))
}

fn prepare(results: &Results) -> Option<Goal> {
    let tables = *results.connections(Part::Prepare).first()?;
    let series = |contestant| results.series(Part::Prepare, contestant, tables, Quantity::Seconds);
    let speedup = paired_ratio(&series(Sysbench), &series(Dyno))?;
    let what = "prepare of 4 x 100,000 rows, sysbench / dyno".to_owned();
    Some(Goal::of_ratio(what, Bound::AtLeast(PREPARE_SPEEDUP_MIN), speedup))
}

fn soak(results: &Results) -> Option<Goal> {
    let connections = *results.connections(Part::Soak).first()?;
    let resident = results.series(Part::Soak, Dyno, connections, Quantity::ResidentBytes);
    let first = resident.get(..SOAK_MINUTE)?;
    let last = resident.get(resident.len().checked_sub(SOAK_MINUTE)?..)?;
    let what = "memory over ten minutes, last minute / first".to_owned();
    paired_ratio(last, first)
        .map(|ratio| Goal::of_ratio(what, Bound::AtMost(SOAK_GROWTH_MAX), ratio))
}

#[cfg(test)]
mod tests {
    use super::super::results::Sample;
    use super::*;

    fn results(
        part: Part,
        connections: usize,
        values: &[(Contestant, Quantity, [f64; 3])],
    ) -> Results {
        let mut results = Results::new(1);
        for (contestant, quantity, rounds) in values {
            for (round, value) in (0..).zip(*rounds) {
                let (contestant, quantity) = (*contestant, *quantity);
                let sample = Sample { part, contestant, connections, round, quantity, value };
                results.samples.push(sample);
            }
        }
        results
    }

    fn seen(results: &Results) -> Vec<(String, Outcome)> {
        goals(results).iter().map(|goal| (goal.seen(), goal.outcome())).collect()
    }

    #[test]
    fn a_goal_is_reached_only_when_the_whole_interval_is_inside() {
        let goal = |bound, rounds: &[f64]| {
            let ones = vec![1.0; rounds.len()];
            let ratio = paired_ratio(rounds, &ones).unwrap();
            Goal::of_ratio("ratio".to_owned(), bound, ratio).outcome()
        };
        let straddling = [0.85, 1.11, 1.45];
        assert_eq!(goal(Bound::AtMost(1.15), &straddling), Outcome::NotShown);
        assert_eq!(goal(Bound::AtLeast(1.0), &straddling), Outcome::NotShown);
        assert_eq!(goal(Bound::AtMost(1.15), &[1.10, 1.11, 1.12]), Outcome::Reached);
        assert_eq!(goal(Bound::AtLeast(1.15), &[1.10, 1.11, 1.12]), Outcome::NotReached);
        assert_eq!(goal(Bound::AtMost(1.15), &[1.0]), Outcome::NotShown);
    }

    #[test]
    fn differences_of_both_signs_have_their_range_as_interval() {
        let goal = Goal::of_rounds("user".to_owned(), Bound::AtMost(1.0), " us", &[-0.5, 0.2, 0.8]);
        let goal = goal.unwrap();
        assert_eq!(goal.seen(), "0.20 (-0.50 to 0.80) us");
        assert_eq!(goal.outcome(), Outcome::Reached);
    }

    #[test]
    fn client_cpu_is_compared_with_floor_and_sysbench() {
        let results = results(
            Part::Pinned,
            16,
            &[
                (Dyno, Quantity::CpuUs, [11.0, 22.0, 11.0]),
                (Floor, Quantity::CpuUs, [10.0, 20.0, 10.0]),
                (Sysbench, Quantity::CpuUs, [11.0, 22.0, 11.0]),
                (Dyno, Quantity::UserUs, [2.0, 2.0, 2.0]),
                (Floor, Quantity::UserUs, [0.5, 0.5, 0.5]),
            ],
        );
        let seen = seen(&results);
        assert_eq!(
            seen,
            [
                ("1.10 (1.10 to 1.10)".to_owned(), Outcome::Reached),
                ("1.50 (1.50 to 1.50) us".to_owned(), Outcome::NotReached),
                ("1.00 (1.00 to 1.00)".to_owned(), Outcome::NotReached),
            ]
        );
    }

    #[test]
    fn throughput_is_compared_with_sysbench() {
        let results = results(
            Part::Shared,
            1,
            &[
                (Dyno, Quantity::QueriesPerS, [120.0, 80.0, 100.0]),
                (Sysbench, Quantity::QueriesPerS, [100.0, 100.0, 100.0]),
                (Dyno, Quantity::Unfairness, [0.0, 0.0, 0.0]),
            ],
        );
        let outcomes: Vec<Outcome> = goals(&results).iter().map(Goal::outcome).collect();
        // Fairness is 0 in every round.
        assert_eq!(outcomes, [Outcome::NotShown, Outcome::Reached]);
    }

    #[test]
    fn prepare_speedup_is_sysbench_time_over_dyno_time() {
        let results = results(
            Part::Prepare,
            4,
            &[
                (Dyno, Quantity::Seconds, [1.0, 1.0, 1.0]),
                (Sysbench, Quantity::Seconds, [3.0, 3.0, 3.0]),
            ],
        );
        assert_eq!(seen(&results), [("3.00 (3.00 to 3.00)".to_owned(), Outcome::Reached)]);
    }
}
