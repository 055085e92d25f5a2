//! The subcommands, one file each.

mod bench;
mod built_in;
mod catalogue;
mod ceiling;
mod compare;
mod completions;
mod data;
mod down;
mod echo;
mod experiment;
mod generate;
mod generator;
mod history;
mod init;
mod list;
mod manual;
mod option_names;
mod repetitions;
mod report;
mod run;
mod run_name;
mod schema;
mod start;
mod subject;
mod up;
mod watch_host;

use std::env;
use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use plan::Problems;
use record::Dyno;
use runner::{Cause, NothingMeasured};

use crate::args::{Args, Command};
use crate::output::{has_colours, output_width, print, print_message, print_problems};

/// The exit code of a wrong plan or command line, and of a run that failed before anything was measured.
const USAGE: u8 = 2;

pub(crate) fn dispatch(args: Args) -> Result<ExitCode> {
    match args.command {
        Command::Run(args) => run::run(args),
        Command::Why(mut args) => {
            args.output.why.get_or_insert_with(|| experiment::WHY_AT_MOST.to_owned());
            run::run(args)
        }
        Command::Bench(args) => bench::run(*args),
        Command::Init(args) => init::run(&args),
        Command::Prepare(args) => data::prepare(*args),
        Command::Check(args) => data::check(*args),
        Command::Cleanup(args) => data::clean_up(*args),
        Command::Up(args) => up::run(&args),
        Command::Down(args) => down::run(&args),
        Command::Ceiling(args) => ceiling::run(&args),
        Command::Echo(args) => echo::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::History(args) => history::run(&args),
        Command::List(args) => list::run(&args),
        Command::Generate(args) => generate::run(&args),
        Command::Generator => generator::run(),
        Command::Workloads(args) => catalogue::workloads(args.name.as_deref()),
        Command::Systems(args) => catalogue::systems(args.name.as_deref()),
        Command::WatchHost => watch_host::run(),
        Command::Schema { of } => schema::run(of),
        Command::Completions { shell } => completions::run(shell),
        Command::Manual { folder } => manual::run(&folder),
    }
}

pub(crate) fn report_error(cause: &anyhow::Error) -> ExitCode {
    if let Some(problems) = cause.downcast_ref::<Problems>() {
        print_problems(&problems.to_string());
        return ExitCode::from(USAGE);
    }
    if let Some(nothing) = cause.downcast_ref::<NothingMeasured>() {
        tell_nothing_measured(nothing);
        return ExitCode::from(USAGE);
    }
    print_message(&format!("error: {cause:#}"));
    if cause.is::<WrongArgument>() { ExitCode::from(USAGE) } else { ExitCode::FAILURE }
}

/// Each cause with its remedy, and where the log of a build is.
fn tell_nothing_measured(nothing: &NothingMeasured) {
    nothing.causes.iter().for_each(tell_cause);
    if let Some(folder) = &nothing.kept {
        print_message(&format!("  log: {}", folder.display()));
    }
}

fn tell_cause(Cause { what, remedy }: &Cause) {
    print_message(&format!("error: {what}"));
    remedy.iter().for_each(|remedy| print_message(&format!("  help: {remedy}")));
}

#[derive(Debug)]
pub(crate) struct WrongArgument(String);

impl fmt::Display for WrongArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WrongArgument {}

fn no_results(folder: &Path) -> anyhow::Error {
    let folder = folder.display();
    let text = format!("{folder} does not exist; name the folder of results, the `--out` of a run");
    WrongArgument(text).into()
}

/// The version and the build of this program.
fn this_dyno() -> Dyno {
    let (profile, commit) = (env!("DYNO_PROFILE"), env!("DYNO_COMMIT"));
    let (processor, system) = (env::consts::ARCH, env::consts::OS);
    let build = format!("{profile}, {processor}-{system}, commit {commit}");
    Dyno { version: env!("CARGO_PKG_VERSION").to_owned(), build }
}
