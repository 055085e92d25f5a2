//! One connection: its socket, its buffers, and the transfer of bytes and failures between them.

use std::fmt;
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::task::{Poll, ready};

use measure::{ErrorClass, Failure, Traffic};
use net::{Handle, Stream, Timeout};

use super::cancel::{CANCEL_BOUND, cancel};
use super::codec::{
    Malformed, MessageLimit, Prepared, Reply, ReplyProgress, Request, ServerError,
    TransactionState, append_message, kind,
};
use super::peer::Peer;
use super::session_counts::SessionEnd;
use super::url::SSL_WORDS;
use crate::Answer;
use crate::address::CLOSED_WHILE_IDLE;
use crate::asked::Asked;

/// The code of a COMMIT that the server has answered with ROLLBACK.
pub(super) const ROLLED_BACK: &str = "rolled-back";

/// What to do where a standby refuses to write.
const ON_STANDBY: &str = "the server is a standby, which only reads: use its primary, or a workload that only reads, with \
     `--existing reuse` and tables that were prepared on the primary";

#[derive(Debug)]
pub(super) enum PreparedStatement {
    Prepared(Prepared),
    /// The text between the parameters.
    Text(Vec<Box<str>>),
}

/// A logged-in connection. It usually needs no buffers of its own: requests are written and answers are parsed in the
/// event loop's buffers. Every statement touches all of the rest, so the struct is aligned to a cache line.
#[repr(align(64))]
pub(crate) struct Session {
    pub(super) stream: Stream,
    pub(super) peer: Box<Peer>,
    pub(super) request: Vec<u8>,
    /// How many bytes of the request the kernel has accepted.
    pub(super) sent: usize,
    pub(crate) reply: Reply,
    pub(super) statements: Vec<PreparedStatement>,
    /// The request whose answer it has awaited last.
    pub(super) asked: Asked,
    pub(super) traffic: Traffic,
    /// The time-out of an answer.
    pub(super) timeout: Option<Timeout>,
    /// A request was sent whose answer has not been read to its end.
    pub(super) awaits_answer: bool,
    /// An answer was lost or not understood: further bytes cannot be trusted.
    pub(super) is_broken: bool,
    /// The request is a COMMIT.
    pub(super) commits: bool,
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.awaits_answer
            && !self.is_broken
            && let Some(text) = self.asked.told(&self.peer.texts)
        {
            self.stream.handle().note_unanswered(text);
        }
        if self.peer.is_known {
            let end = self.counted();
            self.peer.sessions.ended(&self.peer.address.name, self.peer.process(), end);
        }
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Session({})", self.peer.address.name)
    }
}

impl Session {
    /// Bytes since the last call.
    pub(crate) fn take_traffic(&mut self) -> Traffic {
        std::mem::take(&mut self.traffic)
    }

    /// What the server counts of this session, when it ends now: it rolls back what is open.
    fn counted(&self) -> SessionEnd {
        let is_unsure = self.awaits_answer || self.is_broken;
        let is_open = self.reply.state() != TransactionState::None;
        SessionEnd {
            transactions: self.reply.transactions() + u64::from(is_open && !is_unsure),
            unsure: u64::from(is_unsure),
            statements: self.reply.statements(),
        }
    }

    /// Sends a logout; whether it arrives does not matter.
    pub(crate) async fn close(mut self) {
        if !self.is_broken {
            self.request.clear();
            append_message(&mut self.request, kind::TERMINATE, &[]);
            let _ = self.send().await;
        }
    }

    /// Sends the request that was built, and nothing else.
    pub(super) async fn send(&mut self) -> Result<(), Failure> {
        self.begin(Request::Text)?;
        self.awaits_answer = false;
        poll_fn(|_| self.poll_send()).await
    }

    /// Sends the request that was built and skips its answer.
    pub(super) async fn ask(&mut self, request: Request) -> Result<Answer, Failure> {
        self.begin(request)?;
        poll_fn(|_| self.poll_answer()).await
    }

    /// Builds a request in the event loop's buffer and starts to send it; [`Session::poll_answer`] continues. The
    /// session keeps that buffer only when the kernel does not accept all of it at once.
    #[inline]
    pub(super) fn begin_drafted(
        &mut self,
        build: impl FnOnce(&mut Self) -> Result<Request, Failure>,
    ) -> Result<(), Failure> {
        if self.stream.is_hung_up() && !self.is_broken && !self.awaits_answer {
            return Err(self.closed_while_idle());
        }
        let draft = self.stream.handle().take_draft();
        let mut own = std::mem::replace(&mut self.request, draft);
        self.request.clear();
        let begun = build(self).and_then(|request| self.begin(request));
        if self.sent == self.request.len() {
            // Nothing is left to send.
            std::mem::swap(&mut own, &mut self.request);
            self.request.clear();
            self.sent = 0;
        }
        self.stream.handle().give_draft(own);
        begun
    }

    /// Starts to send the request that was built; [`Session::poll_answer`] continues.
    ///
    /// The load path has no nested futures: between two polls, the session holds all state.
    #[inline]
    pub(super) fn begin(&mut self, request: Request) -> Result<(), Failure> {
        if self.is_broken || self.awaits_answer {
            return Err(self.gone());
        }
        self.awaits_answer = true;
        self.sent = 0;
        if let Some(timeout) = &self.timeout {
            timeout.begin();
        }
        self.traffic.sent_bytes += self.request.len() as u64;
        self.reply.begin(request);
        match self.poll_send() {
            Poll::Ready(Err(failure)) => Err(failure),
            _ => Ok(()),
        }
    }

    #[inline]
    fn poll_send(&mut self) -> Poll<Result<(), Failure>> {
        if self.sent == self.request.len() {
            return Poll::Ready(Ok(()));
        }
        match self.stream.poll_write(&self.request, &mut self.sent) {
            Poll::Ready(sent) => Poll::Ready(sent.map_err(|error| self.lost(&error))),
            Poll::Pending => self.poll_timeout(),
        }
    }

    /// The result of a wait that has not ended: it continues, or the time-out has passed.
    #[inline]
    fn poll_timeout<T>(&mut self) -> Poll<Result<T, Failure>> {
        match &self.timeout {
            Some(timeout) if timeout.is_over() => self.time_is_over(),
            _ => Poll::Pending,
        }
    }

    /// The server goes on with a statement whose connection is closed, and keeps its locks. So it is asked to end it, and
    /// the answer is awaited for a while longer.
    #[cold]
    fn time_is_over<T>(&mut self) -> Poll<Result<T, Failure>> {
        let bound = self.timeout.as_ref().map(Timeout::bound).unwrap_or_default();
        if self.peer.timed_out.is_some() || self.peer.key.is_empty() {
            self.peer.timed_out.get_or_insert(bound);
            return Poll::Ready(Err(self.timed_out()));
        }
        self.peer.timed_out = Some(bound);
        let handle = self.stream.handle().clone();
        handle.spawn(cancel(handle.clone(), &self.peer));
        let patience = Timeout::new(&handle, CANCEL_BOUND);
        patience.begin();
        self.timeout = Some(patience);
        Poll::Pending
    }

    /// Ends the wait; an answer that came after the time-out is none.
    #[inline]
    fn rest(&mut self) -> Result<(), Failure> {
        self.awaits_answer = false;
        if let Some(timeout) = &self.timeout {
            timeout.end();
        }
        if self.peer.timed_out.is_some() { Err(self.timed_out()) } else { Ok(()) }
    }

    /// Skips the answer to the current request, as far as it has arrived.
    #[inline]
    pub(crate) fn poll_answer(&mut self) -> Poll<Result<Answer, Failure>> {
        match ready!(self.poll_step()) {
            Ok(ReplyProgress::Done | ReplyProgress::More) => Poll::Ready(self.answer()),
            Ok(ReplyProgress::Refused(error)) => Poll::Ready(Err(self.refused_statement(&error))),
            Ok(ReplyProgress::WantsRows) => Poll::Ready(Err(self.broken(Malformed(
                "the server asks for rows (COPY ... FROM STDIN), which only dyno's own loads send",
            )))),
            Err(failure) => Poll::Ready(Err(failure)),
        }
    }

    /// COMMIT of a transaction that has failed is no error to the server, but it commits nothing.
    #[inline]
    fn answer(&mut self) -> Result<Answer, Failure> {
        if self.commits && self.reply.has_rolled_back() {
            let message = format!(
                "{}: COMMIT was answered with ROLLBACK: a statement of the transaction had failed before",
                self.peer.address.name
            );
            return Err(Failure::new(ErrorClass::Server, ROLLED_BACK, message));
        }
        Ok(self.reply.answer())
    }

    /// Sends the rest of the request and reads the answer up to its end, or until the server asks for rows.
    #[inline]
    pub(super) fn poll_step(&mut self) -> Poll<Result<ReplyProgress, Failure>> {
        if self.sent < self.request.len() {
            ready!(self.poll_send())?;
        }
        loop {
            let (reply, received_bytes) = (&mut self.reply, &mut self.traffic.received_bytes);
            let read = self.stream.poll_read_with(|bytes| {
                *received_bytes += bytes.len() as u64;
                if bytes.is_empty() { None } else { Some(reply.feed(bytes)) }
            });
            let Poll::Ready(read) = read else { return self.poll_timeout() };
            match read {
                Ok(Some(Ok(ReplyProgress::More))) => {}
                Ok(Some(Ok(step))) => {
                    self.rest()?;
                    return Poll::Ready(Ok(step));
                }
                Ok(Some(Err(malformed))) => return Poll::Ready(Err(self.broken(malformed))),
                Ok(None) => return Poll::Ready(Err(self.lost(&ErrorKind::UnexpectedEof.into()))),
                Err(error) => return Poll::Ready(Err(self.lost(&error))),
            }
        }
    }

    /// Reads the next whole message that answers something; for conversations off the load path.
    pub(super) async fn message(&mut self, limit: MessageLimit) -> Result<(u8, Vec<u8>), Failure> {
        self.peer.reader.push(&self.reply.take_kept());
        self.peer.reader.set_limit(limit);
        loop {
            match self.peer.reader.next() {
                Ok(Some((kind::PARAMETER_STATUS, body))) => self.peer.told(&body),
                Ok(Some((unasked, _))) if kind::is_unasked(unasked) => {}
                Ok(Some(message)) => {
                    if message.0 == kind::COMMAND_COMPLETE {
                        self.reply.note_statement(&message.1);
                    }
                    return Ok(message);
                }
                Ok(None) => poll_fn(|_| self.poll_bytes()).await?,
                Err(malformed) => return Err(self.broken(malformed)),
            }
        }
    }

    /// Reads what has come, and meanwhile sends what is left of the request: otherwise both sides could wait for each other.
    fn poll_bytes(&mut self) -> Poll<Result<(), Failure>> {
        if let Poll::Ready(Err(failure)) = self.poll_send() {
            return Poll::Ready(Err(failure));
        }
        let (reader, received_bytes) = (&mut self.peer.reader, &mut self.traffic.received_bytes);
        let read = self.stream.poll_read_with(|bytes| {
            *received_bytes += bytes.len() as u64;
            reader.push(bytes);
            bytes.len()
        });
        match read {
            Poll::Ready(Ok(0)) => Poll::Ready(Err(self.lost(&ErrorKind::UnexpectedEof.into()))),
            Poll::Ready(Ok(_)) => Poll::Ready(Ok(())),
            Poll::Ready(Err(error)) => Poll::Ready(Err(self.lost(&error))),
            Poll::Pending => self.poll_timeout(),
        }
    }

    /// Ends a conversation with the body of its last message. What follows may come at any time.
    pub(super) fn settle(&mut self, ready: &[u8]) -> Result<(), Failure> {
        let rest = self.peer.reader.take_rest();
        let settled = self.reply.settle(ready, rest);
        settled.map_err(|malformed| self.broken(malformed))?;
        self.rest()
    }

    /// The memory of its buffers for received bytes.
    #[cfg(test)]
    pub(super) fn kept_bytes(&self) -> usize {
        let rows = self.reply.buffered().map_or(0, crate::Rows::size_bytes);
        self.peer.reader.capacity_bytes() + self.reply.kept_capacity() + rows
    }

    /// The wait after an answer that leaves a transaction open, where the load asks for one.
    #[inline]
    pub(crate) fn held(&self) -> Option<Handle> {
        let handle = self.stream.handle();
        let is_open = || self.reply.state() == TransactionState::Open;
        handle.draws_hold(is_open).then(|| handle.clone())
    }

    /// The server refused a statement.
    #[cold]
    fn refused_statement(&mut self, error: &ServerError) -> Failure {
        let failure = self.refused(error);
        if error.is_fatal {
            self.give_up();
        }
        if !ServerError::IDLE_TOO_LONG.contains(&error.state.as_str()) {
            return failure;
        }
        // It is no answer to the statement.
        self.traffic.received_bytes = 0;
        Failure::new(failure.key.class, CLOSED_WHILE_IDLE, &*failure.message)
    }

    /// The server had closed the connection, or it broke, before the statement was sent. The server may have said why.
    #[cold]
    fn closed_while_idle(&mut self) -> Failure {
        self.reply.begin(Request::Text);
        let reply = &mut self.reply;
        let said = self.stream.poll_read_with(|bytes| reply.feed(bytes));
        self.give_up();
        let why = match said {
            Poll::Ready(Ok(Ok(ReplyProgress::Refused(error)))) => format!(": {}", error.text()),
            _ => String::new(),
        };
        let name = &self.peer.address.name;
        let message =
            format!("{name}: the server closed the connection between two statements{why}");
        Failure::new(ErrorClass::Connection, CLOSED_WHILE_IDLE, message)
    }

    #[cold]
    pub(super) fn refused(&self, error: &ServerError) -> Failure {
        self.refused_at(error, "")
    }

    /// The same with the place of the error, which goes before the remedy.
    #[cold]
    pub(super) fn refused_at(&self, error: &ServerError, place: &str) -> Failure {
        let mut text = format!("{}: {}{place}", self.peer.address.name, error.text());
        let remedy = match error.state.as_str() {
            ServerError::READS_ONLY if self.peer.setting("in_hot_standby") == Some("on") => {
                Some(ON_STANDBY)
            }
            _ => error.remedy(),
        };
        if let Some(remedy) = remedy {
            text.push_str("; ");
            text.push_str(remedy);
        }
        Failure::new(error.class(), error.state.clone(), text)
    }

    /// The peer violated the protocol, so this connection cannot be used any more.
    #[cold]
    pub(super) fn broken(&mut self, malformed: Malformed) -> Failure {
        self.give_up();
        let message = format!("{}: {malformed}", self.peer.address.name);
        Failure::new(ErrorClass::Protocol, "", message)
    }

    #[cold]
    pub(super) fn lost(&mut self, error: &io::Error) -> Failure {
        self.give_up();
        self.peer.address.lost(error, &SSL_WORDS)
    }

    /// Ends the connection at once.
    #[cold]
    pub(super) fn give_up(&mut self) {
        self.is_broken = true;
        self.stream.hang_up();
    }

    /// A cancellation that came late may end another statement, so this connection cannot be used any more.
    #[cold]
    fn timed_out(&mut self) -> Failure {
        self.give_up();
        let bound = self.peer.timed_out.unwrap_or_default();
        let message = format!(
            "{}: no answer within {bound:?}, the query time-out; the statement was cancelled and its connection is \
             given up",
            self.peer.address.name
        );
        Failure::new(ErrorClass::Timeout, "", message)
    }

    #[cold]
    fn gone(&self) -> Failure {
        let what = "this connection broke earlier, or an answer on it was not waited for";
        let message = format!("{}: {what}", self.peer.address.name);
        Failure::new(ErrorClass::Connection, "", message)
    }
}
