//! A hostile server in every phase of a connection, in virtual time: each ends in time, with a failure that names what
//! is wrong, and in bounded memory. Then what single messages of a server may do.

use std::future::poll_fn;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use measure::{ErrorClass, Failure};
use net::{Clock, Handle, Runtime};
use peers::Act::{self, Send, Wait};
use peers::postgres::{
    READY, after_login, authentication, done, error, login, message, row, row_head,
};
use peers::{Behaviour, Framing, Phase, postgres};

use super::cancel::CANCEL_BOUND;
use super::{Session, Url};
use crate::loader::Loader;
use crate::opening::ConnectOptions;
use crate::virtual_peer::{Bounds, Ending, TIMEOUTS, line};
use crate::{Answer, LoginSources, Timeouts, Value};

/// More than the kernel keeps of a message that nobody reads.
const LONG_STATEMENT_BYTES: usize = 1 << 20;
/// The length of a row, which has a message of its own and is more than the kernel keeps.
const ROW_BYTES: usize = 300_000;
/// So many rows are sent by COPY.
const COPY_ROWS: usize = 4;
/// A short message may have 1 MiB, and the buffer that grows with it has twice that.
const SHORT_MESSAGES_BYTES: usize = 2 << 20;
/// What the kernel keeps between the peer and the client is part of what was sent.
const KERNEL_BYTES: usize = 1 << 20;

/// What the client does, which ends in the phase.
#[derive(Clone, Copy)]
enum Step {
    Connect,
    Prepare,
    Query,
    Rows,
    Execute,
    Fetch,
    Copy,
    Close,
}

fn phases() -> Vec<(Phase, Step)> {
    let mut phases: Vec<_> =
        postgres::at_login().into_iter().map(|phase| (phase, Step::Connect)).collect();
    phases.extend([
        (postgres::at_prepare(), Step::Prepare),
        (postgres::at_query(), Step::Query),
        (postgres::at_rows(), Step::Rows),
        (postgres::at_execute("execute"), Step::Execute),
        (postgres::at_execute("fetch"), Step::Fetch),
    ]);
    // The last one ends the rows.
    phases.extend(postgres::at_copy(COPY_ROWS).map(|phase| (phase, Step::Copy)));
    phases.push((postgres::at_close(), Step::Close));
    phases
}

impl Step {
    fn bounds(self) -> Bounds {
        // The end of a statement is awaited after its cancellation.
        let query = TIMEOUTS.query.unwrap() + CANCEL_BOUND;
        let (time, kept_bytes) = match self {
            Self::Connect => (TIMEOUTS.connect, SHORT_MESSAGES_BYTES),
            Self::Prepare => (query, SHORT_MESSAGES_BYTES),
            // Skipped by the heads of its messages.
            Self::Query | Self::Execute | Self::Copy | Self::Close => (query, 128 << 10),
            // As much as comes in this time: one unit in each millisecond, in a buffer that doubles.
            Self::Rows | Self::Fetch => (query, 2 * (16 << 10) * 2_200 + (128 << 10)),
        };
        Bounds { time, kept_bytes, sent_bytes: kept_bytes + KERNEL_BYTES }
    }

    /// What the client does on its connection.
    async fn perform(self, session: &mut Session) -> Result<(), Failure> {
        let statement = "x".repeat(LONG_STATEMENT_BYTES);
        match self {
            Self::Connect | Self::Close => Ok(()),
            Self::Prepare => session.prepare(&[&statement]).await.map(drop),
            Self::Query => run(session, &statement).await.map(drop),
            Self::Rows => session.rows("SELECT 1").await.map(drop),
            Self::Execute => {
                let statement = session.prepare(&["SELECT 1"]).await?;
                session.begin_execute(statement, &[])?;
                poll_fn(|_| session.poll_answer()).await.map(drop)
            }
            Self::Fetch => {
                let statement = session.prepare(&["SELECT 1"]).await?;
                session.begin_fetch(statement, &[])?;
                poll_fn(|_| session.poll_answer()).await.map(drop)
            }
            Self::Copy => {
                let mut loader = Loader::postgres(session, "t", &["c"]);
                for _ in 0..COPY_ROWS {
                    loader.push(&[Value::Text(&statement[..ROW_BYTES])]).await?;
                }
                loader.finish().await.map(drop)
            }
        }
    }
}

async fn run(session: &mut Session, sql: &str) -> Result<Answer, Failure> {
    session.begin_run(sql)?;
    poll_fn(|_| session.poll_answer()).await
}

async fn connect(handle: &Handle, path: &Path) -> Result<Session, Failure> {
    let url = "postgresql://root:hors3@%2Fnone/test";
    let mut config = Url::parse(url).unwrap().resolve(&LoginSources::default()).unwrap();
    config.addresses[0].endpoint = net::Endpoint::Unix(path.to_owned());
    config.addresses[0].name = path.display().to_string();
    let opening =
        ConnectOptions { index: 0, timeouts: TIMEOUTS, sends_local_rows: false, is_again: false };
    Session::connect(handle, &config, &opening).await
}

/// Connects and does what ends in the phase.
async fn client(handle: Handle, path: PathBuf, step: Step) -> Ending {
    let began = handle.now();
    let elapsed = |handle: &Handle, began| Duration::from_nanos(handle.now() - began);
    let mut session = match connect(&handle, &path).await {
        Ok(session) => session,
        Err(failure) => {
            return Ending {
                result: Err(failure),
                elapsed: elapsed(&handle, began),
                kept_bytes: 0,
            };
        }
    };
    let began = if matches!(step, Step::Connect) { began } else { handle.now() };
    let result = step.perform(&mut session).await;
    let kept_bytes = session.kept_bytes();
    if matches!(step, Step::Close) {
        session.close().await;
    }
    Ending { result, elapsed: elapsed(&handle, began), kept_bytes }
}

#[test]
fn a_hostile_server_ends_in_time_with_a_named_failure_in_every_phase() {
    let mut table = Vec::new();
    for (phase, step) in phases() {
        for behaviour in Behaviour::ALL {
            let client = |handle, path| client(handle, path, step);
            table.push(line((&phase, behaviour), step.bounds(), client));
        }
    }
    insta::assert_snapshot!(table.join("\n"));
}

/// What a client does with the session, at a peer on TCP that acts so; `url` is what follows the address.
fn at_peer<T: 'static, F: Future<Output = Result<T, Failure>> + 'static>(
    acts: Vec<Act>,
    url: &str,
    client: impl FnOnce(Session) -> F + 'static,
) -> Result<T, Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // The way in which the client ends the connection does not matter here.
    let peer = thread::spawn(move || drop(peers::play(listener.accept().unwrap().0, &acts)));
    let url = format!("postgres://root:hors3@{address}/test?{url}");
    let config = Url::parse(&url).unwrap().resolve(&LoginSources::default()).unwrap();
    let mut runtime = Runtime::new(Clock::monotonic()).unwrap();
    let handle = runtime.handle();
    // No busy machine reaches these by chance.
    let long = Duration::from_secs(100);
    let timeouts = Timeouts { connect: long, query: Some(long) };
    let opening = ConnectOptions { index: 0, timeouts, sends_local_rows: false, is_again: false };
    let ended = runtime.block_on(async move {
        let session = Session::connect(&handle, &config, &opening).await?;
        client(session).await
    });
    drop(runtime);
    peer.join().unwrap();
    ended.unwrap()
}

const PLAIN: &str = "sslmode=disable";

/// The failure of a login at a server that begins with this answer.
fn login_failure(answer: Vec<u8>, url: &str) -> String {
    let begun = Act::Receive(Framing::PostgresStart);
    let failure = at_peer(vec![begun, Send(answer), Wait], url, async |_| Ok(())).unwrap_err();
    let (_, what) = failure.message.split_once(": ").unwrap();
    format!("{}: {what}", failure.key)
}

#[test]
fn a_login_that_a_server_bends_is_refused() {
    let sasl = |rest: &[u8]| [authentication(10, b"SCRAM-SHA-256\0\0"), rest.to_vec()].concat();
    let first = b"r=other,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
    let setting =
        |setting: &[u8]| [&authentication(0, &[])[..], &message(b'S', setting), READY].concat();
    let failures = [
        login_failure(sasl(&authentication(0, &[])), PLAIN),
        login_failure(sasl(&authentication(11, first)), PLAIN),
        login_failure(sasl(&authentication(12, b"v=AAAA")), PLAIN),
        login_failure(authentication(12, b"v=AAAA"), PLAIN),
        login_failure(authentication(10, b"OAUTHBEARER\0\0"), PLAIN),
        login_failure(authentication(7, &[]), PLAIN),
        login_failure(authentication(0, &[]), "sslmode=disable&require_auth=scram-sha-256"),
        login_failure(authentication(3, &[]), "sslmode=disable&require_auth=!password"),
        login_failure(authentication(0, &[]), "sslmode=disable&channel_binding=require"),
        login_failure(message(b'R', &[0, 0]), PLAIN),
        login_failure(error(b'E', "FATAL", "28P01", "no \x1b[31mway\x07 in"), PLAIN),
        login_failure(b"N".to_vec(), "sslmode=require"),
        login_failure(b"Sand more".to_vec(), "sslmode=require"),
        login_failure(b"E".to_vec(), "sslmode=require"),
        login_failure(setting(b"standard_conforming_strings\0off\0"), PLAIN),
        login_failure(setting(b"client_encoding\0LATIN1\0"), PLAIN),
    ];
    insta::assert_snapshot!(failures.join("\n"));
}

#[test]
fn a_server_with_fewer_versions_of_the_protocol_is_taken() {
    let begun = Act::Receive(Framing::PostgresStart);
    let negotiate = message(b'v', &[0, 3, 0, 0, 0, 0, 0, 0]);
    let answer = [&negotiate[..], &authentication(0, &[]), READY].concat();
    at_peer(vec![begun, Send(answer), Wait], PLAIN, async |session| {
        session.close().await;
        Ok(())
    })
    .unwrap();
}

/// What a text gives at a server that answers it so.
fn answered(sql: &'static str, answer: Vec<u8>) -> Result<Answer, Failure> {
    at_peer(after_login(vec![Send(answer), Wait]), PLAIN, async move |mut session| {
        run(&mut session, sql).await
    })
}

#[test]
fn notices_and_settings_may_come_anywhere() {
    let notice = error(b'N', "NOTICE", "00000", "look at this");
    let setting = message(b'S', b"TimeZone\0UTC\0");
    let told = message(b'A', b"\0\0\0\x01channel\0\0");
    let parts =
        [&notice[..], &row_head(), &setting, &row(3), &told, &done("SELECT 1"), &notice, READY];
    let answer = answered("SELECT 1", [&parts.concat()[..], &told].concat()).unwrap();
    assert_eq!(answer, Answer { rows: 1, affected: 0 });
}

#[test]
fn a_commit_that_the_server_rolls_back_is_a_failure() {
    let rolled_back = [&done("ROLLBACK")[..], READY].concat();
    let failure = answered(" commit", rolled_back.clone()).unwrap_err();
    assert_eq!(failure.key.to_string(), "server rolled-back", "{failure}");
    assert!(answered("END", rolled_back.clone()).is_err());
    assert!(answered("ROLLBACK", rolled_back).is_ok());
}

/// The answer with one row of one text.
fn cell(text: &str) -> Vec<u8> {
    let length = (text.len() as u32).to_be_bytes();
    let row = message(b'D', &[&[0, 1][..], &length, text.as_bytes()].concat());
    [&row_head()[..], &row, &done("SELECT 1"), READY].concat()
}

#[test]
fn a_compatible_server_without_the_views_is_known_and_what_is_missing_is_told() {
    let asked = Act::Receive(Framing::PostgresMessage);
    let refused = |state: &str| [&error(b'E', "ERROR", state, "no such thing")[..], READY].concat();
    let answers = [
        cell("PostgreSQL 11.2-YB-2.19.3.0-b0 on x86_64-pc-linux-gnu"),
        refused("42P01"),
        cell("en_US.UTF-8"),
        refused("42P01"),
        // Whether it compiles queries: that it does not tell is nothing to tell.
        refused("42883"),
        refused("42501"),
        refused("42883"),
    ];
    let mut acts = login();
    acts.extend(answers.into_iter().flat_map(|answer| [asked.clone(), Send(answer)]));
    acts.push(Wait);
    let facts = at_peer(acts, PLAIN, async |mut session| {
        let handle = session.stream.handle().clone();
        super::probe::probe(&handle, &mut session, Duration::from_secs(5)).await
    });
    let facts = facts.unwrap();
    assert_eq!(facts.identity.product, "YugabyteDB");
    assert!(facts.limits.connections.is_none());
    let [tested, missing @ ..] = &facts.identity.remarks[..] else { panic!("{facts:?}") };
    assert!(tested.contains("not tested"), "{tested}");
    let words = ["its settings", "its extensions", "whose service it is", "how many connections"];
    assert_eq!(missing.len(), words.len(), "{missing:?}");
    for (told, word) in missing.iter().zip(words) {
        assert!(told.contains(word) && told.contains("no such thing"), "{told}");
    }
}

#[test]
fn a_session_that_the_server_has_ended_says_why() {
    let ended = error(b'E', "FATAL", "57P01", "terminating connection");
    let failure = answered("SELECT 1", ended).unwrap_err();
    assert_eq!(failure.key.class, ErrorClass::Connection, "{failure}");
    assert!(failure.message.ends_with("terminating connection (57P01)"), "{failure}");
}

#[test]
fn the_password_itself_is_sent_only_where_nobody_else_can_read_it() {
    use super::peer::Peer;
    let peer = |endpoint: net::Endpoint| {
        let address = crate::Address { name: "db".to_owned(), endpoint };
        Peer::new(address, &super::Config::default()).is_private()
    };
    assert!(peer(net::Endpoint::Tcp("127.0.0.1:5432".parse().unwrap())));
    assert!(peer(net::Endpoint::Unix("/run/s".into())));
    assert!(!peer(net::Endpoint::Tcp("10.0.0.1:5432".parse().unwrap())));
}
