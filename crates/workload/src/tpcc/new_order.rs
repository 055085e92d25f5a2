//! The New-Order transaction: clause 2.4.

use std::hint::black_box;

use driver::Value;
use engine::ClientHandle;
use measure::Failure;

use super::inputs::{LINES_MAX, Line, NewOrder};
use super::session::{TpccSession, missing, money, scaled};
use super::statements::{LineQuery, Query};
use super::text::ORIGINAL;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OrderResult {
    Committed,
    /// The order names an item that does not exist, and was rolled back as required (clause 2.4.2.3).
    RolledBack,
}

/// The length of S_DIST_xx.
const DIST: usize = 24;

#[derive(Clone, Copy)]
struct Filled {
    /// I_PRICE in cents; `None` for an item that does not exist.
    price: Option<i64>,
    /// Whether I_DATA contains [`ORIGINAL`].
    is_original: bool,
    dist: [u8; DIST],
    dist_length: usize,
}

/// Clause 2.4.2.2. The sequence of its steps is free (clause 2.4.2.3, comment 2): the district, for which other
/// terminals wait, is locked as late as possible.
pub(super) async fn new_order(
    tpcc_session: &mut TpccSession,
    handle: &mut ClientHandle,
    order: &NewOrder,
) -> Result<OrderResult, Failure> {
    tpcc_session.begin(handle).await?;
    let place = [Value::Int(order.warehouse), Value::Int(order.district)];
    // W_TAX; C_DISCOUNT, C_LAST and C_CREDIT.
    let buyer = [place[0], place[1], Value::Int(order.customer)];
    tpcc_session.run(handle, Query::BuyerAndTax, &buyer).await?;
    let rows = tpcc_session.rows();
    let (Some(discount), Some(w_tax)) = (scaled(rows, (0, 0), 1e4), scaled(rows, (0, 3), 1e4))
    else {
        return Err(missing("the customer of an order, or its warehouse,"));
    };
    black_box((rows.text(0, 1), rows.text(0, 2)));
    let mut filled = read_items(tpcc_session, handle, order).await?;
    take_stock(tpcc_session, handle, order, &mut filled).await?;
    // D_TAX and D_NEXT_O_ID, which is incremented.
    tpcc_session.run(handle, Query::TakeOrderNumber, &place).await?;
    tpcc_session.run(handle, Query::OrderNumberAndTax, &place).await?;
    let rows = tpcc_session.rows();
    let (Some(number), Some(d_tax)) = (rows.int(0, 0), scaled(rows, (0, 1), 1e4)) else {
        return Err(missing("the district of an order"));
    };
    insert_order(tpcc_session, handle, order, number).await?;
    let cents = insert_lines(tpcc_session, handle, order, &filled, number).await?;
    // The total amount that the terminal shows.
    black_box(cents * (10_000 - discount) / 10_000 * (10_000 + w_tax + d_tax) / 10_000);
    if filled[..order.count].iter().any(|line| line.price.is_none()) {
        tpcc_session.roll_back(handle).await?;
        return Ok(OrderResult::RolledBack);
    }
    tpcc_session.commit(handle).await?;
    Ok(OrderResult::Committed)
}

/// Reads I_PRICE, I_NAME and I_DATA of every item with one statement.
async fn read_items(
    tpcc_session: &mut TpccSession,
    handle: &mut ClientHandle,
    order: &NewOrder,
) -> Result<[Filled; LINES_MAX], Failure> {
    let lines = &order.lines[..order.count];
    let mut values = [Value::Null; LINES_MAX];
    for (value, line) in values.iter_mut().zip(lines) {
        *value = Value::Int(line.item);
    }
    tpcc_session.run_lines(handle, (LineQuery::Items, order.count), &values[..order.count]).await?;
    let empty = Filled { price: None, is_original: false, dist: [0; DIST], dist_length: 0 };
    let mut filled = [empty; LINES_MAX];
    let rows = tpcc_session.rows();
    for row in 0..rows.len() {
        let item = rows.int(row, 0);
        let price = scaled(rows, (row, 1), 100.0);
        let is_original = rows.text(row, 3).is_some_and(|data| data.contains(ORIGINAL));
        for (filled, line) in filled.iter_mut().zip(lines) {
            if Some(line.item) == item {
                (filled.price, filled.is_original) = (price, is_original);
            }
        }
    }
    Ok(filled)
}

/// Locks and updates the stocks of the lines whose items exist, with the lines of one supply warehouse together.
async fn take_stock(
    tpcc_session: &mut TpccSession,
    handle: &mut ClientHandle,
    order: &NewOrder,
    filled: &mut [Filled; LINES_MAX],
) -> Result<(), Failure> {
    let mut from = 0;
    while from < order.count {
        let lines = &order.lines[..order.count];
        if filled[from].price.is_none() {
            from += 1;
            continue;
        }
        // Lines are sorted. An item that is ordered twice starts another step, because its stock is reduced twice.
        let mut to = from + 1;
        while to < order.count
            && lines[to].supply_warehouse == lines[from].supply_warehouse
            && lines[to].item != lines[to - 1].item
            && filled[to].price.is_some()
        {
            to += 1;
        }
        take_from_one(tpcc_session, handle, order, (from, to), filled).await?;
        from = to;
    }
    Ok(())
}

/// Updates the stocks of lines `from..to`, which one warehouse supplies.
async fn take_from_one(
    tpcc_session: &mut TpccSession,
    handle: &mut ClientHandle,
    order: &NewOrder,
    (from, to): (usize, usize),
    filled: &mut [Filled; LINES_MAX],
) -> Result<(), Failure> {
    let lines = &order.lines[from..to];
    let count = lines.len();
    let supply = lines[0].supply_warehouse;
    let mut values = [Value::Null; LINES_MAX + 2];
    values[0] = Value::Int(order.district);
    values[1] = Value::Int(supply);
    for (value, line) in values[2..].iter_mut().zip(lines) {
        *value = Value::Int(line.item);
    }
    tpcc_session.run_lines(handle, (LineQuery::LockStocks, count), &values[..count + 2]).await?;
    let mut quantities = [0; LINES_MAX];
    let rows = tpcc_session.rows();
    let mut found = 0;
    for row in 0..rows.len() {
        let at = lines.iter().position(|line| rows.int(row, 0) == Some(line.item));
        if let (Some(at), Some(quantity)) = (at, rows.int(row, 1)) {
            found += 1;
            quantities[at] = left(quantity, lines[at].quantity);
            let line = &mut filled[from + at];
            // Brand or generic, as the terminal shows it: brand if both texts contain the word.
            let is_original = rows.text(row, 2).is_some_and(|data| data.contains(ORIGINAL));
            black_box(line.is_original && is_original);
            line.keep_dist(rows.text(row, 3).unwrap_or_default());
        }
    }
    if found != count {
        return Err(missing(&format!("the stock of an item in warehouse {supply}")));
    }
    let mut values = [Value::Null; 5 * LINES_MAX + 2];
    let used = stock_values(&mut values, lines, &quantities, supply != order.warehouse);
    tpcc_session
        .run_lines(handle, (LineQuery::UpdateStocks, count), &values[..used])
        .await
        .map(drop)
}

/// The new quantity of a stock: if fewer than ten would remain, 91 are added (clause 2.4.2.2).
#[inline]
fn left(stock: i64, ordered: i64) -> i64 {
    if stock >= ordered + 10 { stock - ordered } else { stock - ordered + 91 }
}

/// Fills in the values of [`LineQuery::UpdateStocks`]; returns their number.
fn stock_values(
    values: &mut [Value<'_>],
    lines: &[Line],
    quantities: &[i64],
    is_remote: bool,
) -> usize {
    let pairs = lines.iter().zip(quantities).flat_map(|(line, left)| [line.item, *left]);
    let ordered = lines.iter().flat_map(|line| [line.item, line.quantity]);
    let rest = [i64::from(is_remote), lines[0].supply_warehouse];
    let items = lines.iter().map(|line| line.item);
    let mut used = 0;
    for (value, number) in values.iter_mut().zip(pairs.chain(ordered).chain(rest).chain(items)) {
        *value = Value::Int(number);
        used += 1;
    }
    used
}

async fn insert_order(
    tpcc_session: &mut TpccSession,
    handle: &mut ClientHandle,
    order: &NewOrder,
    number: i64,
) -> Result<(), Failure> {
    let lines = &order.lines[..order.count];
    let is_local = lines.iter().all(|line| line.supply_warehouse == order.warehouse);
    let values = [
        Value::Int(number),
        Value::Int(order.district),
        Value::Int(order.warehouse),
        Value::Int(order.customer),
        Value::Int(order.count as i64),
        Value::Int(i64::from(is_local)),
    ];
    tpcc_session.run(handle, Query::InsertOrder, &values).await?;
    tpcc_session.run(handle, Query::InsertNewOrder, &values[..3]).await.map(drop)
}

/// Inserts rows of ORDER-LINE for the items that exist, with one statement; returns the sum of OL_AMOUNT in cents.
async fn insert_lines(
    tpcc_session: &mut TpccSession,
    handle: &mut ClientHandle,
    order: &NewOrder,
    filled: &[Filled; LINES_MAX],
    number: i64,
) -> Result<i64, Failure> {
    let mut values = [Value::Null; 9 * LINES_MAX];
    let (mut count, mut sum) = (0, 0);
    for (line, filled) in order.lines[..order.count].iter().zip(filled) {
        let Some(price) = filled.price else { continue };
        let cents = line.quantity * price;
        sum += cents;
        let row = [
            Value::Int(number),
            Value::Int(order.district),
            Value::Int(order.warehouse),
            Value::Int(count as i64 + 1),
            Value::Int(line.item),
            Value::Int(line.supply_warehouse),
            Value::Int(line.quantity),
            money(cents),
            Value::Text(filled.dist()),
        ];
        values[9 * count..9 * (count + 1)].copy_from_slice(&row);
        count += 1;
    }
    tpcc_session.run_lines(handle, (LineQuery::InsertLines, count), &values[..9 * count]).await?;
    Ok(sum)
}

impl Filled {
    fn keep_dist(&mut self, text: &str) {
        let length = text.len().min(DIST);
        self.dist[..length].copy_from_slice(&text.as_bytes()[..length]);
        self.dist_length = length;
    }

    fn dist(&self) -> &str {
        // A text that was cut within a character is dropped.
        std::str::from_utf8(&self.dist[..self.dist_length]).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stock_is_replenished_below_the_threshold() {
        let cases = [(20, 10, 10), (19, 10, 100), (11, 1, 10), (10, 1, 100), (100, 10, 90)];
        for (stock, ordered, wanted) in cases {
            assert_eq!(left(stock, ordered), wanted, "{stock} - {ordered}");
        }
    }

    #[test]
    fn the_values_of_an_update_are_in_the_statements_order() {
        let line = |item, quantity| Line { item, supply_warehouse: 7, quantity };
        let mut values = [Value::Null; 12];
        let used = stock_values(&mut values, &[line(3, 5), line(9, 1)], &[80, 40], true);
        let wanted = [3, 80, 9, 40, 3, 5, 9, 1, 1, 7, 3, 9].map(Value::Int);
        assert_eq!((used, values), (12, wanted));
    }
}
