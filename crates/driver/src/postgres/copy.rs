//! Loads rows with COPY, whose rows dyno makes while it sends them.

use std::future::poll_fn;

use measure::{ErrorClass, Failure};

use super::codec::{
    BadCell, Malformed, ReplyProgress, Request, append_message, append_row, finish_message, kind,
    start_message,
};
use super::session::Session;
use crate::asked::Asked;
use crate::insert_timer::{Added, InsertTimer};
use crate::{Answer, Value};

/// The length of a message of rows: more is not faster.
const MESSAGE_BYTES: usize = 64 * 1024;

/// A loader of rows with one COPY.
#[derive(Debug)]
pub(crate) struct CopyRows<'s> {
    session: &'s mut Session,
    statement: String,
    /// What empties the table, when its rows are written frozen: that takes a table that the transaction has made or
    /// emptied.
    truncate: Option<String>,
    not_frozen: Option<String>,
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
        Self {
            session,
            statement,
            truncate: None,
            not_frozen: None,
            rows: Vec::new(),
            has_begun: false,
            timer,
            began: 0,
        }
    }

    /// The same for the only rows of a table, which are written as VACUUM (FREEZE) would leave them, if the server does
    /// so: not for partitions or foreign tables, for instance.
    pub(crate) fn frozen(session: &'s mut Session, table: &str, columns: &[&str]) -> Self {
        let mut rows = Self::new(session, table, columns);
        rows.truncate = Some(format!("TRUNCATE {}", identifier(table)));
        rows
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
            return Ok(self.added(0));
        }
        let answer = self.end_rows().await?;
        self.timer.answered(self.began);
        Ok(self.added(answer.affected))
    }

    fn added(&mut self, rows: u64) -> Added {
        Added { not_frozen: self.not_frozen.take(), ..self.timer.added(rows) }
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

    async fn begin(&mut self) -> Result<(), Failure> {
        self.began = self.timer.now();
        let plain = self.statement.clone();
        let Some(truncate) = self.truncate.take() else { return self.ask_for_rows(&plain).await };
        let frozen = format!("{plain} WITH (FREEZE)");
        match self.try_frozen(&truncate, &frozen).await {
            Ok(()) => self.ask_for_rows(&frozen).await,
            Err(failure) if !self.session.is_broken => {
                self.not_frozen = Some(failure.message.to_string());
                self.run("ROLLBACK").await?;
                self.run("BEGIN").await?;
                self.ask_for_rows(&plain).await
            }
            Err(failure) => Err(failure),
        }
    }

    /// Empties the table and copies no row: the server refuses FREEZE only when it has asked for rows.
    async fn try_frozen(&mut self, truncate: &str, frozen: &str) -> Result<(), Failure> {
        self.run(truncate).await?;
        self.ask_for_rows(frozen).await?;
        self.end_rows().await.map(drop)
    }

    /// Sends the end of the rows and awaits the answer to all of them.
    async fn end_rows(&mut self) -> Result<Answer, Failure> {
        self.session.request.clear();
        append_message(&mut self.session.request, kind::COPY_DONE, &[]);
        self.has_begun = false;
        // A server that refuses a row says so at once, and drops those that follow.
        self.session.ask(Request::Rows).await
    }

    async fn run(&mut self, text: &str) -> Result<(), Failure> {
        self.session.build_text(text);
        self.session.asked = Asked::text(text);
        self.session.ask(Request::Text).await.map(drop)
    }

    /// Sends a COPY and awaits the request for rows.
    async fn ask_for_rows(&mut self, statement: &str) -> Result<(), Failure> {
        self.session.build_text(statement);
        self.session.asked = Asked::text(statement);
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
