//! Whether dyno's own threads ran when they had work to do.

use analysis::{GeneratorSummary, Latency, WorkersSummary};

use crate::digest::{Digest, Trial};
use crate::number::{bounded, latency, latency_ns, percent};

const UNKNOWN: &str = "not known: the kernel does not report it, or the trial was too short";

/// The figures of a trial in words: label and value.
pub(crate) fn facts(trial: &Trial<'_>) -> Vec<(&'static str, String)> {
    let Some(generator) = &trial.summary.generator else { return Vec::new() };
    let overslept = generator.oversleep.known().map_or(UNKNOWN.to_owned(), in_words);
    let mut facts = vec![("timer lateness", overslept)];
    if generator.stalled > 0.0 {
        let stalled = percent(generator.stalled);
        facts.push(("generator stalled", format!("{stalled} of the measured time")));
    }
    let Some(workers) = generator.workers else {
        facts.push(("run-queue wait", UNKNOWN.to_owned()));
        return facts;
    };
    let of = |mean, max, second| {
        let [mean, max, second] = [mean, max, second].map(percent);
        match workers.count {
            1 => format!("{mean} of the time, {second} in the worst second"),
            _ => format!("{mean} of the time, one {max}; {second} in the worst second of one"),
        }
    };
    let WorkersSummary { waiting_mean, waiting_max, running_mean, running_max, .. } = workers;
    let waited = of(waiting_mean, waiting_max, workers.most_delayed.waiting());
    facts.push(("run-queue wait", waited));
    facts.push(("workers ran", of(running_mean, running_max, workers.busiest.running())));
    facts
}

/// `60.0 µs in 99 %, 3.10 ms at most`.
pub(crate) fn in_words(delay: &Latency) -> String {
    let show = |(value_ns, is_bound): (f64, bool)| bounded(latency(value_ns), is_bound);
    format!("{} in 99 %, {} at most", show(delay.percentile(99.0)), show(delay.max()))
}

/// The worst figures of all trials in a line, for a terminal; `None` when nothing is known.
pub(crate) fn line(digest: &Digest<'_>) -> Option<String> {
    let all = || {
        let all = digest.trials.iter().filter_map(|trial| trial.summary.generator.as_ref());
        all.filter(|generator| generator.oversleep.known().is_some())
    };
    let highest = |of: fn(&GeneratorSummary) -> u64| all().map(of).max();
    let p99_ns = highest(|it| it.oversleep.percentile_ns(99.0).unwrap_or_default())?;
    let max_ns = highest(|it| it.oversleep.max_ns)?;
    let waited = all().filter_map(|it| it.workers).map(|it| it.waiting_max);
    let waited = waited.reduce(f64::max).map_or(String::new(), |most| {
        format!(", run-queue wait up to {} of the time", percent(most))
    });
    Some(format!(
        "timer lateness p99 {}, at most {}{waited}",
        latency_ns(p99_ns),
        latency_ns(max_ns)
    ))
}

#[cfg(test)]
mod tests {
    use measure::LatencyHistogram;
    use serde_json::{Value, json};

    use super::*;
    use crate::Reading;
    use crate::sample;

    /// The figures of the first trial in report.json.
    fn for_programs(reading: &Reading<'_>) -> Value {
        let report: Value = serde_json::from_str(&crate::json(reading)).unwrap();
        report["trials"][0]["generator"].clone()
    }

    #[test]
    fn a_stall_is_in_the_findings_the_plots_and_a_table() {
        let run = sample::stalled();
        let reading = Reading::new(&run);
        let page = crate::whole_html(&reading);
        for text in [
            "<rect class=\"shade stall\"",
            "</svg>dyno was stalled</li>",
            "<title>dyno was stalled for 1.50 s</title>",
            "2.200 s</td><td class=\"n\">1.50 s</td>",
            "from 2.20 s to 3.70 s, 38 % of the measured time",
        ] {
            assert!(page.contains(text), "{text}");
        }
        let text = crate::terminal(&reading);
        assert!(text.contains("- dyno was stalled for much of the time (invalid): "), "{text}");
        let generator = for_programs(&reading);
        let stalls = json!([{ "start_ns": 2_200_000_000_u64, "end_ns": 3_700_000_000_u64 }]);
        assert_eq!((&generator["stalls"], &generator["stalled"]), (&stalls, &json!(0.375)));
    }

    #[test]
    fn a_kernel_without_scheduler_statistics_is_told() {
        let mut run = sample::stalled();
        sample::generator_of(&mut run.trials[0]).workers.clear();
        let reading = Reading::new(&run);
        let digest = &reading.digest;
        let facts = facts(&digest.trials[0]);
        assert_eq!(facts[2], ("run-queue wait", UNKNOWN.to_owned()));
        assert_eq!(for_programs(&reading)["workers"], Value::Null);
        assert!(!crate::terminal(&reading).contains("its workers waited"));
    }

    #[test]
    fn a_trial_shorter_than_a_sleep_has_no_oversleep() {
        let mut run = sample::stalled();
        sample::generator_of(&mut run.trials[0]).oversleep = LatencyHistogram::new();
        let digest = Digest::new(&run);
        assert_eq!(facts(&digest.trials[0])[0], ("timer lateness", UNKNOWN.to_owned()));
        assert_eq!(line(&digest), None);
    }

    #[test]
    fn a_trial_without_generators_has_no_such_figures() {
        let mut run = sample::stalled();
        run.trials[0].end.as_mut().unwrap().generators.clear();
        let reading = Reading::new(&run);
        let digest = &reading.digest;
        assert_eq!((facts(&digest.trials[0]), for_programs(&reading)), (Vec::new(), Value::Null));
        assert_eq!(line(digest), None);
    }
}
