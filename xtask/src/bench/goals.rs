//! The goals for dyno, and whether they were reached.

use std::fmt;

use analysis::{Ratio, over_repetitions, paired_ratio};
use serde::Serialize;

use self::Bound::{AtLeast, AtMost};
use super::Part;
use super::contestant::Contestant::{
    self, Dyno, DynoLocalRows, DynoTrpc, DynoWatching, Floor, Ghz, GoTpc, GoYcsb, Sysbench,
    TrpcClient,
};
use super::results::Quantity::{
    self, CoordinatorCores, CpuUs, PeakBytes, QueriesPerS, ResidentBytes, Seconds, Unfairness,
    UserUs,
};
use super::results::{Point, Results};
use super::rpc::{FLOOR_CLIENTS, MANY};
use super::tpcc::{CHECKING, CONNECTIONS, LOADING};

/// What dyno is held to, part by part, in the order of the page. `{}` stands for the number of connections.
const RULES: [(Part, &[Rule]); 19] = [
    (
        Part::Pinned,
        &[
            ratio("client CPU a query at {}", [DynoWatching, Floor], CpuUs, AtMost(1.1)).at(1),
            ratio("client CPU a query at {}", [DynoWatching, Floor], CpuUs, AtMost(1.1)).at(16),
            ratio("client CPU a query at {}", [DynoWatching, Floor], CpuUs, AtMost(1.1)).at(64),
            difference(
                "user time a query at {}",
                [DynoWatching, Floor],
                UserUs,
                AtMost(1.0),
                " us",
            ),
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
    (Part::Tpch, &[ratio(TPCH_MARIADB, [GoTpc, Dyno], Seconds, AtLeast(2.0))]),
    (Part::TpchTidb, &[ratio(TPCH_TIDB, [GoTpc, DynoLocalRows], Seconds, AtLeast(2.0))]),
    (Part::Tcp, TCP),
    (Part::TcpPinned, TCP),
    (Part::Trpc, TRPC),
    (Part::TrpcPinned, TRPC),
    (Part::Grpc, GRPC),
    (Part::GrpcPinned, GRPC),
    (
        Part::Generators,
        &[median(
            "CPU of the coordinator of {} generators",
            CoordinatorCores,
            AtMost(1.0),
            OF_A_CORE,
        )],
    ),
    (
        Part::Report,
        &[
            median("report of {} trials", Seconds, AtMost(10.0), " s"),
            megabytes("peak memory of a report of {} trials", AtMost(500.0)),
        ],
    ),
    (Part::Soak, &[rule(MEMORY_GROWTH, Figure::Growth(ResidentBytes), AtMost(1.02), "")]),
];

/// Of requests of fixed sizes: with 1 and with 8 requests in flight on each of 100 connections, and with 10,000
/// connections.
const TCP: &[Rule] = &[
    ratio("client CPU a request, {} clients", [Dyno, Floor], CpuUs, AtMost(1.15))
        .at(FLOOR_CLIENTS[0]),
    difference("client CPU a request, {} clients", [Dyno, Floor], CpuUs, AtMost(0.3), " us")
        .at(FLOOR_CLIENTS[1]),
    ratio("throughput, {} clients", [Dyno, Floor], QueriesPerS, AtLeast(0.6)).at(FLOOR_CLIENTS[1]),
    ratio("throughput, {} clients", [DynoTrpc, Floor], QueriesPerS, AtLeast(0.6))
        .at(FLOOR_CLIENTS[1]),
    megabytes("peak memory, {} connections", AtMost(100.0)).at(MANY),
];
const TRPC: &[Rule] = &[
    ratio("client CPU for a call of tRPC, {} clients", [Dyno, TrpcClient], CpuUs, AtMost(0.2)),
    ratio("throughput of tRPC, {} clients", [Dyno, TrpcClient], QueriesPerS, AtLeast(2.0)),
];
const GRPC: &[Rule] =
    &[ratio("client CPU for a call of gRPC, {} clients", [Dyno, Ghz], CpuUs, AtMost(0.1))];

const SHARED_THROUGHPUT: &str = "throughput on shared cores at {}";
const DEVIATION: &str = "standard deviation over {} clients, of the mean";
const PREPARE: &str = "prepare of 4 x 100,000 rows";
const TPCC_CPU: &str = "client CPU for a TPC-C transaction at {}";
const TPCC_LOAD: &str = "load of 2 warehouses";
const TPCC_CHECK: &str = "check of 2 warehouses, all twelve conditions";
const TPCH_MARIADB: &str = "load of TPC-H at scale 1 on MariaDB";
const TPCH_TIDB: &str = "load of TPC-H at scale 1 on TiDB";
const MEMORY_GROWTH: &str = "memory over ten minutes, last minute / first";
/// The unit of a share: its figures are shown times a hundred.
const PERCENT: &str = " %";
/// The same of a core.
const OF_A_CORE: &str = " % of a core";
/// The unit of memory: its figures are kept in bytes.
const MEGABYTES: &str = " MB";
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

const fn megabytes(what: Text, bound: Bound) -> Rule {
    rule(what, Figure::Median(PeakBytes), bound, MEGABYTES)
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
        let factor = match self.unit {
            PERCENT | OF_A_CORE => 100.0,
            MEGABYTES => 1e-6,
            _ => 1.0,
        };
        let seen = self.figure.seen(point)?.times(factor);
        Some(Goal {
            what: self.what.replace("{}", &point.connections.to_string()) + &pair,
            goal: format!("{}{}", self.bound, self.unit),
            seen: format!("{seen}{}", self.unit),
            outcome: self.bound.outcome(&seen),
        })
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
enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

/// The outcome when the whole interval of a figure is within its bound.
pub(super) const REACHED: &str = "reached";
/// No part of the interval is within the bound.
const NOT_REACHED: &str = "not reached";
/// Part of the interval is within the bound, or there is no interval.
const NOT_SHOWN: &str = "not shown";

impl Bound {
    /// Whether it is kept: the whole interval counts, not the estimate alone.
    fn outcome(self, seen: &Seen) -> &'static str {
        let keeps = |end: f64| match self {
            AtMost(most) => end <= most,
            AtLeast(least) => end >= least,
        };
        match seen.interval.map(|ends| ends.map(keeps)) {
            Some([true, true]) => REACHED,
            Some([false, false]) => NOT_REACHED,
            _ => NOT_SHOWN,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AtMost(most) => write!(f, "at most {most}"),
            AtLeast(least) => write!(f, "at least {least}"),
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

/// One goal for dyno, in words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Goal {
    pub what: String,
    /// The bound with its unit.
    pub goal: String,
    /// The figure with its interval and unit.
    pub seen: String,
    pub outcome: &'static str,
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
    use super::*;

    #[test]
    fn a_goal_is_reached_only_when_the_whole_interval_is_inside() {
        let outcome = |bound: Bound, rounds: &[f64]| {
            let ones = vec![1.0; rounds.len()];
            bound.outcome(&paired_ratio(rounds, &ones).unwrap().into())
        };
        let straddling = [0.85, 1.11, 1.45];
        assert_eq!(outcome(AtMost(1.15), &straddling), NOT_SHOWN);
        assert_eq!(outcome(AtLeast(1.0), &straddling), NOT_SHOWN);
        assert_eq!(outcome(AtMost(1.15), &[1.10, 1.11, 1.12]), REACHED);
        assert_eq!(outcome(AtLeast(1.15), &[1.10, 1.11, 1.12]), NOT_REACHED);
        assert_eq!(outcome(AtMost(1.15), &[1.0]), NOT_SHOWN);
    }

    #[test]
    fn differences_of_both_signs_have_their_range_as_interval() {
        let seen = Seen::of_rounds(&[-0.5, 0.2, 0.8]).unwrap();
        assert_eq!(seen.to_string(), "0.20 (-0.50 to 0.80)");
        assert_eq!(AtMost(1.0).outcome(&seen), REACHED);
    }
}
