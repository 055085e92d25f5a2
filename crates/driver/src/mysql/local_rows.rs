//! Loads rows with LOAD DATA LOCAL, whose rows dyno makes while it sends them.
//!
//! A server may answer any statement of such a session with a request for a file of this machine. dyno sends no file,
//! whatever name the server gives: only the rows that are pushed here, as the answer to the statement of this loader, on
//! a session that was opened for it. Every other session refuses the request (see [`Session::poll_answer`]).

use std::future::poll_fn;

use measure::{ErrorClass, Failure};

use super::codec::{
    Malformed, ReplyProgress, append_packet, append_tabbed, command, quote_identifier,
};
use super::insert::not_finite;
use super::session::Session;
use crate::Value;
use crate::insert_timer::{Added, InsertTimer};

/// The length of a packet of rows: well below the smallest usual max_allowed_packet, 1 MiB.
const PACKET_BYTES: usize = 256 * 1024;
/// The sequence number after the statement and the server's request.
const FIRST_SEQUENCE: u8 = 2;

/// A loader of rows with one LOAD DATA LOCAL.
#[derive(Debug)]
pub(crate) struct LocalRows<'s> {
    session: &'s mut Session,
    statement: String,
    rows: Vec<u8>,
    /// The sequence number of the next packet, once the server has asked for rows.
    sequence: Option<u8>,
    timer: InsertTimer,
    began: net::Nanos,
}

impl<'s> LocalRows<'s> {
    pub(crate) fn new(session: &'s mut Session, table: &str, columns: &[&str]) -> Self {
        let columns: Vec<String> = columns.iter().map(|name| quote_identifier(name)).collect();
        let table = quote_identifier(table);
        let columns = columns.join(",");
        let statement = format!("LOAD DATA LOCAL INFILE 'rows' INTO TABLE {table} ({columns})");
        let timer = InsertTimer::new();
        Self { session, statement, rows: Vec::new(), sequence: None, timer, began: 0 }
    }

    pub(crate) async fn push(&mut self, row: &[Value<'_>]) -> Result<(), Failure> {
        append_tabbed(&mut self.rows, row).map_err(|_not_finite| not_finite())?;
        if self.rows.len() >= PACKET_BYTES { self.send_rows().await } else { Ok(()) }
    }

    pub(crate) async fn finish(mut self) -> Result<Added, Failure> {
        if !self.rows.is_empty() {
            self.send_rows().await?;
        }
        let Some(sequence) = self.sequence else { return Ok(self.timer.added(0)) };
        // An empty packet ends the rows.
        self.session.request.clear();
        append_packet(&mut self.session.request, &[], sequence);
        self.sequence = None;
        let answer = self.session.ask().await?;
        self.timer.answered(self.began);
        Ok(self.timer.added(answer.affected))
    }

    async fn send_rows(&mut self) -> Result<(), Failure> {
        let sequence = match self.sequence {
            Some(sequence) => sequence,
            None => self.begin().await?,
        };
        self.session.request.clear();
        let next = append_packet(&mut self.session.request, &self.rows, sequence);
        self.rows.clear();
        self.sequence = Some(next);
        self.session.send().await
    }

    /// Sends the statement and awaits the request for rows.
    async fn begin(&mut self) -> Result<u8, Failure> {
        self.began = self.timer.now();
        self.session.build(command::QUERY, &self.statement);
        self.session.begin()?;
        let session = &mut *self.session;
        match poll_fn(|_| session.poll_step()).await? {
            ReplyProgress::WantsRows => Ok(FIRST_SEQUENCE),
            ReplyProgress::Refused(error) => Err(session.refused(&error)),
            ReplyProgress::Done | ReplyProgress::More => {
                Err(session.broken(Malformed("LOAD DATA ended before its rows")))
            }
        }
    }
}

/// A session whose rows have not ended has no use.
impl Drop for LocalRows<'_> {
    fn drop(&mut self) {
        if self.sequence.is_some() {
            self.session.give_up();
        }
    }
}

/// The failure of a server that does not take part.
pub(super) fn not_allowed(address: &str) -> Failure {
    let message = format!(
        "{address}: the server does not allow LOAD DATA LOCAL; allow it with SET GLOBAL local_infile = ON, or leave \
         load_data_local out to load with INSERT"
    );
    Failure::new(ErrorClass::Server, "", message)
}
