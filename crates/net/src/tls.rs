//! TLS for streams, with rustls: the client's settings ([`TlsClient`]), its errors ([`TlsFault`]), and the
//! state machine between plain bytes and records, which has buffers but no sockets.

mod binding;
mod client;
mod fault;
mod machine;
mod outgoing;
mod verifier;

pub use client::{ClientCertificate, Roots, TlsClient, Trust};
pub use fault::{SetupFault, TlsFault};
pub use machine::Cipher;
pub(crate) use machine::{Machine, Opened};

#[cfg(test)]
pub(crate) mod tests;
