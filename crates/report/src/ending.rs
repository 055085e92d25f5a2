//! How the phases ended that may end by what is measured: warm-ups until the load is steady, and measuring until a
//! figure is precise.

use measure::{DecidedEnds, Precision, SteadyWarmUp};
use serde_json::{Value, json};

use crate::digest::{Digest, Trial};
use crate::number::{duration, percent, several};

/// Label and value for the table of a trial.
pub(crate) fn facts(trial: &Trial<'_>) -> Vec<(&'static str, String)> {
    let DecidedEnds { warm_up, precision } = ends(trial);
    let warm_up = warm_up.map(|it| ("warm-up", warm_up_text(it, trial)));
    let precision = precision.map(|it| ("precision", precision_text(it)));
    warm_up.into_iter().chain(precision).collect()
}

/// How many warm-ups ended with a steady load and how long they took, and the same of the measuring: a sentence each.
/// The trials that reached a limit are findings.
pub(crate) fn sentences(digest: &Digest<'_>) -> Vec<String> {
    let of = |is_asked: &dyn Fn(&DecidedEnds) -> bool| -> Vec<&Trial<'_>> {
        digest.trials.iter().filter(|trial| is_asked(&ends(trial))).collect()
    };
    let mut lines = Vec::new();
    let warm_ups = of(&|it| it.warm_up.is_some());
    if !warm_ups.is_empty() {
        let is_steady = |it: &DecidedEnds| it.warm_up.is_some_and(|it| it.steady.is_some());
        let steady = of(&is_steady);
        let lengths = steady.iter().map(|trial| trial.warm_up_ns() as f64 / 1e9);
        let range = range(lengths, "after");
        let part = part_of(&steady, &warm_ups);
        let hidden =
            |trial: &&Trial<'_>| Some(ends(trial).warm_up?.steady?.hidden_drift_per_minute);
        let most = steady.iter().filter_map(hidden).reduce(f64::max);
        let seen = most.map(seen_drift).unwrap_or_default();
        lines.push(format!("The load was steady before the measuring in {part}{range}{seen}."));
    }
    let measured = of(&|it| it.precision.is_some());
    if let Some(asked) = measured.first().and_then(|trial| ends(trial).precision) {
        let reached = of(&|it| it.precision.is_some_and(|it| it.is_reached()));
        let range = range(reached.iter().map(|trial| trial.summary.seconds), "after");
        let part = part_of(&reached, &measured);
        let (figure, within) = (asked.figure.name(), percent(asked.within));
        lines.push(format!("Measured until {figure} was within {within}: in {part}{range}."));
    }
    lines
}

fn part_of(some: &[&Trial<'_>], all: &[&Trial<'_>]) -> String {
    format!("{} of {}", some.len(), several(all.len() as u64, "trial", "trials"))
}

/// ` after 31 s`, or ` after 31 to 60 s`; empty without values.
fn range(seconds: impl Iterator<Item = f64>, word: &str) -> String {
    let all: Vec<f64> = seconds.collect();
    let least = all.iter().copied().fold(f64::INFINITY, f64::min);
    let most = all.iter().copied().fold(0.0, f64::max);
    match all.len() {
        0 => String::new(),
        _ if least == most => format!(" {word} {least} s"),
        _ => format!(" {word} {least} to {most} s"),
    }
}

/// Those of a trial as JSON; `None` when planned lengths end its phases.
pub(crate) fn json(trial: &Trial<'_>) -> Option<Value> {
    let DecidedEnds { warm_up, precision } = ends(trial);
    let value = json!({
        "warm_up": warm_up.map(|it| json!({
            "steady_from_ns": it.steady.map(|steady| steady.from_ns),
            "seen_ns": it.steady.map(|steady| steady.seen_ns),
            "hidden_drift_per_minute": it.steady.map(|steady| steady.hidden_drift_per_minute),
            "at_least_ns": it.at_least_ns,
            "at_most_ns": it.at_most_ns,
        })),
        "precision": precision.map(|it| json!({
            "figure": it.figure.name(),
            "within": it.within,
            "half_width": it.half_width,
            "is_reached": it.is_reached(),
            "looks": it.looks,
        })),
    });
    (warm_up.is_some() || precision.is_some()).then_some(value)
}

fn ends(trial: &Trial<'_>) -> DecidedEnds {
    trial.record.end.as_ref().map(|end| end.decided_ends).unwrap_or_default()
}

fn warm_up_text(warm_up: SteadyWarmUp, trial: &Trial<'_>) -> String {
    let took = |ns: u64| duration(std::time::Duration::from_nanos(ns));
    match warm_up.steady {
        Some(steady) => format!(
            "{}; the load was steady from {} on, by what was seen until {}{}",
            took(trial.warm_up_ns()),
            took(steady.from_ns),
            took(steady.seen_ns),
            seen_drift(steady.hidden_drift_per_minute)
        ),
        None => format!("not steady within {}", took(warm_up.at_most_ns)),
    }
}

/// A smaller drift, a minute, is not told from none.
const DRIFT_MIN: f64 = 0.001;

fn seen_drift(per_minute: f64) -> String {
    let least = percent(per_minute.max(DRIFT_MIN));
    format!("; a drift of more than {least} per minute would have been seen")
}

fn precision_text(precision: Precision) -> String {
    let (figure, within) = (precision.figure.name(), percent(precision.within));
    let reached = precision.half_width.map(percent);
    match (precision.is_reached(), reached) {
        (true, Some(reached)) => format!("{figure} within {within}: {reached}"),
        (_, Some(seen)) => format!("{figure} not within {within}: {seen}"),
        (_, None) => format!("{figure} not within {within}: too few values for an interval"),
    }
}

#[cfg(test)]
mod tests {
    use measure::{PreciseFigure, SteadyState};

    use super::*;
    use crate::Reading;
    use crate::sample;

    /// A run whose trials, of 3 s to measure after 2 s of warm-up, end like this one after the other.
    fn ended(ends: &[DecidedEnds]) -> record::Run {
        let mut run = sample::run();
        run.trials.truncate(ends.len());
        assert_eq!(run.trials.len(), ends.len());
        for (trial, ends) in run.trials.iter_mut().zip(ends) {
            trial.end.as_mut().unwrap().decided_ends = *ends;
        }
        run
    }

    const S: u64 = 1_000_000_000;
    const NEVER: SteadyWarmUp = SteadyWarmUp { at_least_ns: S, at_most_ns: 2 * S, steady: None };

    fn steady() -> DecidedEnds {
        let (from_ns, seen_ns, hidden_drift_per_minute) = (S / 2, 3 * S / 2, 0.031);
        let state = SteadyState { from_ns, seen_ns, hidden_drift_per_minute };
        DecidedEnds {
            warm_up: Some(SteadyWarmUp { steady: Some(state), ..NEVER }),
            precision: None,
        }
    }

    fn precise(half_width: Option<f64>) -> DecidedEnds {
        let figure = PreciseFigure::Percentile(99.0);
        let precision = Some(Precision { figure, within: 0.05, looks: 16, half_width });
        DecidedEnds { warm_up: None, precision }
    }

    #[test]
    fn every_trial_says_how_its_phases_ended() {
        let never = DecidedEnds { warm_up: Some(NEVER), precision: None };
        let cases = [
            (
                steady(),
                "the load was steady from 500 ms on, by what was seen until 1.50 s; a drift of more than 3.1 % per \
                 minute would have been seen",
            ),
            (never, "not steady within 2.00 s"),
            (precise(Some(0.032)), "p99 within 5.0 %: 3.2 %"),
            (precise(Some(0.073)), "p99 not within 5.0 %: 7.3 %"),
            (precise(None), "p99 not within 5.0 %: too few values for an interval"),
        ];
        for (ends, told) in cases {
            let run = ended(&[ends]);
            let reading = Reading::new(&run);
            let digest = &reading.digest;
            let facts = facts(&digest.trials[0]);
            assert!(facts.len() == 1 && facts[0].1.ends_with(told), "{facts:?}");
            assert!(json(&digest.trials[0]).is_some());
        }
        let run = sample::run();
        let planned = &Digest::new(&run);
        assert_eq!((json(&planned.trials[0]), facts(&planned.trials[0])), (None, Vec::new()));
        assert_eq!(sentences(planned), Vec::<String>::new());
    }

    #[test]
    fn every_view_says_how_many_trials_ended_by_themselves() {
        let run = ended(&[steady(), DecidedEnds { warm_up: Some(NEVER), ..precise(Some(0.032)) }]);
        let reading = Reading::new(&run);
        let digest = &reading.digest;
        let told = sentences(digest);
        assert!(told[0].starts_with("The load was steady before the measuring in 1 of 2 trials"));
        assert!(told[0].ends_with("; a drift of more than 3.1 % per minute would have been seen."));
        assert!(told[1].starts_with("Measured until p99 was within 5.0 %: in 1 of 1 trial after"));
        let views = [
            crate::terminal::terminal(&reading),
            crate::markdown::markdown(&reading),
            crate::html::html(&reading),
        ];
        for view in views {
            assert!(view.contains("The load was steady before the measuring in 1 of 2 trials"));
            assert!(view.contains("was not steady when the measuring began"), "{view}");
        }
        let value: Value = serde_json::from_str(&crate::json::json(&reading)).unwrap();
        let seen = &value["trials"][0]["decided_ends"]["warm_up"]["hidden_drift_per_minute"];
        assert_eq!(*seen, json!(0.031));
        let ends = &value["trials"][1]["decided_ends"];
        assert_eq!(ends["precision"]["half_width"], json!(0.032));
        assert_eq!(ends["warm_up"]["steady_from_ns"], Value::Null);
        assert_eq!(value["trials"][1]["warnings"][0]["code"], json!("never-steady"));
        assert!(crate::csv::csv(&reading).contains("never-steady"));
    }
}
