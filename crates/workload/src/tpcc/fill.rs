//! Loads the initial database on several sessions in parallel.

use std::ops::RangeInclusive;
use std::sync::Arc;

use driver::{Dialect, Session, Value};
use measure::Failure;

use super::rows::{
    CUSTOMERS, DISTRICTS, DistrictKey, FIRST_NEW_ORDER, ITEMS, ORDERS, RowGenerator,
};
use super::schema::{COLUMNS_MAX, Table};
use super::settings::Settings;
use crate::loading::{self, BatchWriter, TablePart};
use crate::parallel::{on_session, parallel_for_batches, unsuitable, workers};
use crate::row_buffer::RowBuffer;
use crate::{LoadProgress, WorkloadContext};

/// Items, or stocks of one warehouse, that one session loads in one transaction.
const BATCH: u64 = 20_000;

/// Rows of one warehouse in all tables but item, with the mean of 10 lines for each order (clause 4.3.3.1).
pub(super) const ROWS_PER_WAREHOUSE: u64 = {
    let new_orders = ORDERS - FIRST_NEW_ORDER + 1;
    let lines = 10 * ORDERS;
    1 + DISTRICTS * (1 + 2 * CUSTOMERS + ORDERS + new_orders + lines) + ITEMS
};

/// One batch, which a session loads in one transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Batch {
    /// [`BATCH`] items from this one on.
    Items(u64),
    Warehouse(u64),
    Customers(DistrictKey),
    /// [`BATCH`] stocks of a warehouse from this item on.
    Stock(u64, u64),
    /// The orders of a district, their lines, and their rows of NEW-ORDER.
    Orders(DistrictKey),
}

/// All batches in stages. The rows that a foreign key refers to are in an earlier stage.
pub(super) fn stages(warehouses: u64) -> [Vec<Batch>; 3] {
    let batches = || (0..ITEMS / BATCH).map(|batch| batch * BATCH + 1);
    let all = || 1..=warehouses;
    let places = || {
        all().flat_map(|warehouse| {
            (1..=DISTRICTS).map(move |district| DistrictKey { warehouse, district })
        })
    };
    let stocks =
        all().flat_map(|warehouse| batches().map(move |first| Batch::Stock(warehouse, first)));
    [
        batches().map(Batch::Items).chain(all().map(Batch::Warehouse)).collect(),
        stocks.chain(places().map(Batch::Customers)).collect(),
        places().map(Batch::Orders).collect(),
    ]
}

/// Receives the rows of one table.
pub(super) trait Sink {
    /// Stores the newest rows: one row, or the rows of one order.
    ///
    /// # Errors
    /// If they cannot be stored.
    async fn take(&mut self, rows: &RowBuffer) -> Result<(), Failure>;
}

impl Batch {
    /// The tables of its rows; each after the tables that its foreign keys refer to.
    pub(super) fn tables(self) -> &'static [Table] {
        match self {
            Self::Items(_) => &[Table::Item],
            Self::Warehouse(_) => &[Table::Warehouse, Table::District],
            Self::Customers(_) => &[Table::Customer, Table::History],
            Self::Stock(..) => &[Table::Stock],
            Self::Orders(_) => &[Table::Orders, Table::NewOrder, Table::OrderLine],
        }
    }

    /// Generates the rows of one of its tables.
    ///
    /// # Errors
    /// The errors of the sink.
    pub(super) async fn make(
        self,
        table: Table,
        generator: &RowGenerator,
        sink: &mut impl Sink,
    ) -> Result<(), Failure> {
        let customers = match (self, table) {
            (Self::Orders(place), Table::Orders) => generator.customers_of_orders(place),
            _ => Vec::new(),
        };
        let mut rows = RowBuffer::default();
        for number in self.numbers(table) {
            rows.clear();
            match self {
                Self::Items(_) => generator.item(&mut rows, number),
                Self::Warehouse(warehouse) if table == Table::Warehouse => {
                    generator.warehouse(&mut rows, warehouse);
                }
                Self::Warehouse(warehouse) => {
                    generator.district(&mut rows, DistrictKey { warehouse, district: number });
                }
                Self::Customers(place) if table == Table::Customer => {
                    generator.customer(&mut rows, place, number);
                }
                Self::Customers(place) => generator.history(&mut rows, place, number),
                Self::Stock(warehouse, _) => generator.stock(&mut rows, warehouse, number),
                Self::Orders(place) if table == Table::NewOrder => {
                    RowGenerator::new_order(&mut rows, place, number);
                }
                Self::Orders(place) if table == Table::OrderLine => {
                    generator.order_lines(&mut rows, place, number);
                }
                Self::Orders(place) => {
                    let customer = customers[(number - 1) as usize];
                    generator.order(&mut rows, place, number, customer);
                }
            }
            sink.take(&rows).await?;
        }
        Ok(())
    }

    /// The numbers of the rows of one of its tables; of lines, the numbers of their orders.
    fn numbers(self, table: Table) -> RangeInclusive<u64> {
        match (self, table) {
            (Self::Items(first) | Self::Stock(_, first), _) => first..=first + BATCH - 1,
            (Self::Warehouse(warehouse), Table::Warehouse) => warehouse..=warehouse,
            (Self::Warehouse(_), _) => 1..=DISTRICTS,
            (Self::Customers(_), _) => 1..=CUSTOMERS,
            (Self::Orders(_), Table::NewOrder) => FIRST_NEW_ORDER..=ORDERS,
            (Self::Orders(_), _) => 1..=ORDERS,
        }
    }
}

/// Loads all rows into new tables.
pub(super) fn fill(context: &WorkloadContext<'_>, settings: &Settings) -> Result<(), Failure> {
    let warehouses = settings.warehouses;
    let generator = Arc::new(RowGenerator::new(context.seed, now(context)?));
    let dialect = context.target.dialect();
    context.progress.begin(
        format!("loading {warehouses} warehouse{}", if warehouses == 1 { "" } else { "s" }),
        ITEMS + warehouses * ROWS_PER_WAREHOUSE,
    );
    let stages = order(stages(warehouses), settings.foreign_keys);
    for units in units(stages, dialect.has_frozen_rows && !settings.foreign_keys) {
        let units = Arc::new(units);
        let generator = Arc::clone(&generator);
        let progress = context.progress.clone();
        let count = units.len() as u64;
        parallel_for_batches(context, workers(context), count, move |session, number| {
            let (units, generator) = (Arc::clone(&units), Arc::clone(&generator));
            let progress = progress.clone();
            Box::pin(async move {
                load(session, dialect, &generator, &units[number as usize], &progress).await
            })
        })?;
    }
    Ok(())
}

/// What one session loads in one transaction.
#[derive(Debug, PartialEq, Eq)]
struct Unit {
    tables: Vec<Table>,
    batches: Vec<Batch>,
    part: TablePart,
}

/// A unit for each batch; or one for each table, with all of its batches.
fn units(stages: Vec<Vec<Batch>>, are_whole_tables: bool) -> Vec<Vec<Unit>> {
    let unit = |batch: Batch| Unit {
        tables: batch.tables().to_vec(),
        batches: vec![batch],
        part: TablePart::Some,
    };
    let whole = |batches: &[Batch], table: Table| Unit {
        tables: vec![table],
        batches: batches.iter().copied().filter(|it| it.tables().contains(&table)).collect(),
        part: TablePart::All,
    };
    let units_of = |batches: Vec<Batch>| match are_whole_tables {
        true => Table::ALL.into_iter().rev().map(|table| whole(&batches, table)).collect(),
        false => batches.into_iter().map(unit).collect(),
    };
    stages.into_iter().map(units_of).collect()
}

/// With foreign keys: the stages in their order. Without: a single stage with the longest batches first, so that
/// sessions wait for each other only at the end.
fn order(stages: [Vec<Batch>; 3], has_foreign_keys: bool) -> Vec<Vec<Batch>> {
    if has_foreign_keys {
        stages.into()
    } else {
        vec![stages.into_iter().rev().flatten().collect()]
    }
}

/// The current time of the system, in the system's format.
fn now(context: &WorkloadContext<'_>) -> Result<String, Failure> {
    on_session(context, async move |session| {
        let rows = session.rows("SELECT CURRENT_TIMESTAMP").await?;
        crate::parallel::as_text(rows.first().and_then(|row| row.first()))
            // Some systems tell parts of seconds and their zone too.
            .map(|now| now.chars().take("2026-11-22 01:02:03".len()).collect())
            .ok_or_else(|| unsuitable("the system does not tell its time"))
    })
}

async fn load(
    session: &mut Session,
    dialect: &Dialect,
    generator: &RowGenerator,
    unit: &Unit,
    progress: &LoadProgress,
) -> Result<(), Failure> {
    let mut together = loading::Batch::begin(session, dialect, progress).await?;
    for &table in &unit.tables {
        let columns = table.column_names();
        let writer = together.part(table.name(), &columns, unit.part);
        let mut rows = TableRows { writer, columns: columns.len() };
        for batch in &unit.batches {
            batch.make(table, generator, &mut rows).await?;
        }
        rows.writer.end().await?;
    }
    together.commit().await
}

struct TableRows<'a> {
    writer: BatchWriter<'a>,
    columns: usize,
}

impl Sink for TableRows<'_> {
    async fn take(&mut self, rows: &RowBuffer) -> Result<(), Failure> {
        let mut values = [Value::Null; COLUMNS_MAX];
        for row in rows.rows(self.columns) {
            for (value, cell) in values.iter_mut().zip(row) {
                *value = cell;
            }
            self.writer.push(&values[..self.columns]).await?;
        }
        Ok(())
    }
}
