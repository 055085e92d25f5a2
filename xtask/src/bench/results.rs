//! All measured values.

use super::Part;
use super::contestant::Contestant;

/// The quantity of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Quantity {
    QueriesPerS,
    UserUs,
    SystemUs,
    /// User and system time together.
    CpuUs,
    Unfairness,
    PeakBytes,
    /// Wall-clock time of a whole task.
    Seconds,
    ClientCpuS,
    ServerCpuS,
    /// Memory at one time.
    ResidentBytes,
}

impl Quantity {
    /// Its name in files, with its unit.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::QueriesPerS => "queries_per_s",
            Self::UserUs => "user_us_per_query",
            Self::SystemUs => "system_us_per_query",
            Self::CpuUs => "cpu_us_per_query",
            Self::Unfairness => "standard_deviation_over_clients",
            Self::PeakBytes => "peak_bytes",
            Self::Seconds => "seconds",
            Self::ClientCpuS => "client_cpu_s",
            Self::ServerCpuS => "server_cpu_s",
            Self::ResidentBytes => "resident_bytes",
        }
    }
}

/// One value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    pub part: Part,
    pub contestant: Contestant,
    pub connections: usize,
    pub round: u32,
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

    /// The values of one quantity of one contestant, round by round.
    pub(super) fn series(
        &self,
        part: Part,
        contestant: Contestant,
        connections: usize,
        quantity: Quantity,
    ) -> Vec<f64> {
        let mut found: Vec<&Sample> = self
            .samples
            .iter()
            .filter(|sample| sample.part == part && sample.contestant == contestant)
            .filter(|sample| sample.connections == connections && sample.quantity == quantity)
            .collect();
        found.sort_by_key(|sample| sample.round);
        found.into_iter().map(|sample| sample.value).collect()
    }

    /// Numbers of connections that were measured, ascending.
    pub(super) fn connections(&self, part: Part) -> Vec<usize> {
        let of_part = self.samples.iter().filter(|sample| sample.part == part);
        let mut connections: Vec<usize> = of_part.map(|sample| sample.connections).collect();
        connections.sort_unstable();
        connections.dedup();
        connections
    }
}

/// The median; `None` for no values.
pub(super) fn median(values: &[f64]) -> Option<f64> {
    analysis::over_repetitions(values).map(|estimate| estimate.median)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_is_in_the_order_of_rounds() {
        let mut results = Results::new(1);
        for (round, value) in [(2, 30.0), (0, 10.0), (1, 20.0)] {
            results.samples.push(Sample {
                part: Part::Pinned,
                contestant: Contestant::Dyno,
                connections: 16,
                round,
                quantity: Quantity::CpuUs,
                value,
            });
        }
        let series = |connections| {
            results.series(Part::Pinned, Contestant::Dyno, connections, Quantity::CpuUs)
        };
        assert_eq!(series(16), [10.0, 20.0, 30.0]);
        assert_eq!(median(&series(16)), Some(20.0));
        assert!(series(1).is_empty());
        assert_eq!(results.connections(Part::Pinned), [16]);
    }
}
