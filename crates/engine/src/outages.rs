//! Outages of the system under test, derived from the events of clients' connections and from times in which no
//! transaction succeeded.

use measure::{GeneratorStall, Outage};
use net::Nanos;
use serde::{Deserialize, Serialize};

use crate::quiet::{QUIET_MIN_NS, Quiet};

/// After this many outages the last one is extended, to bound memory when connections break all the time.
const OUTAGES_MAX: usize = 1_000;
/// A shorter time without success is not a stall.
const STALL_MIN_NS: Nanos = 1_000_000_000;
/// A stall is this many times as long as the mean time between two successes otherwise.
const STALL_FACTOR: u64 = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ConnectionEvent {
    /// It broke, with the turn of a client that began then.
    Lost {
        since: Nanos,
    },
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
            ConnectionEvent::Lost { since } => self.lost(since, at),
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

    /// A connection broke at `at` whose client had waited since `since`.
    fn lost(&mut self, since: Nanos, at: Nanos) {
        let is_full = self.all.len() == OUTAGES_MAX;
        match self.all.last_mut() {
            Some(last) if last.end_ns.is_none() => {
                last.start_ns = last.start_ns.min(since);
                last.failures += 1;
            }
            // A late message of another worker: the failure is from before the end.
            Some(last) if last.end_ns.is_some_and(|end| at <= end) => last.failures += 1,
            Some(last) if is_full => {
                last.end_ns = None;
                last.failures += 1;
            }
            _ => {
                let end = self.all.last().and_then(|last| last.end_ns).unwrap_or(0);
                let start_ns = since.max(end);
                self.all.push(Outage { start_ns, end_ns: None, failures: 1, reconnects: 0 });
            }
        }
    }

    /// Bounds outages of lost connections by the times in which no transaction succeeded; `end` is that of the load. A client
    /// without a connection may have no turn for long, so until it is back the system may answer others: one that does so
    /// is not away. Shorter ones than the times that are known of stay as they are.
    pub(crate) fn bound_by(&mut self, quiet: &Quiet, end: Nanos) {
        let bounded: Vec<Outage> =
            self.all.iter().flat_map(|outage| bounded_by(outage, quiet, end)).collect();
        self.are_new |= bounded != self.all;
        self.all = bounded;
    }

    /// Adds the stalls: times before `end` in which no transaction succeeded although one waited for its answer, and
    /// which are too long for chance. Time in which the load generator itself did not run, `own`, does not make a stall.
    /// Returns how long they lasted from `window_start` to `end` together, and when the last one began if it had no end.
    pub(crate) fn add_stalls(
        &mut self,
        quiet: &Quiet,
        own: &[GeneratorStall],
        (window_start, end): (Nanos, Nanos),
        successes: u64,
    ) -> (Nanos, Option<Nanos>) {
        let (mut stalled_ns, mut open_since) = (0, None);
        for time in &quiet.0 {
            let Some(start) = time.stalled_since() else { continue };
            let until = time.end.unwrap_or(end).min(end);
            let length_from = |from: Nanos| {
                let own_ns = measure::sum(own.iter().map(|stall| stall.within(from, until)));
                until.saturating_sub(from).saturating_sub(own_ns)
            };
            let length = length_from(start);
            let between = (end - length.min(end)) / successes.max(1);
            if length < STALL_MIN_NS || length < between.saturating_mul(STALL_FACTOR) {
                continue;
            }
            stalled_ns += length_from(start.max(window_start));
            open_since = time.end.is_none().then_some(start);
            self.join(Outage { start_ns: start, end_ns: time.end, failures: 0, reconnects: 0 });
        }
        (stalled_ns, open_since)
    }

    /// Adds an outage, as one with those that it overlaps.
    fn join(&mut self, mut new: Outage) {
        self.are_new = true;
        let end = |outage: &Outage| outage.end_ns.unwrap_or(Nanos::MAX);
        self.all.retain(|other| {
            let overlaps = other.start_ns <= end(&new) && new.start_ns <= end(other);
            if overlaps {
                new = Outage {
                    start_ns: new.start_ns.min(other.start_ns),
                    end_ns: new.end_ns.zip(other.end_ns).map(|(one, two)| one.max(two)),
                    failures: new.failures + other.failures,
                    reconnects: new.reconnects + other.reconnects,
                };
            }
            !overlaps
        });
        let place = self.all.partition_point(|other| other.start_ns < new.start_ns);
        self.all.insert(place, new);
    }

    /// All outages in order, if they have changed since the last call.
    pub(crate) fn changed(&mut self) -> Option<&[Outage]> {
        std::mem::take(&mut self.are_new).then_some(&self.all)
    }
}

/// The parts of an outage in which nothing was answered; without any, what is left of it is a lost connection.
fn bounded_by(outage: &Outage, quiet: &Quiet, end: Nanos) -> Vec<Outage> {
    let until = outage.end_ns.unwrap_or(end);
    if until.saturating_sub(outage.start_ns) < QUIET_MIN_NS {
        return vec![*outage];
    }
    let mut parts = Vec::new();
    for time in quiet.0.iter().filter(|time| time.waits_since.is_some()) {
        let start_ns = time.start.max(outage.start_ns);
        if start_ns >= time.end.unwrap_or(Nanos::MAX).min(until) {
            continue;
        }
        let end_ns = time.end.into_iter().chain(outage.end_ns).min();
        parts.push(Outage { start_ns, end_ns, failures: 0, reconnects: 0 });
    }
    if parts.is_empty() {
        let end_ns = Some(outage.start_ns);
        parts.push(Outage { start_ns: outage.start_ns, end_ns, failures: 0, reconnects: 0 });
    }
    (parts[0].failures, parts[0].reconnects) = (outage.failures, outage.reconnects);
    parts
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

    /// A connection that broke outside of a turn.
    fn lost(at: Nanos) -> (Nanos, ConnectionEvent) {
        (at, ConnectionEvent::Lost { since: at })
    }

    #[test]
    fn an_outage_lasts_from_the_first_unanswered_request_to_the_first_answer() {
        use ConnectionEvent::{Back, Lost, Reconnected};
        let changed = [
            (10, Lost { since: 4 }),
            (11, Lost { since: 5 }),
            (30, Reconnected),
            (35, Back),
            (36, Reconnected),
            (37, Back),
        ];
        let expected = Outage { start_ns: 4, end_ns: Some(35), failures: 2, reconnects: 2 };
        assert_eq!(outages(&changed), [expected]);
        assert_eq!(expected.length_ns(100), 31);
    }

    #[test]
    fn an_open_outage_has_no_end() {
        let seen = outages(&[lost(10), (20, ConnectionEvent::Reconnected)]);
        assert_eq!(seen, [Outage { start_ns: 10, end_ns: None, failures: 1, reconnects: 1 }]);
        assert_eq!(seen[0].length_ns(100), 90);
    }

    #[test]
    fn events_of_other_workers_may_arrive_late() {
        use ConnectionEvent::Back;
        // The events at 9 and 28 arrive after later ones; the last answer is older than the second outage.
        let changed = [lost(10), lost(9), (30, Back), lost(28), lost(50), (40, Back)];
        let first = Outage { start_ns: 9, end_ns: Some(30), failures: 3, reconnects: 0 };
        let second = Outage { start_ns: 50, end_ns: None, failures: 1, reconnects: 0 };
        assert_eq!(outages(&changed), [first, second]);
    }

    #[test]
    fn the_number_of_recorded_outages_is_bounded() {
        let mut all = Outages::default();
        for at in 0..5_000 {
            all.on_event(3 * at, ConnectionEvent::Lost { since: 3 * at });
            all.on_event(3 * at + 1, ConnectionEvent::Back);
        }
        let all = all.changed().unwrap();
        assert_eq!(all.len(), OUTAGES_MAX);
        assert_eq!(all.iter().map(|outage| outage.failures).sum::<u64>(), 5_000);
    }

    const S: Nanos = 1_000_000_000;

    fn quiet(times: &[(Nanos, Option<Nanos>, Option<Nanos>)]) -> Quiet {
        let time = |(start, end, waits_since): &(Nanos, Option<Nanos>, Option<Nanos>)| {
            crate::quiet::QuietTime { start: *start, end: *end, waits_since: *waits_since }
        };
        Quiet(times.iter().map(time).collect())
    }

    #[test]
    fn a_stall_is_an_outage_whatever_became_of_connections() {
        let mut all = Outages::default();
        let times = quiet(&[
            (2 * S, Some(4 * S), Some(3 * S)),
            // Nobody waited for an answer.
            (5 * S, Some(7 * S), None),
            // Too short.
            (7 * S, Some(7 * S + S / 2), Some(7 * S)),
            (8 * S, None, Some(8 * S)),
        ]);
        assert_eq!(
            all.add_stalls(&times, &[], (3 * S + S / 2, 10 * S), 1_000),
            (2 * S + S / 2, Some(8 * S))
        );
        let stall = |start_ns, end_ns| Outage { start_ns, end_ns, failures: 0, reconnects: 0 };
        assert_eq!(all.changed().unwrap(), [stall(3 * S, Some(4 * S)), stall(8 * S, None)]);
    }

    #[test]
    fn rare_transactions_are_not_a_stall() {
        // One in 0.9 s on average: 3 s without one are nothing special.
        let mut all = Outages::default();
        let times = quiet(&[(2 * S, Some(5 * S), Some(2 * S))]);
        assert_eq!(all.add_stalls(&times, &[], (0, 30 * S), 30), (0, None));
        assert_eq!(all.changed(), None);
    }

    #[test]
    fn a_stop_of_the_load_generator_is_not_an_outage_of_the_system() {
        let own = |start_ns, end_ns| GeneratorStall { start_ns, end_ns };
        let mut all = Outages::default();
        // Stopped from 2 s to 4.5 s, and from 8 s on.
        let times = quiet(&[(2 * S, Some(5 * S), Some(2 * S)), (8 * S, None, Some(8 * S))]);
        let stops = [own(2 * S, 4 * S + S / 2), own(8 * S, 11 * S)];
        assert_eq!(all.add_stalls(&times, &stops, (0, 10 * S), 1_000), (0, None));
        assert_eq!(all.changed(), None);
        // Of 3 s without a success, 2 are not its own.
        let stops = [own(3 * S, 4 * S)];
        let times = quiet(&[(2 * S, Some(5 * S), Some(2 * S))]);
        assert_eq!(all.add_stalls(&times, &stops, (3 * S, 10 * S), 1_000), (S, None));
        let outage = Outage { start_ns: 2 * S, end_ns: Some(5 * S), failures: 0, reconnects: 0 };
        assert_eq!(all.changed().unwrap(), [outage]);
    }

    #[test]
    fn a_system_that_answers_others_is_not_away_until_the_client_is_back() {
        let outage = |start_ns, end_ns, failures| Outage {
            start_ns,
            end_ns,
            failures,
            reconnects: failures,
        };
        let bounded =
            |end_ns, times: &[_]| bounded_by(&outage(2 * S, end_ns, 1), &quiet(times), 12 * S);
        // Nothing but the client's own next turn was late, or no other request waited.
        assert_eq!(bounded(Some(11 * S), &[]), [outage(2 * S, Some(2 * S), 1)]);
        assert_eq!(bounded(None, &[]), [outage(2 * S, Some(2 * S), 1)]);
        let idle = (5 * S, Some(7 * S), None);
        assert_eq!(bounded(Some(11 * S), &[idle]), [outage(2 * S, Some(2 * S), 1)]);
        // The last answer before it came after its request was sent; then the system was away for three seconds.
        let away = (2 * S + 1, Some(5 * S), Some(2 * S));
        assert_eq!(bounded(Some(11 * S), &[away]), [outage(2 * S + 1, Some(5 * S), 1)]);
        let again = (9 * S, None, Some(9 * S));
        let twice = [outage(2 * S + 1, Some(5 * S), 1), outage(9 * S, None, 0)];
        assert_eq!(bounded(None, &[away, again]), twice);
        // Too short to know whether others were answered.
        let short = Some(2 * S + S / 10);
        assert_eq!(bounded(short, &[]), [outage(2 * S, short, 1)]);
    }

    #[test]
    fn a_stall_and_the_broken_connections_in_it_are_one_outage() {
        let mut all = Outages::default();
        all.on_event(3 * S, ConnectionEvent::Lost { since: 2 * S });
        all.on_event(4 * S, ConnectionEvent::Reconnected);
        all.on_event(5 * S, ConnectionEvent::Back);
        let times = quiet(&[(S, Some(4 * S), Some(S))]);
        all.add_stalls(&times, &[], (0, 10 * S), 1_000);
        let one = Outage { start_ns: S, end_ns: Some(5 * S), failures: 1, reconnects: 1 };
        assert_eq!(all.changed().unwrap(), [one]);
    }
}
