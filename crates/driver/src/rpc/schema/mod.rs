//! The methods of services and the types of their messages, from `.proto` files or from a server's reflection, and
//! messages of these types from JSON.
//!
//! Source: "ProtoJSON Format" of protobuf.dev; grpc/reflection/v1/reflection.proto of github.com/grpc/grpc-proto.

mod edition;
mod fault;
#[doc(hidden)]
#[cfg(test)]
mod fuzz;
mod imports;
mod json;
mod pool;
mod reflection;
mod source;
#[cfg(test)]
mod tests;
mod weight;

pub use fault::SchemaFault;
pub use pool::{Schema, UnaryMethod};
