//! The load of an open loop: arrival rates, over time or over a sweep.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::keys::{Form, Key, words};
use crate::value::{Spanned, Value};
use crate::{OptionReader, Problem, show_duration};

/// The minimum, one arrival in a thousand seconds, is practically none; no generator reaches the maximum of a
/// thousand million.
const RATES_PER_S: RangeInclusive<f64> = 0.001..=1e9;
/// A step may begin or end at zero.
const STEP_RATES_PER_S: RangeInclusive<f64> = 0.0..=1e9;
const BACKLOG_DEFAULT: u64 = 100_000;

const ARRIVALS: &[(&str, Arrivals)] =
    &[("poisson", Arrivals::Poisson), ("constant", Arrivals::Constant)];

/// Load that arrives by a schedule, whether or not a client is idle.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenLoop {
    /// The rates to sweep over; at least one, and none when a seek sets them.
    pub rates: Vec<Rate>,
    /// How arrivals are spread around their rate.
    pub arrivals: Arrivals,
    /// How many arrivals may wait for a client before the trial counts as overloaded.
    pub backlog_max: u64,
}

/// How arrivals are spread around their rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Arrivals {
    /// Independently of one another, like those of many users.
    Poisson,
    /// As evenly as the rate allows.
    Constant,
}

/// Rates over the measured time: one step after the other; afterwards the end rate of the last one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    steps: Vec<RateStep>,
}

/// A period in which the rate changes linearly from one value to another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateStep {
    pub length: Duration,
    /// Arrivals per second at its start.
    pub from_per_s: f64,
    /// Arrivals per second at its end.
    pub to_per_s: f64,
}

impl Arrivals {
    pub fn name(self) -> &'static str {
        match self {
            Self::Poisson => "poisson",
            Self::Constant => "constant",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        ARRIVALS.iter().find(|(known, _)| *known == name).map(|(_, arrivals)| *arrivals)
    }
}

impl RateStep {
    /// The number of arrivals expected in its first `into`, at most in its whole length: the area below the line.
    #[inline]
    pub fn expected_until(&self, into: Duration) -> f64 {
        if self.length.is_zero() {
            return 0.0;
        }
        let into_s = into.min(self.length).as_secs_f64();
        let slope = (self.to_per_s - self.from_per_s) / self.length.as_secs_f64();
        into_s * (self.from_per_s + slope * into_s / 2.0)
    }
}

impl Rate {
    pub fn constant(per_s: f64) -> Self {
        let length = Duration::ZERO;
        Self { steps: vec![RateStep { length, from_per_s: per_s, to_per_s: per_s }] }
    }

    /// Steps in order; `None` if there are none.
    pub fn of(steps: Vec<RateStep>) -> Option<Self> {
        (!steps.is_empty()).then_some(Self { steps })
    }

    pub fn steps(&self) -> &[RateStep] {
        &self.steps
    }

    pub fn is_constant(&self) -> bool {
        let first = self.first_per_s();
        self.steps.iter().all(|step| step.from_per_s == first && step.to_per_s == first)
    }

    pub fn first_per_s(&self) -> f64 {
        self.steps.first().map_or(0.0, |step| step.from_per_s)
    }

    /// Arrivals per second after the last step.
    pub fn last_per_s(&self) -> f64 {
        self.steps.last().map_or(0.0, |step| step.to_per_s)
    }

    /// The number of arrivals expected in the first `time`: the area below the rates.
    pub fn expected_until(&self, time: Duration) -> f64 {
        let mut left = time;
        let mut arrivals = 0.0;
        for step in &self.steps {
            arrivals += step.expected_until(left);
            left = left.saturating_sub(step.length);
        }
        arrivals + self.last_per_s() * left.as_secs_f64()
    }

    /// Mean arrivals per second over the first `time`; the start rate when `time` is zero.
    pub fn mean_per_s(&self, time: Duration) -> f64 {
        if time.is_zero() || self.is_constant() {
            return self.first_per_s();
        }
        self.expected_until(time) / time.as_secs_f64()
    }

    /// The same rates after a time at the first of them, such as a warm-up.
    #[must_use]
    pub fn after(&self, length: Duration) -> Self {
        let first = self.first_per_s();
        let before = RateStep { length, from_per_s: first, to_per_s: first };
        Self { steps: std::iter::once(before).chain(self.steps.iter().copied()).collect() }
    }

    pub fn length(&self) -> Duration {
        self.steps.iter().fold(Duration::ZERO, |sum, step| sum.saturating_add(step.length))
    }
}

/// `5000/s`, or `1000 to 5000/s` for a changing rate.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rates = || self.steps.iter().flat_map(|step| [step.from_per_s, step.to_per_s]);
        let (least, most) =
            (rates().fold(f64::INFINITY, f64::min), rates().fold(f64::NEG_INFINITY, f64::max));
        if least == most { write!(f, "{most}/s") } else { write!(f, "{least} to {most}/s") }
    }
}

/// The keys of `[load]` that this file reads.
pub(crate) fn keys() -> Vec<Key> {
    let rate = || Form::Number(STEP_RATES_PER_S);
    let step = vec![
        Key::new("for", Form::Time, "length of the step"),
        Key::new("rate", rate(), "arrivals per second during the step"),
        Key::new("from", rate(), "arrivals per second at its begin"),
        Key::new("to", rate(), "arrivals per second at its end"),
    ];
    let backlog = Form::Integer(1..=u64::from(u32::MAX));
    vec![
        Key::new("rate", Form::Numbers(RATES_PER_S), "transactions that arrive per second"),
        Key::new("steps", Form::Tables(step), "rates over time"),
        Key::new("arrivals", words(ARRIVALS), "how arrivals are spread").or("poisson"),
        Key::new("backlog", backlog, "most arrivals that wait for a free client").or("100k"),
    ]
}

/// The open loop of `[load]`; `None` when there is none. Rates that a seek sets are not in the plan.
pub(crate) fn read(
    reader: &mut OptionReader<'_>,
    is_sought: bool,
    problems: &mut Vec<Problem>,
) -> Option<OpenLoop> {
    let rates = match (reader.is_given("rate"), reader.is_given("steps")) {
        (true, true) => {
            let message = "both `rate` and `steps` are set";
            reader.reject("steps", message, "keep one: `steps` are rates over time");
            None
        }
        (true, false) => Some(read_rates(reader)),
        (false, true) => Some(read_steps(reader, problems).into_iter().collect()),
        (false, false) => is_sought.then(Vec::new),
    };
    let arrivals = reader.choice("arrivals", Arrivals::Poisson, ARRIVALS);
    let backlog_max = reader.integer("backlog", BACKLOG_DEFAULT, 1..=u64::from(u32::MAX));
    if rates.is_some() {
        check_others(reader);
    } else {
        reject_without_rate(reader);
    }
    rates.map(|rates| OpenLoop { rates, arrivals, backlog_max })
}

fn reject_without_rate(reader: &mut OptionReader<'_>) {
    for key in ["arrivals", "backlog"] {
        if reader.is_given(key) && !reader.is_given("rate") && !reader.is_given("steps") {
            let message = format!("`{key}` is set without a `rate`");
            reader.reject(
                key,
                message,
                "set the arrivals per second, such as rate = 1000, or remove it",
            );
        }
    }
}

/// Rejects keys that have no meaning in an open loop.
fn check_others(reader: &mut OptionReader<'_>) {
    if reader.is_given("think_time") {
        let message = "`think_time` is set together with a rate";
        let help = "keep one: clients of an open loop have no think time";
        reader.reject("think_time", message, help);
    }
    if reader.is_given("steps") && reader.is_given("events") {
        let message = "`events` is set together with `steps`";
        reader.reject(
            "events",
            message,
            "steps have a length: remove `events`, or set `time` instead",
        );
    }
}

fn read_rates(reader: &mut OptionReader<'_>) -> Vec<Rate> {
    let is_table = |placed: &Spanned| matches!(placed.value, Value::Table(_));
    let has_tables = reader.placed("rate").is_some_and(|placed| match &placed.value {
        Value::List(list) => list.iter().any(is_table),
        _ => is_table(placed),
    });
    if has_tables {
        let message = "`rate` is a table, not a number";
        reader.reject("rate", message, "rates over time are called `steps`");
        return Vec::new();
    }
    let rates = reader.floats("rate", RATES_PER_S).unwrap_or_default();
    rates.into_iter().map(Rate::constant).collect()
}

fn read_steps(reader: &mut OptionReader<'_>, problems: &mut Vec<Problem>) -> Option<Rate> {
    const EXAMPLE: &str = "write steps = [{ for = \"10s\", rate = 1000 }, { for = \"30s\", from = 1000, \
                           to = 5000 }]";
    let list = match reader.placed("steps").map(|placed| &placed.value) {
        Some(Value::List(list)) => list,
        _ => {
            reader.reject("steps", "`steps` is not a list of steps", EXAMPLE);
            return None;
        }
    };
    let found = problems.len();
    let steps: Vec<RateStep> = list.iter().filter_map(|step| read_step(step, problems)).collect();
    if list.is_empty() || (problems.len() == found && steps.len() < list.len()) {
        reader.reject("steps", "`steps` is not a list of steps", EXAMPLE);
        return None;
    }
    let has_arrivals = steps.iter().any(|step| step.from_per_s > 0.0 || step.to_per_s > 0.0);
    if !has_arrivals && problems.len() == found {
        reader.reject("steps", "`steps` offer nothing", "give at least one step a rate above 0");
    }
    Rate::of(steps)
}

fn read_step(placed: &Spanned, problems: &mut Vec<Problem>) -> Option<RateStep> {
    let Value::Table(table) = &placed.value else { return None };
    let mut reader = table.reader();
    let length = reader.duration_given("for");
    let mut rate = |name: &str| reader.floats(name, STEP_RATES_PER_S)?.first().copied();
    let (both, from, to) = (rate("rate"), rate("from"), rate("to"));
    if !reader.is_given("for") || length.is_some_and(|length| length.is_zero()) {
        reader.reject("for", "a step has no length", "set its length, such as for = \"10s\"");
    }
    let is_line = reader.is_given("from") && reader.is_given("to");
    let is_part = reader.is_given("from") || reader.is_given("to");
    if reader.is_given("rate") == is_part || is_part != is_line {
        let help = "set `rate` for a step, or `from` and `to` for a ramp";
        reader.reject("rate", "a step needs one rate or two", help);
    }
    let step = both.map(|rate| (rate, rate)).or(from.zip(to)).zip(length);
    match reader.finish() {
        Ok(()) => {
            step.map(|((from_per_s, to_per_s), length)| RateStep { length, from_per_s, to_per_s })
        }
        Err(found) => {
            problems.extend(found);
            None
        }
    }
}

/// The steps in a sentence: `1000/s for 10s, then 1000 to 5000/s for 30s`.
pub fn show_steps(rate: &Rate) -> String {
    if rate.length().is_zero() {
        return rate.to_string();
    }
    let shown = rate.steps().iter().map(|step| {
        let alone = Rate { steps: vec![*step] };
        let ramp = if step.from_per_s > step.to_per_s {
            format!("{} down to {}/s", step.from_per_s, step.to_per_s)
        } else {
            alone.to_string()
        };
        format!("{ramp} for {}", show_duration(step.length))
    });
    shown.collect::<Vec<_>>().join(", then ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp_and_step() -> Rate {
        let step = |seconds, from_per_s, to_per_s| RateStep {
            length: Duration::from_secs(seconds),
            from_per_s,
            to_per_s,
        };
        Rate { steps: vec![step(10, 0.0, 100.0), step(5, 200.0, 200.0), step(5, 50.0, 0.0)] }
    }

    #[test]
    fn a_mean_is_the_area_below_the_rates_over_the_time() {
        let cases = [(5, 25.0), (10, 50.0), (15, 100.0), (20, 1625.0 / 20.0), (40, 1625.0 / 40.0)];
        for (seconds, expected) in cases {
            let mean = ramp_and_step().mean_per_s(Duration::from_secs(seconds));
            assert!((mean - expected).abs() < 1e-9, "{mean} over {seconds} s");
        }
        assert_eq!(Rate::constant(7.0).mean_per_s(Duration::from_secs(3)), 7.0);
    }

    #[test]
    fn rates_are_shown_as_a_plan_says_them() {
        assert_eq!(Rate::constant(5000.0).to_string(), "5000/s");
        assert_eq!(Rate::constant(0.5).to_string(), "0.5/s");
        assert_eq!(ramp_and_step().to_string(), "0 to 200/s");
        assert_eq!(
            show_steps(&ramp_and_step()),
            "0 to 100/s for 10s, then 200/s for 5s, then 50 down to 0/s for 5s"
        );
    }
}
