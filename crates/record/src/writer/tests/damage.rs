//! Records that a disk or a person has damaged: the trial that is damaged keeps what could be read, and hides no
//! other.

use super::*;
use crate::Damage;

/// A run of two trials of three intervals each, and the folder of the first.
fn two_trials(out: &Path) -> (RunWriter, PathBuf) {
    let run = RunWriter::create(out, &run_header()).unwrap();
    for index in [0, 1] {
        write_trial_at(&run, index).finish(&trial_end()).unwrap();
    }
    let folder = run.folder().join("trials/0000");
    (run, folder)
}

/// Reads the run: the first trial has damage in `file` at `line` and `intervals` before it, the second one is whole.
fn damage(run: &RunWriter, file: &str, line: usize, intervals: usize) -> TrialRecord {
    let mut read = Run::open(run.folder()).unwrap();
    assert_eq!(read.trials_done(), 1);
    let (whole, damaged) = (read.trials.pop().unwrap(), read.trials.pop().unwrap());
    assert_eq!((whole.header.index, whole.damage, whole.intervals.len()), (1, None, 3));
    let named = damaged.damage.as_ref().map(|damage| (damage.file.as_str(), damage.line));
    assert_eq!(named, Some((file, line)), "{:?}", damaged.damage);
    assert_eq!(damaged.intervals.len(), intervals);
    assert!(!damaged.is_done());
    damaged
}

fn what(trial: &TrialRecord) -> &str {
    trial.damage.as_ref().map_or("", |damage| &damage.what)
}

/// Changes a line of a file, counted from 1.
fn change_line(path: &Path, number: usize, change: impl Fn(&str) -> String) {
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().zip(1..);
    let changed = lines.map(|(line, at)| if at == number { change(line) } else { line.to_owned() });
    fs::write(path, changed.map(|line| line + "\n").collect::<String>()).unwrap();
}

#[test]
fn a_broken_line_is_named_and_the_intervals_before_it_are_kept() {
    let out = tempfile::tempdir().unwrap();
    let (run, folder) = two_trials(out.path());
    let whole = Run::open(run.folder()).unwrap().trials.remove(0);
    let path = folder.join("intervals.jsonl");
    for broken in ["{", "\0\0\0\0\0\0\0\0", "[]"] {
        change_line(&path, 3, |_| broken.to_owned());
        let read = damage(&run, "intervals.jsonl", 3, 2);
        assert_eq!(read.intervals, whole.intervals[..2]);
        assert_eq!(read.total, interval(Phase::Measure, 1).tally, "the warm-up does not count");
        assert_eq!(read.end, whole.end);
    }
    assert_eq!(
        Damage { file: "x".to_owned(), line: 3, what: "y".to_owned() }.to_string(),
        "x is damaged at line 3: y"
    );
}

#[test]
fn a_line_of_another_operation_is_damage() {
    let out = tempfile::tempdir().unwrap();
    let (run, folder) = two_trials(out.path());
    let log = folder.join("latency.hlog");
    // Four lines of comments; the second interval has five histograms from line 10 on.
    change_line(&log, 12, |line| line.replace("Tag=", "Tag=other/"));
    let read = damage(&run, "latency.hlog", 12, 1);
    assert!(what(&read).starts_with("found tag `other/"), "{}", what(&read));
}

#[test]
fn a_cut_latency_log_keeps_the_intervals_before_the_cut() {
    let out = tempfile::tempdir().unwrap();
    let (run, folder) = two_trials(out.path());
    let log = folder.join("latency.hlog");
    let bytes = fs::read(&log).unwrap();
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    let ends: Vec<usize> = ends.collect();
    // In the middle of line 16: the third interval has lines 15 to 19.
    fs::write(&log, &bytes[..ends[15] - 9]).unwrap();
    let read = damage(&run, "latency.hlog", 16, 2);
    assert!(what(&read).starts_with("a line with tag `"), "{}", what(&read));
    fs::write(&log, "").unwrap();
    damage(&run, "latency.hlog", 1, 0);
}

/// As a power cut may leave it; anything else that is missing is damage.
#[test]
fn in_a_trial_that_was_cut_the_last_interval_may_lack_its_histograms() {
    let out = tempfile::tempdir().unwrap();
    let run = RunWriter::create(out.path(), &run_header()).unwrap();
    drop(write_trial_at(&run, 0));
    let log = run.folder().join("trials/0000/latency.hlog");
    let whole = fs::read_to_string(&log).unwrap();
    let read = |lines: usize| {
        fs::write(&log, whole.split_inclusive('\n').take(lines).collect::<String>()).unwrap();
        let trial = Run::open(run.folder()).unwrap().trials.pop().unwrap();
        (trial.intervals.len(), trial.damage.map(|damage| damage.line))
    };
    // The second interval has the lines 10 to 14, the third one 15 to 19.
    assert_eq!(read(19), (3, None));
    (14..19).for_each(|lines| assert_eq!(read(lines), (2, None), "{lines}"));
    (9..14).for_each(|lines| assert_eq!(read(lines), (1, Some(lines + 1)), "{lines}"));
    fs::write(&log, &whole).unwrap();
    change_line(&log, 19, |line| line.replace("Tag=", "Tag=other/"));
    let trial = Run::open(run.folder()).unwrap().trials.pop().unwrap();
    assert_eq!(trial.damage.map(|damage| damage.line), Some(19));
}

/// A complete trial that reads as one that ended early is a false result.
#[test]
fn intervals_that_are_missing_in_a_trial_that_ended_are_damage() {
    let out = tempfile::tempdir().unwrap();
    let (run, folder) = two_trials(out.path());
    let lines = fs::read(folder.join("intervals.jsonl")).unwrap();
    let last = lines[..lines.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for cut in [last, last + 1, lines.len() - 1] {
        fs::write(folder.join("intervals.jsonl"), &lines[..cut]).unwrap();
        let read = damage(&run, "latency.hlog", 15, 2);
        assert!(what(&read).contains("its interval is missing in intervals.jsonl"), "{read:?}");
    }
    // Where the log was cut at the same interval, the number in trial.json shows it.
    let log = fs::read_to_string(folder.join("latency.hlog")).unwrap();
    let cut: Vec<&str> = log.lines().take(14).collect();
    fs::write(folder.join("latency.hlog"), cut.join("\n") + "\n").unwrap();
    let read = damage(&run, "intervals.jsonl", 3, 2);
    assert_eq!(what(&read), "it ends early: trial.json counts 3 lines");
}

#[test]
fn without_trial_json_the_counters_are_kept() {
    let out = tempfile::tempdir().unwrap();
    let (run, folder) = two_trials(out.path());
    let path = folder.join("trial.json");
    let (whole, other) =
        (fs::read(&path).unwrap(), "{\"format\": \"dyno-record\", \"version\": 9}");
    let cut_line = whole[..200].split(|byte| *byte == b'\n').count();
    for (bytes, line) in
        [(&b""[..], 1), (&whole[..200], cut_line), (&[0; 900][..], 1), (other.as_bytes(), 0)]
    {
        fs::write(&path, bytes).unwrap();
        let read = damage(&run, "trial.json", line, 3);
        assert_eq!((read.header.system.as_str(), read.header.operations.len()), ("unknown", 0));
        let counted = interval(Phase::Measure, 1).tally.transactions * 2;
        assert_eq!((read.total.transactions, read.end), (counted, None));
    }
    fs::remove_file(&path).unwrap();
    assert_eq!(what(&damage(&run, "trial.json", 0, 3)), "it is missing");
    // A trial that was cut before its trial.json was written has nothing.
    fs::write(folder.join("intervals.jsonl"), "").unwrap();
    assert_eq!(Run::open(run.folder()).unwrap().trials.len(), 1);
}

#[test]
fn damaged_watched_data_are_kept_up_to_the_damage() {
    let out = tempfile::tempdir().unwrap();
    let (run, folder) = two_trials(out.path());
    let line = "{\"what\":\"no-connections\",\"reason\":\"a socket\"}\n";
    fs::write(folder.join("watch.jsonl"), format!("{line}{{}}\n")).unwrap();
    let read = damage(&run, "watch.jsonl", 2, 3);
    assert_eq!(read.watched.connections.absent.as_deref(), Some("a socket"));
    fs::write(folder.join("watch.jsonl"), line).unwrap();
    fs::write(folder.join("servers.jsonl.gz"), "a text and no gzip").unwrap();
    damage(&run, "servers.jsonl.gz", 1, 3);
    assert!(Run::open_unwatched(run.folder()).unwrap().trials[0].damage.is_none());
}

#[test]
fn a_pipe_or_a_device_in_place_of_a_file_is_damage() {
    let out = tempfile::tempdir().unwrap();
    let (run, folder) = two_trials(out.path());
    let path = folder.join("intervals.jsonl");
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    assert_eq!(what(&damage(&run, "intervals.jsonl", 0, 0)), "it is no regular file");
}

#[test]
fn a_damaged_plan_hides_no_trial() {
    let out = tempfile::tempdir().unwrap();
    let (run, _) = two_trials(out.path());
    let path = run.folder().join("plan.toml");
    let whole = Run::open(run.folder()).unwrap();
    assert_eq!((whole.trials_done(), &whole.plan_damage), (2, &None));
    let assert_damaged = |text: &str, reason: &str| {
        let read = Run::open(run.folder()).unwrap();
        let damage = read.plan_damage.as_ref().unwrap();
        let found = (damage.file.as_str(), damage.line, damage.what.as_str());
        assert_eq!(found, ("plan.toml", 0, reason));
        assert_eq!((read.header.plan_text.as_str(), &read.trials), (text, &whole.trials));
        let told = format!("plan.toml is damaged: {reason}");
        assert_eq!(read.shown_plan(), if text.is_empty() { &told } else { text });
    };
    fs::write(&path, b"name = \"\xff\"").unwrap();
    assert_damaged("name = \"\u{fffd}\"", "it is no UTF-8");
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    assert_damaged("", "it has more than 33554432 bytes");
    fs::remove_file(&path).unwrap();
    assert_damaged("", "it is missing");
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert_damaged("", "it is no regular file");
}
