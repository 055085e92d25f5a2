//! Binds a child to the thread that starts it: when the thread ends for any reason, the kernel kills the child.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use nix::errno::Errno;
use nix::sched::sched_setaffinity;
use nix::sys::prctl::set_pdeathsig;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::stat::{Mode, umask};
use nix::unistd::{Gid, Pid, Uid, getpid, getppid, setgid, setgroups, setuid};

use super::flush_gate::{GatePipe, install};
use super::{Confinement, Ending};

/// The default limit of the kernel for the open files of any process (`fs.nr_open`).
const OPEN_FILES_MAX: u64 = 1 << 20;

/// Starts `command` with the restrictions of `confinement`, in this process group, which is another one than dyno's so that
/// a Ctrl-C for dyno does not reach it.
///
/// # Errors
/// When the program cannot be started, or none of the CPUs exists.
pub(super) fn spawn(
    mut command: Command,
    confinement: &Confinement,
    ending: Ending,
    group: Pid,
) -> io::Result<Child> {
    let (parent, at_death) = (getpid(), ending.at_death());
    let (cpus, files_mask) = (confinement.cpus, confinement.files.mask());
    let gate = confinement.flushes.as_ref().map(GatePipe::new).transpose()?;
    let gate_socket = gate.as_ref().map(GatePipe::child);
    let account = confinement.account.as_ref().map(|account| (account.uid, account.gid));
    let prepare = move || {
        if let Some(cpus) = &cpus {
            sched_setaffinity(Pid::from_raw(0), cpus)?;
        }
        if let Some(mask) = files_mask {
            umask(mask);
        }
        if let Some((uid, gid)) = account {
            become_account(uid, gid)?;
        }
        let Some(signal) = at_death else {
            return gate_socket.map_or(Ok(()), install);
        };
        // Last, because the kernel resets this when the account changes. It does so for a program with file
        // capabilities too, and a program's own children do not inherit it: the guard of the group ends those.
        set_pdeathsig(signal)?;
        // The parent may have ended before the call above.
        if getppid() != parent {
            return Err(Errno::ESRCH.into());
        }
        gate_socket.map_or(Ok(()), install)
    };
    command.process_group(group.as_raw());
    #[expect(
        unsafe_code,
        reason = "there is no safe door to prctl between fork and exec; the closure makes system \
                  calls only: it takes no lock and allocates nothing"
    )]
    unsafe {
        command.pre_exec(prepare);
    }
    let child = command.spawn()?;
    gate.map_or(Ok(()), GatePipe::serve)?;
    Ok(child)
}

/// Changes to an account, without dyno's groups. Root could open as many files as it wants; a server that runs under
/// another account than root should be able to do the same.
fn become_account(uid: Uid, gid: Gid) -> io::Result<()> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    // Where even root may not raise the limit, as in some containers, the server keeps the limit that there is.
    let _ = setrlimit(Resource::RLIMIT_NOFILE, soft, hard.max(OPEN_FILES_MAX));
    setgroups(&[])?;
    setgid(gid)?;
    Ok(setuid(uid)?)
}

impl super::NewFiles {
    /// The umask for it; dyno's own when `None`.
    fn mask(self) -> Option<Mode> {
        match self {
            Self::Usual => None,
            Self::OwnerOnly => Some(Mode::S_IRWXG | Mode::S_IRWXO),
        }
    }
}
