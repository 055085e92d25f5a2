//! The Stock-Level transaction: clause 2.8.

use std::hint::black_box;

use driver::Value;
use engine::Seat;
use measure::Failure;

use super::hand::{Hand, missing};
use super::inputs::StockLevel;
use super::statements::Query;

/// How many of the last orders are looked at (clause 2.8.2.2).
const ORDERS: i64 = 20;

/// Clause 2.8.2.2: how many items of the district's last twenty orders are low in stock.
pub(super) async fn stock_level(
    hand: &mut Hand,
    seat: &mut Seat,
    level: &StockLevel,
) -> Result<(), Failure> {
    hand.begin_reading(seat).await?;
    let place = [Value::Int(level.warehouse), Value::Int(level.district)];
    hand.run(seat, Query::NextOrderNumber, &place).await?;
    let Some(next) = hand.rows().int(0, 0) else {
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
    hand.run(seat, Query::CountLowStocks, &values).await?;
    black_box(hand.rows().int(0, 0));
    hand.commit(seat).await
}
