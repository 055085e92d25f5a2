//! A bar for each kind of transaction, with its spread over repetitions, for workloads that have many of them.

use measure::OperationKind;

use crate::digest::{Digest, Point, Trial, load_text};
use crate::number::latency;
use crate::svg::{Axis, Chart, Dot, Scale, Series, Size, Unit, Width};

/// Fewer kinds have a table that is as easy to read.
const KINDS_MIN: usize = 10;
/// More series would have no room.
const SERIES_MAX: usize = 8;
/// The part of the room of an operation that its bars take.
const FILLED: f64 = 0.8;
const SIZE: Size = Size { width: Width::Row, height: 340.0 };

/// The trials whose means are one series.
struct Group<'d, 'a> {
    name: String,
    trials: Vec<&'d Trial<'a>>,
}

/// The plot of one workload; `None` where it has few kinds of transactions.
pub(crate) fn of_workload(digest: &Digest<'_>, workload: &str) -> Option<Chart> {
    let points = digest.points.iter().filter(|point| point.workload == workload);
    let groups: Vec<Group<'_, '_>> = points.flat_map(|point| groups(digest, point)).collect();
    let operations = groups.first().map(|group| kinds(group.trials[0])).unwrap_or_default();
    if operations.len() < KINDS_MIN {
        return None;
    }
    let shown = &groups[..groups.len().min(SERIES_MAX)];
    let width = FILLED / shown.len() as f64;
    let series: Vec<Series> = shown
        .iter()
        .enumerate()
        .map(|(place, group)| series(group, place, &operations, width))
        .collect();
    let dots = || series.iter().flat_map(|series| &series.dots);
    let values = dots().flat_map(|dot| {
        let (low, high) = dot.error.unwrap_or((dot.y, dot.y));
        [low, high, dot.y]
    });
    let y = Axis::new("mean latency", Scale::Log10, Unit::Latency, values);
    let slowest = dots().max_by(|a, b| a.y.total_cmp(&b.y)).and_then(|dot| dot.note.clone());
    Some(Chart {
        title: format!("{workload}: latency of each operation"),
        subtitle: digest.under_test_of(workload),
        description: slowest.map(|note| format!("The longest: {note}")).unwrap_or_default(),
        remark: remark(&groups),
        x: Axis::names("operation", operations),
        y,
        series,
        size: SIZE,
        ..Chart::default()
    })
}

fn kinds(trial: &Trial<'_>) -> Vec<String> {
    let of = trial.summary.operations.iter();
    let transactions = of.filter(|operation| operation.kind == OperationKind::Transaction);
    transactions.map(|operation| operation.name.clone()).collect()
}

/// The trials of a point: those that were the first load of a system that was just started or whose data was just loaded
/// are cold, later repetitions are warm.
fn groups<'d, 'a>(digest: &'d Digest<'a>, point: &Point<'_>) -> Vec<Group<'d, 'a>> {
    let trials = point.counted.iter().map(|at| &digest.trials[*at]);
    let (cold, warm): (Vec<_>, Vec<_>) =
        trials.partition(|it| it.record.header.repetition == 0 || point.variant.is_some());
    let has_both = !cold.is_empty() && !warm.is_empty();
    let name = |what: &str| {
        let load = load_text(point.clients, point.rate);
        let what = if has_both { format!(", {what}") } else { String::new() };
        format!("{}, {load}{what}", point.system)
    };
    let both = [(name("cold"), cold), (name("warm"), warm)];
    let groups = both.into_iter().filter(|(_, trials)| !trials.is_empty());
    groups.map(|(name, trials)| Group { name, trials }).collect()
}

fn series(group: &Group<'_, '_>, place: usize, operations: &[String], width: f64) -> Series {
    let dots = operations.iter().enumerate().filter_map(|(at, name)| {
        let means: Vec<f64> =
            group.trials.iter().filter_map(|trial| mean_ns(trial, name)).collect();
        let mean = means.iter().sum::<f64>() / means.len() as f64;
        let low = means.iter().copied().reduce(f64::min)?;
        let high = means.iter().copied().reduce(f64::max)?;
        let spread = if means.len() > 1 {
            format!(" ({} to {} over {} trials)", latency(low), latency(high), means.len())
        } else {
            String::new()
        };
        Some(Dot {
            error: (means.len() > 1).then_some((low, high)),
            note: Some(format!("{name}, {}: {}{spread}", group.name, latency(mean))),
            ..Dot::at(at as f64 - FILLED / 2.0 + width * (place as f64 + 0.5), mean)
        })
    });
    let bar_width = Some(width);
    Series { bar_width, ..Series::line(group.name.clone(), place, dots.collect()) }
}

/// The mean latency of the successes of one kind.
fn mean_ns(trial: &Trial<'_>, name: &str) -> Option<f64> {
    let operation = trial.summary.operations.iter().find(|operation| operation.name == name)?;
    (operation.succeeded > 0).then_some(operation.latency.mean_ns)
}

/// What the bars do not show: operations without a success, series without room, and systems with other plans.
fn remark(groups: &[Group<'_, '_>]) -> String {
    let mut sentences = Vec::new();
    if groups.len() > SERIES_MAX {
        sentences.push(format!("{SERIES_MAX} of {} series are shown.", groups.len()));
    }
    for group in groups {
        let operations = &group.trials[0].summary.operations;
        let is_missing = |name: &&str| group.trials.iter().all(|it| mean_ns(it, name).is_none());
        let names = operations.iter().map(|operation| operation.name.as_str());
        let missing: Vec<&str> = names.filter(is_missing).collect();
        if !missing.is_empty() {
            sentences.push(format!("{}: {} never succeeded.", group.name, missing.join(", ")));
        }
    }
    if let Some(first) = groups.first() {
        let others = groups.iter().skip(1);
        let others = others
            .filter(|it| it.trials[0].record.header.system != first.trials[0].record.header.system);
        for other in others {
            let differing = other_plans(first.trials[0], other.trials[0]);
            if !differing.is_empty() {
                let differing = differing.join(", ");
                sentences.push(format!(
                    "{} and {} have different plans for {differing}.",
                    first.name, other.name
                ));
            }
        }
    }
    sentences.join(" ")
}

/// The operations for which two trials have plans of different shapes.
fn other_plans<'a>(one: &'a Trial<'_>, other: &Trial<'_>) -> Vec<&'a str> {
    let differs = |plan: &&measure::QueryPlan| {
        let others = other.record.plans.iter();
        let mut same = others.filter(|it| it.operation == plan.operation);
        same.next().is_some_and(|it| it.shape() != plan.shape())
    };
    one.record.plans.iter().filter(differs).map(|plan| plan.operation.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    use measure::{Operation, OperationId, QueryPlan, Tally};

    /// Two variants with two repetitions each of twelve operations; `Q1` takes 1 ms, `Q2` 2 ms and so on, and the second
    /// repetition twice as long. `Q12` never succeeds, and the variants have other plans for `Q3`.
    fn many_kinds() -> record::Run {
        let mut run = sample::run();
        let first = run.trials[0].clone();
        run.trials.clear();
        for (system, plan) in [("old", "scan"), ("new", "seek")] {
            for repetition in 0..2 {
                let mut trial = first.clone();
                trial.header.system = system.to_owned();
                trial.header.repetition = repetition;
                let names = (1..=12).map(|query| format!("Q{query}"));
                let operation = |name| Operation::new(name, OperationKind::Transaction);
                trial.header.operations = names.map(operation).collect();
                trial.intervals.clear();
                trial.total = Tally::new(12);
                for place in 0..11 {
                    let latency_ns =
                        1_000_000 * (u64::from(place) + 1) * (u64::from(repetition) + 1);
                    trial.total.success(OperationId(place), OperationKind::Transaction, latency_ns);
                }
                let of = |(query, text): (&str, &str)| QueryPlan {
                    operation: query.to_owned(),
                    text: text.to_owned(),
                    remark: None,
                };
                trial.plans = [("Q2", "read 1 row"), ("Q3", plan)].map(of).to_vec();
                run.trials.push(trial);
            }
        }
        run
    }

    #[test]
    fn many_kinds_have_a_bar_each_for_cold_and_warm_trials_of_every_system() {
        let run = many_kinds();
        let digest = Digest::new(&run);
        let workload = digest.workloads()[0];
        let chart = of_workload(&digest, workload).unwrap();
        let names: Vec<&str> = chart.series.iter().map(|series| series.name.as_str()).collect();
        assert_eq!(names.len(), 4, "{names:?}");
        assert!(names[0].starts_with("old, ") && names[0].ends_with(", cold"), "{names:?}");
        assert!(names[3].starts_with("new, ") && names[3].ends_with(", warm"), "{names:?}");
        let heights = |at: usize| chart.series[at].dots.iter().map(|dot| (dot.y / 1e6).round());
        assert!(heights(0).eq((1..=11).map(f64::from)));
        assert!(heights(1).eq((1..=11).map(|query| f64::from(2 * query))));
        assert!(chart.remark.contains("Q12 never succeeded."), "{}", chart.remark);
        assert!(chart.remark.contains("have different plans for Q3."), "{}", chart.remark);
        assert_eq!(chart.html("x").matches("<rect class=\"marker").count(), 44);
    }

    #[test]
    fn few_kinds_of_transactions_have_no_bars() {
        let run = sample::run();
        let digest = Digest::new(&run);
        for workload in digest.workloads() {
            assert_eq!(of_workload(&digest, workload), None);
        }
    }
}
