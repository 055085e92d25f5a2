//! Figures of a trial: what each is called in every view, how it is read, and which direction is better. Throughput and
//! latencies, which have intervals, are kinds of their own; all others are entries of the [`catalogue`].

pub(crate) mod catalogue;
#[cfg(test)]
mod document;

use analysis::{RoundFigure, Significance, Summary, TimedValue};
use measure::PreciseFigure;

use crate::digest::{Digest, Point, Trial};
use crate::number::{TimeUnit, number, percent, percentile_name};
use catalogue::{CATALOGUE, Compared, Entry, Whole};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Figure {
    /// Transactions that succeeded, 1/s.
    Throughput,
    /// Statements, 1/s.
    Queries,
    /// Mean latency, ns.
    Mean,
    /// A percentile of the latency, ns.
    Latency(f64),
    Other(&'static Entry),
}

impl PartialEq for Figure {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Figure {
    /// Every figure with intervals of a run with these percentiles.
    pub(crate) fn with_intervals(percentiles: &[f64]) -> Vec<Self> {
        let fixed = [Self::Throughput, Self::Queries, Self::Mean];
        fixed.into_iter().chain(percentiles.iter().copied().map(Self::Latency)).collect()
    }

    /// The figures that runs with these percentiles are compared by.
    pub(crate) fn usual(percentiles: &[f64]) -> Vec<Self> {
        let others =
            CATALOGUE.iter().filter(|it| it.compare.as_ref().is_some_and(|it| it.is_usual));
        let latencies = percentiles.iter().copied().map(Self::Latency);
        let all = std::iter::once(Self::Throughput).chain(latencies);
        all.chain(others.map(Self::Other)).collect()
    }

    /// The latency by which loads under a rate are compared: at the second of these percentiles, or at what there is.
    pub(crate) fn latency_of(percentiles: &[f64]) -> Self {
        Self::Latency(percentiles.get(1).or(percentiles.first()).copied().unwrap_or(95.0))
    }

    pub(crate) fn of_rule(figure: PreciseFigure) -> Self {
        match figure {
            PreciseFigure::Throughput => Self::Throughput,
            PreciseFigure::Mean => Self::Mean,
            PreciseFigure::Percentile(percent) => Self::Latency(percent),
        }
    }

    pub(crate) fn is_time(self) -> bool {
        matches!(self, Self::Mean | Self::Latency(_))
    }

    /// Its value in a trial. `None` when it is not known, and for a latency that is known only within bounds.
    pub(crate) fn of(self, trial: &Trial<'_>) -> Option<f64> {
        self.within(trial).filter(|[least, most]| least == most).map(|[least, _]| least)
    }

    /// The least and the most that it can be in a trial: the same but for a latency of which transactions that were never
    /// answered leave bounds. `None` when it is not known, and for a latency without an upper bound.
    pub(crate) fn within(self, trial: &Trial<'_>) -> Option<[f64; 2]> {
        match self {
            Self::Latency(percent) => return trial.summary.latency.percentile_within(percent),
            Self::Mean => return trial.summary.latency.mean_within(),
            _ => {}
        }
        let value = match self.value(&trial.summary) {
            Some((_, true)) => None,
            Some((value, false)) => Some(value),
            None => self.other(trial),
        };
        value.map(|value| [value; 2])
    }

    fn other(self, trial: &Trial<'_>) -> Option<f64> {
        match self {
            Self::Other(entry) => entry.number(&Whole::of(trial)),
            _ => None,
        }
    }

    /// Its value, of a latency the least that it can be, and whether it can be more; `None` for a figure of the catalogue,
    /// which a summary alone does not tell.
    pub(crate) fn value(self, summary: &Summary) -> Option<(f64, bool)> {
        match self {
            Self::Throughput => Some((summary.transactions_per_s, false)),
            Self::Queries => Some((summary.queries_per_s, false)),
            Self::Mean => Some(summary.latency.mean()),
            Self::Latency(percent) => Some(summary.latency.percentile(percent)),
            Self::Other(_) => None,
        }
    }

    /// The figure in each complete round; `None` when it has no upper bound in one of them: to leave that round out would
    /// leave out the slowest.
    pub(crate) fn in_rounds(
        self,
        digest: &Digest<'_>,
        point: &Point<'_>,
    ) -> Option<Vec<RoundFigure>> {
        let in_round = |trial: &Trial<'_>| {
            let header = &trial.record.header;
            let round = header.repetition;
            // Windows have all places in a round alike.
            let is_in_turn = trial.windows.is_empty();
            let place = if is_in_turn { header.index as u64 } else { round.into() };
            let [value, most] = self.within(trial)?;
            Some(RoundFigure { round, place, value, most })
        };
        digest.complete(point).map(in_round).collect()
    }

    /// The least and the most that the figure can be in each complete trial, with its time; `None` when it is not known in
    /// one of them, or only as a bound.
    pub(crate) fn in_time(
        self,
        digest: &Digest<'_>,
        point: &Point<'_>,
    ) -> Option<Vec<[TimedValue; 2]>> {
        let timed = |trial: &Trial<'_>| {
            let is_bound = self.value(&trial.summary).is_some_and(|it| it.1);
            let ends = self.within(trial).filter(|_| !is_bound)?;
            let time_s = trial.measured()[0]?.as_duration().as_secs_f64();
            Some(ends.map(|value| TimedValue { time_s, value }))
        };
        digest.complete(point).map(timed).collect()
    }

    fn compare(self) -> Option<&'static Compared> {
        match self {
            Self::Other(entry) => entry.compare.as_ref(),
            _ => None,
        }
    }

    pub(crate) fn name(self) -> String {
        match self {
            Self::Throughput => "throughput".to_owned(),
            Self::Queries => "queries".to_owned(),
            Self::Mean => "mean".to_owned(),
            Self::Latency(percent) => percentile_name(percent),
            Self::Other(entry) => self.compare().map_or(entry.key, |it| it.name).to_owned(),
        }
    }

    /// Its name in a threshold.
    pub(crate) fn key(self) -> String {
        match self {
            Self::Throughput => "tps".to_owned(),
            Self::Queries => "qps".to_owned(),
            Self::Mean | Self::Latency(_) => self.name(),
            Self::Other(entry) => self.compare().map_or(entry.key, |it| it.key).to_owned(),
        }
    }

    /// Its key in report.json, and the column of report.csv.
    pub(crate) fn column(self) -> String {
        match self {
            Self::Throughput => "transactions_per_s".to_owned(),
            Self::Queries => "queries_per_s".to_owned(),
            Self::Mean | Self::Latency(_) => format!("{}_ns", self.name()),
            Self::Other(entry) => entry.key.to_owned(),
        }
    }

    /// A figure by its key, or by its name in a plan.
    pub(crate) fn from_key(key: &str) -> Option<Self> {
        let key = match key {
            "throughput" => "tps",
            "queries" => "qps",
            "errors" => "failed",
            _ => key,
        };
        let others = CATALOGUE.iter().filter(|it| it.compare.is_some()).map(Self::Other);
        let plain = [Self::Throughput, Self::Queries, Self::Mean].into_iter();
        plain.chain(others).find(|figure| figure.key() == key).or_else(|| {
            let percent: f64 = key.strip_prefix('p')?.parse().ok()?;
            (percent > 0.0 && percent < 100.0).then_some(Self::Latency(percent))
        })
    }

    pub(crate) fn unit_name(self, unit: TimeUnit) -> String {
        match self {
            Self::Mean | Self::Latency(_) => format!("{} {}", self.name(), unit.name()),
            Self::Throughput | Self::Queries => self.key(),
            Self::Other(_) => self.name(),
        }
    }

    pub(crate) fn show(self, value: f64, unit: TimeUnit) -> String {
        match self {
            _ if self.is_time() => unit.show(value),
            _ if self.is_part() => percent(value),
            _ => number(value),
        }
    }

    pub(crate) fn show_alone(self, value: f64) -> String {
        if self.is_time() {
            crate::number::latency(value)
        } else {
            self.show(value, TimeUnit::Second)
        }
    }

    /// Whether its change is a difference, not a ratio: parts are often zero.
    pub(crate) fn is_part(self) -> bool {
        self.compare().is_some_and(|it| it.is_part)
    }

    /// Whether it is not known for some systems: the servers' own use is seen only where they are watched.
    pub(crate) fn is_optional(self) -> bool {
        matches!(self, Self::Other(_)) && !self.is_part()
    }

    /// The result of a comparison by this figure, in a word or two.
    pub(crate) fn verdict(self, verdict: Significance) -> &'static str {
        match (verdict, self) {
            (Significance::Higher, Self::Other(_)) => "more",
            (Significance::Lower, Self::Other(_)) => "less",
            (Significance::Higher, Self::Throughput | Self::Queries)
            | (Significance::Lower, Self::Latency(_) | Self::Mean) => "faster",
            (Significance::Lower, Self::Throughput | Self::Queries)
            | (Significance::Higher, Self::Latency(_) | Self::Mean) => "slower",
            (Significance::Equal, _) => "equal",
            (Significance::Undecided, _) => "undecided",
            (Significance::TooFewRounds, _) => "too few rounds",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the catalogue declares is in each view that it names, without a line elsewhere.
    #[test]
    fn every_view_has_the_figures_of_the_catalogue() {
        let run = crate::sample::watched();
        let reading = crate::Reading::new(&run);
        let csv = crate::csv(&reading);
        let columns: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
        let report: serde_json::Value = serde_json::from_str(&crate::json(&reading)).unwrap();
        let page = crate::whole_html(&reading);
        let trial = Whole::of(&reading.digest.trials[0]);
        let mut shown = 0;
        for entry in &CATALOGUE {
            assert!(columns.contains(&entry.key), "{}", entry.key);
            if entry.row.is_none() {
                continue;
            }
            let of_trial = &report["trials"][0][entry.key];
            assert_eq!(of_trial.as_f64(), entry.number(&trial), "{}", entry.key);
            if entry.number(&trial).is_some() {
                shown += 1;
                assert!(page.contains(entry.label), "{}", entry.label);
            }
        }
        assert!(shown >= 3, "{shown}");
        let mut keys: Vec<&str> = CATALOGUE.iter().map(|entry| entry.key).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), CATALOGUE.len());
    }

    #[test]
    fn every_figure_is_found_by_its_key() {
        let others = CATALOGUE.iter().filter(|it| it.compare.is_some()).map(Figure::Other);
        let kinds = [Figure::Throughput, Figure::Queries, Figure::Mean, Figure::Latency(99.9)];
        let all: Vec<Figure> = kinds.into_iter().chain(others).collect();
        for figure in &all {
            assert_eq!(Figure::from_key(&figure.key()), Some(*figure));
        }
        let keys: Vec<String> = all.iter().map(|figure| figure.key()).collect();
        assert_eq!(
            keys,
            [
                "tps",
                "qps",
                "mean",
                "p99.9",
                "cpu",
                "context_switches",
                "read_kb",
                "written_kb",
                "failed"
            ]
        );
        for wrong in ["p0", "p100", "p", "p-1", "pNaN", "latency", ""] {
            assert_eq!(Figure::from_key(wrong), None, "{wrong}");
        }
    }
}
