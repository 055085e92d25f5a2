//! A client's session with the prepared statements of its script, and the counting of statements.

use driver::{Running, Session, Statement, Value};
use engine::ClientHandle;
use measure::{Failure, Operation, OperationId, OperationKind, Traffic};

use super::query::Query;
use super::script::{Script, ScriptStep, TransactionFrame};
use super::settings::Settings;
use crate::parallel::unsuitable;
use crate::session::Connector;
use crate::transaction_loop::{record, roll_back};

/// The script's transaction: the first operation.
pub(super) const TRANSACTION: OperationId = OperationId(0);

/// The operations of a script, and the operation that each statement counts for.
#[derive(Clone, Debug)]
pub(super) struct Operations {
    pub(super) list: Vec<Operation>,
    /// The operation of each [`Query`]. `None` if the query is the transaction's only statement, which is not
    /// timed twice.
    queries: [Option<OperationId>; Query::COUNT],
    /// The kind of the only statement, if the transaction has only one.
    pub(super) single: Option<OperationKind>,
    begin: OperationId,
    commit: OperationId,
}

impl Operations {
    pub(super) fn of(script: Script, steps: &[ScriptStep], bracket: TransactionFrame) -> Self {
        let mut operations = Self {
            list: vec![Operation::new(script.name(), OperationKind::Transaction)],
            queries: [None; Query::COUNT],
            single: None,
            begin: TRANSACTION,
            commit: TRANSACTION,
        };
        let statements: u64 = steps.iter().map(|step| step.statements()).sum();
        if bracket == TransactionFrame::None && statements <= 1 {
            let sent = steps.iter().filter(|step| step.statements() > 0);
            operations.single = sent.flat_map(ScriptStep::queries).map(|query| query.kind()).next();
            return operations;
        }
        if bracket != TransactionFrame::None {
            operations.begin = operations.add("begin", OperationKind::Other);
        }
        for query in steps.iter().filter(|step| step.statements() > 0).flat_map(ScriptStep::queries)
        {
            let slot = *query as usize;
            if operations.queries[slot].is_none() {
                operations.queries[slot] = Some(operations.add(query.name(), query.kind()));
            }
        }
        if bracket != TransactionFrame::None {
            operations.commit = operations.add("commit", OperationKind::Other);
        }
        operations
    }

    /// The operation of a statement; `None` if its latency is that of its transaction.
    #[inline]
    pub(super) fn timed(&self, query: Query) -> Option<OperationId> {
        self.queries[query as usize]
    }

    fn add(&mut self, name: &str, kind: OperationKind) -> OperationId {
        self.list.push(Operation::new(name, kind));
        OperationId((self.list.len() - 1) as u16)
    }
}

pub(super) struct Connection {
    session: Session,
    /// For each query and table, `query * tables + table - 1`; only those that the script needs.
    statements: Vec<Option<Statement>>,
    tables: u64,
    begin: &'static str,
    is_in_transaction: bool,
}

pub(super) struct ConnectionPlan<'a> {
    pub(super) connector: &'a Connector,
    pub(super) settings: &'a Settings,
    pub(super) steps: &'a [ScriptStep],
    pub(super) bracket: TransactionFrame,
    /// Whether INSERT omits the id, so that the table assigns it.
    pub(super) omits_id: bool,
}

impl Connection {
    /// Connects and prepares every statement for every table.
    ///
    /// # Errors
    /// When the server cannot be reached or refuses something.
    pub(super) async fn open(
        plan: &ConnectionPlan<'_>,
        handle: &ClientHandle,
    ) -> Result<Self, Failure> {
        let settings = plan.settings;
        let dialect = plan.connector.target.dialect();
        let mut session = plan.connector.open(handle).await?;
        let tables = settings.tables;
        let (mut places, mut texts) = (Vec::new(), Vec::new());
        for &query in plan.steps.iter().flat_map(ScriptStep::queries) {
            for table in 1..=tables {
                places.push(index(query, table, tables));
                texts.push(if query == Query::Insert && plan.omits_id {
                    format!("INSERT INTO sbtest{table} (k, c, pad) VALUES (?, ?, ?)")
                } else {
                    query.sql(table)
                });
            }
        }
        let mut statements = vec![None; Query::COUNT * tables as usize];
        for (place, statement) in places.into_iter().zip(session.prepare_all(&texts).await?) {
            statements[place] = Some(statement);
        }
        let begin = match plan.bracket {
            TransactionFrame::Writing => dialect.begin_write,
            TransactionFrame::Reading | TransactionFrame::None => dialect.begin_read,
        };
        Ok(Self { session, statements, tables, begin, is_in_transaction: false })
    }

    /// The session itself, for queries before the load.
    pub(super) fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    pub(super) fn take_traffic(&mut self) -> Traffic {
        self.session.take_traffic()
    }

    pub(super) async fn close(self) {
        self.session.close().await;
    }

    /// Sends `query` on table `table`; await the result for the answer.
    ///
    /// # Errors
    /// If the statement was not prepared, which is a bug in dyno.
    #[inline]
    pub(super) fn start(
        &mut self,
        (query, table): (Query, u64),
        parameters: &[Value<'_>],
    ) -> Result<Running<'_>, Failure> {
        match &self.statements[index(query, table, self.tables)] {
            Some(statement) => Ok(self.session.execute(statement, parameters)),
            None => Err(not_prepared(query, table)),
        }
    }

    pub(super) async fn begin(
        &mut self,
        handle: &mut ClientHandle,
        operations: &Operations,
    ) -> Result<(), Failure> {
        let started = handle.now();
        let answer = self.session.run(self.begin).await;
        record(handle, operations.begin, started, &answer);
        self.is_in_transaction = answer.is_ok();
        answer.map(drop)
    }

    pub(super) async fn commit(
        &mut self,
        handle: &mut ClientHandle,
        operations: &Operations,
    ) -> Result<(), Failure> {
        let started = handle.now();
        let answer = self.session.run("COMMIT").await;
        record(handle, operations.commit, started, &answer);
        self.is_in_transaction = answer.is_err();
        answer.map(drop)
    }

    /// Rolls back the open transaction, if there is one.
    pub(super) async fn roll_back(&mut self, handle: &mut ClientHandle) -> Result<(), Failure> {
        roll_back(&mut self.session, &mut self.is_in_transaction, handle).await
    }
}

/// Every query of the script is prepared for every table, so this failure is a bug in dyno.
#[cold]
fn not_prepared(query: Query, table: u64) -> Failure {
    unsuitable(format!("{} on table {table} was not prepared", query.name()))
}

#[inline]
fn index(query: Query, table: u64, tables: u64) -> usize {
    query as usize * tables as usize + (table - 1) as usize
}
