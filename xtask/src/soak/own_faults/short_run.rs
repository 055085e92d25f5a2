//! A run of some seconds in a folder of its own, and what it left.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use driver::Target;
use net::Clock;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::checks::Report;
use crate::soak::process::run_folder;
use crate::sql;

/// The length of an interval.
pub(super) const INTERVAL_MS: u64 = 100;
/// With shorter intervals a small disk is full soon.
const FULL_DISK_INTERVAL_MS: u64 = 20;
/// No run here lasts as long, and no report takes as long.
const BOUND: Duration = Duration::from_secs(60);
const POLL_PERIOD: Duration = Duration::from_millis(10);
/// The address space of `dyno report`, kB. Its records have some hundred kB.
const REPORT_KB_MAX: u32 = 2_000_000;
/// Each transaction is one row with the time.
const SQL: &str = "\\prepare\nCREATE TABLE IF NOT EXISTS t (at REAL);\n\\transaction add\n\
                   INSERT INTO t VALUES (unixepoch('subsec'));\n";

/// A run to be started.
#[derive(Debug)]
pub(super) struct ShortRun<'a> {
    dyno: &'a Path,
    folder: &'a Path,
}

/// The rows that a run inserted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rows {
    pub count: u64,
    /// When the last was inserted, seconds since 1970.
    pub last: Option<f64>,
    /// When the first row was inserted that was not counted, if all that were counted came before it.
    pub first_uncounted: Option<f64>,
}

impl<'a> ShortRun<'a> {
    /// Makes the folder.
    pub(super) fn new(dyno: &'a Path, folder: &'a Path) -> anyhow::Result<Self> {
        fs::create_dir_all(folder)?;
        fs::write(folder.join("add.sql"), SQL)?;
        Ok(Self { dyno, folder })
    }

    /// Starts two trials of two seconds.
    pub(super) fn start(&self) -> anyhow::Result<Running> {
        let mut command = Command::new(self.dyno);
        command.args(bench(INTERVAL_MS, "2s"));
        self.spawn(&mut command, "dyno")
    }

    /// Starts them, and returns this long after the record was made.
    pub(super) fn start_and_wait(&self, after: Duration) -> anyhow::Result<Running> {
        let mut child = self.start()?;
        child.wait_for_record()?;
        thread::sleep(after);
        Ok(child)
    }

    /// Runs a load with its record on a file system of this size, and returns its exit code. The record is copied
    /// afterwards, because the file system goes with its namespace.
    pub(super) fn on_small_disk(&self, kilobytes: usize) -> anyhow::Result<Option<i32>> {
        let script = format!(
            "mkdir results disk && mount -t tmpfs -o size={kilobytes}k tmpfs disk || exit 77; \
             \"$0\" {} --out=disk; code=$?; cp -a disk/. results; exit $code",
            bench(FULL_DISK_INTERVAL_MS, "30s").join(" ")
        );
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "--", "sh", "-c", &script]).arg(self.dyno);
        let code = self.spawn(&mut command, "dyno")?.finish()?;
        if code == Some(77) {
            bail!("a file system of limited size cannot be mounted here");
        }
        Ok(code)
    }

    /// What the report of the run says; `None` when there is no readable report. An empty one when dyno had not made a
    /// record yet.
    pub(super) fn report(&self) -> anyhow::Result<Option<Report>> {
        let record = run_folder(&self.folder.join("results"));
        record.map_or(Ok(Some(Report::default())), |record| self.report_of(&record))
    }

    /// The same of any record. A report that ends otherwise than with 0 or 1, or by a panic, cannot be read.
    pub(super) fn report_of(&self, record: &Path) -> anyhow::Result<Option<Report>> {
        let script = format!("ulimit -v {REPORT_KB_MAX}; exec \"$0\" report \"$1\" --format=json");
        let mut command = Command::new("sh");
        command.args(["-c", &script]).arg(self.dyno).arg(record);
        let code = self.spawn(&mut command, "report")?.finish()?;
        let said = fs::read_to_string(self.folder.join("report.err"))?;
        if !matches!(code, Some(0 | 1)) || said.contains("panicked") {
            return Ok(None);
        }
        let report = fs::read_to_string(self.folder.join("report.out"))?;
        Ok(serde_json::from_str(&report).ok().map(|report| Report::of(&report)))
    }

    /// A copy of the record, which replaces an earlier one.
    pub(super) fn copy_of_record(&self) -> anyhow::Result<PathBuf> {
        let record = run_folder(&self.folder.join("results")).context("there is no record")?;
        let copy = self.folder.join("damaged");
        if copy.exists() {
            fs::remove_dir_all(&copy)?;
        }
        copy_folder(&record, &copy)?;
        Ok(copy)
    }

    /// The rows in the database, of which the first `counted` are in the record.
    pub(super) fn rows(&self, counted: u64) -> anyhow::Result<Rows> {
        let target = Target::sqlite(driver::sqlite::Config::new(self.folder.join("data.db")));
        let exists = sql::ask(&target, "SELECT name FROM sqlite_master WHERE name = 't'")?;
        if exists.is_empty() {
            return Ok(Rows::default());
        }
        let one = |query: &str| -> anyhow::Result<Option<i64>> {
            let rows = sql::ask(&target, query)?;
            Ok(rows.first().and_then(|row| sql::number(row.first()?)))
        };
        // As whole milliseconds, so that every driver answers with an integer.
        let ms = |at: Option<i64>| at.map(|ms| ms as f64 / 1e3);
        let nth =
            format!("SELECT CAST(at * 1000 AS INT) FROM t ORDER BY at LIMIT 1 OFFSET {counted}");
        Ok(Rows {
            count: one("SELECT COUNT(*) FROM t")?.unwrap_or_default().unsigned_abs(),
            last: ms(one("SELECT CAST(MAX(at) * 1000 AS INT) FROM t")?),
            first_uncounted: ms(one(&nth)?),
        })
    }

    /// Starts a command in the folder; its output goes to files that begin with `name`.
    fn spawn(&self, command: &mut Command, name: &str) -> anyhow::Result<Running> {
        let file = |ending: &str| File::create(self.folder.join(format!("{name}.{ending}")));
        let child = command
            .current_dir(self.folder)
            .env("HOME", self.folder)
            .stdin(Stdio::null())
            .stdout(file("out")?)
            .stderr(file("err")?)
            .spawn()
            .with_context(|| format!("cannot start {}", self.dyno.display()))?;
        Ok(Running { child, results: self.folder.join("results") })
    }
}

/// The arguments of a load.
fn bench(interval_ms: u64, time: &str) -> Vec<String> {
    let fixed =
        "bench add.sql --system=sqlite:data.db --clients=2 --repetitions=2 --warm-up=0s --quiet";
    let mut all: Vec<String> = fixed.split(' ').map(str::to_owned).collect();
    all.extend([format!("--interval={interval_ms}ms"), format!("--time={time}")]);
    all
}

fn copy_folder(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let copy = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &copy)?;
        } else {
            fs::copy(entry.path(), copy)?;
        }
    }
    Ok(())
}

/// A running process. Dropping it kills it.
#[derive(Debug)]
pub(super) struct Running {
    child: Child,
    results: PathBuf,
}

impl Running {
    /// Waits until dyno has made its record, or has ended.
    fn wait_for_record(&mut self) -> anyhow::Result<()> {
        while run_folder(&self.results).is_none() && self.child.try_wait()?.is_none() {
            thread::sleep(POLL_PERIOD);
        }
        Ok(())
    }

    /// Sends a signal, unless the process has ended.
    pub(super) fn signal(&mut self, signal: Signal) -> anyhow::Result<()> {
        if self.child.try_wait()?.is_none() {
            kill(Pid::from_raw(self.child.id().cast_signed()), signal)?;
        }
        Ok(())
    }

    /// Waits for the end and returns the exit code; `None` when a signal ended it.
    ///
    /// # Errors
    /// When it does not end.
    pub(super) fn finish(mut self) -> anyhow::Result<Option<i32>> {
        let clock = Clock::monotonic();
        while Duration::from_nanos(clock.now()) < BOUND {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status.code());
            }
            thread::sleep(POLL_PERIOD);
        }
        bail!("a run or a report of some seconds has not ended after {BOUND:?}")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Usually it has exited already, and there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
