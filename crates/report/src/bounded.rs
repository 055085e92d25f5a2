//! Latencies of variants that are known only within bounds, because transactions were never answered: what is said of their
//! comparison.

use crate::comparison::Group;
use crate::digest::{Point, load_text};
use crate::number::percent;

/// Why there is no ratio of latencies where a latency is known only from below.
pub(crate) fn unknown(group: &Group<'_, '_>) -> Option<String> {
    let figure = group.latency();
    let places = of_points(group, |point| {
        let name = format!("{} {}", point.system, point.workload);
        group
            .is_unknown(point, figure)
            .then(|| format!("{name}, {}", load_text(point.clients, point.rate)))
    });
    (!places.is_empty()).then(|| {
        format!(
            "{} is not compared, because in a round of one of the two it is known only from below: transactions were never \
             answered, and without that round the slowest would be left out: {}.",
            figure.name(),
            places.join("; ")
        )
    })
}

/// How far bounds of a latency widen its intervals.
pub(crate) fn within(group: &Group<'_, '_>) -> Option<String> {
    let figure = group.latency();
    let slack = |point: &Point<'_>| Some(group.compare(point, figure)?.ratio.logs.slack);
    let widest = of_points(group, slack).into_iter().fold(0.0, f64::max);
    (widest > 0.0).then(|| {
        format!(
            "In some rounds transactions were never answered, so that {name} is known only within bounds. Its intervals hold \
             wherever it is within them, which makes half their width {} larger at most.",
            percent(widest.exp_m1()),
            name = figure.name(),
        )
    })
}

/// What is found of every point of the variants that are compared with the first.
fn of_points<T>(group: &Group<'_, '_>, of: impl Fn(&Point<'_>) -> Option<T>) -> Vec<T> {
    let points = group.others().flat_map(|name| group.points(name));
    points.filter_map(of).collect()
}
