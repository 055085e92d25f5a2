//! Faults of dyno's own process, disk and records: it is killed, paused and interrupted, its disk fills up, and its
//! records are damaged.
//!
//! Each cycle is a short run on SQLite, in which every transaction inserts one row with the time. So the database has
//! a count of its own of what dyno did, and when. The [`checks`] compare it with what `dyno report` reads afterwards.

mod checks;
mod damage;
mod short_run;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;
use plan::Shuffle;
use serde::{Deserialize, Serialize};

use self::checks::{Pause, Report};
use self::short_run::ShortRun;
use crate::interrupt::Interrupt;

/// What happens to dyno or to its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnFault {
    /// dyno is killed (SIGKILL) at a random moment.
    Kill,
    /// It is paused (SIGSTOP) for a random time.
    Pause,
    /// It is interrupted (SIGINT) at a random moment.
    Interrupt,
    /// The record is on a file system that is soon full.
    FullDisk,
    /// The record of a complete run is damaged, several times.
    Damage,
}

impl OwnFault {
    const ALL: [Self; 5] = [Self::Kill, Self::Pause, Self::Interrupt, Self::FullDisk, Self::Damage];
}

/// When a signal is sent, after the record was made.
const SIGNAL_MS: usize = 4_000;
const PAUSE_MS: (usize, usize) = (200, 2_000);
/// Sizes of the small file system, kB.
const DISK_KB: (usize, usize) = (160, 480);
/// The damages of one record.
const DAMAGES: usize = 10;

/// The cycles to go through.
#[derive(Debug)]
pub(super) struct OwnFaults {
    pub folder: PathBuf,
    pub length: Duration,
    pub seed: u64,
}

/// The result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OwnFaultsResult {
    /// Cycles of each fault, in the order of [`OwnFault::ALL`].
    cycles: [usize; OwnFault::ALL.len()],
    rows: u64,
    counted: u64,
    /// The age of the oldest row that no record had, when dyno was killed or its disk was full, ms.
    oldest_lost_ms: f64,
    /// Damages that changed what a reader counts, and those of them that were found.
    damages: (usize, usize),
    pub violations: Vec<String>,
}

impl OwnFaults {
    /// Goes through cycles until the time is over; the folder of a cycle in which something was wrong is kept.
    ///
    /// # Errors
    /// When dyno cannot be started or a signal arrived.
    pub(super) fn run(
        &self,
        dyno: &Path,
        interrupt: &Interrupt,
    ) -> anyhow::Result<OwnFaultsResult> {
        let clock = net::Clock::monotonic();
        let mut random = Shuffle::new(self.seed);
        let mut result = OwnFaultsResult::default();
        let mut round = Vec::new();
        for number in 0.. {
            if Duration::from_nanos(clock.now()) >= self.length {
                break;
            }
            interrupt.check()?;
            if round.is_empty() {
                round = random.of(&OwnFault::ALL);
            }
            let Some(fault) = round.pop() else { break };
            let folder = self.folder.join(format!("{number:04}-{fault:?}"));
            let short_run = ShortRun::new(dyno, &folder)?;
            let wrong = result.cycle(&short_run, fault, &mut random)?;
            result.cycles[fault as usize] += 1;
            if wrong.is_empty() {
                fs::remove_dir_all(&folder)?;
            }
            let named = wrong.into_iter().map(|it| format!("{}: {it}", folder.display()));
            result.violations.extend(named);
        }
        Ok(result)
    }
}

impl OwnFaultsResult {
    /// Adds the figures of another part of the same soak.
    pub(super) fn add(&mut self, other: &Self) {
        for (own, other) in self.cycles.iter_mut().zip(other.cycles) {
            *own += other;
        }
        self.rows += other.rows;
        self.counted += other.counted;
        self.oldest_lost_ms = self.oldest_lost_ms.max(other.oldest_lost_ms);
        self.damages.0 += other.damages.0;
        self.damages.1 += other.damages.1;
        self.violations.extend_from_slice(&other.violations);
    }

    /// The cells of a row: cycles of each fault, rows, those counted, the oldest lost one, damages and those found.
    pub(super) fn cells(&self) -> Vec<String> {
        let (changed, found) = self.damages;
        let counts = self.cycles.iter().map(usize::to_string);
        let rest = [
            self.rows.to_string(),
            self.counted.to_string(),
            format!("{:.0}", self.oldest_lost_ms),
            changed.to_string(),
            found.to_string(),
        ];
        counts.chain(rest).collect()
    }

    /// One cycle; returns what was wrong.
    fn cycle(
        &mut self,
        short_run: &ShortRun<'_>,
        fault: OwnFault,
        random: &mut Shuffle,
    ) -> anyhow::Result<Vec<String>> {
        let after = Duration::from_millis(random.below(SIGNAL_MS) as u64);
        match fault {
            OwnFault::Kill => {
                let mut child = short_run.start_and_wait(after)?;
                let killed = checks::now();
                child.signal(Signal::SIGKILL)?;
                child.finish()?;
                let report = short_run.report()?;
                self.compare(short_run, report.as_ref(), Some(killed))
            }
            OwnFault::Pause => {
                let mut child = short_run.start_and_wait(after)?;
                let from = checks::now();
                child.signal(Signal::SIGSTOP)?;
                let (low, high) = PAUSE_MS;
                thread::sleep(Duration::from_millis((low + random.below(high - low)) as u64));
                let pause = Pause { from, until: checks::now() };
                child.signal(Signal::SIGCONT)?;
                let code = child.finish()?;
                let report = short_run.report()?;
                let mut wrong = self.compare(short_run, report.as_ref(), None)?;
                wrong.extend(checks::exit_code(code, &[0]));
                wrong.extend(report.and_then(|report| pause.unseen(&report)));
                Ok(wrong)
            }
            OwnFault::Interrupt => {
                let mut child = short_run.start_and_wait(after)?;
                child.signal(Signal::SIGINT)?;
                let code = child.finish()?;
                let report = short_run.report()?;
                let mut wrong = self.compare(short_run, report.as_ref(), None)?;
                wrong.extend(checks::exit_code(code, &[0, 130]));
                Ok(wrong)
            }
            OwnFault::FullDisk => {
                let (low, high) = DISK_KB;
                let code = short_run.on_small_disk(low + random.below(high - low))?;
                let (rows, report) = (short_run.rows(0)?, short_run.report()?);
                let mut wrong = self.compare(short_run, report.as_ref(), rows.last)?;
                wrong.extend(checks::exit_code(code, &[1]));
                Ok(wrong)
            }
            OwnFault::Damage => {
                short_run.start()?.finish()?;
                let report = short_run.report()?;
                let wrong = self.compare(short_run, report.as_ref(), None)?;
                match report.filter(|_| wrong.is_empty()) {
                    Some(whole) => self.damage(short_run, &whole, random),
                    None => Ok(wrong),
                }
            }
        }
    }

    /// Compares the rows with the report, if it can be read. `ended` is when dyno was ended without warning, if it
    /// was.
    fn compare(
        &mut self,
        short_run: &ShortRun<'_>,
        report: Option<&Report>,
        ended: Option<f64>,
    ) -> anyhow::Result<Vec<String>> {
        let Some(report) = report else {
            return Ok(vec!["the report cannot be read".to_owned()]);
        };
        let counted = report.counted();
        let rows = short_run.rows(counted)?;
        self.rows += rows.count;
        self.counted += counted;
        let Some(ended) = ended else {
            return Ok(checks::all_counted(report, rows.count));
        };
        let age_ms = rows.first_uncounted.map_or(0.0, |at| (ended - at) * 1e3);
        self.oldest_lost_ms = self.oldest_lost_ms.max(age_ms);
        Ok(checks::little_lost(report, rows.count, age_ms))
    }

    /// Damages the record, each time as it was before; `whole` is its report before that.
    fn damage(
        &mut self,
        short_run: &ShortRun<'_>,
        whole: &Report,
        random: &mut Shuffle,
    ) -> anyhow::Result<Vec<String>> {
        let mut wrong = Vec::new();
        for _ in 0..DAMAGES {
            let record = short_run.copy_of_record()?;
            let damage = damage::damage(&record, random)?;
            let report = short_run.report_of(&record)?;
            let found = damage::found(&damage, whole, report.as_ref());
            self.damages.0 += usize::from(found.has_changed);
            self.damages.1 += usize::from(found.has_changed && found.is_named);
            wrong.extend(found.wrong.map(|it| format!("{damage}: {it}")));
            if wrong.is_empty() {
                fs::remove_dir_all(&record)?;
            }
        }
        Ok(wrong)
    }
}

impl fmt::Display for OwnFaultsResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cycles: [killed, paused, interrupted, full, damaged], .. } = self;
        let (changed, found) = self.damages;
        writeln!(
            f,
            "dyno itself: killed {killed} times, paused {paused} times, interrupted {interrupted} times, {full} full \
             disks, {damaged} records damaged\n  \
             {} rows inserted, {} counted; the oldest lost row was {:.0} ms old\n  \
             {changed} damages changed a count, {found} of them were named",
            self.rows, self.counted, self.oldest_lost_ms
        )?;
        for violation in &self.violations {
            writeln!(f, "  wrong: {violation}")?;
        }
        Ok(())
    }
}
