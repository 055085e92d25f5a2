//! All measured values, and what they come to over the rounds.

use std::fmt;

use analysis::{over_repetitions, paired_ratio};
use serde::{Deserialize, Serialize};

/// The quantity of a value; its name has the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Quantity {
    QueriesPerS,
    UserUsPerQuery,
    SystemUsPerQuery,
    CpuUsPerQuery,
    /// As a share of the mean.
    StandardDeviationOverClients,
    PeakBytes,
    /// Wall-clock time of a whole task.
    Seconds,
    /// The same of the checks of the data.
    CheckSeconds,
    /// The same until all connections of a load are open.
    OpeningSeconds,
    /// The same from the start of a command to its first measured transaction.
    FirstSeconds,
    ClientCpuS,
    ServerCpuS,
    /// CPU time of all processes of the server.
    ServerCpuUsPerQuery,
    /// That of the sessions by which a client watches the server, as a share of it.
    WatchingShare,
    /// Size of a page.
    PageBytes,
    /// CPU time of the client's process a second.
    ClientCores,
}

impl Quantity {
    /// As in files.
    pub(super) fn name(self) -> String {
        let name = serde_json::to_value(self).ok();
        name.and_then(|name| Some(name.as_str()?.to_owned())).unwrap_or_default()
    }
}

/// What one contestant measured in one round.
pub(super) type Values = Vec<(Quantity, f64)>;

/// One contestant in one round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Case {
    pub part: String,
    pub contestant: String,
    pub connections: usize,
    pub round: u32,
}

/// One value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Sample {
    #[serde(flatten)]
    pub case: Case,
    pub quantity: Quantity,
    pub value: f64,
}

/// What is measured in the same rounds of every contestant.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    pub part: String,
    pub connections: usize,
    pub quantity: Quantity,
}

/// All values.
#[derive(Clone, Debug, Default)]
pub(super) struct Results(pub(super) Vec<Sample>);

impl Results {
    /// Keeps what was measured of one contestant in one round.
    pub(super) fn add(&mut self, case: &Case, values: Values) {
        let sample = |(quantity, value)| Sample { case: case.clone(), quantity, value };
        self.0.extend(values.into_iter().map(sample));
    }

    /// Every point, in the order in which the parts were measured, each by ascending numbers of connections.
    pub(super) fn points(&self) -> Vec<Point> {
        let of_part = |part: &String| {
            let of = |sample: &&Sample| sample.case.part == *part;
            let mut points = distinct(self.0.iter().filter(of).map(Sample::point));
            points.sort_by_key(|point| point.connections);
            points
        };
        let parts = distinct(self.0.iter().map(|sample| sample.case.part.clone()));
        parts.iter().flat_map(of_part).collect()
    }

    /// Who was measured at a point: dyno first, in whatever order they ran.
    pub(super) fn contestants(&self, point: &Point) -> Vec<String> {
        let measured = self.0.iter().filter(|it| it.point() == *point);
        let mut contestants = distinct(measured.map(|it| it.case.contestant.clone()));
        contestants.sort_by_key(|name| (!name.starts_with("dyno"), name.clone()));
        contestants
    }

    /// The values of one contestant at a point, round by round.
    fn series(&self, point: &Point, contestant: &str) -> Vec<f64> {
        let is_wanted = |it: &&Sample| it.point() == *point && it.case.contestant == contestant;
        let mut found: Vec<&Sample> = self.0.iter().filter(is_wanted).collect();
        found.sort_by_key(|sample| sample.case.round);
        found.into_iter().map(|sample| sample.value).collect()
    }

    /// The figure of a contestant, or of two: the ratio (`one / other`) or the difference (`one - other`) of each round.
    pub(super) fn figure(&self, point: &Point, of: &str) -> Option<Seen> {
        let series = |contestant| self.series(point, contestant);
        if let Some((one, other)) = of.split_once(" / ") {
            let found = paired_ratio(&series(one), &series(other))?;
            let interval = (found.rounds > 1).then_some([found.low, found.high]);
            return Some(Seen { value: found.ratio, interval });
        }
        let Some((one, other)) = of.split_once(" - ") else { return Seen::of_rounds(&series(of)) };
        let pairs = series(one).into_iter().zip(series(other));
        Seen::of_rounds(&pairs.map(|(one, other)| one - other).collect::<Vec<_>>())
    }
}

impl Sample {
    fn point(&self) -> Point {
        let Case { part, connections, .. } = &self.case;
        Point { part: part.clone(), connections: *connections, quantity: self.quantity }
    }
}

fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.fold(Vec::new(), |mut found, it| {
        if !found.contains(&it) {
            found.push(it);
        }
        found
    })
}

/// A figure over rounds, with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seen {
    pub(super) value: f64,
    /// The 95 % interval; `None` when there are too few rounds for one.
    pub(super) interval: Option<[f64; 2]>,
}

impl Seen {
    /// The median of `values`, one for each round. Values without a logarithm have no Student interval: there the
    /// interval extends from the smallest to the largest value, which contains the median of n rounds with a
    /// probability of 1 - 2^(1 - n).
    pub(super) fn of_rounds(values: &[f64]) -> Option<Self> {
        let estimate = over_repetitions(values)?;
        let range = (estimate.count > 1).then_some([estimate.min, estimate.max]);
        let interval = estimate.interval.map(|interval| [interval.low, interval.high]).or(range);
        Some(Self { value: estimate.median, interval })
    }

    /// The interval, for a table.
    pub(super) fn range(&self) -> String {
        let range = |[low, high]: [f64; 2]| format!("{} to {}", shown(low), shown(high));
        self.interval.map_or_else(|| "-".to_owned(), range)
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", shown(self.value), self.range())
    }
}

/// A number as it is written in tables.
pub(super) fn shown(value: f64) -> String {
    match value.abs() {
        size if size >= 1e6 => format!("{:.1}M", value / 1e6),
        size if size >= 1e4 => format!("{:.1}k", value / 1e3),
        size if size >= 100.0 => format!("{value:.0}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_both_signs_have_their_range_as_interval() {
        let seen = Seen::of_rounds(&[-0.5, 0.2, 0.8]).unwrap();
        assert_eq!(seen.to_string(), "0.200 (-0.500 to 0.800)");
    }
}
