//! What the cycles of an experiment show, each alone and all but one together, and how sure that is.

use measure::{Lever, MEMBERS_MAX, WhyWindow};

use super::fit::{Estimate, Row, fit};
use super::places::{LEVEL, Ranged95};
use crate::moments::standard_deviation;
use crate::student::{critical_t, p_value};

/// A window with fewer transactions says little of a rate.
pub(super) const TRANSACTIONS_MIN: u64 = 3;

/// Whether a lever's effect multiplies the time for each transaction, and does not add to it.
pub(super) fn is_coarse(lever: Lever) -> bool {
    matches!(lever, Lever::Clients | Lever::Cores | Lever::Toggle)
}

/// What one cycle shows, or several together.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// Time for each transaction, and CPU time of dyno and the server for each, ns.
    pub(super) time: Estimate,
    pub(super) client: Estimate,
    pub(super) server: Option<Estimate>,
    /// The same of each member with a slow-down of its own, by its number.
    pub(super) members: Vec<Option<Estimate>>,
    pub(super) waits: [Waits; 5],
}

/// Waits that a lever made, ns, and the transactions of the windows in which it was on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waits {
    pub(super) ns: u64,
    pub(super) transactions: u64,
}

impl Waits {
    pub(super) fn each_ns(self) -> f64 {
        self.ns as f64 / self.transactions.max(1) as f64
    }
}

impl Seen {
    fn mean<'s>(all: impl Iterator<Item = &'s Self> + Clone) -> Option<Self> {
        let server: Option<Vec<&Estimate>> = all.clone().map(|it| it.server.as_ref()).collect();
        let mut waits = [Waits::default(); 5];
        for (sum, it) in all.clone().flat_map(|it| (0..).zip(it.waits)) {
            let sum: &mut Waits = &mut waits[sum];
            sum.ns += it.ns;
            sum.transactions += it.transactions;
        }
        let count = all.clone().map(|it| it.members.len()).min().unwrap_or(0);
        let member = |at: usize| {
            let all: Option<Vec<&Estimate>> =
                all.clone().map(|it| it.members[at].as_ref()).collect();
            Estimate::mean(all?.into_iter())
        };
        let members = (0..count).map(member).collect();
        Some(Self {
            time: Estimate::mean(all.clone().map(|it| &it.time))?,
            client: Estimate::mean(all.map(|it| &it.client))?,
            members,
            server: server.and_then(|all| Estimate::mean(all.into_iter())),
            waits,
        })
    }

    /// What a lever changes of the time for a transaction, as a part of it.
    pub(super) fn change(&self, lever: usize, is_coarse: bool) -> f64 {
        let effect = self.time.effects[lever];
        if is_coarse { effect.exp() - 1.0 } else { effect }
    }
}

/// All cycles, which are far enough apart to be independent.
pub(super) struct Cycles {
    pub(super) whole: Seen,
    /// What all cycles but one show, for each.
    without: Vec<Seen>,
    pub(super) noise: f64,
    pub(super) clipped: usize,
    /// How many estimates are looked at, over all looks.
    tests: usize,
}

impl Cycles {
    pub(super) fn of(windows: &[&WhyWindow], levers: &[Lever], tests: usize) -> Option<Self> {
        let is_coarse: Vec<bool> = levers.iter().map(|it| is_coarse(*it)).collect();
        let chunks: Vec<&[&WhyWindow]> =
            windows.chunk_by(|one, other| one.cycle == other.cycle).collect();
        let fitted = |value: &dyn Fn(&WhyWindow) -> Option<f64>| {
            let row = |window: &&WhyWindow| {
                let on = levers.iter().map(|lever| window.setting & lever.bit() != 0).collect();
                let ln_t = value(window)?.ln();
                ln_t.is_finite().then_some(Row { on, ln_t })
            };
            let rows: Option<Vec<Vec<Row>>> =
                chunks.iter().map(|cycle| cycle.iter().map(row).collect()).collect();
            fit(&rows?, &is_coarse)
        };
        let each = |window: &WhyWindow| window.counted_ns as f64 / window.transactions as f64;
        // CPU time for each transaction, from rates, because the clocks are read a little late.
        let used = |window: &WhyWindow, ns: u64| {
            ns as f64 / window.cpu_clock_ns.max(1) as f64 * each(window)
        };
        let time = fitted(&|window| Some(each(window)))?;
        let client = fitted(&|window| Some(used(window, window.client_cpu_ns)))?;
        let server = fitted(&|window| Some(used(window, window.server_cpu_ns?)));
        let of_member = |at: usize| {
            let is_seen = windows.iter().any(|window| window.member_cpu_ns[at] > 0);
            let ran_ns = |window: &WhyWindow| window.member_cpu_ns[at].max(1);
            is_seen.then(|| fitted(&|window| Some(used(window, ran_ns(window))))).flatten()
        };
        let is_member = |at: &usize| levers.contains(&Lever::Member(*at as u8));
        let count = (0..MEMBERS_MAX).filter(is_member).max().map_or(0, |last| last + 1);
        let members: Vec<_> = (0..count).map(of_member).collect();
        let of_cycle = |(at, cycle): (usize, &&[&WhyWindow])| {
            Some(Seen {
                time: time.by_cycle[at].clone()?,
                client: client.by_cycle[at].clone()?,
                server: server.as_ref().and_then(|it| it.by_cycle[at].clone()),
                members: members.iter().map(|it| it.as_ref()?.by_cycle[at].clone()).collect(),
                waits: [
                    waits(cycle, Lever::Before, |window| window.before_ns),
                    waits(cycle, Lever::Inside, |window| window.inside_ns),
                    waits(cycle, Lever::Flush, |window| window.flush_ns),
                    waits(cycle, Lever::ServerCpu, |window| window.work_ns),
                    waits(cycle, Lever::ServerSleep, |window| window.asleep_ns),
                ],
            })
        };
        let all: Vec<Seen> = chunks.iter().enumerate().filter_map(of_cycle).collect();
        let others = |left_out: usize| {
            let others = all.iter().enumerate().filter(move |(at, _)| *at != left_out);
            Seen::mean(others.map(|(_, it)| it))
        };
        Some(Self {
            whole: Seen::mean(all.iter())?,
            without: (0..all.len()).filter_map(others).collect(),
            noise: time.noise,
            clipped: time.clipped,
            tests,
        })
    }

    pub(super) fn count(&self) -> usize {
        self.without.len().max(1)
    }

    /// The standard error of a function of what was seen, by the jackknife over cycles: it takes the noise that the effects
    /// and the measured doses share for what it is.
    ///
    /// Source: B. Efron, The jackknife, the bootstrap and other resampling plans, SIAM 1982, chapter 3.
    fn error(&self, function: impl Fn(&Seen) -> Option<f64>) -> Option<f64> {
        let values: Vec<f64> = self.without.iter().map(function).collect::<Option<_>>()?;
        let count = values.len() as f64;
        let spread = standard_deviation(&values)?;
        Some(spread * (count - 1.0) / count.sqrt())
    }

    /// A function of what was seen, with its intervals.
    pub(super) fn range(&self, function: impl Fn(&Seen) -> Option<f64>) -> Option<Ranged95> {
        self.unsure_range(function, 0.0)
    }

    /// The same for what was divided by a dose that is not sure, by this part of it.
    pub(super) fn unsure_range(
        &self,
        function: impl Fn(&Seen) -> Option<f64>,
        unsure: f64,
    ) -> Option<Ranged95> {
        let value = function(&self.whole)?;
        let error = self.error(function).unwrap_or(f64::INFINITY).hypot(value * unsure);
        let free = self.count() - 1;
        let width = |confidence| critical_t(confidence, free).unwrap_or(f64::INFINITY) * error;
        let (likely, sure) = (width(1.0 - LEVEL), width(1.0 - LEVEL / self.tests as f64));
        Some(Ranged95::around(value, likely, sure))
    }

    pub(super) fn p_value(&self, lever: usize) -> f64 {
        let effect = |seen: &Seen| Some(seen.time.effects[lever]);
        match self.error(effect) {
            Some(error) if error > 0.0 => {
                p_value(self.whole.time.effects[lever] / error, self.count() - 1)
            }
            _ => 1.0,
        }
    }
}

fn waits(cycle: &[&WhyWindow], lever: Lever, waited: fn(&WhyWindow) -> u64) -> Waits {
    let on = cycle.iter().filter(|window| window.setting & lever.bit() != 0);
    on.fold(Waits::default(), |sum, window| Waits {
        ns: sum.ns + waited(window),
        transactions: sum.transactions + window.transactions + window.failed,
    })
}
