//! The findings of a trial that is made of windows.

use analysis::{Code, Finding, Value};

use super::Trial;

/// What was found in one window: only what a window can tell alone.
pub(super) fn of_one(mut found: Vec<Finding>) -> Vec<Finding> {
    found.retain(|finding| !is_of_whole(finding.code));
    found
}

/// What was found in the windows, each kind once with the figures of the first of them, and in the whole trial.
pub(super) fn findings(whole: Vec<Finding>, windows: &[Trial<'_>]) -> Vec<Finding> {
    let mut found: Vec<(Finding, u64, u64)> = Vec::new();
    for (number, window) in (1..).zip(windows) {
        for finding in &window.findings {
            let is_alike = |(known, _, _): &&mut (Finding, u64, u64)| {
                known.code == finding.code && known.subject == finding.subject
            };
            match found.iter_mut().find(is_alike) {
                Some((_, _, others)) => *others += 1,
                None => found.push((finding.clone(), number, 0)),
            }
        }
    }
    let told: Vec<Code> = found.iter().map(|(finding, _, _)| finding.code).collect();
    let ends = |code| is_end(code) && !told.contains(&code);
    let of_whole = whole.into_iter().filter(|it| is_of_whole(it.code) || ends(it.code));
    let of_windows = found.into_iter().map(|(mut finding, number, others)| {
        finding.values.push(("window", Value::Small(number)));
        finding.values.extend((others > 0).then_some(("other_windows", Value::Small(others))));
        finding.values.push(("windows", Value::Small(windows.len() as u64)));
        finding
    });
    of_windows.chain(of_whole).collect()
}

/// Findings on sums and on numbers of values, which are those of all windows together.
fn is_of_whole(code: Code) -> bool {
    matches!(
        code,
        Code::CensoredPercentiles
            | Code::Failures
            | Code::FewValues
            | Code::LatencyLimitMissed
            | Code::MixMissed
            | Code::Retries
            | Code::ShortWindow
            | Code::TooFewValues
            | Code::Unfair
            | Code::WorkloadRemark
    )
}

/// How a trial ends of which windows are missing.
fn is_end(code: Code) -> bool {
    matches!(code, Code::Cut | Code::Damaged | Code::Interrupted)
}

#[cfg(test)]
mod tests {
    use record::TrialRecord;

    use crate::Reading;
    use crate::digest::Trial;
    use crate::sample;

    fn window(mut trial: TrialRecord) -> TrialRecord {
        trial.header.window = Some(0);
        trial
    }

    #[test]
    fn what_is_judged_by_the_sum_of_windows_does_not_speak_against_one() {
        let mut trial = sample::run().trials.swap_remove(0);
        trial.total.failed_transactions = trial.total.transactions;
        let reasons = |trial: &TrialRecord| Trial::new(trial, &[50.0], None).reasons();
        assert_eq!(reasons(&trial), ["failures"]);
        assert_eq!(reasons(&window(trial)), [""; 0]);
    }

    #[test]
    fn what_windows_show_is_told_once_with_the_number_of_the_others() {
        let mut run = sample::stalled();
        let stalled = run.trials[0].clone();
        let well = sample::run().trials.swap_remove(0);
        let windows = [&well, &stalled, &stalled].map(|trial| window(trial.clone())).into();
        run.trials[0] = TrialRecord { windows, ..well };
        let reading = Reading::new(&run);
        let digest = &reading.digest;
        let [trial] = &digest.trials[..] else { panic!("one trial") };
        let names = trial.findings.iter().map(|finding| finding.code.name());
        assert_eq!(names.filter(|name| *name == "generator-stalled").count(), 1);
        let serious = trial.windows[1].validity();
        assert_eq!((trial.validity(), trial.windows.len()), (serious, 3));
        assert!(serious > trial.windows[0].validity(), "{serious:?}");
        for view in
            [crate::terminal(&reading), crate::markdown(&reading), crate::whole_html(&reading)]
        {
            assert!(view.contains(", in window 2 and 1 other of 3"), "{view}");
        }
        let json: serde_json::Value = serde_json::from_str(&crate::json(&reading)).unwrap();
        let windows = json["trials"][0]["windows"].as_array().unwrap();
        assert_eq!(windows[2]["validity"], serious.name());
        assert_eq!(windows[2]["transactions"], trial.windows[2].summary.transactions);
    }
}
