//! One run of dyno, from the start of its server to the verification.

use std::fmt;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow};
use jiff::Timestamp;
use net::Clock;
use record::Run;

use super::memory::{self, Memory, Sample};
use super::process::{Dyno, DynoExit, run_folder};
use super::schedule::Schedule;
use super::soak_plan::{Loop, SoakPlan};
use super::soak_server::{AppliedDisturbance, SoakServer};
use super::verifier::{Evidence, Figures, Planned, Verification, verify};
use crate::interrupt::Interrupt;

/// Time between two checks of dyno.
const POLL_PERIOD: Duration = Duration::from_secs(1);
/// Time between two checks whether a disturbance is due.
const DISTURBANCE_POLL_PERIOD: Duration = Duration::from_millis(50);
/// The time that a trial may take in addition to its load, and a run in addition to its trials.
const TRIAL_SLACK: Duration = Duration::from_secs(4);
const RUN_SLACK: Duration = Duration::from_secs(60);

/// A run to carry out.
#[derive(Debug)]
pub(super) struct SoakRun {
    pub offered: Loop,
    /// The folder for all files of the run.
    pub folder: PathBuf,
    pub length: Duration,
    pub seed: u64,
}

/// The result.
#[derive(Debug)]
pub(super) struct SoakResult {
    offered: Loop,
    disturbances: usize,
    memory: Option<Memory>,
    took: Duration,
    pub verification: Verification,
}

/// State that the threads of a run share.
#[derive(Debug, Default)]
struct Shared {
    is_over: AtomicBool,
    /// Whether a disturbance may begin.
    may_disturb: AtomicBool,
}

impl SoakRun {
    /// Carries out the run.
    pub(super) fn run(self, dyno: &Path, interrupt: &Interrupt) -> anyhow::Result<SoakResult> {
        let Self { offered, folder, length, seed } = &self;
        let scratch = tempfile::tempdir().context("no folder for the server's data")?;
        let mut server = SoakServer::start(scratch.path())?;
        let plan = SoakPlan::write_to(folder, *offered, &server.url(), *length, *seed)?;
        let schedule = Schedule::new(seed.wrapping_add(*offered as u64), plan.trial_length());
        let mut dyno = Dyno::start(dyno, &plan.path, folder)?;
        let (clock, shared, pid) = (Clock::monotonic(), Shared::default(), dyno.id());
        let mut done = Vec::new();
        let (ending, disturbed, samples) = thread::scope(|scope| {
            let disturber = scope.spawn(|| disturb(&mut server, schedule, &shared, &mut done));
            let sampler = scope.spawn(|| memory::watch(pid, &shared.is_over));
            let ending = watch(&mut dyno, &plan, &shared, &clock, interrupt);
            shared.is_over.store(true, Ordering::Relaxed);
            (ending, disturber.join(), sampler.join())
        });
        let took = Duration::from_nanos(clock.now());
        let samples = samples.map_err(|_| anyhow!("memory was not looked at to the end"))?;
        self.keep(&done, &samples)?;
        disturbed.map_err(|_| anyhow!("the disturber failed"))??;
        let run = run_folder(&folder.join("results")).context("dyno left no record")?;
        let run = Run::open(&run)?;
        let began = run.header.started;
        let ended = run.ended.unwrap_or_else(Timestamp::now);
        let memory = Memory::of(&samples, began, ended);
        let verification = verify(&Evidence {
            planned: &planned(&plan),
            length: plan.trial_length(),
            trials: &run.trials,
            done: &done,
            began,
            ended,
            ending: &ending?,
            took,
            due: due(&plan, &done),
            memory,
        });
        Ok(SoakResult { offered: *offered, disturbances: done.len(), memory, took, verification })
    }

    /// Writes the disturbances and the samples to files.
    fn keep(&self, done: &[AppliedDisturbance], samples: &[Sample]) -> anyhow::Result<()> {
        let mut text = String::new();
        for AppliedDisturbance { disturbance, from, until } in done {
            writeln!(text, "{from} {until} {disturbance:?}")?;
        }
        fs::write(self.folder.join("disturbances.txt"), text)?;
        let mut text = "at,allocated_bytes\n".to_owned();
        for (at, bytes) in samples {
            writeln!(text, "{at},{bytes}")?;
        }
        Ok(fs::write(self.folder.join("memory.csv"), text)?)
    }
}

fn planned(plan: &SoakPlan) -> Vec<Planned> {
    let workloads = &plan.plan.workloads;
    let planned = |trial: &plan::Trial| {
        (workloads[trial.workload].name.clone(), trial.clients, trial.repetition)
    };
    plan.plan.trials().iter().map(planned).collect()
}

/// How long dyno may take: its loads, the time between them, and the disturbances.
fn due(plan: &SoakPlan, done: &[AppliedDisturbance]) -> Duration {
    let trials = u32::try_from(plan.plan.trials().len()).unwrap_or(u32::MAX);
    let away = done.iter().map(|it| it.until.duration_since(it.from).unsigned_abs());
    (plan.trial_length() + TRIAL_SLACK) * trials + RUN_SLACK + away.sum::<Duration>()
}

/// Watches dyno until it exits, and kills it when it hangs.
fn watch(
    dyno: &mut Dyno,
    plan: &SoakPlan,
    shared: &Shared,
    clock: &Clock,
    interrupt: &Interrupt,
) -> anyhow::Result<DynoExit> {
    let endless = due(plan, &[]) * 2;
    let mut next_look = POLL_PERIOD;
    loop {
        interrupt.check()?;
        if shared.is_over.load(Ordering::Relaxed) {
            return dyno.kill("the server did not come back".to_owned());
        }
        if let Some(ending) = dyno.poll()? {
            return Ok(ending);
        }
        let seen = Timestamp::now().duration_since(dyno.newest_since).unsigned_abs();
        let may_disturb = plan.may_disturb(dyno.newest_trial(), seen);
        shared.may_disturb.store(may_disturb, Ordering::Relaxed);
        let too_long = (next_look > endless).then(|| format!("it goes on after {endless:?}"));
        if let Some(why) = dyno.hangs().or(too_long) {
            return dyno.kill(why);
        }
        thread::sleep(next_look.saturating_sub(Duration::from_nanos(clock.now())));
        next_look += POLL_PERIOD;
    }
}

/// Applies the disturbances of the schedule to the server, until dyno has exited.
fn disturb(
    server: &mut SoakServer,
    schedule: Schedule,
    shared: &Shared,
    done: &mut Vec<AppliedDisturbance>,
) -> anyhow::Result<()> {
    for (quiet, disturbance) in schedule {
        let clock = Clock::monotonic();
        while Duration::from_nanos(clock.now()) < quiet
            || !shared.may_disturb.load(Ordering::Relaxed)
        {
            if shared.is_over.load(Ordering::Relaxed) {
                return Ok(());
            }
            thread::sleep(DISTURBANCE_POLL_PERIOD);
        }
        // Without the server there is no point in continuing.
        let stop = |_: &_| shared.is_over.store(true, Ordering::Relaxed);
        done.push(server.apply(disturbance).inspect_err(stop)?);
    }
    Ok(())
}

impl fmt::Display for SoakResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { disturbances, verification: Verification { violations, figures }, .. } = self;
        let Figures { complete, failed, transactions, statements, .. } = figures;
        let Figures { lost, equal, bounded, uncompared, outages, .. } = figures;
        let (offered, seconds) = (self.offered.name(), self.took.as_secs());
        writeln!(
            f,
            "{offered} loop, {seconds} s:\n  \
             {complete} trials complete, {failed} failed because of a disturbance; {transactions} transactions\n  \
             {disturbances} disturbances, {lost} connections lost; {outages} outages that had to be found\n  \
             {statements} statements: {equal} trials equal to the server's counters, {bounded} within what was \
             lost, {uncompared} without a comparison, as after a restart"
        )?;
        if let Some(Memory { in_second, in_last, is_checked }) = self.memory {
            let [second, last] = [in_second, in_last].map(|bytes| bytes as f64 / 1e6);
            let remark = if is_checked { "" } else { ", too short a run to judge by" };
            writeln!(
                f,
                "  {second:.2} MB held between trials in the second quarter, {last:.2} MB in the last{remark}"
            )?;
        }
        violations.iter().try_for_each(|(check, text)| writeln!(f, "  wrong: {check:?}, {text}"))
    }
}
