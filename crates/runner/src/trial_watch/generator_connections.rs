//! Watches the connections of generators to the system: adds up what the generators tell of their own.

use std::thread;
use std::time::Duration;

use anyhow::Result;

use super::context::WatchContext;
use super::log::Continue;
use crate::known_generators::KnownGenerators;

/// How long the last readings of generators may be on their way, in pauses.
const LAST_PAUSES: u32 = 10;
const LAST_PAUSE: Duration = Duration::from_millis(50);

/// Watches until the command to end, and then for as long as the last readings take. Where a generator cannot tell,
/// the record gets the reason.
pub(super) fn watch(generators: &KnownGenerators, context: &WatchContext<'_>) -> Result<()> {
    let log = context.log;
    let mut last_ns = None;
    let mut write = || match generators.connections() {
        Some(Ok(reading)) if last_ns < Some(reading.at_ns) => {
            last_ns = Some(reading.at_ns);
            log.write(|writer| writer.connections(&reading)).1
        }
        Some(Err(reason)) => {
            log.write(|writer| writer.no_connections(&reason));
            Continue::No
        }
        Some(Ok(_)) | None => Continue::Yes,
    };
    let mut continued = Continue::Yes;
    context.each_period(|| {
        continued = write();
        Ok(continued)
    })?;
    for _ in 0..LAST_PAUSES {
        if continued == Continue::No || generators.have_told_last_connections() {
            break;
        }
        thread::sleep(LAST_PAUSE);
    }
    if continued == Continue::Yes {
        write();
    }
    Ok(())
}
