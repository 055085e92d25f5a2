//! Connections to peers that follow a script, and the limits of what a connection remembers.

mod phases;
mod renewal;

use std::future::{Future, poll_fn};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::pin::Pin;
use std::sync::{Arc, mpsc};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use measure::{ErrorClass, Failure};
use net::{Clock, Handle, Runtime, Signal};

use super::answer::Answer;
use super::state::{Calls, LinkEnd, Outgoing, RequestPlace};
use super::{Call, Connection, ContentType, Method, Protocol, Service, Slot};
use crate::Timeouts;

/// A time-out that no busy machine reaches by chance with a peer that answers.
const LONG: Duration = Duration::from_secs(100);
const PLACE: RequestPlace = RequestPlace { link: 0, begin: 0 };
/// A time-out that passes.
const SHORT: Duration = Duration::from_millis(100);

/// Runs `client` on a connection of two slots to a peer that behaves in this way.
fn run<T: 'static, F: Future<Output = T> + 'static>(
    protocol: Protocol,
    query: Duration,
    peer: impl FnOnce(TcpListener) + Send + 'static,
    client: impl FnOnce(Handle, Connection) -> F,
) -> T {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let peer = thread::spawn(move || peer(listener));
    let mut runtime = Runtime::new(Clock::monotonic()).unwrap();
    let handle = runtime.handle();
    let connection = connection(&handle, protocol, address, (query, 4));
    let result = runtime.block_on(client(handle, connection)).unwrap();
    drop(runtime);
    peer.join().unwrap();
    result
}

/// A connection of two slots with this time-out and answers of this length.
fn connection(
    handle: &Handle,
    protocol: Protocol,
    address: SocketAddr,
    (query, answer_bytes): (Duration, usize),
) -> Connection {
    let service = Service::resolve(protocol, &format!("{}://{address}", protocol.name())).unwrap();
    let call = Call {
        method: Method::parse("a.B/C"),
        metadata: Vec::new(),
        content_type: ContentType::Bytes,
        caller: String::new(),
        answer_bytes,
        ..Call::default()
    };
    let timeouts = Timeouts { query: Some(query), ..Timeouts::default() };
    Connection::new(handle, &Arc::new(service), &call.into(), timeouts, (0, 2))
}

/// Reads a frame of tRPC and returns its answer; `None` when the client has closed.
fn answer_to_next(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut head = [0; 16];
    stream.read_exact(&mut head).ok()?;
    let total = u32::from_be_bytes([head[4], head[5], head[6], head[7]]) as usize;
    stream.read_exact(&mut vec![0; total - 16]).ok()?;
    head[4..10].copy_from_slice(&[0, 0, 0, 16, 0, 0]);
    Some(head.to_vec())
}

/// Answers every request until the client closes.
fn answer_all(stream: &mut TcpStream) {
    while let Some(answer) = answer_to_next(stream) {
        if stream.write_all(&answer).is_err() {
            return;
        }
    }
}

async fn call_until_answered(slot: &mut Slot) {
    while slot.call(b"x").await.is_err() {
        let _ = slot.connect().await;
    }
}

/// Two calls at the same time.
async fn both(one: &mut Slot, two: &mut Slot) -> [Result<(), Failure>; 2] {
    together(one.call(b"1"), two.call(b"2")).await
}

async fn together<T>(one: impl Future<Output = T>, two: impl Future<Output = T>) -> [T; 2] {
    let (mut first, mut second) = (Box::pin(one), Box::pin(two));
    let mut results = [None, None];
    poll_fn(|context| {
        poll_into(&mut results[0], first.as_mut(), context);
        poll_into(&mut results[1], second.as_mut(), context);
        if results.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    results.map(Option::unwrap)
}

fn poll_into<T>(
    result: &mut Option<T>,
    future: Pin<&mut impl Future<Output = T>>,
    context: &mut std::task::Context<'_>,
) {
    if result.is_none()
        && let Poll::Ready(value) = future.poll(context)
    {
        *result = Some(value);
    }
}

fn classes(results: [Result<(), Failure>; 2]) -> [Option<ErrorClass>; 2] {
    results.map(|result| result.err().map(|failure| failure.key.class))
}

#[test]
fn a_late_answer_is_dropped_and_the_connection_goes_on() {
    let peer = |listener: TcpListener| {
        let (mut stream, _) = listener.accept().unwrap();
        // The second request comes when the first has timed out.
        let answers = [answer_to_next(&mut stream).unwrap(), answer_to_next(&mut stream).unwrap()];
        stream.write_all(&answers.concat()).unwrap();
        answer_all(&mut stream);
        listener.set_nonblocking(true).unwrap();
        assert!(listener.accept().is_err(), "there is no second connection");
    };
    let first = run(Protocol::Trpc, SHORT, peer, |_, connection| async move {
        let mut slot = connection.slot(0);
        slot.connect().await.unwrap();
        let first = slot.call(b"x").await;
        call_until_answered(&mut slot).await;
        first.unwrap_err()
    });
    assert_eq!(first.to_string(), "no answer within 100ms, the query time-out");
    assert_eq!(first.key.class, ErrorClass::Timeout);
}

#[test]
fn a_second_answer_breaks_the_connection_for_all_of_its_calls() {
    let peer = |listener: TcpListener| {
        let (mut stream, _) = listener.accept().unwrap();
        let first = answer_to_next(&mut stream).unwrap();
        answer_to_next(&mut stream).unwrap();
        stream.write_all(&first.repeat(2)).unwrap();
        answer_all(&mut listener.accept().unwrap().0);
    };
    let results = run(Protocol::Trpc, LONG, peer, |_, connection| async move {
        let (mut one, mut two) = (connection.slot(0), connection.slot(1));
        one.connect().await.unwrap();
        let results = both(&mut one, &mut two).await;
        assert!(!one.is_connected());
        one.connect().await.unwrap();
        assert_eq!(classes(both(&mut one, &mut two).await), [None, None]);
        results
    });
    let told = results[1].as_ref().unwrap_err().to_string();
    assert!(told.contains("which was answered before or never sent"), "{told}");
    assert_eq!(classes(results), [None, Some(ErrorClass::Protocol)]);
}

#[test]
fn an_answer_to_an_unknown_id_fails_all_calls() {
    let peer = |listener: TcpListener| {
        let (mut stream, _) = listener.accept().unwrap();
        let mut answer = answer_to_next(&mut stream).unwrap();
        answer_to_next(&mut stream).unwrap();
        answer[10..14].copy_from_slice(&7_u32.to_be_bytes());
        stream.write_all(&answer).unwrap();
        // Until the client closes.
        assert!(answer_to_next(&mut stream).is_none());
    };
    let results = run(Protocol::Trpc, LONG, peer, |_, connection| async move {
        let (mut one, mut two) = (connection.slot(0), connection.slot(1));
        one.connect().await.unwrap();
        classes(both(&mut one, &mut two).await)
    });
    assert_eq!(results, [Some(ErrorClass::Protocol); 2]);
}

#[test]
fn a_connection_on_which_a_request_never_left_is_given_up() {
    let peer = |listener: TcpListener| {
        let (unread, _) = listener.accept().unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        drop(unread);
        let mut request = [0; 4];
        stream.read_exact(&mut request).unwrap();
        stream.write_all(&request).unwrap();
    };
    let tcp = Protocol::Tcp { announces: false };
    run(tcp, SHORT, peer, |_, connection| async move {
        let mut slot = connection.slot(0);
        slot.connect().await.unwrap();
        // More than the kernel takes.
        let failure = slot.call(&vec![0; 64 << 20]).await.unwrap_err();
        assert_eq!(failure.key.class, ErrorClass::Timeout);
        assert!(!slot.is_connected(), "no call may begin on it");
        let refused = slot.call(b"more").await.unwrap_err();
        assert!(refused.message.contains("has not read a request within 100ms"), "{refused}");
        assert!(refused.message.starts_with("127.0.0.1:"), "{refused}");
        slot.connect().await.unwrap();
        slot.call(b"more").await.unwrap();
    });
}

#[test]
fn slots_that_wait_for_a_connection_survive_its_end() {
    let peer = |listener: TcpListener| {
        drop(listener.accept().unwrap());
        drop(listener.accept().unwrap());
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"HTTP").unwrap();
        drop(stream);
        answer_all(&mut listener.accept().unwrap().0);
    };
    run(Protocol::Trpc, LONG, peer, |_, connection| async move {
        let (mut one, mut two) = (connection.slot(0), connection.slot(1));
        loop {
            let _ = one.connect().await;
            let _ = two.connect().await;
            if classes(both(&mut one, &mut two).await) == [None, None] {
                return;
            }
        }
    });
}

#[test]
fn the_answer_to_a_call_that_was_dropped_is_dropped_too() {
    let peer = |listener: TcpListener| {
        let (mut stream, _) = listener.accept().unwrap();
        answer_all(&mut stream);
        listener.set_nonblocking(true).unwrap();
        assert!(listener.accept().is_err(), "there is no second connection");
    };
    run(Protocol::Trpc, LONG, peer, |_, connection| async move {
        let (mut one, mut two) = (connection.slot(0), connection.slot(1));
        one.connect().await.unwrap();
        {
            let mut call = Box::pin(one.call(b"x"));
            let is_pending =
                poll_fn(|context| Poll::Ready(call.as_mut().poll(context).is_pending())).await;
            assert!(is_pending);
        }
        drop(one);
        // Answers come in order, so that the first came before these.
        two.call(b"x").await.unwrap();
        two.call(b"x").await.unwrap();
    });
}

/// Answers one request of four bytes, then waits until the client closes.
fn answer_once(listener: &TcpListener, answer: &[u8], written: &mpsc::Sender<()>) {
    let (mut stream, _) = listener.accept().unwrap();
    stream.read_exact(&mut [0; 4]).unwrap();
    stream.write_all(answer).unwrap();
    written.send(()).unwrap();
    let _ = stream.read(&mut [0]);
}

#[test]
fn a_long_answer_does_not_hold_up_the_other_connections_of_the_loop() {
    // The kernel takes it whole, and it is more than one turn reads.
    const LONG_BYTES: usize = 1 << 20;
    let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let [slow, fast] = [0, 1].map(|place: usize| listeners[place].local_addr().unwrap());
    let [long, short] = listeners;
    let (told, written) = mpsc::channel();
    let (begin, begun) = mpsc::channel::<()>();
    let of_long = told.clone();
    let peers = [
        thread::spawn(move || answer_once(&long, &[1; LONG_BYTES], &of_long)),
        thread::spawn(move || {
            begun.recv().unwrap();
            answer_once(&short, &[2; 4], &told);
        }),
    ];
    let mut runtime = Runtime::new(Clock::monotonic()).unwrap();
    let handle = runtime.handle();
    let tcp = Protocol::Tcp { announces: false };
    let slow = connection(&handle, tcp, slow, (LONG, LONG_BYTES));
    let fast = connection(&handle, tcp, fast, (LONG, 4));
    let is_first = runtime.block_on(async move {
        let (mut slow, mut fast) = (slow.slot(0), fast.slot(0));
        slow.connect().await.unwrap();
        fast.connect().await.unwrap();
        let (mut long, mut short) = (Box::pin(slow.call(b"long")), Box::pin(fast.call(b"shrt")));
        let mut results = [None, None];
        let (requests_left, mut polls) = (Signal::new(&handle), 0);
        let is_first = poll_fn(|context| {
            polls += 1;
            if polls == 2 {
                // The loop stands still until the kernel has both answers, the long one first.
                written.recv().unwrap();
                begin.send(()).unwrap();
                written.recv().unwrap();
            }
            poll_into(&mut results[0], long.as_mut(), context);
            poll_into(&mut results[1], short.as_mut(), context);
            if requests_left.poll_wait().is_pending() && polls == 1 {
                requests_left.wake();
            }
            match &results {
                [None, None] => Poll::Pending,
                [long, _] => Poll::Ready(long.is_none()),
            }
        })
        .await;
        if is_first {
            assert_eq!((results[1].take(), long.await), (Some(Ok(())), Ok(())));
        }
        is_first
    });
    assert!(is_first.unwrap(), "the short answer waited for the long one");
    drop(runtime);
    peers.into_iter().for_each(|peer| peer.join().unwrap());
}

#[test]
fn calls_time_out_though_a_service_sends_without_end() {
    let flooding = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = flooding.local_addr().unwrap();
    let peer = thread::spawn(move || {
        let (mut stream, _) = flooding.accept().unwrap();
        stream.read_exact(&mut [0; 4]).unwrap();
        // Until the client closes; it ends by itself so that this test fails instead of going on.
        let mut pieces = 0..1 << 16;
        while pieces.next().is_some() && stream.write_all(&[0; 1 << 16]).is_ok() {}
    });
    let mut runtime = Runtime::new(Clock::monotonic()).unwrap();
    let handle = runtime.handle();
    let tcp = Protocol::Tcp { announces: false };
    let endless = connection(&handle, tcp, address, (SHORT, usize::MAX));
    let failure = runtime.block_on(async move {
        let mut slot = endless.slot(0);
        slot.connect().await.unwrap();
        slot.call(b"more").await.unwrap_err()
    });
    let failure = failure.unwrap();
    assert_eq!(failure.key.class, ErrorClass::Timeout, "{failure}");
    drop(runtime);
    peer.join().unwrap();
}

fn answered(calls: &mut Calls, id: u32) -> Result<Option<usize>, String> {
    calls.answered(Answer { id, result: Ok(()) }).map_err(|malformed| malformed.to_string())
}

#[test]
fn an_answer_and_a_time_out_at_the_same_moment_count_once() {
    let mut calls = Calls::new("a".to_owned(), 2);
    let id = calls.begin(0, PLACE).unwrap();
    assert_eq!(answered(&mut calls, id), Ok(Some(0)));
    assert_eq!(calls.take(0).map(|it| it.is_ok()), Some(true));
    let id = calls.begin(0, PLACE).unwrap();
    assert!(calls.time_out(0, None));
    assert_eq!(answered(&mut calls, id), Ok(None));
    assert!(calls.take(0).is_none());
    assert!(answered(&mut calls, id).is_err(), "a late answer comes once");
}

#[test]
fn a_slot_whose_ids_are_all_without_an_answer_gives_the_connection_up() {
    // The last slots have two ids each.
    let (slot, other) = (999_999, 999_998);
    let mut calls = Calls::new(String::new(), 1_000_000);
    let first = calls.begin(slot, PLACE).unwrap();
    assert!(calls.time_out(slot, None));
    let second = calls.begin(slot, PLACE).unwrap();
    assert!(first != second && !calls.time_out(slot, None));
    assert_eq!(calls.begin(slot, PLACE), None);
    assert!(calls.begin(other, PLACE).is_some(), "others have ids of their own");
    assert_eq!(answered(&mut calls, first), Ok(None));
    assert_eq!(calls.begin(slot, PLACE), Some(first));
}

#[test]
fn the_number_of_remembered_calls_is_bounded() {
    let mut calls = Calls::new(String::new(), 70_000);
    let remembered = (0..70_000)
        .take_while(|&slot| {
            calls.begin(slot, PLACE).unwrap();
            calls.time_out(slot, None)
        })
        .count();
    assert_eq!(remembered, 65_535);
    let failure = Failure::new(ErrorClass::Connection, "", "given up");
    calls.fail_all(&LinkEnd { link: 0, failure, unsent_from: None }, |_| {});
    calls.begin(0, PLACE).unwrap();
    assert!(calls.time_out(0, None), "a new connection remembers none");
}

#[test]
fn a_server_that_always_lags_behind_does_not_fill_the_memory() {
    let mut out = Outgoing::default();
    let request = [0; 1_000];
    out.bytes.extend_from_slice(&request.repeat(100));
    for sent in 1..=100_000_u64 {
        out.bytes.extend_from_slice(&request);
        out.sent += request.len();
        out.forget_sent();
        assert_eq!(out.end(), (100 + sent) * 1_000);
        assert!(out.has_left(sent * 1_000) && !out.has_left(sent * 1_000 + 1));
    }
    assert!(out.bytes.capacity() < 1_000_000, "{} bytes", out.bytes.capacity());
}

#[test]
fn requests_name_the_authority_in_place_of_the_address() {
    let service = Service::named(Protocol::Grpc, "grpc://10.0.0.1:7/a.B/C").unwrap();
    let named = Service { authority: Some("svc.internal".to_owned()), ..service.clone() };
    let uri = |service: &Service| {
        let call = Call { method: service.method.clone(), ..Call::default() };
        let head = service.request_head(&service.addresses[0], &call, Timeouts::default());
        head.unwrap().request(Vec::new()).uri().to_string()
    };
    assert_eq!(uri(&service), "http://10.0.0.1:7/a.B/C");
    assert_eq!(uri(&named), "http://svc.internal/a.B/C");
}
