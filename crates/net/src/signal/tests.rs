//! Signals and gates: in virtual time, and around a connection that several futures share.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use super::*;
use crate::{Clock, Endpoint, Nanos, Runtime, Stream};

/// A loop in virtual time.
fn simulated() -> (Runtime, Handle) {
    let runtime = Runtime::new(Clock::simulated()).unwrap();
    let handle = runtime.handle();
    (runtime, handle)
}

#[test]
fn an_open_gate_lets_all_waiting_futures_through_at_once_and_stays_open() {
    let (mut runtime, handle) = simulated();
    let gate = Gate::default();
    let through = Rc::new(RefCell::new(Vec::new()));
    for client in 0..3 {
        let (handle, gate, through) = (handle.clone(), gate.clone(), Rc::clone(&through));
        runtime.spawn(async move {
            gate.wait(&handle).await;
            gate.wait(&handle).await;
            through.borrow_mut().push((client, handle.now()));
        });
    }
    let opener = gate.clone();
    runtime.spawn(async move {
        handle.sleep(Duration::from_nanos(7)).await;
        opener.open(&handle);
    });
    runtime.run(|| Some(Nanos::MAX)).unwrap();
    assert_eq!(*through.borrow(), [(0, 7), (1, 7), (2, 7)]);
    assert!(gate.is_open());
}

#[test]
fn two_futures_exchange_a_value_without_virtual_time_passing() {
    let (mut runtime, handle) = simulated();
    let value = Rc::new(Cell::new(0));
    let signals = [Signal::new(&handle), Signal::new(&handle)];
    for player in 0..2 {
        let value = Rc::clone(&value);
        let [mine, other] = [signals[player].clone(), signals[1 - player].clone()];
        runtime.spawn(async move {
            for round in 0..5_000 {
                mine.wait().await;
                assert_eq!(value.replace(value.get() + 1), 2 * round + player);
                other.wake();
            }
        });
    }
    signals[0].wake();
    let mut ticks = 0;
    let ended = runtime.run(|| {
        ticks += 1;
        Some(Nanos::MAX)
    });
    ended.unwrap();
    assert_eq!(value.get(), 10_000);
    assert_eq!(handle.now(), 0, "time stands still while a future is ready");
    assert_eq!(ticks, 10_000_usize.div_ceil(1024), "the loop looks around after a bounded number");
}

#[test]
fn wakes_before_a_wait_are_kept_and_merged() {
    let (mut runtime, handle) = simulated();
    let signal = Signal::new(&handle);
    signal.wake();
    signal.wake();
    let waited = runtime.block_on(async move {
        signal.wait().await;
        crate::within(&handle, Duration::from_nanos(5), signal.wait()).await
    });
    assert_eq!(waited.unwrap(), None);
}

#[test]
fn a_wake_for_an_abandoned_wait_is_kept() {
    let (mut runtime, handle) = simulated();
    let signal = Signal::new(&handle);
    let (waker, clock) = (signal.clone(), handle.clone());
    runtime.spawn(async move {
        clock.sleep(Duration::from_nanos(7)).await;
        waker.wake();
    });
    let seen = runtime.block_on(async move {
        let first = crate::within(&handle, Duration::from_nanos(5), signal.wait()).await;
        handle.sleep(Duration::from_nanos(10)).await;
        signal.wait().await;
        (first, handle.now())
    });
    assert_eq!(seen.unwrap(), (None, 15));
}

/// A connection that several futures share: each request and each answer is one byte.
struct Shared {
    outgoing: RefCell<Vec<u8>>,
    /// Signals the connection's own future that there are bytes to send.
    has_outgoing: Signal,
    waiting: RefCell<BTreeMap<u8, Signal>>,
}

/// Sends outgoing bytes, and wakes the future that waits for each answer; ends when the peer closes.
async fn drive(mut stream: Stream, shared: Rc<Shared>) {
    let mut sending = Vec::new();
    let mut sent = 0;
    poll_fn(|_| {
        while shared.has_outgoing.poll_wait().is_ready() {}
        sending.append(&mut shared.outgoing.borrow_mut());
        let _ = stream.poll_write(&sending, &mut sent);
        loop {
            let read = stream.poll_read_with(|answers| {
                for answer in answers {
                    shared.waiting.borrow_mut().remove(answer).unwrap().wake();
                }
                answers.len()
            });
            match read {
                Poll::Ready(Ok(1..)) => {}
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
    })
    .await;
}

#[test]
fn futures_share_a_connection_whose_answers_come_in_another_order() {
    const CLIENTS: u8 = 100;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // Answers only when it has all requests, the last one first.
    let server = thread::spawn(move || {
        let (mut peer, _) = listener.accept().unwrap();
        let mut requests = [0; CLIENTS as usize];
        peer.read_exact(&mut requests).unwrap();
        requests.reverse();
        peer.write_all(&requests).unwrap();
    });
    let mut runtime = Runtime::new(Clock::monotonic()).unwrap();
    let handle = runtime.handle();
    let shared = Rc::new(Shared {
        outgoing: RefCell::default(),
        has_outgoing: Signal::new(&handle),
        waiting: RefCell::default(),
    });
    let (own, connection) = (handle.clone(), Rc::clone(&shared));
    handle.spawn(async move {
        let stream = Stream::connect(&own, &Endpoint::Tcp(address)).await.unwrap();
        drive(stream, connection).await;
    });
    let answered = Rc::new(RefCell::new(Vec::new()));
    for client in 0..CLIENTS {
        let (shared, answered) = (Rc::clone(&shared), Rc::clone(&answered));
        let answer = Signal::new(&handle);
        runtime.spawn(async move {
            shared.waiting.borrow_mut().insert(client, answer.clone());
            shared.outgoing.borrow_mut().push(client);
            shared.has_outgoing.wake();
            answer.wait().await;
            answered.borrow_mut().push(client);
        });
    }
    runtime.run(|| Some(Nanos::MAX)).unwrap();
    server.join().unwrap();
    assert_eq!(*answered.borrow(), (0..CLIENTS).rev().collect::<Vec<_>>());
}
