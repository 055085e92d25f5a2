//! Runs programs, says which, and passes an interruption on to them.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::interrupt::Interrupt;
use crate::paths;

/// Between two looks whether a program has ended or a signal has come.
const POLL_PERIOD: Duration = Duration::from_millis(20);
/// Looks before an interrupted program is killed: ten seconds.
const EXIT_POLLS_MAX: usize = 500;

/// A command in the repository's root that reads nothing.
pub(crate) fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(paths::root()).stdin(Stdio::null());
    command
}

/// The cargo that runs us.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    command(&cargo, arguments)
}

/// Says what is run, as one would type it.
pub(crate) fn say(command: &Command) {
    let program = command.get_program().to_string_lossy();
    let name = program.rsplit('/').next().unwrap_or(&program);
    let words: Vec<_> = command.get_args().map(|argument| argument.to_string_lossy()).collect();
    eprintln!("xtask: {name} {}", words.join(" "));
}

/// Runs to the end; when a signal comes meanwhile, it and its children are asked to end.
///
/// # Errors
/// When it cannot be started, or a signal ended it.
pub(crate) fn run(command: &mut Command, interrupt: &Interrupt) -> anyhow::Result<ExitStatus> {
    say(command);
    interrupt.check()?;
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child =
        command.process_group(0).spawn().with_context(|| format!("cannot run {program}"))?;
    loop {
        if let Some(status) = child.try_wait()? {
            interrupt.check()?;
            return Ok(status);
        }
        if interrupt.signal().is_some() {
            end(&mut child)?;
            interrupt.check()?;
        }
        thread::sleep(POLL_PERIOD);
    }
}

/// As [`run`], for what must succeed.
///
/// # Errors
/// As [`run`], and when it fails.
pub(crate) fn must(command: &mut Command, interrupt: &Interrupt) -> anyhow::Result<()> {
    let status = run(command, interrupt)?;
    if !status.success() {
        bail!("{} failed ({status})", command.get_program().to_string_lossy());
    }
    Ok(())
}

/// Asks a child and its group to end, and kills them when they do not.
fn end(child: &mut Child) -> anyhow::Result<()> {
    let group = Pid::from_raw(child.id().cast_signed());
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        // The group is gone only when everyone in it is, and then there is nothing to end.
        let _ = killpg(group, signal);
        for _ in 0..EXIT_POLLS_MAX {
            if child.try_wait()?.is_some() {
                return Ok(());
            }
            thread::sleep(POLL_PERIOD);
        }
    }
    bail!("process {group} does not end")
}
