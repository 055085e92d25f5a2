//! Profiles in pprof's format. Source: github.com/google/pprof, proto/profile.proto.

use std::io::Read;

use flate2::read::GzDecoder;
use measure::{Nanos, Profile, ProfileOf};
use prost::Message;

/// A larger answer is refused, and of a packed one no more is read. A profile of a large server has some megabytes; in memory
/// each of its messages takes up to twenty times its bytes.
pub(super) const BYTES_MAX: u64 = 16 << 20;
/// The first bytes of gzip.
const GZIP: [u8; 2] = [0x1f, 0x8b];

#[derive(Clone, PartialEq, Message)]
struct File {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<Sample>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
    #[prost(int64, tag = "10")]
    duration_nanos: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    r#type: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    /// From the innermost to the outermost.
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "3")]
    address: u64,
    /// Several where functions were inlined, from the innermost to the outermost.
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
}

/// Reads a profile, packed or not.
///
/// # Errors
/// Why it is none.
pub(super) fn read(
    bytes: &[u8],
    (server, of, span_ns): (&str, ProfileOf, Nanos),
) -> Result<Profile, String> {
    let mut unpacked = Vec::new();
    let bytes = if bytes.starts_with(&GZIP) {
        let mut reader = GzDecoder::new(bytes).take(BYTES_MAX);
        reader.read_to_end(&mut unpacked).map_err(|error| format!("it is damaged: {error}"))?;
        &unpacked
    } else {
        bytes
    };
    let file =
        File::decode(bytes).map_err(|error| format!("it is no profile of pprof: {error}"))?;
    let value = file.time().ok_or("it has no values in nanoseconds")?;
    let span_ns = u64::try_from(file.duration_nanos).ok().filter(|ns| *ns > 0).unwrap_or(span_ns);
    let names = Names::of(&file);
    let stacks = file.sample.iter().map(|sample| {
        let ns = sample.value.get(value).and_then(|ns| u64::try_from(*ns).ok()).unwrap_or(0);
        (names.stack(sample, of), ns)
    });
    Ok(Profile::new((server, of, span_ns), stacks))
}

impl File {
    /// Which value of a sample is a time.
    fn time(&self) -> Option<usize> {
        let is_time = |it: &ValueType| self.text(it.unit) == Some("nanoseconds");
        self.sample_type.iter().rposition(is_time)
    }

    fn text(&self, at: i64) -> Option<&str> {
        self.string_table.get(usize::try_from(at).ok()?).map(String::as_str)
    }
}

/// The functions at each place of the code, by its number.
struct Names<'a>(std::collections::HashMap<u64, Vec<&'a str>>);

impl<'a> Names<'a> {
    fn of(file: &'a File) -> Self {
        let functions: std::collections::HashMap<u64, &str> =
            file.function.iter().filter_map(|it| Some((it.id, file.text(it.name)?))).collect();
        let named = |location: &Location| {
            let lines = location.line.iter().filter_map(|it| functions.get(&it.function_id));
            (location.id, lines.copied().collect())
        };
        Self(file.location.iter().map(named).collect())
    }

    /// From the outermost function to the innermost. Of a lock's waits the innermost ones, which unlock it, say nothing.
    fn stack(&self, sample: &Sample, of: ProfileOf) -> Vec<String> {
        let places = sample.location_id.iter().filter_map(|id| self.0.get(id));
        let mut frames: Vec<&str> = places.flatten().copied().collect();
        if of == ProfileOf::Locks {
            let is_lock = |name: &&&str| {
                ["sync.", "runtime.", "internal/sync."].iter().any(|it| name.starts_with(it))
            };
            let locks = frames.iter().take_while(is_lock).count();
            if locks < frames.len() {
                frames.drain(..locks);
            }
        }
        frames.into_iter().rev().map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    /// `main` calls `work`, which has `hash` inlined; and `sync.Unlock` below `work`.
    fn file() -> File {
        let texts =
            ["", "samples", "count", "cpu", "nanoseconds", "main", "work", "hash", "sync.Unlock"];
        let line = |function_id| Line { function_id };
        let location = |id, line| Location { id, address: 0, line };
        File {
            sample_type: vec![ValueType { r#type: 1, unit: 2 }, ValueType { r#type: 3, unit: 4 }],
            sample: vec![
                Sample { location_id: vec![12, 11], value: vec![3, 30_000_000] },
                Sample { location_id: vec![13, 12, 11], value: vec![1, 10_000_000] },
                Sample { location_id: vec![99], value: vec![1] },
            ],
            location: vec![
                location(11, vec![line(1)]),
                location(12, vec![line(3), line(2)]),
                location(13, vec![line(4)]),
            ],
            function: (1..=4).map(|id| Function { id, name: id.cast_signed() + 4 }).collect(),
            string_table: texts.map(str::to_owned).to_vec(),
            duration_nanos: 2_000_000_000,
        }
    }

    fn told(profile: &Profile) -> Vec<(String, Nanos)> {
        let name = |stack: &measure::ProfileStack| {
            stack.frames.iter().map(|it| profile.name(*it)).collect::<Vec<_>>().join(" ")
        };
        profile.stacks.iter().map(|stack| (name(stack), stack.ns)).collect()
    }

    #[test]
    fn stacks_are_read_from_the_outermost_function_with_inlined_ones() {
        let bytes = file().encode_to_vec();
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(&bytes).unwrap();
        for bytes in [bytes, packed.finish().unwrap()] {
            let profile = read(&bytes, ("db", ProfileOf::Cpu, 1)).unwrap();
            assert_eq!(profile.span_ns, 2_000_000_000);
            let expected = [
                ("main work hash".to_owned(), 30_000_000),
                ("main work hash sync.Unlock".to_owned(), 10_000_000),
            ];
            assert_eq!(told(&profile), expected);
            let locks = read(&bytes, ("db", ProfileOf::Locks, 1)).unwrap();
            assert_eq!(told(&locks), [("main work hash".to_owned(), 40_000_000)]);
        }
    }

    #[test]
    fn what_is_no_profile_is_refused() {
        let told = |bytes: &[u8]| read(bytes, ("db", ProfileOf::Cpu, 1)).unwrap_err();
        assert!(told(b"<html>404").contains("no profile of pprof"), "{}", told(b"<html>404"));
        assert!(told(&[0x1f, 0x8b, 8]).contains("damaged"));
        assert!(told(b"").contains("no values in nanoseconds"));
    }
}
