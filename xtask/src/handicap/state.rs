//! Everything that was measured, in a file that is written after each run: a task that was stopped goes on with it.

use std::fs;
use std::path::{Path, PathBuf};

use analysis::{Ratio, paired_ratio};
use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};

use super::case::{Case, Purpose, System};
use super::comparison_plan::Shape;
use super::page;
use super::report::{Interval, Machine};
use super::work::Pilot;

/// What is known so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    /// The day on which it began.
    pub date: String,
    /// `None` before the first run.
    pub machine: Option<Machine>,
    pub pilots: Vec<Pilot>,
    pub runs: Vec<FinishedRun>,
}

/// A run of one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct FinishedRun {
    #[serde(flatten)]
    pub case: Case,
    pub purpose: Purpose,
    /// From 0, among the runs of this case and purpose.
    pub number: u32,
    pub product: String,
    #[serde(flatten)]
    pub shape: Shape,
    pub seed: u64,
    /// Units of extra work for each statement.
    pub work: u64,
    /// How long it took, starts of servers included, min.
    pub minutes_taken: f64,
    /// Transactions a second of the first and the second variant in each round.
    pub rounds_per_s: Vec<[f64; 2]>,
    /// The ratio of the throughputs that dyno reported, as measured.
    pub raw: Interval,
    /// The same with the machine's own speed removed, where dyno did that.
    pub adjusted: Option<Interval>,
    /// The part of the variance that the machine's speed explains.
    pub explained: Option<f64>,
    /// dyno's verdict.
    pub verdict: String,
}

impl FinishedRun {
    /// The interval that dyno's answer rests on.
    pub(super) fn answer(&self) -> Interval {
        self.adjusted.unwrap_or(self.raw)
    }
}

impl State {
    pub(super) fn pilot(&self, system: System) -> Option<&Pilot> {
        self.pilots.iter().find(|pilot| pilot.system == system)
    }

    /// The comparisons of a case.
    pub(super) fn comparisons(&self, case: Case) -> Vec<&FinishedRun> {
        let is_one = |run: &&FinishedRun| run.purpose == Purpose::Comparison && run.case == case;
        self.runs.iter().filter(is_one).collect()
    }

    /// The calibration runs of a handicap. They are those of the work: the time of the comparisons and the order of
    /// their variants do not change it.
    pub(super) fn truth_runs(&self, case: Case) -> Vec<&FinishedRun> {
        self.runs_of(case).filter(|run| run.purpose == Purpose::Truth).collect()
    }

    /// The true ratio of a handicap, from all rounds that were measured for it, as they were measured.
    pub(super) fn truth(&self, case: Case) -> Option<Ratio> {
        ratio_of_runs(self.runs_of(case))
    }

    /// The truth that a comparison is held to: from all other runs of its handicap, so that its own rounds, by which
    /// the truth would lie near its interval, have no part in it. `None` where there is no other.
    pub(super) fn truth_besides(&self, run: &FinishedRun) -> Option<f64> {
        let others = self.runs_of(run.case).filter(|other| !std::ptr::eq(*other, run));
        ratio_of_runs(others).map(|truth| truth.ratio)
    }

    /// All runs of a handicap, or of the builds, whatever their purpose and their turns.
    fn runs_of(&self, case: Case) -> impl Iterator<Item = &FinishedRun> {
        let of = |case: Case| (case.system, case.handicap_percent);
        self.runs.iter().filter(move |run| of(run.case) == of(case))
    }

    /// The cases that have comparisons, and those that were only calibrated, in the order in which they began.
    pub(super) fn cases(&self) -> Vec<Case> {
        let is_compared = |of: System, percent: Option<u32>| {
            let is_one = |run: &FinishedRun| {
                run.purpose == Purpose::Comparison
                    && (run.case.system, run.case.handicap_percent) == (of, percent)
            };
            self.runs.iter().any(is_one)
        };
        let mut cases = Vec::new();
        for FinishedRun { case, purpose, .. } in &self.runs {
            let is_shown =
                *purpose == Purpose::Comparison || !is_compared(case.system, case.handicap_percent);
            if is_shown && !cases.contains(case) {
                cases.push(*case);
            }
        }
        cases
    }

    /// Remembers the machine of the first run.
    ///
    /// # Errors
    /// When a later run was made on another machine or by another dyno: their figures do not belong in one table.
    pub(super) fn measured_by(&mut self, machine: &Machine) -> anyhow::Result<()> {
        let known = self.machine.get_or_insert_with(|| machine.clone());
        ensure!(
            known == machine,
            "the file is of {known:?}, and this run of {machine:?}: begin another file with --file"
        );
        Ok(())
    }
}

/// The ratio of the second variant's throughput to the first one's, over rounds; `None` without rounds.
pub(super) fn ratio_of(rounds: &[[f64; 2]]) -> Option<Ratio> {
    let [first, second] = [0, 1].map(|at| rounds.iter().map(|pair| pair[at]).collect::<Vec<f64>>());
    paired_ratio(&second, &first)
}

fn ratio_of_runs<'r>(runs: impl Iterator<Item = &'r FinishedRun>) -> Option<Ratio> {
    ratio_of(&runs.flat_map(|run| run.rounds_per_s.iter().copied()).collect::<Vec<_>>())
}

/// The state and its file.
#[derive(Debug)]
pub(super) struct StateFile {
    path: PathBuf,
    pub state: State,
}

impl StateFile {
    /// Reads the file, or begins one if there is none.
    ///
    /// # Errors
    /// When there is a file that is no state.
    pub(super) fn open(path: &Path, date: &str) -> anyhow::Result<Self> {
        let state = if path.exists() {
            let text = fs::read_to_string(path)?;
            serde_json::from_str(&text).with_context(|| path.display().to_string())?
        } else {
            State { date: date.to_owned(), ..State::default() }
        };
        Ok(Self { path: path.to_owned(), state })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the file, and the page beside it.
    pub(super) fn save(&self) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(&self.state)?;
        replace(&self.path, &format!("{text}\n"))?;
        replace(&self.path.with_extension("md"), &page::text(&self.state))
    }
}

/// Writes a file whole or not at all.
fn replace(path: &Path, text: &str) -> anyhow::Result<()> {
    let partial = path.with_extension("partial");
    let written = fs::write(&partial, text).and_then(|()| fs::rename(&partial, path));
    written.with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::case::Interleave;
    use super::*;

    /// A run of a case of ten minutes.
    pub(crate) fn run(
        (system, handicap_percent): (System, Option<u32>),
        purpose: Purpose,
        number: u32,
        [low, ratio, high]: [f64; 3],
    ) -> FinishedRun {
        let case = Case { system, handicap_percent, interleave: Interleave::Rounds, minutes: 10 };
        FinishedRun {
            case,
            purpose,
            number,
            product: "TiDB v8.5".to_owned(),
            shape: Shape { rounds: 2, windows: None },
            seed: 7,
            work: 12,
            minutes_taken: 9.5,
            rounds_per_s: vec![[100.0, 100.0 * low], [400.0, 400.0 * high]],
            raw: Interval { ratio, low, high },
            adjusted: None,
            explained: None,
            verdict: "slower".to_owned(),
        }
    }

    /// A handicap with a calibration and a comparison, and one that was only calibrated.
    fn calibrated_and_compared() -> State {
        let of = (System::Tidb, Some(3));
        let runs = vec![
            run(of, Purpose::Truth, 0, [0.5, 0.7, 0.98]),
            run(of, Purpose::Comparison, 0, [0.1, 0.2, 0.3]),
            run((System::Tidb, Some(5)), Purpose::Truth, 0, [0.1, 0.2, 0.3]),
        ];
        State { runs, ..State::default() }
    }

    #[test]
    fn the_truth_of_a_comparison_comes_from_all_other_runs_of_its_handicap() {
        let mut state = calibrated_and_compared();
        let case = state.runs[1].case;
        let is_about = |found: Option<f64>, known: f64| (found.unwrap() - known).abs() < 1e-12;
        assert!(is_about(state.truth_besides(&state.runs[1]), 0.7), "the root of 0.49");
        let other = Case { minutes: 20, interleave: Interleave::Windows, ..case };
        let truth = state.truth(other).unwrap();
        assert!(is_about(Some(truth.ratio), (0.5_f64 * 0.98 * 0.1 * 0.3).powf(0.25)), "{truth:?}");
        assert_eq!(truth.rounds, 4);
        state.runs.push(run((System::Tidb, Some(3)), Purpose::Comparison, 1, [0.98, 0.99, 0.5]));
        assert!(is_about(state.truth_besides(&state.runs[1]), 0.7), "the fourth root of 0.49^2");
        assert_eq!(state.truth(Case { system: System::Echo, ..case }), None);
        assert_eq!(state.truth_besides(&state.runs[2]), None, "it is the only one");
    }

    #[test]
    fn a_calibration_beside_comparisons_has_no_row_of_its_own() {
        let mut state = calibrated_and_compared();
        let case = state.runs[1].case;
        assert_eq!(state.comparisons(case).len(), 1);
        assert_eq!(state.cases(), [case, state.runs[2].case]);
        state.runs[1].case.minutes = 20;
        assert_eq!(state.cases()[0].minutes, 20);
        assert_eq!(state.cases().len(), 2);
    }

    #[test]
    fn a_file_goes_on_where_it_was_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("2026-11-23-handicap.json");
        let mut file = StateFile::open(&path, "2026-11-23").unwrap();
        assert_eq!(file.state.runs, []);
        let of = (System::Mariadb, Some(3));
        file.state.pilots.push(Pilot { system: System::Mariadb, slowdown_per_unit: 0.005 });
        file.state.runs.push(run(of, Purpose::Comparison, 0, [0.96, 0.97, 0.98]));
        file.save().unwrap();
        let again = StateFile::open(&path, "2026-11-24").unwrap();
        assert_eq!(again.state, file.state);
        assert_eq!(again.state.date, "2026-11-23");
        assert!(path.with_extension("md").exists());
        fs::write(&path, "{").unwrap();
        assert!(StateFile::open(&path, "2026-11-24").is_err());
    }

    #[test]
    fn runs_of_two_machines_do_not_share_a_file() {
        let machine = |kernel: &str| Machine {
            cpu: "A CPU".to_owned(),
            threads: Some(2),
            virtualization: None,
            kernel: Some(kernel.to_owned()),
            dyno: "0.1.0".to_owned(),
        };
        let mut state = State::default();
        state.measured_by(&machine("6.1")).unwrap();
        state.measured_by(&machine("6.1")).unwrap();
        assert!(state.measured_by(&machine("6.2")).is_err());
    }
}
