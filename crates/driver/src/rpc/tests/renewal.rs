//! Connections that servers close in good order, and what becomes of the calls on them.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use measure::{ErrorClass, Failure};

use super::{LONG, answer_to_next, run, together};
use crate::rpc::{Protocol, Slot};

/// A call that is sent again for as long as the service has not begun it; returns how many connections it took.
async fn call(slot: &mut Slot) -> Result<usize, Failure> {
    let mut connections = 0;
    loop {
        match slot.call(b"1234").await {
            Ok(()) => return Ok(connections),
            Err(failure) if slot.was_begun() => return Err(failure),
            Err(_) => connections += usize::from(slot.connect().await?),
        }
    }
}

/// Waits until the loop has seen that the server has closed the connection.
async fn until_closed(handle: &net::Handle, slot: &Slot) {
    while slot.is_connected() {
        handle.sleep(Duration::from_millis(1)).await;
    }
}

#[test]
fn a_connection_that_was_closed_while_idle_is_made_again_for_the_next_call() {
    let peer = |listener: TcpListener| {
        for _ in 0..3 {
            let (mut stream, _) = listener.accept().unwrap();
            let answer = answer_to_next(&mut stream).unwrap();
            stream.write_all(&answer).unwrap();
        }
    };
    run(Protocol::Trpc, LONG, peer, |handle, connection| async move {
        let (mut one, mut two) = (connection.slot(0), connection.slot(1));
        assert_eq!(one.connect().await, Ok(true));
        assert_eq!(one.connect().await, Ok(false), "each connection is told of once");
        assert_eq!(call(&mut one).await, Ok(0));
        for slot in [&mut one, &mut two] {
            until_closed(&handle, slot).await;
            assert_eq!(call(slot).await, Ok(1));
        }
    });
}

#[test]
fn a_server_that_is_gone_is_a_failure_of_the_next_call() {
    let peer = |listener: TcpListener| {
        let (stream, _) = listener.accept().unwrap();
        drop(listener);
        drop(stream);
    };
    run(Protocol::Trpc, LONG, peer, |handle, connection| async move {
        let mut slot = connection.slot(0);
        slot.connect().await.unwrap();
        until_closed(&handle, &slot).await;
        let failure = call(&mut slot).await.unwrap_err();
        assert_eq!(failure.key.code, crate::REFUSED, "{failure}");
    });
}

#[test]
fn a_peer_that_breaks_the_protocol_between_two_calls_fails_the_next_one() {
    let peer = |listener: TcpListener| {
        let (mut stream, _) = listener.accept().unwrap();
        let answer = answer_to_next(&mut stream).unwrap();
        stream.write_all(&answer.repeat(2)).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        let answer = answer_to_next(&mut stream).unwrap();
        stream.write_all(&answer).unwrap();
    };
    run(Protocol::Trpc, LONG, peer, |handle, connection| async move {
        let mut slot = connection.slot(0);
        slot.connect().await.unwrap();
        slot.call(b"x").await.unwrap();
        until_closed(&handle, &slot).await;
        assert_eq!(call(&mut slot).await.unwrap_err().key.class, ErrorClass::Protocol);
        assert_eq!(call(&mut slot).await, Ok(1), "it fails one call");
    });
}

#[test]
fn a_port_that_closes_at_once_may_want_tls() {
    for reads in [true, false] {
        let peer = move |listener: TcpListener| {
            let (mut stream, _) = listener.accept().unwrap();
            // What is not read makes the end a reset.
            let length = if reads { 16 } else { 1 };
            stream.read_exact(&mut vec![0; length]).unwrap();
            if reads {
                stream.shutdown(std::net::Shutdown::Write).unwrap();
                let _ = stream.read_to_end(&mut Vec::new());
            }
        };
        run(Protocol::Grpc, LONG, peer, |_, connection| async move {
            let mut slot = connection.slot(0);
            slot.connect().await.unwrap();
            let failure = slot.call(b"x").await.unwrap_err();
            assert!(failure.message.contains("it may want TLS (ssl_mode)"), "{failure}");
            assert!(slot.was_begun());
        });
    }
}

#[test]
fn a_connection_that_ends_during_a_call_fails_the_call() {
    let peer = |listener: TcpListener| {
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_exact(&mut [0; 16]).unwrap();
    };
    run(Protocol::Tcp { announces: false }, LONG, peer, |_, connection| async move {
        let mut slot = connection.slot(0);
        slot.connect().await.unwrap();
        let failure = slot.call(&[0; 16]).await.unwrap_err();
        assert_eq!((failure.key.class, slot.was_begun()), (ErrorClass::Connection, true));
    });
}

/// Reads frames of HTTP/2 until the request of this stream has come whole.
fn until_request(stream: &mut TcpStream, id: u32) {
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).unwrap();
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        stream.read_exact(&mut vec![0; length as usize]).unwrap();
        let of = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        // DATA with END_STREAM.
        if (head[3], head[4] & 1, of) == (0, 1, id) {
            return;
        }
    }
}

fn frame(kind: u8, flags: u8, stream: u8, body: &[u8]) -> Vec<u8> {
    let head = [0, 0, body.len() as u8, kind, flags, 0, 0, 0, stream];
    [&head[..], body].concat()
}

/// An empty message and the status OK.
fn grpc_answer(stream: u8) -> Vec<u8> {
    let status = b"\x00\x0bgrpc-status\x010";
    let parts = [frame(1, 4, stream, b"\x88"), frame(0, 0, stream, &[0; 5])];
    [parts.concat(), frame(1, 5, stream, status)].concat()
}

/// Begins a connection of HTTP/2.
fn accept_http2(listener: &TcpListener) -> TcpStream {
    let (mut stream, _) = listener.accept().unwrap();
    stream.read_exact(&mut [0; 24]).unwrap();
    stream.write_all(&frame(4, 0, 0, b"")).unwrap();
    stream
}

#[test]
fn a_call_that_a_goaway_leaves_out_goes_on_at_another_connection_while_the_first_is_finished() {
    let peer = |listener: TcpListener| {
        let mut first = accept_http2(&listener);
        until_request(&mut first, 1);
        until_request(&mut first, 3);
        // GOAWAY: stream 1 is the last that the server has begun.
        first.write_all(&frame(7, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0])).unwrap();
        let mut second = accept_http2(&listener);
        until_request(&mut second, 1);
        second.write_all(&grpc_answer(1)).unwrap();
        first.write_all(&grpc_answer(1)).unwrap();
        // The client closes the first, on which nothing is left.
        let _ = first.read_to_end(&mut Vec::new());
        until_request(&mut second, 3);
        second.write_all(&grpc_answer(3)).unwrap();
    };
    run(Protocol::Grpc, LONG, peer, |_, connection| async move {
        let (mut one, mut two) = (connection.slot(0), connection.slot(1));
        one.connect().await.unwrap();
        assert_eq!(together(call(&mut one), call(&mut two)).await, [Ok(0), Ok(1)]);
        assert_eq!(call(&mut two).await, Ok(0));
    });
}
