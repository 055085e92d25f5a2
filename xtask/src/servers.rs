//! The servers for the tests: built by the same code as dyno's own, and kept in the same cache.

use std::ops::ControlFlow;
use std::path::PathBuf;

use net::Clock;
use system::go_echo::EchoServer;
use system::tidb::{self, BuildOptions};
use system::{Daemon, ProgressEvent, ProgressListener};

use crate::interrupt::Interrupt;

/// Time between two lines of progress, ns.
const SAY_PERIOD_NS: u64 = 30_000_000_000;

/// TiDB's program; it is built now if it was never built.
pub(crate) fn tidb(interrupt: &Interrupt) -> anyhow::Result<PathBuf> {
    watched(interrupt, |listener| tidb::provide(&BuildOptions::default(), listener))
}

/// An echo server in Go; it is built now if it was never built.
pub(crate) fn echo(server: EchoServer, interrupt: &Interrupt) -> anyhow::Result<PathBuf> {
    watched(interrupt, |listener| server.provide(None, listener))
}

/// Every server, by the name of the environment variable that holds its program's path in tests.
pub(crate) fn build(interrupt: &Interrupt) -> anyhow::Result<[(&'static str, PathBuf); 3]> {
    Ok([
        ("DYNO_TEST_TIDB", tidb(interrupt)?),
        ("DYNO_TEST_TRPC_ECHO", echo(EchoServer::Trpc, interrupt)?),
        ("DYNO_TEST_GRPC_ECHO", echo(EchoServer::Grpc, interrupt)?),
    ])
}

/// The password of a server's account, for programs that take it separately. They take it as an argument, which other
/// users of the machine can read.
pub(crate) fn password(server: &Daemon) -> String {
    let url = server.url();
    let account = url.split_once("//").and_then(|(_, rest)| rest.split_once('@'));
    let password = account.and_then(|(account, _)| account.split_once(':'));
    password.map_or_else(String::new, |(_, password)| password.to_owned())
}

/// Runs a build, prints its progress, and ends it when the user does.
fn watched(
    interrupt: &Interrupt,
    build: impl FnOnce(&mut ProgressListener<'_>) -> anyhow::Result<PathBuf>,
) -> anyhow::Result<PathBuf> {
    let clock = Clock::monotonic();
    let mut said_ns = clock.now();
    let built = build(&mut |step| {
        match step {
            ProgressEvent::Note(text) => eprintln!("xtask: {text}"),
            ProgressEvent::Stage { name: stage, done, total }
                if clock.now() - said_ns > SAY_PERIOD_NS =>
            {
                said_ns = clock.now();
                match total {
                    0 => eprintln!("xtask: {stage}: {done}"),
                    _ => eprintln!("xtask: {stage}: {done} of {total}"),
                }
            }
            ProgressEvent::Stage { .. } => {}
        }
        if interrupt.signal().is_some() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    interrupt.check()?;
    built
}
