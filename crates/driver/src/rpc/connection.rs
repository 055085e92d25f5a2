//! A connection that the clients of a group share, and the future that owns its socket.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Poll, ready};

use measure::{ErrorClass, Failure, Traffic};
use net::{Handle, Signal, Stream};

use super::answer::{Answer, LinkFault, Malformed};
use super::codec::Codec;
use super::state::{Calls, Link, Outgoing};
use super::{Call, Service, Slot};
use crate::{Address, Timeouts};

/// A connection to a service, made again when it breaks. Cloning is cheap.
#[derive(Clone)]
pub struct Connection(Rc<Shared>);

/// The state that the slots and the connection's own future share.
pub(super) struct Shared {
    pub(super) handle: Handle,
    pub(super) timeouts: Timeouts,
    service: Arc<Service>,
    call: Arc<Call>,
    /// Which of the load's connections this is.
    index: usize,
    /// There are requests to send, or the connection is to be made or given up.
    pub(super) has_work: Signal,
    pub(super) answers: Vec<Signal>,
    pub(super) calls: RefCell<Calls>,
    /// `None` while there is no connection.
    pub(super) link: RefCell<Option<Link>>,
    /// Whether a slot waits for a connection.
    is_wanted: Cell<bool>,
    /// How many attempts to connect have ended.
    attempts: Cell<u64>,
    last_failure: RefCell<Option<Failure>>,
    traffic: Cell<Traffic>,
}

impl Connection {
    /// Connection `index` of a load, for so many slots; it connects when a slot asks for that.
    pub fn new(
        handle: &Handle,
        service: &Arc<Service>,
        call: &Arc<Call>,
        timeouts: Timeouts,
        (index, slots): (usize, usize),
    ) -> Self {
        let name = service.address(index).map_or_else(String::new, |address| address.name.clone());
        let shared = Rc::new(Shared {
            handle: handle.clone(),
            timeouts,
            service: Arc::clone(service),
            call: Arc::clone(call),
            index,
            has_work: Signal::new(handle),
            answers: (0..slots).map(|_| Signal::new(handle)).collect(),
            calls: RefCell::new(Calls::new(name, slots)),
            link: RefCell::new(None),
            is_wanted: Cell::new(false),
            attempts: Cell::new(0),
            last_failure: RefCell::new(None),
            traffic: Cell::new(Traffic::default()),
        });
        handle.spawn(serve(Rc::clone(&shared)));
        Self(shared)
    }

    /// The memory of its buffers; none while there is no connection.
    #[cfg(test)]
    pub(super) fn kept_bytes(&self) -> usize {
        let link = self.0.link.borrow();
        link.as_ref().map_or(0, |link| link.codec.kept_bytes() + link.out.bytes.capacity())
    }

    /// The place of one client, of `0..slots`, on the connection. Call it in the client's own future.
    pub fn slot(&self, slot: usize) -> Slot {
        Slot::new(Rc::clone(&self.0), slot)
    }
}

impl Shared {
    pub(super) fn is_connected(&self) -> bool {
        self.link.borrow().as_ref().is_some_and(|link| link.given_up.is_none())
    }

    /// Waits until there is a connection, of which one attempt is made.
    pub(super) async fn connect(&self, slot: usize) -> Result<(), Failure> {
        let before = self.attempts.get();
        while !self.is_connected() {
            if self.attempts.get() > before {
                return Err(self.last_failure());
            }
            self.is_wanted.set(true);
            self.has_work.wake();
            self.answers[slot].wait().await;
        }
        Ok(())
    }

    pub(super) fn last_failure(&self) -> Failure {
        let last = self.last_failure.borrow().clone();
        last.unwrap_or_else(|| Failure::new(ErrorClass::Connection, "", "there is no connection"))
    }

    #[cold]
    pub(super) fn give_up(&self, reason: &str) {
        if let Some(link) = self.link.borrow_mut().as_mut() {
            let name = self.service.address(self.index).map_or("", |address| &address.name);
            let message = format!("{name}: {reason}");
            link.given_up.get_or_insert(Failure::new(ErrorClass::Connection, "", message));
        }
        self.has_work.wake();
    }

    pub(super) fn take_traffic(&self) -> Traffic {
        self.traffic.take()
    }

    fn wake_all(&self) {
        self.answers.iter().for_each(Signal::wake);
    }

    async fn open(&self) -> Result<(Stream, &Address, Codec), Failure> {
        let Some(address) = self.service.address(self.index) else {
            let message = "no address to connect to: give one in the URL";
            return Err(Failure::new(ErrorClass::Connection, "", message));
        };
        let _permit = self.handle.connect_permit().await;
        let stream = self.service.connect(address, &self.handle, self.timeouts).await?;
        let codec = Codec::new(&self.service, address, &self.call, self.timeouts);
        let codec = codec.map_err(|fault| fault.explain(address))?;
        Ok((stream, address, codec))
    }

    /// Reads and writes until the connection breaks.
    fn poll_link(&self, stream: &mut Stream, address: &Address) -> Poll<Failure> {
        while self.has_work.poll_wait().is_ready() {}
        let given_up = self.link.borrow_mut().as_mut().and_then(|link| link.given_up.take());
        if let Some(failure) = given_up {
            return Poll::Ready(failure);
        }
        // A poll reads a bounded number of bytes: a service that sends without end does not hold up other
        // connections.
        while let Poll::Ready(read) = self.poll_read(stream) {
            if let Err(broken) = read {
                return Poll::Ready(broken.explain(address));
            }
        }
        match self.poll_write(stream) {
            Poll::Ready(Err(broken)) => Poll::Ready(broken.explain(address)),
            _ => Poll::Pending,
        }
    }

    #[inline]
    fn poll_read(&self, stream: &mut Stream) -> Poll<Result<(), Broken>> {
        let mut link = self.link.borrow_mut();
        let Some(link) = link.as_mut() else { return Poll::Pending };
        let read = ready!(stream.poll_read_with(|bytes| self.take_in(link, bytes)));
        Poll::Ready(match read {
            Ok(Ok(())) => Ok(()),
            Ok(Err(broken)) => Err(broken),
            Err(error) => Err(Broken::Lost(error)),
        })
    }

    /// Hands out the answers among received bytes.
    #[inline]
    fn take_in(&self, link: &mut Link, bytes: &[u8]) -> Result<(), Broken> {
        if bytes.is_empty() {
            let is_cut = link.codec.is_within_answer();
            return Err(if is_cut { Broken::Cut } else { Broken::Closed });
        }
        self.count(0, bytes.len());
        let Link { codec, out, .. } = link;
        let decoded = codec.decode(bytes, &mut out.bytes, &mut |answer| self.hand_out(answer));
        decoded.map_err(Broken::Faulty)
    }

    #[inline]
    fn hand_out(&self, answer: Answer) -> Result<(), Malformed> {
        if let Some(slot) = self.calls.borrow_mut().answered(answer)? {
            self.answers[slot].wake();
        }
        Ok(())
    }

    #[inline]
    fn poll_write(&self, stream: &mut Stream) -> Poll<Result<(), Broken>> {
        let mut link = self.link.borrow_mut();
        let Some(Link { codec, out, .. }) = link.as_mut() else { return Poll::Pending };
        loop {
            let flushed = codec.flush(&mut out.bytes, &mut |answer| self.hand_out(answer));
            flushed.map_err(Broken::Faulty)?;
            if out.bytes.is_empty() {
                return Poll::Pending;
            }
            let before = out.sent;
            let written = stream.poll_write(&out.bytes, &mut out.sent);
            self.count(out.sent - before, 0);
            out.forget_sent();
            ready!(written).map_err(Broken::Lost)?;
        }
    }

    #[inline]
    fn count(&self, sent: usize, received: usize) {
        let mut traffic = self.traffic.get();
        traffic.sent_bytes += sent as u64;
        traffic.received_bytes += received as u64;
        self.traffic.set(traffic);
    }
}

enum Broken {
    Lost(io::Error),
    Closed,
    /// Closed in the middle of an answer.
    Cut,
    Faulty(LinkFault),
}

impl Broken {
    #[cold]
    fn explain(self, address: &Address) -> Failure {
        match self {
            Self::Lost(error) => address.lost(&error),
            Self::Closed => address.lost(&ErrorKind::UnexpectedEof.into()),
            Self::Cut => {
                let message = format!(
                    "{}: the server closed the connection in the middle of an answer",
                    address.name
                );
                Failure::new(ErrorClass::Connection, "", message)
            }
            Self::Faulty(fault) => fault.explain(address),
        }
    }
}

/// The connection's own future: connects when that is wanted, and then reads and writes until the connection breaks.
async fn serve(shared: Rc<Shared>) {
    loop {
        while !shared.is_wanted.get() {
            shared.has_work.wait().await;
        }
        let opened = shared.open().await;
        shared.attempts.set(shared.attempts.get() + 1);
        shared.is_wanted.set(false);
        let (mut stream, address, codec) = match opened {
            Ok(opened) => opened,
            Err(failure) => {
                *shared.last_failure.borrow_mut() = Some(failure);
                shared.wake_all();
                continue;
            }
        };
        let out = Outgoing::default();
        *shared.link.borrow_mut() = Some(Link { codec, out, given_up: None });
        shared.wake_all();
        let failure = poll_fn(|_| shared.poll_link(&mut stream, address)).await;
        stream.hang_up();
        drop(stream);
        shared.link.borrow_mut().take();
        let wake = |slot: usize| shared.answers[slot].wake();
        shared.calls.borrow_mut().fail_all(&failure, wake);
        *shared.last_failure.borrow_mut() = Some(failure);
    }
}
