//! Finds the processes of an external server that runs on this machine.

use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr, UdpSocket};

use measure::{Process, Side};
use procfs::net::TcpState;
use procfs::process::FDTarget;

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
    use std::net::{Ipv4Addr, TcpListener};

    use super::*;

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
    fn processes_are_found_by_the_name_that_the_kernel_keeps() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("a-name-that-is-long");
        std::fs::copy("/bin/sleep", &program).unwrap();
        let mut child = crate::command(&program).arg("60").spawn().unwrap();
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
