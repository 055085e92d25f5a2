//! The event loop of one thread, with its timers, its ready queue and the futures that it drives.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::future::Future;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use measure::nanos;
use mio::{Events, Poll as MioPoll, Registry, Token, event};

use crate::alarm::Alarm;
use crate::coarse_timers::CoarseTimers;
use crate::connect_queue::ConnectQueue;
use crate::holds::Holds;
use crate::read_budget::ReadBudget;
use crate::task::{Ready, Task, TaskId};
use crate::{Clock, Nanos};

mod sleep;
mod sockets;
mod unanswered;

pub use sleep::Sleep;
use unanswered::Unanswered;

/// Sockets that the kernel may report in one wait.
const EVENTS_PER_WAIT: usize = 256;
/// Size of the read buffer; answers that fit are parsed in place and not copied.
const SCRATCH_BYTES: usize = 64 * 1024;
/// The token of [`Remote::wake`].
const REMOTE: Token = Token(usize::MAX);
/// The token of the precise timer; sockets have smaller ones.
const ALARM: Token = Token(usize::MAX - 1);
/// The unit of the kernel's own wait, which is rounded up (epoll_wait(2)).
const WAIT_UNIT_NS: Nanos = 1_000_000;
/// Ready futures that one turn of the loop polls before it looks at sockets and the clock again: a bound,
/// because futures that keep waking each other would otherwise keep the loop from both.
const READY_PER_TURN: usize = 1024;

/// The state that sockets, timers and the loop share.
struct Shared {
    clock: Clock,
    registry: Registry,
    sockets: RefCell<Vec<Socket>>,
    free_tokens: RefCell<Vec<usize>>,
    timers: RefCell<BinaryHeap<Reverse<(Nanos, TaskId)>>>,
    /// The futures to poll next, before the loop waits for the kernel again.
    ready: RefCell<VecDeque<Ready>>,
    /// The futures to poll after the loop has looked at its sockets and timers.
    yielded: RefCell<Vec<TaskId>>,
    /// The future that is being polled now.
    current: Cell<TaskId>,
    read_budget: ReadBudget,
    scratch: RefCell<Box<[u8]>>,
    draft: Cell<Vec<u8>>,
    connect_queue: ConnectQueue,
    coarse_timers: CoarseTimers,
    unanswered: Unanswered,
    holds: Holds,
}

#[derive(Clone, Copy, Default)]
struct Socket {
    /// The future that is polled when the socket is ready.
    owner: TaskId,
    readable: bool,
    writable: bool,
    /// The peer has closed, or the socket is broken. The socket stays readable so that a read reports this,
    /// because the kernel signals this edge only once.
    hung_up: bool,
}

/// A future's access to the loop that drives it. Cloning is cheap.
#[derive(Clone)]
pub struct Handle(Rc<Shared>);

/// Wakes a loop from another thread.
#[derive(Clone, Debug)]
pub struct Remote(Arc<mio::Waker>);

impl Remote {
    /// Makes the loop return from its wait and call its tick.
    pub fn wake(&self) {
        // The only error is a full counter, which means that the loop is already being woken.
        let _ = self.0.wake();
    }
}

/// A single-threaded event loop.
pub struct Runtime {
    poll: MioPoll,
    events: Events,
    tasks: Vec<Option<Task>>,
    /// Places in `tasks` of futures that have ended.
    free_ids: Vec<TaskId>,
    /// Futures of [`Handle::spawn`] that have not ended; there are few.
    background: Vec<TaskId>,
    /// How many futures of [`Runtime::spawn`] have not ended.
    unfinished: usize,
    shared: Rc<Shared>,
    remote: Remote,
    alarm: Alarm,
    /// When the loop last began to wait with a timer set.
    slept_at: Nanos,
}

impl Runtime {
    /// A loop on `clock`. With a virtual clock, time jumps to the next timer as soon as no other work is left: no future
    /// is ready, and no socket of the loop has an event. So the times of a conversation over a unix socket whose ends are
    /// both in the loop are exact; over TCP the kernel may deliver bytes a little later.
    ///
    /// # Errors
    /// When the kernel refuses an event queue, usually because of the limit of open files.
    pub fn new(clock: Clock) -> io::Result<Self> {
        let poll = MioPoll::new()?;
        let remote = Remote(Arc::new(mio::Waker::new(poll.registry(), REMOTE)?));
        let shared = Rc::new(Shared {
            clock,
            registry: poll.registry().try_clone()?,
            sockets: RefCell::default(),
            free_tokens: RefCell::default(),
            timers: RefCell::default(),
            ready: RefCell::default(),
            yielded: RefCell::default(),
            current: Cell::new(0),
            read_budget: ReadBudget::default(),
            scratch: RefCell::new(vec![0; SCRATCH_BYTES].into_boxed_slice()),
            draft: Cell::default(),
            connect_queue: ConnectQueue::default(),
            coarse_timers: CoarseTimers::default(),
            unanswered: Unanswered::default(),
            holds: Holds::default(),
        });
        let events = Events::with_capacity(EVENTS_PER_WAIT);
        Ok(Self {
            poll,
            events,
            tasks: Vec::new(),
            free_ids: Vec::new(),
            background: Vec::new(),
            unfinished: 0,
            shared,
            remote,
            alarm: Alarm::default(),
            slept_at: 0,
        })
    }

    pub fn handle(&self) -> Handle {
        Handle(Rc::clone(&self.shared))
    }

    /// A handle with which other threads wake the loop.
    pub fn remote(&self) -> Remote {
        self.remote.clone()
    }

    /// Adds a future that [`Runtime::run`] drives to its end.
    pub fn spawn(&mut self, task: impl Future<Output = ()> + 'static) {
        self.unfinished += 1;
        self.shared.ready.borrow_mut().push_back(Ready::Spawned(Box::pin(task)));
    }

    /// Drives all futures until each one of [`Runtime::spawn`] has ended, calling `tick` once for every
    /// turn of the loop. The loop wakes at least at the time that `tick` returns; it ends early when
    /// `tick` returns `None`.
    ///
    /// # Errors
    /// When the kernel's wait fails.
    pub fn run(&mut self, mut tick: impl FnMut() -> Option<Nanos>) -> io::Result<()> {
        let spawned = self.shared.ready.borrow().len();
        self.poll_ready(spawned);
        while self.unfinished > 0 {
            let Some(wake_at) = tick() else { return Ok(()) };
            self.turn(wake_at)?;
        }
        Ok(())
    }

    /// Drives one future to its end and returns its result.
    ///
    /// # Errors
    /// When the kernel's wait fails, or with a deadlock of a virtual loop (nothing to wait for).
    pub fn block_on<T: 'static>(
        &mut self,
        future: impl Future<Output = T> + 'static,
    ) -> io::Result<T> {
        let result = Rc::new(RefCell::new(None));
        let slot = Rc::clone(&result);
        self.spawn(async move {
            let value = future.await;
            *slot.borrow_mut() = Some(value);
        });
        self.run(|| Some(Nanos::MAX))?;
        result.take().ok_or_else(|| io::Error::other("the event loop ended before its future"))
    }

    fn turn(&mut self, wake_at: Nanos) -> io::Result<()> {
        let next = self.shared.timers.borrow().peek().map_or(Nanos::MAX, |Reverse((at, _))| *at);
        let until = match self.shared.has_ready() {
            true => 0,
            false => next.min(wake_at).min(self.shared.coarse_timers.due()),
        };
        if self.shared.clock.is_virtual() {
            self.advance(until)?;
        } else {
            self.wait(next, until)?;
        }
        if next != Nanos::MAX {
            self.fire_timers();
        }
        self.shared.resume_yielded();
        if self.shared.has_ready() {
            self.poll_ready(READY_PER_TURN);
        }
        Ok(())
    }

    /// Moves virtual time to `until`, unless a socket has an event: then time stands still.
    fn advance(&mut self, until: Nanos) -> io::Result<()> {
        if self.shared.has_sockets() && self.poll_sockets(Some(Duration::ZERO))? {
            return Ok(());
        }
        if until == Nanos::MAX {
            return Err(io::Error::other("nothing left to wait for in virtual time"));
        }
        self.shared.clock.advance_to(until);
        self.sweep(self.shared.clock.now());
        Ok(())
    }

    /// Polls the first `most` futures of the ready queue.
    fn poll_ready(&mut self, most: usize) {
        for _ in 0..most {
            let Some(ready) = self.shared.ready.borrow_mut().pop_front() else { return };
            let id = match ready {
                Ready::Woken(id) => id,
                Ready::Spawned(task) => self.place(task),
                Ready::Background(task) => {
                    let id = self.place(task);
                    self.background.push(id);
                    id
                }
            };
            self.poll_task(id);
        }
    }

    fn place(&mut self, task: Task) -> TaskId {
        if let Some(id) = self.free_ids.pop() {
            self.tasks[id] = Some(task);
            return id;
        }
        self.tasks.push(Some(task));
        self.tasks.len() - 1
    }

    /// Waits for events, until `until` at the latest, and until the `next` timer to the microsecond.
    fn wait(&mut self, next: Nanos, until: Nanos) -> io::Result<()> {
        let mut timeout = None;
        if until != Nanos::MAX {
            let now = self.shared.clock.now();
            self.slept_at = now;
            self.sweep(now);
            timeout = Some(Duration::from_nanos(until.saturating_sub(now)));
            self.set_alarm(next, until, now);
        }
        self.poll_sockets(timeout).map(drop)
    }

    /// Waits for events of sockets, at most so long, and polls their futures; returns whether there were any.
    #[inline]
    fn poll_sockets(&mut self, timeout: Option<Duration>) -> io::Result<bool> {
        match self.poll.poll(&mut self.events, timeout) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(false),
            other => other?,
        }
        let events = std::mem::replace(&mut self.events, Events::with_capacity(0));
        for event in &events {
            if event.token() < ALARM {
                let owner = self.shared.mark_ready(event);
                self.poll_task(owner);
            } else if event.token() == ALARM {
                self.alarm.on_fired();
            }
        }
        let has_any = !events.is_empty();
        self.events = events;
        Ok(has_any)
    }

    /// Sets the alarm for the `next` timer unless the wait until `until` ends before it even when rounded up. That wait
    /// may be one for a sweep or a tick shortly before the timer.
    #[inline]
    fn set_alarm(&mut self, next: Nanos, until: Nanos, now: Nanos) {
        if next < until.saturating_add(WAIT_UNIT_NS) {
            self.alarm.set(next, now, &self.shared.registry, ALARM);
        }
    }

    /// Polls the futures whose waits have timed out, when a sweep is due.
    #[inline]
    fn sweep(&mut self, now: Nanos) {
        if now >= self.shared.coarse_timers.due() {
            let expired = self.shared.coarse_timers.sweep(now);
            expired.into_iter().for_each(|task| self.poll_task(task));
        }
    }

    fn fire_timers(&mut self) {
        let now = self.shared.clock.now();
        loop {
            let (at, task) = match self.shared.timers.borrow().peek() {
                Some(Reverse((at, task))) if *at <= now => (*at, *task),
                _ => return,
            };
            self.shared.holds.timer_ended(at, now, self.slept_at);
            self.shared.timers.borrow_mut().pop();
            self.poll_task(task);
        }
    }

    #[inline]
    fn poll_task(&mut self, id: TaskId) {
        let Some(Some(task)) = self.tasks.get_mut(id) else { return };
        self.shared.current.set(id);
        self.shared.read_budget.refill();
        let mut context = Context::from_waker(Waker::noop());
        if task.as_mut().poll(&mut context).is_ready() {
            self.end_task(id);
        }
    }

    fn end_task(&mut self, id: TaskId) {
        self.tasks[id] = None;
        self.free_ids.push(id);
        match self.background.iter().position(|background| *background == id) {
            Some(at) => {
                self.background.swap_remove(at);
            }
            None => self.unfinished -= 1,
        }
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // So that the futures that are dropped below need not remove their timers one by one.
        self.shared.timers.borrow_mut().clear();
        // A future that was never polled may hold a handle, and with it the queue that holds the future.
        drop(self.shared.ready.take());
    }
}

impl Shared {
    #[inline]
    fn has_ready(&self) -> bool {
        !self.ready.borrow().is_empty() || !self.yielded.borrow().is_empty()
    }

    fn has_sockets(&self) -> bool {
        self.sockets.borrow().len() > self.free_tokens.borrow().len()
    }

    /// Moves the futures that have yielded to the ready queue.
    #[inline]
    fn resume_yielded(&self) {
        let mut yielded = self.yielded.borrow_mut();
        self.ready.borrow_mut().extend(yielded.drain(..).map(Ready::Woken));
    }

    #[inline]
    fn mark_ready(&self, event: &event::Event) -> TaskId {
        let mut sockets = self.sockets.borrow_mut();
        let socket = &mut sockets[event.token().0];
        socket.hung_up |= event.is_read_closed() || event.is_error();
        socket.readable |= event.is_readable() || socket.hung_up;
        socket.writable |= event.is_writable() || event.is_write_closed() || event.is_error();
        socket.owner
    }
}

impl Handle {
    /// Nanoseconds on the loop's clock.
    #[inline]
    pub fn now(&self) -> Nanos {
        self.0.clock.now()
    }

    /// Adds a future that runs in addition to those of [`Runtime::spawn`], such as the reader of a connection that
    /// several of them share. The loop does not wait for it: it is dropped with the loop.
    pub fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.0.ready.borrow_mut().push_back(Ready::Background(Box::pin(task)));
    }

    /// Waits until `at` on the loop's clock; returns at once when that has passed.
    pub fn sleep_until(&self, at: Nanos) -> Sleep<'_> {
        Sleep { handle: self, at, set_for: None }
    }

    pub fn sleep(&self, length: Duration) -> Sleep<'_> {
        self.sleep_until(self.now().saturating_add(nanos(length)))
    }

    /// Has the future that is being polled polled again after the loop has looked at its sockets and timers: for a future
    /// that has more to do at once than others should wait for.
    pub fn yield_turn(&self) {
        let mut yielded = self.0.yielded.borrow_mut();
        // An event of its socket may have had it polled in between.
        if !yielded.contains(&self.current()) {
            yielded.push(self.current());
        }
    }

    /// Whether the future that is being polled may read once more. If not, it is polled again in the next turn.
    #[inline]
    pub(crate) fn may_read(&self) -> bool {
        let may_read = self.0.read_budget.spend();
        if !may_read {
            self.yield_turn();
        }
        may_read
    }

    pub(crate) fn connect_queue(&self) -> &ConnectQueue {
        &self.0.connect_queue
    }

    pub(crate) fn coarse_timers(&self) -> &CoarseTimers {
        &self.0.coarse_timers
    }

    pub(crate) fn current(&self) -> TaskId {
        self.0.current.get()
    }

    pub(crate) fn holds(&self) -> &Holds {
        &self.0.holds
    }

    /// Puts a future into the ready queue.
    #[inline]
    pub(crate) fn wake(&self, task: TaskId) {
        self.0.ready.borrow_mut().push_back(Ready::Woken(task));
    }

    /// Takes the loop's buffer for outgoing bytes. All connections that fill it and send it at once use the
    /// same few cache lines. Give it back with [`Handle::give_draft`].
    #[inline]
    pub fn take_draft(&self) -> Vec<u8> {
        self.0.draft.take()
    }

    /// Gives the buffer back, or another one instead.
    #[inline]
    pub fn give_draft(&self, draft: Vec<u8>) {
        self.0.draft.set(draft);
    }

    /// Lends the loop's read buffer.
    #[inline]
    pub(crate) fn with_scratch<T>(&self, body: impl FnOnce(&mut [u8]) -> T) -> T {
        body(&mut self.0.scratch.borrow_mut())
    }
}

#[cfg(test)]
mod tests;
