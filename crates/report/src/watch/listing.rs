//! Everything that was watched in a trial, one figure after the other: what tables and files for programs
//! are made of.

use analysis::{ConnectionFigure, HostFigure, ProcessFigure, Spell};
use measure::{Host, Quantity};

use super::figure::{self, Figure};
use crate::digest::Trial;
use crate::panels;

/// What a figure is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    Host,
    Process,
    Connections,
    Server,
}

impl Subject {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Process => "process",
            Self::Connections => "connections",
            Self::Server => "server",
        }
    }
}

/// One figure over the time of a trial.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) subject: Subject,
    /// Of which host or kind of server.
    pub(crate) source: String,
    /// Of which process, or which line of a panel; empty when there is but one.
    pub(crate) part: String,
    /// For programs.
    pub(crate) key: String,
    /// For people.
    pub(crate) name: String,
    pub(crate) quantity: Quantity,
    pub(crate) spells: Vec<Spell>,
}

impl Line {
    fn new(subject: Subject, source: &str, figure: Figure, spells: Vec<Spell>) -> Self {
        Self {
            subject,
            source: source.to_owned(),
            part: String::new(),
            key: figure.key.to_owned(),
            name: figure.name.to_owned(),
            quantity: figure.quantity,
            spells,
        }
    }
}

/// A host's processes, and the host itself.
pub(crate) fn of_host(host: &Host) -> impl Iterator<Item = Line> {
    let processes = host.processes.iter().enumerate().flat_map(move |(number, process)| {
        ProcessFigure::ALL.into_iter().map(move |figure| Line {
            part: process.name.clone(),
            ..Line::new(
                Subject::Process,
                &host.name,
                figure::of_process(figure),
                figure.of(host, number),
            )
        })
    });
    let whole = HostFigure::ALL.into_iter().map(|figure| {
        Line::new(Subject::Host, &host.name, figure::of_host(figure), figure.of(host))
    });
    processes.chain(whole)
}

/// dyno's connections to the system.
pub(crate) fn of_connections(trial: &Trial<'_>) -> impl Iterator<Item = Line> {
    let connections = &trial.record.watched.connections;
    ConnectionFigure::ALL.into_iter().map(|figure| {
        let shown = figure::of_connections(figure);
        Line::new(Subject::Connections, "dyno", shown, figure.of(connections))
    })
}

/// Everything of a trial of which anything is known.
pub(crate) fn of_trial(trial: &Trial<'_>) -> Vec<Line> {
    let hosts = super::hosts(trial);
    let mut lines: Vec<Line> = hosts.iter().flat_map(of_host).collect();
    lines.extend(of_connections(trial));
    for panel in panels::of_trial(trial).drawn {
        lines.extend(panel.lines.into_iter().map(|(part, spells)| Line {
            subject: Subject::Server,
            source: panel.source.clone(),
            part,
            key: panel.what.clone(),
            name: panel.what.clone(),
            quantity: panel.quantity,
            spells,
        }));
    }
    lines.retain(|line| !line.spells.is_empty());
    lines
}
