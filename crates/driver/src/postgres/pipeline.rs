//! The conversation of several statements that are sent together.

use measure::{ErrorClass, Failure};

use super::codec::{
    AnswerLimit, Malformed, Prepared, Request, SYNC, ServerError, append_bound, append_parse, kind,
};
use super::config::StatementProtocol;
use super::query::is_commit;
use super::session::{PreparedStatement, ROLLED_BACK, Session};
use crate::asked::Asked;
use crate::{PipelineStep, Value};

/// The tag of a transaction that was rolled back, whatever was asked for.
const ROLLBACK: &[u8] = b"ROLLBACK\0";

impl Session {
    /// Whether statements are sent in a way that can have several under way.
    pub(crate) fn has_pipelines(&self) -> bool {
        self.peer.protocol != StatementProtocol::Text
    }

    /// Sends all statements, and tells of each when its answer has come, up to the first that fails.
    pub(crate) async fn pipeline(
        &mut self,
        steps: &[PipelineStep<'_>],
        mut answered: impl FnMut(usize, Option<&Failure>),
    ) -> Result<(), Failure> {
        self.build_pipeline(steps)?;
        self.begin(Request::Text)?;
        let (mut at, mut failed) = (0, None);
        loop {
            let (kind, body) = self.message(AnswerLimit::Rows.of_messages()).await?;
            let is_due = steps.get(at).is_some_and(|step| !matches!(step, PipelineStep::Sync));
            match kind {
                kind::PARSE_COMPLETE | kind::BIND_COMPLETE | kind::DATA_ROW if is_due => {}
                kind::COMMAND_COMPLETE | kind::EMPTY_QUERY if is_due => {
                    if failed.is_none() {
                        failed = self.not_committed(&steps[at], &body);
                        answered(at, failed.as_ref());
                    }
                    at += 1;
                }
                kind::ERROR => {
                    let error = ServerError::parse(&body);
                    let error = error.map_err(|malformed| self.broken(malformed))?;
                    let failure = self.refused(&error);
                    if error.is_fatal {
                        self.give_up();
                        return Err(failed.unwrap_or(failure));
                    }
                    if failed.is_none() {
                        answered(at, Some(&failure));
                        failed = Some(failure);
                    }
                    at = next_sync(steps, at);
                }
                kind::READY if at == steps.len() => {
                    self.settle(&body)?;
                    return failed.map_or(Ok(()), Err);
                }
                kind::READY if !is_due => {
                    self.reply.note_ready(&body).map_err(|malformed| self.broken(malformed))?;
                    at += 1;
                }
                _ => return Err(self.broken(Malformed("a message that was not due in a pipeline"))),
            }
        }
    }

    fn build_pipeline(&mut self, steps: &[PipelineStep<'_>]) -> Result<(), Failure> {
        self.request.clear();
        self.commits = false;
        self.asked = Asked::text("pipeline");
        for step in steps {
            match step {
                PipelineStep::Execute(statement, values) => self.append(statement.index, values)?,
                PipelineStep::Run(text) => {
                    append_parse(&mut self.request, "", text);
                    let unnamed =
                        Prepared { parse: Vec::new(), names: vec![0, 0], kinds: Vec::new() };
                    append_bound(&mut self.request, &unnamed, &[]);
                }
                PipelineStep::Sync => self.request.extend_from_slice(SYNC),
            }
        }
        self.request.extend_from_slice(SYNC);
        Ok(())
    }

    fn append(&mut self, statement: usize, values: &[Value<'_>]) -> Result<(), Failure> {
        match self.statements.get(statement) {
            Some(PreparedStatement::Prepared(prepared)) if prepared.kinds.len() == values.len() => {
                append_bound(&mut self.request, prepared, values);
                Ok(())
            }
            _ => {
                let message = "the statement cannot be sent in a pipeline of this session";
                Err(Failure::new(ErrorClass::Server, "", message))
            }
        }
    }

    /// COMMIT of a transaction that has failed is answered as ROLLBACK.
    fn not_committed(&self, step: &PipelineStep<'_>, tag: &[u8]) -> Option<Failure> {
        let commits = matches!(step, PipelineStep::Run(text) if is_commit(text));
        (commits && tag == ROLLBACK).then(|| {
            let name = &self.peer.address.name;
            let message = format!("{name}: COMMIT was answered with ROLLBACK");
            Failure::new(ErrorClass::Server, ROLLED_BACK, message)
        })
    }
}

/// The place of the Sync up to which the server leaves out everything after an error; the end where there is none.
fn next_sync(steps: &[PipelineStep<'_>], at: usize) -> usize {
    let rest = steps.iter().skip(at).position(|step| matches!(step, PipelineStep::Sync));
    rest.map_or(steps.len(), |rest| at + rest)
}
