//! One run of dyno, from the start of its server to the verification.

use std::fmt;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Mutex;
use std::sync::PoisonError;
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
    done: Vec<AppliedDisturbance>,
    memory: Option<Memory>,
    took: Duration,
    pub verification: Verification,
}

/// State that the two threads of a run share.
#[derive(Debug, Default)]
struct Shared {
    is_over: AtomicBool,
    /// Whether a disturbance may begin.
    may_disturb: AtomicBool,
    done: Mutex<Vec<AppliedDisturbance>>,
}

impl SoakRun {
    /// Carries out the run.
    ///
    /// # Errors
    /// When the server does not start or come back, dyno writes no record, or a signal arrived.
    pub(super) fn run(self, dyno: &Path, interrupt: &Interrupt) -> anyhow::Result<SoakResult> {
        let scratch = tempfile::tempdir().context("no folder for the server's data")?;
        let mut soak_server = SoakServer::start(scratch.path())?;
        let soak_plan = SoakPlan::write_to(
            &self.folder,
            self.offered,
            &soak_server.url(),
            self.length,
            self.seed,
        )?;
        let trial = soak_plan.trial_length();
        let schedule = Schedule::new(self.seed.wrapping_add(self.offered as u64), trial);
        let mut dyno = Dyno::start(dyno, &soak_plan.path, &self.folder)?;
        let clock = Clock::monotonic();
        let shared = Shared::default();
        let pid = dyno.id();
        let (ending, disturbed, samples) = thread::scope(|scope| {
            let disturber = scope.spawn(|| disturb(&mut soak_server, schedule, &shared));
            let sampler = scope.spawn(|| memory::watch(pid, &shared.is_over));
            let ending = watch(&mut dyno, &soak_plan, &shared, &clock, interrupt);
            shared.is_over.store(true, Ordering::Relaxed);
            (ending, disturber.join(), sampler.join())
        });
        let took = Duration::from_nanos(clock.now());
        let done = shared.done.into_inner().unwrap_or_else(PoisonError::into_inner);
        let samples = samples.map_err(|_| anyhow!("memory was not looked at to the end"))?;
        self.keep(&done, &samples)?;
        disturbed.map_err(|_| anyhow!("the disturber failed"))??;
        self.verify(&soak_plan, &soak_server, &samples, done, &ending?, took)
    }

    /// Writes the disturbances and the samples to files.
    fn keep(&self, done: &[AppliedDisturbance], samples: &[Sample]) -> anyhow::Result<()> {
        let mut text = String::new();
        for AppliedDisturbance { disturbance, from, until } in done {
            writeln!(text, "{from} {until} {disturbance}")?;
        }
        fs::write(self.folder.join("disturbances.txt"), text)?;
        let mut text = "at,allocated_bytes\n".to_owned();
        for sample in samples {
            writeln!(text, "{},{}", sample.at, sample.allocated_bytes)?;
        }
        Ok(fs::write(self.folder.join("memory.csv"), text)?)
    }

    fn verify(
        &self,
        soak_plan: &SoakPlan,
        soak_server: &SoakServer,
        samples: &[Sample],
        done: Vec<AppliedDisturbance>,
        ending: &DynoExit,
        took: Duration,
    ) -> anyhow::Result<SoakResult> {
        let folder = run_folder(&self.folder.join("results")).context("dyno left no record")?;
        let run = Run::open(&folder)?;
        let began = run.header.started;
        let ended = run.ended.unwrap_or_else(Timestamp::now);
        let memory = Memory::of(samples, began, ended);
        let verification = verify(&Evidence {
            planned: &planned(soak_plan),
            trials: &run.trials,
            done: &done,
            sent: soak_server.proxy().meter(),
            began,
            ended,
            ending,
            took,
            due: due(soak_plan, &done),
            memory,
        });
        Ok(SoakResult { offered: self.offered, done, memory, took, verification })
    }
}

fn planned(soak_plan: &SoakPlan) -> Vec<Planned> {
    let plan = &soak_plan.plan;
    let planned = |trial: &plan::Trial| Planned {
        workload: plan.workloads[trial.workload].name.clone(),
        clients: trial.clients,
        repetition: trial.repetition,
        length: soak_plan.trial_length(),
    };
    plan.trials().iter().map(planned).collect()
}

/// How long dyno may take: its loads, the time between them, and the disturbances.
fn due(soak_plan: &SoakPlan, done: &[AppliedDisturbance]) -> Duration {
    let trials = u32::try_from(soak_plan.plan.trials().len()).unwrap_or(u32::MAX);
    let away = done.iter().map(|it| it.until.duration_since(it.from).unsigned_abs());
    (soak_plan.trial_length() + TRIAL_SLACK) * trials + RUN_SLACK + away.sum::<Duration>()
}

/// Watches dyno until it exits, and kills it when it hangs.
fn watch(
    dyno: &mut Dyno,
    soak_plan: &SoakPlan,
    shared: &Shared,
    clock: &Clock,
    interrupt: &Interrupt,
) -> anyhow::Result<DynoExit> {
    let mut next_look = POLL_PERIOD;
    loop {
        interrupt.check()?;
        if shared.is_over.load(Ordering::Relaxed) {
            dyno.kill()?;
            return Ok(DynoExit::Killed("the server did not come back".to_owned()));
        }
        if let Some(status) = dyno.poll()? {
            return Ok(DynoExit::Exited(ExitStatus::code(&status)));
        }
        let seen = Timestamp::now().duration_since(dyno.newest_since).unsigned_abs();
        let may_disturb = soak_plan.may_disturb(dyno.newest_trial(), seen);
        shared.may_disturb.store(may_disturb, Ordering::Relaxed);
        let endless = due(soak_plan, &[]) * 2;
        let too_long = (next_look > endless).then(|| format!("it goes on after {endless:?}"));
        if let Some(why) = dyno.hangs().or(too_long) {
            dyno.kill()?;
            return Ok(DynoExit::Killed(why));
        }
        thread::sleep(next_look.saturating_sub(Duration::from_nanos(clock.now())));
        next_look += POLL_PERIOD;
    }
}

/// Applies the disturbances of the schedule to the server, until dyno has exited.
fn disturb(
    soak_server: &mut SoakServer,
    schedule: Schedule,
    shared: &Shared,
) -> anyhow::Result<()> {
    for step in schedule {
        let clock = Clock::monotonic();
        while Duration::from_nanos(clock.now()) < step.quiet
            || !shared.may_disturb.load(Ordering::Relaxed)
        {
            if shared.is_over.load(Ordering::Relaxed) {
                return Ok(());
            }
            thread::sleep(DISTURBANCE_POLL_PERIOD);
        }
        let done = soak_server.apply(step.disturbance).inspect_err(|_| {
            // Without the server there is no point in continuing.
            shared.is_over.store(true, Ordering::Relaxed);
        })?;
        shared.done.lock().unwrap_or_else(PoisonError::into_inner).push(done);
    }
    Ok(())
}

impl fmt::Display for SoakResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figures { complete, failed, transactions, statements, .. } = self.verification.figures;
        let Figures { lost, equal, bounded, by_wire, outages, .. } = self.verification.figures;
        let (offered, seconds) = (self.offered.name(), self.took.as_secs());
        let disturbances = self.done.len();
        writeln!(
            f,
            "{offered} loop, {seconds} s:\n  \
             {complete} trials complete, {failed} failed because of a disturbance; {transactions} transactions\n  \
             {disturbances} disturbances, {lost} connections lost; {outages} outages that had to be found\n  \
             {statements} statements: {equal} trials equal to the server's counters, {bounded} within what was \
             lost, {by_wire} with a restart equal to the wire but for what was lost"
        )?;
        if let Some(memory) = &self.memory {
            let megabytes = |bytes: u64| bytes as f64 / 1e6;
            writeln!(
                f,
                "  {:.2} MB held between trials in the second quarter, {:.2} MB in the last{}",
                megabytes(memory.held_in_second_bytes),
                megabytes(memory.held_in_last_bytes),
                if memory.is_checked() { "" } else { ", too short a run to judge by" }
            )?;
        }
        for violation in &self.verification.violations {
            writeln!(f, "  wrong: {violation}")?;
        }
        Ok(())
    }
}
