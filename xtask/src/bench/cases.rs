//! Contestants that load one server in turn; and point selects: pinned apart, sharing cores, and how much
//! memory they take.

use std::process::Command;

use anyhow::Context;

use super::contestant::Contestant::{self, Dyno, DynoWatching, Floor, Sysbench};
use super::results::Case;
use super::server::BenchServer;
use super::window::Window;
use super::{Bench, Part};

/// The cores of server and client when they are separate.
pub(super) const SERVER_CORE: &str = "0";
pub(super) const CLIENT_CORE: &str = "1";
/// sysbench has a thread for each connection; it is not measured with more connections than this.
const SYSBENCH_CONNECTIONS_MAX: usize = 256;

/// Point selects of a part that measures nothing else.
pub(super) fn measure(bench: &mut Bench, part: Part) -> anyhow::Result<()> {
    let is_pinned = part == Part::Pinned;
    let server = match part {
        Part::Tidb => BenchServer::start_tidb(crate::servers::tidb(&bench.interrupt)?)?,
        _ => BenchServer::start(is_pinned.then_some(SERVER_CORE))?,
    };
    server.fill(&bench.interrupt)?;
    let connections: &[usize] = match part {
        Part::Pinned => &[1, 16, 64, 256, 1024],
        Part::Memory => &[256],
        // METHODOLOGY.md's rule for event loops was chosen by the numbers that are powers of 4.
        Part::Shared => &[1, 2, 4, 16, 32, 64, 128, 256],
        _ => &[1, 16, 64],
    };
    let comparison = Comparison {
        part,
        server: &server,
        connections,
        contestants: if is_pinned {
            &[Dyno, DynoWatching, Floor, Sysbench]
        } else {
            &[Dyno, Sysbench]
        },
        cpus: is_pinned.then_some(CLIENT_CORE),
        window: Window::of_queries(bench.window),
    };
    let time = comparison.window.load_time();
    comparison.measure(bench, |bench, contestant, connections| {
        contestant.point_selects(&bench.programs, &server, connections, time)
    })
}

/// Contestants that load one server in turn.
pub(super) struct Comparison<'a, S> {
    pub part: Part,
    pub server: &'a S,
    pub connections: &'a [usize],
    pub contestants: &'a [Contestant],
    /// The cores that contestants are kept on.
    pub cpus: Option<&'a str>,
    pub window: Window<S>,
}

impl<S> Comparison<'_, S> {
    /// Measures every contestant, as its command loads the server from so many connections, in every round.
    pub(super) fn measure(
        &self,
        bench: &mut Bench,
        command: impl Fn(&Bench, Contestant, usize) -> anyhow::Result<Command>,
    ) -> anyhow::Result<()> {
        for round in 0..bench.rounds {
            for connections in bench.order.of(self.connections) {
                let all = self.contestants.iter().copied();
                let able: Vec<_> = all.filter(|it| is_measured(*it, connections)).collect();
                for contestant in bench.order.of(&able) {
                    let case = Case { part: self.part, contestant, connections, round };
                    self.once(bench, case, command(bench, contestant, connections)?)?;
                }
            }
        }
        Ok(())
    }

    fn once(&self, bench: &mut Bench, case: Case, command: Command) -> anyhow::Result<()> {
        let Case { part, contestant, connections, round } = case;
        let seen = self.window.look(self.server, contestant, command, self.cpus, &bench.interrupt);
        let seen =
            seen.with_context(|| format!("{} with {connections} connections", contestant.name()))?;
        eprintln!(
            "xtask: {part:?} round {} of {}, {} at {connections}: {:.0} queries/s, {:.2} us user, {:.2} us \
             system",
            round + 1,
            bench.rounds,
            contestant.name(),
            seen.queries_per_s,
            seen.user_us,
            seen.system_us,
        );
        bench.results.add(case, seen.values());
        Ok(())
    }
}

fn is_measured(contestant: Contestant, connections: usize) -> bool {
    match contestant {
        Sysbench => connections <= SYSBENCH_CONNECTIONS_MAX,
        _ => true,
    }
}
