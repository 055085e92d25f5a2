//! Power cuts: the operations of a run on the disk are logged and cut at every point. What was not synced by then
//! is lost, in part or as a whole, in order or out of order.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::thread;

use super::*;
use crate::disk::{LOG, Operation};

const TRIALS: usize = 2;
const INTERVALS: u64 = 3;

/// How far the run was when the log had a number of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Created,
    Began(usize),
    Interval(usize),
    Ended(usize),
}

/// Writes a run, with all of its operations, and the steps with the number of operations until each.
fn logged(out: &Path) -> (PathBuf, Vec<Operation>, Vec<(usize, Step)>) {
    let mut steps = Vec::new();
    let log = Arc::new(Mutex::new(Vec::new()));
    let mut done = |step| steps.push((log.lock().unwrap().len(), step));
    LOG.set(Some(Arc::clone(&log)));
    let run = RunWriter::create(out, &run_header()).unwrap();
    done(Step::Created);
    for index in 0..TRIALS {
        let mut trial = run.begin_trial(&trial_header(index)).unwrap();
        done(Step::Began(index));
        trial.save_pause = Duration::ZERO;
        trial.load_begins(at("2026-07-30T12:00:01Z")).unwrap();
        for second in 0..INTERVALS {
            let phase = if second == 0 { Phase::WarmUp } else { Phase::Measure };
            trial.interval(&interval(phase, second)).unwrap();
            // It is saved without a further call.
            while !is_saved(&log.lock().unwrap(), &trial.folder().join("intervals.jsonl")) {
                thread::yield_now();
            }
            done(Step::Interval(index));
            trial.outages(&outages()).unwrap();
        }
        trial.finish(&trial_end()).unwrap();
        done(Step::Ended(index));
    }
    let folder = run.folder().to_path_buf();
    run.finish(&RunStatus::Complete).unwrap();
    LOG.set(None);
    let operations = std::mem::take(&mut *log.lock().unwrap());
    (folder, operations, steps)
}

/// Whether a file was synced after the last write.
fn is_saved(operations: &[Operation], path: &Path) -> bool {
    let last = operations.iter().rev().find(|operation| match operation {
        Operation::Sync(of) | Operation::Write(of, _) => of == path,
        _ => false,
    });
    matches!(last, Some(Operation::Sync(_)))
}

/// A file's bytes, and how many of them are on the disk for certain.
#[derive(Clone, Debug, Default)]
struct File {
    bytes: Vec<u8>,
    synced: usize,
}

#[derive(Clone, Debug)]
enum Change {
    Folder(PathBuf),
    File(PathBuf, usize),
    Rename(PathBuf, PathBuf, usize),
}

impl Change {
    fn folder(&self) -> &Path {
        let (Self::Folder(path) | Self::File(path, _) | Self::Rename(_, path, _)) = self;
        path.parent().unwrap()
    }

    /// Makes the change to names; a folder has no file.
    fn apply(&self, names: &mut BTreeMap<PathBuf, Option<usize>>) {
        match self {
            Self::Folder(path) => drop(names.insert(path.clone(), None)),
            Self::File(path, file) => drop(names.insert(path.clone(), Some(*file))),
            Self::Rename(from, to, file) => {
                names.remove(from);
                names.insert(to.clone(), Some(*file));
            }
        }
    }
}

/// A disk after some operations.
#[derive(Default)]
struct Disk {
    files: Vec<File>,
    /// The names that programs see.
    seen: BTreeMap<PathBuf, Option<usize>>,
    /// The names that are on the disk for certain.
    synced: BTreeMap<PathBuf, Option<usize>>,
    /// The changes of names that may be lost.
    unsynced: Vec<Change>,
}

impl Disk {
    fn after(operations: &[Operation]) -> Self {
        let mut disk = Self::default();
        operations.iter().for_each(|operation| disk.apply(operation));
        disk
    }

    fn file(&mut self, path: &Path) -> &mut File {
        &mut self.files[self.seen[path].unwrap()]
    }

    fn change(&mut self, change: Change) {
        change.apply(&mut self.seen);
        self.unsynced.push(change);
    }

    fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::CreateFolder(path) => self.change(Change::Folder(path.clone())),
            Operation::Create(path) => {
                self.files.push(File::default());
                self.change(Change::File(path.clone(), self.files.len() - 1));
            }
            Operation::Write(path, bytes) => self.file(path).bytes.extend_from_slice(bytes),
            Operation::Sync(path) => {
                let file = self.file(path);
                file.synced = file.bytes.len();
            }
            Operation::Rename(from, to) => {
                let file = self.seen[from].unwrap();
                self.change(Change::Rename(from.clone(), to.clone(), file));
            }
            Operation::SyncFolder(path) => {
                let (synced, unsynced) =
                    self.unsynced.drain(..).partition(|change| change.folder() == path);
                let synced: Vec<Change> = synced;
                synced.iter().for_each(|change| change.apply(&mut self.synced));
                self.unsynced = unsynced;
            }
        }
    }

    /// Writes what a power cut leaves into the folder `to`, in place of `from`. `choose` gets a number and returns
    /// one that is not larger: how much of something survives.
    fn write(&self, (from, to): (&Path, &Path), mut choose: impl FnMut(usize) -> usize) {
        let mut names = self.synced.clone();
        let kept = self.unsynced.iter().filter(|_| choose(1) == 1);
        kept.for_each(|change| change.apply(&mut names));
        // Parents come before their children in the order of names.
        for (path, file) in &names {
            let place = to.join(path.strip_prefix(from).unwrap());
            let Some(file) = file.map(|file| &self.files[file]) else {
                let _ = fs::create_dir(place);
                continue;
            };
            let unsynced = file.bytes.len() - file.synced;
            let kept = file.synced + choose(unsynced);
            let mut bytes = file.bytes[..kept].to_vec();
            // A file can have its new length before its new bytes: zeros follow.
            bytes.resize(kept + choose(file.bytes.len() - kept), 0);
            // Without its folder the file is lost.
            let _ = fs::write(place, bytes);
        }
    }
}

/// What every power cut must leave.
fn check(folder: &Path, whole: &Run, steps: &[Step]) {
    let is_created = steps.contains(&Step::Created);
    let read = match Run::open(folder) {
        Ok(read) => read,
        Err(RecordError::NotARun { .. }) if !is_created => return,
        Err(error) => panic!("{error} after {steps:?}"),
    };
    assert_eq!(read.header, whole.header);
    for (index, expected) in whole.trials.iter().enumerate() {
        let trial = read.trials.iter().find(|trial| trial.header.index == index);
        let Some(trial) = trial else {
            assert!(!steps.contains(&Step::Began(index)), "trial {index} is lost after {steps:?}");
            continue;
        };
        assert_eq!(trial.damage, None, "after {steps:?}");
        if steps.contains(&Step::Ended(index)) {
            assert_eq!(trial, expected);
        }
        let certain = steps.iter().filter(|step| **step == Step::Interval(index)).count();
        assert!(trial.intervals.len() >= certain, "{} after {steps:?}", trial.intervals.len());
        assert_eq!(trial.intervals, expected.intervals[..trial.intervals.len()]);
    }
}

#[test]
fn a_power_cut_at_any_point_loses_at_most_the_interval_in_hand() {
    let out = tempfile::tempdir().unwrap();
    let (folder, operations, steps) = logged(out.path());
    let whole = Run::open(&folder).unwrap();
    assert_eq!(whole.trials_done(), TRIALS);
    for cut in 0..=operations.len() {
        let disk = Disk::after(&operations[..cut]);
        let steps = steps.iter().filter(|(at, _)| *at <= cut).map(|(_, step)| *step);
        let steps: Vec<Step> = steps.collect();
        let mut random = 0x9e37_79b9_7f4a_7c15_u64 ^ cut as u64;
        let mut draw = move |most: usize| {
            // Source: Marsaglia, Xorshift RNGs, 2003.
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random as usize % (most + 1)
        };
        let replay = |choose: &mut dyn FnMut(usize) -> usize| {
            let after = tempfile::tempdir().unwrap();
            disk.write((out.path(), after.path()), choose);
            check(&after.path().join(folder.file_name().unwrap()), &whole, &steps);
        };
        replay(&mut |_| 0);
        replay(&mut |most| most);
        for _ in 0..4 {
            replay(&mut draw);
            // Each file all or nothing: what refers to another file can be there alone.
            replay(&mut |most| draw(1) * most);
        }
    }
}
