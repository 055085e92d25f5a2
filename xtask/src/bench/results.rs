//! All measured values.

use analysis::{Ratio, over_repetitions, paired_ratio};

use serde::{Deserialize, Serialize};

use super::Part;
use super::contestant::Contestant;

/// The quantity of a value, with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Quantity {
    QueriesPerS,
    #[serde(rename = "user_us_per_query")]
    UserUs,
    #[serde(rename = "system_us_per_query")]
    SystemUs,
    /// User and system time together.
    #[serde(rename = "cpu_us_per_query")]
    CpuUs,
    #[serde(rename = "standard_deviation_over_clients")]
    Unfairness,
    PeakBytes,
    /// Wall-clock time of a whole task.
    Seconds,
    ClientCpuS,
    ServerCpuS,
    /// Memory at one time.
    ResidentBytes,
    /// Size of a page.
    PageBytes,
    /// CPU of the process that coordinates generators, as a share of one core.
    CoordinatorCores,
}

/// One contestant in one round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Case {
    pub part: Part,
    pub contestant: Contestant,
    pub connections: usize,
    pub round: u32,
}

/// One value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Sample {
    #[serde(flatten)]
    pub case: Case,
    pub quantity: Quantity,
    pub value: f64,
}

/// All values.
#[derive(Clone, Debug)]
pub(super) struct Results {
    /// The seed of the order within rounds.
    pub seed: u64,
    pub samples: Vec<Sample>,
}

impl Results {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, samples: Vec::new() }
    }

    /// Keeps what was measured of one contestant in one round.
    pub(super) fn add(&mut self, case: Case, values: impl IntoIterator<Item = (Quantity, f64)>) {
        let sample = |(quantity, value)| Sample { case, quantity, value };
        self.samples.extend(values.into_iter().map(sample));
    }

    /// What was measured at each number of connections, in ascending order.
    pub(super) fn points(&self, part: Part) -> Vec<Point<'_>> {
        let cases = self.samples.iter().map(|sample| sample.case);
        let mut connections: Vec<usize> =
            cases.filter(|case| case.part == part).map(|case| case.connections).collect();
        connections.sort_unstable();
        connections.dedup();
        connections.into_iter().map(|connections| self.at(part, connections)).collect()
    }

    /// What was measured at one number of connections.
    pub(super) fn at(&self, part: Part, connections: usize) -> Point<'_> {
        Point { results: self, part, connections }
    }
}

/// What one part measured at one number of connections.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point<'a> {
    results: &'a Results,
    part: Part,
    pub connections: usize,
}

impl Point<'_> {
    /// One quantity of one contestant, round by round.
    pub(super) fn series(self, contestant: Contestant, quantity: Quantity) -> Vec<f64> {
        let is_wanted = |sample: &&Sample| {
            let Case { part, connections, .. } = sample.case;
            (part, connections) == (self.part, self.connections)
                && (sample.case.contestant, sample.quantity) == (contestant, quantity)
        };
        let mut found: Vec<&Sample> = self.results.samples.iter().filter(is_wanted).collect();
        found.sort_by_key(|sample| sample.case.round);
        found.into_iter().map(|sample| sample.value).collect()
    }

    /// The middle value over rounds; `None` when there is none.
    pub(super) fn median(self, contestant: Contestant, quantity: Quantity) -> Option<f64> {
        over_repetitions(&self.series(contestant, quantity)).map(|estimate| estimate.median)
    }

    /// The first contestant over the second, round by round.
    pub(super) fn ratio(self, pair: [Contestant; 2], quantity: Quantity) -> Option<Ratio> {
        let [one, other] = pair.map(|contestant| self.series(contestant, quantity));
        paired_ratio(&one, &other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_is_in_the_order_of_rounds() {
        let mut results = Results::new(1);
        for (round, value) in [(2, 30.0), (0, 10.0), (1, 20.0)] {
            let (part, contestant) = (Part::Pinned, Contestant::Dyno);
            let case = Case { part, contestant, connections: 16, round };
            results.add(case, [(Quantity::CpuUs, value)]);
        }
        let point = results.at(Part::Pinned, 16);
        assert_eq!(point.series(Contestant::Dyno, Quantity::CpuUs), [10.0, 20.0, 30.0]);
        assert_eq!(point.median(Contestant::Dyno, Quantity::CpuUs), Some(20.0));
        let elsewhere = results.at(Part::Pinned, 1);
        assert!(elsewhere.series(Contestant::Dyno, Quantity::CpuUs).is_empty());
        let connections: Vec<usize> =
            results.points(Part::Pinned).iter().map(|point| point.connections).collect();
        assert_eq!(connections, [16]);
    }
}
