//! The statements that the extension `pg_stat_statements` has counted for dyno's user and database, where it is loaded.
//!
//! It counts a statement when it ends without an error, each execution of a prepared one, and those of other processes of a
//! parallel query not at all. So it counts what the sessions of dyno count, whatever they are for, and nothing has to be
//! left out by its text.

use measure::Failure;

use super::codec::AnswerLimit;
use super::counters::{count, text};
use super::session::Session;
use crate::Datum;

/// The schema of the extension, and what decides whether it counts every statement. Its settings are there only where it
/// is loaded.
const ABOUT: &str = "SELECT quote_ident(n.nspname), current_setting('pg_stat_statements.track', true), \
     current_setting('pg_stat_statements.track_utility', true), current_setting('compute_query_id', true), \
     COALESCE(to_regclass(quote_ident(n.nspname) || '.pg_stat_statements_info')::text, '') \
     FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace \
     WHERE e.extname = 'pg_stat_statements' AND current_setting('pg_stat_statements.track', true) IS NOT NULL";

/// What it has counted at the time of a reading, or why that cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StatementReading(Result<Counted, String>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Counted {
    statements: u64,
    /// How often it made room for other statements, whose counts are lost.
    evictions: u64,
    /// When it was reset last.
    reset: String,
}

/// Reads it; `None` where the database does not have it or the server has not loaded it.
pub(super) async fn read(session: &mut Session) -> Result<Option<StatementReading>, Failure> {
    let about = session.rows_within(ABOUT, AnswerLimit::Facts).await;
    let Some(about) = answered(about)?.ok().and_then(|rows| rows.into_iter().next()) else {
        return Ok(None);
    };
    let mut about = about.into_iter().map(text);
    let mut next = || about.next().unwrap_or_default();
    let (schema, settings) = (next(), [next(), next(), next(), next()]);
    if let Some(why) = why_not(settings.each_ref().map(String::as_str)) {
        return Ok(Some(StatementReading(Err(why.to_owned()))));
    }
    let rows = session.rows_within(&question(&schema), AnswerLimit::Facts).await;
    let counted = match answered(rows)? {
        Ok(rows) => counted(rows).ok_or_else(|| "pg_stat_statements tells nothing".to_owned()),
        Err(why) => Err(format!("pg_stat_statements cannot be read: {why}")),
    };
    Ok(Some(StatementReading(counted)))
}

/// An answer, or why the server refuses the question.
fn answered<T>(answer: Result<T, Failure>) -> Result<Result<T, String>, Failure> {
    match answer {
        Err(failure) if !failure.key.class.breaks_connection() => {
            Ok(Err(failure.message.to_string()))
        }
        answer => answer.map(Ok),
    }
}

fn why_not([track, utility, ids, info]: [&str; 4]) -> Option<&'static str> {
    Some(match () {
        () if info.is_empty() => {
            "pg_stat_statements is older than 1.9, and does not tell whether counts were lost (ALTER EXTENSION \
             pg_stat_statements UPDATE)"
        }
        () if track == "none" => "pg_stat_statements.track is none: it counts no statements",
        () if utility != "on" => {
            "pg_stat_statements.track_utility is off: it does not count BEGIN and COMMIT"
        }
        () if ids == "off" => "compute_query_id is off: pg_stat_statements counts no statements",
        () => return None,
    })
}

/// With `track = all` statements of functions are counted too, but not as `toplevel`.
fn question(schema: &str) -> String {
    format!(
        "SELECT (SELECT COALESCE(SUM(calls), 0)::bigint FROM {schema}.pg_stat_statements(false) s \
         JOIN pg_database d ON d.oid = s.dbid JOIN pg_roles r ON r.oid = s.userid \
         WHERE d.datname = current_database() AND r.rolname = current_user AND s.toplevel), \
         dealloc, stats_reset::text FROM {schema}.pg_stat_statements_info"
    )
}

fn counted(rows: Vec<Vec<Datum>>) -> Option<Counted> {
    let mut row = rows.into_iter().next()?.into_iter();
    let (statements, evictions) = (count(row.next()?)?, count(row.next()?)?);
    Some(Counted { statements, evictions, reset: text(row.next()?) })
}

impl StatementReading {
    /// The statements since an earlier reading, or why they are not known; `None` where nothing was read.
    pub(crate) fn since(now: Option<&Self>, before: Option<&Self>) -> Option<Result<u64, String>> {
        let (now, before) = match (now, before) {
            (None, None) => return None,
            (Some(now), Some(before)) => (now, before),
            _ => return Some(Err("pg_stat_statements came or went during the load".to_owned())),
        };
        Some(now.moved(before))
    }

    fn moved(&self, before: &Self) -> Result<u64, String> {
        let (now, before) = (self.0.as_ref()?, before.0.as_ref()?);
        if now.evictions != before.evictions {
            let why = "pg_stat_statements lost counts, because it keeps fewer statements than there were; raise \
                       pg_stat_statements.max";
            return Err(why.to_owned());
        }
        let moved = now.statements.checked_sub(before.statements);
        moved
            .filter(|_| now.reset == before.reset)
            .ok_or_else(|| "pg_stat_statements was reset during the load".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(statements: u64, evictions: u64, reset: &str) -> StatementReading {
        StatementReading(Ok(Counted { statements, evictions, reset: reset.to_owned() }))
    }

    #[test]
    fn counts_that_were_lost_or_reset_are_not_compared() {
        let since = |now: &StatementReading, before: &StatementReading| {
            StatementReading::since(Some(now), Some(before)).unwrap()
        };
        let before = at(100, 2, "monday");
        assert_eq!(since(&at(170, 2, "monday"), &before), Ok(70));
        let why = |now: StatementReading| since(&now, &before).unwrap_err();
        assert!(why(at(170, 3, "monday")).contains("pg_stat_statements.max"));
        // A reset of some statements is not told by the time of the last reset.
        for reset in [at(170, 2, "tuesday"), at(99, 2, "monday")] {
            assert!(why(reset).contains("was reset"));
        }
        let refused = StatementReading(Err("it cannot be read".to_owned()));
        assert_eq!(since(&before, &refused).unwrap_err(), "it cannot be read");
        assert_eq!(since(&refused, &before).unwrap_err(), "it cannot be read");
        assert_eq!(StatementReading::since(None, None), None);
        let went = StatementReading::since(None, Some(&before)).unwrap();
        assert!(went.unwrap_err().contains("came or went"));
    }

    #[test]
    fn an_extension_that_does_not_count_every_statement_is_not_compared() {
        assert_eq!(why_not(["top", "on", "auto", "pg_stat_statements_info"]), None);
        assert_eq!(why_not(["all", "on", "on", "s.pg_stat_statements_info"]), None);
        for (settings, why) in [
            (["none", "on", "auto", "i"], "track is none"),
            (["top", "off", "auto", "i"], "BEGIN and COMMIT"),
            (["top", "on", "off", "i"], "compute_query_id"),
            (["top", "on", "auto", ""], "older than 1.9"),
        ] {
            assert!(why_not(settings).unwrap().contains(why), "{settings:?}");
        }
    }
}
