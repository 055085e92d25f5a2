//! Trials that are made of windows: what is said of them, and their windows for programs.

use analysis::{Finding, RoundsOfWindows, check_first_windows};
use serde_json::{Value, json};

use crate::comparison::{Group, groups, place};
use crate::digest::{Digest, Point, Trial};
use crate::finding;
use crate::json::{extend, figures, identity};
use crate::number::several;
use crate::whole::everywhere;

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

/// A warning for each variant and load whose first windows of a round differ from the later ones.
pub(crate) fn findings(digest: &Digest<'_>) -> Vec<Finding> {
    let of_group = |group: &Group<'_, '_>| {
        let names = group.names.iter().copied().chain(group.again);
        let points = names.flat_map(|name| group.points(name));
        points.filter_map(|point| rounds(digest, group, point)).collect::<Vec<_>>()
    };
    let all: Vec<RoundsOfWindows> = groups(digest).iter().flat_map(of_group).collect();
    check_first_windows(&all, digest.run.header.least_difference)
}

/// The figure that decides in each window of the complete rounds of a point; `None` when it is not known in one of them.
fn rounds(
    digest: &Digest<'_>,
    group: &Group<'_, '_>,
    point: &Point<'_>,
) -> Option<RoundsOfWindows> {
    let figure = group.judged_by(&[point]);
    let of_trial = |trial: &Trial<'_>| trial.windows.iter().map(|it| figure.of(it)).collect();
    let rounds = digest.complete(point).map(of_trial).collect::<Option<Vec<_>>>()?;
    Some(RoundsOfWindows { place: place(point, figure), rounds })
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
        for (metric, figure) in everywhere(window) {
            value[metric.key] = figure.into();
        }
        value
    };
    (!trial.windows.is_empty()).then(|| trial.windows.iter().map(window).collect())
}
