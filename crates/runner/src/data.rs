//! Prepares, checks and removes the data of a workload, without load and without a record.

use anyhow::{Result, bail};
use engine::Stop;
use measure::{Condition, Failure, Phase};
use plan::SystemInstance;
use system::Scratch;
use workload::{Workload, WorkloadContext};

use crate::test_bed::TestBed;
use crate::trial_workload::TrialWorkload;
use crate::{Event, Experiment, RunListener};

/// Work on the data of a plan's first workload, on its first system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataTask {
    /// Creates and fills the tables, and keeps them.
    Prepare,
    /// Checks that the data fits the workload, and its conditions.
    Check,
    /// Drops the tables, whoever created them.
    Cleanup,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataOutcome {
    pub task: DataTask,
    pub workload: String,
    /// The conditions that were checked; empty for the other tasks, and for workloads without conditions.
    pub conditions: Vec<Condition>,
    /// What was removed, a sentence for each table or statement; empty for the other tasks.
    pub removed: Vec<String>,
}

impl Experiment {
    /// Why a task on the data of the first workload, on the first system, makes no sense; `None` when it does.
    pub fn data_problem(&self, task: DataTask) -> Option<String> {
        let (system, name) = (&self.systems[0], &self.plan.systems[0].name);
        if !matches!(self.workloads[0], TrialWorkload::Database(_)) || !system.keeps_data() {
            return Some(format!(
                "system {name:?} has no data that outlives this command: give the URL of a server or a database file \
                 (`dyno systems` tells how)"
            ));
        }
        let file = system.data_file().filter(|file| task != DataTask::Prepare && !file.exists())?;
        Some(format!("there is no file {}", file.display()))
    }

    /// Does one task on the data of the first workload, on the first system.
    ///
    /// # Errors
    /// The [`Experiment::data_problem`]; if the system cannot be used; the workload's failure.
    pub fn run_data_task(
        &self,
        task: DataTask,
        stop: &Stop,
        listener: &mut dyn RunListener,
    ) -> Result<DataOutcome> {
        if let Some(problem) = self.data_problem(task) {
            bail!(problem);
        }
        let scratch = Scratch::make()?;
        let instance = SystemInstance { system: 0, round: 0 };
        let test_bed = TestBed::make(self, instance, scratch.path(), stop, listener)?;
        let names = (&self.plan.systems[0].name, &self.plan.workloads[0].name);
        let title = format!("{} · {}", names.0, names.1);
        if let Some(trial) = self.plan.trials().first().copied() {
            listener.on_event(Event::TrialBegins { trial, title: &title });
        }
        let done = work(&test_bed, task, listener);
        let taken_down = test_bed.take_down();
        let (conditions, removed) = done?;
        taken_down?;
        Ok(DataOutcome { task, workload: self.describe_workload(0), conditions, removed })
    }
}

/// The task's phase; returns the conditions and what was removed.
fn work(
    test_bed: &TestBed<'_>,
    task: DataTask,
    listener: &mut dyn RunListener,
) -> Result<(Vec<Condition>, Vec<String>)> {
    type Job<T> = fn(&dyn Workload, &WorkloadContext<'_>) -> Result<T, Failure>;
    match task {
        DataTask::Prepare => {
            let job: Job<()> = |workload, context| workload.prepare(context);
            test_bed.phase_of(Phase::Prepare, 0, listener, job)?;
            Ok((Vec::new(), Vec::new()))
        }
        DataTask::Check => {
            let job: Job<_> = |workload, context| workload.examine(context);
            let (_, conditions) = test_bed.phase_of(Phase::Check, 0, listener, job)?;
            Ok((conditions, Vec::new()))
        }
        DataTask::Cleanup => {
            let job: Job<_> = |workload, context| {
                workload.remove(context).inspect_err(|_| context.note_untouched())
            };
            let (_, removed) = test_bed.phase_of(Phase::Cleanup, 0, listener, job)?;
            Ok((Vec::new(), removed))
        }
    }
}
