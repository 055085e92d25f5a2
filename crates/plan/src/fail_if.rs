//! `fail_if`: the bounds at which a run fails, such as `p99 > 10ms`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::keys::{Form, Key};
use crate::seek::BoundFigure;
use crate::units::parse_count;
use crate::{OptionReader, show_duration};

/// The key, and the option of the command line without its hyphens.
pub(crate) const FAIL_IF: &str = "fail_if";
/// The most bounds of a run: each has a row for each load in every report.
pub const FAIL_IF_MAX: usize = 100;
const EXAMPLE: &str = "write such as \"p99 > 10ms\", \"errors > 0.1%\" or \"throughput < 1000\"";
const NAMES: &str = "no figure has that name: they are throughput, queries, mean, max, p50 and other percentiles, errors";

/// A value of a figure with which a run fails, at each of its loads: `p99 > 10ms`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FailIf {
    pub figure: FailFigure,
    pub beyond: Beyond,
    /// Latencies in ns, errors as a part of 1, rates per second.
    pub limit: f64,
}

/// A figure of a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FailFigure {
    /// Transactions that succeed, per second.
    Throughput,
    /// Statements per second.
    Queries,
    /// A latency, or errors: a figure that a seek has bounds for.
    Of(BoundFigure),
}

/// On which side of its limit a figure fails. The limit itself is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    Above,
    Below,
}

impl FailIf {
    /// Reads `p99 > 10ms`, `errors > 0.1%`, `throughput < 1000`: a figure, a direction, and a value with its unit.
    ///
    /// # Errors
    /// What is wrong with it, and how to write it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| format!("`{}` is not a bound: {why}; {EXAMPLE}", text.trim());
        let (beyond, (name, limit)) = match (text.split_once('>'), text.split_once('<')) {
            (Some(parts), None) => (Beyond::Above, parts),
            (None, Some(parts)) => (Beyond::Below, parts),
            _ => return Err(wrong("it needs one of `>` and `<`")),
        };
        let limit = limit.trim();
        if limit.starts_with('=') {
            return Err(wrong("a value that equals its limit is kept; write `>` or `<` alone"));
        }
        let figure = FailFigure::parse(name.trim()).map_err(|why| wrong(&why))?;
        let is_errors = figure == FailFigure::Of(BoundFigure::Errors);
        if limit.starts_with(['+', '-']) || limit.ends_with('%') && !is_errors {
            return Err(wrong(
                "a change in per cent needs a baseline: `dyno compare BASELINE CANDIDATE --fail-if` has one",
            ));
        }
        match figure.limit(limit) {
            Ok(limit) if limit == 0.0 && beyond == Beyond::Below => {
                Err(wrong("nothing is below 0"))
            }
            Ok(limit) => Ok(Self { figure, beyond, limit }),
            Err(why) => Err(wrong(why)),
        }
    }

    /// The percentile that it is about, if it is about one.
    pub fn percentile(&self) -> Option<f64> {
        match self.figure {
            FailFigure::Of(BoundFigure::Percentile(percent)) => Some(percent),
            _ => None,
        }
    }

    /// Whether a value is beyond the limit.
    pub fn is_crossed_by(&self, value: f64) -> bool {
        match self.beyond {
            Beyond::Above => value > self.limit,
            Beyond::Below => value < self.limit,
        }
    }
}

impl FailFigure {
    fn parse(name: &str) -> Result<Self, String> {
        // Names in thresholds of `dyno compare`, where `throughput` is short.
        match name {
            "throughput" | "tps" => Ok(Self::Throughput),
            "queries" | "qps" => Ok(Self::Queries),
            "failed" => Ok(Self::Of(BoundFigure::Errors)),
            _ => match BoundFigure::parse(name) {
                Ok(figure) => Ok(Self::Of(figure)),
                Err(None) => Err(NAMES.to_owned()),
                Err(Some(why)) => Err(why.to_owned()),
            },
        }
    }

    fn limit(self, text: &str) -> Result<f64, &'static str> {
        match self {
            Self::Throughput | Self::Queries => {
                let plain = || text.parse::<f64>().ok().filter(|it| it.is_finite() && *it >= 0.0);
                let rate = parse_count(text).map(|count| count as f64).or_else(plain);
                rate.ok_or("a rate is a number per second, such as 1000 or 5k")
            }
            Self::Of(figure) => figure.limit(text),
        }
    }
}

impl fmt::Display for FailFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Throughput => f.write_str("throughput"),
            Self::Queries => f.write_str("queries"),
            Self::Of(figure) => figure.fmt(f),
        }
    }
}

/// As a plan writes it.
impl fmt::Display for FailIf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.beyond {
            Beyond::Above => '>',
            Beyond::Below => '<',
        };
        write!(f, "{} {sign} ", self.figure)?;
        match self.figure {
            FailFigure::Throughput | FailFigure::Queries => write!(f, "{}", self.limit),
            FailFigure::Of(BoundFigure::Errors) => {
                write!(f, "{}%", (self.limit * 1e8).round() / 1e6)
            }
            FailFigure::Of(_) => {
                let time = std::time::Duration::from_nanos(self.limit as u64);
                f.write_str(&show_duration(time))
            }
        }
    }
}

impl TryFrom<String> for FailIf {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl From<FailIf> for String {
    fn from(bound: FailIf) -> Self {
        bound.to_string()
    }
}

/// The key at the top of a plan.
pub(crate) fn key() -> Key {
    let meaning = "bounds with which the run fails, such as `p99 > 10ms` or `errors > 0.1%`";
    Key::new(FAIL_IF, Form::Texts, meaning)
}

/// The bounds of a plan. A list within one text has commas, as in [seek].
pub(crate) fn read(reader: &mut OptionReader<'_>) -> Vec<FailIf> {
    let texts = reader.texts(FAIL_IF);
    let parts = texts.iter().flat_map(|text| text.split(','));
    let mut bounds = Vec::new();
    for read in parts.map(FailIf::parse) {
        match read {
            Ok(bound) if bounds.contains(&bound) => {}
            Ok(bound) => bounds.push(bound),
            Err(message) => {
                let (message, help) = message
                    .split_once("; write such as ")
                    .map_or((message.as_str(), EXAMPLE.to_owned()), |(message, example)| {
                        (message, format!("write such as {example}"))
                    });
                reader.reject(FAIL_IF, message, help);
            }
        }
    }
    if bounds.len() > FAIL_IF_MAX {
        let message = format!("{} bounds are more than {FAIL_IF_MAX}", bounds.len());
        reader.reject(FAIL_IF, message, "keep those that a build shall fail by");
    }
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plan, Source};

    #[test]
    fn bounds_are_read_and_written() {
        for (text, written) in [
            ("p99 > 10ms", "p99 > 10ms"),
            (" p99.9>1.5s ", "p99.9 > 1.5s"),
            ("errors > 0.1%", "errors > 0.1%"),
            ("failed > 0", "errors > 0%"),
            ("throughput < 1000", "throughput < 1000"),
            ("tps < 1.5k", "throughput < 1500"),
            ("qps < 0.5", "queries < 0.5"),
            ("max > 1m", "max > 1m"),
            ("mean > 800us", "mean > 800us"),
        ] {
            let bound = FailIf::parse(text).unwrap();
            assert_eq!(bound.to_string(), written);
            assert_eq!(FailIf::parse(written), Ok(bound));
        }
    }

    #[test]
    fn a_wrong_bound_is_explained() {
        for (text, why) in [
            ("p99 10ms", "it needs one of"),
            ("1ms < p99 < 2ms", "no figure has that name"),
            ("1ms < p99 > 2ms", "it needs one of"),
            ("p99 >= 10ms", "write `>` or `<` alone"),
            ("latency > 10ms", "no figure has that name: they are throughput"),
            ("p100 > 10ms", "a percentile is above 0 and below 100"),
            ("p99 > 10", "a latency has a unit"),
            ("p99 > +5%", "`dyno compare BASELINE CANDIDATE --fail-if` has one"),
            ("throughput < -3%", "needs a baseline"),
            ("throughput < 3%", "needs a baseline"),
            ("throughput < fast", "a rate is a number per second"),
            ("throughput < nan", "a rate is a number per second"),
            ("throughput < 0", "nothing is below 0"),
            ("errors > 3", "errors are a part of all"),
            ("errors > -1%", "needs a baseline"),
        ] {
            let message = FailIf::parse(text).unwrap_err();
            assert!(
                message.contains(why) && message.contains("write such as"),
                "{text}: {message}"
            );
        }
    }

    #[test]
    fn what_equals_its_limit_is_kept() {
        let bound = |text| FailIf::parse(text).unwrap();
        assert!(!bound("throughput < 1000").is_crossed_by(1000.0));
        assert!(bound("throughput < 1000").is_crossed_by(999.9));
        assert!(!bound("p99 > 10ms").is_crossed_by(10e6));
        assert!(bound("p99 > 10ms").is_crossed_by(10e6 + 1.0));
    }

    #[test]
    fn a_plan_has_bounds_and_points_at_wrong_ones() {
        let plan = |line: &str| {
            let text =
                format!("{line}\nsystem = 'sqlite'\nworkload = 'sysbench/oltp_point_select'");
            Plan::parse(Source { name: "p.toml".to_owned(), text, folder: ".".into() })
        };
        let read = plan("fail_if = ['p99 > 10ms', 'errors > 0.1%, tps < 1k']").unwrap().fail_if;
        let texts: Vec<String> = read.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["p99 > 10ms", "errors > 0.1%", "throughput < 1000"]);
        assert_eq!(plan("fail_if = 'p99 > 10ms'").unwrap().fail_if.len(), 1);
        let problems = plan("fail_if = ['p99 > 10']").unwrap_err().to_string();
        assert!(
            problems.contains("p.toml:1") && problems.contains("help: write such as"),
            "{problems}"
        );
    }
}
