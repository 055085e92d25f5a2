//! What dyno's TCP connections to the system did over time: from what the kernel counted to rates.

use measure::{Connections, ConnectionsReading};

use crate::Spell;
use crate::host::spells;

/// What is known of connections over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConnectionFigure {
    /// Segments sent, 1/s.
    SegmentsSent,
    /// Segments sent that carried data, 1/s.
    DataSegmentsSent,
    /// Segments sent that carried nothing: acknowledgements, beginnings and ends, 1/s.
    EmptySegmentsSent,
    /// Segments received, 1/s.
    SegmentsReceived,
    /// Segments received that carried data, 1/s.
    DataSegmentsReceived,
    /// Segments received that carried nothing, 1/s.
    EmptySegmentsReceived,
    /// Segments sent again, 1/s.
    SegmentsRetransmitted,
    /// Bytes sent and acknowledged, 1/s.
    BytesSent,
    /// Bytes received, 1/s.
    BytesReceived,
    /// The mean of the smoothed round-trip times, s.
    RoundTrip,
    /// Connections that were open.
    Open,
}

impl ConnectionFigure {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 11] = [
        Self::SegmentsSent,
        Self::DataSegmentsSent,
        Self::EmptySegmentsSent,
        Self::SegmentsReceived,
        Self::DataSegmentsReceived,
        Self::EmptySegmentsReceived,
        Self::SegmentsRetransmitted,
        Self::BytesSent,
        Self::BytesReceived,
        Self::RoundTrip,
        Self::Open,
    ];

    /// This figure over time; empty where the kernel does not tell it.
    pub fn of(self, connections: &Connections) -> Vec<Spell> {
        let value = |from: &ConnectionsReading, to: &ConnectionsReading, seconds: f64| {
            self.between(from, to, seconds)
        };
        spells(&connections.readings, |reading| reading.at_ns, value)
    }

    fn between(
        self,
        from: &ConnectionsReading,
        to: &ConnectionsReading,
        seconds: f64,
    ) -> Option<f64> {
        let counted = to.counters.since(&from.counters);
        let count = match self {
            Self::SegmentsSent => counted.segments_sent,
            Self::DataSegmentsSent => counted.data_segments_sent,
            Self::EmptySegmentsSent => {
                counted.segments_sent.saturating_sub(counted.data_segments_sent)
            }
            Self::SegmentsReceived => counted.segments_received,
            Self::DataSegmentsReceived => counted.data_segments_received,
            Self::EmptySegmentsReceived => {
                counted.segments_received.saturating_sub(counted.data_segments_received)
            }
            Self::SegmentsRetransmitted => counted.segments_retransmitted,
            Self::BytesSent => counted.bytes_acknowledged,
            Self::BytesReceived => counted.bytes_received,
            Self::RoundTrip => return to.round_trip_ns.map(|ns| ns as f64 / 1e9),
            Self::Open => return Some(to.open as f64),
        };
        Some(count as f64 / seconds)
    }
}

#[cfg(test)]
mod tests {
    use measure::TcpCounters;

    use super::*;
    use crate::mean_peak;

    #[test]
    fn counters_become_rates_and_levels_stay_levels() {
        let reading = |at_s: u64, segments: u64, round_trip_ns| ConnectionsReading {
            at_ns: at_s * 1_000_000_000,
            open: 16,
            counters: TcpCounters {
                segments_sent: segments,
                data_segments_sent: segments / 2,
                ..TcpCounters::default()
            },
            round_trip_ns,
            ..ConnectionsReading::default()
        };
        let readings =
            vec![reading(0, 100, None), reading(2, 300, Some(40_000)), reading(3, 700, None)];
        let connections = Connections { absent: None, readings };
        let whole = |figure: ConnectionFigure| {
            mean_peak(&figure.of(&connections), (0, 3_000_000_000)).map(|it| (it.mean, it.peak))
        };
        assert_eq!(whole(ConnectionFigure::SegmentsSent), Some((200.0, 400.0)));
        assert_eq!(whole(ConnectionFigure::DataSegmentsSent), Some((100.0, 200.0)));
        assert_eq!(whole(ConnectionFigure::EmptySegmentsSent), Some((100.0, 200.0)));
        assert_eq!(whole(ConnectionFigure::SegmentsRetransmitted), Some((0.0, 0.0)));
        assert_eq!(whole(ConnectionFigure::RoundTrip), Some((0.00004, 0.00004)));
        assert_eq!(whole(ConnectionFigure::Open), Some((16.0, 16.0)));
        assert_eq!(ConnectionFigure::Open.of(&Connections::default()), []);
    }
}
