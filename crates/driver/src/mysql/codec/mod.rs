//! The MySQL client/server protocol without sockets: bytes in, messages out.
//!
//! Source: MySQL Internals, "Client/Server Protocol", and MariaDB's knowledge base, "Client/Server Protocol". Nothing
//! here trusts a length that the peer sends: data that is kept is bounded, data that is skipped is never stored.

mod auth;
mod batch;
mod execute;
mod handshake;
mod reply;
mod row_buffer;
mod rows;
mod server_error;
mod tabbed;
mod text;
mod wire;

pub use auth::ServerKey;
pub(crate) use auth::{
    Channel, Credentials, Login, LoginAction, LoginError, Method, PasswordSent, PublicKey,
};
pub(crate) use batch::{ManyRows, RowArray};
pub(crate) use execute::{BoundTypes, Prepared, column_name, encode_execute};
pub(crate) use handshake::{AuthReply, Greeting, LoginRequest, append_tls_request};
pub(crate) use reply::{Reply, ReplyProgress};
pub(crate) use row_buffer::RowFormat;
pub(crate) use rows::{AnswerLimit, RowProgress, RowSet};
pub(crate) use server_error::{ServerError, shown};
pub(crate) use tabbed::append_tabbed;
pub(crate) use text::{Escapes, NotFinite, TextTemplate, append_literal, quote_identifier};
pub(crate) use wire::{
    Malformed, MessageLimit, PacketReader, append_packet, finish_packet, start_packet,
};

/// The longest payload of one packet; longer messages continue in the next packet.
pub(crate) const PACKET_BYTES_MAX: usize = 0xff_ffff;

/// Capability bits, with the names of the handshake.
pub(crate) mod capability {
    pub(crate) const LONG_PASSWORD: u64 = 0x1;
    pub(crate) const LONG_FLAG: u64 = 0x4;
    pub(crate) const CONNECT_WITH_DB: u64 = 0x8;
    /// LOAD DATA LOCAL: the server may ask the client for rows.
    pub(crate) const LOCAL_FILES: u64 = 0x80;
    pub(crate) const PROTOCOL_41: u64 = 0x200;
    pub(crate) const TLS: u64 = 0x800;
    pub(crate) const TRANSACTIONS: u64 = 0x2000;
    pub(crate) const SECURE_CONNECTION: u64 = 0x8000;
    pub(crate) const MULTI_RESULTS: u64 = 0x2_0000;
    pub(crate) const PS_MULTI_RESULTS: u64 = 0x4_0000;
    pub(crate) const PLUGIN_AUTH: u64 = 0x8_0000;
    pub(crate) const DEPRECATE_EOF: u64 = 0x100_0000;
    /// MariaDB's: COM_STMT_BULK_EXECUTE. Bits from 32 on are MariaDB's own.
    pub(crate) const BULK_EXECUTE: u64 = 0x4_0000_0000;
}

/// Status bits that the server sends with the end of each answer.
pub(crate) mod status {
    pub(crate) const IN_TRANSACTION: u16 = 0x1;
    pub(crate) const AUTOCOMMIT: u16 = 0x2;
    pub(crate) const MORE_RESULTS: u16 = 0x8;
    pub(crate) const NO_BACKSLASH_ESCAPES: u16 = 0x200;
}

/// Commands: the first byte of a request.
pub(crate) mod command {
    pub(crate) const QUIT: u8 = 0x01;
    pub(crate) const QUERY: u8 = 0x03;
    pub(crate) const PREPARE: u8 = 0x16;
    pub(crate) const RESET_CONNECTION: u8 = 0x1f;
    pub(crate) const EXECUTE: u8 = 0x17;
    pub(crate) const BULK_EXECUTE: u8 = 0xfa;
}

#[cfg(test)]
mod tests;
