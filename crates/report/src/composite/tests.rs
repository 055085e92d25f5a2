//! Composite scores of trials whose parts are known by arithmetic.

use measure::{
    ErrorClass, ErrorKey, Formula, Operation, OperationId, OperationKind, Rules, Score, Tally,
};
use record::{Run, TrialRecord};

use super::*;
use crate::Reading;
use crate::sample;

const SECOND_NS: u64 = 1_000_000_000;

/// A trial of `clients` clients with a score of this formula, of four operations that took 10 s each, in a window of
/// 4 s.
fn test(template: &TrialRecord, clients: usize, formula: Formula) -> TrialRecord {
    let mut trial = template.clone();
    let header = &mut trial.header;
    header.clients = clients;
    header.operations = (1..=4)
        .map(|query| Operation::new(format!("Q{query}"), OperationKind::Transaction))
        .collect();
    header.workload.rules = Rules {
        scores: vec![Score {
            name: "part".to_owned(),
            meaning: "unaudited".to_owned(),
            operations: (0..4).map(OperationId).collect(),
            period_s: 3_600,
            formula,
            most: None,
        }],
        ..Rules::default()
    };
    trial.total = Tally::new(4);
    for query in 0..4 {
        trial.total.success(OperationId(query), OperationKind::Transaction, 10 * SECOND_NS);
    }
    trial
}

/// A power test and a throughput test at a scale, both of which have a value.
fn both(scale: f64) -> Run {
    let mut run = sample::run();
    let template = run.trials[0].clone();
    let throughput = Formula::Throughput { scale, successes: 4 };
    run.trials = vec![test(&template, 1, Formula::Power { scale }), test(&template, 3, throughput)];
    run
}

fn told(run: &Run) -> Vec<String> {
    sentences(&Digest::new(run))
}

fn fail_one(trial: &mut TrialRecord, class: ErrorClass) {
    let (query, kind) = (OperationId(3), OperationKind::Transaction);
    trial.total = Tally::new(4);
    for query in 0..3 {
        trial.total.success(OperationId(query), kind, 10 * SECOND_NS);
    }
    match class {
        ErrorClass::Timeout => trial.total.timeout(query, kind, SECOND_NS),
        _ => trial.total.failure(query, kind, SECOND_NS),
    }
    trial.total.error(&ErrorKey::new(class, ""), measure::Disposition::Ignored);
}

#[test]
fn a_composite_is_the_root_of_the_product_of_power_and_throughput() {
    let run = both(100.0);
    let seconds = Digest::new(&run).trials[1].record.seconds();
    // Power: 3,600 x 100 / 10 = 36,000. Throughput: 4 x 3,600 / seconds x 100.
    let throughput = 4.0 * 3_600.0 / seconds * 100.0;
    let composite = (36_000.0 * throughput).sqrt();
    let figures =
        Digest::new(&run).trials.iter().map(|it| it.summary.scores[0].value).collect::<Vec<_>>();
    assert!((figures[0] / 36_000.0 - 1.0).abs() < 1e-3, "{figures:?}");
    assert!((figures[1] / throughput - 1.0).abs() < 1e-9, "{figures:?}");
    let told = told(&run);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("QphH@100 of "), "{told:?}");
    let shown = told[0].split_once(": ").unwrap().1.split(' ').next().unwrap();
    let shown: f64 = shown.replace(',', "").parse().unwrap();
    assert!((shown / composite - 1.0).abs() < 2e-3, "{told:?}, {composite}");
    assert!(told[0].contains("unaudited: no TPC result, and not comparable with one"), "{told:?}");
}

#[test]
fn every_view_has_the_composite() {
    let run = both(1.0);
    let reading = Reading::new(&run);
    for view in [crate::terminal(&reading), crate::markdown(&reading), crate::whole_html(&reading)]
    {
        assert!(view.contains("QphH@1 of "), "{view}");
    }
}

#[test]
fn a_composite_without_a_part_is_not_given_and_says_why() {
    let mut run = both(1.0);
    let throughput = run.trials.pop().unwrap();
    let [alone] = &told(&run)[..] else { panic!() };
    assert!(
        alone.ends_with("is not given: the run has no throughput test (several clients) of it."),
        "{alone}"
    );
    run.trials = vec![throughput];
    let [alone] = &told(&run)[..] else { panic!() };
    assert!(
        alone.ends_with("is not given: the run has no power test (one client) of it."),
        "{alone}"
    );
    // A part of another scale, system or repetition is another test's.
    for change in [
        |trial: &mut TrialRecord| trial.header.system = "another".to_owned(),
        |trial: &mut TrialRecord| trial.header.repetition += 1,
        |trial: &mut TrialRecord| {
            trial.header.workload.rules.scores[0].formula = Formula::Power { scale: 10.0 };
        },
    ] {
        let mut run = both(1.0);
        change(&mut run.trials[0]);
        let told = told(&run);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told.iter().all(|it| it.contains(" is not given: the run has no ")), "{told:?}");
    }
}

#[test]
fn a_failure_a_time_out_or_an_early_end_of_a_part_leaves_no_composite() {
    let names = ["power test (one client)", "throughput test (several clients)"];
    for (place, name) in names.into_iter().enumerate() {
        for class in [ErrorClass::Server, ErrorClass::Timeout] {
            let mut run = both(1.0);
            fail_one(&mut run.trials[place], class);
            let told = told(&run);
            let reason = format!("is not given: not all of the {name} ran and succeeded.");
            assert!(told.len() == 1 && told[0].ends_with(&reason), "{told:?}");
        }
        let mut run = both(1.0);
        run.trials[place].end.as_mut().unwrap().status = TrialStatus::Interrupted;
        assert!(told(&run)[0].contains(" is not given: "), "{name}");
    }
}

#[test]
fn a_load_that_is_not_a_test_of_the_specification_has_no_composite_but_a_reason() {
    let mut run = both(1.0);
    for trial in &mut run.trials {
        let rules = &mut trial.header.workload.rules;
        rules.scores.clear();
        rules.unscored = vec!["the refresh functions did not run".to_owned()];
    }
    assert_eq!(told(&run), [""; 0]);
    let reading = Reading::new(&run);
    for view in [crate::terminal(&reading), crate::markdown(&reading), crate::whole_html(&reading)]
    {
        assert!(
            view.contains("1 client: no score, because the refresh functions did not run."),
            "{view}"
        );
    }
}
