//! Runs programs, prints their commands, and forwards an interruption to them.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::interrupt::Interrupt;
use crate::paths;

/// Time between two checks whether a program has exited or a signal has arrived.
const POLL_PERIOD: Duration = Duration::from_millis(20);
/// The number of checks before an interrupted program is killed: ten seconds.
const EXIT_POLLS_MAX: usize = 500;

/// A command in the repository's root with empty standard input.
pub(crate) fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(paths::root()).stdin(Stdio::null());
    command
}

/// A command with more arguments, none of which contains a space.
pub(crate) fn with(mut command: Command, arguments: &str) -> Command {
    command.args(arguments.split_whitespace());
    command
}

/// The cargo that runs this task.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    command(&cargo, arguments)
}

/// Prints the command as a user would type it, without passwords.
pub(crate) fn say(command: &Command) {
    let program = command.get_program().to_string_lossy();
    let name = program.rsplit('/').next().unwrap_or(&program);
    let words: Vec<_> = command.get_args().map(|argument| argument.to_string_lossy()).collect();
    eprintln!("xtask: {}", plan::scrub(&format!("{name} {}", words.join(" "))));
}

/// Runs a command to its end; when a signal arrives meanwhile, the command and its children are asked to exit.
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

/// As [`run`], for a command that must succeed.
pub(crate) fn must(command: &mut Command, interrupt: &Interrupt) -> anyhow::Result<()> {
    let status = run(command, interrupt)?;
    if !status.success() {
        bail!("{} failed ({status})", command.get_program().to_string_lossy());
    }
    Ok(())
}

/// Runs a short command that must succeed, and returns what it prints.
pub(crate) fn output(command: &mut Command) -> anyhow::Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("cannot run {program}"))?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        bail!("{program} failed ({}): {}", output.status, error.trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Asks a child and its group to exit, and kills them when they do not.
fn end(child: &mut Child) -> anyhow::Result<()> {
    let group = Pid::from_raw(child.id().cast_signed());
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        // An error means that the whole group has exited already.
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
