//! The state of a connection, without its socket.

use std::collections::HashSet;

use measure::{ErrorClass, Failure};
use net::Signal;

use super::answer::{Answer, Malformed, Origin, ServiceError};
use super::codec::Codec;
use super::ids::Ids;

/// How many calls that timed out are remembered, because their answers may still come.
const TIMED_OUT_MAX: usize = 1 << 16;

/// The calls of a connection's slots.
pub(super) struct Calls {
    ids: Ids,
    name: String,
    slots: Vec<SlotCall>,
    /// Calls that timed out, whose answers may still come.
    timed_out: HashSet<u32>,
}

pub(super) struct SlotCall {
    id: u32,
    state: CallState,
    place: RequestPlace,
}

/// Where a request was written.
#[derive(Clone, Copy, Default)]
pub(super) struct RequestPlace {
    /// The number of the link.
    pub(super) link: u64,
    /// The number of the link's first byte that may be one of the request.
    pub(super) begin: u64,
}

pub(super) enum CallState {
    Idle,
    InFlight,
    Answered(Result<(), CallFailure>),
}

pub(super) struct CallFailure {
    pub(super) failure: Failure,
    /// False when the service has certainly not begun the call.
    pub(super) was_begun: bool,
}

/// The bytes to send on a connection.
#[derive(Default)]
pub(super) struct Outgoing {
    pub(super) bytes: Vec<u8>,
    /// How many of them the kernel has accepted.
    pub(super) sent: usize,
    /// How many bytes were ever given to the kernel before these.
    before: u64,
}

/// Memory of a buffer that is kept between requests, bytes.
const KEPT_BYTES: usize = 64 * 1024;

impl Outgoing {
    /// The number of the byte after the last one, counted from the first of the connection.
    pub(super) fn end(&self) -> u64 {
        self.before + self.bytes.len() as u64
    }

    /// Whether the kernel has accepted all bytes before number `end`.
    pub(super) fn has_left(&self, end: u64) -> bool {
        self.left() >= end
    }

    /// How many bytes the kernel has accepted.
    pub(super) fn left(&self) -> u64 {
        self.before + self.sent as u64
    }

    /// Forgets bytes that were sent. While a server reads too slowly, that is done when they are at least half of all,
    /// so that the buffer does not grow for as long as the server lags behind.
    #[inline]
    pub(super) fn forget_sent(&mut self) {
        let is_all = self.sent == self.bytes.len();
        if !is_all && self.sent < KEPT_BYTES.max(self.bytes.len() / 2) {
            return;
        }
        self.before += self.sent as u64;
        self.bytes.drain(..self.sent);
        self.sent = 0;
        if is_all && self.bytes.capacity() > KEPT_BYTES {
            self.bytes.shrink_to(KEPT_BYTES);
        }
    }
}

impl Calls {
    pub(super) fn new(name: String, slots: usize) -> Self {
        let ids = Ids::new(slots);
        let place = RequestPlace::default();
        let slot = |index| SlotCall { id: ids.first(index), state: CallState::Idle, place };
        Self { ids, name, slots: (0..slots).map(slot).collect(), timed_out: HashSet::new() }
    }

    /// Begins a call of a slot, whose request is written there, and returns its id; `None` when answers to calls of all
    /// of its ids may still come.
    #[inline]
    pub(super) fn begin(&mut self, slot: usize, place: RequestPlace) -> Option<u32> {
        let id = self.free_id(slot)?;
        self.slots[slot] = SlotCall { id, state: CallState::InFlight, place };
        Some(id)
    }

    /// The slot's next id that no late answer may have.
    #[inline]
    fn free_id(&self, slot: usize) -> Option<u32> {
        let last = self.slots[slot].id;
        let mut id = self.ids.after(last);
        while self.timed_out.contains(&id) {
            if id == last {
                return None;
            }
            id = self.ids.after(id);
        }
        Some(id)
    }

    /// Takes the result of a slot's call, if there is one.
    #[inline]
    pub(super) fn take(&mut self, slot: usize) -> Option<Result<(), CallFailure>> {
        let state = &mut self.slots[slot].state;
        if matches!(state, CallState::InFlight) {
            return None;
        }
        match std::mem::replace(state, CallState::Idle) {
            CallState::Answered(result) => Some(result),
            CallState::Idle | CallState::InFlight => None,
        }
    }

    /// Takes an answer in; returns the slot that waits for it, unless its call has timed out.
    ///
    /// # Errors
    /// When no call of this id is without an answer.
    #[inline]
    pub(super) fn answered(&mut self, answer: Answer) -> Result<Option<usize>, Malformed> {
        let Answer { id, result } = answer;
        if let Some(slot) = self.ids.slot(id)
            && let Some(call) = self.slots.get_mut(slot)
            && call.id == id
            && matches!(call.state, CallState::InFlight)
        {
            let name = &self.name;
            call.state = CallState::Answered(result.map_err(|error| refused(name, &error)));
            return Ok(Some(slot));
        }
        match self.timed_out.remove(&id) {
            true => Ok(None),
            false => Err(Malformed(format!(
                "an answer to request {id}, which was answered before or never sent"
            ))),
        }
    }

    /// Gives up a slot's call, whose answer may still come unless the protocol can cancel calls. Returns whether the
    /// connection can still be used: not when so many answers are due that they would be remembered without end, or
    /// that the slot has no other id.
    pub(super) fn time_out(&mut self, slot: usize, link: Option<&mut Link>) -> bool {
        let call = &mut self.slots[slot];
        call.state = CallState::Idle;
        if link.is_none_or(|link| link.codec.forget(call.id)) {
            self.timed_out.insert(call.id);
        }
        self.timed_out.len() < TIMED_OUT_MAX && self.free_id(slot).is_some()
    }

    /// A slot goes away. The answer to its call may still come.
    pub(super) fn drop_call(&mut self, slot: usize, link: Option<&mut Link>) {
        if matches!(self.slots[slot].state, CallState::InFlight) {
            self.time_out(slot, link);
        }
    }

    /// A link is gone: all calls in flight on it fail. Calls `wake` for each.
    pub(super) fn fail_all(&mut self, end: &LinkEnd, mut wake: impl FnMut(usize)) {
        self.timed_out.clear();
        for (index, call) in self.slots.iter_mut().enumerate() {
            if matches!(call.state, CallState::InFlight) && call.place.link == end.link {
                let was_begun = end.unsent_from.is_none_or(|unsent| call.place.begin < unsent);
                let failure = end.failure.clone();
                call.state = CallState::Answered(Err(CallFailure { failure, was_begun }));
                wake(index);
            }
        }
    }
}

/// The end of a link.
pub(super) struct LinkEnd {
    pub(super) link: u64,
    pub(super) failure: Failure,
    /// The number of the first byte that has not left, when calls whose requests have not left can be sent again on
    /// another link.
    pub(super) unsent_from: Option<u64>,
}

#[cold]
fn refused(name: &str, error: &ServiceError) -> CallFailure {
    let ServiceError { class, code, message, origin } = error;
    let who = match (origin, class) {
        (Origin::Service, ErrorClass::Function) => "the method answered with ",
        (Origin::Service, _) => "the framework answered with ",
        _ => "",
    };
    let was_begun = *origin != Origin::NotBegun;
    let message = format!("{name}: {message} ({who}{code})");
    CallFailure { failure: Failure::new(*class, code.clone(), message), was_begun }
}

/// What an established connection holds.
pub(super) struct Link {
    /// Which of the links it is that the connection has had, from 1.
    pub(super) number: u64,
    pub(super) codec: Codec,
    pub(super) out: Outgoing,
    /// Whether the peer has sent anything.
    pub(super) has_heard: bool,
    /// Why it is about to be closed; no call begins on it then.
    pub(super) given_up: Option<Failure>,
    /// There are requests to send, or it is to be given up.
    pub(super) has_work: Signal,
}
