//! All watched figures of a trial in one list, from which tables and files for programs are made.

use analysis::{
    ConnectionFigure, CostFigure, HostFigure, KindFigure, Metric, ProcessFigure, SampleWindow,
    ValueOrigin, process_kinds,
};
use measure::{Host, Quantity};

use super::cost::{self, Subject};
use crate::digest::Trial;
use crate::panels;

/// One figure over the time of a trial.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) subject: Subject,
    /// The host or kind of server.
    pub(crate) source: String,
    /// The process, or the line of a panel; empty when there is only one.
    pub(crate) part: String,
    /// Name for programs.
    pub(crate) key: String,
    pub(crate) name: String,
    pub(crate) quantity: Quantity,
    pub(crate) sample_windows: Vec<SampleWindow>,
}

impl Line {
    fn new<Get>(
        subject: Subject,
        source: &str,
        metric: &Metric<Get>,
        sample_windows: Vec<SampleWindow>,
    ) -> Self {
        Self {
            subject,
            source: source.to_owned(),
            part: String::new(),
            key: metric.key.to_owned(),
            name: metric.label.to_owned(),
            quantity: metric.unit,
            sample_windows,
        }
    }
}

/// Figures of a host's processes, and of the host.
pub(crate) fn of_host(host: &Host) -> impl Iterator<Item = Line> {
    let processes = host.processes.iter().enumerate().flat_map(move |(number, process)| {
        ProcessFigure::ALL.iter().map(move |figure| {
            let sample_windows = figure.of(host, number);
            let line = Line::new(Subject::Process, &host.name, &figure.metric(), sample_windows);
            Line { part: process.name.clone(), ..line }
        })
    });
    let kinds = process_kinds(host).into_iter().flat_map(move |(number, kind)| {
        KindFigure::ALL.iter().map(move |figure| {
            let sample_windows = figure.of(host, number, kind);
            let line =
                Line::new(Subject::ProcessKind, &host.name, &figure.metric(), sample_windows);
            let server = host.processes.get(number).map_or("", |process| process.name.as_str());
            Line { part: format!("{server}, {kind}"), ..line }
        })
    });
    let whole = HostFigure::ALL
        .iter()
        .map(|figure| Line::new(Subject::Host, &host.name, &figure.metric(), figure.of(host)));
    processes.chain(kinds).chain(whole)
}

/// dyno's connections to the system.
fn of_connections(trial: &Trial<'_>) -> impl Iterator<Item = Line> {
    let connections = &trial.record.watched.connections;
    ConnectionFigure::ALL.iter().map(|figure| {
        Line::new(Subject::Connections, "dyno", &figure.metric(), figure.of(connections))
    })
}

/// Cost of a query on each server and host: one value for the whole measured time.
fn of_costs(trial: &Trial<'_>) -> impl Iterator<Item = Line> {
    let (from_ns, to_ns) = trial.window();
    cost::of_trial(trial).into_iter().flat_map(move |cost| {
        CostFigure::ALL.iter().filter_map(move |figure| {
            let metric = figure.metric();
            let mean = (metric.get)(&cost.work)?;
            let sample_window =
                SampleWindow { from_ns, to_ns, mean, peak: mean, origin: ValueOrigin::Readings };
            let line = Line::new(cost.subject, &cost.source, &metric, vec![sample_window]);
            Some(Line { part: cost.part.clone(), key: format!("{}_per_query", metric.key), ..line })
        })
    })
}

pub(crate) fn of_trial(trial: &Trial<'_>) -> Vec<Line> {
    let hosts = trial.hosts();
    let mut lines: Vec<Line> = hosts.iter().flat_map(of_host).collect();
    lines.extend(of_connections(trial));
    lines.extend(of_costs(trial));
    for panel in panels::of_trial(trial).drawn {
        lines.extend(panel.lines.into_iter().map(|(part, sample_windows)| Line {
            subject: Subject::Server,
            source: panel.source.clone(),
            part,
            key: panel.what.clone(),
            name: panel.what.clone(),
            quantity: panel.quantity,
            sample_windows,
        }));
    }
    lines.retain(|line| !line.sample_windows.is_empty());
    lines
}
