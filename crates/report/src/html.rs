//! The report as one self-contained page: no other file, and no script but the few lines that show the values of plots
//! at the pointer. Without it, the page has the same content.

mod bars;
mod charts;
mod compared;
mod document;
mod frame;
mod history;
mod over_time;
mod sought;
mod spectrum;
mod watch;

use record::Run;

use crate::digest::titles::caption;
use crate::digest::{Digest, Trial};
use crate::finding::{Group, groups, of_trial};
use crate::number::several;
use crate::svg::Chart;
use crate::table::{Table, escape};
use crate::{
    calls, ceiling, conclusion, confidence, cross_check, ending, generators, loading, member_exits,
    messages, operations, rules, scaling, settings, spans, tables, turns, variance,
};

use document::{closing, opening};

const OPEN_TRIALS_MAX: usize = 2;

/// Tables of operations and costs are collapsed from this number of rows on.
const OPEN_ROWS_MAX: usize = 12;

/// Places of one finding are collapsed from this number on.
const OPEN_PLACES_MAX: usize = 4;

/// The whole report as one page of HTML with inline SVG.
pub fn html(digest: &Digest<'_>) -> String {
    let mut out = opening(&escape(&caption(digest.title(), &digest.under_test())));
    out.push_str(&head(digest));
    out.push_str("<main>\n");
    out.push_str(&conclusions(digest));
    out.push_str(&sought::sought(digest));
    out.push_str(&results(digest));
    out.push_str(&compared::compared(digest));
    out.push_str(&warnings(digest));
    out.push_str(&plots(digest));
    out.push_str(&scalability(digest));
    out.push_str(&variances(digest));
    out.push_str(&operations(digest));
    out.push_str(&calls(digest));
    out.push_str(&loading(digest));
    out.push_str(&costs(digest));
    out.push_str(&of_generators(digest));
    out.push_str(&between(digest));
    out.push_str(&ceilings(digest));
    out.push_str(&servers(digest));
    out.push_str(&server_costs(digest));
    trials(digest, &mut out);
    out.push_str(&environment_section(digest));
    out.push_str(&again(digest.run));
    out.push_str(&closing());
    out
}

fn head(digest: &Digest<'_>) -> String {
    let run = digest.run;
    let status = run.status.name();
    let failed_trials = match digest.failed_trials() {
        none if none.is_empty() => none,
        some => format!("<strong>{some}</strong>"),
    };
    let reason = run.status.reason().map_or(String::new(), |reason| format!(": {reason}"));
    format!(
        "<header>\n<h1>{}</h1>\n<p class=\"under-test\">{}</p>\n\
         <p class=\"meta\"><span class=\"status {status}\">{status}</span>{} · {} of {}{} · \
         {:.0} · dyno {}</p>\n\
         <nav aria-label=\"Sections\"><a href=\"#conclusions\">Conclusions</a> \
         <a href=\"#results\">Results</a> <a href=\"#plots\">Plots</a> \
         <a href=\"#trials\">Trials</a> <a href=\"#machine\">Machine</a> \
         <a href=\"#again\">Do it again</a></nav>\n</header>\n",
        escape(digest.title()),
        escape(&digest.under_test()),
        escape(&reason),
        run.trials_done(),
        several(run.trials_planned() as u64, "trial", "trials"),
        failed_trials,
        run.header.started,
        escape(&run.header.dyno.version),
    )
}

fn section(id: &str, title: &str, body: &str) -> String {
    if body.is_empty() {
        return String::new();
    }
    format!("<section id=\"{id}\">\n<h2>{}</h2>\n{body}</section>\n", escape(title))
}

fn table(table: &Table, caption: &str) -> String {
    if table.is_empty() { String::new() } else { table.html(caption) }
}

/// A table that is collapsed when it is long.
fn folded(table: &Table, caption: &str) -> String {
    if table.is_empty() {
        return String::new();
    }
    if table.rows() <= OPEN_ROWS_MAX {
        return table.html(caption);
    }
    format!("<details><summary>{}</summary>\n{}</details>\n", escape(caption), table.html(""))
}

fn paragraph(text: &str) -> String {
    format!("<p class=\"note\">{}</p>\n", escape(text))
}

/// The answers to the questions of the plan, each with a link to its first plot.
fn conclusions(digest: &Digest<'_>) -> String {
    let item = |it: &conclusion::Conclusion| {
        let link =
            it.place.map(|place| format!(" <a href=\"#{}\">{}</a>", place.id(), place.label()));
        format!("<li>{}{}</li>\n", escape(&it.text()), link.unwrap_or_default())
    };
    let items: String = conclusion::all(digest).iter().map(item).collect();
    section(
        "conclusions",
        conclusion::TITLE,
        &format!("<ul class=\"conclusions\">\n{items}</ul>\n"),
    )
}

fn results(digest: &Digest<'_>) -> String {
    let mut body = String::new();
    for workload in digest.workloads() {
        let caption = digest.caption(workload);
        body.push_str(&table(&tables::results(digest, Some(workload)), &caption));
        let caption = format!("{workload}: 95 % intervals");
        body.push_str(&table(&confidence::table(digest, Some(workload)), &caption));
        let caption = format!("{workload}: figures and conditions of its own");
        body.push_str(&table(&rules::table(digest, Some(workload)), &caption));
        let caption = format!("{workload}: service times, from the actual start");
        body.push_str(&table(&tables::service(digest, Some(workload)), &caption));
    }
    rules::notes(digest, None).iter().for_each(|note| body.push_str(&paragraph(note)));
    if digest.points.is_empty() {
        return String::new();
    }
    if digest.is_open() {
        body.push_str(&paragraph(
            "In an open loop latencies are response times, from when a transaction was meant to start. \
             Service times, from when it did, leave out how long it waited for a client.",
        ));
    }
    tables::queues_note(digest).iter().for_each(|note| body.push_str(&paragraph(note)));
    ending::sentences(digest).iter().for_each(|note| body.push_str(&paragraph(note)));
    let medians = tables::repeated_note(digest).into_iter().chain(confidence::note(digest));
    let medians = medians.collect::<Vec<_>>().join(" ");
    let text = format!(
        "Latencies are those of transactions that were due in the measured time and succeeded, and of those that \
         timed out at their bound; \u{2265} marks those that are known only from below, because transactions were \
         never answered. tps and qps are transactions that succeeded and statements per second. {medians}"
    );
    body.push_str(&paragraph(text.trim_end()));
    section("results", "Results", &body)
}

fn warnings(digest: &Digest<'_>) -> String {
    let mut body = String::new();
    for group in groups(digest) {
        body.push_str(&format!(
            "<li><strong>{}</strong>: {}.\n{}</li>\n",
            escape(&group.title()),
            escape(group.meaning),
            places(&group)
        ));
    }
    if body.is_empty() {
        return String::new();
    }
    section("care", "Read with care", &format!("<ul class=\"care\">\n{body}</ul>\n"))
}

/// The places of a group of findings, collapsed when they are many.
fn places(group: &Group) -> String {
    let places: String =
        group.places.iter().map(|place| format!("<li>{}</li>\n", escape(place))).collect();
    let list = format!("<ul>\n{places}</ul>\n");
    match group.places.len() {
        count if count > OPEN_PLACES_MAX => {
            format!("<details><summary>{count} places</summary>\n{list}</details>\n")
        }
        _ => list,
    }
}

fn findings(trial: &Trial<'_>) -> String {
    let mut body = String::new();
    for group in of_trial(trial) {
        let (headline, meaning) = (escape(&group.title()), escape(group.meaning));
        body.push_str(&match group.places.as_slice() {
            [only] if only.is_empty() => format!("<li>{headline}: {meaning}.</li>\n"),
            [only] => format!("<li>{headline} ({}): {meaning}.</li>\n", escape(only)),
            _ => format!("<li>{headline}: {meaning}.\n{}</li>\n", places(&group)),
        });
    }
    if body.is_empty() { body } else { format!("<ul class=\"care\">\n{body}</ul>\n") }
}

fn plots(digest: &Digest<'_>) -> String {
    let mut body = String::new();
    for (at, workload) in digest.workloads().into_iter().enumerate() {
        let mut charts = charts::of_workload(digest, workload);
        charts.extend(bars::of_workload(digest, workload));
        if !charts.is_empty() {
            let figures = figures(&charts, &format!("w{at}"));
            body.push_str(&format!("<h3>{}</h3>\n{figures}", escape(workload)));
        }
    }
    section("plots", "Plots", &body)
}

fn operations(digest: &Digest<'_>) -> String {
    let tables = digest.workloads().into_iter().map(|workload| {
        let caption = digest.caption(workload);
        folded(&operations::by_point(digest, workload), &caption)
    });
    let body: String = tables.collect();
    let note = "Of several repetitions, the one in the middle by throughput.";
    let note = if digest.is_repeated() { paragraph(note) } else { String::new() };
    section("operations", "Operations", &format!("{body}{note}"))
}

fn calls(digest: &Digest<'_>) -> String {
    let calls = calls::by_point(digest);
    if calls.is_empty() {
        return String::new();
    }
    let under_test = digest.under_test_in(|header| header.load.calls.is_some());
    let body = format!("{}{}", folded(&calls, &under_test), paragraph(calls::NOTE));
    section("calls", "Calls", &body)
}

fn scalability(digest: &Digest<'_>) -> String {
    let sweeps = scaling::table(digest);
    if sweeps.is_empty() {
        return String::new();
    }
    let table = folded(&sweeps, &digest.under_test());
    section("scalability", scaling::TITLE, &format!("{table}{}", paragraph(scaling::NOTE)))
}

fn variances(digest: &Digest<'_>) -> String {
    let variances = variance::table(digest);
    if variances.is_empty() {
        return String::new();
    }
    let table = folded(&variances, &digest.under_test());
    section("variance", variance::TITLE, &format!("{table}{}", paragraph(variance::NOTE)))
}

fn loading(digest: &Digest<'_>) -> String {
    let loading = loading::table(digest);
    if loading.is_empty() {
        return String::new();
    }
    let body = format!("{}{}", folded(&loading, &digest.under_test()), paragraph(loading::NOTE));
    section("loading", "Loading the data", &body)
}

fn costs(digest: &Digest<'_>) -> String {
    let costs = tables::costs(digest, None);
    if costs.is_empty() {
        return String::new();
    }
    let note = "CPU time, context switches and bytes of the load generator for each statement. Overslept: how much \
                later than intended a thread of dyno woke. Waited for a CPU: the part of the time in which its \
                workers could have run and did not.";
    let embedded = tables::embedded_note(digest).unwrap_or_default();
    let caption = digest.under_test();
    let switches = tables::switches_notes(digest);
    let switches: String = switches.iter().map(|note| paragraph(note)).collect();
    let note = format!("{}{switches}", paragraph(&format!("{note} {embedded}")));
    let body = format!("{}{note}", folded(&costs, &caption));
    section("costs", "What the load generator spent on a query", &body)
}

fn of_generators(digest: &Digest<'_>) -> String {
    let by_point = generators::by_point(digest);
    if by_point.is_empty() {
        return String::new();
    }
    let hosts = table(&generators::hosts(digest), "Their hosts");
    let figures = folded(&by_point, &digest.under_test());
    let body = format!("{hosts}{figures}{}", paragraph(generators::NOTE));
    section("generators", generators::TITLE, &body)
}

fn between(digest: &Digest<'_>) -> String {
    let messages = messages::by_point(digest);
    if messages.is_empty() {
        return String::new();
    }
    let note = "Requests and responses in bytes as dyno hands them on and takes them. Segments are those of \
                TCP on dyno's own connections; what is not with data acknowledges, and carries nothing.";
    let absences = messages::absences(digest).join(" ");
    let note = paragraph(format!("{note} {} {absences}", messages::ROUND_TRIP).trim_end());
    let body = format!("{}{note}", folded(&messages, &digest.under_test()));
    section("messages", "Messages between dyno and the systems", &body)
}

fn ceilings(digest: &Digest<'_>) -> String {
    let ceilings = ceiling::by_trial(digest);
    if ceilings.is_empty() {
        return String::new();
    }
    let table = folded(&ceilings, &digest.under_test());
    section("ceilings", ceiling::TITLE, &format!("{table}{}", paragraph(ceiling::NOTE)))
}

fn servers(digest: &Digest<'_>) -> String {
    let servers = crate::watch::servers(digest);
    if servers.is_empty() {
        return String::new();
    }
    let note = "Means over the measured time, with the highest second beside them; of runnable threads, \
                which run or wait for a CPU, the highest of all looks. The host's CPU is that of all its \
                programs. The trials have more figures, and plots.";
    let of = crate::watch::servers_note(digest).unwrap_or_default();
    let note = paragraph(&format!("{of} {note}"));
    let body = format!("{}{note}", folded(&servers, &digest.under_test()));
    section("servers", "What the servers took", &body)
}

fn server_costs(digest: &Digest<'_>) -> String {
    let costs = crate::watch::cost::by_point(digest);
    if costs.is_empty() {
        return String::new();
    }
    let note = "Means over the measured time, divided by the statements that were answered in it; a kB is \
                1,000 bytes. Of a host, with everything that runs on it.";
    let body = format!("{}{}", folded(&costs, &digest.under_test()), paragraph(note));
    section("server-costs", "What a query cost the servers", &body)
}

/// Appends the section of the trials, nearly all of a large page, which is therefore not copied.
fn trials(digest: &Digest<'_>, out: &mut String) {
    if digest.trials.is_empty() {
        return;
    }
    let open = digest.trials.len() <= OPEN_TRIALS_MAX;
    out.push_str("<section id=\"trials\">\n<h2>Trials</h2>\n");
    for (at, trial) in digest.trials.iter().enumerate() {
        out.push_str(&one_trial(digest, trial, at, open));
    }
    out.push_str("</section>\n");
}

fn one_trial(digest: &Digest<'_>, trial: &Trial<'_>, at: usize, open: bool) -> String {
    let header = &trial.record.header;
    let rate = crate::number::number(trial.summary.transactions_per_s);
    let (status, validity) = (trial.status(), trial.validity().name());
    let title = digest.name_of(trial);
    let under_test = header.identity.title();
    let mut out = format!(
        "<details class=\"trial\"{}>\n<summary><span>{}</span> <span class=\"status {status}\">\
         {status}</span> <span class=\"status {validity}\">{validity}</span> \
         <span class=\"rate\">{rate} tps</span></summary>\n",
        if open { " open=\"open\"" } else { "" },
        escape(&title),
    );
    if let Some(reason) = trial.reason() {
        out.push_str(&format!("<p class=\"reason\">{}</p>\n", escape(reason)));
    }
    out.push_str(&findings(trial));
    let charts = over_time::of_trial(digest, trial);
    out.push_str(&figures(&charts.first, &format!("t{at}")));
    out.push_str(&folded_figures(&charts.more, &format!("m{at}"), trial));
    let caption = caption(&title, &under_test);
    out.push_str(&table(&operations::of_trial(digest, trial), &caption));
    let percentiles = &digest.run.header.percentiles;
    out.push_str(&table(&generators::of_trial(trial, percentiles), generators::TITLE));
    out.push_str("<div class=\"side\">\n<div class=\"column\">\n");
    out.push_str(&table(&confidence::of_trial(trial), "95 % intervals"));
    out.push_str(&table(&confidence::of_operations(trial), "95 % intervals of operations"));
    let note = confidence::of_trial_note(trial);
    out.push_str(&note.map_or(String::new(), |text| paragraph(&text)));
    out.push_str(&table(&tables::facts(trial), "Figures"));
    for host in trial.hosts() {
        let caption = crate::watch::host_caption(&host);
        out.push_str(&table(&crate::watch::host(trial, &host), &caption));
    }
    out.push_str("</div>\n<div class=\"column\">\n");
    out.push_str(&table(&tables::errors(trial), "Failures by kind"));
    let (outages, caption) = spans::outages(trial);
    out.push_str(&table(&outages, &caption));
    out.push_str(&table(&member_exits::table(trial), "Servers that exited"));
    let (stalls, caption) = spans::stalls(trial);
    out.push_str(&table(&stalls, &caption));
    out.push_str(&table(&rules::condition_table(trial, false), "Conditions on the data"));
    out.push_str(&folded(&rules::condition_table(trial, true), "Answers"));
    out.push_str(&table(&cross_check::table(trial), "Cross-check with the server"));
    out.push_str(&cross_check::missing(trial).map_or(String::new(), |text| paragraph(&text)));
    out.push_str(&table(&tables::cost_facts(trial), "Cost"));
    out.push_str(&tables::usage_text(trial).map_or(String::new(), |text| paragraph(&text)));
    out.push_str(&table(&crate::watch::cost::table(trial), "Cost to the servers"));
    out.push_str(&table(&messages::of_trial(trial), "Messages"));
    out.push_str(&messages::note(trial).map_or(String::new(), |text| paragraph(&text)));
    out.push_str(&table(&tables::phases(trial), "Phases"));
    out.push_str("</div>\n</div>\n");
    out.push_str(&folded(&turns::table(trial), "When each transaction ran"));
    out.push_str(&own_metrics(trial, at));
    out.push_str(&plans(trial));
    out.push_str(&logs(trial));
    out.push_str("</details>\n");
    out
}

fn plans(trial: &Trial<'_>) -> String {
    let plans = trial.record.plans.iter().map(|plan| {
        let (name, text) = (escape(&plan.operation), escape(&plan.text));
        format!("<details><summary>Plan of {name}</summary>\n<pre>{text}</pre>\n</details>\n")
    });
    plans.collect()
}

/// The ends of the logs of servers that exited.
fn logs(trial: &Trial<'_>) -> String {
    let log = |(title, text): (String, &str)| {
        let (title, text) = (escape(&title), escape(text));
        format!("<details><summary>{title}</summary>\n<pre>{text}</pre>\n</details>\n")
    };
    member_exits::logs(trial).map(log).collect()
}

/// Panels of the servers' metrics, and the reasons for those that are missing.
fn own_metrics(trial: &Trial<'_>, at: usize) -> String {
    let panels = crate::panels::of_trial(trial);
    let charts = over_time::of_servers(trial, &panels);
    let figures = folded_figures(&charts, &format!("s{at}"), trial);
    let absent: String = panels.absent.iter().map(|text| paragraph(text)).collect();
    if figures.is_empty() && absent.is_empty() {
        return String::new();
    }
    format!("<h3>What the servers report</h3>\n{figures}{absent}")
}

fn figures(charts: &[Chart], id: &str) -> String {
    let charts = charts.iter().enumerate();
    let figures: String = charts.map(|(at, chart)| chart.html(&format!("{id}-{at}"))).collect();
    format!("<div class=\"plots\">\n{figures}</div>\n")
}

/// Plots of a trial that are collapsed, with their names; empty when there are none.
fn folded_figures(charts: &[Chart], id: &str, trial: &Trial<'_>) -> String {
    if charts.is_empty() {
        return String::new();
    }
    let trial = format!("{}: ", trial.name());
    let names = charts.iter().map(|chart| chart.title.strip_prefix(&trial).unwrap_or(&chart.title));
    let names: Vec<&str> = names.collect();
    format!(
        "<details><summary>{}: {}</summary>\n{}</details>\n",
        several(charts.len() as u64, "more plot", "more plots"),
        escape(&names.join("; ")),
        figures(charts, id)
    )
}

fn environment_section(digest: &Digest<'_>) -> String {
    let body = [
        table(&settings::systems(digest), "Systems under test"),
        table(&settings::system_settings(digest), "Their settings"),
        table(&settings::workloads(digest), "Workloads"),
        table(&settings::environment(digest.run), "Machine"),
        table(&settings::run(digest.run), "Run"),
    ]
    .concat();
    section("machine", "Systems and machine", &format!("<div class=\"side\">\n{body}</div>\n"))
}

fn again(run: &Run) -> String {
    let body = format!(
        "<pre><code>{}</code></pre>\n<details><summary>The plan, {}</summary>\n\
         <pre><code>{}</code></pre>\n</details>\n",
        escape(&run.header.command),
        escape(&run.header.plan_origin),
        escape(run.shown_plan().trim_end())
    );
    section("again", "To do it again", &body)
}

#[cfg(test)]
mod tests;
