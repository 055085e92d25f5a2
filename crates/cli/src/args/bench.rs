//! The arguments of `dyno bench`, and those that other commands share with it. `-h` shows the options of every day.

use clap::{ArgAction, Args as ClapArgs, ValueHint};

use super::OutputArgs;
use super::names::{SYSTEM_OPTIONS, SYSTEMS, WORKLOAD_OPTIONS, WORKLOADS};
use super::values::EXISTING;

/// The headings of the options in the help.
const SYSTEM: &str = "System";
const WORKLOAD: &str = "Workload";
const LOAD: &str = "Load";
pub(super) const STOP: &str = "Stop when";
const DATA: &str = "Data";
pub(super) const OUTPUT: &str = "Output";

const EXAMPLES: &str = "\
Examples:
  dyno bench oltp_read_write --clients 1,2,4 --time 10s
  dyno bench tpcc --system mysql://root@127.0.0.1:3306/test -o warehouses=4

`dyno bench --help` shows all options.";

/// The workload and the system that a command works on.
#[derive(Debug, ClapArgs)]
pub(crate) struct SubjectArgs {
    /// The workload, such as `sysbench/oltp_read_write`, or the path of an SQL file.
    #[arg(value_hint = ValueHint::FilePath, value_parser = WORKLOADS, hide_possible_values = true)]
    pub(crate) workload: String,
    /// The system under test: `sqlite`, `sqlite:FILE`, `mariadb` or `tidb` (started for the run), a URL such as
    /// `mysql://user@host:3306/database`, `postgresql://user@host:5432/database` or `grpc://host:9000/package.Service/Method`, or another one of `dyno systems`.
    #[arg(long, value_name = "SYSTEM", default_value = "sqlite", help_heading = SYSTEM)]
    #[arg(value_parser = SYSTEMS, hide_possible_values = true)]
    pub(crate) system: String,
    /// Create the database in the URL if it does not exist.
    #[arg(long)]
    #[arg(help_heading = SYSTEM)]
    pub(crate) create_database: bool,
    /// Seed of all random draws, for data and transactions [default: 1].
    #[arg(long, value_name = "N")]
    #[arg(help_heading = WORKLOAD, hide_short_help = true)]
    pub(crate) seed: Option<u64>,
    /// Whether to use prepared statements [default: on]; with PostgreSQL also named (on), unnamed (off) or text.
    #[arg(long, value_name = "ON|OFF", value_parser = ["on", "off", "named", "unnamed", "text"])]
    #[arg(help_heading = SYSTEM, hide_short_help = true)]
    pub(crate) ps: Option<String>,
    /// Number of tables.
    #[arg(long, value_name = "N")]
    #[arg(help_heading = WORKLOAD)]
    pub(crate) tables: Option<String>,
    /// Number of rows in each table, such as 100000 or 100k.
    #[arg(long, value_name = "ROWS")]
    #[arg(help_heading = WORKLOAD)]
    pub(crate) table_size: Option<String>,
    /// An option of the workload, such as `range_size=10`; `dyno workloads NAME` lists them.
    #[arg(long = "option", short, value_name = "NAME=VALUE", action = ArgAction::Append)]
    #[arg(help_heading = WORKLOAD, value_parser = WORKLOAD_OPTIONS, hide_possible_values = true)]
    pub(crate) options: Vec<String>,
    /// A variable of an SQL file, such as `scale=10`, as with pgbench's `-D`.
    #[arg(long, short = 'D', value_name = "NAME=VALUE", action = ArgAction::Append)]
    #[arg(help_heading = WORKLOAD, hide_short_help = true)]
    pub(crate) define: Vec<String>,
    /// An option of the system, such as `journal=wal`; `dyno systems NAME` lists them.
    #[arg(long = "system-option", value_name = "NAME=VALUE", action = ArgAction::Append)]
    #[arg(help_heading = SYSTEM, hide_short_help = true)]
    #[arg(value_parser = SYSTEM_OPTIONS, hide_possible_values = true)]
    pub(crate) system_options: Vec<String>,
    /// Time-out for connecting, login included [default: 10s].
    #[arg(long, value_name = "DURATION")]
    #[arg(help_heading = SYSTEM, hide_short_help = true)]
    pub(crate) connect_timeout: Option<String>,
    /// Time-out for each of prepare, verify, check and cleanup [default: off].
    #[arg(long, value_name = "DURATION")]
    #[arg(help_heading = SYSTEM, hide_short_help = true)]
    pub(crate) phase_timeout: Option<String>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BenchArgs {
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,
    /// Number of concurrent clients; a list is a sweep, one trial for each [default: 1].
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    #[arg(help_heading = LOAD)]
    pub(crate) clients: Vec<String>,
    /// Length of the measurement in each trial; a duration without a unit is in seconds [default: 10s].
    #[arg(long, value_name = "DURATION")]
    #[arg(help_heading = STOP)]
    pub(crate) time: Option<String>,
    /// Number of measured transactions in each trial; with a time, whichever is reached first ends the trial.
    #[arg(long, value_name = "N")]
    #[arg(help_heading = STOP, hide_short_help = true)]
    pub(crate) events: Option<String>,
    /// Precision that ends the measurement before `--time`, such as `p99 within 5%`, `mean within 2%` or
    /// `throughput within 1%`; with it the default of `--time` is 5m.
    #[arg(long, value_name = "PRECISION", conflicts_with = "events")]
    #[arg(help_heading = STOP, hide_short_help = true)]
    pub(crate) until: Option<String>,
    /// Length of the warm-up before the measurement, or `steady`: until the load is steady, 30s to 5m [default: 1s].
    #[arg(long, value_name = "DURATION")]
    #[arg(help_heading = LOAD)]
    pub(crate) warm_up: Option<String>,
    /// Length of a reporting interval [default: 1s].
    #[arg(long, value_name = "DURATION")]
    #[arg(help_heading = OUTPUT, hide_short_help = true)]
    pub(crate) interval: Option<String>,
    /// Think time of a client between transactions [default: none].
    #[arg(long, value_name = "DURATION")]
    #[arg(help_heading = LOAD, hide_short_help = true)]
    pub(crate) think_time: Option<String>,
    /// Arrival rate of an open loop, in transactions per second; a list is a sweep, one trial for each.
    #[arg(long, value_name = "PER_SECOND,...", value_delimiter = ',')]
    #[arg(conflicts_with = "think_time")]
    #[arg(help_heading = LOAD)]
    pub(crate) rate: Vec<String>,
    /// Distribution of the arrivals [default: poisson].
    #[arg(long, value_name = "DISTRIBUTION", value_parser = ["poisson", "constant"], requires = "rate")]
    #[arg(help_heading = LOAD, hide_short_help = true)]
    pub(crate) arrivals: Option<String>,
    /// Number of waiting arrivals at which a trial ends as overloaded [default: 100000].
    #[arg(long, value_name = "N", requires = "rate")]
    #[arg(help_heading = LOAD, hide_short_help = true)]
    pub(crate) backlog: Option<String>,
    /// Time-out for the answer to a statement, or `off`. A statement that times out fails, and percentiles include
    /// the time until then [default: 60s].
    #[arg(long, value_name = "DURATION")]
    #[arg(help_heading = LOAD, hide_short_help = true)]
    pub(crate) query_timeout: Option<String>,
    /// How long clients try to reconnect after they lost their connection; `off` ends the trial when the first
    /// connection is lost [default: 30s].
    #[arg(long, value_name = "DURATION")]
    #[arg(help_heading = LOAD, hide_short_help = true)]
    pub(crate) reconnect_limit: Option<String>,
    /// Number of event loops among which the clients are divided [default: one for each core, for every two
    /// beside a service on this machine, or for each of `--client-cpus`].
    #[arg(long, value_name = "N")]
    #[arg(help_heading = LOAD, hide_short_help = true)]
    pub(crate) workers: Option<String>,
    /// Processes that share the load, such as `local,ssh://bench1` [default: the load comes from this process].
    #[arg(long, value_name = "PLACE,...", value_delimiter = ',')]
    #[arg(help_heading = LOAD, hide_short_help = true)]
    pub(crate) generators: Vec<String>,
    /// CPUs that the threads of the load may use, such as `1` or `0-3,8` [default: all].
    #[arg(long, value_name = "CPUS")]
    #[arg(help_heading = LOAD, hide_short_help = true)]
    pub(crate) client_cpus: Option<String>,
    /// Number of repetitions of each trial [default: 3, which share the time of 9 s or more; else 1].
    #[arg(long, value_name = "N")]
    #[arg(help_heading = LOAD)]
    pub(crate) repetitions: Option<String>,
    /// Latency percentiles in tables [default: 50,95,99,99.9].
    #[arg(long, value_name = "P,...", value_delimiter = ',')]
    #[arg(help_heading = OUTPUT, hide_short_help = true)]
    pub(crate) percentiles: Vec<String>,
    /// Action when the tables already exist [default: match, which uses them if they are as asked for].
    #[arg(long, value_name = "ACTION", value_parser = EXISTING)]
    #[arg(help_heading = DATA)]
    pub(crate) existing: Option<String>,
    /// Action on the data between trials [default: keep].
    #[arg(long, value_name = "ACTION", value_parser = ["keep", "reload", "restore"])]
    #[arg(help_heading = DATA, hide_short_help = true)]
    pub(crate) between: Option<String>,
    /// Drop the tables at the end of the run.
    #[arg(long)]
    #[arg(help_heading = DATA, hide_short_help = true)]
    pub(crate) cleanup: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
