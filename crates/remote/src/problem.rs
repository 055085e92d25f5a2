//! Why a connection to another dyno is of no more use.

use std::fmt;

use crate::frame::FRAME_BYTES_MAX;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The other side is gone, or has closed.
    #[error("the connection has ended")]
    Closed,
    /// The other side has sent nothing, not even a heartbeat.
    #[error("no sign of life for {0} s")]
    Silent(u64),
    /// The other side does not read what it is sent.
    #[error("it has read nothing for {0} s")]
    NotReading(u64),
    /// The other side does not keep to the protocol.
    #[error("not a message of dyno: {0}")]
    Garbage(String),
    /// A message is larger than any may be.
    #[error("a message of {0} bytes, and {FRAME_BYTES_MAX} are the most")]
    TooLarge(u64),
    /// This side has closed the connection.
    #[error("the connection was closed here")]
    Finished,
}

/// The same with what the program that makes the connection has said, such as ssh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkError {
    pub problem: Problem,
    /// The exit status and the last words of that program; empty when there are none.
    pub said: String,
}

impl From<Problem> for LinkError {
    fn from(problem: Problem) -> Self {
        Self { problem, said: String::new() }
    }
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.said.as_str() {
            "" => write!(f, "{}", self.problem),
            said => write!(f, "{}; {said}", self.problem),
        }
    }
}

impl std::error::Error for LinkError {}
