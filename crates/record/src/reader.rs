//! Reads runs back, whole or cut short.

use std::fs;
use std::io::{self, BufRead, ErrorKind};
use std::path::{Path, PathBuf};

use measure::{Operation, OperationTally, Watched};

use crate::cores::on_all_cores;
use crate::file_names::{INTERVALS, PLAN_FILES, TRIAL};
use crate::hlog::{Kind, Log};
use crate::input::{self, Lines};
use crate::run_names::is_name;
use crate::wire::{IntervalLine, PlanFilesFile, RunFile, TrialFile, WatchLine};
use crate::{Damage, PlanFile, RecordError, Run, RunSummary, TrialRecord, watch, wire, zipped};

/// The runs below a results folder.
#[derive(Debug, Default)]
pub struct Runs {
    /// Runs that can be read, the oldest first.
    pub readable: Vec<RunSummary>,
    /// Errors of the other runs, each with its folder, in the order of the folders.
    pub unreadable: Vec<(PathBuf, RecordError)>,
}

/// Every run below a results folder. Folders without a run are left out, and so are names of runs; a folder that does not exist has no
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
    let folders = entries.flatten().map(|entry| entry.path());
    for folder in folders.filter(|entry| !is_name(out, entry)) {
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
    /// Reads a run. A run that was cut short is read up to the cut and has [`RunStatus::Cut`]. A trial with a damaged
    /// file is read up to the damage, which [`TrialRecord::damage`] names.
    ///
    /// # Errors
    /// When the folder contains no run, a newer dyno wrote it, or its run.json is damaged. A damaged plan.toml is
    /// [`Run::plan_damage`].
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
    let (plan_text, plan_damage) = plan(folder);
    let (files, files_damage) = plan_files(folder);
    let plan_damage = plan_damage.or(files_damage);
    let status = file.status(is_written);
    let ended = file.ended();
    let header = file.into_header(plan_text, files);
    let trials = trials(&folder.join("trials"), extent)?;
    Ok(Run { folder: folder.to_path_buf(), header, plan_damage, trials, status, ended })
}

/// The text of the plan as far as it can be read, and its damage. It is written before run.json, so that a run has one.
fn plan(folder: &Path) -> (String, Option<Damage>) {
    let path = folder.join("plan.toml");
    let damaged = |what: &str| Damage::from(RecordError::malformed(&path, 0, what));
    match input::read(&path).map(|bytes| bytes.map(String::from_utf8)) {
        Ok(Some(Ok(text))) => (text, None),
        Ok(Some(Err(error))) => {
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            (text, Some(damaged("it is no UTF-8")))
        }
        Ok(None) => (String::new(), Some(damaged("it is missing"))),
        Err(error) => (String::new(), Some(Damage::from(error))),
    }
}

/// The files that the plan names, and their damage. A run whose plan names none has no file of them.
fn plan_files(folder: &Path) -> (Vec<PlanFile>, Option<Damage>) {
    let path = folder.join(PLAN_FILES);
    let parse = |bytes: Vec<u8>| wire::parse::<PlanFilesFile>(&path, &bytes).map(|it| it.files);
    let read = input::read(&path).and_then(|bytes| bytes.map_or(Ok(Vec::new()), parse));
    match read {
        Ok(files) => (files, None),
        Err(error) => (Vec::new(), Some(Damage::from(error))),
    }
}

fn run_file(folder: &Path) -> Result<RunFile, RecordError> {
    let path = folder.join("run.json");
    let bytes =
        input::read(&path)?.ok_or_else(|| RecordError::NotARun { path: folder.to_path_buf() })?;
    let file: RunFile = wire::parse(&path, &bytes)?;
    file.check().map_err(|what| RecordError::malformed(&path, 0, what))?;
    Ok(file)
}

/// Whether a writer still holds the run's lock.
fn is_written(folder: &Path) -> bool {
    let lock = input::open(&folder.join(".lock")).ok().flatten();
    lock.is_some_and(|lock| matches!(lock.try_lock_shared(), Err(fs::TryLockError::WouldBlock)))
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
            let read = on_all_cores(&folders, |folder| trial(folder, extent));
            trials.extend(read.into_iter().flatten());
        }
    }
    trials.sort_by_key(|trial| trial.header.index);
    Ok(trials)
}

/// A trial, up to its damage when it has any; `None` when the run was cut before its trial.json was written.
fn trial(folder: &Path, extent: Extent) -> Option<TrialRecord> {
    let path = folder.join(TRIAL);
    let file = match input::read(&path) {
        Ok(Some(bytes)) => wire::parse::<TrialFile>(&path, &bytes),
        Ok(None) if !has_intervals(folder) => return None,
        Ok(None) => Err(RecordError::malformed(&path, 0, "it is missing")),
        Err(error) => Err(error),
    };
    let record = file.and_then(|file| {
        let planned = file.interval_lines();
        let record = file.into_record();
        Ok((record.map_err(|what| RecordError::malformed(&path, 0, what))?, planned))
    });
    Some(match record {
        Ok((mut record, planned)) => {
            let read = add_intervals(&mut record, folder, planned);
            record.damage = read.err().map(Damage::from);
            if extent == Extent::Whole {
                let watched = add_all_watched(&mut record.watched, folder);
                record.damage = record.damage.or(watched.err().map(Damage::from));
            }
            record
        }
        Err(error) => {
            let index = folder.file_name().and_then(|name| name.to_str()?.parse().ok());
            let mut record = TrialRecord::unknown(index.unwrap_or_default());
            // The damage of trial.json is the reason for any other.
            let _ = add_intervals(&mut record, folder, None);
            TrialRecord { damage: Some(Damage::from(error)), ..record }
        }
    })
}

fn has_intervals(folder: &Path) -> bool {
    fs::metadata(folder.join(INTERVALS)).is_ok_and(|metadata| metadata.len() > 0)
}

/// Adds the intervals of a trial, up to a cut or to damage; `planned` is how many lines its trial.json has counted at its
/// end.
///
/// # Errors
/// The damage.
pub(crate) fn add_intervals(
    record: &mut TrialRecord,
    folder: &Path,
    planned: Option<u64>,
) -> Result<(), RecordError> {
    let mut lines = Lines::of_file(&folder.join(INTERVALS))?;
    let log = Log::new(Lines::of_file(&folder.join("latency.hlog"))?);
    let added = add_lines(record, &mut lines, log, planned);
    record.total.pack();
    added
}

/// As [`add_intervals`], of lines and their histograms.
///
/// # Errors
/// The damage.
pub(crate) fn add_lines(
    record: &mut TrialRecord,
    lines: &mut Lines<Box<dyn BufRead>>,
    mut log: Log,
    planned: Option<u64>,
) -> Result<(), RecordError> {
    let operations = record.header.operations.clone();
    let mut read = 0;
    while let Some(line) = lines.next()? {
        read += 1;
        let line: Result<IntervalLine, _> = serde_json::from_slice(line);
        let mut line = line.map_err(|error| lines.damaged(error.to_string()))?;
        // Where the operations are not known, because trial.json is damaged, the counters are.
        if !operations.is_empty() && line.operations.len() != operations.len() {
            let what = format!("{} operations, not {}", line.operations.len(), operations.len());
            return Err(lines.damaged(what));
        }
        let histograms = match histograms(&operations, &line, &mut log) {
            // A power cut can leave the line of an interval that was not saved, and take its histograms.
            Err(_) if record.end.is_none() && log.is_over() && lines.next()?.is_none() => break,
            histograms => histograms?,
        };
        let generators = line.take_generators().map_err(|what| lines.damaged(what))?;
        let interval = line.into_interval(histograms).map_err(|what| lines.damaged(what))?;
        record.add_shared(&interval, generators);
    }
    if record.end.is_some() {
        log.end()?;
    }
    match planned {
        Some(planned) if planned != read => {
            let what = format!("it ends early: trial.json counts {planned} lines");
            Err(lines.damaged_after(what))
        }
        _ => Ok(()),
    }
}

/// Adds the watched data of a trial, up to a cut or to damage; nothing when the record has none.
///
/// # Errors
/// The damage.
fn add_all_watched(watched: &mut Watched, folder: &Path) -> Result<(), RecordError> {
    add_watched_hosts(watched, folder)?;
    let path = folder.join(watch::SERVERS_FILE);
    let Some(file) = input::open(&path)? else { return Ok(()) };
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    add_watched(watched, &mut zipped::lines(&path, file, length))
}

/// Adds what was watched of hosts and processes, up to a cut or to damage; nothing when the record has none.
///
/// # Errors
/// The damage.
pub(crate) fn add_watched_hosts(watched: &mut Watched, folder: &Path) -> Result<(), RecordError> {
    add_watched(watched, &mut Lines::of_file(&folder.join(watch::FILE))?)
}

/// Adds watched data, up to damage.
///
/// # Errors
/// The damage.
pub(crate) fn add_watched<R: BufRead>(
    watched: &mut Watched,
    lines: &mut Lines<R>,
) -> Result<(), RecordError> {
    while let Some(line) = lines.next()? {
        let line: Result<WatchLine, _> = serde_json::from_slice(line);
        let line = line.map_err(|error| lines.damaged(error.to_string()))?;
        line.add_to(watched).map_err(|what| lines.damaged(what))?;
    }
    Ok(())
}

fn histograms(
    operations: &[Operation],
    line: &IntervalLine,
    log: &mut Log,
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
