//! The built-in scripts of pgbench, as `pgbench --show-script` prints them.

/// A built-in script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Builtin {
    TpcbLike,
    SimpleUpdate,
    SelectOnly,
}

impl Builtin {
    pub(super) const ALL: [Self; 3] = [Self::TpcbLike, Self::SimpleUpdate, Self::SelectOnly];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::TpcbLike => "tpcb-like",
            Self::SimpleUpdate => "simple-update",
            Self::SelectOnly => "select-only",
        }
    }

    /// The script with this name, or with the only name that begins so, as pgbench finds it.
    pub(super) fn of(name: &str) -> Option<Self> {
        let mut named = Self::ALL.into_iter().filter(|it| it.name().starts_with(name));
        let first = named.next().filter(|_| !name.is_empty())?;
        named.next().is_none().then_some(first)
    }

    /// Its text. `:scale` is the option `scale`.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::TpcbLike => {
                "\\set aid random(1, 100000 * :scale)\n\
                 \\set bid random(1, 1 * :scale)\n\
                 \\set tid random(1, 10 * :scale)\n\
                 \\set delta random(-5000, 5000)\n\
                 BEGIN;\n\
                 UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;\n\
                 SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n\
                 UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;\n\
                 UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;\n\
                 INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) \
                 VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);\n\
                 END;\n"
            }
            Self::SimpleUpdate => {
                "\\set aid random(1, 100000 * :scale)\n\
                 \\set bid random(1, 1 * :scale)\n\
                 \\set tid random(1, 10 * :scale)\n\
                 \\set delta random(-5000, 5000)\n\
                 BEGIN;\n\
                 UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;\n\
                 SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n\
                 INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) \
                 VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);\n\
                 END;\n"
            }
            Self::SelectOnly => {
                "\\set aid random(1, 100000 * :scale)\n\
                 SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n"
            }
        }
    }
}
