//! Loads the initial database, by several sessions side by side.

use std::sync::Arc;

use driver::{BulkLoad, Capabilities, Session, Value};
use measure::Failure;

use super::buffer::RowBuffer;
use super::rows::{CUSTOMERS, DISTRICTS, FIRST_NEW_ORDER, ITEMS, ORDERS, Place, RowMaker};
use super::schema::Table;
use crate::crewed::{members, on_session, placeholders, share_out, unfit};
use crate::{Progress, Site};

/// Items, and stocks of a warehouse, that one session loads in one transaction.
const PIECE: u64 = 20_000;

/// What one session loads.
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

/// Everything there is to load, in stages: what a foreign key names is there in the stage before.
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

/// Where rows go.
pub(super) trait Sink {
    /// Takes a row of `table`, which has just been written to the end of the buffer.
    ///
    /// # Errors
    /// When it cannot be kept.
    async fn row(&mut self, table: Table, buffer: &mut RowBuffer) -> Result<(), Failure>;

    /// No more rows come for `table`.
    ///
    /// # Errors
    /// When they cannot be kept.
    async fn end(&mut self, table: Table, buffer: &mut RowBuffer) -> Result<(), Failure>;
}

impl Piece {
    /// Makes every row of the piece.
    ///
    /// # Errors
    /// Those of the sink.
    pub(super) async fn make(
        self,
        maker: &RowMaker,
        sink: &mut impl Sink,
        buffer: &mut RowBuffer,
    ) -> Result<(), Failure> {
        buffer.clear();
        match self {
            Self::Items(first) => {
                for item in first..first + PIECE {
                    maker.item(buffer, item);
                    sink.row(Table::Item, buffer).await?;
                }
                sink.end(Table::Item, buffer).await
            }
            Self::Warehouse(warehouse) => {
                maker.warehouse(buffer, warehouse);
                sink.row(Table::Warehouse, buffer).await?;
                sink.end(Table::Warehouse, buffer).await?;
                for district in 1..=DISTRICTS {
                    maker.district(buffer, Place { warehouse, district });
                    sink.row(Table::District, buffer).await?;
                }
                sink.end(Table::District, buffer).await
            }
            Self::Customers(place) => customers(maker, place, sink, buffer).await,
            Self::Stock(warehouse, first) => {
                for item in first..first + PIECE {
                    maker.stock(buffer, warehouse, item);
                    sink.row(Table::Stock, buffer).await?;
                }
                sink.end(Table::Stock, buffer).await
            }
            Self::Orders(place) => orders(maker, place, sink, buffer).await,
        }
    }
}

async fn customers(
    maker: &RowMaker,
    place: Place,
    sink: &mut impl Sink,
    buffer: &mut RowBuffer,
) -> Result<(), Failure> {
    for customer in 1..=CUSTOMERS {
        maker.customer(buffer, place, customer);
        sink.row(Table::Customer, buffer).await?;
    }
    sink.end(Table::Customer, buffer).await?;
    for customer in 1..=CUSTOMERS {
        maker.history(buffer, place, customer);
        sink.row(Table::History, buffer).await?;
    }
    sink.end(Table::History, buffer).await
}

async fn orders(
    maker: &RowMaker,
    place: Place,
    sink: &mut impl Sink,
    buffer: &mut RowBuffer,
) -> Result<(), Failure> {
    for (order, customer) in (1..=ORDERS).zip(maker.customers_of_orders(place)) {
        maker.order(buffer, place, order, customer);
        sink.row(Table::Orders, buffer).await?;
    }
    sink.end(Table::Orders, buffer).await?;
    for order in FIRST_NEW_ORDER..=ORDERS {
        RowMaker::new_order(buffer, place, order);
        sink.row(Table::NewOrder, buffer).await?;
    }
    sink.end(Table::NewOrder, buffer).await?;
    let columns = Table::OrderLine.column_names().len();
    for order in 1..=ORDERS {
        maker.order_lines(buffer, place, order);
        // A sink takes rows one by one; lines are made by the order.
        debug_assert!(buffer.cells().is_multiple_of(columns));
        sink.row(Table::OrderLine, buffer).await?;
    }
    sink.end(Table::OrderLine, buffer).await
}

/// Puts every row into tables that were just made.
pub(super) fn fill(site: &Site<'_>, warehouses: u64) -> Result<(), Failure> {
    let maker = Arc::new(RowMaker::new(site.seed, now(site)?));
    let system = Arc::new(site.target.capabilities().clone());
    let stages = stages(warehouses);
    let rows_per_warehouse = 530_000;
    site.progress.begin(
        format!("loading {warehouses} warehouse{}", if warehouses == 1 { "" } else { "s" }),
        ITEMS + warehouses * rows_per_warehouse,
    );
    for pieces in stages {
        let count = pieces.len() as u64;
        let (maker, system) = (Arc::clone(&maker), Arc::clone(&system));
        let progress = site.progress.clone();
        share_out(site, members(site), count, move |session, number| {
            let piece = pieces[number as usize];
            let (maker, system) = (Arc::clone(&maker), Arc::clone(&system));
            let progress = progress.clone();
            Box::pin(async move { load(session, &system, &maker, piece, progress).await })
        })?;
    }
    Ok(())
}

/// The system's own time, in its own spelling.
fn now(site: &Site<'_>) -> Result<String, Failure> {
    on_session(site, async move |session| {
        let rows = session.rows("SELECT CURRENT_TIMESTAMP").await?;
        crate::crewed::as_text(rows.first().and_then(|row| row.first()))
            .ok_or_else(|| unfit("the system does not tell its time"))
    })
}

async fn load(
    session: &mut Session,
    system: &Capabilities,
    maker: &RowMaker,
    piece: Piece,
    progress: Progress,
) -> Result<(), Failure> {
    let mut buffer = RowBuffer::default();
    if system.bulk_load != BulkLoad::PreparedInsert {
        // As in sysbench's load: a prepared INSERT of many rows costs a server of the MySQL protocol
        // less than LOAD DATA (docs/sysbench.md), and its text is taken as it is.
        if let Some(ascii) = system.ascii_session {
            session.run(ascii).await?;
        }
    }
    session.run(system.begin_write).await?;
    let mut inserter = Inserter { session, system, insert: None, progress };
    piece.make(maker, &mut inserter, &mut buffer).await?;
    session.run("COMMIT").await.map(drop)
}

/// Inserts rows, many in a statement.
struct Inserter<'a> {
    session: &'a mut Session,
    system: &'a Capabilities,
    /// The statement for full batches of the table in hand.
    insert: Option<(Table, driver::Statement)>,
    progress: Progress,
}

impl Sink for Inserter<'_> {
    async fn row(&mut self, table: Table, buffer: &mut RowBuffer) -> Result<(), Failure> {
        let columns = table.column_names().len();
        let full = table.insert_rows() * columns;
        if buffer.cells() < full {
            return Ok(());
        }
        let statement = match &self.insert {
            Some((of, statement)) if *of == table => statement.clone(),
            _ => {
                let statement = self.prepare(table, table.insert_rows()).await?;
                self.insert = Some((table, statement.clone()));
                statement
            }
        };
        let values: Vec<Value<'_>> = buffer.values().collect();
        let inserted = self.session.execute(&statement, &values[..full]);
        drop(values);
        inserted.await?;
        self.progress.advance(table.insert_rows() as u64);
        buffer.drop_front(full);
        Ok(())
    }

    async fn end(&mut self, table: Table, buffer: &mut RowBuffer) -> Result<(), Failure> {
        let rows = buffer.cells() / table.column_names().len();
        if rows > 0 {
            let statement = self.prepare(table, rows).await?;
            let values: Vec<Value<'_>> = buffer.values().collect();
            self.session.execute(&statement, &values).await?;
            self.progress.advance(rows as u64);
        }
        buffer.clear();
        Ok(())
    }
}

impl Inserter<'_> {
    async fn prepare(&mut self, table: Table, rows: usize) -> Result<driver::Statement, Failure> {
        let columns = table.column_names();
        let row = format!("({})", vec!["?"; columns.len()].join(", "));
        let sql = format!(
            "INSERT INTO {} ({}) VALUES {}",
            table.name(),
            columns.join(", "),
            vec![row; rows].join(", ")
        );
        self.session.prepare(&placeholders(&sql, self.system)).await
    }
}
