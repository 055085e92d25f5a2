//! The CPUs that a thread may run on.

use std::io;

use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;

/// Lets the calling thread, and threads that it starts from now on, run on these CPUs alone. The kernel leaves out
/// those that the process may not use.
///
/// # Errors
/// When none of them exists or may be used.
pub fn bind_thread(cpus: impl IntoIterator<Item = usize>) -> io::Result<()> {
    let mut set = CpuSet::new();
    for cpu in cpus {
        set.set(cpu)?;
    }
    // 0 is the calling thread.
    Ok(sched_setaffinity(Pid::from_raw(0), &set)?)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use nix::sched::sched_getaffinity;

    use super::*;

    fn usable_cpus() -> Vec<usize> {
        let set = sched_getaffinity(Pid::from_raw(0)).unwrap();
        (0..CpuSet::count()).filter(|cpu| set.is_set(*cpu) == Ok(true)).collect()
    }

    #[test]
    fn only_the_calling_thread_is_bound() {
        let before = usable_cpus();
        let last = *before.last().unwrap();
        let bound = thread::spawn(move || {
            bind_thread([last]).unwrap();
            usable_cpus()
        });
        assert_eq!(bound.join().unwrap(), [last]);
        assert_eq!(usable_cpus(), before);
    }

    #[test]
    fn cpus_that_do_not_exist_are_refused() {
        thread::spawn(|| assert!(bind_thread([CpuSet::count() - 1]).is_err())).join().unwrap();
        assert!(bind_thread([CpuSet::count()]).is_err());
    }
}
