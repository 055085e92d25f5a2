//! What dyno is held to, and whether it was reached.

use std::fmt;

use analysis::{Ratio, over_repetitions, paired_ratio};

use self::Bound::{AtLeast, AtMost};
use super::Part;
use super::contestant::Contestant::{self, Dyno, Floor, GoTpc, GoYcsb, Sysbench};
use super::results::Quantity::{
    self, CpuUs, PeakBytes, QueriesPerS, ResidentBytes, Seconds, Unfairness, UserUs,
};
use super::results::{Point, Results};
use super::tpcc::{CHECKING, LOADING};

/// What dyno is held to, part by part, in the order of the page.
const RULES: [(Part, &[Rule]); 9] = [
    (
        Part::Pinned,
        &[
            Rule::of_ratio(
                "client CPU a query at {}, dyno / floor",
                [Dyno, Floor],
                CpuUs,
                AtMost(1.15),
            ),
            Rule {
                what: "user time a query at {}, dyno - floor",
                figure: Figure::Difference([Dyno, Floor], UserUs),
                bound: AtMost(1.0),
                unit: " us",
                at: None,
            },
            SYSBENCH_CPU.at_most(1, 0.95),
            SYSBENCH_CPU.at_most(16, 0.9),
            SYSBENCH_CPU.at_most(64, 0.8),
            SYSBENCH_CPU.at_most(256, 0.45),
        ],
    ),
    (
        Part::Shared,
        &[
            Rule::of_ratio(
                "throughput on shared cores at {}, dyno / sysbench",
                [Dyno, Sysbench],
                QueriesPerS,
                AtLeast(0.97),
            ),
            Rule {
                what: "standard deviation over {} clients, of the mean",
                figure: Figure::Median(Unfairness),
                bound: AtMost(10.0),
                unit: PERCENT,
                at: None,
            },
        ],
    ),
    (
        Part::Memory,
        &[Rule::of_ratio(
            "peak memory at {}, dyno / sysbench",
            [Dyno, Sysbench],
            PeakBytes,
            AtMost(0.3),
        )],
    ),
    (
        Part::Prepare,
        &[Rule::of_ratio(
            "prepare of 4 x 100,000 rows, sysbench / dyno",
            [Sysbench, Dyno],
            Seconds,
            AtLeast(2.0),
        )],
    ),
    (
        Part::Ycsb,
        &[
            Rule::of_ratio(
                "client CPU for a YCSB C read at {}, dyno / go-ycsb",
                [Dyno, GoYcsb],
                CpuUs,
                AtMost(0.4),
            ),
            Rule::of_ratio(
                "throughput of YCSB C at {}, dyno / go-ycsb",
                [Dyno, GoYcsb],
                QueriesPerS,
                AtLeast(1.0),
            ),
        ],
    ),
    (
        Part::Tpcc,
        &[
            Rule::of_ratio(
                "client CPU for a TPC-C transaction at {}, dyno / go-tpc",
                [Dyno, GoTpc],
                CpuUs,
                AtMost(0.45),
            ),
            Rule::of_ratio(
                "TPC-C transactions at {}, dyno / go-tpc",
                [Dyno, GoTpc],
                QueriesPerS,
                AtLeast(1.0),
            ),
        ],
    ),
    (
        Part::Tpcc,
        &[Rule {
            at: Some(LOADING),
            ..Rule::of_ratio(
                "load of 2 warehouses, go-tpc / dyno",
                [GoTpc, Dyno],
                Seconds,
                AtLeast(2.0),
            )
        }],
    ),
    (
        Part::Tpcc,
        &[Rule {
            what: "check of 2 warehouses, all twelve conditions",
            figure: Figure::Median(Seconds),
            bound: AtMost(10.0),
            unit: " s",
            at: Some(CHECKING),
        }],
    ),
    (
        Part::Soak,
        &[Rule {
            what: "memory over ten minutes, last minute / first",
            figure: Figure::Growth(ResidentBytes),
            bound: AtMost(1.02),
            unit: "",
            at: None,
        }],
    ),
];

const SYSBENCH_CPU: Rule = Rule::of_ratio(
    "client CPU a query at {}, dyno / sysbench",
    [Dyno, Sysbench],
    CpuUs,
    AtMost(1.0),
);
/// The unit of a share: its figures are shown times a hundred.
const PERCENT: &str = " %";
/// Looks in a minute of the soak.
const SOAK_MINUTE: usize = 6;

/// A figure that dyno is held to.
#[derive(Clone, Copy, Debug)]
struct Rule {
    /// In words; `{}` stands for the number of connections.
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
    Quotient([Contestant; 2], Quantity),
    /// The first contestant less the second.
    Difference([Contestant; 2], Quantity),
    /// dyno's own.
    Median(Quantity),
    /// dyno's last minute over its first.
    Growth(Quantity),
}

impl Rule {
    const fn of_ratio(
        what: &'static str,
        pair: [Contestant; 2],
        quantity: Quantity,
        bound: Bound,
    ) -> Self {
        Self { what, figure: Figure::Quotient(pair, quantity), bound, unit: "", at: None }
    }

    const fn at_most(self, connections: usize, most: f64) -> Self {
        Self { at: Some(connections), bound: AtMost(most), ..self }
    }

    /// What was seen of it at `point`; `None` when it is not for this point or was not measured there.
    fn goal(&self, point: Point<'_>) -> Option<Goal> {
        if self.at.is_some_and(|connections| connections != point.connections) {
            return None;
        }
        let factor = if self.unit == PERCENT { 100.0 } else { 1.0 };
        let what = self.what.replace("{}", &point.connections.to_string());
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

/// Whether a figure keeps to its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The whole interval does.
    Reached,
    /// No part of the interval does.
    NotReached,
    /// Part of the interval does, or there is no interval.
    NotShown,
}

impl Outcome {
    /// As the page says it.
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
    /// The median of `values`, each of a round. Values without a logarithm have no Student interval: there
    /// the smallest and the largest value are its ends, which hold the median of n rounds with a
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

/// One thing that dyno is held to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Goal {
    pub what: String,
    pub bound: Bound,
    /// Unit of the bound and of what was seen; empty for a ratio.
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

    /// What was seen, with its unit.
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

/// Every goal that something was measured for.
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
    fn throughput_is_held_against_sysbench() {
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
