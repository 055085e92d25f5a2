//! The Stock-Level transaction: clause 2.8.

use std::hint::black_box;

use driver::Value;
use engine::ClientHandle;
use measure::Failure;

use super::inputs::StockLevel;
use super::session::{TpccSession, missing};
use super::statements::Query;

/// The number of last orders that the transaction inspects (clause 2.8.2.2).
const ORDERS: i64 = 20;

/// Clause 2.8.2.2: counts the items of the district's last twenty orders that are low in stock.
pub(super) async fn stock_level(
    tpcc_session: &mut TpccSession,
    handle: &mut ClientHandle,
    level: &StockLevel,
) -> Result<(), Failure> {
    tpcc_session.begin_reading(handle).await?;
    let place = [Value::Int(level.warehouse), Value::Int(level.district)];
    tpcc_session.run(handle, Query::NextOrderNumber, &place).await?;
    let Some(next) = tpcc_session.rows().int(0, 0) else {
        return Err(missing("the district of a Stock-Level"));
    };
    let values = [
        place[0],
        place[1],
        Value::Int(next - ORDERS),
        Value::Int(next),
        place[0],
        Value::Int(level.threshold),
    ];
    tpcc_session.run(handle, Query::CountLowStocks, &values).await?;
    black_box(tpcc_session.rows().int(0, 0));
    tpcc_session.commit(handle).await
}
