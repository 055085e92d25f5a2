//! A trial as tests of the rooms above need it.

use std::path::Path;

use anyhow::Result;
use engine::{Load, Stop};

use crate::test_bed::TestBed;
use crate::trial_load::make_load;
use crate::{Experiment, RunListener, SharedTrial};

/// The first trial of a plan with its data prepared: its load as this process makes it, and what other processes must
/// know of it; `None` when the plan has no generators.
///
/// # Errors
/// When the system or its data cannot be made ready.
pub fn first_trial<'a>(
    experiment: &'a Experiment,
    scratch: &Path,
    listener: &mut dyn RunListener,
) -> Result<(Box<dyn Load>, Option<SharedTrial<'a>>)> {
    let stop = Stop::new();
    let trial = experiment.plan.trials()[0];
    let instance = experiment.plan.instance(trial);
    let mut test_bed = TestBed::make(experiment, instance, scratch, &stop, listener)?;
    test_bed.make_ready(trial, listener)?;
    let load = make_load(experiment, trial, &test_bed, &stop)?;
    Ok((load, SharedTrial::of(experiment, trial, &test_bed).ok()))
}
