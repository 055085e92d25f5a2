//! The damaged files of the runs of a comparison: what is missing in its counts.

use record::{Damage, TrialRecord};
use serde_json::{Value, json};

use super::sides::{SIDES, Sides};
use crate::digest::Digest;

/// At most this many of a comparison are listed for people.
const TOLD_MAX: usize = 10;

/// Whether a trial counts among those of the systems. A trial whose system is not known may be of any of them.
pub(super) fn is_counted(record: &TrialRecord, systems: &[&str]) -> bool {
    record.is_unknown() || systems.contains(&record.header.system.as_str())
}

/// The damage in a run of one side, of its plan (`None`) and of its trials that count, by their numbers from 1.
fn of_run<'d>(
    sides: &Sides<'d, '_>,
    side: usize,
    digest: &'d Digest<'_>,
) -> Vec<(Option<usize>, &'d Damage)> {
    let systems = sides.systems_of(digest, side);
    let run = digest.run;
    let plan = run.plan_damage.iter().map(|damage| (None, damage));
    let trials = run.trials.iter().filter(|trial| is_counted(trial, &systems));
    let number = |trial: &TrialRecord| Some(trial.header.index + 1);
    plan.chain(trials.filter_map(|it| Some((number(it), it.damage.as_ref()?)))).collect()
}

pub(super) fn json(sides: &Sides<'_, '_>, side: usize, digest: &Digest<'_>) -> Vec<Value> {
    let value = |(trial, damage): (Option<usize>, &Damage)| {
        let line = (damage.line > 0).then_some(damage.line);
        json!({ "trial": trial, "file": damage.file, "line": line, "reason": damage.what })
    };
    of_run(sides, side, digest).into_iter().map(value).collect()
}

/// For people, a sentence for each.
pub(super) fn notes(sides: &Sides<'_, '_>) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for (side, runs) in sides.runs.iter().enumerate() {
        for digest in runs {
            let folder = digest.run.folder.display();
            notes.extend(of_run(sides, side, digest).into_iter().map(|(trial, damage)| {
                let of = trial.map_or_else(String::new, |number| format!(", trial {number}"));
                format!("The {}, {folder}{of}: {damage}.", SIDES[side])
            }));
        }
    }
    let more = notes.len().saturating_sub(TOLD_MAX);
    notes.truncate(TOLD_MAX);
    notes.extend((more > 0).then(|| format!("And {more} more.")));
    let is_any = !notes.is_empty();
    notes.extend(is_any.then(|| {
        "Damaged trials do not count in the ratios; where trial.json is damaged, their load is not known.".to_owned()
    }));
    notes
}
