//! Point selects: on separate cores, on shared cores, and their memory.

use super::contestant::Contestant::{self, Dyno, DynoWatching, Floor, Sysbench};
use super::results::{Quantity, Sample};
use super::server::BenchServer;
use super::window::{Seen, look};
use super::{Bench, Part};

/// The cores of server and client when they are separate.
const SERVER_CORE: &str = "0";
const CLIENT_CORE: &str = "1";
/// sysbench has a thread for each connection; it is not measured with more connections than this.
const SYSBENCH_CONNECTIONS_MAX: usize = 256;
/// The number of connections with which the cost of watching is also measured.
pub(super) const WATCHED_CONNECTIONS: usize = 64;

/// Server on one core, client on another: the client's cost of a query.
///
/// # Errors
/// When a contestant or the server fails.
pub(super) fn pinned(bench: &mut Bench) -> anyhow::Result<()> {
    let server = BenchServer::start(Some(SERVER_CORE))?;
    server.fill(&bench.interrupt)?;
    for round in 0..bench.rounds {
        for connections in bench.order.of(&[1, 16, 64, 256, 1024]) {
            let mut able = vec![Dyno, Floor];
            able.extend((connections <= SYSBENCH_CONNECTIONS_MAX).then_some(Sysbench));
            able.extend((connections == WATCHED_CONNECTIONS).then_some(DynoWatching));
            for contestant in bench.order.of(&able) {
                let case = Case { part: Part::Pinned, contestant, connections, round };
                case.measure(bench, &server, Some(CLIENT_CORE))?;
            }
        }
    }
    Ok(())
}

/// Both on all cores: throughput and fairness.
///
/// # Errors
/// When a contestant or the server fails.
pub(super) fn shared(bench: &mut Bench) -> anyhow::Result<()> {
    let server = BenchServer::start(None)?;
    on_all_cores(bench, &server, Part::Shared, &[1, 16, 64])
}

/// The client's peak memory.
///
/// # Errors
/// When a contestant or the server fails.
pub(super) fn memory(bench: &mut Bench) -> anyhow::Result<()> {
    let server = BenchServer::start(None)?;
    on_all_cores(bench, &server, Part::Memory, &[256])
}

/// TiDB and its client on all cores.
///
/// # Errors
/// When a contestant or the server fails, or there is no TiDB and none can be built.
pub(super) fn tidb(bench: &mut Bench) -> anyhow::Result<()> {
    let server = BenchServer::start_tidb(crate::tidb::build(&bench.interrupt)?)?;
    on_all_cores(bench, &server, Part::Tidb, &[1, 16, 64])
}

fn on_all_cores(
    bench: &mut Bench,
    server: &BenchServer,
    part: Part,
    connections: &[usize],
) -> anyhow::Result<()> {
    server.fill(&bench.interrupt)?;
    for round in 0..bench.rounds {
        for connections in bench.order.of(connections) {
            for contestant in bench.order.of(&[Dyno, Sysbench]) {
                let case = Case { part, contestant, connections, round };
                case.measure(bench, server, None)?;
            }
        }
    }
    Ok(())
}

/// One contestant in one round.
#[derive(Clone, Copy)]
pub(super) struct Case {
    pub part: Part,
    pub contestant: Contestant,
    pub connections: usize,
    pub round: u32,
}

impl Case {
    fn measure(
        self,
        bench: &mut Bench,
        server: &BenchServer,
        cpus: Option<&str>,
    ) -> anyhow::Result<()> {
        let seen = look(bench, server, self.contestant, self.connections, cpus)?;
        self.keep(bench, &seen);
        Ok(())
    }

    /// Prints the values and stores them.
    pub(super) fn keep(self, bench: &mut Bench, seen: &Seen) {
        eprintln!(
            "xtask: {:?} round {} of {}, {} at {}: {:.0} queries/s, {:.2} us user, {:.2} us system",
            self.part,
            self.round + 1,
            bench.rounds,
            self.contestant.name(),
            self.connections,
            seen.queries_per_s,
            seen.user_us,
            seen.system_us,
        );
        bench.results.samples.extend(self.samples(seen));
    }

    fn samples(self, seen: &Seen) -> Vec<Sample> {
        let Self { part, contestant, connections, round } = self;
        let mut values = vec![
            (Quantity::QueriesPerS, seen.queries_per_s),
            (Quantity::UserUs, seen.user_us),
            (Quantity::SystemUs, seen.system_us),
            (Quantity::CpuUs, seen.user_us + seen.system_us),
            (Quantity::PeakBytes, seen.peak_bytes as f64),
        ];
        values.extend(seen.unfairness.map(|value| (Quantity::Unfairness, value)));
        let sample =
            |(quantity, value)| Sample { part, contestant, connections, round, quantity, value };
        values.into_iter().map(sample).collect()
    }
}
