//! The Order-Status transaction: clause 2.6.

use std::hint::black_box;

use driver::Value;
use engine::Seat;
use measure::Failure;

use super::hand::{Hand, missing};
use super::inputs::{Customer, OrderStatus};
use super::statements::Query;

/// Clause 2.6.2.2: a customer, its last order, and the lines of that.
pub(super) async fn order_status(
    hand: &mut Hand,
    seat: &mut Seat,
    status: &OrderStatus,
) -> Result<(), Failure> {
    hand.begin_reading(seat).await?;
    let place = [Value::Int(status.warehouse), Value::Int(status.district)];
    let row = match status.customer {
        Customer::LastName(name) => {
            let who = (status.warehouse, status.district, name);
            hand.read_by_name(seat, Query::StatusByName, who).await?
        }
        Customer::Id(id) => {
            let who = [place[0], place[1], Value::Int(id)];
            hand.run(seat, Query::StatusById, &who).await?;
            0
        }
    };
    let Some(customer) = hand.rows().int(row, 0) else {
        return Err(missing("the customer of an Order-Status"));
    };
    black_box(hand.rows().float(row, 4));
    hand.run(seat, Query::LastOrder, &[place[0], place[1], Value::Int(customer)]).await?;
    let Some(order) = hand.rows().int(0, 0) else {
        return Err(missing(&format!("an order of customer {customer}")));
    };
    hand.run(seat, Query::OrderLines, &[place[0], place[1], Value::Int(order)]).await?;
    black_box(hand.rows());
    hand.commit(seat).await
}
