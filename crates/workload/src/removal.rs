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

/// How long a server may take to answer one statement after a request to stop, and when the user is told of the wait.
const ANSWER_BOUND: Duration = Duration::from_secs(5);
const TELL_AFTER: Duration = Duration::from_secs(1);
/// How many statements that were not done are named: all tables of TPC-H and TPC-C.
const NAMED_MAX: usize = 9;

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
    let names: Vec<String> = names.into_iter().map(|name| name.to_string()).collect();
    context.progress.begin("taking away what is not finished", names.len() as u64);
    let mut removed = drop_tables(context, &names);
    // Something between dyno and the server may end connections whose statement takes long; the statement goes on.
    if removed.as_ref().is_err_and(|failure| failure.key.class.breaks_connection()) {
        removed = drop_tables(context, &names);
    }
    // After a request to stop, a note has told it.
    if let (Err(failure), false) = (removed, context.stop.is_asked()) {
        let drops: Vec<String> = names.iter().map(|name| format!("DROP TABLE {name}")).collect();
        context.note_left(format!(
            "tables may be left, because this failed: {}: {failure}",
            named(&drops)
        ));
    }
}

/// Runs statements that remove what was made, in order. After a request to stop they go on as long as the server answers
/// each within [`ANSWER_BOUND`]; a request to stop at once ends them. A note then tells which were not done.
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
    let was_silent = context.progress.is_server_silent();
    let bound = match context.keeps_data {
        // A further wait for a server that did not answer before would be as long.
        _ if was_silent && context.stop.is_asked() => Duration::ZERO,
        true => ANSWER_BOUND,
        // Data that end with dyno need no patience.
        false => TELL_AFTER,
    };
    let removal = Rc::new(Removal::new(context.stop, statements, bound));
    let clock = Clock::monotonic();
    let (watched, time, notes) = (Rc::clone(&removal), clock.clone(), context.progress.clone());
    let must_end = move || {
        if let Some(sql) = watched.to_tell(time.now()) {
            notes.note(format!(
                "waiting up to {} s for the server to do `{sql}`; a second Ctrl-C leaves what is not removed",
                ANSWER_BOUND.as_secs()
            ));
        }
        watched.is_over(time.now())
    };
    let (under_way, progress) = (Rc::clone(&removal), context.progress.clone());
    let removed = on_session_until(context, must_end, async move |session| {
        for (place, sql) in under_way.statements.iter().enumerate() {
            session.run(sql).await.map_err(|failure| explain(place, failure))?;
            under_way.done.set(place + 1);
            progress.advance(1);
        }
        Ok(())
    });
    context.progress.removal_has_begun();
    let left = &removal.statements[removal.done.get()..];
    match removed {
        // All is done when only the end of the session was given up.
        Err(failure) if !left.is_empty() => {
            if context.stop.is_asked() {
                let may_go_on = !was_silent && context.progress.is_server_silent();
                context.note_left(match removal.is_over(clock.now()) {
                    true => given_up(left, may_go_on),
                    false => format!("failed: {}: {failure}", named(left)),
                });
            }
            Err(failure)
        }
        _ => Ok(()),
    }
}

/// Tells that statements were given up, the first of them maybe after the server had got it.
fn given_up(statements: &[String], may_go_on: bool) -> String {
    let doubt = match may_go_on {
        true => "; the server may still do the first, because it did not answer",
        false => "",
    };
    format!("given up: {}; `dyno cleanup` removes what is left{doubt}", named(statements))
}

/// Names statements, the last ones counted where they are many.
fn named(statements: &[String]) -> String {
    let mut names: Vec<String> =
        statements.iter().take(NAMED_MAX).map(|sql| format!("`{sql}`")).collect();
    if let Some(more @ 1..) = statements.len().checked_sub(NAMED_MAX) {
        names.push(format!("{more} more"));
    }
    names.join(", ")
}

impl WorkloadContext<'_> {
    /// Tells, after a removal that a request to stop has ended, that it had removed nothing yet. Otherwise a note has
    /// told what is left.
    pub fn note_untouched(&self) {
        if self.stop.is_asked() && !self.progress.has_removal_begun() {
            self.note_left(
                "given up before anything was removed; `dyno cleanup` removes what is there",
            );
        }
    }
}

/// Statements that remove what was made, and the wait for the answer to the next one.
struct Removal {
    statements: Vec<String>,
    done: Cell<usize>,
    stop: Stop,
    /// How long the wait for each may last after a request to stop.
    bound: Duration,
    /// For which one the wait is, and since when; `None` before the request to stop.
    since: Cell<Option<(usize, Nanos)>>,
    is_told: Cell<bool>,
}

impl Removal {
    fn new(stop: &Stop, statements: Vec<String>, bound: Duration) -> Self {
        let (since, is_told) = (Cell::new(None), Cell::new(false));
        Self { statements, done: Cell::new(0), stop: stop.clone(), bound, since, is_told }
    }

    /// How long the wait has lasted since the request to stop or the last answer.
    fn waited_ns(&self, now: Nanos) -> Nanos {
        if !self.stop.is_asked() {
            return 0;
        }
        let done = self.done.get();
        let same = self.since.get().filter(|(place, _)| *place == done);
        let (_, since) = same.unwrap_or((done, now));
        self.since.set(Some((done, since)));
        now.saturating_sub(since)
    }

    /// Whether the statements that are left are given up.
    fn is_over(&self, now: Nanos) -> bool {
        self.stop.level() == StopLevel::AtOnce || self.waited_ns(now) >= nanos(self.bound)
    }

    /// The statement that the user is to be told of, once.
    fn to_tell(&self, now: Nanos) -> Option<&str> {
        let is_long = self.bound > TELL_AFTER && self.waited_ns(now) >= nanos(TELL_AFTER);
        let is_news = is_long && !self.is_told.replace(true);
        self.statements.get(self.done.get()).filter(|_| is_news).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;
    use crate::parallel::on_session;
    use crate::testing::{TestSystem, message};

    fn remove_from(system: &TestSystem, statements: &[&str]) -> Result<(), Failure> {
        let statements = statements.iter().map(|&sql| sql.to_owned()).collect();
        remove(&system.context(), statements, |_, failure| failure)
    }

    #[test]
    fn a_statement_that_fails_after_a_request_to_stop_is_not_told_to_be_given_up() {
        let system = TestSystem::sqlite();
        system.stop.ask();
        let failure = message(remove_from(&system, &["DROP TABLE absent", "DROP TABLE other"]));
        assert!(failure.contains("no such table: absent"), "{failure}");
        let notes = system.progress.take_notes();
        assert!(
            notes[0].starts_with("failed: `DROP TABLE absent`, `DROP TABLE other`: "),
            "{notes:?}"
        );
        assert!(notes[0].contains("no such table: absent"), "{notes:?}");
    }

    #[test]
    fn an_sqlite_statement_that_waits_for_a_lock_is_given_up_after_a_request_to_stop() {
        let system = TestSystem::sqlite();
        system.run("CREATE TABLE one (id INTEGER)");
        let holder = system.beside();
        let (locked, is_locked) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        thread::scope(|scope| {
            scope.spawn(|| {
                on_session(&holder.context(), async move |session| {
                    session.run("BEGIN IMMEDIATE").await?;
                    locked.send(()).unwrap();
                    released.recv().unwrap_err();
                    Ok(())
                })
                .unwrap();
            });
            is_locked.recv().unwrap();
            system.stop.ask();
            let failure = message(remove_from(&system, &["DROP TABLE one"]));
            drop(release);
            assert!(failure.ends_with("interrupted"), "{failure}");
        });
        let told = "given up: `DROP TABLE one`; `dyno cleanup` removes what is left";
        let waiting = "waiting up to 5 s for the server to do `DROP TABLE one`; a second Ctrl-C \
                       leaves what is not removed";
        assert_eq!(system.progress.take_notes(), [waiting, told]);
        assert_eq!(system.integer("SELECT COUNT(*) FROM one"), 0, "it is there");
    }

    #[test]
    fn tables_that_stay_after_a_failed_prepare_are_named() {
        let system = TestSystem::sqlite();
        system.run("CREATE VIEW one AS SELECT 1");
        take_away(&system.context(), ["one", "two"]);
        let notes = system.progress.take_notes();
        let told = "tables may be left, because this failed: `DROP TABLE one`, `DROP TABLE two`: ";
        assert!(notes.len() == 1 && notes[0].starts_with(told), "{notes:?}");
    }

    #[test]
    fn a_wait_is_told_of_and_ends_so_long_after_the_request_to_stop_or_the_last_answer() {
        let stop = Stop::new();
        let removal = || {
            let statements = ["one", "two"].map(str::to_owned).to_vec();
            Removal::new(&stop, statements, ANSWER_BOUND)
        };
        let wait = removal();
        let after = |ms: u64| wait.is_over(ms * 1_000_000);
        assert!(!after(60_000), "without a request there is no bound");
        stop.ask();
        assert!(!after(65_000), "the request is seen");
        assert_eq!(wait.to_tell(65_900_000_000), None);
        assert!(!after(69_900));
        wait.done.set(1);
        assert!(!after(70_000), "one was answered");
        assert_eq!(wait.to_tell(71_000_000_000), Some("two"));
        assert_eq!(wait.to_tell(71_000_000_000), None, "told once");
        assert!(!after(74_900));
        assert!(after(75_000));
        let other = removal();
        assert!(!other.is_over(0));
        stop.ask();
        assert!(other.is_over(0), "a request to stop at once");
    }

    #[test]
    fn what_is_left_is_named() {
        let all: Vec<String> = (1..=11).map(|number| format!("DROP TABLE t{number}")).collect();
        let told =
            "given up: `DROP TABLE t10`, `DROP TABLE t11`; `dyno cleanup` removes what is left";
        assert_eq!(given_up(&all[9..], false), told);
        let doubt = "; the server may still do the first, because it did not answer";
        assert_eq!(given_up(&all[9..], true), format!("{told}{doubt}"));
        assert!(named(&all[2..]).ends_with(", `DROP TABLE t11`"), "{}", named(&all[2..]));
        assert!(named(&all).ends_with(", `DROP TABLE t9`, 2 more"), "{}", named(&all));
    }
}
