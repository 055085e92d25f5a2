//! Starts a dyno in another place: reaches the host, brings the program, and makes the connection.

use std::io::Read;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use measure::HostFacts;
use plan::Place;
use system::PipedProcess;
use zeroize::Zeroizing;

use crate::dispatch::Clock;
use crate::hello::{Hello, VERSION};
use crate::incoming::{Came, Incoming, Lines};
use crate::link::Link;
use crate::peer::{Peer, StartOptions};
use crate::problem::{LinkError, Problem};
use crate::program::Program;
use crate::queue::{Bytes, Pushed};
use crate::script::{self, KEPT, Opening, REFUSED, SEND, Sum};
use crate::shared::Shared;
use crate::shell::{self, Script};
use crate::stderr::Stderr;

/// The line with which each side begins to send frames; the number changes with their form.
pub(crate) const FRAMES: &str = "dyno-frames-1";
/// How often a wait asks whether to give up.
const TICK: Duration = Duration::from_millis(100);
/// Bytes of the program that are sent at once.
const CHUNK_BYTES: usize = 256 << 10;
/// How long to wait for the exit status and the last words of the program that makes the connection, for a message.
const STATUS_BOUND: Duration = Duration::from_millis(300);

pub(crate) fn start(
    place: &Place,
    options: &StartOptions,
    stop: &dyn Fn() -> bool,
) -> anyhow::Result<Peer> {
    let cannot_start = || format!("no dyno at {place}");
    let mark = script::new_mark()?;
    let text = script::text();
    let script = Script { text: &text, mark: &mark };
    let reaching = shell::command(place, script).map_err(|why| anyhow!("{place}: {why}"))?;
    let is_local = reaching.is_none();
    let command = reaching.unwrap_or_else(|| shell::local(&options.program, options.command));
    let mut starting = Starting::begin(command, options, stop).with_context(cannot_start)?;
    let program = match is_local {
        true => Program::at(options.program.clone()),
        false => starting.bring_program(options, &mark),
    };
    starting.connect(&program.with_context(cannot_start)?).with_context(cannot_start)
}

/// A connection that is not ready.
struct Starting<'a> {
    process: Arc<PipedProcess>,
    stderr: Stderr,
    shared: Arc<Shared>,
    incoming: Incoming,
    lines: Lines,
    bound: Duration,
    stop: &'a dyn Fn() -> bool,
}

impl<'a> Starting<'a> {
    fn begin(
        command: Command,
        options: &StartOptions,
        stop: &'a dyn Fn() -> bool,
    ) -> anyhow::Result<Self> {
        let (process, pipes) = PipedProcess::start(command)?;
        Ok(Self {
            process: Arc::new(process),
            stderr: Stderr::read_from(pipes.errors)?,
            shared: Shared::write_to(pipes.input)?,
            incoming: Incoming::read_from(pipes.output)?,
            lines: Lines::default(),
            bound: options.bound,
            stop,
        })
    }

    /// Sees to it that the program runs in the place.
    fn bring_program(&mut self, options: &StartOptions, mark: &str) -> anyhow::Result<Program> {
        let opening = self.line(|line| Opening::parse(line, mark))?;
        if opening.system != "Linux" {
            bail!("its system is {}, and dyno needs Linux there", opening.system);
        }
        let program = Program::for_processor(&options.program, &opening.machine)?;
        let Program { bytes, sha256, .. } = &program;
        let sum = match opening.sum {
            Sum::Sha256 => sha256.clone(),
            Sum::Cksum => program.cksum()?,
        };
        let keep = if options.keep_copies { "keep" } else { "leave" };
        let line = format!("{sha256} {sum} {bytes} {keep} {}\n", options.command);
        self.send(line.into_bytes())?;
        let is_wanted = self.line(|line| match line {
            KEPT => Some(false),
            SEND => Some(true),
            _ => None,
        })?;
        if is_wanted {
            self.send_program(&program)?;
        }
        Ok(program)
    }

    fn send_program(&mut self, program: &Program) -> anyhow::Result<()> {
        let mut source = program.open()?.take(program.bytes);
        loop {
            let mut chunk = Vec::with_capacity(CHUNK_BYTES);
            (&mut source).take(CHUNK_BYTES as u64).read_to_end(&mut chunk)?;
            if chunk.is_empty() {
                return Ok(());
            }
            self.send(chunk)?;
        }
    }

    /// Makes the connection with a dyno that has been started.
    fn connect(mut self, program: &Program) -> anyhow::Result<Peer> {
        self.line(|line| (line == FRAMES).then_some(()))?;
        self.send(format!("{FRAMES}\n").into_bytes())?;
        let Self { process, stderr, shared, mut incoming, lines, bound, stop } = self;
        incoming.put_back(lines.rest());
        let (at_end, of_program) = (Arc::clone(&process), stderr);
        let explain = Box::new(move |problem: &Problem| explain(problem, &at_end, &of_program));
        let ending = Arc::clone(&process);
        let on_lost = Box::new(move |_: &LinkError| {
            // One that is silent or talks nonsense is not waited for.
            let _ = ending.end();
        });
        let link = Link::begin(shared, incoming, Clock::Asks, (explain, on_lost))?;
        // From here on its end is that of the peer.
        let peer = Peer::new(link, process);
        let Hello { facts, process, .. } = first_message(&peer, bound, stop)?;
        let HostFacts { build, .. } = &facts;
        if *build != program.sha256 {
            bail!("the dyno there has the build {build}, and the one here is {}", program.sha256);
        }
        Ok(peer.introduced(facts, process))
    }

    /// Sends bytes as soon as there is room for them.
    fn send(&mut self, bytes: Vec<u8>) -> anyhow::Result<()> {
        let mut bytes: Bytes = Zeroizing::new(bytes);
        let mut idle = Idle::default();
        loop {
            match self.shared.outgoing.push(bytes, TICK) {
                Pushed::Yes => return Ok(()),
                Pushed::Full(again) => bytes = again,
                // The reason may be on its way.
                Pushed::Ended => return self.line(|_| None::<()>),
            }
            self.wait_more(&mut idle, TICK)?;
        }
    }

    /// The first line in which `find` finds something.
    fn line<T>(&mut self, find: impl Fn(&str) -> Option<T>) -> anyhow::Result<T> {
        let mut idle = Idle::default();
        loop {
            while let Some(line) = self.lines.next()? {
                if let Some(why) = line.strip_prefix(REFUSED) {
                    bail!(plan::scrub(why));
                }
                if let Some(found) = find(&line) {
                    return Ok(found);
                }
                if line.ends_with('\r') && find(line.trim_end()).is_some() {
                    bail!(
                        "a terminal is between the two ends, which changes bytes: reach it without (-T, no -t)"
                    );
                }
            }
            let asked_ns = net::kernel_ns();
            match self.incoming.wait(TICK) {
                // Bytes that are not the line are no progress: they may come one by one for ever.
                Came::Part(part) => self.lines.push(&part.bytes),
                Came::Nothing => {}
                Came::End => bail!(self.how_it_ended(&Problem::Closed)),
            }
            let waited = Duration::from_nanos(net::kernel_ns().saturating_sub(asked_ns));
            self.wait_more(&mut idle, waited)?;
        }
    }

    /// Counts a wait, and gives up when there was no progress for too long. A wait counts as a tick at most: if it
    /// was longer, this process stood still itself.
    fn wait_more(&self, idle: &mut Idle, waited: Duration) -> anyhow::Result<()> {
        if (self.stop)() {
            bail!("interrupted");
        }
        let written = self.shared.written.load(Ordering::Acquire);
        let before = if written == idle.written { idle.waited } else { Duration::ZERO };
        *idle = Idle { waited: before + waited.min(TICK), written };
        if idle.waited >= self.bound {
            let bound = plan::show_duration(self.bound);
            bail!("it has not answered for {bound}{}", said(&self.stderr));
        }
        Ok(())
    }

    fn how_it_ended(&self, problem: &Problem) -> String {
        explain(problem, &self.process, &self.stderr)
    }
}

/// For how long there was no progress: neither was the line found, nor were bytes taken by the other side.
#[derive(Clone, Copy, Debug, Default)]
struct Idle {
    waited: Duration,
    written: u64,
}

fn first_message(peer: &Peer, bound: Duration, stop: &dyn Fn() -> bool) -> anyhow::Result<Hello> {
    let (_, receiver) = peer.split();
    let ticks = bound.div_duration_f64(TICK) as u64;
    for _ in 0..ticks.max(1) {
        if let Some(hello) = receiver.receive_within::<Hello>(TICK)? {
            let version = &hello.version;
            if version != VERSION {
                bail!("the dyno there has the version {version}, and the one here {VERSION}");
            }
            return Ok(hello);
        }
        if stop() {
            bail!("interrupted");
        }
    }
    bail!("the dyno there has not said what it is for {}", plan::show_duration(bound))
}

/// How the program that makes the connection has ended, and what it has said.
fn explain(problem: &Problem, process: &PipedProcess, stderr: &Stderr) -> String {
    if *problem == Problem::Finished {
        return String::new();
    }
    let is_ending = *problem == Problem::Closed;
    let status = process.wait(if is_ending { STATUS_BOUND } else { Duration::ZERO });
    if status.is_some() {
        stderr.wait_for_end(STATUS_BOUND);
    }
    let ended = match status {
        Some(status) => format!("its process has ended ({status})"),
        None if is_ending => "it has closed its output".to_owned(),
        None => "its process still ran".to_owned(),
    };
    format!("{ended}{}", said(stderr))
}

fn said(stderr: &Stderr) -> String {
    match stderr.last_words() {
        words if words.is_empty() => String::new(),
        words => format!("; it said: {words}"),
    }
}
