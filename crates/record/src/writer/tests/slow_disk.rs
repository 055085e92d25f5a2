//! A disk on which no wait ends while the test holds its log.

use super::*;
use crate::disk::{LOG, Log};

/// A run below `out`, and its trial in mid-load, whose saves wait while the log is locked.
fn begin(out: &Path, log: &Log) -> (RunWriter, TrialWriter) {
    let run = RunWriter::create(out, &run_header()).unwrap();
    let mut trial = run.begin_trial(&trial_header(0)).unwrap();
    LOG.set(Some(Arc::clone(log)));
    trial.load_begins(at("2026-07-30T12:00:01Z")).unwrap();
    LOG.set(None);
    (run, trial)
}

#[test]
fn no_call_during_a_load_waits_for_the_disk() {
    let out = tempfile::tempdir().unwrap();
    let log = Log::default();
    let (run, mut trial) = begin(out.path(), &log);
    let busy = log.lock().unwrap();
    for second in 0..3 {
        trial.interval(&interval(Phase::Measure, second)).unwrap();
        trial.outages(&outages()[..1]).unwrap();
    }
    trial.outages(&outages()).unwrap();
    trial.member_exits(member_exits()).unwrap();
    // A crash of dyno would lose no interval now.
    assert_eq!(Run::open(run.folder()).unwrap().trials[0].intervals.len(), 3);
    drop(busy);
    trial.finish(&trial_end()).unwrap();
    let written = trial.read_back().unwrap();
    run.finish(&RunStatus::Complete).unwrap();
    let trial = Run::open(&out.path().join(folder_name(&run_header()))).unwrap().trials.remove(0);
    assert_eq!((trial.outages.as_slice(), trial.intervals.len()), (&outages()[..], 3));
    assert_eq!(trial, written);
}

#[test]
fn what_is_not_saved_yet_is_saved_when_the_writer_goes() {
    let out = tempfile::tempdir().unwrap();
    let (run, mut trial) = begin(out.path(), &Log::default());
    trial.interval(&interval(Phase::Measure, 0)).unwrap();
    trial.outages(&outages()).unwrap();
    drop(trial);
    assert_eq!(Run::open(run.folder()).unwrap().trials[0].outages, outages());
}

#[test]
fn a_save_that_fails_fails_a_later_call() {
    let out = tempfile::tempdir().unwrap();
    let (run, mut trial) = begin(out.path(), &Log::default());
    // A folder, which no file can replace.
    let file = trial.folder().join("trial.json");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    trial.outages(&outages()).unwrap();
    let error = (0..1_000).find_map(|second| {
        std::thread::sleep(Duration::from_millis(10));
        trial.interval(&interval(Phase::Measure, second)).err()
    });
    let text = error.expect("the failure is told").to_string();
    assert!(text.contains("trial.json"), "{text}");
    fs::remove_dir(&file).unwrap();
    trial.finish(&trial_end()).unwrap();
    assert!(Run::open(run.folder()).unwrap().trials[0].end.is_some(), "the end is on the disk");
}
