//! Connections of this process, as this machine's kernel tells of them.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use super::*;

/// A connection over which so many bytes went, one at a time, and its other end.
fn talk(listener: &TcpListener, bytes: usize) -> (TcpStream, TcpStream) {
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    client.set_nodelay(true).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    for _ in 0..bytes {
        client.write_all(&[1]).unwrap();
        server.read_exact(&mut [0]).unwrap();
    }
    (client, server)
}

/// A server, and who watches the connections to it.
fn watched() -> (TcpListener, Watch, Clock) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let watch = Watch::new(TcpDiagnosis::open().unwrap(), vec![address]);
    (listener, watch, Clock::monotonic())
}

#[test]
fn connections_that_end_between_two_readings_keep_their_place_in_the_sums() {
    let (listener, mut watch, clock) = watched();
    let many: Vec<_> = (0..40).map(|_| talk(&listener, 3)).collect();
    let (mut client, mut server) = talk(&listener, 5);
    let before = watch.read(&clock).unwrap();
    assert_eq!((before.open, before.ended), (41, 0));
    assert_eq!(before.counters.data_segments_sent, 40 * 3 + 5);
    assert!(before.round_trip_ns.is_some());
    drop(many);
    client.write_all(&[1]).unwrap();
    server.read_exact(&mut [0]).unwrap();
    let after = watch.read(&clock).unwrap();
    assert_eq!((after.open, after.ended, after.ended_unheard), (1, 40, 0));
    assert_eq!(after.counters.data_segments_sent, 40 * 3 + 6);
    assert!(after.counters.segments_sent >= before.counters.segments_sent + 41);
    assert_eq!(after.counters.segments_retransmitted, 0);
}

#[test]
fn a_connection_that_dyno_closed_is_ended_though_the_server_still_holds_its_end() {
    let (listener, mut watch, clock) = watched();
    let (client, server) = talk(&listener, 3);
    let before = watch.read(&clock).unwrap();
    assert_eq!((before.open, before.ended), (1, 0));
    drop(client);
    let half = watch.read(&clock).unwrap();
    assert_eq!((half.open, half.ended, half.ended_unheard), (0, 1, 0));
    assert!(half.counters.segments_sent > before.counters.segments_sent, "the farewell");
    drop(server);
    let after = watch.read(&clock).unwrap();
    assert_eq!((after.open, after.ended, after.ended_unheard), (0, 1, 0));
}
