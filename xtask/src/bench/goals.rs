//! The goals for dyno, and whether they were reached.

use std::fmt;

use analysis::{Ratio, over_repetitions, paired_ratio};

use self::Bound::{AtLeast, AtMost};
use super::Part;
use super::contestant::Contestant::{self, Dyno, Floor, GoTpc, GoYcsb, Sysbench};
use super::results::Quantity::{
    self, CpuUs, PeakBytes, QueriesPerS, ResidentBytes, Seconds, Unfairness, UserUs,
};
use super::results::{Point, Results};
use super::tpcc::{CHECKING, CONNECTIONS, LOADING};

/// What dyno is held to, part by part, in the order of the page. `{}` stands for the number of connections.
const RULES: [(Part, &[Rule]); 9] = [
    (
        Part::Pinned,
        &[
            ratio("client CPU a query at {}", [Dyno, Floor], CpuUs, AtMost(1.15)),
            difference("user time a query at {}", [Dyno, Floor], UserUs, AtMost(1.0), " us"),
            ratio("client CPU a query at {}", [Dyno, Sysbench], CpuUs, AtMost(0.95)).at(1),
            ratio("client CPU a query at {}", [Dyno, Sysbench], CpuUs, AtMost(0.9)).at(16),
            ratio("client CPU a query at {}", [Dyno, Sysbench], CpuUs, AtMost(0.8)).at(64),
            ratio("client CPU a query at {}", [Dyno, Sysbench], CpuUs, AtMost(0.45)).at(256),
        ],
    ),
    (
        Part::Shared,
        &[
            ratio(SHARED_THROUGHPUT, [Dyno, Sysbench], QueriesPerS, AtLeast(0.97)),
            median(DEVIATION, Unfairness, AtMost(10.0), PERCENT),
        ],
    ),
    (Part::Memory, &[ratio("peak memory at {}", [Dyno, Sysbench], PeakBytes, AtMost(0.3))]),
    (Part::Prepare, &[ratio(PREPARE, [Sysbench, Dyno], Seconds, AtLeast(2.0))]),
    (
        Part::Ycsb,
        &[
            ratio("client CPU for a YCSB C read at {}", [Dyno, GoYcsb], CpuUs, AtMost(0.4)),
            ratio("throughput of YCSB C at {}", [Dyno, GoYcsb], QueriesPerS, AtLeast(1.0)),
        ],
    ),
    (
        Part::Tpcc,
        &[
            ratio(TPCC_CPU, [Dyno, GoTpc], CpuUs, AtMost(0.45)).at(CONNECTIONS),
            ratio("TPC-C transactions at {}", [Dyno, GoTpc], QueriesPerS, AtLeast(1.0))
                .at(CONNECTIONS),
        ],
    ),
    (Part::Tpcc, &[ratio(TPCC_LOAD, [GoTpc, Dyno], Seconds, AtLeast(2.0)).at(LOADING)]),
    (Part::Tpcc, &[median(TPCC_CHECK, Seconds, AtMost(10.0), " s").at(CHECKING)]),
    (Part::Soak, &[rule(MEMORY_GROWTH, Figure::Growth(ResidentBytes), AtMost(1.02), "")]),
];

const SHARED_THROUGHPUT: &str = "throughput on shared cores at {}";
const DEVIATION: &str = "standard deviation over {} clients, of the mean";
const PREPARE: &str = "prepare of 4 x 100,000 rows";
const TPCC_CPU: &str = "client CPU for a TPC-C transaction at {}";
const TPCC_LOAD: &str = "load of 2 warehouses";
const TPCC_CHECK: &str = "check of 2 warehouses, all twelve conditions";
const MEMORY_GROWTH: &str = "memory over ten minutes, last minute / first";
/// The unit of a share: its figures are shown times a hundred.
const PERCENT: &str = " %";
/// Looks in a minute of the soak.
const SOAK_MINUTE: usize = 6;

/// A figure that dyno is held to.
#[derive(Clone, Copy, Debug)]
struct Rule {
    what: &'static str,
    figure: Figure,
    bound: Bound,
    /// Unit of the bound and of the figure; empty for a ratio.
    unit: &'static str,
    /// The only number of connections that it is for; `None`: for every one that was measured.
    at: Option<usize>,
}

/// How a rule's figure comes from what was measured.
#[derive(Clone, Copy, Debug)]
enum Figure {
    /// The first contestant over the second.
    Quotient(Pair, Quantity),
    /// The first contestant less the second.
    Difference(Pair, Quantity),
    /// dyno's own.
    Median(Quantity),
    /// dyno's last minute over its first.
    Growth(Quantity),
}

type Pair = [Contestant; 2];
type Text = &'static str;

const fn ratio(what: Text, pair: Pair, quantity: Quantity, bound: Bound) -> Rule {
    rule(what, Figure::Quotient(pair, quantity), bound, "")
}

const fn difference(what: Text, pair: Pair, of: Quantity, bound: Bound, unit: Text) -> Rule {
    rule(what, Figure::Difference(pair, of), bound, unit)
}

const fn median(what: Text, quantity: Quantity, bound: Bound, unit: Text) -> Rule {
    rule(what, Figure::Median(quantity), bound, unit)
}

const fn rule(what: Text, figure: Figure, bound: Bound, unit: Text) -> Rule {
    Rule { what, figure, bound, unit, at: None }
}

impl Rule {
    const fn at(self, connections: usize) -> Self {
        Self { at: Some(connections), ..self }
    }

    /// What was seen of it at `point`; `None` when it is not for this point or was not measured there.
    fn goal(&self, point: Point<'_>) -> Option<Goal> {
        if self.at.is_some_and(|connections| connections != point.connections) {
            return None;
        }
        let pair = match self.figure {
            Figure::Quotient([one, other], _) => format!(", {} / {}", one.name(), other.name()),
            Figure::Difference([one, other], _) => format!(", {} - {}", one.name(), other.name()),
            Figure::Median(_) | Figure::Growth(_) => String::new(),
        };
        let what = self.what.replace("{}", &point.connections.to_string()) + &pair;
        let factor = if self.unit == PERCENT { 100.0 } else { 1.0 };
        let seen = self.figure.seen(point)?.times(factor);
        Some(Goal { what, bound: self.bound, unit: self.unit, seen })
    }
}

impl Figure {
    fn seen(self, point: Point<'_>) -> Option<Seen> {
        match self {
            Self::Quotient(pair, quantity) => point.ratio(pair, quantity).map(Seen::from),
            Self::Difference(pair, quantity) => {
                let [one, other] = pair.map(|contestant| point.series(contestant, quantity));
                let above: Vec<f64> =
                    one.iter().zip(other).map(|(one, other)| one - other).collect();
                Seen::of_rounds(&above)
            }
            Self::Median(quantity) => Seen::of_rounds(&point.series(Dyno, quantity)),
            Self::Growth(quantity) => {
                let values = point.series(Dyno, quantity);
                let first = values.get(..SOAK_MINUTE)?;
                let last = values.get(values.len().checked_sub(SOAK_MINUTE)?..)?;
                paired_ratio(last, first).map(Seen::from)
            }
        }
    }
}

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
    let mut goals = Vec::new();
    for (part, rules) in RULES {
        for point in results.points(part) {
            goals.extend(rules.iter().filter_map(|rule| rule.goal(point)));
        }
    }
    goals
}

#[cfg(test)]
mod tests {
    use super::super::results::Case;
    use super::*;

    fn results(
        part: Part,
        connections: usize,
        values: &[(Contestant, Quantity, [f64; 3])],
    ) -> Results {
        let mut results = Results::new(1);
        for (contestant, quantity, rounds) in values {
            for (round, value) in (0..).zip(*rounds) {
                let case = Case { part, contestant: *contestant, connections, round };
                results.add(case, [(*quantity, value)]);
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
            let seen = paired_ratio(rounds, &ones).unwrap().into();
            Goal { what: "ratio".to_owned(), bound, unit: "", seen }.outcome()
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
        let seen = Seen::of_rounds(&[-0.5, 0.2, 0.8]).unwrap();
        let goal = Goal { what: "user".to_owned(), bound: AtMost(1.0), unit: " us", seen };
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
