//! The levers of an experiment: their sizes, and the hands that switch those outside of the load.

use std::sync::Arc;
use std::time::Duration;

use analysis::WHY_LEVERS;
use anyhow::Error;
use engine::{LeverSizes, ServerStatements, rounds_per_us};
use measure::{Lever, Nanos, UnusedLever, UsedLever, Why, nanos};
use plan::Toggle;
use system::slowdown::{CpuTax, FewerCores};
use system::watch::server_processes;
use system::{Access, FlushGate};

use super::asking::Asking;
use super::flushing::Flushing;
use super::servers::{Servers, with_children};
use super::toggle::Toggler;
use super::{EFFECT, effect};
use crate::test_bed::TestBed;

/// A wait of dyno's that is shorter ends too late to be one: fewer transactions have a longer one. How late a timer is depends on
/// how idle its event loop is, so it has to be a small part.
const WAIT_MIN: Duration = Duration::from_micros(250);
/// The least wait before a flush, whose length is measured.
const FLUSH_WAIT_MIN: Duration = Duration::from_micros(50);
/// Time on a CPU between two interrupts of a thread of the server, at first and at most.
const TAX_PERIOD: Duration = Duration::from_micros(25);
const TAX_PERIOD_MAX: Duration = Duration::from_micros(200);
/// One of so many clients pauses.
const PAUSED_PART: usize = 8;

/// How large each slow-down is.
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    before_ns: f64,
    inside_ns: f64,
    client_ns: f64,
    work_ns: f64,
    asleep_ns: f64,
    flush_ns: f64,
    tax: Duration,
    rounds_per_us: f64,
}

impl Sizes {
    /// So that each would cost 10 % of the rate if its place were the limit, for transactions that so many clients end every
    /// `ns`; of waits, if each client waited for itself.
    pub(super) fn first(ns: f64, clients: usize) -> Self {
        let clients = clients as f64;
        Self {
            before_ns: 0.12 * ns * clients,
            inside_ns: 0.12 * ns * clients.sqrt(),
            client_ns: (0.15 * ns).max(500.0),
            work_ns: 0.15 * ns,
            asleep_ns: 0.12 * ns * clients.sqrt(),
            flush_ns: (0.12 * ns * clients).max(nanos(FLUSH_WAIT_MIN) as f64),
            tax: TAX_PERIOD,
            rounds_per_us: rounds_per_us(),
        }
    }

    /// Makes those smaller whose effect in the pilot was larger than it has to be.
    pub(super) fn fit(&mut self, pilot: &Why) {
        let factor = |lever| {
            let effect = effect(pilot, lever).unwrap_or(0.0);
            (EFFECT / effect.max(EFFECT)).max(0.1)
        };
        self.before_ns *= factor(Lever::Before);
        self.inside_ns *= factor(Lever::Inside);
        self.client_ns *= factor(Lever::ClientCpu);
        self.work_ns *= factor(Lever::ServerCpu);
        self.asleep_ns *= factor(Lever::ServerSleep);
        self.flush_ns = (self.flush_ns * factor(Lever::Flush)).max(nanos(FLUSH_WAIT_MIN) as f64);
        self.tax = self.tax.div_f64(factor(Lever::ServerCpu)).min(TAX_PERIOD_MAX);
    }
}

/// What an experiment holds to switch its levers.
pub(super) struct Hands {
    pub(super) used: Vec<UsedLever>,
    pub(super) unused: Vec<UnusedLever>,
    /// The server's processes on this machine.
    pub(super) processes: Vec<u32>,
    pub(super) servers: Servers,
    client_rounds: u64,
    statements: Option<ServerStatements>,
    tax: Option<CpuTax>,
    cores: Option<FewerCores>,
    flush_gates: Vec<Arc<FlushGate>>,
    flush_ns: Nanos,
    flushing: Option<Flushing>,
    toggle: Option<Toggler>,
}

impl Hands {
    /// Takes hold of everything that can be switched at this load.
    pub(super) fn on<'a>(
        sizes: &Sizes,
        (test_bed, asking): (&TestBed<'_>, &impl Fn() -> Result<&'a Asking, &'a Error>),
        clients: usize,
        (toggle, servers): (Option<&Toggle>, Servers),
    ) -> Self {
        let own: Vec<u32> = test_bed.processes().iter().map(|process| process.pid).collect();
        let processes = if own.is_empty() { found(test_bed) } else { own.clone() };
        let mut hands = Self {
            used: Vec::new(),
            unused: Vec::new(),
            client_rounds: (sizes.client_ns / 1e3 * sizes.rounds_per_us) as u64,
            statements: None,
            tax: None,
            cores: None,
            flush_gates: test_bed.flush_gates(),
            flush_ns: sizes.flush_ns as Nanos,
            flushing: None,
            toggle: None,
            servers,
            processes,
        };
        hands.uses(Lever::Null, 0, 1);
        let (wait_ns, every) = wait(sizes.before_ns);
        hands.uses(Lever::Before, wait_ns, every);
        match test_bed.access() {
            Access::Database(target) if !target.capabilities().is_blocking => {
                let (wait_ns, every) = wait(sizes.inside_ns);
                hands.uses(Lever::Inside, wait_ns, every);
            }
            Access::Database(_) => hands.lacks(Lever::Inside, "the database runs within dyno"),
            _ => hands.lacks(Lever::Inside, "a call is one request"),
        }
        hands.uses(Lever::ClientCpu, sizes.client_ns as u64, 1);
        match CpuTax::attach(&hands.processes, sizes.tax) {
            Ok(tax) => {
                hands.tax = Some(tax);
                hands.uses(Lever::ServerCpu, nanos(sizes.tax), 1);
            }
            Err(error) => hands.ask(sizes, asking(), &format!("{error:#}")),
        }
        if hands.flush_gates.is_empty() {
            hands.lacks(Lever::Flush, "the system is not started with `hold_flushes`");
        } else {
            hands.uses(Lever::Flush, hands.flush_ns, 1);
            hands.flushing = Flushing::watch(hands.processes.clone());
        }
        match clients {
            1 => hands.lacks(Lever::Clients, "there is one client"),
            _ => hands.uses(Lever::Clients, clients.div_ceil(PAUSED_PART) as u64, 1),
        }
        if let Some(toggle) = toggle {
            match Toggler::on(test_bed, toggle, !own.is_empty()) {
                Ok(toggle) => {
                    hands.toggle = Some(toggle);
                    hands.uses(Lever::Toggle, 1, 1);
                }
                Err(error) => hands.lacks(Lever::Toggle, &format!("{error:#}")),
            }
        }
        match FewerCores::of(&own) {
            Ok(_) if hands.used.len() >= WHY_LEVERS => {
                hands.lacks(Lever::Cores, "a design has eight places, which others have");
            }
            Ok(cores) => {
                hands.uses(Lever::Cores, cores.kept() as u64, 1);
                hands.cores = Some(cores);
            }
            Err(error) => hands.lacks(Lever::Cores, &format!("{error:#}")),
        }
        hands
    }

    /// The same, with those servers slowed down alone that were chosen.
    pub(super) fn with_servers(mut self, sizes: &Sizes) -> Self {
        for number in self.servers.attach(sizes.tax) {
            self.uses(Lever::Member(number), nanos(sizes.tax), 1);
        }
        self
    }

    /// Slows a server down by statements that cannot be slowed down otherwise, as `unreached` tells.
    fn ask(&mut self, sizes: &Sizes, asking: Result<&Asking, &Error>, unreached: &str) {
        match asking {
            Ok(asking) => {
                let statements = asking.statements(sizes.work_ns, sizes.asleep_ns);
                self.uses(Lever::ServerCpu, statements.work_ns, statements.every);
                self.uses(Lever::ServerSleep, statements.asleep_ns, statements.every);
                self.statements = Some(statements);
            }
            Err(error) => {
                self.lacks(Lever::ServerCpu, &format!("{unreached}; by statements: {error:#}"));
            }
        }
    }

    /// Takes in the processes that the server made for the clients that are connected now.
    pub(super) fn find_children(&mut self) {
        self.processes = with_children(&self.processes);
        self.servers.find_children();
    }

    fn uses(&mut self, lever: Lever, size: u64, every: u32) {
        self.used.push(UsedLever { lever, size, every });
    }

    fn lacks(&mut self, lever: Lever, reason: &str) {
        self.unused.push(UnusedLever { lever, reason: reason.to_owned() });
    }

    fn size(&self, lever: Lever) -> Option<&UsedLever> {
        self.used.iter().find(|used| used.lever == lever)
    }

    /// The sizes of the slow-downs that the clients make themselves.
    pub(super) fn own_levers(&self) -> (LeverSizes, Option<ServerStatements>) {
        let size = |lever| self.size(lever).map_or(0, |used| used.size);
        let sizes = LeverSizes {
            before_ns: size(Lever::Before),
            before_every: self.size(Lever::Before).map_or(1, |used| used.every),
            inside_ns: size(Lever::Inside),
            inside_every: self.size(Lever::Inside).map_or(1, |used| used.every),
            client_rounds: self.client_rounds,
            paused: size(Lever::Clients) as usize,
        };
        (sizes, self.statements.clone())
    }

    /// Ends, with all levers off; returns how many threads of the server were in a flush, on average.
    pub(super) fn end(mut self) -> Option<f64> {
        self.switch(0);
        if let Some(toggle) = self.toggle.take() {
            toggle.end();
        }
        self.flushing.take()?.end()
    }

    /// How long flushes were held so far, ns, and how many there were; `None` where that is not seen.
    pub(super) fn flushes(&self) -> Option<(Nanos, u64)> {
        let all = self.flush_gates.iter().map(|gate| gate.counted());
        all.reduce(|one, other| (one.0 + other.0, one.1 + other.1))
    }

    /// Whether everything that was switched has its new state.
    pub(super) fn are_settled(&self) -> bool {
        self.toggle.as_ref().is_none_or(Toggler::is_settled)
    }

    /// Switches what is outside of the load.
    pub(super) fn switch(&mut self, setting: u32) {
        let is_on = |lever: Lever| setting & lever.bit() != 0;
        if let Some(tax) = &mut self.tax {
            tax.switch(is_on(Lever::ServerCpu));
        }
        self.servers.switch(|number| is_on(Lever::Member(number)));
        let more_ns = if is_on(Lever::Flush) { self.flush_ns } else { 0 };
        self.flush_gates.iter().for_each(|gate| gate.hold_more(more_ns));
        if let Some(flushing) = &self.flushing {
            flushing.hold(more_ns > 0);
        }
        if let Some(cores) = &mut self.cores {
            cores.switch(is_on(Lever::Cores));
        }
        if let Some(toggle) = &mut self.toggle {
            toggle.switch(is_on(Lever::Toggle));
        }
    }
}

/// A wait that is long enough, and one of how many transactions has it, for a mean of `ns` for each.
fn wait(ns: f64) -> (Nanos, u32) {
    let least = nanos(WAIT_MIN) as f64;
    let every = (least / ns.max(1.0)).ceil().clamp(1.0, 1_000.0);
    ((ns * every).max(least) as u64, every as u32)
}

/// The processes of a server that dyno did not start, as far as they are on this machine.
fn found(test_bed: &TestBed<'_>) -> Vec<u32> {
    server_processes(&test_bed.addresses()).iter().map(|process| process.pid).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_wait_is_a_longer_one_of_fewer_transactions() {
        assert_eq!(wait(800_000.0), (800_000, 1));
        assert_eq!(wait(250_000.0), (250_000, 1));
        assert_eq!(wait(100_000.0), (300_000, 3));
        assert_eq!(wait(0.0), (250_000, 1_000));
    }
}
