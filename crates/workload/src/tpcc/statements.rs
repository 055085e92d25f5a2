//! The statements of the transactions, prepared once for each client.

use driver::{Dialect, ParameterType, Session, Statement};
use measure::{Failure, OperationKind};

use super::inputs::LINES_MAX;

const DISTRICTS: usize = 10;

/// A statement with a fixed number of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Query {
    BuyerAndTax,
    TakeOrderNumber,
    OrderNumberAndTax,
    InsertOrder,
    InsertNewOrder,
    WarehouseAndDistrict,
    CustomersByName,
    Pay,
    Payer,
    InsertHistory,
    AddToDistrict,
    AddToWarehouse,
    StatusByName,
    StatusById,
    LastOrder,
    OrderLines,
    OldestNewOrder,
    DeleteNewOrders,
    OrderCustomers,
    SetCarrier,
    SumAmounts,
    SetDelivered,
    CreditCustomers,
    NextOrderNumber,
    CountLowStocks,
}

/// A statement for a given number of lines of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineQuery {
    Items,
    LockStocks,
    UpdateStocks,
    InsertLines,
}

impl Query {
    const ALL: [Self; 25] = [
        Self::BuyerAndTax,
        Self::TakeOrderNumber,
        Self::OrderNumberAndTax,
        Self::InsertOrder,
        Self::InsertNewOrder,
        Self::WarehouseAndDistrict,
        Self::CustomersByName,
        Self::Pay,
        Self::Payer,
        Self::InsertHistory,
        Self::AddToDistrict,
        Self::AddToWarehouse,
        Self::StatusByName,
        Self::StatusById,
        Self::LastOrder,
        Self::OrderLines,
        Self::OldestNewOrder,
        Self::DeleteNewOrders,
        Self::OrderCustomers,
        Self::SetCarrier,
        Self::SumAmounts,
        Self::SetDelivered,
        Self::CreditCustomers,
        Self::NextOrderNumber,
        Self::CountLowStocks,
    ];

    #[inline]
    pub(super) fn kind(self) -> OperationKind {
        match self {
            Self::BuyerAndTax
            | Self::OrderNumberAndTax
            | Self::WarehouseAndDistrict
            | Self::CustomersByName
            | Self::Payer
            | Self::StatusByName
            | Self::StatusById
            | Self::LastOrder
            | Self::OrderLines
            | Self::OldestNewOrder
            | Self::OrderCustomers
            | Self::SumAmounts
            | Self::NextOrderNumber
            | Self::CountLowStocks => OperationKind::Read,
            _ => OperationKind::Write,
        }
    }

    /// Its SQL, with `?` for parameters.
    pub(super) fn sql(self, dialect: &Dialect) -> String {
        if self == Self::OldestNewOrder {
            return format!(
                "SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? \
                 ORDER BY no_o_id LIMIT 1{}",
                dialect.row_lock
            );
        }
        match self.kind() {
            OperationKind::Read => self.reading().map(str::to_owned),
            _ => self.writing(dialect),
        }
        .unwrap_or_else(|| self.of_all_districts(dialect))
    }

    /// Statements that read rows of one district or customer; `None` for those about all districts.
    fn reading(self) -> Option<&'static str> {
        Some(match self {
            Self::BuyerAndTax => {
                "SELECT c_discount, c_last, c_credit, w_tax FROM customer, warehouse \
                 WHERE w_id = ? AND c_w_id = w_id AND c_d_id = ? AND c_id = ?"
            }
            Self::OrderNumberAndTax => {
                "SELECT d_next_o_id - 1, d_tax FROM district WHERE d_w_id = ? AND d_id = ?"
            }
            Self::WarehouseAndDistrict => {
                "SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip, \
                 d_name, d_street_1, d_street_2, d_city, d_state, d_zip \
                 FROM warehouse, district WHERE w_id = ? AND d_w_id = w_id AND d_id = ?"
            }
            Self::CustomersByName => {
                "SELECT c_id FROM customer \
                 WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first"
            }
            Self::Payer => {
                "SELECT c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, \
                 c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance, \
                 CASE WHEN c_credit = 'BC' THEN SUBSTR(c_data, 1, 200) END \
                 FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"
            }
            Self::StatusByName => {
                "SELECT c_id, c_first, c_middle, c_last, c_balance FROM customer \
                 WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first"
            }
            Self::StatusById => {
                "SELECT c_id, c_first, c_middle, c_last, c_balance FROM customer \
                 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"
            }
            Self::LastOrder => {
                "SELECT o_id, o_entry_d, o_carrier_id FROM orders \
                 WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? ORDER BY o_id DESC LIMIT 1"
            }
            Self::OrderLines => {
                "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d \
                 FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?"
            }
            Self::NextOrderNumber => {
                "SELECT d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ?"
            }
            Self::CountLowStocks => {
                "SELECT COUNT(DISTINCT s_i_id) FROM order_line, stock \
                 WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id >= ? AND ol_o_id < ? \
                 AND s_w_id = ? AND s_i_id = ol_i_id AND s_quantity < ?"
            }
            _ => return None,
        })
    }

    /// Statements that write rows of one district or customer; `None` for those about all districts.
    fn writing(self, dialect: &Dialect) -> Option<String> {
        let text = match self {
            Self::TakeOrderNumber => {
                "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = ? AND d_id = ?"
            }
            Self::InsertOrder => {
                "INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) \
                 VALUES (?, ?, ?, ?, CURRENT_TIMESTAMP, ?, ?)"
            }
            Self::InsertNewOrder => {
                "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (?, ?, ?)"
            }
            Self::Pay => {
                let paid = dialect.parameter(ParameterType::Text);
                return Some(format!(
                    "UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, \
                 c_payment_cnt = c_payment_cnt + 1, \
                 c_data = CASE WHEN c_credit = 'BC' THEN SUBSTR(CONCAT({paid}, c_data), 1, 500) \
                 ELSE c_data END \
                 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"
                ));
            }
            Self::InsertHistory => {
                "INSERT INTO history \
                 (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) \
                 VALUES (?, ?, ?, ?, ?, CURRENT_TIMESTAMP, ?, ?)"
            }
            Self::AddToDistrict => {
                "UPDATE district SET d_ytd = d_ytd + ? WHERE d_w_id = ? AND d_id = ?"
            }
            Self::AddToWarehouse => "UPDATE warehouse SET w_ytd = w_ytd + ? WHERE w_id = ?",
            _ => return None,
        };
        Some(text.to_owned())
    }

    /// Delivery's statements about one order, or one customer, of each district (clause 2.7.4.2). Each district has a
    /// term of its own: every system turns such terms into look-ups by the primary key, but not every system does so
    /// for lists of tuples. Where an order does not exist, its number is 0, which matches nothing.
    fn of_all_districts(self, dialect: &Dialect) -> String {
        let each = |district: &str, id: &str| {
            let terms: Vec<String> = (1..=DISTRICTS)
                .map(|number| format!("({district} = {number} AND {id} = ?)"))
                .collect();
            format!("({})", terms.join(" OR "))
        };
        let orders = each("o_d_id", "o_id");
        let lines = each("ol_d_id", "ol_o_id");
        match self {
            Self::DeleteNewOrders => {
                format!(
                    "DELETE FROM new_order WHERE no_w_id = ? AND {}",
                    each("no_d_id", "no_o_id")
                )
            }
            Self::OrderCustomers => {
                format!("SELECT o_d_id, o_c_id FROM orders WHERE o_w_id = ? AND {orders}")
            }
            Self::SetCarrier => {
                format!("UPDATE orders SET o_carrier_id = ? WHERE o_w_id = ? AND {orders}")
            }
            Self::SumAmounts => format!(
                "SELECT ol_d_id, SUM(ol_amount) FROM order_line WHERE ol_w_id = ? AND {lines} \
                 GROUP BY ol_d_id"
            ),
            Self::SetDelivered => format!(
                "UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP \
                 WHERE ol_w_id = ? AND {lines}"
            ),
            _credit_customers => {
                let amount = dialect.parameter(ParameterType::Decimal);
                let whens: String =
                    (1..=DISTRICTS).map(|number| format!(" WHEN {number} THEN {amount}")).collect();
                format!(
                    "UPDATE customer SET c_balance = c_balance + CASE c_d_id{whens} ELSE 0 END, \
                     c_delivery_cnt = c_delivery_cnt + 1 WHERE c_w_id = ? AND {}",
                    each("c_d_id", "c_id")
                )
            }
        }
    }
}

impl LineQuery {
    const ALL: [Self; 4] = [Self::Items, Self::LockStocks, Self::UpdateStocks, Self::InsertLines];

    #[inline]
    pub(super) fn kind(self) -> OperationKind {
        match self {
            Self::Items | Self::LockStocks => OperationKind::Read,
            Self::UpdateStocks | Self::InsertLines => OperationKind::Write,
        }
    }

    /// Whether this number of lines can occur: only the number of items is never below five.
    fn takes(self, lines: usize) -> bool {
        match self {
            Self::Items => lines >= 5,
            Self::InsertLines => lines >= 4,
            Self::LockStocks | Self::UpdateStocks => lines >= 1,
        }
    }

    /// Its SQL, with `?` for parameters.
    pub(super) fn sql(self, lines: usize, dialect: &Dialect) -> String {
        let (row_lock, number) = (dialect.row_lock, dialect.parameter(ParameterType::Integer));
        let marks = vec!["?"; lines].join(", ");
        match self {
            Self::Items => {
                format!("SELECT i_id, i_price, i_name, i_data FROM item WHERE i_id IN ({marks})")
            }
            Self::LockStocks => {
                // S_DIST_xx of the order's district only.
                let dist: String = (1..=9)
                    .map(|district| format!(" WHEN {district} THEN s_dist_0{district}"))
                    .collect();
                format!(
                    "SELECT s_i_id, s_quantity, s_data, CASE {number}{dist} ELSE s_dist_10 END \
                     FROM stock WHERE s_w_id = ? AND s_i_id IN ({marks}){row_lock}"
                )
            }
            Self::UpdateStocks => {
                let whens = format!(" WHEN ? THEN {number}").repeat(lines);
                format!(
                    "UPDATE stock SET s_quantity = CASE s_i_id{whens} END, \
                     s_ytd = s_ytd + CASE s_i_id{whens} END, s_order_cnt = s_order_cnt + 1, \
                     s_remote_cnt = s_remote_cnt + ? WHERE s_w_id = ? AND s_i_id IN ({marks})"
                )
            }
            Self::InsertLines => {
                let row = "(?, ?, ?, ?, ?, ?, ?, ?, ?)";
                format!(
                    "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, \
                     ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info) VALUES {}",
                    vec![row; lines].join(", ")
                )
            }
        }
    }
}

pub(super) struct Statements {
    fixed: Vec<Statement>,
    /// For each [`LineQuery`] and number of lines from 1; entries that are never used hold a statement of `fixed`.
    by_lines: Vec<Statement>,
}

impl Statements {
    /// The number of statements that a client prepares on the server.
    pub(super) fn count() -> usize {
        let by_lines = LineQuery::ALL
            .iter()
            .map(|query| (1..=LINES_MAX).filter(|lines| query.takes(*lines)).count());
        Query::ALL.len() + by_lines.sum::<usize>()
    }

    /// Prepares all of them.
    ///
    /// # Errors
    /// The server's error.
    pub(super) async fn prepare(session: &mut Session, dialect: &Dialect) -> Result<Self, Failure> {
        let mut texts: Vec<String> = Query::ALL.iter().map(|query| query.sql(dialect)).collect();
        for query in LineQuery::ALL {
            let taken = (1..=LINES_MAX).filter(|lines| query.takes(*lines));
            texts.extend(taken.map(|lines| query.sql(lines, dialect)));
        }
        let mut fixed = session.prepare_all(&texts).await?;
        let mut of_lines = fixed.split_off(Query::ALL.len()).into_iter();
        let mut by_lines = Vec::with_capacity(LineQuery::ALL.len() * LINES_MAX);
        for query in LineQuery::ALL {
            by_lines.extend((1..=LINES_MAX).map(|lines| {
                let own = query.takes(lines).then(|| of_lines.next()).flatten();
                own.unwrap_or_else(|| fixed[0].clone())
            }));
        }
        Ok(Self { fixed, by_lines })
    }

    #[inline]
    pub(super) fn of(&self, query: Query) -> &Statement {
        &self.fixed[query as usize]
    }

    #[inline]
    pub(super) fn of_lines(&self, query: LineQuery, lines: usize) -> &Statement {
        &self.by_lines[query as usize * LINES_MAX + lines - 1]
    }
}

#[cfg(test)]
mod tests {
    use driver::{mysql, sqlite};

    use super::*;

    #[test]
    fn parameters_have_types_where_a_system_asks_for_them() {
        let typed = Dialect { typed_parameter: "CAST(? AS {type})", ..mysql::DIALECT };
        let casts = |sql: String| sql.matches("CAST(? AS ").count();
        assert!(Query::Pay.sql(&typed).contains("CONCAT(CAST(? AS VARCHAR), c_data)"));
        assert!(
            Query::CreditCustomers.sql(&typed).contains("WHEN 1 THEN CAST(? AS DECIMAL(15,2))")
        );
        assert!(LineQuery::LockStocks.sql(5, &typed).contains("CASE CAST(? AS INTEGER) WHEN 1"));
        assert_eq!(casts(LineQuery::UpdateStocks.sql(5, &typed)), 10);
        assert_eq!(casts(LineQuery::UpdateStocks.sql(5, &mysql::DIALECT)), 0);
    }

    #[test]
    fn statements_have_a_mark_for_each_value() {
        let marks = |query: Query| query.sql(&mysql::DIALECT).matches('?').count();
        assert_eq!(marks(Query::DeleteNewOrders), 11);
        assert_eq!(marks(Query::CreditCustomers), 21);
        assert_eq!(marks(Query::SetCarrier), 12);
        let marks = |query: LineQuery| query.sql(15, &mysql::DIALECT).matches('?').count();
        assert_eq!(marks(LineQuery::LockStocks), 17);
        assert_eq!(marks(LineQuery::UpdateStocks), 77);
        assert_eq!(marks(LineQuery::InsertLines), 135);
        for (place, query) in Query::ALL.iter().enumerate() {
            assert_eq!(*query as usize, place);
        }
    }

    #[test]
    fn rows_are_locked_where_systems_lock_rows() {
        assert!(Query::OldestNewOrder.sql(&mysql::DIALECT).ends_with("LIMIT 1 FOR UPDATE"));
        assert!(LineQuery::LockStocks.sql(2, &mysql::DIALECT).ends_with("IN (?, ?) FOR UPDATE"));
        assert!(!LineQuery::LockStocks.sql(2, &sqlite::DIALECT).contains("FOR UPDATE"));
    }
}
