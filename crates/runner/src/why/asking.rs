//! Slow-downs within a server that nothing else reaches: statements that work or sleep in it, whose lengths are measured
//! before the load.

use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use driver::{Session, Target};
use engine::ServerStatements;
use measure::{Failure, Nanos};
use net::{Clock, Handle, Runtime};
use system::Access;

use crate::test_bed::TestBed;

/// A statement that works for less than this is not told from one that does not.
const WORK_MIN_NS: f64 = 200_000.0;
/// The same of one that sleeps: timers of servers are late.
const SLEEP_MIN_NS: f64 = 250_000.0;
/// How long the statements last that are measured, ns.
const MEASURED_NS: f64 = 2_000_000.0;
/// How often each is asked. The fastest of them counts: what others add is no work of the statement.
const TRIES: usize = 9;
const ROUNDS_FIRST: u64 = 1_000;
const ROUNDS_MAX: u64 = 1_000_000_000;
/// One of so many transactions has one, at most.
const EVERY_MAX: f64 = 1_000.0;

/// What the statements of a server do.
#[derive(Clone, Debug)]
pub(super) struct Asking {
    target: Target,
    ns_per_round: f64,
    /// How much longer than asked it sleeps, ns.
    oversleeps_ns: f64,
}

impl Asking {
    /// Measures how long statements work and sleep in a server that has nothing else to do.
    ///
    /// # Errors
    /// For systems without such statements, and when they fail.
    pub(super) fn measure(test_bed: &TestBed<'_>) -> Result<Self> {
        let Access::Database(target) = test_bed.access() else { bail!("the system has no SQL") };
        if target.dialect().work_and_sleep.is_none() {
            bail!("the database runs within dyno");
        }
        let (target, asked) = (target.clone(), target.clone());
        let mut runtime = Runtime::new(Clock::monotonic())?;
        let handle = runtime.handle();
        let measured = runtime.block_on(async move {
            let mut session = asked.connect(&handle, 0).await?;
            let measured = measured(&mut session, &asked, &handle).await;
            session.close().await;
            measured
        })?;
        let (ns_per_round, oversleeps_ns) = measured.map_err(|failure| anyhow!("{failure}"))?;
        if ns_per_round <= 0.0 {
            bail!("a statement that works takes no longer than one that does not");
        }
        Ok(Self { target, ns_per_round, oversleeps_ns })
    }

    /// Statements that add so much to each transaction, on average.
    pub(super) fn statements(&self, work_ns: f64, asleep_ns: f64) -> ServerStatements {
        let each = |least: f64, ns: f64| (least / ns.max(1.0)).ceil();
        let every =
            each(WORK_MIN_NS, work_ns).max(each(SLEEP_MIN_NS, asleep_ns)).clamp(1.0, EVERY_MAX);
        let rounds = (work_ns * every / self.ns_per_round).max(1.0) as u64;
        let sleep_ns = (asleep_ns * every - self.oversleeps_ns).max(SLEEP_MIN_NS);
        let text = |works: bool, sleeps: bool| {
            let seconds = if sleeps { sleep_ns / 1e9 } else { 0.0 };
            let rounds = if works { rounds } else { 0 };
            // There is one: it was measured.
            let text = self.target.dialect().work_and_sleep(rounds, seconds).unwrap_or_default();
            Arc::from(text)
        };
        ServerStatements {
            every: every as u32,
            texts: [text(false, false), text(true, false), text(false, true), text(true, true)],
            work_ns: (rounds as f64 * self.ns_per_round) as Nanos,
            asleep_ns: (sleep_ns + self.oversleeps_ns) as Nanos,
        }
    }
}

/// How long a round of work takes, and how much longer than asked the server sleeps, ns.
async fn measured(
    session: &mut Session,
    target: &Target,
    handle: &Handle,
) -> Result<(f64, f64), Failure> {
    let dialect = target.dialect();
    let text = |rounds, seconds| dialect.work_and_sleep(rounds, seconds).unwrap_or_default();
    let idle = text(0, 0.0);
    let mut rounds = ROUNDS_FIRST;
    while fastest(session, &text(rounds, 0.0), handle).await? < MEASURED_NS && rounds < ROUNDS_MAX {
        rounds *= 4;
    }
    let base = fastest(session, &idle, handle).await?;
    let worked = fastest(session, &text(rounds, 0.0), handle).await?;
    let slept = median(session, &text(0, MEASURED_NS / 1e9), handle).await?;
    Ok(((worked - base) / rounds as f64, (slept - base - MEASURED_NS).max(0.0)))
}

/// The shortest time of a statement, ns.
async fn fastest(session: &mut Session, text: &str, handle: &Handle) -> Result<f64, Failure> {
    Ok(times(session, text, handle).await?[0])
}

async fn median(session: &mut Session, text: &str, handle: &Handle) -> Result<f64, Failure> {
    Ok(times(session, text, handle).await?[TRIES / 2])
}

/// Times of a statement, ns, in order.
async fn times(
    session: &mut Session,
    text: &str,
    handle: &Handle,
) -> Result<[f64; TRIES], Failure> {
    let mut times = [0.0; TRIES];
    for time in &mut times {
        let begun = handle.now();
        session.run(text).await?;
        *time = handle.now().saturating_sub(begun) as f64;
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}
