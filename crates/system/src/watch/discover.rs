//! Finds processes of this machine: those of an external server, and those that have told who they are.

use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr, UdpSocket};

use measure::{Process, ProcessIdentity, Side};
use procfs::net::TcpState;
use procfs::process::{FDTarget, Stat};

/// The bytes of a process's name that the kernel keeps. Source: proc_pid_comm(5).
const NAME_BYTES_MAX: usize = 15;

/// The processes of this machine that listen on one of the addresses, as far as dyno can see them. Only root sees
/// those of other users.
pub fn server_processes(addresses: &[SocketAddr]) -> Vec<Process> {
    let sockets = listening_sockets(addresses);
    if sockets.is_empty() {
        return Vec::new();
    }
    let Ok(processes) = procfs::process::all_processes() else { return Vec::new() };
    processes
        .flatten()
        .filter(|process| holds_one_of(process, &sockets))
        .filter_map(|process| {
            let pid = u32::try_from(process.pid).ok()?;
            Some(Process { name: process.stat().ok()?.comm, pid, side: Side::Server })
        })
        .collect()
}

/// These processes and those that they have started, of any generation: a server may be the child of a script or of a
/// launcher.
pub fn with_descendants(mut processes: Vec<Process>) -> Vec<Process> {
    let Ok(all) = procfs::process::all_processes() else { return processes };
    let all: Vec<Stat> = all.flatten().filter_map(|process| process.stat().ok()).collect();
    let mut parents = 0;
    while let Some(&Process { pid: parent, side, .. }) = processes.get(parents) {
        parents += 1;
        let children = all.iter().filter(|stat| u32::try_from(stat.ppid) == Ok(parent));
        for child in children {
            let Ok(pid) = u32::try_from(child.pid) else { continue };
            // The number of an ended process may have been given again while the list was read.
            if processes.iter().all(|process| process.pid != pid) {
                processes.push(Process { name: child.comm.clone(), pid, side });
            }
        }
    }
    processes
}

/// The processes of this machine with one of these names, with the side of each. The names are those of the kernel, of at
/// most 15 bytes: a longer one is compared by as much. This process is none of them.
pub fn processes_by_name(names: &[(String, Side)]) -> Vec<Process> {
    if names.is_empty() {
        return Vec::new();
    }
    let Ok(processes) = procfs::process::all_processes() else { return Vec::new() };
    let this = std::process::id();
    let found = processes.flatten().filter_map(|process| {
        let pid = u32::try_from(process.pid).ok().filter(|&pid| pid != this)?;
        let name = process.stat().ok()?.comm;
        let is_it = |wanted: &str| wanted.bytes().take(NAME_BYTES_MAX).eq(name.bytes());
        let (_, side) = names.iter().find(|(wanted, _)| is_it(wanted))?;
        Some(Process { name: name.clone(), pid, side: *side })
    });
    found.collect()
}

/// Identifies the kernel that runs; empty when not known. Source: random(4), `boot_id`.
pub fn own_boot() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    text.unwrap_or_default().trim().to_owned()
}

/// The identity of this process; `None` when the kernel does not tell when it began.
pub fn own_identity() -> Option<ProcessIdentity> {
    let stat = procfs::process::Process::myself().and_then(|process| process.stat());
    let started_ticks = stat.ok()?.starttime;
    Some(ProcessIdentity { boot: own_boot(), pid: std::process::id(), started_ticks })
}

/// The processes of this machine with these identities, as far as they are there, on this side of the load. Those of
/// containers are found too, under their number here.
pub fn processes_with(identities: &[ProcessIdentity], side: Side) -> Vec<Process> {
    let boot = own_boot();
    let here: Vec<&ProcessIdentity> = identities.iter().filter(|it| it.boot == boot).collect();
    if here.is_empty() {
        return Vec::new();
    }
    let Ok(processes) = procfs::process::all_processes() else { return Vec::new() };
    let found = processes.flatten().filter_map(|process| {
        let (pid, stat) = (u32::try_from(process.pid).ok()?, process.stat().ok()?);
        let is_it = |it: &&&ProcessIdentity| {
            it.started_ticks == stat.starttime && Some(it.pid) == own_number(&process)
        };
        here.iter().find(is_it)?;
        Some(Process { name: stat.comm, pid, side })
    });
    found.collect()
}

/// The number of a process as it sees itself: that in the innermost of its namespaces. Source: proc_pid_status(5),
/// `NSpid`.
fn own_number(process: &procfs::process::Process) -> Option<u32> {
    let innermost = process.status().ok()?.nspid.and_then(|numbers| numbers.last().copied());
    u32::try_from(innermost.unwrap_or(process.pid)).ok()
}

/// The kernel's numbers of the sockets on this machine that listen for these addresses.
fn listening_sockets(addresses: &[SocketAddr]) -> HashSet<u64> {
    let here: Vec<SocketAddr> =
        addresses.iter().filter(|address| is_here(address.ip())).copied().collect();
    if here.is_empty() {
        return HashSet::new();
    }
    let tables = [procfs::net::tcp(), procfs::net::tcp6()];
    let all = tables.into_iter().flatten().flatten();
    all.filter(|entry| entry.state == TcpState::Listen)
        .filter(|entry| here.iter().any(|address| takes(entry.local_address, *address)))
        .map(|entry| entry.inode)
        .collect()
}

/// Whether an address belongs to this machine: only then a socket can be bound to it.
fn is_here(ip: IpAddr) -> bool {
    UdpSocket::bind((ip, 0)).is_ok()
}

/// Whether a listener accepts connections to `address`.
fn takes(listener: SocketAddr, address: SocketAddr) -> bool {
    listener.port() == address.port()
        && (listener.ip().is_unspecified() || listener.ip().to_canonical() == address.ip())
}

fn holds_one_of(process: &procfs::process::Process, sockets: &HashSet<u64>) -> bool {
    let Ok(files) = process.fd() else { return false };
    files
        .flatten()
        .any(|file| matches!(file.target, FDTarget::Socket(inode) if sockets.contains(&inode)))
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::{Ipv4Addr, TcpListener};
    use std::os::unix::process::CommandExt;
    use std::process::Stdio;

    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::Pid;

    use super::*;
    use crate::command;

    /// The processes that are found, without those that another test is just starting: for a moment they have all our
    /// files open.
    fn found(address: SocketAddr) -> Vec<u32> {
        let found = server_processes(&[address]).into_iter().map(|process| process.pid);
        found.filter(|&pid| !is_child(pid)).collect()
    }

    fn is_child(pid: u32) -> bool {
        let process = procfs::process::Process::new(pid.cast_signed());
        let stat = process.and_then(|process| process.stat());
        stat.is_ok_and(|stat| stat.ppid.cast_unsigned() == std::process::id())
    }

    #[test]
    fn the_listening_process_is_found_only_at_its_address() {
        // A loopback address that no other test uses: its port may be given to another test as soon as it is free.
        let listener = TcpListener::bind((Ipv4Addr::new(127, 0, 0, 77), 0)).unwrap();
        let address = listener.local_addr().unwrap();
        assert_eq!(found(address), [std::process::id()]);
        drop(listener);
        assert!(found(address).is_empty());
    }

    #[test]
    fn the_children_of_a_process_and_their_children_are_found() {
        let mut shell = command("sh");
        // The innermost tells that it runs, and stands still.
        let script = "sh -c 'sh -c \"echo; kill -s STOP \\$\\$\" & wait' & wait";
        shell.args(["-c", script]).stdout(Stdio::piped());
        let mut shell = shell.process_group(0).spawn().unwrap();
        shell.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let name = "server".to_owned();
        let parent = Process { name, pid: shell.id(), side: Side::Server };
        let found = with_descendants(vec![parent]);
        killpg(Pid::from_raw(shell.id().cast_signed()), Signal::SIGKILL).unwrap();
        shell.wait().unwrap();
        let names: Vec<&str> = found.iter().map(|process| process.name.as_str()).collect();
        assert_eq!(names, ["server", "sh", "sh"]);
        assert!(found.iter().all(|process| process.side == Side::Server));
    }

    #[test]
    fn processes_are_found_by_the_name_that_the_kernel_keeps() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("a-name-that-is-long");
        std::fs::copy("/bin/sleep", &program).unwrap();
        let mut child = command(&program).arg("60").spawn().unwrap();
        let names = [("a-name-that-is-long".to_owned(), Side::Client)];
        let mut found = processes_by_name(&names);
        child.kill().unwrap();
        child.wait().unwrap();
        found.retain(|process| process.pid == child.id());
        let name = "a-name-that-is-".to_owned();
        assert_eq!(found, [Process { name, pid: child.id(), side: Side::Client }]);
        assert!(processes_by_name(&[("a-name".to_owned(), Side::Client)]).is_empty());
        assert!(processes_by_name(&[]).is_empty());
    }

    #[test]
    fn a_process_is_found_by_its_identity_alone() {
        let own = own_identity().unwrap();
        let found = processes_with(std::slice::from_ref(&own), Side::Client);
        let pids: Vec<u32> = found.iter().map(|process| process.pid).collect();
        assert_eq!(pids, [std::process::id()]);
        let before = ProcessIdentity { started_ticks: own.started_ticks - 1, ..own.clone() };
        let next = ProcessIdentity { pid: own.pid + 1, ..own.clone() };
        let elsewhere = ProcessIdentity { boot: "another".to_owned(), ..own };
        assert_eq!(processes_with(&[before, next, elsewhere], Side::Client), []);
    }

    #[test]
    fn a_process_in_a_namespace_of_its_own_is_found_by_the_number_that_it_has_there() {
        // It is the first process there, so its number is 1. Needs root.
        let mut outer = command("unshare");
        let mut outer = outer.args(["--pid", "--fork", "sleep", "60"]).spawn().unwrap();
        let is_inner = |process: &procfs::process::Process| {
            let stat = process.stat();
            stat.is_ok_and(|it| it.comm == "sleep" && it.ppid.cast_unsigned() == outer.id())
        };
        let inner = std::iter::repeat_with(|| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            procfs::process::all_processes().unwrap().flatten().find(is_inner)
        });
        let inner = inner.take(6_000).flatten().next().unwrap();
        let started_ticks = inner.stat().unwrap().starttime;
        let identity = ProcessIdentity { boot: own_boot(), pid: 1, started_ticks };
        let found = processes_with(&[identity], Side::Client);
        nix::sys::signal::kill(
            nix::unistd::Pid::from_raw(inner.pid),
            nix::sys::signal::Signal::SIGKILL,
        )
        .unwrap();
        outer.wait().unwrap();
        let pids: Vec<i32> = found.iter().map(|process| process.pid.cast_signed()).collect();
        assert_eq!(pids, [inner.pid]);
    }

    #[test]
    fn remote_servers_have_no_local_process() {
        let elsewhere = "192.0.2.1:3306".parse().unwrap();
        assert_eq!(server_processes(&[elsewhere]), []);
    }

    #[test]
    fn a_wildcard_listener_matches_every_address() {
        let address = "127.0.0.1:4000".parse().unwrap();
        assert!(takes("0.0.0.0:4000".parse().unwrap(), address));
        assert!(takes("[::]:4000".parse().unwrap(), address));
        assert!(takes("[::ffff:127.0.0.1]:4000".parse().unwrap(), address));
        assert!(!takes("127.0.0.1:4001".parse().unwrap(), address));
        assert!(!takes("127.0.0.2:4000".parse().unwrap(), address));
    }
}
