//! Runs of many trials: reading uses all cores, and keeps packed histograms only.

use super::*;

const TRIALS: usize = 40;

/// A run whose trial `n` has an interval of its own values, `n + 1` times as long as those of the first.
fn many_trials(out: &Path) -> RunWriter {
    let run = RunWriter::create(out, &run_header()).unwrap();
    for index in 0..TRIALS {
        let mut trial = run.begin_trial(&trial_header(index)).unwrap();
        trial.interval(&interval(Phase::Measure, index as u64)).unwrap();
        trial.finish(&trial_end()).unwrap();
    }
    run
}

#[test]
fn trials_that_all_cores_read_are_in_order_and_exact() {
    let out = tempfile::tempdir().unwrap();
    let run = many_trials(out.path());
    let trials = Run::open(run.folder()).unwrap().trials;
    assert_eq!(trials.len(), TRIALS);
    for (index, trial) in trials.iter().enumerate() {
        assert_eq!(trial.header.index, index);
        assert_eq!(trial.total, interval(Phase::Measure, index as u64).tally);
        let slowest = &trial.total.operations[1].succeeded;
        let exact_ns = 1_000 * 1_234 * (index as u64 + 1);
        assert!((slowest.max_ns() as f64 / exact_ns as f64 - 1.0).abs() < 1e-3);
    }
}

#[test]
fn damaged_trials_hide_no_others() {
    let out = tempfile::tempdir().unwrap();
    let run = many_trials(out.path());
    let damaged = [7, 8, 21, 39];
    for index in damaged {
        let path = run.folder().join(format!("trials/{index:04}/intervals.jsonl"));
        fs::write(path, "{\n").unwrap();
    }
    let read = Run::open(run.folder()).unwrap();
    assert_eq!((read.trials.len(), read.trials_done()), (TRIALS, TRIALS - damaged.len()));
    for trial in &read.trials {
        let expected = damaged.contains(&trial.header.index).then_some(("intervals.jsonl", 1));
        assert_eq!(trial.damage.as_ref().map(|it| (it.file.as_str(), it.line)), expected);
        assert_eq!(trial.intervals.len(), usize::from(expected.is_none()));
    }
}

#[test]
fn what_was_read_takes_four_bytes_at_most_for_each_value_that_occurred() {
    let out = tempfile::tempdir().unwrap();
    let run = many_trials(out.path());
    for trial in Run::open(run.folder()).unwrap().trials {
        let edges = &trial.end.as_ref().unwrap().edges;
        let tallies = [&trial.total.operations, &edges.before, &edges.drain.operations];
        let tallies = tallies.into_iter().flatten();
        let kept = tallies.flat_map(|it| [&it.succeeded, &it.timed_out, &it.failed, &it.service]);
        let intervals = trial.intervals.iter().map(|interval| &interval.latencies);
        for histogram in kept.chain(intervals) {
            let most = 4 * histogram.values().count();
            assert!(histogram.bytes() <= most, "{} of {most} bytes", histogram.bytes());
        }
    }
}
