//! The load of a trial's clients, as this process makes it.

use anyhow::Result;
use engine::{Load, Simulated, Stop};
use plan::Trial;
use system::Access;
use workload::{LoadKey, LoadPart, LoadProgress};

use crate::test_bed::TestBed;
use crate::trial_workload::TrialWorkload;
use crate::{Experiment, pacing};

/// Identifies the load of a trial among those on the same data.
pub(crate) fn load_key(trial: Trial) -> LoadKey {
    let Trial { repetition, clients, .. } = trial;
    LoadKey { repetition, clients, rate: trial.ordinal() }
}

/// The load of a trial on a test bed that is ready for it.
pub(crate) fn make_load(
    experiment: &Experiment,
    trial: Trial,
    test_bed: &TestBed<'_>,
    stop: &Stop,
) -> Result<Box<dyn Load>> {
    let load_key = load_key(trial);
    match (&experiment.workloads[trial.workload], test_bed.access()) {
        (TrialWorkload::Simulated, Access::Simulated(system)) => {
            let chance = pacing::simulated_chance(&experiment.plan, trial);
            Ok(Box::new(Simulated::new(system.clone(), chance)))
        }
        (TrialWorkload::Database(workload), Access::Database(_)) => {
            let target = test_bed.load_target()?;
            let progress = LoadProgress::new();
            let part = LoadPart::of_coordinator(experiment.plan.load.generators.len());
            Ok(test_bed.with_context_of(&target, load_key, &progress, stop, |context| {
                workload.load_part(context, part)
            }))
        }
        (TrialWorkload::Service(rpc), Access::Service(service)) => {
            let seeds = (experiment.plan.seed, load_key);
            Ok(rpc.load(service, test_bed.timeouts(), seeds, stop)?)
        }
        _ => anyhow::bail!("the workload does not fit the system"),
    }
}
