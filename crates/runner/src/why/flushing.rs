//! How many threads of the server are in a flush at the same time, by looking at them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use nix::libc::{SYS_fdatasync, SYS_fsync};

/// Time between two looks: a look at some dozens of threads takes a tenth of a millisecond.
const PERIOD: Duration = Duration::from_millis(15);

/// Looks at all threads of some processes while flushes are not held beyond what the plan asks for.
pub(super) struct Flushing {
    is_held: Arc<AtomicBool>,
    is_over: Arc<AtomicBool>,
    looks: JoinHandle<Option<f64>>,
}

impl Flushing {
    /// `None` without processes, or when the machine has no thread for it.
    pub(super) fn watch(processes: Vec<u32>) -> Option<Self> {
        if processes.is_empty() {
            return None;
        }
        let (is_held, is_over) =
            (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(false)));
        let (held, over) = (Arc::clone(&is_held), Arc::clone(&is_over));
        let looks = Builder::new().name("flush watcher".to_owned()).spawn(move || {
            let (mut looks, mut seen) = (0_u64, 0_u64);
            while !over.load(Ordering::Relaxed) {
                std::thread::sleep(PERIOD);
                if !held.load(Ordering::Relaxed) {
                    seen += processes.iter().map(|process| in_flush(*process)).sum::<u64>();
                    looks += 1;
                }
            }
            (looks > 0).then(|| seen as f64 / looks as f64)
        });
        Some(Self { is_held, is_over, looks: looks.ok()? })
    }

    pub(super) fn hold(&self, is_held: bool) {
        self.is_held.store(is_held, Ordering::Relaxed);
    }

    /// The mean number of threads in a flush.
    pub(super) fn end(self) -> Option<f64> {
        self.is_over.store(true, Ordering::Relaxed);
        self.looks.join().ok()?
    }
}

/// How many threads of a process are in a flush now. Source: proc_pid_syscall(5).
fn in_flush(process: u32) -> u64 {
    let threads =
        std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let is_in = |text: &String| {
        let number = text.split(' ').next().and_then(|number| number.parse::<i64>().ok());
        number == Some(SYS_fsync) || number == Some(SYS_fdatasync)
    };
    let calls = threads.filter_map(|it| std::fs::read_to_string(it.path().join("syscall")).ok());
    calls.filter(is_in).count() as u64
}
