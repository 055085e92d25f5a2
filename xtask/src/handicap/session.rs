//! Runs what the file does not have yet, one run of dyno after the other, and keeps each result at once.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, bail};

use super::case::{Case, Purpose, System};
use super::comparison_plan::{ComparisonPlan, Shape};
use super::page::interval_text;
use super::report::Report;
use super::state::{FinishedRun, State, StateFile, ratio_of};
use super::work::{Pilot, PilotOutcome, first_work};
use super::{Arguments, Step};
use crate::interrupt::Interrupt;
use crate::soak::process::run_folder;
use crate::{paths, servers, shell};

/// With so many pilots the work that makes a large handicap is found, unless it makes none.
const PILOTS_MAX: u32 = 6;
/// Seeds of calibration runs are so far from those of comparisons.
const TRUTH_SEEDS: u64 = 1_000_000;

/// A task at work.
pub(super) struct Session<'a> {
    pub arguments: &'a Arguments,
    pub interrupt: Interrupt,
    pub dyno: PathBuf,
    pub file: StateFile,
}

/// A run that is still to be made.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Job {
    case: Case,
    purpose: Purpose,
    number: u32,
    /// How many runs of this purpose the case is to have.
    of: u32,
}

impl Job {
    fn is_done(&self, state: &State) -> bool {
        let runs = match self.purpose {
            Purpose::Truth => state.truth_runs(self.case),
            Purpose::Comparison => state.comparisons(self.case),
        };
        runs.iter().any(|run| run.number == self.number)
    }

    fn seed(&self, first: u64) -> u64 {
        let apart = match self.purpose {
            Purpose::Truth => TRUTH_SEEDS,
            Purpose::Comparison => 0,
        };
        first.wrapping_add(apart).wrapping_add(u64::from(self.number))
    }

    /// What it is, in a line.
    fn name(&self) -> String {
        format!("{}: {} {} of {}", self.case, self.purpose_name(), self.number + 1, self.of)
    }

    /// The name of the folder of its record.
    fn folder(&self) -> String {
        let Case { system, handicap_percent, interleave, minutes } = self.case;
        let percent = handicap_percent.map_or_else(String::new, |percent| format!("-{percent}"));
        let (turns, purpose) = (interleave.name(), self.purpose_name());
        let number = self.number + 1;
        format!("{system:?}{percent}-{turns}-{minutes}min-{purpose}-{number}").to_lowercase()
    }

    fn purpose_name(&self) -> &'static str {
        match self.purpose {
            Purpose::Truth => "calibration",
            Purpose::Comparison => "comparison",
        }
    }
}

/// All runs that are asked for, system by system, those of a calibration first.
fn jobs(arguments: &Arguments) -> Vec<Job> {
    let mut jobs = Vec::new();
    for system in arguments.system.iter().copied() {
        let sizes: Vec<Option<u32>> = if system.has_handicap() {
            arguments.handicap.iter().copied().map(Some).collect()
        } else {
            vec![None]
        };
        let minutes = arguments.minutes.unwrap_or(system.minutes());
        let of_case = |handicap_percent, purpose, of| {
            let case = Case { system, handicap_percent, interleave: arguments.interleave, minutes };
            (0..of).map(move |number| Job { case, purpose, number, of })
        };
        if Step::Calibrate.is_asked(arguments.only) && system.has_handicap() {
            let runs = |size| of_case(size, Purpose::Truth, arguments.truth_runs);
            jobs.extend(sizes.iter().copied().flat_map(runs));
        }
        if Step::Compare.is_asked(arguments.only) {
            let count = arguments.comparisons.unwrap_or(system.comparisons());
            let runs = |size| of_case(size, Purpose::Comparison, count);
            jobs.extend(sizes.iter().copied().flat_map(runs));
        }
    }
    jobs
}

impl Session<'_> {
    /// Measures what the file does not have.
    ///
    /// # Errors
    /// When a run leaves no comparison, or a signal arrived.
    pub(super) fn measure(&mut self) -> anyhow::Result<()> {
        let mut jobs = jobs(self.arguments);
        jobs.retain(|job| !job.is_done(&self.file.state));
        let goes_on =
            format!("the same command goes on, with --file {}", self.file.path().display());
        for (at, job) in jobs.iter().enumerate() {
            let left: u32 = jobs[at..].iter().map(|job| job.case.minutes).sum();
            let (hours, minutes) = (left / 60, left % 60);
            let count = jobs.len() - at;
            eprintln!("xtask: {}; {count} runs take about {hours} h {minutes} min", job.name());
            self.measure_again(job).with_context(|| goes_on.clone())?;
        }
        self.file.save()
    }

    /// Makes a run, and makes it again when it fails: one server that did not start does not end a night's work.
    fn measure_again(&mut self, job: &Job) -> anyhow::Result<()> {
        let Err(error) = self.measure_one(job) else { return Ok(()) };
        self.interrupt.check()?;
        eprintln!("xtask: {error:#}; once more");
        self.measure_one(job)
    }

    fn measure_one(&mut self, job: &Job) -> anyhow::Result<()> {
        let Job { case, purpose, number, .. } = *job;
        let work = match case.handicap_percent {
            Some(percent) => self.pilot(case)?.work(percent),
            None => {
                // Builds take minutes, which are none of the comparison's.
                servers::tidb_of_level("v1", &self.interrupt)?;
                servers::tidb_of_level("v3", &self.interrupt)?;
                0
            }
        };
        let Case { system, interleave, minutes, .. } = case;
        let shape = Shape::of(system, interleave, minutes);
        let seed = job.seed(self.arguments.seed);
        let plan = ComparisonPlan { system, shape, seed, work };
        let report = self.run(&plan, &job.folder())?;
        self.file.state.measured_by(&report.machine())?;
        let found = report.conclusion()?;
        let run = FinishedRun {
            case,
            purpose,
            number,
            product: report.product(),
            shape,
            seed,
            work,
            minutes_taken: report.minutes()?,
            rounds_per_s: report.rounds()?,
            raw: found.raw,
            adjusted: found.adjusted,
            explained: found.explained,
            verdict: found.verdict,
        };
        let (answer, taken) = (interval_text(run.answer()), run.minutes_taken);
        eprintln!("xtask: {}: {answer}, {}, in {taken:.1} min", job.name(), run.verdict);
        self.file.state.runs.push(run);
        self.file.save()
    }

    /// How much one unit of work slows a system down; it is measured the first time.
    fn pilot(&mut self, case: Case) -> anyhow::Result<Pilot> {
        let system = case.system;
        if let Some(known) = self.file.state.pilot(system) {
            return Ok(*known);
        }
        let mut work = first_work(system);
        for number in 1..=PILOTS_MAX {
            let shape = Shape::pilot(case.interleave);
            let plan = ComparisonPlan { system, shape, seed: self.arguments.seed, work };
            let report = self.run(&plan, &pilot_folder(system, number))?;
            self.file.state.measured_by(&report.machine())?;
            let rounds = report.rounds()?;
            let ratio = ratio_of(&rounds).context("the pilot has no ratio")?.ratio;
            eprintln!("xtask: {}: pilot {number}: {work} units: {ratio:.3}", system.name());
            match PilotOutcome::of(work, ratio) {
                PilotOutcome::Known(slowdown_per_unit) => {
                    let pilot = Pilot { system, slowdown_per_unit };
                    self.file.state.pilots.push(pilot);
                    self.file.save()?;
                    return Ok(pilot);
                }
                PilotOutcome::Again(units) => work = units,
            }
        }
        bail!("{}: no amount of work makes a large handicap", system.name())
    }

    /// Runs a plan in a folder of its own, which stays with its record.
    fn run(&self, plan: &ComparisonPlan, name: &str) -> anyhow::Result<Report> {
        let folder = paths::target().join("handicap").join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        let plan = plan.write_to(&folder)?;
        let results = folder.join("results");
        let [dyno, plan, out] = [&self.dyno, &plan, &results].map(|it| it.display().to_string());
        let mut command = shell::command(&dyno, &["run", &plan, "--quiet", "--out", &out]);
        let log = fs::File::create(folder.join("dyno.log"))?;
        command.stdout(log.try_clone()?).stderr(log);
        let status = shell::run(&mut command, &self.interrupt)?;
        let told = || format!("dyno left no comparison ({status}): {}", folder.display());
        let run = run_folder(&results).with_context(told)?;
        Report::read(&run).with_context(told)
    }
}

fn pilot_folder(system: System, number: u32) -> String {
    format!("{system:?}-pilot-{number}").to_lowercase()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::state::tests::run;
    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn arguments(words: &str) -> Arguments {
        let words = format!("handicap {words}");
        Line::try_parse_from(words.split_whitespace()).unwrap().arguments
    }

    fn names(arguments: &Arguments) -> Vec<String> {
        jobs(arguments).iter().map(|job| job.name()).collect()
    }

    #[test]
    fn a_calibration_comes_before_ten_comparisons() {
        let all = jobs(&arguments(""));
        // Three systems with three handicaps.
        assert_eq!(all.len(), 9 * (1 + 10));
        assert!(all[..3].iter().all(|job| job.purpose == Purpose::Truth));
        assert!(all[3..33].iter().all(|job| job.purpose == Purpose::Comparison));
        let minutes: u32 = all.iter().map(|job| job.case.minutes).sum();
        assert_eq!(minutes, 990);
    }

    #[test]
    fn arguments_choose_the_runs() {
        let words = "--system echo,tidb-goamd64 --handicap 3 --truth-runs 1 --comparisons 2";
        assert_eq!(
            names(&arguments(words)),
            [
                "trpc-go echo server, 3 %: calibration 1 of 1",
                "trpc-go echo server, 3 %: comparison 1 of 2",
                "trpc-go echo server, 3 %: comparison 2 of 2",
                "TiDB, GOAMD64 v3 against v1: comparison 1 of 2",
                "TiDB, GOAMD64 v3 against v1: comparison 2 of 2",
            ]
        );
        assert_eq!(
            names(&arguments("--system mariadb --handicap 5 --truth-runs 1 --only calibrate")),
            ["MariaDB, 5 %: calibration 1 of 1"]
        );
        let builds = jobs(&arguments("--system tidb-goamd64"));
        assert_eq!((builds.len(), builds[0].case.minutes), (1, 20));
        assert_eq!(names(&arguments("--system tidb-goamd64 --only calibrate")), [""; 0]);
    }

    #[test]
    fn runs_of_the_file_are_not_repeated() {
        let mut state = State::default();
        let of = (System::Echo, Some(3));
        state.runs.push(run(of, Purpose::Truth, 0, [0.96, 0.97, 0.98]));
        state.runs.push(run(of, Purpose::Comparison, 1, [0.96, 0.97, 0.98]));
        let left = |words: &str| -> Vec<String> {
            let line = format!("--system echo --handicap 3 --truth-runs 2 --comparisons 2 {words}");
            let jobs = jobs(&arguments(&line));
            let left = jobs.iter().filter(|job| !job.is_done(&state));
            left.map(|job| job.name().rsplit_once(": ").unwrap().1.to_owned()).collect()
        };
        assert_eq!(left(""), ["calibration 2 of 2", "comparison 1 of 2"]);
        // Other comparisons have the same truth.
        let windows = ["calibration 2 of 2", "comparison 1 of 2", "comparison 2 of 2"];
        assert_eq!(left("--interleave windows"), windows);
        assert_eq!(left("--minutes 20"), windows);
    }

    #[test]
    fn every_run_of_a_case_has_a_seed_of_its_own() {
        let jobs = jobs(&arguments("--system echo --handicap 3 --seed 7"));
        let mut seeds: Vec<u64> = jobs.iter().map(|job| job.seed(7)).collect();
        assert_eq!((seeds[0], seeds[1]), (1_000_007, 7));
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 11);
    }
}
