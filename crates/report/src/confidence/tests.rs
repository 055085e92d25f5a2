//! Intervals in every view of a made-up run.

use serde_json::Value;

use super::*;
use crate::Reading;
use crate::number::number;
use crate::{csv, json, markdown, sample, terminal};

fn parsed(reading: &Reading<'_>) -> Value {
    serde_json::from_str(&json(reading)).unwrap()
}

#[test]
fn a_load_with_one_trial_has_intervals_within_it_in_every_view() {
    let run = sample::long();
    let reading = Reading::new(&run);
    let digest = &reading.digest;
    let report = parsed(&reading);
    let point = &report["points"][0];
    let of_trial = &report["trials"][0]["confidence_intervals"];
    assert_eq!(point["transactions_per_s"]["low_95"], Value::Null, "that is between trials");
    let pairs = [
        (&point["transactions_per_s"], &of_trial["transactions_per_s"]),
        (&point["queries_per_s"], &of_trial["queries_per_s"]),
        (&point["mean_ns"], &of_trial["mean_ns"]),
        (&point["percentiles"]["p99_ns"], &of_trial["p99_ns"]),
    ];
    for (of_point, of_trial) in pairs {
        let interval = &of_point["interval"];
        assert_eq!(interval, of_trial);
        assert_eq!(
            (&interval["method"], &interval["confidence"]),
            (&"within-trial".into(), &0.95.into())
        );
        let number = |value: &Value| value.as_f64().unwrap();
        let median = number(&of_point["median"]);
        assert!(
            number(&interval["low"]) < median && median < number(&interval["high"]),
            "{of_point}"
        );
    }
    assert!(of_trial["transactions_per_s"]["effective_samples"].as_f64().unwrap() <= 20.0);

    let text = csv(&reading);
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let (heads, total) = (lines.next().unwrap(), lines.next().unwrap());
    // From the end: the storage of the system has commas.
    let cell = |row: &[&str], name: &str| {
        let at = heads.iter().position(|head| *head == name).unwrap();
        row[row.len() + at - heads.len()].to_owned()
    };
    for (column, key, end) in [
        ("transactions_per_s_low_95", "transactions_per_s", "low"),
        ("p99_ns_high_95", "p99_ns", "high"),
    ] {
        let value: f64 = cell(&total, column).parse().unwrap();
        assert_eq!(Some(value), of_trial[key][end].as_f64(), "{column}");
    }
    // The first operation is the transaction, so it has the intervals of the trial.
    let (operation, of) = (lines.next().unwrap(), &report["trials"][0]["operations"][0]);
    for column in ["transactions_per_s_low_95", "mean_ns_low_95", "p99_ns_high_95"] {
        assert_eq!(cell(&operation, column), cell(&total, column), "{column}");
    }
    assert_eq!(cell(&operation, "queries_per_s_low_95"), "", "an operation has no statements");
    assert_eq!(of["confidence_intervals"]["per_s"], of_trial["transactions_per_s"]);
    assert_eq!(of["confidence_intervals"]["p99_ns"], of_trial["p99_ns"]);
    let page = crate::whole_html(&reading);
    assert!(page.contains("95 % intervals of operations"), "{page}");

    let interval = Figure::Throughput.interval(digest, &digest.points[0]).unwrap();
    let shown = interval.text(number);
    for view in [terminal(&reading), markdown(&reading), crate::whole_html(&reading)] {
        assert!(view.matches(&shown).count() >= 2, "{shown} is in both tables: {view}");
        assert!(view.contains("within the trial"), "{view}");
        assert!(view.contains("95 % intervals are each within one trial"), "{view}");
    }
    assert!(crate::whole_html(&reading).contains("of 20 intervals"));
}

#[test]
fn several_trials_have_intervals_between_them() {
    let run = sample::compared();
    let reading = Reading::new(&run);
    let digest = &reading.digest;
    let report = parsed(&reading);
    let throughput = &report["points"][0]["transactions_per_s"];
    assert_eq!(throughput["interval"]["method"], "between-trials-student-t");
    assert_eq!(throughput["interval"]["low"], throughput["low_95"]);
    assert_eq!(throughput["interval"].get("effective_samples"), None);
    assert!(note(digest).unwrap().starts_with("95 % intervals are between trials that share"));
    assert_eq!(note(&Digest::new(&sample::variants())), Some("95 % intervals are between trials."));
    assert!(markdown(&reading).contains("4 trials"));
}

#[test]
fn a_short_trial_says_why_it_has_no_intervals() {
    let run = sample::run();
    let reading = Reading::new(&run);
    let digest = &reading.digest;
    assert!(table(digest, None).is_empty() && note(digest).is_none());
    let absent = &parsed(&reading)["trials"][0]["confidence_intervals"];
    let reason = "the measured time has 4 intervals, and 8 are needed to see how it varies";
    assert_eq!((&absent["absent"], &absent["p99_ns"]), (&reason.into(), &Value::Null));
    assert!(crate::whole_html(&reading).contains(reason));
}

#[test]
fn an_interval_without_an_upper_end_is_not_shown_as_one_with() {
    let interval = Confidence { low: 5.0, high: None, origin: Origin::Within(3.0) };
    assert_eq!(interval.text(number), "5.00 or more");
    assert_eq!(interval.json()["high"], Value::Null);
}
