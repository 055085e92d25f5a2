//! What a workload does, as a unit.

use record::TrialHeader;

use super::Digest;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Transaction,
    /// Of a service.
    Call,
    /// Of YCSB, on one record.
    Operation,
}

impl Event {
    pub(crate) fn of(header: &TrialHeader) -> Self {
        match header.workload.kind.starts_with("ycsb/") {
            _ if header.load.calls.is_some() => Self::Call,
            true => Self::Operation,
            false => Self::Transaction,
        }
    }

    /// In a few letters, after a figure.
    pub(crate) fn per_s(self) -> &'static str {
        match self {
            Self::Transaction => "tx/s",
            Self::Call => "calls/s",
            Self::Operation => "ops/s",
        }
    }

    /// For an axis.
    pub(crate) fn per_second(self) -> &'static str {
        match self {
            Self::Transaction => "transactions per second",
            Self::Call => "calls per second",
            Self::Operation => "operations per second",
        }
    }
}

impl Digest<'_> {
    pub(crate) fn event_of(&self, workload: &str) -> Event {
        let headers = self.run.trials.iter().map(|trial| &trial.header);
        let header = headers.into_iter().find(|header| header.workload.name == workload);
        header.map_or(Event::Transaction, Event::of)
    }

    /// The event of all workloads, where it is the same.
    pub(crate) fn event(&self) -> Option<Event> {
        let workloads = self.workloads();
        let mut events = workloads.iter().map(|workload| self.event_of(workload));
        let first = events.next()?;
        events.all(|event| event == first).then_some(first)
    }
}
