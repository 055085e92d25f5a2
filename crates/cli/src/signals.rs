//! Ctrl-C and TERM: once ends the trial and keeps what was measured, twice ends at once.

use std::io;
use std::process;
use std::thread;

use engine::{Stop, StopLevel};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// The exit code of a run that was interrupted, as shells have it for SIGINT.
pub(crate) const INTERRUPTED: u8 = 130;

/// Turns signals into requests to stop. A third one ends the process where it stands.
pub(crate) fn listen() -> io::Result<Stop> {
    let stop = Stop::new();
    let asked = stop.clone();
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let mut is_last = false;
        for _ in &mut signals {
            if is_last {
                end_now();
            }
            is_last = asked.ask() == StopLevel::AtOnce;
        }
    })?;
    Ok(stop)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the third Ctrl-C means now; servers follow by themselves"
)]
fn end_now() {
    process::exit(i32::from(INTERRUPTED));
}
