//! Asks a database what it is.

use anyhow::Context;
use driver::{Facts, Target};
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
