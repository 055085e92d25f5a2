//! A hostile server in every phase of a connection, in virtual time: each ends in time, with a failure that names what
//! is wrong, and in bounded memory.

use std::future::poll_fn;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use measure::Failure;
use net::{Clock, Handle, Runtime};
use nix::sys::socket::{Backlog, listen};
use peers::{Behaviour, Phase, mysql};

use super::{ConnectOptions, LoginSources, Session, Url};
use crate::virtual_peer::{Bounds, Ending, TIMEOUTS, line};

/// More than the kernel keeps of a message that nobody reads.
const LONG_STATEMENT_BYTES: usize = 1 << 20;
/// A short message may have 1 MiB, and the buffer that grows with it has twice that.
const SHORT_MESSAGES_BYTES: usize = 2 << 20;
/// What the kernel keeps between the peer and the client is part of what was sent.
const KERNEL_BYTES: usize = 1 << 20;

/// What the client does, which ends in the phase.
#[derive(Clone, Copy)]
enum Step {
    Connect,
    ConnectWithTls,
    Prepare,
    Query,
    Rows,
    Fetch,
    Close,
}

/// All phases of a connection.
fn phases() -> [(Phase, Step); 8] {
    [
        (mysql::at_greeting(), Step::Connect),
        (mysql::at_tls(), Step::ConnectWithTls),
        (mysql::at_authentication(), Step::Connect),
        (mysql::at_prepare(), Step::Prepare),
        (mysql::at_query(), Step::Query),
        (mysql::at_rows(), Step::Rows),
        (mysql::at_fetch(), Step::Fetch),
        (mysql::at_close(), Step::Close),
    ]
}

impl Step {
    fn bounds(self) -> Bounds {
        let query = TIMEOUTS.query.unwrap();
        let short = SHORT_MESSAGES_BYTES;
        let (time, kept_bytes) = match self {
            Self::Connect | Self::ConnectWithTls => (TIMEOUTS.connect, short),
            Self::Prepare => (query, short),
            // Skipped by the heads of its packets.
            Self::Query | Self::Close => (query, 64 << 10),
            // As much as comes in this time: one unit in each millisecond, in a buffer that doubles.
            Self::Rows | Self::Fetch => (query, 2 * (16 << 10) * 200 + (128 << 10)),
        };
        Bounds { time, kept_bytes, sent_bytes: kept_bytes + KERNEL_BYTES }
    }

    /// What the client does on its connection.
    async fn perform(self, session: &mut Session) -> Result<(), Failure> {
        let statement = "x".repeat(LONG_STATEMENT_BYTES);
        match self {
            Self::Connect | Self::ConnectWithTls | Self::Close => Ok(()),
            Self::Prepare => session.prepare(&statement).await.map(drop),
            Self::Query => {
                session.begin_run(&statement)?;
                poll_fn(|_| session.poll_answer()).await.map(drop)
            }
            Self::Rows => session.rows("SELECT 1").await.map(drop),
            Self::Fetch => {
                let statement = session.prepare("SELECT 1").await?;
                session.begin_fetch(statement, &[])?;
                poll_fn(|_| session.poll_answer()).await.map(drop)
            }
        }
    }
}

async fn connect(handle: &Handle, path: &Path, step: Step) -> Result<Session, Failure> {
    let mode = if matches!(step, Step::ConnectWithTls) { "REQUIRED" } else { "DISABLED" };
    let url = format!("mysql://root@localhost?socket={}&ssl-mode={mode}", path.display());
    let config = Url::parse(&url).unwrap().resolve(&LoginSources::default()).unwrap();
    let opening = ConnectOptions { index: 0, timeouts: TIMEOUTS, sends_local_rows: false };
    Session::connect(handle, &config, &opening).await
}

/// Connects and does what ends in the phase.
async fn client(handle: Handle, path: PathBuf, step: Step) -> Ending {
    let began = handle.now();
    let mut session = match connect(&handle, &path, step).await {
        Ok(session) => session,
        Err(failure) => {
            let elapsed = Duration::from_nanos(handle.now() - began);
            return Ending { result: Err(failure), elapsed, kept_bytes: 0 };
        }
    };
    let is_login = matches!(step, Step::Connect | Step::ConnectWithTls);
    let began = if is_login { began } else { handle.now() };
    let result = step.perform(&mut session).await;
    let elapsed = Duration::from_nanos(handle.now() - began);
    let kept_bytes = session.kept_bytes();
    if !matches!(step, Step::Close) {
        return Ending { result, elapsed, kept_bytes };
    }
    session.close().await;
    Ending { result, elapsed: Duration::from_nanos(handle.now() - began), kept_bytes }
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
        let failure = connect(&handle, &path, Step::Connect).await.unwrap_err();
        (failure, Duration::from_nanos(handle.now()))
    });
    let (failure, elapsed) = ended.unwrap();
    assert!(failure.message.contains("no login within 1s"), "{failure}");
    assert_eq!(elapsed, TIMEOUTS.connect);
}
