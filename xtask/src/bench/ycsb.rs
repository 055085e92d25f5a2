//! YCSB's workload C: dyno against go-ycsb, on the same records of one MariaDB.

use std::process::{Command, Stdio};
use std::time::Duration;

use system::mariadb::{DATABASE, USER};

use super::contestant::Contestant::{Dyno, GoYcsb};
use super::contestant::Programs;
use super::goals::{Bound, Goal, ratio};
use super::page::beside;
use super::results::{Quantity, Results};
use super::server::BenchServer;
use super::window::{End, Load, look_at};
use super::{Bench, Part, cases};
use crate::peers::GO_YCSB;
use crate::shell;

/// Records of the one table.
const RECORDS: u32 = 10_000;
const CONNECTIONS: [usize; 2] = [16, 64];
/// Client CPU for a read, against go-ycsb.
const CPU_RATIO_MAX: f64 = 0.4;
/// More operations than go-ycsb can do in the time: it has no time limit, so it is stopped after the window.
const MANY: &str = "1000000000";

/// Measures reads at each number of connections.
///
/// # Errors
/// When go-ycsb cannot be built, or a contestant or the server fails.
pub(super) fn measure(bench: &mut Bench) -> anyhow::Result<()> {
    let go_ycsb = GO_YCSB.build(&bench.interrupt)?;
    let server = BenchServer::start(None)?;
    // dyno loads the records: they have the keys that go-ycsb reads.
    let mut load = dyno(&bench.programs, &server);
    load.args(["--events", "1", "--warm-up", "0s"]);
    shell::must(load.stdout(Stdio::null()), &bench.interrupt)?;
    for round in 0..bench.rounds {
        for connections in bench.order.of(&CONNECTIONS) {
            for contestant in bench.order.of(&[Dyno, GoYcsb]) {
                let time = super::window::time(bench);
                let load = match contestant {
                    Dyno => Load { command: run(bench, &server, connections, time), end: End::Own },
                    _ => {
                        let mut command = Command::new(&go_ycsb);
                        command.args(go_ycsb_arguments(&server, connections));
                        Load { command, end: End::Stopped }
                    }
                };
                let seen = look_at(bench, &server, contestant, load, connections, None)?;
                cases::Case { part: Part::Ycsb, contestant, connections, round }.keep(bench, &seen);
            }
        }
    }
    Ok(())
}

fn dyno(programs: &Programs, server: &BenchServer) -> Command {
    let mut command = Command::new(&programs.dyno);
    command
        .args(["bench", "ycsb/c", "--quiet", "--format", "json", "--existing", "reuse"])
        .args(["--option", &format!("recordcount={RECORDS}")])
        .args(["--option", "requestdistribution=uniform", "--system", &server.url(), "--out"])
        .arg(server.scratch().join("results"));
    command
}

fn run(bench: &Bench, server: &BenchServer, connections: usize, time: Duration) -> Command {
    let mut command = dyno(&bench.programs, server);
    command.args(["--clients", &connections.to_string()]).args([
        "--warm-up",
        "1s",
        "--time",
        &format!("{}ms", time.as_millis()),
    ]);
    command
}

fn go_ycsb_arguments(server: &BenchServer, connections: usize) -> Vec<String> {
    let mut arguments: Vec<String> = vec!["run".into(), "mysql".into()];
    arguments.push(format!("--threads={connections}"));
    let properties = [
        "workload=core".to_owned(),
        format!("recordcount={RECORDS}"),
        format!("operationcount={MANY}"),
        "readproportion=1".to_owned(),
        "updateproportion=0".to_owned(),
        "requestdistribution=uniform".to_owned(),
        "mysql.host=127.0.0.1".to_owned(),
        format!("mysql.port={}", server.port()),
        format!("mysql.user={USER}"),
        format!("mysql.password={}", server.password()),
        format!("mysql.db={DATABASE}"),
    ];
    arguments.extend(properties.into_iter().flat_map(|property| ["-p".to_owned(), property]));
    arguments
}

fn against(results: &Results, connections: usize, quantity: Quantity) -> Option<analysis::Ratio> {
    ratio(results, Part::Ycsb, GoYcsb, connections, quantity)
}

/// The goals for dyno here.
pub(super) fn goals(results: &Results) -> Vec<Goal> {
    let mut goals = Vec::new();
    for connections in results.connections(Part::Ycsb) {
        goals.extend(against(results, connections, Quantity::CpuUs).map(|ratio| {
            let what = format!("client CPU for a YCSB C read at {connections}, dyno / go-ycsb");
            Goal::of_ratio(what, Bound::AtMost(CPU_RATIO_MAX), ratio)
        }));
        goals.extend(against(results, connections, Quantity::QueriesPerS).map(|ratio| {
            let what = format!("throughput of YCSB C at {connections}, dyno / go-ycsb");
            Goal::of_ratio(what, Bound::AtLeast(1.0), ratio)
        }));
    }
    goals
}

/// The section of the page.
pub(super) fn section(results: &Results) -> String {
    let table = beside(results, Part::Ycsb, GoYcsb, |of| {
        let rate = of(Quantity::QueriesPerS) / 1e3;
        format!("{:.1} [{:.1}], {rate:.1}k/s", of(Quantity::CpuUs), of(Quantity::UserUs))
    });
    table.map_or_else(String::new, |table| {
        format!(
            "\n## YCSB C, server and client on all cores\n\nClient CPU for a read of ten fields of 100 \
             bytes, us (in brackets the user part), and throughput; {RECORDS} records, uniform requests, \
             go-ycsb 1.0.1.\n\n{table}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::goals::Outcome;
    use super::super::results::Sample;
    use super::*;

    #[test]
    fn reads_are_compared_with_go_ycsb() {
        let mut results = Results::new(1);
        for (contestant, cpu_us, rate) in [(Dyno, 8.0, 50e3), (GoYcsb, 22.0, 30e3)] {
            for round in 0..3 {
                for (quantity, value) in [(Quantity::CpuUs, cpu_us), (Quantity::QueriesPerS, rate)]
                {
                    let (part, connections) = (Part::Ycsb, 16);
                    let sample = Sample { part, contestant, connections, round, quantity, value };
                    results.samples.push(sample);
                }
            }
        }
        let seen: Vec<(String, Outcome)> =
            goals(&results).iter().map(|goal| (goal.seen(), goal.outcome())).collect();
        let expected = ["0.36 (0.36 to 0.36)", "1.67 (1.67 to 1.67)"];
        assert_eq!(seen, expected.map(|seen| (seen.to_owned(), Outcome::Reached)));
        assert!(section(&results).contains("| 16 | 8.0 [0.0], 50.0k/s | 22.0 [0.0], 30.0k/s |"));
    }
}
