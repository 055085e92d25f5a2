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
    aside_in_steps(stage, listener, move |_| work())
}

/// What a thread tells of its work.
enum Report<T> {
    Step { done: u64, total: u64 },
    End(T),
}

/// The same for work that tells after each step how much is done, and of how much.
///
/// # Errors
/// As [`aside`].
pub(crate) fn aside_in_steps<T: Send + 'static>(
    stage: &str,
    listener: &mut ProgressListener<'_>,
    work: impl FnOnce(&mut dyn FnMut(u64, u64)) -> T + Send + 'static,
) -> anyhow::Result<T> {
    let (sender, reports) = mpsc::channel();
    let thread = thread::Builder::new().name("aside".to_owned());
    let started = thread.spawn(move || {
        // Nobody may wait for the reports any more.
        let end = work(&mut |done, total| drop(sender.send(Report::Step { done, total })));
        drop(sender.send(Report::End(end)));
    });
    started.with_context(|| format!("no thread for {stage}"))?;
    let mut progress = ProgressEvent::stage(stage);
    loop {
        if listener(progress).is_break() {
            bail!("interrupted while {stage}");
        }
        match reports.recv_timeout(POLL_PERIOD) {
            Ok(Report::Step { done, total }) => {
                progress = ProgressEvent::Stage { name: stage, done, total };
            }
            Ok(Report::End(end)) => return Ok(end),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => bail!("a thread ended early while {stage}"),
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
