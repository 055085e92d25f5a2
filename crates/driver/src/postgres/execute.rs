//! The conversations that prepare and execute a statement.

use std::ops::Range;

use measure::{ErrorClass, Failure};

use super::codec::{
    Malformed, MessageLimit, NoLiteral, ParameterKind, Prepared, Request, SYNC, ServerError,
    append_execute, append_filled, append_parse, append_prepare, column_names, finish_message,
    kind, start_message,
};
use super::config::StatementProtocol;
use super::session::{PreparedStatement, Session};
use crate::asked::{Asked, shared_text};
use crate::{Unprepared, Value};

/// The kinds of a statement's parameters, and the names of its columns.
type Described = (Vec<ParameterKind>, Vec<String>);

/// The length from which on a request prepares no more statements.
const PIPELINE_BYTES: usize = 32 * 1024;

impl Session {
    /// Prepares a statement, whose parameters are between its pieces; returns its index among this session's
    /// statements.
    pub(crate) async fn prepare(&mut self, pieces: &[&str]) -> Result<usize, Failure> {
        Ok(self.prepare_all(&[pieces.to_vec()]).await?.start)
    }

    /// Prepares several statements with one wait for the server; returns their indexes.
    pub(crate) async fn prepare_all(
        &mut self,
        statements: &[Vec<&str>],
    ) -> Result<Range<usize>, Unprepared> {
        let first = self.statements.len();
        let mut rest = statements;
        while !rest.is_empty() {
            let done = self.statements.len() - first;
            let taken = match self.peer.protocol {
                StatementProtocol::Text => self.keep_texts(rest),
                StatementProtocol::Named | StatementProtocol::Unnamed => {
                    let described = self.describe_some(rest).await;
                    described.map_err(|unprepared| unprepared.behind(done))?
                }
            };
            rest = &rest[taken..];
        }
        Ok(first..self.statements.len())
    }

    fn keep_texts(&mut self, statements: &[Vec<&str>]) -> usize {
        for pieces in statements {
            let text = pieces.iter().map(|piece| Box::from(*piece)).collect();
            self.keep(&numbered(pieces), PreparedStatement::Text(text));
        }
        statements.len()
    }

    fn keep(&mut self, sql: &str, statement: PreparedStatement) {
        self.statements.push(statement);
        self.peer.texts.push(shared_text(sql));
    }

    /// Prepares as many of the statements as one request has room for; returns how many those are. The server answers
    /// while it reads, so a request must fit into the buffers between both: it is sent before an answer is read.
    async fn describe_some(&mut self, statements: &[Vec<&str>]) -> Result<usize, Unprepared> {
        let is_named = self.peer.protocol == StatementProtocol::Named;
        let mut texts = Vec::new();
        self.request.clear();
        for pieces in statements {
            let number = self.statements.len() + texts.len();
            let name = if is_named { format!("s{number}") } else { String::new() };
            let sql = numbered(pieces);
            append_prepare(&mut self.request, &name, &sql);
            texts.push((name, sql));
            if self.request.len() >= PIPELINE_BYTES {
                break;
            }
        }
        self.request.extend_from_slice(SYNC);
        let mut described = Vec::new();
        let read = match self.send().await {
            Ok(()) => self.descriptions(&texts, &mut described).await,
            Err(failure) => Err(failure),
        };
        // Those before the one that was refused are the server's too.
        let index = described.len();
        for ((name, sql), (kinds, _)) in texts.iter().zip(described) {
            let names = format!("\0{name}\0").into_bytes();
            let mut parse = Vec::new();
            if !is_named {
                append_parse(&mut parse, "", sql);
            }
            let names = if is_named { names } else { vec![0, 0] };
            self.keep(sql, PreparedStatement::Prepared(Prepared { parse, names, kinds }));
        }
        let last = texts.len() - 1;
        read.map(|()| index).map_err(|failure| Unprepared { index: index.min(last), failure })
    }

    /// The names of the columns that a statement returns.
    pub(crate) async fn column_names(&mut self, pieces: &[&str]) -> Result<Vec<String>, Failure> {
        let sql = numbered(pieces);
        self.request.clear();
        append_prepare(&mut self.request, "", &sql);
        self.request.extend_from_slice(SYNC);
        self.send().await?;
        let mut described = Vec::new();
        self.descriptions(&[(String::new(), sql)], &mut described).await?;
        Ok(described.pop().map(|(_, columns)| columns).unwrap_or_default())
    }

    /// Reads the answers to a Parse and a Describe of each of these statements: the types of their parameters and the
    /// names of their columns. After an error the server skips all that follow.
    async fn descriptions(
        &mut self,
        statements: &[(String, String)],
        described: &mut Vec<Described>,
    ) -> Result<(), Failure> {
        const NOT_DUE: Malformed = Malformed("a message that was not due here");
        let (mut kinds, mut refused) = (None, None);
        loop {
            let (kind, body) = self.message(MessageLimit::Short).await?;
            let step = match kind {
                kind::PARSE_COMPLETE => Ok(()),
                kind::PARAMETER_DESCRIPTION => {
                    ParameterKind::all(&body).map(|all| kinds = Some(all))
                }
                kind::NO_DATA | kind::ROW_DESCRIPTION => {
                    let columns = match kind {
                        kind::NO_DATA => Ok(Vec::new()),
                        _ => column_names(&body),
                    };
                    let both = kinds.take().ok_or(NOT_DUE).and_then(|kinds| Ok((kinds, columns?)));
                    both.map(|both| described.push(both))
                }
                kind::ERROR => ServerError::parse(&body).map(|error| refused = Some(error)),
                kind::READY => {
                    self.settle(&body)?;
                    break;
                }
                _ => Err(NOT_DUE),
            };
            step.map_err(|malformed| self.broken(malformed))?;
            if described.len() > statements.len() {
                return Err(self.broken(NOT_DUE));
            }
            if refused.as_ref().is_some_and(|error| error.is_fatal) {
                self.give_up();
                break;
            }
        }
        let text = statements.get(described.len()).map(|(_, sql)| shared_text(sql));
        match (refused, text) {
            (Some(error), text) => {
                let place = text.map(|text| format!(" (in `{text}`)")).unwrap_or_default();
                Err(self.refused_at(&error, &place))
            }
            (None, Some(_)) => Err(self.broken(Malformed("a statement without its parameters"))),
            (None, None) => Ok(()),
        }
    }

    /// Starts to execute a statement; [`Session::poll_answer`] continues.
    #[inline]
    pub(crate) fn begin_execute(
        &mut self,
        statement: usize,
        values: &[Value<'_>],
    ) -> Result<(), Failure> {
        self.begin_drafted(|session| session.encode(statement, values))
    }

    /// Starts to execute a statement whose rows are kept; [`Session::poll_answer`] continues.
    #[inline]
    pub(crate) fn begin_fetch(
        &mut self,
        statement: usize,
        values: &[Value<'_>],
    ) -> Result<(), Failure> {
        self.begin_execute(statement, values)?;
        self.reply.row_buffer();
        Ok(())
    }

    #[inline]
    fn encode(&mut self, statement: usize, values: &[Value<'_>]) -> Result<Request, Failure> {
        self.asked = Asked::Statement(statement as u32);
        self.commits = false;
        match self.statements.get(statement) {
            Some(PreparedStatement::Prepared(prepared)) if prepared.kinds.len() == values.len() => {
                append_execute(&mut self.request, prepared, values);
                let is_named = prepared.parse.is_empty();
                Ok(if is_named { Request::Execute } else { Request::ParseAndExecute })
            }
            Some(PreparedStatement::Text(pieces)) if pieces.len() == values.len() + 1 => {
                let start = start_message(&mut self.request, kind::QUERY);
                append_filled(&mut self.request, pieces, values).map_err(no_literal)?;
                self.request.push(0);
                finish_message(&mut self.request, start);
                Ok(Request::Text)
            }
            other => Err(mismatch(other, values.len())),
        }
    }
}

/// A statement with its parameters numbered.
fn numbered(pieces: &[&str]) -> String {
    let mut sql = String::new();
    for (place, piece) in pieces.iter().enumerate() {
        if place > 0 {
            sql += &format!("${place}");
        }
        sql += piece;
    }
    sql
}

#[cold]
fn no_literal(NoLiteral(index): NoLiteral) -> Failure {
    let message = format!(
        "parameter {} is no finite number, or has a zero byte, which SQL cannot express",
        index + 1
    );
    Failure::new(ErrorClass::Server, "", message)
}

#[cold]
fn mismatch(statement: Option<&PreparedStatement>, given: usize) -> Failure {
    let message = match statement {
        Some(statement) => {
            let wanted = match statement {
                PreparedStatement::Prepared(prepared) => prepared.kinds.len(),
                PreparedStatement::Text(pieces) => pieces.len() - 1,
            };
            format!("the statement has {wanted} parameters, {given} were given")
        }
        None => "the statement was made ready on another session".into(),
    };
    Failure::new(ErrorClass::Server, "", message)
}
