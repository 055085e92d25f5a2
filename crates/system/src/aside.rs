//! Calls that block their thread and cannot be ended, such as the look-up of a host's name. Once a stop is requested
//! they are left behind.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};

use crate::{ProgressEvent, ProgressListener};

/// The stage in which hosts of a URL are looked up.
pub(crate) const LOOKING_UP: &str = "looking up the hosts of the system";
/// Time between two checks whether the result is still wanted.
const POLL_PERIOD: Duration = Duration::from_millis(50);

/// Does `work` on a thread of its own, and returns its result.
///
/// # Errors
/// When the listener requests a stop. The work may then go on, and its result goes nowhere.
pub fn aside<T: Send + 'static>(
    stage: &str,
    listener: &mut ProgressListener<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> anyhow::Result<T> {
    let (sender, result) = mpsc::channel();
    let thread = thread::Builder::new().name("aside".to_owned());
    // Nobody may wait for the result any more.
    let started = thread.spawn(move || drop(sender.send(work())));
    started.with_context(|| format!("no thread for {stage}"))?;
    loop {
        if listener(ProgressEvent::stage(stage)).is_break() {
            bail!("interrupted while {stage}");
        }
        match result.recv_timeout(POLL_PERIOD) {
            Err(RecvTimeoutError::Timeout) => {}
            done => return done.with_context(|| format!("a thread ended early while {stage}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;

    #[test]
    fn a_call_that_blocks_is_left_behind_at_a_stop() {
        // The work waits for what comes only when the test is over.
        let (release, released) = mpsc::channel::<()>();
        let mut looks = 0;
        let mut listener = |_: ProgressEvent<'_>| {
            looks += 1;
            if looks < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let error = aside("waiting", &mut listener, move || released.recv()).unwrap_err();
        assert_eq!(error.to_string(), "interrupted while waiting");
        drop(release);
    }

    #[test]
    fn a_result_is_returned_and_a_panic_is_an_error() {
        let mut listener = |_: ProgressEvent<'_>| ControlFlow::Continue(());
        assert_eq!(aside("adding", &mut listener, || 1 + 1).unwrap(), 2);
        let error =
            aside("failing", &mut listener, || -> u32 { panic!("on purpose") }).unwrap_err();
        assert_eq!(error.to_string(), "a thread ended early while failing");
    }
}
