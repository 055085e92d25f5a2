//! The arguments of the command line as typed; only their form is checked here.

use std::path::PathBuf;

use clap::{ArgAction, Args as ClapArgs, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;

/// Puts databases and RPC services on the dynamometer: starts or reaches the system under test,
/// prepares data, offers load, measures without lying, and writes the report.
#[derive(Debug, Parser)]
#[command(name = "dyno", version, arg_required_else_help = true)]
#[command(after_help = "Exit codes: 0 done, 1 something failed, 2 wrong plan or command line, \
                        130 interrupted (what was measured is kept).")]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an experiment from a plan file.
    Run(RunArgs),
    /// Run one workload without a plan file.
    Bench(Box<BenchArgs>),
    /// Start a system and keep it up until Ctrl-C.
    Up(UpArgs),
    /// Stop what `dyno up --detach` has started.
    Down(DownArgs),
    /// Make the views of a stored run again, from its record alone.
    Report(ReportArgs),
    /// Show the runs that are stored.
    List(ListArgs),
    /// Write a workload's data as files, for a system's own bulk loader.
    Generate(GenerateArgs),
    /// Explain the workloads and their options.
    Workloads(NameArgs),
    /// Explain the systems and their options.
    Systems(NameArgs),
    /// Print completions for a shell.
    Completions {
        /// The shell to print them for.
        shell: Shell,
    },
}

/// A view of a run for standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A summary for people.
    Text,
    /// The whole run for programs.
    Json,
    /// Tables for a document.
    Markdown,
    /// One line for each trial and operation.
    Csv,
}

/// Where results go and how they are shown.
#[derive(Debug, ClapArgs)]
pub(crate) struct OutputArgs {
    /// Folder of all results; each run makes one of its own in it.
    #[arg(long, value_name = "DIR", default_value = "results", value_hint = ValueHint::DirPath)]
    pub(crate) out: PathBuf,
    /// What to print on standard output when the run is over; progress goes to standard error.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// Check everything, print the trials and how long they take, and start nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Override a value of the plan, such as `load.time=5s`; may be repeated.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) overrides: Vec<String>,
    /// Show no progress.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RunArgs {
    /// The plan, a TOML file.
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) plan: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct BenchArgs {
    /// The workload, such as `sysbench/oltp_read_write`, or an SQL file of your own.
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) workload: String,
    /// The system under test: `sqlite`, `mariadb` or `tidb` (started for the run), `sqlite:FILE`, or a URL
    /// such as `mysql://user@host:3306/database`.
    #[arg(long, value_name = "SYSTEM", default_value = "sqlite")]
    pub(crate) system: String,
    /// Numbers of concurrent clients to sweep over.
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "1")]
    pub(crate) clients: Vec<String>,
    /// Measured load of each trial [default: 10s].
    #[arg(long, value_name = "DURATION", conflicts_with = "events")]
    pub(crate) time: Option<String>,
    /// Measured transactions of each trial, instead of a time.
    #[arg(long, value_name = "N")]
    pub(crate) events: Option<String>,
    /// Load before what counts [default: 1s].
    #[arg(long, value_name = "DURATION")]
    pub(crate) warm_up: Option<String>,
    /// Length of one interval [default: 1s].
    #[arg(long, value_name = "DURATION")]
    pub(crate) interval: Option<String>,
    /// Pause of a client between transactions [default: none].
    #[arg(long, value_name = "DURATION")]
    pub(crate) think_time: Option<String>,
    /// Transactions a second that come whether or not a client is free (open loop), to sweep over.
    #[arg(long, value_name = "PER_SECOND,...", value_delimiter = ',')]
    #[arg(conflicts_with = "think_time")]
    pub(crate) rate: Vec<String>,
    /// How they are spread around their rate [default: poisson].
    #[arg(long, value_name = "HOW", value_parser = ["poisson", "constant"], requires = "rate")]
    pub(crate) arrivals: Option<String>,
    /// How many may wait for a client before the trial counts as overloaded [default: 100000].
    #[arg(long, value_name = "N", requires = "rate")]
    pub(crate) backlog: Option<String>,
    /// How long a connection may take, login included [default: 10s].
    #[arg(long, value_name = "DURATION")]
    pub(crate) connect_timeout: Option<String>,
    /// How long the answer to a statement may take, or `off`; what takes longer is given up and counts
    /// in the percentiles as that long or longer [default: 60s].
    #[arg(long, value_name = "DURATION")]
    pub(crate) query_timeout: Option<String>,
    /// How long each of prepare, verify and cleanup may take [default: off].
    #[arg(long, value_name = "DURATION")]
    pub(crate) phase_timeout: Option<String>,
    /// How long clients that lost their connection try for another one; `off` ends the trial with the
    /// first that is lost [default: 30s].
    #[arg(long, value_name = "DURATION")]
    pub(crate) reconnect_limit: Option<String>,
    /// Event loops that share the clients [default: one for two cores].
    #[arg(long, value_name = "N")]
    pub(crate) workers: Option<String>,
    /// How often each trial is done [default: 1].
    #[arg(long, value_name = "N")]
    pub(crate) repetitions: Option<String>,
    /// Percentiles in tables [default: 50,95,99,99.9].
    #[arg(long, value_name = "P,...", value_delimiter = ',')]
    pub(crate) percentiles: Vec<String>,
    /// What to do with tables that are there already [default: refuse].
    #[arg(long, value_name = "WHAT", value_parser = ["refuse", "reuse", "replace"])]
    pub(crate) existing: Option<String>,
    /// What happens to the data between trials [default: keep].
    #[arg(long, value_name = "WHAT", value_parser = ["keep", "reload", "restore"])]
    pub(crate) between: Option<String>,
    /// Remove the tables at the end.
    #[arg(long)]
    pub(crate) cleanup: bool,
    /// The seed that all data and all queries come from [default: 1].
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Prepared statements, or text [default: on].
    #[arg(long, value_name = "ON|OFF", value_parser = ["on", "off"])]
    pub(crate) ps: Option<String>,
    /// Tables of the workload.
    #[arg(long, value_name = "N")]
    pub(crate) tables: Option<String>,
    /// Rows of each table, such as 100000 or 100k.
    #[arg(long, value_name = "ROWS")]
    pub(crate) table_size: Option<String>,
    /// An option of the workload, such as `range_size=10`; `dyno workloads NAME` lists them.
    #[arg(long = "option", short, value_name = "NAME=VALUE", action = ArgAction::Append)]
    pub(crate) options: Vec<String>,
    /// A variable of an SQL file, such as `scale=10`; pgbench's `-D`.
    #[arg(long, short = 'D', value_name = "NAME=VALUE", action = ArgAction::Append)]
    pub(crate) define: Vec<String>,
    /// An option of the system, such as `journal=wal`; `dyno systems NAME` lists them.
    #[arg(long = "system-option", value_name = "NAME=VALUE", action = ArgAction::Append)]
    pub(crate) system_options: Vec<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct UpArgs {
    /// The system, such as `tidb`, `tidb:PATH` or `mariadb`.
    #[arg(required_unless_present = "list")]
    #[arg(value_name = "SYSTEM")]
    pub(crate) system: Option<String>,
    /// An option of the system, such as `source=build`; `dyno systems NAME` lists them.
    #[arg(long = "option", short, value_name = "NAME=VALUE", action = ArgAction::Append)]
    pub(crate) options: Vec<String>,
    /// Return once it is up, and leave it up until `dyno down`.
    #[arg(long, short, conflicts_with = "build_only")]
    pub(crate) detach: bool,
    /// Only get what starting it takes, such as a build of the server.
    #[arg(long)]
    pub(crate) build_only: bool,
    /// Show what is up.
    #[arg(long, exclusive = true)]
    pub(crate) list: bool,
    /// The entry of a detached system, which this process keeps.
    #[arg(long, hide = true, value_name = "FILE", conflicts_with_all = ["detach", "build_only"])]
    pub(crate) entry: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct DownArgs {
    /// Stop those of this kind only, such as `tidb`.
    pub(crate) system: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ReportArgs {
    /// The folder of a run, or of all results (then the newest run).
    #[arg(default_value = "results", value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
    /// What to print on standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ListArgs {
    /// Folder of all results.
    #[arg(default_value = "results", value_hint = ValueHint::DirPath)]
    pub(crate) out: PathBuf,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct NameArgs {
    /// Explain this one in full.
    pub(crate) name: Option<String>,
}

/// `dyno generate`.
#[derive(Debug, ClapArgs)]
pub(crate) struct GenerateArgs {
    /// The workload: tpcc.
    #[arg(value_name = "WORKLOAD")]
    pub(crate) workload: String,
    /// Options of the workload, such as `warehouses=10`.
    #[arg(long = "option", short, value_name = "NAME=VALUE", action = ArgAction::Append)]
    pub(crate) options: Vec<String>,
    /// Folder for the files, empty or not there yet.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: PathBuf,
    /// What file names begin with: bulk loaders take it for the database.
    #[arg(long, value_name = "NAME", default_value = "tpcc")]
    pub(crate) database: String,
    /// Seed of the data, as in a plan.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Show no progress.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
