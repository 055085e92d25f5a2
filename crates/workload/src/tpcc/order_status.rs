//! The Order-Status transaction: clause 2.6.

use std::hint::black_box;

use driver::Value;
use engine::ClientHandle;
use measure::Failure;

use super::inputs::{Customer, OrderStatus};
use super::session::{TpccSession, missing};
use super::statements::Query;

/// Clause 2.6.2.2: reads a customer, its last order, and the lines of that order.
pub(super) async fn order_status(
    tpcc_session: &mut TpccSession,
    handle: &mut ClientHandle,
    status: &OrderStatus,
) -> Result<(), Failure> {
    tpcc_session.begin_reading(handle).await?;
    let place = [Value::Int(status.warehouse), Value::Int(status.district)];
    let row = match status.customer {
        Customer::LastName(name) => {
            let who = (status.warehouse, status.district, name);
            tpcc_session.read_by_name(handle, Query::StatusByName, who).await?
        }
        Customer::Id(id) => {
            let who = [place[0], place[1], Value::Int(id)];
            tpcc_session.run(handle, Query::StatusById, &who).await?;
            0
        }
    };
    let Some(customer) = tpcc_session.rows().int(row, 0) else {
        return Err(missing("the customer of an Order-Status"));
    };
    black_box(tpcc_session.rows().float(row, 4));
    tpcc_session.run(handle, Query::LastOrder, &[place[0], place[1], Value::Int(customer)]).await?;
    let Some(order) = tpcc_session.rows().int(0, 0) else {
        return Err(missing(&format!("an order of customer {customer}")));
    };
    tpcc_session.run(handle, Query::OrderLines, &[place[0], place[1], Value::Int(order)]).await?;
    black_box(tpcc_session.rows());
    tpcc_session.commit(handle).await
}
