//! YCSB's workload C: dyno against go-ycsb, on the same records of one MariaDB.

use std::process::{Command, Stdio};
use std::time::Duration;

use system::mariadb::{DATABASE, USER};

use super::contestant::Contestant::{Dyno, GoYcsb};
use super::contestant::Programs;
use super::server::BenchServer;
use super::window::{End, Load, look_at};
use super::{Bench, Part, cases};
use crate::peers::GO_YCSB;
use crate::shell;

/// Records of the one table.
const RECORDS: u32 = 10_000;
const CONNECTIONS: [usize; 2] = [16, 64];
/// More operations than go-ycsb does in the time: it is ended after the window, for it has no bound by
/// time.
const MANY: &str = "1000000000";

/// Measures reads at each number of connections.
///
/// # Errors
/// When go-ycsb cannot be built, or a contestant or the server fails.
pub(super) fn measure(bench: &mut Bench) -> anyhow::Result<()> {
    let go_ycsb = GO_YCSB.build(&bench.interrupt)?;
    let server = BenchServer::start(None)?;
    // By dyno itself: its records have the keys that go-ycsb asks for.
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
