//! The Payment transaction: clause 2.5.

use std::fmt::Write as _;
use std::hint::black_box;

use driver::Value;
use engine::ClientHandle;
use measure::Failure;

use super::inputs::Payment;
use super::session::{TpccSession, missing, money};
use super::statements::Query;

/// Clause 2.5.2.2. The contended rows, of the district and of the warehouse, are changed last.
pub(super) async fn payment(
    tpcc_session: &mut TpccSession,
    handle: &mut ClientHandle,
    payment: &Payment,
) -> Result<(), Failure> {
    tpcc_session.begin(handle).await?;
    let home = [Value::Int(payment.warehouse), Value::Int(payment.district)];
    // Names and addresses; H_DATA is both names, separated by four spaces.
    tpcc_session.run(handle, Query::WarehouseAndDistrict, &home).await?;
    let rows = tpcc_session.session.fetched();
    let (Some(warehouse), Some(district)) = (rows.text(0, 0), rows.text(0, 6)) else {
        return Err(missing("the district of a payment"));
    };
    let mut data = Data::new();
    data.write(format_args!("{warehouse}    {district}"));
    let place = (payment.customer_warehouse, payment.customer_district);
    let customer = tpcc_session.customer_id(handle, place, payment.customer).await?;
    pay(tpcc_session, handle, payment, customer).await?;
    let history = [
        Value::Int(customer),
        Value::Int(payment.customer_district),
        Value::Int(payment.customer_warehouse),
        home[1],
        home[0],
        money(payment.cents),
        Value::Text(data.as_str()),
    ];
    tpcc_session.run(handle, Query::InsertHistory, &history).await?;
    let amount = money(payment.cents);
    tpcc_session.run(handle, Query::AddToDistrict, &[amount, home[0], home[1]]).await?;
    tpcc_session.run(handle, Query::AddToWarehouse, &[amount, home[0]]).await?;
    tpcc_session.commit(handle).await
}

/// Updates C_BALANCE, C_YTD_PAYMENT and C_PAYMENT_CNT, and C_DATA of a customer with bad credit; then reads the row
/// for the terminal.
async fn pay(
    tpcc_session: &mut TpccSession,
    handle: &mut ClientHandle,
    payment: &Payment,
    customer: i64,
) -> Result<(), Failure> {
    let amount = money(payment.cents);
    // The text that is put before C_DATA of a customer with bad credit.
    let mut data = Data::new();
    data.write(format_args!(
        "{customer} {} {} {} {} {}.{:02} ",
        payment.customer_district,
        payment.customer_warehouse,
        payment.district,
        payment.warehouse,
        payment.cents / 100,
        payment.cents % 100
    ));
    let who = [
        Value::Int(payment.customer_warehouse),
        Value::Int(payment.customer_district),
        Value::Int(customer),
    ];
    let values = [amount, amount, Value::Text(data.as_str()), who[0], who[1], who[2]];
    tpcc_session.run(handle, Query::Pay, &values).await?;
    tpcc_session.run(handle, Query::Payer, &who).await?;
    if tpcc_session.rows().is_empty() {
        return Err(missing("the customer of a payment"));
    }
    black_box(tpcc_session.rows());
    Ok(())
}

/// A short text, stored inline.
struct Data {
    bytes: [u8; 96],
    length: usize,
}

impl Data {
    fn new() -> Self {
        Self { bytes: [0; 96], length: 0 }
    }

    fn write(&mut self, text: std::fmt::Arguments<'_>) {
        // Text that does not fit is dropped: H_DATA is cut at the length of its column anyway.
        let _ = self.write_fmt(text);
    }

    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }
}

impl std::fmt::Write for Data {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let to = self.length + text.len();
        let Some(free) = self.bytes.get_mut(self.length..to) else { return Err(std::fmt::Error) };
        free.copy_from_slice(text.as_bytes());
        self.length = to;
        Ok(())
    }
}
