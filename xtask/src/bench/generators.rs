//! What the coordinator of a load costs: its CPU while eight generators offer the load of one run and report every
//! second.

use std::process::Command;

use super::contestant::Contestant::Dyno;
use super::results::{Case, Quantity};
use super::rpc::FRAME;
use super::rpc_server::RpcServer;
use super::window::Window;
use super::{Bench, Part};
use crate::shell::with;

/// Generators, all of them on this machine.
pub(super) const GENERATORS: usize = 8;
/// Connections of each generator, with four requests in flight on each.
const CONNECTIONS: usize = 4;

/// Measures the process of the run alone; the generators are processes of their own.
pub(super) fn measure(bench: &mut Bench) -> anyhow::Result<()> {
    let server = RpcServer::start_floor(&bench.programs.rpc_server, None)?;
    let window = Window::of_calls(bench.window);
    let seconds = window.load_time().as_secs_f64().ceil();
    for round in 0..bench.rounds {
        let command = command(bench, &server, seconds);
        let seen = window.look(&server, Dyno, command, None, &bench.interrupt)?;
        let values = [
            (Quantity::QueriesPerS, seen.queries_per_s),
            (
                Quantity::CoordinatorCores,
                (seen.user_us + seen.system_us) * seen.queries_per_s / 1e6,
            ),
        ];
        eprintln!("xtask: generators round {} of {}: {values:?}", round + 1, bench.rounds);
        let case =
            Case { part: Part::Generators, contestant: Dyno, connections: GENERATORS, round };
        bench.results.add(case, values);
    }
    Ok(())
}

fn command(bench: &Bench, server: &RpcServer, seconds: f64) -> Command {
    let connections = GENERATORS * CONNECTIONS;
    let places = ["\"local\""; GENERATORS].join(",");
    let command = with(
        Command::new(&bench.programs.dyno),
        &format!(
            "bench rpc --system tcp://{} -o hex={FRAME} -o answer_size=27 -o connections={connections} --clients {} \
             --time {seconds}s --warm-up 0s --workers 1 --set watch=\"off\" --set load.generators=[{places}] --quiet \
             --format json",
            server.address(),
            4 * connections,
        ),
    );
    with(command, &format!("--out {}", server.scratch().display()))
}
