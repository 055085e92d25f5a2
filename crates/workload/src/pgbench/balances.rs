//! The sums of the balances, by which lost and half-done transactions are found.

use std::fmt;

use measure::{Condition, ConditionResult, ConditionSubject, Failure};

use super::scripts::Builtin;
use super::settings::Settings;
use crate::WorkloadContext;
use crate::parallel::{as_integer, on_session, unsuitable};

/// The sums over each table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Balances {
    pub(super) accounts: i64,
    pub(super) tellers: i64,
    pub(super) branches: i64,
    /// The sum of the changes in HISTORY. pgbench empties that table before a run, unless it is told not to (`-n`).
    pub(super) history: i64,
}

/// Column and table of each sum, in the order of [`Balances`].
const SUMS: [(&str, &str); 4] = [
    ("abalance", "pgbench_accounts"),
    ("tbalance", "pgbench_tellers"),
    ("bbalance", "pgbench_branches"),
    ("delta", "pgbench_history"),
];

/// Reads the sums. Nothing may change the tables meanwhile.
///
/// # Errors
/// The server's error.
pub(super) fn read(context: &WorkloadContext<'_>) -> Result<Balances, Failure> {
    context.progress.begin("adding up the balances", SUMS.len() as u64);
    let progress = context.progress.clone();
    on_session(context, async move |session| {
        let mut sums = [0; SUMS.len()];
        for (sum, (column, table)) in sums.iter_mut().zip(SUMS) {
            let rows =
                session.rows(&format!("SELECT COALESCE(SUM({column}), 0) FROM {table}")).await?;
            *sum = as_integer(rows.first().and_then(|row| row.first())).ok_or_else(|| {
                unsuitable(format!("the sum of {table}.{column} is no whole number"))
            })?;
            progress.advance(1);
        }
        let [accounts, tellers, branches, history] = sums;
        Ok(Balances { accounts, tellers, branches, history })
    })
}

impl Balances {
    /// Whether all four are equal, as after a load of tpcb-like alone on new tables.
    fn agree(self) -> bool {
        self.accounts == self.tellers
            && self.tellers == self.branches
            && self.branches == self.history
    }

    /// The condition on tables that nobody changes now.
    pub(super) fn at_rest(self) -> Condition {
        let verdict = match self.agree() {
            true => ConditionResult::Holds,
            false => ConditionResult::Unknown(format!(
                "{self}: they differ after simple-update, and when pgbench_history was emptied, as pgbench does before a \
                 run"
            )),
        };
        of("sums", "the sums of abalance, tbalance, bbalance and delta agree", verdict)
    }

    /// The conditions after a load of these scripts that began with the balances `before`: the sums that a script
    /// changes together have changed by the same amount.
    pub(super) fn since(self, before: Self, settings: &Settings) -> Vec<Condition> {
        let accounts = self.accounts - before.accounts;
        let tellers = self.tellers - before.tellers;
        let branches = self.branches - before.branches;
        // Where a statement of the plan has emptied HISTORY before the load, its sum began with 0.
        let history = match self.history - before.history {
            since if since != accounts && self.history == accounts => accounts,
            since => since,
        };
        let mut conditions = vec![
            alike("history", ("abalance", accounts), ("delta", history)),
            alike("branches", ("tbalance", tellers), ("bbalance", branches)),
        ];
        // That script leaves tellers and branches as they are.
        if !settings.runs(Builtin::SimpleUpdate) {
            conditions.push(alike("tellers", ("abalance", accounts), ("tbalance", tellers)));
        }
        conditions
    }
}

impl fmt::Display for Balances {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { accounts, tellers, branches, history } = self;
        write!(f, "abalance {accounts}, tbalance {tellers}, bbalance {branches}, delta {history}")
    }
}

/// The condition that two sums have changed by the same amount.
fn alike(name: &str, (one, by): (&str, i64), (other, other_by): (&str, i64)) -> Condition {
    let verdict = match by == other_by {
        true => ConditionResult::Holds,
        false => ConditionResult::Broken(format!(
            "the sum of {one} has changed by {by}, that of {other} by {other_by}"
        )),
    };
    of(name, &format!("the sums of {one} and {other} change by the same amount"), verdict)
}

fn of(name: &str, meaning: &str, verdict: ConditionResult) -> Condition {
    Condition {
        about: ConditionSubject::Data,
        name: name.to_owned(),
        meaning: meaning.to_owned(),
        verdict,
    }
}

#[cfg(test)]
mod tests {
    use plan::Options;

    use super::*;

    const NEW: Balances = Balances { accounts: 0, tellers: 0, branches: 0, history: 0 };

    fn broken(before: Balances, after: Balances, options: &str) -> Vec<String> {
        let options = Options::parse(options).unwrap();
        let settings = Settings::read(&mut options.reader());
        let conditions = after.since(before, &settings);
        let broken = conditions.iter().filter(|it| it.broken().is_some());
        broken.map(|it| it.name.clone()).collect()
    }

    #[test]
    fn sums_that_change_together_agree() {
        let after = Balances { accounts: 7, tellers: 7, branches: 7, history: 7 };
        assert_eq!(broken(NEW, after, ""), [""; 0]);
        let lost = Balances { branches: 5, ..after };
        assert_eq!(broken(NEW, lost, ""), ["branches"]);
        let half = Balances { tellers: 0, branches: 0, ..after };
        assert_eq!(broken(NEW, half, ""), ["tellers"]);
        assert_eq!(broken(NEW, half, "builtin = 'simple-update'"), [""; 0]);
        assert_eq!(broken(NEW, half, "builtin = 'simple-update@9,tpcb-like@1'"), [""; 0]);
        let unwritten = Balances { history: 2, ..half };
        assert_eq!(broken(NEW, unwritten, "builtin = 'simple'"), ["history"]);
    }

    #[test]
    fn sums_may_differ_before_a_load_and_history_may_be_emptied() {
        let before = Balances { accounts: 100, tellers: 40, branches: 40, history: -3 };
        let after = Balances { accounts: 107, tellers: 47, branches: 47, history: 4 };
        assert_eq!(broken(before, after, ""), [""; 0]);
        assert_eq!(broken(before, Balances { history: 7, ..after }, ""), [""; 0], "emptied");
        assert_eq!(broken(before, Balances { history: 5, ..after }, ""), ["history"]);
        assert!(NEW.at_rest().broken().is_none());
        let ConditionResult::Unknown(told) = before.at_rest().verdict else { panic!() };
        assert!(told.starts_with("abalance 100, tbalance 40, bbalance 40, delta -3: "), "{told}");
    }
}
