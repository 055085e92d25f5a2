//! TPC-H: dyno's load against go-tpc's, of the same rows, each on a fresh MariaDB or TiDB.
//!
//! Neither makes indexes beside the primary keys. dyno always gathers statistics; go-tpc does so on TiDB alone, by its
//! option, because its statements for that are TiDB's.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};

use super::contestant::Contestant::{self, Dyno, DynoLocalRows, GoTpc};
use super::prepare::LoadCost;
use super::results::Case;
use super::server::BenchServer;
use super::{Bench, Part};
use crate::go::GO_TPC;
use crate::shell::with;

/// The scale factor: go-tpc has none below.
const SCALE: &str = "1";
/// Rows of LINEITEM that dbgen makes at scale 1.
const LINES: u64 = 6_001_215;
/// Threads that go-tpc loads with; dyno decides by itself.
pub(super) const GO_TPC_LOADERS: usize = 4;

/// Measures the loads on the system of this part.
pub(super) fn measure(bench: &mut Bench, part: Part) -> anyhow::Result<()> {
    let go_tpc = GO_TPC.build(&bench.interrupt)?;
    for round in 0..bench.rounds {
        for contestant in bench.order.of(&[Dyno, DynoLocalRows, GoTpc]) {
            let server = match part {
                Part::TpchTidb => BenchServer::start_tidb(crate::servers::tidb(&bench.interrupt)?)?,
                _ => BenchServer::start(None)?,
            };
            let mut command = match contestant {
                GoTpc => go_tpc_load(&go_tpc, &server, part),
                _ => dyno_load(bench, &server, contestant),
            };
            let cost = LoadCost::of(bench, &server, &mut command)
                .with_context(|| format!("the load of {}", contestant.name()))?;
            let lines = server.count("lineitem")?;
            ensure!(lines == LINES, "{} loaded {lines} lines, not {LINES}", contestant.name());
            eprintln!("xtask: {part:?} round {}, {}: {cost:?}", round + 1, contestant.name());
            let case = Case { part, contestant, connections: GO_TPC_LOADERS, round };
            bench.results.add(case, cost.values());
        }
    }
    Ok(())
}

fn dyno_load(bench: &Bench, server: &BenchServer, contestant: Contestant) -> Command {
    let options = format!(
        "prepare tpch --quiet --system {} --option scale={SCALE} --option indexes=false \
         --option load_data_local={}",
        server.url(),
        contestant == DynoLocalRows
    );
    with(Command::new(&bench.programs.dyno), &options)
}

fn go_tpc_load(go_tpc: &Path, server: &BenchServer, part: Part) -> Command {
    let analyze = if part == Part::TpchTidb { "--analyze" } else { "" };
    let load = format!("--sf {SCALE} --threads {GO_TPC_LOADERS} {analyze}");
    server.go_tpc(go_tpc, "tpch prepare", &load)
}
