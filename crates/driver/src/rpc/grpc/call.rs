//! One call in flight: its answer, as far as it has come.

use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use h2::client::ResponseFuture;
use h2::{Reason, RecvStream};
use http::{HeaderMap, StatusCode};
use measure::ErrorClass;

use super::super::answer::{Malformed, Origin, ServiceError};
use super::message::{BodyFault, MessageReader};
use super::status;

pub(super) const RESET: &str = "the server reset the stream of the call";

#[derive(Debug, PartialEq, Eq)]
pub(super) enum CallEnd {
    /// The message, empty if it is not kept, or what the service said instead.
    Answered(Result<Vec<u8>, Box<ServiceError>>),
    /// What came is not an answer of gRPC.
    Broken(Malformed),
    /// The server has announced the end of the connection and has not begun with this call.
    NotBegun,
    /// The connection has ended; its own end says why.
    Lost,
}

/// A call whose request was given to the HTTP/2 machine. Dropping it resets its stream.
pub(super) struct Call {
    pub(super) id: u32,
    stage: Stage,
    reader: MessageReader,
}

enum Stage {
    Waiting(ResponseFuture),
    Answered(StatusCode, RecvStream),
}

impl Call {
    pub(super) fn new(id: u32, response: ResponseFuture, reader: MessageReader) -> Self {
        Self { id, stage: Stage::Waiting(response), reader }
    }

    pub(super) fn is_within_answer(&self) -> bool {
        matches!(self.stage, Stage::Answered(..))
    }

    /// Reads what has come of the answer, and wakes the context when more comes.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<CallEnd> {
        self.poll_answer(context).map(|end| match end {
            Ok(()) => match self.reader.take_message() {
                Ok(message) => CallEnd::Answered(Ok(message)),
                Err(fault) => body_end(fault),
            },
            Err(end) => end,
        })
    }

    fn poll_answer(&mut self, context: &mut Context<'_>) -> Poll<Result<(), CallEnd>> {
        if let Stage::Waiting(response) = &mut self.stage {
            let (head, body) = ready!(poll_head(response, context))?.into_parts();
            // An answer of headers alone has the status in them (Trailers-Only).
            if body.is_end_stream() && head.headers.contains_key("grpc-status") {
                return Poll::Ready(self.result(head.status, &head.headers));
            }
            if let Some(encoding) = head.headers.get("grpc-encoding") {
                self.reader.set_gzip(encoding == "gzip");
            }
            self.stage = Stage::Answered(head.status, body);
        }
        let Stage::Answered(status, body) = &mut self.stage else { return Poll::Pending };
        let status = *status;
        while let Some(piece) = ready!(body.poll_data(context)) {
            let piece = piece.map_err(|error| stream_end(&error))?;
            // An error is one of the stream, which the next poll returns.
            let _ = body.flow_control().release_capacity(piece.len());
            // The body of an error page is of no use.
            if status == StatusCode::OK {
                self.reader.push(&piece).map_err(body_end)?;
            }
        }
        let trailers = ready!(body.poll_trailers(context)).map_err(|error| stream_end(&error))?;
        Poll::Ready(self.result(status, &trailers.unwrap_or_default()))
    }

    fn result(&self, status: StatusCode, last: &HeaderMap) -> Result<(), CallEnd> {
        status::outcome(status, last)?;
        self.reader.finish().map_err(body_end)
    }
}

fn poll_head(
    response: &mut ResponseFuture,
    context: &mut Context<'_>,
) -> Poll<Result<http::Response<RecvStream>, CallEnd>> {
    // Interim answers mean nothing here, but the machine keeps them until they are read.
    while let Poll::Ready(Some(Ok(_))) = response.poll_informational(context) {}
    Pin::new(response).poll(context).map_err(|error| stream_end(&error))
}

#[cold]
fn body_end(fault: BodyFault) -> CallEnd {
    let text = fault.to_string();
    match fault {
        // Every client of gRPC has such a limit, and calls it so.
        BodyFault::TooLong { .. } => CallEnd::Answered(Err(Box::new(ServiceError {
            class: ErrorClass::Framework,
            code: "RESOURCE_EXHAUSTED".to_owned(),
            message: text,
            origin: Origin::Dyno,
        }))),
        _ => CallEnd::Broken(Malformed(text)),
    }
}

/// What is wrong with a server that breaks HTTP/2.
pub(super) fn broken(reason: Reason) -> Malformed {
    Malformed(format!("the server broke HTTP/2 ({reason:?})"))
}

#[cold]
fn stream_end(error: &h2::Error) -> CallEnd {
    let reason = error.reason();
    if error.is_reset() && error.is_remote() {
        // RFC 9113, section 8.7: the server has not begun with a stream that it refuses.
        let (class, origin) = match reason {
            Some(Reason::REFUSED_STREAM) => (ErrorClass::Connection, Origin::NotBegun),
            _ => (ErrorClass::Framework, Origin::Service),
        };
        let code = reason.map_or_else(String::new, |reason| format!("{reason:?}"));
        let message = RESET.to_owned();
        return CallEnd::Answered(Err(Box::new(ServiceError { class, code, message, origin })));
    }
    // The streams above the last one of a GOAWAY end with it; the others go on (RFC 9113, section 6.8).
    if error.is_go_away() && error.is_remote() {
        return CallEnd::NotBegun;
    }
    match (error.is_reset(), reason) {
        (true, Some(reason)) => CallEnd::Broken(broken(reason)),
        _ => CallEnd::Lost,
    }
}

impl From<Box<ServiceError>> for CallEnd {
    fn from(error: Box<ServiceError>) -> Self {
        Self::Answered(Err(error))
    }
}
