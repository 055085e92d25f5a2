//! Removes what was made, also after a request to stop, but never waits for long then.

use std::cell::Cell;
use std::fmt::Display;
use std::rc::Rc;
use std::time::Duration;

use engine::{Stop, StopLevel};
use measure::{Failure, Nanos, nanos};
use net::Clock;

use crate::WorkloadContext;
use crate::parallel::on_session_until;

/// How long a server may take to answer one statement after a request to stop.
const ANSWER_BOUND: Duration = Duration::from_secs(1);

/// Drops tables in this order.
///
/// # Errors
/// As [`remove`].
pub(crate) fn drop_tables<S: Display>(
    context: &WorkloadContext<'_>,
    names: impl IntoIterator<Item = S>,
) -> Result<(), Failure> {
    let drops = names.into_iter().map(|name| format!("DROP TABLE IF EXISTS {name}"));
    remove(context, drops.collect(), |_, failure| failure)
}

/// Takes away the tables of a `prepare` that has failed or was stopped.
pub(crate) fn take_away<S: Display>(
    context: &WorkloadContext<'_>,
    names: impl IntoIterator<Item = S>,
) {
    context.progress.begin("taking away what is not finished", 0);
    // Only the first failure is reported; a second one here most probably has the same cause.
    let _ = drop_tables(context, names);
}

/// Runs statements that remove what was made, in order. After a request to stop they go on as long as the server answers
/// each within a second; a request to stop at once ends them. A note then tells which were not done.
///
/// # Errors
/// The failure of a statement as `explain` tells it, with its place, or that they were given up.
pub(crate) fn remove(
    context: &WorkloadContext<'_>,
    statements: Vec<String>,
    explain: impl Fn(usize, Failure) -> Failure + 'static,
) -> Result<(), Failure> {
    if statements.is_empty() {
        return Ok(());
    }
    let (statements, done) = (Rc::new(statements), Rc::new(Cell::new(0)));
    let (wait, clock) = (Wait::new(context.stop, &done), Clock::monotonic());
    let (all, counted, progress) =
        (Rc::clone(&statements), Rc::clone(&done), context.progress.clone());
    // A further wait for a server that did not answer before would be as long.
    let is_silent = context.stop.is_asked() && context.progress.is_server_silent();
    let must_end = move || is_silent || wait.is_over(clock.now());
    let removed = on_session_until(context, must_end, async move |session| {
        for (place, sql) in all.iter().enumerate() {
            session.run(sql).await.map_err(|failure| explain(place, failure))?;
            counted.set(place + 1);
            progress.advance(1);
        }
        Ok(())
    });
    if removed.is_err() && context.stop.is_asked() {
        let left = left(&statements[done.get().min(statements.len() - 1)..]);
        context.progress.note(format!("given up: {left}; `dyno cleanup` removes what is left"));
    }
    removed
}

/// Names statements that were not done.
fn left(statements: &[String]) -> String {
    match statements {
        [] => String::new(),
        [one] => format!("`{one}`"),
        [first, _] => format!("`{first}` and 1 statement after it"),
        [first, others @ ..] => format!("`{first}` and {} statements after it", others.len()),
    }
}

/// The wait for the answers to some statements.
struct Wait {
    stop: Stop,
    /// How many statements are done.
    done: Rc<Cell<usize>>,
    /// For which one it is, and since when; `None` before the request to stop.
    since: Cell<Option<(usize, Nanos)>>,
}

impl Wait {
    fn new(stop: &Stop, done: &Rc<Cell<usize>>) -> Self {
        Self { stop: stop.clone(), done: Rc::clone(done), since: Cell::new(None) }
    }

    fn is_over(&self, now: Nanos) -> bool {
        if !self.stop.is_asked() {
            return false;
        }
        let done = self.done.get();
        let same = self.since.get().filter(|(place, _)| *place == done);
        let (_, since) = same.unwrap_or((done, now));
        self.since.set(Some((done, since)));
        self.stop.level() == StopLevel::AtOnce || now.saturating_sub(since) >= nanos(ANSWER_BOUND)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_a_second_after_the_request_to_stop_or_the_last_answer() {
        let (stop, done) = (Stop::new(), Rc::new(Cell::new(0)));
        let wait = Wait::new(&stop, &done);
        let after = |ms: u64| wait.is_over(ms * 1_000_000);
        assert!(!after(60_000), "without a request there is no bound");
        stop.ask();
        assert!(!after(65_000), "the request is seen");
        assert!(!after(65_900));
        done.set(1);
        assert!(!after(66_800), "one was answered");
        assert!(!after(67_700));
        assert!(after(67_800));
        let other = Wait::new(&stop, &done);
        assert!(!other.is_over(0));
        stop.ask();
        assert!(other.is_over(0), "a request to stop at once");
    }

    #[test]
    fn what_is_left_is_named() {
        let all = ["DROP TABLE a", "DROP TABLE b", "DROP TABLE c"].map(str::to_owned);
        assert_eq!(left(&all), "`DROP TABLE a` and 2 statements after it");
        assert_eq!(left(&all[2..]), "`DROP TABLE c`");
    }
}
