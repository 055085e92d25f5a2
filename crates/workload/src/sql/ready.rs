//! A session with the statements of all transactions made ready.

use driver::{Dialect, Session, Statement as Prepared, Unprepared};
use engine::ClientHandle;
use measure::{ErrorClass, Failure};

use super::receive::{Receiver, receivers};
use super::section::{Statement, Transaction};
use super::statement::Verb;
use crate::session::Connector;

/// A statement in the form in which this session runs it.
pub(super) enum SessionStatement {
    /// Sent as text, because it has no parameters and not every system can prepare it.
    Text(String),
    Prepared(Prepared),
}

/// The statements of a transaction, and what is kept of their results.
pub(super) struct ReadyTransaction {
    pub(super) statements: Vec<SessionStatement>,
    pub(super) receivers: Vec<Receiver>,
}

/// A session with all statements prepared.
pub(super) async fn connect(
    (connector, transactions): (&Connector, &[Transaction]),
    handle: &ClientHandle,
) -> Result<(Session, Vec<ReadyTransaction>), Failure> {
    let dialect = connector.target.dialect();
    let mut session = connector.open(handle).await?;
    if let Some(transaction) = transactions.iter().find(|it| it.has_pipelines())
        && !session.has_pipelines()
    {
        return Err(no_pipelines(transaction));
    }
    let on_server: Vec<&Statement> = transactions
        .iter()
        .flat_map(|it| it.statements.iter().filter(|one| text(it, one, dialect).is_none()))
        .collect();
    let pieces: Vec<_> = on_server.iter().map(|statement| statement.text.pieces()).collect();
    let prepared = session.prepare_all_pieces(&pieces).await.map_err(|refused| {
        let Unprepared { index, failure } = refused;
        at_place(on_server[index], failure)
    })?;
    let mut prepared = prepared.into_iter();
    let mut ready = Vec::new();
    for transaction in transactions {
        let statements = transaction.statements.iter().filter_map(|statement| {
            match text(transaction, statement, dialect) {
                Some(text) => Some(SessionStatement::Text(text)),
                None => prepared.next().map(SessionStatement::Prepared),
            }
        });
        let statements = statements.collect();
        let receivers = receivers(&mut session, transaction).await?;
        ready.push(ReadyTransaction { statements, receivers });
    }
    Ok((session, ready))
}

/// What is sent for a statement that is not prepared; `None` for one that is.
fn text(transaction: &Transaction, statement: &Statement, dialect: &Dialect) -> Option<String> {
    let is_plain = statement.parameters.is_empty() && !transaction.keeps_result_of(statement);
    match statement.verb {
        Verb::Begin if transaction.writes() => Some(dialect.begin_write.to_owned()),
        Verb::Begin => Some(dialect.begin_read.to_owned()),
        Verb::End => Some("COMMIT".to_owned()),
        Verb::BeginAs | Verb::Commit | Verb::Rollback | Verb::Other if is_plain => {
            Some(statement.text.marked())
        }
        _ => None,
    }
}

#[cold]
fn no_pipelines(transaction: &Transaction) -> Failure {
    let message = format!(
        "transaction {} has a \\startpipeline, but this system, or the way in which its statements are sent, takes one at a \
         time: `--ps named` and `unnamed` can have several under way where the system can",
        transaction.name
    );
    Failure::new(ErrorClass::Server, "", message)
}

/// Adds the place of the statement that the server refused. Failures by a broken connection or a time-out get no
/// place, because any statement may meet them.
pub(super) fn at_place(statement: &Statement, failure: Failure) -> Failure {
    if matches!(failure.key.class, ErrorClass::Connection | ErrorClass::Timeout) {
        return failure;
    }
    let told = format!("{}: {}", statement.place, failure.message);
    failure.with_message(told)
}
