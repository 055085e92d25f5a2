//! The load of one trial: streams of queries, and what their clients share.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::{Clients, Load};
use measure::{Operation, OperationId, OperationKind};

use super::answers::Answers;
use super::client::run_stream;
use super::parameters::{QUERIES, drawn, validation};
use super::queries;
use super::settings::{Order, Parameters, Settings};
use super::streams;
use super::style::Style;
use crate::WorkloadContext;
use crate::session::Connector;

/// One step of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Query 1 to 22.
    Query(usize),
    /// RF1 with this set of orders, from 1.
    Insert(i32),
    /// RF2 with this set of orders.
    Delete(i32),
}

impl Step {
    pub(super) fn operation(self) -> OperationId {
        let place = match self {
            Self::Query(number) => number - 1,
            Self::Insert(_) => QUERIES,
            Self::Delete(_) => QUERIES + 1,
        };
        OperationId(place as u16)
    }
}

/// The wrong answers of a trial, by query.
#[derive(Debug, Default)]
pub(super) struct Verdicts(Mutex<BTreeMap<usize, Option<String>>>);

impl Verdicts {
    /// Adds the difference of an answer, if it has one; the first one of each query is kept.
    pub(super) fn add(&self, query: usize, difference: Option<String>) {
        let mut all = self.lock();
        let kept = all.entry(query).or_insert(None);
        if kept.is_none() {
            *kept = difference;
        }
    }

    /// The answers since the last call.
    pub(super) fn take(&self) -> BTreeMap<usize, Option<String>> {
        std::mem::take(&mut self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, Option<String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The state that the clients of a trial share.
pub(super) struct TpchLoad {
    operations: Vec<Operation>,
    pub(super) connector: Connector,
    pub(super) settings: Settings,
    pub(super) answers: Option<Answers>,
    pub(super) verdicts: Arc<Verdicts>,
    /// The seed of the parameters, another one for each repetition.
    seed: u64,
    /// Clients of the trial.
    clients: usize,
}

impl TpchLoad {
    pub(super) fn new(
        settings: &Settings,
        context: &WorkloadContext<'_>,
        verdicts: Arc<Verdicts>,
    ) -> Self {
        verdicts.take();
        let answers = settings.checks_streams().then(|| Answers::at(settings.scale)).flatten();
        Self {
            operations: operations(settings),
            connector: Connector::new(context, None),
            settings: settings.clone(),
            answers,
            verdicts,
            seed: context.client_seed(),
            clients: context.load_key.clients,
        }
    }

    /// The steps of client `index`.
    pub(super) fn steps(&self, index: usize) -> Vec<Step> {
        steps(&self.settings, self.clients, index)
    }

    /// The text of a query for client `index`.
    pub(super) fn text(&self, query: usize, index: usize) -> String {
        let Self { settings, connector, .. } = self;
        let parameters = match settings.parameters {
            Parameters::Validation => validation(query),
            Parameters::Random => drawn(query, self.seed, self.stream(index)),
        };
        let style = Style(connector.target.dialect());
        queries::text(query, &parameters, style, settings.scale)
    }

    /// The sets of orders that the load changes.
    pub(super) fn refreshed_sets(&self) -> Vec<i32> {
        let all = (0..self.clients).flat_map(|index| self.steps(index));
        all.filter_map(|step| if let Step::Insert(set) = step { Some(set) } else { None }).collect()
    }

    fn stream(&self, index: usize) -> usize {
        stream(self.clients, index)
    }
}

/// The operations of a load with these settings: the queries, and the refresh functions where they run.
fn operations(settings: &Settings) -> Vec<Operation> {
    let queries = (1..=QUERIES).map(|number| format!("Q{number}"));
    let refresh = ["RF1", "RF2"].iter().filter(|_| settings.has_refresh).map(ToString::to_string);
    let names = queries.chain(refresh);
    names.map(|name| Operation::new(name, OperationKind::Transaction)).collect()
}

/// The stream of a client: a single one has stream 0, that of the power test (clause 5.3.3), and several have streams 1
/// and so on (clause 5.3.4).
pub(super) fn stream(clients: usize, index: usize) -> usize {
    if clients == 1 { 0 } else { index + 1 }
}

/// The steps of client `index` of `clients`.
pub(super) fn steps(settings: &Settings, clients: usize, index: usize) -> Vec<Step> {
    let streams = settings.streams(clients);
    if index >= streams {
        // The refresh stream of the throughput test. The power test has had the first set of orders.
        let sets = 2..streams as i32 + 2;
        return sets.flat_map(|set| [Step::Insert(set), Step::Delete(set)]).collect();
    }
    let queries: Vec<Step> = match settings.order {
        Order::Specified => streams::order(stream(clients, index)).map(Step::Query).collect(),
        Order::Ascending => (1..=QUERIES).map(Step::Query).collect(),
    };
    if settings.has_refresh && clients == 1 {
        let first = [Step::Insert(1)].into_iter();
        return first.chain(queries).chain([Step::Delete(1)]).collect();
    }
    queries
}

/// How many steps all clients have together.
pub(super) fn steps_of_all(settings: &Settings, clients: usize) -> u64 {
    (0..clients).map(|index| steps(settings, clients, index).len() as u64).sum()
}

/// The load in the form that the engine runs.
pub(super) struct Streams(pub(super) Arc<TpchLoad>);

impl Load for Streams {
    fn operations(&self) -> &[Operation] {
        &self.0.operations
    }

    fn clients(&self, clients: Clients<'_>) {
        let shared = Arc::clone(&self.0);
        clients.start(move |handle| run_stream(Arc::clone(&shared), handle));
    }
}
