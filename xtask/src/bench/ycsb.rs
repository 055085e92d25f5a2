//! YCSB's workload C: dyno against go-ycsb, on the same records of one MariaDB.

use std::process::{Command, Stdio};

use system::mariadb::{DATABASE, USER};

use super::cases::Comparison;
use super::contestant::Contestant::{Dyno, GoYcsb};
use super::contestant::{dyno, timed};
use super::server::BenchServer;
use super::window::Window;
use super::{Bench, Part};
use crate::peers::GO_YCSB;
use crate::shell;

/// Records of the one table.
const RECORDS: u32 = 10_000;
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
    let mut load = dyno_reads(bench, &server);
    load.args(["--events", "1", "--warm-up", "0s"]);
    shell::must(load.stdout(Stdio::null()), &bench.interrupt)?;
    let comparison = Comparison {
        part: Part::Ycsb,
        server: &server,
        connections: &[16, 64],
        contestants: &[Dyno, GoYcsb],
        cpus: None,
        window: Window::of_queries(bench.window),
    };
    let time = comparison.window.load_time();
    comparison.measure(bench, |bench, contestant, connections| {
        Ok(match contestant {
            Dyno => timed(dyno_reads(bench, &server), connections, time),
            _ => {
                let mut command = Command::new(&go_ycsb);
                command.args(go_ycsb_arguments(&server, connections));
                command
            }
        })
    })
}

fn dyno_reads(bench: &Bench, server: &BenchServer) -> Command {
    let mut command = dyno(&bench.programs, server, "ycsb/c", "results");
    command
        .args(["--existing", "reuse", "--option", &format!("recordcount={RECORDS}")])
        .args(["--option", "requestdistribution=uniform"]);
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
