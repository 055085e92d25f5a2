//! What the experiment says of each place: how much a second that is put there costs, and which share of the time for a
//! transaction is the place's own.

use measure::{Lever, Why, WhyWindow};

use super::busy::Busy;
use super::cycles::{Cycles, Seen, TRANSACTIONS_MIN, Waits, is_coarse};
use super::fit::Estimate;
use super::matrix::{inverse, times};
use crate::several::corrected;

/// A level of significance for the lever that does nothing: when it responds, no other effect is believed.
const NULL_LEVEL: f64 = 0.01;
pub(super) const LEVEL: f64 = 0.05;
/// The part of a sleep in a server that is not sure: its timers were measured while it had nothing else to do, and are late
/// by less in a load.
const ASLEEP_UNSURE: f64 = 0.1;

/// Where time can be put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyPlace {
    /// Outside of transactions, with nothing held: a delay of the network or of the client.
    Outside,
    /// Inside of transactions, while they hold what they hold.
    Inside,
    /// dyno's event loops.
    ClientCpu,
    /// The CPUs of the server, for its work.
    ServerCpu,
    /// Flushes of files to the disk.
    Flush,
    /// The server, without its CPUs: one of the statements that it lets go on at once.
    Asleep,
    /// The CPUs of one server of several, by its number: a part of [`WhyPlace::ServerCpu`].
    Member(u8),
}

/// An estimate with its 95 % interval, and a wider one that holds for all estimates of the experiment together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranged95 {
    pub value: f64,
    pub low: f64,
    pub high: f64,
    pub surely_low: f64,
    pub surely_high: f64,
}

impl Ranged95 {
    /// A value with half the widths of its two intervals.
    pub(super) fn around(value: f64, likely: f64, sure: f64) -> Self {
        let (low, high) = (value - likely, value + likely);
        Self { value, low, high, surely_low: value - sure, surely_high: value + sure }
    }

    pub fn scaled(self, factor: f64) -> Self {
        let Self { value, low, high, surely_low, surely_high } = self;
        let [value, low, high, surely_low, surely_high] =
            [value, low, high, surely_low, surely_high].map(|it| it * factor);
        Self { value, low, high, surely_low, surely_high }
    }
}

/// What a lever did to the time for each transaction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeverEffect {
    pub lever: Lever,
    /// Change of the time for each transaction, as a part of it.
    pub change: Ranged95,
    /// Whether it is other than noise, at 5 % over all levers (Holm).
    pub responds: bool,
}

/// What a second at a place costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaceEffect {
    pub place: WhyPlace,
    /// What the place's own lever added for each transaction, ns, as it was measured.
    pub dose_ns: f64,
    /// Seconds that the whole system loses for each transaction for a second that is put here.
    pub beta: Ranged95,
    /// The time at this place for each transaction, ns; `None` where it is not known.
    pub demand_ns: Option<f64>,
    /// The place's share of the time for a transaction; `None` where its demand is not known.
    pub share: Option<Ranged95>,
}

/// The results of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct WhyEffects {
    pub clients: usize,
    pub loops: usize,
    pub cycles: usize,
    /// Transactions a second with all levers off.
    pub rate_per_s: f64,
    pub levers: Vec<LeverEffect>,
    pub places: Vec<PlaceEffect>,
    /// The members with slow-downs of their own. Together they are a part of the server's CPU, which is one of the places.
    pub members: Vec<PlaceEffect>,
    /// The share of the time that no lever reached; the whole where no demand is known.
    pub rest: Ranged95,
    /// Elasticity of the rate to the number of clients: 1 when it is in proportion, 0 when it does not change.
    pub client_elasticity: Option<Ranged95>,
    /// Change of the time for each transaction with one core fewer, as a part of it.
    pub fewer_cores: Option<Ranged95>,
    /// Cores that the server kept busy.
    pub server_busy: Option<f64>,
    pub server_cores: Option<usize>,
    /// Part of the time for which a quota stopped the server; `None` without one.
    pub throttled: Option<f64>,
    pub client_busy: f64,
    /// Cores that other programs kept busy.
    pub others_busy: Option<f64>,
    pub host_cores: usize,
    pub null_responds: bool,
    /// Part of all transactions that failed.
    pub failed: f64,
    /// Standard deviation of the noise between windows, as a part of the rate.
    pub noise: f64,
    pub clipped: usize,
    pub late: usize,
}

impl WhyEffects {
    /// Cores that a place's CPU kept busy while nothing was slowed down; `None` where its demand is not known.
    pub fn busy_cores(&self, place: &PlaceEffect) -> Option<f64> {
        place.demand_ns.map(|ns| ns * self.rate_per_s / 1e9)
    }

    pub fn place(&self, place: WhyPlace) -> Option<&PlaceEffect> {
        self.places.iter().find(|it| it.place == place)
    }

    pub fn lever(&self, lever: Lever) -> Option<&LeverEffect> {
        self.levers.iter().find(|it| it.lever == lever)
    }

    /// Cores of the machine that neither the server, dyno nor other programs kept busy.
    pub fn idle_cores(&self) -> f64 {
        let busy = [self.server_busy, self.others_busy].into_iter().flatten().sum::<f64>();
        self.host_cores as f64 - self.client_busy - busy
    }
}

/// Fits the experiment, which is looked at `looks` times while it runs; `None` when too little of it can be used.
pub fn why_effects(why: &Why, looks: usize) -> Option<WhyEffects> {
    let usable: Vec<&WhyWindow> = why
        .windows
        .iter()
        .filter(|window| !window.is_late && window.transactions >= TRANSACTIONS_MIN)
        .collect();
    let levers: Vec<Lever> = why.used.iter().map(|used| used.lever).collect();
    let tests = (levers.len() + 3) * looks.max(1);
    let cycles = Cycles::of(&usable, &levers, tests)?;
    let p_values: Vec<f64> = (0..levers.len()).map(|at| cycles.p_value(at)).collect();
    let tested: Vec<usize> = (0..levers.len()).filter(|at| levers[*at] != Lever::Null).collect();
    let of_tested: Vec<f64> = tested.iter().map(|at| p_values[*at]).collect();
    let holm = corrected(&of_tested, of_tested.len());
    let effects = levers.iter().enumerate().map(|(at, lever)| {
        let by_holm = tested.iter().position(|it| *it == at).map(|it| holm[it] < LEVEL);
        let responds = by_holm.unwrap_or(p_values[at] < NULL_LEVEL);
        let change = cycles.range(|seen| Some(seen.change(at, is_coarse(*lever))))?;
        Some(LeverEffect { lever: *lever, change, responds })
    });
    let places = Places::of(&cycles.whole, &levers, (&usable, why), is_of_all);
    let members = Places::of(&cycles.whole, &levers, (&usable, why), is_by_member);
    let mut of_members = members.effects(&cycles).unwrap_or_default();
    of_members.retain(|it| matches!(it.place, WhyPlace::Member(_)));
    let fewer = why.used.iter().find(|used| used.lever == Lever::Clients).and_then(|used| {
        let left = why.clients.checked_sub(used.size as usize).filter(|left| *left > 0)?;
        Some((left as f64 / why.clients as f64).ln())
    });
    let at = |lever: Lever| levers.iter().position(|it| *it == lever);
    let at_clients = at(Lever::Clients).zip(fewer);
    let busy = Busy::of(&usable);
    let failed: u64 = usable.iter().map(|window| window.failed).sum();
    let succeeded: u64 = usable.iter().map(|window| window.transactions).sum();
    Some(WhyEffects {
        clients: why.clients,
        loops: why.loops,
        cycles: cycles.count(),
        rate_per_s: 1e9 / cycles.whole.time.base(),
        levers: effects.collect::<Option<Vec<LeverEffect>>>()?,
        rest: cycles.range(|seen| places.rest(seen))?,
        places: places.effects(&cycles)?,
        members: of_members,
        client_elasticity: at_clients
            .and_then(|(at, ln)| cycles.range(|seen| Some(-seen.time.effects[at] / ln))),
        fewer_cores: at(Lever::Cores)
            .and_then(|at| cycles.range(|seen| Some(seen.change(at, true)))),
        server_busy: busy.server,
        server_cores: why.server_cores,
        throttled: why
            .evidence
            .as_ref()
            .and_then(|it| Some(it.throttled_ns? as f64 / it.span_ns.max(1) as f64)),
        client_busy: busy.client,
        others_busy: busy.others,
        host_cores: why.host_cores,
        null_responds: at(Lever::Null)
            .is_some_and(|at| p_values[at] < NULL_LEVEL / looks.max(1) as f64),
        failed: failed as f64 / (failed + succeeded).max(1) as f64,
        noise: cycles.noise,
        clipped: cycles.clipped,
        late: why.windows.iter().filter(|window| window.is_late).count(),
    })
}

/// The places that were reached, each by a lever of its own. A lever may put time at several places: their betas together
/// are the solution of what all levers did.
struct Places {
    /// The index of each place's lever, with the place.
    own: Vec<(usize, WhyPlace)>,
    /// A timer that is late makes each wait longer by this factor.
    late: Vec<f64>,
    flush_ns: Option<f64>,
}

impl Places {
    /// Those of `takes`.
    fn of(
        whole: &Seen,
        levers: &[Lever],
        (windows, why): (&[&WhyWindow], &Why),
        takes: fn(WhyPlace) -> bool,
    ) -> Self {
        let late = |lever: &Lever| {
            let used = why.used.iter().find(|used| used.lever == *lever);
            match lever {
                Lever::Before | Lever::Inside => used
                    .map_or(1.0, |used| 1.0 + why.timer_late_ns as f64 / used.size.max(1) as f64),
                _ => 1.0,
            }
        };
        let mut places = Self {
            own: Vec::new(),
            late: levers.iter().map(late).collect(),
            flush_ns: why.flushing.map(|threads| threads * without_flush_ns(windows)),
        };
        let own = levers.iter().enumerate();
        let own = own.filter_map(|(at, lever)| Some((at, own_place(*lever)?)));
        let own = own.filter(|(_, place)| takes(*place));
        // A lever may put nothing at its place: a load of single statements, for instance, has no inside.
        places.own = own.filter(|(at, place)| places.dose(whole, *at, *at, *place) > 0.0).collect();
        places
    }

    /// What a lever put at a place that is the own one of another lever, ns for each transaction.
    fn dose(&self, seen: &Seen, lever: usize, owner: usize, place: WhyPlace) -> f64 {
        let waited =
            |waits: Waits| if lever == owner { waits.each_ns() * self.late[lever] } else { 0.0 };
        match place {
            WhyPlace::Outside => waited(seen.waits[0]),
            WhyPlace::Inside => waited(seen.waits[1]),
            WhyPlace::Flush => waited(seen.waits[2]),
            WhyPlace::ClientCpu => seen.client.added(lever),
            WhyPlace::ServerCpu => match &seen.server {
                Some(server) => server.added(lever),
                // Of a server whose clock is not known, by what its statements were to do.
                None => waited(seen.waits[3]),
            },
            WhyPlace::Asleep => waited(seen.waits[4]),
            WhyPlace::Member(at) => member(seen, at).map_or(0.0, |it| it.added(lever)),
        }
    }

    fn betas(&self, seen: &Seen) -> Option<Vec<f64>> {
        let row = |(lever, _): &(usize, WhyPlace)| {
            self.own.iter().map(|(owner, place)| self.dose(seen, *lever, *owner, *place)).collect()
        };
        let changes: Vec<f64> = self.own.iter().map(|(lever, _)| seen.time.added(*lever)).collect();
        Some(times(&inverse(self.own.iter().map(row).collect())?, &changes))
    }

    /// Time at a place for each transaction, ns.
    fn demand(&self, seen: &Seen, place: WhyPlace) -> Option<f64> {
        match place {
            WhyPlace::ClientCpu => Some(seen.client.base()),
            WhyPlace::ServerCpu => seen.server.as_ref().map(Estimate::base),
            WhyPlace::Flush => self.flush_ns,
            WhyPlace::Member(at) => member(seen, at).map(Estimate::base),
            WhyPlace::Outside | WhyPlace::Inside | WhyPlace::Asleep => None,
        }
    }

    fn share(&self, seen: &Seen, at: usize) -> Option<f64> {
        let demand = self.demand(seen, self.own[at].1)?;
        Some(self.betas(seen)?[at] * demand / seen.time.base())
    }

    fn effects(&self, cycles: &Cycles) -> Option<Vec<PlaceEffect>> {
        let of_place = |(at, (lever, place)): (usize, &(usize, WhyPlace))| {
            Some(PlaceEffect {
                place: *place,
                dose_ns: self.dose(&cycles.whole, *lever, *lever, *place),
                beta: cycles.unsure_range(
                    |seen| Some(self.betas(seen)?[at]),
                    match place {
                        WhyPlace::Asleep => ASLEEP_UNSURE,
                        // Half of what a timer is late: it may differ from wait to wait.
                        _ => (self.late[*lever] - 1.0) / self.late[*lever] / 2.0,
                    },
                )?,
                demand_ns: self.demand(&cycles.whole, *place),
                share: cycles.range(|seen| self.share(seen, at)),
            })
        };
        self.own.iter().enumerate().map(of_place).collect()
    }

    /// What the shares that are known leave of 1.
    fn rest(&self, seen: &Seen) -> Option<f64> {
        let betas = self.betas(seen)?;
        let known = self.own.iter().zip(&betas).filter_map(|((_, place), beta)| {
            Some(beta * self.demand(seen, *place)? / seen.time.base())
        });
        Some(1.0 - known.sum::<f64>())
    }
}

/// The mean time for a transaction while flushes are not held longer, ns.
fn without_flush_ns(windows: &[&WhyWindow]) -> f64 {
    let off = windows.iter().filter(|window| window.setting & Lever::Flush.bit() == 0);
    let (time, count) = off.fold((0, 0), |(time, count), window| {
        (time + window.counted_ns, count + window.transactions)
    });
    time as f64 / count.max(1) as f64
}

fn member(seen: &Seen, at: u8) -> Option<&Estimate> {
    seen.members.get(usize::from(at))?.as_ref()
}

/// The places of the whole system, of which the servers together are one.
fn is_of_all(place: WhyPlace) -> bool {
    !matches!(place, WhyPlace::Member(_))
}

/// The same, with each server in place of all.
fn is_by_member(place: WhyPlace) -> bool {
    place != WhyPlace::ServerCpu
}

fn own_place(lever: Lever) -> Option<WhyPlace> {
    match lever {
        Lever::Before => Some(WhyPlace::Outside),
        Lever::Inside => Some(WhyPlace::Inside),
        Lever::ClientCpu => Some(WhyPlace::ClientCpu),
        Lever::ServerCpu => Some(WhyPlace::ServerCpu),
        Lever::Flush => Some(WhyPlace::Flush),
        Lever::ServerSleep => Some(WhyPlace::Asleep),
        Lever::Member(at) => Some(WhyPlace::Member(at)),
        Lever::Null | Lever::Clients | Lever::Cores | Lever::Toggle => None,
    }
}
