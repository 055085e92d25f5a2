//! The test beds that are up: one, or with windows those of all variants of a round.

use measure::{Process, Side};
use plan::{Plan, SystemInstance};
use record::{Identity, PhaseRecord};
use system::ServerProcess;
use system::watch::HostWatch;

use crate::test_bed::TestBed;

/// Servers that hold more than this part of the memory that they could have leave too little for a load.
const MEMORY_PART_MAX: f64 = 0.8;
const GIB: f64 = (1_u64 << 30) as f64;

/// The test beds that are up, and what is known of those that were.
#[derive(Default)]
pub(crate) struct TestBeds<'a> {
    up: Vec<TestBed<'a>>,
    /// Phases of data that was prepared before the first load on any of the systems that are up together.
    ahead: Vec<(SystemInstance, Vec<PhaseRecord>)>,
    /// With windows, system instances of which a server has exited, and how: they are not started again.
    lost: Vec<(SystemInstance, String)>,
    /// Whether it has been said that the memory may not do.
    has_told_memory: bool,
}

impl<'a> TestBeds<'a> {
    pub(crate) fn take(&mut self, instance: SystemInstance) -> Option<TestBed<'a>> {
        let at = self.up.iter().position(|it| it.instance() == instance)?;
        Some(self.up.remove(at))
    }

    /// Takes out those of all other system instances than these.
    pub(crate) fn take_others(&mut self, kept: &[SystemInstance]) -> Vec<TestBed<'a>> {
        let all = std::mem::take(&mut self.up).into_iter();
        let (kept, others) = all.partition(|it| kept.contains(&it.instance()));
        self.up = kept;
        others
    }

    pub(crate) fn put(&mut self, test_bed: TestBed<'a>) {
        self.up.push(test_bed);
    }

    /// Puts a test bed whose data was prepared ahead of its first trial.
    pub(crate) fn put_ahead(&mut self, test_bed: TestBed<'a>, phases: Vec<PhaseRecord>) {
        self.ahead.push((test_bed.instance(), phases));
        self.put(test_bed);
    }

    /// The phases that were done ahead of a trial, for its record.
    pub(crate) fn take_ahead(&mut self, instance: SystemInstance) -> Vec<PhaseRecord> {
        let all = std::mem::take(&mut self.ahead).into_iter();
        let (taken, left) = all.partition::<Vec<_>, _>(|(of, _)| *of == instance);
        self.ahead = left;
        taken.into_iter().flat_map(|(_, phases)| phases).collect()
    }

    /// Notes that a server of a system instance has exited, so that it is not started again.
    pub(crate) fn lose(&mut self, instance: SystemInstance, reason: String) {
        self.lost.push((instance, reason));
    }

    /// How a server of a system instance exited, without its log, which the trial in which it did has.
    pub(crate) fn loss(&self, instance: SystemInstance) -> Option<String> {
        let (_, reason) = self.lost.iter().find(|(of, _)| *of == instance)?;
        let how = reason.split([';', '\n']).next().unwrap_or_default();
        Some(format!("earlier in this round: {how}"))
    }

    pub(crate) fn identity(&self, system: usize) -> Option<&Identity> {
        self.up.iter().find(|it| it.instance().system == system).map(TestBed::identity)
    }

    /// Names of the systems whose test beds are here, in the order of the plan.
    pub(crate) fn names(&self, plan: &Plan) -> Vec<String> {
        let mut systems: Vec<usize> = self.up.iter().map(|it| it.instance().system).collect();
        systems.sort_unstable();
        systems.into_iter().map(|system| plan.systems[system].name.clone()).collect()
    }

    /// A remark, once, when the servers of several systems, those of `own` among them, hold so much memory that little
    /// is left.
    pub(crate) fn memory_note(&mut self, own: &TestBed<'_>) -> Option<String> {
        if self.has_told_memory || self.up.is_empty() {
            return None;
        }
        let processes = self.up.iter().chain([own]).flat_map(TestBed::processes);
        let process =
            |it: ServerProcess| Process { name: it.role, pid: it.pid, side: Side::Server };
        let reading = HostWatch::new(processes.map(process).collect()).read(0).ok()?;
        let held: u64 = reading.processes.iter().flatten().map(|process| process.rss_bytes).sum();
        let note = memory_note(self.up.len() + 1, held, reading.memory_available_bytes?);
        self.has_told_memory = note.is_some();
        note
    }
}

fn memory_note(systems: usize, held_bytes: u64, available_bytes: u64) -> Option<String> {
    let part = held_bytes as f64 / (held_bytes as f64 + available_bytes as f64);
    (systems > 1 && part > MEMORY_PART_MAX).then(|| {
        format!(
            "the servers of {systems} systems that are up together hold {:.1} GiB, and {:.1} GiB of memory is left: \
             it may not do for the load; give each less memory, or leave `interleave` out",
            held_bytes as f64 / GIB,
            available_bytes as f64 / GIB
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_told_of_when_several_systems_leave_less_than_a_fifth() {
        let gib = 1_u64 << 30;
        assert_eq!(memory_note(2, 8 * gib, 2 * gib), None);
        let told = memory_note(2, 9 * gib, 2 * gib).unwrap();
        assert!(told.contains("of 2 systems") && told.contains("9.0 GiB, and 2.0 GiB"), "{told}");
        assert_eq!(memory_note(1, 9 * gib, gib), None);
        assert_eq!(memory_note(2, 0, 0), None);
    }
}
