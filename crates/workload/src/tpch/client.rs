//! One client: a stream of queries, or of refresh functions, that runs once.

use std::sync::Arc;

use driver::{Datum, Dialect, Session};
use engine::{ClientHandle, Turn};
use measure::{Disposition, ErrorClass, Failure, OperationKind};

use super::answers::Rows;
use super::load::{Step, TpchLoad};
use super::refresh;

/// Runs the steps of a stream. A step that fails or times out counts as failed, and the stream goes on.
///
/// # Errors
/// If the first connection cannot be opened.
pub(super) async fn run_stream(
    load: Arc<TpchLoad>,
    mut handle: ClientHandle,
) -> Result<(), Failure> {
    let mut stream = Stream { session: None, number: None, load };
    stream.connect(&handle).await?;
    let index = handle.index();
    for step in stream.load.steps(index) {
        let Some(turn) = handle.next().await else { break };
        let done = stream.run(step, &mut handle).await;
        stream.count(step, turn, &mut handle, done).await;
    }
    if let Some(session) = stream.session {
        session.close().await;
    }
    Ok(())
}

struct Stream {
    load: Arc<TpchLoad>,
    /// `None` after a failure that broke it.
    session: Option<Session>,
    number: Option<String>,
}

impl Stream {
    async fn connect(&mut self, handle: &ClientHandle) -> Result<(), Failure> {
        let mut session = self.load.connector.open(handle).await?;
        if let Some(ask) = self.load.connector.target.dialect().session_number {
            let rows = session.rows(ask).await?;
            self.number = crate::parallel::as_text(rows.first().and_then(|row| row.first()));
        }
        session.take_traffic();
        self.session = Some(session);
        Ok(())
    }

    /// Runs a step; returns the rows of a query.
    async fn run(
        &mut self,
        step: Step,
        handle: &mut ClientHandle,
    ) -> Result<Vec<Vec<Datum>>, Failure> {
        if self.session.is_none() {
            self.connect(handle).await?;
        }
        let load = Arc::clone(&self.load);
        let Some(session) = &mut self.session else { return Ok(Vec::new()) };
        let dialect = load.connector.target.dialect();
        match step {
            Step::Query(query) => {
                let text = load.text(query, handle.index());
                session.rows(&text).await
            }
            Step::Insert(set) => {
                count(handle, refresh::insert(session, dialect, load.settings.scale, set).await?);
                Ok(Vec::new())
            }
            Step::Delete(set) => {
                count(handle, refresh::delete(session, dialect, load.settings.scale, set).await?);
                Ok(Vec::new())
            }
        }
    }

    /// Counts a step that has ended, and checks its answer.
    async fn count(
        &mut self,
        step: Step,
        turn: Turn,
        handle: &mut ClientHandle,
        done: Result<Vec<Vec<Datum>>, Failure>,
    ) {
        match done {
            Ok(rows) => {
                if let Step::Query(_) = step {
                    handle.count(OperationKind::Read);
                }
                handle.finish(turn, self.load.operation(step));
                if let Step::Query(query) = step {
                    self.load.assess(query, handle.index(), rows);
                }
            }
            Err(failure) => {
                handle.fail(turn, self.load.operation(step), &failure, Disposition::Ignored);
                self.give_up(handle, &failure).await;
            }
        }
        if let Some(session) = &mut self.session {
            handle.traffic(session.take_traffic());
        }
    }

    /// After a failure: a refresh function may have left a transaction open, and a statement that timed out may still
    /// run on the server, where it would slow the next ones down.
    async fn give_up(&mut self, handle: &ClientHandle, failure: &Failure) {
        let is_lost = failure.key.class.breaks_connection();
        let is_rolled_back = match &mut self.session {
            Some(session) if !is_lost => session.run("ROLLBACK").await.is_ok(),
            _ => false,
        };
        if is_rolled_back || (!is_lost && self.load.connector.target.dialect().kill.is_empty()) {
            return;
        }
        self.session = None;
        let number = self.number.take();
        if failure.key.class == ErrorClass::Timeout
            && let Some(number) = number
        {
            // The next step reports it if the server cannot be reached.
            let _ = self.kill(handle, &number).await;
        }
    }

    async fn kill(&mut self, handle: &ClientHandle, number: &str) -> Result<(), Failure> {
        let target = &self.load.connector.target;
        let server = handle.server(target.servers());
        let mut session = target.connect(handle.net(), server).await?;
        session.run(&target.dialect().kill.replace("{number}", number)).await?;
        session.close().await;
        Ok(())
    }
}

fn count(handle: &mut ClientHandle, statements: refresh::Statements) {
    (0..statements.writes).for_each(|_| handle.count(OperationKind::Write));
    (0..statements.others).for_each(|_| handle.count(OperationKind::Other));
}

/// The cells of an answer as texts.
pub(super) fn texts(dialect: &Dialect, rows: Vec<Vec<Datum>>) -> Rows {
    let text = |datum: Datum| match datum {
        Datum::Null => "NULL".to_owned(),
        Datum::Int(number) => number.to_string(),
        Datum::Float(number) => number.to_string(),
        Datum::Text(text) if dialect.pads_char => dialect.unpadded(&text).to_owned(),
        Datum::Text(text) => text,
    };
    rows.into_iter().map(|row| row.into_iter().map(text).collect()).collect()
}
