//! Asks a database what it is.

use anyhow::Context;
use driver::{Datum, Facts, Target};
use net::{Clock, Runtime};

/// Connects once and asks; the target knows its capabilities from here on.
///
/// # Errors
/// When it cannot be reached or refuses the login, with what to do about it.
pub(crate) fn ask(mut target: Target) -> anyhow::Result<(Target, Facts)> {
    let mut runtime = Runtime::new(Clock::monotonic()).context("no event loop to connect with")?;
    let handle = runtime.handle();
    let asked = runtime.block_on(async move {
        let facts = target.probe(&handle).await;
        (target, facts)
    });
    let (target, facts) = asked.context("the event loop failed")?;
    Ok((target, facts?))
}

/// Runs a statement in a session of its own.
///
/// # Errors
/// When the server cannot be reached, or does not like the statement.
pub(crate) fn run(target: &Target, statement: &str) -> anyhow::Result<()> {
    rows(target, statement).map(drop)
}

/// The rows that a statement brings, in a session of its own.
///
/// # Errors
/// As [`run`].
pub(crate) fn rows(target: &Target, statement: &str) -> anyhow::Result<Vec<Vec<Datum>>> {
    let (target, statement) = (target.clone(), statement.to_owned());
    let mut runtime = Runtime::new(Clock::monotonic()).context("no event loop to connect with")?;
    let handle = runtime.handle();
    let asked = runtime.block_on(async move {
        let mut session = target.connect(&handle, 0).await?;
        let rows = session.rows(&statement).await;
        session.close().await;
        rows
    });
    Ok(asked.context("the event loop failed")??)
}
