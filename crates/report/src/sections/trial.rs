//! Everything that the record says of one trial.

use crate::digest::titles::caption;
use crate::digest::{Digest, Trial};
use crate::document::{Block, Content, Fold, Item, TrialPart, Weight};
use crate::number::{bounded, latency, number};
use crate::plots::over_time;
use crate::table::Table;
use crate::{
    conclusion, confidence, cross_check, failures, finding, generators, member_exits, messages,
    operations, panels, rules, server_actions, spans, tables, turns, watch,
};

pub(super) fn part<'d>(digest: &'d Digest<'_>, at: usize) -> TrialPart<'d> {
    let trial = &digest.trials[at];
    let name = digest.name_of(trial);
    let mut blocks = Vec::new();
    blocks.extend(findings(trial));
    let charts = over_time::of_trial(digest, trial);
    blocks.extend(Block::charts(format!("t{at}"), charts.first, Fold::Open));
    blocks.extend(Block::charts(format!("m{at}"), charts.more, Fold::Closed));
    let of_trial = caption(&name, &trial.record.header.identity.title());
    blocks.extend(table(of_trial, operations::of_trial(digest, trial)));
    let percentiles = &digest.run.header.percentiles;
    blocks.extend(table(generators::TITLE, generators::of_trial(trial, percentiles)));
    let columns = [figures(trial), events(trial)];
    blocks.push(Block::new(Weight::Page, Content::Columns(columns)));
    blocks.extend(long("When each transaction ran", turns::table(trial)));
    blocks.extend(own_metrics(trial, at));
    let plans = trial.record.plans.iter();
    blocks
        .extend(plans.map(|it| Block::text(format!("Plan of {}", it.operation), "text", &it.text)));
    let logs = member_exits::logs(trial);
    blocks.extend(logs.map(|(title, text)| Block::text(title, "text", text)));
    TrialPart {
        status: trial.status(),
        validity: trial.validity().name(),
        rate: number(trial.summary.transactions_per_s),
        p99: p99(trial),
        why: conclusion::all_reasons(trial),
        reason: trial.reason(),
        name,
        blocks,
    }
}

fn p99(trial: &Trial<'_>) -> String {
    let known = trial.summary.latency.known().map(|known| known.percentile(99.0));
    known.map_or("-".to_owned(), |(value_ns, is_bound)| bounded(latency(value_ns), is_bound))
}

fn table<'d>(caption: impl Into<String>, table: Table) -> Option<Block<'d>> {
    Block::table(Weight::Page, Some(caption.into()), table, Fold::Open)
}

/// A table that is collapsed when it is long.
fn long<'d>(caption: &str, table: Table) -> Option<Block<'d>> {
    Block::table(Weight::Page, Some(caption.to_owned()), table, Fold::Long)
}

fn fact<'d>(text: String) -> Block<'d> {
    Block::new(Weight::Page, Content::Fact(text))
}

fn findings<'d>(trial: &Trial<'_>) -> Option<Block<'d>> {
    let item = |group: finding::Group| {
        let head = match group.places.as_slice() {
            [only] if !only.is_empty() => format!("{} ({only})", group.title()),
            _ => group.title(),
        };
        let places = if group.places.len() > 1 { group.places } else { Vec::new() };
        Item { head, text: format!("{}.", group.meaning), rule: group.rule, places, link: None }
    };
    let items: Vec<Item> = finding::of_trial(trial).into_iter().map(item).collect();
    (!items.is_empty()).then(|| Block::new(Weight::Page, Content::List(items)))
}

fn figures<'d>(trial: &Trial<'_>) -> Vec<Block<'d>> {
    let mut all = Vec::new();
    all.extend(table("95 % intervals", confidence::of_trial(trial)));
    all.extend(table("95 % intervals of operations", confidence::of_operations(trial)));
    all.extend(confidence::of_trial_note(trial).map(fact));
    all.extend(table("Figures", tables::facts(trial)));
    for host in trial.hosts() {
        all.extend(table(watch::host_caption(&host), watch::host(trial, &host)));
    }
    all
}

/// What happened, what was checked, and what it cost.
fn events<'d>(trial: &Trial<'_>) -> Vec<Block<'d>> {
    let mut all = Vec::new();
    all.extend(table("Failures by kind", failures::of_trial(trial)));
    let (outages, caption) = spans::outages(trial);
    all.extend(table(caption, outages));
    all.extend(table("Servers that exited", member_exits::table(trial)));
    all.extend(long("What servers did", server_actions::table(trial)));
    let (stalls, caption) = spans::stalls(trial);
    all.extend(table(caption, stalls));
    all.extend(table("Conditions on the data", rules::condition_table(trial, false)));
    all.extend(long("Answers", rules::condition_table(trial, true)));
    all.extend(table("Cross-check with the server", cross_check::table(trial)));
    all.extend(cross_check::missing(trial).map(fact));
    all.extend(table("Cost", tables::cost_facts(trial)));
    all.extend(tables::usage_text(trial).map(fact));
    all.extend(table("Cost to the servers", watch::cost::table(trial)));
    all.extend(table("Messages", messages::of_trial(trial)));
    all.extend(messages::note(trial).map(fact));
    all.extend(table("Phases", tables::phases(trial)));
    all
}

/// Panels of the servers' metrics, and the reasons for those that are missing.
fn own_metrics<'d>(trial: &Trial<'_>, at: usize) -> Vec<Block<'d>> {
    let panels = panels::of_trial(trial);
    let charts = over_time::of_servers(trial, &panels);
    let mut blocks = Vec::from_iter(Block::charts(format!("s{at}"), charts, Fold::Closed));
    blocks.extend(panels.absent.into_iter().map(fact));
    if !blocks.is_empty() {
        let heading = Content::Heading("What the servers report".to_owned());
        blocks.insert(0, Block::new(Weight::Page, heading));
    }
    blocks
}
