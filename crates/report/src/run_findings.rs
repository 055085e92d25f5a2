//! Findings about a run that come from comparing its variants.

use analysis::{Finding, RoundsOfWindows, check_baseline_again, check_first_windows};

use crate::comparison::{Group, place};
use crate::digest::{Digest, Point, Trial};

/// A warning for each load under which a baseline that was measured twice differs from itself.
pub(crate) fn baseline_again(groups: &[Group<'_, '_>]) -> Vec<Finding> {
    let of_group = |group: &Group<'_, '_>| {
        let Some(name) = group.again else { return Vec::new() };
        let points = group.points(name);
        let compared = points.iter().filter_map(|point| {
            let figure = group.judged_by(&[point]);
            Some((place(point, figure), group.compare(point, figure)?))
        });
        check_baseline_again(&compared.collect::<Vec<_>>(), group.least_difference())
    };
    groups.iter().flat_map(of_group).collect()
}

/// A warning for each variant and load whose first windows of a round differ from the later ones.
pub(crate) fn first_windows(digest: &Digest<'_>, groups: &[Group<'_, '_>]) -> Vec<Finding> {
    let of_group = |group: &Group<'_, '_>| {
        let names = group.names.iter().copied().chain(group.again);
        let points = names.flat_map(|name| group.points(name));
        points.filter_map(|point| rounds(digest, group, point)).collect::<Vec<_>>()
    };
    let all: Vec<RoundsOfWindows> = groups.iter().flat_map(of_group).collect();
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
