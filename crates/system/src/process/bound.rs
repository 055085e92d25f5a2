//! Binds a child to its parent: when the parent's thread goes, however it goes, so does the child.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use nix::errno::Errno;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use nix::unistd::{Pid, getpid, getppid};

/// What becomes of a child when the thread that started it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtOurEnd {
    /// The kernel kills it.
    Killed,
    /// Nothing: someone else sees to its end.
    Left,
}

/// Starts `command` on `cpus` (everywhere when `None`), in a process group of its own so that a
/// Ctrl-C meant for us does not reach it.
///
/// # Errors
/// When the program cannot be started, or none of `cpus` exists.
pub(super) fn spawn(
    mut command: Command,
    cpus: Option<CpuSet>,
    at_our_end: AtOurEnd,
) -> io::Result<Child> {
    let parent = getpid();
    let prepare = move || {
        if let Some(cpus) = &cpus {
            sched_setaffinity(Pid::from_raw(0), cpus)?;
        }
        if at_our_end == AtOurEnd::Left {
            return Ok(());
        }
        set_pdeathsig(Signal::SIGKILL)?;
        // The parent may have gone before the kernel was told.
        if getppid() == parent { Ok(()) } else { Err(Errno::ESRCH.into()) }
    };
    command.process_group(0);
    #[expect(
        unsafe_code,
        reason = "there is no safe door to prctl between fork and exec; the closure makes system \
                  calls only: it takes no lock and allocates nothing"
    )]
    unsafe {
        command.pre_exec(prepare);
    }
    command.spawn()
}
