//! Where the variance of throughput lies, within trials or between them, and which repetition is worth its time.

pub(crate) mod ratios;

use std::time::Duration;

use analysis::{Levels, Purchase, TrialCost, TrialFigure};
use measure::Phase;
use serde_json::{Value, json};

use crate::digest::{Digest, Point, Trial};
use crate::number::{duration, percent, several};
use crate::table::Table;
use crate::tables::{load_cells, load_columns, name_columns, names};

pub(crate) const TITLE: &str = "Variance";
pub(crate) const NOTE: &str = "Standard deviations of the throughput of one trial, as parts of it: what noise within the measured time explains, \
     and what differs from trial to trial beyond that. The last column says which of longer trials or more trials makes \
     the interval between trials narrower for the same time, with the time that a trial takes beside its measured time. \
     Estimates from few trials are rough.";

/// A time beyond that is shown as this long, s.
const LONGEST_S: f64 = 1e9;

/// The variance of a point's throughput, by its causes.
pub(crate) struct Variance {
    levels: Levels,
    cost: TrialCost,
    repeated: Repeated,
}

/// What is done anew for each trial of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repeated {
    /// The system is started and its data loaded.
    Start,
    Data,
    /// Only the load runs again.
    Load,
}

impl Variance {
    /// `None` where too few trials count, or one has too few intervals; for rounds of windows, `ratios` has that of the ratio,
    /// in which a slow change of the machine cancels.
    pub(crate) fn of(digest: &Digest<'_>, point: &Point<'_>) -> Option<Self> {
        let trials: Vec<&Trial<'_>> = point.counted.iter().map(|at| &digest.trials[*at]).collect();
        if trials.iter().any(|trial| !trial.windows.is_empty()) {
            return None;
        }
        let levels = Levels::of(&figures(&trials)?)?;
        let cost = trial_cost(&trials)?;
        let is_loaded = |trial: &&Trial<'_>| trial.record.phases.iter().any(is_prepare);
        let repeated = match (point.variant, trials.iter().skip(1).all(is_loaded)) {
            (Some(_), _) => Repeated::Start,
            (None, true) => Repeated::Data,
            (None, false) => Repeated::Load,
        };
        Some(Self { levels, cost, repeated })
    }

    fn advice(&self) -> String {
        purchase_text(self.levels.worth_repeating(self.cost))
    }

    pub(crate) fn json(&self) -> Value {
        let (worth, best_s) = match self.levels.worth_repeating(self.cost) {
            Purchase::LongerTrials(best_s) => ("longer-trials", best_s),
            Purchase::MoreTrials(best_s) => ("more-trials", Some(best_s)),
            Purchase::Either => ("either", None),
        };
        json!({
            "within_trials": self.levels.within,
            "between_trials": self.levels.between,
            "trials": self.levels.trials,
            "each_trial_repeats": self.repeated.name(),
            "measured_s": self.cost.measured_s,
            "other_s": self.cost.other_s,
            "worth_repeating": worth,
            "best_measured_s": best_s,
        })
    }
}

pub(crate) fn purchase_text(purchase: Purchase) -> String {
    let time = |seconds: f64| duration(Duration::from_secs_f64(seconds.clamp(0.0, LONGEST_S)));
    match purchase {
        Purchase::LongerTrials(None) => "longer trials".to_owned(),
        Purchase::LongerTrials(Some(best_s)) => {
            format!("longer trials, of about {}", time(best_s))
        }
        Purchase::MoreTrials(best_s) => format!("more trials, of about {}", time(best_s)),
        Purchase::Either => "either".to_owned(),
    }
}

/// The throughput of each trial; `None` when one has too few intervals.
pub(crate) fn figures(trials: &[&Trial<'_>]) -> Option<Vec<TrialFigure>> {
    let figure = |trial: &&Trial<'_>| {
        let summary = &trial.summary;
        let variance_within = summary.within.throughput_variance?;
        Some(TrialFigure { value: summary.transactions_per_s, variance_within })
    };
    trials.iter().map(figure).collect()
}

/// What a trial costs: the mean measured time, and the median of the rest. `None` without trials.
pub(crate) fn trial_cost(trials: &[&Trial<'_>]) -> Option<TrialCost> {
    let mut others: Vec<f64> = trials.iter().map(|trial| other_s(trial)).collect();
    others.sort_by(f64::total_cmp);
    let measured: f64 = trials.iter().map(|trial| trial.summary.seconds).sum();
    let other_s = *others.get(others.len() / 2)?;
    Some(TrialCost { measured_s: measured / trials.len() as f64, other_s })
}

/// A standard deviation as a part of the figure; an estimate of the variance that is not positive shows none.
pub(crate) fn deviation(variance: f64) -> String {
    if variance > 0.0 { percent(variance.sqrt()) } else { "none seen".to_owned() }
}

impl Repeated {
    fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Data => "data",
            Self::Load => "load",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Start => "start, data and load",
            Self::Data => "data and load",
            Self::Load => "load",
        }
    }
}

fn is_prepare(phase: &record::PhaseRecord) -> bool {
    phase.phase == Phase::Prepare
}

/// The time that a trial takes beside its measured time, as far as its phases tell it, s.
fn other_s(trial: &Trial<'_>) -> f64 {
    let phases = trial.record.phases.iter().filter(|phase| phase.phase != Phase::Measure);
    phases.map(|phase| phase.duration.as_secs_f64()).sum()
}

/// A row for each point whose variance is known.
pub(crate) fn table(digest: &Digest<'_>) -> Table {
    let mut table = load_columns(digest, name_columns(None))
        .words("each trial repeats")
        .numbers("trials")
        .numbers("within trials")
        .numbers("between trials")
        .numbers("part between")
        .words("what would narrow it");
    for point in &digest.points {
        let Some(variance) = Variance::of(digest, point) else { continue };
        let Levels { within, between, trials } = variance.levels;
        let mut row = names(point, None);
        row.extend(load_cells(digest, point));
        row.extend([
            variance.repeated.text().to_owned(),
            trials.to_string(),
            percent(within.sqrt()),
            deviation(between),
            percent(variance.levels.share_between()),
            variance.advice(),
        ]);
        table.row(row);
    }
    table
}

/// The same in a line, of the load in the middle; `None` when nothing is known.
pub(crate) fn line(digest: &Digest<'_>) -> Option<String> {
    let known = digest.points.iter().filter_map(|point| Variance::of(digest, point));
    let mut known: Vec<Variance> = known.collect();
    known.sort_by(|a, b| a.levels.share_between().total_cmp(&b.levels.share_between()));
    let middle = known.get(known.len() / 2)?;
    let share = percent(middle.levels.share_between());
    let of = match known.len() {
        1 => String::new(),
        loads => format!(" ({}, the one in the middle)", several(loads as u64, "load", "loads")),
    };
    let advice = match middle.advice() {
        either if either == "either" => "longer and more trials are worth the same".to_owned(),
        advice => format!("what would narrow it: {advice}"),
    };
    Some(format!("{share} of the variance of throughput lies between trials{of}; {advice}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reading;
    use crate::{json, markdown, sample, terminal};

    #[test]
    fn the_variance_of_repeated_trials_is_split_in_every_view() {
        let run = sample::repeated();
        let reading = Reading::new(&run);
        let digest = &reading.digest;
        let report: Value = serde_json::from_str(&json(&reading)).unwrap();
        let variance = &report["points"][0]["variance"];
        let number = |key: &str| variance[key].as_f64().unwrap();
        // Both parts together are the variance of the trials' throughput.
        let rates: Vec<f64> =
            digest.trials.iter().map(|trial| trial.summary.transactions_per_s).collect();
        let mean = rates.iter().sum::<f64>() / 4.0;
        let all = rates.iter().map(|rate| (rate / mean - 1.0).powi(2)).sum::<f64>() / 3.0;
        let both = number("within_trials") + number("between_trials");
        assert!((both / all - 1.0).abs() < 1e-9, "{variance}");
        // A second of warm-up for each ten that are measured.
        assert_eq!((number("measured_s"), number("other_s")), (10.0, 1.0));
        assert_eq!(variance["each_trial_repeats"], "load");
        assert!(markdown(&reading).contains(TITLE));
        assert!(terminal(&reading).contains("of the variance of throughput lies between trials"));
    }

    #[test]
    fn one_trial_and_short_trials_have_no_such_table() {
        for run in [sample::long(), sample::compared()] {
            let reading = Reading::new(&run);
            let digest = &reading.digest;
            assert!(table(digest).is_empty() && line(digest).is_none());
            assert!(!markdown(&reading).contains(TITLE));
        }
    }
}
