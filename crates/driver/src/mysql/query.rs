//! The conversation of a text query.

use measure::Failure;

use super::codec::{
    AnswerLimit, Malformed, RowProgress, RowSet, capability, command, finish_packet, start_packet,
};
use super::session::Session;
use crate::Datum;
use crate::asked::Asked;

/// Memory that a session keeps for its next request; after a longer request it is freed.
const REQUEST_BYTES: usize = 64 * 1024;

impl Session {
    /// Starts to run a text; [`Session::poll_answer`] continues.
    pub(crate) fn begin_run(&mut self, sql: &str) -> Result<(), Failure> {
        self.begin_drafted(|session| {
            session.build(command::QUERY, sql);
            session.asked = Asked::text(sql);
            Ok(())
        })
    }

    pub(crate) async fn rows(&mut self, sql: &str) -> Result<Vec<Vec<Datum>>, Failure> {
        self.rows_within(sql, AnswerLimit::Rows).await
    }

    /// Runs a text and returns its rows, unless they hold more than this.
    pub(super) async fn rows_within(
        &mut self,
        sql: &str,
        limit: AnswerLimit,
    ) -> Result<Vec<Vec<Datum>>, Failure> {
        self.build(command::QUERY, sql);
        self.send().await?;
        let mut set = RowSet::new(self.has(capability::DEPRECATE_EOF)).with_limit(limit);
        loop {
            let (payload, _) = self.message(limit.of_messages()).await?;
            match set.message(&payload).map_err(|malformed| self.broken(malformed))? {
                RowProgress::More => {}
                RowProgress::Done => {
                    self.settle()?;
                    return Ok(set.into_rows());
                }
                RowProgress::Refused(error) => {
                    self.settle()?;
                    return Err(self.refused(&error));
                }
                RowProgress::WantsRows => {
                    return Err(self.broken(Malformed("the server asks for a file")));
                }
            }
        }
    }

    pub(super) fn build(&mut self, command: u8, text: &str) {
        self.request.clear();
        if self.request.capacity() > REQUEST_BYTES && text.len() < REQUEST_BYTES {
            self.request = Vec::new();
        }
        let start = start_packet(&mut self.request);
        self.request.push(command);
        self.request.extend_from_slice(text.as_bytes());
        finish_packet(&mut self.request, start, 0);
    }
}
