//! The Delivery transaction: clause 2.7.
//!
//! Clause 2.7.2 lets a terminal queue a Delivery and continue at once. Here the client runs it itself, as other
//! drivers do, and its latency is that of the work. One transaction delivers to all ten districts; clause 2.7.2
//! allows this.

use driver::Value;
use engine::ClientHandle;
use measure::Failure;

use super::inputs::Delivery;
use super::session::{TpccSession, missing, money, scaled};
use super::statements::Query;

const DISTRICTS: usize = 10;

/// Which districts a Delivery delivered to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivered {
    /// An order of each district.
    Everywhere,
    /// At least one district had no order outstanding and was skipped; clause 2.7.4.2 requires the share of these.
    NotEverywhere,
}

/// Clause 2.7.4.2, for all ten districts together.
pub(super) async fn delivery(
    tpcc_session: &mut TpccSession,
    handle: &mut ClientHandle,
    delivery: &Delivery,
) -> Result<Delivered, Failure> {
    tpcc_session.begin(handle).await?;
    let warehouse = Value::Int(delivery.warehouse);
    let orders = oldest(tpcc_session, handle, warehouse).await?;
    if orders.iter().all(|order| *order == 0) {
        // Clause 2.7.4.2: districts without an outstanding order are skipped, here all of them.
        tpcc_session.commit(handle).await?;
        return Ok(Delivered::NotEverywhere);
    }
    // The warehouse and the orders follow one more value, which only one statement uses.
    let mut values = [Value::Int(0); DISTRICTS + 2];
    values[0] = Value::Int(delivery.carrier);
    values[1] = warehouse;
    for (value, order) in values[2..].iter_mut().zip(orders) {
        *value = Value::Int(order);
    }
    tpcc_session.run(handle, Query::DeleteNewOrders, &values[1..]).await?;
    // Rows are updated before they are read: an update sees the latest rows, like the lock on the new order, but on
    // some systems a SELECT sees the state at the transaction's start, in which a newer order is missing. It sees what
    // its own transaction has updated.
    tpcc_session.run(handle, Query::SetCarrier, &values).await?;
    tpcc_session.run(handle, Query::OrderCustomers, &values[1..]).await?;
    let customers = by_district(tpcc_session, |row, tpcc_session| tpcc_session.rows().int(row, 1));
    tpcc_session.run(handle, Query::SetDelivered, &values[1..]).await?;
    tpcc_session.run(handle, Query::SumAmounts, &values[1..]).await?;
    let amounts =
        by_district(tpcc_session, |row, tpcc_session| scaled(tpcc_session.rows(), (row, 1), 100.0));
    for (order, customer) in orders.iter().zip(customers) {
        if *order != 0 && customer == 0 {
            return Err(missing(&format!("new order {order} of warehouse {}", delivery.warehouse)));
        }
    }
    let mut credit = [warehouse; 2 * DISTRICTS + 1];
    for district in 0..DISTRICTS {
        credit[district] = money(amounts[district]);
        credit[DISTRICTS + 1 + district] = Value::Int(customers[district]);
    }
    tpcc_session.run(handle, Query::CreditCustomers, &credit).await?;
    tpcc_session.commit(handle).await?;
    Ok(if orders.contains(&0) { Delivered::NotEverywhere } else { Delivered::Everywhere })
}

/// The oldest new order of each district; 0 where there is none.
async fn oldest(
    tpcc_session: &mut TpccSession,
    handle: &mut ClientHandle,
    warehouse: Value<'static>,
) -> Result<[i64; DISTRICTS], Failure> {
    let mut orders = [0; DISTRICTS];
    for (order, district) in orders.iter_mut().zip(1..) {
        tpcc_session.run(handle, Query::OldestNewOrder, &[warehouse, Value::Int(district)]).await?;
        *order = tpcc_session.rows().int(0, 0).unwrap_or(0);
    }
    Ok(orders)
}

/// A number for each district, from rows that begin with the district; 0 where there is no row.
fn by_district(
    tpcc_session: &TpccSession,
    number: impl Fn(usize, &TpccSession) -> Option<i64>,
) -> [i64; DISTRICTS] {
    let mut numbers = [0; DISTRICTS];
    for row in 0..tpcc_session.rows().len() {
        let district = tpcc_session.rows().int(row, 0).and_then(|it| usize::try_from(it - 1).ok());
        if let Some(slot) = district.and_then(|at| numbers.get_mut(at)) {
            *slot = number(row, tpcc_session).unwrap_or(0);
        }
    }
    numbers
}
