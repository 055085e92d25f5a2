//! Trials that are made of windows: what is said of them, and their windows for programs.

use serde_json::{Value, json};

use crate::digest::{Digest, Trial};
use crate::figure::catalogue::everywhere;
use crate::finding;
use crate::json::{extend, figures, identity};
use crate::number::several;

/// How the load went to the variants, below their comparison; `None` when they were measured one after the other.
pub(crate) fn note(digest: &Digest<'_>) -> Option<String> {
    let windows = digest.run.header.windows?;
    Some(format!(
        "In each round all variants were up at once, and the load alternated between them: {} of each under each \
         load. A round has one figure for each variant, that of its windows together, because windows of one start are not \
         independent of each other.",
        several(windows.into(), "window", "windows")
    ))
}

/// The names of the systems that were up beside that of a trial; `None` when there were none.
pub(crate) fn beside(trial: &Trial<'_>) -> Option<Value> {
    let beside = &trial.record.header.beside;
    (!beside.is_empty()).then(|| json!(beside))
}

/// Every window of a trial with its figures; `None` when it has none.
pub(crate) fn json(trial: &Trial<'_>) -> Option<Value> {
    let window = |window: &Trial<'_>| {
        let mut value = identity(window);
        extend(&mut value, figures(window));
        let more = json!({
            "window": window.record.header.window.map(|number| number + 1),
            "validity": window.validity().name(),
            "warnings": window.findings.iter().map(finding::json).collect::<Vec<_>>(),
        });
        extend(&mut value, more);
        for (entry, _, figure) in everywhere(window) {
            value[entry.key] = figure.into();
        }
        value
    };
    (!trial.windows.is_empty()).then(|| trial.windows.iter().map(window).collect())
}
