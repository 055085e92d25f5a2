//! Peers that speak the protocol and send without end, in drips or not at all: time-outs and the loop's tick act,
//! and a large honest result arrives whole.

use std::future::Future;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use measure::{ErrorClass, Failure};
use net::{Clock, Handle, Runtime};
use peers::Act::{self, Drip, Repeat, Send, Wait};
use peers::mysql::{END, OK, OK_MORE, after_login, greeting, packet, result_head, row};

use super::{Session, Url};
use crate::LoginSources;
use crate::opening::ConnectOptions;
use crate::{Answer, Timeouts};

/// A time-out that no busy machine reaches by chance with a peer that answers.
const LONG: Duration = Duration::from_secs(100);
/// A time-out that passes.
const SHORT: Duration = Duration::from_millis(100);

async fn connect(handle: &Handle, address: SocketAddr, query: Option<Duration>) -> Session {
    let url = Url::parse(&format!("mysql://root@{address}")).unwrap();
    let config = url.resolve(&LoginSources::default()).unwrap();
    let timeouts = Timeouts { connect: LONG, query };
    let opening = ConnectOptions { index: 0, timeouts, sends_local_rows: false, is_again: false };
    Session::connect(handle, &config, &opening).await.unwrap()
}

/// The failure to connect to a name whose known address is another one than that of a server, which refuses the login.
fn connected_to_moved(is_again: bool, name: &str) -> Failure {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let peer = thread::spawn(move || {
        if let Ok((mut stream, _)) = listener.accept() {
            stream.write_all(&packet(0, b"\xff\x6a\x04no way in")).unwrap();
        }
    });
    let url = Url::parse(&format!("mysql://root@{name}:{port}")).unwrap();
    let mut config = url.resolve(&LoginSources::default()).unwrap();
    config.addresses[0].endpoint = net::Endpoint::Tcp(SocketAddr::from(([127, 0, 0, 9], port)));
    let mut runtime = Runtime::new(Clock::monotonic()).unwrap();
    let handle = runtime.handle();
    let timeouts = Timeouts { connect: LONG, query: None };
    let opening = ConnectOptions { index: 0, timeouts, sends_local_rows: false, is_again };
    let connected = async move { Session::connect(&handle, &config, &opening).await.map(drop) };
    let failure = runtime.block_on(connected).unwrap().unwrap_err();
    if failure.key.code == crate::REFUSED {
        drop(TcpStream::connect(("127.0.0.1", port)));
    }
    peer.join().unwrap();
    failure
}

#[test]
fn a_failover_by_dns_is_followed() {
    for is_again in [false, true] {
        let failure = connected_to_moved(is_again, "localhost");
        assert_eq!(failure.key.code, "1130", "{failure}");
        let failure = connected_to_moved(is_again, "127.0.0.1");
        assert_eq!(failure.key.code, crate::REFUSED, "an address is no name: {failure}");
    }
}

/// The result of a client of a peer that acts so after its login and the first statement; `None` when the loop ended
/// after so many ticks.
fn with_peer<T: 'static, F: Future<Output = T> + 'static>(
    acts: Vec<Act>,
    query: Option<Duration>,
    ticks_max: u64,
    client: impl FnOnce(Session) -> F + 'static,
) -> Option<T> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // The way in which the client ends the connection does not matter here.
    let peer = thread::spawn(move || {
        drop(peers::play(listener.accept().unwrap().0, &after_login(acts)));
    });
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
fn failures(acts: &[Act]) -> [Failure; 2] {
    let skipped = with_peer(acts.to_vec(), Some(SHORT), u64::MAX, |mut session| async move {
        session.begin_run("SELECT 1").unwrap();
        std::future::poll_fn(|_| session.poll_answer()).await.unwrap_err()
    });
    let kept = with_peer(acts.to_vec(), Some(SHORT), u64::MAX, |mut session| async move {
        session.rows("SELECT 1").await.unwrap_err()
    });
    [skipped.unwrap(), kept.unwrap()]
}

/// What a server that begins its sessions with these status bits is asked first, and what the record says of it.
fn first_text_after_login(status: u8) -> (String, Vec<(String, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let peer = thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        stream.write_all(&greeting()).unwrap();
        read_packet(&mut stream);
        stream.write_all(&packet(2, &[0, 0, 0, status, 0, 0, 0])).unwrap();
        let text = read_packet(&mut stream);
        stream.write_all(&packet(1, OK)).unwrap();
        String::from_utf8(text[1..].to_vec()).unwrap()
    });
    let mut runtime = Runtime::new(Clock::monotonic()).unwrap();
    let handle = runtime.handle();
    let (sender, receiver) = std::sync::mpsc::channel();
    runtime.spawn(async move {
        let mut session = connect(&handle, address, None).await;
        // The peer ends after the first text, whichever it was.
        if session.begin_run("DO 1").is_ok() {
            let _ = std::future::poll_fn(|_| session.poll_answer()).await;
        }
        let _ = sender.send(session.peer.settings());
    });
    runtime.run(|| Some(u64::MAX)).unwrap();
    (peer.join().unwrap(), receiver.recv().unwrap())
}

fn read_packet(stream: &mut TcpStream) -> Vec<u8> {
    let mut head = [0; 4];
    stream.read_exact(&mut head).unwrap();
    let mut payload = vec![0; usize::from(head[0])];
    stream.read_exact(&mut payload).unwrap();
    payload
}

#[test]
fn autocommit_is_turned_on_where_the_server_begins_sessions_without_it() {
    let is_told = |settings: &[(String, String)]| {
        settings.iter().any(|(name, _)| name == "autocommit of dyno's sessions")
    };
    let (text, settings) = first_text_after_login(0);
    assert_eq!((text.as_str(), is_told(&settings)), ("SET autocommit=1", true));
    let (text, settings) = first_text_after_login(2);
    assert_eq!((text.as_str(), is_told(&settings)), ("DO 1", false));
}

/// Results, each with another one behind it.
fn results_without_end() -> Vec<Act> {
    vec![Repeat(packet(1, OK_MORE).repeat(4_096))]
}

#[test]
fn results_without_end_time_out() {
    let failures = failures(&results_without_end());
    assert_eq!(failures.map(|failure| failure.key.class), [ErrorClass::Timeout; 2]);
}

#[test]
fn rows_without_end_time_out() {
    let acts = vec![Send(result_head()), Repeat(row(2_048).repeat(32))];
    let skipped = with_peer(acts, Some(SHORT), u64::MAX, |mut session| async move {
        session.begin_run("SELECT 1").unwrap();
        std::future::poll_fn(|_| session.poll_answer()).await.unwrap_err()
    });
    assert_eq!(skipped.unwrap().key.class, ErrorClass::Timeout);
}

#[test]
fn an_answer_in_drips_and_one_that_never_comes_time_out() {
    // The head of a long row, and then its bytes one by one.
    let head = [result_head(), vec![0xff, 0xff, 0xfe, 9, 0xfd, 0, 0, 0xf0]].concat();
    let drip = [Send(head), Drip(vec![b'x'; 100_000], Duration::from_millis(1))];
    for failure in failures(&drip).into_iter().chain(failures(&[Wait])) {
        assert_eq!(failure.key.class, ErrorClass::Timeout, "{failure}");
        assert!(failure.message.contains("no answer within 100ms"), "{failure}");
    }
}

#[test]
fn a_flood_does_not_keep_the_loop_from_its_end() {
    let ended = with_peer(results_without_end(), None, 100, |mut session| async move {
        session.begin_run("SELECT 1").unwrap();
        std::future::poll_fn(|_| session.poll_answer()).await
    });
    assert_eq!(ended, None, "the loop ends at its tick");
}

#[test]
fn a_large_result_arrives_whole() {
    const ROWS: usize = 20_000;
    let acts = vec![Send(result_head()), Send(row(1_000).repeat(ROWS)), Send(packet(1, END)), Wait];
    let counted = with_peer(acts.clone(), Some(LONG), u64::MAX, |mut session| async move {
        session.begin_run("SELECT 1").unwrap();
        let answer = std::future::poll_fn(|_| session.poll_answer()).await;
        (answer.unwrap(), session.take_traffic().received_bytes)
    });
    let (answer, received_bytes) = counted.unwrap();
    assert_eq!(answer, Answer { rows: ROWS as u64, affected: 0 });
    let beside = packet(1, END).len() + result_head().len();
    assert!(received_bytes > (ROWS * 1_007 + beside) as u64, "the login's bytes too");
    let kept = with_peer(acts, Some(LONG), u64::MAX, |mut session| async move {
        session.rows("SELECT 1").await.unwrap().len()
    });
    assert_eq!(kept, Some(ROWS));
}
