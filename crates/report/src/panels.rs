//! Panels: the metrics of servers as plots.

use analysis::{Code, SampleWindow, evaluate, is_reported, merged, of_kind};
use measure::{Panel, PanelLine, Quantity, Server, ServerKind};

use crate::digest::Trial;
use crate::finding;

/// More lines than this cannot be distinguished in a plot.
const LINES_MAX: usize = 8;

#[derive(Debug)]
pub(crate) struct DrawnPanel {
    pub(crate) source: String,
    pub(crate) what: String,
    pub(crate) quantity: Quantity,
    /// Names and figures over time, the highest first.
    pub(crate) lines: Vec<(String, Vec<SampleWindow>)>,
    /// Number of lines that are not shown.
    pub(crate) left_out: usize,
}

/// The panels of a trial's servers.
#[derive(Debug, Default)]
pub(crate) struct Panels {
    pub(crate) drawn: Vec<DrawnPanel>,
    /// Sentences about panels that are not drawn, and why.
    pub(crate) absent: Vec<String>,
}

pub(crate) fn of_trial(trial: &Trial<'_>) -> Panels {
    let watched = &trial.record.watched;
    let of_kind = |name: &str| of_kind(&watched.kinds, name, &watched.servers);
    let mut panels = Panels::default();
    for kind in &watched.kinds {
        let servers = of_kind(&kind.name);
        if servers.iter().any(|server| !server.answers_ns.is_empty()) {
            add(&mut panels, kind, &merged(&servers));
        }
    }
    for kind in watched.kinds.iter().filter(|kind| !of_kind(&kind.name).is_empty()) {
        let note = kind.note_without.as_ref().filter(|note| of_kind(&note.kind).is_empty());
        panels.absent.extend(note.map(|note| note.text.clone()));
    }
    let gaps = trial.findings.iter();
    let gaps = gaps.filter(|it| matches!(it.code, Code::ServerGaps | Code::ServerSilent));
    panels.absent.extend(gaps.map(|it| format!("{}.", finding::figures(it))));
    panels
}

fn add(panels: &mut Panels, kind: &ServerKind, server: &Server) {
    let mut untold = Vec::new();
    let mut unmoved = Vec::new();
    for panel in &kind.panels {
        let is_reported = panel.lines.iter().any(|line| is_reported(&line.query, server));
        match draw(&kind.name, panel, server) {
            Some(drawn) => panels.drawn.push(drawn),
            None if is_reported => unmoved.push(panel.title.as_str()),
            None => untold.push(panel.title.as_str()),
        }
    }
    let name = &kind.name;
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

/// A panel with the figures of a server; `None` when all are missing or zero.
fn draw(kind: &str, panel: &Panel, server: &Server) -> Option<DrawnPanel> {
    let mut lines: Vec<(String, Vec<SampleWindow>)> =
        panel.lines.iter().flat_map(|line| figures(line, server)).collect();
    lines.retain(|(_, sample_windows)| {
        sample_windows.iter().any(|sample_window| sample_window.mean > 0.0)
    });
    if lines.is_empty() {
        return None;
    }
    let is_swept = panel.lines.iter().any(|line| line.query.by.is_some());
    if is_swept {
        let sum = |sample_windows: &[SampleWindow]| {
            sample_windows.iter().map(|sample_window| sample_window.mean).sum::<f64>()
        };
        lines.sort_by(|one, other| sum(&other.1).total_cmp(&sum(&one.1)));
    }
    let left_out = lines.len().saturating_sub(LINES_MAX);
    lines.truncate(LINES_MAX);
    let (source, what) = (kind.to_owned(), panel.title.clone());
    Some(DrawnPanel { source, what, quantity: panel.quantity, lines, left_out })
}

impl DrawnPanel {
    pub(crate) fn title(&self) -> String {
        format!("{}: {}", self.source, self.what)
    }
}

fn figures(line: &PanelLine, server: &Server) -> Vec<(String, Vec<SampleWindow>)> {
    let named = |value: String| match (value.trim(), line.name.as_str()) {
        ("", name) => name.to_owned(),
        (value, "") => value.to_owned(),
        (value, name) => format!("{value}, {name}"),
    };
    let groups = evaluate(&line.query, server).into_iter();
    groups.map(|(value, sample_windows)| (named(value), sample_windows)).collect()
}

#[cfg(test)]
mod tests;
