//! Properties of the readers of a record's files that hold for any bytes.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::io::{Cursor, Read as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::ZlibEncoder;
use measure::{LatencyHistogram, Operation, OperationKind, Phase, QueryCounts, Watched};
use serde_json::Value;

use crate::hlog::{self, Log};
use crate::input::Lines;
use crate::reader::{add_lines, add_watched};
use crate::wire::{self, RunFile, TrialFile, WatchLine};
use crate::{TrialHeader, TrialRecord, zipped};

fuzzing::targets! {
    record_run: run;
    record_trial: trial;
    record_intervals: intervals;
    record_histogram: histogram;
    record_watched: watched;
    record_zipped: zipped_lines;
}

fn path() -> &'static Path {
    Path::new("x")
}

/// The text without numbers that are not whole: such a number may differ in its last digit when it is read.
fn whole(text: &[u8]) -> Value {
    fn clear(value: &mut Value) {
        match value {
            Value::Number(number) if number.is_f64() => *value = Value::Null,
            Value::Array(items) => items.iter_mut().for_each(clear),
            Value::Object(fields) => fields.values_mut().for_each(clear),
            _ => {}
        }
    }
    let mut value = serde_json::from_slice(text).expect("a file of a record is JSON");
    clear(&mut value);
    value
}

/// A run.json that is read and written again stays the same.
fn run(bytes: &[u8]) -> Option<()> {
    let file = wire::parse::<RunFile>(path(), bytes).ok()?;
    let written = |file: RunFile| {
        let (status, ended) = (file.status(false), file.ended());
        let header = file.into_header(String::new(), Vec::new());
        wire::pretty(&RunFile::new(&header, &status, ended))
    };
    let once = written(file);
    let again = wire::parse(path(), &once).expect("what was written is read");
    assert_eq!(whole(&written(again)), whole(&once));
    Some(())
}

/// A trial.json that is read and written again stays the same.
fn trial(bytes: &[u8]) -> Option<()> {
    let record = wire::parse::<TrialFile>(path(), bytes).ok()?.into_record().ok()?;
    let once = wire::pretty(&TrialFile::from(&record));
    let again: TrialFile = wire::parse(path(), &once).expect("what was written is read");
    let again = again.into_record().expect("what was written is read");
    assert_eq!(whole(&wire::pretty(&TrialFile::from(&again))), whole(&once));
    Some(())
}

/// A search does not find the name of a field by chance: the reader of one that no input has would not be tested.
#[test]
fn the_first_inputs_are_read_and_lack_nothing() {
    let run = wire::parse::<RunFile>(path(), &fuzzing::read("record_run")[0]).unwrap();
    assert_eq!(absent(&run), BTreeSet::new());
    // The first trial has one generator, the second one several.
    let trials = &fuzzing::read("record_trial")[..2];
    let trials = trials.iter().map(|it| wire::parse::<TrialFile>(path(), it).unwrap());
    assert_eq!(absent(&trials.collect::<Vec<_>>()), BTreeSet::new());
    for line in fuzzing::read("record_watched")[0].split(|byte| *byte == b'\n') {
        let is_read = line.is_empty() || serde_json::from_slice::<WatchLine>(line).is_ok();
        assert!(is_read, "{}", fuzzing::line(line));
    }
}

/// The names of fields that have no value anywhere, by the debug form.
fn absent(file: &impl Debug) -> BTreeSet<String> {
    let shown = format!("{file:?}");
    let fields = shown.split([',', '{']).filter_map(|field| field.trim().split_once(": "));
    let (absent, present): (Vec<_>, Vec<_>) =
        fields.partition(|(_, value)| value.starts_with("None") || value.starts_with("[]"));
    let names = |fields: Vec<(&str, &str)>| -> BTreeSet<String> {
        fields.into_iter().map(|(name, _)| name.to_owned()).collect()
    };
    &names(absent) - &names(present)
}

/// A trial with a transaction and a statement, without intervals.
fn empty() -> TrialRecord {
    let operations = [("event", OperationKind::Transaction), ("select", OperationKind::Read)];
    let operations = operations.map(|(name, kind)| Operation::new(name.to_owned(), kind)).to_vec();
    TrialRecord::new(TrialHeader { operations, ..TrialRecord::unknown(0).header })
}

fn with_intervals(lines: &[u8], log: &[u8]) -> TrialRecord {
    let mut record = empty();
    let of =
        |bytes: &[u8]| Lines::new(path(), Box::new(Cursor::new(bytes.to_vec())) as _, u64::MAX);
    let _ = add_lines(&mut record, &mut of(lines), Log::new(of(log)), None);
    record
}

/// The sums over all intervals are those of the trial, and a cut changes nothing before it. The first line `--` ends the
/// intervals; after it come the histograms.
fn intervals(bytes: &[u8]) {
    let end = bytes.windows(4).position(|window| window == b"\n--\n").unwrap_or(bytes.len());
    let (lines, log) = bytes.split_at(end.saturating_add(1).min(bytes.len()));
    let log = log.get(3..).unwrap_or_default();
    let whole = with_intervals(lines, log);
    let mut queries = QueryCounts::default();
    let mut latencies = LatencyHistogram::new();
    for interval in whole.intervals.iter().filter(|it| it.phase == Phase::Measure) {
        queries.add(interval.tally.queries);
        latencies.merge(&interval.latencies);
    }
    // Lines of the same times are parts of one interval, which has the phase of the first.
    if whole.intervals.iter().all(|it| it.phase == Phase::Measure) {
        assert_eq!(queries, whole.total.queries, "the trial has other statements");
        assert_eq!(latencies, whole.total.transaction_latencies(&whole.header.operations));
        for (at, operation) in whole.total.operations.iter().enumerate() {
            let of = whole.intervals.iter().filter_map(|it| it.operation(at)).map(|(_, of)| of);
            assert_eq!(
                LatencyHistogram::sum(of),
                operation.latencies(),
                "operation {at} has others"
            );
        }
    }
    let cut = lines.iter().rposition(|byte| *byte == b'\n').unwrap_or_default();
    let before = with_intervals(&lines[..cut], log);
    assert!(before.intervals.len() <= whole.intervals.len(), "a cut adds an interval");
    for (before, whole) in before.intervals.iter().zip(&whole.intervals) {
        assert_eq!((before.phase, before.start_ns), (whole.phase, whole.start_ns), "a cut matters");
    }
}

/// A histogram has the same values whether it is compressed or not, and written and read again.
fn histogram(bytes: &[u8]) {
    let mut deflated = ZlibEncoder::new(Vec::new(), Compression::none());
    std::io::Write::write_all(&mut deflated, bytes).expect("memory takes all bytes");
    let deflated = deflated.finish().expect("memory takes all bytes");
    let length = u32::try_from(deflated.len()).unwrap_or(u32::MAX).to_be_bytes();
    let compressed = [&hlog::COMPRESSED.to_be_bytes(), &length, &*deflated].concat();
    let decode = |bytes: &[u8]| hlog::decode(&STANDARD.encode(bytes));
    let (one, other) = (decode(bytes), decode(&compressed));
    if bytes.starts_with(&hlog::PLAIN.to_be_bytes()) {
        assert_eq!(one, other, "compression matters");
    }
    for histogram in [one, other].into_iter().flatten() {
        let values = histogram.values().fold(0_u64, |sum, (_, count)| sum.saturating_add(count));
        assert_eq!(values, histogram.count());
        assert_eq!(hlog::decode(&hlog::encode(&histogram)), Ok(histogram));
    }
}

/// What was read of watched data is the same when it is written and read again, and lines after others change nothing in
/// these.
fn watched(bytes: &[u8]) {
    let mut all = Watched::default();
    let _ = add_watched(&mut all, &mut Lines::new(path(), bytes, u64::MAX));
    let mut lines = Lines::new(path(), bytes, u64::MAX);
    while let Ok(Some(line)) = lines.next() {
        let Ok(line) = serde_json::from_slice::<WatchLine>(line) else { return };
        let text = line.text();
        let again: WatchLine = serde_json::from_str(&text).expect("what was written is read");
        assert_eq!(whole(again.text().as_bytes()), whole(text.as_bytes()));
    }
}

/// The lines are those of the text, as far as they end. A cut of a compressed text ends it after one of its lines, and the
/// rest is in proportion to the file. Damage ends it too, up to a buffer early: what was unpacked last before the damage was
/// seen is not to be trusted.
fn zipped_lines(bytes: &[u8]) {
    let read = |bytes: &[u8]| {
        let mut lines = zipped::lines(path(), Cursor::new(bytes.to_vec()), bytes.len() as u64);
        let mut texts = Vec::new();
        loop {
            match lines.next() {
                Ok(Some(line)) => texts.push(line.to_vec()),
                Ok(None) => return (texts, false),
                Err(_) => return (texts, true),
            }
        }
    };
    let (whole, damaged) = read(bytes);
    let (cut, _) = read(&bytes[..bytes.len() / 2]);
    assert!(whole.starts_with(&cut) || damaged && cut.starts_with(&whole), "a cut changes a line");
    let mut text = Vec::new();
    let _ = GzDecoder::new(bytes).take(zipped::most(bytes.len() as u64)).read_to_end(&mut text);
    let ended = text.split_inclusive(|byte| *byte == b'\n').filter_map(|it| it.strip_suffix(b"\n"));
    let ended: Vec<Vec<u8>> = ended.filter(|it| !it.is_empty()).map(<[u8]>::to_vec).collect();
    let is_part = damaged && (ended.starts_with(&whole) || whole.starts_with(&ended));
    assert!(whole == ended || is_part, "they are other lines");
    let length: usize = whole.iter().map(Vec::len).sum();
    assert!(length as u64 <= zipped::most(bytes.len() as u64), "{length} bytes");
}
