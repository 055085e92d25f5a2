//! TLS for streams, by rustls: who is trusted ([`TlsClient`]), what goes wrong ([`TlsFault`]), and the
//! state machine between plain bytes and records, which knows buffers but no sockets.

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
