//! A reference to a process that never means another one, as its number alone may: the kernel gives numbers again.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};

/// A process that was running when this was made.
#[derive(Debug)]
pub struct ProcessReference {
    pid: Pid,
    /// When it began, in the kernel's ticks since the machine started.
    began: u64,
    /// The kernel's own reference (pidfd); `None` where the kernel has none, as before Linux 5.3.
    descriptor: Option<OwnedFd>,
}

impl ProcessReference {
    /// The process that has this number now; `None` when there is none, or only one that has ended.
    pub fn open(pid: u32) -> Option<Self> {
        Self::with(pid, |pid| {
            pidfd_open(rustix::process::Pid::from_raw(pid.as_raw())?, PidfdFlags::empty()).ok()
        })
    }

    /// The same with a reference of the kernel, if `descriptor` gets one.
    fn with(pid: u32, descriptor: impl FnOnce(Pid) -> Option<OwnedFd>) -> Option<Self> {
        let pid = Pid::from_raw(i32::try_from(pid).ok()?);
        // In this order: should the number change hands in between, the start is that of the other process, whose
        // caller notices it, and the signal goes to none.
        let descriptor = descriptor(pid);
        Some(Self { pid, began: began(pid)?, descriptor })
    }

    /// When it began, in the kernel's ticks since the machine started: with its number, this identifies it until the
    /// machine starts again.
    pub fn began(&self) -> u64 {
        self.began
    }

    pub fn is_alive(&self) -> bool {
        began(self.pid) == Some(self.began)
    }

    /// Asks it to end.
    ///
    /// # Errors
    /// When it has ended, or is not ours to ask.
    pub fn ask_to_end(&self) -> io::Result<()> {
        self.signal(Signal::SIGTERM)
    }

    /// Sends it a signal.
    ///
    /// # Errors
    /// As [`ProcessReference::ask_to_end`].
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        match &self.descriptor {
            Some(descriptor) => {
                let number = rustix::process::Signal::from_named_raw(signal as i32);
                let signal = number.ok_or(Errno::EINVAL)?;
                Ok(pidfd_send_signal(descriptor, signal)?)
            }
            // A moment is left in which the number may change hands.
            None if self.is_alive() => Ok(kill(self.pid, signal)?),
            None => Err(Errno::ESRCH.into()),
        }
    }
}

/// Start time of a process, in ticks since boot; `None` when it is gone or a zombie.
fn began(pid: Pid) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may contain any bytes; the state is the third field, the start time the 22nd.
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?;
    if state == "Z" { None } else { fields.nth(18)?.parse().ok() }
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Child;
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::process::command;

    fn sleeper() -> Child {
        command("sleep").arg("60").spawn().unwrap()
    }

    /// With a reference of the kernel, and without one.
    const WAYS: [fn(u32) -> Option<ProcessReference>; 2] =
        [ProcessReference::open, |pid| ProcessReference::with(pid, |_| None)];

    #[test]
    fn a_process_is_asked_to_end_with_and_without_a_reference_of_the_kernel() {
        for open in WAYS {
            let mut child = sleeper();
            let reference = open(child.id()).unwrap();
            assert!(reference.is_alive());
            reference.ask_to_end().unwrap();
            assert_eq!(child.wait().unwrap().signal(), Some(15));
            assert!(!reference.is_alive());
            let error = reference.ask_to_end().unwrap_err();
            assert_eq!(error.raw_os_error(), Some(Errno::ESRCH as i32), "{error}");
            assert!(open(child.id()).is_none());
        }
    }

    #[test]
    fn another_process_with_the_same_number_is_not_signalled() {
        let mut child = sleeper();
        let reference = ProcessReference::with(child.id(), |_| None).unwrap();
        let earlier = ProcessReference { began: reference.began - 1, ..reference };
        assert!(!earlier.is_alive());
        assert!(earlier.ask_to_end().is_err());
        assert_eq!(child.try_wait().unwrap(), None);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Set where the numbers of processes are those of the test alone.
    const APART: &str = "DYNO_TEST_APART";

    /// Runs itself in a namespace of processes, in which it may say which number is given next.
    #[test]
    fn a_number_that_another_process_has_got_is_not_signalled() {
        if env::var_os(APART).is_some() {
            return WAYS.into_iter().for_each(give_a_number_again);
        }
        let (_, module) = module_path!().split_once("::").unwrap();
        let test = format!("{module}::a_number_that_another_process_has_got_is_not_signalled");
        let mut apart = command("unshare");
        apart.args(["--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--"]);
        apart.arg(env::current_exe().unwrap()).args([&*test, "--exact", "--nocapture"]);
        let output = apart.env(APART, "yes").output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{told}{errors}");
        assert!(told.contains("1 passed"), "{told}");
    }

    fn give_a_number_again(open: fn(u32) -> Option<ProcessReference>) {
        let mut first = sleeper();
        let reference = open(first.id()).unwrap();
        first.kill().unwrap();
        first.wait().unwrap();
        // Start times are told in ticks of 10 ms.
        thread::sleep(Duration::from_millis(30));
        let mut second = with_number(first.id());
        assert!(!reference.is_alive());
        let error = reference.ask_to_end().unwrap_err();
        assert_eq!(error.raw_os_error(), Some(Errno::ESRCH as i32), "{error}");
        assert_eq!(second.try_wait().unwrap(), None);
        second.kill().unwrap();
        // By its own signal, and not by the one before.
        assert_eq!(second.wait().unwrap().signal(), Some(9));
    }

    /// A process with this number. Source: proc_sys_kernel(5), `ns_last_pid`.
    fn with_number(pid: u32) -> Child {
        loop {
            fs::write("/proc/sys/kernel/ns_last_pid", (pid - 1).to_string()).unwrap();
            let mut child = sleeper();
            if child.id() == pid {
                return child;
            }
            // A thread of the tests has got it.
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    #[test]
    fn a_process_that_has_ended_and_was_not_waited_for_is_not_referred_to() {
        let mut child = command("true").spawn().unwrap();
        let pid = Pid::from_raw(child.id().cast_signed());
        while began(pid).is_some() {
            std::thread::yield_now();
        }
        assert!(ProcessReference::open(child.id()).is_none());
        child.wait().unwrap();
    }
}
