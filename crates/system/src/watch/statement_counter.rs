//! How a kind of server counts the statements of its clients.

/// How the servers of one role count what clients sent them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StatementCounter {
    pub(crate) role: &'static str,
    pub(crate) name: &'static str,
    /// Its label for kinds of statements; none where all are of one kind.
    pub(crate) label: &'static str,
    pub(crate) reads: &'static [&'static str],
    /// The kinds that write rows.
    pub(crate) writes: &'static [&'static str],
    /// Kinds that are counted though no client sent them.
    pub(crate) ignored: &'static [&'static str],
    /// Counters without kinds that are recorded beside it.
    pub(crate) beside: &'static [&'static str],
}

impl StatementCounter {
    /// A counter without kinds.
    pub(crate) const fn plain(role: &'static str, name: &'static str) -> Self {
        Self { role, name, label: "", reads: &[], writes: &[], ignored: &[], beside: &[] }
    }
}
