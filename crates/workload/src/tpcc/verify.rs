//! Checks that the tables exist with the columns and rows that the transactions need.

use measure::Failure;

use super::rows::{CUSTOMERS, DISTRICTS, ITEMS};
use super::schema::{Table, WORKLOAD};
use super::settings::Settings;
use crate::WorkloadContext;
use crate::parallel::{as_integer, on_session, parallel_for, unsuitable, workers};
use crate::tables::check_all;

/// The columns of every table, and the counts that never change: items, and the districts, customers and stocks of
/// each warehouse. More warehouses than requested are accepted.
pub(super) fn verify_shape(
    context: &WorkloadContext<'_>,
    settings: &Settings,
) -> Result<(), Failure> {
    check_all(context, WORKLOAD, Table::ALL.iter().map(|table| table.with_columns()).collect())?;
    let warehouses = settings.warehouses;
    context.progress.begin("verifying warehouses", warehouses);
    on_session(context, async move |session| {
        expect(
            session,
            "SELECT COUNT(*) FROM item WHERE i_id BETWEEN 1 AND 100000",
            ITEMS,
            "items",
        )
        .await?;
        let sql = format!("SELECT COUNT(*) FROM warehouse WHERE w_id BETWEEN 1 AND {warehouses}");
        expect(session, &sql, warehouses, "warehouses").await
    })?;
    let progress = context.progress.clone();
    parallel_for(context, workers(context), warehouses, move |session, job| {
        let (warehouse, progress) = (job + 1, progress.clone());
        Box::pin(async move {
            let counts = [
                ("district", "d_w_id", "d_id", DISTRICTS, DISTRICTS, "districts"),
                ("customer", "c_w_id", "c_id", CUSTOMERS, DISTRICTS * CUSTOMERS, "customers"),
                ("stock", "s_w_id", "s_i_id", ITEMS, ITEMS, "stocks"),
            ];
            for (table, of, id, highest, wanted, what) in counts {
                let sql = format!(
                    "SELECT COUNT(*) FROM {table} WHERE {of} = {warehouse} AND {id} BETWEEN 1 AND {highest}"
                );
                let what = format!("{what} of warehouse {warehouse}");
                expect(session, &sql, wanted, &what).await?;
            }
            progress.advance(1);
            Ok(())
        })
    })
}

/// Checks that there are no more warehouses than the settings have.
pub(super) fn verify_warehouses(
    context: &WorkloadContext<'_>,
    settings: &Settings,
) -> Result<(), Failure> {
    let warehouses = settings.warehouses;
    on_session(context, async move |session| {
        expect(session, "SELECT COUNT(*) FROM warehouse", warehouses, "warehouses").await
    })
}

async fn expect(
    session: &mut driver::Session,
    sql: &str,
    wanted: u64,
    what: &str,
) -> Result<(), Failure> {
    let rows = session.rows(sql).await?;
    let seen = as_integer(rows.first().and_then(|row| row.first())).unwrap_or_default();
    if seen == wanted.cast_signed() {
        return Ok(());
    }
    Err(unsuitable(format!(
        "TPC-C's tables have {seen} {what}, not {wanted}; set warehouses to what is there, or recreate them with \
         `--existing replace`"
    )))
}
