//! Phases of load that end by what is measured: a warm-up that lasts until the load is steady, and measuring that
//! lasts until a figure is precise.

use std::fmt;
use std::time::Duration;

use crate::keys::{Form, Key, words};
use crate::value::Value;
use crate::{OptionReader, Options, Problem, show_duration};

/// A warm-up that is to end by itself has at least so many intervals: with fewer nothing can be told.
pub const STEADY_INTERVALS_MIN: u32 = 20;
/// Measuring that ends by itself has at least so many intervals.
pub const PRECISE_INTERVALS_MIN: u32 = 10;
/// The most time that is measured where the plan sets none and a precision is asked for.
pub(crate) const PRECISE_TIME_DEFAULT: Duration = Duration::from_secs(300);

const WARM_UP_DEFAULT: Duration = Duration::from_secs(1);
const AT_MOST_DEFAULT: Duration = Duration::from_secs(300);
/// The least length of a warm-up that ends by itself is this part of the longest, where the plan sets none.
const AT_LEAST_SHARE: u32 = 10;
const UNTIL: &[(&str, &str)] = &[("steady", "steady")];
const STEADY_EXAMPLE: &str = "write { until = \"steady\", at_least = \"30s\", at_most = \"5m\" }";
const PRECISION_EXAMPLE: &str =
    "write such as \"p99 within 5%\", \"mean within 2%\" or \"throughput within 1%\"";

/// A warm-up that ends when the load is steady, at [`LoadPlan::warm_up`] at the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SteadyPlan {
    /// The shortest such warm-up.
    pub at_least: Duration,
}

/// When a figure is precise enough for the measuring to end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrecisionPlan {
    pub figure: PreciseFigure,
    /// Half the width of its interval, as a part of its value: above 0 and below 1.
    pub within: f64,
}

/// A figure whose precision can end the measuring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PreciseFigure {
    /// Transactions that succeed, per second.
    Throughput,
    Mean,
    /// A percentile of latencies, above 0 and below 100.
    Percentile(f64),
}

impl PrecisionPlan {
    /// Reads `p99 within 5%`, `mean within 2%`, `throughput within 1%`; `tps` is another word for throughput.
    ///
    /// # Errors
    /// What is wrong with it.
    fn parse(text: &str) -> Result<Self, String> {
        let told = |why: &str| format!("`until` is {text:?}: {why}");
        let wrong = |why: &str| Err(told(why));
        let words: Vec<&str> = text.split_whitespace().collect();
        let [name, "within", percent @ ..] = words.as_slice() else {
            return wrong("it is not a figure, `within` and a percentage");
        };
        let figure = PreciseFigure::parse(name).map_err(told)?;
        let percent = percent.concat();
        match percent.strip_suffix('%').and_then(|number| number.parse::<f64>().ok()) {
            Some(percent) if percent > 0.0 && percent < 100.0 => {
                Ok(Self { figure, within: percent / 100.0 })
            }
            Some(_) => wrong("the percentage is above 0 and below 100"),
            None => wrong("the precision is a percentage, such as 5%"),
        }
    }
}

impl PreciseFigure {
    /// Reads `throughput` (or `tps`), `mean`, or a percentile such as `p99`.
    ///
    /// # Errors
    /// Why it is no such figure.
    pub(crate) fn parse(name: &str) -> Result<Self, &'static str> {
        match name {
            "throughput" | "tps" => Ok(Self::Throughput),
            "mean" => Ok(Self::Mean),
            name => match name.strip_prefix('p').and_then(|percent| percent.parse::<f64>().ok()) {
                Some(percent) if percent > 0.0 && percent < 100.0 => Ok(Self::Percentile(percent)),
                Some(_) => Err("a percentile is above 0 and below 100"),
                None => Err("no figure has that name"),
            },
        }
    }
}

impl fmt::Display for PreciseFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Throughput => f.write_str("throughput"),
            Self::Mean => f.write_str("mean"),
            Self::Percentile(percent) => write!(f, "p{percent}"),
        }
    }
}

impl fmt::Display for PrecisionPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} within {}%", self.figure, (self.within * 1e8).round() / 1e6)
    }
}

/// The keys of `[load]` that this file reads.
pub(crate) fn keys() -> Vec<Key> {
    let steady = vec![
        Key::new("until", words(UNTIL), "what ends the warm-up"),
        Key::new("at_least", Form::Time, "the shortest warm-up; a tenth of `at_most` by default"),
        Key::new("at_most", Form::Time, "the longest warm-up").or("5m"),
    ];
    let warm_up = vec![Form::Time, words(UNTIL), Form::Table(steady)];
    vec![
        Key::new(
            "until",
            Form::Text,
            "a precision that ends the measured load, such as `p99 within 5%`",
        ),
        Key::new("warm_up", Form::Either(warm_up), "load before the measured load, or `steady`")
            .or("1s"),
    ]
}

/// `until` of `[load]`; `None` when a length alone ends the measuring.
pub(crate) fn read_precision(reader: &mut OptionReader<'_>) -> Option<PrecisionPlan> {
    let text = reader.text("until")?;
    PrecisionPlan::parse(&text)
        .map_err(|message| reader.reject("until", message, PRECISION_EXAMPLE))
        .ok()
}

/// `warm_up` of `[load]`: its length at most, and whether it ends when the load is steady.
pub(crate) fn read_warm_up(
    reader: &mut OptionReader<'_>,
    problems: &mut Vec<Problem>,
) -> (Duration, Option<SteadyPlan>) {
    match reader.placed("warm_up").map(|placed| &placed.value) {
        Some(Value::Table(table)) => {
            let (at_most, steady) = read_steady(table, problems);
            (at_most, Some(steady))
        }
        Some(Value::Text(text)) if text.trim() == "steady" => {
            (AT_MOST_DEFAULT, Some(SteadyPlan { at_least: AT_MOST_DEFAULT / AT_LEAST_SHARE }))
        }
        Some(Value::Text(text)) if text.chars().all(|letter| letter.is_alphabetic()) => {
            let message = format!("`warm_up` is {text:?}, not a length of time");
            reader.reject("warm_up", message, "write a length such as \"10s\", or \"steady\"");
            (WARM_UP_DEFAULT, None)
        }
        _ => (reader.duration("warm_up", WARM_UP_DEFAULT), None),
    }
}

/// The longest length of the warm-up, and the shortest.
fn read_steady(table: &Options, problems: &mut Vec<Problem>) -> (Duration, SteadyPlan) {
    let mut reader = table.reader();
    if reader.is_given("until") {
        reader.choice("until", "steady", UNTIL);
    } else {
        reader.reject("until", "the warm-up has no `until`", STEADY_EXAMPLE);
    }
    let at_most = reader.duration("at_most", AT_MOST_DEFAULT);
    let at_least = reader.duration("at_least", at_most / AT_LEAST_SHARE);
    if at_most < at_least {
        let [most, least] = [at_most, at_least].map(show_duration);
        let message = format!("`at_most` is {most}, shorter than `at_least`, {least}");
        reader.reject("at_most", message, STEADY_EXAMPLE);
    }
    problems.extend(reader.finish().err().unwrap_or_default());
    (at_most, SteadyPlan { at_least })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::source;
    use crate::{Limit, LoadPlan, Plan};

    fn parse(load: &str) -> Result<Plan, String> {
        let text = format!("system = \"sqlite\"\nworkload = \"w\"\n[load]\n{load}\n");
        Plan::parse(source(&text)).map_err(|problems| problems.rendered)
    }

    fn load(lines: &str) -> LoadPlan {
        parse(lines).unwrap_or_else(|problems| panic!("{problems}")).load
    }

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_warm_up_until_steady_has_a_shortest_and_a_longest_length() {
        for (lines, at_least, at_most) in [
            ("warm_up = \"steady\"", s(30), s(300)),
            ("warm_up = { until = \"steady\" }", s(30), s(300)),
            ("warm_up = { until = \"steady\", at_most = \"2m\" }", s(12), s(120)),
            (
                "warm_up = { until = \"steady\", at_least = \"20s\", at_most = \"20s\" }",
                s(20),
                s(20),
            ),
        ] {
            let load = load(lines);
            assert_eq!((load.warm_up, load.steady), (at_most, Some(SteadyPlan { at_least })));
            assert!(load.is_warm_up_given, "{lines}");
        }
        assert_eq!((load("warm_up = \"3s\"").warm_up, load("").steady), (s(3), None));
    }

    #[test]
    fn a_precision_has_a_figure_and_a_percentage() {
        let precision = |text: &str| load(&format!("until = \"{text}\"")).precision.unwrap();
        for (text, figure, within, shown) in [
            ("p99 within 5%", PreciseFigure::Percentile(99.0), 0.05, "p99 within 5%"),
            ("p99.9 within 0.5 %", PreciseFigure::Percentile(99.9), 0.005, "p99.9 within 0.5%"),
            ("mean within 10%", PreciseFigure::Mean, 0.1, "mean within 10%"),
            ("tps within 2%", PreciseFigure::Throughput, 0.02, "throughput within 2%"),
            ("throughput within 99%", PreciseFigure::Throughput, 0.99, "throughput within 99%"),
        ] {
            let read = precision(text);
            assert_eq!((read.figure, read.to_string().as_str()), (figure, shown));
            assert!((read.within - within).abs() < 1e-12, "{text}");
        }
        assert_eq!(load("until = \"p99 within 5%\"").limit, Limit::time(s(300)));
        let limited = load("until = \"p99 within 5%\"\ntime = \"1m\"");
        assert_eq!((limited.limit, limited.is_limit_given), (Limit::time(s(60)), true));
    }

    #[test]
    fn what_cannot_end_by_itself_is_refused_at_its_line() {
        let steady = "warm_up = \"steady\"";
        for (lines, place, told) in [
            ("until = \"p99 below 5%\"", "until", "not a figure, `within` and a percentage"),
            ("until = \"p100 within 5%\"", "until", "a percentile is above 0 and below 100"),
            ("until = \"qps within 5%\"", "until", "no figure has that name"),
            ("until = \"p99 within 0%\"", "until", "the percentage is above 0 and below 100"),
            ("until = \"p99 within 100%\"", "until", "the percentage is above 0 and below 100"),
            ("until = \"p99 within 5\"", "until", "such as 5%"),
            ("until = \"mean within\"", "until", "such as 5%"),
            ("until = \"mean within 5%\"\nevents = 5", "until", "together with `events`"),
            ("until = \"mean within 5%\"\ntime = \"9s\"", "time", "too short for `until`"),
            ("warm_up = \"stedy\"", "warm_up", "or \"steady\""),
            ("warm_up = { at_most = \"5m\" }", "warm_up", "has no `until`"),
            ("warm_up = { until = \"warm\" }", "warm_up", "steady"),
            ("warm_up = { until = \"steady\", most = \"1m\" }", "warm_up", "unknown key `most`"),
            (
                "warm_up = { until = \"steady\", at_least = \"2m\", at_most = \"1m\" }",
                "warm_up",
                "`at_most` is 1m, shorter than `at_least`, 2m",
            ),
            (
                "warm_up = { until = \"steady\", at_most = \"19s\" }",
                "warm_up",
                "20 intervals of 1s",
            ),
        ] {
            let problems = parse(lines).unwrap_err();
            assert!(problems.contains(told) && problems.contains(place), "{lines}: {problems}");
            let line = lines.lines().find(|line| line.starts_with(place)).unwrap();
            assert!(problems.contains(&format!("| {line}")), "{lines}: {problems}");
        }
        let steps = "steps = [{ for = \"30s\", rate = 5 }]";
        for other in [format!("{steady}\n{steps}"), format!("{steady}\nprewarm = \"6m\"")] {
            assert!(parse(&other).is_err(), "{other}");
        }
        let changing = parse(&format!("until = \"mean within 5%\"\n{steps}")).unwrap_err();
        assert!(changing.contains("no figure settles"), "{changing}");
    }

    #[test]
    fn a_seek_has_its_own_end_and_may_warm_up_until_steady() {
        let seek = |lines: &str| parse(&format!("{lines}\n[seek]\nbounds = \"p99 < 1s\""));
        let told = seek("until = \"p99 within 5%\"").unwrap_err();
        assert!(told.contains("`until` is set together with [seek]"), "{told}");
        assert!(seek("warm_up = \"steady\"").unwrap().load.steady.is_some());
    }

    #[test]
    fn a_plan_that_may_end_sooner_has_an_estimate_at_most() {
        let plan = parse("warm_up = \"steady\"\ntime = \"10s\"").unwrap();
        assert_eq!((plan.estimate(), plan.may_end_sooner()), (Some(s(310)), true));
        let plan = parse("until = \"mean within 5%\"").unwrap();
        assert_eq!((plan.estimate(), plan.may_end_sooner()), (Some(s(301)), true));
        assert!(!parse("").unwrap().may_end_sooner());
        // A longer first warm-up is one at least.
        let plan = parse("warm_up = \"steady\"\nprewarm = \"1m\"").unwrap();
        let from = [true, false].map(|is_first| plan.warm_up(is_first).steady_from);
        assert_eq!(from, [Some(s(60)), Some(s(30))]);
    }
}
