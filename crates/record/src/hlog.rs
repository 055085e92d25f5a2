//! Latency histograms as an HdrHistogram interval log, which tools such as HistogramLogAnalyzer and the Java
//! HistogramLogProcessor can open.
//!
//! The log has one line for each histogram of an interval that has values. The tag of an operation's successes
//! is its name; the other tags are `name/timed-out`, `name/failed` and `name/service`. Tags of the warm-up begin
//! with `warm-up/`, so that a tool that reads one tag reads measured values only. Values are nanoseconds, times
//! are seconds since the trial's first load, and the histogram is V2, deflated, base64. Source: HdrHistogram,
//! HistogramLogWriter (log format 1.3).

mod decoder;

use std::fmt::Write as _;
use std::io::BufRead;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use jiff::Timestamp;
use measure::{Interval, LatencyHistogram, Operation, OperationTally, Phase};

use crate::RecordError;
use crate::input::Lines;
use decoder::Decoder;
#[cfg(test)]
pub(crate) use decoder::{COMPRESSED, PLAIN};

/// The column `Interval_Max` is in milliseconds, as in the logs of other tools.
const NS_PER_MS: f64 = 1e6;

/// Precedes the tags of intervals that do not count.
const WARM_UP: &str = "warm-up/";

/// The first lines of every log; `started` is when the trial's first load began.
pub(crate) fn head(started: Timestamp) -> String {
    let seconds = started.as_millisecond() as f64 / 1e3;
    format!(
        "#[Histogram log format version 1.3]\n\
         #[StartTime: {seconds:.3} (seconds since epoch), {started:.3}]\n\
         #[Values are nanoseconds; Interval_Max is milliseconds; tags of the warm-up begin with {WARM_UP}]\n\
         \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n"
    )
}

pub(crate) fn lines(operations: &[Operation], interval: &Interval) -> Result<String, String> {
    let mut serializer = V2DeflateSerializer::new();
    let mut bytes = Vec::new();
    let mut text = String::new();
    let start_s = interval.start_ns as f64 / 1e9;
    let length_s = interval.seconds();
    let mark = mark(interval.phase);
    for (tag, histogram) in tagged(operations, interval) {
        bytes.clear();
        serializer.serialize(&histogram.as_hdr(), &mut bytes).map_err(|error| error.to_string())?;
        let max_ms = histogram.max_ns() as f64 / NS_PER_MS;
        let _ = write!(text, "Tag={mark}{tag},{start_s:.3},{length_s:.3},{max_ms:.3},");
        STANDARD.encode_string(&bytes, &mut text);
        text.push('\n');
    }
    Ok(text)
}

fn mark(phase: Phase) -> &'static str {
    if phase == Phase::Measure { "" } else { WARM_UP }
}

/// One histogram as in a log's last column; an empty text for an empty histogram.
pub(crate) fn encode(histogram: &LatencyHistogram) -> String {
    let mut bytes = Vec::new();
    if !histogram.is_empty() {
        // Writing to memory fails only for histograms larger than dyno's.
        let _ = V2DeflateSerializer::new().serialize(&histogram.as_hdr(), &mut bytes);
    }
    STANDARD.encode(&bytes)
}

/// Decodes the text that [`encode`] made.
///
/// # Errors
/// A description of the error in the text.
pub(crate) fn decode(text: &str) -> Result<LatencyHistogram, String> {
    if text.is_empty() { Ok(LatencyHistogram::new()) } else { Decoder::new().decode(text) }
}

/// The histograms of an operation, in the order of their lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Succeeded,
    TimedOut,
    Failed,
    Service,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Succeeded, Self::TimedOut, Self::Failed, Self::Service];

    fn of(self, tally: &OperationTally) -> &LatencyHistogram {
        match self {
            Self::Succeeded => &tally.succeeded,
            Self::TimedOut => &tally.timed_out,
            Self::Failed => &tally.failed,
            Self::Service => &tally.service,
        }
    }

    /// The operation's name, without characters that a tag must not contain, and the kind of histogram.
    fn tag(self, operation: &Operation) -> String {
        let name = operation.name.replace([',', ' ', '\r', '\n'], "_");
        match self {
            Self::Succeeded => name,
            Self::TimedOut => format!("{name}/timed-out"),
            Self::Failed => format!("{name}/failed"),
            Self::Service => format!("{name}/service"),
        }
    }
}

fn tagged<'a>(
    operations: &'a [Operation],
    interval: &'a Interval,
) -> impl Iterator<Item = (String, &'a LatencyHistogram)> {
    operations.iter().zip(&interval.tally.operations).flat_map(|(operation, tally)| {
        Kind::ALL
            .into_iter()
            .map(move |kind| (kind.tag(operation), kind.of(tally)))
            .filter(|(_, histogram)| !histogram.is_empty())
    })
}

/// Reads the histograms of a log one after the other and checks their tags.
pub(crate) struct Log {
    lines: Lines<Box<dyn BufRead>>,
    decoder: Decoder,
    /// A histogram was looked for after the last one.
    is_over: bool,
}

impl Log {
    pub(crate) fn new(lines: Lines<Box<dyn BufRead>>) -> Self {
        Self { lines, decoder: Decoder::new(), is_over: false }
    }

    /// The next histogram: the one of `operation` with `count` values in an interval of `phase`.
    pub(crate) fn next(
        &mut self,
        phase: Phase,
        operation: &Operation,
        kind: Kind,
        count: u64,
    ) -> Result<LatencyHistogram, RecordError> {
        if count == 0 {
            return Ok(LatencyHistogram::new());
        }
        let tag = kind.tag(operation);
        let histogram = loop {
            match self.lines.next()? {
                None => {
                    self.is_over = true;
                    let what = format!("a line with tag `{tag}` is missing");
                    return Err(self.lines.damaged_after(what));
                }
                Some(line) if is_comment(line) => {}
                Some(line) => break read(line, phase, &tag, count, &mut self.decoder),
            }
        };
        histogram.map_err(|what| self.lines.damaged(what))
    }

    /// Whether a histogram is missing because the log ends before it.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Checks that every histogram was read.
    pub(crate) fn end(mut self) -> Result<(), RecordError> {
        while let Some(line) = self.lines.next()? {
            if !is_comment(line) {
                return Err(self.lines.damaged("its interval is missing in intervals.jsonl"));
            }
        }
        Ok(())
    }
}

/// Whether a line is a comment or the head of the columns.
fn is_comment(line: &[u8]) -> bool {
    line.starts_with(b"#") || line.starts_with(b"\"StartTimestamp\"")
}

/// The histogram in a line, or a description of the error.
fn read(
    line: &[u8],
    phase: Phase,
    expected: &str,
    count: u64,
    decoder: &mut Decoder,
) -> Result<LatencyHistogram, String> {
    let line = std::str::from_utf8(line).map_err(|error| error.to_string())?;
    let (seen, encoded) = columns(line).ok_or("it has other columns than a log of histograms")?;
    let mark = mark(phase);
    if seen.strip_prefix(mark) != Some(expected) {
        return Err(format!("found tag `{seen}` instead of `{mark}{expected}`"));
    }
    let histogram = decoder.decode(encoded)?;
    match histogram.count() {
        seen if seen == count => Ok(histogram),
        seen => Err(format!("{expected} has {seen} values where intervals.jsonl counts {count}")),
    }
}

/// The tag and the encoded histogram of a line: `Tag=TAG,START,LENGTH,MAX,HISTOGRAM`.
fn columns(line: &str) -> Option<(&str, &str)> {
    let (tag, rest) = line.strip_prefix("Tag=")?.split_once(',')?;
    let mut columns = rest.splitn(4, ',');
    let are_numbers = columns.by_ref().take(3).all(|number| number.parse::<f64>().is_ok());
    columns.next().filter(|_| are_numbers).map(|encoded| (tag, encoded.trim_end_matches('\r')))
}
