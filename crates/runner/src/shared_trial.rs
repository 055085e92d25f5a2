//! What other processes must know of a trial to offer its load.

use std::time::Duration;

use anyhow::{Context, Result};
use driver::Timeouts;
use plan::Trial;
use system::Access;
use workload::{LoadKey, LoadProgress, Sharing};

use crate::Experiment;
use crate::shipped_workload::ShippedWorkload;
use crate::test_bed::TestBed;
use crate::trial_load::load_key;
use crate::trial_watch::host_period;

/// A trial whose load other processes offer.
pub struct SharedTrial<'a> {
    /// Its workload.
    pub workload: &'a ShippedWorkload,
    /// The name of its system in the plan.
    pub system: &'a str,
    /// How clients reach the system, with their time-outs.
    pub access: Access,
    /// The time-outs of clients.
    pub timeouts: Timeouts,
    /// The seed of the plan.
    pub seed: u64,
    /// Its load among those on the same data.
    pub load_key: LoadKey,
    /// The plan's statements on every client's session.
    pub run_session: Vec<String>,
    /// Connections of all clients together.
    pub connections: usize,
    /// What the workload has found out about the data.
    pub knowledge: Vec<u64>,
    /// How often the counters of connections are read; `None` where nothing is watched.
    pub connections_period: Option<Duration>,
}

impl<'a> SharedTrial<'a> {
    /// A trial on a test bed that is ready for it.
    ///
    /// # Errors
    /// When the plan has no generators.
    pub(crate) fn of(
        experiment: &'a Experiment,
        trial: Trial,
        test_bed: &TestBed<'_>,
    ) -> Result<Self> {
        let plan = &experiment.plan;
        let access = match test_bed.access() {
            Access::Database(_) => Access::Database(test_bed.load_target()?),
            other => other.clone(),
        };
        let workload = experiment.shipped.get(trial.workload);
        Ok(Self {
            workload: workload.context("the plan has no generators")?,
            system: &plan.systems[trial.system].name,
            access,
            timeouts: test_bed.timeouts(),
            seed: plan.seed,
            load_key: load_key(trial),
            run_session: test_bed.run_session().to_vec(),
            connections: experiment.connections(trial),
            knowledge: knowledge(experiment, trial, test_bed)?,
            connections_period: plan.watch.is_on.then(|| host_period(&plan.load)),
        })
    }
}

fn knowledge(experiment: &Experiment, trial: Trial, test_bed: &TestBed<'_>) -> Result<Vec<u64>> {
    let Sharing::Parts(parts) = experiment.workloads[trial.workload].sharing() else {
        return Ok(Vec::new());
    };
    let (target, progress) = (test_bed.load_target()?, LoadProgress::new());
    let stop = test_bed.stop();
    Ok(test_bed.with_context_of(&target, LoadKey::default(), &progress, stop, |context| {
        parts.knowledge(context)
    }))
}
