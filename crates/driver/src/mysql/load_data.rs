//! The conversation of LOAD DATA LOCAL INFILE: rows streamed beside the statement.

use std::future::poll_fn;

use measure::{ErrorClass, Failure};

use super::codec::{
    Escapes, Malformed, NoLiteral, Step, append_load_field, capability, command, finish_packet,
    quote_identifier, start_packet,
};
use super::session::Session;
use crate::{Datum, Value};

/// Rows are sent in packets of about this size.
const CHUNK_BYTES: usize = 128 * 1024;
/// A statement, and with it a transaction, ends after about so much, so that the server's undo and
/// binary logs stay small.
const STATEMENT_BYTES: usize = 4 << 20;

/// Rows on their way through LOAD DATA.
#[derive(Debug)]
pub(crate) struct LoadData<'s> {
    session: &'s mut Session,
    sql: String,
    chunk: Vec<u8>,
    /// The next packet's number while a statement is open.
    sequence: Option<u8>,
    statement_bytes: usize,
    statement_rows: u64,
    loaded_rows: u64,
}

impl Session {
    /// Whether LOAD DATA LOCAL can be used: both sides agreed to it, and its escapes, which follow
    /// the session's SQL mode, are the usual ones.
    pub(crate) fn takes_rows_beside(&self) -> bool {
        self.has(capability::LOCAL_FILES) && self.escapes() == Escapes::Backslash
    }
}

impl<'s> LoadData<'s> {
    /// Begins nothing on the server yet. Texts are taken in the session's character set: after
    /// `SET NAMES binary` the server copies them, which is faster than to look at each character.
    pub(crate) async fn new(
        session: &'s mut Session,
        table: &str,
        columns: &[&str],
    ) -> Result<Self, Failure> {
        let columns: Vec<String> = columns.iter().map(|name| quote_identifier(name)).collect();
        let characters = character_set(session).await?;
        // The server asks for the file by this name; what it gets is the rows.
        let sql = format!(
            "LOAD DATA LOCAL INFILE 'dyno' INTO TABLE {} CHARACTER SET {characters} ({})",
            quote_identifier(table),
            columns.join(",")
        );
        Ok(Self {
            session,
            sql,
            chunk: Vec::new(),
            sequence: None,
            statement_bytes: 0,
            statement_rows: 0,
            loaded_rows: 0,
        })
    }

    pub(crate) async fn push(&mut self, row: &[Value<'_>]) -> Result<(), Failure> {
        if self.chunk.is_empty() {
            start_packet(&mut self.chunk);
        }
        for (index, value) in row.iter().enumerate() {
            if index > 0 {
                self.chunk.push(b'\t');
            }
            append_load_field(&mut self.chunk, *value).map_err(|NoLiteral| no_literal())?;
        }
        self.chunk.push(b'\n');
        self.statement_rows += 1;
        if self.chunk.len() >= CHUNK_BYTES {
            self.send_chunk().await?;
        }
        if self.statement_bytes >= STATEMENT_BYTES {
            self.end_statement().await?;
        }
        Ok(())
    }

    pub(crate) async fn finish(mut self) -> Result<u64, Failure> {
        self.send_chunk().await?;
        self.end_statement().await?;
        Ok(self.loaded_rows)
    }

    async fn send_chunk(&mut self) -> Result<(), Failure> {
        if self.chunk.is_empty() {
            return Ok(());
        }
        let sequence = match self.sequence {
            Some(sequence) => sequence,
            None => self.begin_statement().await?,
        };
        self.statement_bytes += self.chunk.len();
        let next = finish_packet(&mut self.chunk, 0, sequence);
        std::mem::swap(&mut self.session.request, &mut self.chunk);
        let sent = self.session.send().await;
        std::mem::swap(&mut self.session.request, &mut self.chunk);
        self.chunk.clear();
        self.sequence = Some(next);
        sent
    }

    async fn begin_statement(&mut self) -> Result<u8, Failure> {
        self.session.build(command::QUERY, &self.sql);
        self.session.begin()?;
        match poll_fn(|_| self.session.poll_step()).await? {
            Step::WantsRows(sequence) => Ok(sequence),
            Step::Refused(error) => Err(self.session.refused(&error)),
            Step::Done | Step::More => {
                Err(self.session.broken(Malformed("LOAD DATA ended before it asked for rows")))
            }
        }
    }

    /// Sends the empty packet that ends the rows, and hears how it went.
    async fn end_statement(&mut self) -> Result<(), Failure> {
        let Some(sequence) = self.sequence.take() else { return Ok(()) };
        self.session.request.clear();
        let start = start_packet(&mut self.session.request);
        finish_packet(&mut self.session.request, start, sequence);
        let answer = self.session.ask().await?;
        let sent_rows = std::mem::take(&mut self.statement_rows);
        self.statement_bytes = 0;
        self.loaded_rows += answer.affected;
        // LOCAL turns errors of single rows into warnings and leaves those rows out.
        if answer.affected != sent_rows || self.session.reply.warnings() > 0 {
            return self.explain(sent_rows, answer.affected).await;
        }
        Ok(())
    }

    #[cold]
    async fn explain(&mut self, sent: u64, loaded: u64) -> Result<(), Failure> {
        let warnings = self.session.rows("SHOW WARNINGS").await?;
        let serious = warnings.iter().find(|row| row.first() != Some(&Datum::Text("Note".into())));
        if loaded == sent && serious.is_none() {
            return Ok(());
        }
        let (code, warning) = match serious.map(Vec::as_slice) {
            Some([_, Datum::Int(code), Datum::Text(text), ..]) => (*code, text.as_str()),
            _ => (0, "the server does not say why"),
        };
        let class = if code == 1062 { ErrorClass::DuplicateKey } else { ErrorClass::Server };
        let address = &self.session.address.name;
        let message =
            format!("{address}: {loaded} of {sent} rows went in; the server warns: {warning}");
        Err(Failure::new(class, code.to_string(), message))
    }
}

/// The session's character set, by which LOAD DATA does not go unless told.
async fn character_set(session: &mut Session) -> Result<String, Failure> {
    let rows = session.rows("SELECT @@character_set_client").await?;
    match rows.into_iter().flatten().next() {
        Some(Datum::Text(name)) if name.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
            Ok(name)
        }
        _ => Ok("utf8mb4".to_owned()),
    }
}

impl Drop for LoadData<'_> {
    fn drop(&mut self) {
        // The server still waits for rows, and would take the next request for one.
        self.session.is_broken |= self.sequence.is_some();
    }
}

pub(super) fn no_literal() -> Failure {
    Failure::new(ErrorClass::Server, "", "a row holds a number that is not finite; SQL has no such")
}
