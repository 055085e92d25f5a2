//! Loads rows with COPY, whose rows dyno makes while it sends them.

use std::future::poll_fn;

use measure::{ErrorClass, Failure};

use super::codec::{
    BadCell, Malformed, ReplyProgress, Request, append_message, append_row, finish_message, kind,
    start_message,
};
use super::session::Session;
use crate::Value;
use crate::asked::Asked;
use crate::insert_timer::{Added, InsertTimer};

/// The length of a message of rows: more is not faster.
const MESSAGE_BYTES: usize = 64 * 1024;

/// A loader of rows with one COPY.
#[derive(Debug)]
pub(crate) struct CopyRows<'s> {
    session: &'s mut Session,
    statement: String,
    /// A message with rows; empty before the first one.
    rows: Vec<u8>,
    has_begun: bool,
    timer: InsertTimer,
    began: net::Nanos,
}

impl<'s> CopyRows<'s> {
    pub(crate) fn new(session: &'s mut Session, table: &str, columns: &[&str]) -> Self {
        let columns: Vec<String> = columns.iter().map(|name| identifier(name)).collect();
        let statement = format!("COPY {} ({}) FROM STDIN", identifier(table), columns.join(", "));
        let timer = InsertTimer::new();
        Self { session, statement, rows: Vec::new(), has_begun: false, timer, began: 0 }
    }

    pub(crate) async fn push(&mut self, row: &[Value<'_>]) -> Result<(), Failure> {
        if self.rows.is_empty() {
            start_message(&mut self.rows, kind::COPY_DATA);
        }
        append_row(&mut self.rows, row)
            .map_err(|bad @ BadCell| Failure::new(ErrorClass::Server, "", bad.to_string()))?;
        if self.rows.len() >= MESSAGE_BYTES { self.send_rows().await } else { Ok(()) }
    }

    pub(crate) async fn finish(mut self) -> Result<Added, Failure> {
        if !self.rows.is_empty() {
            self.send_rows().await?;
        }
        if !self.has_begun {
            return Ok(self.timer.added(0));
        }
        self.session.request.clear();
        append_message(&mut self.session.request, kind::COPY_DONE, &[]);
        self.has_begun = false;
        // A server that refuses a row says so at once, and drops those that follow.
        let answer = self.session.ask(Request::Rows).await?;
        self.timer.answered(self.began);
        Ok(self.timer.added(answer.affected))
    }

    async fn send_rows(&mut self) -> Result<(), Failure> {
        if !self.has_begun {
            self.begin().await?;
        }
        finish_message(&mut self.rows, 1);
        std::mem::swap(&mut self.session.request, &mut self.rows);
        let sent = self.session.send().await;
        std::mem::swap(&mut self.session.request, &mut self.rows);
        self.rows.clear();
        sent
    }

    /// Sends the statement and awaits the request for rows.
    async fn begin(&mut self) -> Result<(), Failure> {
        self.began = self.timer.now();
        self.session.build_text(&self.statement);
        self.session.asked = Asked::text(&self.statement);
        self.session.begin(Request::Text)?;
        let session = &mut *self.session;
        match poll_fn(|_| session.poll_step()).await? {
            ReplyProgress::WantsRows => {
                self.has_begun = true;
                Ok(())
            }
            ReplyProgress::Refused(error) => Err(session.refused(&error)),
            ReplyProgress::Done | ReplyProgress::More => {
                Err(session.broken(Malformed("COPY ended before its rows")))
            }
        }
    }
}

/// A session whose rows have not ended has no use.
impl Drop for CopyRows<'_> {
    fn drop(&mut self) {
        if self.has_begun {
            self.session.give_up();
        }
    }
}

/// A name as it stands in CREATE TABLE: only one that needs quotes has them, because those keep its case.
fn identifier(name: &str) -> String {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !name.starts_with(|first: char| first.is_ascii_digit());
    if is_plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}
