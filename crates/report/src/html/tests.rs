//! Checks that pages are well-formed for every kind of record.

use measure::{MemberExit, Quantity};
use record::{Run, RunStatus};

use super::frame::SCRIPT;
use super::*;
use crate::Reading;
use crate::digest::Digest;
use crate::panels::{DrawnPanel, Panels};
use crate::plots::{frame, over_run, over_time};
use crate::sample;
use crate::svg::{Axis, BandFill, Chart};

/// Checks that tags open and close in pairs, attributes are quoted and texts escaped; returns the names of the
/// tags.
fn check_well_formed(page: &str) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    let mut names = Vec::new();
    let body = page.strip_prefix("<!DOCTYPE html>").expect("a page begins with its type");
    let style_end = body.find("</style>").unwrap();
    let style_start = body.find("<style>").unwrap() + "<style>".len();
    let body = format!("{}{}", &body[..style_start], &body[style_end..]);
    let packed =
        body.find("<script type=").map(|from| from..from + body[from..].find("</script>").unwrap());
    let body = match packed {
        Some(packed) => {
            format!("{}{}", &body[..packed.start], &body[packed.end + "</script>".len()..])
        }
        None => body,
    };
    let script = format!("<script>\n{SCRIPT}</script>\n");
    assert_eq!(body.matches(&script).count(), 1, "the page's own script");
    let body = body.replace(&script, "");
    for piece in body.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').unwrap_or_else(|| panic!("open tag: <{piece}"));
        assert!(!text.contains('>'), "unescaped text: {text}");
        assert_eq!(tag.matches('"').count() % 2, 0, "quotes: <{tag}>");
        for entity in text.split('&').skip(1) {
            let name = entity.split(';').next().unwrap();
            assert!(["amp", "lt", "gt", "quot", "#39"].contains(&name), "entity: &{entity}");
        }
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "closing </{name}> in {piece}");
        } else if !tag.ends_with('/') {
            let name = tag.split_whitespace().next().unwrap().to_owned();
            names.push(name.clone());
            open.push(name);
        }
    }
    assert_eq!(open, Vec::<String>::new());
    names
}

fn ids(page: &str) -> Vec<&str> {
    page.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

/// Writes a page of every kind for inspection when DYNO_SAMPLE_PAGES names a folder.
#[test]
fn every_kind_of_run_has_a_page_of_its_own() {
    use crate::history::tests::explained_runs;
    let runs = [
        ("systems", sample::run()),
        ("sweep", sample::quick()),
        ("repeated", sample::large()),
        ("variants", sample::variants()),
        ("open", sample::open()),
        ("seek", sample::sought(20e6, 1.0, 1_024.0)),
        ("seek-unknown", sample::sought(1e6, 1.0, 64.0)),
        ("turns", sample::kept_turns(3)),
        ("failed", sample::failed()),
        ("stalled", sample::stalled()),
        ("long", sample::long()),
        ("watched", sample::watched()),
        ("generators", sample::lost_generator()),
        ("compared", sample::compared()),
    ];
    let mut pages: Vec<(&str, String)> =
        runs.iter().map(|(name, run)| (*name, html(&Reading::new(run)))).collect();
    pages.push(("history", explained_runs().html()));
    for (name, page) in pages {
        check_well_formed(&page);
        if let Some(folder) = std::env::var_os("DYNO_SAMPLE_PAGES") {
            std::fs::write(std::path::Path::new(&folder).join(name).with_extension("html"), page)
                .unwrap();
        }
    }
}

#[test]
fn the_page_of_a_small_run_is_well_formed() {
    let page = crate::whole_html(&Reading::new(&sample::run()));
    let tags = check_well_formed(&page);
    // Three plots and two cards for each of two workloads, three plots for each of eight trials.
    assert_eq!(tags.iter().filter(|tag| *tag == "figure").count(), 2 * 3 + 8 * 3 + 4);
    assert_eq!(page.matches("<tr data-part=\"").count(), 8 + 1, "and the script's own");
}

#[test]
fn the_page_of_a_run_that_lost_a_generator_is_well_formed() {
    let page = crate::whole_html(&Reading::new(&sample::lost_generator()));
    check_well_formed(&page);
}

#[test]
fn the_page_of_an_open_loop_shows_offered_rates_and_service_times() {
    let page = crate::whole_html(&Reading::new(&sample::open()));
    let tags = check_well_formed(&page);
    // Three plots and two cards of the workload, three plots for each of five trials.
    assert_eq!(tags.iter().filter(|tag| *tag == "figure").count(), 3 + 2 + 5 * 3);
    for text in [
        "throughput against offered rate",
        "64 clients, 800/s: response",
        "64 clients, 800/s: service",
        "service times, from the actual start",
        "64 clients, 500 to 1700/s",
        "Less was answered than was offered",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn the_page_of_a_large_run_is_well_formed_and_bounded_in_size() {
    let page = crate::whole_html(&Reading::new(&sample::large()));
    check_well_formed(&page);
    assert!(page.len() < 4 << 20, "{} bytes", page.len());
}

#[test]
fn the_page_of_one_system_is_well_formed() {
    let page = crate::whole_html(&Reading::new(&sample::quick()));
    check_well_formed(&page);
    // Labels of dots in latency against throughput are numbers of clients.
    assert!(page.contains("text-anchor=\"middle\">8</text>"));
    assert!(!page.contains("text-anchor=\"middle\">8.00</text>"));
}

#[test]
fn systems_at_one_number_of_clients_stand_side_by_side() {
    let page = crate::whole_html(&Reading::new(&sample::compared()));
    check_well_formed(&page);
    assert!(page.contains("oltp_read_write: throughput of 16 clients"));
    assert!(!page.contains("throughput against clients"));
    assert_eq!(page.matches("class=\"bar c").count(), 2);
}

#[test]
fn ids_are_unique_and_links_resolve() {
    let page = crate::whole_html(&Reading::new(&sample::run()));
    let ids = ids(&page);
    let mut unique = ids.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), ids.len());
    let markup = page.split_once("<script>").unwrap().0;
    for link in markup.split("href=\"#").skip(1) {
        let target = link.split('"').next().unwrap();
        assert!(ids.contains(&target), "{target}");
    }
}

#[test]
fn every_plot_names_the_version_and_storage_under_test() {
    let page = crate::whole_html(&Reading::new(&sample::run()));
    for caption in page.split("<figcaption>").skip(1) {
        let caption = caption.split("</figcaption>").next().unwrap();
        let names_one = caption.contains("SQLite 3.50.2, file, WAL");
        let names_other = caption.contains("MariaDB 10.11.6, InnoDB");
        assert!(names_one || names_other, "{caption}");
    }
}

#[test]
fn markup_in_names_is_escaped() {
    let mut run = sample::run();
    let evil = "<script>alert(1)</script>\"'&";
    run.header.title = Some(evil.to_owned());
    run.header.command = evil.to_owned();
    run.status = RunStatus::Failed(evil.to_owned());
    for trial in &mut run.trials {
        trial.header.system = evil.to_owned();
        trial.header.identity.storage = evil.to_owned();
        trial.header.operations[1].name = evil.to_owned();
    }
    let page = crate::whole_html(&Reading::new(&run));
    check_well_formed(&page);
    assert_eq!(page.matches("<script").count(), 1, "the page's own script");
    let mut run = sample::compared();
    run.trials.iter_mut().for_each(|trial| trial.header.system.push_str(evil));
    let page = crate::whole_html(&Reading::new(&run));
    check_well_formed(&page);
    assert_eq!(page.matches("<script").count(), 1, "names on an axis are escaped too");
}

#[test]
fn empty_runs_have_a_page() {
    let mut run = sample::run();
    run.trials.iter_mut().for_each(|trial| trial.intervals.clear());
    check_well_formed(&crate::whole_html(&Reading::new(&run)));
    run.trials[0].end = None;
    run.trials.truncate(1);
    run.status = RunStatus::Cut;
    check_well_formed(&crate::whole_html(&Reading::new(&run)));
    run.trials.clear();
    let page = crate::whole_html(&Reading::new(&run));
    assert!(page.contains("no trial was begun"));
}

#[test]
fn an_unknown_system_under_test_leaves_no_stray_colon() {
    let run = sample::failed();
    let page = crate::whole_html(&Reading::new(&run));
    assert!(!page.contains(": </"), "{page}");
    assert!(page.contains("measured for</td><td class=\"w\">0 s</td>"), "{page}");
}

/// Half of the transactions of a constant rate were never sent.
#[test]
fn bounds_have_arrows_and_a_remark_in_every_plot() {
    let mut run = sample::open();
    let plain = crate::whole_html(&Reading::new(&run));
    assert!(!plain.contains("An arrow: this or more"));
    let trial = &mut run.trials[3];
    let answered = trial.total.transactions;
    let edges = &mut trial.end.as_mut().unwrap().edges;
    (0..answered).for_each(|_| edges.unsent.record(2_000_000_000));
    let page = crate::whole_html(&Reading::new(&run));
    check_well_formed(&page);
    // Every percentile above the half is a bound; p50 is not: half were answered sooner.
    assert_eq!(page.matches("An arrow: this or more").count(), 1);
    let count = crate::number::count(answered);
    let remark = format!("Without {count} transactions that were never answered");
    assert_eq!(page.matches(&remark).count(), 2, "the spectra of the workload and of the trial");
    assert!(page.contains("p99 \u{2265} 2.00 s at"), "the tooltip of the dot");
    assert!(page.contains("\u{2265} 2,001</td>"), "the table");
}

#[test]
fn a_bar_that_ends_out_of_the_plot_has_an_arrow_and_a_remark() {
    let mut run = sample::compared();
    run.trials.retain(|trial| trial.header.repetition < 2);
    assert!(!crate::whole_html(&Reading::new(&run)).contains("An arrow at the end of a bar"));
    run.trials[0].total.transactions /= 3;
    let page = crate::whole_html(&Reading::new(&run));
    check_well_formed(&page);
    assert!(page.contains("An arrow at the end of a bar: the 95 % interval goes on"));
}

#[test]
fn the_spectrum_of_a_trial_has_the_latencies_of_its_tables() {
    let mut run = sample::run();
    run.trials.truncate(1);
    let trial = &mut run.trials[0];
    trial.total.operations[0].timed_out.record(60_000_000_000);
    let edges = &mut trial.end.as_mut().unwrap().edges;
    edges.drain.operations[1].succeeded.record(30_000_000_000);
    let digest = Digest::new(&run);
    let trial = &digest.trials[0];
    let charts = over_time::of_trial(&digest, trial);
    let spectrum = charts.first.last().unwrap();
    let highest = |line: usize| spectrum.series[line].dots.last().unwrap().y;
    for (line, operation) in trial.summary.operations.iter().enumerate() {
        assert_eq!(highest(line), operation.latency.max_ns as f64, "{}", operation.name);
    }
    assert!(highest(0) > 59e9 && (29e9..31e9).contains(&highest(1)));
}

#[test]
fn a_spectrum_over_repetitions_says_that_it_pools_them() {
    let pooled = "The lines are of all repetitions that count, taken together";
    assert!(crate::whole_html(&Reading::new(&sample::compared())).contains(pooled));
    assert!(!crate::whole_html(&Reading::new(&sample::quick())).contains(pooled));
}

#[test]
fn every_plot_over_the_time_of_one_client_has_its_transactions_as_bands() {
    let run = sample::kept_turns(1);
    let digest = Digest::new(&run);
    let trial = &digest.trials[0];
    let end = frame::Frame::of(trial).unwrap().end;
    let over_time = over_time::of_trial(&digest, trial);
    let over_time = over_time.first.into_iter().chain(over_time.more);
    let over_time = over_time.filter(|chart| chart.x == Axis::seconds(end));
    let panel = DrawnPanel {
        source: "store".to_owned(),
        what: "tasks".to_owned(),
        quantity: Quantity::PerSecond,
        lines: vec![("reads".to_owned(), Vec::new())],
        left_out: 0,
    };
    let panels = Panels { drawn: vec![panel], absent: Vec::new() };
    let charts: Vec<Chart> = over_time.chain(over_time::of_servers(trial, &panels)).collect();
    assert!(charts.len() > 8, "lanes, throughput, latency and figures of hosts and servers");
    for chart in &charts {
        let bands = chart.bands.iter();
        let bands: Vec<_> =
            bands.map(|band| (band.from, band.to, band.label.as_str(), band.fill)).collect();
        let wanted = [(0.0, 1.0, "Q1", BandFill::Even), (1.0, 2.0, "Q2", BandFill::Failed)];
        assert_eq!(bands, wanted, "{}", chart.title);
    }
    let with_lanes: Vec<usize> = (0..charts.len())
        .filter(|at| charts[*at].bands.iter().all(|band| band.lane.is_some()))
        .collect();
    assert_eq!(with_lanes, [0, charts.len() - 2], "above the trial's plots and the servers'");
}

/// Two systems at eight numbers of clients.
fn many_levels() -> Run {
    let mut run = sample::run();
    let firsts: Vec<_> = [0, 4].map(|at| run.trials[at].clone()).into();
    run.trials.clear();
    for first in &firsts {
        for level in 0..8 {
            let mut trial = first.clone();
            trial.header.clients = 1 << level;
            run.trials.push(trial);
        }
    }
    run
}

#[test]
fn plots_that_leave_something_out_say_what() {
    let run = many_levels();
    let reading = Reading::new(&run);
    let digest = &reading.digest;
    let charts = over_run::of_workload(digest, &reading.sweeps, "oltp_point_select");
    let remark = |what: &str| {
        let title = format!("oltp_point_select: {what}");
        charts.iter().find(|chart| chart.title == title).unwrap().remark.as_str()
    };
    assert_eq!(remark("throughput against clients"), "");
    let percentiles = "Shown: p50, p99. The table of results also has p95, p99.9.";
    assert_eq!(remark("latency against throughput"), percentiles);
    assert_eq!(
        remark("latency by percentile"),
        "Shown are 6 of 16 points: 1 client; 16 clients; 128 clients. The table of results has percentiles of all."
    );
    let page = crate::whole_html(&reading);
    assert!(page.contains(percentiles));
}

#[test]
fn a_sweep_over_rates_counts_the_points_with_fewer_clients() {
    let mut run = sample::open();
    run.trials[0].header.clients = 2;
    let page = crate::whole_html(&Reading::new(&run));
    assert!(page.contains("Points with fewer clients are left out, 1 of them;"));
}

#[test]
fn twelve_operations_have_twelve_kinds_of_lines() {
    let mut run = sample::run();
    run.trials.truncate(1);
    let trial = &mut run.trials[0];
    let kind = measure::OperationKind::Transaction;
    trial.header.operations =
        (1..=12).map(|at| measure::Operation::new(format!("o{at}"), kind)).collect();
    trial.total = measure::Tally::new(12);
    trial.end.as_mut().unwrap().edges = measure::Edges::new(12);
    for at in 0..12 {
        trial.total.success(measure::OperationId(at), kind, 1_000_000 * (u64::from(at) + 1));
    }
    let reading = Reading::new(&run);
    let page = crate::whole_html(&reading);
    let mut figures = page.split("<figure");
    let spectrum = figures.find(|it| it.contains("1 client: latency by percentile")).unwrap();
    let spectrum = spectrum.split_once("aria-label").unwrap().1;
    let lines: std::collections::BTreeSet<(&str, &str)> = spectrum
        .split("<path class=\"line ")
        .skip(1)
        .map(|line| {
            let line = line.split_once("/>").unwrap().0;
            let dash = line.split_once("stroke-dasharray=").map_or("", |(_, dash)| dash);
            (line.split('"').next().unwrap(), dash)
        })
        .collect();
    assert_eq!(lines.len(), 12, "{lines:?}");
}

#[test]
fn plots_of_hosts_are_folded_but_for_the_one_that_shows_the_limit() {
    let page = crate::whole_html(&Reading::new(&sample::watched()));
    check_well_formed(&page);
    let parts = packed::parts(&html(&Reading::new(&sample::watched())));
    let trial = parts.iter().find(|part| part.contains("throughput over time")).unwrap();
    let (open, folded) = trial.split_once("<details><summary>").unwrap();
    let titles = |part: &str| -> Vec<String> {
        let titles = part.split("<figcaption>").skip(1);
        let name = |title: &str| title.split("<small>").next().unwrap().to_owned();
        titles.map(name).map(|it| it.rsplit(": ").next().unwrap().to_owned()).collect()
    };
    let first = ["throughput over time", "latency over time", "latency by percentile"];
    assert_eq!(titles(open)[..3], first);
    assert_eq!(titles(open)[3..], ["CPU by process of pioneer"]);
    let folded = folded.split_once("</details>").unwrap().0;
    let names = titles(folded);
    assert!(names.contains(&"TCP segments of dyno&#39;s connections".to_owned()), "{names:?}");
    let summary = format!("{} more plots: {}</summary>", names.len(), names.join("; "));
    assert!(folded.starts_with(&summary), "{folded}");
}

#[test]
fn lines_that_are_zero_throughout_are_named() {
    let page = crate::whole_html(&Reading::new(&sample::watched()));
    assert!(page.contains(
        "Zero throughout: kernel, interrupts, waiting for disks, taken by the hypervisor."
    ));
}

#[test]
fn many_findings_of_one_kind_do_not_bury_the_plots_of_a_trial() {
    let mut run = sample::run();
    run.trials.truncate(1);
    let trial = &mut run.trials[0];
    let kind = measure::OperationKind::Transaction;
    trial.header.operations =
        (1..=22).map(|at| measure::Operation::new(format!("Q{at}"), kind)).collect();
    trial.total = measure::Tally::new(22);
    trial.end.as_mut().unwrap().edges = measure::Edges::new(22);
    (0..22).for_each(|at| trial.total.success(measure::OperationId(at), kind, 1_000_000));
    let page = crate::whole_html(&Reading::new(&run));
    check_well_formed(&page);
    let parts = packed::parts(&html(&Reading::new(&run)));
    let trial = parts.iter().find(|part| part.contains("throughput over time")).unwrap();
    let (findings, _) = trial.split_once("<figure").unwrap();
    assert_eq!(findings.matches("High percentiles rest on few values").count(), 1, "{findings}");
    assert!(findings.contains("<summary>22 places</summary>"), "{findings}");
}

#[test]
fn every_plot_over_time_marks_the_servers_that_exited() {
    let mut run = sample::kept_turns(2);
    let exit = |member: &str, at_ns| MemberExit {
        member: member.to_owned(),
        at_ns,
        status: "exit status: 1".to_owned(),
        ..MemberExit::default()
    };
    let late = run.trials[0].intervals.last().unwrap().end_ns + 1;
    run.trials[0].member_exits = vec![
        exit("store-2", Some(1_345_678_901)),
        exit("store-3", None),
        exit("store-1", Some(late)),
    ];
    let reading = Reading::new(&run);
    let digest = &reading.digest;
    let charts = over_time::of_trial(digest, &digest.trials[0]);
    let (spectra, over_time): (Vec<&Chart>, Vec<&Chart>) = charts
        .first
        .iter()
        .chain(&charts.more)
        .partition(|chart| chart.title.contains("by percentile"));
    assert!(spectra.iter().all(|chart| chart.moments.is_empty()));
    assert!(over_time.len() > 4, "{}", over_time.len());
    for chart in over_time {
        let labels: Vec<(f64, &str)> =
            chart.moments.iter().map(|moment| (moment.x, moment.label.as_str())).collect();
        assert_eq!(labels, [(1.345_678_901, "store-2 exited"), (0.0, "store-3 exited")]);
        let drawn = chart.html("x");
        assert!(drawn.contains(">store-2 exited</text>"), "{drawn}");
        assert!(drawn.contains("<title>store-2 exited at 1.346 s: exit status: 1</title>"));
    }
    let page = crate::whole_html(&reading);
    check_well_formed(&page);
}

#[test]
fn loads_with_single_trials_have_bars_on_plots() {
    let run = sample::long();
    let digest = Digest::new(&run);
    let charts = over_run::of_workload(&digest, &[], digest.workloads()[0]);
    let with_bars = |title: &str| {
        let chart = charts.iter().find(|chart| chart.title.contains(title)).unwrap();
        chart.series.iter().flat_map(|line| &line.dots).filter(|dot| dot.error.is_some()).count()
    };
    assert_eq!(with_bars("throughput against clients"), 2);
    // Four percentiles under two loads.
    assert_eq!(with_bars("latency against throughput"), 8);
    let page = html(&Reading::new(&run));
    assert_eq!(page.matches("Bars: 95 % intervals are each within").count(), 1, "in Method alone");
}

#[test]
fn the_page_of_a_history_is_well_formed() {
    use crate::history::tests::explained_runs;
    let page = explained_runs().html();
    let tags = check_well_formed(&page);
    // Throughput and four percentiles.
    assert_eq!(tags.iter().filter(|tag| *tag == "figure").count(), 5);
    assert!(page.contains("from 2026-08-07 12:00:00 UTC, results/run-08"), "{page}");
}
