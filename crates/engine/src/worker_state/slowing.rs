//! Slow-downs of the worker's clients, where the load has some.

use std::sync::Arc;

use net::Nanos;

use super::WorkerState;
use crate::levers::WorkerLevers;

impl WorkerState {
    /// Switches the slow-downs that are due at `at` on the trial's clock, and returns them, if there are any.
    #[inline]
    pub(super) fn switch_levers(&self, at: Nanos) -> Option<&WorkerLevers> {
        let levers = self.levers.as_deref()?;
        levers.switch(at, self.control.window.start_or_never(), &self.handle);
        Some(levers)
    }

    #[inline]
    pub(crate) fn has_levers(&self) -> bool {
        self.levers.is_some()
    }

    /// What a client asks the server before its next transaction, of which it has begun so many.
    pub(crate) fn slowing_statement(&self, issued: u64) -> Option<Arc<str>> {
        self.levers.as_deref()?.statement(issued)
    }

    /// Slows a client down before its next turn, and returns how much longer it is to wait for that.
    pub(crate) async fn slow_down(&self, local: usize, issued: u64) -> Nanos {
        let at = || self.handle.now() - self.origin.get();
        while let Some(levers) = self.switch_levers(at()) {
            let Some(until) = levers.pause(self.first_client + local, self.all_clients) else {
                levers.work();
                return levers.before_ns(issued);
            };
            if until >= self.control.end() {
                break;
            }
            self.handle.sleep_until(self.origin.get().saturating_add(until)).await;
        }
        0
    }
}
