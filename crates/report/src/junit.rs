//! A run as JUnit XML, which servers of continuous integration show: a case for each bound at each load, and for each
//! trial.

use record::TrialStatus;

use crate::Reading;
use crate::digest::Trial;
use crate::fail_if::Check;
use crate::table::escape;

/// A suite of the bounds, and one of the trials, which fail when they do not run to their end.
///
/// Source: the schema of Jenkins' JUnit plug-in.
pub fn junit(reading: &Reading<'_>) -> String {
    let bounds: Vec<Case> = reading.checks.iter().map(bound).collect();
    let trials: Vec<Case> = reading.digest.trials.iter().map(|it| trial(reading, it)).collect();
    let failures = |cases: &[Case]| cases.iter().filter(|case| case.is_failure).count();
    let counts = |tests: usize, failures: usize| {
        format!("tests=\"{tests}\" failures=\"{failures}\" skipped=\"0\"")
    };
    let suite = |name: &str, cases: &[Case]| {
        let counts = counts(cases.len(), failures(cases));
        let cases: String = cases.iter().map(|case| case.text.as_str()).collect();
        format!("<testsuite name=\"{name}\" {counts}>\n{cases}</testsuite>\n")
    };
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" {}>\n{}{}</testsuites>\n",
        escape(reading.digest.title()),
        counts(bounds.len() + trials.len(), failures(&bounds) + failures(&trials)),
        suite("bounds", &bounds),
        suite("trials", &trials),
    )
}

struct Case {
    is_failure: bool,
    text: String,
}

/// A bound that is not known fails the run as one that is crossed does.
fn bound(check: &Check) -> Case {
    let line = escape(&check.line());
    let is_failure = check.is_failure();
    let content = match is_failure {
        true => format!("<failure message=\"{line}\"/>\n"),
        false => format!("<system-out>{line}</system-out>\n"),
    };
    let text = test_case(&check.place(), &check.bound.to_string(), &content);
    Case { is_failure, text }
}

/// A doubtful trial is none that failed: `--strict` decides on it.
fn trial(reading: &Reading<'_>, trial: &Trial<'_>) -> Case {
    let end = trial.record.end.as_ref();
    let is_failure = end.is_none_or(|end| end.status != TrialStatus::Complete);
    let result = match (is_failure, trial.reason()) {
        (false, _) => String::new(),
        (true, None) => format!("<failure message=\"{}\"/>\n", trial.status()),
        (true, Some(why)) => {
            format!("<failure message=\"{}: {}\"/>\n", trial.status(), escape(why))
        }
    };
    let found = trial.findings.iter().map(|it| format!("{}\n", crate::finding::sentence(it)));
    let told: String =
        std::iter::once(format!("{}\n", trial.validity().name())).chain(found).collect();
    let content = format!("{result}<system-out>{}</system-out>\n", escape(&told));
    let number = trial.record.header.index + 1;
    let text = test_case(&reading.digest.name_of(trial), &format!("trial {number}"), &content);
    Case { is_failure, text }
}

/// A case with the result and the output in it.
pub(crate) fn test_case(class: &str, name: &str, content: &str) -> String {
    let (class, name) = (escape(class), escape(name));
    format!("<testcase classname=\"{class}\" name=\"{name}\">\n{content}</testcase>\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_bound_that_is_not_kept_and_a_trial_that_failed_are_failures() {
        let mut run = sample::quick();
        let bounds = ["p99 > 1us", "errors > 99%"].map(|it| plan::FailIf::parse(it).unwrap());
        run.header.fail_if = bounds.to_vec();
        run.trials[0].end.as_mut().unwrap().status =
            TrialStatus::Crashed("killed <by> \"SIGKILL\"".to_owned());
        let text = junit(&Reading::new(&run));
        let of = |suite: &str| {
            let (_, rest) = text.split_once(&format!("<testsuite name=\"{suite}\"")).unwrap();
            rest.split_once("</testsuite>").unwrap().0.to_owned()
        };
        let loads = run.trials.len();
        let bounds = of("bounds");
        assert_eq!(bounds.matches("<testcase ").count(), 2 * loads, "{bounds}");
        // The load whose only trial crashed has nothing that counts.
        assert_eq!(bounds.matches("<failure ").count(), loads + 1, "{bounds}");
        let trials = of("trials");
        assert_eq!(trials.matches("<testcase ").count(), loads, "{trials}");
        let why = "message=\"crashed: killed &lt;by&gt; &quot;SIGKILL&quot;\"";
        assert!(trials.contains(why) && trials.matches("<failure ").count() == 1, "{trials}");
    }
}
