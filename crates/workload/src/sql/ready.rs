//! A session with the statements of all transactions made ready.

use driver::{Dialect, Session, Statement as Prepared};
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
    let mut ready = Vec::new();
    for transaction in transactions {
        if transaction.has_pipelines() && !session.has_pipelines() {
            return Err(no_pipelines(transaction));
        }
        let receivers = receivers(&mut session, transaction).await?;
        let mut statements = Vec::new();
        for statement in &transaction.statements {
            let one = make_ready(&mut session, transaction, statement, dialect).await;
            statements.push(one.map_err(|failure| at_place(statement, failure))?);
        }
        ready.push(ReadyTransaction { statements, receivers });
    }
    Ok((session, ready))
}

async fn make_ready(
    session: &mut Session,
    transaction: &Transaction,
    statement: &Statement,
    dialect: &Dialect,
) -> Result<SessionStatement, Failure> {
    let is_plain = statement.parameters.is_empty() && !transaction.keeps_result_of(statement);
    Ok(match statement.verb {
        Verb::Begin if transaction.writes() => {
            SessionStatement::Text(dialect.begin_write.to_owned())
        }
        Verb::Begin => SessionStatement::Text(dialect.begin_read.to_owned()),
        Verb::End => SessionStatement::Text("COMMIT".to_owned()),
        Verb::BeginAs | Verb::Commit | Verb::Rollback | Verb::Other if is_plain => {
            SessionStatement::Text(statement.text.marked())
        }
        _ => SessionStatement::Prepared(session.prepare_pieces(&statement.text.pieces()).await?),
    })
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
