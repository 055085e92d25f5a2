//! Watches another host: asks the dyno there for a reading each period, and at the edges of phases.

use anyhow::{Context, Result};
use measure::HostReading;

use super::context::WatchContext;
use super::hosts::SharedHost;

/// Watches host `number` of the record, with this name, until the command to end.
pub(super) fn watch(
    (number, name): (usize, &str),
    host: &SharedHost,
    context: &WatchContext<'_>,
) -> Result<()> {
    let WatchContext { clock, log, .. } = context;
    context.each_period(|| {
        let reading = host.lock().read().with_context(|| name.to_owned())?;
        // The reading has the time of the kernel's clock.
        let ago_ns = net::kernel_ns().saturating_sub(reading.at_ns);
        let reading = HostReading { at_ns: clock.now().saturating_sub(ago_ns), ..reading };
        Ok(log.write(|writer| writer.reading(number, &reading)).1)
    })
}
