//! The twelve consistency conditions of clause 3.3.2. Each warehouse has statements of its own that use its keys;
//! several warehouses and conditions are checked in parallel.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use driver::{Datum, Session};
use measure::{Condition, ConditionResult, ConditionSubject, Failure};

use super::figures::{self, money};
use super::settings::Settings;
use crate::WorkloadContext;
use crate::created::CreatedDatabases;
use crate::parallel::{as_integer, parallel_for, unsuitable, workers};

/// The meaning of each condition, for each warehouse, district, order or customer.
const MEANINGS: [&str; 12] = [
    "W_YTD = sum(D_YTD)",
    "D_NEXT_O_ID - 1 = max(O_ID) = max(NO_O_ID)",
    "max(NO_O_ID) - min(NO_O_ID) + 1 = rows of NEW-ORDER",
    "sum(O_OL_CNT) = rows of ORDER-LINE",
    "O_CARRIER_ID is null exactly for orders in NEW-ORDER",
    "O_OL_CNT = rows of ORDER-LINE of the order",
    "OL_DELIVERY_D is null exactly where O_CARRIER_ID is",
    "W_YTD = sum(H_AMOUNT)",
    "D_YTD = sum(H_AMOUNT)",
    "C_BALANCE = sum(OL_AMOUNT) of delivered lines - sum(H_AMOUNT)",
    "rows of ORDER - rows of NEW-ORDER = 2100 + sum(C_DELIVERY_CNT)",
    "C_BALANCE + C_YTD_PAYMENT = sum(OL_AMOUNT) of delivered lines",
];

/// How many broken places are reported for each condition.
const PLACES_MAX: usize = 3;

/// The conditions that one session checks for a warehouse.
#[derive(Clone, Copy, Debug)]
enum CheckQuery {
    /// Conditions 1 to 4, 8, 9 and 11.
    Figures,
    /// Condition 5.
    NewOrders,
    /// Conditions 6 and 7.
    Lines,
    /// Conditions 10 and 12.
    Balances,
}

/// The longest first, so that all sessions end at about the same time.
const CHECK_QUERIES: [CheckQuery; 4] =
    [CheckQuery::Balances, CheckQuery::Lines, CheckQuery::Figures, CheckQuery::NewOrders];

/// Broken places of each condition: their number, and the first few as text.
#[derive(Debug, Default)]
struct BrokenPlaces(BTreeMap<usize, (u64, Vec<String>)>);

impl BrokenPlaces {
    fn add(&mut self, condition: usize, warehouse: u64, what: &str) {
        let (count, told) = self.0.entry(condition).or_default();
        *count += 1;
        if told.len() < PLACES_MAX {
            told.push(format!("warehouse {warehouse}, {what}"));
        }
    }

    fn verdict(&self, condition: usize) -> ConditionResult {
        match self.0.get(&condition) {
            None => ConditionResult::Holds,
            Some((count, told)) if *count as usize > told.len() => {
                let more = *count - told.len() as u64;
                ConditionResult::Broken(format!("{}; {more} more found", told.join("; ")))
            }
            Some((_, told)) => ConditionResult::Broken(told.join("; ")),
        }
    }
}

/// Checks all twelve conditions, and reports those that cannot be checked.
pub(super) fn check(
    context: &WorkloadContext<'_>,
    settings: &Settings,
    created: &CreatedDatabases,
) -> Result<Vec<Condition>, Failure> {
    let jobs = settings.warehouses * CHECK_QUERIES.len() as u64;
    context.progress.begin("checking consistency", jobs);
    let broken = Arc::new(Mutex::new(BrokenPlaces::default()));
    let (found, progress) = (Arc::clone(&broken), context.progress.clone());
    parallel_for(context, workers(context), jobs, move |session, job| {
        let (found, progress) = (Arc::clone(&found), progress.clone());
        Box::pin(async move {
            let (warehouse, check_query) = (
                job / CHECK_QUERIES.len() as u64 + 1,
                CHECK_QUERIES[job as usize % CHECK_QUERIES.len()],
            );
            for (condition, what) in check_query.run(session, warehouse).await? {
                let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                found.add(condition, warehouse, &what);
            }
            progress.advance(1);
            Ok(())
        })
    })?;
    let broken = broken.lock().unwrap_or_else(PoisonError::into_inner);
    let mut conditions: Vec<Condition> = MEANINGS
        .iter()
        .zip(1..)
        .map(|(meaning, number)| Condition {
            about: ConditionSubject::Data,
            name: format!("3.3.2.{number}"),
            meaning: (*meaning).to_owned(),
            verdict: broken.verdict(number),
        })
        .collect();
    conditions.push(constant(context, created));
    Ok(conditions)
}

/// Clause 2.1.6.1 relates the last-name constants of the load and of the run.
fn constant(context: &WorkloadContext<'_>, created: &CreatedDatabases) -> Condition {
    let verdict = match created.freshness_of(context.target) {
        Some(_) => ConditionResult::Holds,
        None => ConditionResult::Unknown(
            "the data was not loaded by this run, so its constant is not known".to_owned(),
        ),
    };
    Condition {
        about: ConditionSubject::Data,
        name: "2.1.6.1".to_owned(),
        meaning:
            "the NURand constants for C_LAST of load and run differ by 65 to 119, not 96, not 112"
                .to_owned(),
        verdict,
    }
}

/// Refuses data that breaks a condition.
///
/// # Errors
/// The broken conditions, and where they are broken.
pub(super) fn demand(conditions: &[Condition]) -> Result<(), Failure> {
    let broken: Vec<String> = conditions
        .iter()
        .filter_map(|it| Some(format!("{} ({}): {}", it.name, it.meaning, it.broken()?)))
        .collect();
    if broken.is_empty() {
        return Ok(());
    }
    Err(unsuitable(format!(
        "the data is not consistent: condition {}; recreate it with `--existing replace`, or \
         leave the conditions unchecked with check = false",
        broken.join("; condition ")
    )))
}

impl CheckQuery {
    /// Broken conditions with their places within the warehouse.
    async fn run(
        self,
        session: &mut Session,
        warehouse: u64,
    ) -> Result<Vec<(usize, String)>, Failure> {
        match self {
            Self::Figures => {
                let figures = figures::read(session, warehouse).await?;
                let all = [1, 2, 3, 4, 8, 9, 11].into_iter();
                let broken = all.flat_map(|condition| {
                    figures.broken(condition).into_iter().map(move |what| (condition, what))
                });
                Ok(broken.collect())
            }
            Self::NewOrders => new_orders(session, warehouse).await,
            Self::Lines => lines(session, warehouse).await,
            Self::Balances => balances(session, warehouse).await,
        }
    }
}

/// At most this number of broken rows of a warehouse is read.
const ROWS_MAX: usize = 1_000;

/// Condition 5, in both directions.
async fn new_orders(
    session: &mut Session,
    warehouse: u64,
) -> Result<Vec<(usize, String)>, Failure> {
    let sql = format!(
        "SELECT o_d_id, o_id, CASE WHEN o_carrier_id IS NULL THEN 1 ELSE 0 END \
         FROM orders LEFT JOIN new_order \
         ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id \
         WHERE o_w_id = {warehouse} AND ((o_carrier_id IS NULL AND no_o_id IS NULL) \
         OR (o_carrier_id IS NOT NULL AND no_o_id IS NOT NULL)) LIMIT {ROWS_MAX}"
    );
    let rows = session.rows(&sql).await?;
    let mut broken: Vec<(usize, String)> = rows
        .iter()
        .map(|row| {
            let what = if as_integer(row.get(2)) == Some(1) {
                "has no carrier, but is not in NEW-ORDER"
            } else {
                "has a carrier, but is in NEW-ORDER"
            };
            (5, format!("{} {what}", order(row)))
        })
        .collect();
    let sql = format!(
        "SELECT no_d_id, no_o_id FROM new_order LEFT JOIN orders \
         ON o_w_id = no_w_id AND o_d_id = no_d_id AND o_id = no_o_id \
         WHERE no_w_id = {warehouse} AND o_id IS NULL LIMIT {ROWS_MAX}"
    );
    let rows = session.rows(&sql).await?;
    broken.extend(rows.iter().map(|row| (5, format!("{} is in NEW-ORDER alone", order(row)))));
    Ok(broken)
}

fn order(row: &[Datum]) -> String {
    let number = |column| as_integer(row.get(column)).unwrap_or_default();
    format!("district {}: order {}", number(0), number(1))
}

/// Conditions 6 and 7: one pass over the lines, counted by order.
async fn lines(session: &mut Session, warehouse: u64) -> Result<Vec<(usize, String)>, Failure> {
    let sql = format!(
        "SELECT o_d_id, o_id, o_ol_cnt, COALESCE(line_count, 0), COALESCE(open_count, 0), \
         CASE WHEN o_carrier_id IS NULL THEN 1 ELSE 0 END \
         FROM orders LEFT JOIN (SELECT ol_d_id, ol_o_id, COUNT(*) AS line_count, \
         COUNT(*) - COUNT(ol_delivery_d) AS open_count FROM order_line \
         WHERE ol_w_id = {warehouse} GROUP BY ol_d_id, ol_o_id) AS counted \
         ON ol_d_id = o_d_id AND ol_o_id = o_id \
         WHERE o_w_id = {warehouse} AND (o_ol_cnt IS NULL OR o_ol_cnt <> COALESCE(line_count, 0) \
         OR COALESCE(open_count, 0) <> \
         CASE WHEN o_carrier_id IS NULL THEN COALESCE(line_count, 0) ELSE 0 END) LIMIT {ROWS_MAX}"
    );
    let rows = session.rows(&sql).await?;
    let mut broken = Vec::new();
    for row in &rows {
        let number = |column| as_integer(row.get(column)).unwrap_or_default();
        let (count, open, is_new) = (number(3), number(4), number(5) == 1);
        let wanted = as_integer(row.get(2));
        if wanted != Some(count) {
            let wanted = wanted.map_or_else(null, |wanted| wanted.to_string());
            broken.push((6, format!("{} has O_OL_CNT {wanted} and {count} lines", order(row))));
        }
        if open != if is_new { count } else { 0 } {
            let carrier = if is_new { "no carrier" } else { "a carrier" };
            let what = format!("{} has {carrier}, and {open} of {count} lines open", order(row));
            broken.push((7, what));
        }
    }
    Ok(broken)
}

/// NULL where a number is required breaks a condition, but no comparison with NULL is true in SQL.
fn null() -> String {
    "NULL".to_owned()
}

/// Conditions 10 and 12: one pass over the lines, summed by customer, and one over the payments.
async fn balances(session: &mut Session, warehouse: u64) -> Result<Vec<(usize, String)>, Failure> {
    let sql = format!(
        "SELECT c_d_id, c_id, c_balance, c_ytd_payment, COALESCE(delivered, 0), COALESCE(paid, 0) \
         FROM customer LEFT JOIN (SELECT o_d_id, o_c_id, SUM(ol_amount) AS delivered \
         FROM orders, order_line WHERE o_w_id = {warehouse} AND ol_w_id = {warehouse} \
         AND ol_d_id = o_d_id AND ol_o_id = o_id AND ol_delivery_d IS NOT NULL \
         GROUP BY o_d_id, o_c_id) AS bought ON o_d_id = c_d_id AND o_c_id = c_id \
         LEFT JOIN (SELECT h_c_d_id, h_c_id, SUM(h_amount) AS paid FROM history \
         WHERE h_c_w_id = {warehouse} GROUP BY h_c_d_id, h_c_id) AS payments \
         ON h_c_d_id = c_d_id AND h_c_id = c_id \
         WHERE c_w_id = {warehouse} AND (c_balance IS NULL OR c_ytd_payment IS NULL OR \
         ABS(c_balance - COALESCE(delivered, 0) + COALESCE(paid, 0)) > 0.005 \
         OR ABS(c_balance + c_ytd_payment - COALESCE(delivered, 0)) > 0.005) LIMIT {ROWS_MAX}"
    );
    let rows = session.rows(&sql).await?;
    let mut broken = Vec::new();
    for row in &rows {
        let id = |column| as_integer(row.get(column)).unwrap_or_default();
        let cents = |column| figures::cents(row.get(column));
        let sum = |column| cents(column).unwrap_or_default();
        let shown = |cents: Option<i64>| cents.map_or_else(null, money);
        let who = format!("district {}: customer {}", id(0), id(1));
        let (balance, ytd, delivered, paid) = (cents(2), cents(3), sum(4), sum(5));
        if balance != Some(delivered - paid) {
            broken.push((
                10,
                format!(
                    "{who} has C_BALANCE {}, not {} - {}",
                    shown(balance),
                    money(delivered),
                    money(paid)
                ),
            ));
        }
        if balance.zip(ytd).map(|(balance, ytd)| balance + ytd) != Some(delivered) {
            broken.push((
                12,
                format!(
                    "{who} has C_BALANCE {} and C_YTD_PAYMENT {}, together not {}",
                    shown(balance),
                    shown(ytd),
                    money(delivered)
                ),
            ));
        }
    }
    Ok(broken)
}
