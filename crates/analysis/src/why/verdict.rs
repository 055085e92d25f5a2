//! From the effects to the limit: the table of patterns of docs/statistics/why.md.

use super::WHY_CYCLES_MIN;
use super::places::{PlaceEffect, Ranged95, WhyEffects, WhyPlace};

/// A host on which other programs keep this part of all cores busy is not measured.
const OTHERS_MAX: f64 = 0.25;
/// The server shares the cores of a full machine with dyno where dyno keeps at least this part of them busy.
const SHARED: f64 = 0.1;
/// Other programs are a cause only where they keep at least this part of all cores busy.
const OTHERS_SEEN: f64 = 0.1;
/// More failures than this part of all transactions are another load.
const FAILED_MAX: f64 = 0.05;
/// Shares that add up to more than this are not those of one system.
const SUM_MAX: f64 = 1.25;
/// A place with at least this share is the limit.
const MOST: f64 = 0.5;
/// What is surely below this does not respond.
const LITTLE: f64 = 0.35;
/// A share below this is not named.
const NAMED: f64 = 0.25;
/// How near the bounds of a share are to its value when nothing more is to be learned.
const NEAR: f64 = 0.25;
/// A quota that stops the server for at least this part of the time is its limit, where its CPU is.
const THROTTLED: f64 = 0.05;
/// A server that keeps so little of a core busy holds nothing back: its share is at most that, for a core does one thing
/// at a time.
const IDLE_CORES: f64 = 0.1;
/// So much of a machine has to be idle for a core that is not missed to say something.
const IDLE_PART: f64 = 0.25;
/// What is busy at least this part of the time is full.
const FULL: f64 = 0.85;

/// What holds a system back at one load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// dyno's own event loops.
    Generator,
    /// Nothing is full: each client waits for its own answers.
    Latency,
    /// The same, and most of what it waits for is the flush of files.
    FlushLatency,
    /// All the cores that the server may use.
    ServerCpu,
    /// The server's work, of which so many transactions are done at a time: more cores do not help.
    OneAtATime,
    /// The server's work; whether more cores would help is not known.
    ServerWork,
    /// All the cores of the machine, which the server and dyno share.
    SharedCpu,
    /// The quota of CPU time that the server has.
    Quota,
    /// The work of one server of several, by its number.
    Member(u8),
    /// The server's work on cores that other programs use.
    OtherPrograms,
    /// The server lets only so many statements go on at once.
    Slots,
    /// Something that transactions hold.
    Held,
    /// Flushes one after another, which several transactions share.
    FlushShared,
    /// Flushes one after another, which transactions do not share.
    FlushSerial,
    /// Nothing that dyno can slow down.
    Untouched,
    /// Fewer clients would be faster.
    TooManyClients,
    /// No single place.
    Several,
    /// What was seen does not tell.
    NotDecided(NotDecided),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NotDecided {
    /// It lasts too short; about so many times as long would do.
    TooShort { times: f64 },
    /// The lever that does nothing seems to respond.
    NullResponds,
    /// Other programs keep so many cores of the machine busy.
    OthersBusy { cores: f64 },
    /// Shares add up to more than the whole: so much.
    SharesAboveOne { sum: f64 },
    /// Transactions fail: this part of all.
    Failures { part: f64 },
}

/// What the effects say. A place is named only when the bounds that hold for all estimates together leave no other.
pub fn why_verdict(effects: &WhyEffects) -> Verdict {
    refused(effects).map_or_else(|| Seen::of(effects).verdict(), Verdict::NotDecided)
}

/// Whether more windows would say nothing else: there is a verdict, and where it is the server's work and several servers
/// do it, it is known of each whether it has the limit.
pub fn why_is_decided(effects: &WhyEffects) -> bool {
    let is_clear = |it: &PlaceEffect| {
        let Some(share) = it.share else { return true };
        share.surely_low >= MOST
            || share.surely_high <= MOST
            || share.surely_high - share.value <= NEAR
    };
    match why_verdict(effects) {
        Verdict::NotDecided(NotDecided::TooShort { .. }) => false,
        Verdict::ServerCpu | Verdict::OneAtATime | Verdict::ServerWork => {
            effects.members.iter().all(is_clear)
        }
        _ => true,
    }
}

fn refused(effects: &WhyEffects) -> Option<NotDecided> {
    if effects.null_responds {
        return Some(NotDecided::NullResponds);
    }
    let others = effects.others_busy.filter(|it| *it > OTHERS_MAX * effects.host_cores as f64);
    if let Some(cores) = others {
        return Some(NotDecided::OthersBusy { cores });
    }
    if effects.failed > FAILED_MAX {
        return Some(NotDecided::Failures { part: effects.failed });
    }
    if 1.0 - effects.rest.surely_high > SUM_MAX {
        return Some(NotDecided::SharesAboveOne { sum: 1.0 - effects.rest.value });
    }
    if effects.cycles < WHY_CYCLES_MIN {
        let times = WHY_CYCLES_MIN as f64 / effects.cycles.max(1) as f64;
        return Some(NotDecided::TooShort { times });
    }
    None
}

/// The figures by which the patterns are told apart; `None` where a lever was not used.
struct Seen<'a> {
    effects: &'a WhyEffects,
    /// How much of a delay of each client shows in its own cycle: 1 on the path, 0 hidden.
    outside: Option<Ranged95>,
    inside: Option<Ranged95>,
    client_cpu: Option<Ranged95>,
    server_cpu: Option<Ranged95>,
    /// How much of the time of a statement that works in the server, or sleeps there, shows in each client's cycle.
    working: Option<Ranged95>,
    asleep: Option<Ranged95>,
    /// Beta of a flush, and its share where that is known.
    flush: Option<Ranged95>,
    flush_share: Option<Ranged95>,
    clients: Option<Ranged95>,
}

fn is_above(range: Option<Ranged95>, bound: f64) -> bool {
    range.is_some_and(|range| range.surely_low >= bound)
}

fn is_below(range: Option<Ranged95>, bound: f64) -> bool {
    range.is_some_and(|range| range.surely_high <= bound)
}

impl<'a> Seen<'a> {
    fn of(effects: &'a WhyEffects) -> Self {
        let beta = |place| effects.place(place).map(|it| it.beta);
        let share = |place| effects.place(place).and_then(|it| it.share);
        let clients = effects.clients as f64;
        let of_each = |place| beta(place).map(|beta| beta.scaled(clients));
        Self {
            effects,
            outside: of_each(WhyPlace::Outside),
            working: of_each(WhyPlace::ServerCpu),
            asleep: of_each(WhyPlace::Asleep),
            inside: beta(WhyPlace::Inside),
            client_cpu: share(WhyPlace::ClientCpu),
            server_cpu: share(WhyPlace::ServerCpu),
            flush: beta(WhyPlace::Flush),
            flush_share: share(WhyPlace::Flush),
            clients: effects.client_elasticity,
        }
    }

    fn verdict(&self) -> Verdict {
        if is_above(self.client_cpu, MOST) {
            return Verdict::Generator;
        }
        if is_above(self.outside, MOST) {
            return self.on_the_path();
        }
        let member = self.member();
        if is_above(self.server_cpu, MOST) || member.is_some() {
            return match (self.of_the_server(), member) {
                (Verdict::ServerCpu | Verdict::OneAtATime | Verdict::ServerWork, Some(member)) => {
                    Verdict::Member(member)
                }
                (verdict, _) => verdict,
            };
        }
        let found = self.flushes().or_else(|| self.statements());
        let found = found.or_else(|| self.held()).or_else(|| self.none());
        found.unwrap_or_else(|| self.several())
    }

    /// A delay of each client shows in its own cycle: nothing is full.
    fn on_the_path(&self) -> Verdict {
        if is_above(self.flush_share, MOST) { Verdict::FlushLatency } else { Verdict::Latency }
    }

    fn of_the_server(&self) -> Verdict {
        let Some(beta) = self.effects.place(WhyPlace::ServerCpu).map(|it| it.beta) else {
            return Verdict::ServerWork;
        };
        if self.effects.throttled.is_some_and(|part| part >= THROTTLED) {
            return Verdict::Quota;
        }
        let at_once = beta.value.recip();
        let busy = self.effects.server_busy.unwrap_or(0.0);
        let cores = self.effects.server_cores.map(|cores| cores as f64);
        if cores.is_some_and(|cores| busy >= FULL * cores) {
            return match cores {
                Some(cores) if cores > 1.5 && beta.surely_low > 1.5 / cores => Verdict::ServerWork,
                _ => Verdict::ServerCpu,
            };
        }
        let others = self.effects.others_busy.unwrap_or(0.0);
        let host = self.effects.host_cores as f64;
        let is_machine_full = self.effects.idle_cores() <= (1.0 - FULL) * host;
        if self.effects.client_busy >= SHARED * host && is_machine_full {
            return Verdict::SharedCpu;
        }
        let are_others = others >= OTHERS_SEEN * host;
        if are_others && beta.surely_low > busy.max(0.5).recip() && at_once < busy {
            return Verdict::OtherPrograms;
        }
        match cores {
            Some(cores) if cores < 1.5 => Verdict::ServerCpu,
            Some(cores) if self.leaves_cores_idle(beta, cores) => Verdict::OneAtATime,
            _ => Verdict::ServerWork,
        }
    }

    /// The member that has the limit alone: no other one has a part of it that counts.
    fn member(&self) -> Option<u8> {
        let members = &self.effects.members;
        let most = members.iter().find(|it| is_above(it.share, MOST))?;
        let WhyPlace::Member(number) = most.place else { return None };
        let is_none = |it: &PlaceEffect| {
            let busy = self.effects.busy_cores(it);
            is_below(it.share, LITTLE) || busy.is_some_and(|cores| cores < IDLE_CORES)
        };
        let mut others = members.iter().filter(|it| it.place != most.place);
        others.all(is_none).then_some(number)
    }

    /// Whether the server cannot use all of its cores: one core fewer costs surely less than half of a core's part, or
    /// less than two thirds of its cores can surely be used at once while cores of the machine, which it may use, are idle.
    fn leaves_cores_idle(&self, beta: Ranged95, cores: f64) -> bool {
        let fewer = self.effects.fewer_cores;
        if is_above(fewer, 0.05) {
            return false;
        }
        let host = self.effects.host_cores as f64;
        let idle = self.effects.idle_cores() / host;
        // On cores that dyno wants as well, one fewer costs nothing where the rest carries both: they have to be idle.
        let is_spared = cores < host || idle >= IDLE_PART;
        let is_idle = cores >= host && idle >= 1.0 - FULL;
        is_below(fewer, 0.5 / cores) && is_spared || beta.surely_low > 1.5 / cores && is_idle
    }

    fn flushes(&self) -> Option<Verdict> {
        let is_limit = match self.flush_share {
            Some(_) => is_above(self.flush_share, MOST),
            // Its beta alone cannot tell a flush from what is held meanwhile.
            None => is_above(self.flush, MOST) && !is_above(self.inside, MOST),
        };
        if !is_limit {
            return None;
        }
        Some(match self.clients {
            // A client alone waits for nobody else's flush.
            _ if self.effects.clients == 1 => Verdict::FlushLatency,
            clients if is_above(clients, MOST) => Verdict::FlushShared,
            _ => Verdict::FlushSerial,
        })
    }

    /// The time of statements in the server shows in each client's cycle, and time outside of them does not.
    fn statements(&self) -> Option<Verdict> {
        let outside = self.outside?;
        let shows = |time: Option<Ranged95>| {
            time.is_some_and(|it| it.surely_low >= MOST && it.surely_low > outside.surely_high)
        };
        if shows(self.asleep) {
            return Some(Verdict::Slots);
        }
        (self.server_cpu.is_none() && shows(self.working)).then_some(Verdict::ServerWork)
    }

    /// A delay inside of a transaction costs much more than one outside.
    fn held(&self) -> Option<Verdict> {
        let (inside, outside) = (self.inside?, self.effects.place(WhyPlace::Outside)?.beta);
        let apart = inside.surely_low > outside.surely_high;
        let alone = 2.0 / self.effects.clients as f64;
        (apart && inside.surely_low > alone.min(MOST) && self.effects.clients > 1)
            .then_some(Verdict::Held)
    }

    fn none(&self) -> Option<Verdict> {
        if self.clients.is_some_and(|clients| clients.surely_high < 0.0) {
            return Some(Verdict::TooManyClients);
        }
        let is_little = |range: Option<Ranged95>| range.is_none() || is_below(range, LITTLE);
        let server = self.server_cpu.or(self.working);
        let all = [self.outside, self.inside, self.client_cpu, server, self.asleep, self.clients];
        let is_used = self.outside.is_some() && self.client_cpu.is_some();
        let flush = self.flush_share.or(self.flush);
        (is_used && all.into_iter().all(is_little) && is_little(flush))
            .then_some(Verdict::Untouched)
    }

    fn several(&self) -> Verdict {
        let known = [self.outside, self.client_cpu, self.server_cpu, self.flush_share];
        let widest =
            known.into_iter().flatten().map(|it| it.surely_high - it.value).fold(0.0, f64::max);
        let named = known.into_iter().flatten().filter(|it| it.value >= NAMED).count();
        if widest <= NEAR && named >= 1 {
            return Verdict::Several;
        }
        // The width of an interval falls with the square root of the time.
        let times = (widest / NEAR).powi(2).clamp(1.5, 100.0);
        Verdict::NotDecided(NotDecided::TooShort { times })
    }
}
