//! TCP statistics of this machine's kernel for connections over loopback.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};

use super::*;

/// Longer than the kernel takes to report a closed connection, even on a busy machine.
const TIMEOUT_NS: crate::Nanos = 20_000_000_000;

/// A connection that has sent 1,000 bytes and received 10, and its peer.
fn connect_and_exchange() -> (TcpStream, TcpStream, SocketAddr) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let mut client = TcpStream::connect(address).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    client.write_all(&[7; 1_000]).unwrap();
    server.read_exact(&mut [0; 1_000]).unwrap();
    server.write_all(&[8; 10]).unwrap();
    client.read_exact(&mut [0; 10]).unwrap();
    (client, server, address)
}

fn only(diagnosis: &mut TcpDiagnosis, address: SocketAddr) -> TcpConnection {
    let found = diagnosis.connections_to(address).unwrap();
    let [connection] = found[..] else { panic!("one connection to {address}: {found:?}") };
    connection
}

#[test]
fn segments_with_and_without_data_are_distinguished() {
    let mut diagnosis = TcpDiagnosis::open().unwrap();
    let (client, _server, address) = connect_and_exchange();
    let TcpConnection { inode, remote, info, .. } = only(&mut diagnosis, address);
    assert_eq!(remote, address);
    let link = format!("/proc/self/fd/{}", client.as_raw_fd());
    let link = std::fs::read_link(link).unwrap();
    assert_eq!(link.to_str().unwrap(), format!("socket:[{inode}]"));
    assert_eq!((info.data_segments_sent, info.data_segments_received), (1, 1), "{info:?}");
    // The segment that begins a connection counts as one byte.
    assert_eq!((info.bytes_acknowledged, info.bytes_received), (1_001, 10));
    // The handshake: SYN, and the acknowledgement of the answer.
    assert!(info.segments_sent >= 3 && info.segments_received >= 2, "{info:?}");
    assert!(info.round_trip_us > 0);
}

#[test]
fn only_connections_to_the_address_are_listed() {
    let mut diagnosis = TcpDiagnosis::open().unwrap();
    let (_client, _server, address) = connect_and_exchange();
    let elsewhere = SocketAddr::from(([127, 0, 0, 2], address.port()));
    assert_eq!(diagnosis.connections_to(elsewhere).unwrap(), []);
    let by_six = SocketAddr::from((std::net::Ipv6Addr::LOCALHOST, address.port()));
    assert_eq!(diagnosis.connections_to(by_six).unwrap(), []);
}

#[test]
fn a_closed_connection_is_reported_with_its_final_counters() {
    let mut diagnosis = TcpDiagnosis::open().unwrap();
    let (mut client, mut server, address) = connect_and_exchange();
    let before = only(&mut diagnosis, address);
    client.write_all(&[7; 100]).unwrap();
    server.read_exact(&mut [0; 100]).unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(server.read(&mut [0; 1]).unwrap(), 0);
    drop((client, server));
    let clock = crate::Clock::monotonic();
    let ended = loop {
        match diagnosis.next_ended(Duration::from_millis(100)).unwrap() {
            CloseNotice::Connection(it) if it.cookie == before.cookie => break it,
            _ => assert!(clock.now() < TIMEOUT_NS, "nothing was told of its end"),
        }
    };
    assert_eq!(ended.remote, address);
    assert_eq!(ended.info.data_segments_sent, 2);
    // The segment that ends it counts as one byte too.
    assert_eq!(ended.info.bytes_acknowledged, 1_102);
    assert_eq!(diagnosis.connections_to(address).unwrap(), []);
}

#[test]
fn waiting_for_a_close_notice_times_out() {
    let mut diagnosis = TcpDiagnosis::open().unwrap();
    // Other processes can close connections meanwhile, but not without any pause.
    let is_quiet = |_| diagnosis.next_ended(Duration::from_millis(1)).unwrap() == CloseNotice::None;
    assert!((0..1_000_000).any(is_quiet));
}
