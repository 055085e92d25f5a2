//! A hostile server in every phase of a connection, in virtual time: each ends in time, with a failure that names what
//! is wrong, and in bounded memory.

use std::future::poll_fn;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use measure::Failure;
use net::{Clock, Handle, Runtime};
use nix::sys::socket::{Backlog, listen};
use peers::{Behaviour, Phase, mysql, tls};

use super::fuzz::RSA_KEY;
use super::{Session, Url};
use crate::LoginSources;
use crate::loader::Loader;
use crate::opening::ConnectOptions;
use crate::virtual_peer::{Bounds, Ending, TIMEOUTS, line, told};
use crate::{Timeouts, Value};

/// More than the kernel keeps of a message that nobody reads.
const LONG_STATEMENT_BYTES: usize = 1 << 20;
/// The length of a row, which has a packet of its own and is more than the kernel keeps.
const ROW_BYTES: usize = 300_000;
/// So many rows are sent by LOAD DATA LOCAL.
const LOCAL_ROWS: usize = 4;
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
    Load,
    LoadLocal,
    Close,
}

/// The phases behind the greeting, or behind the handshake of TLS.
fn phases() -> Vec<(Phase, Step)> {
    let mut phases = vec![(mysql::at_authentication(), Step::Connect)];
    phases.extend(mysql::at_further_authentication().map(|phase| (phase, Step::Connect)));
    phases.extend([
        (mysql::at_prepare(), Step::Prepare),
        (mysql::at_query(), Step::Query),
        (mysql::at_rows(), Step::Rows),
        (mysql::at_execute(), Step::Execute),
        (mysql::at_fetch(), Step::Fetch),
        (Phase { name: "prepared insert", ..mysql::at_execute() }, Step::Load),
    ]);
    phases.extend(mysql::at_local_rows(LOCAL_ROWS).map(|phase| (phase, Step::LoadLocal)));
    phases.push((mysql::at_close(), Step::Close));
    phases
}

impl Step {
    fn bounds(self) -> Bounds {
        let query = TIMEOUTS.query.unwrap();
        let short = SHORT_MESSAGES_BYTES;
        let (time, kept_bytes) = match self {
            Self::Connect => (TIMEOUTS.connect, short),
            Self::Prepare => (query, short),
            // Skipped by the heads of its packets.
            Self::Query | Self::Execute | Self::Load | Self::LoadLocal | Self::Close => {
                (query, 64 << 10)
            }
            // As much as comes in this time: one unit in each millisecond, in a buffer that doubles.
            Self::Rows | Self::Fetch => (query, 2 * (16 << 10) * 200 + (128 << 10)),
        };
        Bounds { time, kept_bytes, sent_bytes: kept_bytes + KERNEL_BYTES }
    }

    /// What the client does on its connection.
    async fn perform(self, session: &mut Session) -> Result<(), Failure> {
        let statement = "x".repeat(LONG_STATEMENT_BYTES);
        match self {
            Self::Connect | Self::Close => Ok(()),
            Self::Prepare => session.prepare(&statement).await.map(drop),
            Self::Query => {
                session.begin_run(&statement)?;
                poll_fn(|_| session.poll_answer()).await.map(drop)
            }
            Self::Rows => session.rows("SELECT 1").await.map(drop),
            Self::Execute => {
                let statement = session.prepare("DO 1").await?;
                session.begin_execute(statement, &[])?;
                poll_fn(|_| session.poll_answer()).await.map(drop)
            }
            Self::Load | Self::LoadLocal => {
                let rows = if session.sends_local_rows() { LOCAL_ROWS } else { 1 };
                let mut loader = Loader::mysql(session, "t", &["c"]);
                for _ in 0..rows {
                    loader.push(&[Value::Text(&statement[..ROW_BYTES])]).await?;
                }
                loader.finish().await.map(drop)
            }
            Self::Fetch => {
                let statement = session.prepare("SELECT 1").await?;
                session.begin_fetch(statement, &[])?;
                poll_fn(|_| session.poll_answer()).await.map(drop)
            }
        }
    }
}

/// Whether the connection is encrypted.
#[derive(Clone, Copy)]
enum Mode {
    Disabled,
    Required,
}

async fn connect(
    handle: &Handle,
    path: &Path,
    (step, mode): (Step, Mode),
) -> Result<Session, Failure> {
    let mode = if matches!(mode, Mode::Required) { "REQUIRED" } else { "DISABLED" };
    let url = format!("mysql://root:hors3@localhost?socket={}&ssl-mode={mode}", path.display());
    let sends_local_rows = matches!(step, Step::LoadLocal);
    open(
        handle,
        &url,
        ConnectOptions { index: 0, timeouts: TIMEOUTS, sends_local_rows, is_again: false },
    )
    .await
}

async fn open(handle: &Handle, url: &str, opening: ConnectOptions) -> Result<Session, Failure> {
    let config = Url::parse(url).unwrap().resolve(&LoginSources::default()).unwrap();
    Session::connect(handle, &config, &opening).await
}

/// Connects and does what ends in the phase.
async fn client(handle: Handle, path: PathBuf, (step, mode): (Step, Mode)) -> Ending {
    let began = handle.now();
    let mut session = match connect(&handle, &path, (step, mode)).await {
        Ok(session) => session,
        Err(failure) => {
            let elapsed = Duration::from_nanos(handle.now() - began);
            return Ending { result: Err(failure), elapsed, kept_bytes: 0 };
        }
    };
    let began = if matches!(step, Step::Connect) { began } else { handle.now() };
    let result = step.perform(&mut session).await;
    let elapsed = Duration::from_nanos(handle.now() - began);
    let kept_bytes = session.kept_bytes();
    if !matches!(step, Step::Close) {
        return Ending { result, elapsed, kept_bytes };
    }
    session.close().await;
    Ending { result, elapsed: Duration::from_nanos(handle.now() - began), kept_bytes }
}

/// The lines of these phases.
fn table(phases: impl IntoIterator<Item = (Phase, Step)>, mode: Mode) -> String {
    let mut table = Vec::new();
    for (phase, step) in phases {
        for behaviour in Behaviour::ALL {
            let client = |handle, path| client(handle, path, (step, mode));
            table.push(line((&phase, behaviour), step.bounds(), client));
        }
    }
    table.join("\n")
}

#[test]
fn a_hostile_server_ends_in_time_with_a_named_failure_in_every_phase() {
    let greeting = [(mysql::at_greeting(), Step::Connect)];
    insta::assert_snapshot!(table(greeting.into_iter().chain(phases()), Mode::Disabled));
}

#[test]
fn a_hostile_server_ends_in_time_with_a_named_failure_in_every_phase_of_tls() {
    let record = tls::at_record(&mysql::after_tls_request(Vec::new()));
    let handshake = [mysql::at_tls(), record].map(|phase| (phase, Step::Connect));
    let encrypted = phases().into_iter().map(|(phase, step)| (mysql::within_tls(phase), step));
    insta::assert_snapshot!(table(handshake.into_iter().chain(encrypted), Mode::Required));
}

/// How a login at a peer on TCP ends that needs its RSA key, in real time: over a unix socket no key is needed.
fn ending_with_key(phase: &Phase, behaviour: Behaviour) -> String {
    use Behaviour::{Drip, NeverReads, Silent, TooShort};
    // Long where it does not pass, for busy machines.
    let does_pass = matches!(behaviour, Silent | Drip | NeverReads | TooShort);
    let connect = if does_pass { TIMEOUTS.connect } else { Duration::from_secs(100) };
    let timeouts = Timeouts { connect, ..TIMEOUTS };
    let address = peers::serve(behaviour.acts(phase)).unwrap().to_string();
    let url = format!("mysql://root:hors3@{address}?ssl-mode=DISABLED&get-server-public-key=1");
    let mut runtime = Runtime::new(Clock::monotonic()).unwrap();
    let handle = runtime.handle();
    let opening = ConnectOptions { index: 0, timeouts, sends_local_rows: false, is_again: false };
    let opened = runtime.block_on(async move { open(&handle, &url, opening).await.map(drop) });
    let ending = told(opened.unwrap(), &address);
    format!("{:<18} {:<10} {ending}", phase.name, format!("{behaviour:?}"))
}

#[test]
fn a_hostile_server_that_sends_its_key_ends_with_a_named_failure() {
    let phases = &mysql::at_key(RSA_KEY);
    let table: Vec<String> = thread::scope(|scope| {
        let cases = phases.iter().flat_map(|phase| Behaviour::ALL.map(|it| (phase, it)));
        let start = |(phase, behaviour)| scope.spawn(move || ending_with_key(phase, behaviour));
        let threads: Vec<_> = cases.map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    insta::assert_snapshot!(table.join("\n"));
}

#[test]
fn a_server_that_accepts_no_connection_ends_at_the_connect_time_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    listen(&listener, Backlog::new(0).unwrap()).unwrap();
    // The only one that fits into the listener's queue.
    let _queued = UnixStream::connect(&path).unwrap();
    let mut runtime = Runtime::new(Clock::simulated()).unwrap();
    let handle = runtime.handle();
    let ended = runtime.block_on(async move {
        let failure = connect(&handle, &path, (Step::Connect, Mode::Disabled)).await.unwrap_err();
        (failure, Duration::from_nanos(handle.now()))
    });
    let (failure, elapsed) = ended.unwrap();
    assert!(failure.message.contains("no login within 1s"), "{failure}");
    assert_eq!(elapsed, TIMEOUTS.connect);
}
