//! The sections of a report, in the order of every view. A new one is a function here and its place in [`ALL`].

mod compared;
mod results;
mod trial;

use record::Run;

use crate::digest::{Digest, Point, load_text};
use crate::document::{Block, Content, Document, Fold, Head, Item, Link, Section, Trials, Weight};
use crate::finding::{self, Group};
use crate::number::several;
use crate::plots::{bars, over_run, sought};
use crate::reading::Reading;
use crate::statistics::{statistics, transaction_names, usual_percentile};
use crate::{
    calls, ceiling, conclusion, confidence, fail_if, front, generator, generators, loading,
    messages, operations, scaling, seek, settings, tables, variance, watch, why,
};

/// Every section; those with nothing to say are left out.
const ALL: [for<'d> fn(&'d Reading<'d>) -> Section<'d>; 20] = [
    front::summary,
    bounds,
    compared::section,
    limits,
    capacity,
    front::latency,
    front::loads,
    conclusions,
    care,
    workloads,
    compared::in_full,
    results::section,
    variances,
    of_operations,
    costs,
    of_generators,
    trials,
    as_text,
    machine,
    again,
];

pub(crate) fn document<'d>(reading: &'d Reading<'d>) -> Document<'d> {
    let sections = ALL.iter().map(|section| section(reading));
    Document { head: head(reading), sections: sections.filter(|it| !it.is_empty()).collect() }
}

/// What stands above all sections.
pub(crate) fn head(reading: &Reading<'_>) -> Head {
    let digest = &reading.digest;
    let run = digest.run;
    let planned = several(run.trials_planned() as u64, "trial", "trials");
    Head {
        title: digest.whole_title(),
        under_test: digest.under_test(),
        machine: settings::machine(run),
        whole_machine: settings::whole_machine(run),
        verdicts: front::verdicts(digest),
        status: run.status.name(),
        reason: run.status.reason().map(str::to_owned),
        trials: format!("{} of {planned}", run.trials_done()),
        failed: digest.failed_trials(),
        started: run.header.started,
        // The clock may have been set back during the run.
        took: run.ended.and_then(|ended| ended.duration_since(run.header.started).try_into().ok()),
        dyno: run.header.dyno.version.clone(),
    }
}

/// The answers to the questions of the plan, each with a link to its first plot, and what not to believe.
fn conclusions<'d>(reading: &'d Reading<'d>) -> Section<'d> {
    let item = |it: &conclusion::Conclusion| {
        let link = it.place.map(|place| Link {
            id: place.id(),
            section: place.section(),
            label: place.label(),
        });
        Item { text: it.text(), link, ..Item::default() }
    };
    let items = reading.conclusions.iter().map(item).collect();
    let list = Block::new(Weight::Summary, Content::List(items));
    Section::new("conclusions", conclusion::TITLE).folded("every answer in full").with([list])
}

/// The bounds at which the run fails.
fn bounds<'d>(reading: &'d Reading<'d>) -> Section<'d> {
    fail_if::section(&reading.checks)
}

/// What holds the systems back, by experiment.
fn limits<'d>(reading: &'d Reading<'d>) -> Section<'d> {
    let digest = &reading.digest;
    Section::new("why", why::TITLE)
        .charts("y".to_owned(), why::charts(digest))
        .charts("f".to_owned(), why::flame_graphs(digest))
        .table(Weight::Summary, why::shares(digest))
        .captioned(
            Weight::Summary,
            "Each server of the cluster, slowed down alone",
            why::members(digest),
        )
        .captioned(Weight::Report, "Every slow-down, and what it did", why::ladder(digest))
        .captioned(Weight::Report, "Where the servers spend their time", why::hottest(digest))
        .facts(Weight::Report, why::not_used(digest))
        .facts(Weight::Report, why::unprofiled(digest))
        .note(why::NOTE)
}

/// The capacities that were sought, and all probes.
fn capacity<'d>(reading: &'d Reading<'d>) -> Section<'d> {
    let digest = &reading.digest;
    let seeks = seek::all(digest);
    let mut section = Section::new("capacity", seek::TITLE)
        .table(Weight::Summary, seek::table(digest, &seeks))
        .note(seek::NOTE);
    for (at, sought) in seeks.iter().enumerate() {
        let name = sought.name(digest);
        let probes = format!("Probes of {name}");
        section = section.charts(format!("k{at}"), sought::charts(sought, &name)).captioned(
            Weight::Report,
            &probes,
            seek::probes(sought),
        );
    }
    section
}

fn care<'d>(reading: &'d Reading<'d>) -> Section<'d> {
    let groups = finding::groups(&reading.digest, &reading.findings);
    let item = |group: Group| {
        let (head, text) = (group.title(), format!("{}.", group.meaning));
        Item { head, text, rule: group.rule, places: group.places, link: None }
    };
    let items: Vec<Item> = groups.into_iter().map(item).collect();
    let list = (!items.is_empty()).then(|| Block::new(Weight::Summary, Content::List(items)));
    Section::new("care", finding::TITLE).folded("all remarks, with their trials").with(list)
}

/// The plots of every workload, and the law that its sweep follows.
fn workloads<'d>(reading: &'d Reading<'d>) -> Section<'d> {
    let digest = &reading.digest;
    let hint = "latency by percentile, latency against throughput";
    let mut section = Section::new("workloads", "Workloads").folded(hint);
    for (at, workload) in digest.workloads().into_iter().enumerate() {
        let mut charts = over_run::of_workload(digest, &reading.sweeps, workload);
        charts.extend(bars::of_workload(digest, workload));
        if !charts.is_empty() {
            let heading = Block::new(Weight::Page, Content::Heading(workload.to_owned()));
            section = section.with([heading]).charts(format!("w{at}"), charts);
        }
    }
    let law = scaling::table(&reading.sweeps);
    if !law.is_empty() {
        let law = Section::new("scalability", scaling::TITLE)
            .table(Weight::Report, law)
            .facts(Weight::Summary, scaling::refusals(&reading.sweeps))
            .note(scaling::NOTE);
        section = section.and(law);
    }
    match confidence::note(digest) {
        Some(note) => section.note(&format!("Bars: {note}")),
        None => section,
    }
}

fn variances<'d>(reading: &'d Reading<'d>) -> Section<'d> {
    Section::new("variance", variance::TITLE)
        .folded("between trials and within them")
        .table(Weight::Report, variance::table(&reading.digest))
        .facts(Weight::Summary, variance::line(&reading.digest))
        .note(variance::NOTE)
}

fn of_operations<'d>(reading: &'d Reading<'d>) -> Section<'d> {
    let digest = &reading.digest;
    let mut section =
        Section::new("operations", "Operations").packed("each kind of transaction and statement");
    for workload in digest.workloads() {
        let is_mix = operations::has_several_transactions(digest, workload);
        let weight = if is_mix { Weight::Summary } else { Weight::Report };
        let table = operations::by_point(digest, workload);
        let caption = format!("Operations of {}", digest.caption(workload));
        section = section.captioned(weight, &caption, table);
    }
    if !digest.is_repeated() {
        return section;
    }
    section.note("Of several repetitions, the one in the middle by throughput.")
}

/// What each query, call or row cost the load generator, the servers and the network.
fn costs<'d>(reading: &'d Reading<'d>) -> Section<'d> {
    let digest = &reading.digest;
    let of_clients = Section::new("", "Client cost per query")
        .table(Weight::Report, tables::costs(digest))
        .facts(Weight::Summary, generator::line(digest))
        .facts(Weight::Report, tables::embedded_note(digest))
        .facts(Weight::Report, tables::switches_notes(digest))
        .note(
            "CPU time, context switches and bytes of the load generator for each statement. Timer lateness: how much \
             later than intended a thread of dyno woke. Run-queue wait: the part of the time in which its \
             workers could have run and did not.",
        );
    let of_servers = Section::new("", "Server load")
        .table(Weight::Report, watch::servers(digest))
        .facts(Weight::Summary, watch::lines(digest))
        .facts(Weight::Report, watch::servers_note(digest))
        .note(
            "Means over the measured time, with the highest second beside them; of runnable threads, \
             which run or wait for a CPU, the highest of all looks. The host's CPU is that of all its \
             programs. The trials have more figures, and plots.",
        );
    let for_a_query = Section::new("", "Server cost per query")
        .table(Weight::Report, watch::cost::by_point(digest))
        .note(
            "Means over the measured time, divided by the statements that were answered in it; a kB is \
             1,000 bytes. Of a host, with everything that runs on it.",
        );
    let calls =
        Section::new("", "Calls").table(Weight::Report, calls::by_point(digest)).note(calls::NOTE);
    let loading = Section::new("", "Loading the data")
        .table(Weight::Report, loading::table(digest))
        .note(loading::NOTE);
    let hint = "CPU, context switches and bytes for each query: client and servers";
    let all =
        [of_clients, of_servers, for_a_query, calls, between(digest), ceilings(digest), loading];
    all.into_iter().fold(Section::new("cost", "Cost").packed(hint), Section::and)
}

fn of_generators<'d>(reading: &'d Reading<'d>) -> Section<'d> {
    Section::new("generators", generators::TITLE)
        .folded("the load of each, and its hosts")
        .table(Weight::Summary, generators::by_point(&reading.digest))
        .captioned(Weight::Report, "Their hosts", generators::hosts(&reading.digest))
        .note(generators::NOTE)
}

fn between<'d>(digest: &Digest<'_>) -> Section<'d> {
    let table = messages::by_point(digest);
    let section = Section::new("", "Messages between dyno and the systems");
    if table.is_empty() {
        return section;
    }
    section
        .table(Weight::Report, table)
        .facts(Weight::Report, messages::absences(digest))
        .note(messages::NOTE)
}

fn ceilings<'d>(digest: &Digest<'_>) -> Section<'d> {
    Section::new("", ceiling::TITLE)
        .table(Weight::Summary, ceiling::by_trial(digest))
        .note(ceiling::NOTE)
}

/// For readers and programs that know the layout of sysbench.
fn as_text<'d>(reading: &'d Reading<'d>) -> Section<'d> {
    let digest = &reading.digest;
    let points = digest.points.iter().filter_map(|point| point_as_text(digest, point));
    Section::new("text", "Text").packed("figures in the layout of sysbench").with(points)
}

/// The figures of a point in the layout of the tools that print text.
fn point_as_text<'d>(digest: &Digest<'_>, point: &Point<'_>) -> Option<Block<'d>> {
    let trial = digest.middle_trial(point)?;
    let title = format!(
        "{}, {}, {} ({}). An event is: {}",
        point.workload,
        point.system,
        load_text(point.clients, point.rate),
        point.identity.title(),
        transaction_names(trial)
    );
    Some(Block::text(title, "text", &statistics(trial, usual_percentile(trial))))
}

fn trials<'d>(reading: &'d Reading<'d>) -> Section<'d> {
    let digest = &reading.digest;
    let count = digest.trials.len();
    let get = Box::new(move |at: usize| trial::part(digest, at));
    let all = Block::new(Weight::Page, Content::Trials(Trials { count, get }));
    let hint = "sortable, with plots of each over its time";
    Section::new("trials", format!("Trials {count}")).packed(hint).with((count > 0).then_some(all))
}

fn machine<'d>(reading: &'d Reading<'d>) -> Section<'d> {
    let digest = &reading.digest;
    let tables = [
        ("Systems under test", settings::systems(digest)),
        ("Their settings", settings::system_settings(digest)),
        ("Workloads", settings::workloads(digest)),
        ("Machine", settings::environment(digest.run)),
        ("Run", settings::run(digest.run)),
    ];
    let tables = tables.into_iter().filter_map(|(caption, table)| {
        Block::table(Weight::Report, Some(caption.to_owned()), table, Fold::Open)
    });
    let columns = Content::Columns([tables.collect(), Vec::new()]);
    let hint = "versions, settings, hardware";
    Section::new("machine", "Machine").folded(hint).with([Block::new(Weight::Report, columns)])
}

fn again<'d>(reading: &'d Reading<'d>) -> Section<'d> {
    let run: &Run = reading.digest.run;
    let (title, language, text) = (None, "sh", run.header.command.clone());
    let command = Block::new(Weight::Report, Content::Text { title, language, text });
    let title = format!("The plan, {}", run.header.plan_origin);
    let plan = Block::text(title, "toml", run.shown_plan().trim_end());
    Section::new("again", "Reproduce").folded("command and plan").with([command, plan])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    /// Where each of these stands in a text, in order; `None` for one that is not there.
    fn places<'t>(text: &str, headings: impl Iterator<Item = &'t str>) -> Vec<Option<usize>> {
        headings.map(|heading| text.find(heading)).collect()
    }

    #[test]
    fn every_view_has_the_same_sections_in_the_same_order() {
        for run in [sample::run(), sample::variants(), sample::open(), sample::watched()] {
            let reading = Reading::new(&run);
            let all = document(&reading).sections;
            let titles = |most: Weight| {
                let is_shown = move |section: &&Section<'_>| {
                    let shown = section.blocks.iter().filter(|it| it.weight <= most);
                    shown.into_iter().any(|it| !matches!(it.content, Content::Note(_)))
                };
                all.iter().filter(is_shown).map(|section| section.title.as_str())
            };
            let page: Vec<String> =
                titles(Weight::Page).map(|it| format!("<h2>{it}</h2>")).collect();
            let text: Vec<String> = titles(Weight::Report).map(|it| format!("## {it}\n")).collect();
            assert!(page.len() > 8 && text.len() > 6 && text.len() < page.len());
            let in_page = places(&crate::whole_html(&reading), page.iter().map(String::as_str));
            let in_text = places(&crate::markdown(&reading), text.iter().map(String::as_str));
            for found in [in_page, in_text] {
                assert!(
                    found.iter().all(Option::is_some) && found.is_sorted(),
                    "{found:?} {page:?}"
                );
            }
            let ids: std::collections::BTreeSet<&str> = all.iter().map(|it| it.id).collect();
            assert_eq!(ids.len(), all.len(), "ids are unique");
        }
    }
}
