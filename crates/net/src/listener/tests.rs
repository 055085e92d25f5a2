//! Connections that are accepted on one loop and served on it or on another one.

use std::io::{Read as _, Write as _};
use std::sync::mpsc;
use std::thread;

use super::*;
use crate::{Clock, Runtime, Stream};

fn bound() -> (net::TcpListener, net::SocketAddr) {
    let socket = net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

/// Connects, sends a byte, and returns the byte that comes back.
fn exchange(address: net::SocketAddr, byte: u8) -> u8 {
    let mut socket = net::TcpStream::connect(address).unwrap();
    socket.write_all(&[byte]).unwrap();
    let mut answer = [0];
    socket.read_exact(&mut answer).unwrap();
    answer[0]
}

async fn answer(handle: Handle, accepted: Accepted) {
    let mut stream = Stream::accepted(&handle, accepted).unwrap();
    let byte = stream.read_with(|bytes| bytes[0]).await.unwrap();
    stream.write_all(&[byte + 1]).await.unwrap();
}

#[test]
fn every_connection_is_accepted_also_those_from_before_the_first_wait() {
    const PEERS: u8 = 20;
    let (socket, address) = bound();
    let peers: Vec<_> =
        (0..PEERS).map(|byte| thread::spawn(move || exchange(address, byte))).collect();
    let mut runtime = Runtime::new(Clock::monotonic()).unwrap();
    let handle = runtime.handle();
    let served = runtime.block_on(async move {
        let mut listener = Listener::new(&handle, socket).unwrap();
        for _ in 0..PEERS {
            let accepted = listener.accept().await;
            answer(handle.clone(), accepted).await;
        }
    });
    served.unwrap();
    let answers: Vec<u8> = peers.into_iter().map(|peer| peer.join().unwrap()).collect();
    assert_eq!(answers, (1..=PEERS).collect::<Vec<_>>());
}

#[test]
fn an_accepted_connection_is_served_on_the_loop_of_another_thread() {
    let (socket, address) = bound();
    let (give, take) = mpsc::channel();
    let accepting = thread::spawn(move || {
        let mut runtime = Runtime::new(Clock::monotonic()).unwrap();
        let handle = runtime.handle();
        let accepted = async move { Listener::new(&handle, socket).unwrap().accept().await };
        give.send(runtime.block_on(accepted).unwrap()).unwrap();
    });
    let serving = thread::spawn(move || {
        let accepted = take.recv().unwrap();
        let mut runtime = Runtime::new(Clock::monotonic()).unwrap();
        let handle = runtime.handle();
        runtime.block_on(answer(handle, accepted)).unwrap();
    });
    assert_eq!(exchange(address, 7), 8);
    accepting.join().unwrap();
    serving.join().unwrap();
}

#[test]
fn only_an_error_of_one_peer_is_skipped() {
    use rustix::io::Errno;
    for (errno, skipped) in [
        (Errno::CONNABORTED, true),
        (Errno::INTR, true),
        (Errno::HOSTUNREACH, true),
        (Errno::NOMEM, false),
        (Errno::MFILE, false),
    ] {
        assert_eq!(is_of_one_peer(&io::Error::from(errno)), skipped, "{errno}");
    }
}
