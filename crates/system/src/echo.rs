//! dyno's own echo server: the far end of a path whose capacity is measured, and an RPC service that needs no
//! installation.
//!
//! One port has two protocols, which are told apart by the first bytes of a connection: tRPC frames, whose bodies come
//! back, and requests and answers of fixed sizes over plain TCP ([`net::FixedSizes`]). The server does as little as
//! an answer needs: one wait, one read and one write for all requests that have arrived together.

mod codec;
mod connection;
mod fixed;
#[cfg(test)]
mod fuzz;
mod kind;
mod server;
mod trpc;

pub use kind::EchoProcess;
pub(crate) use kind::KIND;
pub use server::{EchoOptions, EchoServer};
