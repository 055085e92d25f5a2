//! What a future that is dropped had waited for.

use std::cell::RefCell;

use super::Handle;

/// The last request whose connection was dropped before its answer, until its client has asked for it.
#[derive(Default)]
pub(super) struct Unanswered(RefCell<Option<String>>);

impl Handle {
    /// Notes the request for whose answer a connection waits that is dropped now. A connection is dropped with the future
    /// of its client, which asks next.
    #[cold]
    pub fn note_unanswered(&self, request: String) {
        *self.0.unanswered.0.borrow_mut() = Some(request);
    }

    /// The request that was noted last, once.
    #[cold]
    pub fn take_unanswered(&self) -> Option<String> {
        self.0.unanswered.0.borrow_mut().take()
    }
}
