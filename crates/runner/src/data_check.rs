//! The check of the data after a load.

use anyhow::Result;
use measure::{Condition, ConditionSubject};
use plan::Trial;
use record::{TrialStatus, TrialWriter};

use crate::RunListener;
use crate::test_bed::TestBed;

/// Checks the data after a load, and records the result. A check that could not be done is noted, but does not fail
/// the trial; a server that has exited does, and so does an answer that is wrong or not that of another system.
pub(crate) fn check_data(
    trial: Trial,
    test_bed: &mut TestBed<'_>,
    recorder: &mut TrialWriter,
    listener: &mut dyn RunListener,
) -> Result<Option<TrialStatus>> {
    match test_bed.check_data(trial.workload, listener) {
        Ok(None) => {}
        Ok(Some((phase, (conditions, plans)))) => {
            recorder.phase(phase)?;
            if !plans.is_empty() {
                recorder.plans(plans)?;
            }
            let wrong = wrong_answers(&conditions);
            recorder.conditions(conditions)?;
            if let Some(wrong) = wrong {
                let status = TrialStatus::Failed(wrong);
                recorder.end_otherwise(&status)?;
                return Ok(Some(status));
            }
        }
        Err(cause) => {
            let text = format!("the data was not checked after the load: {cause:#}");
            listener.on_note(&text);
            if let Some(reason) = test_bed.crash(&cause) {
                let status = TrialStatus::Crashed(reason);
                recorder.end_otherwise(&status)?;
                return Ok(Some(status));
            }
        }
    }
    Ok(None)
}

/// The broken conditions on answers, with what was found; `None` if all hold.
fn wrong_answers(conditions: &[Condition]) -> Option<String> {
    let kinds = [
        (ConditionSubject::Answer, "wrong answers"),
        (ConditionSubject::SameAnswer, "answers that differ between systems"),
    ];
    let told = kinds.iter().filter_map(|(about, what)| {
        let of_kind = conditions.iter().filter(|it| it.about == *about);
        let broken = of_kind.filter_map(|it| Some(format!("{}: {}", it.name, it.broken()?)));
        let broken: Vec<String> = broken.collect();
        (!broken.is_empty()).then(|| format!("{what}: {}", broken.join(". ")))
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| told.join(". "))
}
