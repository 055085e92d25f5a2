//! Watches another host: asks the dyno there for a reading each period, and at the edges of phases.

use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use anyhow::{Context, Result};
use measure::{HostReading, Nanos};

use super::hosts::SharedHost;
use super::log::Continue;
use super::{WatchCommand, WatchContext};

/// Watches host `number` of the record, with this name, until the command to end.
pub(super) fn watch(
    (number, name): (usize, &str),
    host: &SharedHost,
    context: &WatchContext<'_>,
) -> Result<()> {
    let WatchContext { clock, commands, log, .. } = context;
    let mut continued = Continue::Yes;
    let mut read_at: Nanos = 0;
    while continued == Continue::Yes {
        let wait = Duration::from_nanos(read_at.saturating_sub(clock.now()));
        let command = commands.recv_timeout(wait);
        if command == Err(RecvTimeoutError::Disconnected) {
            return Ok(());
        }
        let reading = host.lock().read().with_context(|| name.to_owned())?;
        // The reading has the time of the kernel's clock.
        let ago_ns = net::kernel_ns().saturating_sub(reading.at_ns);
        let reading = HostReading { at_ns: clock.now().saturating_sub(ago_ns), ..reading };
        continued = log.write(|writer| writer.reading(number, &reading)).1;
        if command == Ok(WatchCommand::End) {
            return Ok(());
        }
        read_at = context.next();
    }
    Ok(())
}
