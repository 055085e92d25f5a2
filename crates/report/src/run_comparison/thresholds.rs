//! The thresholds at which a candidate fails: `p99 > +5%`.

use analysis::Significance;
use plan::FailIf;

use super::found::Found;
use super::sides::{Refusal, SIDES};
use super::{Row, RunComparison};
use crate::figure::Figure;

/// What a comparison is judged by.
#[derive(Clone, Debug, PartialEq)]
pub struct Criteria {
    /// The least relative difference that matters.
    pub margin: f64,
    pub thresholds: Vec<Threshold>,
    /// Whether a threshold that is not decided fails too.
    pub is_strict: bool,
}

/// A change of a figure with which a candidate fails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    pub(super) figure: Figure,
    direction: Direction,
    /// The relative change; of failures a difference of parts in points. As it is written, so that it is shown so.
    percent: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Above,
    Below,
}

#[derive(Debug)]
pub(super) struct Check {
    pub(super) threshold: Threshold,
    pub(super) matched: usize,
    pub(super) result: CheckResult,
    /// The change with its interval, or why there is none.
    pub(super) detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CheckResult {
    /// The whole interval is within the bound.
    Kept,
    /// The whole interval is beyond the bound and the verdict is decided, or no trial of the candidate ran to its end.
    Crossed,
    /// The interval contains the bound, there is none, or the verdict is not decided.
    NotDecided,
}

/// Of one repetition on a side.
const CANNOT_BE_CROSSED: &str = "could not have been crossed with these repetitions";

const EXAMPLE: &str = "write such as \"p99 > +5%\" or \"tps < -3%\"";

impl Threshold {
    /// Reads `p99 > +5%`, `tps < -3%`: a figure, a direction, and a change in per cent.
    ///
    /// # Errors
    /// What is wrong with it, and how to write it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| format!("`{}` is no threshold: {why}; {EXAMPLE}", text.trim());
        let (direction, parts) = match (text.split_once('>'), text.split_once('<')) {
            (Some(parts), None) => (Direction::Above, parts),
            (None, Some(parts)) => (Direction::Below, parts),
            _ => return Err(wrong("it needs one of `>` and `<`")),
        };
        let (name, change) = (parts.0.trim(), parts.1.trim());
        let figure = Figure::from_key(name).ok_or_else(|| {
            wrong(
                "no figure has that name: they are tps, qps, mean, p50 and other percentiles, cpu, \
                 context_switches, read_kb, written_kb, failed",
            )
        })?;
        let number = change.strip_suffix('%').map(str::trim).unwrap_or_default();
        // Without a sign `tps < 3%` could be meant as a loss of 3 %, and would fail nearly always.
        let has_sign = number.starts_with(['+', '-']);
        let percent = number.parse::<f64>().ok().filter(|percent| has_sign || *percent == 0.0);
        match percent {
            Some(percent) if percent > -100.0 && percent.is_finite() => {
                Ok(Self { figure, direction, percent })
            }
            _ if FailIf::parse(text).is_ok() => {
                Err(wrong("a bound on the figure itself is for a run: `dyno run PLAN --fail-if`"))
            }
            _ => Err(wrong("its change has a sign and ends with %, and is above -100%")),
        }
    }

    /// The percentile that it is about, if it is about one.
    pub fn percentile(&self) -> Option<f64> {
        match self.figure {
            Figure::Latency(percent) => Some(percent),
            _ => None,
        }
    }

    pub(crate) fn text(self) -> String {
        let sign = match self.direction {
            Direction::Above => '>',
            Direction::Below => '<',
        };
        let plus = if self.percent > 0.0 { "+" } else { "" };
        format!("{} {sign} {plus}{}%", self.figure.key(), self.percent)
    }

    /// By the whole 95 % interval of the change. Where the verdict, which is corrected for how many there are, is not
    /// decided, no threshold is crossed: one comparison has one answer.
    fn result(self, found: &Found, verdict: Option<Significance>) -> CheckResult {
        let is_decided = verdict != Some(Significance::Undecided);
        if !found.contrast.has_interval() {
            return CheckResult::NotDecided;
        }
        let [low, high] = found.interval(0.95);
        let bound = self.percent / 100.0;
        let (is_crossed, is_kept) = match self.direction {
            Direction::Above => (low > bound, high <= bound),
            Direction::Below => (high < bound, low >= bound),
        };
        match (is_crossed, is_kept) {
            (true, _) if is_decided => CheckResult::Crossed,
            (_, true) => CheckResult::Kept,
            _ => CheckResult::NotDecided,
        }
    }
}

impl Check {
    pub(super) fn is_failure(&self, is_strict: bool) -> bool {
        match self.result {
            CheckResult::Kept => false,
            CheckResult::Crossed => true,
            CheckResult::NotDecided => is_strict,
        }
    }
}

impl CheckResult {
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Crossed => "crossed",
            Self::NotDecided => "not-decided",
        }
    }

    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Crossed => "crossed",
            Self::NotDecided => "not decided",
        }
    }
}

/// Every threshold at every point.
///
/// # Errors
/// When a figure of a threshold is known at no point.
pub(super) fn checks(compared: &RunComparison<'_, '_>) -> Result<Vec<Check>, Refusal> {
    let mut checks = Vec::new();
    for threshold in &compared.criteria.thresholds {
        let rows = compared.rows.iter().filter(|row| row.figure == threshold.figure);
        let before = checks.len();
        checks.extend(rows.map(|row| check(*threshold, row, compared)));
        if checks.len() == before {
            let name = threshold.figure.key();
            return Err(Refusal::new(format!(
                "--fail-if {}: neither side has {name}, so that the threshold could never fail",
                threshold.text()
            )));
        }
    }
    Ok(checks)
}

fn check(threshold: Threshold, row: &Row, compared: &RunComparison<'_, '_>) -> Check {
    let place = compared.place(row);
    let has_survived =
        place.points[1].iter().flat_map(|it| it.trials()).any(|trial| trial.is_complete());
    let result = match &row.found {
        _ if !has_survived => CheckResult::Crossed,
        Ok(found) => threshold.result(found, row.verdict),
        Err(_) => CheckResult::NotDecided,
    };
    let detail = match &row.found {
        _ if !has_survived => format!("no trial of the {} ran to its end", SIDES[1]),
        Err(reason) => reason.clone(),
        Ok(found) if found.contrast.has_interval() => row.change(found),
        Ok(found) => format!("{}, {}: {}", row.change(found), row.text(), CANNOT_BE_CROSSED),
    };
    Check { threshold, matched: row.matched, result, detail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_read_and_written() {
        for (text, written) in [
            ("p99 > +5%", "p99 > +5%"),
            (" tps<-3 % ", "tps < -3%"),
            ("p99.9>+0.25%", "p99.9 > +0.25%"),
            ("cpu > 0%", "cpu > 0%"),
            ("failed > +0.1%", "failed > +0.1%"),
            ("throughput < -3%", "tps < -3%"),
            ("errors > +0.1%", "failed > +0.1%"),
        ] {
            assert_eq!(Threshold::parse(text).unwrap().text(), written);
        }
    }

    #[test]
    fn a_wrong_threshold_is_explained() {
        for (text, why) in [
            ("p99 5%", "it needs one of"),
            ("p99 > < 5%", "it needs one of"),
            ("latency > +5%", "no figure has that name"),
            ("p99 > 5%", "its change has a sign"),
            ("p99 > +5", "its change has a sign"),
            ("p99 > +5ms", "its change has a sign"),
            ("p99 > 5ms", "a bound on the figure itself is for a run"),
            ("tps < -100%", "its change has a sign"),
            ("tps < -nan%", "its change has a sign"),
        ] {
            let message = Threshold::parse(text).unwrap_err();
            assert!(message.contains(why) && message.contains("tps < -3%"), "{text}: {message}");
        }
    }
}
