//! What is between a run and one of its generators: passes on the bytes of both ways, late or not as they came.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::sandbox::{Sandbox, both};

/// Bytes that are read at once.
const READ_BYTES: usize = 64 << 10;
/// No frame begins with these bytes.
const NO_MEANING: [u8; 16 << 10] = [0xa5; 16 << 10];
/// The greatest length that a frame can state.
const GREATEST_LENGTH: [u8; 5] = [0xff, 0xff, 0xff, 0xff, 2];
/// Shorter than the time after which a silent side is lost.
const DRIP_PAUSE: Duration = Duration::from_secs(1);

/// What happens to bytes on a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passing {
    /// They are passed on so much later.
    Late(Duration),
    /// They are swallowed.
    Silent,
    /// They are passed on one by one, with long pauses.
    Drip,
    /// Bytes without meaning come in their place, without end.
    Flood,
    /// A frame of 4 GiB is announced in their place.
    TooLong,
    /// The way is closed.
    HalfClose,
}

/// One of the two ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    ToGenerator,
    FromGenerator,
}

/// A place that is reached through this process.
pub(crate) struct Relay {
    program: PathBuf,
    ways: [Arc<Mutex<Passing>>; 2],
}

impl Relay {
    /// Ways that delay both directions by so much.
    pub(crate) fn start(sandbox: &Sandbox, delay: Duration) -> Self {
        let [to, to_generator, from, from_generator] =
            ["to", "to-generator", "from", "from-generator"].map(|name| {
                let path = sandbox.path().join(name);
                let output = Command::new("mkfifo").arg(&path).output().unwrap();
                assert!(output.status.success(), "{}", both(&output));
                path
            });
        // A shell gives programs in the background no input of its own accord.
        let script = format!(
            "#!/bin/sh\nexec 5<&0\ncat <&5 > '{}' &\ncat < '{}' &\nexec 5<&-\nexec \"$@\" < '{}' > '{}'\n",
            to.display(),
            from.display(),
            to_generator.display(),
            from_generator.display()
        );
        let program = sandbox.program("relayed", &script);
        let way = |from: PathBuf, to: PathBuf| {
            let passing = Arc::new(Mutex::new(Passing::Late(delay)));
            let own = Arc::clone(&passing);
            thread::spawn(move || pass_on(&from, &to, &own));
            passing
        };
        Self { program, ways: [way(to, to_generator), way(from_generator, from)] }
    }

    /// The place of the generator in a plan.
    pub(crate) fn place(&self) -> String {
        format!("command:{}", self.program.display())
    }

    /// From now on this happens to bytes.
    pub(crate) fn set(&self, direction: Direction, passing: Passing) {
        let way = &self.ways[usize::from(direction == Direction::FromGenerator)];
        *way.lock().unwrap_or_else(PoisonError::into_inner) = passing;
    }
}

/// Passes bytes on until one of the ends is closed.
fn pass_on(from: &Path, to: &Path, passing: &Mutex<Passing>) {
    // Each waits for the other end to be opened.
    let mut source = File::open(from).unwrap();
    let target = OpenOptions::new().write(true).open(to).unwrap();
    let (sender, parts) = mpsc::channel();
    let writer = thread::spawn(move || write(target, &parts));
    let mut buffer = vec![0; READ_BYTES];
    while let Ok(length @ 1..) = source.read(&mut buffer) {
        let (bytes, now) = (buffer[..length].to_vec(), Instant::now());
        let passing = *passing.lock().unwrap_or_else(PoisonError::into_inner);
        let is_passed = match passing {
            Passing::Late(delay) => sender.send((now + delay, bytes)).is_ok(),
            Passing::Silent => true,
            Passing::Drip => {
                let mut due = (1..).map(|number| now + DRIP_PAUSE * number);
                bytes.into_iter().all(|byte| sender.send((due.next().unwrap(), vec![byte])).is_ok())
            }
            Passing::Flood => loop {
                // The writer ends with the other side; without a pause the channel would have all memory by then.
                if sender.send((now, NO_MEANING.to_vec())).is_err() {
                    break false;
                }
                thread::sleep(Duration::from_millis(1));
            },
            Passing::TooLong => sender.send((now, GREATEST_LENGTH.to_vec())).is_ok(),
            Passing::HalfClose => false,
        };
        if !is_passed {
            break;
        }
    }
    drop(sender);
    writer.join().unwrap();
    // What still comes is read, so that only the other direction of this side is closed.
    while let Ok(1..) = source.read(&mut buffer) {}
}

/// Writes each part when it is due, until there are no more.
fn write(mut target: File, parts: &mpsc::Receiver<(Instant, Vec<u8>)>) {
    for (due, bytes) in parts {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        if target.write_all(&bytes).is_err() {
            return;
        }
    }
}
