//! What the engine drives.

use std::future::Future;
use std::pin::Pin;

use measure::{Failure, Operation};

use crate::Seat;

/// A future that stays on its thread.
pub type LocalBoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// The load that clients make together.
pub trait Load: Sync {
    /// What is timed; [`measure::OperationId`]s count into this list.
    fn operations(&self) -> &[Operation];

    /// Client `index` of `0..clients`, made on the thread that it will live on.
    fn client(&self, index: usize) -> Box<dyn Client>;
}

/// One client: it connects, takes its turns and leaves.
pub trait Client {
    /// Lives the client's whole life: makes ready (connects, prepares), then
    /// `while let Some(turn) = seat.next().await` does one transaction for each turn.
    ///
    /// The first call of [`Seat::next`] says that the client is ready and waits for the start.
    fn run(self: Box<Self>, seat: Seat) -> LocalBoxFuture<'static, Result<(), Failure>>;
}
