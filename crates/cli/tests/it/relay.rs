//! What is between a run and one of its generators: passes on the bytes of both ways, late or not at all.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use peers::{Behaviour, WireSocket, dyno};

use crate::sandbox::{Sandbox, both};

const READ_BYTES: usize = 64 << 10;

/// What happens to bytes on a way.
#[derive(Clone, Copy, Debug)]
enum Passing {
    /// They are passed on this much later.
    Late(Duration),
    Hostile(Behaviour),
}

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

    pub(crate) fn place(&self) -> String {
        format!("command:{}", self.program.display())
    }

    /// From now on a way misbehaves.
    pub(crate) fn set(&self, direction: Direction, behaviour: Behaviour) {
        let way = &self.ways[usize::from(direction == Direction::FromGenerator)];
        *way.lock().unwrap_or_else(PoisonError::into_inner) = Passing::Hostile(behaviour);
    }
}

/// The two ends of a way that misbehaves.
struct Way {
    source: File,
    target: Option<File>,
}

impl Read for Way {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.source.read(buffer)
    }
}

impl Write for Way {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.target.as_mut().map_or(Ok(0), |target| target.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl WireSocket for Way {
    fn half_close(&mut self) -> io::Result<()> {
        self.target = None;
        Ok(())
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
    let behaviour = loop {
        let Ok(length @ 1..) = source.read(&mut buffer) else { break Behaviour::Reset };
        match *passing.lock().unwrap_or_else(PoisonError::into_inner) {
            Passing::Hostile(behaviour) => break behaviour,
            Passing::Late(delay) => {
                if sender.send((Instant::now() + delay, buffer[..length].to_vec())).is_err() {
                    break Behaviour::Silent;
                }
            }
        }
    };
    drop(sender);
    let target = Some(writer.join().unwrap());
    // The way in which the other side ends does not matter here.
    drop(peers::play(Way { source, target }, &behaviour.acts(&dyno::in_use())));
}

/// Writes each part when it is due, until there are no more. Returns the end of the way.
fn write(mut target: File, parts: &mpsc::Receiver<(Instant, Vec<u8>)>) -> File {
    for (due, bytes) in parts {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        if target.write_all(&bytes).is_err() {
            break;
        }
    }
    target
}
