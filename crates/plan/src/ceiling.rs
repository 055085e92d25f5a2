//! Whether and how the ceiling of the path to a system is measured.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::keys::{Form, Key};
use crate::value::Value;
use crate::{OptionReader, Problem};

const IN_FLIGHT: RangeInclusive<u64> = 2..=10_000;
const ROUNDS: RangeInclusive<u64> = 1..=1_000;

/// The measurement of what the path to a system carries at the sizes of a trial's messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CeilingPlan {
    /// Host and port of a `dyno echo` on the system's host; `None` for one that dyno starts on this machine.
    pub to: Option<String>,
    /// Requests in flight on each connection when they are pipelined, at least 2.
    pub in_flight: usize,
    /// Number of rounds, each with and without pipelining.
    pub rounds: u32,
    /// Length of one measurement, of which each round has two.
    pub time: Duration,
}

impl Default for CeilingPlan {
    fn default() -> Self {
        Self { to: None, in_flight: 16, rounds: 3, time: Duration::from_millis(500) }
    }
}

impl CeilingPlan {
    /// Load before each measurement that does not count.
    pub fn warm_up(&self) -> Duration {
        self.time / 5
    }

    /// Time of all measurements of one trial together.
    pub fn length(&self) -> Duration {
        self.time.saturating_add(self.warm_up()).saturating_mul(self.rounds.saturating_mul(2))
    }
}

/// The key at the top of a plan.
pub(crate) fn key() -> Key {
    let keys = vec![
        Key::new("to", Form::Text, "host and port of a `dyno echo` on the system's host"),
        Key::new("in_flight", Form::Integer(IN_FLIGHT), "requests in flight on each connection")
            .or(16),
        Key::new("rounds", Form::Integer(ROUNDS), "number of rounds").or(3),
        Key::new("time", Form::Time, "length of one measurement").or("500ms"),
    ];
    let form = Form::Either(vec![Form::Flag, Form::Table(keys)]);
    Key::new("ceiling", form, "measures after each trial what the path to the system carries")
        .or(false)
}

/// Reads `ceiling` at the top of a plan: a table, or whether it is measured.
pub(crate) fn read(
    reader: &mut OptionReader<'_>,
    problems: &mut Vec<Problem>,
) -> Option<CeilingPlan> {
    let default = CeilingPlan::default();
    let Value::Table(table) = &reader.placed("ceiling")?.value else {
        return reader.boolean("ceiling", false).then_some(default);
    };
    let mut own = table.reader();
    let in_flight = own.integer("in_flight", default.in_flight as u64, IN_FLIGHT);
    let rounds = own.integer("rounds", default.rounds.into(), ROUNDS);
    let plan = CeilingPlan {
        to: own.text("to"),
        in_flight: usize::try_from(in_flight).unwrap_or(default.in_flight),
        rounds: u32::try_from(rounds).unwrap_or(default.rounds),
        time: own.duration("time", default.time),
    };
    if plan.time < Duration::from_millis(50) {
        let help = "a measurement of less than 50ms shows chance alone";
        own.reject("time", "`time` of the ceiling is too short", help);
    }
    problems.extend(own.finish().err().unwrap_or_default());
    Some(plan)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::{Plan, Source};

    fn parse(ceiling: &str) -> Result<Option<CeilingPlan>, String> {
        const HEAD: &str = "system = \"sqlite\"\nworkload = \"sysbench/oltp_read_write\"\n";
        let text = if ceiling.starts_with('[') {
            format!("{HEAD}{ceiling}")
        } else {
            format!("{ceiling}\n{HEAD}")
        };
        let source = Source { name: "plan.toml".to_owned(), text, folder: PathBuf::new() };
        Plan::parse(source).map(|plan| plan.ceiling).map_err(|problems| problems.to_string())
    }

    #[test]
    fn the_ceiling_is_measured_only_when_asked_for() {
        let default = Some(CeilingPlan::default());
        for (text, expected) in [
            ("", None),
            ("ceiling = false", None),
            ("ceiling = true", default.clone()),
            ("[ceiling]", default),
        ] {
            assert_eq!(parse(text).unwrap(), expected, "{text}");
        }
        let given = "[ceiling]\nto = \"db1:9000\"\nin_flight = 8\nrounds = 5\ntime = \"1s\"";
        let plan = parse(given).unwrap().unwrap();
        assert_eq!((plan.to.as_deref(), plan.in_flight), (Some("db1:9000"), 8));
        // Two measurements of 1.2 s in each round.
        assert_eq!(plan.length(), Duration::from_secs(12));
    }

    #[test]
    fn values_that_make_no_measurement_are_refused() {
        for (text, expected) in [
            ("[ceiling]\ntime = \"1ms\"", "too short"),
            ("[ceiling]\nin_flight = 1", "`in_flight`"),
            ("[ceiling]\nround = 2", "rounds"),
            ("ceiling = 3", "ceiling"),
        ] {
            let told = parse(text).unwrap_err();
            assert!(told.contains(expected), "{text}: {told}");
        }
    }
}
