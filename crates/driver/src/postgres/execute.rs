//! The conversations that prepare and execute a statement.

use measure::{ErrorClass, Failure};

use super::codec::{
    Malformed, MessageLimit, NoLiteral, ParameterKind, Prepared, Request, ServerError,
    append_execute, append_filled, append_parse, append_prepare, column_names, finish_message,
    kind, start_message,
};
use super::config::StatementProtocol;
use super::session::{PreparedStatement, Session};
use crate::Value;
use crate::asked::{Asked, shared_text};

/// The kinds of a statement's parameters, and the names of its columns.
type Described = (Vec<ParameterKind>, Result<Vec<String>, Malformed>);

impl Session {
    /// Prepares a statement, whose parameters are between its pieces; returns its index among this session's
    /// statements.
    pub(crate) async fn prepare(&mut self, pieces: &[&str]) -> Result<usize, Failure> {
        let index = self.statements.len();
        let sql = numbered(pieces);
        let ready = match self.peer.protocol {
            StatementProtocol::Named => {
                let name = format!("s{index}");
                let (kinds, _) = self.describe(&name, &sql).await?;
                let names = format!("\0{name}\0").into_bytes();
                PreparedStatement::Prepared(Prepared { parse: Vec::new(), names, kinds })
            }
            StatementProtocol::Unnamed => {
                let (kinds, _) = self.describe("", &sql).await?;
                let mut parse = Vec::new();
                append_parse(&mut parse, "", &sql);
                PreparedStatement::Prepared(Prepared { parse, names: vec![0, 0], kinds })
            }
            StatementProtocol::Text => {
                PreparedStatement::Text(pieces.iter().map(|piece| Box::from(*piece)).collect())
            }
        };
        self.statements.push(ready);
        self.peer.texts.push(shared_text(&sql));
        Ok(index)
    }

    /// The names of the columns that a statement returns.
    pub(crate) async fn column_names(&mut self, pieces: &[&str]) -> Result<Vec<String>, Failure> {
        let (_, columns) = self.describe("", &numbered(pieces)).await?;
        columns.map_err(|malformed| self.broken(malformed))
    }

    /// Has a statement parsed, and learns the types of its parameters and the names of its columns.
    async fn describe(&mut self, name: &str, sql: &str) -> Result<Described, Failure> {
        self.request.clear();
        append_prepare(&mut self.request, name, sql);
        self.send().await?;
        let (mut kinds, mut columns, mut refused) = (None, Ok(Vec::new()), None);
        loop {
            let (kind, body) = self.message(MessageLimit::Short).await?;
            match kind {
                kind::PARSE_COMPLETE | kind::NO_DATA => {}
                kind::ROW_DESCRIPTION => columns = column_names(&body),
                kind::PARAMETER_DESCRIPTION => kinds = Some(ParameterKind::all(&body)),
                kind::ERROR => refused = Some(ServerError::parse(&body)),
                kind::READY => {
                    self.settle(&body)?;
                    break;
                }
                _ => return Err(self.broken(Malformed("a message that was not due here"))),
            }
            if matches!(&refused, Some(Ok(error)) if error.is_fatal) {
                self.give_up();
                break;
            }
        }
        if let Some(error) = refused {
            let error = error.map_err(|malformed| self.broken(malformed))?;
            return Err(self.refused(&error));
        }
        let described = kinds.unwrap_or(Err(Malformed("a statement without its parameters")));
        let kinds = described.map_err(|malformed| self.broken(malformed))?;
        Ok((kinds, columns))
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
