//! Adds up the counters of single connections, open and closed.

use std::collections::{HashMap, HashSet};

use measure::{ConnectionsReading, Nanos, TcpCounters};
use net::{TcpConnection, TcpInfo};

/// Totals over dyno's connections, which are identified by the kernel's cookies.
#[derive(Debug, Default)]
pub(super) struct ConnectionTotals {
    open: HashMap<u64, TcpInfo>,
    /// Closed by dyno, but not yet by the server: the kernel still counts.
    closing: HashMap<u64, TcpInfo>,
    /// Connections of other processes to the same servers.
    foreign: HashSet<u64>,
    /// Connections that were open and have disappeared; their close notices have not arrived yet.
    gone: HashMap<u64, TcpInfo>,
    counters: TcpCounters,
    ended: u64,
    ended_unreported: u64,
}

impl ConnectionTotals {
    /// Adds a reading of all connections. `own` returns the sockets of this process; it is called only when there is
    /// a new connection.
    pub(super) fn take_in(&mut self, found: &[TcpConnection], own: impl FnOnce() -> HashSet<u32>) {
        let is_known = |it: &TcpConnection| {
            self.open.contains_key(&it.cookie)
                || self.closing.contains_key(&it.cookie)
                || self.foreign.contains(&it.cookie)
        };
        let own = if found.iter().all(is_known) { HashSet::new() } else { own() };
        let mut before = std::mem::take(&mut self.open);
        before.extend(self.closing.drain());
        let mut foreign = HashSet::new();
        for connection in found {
            let last = before.remove(&connection.cookie);
            if last.is_none() && !own.contains(&connection.inode) {
                foreign.insert(connection.cookie);
                continue;
            }
            add(&mut self.counters, &connection.info, &last.unwrap_or_default());
            let kept = if connection.inode == 0 { &mut self.closing } else { &mut self.open };
            kept.insert(connection.cookie, connection.info);
        }
        self.foreign = foreign;
        self.gone.extend(before);
    }

    /// Adds the close notice of a connection, of any process.
    pub(super) fn ended(&mut self, connection: &TcpConnection) {
        let cookie = &connection.cookie;
        let kept = [&mut self.open, &mut self.closing, &mut self.gone];
        if let Some(last) = kept.into_iter().find_map(|it| it.remove(cookie)) {
            add(&mut self.counters, &connection.info, &last);
            self.ended += 1;
        }
    }

    /// Whether close notices are still missing.
    pub(super) fn has_gone(&self) -> bool {
        !self.gone.is_empty()
    }

    /// The sum of everything by now. Missing close notices are not waited for any more.
    pub(super) fn close(&mut self, at_ns: Nanos) -> ConnectionsReading {
        let unreported = self.gone.drain().count() as u64;
        self.ended += unreported;
        self.ended_unreported += unreported;
        let open = self.open.len() as u64;
        let round_trips: u64 = self.open.values().map(|it| u64::from(it.round_trip_us)).sum();
        ConnectionsReading {
            at_ns,
            open,
            ended: self.ended + self.closing.len() as u64,
            ended_unreported: self.ended_unreported,
            counters: self.counters,
            round_trip_ns: (round_trips * 1_000).checked_div(open),
        }
    }
}

/// Adds a connection's counts since `before`. Counters of segments wrap at 2^32.
fn add(sum: &mut TcpCounters, now: &TcpInfo, before: &TcpInfo) {
    let since = |of: fn(&TcpInfo) -> u32| u64::from(of(now).wrapping_sub(of(before)));
    sum.segments_sent += since(|it| it.segments_sent);
    sum.segments_received += since(|it| it.segments_received);
    sum.data_segments_sent += since(|it| it.data_segments_sent);
    sum.data_segments_received += since(|it| it.data_segments_received);
    sum.segments_retransmitted += since(|it| it.segments_retransmitted);
    sum.bytes_acknowledged += now.bytes_acknowledged.saturating_sub(before.bytes_acknowledged);
    sum.bytes_received += now.bytes_received.saturating_sub(before.bytes_received);
    let ns = |of: fn(&TcpInfo) -> u64| of(now).saturating_sub(of(before)).saturating_mul(1_000);
    sum.window_full_ns += ns(|it| it.window_full_us);
    sum.buffer_full_ns += ns(|it| it.buffer_full_us);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A connection that has sent this many segments, each with a byte.
    fn connection(cookie: u64, inode: u32, segments: u32) -> TcpConnection {
        let remote = "127.0.0.1:3306".parse().unwrap();
        let info = TcpInfo {
            segments_sent: segments,
            data_segments_sent: segments,
            bytes_acknowledged: u64::from(segments),
            round_trip_us: 30,
            window_full_us: u64::from(segments) * 2,
            ..TcpInfo::default()
        };
        TcpConnection { cookie, inode, remote, info }
    }

    fn own() -> HashSet<u32> {
        HashSet::from([1, 2])
    }

    #[test]
    fn connections_of_other_processes_are_not_counted() {
        let mut totals = ConnectionTotals::default();
        totals.take_in(&[connection(11, 1, 10), connection(99, 9, 1_000)], own);
        let never = || panic!("both are known");
        totals.take_in(&[connection(11, 1, 15), connection(99, 9, 2_000)], never);
        totals.ended(&connection(99, 0, 2_001));
        let reading = totals.close(7);
        assert_eq!((reading.at_ns, reading.open, reading.ended), (7, 1, 0));
        assert_eq!(reading.counters.segments_sent, 15);
        assert_eq!((reading.counters.window_full_ns, reading.counters.buffer_full_ns), (30_000, 0));
        assert_eq!(reading.round_trip_ns, Some(30_000));
    }

    #[test]
    fn counters_of_a_closed_connection_are_kept_whenever_its_end_arrives() {
        let mut totals = ConnectionTotals::default();
        totals.take_in(&[connection(11, 1, 10), connection(12, 2, 10)], own);
        // The notice arrives before the connection is missed, and after.
        totals.ended(&connection(11, 0, 13));
        totals.take_in(&[], own);
        assert!(totals.has_gone());
        totals.ended(&connection(12, 0, 14));
        assert!(!totals.has_gone());
        let reading = totals.close(0);
        assert_eq!(reading.counters.data_segments_sent, 27);
        assert_eq!((reading.open, reading.ended, reading.ended_unreported), (0, 2, 0));
        assert_eq!(reading.round_trip_ns, None);
    }

    #[test]
    fn a_half_closed_connection_counts_until_the_server_closes() {
        let mut totals = ConnectionTotals::default();
        totals.take_in(&[connection(11, 1, 10), connection(12, 2, 10)], own);
        let never = || panic!("both are known");
        let mut open_and_ended = |found: &[TcpConnection]| {
            totals.take_in(found, never);
            let reading = totals.close(0);
            (reading.open, reading.ended, reading.ended_unreported, reading.counters.segments_sent)
        };
        assert_eq!(open_and_ended(&[connection(11, 0, 11), connection(12, 2, 10)]), (1, 1, 0, 21));
        assert_eq!(open_and_ended(&[connection(11, 0, 12), connection(12, 0, 10)]), (0, 2, 0, 22));
        totals.ended(&connection(11, 0, 13));
        totals.take_in(&[], never);
        assert!(totals.has_gone());
        totals.ended(&connection(12, 0, 11));
        let reading = totals.close(0);
        assert_eq!((reading.open, reading.ended, reading.ended_unreported), (0, 2, 0));
        assert_eq!(reading.counters.segments_sent, 24);
    }

    #[test]
    fn a_missed_close_notice_is_reported() {
        let mut totals = ConnectionTotals::default();
        totals.take_in(&[connection(11, 1, 10)], own);
        totals.take_in(&[], own);
        let reading = totals.close(0);
        assert_eq!((reading.ended, reading.ended_unreported), (1, 1));
        assert_eq!(reading.counters.segments_sent, 10);
        assert!(!totals.has_gone());
    }

    #[test]
    fn wrapped_counters_continue() {
        let mut totals = ConnectionTotals::default();
        totals.take_in(&[connection(11, 1, u32::MAX)], own);
        totals.take_in(&[connection(11, 1, 4)], own);
        assert_eq!(totals.close(0).counters.segments_sent, u64::from(u32::MAX) + 5);
    }
}
