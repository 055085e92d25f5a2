//! Watches this machine: a reading each period, and looks at the servers' threads in between.

use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use anyhow::Result;
use measure::{Nanos, nanos};
use system::watch::HostWatch;

use super::notes::GoOn;
use super::{Command, Post};

/// Watches host `number` of the notes until it is told to end.
pub(super) fn watch(number: usize, mut host: HostWatch, post: &Post<'_>) -> Result<()> {
    let Post { clock, commands, .. } = post;
    let mut go_on = GoOn::Yes;
    let mut read_at: Nanos = 0;
    let mut look_at: Nanos = 0;
    while go_on == GoOn::Yes {
        let now = clock.now();
        let wait = Duration::from_nanos(read_at.min(look_at).saturating_sub(now));
        let told = commands.recv_timeout(wait);
        if look_at <= clock.now() {
            look_at = clock.now() + nanos(host.look());
        }
        let is_due = match told {
            Ok(Command::Read | Command::End) => true,
            Err(RecvTimeoutError::Timeout) => read_at <= clock.now(),
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        };
        if is_due {
            let reading = host.read(clock.now())?;
            go_on = post.notes.write(|writer| writer.reading(number, &reading)).1;
            read_at = post.next();
        }
        if told == Ok(Command::End) {
            return Ok(());
        }
    }
    Ok(())
}
