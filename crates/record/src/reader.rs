//! Reads runs back, whole or cut short.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use measure::{Operation, OperationTally, Watched};

use crate::cores::on_all_cores;
use crate::hlog::{Kind, Log};
use crate::wire::{IntervalLine, RunFile, TrialFile, WatchLine};
use crate::{RecordError, Run, RunStatus, TrialRecord, watch, wire, zipped};

/// Summary of a run, for lists of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSummary {
    /// Its folder.
    pub folder: PathBuf,
    /// The plan's name.
    pub plan_name: String,
    /// The plan's title.
    pub title: Option<String>,
    /// When it began, by the wall clock.
    pub started: Timestamp,
    /// When it ended; `None` when it was cut short or still runs.
    pub ended: Option<Timestamp>,
    /// How it ended.
    pub status: RunStatus,
}

/// The runs below a results folder.
#[derive(Debug, Default)]
pub struct Runs {
    /// Runs that can be read, the oldest first.
    pub readable: Vec<RunSummary>,
    /// Errors of the other runs, each with its folder, in the order of the folders.
    pub unreadable: Vec<(PathBuf, RecordError)>,
}

/// Every run below a results folder. Folders without a run are left out; a folder that does not exist has no
/// runs.
///
/// # Errors
/// When the folder itself cannot be read.
pub fn list(out: &Path) -> Result<Runs, RecordError> {
    let entries = match fs::read_dir(out) {
        Ok(entries) => entries,
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(Runs::default()),
        Err(cause) => return Err(RecordError::io("read", out, cause)),
    };
    let mut runs = Runs::default();
    for folder in entries.flatten().map(|entry| entry.path()) {
        let is_written = is_written(&folder);
        match run_file(&folder) {
            Ok(file) => runs.readable.push(file.summary(folder, is_written)),
            Err(RecordError::NotARun { .. }) => {}
            Err(cause) => runs.unreadable.push((folder, cause)),
        }
    }
    runs.readable.sort_by(|a, b| (a.started, &a.folder).cmp(&(b.started, &b.folder)));
    runs.unreadable.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(runs)
}

impl Run {
    /// Reads a run. A run that was cut short is read up to the cut and has [`RunStatus::Cut`].
    ///
    /// # Errors
    /// When the folder contains no run, a newer dyno wrote it, or a file in it is damaged.
    pub fn open(folder: &Path) -> Result<Self, RecordError> {
        read_run(folder, Extent::Whole)
    }

    /// Reads a run without what was watched of hosts and servers, which may be most of it.
    ///
    /// # Errors
    /// As [`Run::open`].
    pub fn open_unwatched(folder: &Path) -> Result<Self, RecordError> {
        read_run(folder, Extent::Unwatched)
    }
}

/// How much of a trial is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    Whole,
    /// Without what was watched of hosts and servers.
    Unwatched,
}

fn read_run(folder: &Path, extent: Extent) -> Result<Run, RecordError> {
    // The lock is checked first: a run that ends in between then reads as complete.
    let is_written = is_written(folder);
    let file = run_file(folder)?;
    let plan = read_optional(&folder.join("plan.toml"))?.unwrap_or_default();
    let plan_text = String::from_utf8_lossy(&plan).into_owned();
    let status = file.status(is_written);
    let ended = file.ended();
    let header = file.into_header(plan_text);
    let trials = trials(&folder.join("trials"), extent)?;
    Ok(Run { folder: folder.to_path_buf(), header, trials, status, ended })
}

fn run_file(folder: &Path) -> Result<RunFile, RecordError> {
    let path = folder.join("run.json");
    let bytes =
        read_optional(&path)?.ok_or_else(|| RecordError::NotARun { path: folder.to_path_buf() })?;
    wire::parse(&path, &bytes)
}

/// Whether a writer still holds the run's lock.
fn is_written(folder: &Path) -> bool {
    File::open(folder.join(".lock"))
        .is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(fs::TryLockError::WouldBlock)))
}

fn read_optional(path: &Path) -> Result<Option<Vec<u8>>, RecordError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(cause) if matches!(cause.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(cause) => Err(RecordError::io("read", path, cause)),
    }
}

fn trials(folder: &Path, extent: Extent) -> Result<Vec<TrialRecord>, RecordError> {
    let failed = |cause: io::Error| RecordError::io("read", folder, cause);
    let mut trials = Vec::new();
    match fs::read_dir(folder) {
        // The run was cut before this folder was created.
        Err(cause) if cause.kind() == ErrorKind::NotFound => {}
        Err(cause) => return Err(failed(cause)),
        Ok(entries) => {
            let folders = entries.map(|entry| Ok(entry.map_err(failed)?.path()));
            let mut folders = folders.collect::<Result<Vec<PathBuf>, RecordError>>()?;
            folders.sort();
            for trial in on_all_cores(&folders, |folder| trial(folder, extent)) {
                trials.extend(trial?);
            }
        }
    }
    trials.sort_by_key(|trial| trial.header.index);
    Ok(trials)
}

/// A trial; `None` when the run was cut before its trial.json was written.
fn trial(folder: &Path, extent: Extent) -> Result<Option<TrialRecord>, RecordError> {
    let path = folder.join("trial.json");
    let Some(bytes) = read_optional(&path)? else { return Ok(None) };
    let file: TrialFile = wire::parse(&path, &bytes)?;
    let mut record = file.into_record().map_err(|what| RecordError::malformed(&path, 0, what))?;
    add_intervals(&mut record, folder)?;
    if extent == Extent::Whole {
        record.watched = watched(folder)?;
    }
    Ok(Some(record))
}

/// Adds the intervals of a trial, up to a cut.
pub(crate) fn add_intervals(record: &mut TrialRecord, folder: &Path) -> Result<(), RecordError> {
    let path = folder.join("intervals.jsonl");
    let lines = read_optional(&path)?.unwrap_or_default();
    let log_path = folder.join("latency.hlog");
    let log = read_optional(&log_path)?.unwrap_or_default();
    let mut log = Log::new(&log_path, &log);
    for (index, line) in whole_lines(&lines).enumerate() {
        let damaged = |what: String| RecordError::malformed(&path, index + 1, what);
        let line: IntervalLine =
            serde_json::from_slice(line).map_err(|error| damaged(error.to_string()))?;
        if line.operations.len() != record.header.operations.len() {
            let known = record.header.operations.len();
            return Err(damaged(format!("{} operations, not {known}", line.operations.len())));
        }
        let operations = histograms(&record.header.operations, &line, &mut log)?;
        record.add(&line.into_interval(operations).map_err(damaged)?);
    }
    record.total.pack();
    Ok(())
}

/// The watched data up to a cut; empty when the record has none.
fn watched(folder: &Path) -> Result<Watched, RecordError> {
    let path = folder.join(watch::FILE);
    let lines = read_optional(&path)?.unwrap_or_default();
    let mut watched = Watched::default();
    for (index, line) in whole_lines(&lines).enumerate() {
        add_watched(&mut watched, &path, index + 1, line)?;
    }
    let path = folder.join(watch::SERVERS_FILE);
    match File::open(&path) {
        Ok(file) => zipped::each_line(&path, file, |number, line| {
            add_watched(&mut watched, &path, number, line)
        })?,
        Err(cause) if cause.kind() == ErrorKind::NotFound => {}
        Err(cause) => return Err(RecordError::io("read", &path, cause)),
    }
    Ok(watched)
}

fn add_watched(
    watched: &mut Watched,
    path: &Path,
    number: usize,
    line: &[u8],
) -> Result<(), RecordError> {
    let damaged = |what: String| RecordError::malformed(path, number, what);
    let line: WatchLine =
        serde_json::from_slice(line).map_err(|error| damaged(error.to_string()))?;
    line.add_to(watched).map_err(damaged)
}

/// The complete lines: anything after the last end of line was broken off by a crash.
fn whole_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
    bytes[..end].split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

fn histograms(
    operations: &[Operation],
    line: &IntervalLine,
    log: &mut Log<'_>,
) -> Result<Vec<OperationTally>, RecordError> {
    operations
        .iter()
        .zip(&line.operations)
        .map(|(operation, counts)| {
            Ok(OperationTally {
                succeeded: log.next(line.phase, operation, Kind::Succeeded, counts.succeeded)?,
                timed_out: log.next(line.phase, operation, Kind::TimedOut, counts.timed_out)?,
                failed: log.next(line.phase, operation, Kind::Failed, counts.failed)?,
                service: log.next(line.phase, operation, Kind::Service, counts.service)?,
            })
        })
        .collect()
}
