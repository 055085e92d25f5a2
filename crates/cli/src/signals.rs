//! Ctrl-C, TERM and a terminal that hangs up: the first signal ends the trial and keeps the measurements, the second
//! ends at once.

use std::fs;
use std::io;
use std::process;
use std::sync::Arc;
use std::thread;

use engine::{Stop, StopLevel};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// The exit code of an interrupted run, as shells report it for SIGINT.
pub(crate) const INTERRUPTED: u8 = 130;

/// Turns signals into requests to stop. A third signal ends the process immediately.
pub(crate) fn listen() -> io::Result<Stop> {
    let stop = Stop::new();
    let asked = stop.clone();
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    if !is_ignored(SIGHUP) {
        signals.add_signal(SIGHUP)?;
    }
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

/// Leaves Ctrl-C at a terminal, and a terminal that hangs up, to the process of the run: it ends its generators in
/// order.
pub(crate) fn leave_to_the_run() -> io::Result<()> {
    for signal in [SIGINT, SIGHUP] {
        signal_hook::flag::register(signal, Arc::default())?;
    }
    Ok(())
}

/// Whether the process was started with this signal ignored, as by `nohup`.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    ignores(&status, signal)
}

/// Source: proc_pid_status(5), `SigIgn`: a mask in hexadecimal digits, signal 1 in its lowest bit.
fn ignores(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

/// Ends the process immediately.
#[expect(
    clippy::disallowed_methods,
    reason = "the third Ctrl-C means now; servers follow by themselves, and so do generators without a run"
)]
pub(crate) fn end_now() {
    process::exit(i32::from(INTERRUPTED));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_of_ignored_signals_is_read() {
        let status = "SigBlk:\t0000000000000001\nSigIgn:\t0000000000001001\nSigCgt:\t0\n";
        assert!(ignores(status, SIGHUP));
        assert!(!ignores(status, SIGINT));
        assert!(!ignores("SigIgn:\t0000000000001000\n", SIGHUP));
        assert!(!ignores("", SIGHUP));
    }
}
