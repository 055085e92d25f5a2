//! A running statement.
//!
//! It is a future written by hand, because the load path awaits it: while it waits it is one pointer wide, and
//! the session keeps all state between two polls.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use measure::{ErrorClass, Failure};

use crate::{Answer, mysql};

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
    /// The result is known without waiting.
    Done(Result<Answer, Failure>),
    /// The event loop has given the statement up, and ends in its next turn without an answer.
    GivenUp,
    Over,
}

impl<'s> From<&'s mut mysql::Session> for State<'s> {
    #[inline]
    fn from(session: &'s mut mysql::Session) -> Self {
        Self::MySql(session)
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
    fn poll(mut self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            State::MySql(session) => return session.poll_answer(),
            State::GivenUp => return Poll::Pending,
            State::Done(_) | State::Over => {}
        }
        match std::mem::replace(&mut self.0, State::Over) {
            State::Done(result) => Poll::Ready(result),
            _ => {
                Poll::Ready(Err(Failure::new(ErrorClass::Protocol, "", "an answer is given once")))
            }
        }
    }
}
