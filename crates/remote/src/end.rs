//! The other end: the dyno that was started in a place, and speaks on its standard input and output.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::time::Duration;

use anyhow::{Context, bail};
use nix::sys::prctl;
use nix::unistd::{dup2_stdin, dup2_stdout};

use crate::dispatch::Clock;
use crate::hello::Hello;
use crate::incoming::{Came, Incoming, Lines};
use crate::link::{Link, Receiver, Sender};
use crate::problem::{LinkError, Problem};
use crate::queue::Pushed;
use crate::shared::Shared;
use crate::start::FRAMES;

/// How long the side that has started this process may take to say its first word.
const FIRST_WORD_BOUND: Duration = Duration::from_secs(60);

/// The connection of this process to the one that has started it.
pub struct End {
    // The threads of the connection have what they need; this keeps its questions alive.
    _link: Link,
    sender: Sender,
    receiver: Receiver,
}

impl End {
    /// Takes standard input and output for the connection; what the program prints from now on goes to standard error.
    /// The process is called `name` in lists of processes, at most 15 characters. `on_lost` runs on a thread of its own
    /// as soon as the other side is gone: it has to see to it that this process ends.
    ///
    /// # Errors
    /// When a user has typed the command, or the other side is no dyno.
    pub fn on_stdio(
        name: &str,
        on_lost: impl FnOnce(&LinkError) + Send + 'static,
    ) -> anyhow::Result<Self> {
        if io::stdin().is_terminal() {
            bail!("this command is started by another dyno, not by hand");
        }
        if let Ok(name) = std::ffi::CString::new(name) {
            // Only lists of processes show it.
            let _ = prctl::set_name(&name);
        }
        let input = io::stdin().as_fd().try_clone_to_owned().context("no standard input")?;
        let output = io::stdout().as_fd().try_clone_to_owned().context("no standard output")?;
        dup2_stdin(File::open("/dev/null")?)?;
        dup2_stdout(io::stderr())?;
        Self::on(File::from(input), File::from(output), net::kernel_ns, on_lost)
    }

    /// The same on any two streams, with a clock.
    pub(crate) fn on(
        input: impl io::Read + Send + 'static,
        output: impl io::Write + Send + 'static,
        now_ns: fn() -> u64,
        on_lost: impl FnOnce(&LinkError) + Send + 'static,
    ) -> anyhow::Result<Self> {
        // First, because there are no heartbeats until both sides have said their first word.
        let hello = Hello::own()?;
        let shared = Shared::write_to(output)?;
        let mut incoming = Incoming::read_from(input)?;
        // What stands before it in the same line is not ours.
        let first = format!("\n{FRAMES}\n").into_bytes().into();
        if shared.outgoing.push(first, FIRST_WORD_BOUND) != Pushed::Yes {
            bail!("the other side does not read");
        }
        wait_for_frames(&mut incoming)?;
        let explain = Box::new(|_: &Problem| String::new());
        let clock = Clock::Answers(now_ns);
        let link = Link::begin(shared, incoming, clock, (explain, Box::new(on_lost)))?;
        let (sender, receiver) = (link.sender(), link.receiver());
        sender.send(&hello)?;
        Ok(Self { _link: link, sender, receiver })
    }

    pub fn split(&self) -> (Sender, Receiver) {
        (self.sender.clone(), self.receiver.clone())
    }
}

/// Reads up to the line after which frames come.
fn wait_for_frames(incoming: &mut Incoming) -> anyhow::Result<()> {
    let mut lines = Lines::default();
    loop {
        if let Some(line) = lines.next()? {
            if line == FRAMES {
                incoming.put_back(lines.rest());
                return Ok(());
            }
            continue;
        }
        match incoming.wait(FIRST_WORD_BOUND) {
            Came::Part(part) => lines.push(&part.bytes),
            Came::Nothing => bail!("the dyno that has started this one says nothing"),
            Came::End => bail!("the dyno that has started this one is gone"),
        }
    }
}
