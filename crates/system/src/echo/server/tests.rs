//! The server on real sockets, from connections in both protocols.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use super::super::trpc::tests::{REQUEST, RESPONSE};
use super::*;

fn server(threads: usize, sizes: Option<FixedSizes>) -> EchoServer {
    let listen = "127.0.0.1:0".parse().unwrap();
    let threads = NonZero::new(threads).unwrap();
    EchoServer::start(&EchoOptions { listen, threads, sizes }).unwrap()
}

fn connect(server: &EchoServer) -> TcpStream {
    let socket = TcpStream::connect(server.address()).unwrap();
    // No read of these tests waits so long unless the server is wrong.
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    socket
}

fn answer(socket: &mut TcpStream, request: &[u8], length: usize) -> Vec<u8> {
    socket.write_all(request).unwrap();
    let mut answer = vec![1; length];
    socket.read_exact(&mut answer).unwrap();
    answer
}

#[test]
fn both_protocols_are_answered_on_one_port_by_every_thread() {
    let sizes = FixedSizes { request: 2, answer: 5 };
    let server = server(3, Some(sizes));
    let told = FixedSizes { request: 10, answer: 4 }.encode();
    let mut sockets: Vec<TcpStream> = (0..9).map(|_| connect(&server)).collect();
    for _ in 0..3 {
        for socket in &mut sockets[..3] {
            assert_eq!(answer(socket, &REQUEST.repeat(4), 108), RESPONSE.repeat(4));
        }
        for socket in &mut sockets[3..6] {
            assert_eq!(answer(socket, b"1212", 10), [0; 10]);
        }
    }
    for socket in &mut sockets[6..] {
        socket.write_all(&told).unwrap();
        assert_eq!(answer(socket, b"1234567890", 4), [0; 4]);
    }
    drop(sockets);
    server.stop().unwrap();
}

#[test]
fn a_connection_of_no_protocol_is_closed_and_others_stay() {
    let server = server(1, None);
    let mut good = connect(&server);
    let mut wrong = connect(&server);
    wrong.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let mut rest = Vec::new();
    assert_eq!(wrong.read_to_end(&mut rest).unwrap_or(0), 0, "no answer before the end");
    assert_eq!(answer(&mut good, &REQUEST, 27), RESPONSE);
}

#[test]
fn a_peer_that_does_not_read_is_not_read_from_and_gets_all_answers_later() {
    // More than the kernel's buffers of both directions hold.
    const REQUESTS: usize = 600_000;
    let server = server(1, None);
    let mut slow = connect(&server);
    let mut writer = slow.try_clone().unwrap();
    let writing = thread::spawn(move || {
        let batch = REQUEST.repeat(1_000);
        (0..REQUESTS / 1_000).for_each(|_| writer.write_all(&batch).unwrap());
    });
    // Others are answered meanwhile.
    assert_eq!(answer(&mut connect(&server), &REQUEST, 27), RESPONSE);
    let mut chunk = vec![0; RESPONSE.len() * 1_000];
    let expected = RESPONSE.repeat(1_000);
    for _ in 0..REQUESTS / 1_000 {
        slow.read_exact(&mut chunk).unwrap();
        assert!(chunk == expected);
    }
    writing.join().unwrap();
}

#[test]
fn the_end_of_the_server_closes_its_connections_and_frees_its_port() {
    let server = server(2, None);
    let mut sockets = [connect(&server), connect(&server)];
    for socket in &mut sockets {
        assert_eq!(answer(socket, &REQUEST, 27), RESPONSE);
    }
    let address = server.address();
    assert!(!server.has_failed());
    server.stop().unwrap();
    for socket in &mut sockets {
        assert_eq!(socket.read(&mut [0]).unwrap_or(0), 0);
    }
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn a_port_in_use_is_an_error() {
    let first = server(1, None);
    let threads = NonZero::new(1).unwrap();
    let options = EchoOptions { listen: first.address(), threads, sizes: None };
    let error = EchoServer::start(&options).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
}
