//! YCSB's workload C: dyno against go-ycsb, on the same records of one MariaDB.

use std::process::{Command, Stdio};

use system::mariadb::{DATABASE, USER};

use super::cases::Comparison;
use super::contestant::Contestant::{Dyno, GoYcsb};
use super::contestant::{dyno, timed};
use super::server::BenchServer;
use super::window::Window;
use super::{Bench, Part};
use crate::go::GO_YCSB;
use crate::shell::{self, with};

/// Records of the one table.
const RECORDS: u32 = 10_000;
/// More operations than go-ycsb does in the time: it is ended after the window, for it has no bound by
/// time.
const MANY: &str = "1000000000";

/// Measures reads at each number of connections.
pub(super) fn measure(bench: &mut Bench) -> anyhow::Result<()> {
    let go_ycsb = GO_YCSB.build(&bench.interrupt)?;
    let server = BenchServer::start(None)?;
    // By dyno itself: its records have the keys that go-ycsb asks for.
    let mut load = with(dyno_reads(bench, &server), "--events 1 --warm-up 0s");
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
            _ => with(Command::new(&go_ycsb), &go_ycsb_arguments(&server, connections)),
        })
    })
}

fn dyno_reads(bench: &Bench, server: &BenchServer) -> Command {
    let records = format!("--option recordcount={RECORDS}");
    let options = format!("--existing reuse {records} --option requestdistribution=uniform");
    with(dyno(&bench.programs, server, "ycsb/c", "results"), &options)
}

fn go_ycsb_arguments(server: &BenchServer, connections: usize) -> String {
    let (port, password) = (server.port(), server.password());
    format!(
        "run mysql --threads={connections} -p workload=core -p recordcount={RECORDS} \
         -p operationcount={MANY} -p readproportion=1 -p updateproportion=0 \
         -p requestdistribution=uniform -p mysql.host=127.0.0.1 -p mysql.port={port} \
         -p mysql.user={USER} -p mysql.password={password} -p mysql.db={DATABASE}"
    )
}
