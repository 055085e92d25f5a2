//! The servers of a test bed that exit by themselves.

use std::thread;
use std::time::Duration;

use measure::Failure;
use net::Clock;
use system::LostMember;

use super::{POLL_PERIOD, TestBed};

/// How long to wait for a managed server to exit after it has closed a connection. It may still write a
/// stack trace and return its memory.
const EXIT_GRACE: Duration = Duration::from_secs(5);

impl TestBed<'_> {
    /// Why the system cannot serve clients any more, because servers of it have exited.
    pub(crate) fn exited(&mut self) -> Option<String> {
        self.running.exited()
    }

    pub(crate) fn lost_members(&self) -> Vec<LostMember> {
        self.running.lost_members()
    }

    /// Whether the system goes on when one of its servers has exited.
    pub(crate) fn goes_on_without_members(&self) -> bool {
        self.running.goes_on_without_members()
    }

    /// Whether no server has exited. A system that has lost one is another system: the next trial needs a whole one.
    pub(crate) fn is_whole(&mut self) -> bool {
        self.loss().is_none()
    }

    /// Whether a lost connection can be made again: a server that dyno started does not come back by itself, but others
    /// may go on.
    pub(super) fn may_reconnect(&self) -> bool {
        !self.is_managed() || self.goes_on_without_members()
    }

    /// As [`TestBed::exited`] after a connection was lost: connections close a moment before the server exits.
    pub(crate) fn exited_with_its_connections(&mut self) -> Option<String> {
        let clock = Clock::monotonic();
        while self.is_managed() && !self.stop.is_asked() && self.is_whole() {
            if Duration::from_nanos(clock.now()) >= EXIT_GRACE {
                return None;
            }
            thread::sleep(POLL_PERIOD);
        }
        self.exited()
    }

    /// How a managed server exited, if its exit is the reason for the failure `cause`. A step that fails on a system
    /// that has lost a server counts as such.
    pub(crate) fn crash(&mut self, cause: &anyhow::Error) -> Option<String> {
        let is_lost = cause
            .chain()
            .filter_map(|one| one.downcast_ref::<Failure>())
            .any(|failure| failure.key.class.breaks_connection());
        let reason = if is_lost { self.exited_with_its_connections() } else { self.exited() };
        let reason = reason.or_else(|| self.members_exited())?;
        Some(format!("{cause:#}; {reason}"))
    }

    /// How servers of the system have exited, whether or not it goes on without them.
    pub(crate) fn loss(&mut self) -> Option<String> {
        self.exited().or_else(|| self.members_exited())
    }

    fn members_exited(&self) -> Option<String> {
        let lost = self.lost_members();
        let exits = lost.iter().map(|it| format!("{} exited ({})", it.name, it.status));
        let exits: Vec<String> = exits.collect();
        (!exits.is_empty()).then(|| exits.join("; "))
    }
}
