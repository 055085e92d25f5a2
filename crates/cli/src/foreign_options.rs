//! The options of other load generators, and what dyno calls them: for those who type what they are used to.
//!
//! Source: the help of sysbench 1.0, pgbench 17, go-ycsb 1.0, go-tpc 1.0, wrk 4 and wrk2.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// An option of other load generators.
struct Foreign {
    name: &'static str,
    /// The tool that has the option.
    of: &'static str,
    /// What to give dyno.
    ours: &'static str,
}

const fn foreign(name: &'static str, of: &'static str, ours: &'static str) -> Foreign {
    Foreign { name, of, ours }
}

const POSTGRES: &str = "--system postgresql://USER@HOST:PORT/DATABASE";
const PS: &str = "--ps text, unnamed or named, for simple, extended or prepared";
const SCALE: &str = "--option scale=N for the workload pgbench, --define scale=N for an SQL file";
const BUILTIN: &str = "--option builtin=NAME for the workload pgbench";
const SELECT_ONLY: &str = "--option builtin=select-only for the workload pgbench";
const SIMPLE_UPDATE: &str = "--option builtin=simple-update for the workload pgbench";
const INITIALIZE: &str =
    "the command prepare: dyno prepare pgbench; dyno bench makes tables that are missing";
const EACH_STATEMENT: &str = "nothing: the report has the latencies of each statement";
const LOG: &str = "nothing: the record has the histograms of each interval";
const LATENCY_LIMIT: &str = "--seek \"p99 < LIMIT\", or nothing: the report has the percentiles";
const MAX_TRIES: &str = "--option max_tries=N; without it a transaction is tried until it succeeds";
const NO_VACUUM: &str = "nothing: dyno vacuums after it has loaded tables, and before no trial";
const RECONNECT: &str = "--option reconnect=true for the workload pgbench and SQL files";
const FILLFACTOR: &str = "--option fillfactor=N for the workload pgbench";

/// A name that means different things has several lines.
const OPTIONS: &[Foreign] = &[
    foreign("--threads", "sysbench, go-ycsb, go-tpc and wrk", "--clients (event loops: --workers)"),
    foreign("--connections", "wrk", "--clients"),
    foreign("--client", "pgbench", "--clients"),
    foreign("--jobs", "pgbench", "--workers"),
    foreign("--duration", "wrk", "--time"),
    foreign("--max-time", "sysbench 0.4", "--time"),
    foreign("--max-requests", "sysbench 0.4", "--events"),
    foreign("--transactions", "pgbench", "--events, which counts those of all clients"),
    foreign("--count", "go-tpc", "--events"),
    foreign("--warmup-time", "sysbench 1.1", "--warm-up"),
    foreign("--report-interval", "sysbench", "--interval"),
    foreign("--progress", "pgbench", "--interval"),
    foreign("--percentile", "sysbench", "--percentiles"),
    foreign("--latency", "wrk", "nothing: dyno always shows percentiles"),
    foreign("--histogram", "sysbench", "nothing: report.html has the distribution"),
    foreign("--timeout", "wrk", "--query-timeout"),
    foreign("--target", "go-ycsb", "--rate"),
    foreign("--scale", "pgbench", SCALE),
    foreign("--builtin", "pgbench", BUILTIN),
    foreign("--select-only", "pgbench", SELECT_ONLY),
    foreign("--skip-some-updates", "pgbench", SIMPLE_UPDATE),
    foreign("--initialize", "pgbench", INITIALIZE),
    foreign("--report-per-command", "pgbench", EACH_STATEMENT),
    foreign("--report-latencies", "pgbench", EACH_STATEMENT),
    foreign("--log", "pgbench", LOG),
    foreign("--latency-limit", "pgbench", LATENCY_LIMIT),
    foreign("--max-tries", "pgbench", MAX_TRIES),
    foreign(
        "--failures-detailed",
        "pgbench",
        "nothing: the report has the failures by their codes",
    ),
    foreign("--no-vacuum", "pgbench", NO_VACUUM),
    foreign("--connect", "pgbench", RECONNECT),
    foreign("--fillfactor", "pgbench", FILLFACTOR),
    foreign("--unlogged-tables", "pgbench", "--option unlogged=true for the workload pgbench"),
    foreign("--foreign-keys", "pgbench", "--option foreign_keys=true for the workload pgbench"),
    foreign("--partitions", "pgbench", "--option partitions=N for the workload pgbench"),
    foreign(
        "--partition-method",
        "pgbench",
        "--option partition_method=NAME for the workload pgbench",
    ),
    foreign("--warehouses", "go-tpc", "--option warehouses=N"),
    foreign("--parts", "go-tpc", "--option partitions=N"),
    foreign("--file", "pgbench", "the SQL file as the workload: dyno bench FILE.sql"),
    foreign("--protocol", "pgbench", PS),
    foreign("--db-ps-mode", "sysbench", "--ps on or --ps off"),
    foreign("--rand-seed", "sysbench", "--seed"),
    foreign("--random-seed", "pgbench", "--seed"),
    foreign("--rand-type", "sysbench", "--option rand_type=NAME"),
    foreign("--prop", "go-ycsb", "--option NAME=VALUE"),
    foreign("--property_file", "go-ycsb", "--option properties=FILE"),
    foreign("--db-driver", "sysbench", "--system"),
    foreign("--driver", "go-tpc", "--system"),
    foreign("--host", "go-tpc", "--system mysql://USER@HOST:PORT/DATABASE"),
    foreign("--host", "pgbench", POSTGRES),
    foreign("--port", "pgbench", POSTGRES),
    foreign("--username", "pgbench", POSTGRES),
    foreign("--dbname", "pgbench", POSTGRES),
    foreign("-U", "pgbench", POSTGRES),
    foreign("-d", "pgbench", POSTGRES),
    foreign("--pgsql-host", "sysbench", POSTGRES),
    foreign("--pgsql-port", "sysbench", POSTGRES),
    foreign("--pgsql-user", "sysbench", POSTGRES),
    foreign("--pgsql-db", "sysbench", POSTGRES),
    foreign(
        "--pgsql-password",
        "sysbench",
        "the environment variable PGPASSWORD, or a password in --system",
    ),
    foreign("--mysql-host", "sysbench", "--system mysql://USER@HOST:PORT/DATABASE"),
    foreign("--mysql-port", "sysbench", "--system mysql://USER@HOST:PORT/DATABASE"),
    foreign("--mysql-user", "sysbench", "--system mysql://USER@HOST:PORT/DATABASE"),
    foreign(
        "--mysql-password",
        "sysbench",
        "the environment variable MYSQL_PWD, or a password in --system",
    ),
    foreign("--mysql-db", "sysbench", "--system mysql://USER@HOST:PORT/DATABASE"),
    foreign("--mysql-socket", "sysbench", "--system mysql://USER@/DATABASE?socket=PATH"),
    foreign("--dropdata", "go-tpc", "--existing replace, or --cleanup"),
    foreign("-c", "pgbench", "--clients"),
    foreign("-c", "wrk", "--clients"),
    foreign("-j", "pgbench", "--workers"),
    foreign("-T", "pgbench", "--time"),
    foreign("-T", "go-tpc", "--clients"),
    foreign("-t", "pgbench", "--events"),
    foreign("-t", "wrk", "--workers"),
    foreign("-d", "wrk", "--time"),
    foreign("-R", "pgbench and wrk2", "--rate"),
    foreign("-s", "pgbench", SCALE),
    foreign("-b", "pgbench", BUILTIN),
    foreign("-S", "pgbench", SELECT_ONLY),
    foreign("-N", "pgbench", SIMPLE_UPDATE),
    foreign("-i", "pgbench", INITIALIZE),
    foreign("-r", "pgbench", EACH_STATEMENT),
    foreign("-l", "pgbench", LOG),
    foreign("-L", "pgbench", LATENCY_LIMIT),
    foreign("-n", "pgbench", NO_VACUUM),
    foreign("-C", "pgbench", RECONNECT),
    foreign("-F", "pgbench", FILLFACTOR),
    foreign("-p", "pgbench", POSTGRES),
    foreign("-P", "pgbench", "--interval"),
    foreign("-P", "go-ycsb", "--option properties=FILE"),
    foreign("-P", "go-tpc", "--system mysql://USER@HOST:PORT/DATABASE"),
    foreign("-p", "go-ycsb", "--option NAME=VALUE"),
    foreign("-f", "pgbench", "the SQL file as the workload: dyno bench FILE.sql"),
    foreign("-M", "pgbench", PS),
    foreign("-H", "go-tpc", "--system mysql://USER@HOST:PORT/DATABASE"),
    foreign("-U", "go-tpc", "--system mysql://USER@HOST:PORT/DATABASE"),
];

/// Adds dyno's name of an unknown option that other load generators have, in the place of guesses by its spelling.
pub(crate) fn explain(mut error: clap::Error) -> clap::Error {
    if error.kind() == ErrorKind::InvalidSubcommand {
        return with_command(error);
    }
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let tips = tips(typed);
    if !tips.is_empty() {
        error.remove(ContextKind::SuggestedArg);
        let tips = tips.into_iter().map(Into::into).collect();
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}

/// Commands of other tools, and dyno's.
const COMMANDS: [(&str, &str); 6] = [
    ("start", "up"),
    ("stop", "down"),
    ("load", "prepare"),
    ("test", "bench"),
    ("ls", "list"),
    ("clean", "cleanup"),
];

/// Names dyno's command in the place of an unknown one.
fn with_command(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    if let Some((_, ours)) = COMMANDS.iter().find(|(name, _)| name == typed) {
        let ours = ContextValue::Strings(vec![(*ours).to_owned()]);
        error.insert(ContextKind::SuggestedSubcommand, ours);
        error.remove(ContextKind::Usage);
    }
    error
}

/// What to type in the place of an option.
fn tips(typed: &str) -> Vec<String> {
    let name = typed.split('=').next().unwrap_or_default();
    let same = |known: &&Foreign| known.name == name;
    let known = OPTIONS.iter().filter(same);
    known.map(|it| format!("for {name} of {} give {}", it.of, it.ours)).collect()
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::*;
    use crate::args::Args;

    #[test]
    fn options_of_other_load_generators_lead_to_ours() {
        let told = |option: &str| {
            let typed = ["dyno", "bench", "sysbench/oltp_point_select", option, "4"];
            explain(Args::try_parse_from(typed).unwrap_err()).to_string()
        };
        insta::assert_snapshot!(told("--threads"));
        insta::assert_snapshot!(told("-T"));
        insta::assert_snapshot!(told("-S"));
        let duration = told("--duration");
        assert!(duration.contains("give --time") && !duration.contains("similar"), "{duration}");
        let unknown = told("--colour");
        assert!(unknown.contains("unexpected argument '--colour'"), "{unknown}");
    }

    #[test]
    fn commands_of_other_tools_lead_to_ours() {
        let told = explain(Args::try_parse_from(["dyno", "start"]).unwrap_err()).to_string();
        assert!(told.contains("a similar subcommand exists: 'up'"), "{told}");
        for (foreign, ours) in COMMANDS {
            let command = Args::command();
            assert!(command.find_subcommand(ours).is_some(), "{ours}");
            assert!(command.find_subcommand(foreign).is_none(), "{foreign} is one of dyno's");
        }
    }

    #[test]
    fn every_option_that_is_named_exists_and_no_foreign_one_does() {
        let mut command = Args::command();
        let bench = command.find_subcommand_mut("bench").unwrap();
        let ours: Vec<String> = bench
            .get_arguments()
            .filter_map(|it| it.get_long())
            .map(|it| format!("--{it}"))
            .collect();
        let short: Vec<String> = bench
            .get_arguments()
            .filter_map(|it| it.get_short())
            .map(|it| format!("-{it}"))
            .collect();
        for it in OPTIONS {
            let named = it.ours.split([' ', ',', '(', ')', ':']).filter(|it| it.starts_with("--"));
            for named in named {
                assert!(ours.iter().any(|own| own == named), "{}: {named}", it.name);
            }
            let name = it.name.to_owned();
            assert!(!ours.contains(&name) && !short.contains(&name), "{name} is one of dyno's");
        }
    }
}
