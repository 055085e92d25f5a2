//! Watches this machine: one reading each period, and samples of the servers' threads in between.

use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use anyhow::Result;
use measure::{Nanos, nanos};
use system::watch::HostWatch;

use super::context::{WatchCommand, WatchContext};
use super::log::Continue;

/// Watches host `number` of the record until the command to end.
pub(super) fn watch(number: usize, mut host: HostWatch, context: &WatchContext<'_>) -> Result<()> {
    let WatchContext { clock, commands, .. } = context;
    let mut continued = Continue::Yes;
    let mut read_at: Nanos = 0;
    let mut look_at: Nanos = 0;
    while continued == Continue::Yes {
        let now = clock.now();
        let wait = Duration::from_nanos(read_at.min(look_at).saturating_sub(now));
        let command = commands.recv_timeout(wait);
        if look_at <= clock.now() {
            look_at = clock.now() + nanos(host.sample());
        }
        let is_due = match command {
            Ok(WatchCommand::Read | WatchCommand::End) => true,
            Err(RecvTimeoutError::Timeout) => read_at <= clock.now(),
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        };
        if is_due {
            let reading = host.read(clock.now())?;
            continued = context.log.write(|writer| writer.reading(number, &reading)).1;
            read_at = context.next();
        }
        if command == Ok(WatchCommand::End) {
            return Ok(());
        }
    }
    Ok(())
}
