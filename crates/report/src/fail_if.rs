//! The bounds at which a run fails, at each of its loads: kept, crossed, or not known, which fails as well.

use analysis::{Summary, Validity};
use plan::{BoundFigure, FailFigure, FailIf};
use serde_json::{Value, json};

use crate::digest::{Digest, Point, load_text};
use crate::document::{Section, Weight};
use crate::number::{bounded, latency, number, percent, several};
use crate::table::Table;

pub(crate) const TITLE: &str = "Bounds";
const NOTE: &str = "A bound holds at every load. Its figure is that of the table of loads: the median over the trials, \
                    for max the longest of all, for errors the part of all transactions of all trials. A figure that \
                    is not known fails the run too.";
/// Lines of a summary; the table has the others.
const LINES_MAX: usize = 10;

/// A bound at one load.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Check {
    pub(crate) bound: FailIf,
    /// The system, the workload and the load; empty where there was none.
    system: String,
    workload: String,
    load: String,
    /// The figure, and whether it is only a lower bound; `None` when nothing is known of it.
    value: Option<(f64, bool)>,
    pub(crate) result: CheckResult,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CheckResult {
    Kept,
    Crossed,
    /// Why it is not known.
    NotKnown(&'static str),
}

impl CheckResult {
    fn code(&self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Crossed => "crossed",
            Self::NotKnown(_) => "not-known",
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Kept => "kept".to_owned(),
            Self::Crossed => "crossed".to_owned(),
            Self::NotKnown(why) => format!("not known: {why}"),
        }
    }
}

impl Check {
    fn at(digest: &Digest<'_>, point: &Point<'_>, bound: FailIf) -> Self {
        let value = value(digest, point, bound.figure);
        Self {
            bound,
            system: point.system.to_owned(),
            workload: point.workload.to_owned(),
            load: load_text(point.clients, point.rate),
            value,
            result: result(digest, point, bound, value),
        }
    }

    pub(crate) fn is_failure(&self) -> bool {
        self.result != CheckResult::Kept
    }

    fn value_text(&self) -> String {
        let Some((value, is_bound)) = self.value else { return "\u{2013}".to_owned() };
        let text = match self.bound.figure {
            FailFigure::Throughput | FailFigure::Queries => format!("{}/s", number(value)),
            FailFigure::Of(BoundFigure::Errors) => percent(value),
            FailFigure::Of(_) => latency(value),
        };
        bounded(text, is_bound)
    }

    /// `oltp_read_only on sqlite, 4 clients`; empty where there was no load.
    pub(crate) fn place(&self) -> String {
        match self.load.is_empty() {
            true => String::new(),
            false => format!("{} on {}, {}", self.workload, self.system, self.load),
        }
    }

    /// `p99 > 10ms: crossed with 12.3 ms, oltp_read_only on sqlite, 4 clients`.
    pub(crate) fn line(&self) -> String {
        let place = match self.place() {
            place if place.is_empty() => place,
            place => format!(" ({place})"),
        };
        match &self.result {
            CheckResult::NotKnown(_) => format!("{}: {}{place}", self.bound, self.result.text()),
            _ => {
                format!("{}: {} with {}{place}", self.bound, self.result.text(), self.value_text())
            }
        }
    }
}

/// Every bound of the run at each of its loads.
pub(crate) fn checks(digest: &Digest<'_>) -> Vec<Check> {
    let mut checks = Vec::new();
    for bound in &digest.run.header.fail_if {
        checks.extend(digest.points.iter().map(|point| Check::at(digest, point, *bound)));
        if digest.points.is_empty() {
            checks.push(Check {
                bound: *bound,
                system: String::new(),
                workload: String::new(),
                load: String::new(),
                value: None,
                result: CheckResult::NotKnown("no load was measured"),
            });
        }
    }
    checks
}

/// The figure as the table of loads has it.
fn value(digest: &Digest<'_>, point: &Point<'_>, figure: FailFigure) -> Option<(f64, bool)> {
    let median = |of: fn(&Summary) -> f64| Some((digest.estimate(point, of)?.median, false));
    let latency = |of: &dyn Fn(&Summary) -> (f64, bool)| {
        digest.bounded(point, of).map(|(estimate, is_bound)| (estimate.median, is_bound))
    };
    match figure {
        FailFigure::Throughput => median(|summary| summary.transactions_per_s),
        FailFigure::Queries => median(|summary| summary.queries_per_s),
        FailFigure::Of(BoundFigure::Mean) => latency(&|summary| summary.latency.mean()),
        FailFigure::Of(BoundFigure::Max) => digest
            .bounded(point, |summary| summary.latency.max())
            .map(|(estimate, is_bound)| (estimate.max, is_bound)),
        FailFigure::Of(BoundFigure::Percentile(percent)) => {
            latency(&|summary| summary.latency.percentile(percent))
        }
        FailFigure::Of(BoundFigure::Errors) => {
            let failed = digest.sum(point, |summary| summary.failed_transactions);
            let all = failed + digest.sum(point, |summary| summary.transactions);
            (all > 0).then(|| (failed as f64 / all as f64, false))
        }
    }
}

fn result(
    digest: &Digest<'_>,
    point: &Point<'_>,
    bound: FailIf,
    value: Option<(f64, bool)>,
) -> CheckResult {
    let mut trials = point.trials.iter().map(|at| &digest.trials[*at]);
    let Some((value, is_bound)) = value else {
        return CheckResult::NotKnown("nothing was measured");
    };
    if digest.complete(point).next().is_none() {
        return CheckResult::NotKnown("no trial ran to its end");
    }
    if trials.all(|trial| trial.validity() == Validity::Invalid) {
        return CheckResult::NotKnown("no trial is valid");
    }
    let is_crossed = bound.is_crossed_by(value);
    // What is more than the least that it can be keeps no upper bound, and crosses no lower one.
    let is_upper = bound.beyond == plan::Beyond::Above;
    match (is_crossed, is_bound) {
        (is_crossed, true) if is_crossed != is_upper => {
            CheckResult::NotKnown("the figure is known only from below")
        }
        (true, _) => CheckResult::Crossed,
        (false, _) => CheckResult::Kept,
    }
}

/// How many bounds fail the run, in a line; `None` when it keeps all of them.
pub(crate) fn failure(checks: &[Check]) -> Option<String> {
    let count = |is_counted: fn(&CheckResult) -> bool| {
        checks.iter().filter(|check| is_counted(&check.result)).count() as u64
    };
    let crossed = count(|result| *result == CheckResult::Crossed);
    let unknown = count(|result| matches!(result, CheckResult::NotKnown(_)));
    if crossed + unknown == 0 {
        return None;
    }
    let told = [(crossed, "crossed"), (unknown, "not known")];
    let told = told.iter().filter(|(count, _)| *count > 0);
    let told: Vec<String> = told.map(|(count, what)| format!("{count} {what}")).collect();
    let all = several(checks.len() as u64, "bound", "bounds");
    Some(format!("of {all}, {}", told.join(", ")))
}

/// A line for each bound that fails the run, and one for all others; empty for a run without bounds.
pub(crate) fn lines(checks: &[Check]) -> Vec<String> {
    let failures: Vec<&Check> = checks.iter().filter(|check| check.is_failure()).collect();
    let mut lines: Vec<String> = failures.iter().take(LINES_MAX).map(|it| it.line()).collect();
    if failures.len() > LINES_MAX {
        lines.push(format!("and {} more", failures.len() - LINES_MAX));
    }
    let mut kept: Vec<String> = Vec::new();
    for check in checks.iter().filter(|check| !check.is_failure()) {
        let bound = check.bound.to_string();
        let is_broken = failures.iter().any(|it| it.bound == check.bound);
        if !is_broken && !kept.contains(&bound) {
            kept.push(bound);
        }
    }
    if !kept.is_empty() {
        lines.push(format!("not crossed: {}", kept.join(", ")));
    }
    lines
}

/// Every bound at every load.
pub(crate) fn section<'d>(checks: &[Check]) -> Section<'d> {
    let heads = ["fails if", "workload", "system", "load"];
    let mut table = heads.into_iter().fold(Table::new(), Table::words);
    table = table.numbers("figure").words("result");
    for check in checks {
        table.row(vec![
            check.bound.to_string(),
            check.workload.clone(),
            check.system.clone(),
            check.load.clone(),
            check.value_text(),
            check.result.text(),
        ]);
    }
    Section::new("bounds", TITLE).table(Weight::Summary, table).note(NOTE)
}

pub(crate) fn json(checks: &[Check]) -> Vec<Value> {
    let one = |check: &Check| {
        let why = match check.result {
            CheckResult::NotKnown(why) => Some(why),
            _ => None,
        };
        json!({
            "bound": check.bound.to_string(),
            "figure": check.bound.figure.to_string(),
            "limit": check.bound.limit,
            "workload": check.workload,
            "system": check.system,
            "load": check.load,
            "value": check.value.map(|(value, _)| value),
            "is_at_least": check.value.is_some_and(|(_, is_bound)| is_bound),
            "result": check.result.code(),
            "why": why,
        })
    };
    checks.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Reading, sample};

    fn bounds(texts: &[&str]) -> Vec<FailIf> {
        texts.iter().map(|text| FailIf::parse(text).unwrap()).collect()
    }

    #[test]
    fn a_bound_is_checked_by_the_figure_of_the_table_at_every_load() {
        let mut run = sample::large();
        run.header.fail_if =
            bounds(&["p99 > 1us", "throughput < 1", "max > 1h", "errors > 0%", "mean > 1ns"]);
        let reading = Reading::new(&run);
        let digest = &reading.digest;
        let checks = checks(digest);
        assert_eq!(checks.len(), 5 * digest.points.len());
        let of = |name: &'static str| {
            checks.iter().filter(move |it| it.bound.figure.to_string() == name)
        };
        for (check, point) in of("p99").zip(&digest.points) {
            let shown = crate::front::shown(digest, point, |it| it.latency.percentile(99.0));
            assert_eq!(Some(check.value_text()), shown, "{check:?}");
            assert_eq!(check.result, CheckResult::Crossed, "{check:?}");
        }
        assert!(of("throughput").chain(of("max")).all(|it| it.result == CheckResult::Kept));
        let text = crate::summary(&reading, None, Some(100), false);
        assert!(
            text.contains("p99 > 1us: crossed with") && text.contains("not crossed: "),
            "{text}"
        );
        assert!(crate::markdown(&reading).contains("## Bounds"));
        let json: Value = serde_json::from_str(&crate::json(&reading)).unwrap();
        assert_eq!(json["fail_if"][0]["result"], "crossed");
        assert_eq!(json["bounds_kept"], false);
        assert!(reading.crossed().unwrap().starts_with("of "), "{:?}", reading.crossed());
    }

    #[test]
    fn errors_are_those_of_all_trials() {
        let mut run = sample::failed();
        run.header.fail_if = bounds(&["errors > 99%", "p99 > 1h"]);
        let reading = Reading::new(&run);
        let checks = checks(&reading.digest);
        let is_unknown = |check: &Check| matches!(check.result, CheckResult::NotKnown(_));
        assert!(checks.iter().all(is_unknown), "nothing that was measured counts: {checks:?}");
        assert!(checks.iter().all(Check::is_failure));
    }

    #[test]
    fn a_figure_that_is_known_only_from_below_passes_no_upper_bound() {
        let mut run = sample::quick();
        for trial in &mut run.trials {
            trial.end.as_mut().unwrap().edges.unanswered.record(60_000_000_000);
        }
        run.header.fail_if = bounds(&["max > 1h", "max > 1s", "max < 1h", "max < 1s"]);
        let checks = checks(&Digest::new(&run));
        let of = |bound: &str| {
            let found = checks.iter().filter(|it| it.bound.to_string() == bound);
            let mut results: Vec<CheckResult> = found.map(|it| it.result.clone()).collect();
            results.dedup();
            results
        };
        assert!(checks.iter().all(|check| check.value_text().starts_with('\u{2265}')));
        let unknown = CheckResult::NotKnown("the figure is known only from below");
        assert_eq!(of("max > 1h"), of("max < 1h"));
        assert_eq!(of("max > 1s"), [CheckResult::Crossed], "it is a minute at least");
        assert_eq!(of("max < 1h"), [unknown]);
        assert_eq!(of("max < 1s"), [CheckResult::Kept]);
    }

    #[test]
    fn a_run_that_measured_nothing_keeps_no_bound() {
        let mut run = sample::run();
        run.trials.clear();
        run.header.fail_if = bounds(&["errors > 1%"]);
        let checks = checks(&Digest::new(&run));
        let line = "errors > 1%: not known: no load was measured";
        assert_eq!(lines(&checks), [line]);
        assert_eq!(failure(&checks).unwrap(), "of 1 bound, 1 not known");
    }
}
