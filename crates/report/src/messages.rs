//! What went between dyno and the system: requests and responses in bytes, and the segments in which TCP
//! carried them, those that only acknowledge told apart.

use analysis::{ConnectionFigure, mean_peak};
use serde_json::{Value, json};

use crate::digest::{Digest, Point, Trial, load_text};
use crate::number::{count, latency, number, percent};
use crate::table::Table;
use crate::tables::middle_trial;
use crate::watch::figure::whole;
use crate::watch::window;

/// Both ways, over the measured time of a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Messages {
    pub(crate) sent: Direction,
    pub(crate) received: Direction,
    pub(crate) tcp: Option<Tcp>,
    queries_per_s: f64,
}

/// One way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Direction {
    /// Of a request or a response, as dyno hands them on and takes them: before encryption, without
    /// headers.
    pub(crate) bytes_per_query: f64,
    pub(crate) bytes_per_s: f64,
    pub(crate) segments: Option<Segments>,
}

/// The segments of one way, as TCP_INFO reports them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Segments {
    pub(crate) per_s: f64,
    pub(crate) with_data_per_s: f64,
    /// What those with data carried, encrypted where it is.
    pub(crate) bytes_per_s: f64,
}

/// What TCP_INFO reports the connections beside their segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tcp {
    pub(crate) retransmitted_per_s: f64,
    /// s; `None` when no connection was open at a reading.
    pub(crate) round_trip_s: Option<f64>,
    pub(crate) open: f64,
    pub(crate) ended: u64,
    pub(crate) ended_unheard: u64,
}

impl Segments {
    /// The part that carried nothing.
    fn empty_part(&self) -> f64 {
        1.0 - ratio(self.with_data_per_s, self.per_s)
    }

    /// What a segment with data carried, bytes.
    fn data_bytes(&self) -> f64 {
        ratio(self.bytes_per_s, self.with_data_per_s)
    }
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

impl Messages {
    /// Of a trial; `None` where nothing went over a wire.
    pub(crate) fn of(trial: &Trial<'_>) -> Option<Self> {
        let (summary, window) = (&trial.summary, window(trial.record));
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
            ended_unheard: last.map_or(0, |reading| reading.ended_unheard),
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

/// Both ways beside each other; empty where nothing went over a wire.
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

/// What TCP reports the connections of a trial, or why it tells nothing.
pub(crate) fn note(trial: &Trial<'_>) -> Option<String> {
    if let Some(reason) = &trial.record.watched.connections.absent {
        return Some(format!("There are no figures of TCP segments: {reason}."));
    }
    let tcp = Messages::of(trial)?.tcp?;
    let mut said = vec![format!("TCP connections: {}", whole(tcp.open))];
    if let Some(seconds) = tcp.round_trip_s {
        said.push(format!("round trip by TCP's own estimate: {}", latency(seconds * 1e9)));
    }
    said.push(match tcp.retransmitted_per_s {
        0.0 => "no segment was sent again".to_owned(),
        per_s => format!("segments sent again: {} a second", number(per_s)),
    });
    if tcp.ended > 0 {
        said.push(format!("ended during the load or with it: {}", count(tcp.ended)));
    }
    if tcp.ended_unheard > 0 {
        let unheard = count(tcp.ended_unheard);
        said.push(format!("of these, {unheard} are not counted to their end"));
    }
    Some(format!("{}.", said.join("; ")))
}

/// A row for each point whose system is reached over a wire, from the repetition in the middle.
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
        .numbers("TCP round trip");
    for point in &digest.points {
        let of_trial = middle_trial(digest, point).and_then(Messages::of);
        if let Some(messages) = of_trial {
            table.row(point_row(point, &messages));
        }
    }
    table.without_columns(|_, cells| cells.iter().all(|cell| *cell == "-"))
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

/// Why systems have no figures of TCP, a sentence for each reason.
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

/// For programs.
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
            "connections_ended_unheard": tcp.ended_unheard,
        })),
        "tcp_absent": trial.record.watched.connections.absent,
    })
}

#[cfg(test)]
mod tests;
