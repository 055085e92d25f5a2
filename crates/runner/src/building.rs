//! The steps of the plan before a system is started for the first time.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context, Result};
use engine::Stop;
use system::{ProgressEvent, System, build_by_command};

use crate::{Event, RunListener};

pub(crate) struct Build<'a> {
    /// The system's name in the plan.
    pub(crate) name: &'a str,
    pub(crate) command: &'a str,
    /// The folder in which it runs: the folder of the plan.
    pub(crate) folder: &'a Path,
    pub(crate) log: &'a Path,
}

impl Build<'_> {
    /// Runs the command to its end.
    ///
    /// # Errors
    /// When it fails, with the last lines of its output.
    pub(crate) fn run(&self, stop: &Stop, listener: &mut dyn RunListener) -> Result<()> {
        let log = self.log.join(format!("build-{}.log", self.name));
        listener.on_event(Event::SystemStarting { name: self.name });
        let mut progress_listener = progress_listener(stop, listener);
        let built = build_by_command(self.command, self.folder, &log, &mut progress_listener)
            .with_context(|| format!("system {:?} cannot be built", self.name));
        built.and(scrub_file(&log))
    }
}

/// Masks secrets in a log that the build has written into the record.
fn scrub_file(log: &Path) -> Result<()> {
    let scrubbed = fs::read(log).and_then(|bytes| {
        let text = String::from_utf8_lossy(&bytes);
        let clean = plan::scrub(&text);
        if clean == text { Ok(()) } else { fs::write(log, clean) }
    });
    scrubbed.with_context(|| format!("cannot blank secrets in {}", log.display()))
}

/// Gets what a system needs to start, such as a build of the server.
///
/// # Errors
/// What is missing, or what failed.
pub(crate) fn provide(
    system: &dyn System,
    stop: &Stop,
    listener: &mut dyn RunListener,
) -> Result<()> {
    system.provide(&mut progress_listener(stop, listener))
}

/// Forwards a system's start-up progress to the listener of the run, until a stop is requested.
pub fn progress_listener<'a>(
    stop: &'a Stop,
    listener: &'a mut dyn RunListener,
) -> impl FnMut(ProgressEvent<'_>) -> ControlFlow<()> + 'a {
    |event| {
        listener.on_event(Event::Progress(event));
        if stop.is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
