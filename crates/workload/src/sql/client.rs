//! Clients that run the transactions of SQL files.

use std::collections::BTreeMap;
use std::sync::Arc;

use driver::{Dialect, Isolation, Session, Statement as Prepared, Value};
use engine::ClientHandle;
use measure::{ErrorClass, Failure, Operation, OperationId, OperationKind, Traffic};

use super::mix::Mix;
use super::receive::{Receiver, receivers};
use super::section::{Set, Statement, Step, Transaction};
use super::statement::Verb;

use crate::WorkloadContext;
use crate::expression::{CLIENT_ID, Cell, HASH_SEED, RANDOM_SEED, Variables};
use crate::policy::ErrorPolicy;
use crate::random::Random;
use crate::session::Connector;
use crate::shared::Shared;
use crate::transaction_loop::{FailedTransaction, WorkloadClient, record, roll_back, transacted};

/// The load of a mix of transactions: the state that its clients share.
pub(crate) struct SqlLoad {
    operations: Vec<Operation>,
    connector: Connector,
    errors: ErrorPolicy,
    mix: Arc<Mix>,
    /// For each transaction: its operation and those of its statements.
    ids: Vec<TransactionIds>,
    seed: u64,
    /// The seed of the plan, which is the same in each trial.
    plan_seed: u64,
    /// Whether each transaction has a connection of its own.
    reconnects: bool,
}

/// The options of a load beside its transactions.
#[derive(Clone, Debug)]
pub(crate) struct LoadOptions {
    pub(crate) isolation: Option<Isolation>,
    pub(crate) errors: ErrorPolicy,
    /// Whether each transaction has a connection of its own.
    pub(crate) reconnects: bool,
}

struct TransactionIds {
    transaction: OperationId,
    /// `None` for a transaction of one statement, which is not timed twice.
    statements: Option<Vec<OperationId>>,
}

impl SqlLoad {
    pub(crate) fn new(context: &WorkloadContext<'_>, mix: Arc<Mix>, options: &LoadOptions) -> Self {
        let (operations, ids) = operations(&mix.transactions);
        Self {
            operations,
            connector: Connector::new(context, options.isolation),
            errors: options.errors.clone(),
            mix,
            ids,
            seed: context.client_seed(),
            plan_seed: context.seed,
            reconnects: options.reconnects,
        }
    }
}

fn operations(transactions: &[Transaction]) -> (Vec<Operation>, Vec<TransactionIds>) {
    let mut all = Vec::new();
    let mut add = |name: &str, kind| {
        all.push(Operation::new(name, kind));
        OperationId((all.len() - 1) as u16)
    };
    let ids = transactions
        .iter()
        .map(|transaction| {
            let id = add(&transaction.name, OperationKind::Transaction);
            let is_single = transaction.statements.len() == 1 && transaction.steps.is_empty();
            let prefix = if transactions.len() == 1 {
                String::new()
            } else {
                format!("{}.", transaction.name)
            };
            let statements = (!is_single).then(|| {
                let names = statement_names(&transaction.statements);
                let named = names.iter().zip(&transaction.statements);
                named.map(|(name, one)| add(&format!("{prefix}{name}"), one.verb.kind())).collect()
            });
            TransactionIds { transaction: id, statements }
        })
        .collect();
    (all, ids)
}

fn statement_names(statements: &[Statement]) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    statements
        .iter()
        .map(|statement| {
            let name = statement.text.name();
            let count = seen.entry(name.clone()).or_default();
            *count += 1;
            if *count == 1 { name } else { format!("{name}_{count}") }
        })
        .collect()
}

/// The random stream of the seed of hashes, which all clients share.
const HASH_STREAM: u64 = 0x4a54;

impl Shared for SqlLoad {
    type WorkloadClient = SqlClient;

    fn operations(&self) -> &[Operation] {
        &self.operations
    }

    fn errors(&self) -> &ErrorPolicy {
        &self.errors
    }

    async fn open(
        self: Arc<Self>,
        index: usize,
        handle: &ClientHandle,
    ) -> Result<SqlClient, Failure> {
        let (session, ready) = connect(&self, handle).await?;
        let mut slots = self.mix.slots.clone();
        slots[CLIENT_ID] = Cell::Int(index as i64);
        slots[RANDOM_SEED] = Cell::Int(self.plan_seed.cast_signed());
        let hash_seed = Random::of_part(self.plan_seed, &[HASH_STREAM]).next_u64();
        slots[HASH_SEED] = Cell::Int(hash_seed.cast_signed());
        let memory = Variables { slots, random: Random::of_part(self.seed, &[index as u64]) };
        Ok(SqlClient {
            shared: self,
            session: Some(session),
            ready,
            random_at_start: memory.random.clone(),
            memory,
            drawn: 0,
            is_used: false,
            needs_connection: false,
            trouble: None,
            is_in_transaction: false,
        })
    }
}

/// A statement in the form in which this session runs it.
enum SessionStatement {
    /// Sent as text, because it has no parameters and not every system can prepare it.
    Text(String),
    Prepared(Prepared),
}

/// The statements of a transaction, and what is kept of their results.
struct ReadyTransaction {
    statements: Vec<SessionStatement>,
    receivers: Vec<Receiver>,
}

pub(crate) struct SqlClient {
    shared: Arc<SqlLoad>,
    /// `None` between two connections.
    session: Option<Session>,
    ready: Vec<ReadyTransaction>,
    memory: Variables,
    /// The state of the random stream when the current transaction began: one that is tried again draws the same.
    random_at_start: Random,
    drawn: usize,
    /// Whether a transaction was drawn for this connection, and whether the current one needs another.
    is_used: bool,
    needs_connection: bool,
    /// The error of an expression, which prevents the current transaction from running.
    trouble: Option<Failure>,
    is_in_transaction: bool,
}

impl SqlClient {
    /// Runs statement `number` of the current transaction.
    async fn statement(&mut self, handle: &mut ClientHandle, number: usize) -> Result<(), Failure> {
        let Self { shared, session, ready, memory, drawn, .. } = self;
        let statement = &shared.mix.transactions[*drawn].statements[number];
        let Some(session) = session else { return Err(not_connected()) };
        let started = handle.now();
        let answer = match &ready[*drawn].statements[number] {
            SessionStatement::Text(text) => session.run(text).await,
            SessionStatement::Prepared(prepared) => {
                execute(session, prepared, &statement.parameters, &memory.slots).await
            }
        };
        if let Some(ids) = &shared.ids[*drawn].statements {
            record(handle, ids[number], started, &answer);
        }
        if answer.is_ok() {
            match statement.verb {
                Verb::Begin | Verb::BeginAs => self.is_in_transaction = true,
                Verb::Commit | Verb::End | Verb::Rollback => self.is_in_transaction = false,
                Verb::Read | Verb::Write | Verb::Other => {}
            }
        }
        answer.map(drop).map_err(|failure| at_place(statement, failure))
    }

    async fn all_statements(&mut self, handle: &mut ClientHandle) -> Result<(), Failure> {
        if let Some(trouble) = self.trouble.take() {
            return Err(trouble);
        }
        if !self.shared.mix.transactions[self.drawn].steps.is_empty() {
            return Box::pin(self.all_steps(handle)).await;
        }
        for number in 0..self.ready[self.drawn].statements.len() {
            self.statement(handle, number).await?;
        }
        Ok(())
    }

    /// Takes the steps of a transaction that has more than statements.
    async fn all_steps(&mut self, handle: &mut ClientHandle) -> Result<(), Failure> {
        self.memory.random = self.random_at_start.clone();
        let (shared, mut at) = (Arc::clone(&self.shared), 0);
        let transaction = &shared.mix.transactions[self.drawn];
        while let Some(step) = transaction.steps.get(at) {
            at += 1;
            match step {
                Step::Statement(number) => self.statement(handle, *number).await?,
                Step::Receive(number, result) => self.receive(handle, (*number, *result)).await?,
                Step::Set(set) => self.set(set)?,
                Step::Keep(sets) => sets.iter().try_for_each(|set| self.set(set))?,
                Step::Branch { place, condition, otherwise } => {
                    let truth = self.memory.compute(condition).and_then(|cell| cell.is_true());
                    if !truth.map_err(|message| no_value(place, &message))? {
                        at = *otherwise;
                    }
                }
                Step::Jump(to) => at = *to,
                Step::Sleep { place, count, unit_ns } => {
                    let count = self.memory.compute(count).and_then(|cell| cell.as_whole());
                    let count = count.map_err(|message| no_value(place, &message))?;
                    let length = count.max(0).saturating_mul(*unit_ns).cast_unsigned();
                    let net = handle.net();
                    net.sleep_until(handle.now().saturating_add(length)).await;
                }
            }
        }
        Ok(())
    }

    /// Ends the connection of the last transaction and opens the one of the next.
    async fn change_connection(&mut self, handle: &mut ClientHandle) -> Result<(), Failure> {
        handle.traffic(self.take_traffic());
        if let Some(last) = self.session.take() {
            last.close().await;
        }
        let (session, ready) = connect(&self.shared, handle).await?;
        (self.session, self.ready) = (Some(session), ready);
        Ok(())
    }

    fn set(&mut self, set: &Set) -> Result<(), Failure> {
        let done = self.memory.set(set.slot, &set.expression);
        done.map_err(|message| no_value(&set.place, &message))
    }

    /// Runs a statement and keeps values of its row.
    async fn receive(
        &mut self,
        handle: &mut ClientHandle,
        (number, result): (usize, usize),
    ) -> Result<(), Failure> {
        let Self { shared, session, ready, memory, drawn, .. } = self;
        let statement = &shared.mix.transactions[*drawn].statements[number];
        let Some(session) = session else { return Err(not_connected()) };
        let SessionStatement::Prepared(prepared) = &ready[*drawn].statements[number] else {
            return Ok(());
        };
        let started = handle.now();
        let values: Vec<Value<'_>> =
            statement.parameters.iter().map(|&slot| memory.slots[slot].as_value()).collect();
        let answer = session.fetch(prepared, &values).await;
        if let Some(ids) = &shared.ids[*drawn].statements {
            record(handle, ids[number], started, &answer);
        }
        answer.map_err(|failure| at_place(statement, failure))?;
        let receiver = &ready[*drawn].receivers[result];
        let kept = receiver.keep(session.fetched(), &mut memory.slots);
        let place = &shared.mix.transactions[*drawn].results[result].place;
        kept.map_err(|message| no_value(place, &message))
    }
}

/// The connection of a transaction could not be opened, and this is the next try.
#[cold]
fn not_connected() -> Failure {
    Failure::new(ErrorClass::Connection, "", "there is no connection")
}

/// An expression without a value, or a result that is none: the client cannot go on.
#[cold]
fn no_value(place: &str, message: &str) -> Failure {
    Failure::new(ErrorClass::Server, "", format!("{place}: {message}"))
}

/// Adds the place of the statement that the server refused. Failures by a broken connection or a time-out get no
/// place, because any statement may meet them.
fn at_place(statement: &Statement, failure: Failure) -> Failure {
    if matches!(failure.key.class, ErrorClass::Connection | ErrorClass::Timeout) {
        return failure;
    }
    let told = format!("{}: {}", statement.place, failure.message);
    failure.with_message(told)
}

/// A session with all statements prepared.
async fn connect(
    shared: &SqlLoad,
    handle: &ClientHandle,
) -> Result<(Session, Vec<ReadyTransaction>), Failure> {
    let dialect = shared.connector.target.dialect();
    let mut session = shared.connector.open(handle).await?;
    let mut ready = Vec::new();
    for transaction in &shared.mix.transactions {
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

/// The most parameters that are lent to the driver without an allocation.
const INLINE: usize = 16;

#[inline]
async fn execute(
    session: &mut Session,
    prepared: &Prepared,
    parameters: &[usize],
    slots: &[Cell],
) -> Result<driver::Answer, Failure> {
    if parameters.len() > INLINE {
        let values: Vec<Value<'_>> =
            parameters.iter().map(|&slot| slots[slot].as_value()).collect();
        return session.execute(prepared, &values).await;
    }
    let mut values = [Value::Null; INLINE];
    for (value, &slot) in values.iter_mut().zip(parameters) {
        *value = slots[slot].as_value();
    }
    session.execute(prepared, &values[..parameters.len()]).await
}

impl WorkloadClient for SqlClient {
    /// Chooses a transaction and computes its variables.
    async fn ask(&mut self, statement: &str) {
        // A failure is seen by the next transaction; with a connection for each, there is none now.
        if let Some(session) = &mut self.session {
            let _ = session.run(statement).await;
        }
    }

    fn draw(&mut self) {
        self.needs_connection =
            self.shared.reconnects && std::mem::replace(&mut self.is_used, true);
        let mix = &self.shared.mix;
        let choice = self.memory.random.next_f64();
        let last = mix.transactions.len() - 1;
        self.drawn = mix.cumulative.partition_point(|&sum| sum <= choice).min(last);
        for set in &mix.transactions[self.drawn].sets {
            if let Err(message) = self.memory.set(set.slot, &set.expression) {
                self.trouble = Some(no_value(&set.place, &message));
                return;
            }
        }
        if !mix.transactions[self.drawn].steps.is_empty() {
            self.random_at_start = self.memory.random.clone();
        }
    }

    async fn transact(
        &mut self,
        handle: &mut ClientHandle,
    ) -> Result<OperationId, FailedTransaction> {
        let operation = self.shared.ids[self.drawn].transaction;
        if std::mem::take(&mut self.needs_connection) {
            transacted(operation, Box::pin(self.change_connection(handle)).await)?;
        }
        transacted(operation, self.all_statements(handle).await)
    }

    async fn roll_back(&mut self, handle: &mut ClientHandle) -> Result<(), Failure> {
        match &mut self.session {
            Some(session) => roll_back(session, &mut self.is_in_transaction, handle).await,
            None => Err(not_connected()),
        }
    }

    async fn reconnect(&mut self, handle: &ClientHandle) -> Result<(), Failure> {
        let (session, ready) = connect(&self.shared, handle).await?;
        (self.session, self.ready) = (Some(session), ready);
        (self.is_in_transaction, self.is_used) = (false, false);
        Ok(())
    }

    fn single_statement(&self) -> Option<OperationKind> {
        let statements = &self.shared.mix.transactions[self.drawn].statements;
        let is_single = self.shared.ids[self.drawn].statements.is_none();
        statements.first().filter(|_| is_single).map(|statement| statement.verb.kind())
    }

    fn take_traffic(&mut self) -> Traffic {
        self.session.as_mut().map(Session::take_traffic).unwrap_or_default()
    }

    async fn close(self) {
        if let Some(session) = self.session {
            session.close().await;
        }
    }
}
