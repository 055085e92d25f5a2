//! The last words of a program, such as ssh: why it does not reach a host.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Context;

const BYTES_MAX: usize = 4 << 10;
const LINES_MAX: usize = 6;
const READ_BYTES: usize = 4 << 10;
/// How long to wait at a pipe that another program has set to not block.
const UNBLOCKED_PAUSE: Duration = Duration::from_millis(10);

/// What a program has written to its standard error.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stderr(Arc<Written>);

#[derive(Debug, Default)]
struct Written {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    kept: VecDeque<u8>,
    has_ended: bool,
}

impl Stderr {
    /// Reads until the program and those that it has started have ended.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(crate) fn read_from(mut source: impl Read + Send + 'static) -> anyhow::Result<Self> {
        let stderr = Self::default();
        let own = stderr.clone();
        let work = move || {
            let mut buffer = [0; READ_BYTES];
            loop {
                match source.read(&mut buffer) {
                    Ok(0) => return own.end(),
                    Ok(length) => own.add(&buffer[..length]),
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {
                        thread::sleep(UNBLOCKED_PAUSE);
                    }
                    Err(_) => return own.end(),
                }
            }
        };
        let thread = thread::Builder::new().name("remote stderr".to_owned());
        thread.spawn(work).context("no thread to read the errors of a program")?;
        Ok(stderr)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) {
        self.state().has_ended = true;
        self.0.ended.notify_all();
    }

    /// Waits until there is no more to come, for as long as `bound`.
    pub(crate) fn wait_for_end(&self, bound: Duration) {
        let goes_on = |state: &mut State| !state.has_ended;
        drop(self.0.ended.wait_timeout_while(self.state(), bound, goes_on));
    }

    fn add(&self, bytes: &[u8]) {
        let kept = &mut self.state().kept;
        kept.extend(bytes);
        let surplus = kept.len().saturating_sub(BYTES_MAX);
        kept.drain(..surplus);
    }

    /// The last lines, in one, without secrets; control characters are shown as their codes.
    pub(crate) fn last_words(&self) -> String {
        let bytes: Vec<u8> = self.state().kept.iter().copied().collect();
        let text = plan::scrub(&String::from_utf8_lossy(&bytes));
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
        let last = &lines[lines.len().saturating_sub(LINES_MAX)..];
        let shown =
            |c: char| if c.is_control() { c.escape_unicode().collect() } else { c.to_string() };
        last.join(" / ").chars().map(shown).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept_and_control_characters_are_shown() {
        let stderr = Stderr::default();
        assert_eq!(stderr.last_words(), "");
        stderr.add(b"\x1b[31mone\x07\r\n\n  two  \n");
        assert_eq!(stderr.last_words(), "\\u{1b}[31mone\\u{7} / two");
        for number in 0..10_000 {
            stderr.add(format!("line {number}\n").as_bytes());
        }
        assert!(stderr.last_words().ends_with("line 9998 / line 9999"));
        assert_eq!(stderr.last_words().split(" / ").count(), LINES_MAX);
        assert!(stderr.state().kept.len() <= BYTES_MAX);
    }

    #[test]
    fn a_password_is_not_shown() {
        let stderr = Stderr::default();
        stderr.add(b"cannot reach mysql://root:hors3-carr1age@h:3306/\n");
        assert!(!stderr.last_words().contains("hors3"), "{}", stderr.last_words());
    }
}
