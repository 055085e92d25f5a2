//! One connection: its socket, its buffers, and the transfer of bytes and failures between them.

use std::fmt;
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::task::{Poll, ready};

use measure::{ErrorClass, Failure, Traffic};
use net::{Handle, Stream, Timeout};

use super::codec::{
    BoundTypes, Escapes, Malformed, MessageLimit, PacketReader, Reply, ReplyProgress, ServerError,
    TextTemplate, capability, command, status,
};
use super::config::StatementProtocol;
use super::peer::Peer;
use crate::address::CLOSED_WHILE_IDLE;
use crate::asked::Asked;
use crate::ssl_options::SSL_WORDS;
use crate::{Address, Answer};

#[derive(Debug)]
pub(super) enum PreparedStatement {
    /// On the server, under this number.
    Prepared {
        id: u32,
        bound: BoundTypes,
    },
    Text(TextTemplate),
}

/// A logged-in connection. It usually needs no buffers of its own: requests are written and answers are parsed in the
/// event loop's buffers. The rest of its state takes four cache lines. Every statement touches all of them, so the
/// struct is aligned to a cache line.
#[repr(align(64))]
pub(crate) struct Session {
    pub(super) stream: Stream,
    pub(super) peer: Box<Peer>,
    pub(super) protocol: StatementProtocol,
    /// The capabilities that both sides agreed on.
    pub(super) capabilities: u64,
    pub(super) request: Vec<u8>,
    /// How many bytes of the request the kernel has accepted.
    pub(super) sent: usize,
    pub(crate) reply: Reply,
    pub(super) packet_reader: Box<PacketReader>,
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
}

// In a debug build, sockets have more fields.
#[cfg(not(debug_assertions))]
const _: () = assert!(size_of::<Session>() == 4 * 64, "as its documentation says");

impl Drop for Session {
    fn drop(&mut self) {
        if self.awaits_answer
            && !self.is_broken
            && let Some(text) = self.asked.told(&self.peer.texts)
        {
            self.stream.handle().note_unanswered(text);
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

    /// Sends a logout; whether it arrives does not matter.
    pub(crate) async fn close(mut self) {
        if !self.is_broken {
            self.request.clear();
            self.request.extend_from_slice(&[1, 0, 0, 0, command::QUIT]);
            let _ = self.send().await;
        }
    }

    /// Sends the request that was built, and nothing else.
    pub(super) async fn send(&mut self) -> Result<(), Failure> {
        self.begin()?;
        self.awaits_answer = false;
        poll_fn(|_| self.poll_send()).await
    }

    /// Sends the request that was built and skips its answer.
    pub(super) async fn ask(&mut self) -> Result<Answer, Failure> {
        self.begin()?;
        poll_fn(|_| self.poll_answer()).await
    }

    /// Builds a request in the event loop's buffer and starts to send it; [`Session::poll_answer`] continues. The
    /// session keeps that buffer only when the kernel does not accept all of it at once.
    #[inline]
    pub(super) fn begin_drafted(
        &mut self,
        build: impl FnOnce(&mut Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if self.stream.is_hung_up() && !self.is_broken && !self.awaits_answer {
            return Err(self.closed_while_idle());
        }
        let draft = self.stream.handle().take_draft();
        let mut own = std::mem::replace(&mut self.request, draft);
        let begun = build(self).and_then(|()| self.begin());
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
    pub(super) fn begin(&mut self) -> Result<(), Failure> {
        if self.is_broken || self.awaits_answer {
            return Err(self.gone());
        }
        self.awaits_answer = true;
        self.sent = 0;
        if let Some(timeout) = &self.timeout {
            timeout.begin();
        }
        self.traffic.sent_bytes += self.request.len() as u64;
        self.reply.reset();
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
            Some(timeout) if timeout.is_over() => Poll::Ready(Err(self.timed_out())),
            _ => Poll::Pending,
        }
    }

    /// Ends the wait.
    #[inline]
    fn rest(&mut self) {
        self.awaits_answer = false;
        if let Some(timeout) = &self.timeout {
            timeout.end();
        }
    }

    /// Skips the answer to the current request, as far as it has arrived.
    #[inline]
    pub(crate) fn poll_answer(&mut self) -> Poll<Result<Answer, Failure>> {
        match ready!(self.poll_step()) {
            Ok(ReplyProgress::Done | ReplyProgress::More) => Poll::Ready(Ok(self.reply.answer())),
            Ok(ReplyProgress::Refused(error)) => Poll::Ready(Err(self.refused_statement(&error))),
            Ok(ReplyProgress::WantsRows) => Poll::Ready(Err(
                self.broken(Malformed("the server asks for a file, which it may not"))
            )),
            Err(failure) => Poll::Ready(Err(failure)),
        }
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
                    self.rest();
                    return Poll::Ready(Ok(step));
                }
                Ok(Some(Err(malformed))) => return Poll::Ready(Err(self.broken(malformed))),
                Ok(None) => return Poll::Ready(Err(self.lost(&ErrorKind::UnexpectedEof.into()))),
                Err(error) => return Poll::Ready(Err(self.lost(&error))),
            }
        }
    }

    /// Reads the next whole message and its sequence number; for conversations off the load path.
    pub(super) async fn message(&mut self, limit: MessageLimit) -> Result<(Vec<u8>, u8), Failure> {
        self.packet_reader.set_limit(limit);
        loop {
            match self.packet_reader.next() {
                Ok(Some(message)) => return Ok(message),
                Ok(None) => {}
                Err(malformed) => return Err(self.broken(malformed)),
            }
            poll_fn(|_| self.poll_bytes()).await?;
        }
    }

    fn poll_bytes(&mut self) -> Poll<Result<(), Failure>> {
        let (packet_reader, received_bytes) =
            (&mut self.packet_reader, &mut self.traffic.received_bytes);
        let read = self.stream.poll_read_with(|bytes| {
            *received_bytes += bytes.len() as u64;
            packet_reader.push(bytes);
            bytes.len()
        });
        match read {
            Poll::Ready(Ok(0)) => Poll::Ready(Err(self.lost(&ErrorKind::UnexpectedEof.into()))),
            Poll::Ready(Ok(_)) => Poll::Ready(Ok(())),
            Poll::Ready(Err(error)) => Poll::Ready(Err(self.lost(&error))),
            Poll::Pending => self.poll_timeout(),
        }
    }

    /// Checks that no bytes follow the last message of a conversation.
    pub(super) fn settle(&mut self) -> Result<(), Failure> {
        self.rest();
        if self.packet_reader.is_empty() {
            return Ok(());
        }
        Err(self.broken(Malformed("bytes after the end of an answer")))
    }

    /// The memory of its buffers for received bytes.
    #[cfg(test)]
    pub(super) fn kept_bytes(&self) -> usize {
        let rows = self.reply.buffered().map_or(0, crate::Rows::size_bytes);
        self.packet_reader.capacity_bytes() + self.reply.kept_capacity() + rows
    }

    /// Whether the session was opened to send rows by LOAD DATA LOCAL.
    pub(crate) fn sends_local_rows(&self) -> bool {
        self.has(capability::LOCAL_FILES)
    }

    /// Whether it was opened with a statement that turned autocommit on.
    pub(crate) fn sets_autocommit(&self) -> bool {
        self.peer.sets_autocommit
    }

    pub(crate) fn protocol(&self) -> StatementProtocol {
        self.protocol
    }

    pub(super) fn has(&self, capability: u64) -> bool {
        self.capabilities & capability != 0
    }

    /// Whether a transaction is open, as of the server's last answer.
    pub(super) fn is_in_transaction(&self) -> bool {
        self.reply.status() & status::IN_TRANSACTION != 0
    }

    /// The wait after an answer that leaves a transaction open, where the load asks for one.
    #[inline]
    pub(crate) fn held(&self) -> Option<Handle> {
        let handle = self.stream.handle();
        handle.draws_hold(|| self.is_in_transaction()).then(|| handle.clone())
    }

    /// Whether the server commits statements outside of a transaction, as of its last answer.
    pub(super) fn commits_by_itself(&self) -> bool {
        self.reply.status() & status::AUTOCOMMIT != 0
    }

    pub(super) fn escapes(&self) -> Escapes {
        match self.reply.status() & status::NO_BACKSLASH_ESCAPES {
            0 => Escapes::Backslash,
            _ => Escapes::QuotesOnly,
        }
    }

    /// A refused execution may have ended before the server read the parameter types.
    #[cold]
    fn forget_types(&mut self) {
        for statement in &mut self.statements {
            if let PreparedStatement::Prepared { bound, .. } = statement {
                bound.forget();
            }
        }
    }

    /// The server refused a statement.
    #[cold]
    fn refused_statement(&mut self, error: &ServerError) -> Failure {
        self.forget_types();
        let failure = self.refused(error);
        if error.code != ServerError::IDLE_TOO_LONG {
            return failure;
        }
        self.give_up();
        // It is no answer to the statement.
        self.traffic.received_bytes = 0;
        Failure::new(failure.key.class, CLOSED_WHILE_IDLE, &*failure.message)
    }

    /// The server had closed the connection, or it broke, before the statement was sent. The server may have said why.
    #[cold]
    fn closed_while_idle(&mut self) -> Failure {
        let said = self.stream.poll_read_with(|bytes| ServerError::parse(bytes.get(4..)?).ok());
        self.give_up();
        let why = match said {
            Poll::Ready(Ok(Some(error))) => format!(": {} ({})", error.message, error.code),
            _ => String::new(),
        };
        let name = &self.peer.address.name;
        let message =
            format!("{name}: the server closed the connection between two statements{why}");
        Failure::new(ErrorClass::Connection, CLOSED_WHILE_IDLE, message)
    }

    #[cold]
    pub(super) fn refused(&self, error: &ServerError) -> Failure {
        refused(&self.peer.address, error)
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
        lost(&self.peer.address, error)
    }

    /// Ends the connection at once, so that the server stops its work for it and has space for another one.
    #[cold]
    pub(super) fn give_up(&mut self) {
        self.is_broken = true;
        self.stream.hang_up();
    }

    /// The answer may still arrive, so this connection cannot be used any more.
    #[cold]
    fn timed_out(&mut self) -> Failure {
        self.give_up();
        let bound = self.timeout.as_ref().map(Timeout::bound).unwrap_or_default();
        let message = format!(
            "{}: no answer within {bound:?}, the query time-out; its connection is given up",
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

pub(super) fn refused(address: &Address, error: &ServerError) -> Failure {
    let ServerError { code, state, message } = error;
    let mut text = format!("{}: {message} ({code}", address.name);
    if !state.is_empty() {
        text.push(' ');
        text.push_str(state);
    }
    text.push(')');
    if let Some(remedy) = error.remedy() {
        text.push_str("; ");
        text.push_str(remedy);
    }
    Failure::new(error.class(), code.to_string(), text)
}

/// A failure of the connection while it was in use.
pub(super) fn lost(address: &Address, error: &io::Error) -> Failure {
    address.lost(error, &SSL_WORDS)
}
