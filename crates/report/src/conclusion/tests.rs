//! Conclusions of runs whose figures are known.

use measure::{ErrorClass, Failure, TrialStatus};
use record::{Run, RunStatus};

use super::*;
use crate::Reading;
use crate::{markdown, sample, terminal};

fn texts(run: &Run) -> Vec<String> {
    Reading::new(run).conclusions.iter().map(Conclusion::text).collect()
}

fn codes(run: &Run) -> Vec<Code> {
    Reading::new(run).conclusions.iter().map(|conclusion| conclusion.code).collect()
}

/// The first trial of the usual run alone.
fn single() -> Run {
    let mut run = sample::run();
    run.trials.truncate(1);
    run.header.trials_planned = 1;
    run
}

/// Makes every trial that is chosen invalid: a client left early.
fn lose_clients(run: &mut Run, is_chosen: impl Fn(&str) -> bool) {
    for trial in run.trials.iter_mut().filter(|trial| is_chosen(&trial.header.system)) {
        let client = &mut trial.end.as_mut().unwrap().clients[0];
        client.failure = Some(Failure::new(ErrorClass::Server, "1", "gone"));
    }
}

#[test]
fn one_trial_has_its_figures_and_whether_it_is_valid() {
    let figures = "sqlite, oltp_point_select, 1 client: 806 transactions per second, p99 4.60 ms.";
    assert_eq!(texts(&single()), [figures, "Valid: 1 of 1 trial."]);
    let mut failing = single();
    failing.trials[0].total.failed_transactions = 1;
    assert_eq!(
        texts(&failing),
        [figures, "Doubtful: 1 of 1 trial (transactions failed)."],
        "one failure does not make figures those of another system"
    );
}

#[test]
fn an_invalid_trial_answers_nothing() {
    let mut run = single();
    lose_clients(&mut run, |_| true);
    let why = "(every client left early)";
    assert_eq!(
        texts(&run),
        [
            format!(
                "No result for sqlite under oltp_point_select: each of its trials is invalid {why}."
            ),
            format!("Invalid, not to be believed: 1 of 1 trial {why}."),
        ]
    );
}

#[test]
fn a_run_without_trials_says_that_nothing_can_be_said() {
    let mut run = single();
    run.status = RunStatus::Failed("no server".to_owned());
    run.trials.clear();
    assert_eq!(codes(&run), [Code::Nothing, Code::RunDoubtful]);
    assert_eq!(codes(&sample::failed()), [Code::Nothing, Code::TrialsInvalid, Code::RunDoubtful]);
    let reading = Reading::new(&run);
    assert!(crate::html(&reading).contains("<p class=\"cause\">no server</p>"));
    for view in [terminal(&reading), markdown(&reading), crate::json(&reading)] {
        assert!(view.contains("No result: no trial was begun."), "{view}");
    }
}

/// Variants at one load: v3 does so many times as much as v1 in each of three rounds.
fn variants(times: [f64; 3]) -> Run {
    let mut run = sample::variants();
    run.trials.retain(|trial| trial.header.clients == 4);
    run.header.trials_planned = run.trials.len();
    run.header.percentiles = vec![50.0, 95.0];
    for trial in &mut run.trials {
        let round = trial.header.repetition as usize;
        let is_v3 = trial.header.system == "tidb.v3";
        let factor = if is_v3 { times[round] } else { 1.0 };
        trial.total.transactions = ([20_000.0, 10_000.0, 30_000.0][round] * factor) as u64;
        trial.end.as_mut().unwrap().status = TrialStatus::Complete;
    }
    run
}

#[test]
fn the_faster_variant_is_named_with_its_interval() {
    let told = texts(&variants([1.5, 1.5, 1.5]));
    let expected =
        "v3 is faster than v1: throughput +50 % (95 % interval +50 % to +50 %), 3 rounds";
    assert!(told[0].starts_with(expected), "{told:?}");
    assert_eq!(codes(&variants([0.5, 0.5, 0.5]))[0], Code::Slower);
    assert_eq!(codes(&variants([0.5, 1.5, 1.0]))[0], Code::Undecided);
    let told = texts(&variants([1.007, 1.011, 1.008]));
    let expected = "v3 is faster than v1, but perhaps by less than matters: throughput +0.9 % (95 % interval +0.";
    assert!(told[0].starts_with(expected), "{told:?}");
    assert_eq!(codes(&variants([0.993, 0.989, 0.992]))[0], Code::SlightlySlower);
    let told = texts(&variants([1.001, 1.001, 1.001]));
    let expected = "v3 and v1 show no difference larger than 0.1 % in throughput";
    assert!(told[0].starts_with(expected), "{told:?}");
    let mut one_round = variants([1.5, 1.5, 1.5]);
    one_round.trials.retain(|trial| trial.header.repetition == 0);
    let told = texts(&one_round);
    let expected = "Whether v3 or v1 is faster is not known: throughput of v3 +50 %";
    assert!(told[0].starts_with(expected), "{told:?}");
}

#[test]
fn a_comparison_with_invalid_trials_says_so() {
    let mut run = variants([1.5, 1.5, 1.5]);
    lose_clients(&mut run, |system| system == "tidb.v3");
    let told = texts(&run);
    assert!(told[0].starts_with("No result for tidb.v3: each of its trials"), "{told:?}");
    let mut run = variants([1.5, 1.5, 1.5]);
    let first = run.trials[0].header.index;
    run.trials.iter_mut().filter(|trial| trial.header.index == first).for_each(|trial| {
        let client = &mut trial.end.as_mut().unwrap().clients[0];
        client.failure = Some(Failure::new(ErrorClass::Server, "1", "gone"));
    });
    let told = texts(&run);
    assert!(told[0].ends_with("; 1 of 6 trials invalid."), "{told:?}");
}

/// One system with 1, 4, 16 and 64 clients, of which each does this many transactions a second in two repetitions.
fn swept(per_s: [u64; 4]) -> Run {
    let mut run = sample::large();
    run.trials.retain(|trial| {
        (trial.header.system.as_str(), trial.header.workload.name.as_str())
            == ("sqlite", "oltp_point_select")
    });
    for trial in &mut run.trials {
        let level = [1, 4, 16, 64].iter().position(|it| *it == trial.header.clients).unwrap();
        // Five seconds, and one transaction more in the second repetition.
        trial.total.transactions = 5 * per_s[level] + u64::from(trial.header.repetition);
    }
    run
}

#[test]
fn throughput_stops_growing_where_more_clients_add_none() {
    let told = texts(&swept([100, 300, 500, 502]));
    let expected = "sqlite, oltp_point_select: throughput stops growing at 16 clients, with 500 per s; 502 with \
                    64 is not higher by 1.0 % or more; with 64 clients p99 is ";
    assert!(told[0].starts_with(expected), "{told:?}");
    let told = texts(&swept([100, 300, 500, 400]));
    let expected =
        "at 16 clients, with 500 per s; at 64 clients it is 20 % lower; with 64 clients p99 is ";
    assert!(told[0].contains(expected), "{told:?}");
    let told = texts(&swept([100, 300, 400, 500]));
    let expected = "sqlite, oltp_point_select: throughput still grows at 64 clients, the most that were \
                    measured: 500 per s, 25 % higher than with 16 clients; p99 is ";
    assert!(told[0].starts_with(expected), "{told:?}");
}

#[test]
fn noise_does_not_end_growth() {
    let mut run = swept([100, 300, 400, 500]);
    // With 64 clients a trial does 300 a second and one 700.
    let last = run.trials.iter_mut().filter(|trial| trial.header.clients == 64);
    for (trial, transactions) in last.zip([1_500, 3_500]) {
        trial.total.transactions = transactions;
    }
    let told = texts(&run);
    let expected = "sqlite, oltp_point_select: growth of throughput beyond 16 clients, with 400 per s, is not \
                    decided: at 64 clients it is 1";
    assert!(told[0].starts_with(expected), "{told:?}");
    assert!(
        told[0].contains(", 2 trials of each; more trials would narrow it; p99 is "),
        "{told:?}"
    );
}

/// 100 N / (1 + 0.02 (N - 1) + 0.001 N (N - 1)), which is highest at the root of 980.
#[test]
fn a_sweep_that_carries_the_law_has_its_peak() {
    let run = swept([100, 373, 1_039, 1_017]);
    let told = texts(&run);
    let peak = "; the curve of the Universal Scalability Law is highest at 31 (95 % interval ";
    assert!(told[0].contains("stops growing at 16 clients") && told[0].contains(peak), "{told:?}");
    let values = Reading::new(&run).conclusions[0].json()["values"].clone();
    assert_eq!(values["peak_clients"], 31);
}

#[test]
fn the_highest_rate_that_is_answered_is_named() {
    let expected = "sqlite, oltp_point_select: 1,450 per s are answered as they arrive, p99 10.8 ms; of 3,000 \
                    per s 1,692 are";
    let told = texts(&sample::open());
    assert!(told[0].starts_with(expected), "{told:?}");
}

#[test]
fn a_seek_answers_with_its_capacity_once_in_each_view() {
    let run = sample::sought(20e6, 1.0, 1_024.0);
    let reading = Reading::new(&run);
    assert_eq!(reading.conclusions[0].code, Code::Capacity);
    let told = reading.conclusions[0].text();
    assert_eq!(terminal(&reading).matches(&told).count(), 1);
    assert_eq!(codes(&sample::sought(1e6, 1.0, 64.0))[0], Code::CapacityUnknown);
}

#[test]
fn systems_are_compared_under_each_workload() {
    let run = sample::compared();
    let found = Reading::new(&run).conclusions;
    let compared: Vec<&Conclusion> =
        found.iter().filter(|it| matches!(it.code, Code::Faster | Code::Slower)).collect();
    assert_eq!(compared.len(), 1, "{found:?}");
    assert!(compared[0].text().starts_with("mariadb is slower than sqlite under "), "{found:?}");
    // One trial of each shows no difference.
    assert!(codes(&sample::run()).contains(&Code::NotRepeated));
}

#[test]
fn every_link_leads_to_a_place_of_its_view() {
    let runs = [
        sample::run(),
        sample::compared(),
        sample::variants(),
        sample::open(),
        sample::watched(),
        sample::quick(),
        sample::failed(),
        sample::sought(20e6, 1.0, 1_024.0),
        sample::kept_turns(2),
        single(),
    ];
    for run in &runs {
        let reading = Reading::new(run);
        let (page, text) = (crate::whole_html(&reading), markdown(&reading));
        for conclusion in &reading.conclusions {
            assert!(conclusion.text().len() > 1, "{conclusion:?}");
            let Some(place) = conclusion.place else { continue };
            assert!(page.contains(&format!("id=\"{}\"", place.id())), "{conclusion:?}");
            let anchor = match place.section() {
                "results" => "#figures",
                "ratios" => "#ratios",
                "capacity" => "#capacity",
                "cost" => "#cost",
                _ => "#warnings",
            };
            assert!(text.contains(&format!("([figures]({anchor}))")), "{conclusion:?} {text}");
            let heading = anchor[1..].replace('-', " ");
            let mut titles = text.lines().filter_map(|line| line.strip_prefix("## "));
            assert!(titles.any(|title| title.to_lowercase() == heading), "{heading}");
        }
    }
}

#[test]
fn programs_get_codes_values_and_plots() {
    let value: serde_json::Value =
        serde_json::from_str(&crate::json(&Reading::new(&single()))).unwrap();
    let first = &value["conclusions"][0];
    assert_eq!((&first["code"], &first["chart"]), (&"measured".into(), &"t0-0".into()));
    assert_eq!(first["values"]["system"], "sqlite");
    assert_eq!(first["values"]["per_s"], value["trials"][0]["transactions_per_s"]);
    assert_eq!(value["conclusions"][1]["code"], "trials-valid");
    assert_eq!(value["trials"][0]["validity"], "valid");
}

#[test]
fn trials_that_are_not_valid_are_named_in_a_line() {
    let mut run = single();
    assert_eq!(Reading::new(&run).not_valid(&[]), None);
    run.trials[0].total.failed_transactions = 1;
    let told = Reading::new(&run).not_valid(&[]).unwrap();
    let expected =
        "1 of 1 trials is not valid: sqlite oltp_point_select, 1 client (doubtful: failures)";
    assert_eq!(told, expected);
}
