//! The rows of dbgen (clause 4.2), part by part, so that sessions load them in parallel.

use std::fmt::{Display, Write as _};

use driver::Value;
use measure::Failure;
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator,
    PartSuppGenerator, RegionGenerator, SupplierGenerator,
};

use super::schema::{COLUMNS_MAX, Table};
use crate::row_buffer::RowBuffer;

/// Rows of ORDERS at scale 1 (clause 4.2.5.1), and so on.
const ORDERS: f64 = 1_500_000.0;
const PARTS: f64 = 200_000.0;
const CUSTOMERS: f64 = 150_000.0;
const SUPPLIERS: f64 = 10_000.0;
const SUPPLIERS_OF_PART: u64 = 4;
/// Lines of an order in the mean.
const LINES: u64 = 4;

/// One part of a table's rows: a batch, which a session loads in one transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Chunk {
    pub(super) table: Table,
    pub(super) part: i32,
    /// Parts of the table, or, for ORDERS and LINEITEM, of the orders.
    pub(super) parts: i32,
}

pub(super) trait Sink {
    /// Stores one row.
    ///
    /// # Errors
    /// If it cannot be stored.
    async fn take(&mut self, row: &[Value<'_>]) -> Result<(), Failure>;
}

impl Table {
    /// How many rows it has; of LINEITEM, whose number is random, about so many.
    pub(super) fn rows(self, scale: f64) -> u64 {
        let of = |base: f64| (base * scale) as u64;
        match self {
            Self::Region => 5,
            Self::Nation => 25,
            Self::Supplier => of(SUPPLIERS),
            Self::Customer => of(CUSTOMERS),
            Self::Part => of(PARTS),
            Self::PartSupp => of(PARTS) * SUPPLIERS_OF_PART,
            Self::Orders => of(ORDERS),
            Self::LineItem => of(ORDERS) * LINES,
        }
    }

    /// Its rows in chunks of about `rows_max` rows.
    pub(super) fn chunks(self, scale: f64, rows_max: u64) -> impl Iterator<Item = Chunk> {
        let parts = match self {
            // Their generators make all rows whatever the part.
            Self::Region | Self::Nation => 1,
            _ => i32::try_from(self.rows(scale).div_ceil(rows_max)).unwrap_or(i32::MAX).max(1),
        };
        (1..=parts).map(move |part| Chunk { table: self, part, parts })
    }
}

impl Chunk {
    /// Generates its rows.
    ///
    /// # Errors
    /// The errors of the sink.
    pub(super) async fn make(self, scale: f64, sink: &mut impl Sink) -> Result<(), Failure> {
        self.make_keyed(scale, |key| key, sink).await
    }

    /// The same, with other keys of the orders.
    pub(super) async fn make_keyed(
        self,
        scale: f64,
        order_key: impl Fn(i64) -> i64,
        sink: &mut impl Sink,
    ) -> Result<(), Failure> {
        let Self { table, part, parts } = self;
        let mut out = RowBuffer::default();
        match table {
            Table::Orders => {
                for order in OrderGenerator::new(scale, part, parts).iter() {
                    out.clear();
                    out.int(order_key(order.o_orderkey));
                    out.int(order.o_custkey);
                    out.text(order.o_orderstatus.as_str());
                    out.cents(order.o_totalprice.into_inner());
                    written(&mut out, order.o_orderdate);
                    out.text(order.o_orderpriority);
                    written(&mut out, order.o_clerk);
                    out.int(order.o_shippriority.into());
                    out.text(order.o_comment);
                    pass(&out, sink).await?;
                }
            }
            Table::LineItem => {
                for line in LineItemGenerator::new(scale, part, parts).iter() {
                    out.clear();
                    out.int(order_key(line.l_orderkey));
                    out.int(line.l_partkey);
                    out.int(line.l_suppkey);
                    out.int(line.l_linenumber.into());
                    out.int(line.l_quantity);
                    out.cents(line.l_extendedprice.into_inner());
                    out.cents(line.l_discount.into_inner());
                    out.cents(line.l_tax.into_inner());
                    out.text(line.l_returnflag);
                    out.text(line.l_linestatus);
                    written(&mut out, line.l_shipdate);
                    written(&mut out, line.l_commitdate);
                    written(&mut out, line.l_receiptdate);
                    out.text(line.l_shipinstruct);
                    out.text(line.l_shipmode);
                    out.text(line.l_comment);
                    pass(&out, sink).await?;
                }
            }
            Table::Part | Table::PartSupp => self.make_parts(scale, &mut out, sink).await?,
            _ => self.make_others(scale, &mut out, sink).await?,
        }
        Ok(())
    }

    async fn make_parts(
        self,
        scale: f64,
        out: &mut RowBuffer,
        sink: &mut impl Sink,
    ) -> Result<(), Failure> {
        let Self { table, part, parts } = self;
        if table == Table::PartSupp {
            for row in PartSuppGenerator::new(scale, part, parts).iter() {
                out.clear();
                out.int(row.ps_partkey);
                out.int(row.ps_suppkey);
                out.int(row.ps_availqty.into());
                out.cents(row.ps_supplycost.into_inner());
                out.text(row.ps_comment);
                pass(out, sink).await?;
            }
            return Ok(());
        }
        for row in PartGenerator::new(scale, part, parts).iter() {
            out.clear();
            out.int(row.p_partkey);
            written(out, row.p_name);
            written(out, row.p_mfgr);
            written(out, row.p_brand);
            out.text(row.p_type);
            out.int(row.p_size.into());
            out.text(row.p_container);
            out.cents(row.p_retailprice.into_inner());
            out.text(row.p_comment);
            pass(out, sink).await?;
        }
        Ok(())
    }

    async fn make_others(
        self,
        scale: f64,
        out: &mut RowBuffer,
        sink: &mut impl Sink,
    ) -> Result<(), Failure> {
        let Self { table, part, parts } = self;
        match table {
            Table::Region => {
                for row in RegionGenerator::new(scale, part, parts).iter() {
                    out.clear();
                    out.int(row.r_regionkey);
                    out.text(row.r_name);
                    out.text(row.r_comment);
                    pass(out, sink).await?;
                }
            }
            Table::Nation => {
                for row in NationGenerator::new(scale, part, parts).iter() {
                    out.clear();
                    out.int(row.n_nationkey);
                    out.text(row.n_name);
                    out.int(row.n_regionkey);
                    out.text(row.n_comment);
                    pass(out, sink).await?;
                }
            }
            Table::Supplier => {
                for row in SupplierGenerator::new(scale, part, parts).iter() {
                    out.clear();
                    out.int(row.s_suppkey);
                    written(out, row.s_name);
                    written(out, row.s_address);
                    out.int(row.s_nationkey);
                    written(out, row.s_phone);
                    out.cents(row.s_acctbal.into_inner());
                    out.text(&row.s_comment);
                    pass(out, sink).await?;
                }
            }
            _ => {
                for row in CustomerGenerator::new(scale, part, parts).iter() {
                    out.clear();
                    out.int(row.c_custkey);
                    written(out, row.c_name);
                    written(out, row.c_address);
                    out.int(row.c_nationkey);
                    written(out, row.c_phone);
                    out.cents(row.c_acctbal.into_inner());
                    out.text(row.c_mktsegment);
                    out.text(row.c_comment);
                    pass(out, sink).await?;
                }
            }
        }
        Ok(())
    }
}

fn written(out: &mut RowBuffer, value: impl Display) {
    out.written(|text| {
        // Writing to memory cannot fail.
        let _ = write!(text, "{value}");
    });
}

async fn pass(row: &RowBuffer, sink: &mut impl Sink) -> Result<(), Failure> {
    let mut values = [Value::Null; COLUMNS_MAX];
    for cells in row.rows(COLUMNS_MAX) {
        let mut count = 0;
        for (value, cell) in values.iter_mut().zip(cells) {
            *value = cell;
            count += 1;
        }
        sink.take(&values[..count]).await?;
    }
    Ok(())
}
