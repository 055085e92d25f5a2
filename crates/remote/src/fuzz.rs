//! Properties of the readers of what another dyno sends that hold for any bytes.

use measure::HostReading;

use crate::frame::FrameReader;
use crate::hello::Hello;
use crate::host_watch;
use crate::message;
use crate::problem::Problem;

fuzzing::targets! {
    remote_frames: frames;
    remote_messages: messages;
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
fn messages(bytes: &[u8]) {
    if let Ok(hello) = message::decode::<Hello>(bytes) {
        let written = message::encode(&hello).unwrap();
        assert_eq!(message::decode::<Hello>(&written).unwrap(), hello);
    }
    if let Ok(reading) = host_watch::reading(bytes, 2) {
        let HostReading { processes, .. } = reading;
        assert_eq!(processes.len(), 2, "a reading of other processes");
    }
}
