//! Whether dyno finds a handicap of known size on real systems: two variants are compared, one of which does extra
//! work of fixed length for each statement. A pilot finds the work, and comparisons of ten minutes each are counted: how
//! many found it, and how many have the truth in their interval, which comes from all other runs.

mod case;
mod comparison_plan;
mod page;
mod report;
mod session;
mod state;
mod work;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use crate::interrupt::Interrupt;
use crate::{dist, needs, paths};

use self::case::{Interleave, System};
use self::session::Session;
use self::state::StateFile;

/// What `cargo xtask handicap` takes.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The systems
    #[arg(long, value_enum, value_delimiter = ',',
        default_values_t = [System::Mariadb, System::Tidb, System::Echo])]
    system: Vec<System>,
    /// Sizes of the handicap: by how much it lowers the throughput, percent
    #[arg(long, value_delimiter = ',', default_values_t = [3, 5, 10],
        value_parser = clap::value_parser!(u32).range(1..=50))]
    handicap: Vec<u32>,
    /// Length of one comparison, min [default: 10, of builds 20]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=600))]
    minutes: Option<u32>,
    /// Number of comparisons of each handicap [default: 10, of builds 1]
    #[arg(long)]
    comparisons: Option<u32>,
    /// Calibration runs of each handicap, each as long as a comparison; the truth of a comparison comes from them and
    /// from the other comparisons
    #[arg(long, default_value_t = 1)]
    truth_runs: u32,
    /// Only the calibration, or only the comparisons
    #[arg(long, value_enum)]
    only: Option<Step>,
    /// How the variants take turns
    #[arg(long, value_enum, default_value_t = Interleave::Rounds)]
    interleave: Interleave,
    /// Where the order of the variants and the queries come from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The file that keeps what was measured; a task that was stopped goes on with it. The page is written beside it
    /// [default: benchmarks/DATE-handicap.json]
    #[arg(long)]
    file: Option<PathBuf>,
    #[command(flatten)]
    binary: dist::Binary,
    #[command(flatten)]
    install: needs::Install,
}

/// A part of the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Step {
    /// How much work makes the handicaps, and their true ratios
    Calibrate,
    /// The comparisons
    Compare,
}

impl Step {
    /// Whether it is asked for by `--only`.
    fn is_asked(self, only: Option<Self>) -> bool {
        only.is_none_or(|only| only == self)
    }
}

/// Measures what the file does not have yet, and prints the page.
///
/// # Errors
/// When dyno does not build, a run leaves no comparison, or a signal arrived; the file has what was measured before.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::watch()?;
    let date = jiff::Zoned::now().date().to_string();
    let path = arguments
        .file
        .clone()
        .unwrap_or_else(|| paths::root().join("benchmarks").join(format!("{date}-handicap.json")));
    let file = StateFile::open(&path, &date)?;
    let need = |system: &System| match system {
        System::Mariadb => needs::MARIADB,
        System::Tidb | System::Echo | System::TidbGoamd64 => needs::GO,
    };
    let needs: Vec<needs::Need> = arguments.system.iter().map(need).collect();
    arguments.install.provide(&needs, &interrupt)?;
    let dyno = arguments.binary.provide("release", &interrupt)?;
    let mut session = Session { arguments, interrupt, dyno, file };
    session.measure()?;
    println!("{}", page::text(&session.file.state));
    Ok(ExitCode::SUCCESS)
}
