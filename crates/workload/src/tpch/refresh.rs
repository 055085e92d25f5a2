//! The refresh functions (clauses 2.5 to 2.7), and the restoration of what they changed.
//!
//! A set has SF x 1500 orders with their lines (clause 2.5.2), a thousandth of the table. RF1 of a set inserts orders
//! whose keys are in gaps that the table's keys leave (clause 4.2.3: of every 32 keys the first eight are used), and RF2
//! deletes orders of the table, others than those that RF1 has inserted. The new orders have the contents of the deleted
//! ones, which are as random as any other.

use driver::{Dialect, Session, Value};
use measure::Failure;

use super::rows::{Chunk, Sink};
use super::schema::Table;

/// Sets of the table's orders. With more streams than that, the sets begin again.
const SETS: i32 = 1_000;
/// Orders that one transaction of RF2 deletes.
const DELETES: usize = 100;
/// Of every 32 keys, the table has the first eight; those of RF1 follow them.
const KEY_GAP: i64 = 8;

/// The key of the order that RF1 inserts with the content of the order with this key.
fn new_key(key: i64) -> i64 {
    key + KEY_GAP
}

fn chunk(table: Table, set: i32) -> Chunk {
    Chunk { table, part: (set - 1) % SETS + 1, parts: SETS }
}

/// RF1: inserts a set of new orders, in one transaction.
///
/// # Errors
/// The server's error; the transaction may then be open.
pub(super) async fn insert(
    session: &mut Session,
    dialect: &Dialect,
    scale: f64,
    set: i32,
) -> Result<Statements, Failure> {
    add(session, dialect, scale, set, new_key).await
}

/// RF2: deletes a set of orders of the table, in transactions of [`DELETES`] orders.
///
/// # Errors
/// The server's error; a transaction may then be open.
pub(super) async fn delete(
    session: &mut Session,
    dialect: &Dialect,
    scale: f64,
    set: i32,
) -> Result<Statements, Failure> {
    remove(session, dialect, &keys(scale, set).await?).await
}

/// Undoes both functions of a set, as far as they ran.
///
/// # Errors
/// The server's error.
pub(super) async fn restore(
    session: &mut Session,
    dialect: &Dialect,
    scale: f64,
    set: i32,
) -> Result<(), Failure> {
    let keys = keys(scale, set).await?;
    let both: Vec<i64> = keys.iter().flat_map(|key| [*key, new_key(*key)]).collect();
    remove(session, dialect, &both).await?;
    add(session, dialect, scale, set, |key| key).await.map(drop)
}

/// The statements of a function that were answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Statements {
    pub(super) writes: u64,
    pub(super) others: u64,
}

async fn add(
    session: &mut Session,
    dialect: &Dialect,
    scale: f64,
    set: i32,
    key: fn(i64) -> i64,
) -> Result<Statements, Failure> {
    let mut statements = Statements { writes: 0, others: 2 };
    session.run(dialect.begin_write).await?;
    for table in [Table::Orders, Table::LineItem] {
        let mut loader = Inserts(session.loader(table.name(), &table.column_names()));
        chunk(table, set).make_keyed(scale, key, &mut loader).await?;
        statements.writes += loader.0.finish().await?.inserts.count();
    }
    session.run("COMMIT").await?;
    Ok(statements)
}

async fn remove(
    session: &mut Session,
    dialect: &Dialect,
    keys: &[i64],
) -> Result<Statements, Failure> {
    let mut statements = Statements::default();
    for some in keys.chunks(DELETES) {
        let list: Vec<String> = some.iter().map(ToString::to_string).collect();
        let list = list.join(", ");
        session.run(dialect.begin_write).await?;
        session.run(&format!("DELETE FROM lineitem WHERE l_orderkey IN ({list})")).await?;
        session.run(&format!("DELETE FROM orders WHERE o_orderkey IN ({list})")).await?;
        session.run("COMMIT").await?;
        statements.writes += 2;
        statements.others += 2;
    }
    Ok(statements)
}

/// The keys of a set's orders in the table.
async fn keys(scale: f64, set: i32) -> Result<Vec<i64>, Failure> {
    let mut keys = Keys(Vec::new());
    chunk(Table::Orders, set).make(scale, &mut keys).await?;
    Ok(keys.0)
}

struct Keys(Vec<i64>);

impl Sink for Keys {
    async fn take(&mut self, row: &[Value<'_>]) -> Result<(), Failure> {
        if let Some(Value::Int(key)) = row.first() {
            self.0.push(*key);
        }
        Ok(())
    }
}

struct Inserts<'s>(driver::Loader<'s>);

impl Sink for Inserts<'_> {
    async fn take(&mut self, row: &[Value<'_>]) -> Result<(), Failure> {
        self.0.push(row).await
    }
}
