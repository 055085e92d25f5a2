//! One client: a terminal.

use std::sync::Arc;

use engine::ClientHandle;
use measure::{Failure, Operation, OperationId, Traffic};
use net::Nanos;

use super::deck::{Kind, TransactionPicker};
use super::delivery::{Delivered, delivery};
use super::inputs::{InputGenerator, Inputs, Terminal};
use super::load::{ROLLED_BACK, SKIPPED, TpccLoad, operation};
use super::new_order::{OrderResult, new_order};
use super::order_status::order_status;
use super::payment::payment;
use super::session::TpccSession;
use super::statements::Statements;
use super::stock_level::stock_level;
use super::waits::{keying_ns, think_ns};
use crate::policy::ErrorPolicy;
use crate::random::Random;
use crate::shared::Shared;
use crate::transaction_loop::{FailedTransaction, WorkloadClient};

/// The random stream of clients, independent of those of the data.
const STREAM: u64 = 0x7e41;

impl Shared for TpccLoad {
    type WorkloadClient = TpccClient;

    fn operations(&self) -> &[Operation] {
        &self.operations
    }

    fn errors(&self) -> &ErrorPolicy {
        &self.settings.errors
    }

    async fn open(
        self: Arc<Self>,
        index: usize,
        handle: &ClientHandle,
    ) -> Result<TpccClient, Failure> {
        TpccClient::open(self, index, handle).await
    }
}

pub(super) struct TpccClient {
    shared: Arc<TpccLoad>,
    tpcc_session: TpccSession,
    input_generator: InputGenerator,
    cards: TransactionPicker,
    random: Random,
    /// The next kind, if it has been drawn already.
    next: Option<Kind>,
    last: Option<Kind>,
    inputs: Option<(Kind, Inputs)>,
}

impl TpccClient {
    async fn open(
        shared: Arc<TpccLoad>,
        index: usize,
        handle: &ClientHandle,
    ) -> Result<Self, Failure> {
        let tpcc_session = connect(&shared, handle).await?;
        let settings = &shared.settings;
        let input_generator = InputGenerator {
            constants: shared.constants,
            warehouses: settings.warehouses.cast_signed(),
            terminal: Terminal::of_client(index, settings.warehouses),
            is_home: settings.home_warehouse,
        };
        let random = Random::of_part(shared.seed, &[STREAM, index as u64]);
        let cards = TransactionPicker::new(settings.mix);
        Ok(Self {
            shared,
            tpcc_session,
            input_generator,
            cards,
            random,
            next: None,
            last: None,
            inputs: None,
        })
    }

    async fn transact_inputs(
        &mut self,
        handle: &mut ClientHandle,
    ) -> Result<OperationId, (OperationId, Failure)> {
        // Every transaction is drawn before it runs.
        let Some((kind, inputs)) = &self.inputs else { return Ok(ROLLED_BACK) };
        let tpcc_session = &mut self.tpcc_session;
        let done = match inputs {
            Inputs::NewOrder(order) => match new_order(tpcc_session, handle, order).await {
                Ok(OrderResult::RolledBack) => return Ok(ROLLED_BACK),
                Ok(OrderResult::Committed) => Ok(()),
                Err(failure) => Err(failure),
            },
            Inputs::Payment(inputs) => payment(tpcc_session, handle, inputs).await,
            Inputs::OrderStatus(inputs) => order_status(tpcc_session, handle, inputs).await,
            Inputs::Delivery(inputs) => match delivery(tpcc_session, handle, inputs).await {
                Ok(Delivered::NotEverywhere) => return Ok(SKIPPED),
                Ok(Delivered::Everywhere) => Ok(()),
                Err(failure) => Err(failure),
            },
            Inputs::StockLevel(inputs) => stock_level(tpcc_session, handle, inputs).await,
        };
        let operation = operation(*kind);
        done.map(|()| operation).map_err(|failure| (operation, failure))
    }
}

async fn connect(shared: &TpccLoad, handle: &ClientHandle) -> Result<TpccSession, Failure> {
    let TpccLoad { connector, settings, .. } = shared;
    let dialect = connector.target.dialect();
    let mut session = connector.open(handle).await?;
    if let Some(enforce) = dialect.enforce_foreign_keys.filter(|_| settings.foreign_keys) {
        session.run(enforce).await?;
    }
    let statements = Statements::prepare(&mut session, dialect).await?;
    Ok(TpccSession {
        session,
        statements,
        begin_write: dialect.begin_write,
        begin_read: dialect.begin_read,
        is_in_transaction: false,
        text: String::new(),
    })
}

impl WorkloadClient for TpccClient {
    /// The think time of the last transaction and the keying time of the next.
    fn pause_ns(&mut self) -> Nanos {
        if !self.shared.settings.waits {
            return 0;
        }
        let think = self.last.map_or(0, |kind| think_ns(kind, &mut self.random));
        let next = self.cards.draw(&mut self.random);
        self.next = Some(next);
        think + keying_ns(next)
    }

    async fn ask(&mut self, statement: &str) {
        // A failure is seen by the next transaction.
        let _ = self.tpcc_session.session.run(statement).await;
    }

    fn draw(&mut self) {
        let next = self.next.take();
        let kind = next.unwrap_or_else(|| self.cards.draw(&mut self.random));
        self.last = Some(kind);
        self.inputs = Some((kind, self.input_generator.draw(kind, &mut self.random)));
    }

    async fn transact(
        &mut self,
        handle: &mut ClientHandle,
    ) -> Result<OperationId, FailedTransaction> {
        self.transact_inputs(handle)
            .await
            .map_err(|(operation, failure)| FailedTransaction { operation, failure })
    }

    async fn roll_back(&mut self, handle: &mut ClientHandle) -> Result<(), Failure> {
        self.tpcc_session.roll_back(handle).await
    }

    async fn reconnect(&mut self, handle: &ClientHandle) -> Result<(), Failure> {
        self.tpcc_session = connect(&self.shared, handle).await?;
        Ok(())
    }

    fn take_traffic(&mut self) -> Traffic {
        self.tpcc_session.session.take_traffic()
    }

    async fn close(self) {
        self.tpcc_session.session.close().await;
    }
}
