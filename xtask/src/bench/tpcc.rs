//! TPC-C: dyno against go-tpc, the same mix on the same two warehouses of one MariaDB; loading them, each on a
//! fresh server; and dyno's check of them.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use net::Clock;
use system::mariadb::{DATABASE, USER};

use super::contestant::Contestant::{self, Dyno, GoTpc};
use super::prepare::phase_s;
use super::process::{CpuTime, memory_bytes};
use super::results::{Quantity, Sample};
use super::server::BenchServer;
use super::window::{Client, Seen, pause};
use super::{Bench, Part, cases};
use crate::peers::GO_TPC;
use crate::shell;

const WAREHOUSES: &str = "2";
pub(super) const CONNECTIONS: usize = 10;
/// Stands for the loads among the numbers of connections.
pub(super) const LOADING: usize = 2;
/// Stands for the checks.
pub(super) const CHECKING: usize = 1;
/// Threads that go-tpc loads with; dyno decides by itself.
const GO_TPC_LOADERS: &str = "4";
/// Transactions that show that the load has begun.
const BEGUN: u64 = 50;
const SETTLE: Duration = Duration::from_secs(2);
const MARGIN: Duration = Duration::from_secs(3);
const POLL_PERIOD: Duration = Duration::from_millis(20);
/// Looks before a load that does not begin is given up: two minutes.
const POLLS_MAX: usize = 6_000;

/// Measures loads, checks and transactions.
///
/// # Errors
/// When go-tpc cannot be built, or a contestant or the server fails.
pub(super) fn measure(bench: &mut Bench) -> anyhow::Result<()> {
    let go_tpc = GO_TPC.build(&bench.interrupt)?;
    for round in 0..bench.rounds {
        for contestant in bench.order.of(&[Dyno, GoTpc]) {
            let server = BenchServer::start(None)?;
            load(bench, &server, &go_tpc, (contestant, round))?;
        }
    }
    let server = BenchServer::start(None)?;
    let mut fill = dyno(bench, &server, &server.scratch().join("fill"));
    fill.args(["--events", "1", "--clients", "1", "--option", "check=false"]);
    shell::must(fill.stdout(Stdio::null()), &bench.interrupt)?;
    for round in 0..bench.rounds {
        for contestant in bench.order.of(&[Dyno, GoTpc]) {
            let command = match contestant {
                Dyno => run(bench, &server),
                _ => go_tpc_run(bench, &go_tpc, &server),
            };
            let seen = look_at(bench, &server, command)
                .with_context(|| format!("{}'s transactions", contestant.name()))?;
            let case =
                cases::Case { part: Part::Tpcc, contestant, connections: CONNECTIONS, round };
            case.keep(bench, &seen);
        }
    }
    Ok(())
}

/// Loads two warehouses; dyno also checks them.
fn load(
    bench: &mut Bench,
    server: &BenchServer,
    go_tpc: &Path,
    (contestant, round): (Contestant, u32),
) -> anyhow::Result<()> {
    let out = server.scratch().join("load");
    let command = match contestant {
        Dyno => {
            let mut command = dyno(bench, server, &out);
            command.args(["--events", "1", "--clients", "1"]);
            command
        }
        _ => {
            let mut command = go_tpc_command(go_tpc, server, "prepare");
            command.args(["--no-check", "--threads", GO_TPC_LOADERS]);
            command
        }
    };
    let clock = Clock::monotonic();
    let mut client = Client::start(command, None)?;
    while client.ended()?.is_none() {
        pause(POLL_PERIOD, &bench.interrupt)?;
    }
    let wall = Duration::from_nanos(clock.now());
    client.finish(false).with_context(|| format!("{}'s load", contestant.name()))?;
    let mut keep = |connections, value| {
        let name = if connections == LOADING { "load" } else { "check" };
        eprintln!("xtask: Tpcc round {}, {}: {name} {value:.2} s", round + 1, contestant.name());
        let (part, quantity) = (Part::Tpcc, Quantity::Seconds);
        let sample = Sample { part, contestant, connections, round, quantity, value };
        bench.results.samples.push(sample);
    };
    if contestant == Dyno {
        keep(LOADING, phase_s(&out, "prepare")?);
        keep(CHECKING, phase_s(&out, "check")?);
    } else {
        keep(LOADING, wall.as_secs_f64());
    }
    Ok(())
}

fn dyno(bench: &Bench, server: &BenchServer, out: &Path) -> Command {
    let mut command = Command::new(&bench.programs.dyno);
    command
        .args(["bench", "tpcc", "--quiet", "--format", "json", "--existing", "reuse"])
        .args(["--warm-up", "0s", "--option", &format!("warehouses={WAREHOUSES}")])
        .args(["--system", &server.url(), "--out"])
        .arg(out);
    command
}

/// As go-tpc does it: its weights, and any warehouse for each transaction.
fn run(bench: &Bench, server: &BenchServer) -> Command {
    let mut command = dyno(bench, server, &server.scratch().join("results"));
    command
        .args(["--option", "mix=45,43,4,4,4", "--option", "home_warehouse=false"])
        .args(["--option", "check=false", "--clients", &CONNECTIONS.to_string()])
        .args(["--seed", "1", "--time", &format!("{}s", seconds(bench))]);
    command
}

fn go_tpc_run(bench: &Bench, go_tpc: &Path, server: &BenchServer) -> Command {
    let mut command = go_tpc_command(go_tpc, server, "run");
    command.args(["--threads", &CONNECTIONS.to_string()]);
    command.args(["--time", &format!("{}s", seconds(bench))]);
    command
}

fn go_tpc_command(go_tpc: &Path, server: &BenchServer, verb: &str) -> Command {
    let mut command = Command::new(go_tpc);
    command
        .args(["tpcc", verb, "--host", "127.0.0.1", "--port", &server.port().to_string()])
        .args(["--user", USER, "--password", &server.password()])
        .args(["--db", DATABASE, "--warehouses", WAREHOUSES]);
    command
}

fn seconds(bench: &Bench) -> u64 {
    (SETTLE + window(bench) + MARGIN).as_secs()
}

/// Transactions are few: the window is three times as long as for queries.
fn window(bench: &Bench) -> Duration {
    bench.window * 3
}

/// Runs one contestant and looks at it over a window in its middle; transactions are those that the server
/// counted.
fn look_at(bench: &Bench, server: &BenchServer, command: Command) -> anyhow::Result<Seen> {
    let before = server.transactions()?;
    let mut client = Client::start(command, None)?;
    for look in 0.. {
        if server.transactions()? >= before + BEGUN {
            break;
        }
        if look == POLLS_MAX || client.ended()?.is_some() {
            bail!("its load does not begin");
        }
        pause(POLL_PERIOD, &bench.interrupt)?;
    }
    pause(SETTLE, &bench.interrupt)?;
    let clock = Clock::monotonic();
    let (first, cpu) = (server.transactions()?, CpuTime::of(client.pid())?);
    pause(window(bench), &bench.interrupt)?;
    let transactions = (server.transactions()? - first).max(1) as f64;
    let split = CpuTime::of(client.pid())?.since(&cpu);
    let length_s = clock.now() as f64 / 1e9;
    if client.ended()?.is_some() {
        bail!("its load ended inside the window");
    }
    let peak_bytes = memory_bytes(client.pid(), "VmHWM")?;
    client.finish(false)?;
    Ok(Seen {
        queries_per_s: transactions / length_s,
        user_us: split.user.as_secs_f64() * 1e6 / transactions,
        system_us: split.system.as_secs_f64() * 1e6 / transactions,
        peak_bytes,
        unfairness: None,
    })
}
