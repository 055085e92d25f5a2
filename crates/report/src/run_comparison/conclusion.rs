//! What a comparison has shown, in sentences that can be quoted: one for each pair of systems, over all loads that both
//! had, and one where a server crashed.

use analysis::{Cases, Value};

use super::RunComparison;
use super::crashes::CrashRow;
use super::sides::{Matched, RunPoint, SIDES};
use crate::conclusion::{Code, Conclusion, Values, behind_all, none_believed, of_loads};
use crate::digest::Trial;

pub(super) fn all(compared: &RunComparison<'_, '_>) -> Vec<Conclusion> {
    let pairs = compared.sides.systems.iter();
    pairs.flat_map(|systems| of_pair(compared, *systems)).collect()
}

fn of_pair<'a>(compared: &RunComparison<'_, 'a>, systems: [&'a str; 2]) -> Vec<Conclusion> {
    let places = compared.sides.matched.iter().filter(|place| place.systems == systems);
    let places: Vec<&Matched<'_, '_>> = places.collect();
    if places.is_empty() {
        return Vec::new();
    }
    let crashes = compared.crashes.iter().find(|row| row.systems == systems);
    let speed = speed(compared, &places, systems);
    std::iter::once(speed).chain(crashes.map(|row| crashed(row, systems))).collect()
}

fn speed(
    compared: &RunComparison<'_, '_>,
    places: &[&Matched<'_, '_>],
    systems: [&str; 2],
) -> Conclusion {
    let [baseline, candidate] = names(systems);
    let sides = [0, 1].map(|side| counted(places, side));
    for (trials, name) in sides.iter().zip([&baseline, &candidate]) {
        if let Some(nothing) = none_believed(trials, name, only_workload(places)) {
            return nothing;
        }
    }
    let verdicts = compared.verdicts_of(|place| place.systems == systems);
    let (code, of_verdicts) = of_loads(&verdicts);
    let mut values: Values =
        vec![("candidate", Value::Text(candidate)), ("baseline", Value::Text(baseline))];
    values.extend(only_workload(places).map(|name| ("workload", Value::Text(name.to_owned()))));
    values.extend(of_verdicts);
    values.extend(behind_all(&sides.concat()));
    Conclusion::new(code, values, None)
}

/// Both systems, the baseline first; a name that both have gets its side.
fn names(systems: [&str; 2]) -> [String; 2] {
    let is_same = systems[0] == systems[1];
    let name = |side: usize| match is_same {
        true => format!("{} of the {}", systems[side], SIDES[side]),
        false => systems[side].to_owned(),
    };
    [0, 1].map(name)
}

/// The workload, when all loads have the same.
fn only_workload<'a>(places: &[&Matched<'_, 'a>]) -> Option<&'a str> {
    let first = places.first()?.workload;
    places.iter().all(|place| place.workload == first).then_some(first)
}

/// The trials of a side that its figures come from.
fn counted<'d, 'a>(places: &[&Matched<'d, 'a>], side: usize) -> Vec<&'d Trial<'a>> {
    let points = places.iter().flat_map(|place| &place.points[side]);
    let of_point = |it: &RunPoint<'d, 'a>| {
        let digest = it.digest;
        it.point.counted.iter().map(move |at| &digest.trials[*at]).collect::<Vec<_>>()
    };
    points.flat_map(of_point).collect()
}

fn crashed(row: &CrashRow<'_>, systems: [&str; 2]) -> Conclusion {
    let [baseline, candidate] = names(systems);
    let [of_baseline, of_candidate] = row.cases;
    let count = |count: u64| Value::Small(count);
    let Cases { failed, all } = of_candidate;
    let values = vec![
        ("candidate", Value::Text(candidate)),
        ("baseline", Value::Text(baseline)),
        ("crashed", count(failed)),
        ("trials", count(all)),
        ("baseline_crashed", count(of_baseline.failed)),
        ("baseline_trials", count(of_baseline.all)),
        ("verdict", Value::Text(row.text().to_owned())),
        ("p_value", Value::Text(format!("{:.4}", row.corrected))),
    ];
    Conclusion::new(Code::Crashes, values, None)
}
