//! The conversations that prepare and execute a statement.

use measure::{ErrorClass, Failure};

use super::codec::{
    BoundTypes, Escapes, MessageLimit, Prepared, RowFormat, ServerError, TextTemplate, capability,
    column_name, command, encode_execute, finish_packet, start_packet,
};
use super::config::StatementProtocol;
use super::session::{PreparedStatement, Session};
use crate::Value;
use crate::asked::{Asked, shared_text};

impl Session {
    /// Prepares a statement; returns its index among this session's statements.
    pub(crate) async fn prepare(&mut self, sql: &str) -> Result<usize, Failure> {
        let ready = match self.protocol {
            StatementProtocol::Prepared => self.prepare_on_server(sql).await?,
            StatementProtocol::Text => PreparedStatement::Text(TextTemplate::new(sql)),
        };
        self.statements.push(ready);
        self.peer.texts.push(shared_text(sql));
        Ok(self.statements.len() - 1)
    }

    /// The names of the columns that a statement returns. It stays prepared until the session ends.
    pub(crate) async fn column_names(&mut self, sql: &str) -> Result<Vec<String>, Failure> {
        let mut names = Vec::new();
        self.prepare_and_describe(sql, |name| names.push(name)).await?;
        Ok(names)
    }

    pub(super) async fn prepare_on_server(
        &mut self,
        sql: &str,
    ) -> Result<PreparedStatement, Failure> {
        self.prepare_and_describe(sql, drop).await
    }

    /// Prepares a statement, and tells the names of its columns.
    async fn prepare_and_describe(
        &mut self,
        sql: &str,
        mut column: impl FnMut(String),
    ) -> Result<PreparedStatement, Failure> {
        self.build(command::PREPARE, sql);
        self.send().await?;
        let (payload, _) = self.message(MessageLimit::Short).await?;
        if payload.first() == Some(&0xff) {
            let error = ServerError::parse(&payload).map_err(|malformed| self.broken(malformed))?;
            return Err(self.refused(&error));
        }
        let prepared = Prepared::parse(&payload).map_err(|malformed| self.broken(malformed))?;
        let has_deprecated_eof = self.has(capability::DEPRECATE_EOF);
        let columns = prepared.columns_to_come(has_deprecated_eof);
        for place in 0..prepared.packets_to_come(has_deprecated_eof) {
            let (payload, _) = self.message(MessageLimit::Short).await?;
            if columns.contains(&place) {
                let name = column_name(&payload).map_err(|malformed| self.broken(malformed))?;
                column(name);
            }
        }
        self.settle()?;
        let bound = BoundTypes::new(prepared.parameters);
        Ok(PreparedStatement::Prepared { id: prepared.id, bound })
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
        self.reply.row_buffer(match self.protocol {
            StatementProtocol::Prepared => RowFormat::Binary,
            StatementProtocol::Text => RowFormat::Text,
        });
        Ok(())
    }

    #[inline]
    fn encode(&mut self, statement: usize, values: &[Value<'_>]) -> Result<(), Failure> {
        let escapes = self.escapes();
        self.asked = Asked::Statement(statement as u32);
        match self.statements.get_mut(statement) {
            Some(PreparedStatement::Prepared { id, bound }) if bound.len() == values.len() => {
                encode_execute(&mut self.request, *id, bound, values);
                Ok(())
            }
            Some(PreparedStatement::Text(template)) if template.parameters() == values.len() => {
                fill(&mut self.request, template, values, escapes)
            }
            other => Err(mismatch(other.map(|ready| ready.parameters()), values.len())),
        }
    }
}

impl PreparedStatement {
    fn parameters(&self) -> usize {
        match self {
            Self::Prepared { bound, .. } => bound.len(),
            Self::Text(template) => template.parameters(),
        }
    }
}

fn fill(
    request: &mut Vec<u8>,
    template: &TextTemplate,
    values: &[Value<'_>],
    escapes: Escapes,
) -> Result<(), Failure> {
    request.clear();
    let start = start_packet(request);
    request.push(command::QUERY);
    template.fill(request, values, escapes).map_err(|index| {
        let message =
            format!("parameter {} is no finite number, which SQL cannot express", index + 1);
        Failure::new(ErrorClass::Server, "", message)
    })?;
    finish_packet(request, start, 0);
    Ok(())
}

#[cold]
fn mismatch(wanted: Option<usize>, given: usize) -> Failure {
    let message = match wanted {
        Some(wanted) => format!("the statement has {wanted} parameters, {given} were given"),
        None => "the statement was made ready on another session".into(),
    };
    Failure::new(ErrorClass::Server, "", message)
}
