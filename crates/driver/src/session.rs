//! One connection.

use measure::{ErrorClass, Failure, Traffic};

use crate::running::Running;
use crate::{
    Datum, Loader, PipelineStep, Rows, Statement, Unprepared, Value, mysql, postgres, sqlite,
};

#[derive(Debug)]
pub struct Session(pub(crate) Connection);

/// The closed set of drivers.
#[derive(Debug)]
pub(crate) enum Connection {
    MySql(Box<mysql::Session>),
    Postgres(Box<postgres::Session>),
    Sqlite(Box<sqlite::Session>),
}

impl Session {
    /// Prepares a statement, whose parameters are `?`: on the server, or as a text that this session fills in where
    /// the target requires that.
    ///
    /// # Errors
    /// The server's error, or the end of the connection.
    pub async fn prepare(&mut self, sql: &str) -> Result<Statement, Failure> {
        let index = match &mut self.0 {
            Connection::MySql(session) => session.prepare(sql).await?,
            Connection::Postgres(session) => session.prepare(&pieces(sql)).await?,
            Connection::Sqlite(session) => session.prepare(sql)?,
        };
        Ok(Statement { index })
    }

    /// The same for several statements, in one exchange with the server where its protocol has that.
    ///
    /// # Errors
    /// The first statement that was refused, or the end of the connection.
    pub async fn prepare_all<S: AsRef<str>>(
        &mut self,
        statements: &[S],
    ) -> Result<Vec<Statement>, Unprepared> {
        let statements: Vec<_> =
            statements.iter().map(|statement| pieces(statement.as_ref())).collect();
        self.prepare_all_pieces(&statements).await
    }

    /// The same for statements in pieces, between which their parameters are: each system marks them in its own way.
    ///
    /// # Errors
    /// The first statement that was refused, or the end of the connection.
    pub async fn prepare_all_pieces(
        &mut self,
        statements: &[Vec<&str>],
    ) -> Result<Vec<Statement>, Unprepared> {
        if let Connection::Postgres(session) = &mut self.0 {
            let indexes = session.prepare_all(statements).await?;
            return Ok(indexes.map(|index| Statement { index }).collect());
        }
        let mut prepared = Vec::with_capacity(statements.len());
        for (index, pieces) in statements.iter().enumerate() {
            let statement = self.prepare(&pieces.join("?")).await;
            prepared.push(statement.map_err(|failure| Unprepared { index, failure })?);
        }
        Ok(prepared)
    }

    /// The names of the columns that a statement in such pieces returns, without running it. Not for the load path.
    ///
    /// # Errors
    /// The server's error, or the end of the connection.
    pub async fn column_names(&mut self, pieces: &[&str]) -> Result<Vec<String>, Failure> {
        match &mut self.0 {
            Connection::MySql(session) => session.column_names(&pieces.join("?")).await,
            Connection::Postgres(session) => session.column_names(pieces).await,
            Connection::Sqlite(session) => session.column_names(&pieces.join("?")),
        }
    }

    /// Runs a prepared statement of this session and discards its rows. The call sends the request; awaiting the
    /// result gives the answer.
    ///
    /// # Errors
    /// The server's error, or the end of the connection.
    #[inline]
    pub fn execute(&mut self, statement: &Statement, parameters: &[Value<'_>]) -> Running<'_> {
        match &mut self.0 {
            Connection::MySql(session) => {
                let begun = session.begin_execute(statement.index, parameters);
                Running::begun(&mut **session, begun)
            }
            Connection::Postgres(session) => {
                let begun = session.begin_execute(statement.index, parameters);
                Running::begun(&mut **session, begun)
            }
            Connection::Sqlite(session) => {
                let result = session.execute(statement.index, parameters);
                Running::blocking(result, || session.has_given_up())
            }
        }
    }

    /// Runs a prepared statement of this session and keeps its rows, which [`Session::fetched`] returns once the
    /// answer has arrived. The call sends the request.
    ///
    /// # Errors
    /// The server's error, or the end of the connection.
    #[inline]
    pub fn fetch(&mut self, statement: &Statement, parameters: &[Value<'_>]) -> Running<'_> {
        match &mut self.0 {
            Connection::MySql(session) => {
                let begun = session.begin_fetch(statement.index, parameters);
                Running::begun(&mut **session, begun)
            }
            Connection::Postgres(session) => {
                let begun = session.begin_fetch(statement.index, parameters);
                Running::begun(&mut **session, begun)
            }
            Connection::Sqlite(session) => {
                let result = session.fetch(statement.index, parameters);
                Running::blocking(result, || session.has_given_up())
            }
        }
    }

    /// Whether this session can have several statements under way.
    pub fn has_pipelines(&self) -> bool {
        matches!(&self.0, Connection::Postgres(session) if session.has_pipelines())
    }

    /// Sends all steps of a pipeline in one write, and calls `answered` with the place of each statement when its answer has
    /// come, up to the first failure. Only for a session that has pipelines.
    ///
    /// # Errors
    /// The first failure.
    pub async fn pipeline(
        &mut self,
        steps: &[PipelineStep<'_>],
        answered: impl FnMut(usize, Option<&Failure>),
    ) -> Result<(), Failure> {
        match &mut self.0 {
            Connection::Postgres(session) => session.pipeline(steps, answered).await,
            Connection::MySql(_) | Connection::Sqlite(_) => {
                let message = "this system has no pipelines of statements";
                Err(Failure::new(ErrorClass::Server, "", message))
            }
        }
    }

    /// The rows of the last [`Session::fetch`], in memory that the next one reuses.
    #[inline]
    pub fn fetched(&self) -> &Rows {
        static NONE: Rows = Rows::empty();
        match &self.0 {
            Connection::MySql(session) => session.reply.buffered().unwrap_or(&NONE),
            Connection::Postgres(session) => session.reply.buffered().unwrap_or(&NONE),
            Connection::Sqlite(session) => session.fetched(),
        }
    }

    /// Runs a statement without parameters and discards its rows. The call sends the request; awaiting the
    /// result gives the answer.
    ///
    /// # Errors
    /// The server's error, or the end of the connection.
    #[inline]
    pub fn run(&mut self, sql: &str) -> Running<'_> {
        match &mut self.0 {
            Connection::MySql(session) => {
                let begun = session.begin_run(sql);
                Running::begun(&mut **session, begun)
            }
            Connection::Postgres(session) => {
                let begun = session.begin_run(sql);
                Running::begun(&mut **session, begun)
            }
            Connection::Sqlite(session) => {
                let result = session.run(sql);
                Running::blocking(result, || session.has_given_up())
            }
        }
    }

    /// Runs a statement without parameters and returns its rows. Not for the load path, because it allocates.
    ///
    /// # Errors
    /// The server's error, or the end of the connection.
    pub async fn rows(&mut self, sql: &str) -> Result<Vec<Vec<Datum>>, Failure> {
        match &mut self.0 {
            Connection::MySql(session) => session.rows(sql).await,
            Connection::Postgres(session) => session.rows(sql).await,
            Connection::Sqlite(session) => session.rows(sql),
        }
    }

    /// Starts loading rows into `columns` of `table` in the fastest way that the system has. If the loader is
    /// dropped without [`Loader::finish`], the last rows are lost.
    pub fn loader(&mut self, table: &str, columns: &[&str]) -> Loader<'_> {
        match &mut self.0 {
            Connection::MySql(session) => Loader::mysql(session, table, columns),
            Connection::Postgres(session) => Loader::postgres(session, table, columns),
            Connection::Sqlite(session) => Loader::sqlite(session, table, columns),
        }
    }

    /// The same for the only rows of a table, in a transaction that has just begun and does nothing before: the loader
    /// may empty the table, and begin the transaction again.
    pub fn loader_of_all(&mut self, table: &str, columns: &[&str]) -> Loader<'_> {
        match &mut self.0 {
            Connection::MySql(session) => Loader::mysql(session, table, columns),
            Connection::Postgres(session) => Loader::postgres_frozen(session, table, columns),
            Connection::Sqlite(session) => Loader::sqlite(session, table, columns),
        }
    }

    /// How many statements dyno sent to make the session what it has to be, behind the login.
    pub fn opening_statements(&self) -> usize {
        match &self.0 {
            Connection::MySql(session) => usize::from(session.sets_autocommit()),
            Connection::Postgres(_) | Connection::Sqlite(_) => 0,
        }
    }

    /// Bytes sent and received since the last call; none for an embedded database.
    pub fn take_traffic(&mut self) -> Traffic {
        match &mut self.0 {
            Connection::MySql(session) => session.take_traffic(),
            Connection::Postgres(session) => session.take_traffic(),
            Connection::Sqlite(_) => Traffic::default(),
        }
    }

    /// Makes the session as a new one, without the cost of a connection and a login. Returns whether that succeeded;
    /// otherwise it has no use any more.
    pub async fn reset(&mut self) -> bool {
        match &mut self.0 {
            Connection::MySql(session) => session.reset().await.is_ok(),
            Connection::Postgres(session) => session.reset().await.is_ok(),
            Connection::Sqlite(_) => false,
        }
    }

    pub async fn close(self) {
        match self.0 {
            Connection::MySql(session) => session.close().await,
            Connection::Postgres(session) => session.close().await,
            Connection::Sqlite(session) => drop(session),
        }
    }
}

/// A statement between its parameters.
fn pieces(sql: &str) -> Vec<&str> {
    sql.split('?').collect()
}
