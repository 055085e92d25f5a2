//! The thread that deals with the frames of the other side, and notices when there are no more.

use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use crate::frame::{Frame, FrameReader};
use crate::incoming::{Came, Incoming, Part};
use crate::problem::Problem;
use crate::queue::{Bytes, Pushed};
use crate::shared::Shared;

/// How often a side checks whether the other one is silent.
const TICK: Duration = Duration::from_millis(100);
/// After so many ticks without a byte the other side is lost. Ticks are counted rather than time, so that a process that
/// stood still itself does not take the other side for lost.
const SILENT_TICKS_MAX: u32 = 50;
/// The same in seconds.
const SILENT_S: u64 = 5;
/// So many ticks after the other side has closed its input, its own end is no longer waited for.
const DEAF_TICKS_MAX: u32 = 10;

/// What a side does when the other one asks for the time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Clock {
    /// It asks itself, and does not answer.
    Asks,
    Answers(fn() -> u64),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockAnswer {
    pub(crate) number: u64,
    pub(crate) theirs_ns: u64,
    pub(crate) came_ns: u64,
}

/// Deals with what comes.
pub(crate) struct Dispatcher {
    pub(crate) shared: Arc<Shared>,
    pub(crate) clock: Clock,
    pub(crate) answers: mpsc::SyncSender<ClockAnswer>,
}

/// For how many ticks nothing has happened.
#[derive(Debug, Default)]
struct Idle {
    silent: u32,
    deaf: u32,
    unread: u32,
    written: u64,
}

impl Dispatcher {
    /// Deals with frames until the connection is of no more use, and returns why.
    pub(crate) fn run(&self, mut incoming: Incoming) -> Problem {
        let mut frames = FrameReader::default();
        let mut idle = Idle::default();
        loop {
            if self.shared.messages.is_broken() {
                return Problem::Finished;
            }
            let result = match incoming.wait(TICK) {
                Came::Part(part) => {
                    idle.silent = 0;
                    self.take(&mut frames, &part)
                }
                Came::Nothing => self.tick(&mut idle),
                Came::End => Err(Problem::Closed),
            };
            if let Err(problem) = result {
                return problem;
            }
        }
    }

    fn tick(&self, idle: &mut Idle) -> Result<(), Problem> {
        idle.silent += 1;
        idle.deaf += u32::from(self.shared.outgoing.is_broken());
        let written = self.shared.written.load(Ordering::Acquire);
        let is_stuck = written == idle.written && self.shared.outgoing.is_in_work();
        idle.unread = if is_stuck { idle.unread + 1 } else { 0 };
        idle.written = written;
        match idle {
            Idle { silent: SILENT_TICKS_MAX.., .. } => Err(Problem::Silent(SILENT_S)),
            Idle { unread: SILENT_TICKS_MAX.., .. } => Err(Problem::NotReading(SILENT_S)),
            Idle { deaf: DEAF_TICKS_MAX.., .. } => Err(Problem::Closed),
            _ => Ok(()),
        }
    }

    fn take(&self, frames: &mut FrameReader, part: &Part) -> Result<(), Problem> {
        frames.push(&part.bytes);
        while let Some(frame) = frames.next()? {
            match (frame, self.clock) {
                (Frame::Heartbeat, _) => {}
                (Frame::Message(body), _) => self.keep(body)?,
                (Frame::ClockQuestion { number }, Clock::Answers(now_ns)) => {
                    let answer = Frame::ClockAnswer { number, at_ns: now_ns() }.encode()?;
                    if !self.shared.outgoing.push_urgent(answer) {
                        return Err(Problem::Garbage("too many questions of the time".to_owned()));
                    }
                }
                (Frame::ClockAnswer { number, at_ns }, Clock::Asks) => {
                    let came_ns = part.at_ns;
                    // One that nobody waits for is dropped.
                    let _ =
                        self.answers.try_send(ClockAnswer { number, theirs_ns: at_ns, came_ns });
                }
                (Frame::ClockQuestion { .. } | Frame::ClockAnswer { .. }, _) => {
                    return Err(Problem::Garbage("a clock frame of the wrong side".to_owned()));
                }
            }
        }
        Ok(())
    }

    /// Keeps a message until it is received; without room for it, nothing more is read.
    fn keep(&self, mut body: Bytes) -> Result<(), Problem> {
        loop {
            match self.shared.messages.push(body, TICK) {
                Pushed::Yes => return Ok(()),
                Pushed::Full(again) => body = again,
                Pushed::Ended => return Err(Problem::Finished),
            }
        }
    }
}
