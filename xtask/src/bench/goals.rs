//! What dyno is held to, and whether it was reached.

use analysis::{Ratio, paired_ratio};

use super::Part;
use super::contestant::Contestant::{self, Dyno, Floor, Sysbench};
use super::results::{Quantity, Results, median};

/// Client CPU for a point select, against the floor.
const FLOOR_RATIO_MAX: f64 = 1.15;
const FLOOR_USER_US_MAX: f64 = 1.0;
/// Client CPU for a point select, against sysbench, by connections.
const SYSBENCH_RATIO_MAX: [(usize, f64); 4] = [(1, 0.95), (16, 0.9), (64, 0.8), (256, 0.45)];
/// Throughput on shared cores, against sysbench: the lower end of the interval.
const THROUGHPUT_LOW_MIN: f64 = 0.97;
const UNFAIRNESS_MAX: f64 = 0.10;
const MEMORY_RATIO_MAX: f64 = 0.3;
const PREPARE_SPEEDUP_MIN: f64 = 2.0;
/// Memory of the last minute against the first, of ten.
const SOAK_GROWTH_MAX: f64 = 1.02;
/// Looks in a minute of the soak.
const SOAK_MINUTE: usize = 6;

/// One thing that dyno is held to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Goal {
    pub what: String,
    pub goal: String,
    pub seen: String,
    pub is_reached: bool,
}

/// Every goal that something was measured for.
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

/// dyno against another, round by round.
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
    format!("{:.2} ({:.2} to {:.2})", ratio.ratio, ratio.low, ratio.high)
}

fn pinned(results: &Results) -> Vec<Goal> {
    let part = Part::Pinned;
    let mut goals = Vec::new();
    for connections in results.connections(part) {
        let against = |other| ratio(results, part, other, connections, Quantity::CpuUs);
        goals.extend(against(Floor).map(|ratio| Goal {
            what: format!("client CPU a query at {connections}, dyno / floor"),
            goal: format!("at most {FLOOR_RATIO_MAX}"),
            seen: show(ratio),
            is_reached: ratio.ratio <= FLOOR_RATIO_MAX,
        }));
        goals.extend(user_above_floor(results, connections));
        let bound = SYSBENCH_RATIO_MAX.iter().find(|(this, _)| *this == connections);
        if let Some((ratio, (_, bound))) = against(Sysbench).zip(bound) {
            goals.push(Goal {
                what: format!("client CPU a query at {connections}, dyno / sysbench"),
                goal: format!("at most {bound}"),
                seen: show(ratio),
                is_reached: ratio.ratio <= *bound,
            });
        }
    }
    goals
}

fn user_above_floor(results: &Results, connections: usize) -> Option<Goal> {
    let series =
        |contestant| results.series(Part::Pinned, contestant, connections, Quantity::UserUs);
    let above: Vec<f64> =
        series(Dyno).iter().zip(series(Floor)).map(|(dyno, floor)| dyno - floor).collect();
    let above_us = median(&above)?;
    Some(Goal {
        what: format!("user time a query at {connections}, dyno - floor"),
        goal: format!("at most {FLOOR_USER_US_MAX} us"),
        seen: format!("{above_us:.2} us"),
        is_reached: above_us <= FLOOR_USER_US_MAX,
    })
}

fn shared(results: &Results) -> Vec<Goal> {
    let part = Part::Shared;
    let mut goals = Vec::new();
    for connections in results.connections(part) {
        let throughput = ratio(results, part, Sysbench, connections, Quantity::QueriesPerS);
        goals.extend(throughput.map(|ratio| Goal {
            what: format!("throughput on shared cores at {connections}, dyno / sysbench"),
            goal: format!("interval above {THROUGHPUT_LOW_MIN}"),
            seen: show(ratio),
            is_reached: ratio.low >= THROUGHPUT_LOW_MIN,
        }));
        let unfairness = results.series(part, Dyno, connections, Quantity::Unfairness);
        goals.extend(median(&unfairness).map(|unfairness| Goal {
            what: format!("standard deviation over {connections} clients, of the mean"),
            goal: format!("at most {:.0} %", UNFAIRNESS_MAX * 100.0),
            seen: format!("{:.1} %", unfairness * 100.0),
            is_reached: unfairness <= UNFAIRNESS_MAX,
        }));
    }
    goals
}

fn memory(results: &Results) -> Option<Goal> {
    let ratio = ratio(results, Part::Memory, Sysbench, 256, Quantity::PeakBytes)?;
    Some(Goal {
        what: "peak memory at 256, dyno / sysbench".to_owned(),
        goal: format!("below {MEMORY_RATIO_MAX}"),
        seen: show(ratio),
        is_reached: ratio.ratio < MEMORY_RATIO_MAX,
    })
}

fn prepare(results: &Results) -> Option<Goal> {
    let tables = *results.connections(Part::Prepare).first()?;
    let series = |contestant| results.series(Part::Prepare, contestant, tables, Quantity::Seconds);
    let speedup = paired_ratio(&series(Sysbench), &series(Dyno))?;
    Some(Goal {
        what: "prepare of 4 x 100,000 rows, sysbench / dyno".to_owned(),
        goal: format!("at least {PREPARE_SPEEDUP_MIN}"),
        seen: show(speedup),
        is_reached: speedup.ratio >= PREPARE_SPEEDUP_MIN,
    })
}

fn soak(results: &Results) -> Option<Goal> {
    let connections = *results.connections(Part::Soak).first()?;
    let resident = results.series(Part::Soak, Dyno, connections, Quantity::ResidentBytes);
    let first = median(resident.get(..SOAK_MINUTE)?)?;
    let last = median(resident.get(resident.len() - SOAK_MINUTE..)?)?;
    Some(Goal {
        what: "memory over ten minutes, last minute / first".to_owned(),
        goal: format!("at most {SOAK_GROWTH_MAX}"),
        seen: format!("{:.3} ({:.1} to {:.1} MB)", last / first, first / 1e6, last / 1e6),
        is_reached: last / first <= SOAK_GROWTH_MAX,
    })
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

    #[test]
    fn client_cpu_is_held_against_floor_and_sysbench() {
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
        let seen: Vec<(String, bool)> =
            goals(&results).into_iter().map(|goal| (goal.seen, goal.is_reached)).collect();
        assert_eq!(
            seen,
            [
                ("1.10 (1.10 to 1.10)".to_owned(), true),
                ("1.50 us".to_owned(), false),
                ("1.00 (1.00 to 1.00)".to_owned(), false),
            ]
        );
    }

    #[test]
    fn throughput_counts_by_the_lower_end_of_its_interval() {
        let results = results(
            Part::Shared,
            1,
            &[
                (Dyno, Quantity::QueriesPerS, [120.0, 80.0, 100.0]),
                (Sysbench, Quantity::QueriesPerS, [100.0, 100.0, 100.0]),
                (Dyno, Quantity::Unfairness, [0.0, 0.0, 0.0]),
            ],
        );
        let reached: Vec<bool> = goals(&results).iter().map(|goal| goal.is_reached).collect();
        assert_eq!(reached, [false, true]);
    }

    #[test]
    fn prepare_counts_how_often_dyno_would_fit_into_sysbench() {
        let results = results(
            Part::Prepare,
            4,
            &[
                (Dyno, Quantity::Seconds, [1.0, 1.0, 1.0]),
                (Sysbench, Quantity::Seconds, [3.0, 3.0, 3.0]),
            ],
        );
        let goals = goals(&results);
        assert_eq!(goals.len(), 1);
        assert!(goals[0].is_reached);
        assert_eq!(goals[0].seen, "3.00 (3.00 to 3.00)");
    }
}
