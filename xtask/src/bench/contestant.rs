//! The contestants, and the command of each for the same load.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use system::mariadb::DATABASE;

use super::server::{BenchServer, FLOOR_USER, ROWS};
use crate::shell::with;

/// A contestant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Contestant {
    /// dyno without watching hosts and servers, because the other contestants do not watch them either.
    Dyno,
    /// dyno with its defaults.
    #[serde(rename = "dyno, watching")]
    DynoWatching,
    /// dyno with rows that it loads by LOAD DATA LOCAL.
    #[serde(rename = "dyno, LOAD DATA")]
    DynoLocalRows,
    Sysbench,
    Floor,
    GoYcsb,
    GoTpc,
    /// dyno with requests of tRPC, beside those without a meaning.
    #[serde(rename = "dyno, tRPC")]
    DynoTrpc,
    TrpcClient,
    Ghz,
    H2load,
}

/// The programs that were built for the benchmark.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    pub dyno: PathBuf,
    pub floor: PathBuf,
    pub rpc_client: PathBuf,
    pub rpc_server: PathBuf,
}

impl Contestant {
    /// Its name in tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Dyno => "dyno",
            Self::DynoWatching => "dyno, watching",
            Self::DynoLocalRows => "dyno, LOAD DATA",
            Self::Sysbench => "sysbench",
            Self::Floor => "floor",
            Self::GoYcsb => "go-ycsb",
            Self::GoTpc => "go-tpc",
            Self::DynoTrpc => "dyno, tRPC",
            Self::TrpcClient => "trpc-go's client",
            Self::Ghz => "ghz",
            Self::H2load => "h2load",
        }
    }

    /// The command for prepared point selects by primary key, evenly over one table, from
    /// `connections` connections for at least `time`.
    ///
    /// # Errors
    /// When the contestant has none.
    pub(super) fn point_selects(
        self,
        programs: &Programs,
        server: &BenchServer,
        connections: usize,
        time: Duration,
    ) -> anyhow::Result<Command> {
        match self {
            Self::Dyno | Self::DynoWatching => {
                let command = dyno(programs, server, "sysbench/oltp_point_select", "results");
                let watch = if self == Self::Dyno { "--set watch=\"off\"" } else { "" };
                let options = format!(
                    "--tables 1 --table-size {ROWS} --existing reuse --option rand_type=uniform {watch}"
                );
                Ok(timed(with(command, &options), connections, time))
            }
            Self::Sysbench => {
                // sysbench takes whole seconds.
                let seconds = time.as_secs_f64().ceil() + 1.0;
                let load = format!("--threads={connections} --time={seconds} run");
                Ok(with(server.sysbench(1, ROWS), &format!("--rand-type=uniform {load}")))
            }
            Self::Floor => {
                let (port, seconds) = (server.port(), time.as_secs_f64());
                let server = format!("127.0.0.1 {port} {FLOOR_USER} {DATABASE} {ROWS}");
                let command = Command::new(&programs.floor);
                Ok(with(command, &format!("{server} {connections} 1 {seconds}")))
            }
            _ => {
                bail!("{} has no point selects of sysbench's", self.name())
            }
        }
    }

    /// Whether its load ends only when it is told to.
    pub(super) fn has_no_end(self) -> bool {
        self == Self::GoYcsb
    }

    /// Standard deviation over clients of what each got done, as a share of the mean; `None` for
    /// who does not count that.
    pub(super) fn unfairness(self, printed: &str) -> anyhow::Result<Option<f64>> {
        match self {
            Self::Dyno | Self::DynoWatching | Self::DynoTrpc => dyno_unfairness(printed),
            Self::Sysbench => sysbench_unfairness(printed)
                .context("sysbench says nothing about its threads' fairness")
                .map(Some),
            _ => Ok(None),
        }
    }
}

/// dyno on a workload, with its record in the folder `out` of the server's scratch.
pub(super) fn dyno(
    programs: &Programs,
    server: &BenchServer,
    workload: &str,
    out: &str,
) -> Command {
    let options = format!("bench {workload} --quiet --format json --system {}", server.url());
    let mut command = with(Command::new(&programs.dyno), &options);
    command.arg("--out").arg(server.scratch().join(out));
    command
}

/// dyno's command for so many clients, for so long.
pub(super) fn timed(command: Command, connections: usize, time: Duration) -> Command {
    let time = time.as_millis();
    with(command, &format!("--clients {connections} --warm-up 1s --time {time}ms"))
}

/// dyno does not report figures of single clients.
fn dyno_unfairness(printed: &str) -> anyhow::Result<Option<f64>> {
    let run: Value = serde_json::from_str(printed).context("dyno printed no JSON")?;
    let trial = run["trials"].get(0).context("dyno printed no trial")?;
    let number = |name: &str| trial["clients_fairness"][name].as_f64();
    let fairness = number("mean").zip(number("standard_deviation"));
    Ok(fairness.map(|(mean, deviation)| deviation / mean))
}

/// From the line `events (avg/stddev): 4511.5000/12.34`.
fn sysbench_unfairness(printed: &str) -> Option<f64> {
    let line =
        printed.lines().find(|line| line.trim_start().starts_with("events (avg/stddev):"))?;
    let (mean, deviation) = line.split_once("):")?.1.trim().split_once('/')?;
    Some(deviation.parse::<f64>().ok()? / mean.parse::<f64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_is_found_in_what_sysbench_prints() {
        let printed = "Threads fairness:\n    events (avg/stddev):           200.0000/5.00\n    \
                       execution time (avg/stddev):   0.9/0.00\n";
        assert_eq!(Contestant::Sysbench.unfairness(printed).unwrap(), Some(0.025));
        assert!(Contestant::Sysbench.unfairness("").is_err());
    }

    #[test]
    fn fairness_is_found_in_what_dyno_prints() {
        let printed = r#"{"trials":[{"clients_fairness":{"mean":50.0,"standard_deviation":5.0}}]}"#;
        assert_eq!(Contestant::Dyno.unfairness(printed).unwrap(), Some(0.1));
        let alone = r#"{"trials":[{"clients_fairness":null}]}"#;
        assert_eq!(Contestant::Dyno.unfairness(alone).unwrap(), None);
        assert!(Contestant::Dyno.unfairness("{}").is_err());
        assert_eq!(Contestant::Floor.unfairness("").unwrap(), None);
    }
}
