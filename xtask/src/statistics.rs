//! How often dyno's statistics err, counted on simulated systems whose truth is known, and on recorded servers that are
//! compared with themselves: comparisons by every method without a difference (A/A) and with one (A/B) under noise of
//! several kinds, the checks and the intervals of single trials, phases and rounds that end by what is measured,
//! seeks for a capacity, and sweeps over clients.

mod asked;
mod checks;
mod comparisons;
mod equals;
mod goals;
mod intervals;
mod methods;
mod noises;
mod precisions;
mod recorder;
mod recording;
mod relabelled;
mod rounds;
mod seeks;
mod share;
mod sweeps;
mod table;
mod trial;
mod warm_ups;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use plan::split_mix;

use crate::interrupt::Interrupt;
use crate::paths;

use self::asked::Asked;
use self::equals::{Equals, Floors};
use self::goals::{Goals, Seen};
use self::methods::{Method, Trials};
use self::noises::Kind;
use self::recording::Recording;
use self::relabelled::Relabelled;
use self::share::{Share, percent};
use self::table::Case;

/// What `cargo xtask statistics` takes.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    /// Comparisons for each kind of noise, method and difference, trials for each load, seeks for each kind of noise, and
    /// orders of each recording
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(24..))]
    comparisons: u64,
    /// Where arrivals, services and noise come from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only this table
    #[arg(long, value_parser = [
        "comparisons", "methods", "recordings", "checks", "intervals", "ends", "rounds", "seeks", "usl",
    ])]
    only: Option<String>,
    /// The folder of the recordings [default: benchmarks/recordings]
    #[arg(long)]
    recordings: Option<PathBuf>,
    #[command(subcommand)]
    task: Option<Task>,
}

#[derive(Subcommand)]
enum Task {
    /// Records a real server that is restarted again and again
    Record(recorder::Arguments),
}

/// Tables in Markdown, and the goals that they show reached or missed.
struct Page<'a> {
    arguments: &'a Arguments,
    interrupt: Interrupt,
    goals: Goals,
    sections: Vec<String>,
}

/// Prints the tables in Markdown.
///
/// # Errors
/// When a trial could not run, a recording cannot be read, or a signal arrived.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::watch()?;
    if let Some(Task::Record(arguments)) = &arguments.task {
        return recorder::run(arguments, &interrupt);
    }
    let (goals, sections) = (Goals::default(), Vec::new());
    let mut page = Page { arguments, interrupt, goals, sections };
    page.table::<comparisons::Variants>("comparisons")?;
    page.methods()?;
    page.recordings()?;
    page.table::<checks::Steady>("checks")?;
    page.table::<intervals::Series>("intervals")?;
    page.table::<intervals::Queue>("intervals")?;
    page.table::<warm_ups::WarmUp>("ends")?;
    page.table::<precisions::Precise>("ends")?;
    page.table::<rounds::UntilKnown>("rounds")?;
    page.table::<seeks::Sought>("seeks")?;
    page.table::<sweeps::OnTheLaw>("usl")?;
    page.table::<sweeps::Queueing>("usl")?;
    let goals = page.goals.table().map(|table| format!("## Goals\n\n{table}\n"));
    for section in goals.into_iter().chain(page.sections) {
        println!("{section}");
    }
    Ok(ExitCode::SUCCESS)
}

impl Page<'_> {
    fn is_asked(&self, name: &str) -> bool {
        self.arguments.only.as_ref().is_none_or(|only| only == name)
    }

    fn section(&mut self, title: &str, head: &str, rows: &[String]) {
        self.sections.push(format!("## {title}\n\n{head}\n{}\n", rows.join("\n")));
    }

    /// A table with a row for each case, each of which takes a while; nothing when it is not asked for.
    fn table<C: Case>(&mut self, name: &str) -> anyhow::Result<()> {
        if !self.is_asked(name) {
            return Ok(());
        }
        let Arguments { comparisons, seed, .. } = *self.arguments;
        let (mut all, mut rows) = (Vec::new(), Vec::new());
        for case in C::all() {
            self.interrupt.check()?;
            let found = case.found(comparisons, seed)?;
            let row = case.row(&found);
            eprintln!("xtask: {row}");
            rows.push(row);
            all.push((case, found));
        }
        C::goals(&all, &mut self.goals);
        self.section(C::TITLE, C::HEAD, &rows);
        Ok(())
    }

    /// Every method on the same simulated trials.
    fn methods(&mut self) -> anyhow::Result<()> {
        if !self.is_asked("methods") {
            return Ok(());
        }
        let Arguments { comparisons, seed, .. } = *self.arguments;
        let (mut equals, mut floors, mut asked) = (Vec::new(), Vec::new(), Vec::new());
        for kind in Kind::all().into_iter().filter(|kind| !kind.is_constant()) {
            self.interrupt.check()?;
            eprintln!("xtask: {}", kind.name);
            let trials = Trials::simulated(&kind, comparisons, seed)?;
            equals.extend(Method::ALL.map(|method| Equals::of(method, kind.name, &trials)));
            floors.push(Floors::of(kind.name, &trials));
            asked.push(Asked::of(kind.name, &trials));
        }
        equals.sort_by_key(|it| it.method as usize);
        self.goals_of_methods(&equals, &asked);
        let rows: Vec<String> = equals.iter().map(Equals::row).collect();
        self.section("Methods of comparison", equals::HEAD, &rows);
        let rows: Vec<String> = floors.iter().map(Floors::row).collect();
        self.section("The noise floor", equals::FLOORS, &rows);
        let rows: Vec<String> = asked.iter().map(Asked::row).collect();
        self.section("A true 3 % with the rounds that are asked for", asked::HEAD, &rows);
        Ok(())
    }

    fn goals_of_methods(&mut self, equals: &[Equals], asked: &[Asked]) {
        let seen = |share: fn(&Equals) -> Share, of: &dyn Fn(Method) -> bool| -> Seen {
            let of = equals.iter().filter(|it| of(it.method) && share(it).of > 0);
            of.map(|it| (format!("{}: {}", it.method.name(), it.noise), share(it))).collect()
        };
        let is_near = |method| method == Method::RunAfterRun;
        let in_rounds = |method| matches!(method, Method::Rounds | Method::NoiseFloor);
        let goals = &mut self.goals;
        let alarms: fn(&Equals) -> Share = |it| it.alarms;
        goals.at_most("alarms for equal systems", 7.0, &seen(alarms, &|it| !is_near(it)));
        goals.at_most(
            "alarms for equal systems, one run after the other",
            7.0,
            &seen(alarms, &is_near),
        );
        goals.at_least(
            "alarms for equal systems where rounds are fixed",
            3.0,
            &seen(alarms, &in_rounds),
        );
        let equal: fn(&Equals) -> Share = |it| it.equal_at_margin;
        goals.at_most("a difference of the margin is called equal", 7.0, &seen(equal, &|_| true));
        let found: Seen = asked.iter().map(|it| (it.name.clone(), it.found)).collect();
        goals.at_least("a true 3 % is found with the rounds that are asked for", 90.0, &found);
    }

    /// Recorded servers as two variants.
    fn recordings(&mut self) -> anyhow::Result<()> {
        if !self.is_asked("recordings") {
            return Ok(());
        }
        let Arguments { comparisons, seed, .. } = *self.arguments;
        let default = paths::root().join("benchmarks/recordings");
        let folder = self.arguments.recordings.as_ref().unwrap_or(&default);
        let (mut found, mut titles) = (Vec::new(), Vec::new());
        for (name, recording) in Recording::all_in(folder)? {
            titles.push(format!("- {name}: {}", recording.title));
            found.extend(recording.figures().into_iter().filter_map(|(figure, values)| {
                Relabelled::of(format!("{name}, {figure}"), &values, comparisons, seed)
            }));
        }
        if found.is_empty() {
            return Ok(());
        }
        let of = |share: fn(&Relabelled) -> Share| -> Seen {
            found.iter().map(|it| (it.name.clone(), share(it))).filter(|it| it.1.of > 0).collect()
        };
        self.goals.at_most("alarms for a recorded server in six rounds", 7.0, &of(|it| it.alarms));
        self.goals.at_most(
            "alarms for a recorded server in all rounds",
            7.0,
            &of(|it| it.alarms_of_all),
        );
        self.goals.at_least("3 % in a recorded server are found", 90.0, &of(|it| it.asked.found));
        let rows: Vec<String> = found.iter().map(Relabelled::row).collect();
        self.section("Recorded servers as two variants", relabelled::HEAD, &rows);
        let rows: Vec<String> = found.iter().map(|it| it.asked.row()).collect();
        self.section("3 % in recorded servers", asked::HEAD, &rows);
        self.sections.push(format!("{}\n", titles.join("\n")));
        Ok(())
    }
}

/// A normally distributed number. Source: Box and Muller, Annals of Mathematical Statistics 29 (1958).
fn normal(draws: &mut u64) -> f64 {
    let mut uniform = || ((split_mix::next(draws) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos()
}
