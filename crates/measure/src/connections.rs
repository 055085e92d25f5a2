//! What the kernel counted of dyno's TCP connections to the system under test (TCP_INFO), over time.

use serde::{Deserialize, Serialize};

use crate::{Nanos, sum};

/// Segments and bytes of several TCP connections together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpCounters {
    /// Segments sent: data, pure acknowledgements and retransmissions.
    pub segments_sent: u64,
    pub segments_received: u64,
    pub data_segments_sent: u64,
    pub data_segments_received: u64,
    pub segments_retransmitted: u64,
    /// Bytes sent that were acknowledged. The beginning and the end of a connection count as one each.
    pub bytes_acknowledged: u64,
    /// Bytes received. The end of a connection counts as one.
    pub bytes_received: u64,
    /// How long connections could not send because the other side's receive window was full, ns, summed.
    #[serde(default)]
    pub window_full_ns: Nanos,
    /// The same because the send buffer was too small.
    #[serde(default)]
    pub buffer_full_ns: Nanos,
}

impl TcpCounters {
    /// The difference of each counter between `earlier` and this reading.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let since = |of: fn(&Self) -> u64| of(self).saturating_sub(of(earlier));
        Self {
            segments_sent: since(|it| it.segments_sent),
            segments_received: since(|it| it.segments_received),
            data_segments_sent: since(|it| it.data_segments_sent),
            data_segments_received: since(|it| it.data_segments_received),
            segments_retransmitted: since(|it| it.segments_retransmitted),
            bytes_acknowledged: since(|it| it.bytes_acknowledged),
            bytes_received: since(|it| it.bytes_received),
            window_full_ns: since(|it| it.window_full_ns),
            buffer_full_ns: since(|it| it.buffer_full_ns),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionsReading {
    /// When it was taken, on the trial's clock.
    pub at_ns: Nanos,
    pub open: u64,
    /// Connections that were open at an earlier reading and have been closed since.
    pub ended: u64,
    /// Closed connections whose final counters the kernel did not report: their traffic after the last
    /// reading at which they were open is not counted.
    #[serde(rename = "ended_unheard", default, skip_serializing_if = "is_zero")]
    pub ended_unreported: u64,
    /// Sums over all connections, closed ones included, each counted from its start.
    #[serde(flatten)]
    pub counters: TcpCounters,
    /// The mean of TCP's smoothed round-trip times over the open connections; `None` when none was open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip_ns: Option<Nanos>,
}

impl ConnectionsReading {
    /// Readings of different connections at about the same time, together; `None` without any. The time is their
    /// mean.
    pub fn sum(readings: &[Self]) -> Option<Self> {
        let total = |of: fn(&Self) -> u64| sum(readings.iter().map(of));
        let open = total(|it| it.open);
        let round_trips = total(|it| it.round_trip_ns.unwrap_or(0).saturating_mul(it.open));
        Some(Self {
            at_ns: total(|it| it.at_ns).checked_div(readings.len() as u64)?,
            open,
            ended: total(|it| it.ended),
            ended_unreported: total(|it| it.ended_unreported),
            counters: TcpCounters {
                segments_sent: total(|it| it.counters.segments_sent),
                segments_received: total(|it| it.counters.segments_received),
                data_segments_sent: total(|it| it.counters.data_segments_sent),
                data_segments_received: total(|it| it.counters.data_segments_received),
                segments_retransmitted: total(|it| it.counters.segments_retransmitted),
                bytes_acknowledged: total(|it| it.counters.bytes_acknowledged),
                bytes_received: total(|it| it.counters.bytes_received),
                window_full_ns: total(|it| it.counters.window_full_ns),
                buffer_full_ns: total(|it| it.counters.buffer_full_ns),
            },
            round_trip_ns: round_trips.checked_div(open),
        })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// dyno's TCP connections to the system over the time of a trial.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Connections {
    /// Why the counters are missing, in words.
    pub absent: Option<String>,
    /// The readings in the order of time.
    pub readings: Vec<ConnectionsReading>,
    /// As [`crate::Host::joints_ns`].
    pub joints_ns: Vec<Nanos>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_of_different_connections_add_up_and_round_trips_are_weighed() {
        let reading = |at_ns, open, segments_sent, round_trip_ns| ConnectionsReading {
            at_ns,
            open,
            ended: 2,
            counters: TcpCounters { segments_sent, ..TcpCounters::default() },
            round_trip_ns,
            ..ConnectionsReading::default()
        };
        let [one, other] = [reading(10, 3, 100, Some(40)), reading(20, 1, 11, Some(80))];
        let both = ConnectionsReading { ended: 4, ..reading(15, 4, 111, Some(50)) };
        assert_eq!(ConnectionsReading::sum(&[one, other]), Some(both));
        assert_eq!(
            ConnectionsReading::sum(&[reading(7, 0, 5, None)]),
            Some(reading(7, 0, 5, None))
        );
        assert_eq!(ConnectionsReading::sum(&[]), None);
    }

    #[test]
    fn each_counter_is_differenced_separately() {
        let of = |by: u64| TcpCounters {
            segments_sent: by,
            segments_received: 2 * by,
            data_segments_sent: 3 * by,
            data_segments_received: 4 * by,
            segments_retransmitted: 5 * by,
            bytes_acknowledged: 6 * by,
            bytes_received: 7 * by,
            window_full_ns: 8 * by,
            buffer_full_ns: 9 * by,
        };
        assert_eq!(of(10).since(&of(3)), of(7));
        assert_eq!(of(3).since(&of(10)), TcpCounters::default());
    }
}
