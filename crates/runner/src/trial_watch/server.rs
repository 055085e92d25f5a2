//! Watches a server that reports its metrics: asks it each period, and at the edges of phases.

use std::time::Duration;

use anyhow::{Context as _, Result};
use driver::{ServerFigures, Target};
use measure::Gap;
use system::watch::ServerWatch;

use super::context::WatchContext;

/// Watches server `number` of the record, with this name, until the command to end. A missing answer is recorded as a
/// gap; of what was left out of the answers a note remains.
pub(super) fn watch(
    (number, name): (usize, &str),
    mut server: ServerWatch,
    context: &WatchContext<'_>,
) -> Result<()> {
    let WatchContext { clock, log, .. } = context;
    context.each_period_and_look(&mut server, ServerWatch::sample, |server| {
        let at_ns = clock.now();
        Ok(match server.ask(|| clock.now()) {
            Ok(answer) => log.write(|writer| writer.answer(number, &answer)).1,
            Err(reason) => log.write(|writer| writer.gap(number, &Gap { at_ns, reason })).1,
        })
    })?;
    if let Some(left_out) = server.left_out() {
        log.report_failure(format!("{name}: {left_out}"));
    }
    server.close();
    Ok(())
}

/// Prepares to ask one of a database's servers by SQL.
pub(super) fn by_sql(target: &Target, index: usize, bound: Duration) -> Result<ServerWatch> {
    let figures = ServerFigures::of(target, index, bound);
    let figures = figures.with_context(|| format!("{target} tells no figures by SQL"))?;
    ServerWatch::by_sql(figures).context("cannot watch a database")
}
