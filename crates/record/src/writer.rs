//! Writes a run while it is running.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use measure::{Ceiling, Condition, Interval, MemberExit, Nanos, Outage, QueryPlan, Why, sum};

use crate::disk::{self, NewFile};
use crate::file_names::{INTERVALS, PLAN_FILES, TRIAL};
use crate::files::{Appender, replace, sync_folder};
use crate::saver::{Saved, Saver};
use crate::wire::{PlanFilesFile, RunFile, TrialFile, interval_line};
use crate::{
    PhaseRecord, RecordError, RunHeader, RunStatus, TrialEnd, TrialHeader, TrialRecord,
    TrialStatus, WatchWriter, hlog, wire, without_secrets,
};

/// Disk space that is reserved for the run's end, in case the disk is full by then.
const ROOM_BYTES: usize = 64 * 1024;

/// The least time from one save during a load to the next. Each interval of a second is saved before the next one
/// ends. A short interval may wait for this long, so that the disk of the system under test is not busy with the
/// record.
const SAVE_PAUSE: Duration = Duration::from_millis(500);

/// Number of runs of one plan that can start within one second.
const FOLDERS_PER_SECOND: u32 = 1_000;

/// Writes one run. If it is dropped without [`RunWriter::finish`], the run reads as cut.
#[derive(Debug)]
pub struct RunWriter {
    folder: PathBuf,
    /// The folders above it that did not exist before, the innermost one first.
    made_above: Vec<PathBuf>,
    header: RunHeader,
    /// Locked during the run, so that readers can distinguish a running run from one that was cut. The file
    /// also reserves the disk space.
    lock: NewFile,
}

impl RunWriter {
    /// Creates a new folder `<start in UTC>-<plan name>` below `out` (created when missing) and writes the
    /// header into it. Texts of the header pass through the scrubber once more.
    ///
    /// # Errors
    /// When the folder or a file cannot be created.
    pub fn create(out: &Path, header: &RunHeader) -> Result<Self, RecordError> {
        let header = header.clone().without_secrets();
        let made_above = disk::missing_folders(out).map(Path::to_path_buf).collect();
        let folder = make_folder(out, &header)?;
        let lock = lock(&folder)?;
        let trials = folder.join("trials");
        disk::create_folder(&trials).map_err(|cause| RecordError::io("create", &trials, cause))?;
        replace(&folder.join("plan.toml"), header.plan_text.as_bytes())?;
        if !header.files.is_empty() {
            replace(&folder.join(PLAN_FILES), &wire::pretty(&PlanFilesFile::of(&header.files)))?;
        }
        let writer = Self { folder, made_above, header, lock };
        writer.write(&RunStatus::Running, None)?;
        sync_folder(out)?;
        Ok(writer)
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts the record of one trial. When this returns, no crash loses that it has begun.
    ///
    /// # Errors
    /// When its files cannot be created, or the record was started before.
    pub fn begin_trial(&self, header: &TrialHeader) -> Result<TrialWriter, RecordError> {
        let trials = self.folder.join("trials");
        let folder = trials.join(format!("{:04}", header.index));
        // A "not found" error here means that the run's folder was removed.
        disk::create_folder(&folder).map_err(|cause| RecordError::io("write", &folder, cause))?;
        let mut writer = TrialWriter {
            intervals: Appender::create(&folder.join(INTERVALS))?.into(),
            latencies: Appender::create(&folder.join("latency.hlog"))?.into(),
            written: 0,
            of_generators: BTreeMap::new(),
            saver: None,
            save_pause: SAVE_PAUSE,
            record: TrialRecord::new(header.clone().without_secrets()),
            folder,
        };
        writer.write()?;
        sync_folder(&trials)?;
        Ok(writer)
    }

    /// Replaces the number of planned trials, of a run whose results decide it.
    #[must_use]
    pub fn with_trials_planned(mut self, trials_planned: usize) -> Self {
        self.header.trials_planned = trials_planned;
        self
    }

    /// Writes how the run ended.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(self, status: &RunStatus) -> Result<(), RecordError> {
        // The reserved space is needed only when the disk is full.
        let _ = self.lock.file().set_len(0);
        self.write(status, Some(Timestamp::now()))
    }

    /// Removes everything that was written, of a run in which nothing was measured.
    ///
    /// # Errors
    /// When the folder of the run cannot be removed.
    pub fn discard(self) -> Result<(), RecordError> {
        let remove = disk::remove_folders(&self.folder, &self.made_above);
        remove.map_err(|cause| RecordError::io("remove", &self.folder, cause))
    }

    fn write(&self, status: &RunStatus, ended: Option<Timestamp>) -> Result<(), RecordError> {
        let file = RunFile::new(&self.header, status, ended);
        replace(&self.folder.join("run.json"), &wire::pretty(&file))
    }
}

/// Writes one trial. If it is dropped without [`TrialWriter::finish`], the trial has no end.
///
/// From the begin of the load to the end of the trial no call waits for the disk: a thread of its own does, at most
/// twice a second.
#[derive(Debug)]
pub struct TrialWriter {
    folder: PathBuf,
    intervals: Arc<Appender>,
    latencies: Arc<Appender>,
    /// How many lines of intervals were written.
    written: u64,
    /// Transactions of each of several generators in intervals that were not added yet, by their begin.
    of_generators: BTreeMap<Nanos, Vec<u64>>,
    /// Waits for the disk during the load.
    saver: Option<Saver>,
    save_pause: Duration,
    /// Everything but the intervals, which are only on disk.
    record: TrialRecord,
}

impl TrialWriter {
    /// Path of the trial's folder, for other files such as a server's log.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Reads the trial back as far as it was written, without what was watched.
    ///
    /// # Errors
    /// When a file is missing or damaged.
    pub fn read_back(&self) -> Result<TrialRecord, RecordError> {
        let mut record = self.record.clone();
        crate::reader::add_intervals(&mut record, &self.folder, None)?;
        Ok(record)
    }

    /// The same, with what was watched of hosts as far as that can be read, and without what servers told of themselves.
    ///
    /// # Errors
    /// When a file of the trial itself is missing or damaged.
    pub fn read_back_with_hosts(&self) -> Result<TrialRecord, RecordError> {
        let mut record = self.read_back()?;
        // Damage is told of when the report is made.
        let _ = crate::reader::add_watched_hosts(&mut record.watched, &self.folder);
        Ok(record)
    }

    /// Starts the record of watched data. It is independent of this writer and may be used on another thread.
    ///
    /// # Errors
    /// When its file cannot be created, or the record was started before.
    pub fn watch(&self) -> Result<WatchWriter, RecordError> {
        WatchWriter::create(&self.folder)
    }

    /// Records that a phase has ended.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn phase(&mut self, phase: PhaseRecord) -> Result<(), RecordError> {
        self.record.phases.push(phase);
        self.write()
    }

    /// Records the outages until now.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn outages(&mut self, outages: &[Outage]) -> Result<(), RecordError> {
        self.record.outages = outages.to_vec();
        self.write()
    }

    /// Records the members of the system that have exited until now.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn member_exits(&mut self, exits: Vec<MemberExit>) -> Result<(), RecordError> {
        self.record.member_exits = exits.into_iter().map(without_secrets::of_exit).collect();
        self.write()
    }

    /// Records the results of the conditions on the data after the load.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn conditions(&mut self, conditions: Vec<Condition>) -> Result<(), RecordError> {
        self.record.conditions = conditions;
        self.write()
    }

    /// Records what the path to the system carried.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn ceiling(&mut self, ceiling: Ceiling) -> Result<(), RecordError> {
        self.record.ceiling = Some(ceiling);
        self.write()
    }

    /// Records the experiment for what holds the system back.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn why(&mut self, why: Why) -> Result<(), RecordError> {
        self.record.why = Some(why);
        self.write()
    }

    /// Records the plans of the load's queries.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn plans(&mut self, plans: Vec<QueryPlan>) -> Result<(), RecordError> {
        self.record.plans = plans;
        self.write()
    }

    /// Notes what one of several generators has counted in an interval, or in a part of it, which is added afterwards.
    pub fn generator_part(&mut self, generator: usize, part: &Interval) {
        let counts = self.of_generators.entry(part.start_ns).or_default();
        counts.resize(counts.len().max(generator + 1), 0);
        counts[generator] = sum([counts[generator], part.tally.transactions]);
    }

    /// Records when the load began: time 0 of the intervals.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn load_begins(&mut self, at: Timestamp) -> Result<(), RecordError> {
        let saved = Saved {
            // An interval is complete once its line is in intervals.jsonl.
            growing: vec![Arc::clone(&self.latencies), Arc::clone(&self.intervals)],
            replaced: self.folder.join(TRIAL),
            pause: self.save_pause,
        };
        let started =
            Saver::start(saved).map_err(|cause| RecordError::io("write", &self.folder, cause));
        self.saver = Some(started?);
        self.latencies.append(hlog::head(at).as_bytes())
    }

    /// Adds an interval. When this returns, a crash of dyno no longer loses the interval. A crash of the machine loses
    /// it until it is saved, which begins at once, or half a second after the last time.
    ///
    /// # Errors
    /// When the disk is full, or the folder was removed.
    pub fn interval(&mut self, interval: &Interval) -> Result<(), RecordError> {
        self.part(interval, &[])
    }

    /// Adds an interval without what these workers have counted in it, or such a part, later. A reader adds the parts
    /// of an interval up.
    ///
    /// # Errors
    /// As [`TrialWriter::interval`].
    pub fn part(&mut self, interval: &Interval, missing: &[usize]) -> Result<(), RecordError> {
        let lines = hlog::lines(&self.record.header.operations, interval).map_err(|what| {
            RecordError::io("write", &self.folder.join("latency.hlog"), io::Error::other(what))
        })?;
        // An interval is complete once its line is in intervals.jsonl, so this line is written last.
        self.latencies.append(lines.as_bytes())?;
        let generators = self.of_generators.remove(&interval.start_ns).unwrap_or_default();
        self.intervals.append(interval_line(interval, missing, generators).as_bytes())?;
        self.written += 1;
        self.ask_saver(Saver::grown)
    }

    /// Writes how the trial ended, and waits until everything is on the disk. A phase after the load, such as
    /// the cleanup, may still be added.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(&mut self, end: &TrialEnd) -> Result<(), RecordError> {
        self.record.end = Some(end.clone().without_secrets());
        self.write()?;
        self.saver.take().map_or(Ok(()), |mut saver| saver.end())
    }

    /// Replaces the status of a trial whose end was written, because a phase after its load failed.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn end_otherwise(&mut self, status: &TrialStatus) -> Result<(), RecordError> {
        let Some(end) = self.record.end.take() else { return Ok(()) };
        self.finish(&TrialEnd { status: status.clone(), ..end })
    }

    /// Writes everything but the intervals, during the load without waiting for the disk.
    fn write(&mut self) -> Result<(), RecordError> {
        let file = TrialFile::from(&self.record).with_interval_lines(self.written);
        let bytes = wire::pretty(&file);
        if self.saver.is_none() {
            return replace(&self.folder.join(TRIAL), &bytes);
        }
        self.ask_saver(|saver| saver.replace(bytes))
    }

    /// Asks the saver, if there is one. After a failure there is none: further writes wait for the disk themselves.
    fn ask_saver(
        &mut self,
        ask: impl FnOnce(&mut Saver) -> Result<(), RecordError>,
    ) -> Result<(), RecordError> {
        let asked = self.saver.as_mut().map_or(Ok(()), ask);
        asked.inspect_err(|_| self.saver = None)
    }
}

fn make_folder(out: &Path, header: &RunHeader) -> Result<PathBuf, RecordError> {
    disk::create_folders(out).map_err(|cause| RecordError::io("create", out, cause))?;
    let name = folder_name(header);
    for attempt in 1..=FOLDERS_PER_SECOND {
        let folder =
            out.join(if attempt == 1 { name.clone() } else { format!("{name}-{attempt}") });
        match disk::create_folder(&folder) {
            Ok(()) => return Ok(folder),
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {}
            Err(cause) => return Err(RecordError::io("create", &folder, cause)),
        }
    }
    let cause = io::Error::from(io::ErrorKind::AlreadyExists);
    Err(RecordError::io("create", &out.join(name), cause))
}

fn folder_name(header: &RunHeader) -> String {
    let time = header.started.strftime("%Y-%m-%dT%H-%M-%SZ");
    let plan: String = header
        .plan_name
        .chars()
        .take(60)
        .map(|c| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' })
        .collect();
    format!("{time}-{plan}")
}

/// The lock is advisory and best effort: on a file system without locks a run in progress reads as cut; there
/// is no other effect.
fn lock(folder: &Path) -> Result<NewFile, RecordError> {
    let path = folder.join(".lock");
    let failed = |cause| RecordError::io("create", &path, cause);
    let file = NewFile::create(&path).map_err(failed)?;
    let _ = file.file().try_lock();
    file.write(&[0; ROOM_BYTES]).map_err(failed)?;
    Ok(file)
}

#[cfg(test)]
mod tests;
