//! Properties of the readers of what another dyno sends that hold for any bytes.

use measure::HostReading;

use crate::frame::FrameReader;
use crate::hello::Hello;
use crate::host_watch::{self, PROCESSES_MAX, TEXT_BYTES_MAX};
use crate::incoming::{LINE_BYTES_MAX, Lines, NOISE_BYTES_MAX};
use crate::message;
use crate::problem::Problem;
use crate::script::{Opening, Sum};

fuzzing::targets! {
    remote_frames: frames;
    remote_messages: messages;
    remote_shell: conversation;
    remote_host: host;
}

/// Frames and the error behind them are the same however the bytes are cut, and only received bytes are kept.
fn frames(bytes: &[u8]) {
    let mut whole = FrameReader::default();
    whole.push(bytes);
    let step = bytes.first().map_or(1, |first| usize::from(*first) % 16 + 1);
    let (mut cut, mut fault) = (FrameReader::default(), None);
    for part in bytes.chunks(step) {
        cut.push(part);
        while fault.is_none() {
            match cut.next() {
                Ok(Some(frame)) => {
                    assert_eq!(whole.next(), Ok(Some(frame.clone())), "cuts change a frame");
                    let mut again = FrameReader::default();
                    again.push(&frame.encode().unwrap());
                    assert_eq!(again.next(), Ok(Some(frame)), "it is not written as it was read");
                }
                Ok(None) => break,
                Err(problem) => fault = Some(problem),
            }
        }
        assert!(cut.capacity_bytes() <= 2 * bytes.len().max(64), "more is kept than came");
    }
    let ending = whole.next();
    let expected: Result<_, Problem> = fault.map_or(Ok(None), Err);
    assert_eq!(ending, expected, "cuts change the end");
}

/// A message that is read is written as the same message, and a reading has as many processes as were asked for.
fn messages(bytes: &[u8]) -> Option<()> {
    let hello = message::decode::<Hello>(bytes);
    let reading = host_watch::reading(bytes, 2);
    let is_read = hello.is_ok() || reading.is_ok();
    if let Ok(hello) = hello {
        let written = message::encode(&hello).unwrap();
        assert_eq!(message::decode::<Hello>(&written).unwrap(), hello);
    }
    if let Ok(reading) = reading {
        let HostReading { processes, .. } = reading;
        assert_eq!(processes.len(), 2, "a reading of other processes");
    }
    is_read.then_some(())
}

/// The mark of the conversation.
const MARK: &str = "0a1b2c3d4e5f6071";
/// Bytes of noise for each unit of an input's first byte: 255 of them are more than may come.
const NOISE_BYTES: usize = 260;
/// Bytes of noise that come together.
const NOISE_PIECE_BYTES: usize = 16 << 10;

/// Lines, the bytes behind them and the end of patience are the same however the bytes are cut. Lines are bounded, and an
/// opening that is found stands in its line as the script writes it. The first byte says how much noise comes before the
/// rest, in lines when it is even and in one line when it is odd.
fn conversation(bytes: &[u8]) -> Option<()> {
    let (noise, rest) = bytes.split_first()?;
    let mut all = vec![b'x'; usize::from(*noise) * NOISE_BYTES];
    if noise % 2 == 0 {
        all.iter_mut().skip(NOISE_BYTES - 1).step_by(NOISE_BYTES).for_each(|byte| *byte = b'\n');
    }
    let step = usize::from(rest.first().copied().unwrap_or_default()) + 1;
    let pieces = all.chunks(NOISE_PIECE_BYTES).chain(rest.chunks(step));
    let cut = read_lines(&pieces.collect::<Vec<_>>());
    all.extend_from_slice(rest);
    let whole = read_lines(&[&all]);
    assert_eq!(whole, cut, "cuts matter");
    let (lines, behind) = whole;
    let mut raw = all.split(|byte| *byte == b'\n');
    for (line, raw) in lines.iter().zip(&mut raw) {
        let end = &raw[raw.len().saturating_sub(LINE_BYTES_MAX)..];
        assert_eq!(*line, String::from_utf8_lossy(end), "another line");
        let Some(Opening { system, machine, sum }) = Opening::parse(line, MARK) else { continue };
        let sum = if sum == Sum::Sha256 { "sha256" } else { "cksum" };
        let written = format!("dyno-shell-{MARK} {system} {machine} {sum}");
        assert!(line.contains(&written), "{written:?} is not in {line:?}");
    }
    match behind {
        Some(behind) => assert_eq!(Some(&*behind), raw.next(), "other bytes are behind the lines"),
        None => assert!(all.len() > NOISE_BYTES_MAX, "the bytes are not too many"),
    }
    Some(())
}

/// The lines of bytes that come in these pieces, and the bytes behind them; `None` when too many came.
fn read_lines(pieces: &[&[u8]]) -> (Vec<String>, Option<Vec<u8>>) {
    let (mut lines, mut found) = (Lines::default(), Vec::new());
    for piece in pieces {
        lines.push(piece);
        loop {
            match lines.next() {
                Ok(Some(line)) => found.push(line),
                Ok(None) => break,
                Err(problem) => {
                    assert!(problem.to_string().len() < LINE_BYTES_MAX, "a long message");
                    return (found, None);
                }
            }
        }
    }
    (found, Some(lines.rest().to_vec()))
}

/// A description that is taken has bounds, names no place of its own, and is the same when it is written and read again;
/// another is refused with a reason.
fn host(bytes: &[u8]) -> Option<()> {
    let host = match host_watch::description(bytes) {
        Ok(host) => host,
        Err(why) => {
            assert!(!why.to_string().is_empty(), "no reason");
            return None;
        }
    };
    let names = host.processes.iter().map(|process| &process.name).chain([&host.name]);
    assert!(names.into_iter().all(|name| name.len() <= TEXT_BYTES_MAX), "a long name");
    assert!(host.processes.len() <= PROCESSES_MAX && host.place.is_none());
    assert!(host.readings.is_empty() && host.joints_ns.is_empty(), "it brings readings");
    let written = serde_json::to_vec(&host).expect("a host has a form");
    assert_eq!(host_watch::description(&written).expect("what was written is read"), host);
    Some(())
}
