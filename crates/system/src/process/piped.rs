//! A child process that dyno speaks with over pipes.

use std::io::{self, PipeReader, PipeWriter};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use anyhow::Context;

use super::{Confinement, Ending, Process};

/// A child process with pipes. It ends when this is dropped, and when dyno ends.
#[derive(Debug)]
pub struct PipedProcess(Process);

/// This side's ends of the pipes.
#[derive(Debug)]
pub struct Pipes {
    pub input: PipeWriter,
    pub output: PipeReader,
    pub errors: PipeReader,
}

impl PipedProcess {
    /// Starts a command. What it has started where dyno sends no signals to (on another host, under another account) it
    /// ends when it is asked to end.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(mut command: Command) -> anyhow::Result<(Self, Pipes)> {
        let pipe = || io::pipe().context("no pipe to another process");
        let ((their_input, input), (output, their_output), (errors, their_errors)) =
            (pipe()?, pipe()?, pipe()?);
        command.stdin(their_input).stdout(their_output).stderr(their_errors);
        let process = Process::start_to_end(command, Confinement::default(), Ending::Asked)?;
        Ok((Self(process), Pipes { input, output, errors }))
    }

    pub fn pid(&self) -> u32 {
        self.0.pid()
    }

    /// The exit status as soon as it exits, or `None` after `bound`.
    pub fn wait(&self, bound: Duration) -> Option<ExitStatus> {
        self.0.wait(bound)
    }

    /// Ends it at once.
    ///
    /// # Errors
    /// When it cannot be ended.
    pub fn end(&self) -> anyhow::Result<ExitStatus> {
        self.0.end()
    }
}

impl Drop for PipedProcess {
    fn drop(&mut self) {
        if self.0.exit_status().is_none() {
            // There is nobody to report to; the kernel kills it when dyno ends.
            let _ = self.0.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;
    use crate::process::command;

    #[test]
    fn pipes_lead_to_the_process_and_close_with_it() {
        let mut shell = command("sh");
        shell.args(["-c", "read -r line; echo \"<$line>\"; echo error >&2; exit 3"]);
        let (process, mut pipes) = PipedProcess::start(shell).unwrap();
        pipes.input.write_all(b"hello\n").unwrap();
        let (mut output, mut errors) = (String::new(), String::new());
        pipes.output.read_to_string(&mut output).unwrap();
        pipes.errors.read_to_string(&mut errors).unwrap();
        assert_eq!((output.as_str(), errors.as_str()), ("<hello>\n", "error\n"));
        assert_eq!(process.wait(Duration::from_secs(20)).unwrap().code(), Some(3));
    }

    #[test]
    fn a_process_ends_with_its_handle() {
        let mut shell = command("sh");
        shell.args(["-c", "echo up; sleep 600 & wait"]);
        let (process, mut pipes) = PipedProcess::start(shell).unwrap();
        let mut line = [0; 3];
        pipes.output.read_exact(&mut line).unwrap();
        drop(process);
        // All who had the other end are gone.
        assert_eq!(io::copy(&mut pipes.output, &mut io::sink()).unwrap(), 0);
    }
}
