//! Who is faster, by how much and how surely: every variant against the first, and every system against the first.
//! The verdicts are those of the comparison of variants, and of `dyno compare`.

use analysis::{ROUNDS_MIN, Significance, Value};

use super::trials::{behind, not_believed};
use super::words::Code;
use super::{Conclusion, Place, Values, text};
use crate::comparison::Group;
use crate::digest::{Digest, Point};
use crate::figure::Figure;
use crate::run_comparison::{Criteria, RunComparison, Selection, Unit, Verdict};

pub(super) fn all(digest: &Digest<'_>, groups: &[Group<'_, '_>]) -> Vec<Conclusion> {
    let mut all = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        all.extend(group.others().map(|name| of_variant(digest, group, at, name)));
    }
    all.extend(systems(digest));
    all
}

fn of_variant(digest: &Digest<'_>, group: &Group<'_, '_>, at: usize, name: &str) -> Conclusion {
    let [points, base] = [name, group.baseline()].map(|name| group.points(name));
    for (side, of) in [(&points, name), (&base, group.baseline())] {
        if let Some(nothing) = not_believed(digest, side, &format!("{}.{of}", group.of), None) {
            return nothing;
        }
    }
    let (figure, found) = group.verdict(name);
    let mut values = vec![
        ("candidate", text(name)),
        ("baseline", text(group.baseline())),
        ("figure", text(figure.name())),
    ];
    let Some(found) = found else {
        return Conclusion::new(Code::NotCompared, values, Some(Place::Warnings));
    };
    let ratio = found.ratio;
    let verdict = Verdict {
        figure,
        significance: found.verdict,
        change: ratio.ratio - 1.0,
        interval: [ratio.low - 1.0, ratio.high - 1.0],
        largest: (1.0 - ratio.low_90).abs().max((ratio.high_90 - 1.0).abs()),
        counts: ratio.logs.counts,
        unit: Unit::Round,
    };
    values.extend(of_one(&verdict));
    values.extend(repeated(&[verdict]));
    if points.len() > 1 {
        let is_alike = |point: &&&Point<'_>| {
            let alone = group.compare(point, group.judged_by(&[**point]));
            alone.is_some_and(|alone| alone.verdict == found.verdict)
        };
        let alike = points.iter().filter(is_alike).count();
        values.push(("loads", Value::Small(points.len() as u64)));
        values.push(("alike", Value::Small(alike as u64)));
    }
    values.extend(behind(digest, &[points, base].concat()));
    // Rounds that end by themselves may be several, and yet too few for an interval.
    let has_several = found.ratio.rounds >= ROUNDS_MIN;
    let code = match found.verdict {
        Significance::TooFewRounds if has_several => Code::Undecided,
        _ => code(&verdict),
    };
    Conclusion::new(code, values, Some(Place::Variants(at)))
}

/// Systems that are no variants, against the first of them. Seeks have their own answer for each.
fn systems(digest: &Digest<'_>) -> Vec<Conclusion> {
    let mut names: Vec<&str> = Vec::new();
    for point in digest.points.iter().filter(|point| point.variant.is_none()) {
        if !names.contains(&point.system) {
            names.push(point.system);
        }
    }
    let Some((first, others)) = names.split_first().filter(|_| digest.run.header.seek.is_none())
    else {
        return Vec::new();
    };
    others.iter().flat_map(|name| of_system(digest, first, name)).collect()
}

fn of_system(digest: &Digest<'_>, baseline: &str, subject: &str) -> Vec<Conclusion> {
    let side = |name: &str| [Selection { digest, system: Some(name.to_owned()) }];
    let margin = digest.run.header.least_difference;
    let criteria = Criteria { margin, thresholds: Vec::new(), is_strict: false };
    let Ok(compared) = RunComparison::new(&side(baseline), &side(subject), criteria) else {
        return Vec::new();
    };
    let workloads = digest.workloads().into_iter().enumerate();
    let of_workload = |(at, workload): (usize, &str)| {
        let points = |system: &str| -> Vec<&Point<'_>> {
            let all = digest.points.iter();
            all.filter(|point| (point.system, point.workload) == (system, workload)).collect()
        };
        let verdicts = compared.verdicts(workload)?;
        let sides = [baseline, subject].map(points);
        for (side, of) in sides.iter().zip([baseline, subject]) {
            if let Some(nothing) = not_believed(digest, side, of, Some(workload)) {
                return Some(nothing);
            }
        }
        let names = vec![
            ("candidate", text(subject)),
            ("baseline", text(baseline)),
            ("workload", text(workload)),
        ];
        let (code, values) = of_loads(&verdicts);
        let values = [names, values, behind(digest, &sides.concat())].concat();
        Some(Conclusion::new(code, values, Some(Place::Workload(at))))
    };
    workloads.filter_map(of_workload).collect()
}

/// The verdicts under each load in one. Those without a verdict are not compared.
pub(crate) fn of_loads(verdicts: &[Verdict]) -> (Code, Values) {
    let Some(first) = verdicts.first() else {
        return (Code::NotCompared, vec![("figure", text(Figure::Throughput.name()))]);
    };
    let figure = ("figure", text(first.figure.name()));
    if let [only] = verdicts {
        let values = [vec![figure], of_one(only), repeated(verdicts)].concat();
        return (code(only), values);
    }
    let of = |wanted: Code| -> Vec<&Verdict> {
        verdicts.iter().filter(|it| code(it) == wanted).collect()
    };
    let loads = ("loads", Value::Small(verdicts.len() as u64));
    let repeated = repeated(verdicts);
    let (faster, slower) = (of(Code::Faster), of(Code::Slower));
    if !faster.is_empty() || !slower.is_empty() {
        let is_faster = faster.len() >= slower.len();
        let (code, most, others) = match is_faster {
            true => (Code::FasterUnderLoads, faster, slower),
            false => (Code::SlowerUnderLoads, slower, faster),
        };
        let mut values = vec![figure, loads, ("decided", Value::Small(most.len() as u64))];
        values.extend(changes(&most));
        let opposite = (!others.is_empty()).then_some(others.len() as u64);
        values.extend(opposite.map(|count| ("opposite", Value::Small(count))));
        values.extend(repeated);
        return (code, values);
    }
    let all: Vec<&Verdict> = verdicts.iter().collect();
    if of(Code::NoDifference).len() == verdicts.len() {
        let largest = verdicts.iter().map(|it| it.largest).fold(0.0, f64::max);
        let values = vec![figure, loads, ("largest", Value::Part(largest))];
        return (Code::NoDifference, values.into_iter().chain(repeated).collect());
    }
    let values = [vec![figure, loads], changes(&all)].concat();
    if verdicts.iter().all(|it| it.repetitions() < ROUNDS_MIN) {
        return (Code::NotRepeated, values);
    }
    (Code::Undecided, values.into_iter().chain(ends(verdicts)).chain(repeated).collect())
}

/// How often verdicts were repeated, for programs the smallest number.
fn repeated(verdicts: &[Verdict]) -> Values {
    let Some(fewest) = verdicts.iter().min_by_key(|it| it.repetitions()) else { return Vec::new() };
    let unit = fewest.unit;
    let counts: Vec<[usize; 2]> = verdicts.iter().map(|it| it.counts).collect();
    vec![
        (unit.name(), Value::Small(fewest.repetitions() as u64)),
        ("repeated", text(times(unit, &counts))),
        ("repetitions", text(unit.name())),
    ]
}

/// How often both sides were repeated under each load, in a few words. The baseline's number comes first, and is told last.
pub(super) fn times(unit: Unit, counts: &[[usize; 2]]) -> String {
    let [least, most] = [counts.iter().flatten().min(), counts.iter().flatten().max()]
        .map(|end| end.copied().unwrap_or_default());
    let of_each = if unit == Unit::Round { "" } else { " of each" };
    match counts {
        _ if least == most => format!("{}{of_each}", unit.count(least)),
        [[baseline, candidate]] => format!("{} against {baseline}", unit.count(*candidate)),
        _ => format!("{least} to {}{of_each}", unit.count(most)),
    }
}

/// The lowest and the highest end of all 95 % intervals.
fn ends(verdicts: &[Verdict]) -> Values {
    let known = || verdicts.iter().filter(|it| it.repetitions() >= ROUNDS_MIN);
    let lowest = known().map(|it| it.interval[0]).fold(f64::INFINITY, f64::min);
    let highest = known().map(|it| it.interval[1]).fold(f64::NEG_INFINITY, f64::max);
    vec![("lowest", Value::Change(lowest)), ("highest", Value::Change(highest))]
}

fn of_one(verdict: &Verdict) -> Values {
    let [low, high] = verdict.interval.map(Value::Change);
    let change = || Value::Change(verdict.change);
    match verdict.significance {
        Significance::Equal => vec![("largest", Value::Part(verdict.largest))],
        Significance::Undecided => vec![("least_change", change()), ("low", low), ("high", high)],
        Significance::TooFewRounds => vec![("least_change", change())],
        Significance::Higher | Significance::Lower => {
            vec![("change", change()), ("low", low), ("high", high)]
        }
    }
}

/// The least and the largest change of several verdicts; only one when they are the same.
fn changes(verdicts: &[&Verdict]) -> Values {
    let all = || verdicts.iter().map(|it| it.change);
    let (least, most) =
        (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    let mut values = vec![("least_change", Value::Change(least))];
    values.extend((most > least).then_some(("most_change", Value::Change(most))));
    values
}

fn code(verdict: &Verdict) -> Code {
    let [low, high] = verdict.interval;
    let by_direction = |is_higher: bool, faster: Code, slower: Code| {
        if is_higher == verdict.figure.is_time() { slower } else { faster }
    };
    match verdict.significance {
        Significance::Higher => by_direction(true, Code::Faster, Code::Slower),
        Significance::Lower => by_direction(false, Code::Faster, Code::Slower),
        Significance::Equal => Code::NoDifference,
        Significance::Undecided if low > 0.0 || high < 0.0 => {
            by_direction(low > 0.0, Code::SlightlyFaster, Code::SlightlySlower)
        }
        Significance::Undecided => Code::Undecided,
        Significance::TooFewRounds => Code::NotRepeated,
    }
}
