//! The report as Markdown, for a repository or an issue.

use crate::digest::{Digest, Point, load_text};
use crate::finding::groups;
use crate::statistics::{statistics, transaction_names, usual_percentile};
use crate::table::{Table, escape_markdown};
use crate::visible::visible;
use crate::{
    calls, ceiling, comparison, conclusion, confidence, ending, generators, loading, messages,
    operations, rules, scaling, seek, settings, tables, variance, watch,
};

/// The whole report as Markdown (GitHub's tables).
pub fn markdown(digest: &Digest<'_>) -> String {
    let run = digest.run;
    let mut out = format!("# {}\n\n", escape_markdown(digest.title()));
    out.push_str(&format!("{}\n\n", escape_markdown(&digest.under_test())));
    conclusions(&mut out, digest);
    section(&mut out, "Systems under test", &settings::systems(digest));
    section(&mut out, "Workloads", &settings::workloads(digest));
    seeks(&mut out, digest);
    let has_points = |name: &&str| digest.points.iter().any(|point| point.workload == *name);
    for workload in digest.workloads().into_iter().filter(has_points) {
        workload_section(&mut out, digest, workload);
    }
    for sentence in ending::sentences(digest) {
        out.push_str(&format!("{}\n\n", escape_markdown(&sentence)));
    }
    for group in comparison::groups(digest) {
        section(&mut out, &group.caption(), &group.table());
        for (title, table) in group.tables_below() {
            section(&mut out, title, &table);
        }
        out.push_str(&format!("{}\n\n", comparison::NOTE));
        for text in group.notes() {
            out.push_str(&format!("{}\n\n", escape_markdown(&text)));
        }
    }
    noted(&mut out, scaling::TITLE, &scaling::table(digest), scaling::NOTE);
    noted(&mut out, variance::TITLE, &variance::table(digest), variance::NOTE);
    noted(&mut out, "Calls", &calls::by_point(digest), calls::NOTE);
    noted(&mut out, "Loading the data", &loading::table(digest), loading::NOTE);
    section(&mut out, "What the load generator spent on a query", &tables::costs(digest, None));
    if let Some(note) = tables::embedded_note(digest) {
        out.push_str(&format!("{}\n\n", escape_markdown(&note)));
    }
    for note in tables::switches_notes(digest) {
        out.push_str(&format!("{}\n\n", escape_markdown(&note)));
    }
    noted(&mut out, generators::TITLE, &generators::by_point(digest), generators::NOTE);
    section(&mut out, "Hosts of the generators", &generators::hosts(digest));
    let messages = messages::by_point(digest);
    noted(&mut out, "Messages between dyno and the systems", &messages, messages::ROUND_TRIP);
    for sentence in messages::absences(digest) {
        out.push_str(&format!("{}\n\n", escape_markdown(&sentence)));
    }
    noted(&mut out, ceiling::TITLE, &ceiling::by_trial(digest), ceiling::NOTE);
    section(&mut out, "What the servers took", &watch::servers(digest));
    if let Some(note) = watch::servers_note(digest) {
        out.push_str(&format!("{}\n\n", escape_markdown(&note)));
    }
    section(&mut out, "What a query cost the servers", &watch::cost::by_point(digest));
    findings(&mut out, digest);
    section(&mut out, "Run", &settings::run(run));
    section(&mut out, "Machine", &settings::environment(run));
    section(&mut out, "Settings of the systems", &settings::system_settings(digest));
    out.push_str("## To do it again\n\n");
    out.push_str(&fenced("sh", &run.header.command));
    out.push_str("\nThe plan:\n\n");
    out.push_str(&fenced("toml", &run.shown_plan()));
    visible(&out).into_owned()
}

fn section(out: &mut String, title: &str, table: &Table) {
    if !table.is_empty() {
        out.push_str(&format!("## {title}\n\n{}\n", table.markdown()));
    }
}

fn noted(out: &mut String, title: &str, table: &Table, note: &str) {
    if !table.is_empty() {
        section(out, title, table);
        out.push_str(&format!("{note}\n\n"));
    }
}

/// The answers to the questions of the plan, each with a link to its section.
fn conclusions(out: &mut String, digest: &Digest<'_>) {
    out.push_str(&format!("## {}\n\n", conclusion::TITLE));
    for conclusion in conclusion::all(digest) {
        let link = conclusion.place.map(|it| format!(" ([figures](#{}))", it.anchor(digest)));
        let text = escape_markdown(&conclusion.text());
        out.push_str(&format!("- {text}{}\n", link.unwrap_or_default()));
    }
    out.push('\n');
}

/// The capacities that were sought, and all probes.
fn seeks(out: &mut String, digest: &Digest<'_>) {
    let seeks = seek::all(digest);
    if seeks.is_empty() {
        return;
    }
    section(out, "Capacity", &seek::table(digest, &seeks));
    out.push_str(&format!("{}\n\n", seek::NOTE));
    for sought in &seeks {
        section(out, &format!("Probes of {}", sought.name(digest)), &seek::probes(sought));
    }
}

fn workload_section(out: &mut String, digest: &Digest<'_>, workload: &str) {
    out.push_str(&format!("## {}\n\n", escape_markdown(&digest.caption(workload))));
    out.push_str(&tables::results(digest, Some(workload)).markdown());
    let service = tables::service(digest, Some(workload));
    if !service.is_empty() {
        out.push_str("\nThese are response times, from when each transaction was meant to start. ");
        out.push_str("Service times, from when it did:\n\n");
        out.push_str(&service.markdown());
    }
    let notes = tables::queues_note(digest).filter(|_| !service.is_empty());
    let repeated = tables::repeated_note(digest).map(str::to_owned);
    for note in notes.into_iter().chain(repeated) {
        out.push_str(&format!("\n{}\n", escape_markdown(&note)));
    }
    let intervals = confidence::table(digest, Some(workload));
    if !intervals.is_empty() {
        out.push_str(&format!("\n95 % intervals:\n\n{}", intervals.markdown()));
        let note = confidence::note(digest).unwrap_or_default();
        out.push_str(&format!("\n{}\n", escape_markdown(note)));
    }
    let own = rules::table(digest, Some(workload));
    if !own.is_empty() {
        out.push_str(&format!("\n{}", own.markdown()));
    }
    let notes = rules::notes(digest, Some(workload));
    if !notes.is_empty() {
        out.push_str(&format!("\n{}\n", escape_markdown(&notes.join(" "))));
    }
    out.push_str("\n### Operations\n\n");
    out.push_str(&operations::by_point(digest, workload).markdown());
    out.push('\n');
    for point in digest.points.iter().filter(|point| point.workload == workload) {
        statistics_block(out, digest, point);
    }
}

fn statistics_block(out: &mut String, digest: &Digest<'_>, point: &Point<'_>) {
    let Some(trial) = digest.middle_trial(point) else { return };
    let title = format!(
        "{}, {}, {} ({})",
        point.workload,
        point.system,
        load_text(point.clients, point.rate),
        point.identity.title()
    );
    let text = statistics(trial, usual_percentile(trial));
    let events = escape_markdown(&transaction_names(trial));
    out.push_str(&format!(
        "<details><summary>{}</summary>\n\nAn event is: {events}.\n\n{}\n</details>\n\n",
        crate::table::escape(&title),
        fenced("text", &text)
    ));
}

fn findings(out: &mut String, digest: &Digest<'_>) {
    let groups = groups(digest);
    if groups.is_empty() {
        return;
    }
    out.push_str("## Read with care\n\n");
    for group in groups {
        out.push_str(&format!("- **{}**: {}\n", group.title(), group.meaning));
        for place in &group.places {
            out.push_str(&format!("  - {}\n", escape_markdown(place)));
        }
    }
    out.push('\n');
}

/// A code block whose fence is longer than any in the text.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_run_as_markdown() {
        insta::assert_snapshot!(markdown(&Digest::new(&sample::run())));
    }

    #[test]
    fn a_code_fence_is_longer_than_fences_inside() {
        assert_eq!(fenced("", "a ``` b"), "````\na ``` b\n````\n");
    }
}
