//! The TiDB for the tests: built by the same code as dyno's own, and kept in the same cache.

use std::ops::ControlFlow;
use std::path::PathBuf;

use net::Clock;
use system::ProgressEvent;
use system::tidb::{BuildOptions, provide};

use crate::interrupt::Interrupt;

/// The environment variable that holds the server program's path in tests.
pub(crate) const VARIABLE: &str = "DYNO_TEST_TIDB";

/// Time between two lines of progress, ns.
const SAY_PERIOD_NS: u64 = 30_000_000_000;

/// The server's program; it is built now if it was never built.
///
/// # Errors
/// When it cannot be built, or a signal arrived.
pub(crate) fn build(interrupt: &Interrupt) -> anyhow::Result<PathBuf> {
    let clock = Clock::monotonic();
    let mut said_ns = clock.now();
    let built = provide(&BuildOptions::default(), &mut |step| {
        match step {
            ProgressEvent::Note(text) => eprintln!("xtask: {text}"),
            ProgressEvent::Progress { stage, done, total }
                if clock.now() - said_ns > SAY_PERIOD_NS =>
            {
                said_ns = clock.now();
                match total {
                    0 => eprintln!("xtask: {stage}: {done}"),
                    _ => eprintln!("xtask: {stage}: {done} of {total}"),
                }
            }
            ProgressEvent::Progress { .. } => {}
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
