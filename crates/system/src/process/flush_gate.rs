//! Holds the flushes of a server's files to the disk for a while, as if the disk were slower.
//!
//! The kernel tells dyno of each fsync and fdatasync of the server before it begins (seccomp's user notification), and dyno
//! has it go on. The server cannot gain rights by it, and it takes none.
//!
//! Source: seccomp(2), `seccomp_unotify(2)`.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use measure::Nanos;
use net::Clock;
use nix::libc;

/// Threads that answer the kernel: as many flushes can be held at the same time.
const SUPERVISORS: usize = 8;

/// How long each flush of a server is held.
#[derive(Debug, Default)]
pub struct FlushGate {
    /// By the plan, always.
    always_ns: Nanos,
    /// For now, beyond that.
    more_ns: AtomicU64,
    /// How long flushes were held beyond what the plan asks for, and how many there were.
    held_ns: AtomicU64,
    flushes: AtomicU64,
}

impl FlushGate {
    pub(crate) fn new(always: Duration) -> Arc<Self> {
        Arc::new(Self { always_ns: measure::nanos(always), ..Self::default() })
    }

    /// From now on each flush is held for so long beyond what the plan asks for.
    pub fn hold_more(&self, more_ns: Nanos) {
        self.more_ns.store(more_ns, Ordering::Relaxed);
    }

    /// How long flushes were held because of that so far, ns, and how many flushes there were.
    pub fn counted(&self) -> (Nanos, u64) {
        (self.held_ns.load(Ordering::Relaxed), self.flushes.load(Ordering::Relaxed))
    }

    fn hold(&self) {
        self.flushes.fetch_add(1, Ordering::Relaxed);
        let more_ns = self.more_ns.load(Ordering::Relaxed);
        sleep(self.always_ns);
        if more_ns > 0 {
            self.held_ns.fetch_add(sleep(more_ns), Ordering::Relaxed);
        }
    }
}

/// Sleeps, and returns for how long, ns.
fn sleep(length_ns: Nanos) -> Nanos {
    let clock = Clock::monotonic();
    if length_ns > 0 {
        thread::sleep(Duration::from_nanos(length_ns));
    }
    clock.now()
}

/// Both ends of the way by which a child that is about to run the server's program gives dyno the kernel's end.
pub(super) struct GatePipe {
    gate: Arc<FlushGate>,
    own: OwnedFd,
    child: OwnedFd,
}

impl GatePipe {
    pub(super) fn new(gate: &Arc<FlushGate>) -> io::Result<Self> {
        use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
        let flags = SockFlag::SOCK_CLOEXEC;
        let (own, child) = socketpair(AddressFamily::Unix, SockType::Datagram, None, flags)?;
        Ok(Self { gate: Arc::clone(gate), own, child })
    }

    /// The end for [`install`].
    pub(super) fn child(&self) -> RawFd {
        self.child.as_raw_fd()
    }

    /// Takes the kernel's end, and answers it from now on.
    pub(super) fn serve(self) -> io::Result<()> {
        let listener = Arc::new(received(&self.own)?);
        for _ in 0..SUPERVISORS {
            let (listener, gate) = (Arc::clone(&listener), Arc::clone(&self.gate));
            thread::Builder::new()
                .name("flush gate".to_owned())
                .spawn(move || supervise(&listener, &gate))?;
        }
        Ok(())
    }
}

/// The number of this processor's system calls in a filter; 0, which none has, for one that is not known. Source:
/// linux/audit.h.
fn architecture() -> u32 {
    match std::env::consts::ARCH {
        "x86_64" => 0xc000_003e,
        "aarch64" => 0xc000_00b7,
        "riscv64" => 0xc000_00f3,
        _ => 0,
    }
}

const fn statement(code: u32, k: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

const fn jump(k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    let code = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    libc::sock_filter { code, jt, jf, k }
}

/// Tells of flushes, and allows everything else. `seccomp_data` begins with the call's number, and has the
/// architecture after 4 bytes.
fn filter() -> [libc::sock_filter; 7] {
    [
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 4),
        jump(architecture(), 0, 3),
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0),
        jump(libc::SYS_fsync as u32, 2, 0),
        jump(libc::SYS_fdatasync as u32, 1, 0),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_USER_NOTIF),
    ]
}

/// Has the kernel tell of the flushes of this process, which is about to run the server's program, and sends the end by
/// which it does so.
#[expect(
    unsafe_code,
    reason = "there is no safe door to seccomp; these are system calls on this stack's own data"
)]
pub(super) fn install(socket: RawFd) -> io::Result<()> {
    let mut filter = filter();
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    let listener = unsafe {
        if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 {
            return Err(io::Error::last_os_error());
        }
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
            &raw const program,
        )
    };
    let listener = RawFd::try_from(listener).map_err(io::Error::other)?;
    if listener < 0 {
        return Err(io::Error::last_os_error());
    }
    send(socket, listener)
}

/// Room for the header and one descriptor of a control message, aligned as the kernel wants it.
type Control = [u64; 4];

#[expect(
    unsafe_code,
    reason = "nothing may be allocated between fork and exec, as safe wrappers do"
)]
fn send(socket: RawFd, descriptor: RawFd) -> io::Result<()> {
    let mut byte = [0_u8; 1];
    let mut part = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
    let mut control: Control = [0; 4];
    let sent = unsafe {
        let mut message: libc::msghdr = MaybeUninit::zeroed().assume_init();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(size_of::<RawFd>() as u32) as _;
        let head = libc::CMSG_FIRSTHDR(&raw const message);
        (*head).cmsg_level = libc::SOL_SOCKET;
        (*head).cmsg_type = libc::SCM_RIGHTS;
        (*head).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as _;
        libc::CMSG_DATA(head).cast::<RawFd>().write_unaligned(descriptor);
        libc::sendmsg(socket, &raw const message, 0)
    };
    if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[expect(
    unsafe_code,
    reason = "the descriptor that the kernel has just made for this process is owned here alone"
)]
fn received(socket: &OwnedFd) -> io::Result<OwnedFd> {
    use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};
    let mut byte = [0_u8; 1];
    let mut parts = [io::IoSliceMut::new(&mut byte)];
    let mut space = nix::cmsg_space!([RawFd; 1]);
    let flags = MsgFlags::MSG_CMSG_CLOEXEC | MsgFlags::MSG_DONTWAIT;
    let message = recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut space), flags)?;
    let descriptor = message.cmsgs()?.find_map(|it| match it {
        ControlMessageOwned::ScmRights(all) => all.first().copied(),
        _ => None,
    });
    let descriptor = descriptor.ok_or_else(|| io::Error::other("the server sent no descriptor"))?;
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Holds flushes until the server has ended.
fn supervise(listener: &OwnedFd, gate: &FlushGate) {
    // Sleeps are to end when they are due, and not up to 50 us later. Without that they are a little longer.
    let _ = nix::sys::prctl::set_timerslack(1);
    loop {
        match next(listener) {
            Ok(id) => {
                gate.hold();
                go_on(listener, id);
            }
            Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
            // A thread that was told of has ended meanwhile.
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) && !is_over(listener) => {}
            Err(_) => return,
        }
    }
}

#[expect(
    unsafe_code,
    reason = "there is no safe door to this ioctl; it fills a struct of this stack"
)]
fn next(listener: &OwnedFd) -> io::Result<u64> {
    // The kernel wants it zeroed.
    let mut told: libc::seccomp_notif = unsafe { MaybeUninit::zeroed().assume_init() };
    let done =
        unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut told) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(told.id) }
}

/// Has the call begin. One whose thread has ended needs no answer.
#[expect(
    unsafe_code,
    reason = "there is no safe door to this ioctl; it reads a struct of this stack"
)]
fn go_on(listener: &OwnedFd, id: u64) {
    let flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32;
    let mut answer = libc::seccomp_notif_resp { id, val: 0, error: 0, flags };
    unsafe {
        libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut answer);
    }
}

/// Whether no process is left whose flushes it tells of.
fn is_over(listener: &OwnedFd) -> bool {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use std::os::fd::AsFd;
    let mut polled = [PollFd::new(listener.as_fd(), PollFlags::POLLIN)];
    let _ = poll(&mut polled, PollTimeout::ZERO);
    polled[0].revents().is_some_and(|it| it.contains(PollFlags::POLLHUP))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{Confinement, Process};

    /// `dd` flushes its file once at its end.
    #[test]
    fn a_flush_is_held_for_as_long_as_it_is_asked_for_and_then_done() {
        let folder = tempfile::tempdir().unwrap();
        let gate = FlushGate::new(Duration::from_millis(30));
        gate.hold_more(50_000_000);
        let mut command = crate::command("dd");
        let file = folder.path().join("file");
        command.args(["if=/dev/zero", "bs=4k", "count=3", "conv=fsync", "status=none"]);
        command.arg(format!("of={}", file.display()));
        let clock = Clock::monotonic();
        let confinement =
            Confinement { flushes: Some(Arc::clone(&gate)), ..Confinement::default() };
        let process = Process::start(command, confinement).unwrap();
        while process.exit().is_none() {
            assert!(clock.now() < 30_000_000_000, "it does not end");
            thread::sleep(Duration::from_millis(2));
        }
        assert!(process.exit().unwrap().status.success());
        assert!(clock.now() >= 80_000_000);
        let (held_ns, flushes) = gate.counted();
        assert_eq!(flushes, 1);
        assert!(held_ns >= 50_000_000, "{held_ns}");
        assert_eq!(std::fs::metadata(file).unwrap().len(), 3 * 4096);
    }
}
