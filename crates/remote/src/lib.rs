//! Dynos in other places: on hosts that a shell reaches, and in other processes of this host.
//!
//! [`Peer::start`] runs this program in a [`plan::Place`] and returns the connection to it; [`End::on_stdio`] is the other
//! end, in that process. One connection does all: a small script of a POSIX shell looks for a copy of the program there,
//! takes one when there is none, and becomes that program. Then both sides send messages, and heartbeats when they have
//! none. Everything that comes from the other side has bounds. [`RemoteHost`] watches a host with it.

mod clock;
mod dispatch;
mod end;
mod frame;
#[cfg(test)]
mod fuzz;
mod hello;
mod host_watch;
mod incoming;
mod link;
mod message;
mod peer;
mod problem;
mod program;
mod queue;
mod script;
mod shared;
mod shell;
mod start;
mod stderr;
#[cfg(test)]
mod tests;

pub use end::End;
pub use host_watch::{HOST_WATCH_COMMAND, HostWatchRequest, RemoteHost, serve_host_watch};
pub use link::{Receiver, Sender};
pub use peer::{Peer, StartOptions};
pub use problem::{LinkError, Problem};
