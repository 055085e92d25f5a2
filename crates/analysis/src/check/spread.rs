//! Distribution of load over the servers of a cluster: whether one takes far more than its share, and whether
//! one with load is not watched.

use std::collections::BTreeMap;

use measure::{MemberList, Server, ServerKind, SharedLoad, Watched};

use crate::members::{Member, is_watched, listed};
use crate::metrics::{evaluate, merged, of_kind};
use crate::{Code, Finding, HotSpot, SampleWindow, Subject, Value, Window, hottest, mean_peak};

/// Every load that is concentrated on one of several servers.
pub(super) fn uneven(watched: &Watched, window: Window) -> Vec<Finding> {
    let mut found = Vec::new();
    for kind in &watched.kinds {
        let servers = of_kind(&watched.kinds, &kind.name, &watched.servers);
        let all = merged(&servers);
        for load in &kind.shared {
            let names = servers.iter().map(|server| server.name.clone()).collect();
            let away = servers.iter().filter(|server| is_away(server));
            let away: Vec<String> = away.map(|server| server.name.clone()).collect();
            let hot = hot(load, &all, names, window);
            found.extend(hot.map(|it| finding(load, &it, it.name.clone(), &away)));
        }
        if let Some(list) = &kind.members {
            found.extend(uneven_members(list, watched, window));
            let counted = list.counted.iter();
            found.extend(counted.filter_map(|load| uneven_of(list, load, &all, watched, window)));
        }
    }
    found
}

/// Whether a server did not answer any more when the trial ended, or never had.
fn is_away(server: &Server) -> bool {
    let last_gap_ns = server.gaps.last().map(|gap| gap.at_ns);
    server.answers_ns.last().is_none_or(|answer_ns| last_gap_ns > Some(*answer_ns))
}

/// Load that is concentrated on one member of a list. Metrics identify members by their numbers.
fn uneven_members(list: &MemberList, watched: &Watched, window: Window) -> Option<Finding> {
    let servers = of_kind(&watched.kinds, &list.load_reported_by, &watched.servers);
    uneven_of(list, &list.load, &merged(&servers), watched, window)
}

/// The same of one load, as one server or several together have counted it.
fn uneven_of(
    list: &MemberList,
    load: &SharedLoad,
    counted_by: &Server,
    watched: &Watched,
    window: Window,
) -> Option<Finding> {
    let members = listed(list, &watched.servers);
    let ids = members.iter().filter(|it| it.is_up()).map(|it| it.id.to_owned()).collect();
    let hot = hot(load, counted_by, ids, window)?;
    let number = &hot.name;
    let name = |member: &Member<'_>| format!("{} {} ({})", list.member, member.id, member.address);
    let found = members.iter().find(|it| it.id == number);
    let hot_name = found.map_or_else(|| format!("{} {number}", list.member), name);
    // The list may not know yet that a member has died whose own page does not answer any more.
    let pages = of_kind(&watched.kinds, &list.kind, &watched.servers);
    let away = members.iter().filter(|it| it.is_away()).map(name);
    let pages = pages.into_iter().filter(|server| is_away(server)).map(|it| it.name.clone());
    let mut away: Vec<String> = away.collect();
    if away.is_empty() {
        away.extend(pages);
    }
    Some(finding(load, &hot, hot_name, &away))
}

fn hot(load: &SharedLoad, server: &Server, names: Vec<String>, window: Window) -> Option<HotSpot> {
    hottest(&shares(names, evaluate(&load.query, server), window), load.least)
}

/// The server with the most load; or, when others were away, these: then it has their load because of that.
fn finding(load: &SharedLoad, hot: &HotSpot, name: String, away: &[String]) -> Finding {
    let finding = match away {
        [] => Finding::about(Subject::Server(name), Code::LoadUneven),
        _ => Finding::about(Subject::Server(away.join(", ")), Code::ServerAway)
            .with("busiest", Value::Text(name)),
    };
    finding
        .with("what", Value::Text(load.what.clone()))
        .with("share", Value::Part(hot.share))
        .with("even_share", Value::Part(hot.fair_share))
}

/// The mean of each over the measured time; zero for a name without figures.
fn shares(
    names: Vec<String>,
    groups: BTreeMap<String, Vec<SampleWindow>>,
    window: Window,
) -> Vec<(String, f64)> {
    let mut all: Vec<(String, f64)> = names.into_iter().map(|name| (name, 0.0)).collect();
    for (name, sample_windows) in groups {
        let mean = mean_peak(&sample_windows, window).map_or(0.0, |figures| figures.mean);
        match all.iter_mut().find(|(known, _)| *known == name) {
            Some((_, amount)) => *amount = mean,
            None => all.push((name, mean)),
        }
    }
    all
}

/// Members of a cluster that store data and are not watched, although others are.
pub(super) fn members_not_watched(watched: &Watched) -> Vec<Finding> {
    let lists = watched.kinds.iter().filter_map(|kind| Some((kind, kind.members.as_ref()?)));
    lists.flat_map(|(kind, list)| of_list(kind, list, watched)).collect()
}

fn of_list(kind: &ServerKind, list: &MemberList, watched: &Watched) -> Vec<Finding> {
    let is_watched = is_watched(list, watched);
    let servers = of_kind(&watched.kinds, &kind.name, &watched.servers);
    let placed = servers.into_iter().find_map(|server| {
        let placed = evaluate(&list.placed, server);
        (!placed.is_empty()).then_some(placed)
    });
    let last = |sample_windows: &[SampleWindow]| {
        sample_windows.last().map_or(0.0, |sample_window| sample_window.mean)
    };
    let placed = placed.unwrap_or_default().into_iter();
    let placed = placed.map(|(address, sample_windows)| (address, last(&sample_windows)));
    placed
        .filter(|(address, amount)| *amount > 0.0 && !is_watched(address))
        .map(|(address, amount)| {
            Finding::about(Subject::Server(address), Code::MemberNotWatched)
                .with("placed", Value::Number(amount))
                .with("placed_unit", Value::Text(list.placed_unit.clone()))
        })
        .collect()
}
