//! The repetitions of `dyno bench`: one trial of a load shows nothing of what differs from trial to trial.

use std::time::Duration;

use anyhow::Result;
use plan::{Plan, Source};

/// The time of each load is divided into so many repetitions.
const REPETITIONS: u32 = 3;
/// A shorter repetition would measure little but its own start.
const TIME_MIN: Duration = Duration::from_secs(3);
/// The keys that say how often a load is measured, or until when.
const KEYS: [&str; 5] = ["repetitions", "rounds", "windows", "seek", "load.until"];

/// The text of a plan with the time of each load divided; `None` where the user says how often it is measured, or where
/// it does not end at a time.
pub(super) fn divided(plan: &Plan, text: Source, overrides: &[String]) -> Result<Option<Source>> {
    let is_set = overrides.iter().any(|it| KEYS.iter().any(|key| it.trim().starts_with(key)));
    let load = &plan.load;
    let has_steps = load
        .open
        .as_ref()
        .is_some_and(|open| open.rates.iter().any(|rate| !rate.length().is_zero()));
    let ends_otherwise = load.limit.events.is_some() || load.precision.is_some() || has_steps;
    if is_set || plan.repetitions > 1 || plan.seek.is_some() || ends_otherwise {
        return Ok(None);
    }
    let Some(time) = load.limit.time.filter(|time| *time >= TIME_MIN * REPETITIONS) else {
        return Ok(None);
    };
    // Whole tenths of a second are easier to read than thirds.
    let tenths = (time / REPETITIONS).as_millis() / 100;
    let each = format!("{}.{}s", tenths / 10, tenths % 10);
    Ok(Some(text.set("repetitions", &REPETITIONS.to_string())?.set("load.time", &each)?))
}
