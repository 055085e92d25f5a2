//! The load of one trial: streams of queries, and what their clients share.

use std::sync::Arc;

use driver::Datum;
use engine::{Clients, Load};
use measure::{Operation, OperationId, OperationKind};

use super::answers::Answers;
use super::client::{run_stream, texts};
use super::parameters::{QUERIES, drawn, validation};
use super::queries;
use super::settings::{Order, Parameters, Settings};
use super::streams;
use super::style::Style;
use super::verdicts::{Reference, Verdicts};
use crate::WorkloadContext;
use crate::session::Connector;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Query 1 to 22.
    Query(usize),
    /// RF1 with this set of orders, from 1.
    Insert(i32),
    /// RF2 with this set of orders.
    Delete(i32),
}

/// The state that the clients of a trial share.
pub(super) struct TpchLoad {
    operations: Vec<Operation>,
    pub(super) connector: Connector,
    pub(super) settings: Settings,
    reference: Reference,
    verdicts: Arc<Verdicts>,
    /// The seed of the parameters, another one for each repetition.
    seed: u64,
    clients: usize,
}

impl TpchLoad {
    pub(super) fn new(
        settings: &Settings,
        context: &WorkloadContext<'_>,
        verdicts: Arc<Verdicts>,
    ) -> Self {
        verdicts.take();
        Self {
            operations: operations(settings),
            connector: Connector::new(context, None),
            settings: settings.clone(),
            reference: reference(settings, context),
            verdicts,
            seed: context.client_seed(),
            clients: context.load_key.clients,
        }
    }

    pub(super) fn steps(&self, index: usize) -> Vec<Step> {
        steps(&self.settings, self.clients, index)
    }

    pub(super) fn text(&self, query: usize, index: usize) -> String {
        let Self { settings, connector, .. } = self;
        let parameters = self.parameters(query, index);
        let style = Style(connector.target.dialect());
        queries::text(query, &parameters, style, settings.scale)
    }

    fn parameters(&self, query: usize, index: usize) -> Vec<String> {
        match self.settings.parameters {
            Parameters::Validation => validation(query),
            Parameters::Random => drawn(query, self.seed, stream(self.clients, index)),
        }
    }

    /// Assesses the answer to a query of client `index`.
    pub(super) fn assess(&self, query: usize, index: usize, rows: Vec<Vec<Datum>>) {
        if !matches!(self.reference, Reference::Nothing) {
            let question = (query, self.parameters(query, index));
            let rows = texts(self.connector.target.dialect(), rows);
            self.verdicts.assess(&self.reference, question, rows);
        }
    }

    pub(super) fn operation(&self, step: Step) -> OperationId {
        let queries = self.settings.queries();
        let place = match step {
            Step::Query(number) => queries.partition_point(|query| *query < number),
            Step::Insert(_) => queries.len(),
            Step::Delete(_) => queries.len() + 1,
        };
        OperationId(place as u16)
    }

    /// The sets of orders that the load changes.
    pub(super) fn refreshed_sets(&self) -> Vec<i32> {
        let all = (0..self.clients).flat_map(|index| self.steps(index));
        all.filter_map(|step| if let Step::Insert(set) = step { Some(set) } else { None }).collect()
    }
}

/// What the answers of a load are compared with.
fn reference(settings: &Settings, context: &WorkloadContext<'_>) -> Reference {
    let known = settings.checks_streams().then(|| Answers::at(settings.scale)).flatten();
    match known {
        Some(answers) => Reference::Known(answers),
        None if settings.compares_systems(context.load_key.clients) => {
            Reference::OtherSystems(context.system.to_owned())
        }
        None => Reference::Nothing,
    }
}

/// The operations of a load with these settings: the queries, and the refresh functions where they run.
fn operations(settings: &Settings) -> Vec<Operation> {
    let queries = settings.queries().into_iter().map(|number| format!("Q{number}"));
    let refresh = ["RF1", "RF2"].iter().filter(|_| settings.has_refresh).map(ToString::to_string);
    let names = queries.chain(refresh);
    names.map(|name| Operation::new(name, OperationKind::Transaction)).collect()
}

/// The stream of a client: a single one has stream 0, that of the power test (clause 5.3.3), and several have streams 1
/// and so on (clause 5.3.4).
pub(super) fn stream(clients: usize, index: usize) -> usize {
    if clients == 1 { 0 } else { index + 1 }
}

pub(super) fn steps(settings: &Settings, clients: usize, index: usize) -> Vec<Step> {
    let streams = settings.streams(clients);
    if index >= streams {
        // The refresh stream of the throughput test. The power test has had the first set of orders.
        let sets = 2..streams as i32 + 2;
        return sets.flat_map(|set| [Step::Insert(set), Step::Delete(set)]).collect();
    }
    let queries: Vec<usize> = match (&settings.asked, settings.order) {
        (Some(asked), _) => asked.clone(),
        (None, Order::Specified) => streams::order(stream(clients, index)).collect(),
        (None, Order::Ascending) => (1..=QUERIES).collect(),
    };
    let queries = queries.into_iter().map(Step::Query);
    if settings.has_refresh && clients == 1 {
        let first = [Step::Insert(1)].into_iter();
        return first.chain(queries).chain([Step::Delete(1)]).collect();
    }
    queries.collect()
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
