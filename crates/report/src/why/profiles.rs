//! Profiles of the servers: flame graphs, and the functions in which the time is spent.

use analysis::{FlameBox, flame, hottest_functions};
use measure::{Profile, ProfileOf};
use serde_json::json;

use crate::digest::{Digest, Trial};
use crate::number::{number, percent};
use crate::svg::{Axis, Band, BandFill, Chart, Scale, Size, Unit, Width};
use crate::table::Table;

/// Narrower boxes are not drawn.
const WIDTH_MIN: f64 = 0.004;
/// Deeper boxes are not drawn.
const DEPTH_MAX: usize = 48;
/// Height of a box, and of what is around all.
const LANE: f64 = 17.0;
const AROUND: f64 = 70.0;
/// So many flame graphs are drawn.
const GRAPHS_MAX: usize = 8;
/// So many functions are told of each profile, in its table and in a sentence.
const TOLD: usize = 10;
const NAMED: usize = 3;
/// A function with a smaller part is not named in a sentence.
const PART_MIN: f64 = 0.03;
/// Where fewer threads wait for locks at a time, locks are no limit.
const WAITING_MIN: f64 = 0.05;

fn each<'d>(digest: &'d Digest<'_>) -> impl Iterator<Item = (&'d Trial<'d>, &'d Profile)> {
    digest.trials.iter().flat_map(|trial| {
        let why = trial.record.why.as_ref();
        why.into_iter().flat_map(|why| &why.profiles).map(move |profile| (trial, profile))
    })
}

pub(crate) fn charts(digest: &Digest<'_>) -> Vec<Chart> {
    each(digest).take(GRAPHS_MAX).map(|(trial, profile)| graph(trial, profile)).collect()
}

fn graph(trial: &Trial<'_>, profile: &Profile) -> Chart {
    let mut boxes = flame(profile, WIDTH_MIN);
    boxes.retain(|it| it.depth < DEPTH_MAX);
    let depths = boxes.iter().map(|it| it.depth + 1).max().unwrap_or(1);
    let hot: Vec<String> = hottest_functions(profile)
        .iter()
        .take(NAMED)
        .map(|(name, part)| format!("{name} {}", percent(*part)))
        .collect();
    Chart {
        title: format!("{} of {}", what(profile), profile.server),
        subtitle: format!("{}: {}", trial.name(), amount(profile)),
        description: format!("Innermost functions: {}", hot.join("; ")),
        x: Axis::new("part of the time, %", Scale::Linear, Unit::Percent, [100.0]),
        y: Axis::names("", vec![String::new(); depths]),
        bands: boxes.iter().map(band).collect(),
        size: Size { width: Width::Row, height: LANE * depths as f64 + AROUND },
        ..Chart::default()
    }
}

fn band(it: &FlameBox) -> Band {
    Band {
        from: 100.0 * it.from,
        to: 100.0 * it.to,
        lane: Some(it.depth as f64),
        fill: if it.depth.is_multiple_of(2) { BandFill::Even } else { BandFill::Odd },
        label: short(&it.name).to_owned(),
        note: format!("{}: {}", it.name, percent(it.to - it.from)),
    }
}

/// A function's name without the folders of its package.
fn short(name: &str) -> &str {
    let end = name.find('(').unwrap_or(name.len());
    name[..end].rfind('/').map_or(name, |at| &name[at + 1..])
}

fn what(profile: &Profile) -> &'static str {
    match profile.of {
        ProfileOf::Cpu => "CPU profile",
        ProfileOf::Locks => "Waits for locks, by who held them,",
    }
}

/// How many threads were in it at a time, on average.
fn at_a_time(profile: &Profile) -> f64 {
    profile.total_ns() as f64 / profile.span_ns.max(1) as f64
}

fn amount(profile: &Profile) -> String {
    let at_a_time = number(at_a_time(profile));
    match profile.of {
        ProfileOf::Cpu => format!("{at_a_time} cores busy"),
        ProfileOf::Locks => format!("{at_a_time} threads waited at a time"),
    }
}

/// The functions that were innermost.
pub(crate) fn table(digest: &Digest<'_>) -> Table {
    let mut table = Table::new()
        .words("trial")
        .words("server")
        .words("profile")
        .words("function")
        .numbers("part");
    for (trial, profile) in each(digest) {
        for (name, part) in hottest_functions(profile).into_iter().take(TOLD) {
            let kind = match profile.of {
                ProfileOf::Cpu => "CPU",
                ProfileOf::Locks => "locks",
            };
            table.row(vec![
                trial.name(),
                profile.server.clone(),
                kind.to_owned(),
                name,
                percent(part),
            ]);
        }
    }
    table
}

pub(super) fn json(profiles: &[Profile]) -> serde_json::Value {
    let of_one = |profile: &Profile| {
        let hottest: Vec<_> = hottest_functions(profile)
            .into_iter()
            .take(TOLD)
            .map(|(name, part)| json!({"function": name, "part": part}))
            .collect();
        json!({
            "server": profile.server,
            "of": profile.of,
            "span_ns": profile.span_ns,
            "total_ns": profile.total_ns(),
            "hottest": hottest,
        })
    };
    profiles.iter().map(of_one).collect()
}

/// Why there are no profiles of some servers.
pub(crate) fn missing(digest: &Digest<'_>) -> Vec<String> {
    let of_trial = |trial: &Trial<'_>| {
        let missing = &trial.record.why.as_ref()?.unprofiled;
        (!missing.is_empty()).then(|| format!("{}: {}", trial.name(), missing.join("; ")))
    };
    digest.trials.iter().filter_map(of_trial).collect()
}

/// What the profiles name, in a sentence.
pub(super) fn sentence(profiles: &[Profile]) -> Option<String> {
    let said: Vec<String> = profiles.iter().filter_map(of_one).collect();
    (!said.is_empty()).then(|| format!("By its profile: {}", said.join("; ")))
}

fn of_one(profile: &Profile) -> Option<String> {
    let named: Vec<String> = hottest_functions(profile)
        .iter()
        .take(NAMED)
        .filter(|(_, part)| *part >= PART_MIN)
        .map(|(name, part)| format!("{} in `{}`", percent(*part), short(name)))
        .collect();
    let at_a_time = at_a_time(profile);
    if named.is_empty() || profile.of == ProfileOf::Locks && at_a_time < WAITING_MIN {
        return None;
    }
    let named = named.join(", ");
    Some(match profile.of {
        ProfileOf::Cpu => format!("of the CPU time of {} {named}", profile.server),
        ProfileOf::Locks => format!(
            "of the time in which threads of {} waited for locks ({} at a time) {named}",
            profile.server,
            number(at_a_time)
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_the_folders_of_their_package_alone() {
        assert_eq!(short("github.com/pingcap/tidb/pkg/server.(*Conn).Run"), "server.(*Conn).Run");
        assert_eq!(short("f(a/b)"), "f(a/b)");
        assert_eq!(short("runtime.mallocgc"), "runtime.mallocgc");
    }

    #[test]
    fn a_flame_graph_has_all_of_the_time_and_a_sentence_names_the_hottest() {
        let mut run = crate::sample::run();
        let mut why = crate::sample::experiment(8_000);
        let stack = |text: &str| text.split(' ').map(str::to_owned).collect();
        let stacks = [(stack("main a/b.work"), 600), (stack("main"), 400)].into_iter();
        why.profiles = vec![Profile::new(("db", ProfileOf::Cpu, 1_000), stacks)];
        why.unprofiled = vec!["no profile of locks of db: it answered 404".to_owned()];
        run.trials[0].why = Some(why);
        let reading = crate::Reading::new(&run);
        let charts = charts(&reading.digest);
        let [chart] = charts.as_slice() else { panic!("{charts:?}") };
        assert_eq!(chart.title, "CPU profile of db");
        let told: Vec<_> =
            chart.bands.iter().map(|it| (it.label.as_str(), it.to - it.from)).collect();
        assert_eq!(told, [("main", 100.0), ("b.work", 60.0)]);
        let text = crate::markdown(&reading);
        let told = super::super::Answer::of(&reading.digest.trials[0]).unwrap().sentence();
        let expected = "By its profile: of the CPU time of db 60 % in `b.work`, 40 % in `main`";
        assert!(told.ends_with(expected), "{told}");
        for part in ["| a/b.work ", "no profile of locks of db: it answered 404"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
