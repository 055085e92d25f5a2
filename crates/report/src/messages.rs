//! Traffic between dyno and the system: bytes of requests and responses, and their TCP segments, with segments
//! that only acknowledge counted separately.

use analysis::{ConnectionFigure, mean_peak};
use serde_json::{Value, json};

use crate::digest::{Digest, Point, Trial, load_text};
use crate::number::{count, latency, number, percent};
use crate::table::Table;
use crate::watch::figure::whole;

pub(crate) const NOTE: &str = "Requests and responses in bytes as dyno hands them on and takes them. Segments are those of \
                               TCP on dyno's own connections; what is not with data acknowledges, and carries \
                               nothing. The round trip is TCP's own estimate, and contains part of the server's time.";

/// Both directions, over the measured time of a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Messages {
    pub(crate) sent: Direction,
    pub(crate) received: Direction,
    pub(crate) tcp: Option<Tcp>,
    queries_per_s: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Direction {
    /// Bytes of requests or responses for each query, before encryption and without headers.
    pub(crate) bytes_per_query: f64,
    pub(crate) bytes_per_s: f64,
    pub(crate) segments: Option<Segments>,
}

/// The segments of one direction, as TCP_INFO reports them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Segments {
    pub(crate) per_s: f64,
    pub(crate) with_data_per_s: f64,
    /// Payload of the segments with data, after encryption if the connection is encrypted.
    pub(crate) bytes_per_s: f64,
}

/// Other figures that TCP_INFO reports about the connections.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tcp {
    pub(crate) retransmitted_per_s: f64,
    /// In seconds; `None` when no connection was open at a reading.
    pub(crate) round_trip_s: Option<f64>,
    pub(crate) open: f64,
    pub(crate) ended: u64,
    pub(crate) ended_unreported: u64,
}

impl Segments {
    /// The part of the segments without data.
    fn empty_part(&self) -> f64 {
        1.0 - ratio(self.with_data_per_s, self.per_s)
    }

    /// Mean payload of a segment with data, bytes.
    fn data_bytes(&self) -> f64 {
        ratio(self.bytes_per_s, self.with_data_per_s)
    }
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

impl Messages {
    /// The traffic of a trial; `None` when the system has no network connection.
    pub(crate) fn of(trial: &Trial<'_>) -> Option<Self> {
        let (summary, window) = (&trial.summary, trial.window());
        let connections = &trial.record.watched.connections;
        let mean = |figure: ConnectionFigure| {
            mean_peak(&figure.of(connections), window).map(|figures| figures.mean)
        };
        let segments = |per_s, with_data, bytes| {
            Some(Segments {
                per_s: mean(per_s)?,
                with_data_per_s: mean(with_data)?,
                bytes_per_s: mean(bytes)?,
            })
        };
        let way = |bytes: u64, segments| Direction {
            bytes_per_query: ratio(bytes as f64, summary.queries.total() as f64),
            bytes_per_s: ratio(bytes as f64, summary.seconds),
            segments,
        };
        use ConnectionFigure as Of;
        let sent = segments(Of::SegmentsSent, Of::DataSegmentsSent, Of::BytesSent);
        let received = segments(Of::SegmentsReceived, Of::DataSegmentsReceived, Of::BytesReceived);
        let last = connections.readings.last();
        let tcp = mean(Of::SegmentsRetransmitted).map(|retransmitted_per_s| Tcp {
            retransmitted_per_s,
            round_trip_s: mean(Of::RoundTrip),
            open: mean(Of::Open).unwrap_or_default(),
            ended: last.map_or(0, |reading| reading.ended),
            ended_unreported: last.map_or(0, |reading| reading.ended_unreported),
        });
        let traffic = summary.traffic;
        (traffic.sent_bytes + traffic.received_bytes > 0).then(|| Self {
            sent: way(traffic.sent_bytes, sent),
            received: way(traffic.received_bytes, received),
            tcp,
            queries_per_s: summary.queries_per_s,
        })
    }
}

/// Both directions side by side; empty when the system has no network connection.
pub(crate) fn of_trial(trial: &Trial<'_>) -> Table {
    let mut table =
        Table::new().words("between dyno and the system").numbers("sent").numbers("received");
    let Some(messages) = Messages::of(trial) else { return table };
    let ways = [messages.sent, messages.received];
    let mut row = |name: &str, cells: [Option<String>; 2]| {
        if cells.iter().any(Option::is_some) {
            let [sent, received] = cells.map(Option::unwrap_or_default);
            table.row(vec![name.to_owned(), sent, received]);
        }
    };
    row("bytes of a query", ways.map(|way| Some(number(way.bytes_per_query))));
    row("MB in a second", ways.map(|way| Some(number(way.bytes_per_s / 1e6))));
    let mut segments = |name: &str, of: &dyn Fn(&Segments) -> String| {
        row(name, ways.map(|way| way.segments.as_ref().map(of)));
    };
    segments("TCP segments in a second", &|it| number(it.per_s));
    segments("of these with data", &|it| number(it.with_data_per_s));
    segments("acknowledgements alone", &|it| percent(it.empty_part()));
    segments("bytes in a segment with data", &|it| number(it.data_bytes()));
    segments("TCP segments for a query", &|it| number(ratio(it.per_s, messages.queries_per_s)));
    table
}

/// TCP statistics of a trial's connections, or why they are missing.
pub(crate) fn note(trial: &Trial<'_>) -> Option<String> {
    if let Some(reason) = &trial.record.watched.connections.absent {
        return Some(format!("There are no figures of TCP segments: {reason}."));
    }
    let tcp = Messages::of(trial)?.tcp?;
    let mut said = vec![format!("TCP connections: {}", whole(tcp.open))];
    if let Some(seconds) = tcp.round_trip_s {
        let round_trip = latency(seconds * 1e9);
        said.push(format!(
            "round trip by TCP's own estimate, with part of the server's time: {round_trip}"
        ));
    }
    said.push(match tcp.retransmitted_per_s {
        0.0 => "no segment was sent again".to_owned(),
        per_s => format!("segments sent again: {} a second", number(per_s)),
    });
    if tcp.ended > 0 {
        said.push(format!("ended during the load or with it: {}", count(tcp.ended)));
    }
    if tcp.ended_unreported > 0 {
        let unreported = count(tcp.ended_unreported);
        said.push(format!("of these, {unreported} are not counted to their end"));
    }
    Some(format!("{}.", said.join("; ")))
}

/// A row for each point whose system is reached over the network, from the repetition in the middle.
pub(crate) fn by_point(digest: &Digest<'_>) -> Table {
    let mut table = Table::new()
        .words("system")
        .words("workload")
        .words("load")
        .numbers("request B")
        .numbers("response B")
        .numbers("sent MB/s")
        .numbers("received MB/s")
        .numbers("segments sent per s")
        .numbers("with data")
        .numbers("segments received per s")
        .numbers("with data")
        .numbers("sent again per s")
        .numbers("TCP round trip")
        .remarks();
    for point in &digest.points {
        let Some(trial) = digest.middle_trial(point) else { continue };
        if let Some(messages) = Messages::of(trial) {
            let mut row = point_row(point, &messages);
            row.push(trial.remark().to_owned());
            table.row(row);
        }
    }
    table.without_empty_remarks().without_columns(|_, cells| cells.iter().all(|cell| *cell == "-"))
}

fn point_row(point: &Point<'_>, messages: &Messages) -> Vec<String> {
    let dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let Messages { sent, received, tcp, .. } = messages;
    let segments = |way: &Direction| {
        let part = |it: Segments| percent(1.0 - it.empty_part());
        [dash(way.segments.map(|it| number(it.per_s))), dash(way.segments.map(part))]
    };
    let mut row = vec![
        point.system.to_owned(),
        point.workload.to_owned(),
        load_text(point.clients, point.rate),
        number(sent.bytes_per_query),
        number(received.bytes_per_query),
        number(sent.bytes_per_s / 1e6),
        number(received.bytes_per_s / 1e6),
    ];
    row.extend(segments(sent));
    row.extend(segments(received));
    row.push(dash(tcp.map(|it| number(it.retransmitted_per_s))));
    row.push(dash(tcp.and_then(|it| it.round_trip_s).map(|it| latency(it * 1e9))));
    row
}

/// Why systems have no TCP statistics, a sentence for each reason.
pub(crate) fn absences(digest: &Digest<'_>) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for trial in &digest.trials {
        if let Some(reason) = &trial.record.watched.connections.absent {
            let system = &trial.record.header.system;
            let sentence = format!("{system} has no figures of TCP segments: {reason}.");
            if !said.contains(&sentence) {
                said.push(sentence);
            }
        }
    }
    said
}

pub(crate) fn json(trial: &Trial<'_>) -> Value {
    let way = |way: &Direction| {
        json!({
            "bytes_per_query": way.bytes_per_query,
            "bytes_per_s": way.bytes_per_s,
            "segments_per_s": way.segments.map(|it| it.per_s),
            "data_segments_per_s": way.segments.map(|it| it.with_data_per_s),
            "data_segment_bytes": way.segments.map(|it| it.data_bytes()),
        })
    };
    let messages = Messages::of(trial);
    let tcp = messages.and_then(|it| it.tcp);
    json!({
        "sent": messages.as_ref().map(|it| way(&it.sent)),
        "received": messages.as_ref().map(|it| way(&it.received)),
        "tcp": tcp.map(|tcp| json!({
            "segments_retransmitted_per_s": tcp.retransmitted_per_s,
            "round_trip_s": tcp.round_trip_s,
            "connections": tcp.open,
            "connections_ended": tcp.ended,
            "connections_ended_unheard": tcp.ended_unreported,
        })),
        "tcp_absent": trial.record.watched.connections.absent,
    })
}

#[cfg(test)]
mod tests;
