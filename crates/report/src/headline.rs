//! The figures of a trial, or of the best load of a run, in a few words: for the progress and for lists of runs.

use analysis::Validity;
use record::{TrialRecord, usable_threads};
use serde::{Deserialize, Serialize};

use crate::conclusion;
use crate::digest::{Digest, Event, Point, Trial};
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

/// The load of a run with the highest throughput: the median over its trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BestLoad {
    system: String,
    clients: usize,
    transactions_per_s: f64,
    /// The median of its 99th percentile; `None` when it has no latencies.
    p99_ns: Option<f64>,
    /// Whether that is only a lower bound.
    is_at_least: bool,
}

impl BestLoad {
    /// Whether a load can have these figures, which may come from a file.
    pub(crate) fn is_possible(&self) -> bool {
        let mut figures = [self.transactions_per_s].into_iter().chain(self.p99_ns);
        figures.all(|figure| figure.is_finite() && figure.is_sign_positive())
    }

    /// System, clients, throughput per second and 99th percentile.
    pub fn cells(&self) -> [String; 4] {
        let p99 = self.p99_ns.map(|value_ns| bounded(latency(value_ns), self.is_at_least));
        let rate = number(self.transactions_per_s);
        let p99 = p99.unwrap_or_else(|| "-".to_owned());
        [self.system.clone(), self.clients.to_string(), rate, p99]
    }
}

/// The best load of a run; `None` when no trial is complete. The probes of a seek are no results, but the trials that confirm
/// it are.
pub fn best_load(digest: &Digest<'_>) -> Option<BestLoad> {
    if !digest.run.header.percentiles.contains(&PERCENT) {
        return of_digest(&Digest::with_percentiles(digest.run, &[PERCENT]));
    }
    of_digest(digest)
}

fn of_digest(digest: &Digest<'_>) -> Option<BestLoad> {
    let per_s = |point: &Point<'_>| conclusion::per_s(digest, point);
    let results = digest.points.iter().filter(|point| digest.complete(point).next().is_some());
    let best = results.max_by(|a, b| per_s(a).total_cmp(&per_s(b)))?;
    let p99 = digest.bounded(best, |summary| summary.latency.percentile(PERCENT));
    Some(BestLoad {
        system: best.system.to_owned(),
        clients: best.clients,
        transactions_per_s: per_s(best),
        p99_ns: p99.map(|(estimate, _)| estimate.median),
        is_at_least: p99.is_some_and(|(_, is_bound)| is_bound),
    })
}

/// The percentile, and whether it is only a lower bound; `None` without latencies.
fn percentile(trial: &Trial<'_>) -> Option<(f64, bool)> {
    Some(trial.summary.latency.known()?.percentile(PERCENT))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn the_best_load_of_a_run_has_the_highest_median_not_the_luckiest_trial() {
        let mut run = sample::large();
        let digest = Digest::new(&run);
        let best = best_load(&digest).unwrap();
        let medians = digest.points.iter().map(|point| conclusion::per_s(&digest, point));
        assert_eq!(best.transactions_per_s, medians.fold(0.0, f64::max));
        let each = digest.trials.iter().map(|trial| trial.summary.transactions_per_s);
        let luckiest = each.fold(0.0, f64::max);
        assert!(best.transactions_per_s < luckiest, "{best:?} against {luckiest}");
        run.header.percentiles = vec![50.0];
        let again = best_load(&Digest::new(&run)).unwrap();
        assert_eq!(again, best, "a run need not have the 99th percentile in its tables");
        assert_eq!(best_load(&Digest::new(&sample::failed())), None);
    }

    #[test]
    fn a_trial_without_an_answer_has_no_percentile() {
        let told = "0 tx/s, p99 -, invalid: the trial failed; nothing succeeded";
        assert_eq!(trial_headline(&sample::failed().trials[0]), told);
    }
}
