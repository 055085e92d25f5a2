//! Trials with several generators.

use measure::{ClockComparison, GeneratorClock, GeneratorLoss, HostFacts};

use super::*;
use crate::TrialRecord;

/// A generator of this process's host and one of another host, which was lost.
fn parts() -> Vec<GeneratorRecord> {
    let near = GeneratorRecord {
        name: "local".to_owned(),
        clients: 0..2,
        workers: 1,
        transactions: 5,
        failed_transactions: 1,
        latencies: latencies(),
        lateness: latencies(),
        start_delays: latencies(),
        generator: Some(generator()),
        usage: trial_end().usage,
        ..GeneratorRecord::default()
    };
    let start = ClockComparison { offset_ns: -77, uncertainty_ns: 9 };
    let far = GeneratorRecord {
        name: "ssh://bench1".to_owned(),
        host: Some(HostFacts {
            host: "bench1".to_owned(),
            processor: "riscv64".to_owned(),
            cores: 64,
            kernel: "Linux 6.6.20".to_owned(),
            build: "release, abc".to_owned(),
            boot: "5b1b".to_owned(),
        }),
        clock: Some(GeneratorClock { start, end: None }),
        clients: 2..4,
        workers: 3,
        lost: Some(GeneratorLoss {
            at_ns: 7,
            reason: "lost mysql://root:secret@127.0.0.1/test".to_owned(),
        }),
        ..GeneratorRecord::default()
    };
    vec![near, far]
}

fn written(end: &TrialEnd) -> (TrialRecord, String) {
    let out = tempfile::tempdir().unwrap();
    let run = RunWriter::create(out.path(), &run_header()).unwrap();
    let mut trial = write_trial(&run);
    trial.finish(end).unwrap();
    let file = fs::read_to_string(trial.folder().join("trial.json")).unwrap();
    (Run::open(run.folder()).unwrap().trials.remove(0), file)
}

#[test]
fn generators_are_read_as_they_were_written_without_secrets() {
    let end = TrialEnd { generators: parts(), ..trial_end() };
    let (read, file) = written(&end);
    let read_end = read.end.unwrap();
    assert_eq!(read_end, end.without_secrets());
    assert_eq!(read_end.generator_parts()[1].clients, 2..4);
    assert_eq!(read_end.lone_generator(), None);
    assert!(!file.contains("secret"), "{file}");
    let file: serde_json::Value = serde_json::from_str(&file).unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(&file["end"]["generators"][1]).unwrap());
    assert_eq!(file["end"]["generators"][0]["generator"]["stalls"][0]["start_ns"], 5);
    assert_eq!(file["end"]["generator"], serde_json::Value::Null, "it is of one process");
}

#[test]
fn each_interval_has_the_transactions_of_each_generator() {
    let out = tempfile::tempdir().unwrap();
    let run = RunWriter::create(out.path(), &run_header()).unwrap();
    let mut trial = run.begin_trial(&trial_header(0)).unwrap();
    let part = |second, transactions| {
        let mut part = interval(Phase::Measure, second);
        part.tally.transactions = transactions;
        part
    };
    // Generators are ahead of each other, and a part comes after its interval was added.
    trial.generator_part(1, &part(1, 30));
    trial.generator_part(1, &part(2, 31));
    trial.generator_part(0, &part(1, 10));
    trial.interval(&interval(Phase::Measure, 1)).unwrap();
    trial.generator_part(0, &part(2, 11));
    trial.interval(&interval(Phase::Measure, 2)).unwrap();
    trial.generator_part(0, &part(1, 5));
    trial.part(&part(1, 5), &[]).unwrap();
    trial.interval(&interval(Phase::Measure, 3)).unwrap();
    let read = &Run::open(run.folder()).unwrap().trials[0];
    let counts: Vec<_> = read.intervals.iter().map(|it| it.generators.clone()).collect();
    assert_eq!(counts, [vec![15, 30], vec![11, 31], vec![]]);
    let lines = fs::read_to_string(run.folder().join("trials/0000/intervals.jsonl")).unwrap();
    let line = lines.lines().next().unwrap();
    assert!(line.ends_with(r#""generators":[10,30]}"#), "{line}");
    assert_eq!(lines.matches("generators").count(), 3);
}

#[test]
fn a_load_of_one_process_is_written_as_before_there_were_generators() {
    let (read, file) = written(&trial_end());
    let end = read.end.unwrap();
    assert_eq!(end.generators, [GeneratorRecord::lone(generator())]);
    assert_eq!((end.lone_generator(), end.generator_parts()), (Some(&generator()), &[][..]));
    assert!(!file.contains("generators"), "{file}");
}

#[test]
fn records_that_tell_nothing_of_their_generator_have_none() {
    let (read, file) = written(&TrialEnd { generators: Vec::new(), ..trial_end() });
    assert_eq!(read.end.unwrap().generators, []);
    assert!(!file.contains("oversleep"), "{file}");
}

#[test]
fn a_single_generator_of_another_host_is_told_apart() {
    let [_, far] = parts().try_into().unwrap();
    let end = TrialEnd { generators: vec![far], ..trial_end() };
    let read = written(&end).0.end.unwrap();
    assert_eq!((read.generator_parts().len(), read.lone_generator()), (1, None));
}
