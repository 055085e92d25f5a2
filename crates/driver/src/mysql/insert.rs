//! Loads rows with INSERTs of many rows each, as text: where statements must not be prepared.

use measure::{ErrorClass, Failure};

use super::codec::{
    Escapes, NotFinite, append_literal, command, finish_packet, quote_identifier, start_packet,
};
use super::session::Session;
use crate::Value;
use crate::insert_timer::{Added, InsertTimer};

/// The approximate length of one statement: well below the smallest usual max_allowed_packet, 1 MiB.
const STATEMENT_BYTES: usize = 512 * 1024;

/// The length of the packets that servers must take, so that every loader may send its rows.
pub(crate) const PACKET_BYTES_MIN: u64 = 1 << 20;

/// A loader of rows with INSERT ... VALUES (...), (...).
#[derive(Debug)]
pub(crate) struct MultiRowInsert<'s> {
    session: &'s mut Session,
    head: String,
    escapes: Escapes,
    statement: Vec<u8>,
    loaded_rows: u64,
    timer: InsertTimer,
}

impl<'s> MultiRowInsert<'s> {
    pub(crate) fn new(session: &'s mut Session, table: &str, columns: &[&str]) -> Self {
        let head = insert_into(table, columns);
        let escapes = session.escapes();
        let timer = InsertTimer::new();
        Self { session, head, escapes, statement: Vec::new(), loaded_rows: 0, timer }
    }

    pub(crate) async fn push(&mut self, row: &[Value<'_>]) -> Result<(), Failure> {
        if self.statement.is_empty() {
            start_packet(&mut self.statement);
            self.statement.push(command::QUERY);
            self.statement.extend_from_slice(self.head.as_bytes());
        } else {
            self.statement.push(b',');
        }
        self.statement.push(b'(');
        for (index, value) in row.iter().enumerate() {
            if index > 0 {
                self.statement.push(b',');
            }
            append_literal(&mut self.statement, *value, self.escapes)
                .map_err(|NotFinite| not_finite())?;
        }
        self.statement.push(b')');
        if self.statement.len() >= STATEMENT_BYTES {
            self.send_statement().await?;
        }
        Ok(())
    }

    pub(crate) async fn finish(mut self) -> Result<Added, Failure> {
        self.send_statement().await?;
        Ok(self.timer.added(self.loaded_rows))
    }

    async fn send_statement(&mut self) -> Result<(), Failure> {
        if self.statement.is_empty() {
            return Ok(());
        }
        finish_packet(&mut self.statement, 0, 0);
        std::mem::swap(&mut self.session.request, &mut self.statement);
        let sent = self.timer.now();
        let asked = self.session.ask().await;
        std::mem::swap(&mut self.session.request, &mut self.statement);
        self.statement.clear();
        self.loaded_rows += asked?.affected;
        self.timer.answered(sent);
        Ok(())
    }
}

pub(super) fn insert_into(table: &str, columns: &[&str]) -> String {
    let columns: Vec<String> = columns.iter().map(|name| quote_identifier(name)).collect();
    format!("INSERT INTO {} ({}) VALUES ", quote_identifier(table), columns.join(","))
}

pub(super) fn not_finite() -> Failure {
    Failure::new(ErrorClass::Server, "", "a row holds a number that is not finite; SQL has no such")
}
