//! One connection to a database file.

use std::fmt;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Duration;

use measure::{ErrorClass, Failure};
use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Batch, Connection, Error, Rows as SqlRows, Statement};

use super::Config;
use super::error::failure;
use super::time_limit::TimeLimit;
use crate::{Answer, Datum, Rows, Value};

/// The most statements that a session keeps compiled: more than any workload has.
const COMPILED_MAX: usize = 4096;
/// Shorter texts are kept compiled too: BEGIN and COMMIT are run for every transaction.
const SHORT_TEXT_BYTES: usize = 64;

/// A connection, with compiled statements cached by their text.
pub(crate) struct Session {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
    pub(super) busy_timeout: Duration,
    statements: Vec<String>,
    fetched: Rows,
    time_limit: TimeLimit,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Session({})", self.path.display())
    }
}

impl Session {
    /// Opens the file with the settings of `config`. A statement that takes longer than `timeout` is interrupted,
    /// and one that the event loop of this thread gives up.
    pub(crate) fn open(config: &Config, timeout: Option<Duration>) -> Result<Self, Failure> {
        let opened = Connection::open(&config.path).and_then(|mut connection| {
            let time_limit = TimeLimit::set(&mut connection, config, timeout)?;
            set_up(&connection, config)?;
            config.written.record(&mut connection)?;
            Ok((connection, time_limit))
        });
        let (connection, time_limit) = opened.map_err(|error| failure(&config.path, &error))?;
        Ok(Self {
            connection,
            path: config.path.clone(),
            busy_timeout: config.busy_timeout,
            statements: Vec::new(),
            fetched: Rows::empty(),
            time_limit,
        })
    }

    /// Compiles a statement; returns its index among this session's statements.
    pub(crate) fn prepare(&mut self, sql: &str) -> Result<usize, Failure> {
        self.connection.prepare_cached(sql).map_err(|error| self.failure(&error))?;
        self.statements.push(sql.to_owned());
        Ok(self.statements.len() - 1)
    }

    /// The names of the columns that a statement returns.
    pub(crate) fn column_names(&mut self, sql: &str) -> Result<Vec<String>, Failure> {
        let names = self
            .connection
            .prepare_cached(sql)
            .map(|compiled| compiled.column_names().map(str::to_owned).collect::<Vec<String>>());
        names.map_err(|error| self.failure(&error))
    }

    /// Executes a statement; its rows are read and discarded.
    pub(crate) fn execute(
        &mut self,
        statement: usize,
        values: &[Value<'_>],
    ) -> Result<Answer, Failure> {
        let Some(sql) = self.statements.get(statement) else {
            let message = "the statement was made ready on another session";
            return Err(Failure::new(ErrorClass::Server, "", message));
        };
        self.begin_statement();
        let stepped = self.connection.prepare_cached(sql).and_then(|mut compiled| {
            bind(&mut compiled, values)?;
            self.step(&mut compiled)
        });
        stepped.map_err(|error| self.failure(&error))
    }

    /// Executes a statement and keeps its rows.
    pub(crate) fn fetch(
        &mut self,
        statement: usize,
        values: &[Value<'_>],
    ) -> Result<Answer, Failure> {
        self.begin_statement();
        let Self { connection, statements, fetched, .. } = self;
        let Some(sql) = statements.get(statement) else {
            let message = "the statement was made ready on another session";
            return Err(Failure::new(ErrorClass::Server, "", message));
        };
        let kept = connection.prepare_cached(sql).and_then(|mut compiled| {
            bind(&mut compiled, values)?;
            fetched.begin(compiled.column_count());
            keep_rows(compiled.raw_query(), fetched)
        });
        let answer = kept.map(|()| Answer { rows: self.fetched.len() as u64, affected: 0 });
        answer.map_err(|error| self.failure(&error))
    }

    pub(crate) fn fetched(&self) -> &Rows {
        &self.fetched
    }

    /// Runs a text, which may contain several statements; rows are read and discarded.
    pub(crate) fn run(&mut self, sql: &str) -> Result<Answer, Failure> {
        self.begin_statement();
        let stepped = if sql.len() < SHORT_TEXT_BYTES && !sql.contains(';') {
            self.connection.prepare_cached(sql).and_then(|mut compiled| self.step(&mut compiled))
        } else {
            self.step_all(sql)
        };
        stepped.map_err(|error| self.failure(&error))
    }

    pub(crate) fn rows(&mut self, sql: &str) -> Result<Vec<Vec<Datum>>, Failure> {
        self.begin_statement();
        let read = self.connection.prepare(sql).and_then(|mut compiled| {
            let columns = compiled.column_count();
            let mut rows = compiled.raw_query();
            let mut all = Vec::new();
            while let Some(row) = rows.next()? {
                let cells = (0..columns).map(|column| row.get_ref(column).map(datum));
                all.push(cells.collect::<Result<_, _>>()?);
            }
            Ok(all)
        });
        read.map_err(|error| self.failure(&error))
    }

    #[inline]
    pub(super) fn begin_statement(&self) {
        self.time_limit.begin_statement();
    }

    /// Whether the event loop of this thread has given a statement up.
    pub(crate) fn has_given_up(&self) -> bool {
        self.time_limit.has_given_up()
    }

    #[cold]
    pub(super) fn failure(&self, error: &Error) -> Failure {
        if self.has_given_up() {
            let message = format!("{}: interrupted", self.path.display());
            return Failure::new(ErrorClass::Connection, "", message);
        }
        failure(&self.path, error)
    }

    fn step_all(&self, sql: &str) -> Result<Answer, Error> {
        let mut batch = Batch::new(&self.connection, sql);
        let mut answer = Answer::default();
        while let Some(mut compiled) = batch.next()? {
            let one = self.step(&mut compiled)?;
            answer.rows += one.rows;
            answer.affected += one.affected;
        }
        Ok(answer)
    }

    /// Steps a statement to its end and reads every cell, as a client would.
    fn step(&self, compiled: &mut Statement<'_>) -> Result<Answer, Error> {
        let is_reading = compiled.readonly();
        let columns = compiled.column_count();
        let rows = count_rows(compiled.raw_query(), columns)?;
        let affected = if is_reading { 0 } else { self.connection.changes() };
        Ok(Answer { rows, affected })
    }
}

fn keep_rows(mut rows: SqlRows<'_>, kept: &mut Rows) -> Result<(), Error> {
    while let Some(row) = rows.next()? {
        for column in 0..row.as_ref().column_count() {
            match row.get_ref(column)? {
                ValueRef::Null => kept.push_null(),
                ValueRef::Integer(number) => kept.push_int(number),
                ValueRef::Real(number) => kept.push_float(number),
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => kept.push_text(bytes),
            }
        }
    }
    Ok(())
}

fn count_rows(mut rows: SqlRows<'_>, columns: usize) -> Result<u64, Error> {
    let mut count = 0;
    while let Some(row) = rows.next()? {
        for column in 0..columns {
            black_box(row.get_ref(column)?);
        }
        count += 1;
    }
    Ok(count)
}

fn set_up(connection: &Connection, config: &Config) -> Result<(), Error> {
    connection.set_prepared_statement_cache_capacity(COMPILED_MAX);
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", config.synchronous.name())?;
    if let Some(cache_bytes) = config.cache_bytes {
        // A negative size is in KiB rather than in pages.
        let kibibytes = i64::try_from(cache_bytes / 1024).unwrap_or(i64::MAX);
        connection.pragma_update(None, "cache_size", -kibibytes)?;
    }
    Ok(())
}

pub(super) fn bind(compiled: &mut Statement<'_>, values: &[Value<'_>]) -> Result<(), Error> {
    let wanted = compiled.parameter_count();
    if wanted != values.len() {
        return Err(Error::InvalidParameterCount(values.len(), wanted));
    }
    for (index, value) in values.iter().enumerate() {
        compiled.raw_bind_parameter(index + 1, BoundValue(*value))?;
    }
    Ok(())
}

struct BoundValue<'a>(Value<'a>);

impl ToSql for BoundValue<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Value::Null => ValueRef::Null,
            Value::Int(number) => ValueRef::Integer(number),
            Value::Float(number) => ValueRef::Real(number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

fn datum(value: ValueRef<'_>) -> Datum {
    match value {
        ValueRef::Null => Datum::Null,
        ValueRef::Integer(number) => Datum::Int(number),
        ValueRef::Real(number) => Datum::Float(number),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Datum::Text(String::from_utf8_lossy(bytes).into_owned())
        }
    }
}
