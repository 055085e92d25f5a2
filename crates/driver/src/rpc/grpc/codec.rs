//! The codec of one connection: requests to bytes of HTTP/2, and bytes to answers.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use h2::Reason;
use h2::client::{Builder, Connection, SendRequest};
use http::HeaderValue;
use measure::ErrorClass;

use super::super::Compression;
use super::super::answer::{LinkFault, Malformed, Origin, ServiceError};
use super::call::{Call, CallEnd, broken};
use super::message::{MessageReader, with_prefix};
use super::pipe::Pipe;
use super::ready::{Flag, PlaceWaker, ReadyList};
use super::request::{RequestFault, RequestHead};

/// The bytes of answers that the server may send before dyno has told it that they were read. dyno reads all that comes
/// at once and keeps none of it, so the windows only have to be large enough not to hold the server up.
const WINDOW_BYTES: u32 = 8 << 20;
/// The most bytes of headers and trailers of one answer.
const HEADER_BYTES_MAX: u32 = 16 << 10;
/// What small frames of data may cost h2 between two polls: more than one read of the loop can hold.
const SMALL_FRAMES_BUDGET: usize = 4 << 20;
/// What is wrong with a server that sends on and on what HTTP/2 must answer, and does not read the answers.
const FLOODED: &str = "HTTP/2: the server sends frames that must be answered, but does not read";
/// The requests that may be sent before the server has told how many it serves at once. More might be refused.
const FIRST_REQUESTS_MAX: usize = 1;

#[derive(Clone, Debug)]
pub(in super::super) struct Settings {
    pub(in super::super) head: RequestHead,
    /// A longer answer is an error.
    pub(in super::super) answer_bytes_max: usize,
    pub(in super::super) compression: Compression,
    /// Whether answers are handed out, and not only checked.
    pub(in super::super) keeps_answers: bool,
}

/// The result of a call: its message, empty if answers are not kept.
pub(in super::super) type CallResult = Result<Vec<u8>, Box<ServiceError>>;

pub(in super::super) struct GrpcCodec {
    settings: Arc<Settings>,
    pipe: Pipe,
    connection: Connection<Pipe, Bytes>,
    sender: SendRequest<Bytes>,
    /// Requests that the machine has not taken, because the server serves no more at once.
    queue: VecDeque<Queued>,
    places: Vec<Place>,
    free_places: Vec<usize>,
    ready: Arc<ReadyList>,
    /// The list of the last poll, for its memory.
    woken: Vec<usize>,
    was_woken: Arc<Flag>,
    waker: Waker,
    /// Whether any call had an answer.
    was_answered: bool,
    /// Whether the server has announced the end of the connection: it takes no more calls, and finishes those that it
    /// has begun.
    is_ending: bool,
    /// Why the machine has ended.
    fault: Option<LinkFault>,
}

struct Queued {
    id: u32,
    /// The values of drawn metadata.
    metadata: Vec<HeaderValue>,
    body: Bytes,
}

/// The place of one call. Its waker outlives the call, so that a call allocates none.
struct Place {
    call: Option<Call>,
    listed: Arc<PlaceWaker>,
    waker: Waker,
}

impl GrpcCodec {
    /// Begins a connection.
    ///
    /// # Errors
    /// When the machine refuses its settings.
    pub(in super::super) fn new(settings: &Arc<Settings>) -> Result<Self, LinkFault> {
        let pipe = Pipe::default();
        let (sender, connection) = begin(&pipe)?;
        let (was_woken, waker) = Flag::with_waker();
        Ok(Self {
            settings: Arc::clone(settings),
            pipe,
            connection,
            sender,
            queue: VecDeque::new(),
            places: Vec::new(),
            free_places: Vec::new(),
            ready: Arc::default(),
            woken: Vec::new(),
            was_woken,
            waker,
            was_answered: false,
            is_ending: false,
            fault: None,
        })
    }

    /// Checks values of drawn metadata.
    ///
    /// # Errors
    /// When a header cannot have its value.
    pub(in super::super) fn check(&self, metadata: &[String]) -> Result<(), RequestFault> {
        self.settings.head.drawn(metadata).map(drop)
    }

    /// Takes the request of call `id`, which the next [`GrpcCodec::flush`] sends, with values of drawn metadata that were
    /// checked.
    #[inline]
    pub(in super::super) fn encode(&mut self, id: u32, (body, metadata): (&[u8], &[String])) {
        let Settings { head, compression, .. } = &*self.settings;
        // Without drawn metadata nothing is allocated for it.
        let metadata = head.drawn(metadata).unwrap_or_default();
        self.queue.push_back(Queued { id, metadata, body: with_prefix(body, *compression) });
    }

    /// Appends what is to be sent to `out`, and passes the calls that ended for it to `answered`.
    ///
    /// # Errors
    /// When the connection has ended.
    pub(in super::super) fn flush(
        &mut self,
        out: &mut Vec<u8>,
        answered: &mut impl FnMut(u32, CallResult) -> Result<(), Malformed>,
    ) -> Result<(), LinkFault> {
        self.pipe.drain_into(out);
        self.pipe.exchange_outgoing(out);
        let result = self.run(answered);
        self.pipe.exchange_outgoing(out);
        result
    }

    /// Reads received bytes, passes each answer that has arrived whole to `answered`, and appends to `out` what HTTP/2
    /// answers by itself.
    ///
    /// # Errors
    /// When the peer breaks the protocol or has ended the connection, or `answered` finds that it did.
    pub(in super::super) fn decode(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
        answered: &mut impl FnMut(u32, CallResult) -> Result<(), Malformed>,
    ) -> Result<(), LinkFault> {
        self.pipe.receive(bytes);
        self.flush(out, answered)?;
        match self.pipe.is_flooded() {
            true => Err(Malformed(FLOODED.to_owned()).into()),
            false => Ok(()),
        }
    }

    /// Gives a call up. Its stream is reset, so that no answer comes.
    pub(in super::super) fn forget(&mut self, id: u32) {
        self.queue.retain(|queued| queued.id != id);
        let is_its = |place: &Place| place.call.as_ref().is_some_and(|call| call.id == id);
        if let Some(place) = self.places.iter().position(is_its) {
            self.free(place);
        }
    }

    pub(in super::super) fn is_within_answer(&self) -> bool {
        self.places.iter().any(|place| place.call.as_ref().is_some_and(Call::is_within_answer))
    }

    /// Whether the server takes no more calls on this connection.
    pub(in super::super) fn is_ending(&self) -> bool {
        self.is_ending
    }

    #[cfg(test)]
    pub(in super::super) fn kept_bytes(&self) -> usize {
        self.pipe.kept_bytes()
    }

    /// Lets the machine run until it waits for bytes.
    fn run(
        &mut self,
        answered: &mut impl FnMut(u32, CallResult) -> Result<(), Malformed>,
    ) -> Result<(), LinkFault> {
        self.send_queued();
        loop {
            self.was_woken.take();
            self.poll_connection();
            let has_polled = self.poll_calls(answered)?;
            let has_sent = self.send_queued();
            if self.is_ending {
                self.hand_back_queued(answered)?;
            }
            if let Some(fault) = &self.fault {
                return Err(fault.clone());
            }
            if !has_polled && !has_sent && !self.was_woken.take() {
                return Ok(());
            }
        }
    }

    fn poll_connection(&mut self) {
        if self.fault.is_some() {
            return;
        }
        let mut context = Context::from_waker(&self.waker);
        if let Poll::Ready(end) = Pin::new(&mut self.connection).poll(&mut context) {
            self.fault = Some(connection_fault(end.err(), !self.was_answered));
        }
    }

    /// Gives requests to the machine, as long as it takes them; returns whether it took any.
    fn send_queued(&mut self) -> bool {
        let before = self.queue.len();
        while !self.queue.is_empty() && self.in_flight() < self.sender.current_max_send_streams() {
            let mut context = Context::from_waker(&self.waker);
            match self.sender.poll_ready(&mut context) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(error)) => {
                    self.is_ending |= error.is_go_away() && error.is_remote();
                    // The end of the connection itself is told by the connection.
                    break;
                }
                Poll::Pending => break,
            }
            let Some(queued) = self.queue.pop_front() else { break };
            if let Err(error) = self.send(queued) {
                self.fault = Some(connection_fault(Some(error), true));
            }
        }
        self.queue.len() < before
    }

    /// Returns the calls that the machine has not taken, and no longer takes.
    #[cold]
    fn hand_back_queued(
        &mut self,
        answered: &mut impl FnMut(u32, CallResult) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        self.queue.drain(..).try_for_each(|queued| answered(queued.id, Err(not_begun())))
    }

    fn in_flight(&self) -> usize {
        self.places.len() - self.free_places.len()
    }

    fn send(&mut self, queued: Queued) -> Result<(), h2::Error> {
        let Queued { id, metadata, body } = queued;
        let request = self.settings.head.request(metadata);
        let (response, mut stream) = self.sender.send_request(request, false)?;
        stream.send_data(body, true)?;
        let Settings { answer_bytes_max, keeps_answers, .. } = *self.settings;
        let reader = MessageReader::new(answer_bytes_max, keeps_answers);
        let place = self.free_places.pop().unwrap_or_else(|| self.add_place());
        self.places[place].call = Some(Call::new(id, response, reader));
        // So that it is polled for the first time, which tells the machine whom to wake.
        self.places[place].waker.wake_by_ref();
        Ok(())
    }

    fn add_place(&mut self) -> usize {
        let listed = PlaceWaker::new(self.places.len(), &self.ready);
        let waker = Waker::from(Arc::clone(&listed));
        self.places.push(Place { call: None, listed, waker });
        self.places.len() - 1
    }

    /// Polls the calls that were woken; returns whether there were any.
    fn poll_calls(
        &mut self,
        answered: &mut impl FnMut(u32, CallResult) -> Result<(), Malformed>,
    ) -> Result<bool, LinkFault> {
        let mut woken = std::mem::take(&mut self.woken);
        self.ready.take(&mut woken);
        let result = woken.iter().try_for_each(|place| self.poll_place(*place, answered));
        let has_any = !woken.is_empty();
        self.woken = woken;
        result.map(|()| has_any)
    }

    fn poll_place(
        &mut self,
        index: usize,
        answered: &mut impl FnMut(u32, CallResult) -> Result<(), Malformed>,
    ) -> Result<(), LinkFault> {
        let place = &mut self.places[index];
        place.listed.on_taken();
        let Some(call) = &mut place.call else { return Ok(()) };
        let Poll::Ready(end) = call.poll(&mut Context::from_waker(&place.waker)) else {
            return Ok(());
        };
        let id = call.id;
        self.free(index);
        self.was_answered |= matches!(end, CallEnd::Answered(_));
        match end {
            CallEnd::Answered(result) => Ok(answered(id, result)?),
            CallEnd::Broken(malformed) => Err(malformed.into()),
            CallEnd::NotBegun => {
                self.is_ending = true;
                Ok(answered(id, Err(not_begun()))?)
            }
            // The end of the connection is that of all its calls.
            CallEnd::Lost if self.fault.is_some() => Ok(()),
            CallEnd::Lost => Err(LinkFault::Ended("HTTP/2: a call was lost".to_owned())),
        }
    }

    fn free(&mut self, place: usize) {
        self.places[place].call = None;
        self.free_places.push(place);
    }
}

/// The machine of a client, which has put the first bytes of the connection into the pipe.
fn begin(pipe: &Pipe) -> Result<(SendRequest<Bytes>, Connection<Pipe, Bytes>), LinkFault> {
    let mut builder = Builder::new();
    builder
        .enable_push(false)
        .initial_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .initial_max_send_streams(FIRST_REQUESTS_MAX)
        .max_header_list_size(HEADER_BYTES_MAX)
        .data_frame_budget(SMALL_FRAMES_BUDGET);
    let handshake = pin!(builder.handshake(pipe.clone()));
    match handshake.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Ok(begun)) => Ok(begun),
        Poll::Ready(Err(error)) => Err(connection_fault(Some(error), true)),
        Poll::Pending => Err(LinkFault::Ended("HTTP/2 did not begin".to_owned())),
    }
}

/// The error of a call that the server left out when it announced the end of the connection.
#[cold]
fn not_begun() -> Box<ServiceError> {
    let message = "the server ends the connection and did not begin with this call".to_owned();
    let (class, code) = (ErrorClass::Connection, "GOAWAY".to_owned());
    Box::new(ServiceError { class, code, message, origin: Origin::NotBegun })
}

/// Why the machine has ended; without an error, the server had asked for that.
#[cold]
fn connection_fault(error: Option<h2::Error>, is_first: bool) -> LinkFault {
    match error {
        None => LinkFault::Ended("the server ended the connection (GOAWAY)".to_owned()),
        Some(error) if error.is_library() => {
            let Malformed(what) = broken(error.reason().unwrap_or(Reason::PROTOCOL_ERROR));
            // One of another protocol does so at once.
            let hint = match is_first {
                true => {
                    " before its first answer: it may not be one of gRPC, or want TLS (ssl_mode)"
                }
                false => "",
            };
            Malformed(format!("{what}{hint}")).into()
        }
        Some(error) if error.is_go_away() => {
            let reason = error.reason().unwrap_or(Reason::NO_ERROR);
            LinkFault::Ended(format!("the server ended the connection (GOAWAY, {reason:?})"))
        }
        Some(error) => LinkFault::Ended(format!("HTTP/2: {error}")),
    }
}
