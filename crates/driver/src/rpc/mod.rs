//! Calls of RPC services: tRPC, gRPC, and requests of a fixed size over TCP, which are the floor of the others.
//!
//! The clients of a group share a [`Connection`]; each has a [`Slot`] on it, with at most one call in flight. One
//! future owns the socket: requests that are ready together leave in one system call, and answers that came together
//! are read in one. Each protocol is a codec without sockets.

mod answer;
mod call;
#[cfg(test)]
mod captures;
mod codec;
mod connection;
#[cfg(test)]
mod fuzz;
mod grpc;
mod ids;
mod schema;
mod service;
mod slot;
mod state;
mod tcp;
#[cfg(test)]
mod tests;
mod trpc;
mod url;

pub use call::{Call, Compression, ContentType, GRPC_ANSWER_BYTES_MAX, Method};
pub use connection::Connection;
pub use schema::{Schema, SchemaFault, UnaryMethod};
pub use service::{Protocol, Service};
pub use slot::Slot;
pub use url::ServiceUrlError;
