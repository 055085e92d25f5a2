//! The arguments of the command line as typed; only their form is checked here.

mod bench;
mod help;
mod metrics;
mod names;
mod values;

use std::net::SocketAddr;
use std::num::NonZero;
use std::path::PathBuf;

use clap::{ArgAction, ArgGroup, Args as ClapArgs, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use values::{EXISTING, LASTING_SYSTEM, one_or_more};

pub(crate) use self::bench::{BenchArgs, SubjectArgs};
use self::bench::{OUTPUT, STOP};
pub(crate) use self::help::parse;
pub(crate) use self::metrics::MetricsArgs;
use self::names::{SYSTEM_OPTIONS, SYSTEMS, WORKLOADS};

/// What `dyno --version` prints after the name.
const LONG_VERSION: &str = include_str!(concat!(env!("OUT_DIR"), "/version.txt"));

/// The folder of all results, unless another one is given.
pub(crate) const RESULTS: &str = "results";

const AFTER_HELP: &str = "\
Examples:
  dyno run quickstart
  dyno bench oltp_read_write --system mysql://root@127.0.0.1:3306/test --clients 1,4

Exit codes: 0 success, 1 failure, 2 wrong plan or command line, or nothing could be
measured, 130 interrupted (completed measurements are kept).";

const PLANS: &str = "\
Plans that dyno has: quickstart, mariadb-sysbench, open-loop, compare-in-windows, trpc-echo,
tidb-three-nodes, tpcc-three-nodes, tpch-three-nodes, ycsb-six-nodes.";

/// Benchmarks databases and RPC services: starts the system under test or connects to it, loads data, offers load,
/// records every count and latency, and writes reports.
#[derive(Debug, Parser)]
#[command(name = "dyno", version, long_version = LONG_VERSION, arg_required_else_help = true)]
#[command(after_help = AFTER_HELP)]
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
    /// Look for what holds the system back under each load of a plan, after each is measured.
    Why(RunArgs),
    /// Write a commented plan to start from.
    Init(InitArgs),
    /// Create and fill a workload's tables, and keep them.
    Prepare(Box<PrepareArgs>),
    /// Check that a workload's tables are complete and consistent.
    Check(Box<DataArgs>),
    /// Drop a workload's tables, including those of earlier runs.
    Cleanup(Box<DataArgs>),
    /// Start a system and keep it running until Ctrl-C.
    Up(UpArgs),
    /// Stop systems that `dyno up --detach` has started.
    Down(DownArgs),
    /// Measure what a network path and both kernels carry, with requests to `dyno echo`.
    Ceiling(CeilingArgs),
    /// Serve dyno's own echo, in tRPC and over plain TCP, until Ctrl-C.
    Echo(EchoArgs),
    /// Write the reports of a stored run again, from its record alone.
    Report(ReportArgs),
    /// Compare stored runs, or variants of them: ratios with intervals, verdicts, and what differs besides.
    Compare(CompareArgs),
    /// Show the figures of a plan over its stored runs, and when they changed.
    History(HistoryArgs),
    /// List stored runs.
    List(ListArgs),
    /// Write a workload's data to files for a system's own bulk loader.
    Generate(GenerateArgs),
    /// List workloads and their options.
    Workloads(NameArgs),
    /// List systems and their options.
    Systems(NameArgs),
    /// Offer a part of the load of another dyno, which starts this one and speaks with it on standard input and
    /// output.
    #[command(hide = true)]
    Generator,
    /// Watch this host for another dyno, on standard input and output.
    #[command(hide = true)]
    WatchHost,
    /// Print a JSON Schema, with which editors complete a plan and programs check what they read.
    Schema {
        /// What it describes.
        of: SchemaOf,
    },
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Write the manual pages.
    Manual {
        /// The folder for them; it is created if it does not exist.
        #[arg(value_hint = ValueHint::DirPath)]
        folder: PathBuf,
    },
}

/// What a JSON Schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaOf {
    /// A plan, in TOML or JSON.
    Plan,
    /// A report as JSON: `report.json`, and what `--format json` prints.
    Report,
}

/// A view of a run for standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A summary for the terminal.
    Text,
    /// All figures of the run, for programs.
    Json,
    /// Tables for documents.
    Markdown,
    /// One row for each trial and operation.
    Csv,
    /// JUnit XML: a case for each bound at each load, and for each trial.
    Junit,
    /// Throughputs as a list of name, unit and value, which github-action-benchmark reads as `customBiggerIsBetter`.
    BiggerIsBetter,
    /// Latencies in the same form, for `customSmallerIsBetter`.
    SmallerIsBetter,
}

/// Where results go and how they are shown.
#[derive(Debug, ClapArgs)]
pub(crate) struct OutputArgs {
    /// Folder for results; each run gets its own subfolder.
    #[arg(long, value_name = "DIR", default_value = RESULTS, value_hint = ValueHint::DirPath)]
    #[arg(help_heading = OUTPUT)]
    pub(crate) out: PathBuf,
    /// Name for the run: the link `NAME` in the folder for results leads to its newest run; `latest` always leads to
    /// the newest of all.
    #[arg(long, value_name = "NAME")]
    #[arg(help_heading = OUTPUT, hide_short_help = true)]
    pub(crate) name: Option<String>,
    /// Format of the report on standard output; progress is printed on standard error.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    #[arg(help_heading = OUTPUT, hide_short_help = true)]
    pub(crate) format: Format,
    /// Print every table and remark at the end, not the summary alone.
    #[arg(long)]
    #[arg(help_heading = OUTPUT, hide_short_help = true)]
    pub(crate) full: bool,
    /// Check the plan and print its trials and their duration, without running them.
    #[arg(long)]
    #[arg(help_heading = OUTPUT)]
    pub(crate) dry_run: bool,
    /// Value that overrides one of the plan, such as `load.time=5s`; may be repeated.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    #[arg(help_heading = OUTPUT, hide_short_help = true)]
    pub(crate) overrides: Vec<String>,
    /// Seek the highest load that keeps bounds, such as `p99 < 10ms, errors < 0.1%`. The load is the number of
    /// clients, or with `--set seek.over=rate` the arrival rate.
    #[arg(long, value_name = "BOUNDS")]
    #[arg(help_heading = STOP)]
    pub(crate) seek: Option<String>,
    /// Look for what holds the system back after each load, for 2 minutes at most or as long as given.
    #[arg(long, value_name = "AT_MOST", num_args = 0..=1, require_equals = true, default_missing_value = "120s")]
    #[arg(help_heading = STOP)]
    pub(crate) why: Option<String>,
    /// Look for it, and take profiles of the servers under each load as well, drawn as flame graphs.
    #[arg(long)]
    #[arg(help_heading = STOP, hide_short_help = true)]
    pub(crate) profile: bool,
    /// Fail (exit code 1) when a figure of a load is beyond a bound, such as `p99 > 10ms`, `errors > 0.1%` or
    /// `throughput < 1000`, or is not known; may be repeated. In place of the plan's `fail_if`.
    #[arg(long, value_name = "BOUND")]
    #[arg(help_heading = OUTPUT, hide_short_help = true)]
    pub(crate) fail_if: Vec<String>,
    /// Fail (exit code 1) when a trial is doubtful or invalid, after everything was measured and written.
    #[arg(long)]
    #[arg(help_heading = OUTPUT, hide_short_help = true)]
    pub(crate) strict: bool,
    /// Doubt that is no failure with `--strict`, by its code, such as `cpu-used-by-others`; may be repeated.
    #[arg(long, value_name = "CODE", requires = "strict")]
    #[arg(help_heading = OUTPUT, hide_short_help = true)]
    pub(crate) accept: Vec<String>,
    #[command(flatten)]
    pub(crate) metrics: MetricsArgs,
    /// Print no progress.
    #[arg(long, short)]
    #[arg(help_heading = OUTPUT, hide_short_help = true)]
    pub(crate) quiet: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = PLANS, mut_args(|argument| argument.hide_short_help(false).help_heading(None)))]
pub(crate) struct RunArgs {
    /// The plan file (TOML), or the name of a plan that dyno has.
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) plan: PathBuf,
    /// Action when the tables already exist, in place of the plan's `existing`.
    #[arg(long, value_name = "ACTION", value_parser = EXISTING)]
    pub(crate) existing: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct InitArgs {
    /// The workload, as for `dyno bench`.
    #[arg(value_hint = ValueHint::FilePath, value_parser = WORKLOADS, hide_possible_values = true)]
    #[arg(default_value = "sysbench/oltp_read_write")]
    pub(crate) workload: String,
    /// The system under test, as for `dyno bench`. A password in its URL is left out.
    #[arg(default_value = "sqlite", value_parser = SYSTEMS, hide_possible_values = true)]
    pub(crate) system: String,
    /// The file of the plan; it must not exist yet.
    #[arg(long, value_name = "FILE", default_value = "plan.toml", value_hint = ValueHint::FilePath)]
    pub(crate) out: PathBuf,
}

/// `dyno prepare`.
#[derive(Debug, ClapArgs)]
pub(crate) struct PrepareArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Action when the tables already exist [default: match, which uses them if they are as asked for].
    #[arg(long, value_name = "ACTION", value_parser = EXISTING)]
    pub(crate) existing: Option<String>,
}

/// What `dyno prepare`, `dyno check` and `dyno cleanup` share. They need a system whose data stays.
#[derive(Debug, ClapArgs)]
#[command(mut_arg("system", |system| system.required(true).default_value(None).help(LASTING_SYSTEM)))]
pub(crate) struct DataArgs {
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,
    /// Override a value of the plan, such as `sql.prepare_session=["SET SESSION x = 1"]`; may be repeated.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) overrides: Vec<String>,
    /// Show no progress.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct UpArgs {
    /// The system, such as `tidb`, `tidb:PATH` or `mariadb`.
    #[arg(required_unless_present_any = ["list", "start"])]
    #[arg(value_name = "SYSTEM", value_parser = SYSTEMS, hide_possible_values = true)]
    pub(crate) system: Option<String>,
    /// An option of the system, such as `source=build`; `dyno systems NAME` lists them.
    #[arg(long = "option", short, value_name = "NAME=VALUE", action = ArgAction::Append)]
    #[arg(value_parser = SYSTEM_OPTIONS, hide_possible_values = true)]
    pub(crate) options: Vec<String>,
    /// Return when the system has started, and keep it running until `dyno down`.
    #[arg(long, short, conflicts_with = "build_only")]
    pub(crate) detach: bool,
    /// Only fetch or build what the start needs, such as the server.
    #[arg(long)]
    pub(crate) build_only: bool,
    /// List the systems that `dyno up` keeps up, and detached ones that have ended by themselves.
    #[arg(long, exclusive = true)]
    pub(crate) list: bool,
    /// Start a server of a kept up cluster again that has exited, such as `tikv-2`; SYSTEM is then the kind of system.
    #[arg(long, value_name = "SERVER", conflicts_with_all = ["options", "detach", "build_only", "entry"])]
    pub(crate) start: Option<String>,
    /// The entry of a detached system, which this process keeps.
    #[arg(long, hide = true, value_name = "FILE", conflicts_with_all = ["detach", "build_only"])]
    pub(crate) entry: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct DownArgs {
    /// Only stop systems of this kind, such as `tidb`.
    pub(crate) system: Option<String>,
}

#[derive(Debug, ClapArgs)]
#[command(group = ArgGroup::new("path").required(true))]
pub(crate) struct CeilingArgs {
    /// Host and port of a `dyno echo`, usually on the machine of the system under test.
    #[arg(long, value_name = "HOST:PORT", group = "path")]
    pub(crate) to: Option<String>,
    /// Start an echo server on this machine, and measure to it.
    #[arg(long, group = "path")]
    pub(crate) local: bool,
    /// Size of each request in bytes.
    #[arg(long, value_name = "BYTES", default_value = "122", value_parser = one_or_more::<NonZero<u32>>)]
    pub(crate) request_size: NonZero<u32>,
    /// Size of each response in bytes.
    #[arg(long, value_name = "BYTES", default_value = "27", value_parser = one_or_more::<NonZero<u32>>)]
    pub(crate) response_size: NonZero<u32>,
    /// Number of connections.
    #[arg(long, value_name = "N", default_value = "16", value_parser = one_or_more::<NonZero<usize>>)]
    pub(crate) connections: NonZero<usize>,
    /// Requests in flight on each connection when they are pipelined, 2 or more. One request in flight on each is
    /// measured too.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(2..))]
    pub(crate) in_flight: u16,
    /// Length of one measurement, of which each round has two; without a unit in seconds.
    #[arg(long, value_name = "DURATION", default_value = "1s")]
    pub(crate) time: String,
    /// Number of rounds.
    #[arg(long, value_name = "N", default_value = "5", value_parser = one_or_more::<NonZero<u32>>)]
    pub(crate) rounds: NonZero<u32>,
    /// Number of event loops of the client, and of threads of the server of `--local` [default: one for every two
    /// cores].
    #[arg(long, value_name = "N", value_parser = one_or_more::<NonZero<u16>>)]
    pub(crate) workers: Option<NonZero<u16>>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct EchoArgs {
    /// Address to listen on; with port 0 a free port is chosen. Anyone who can reach it can use the server.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// Number of threads, each with its own event loop.
    #[arg(long, value_name = "N", default_value = "1", value_parser = one_or_more::<NonZero<usize>>)]
    pub(crate) threads: NonZero<usize>,
    /// Size of each request in bytes, on plain TCP connections that do not state it themselves.
    #[arg(long, value_name = "BYTES", requires = "response_size", value_parser = one_or_more::<NonZero<u32>>)]
    pub(crate) request_size: Option<NonZero<u32>>,
    /// Size of each response in bytes, on such connections.
    #[arg(long, value_name = "BYTES", requires = "request_size", value_parser = one_or_more::<NonZero<u32>>)]
    pub(crate) response_size: Option<NonZero<u32>>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ReportArgs {
    /// The folder of a run, or the folder of all results (its newest run is reported).
    #[arg(default_value = RESULTS, value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
    /// Format of the report on standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// Print every table and remark, not the summary alone.
    #[arg(long)]
    pub(crate) full: bool,
    /// Print the verdict, the bounds and the loads in at most 25 lines of Markdown, for a pull request.
    #[arg(long, conflicts_with_all = ["full", "format"])]
    pub(crate) brief: bool,
    /// Report one trial alone, by its number from 1; prints it, and writes files only with `--out`.
    #[arg(long, value_name = "N")]
    pub(crate) trial: Option<usize>,
    /// Folder for the files of the report [default: the folder of the run].
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
    /// Write every plot as an SVG file of its own into this folder, with its title, the systems and the machine.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) plots: Option<PathBuf>,
    /// Fail (exit code 1) when a trial is doubtful or invalid.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Doubt that is no failure with `--strict`, by its code, such as `cpu-used-by-others`; may be repeated.
    #[arg(long, value_name = "CODE", requires = "strict")]
    pub(crate) accept: Vec<String>,
}

/// A view of a comparison for standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ComparisonFormat {
    /// Tables for the terminal.
    Text,
    /// Tables for documents.
    Markdown,
    /// All figures and the codes of all verdicts, for programs.
    Json,
    /// A case for each threshold and each verdict, for servers of continuous integration.
    Junit,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct CompareArgs {
    /// The runs to compare with: a folder, one system or variant of it as FOLDER:SYSTEM, or several with commas
    /// between.
    #[arg(value_name = "BASELINE", value_hint = ValueHint::DirPath)]
    pub(crate) baseline: String,
    /// The runs that are compared, written likewise.
    #[arg(value_name = "CANDIDATE", value_hint = ValueHint::DirPath)]
    pub(crate) candidate: String,
    /// The least relative difference that matters: below it a difference is no verdict.
    #[arg(long, value_name = "PERCENT", default_value = "2%")]
    pub(crate) margin: String,
    /// Threshold with which the candidate fails (exit code 1), such as `p99 > +5%`; may be repeated. Figures are tps,
    /// qps, mean, p50 and other percentiles, cpu, context_switches, read_kb, written_kb, failed.
    #[arg(long = "fail-if", value_name = "THRESHOLD", action = ArgAction::Append)]
    pub(crate) fail_if: Vec<String>,
    /// Fail too when a threshold is not decided.
    #[arg(long, requires = "fail_if")]
    pub(crate) strict: bool,
    /// Format of the comparison on standard output.
    #[arg(long, value_enum, default_value_t = ComparisonFormat::Text)]
    pub(crate) format: ComparisonFormat,
    /// Print the verdict, the conclusions and the thresholds in at most 25 lines of Markdown, for a pull request.
    #[arg(long, conflicts_with = "format")]
    pub(crate) brief: bool,
    /// Write the comparison as a page too, which has its ratios drawn.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) page: Option<PathBuf>,
}

/// A view of a history for standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HistoryFormat {
    /// Tables for the terminal.
    Text,
    /// All figures and changes, for programs.
    Json,
}

/// How changes are told from chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestOfChanges {
    /// Random orders of the runs; right for figures of any distribution, and needs several runs after a change.
    Permutation,
    /// Student's t, as Apache Otava has it; finds a change in fewer runs, and more that are none.
    Student,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct HistoryArgs {
    /// Folders of results.
    #[arg(default_value = RESULTS, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) folders: Vec<PathBuf>,
    /// Name of the plan [default: that of the newest run]. Runs belong to the history when their plan has the text of the
    /// newest one's, but for comments.
    #[arg(long, value_name = "NAME")]
    pub(crate) plan: Option<String>,
    /// Take runs whose plans differ in the addresses of URLs and the seed alone, as with a new port for each run.
    #[arg(long)]
    pub(crate) any_address: bool,
    /// Leave out runs that began earlier, such as 2026-03-01 (UTC) or 2026-03-01T12:00:00Z.
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// The test that decides which changes are more than chance.
    #[arg(long, value_enum, default_value_t = TestOfChanges::Permutation)]
    pub(crate) test: TestOfChanges,
    /// The chance of a change in a series that has none, for each series; with Student's t it is several times as large.
    #[arg(long, value_name = "PERCENT", default_value = "1%")]
    pub(crate) level: String,
    /// Format of the history on standard output.
    #[arg(long, value_enum, default_value_t = HistoryFormat::Text)]
    pub(crate) format: HistoryFormat,
    /// Also write a page with plots to this file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) page: Option<PathBuf>,
    /// Fail (exit code 1) when a figure changed.
    #[arg(long)]
    pub(crate) fail_on_change: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ListArgs {
    /// Folder of all results.
    #[arg(default_value = RESULTS, value_hint = ValueHint::DirPath)]
    pub(crate) out: PathBuf,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct NameArgs {
    /// Only this one, with its options.
    pub(crate) name: Option<String>,
}

/// `dyno generate`.
#[derive(Debug, ClapArgs)]
pub(crate) struct GenerateArgs {
    /// The workload: tpcc or tpch.
    #[arg(value_name = "WORKLOAD")]
    pub(crate) workload: String,
    /// An option of the workload, such as `warehouses=10`; `dyno workloads NAME` lists them.
    #[arg(long = "option", short, value_name = "NAME=VALUE", action = ArgAction::Append)]
    pub(crate) options: Vec<String>,
    /// Folder for the files; it must be empty or not exist yet.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: PathBuf,
    /// Prefix of the file names, which bulk loaders read as the name of the database.
    /// [default: the workload's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) database: Option<String>,
    /// Seed of the data, as in a plan.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Print no progress.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
