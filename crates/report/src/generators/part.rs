//! One generator of a trial, or all of them together, with its figures.

use analysis::{Fairness, GeneratorFigures, GeneratorSummary, Latency};
use measure::{GeneratorClock, GeneratorLoss, HostFacts};
use record::GeneratorRecord;

use crate::digest::Trial;

/// The name of the row of all generators.
const TOGETHER: &str = "together";

pub(super) struct Part<'t> {
    pub(super) name: &'t str,
    pub(super) host: Option<&'t HostFacts>,
    pub(super) clients: usize,
    pub(super) workers: usize,
    pub(super) transactions_per_s: f64,
    pub(super) latency: &'t Latency,
    pub(super) cpu_threads: Option<f64>,
    pub(super) own: Option<&'t GeneratorSummary>,
    /// `None` in a closed loop.
    pub(super) lateness: Option<&'t Latency>,
    pub(super) fairness: Option<Fairness>,
    pub(super) clock: Option<GeneratorClock>,
    pub(super) lost: Option<&'t GeneratorLoss>,
    /// What the record has of it; `None` of all together.
    pub(super) record: Option<&'t GeneratorRecord>,
}

impl<'t> Part<'t> {
    /// Each generator of a trial; none where the process of the run offered the load.
    pub(super) fn of_trial(trial: &'t Trial<'_>) -> Vec<Self> {
        let of = |(record, figures): (&'t GeneratorRecord, &'t GeneratorFigures)| Self {
            name: &record.name,
            host: record.host.as_ref(),
            clients: record.clients.len(),
            workers: record.workers,
            transactions_per_s: figures.transactions_per_s,
            latency: &figures.latency,
            cpu_threads: figures.cpu_threads,
            own: figures.own.as_ref(),
            lateness: trial.summary.open.as_ref().map(|_| &figures.lateness),
            // Clients of an open loop take turns, so their shares have no meaning.
            fairness: figures.fairness.filter(|_| trial.summary.open.is_none()),
            clock: record.clock,
            lost: record.lost.as_ref(),
            record: Some(record),
        };
        let parts = trial.generator_parts().iter();
        parts.zip(&trial.summary.generators).map(of).collect()
    }

    /// All generators of a trial together: the figures of the trial.
    pub(super) fn together(trial: &'t Trial<'_>) -> Self {
        let summary = &trial.summary;
        let workers = trial.generator_parts().iter().map(|part| part.workers);
        Self {
            name: TOGETHER,
            host: None,
            clients: trial.record.header.clients,
            workers: workers.fold(0, usize::saturating_add),
            transactions_per_s: summary.transactions_per_s,
            latency: &summary.latency,
            cpu_threads: summary.client_cpu_threads,
            own: summary.generator.as_ref(),
            lateness: summary.open.as_ref().map(|open| &open.lateness),
            fairness: summary.fairness.filter(|_| summary.open.is_none()),
            clock: None,
            lost: None,
            record: None,
        }
    }
}
