//! Trials with one weakness each, and the finding that reports it.

use measure::{
    Disposition, Edges, ErrorClass, ErrorKey, OperationId, OperationKind, QueryCounts,
    TransactionCounts,
};

use super::*;
use crate::summary::tests::{Trial, seconds_of};
use crate::{CountedStatements, Usage, summarize};

fn finding(code: Code, values: &[(&'static str, Value)]) -> Finding {
    Finding { values: values.to_vec(), ..Finding::new(code) }
}

/// This many transactions whose clients gave up after a microsecond.
fn never_answered(requests: u64) -> Edges {
    let mut edges = Edges::new(2);
    (0..requests).for_each(|_| edges.unanswered.record(1_000));
    edges
}

fn unanswered(requests: u64) -> Finding {
    let values = [
        ("requests", Value::Count(requests)),
        ("unsent", Value::Count(0)),
        ("oldest_ns", Value::Nanos(1_000)),
    ];
    finding(Code::Unfinished, &values)
}

/// One of 2,001 is 0.05 %, three of 2,003 are 0.15 %.
#[test]
fn an_arrival_that_waits_when_the_window_ends_is_no_weakness() {
    let found = |unsent: u64| {
        let mut edges = Edges::new(2);
        (0..unsent).for_each(|_| edges.unsent.record(1_000));
        findings_with(&edges, &[500, 500, 500, 500])
    };
    let codes = |unsent| found(unsent).iter().map(|it| it.code).collect::<Vec<_>>();
    assert!(!codes(1).contains(&Code::Unfinished), "{:?}", found(1));
    assert!(codes(3).contains(&Code::Unfinished), "{:?}", found(3));
}

/// The server's count differs by that many reads, writes and others.
fn differing(read: i64, write: i64, other: i64) -> Option<CountedStatements> {
    let by_dyno = QueryCounts { read: 100, write: 100, other: 100 };
    let [read, write, other] = [read, write, other].map(|more| (100 + more) as u64);
    Some(CountedStatements { by_dyno, by_server: QueryCounts { read, write, other } })
}

fn findings_of(change: impl Fn(&mut Measured<'_>), transactions: &[u64]) -> Vec<Finding> {
    let trial = seconds_of(transactions);
    let mut input = trial.measured();
    input.percentiles = &[50.0];
    change(&mut input);
    check(&input, &summarize(&input))
}

fn findings_with(edges: &Edges, transactions: &[u64]) -> Vec<Finding> {
    let trial = seconds_of(transactions);
    let input = Measured { edges, percentiles: &[50.0], ..trial.measured() };
    check(&input, &summarize(&input))
}

#[test]
fn a_sound_trial_has_no_findings() {
    assert_eq!(findings_of(|_| {}, &[20, 20, 20]), []);
}

#[test]
fn damage_is_named_and_is_the_reason_for_a_missing_end() {
    let damage = |line| DamagedFile { file: "trial.json", line, what: "it ends" };
    let (file, what) = (Value::Text("trial.json".to_owned()), Value::Text("it ends".to_owned()));
    let found =
        findings_of(|input| (input.damage, input.status) = (Some(damage(7)), None), &[20, 20, 20]);
    let values = [("file", file.clone()), ("line", Value::Small(7)), ("reason", what.clone())];
    assert_eq!(found, [finding(Code::Damaged, &values)]);
    let found = findings_of(|input| input.damage = Some(damage(0)), &[20, 20, 20]);
    assert_eq!(found, [finding(Code::Damaged, &[("file", file), ("reason", what)])]);
    assert_eq!(Code::Damaged.severity(), crate::Severity::Invalid);
}

#[test]
fn each_weakness_is_found() {
    let level = [20, 20, 20];
    let found = findings_of(|input| input.status = Some(&TrialStatus::Interrupted), &level);
    assert_eq!(found, [Finding::new(Code::Interrupted)]);
    let found = findings_of(|input| input.clients_lost = 1, &level);
    let left = [("left", Value::Small(1)), ("clients", Value::Small(2))];
    assert_eq!(found, [finding(Code::ClientsLeft, &left)]);
    let three = never_answered(3);
    let trial = seconds_of(&level);
    let mut input = Measured { edges: &three, percentiles: &[50.0], ..trial.measured() };
    input.usage = None;
    let found = check(&input, &summarize(&input));
    assert_eq!(found, [unanswered(3)]);
    let found = findings_of(|input| input.client_events = &[10, 30], &level);
    assert_eq!(found, [finding(Code::Unfair, &[("variation", Value::Part(0.5))])]);
    let found = findings_of(|input| input.clients = 4, &level);
    assert_eq!((found.len(), found[0].code), (1, Code::LittlesLaw), "{found:?}");
    assert_eq!(found[0].value("mismatch"), Some(&Value::Change(-0.5)));
    let found = findings_of(|input| input.percentiles = &[50.0, 99.0, 99.9], &level);
    let few = [("percentile", Value::Percentile(99.0)), ("values", Value::Count(60))];
    assert_eq!(found, [finding(Code::TooFewValues, &few)]);
    let found = findings_of(|input| input.percentiles = &[50.0, 99.9], &level);
    let few = [("percentile", Value::Percentile(99.9)), ("values", Value::Count(60))];
    assert_eq!(found, [finding(Code::FewValues, &few)]);
}

#[test]
fn percentiles_among_time_outs_and_ages_are_known_only_from_below() {
    // 60 transactions of 100 ms, and two that were given up: the 98th percentile is the 61st value.
    let mut trial = seconds_of(&[20, 20, 20]);
    let (transaction, kind) = (OperationId(0), OperationKind::Transaction);
    (0..2).for_each(|_| trial.total.timeout(transaction, kind, 500_000_000));
    let of = |percentiles: &[f64], edges: &Edges| {
        let input = Measured { percentiles, edges, client_events: &[], ..trial.measured() };
        let found = check(&input, &summarize(&input));
        found.into_iter().find(|finding| finding.code == Code::CensoredPercentiles)
    };
    let none = Edges::new(2);
    let censored = |percentile, at_least_ns, transactions| {
        let values = [
            ("percentile", Value::Percentile(percentile)),
            ("at_least_ns", Value::Nanos(at_least_ns)),
            ("transactions", Value::Count(transactions)),
        ];
        Some(finding(Code::CensoredPercentiles, &values))
    };
    assert_eq!(of(&[50.0, 95.0], &none), None);
    let seen = of(&[50.0, 98.0, 99.0], &none).unwrap();
    let Some(Value::Nanos(at_least_ns)) = seen.value("at_least_ns") else { panic!("{seen:?}") };
    assert!(at_least_ns.abs_diff(500_000_000) < 1_000_000, "{at_least_ns}");
    assert_eq!(Some(seen.clone()), censored(98.0, *at_least_ns, 2));
    // Three more were never answered, for a microsecond: of 65 values the 95th percentile is the 62nd.
    let seen = of(&[50.0, 95.0], &never_answered(3));
    assert_eq!(seen.map(|it| it.values[2].clone()), Some(("transactions", Value::Count(5))));
}

#[test]
fn a_trial_that_failed_has_its_reason_and_one_without_an_end_was_cut() {
    let failed = TrialStatus::Failed("no such table".to_owned());
    let trial = seconds_of(&[20, 20, 20]);
    let input = Measured { status: Some(&failed), percentiles: &[50.0], ..trial.measured() };
    let found = check(&input, &summarize(&input));
    let reason = Value::Text("no such table".to_owned());
    assert_eq!(found, [finding(Code::Failed, &[("reason", reason)])]);
    let found = findings_of(|input| input.status = None, &[20, 20, 20]);
    assert_eq!(found, [Finding::new(Code::Cut)]);
}

#[test]
fn losing_all_clients_is_distinguished_from_losing_some() {
    let found = findings_of(|input| input.clients_lost = 2, &[20, 20, 20]);
    assert_eq!((found.len(), found[0].code), (1, Code::EveryClientLeft), "{found:?}");
}

#[test]
fn an_outage_is_reported_and_explains_idle_clients() {
    let outages = [
        Outage { start_ns: 10, end_ns: Some(40), failures: 2, reconnects: 2 },
        Outage { start_ns: 90, end_ns: None, failures: 2, reconnects: 1 },
    ];
    let trial = seconds_of(&[20, 20, 20]);
    let input = Measured {
        outages: &outages,
        load_end_ns: 100,
        clients: 4,
        percentiles: &[50.0],
        ..trial.measured()
    };
    let told = finding(
        Code::Outages,
        &[
            ("outages", Value::Small(2)),
            ("total_ns", Value::Nanos(40)),
            ("from_ns", Value::Nanos(10)),
            ("to_ns", Value::Nanos(40)),
            ("more", Value::Text("or more".to_owned())),
            ("open_ns", Value::Nanos(90)),
            ("longest_ns", Value::Nanos(30)),
            ("reconnects", Value::Count(3)),
        ],
    );
    assert_eq!(check(&input, &summarize(&input)), [told]);
}

#[test]
fn connections_that_broke_while_others_were_answered_are_no_outage() {
    let outages = [Outage { start_ns: 10, end_ns: Some(10), failures: 2, reconnects: 1 }];
    let mut trial = seconds_of(&[20, 20, 20]);
    trial.total.idle_reconnects = 3;
    let input = Measured { outages: &outages, percentiles: &[50.0], ..trial.measured() };
    let lost = [("connections", Value::Count(2)), ("reconnects", Value::Count(1))];
    let closed = [("reconnects", Value::Count(3))];
    let expected =
        [finding(Code::ConnectionsLost, &lost), finding(Code::IdleConnectionsClosed, &closed)];
    assert_eq!(check(&input, &summarize(&input)), expected);
    // A server that closes what is idle is nobody's failure.
    assert_eq!(Code::IdleConnectionsClosed.severity(), crate::Severity::Note);
}

#[test]
fn a_server_that_exits_before_the_end_of_the_window_makes_the_trial_doubtful() {
    let exit = |member: &str, at_ns| MemberExit {
        member: member.to_owned(),
        at_ns,
        status: "exit status: 1".to_owned(),
        ..MemberExit::default()
    };
    let exits = [exit("a", None), exit("b", Some(5)), exit("c", Some(29)), exit("d", Some(30))];
    let trial = seconds_of(&[20, 20, 20]);
    let input = Measured {
        member_exits: &exits,
        window: (10, 30),
        percentiles: &[50.0],
        ..trial.measured()
    };
    let found = check(&input, &summarize(&input));
    let told = |member: &str, values: (&'static str, Value)| {
        let status = ("status", Value::Text("exit status: 1".to_owned()));
        let subject = Subject::Server(member.to_owned());
        Finding { subject, ..finding(Code::MemberExited, &[status, values]) }
    };
    let before = ("before", Value::Text("before the load".to_owned()));
    let expected = [
        told("a", before),
        told("b", ("at_ns", Value::At(5))),
        told("c", ("at_ns", Value::At(29))),
    ];
    assert_eq!(found, expected, "the last one exited after the window");
    assert_eq!(Code::MemberExited.severity(), crate::Severity::Doubtful);
}

#[test]
fn a_stall_without_lost_connections_excuses_no_missing_clients() {
    let outages = [Outage { start_ns: 10, end_ns: Some(40), failures: 0, reconnects: 0 }];
    let trial = seconds_of(&[20, 20, 20]);
    let input = Measured {
        outages: &outages,
        load_end_ns: 100,
        clients: 4,
        percentiles: &[50.0],
        ..trial.measured()
    };
    let codes: Vec<Code> =
        check(&input, &summarize(&input)).iter().map(|finding| finding.code).collect();
    assert_eq!(codes, [Code::Outages, Code::LittlesLaw]);
}

#[test]
fn unexplained_server_statements_are_a_finding() {
    let level = [20, 20, 20];
    let found = findings_of(|input| input.statements = differing(0, 0, 0), &level);
    assert_eq!(found, []);
    for (difference, code) in [(1, Code::OtherStatements), (-1, Code::FewerStatements)] {
        let found = findings_of(|input| input.statements = differing(0, 0, difference), &level);
        assert_eq!(found, [finding(code, &[("difference", Value::Difference(difference))])]);
    }
    let one = never_answered(1);
    let trial = seconds_of(&level);
    let input = Measured {
        edges: &one,
        percentiles: &[50.0],
        statements: differing(1, 0, 0),
        ..trial.measured()
    };
    let found = check(&input, &summarize(&input));
    assert_eq!(found, [unanswered(1)]);
}

#[test]
fn statements_on_sessions_whose_last_answer_was_not_read_are_no_finding() {
    for (unsure, found) in [(2, 0), (1, 1)] {
        let counts = TransactionCounts { unsure, ..TransactionCounts::default() };
        let change = |input: &mut Measured<'_>| {
            input.statements = differing(0, 0, 2);
            input.transactions = Some(counts);
        };
        assert_eq!(findings_of(change, &[20, 20, 20]).len(), found, "{unsure}");
    }
}

#[test]
fn transactions_of_other_clients_are_a_finding_and_a_servers_own_are_none() {
    let of = |by_server: u64, unsure, others_connected| {
        let counts = TransactionCounts {
            by_dyno: 1_000,
            unsure,
            by_server,
            routine_max: 10,
            others_connected,
        };
        findings_of(|input| input.transactions = Some(counts), &[20, 20, 20])
    };
    let told = |code, difference| [finding(code, &[("difference", Value::Difference(difference))])];
    assert_eq!(of(1_000, 0, true), []);
    // As many as autovacuum may have had, and as those whose answers were not seen.
    assert_eq!(of(1_010, 0, true), []);
    assert_eq!(of(1_012, 2, true), []);
    assert_eq!(of(1_011, 0, true), told(Code::OtherTransactions, 11));
    // Nobody else was there: workers of parallel queries, for example.
    assert_eq!(of(5_000, 0, false), []);
    assert_eq!(of(999, 5, false), told(Code::FewerTransactions, -1));
}

#[test]
fn what_a_reader_must_know_of_settings_is_a_note() {
    let remarks = ["a cache is small".to_owned()];
    let trial = seconds_of(&[20, 20, 20]);
    let input = Measured { percentiles: &[50.0], system_remarks: &remarks, ..trial.measured() };
    let text = Value::Text(remarks[0].clone());
    assert_eq!(check(&input, &summarize(&input)), [finding(Code::SystemRemark, &[("text", text)])]);
}

#[test]
fn what_a_reader_must_know_of_the_data_is_a_note() {
    let trial = seconds_of(&[20, 20, 20]);
    let data_remarks = ["lineitem is without statistics"];
    let input = Measured { percentiles: &[50.0], data_remarks: &data_remarks, ..trial.measured() };
    let text = Value::Text(data_remarks[0].to_owned());
    let expected = [finding(Code::WorkloadRemark, &[("text", text)])];
    assert_eq!(check(&input, &summarize(&input)), expected);
}

#[test]
fn a_statement_that_hangs_since_the_warm_up_is_dynos_own_and_told() {
    let trial = seconds_of(&[20, 20, 20]);
    let mut edges = Edges::new(2);
    edges.stuck.add(12_300, true, "UPDATE t");
    let input = Measured {
        edges: &edges,
        percentiles: &[50.0],
        statements: differing(0, 1, 0),
        ..trial.measured()
    };
    let told = finding(
        Code::StuckClients,
        &[
            ("stuck", Value::Small(1)),
            ("clients", Value::Small(2)),
            ("age_ns", Value::Nanos(12_300)),
            ("statement", Value::Text("UPDATE t".to_owned())),
            ("since_before", Value::Small(1)),
        ],
    );
    assert_eq!(check(&input, &summarize(&input)), [told]);
}

#[test]
fn more_reads_do_not_hide_missing_writes() {
    let told = |difference| [("difference", Value::Difference(difference))];
    for kinds in [(7, -7), (-7, 7)] {
        let change = |input: &mut Measured<'_>| input.statements = differing(kinds.0, kinds.1, 0);
        let expected =
            [finding(Code::OtherStatements, &told(7)), finding(Code::FewerStatements, &told(-7))];
        assert_eq!(findings_of(change, &[20, 20, 20]), expected);
    }
    // Servers count SHOW among the others, and dyno among the reads.
    let change = |input: &mut Measured<'_>| input.statements = differing(-7, 0, 7);
    assert_eq!(findings_of(change, &[20, 20, 20]), []);
}

#[test]
fn refused_statements_may_be_missing_from_server_counters() {
    let mut trial = seconds_of(&[20, 20, 20]);
    let refused = ErrorKey::new(ErrorClass::Server, "1290");
    (0..3).for_each(|_| trial.total.error(&refused, Disposition::Ignored));
    let of_difference = |difference| {
        let input = Measured {
            percentiles: &[50.0],
            statements: differing(0, difference, 0),
            ..trial.measured()
        };
        check(&input, &summarize(&input))
    };
    assert_eq!(of_difference(-3), []);
    assert_eq!(
        of_difference(-4),
        [finding(Code::FewerStatements, &[("difference", Value::Difference(-4))])]
    );
    assert_eq!(
        of_difference(1),
        [finding(Code::OtherStatements, &[("difference", Value::Difference(1))])]
    );
}

#[test]
fn a_drift_is_reported_once() {
    let found = findings_of(|_| {}, &[10, 14, 18, 22, 26, 30]);
    assert_eq!(found, [finding(Code::Trend, &[("change", Value::Change(28.0 / 12.0 - 1.0))])]);
    let found = findings_of(|_| {}, &[10, 30, 10, 30, 10, 40]);
    assert!(found.iter().any(|finding| finding.code == Code::Unsteady));
}

/// 40 transactions of 100 ms on average in two seconds, every other one nine times as long as the one before.
fn uneven_transactions() -> Trial {
    let mut trial = seconds_of(&[]);
    for latency_ns in [20_000_000, 180_000_000].into_iter().cycle().take(40) {
        trial.total.success(OperationId(0), OperationKind::Transaction, latency_ns);
    }
    trial.slices = seconds_of(&[20, 20]).slices;
    trial
}

fn codes(input: &Measured<'_>) -> Vec<Code> {
    check(input, &summarize(input)).iter().map(|finding| finding.code).collect()
}

#[test]
fn clients_that_differ_by_chance_are_not_served_unevenly() {
    let (even, uneven) = (seconds_of(&[20, 20]), uneven_transactions());
    let of = |trial: &Trial, client_events: &[u64]| {
        codes(&Measured { client_events, percentiles: &[50.0], ..trial.measured() })
    };
    assert_eq!(of(&even, &[14, 26]), [Code::Unfair]);
    assert_eq!(of(&uneven, &[14, 26]), []);
    assert_eq!(of(&uneven, &[10, 30]), [Code::Unfair]);
}

#[test]
fn intervals_that_differ_by_chance_are_not_unsteady() {
    let of = |mut trial: Trial, transactions: &[u64]| {
        trial.slices = seconds_of(transactions).slices;
        codes(&Measured { percentiles: &[50.0], clients: 1, ..trial.measured() })
    };
    let is_unsteady = |codes: Vec<Code>| codes.contains(&Code::Unsteady);
    assert!(is_unsteady(of(seconds_of(&[40]), &[6, 14, 9, 11])));
    assert!(!is_unsteady(of(uneven_transactions(), &[6, 14, 9, 11])));
    assert!(is_unsteady(of(uneven_transactions(), &[0, 38, 1, 1])));
}

#[test]
fn latencies_that_rise_at_the_same_throughput_are_a_drift() {
    let mut trial = seconds_of(&[20; 12]);
    for (slice, latency_ns) in trial.slices.iter_mut().zip((100_000_000..).step_by(3_000_000)) {
        slice.busy_ns = slice.ended * latency_ns;
    }
    let input = Measured { percentiles: &[50.0], ..trial.measured() };
    let found = check(&input, &summarize(&input));
    assert_eq!((found.len(), found[0].code), (1, Code::LatencyTrend), "{found:?}");
    // Geometric means of 124 to 133 ms over those of 100 to 109 ms.
    let Some(Value::Change(change)) = found[0].value("change") else { panic!("{found:?}") };
    assert!((change - 0.2297).abs() < 0.001, "{change}");
}

#[test]
fn client_saturation_is_a_finding_unless_the_database_is_embedded() {
    let usage = Usage { user_ns: 2_000_000_000, system_ns: 800_000_000, switches: 1, threads: 1 };
    let found = findings_of(|input| input.usage = Some(usage), &[20, 20, 20]);
    assert_eq!((found.len(), found[0].code), (1, Code::ClientSaturated), "{found:?}");
    assert_eq!(found[0].value("usable_threads"), Some(&Value::Small(1)));
    let embedded =
        |input: &mut Measured<'_>| (input.usage, input.is_embedded) = (Some(usage), true);
    assert_eq!(findings_of(embedded, &[20, 20, 20]), []);
}

#[test]
fn nothing_measured_is_the_only_finding() {
    let found = findings_of(|input| input.client_events = &[], &[0, 0, 0]);
    assert_eq!(found, [Finding::new(Code::NothingMeasured)]);
}

#[test]
fn an_operation_with_few_values_is_named() {
    let mut trial = seconds_of(&[200, 200, 200]);
    let rare = &mut trial.total.operations[1];
    *rare = measure::OperationTally::default();
    (0..18).for_each(|_| rare.succeeded.record(40_000_000));
    let percentiles = [50.0, 95.0, 99.9];
    let input = Measured { percentiles: &percentiles, ..trial.measured() };
    let few = |subject, percentile, values| {
        Finding::about(subject, Code::FewValues)
            .with("percentile", Value::Percentile(percentile))
            .with("values", Value::Count(values))
    };
    let found = check(&input, &summarize(&input));
    let found: Vec<_> = found.into_iter().filter(|it| it.code == Code::FewValues).collect();
    let of_select = few(Subject::Operations("select".to_owned()), 50.0, 18);
    assert_eq!(found, [few(Subject::Trial, 99.9, 600), of_select]);
}

#[test]
fn a_window_of_milliseconds_is_said_to_be_too_short() {
    let short = |seconds: f64| {
        let mut trial = seconds_of(&[20]);
        trial.slices[0].seconds = seconds;
        let input = Measured { percentiles: &[50.0], ..trial.measured() };
        let found = check(&input, &summarize(&input));
        found.into_iter().find(|finding| finding.code == Code::ShortWindow)
    };
    let length = [("length_ns", Value::Nanos(14_000_000))];
    assert_eq!(short(0.014), Some(finding(Code::ShortWindow, &length)));
    assert_eq!(short(1.0), None);
}
