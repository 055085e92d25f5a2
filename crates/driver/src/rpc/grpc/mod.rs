//! Unary calls of gRPC: HTTP/2 by h2 over buffers in memory, so that this is a codec without sockets as the others.
//!
//! Source: "gRPC over HTTP2" and "HTTP to gRPC Status Code Mapping", of the documents of github.com/grpc/grpc.

mod call;
mod codec;
#[doc(hidden)]
#[cfg(test)]
mod fuzz;
mod message;
mod pipe;
mod ready;
mod request;
mod status;
#[cfg(test)]
mod tests;

pub(super) use codec::{CallResult, GrpcCodec, Settings};
pub(super) use request::{RequestFault, RequestHead, RequestParts};
