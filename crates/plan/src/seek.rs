//! `[seek]`: the bounds whose highest load is sought, and the trials that seek it.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use crate::keys::{Form, Key, words};
use crate::units::{parse_duration, parse_part};
use crate::{OptionReader, show_duration};

/// A search for the highest load that keeps bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct SeekPlan {
    /// The bounds, at least one; all of them are kept.
    pub bounds: Vec<Bound>,
    pub over: Over,
    /// The lowest load: clients, or arrivals a second.
    pub from: f64,
    /// The highest load.
    pub to: f64,
    /// Measured time of each probe; longer where a bounded percentile needs more transactions.
    pub probe_time: Duration,
    /// Measured time of a trial that confirms the result, the longest of all.
    pub confirm_time: Duration,
    /// The search ends when half the width of the interval is this part of the capacity.
    pub precision: f64,
    pub probes: usize,
}

/// A bound on a figure of a trial: `p99 < 10ms`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    pub figure: BoundFigure,
    /// The largest value that keeps the bound: ns, or a part of 1 for errors.
    pub most: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BoundFigure {
    /// A percentile of latencies, above 0 and below 100.
    Percentile(f64),
    Mean,
    /// The longest latency.
    Max,
    /// The part of the transactions that do not succeed.
    Errors,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    Clients,
    Rate,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeekTrial {
    /// Its number in the seek, from 0.
    pub number: usize,
    /// Arrivals a second; `None` in a closed loop.
    pub rate_per_s: Option<f64>,
    pub time: Duration,
    /// Whether it confirms the capacity for a longer time.
    pub is_confirming: bool,
}

const OVER: &[(&str, Over)] = &[("clients", Over::Clients), ("rate", Over::Rate)];
const PROBE_TIME: Duration = Duration::from_secs(5);
const CONFIRM_TIME: Duration = Duration::from_secs(30);
const PRECISION: f64 = 0.05;
const PRECISIONS: RangeInclusive<f64> = 0.01..=0.5;
const PROBES: u64 = 50;
const PROBES_ALLOWED: RangeInclusive<u64> = 16..=1_000;
const RATE_MIN: f64 = 0.001;
const RATE_MAX: f64 = 1e9;
const CLIENTS_MAX: f64 = 1e6;
const EXAMPLE: &str =
    "write such as \"p99 < 10ms\", \"mean < 2ms\", \"max < 1s\" or \"errors < 0.1%\"";

impl Bound {
    /// Reads `p99 < 10ms`, `p99.9 <= 1s`, `mean < 5ms`, `max < 1s`, `errors < 0.1%`. `<` and `<=` mean the same: at most.
    ///
    /// # Errors
    /// What is wrong with it.
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| Err(format!("`{}` is not a bound: {why}", text.trim()));
        let Some((name, limit)) = text.split_once('<') else { return wrong("it has no `<`") };
        let limit = limit.strip_prefix('=').unwrap_or(limit).trim();
        let figure = match BoundFigure::parse(name.trim()) {
            Ok(figure) => figure,
            Err(why) => return wrong(why.unwrap_or("no figure has that name")),
        };
        match figure.limit(limit) {
            Ok(most) if most > 0.0 => Ok(Self { figure, most }),
            Ok(_) => wrong("nothing is below 0"),
            Err(why) => wrong(why),
        }
    }
}

impl BoundFigure {
    /// A figure by its name in a bound.
    ///
    /// # Errors
    /// Why a percentile is none; `None` when no figure has that name.
    pub(crate) fn parse(name: &str) -> Result<Self, Option<&'static str>> {
        match name {
            "mean" => Ok(Self::Mean),
            "max" => Ok(Self::Max),
            "errors" => Ok(Self::Errors),
            name => match name.strip_prefix('p').and_then(|percent| percent.parse::<f64>().ok()) {
                Some(percent) if percent > 0.0 && percent < 100.0 => Ok(Self::Percentile(percent)),
                Some(_) => Err(Some("a percentile is above 0 and below 100")),
                None => Err(None),
            },
        }
    }

    /// Its limit: ns, or a part of 1 for errors.
    ///
    /// # Errors
    /// What its limits look like.
    pub(crate) fn limit(self, text: &str) -> Result<f64, &'static str> {
        match self {
            Self::Errors => parse_part(text)
                .filter(|part| *part <= 1.0)
                .ok_or("errors are a part of all, such as 0.1%"),
            _ => parse_duration(text)
                .map(|time| time.as_nanos() as f64)
                .ok_or("a latency has a unit, such as 10ms"),
        }
    }
}

impl fmt::Display for BoundFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Percentile(percent) => write!(f, "p{percent}"),
            Self::Mean => f.write_str("mean"),
            Self::Max => f.write_str("max"),
            Self::Errors => f.write_str("errors"),
        }
    }
}

/// As a plan writes it.
impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} < ", self.figure)?;
        match self.figure {
            BoundFigure::Errors => write!(f, "{}%", (self.most * 1e8).round() / 1e6),
            _ => f.write_str(&show_duration(Duration::from_nanos(self.most as u64))),
        }
    }
}

impl SeekPlan {
    pub fn is_open(&self) -> bool {
        self.over == Over::Rate
    }
}

/// The key at the top of a plan.
pub(crate) fn key() -> Key {
    let load = || Form::Number(RATE_MIN..=RATE_MAX);
    let keys = vec![
        Key::new("bounds", Form::Texts, "what is kept, such as `p99 < 10ms` or `errors < 0.1%`"),
        Key::new("over", words(OVER), "the load that is varied").or("clients"),
        Key::new("from", load(), "the lowest load: 1 client or 100 per second by default"),
        Key::new("to", load(), "the highest load: 1024 clients or 1000000 per second by default"),
        Key::new("probe_time", Form::Time, "measured time of each probe").or("5s"),
        Key::new("confirm_time", Form::Time, "measured time of the trial that confirms the result")
            .or("30s"),
        Key::new(
            "precision",
            Form::Number(PRECISIONS),
            "half the width of the capacity's interval",
        )
        .or(PRECISION),
        Key::new("probes", Form::Integer(PROBES_ALLOWED), "the most probes").or(PROBES),
    ];
    Key::new("seek", Form::Table(keys), "seeks the highest load that keeps bounds")
}

/// Reads the table.
pub(crate) fn read(reader: &mut OptionReader<'_>) -> SeekPlan {
    let bounds = read_bounds(reader);
    let over = reader.choice("over", Over::Clients, OVER);
    let (from, to) = read_range(reader, over);
    let probe_time = read_time(reader, "probe_time", PROBE_TIME);
    let confirm_time = read_time(reader, "confirm_time", CONFIRM_TIME.max(probe_time));
    if confirm_time < probe_time {
        let message = "`confirm_time` is shorter than `probe_time`, so it could confirm nothing";
        reader.reject("confirm_time", message, "make it several times as long");
    }
    SeekPlan {
        bounds,
        over,
        from,
        to,
        probe_time,
        confirm_time,
        precision: reader.float("precision", PRECISION, PRECISIONS),
        probes: usize::try_from(reader.integer("probes", PROBES, PROBES_ALLOWED))
            .unwrap_or(usize::MAX),
    }
}

fn read_bounds(reader: &mut OptionReader<'_>) -> Vec<Bound> {
    let texts = reader.texts("bounds");
    let parts = texts.iter().flat_map(|text| text.split(',')).filter(|it| !it.trim().is_empty());
    let mut bounds: Vec<Bound> = Vec::new();
    for read in parts.map(Bound::parse) {
        match read {
            Ok(bound) if bounds.iter().any(|other| other.figure == bound.figure) => {
                let message = format!("a figure has two bounds, one of them {bound}");
                reader.reject("bounds", message, "keep one for each figure");
            }
            Ok(bound) => bounds.push(bound),
            Err(message) => reader.reject("bounds", message, EXAMPLE),
        }
    }
    if bounds.is_empty() && !reader.has_problems() {
        reader.reject("bounds", "the seek has no bounds", EXAMPLE);
    }
    bounds
}

fn read_range(reader: &mut OptionReader<'_>, over: Over) -> (f64, f64) {
    let (from, to, allowed) = match over {
        Over::Clients => (1.0, 1_024.0, 1.0..=CLIENTS_MAX),
        Over::Rate => (100.0, 1e6, RATE_MIN..=RATE_MAX),
    };
    let from = reader.float("from", from, allowed.clone());
    let to = reader.float("to", f64::max(to, from * 2.0), allowed);
    for (name, load) in [("from", from), ("to", to)] {
        if over == Over::Clients && load.fract() != 0.0 {
            reader.reject(name, format!("`{name}` is {load} clients"), "write a whole number");
        }
    }
    if from >= to {
        let message = format!("the seek goes from {from} to {to}, so there is nothing to seek");
        reader.reject("to", message, "`to` is the highest load, `from` the lowest");
    }
    (from, to)
}

fn read_time(reader: &mut OptionReader<'_>, name: &str, default: Duration) -> Duration {
    let time = reader.duration(name, default);
    if time.is_zero() {
        reader.reject(name, format!("`{name}` is nothing"), "measure for a while, such as \"5s\"");
    }
    time
}

/// Keys of `[load]` that a seek sets itself, or needs.
pub(crate) fn check_load(reader: &mut OptionReader<'_>, seek: &SeekPlan, clients: Option<usize>) {
    for key in ["time", "events"] {
        if reader.is_given(key) {
            let message = format!("`{key}` is set together with [seek]");
            let help = "a seek has its own times: `probe_time` and `confirm_time` under [seek]";
            reader.reject(key, message, help);
        }
    }
    for key in ["rate", "steps"] {
        if reader.is_given(key) {
            let message = format!("`{key}` is set together with [seek]");
            let help = "set over = \"rate\", `from` and `to` under [seek]: the seek sets the rates";
            reader.reject(key, message, help);
        }
    }
    match (seek.over, clients) {
        (Over::Clients, None) | (Over::Rate, Some(1)) => {}
        (Over::Clients, Some(_)) => {
            let help = "set `from` and `to` under [seek], or over = \"rate\" to keep the clients";
            reader.reject("clients", "`clients` is set together with a seek over clients", help);
        }
        (Over::Rate, Some(_)) => {
            reader.reject("clients", "a seek over rates has one number of clients", "keep one");
        }
        (Over::Rate, None) => {
            let message = "a seek over rates has no `clients`";
            let help = "set the most transactions that can be in service at once, such as \
                        clients = 64 under [load]";
            reader.reject("clients", message, help);
        }
    }
}

#[cfg(test)]
mod tests;
