//! What the metrics of servers are turned into: panels, each with what it is made of.

pub(crate) mod catalogue;
pub(crate) mod kind;

use std::collections::BTreeMap;

use analysis::{INSTANCE, Selection, Spell, merged};
use measure::Server;

use crate::digest::Trial;
use crate::watch::figure::Quantity;
use catalogue::{Line, PANELS, Panel, Take};
use kind::ServerKind;

/// More lines than this are not told apart in a plot.
const LINES_MAX: usize = 8;

/// A panel with its figures.
#[derive(Debug)]
pub(crate) struct Drawn {
    /// Which kind of server tells.
    pub(crate) source: &'static str,
    pub(crate) what: &'static str,
    pub(crate) quantity: Quantity,
    /// Names and figures over time, those that were the most first.
    pub(crate) lines: Vec<(String, Vec<Spell>)>,
    /// How many lines more there would be.
    pub(crate) left_out: usize,
}

/// What the servers of a trial told.
#[derive(Debug, Default)]
pub(crate) struct Panels {
    pub(crate) drawn: Vec<Drawn>,
    /// Sentences about what is not drawn, and why.
    pub(crate) absent: Vec<String>,
}

/// Every panel of the servers of a trial.
pub(crate) fn of_trial(trial: &Trial<'_>) -> Panels {
    let servers = &trial.record.watched.servers;
    let mut panels = Panels::default();
    for kind in ServerKind::ALL {
        let of_kind: Vec<&Server> = servers.iter().filter(|it| kind.takes(it)).collect();
        if of_kind.iter().any(|server| !server.answers_ns.is_empty()) {
            add(&mut panels, kind, &merged(&of_kind));
        }
    }
    panels.absent.extend(kind::missing_kinds(servers));
    panels.absent.extend(servers.iter().filter_map(gaps).map(|said| format!("{said}.")));
    panels
}

fn add(panels: &mut Panels, kind: ServerKind, server: &Server) {
    let mut untold = Vec::new();
    let mut unmoved = Vec::new();
    for panel in PANELS.iter().filter(|panel| panel.kind == kind) {
        let is_told = panel.lines.iter().any(|line| line.selection.is_told_by(server));
        match draw(panel, server) {
            Some(drawn) => panels.drawn.push(drawn),
            None if is_told => unmoved.push(panel.title),
            None => untold.push(panel.title),
        }
    }
    let name = kind.name();
    if !untold.is_empty() {
        let what = untold.join("; ");
        panels.absent.push(format!(
            "{name} tells nothing of this, having no such figure or nothing of the kind to count: {what}."
        ));
    }
    if !unmoved.is_empty() {
        let what = unmoved.join("; ");
        panels.absent.push(format!("Of this {name} tells that nothing happened: {what}."));
    }
}

/// A panel with the figures of a server; `None` when there are none but zeros.
fn draw(panel: &Panel, server: &Server) -> Option<Drawn> {
    let mut lines: Vec<(String, Vec<Spell>)> =
        panel.lines.iter().flat_map(|line| figures(line, server)).collect();
    lines.retain(|(_, spells)| spells.iter().any(|spell| spell.mean > 0.0));
    if lines.is_empty() {
        return None;
    }
    let is_swept = panel.lines.iter().any(|line| line.selection.by.is_some());
    if is_swept {
        let sum = |spells: &[Spell]| spells.iter().map(|spell| spell.mean).sum::<f64>();
        lines.sort_by(|one, other| sum(&other.1).total_cmp(&sum(&one.1)));
    }
    let left_out = lines.len().saturating_sub(LINES_MAX);
    lines.truncate(LINES_MAX);
    let (source, what) = (panel.kind.name(), panel.title);
    Some(Drawn { source, what, quantity: panel.quantity, lines, left_out })
}

impl Drawn {
    pub(crate) fn title(&self) -> String {
        format!("{}: {}", self.source, self.what)
    }
}

fn figures(line: &Line, server: &Server) -> Vec<(String, Vec<Spell>)> {
    let selection = &line.selection;
    let groups: BTreeMap<String, Vec<Spell>> = match line.take {
        Take::Rate => selection.rates(server),
        Take::Level => selection.levels(server),
        Take::Count => selection.counts(server),
        Take::Sum => selection.sums(server),
        Take::Mean => selection.means(server),
        Take::Quantile(quantile) => selection.quantiles(server, quantile),
    };
    let named = |value: String| match (value.trim(), line.name) {
        ("", name) => name.to_owned(),
        (value, "") => value.to_owned(),
        (value, name) => format!("{value}, {name}"),
    };
    groups.into_iter().map(|(value, spells)| (named(value), spells)).collect()
}

/// That a server did not always answer, and why.
pub(crate) fn gaps(server: &Server) -> Option<String> {
    let (gaps, answers) = (server.gaps.len(), server.answers_ns.len());
    match (server.gaps.last(), answers) {
        (Some(last), _) => {
            let asked = gaps + answers;
            Some(format!("{} did not answer {gaps} of {asked} times: {}", server.name, last.reason))
        }
        (None, 0) => Some(format!("{} had not answered when the trial ended", server.name)),
        (None, _) => None,
    }
}

/// Everything of a family, told apart by server.
const fn by_instance(family: &'static str) -> Selection<'static> {
    Selection::of(family).by(INSTANCE)
}

#[cfg(test)]
mod tests;
