//! Peers that speak the protocol and send without end, in drips or not at all: time-outs and the loop's tick act,
//! and a large honest result arrives whole.

use std::future::Future;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use measure::{ErrorClass, Failure};
use net::{Clock, Handle, Runtime};

use super::codec::{append_packet, capability};
use super::{ConnectOptions, LoginSources, Session, Url};
use crate::{Answer, Timeouts};

/// A time-out that no busy machine reaches by chance with a peer that answers.
const LONG: Duration = Duration::from_secs(100);
/// A time-out that passes.
const SHORT: Duration = Duration::from_millis(100);
/// A flood ends after so many bytes, so that a test fails instead of going on.
const FLOOD_BYTES: usize = 4 << 30;
/// An OK packet; another result follows.
const OK_MORE: &[u8] = &[0, 0, 0, 0x0a, 0, 0, 0];
/// The end of rows.
const END: &[u8] = &[0xfe, 0, 0, 2, 0, 0, 0];

fn packets(payloads: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    payloads.iter().for_each(|payload| {
        append_packet(&mut bytes, payload, 1);
    });
    bytes
}

/// The start of a result of one text column.
fn result_head() -> Vec<u8> {
    let mut column = b"\x03def\x04test\x01t\x01t\x01c\x01c\x0c".to_vec();
    column.extend_from_slice(&[45, 0, 120, 0, 0, 0, 253, 0, 0, 0, 0, 0]);
    packets(&[&[1], &column])
}

/// Reads one packet and drops it.
fn skip_packet(stream: &mut TcpStream) {
    let mut head = [0; 4];
    stream.read_exact(&mut head).unwrap();
    let length = u32::from_le_bytes([head[0], head[1], head[2], 0]);
    stream.read_exact(&mut vec![0; length as usize]).unwrap();
}

/// Accepts one login and reads the first statement.
fn log_in(listener: &TcpListener) -> TcpStream {
    let (mut stream, _) = listener.accept().unwrap();
    let able = capability::LONG_PASSWORD
        | capability::PROTOCOL_41
        | capability::SECURE_CONNECTION
        | capability::PLUGIN_AUTH
        | capability::DEPRECATE_EOF;
    let able = (able as u32).to_le_bytes();
    let mut greeting = b"\x0a8.0\0\x01\0\0\0saltsalt\0".to_vec();
    greeting.extend_from_slice(&[able[0], able[1], 45, 2, 0, able[2], able[3], 21]);
    greeting.extend_from_slice(&[0; 10]);
    greeting.extend_from_slice(b"saltsaltsalt\0mysql_native_password\0");
    stream.write_all(&packets(&[&greeting])).unwrap();
    skip_packet(&mut stream);
    stream.write_all(&packets(&[&[0, 0, 0, 2, 0, 0, 0]])).unwrap();
    skip_packet(&mut stream);
    stream
}

/// Sends `unit` over and over until the client closes.
fn flood(stream: &mut TcpStream, unit: &[u8]) {
    let piece = unit.repeat((64 << 10) / unit.len());
    let mut left = FLOOD_BYTES;
    while left > 0 && stream.write_all(&piece).is_ok() {
        left = left.saturating_sub(piece.len());
    }
}

async fn connect(handle: &Handle, address: SocketAddr, query: Option<Duration>) -> Session {
    let url = Url::parse(&format!("mysql://root@{address}")).unwrap();
    let config = url.resolve(&LoginSources::default()).unwrap();
    let timeouts = Timeouts { connect: LONG, query };
    let opening = ConnectOptions { index: 0, timeouts, sends_local_rows: false };
    Session::connect(handle, &config, &opening).await.unwrap()
}

/// The result of a client of a peer that behaves in this way after its login; `None` when the loop ended after so
/// many ticks.
fn with_peer<T: 'static, F: Future<Output = T> + 'static>(
    peer: impl FnOnce(TcpStream) + Send + 'static,
    query: Option<Duration>,
    ticks_max: u64,
    client: impl FnOnce(Session) -> F + 'static,
) -> Option<T> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let peer = thread::spawn(move || peer(log_in(&listener)));
    let mut runtime = Runtime::new(Clock::monotonic()).unwrap();
    let handle = runtime.handle();
    let (sender, receiver) = std::sync::mpsc::channel();
    runtime.spawn(async move {
        let session = connect(&handle, address, query).await;
        let _ = sender.send(client(session).await);
    });
    let mut ticks = 0;
    let ended = runtime.run(|| {
        ticks += 1;
        (ticks <= ticks_max).then_some(u64::MAX)
    });
    ended.unwrap();
    drop(runtime);
    peer.join().unwrap();
    receiver.try_recv().ok()
}

/// The failure of a statement that is skipped, and of one whose rows are wanted.
fn failures(peer: impl Fn(TcpStream) + Clone + Send + 'static) -> [Failure; 2] {
    let skipped = with_peer(peer.clone(), Some(SHORT), u64::MAX, |mut session| async move {
        session.begin_run("SELECT 1").unwrap();
        std::future::poll_fn(|_| session.poll_answer()).await.unwrap_err()
    });
    let kept = with_peer(peer, Some(SHORT), u64::MAX, |mut session| async move {
        session.rows("SELECT 1").await.unwrap_err()
    });
    [skipped.unwrap(), kept.unwrap()]
}

#[test]
fn results_without_end_time_out() {
    let failures = failures(|mut stream| flood(&mut stream, &packets(&[OK_MORE])));
    assert_eq!(failures.map(|failure| failure.key.class), [ErrorClass::Timeout; 2]);
}

#[test]
fn rows_without_end_time_out() {
    // A row of 2 KiB: those that are kept do not reach the limit of their bytes first.
    let mut row = vec![0xfc, 0, 8];
    row.resize(3 + 2048, b'x');
    let row = packets(&[&row]);
    let peer = move |mut stream: TcpStream| {
        stream.write_all(&result_head()).unwrap();
        flood(&mut stream, &row);
    };
    let skipped = with_peer(peer, Some(SHORT), u64::MAX, |mut session| async move {
        session.begin_run("SELECT 1").unwrap();
        std::future::poll_fn(|_| session.poll_answer()).await.unwrap_err()
    });
    assert_eq!(skipped.unwrap().key.class, ErrorClass::Timeout);
}

#[test]
fn an_answer_in_drips_and_one_that_never_comes_time_out() {
    let drip = |mut stream: TcpStream| {
        stream.write_all(&result_head()).unwrap();
        // The head of a long row, and then its bytes one by one until the client closes.
        stream.write_all(&[0xff, 0xff, 0xfe, 9, 0xfd, 0, 0, 0xf0]).unwrap();
        while stream.write_all(b"x").is_ok() {
            thread::sleep(Duration::from_millis(1));
        }
    };
    let silence = |mut stream: TcpStream| {
        let _ = stream.read(&mut [0]);
    };
    for failure in failures(drip).into_iter().chain(failures(silence)) {
        assert_eq!(failure.key.class, ErrorClass::Timeout, "{failure}");
        assert!(failure.message.contains("no answer within 100ms"), "{failure}");
    }
}

#[test]
fn a_flood_does_not_keep_the_loop_from_its_end() {
    let peer = |mut stream: TcpStream| flood(&mut stream, &packets(&[OK_MORE]));
    let ended = with_peer(peer, None, 100, |mut session| async move {
        session.begin_run("SELECT 1").unwrap();
        std::future::poll_fn(|_| session.poll_answer()).await
    });
    assert_eq!(ended, None, "the loop ends at its tick");
}

#[test]
fn a_large_result_arrives_whole() {
    const ROWS: usize = 20_000;
    let mut row = vec![0xfc, 0xe8, 3];
    row.resize(3 + 1_000, b'x');
    let one = packets(&[&row]);
    let peer = move |mut stream: TcpStream| {
        stream.write_all(&result_head()).unwrap();
        stream.write_all(&one.repeat(ROWS)).unwrap();
        stream.write_all(&packets(&[END])).unwrap();
        let _ = stream.read(&mut [0]);
    };
    let counted = with_peer(peer.clone(), Some(LONG), u64::MAX, |mut session| async move {
        session.begin_run("SELECT 1").unwrap();
        let answer = std::future::poll_fn(|_| session.poll_answer()).await;
        (answer.unwrap(), session.take_traffic().received_bytes)
    });
    let (answer, received_bytes) = counted.unwrap();
    assert_eq!(answer, Answer { rows: ROWS as u64, affected: 0 });
    let beside = packets(&[END]).len() + result_head().len();
    assert!(received_bytes > (ROWS * 1_007 + beside) as u64, "the login's bytes too");
    let kept = with_peer(peer, Some(LONG), u64::MAX, |mut session| async move {
        session.rows("SELECT 1").await.unwrap().len()
    });
    assert_eq!(kept, Some(ROWS));
}
