//! Adapts a workload to the engine: clients that share one load and run their turns.

use std::sync::Arc;

use engine::{ClientHandle, Clients, Load, News};
use measure::{Failure, Operation};

use crate::policy::ErrorPolicy;
use crate::transaction_loop::{WorkloadClient, run_transactions};

/// State that the clients of one trial share.
pub(crate) trait Shared: Send + Sync + 'static {
    type WorkloadClient: WorkloadClient;

    fn operations(&self) -> &[Operation];

    fn errors(&self) -> &ErrorPolicy;

    /// What the processes that offer the same load tell each other; `None` if nothing.
    fn news(&self) -> Option<&dyn News> {
        None
    }

    /// Connects client `index`.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses a request.
    async fn open(
        self: Arc<Self>,
        index: usize,
        handle: &ClientHandle,
    ) -> Result<Self::WorkloadClient, Failure>;
}

/// The load in the form that the engine runs.
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

    fn news(&self) -> Option<&dyn News> {
        self.0.news()
    }

    fn clients(&self, clients: Clients<'_>) {
        let shared = Arc::clone(&self.0);
        clients.start(move |mut handle| {
            let shared = Arc::clone(&shared);
            async move {
                // Boxed, so that one-time work takes no space in the state that every turn uses.
                let index = handle.index();
                let mut client = Box::pin(Arc::clone(&shared).open(index, &handle)).await?;
                run_transactions(&mut handle, &mut client, shared.errors()).await?;
                Box::pin(client.close()).await;
                Ok(())
            }
        });
    }
}
