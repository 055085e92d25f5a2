//! The figures of a trial, or of the best trial of a run, in a few words: for the progress and for lists of runs.

use analysis::Validity;
use record::{Run, TrialRecord};

use crate::digest::Trial;
use crate::number::{bounded, latency, number, several};

/// The percentile that is shown.
const PERCENT: f64 = 99.0;

/// The figures of a trial as its report has them, such as `782 tps, 15,640 qps, p99 3.20 ms`, and whether it is doubtful
/// or invalid.
pub fn trial_headline(record: &TrialRecord) -> String {
    let trial = Trial::new(record, &[PERCENT], None);
    let summary = &trial.summary;
    let failed = match summary.failed_transactions {
        0 => String::new(),
        failed => format!(", {}", several(failed, "failed transaction", "failed transactions")),
    };
    let verdict = match trial.validity() {
        Validity::Valid => String::new(),
        verdict => format!(", {}", verdict.name()),
    };
    format!(
        "{} tps, {} qps, p99 {}{failed}{verdict}",
        number(summary.transactions_per_s),
        number(summary.queries_per_s),
        percentile(&trial),
    )
}

/// Throughput per second and 99th percentile of the complete trial with the highest throughput; `None` when no trial is
/// complete. The probes of a seek are no results, but the trials that confirm it are.
pub fn best_trial(run: &Run) -> Option<[String; 2]> {
    let is_result = |trial: &&Trial<'_>| {
        trial.is_complete() && trial.record.header.probe.is_none_or(|probe| probe.is_confirming)
    };
    let trials: Vec<Trial<'_>> =
        run.trials.iter().map(|record| Trial::new(record, &[PERCENT], None)).collect();
    let throughput = |trial: &Trial<'_>| trial.summary.transactions_per_s;
    let results = trials.iter().filter(is_result);
    let best = results.max_by(|a, b| throughput(a).total_cmp(&throughput(b)))?;
    Some([number(throughput(best)), percentile(best)])
}

fn percentile(trial: &Trial<'_>) -> String {
    let known = trial.summary.latency.known();
    known.map_or("-".to_owned(), |known| {
        let (value_ns, is_bound) = known.percentile(PERCENT);
        bounded(latency(value_ns), is_bound)
    })
}

#[cfg(test)]
mod tests {
    use measure::TrialStatus;

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
        let [tps, p99] = best_trial(&run).unwrap();
        assert_eq!(tps, number(all[best]));
        let told = trial_headline(&run.trials[best]);
        assert!(told.starts_with(&format!("{tps} tps, ")) && told.contains(&p99), "{told}");
        run.trials[best].end.as_mut().unwrap().status = TrialStatus::Interrupted;
        assert_ne!(best_trial(&run).unwrap()[0], tps);
        assert_eq!(best_trial(&sample::failed()), None);
    }

    #[test]
    fn a_trial_without_an_answer_has_no_percentile() {
        assert_eq!(trial_headline(&sample::failed().trials[0]), "0 tps, 0 qps, p99 -, invalid");
    }
}
