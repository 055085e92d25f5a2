//! Streams over real sockets on loopback: answers, partial reads, peers that close.

use std::cell::Cell;
use std::future::Future;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::rc::Rc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::*;
use crate::{Clock, Gate, Runtime, within};

/// A peer that passes its first connection to `serve`.
pub(super) fn peer(serve: impl FnOnce(TcpStream) + Send + 'static) -> (Endpoint, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = Endpoint::Tcp(listener.local_addr().unwrap());
    (endpoint, thread::spawn(move || serve(listener.accept().unwrap().0)))
}

pub(super) fn run<T: 'static, F: Future<Output = T> + 'static>(
    body: impl FnOnce(Handle) -> F,
) -> T {
    let mut runtime = Runtime::new(Clock::monotonic()).unwrap();
    let handle = runtime.handle();
    runtime.block_on(body(handle)).unwrap()
}

/// Reads until `wanted` bytes have arrived or the peer has closed.
pub(super) async fn read_bytes(stream: &mut Stream, wanted: usize) -> Vec<u8> {
    let mut all = Vec::new();
    while all.len() < wanted {
        let read = stream.read_with(|bytes| {
            all.extend_from_slice(bytes);
            bytes.len()
        });
        if read.await.unwrap() == 0 {
            break;
        }
    }
    all
}

#[test]
fn sent_bytes_are_echoed() {
    let (endpoint, serving) = peer(|mut socket| {
        let mut request = [0; 5];
        for _ in 0..100 {
            socket.read_exact(&mut request).unwrap();
            socket.write_all(&request).unwrap();
        }
    });
    run(|handle| async move {
        let mut stream = Stream::connect(&handle, &endpoint).await.unwrap();
        for round in 0..100_u8 {
            let request = [round; 5];
            stream.write_all(&request).await.unwrap();
            assert_eq!(read_bytes(&mut stream, 5).await, request);
        }
    });
    serving.join().unwrap();
}

#[test]
fn an_answer_may_come_in_chunks() {
    let (endpoint, serving) = peer(|mut socket| {
        for byte in b"abcdef" {
            socket.write_all(&[*byte]).unwrap();
            thread::sleep(Duration::from_millis(2));
        }
    });
    run(|handle| async move {
        let mut stream = Stream::connect(&handle, &endpoint).await.unwrap();
        assert_eq!(read_bytes(&mut stream, 6).await, b"abcdef");
    });
    serving.join().unwrap();
}

#[test]
fn more_than_the_buffers_hold_goes_both_ways() {
    const LENGTH: usize = 8 << 20;
    let (endpoint, serving) = peer(|mut socket| {
        let mut all = vec![0; LENGTH];
        socket.read_exact(&mut all).unwrap();
        socket.write_all(&all).unwrap();
    });
    run(|handle| async move {
        let mut stream = Stream::connect(&handle, &endpoint).await.unwrap();
        let all: Vec<u8> = (0..LENGTH).map(|place| (place % 251) as u8).collect();
        stream.write_all(&all).await.unwrap();
        assert!(read_bytes(&mut stream, LENGTH).await == all);
    });
    serving.join().unwrap();
}

#[test]
fn pending_bytes_are_read_before_end_of_stream() {
    let (endpoint, serving) = peer(|mut socket| socket.write_all(b"bye").unwrap());
    run(|handle| async move {
        let mut stream = Stream::connect(&handle, &endpoint).await.unwrap();
        // Both the bytes and the end have arrived before the first read.
        handle.sleep(Duration::from_millis(20)).await;
        assert_eq!(read_bytes(&mut stream, 3).await, b"bye");
        assert_eq!(stream.read_with(<[u8]>::len).await.unwrap(), 0);
        assert_eq!(stream.read_with(<[u8]>::len).await.unwrap(), 0);
    });
    serving.join().unwrap();
}

#[test]
fn a_close_while_awaiting_an_answer_is_noticed() {
    let (endpoint, serving) = peer(|socket| {
        thread::sleep(Duration::from_millis(10));
        drop(socket);
    });
    run(|handle| async move {
        let mut stream = Stream::connect(&handle, &endpoint).await.unwrap();
        assert_eq!(stream.read_with(<[u8]>::len).await.unwrap(), 0);
    });
    serving.join().unwrap();
}

#[test]
fn writing_to_a_peer_that_has_reset_fails() {
    let (endpoint, serving) = peer(|mut socket| {
        // Closing with bytes unread resets the connection.
        socket.read_exact(&mut [0; 1]).unwrap();
    });
    let kind = run(|handle| async move {
        let mut stream = Stream::connect(&handle, &endpoint).await.unwrap();
        stream.write_all(b"more than is read").await.unwrap();
        loop {
            match stream.read_with(<[u8]>::len).await {
                Ok(0) => return ErrorKind::ConnectionReset,
                Ok(_) => {}
                Err(error) => return error.kind(),
            }
        }
    });
    assert_eq!(kind, ErrorKind::ConnectionReset);
    serving.join().unwrap();
}

#[test]
fn a_closed_port_refuses() {
    // A free port could be taken by another test; no server listens on this one.
    let endpoint = Endpoint::Tcp("127.0.0.1:1".parse().unwrap());
    let kind = run(|handle| async move {
        Stream::connect(&handle, &endpoint).await.err().map(|error| error.kind())
    });
    assert_eq!(kind, Some(ErrorKind::ConnectionRefused));
}

#[test]
fn unix_sockets_answer_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let serving = thread::spawn(move || listener.accept().unwrap().0.write_all(b"hello").unwrap());
    run(|handle| async move {
        let mut stream = Stream::connect(&handle, &Endpoint::Unix(path)).await.unwrap();
        assert_eq!(read_bytes(&mut stream, 5).await, b"hello");
    });
    serving.join().unwrap();
    let missing = Endpoint::Unix(folder.path().join("missing"));
    let kind = run(|handle| async move {
        Stream::connect(&handle, &missing).await.err().map(|error| error.kind())
    });
    assert_eq!(kind, Some(ErrorKind::NotFound));
}

#[test]
fn a_conversation_over_a_unix_socket_takes_exact_virtual_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let mut runtime = Runtime::new(Clock::simulated()).unwrap();
    let handle = runtime.handle();
    let times = runtime.block_on(async move {
        let mut stream = Stream::connect(&handle, &Endpoint::Unix(path)).await.unwrap();
        let (mut other, _) = listener.accept().unwrap();
        let peer = handle.clone();
        handle.spawn(async move {
            for length in [1, 2] {
                peer.sleep(Duration::from_secs(3)).await;
                other.write_all(&vec![7; length]).unwrap();
            }
        });
        let mut times = Vec::new();
        for _ in 0..3 {
            let length = stream.read_with(<[u8]>::len).await.unwrap();
            times.push((handle.now() / 1_000_000_000, length));
        }
        let silent = within(&handle, Duration::from_secs(9), handle.sleep_until(u64::MAX)).await;
        (times, silent.is_none(), handle.now())
    });
    assert_eq!(times.unwrap(), (vec![(3, 1), (6, 2), (6, 0)], true, 15_000_000_000));
}

#[test]
fn a_silent_peer_times_out() {
    let (endpoint, serving) = peer(|mut socket| {
        let _ = socket.read(&mut [0; 1]);
    });
    run(|handle| async move {
        let mut stream = Stream::connect(&handle, &endpoint).await.unwrap();
        let silent = within(&handle, Duration::from_millis(5), stream.read_with(<[u8]>::len)).await;
        assert!(silent.is_none());
        let at_once = within(&handle, Duration::from_secs(60), async { 7 }).await;
        assert_eq!(at_once, Some(7));
    });
    serving.join().unwrap();
}

#[test]
fn many_clients_of_one_loop_are_all_answered() {
    const CLIENTS: usize = 300;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = Endpoint::Tcp(listener.local_addr().unwrap());
    let serving = thread::spawn(move || {
        for _ in 0..CLIENTS {
            let (mut socket, _) = listener.accept().unwrap();
            thread::spawn(move || {
                let mut request = [0; 4];
                while socket.read_exact(&mut request).is_ok() {
                    socket.write_all(&request).unwrap();
                }
            });
        }
    });
    let mut runtime = Runtime::new(Clock::monotonic()).unwrap();
    let (handle, gate) = (runtime.handle(), Gate::default());
    let (connected, answered) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    for client in 0..CLIENTS {
        let (handle, gate, endpoint) = (handle.clone(), gate.clone(), endpoint.clone());
        let (connected, answered) = (Rc::clone(&connected), Rc::clone(&answered));
        runtime.spawn(async move {
            let turn = handle.connect_permit().await;
            let mut stream = Stream::connect(&handle, &endpoint).await.unwrap();
            drop(turn);
            connected.set(connected.get() + 1);
            if connected.get() == CLIENTS {
                gate.open(&handle);
            }
            gate.wait(&handle).await;
            for round in 0..10 {
                let request = ((client * 10 + round) as u32).to_le_bytes();
                stream.write_all(&request).await.unwrap();
                assert_eq!(read_bytes(&mut stream, 4).await, request);
                answered.set(answered.get() + 1);
            }
        });
    }
    runtime.run(|| Some(u64::MAX)).unwrap();
    assert_eq!(answered.get(), CLIENTS * 10);
    serving.join().unwrap();
}
