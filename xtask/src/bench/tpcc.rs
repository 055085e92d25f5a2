//! TPC-C: dyno against go-tpc. They run the same mix on the same two warehouses of one MariaDB, they load these, each
//! on a fresh server, and dyno checks them.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context;

use super::cases::Comparison;
use super::contestant::Contestant::{Dyno, GoTpc};
use super::contestant::dyno;
use super::prepare::phase_s;
use super::results::{Case, Quantity};
use super::server::BenchServer;
use super::window::{Window, run_to_end};
use super::{Bench, Part};
use crate::go::GO_TPC;
use crate::shell::{self, with};

const WAREHOUSES: &str = "2";
pub(super) const CONNECTIONS: usize = 10;
/// Stands for the loads among the numbers of connections.
pub(super) const LOADING: usize = 2;
/// Stands for the checks.
pub(super) const CHECKING: usize = 1;
/// Threads that go-tpc loads with; dyno decides by itself.
const GO_TPC_LOADERS: &str = "4";

/// Measures loads, checks and transactions.
pub(super) fn measure(bench: &mut Bench) -> anyhow::Result<()> {
    let go_tpc = GO_TPC.build(&bench.interrupt)?;
    let part = Part::Tpcc;
    for round in 0..bench.rounds {
        for contestant in bench.order.of(&[Dyno, GoTpc]) {
            let server = BenchServer::start(None)?;
            load(bench, &server, &go_tpc, Case { part, contestant, connections: LOADING, round })
                .with_context(|| format!("{}'s load", contestant.name()))?;
        }
    }
    let server = BenchServer::start(None)?;
    let options = "--events 1 --clients 1 --option check=false";
    let mut fill = dyno_tpcc(bench, &server, "fill", options);
    shell::must(fill.stdout(Stdio::null()), &bench.interrupt)?;
    let comparison = Comparison {
        part,
        server: &server,
        connections: &[CONNECTIONS],
        contestants: &[Dyno, GoTpc],
        cpus: None,
        // Transactions are few: the window is three times as long as for queries.
        window: Window::of_transactions(bench.window * 3),
    };
    let time = comparison.window.load_time();
    comparison.measure(bench, |bench, contestant, connections| {
        Ok(match contestant {
            Dyno => run(bench, &server, connections, time),
            _ => {
                let load = format!("--threads {connections} --time {}s", time.as_secs());
                go_tpc_command(&go_tpc, &server, "run", &load)
            }
        })
    })
}

/// Loads two warehouses; dyno also checks them.
fn load(bench: &mut Bench, server: &BenchServer, go_tpc: &Path, case: Case) -> anyhow::Result<()> {
    let times_s = if case.contestant == Dyno {
        let mut command = dyno_tpcc(bench, server, "load", "--events 1 --clients 1");
        run_to_end(&mut command, &bench.interrupt)?;
        let out = server.scratch().join("load");
        vec![(LOADING, phase_s(&out, "prepare")?), (CHECKING, phase_s(&out, "check")?)]
    } else {
        let options = format!("--no-check --threads {GO_TPC_LOADERS}");
        let mut command = go_tpc_command(go_tpc, server, "prepare", &options);
        vec![(LOADING, run_to_end(&mut command, &bench.interrupt)?.as_secs_f64())]
    };
    for (connections, value) in times_s {
        let (name, round) = (if connections == LOADING { "load" } else { "check" }, case.round + 1);
        eprintln!("xtask: Tpcc round {round}, {}: {name} {value:.2} s", case.contestant.name());
        bench.results.add(Case { connections, ..case }, [(Quantity::Seconds, value)]);
    }
    Ok(())
}

fn dyno_tpcc(bench: &Bench, server: &BenchServer, out: &str, options: &str) -> Command {
    let data = format!("--existing reuse --warm-up 0s --option warehouses={WAREHOUSES}");
    with(dyno(&bench.programs, server, "tpcc", out), &format!("{data} {options}"))
}

/// As go-tpc does it: its weights, and any warehouse for each transaction.
fn run(bench: &Bench, server: &BenchServer, connections: usize, time: Duration) -> Command {
    let options = "--option mix=45,43,4,4,4 --option home_warehouse=false --option check=false";
    let load = format!("--clients {connections} --seed 1 --time {}s", time.as_secs());
    dyno_tpcc(bench, server, "results", &format!("{options} {load}"))
}

fn go_tpc_command(go_tpc: &Path, server: &BenchServer, verb: &str, options: &str) -> Command {
    let options = format!("--warehouses {WAREHOUSES} {options}");
    server.go_tpc(go_tpc, &format!("tpcc {verb}"), &options)
}
