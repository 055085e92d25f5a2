//! A connection to another dyno on which messages are sent: frames both ways, heartbeats, and the notice of its end.
//!
//! Three threads serve it: one reads bytes (`incoming.rs`), one deals with frames (`dispatch.rs`), one writes
//! (`shared.rs`). So neither a slow reader nor a full pipe keeps a side from its heartbeats, and the times of answers to
//! clock questions are taken as the bytes come.

use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use measure::ClockComparison;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::clock::{self, Reading};
use crate::dispatch::{Clock, ClockAnswer, Dispatcher};
use crate::frame::Frame;
use crate::incoming::Incoming;
use crate::message;
use crate::problem::{LinkError, Problem};
use crate::queue::Popped;
use crate::shared::Shared;

/// How long a wait for a message lasts before it begins again.
const WAIT_PERIOD: Duration = Duration::from_secs(1);
/// So many answers to other questions may come before the one that is waited for.
const OTHER_ANSWERS_MAX: usize = 4;
/// How long a flush takes at most: by then a side that does not read is lost.
const FLUSH_BOUND: Duration = Duration::from_secs(10);

/// What finds out why a connection has ended.
pub(crate) type Explain = Box<dyn Fn(&Problem) -> String + Send>;
/// What is done when the other side is gone.
pub(crate) type OnLost = Box<dyn FnOnce(&LinkError) + Send>;

/// A connection on which frames are sent.
pub(crate) struct Link {
    shared: Arc<Shared>,
    questions: Mutex<Questions>,
}

/// Clock questions, one at a time.
struct Questions {
    asked: u64,
    answers: mpsc::Receiver<ClockAnswer>,
}

impl Link {
    /// Sends and reads frames from now on.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(crate) fn begin(
        shared: Arc<Shared>,
        incoming: Incoming,
        clock: Clock,
        (explain, on_lost): (Explain, OnLost),
    ) -> anyhow::Result<Self> {
        shared.is_framed.store(true, Ordering::Release);
        let (sender, answers) = mpsc::sync_channel(1);
        let dispatcher = Dispatcher { shared: Arc::clone(&shared), clock, answers: sender };
        let work = move || {
            let problem = dispatcher.run(incoming);
            let said = explain(&problem);
            let error = LinkError { problem, said };
            dispatcher.shared.end(error.clone());
            if error.problem != Problem::Finished {
                on_lost(&error);
            }
        };
        let thread = thread::Builder::new().name("remote frames".to_owned());
        thread.spawn(work).context("no thread for the messages of another dyno")?;
        Ok(Self { shared, questions: Mutex::new(Questions { asked: 0, answers }) })
    }

    pub(crate) fn sender(&self) -> Sender {
        Sender { shared: Arc::clone(&self.shared) }
    }

    pub(crate) fn receiver(&self) -> Receiver {
        Receiver { shared: Arc::clone(&self.shared) }
    }

    /// Compares the other side's clock with ours.
    pub(crate) fn compare_clocks(&self) -> Result<ClockComparison, LinkError> {
        let mut questions = self.questions.lock().unwrap_or_else(PoisonError::into_inner);
        let compared = clock::compare(|| {
            questions.asked += 1;
            self.ask(questions.asked, &questions.answers)
        });
        compared.map_err(|problem| match problem {
            Problem::Closed => self.shared.reason(),
            problem => problem.into(),
        })
    }

    fn ask(&self, number: u64, answers: &mpsc::Receiver<ClockAnswer>) -> Result<Reading, Problem> {
        if !self.is_connected() {
            return Err(Problem::Closed);
        }
        let question = Frame::ClockQuestion { number }.encode()?;
        let asked_ns = net::kernel_ns();
        if !self.shared.outgoing.push_urgent(question) {
            return Err(Problem::Closed);
        }
        // The answer to an earlier question, which timed out, may arrive first. More than a few such answers are a fault.
        for _ in 0..OTHER_ANSWERS_MAX {
            let answer =
                answers.recv_timeout(clock::ANSWER_BOUND).map_err(|error| match error {
                    mpsc::RecvTimeoutError::Timeout => {
                        Problem::Silent(clock::ANSWER_BOUND.as_secs())
                    }
                    mpsc::RecvTimeoutError::Disconnected => Problem::Closed,
                })?;
            if answer.number == number {
                let ClockAnswer { theirs_ns, came_ns, .. } = answer;
                return Ok(Reading { asked_ns, theirs_ns, answered_ns: came_ns });
            }
        }
        Err(Problem::Garbage("answers to questions of the time that were not asked".to_owned()))
    }

    pub(crate) fn is_connected(&self) -> bool {
        !self.shared.outgoing.is_broken()
    }

    /// Sends what waits and then the end of the connection.
    pub(crate) fn close(&self) {
        self.shared.outgoing.close();
    }

    /// Ends the connection without regard to what waits.
    pub(crate) fn break_off(&self) {
        self.shared.outgoing.break_off();
        self.shared.messages.break_off();
    }
}

/// Sends messages. Clones send on the same connection.
#[derive(Clone)]
pub struct Sender {
    shared: Arc<Shared>,
}

impl Sender {
    /// Sends a message, as soon as there is room for it. Its bytes are overwritten after they were sent.
    ///
    /// # Errors
    /// When it is too large, or the connection has ended.
    pub fn send<T: Serialize + ?Sized>(&self, message: &T) -> Result<(), LinkError> {
        self.shared.send(&Frame::Message(message::encode(message)?))
    }

    /// Waits until all messages have been passed on.
    ///
    /// # Errors
    /// When the connection has ended before.
    pub fn flush(&self) -> Result<(), LinkError> {
        match self.shared.outgoing.is_drained_within(FLUSH_BOUND) {
            true => Ok(()),
            false => Err(self.shared.reason()),
        }
    }
}

/// Receives messages. Clones receive from the same connection: each message goes to one of them.
#[derive(Clone)]
pub struct Receiver {
    shared: Arc<Shared>,
}

impl Receiver {
    /// The next message. Those that came before the end of the connection are received first.
    ///
    /// # Errors
    /// When the connection has ended, or the message is no `T`.
    pub fn receive<T: DeserializeOwned>(&self) -> Result<T, LinkError> {
        loop {
            if let Some(message) = self.receive_within(WAIT_PERIOD)? {
                return Ok(message);
            }
        }
    }

    /// The next message, when one comes in time.
    ///
    /// # Errors
    /// When the connection has ended, or the message is no `T`.
    pub fn receive_within<T: DeserializeOwned>(
        &self,
        bound: Duration,
    ) -> Result<Option<T>, LinkError> {
        match self.shared.messages.pop(bound) {
            Popped::Item(bytes) => {
                self.shared.messages.done();
                Ok(Some(message::decode(&bytes)?))
            }
            Popped::None => Ok(None),
            Popped::Ended => Err(self.shared.reason()),
        }
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sender")
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Receiver")
    }
}
