//! What is measured on a system after the load of a trial, while it is still up.

use anyhow::Result;
use plan::Trial;
use record::TrialWriter;

use super::Sequence;
use crate::test_bed::TestBed;
use crate::trial_ceiling::Messages;
use crate::{RunListener, trial_ceiling, why};

impl Sequence<'_> {
    /// Measures and records the ceiling of the path, if the plan asks for it; not for the probes of a seek. Without one,
    /// the trial is as good.
    pub(super) fn measure_ceiling(
        &self,
        trial: Trial,
        of: (&TestBed<'_>, &Messages),
        recorder: &mut TrialWriter,
        listener: &mut dyn RunListener,
    ) -> Result<()> {
        let Some(plan) = &self.experiment.plan.ceiling else { return Ok(()) };
        if trial.seek.is_some_and(|seek| !seek.is_confirming) {
            return Ok(());
        }
        let scratch = self.scratch.subfolder(&format!("ceiling-{:04}", trial.index))?;
        let stop = self.stop;
        match trial_ceiling::measure(self.experiment, (trial, plan), of, &scratch, stop, listener) {
            Ok(ceiling) => recorder.ceiling(ceiling)?,
            Err(cause) => {
                listener.on_note(&format!("the ceiling of the path was not measured: {cause:#}"));
            }
        }
        Ok(())
    }

    /// Looks for what holds the system back, if the plan asks for it; of a seek at the trial that confirms it. Without an
    /// answer, the trial is as good.
    pub(super) fn find_limit(
        &self,
        trial: Trial,
        of: (&TestBed<'_>, &Messages),
        recorder: &mut TrialWriter,
        listener: &mut dyn RunListener,
    ) -> Result<()> {
        let Some(plan) = &self.experiment.plan.why else { return Ok(()) };
        let is_last = trial.repetition + 1 == self.experiment.plan.repetitions;
        if trial.seek.is_some_and(|seek| !seek.is_confirming) || !is_last {
            return Ok(());
        }
        match why::measure(self.experiment, (trial, plan), of, self.stop, listener) {
            Ok(why) => recorder.why(why)?,
            Err(cause) => {
                listener.on_note(&format!("what holds it back was not looked for: {cause:#}"));
            }
        }
        Ok(())
    }
}
