//! Sums and counts of one warehouse by district, and the conditions that depend on them alone: 3.3.2.1 to 3.3.2.4,
//! 3.3.2.8, 3.3.2.9 and 3.3.2.11.

use driver::{Datum, Session};
use measure::Failure;

use super::rows::FIRST_NEW_ORDER;
use crate::parallel::as_integer;

const DISTRICTS: usize = 10;

/// Sums and counts of one warehouse. Money is in cents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Figures {
    /// W_YTD.
    pub(super) ytd: Option<i64>,
    /// The sum of H_AMOUNT over all of its districts.
    pub(super) paid: i64,
    pub(super) districts: [District; DISTRICTS],
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct District {
    /// D_YTD.
    pub(super) ytd: i64,
    /// D_NEXT_O_ID.
    pub(super) next_order: i64,
    /// The highest O_ID.
    pub(super) last_order: i64,
    pub(super) orders: i64,
    /// The sum of O_OL_CNT.
    pub(super) lines_of_orders: i64,
    /// Rows of NEW-ORDER, and their lowest and highest NO_O_ID.
    pub(super) new_orders: i64,
    pub(super) first_new_order: i64,
    pub(super) last_new_order: i64,
    /// Rows of ORDER-LINE.
    pub(super) lines: i64,
    /// The sum of H_AMOUNT.
    pub(super) paid: i64,
    /// The sum of C_DELIVERY_CNT.
    pub(super) deliveries: i64,
}

/// Reads the sums and counts, each with one statement that uses the primary key.
pub(super) async fn read(session: &mut Session, warehouse: u64) -> Result<Figures, Failure> {
    let mut figures = Figures::default();
    let sql = format!("SELECT w_ytd FROM warehouse WHERE w_id = {warehouse}");
    figures.ytd = cents(session.rows(&sql).await?.first().and_then(|row| row.first()));
    let sql = format!("SELECT d_id, d_ytd, d_next_o_id FROM district WHERE d_w_id = {warehouse}");
    for (district, row) in figures.rows(&session.rows(&sql).await?) {
        district.ytd = cents(row.get(1)).unwrap_or_default();
        district.next_order = integer(row, 2);
    }
    let sql = format!(
        "SELECT o_d_id, MAX(o_id), COUNT(*), SUM(o_ol_cnt) FROM orders WHERE o_w_id = {warehouse} \
         GROUP BY o_d_id"
    );
    for (district, row) in figures.rows(&session.rows(&sql).await?) {
        district.last_order = integer(row, 1);
        district.orders = integer(row, 2);
        district.lines_of_orders = integer(row, 3);
    }
    let sql = format!(
        "SELECT no_d_id, MIN(no_o_id), MAX(no_o_id), COUNT(*) FROM new_order \
         WHERE no_w_id = {warehouse} GROUP BY no_d_id"
    );
    for (district, row) in figures.rows(&session.rows(&sql).await?) {
        district.first_new_order = integer(row, 1);
        district.last_new_order = integer(row, 2);
        district.new_orders = integer(row, 3);
    }
    let sql = format!(
        "SELECT ol_d_id, COUNT(*) FROM order_line WHERE ol_w_id = {warehouse} GROUP BY ol_d_id"
    );
    for (district, row) in figures.rows(&session.rows(&sql).await?) {
        district.lines = integer(row, 1);
    }
    let sql = format!(
        "SELECT c_d_id, SUM(c_delivery_cnt) FROM customer WHERE c_w_id = {warehouse} GROUP BY c_d_id"
    );
    for (district, row) in figures.rows(&session.rows(&sql).await?) {
        district.deliveries = integer(row, 1);
    }
    let sql = format!(
        "SELECT h_d_id, SUM(h_amount) FROM history WHERE h_w_id = {warehouse} GROUP BY h_d_id"
    );
    let rows = session.rows(&sql).await?;
    figures.paid = rows.iter().filter_map(|row| cents(row.get(1))).sum();
    for (district, row) in figures.rows(&rows) {
        district.paid = cents(row.get(1)).unwrap_or_default();
    }
    Ok(figures)
}

impl Figures {
    /// Pairs rows that begin with a district's number with their districts.
    fn rows<'a>(
        &'a mut self,
        rows: &'a [Vec<Datum>],
    ) -> impl Iterator<Item = (&'a mut District, &'a Vec<Datum>)> {
        // Each district is paired with at most one row, so none is lent twice. Rows of invalid districts are ignored.
        let mut by_district: [Option<&Vec<Datum>>; DISTRICTS] = [None; DISTRICTS];
        for row in rows {
            let place = as_integer(row.first()).and_then(|id| usize::try_from(id - 1).ok());
            if let Some(slot) = place.and_then(|place| by_district.get_mut(place)) {
                *slot = Some(row);
            }
        }
        let pairs = self.districts.iter_mut().zip(by_district);
        pairs.filter_map(|(district, row)| Some((district, row?)))
    }

    /// Where the condition with this number (the last part of its clause) is broken.
    pub(super) fn broken(&self, condition: usize) -> Vec<String> {
        let districts = || self.districts.iter().zip(1..);
        match condition {
            1 => {
                let sum: i64 = self.districts.iter().map(|district| district.ytd).sum();
                self.differs("W_YTD", "the sum of D_YTD", sum)
            }
            8 => self.differs("W_YTD", "the sum of H_AMOUNT", self.paid),
            _ => districts()
                .filter_map(|(it, id)| Some((id, it.broken(condition)?)))
                .map(|(id, what): (usize, String)| format!("district {id}: {what}"))
                .collect(),
        }
    }

    fn differs(&self, what: &str, other: &str, wanted: i64) -> Vec<String> {
        match self.ytd {
            Some(ytd) if ytd == wanted => Vec::new(),
            Some(ytd) => vec![format!("{what} is {}, {other} {}", money(ytd), money(wanted))],
            None => vec![format!("{what} is not there")],
        }
    }
}

impl District {
    fn broken(&self, condition: usize) -> Option<String> {
        match condition {
            2 => self.last_orders(),
            3 => {
                let span = self.last_new_order - self.first_new_order + 1;
                (self.new_orders > 0 && span != self.new_orders).then(|| {
                    format!(
                        "NO_O_ID goes from {} to {} in {} rows",
                        self.first_new_order, self.last_new_order, self.new_orders
                    )
                })
            }
            4 => (self.lines_of_orders != self.lines).then(|| {
                format!(
                    "the sum of O_OL_CNT is {}, but ORDER-LINE has {} rows",
                    self.lines_of_orders, self.lines
                )
            }),
            9 => (self.ytd != self.paid).then(|| {
                format!("D_YTD is {}, the sum of H_AMOUNT {}", money(self.ytd), money(self.paid))
            }),
            11 => self.delivered(),
            _ => None,
        }
    }

    /// 3.3.2.2; without new orders the condition says nothing about NO_O_ID.
    fn last_orders(&self) -> Option<String> {
        let wanted = self.next_order - 1;
        let is_new_wrong = self.new_orders > 0 && self.last_new_order != wanted;
        (self.last_order != wanted || is_new_wrong).then(|| {
            format!(
                "D_NEXT_O_ID is {}, but the last O_ID is {} and the last NO_O_ID {}",
                self.next_order, self.last_order, self.last_new_order
            )
        })
    }

    /// 3.3.2.11: orders less new orders are 2,100 in a new database; every delivery adds one and is counted in
    /// C_DELIVERY_CNT.
    fn delivered(&self) -> Option<String> {
        let first = FIRST_NEW_ORDER.cast_signed() - 1;
        (self.orders - self.new_orders != first + self.deliveries).then(|| {
            format!(
                "{} orders less {} new ones are not {first} and {} deliveries",
                self.orders, self.new_orders, self.deliveries
            )
        })
    }
}

/// An integer cell; 0 for NULL, the sum of no rows.
fn integer(row: &[Datum], column: usize) -> i64 {
    as_integer(row.get(column)).or_else(|| number(row.get(column)).map(|it| it as i64)).unwrap_or(0)
}

fn number(datum: Option<&Datum>) -> Option<f64> {
    match datum? {
        Datum::Int(integer) => Some(*integer as f64),
        Datum::Float(float) => Some(*float),
        Datum::Text(text) => text.trim().parse().ok(),
        Datum::Null => None,
    }
}

/// Money in cents. Sums in binary fractions are exact to far less than half a cent.
pub(super) fn cents(datum: Option<&Datum>) -> Option<i64> {
    number(datum).map(|money| (money * 100.0).round() as i64)
}

pub(super) fn money(cents: i64) -> String {
    let sign = if cents < 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", cents.abs() / 100, cents.abs() % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sums and counts of a new database.
    fn figures() -> Figures {
        let district = District {
            ytd: 3_000_000,
            next_order: 3_001,
            last_order: 3_000,
            orders: 3_000,
            lines_of_orders: 30_123,
            new_orders: 900,
            first_new_order: 2_101,
            last_new_order: 3_000,
            lines: 30_123,
            paid: 3_000_000,
            deliveries: 0,
        };
        Figures { ytd: Some(30_000_000), paid: 30_000_000, districts: [district; DISTRICTS] }
    }

    const HERE: [usize; 7] = [1, 2, 3, 4, 8, 9, 11];

    #[test]
    fn a_new_database_meets_all_conditions() {
        for condition in HERE {
            assert_eq!(figures().broken(condition), Vec::<String>::new(), "3.3.2.{condition}");
        }
    }

    #[test]
    fn a_district_without_new_orders_meets_all_conditions() {
        let mut figures = figures();
        let district = &mut figures.districts[4];
        district.new_orders = 0;
        (district.first_new_order, district.last_new_order) = (0, 0);
        district.deliveries = 900;
        for condition in HERE {
            assert_eq!(figures.broken(condition), Vec::<String>::new(), "3.3.2.{condition}");
        }
    }

    #[test]
    fn broken_conditions_show_their_place() {
        let mut figures = figures();
        let district = &mut figures.districts[2];
        district.ytd += 1;
        district.last_order = 2_999;
        district.first_new_order = 2_100;
        district.lines -= 1;
        district.deliveries = 3;
        let told: Vec<String> =
            HERE.iter().flat_map(|condition| figures.broken(*condition)).collect();
        insta::assert_snapshot!(told.join("\n"), @r"
        W_YTD is 300000.00, the sum of D_YTD 300000.01
        district 3: D_NEXT_O_ID is 3001, but the last O_ID is 2999 and the last NO_O_ID 3000
        district 3: NO_O_ID goes from 2100 to 3000 in 900 rows
        district 3: the sum of O_OL_CNT is 30123, but ORDER-LINE has 30122 rows
        district 3: D_YTD is 30000.01, the sum of H_AMOUNT 30000.00
        district 3: 3000 orders less 900 new ones are not 2100 and 3 deliveries
        ");
    }
}
