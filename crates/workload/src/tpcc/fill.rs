//! Loads the initial database on several sessions in parallel.

use std::ops::RangeInclusive;
use std::sync::Arc;

use driver::{Dialect, Session, Value};
use measure::Failure;

use super::buffer::RowBuffer;
use super::rows::{CUSTOMERS, DISTRICTS, FIRST_NEW_ORDER, ITEMS, ORDERS, Place, RowMaker};
use super::schema::{COLUMNS_MAX, Table};
use super::settings::Settings;
use crate::crewed::{on_session, share_out_pieces, unfit};
use crate::loading::{self, Filling};
use crate::{Progress, Site};

/// Items, and stocks of a warehouse, that one session loads in one transaction.
const PIECE: u64 = 20_000;

/// One batch, which a session loads in one transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// So many items from this one on.
    Items(u64),
    /// A warehouse with its districts.
    Warehouse(u64),
    /// The customers of a district with their first payment.
    Customers(Place),
    /// So many stocks of a warehouse from this item on.
    Stock(u64, u64),
    /// The orders of a district with their lines, and which of them are new.
    Orders(Place),
}

/// All batches in stages. The rows that a foreign key refers to are in an earlier stage.
pub(super) fn stages(warehouses: u64) -> [Vec<Piece>; 3] {
    let pieces = || (0..ITEMS / PIECE).map(|piece| piece * PIECE + 1);
    let all = || 1..=warehouses;
    let places = || {
        all().flat_map(|warehouse| {
            (1..=DISTRICTS).map(move |district| Place { warehouse, district })
        })
    };
    let stocks =
        all().flat_map(|warehouse| pieces().map(move |first| Piece::Stock(warehouse, first)));
    [
        pieces().map(Piece::Items).chain(all().map(Piece::Warehouse)).collect(),
        stocks.chain(places().map(Piece::Customers)).collect(),
        places().map(Piece::Orders).collect(),
    ]
}

/// Receives the rows of one table.
pub(super) trait Sink {
    /// Takes the newest rows: one, or those of one order.
    ///
    /// # Errors
    /// If they cannot be stored.
    async fn take(&mut self, rows: &RowBuffer) -> Result<(), Failure>;
}

impl Piece {
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

    /// Makes its rows of one of its tables.
    ///
    /// # Errors
    /// Those of the sink.
    pub(super) async fn make(
        self,
        table: Table,
        maker: &RowMaker,
        sink: &mut impl Sink,
    ) -> Result<(), Failure> {
        let customers = match (self, table) {
            (Self::Orders(place), Table::Orders) => maker.customers_of_orders(place),
            _ => Vec::new(),
        };
        let mut rows = RowBuffer::default();
        for number in self.numbers(table) {
            rows.clear();
            match self {
                Self::Items(_) => maker.item(&mut rows, number),
                Self::Warehouse(warehouse) if table == Table::Warehouse => {
                    maker.warehouse(&mut rows, warehouse);
                }
                Self::Warehouse(warehouse) => {
                    maker.district(&mut rows, Place { warehouse, district: number });
                }
                Self::Customers(place) if table == Table::Customer => {
                    maker.customer(&mut rows, place, number);
                }
                Self::Customers(place) => maker.history(&mut rows, place, number),
                Self::Stock(warehouse, _) => maker.stock(&mut rows, warehouse, number),
                Self::Orders(place) if table == Table::NewOrder => {
                    RowMaker::new_order(&mut rows, place, number);
                }
                Self::Orders(place) if table == Table::OrderLine => {
                    maker.order_lines(&mut rows, place, number);
                }
                Self::Orders(place) => {
                    let customer = customers[(number - 1) as usize];
                    maker.order(&mut rows, place, number, customer);
                }
            }
            sink.take(&rows).await?;
        }
        Ok(())
    }

    /// What the rows of one of its tables are numbered by; lines by their orders.
    fn numbers(self, table: Table) -> RangeInclusive<u64> {
        match (self, table) {
            (Self::Items(first) | Self::Stock(_, first), _) => first..=first + PIECE - 1,
            (Self::Warehouse(warehouse), Table::Warehouse) => warehouse..=warehouse,
            (Self::Warehouse(_), _) => 1..=DISTRICTS,
            (Self::Customers(_), _) => 1..=CUSTOMERS,
            (Self::Orders(_), Table::NewOrder) => FIRST_NEW_ORDER..=ORDERS,
            (Self::Orders(_), _) => 1..=ORDERS,
        }
    }
}

/// Loads all rows into new tables.
pub(super) fn fill(site: &Site<'_>, settings: &Settings) -> Result<(), Failure> {
    let warehouses = settings.warehouses;
    let maker = Arc::new(RowMaker::new(site.seed, now(site)?));
    let dialect = site.target.dialect();
    let rows_per_warehouse = 530_000;
    site.progress.begin(
        format!("loading {warehouses} warehouse{}", if warehouses == 1 { "" } else { "s" }),
        ITEMS + warehouses * rows_per_warehouse,
    );
    for pieces in order(stages(warehouses), settings.foreign_keys) {
        let count = pieces.len() as u64;
        let maker = Arc::clone(&maker);
        let progress = site.progress.clone();
        share_out_pieces(site, count, move |session, number| {
            let piece = pieces[number as usize];
            let maker = Arc::clone(&maker);
            let progress = progress.clone();
            Box::pin(async move { load(session, dialect, &maker, piece, &progress).await })
        })?;
    }
    Ok(())
}

/// With foreign keys the stages in their order. Without them a single stage, the longest batches first, so that
/// sessions wait for each other only at the end.
fn order(stages: [Vec<Piece>; 3], has_foreign_keys: bool) -> Vec<Vec<Piece>> {
    if has_foreign_keys {
        stages.into()
    } else {
        vec![stages.into_iter().rev().flatten().collect()]
    }
}

/// The current time of the system, as it writes times.
fn now(site: &Site<'_>) -> Result<String, Failure> {
    on_session(site, async move |session| {
        let rows = session.rows("SELECT CURRENT_TIMESTAMP").await?;
        crate::crewed::as_text(rows.first().and_then(|row| row.first()))
            .ok_or_else(|| unfit("the system does not tell its time"))
    })
}

/// Loads a batch in one transaction.
async fn load(
    session: &mut Session,
    dialect: &Dialect,
    maker: &RowMaker,
    piece: Piece,
    progress: &Progress,
) -> Result<(), Failure> {
    let mut together = loading::Piece::begin(session, dialect, progress).await?;
    for &table in piece.tables() {
        let columns = table.column_names();
        let filling = together.table(table.name(), &columns);
        let mut rows = TableRows { filling, columns: columns.len() };
        piece.make(table, maker, &mut rows).await?;
        rows.filling.end().await?;
    }
    together.commit().await
}

/// Adds rows to a table.
struct TableRows<'a> {
    filling: Filling<'a>,
    columns: usize,
}

impl Sink for TableRows<'_> {
    async fn take(&mut self, rows: &RowBuffer) -> Result<(), Failure> {
        let mut values = [Value::Null; COLUMNS_MAX];
        for row in rows.rows(self.columns) {
            for (value, cell) in values.iter_mut().zip(row) {
                *value = cell;
            }
            self.filling.push(&values[..self.columns]).await?;
        }
        Ok(())
    }
}
