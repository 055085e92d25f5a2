//! The place of one client on a shared connection.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use measure::{ErrorClass, Failure, Traffic};
use net::Timeout;

use super::connection::Shared;
use super::state::{CallFailure, RequestPlace};

/// One client's place on a connection: at most one call of it is in flight. It belongs to one future.
pub struct Slot {
    shared: Rc<Shared>,
    index: usize,
    timeout: Option<Timeout>,
    /// The number of the byte after the current request.
    request_end: u64,
    /// The number of the link of the current call.
    link: u64,
    /// Whether the service may have begun the last call.
    was_begun: bool,
}

impl Slot {
    pub(super) fn new(shared: Rc<Shared>, index: usize) -> Self {
        let timeout = shared.timeouts.query.map(|bound| Timeout::new(&shared.handle, bound));
        Self { shared, index, timeout, request_end: 0, link: 0, was_begun: false }
    }

    /// Waits until there is a connection, of which one attempt is made. Returns whether this is the first slot to be told
    /// of it, so that each connection can be counted once.
    ///
    /// # Errors
    /// When the service cannot be reached, with what to do about it.
    pub async fn connect(&self) -> Result<bool, Failure> {
        self.shared.connect(self.index).await
    }

    /// Whether the service may have begun the call that has failed last. If not, it can be sent again, on another
    /// connection if this one is gone: the server had closed it before, refused the call's stream, or announced the end of
    /// the connection before it began with the call (gRFC A6; RFC 9113, sections 6.8 and 8.7).
    pub fn was_begun(&self) -> bool {
        self.was_begun
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
        self.call_with(body, &[]).await
    }

    /// The same, with values for the keys of [`Call::drawn_metadata`](super::Call::drawn_metadata).
    ///
    /// # Errors
    /// Also, as an error of the server without a code, when the protocol cannot carry the values.
    #[inline]
    pub async fn call_with(&mut self, body: &[u8], metadata: &[String]) -> Result<(), Failure> {
        self.send(body, metadata)?;
        poll_fn(|_| self.poll_answer()).await
    }

    #[inline]
    fn send(&mut self, body: &[u8], metadata: &[String]) -> Result<(), Failure> {
        let shared = &self.shared;
        let mut link = shared.link.borrow_mut();
        self.was_begun = link.is_some() || shared.take_untold();
        let Some(link) = link.as_mut() else { return Err(shared.last_failure()) };
        if let Some(failure) = &link.given_up {
            return Err(failure.clone());
        }
        if !metadata.is_empty() {
            let checked = link.codec.check(metadata);
            checked.map_err(|message| Failure::new(ErrorClass::Server, "", message))?;
        }
        let place = RequestPlace { link: link.number, begin: link.out.end() };
        let Some(id) = shared.calls.borrow_mut().begin(self.index, place) else {
            return Err(shared.last_failure());
        };
        link.codec.encode(id, (body, metadata), &mut link.out.bytes);
        self.request_end = link.out.end();
        self.link = link.number;
        link.has_work.wake();
        if let Some(timeout) = &self.timeout {
            timeout.begin();
        }
        Ok(())
    }

    #[inline]
    fn poll_answer(&mut self) -> Poll<Result<(), Failure>> {
        loop {
            let taken = self.shared.calls.borrow_mut().take(self.index);
            if let Some(result) = taken {
                if let Some(timeout) = &self.timeout {
                    timeout.end();
                }
                return Poll::Ready(result.map_err(|failed| self.failed(failed)));
            }
            if self.timeout.as_ref().is_some_and(Timeout::is_over) {
                return Poll::Ready(Err(self.time_out()));
            }
            if self.shared.answers[self.index].poll_wait().is_pending() {
                return Poll::Pending;
            }
        }
    }

    #[cold]
    fn failed(&mut self, CallFailure { failure, was_begun }: CallFailure) -> Failure {
        self.was_begun = was_begun;
        failure
    }

    /// The answer may still come. A connection on which the request itself has not left is given up.
    #[cold]
    fn time_out(&mut self) -> Failure {
        let Self { shared, index, timeout, request_end, link, .. } = self;
        let bound = timeout.as_ref().map(Timeout::bound).unwrap_or_default();
        let (can_go_on, has_left) = shared.with_link(*link, |mut link| {
            let can_go_on = shared.calls.borrow_mut().time_out(*index, link.as_deref_mut());
            let Some(link) = link else { return (can_go_on, true) };
            // What cancels the call is to be sent.
            link.has_work.wake();
            (can_go_on, link.out.has_left(*request_end))
        });
        if !has_left {
            let reason =
                format!("the server has not read a request within {bound:?}, the query time-out");
            shared.give_up(*link, &reason);
        } else if !can_go_on {
            let reason = "too many requests were never answered: the connection is given up";
            shared.give_up(*link, reason);
        }
        let message = format!("no answer within {bound:?}, the query time-out");
        Failure::new(ErrorClass::Timeout, "", message)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // A call that is dropped in flight is like one that timed out: its answer may still come.
        let Self { shared, index, link, .. } = self;
        shared.with_link(*link, |link| shared.calls.borrow_mut().drop_call(*index, link));
    }
}
