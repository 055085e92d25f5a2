//! The soak test's plan, and when a disturbance may start.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow};
use plan::{Plan, Source};

/// Each of four cycles does all work once, so that the quarters of a run do the same work and can be compared.
const CYCLES: usize = 4;
/// The time of a trial in addition to its load: connecting, the server's counters, writing.
const BETWEEN_TRIALS: Duration = Duration::from_millis(1_200);
/// The approximate length of a trial.
const TRIAL: Duration = Duration::from_secs(28);
const WARM_UP: Duration = Duration::from_secs(1);
/// Shorter trials would either rarely be disturbed or rarely be undisturbed.
const TIME_MIN: Duration = Duration::from_secs(5);
/// The longest disturbance, including the start of the server.
const DISTURBANCE_MAX: Duration = Duration::from_secs(12);
/// dyno's time-out for a statement: less than the shortest of the long pauses.
pub(super) const QUERY_TIMEOUT: Duration = Duration::from_millis(900);
/// The error of a read-only server for a write: the transaction is abandoned, the client continues.
pub(super) const READ_ONLY_CODE: &str = "1290";

/// How load is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loop {
    Closed,
    Open,
}

impl Loop {
    pub(super) const ALL: [Self; 2] = [Self::Closed, Self::Open];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
        }
    }
}

/// Workloads: a name, a kind and more options.
const WORKLOADS: [(&str, &str, &str); 4] = [
    ("read_write", "sysbench/oltp_read_write", "point_selects = 2\nrange_selects = false\n"),
    ("point_select", "sysbench/oltp_point_select", ""),
    ("bank", "bank.sql", ""),
    ("read_only", "sysbench/oltp_read_only", "point_selects = 3\n"),
];

/// A workload of SQL files: several statements and single ones.
const BANK: &str = "\\set accounts 1000
\\prepare
CREATE TABLE account (id INTEGER NOT NULL PRIMARY KEY, balance BIGINT NOT NULL);
INSERT INTO account
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :accounts)
  SELECT i, 1000 FROM n;
\\verify
SELECT SUM(balance) = 1000 * :accounts FROM account;
\\cleanup
DROP TABLE IF EXISTS account;
\\transaction pay 2
\\set payer random(1, :accounts)
\\set payee random(1, :accounts)
BEGIN;
UPDATE account SET balance = balance - 1 WHERE id = :payer;
UPDATE account SET balance = balance + 1 WHERE id = :payee;
COMMIT;
\\transaction look 1
\\set id random(1, :accounts)
SELECT balance FROM account WHERE id = :id;
";

/// A plan in its own folder.
#[derive(Debug)]
pub(super) struct SoakPlan {
    pub path: PathBuf,
    pub plan: Plan,
}

impl SoakPlan {
    /// Writes a plan that takes about `length` on the server at `url`.
    pub(super) fn write_to(
        folder: &Path,
        offered: Loop,
        url: &str,
        length: Duration,
        seed: u64,
    ) -> anyhow::Result<Self> {
        let path = folder.join("plan.toml");
        fs::write(&path, text(offered, url, length, seed))?;
        fs::write(folder.join("bank.sql"), BANK)?;
        let source = Source::read(&path).context("the soak's plan")?;
        let plan = Plan::parse(source).map_err(|problems| anyhow!("{problems}"))?;
        Ok(Self { path, plan })
    }

    /// Warm-up and measured load of one trial.
    pub(super) fn trial_length(&self) -> Duration {
        let load = &self.plan.load;
        load.warm_up + load.limit.time.unwrap_or_default()
    }

    /// Whether a disturbance may begin when the newest trial is `newest` and was first seen this long ago. It may
    /// not when another workload's data may be loading: nothing could then be measured if the server went away.
    pub(super) fn may_disturb(&self, newest: Option<usize>, seen: Duration) -> bool {
        let trials = self.plan.trials();
        let Some(newest) = newest.and_then(|index| trials.get(index)) else { return false };
        let later = &trials[newest.index + 1..];
        let same = later.iter().take_while(|trial| trial.workload == newest.workload).count();
        let length = self.trial_length();
        let left = length.saturating_sub(seen) + length * u32::try_from(same).unwrap_or(u32::MAX);
        left >= DISTURBANCE_MAX
    }
}

/// The text of a plan whose numbers of workloads, levels of load and repetitions fit into `length`.
fn text(offered: Loop, url: &str, length: Duration, seed: u64) -> String {
    let trials_of = |each: Duration| (length.as_millis() / each.as_millis()) as usize;
    let most = trials_of(TIME_MIN + WARM_UP + BETWEEN_TRIALS);
    let levels = if most < 2 * CYCLES { 1 } else { 2 };
    let workloads = (most / (CYCLES * levels)).clamp(1, WORKLOADS.len());
    let kinds = CYCLES * levels * workloads;
    let repetitions = (trials_of(TRIAL) / kinds).max(1);
    let time = (length / (kinds * repetitions) as u32).saturating_sub(WARM_UP + BETWEEN_TRIALS);
    // Whole milliseconds: a plan has no parts of them.
    let time = Duration::from_millis(time.max(TIME_MIN).as_millis() as u64);
    let (load, rates, protocol) = match offered {
        Loop::Closed => ("think_time = \"100ms\"\nclients", [16, 64], "on"),
        Loop::Open => ("clients = 64\nrate", [40, 120], "off"),
    };
    let mut text = format!(
        "title = \"Soak, {} loop\"\nseed = {seed}\nrepetitions = {repetitions}\n\
         existing = \"replace\"\ncleanup = true\n\n\
         [load]\n{load} = {:?}\ntime = \"{time:?}\"\nwarm_up = \"{WARM_UP:?}\"\n\
         query_timeout = \"{QUERY_TIMEOUT:?}\"\nreconnect_limit = \"60s\"\n\n\
         [systems.server]\nkind = \"mysql\"\nurl = \"{url}?ps={protocol}\"\n",
        offered.name(),
        &rates[..levels],
    );
    for cycle in 1..=CYCLES {
        for (name, kind, options) in &WORKLOADS[..workloads] {
            text.push_str(&format!("\n[workloads.cycle{cycle}_{name}]\nkind = \"{kind}\"\n"));
            text.push_str(&format!("ignore_errors = \"{READ_ONLY_CODE}\"\n{options}"));
            if kind.starts_with("sysbench/") {
                text.push_str("tables = 2\ntable_size = 2000\n");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soak_plan(offered: Loop, minutes: u64) -> SoakPlan {
        let folder = tempfile::tempdir().unwrap();
        let (url, length) = ("mysql://soak@127.0.0.1:1/test", Duration::from_secs(60 * minutes));
        SoakPlan::write_to(folder.path(), offered, url, length, 1).unwrap()
    }

    #[test]
    fn a_plan_fits_its_time_and_has_equal_quarters() {
        for (minutes, trials) in [(1, 8), (2, 16), (10, 32), (30, 64), (240, 512)] {
            let open = soak_plan(Loop::Open, minutes).plan;
            assert!(open.trials().iter().all(|trial| open.rate(*trial).is_some()));
            let soak_plan = soak_plan(Loop::Closed, minutes);
            let all = soak_plan.plan.trials();
            assert_eq!([all.len(), open.trials().len()], [trials; 2], "{minutes} minutes");
            let load = soak_plan.plan.estimate().unwrap();
            let whole = load + BETWEEN_TRIALS * u32::try_from(trials).unwrap();
            let planned = Duration::from_secs(60 * minutes);
            assert!(whole.abs_diff(planned) < planned / 20, "{whole:?} in {minutes} minutes");
            let kinds = |quarter: usize| -> Vec<_> {
                let part = &all[quarter * trials / 4..(quarter + 1) * trials / 4];
                let kind = |trial: &plan::Trial| {
                    let workload = &soak_plan.plan.workloads[trial.workload];
                    (workload.kind.clone(), trial.clients, trial.repetition)
                };
                part.iter().map(kind).collect()
            };
            assert!((1..4).all(|quarter| kinds(quarter) == kinds(0)), "{minutes} minutes");
        }
    }

    #[test]
    fn loading_is_not_disturbed() {
        let soak_plan = soak_plan(Loop::Closed, 30);
        let seconds = Duration::from_secs;
        assert!(!soak_plan.may_disturb(None, seconds(0)), "the first data is being loaded");
        // Trials of a workload: two repetitions at two levels.
        assert!(soak_plan.may_disturb(Some(0), seconds(0)));
        assert!(soak_plan.may_disturb(Some(2), seconds(60)), "the next trial has the same data");
        assert!(soak_plan.may_disturb(Some(3), seconds(5)));
        assert!(!soak_plan.may_disturb(Some(3), seconds(20)), "the next workload comes soon");
        assert!(soak_plan.may_disturb(Some(4), seconds(0)), "its data is there");
        assert!(!soak_plan.may_disturb(Some(63), seconds(20)), "nor is the cleanup at the end");
    }
}
