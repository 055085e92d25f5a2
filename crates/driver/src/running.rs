//! A running statement.
//!
//! It is a future written by hand, because the load path awaits it: while it waits it is one pointer wide, and
//! the session keeps all state between two polls.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use measure::{ErrorClass, Failure};
use net::Handle;

use crate::{Answer, mysql, postgres};

/// The answer of a running statement. Dropping it before the answer has come makes the session unusable.
#[derive(Debug)]
#[must_use = "a statement's answer must be awaited"]
pub struct Running<'s>(State<'s>);

/// A protocol whose answers come later has a state of its own, the session that waits: so each poll decides once, for
/// all protocols together.
#[derive(Debug)]
pub(crate) enum State<'s> {
    /// The answer has not come yet.
    MySql(&'s mut mysql::Session),
    Postgres(&'s mut postgres::Session),
    /// The answer has come and is held, because the load asks for that.
    Held(Held),
    /// The result is known without waiting.
    Done(Result<Answer, Failure>),
    /// The event loop has given the statement up, and ends in its next turn without an answer.
    GivenUp,
    Over,
}

/// An answer that is held for a while.
pub(crate) struct Held(Pin<Box<dyn Future<Output = Result<Answer, Failure>>>>);

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Held")
    }
}

#[cold]
fn hold(handle: Handle, answer: Result<Answer, Failure>) -> Held {
    Held(Box::pin(async move {
        handle.hold().await;
        answer
    }))
}

impl<'s> From<&'s mut mysql::Session> for State<'s> {
    #[inline]
    fn from(session: &'s mut mysql::Session) -> Self {
        Self::MySql(session)
    }
}

impl<'s> From<&'s mut postgres::Session> for State<'s> {
    #[inline]
    fn from(session: &'s mut postgres::Session) -> Self {
        Self::Postgres(session)
    }
}

impl<'s> Running<'s> {
    /// A statement whose request was built, and sent as far as the kernel took it.
    #[inline]
    pub(crate) fn begun<S>(session: &'s mut S, begun: Result<(), Failure>) -> Self
    where
        &'s mut S: Into<State<'s>>,
    {
        Self(match begun {
            Ok(()) => session.into(),
            Err(failure) => State::Done(Err(failure)),
        })
    }

    /// A statement that has blocked the thread until its end, or until the event loop has given it up.
    #[inline]
    pub(crate) fn blocking(
        result: Result<Answer, Failure>,
        has_given_up: impl FnOnce() -> bool,
    ) -> Self {
        Self(match result {
            Err(_) if has_given_up() => State::GivenUp,
            result => State::Done(result),
        })
    }
}

impl Future for Running<'_> {
    type Output = Result<Answer, Failure>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let (answer, handle) = match &mut self.0 {
            State::MySql(session) => (ready!(session.poll_answer()), session.held()),
            State::Postgres(session) => (ready!(session.poll_answer()), session.held()),
            State::Held(held) => return held.0.as_mut().poll(context),
            State::GivenUp => return Poll::Pending,
            State::Done(_) | State::Over => return self.known(),
        };
        match handle.filter(|_| answer.is_ok()) {
            None => Poll::Ready(answer),
            Some(handle) => {
                self.0 = State::Held(hold(handle, answer));
                self.poll(context)
            }
        }
    }
}

impl Running<'_> {
    /// The result that is known without waiting.
    fn known(&mut self) -> Poll<Result<Answer, Failure>> {
        match std::mem::replace(&mut self.0, State::Over) {
            State::Done(result) => Poll::Ready(result),
            _ => {
                Poll::Ready(Err(Failure::new(ErrorClass::Protocol, "", "an answer is given once")))
            }
        }
    }
}
