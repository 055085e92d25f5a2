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
use super::state::{Calls, Link, LinkEnd, Outgoing};
use super::{Call, Protocol, Service, Slot};
use crate::ssl_options::SSL_WORDS;
use crate::{Address, Timeouts, names};

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
    /// A connection is to be made.
    is_asked: Signal,
    pub(super) answers: Vec<Signal>,
    pub(super) calls: RefCell<Calls>,
    /// The link that new calls take; `None` while there is none.
    pub(super) link: RefCell<Option<Link>>,
    /// Links whose end the server has announced, until it has answered the calls that it has begun there.
    ending: RefCell<Vec<Link>>,
    /// How many links there have been.
    links: Cell<u64>,
    /// Whether no slot has been told yet of the current link.
    is_new: Cell<bool>,
    /// Whether the peer has broken the protocol while no call was in flight, and no call has told of it yet.
    is_untold: Cell<bool>,
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
            is_asked: Signal::new(handle),
            answers: (0..slots).map(|_| Signal::new(handle)).collect(),
            calls: RefCell::new(Calls::new(name, slots)),
            link: RefCell::new(None),
            ending: RefCell::default(),
            links: Cell::new(0),
            is_new: Cell::new(false),
            is_untold: Cell::new(false),
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

    /// Waits until there is a connection, of which one attempt is made. Returns whether this is the first to be told of it.
    pub(super) async fn connect(&self, slot: usize) -> Result<bool, Failure> {
        let before = self.attempts.get();
        while !self.is_connected() {
            if self.attempts.get() > before {
                return Err(self.last_failure());
            }
            self.is_wanted.set(true);
            self.is_asked.wake();
            self.answers[slot].wait().await;
        }
        Ok(self.is_new.take())
    }

    pub(super) fn last_failure(&self) -> Failure {
        let last = self.last_failure.borrow().clone();
        last.unwrap_or_else(|| Failure::new(ErrorClass::Connection, "", "there is no connection"))
    }

    /// Does something with the link of this number; `None` when it has ended.
    #[inline]
    pub(super) fn with_link<T>(&self, number: u64, act: impl FnOnce(Option<&mut Link>) -> T) -> T {
        let mut current = self.link.borrow_mut();
        match current.as_mut() {
            Some(link) if link.number == number => act(Some(link)),
            _ => act(self.ending.borrow_mut().iter_mut().find(|link| link.number == number)),
        }
    }

    /// Whether the next call is to fail for what the peer did between two calls: a fault is counted, once.
    #[cold]
    pub(super) fn take_untold(&self) -> bool {
        self.is_untold.take()
    }

    #[cold]
    pub(super) fn give_up(&self, number: u64, reason: &str) {
        self.with_link(number, |link| {
            let Some(link) = link else { return };
            let name = self.service.address(self.index).map_or("", |address| &address.name);
            let message = format!("{name}: {reason}");
            link.given_up.get_or_insert(Failure::new(ErrorClass::Connection, "", message));
            link.has_work.wake();
        });
    }

    pub(super) fn take_traffic(&self) -> Traffic {
        self.traffic.take()
    }

    fn wake_all(&self) {
        self.answers.iter().for_each(Signal::wake);
    }

    /// Connects to the connection's own address, or else to another one of its name, which is looked up again for every
    /// attempt but the first: services move.
    async fn open(&self) -> Result<(Stream, Address, Codec), Failure> {
        let _permit = self.handle.connect_permit().await;
        let mut addresses = names::from(&self.service.addresses, self.index);
        if self.attempts.get() > 0
            && let Some(known) = addresses.first()
            && let Some(found) =
                names::followed(&self.handle, known, (self.index, self.timeouts.connect)).await
        {
            addresses = found;
        }
        let connected = self.service.connect_to_any(&addresses, &self.handle, self.timeouts).await;
        let (stream, address) = connected?;
        let codec = Codec::new(&self.service, &address, &self.call, self.timeouts);
        let codec = codec.map_err(|fault| fault.explain(&address))?;
        Ok((stream, address, codec))
    }

    /// Puts a new link in place and returns its number, with the signal that it has work.
    fn begin_link(&self, codec: Codec) -> (u64, Signal) {
        let number = self.links.get() + 1;
        self.links.set(number);
        self.is_new.set(true);
        self.is_untold.set(false);
        let has_work = Signal::new(&self.handle);
        let link = Link {
            number,
            codec,
            out: Outgoing::default(),
            has_heard: false,
            given_up: None,
            has_work: has_work.clone(),
        };
        *self.link.borrow_mut() = Some(link);
        (number, has_work)
    }

    /// Takes a link that has ended away; returns the end of its calls, and whether it was the current one.
    fn end_link(&self, number: u64, failure: Failure, can_resend: bool) -> (LinkEnd, bool) {
        let was_current = self.link.borrow_mut().take_if(|link| link.number == number);
        let is_current = was_current.is_some();
        let link = was_current.or_else(|| {
            let mut ending = self.ending.borrow_mut();
            let place = ending.iter().position(|link| link.number == number)?;
            Some(ending.swap_remove(place))
        });
        let unsent_from = link.filter(|_| can_resend).map(|link| link.out.left());
        (LinkEnd { link: number, failure, unsent_from }, is_current)
    }

    /// Makes room for another link as soon as the server takes no more calls on the current one.
    #[inline]
    fn retire_ending(self: &Rc<Self>) {
        let ending = self.link.borrow_mut().take_if(|link| link.codec.is_ending());
        if let Some(link) = ending {
            self.ending.borrow_mut().push(link);
            self.handle.spawn(serve(Rc::clone(self)));
        }
    }

    /// Reads and writes until the connection breaks.
    fn poll_link(
        self: &Rc<Self>,
        (number, has_work): (u64, &Signal),
        stream: &mut Stream,
        address: &Address,
    ) -> Poll<LinkLoss> {
        while has_work.poll_wait().is_ready() {}
        let given_up = self.with_link(number, |link| link.and_then(|link| link.given_up.take()));
        if let Some(failure) = given_up {
            return Poll::Ready(LinkLoss { failure, can_resend: false });
        }
        // A poll reads a bounded number of bytes: a service that sends without end does not hold up other
        // connections.
        let mut end = Poll::Pending;
        while let Poll::Ready(read) = self.poll_read(number, stream) {
            if let Err(broken) = read {
                end = Poll::Ready(broken.explain(address));
                break;
            }
        }
        if end.is_pending()
            && let Poll::Ready(Err(broken)) = self.poll_write(number, stream)
        {
            end = Poll::Ready(broken.explain(address));
        }
        if end.is_pending() {
            self.retire_ending();
        }
        end
    }

    #[inline]
    fn poll_read(&self, number: u64, stream: &mut Stream) -> Poll<Result<(), Broken>> {
        self.with_link(number, |link| {
            let Some(link) = link else { return Poll::Pending };
            let read = ready!(stream.poll_read_with(|bytes| self.take_in(link, bytes)));
            Poll::Ready(match read {
                Ok(Ok(())) => Ok(()),
                Ok(Err(broken)) => Err(broken),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => {
                    Err(self.closed(link, Broken::Lost(error)))
                }
                Err(error) => Err(Broken::Lost(error)),
            })
        })
    }

    /// An end, or that of a service that may be one that speaks TLS only.
    #[cold]
    fn closed(&self, link: &Link, end: Broken) -> Broken {
        let may_want_tls = self.service.tls.is_none() && self.service.protocol.has_methods();
        match may_want_tls && !link.has_heard {
            true => Broken::ClosedAtOnce(self.service.protocol),
            false => end,
        }
    }

    /// Hands out the answers among received bytes.
    #[inline]
    fn take_in(&self, link: &mut Link, bytes: &[u8]) -> Result<(), Broken> {
        if bytes.is_empty() {
            return Err(match link.codec.is_within_answer() {
                true => Broken::Cut,
                false => self.closed(link, Broken::Closed),
            });
        }
        self.count(0, bytes.len());
        let Link { codec, out, has_heard, .. } = link;
        *has_heard = true;
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
    fn poll_write(&self, number: u64, stream: &mut Stream) -> Poll<Result<(), Broken>> {
        self.with_link(number, |link| {
            let Some(Link { codec, out, .. }) = link else { return Poll::Pending };
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
        })
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
    /// Closed without a byte, as servers do that expect another protocol than this one.
    ClosedAtOnce(Protocol),
    /// Closed in the middle of an answer.
    Cut,
    Faulty(LinkFault),
}

/// Why a link has ended.
struct LinkLoss {
    failure: Failure,
    /// Whether calls whose requests have not left can be sent again on another connection.
    can_resend: bool,
}

impl Broken {
    #[cold]
    fn explain(self, address: &Address) -> LinkLoss {
        // A peer that breaks the protocol would do so again.
        let can_resend = match &self {
            Self::Lost(_)
            | Self::Closed
            | Self::ClosedAtOnce(_)
            | Self::Faulty(LinkFault::Ended(_)) => true,
            Self::Cut | Self::Faulty(LinkFault::Malformed(_)) => false,
        };
        let failure = match self {
            Self::Lost(error) => address.lost(&error, &SSL_WORDS),
            Self::Closed => address.lost(&ErrorKind::UnexpectedEof.into(), &SSL_WORDS),
            Self::ClosedAtOnce(protocol) => {
                let other = match protocol {
                    Protocol::Grpc => ", such as tRPC (trpc://)",
                    Protocol::Trpc => ", such as gRPC (grpc://)",
                    Protocol::Tcp { .. } => "",
                };
                let message = format!(
                    "{}: the server closed the connection before it sent anything: it may want TLS \
                     (ssl_mode), or speak another protocol{other}; its log may say why",
                    address.name
                );
                Failure::new(ErrorClass::Connection, "", message)
            }
            Self::Cut => {
                let message = format!(
                    "{}: the server closed the connection in the middle of an answer",
                    address.name
                );
                Failure::new(ErrorClass::Connection, "", message)
            }
            Self::Faulty(fault) => fault.explain(address),
        };
        LinkLoss { failure, can_resend }
    }
}

/// The connection's own future: connects when that is wanted, and then reads and writes until the connection breaks. When
/// the server announces the end of the connection, another such future makes the next one, and this one ends with its
/// last answer.
async fn serve(shared: Rc<Shared>) {
    loop {
        while !shared.is_wanted.get() {
            shared.is_asked.wait().await;
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
        let (number, has_work) = shared.begin_link(codec);
        shared.wake_all();
        let lost = poll_fn(|_| shared.poll_link((number, &has_work), &mut stream, &address)).await;
        stream.hang_up();
        drop(stream);
        let (end, was_current) = shared.end_link(number, lost.failure, lost.can_resend);
        let mut is_told = lost.can_resend;
        shared.calls.borrow_mut().fail_all(&end, |slot| {
            is_told = true;
            shared.answers[slot].wake();
        });
        if !was_current {
            return;
        }
        shared.is_untold.set(!is_told);
        *shared.last_failure.borrow_mut() = Some(end.failure);
    }
}
