//! What must hold after a fault. Pure: all input comes as values.

use jiff::Timestamp;
use serde_json::Value;

/// What may be lost: the interval in hand, which waits a second for a thread that stands still, and half a second for
/// a busy machine.
const LOST_MS: f64 = super::short_run::INTERVAL_MS as f64 + 1_500.0;
/// A pause of at least this length must be seen.
const SEEN_SECONDS: f64 = 0.5;

/// Seconds since 1970.
pub(super) fn now() -> f64 {
    seconds(Timestamp::now())
}

fn seconds(at: Timestamp) -> f64 {
    at.as_duration().as_secs_f64()
}

/// What `dyno report --format=json` says of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Report {
    pub trials: Vec<Trial>,
}

/// A trial in the report.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Trial {
    pub status: String,
    pub verdict: String,
    pub transactions: u64,
    /// Those that were due before the measured time and succeeded within it.
    pub before: u64,
    /// Those that were due within it and succeeded after it.
    pub after: u64,
    /// The number of values in the histogram of latencies.
    pub latencies: u64,
    /// The transactions of all intervals together.
    pub in_intervals: u64,
    /// The measured time, seconds since 1970; 0 when it is not known.
    pub from: f64,
    pub until: f64,
}

impl Report {
    pub(super) fn of(report: &Value) -> Self {
        let trials = report["trials"].as_array().into_iter().flatten();
        Self { trials: trials.map(Trial::of).collect() }
    }

    /// All transactions that succeeded, within the measured time or after it.
    pub(super) fn counted(&self) -> u64 {
        self.trials.iter().map(|trial| trial.transactions + trial.after).sum()
    }

    /// Counts of one trial that do not agree with each other.
    fn contradictions(&self) -> impl Iterator<Item = String> {
        self.trials.iter().enumerate().filter_map(|(index, trial)| {
            let Trial { transactions, before, after, latencies, in_intervals, .. } = trial;
            // Latencies are of what was due within the measured time.
            let agree = transactions == in_intervals && transactions + after == latencies + before;
            (!agree).then(|| {
                format!(
                    "trial {index} has {transactions} transactions, {before} of them due before and {after} more \
                     after it, {latencies} latencies and {in_intervals} in its intervals"
                )
            })
        })
    }
}

impl Trial {
    fn of(trial: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let number = |value: &Value| value.as_u64().unwrap_or_default();
        let at = |value: &Value| value.as_str().and_then(|it| it.parse().ok()).map_or(0.0, seconds);
        let intervals = trial["intervals"].as_array().into_iter().flatten();
        Self {
            status: text(&trial["status"]),
            verdict: text(&trial["validity"]),
            transactions: number(&trial["transactions"]),
            before: number(&trial["edges"]["before"]),
            after: number(&trial["edges"]["succeeded_after"]),
            latencies: number(&trial["latency"]["count"]),
            in_intervals: intervals.map(|interval| number(&interval["transactions"])).sum(),
            from: at(&trial["measure_started"]),
            until: at(&trial["measure_ended"]),
        }
    }
}

/// A run that could end by itself has counted every row.
pub(super) fn all_counted(report: &Report, rows: u64) -> Vec<String> {
    let counted = report.counted();
    let differs = counted != rows;
    let text = format!("{rows} rows were inserted and {counted} counted");
    report.contradictions().chain(differs.then_some(text)).collect()
}

/// A run that was ended without warning has lost no row but young ones, and invented none. `age_ms` is the age of the
/// oldest row without a record.
pub(super) fn little_lost(report: &Report, rows: u64, age_ms: f64) -> Vec<String> {
    let counted = report.counted();
    let mut wrong: Vec<String> = report.contradictions().collect();
    if counted > rows {
        wrong.push(format!("{rows} rows were inserted and {counted} counted"));
    }
    if age_ms > LOST_MS {
        wrong.push(format!("a row of {age_ms:.0} ms before the end is in no interval"));
    }
    wrong
}

/// Whether the exit code is one of those that are right.
pub(super) fn exit_code(code: Option<i32>, right: &[i32]) -> Option<String> {
    let is_right = code.is_some_and(|code| right.contains(&code));
    (!is_right).then(|| format!("dyno ended with {code:?} and not with one of {right:?}"))
}

/// A time in which dyno was paused.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pause {
    pub from: f64,
    pub until: f64,
}

impl Pause {
    /// The trial that calls itself valid though dyno stood still in the middle of it.
    pub(super) fn unseen(self, report: &Report) -> Option<String> {
        let is_long = self.until - self.from >= SEEN_SECONDS;
        let hit = report.trials.iter().find(|it| it.from <= self.from && self.until <= it.until)?;
        (is_long && hit.verdict == "valid").then(|| {
            format!("a trial is valid though dyno was paused for {:.1} s", self.until - self.from)
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report(transactions: u64, in_interval: u64) -> Report {
        Report::of(&json!({"trials": [{
            "status": "complete", "validity": "valid", "transactions": transactions,
            "edges": {"before": 1, "succeeded_after": 2}, "latency": {"count": transactions + 1},
            "intervals": [{"transactions": 10}, {"transactions": in_interval}],
            "measure_started": "1970-01-01T00:01:40Z", "measure_ended": "1970-01-01T00:01:42.5Z",
        }]}))
    }

    #[test]
    fn rows_and_transactions_must_be_equal_at_a_regular_end() {
        assert_eq!(all_counted(&report(15, 5), 17), [""; 0]);
        assert_eq!(all_counted(&report(15, 5), 18), ["18 rows were inserted and 17 counted"]);
        let wrong = all_counted(&report(15, 4), 17);
        let text = "trial 0 has 15 transactions, 1 of them due before and 2 more after it, 16 latencies and 14 in its \
                    intervals";
        assert_eq!(wrong, [text]);
    }

    #[test]
    fn a_sudden_end_loses_young_rows_only_and_invents_none() {
        assert_eq!(little_lost(&report(15, 5), 100, LOST_MS - 1.0), [""; 0]);
        assert_eq!(little_lost(&report(15, 5), 100, LOST_MS + 1.0).len(), 1);
        assert_eq!(little_lost(&report(15, 5), 16, 0.0), ["16 rows were inserted and 17 counted"]);
    }

    #[test]
    fn a_long_pause_within_the_measured_time_must_be_seen() {
        let pause = |from, until| Pause { from, until }.unseen(&report(15, 5));
        assert!(pause(100.5, 101.5).is_some());
        assert_eq!(pause(100.5, 100.9), None);
        assert_eq!(pause(102.0, 103.0), None);
    }

    #[test]
    fn an_exit_by_a_signal_is_not_an_exit_code() {
        assert_eq!(exit_code(Some(130), &[0, 130]), None);
        assert!(exit_code(None, &[0]).is_some() && exit_code(Some(101), &[0, 1]).is_some());
    }
}
