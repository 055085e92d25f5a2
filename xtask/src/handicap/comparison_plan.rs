//! The plans of the comparisons: two variants of a system, how often they take turns in the time given, and what
//! makes one of them slower.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};

use super::case::{Interleave, System};

/// Reads by primary key, with work that a variable of the session sets.
const LOOKUP: &str = include_str!("lookup.sql");
/// Without a line in the log for each slow statement.
const TIDB_OPTIONS: &str = "arguments = [\"-L\", \"error\"]\n";
/// Measured load of a trial where each round has one of each variant, s.
const TRIAL_S: f64 = 8.0;
/// Measured load of a window, s. A shared machine changes within a second: shorter windows are more alike, until what is
/// between them takes as long (METHODOLOGY.md, *Windows*).
const WINDOW_S: f64 = 0.3;
/// What a window takes besides its load: a warm-up of a tenth, connecting, the probes of the machine, s.
const BETWEEN_WINDOWS_S: f64 = 0.08;
/// Rounds where the variants alternate within each: each one costs the start of two servers. On a MariaDB ten rounds of 68
/// windows and twenty of 28 took as long and gave intervals of the same width.
const ROUNDS_OF_WINDOWS: u32 = 20;
/// Where the time is short.
const ROUNDS_MIN: u32 = 4;

/// How often the variants take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Shape {
    /// Restarts of all servers.
    pub rounds: u32,
    /// Windows of each variant in each round; `None` where a round has one trial of each.
    pub windows: Option<u32>,
}

impl Shape {
    /// What fits into so many minutes.
    pub(super) fn of(system: System, interleave: Interleave, minutes: u32) -> Self {
        let seconds = 60.0 * f64::from(minutes);
        // Both variants are started and prewarmed in each round.
        let starts_s = 2.0 * (start_s(system) + f64::from(prewarm_s(system)));
        match interleave {
            Interleave::Rounds => {
                let fitting = (seconds / (starts_s + 2.0 * TRIAL_S)) as u32;
                Self { rounds: even(fitting).max(ROUNDS_MIN), windows: None }
            }
            Interleave::Windows => {
                let rounds_fitting = even((seconds / (2.0 * starts_s)) as u32);
                let rounds = rounds_fitting.clamp(ROUNDS_MIN, ROUNDS_OF_WINDOWS);
                let load_s = seconds / f64::from(rounds) - starts_s;
                let fitting = (load_s / (2.0 * (WINDOW_S + BETWEEN_WINDOWS_S))) as u32;
                Self { rounds, windows: Some(fitting.clamp(2, 1_000)) }
            }
        }
    }

    /// That of a pilot: enough for a slowdown of a quarter.
    pub(super) fn pilot(interleave: Interleave) -> Self {
        Self { rounds: 2, windows: (interleave == Interleave::Windows).then_some(5) }
    }
}

/// What it takes to start a server, to load and verify its data, and to stop it, s.
fn start_s(system: System) -> f64 {
    match system {
        System::Mariadb | System::Echo => 1.0,
        System::Tidb | System::TidbGoamd64 => 3.0,
    }
}

/// Load before the first measured one on a newly started server, s. The heap of a TiDB grows until its garbage collector
/// has found its size, and half the CPU time goes to new pages until then. With 3 s of load that was within the windows,
/// and for longer in those of the variant that allocates less for a statement.
fn prewarm_s(system: System) -> u32 {
    match system {
        System::Mariadb | System::Echo => 3,
        System::Tidb | System::TidbGoamd64 => 12,
    }
}

/// The order of the variants is balanced over pairs of rounds.
fn even(number: u32) -> u32 {
    number / 2 * 2
}

/// A plan with two variants.
#[derive(Clone, Copy, Debug)]
pub(super) struct ComparisonPlan {
    pub system: System,
    pub shape: Shape,
    pub seed: u64,
    /// Units of extra work for each statement of the second variant; 0 where builds are compared.
    pub work: u64,
}

impl ComparisonPlan {
    /// Writes the plan and its files, and returns the plan's path.
    pub(super) fn write_to(&self, folder: &Path) -> anyhow::Result<PathBuf> {
        let path = folder.join("plan.toml");
        let write = |path: &Path, text: &str| {
            fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
        };
        write(&path, &self.text())?;
        write(&folder.join("lookup.sql"), LOOKUP)?;
        Ok(path)
    }

    fn text(&self) -> String {
        let Self { shape: Shape { rounds, windows }, seed, .. } = self;
        let head = format!(
            "name = \"handicap\"\nseed = {seed}\nrepetitions = {rounds}\npercentiles = [50, 95, 99]\n"
        );
        let prewarm_s = prewarm_s(self.system);
        let (turns, warm_up, time_s) = match windows {
            None => (String::new(), format!("warm_up = \"{prewarm_s}s\"\n"), TRIAL_S),
            Some(windows) => {
                let turns = format!("interleave = {{ windows = {windows} }}\n");
                (turns, format!("prewarm = \"{prewarm_s}s\"\n"), WINDOW_S)
            }
        };
        let clients = match self.system {
            System::Echo => 64,
            System::Mariadb | System::Tidb | System::TidbGoamd64 => 8,
        };
        format!(
            "{head}{turns}\n[load]\nclients = {clients}\ntime = \"{time_s}s\"\n{warm_up}\n{}",
            self.system_text()
        )
    }

    /// The system with its variants, and the workload.
    fn system_text(&self) -> String {
        let work = self.work;
        match self.system {
            System::Mariadb => lookup("mariadb", "", work),
            System::Tidb => lookup("tidb", TIDB_OPTIONS, work),
            System::Echo => format!(
                "[systems.echo]\nkind = \"trpc-echo\"\n\n[systems.echo.variants]\nplain.spin = 0\n\
                 handicapped.spin = {work}\n\n[workloads.hello]\nkind = \"rpc\"\nconnections = 8\n"
            ),
            System::TidbGoamd64 => format!(
                "[systems.tidb]\nkind = \"tidb\"\n{TIDB_OPTIONS}\n[systems.tidb.variants]\n\
                 v1.goamd64 = \"v1\"\nv3.goamd64 = \"v3\"\n\n[workloads.point_select]\n\
                 kind = \"sysbench/oltp_point_select\"\ntables = 1\ntable_size = \"10k\"\n"
            ),
        }
    }
}

/// A database whose sessions set how much work each statement does.
fn lookup(kind: &str, options: &str, work: u64) -> String {
    format!(
        "[systems.{kind}]\nkind = \"{kind}\"\n{options}\n[systems.{kind}.variants]\n\
         plain.sql.run_session = \"SET @handicap = 0\"\n\
         handicapped.sql.run_session = \"SET @handicap = {work}\"\n\n\
         [workloads.lookup]\nkind = \"lookup.sql\"\n"
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use plan::Source;
    use runner::Experiment;

    use super::*;

    fn experiment(system: System, shape: Shape) -> Experiment {
        let folder = tempfile::tempdir().unwrap();
        let plan = ComparisonPlan { system, shape, seed: 7, work: 12 };
        let path = plan.write_to(folder.path()).unwrap();
        Experiment::read(Source::read(&path).unwrap()).unwrap_or_else(|it| panic!("{it}"))
    }

    #[test]
    fn the_plans_of_all_systems_are_valid_and_have_two_trials_in_a_round() {
        let all = [System::Mariadb, System::Tidb, System::Echo, System::TidbGoamd64];
        for system in all {
            let experiment = experiment(system, Shape { rounds: 6, windows: None });
            let plan = experiment.plan();
            assert_eq!(plan.trials().len(), 12, "{system:?}");
            assert_eq!(plan.load.limit.time, Some(Duration::from_secs(8)));
        }
    }

    #[test]
    fn the_work_is_a_variable_of_the_sessions_or_an_option_of_the_server() {
        let text = |system, windows| {
            let shape = Shape { rounds: 6, windows };
            ComparisonPlan { system, shape, seed: 7, work: 12 }.text()
        };
        insta::assert_snapshot!(text(System::Mariadb, None));
        insta::assert_snapshot!(text(System::Echo, Some(20)));
    }

    #[test]
    fn as_many_rounds_and_windows_as_fit_into_the_minutes() {
        let shape = |system, interleave, minutes| {
            let Shape { rounds, windows } = Shape::of(system, interleave, minutes);
            (rounds, windows)
        };
        // A round of two trials takes 2 x (1 + 3 + 8) s = 24 s, and an odd number is not balanced.
        assert_eq!(shape(System::Mariadb, Interleave::Rounds, 10), (24, None));
        // 600 / (2 x (3 + 12 + 8)) = 13.04.
        assert_eq!(shape(System::Tidb, Interleave::Rounds, 10), (12, None));
        assert_eq!(shape(System::Tidb, Interleave::Rounds, 1), (4, None), "four are the fewest");
        // 20 rounds of 30 s, of which 8 s are starts: 22 / (2 x 0.38) = 28.9.
        assert_eq!(shape(System::Mariadb, Interleave::Windows, 10), (20, Some(28)));
        // Starts take 30 s of 60 s in each round: 30 / 0.76 = 39.5.
        assert_eq!(shape(System::TidbGoamd64, Interleave::Windows, 20), (20, Some(39)));
        assert_eq!(shape(System::Tidb, Interleave::Windows, 1), (4, Some(2)));
    }
}
