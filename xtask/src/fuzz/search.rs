//! Runs libFuzzer on one target until it finds a fault or no more edges.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use net::Clock;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use procfs::process::Process;

use super::build::Target;
use super::figures::Figures;
use crate::interrupt::Interrupt;
use crate::shell;

/// Time between two looks at the CPU time of a search.
const POLL_PERIOD: Duration = Duration::from_millis(200);
/// The exit codes of libFuzzer when it was interrupted, and when it has found a fault: in the property, of time or of
/// memory. Source: its `FuzzerOptions.h`.
const INTERRUPTED: i32 = 72;
const FAULTS: [i32; 3] = [77, 70, 71];
/// A file system in memory. On ext4, a file that is replaced is written to the disk at once (`auto_da_alloc`), and a
/// target that writes files waits most of the time.
const MEMORY: &str = "/dev/shm";

/// When a search ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// CPU time without a new edge.
    pub(super) quiet: Duration,
    /// The least number of inputs.
    pub(super) inputs: u64,
    /// The time that this search may take, whatever it has found.
    pub(super) wall: Option<Duration>,
}

/// Searches until the limits are reached, a fault is found or a signal arrives, and adds to the figures of earlier
/// searches.
pub(super) fn search(
    target: &Target,
    earlier: Figures,
    limits: &Limits,
    interrupt: &Interrupt,
) -> anyhow::Result<Figures> {
    observe(&mut target.test(), &target.inputs, earlier, limits, interrupt)
}

/// Runs a search in place of a test to its end, with the inputs of this folder.
pub(super) fn observe(
    command: &mut Command,
    inputs: &Path,
    mut figures: Figures,
    limits: &Limits,
    interrupt: &Interrupt,
) -> anyhow::Result<Figures> {
    shell::say(command);
    let files = tempfile::tempdir_in(MEMORY).or_else(|_| tempfile::tempdir());
    let files = files.context("no folder for the files of a search")?;
    command.env("DYNO_FUZZ_FOLDER", inputs).env("TMPDIR", files.path());
    interrupt.check()?;
    let (clock, earlier_cpu) = (Clock::monotonic(), figures.cpu);
    let is_over = || limits.wall.is_some_and(|wall| Duration::from_nanos(clock.now()) >= wall);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().context("cannot run the tests")?;
    let lines = lines(child.stderr.take().context("libFuzzer has no output")?);
    let pid = child.id().cast_signed();
    // Before its first line libFuzzer may not listen to signals yet, and one would end it without its last figures.
    let (mut has_begun, mut is_asked) = (false, false);
    let mut last_words = Vec::new();
    loop {
        let line = lines.recv_timeout(POLL_PERIOD);
        figures.cpu = cpu(pid).map_or(figures.cpu, |cpu| earlier_cpu + cpu);
        match line {
            Ok(line) if figures.read(&line) => has_begun = true,
            Ok(line) => last_words.push(line),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        let must_end = interrupt.signal().is_some() || is_over() || figures.is_enough(limits);
        if has_begun && must_end && !is_asked {
            kill(Pid::from_raw(pid), Signal::SIGINT).context("libFuzzer cannot be stopped")?;
            is_asked = true;
        }
    }
    let status = child.wait().context("libFuzzer cannot be waited for")?;
    match status.code() {
        Some(INTERRUPTED) => {}
        Some(code) if FAULTS.contains(&code) => {
            let path = last_words.iter().find_map(|line| line.split_once("Test unit written to "));
            let input = path.and_then(|(_, path)| fs::read(path.trim()).ok());
            figures.fault = Some(fault(&last_words, input));
        }
        // An overflow of the stack, or a reader that ends the process.
        None if !is_asked => figures.fault = Some(fault(&last_words, last_input(inputs))),
        _ => {
            let name = &figures.target;
            bail!("the search for {name} ended ({status}):\n{}", last_words.join("\n"))
        }
    }
    Ok(figures)
}

/// The last input of a search, which it writes with its length before it.
fn last_input(inputs: &Path) -> Option<Vec<u8>> {
    let kept = fs::read(inputs.with_extension("last")).ok()?;
    let (length, input) = kept.split_first_chunk()?;
    Some(input.get(..usize::from_le_bytes(*length))?.to_vec())
}

/// What a search said of a fault, with the input as a line of a corpus.
fn fault(last_words: &[String], input: Option<Vec<u8>>) -> String {
    let input = input.map_or("the input is not known".to_owned(), |input| fuzzing::line(&input));
    format!("{}\ninput: {input}", last_words.join("\n"))
}

/// The lines of a stream, as they come.
fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stream).split(b'\n') {
            let line = line.map(|line| String::from_utf8_lossy(&line).into_owned());
            if line.map(|line| sender.send(line)).is_err() {
                break;
            }
        }
    });
    receiver
}

/// The CPU time of a process until now.
fn cpu(pid: i32) -> Option<Duration> {
    let stat = Process::new(pid).ok()?.stat().ok()?;
    let ticks = stat.utime + stat.stime;
    Some(Duration::from_millis(1_000 * ticks / procfs::ticks_per_second()))
}
