//! One client: a terminal.

use std::sync::Arc;

use engine::Seat;
use measure::{Failure, Operation, OperationId, Traffic};
use net::Nanos;

use super::deck::{Cards, Kind};
use super::delivery::{Delivered, delivery};
use super::hand::Hand;
use super::inputs::{Inputs, Terminal, Typist};
use super::load::{ROLLED_BACK, SKIPPED, TpccLoad, operation};
use super::new_order::{Placed, new_order};
use super::order_status::order_status;
use super::payment::payment;
use super::statements::Statements;
use super::stock_level::stock_level;
use super::waits::{keying_ns, think_ns};
use crate::policy::ErrorPolicy;
use crate::random::Random;
use crate::shared::Shared;
use crate::turns::{FailedTransaction, Work};

/// What a client's stream is drawn from, apart from those that data is made from.
const STREAM: u64 = 0x7e41;

impl Shared for TpccLoad {
    type Work = Terminals;

    fn operations(&self) -> &[Operation] {
        &self.operations
    }

    fn errors(&self) -> &ErrorPolicy {
        &self.settings.errors
    }

    async fn open(self: Arc<Self>, index: usize, seat: &Seat) -> Result<Terminals, Failure> {
        Terminals::open(self, index, seat).await
    }
}

/// A connected terminal.
pub(super) struct Terminals {
    shared: Arc<TpccLoad>,
    hand: Hand,
    typist: Typist,
    cards: Cards,
    random: Random,
    /// The next kind, if it was drawn before its turn.
    next: Option<Kind>,
    /// The kind of the last transaction.
    last: Option<Kind>,
    inputs: Option<(Kind, Inputs)>,
}

impl Terminals {
    async fn open(shared: Arc<TpccLoad>, index: usize, seat: &Seat) -> Result<Self, Failure> {
        let hand = connect(&shared, seat).await?;
        let settings = &shared.settings;
        let typist = Typist {
            constants: shared.constants,
            warehouses: settings.warehouses.cast_signed(),
            terminal: Terminal::of_client(index, settings.warehouses),
            is_home: settings.home_warehouse,
        };
        let random = Random::of_part(shared.seed, &[STREAM, index as u64]);
        let cards = Cards::new(settings.mix);
        Ok(Self { shared, hand, typist, cards, random, next: None, last: None, inputs: None })
    }

    async fn transact_inputs(
        &mut self,
        seat: &mut Seat,
    ) -> Result<OperationId, (OperationId, Failure)> {
        // Every transaction was drawn before it is done.
        let Some((kind, inputs)) = &self.inputs else { return Ok(ROLLED_BACK) };
        let hand = &mut self.hand;
        let done = match inputs {
            Inputs::NewOrder(order) => match new_order(hand, seat, order).await {
                Ok(Placed::RolledBack) => return Ok(ROLLED_BACK),
                Ok(Placed::Committed) => Ok(()),
                Err(failure) => Err(failure),
            },
            Inputs::Payment(inputs) => payment(hand, seat, inputs).await,
            Inputs::OrderStatus(inputs) => order_status(hand, seat, inputs).await,
            Inputs::Delivery(inputs) => match delivery(hand, seat, inputs).await {
                Ok(Delivered::NotEverywhere) => return Ok(SKIPPED),
                Ok(Delivered::Everywhere) => Ok(()),
                Err(failure) => Err(failure),
            },
            Inputs::StockLevel(inputs) => stock_level(hand, seat, inputs).await,
        };
        let operation = operation(*kind);
        done.map(|()| operation).map_err(|failure| (operation, failure))
    }
}

async fn connect(shared: &TpccLoad, seat: &Seat) -> Result<Hand, Failure> {
    let TpccLoad { connector, settings, .. } = shared;
    let dialect = connector.target.dialect();
    let mut session = connector.open(seat).await?;
    if let Some(enforce) = dialect.enforce_foreign_keys.filter(|_| settings.foreign_keys) {
        session.run(enforce).await?;
    }
    let statements = Statements::prepare(&mut session, dialect.row_lock).await?;
    Ok(Hand {
        session,
        statements,
        begin_write: dialect.begin_write,
        begin_read: dialect.begin_read,
        is_in_transaction: false,
        text: String::new(),
    })
}

impl Work for Terminals {
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

    fn draw(&mut self) {
        let next = self.next.take();
        let kind = next.unwrap_or_else(|| self.cards.draw(&mut self.random));
        self.last = Some(kind);
        self.inputs = Some((kind, self.typist.draw(kind, &mut self.random)));
    }

    async fn transact(&mut self, seat: &mut Seat) -> Result<OperationId, FailedTransaction> {
        self.transact_inputs(seat)
            .await
            .map_err(|(operation, failure)| FailedTransaction { operation, failure })
    }

    async fn roll_back(&mut self, seat: &mut Seat) -> Result<(), Failure> {
        self.hand.roll_back(seat).await
    }

    async fn reconnect(&mut self, seat: &Seat) -> Result<(), Failure> {
        self.hand = connect(&self.shared, seat).await?;
        Ok(())
    }

    fn take_traffic(&mut self) -> Traffic {
        self.hand.session.take_traffic()
    }

    async fn close(self) {
        self.hand.session.close().await;
    }
}
