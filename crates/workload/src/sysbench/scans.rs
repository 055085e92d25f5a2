//! `select_random_points` and `select_random_ranges`: one statement with many values of column k.

use std::fmt::Write as _;
use std::sync::Arc;

use driver::{Session, Statement, Value};
use engine::ClientHandle;
use measure::{Failure, Operation, OperationId, OperationKind, Traffic};

use super::connection::TRANSACTION;
use super::script::Script;
use super::settings::Settings;
use crate::WorkloadContext;
use crate::policy::ErrorPolicy;
use crate::random::{Draw, Random, Shape};
use crate::session::Connector;
use crate::shared::Shared;
use crate::transaction_loop::{FailedTransaction, WorkloadClient, transacted};

impl Script {
    /// Whether the script uses the client in this file.
    pub(super) fn is_scan(self) -> bool {
        matches!(self, Self::RandomPoints | Self::RandomRanges)
    }
}

/// The load of either script: the state that its clients share.
pub(super) struct ScanLoad {
    operations: [Operation; 1],
    connector: Connector,
    errors: ErrorPolicy,
    sql: String,
    seed: u64,
    shape: Shape,
    table_size: u64,
    /// Values in a query: points, or first values of ranges.
    values: usize,
    /// Width of a range; `None` for points.
    delta: Option<i64>,
    /// Clients of the whole load.
    clients: u64,
}

impl ScanLoad {
    pub(super) fn new(script: Script, settings: &Settings, context: &WorkloadContext<'_>) -> Self {
        let is_points = script == Script::RandomPoints;
        let (sql, values) = if is_points {
            (points_sql(settings.random_points), settings.random_points)
        } else {
            (ranges_sql(settings.number_of_ranges), settings.number_of_ranges)
        };
        Self {
            operations: [Operation::new(script.name(), OperationKind::Transaction)],
            connector: Connector::new(context, settings.isolation),
            errors: settings.errors.clone(),
            sql,
            seed: context.client_seed(),
            shape: settings.shape,
            table_size: settings.table_size,
            values: values as usize,
            delta: (!is_points).then_some(settings.delta.cast_signed()),
            clients: context.load_key.clients as u64,
        }
    }
}

fn points_sql(points: u64) -> String {
    let marks = vec!["?"; points as usize].join(", ");
    format!("SELECT id, k, c, pad FROM sbtest1 WHERE k IN ({marks})")
}

fn ranges_sql(ranges: u64) -> String {
    let mut sql = "SELECT count(k) FROM sbtest1 WHERE k BETWEEN ? AND ?".to_owned();
    for _ in 1..ranges {
        // Writing to a String cannot fail.
        let _ = write!(sql, " OR k BETWEEN ? AND ?");
    }
    sql
}

impl Shared for ScanLoad {
    type WorkloadClient = ScanClient;

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
    ) -> Result<ScanClient, Failure> {
        let (session, statement) = connect(&self, handle).await?;
        let (low, high) = segment(self.table_size, index as u64, self.clients);
        Ok(ScanClient {
            segment: Draw::new(self.shape, low, high),
            session,
            statement,
            random: Random::of_part(self.seed, &[index as u64]),
            values: Vec::with_capacity(2 * self.values),
            shared: self,
        })
    }
}

async fn connect(
    shared: &ScanLoad,
    handle: &ClientHandle,
) -> Result<(Session, Statement), Failure> {
    let mut session = shared.connector.open(handle).await?;
    let statement = session.prepare(&shared.sql).await?;
    Ok((session, statement))
}

pub(super) struct ScanClient {
    shared: Arc<ScanLoad>,
    session: Session,
    statement: Statement,
    random: Random,
    /// The client's part of the table.
    segment: Draw,
    values: Vec<Value<'static>>,
}

/// The range of ids that client `index` of `clients` reads, so that clients do not read the same rows. It
/// includes both ends, as in sysbench.
fn segment(table_size: u64, index: u64, clients: u64) -> (i64, i64) {
    let length = table_size as f64 / clients.max(1) as f64;
    let low = length * index as f64;
    (low as i64, (low + length) as i64)
}

impl WorkloadClient for ScanClient {
    async fn ask(&mut self, statement: &str) {
        // A failure is seen by the next transaction.
        let _ = self.session.run(statement).await;
    }

    fn draw(&mut self) {
        let Self { shared, segment, random, values, .. } = self;
        values.clear();
        for _ in 0..shared.values {
            let value = segment.draw(random);
            values.push(Value::Int(value));
            if let Some(delta) = shared.delta {
                values.push(Value::Int(value + delta));
            }
        }
    }

    async fn transact(
        &mut self,
        _handle: &mut ClientHandle,
    ) -> Result<OperationId, FailedTransaction> {
        transacted(TRANSACTION, self.session.execute(&self.statement, &self.values).await)
    }

    async fn reconnect(&mut self, handle: &ClientHandle) -> Result<(), Failure> {
        (self.session, self.statement) = connect(&self.shared, handle).await?;
        Ok(())
    }

    fn single_statement(&self) -> Option<OperationKind> {
        Some(OperationKind::Read)
    }

    fn take_traffic(&mut self) -> Traffic {
        self.session.take_traffic()
    }

    async fn close(self) {
        self.session.close().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_have_a_mark_for_each_value() {
        assert_eq!(points_sql(3), "SELECT id, k, c, pad FROM sbtest1 WHERE k IN (?, ?, ?)");
        let two = "SELECT count(k) FROM sbtest1 WHERE k BETWEEN ? AND ? OR k BETWEEN ? AND ?";
        assert_eq!(ranges_sql(2), two);
    }

    #[test]
    fn segments_partition_the_table() {
        let all: Vec<_> = (0..3).map(|index| segment(100, index, 3)).collect();
        assert_eq!(all, [(0, 33), (33, 66), (66, 100)]);
    }
}
