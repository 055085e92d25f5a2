//! What passes between the coordinator of a load and those who offer it: reports to it, of its own workers and of
//! generators in other processes alike, and commands to generators.

use measure::{Edges, Failure, FailureExamples, Interval, LatencyHistogram, TimedTurn};
use net::Nanos;
use serde::{Deserialize, Serialize};

use crate::outages::ConnectionEvent;
use crate::quiet::Quiet;
use crate::{ClientOutcome, TrialError};

/// A report of a generator to the coordinator of the load.
#[derive(Debug, Serialize, Deserialize)]
pub struct Report(pub(crate) UnitReport);

/// A command of the coordinator of a load to a generator.
#[derive(Debug, Serialize, Deserialize)]
pub struct Command(pub(crate) UnitCommand);

/// A report of a unit of the load: of a worker, or of a generator, which reports the sum of its workers.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum UnitReport {
    /// All its clients are connected and wait for the start.
    Ready,
    Failed {
        client: usize,
        #[serde(with = "failure")]
        failure: Failure,
        before_start: bool,
    },
    /// Something happened to a client's connection, on the trial's clock.
    Connection {
        at: Nanos,
        event: ConnectionEvent,
    },
    /// A connection broke, and reconnecting is off.
    Disconnected {
        #[serde(with = "failure")]
        failure: Failure,
    },
    Overloaded {
        backlog: u64,
    },
    /// How many arrivals waited for a client of this unit when the trial ended early.
    Backlog {
        backlog: u64,
    },
    /// Interval `index` is closed, without the part of these workers, which stand still.
    Closed {
        index: usize,
        interval: Box<Interval>,
        missing: Vec<usize>,
        news: Vec<u64>,
    },
    /// What a worker had counted in an interval that was reported without it.
    Late {
        interval: Box<Interval>,
    },
    /// A command came so late that the unit had passed the time that it names.
    Passed {
        late_ns: Nanos,
    },
    /// The unit cannot offer its load, or no longer.
    Broken {
        reason: String,
    },
    Done(Box<PartEnd>),
}

/// What is reported once, at the end of a unit's part of the load.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct PartEnd {
    /// The first of the unit's clients, of all.
    pub(crate) first_client: usize,
    #[serde(with = "clients")]
    pub(crate) clients: Vec<ClientOutcome>,
    pub(crate) edges: Edges,
    pub(crate) lateness: LatencyHistogram,
    pub(crate) start_delays: LatencyHistogram,
    #[serde(with = "examples")]
    pub(crate) failures: FailureExamples,
    /// Times in which no transaction of the unit succeeded; `None` when it has none to tell of.
    pub(crate) quiet: Option<Quiet>,
    /// A load that keeps these has no generators in other processes.
    #[serde(skip)]
    pub(crate) turns: Vec<TimedTurn>,
}

impl PartEnd {
    /// An empty one of a load with so many operations, for clients from `first_client` on.
    pub(crate) fn new(operations: usize, first_client: usize, clients: usize) -> Self {
        Self {
            first_client,
            clients: vec![ClientOutcome::default(); clients],
            edges: Edges::new(operations),
            ..Self::default()
        }
    }

    /// Adds that of a unit, whose clients are among these.
    pub(crate) fn add(&mut self, unit: Self) {
        self.edges.merge(&unit.edges);
        self.lateness.merge(&unit.lateness);
        self.start_delays.merge(&unit.start_delays);
        self.failures.extend(unit.failures.iter());
        self.turns.extend(unit.turns);
        self.quiet = match (self.quiet.take(), unit.quiet) {
            (Some(one), Some(other)) => Some(one.and(&other)),
            (one, other) => one.or(other),
        };
        let first = unit.first_client - self.first_client;
        self.clients[first..][..unit.clients.len()].clone_from_slice(&unit.clients);
    }
}

/// A command to a generator. Times but that of the start are on the trial's clock.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum UnitCommand {
    /// The load begins at this time of the kernel's monotonic clock: the coordinator's own until
    /// [`Command::on_clock_of`].
    Start { kernel_ns: Nanos },
    /// The warm-up ends at `at`, where an interval does.
    EndWarmUp { at: Nanos },
    /// The measured window ends at `at`. After an interrupt, answers are not waited for as long as otherwise.
    End { at: Nanos, is_interrupt: bool },
    /// The load ends at once.
    Abandon,
    /// The last interval was seen, and the next may begin: in virtual time.
    Seen,
    /// What another generator must be told.
    News { generator: usize, news: Vec<u64> },
}

impl Command {
    /// The command for a generator whose monotonic clock is so much ahead of the coordinator's.
    #[must_use]
    pub fn on_clock_of(self, offset_ns: i64) -> Self {
        match self.0 {
            UnitCommand::Start { kernel_ns } => {
                let kernel_ns = kernel_ns.saturating_add_signed(offset_ns);
                Self(UnitCommand::Start { kernel_ns })
            }
            other => Self(other),
        }
    }
}

impl Report {
    /// The report of a generator that cannot offer its load.
    pub fn broken(reason: String) -> Self {
        Self(UnitReport::Broken { reason })
    }

    #[cfg(test)]
    pub(crate) fn is_last(&self) -> bool {
        matches!(self.0, UnitReport::Done(_) | UnitReport::Broken { .. })
    }

    #[cfg(test)]
    pub(crate) fn closed(&self) -> Option<usize> {
        match self.0 {
            UnitReport::Closed { index, .. } => Some(index),
            _ => None,
        }
    }

    pub(crate) fn last(result: Result<PartEnd, TrialError>) -> Self {
        Self(match result {
            Ok(end) => UnitReport::Done(Box::new(end)),
            Err(error) => UnitReport::Broken { reason: error.to_string() },
        })
    }
}

/// The form of a failure. Its own in records is a map, which has no length before it is written.
mod failure {
    use measure::{ErrorClass, Failure};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) type Parts = (ErrorClass, String, String);

    pub(super) fn parts(failure: &Failure) -> Parts {
        (failure.key.class, failure.key.code.clone(), failure.message.clone())
    }

    pub(super) fn of((class, code, message): Parts) -> Failure {
        Failure::new(class, code, message)
    }

    pub(super) fn serialize<S: Serializer>(failure: &Failure, to: S) -> Result<S::Ok, S::Error> {
        parts(failure).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Failure, D::Error> {
        Parts::deserialize(from).map(of)
    }
}

mod examples {
    use measure::{Failure, FailureExamples};
    use serde::{Deserialize, Deserializer, Serializer};

    use super::failure;

    pub(super) fn serialize<S: Serializer>(
        all: &FailureExamples,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(all.iter().map(failure::parts))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<FailureExamples, D::Error> {
        let parts = Vec::<failure::Parts>::deserialize(from)?;
        let all: Vec<Failure> = parts.into_iter().map(failure::of).collect();
        Ok(all.iter().collect())
    }
}

mod clients {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::failure;
    use crate::ClientOutcome;

    pub(super) fn serialize<S: Serializer>(
        all: &[ClientOutcome],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(all.iter().map(|it| (it.events, it.failure.as_ref().map(failure::parts))))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<ClientOutcome>, D::Error> {
        let all = Vec::<(u64, Option<failure::Parts>)>::deserialize(from)?;
        let client = |(events, parts): (u64, Option<failure::Parts>)| ClientOutcome {
            events,
            failure: parts.map(failure::of),
        };
        Ok(all.into_iter().map(client).collect())
    }
}

#[cfg(test)]
mod tests {
    use measure::ErrorClass;

    use super::*;

    #[test]
    fn the_start_is_on_the_generators_clock_and_nothing_else_is() {
        let start = |kernel_ns| Command(UnitCommand::Start { kernel_ns });
        let told = |command: Command| match command.0 {
            UnitCommand::Start { kernel_ns } => kernel_ns,
            UnitCommand::EndWarmUp { at } => at,
            other => panic!("{other:?}"),
        };
        assert_eq!(told(start(1_000).on_clock_of(-400)), 600);
        assert_eq!(told(start(1_000).on_clock_of(400)), 1_400);
        assert_eq!(told(Command(UnitCommand::EndWarmUp { at: 7 }).on_clock_of(400)), 7);
    }

    #[test]
    fn failures_and_clients_cross() {
        let failure = Failure::new(ErrorClass::Server, "1146", "no table");
        let client = |events, failure| ClientOutcome { events, failure };
        let clients = vec![client(3, None), client(0, Some(failure.clone()))];
        let mut end = PartEnd { first_client: 4, clients, ..PartEnd::default() };
        end.failures.add(&failure);
        let bytes = postcard::to_stdvec(&UnitReport::Done(Box::new(end))).unwrap();
        let UnitReport::Done(read) = postcard::from_bytes(&bytes).unwrap() else { panic!() };
        assert_eq!((read.first_client, read.clients.len()), (4, 2));
        assert_eq!(read.clients[1], client(0, Some(failure.clone())));
        assert_eq!(read.failures.iter().collect::<Vec<_>>(), [&failure]);
        let bytes = postcard::to_stdvec(&UnitReport::Disconnected { failure }).unwrap();
        let UnitReport::Disconnected { failure } = postcard::from_bytes(&bytes).unwrap() else {
            panic!()
        };
        assert_eq!((failure.key.code.as_str(), failure.to_string().as_str()), ("1146", "no table"));
    }
}
