//! The summary at the end of a run, for a terminal.

use std::path::Path;

use crate::digest::Digest;
use crate::finding::{Group, groups};
use crate::number::{duration, several};
use crate::table::Table;
use crate::visible::visible;
use crate::wrap::fold;
use crate::{
    ceiling, comparison, conclusion, confidence, ending, generator, generators, operations, rules,
    scaling, seek, settings, tables, variance, watch,
};

/// Number of places of one finding that are named; the rest is counted.
const PLACES_MAX: usize = 3;

/// The summary of a run: systems under test, figures, findings, and where the record and the page are; `page` is `None`
/// when none was written. With a width, no line is wider, unless a single word is.
pub fn summary(digest: &Digest<'_>, page: Option<&Path>, width: Option<usize>) -> String {
    let run = digest.run;
    let mut out = format!("{}\n{}\n\n", digest.title(), status_line(digest));
    out.push_str(&conclusions(digest));
    let no_failures = |head: &str, cells: &[&str]| {
        matches!(head, "failed" | "retries") && cells.iter().all(|cell| *cell == "0")
    };
    let systems = settings::systems(digest);
    if !systems.is_empty() {
        out.push_str(&format!("{}\n", systems.text_within(width)));
    }
    out.push_str(&seeks(digest, width));
    if !digest.points.is_empty() {
        let results = tables::results(digest, None).without_columns(no_failures);
        out.push_str(&results.text_within(width));
        if let Some(note) = tables::repeated_note(digest) {
            out.push_str(&format!("{note}\n"));
        }
        out.push_str(&intervals(digest, width));
        scaling::refusals(digest).iter().for_each(|line| out.push_str(&format!("{line}\n")));
        variance::line(digest).iter().for_each(|line| out.push_str(&format!("{line}\n")));
        ending::sentences(digest).iter().for_each(|text| out.push_str(&format!("{text}\n")));
        out.push_str(&service(digest, width));
        out.push_str(&operations(digest, width));
        out.push_str(&rules_of_workloads(digest, width));
    }
    for group in comparison::groups(digest) {
        out.push_str(&format!("\n{}:\n\n{}", group.caption(), group.table().text_within(width)));
        out.push_str(
            "\nBeside each ratio are the geometric means that it is made of; above are medians.\n",
        );
        for (title, table) in group.tables_below() {
            if !table.is_empty() {
                out.push_str(&format!("\n{title}:\n\n{}\n", table.text_within(width)));
            }
        }
        group.notes().iter().for_each(|text| out.push_str(&format!("{text}\n")));
    }
    let mut watched = watch::lines(digest);
    watched.extend(generator::line(digest));
    if !watched.is_empty() {
        out.push_str(&format!("\n{}\n", watched.join("\n")));
    }
    let parts = generators::by_point(digest);
    if !parts.is_empty() {
        out.push_str(&format!("\n{}:\n\n{}", generators::TITLE, parts.text_within(width)));
    }
    let ceilings = ceiling::by_trial(digest);
    if !ceilings.is_empty() {
        let table = ceilings.text_within(width);
        out.push_str(&format!("\n{}:\n\n{table}{}\n", ceiling::TITLE, ceiling::NOTE));
    }
    let findings = groups(digest);
    if !findings.is_empty() {
        out.push_str("\nRead with care:\n");
        findings.iter().for_each(|group| out.push_str(&finding(group)));
    }
    out.push_str(&format!("\nrecord  {}\n", run.folder.display()));
    if let Some(page) = page {
        out.push_str(&format!("report  {}\n", page.display()));
    }
    fold(&visible(&out), width)
}

/// The summary of a run whose page is beside its record, in lines of any width.
#[cfg(test)]
pub(crate) fn terminal(digest: &Digest<'_>) -> String {
    summary(digest, Some(&digest.run.folder.join(crate::write::PAGE)), None)
}

/// The answers to the questions of the plan, and what not to believe.
fn conclusions(digest: &Digest<'_>) -> String {
    let all = conclusion::all(digest).iter();
    let lines: String = all.map(|it| format!("- {}\n", it.text())).collect();
    format!("{}:\n{lines}\n", conclusion::TITLE)
}

/// The capacities that were sought; empty in a run with fixed loads.
fn seeks(digest: &Digest<'_>, width: Option<usize>) -> String {
    let seeks = seek::all(digest);
    if seeks.is_empty() {
        return String::new();
    }
    format!("{}\n", seek::table(digest, &seeks).text_within(width))
}

/// Service times, shown after the results when there is an open loop.
fn service(digest: &Digest<'_>, width: Option<usize>) -> String {
    let table = tables::service(digest, None);
    if table.is_empty() {
        return String::new();
    }
    let queues = tables::queues_note(digest).unwrap_or_default();
    format!(
        "\nAbove are response times, from when each transaction was meant to start. \
         Service times, from when it did:\n\n{}{queues}\n",
        table.text_within(width)
    )
}

/// The 95 % intervals of the figures, when there are any.
fn intervals(digest: &Digest<'_>, width: Option<usize>) -> String {
    let table = confidence::table(digest, None);
    if table.is_empty() {
        return String::new();
    }
    let note = confidence::note(digest).unwrap_or_default();
    format!("\n95 % intervals:\n\n{}{note}\n", table.text_within(width))
}

/// The operations of each transaction, when there are several kinds of transactions.
fn operations(digest: &Digest<'_>, width: Option<usize>) -> String {
    let table = |workload| (workload, operations::in_short(digest, workload));
    let tables = digest.workloads().into_iter().map(table).filter(|(_, table)| !table.is_empty());
    let text = |table: &Table| table.text_within(width);
    tables.map(|(name, table)| format!("\nOperations of {name}:\n\n{}", text(&table))).collect()
}

/// The workloads' own figures and the conditions on their data, when there are any.
fn rules_of_workloads(digest: &Digest<'_>, width: Option<usize>) -> String {
    let table = rules::table(digest, None);
    let notes = rules::notes(digest, None);
    if table.is_empty() && notes.is_empty() {
        return String::new();
    }
    let notes: String = notes.iter().map(|note| format!("{note}\n")).collect();
    let table = if table.is_empty() { String::new() } else { table.text_within(width) };
    format!("\n{table}{notes}")
}

fn status_line(digest: &Digest<'_>) -> String {
    let run = digest.run;
    let began = &run.header.started;
    let took = run.ended.map(|ended| ended.duration_since(*began).unsigned_abs());
    let reason = run.status.reason().map_or(String::new(), |reason| format!(": {reason}"));
    let status = format!("{}{reason}", run.status.name());
    let took = took.map_or(String::new(), |took| format!(" in {}", duration(took)));
    let (done, planned) = (run.trials_done(), run.trials_planned());
    format!(
        "{status}{took}, {done} of {}{}",
        several(planned as u64, "trial", "trials"),
        digest.failed_trials()
    )
}

fn finding(group: &Group) -> String {
    let shown = group.places.len().min(PLACES_MAX);
    let mut out = format!("- {}: {}\n", group.title(), group.meaning);
    group.places[..shown].iter().for_each(|place| out.push_str(&format!("    {place}\n")));
    if group.places.len() > shown {
        let more = group.places.len() - shown;
        out.push_str(&format!("    and {more} more, all of them in report.md\n"));
    }
    out
}

#[cfg(test)]
mod tests {
    use record::RunStatus;

    use super::*;
    use crate::sample;

    #[test]
    fn a_page_that_was_not_written_is_not_named() {
        let run = sample::run();
        let told = summary(&Digest::new(&run), None, None);
        assert!(told.ends_with(&format!("\nrecord  {}\n", run.folder.display())), "{told}");
    }

    #[test]
    fn a_run_in_a_terminal() {
        insta::assert_snapshot!(terminal(&Digest::new(&sample::run())));
    }

    #[test]
    fn a_trial_without_load_in_a_terminal() {
        insta::assert_snapshot!(terminal(&Digest::new(&sample::failed())));
    }

    #[test]
    fn a_trial_of_only_time_outs_shows_percentiles() {
        let mut run = sample::failed();
        run.trials[0].total.operations[0].timed_out.record(500_000_000);
        let text = terminal(&Digest::new(&run));
        let row = text.lines().find(|line| line.starts_with("sqlite  oltp_point_select")).unwrap();
        let cells: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(cells[2..10], ["1", "0", "0", "500", "500", "500", "500", "500"], "{text}");
    }

    #[test]
    fn a_run_without_trials_has_no_empty_tables() {
        let mut run = sample::run();
        run.trials.clear();
        let text = terminal(&Digest::new(&run));
        let conclusions = "- Nothing can be said: no trial was begun.\n\
                           - Of the run as a whole: trials are missing (8 of 8 did not run).\n";
        let whole = format!("0 of 8 trials\n\nConclusions:\n{conclusions}\n\nRead with care:");
        assert!(text.contains(&whole), "{text}");
    }

    #[test]
    fn an_open_loop_in_a_terminal() {
        insta::assert_snapshot!(terminal(&Digest::new(&sample::open())));
    }

    #[test]
    fn a_server_crash_is_reported_at_the_top() {
        let run = sample::variants();
        let text = terminal(&Digest::new(&run));
        let head = text.lines().nth(1).unwrap();
        assert!(head.ends_with("11 of 12 trials, 1 crashed"), "{head}");
        assert!(
            crate::html(&Digest::new(&run)).contains("11 of 12 trials<strong>, 1 crashed</strong>")
        );
    }

    #[test]
    fn a_cut_run_is_reported_as_cut() {
        let mut run = sample::run();
        run.status = RunStatus::Cut;
        run.ended = None;
        run.trials.truncate(1);
        run.trials[0].end = None;
        let text = terminal(&Digest::new(&run));
        assert!(text.contains("cut, 0 of 8 trials"), "{text}");
        assert!(text.contains("- Trials are missing"), "{text}");
        assert!(text.contains("- The trial was cut"), "{text}");
    }

    #[test]
    fn a_run_without_trials_has_a_summary() {
        let mut run = sample::run();
        run.status = RunStatus::Failed("no server at 127.0.0.1:3306".to_owned());
        run.trials.clear();
        let text = terminal(&Digest::new(&run));
        assert!(text.contains("failed: no server at 127.0.0.1:3306"), "{text}");
        assert!(text.contains("no trial was begun"), "{text}");
    }
}
