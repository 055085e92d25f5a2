//! Outages of the system under test, derived from the events of clients' connections.

use measure::Outage;
use net::Nanos;

/// After this many outages the last one is extended, to bound memory when connections break all the time.
const OUTAGES_MAX: usize = 1_000;

/// An event of a client's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionEvent {
    /// It broke.
    Lost,
    /// A new one was established.
    Reconnected,
    /// A transaction on the new connection was answered.
    Back,
}

/// All outages of a trial. The events of one worker come in order, those of several workers nearly.
#[derive(Debug, Default)]
pub(crate) struct Outages {
    all: Vec<Outage>,
    /// Whether they have changed since the last report.
    are_new: bool,
}

impl Outages {
    /// Adds an event at `at` on the trial's clock.
    pub(crate) fn on_event(&mut self, at: Nanos, event: ConnectionEvent) {
        self.are_new = true;
        match event {
            ConnectionEvent::Lost => self.lost(at),
            ConnectionEvent::Reconnected => {
                if let Some(last) = self.all.last_mut() {
                    last.reconnects += 1;
                }
            }
            ConnectionEvent::Back => {
                // A late message of another worker: an answer from before the failure does not end the
                // outage.
                if let Some(last) = self.all.last_mut()
                    && last.end_ns.is_none()
                    && at > last.start_ns
                {
                    last.end_ns = Some(at);
                }
            }
        }
    }

    fn lost(&mut self, at: Nanos) {
        let is_full = self.all.len() == OUTAGES_MAX;
        match self.all.last_mut() {
            Some(last) if last.end_ns.is_none() => {
                last.start_ns = last.start_ns.min(at);
                last.failures += 1;
            }
            // A late message of another worker: the failure is from before the end.
            Some(last) if last.end_ns.is_some_and(|end| at <= end) => last.failures += 1,
            Some(last) if is_full => {
                last.end_ns = None;
                last.failures += 1;
            }
            _ => self.all.push(Outage { start_ns: at, end_ns: None, failures: 1, reconnects: 0 }),
        }
    }

    /// All outages in order, if they have changed since the last call.
    pub(crate) fn changed(&mut self) -> Option<&[Outage]> {
        std::mem::take(&mut self.are_new).then_some(&self.all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outages(changed: &[(Nanos, ConnectionEvent)]) -> Vec<Outage> {
        let mut outages = Outages::default();
        changed.iter().for_each(|(at, event)| outages.on_event(*at, *event));
        let seen = outages.changed().unwrap().to_vec();
        assert_eq!(outages.changed(), None, "they are told once");
        seen
    }

    #[test]
    fn an_outage_lasts_from_the_first_failure_to_the_first_answer() {
        use ConnectionEvent::{Back, Lost, Reconnected};
        let changed =
            [(10, Lost), (11, Lost), (30, Reconnected), (35, Back), (36, Reconnected), (37, Back)];
        let expected = Outage { start_ns: 10, end_ns: Some(35), failures: 2, reconnects: 2 };
        assert_eq!(outages(&changed), [expected]);
        assert_eq!(expected.length_ns(100), 25);
    }

    #[test]
    fn an_open_outage_has_no_end() {
        let seen = outages(&[(10, ConnectionEvent::Lost), (20, ConnectionEvent::Reconnected)]);
        assert_eq!(seen, [Outage { start_ns: 10, end_ns: None, failures: 1, reconnects: 1 }]);
        assert_eq!(seen[0].length_ns(100), 90);
    }

    #[test]
    fn events_of_other_workers_may_arrive_late() {
        use ConnectionEvent::{Back, Lost};
        // The events at 9 and 28 arrive after later ones; the last answer is older than the second outage.
        let changed = [(10, Lost), (9, Lost), (30, Back), (28, Lost), (50, Lost), (40, Back)];
        let first = Outage { start_ns: 9, end_ns: Some(30), failures: 3, reconnects: 0 };
        let second = Outage { start_ns: 50, end_ns: None, failures: 1, reconnects: 0 };
        assert_eq!(outages(&changed), [first, second]);
    }

    #[test]
    fn the_number_of_recorded_outages_is_bounded() {
        let mut all = Outages::default();
        for at in 0..5_000 {
            all.on_event(3 * at, ConnectionEvent::Lost);
            all.on_event(3 * at + 1, ConnectionEvent::Back);
        }
        let all = all.changed().unwrap();
        assert_eq!(all.len(), OUTAGES_MAX);
        assert_eq!(all.iter().map(|outage| outage.failures).sum::<u64>(), 5_000);
    }
}
