//! The steps of one event of each script.

use super::query::Query;
use super::settings::Settings;

/// A script of the sysbench set that uses sysbench's OLTP tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Script {
    PointSelect,
    ReadOnly,
    ReadWrite,
    WriteOnly,
    UpdateIndex,
    UpdateNonIndex,
    Insert,
    Delete,
    RandomPoints,
    RandomRanges,
}

/// One part of an event. Its table is drawn once for all repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScriptStep {
    /// A read or an update, repeated with a new id each time.
    Repeat {
        query: Query,
        times: u64,
    },
    /// Deletes a row and inserts it again with other values, repeated.
    DeleteInsert {
        times: u64,
    },
    Delete,
    Insert,
}

/// How the tables' row counts may differ after a script has run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowCount {
    Exactly,
    AtLeast,
    AtMost,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TransactionFrame {
    /// Every statement is a transaction of its own.
    None,
    /// An explicit transaction that only reads.
    Reading,
    Writing,
}

impl Script {
    pub(crate) const ALL: [Self; 10] = [
        Self::PointSelect,
        Self::ReadOnly,
        Self::ReadWrite,
        Self::WriteOnly,
        Self::UpdateIndex,
        Self::UpdateNonIndex,
        Self::Insert,
        Self::Delete,
        Self::RandomPoints,
        Self::RandomRanges,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::PointSelect => "oltp_point_select",
            Self::ReadOnly => "oltp_read_only",
            Self::ReadWrite => "oltp_read_write",
            Self::WriteOnly => "oltp_write_only",
            Self::UpdateIndex => "oltp_update_index",
            Self::UpdateNonIndex => "oltp_update_non_index",
            Self::Insert => "oltp_insert",
            Self::Delete => "oltp_delete",
            Self::RandomPoints => "select_random_points",
            Self::RandomRanges => "select_random_ranges",
        }
    }

    pub(crate) fn summary(self) -> &'static str {
        match self {
            Self::PointSelect => "reads one row by its key",
            Self::ReadOnly => "transactions of 10 point selects and 4 range reads",
            Self::ReadWrite => "transactions of 14 reads, 2 updates, a delete and an insert",
            Self::WriteOnly => "transactions of 2 updates, a delete and an insert",
            Self::UpdateIndex => "updates an indexed column of one row",
            Self::UpdateNonIndex => "updates a column without an index of one row",
            Self::Insert => "inserts one row",
            Self::Delete => "deletes one row",
            Self::RandomPoints => "reads rows by 10 values of an indexed column",
            Self::RandomRanges => "counts rows in 10 ranges of an indexed column",
        }
    }

    /// Whether prepare leaves the tables empty, because clients generate all ids.
    pub(super) fn starts_empty(self, settings: &Settings) -> bool {
        self == Self::Insert && !settings.auto_inc
    }

    pub(super) fn row_count(self) -> RowCount {
        match self {
            Self::Insert => RowCount::AtLeast,
            Self::Delete => RowCount::AtMost,
            _ => RowCount::Exactly,
        }
    }

    pub(super) fn bracket(self, settings: &Settings) -> TransactionFrame {
        match self {
            _ if settings.skip_trx => TransactionFrame::None,
            Self::ReadOnly => TransactionFrame::Reading,
            Self::ReadWrite | Self::WriteOnly => TransactionFrame::Writing,
            _ => TransactionFrame::None,
        }
    }

    /// The steps of one event, in order, between BEGIN and COMMIT if the script has them; empty for the scripts with
    /// a loop of their own.
    pub(super) fn steps(self, settings: &Settings) -> Vec<ScriptStep> {
        let repeat = |query, times| ScriptStep::Repeat { query, times };
        let mut steps = Vec::new();
        if matches!(self, Self::ReadOnly | Self::ReadWrite) {
            steps.push(repeat(Query::PointSelect, settings.point_selects));
            if settings.range_selects {
                steps.push(repeat(Query::SimpleRange, settings.simple_ranges));
                steps.push(repeat(Query::SumRange, settings.sum_ranges));
                steps.push(repeat(Query::OrderRange, settings.order_ranges));
                steps.push(repeat(Query::DistinctRange, settings.distinct_ranges));
            }
        }
        if matches!(self, Self::ReadWrite | Self::WriteOnly) {
            steps.push(repeat(Query::IndexUpdate, settings.index_updates));
            steps.push(repeat(Query::NonIndexUpdate, settings.non_index_updates));
            steps.push(ScriptStep::DeleteInsert { times: settings.delete_inserts });
        }
        match self {
            Self::PointSelect => steps.push(repeat(Query::PointSelect, 1)),
            Self::UpdateIndex => steps.push(repeat(Query::IndexUpdate, settings.index_updates)),
            Self::UpdateNonIndex => {
                steps.push(repeat(Query::NonIndexUpdate, settings.non_index_updates));
            }
            Self::Insert => steps.push(ScriptStep::Insert),
            Self::Delete => steps.push(ScriptStep::Delete),
            _ => {}
        }
        steps
    }
}

impl ScriptStep {
    /// The statements that it sends, in order.
    #[inline]
    pub(super) fn queries(&self) -> &[Query] {
        match self {
            Self::Repeat { query, .. } => std::slice::from_ref(query),
            Self::DeleteInsert { .. } => &[Query::Delete, Query::Insert],
            Self::Delete => &[Query::Delete],
            Self::Insert => &[Query::Insert],
        }
    }

    #[inline]
    pub(super) fn times(self) -> u64 {
        match self {
            Self::Repeat { times, .. } | Self::DeleteInsert { times } => times,
            Self::Delete | Self::Insert => 1,
        }
    }

    pub(super) fn statements(self) -> u64 {
        self.times() * self.queries().len() as u64
    }
}
