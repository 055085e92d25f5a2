//! Connections of this process, as this machine's kernel reports them.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use super::*;

/// A connection over which so many bytes were sent, one at a time, and its other end.
fn connect_and_exchange(listener: &TcpListener, bytes: usize) -> (TcpStream, TcpStream) {
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    client.set_nodelay(true).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    for _ in 0..bytes {
        client.write_all(&[1]).unwrap();
        server.read_exact(&mut [0]).unwrap();
    }
    (client, server)
}

fn watched() -> (TcpListener, ConnectionWatch, Clock) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let watch = ConnectionWatch::new(TcpDiagnosis::open().unwrap(), vec![address]);
    (listener, watch, Clock::monotonic())
}

#[test]
fn connections_closed_between_readings_stay_in_the_totals() {
    let (listener, mut watch, clock) = watched();
    let many: Vec<_> = (0..40).map(|_| connect_and_exchange(&listener, 3)).collect();
    let (mut client, mut server) = connect_and_exchange(&listener, 5);
    let before = watch.read(&clock).unwrap();
    assert_eq!((before.open, before.ended), (41, 0));
    assert_eq!(before.counters.data_segments_sent, 40 * 3 + 5);
    assert!(before.round_trip_ns.is_some());
    drop(many);
    client.write_all(&[1]).unwrap();
    server.read_exact(&mut [0]).unwrap();
    let after = watch.read(&clock).unwrap();
    assert_eq!((after.open, after.ended, after.ended_unreported), (1, 40, 0));
    assert_eq!(after.counters.data_segments_sent, 40 * 3 + 6);
    assert!(after.counters.segments_sent >= before.counters.segments_sent + 41);
    assert_eq!(after.counters.segments_retransmitted, 0);
}

#[test]
fn a_connection_closed_by_dyno_counts_as_closed_before_the_server_closes() {
    let (listener, mut watch, clock) = watched();
    let (client, server) = connect_and_exchange(&listener, 3);
    let before = watch.read(&clock).unwrap();
    assert_eq!((before.open, before.ended), (1, 0));
    drop(client);
    let half = watch.read(&clock).unwrap();
    assert_eq!((half.open, half.ended, half.ended_unreported), (0, 1, 0));
    assert!(half.counters.segments_sent > before.counters.segments_sent, "the farewell");
    drop(server);
    let after = watch.read(&clock).unwrap();
    assert_eq!((after.open, after.ended, after.ended_unreported), (0, 1, 0));
}
