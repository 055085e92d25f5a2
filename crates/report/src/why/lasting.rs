//! Slow-downs whose effects grow or fade within a window: what longer windows say of them, or that nobody asked.

use analysis::{Lasting, why_lasting};
use measure::Why;
use serde_json::json;

use super::{Answer, members, range_json, with_interval};
use crate::number::{latency, signed_percent};

/// So many slow-downs are named.
const NAMED: usize = 2;

/// How long windows have to be to be asked for by the plan, in those of this experiment, and at least, s.
const LONGER: f64 = 10.0;
const ASKED_S: f64 = 5.0;

/// The effects that change within a window, those that change most first.
pub(super) fn of(why: &Why) -> Vec<Lasting> {
    let mut all = why_lasting(why);
    all.sort_by(|one, other| other.growth.value.abs().total_cmp(&one.growth.value.abs()));
    all
}

/// What is told behind the verdict; `None` when no effect changes within a window.
pub(super) fn sentence(answer: &Answer<'_>) -> Option<String> {
    let all = &answer.lasting;
    if all.is_empty() {
        return None;
    }
    let told = |it: &Lasting| {
        let grows = if it.growth.value > 0.0 { "grows" } else { "fades" };
        let by = with_interval(it.growth, signed_percent);
        format!("{} {grows} by {by} of the time", members::lever_name(answer.why, it.lever))
    };
    let told: Vec<String> = all.iter().take(NAMED).map(told).collect();
    let window = latency(answer.why.window_ns as f64);
    let text = format!(
        ". Within windows of {window} the effect of {}, so the system remembers for longer than that",
        told.join(", and that of ")
    );
    let Some(long) = &answer.long else {
        let seconds = (answer.why.window_ns as f64 / 1e9 * LONGER).ceil().max(ASKED_S);
        return Some(format!(
            "{text}; the answer to lasting slow-downs was not looked for; `window = \"{seconds}s\"` does that"
        ));
    };
    let window = latency(long.why.window_ns as f64);
    let same = if long.code() == answer.code() { "the same" } else { "another one" };
    Some(format!("{text}. With windows of {window} the answer is {same}: {}", long.sentence()))
}

pub(super) fn json(answer: &Answer<'_>) -> serde_json::Value {
    let one = |it: &Lasting| json!({"slow_down": members::lever_name(answer.why, it.lever), "growth": range_json(it.growth)});
    answer.lasting.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::Reading;
    use crate::sample;
    use measure::Lever;

    /// An experiment in which waits cost more in the second half of a window.
    fn grows() -> Why {
        let mut why = sample::experiment(8_000);
        for (at, window) in why.windows.iter_mut().enumerate() {
            let is_on = window.setting & Lever::Before.bit() != 0;
            let more = if is_on { window.transactions / 50 } else { 0 };
            window.first_half = window.transactions / 2 + more + (at % 3) as u64;
            window.first_half_ns = window.counted_ns / 2;
        }
        why
    }

    fn told(why: Why) -> (String, serde_json::Value) {
        let mut run = sample::run();
        run.trials[0].why = Some(why);
        let reading = Reading::new(&run);
        let answer = Answer::of(&reading.digest.trials[0]).unwrap();
        (answer.sentence(), answer.json())
    }

    #[test]
    fn an_effect_that_grows_within_a_window_is_told_with_what_asks_for_longer_ones() {
        let (text, json) = told(grows());
        let grows = "Within windows of 190 ms the effect of a wait before a transaction grows by +";
        assert!(text.contains(grows), "{text}");
        let asks =
            "the answer to lasting slow-downs was not looked for; `window = \"5s\"` does that";
        assert!(text.contains(asks), "{text}");
        assert_eq!(json["lasting"][0]["slow_down"], "a wait before a transaction");
        assert!(json["long"].is_null());
        let (text, json) = told(sample::experiment(8_000));
        assert!(!text.contains("Within windows"), "{text}");
        assert_eq!(json["lasting"].as_array().unwrap().len(), 0);
    }

    #[test]
    fn longer_windows_tell_their_answer_beside_the_first() {
        let mut long = sample::experiment_on_a_cluster();
        long.window_ns = 1_900_000_000;
        let (text, json) = told(Why { long: Some(Box::new(long)), ..grows() });
        let other =
            ". With windows of 1.90 s the answer is another one: `store-2` holds the cluster back";
        assert!(text.starts_with("nothing is full") && text.contains(other), "{text}");
        assert!(!text.contains("was not looked for"), "{text}");
        assert_eq!(
            (&json["verdict"], &json["long"]["verdict"]),
            (&"latency".into(), &"member".into())
        );
    }
}
