//! The experiment for the limit of a trial's system, after its measured load: the load goes on while small slow-downs are
//! switched on and off (docs/statistics/why.md).

mod asking;
mod flushing;
mod levers;
mod observer;
mod profiling;
mod servers;
mod toggle;

use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Duration;

use analysis::{
    Design, WHY_CYCLES_MIN, WHY_LEVERS, WHY_LEVERS_OF_LONG_CYCLE, why_cycle, why_effects,
    why_lasting, why_looks,
};
use anyhow::{Context, Result, bail};
use engine::{Load, LoadEnd, OfferedLoad, Pacing, PhaseEnds, Stop, Workers};
use measure::{Lever, Why, nanos};
use plan::{Limit, Trial, WarmUp, WhyPlan};
use system::ProgressEvent;
use system::slowdown::usable_cores;

use self::asking::Asking;
use self::levers::{Hands, Sizes};
use self::observer::Observer;
use self::servers::Servers;
use crate::test_bed::TestBed;
use crate::trial_ceiling::Messages;
use crate::{Event, Experiment, RunListener, offer, trial_load};

/// The part at the begin of a window that is left out: while it lasts, transactions of the window before end. It is so
/// many times their mean length, and at least as long as this.
const LEFT_OUT_MIN: Duration = Duration::from_millis(20);
const LEFT_OUT_TIMES: f64 = 3.0;
/// It is at least one of so many parts of the shortest window.
const LEFT_OUT_PART: u32 = 10;
/// The same where statements of a toggle have to be answered in it.
const LEFT_OUT_WITH_TOGGLE: Duration = Duration::from_millis(50);
/// A window has at least so many transactions.
const TRANSACTIONS_MIN: f64 = 50.0;
const WINDOW_MIN: Duration = Duration::from_millis(150);
/// With longer windows, no experiment of minutes has enough of them.
const WINDOW_MAX: Duration = Duration::from_secs(4);
/// Cycles from which the sizes of the slow-downs are set. They do not count.
const PILOT: usize = 1;
/// Cycles that have to fit into the time for servers to be slowed down each alone, where that takes long cycles.
const CYCLES_OF_SERVERS: usize = 8;
/// Where effects change within a window, windows of so many times their length follow.
const LONGER: u32 = 10;
/// An effect as large as this part of the time for a transaction is large enough.
const EFFECT: f64 = 0.12;
/// Load before the first window, on the connections that the experiment opens.
const WARM_UP: Duration = Duration::from_millis(500);

/// Runs the experiment for a trial that has ended well.
///
/// # Errors
/// Why there is none.
pub(crate) fn measure(
    experiment: &Experiment,
    (trial, plan): (Trial, &WhyPlan),
    (test_bed, messages): (&TestBed<'_>, &Messages),
    stop: &Stop,
    listener: &mut dyn RunListener,
) -> Result<Why> {
    demand(experiment, trial)?;
    let ns = messages.ns_per_transaction().context("no transaction succeeded in its load")?;
    let load = trial_load::make_load(experiment, trial, test_bed, stop)?;
    let stage = ProgressEvent::stage("looking for what holds it back");
    listener.on_event(Event::Progress(stage));
    let warm_up = WarmUp { at_most: WARM_UP, steady_from: None };
    let base = offer::of_trial(experiment, trial, warm_up, (test_bed.access(), &[]));
    if base.workers == Workers::Simulated(1) {
        bail!("the system is simulated");
    }
    let left_out = if plan.toggle.is_some() { LEFT_OUT_WITH_TOGGLE } else { LEFT_OUT_MIN };
    let least = plan.window.unwrap_or(WINDOW_MIN);
    let window = Window::of(ns, trial.clients, (left_out, least))?;
    let mut servers = Servers::of(test_bed);
    let bench = Bench { experiment, trial, plan, base: &base, load: load.as_ref(), stop };
    let asking = OnceCell::new();
    let asking = || asking.get_or_init(|| Asking::measure(test_bed)).as_ref();
    let mut sizes = Sizes::first(ns, trial.clients);
    let hands_on = |sizes: &Sizes, servers: Servers| {
        let more = (plan.toggle.as_ref(), servers);
        Hands::on(sizes, (test_bed, &asking), trial.clients, more)
    };
    let pilot = hands_on(&sizes, servers.again());
    let pilot = bench.run(pilot, (window, plan.at_most), (PILOT, &[]), listener)?;
    if pilot.cut_short.is_some() {
        return Ok(pilot);
    }
    sizes.fit(&pilot);
    let left = plan.at_most.saturating_sub(window.cycle(WHY_LEVERS) * PILOT as u32);
    let room = room(plan, window, left, pilot.used.len());
    servers.choose(&pilot.members, (room.0, &room.1));
    let hands = hands_on(&sizes, servers).with_servers(&sizes);
    let processes = hands.processes.clone();
    let (cycle, cycles) = window.cycles_in(left, hands.used.len());
    if cycles < 2 {
        bail!("{:?} are too short for two cycles of {cycle:?} behind the first one", plan.at_most);
    }
    let mut why =
        bench.run(hands, (window, plan.at_most), (cycles, &why_looks(cycles)), listener)?;
    let left = left.saturating_sub(window.length() * u32::try_from(why.windows.len())?);
    let is_asked = plan.window.is_none() && why.cut_short.is_none();
    if is_asked && !why_lasting(&why).is_empty() {
        let longer = Window::of(ns, trial.clients, (left_out, window.length() * LONGER))?;
        let hands = || hands_on(&sizes, Servers::default());
        match bench.run_longer(hands, (longer, left), listener) {
            Ok(long) => why.long = long.map(Box::new),
            Err(error) => listener.on_note(&format!("longer windows failed: {error:#}")),
        }
    }
    if plan.profile && why.cut_short.is_none() {
        match bench.profile(test_bed, &processes, listener) {
            Ok(found) => (why.profiles, why.unprofiled) = (found.taken, found.missing),
            Err(error) => why.unprofiled = vec![format!("no profile: {error:#}")],
        }
    }
    Ok(why)
}

/// For how many servers there is room beside so many levers in the time that is left, and why there is none for more.
fn room(plan: &WhyPlan, window: Window, left: Duration, levers: usize) -> (usize, String) {
    let needed = window.cycle(WHY_LEVERS + 1) * CYCLES_OF_SERVERS as u32;
    if needed <= left {
        let all = "an experiment has places for no more".to_owned();
        return (WHY_LEVERS_OF_LONG_CYCLE.saturating_sub(levers), all);
    }
    let at_most = (plan.at_most - left + needed).as_secs() + 1;
    (
        WHY_LEVERS.saturating_sub(levers),
        format!("more of them take longer: at_most = \"{at_most}s\""),
    )
}

/// What all loads of an experiment have in common.
struct Bench<'a> {
    experiment: &'a Experiment,
    trial: Trial,
    plan: &'a WhyPlan,
    base: &'a OfferedLoad,
    load: &'a dyn Load,
    stop: &'a Stop,
}

impl Bench<'_> {
    /// The same with longer windows in the time that is left; `None` when too few fit into it.
    fn run_longer(
        &self,
        hands: impl Fn() -> Hands,
        (window, left): (Window, Duration),
        listener: &mut dyn RunListener,
    ) -> Result<Option<Why>> {
        let (_, cycles) = window.cycles_in(left, WHY_LEVERS);
        if cycles < WHY_CYCLES_MIN {
            return Ok(None);
        }
        self.run(hands(), (window, left), (cycles, &why_looks(cycles)), listener).map(Some)
    }

    /// Offers so many cycles of windows, and looks after some of them whether it is decided.
    fn run(
        &self,
        hands: Hands,
        (window, at_most): (Window, Duration),
        (cycles, looks): (usize, &[usize]),
        listener: &mut dyn RunListener,
    ) -> Result<Why> {
        let levers: Vec<Lever> = hands.used.iter().map(|used| used.lever).collect();
        let settings = Design::new(&levers, self.experiment.plan.seed).settings(cycles);
        let shared =
            Arc::new(engine::Levers::new(window.length(), settings.clone(), hands.own_levers()));
        let offered = OfferedLoad {
            limit: Limit::time(window.length() * u32::try_from(settings.len())?),
            ends: PhaseEnds { warm_up_from: None, measured: true },
            interval: window.part,
            levers: Some(Arc::clone(&shared)),
            runs_once: false,
            ..self.base.clone()
        };
        let why = Why {
            clients: self.trial.clients,
            loops: offered.threads(),
            server_cores: usable_cores(&hands.processes),
            host_cores: std::thread::available_parallelism().map_or(1, usize::from),
            window_ns: nanos(window.length()),
            used: hands.used.clone(),
            unused: hands.unused.clone(),
            toggle: self.plan.toggle.as_ref().map(|toggle| toggle.name.clone()),
            at_most_ns: nanos(at_most),
            ..Why::default()
        };
        let mut observer =
            Observer::new((why, settings), (&window, looks), (shared, hands), listener);
        let outcome = engine::offer(&offered, self.load, self.stop, &mut observer)?;
        let mut why = observer.finish();
        why.cut_short = match outcome.ended {
            LoadEnd::Complete => None,
            LoadEnd::Interrupted => Some("it was interrupted".to_owned()),
            ended => Some(format!("its load ended early: {ended:?}")),
        };
        Ok(why)
    }
}

/// Refuses what cannot be told by the experiment.
fn demand(experiment: &Experiment, trial: Trial) -> Result<()> {
    let load = &experiment.plan.load;
    if !load.generators.is_empty() {
        bail!("several generators share the load");
    }
    if matches!(crate::pacing::pacing(&experiment.plan, trial, WARM_UP), Pacing::Open { .. }) {
        bail!("the rate of an open loop is given, and does not answer to a slow-down");
    }
    if experiment.workloads[trial.workload].runs_once() {
        bail!("each client runs its transactions once");
    }
    Ok(())
}

/// The windows: parts of one length, of which the first is left out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    part: Duration,
    parts: u32,
}

impl Window {
    /// For transactions that so many clients end every `ns`, without `left_out` at the begin or more, and as long as `least`
    /// at least.
    fn of(ns: f64, clients: usize, (left_out, least): (Duration, Duration)) -> Result<Self> {
        let response = Duration::from_nanos((ns * clients as f64) as u64);
        let part = response.mul_f64(LEFT_OUT_TIMES).max(left_out).max(least / LEFT_OUT_PART);
        let enough = Duration::from_nanos((ns * TRANSACTIONS_MIN) as u64);
        let needed = (response * 15).max(enough);
        let window = least.max(needed);
        if needed > WINDOW_MAX {
            bail!(
                "its transactions are too slow: a window with 15 response times and 50 transactions would last {needed:?}"
            );
        }
        let parts = (window.as_secs_f64() / part.as_secs_f64()).ceil() as u32 + 1;
        Ok(Self { part, parts })
    }

    fn length(&self) -> Duration {
        self.part * self.parts
    }

    /// How long a cycle with so many levers takes.
    fn cycle(&self, levers: usize) -> Duration {
        self.length() * why_cycle(levers) as u32
    }

    /// The same, and how many of them fit into a time.
    fn cycles_in(&self, time: Duration, levers: usize) -> (Duration, usize) {
        let cycle = self.cycle(levers);
        (cycle, (time.as_secs_f64() / cycle.as_secs_f64()) as usize)
    }
}

/// How large the effect of a lever is at least, by a pilot, as a part of the time for a transaction; `None` when it is
/// not known.
fn effect(pilot: &Why, lever: Lever) -> Option<f64> {
    let effects = why_effects(pilot, 1)?;
    // Two standard errors: half of all windows against the other half.
    let unsure = 2.0 * 2.0 * effects.noise / (pilot.windows.len().max(1) as f64).sqrt();
    Some((effects.lever(lever)?.change.value.abs() - unsure).max(0.0))
}
