//! The statements of the scripts.

use measure::OperationKind;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Query {
    PointSelect,
    SimpleRange,
    SumRange,
    OrderRange,
    DistinctRange,
    IndexUpdate,
    NonIndexUpdate,
    Delete,
    Insert,
}

impl Query {
    pub(super) const COUNT: usize = Self::Insert as usize + 1;

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::PointSelect => "point_select",
            Self::SimpleRange => "simple_range",
            Self::SumRange => "sum_range",
            Self::OrderRange => "order_range",
            Self::DistinctRange => "distinct_range",
            Self::IndexUpdate => "index_update",
            Self::NonIndexUpdate => "non_index_update",
            Self::Delete => "delete",
            Self::Insert => "insert",
        }
    }

    pub(super) fn kind(self) -> OperationKind {
        match self {
            Self::PointSelect
            | Self::SimpleRange
            | Self::SumRange
            | Self::OrderRange
            | Self::DistinctRange => OperationKind::Read,
            Self::IndexUpdate | Self::NonIndexUpdate | Self::Delete | Self::Insert => {
                OperationKind::Write
            }
        }
    }

    /// Its SQL for table `sbtest{table}`, with `?` for parameters.
    pub(super) fn sql(self, table: u64) -> String {
        let range = format!("FROM sbtest{table} WHERE id BETWEEN ? AND ?");
        match self {
            Self::PointSelect => format!("SELECT c FROM sbtest{table} WHERE id=?"),
            Self::SimpleRange => format!("SELECT c {range}"),
            Self::SumRange => format!("SELECT SUM(k) {range}"),
            Self::OrderRange => format!("SELECT c {range} ORDER BY c"),
            Self::DistinctRange => format!("SELECT DISTINCT c {range} ORDER BY c"),
            Self::IndexUpdate => format!("UPDATE sbtest{table} SET k=k+1 WHERE id=?"),
            Self::NonIndexUpdate => format!("UPDATE sbtest{table} SET c=? WHERE id=?"),
            Self::Delete => format!("DELETE FROM sbtest{table} WHERE id=?"),
            Self::Insert => {
                format!("INSERT INTO sbtest{table} (id, k, c, pad) VALUES (?, ?, ?, ?)")
            }
        }
    }
}
