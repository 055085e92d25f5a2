//! Adapts a workload to the engine: clients that share one load and take their turns.

use std::sync::Arc;

use engine::{Clients, Load, Seat};
use measure::{Failure, Operation};

use crate::policy::ErrorPolicy;
use crate::turns::{Work, take_turns};

/// What the clients of one trial share.
pub(crate) trait Shared: Send + Sync + 'static {
    /// The work of one client.
    type Work: Work;

    /// Operations that are timed.
    fn operations(&self) -> &[Operation];

    /// How errors are handled.
    fn errors(&self) -> &ErrorPolicy;

    /// Counts a client. All clients exist before the first one takes a turn.
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
                // Boxed, so that work done once takes no space in the state that every turn uses.
                let index = seat.index();
                let mut work = Box::pin(Arc::clone(&shared).open(index, &seat)).await?;
                take_turns(&mut seat, &mut work, shared.errors()).await?;
                Box::pin(work.close()).await;
                Ok(())
            }
        });
    }
}
