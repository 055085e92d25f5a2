//! The figures of a trial, or of the best trial of a run, in a few words: for the progress and for lists of runs.

use analysis::Validity;
use record::{Run, TrialRecord, TrialStatus, usable_threads};
use serde::{Deserialize, Serialize};

use crate::conclusion;
use crate::digest::{Event, Trial};
use crate::number::{bounded, latency, number, several};

const PERCENT: f64 = 99.0;

/// The figures of a trial that this process has measured, as its report has them, such as `782 tx/s, 15,640 queries/s,
/// p99 3.20 ms`, and why it is doubtful or invalid.
pub fn trial_headline(record: &TrialRecord) -> String {
    let trial = Trial::new(record, &[PERCENT], usable_threads());
    let summary = &trial.summary;
    let failed = match summary.failed_transactions {
        0 => String::new(),
        failed => format!(", {}", several(failed, "failed transaction", "failed transactions")),
    };
    let verdict = match trial.validity() {
        Validity::Valid => String::new(),
        validity => format!(", {}: {}", validity.name(), conclusion::all_reasons(&trial)),
    };
    let is_other = ![0.0, summary.transactions_per_s].contains(&summary.queries_per_s);
    let queries = match is_other {
        false => String::new(),
        true => format!(", {} queries/s", number(summary.queries_per_s)),
    };
    format!(
        "{} {}{queries}, p99 {}{failed}{verdict}",
        number(summary.transactions_per_s),
        Event::of(&record.header).per_s(),
        percentile(&trial)
            .map_or("-".to_owned(), |(value_ns, is_bound)| bounded(latency(value_ns), is_bound)),
    )
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BestTrial {
    transactions_per_s: f64,
    /// Its 99th percentile; `None` when it has no latencies.
    p99_ns: Option<f64>,
    /// Whether that is only a lower bound.
    is_at_least: bool,
}

impl BestTrial {
    /// Whether a trial can have these figures, which may come from a file.
    pub(crate) fn is_possible(&self) -> bool {
        let mut figures = [self.transactions_per_s].into_iter().chain(self.p99_ns);
        figures.all(|figure| figure.is_finite() && figure.is_sign_positive())
    }

    /// Throughput per second and 99th percentile.
    pub fn cells(&self) -> [String; 2] {
        let p99 = self.p99_ns.map(|value_ns| bounded(latency(value_ns), self.is_at_least));
        [number(self.transactions_per_s), p99.unwrap_or_else(|| "-".to_owned())]
    }
}

/// The complete trial with the highest throughput; `None` when no trial is complete. The probes of a seek are no results,
/// but the trials that confirm it are.
pub fn best_trial(run: &Run) -> Option<BestTrial> {
    let is_result = |trial: &&TrialRecord| {
        let is_complete = trial.end.as_ref().is_some_and(|end| end.status == TrialStatus::Complete);
        let is_whole = trial.damage.is_none() && is_complete;
        is_whole && trial.header.probe.is_none_or(|probe| probe.is_confirming)
    };
    let throughput = |trial: &TrialRecord| {
        trial.total.transactions as f64 / trial.seconds().max(f64::MIN_POSITIVE)
    };
    let results = run.trials.iter().filter(is_result);
    let best = results.max_by(|a, b| throughput(a).total_cmp(&throughput(b)))?;
    let best = Trial::new(best, &[PERCENT], None);
    let p99 = percentile(&best);
    Some(BestTrial {
        transactions_per_s: best.summary.transactions_per_s,
        p99_ns: p99.map(|it| it.0),
        is_at_least: p99.is_some_and(|it| it.1),
    })
}

/// The percentile, and whether it is only a lower bound; `None` without latencies.
fn percentile(trial: &Trial<'_>) -> Option<(f64, bool)> {
    Some(trial.summary.latency.known()?.percentile(PERCENT))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;
    use crate::sample;

    #[test]
    fn the_best_trial_of_a_run_is_the_complete_one_with_the_highest_throughput() {
        let mut run = sample::run();
        let throughput = |run: &Run| -> Vec<f64> {
            let digest = Digest::new(run);
            digest.trials.iter().map(|trial| trial.summary.transactions_per_s).collect()
        };
        let all = throughput(&run);
        let best = (0..all.len()).max_by(|&a, &b| all[a].total_cmp(&all[b])).unwrap();
        let [tps, p99] = best_trial(&run).unwrap().cells();
        assert_eq!(tps, number(all[best]));
        let told = trial_headline(&run.trials[best]);
        assert!(told.starts_with(&format!("{tps} tx/s, ")) && told.contains(&p99), "{told}");
        run.trials[best].end.as_mut().unwrap().status = TrialStatus::Interrupted;
        assert_ne!(best_trial(&run).unwrap().cells()[0], tps);
        assert_eq!(best_trial(&sample::failed()), None);
    }

    #[test]
    fn a_trial_without_an_answer_has_no_percentile() {
        let told = "0 tx/s, p99 -, invalid: the trial failed; nothing succeeded";
        assert_eq!(trial_headline(&sample::failed().trials[0]), told);
    }
}
