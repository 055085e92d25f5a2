//! The whole estimate on systems of queues whose betas are known, event by event.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use measure::{Lever, UsedLever, Why, WhyWindow};

use super::{
    Design, NotDecided, Ranged95, Verdict, WhyEffects, WhyPlace, why_cycle, why_effects,
    why_lasting, why_verdict,
};

/// The knot at which a transaction of the simulated system holds something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Stations with queues and a delay: a product-form network.
    Plain,
    /// Server work under one lock.
    Lock,
    /// The same lock; who finds it taken goes away, and tries again after a while.
    BackOff,
    /// A lock that is held over a round trip of the client.
    LockOverTrip,
    /// One flush at a time; all that wait when it begins share it.
    Group,
    /// Every millisecond one transaction may begin, whatever dyno does.
    Limited,
    /// Servers of a cluster: behind the first one each transaction goes to one of three stores.
    Cluster,
}

/// Parts of the transactions that go to the stores of a cluster.
const STORES: [f64; 3] = [0.1, 0.8, 0.1];

/// Mean times of a transaction, us; all but the delay and the trip are exponential.
#[derive(Clone, Copy, Debug)]
struct System {
    kind: Kind,
    clients: usize,
    cores: usize,
    client: f64,
    delay: f64,
    server: f64,
    locked: f64,
    trip: f64,
    flush: f64,
    /// Standard deviations, in ln T, of noise of a window, and of noise that lasts (0.8 from window to window).
    noise: (f64, f64),
    /// What each slow-down would cost of the rate at most.
    dose: f64,
    /// Whether a client pauses, which is a coarse change near the knee.
    pauses: bool,
    /// How long the tax on the server's work takes to come and to go, in windows.
    memory: f64,
}

const PLAIN: System = System {
    kind: Kind::Plain,
    clients: 8,
    cores: 1,
    client: 40.0,
    delay: 200.0,
    server: 400.0,
    locked: 0.0,
    trip: 0.0,
    flush: 0.0,
    noise: (0.02, 0.03),
    dose: 0.1,
    pauses: true,
    memory: 0.0,
};

/// What the levers are set to, us; the tax of the server's work as a part of it.
#[derive(Clone, Copy, Debug)]
struct Doses {
    before: f64,
    inside: f64,
    client: f64,
    tax: f64,
    flush: f64,
    paused: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Begin,
    Client,
    Server,
    Take,
    Stored(u8),
    Try,
    Locked,
    Commit,
    Flushed,
    Done,
}

struct Station {
    servers: usize,
    busy: usize,
    waiting: VecDeque<(usize, f64, Step)>,
}

impl Station {
    fn new(servers: usize) -> Self {
        Self { servers, busy: 0, waiting: VecDeque::new() }
    }
}

struct Run<'a> {
    system: &'a System,
    doses: Doses,
    window_us: f64,
    /// The part at the begin of each window that is left out.
    left_out_us: f64,
    settings: &'a [u32],
    speeds: Vec<f64>,
    now: f64,
    order: u64,
    events: BinaryHeap<Reverse<(u64, u64, usize, Step)>>,
    random: u64,
    client: Station,
    server: Station,
    lock: Station,
    stores: [Station; 3],
    committing: Vec<usize>,
    flushing: Vec<usize>,
    next_permit: f64,
    /// When the tax was last looked at, and how high it was.
    remembered: (f64, f64),
    windows: Vec<WhyWindow>,
    aside: WhyWindow,
}

/// One of the stations of a system.
type StationOf = for<'a, 'b> fn(&'a mut Run<'b>) -> &'a mut Station;

/// The stations of the stores of a cluster.
const STATIONS: [StationOf; 3] =
    [|it| &mut it.stores[0], |it| &mut it.stores[1], |it| &mut it.stores[2]];

impl Run<'_> {
    fn uniform(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn drawn(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.uniform()).ln() * self.speed()
    }

    fn window(&self) -> usize {
        ((self.now / self.window_us) as usize).min(self.settings.len() - 1)
    }

    /// The present window, to count in; what is left out is counted aside.
    fn counted(&mut self) -> &mut WhyWindow {
        let window = self.window();
        let is_left_out = self.now - window as f64 * self.window_us < self.left_out_us;
        if is_left_out { &mut self.aside } else { &mut self.windows[window] }
    }

    /// Counts a transaction that ends now.
    fn count(&mut self) {
        let at = self.now - self.window() as f64 * self.window_us - self.left_out_us;
        let is_first = at < (self.window_us - self.left_out_us) / 2.0;
        let counted = self.counted();
        counted.transactions += 1;
        counted.first_half += u64::from(is_first);
    }

    fn speed(&self) -> f64 {
        self.speeds[self.window()]
    }

    fn is_on(&self, lever: Lever) -> bool {
        self.settings[self.window()] & lever.bit() != 0
    }

    fn dose(&self, lever: Lever, dose: f64) -> f64 {
        if self.is_on(lever) { dose } else { 0.0 }
    }

    /// The same of the tax on the server's work, which comes and goes slowly in a system that remembers.
    fn tax_of_server(&mut self) -> f64 {
        let target = self.dose(Lever::ServerCpu, self.doses.tax);
        let lasting_us = self.system.memory * self.window_us;
        let (since, tax) = self.remembered;
        let kept = if lasting_us > 0.0 { (-(self.now - since) / lasting_us).exp() } else { 0.0 };
        let tax = target + (tax - target) * kept;
        self.remembered = (self.now, tax);
        tax
    }

    fn at(&mut self, delay: f64, client: usize, step: Step) {
        self.order += 1;
        let time = ((self.now + delay) * 1e3) as u64;
        self.events.push(Reverse((time, self.order, client, step)));
    }

    /// Queues for a station, or takes one of its servers.
    fn queue(&mut self, of: fn(&mut Self) -> &mut Station, client: usize, work: f64, then: Step) {
        let station = of(self);
        if station.busy < station.servers {
            station.busy += 1;
            self.at(work, client, then);
        } else {
            station.waiting.push_back((client, work, then));
        }
    }

    fn leave(&mut self, of: fn(&mut Self) -> &mut Station) {
        let station = of(self);
        if station.busy > station.servers {
            station.busy -= 1;
            return;
        }
        match station.waiting.pop_front() {
            Some((client, work, then)) => self.at(work, client, then),
            None => station.busy -= 1,
        }
    }

    /// When the window ends, for a client that pauses in it.
    fn paused_until(&self, client: usize) -> Option<f64> {
        let (paused, clients) = (self.doses.paused, self.system.clients);
        let is_chosen = paused * (client + 1) / clients > paused * client / clients;
        (is_chosen && self.is_on(Lever::Clients))
            .then(|| (self.window() + 1) as f64 * self.window_us)
    }

    fn work_of_server(&mut self, mean: f64) -> f64 {
        self.work_of_member(0, mean)
    }

    /// Work of one of the servers, by its number.
    fn work_of_member(&mut self, member: u8, mean: f64) -> f64 {
        let own = self.dose(Lever::Member(member), self.doses.tax);
        let tax = self.tax_of_server() + own;
        let work = self.drawn(mean) * (1.0 + tax);
        let used_ns = (work * 1e3) as u64;
        let counted = self.counted();
        *counted.server_cpu_ns.get_or_insert(0) += used_ns;
        counted.member_cpu_ns[usize::from(member)] += used_ns;
        work
    }

    /// Works in one of the stores of a cluster.
    fn store(&mut self, client: usize) {
        let drawn = self.uniform();
        let number = if drawn < STORES[0] {
            0
        } else if drawn < STORES[0] + STORES[1] {
            1
        } else {
            2
        };
        let work = self.work_of_member(number + 1, self.system.locked);
        self.queue(STATIONS[usize::from(number)], client, work, Step::Stored(number));
    }

    fn step(&mut self, client: usize, step: Step) {
        let system = *self.system;
        match step {
            Step::Begin => {
                if let Some(end) = self.paused_until(client) {
                    return self.at(end - self.now + 0.001, client, Step::Begin);
                }
                let wait = self.dose(Lever::Before, self.doses.before);
                self.counted().before_ns += (wait * 1e3) as u64;
                let mut wait = wait + system.delay * self.speed();
                if system.kind == Kind::Limited {
                    let permit = self.next_permit.max(self.now + wait);
                    self.next_permit = permit + 1_000.0;
                    wait = permit - self.now;
                }
                self.at(wait, client, Step::Client);
            }
            Step::Client => {
                let work =
                    self.drawn(system.client) + self.dose(Lever::ClientCpu, self.doses.client);
                self.counted().client_cpu_ns += (work * 1e3) as u64;
                self.queue(|it| &mut it.client, client, work, Step::Server);
            }
            Step::Server => {
                self.leave(|it| &mut it.client);
                let work = self.work_of_server(system.server);
                self.server.servers = system.cores - usize::from(self.is_on(Lever::Cores));
                self.queue(|it| &mut it.server, client, work, Step::Take);
            }
            Step::Take => {
                self.leave(|it| &mut it.server);
                match system.kind {
                    Kind::Plain | Kind::Limited => self.at(0.0, client, Step::Done),
                    Kind::Group => self.at(0.0, client, Step::Commit),
                    Kind::BackOff => self.at(0.0, client, Step::Try),
                    Kind::Lock | Kind::LockOverTrip => self.lock(client),
                    Kind::Cluster => self.store(client),
                }
            }
            Step::Stored(number) => {
                self.leave(STATIONS[usize::from(number)]);
                self.at(0.0, client, Step::Done);
            }
            Step::Try if self.lock.busy > 0 => {
                let wait = self.drawn(system.locked);
                self.at(wait, client, Step::Try);
            }
            Step::Try => self.lock(client),
            Step::Locked => {
                self.leave(|it| &mut it.lock);
                self.at(0.0, client, Step::Done);
            }
            Step::Commit => {
                self.committing.push(client);
                if self.flushing.is_empty() {
                    self.flush();
                }
            }
            Step::Flushed => {
                for client in std::mem::take(&mut self.flushing) {
                    self.at(0.0, client, Step::Done);
                }
                if !self.committing.is_empty() {
                    self.flush();
                }
            }
            Step::Done => {
                self.count();
                self.at(0.0, client, Step::Begin);
            }
        }
    }

    /// Works under the lock, as soon as it is free.
    fn lock(&mut self, client: usize) {
        let inside = self.dose(Lever::Inside, self.doses.inside);
        self.counted().inside_ns += (inside * 1e3) as u64;
        let is_over_trip = self.system.kind == Kind::LockOverTrip;
        let trip = if is_over_trip { self.system.trip * self.speed() } else { 0.0 };
        let held = self.work_of_server(self.system.locked) + trip + inside;
        self.queue(|it| &mut it.lock, client, held, Step::Locked);
    }

    fn flush(&mut self) {
        self.flushing = std::mem::take(&mut self.committing);
        let wait = self.dose(Lever::Flush, self.doses.flush);
        self.counted().flush_ns += (wait * 1e3) as u64;
        // A disk's flushes last about equally long.
        let length = self.system.flush * (0.75 + 0.5 * self.uniform()) * self.speed() + wait;
        let first = self.flushing[0];
        self.at(length, first, Step::Flushed);
    }

    fn run(mut self) -> Vec<WhyWindow> {
        for client in 0..self.system.clients {
            self.at(0.0, client, Step::Begin);
        }
        let end = self.window_us * self.settings.len() as f64;
        while let Some(Reverse((time, _, client, step))) = self.events.pop() {
            self.now = time as f64 / 1e3;
            if self.now >= end {
                break;
            }
            self.step(client, step);
        }
        self.windows
    }
}

/// The levers of a system: those that it has a place for.
fn levers(system: &System) -> Vec<Lever> {
    let mut levers = vec![Lever::Null, Lever::Before, Lever::ClientCpu, Lever::ServerCpu];
    match system.kind {
        Kind::Lock | Kind::BackOff | Kind::LockOverTrip => levers.push(Lever::Inside),
        Kind::Group => levers.push(Lever::Flush),
        Kind::Cluster => levers.extend((0..4).map(Lever::Member)),
        Kind::Plain | Kind::Limited => {}
    }
    if system.clients > 1 && system.pauses {
        levers.push(Lever::Clients);
    }
    if system.cores > 1 {
        levers.push(Lever::Cores);
    }
    levers
}

/// An experiment of so many cycles on a system with the time T for each transaction, us.
fn experiment(system: &System, t_us: f64, cycles: usize, seed: u64) -> Why {
    let levers = levers(system);
    let settings = Design::new(&levers, seed).settings(cycles);
    let clients = system.clients as f64;
    let doses = Doses {
        before: system.dose * clients * t_us,
        inside: system.dose * t_us,
        client: system.dose * t_us,
        tax: system.dose,
        flush: system.dose * clients * t_us,
        paused: system.clients.div_ceil(8),
    };
    let left_out_us = 3.0 * clients * t_us;
    let counted_us = (200.0 * t_us).max(40.0 * clients * t_us);
    let window_us = counted_us + left_out_us;
    let mut run = Run {
        system,
        doses,
        window_us,
        left_out_us,
        settings: &settings,
        speeds: vec![1.0; settings.len()],
        now: 0.0,
        order: 0,
        events: BinaryHeap::new(),
        random: seed.wrapping_mul(0x2545_f491_4f6c_dd1d),
        client: Station::new(1),
        server: Station::new(system.cores),
        lock: Station::new(1),
        stores: [1; 3].map(Station::new),
        committing: Vec::new(),
        flushing: Vec::new(),
        next_permit: 0.0,
        remembered: (0.0, 0.0),
        windows: Vec::new(),
        aside: WhyWindow::default(),
    };
    let mut normal = || (0..12).map(|_| run.uniform()).sum::<f64>() - 6.0;
    let mut lasting = 0.0;
    let speeds = (0..settings.len()).map(|_| {
        lasting = 0.8 * lasting + (1.0_f64 - 0.64).sqrt() * normal();
        (system.noise.0 * normal() + system.noise.1 * lasting).exp()
    });
    run.speeds = speeds.collect();
    run.windows = settings
        .iter()
        .enumerate()
        .map(|(at, setting)| WhyWindow {
            cycle: (at / why_cycle(levers.len())) as u32,
            setting: *setting,
            counted_ns: (counted_us * 1e3) as u64,
            cpu_clock_ns: (counted_us * 1e3) as u64,
            first_half_ns: (counted_us * 500.0) as u64,
            server_cpu_ns: Some(0),
            ..WhyWindow::default()
        })
        .collect();
    let used = |lever: &Lever| UsedLever {
        lever: *lever,
        size: if *lever == Lever::Clients { doses.paused as u64 } else { 1 },
        every: 1,
    };
    Why {
        clients: system.clients,
        loops: 1,
        server_cores: Some(system.cores),
        host_cores: system.cores + 1,
        used: levers.iter().map(used).collect(),
        windows: run.run(),
        ..Why::default()
    }
}

/// T of a system without noise and levers, us, by a long run.
fn t_us(system: &System) -> f64 {
    let quiet = System { noise: (0.0, 0.0), ..*system };
    let mut why = experiment(&quiet, 1_000.0, 1, 1);
    let off = |windows: &[WhyWindow]| {
        let (time, count) = windows
            .iter()
            .filter(|it| it.setting == 0)
            .fold((0, 0), |sum, it| (sum.0 + it.counted_ns, sum.1 + it.transactions));
        time as f64 / count.max(1) as f64 / 1e3
    };
    for seed in 2..6 {
        why = experiment(&quiet, off(&why.windows).max(1.0), 8, seed);
    }
    off(&why.windows)
}

/// Mean value analysis of stations with one server each and a delay: T with so many clients, and the number at
/// each station. Source: M. Reiser, S. S. Lavenberg, Mean-value analysis of closed multichain queuing networks, JACM 27 (1980).
fn mean_values(demands: &[f64], delay: f64, clients: usize) -> (f64, Vec<f64>) {
    let mut queues = vec![0.0; demands.len()];
    let mut rate = 0.0;
    for present in 1..=clients {
        let times: Vec<f64> =
            demands.iter().zip(&queues).map(|(demand, queue)| demand * (1.0 + queue)).collect();
        rate = present as f64 / (delay + times.iter().sum::<f64>());
        queues = times.iter().map(|time| rate * time).collect();
    }
    (rate.recip(), queues)
}

fn effects(system: &System, t_us: f64, cycles: usize, seed: u64) -> WhyEffects {
    why_effects(&experiment(system, t_us, cycles, seed), 1).unwrap()
}

fn covers(range: Ranged95, truth: f64) -> bool {
    range.low <= truth && truth <= range.high
}

/// The shares of a product-form network are Q(N) - Q(N - 1), the place where the last client stands; the beta of a delay is
/// (X(N) - X(N - 1)) / X(N).
#[test]
fn the_shares_of_a_product_form_network_are_where_the_last_client_stands() {
    for (clients, delay) in [(2, 2_000.0), (6, 1_200.0), (8, 200.0)] {
        // Small doses, and always all clients: what is large costs more than its beginning near the knee.
        let noise = (0.001, 0.001);
        let system = System { clients, delay, noise, dose: 0.03, pauses: false, ..PLAIN };
        let demands = [system.client, system.server];
        let (t, queues) = mean_values(&demands, delay, clients);
        let (t_before, before) = mean_values(&demands, delay, clients - 1);
        let found = effects(&system, t, 120, 11);
        assert!((found.rate_per_s * t / 1e6 - 1.0).abs() < 0.03, "{found:?}");
        let share = |place| found.place(place).unwrap().share.unwrap().value;
        for (place, at) in [(WhyPlace::ClientCpu, 0), (WhyPlace::ServerCpu, 1)] {
            let expected = queues[at] - before[at];
            assert!((share(place) - expected).abs() < 0.1, "{clients}: {expected} {found:#?}");
        }
        let beta = (1.0 / t - 1.0 / t_before) * t;
        let seen = found.place(WhyPlace::Outside).unwrap().beta.value;
        assert!((seen - beta).abs() < 0.1, "{clients}: {seen} for {beta}");
        let sum = 1.0 - found.rest.value + beta / t * delay;
        assert!((sum - 1.0).abs() < 0.12, "{clients}: {sum}");
    }
}

#[test]
fn sentences_are_right_where_the_limit_is_known() {
    let lock = System { kind: Kind::Lock, cores: 4, locked: 300.0, server: 100.0, ..PLAIN };
    let trip = System {
        kind: Kind::LockOverTrip,
        cores: 4,
        locked: 30.0,
        trip: 400.0,
        server: 60.0,
        ..PLAIN
    };
    let group = System { kind: Kind::Group, cores: 4, flush: 5_000.0, server: 60.0, ..PLAIN };
    let limited = System { kind: Kind::Limited, cores: 2, server: 60.0, ..PLAIN };
    let cases = [
        (System { clients: 2, delay: 4_000.0, ..PLAIN }, Verdict::Latency),
        (PLAIN, Verdict::ServerCpu),
        (System { client: 500.0, server: 40.0, ..PLAIN }, Verdict::Generator),
        (lock, Verdict::OneAtATime),
        (trip, Verdict::Held),
        (group, Verdict::FlushShared),
        (limited, Verdict::Untouched),
    ];
    for (system, expected) in cases {
        let found = effects(&system, t_us(&system), 40, 5);
        assert_eq!(why_verdict(&found), expected, "{system:?} {found:#?}");
    }
}

/// The shares of a cluster by arithmetic: of dyno, of the first server and of the three stores.
fn shares_of_cluster(system: &System) -> (f64, Vec<f64>) {
    let mut demands = vec![system.client, system.server];
    demands.extend(STORES.map(|part| part * system.locked));
    let (t, queues) = mean_values(&demands, system.delay, system.clients);
    let (_, before) = mean_values(&demands, system.delay, system.clients - 1);
    (t, queues.iter().zip(&before).map(|(now, before)| now - before).collect())
}

#[test]
fn the_store_that_holds_a_cluster_back_is_named_and_each_server_has_its_share() {
    let noise = (0.005, 0.005);
    let system = System {
        kind: Kind::Cluster,
        client: 20.0,
        server: 60.0,
        locked: 300.0,
        noise,
        dose: 0.05,
        pauses: false,
        ..PLAIN
    };
    let (t, shares) = shares_of_cluster(&system);
    let found = effects(&system, t, 40, 3);
    assert_eq!(found.members.len(), 4);
    for (member, expected) in found.members.iter().zip(&shares[1..]) {
        let share = member.share.unwrap().value;
        assert!((share - expected).abs() < 0.08, "{expected}: {member:#?}");
    }
    let together: f64 = found.members.iter().map(|it| it.share.unwrap().value).sum();
    let server = found.place(WhyPlace::ServerCpu).unwrap().share.unwrap().value;
    assert!((together - server).abs() < 0.1, "{together} for {server}");
    assert_eq!(why_verdict(&found), Verdict::Member(2), "{found:#?}");
}

#[test]
fn no_server_of_a_cluster_is_named_where_none_has_the_limit_alone() {
    let cluster = System { kind: Kind::Cluster, client: 20.0, pauses: false, ..PLAIN };
    // Each waits for itself; two servers that are full alike; dyno is full.
    let cases = [
        (System { clients: 2, delay: 4_000.0, server: 60.0, locked: 300.0, ..cluster }, "latency"),
        (System { server: 240.0, locked: 300.0, ..cluster }, "two servers"),
        (System { client: 500.0, server: 60.0, locked: 300.0, ..cluster }, "dyno"),
    ];
    for (system, name) in cases {
        let (t, _) = shares_of_cluster(&system);
        let verdict = why_verdict(&effects(&system, t, 20, 5));
        assert!(!matches!(verdict, Verdict::Member(_)), "{name}: {verdict:?}");
        let known = [("latency", Verdict::Latency), ("dyno", Verdict::Generator)];
        let expected = known.iter().find(|(of, _)| *of == name).map(|(_, verdict)| *verdict);
        assert!(expected.is_none_or(|expected| verdict == expected), "{name}: {verdict:?}");
    }
}

#[test]
fn with_one_client_each_server_of_a_cluster_costs_what_is_put_there() {
    let system = System { kind: Kind::Cluster, clients: 1, locked: 300.0, ..PLAIN };
    let (t, _) = shares_of_cluster(&system);
    let found = effects(&system, t, 30, 9);
    for member in &found.members {
        // A tenth of the work is seen a tenth as well.
        let is_near = (0.7..=1.3).contains(&member.beta.value);
        let is_large = member.demand_ns.is_some_and(|ns| ns > 100_000.0);
        assert!(covers(member.beta, 1.0) && (is_near || !is_large), "{member:#?}");
    }
    assert_eq!(why_verdict(&found), Verdict::Latency);
}

/// The same server on a machine that dyno fills with it, and under a quota.
#[test]
fn a_full_machine_and_a_quota_are_told_from_work_one_at_a_time() {
    let found = effects(&PLAIN, t_us(&PLAIN), 40, 5);
    let machine = WhyEffects {
        server_cores: Some(2),
        host_cores: 2,
        server_busy: Some(1.0),
        client_busy: 0.1,
        ..found
    };
    assert_ne!(why_verdict(&machine), Verdict::SharedCpu);
    let shared = WhyEffects { client_busy: 0.9, ..machine.clone() };
    assert_eq!(why_verdict(&shared), Verdict::SharedCpu);
    let stopped = WhyEffects { throttled: Some(0.4), ..machine.clone() };
    assert_eq!(why_verdict(&stopped), Verdict::Quota);
    // A core that is not missed says that the server works one at a time, unless dyno has most of that core.
    let mut spared = machine.clone();
    spared.fewer_cores =
        Some(Ranged95 { value: 0.01, low: -0.05, high: 0.07, surely_low: -0.1, surely_high: 0.1 });
    let work = spared.places.iter_mut().find(|it| it.place == WhyPlace::ServerCpu).unwrap();
    work.beta.surely_low = 0.6;
    spared.client_busy = 0.3;
    assert_eq!(why_verdict(&spared), Verdict::OneAtATime);
    spared.client_busy = 0.69;
    assert_eq!(why_verdict(&spared), Verdict::ServerWork);
    // A core is idle that the server may use, and does not: without the lever of the cores too.
    let alone = WhyEffects { fewer_cores: None, ..machine };
    assert!((alone.idle_cores() - 0.9).abs() < 1e-9);
    assert_eq!(why_verdict(&alone), Verdict::OneAtATime);
    // On its own cores of a larger machine nothing is known of those that are idle.
    let bound = WhyEffects { host_cores: 8, ..alone.clone() };
    assert_eq!(why_verdict(&bound), Verdict::ServerWork);
    let others = WhyEffects { others_busy: Some(0.7), client_busy: 0.1, ..alone };
    assert_ne!(why_verdict(&others), Verdict::OneAtATime);
}

/// The same experiment where the CPU time of the server is not seen, and statements work in it.
fn far_away(system: &System) -> WhyEffects {
    let mut why = experiment(system, t_us(system), 40, 5);
    for window in &mut why.windows {
        let worked_ns = window.server_cpu_ns.take().unwrap_or(0) as f64;
        if window.setting & Lever::ServerCpu.bit() != 0 {
            window.work_ns = (worked_ns * system.dose / (1.0 + system.dose)) as u64;
        }
    }
    why_effects(&Why { server_cores: None, ..why }, 1).unwrap()
}

#[test]
fn a_server_whose_time_is_not_seen_is_reached_by_statements() {
    let full = far_away(&PLAIN);
    let beta = full.place(WhyPlace::ServerCpu).unwrap();
    assert!((beta.beta.value - 1.0).abs() < 0.1 && beta.share.is_none(), "{full:#?}");
    assert_eq!(why_verdict(&full), Verdict::ServerWork);
    let two_cores = far_away(&System { cores: 2, clients: 16, ..PLAIN });
    let beta = two_cores.place(WhyPlace::ServerCpu).unwrap().beta.value;
    assert!((beta - 0.5).abs() < 0.1, "{two_cores:#?}");
    assert_eq!(why_verdict(&two_cores), Verdict::ServerWork);
    let cases = [
        (System { clients: 2, delay: 4_000.0, ..PLAIN }, Verdict::Latency),
        (System { client: 500.0, server: 40.0, ..PLAIN }, Verdict::Generator),
        (System { kind: Kind::Limited, cores: 2, server: 60.0, ..PLAIN }, Verdict::Untouched),
    ];
    for (system, expected) in cases {
        let found = far_away(&system);
        assert_eq!(why_verdict(&found), expected, "{system:?} {found:#?}");
    }
    // Where one that sleeps holds up others as well, it is no CPU.
    let mut slots = full;
    let place = slots.places.iter_mut().find(|it| it.place == WhyPlace::ServerCpu).unwrap();
    place.place = WhyPlace::Asleep;
    assert_eq!(why_verdict(&slots), Verdict::Slots);
}

#[test]
fn a_short_look_decides_nothing_and_tells_how_long_would_do() {
    let found = effects(&PLAIN, 400.0, 3, 1);
    assert_eq!(why_verdict(&found), Verdict::NotDecided(NotDecided::TooShort { times: 2.0 }));
}

/// Betas of places by arithmetic, and the time T for each transaction, us.
fn truths_of_network(system: &System) -> (f64, [(WhyPlace, f64); 2]) {
    let demands = [system.client, system.server];
    let (t, queues) = mean_values(&demands, system.delay, system.clients);
    let (t_before, before) = mean_values(&demands, system.delay, system.clients - 1);
    let outside = (1.0 / t - 1.0 / t_before) * t;
    let server = (queues[1] - before[1]) * t / system.server;
    (t, [(WhyPlace::Outside, outside), (WhyPlace::ServerCpu, server)])
}

/// The same of a system without a formula, by a long run without noise.
fn truths_of_long_run(system: &System, place: WhyPlace) -> (f64, [(WhyPlace, f64); 2]) {
    let t = t_us(system);
    let quiet = System { noise: (0.0, 0.0), ..*system };
    let found = effects(&quiet, t, 1_000, 7);
    let truth = |place| (place, found.place(place).unwrap().beta.value);
    (t, [truth(WhyPlace::Outside), truth(place)])
}

/// A system with its time for each transaction, us, and its betas.
type Known = (&'static str, System, (f64, [(WhyPlace, f64); 2]));

fn networks() -> [Known; 2] {
    let below = System { clients: 2, delay: 4_000.0, ..PLAIN };
    [
        ("below the knee", below, truths_of_network(&below)),
        ("saturated", PLAIN, truths_of_network(&PLAIN)),
    ]
}

fn others() -> [Known; 3] {
    let lock = System { kind: Kind::Lock, cores: 4, locked: 300.0, server: 100.0, ..PLAIN };
    let back_off = System { kind: Kind::BackOff, ..lock };
    let group = System { kind: Kind::Group, cores: 4, flush: 5_000.0, server: 60.0, ..PLAIN };
    [
        ("a lock", lock, truths_of_long_run(&lock, WhyPlace::Inside)),
        ("a lock with back-off", back_off, truths_of_long_run(&back_off, WhyPlace::Inside)),
        ("group commit", group, truths_of_long_run(&group, WhyPlace::Flush)),
    ]
}

/// Of many short experiments, how often the interval of each beta has the truth, and how often the lever that does nothing
/// responds.
fn counted(
    cases: impl IntoIterator<Item = Known>,
    runs: u64,
    cycles: usize,
) -> Vec<(&'static str, [f64; 2], f64, f64)> {
    let mut table = Vec::new();
    for (name, system, (t, truths)) in cases {
        let (mut covered, mut null, mut width) = ([0; 2], 0, 0.0);
        for seed in 0..runs {
            let found = effects(&system, t, cycles, seed + 100);
            for (covered, (place, truth)) in covered.iter_mut().zip(truths) {
                *covered += usize::from(covers(found.place(place).unwrap().beta, truth));
            }
            let share = found.place(WhyPlace::ServerCpu).unwrap().share.unwrap();
            width += (share.high - share.low) / 2.0;
            null += usize::from(found.lever(Lever::Null).unwrap().change.low > 0.0);
            null += usize::from(found.lever(Lever::Null).unwrap().change.high < 0.0);
        }
        let part = |count: usize| count as f64 / runs as f64;
        table.push((name, covered.map(part), part(null), width / runs as f64));
    }
    table
}

#[test]
fn intervals_cover_what_they_should() {
    for (name, covered, null, width) in counted(networks(), 30, 12) {
        assert!(covered.iter().all(|it| *it >= 0.8), "{name}: {covered:?}");
        assert!(null <= 0.2, "{name}: {null}");
        assert!(width < 1.0, "{name}: {width}");
    }
}

/// Two minutes of windows of 0.3 s on a machine whose noise is what docs/statistics/variants.md, *Windows*, has measured: 24 % in 0.1 s,
/// correlated by 0.83, 0.63 and 0.35 after 0.1, 0.5 and 2 s. `cargo test --release -p dyno-analysis why_two_minutes --
/// --ignored --nocapture`
#[test]
#[ignore = "half a minute; its figures are in benchmarks/why.md"]
#[expect(clippy::disallowed_macros, reason = "the figures are what it is run for")]
fn why_two_minutes_of_a_noisy_machine_know_each_share_to_a_fifth() {
    let noise = (0.09, 0.20);
    let system = System { kind: Kind::Group, cores: 4, flush: 2_000.0, noise, ..PLAIN };
    let (t, runs) = (t_us(&system), 100);
    let mut widths: Vec<(WhyPlace, f64)> = Vec::new();
    for seed in 0..runs {
        let found = effects(&system, t, 25, seed + 500);
        for place in &found.places {
            // In parts of the time for a transaction: of a delay, that of all clients.
            let whole = match (place.place, place.demand_ns) {
                (WhyPlace::Outside, _) => system.clients as f64,
                (_, Some(demand)) => demand / (t * 1e3),
                (_, None) => 1.0,
            };
            widths.push((place.place, (place.beta.high - place.beta.low) / 2.0 * whole));
        }
    }
    let mut means = Vec::new();
    for place in [WhyPlace::Outside, WhyPlace::ClientCpu, WhyPlace::ServerCpu, WhyPlace::Flush] {
        let of_place: Vec<f64> = widths.iter().filter(|it| it.0 == place).map(|it| it.1).collect();
        let mean = of_place.iter().sum::<f64>() / of_place.len() as f64;
        println!("{place:?}: half width {mean:.3}");
        means.push(mean);
    }
    assert!(means.iter().all(|mean| *mean <= 0.2), "the goal is missed: {means:?}");
}

/// `cargo test --release -p dyno-analysis why_coverage -- --ignored`
#[test]
#[ignore = "minutes; its table is in benchmarks/why.md"]
#[expect(clippy::disallowed_macros, reason = "the table is what it is run for")]
fn why_coverage_of_a_thousand_runs() {
    let table = counted(networks().into_iter().chain(others()), 1_000, 12);
    for (name, covered, null, width) in &table {
        println!("{name}: {covered:?}, null {null}, half width {width:.2}");
    }
    for (name, covered, null, _) in table {
        let is_held = |part: &f64| (0.93..=0.97).contains(part);
        assert!(covered.iter().all(is_held), "{name}: {covered:?}");
        assert!((0.03..=0.07).contains(&null), "{name}: {null}");
    }
}

/// In how many of so many experiments an effect seems to change within its window.
fn alarms(system: &System, t: f64, runs: u64, cycles: usize) -> usize {
    let seen = |seed: u64| !why_lasting(&experiment(system, t, cycles, seed + 700)).is_empty();
    (0..runs).filter(|seed| seen(*seed)).count()
}

#[test]
fn a_memory_of_about_a_window_is_noticed_and_where_there_is_none_there_is_no_alarm() {
    for (name, system, (t, _)) in networks() {
        assert!(alarms(&system, t, 20, 12) <= 2, "{name}");
    }
    let remembers = System { memory: 0.5, ..PLAIN };
    let why = experiment(&remembers, truths_of_network(&PLAIN).0, 40, 1);
    let found = why_lasting(&why);
    let work = found.iter().find(|it| it.lever == Lever::ServerCpu);
    assert!(work.is_some_and(|it| it.growth.surely_low > 0.0), "{found:?}");
}

/// `cargo test --release -p dyno-analysis why_alarms -- --ignored --nocapture`
#[test]
#[ignore = "ten minutes; its table is in benchmarks/why.md"]
#[expect(clippy::disallowed_macros, reason = "the table is what it is run for")]
fn why_alarms_of_a_thousand_runs() {
    for (name, system, (t, _)) in networks().into_iter().chain(others()) {
        println!("{name}: {} of 1000", alarms(&system, t, 1_000, 12));
    }
    let t = truths_of_network(&PLAIN).0;
    for memory in [0.2, 0.5, 1.0, 2.0, 5.0, 20.0] {
        for cycles in [12, 40] {
            let remembers = System { memory, ..PLAIN };
            let seen = alarms(&remembers, t, 200, cycles);
            println!("memory of {memory} windows, {cycles} cycles: {seen} of 200");
        }
    }
}
