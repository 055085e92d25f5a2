//! The conversation of a text query.

use measure::Failure;

use super::codec::{
    AnswerLimit, Malformed, Request, RowProgress, RowSet, finish_message, kind, start_message,
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
            session.build_text(sql);
            session.asked = Asked::text(sql);
            Ok(Request::Text)
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
        self.build_text(sql);
        self.send().await?;
        let mut set = RowSet::new(limit);
        loop {
            let (kind, body) = self.message(limit.of_messages()).await?;
            match set.message(kind, &body).map_err(|malformed| self.broken(malformed))? {
                RowProgress::More => {}
                RowProgress::Done => {
                    self.settle(&body)?;
                    return Ok(set.into_rows());
                }
                RowProgress::Refused(error) => {
                    if error.is_fatal {
                        self.give_up();
                    } else {
                        self.settle(&body)?;
                    }
                    return Err(self.refused(&error));
                }
                RowProgress::WantsRows => {
                    return Err(self.broken(Malformed("the server asks for rows")));
                }
            }
        }
    }

    pub(super) fn build_text(&mut self, text: &str) {
        self.request.clear();
        if self.request.capacity() > REQUEST_BYTES && text.len() < REQUEST_BYTES {
            self.request = Vec::new();
        }
        self.commits = is_commit(text);
        let start = start_message(&mut self.request, kind::QUERY);
        self.request.extend_from_slice(text.as_bytes());
        self.request.push(0);
        finish_message(&mut self.request, start);
    }
}

/// Whether a text ends a transaction by COMMIT or its synonym END.
pub(super) fn is_commit(text: &str) -> bool {
    let text = text.as_bytes().trim_ascii_start();
    ["COMMIT", "END"].iter().any(|word| {
        text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
    })
}
