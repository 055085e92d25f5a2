//! Watches a server that reports its metrics: asks it each period, and at the edges of phases.

use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use anyhow::Result;
use measure::{Gap, Nanos};
use system::watch::ServerWatch;

use super::log::Continue;
use super::{WatchCommand, WatchContext};

/// Watches server `number` of the record, with this name, until the command to end. A missing answer is recorded as a
/// gap; of what was left out of the answers a note remains.
pub(super) fn watch(
    (number, name): (usize, &str),
    mut server: ServerWatch,
    context: &WatchContext<'_>,
) -> Result<()> {
    let WatchContext { clock, commands, log, .. } = context;
    let mut continued = Continue::Yes;
    let mut ask_at: Nanos = 0;
    while continued == Continue::Yes {
        let wait = Duration::from_nanos(ask_at.saturating_sub(clock.now()));
        let command = commands.recv_timeout(wait);
        if command == Err(RecvTimeoutError::Disconnected) {
            return Ok(());
        }
        let at_ns = clock.now();
        let answer = server.ask(|| clock.now());
        continued = match answer {
            Ok(answer) => log.write(|writer| writer.answer(number, &answer)).1,
            Err(reason) => log.write(|writer| writer.gap(number, &Gap { at_ns, reason })).1,
        };
        if command == Ok(WatchCommand::End) {
            break;
        }
        ask_at = context.next();
    }
    if let Some(left_out) = server.left_out() {
        log.report_failure(format!("{name}: {left_out}"));
    }
    Ok(())
}
