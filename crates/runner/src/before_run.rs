//! The plan's statements before each trial.

use std::time::Duration;

use driver::{Session, Target};
use engine::{Stop, worker_pool};
use measure::Failure;
use net::Clock;
use plan::Bounds;
use workload::BusySessions;

use crate::phase_limit::PhaseLimit;

/// Runs the statements in a session of their own. They end at the first request of a stop, and after the time-out
/// of a phase, on the server too.
///
/// # Errors
/// The server's error, that it took too long, or that it was interrupted.
pub(crate) fn run(
    target: &Target,
    statements: &[String],
    stop: &Stop,
    bounds: &Bounds,
) -> Result<(), Failure> {
    let clock = Clock::monotonic();
    let limit = PhaseLimit::new(stop, bounds.phase_timeout);
    let (asked, timeout, elapsed) = (stop.clone(), bounds.phase_timeout, clock.clone());
    let must_end = move || {
        let elapsed = Duration::from_nanos(elapsed.now());
        asked.is_asked() || timeout.is_some_and(|timeout| elapsed >= timeout)
    };
    let busy = BusySessions::default();
    let (dialect, busy_here) = (target.dialect(), busy.clone());
    let (own_target, statements) = (target.clone(), statements.to_vec());
    let done = worker_pool::run_until(must_end, move |handle| {
        Box::pin(async move {
            let mut session = own_target.connect(&handle, 0).await?;
            let work = async |session: &mut Session| {
                for statement in &statements {
                    session.run(statement).await?;
                }
                Ok(())
            };
            busy_here.track(dialect, (&mut session, 0), work).await?;
            session.close().await;
            Ok(())
        })
    });
    limit.check_limits(Duration::from_nanos(clock.now()));
    done.map_err(|failure| {
        busy.end_statements(target, stop);
        limit.explain(failure)
    })
}

#[cfg(test)]
mod tests {
    use driver::sqlite::Config;

    use super::*;

    /// Counts for hours.
    const ENDLESS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000000) \
                           SELECT COUNT(*) FROM n";

    #[test]
    fn statements_without_end_are_ended_by_the_time_out_of_a_phase_and_by_the_first_stop() {
        let folder = tempfile::tempdir().unwrap();
        let target = Target::sqlite(Config::new(folder.path().join("data.db")));
        let stop = Stop::new();
        let timeout = Some(Duration::from_millis(50));
        let bounds = Bounds { phase_timeout: timeout, ..Bounds::default() };
        let endless = ["CREATE TABLE t (id INTEGER)".to_owned(), ENDLESS.to_owned()];
        let failure = run(&target, &endless, &stop, &bounds).unwrap_err();
        assert_eq!(failure.to_string(), "it took longer than 50ms, its phase_timeout");
        assert_eq!(run(&target, &["DROP TABLE t".to_owned()], &stop, &Bounds::default()), Ok(()));
        stop.ask();
        let failure = run(&target, &endless[1..], &stop, &Bounds::default()).unwrap_err();
        assert_eq!(failure.to_string(), "interrupted");
    }
}
