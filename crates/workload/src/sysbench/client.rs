//! One client of an OLTP script. Events allocate no memory: values are drawn in place and lent to the driver.

use std::sync::Arc;

use driver::{Running, Value};
use engine::ClientHandle;
use measure::{Failure, Operation, OperationId, OperationKind, Traffic};

use super::connection::{Connection, ConnectionPlan, TRANSACTION};
use super::load::OltpLoad;
use super::query::Query;
use super::script::{ScriptStep, TransactionFrame};
use super::values::{C_LENGTH, Digits, PAD_LENGTH};
use crate::parallel::as_integer;
use crate::policy::ErrorPolicy;
use crate::random::Random;
use crate::shared::Shared;
use crate::transaction_loop::{FailedTransaction, WorkloadClient, record, transacted};

impl Shared for OltpLoad {
    type WorkloadClient = OltpClient;

    fn operations(&self) -> &[Operation] {
        &self.operations.list
    }

    fn errors(&self) -> &ErrorPolicy {
        &self.settings.errors
    }

    async fn open(
        self: Arc<Self>,
        index: usize,
        handle: &ClientHandle,
    ) -> Result<OltpClient, Failure> {
        OltpClient::open(self, index, handle).await
    }
}

pub(super) struct OltpClient {
    load: Arc<OltpLoad>,
    connection: Connection,
    values: Values,
    /// The state of the random stream at the start of the current transaction.
    random_at_start: Random,
}

/// Memory that values are drawn into.
struct Values {
    random: Random,
    /// The id in the last statement on a single row.
    id: i64,
    c: Digits<C_LENGTH>,
    pad: Digits<PAD_LENGTH>,
}

impl OltpClient {
    async fn open(
        load: Arc<OltpLoad>,
        index: usize,
        handle: &ClientHandle,
    ) -> Result<Self, Failure> {
        let mut connection = Connection::open(&connection_plan(&load), handle).await?;
        if load.looks_first() {
            skip_ids(&load, &mut connection).await?;
        }
        let random = Random::of_part(load.seed, &[index as u64]);
        let (c, pad) = (Digits::new(), Digits::new());
        let values = Values { random: random.clone(), id: 0, c, pad };
        Ok(Self { load, connection, values, random_at_start: random })
    }

    async fn event(&mut self, handle: &mut ClientHandle) -> Result<(), Failure> {
        let Self { load, connection, values, .. } = self;
        let operations = &load.operations;
        if load.bracket != TransactionFrame::None {
            connection.begin(handle, operations).await?;
        }
        for step in &load.steps {
            let table = values.random.below(load.settings.tables) + 1;
            for _ in 0..step.times() {
                for query in step.queries() {
                    let timed = operations.timed(*query).map(|it| (it, handle.now()));
                    let answer = values.start(connection, load, *step, (*query, table))?.await;
                    if let Some((operation, started)) = timed {
                        record(handle, operation, started, &answer);
                    }
                    answer?;
                }
            }
        }
        if load.bracket != TransactionFrame::None {
            connection.commit(handle, operations).await?;
        }
        Ok(())
    }
}

impl Values {
    /// Draws the values of `statement` of `step`, and sends the statement.
    #[inline]
    fn start<'c>(
        &mut self,
        connection: &'c mut Connection,
        load: &OltpLoad,
        step: ScriptStep,
        statement: (Query, u64),
    ) -> Result<Running<'c>, Failure> {
        match statement.0 {
            Query::PointSelect | Query::IndexUpdate | Query::Delete => {
                self.id = load.id.draw(&mut self.random);
                connection.start(statement, &[Value::Int(self.id)])
            }
            Query::SimpleRange | Query::SumRange | Query::OrderRange | Query::DistinctRange => {
                let first = load.id.draw(&mut self.random);
                let last = first + load.range_reach;
                connection.start(statement, &[Value::Int(first), Value::Int(last)])
            }
            Query::NonIndexUpdate => {
                self.id = load.id.draw(&mut self.random);
                self.c.fill(&mut self.random);
                let row = [Value::Text(self.c.as_str()), Value::Int(self.id)];
                connection.start(statement, &row)
            }
            Query::Insert => {
                // The deleted row is inserted again.
                let puts_back = matches!(step, ScriptStep::DeleteInsert { .. });
                let id = if puts_back { self.id } else { new_id(load) };
                let k = load.id.draw(&mut self.random);
                self.c.fill(&mut self.random);
                self.pad.fill(&mut self.random);
                let (c, pad) = (self.c.as_str(), self.pad.as_str());
                let row = [Value::Int(id), Value::Int(k), Value::Text(c), Value::Text(pad)];
                connection.start(statement, if load.omits_id { &row[1..] } else { &row })
            }
        }
    }
}

/// An id for a new row. As in sysbench it is any 32-bit integer, or 0 if the table numbers its rows.
fn new_id(load: &OltpLoad) -> i64 {
    if load.makes_ids { i64::from(load.unique.take()) + i64::from(i32::MIN) } else { 0 }
}

fn connection_plan(load: &OltpLoad) -> ConnectionPlan<'_> {
    ConnectionPlan {
        connector: &load.connector,
        settings: &load.settings,
        steps: &load.steps,
        bracket: load.bracket,
        omits_id: load.omits_id,
    }
}

/// Skips ids that already exist in the tables. One client does so for all of its process, because no client starts its load before
/// all are connected.
async fn skip_ids(load: &OltpLoad, connection: &mut Connection) -> Result<(), Failure> {
    let mut rows = 0;
    for table in 1..=load.settings.tables {
        let sql = format!("SELECT COUNT(*) FROM sbtest{table}");
        let answer = connection.session().rows(&sql).await?;
        let count = as_integer(answer.first().and_then(|row| row.first()));
        rows += count.map_or(0, i64::unsigned_abs);
    }
    load.unique.skip(rows);
    Ok(())
}

impl WorkloadClient for OltpClient {
    async fn ask(&mut self, statement: &str) {
        // A failure is seen by the next transaction.
        let _ = self.connection.session().run(statement).await;
    }

    fn draw(&mut self) {
        self.random_at_start = self.values.random.clone();
    }

    async fn transact(
        &mut self,
        handle: &mut ClientHandle,
    ) -> Result<OperationId, FailedTransaction> {
        // A retry draws the same values.
        self.values.random = self.random_at_start.clone();
        transacted(TRANSACTION, self.event(handle).await)
    }

    async fn roll_back(&mut self, handle: &mut ClientHandle) -> Result<(), Failure> {
        self.connection.roll_back(handle).await
    }

    async fn reconnect(&mut self, handle: &ClientHandle) -> Result<(), Failure> {
        self.connection = Connection::open(&connection_plan(&self.load), handle).await?;
        Ok(())
    }

    fn single_statement(&self) -> Option<OperationKind> {
        self.load.operations.single
    }

    fn take_traffic(&mut self) -> Traffic {
        self.connection.take_traffic()
    }

    async fn close(self) {
        self.connection.close().await;
    }
}
