//! The place of one client on a shared connection.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use measure::{ErrorClass, Failure, Traffic};
use net::Timeout;

use super::connection::Shared;

/// One client's place on a connection: at most one call of it is in flight. It belongs to one future.
pub struct Slot {
    shared: Rc<Shared>,
    index: usize,
    timeout: Option<Timeout>,
    /// The number of the byte after the current request.
    request_end: u64,
}

impl Slot {
    pub(super) fn new(shared: Rc<Shared>, index: usize) -> Self {
        let timeout = shared.timeouts.query.map(|bound| Timeout::new(&shared.handle, bound));
        Self { shared, index, timeout, request_end: 0 }
    }

    /// Waits until there is a connection, of which one attempt is made.
    ///
    /// # Errors
    /// When the service cannot be reached, with what to do about it.
    pub async fn connect(&self) -> Result<(), Failure> {
        self.shared.connect(self.index).await
    }

    pub fn is_connected(&self) -> bool {
        self.shared.is_connected()
    }

    /// Bytes sent and received on the connection, for all of its slots, since the last call for any of them.
    pub fn take_traffic(&mut self) -> Traffic {
        self.shared.take_traffic()
    }

    /// Sends a request with this body and waits for its answer.
    ///
    /// # Errors
    /// The service's error; a time-out, after which the connection can still be used; the end of the connection.
    #[inline]
    pub async fn call(&mut self, body: &[u8]) -> Result<(), Failure> {
        self.send(body)?;
        poll_fn(|_| self.poll_answer()).await
    }

    #[inline]
    fn send(&mut self, body: &[u8]) -> Result<(), Failure> {
        let shared = &self.shared;
        let mut link = shared.link.borrow_mut();
        let Some(link) = link.as_mut() else { return Err(shared.last_failure()) };
        if let Some(failure) = &link.given_up {
            return Err(failure.clone());
        }
        let Some(id) = shared.calls.borrow_mut().begin(self.index) else {
            return Err(shared.last_failure());
        };
        link.codec.encode(id, body, &mut link.out.bytes);
        self.request_end = link.out.end();
        shared.has_work.wake();
        if let Some(timeout) = &self.timeout {
            timeout.begin();
        }
        Ok(())
    }

    #[inline]
    fn poll_answer(&mut self) -> Poll<Result<(), Failure>> {
        loop {
            if let Some(result) = self.shared.calls.borrow_mut().take(self.index) {
                if let Some(timeout) = &self.timeout {
                    timeout.end();
                }
                return Poll::Ready(result);
            }
            if self.timeout.as_ref().is_some_and(Timeout::is_over) {
                return Poll::Ready(Err(self.time_out()));
            }
            if self.shared.answers[self.index].poll_wait().is_pending() {
                return Poll::Pending;
            }
        }
    }

    /// The answer may still come. A connection on which the request itself has not left is given up.
    #[cold]
    fn time_out(&mut self) -> Failure {
        let Self { shared, index, timeout, request_end } = self;
        let bound = timeout.as_ref().map(Timeout::bound).unwrap_or_default();
        let mut link = shared.link.borrow_mut();
        let can_go_on = shared.calls.borrow_mut().time_out(*index, link.as_mut());
        let has_left = link.as_ref().is_none_or(|it| it.out.has_left(*request_end));
        drop(link);
        // What cancels the call is to be sent.
        shared.has_work.wake();
        if !has_left {
            shared.give_up(&format!(
                "the server has not read a request within {bound:?}, the query time-out"
            ));
        } else if !can_go_on {
            shared.give_up("too many requests were never answered: the connection is given up");
        }
        let message = format!("no answer within {bound:?}, the query time-out");
        Failure::new(ErrorClass::Timeout, "", message)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // A call that is dropped in flight is like one that timed out: its answer may still come.
        let mut link = self.shared.link.borrow_mut();
        self.shared.calls.borrow_mut().drop_call(self.index, link.as_mut());
    }
}
