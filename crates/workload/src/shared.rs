//! What stands between the engine and a workload's own work: clients that share one load and live by turns.

use std::sync::Arc;

use engine::{Clients, Load, Seat};
use measure::{Failure, Operation};

use crate::policy::ErrorPolicy;
use crate::turns::{Work, take_turns};

/// What the clients of one trial share.
pub(crate) trait Shared: Send + Sync + 'static {
    /// What each of them does.
    type Work: Work;

    /// What is timed.
    fn operations(&self) -> &[Operation];

    /// What is done after errors.
    fn errors(&self) -> &ErrorPolicy;

    /// A client is made; all are before the first one gets a turn.
    fn count_client(&self) {}

    /// Connects client `index`.
    ///
    /// # Errors
    /// When the server cannot be reached or refuses something.
    async fn open(self: Arc<Self>, index: usize, seat: &Seat) -> Result<Self::Work, Failure>;
}

/// The load as the engine drives it.
pub(crate) struct SharedLoad<S>(pub(crate) Arc<S>);

impl<S> SharedLoad<S> {
    pub(crate) fn new(shared: S) -> Self {
        Self(Arc::new(shared))
    }
}

impl<S: Shared> Load for SharedLoad<S> {
    fn operations(&self) -> &[Operation] {
        self.0.operations()
    }

    fn clients(&self, clients: Clients<'_>) {
        let shared = Arc::clone(&self.0);
        clients.start(move |mut seat| {
            shared.count_client();
            let shared = Arc::clone(&shared);
            async move {
                // Boxed, so that what is done once takes no room between what is done in every turn.
                let index = seat.index();
                let mut work = Box::pin(Arc::clone(&shared).open(index, &seat)).await?;
                take_turns(&mut seat, &mut work, shared.errors()).await?;
                Box::pin(work.close()).await;
                Ok(())
            }
        });
    }
}
