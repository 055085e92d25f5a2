//! The frontend/backend protocol 3.0 of PostgreSQL without sockets: bytes in, messages out.
//!
//! Source: PostgreSQL's documentation, "Frontend/Backend Protocol". Nothing here trusts a length that the peer sends:
//! data that is kept is bounded, data that is skipped is never stored.

mod bind;
mod copy_text;
mod literal;
mod reply;
mod row_buffer;
mod rows;
mod scram;
mod server_error;
mod startup;
mod wire;

pub(crate) use bind::{
    ParameterKind, Prepared, SYNC, append_bound, append_execute, append_parse, append_prepare,
};
pub(crate) use copy_text::{BadCell, append_row};
pub(crate) use literal::{NoLiteral, append_filled};
pub(crate) use reply::{Reply, ReplyProgress, Request, TransactionState};
pub(crate) use rows::{AnswerLimit, RowProgress, RowSet, column_names};
pub(crate) use scram::{Binding, KnownKeys, Scram, ScramError, md5_response};
pub(crate) use server_error::{ServerError, shown};
pub(crate) use startup::{
    Authentication, append_cancel, append_sasl, append_startup, append_tls_request,
};
pub(crate) use wire::{
    Cursor, Malformed, MessageLimit, MessageReader, append_message, finish_message, start_message,
};

/// Kinds of messages: their first byte.
pub(crate) mod kind {
    pub(crate) const PARSE_COMPLETE: u8 = b'1';
    pub(crate) const BIND_COMPLETE: u8 = b'2';
    pub(crate) const NOTIFICATION: u8 = b'A';
    pub(crate) const COMMAND_COMPLETE: u8 = b'C';
    pub(crate) const COPY_DATA: u8 = b'd';
    pub(crate) const COPY_DONE: u8 = b'c';
    pub(crate) const COPY_IN: u8 = b'G';
    pub(crate) const COPY_OUT: u8 = b'H';
    pub(crate) const DATA_ROW: u8 = b'D';
    pub(crate) const EMPTY_QUERY: u8 = b'I';
    pub(crate) const ERROR: u8 = b'E';
    pub(crate) const KEY_DATA: u8 = b'K';
    pub(crate) const NEGOTIATE: u8 = b'v';
    pub(crate) const NO_DATA: u8 = b'n';
    pub(crate) const NOTICE: u8 = b'N';
    pub(crate) const PARAMETER_DESCRIPTION: u8 = b't';
    pub(crate) const PARAMETER_STATUS: u8 = b'S';
    pub(crate) const PASSWORD: u8 = b'p';
    pub(crate) const QUERY: u8 = b'Q';
    pub(crate) const READY: u8 = b'Z';
    pub(crate) const ROW_DESCRIPTION: u8 = b'T';
    pub(crate) const TERMINATE: u8 = b'X';
    pub(crate) const AUTHENTICATION: u8 = b'R';

    /// Whether a message of this kind may come at any time, and is no answer to anything.
    #[inline]
    pub(crate) fn is_unasked(kind: u8) -> bool {
        matches!(kind, NOTICE | PARAMETER_STATUS | NOTIFICATION)
    }
}

#[cfg(test)]
mod tests;
