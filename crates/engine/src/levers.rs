//! Slow-downs of dyno's own that are switched on and off while load runs, to see who waits for them (docs/statistics/why.md).

use std::cell::Cell;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use measure::{Lever, nanos};
use net::{Clock, Handle, Nanos};

/// Rounds of work from which the length of one is known.
const CALIBRATED: u64 = 400_000;

/// The sizes of the slow-downs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LeverSizes {
    /// The wait before a transaction, ns, and that one of so many transactions of a client has it.
    pub before_ns: Nanos,
    pub before_every: u32,
    /// The wait after an answer that leaves a transaction open, ns, and that one of so many of them has it.
    pub inside_ns: Nanos,
    pub inside_every: u32,
    /// Rounds of work before a transaction ([`rounds_per_us`]).
    pub client_rounds: u64,
    /// How many clients pause.
    pub paused: usize,
}

/// What a client asks a server before one of so many of its transactions, for servers whose time nothing else reaches.
#[derive(Clone, Debug)]
pub struct ServerStatements {
    pub every: u32,
    /// The statements that do nothing, that work, that sleep, and that do both: the same with other numbers, so that what
    /// they cost beside that is in all windows.
    pub texts: [Arc<str>; 4],
    /// How long one works, ns.
    pub work_ns: Nanos,
    /// How long one sleeps, ns.
    pub asleep_ns: Nanos,
}

/// How long slow-downs were to last so far, summed over all clients, ns.
#[derive(Clone, Copy, Debug, Default)]
pub struct Slowed {
    pub before_ns: Nanos,
    pub inside_ns: Nanos,
    pub work_ns: Nanos,
    pub asleep_ns: Nanos,
}

/// The slow-downs of a load, by the windows of its measured time; all workers share them.
#[derive(Debug)]
pub struct Levers {
    window_ns: Nanos,
    settings: Vec<u32>,
    sizes: LeverSizes,
    statements: Option<ServerStatements>,
    before_ns: AtomicU64,
    inside_ns: AtomicU64,
    /// How often a statement worked, and slept.
    worked: AtomicU64,
    slept: AtomicU64,
    /// Timers that have ended, and how much later than asked, summed, ns.
    timers: AtomicU64,
    late_ns: AtomicU64,
}

/// Two loads are equal only when they share their levers.
impl PartialEq for Levers {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Levers {
    /// `settings` has the levers that are on in each window, a bit each ([`Lever::bit`]); behind the last none is on.
    pub fn new(
        window: Duration,
        settings: Vec<u32>,
        (sizes, statements): (LeverSizes, Option<ServerStatements>),
    ) -> Self {
        let [before_ns, inside_ns, worked, slept] = [0; 4].map(AtomicU64::new);
        let [timers, late_ns] = [0; 2].map(AtomicU64::new);
        let window_ns = nanos(window).max(1);
        Self {
            window_ns,
            settings,
            sizes,
            statements,
            before_ns,
            inside_ns,
            worked,
            slept,
            timers,
            late_ns,
        }
    }

    pub fn slowed(&self) -> Slowed {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let each = self.statements.as_ref().map_or((0, 0), |it| (it.work_ns, it.asleep_ns));
        Slowed {
            before_ns: of(&self.before_ns),
            inside_ns: of(&self.inside_ns),
            work_ns: of(&self.worked) * each.0,
            asleep_ns: of(&self.slept) * each.1,
        }
    }

    /// How much later than asked the kernel ended a wait, ns, on average.
    pub fn timer_late_ns(&self) -> Nanos {
        self.late_ns.load(Ordering::Relaxed) / self.timers.load(Ordering::Relaxed).max(1)
    }
}

/// Work on the event loop that takes about as long on each round.
fn work(rounds: u64) {
    let mut state = black_box(rounds);
    for _ in 0..rounds {
        state = black_box(state.wrapping_mul(6_364_136_223_846_793_005).rotate_left(17));
    }
}

/// Rounds of work that this machine does in a microsecond, as the fastest of some tries does them.
pub fn rounds_per_us() -> f64 {
    let time = || {
        let clock = Clock::monotonic();
        work(CALIBRATED);
        clock.now()
    };
    let fastest = (0..5).map(|_| time()).min().unwrap_or_default();
    CALIBRATED as f64 * 1e3 / fastest.max(1) as f64
}

/// The levers of one worker.
pub(crate) struct WorkerLevers {
    shared: Arc<Levers>,
    setting: Cell<u32>,
    /// When the window of that setting ends, on the trial's clock.
    until: Cell<Nanos>,
}

impl WorkerLevers {
    pub(crate) fn new(shared: &Arc<Levers>) -> Self {
        Self { shared: Arc::clone(shared), setting: Cell::new(0), until: Cell::new(0) }
    }

    /// Switches what is due at `at` on the trial's clock, for a load whose measured time begins at `begin`.
    pub(crate) fn switch(&self, at: Nanos, begin: Nanos, handle: &Handle) {
        self.shared.inside_ns.fetch_add(handle.take_held_ns(), Ordering::Relaxed);
        let (timers, late_ns) = handle.take_late_timers();
        self.shared.timers.fetch_add(timers, Ordering::Relaxed);
        self.shared.late_ns.fetch_add(late_ns, Ordering::Relaxed);
        if at < self.until.get() {
            return;
        }
        let (window_ns, settings) = (self.shared.window_ns, &self.shared.settings);
        let (setting, until) = match at.checked_sub(begin) {
            None => (0, begin),
            Some(since) => {
                let window = since / window_ns;
                let at = usize::try_from(window).unwrap_or(usize::MAX);
                let until = begin.saturating_add((window + 1).saturating_mul(window_ns));
                (settings.get(at).copied().unwrap_or(0), until)
            }
        };
        self.setting.set(setting);
        self.until.set(until);
        let LeverSizes { inside_ns, inside_every, .. } = self.shared.sizes;
        let is_held = self.is_on(Lever::Inside);
        handle.hold_transactions(if is_held { inside_ns } else { 0 }, inside_every);
    }

    fn is_on(&self, lever: Lever) -> bool {
        self.setting.get() & lever.bit() != 0
    }

    /// Until when this client pauses, on the trial's clock; `None` when it does not. Those that do are spread over
    /// all clients.
    pub(crate) fn pause(&self, client: usize, clients: usize) -> Option<Nanos> {
        let paused = self.shared.sizes.paused;
        let is_chosen = paused * (client + 1) / clients > paused * client / clients;
        (is_chosen && self.is_on(Lever::Clients)).then(|| self.until.get())
    }

    /// The wait before a client's next transaction, of which it has had `issued`.
    pub(crate) fn before_ns(&self, issued: u64) -> Nanos {
        let LeverSizes { before_ns, before_every, .. } = self.shared.sizes;
        let is_due = issued.is_multiple_of(u64::from(before_every.max(1)));
        let wait = if is_due && self.is_on(Lever::Before) { before_ns } else { 0 };
        self.shared.before_ns.fetch_add(wait, Ordering::Relaxed);
        wait
    }

    /// The statement before a client's next transaction, of which it has begun so many; `None` when there is none.
    pub(crate) fn statement(&self, issued: u64) -> Option<Arc<str>> {
        let statements = self.shared.statements.as_ref()?;
        let every = u64::from(statements.every.max(1));
        // Another transaction than the one that waits.
        if issued % every != every / 2 {
            return None;
        }
        let (works, sleeps) = (self.is_on(Lever::ServerCpu), self.is_on(Lever::ServerSleep));
        self.shared.worked.fetch_add(u64::from(works), Ordering::Relaxed);
        self.shared.slept.fetch_add(u64::from(sleeps), Ordering::Relaxed);
        let at = usize::from(works) + 2 * usize::from(sleeps);
        Some(Arc::clone(&statements.texts[at]))
    }

    /// Does the work before a transaction.
    pub(crate) fn work(&self) {
        if self.is_on(Lever::ClientCpu) {
            work(self.shared.sizes.client_rounds);
        }
    }
}
