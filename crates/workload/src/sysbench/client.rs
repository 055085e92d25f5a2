//! One client of an OLTP script. Nothing is allocated for an event: values are drawn into place and
//! lent to the driver.

use std::sync::Arc;

use driver::Value;
use engine::Seat;
use measure::{Failure, Operation, OperationId, OperationKind, Traffic};

use super::connection::{Connection, ConnectionPlan, TRANSACTION};
use super::load::OltpLoad;
use super::query::Query;
use super::script::{Bracket, Step};
use super::values::{C_LENGTH, Digits, PAD_LENGTH};
use crate::crewed::as_integer;
use crate::policy::ErrorPolicy;
use crate::random::{Draw, Random};
use crate::shared::Shared;
use crate::turns::{FailedTransaction, Work};

impl Shared for OltpLoad {
    type Work = OltpWork;

    fn operations(&self) -> &[Operation] {
        &self.operations.list
    }

    fn errors(&self) -> &ErrorPolicy {
        &self.settings.errors
    }

    async fn open(self: Arc<Self>, index: usize, seat: &Seat) -> Result<OltpWork, Failure> {
        OltpWork::open(self, index, seat).await
    }
}

/// A connected client.
pub(super) struct OltpWork {
    load: Arc<OltpLoad>,
    hand: Hand,
    /// The stream as it was when the transaction in hand was drawn.
    random_at_start: Random,
}

/// What a client works with, apart from the load that it shares with the others.
struct Hand {
    connection: Connection,
    values: Values,
}

/// Where values are drawn.
struct Values {
    random: Random,
    id: Draw,
    tables: u64,
    c: Digits<C_LENGTH>,
    pad: Digits<PAD_LENGTH>,
}

impl Values {
    #[inline]
    fn table(&mut self) -> u64 {
        self.random.below(self.tables) + 1
    }

    #[inline]
    fn id(&mut self) -> i64 {
        self.id.draw(&mut self.random)
    }
}

impl OltpWork {
    async fn open(load: Arc<OltpLoad>, index: usize, seat: &Seat) -> Result<Self, Failure> {
        let settings = &load.settings;
        let mut connection = Connection::open(&connection_plan(&load), seat).await?;
        if index == 0 && load.makes_ids {
            skip_ids(&load, &mut connection).await?;
        }
        let random = Random::of_part(load.seed, &[index as u64]);
        let values = Values {
            random: random.clone(),
            id: Draw::new(settings.shape, 1, settings.table_size.cast_signed()),
            tables: settings.tables,
            c: Digits::new(),
            pad: Digits::new(),
        };
        Ok(Self { load, hand: Hand { connection, values }, random_at_start: random })
    }
}

impl Hand {
    async fn event(&mut self, seat: &mut Seat, load: &OltpLoad) -> Result<(), Failure> {
        let has_bracket = load.bracket != Bracket::None;
        if has_bracket {
            self.connection.begin(seat, &load.operations).await?;
        }
        for step in &load.steps {
            self.step(seat, load, *step).await?;
        }
        if has_bracket {
            self.connection.commit(seat, &load.operations).await?;
        }
        Ok(())
    }

    #[inline]
    async fn step(&mut self, seat: &mut Seat, load: &OltpLoad, step: Step) -> Result<(), Failure> {
        let table = self.values.table();
        match step {
            Step::Repeat { query, times } => {
                for _ in 0..times {
                    self.query(seat, load, query, table).await?;
                }
            }
            Step::DeleteInsert { times } => {
                for _ in 0..times {
                    self.delete_insert(seat, load, table).await?;
                }
            }
            Step::Delete => self.query(seat, load, Query::Delete, table).await?,
            Step::Insert => self.insert(seat, load, table).await?,
        }
        Ok(())
    }

    /// A statement on the row, or the range, at an id of its own.
    #[inline]
    async fn query(
        &mut self,
        seat: &mut Seat,
        load: &OltpLoad,
        query: Query,
        table: u64,
    ) -> Result<(), Failure> {
        let Self { connection, values, .. } = self;
        let id = values.id();
        let operations = &load.operations;
        match query {
            Query::SimpleRange | Query::SumRange | Query::OrderRange | Query::DistinctRange => {
                let last = id + load.range_reach;
                let range = [Value::Int(id), Value::Int(last)];
                connection.execute(seat, operations, (query, table), &range).await
            }
            Query::NonIndexUpdate => {
                values.c.fill(&mut values.random);
                let row = [Value::Text(values.c.as_str()), Value::Int(id)];
                connection.execute(seat, operations, (query, table), &row).await
            }
            Query::PointSelect | Query::IndexUpdate | Query::Delete | Query::Insert => {
                connection.execute(seat, operations, (query, table), &[Value::Int(id)]).await
            }
        }
    }

    #[inline]
    async fn delete_insert(
        &mut self,
        seat: &mut Seat,
        load: &OltpLoad,
        table: u64,
    ) -> Result<(), Failure> {
        let Self { connection, values, .. } = self;
        let (id, k) = (values.id(), values.id());
        values.c.fill(&mut values.random);
        values.pad.fill(&mut values.random);
        let operations = &load.operations;
        connection.execute(seat, operations, (Query::Delete, table), &[Value::Int(id)]).await?;
        let row = [
            Value::Int(id),
            Value::Int(k),
            Value::Text(values.c.as_str()),
            Value::Text(values.pad.as_str()),
        ];
        connection.execute(seat, operations, (Query::Insert, table), &row).await
    }

    /// A row with an id that is new: the table's own choice, or the next of a sequence.
    #[inline]
    async fn insert(
        &mut self,
        seat: &mut Seat,
        load: &OltpLoad,
        table: u64,
    ) -> Result<(), Failure> {
        let Self { connection, values, .. } = self;
        // As in sysbench, the whole range of a 32-bit integer, and 0 for a number of the table's.
        let id =
            if load.makes_ids { i64::from(load.unique.take()) + i64::from(i32::MIN) } else { 0 };
        let k = values.id();
        values.c.fill(&mut values.random);
        values.pad.fill(&mut values.random);
        let row = [
            Value::Int(id),
            Value::Int(k),
            Value::Text(values.c.as_str()),
            Value::Text(values.pad.as_str()),
        ];
        let row = if load.omits_id { &row[1..] } else { &row[..] };
        connection.execute(seat, &load.operations, (Query::Insert, table), row).await
    }
}

fn connection_plan(load: &OltpLoad) -> ConnectionPlan<'_> {
    ConnectionPlan {
        target: &load.target,
        run_session: &load.run_session,
        settings: &load.settings,
        steps: &load.steps,
        bracket: load.bracket,
        omits_id: load.omits_id,
    }
}

/// Leaves out ids that are in the tables already. One client asks: no client begins before all are
/// ready.
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

impl Work for OltpWork {
    fn draw(&mut self) {
        self.random_at_start = self.hand.values.random.clone();
    }

    async fn transact(&mut self, seat: &mut Seat) -> Result<OperationId, FailedTransaction> {
        // The same draws when it is tried again.
        self.hand.values.random = self.random_at_start.clone();
        match self.hand.event(seat, &self.load).await {
            Ok(()) => Ok(TRANSACTION),
            Err(failure) => Err(FailedTransaction { operation: TRANSACTION, failure }),
        }
    }

    async fn roll_back(&mut self, seat: &mut Seat) -> Result<(), Failure> {
        self.hand.connection.roll_back(seat).await
    }

    async fn reconnect(&mut self, seat: &Seat) -> Result<(), Failure> {
        self.hand.connection = Connection::open(&connection_plan(&self.load), seat).await?;
        Ok(())
    }

    fn single_statement(&self) -> Option<OperationKind> {
        self.load.operations.single
    }

    fn take_traffic(&mut self) -> Traffic {
        self.hand.connection.take_traffic()
    }

    async fn close(self) {
        self.hand.connection.close().await;
    }
}
