//! Watches a server that tells its metrics: it is asked each period, and at the edges of phases.

use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use anyhow::Result;
use measure::{Gap, Nanos};
use system::watch::ServerWatch;

use super::notes::GoOn;
use super::{Command, Post};

/// Watches server `number` of the notes until it is told to end. What it does not answer is a gap.
pub(super) fn watch(number: usize, mut server: ServerWatch, post: &Post<'_>) -> Result<()> {
    let Post { clock, commands, notes, .. } = post;
    let mut go_on = GoOn::Yes;
    let mut ask_at: Nanos = 0;
    while go_on == GoOn::Yes {
        let wait = Duration::from_nanos(ask_at.saturating_sub(clock.now()));
        let told = commands.recv_timeout(wait);
        if told == Err(RecvTimeoutError::Disconnected) {
            return Ok(());
        }
        let at_ns = clock.now();
        let answer = server.ask(|| clock.now());
        go_on = match answer {
            Ok(answer) => notes.write(|writer| writer.answer(number, &answer)).1,
            Err(reason) => notes.write(|writer| writer.gap(number, &Gap { at_ns, reason })).1,
        };
        if told == Ok(Command::End) {
            return Ok(());
        }
        ask_at = post.next();
    }
    Ok(())
}
