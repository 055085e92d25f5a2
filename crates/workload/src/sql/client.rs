//! Clients that run the transactions of SQL files.

use std::sync::Arc;

use driver::{Isolation, PipelineStep, Session, Statement as Prepared, Value};
use engine::ClientHandle;
use measure::{ErrorClass, Failure, Operation, OperationId, OperationKind, Traffic};

use super::mix::Mix;
use super::operations::{CONNECT, TransactionIds, operations};
use super::ready::{ReadyTransaction, SessionStatement, at_place, connect};
use super::section::{Set, Step};

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
    connect_id: Option<OperationId>,
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

impl SqlLoad {
    pub(crate) fn new(context: &WorkloadContext<'_>, mix: Arc<Mix>, options: &LoadOptions) -> Self {
        let (mut operations, ids) = operations(&mix.transactions);
        let connect_id = options.reconnects.then(|| {
            operations.push(Operation::new(CONNECT, OperationKind::Wait));
            OperationId((operations.len() - 1) as u16)
        });
        Self {
            connect_id,
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

    async fn connect(
        &self,
        handle: &ClientHandle,
    ) -> Result<(Session, Vec<ReadyTransaction>), Failure> {
        connect((&self.connector, &self.mix.transactions), handle).await
    }
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
        let (session, ready) = self.connect(handle).await?;
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

/// A part of a pipeline that is not sent yet.
enum Queued {
    /// A statement and the values of its parameters.
    Statement(usize, Vec<Cell>),
    Sync,
}

impl Queued {
    fn values(&self) -> Vec<Value<'_>> {
        match self {
            Self::Statement(_, cells) => cells.iter().map(Cell::as_value).collect(),
            Self::Sync => Vec::new(),
        }
    }
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
        let timed = shared.ids[*drawn].statements.as_ref().map(|ids| (ids[number], handle.now()));
        let answer = match &ready[*drawn].statements[number] {
            SessionStatement::Text(text) => session.run(text).await,
            SessionStatement::Prepared(prepared) => {
                execute(session, prepared, &statement.parameters, &memory.slots).await
            }
        };
        if let Some((id, started)) = timed {
            record(handle, id, started, &answer);
        }
        if answer.is_ok() {
            statement.verb.leads(&mut self.is_in_transaction);
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
        let mut pipeline: Option<Vec<Queued>> = None;
        while let Some(step) = transaction.steps.get(at) {
            at += 1;
            match step {
                Step::Statement(number) => match &mut pipeline {
                    Some(queue) => queue.push(self.queued(*number)),
                    None => self.statement(handle, *number).await?,
                },
                Step::StartPipeline => pipeline = Some(Vec::new()),
                Step::SyncPipeline => pipeline.iter_mut().for_each(|it| it.push(Queued::Sync)),
                Step::EndPipeline => {
                    self.pipeline(handle, &pipeline.take().unwrap_or_default()).await?;
                }
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
                Step::Sleep { place, number, count, unit_ns } => {
                    let count = self.memory.compute(count).and_then(|cell| cell.as_whole());
                    let count = count.map_err(|message| no_value(place, &message))?;
                    let length = count.max(0).saturating_mul(*unit_ns).cast_unsigned();
                    let (net, started) = (handle.net(), handle.now());
                    net.sleep_until(started.saturating_add(length)).await;
                    handle.statement(shared.ids[self.drawn].sleeps[*number], started);
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
        let started = handle.now();
        let connected = self.shared.connect(handle).await;
        if let Some(id) = self.shared.connect_id {
            record(handle, id, started, &connected);
        }
        let (session, ready) = connected?;
        (self.session, self.ready) = (Some(session), ready);
        Ok(())
    }

    /// A statement with the values that its variables have now.
    fn queued(&self, number: usize) -> Queued {
        let statement = &self.shared.mix.transactions[self.drawn].statements[number];
        let cells = statement.parameters.iter().map(|&slot| self.memory.slots[slot].clone());
        Queued::Statement(number, cells.collect())
    }

    /// Sends the statements of a pipeline together. Each takes from then until its own answer.
    async fn pipeline(
        &mut self,
        handle: &mut ClientHandle,
        queue: &[Queued],
    ) -> Result<(), Failure> {
        let Self { shared, session, ready, drawn, is_in_transaction, .. } = self;
        let Some(session) = session else { return Err(not_connected()) };
        let statements = &shared.mix.transactions[*drawn].statements;
        let values = queue.iter().map(Queued::values).collect::<Vec<_>>();
        let steps = queue.iter().zip(&values).map(|(queued, values)| match queued {
            Queued::Sync => PipelineStep::Sync,
            Queued::Statement(number, _) => match &ready[*drawn].statements[*number] {
                SessionStatement::Text(text) => PipelineStep::Run(text),
                SessionStatement::Prepared(prepared) => PipelineStep::Execute(prepared, values),
            },
        });
        let steps: Vec<PipelineStep<'_>> = steps.collect();
        let (started, mut failed) = (handle.now(), None);
        let done = session.pipeline(&steps, |at, failure| {
            let Some(Queued::Statement(number, _)) = queue.get(at) else { return };
            let ids = shared.ids[*drawn].statements.as_ref();
            match (failure, ids.map(|ids| ids[*number])) {
                (None, Some(id)) => handle.statement(id, started),
                (Some(failure), Some(id)) => {
                    handle.statement_failed(id, started, failure.key.class);
                    failed = Some(*number);
                }
                (_, None) => {}
            }
            if failure.is_none() {
                statements[*number].verb.leads(is_in_transaction);
            }
        });
        let done = done.await;
        done.map_err(|failure| match failed {
            Some(number) => at_place(&statements[number], failure),
            None => failure,
        })
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
        let (session, ready) = self.shared.connect(handle).await?;
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
