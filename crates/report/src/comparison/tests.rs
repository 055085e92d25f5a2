//! Variants side by side, on runs with exact figures.

use analysis::Significance;

use super::*;
use crate::Reading;
use crate::sample;

#[test]
fn variants_side_by_side() {
    let run = sample::variants();
    let reading = Reading::new(&run);
    let groups = reading.groups();
    assert_eq!(groups.len(), 1);
    assert_eq!(groups[0].names, ["v1", "v3"]);
    insta::assert_snapshot!(format!("{}\n\n{}", groups[0].caption(), groups[0].table().text()));
}

#[test]
fn what_distinguishes_variants_stands_beside_their_verdict() {
    let mut run = sample::variants();
    let procs = |number: &str| vec![("GOMAXPROCS".to_owned(), number.to_owned())];
    for trial in &mut run.trials {
        let is_v1 = trial.header.system == "tidb.v1";
        let identity = &mut trial.header.identity;
        identity.product = "Database".to_owned();
        identity.version = "8.5.0".to_owned();
        identity.storage = "memory".to_owned();
        identity.settings = procs(if is_v1 { "1" } else { "2" });
        let shared = ("txn_mode".to_owned(), "pessimistic".to_owned());
        identity.settings.push(shared);
        if !is_v1 {
            identity.settings.push(("arguments".to_owned(), "-P 1".to_owned()));
        }
    }
    let reading = Reading::new(&run);
    let page = crate::whole_html(&reading);
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}"));
    assert!(place("ratio to v1 (95 %)") < place("What distinguishes the variants"));
    assert!(place("What distinguishes the variants") < place("<h2>All loads"));
    for view in [crate::terminal(&reading), crate::markdown(&reading)] {
        assert!(view.contains("GOMAXPROCS") && view.contains("-P 1"), "{view}");
        let beside = view.split_once("What distinguishes the variants").unwrap().1;
        assert!(beside.contains("GOMAXPROCS"), "{view}");
    }
}

/// The variants under a rate, which both achieve: v3 answers in eleven times the time of v1.
fn under_a_rate() -> record::Run {
    let mut run = sample::variants();
    for trial in &mut run.trials {
        let rate = plan::Rate::constant(100.0);
        trial.header.load.open = Some(record::OpenRecord {
            rate,
            rate_per_s: 100.0,
            arrivals: plan::Arrivals::Poisson,
            backlog_max: 1_000,
        });
        let is_v3 = trial.header.system == "tidb.v3";
        let mut tally = measure::Tally::new(2);
        let latency = if is_v3 { 11_000_000 } else { 1_000_000 };
        // A transaction more or less at the edges of a round.
        for _ in 0..1_000 - u64::from(is_v3) {
            let kind = measure::OperationKind::Transaction;
            tally.success(measure::OperationId(0), kind, latency);
        }
        trial.total = tally;
    }
    run
}

#[test]
fn variants_under_a_rate_are_judged_by_response_time() {
    let run = under_a_rate();
    let reading = Reading::new(&run);
    let groups = reading.groups();
    let figure = Figure::Latency(95.0);
    for point in groups[0].points("v3") {
        let by_throughput = groups[0].compare(point, Figure::Throughput).unwrap();
        assert_eq!(by_throughput.verdict, Significance::Equal, "{by_throughput:?}");
        assert_eq!(groups[0].judged_by(&[point]), figure);
        let found = groups[0].compare(point, figure).unwrap();
        assert_eq!(figure.verdict(found.verdict), "slower");
    }
    insta::assert_snapshot!(groups[0].table().text());
}

#[test]
fn the_figures_beside_a_ratio_are_those_that_it_is_made_of() {
    let mut run = sample::variants();
    run.trials.retain(|trial| trial.header.clients == 4);
    // Medians of 275 and 261 say slower, geometric means faster.
    let rates = |name: &str| if name == "tidb.v1" { [275, 100, 300] } else { [261, 400, 250] };
    for trial in &mut run.trials {
        let round = trial.header.repetition as usize;
        trial.total.transactions = 2 * rates(&trial.header.system)[round];
    }
    let reading = Reading::new(&run);
    let digest = &reading.digest;
    let group = &reading.groups()[0];
    let text = group.table().text();
    let row = text.lines().nth(1).unwrap();
    // (261 x 400 x 250 / 275 / 100 / 300) ^ (1/3), 296.6 and 202.1.
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells[6], "1.468", "{text}");
    assert_eq!(cells[10..12], ["297", "202"], "{text}");
    let results = crate::tables::results(digest, None).text();
    assert!(results.contains("275") && results.contains("261"), "{results}");
    assert!(NOTE.contains("medians over every trial that counts instead"));
    let json: serde_json::Value = serde_json::from_str(&crate::json(&reading)).unwrap();
    let compared = &json["variants"][0]["compared"][0]["throughput"];
    let figures = [&compared["variant"], &compared["baseline"]].map(|it| it.as_f64().unwrap());
    assert!((figures[0] / figures[1] / compared["ratio"].as_f64().unwrap() - 1.0).abs() < 1e-9);
}

#[test]
fn latencies_that_are_bounds_are_not_compared_and_the_table_says_why() {
    let mut run = under_a_rate();
    let unanswered = run.trials.iter_mut().find(|it| it.header.system == "tidb.v3").unwrap();
    let edges = &mut unanswered.end.as_mut().unwrap().edges;
    (0..1_000).for_each(|_| edges.unsent.record(5_000_000_000));
    let reading = Reading::new(&run);
    let group = &reading.groups()[0];
    let text = group.table().text();
    assert!(text.lines().nth(1).unwrap().contains("not compared"), "{text}");
    let note = crate::comparison_notes::notes(group).concat();
    assert!(note.starts_with("p95 is not compared, because"), "{note}");
    assert!(note.ends_with("tidb.v3 oltp_point_select, 4 clients, 100/s."), "{note}");
    assert!(!note.contains("Set `repetitions`"), "{note}");
    for view in [crate::terminal(&reading), crate::whole_html(&reading), crate::markdown(&reading)]
    {
        assert!(view.contains("is known only from below"), "{view}");
    }
}

/// Each trial of v3 leaves one of 1,000 transactions unanswered after 1 ms. Its p95 is the 949th of the others if that is
/// its latency, 11 ms, and the 950th if it is longer, 11.055 ms.
#[test]
fn a_latency_within_close_bounds_is_compared_by_the_worst_of_them() {
    let exact = under_a_rate();
    let mut run = under_a_rate();
    for trial in run.trials.iter_mut().filter(|it| it.header.system == "tidb.v3") {
        let mut tally = measure::Tally::new(2);
        for at in 1..1_000 {
            let latency_ns = if at <= 949 { 11_000_000 } else { 11_055_000 };
            let kind = measure::OperationKind::Transaction;
            tally.success(measure::OperationId(0), kind, latency_ns);
        }
        trial.total = tally;
        trial.end.as_mut().unwrap().edges.unsent.record(1_000_000);
    }
    let figure = Figure::Latency(95.0);
    let found = |run: &record::Run| {
        let reading = Reading::new(run);
        let group = &reading.groups()[0];
        let point = group.points("v3")[0];
        let found = group.compare(point, figure).unwrap();
        (found, crate::comparison_notes::notes(group).concat())
    };
    let (compared, note) = found(&run);
    assert_eq!(figure.verdict(compared.verdict), "slower", "{compared:?}");
    // The interval has both ends: without noise 11 and 11.055, as far as a histogram tells.
    let ratio = compared.ratio;
    assert!((ratio.low / 11.0 - 1.0).abs() < 0.001 && (ratio.high / 11.055 - 1.0).abs() < 0.001);
    assert!(note.contains("p95 is known only within bounds"), "{note}");
    assert!(note.contains("half their width 0.3 %") && !note.contains("is not compared"), "{note}");
    let (compared, note) = found(&exact);
    assert!(compared.ratio.logs.slack == 0.0 && !note.contains("within bounds"), "{note}");
}

/// Every round measured v1 twice; the second time it was faster by so much, and v3 by 3 %.
fn with_noise(again: f64) -> record::Run {
    let mut run = sample::variants();
    run.trials.retain(|trial| trial.header.clients == 4);
    let mut others: Vec<_> =
        run.trials.iter().filter(|it| it.header.system == "tidb.v1").cloned().collect();
    for trial in &mut others {
        trial.header.system.push_str(".again");
        let variant = trial.header.variant.as_mut().unwrap();
        variant.name.push_str(".again");
        (variant.place, variant.is_baseline_again) = (2, true);
    }
    run.trials.extend(others);
    run.header.trials_planned = run.trials.len();
    // Rounds differ from each other by 10 %, and each measurement by -1, 0 or 1 % in its own order.
    let own = |shift: u32, round: u32| 1.0 + 0.01 * (f64::from((round + shift) % 3) - 1.0);
    for trial in &mut run.trials {
        let round = trial.header.repetition;
        let (factor, shift) = match trial.header.system.as_str() {
            "tidb.v1" => (1.0, 0),
            "tidb.v3" => (1.05, 0),
            _ => (again, 1),
        };
        let rate = 10_000.0 * (1.0 + 0.1 * f64::from(round)) * own(shift, round) * factor;
        trial.total.transactions = (2.0 * rate).round() as u64;
        trial.end.as_mut().unwrap().status = record::TrialStatus::Complete;
    }
    run
}

#[test]
fn the_baseline_measured_twice_is_the_noise_floor_of_the_others() {
    let run = with_noise(1.0);
    let reading = Reading::new(&run);
    let group = &reading.groups()[0];
    assert_eq!((&group.names[..], group.again), (&["v1", "v3"][..], Some("v1.again")));
    let text = group.table().text();
    assert_eq!(text.lines().count(), 2, "it has no row of its own: {text}");
    // Logarithms of 1 / 0.99, 1.01 / 1 and 0.99 / 1.01: 0.01005, 0.00995 and -0.02000, whose mean is 0 and whose
    // deviation is 0.01732: 4.3027 x 0.01732 / sqrt 3 = 0.04303, or 4.4 %.
    let row = text.lines().nth(1).unwrap();
    assert!(row.contains("faster ") && row.contains("1.050 to 1.050"), "{text}");
    assert!(row.contains(" 4.4 %"), "{text}");
    assert!(reading.findings.is_empty(), "{:?}", reading.findings);
    let json: serde_json::Value = serde_json::from_str(&crate::json(&reading)).unwrap();
    let variants = &json["variants"][0];
    assert_eq!(variants["compared"].as_array().unwrap().len(), 1);
    assert_eq!(variants["compared"][0]["within_noise_floor"], false);
    let floor = variants["compared"][0]["throughput"]["noise_floor"].as_f64().unwrap();
    assert!((floor - 0.04397).abs() < 1e-4, "{variants}");
    assert_eq!(variants["noise"]["variant"], "v1.again");
    assert_eq!(variants["noise"]["compared"][0]["throughput"]["noise_floor"], floor);
    for view in [crate::terminal(&reading), crate::whole_html(&reading), crate::markdown(&reading)]
    {
        assert!(view.contains("every round measured the baseline twice"), "{view}");
        assert!(view.contains("noise floor") && view.contains("4.4 %"), "{view}");
    }
}

#[test]
fn a_baseline_that_differs_from_itself_is_warned_of_and_covers_smaller_verdicts() {
    let run = with_noise(1.2);
    let reading = Reading::new(&run);
    let text = reading.groups()[0].table().text();
    assert!(text.contains("faster, within the noise floor"), "{text}");
    let found = &reading.findings;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].code, analysis::Code::BaselineDiffers);
    let told = crate::terminal(&reading);
    let place = "tidb.v1.again, oltp_point_select, 4 clients: throughput: +20 %";
    assert!(told.contains("The baseline differs from itself") && told.contains(place), "{told}");
}

#[test]
fn without_a_trial_of_the_baseline_nothing_is_compared() {
    let mut run = sample::variants();
    run.trials.retain(|trial| trial.header.system != "tidb.v1");
    assert!(Reading::new(&run).groups().is_empty());
    // The order of the trials is another one in each round.
    let mut run = sample::variants();
    run.trials.reverse();
    assert_eq!(Reading::new(&run).groups()[0].names, ["v1", "v3"]);
}

#[test]
fn one_round_is_said_to_show_no_difference() {
    let mut run = sample::variants();
    run.trials.retain(|trial| trial.header.repetition == 0);
    let told = |run: &record::Run| Reading::new(run).groups()[0].too_few_rounds().unwrap();
    assert!(!told(&run).contains("Set `repetitions`"), "more were planned: {}", told(&run));
    run.header.trials_planned = run.trials.len();
    assert!(told(&run).contains("Set `repetitions` to 2 or more"), "{}", told(&run));
    let run = sample::variants();
    let reading = Reading::new(&run);
    assert_eq!(reading.groups()[0].too_few_rounds(), None);
}
