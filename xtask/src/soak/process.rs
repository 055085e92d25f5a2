//! A running dyno, and whether it makes progress.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::Context;
use jiff::Timestamp;

/// When the record has not grown for this long, dyno hangs: it writes an interval each second whatever the server
/// does, and waits for a server no longer than this while there are none.
const HANG: Duration = Duration::from_secs(90);

/// What makes glibc's allocator give back at once what is freed, so that the allocated memory is what is in use. There
/// is one heap for all threads: by default threads have separate ones, in a random way, and each trial has new threads.
/// Its free end goes back to the kernel, and blocks from a histogram's size on never come from it. Source: mallopt(3).
const ALLOCATOR: [(&str, &str); 4] = [
    ("MALLOC_ARENA_MAX", "1"),
    ("MALLOC_MMAP_THRESHOLD_", "32768"),
    ("MALLOC_TRIM_THRESHOLD_", "0"),
    ("MALLOC_TOP_PAD_", "0"),
];

/// How dyno ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DynoExit {
    /// By itself, with this code; `None` when a signal ended it.
    Exited(Option<i32>),
    /// It had to be killed, and why.
    Killed(String),
}

/// A dyno that runs a plan. Dropping it kills it.
#[derive(Debug)]
pub(super) struct Dyno {
    child: Child,
    folder: PathBuf,
    /// Trials that have begun, and bytes of the newest one's intervals.
    seen: (usize, u64),
    /// When the record last grew.
    grown: Timestamp,
    /// When the newest trial was first seen.
    pub newest_since: Timestamp,
}

impl Dyno {
    /// Starts dyno in `folder`, with its output in `dyno.log`.
    pub(super) fn start(program: &Path, plan: &Path, folder: &Path) -> anyhow::Result<Self> {
        let log = File::create(folder.join("dyno.log"))?;
        let mut dyno = Command::new(program);
        dyno.arg("run").arg(plan).arg("--out").arg(folder.join("results"));
        dyno.current_dir(folder).env("HOME", folder).envs(ALLOCATOR);
        dyno.env_remove("MYSQL_PWD").env_remove("DYNO_PASSWORD");
        dyno.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let child = dyno.spawn().with_context(|| format!("cannot start {}", program.display()))?;
        let now = Timestamp::now();
        let folder = folder.to_owned();
        Ok(Self { child, folder, seen: (0, 0), grown: now, newest_since: now })
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Checks dyno, and returns how it has exited; call it once a second.
    pub(super) fn poll(&mut self) -> anyhow::Result<Option<DynoExit>> {
        let status = self.child.try_wait()?;
        let at = Timestamp::now();
        let seen = seen(&self.folder.join("results"));
        if seen.0 > self.seen.0 {
            self.newest_since = at;
        }
        if seen != self.seen {
            self.grown = at;
            self.seen = seen;
        }
        Ok(status.map(|status| DynoExit::Exited(status.code())))
    }

    /// The newest trial's index in the run.
    pub(super) fn newest_trial(&self) -> Option<usize> {
        self.seen.0.checked_sub(1)
    }

    /// Why dyno hangs, if it does.
    pub(super) fn hangs(&self) -> Option<String> {
        let still = Timestamp::now().duration_since(self.grown).unsigned_abs();
        (still > HANG)
            .then(|| format!("no growth of its record for {still:?}, in {:?}", self.newest_trial()))
    }

    /// Writes what its threads wait for to `threads.txt`, then kills it.
    pub(super) fn kill(&mut self, why: String) -> anyhow::Result<DynoExit> {
        let mut text = String::new();
        for thread in fs::read_dir(format!("/proc/{}/task", self.id()))?.flatten() {
            for file in ["comm", "wchan", "syscall", "status"] {
                let path = thread.path().join(file);
                let said = fs::read_to_string(&path).unwrap_or_default();
                text.push_str(&format!("{}: {}\n", path.display(), said.trim()));
            }
        }
        fs::write(self.folder.join("threads.txt"), text)?;
        self.child.kill()?;
        self.child.wait()?;
        Ok(DynoExit::Killed(why))
    }
}

impl Drop for Dyno {
    fn drop(&mut self) {
        // Usually it has exited already, and there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The folder of the only run below `results`.
pub(super) fn run_folder(results: &Path) -> Option<PathBuf> {
    Some(fs::read_dir(results).ok()?.next()?.ok()?.path())
}

fn seen(results: &Path) -> (usize, u64) {
    let Some(run) = run_folder(results) else { return (0, 0) };
    let names = fs::read_dir(run.join("trials")).into_iter().flatten().flatten();
    let trials: Vec<PathBuf> = names.map(|entry| entry.path()).collect();
    let newest = trials.iter().max().map(|trial| trial.join("intervals.jsonl"));
    let bytes = newest.and_then(|path| fs::metadata(path).ok()).map_or(0, |file| file.len());
    (trials.len(), bytes)
}
