//! Echo servers in Go, of trpc-go and of grpc-go: built from `systems/`, started, watched and stopped.

mod build;
#[cfg(test)]
mod fuzz;
mod managed;
mod panels;
mod report;
mod server;

pub use build::EchoServer;
pub(crate) use managed::{GRPC, TRPC};
pub(crate) use panels::{COUNTED_BY_GRPC, COUNTED_BY_TRPC, server_kinds};
