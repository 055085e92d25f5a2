//! Ten minutes of load: memory must not grow.

use std::time::Duration;

use anyhow::{Context, bail};

use super::contestant::Contestant::Dyno;
use super::process::resident_bytes;
use super::results::{Case, Quantity};
use super::server::BenchServer;
use super::window::{Client, End, pause};
use super::{Bench, Part};

const LENGTH: Duration = Duration::from_secs(600);
/// Time between two readings of its memory; each reading is a round.
const STEP: Duration = Duration::from_secs(10);
const CONNECTIONS: usize = 64;

/// Reads dyno's memory every ten seconds.
pub(super) fn measure(bench: &mut Bench) -> anyhow::Result<()> {
    let server = BenchServer::start(None)?;
    server.fill(&bench.interrupt)?;
    let mut command = Dyno.point_selects(&bench.programs, &server, CONNECTIONS, LENGTH + STEP)?;
    let mut client = Client::start(&mut command, None).context("cannot start dyno")?;
    let steps = u32::try_from(LENGTH.as_secs() / STEP.as_secs()).unwrap_or(u32::MAX);
    for round in 0..steps {
        pause(STEP, &bench.interrupt)?;
        if let Some(status) = client.ended()? {
            let said = client.finish(End::Own).err();
            bail!("dyno ended after {} steps of {STEP:?} ({status}): {said:?}", round + 1);
        }
        let value = resident_bytes(client.pid())? as f64;
        eprintln!("xtask: soak {:?}: {:.1} MB", STEP * (round + 1), value / 1e6);
        let case = Case { part: Part::Soak, contestant: Dyno, connections: CONNECTIONS, round };
        bench.results.add(case, [(Quantity::ResidentBytes, value)]);
    }
    client.finish(End::Own)?;
    Ok(())
}
