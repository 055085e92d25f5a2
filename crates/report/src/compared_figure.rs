//! The figures that systems are compared by: how each is read from a trial, and which direction is better.

use analysis::{CostFigure, RoundFigure, Significance, TimedValue};
use measure::PreciseFigure;

use crate::digest::{Digest, Point, Trial};
use crate::number::{TimeUnit, number, percent, percentile_name};
use crate::operations::measured;
use crate::watch::cost::of_servers;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Figure {
    Throughput,
    Queries,
    /// Mean latency, ns.
    Mean,
    Latency(f64),
    Cost(CostFigure),
    /// Transactions that failed, as a part of all.
    Failed,
}

impl Figure {
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
            Self::Latency(percent) => trial.summary.latency.percentile_within(percent),
            Self::Mean if trial.summary.latency.mean().1 => None,
            _ => self.least(trial).map(|value| [value; 2]),
        }
    }

    /// Its value in a trial; of a latency that is known only within bounds, or only from below, the least that it can be.
    fn least(self, trial: &Trial<'_>) -> Option<f64> {
        let summary = &trial.summary;
        match self {
            Self::Throughput => Some(summary.transactions_per_s),
            Self::Queries => Some(summary.queries_per_s),
            Self::Mean => Some(summary.latency.mean().0),
            Self::Latency(percent) => Some(summary.latency.percentile(percent).0),
            Self::Cost(figure) => (figure.metric().get)(&of_servers(trial)?),
            Self::Failed => Some(summary.failure_rate),
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

    /// The figure of each complete trial with its time; `None` when it is not known exactly in one of them.
    pub(crate) fn in_time(self, digest: &Digest<'_>, point: &Point<'_>) -> Option<Vec<TimedValue>> {
        let timed = |trial: &Trial<'_>| {
            let time_s = measured(trial)[0]?.as_duration().as_secs_f64();
            Some(TimedValue { time_s, value: self.of(trial)? })
        };
        digest.complete(point).map(timed).collect()
    }

    pub(crate) fn name(self) -> String {
        match self {
            Self::Throughput => "throughput".to_owned(),
            Self::Queries => "queries".to_owned(),
            Self::Mean => "mean".to_owned(),
            Self::Latency(percent) => percentile_name(percent),
            Self::Cost(figure) => format!("{} for a query", figure.metric().label),
            Self::Failed => "failed".to_owned(),
        }
    }

    pub(crate) fn key(self) -> String {
        match self {
            Self::Throughput => "tps".to_owned(),
            Self::Queries => "qps".to_owned(),
            Self::Cost(CostFigure::Cpu) => "cpu".to_owned(),
            Self::Cost(figure) => figure.metric().key.to_owned(),
            Self::Mean | Self::Latency(_) | Self::Failed => self.name(),
        }
    }

    pub(crate) fn from_key(key: &str) -> Option<Self> {
        let costs = CostFigure::ALL.iter().map(|figure| Self::Cost(*figure));
        let plain = [Self::Throughput, Self::Queries, Self::Mean, Self::Failed].into_iter();
        plain.chain(costs).find(|figure| figure.key() == key).or_else(|| {
            let percent: f64 = key.strip_prefix('p')?.parse().ok()?;
            (percent > 0.0 && percent < 100.0).then_some(Self::Latency(percent))
        })
    }

    pub(crate) fn unit_name(self, unit: TimeUnit) -> String {
        match self {
            Self::Mean | Self::Latency(_) => format!("{} {}", self.name(), unit.name()),
            Self::Throughput => "tps".to_owned(),
            Self::Queries => "qps".to_owned(),
            Self::Cost(_) | Self::Failed => self.name(),
        }
    }

    pub(crate) fn show(self, value: f64, unit: TimeUnit) -> String {
        match self {
            Self::Mean | Self::Latency(_) => unit.show(value),
            Self::Failed => percent(value),
            Self::Throughput | Self::Queries | Self::Cost(_) => number(value),
        }
    }

    pub(crate) fn show_alone(self, value: f64) -> String {
        match self {
            Self::Mean | Self::Latency(_) => crate::number::latency(value),
            _ => self.show(value, TimeUnit::Second),
        }
    }

    /// Whether its change is a difference, not a ratio: parts are often zero.
    pub(crate) fn is_part(self) -> bool {
        self == Self::Failed
    }

    /// The result of a comparison by this figure, in a word or two.
    pub(crate) fn verdict(self, verdict: Significance) -> &'static str {
        match (verdict, self) {
            (Significance::Higher, Self::Cost(_) | Self::Failed) => "more",
            (Significance::Lower, Self::Cost(_) | Self::Failed) => "less",
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

    #[test]
    fn every_figure_is_found_by_its_key() {
        let costs = CostFigure::ALL.iter().map(|figure| Figure::Cost(*figure));
        let plain = [
            Figure::Throughput,
            Figure::Queries,
            Figure::Mean,
            Figure::Latency(99.9),
            Figure::Failed,
        ];
        let all: Vec<Figure> = plain.into_iter().chain(costs).collect();
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
                "failed",
                "cpu",
                "context_switches",
                "read_kb",
                "written_kb"
            ]
        );
        for wrong in ["p0", "p100", "p", "p-1", "pNaN", "throughput", ""] {
            assert_eq!(Figure::from_key(wrong), None, "{wrong}");
        }
    }
}
