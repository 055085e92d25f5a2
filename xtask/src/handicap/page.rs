//! The page: how often a handicap was found, and how often its size was in the interval.

use std::fmt::Write as _;

use analysis::{Ratio, over_repetitions};

use super::case::Case;
use super::report::{Interval, Machine};
use super::state::{FinishedRun, State};
use crate::bench::page::table;

/// The handicap of the goal, percent, and the length of its comparisons, min.
const GOAL_PERCENT: u32 = 3;
const GOAL_MINUTES: u32 = 10;
/// Fewer comparisons do not show nine of ten.
const GOAL_COMPARISONS: usize = 10;
/// What the comparison of two builds is held to: half the width of its interval, its length, and its rounds.
const BUILDS_HALF_WIDTH: f64 = 0.05;
const BUILDS_MINUTES: f64 = 20.0;
const BUILDS_ROUNDS: usize = 4;

/// What several comparisons found.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Score {
    /// How many excluded that the second variant is as fast as the first.
    found: usize,
    /// How many have the truth in their interval; `None` when it is not known.
    with_truth: Option<usize>,
    /// The middle one of half the widths of their intervals.
    half_width: f64,
    of: usize,
}

impl Score {
    /// Of the intervals of comparisons, each with the truth that it is held to. `None` without comparisons.
    fn of(comparisons: &[(Interval, Option<f64>)]) -> Option<Self> {
        let half_widths: Vec<f64> =
            comparisons.iter().map(|(interval, _)| interval.half_width()).collect();
        let held: Option<Vec<bool>> =
            comparisons.iter().map(|(interval, truth)| Some(interval.has((*truth)?))).collect();
        Some(Self {
            found: comparisons.iter().filter(|(interval, _)| interval.is_slower()).count(),
            with_truth: held.map(|held| held.into_iter().filter(|has| *has).count()),
            half_width: over_repetitions(&half_widths)?.median,
            of: comparisons.len(),
        })
    }

    /// Cells of a table.
    fn cells(score: Option<Self>) -> [String; 3] {
        let Some(Self { found, with_truth, half_width, of }) = score else {
            return [(); 3].map(|()| "-".to_owned());
        };
        let with_truth = with_truth.map_or("-".to_owned(), |count| format!("{count} of {of}"));
        [format!("{found} of {of}"), with_truth, percent(half_width)]
    }
}

/// The whole page.
pub(super) fn text(state: &State) -> String {
    let mut text = format!("# A handicap of known size, {}\n\n{}\n", state.date, HEAD.trim_end());
    if let Some(machine) = &state.machine {
        text += &format!("\n{}", machine_table(machine));
    }
    let cases = state.cases();
    let goals: Vec<Vec<String>> = cases.iter().filter_map(|case| goal(state, *case)).collect();
    let (handicaps, builds): (Vec<Case>, Vec<Case>) =
        cases.into_iter().partition(|case| case.handicap_percent.is_some());
    section(&mut text, "Goals", &["goal", "seen", ""], goals);
    let rows = handicaps.iter().map(|case| handicap_row(state, *case)).collect();
    section(&mut text, "Handicaps", &HANDICAPS, rows);
    let rows = builds.iter().flat_map(|case| state.comparisons(*case)).map(builds_row).collect();
    section(&mut text, "Builds", &BUILDS, rows);
    let rows = handicaps.iter().flat_map(|case| state.comparisons(*case)).map(run_row).collect();
    section(&mut text, "All comparisons of handicaps", &RUNS, rows);
    text
}

const HEAD: &str = "\
Made by `cargo xtask handicap`. Two variants of a system are compared, one of which does extra work of fixed length
for each statement: a checksum that is computed so many times (`BENCHMARK` in the statement), or rounds of a loop in
the echo server. Client and server share all cores. A pilot with a large handicap tells about how much work makes one
of 3, 5 or 10 %. The *truth* is the ratio of the throughputs over the rounds of all runs of a handicap, with its 95 %
interval; nothing is adjusted in it. A comparison has *found* the handicap when its 95 % interval lies below 1. *Truth
in it* counts the comparisons whose interval has the truth, made anew for each without its own rounds. Half the width
of the interval, and the minutes with all starts of servers, are medians. *Adjusted* is the ratio with the machine's
own speed removed; it counts in place of the measured one where the speed explains a larger part of the variance
(*explained*) than measuring it took of the time.
";

const HANDICAPS: [&str; 13] = [
    "system",
    "handicap",
    "work",
    "turns",
    "truth",
    "rounds of it",
    "minutes",
    "found",
    "truth in it",
    "half width",
    "adjusted: found",
    "truth in it",
    "half width",
];

const BUILDS: [&str; 9] = [
    "system",
    "turns",
    "rounds",
    "minutes",
    "ratio of throughputs",
    "half width",
    "adjusted",
    "explained",
    "verdict",
];

const RUNS: [&str; 10] = [
    "system",
    "handicap",
    "turns",
    "number",
    "rounds",
    "minutes",
    "ratio",
    "adjusted",
    "explained",
    "verdict",
];

/// A section with a table; nothing without rows.
fn section(text: &mut String, title: &str, head: &[&str], rows: Vec<Vec<String>>) {
    if !rows.is_empty() {
        // Writing to a text never fails.
        let _ = write!(text, "\n## {title}\n\n{}", table(head, rows.into_iter()));
    }
}

fn machine_table(machine: &Machine) -> String {
    let unknown = || "unknown".to_owned();
    let rows = [
        ("CPU", machine.cpu.clone()),
        ("threads", machine.threads.map_or_else(unknown, |threads| threads.to_string())),
        ("virtualization", machine.virtualization.clone().unwrap_or_else(unknown)),
        ("kernel", machine.kernel.clone().unwrap_or_else(unknown)),
        ("dyno", machine.dyno.clone()),
    ];
    table(&["machine", ""], rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]))
}

fn handicap_row(state: &State, case: Case) -> Vec<String> {
    let runs = state.comparisons(case);
    let shown = if runs.is_empty() { state.truth_runs(case) } else { runs.clone() };
    let any = shown.first();
    let truth = state.truth(case);
    let truths = || runs.iter().map(|run| state.truth_besides(run));
    let raw: Vec<_> = runs.iter().map(|run| run.raw).zip(truths()).collect();
    let answers: Vec<_> = runs.iter().map(|run| run.answer()).zip(truths()).collect();
    let is_adjusted = runs.iter().any(|run| run.adjusted.is_some());
    let [found, with_truth, half_width] = Score::cells(Score::of(&raw));
    let answered = Score::of(&answers).filter(|_| is_adjusted);
    let [answer_found, answer_truth, answer_half_width] = Score::cells(answered);
    vec![
        any.map_or_else(String::new, |run| run.product.clone()),
        case.handicap_percent.map_or_else(String::new, |percent| format!("{percent} %")),
        any.map_or_else(String::new, |run| run.work.to_string()),
        turns(case, &shown),
        truth.as_ref().map_or_else(|| "-".to_owned(), truth_text),
        truth.map_or_else(|| "-".to_owned(), |truth| truth.rounds.to_string()),
        minutes(&runs),
        found,
        with_truth,
        half_width,
        answer_found,
        answer_truth,
        answer_half_width,
    ]
}

fn builds_row(run: &FinishedRun) -> Vec<String> {
    vec![
        format!("{} ({})", run.case, run.product),
        turns(run.case, &[run]),
        run.rounds_per_s.len().to_string(),
        format!("{:.1}", run.minutes_taken),
        interval_text(run.raw),
        percent(run.answer().half_width()),
        run.adjusted.map_or_else(|| "-".to_owned(), interval_text),
        run.explained.map_or_else(|| "-".to_owned(), percent),
        run.verdict.clone(),
    ]
}

fn run_row(run: &FinishedRun) -> Vec<String> {
    vec![
        run.product.clone(),
        run.case.handicap_percent.map_or_else(String::new, |percent| format!("{percent} %")),
        turns(run.case, &[run]),
        (run.number + 1).to_string(),
        run.rounds_per_s.len().to_string(),
        format!("{:.1}", run.minutes_taken),
        interval_text(run.raw),
        run.adjusted.map_or_else(|| "-".to_owned(), interval_text),
        run.explained.map_or_else(|| "-".to_owned(), percent),
        run.verdict.clone(),
    ]
}

/// What a case is held to, what was seen, and whether it is reached; `None` for a case without a goal or comparisons.
fn goal(state: &State, case: Case) -> Option<Vec<String>> {
    let runs = state.comparisons(case);
    let first = runs.first()?;
    let (goal, seen, is_reached) = match case.handicap_percent {
        None => {
            let (half_width, taken) = (first.answer().half_width(), first.minutes_taken);
            let rounds = first.rounds_per_s.len();
            let is_reached = half_width <= BUILDS_HALF_WIDTH
                && taken <= BUILDS_MINUTES
                && rounds >= BUILDS_ROUNDS;
            let goal = format!(
                "{case}: {} either way in {BUILDS_MINUTES} minutes, from {BUILDS_ROUNDS} rounds or more",
                percent(BUILDS_HALF_WIDTH)
            );
            let seen = format!("{} in {taken:.1} minutes, {rounds} rounds", percent(half_width));
            (goal, seen, Some(is_reached))
        }
        Some(GOAL_PERCENT) if case.minutes <= GOAL_MINUTES => {
            let found = runs.iter().filter(|run| run.answer().is_slower()).count();
            let is_enough = runs.len() >= GOAL_COMPARISONS;
            let goal = format!(
                "{case}, in {}: found in {GOAL_MINUTES} minutes nine times in ten",
                case.interleave.name()
            );
            let seen = format!("{found} of {}, in {} minutes", runs.len(), minutes(&runs));
            (goal, seen, is_enough.then_some(10 * found >= 9 * runs.len()))
        }
        Some(_) => return None,
    };
    let outcome = match is_reached {
        Some(true) => "reached",
        Some(false) => "**missed**",
        None => "**too few comparisons**",
    };
    Some(vec![goal, seen, outcome.to_owned()])
}

/// How the variants take turns in the runs of a case. A run that a later xtask added may have other windows.
fn turns(case: Case, runs: &[&FinishedRun]) -> String {
    let windows = || runs.iter().filter_map(|run| run.shape.windows);
    match (windows().min(), windows().max()) {
        (Some(fewest), Some(most)) if fewest < most => {
            format!("{fewest} to {most} windows a round")
        }
        (Some(each), Some(_)) => format!("{each} windows a round"),
        _ => case.interleave.name().to_owned(),
    }
}

/// The middle one of the runs' lengths.
fn minutes(runs: &[&FinishedRun]) -> String {
    let taken: Vec<f64> = runs.iter().map(|run| run.minutes_taken).collect();
    over_repetitions(&taken).map_or_else(|| "-".to_owned(), |it| format!("{:.1}", it.median))
}

fn truth_text(truth: &Ratio) -> String {
    interval_text(Interval { ratio: truth.ratio, low: truth.low, high: truth.high })
}

/// A ratio with its interval.
pub(super) fn interval_text(Interval { ratio, low, high }: Interval) -> String {
    format!("{ratio:.4} ({low:.4} to {high:.4})")
}

fn percent(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}

#[cfg(test)]
mod tests {
    use super::super::case::{Interleave, Purpose, System};
    use super::super::comparison_plan::Shape;
    use super::super::state::tests::run;
    use super::*;

    /// Ten comparisons of 3 %, one of which did not find it, after a calibration whose truth is the root of 0.94.
    fn state() -> State {
        let of = (System::Tidb, Some(3));
        let mut state = State { date: "2026-11-23".to_owned(), ..State::default() };
        state.machine = Some(Machine {
            cpu: "A CPU".to_owned(),
            threads: Some(2),
            virtualization: None,
            kernel: Some("Linux 6".to_owned()),
            dyno: "0.1.0".to_owned(),
        });
        state.runs.push(run(of, Purpose::Truth, 0, [0.94, 0.97, 1.0]));
        for number in 0..10 {
            let intervals = match number {
                0 => [0.95, 0.975, 1.0],
                1 => [0.975, 0.98, 0.985],
                _ => [0.96, 0.97, 0.98],
            };
            state.runs.push(run(of, Purpose::Comparison, number, intervals));
        }
        let mut builds =
            run((System::TidbGoamd64, None), Purpose::Comparison, 0, [0.97, 1.01, 1.05]);
        builds.shape = Shape { rounds: 8, windows: Some(23) };
        builds.case.interleave = Interleave::Windows;
        builds.rounds_per_s = vec![[100.0, 101.0]; 8];
        builds.adjusted = Some(Interval { ratio: 1.005, low: 0.985, high: 1.025 });
        "equal".clone_into(&mut builds.verdict);
        state.runs.push(builds);
        state
    }

    #[test]
    fn the_page_of_a_state() {
        insta::assert_snapshot!(text(&state()));
    }

    #[test]
    fn all_numbers_of_windows_of_a_case_are_told() {
        let of = (System::Mariadb, Some(3));
        let [mut first, mut second] =
            [0, 1].map(|number| run(of, Purpose::Comparison, number, [0.96, 0.97, 0.98]));
        assert_eq!(turns(first.case, &[&first, &second]), "rounds");
        first.shape.windows = Some(68);
        second.shape.windows = Some(28);
        assert_eq!(turns(first.case, &[&first, &second]), "28 to 68 windows a round");
        assert_eq!(turns(first.case, &[&second]), "28 windows a round");
    }

    #[test]
    fn found_and_truth_are_counted() {
        let state = state();
        let held = |run: &FinishedRun, truth| (run.raw, Some(truth));
        let runs = state.comparisons(state.runs[1].case);
        // The root of 0.94 is 0.96954.
        let intervals: Vec<_> = runs.iter().map(|run| held(run, 0.96954)).collect();
        let score = Score::of(&intervals).unwrap();
        assert_eq!((score.found, score.with_truth, score.of), (9, Some(9), 10));
        assert!((score.half_width - 0.01).abs() < 1e-12, "{score:?}");
        let unknown: Vec<_> = runs.iter().map(|run| (run.raw, None)).collect();
        assert_eq!(Score::of(&unknown).unwrap().with_truth, None);
        assert_eq!(Score::of(&[]), None);
    }

    #[test]
    fn fewer_than_ten_comparisons_reach_no_goal() {
        let mut state = state();
        let case = state.runs[1].case;
        let outcome = |state: &State| goal(state, case).unwrap()[2].clone();
        assert_eq!(outcome(&state), "reached");
        state.runs[3].raw.high = 1.01;
        assert_eq!(outcome(&state), "**missed**", "eight of ten");
        state.runs.remove(3);
        assert_eq!(outcome(&state), "**too few comparisons**");
    }

    #[test]
    fn the_answer_is_the_adjusted_interval_where_there_is_one() {
        let mut state = state();
        let case = state.runs.last().unwrap().case;
        let outcome = |state: &State| goal(state, case).unwrap()[2].clone();
        assert_eq!(outcome(&state), "reached", "2 % adjusted, 4 % raw");
        let last = state.runs.last_mut().unwrap();
        last.adjusted = Some(Interval { ratio: 1.0, low: 0.94, high: 1.06 });
        assert_eq!(outcome(&state), "**missed**");
        state.runs.last_mut().unwrap().adjusted = None;
        assert_eq!(outcome(&state), "reached");
        state.runs.last_mut().unwrap().minutes_taken = 20.5;
        assert_eq!(outcome(&state), "**missed**");
    }
}
