//! Rates of dyno's TCP connections to the system over time, from the kernel's counters.

use measure::{Connections, ConnectionsReading, TcpCounters};

use crate::SampleWindow;
use crate::figure::{Between, OverTime, metrics, over_time};

metrics! {
    ConnectionFigure: OverTime<ConnectionsReading>;

    SegmentsSent = "segments_sent_per_s", "segments sent", PerSecond,
        |it| it.counted(|tcp| tcp.segments_sent);
    DataSegmentsSent = "data_segments_sent_per_s", "segments with data sent", PerSecond,
        |it| it.counted(|tcp| tcp.data_segments_sent);
    /// Acknowledgements, and segments that open and close connections.
    EmptySegmentsSent = "empty_segments_sent_per_s", "segments without data sent", PerSecond,
        |it| it.counted(|tcp| tcp.segments_sent.saturating_sub(tcp.data_segments_sent));
    SegmentsReceived = "segments_received_per_s", "segments received", PerSecond,
        |it| it.counted(|tcp| tcp.segments_received);
    DataSegmentsReceived = "data_segments_received_per_s", "segments with data received", PerSecond,
        |it| it.counted(|tcp| tcp.data_segments_received);
    EmptySegmentsReceived = "empty_segments_received_per_s", "segments without data received", PerSecond,
        |it| it.counted(|tcp| tcp.segments_received.saturating_sub(tcp.data_segments_received));
    SegmentsRetransmitted = "segments_retransmitted_per_s", "segments sent again", PerSecond,
        |it| it.counted(|tcp| tcp.segments_retransmitted);
    BytesSent = "sent_bytes_per_s", "sent and acknowledged", BytesPerSecond,
        |it| it.counted(|tcp| tcp.bytes_acknowledged);
    BytesReceived = "received_bytes_per_s", "received", BytesPerSecond,
        |it| it.counted(|tcp| tcp.bytes_received);
    RoundTrip = "round_trip_s", "round trip, by TCP's estimate", Seconds,
        |it| it.to.round_trip_ns.map(|ns| ns as f64 / 1e9);
    Open = "connections", "connections", Count, |it| Some(it.to.open as f64);
}

impl Between<'_, ConnectionsReading> {
    /// The growth of counters in a second; a counter that decreased counts as unchanged.
    fn counted(&self, of: fn(&TcpCounters) -> u64) -> Option<f64> {
        Some(of(&self.to.counters.since(&self.from.counters)) as f64 / self.seconds)
    }
}

impl ConnectionFigure {
    /// This figure over time; empty where the kernel does not report it.
    pub fn of(self, connections: &Connections) -> Vec<SampleWindow> {
        let get = self.metric().get;
        over_time(
            (&connections.readings, &connections.joints_ns),
            |reading| reading.at_ns,
            |from, to, seconds| get(&Between { from, to, seconds, memory_bytes: None }),
        )
    }
}

#[cfg(test)]
mod tests {
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
        let connections = Connections { readings, ..Connections::default() };
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

    #[test]
    fn nothing_is_said_of_the_time_before_a_reading_that_begins_anew() {
        let reading = |at_s: u64, segments_sent: u64| ConnectionsReading {
            at_ns: at_s * 1_000_000_000,
            counters: TcpCounters { segments_sent, ..TcpCounters::default() },
            ..ConnectionsReading::default()
        };
        // The second window begins just after the first has ended.
        let readings = vec![reading(0, 0), reading(1, 100), reading(2, 9_000), reading(3, 9_100)];
        let joints_ns = vec![2_000_000_000];
        let connections = Connections { readings, joints_ns, absent: None };
        let windows = ConnectionFigure::SegmentsSent.of(&connections);
        let told: Vec<(u64, f64)> = windows.iter().map(|it| (it.to_ns, it.mean)).collect();
        assert_eq!(told, [(1_000_000_000, 100.0), (3_000_000_000, 100.0)]);
    }
}
