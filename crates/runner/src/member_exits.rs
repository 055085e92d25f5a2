//! The servers of a system that exit during a trial, for the trial's record.

use std::time::Instant;

use measure::{MemberExit, nanos};
use record::{RecordError, TrialWriter};
use system::LostMember;

use crate::RunListener;
use crate::test_bed::TestBed;

/// Records each exit once.
#[derive(Debug, Default)]
pub(crate) struct MemberExits {
    /// Where the trial's clock begins; `None` before the load.
    origin: Option<Instant>,
    recorded: usize,
}

impl MemberExits {
    /// The trial's clock begins now.
    pub(crate) fn begin(&mut self) {
        self.origin = Some(net::origin());
    }

    /// Records the servers that have exited since the last call, and tells the user when the others go on.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub(crate) fn update(
        &mut self,
        test_bed: &TestBed<'_>,
        writer: &mut TrialWriter,
        listener: &mut dyn RunListener,
    ) -> Result<(), RecordError> {
        let lost = test_bed.lost_members();
        if lost.len() == self.recorded {
            return Ok(());
        }
        // Otherwise the trial ends, with the reason.
        if test_bed.goes_on_without_members() {
            for LostMember { name, status, .. } in lost.iter().skip(self.recorded) {
                listener.on_note(&format!("{name} exited ({status}); the others go on without it"));
            }
        }
        self.recorded = lost.len();
        writer.member_exits(lost.iter().map(|member| self.of(member)).collect())
    }

    fn of(&self, lost: &LostMember) -> MemberExit {
        let since = self.origin.and_then(|origin| lost.at.checked_duration_since(origin));
        MemberExit {
            member: lost.name.clone(),
            role: lost.role.clone(),
            at_ns: since.map(nanos),
            status: lost.status.clone(),
            log: lost.last_words(),
        }
    }
}
